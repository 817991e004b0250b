"""Chapters, paragraphs and apparatus are told apart; each case is a small text made here."""

from __future__ import annotations

import time

import pytest

from relic_core.text import headings
from relic_core.text.blocks import split_blocks
from relic_core.text.headings import parse_heading
from relic_core.text.layout import lay_out
from relic_core.text.metadata import Metadata
from relic_core.text.structure import analyse

LINE = "The tide went out over the flats and left the boats leaning on their sides,\n"
PROSE = LINE * 4 + "and nobody spoke.\n"
"""A paragraph whose lines are full, as in a printed book."""


def pages(*pieces: str) -> str:
    """Join pieces: one blank line before prose, a new page before anything else."""
    text = ""
    for piece in pieces:
        gap = "\n\n" if len(piece) > len(LINE) * 3 else "\n\n\n\n"
        text += (gap if text else "") + piece.strip("\n")
    return text + "\n"


def names(text: str) -> list[str]:
    return [chapter.name for chapter in analyse(text).chapters]


def left(text: str, kind: str) -> list[str]:
    return [" ".join(text[piece.start : piece.end].split()) for piece in analyse(text).left_out if piece.kind == kind]


def paragraphs(text: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in analyse(text).paragraphs]


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("CHAPTER I", "CHAPTER II", ["Chapter I", "Chapter II"]),
        ("Chapter 1.", "Chapter 2.", ["Chapter 1", "Chapter 2"]),
        ("CHAPTER ONE", "CHAPTER TWENTY-TWO", ["Chapter ONE", "Chapter TWENTY-TWO"]),
        ("Chapter the First", "Chapter the Last", ["Chapter the First", "Chapter the Last"]),
        ("CHAPTER I. The Ferry", "CHAPTER II--The Bell", ["Chapter I: The Ferry", "Chapter II: The Bell"]),
        ("CHAPTER 1\n\nThe Ferry", "CHAPTER 2\n\nThe Bell", ["Chapter 1: The Ferry", "Chapter 2: The Bell"]),
        ("CHAPTER I\nTHE FERRY", "CHAPTER II\nTHE BELL", ["Chapter I: THE FERRY", "Chapter II: THE BELL"]),
        (
            "CHAPTER I.\n\nTHE FERRY;\nOR, NOT",
            "CHAPTER II.\n\nBELLS",
            ["Chapter I: THE FERRY; OR, NOT", "Chapter II: BELLS"],
        ),
        ("I", "II", ["Chapter I", "Chapter II"]),
        ("1", "2", ["Chapter 1", "Chapter 2"]),
        ("I. The Ferry", "II. The Bell", ["Chapter I: The Ferry", "Chapter II: The Bell"]),
        ("_One_", "_Two_", ["Chapter One", "Chapter Two"]),
        ("STAVE ONE", "STAVE TWO", ["STAVE ONE", "STAVE TWO"]),
        ("LETTER I", "LETTER II", ["LETTER I", "LETTER II"]),
        ("PART I", "PART II", ["PART I", "PART II"]),
        ("PROLOGUE", "EPILOGUE", ["PROLOGUE", "EPILOGUE"]),
        ("CHAPTER LXXII[1]", "CHAPTER LXXIII", ["Chapter LXXII", "Chapter LXXIII"]),
        ("CHAPTER XLIII", "CHAPTER LXIV", ["Chapter XLIII", "Chapter LXIV"]),
    ],
)
def test_forms_of_headings(one, two, expected):
    assert names(pages(one, PROSE, two, PROSE)) == expected


@pytest.mark.parametrize(
    "paragraph",
    [
        "Chapter one of his life was over, and he knew it.",
        "Part I played in it was small.",
        "“I--”",
        "Book of hours in hand, she went to bed.",
        "Volume after volume fell from the shelf.",
    ],
)
def test_prose_that_reads_like_a_heading_stays_prose(paragraph):
    text = pages("CHAPTER I", f"{PROSE}\n{paragraph}\n\n{PROSE}", "CHAPTER II", PROSE)
    assert names(text) == ["Chapter I", "Chapter II"]
    assert paragraph in paragraphs(text)


