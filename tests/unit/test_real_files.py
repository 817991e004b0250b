"""Editions as scholars have them: whose words, which chapter, who and when; each kind with neighbours that differ."""

from __future__ import annotations

import pytest

from relic_core.library.reading import read_file
from relic_core.reporting.citations.names import read_names
from tests.making_books import XHTML, epub, left_out, names, texts
from tests.making_books import tei as make_tei

RAIN = "The tide went out over the flats and left the boats leaning on their sides."
BELL = "Somebody rang from the far side and nobody rowed."
CHAPTERS = (f"<h2>Chapter I</h2><p>{RAIN}</p>", f"<h2>Chapter II</h2><p>{BELL}</p>")
ABOUT = "".join(
    f"<p>What Mara Quill wrote in 18{year} Quill did not print, and the lamp of that year is lost.</p>"
    for year in range(40, 60)
)
NAV = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
ROLES = "".join(f'<meta refines="#a" property="role">{role}</meta>' for role in ("aut", "wpr"))
VON_MOOR = "<nameLink>von</nameLink> <surname>Moor</surname>"
SECOND = '<milestone unit="chapter" n="2"/>'
CARD = '<milestone unit="card" n="9"/>'
QUILL = "<dc:title>The Ferry</dc:title><dc:creator>Mara Quill</dc:creator>"


def book(*pages, contents="", **given):
    more = {"OEBPS/nav.xhtml": XHTML.format(f'<nav epub:type="toc"><ol>{contents}</ol></nav>')} if contents else {}
    return read_file(epub(pages, more=more, manifest=NAV if contents else "", **given), name="book.epub")


def entry(number, label, below="", fragment=""):
    return f'<li><a href="page{number}.xhtml{fragment}">{label}</a>{f"<ol>{below}</ol>" if below else ""}</li>'


def play(author="", *, sources="<p>none</p>", events="", title="The Ferry", body=f"<div><p>{RAIN}</p></div>"):
    header = f"<titleStmt><title>{title}</title>{author}</titleStmt><sourceDesc>{sources}</sourceDesc>"
    data = make_tei(body, header=header)
    return read_file(data.replace(b"</teiHeader>", f"</teiHeader>{events}".encode()), name="play.xml")


# ---- whose words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [
        f"<h2>Translator’s Preface</h2>{ABOUT}",
        f"<h2>Introduction</h2>{ABOUT}",
        f"<h2>A Note on the Text</h2>{ABOUT}",
        f"<h2>About the Author</h2>{ABOUT}",
        f"<h2>Acknowledgments</h2>{ABOUT}",
        f'<section epub:type="acknowledgments"><h2>Thanks</h2>{ABOUT}</section>',
        f'<section epub:type="preface"><h2>Préface du traducteur</h2>{ABOUT}</section>',
    ],
)
def test_a_piece_by_another_hand_before_the_work_is_front_matter(piece):
    work = book(piece, *CHAPTERS, metadata=QUILL)
    assert names(work) == ["Chapter I", "Chapter II"]
    assert [kind for kind, words in left_out(work) if "the lamp of that year" in words] == ["front matter"]


def test_the_contents_list_alone_may_name_a_piece_by_another_hand():
    contents = entry(0, "Translator’s Note") + entry(1, "Chapter I") + entry(2, "Chapter II")
    assert names(book(ABOUT, *CHAPTERS, contents=contents, metadata=QUILL)) == ["Chapter I", "Chapter II"]


@pytest.mark.parametrize("piece", ["<h2>Preface</h2>", '<section epub:type="preface"><h2>To the Reader</h2></section>'])
def test_the_authors_own_preface_stays_as_a_chapter(piece):
    words = "I wrote this book in a shed by the water, and ask nobody’s pardon for its length."
    work = book(piece.replace("</h2>", f"</h2><p>{words}</p>"), *CHAPTERS, metadata=QUILL)
    assert names(work)[1:] == ["Chapter I", "Chapter II"]
    assert texts(work)[0] == words


