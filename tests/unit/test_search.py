"""The search service over small works: what a page and a command get."""

import pytest

from relic_core.domain import Span
from relic_core.errors import BadClaim, BadRequest, BadWeights
from relic_core.retrieval.dense import Dense
from relic_core.services.answers import SearchRequest
from relic_core.services.workbench import Workbench
from tests.fake_encoder import FakeEncoder
from tests.making import make_work

WORK = make_work(
    [
        ["The ferry left at six, and nobody aboard it had paid for the crossing but the dog."],
        ["He counted the lanterns again.", "There was one lantern more than there had been passengers."],
    ],
    [
        ["A lamp stood in the window of the toll-house.", "The chapter of accidents was closed."],
        ["Nobody paid for it."],
    ],
    title="The Toll",
)


@pytest.fixture
def bench(settings):
    bench = Workbench(settings)
    bench.store.works.add(WORK)
    bench.indexes._retrievers["zero-shot"] = Dense("zero-shot", encoder=FakeEncoder, root=settings.indexes)
    return bench


@pytest.fixture
def ready(bench):
    bench.indexes.build(WORK.id, ["zero-shot"], lambda *_: None)
    return bench


def ask(bench, claim, **options):
    return bench.search.run(SearchRequest(work_id=WORK.id, claim_text=claim, **options))


def test_every_column_answers_with_verbatim_located_passages(ready):
    result = ask(ready, "Nobody paid for the crossing", results=2)
    assert [column.retriever for column in result.columns] == ["zero-shot", "bm25", "fusion"]
    for column in result.columns:
        card = column.cards[0]
        assert card.quotation.plain == WORK.span_text(card.span)
        assert (card.span, card.rank, card.place.chapter) == (Span(0, 1), 1, "Chapter 1")
        assert column.candidates == 6


def test_a_card_names_the_words_it_shares_and_the_ranks_others_give_it(ready):
    card = ask(ready, "Who counted the lanterns?", retrievers=("bm25",)).columns[0].cards[0]
    assert card.shared == ("counted", "lanterns")
    assert dict(card.elsewhere) == {"Dense, zero-shot": 1, "Combined": 1}


def test_words_of_a_heading_between_two_sentences_are_neither_shown_nor_shared(ready):
    cards = (
        ask(
            ready,
            "chapter 2: more passengers than lantern, and a lamp in the toll-house window",
            length=2,
            results=5,
            retrievers=("bm25",),
        )
        .columns[0]
        .cards
    )
    across = next(card for card in cards if card.span == Span(2, 2))
    assert "CHAPTER" not in across.quotation.plain
    assert "chapter" not in across.shared


def test_before_the_index_is_built_words_answer_and_meaning_is_pending(bench):
    dense, bm25, fusion = ask(bench, "Nobody paid").columns
    assert (dense.pending, dense.cards, dense.note) == (True, (), "")
    assert fusion.pending
    assert bm25.cards
    assert not bm25.pending


def test_a_damaged_index_is_said_to_be_damaged_and_can_be_built_anew(ready, settings):
    (array,) = settings.indexes.rglob("sums.npy")
    content = bytearray(array.read_bytes())
    content[-1] ^= 1
    array.write_bytes(content)
    ready.indexes._retrievers["zero-shot"] = Dense("zero-shot", encoder=FakeEncoder, root=settings.indexes)
    dense = ask(ready, "Nobody paid").columns[0]
    assert dense.pending
    assert "sums.npy" in dense.note
    ready.indexes.build(WORK.id, ready.indexes.missing(WORK.id), lambda *_: None)
    assert ask(ready, "Nobody paid").columns[0].cards


def test_without_a_model_words_still_answer_and_the_column_says_why(bench, settings):
    def no_model():
        raise BadWeights("The model is gone. Install it again.")

    bench.indexes._retrievers["zero-shot"] = Dense("zero-shot", encoder=no_model, root=settings.indexes)
    assert bench.indexes.missing(WORK.id) == ()
    dense, bm25, fusion = ask(bench, "Nobody paid").columns
    assert (dense.note, dense.pending) == ("The model is gone. Install it again.", False)
    assert (fusion.note, fusion.pending) == (dense.note, False)
    assert bm25.cards


def test_a_claim_that_shares_no_word_gets_no_cards_by_words_rather_than_the_first_sentences(ready):
    column = ask(ready, "jealousy", retrievers=("bm25",)).columns[0]
    assert (column.cards, column.strength, column.pending) == ((), None, False)


def test_a_claim_that_quotes_the_work_is_told_where_and_the_hit_is_marked(ready):
    result = ask(ready, "He says “A lamp stood in the window” and means it.", retrievers=("bm25",))
    assert result.quoted[0].span == Span(3, 1)
    assert [card.quoted for card in result.columns[0].cards if card.span == Span(3, 1)] == [True]
    assert ready.search.mask(result.request.claim_text, result.quoted[0]) == "He says [MASK] and means it."


def test_overlapping_passages_share_a_card(ready):
    cards = (
        ask(ready, "lantern lanterns passengers counted", length=2, results=6, retrievers=("bm25",)).columns[0].cards
    )
    spans = [card.span for card in cards]
    assert all(not a.overlaps(b) for a in spans for b in spans if a != b)
    assert any(card.others for card in cards)


def test_names_the_work_never_uses_are_told(ready):
    result = ask(ready, "It is here that Gatsby pays")
    assert result.unknown == ("Gatsby",)


def test_what_answered_is_named_for_a_permalink(ready):
    made_with = ask(ready, "Nobody paid").made_with
    assert WORK.sha256[:12] in made_with
    assert FakeEncoder().identity in made_with


def test_an_encoder_that_did_not_answer_is_not_named(bench):
    assert FakeEncoder().identity not in ask(bench, "Nobody paid").made_with


def test_vectors_of_an_encoder_without_measured_bars_are_neither_strong_nor_weak(ready):
    column = ask(ready, "Gatsby pays for nobody", retrievers=("zero-shot",)).columns[0]
    assert {card.strength.level for card in column.cards} == {"fair"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "1 to 5"),
        ({"length": 6}, "1 to 5"),
        ({"results": 0}, "1 to 50"),
        ({"results": 51}, "1 to 50"),
        ({"retrievers": ()}, "at least one"),
        ({"retrievers": ("bm52",)}, "Did you mean bm25"),
    ],
)
def test_settings_out_of_range_say_what_is_allowed(ready, options, message):
    with pytest.raises(BadRequest, match=message):
        ask(ready, "Nobody paid", **options)


def test_a_quotation_longer_than_the_work_is_refused_with_its_size(ready):
    short = make_work([["One sentence."]], title="Brief")
    ready.store.works.add(short)
    with pytest.raises(BadRequest, match="has one sentence,"):
        ready.search.run(SearchRequest(work_id=short.id, claim_text="a sentence", length=2))


def test_a_claim_in_cyrillic_is_refused(ready):
    with pytest.raises(BadClaim, match="Cyrillic"):
        ask(ready, "Паром ушёл в шесть")


def test_no_verdict_on_the_whole_is_given_while_a_retriever_has_not_answered(bench):
    assert not ask(bench, "jealousy", retrievers=("bm25",)).weak


def test_the_verdict_on_the_whole_heeds_retrievers_that_are_not_shown(ready):
    # No bars are known for the fake encoder, so what it finds is fair and the page must not call the evidence weak.
    result = ask(ready, "jealousy", retrievers=("bm25",))
    assert result.columns[0].cards == ()
    assert not result.weak