def test_parts_restart_the_count_and_name_their_chapters():
    text = pages("BOOK ONE", "CHAPTER I", PROSE, "CHAPTER II", PROSE, "BOOK TWO. Winter", "CHAPTER I", PROSE)
    assert names(text) == ["BOOK ONE, Chapter I", "BOOK ONE, Chapter II", "BOOK TWO. Winter, Chapter I"]


def test_parts_hold_books_and_a_new_part_ends_the_book():
    text = pages("PART I", "BOOK I", "I", PROSE, "BOOK II", "I", PROSE, "PART II", "BOOK III", "I", PROSE)
    assert names(text) == ["PART I, BOOK I, Chapter I", "PART I, BOOK II, Chapter I", "PART II, BOOK III, Chapter I"]


def test_the_title_of_a_part_stands_below_its_number():
    text = pages("BOOK ONE", "THE COMING", "I.\n\nTHE EVE", PROSE, "II.\n\nTHE STAR", PROSE)
    assert names(text) == ["BOOK ONE: THE COMING, Chapter I: THE EVE", "BOOK ONE: THE COMING, Chapter II: THE STAR"]


def test_parts_may_have_only_a_title():
    text = pages("The Window", "I", PROSE, "II", PROSE, "Time Passes", "I", PROSE)
    assert names(text) == ["The Window, Chapter I", "The Window, Chapter II", "Time Passes, Chapter I"]


def test_an_epilogue_may_have_chapters():
    text = pages("PART I", "CHAPTER I", PROSE, "CHAPTER II", PROSE, "EPILOGUE\n\nI", PROSE, "II", PROSE)
    assert names(text)[2:] == ["EPILOGUE, Chapter I", "EPILOGUE, Chapter II"]


def test_prose_between_a_part_and_its_chapter_belongs_to_the_chapter():
    text = pages("PART I", "A motto.", "CHAPTER I", PROSE, "CHAPTER II", PROSE)
    found = analyse(text)
    assert [chapter.name for chapter in found.chapters] == ["PART I, Chapter I", "PART I, Chapter II"]
    assert text[found.paragraphs[0].start : found.paragraphs[0].end] == "A motto."


def test_numbered_sections_divide_no_chapter():
    text = pages("CHAPTER I", "I", PROSE, "II", PROSE, "CHAPTER II", PROSE, "II", PROSE)
    assert names(text) == ["Chapter I", "Chapter II"]
    assert left(text, "heading") == ["CHAPTER I", "I", "II", "CHAPTER II", "II"]


def test_stories_of_a_collection_keep_their_own_chapters_as_sections():
    text = pages("1. AT THE BAY.", "Chapter 1.I.", PROSE, "Chapter 1.II.", PROSE, "2. THE GARDEN.", PROSE)
    assert names(text) == ["Chapter 1: AT THE BAY", "Chapter 2: THE GARDEN"]


def test_stories_with_names_only_are_chapters():
    text = pages("THE SISTERS", PROSE, "AN ENCOUNTER", PROSE, "ARABY", PROSE)
    assert names(text) == ["THE SISTERS", "AN ENCOUNTER", "ARABY"]


def test_titles_in_capitals_divide_what_would_be_most_of_the_text_in_one_chapter():
    essays = [piece for what in ("FERRIES", "WEIRS", "QUAYS") for piece in (f"ON {what}", PROSE * 6)]
    assert names(pages("INTRODUCTION", PROSE, *essays)) == ["INTRODUCTION", "ON FERRIES", "ON WEIRS", "ON QUAYS"]
    chapters = ("CHAPTER I", PROSE * 18, "CHAPTER II", *essays)
    assert names(pages(*chapters)) == ["Chapter I", "Chapter II: ON FERRIES"]