def test_a_preface_without_a_heading_is_no_part_of_what_follows():
    preface = f'<section epub:type="preface"><p>{BELL}</p></section>'
    half_title = '<section epub:type="halftitlepage"><h2>The Ferry</h2></section>'
    contents = entry(0, "Preface") + entry(1, "The Ferry", entry(2, "I") + entry(3, "II"))
    pages = (f"<h3>I</h3><p>{RAIN}</p>", f"<h3>II</h3><p>{RAIN}</p>")
    assert names(book(preface, half_title, *pages, contents=contents)) == ["Preface", "Chapter I", "Chapter II"]


def test_a_collection_of_mottoes_with_a_heading_is_the_authors_and_one_without_is_not():
    motto = f'<section epub:type="epigraph"><h2>Extracts</h2><p>{BELL}</p></section>'
    assert names(book(motto, *CHAPTERS))[0] == "Extracts"
    assert names(book(motto.replace("<h2>Extracts</h2>", ""), *CHAPTERS)) == ["Chapter I", "Chapter II"]


@pytest.mark.parametrize("head", ["TRANSLATOR’S PREFACE", "INTRODUCTION", "ACKNOWLEDGEMENTS", "A NOTE ON THE TEXT"])
def test_plain_text_and_tei_leave_the_same_pieces_out(head):
    about = "\n\n".join(ABOUT.removeprefix("<p>").removesuffix("</p>").split("</p><p>"))
    text = f"THE FERRY\n\nby Mara Quill\n\n\n\n{head}\n\n{about}\n\n\n\nCHAPTER I\n\n{RAIN}\n\n\nCHAPTER II\n\n{BELL}\n"
    assert names(read_file(text.encode(), name="x.txt")) == ["Chapter I", "Chapter II"]
    chapters = f"<div><head>I</head><p>{RAIN}</p></div><div><head>II</head><p>{BELL}</p></div>"
    divisions = f"<div><head>{head}</head>{ABOUT}</div>{chapters}"
    assert names(play("<author>Mara Quill</author>", body=divisions)) == ["Chapter I", "Chapter II"]


# ---- which chapter --------------------------------------------------------------------------------------------------


def test_a_story_without_sections_is_no_part_of_the_one_before():
    sections = (
        f'<section id="a" epub:type="part"><h3>I</h3><p>{RAIN}</p></section>'
        f'<section id="b"><h3>II</h3><p>{BELL}</p></section>'
    )
    pages = (
        f"<h2>The Mill</h2>{sections}",
        f"<h2>The Weir</h2><p>{RAIN}</p>",
        f"<h2>The Lock</h2>{sections}",
        f"<h2>The Sea</h2><p>{BELL}</p>",
    )
    inside = [entry(number, "I", fragment="#a") + entry(number, "II", fragment="#b") for number in (0, 2)]
    contents = (
        entry(0, "The Mill", inside[0]) + entry(1, "The Weir") + entry(2, "The Lock", inside[1]) + entry(3, "The Sea")
    )
    assert names(book(*pages, contents=contents)) == [
        "The Mill, Chapter I", "The Mill, Chapter II", "The Weir",
        "The Lock, Chapter I", "The Lock, Chapter II", "The Sea",
    ]  # fmt: skip


def test_chapters_of_a_part_that_the_contents_list_puts_beside_it_are_its_own():
    pages = ("<h2>Book One</h2>", *CHAPTERS)
    contents = entry(0, "Book One") + entry(1, "Chapter I") + entry(2, "Chapter II")
    assert names(book(*pages, contents=contents)) == ["Book One, Chapter I", "Book One, Chapter II"]


@pytest.mark.parametrize(
    ("number", "title"), [("chapnum", "chaptitle"), ("CN", "CT"), ("chapter-number", "chapter-title")]
)
def test_headings_set_as_paragraphs_are_told_by_their_classes(number, title):
    body = "".join(
        f"<p class='{number}'>CHAPTER {n}</p><p class='{title}'>{name}</p><p>{RAIN}</p><p>{BELL}</p>"
        for n, name in (("I", "The Mill"), ("II", "The Weir"))
    )
    work = book(body)
    assert names(work) == ["Chapter I: The Mill", "Chapter II: The Weir"]
    assert [paragraph.number for paragraph in work.paragraphs] == [1, 2, 1, 2]


