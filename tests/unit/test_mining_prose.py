"""What is read of a secondary text, and what of print is dropped from it."""

from __future__ import annotations

import time

import pytest

from relic_core.mining.prose import Prose, read_prose
from relic_core.text.unbroken import is_citation

FILLER = (
    "The ferry was late again that morning, and the people who stood upon the quay had said what\n"
    "they had to say about the weather before the bell rang and the boat came in through the rain\n"
    "with nobody on the deck but the boy.\n"
)
PARAGRAPHS = "\n".join([FILLER] * 4)


def book(*blocks: str) -> Prose:
    """Read blocks behind some paragraphs of prose that show how wide the text is set."""
    return read_prose("\n".join([PARAGRAPHS, *(f"{block}\n" for block in blocks)]))


def kinds(prose: Prose) -> list[tuple[str, str]]:
    """List the stretches behind the filler as kind and text."""
    return [(one.kind, prose.text[one.start : one.end]) for one in prose.stretches[4:]]


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("It rained {19} all day.", "It rained all day."),
        ("It rained [Pg 12]all [12]day.", "It rained all day."),
        ("It rained[3] all day.[A]", "It rained all day."),
        ('It "rained."[B] All "day"[*] long, Life, vol. ii., p. 31.', 'It "rained." All "day" long, Life,'),
        ("It rained.--p. 335. All day.—vol. ii. pp. 3-4.", "It rained. All day."),
        ("It rained,* all day.† So it did.³", "It rained, all day. So it did."),
        ("It _rained_ all =day=.", "It rained all day."),
        ("It “rained” (p. 149) all day (ch. xii.).", "It “rained” all day."),
        ("It rained (_Emma_, vol. i. pp. 3-4), all day (Chapter IX).", "It rained, all day."),
        ("It rained (as he says) all day (1816).", "It rained (as he says) all day (1816)."),
        ("“[A] man who woke wom[a]n,” he says [sic].", "“[A] man who woke wom[a]n,” he says."),
        ("It rained [Illustration: A boat] all day.", "It rained all day."),
    ],
)
def test_noise_between_words_is_dropped_and_words_are_not(printed: str, read: str) -> None:
    assert read_prose(printed).text == read


def test_a_word_parted_at_a_line_end_is_joined_where_the_text_knows_it_and_keeps_its_hyphen_elsewhere() -> None:
    prose = read_prose("His worth-\nlessness, his guilt-\nburdened look. That worthlessness.")
    assert prose.text == "His worthlessness, his guilt-burdened look. That worthlessness."


def test_a_running_head_within_a_parted_word_goes_and_the_word_is_whole() -> None:
    page = "{}\n\n{} Jane R. Rivers\n\n{}\n\n"
    text = "".join(
        page.format("it was the real worth-", number, "less man of whom she spoke; a worthless man.")
        for number in (196, 198, 200)
    )
    prose = read_prose(text)
    assert "Rivers" not in prose.text
    assert prose.text.count("the real worthless man of whom") == 3


def test_page_numbers_on_lines_of_their_own_do_not_part_a_paragraph() -> None:
    lines = FILLER.splitlines()
    paged = "\n".join([lines[0], "[Page 196]", *lines[1:]])
    assert read_prose(paged).text == read_prose(FILLER).text
    assert len(read_prose(paged).stretches) == 1


def test_bare_numbers_that_stand_as_close_as_pages_are_dropped_within_a_sentence() -> None:
    text = "".join(f"{FILLER * 3}and so they waited until\n\n{page}\n\nthe boat came in.\n\n" for page in range(11, 18))
    prose = read_prose(text)
    assert "until the boat came in." in prose.text
    assert not any(map(str.isdecimal, prose.text))


def test_the_licence_contents_headings_and_an_index_are_not_read() -> None:
    text = (
        "*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n\nRAIN\n\n\n"
        "CONTENTS\n\n  I. THE FERRY   1\n  II. THE QUAY   9\n"
        f"\n\n\n\nCHAPTER I\n\nTHE FERRY\n\n{PARAGRAPHS}\n\n\nCHAPTER II\n\nTHE QUAY\n\n{PARAGRAPHS}\n\n\nINDEX\n\n"
        "Boats, 3, 9, 12\n\nFerries, their bells, 4\n\nRain, 1-20\n\n*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n"
    )
    prose = read_prose(text)
    assert prose.text == " ".join((PARAGRAPHS * 2).split())
    assert len({stretch.flow for stretch in prose.stretches}) == 2