def test_numbers_of_a_list_do_not_count_the_chapters_of_a_text_with_numbered_titles():
    ferry, weir = ("I.--THE FERRY", PROSE * 8), ("II.--THE WEIR", PROSE * 8)
    songs = [piece for number in ("I.", "II.", "III.") for piece in (number, "A song.")]
    assert names(pages(*ferry, *songs, *weir)) == ["Chapter I: THE FERRY", "Chapter II: THE WEIR"]


def test_short_chapters_with_numbers_alone_stay_though_titled_numbers_follow_them():
    chapters = [piece for number in ("I", "II", "III", "IV") for piece in (number, PROSE * 2)]
    text = pages(*chapters, "I. THE FERRY", PROSE, "II. THE WEIR", PROSE)
    assert [chapter.number for chapter in analyse(text).chapters] == ["I", "II", "III", "IV"]
    assert not left(text, "front matter")


def test_numbered_sections_on_new_pages_are_no_titles():
    sections = [piece for number in ("I", "II", "III", "IV") for piece in (number, PROSE * 6)]
    assert names(pages("CHAPTER I", PROSE, "CHAPTER II", PROSE, *sections)) == ["Chapter I", "Chapter II"]


def test_a_file_of_a_header_alone_is_read():
    assert len(analyse("*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***\n").chapters) == 1


def test_a_misprinted_number_does_not_end_the_count():
    text = pages(*[piece for number in ("I", "II", "III", "VI", "V", "VI") for piece in (number, PROSE)])
    assert [chapter.number for chapter in analyse(text).chapters] == ["I", "II", "III", "VI", "V", "VI"]


def test_stanzas_with_numbers_are_no_chapters():
    poem = "I\n\nA rose,\nA rose.\n\nII\n\nA thorn,\nA thorn."
    text = pages("I", PROSE, "II", f"{PROSE}\n{poem}\n\n{PROSE}", "III", PROSE)
    assert [chapter.number for chapter in analyse(text).chapters] == ["I", "II", "III"]


@pytest.mark.parametrize(
    "contents",
    [
        "CONTENTS\n\nCHAPTER I. The Ferry\nCHAPTER II. The Bell\n\nEPILOGUE",
        "CONTENTS\n\nCHAPTER I\n\nCHAPTER II\n\nEPILOGUE",
        "Table of Contents\n\nI\nII\n",
        "CHAPTER I. The Ferry . . . 3\nCHAPTER II. The Bell . . . 9\nEPILOGUE . . . 20\nCHAPTER III. Lost 30",
    ],
)
def test_a_contents_list_has_no_chapters(contents):
    text = pages("THE FERRY", contents, "CHAPTER I", PROSE, "CHAPTER II", PROSE, "EPILOGUE", PROSE)
    assert [chapter.number for chapter in analyse(text).chapters] == ["I", "II", ""]
    assert left(text, "contents")


def test_a_contents_list_at_the_end_has_no_chapters():
    text = pages(
        "CHAPTER I", PROSE, "CHAPTER II", PROSE, "THE END", "CONTENTS\n\nCHAPTER I   THE FERRY\nCHAPTER II   BELLS"
    )
    assert len(analyse(text).chapters) == 2
    assert left(text, "contents") == ["CONTENTS CHAPTER I THE FERRY CHAPTER II BELLS"]


def test_titles_of_the_contents_list_are_chapters_though_they_have_no_number():
    text = pages("CONTENTS\n\nOverture\n\nSwann in Love", "Overture", PROSE, "Swann in Love", PROSE)
    assert names(text) == ["Overture", "Swann in Love"]


