from dataclasses import replace

from relic_core.domain import Span
from relic_core.library.reading import read_file
from relic_core.reporting.passages import light_words, quotation, surroundings, whole_sentences
from relic_core.text.words import content_tokens, shared_words
from tests.making import make_work

WORK = make_work(
    [["One _very_ long\nline.", "Two."], ["Three of the lamp."], ["Four;"]],
    [["Five."]],
)


def test_a_quotation_keeps_its_words_and_loses_only_the_wraps_of_the_file():
    assert quotation(WORK, Span(0, 2)).plain == "One very long line. Two."


def test_line_ends_add_nothing_to_the_words_of_prose():
    text = (
        "The day-\nweary guests--\nand two-\nor threefold self-\n_esteem_ of pre-\nbut not post-war K----\nBoulevard."
    )
    passage = quotation(read_file(text.encode(), name="guests.txt"), Span(0, 1))
    assert passage.plain == (
        "The day-weary guests-- and two- or threefold self-esteem of pre- but not post-war K---- Boulevard."
    )
    lit = light_words(passage, "day- weary guests--\nand")
    assert [piece.text for piece in lit.pieces if piece.lit] == ["day-weary guests-- and"]


def test_where_hyphens_part_words_the_words_are_whole_and_a_doubtful_one_is_as_in_the_file():
    text = (
        "She was anx-\nious to be of _con-\nsequence_ [Pg 7] to her good-na-\ntured, unpros-\nperous cousin "
        "in the gar\u00ad\nden fam-\nily."
    )
    work = read_file(text.encode(), name="garden.txt")
    passage = quotation(work, Span(0, 1), light=lambda words: [(words.index("anx"), words.index("ious") + 4)])
    assert passage.plain == (
        "She was anxious to be of consequence [Pg 7] to her good-natured, unpros- perous cousin in the garden family."
    )
    assert [piece.text for piece in passage.pieces if piece.lit or piece.italic] == ["anxious", "consequence"]


def test_a_soft_hyphen_within_a_line_and_numbers_of_pages_say_nothing_about_its_ends():
    text = "The gar\u00adden had a coffee-\ncup on the \n\n- 12 -\n\nwall by the lamp-\nwindow [Pg 13] alone."
    work = read_file(text.encode(), name="cup.txt")
    assert "coffee-cup" in quotation(work, Span(0, len(work.sentences))).plain


def test_verse_keeps_the_hyphens_at_its_line_ends():
    work = read_file(b"The king-\ndom of day-\nlight fell.", name="verse.txt")
    verse = replace(work, paragraphs=(replace(work.paragraphs[0], kind="verse"),))
    assert quotation(verse, Span(0, 1)).plain == "The king-\ndom of day-\nlight fell."


def test_italics_of_the_edition_become_italic_pieces():
    pieces = quotation(WORK, Span(0, 1)).paragraphs[0].pieces
    assert [piece.text for piece in pieces if piece.italic] == ["very"]


def test_paragraphs_stay_apart_and_no_heading_slips_in():
    assert quotation(WORK, Span(2, 3)).plain == "Three of the lamp.\n\nFour;\n\nFive."


def test_verse_keeps_its_lines():
    verse = replace(WORK, paragraphs=(replace(WORK.paragraphs[0], kind="verse"), *WORK.paragraphs[1:]))
    assert quotation(verse, Span(0, 1)).plain == "One very long\nline."


def test_words_shared_with_the_claim_are_lit():
    wanted = set(content_tokens("Lamps? The lamp's meaning"))
    passage = quotation(WORK, Span(2, 1), light=lambda text: shared_words(wanted, text))
    assert [piece.text for piece in passage.paragraphs[0].pieces if piece.lit] == ["lamp"]


def test_surroundings_stay_in_the_chapter_and_mark_only_the_passage():
    around = surroundings(WORK, Span(2, 1), sentences=5)
    assert around.plain == "One very long line. Two.\n\nThree of the lamp.\n\nFour;"
    gold = [piece.text for paragraph in around.paragraphs for piece in paragraph.pieces if piece.gold]
    assert "".join(gold) == "Three of the lamp."


def test_a_passage_stands_in_its_whole_sentence_within_its_paragraph_and_only_it_is_marked():
    work = make_work(
        [["She saw the lamp;", "she saw the sea:", "and then...", "nothing more.", "Night fell;"], ["It was dark."]]
    )
    for span in (Span(1, 1), Span(0, 3)):
        whole = quotation(work, span, within=whole_sentences(work, span))
        assert whole.plain == "She saw the lamp; she saw the sea: and then... nothing more."
        gold = "".join(piece.text for piece in whole.pieces if piece.gold)
        assert gold == quotation(work, span).plain
    assert whole_sentences(work, Span(4, 1)) == Span(4, 1)
    assert whole_sentences(work, Span(5, 1)) == Span(5, 1)


def test_a_long_rest_of_a_sentence_is_left_out_from_its_far_end():
    parts = [f"{' '.join(['on'] * 15)};" for _ in range(9)]
    assert whole_sentences(make_work([parts]), Span(4, 1)) == Span(2, 5)
