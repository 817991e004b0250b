import time
import unicodedata

import pytest

from relic_core.domain import MASK, Span
from relic_core.errors import BadClaim
from relic_core.text.masking import (
    QuotationFinder,
    check_script,
    marked_quotations,
    read_claim,
)
from relic_core.text.reading import read_work
from tests.making import make_work

WORK = make_work(
    [
        ["The ferry left at six, and nobody aboard it had paid for the crossing but the dog."],
        ["“I never said so,” he cried;", "and the river, which had heard him say it, went on."],
    ],
    [["A lamp stood in the window of the toll-house until the morning."]],
)


@pytest.mark.parametrize(
    "mask", ["[MASK]", "[mask]", "[masked sentence(s)]", "[masked sentence]", "___", "______", "<mask>"]
)
def test_every_way_of_writing_a_mask_parts_left_from_right(mask):
    claim = read_claim(f"He denies it: {mask} The river knows.", max_words=50)
    assert (claim.left, claim.right, claim.masked) == ("He denies it:", "The river knows.", True)


def test_a_bare_prompt_has_only_a_left_side():
    claim = read_claim("  Guilt   by water\n", max_words=50)
    assert (claim.left, claim.right, claim.masked) == ("Guilt by water", "", False)


@pytest.mark.parametrize("text", ["", "   \n", "[MASK]", "?!", "___ …"])
def test_nothing_to_search_with_says_what_to_write(text):
    with pytest.raises(BadClaim, match="Type a claim"):
        read_claim(text, max_words=50)


def test_two_masks_are_named_and_refused():
    with pytest.raises(BadClaim, match=r"2 masks \(“\[MASK\]” and “___”"):
        read_claim("One [MASK] two ___ three", max_words=50)


def test_a_claim_too_long_says_how_long_and_how_long_it_may_be():
    with pytest.raises(BadClaim, match=r"20,000 words; up to 2,000"):
        read_claim("word " * 20_000, max_words=2_000)


def test_a_claim_of_few_words_and_many_characters_is_refused():
    assert read_claim("a " * 499 + "a", max_words=500).left
    with pytest.raises(BadClaim, match=r"10,001 characters; up to 10,000"):
        read_claim("a" * 10_001, max_words=500)


def test_words_of_a_claim_are_counted_as_they_are_searched():
    accented = unicodedata.normalize("NFD", "Natásha Rostóva")  # two words, whatever their accents are made of
    assert read_claim(accented, max_words=2).left == accented


def test_a_claim_in_another_script_is_refused_by_name():
    with pytest.raises(BadClaim, match="Cyrillic letters and A Small Work in Latin"):
        check_script(read_claim("Паромщик лжёт о плате", max_words=50), [WORK])
    check_script(read_claim("Le passeur ment, naïvement", max_words=50), [WORK])


def test_pasted_words_of_the_work_are_found_across_line_wraps_and_sentence_borders():
    text = "He denies it: “I never said so,”\nhe cried; and the river, which had heard him say it, went on. It isn’t."
    (found,) = QuotationFinder(WORK).find(text)
    assert found.span == Span(1, 2)
    assert found.mask(text) == f"He denies it: {MASK} It isn’t."


def test_a_short_quotation_counts_when_the_claim_marks_it_as_one():
    finder = QuotationFinder(WORK)
    (found,) = finder.find("Consider the “lamp stood in the window” of the last chapter.")
    assert found.span == Span(3, 1)
    assert not finder.find("Consider how a lamp stood in the window of every house.")  # seven words, nobody's quotation


@pytest.mark.parametrize("form", ["NFC", "NFD", "bare"])
def test_quotations_are_found_whatever_their_accents_are_made_of(form):
    work = make_work([["Natásha wept when Prince Andréy’s café had to close early."]])
    claim = "He adds: Natásha wept when Prince Andréy's CAFÉ had to close early."
    if form == "bare":
        claim = claim.replace("á", "a").replace("é", "e").replace("É", "E")
    (found,) = QuotationFinder(work).find(claim if form == "bare" else unicodedata.normalize(form, claim))
    assert (found.span, found.words) == (Span(0, 1), 10)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('She cries "no" and then, later, "a task was done" again.', ['"no"', '"a task was done"']),
        ("She cries 'no'; the dog's bark 'isn't hers' at all.", ["'no'", "'isn't hers'"]),
        ("He says ‘I don’t know’ twice.", ["‘I don’t know’"]),
        ("He says “I don’t ‘know’ it” twice.", ["‘know’", "“I don’t ‘know’ it”"]),
        ("“Unclosed, and “closed” here.", ["“closed”"]),
        ('A board 5" wide and "a lamp" on it', ['"a lamp"']),
        ('It ends—"never again"—there ("not").', ['"never again"', '"not"']),
        ("'\"Two kinds\" at once,' he says.", ['"Two kinds"', "'\"Two kinds\" at once,'"]),
        ("The dogs’ and the cats' homes don't count.", []),
    ],
)
def test_quotation_marks_are_paired_in_order(text, marked):
    assert [text[start:end] for start, end in marked_quotations(text)] == marked


@pytest.mark.parametrize("opening, closing", ["“”", "‘’", '""', "''"])
def test_a_short_quotation_is_found_after_a_shorter_one_in_any_marks(opening, closing):
    text = f"He cries {opening}no{closing}, and then a {opening}lamp stood in the window{closing} again."
    (found,) = QuotationFinder(WORK).find(text)
    assert (found.span, found.words) == (Span(3, 1), 5)
    assert found.mask(text) == f"He cries {opening}no{closing}, and then a {MASK} again."


@pytest.mark.parametrize("mark", ["“", "‘", '"', " '", "“a ", "a” "])
def test_unclosed_marks_cost_no_time(mark):
    begun = time.perf_counter()
    assert not QuotationFinder(WORK).find(mark * 200_000)
    assert time.perf_counter() - begun < 10  # under a second on an idle core; quadratic time would be many minutes


def test_every_place_of_common_words_is_tried():
    sentences = [f"It was in the end of the day that {name} saw it." for name in ("Ann", "Ben", "Cat", "Dan")]
    (found,) = QuotationFinder(make_work([sentences])).find("So: it was in the end of the day that Cat saw it!")
    assert found.span == Span(2, 1)


@pytest.mark.corpus
def test_a_long_claim_is_read_against_a_long_work_at_once(shared):
    path = shared / "corpus" / "primary" / "war_and_peace.txt"
    work = read_work(path.read_bytes(), name=path.name)
    finder = QuotationFinder(work)
    words = work.text.split()
    claim = " ".join(words[place % len(words)] for place in range(1_000, 2_000 * 7_919, 7_919))
    begun = time.perf_counter()
    finder.find(claim)
    assert time.perf_counter() - begun < 0.25  # 0.01 s on an idle core; looking through the text took 0.5 s


def test_a_claim_in_other_words_quotes_nothing():
    assert QuotationFinder(WORK).find("The ferryman's denial turns the river into a witness against him.") == ()


def test_a_work_without_sentences_quotes_nothing():
    assert QuotationFinder(make_work([])).find("any eight words that you may care to write here") == ()