HEADER = (
    "The Project Gutenberg EBook of The Ferry, by A. N. Other\n\n"
    "Title: The Ferry\n       A Tale\n\nAuthor: Ann Other\n\n"
)
START = "*** START OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***\n\n\nProduced by Some One\n\n\n"
END = (
    "\n\nEnd of the Project Gutenberg EBook of The Ferry, by A. N. Other\n\n"
    "*** END OF THIS PROJECT GUTENBERG EBOOK ***\n\nTerms.\n"
)


@pytest.mark.parametrize(
    "start",
    [
        START,
        START.replace("*** START", "***START"),
        START.replace("START OF THIS", "START OF THE"),
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n",
    ],
)
def test_header_and_footer_of_project_gutenberg(start):
    text = HEADER + start + pages("CHAPTER I", PROSE, "CHAPTER II", PROSE) + END
    found = analyse(text)
    assert (found.metadata.title, found.metadata.author) == ("The Ferry", "Ann Other")
    assert paragraphs(text) == [PROSE.strip(), PROSE.strip()]
    licence = [piece for piece in found.left_out if piece.kind == "licence"]
    assert licence[0].start == 0
    assert text[licence[-1].start :].startswith("End of the Project")


def test_header_of_project_gutenberg_australia():
    header = "Title: The Ferry\nAuthor: Ann Other\n* A Project Gutenberg of Australia eBook *\n\n"
    text = header + pages("CHAPTER I", PROSE, "CHAPTER II", PROSE)
    assert analyse(text).metadata.author == "Ann Other"
    assert len(paragraphs(text)) == 2


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("Title: The Ferry\nAuthor: Mara Quill", ("The Ferry", "Mara Quill", "", None, ())),
        (
            "Titre : Le Bac\nAuteur : Mara Quill\nAnnée : 1871\nLangue : x",
            ("Le Bac", "Mara Quill", "", 1871, ()),
        ),
        ("Autor: Mara Quill\n\nTítulo: La barca\n\nFecha: 1871", ("La barca", "Mara Quill", "", 1871, ("year",))),
        (
            "Titel: Die Fähre\nTranslator: Ann Other\nEditor: C. B. Third\nRelease date: May 4, 2004",
            ("Die Fähre", "", "Ann Other", None, ()),
        ),
    ],
)
@pytest.mark.parametrize("body", [PROSE, pages("CHAPTER I", PROSE, "CHAPTER II", PROSE)])
def test_labelled_lines_before_a_text_say_what_it_is_and_are_no_part_of_it(head, expected, body):
    text = f"{head}\n\n{body}"
    found = analyse(text)
    assert (*(getattr(found.metadata, name) for name in found.metadata.__slots__),) == expected
    assert set(paragraphs(text)) == {PROSE.strip()}
    assert text[: found.left_out[0].end] == head
    assert found.left_out[0].kind == "front matter"


@pytest.mark.parametrize("text", ["Author: You came.\n\nReader: I did.", "Title: It rained\nand rained.\n\nIt rained."])
def test_a_dialogue_and_a_paragraph_are_no_labelled_head(text):
    assert "\n\n".join(paragraphs(text)) == text


def test_translator_and_year_of_a_title_page():
    page = "THE FERRY\n\nby\n\nAnn Other\n\n(1811)\n\nTranslated from the Dutch by C. B. Third"
    found = analyse(pages(page, "CHAPTER I", PROSE, "CHAPTER II", PROSE))
    expected = Metadata("The Ferry", "Ann Other", "C. B. Third", 1811, guessed=("author", "year"))
    assert found.metadata == expected


def test_a_year_of_printing_is_not_the_year_of_the_work():
    assert (
        analyse(pages("THE FERRY\n\nLONDON: A PRINTER\n1897", "CHAPTER I", PROSE, "CHAPTER II", PROSE)).metadata.year
        is None
    )