@pytest.mark.parametrize("label", ["{} {}", "{}. {}", "Chapter {}: {}", "{1}"])
def test_headings_set_as_paragraphs_are_told_by_the_contents_list(label):
    pages = [f"<p>{number}</p><p>{name}</p><p>{RAIN}</p>" for number, name in ((1, "The Mill"), (2, "The Weir"))]
    contents = entry(0, label.format(1, "The Mill")) + entry(1, label.format(2, "The Weir"))
    work = book(*pages, contents=contents)
    assert names(work) == ["Chapter 1: The Mill", "Chapter 2: The Weir"]
    assert texts(work) == [RAIN, RAIN]


def test_a_number_that_begins_a_page_without_a_title_is_no_heading_of_two_paragraphs():
    pages = ("<p>1848</p><p>It was the year of the flood, and nobody slept.</p>", f"<p>{RAIN}</p>")
    work = book(*pages, contents=entry(0, "Flood") + entry(1, "Ebb"))
    assert texts(work) == ["1848", "It was the year of the flood, and nobody slept.", RAIN]


def _spine(contents):
    pages = {"a.xhtml": CHAPTERS[0], "c.xhtml": CHAPTERS[1].replace("II", "III")}
    extra = '<item id="x" href="b.xhtml" media-type="application/xhtml+xml"/>'
    more = {"OEBPS/b.xhtml": XHTML.format(CHAPTERS[1])}
    if contents:
        lines = "".join(f'<li><a href="{name}.xhtml">{name}</a></li>' for name in contents)
        more["OEBPS/nav.xhtml"] = XHTML.format(f'<nav epub:type="toc"><ol>{lines}</ol></nav>')
    data = epub(pages, more=more, manifest=extra + NAV * bool(contents), spine='<itemref idref="x" linear="no"/>')
    return names(read_file(data, name="x.epub"))


def test_a_page_outside_of_the_reading_order_stands_where_the_contents_list_has_it():
    assert _spine("abc") == ["Chapter I", "Chapter II", "Chapter III"]
    assert _spine("ac") == ["Chapter I", "Chapter III", "Chapter II"]
    assert _spine("") == ["Chapter I", "Chapter III", "Chapter II"]


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        ('<div class="figleft"><img alt="T"/></div><p>HE rain fell.</p>', "THE rain fell."),
        ('<p><span class="drop-cap">T</span></p><p>he rain fell.</p>', "The rain fell."),
        ('<p><img alt="“W"/>ho rang?” she said.</p>', "“Who rang?” she said."),
        ('<p><img alt="[Illustration: A]"/> lantern burned.</p>', "A lantern burned."),
        ('<p><img alt="Drop cap T"/>he rain fell.</p>', "The rain fell."),
    ],
)
def test_the_letter_of_a_drop_cap_is_there(begin, words):
    assert texts(book(f"<h2>Chapter I</h2>{begin}<p>{BELL}</p>")) == [words, BELL]


def test_a_letter_alone_before_a_sentence_is_no_drop_cap_and_a_picture_no_letter():
    work = book(f'<h2>The Weir</h2><p>I</p><p>{RAIN}</p><p><img alt="A boat"/>{BELL}</p><p>X</p>')
    assert texts(work) == ["I", RAIN, BELL, "X"]


@pytest.mark.parametrize("style", ["display:none", "color: red; display : none", "visibility:hidden", "font-size:0"])
def test_what_a_style_hides_is_left_out(style):
    work = book(f'<h2>I</h2><p>{RAIN}</p><p style="{style}">Unseen words.</p><p style="font-size:0.9em">{BELL}</p>')
    assert texts(work) == [RAIN, BELL]
    assert ("hidden", "Unseen words.") in left_out(work)


def test_of_a_switch_the_default_is_read_and_two_breaks_part_paragraphs():
    switch = "<epub:switch><epub:case><p>x+y</p></epub:case><epub:default><p>a sum</p></epub:default></epub:switch>"
    work = book(f"<h2>I</h2>{switch}<p>{RAIN}<br/><br/>{BELL}</p><p>one<br/>two and no more than that</p>")
    assert texts(work)[:3] == ["a sum", RAIN, BELL]
    assert len(texts(work)) == 4


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("<q>Go,</q> he said.", "“Go,” he said."),
        ("<q>He said <q>never</q> to me.</q>", "“He said ‘never’ to me.”"),
        ("<q>“Go,”</q> he said.", "“Go,” he said."),
    ],
)
def test_a_q_is_shown_between_marks(written, read_as):
    assert texts(book(f"<h2>I</h2><p>{written}</p>")) == [read_as]