def test_footnotes_are_flows_of_their_own_without_their_marks() -> None:
    prose = book(
        "It rained.[1]",
        "    [1] So says the boy,\n    in his diary.",
        "[Footnote A: _Letters_ to the boy.]",
        "It was dry.",
    )
    assert kinds(prose) == [
        ("prose", "It rained."),
        ("note", "So says the boy, in his diary."),
        ("note", "Letters to the boy."),
        ("prose", "It was dry."),
    ]
    flows = [stretch.flow for stretch in prose.stretches[4:]]
    assert flows[0] == flows[3]
    assert len(set(flows)) == 3


def test_a_footnote_below_its_number_is_one_though_set_in_like_a_quotation() -> None:
    prose = book(
        "It rained.[20]", "Footnote 20:", "  “The Ferry,” act i.", "  So says the boy.", "-----", "It was dry."
    )
    assert [kind for kind, _ in kinds(prose)] == ["prose", "note", "note", "prose"]


def test_quotations_set_off_are_told_from_the_running_text() -> None:
    narrow = (
        "it was a wet day upon the quay and nobody\nwas there who had not said so before, for\n"
        "the bell had rung and the boat was late\nwhich it was on most days of the year."
    )
    prose = book(
        "He writes in a letter",
        "    that it was a wet day upon the quay, and nobody was there who had not\n    said so before the bell rang.",
        "He goes on",
        narrow,
        "He sings",
        "O rain upon the quay,\nO boat upon the sea,\nThe bell has rung for thee,\nAnd nobody for me.",
        "And then he says:--",
        "It was a wet day, and nobody came; " + "the boat was late and late and late again, " * 4,
        "So far the boy.",
    )
    assert [kind for kind, _ in kinds(prose)] == [
        "prose", "block", "prose", "block", "prose", "verse", "prose", "block", "prose",
    ]  # fmt: skip


def test_who_wrote_a_quotation_that_is_set_off_is_no_part_of_it() -> None:
    prose = book(
        "He sings", "    O rain upon the quay,\n    O boat upon the sea!\n                      --_The Ferry._", "So."
    )
    assert kinds(prose)[1] == ("verse", "O rain upon the quay, O boat upon the sea!")


def test_a_text_whose_every_line_is_indented_has_its_own_margin() -> None:
    indented = "\n".join(f"     {line}" if line else "" for line in PARAGRAPHS.splitlines())
    assert {stretch.kind for stretch in read_prose(indented).stretches} == {"prose"}


def test_a_text_layer_of_a_pdf_is_read_without_its_word_breaks_and_heads() -> None:
    lines = (
        "the boat was late and nobody upon the quay had said a word about the hand-\n"
        "kerchief that the boy had lost on deck when the bell rang and they went in\n"
    )
    page = "THE FERRY {}\n" + lines * 12 + "the handkerchief.\n\f"
    prose = read_prose("".join(page.format(number) for number in range(40, 46)))
    assert "FERRY" not in prose.text
    assert "hand-" not in prose.text
    assert prose.text.count("handkerchief") == 6 * 13


def test_mixed_line_ends_change_nothing() -> None:
    lines = PARAGRAPHS.split("\n")
    mixed = "".join(line + ("\r\n" if number % 2 else "\n") for number, line in enumerate(lines))
    assert read_prose(mixed).text == read_prose(PARAGRAPHS).text