def test_an_authors_preface_is_a_chapter_and_a_translators_is_front_matter():
    chapters = ("CHAPTER I", PROSE, "CHAPTER II", PROSE)
    assert names(pages("AUTHOR'S PREFACE", PROSE, *chapters))[0] == "AUTHOR'S PREFACE"
    assert names(pages("TRANSLATOR'S PREFACE", PROSE, *chapters))[0] == "Chapter I"


def test_the_authors_own_preface_stays_though_its_notes_or_lists_of_other_books_name_others():
    page = "THE FERRY\n\nby\n\nAnn Other"
    list_of_books = "\n\n\n\nTHE WEIR. With an Introduction by C. B. Third\n\nTHE MILL. Introduction by C. B. Third"
    note = "[Footnote: Other is mistaken [2nd edition, 1808]. Other had not seen the weir.]\n\n"
    for front, preface in ((page + list_of_books, PROSE), (page, note + PROSE)):
        found = analyse(pages(front, "INTRODUCTION", preface, "CHAPTER I", PROSE, "CHAPTER II", PROSE))
        assert [chapter.name for chapter in found.chapters] == ["INTRODUCTION", "Chapter I", "Chapter II"]


def test_an_introduction_that_speaks_of_the_author_is_front_matter():
    speech = f"Other was born in a boat.\n\n{PROSE}\nThe best of Other is here.\n\n{PROSE}\nA. FRIEND"
    text = pages("THE FERRY\n\nby Ann Other", "INTRODUCTION", speech, "CHAPTER I", PROSE, "CHAPTER II", PROSE)
    assert names(text) == ["Chapter I", "Chapter II"]
    assert "born in a boat" in left(text, "front matter")[0]


def test_an_introduction_by_the_author_of_the_book_is_a_chapter():
    front = "THE FERRY\n\nEDITED WITH AN INTRODUCTION\n\nBY\n\nANN OTHER"
    header = "Title: The Ferry\n\nAuthor: Ann Other\n\n*** START OF THIS PROJECT GUTENBERG EBOOK ***\n\n"
    text = header + pages(front, "INTRODUCTION", PROSE, "CHAPTER I", PROSE, "CHAPTER II", PROSE)
    assert names(text) == ["INTRODUCTION", "Chapter I", "Chapter II"]
    for other in ("C. B. THIRD", "C. B. THIRD\n\nBROTHERS PRESS", "C. B. THIRD\n\nBY ANN OTHER"):
        assert names(text.replace("ANN OTHER", other)) == ["Chapter I", "Chapter II"]


def test_unheaded_prose_before_chapter_one_is_a_chapter_without_a_name():
    prologue = "\n".join([PROSE] * 6)
    found = analyse(pages("THE FERRY", prologue, "I", PROSE, "II", PROSE))
    assert [(chapter.number, chapter.title) for chapter in found.chapters] == [("", ""), ("I", ""), ("II", "")]
    assert sum(paragraph.chapter == 0 for paragraph in found.paragraphs) == 6


def test_a_dedication_is_front_matter():
    text = pages("THE FERRY", f"To my sister, who {PROSE}", "CHAPTER I", PROSE, "CHAPTER II", PROSE)
    assert names(text) == ["Chapter I", "Chapter II"]
    assert left(text, "front matter")


def test_marks_of_illustrations_and_notes_are_left_out_and_prose_beside_them_is_not():
    marks = "[Illustration: A boat\n\nleaning]\nShe looked at it.\n\n[Footnote 2: As they say.]\n\n[Picture: Boats]"
    text = pages("CHAPTER I", f"{PROSE}\n{marks}\n\n{PROSE}", "CHAPTER II", PROSE)
    assert left(text, "illustration") == ["[Illustration: A boat leaning]", "[Picture: Boats]"]
    assert left(text, "note") == ["[Footnote 2: As they say.]"]
    assert "She looked at it." in paragraphs(text)