@pytest.mark.parametrize(
    "mark",
    [
        '<a id="r1" href="page1.xhtml#n1" class="calibre5"><span class="calibre6">1</span></a>',
        '<span class="super"><a href="page1.xhtml#n1" id="r1">1</a></span>',
        '<a href="page1.xhtml#n1">1</a>',
    ],
)
def test_a_bare_number_that_is_linked_back_is_the_mark_of_a_note(mark):
    notes = '<h2>Notes</h2><p id="n1"><a href="page0.xhtml#r1">1</a> It was May.</p>'
    work = book(f"<h2>Chapter I</h2><p>Rain{mark} fell.</p>", notes)
    assert texts(work) == ["Rain fell.", "It was May."]
    assert [each.kind for each in work.paragraphs] == ["prose", "note"]
    assert names(work) == ["Chapter I"]


def test_a_number_that_leads_somewhere_without_a_way_back_and_headings_linked_to_contents_are_words():
    contents = '<p><a href="page1.xhtml#c">1</a></p>'
    chapter = '<h2 id="c"><a href="page0.xhtml#t">1</a></h2><p>He wrote <a href="page0.xhtml#t">7</a> letters.</p>'
    work = book(contents, chapter, f"<h2>2</h2><p>{RAIN}</p>")
    assert names(work) == ["Chapter 1", "Chapter 2"]
    assert texts(work) == ["He wrote 7 letters.", RAIN]


def test_milestones_divide_what_no_division_divides():
    body = (
        f'<milestone unit="chapter" n="1"/><head>I</head><p>{RAIN}</p><milestone unit="chapter" n="2"/><head>II</head>'
        f"<p>{BELL}</p>"
    )
    assert names(play(body=f"<div>{body}</div>")) == ["Chapter I", "Chapter II"]
    inside = (
        f'<div type="book"><head>Book One</head><p><milestone unit="chapter" n="1"/>{RAIN} {SECOND}{BELL}</p></div>'
    )
    work = play(body=inside)
    assert (names(work), texts(work)) == (["Book One, Chapter 1", "Book One, Chapter 2"], [RAIN, BELL])
    twice = f'<div type="chapter" n="1"><head>I</head><milestone unit="chapter" n="1"/><p>{RAIN}{CARD}</p></div>'
    assert names(play(body=twice)) == ["Chapter I"]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ('transfor-<lb break="no"/>mation', "transformation"),
        ("wa-\n<lb/>ter", "water"),
        ("a sloop-<lb/>rigged boat", "a sloop-rigged boat"),
        ("a well-<lb/>read man of ill-<lb/>ness", "a well-read man of illness"),
        ("mor¬<lb/>ning and gar\xad<lb/>den", "morning and garden"),
        ('mea-<pb n="12"/>dow', "meadow"),
        ('a char<pc force="weak">-</pc><lb break="no"/>acter', "a character"),
        ("two<lb/>words", "two words"),
        ("he lost a <gap/> and went", "he lost a [—] and went"),
    ],
)
def test_words_parted_at_the_end_of_a_line_are_whole(written, read_as):
    work = play(body=f"<div><p>{written}</p></div>")
    assert texts(work) == [read_as]
    assert len(work.sentences) == 1


def test_marks_of_speech_are_printed_where_the_file_says_that_the_text_has_none():
    body = "<div><p><said>Go,</said> he cried, <q>and <q>never</q> come back.</q></p></div>"
    without = play(body=body)
    assert texts(without) == ["Go, he cried, and never come back."]
    header = '<titleStmt><title>x</title></titleStmt><editorialDecl><quotation marks="none"/></editorialDecl>'
    assert texts(read_file(make_tei(body, header=header), name="x")) == ["“Go,” he cried, “and ‘never’ come back.”"]