def test_a_book_in_one_line_is_read_in_time_that_grows_with_its_length() -> None:
    once = " ".join(FILLER.split()) + " He says that “it is a wet day upon the quay, and nobody came.” (p. 12)[3] "
    began = time.process_time()
    prose = read_prose(once * (4_000_000 // len(once)))
    took = time.process_time() - began
    assert "(p." not in prose.text
    assert len(prose.sentences) > 20_000
    assert took < 15


@pytest.mark.parametrize("text", ["", " \n\t ", "\f", "[3]", "_", "***", "[", "Footnote 1:", "\ud800 x"])
def test_texts_without_prose_are_read_as_nothing_or_as_they_stand(text: str) -> None:
    prose = read_prose(text)
    assert prose.text == "".join(prose.text[one.start : one.end] for one in prose.stretches)


def test_citations_are_told_from_what_is_said_in_brackets() -> None:
    said = [
        "pp. 3-4",
        "Bk. II., ch. 5",
        "_Hamlet_, iii. 2. 64",
        "ibid., p. 3",
        "act ii. scene 5",
        "see Vol. I., p. 114",
    ]
    kept = ["in the year 1812", "a line or two", "or 3 of them", "Book", "he was 19", "see below"]
    assert [is_citation(one) for one in said] == [True] * len(said)
    assert [is_citation(one) for one in kept] == [False] * len(kept)


def test_a_mark_with_blank_lines_in_it_behind_a_contents_list_is_no_prose() -> None:
    mark = "[Illustration:\n\nTHE FERRY\n\n(From a drawing by the boy, who was\nnobody then.)]"
    text = f"CONTENTS\n\n  I. THE FERRY   1\n\n{mark}\n\n\n\n\nTHE FERRY\n\n{PARAGRAPHS}"
    assert read_prose(text).text == " ".join(PARAGRAPHS.split())


def test_verse_in_a_footnote_is_a_quotation_of_its_own():
    text = (
        "The critic turned to the poets, and he found in them what he had looked for all his life.[1] So he said.\n\n"
        "[1] He had these lines in mind, which he knew by heart and often spoke:\n\n"
        "    The ferry lay beside the quay,\n    And nobody was there to see,\n    The lamps were out.\n\n"
    )
    prose = read_prose(text)
    verse = [stretch for stretch in prose.stretches if stretch.kind == "verse"]
    (note,) = [stretch for stretch in prose.stretches if stretch.kind == "note"]
    assert [prose.text[each.start : each.end] for each in verse] == [
        "The ferry lay beside the quay, And nobody was there to see, The lamps were out."
    ]
    assert verse[0].flow == note.flow


def test_verse_between_long_paragraphs_is_one_however_near_a_mark_stands():
    line = "The critic went on about the ferry and the quay, and about all who wait there in the rain,\n"
    verse = '"The ferry lay beside the quay,\nAnd nobody was there to see,\nThe lamps were out, the tide was in,"\n'
    long = line * 30
    text = f"{long}\n{line * 4}\n[Illustration: The quay]\n\n{long}\n{verse}\n{long}\n[Illustration: It]\n\n{line * 90}"
    text = text.replace(long, long[:-2] + ".\n", 2) + f"\n{line * 3}\n" * 60
    assert ["verse" for each in read_prose(text).stretches if each.kind != "prose"] == ["verse"]


def test_the_number_of_a_stanza_between_two_ends_no_chapter():
    text = (
        "These are the lines that he wrote when he was young, and they are the best that he ever wrote in verse:\n\n"
        "    The ferry lay beside the quay,\n    And nobody was there to see,\n\n"
        "        2.\n\n"
        "    The lamps were out, the tide was in,\n    And nothing that they could begin.\n\n"
        "Nobody has read them since, and it may be that nobody will read them again for a long time.\n"
    )
    prose = read_prose(text)
    assert {stretch.flow for stretch in prose.stretches} == {prose.stretches[0].flow}
    assert "2." not in prose.text


def test_where_a_quotation_set_off_stands_is_no_part_of_it():
    text = (
        "He was pleased with the passage, and he gave it in full, since nobody else had thought it worth a word:\n\n"
        "    The ferry lay beside the quay all the night long, and there was nobody to see it go when at last the\n"
        "    tide had come in and the lamps were out. Ibid., iii. 6.\n\n"
        "So much for the passage, of which no more need be said in this place or in any other of this book.\n"
    )
    prose = read_prose(text)
    (block,) = [prose.text[each.start : each.end] for each in prose.stretches if each.kind == "block"]
    assert block.endswith("the lamps were out.")


@pytest.mark.parametrize("empty", [" ", "\n", "\t", "\f"])
def test_long_stretches_without_a_word_are_read_at_once(empty):
    began = time.perf_counter()
    assert read_prose(f"It rained.{empty * 40_000}Nobody came.").text == "It rained. Nobody came."
    assert time.perf_counter() - began < 2