def test_an_unclosed_bracket_swallows_nothing():
    text = pages("CHAPTER I", f"[Illustration: never closed\n\n{PROSE}", "CHAPTER II", PROSE)
    assert not left(text, "illustration")
    assert len(analyse(text).chapters) == 2


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("THE END\n\nPrinted by A. Person, Leeds", "end matter"),
        ("A Note on the Text\n\nThis is the first edition.", "end matter"),
        ("Transcriber's Notes\n\npage 3: boot changed to boat", "editor's note"),
        ("FOOTNOTES\n\n1 In Dutch.", "note"),
    ],
)
def test_what_stands_behind_the_work_is_left_out(ending, kind):
    text = pages("CHAPTER I", PROSE * 3, "CHAPTER II", *[PROSE] * 12, ending)
    assert left(text, kind)
    assert paragraphs(text)[-1] == PROSE.strip()


def test_the_end_may_be_the_title_of_the_last_chapter():
    text = pages("CHAPTER I\n\nTHE FERRY", PROSE, "CHAPTER II\n\nFINIS", PROSE)
    assert names(text)[-1] == "Chapter II: FINIS"


def test_a_transcribers_note_at_the_front_is_left_out():
    text = pages(
        "THE FERRY",
        "Transcriber's Note:\n\nSpelling is kept.",
        "PREFACE",
        PROSE,
        "CHAPTER I",
        PROSE,
        "CHAPTER II",
        PROSE,
    )
    assert left(text, "editor's note") == ["Transcriber's Note: Spelling is kept."]
    assert names(text)[0] == "PREFACE"


def test_breaks_are_no_paragraphs():
    text = pages("CHAPTER I", f"{PROSE}\n* * * * *\n\n{PROSE}", "CHAPTER II", PROSE)
    assert left(text, "break") == ["* * * * *"]


def test_verse_is_told_from_prose():
    verse = "  The sea came up to where it was,\n    And someone wrote the figure down;"
    found = analyse(pages("CHAPTER I", f"{PROSE}\n{verse}\n\n{PROSE}", "CHAPTER II", PROSE))
    assert [paragraph.kind for paragraph in found.paragraphs] == ["prose", "verse", "prose", "prose"]


def test_paragraphs_are_numbered_in_their_chapter_from_one():
    found = analyse(pages("CHAPTER I", f"{PROSE}\n{PROSE}", "CHAPTER II", PROSE))
    assert [(piece.chapter, piece.number) for piece in found.paragraphs] == [(0, 1), (0, 2), (1, 1)]


def test_a_text_without_chapters_is_one_chapter_without_a_name():
    found = analyse(f"{PROSE}\n{PROSE}")
    assert [(chapter.number, chapter.title, chapter.part) for chapter in found.chapters] == [("", "", "")]
    assert len(found.paragraphs) == 2
    assert not found.left_out


@pytest.mark.parametrize(
    "text", ["One line.", "word", "CHAPTER I", "[Illustration]", "CONTENTS\n\nI\nII\n", START, "THE END"]
)
def test_a_file_with_nothing_but_apparatus_still_has_its_text(text):
    found = analyse(text)
    assert len(found.chapters) == 1
    assert found.paragraphs


def test_one_paragraph_per_line():
    line = "She went down to the ferry, and the ferry was gone, as it had been every morning since the war began. "
    text = f"I\n\n{line * 3}\n“Gone?”\n{line * 4}\n\n\nII\n\n{line * 2}\n"
    assert [len(piece) > 60 for piece in paragraphs(text)] == [True, False, True, True]
    assert names(text) == ["Chapter I", "Chapter II"]


def test_paragraphs_marked_by_indents_alone():
    text = "CHAPTER I\n" + ("    The tide went out\n" + LINE * 4) * 8 + "\n\nCHAPTER II\n\n" + "    He\n" + LINE
    assert len(paragraphs(text)) == 9