# ---- who and when ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("creators", "author", "turned"),
    [
        (f'<dc:creator id="a">Mara Quill</dc:creator>{ROLES}', "Mara Quill", "Quill, Mara"),
        ('<dc:creator o:role="aut">Prado Lima, Inês, 1843-1920</dc:creator>', "Inês Prado\xa0Lima", "Prado Lima, Inês"),
        ("<dc:creator>Prado Lima, Inês, condessa de, 1851-1921</dc:creator>", "Inês Prado\xa0Lima", "Prado Lima, Inês"),
        ('<dc:creator id="a">Inês Prado Lima</dc:creator><meta refines="#a" property="file-as">Prado Lima, Inês</meta>',
         "Inês Prado\xa0Lima", "Prado Lima, Inês"),
        ('<dc:creator o:file-as="Hayashi, Ren">Hayashi Ren</dc:creator>', "Ren Hayashi", "Hayashi, Ren"),
        ('<dc:creator o:file-as="Unknown">Mara Quill</dc:creator>', "Mara Quill", "Quill, Mara"),
        ("<dc:creator>Quill, Mara, Dr.</dc:creator>", "Mara Quill", "Quill, Mara"),
        ("<dc:creator>Quill, Jonas, Jr.</dc:creator>", "Jonas Quill, Jr.", "Quill, Jonas, Jr."),
    ],
)  # fmt: skip
def test_the_author_of_an_epub_whatever_the_catalogue_wrote(creators, author, turned):
    work = book(*CHAPTERS, metadata=f"<dc:title>The Ferry</dc:title>{creators}")
    assert work.author == author
    assert [name.turned for name in read_names(work.author)] == [turned]


def test_one_who_only_translated_or_illustrated_is_no_author():
    creators = '<dc:creator o:role="ill">Ann Other</dc:creator><dc:creator o:role="trl">Bo Third</dc:creator>'
    work = book(*CHAPTERS, metadata=f"<dc:title>The Ferry</dc:title>{creators}")
    assert (work.author, work.translator) == ("", "Bo Third")


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("<persName><forename>Mara</forename><surname>Quill</surname></persName><idno>Q692</idno>", "Mara Quill"),
        (f"<persName><forename>Jo</forename> {VON_MOOR}</persName><persName>J. Moor</persName>", "Jo von Moor"),
        ("<name>Quill, Mara</name> <idno>1185</idno>", "Mara Quill"),
        ("<persName><roleName>Countess</roleName> Mara Quill <date>1801-1860</date></persName>", "Mara Quill"),
        ("<persName><surname>Prado Lima</surname>, <forename>Inês</forename></persName>", "Inês Prado\xa0Lima"),
    ],
)  # fmt: skip
def test_the_author_of_a_tei_file_whatever_is_marked_in_the_name(author, name):
    assert play(f"<author>{author}</author>").author == name


def _events(**years):
    listed = "".join(f'<event type="{kind}" when="{year}"/>' for kind, year in years.items())
    return f"<standOff><listEvent>{listed}</listEvent></standOff>"


def test_the_year_is_that_of_print_or_performance_and_not_of_the_digital_file():
    site = '<bibl><title>Plays online</title><ptr target="x"/> https://plays.example <date>2015</date></bibl>'
    assert play(sources=site, events=_events(print=1623, premiere=1603, written=1601)).year == 1623
    assert play(sources=site, events=_events(premiere=1603, written=1601)).year == 1603
    assert play(sources=site).year is None
    assert play(sources=f"{site}<bibl>London: Dent, <date>1911</date></bibl>").year == 1911


@pytest.mark.parametrize(
    "title",
    [
        "The Ferry: édition ELTeC", "The Ferry : ELTeC edition", "The Ferry, edición electrónica",
        "The Ferry (version numérique)",
        "The Ferry. Digitale Ausgabe", "The Ferry: a machine-readable transcription",
    ],
)  # fmt: skip
def test_the_title_is_that_of_the_work_and_not_of_the_digital_edition(title):
    assert play(title=title).title == "The Ferry"


def test_titles_that_only_sound_so_are_kept():
    assert [play(title=title).title for title in ("Text", "The Second Edition", "An Electronic Heart")] == [
        "Text", "The Second Edition", "An Electronic Heart",
    ]  # fmt: skip


OLD = """***The Project Gutenberg Etext of The Ferry, by Mara Quill***
#2 in our series by Mara Quill

Please take a look at the important information in this header.

Title:  The Ferry

Author: Mara Quill

Release Date: November, 2003 [Etext #99999]

*******This file should be named 7ferr10.txt or 7ferr10.zip******

This etext was produced by a volunteer.

Project Gutenberg Etexts are usually created from several editions,
all of which are in the Public Domain in the United States.


"""


@pytest.mark.parametrize("rest", [f"CHAPTER I\n\n{RAIN}\n\n\nCHAPTER II\n\n{BELL}\n", f"{RAIN}\n\n{BELL}\n"])
def test_headers_of_the_1990s_say_title_and_author_and_are_licence(rest):
    work = read_file((OLD + rest + "\n\nEnd of The Project Gutenberg Etext of The Ferry\n").encode(), name="x.txt")
    assert (work.title, work.author) == ("The Ferry", "Mara Quill")
    assert texts(work) == [RAIN, BELL]
    assert [kind for kind, _ in left_out(work) if kind != "heading"] == ["licence", "licence"]


def test_a_word_of_the_title_makes_nobody_a_translator():
    text = f"THE TRANSLATED FERRY\n\nby Mara Quill\n\n\nCHAPTER I\n\n{RAIN}\n\n\nCHAPTER II\n\n{BELL}\n"
    assert read_file(text.encode(), name="x.txt").translator == ""
    text = text.replace("by Mara Quill", "by Mara Quill\n\nTranslated by Ann Other")
    assert read_file(text.encode(), name="x.txt").translator == "Ann Other"


@pytest.mark.parametrize(
    ("by", "heads"),
    [
        ("par", ["CHAPITRE PREMIER", "CHAPITRE II"]),
        ("von", ["Erstes Kapitel", "Zweites Kapitel"]),
        ("por", ["Capítulo primero", "Capítulo segundo"]),
        ("di", ["CAPITOLO PRIMO", "CAPITOLO SECONDO"]),
        ("by", ["Глава первая", "Глава II"]),
    ],
)
def test_chapters_and_title_pages_in_other_languages(by, heads):
    text = f"LA BARCA\n\n{by} Mara Quill\n\n\n\n{heads[0]}\n\n{RAIN}\n\n\n{heads[1]}\n\n{BELL}\n\nFIN\n"
    work = read_file(text.encode(), name="x.txt")
    assert (names(work), work.author, work.title) == (heads, "Mara Quill", "La Barca")
    assert texts(work) == [RAIN, BELL]


@pytest.mark.parametrize(
    "declared",
    ['<meta charset="windows-1251"/>', '<meta http-equiv="content-type" content="text/html; charset=windows-1251"/>'],
)
def test_an_encoding_that_only_a_page_declares_is_honoured(declared):
    page = f"<html><head>{declared}</head><body><h2>Глава I</h2><p>Паром стоял.</p></body></html>"
    data = epub({"a.html": "<!x>"}, more={"OEBPS/a.html": page.encode("cp1251")})
    assert texts(read_file(data, name="x.epub")) == ["Паром стоял."]


def test_names_that_macos_wrote_are_found():
    data = epub({"ü.xhtml": CHAPTERS[0]}, more={"OEBPS/u\u0308.xhtml": XHTML.format(CHAPTERS[0])})
    assert names(read_file(data, name="x.epub")) == ["Chapter I"]


SPOKEN = (
    "CHAPTER I\n\n“You will not go,” said Mara. “It’s late—and the café is shut.” She didn’t look up.\n\n\n"
    "CHAPTER II\n\nIt rained.\n"
)


@pytest.mark.parametrize("encoding", ["mac-roman", "cp1252", "utf-8", "utf-16"])
def test_curly_marks_are_read_in_every_encoding_that_has_them(encoding):
    assert read_file(SPOKEN.encode(encoding), name="x.txt").text == SPOKEN


def test_utf_8_that_was_encoded_twice_is_read_as_it_was_meant():
    read_as = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in SPOKEN.encode())
    assert read_file(read_as.encode(), name="x.txt").text == SPOKEN


@pytest.mark.parametrize(
    "words", ["SÃO PAULO and Â stay; Ã, said the guide, is a letter.", "O DOM JOÃO, “Ã” and ÂNGELA."]
)
def test_letters_that_doubling_would_leave_too_are_kept(words):
    assert words in read_file(words.encode(), name="x.txt").text


def test_capitals_with_accents_in_cp1252_make_no_mac_roman():
    words = "SÓ O CORAÇÃO, disse Óscar. Òdio? DOIS CORAÇÕES."
    assert words in read_file(words.encode("cp1252"), name="x.txt").text