def test_paragraphs_marked_by_short_lines_alone():
    text = "CHAPTER I\n" + (LINE * 4 + "and so on.\n") * 8 + "CHAPTER II\n" + LINE * 30
    assert len(paragraphs(text)) == 9
    assert names(text) == ["Chapter I", "Chapter II"]


def test_form_feeds_tabs_and_hard_blanks_are_blank():
    text = f"\fCHAPTER I\n\n\t{PROSE}\n\u00a0\u00a0\n{PROSE}\n\f\nCHAPTER II\n\n{PROSE}"
    found = analyse(text)
    assert len(found.paragraphs) == 3
    assert all(text[piece.start : piece.end].strip() == text[piece.start : piece.end] for piece in found.paragraphs)


def test_one_line_of_five_megabytes_takes_linear_time():
    text = "The tide went out; [Illustration nobody spoke... (CHAPTER I) " * 90_000
    began = time.process_time()
    assert len(analyse(text).paragraphs) == 1
    assert time.process_time() - began < 5.0


def test_five_megabytes_of_open_marks_take_linear_time():
    text = "[Illustration: a boat\n" * 100_000 + "\n\n" + "CONTENTS\n\nCHAPTER I\n\n" * 20_000
    began = time.process_time()
    analyse(text)
    assert time.process_time() - began < 10.0


def test_a_mark_in_brackets_is_laid_out_without_its_blank_lines():
    text = "It rained.\n\n[Illustration: a boat\n\non the water]\n\nIt rained again."
    blocks = lay_out(text, 0, len(text)).blocks
    assert [block.lines for block in blocks][1] == ("[Illustration: a boat", "on the water]")
    assert all(line.strip() for block in blocks for line in block.lines)


def test_numbered_verses_are_paragraphs_and_their_numbers_are_left_out():
    first = "Genesis\n\n\nCHAPTER 1\n\n1:1 It rained.\n1:2 The river rose: it\nrose again.\n"
    text = f"{first}\n\n\nCHAPTER 2\n\n2:1 It ceased.\n"
    found = analyse(text)
    verses = [" ".join(text[each.start : each.end].split()) for each in found.paragraphs]
    assert verses == ["It rained.", "The river rose: it rose again.", "It ceased."]
    assert [text[each.start : each.end] for each in found.left_out if each.kind == "verse number"] == [
        "1:1",
        "1:2",
        "2:1",
    ]
    assert [each.number for each in found.paragraphs] == [1, 2, 1]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Chapter I",
            "the second book",
            "INITIAL CHAPTER",
            "Final Chapter: Rain",
            "Section 2.IV",
            "Глава первая",
            "L",
        ),
        *("--VII.--", "12", "Twenty-first.", "the Last Chapter", "IX. The Ferry", "[4] The Lamp", "Vol. 2", "xiv Rain"),
        *("The Author’s Preface", "An Introduction", "A Biographical Note", "Note to the second Edition", "Vorwort"),
        *(
            "About the Author",
            "Acknowledgments",
            "Prefatory Note",
            "Editor's Note",
            "A Note on the Text",
            "Avant-propos",
        ),
        *(
            "Préface",
            "Einleitung",
            "Prólogo",
            "The Prologue",
            "L’Envoi",
            "“Postscript",
            "Afterthought. To Ann",
            "Эпилог",
        ),
    ],
)
def test_a_look_at_its_first_word_alone_never_loses_a_heading(line, monkeypatch):
    (block,) = split_blocks(line, 0, len(line))
    looked = parse_heading(block)
    monkeypatch.setattr(headings, "_may_head", lambda _: True)
    assert parse_heading(block) == looked


def test_most_lines_are_known_to_be_none_by_their_first_word():
    lines = ("Rain fell on the quay.", "The lamp was out.", "“No,” said Ann.", "A ferry, at last!")
    assert not any(map(headings._may_head, lines))


LONG = "The ferry did not run, and nobody on the far bank rang the bell for it that night. " * 20


def chapters_of(*pages, author="Ada Marlow"):
    text = "\n\n\n\n".join([f"THE BELLS\n\nby {author}", *pages])
    return [each.name for each in analyse(text).chapters]


def test_a_piece_that_is_the_greater_part_of_the_work_is_not_by_another_hand():
    said = f"INTRODUCTION\n\nMarlow wrote this, and Marlow rang.\n\n{LONG}"
    assert chapters_of(said + f"\n\n{LONG}" * 40, f"CHAPTER I\n\n{LONG}", f"CHAPTER II\n\n{LONG}")[0] == "INTRODUCTION"
    lesser = [f"CHAPTER {number}\n\n{LONG}" for number in ("I", "II", "III", "IV", "V", "VI")]
    assert chapters_of(said, *lesser)[0] == "Chapter I"


def test_lectures_are_chapters():
    assert chapters_of(f"LECTURE I\n\n{LONG}", f"LECTURE II\n\n{LONG}") == ["LECTURE I", "LECTURE II"]


def test_essays_behind_a_preface_are_chapters_by_their_titles_alone():
    titles = ["The Waterwheel", "Of Lanterns", "Ferries by Night"]
    essays = [f"{title}\n\n{LONG}" for title in titles]
    assert chapters_of(f"PREFACE\n\n{LONG}", *essays) == ["PREFACE", *titles]


def test_headings_with_the_page_they_stand_on_are_entries_of_the_contents():
    listed = "\n\n".join(f"{number}. THE {name}          {page}" for number, name, page in (
        ("I", "WEIR", 1), ("II", "MILL", 9), ("III", "BELL", 12),
    ))  # fmt: skip
    pages = [f"{number}. THE {name}\n\n{LONG}" for number, name in (("I", "WEIR"), ("II", "MILL"), ("III", "BELL"))]
    assert chapters_of(listed, *pages) == ["Chapter I: THE WEIR", "Chapter II: THE MILL", "Chapter III: THE BELL"]


STANZA = "The bell is under the water now,\nThe rope is in the reeds,\nAnd nobody comes to it,\nAnd nobody heeds."
POEMS = "\n\n".join([STANZA] * 4)


def songs(*pages):
    return "\n\n".join(["Title: Songs\nAuthor: Ada Marlow", *pages, "CHAPTER I", POEMS, "CHAPTER II", POEMS])


def test_a_poem_called_introduction_among_poems_is_the_authors():
    note = f"NOTE\n\nMarlow wrote this, and Marlow printed it.\n\n{LONG}"
    text = songs(PROSE * 8, POEMS, "SONGS OF THE WEIR", "INTRODUCTION", POEMS, note)
    assert not any("bell" in piece for piece in left(text, "front matter"))


def test_an_editors_introduction_before_poems_is_front_matter_and_the_poets_own_is_a_chapter():
    said = f"Marlow was born here, and Marlow rowed.\n\n{LONG}"
    assert names(songs("INTRODUCTION", said))[0] == "Chapter I"
    assert names(songs("INTRODUCTION", LONG))[0] == "INTRODUCTION"
    dedication = "To her who rowed,\nTo him who steered,\nTo all who drowned,\nThis book."
    assert names(songs("SONGS", dedication, "INTRODUCTION", POEMS))[0] == "INTRODUCTION"
    assert names(songs("SONGS", dedication, "INTRODUCTION", STANZA, said))[0] == "Chapter I"


def test_a_story_without_sections_closes_the_one_before_it():
    listed = "CONTENTS\n\nThe Quay\nThe Weir\nThe Night Boat"
    weir = ("The Weir", "CHAPTER I", PROSE * 4, "CHAPTER II", PROSE * 4)
    text = pages(listed, "The Quay", PROSE * 4, *weir, "The Night Boat", PROSE * 4)
    assert names(text) == ["The Quay", "The Weir, Chapter I", "The Weir, Chapter II", "The Night Boat"]
