"""The search service over small works: what a page and a command get."""

import shutil

import pytest

from relic_core.domain import SearchRequest, SeedPassage, Span, WorkFilter
from relic_core.errors import BadClaim, BadRequest, BadWeights, NotFound
from relic_core.ports import silent
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.dense_alone import DenseAlone
from relic_core.retrieval.reranked import Reranked
from relic_core.retrieval.search import Source
from relic_core.wiring import build
from tests.fake_encoder import FakeEncoder
from tests.fake_retrievers import use_fakes
from tests.making import make_work
from tests.making_rerankers import CountingReranker

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
    bench = build(settings)
    bench.store.works.add(WORK)
    use_fakes(bench)
    return bench


@pytest.fixture
def ready(bench):
    bench.indexes.build(WORK.id, ["dense-relic"], lambda *_: None)
    return bench


def ask(bench, claim, **options):
    return bench.search.run(SearchRequest(work_id=WORK.id, claim_text=claim, **options))


def test_every_column_answers_with_verbatim_located_passages(ready):
    result = ask(ready, "Nobody paid for the crossing", results=2)
    assert [column.retriever for column in result.columns] == ["dense-relic", "bm25", "reranked"]
    for column in result.columns:
        card = column.cards[0]
        assert card.quotation.plain == WORK.span_text(card.span)
        assert (card.rank, card.place.chapter) == (1, "Chapter 1")
        assert card.span == Span(0, 1) or column.retriever == "reranked"
        assert column.candidates == 6


def test_the_best_evidence_has_each_passage_once_by_the_best_ranking_that_answered(bench):
    def best(**how):
        result = bench.search.run(SearchRequest(work_id=WORK.id, claim_text="Nobody paid for it", results=1), **how)
        spans = [each.card.span for each in result.best]
        assert len(set(spans)) == len(spans)
        assert {card.span for column in result.columns for card in column.cards} <= set(spans)
        for each in result.best:
            numbers = {column.retriever: number for column, number in each.chosen_by}
            chosen = {column.retriever for column in result.columns if each.card.span in [c.span for c in column.cards]}
            assert {name for name, number in numbers.items() if number == 1} == chosen
        return [each.retriever for each in result.best[:2]]

    assert best() == ["bm25", "bm25"], "nothing is prepared"
    bench.indexes.build(WORK.id, ["dense-relic"], lambda *_: None)
    assert best(at_once=True) == ["fusion", "fusion"]
    assert best() == ["reranked", "reranked"]


def test_what_takes_seconds_can_be_left_for_later_and_the_rest_is_as_in_the_whole_answer(ready):
    request = SearchRequest(work_id=WORK.id, claim_text="Nobody paid for the crossing")
    whole, at_once = ready.search.run(request), ready.search.run(request, at_once=True)
    assert [column.waiting for column in at_once.columns] == [False, False, True]
    assert not any(column.waiting for column in whole.columns)
    assert at_once.columns[:2] == whole.columns[:2]
    late = at_once.columns[2]
    assert (late.retriever, late.cards, late.pending, late.candidates) == ("reranked", (), False, 6)
    assert at_once.weak == whole.weak


def test_the_reranked_column_is_in_the_rerankers_order_and_says_where_the_others_had_it(ready):
    column = ask(ready, "Nobody paid for the crossing", results=6).columns[2]
    counts = [WORK.span_text(card.span).count("e") for card in column.cards]
    assert counts == sorted(counts, reverse=True)
    assert [other.name for other, _ in column.cards[0].other_ranks] == ["dense-relic", "bm25", "surroundings", "fusion"]


def test_passages_like_one_are_not_reranked_since_there_is_no_claim_to_read(ready):
    result = like(ready, "1.1.1")
    assert "instead of a claim" in result.columns[2].note
    assert not result.columns[2].cards
    assert result.columns[0].cards


def test_a_work_of_which_one_length_alone_is_prepared_is_not_prepared_and_is_gone_on_with(bench):
    alone = DenseAlone("dense-relic", encoder=FakeEncoder, root=bench.settings.indexes)
    bench.retrievers._made["dense-relic"] = alone
    alone.prepare(WORK, silent, lengths=(1,))  # as where preparing it was stopped
    assert bench.indexes.ready(WORK.id, "dense-relic", 1)
    assert not bench.indexes.ready(WORK.id, "dense-relic")
    assert bench.indexes.missing(WORK.id) == ("dense-relic",)
    assert bench.indexes.unprepared(bench.works.summaries()) == (WORK.id,)
    assert bench.indexes.unprepared(bench.works.summaries(), 1) == ()
    bench.indexes.build(WORK.id, bench.indexes.missing(WORK.id), silent)
    assert bench.indexes.missing(WORK.id) == bench.indexes.unprepared(bench.works.summaries()) == ()


def test_a_retriever_that_is_not_usual_answers_where_its_column_is_asked_for(ready):
    assert ready.indexes.missing(WORK.id) == ()
    assert ready.indexes.missing(WORK.id, ("zero-shot",)) == ("zero-shot",)
    named = {other.name for card in ask(ready, "Nobody paid").columns[1].cards for other, _ in card.other_ranks}
    assert named == {"dense-relic", "surroundings", "fusion"}
    (column,) = ask(ready, "Nobody paid", retrievers=("zero-shot",)).columns
    assert column.pending


def test_a_card_names_the_words_it_shares_and_the_ranks_others_give_it(ready):
    card = ask(ready, "Who counted the lanterns?", retrievers=("bm25",)).columns[0].cards[0]
    assert card.shared == ("counted", "lanterns")
    ranks = {other.name: rank for other, rank in card.other_ranks}
    assert (ranks["dense-relic"], ranks["fusion"]) == (1, 1)


def test_where_a_passage_is_asked_with_no_rank_is_told_of_what_stands_around(ready):
    for column in like(ready, "1.1.1").columns[:2]:
        assert all(other.name != "surroundings" for card in column.cards for other, _ in card.other_ranks)


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
    ready.retrievers._made["dense-relic"] = Dense("dense-relic", encoder=FakeEncoder, root=settings.indexes)
    dense = ask(ready, "Nobody paid").columns[0]
    assert dense.pending
    assert "sums.npy" in dense.note
    ready.indexes.build(WORK.id, ready.indexes.missing(WORK.id), lambda *_: None)
    assert ask(ready, "Nobody paid").columns[0].cards


def test_without_a_model_words_still_answer_and_the_column_says_why(bench, settings):
    def no_model():
        raise BadWeights("No model. Install it.")

    bench.retrievers._made["dense-relic"] = Dense("dense-relic", encoder=no_model, root=settings.indexes)
    assert bench.indexes.missing(WORK.id) == ()
    dense, bm25, fusion = ask(bench, "Nobody paid").columns
    assert (dense.note, dense.pending) == ("No model. Install it.", False)
    assert (fusion.note, fusion.pending) == (dense.note, False)
    assert bm25.cards


def test_a_claim_that_shares_no_word_gets_no_cards_by_words_rather_than_the_first_sentences(ready):
    column = ask(ready, "jealousy", retrievers=("bm25",)).columns[0]
    assert (column.cards, column.strength, column.pending) == ((), None, False)


def test_a_claim_that_quotes_the_work_is_told_where_and_the_hit_is_marked(ready):
    result = ask(ready, "He says “A lamp stood in the window” and means it.", retrievers=("bm25",))
    assert result.quoted[0].span == Span(3, 1)
    assert [card.quoted for card in result.columns[0].cards if card.span == Span(3, 1)] == [True]
    assert result.quoted[0].mask(result.request.claim_text) == "He says [MASK] and means it."


def test_overlapping_passages_share_a_card(ready):
    cards = (
        ask(ready, "lantern lanterns passengers counted", length=2, results=6, retrievers=("bm25",)).columns[0].cards
    )
    spans = [card.span for card in cards]
    assert all(not a.overlaps(b) for a in spans for b in spans if a != b)
    assert any(card.others for card in cards)


@pytest.mark.parametrize("everywhere", [False, True], ids=["in its work", "in the library"])
def test_clauses_of_a_sentence_share_the_card_that_shows_it_whole(bench, everywhere):
    clauses = ["He counted the lanterns;", "the lanterns were many;", "it rained on."]
    work = make_work([clauses, ["Nobody paid for all these lanterns again."]], title="Lamps")
    bench.store.works.add(work)
    asked = SearchRequest(
        work_id="" if everywhere else work.id,
        claim_text="lanterns",
        retrievers=("bm25",),
        work_filter=WorkFilter(works=(work.id,) if everywhere else ()),
    )
    first, second = bench.search.run(asked).columns[0].cards
    assert (first.shown, first.whole.plain) == (Span(0, 3), " ".join(clauses))
    assert {hit.span for hit in (first, *first.others)} == {Span(0, 1), Span(1, 1)}
    assert (second.span, second.others) == (Span(3, 1), ())


def test_names_the_work_never_uses_are_told(ready):
    result = ask(ready, "It is here that Gatsby pays")
    assert result.unknown == ("Gatsby",)


def test_what_answered_is_named_for_a_permalink(ready):
    made_with = ask(ready, "Nobody paid").made_with
    assert WORK.sha256[:12] in made_with
    assert FakeEncoder().identity in made_with


def test_the_reranker_that_answered_is_named_with_the_digest_of_its_weights(ready):
    weights = "0123456789abcdef" * 4
    reranker = CountingReranker("e")
    reranker.configuration = {**reranker.configuration, "weights": weights}
    ready.retrievers._made["reranked"] = Reranked(ready.retrievers.get("fusion"), reranker)
    asked = SearchRequest(work_id=WORK.id, claim_text="Nobody paid")
    assert f", counting {weights[:12]}, version" in ready.search.run(asked).made_with
    assert "counting" not in ready.search.run(asked, at_once=True).made_with
    assert "counting" not in ask(ready, "Nobody paid", retrievers=("bm25",)).made_with


def test_an_encoder_that_did_not_answer_is_not_named(bench):
    assert FakeEncoder().identity not in ask(bench, "Nobody paid").made_with


def test_vectors_of_an_encoder_without_measured_bars_are_neither_strong_nor_weak(ready):
    column = ask(ready, "Gatsby pays for nobody", retrievers=("dense-relic",)).columns[0]
    assert {card.strength.level for card in column.cards} == {"fair"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": -1}, "1 to 5"),
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
    # No thresholds are known for the fake encoder, so what it finds is fair: the page must not call the evidence weak.
    result = ask(ready, "jealousy", retrievers=("bm25",))
    assert result.columns[0].cards == ()
    assert not result.weak


# ---- within: some chapters ----------------------------------------------------------------------------------------


def test_a_search_of_some_chapters_ranks_their_passages_alone(ready):
    result = ask(ready, "Nobody paid for the lanterns", length=2, results=10, chapters=(2,))
    for column in result.columns:
        spans = {hit.span for card in column.cards for hit in (card, *card.others)}
        assert spans <= {Span(3, 2), Span(4, 2)}  # a passage that begins in chapter 1 is none of chapter 2
        assert column.candidates == 2
        ranks = {hit.rank for card in column.cards for hit in (card, *card.others)}
        assert ranks <= {1, 2}
        assert {rank for card in column.cards for _, rank in card.other_ranks} <= {1, 2}


def test_passages_across_two_chapters_count_where_both_are_chosen(ready):
    assert ask(ready, "Nobody paid", length=2, chapters=(1, 2)).columns[0].candidates == 5
    assert ask(ready, "Nobody paid", length=2).columns[0].candidates == 5


def test_chapters_change_neither_the_scores_of_words_nor_what_a_passage_is_worth(ready):
    def found(**within):
        column = ask(ready, "Nobody paid for the lamp", results=10, retrievers=("bm25",), **within).columns[0]
        return {card.span: (card.score, card.strength) for card in column.cards}

    everywhere, inside = found(), found(chapters=(2,))
    assert inside
    assert inside == {span: everywhere[span] for span in inside}


@pytest.mark.parametrize(
    ("chapters", "length", "message"),
    [
        ((0,), 1, "chapter 0: .* 1 to 2"),
        ((2, 9, 7), 1, "chapter 7, 9"),
        ((2,), 4, "chosen .* of 4 sentences"),
    ],
)
def test_chapters_the_work_has_not_and_chapters_too_short_are_refused(ready, chapters, length, message):
    with pytest.raises(BadRequest, match=message):
        ask(ready, "Nobody paid", chapters=chapters, length=length)


# ---- like: passages like another ----------------------------------------------------------------------------------

LAMPS = make_work([["A lamp stood in a window.", "Dogs barked.", "The crossing cost nothing."]], title="Lamps")


def like(bench, at, *, work=WORK, n=1, searched=WORK, **options):
    request = SearchRequest(work_id=searched.id, like=SeedPassage(work.id, at, n), **options)
    return bench.search.run(request)


def test_passages_like_one_leave_it_and_what_overlaps_it_out(ready):
    result = like(ready, "1.2.1", n=2, length=2, results=10)
    assert result.source.span == Span(1, 2)
    assert result.source.span == Span(1, 2)
    assert (result.source.work, str(result.source.place.address)) == (WORK, "1.2.1")
    assert result.claim.words == WORK.span_text(Span(1, 2))
    for column in result.columns:
        assert column.candidates == 2
        assert {hit.span for card in column.cards for hit in (card, *card.others)} <= {Span(3, 2), Span(4, 2)}


def test_likeness_by_meaning_is_that_of_the_passages_own_vectors(ready):
    dense = ready.retrievers.get("dense-relic")
    column = like(ready, "2.1.1", results=10, retrievers=("dense-relic",)).columns[0]
    vectors = [dense.span_vector(WORK.version, Span(at, 1)) for at in range(6)]
    cosines = {Span(at, 1): float(vectors[3] @ vectors[at]) for at in (0, 1, 2, 4, 5)}
    assert {card.span: card.score for card in column.cards} == pytest.approx(cosines, abs=1e-5)


def test_the_passage_may_stand_in_another_work_which_need_not_be_prepared(ready):
    ready.store.works.add(LAMPS)
    for prepared in (False, True):
        if prepared:
            ready.indexes.build(LAMPS.id, ["dense-relic"], lambda *_: None)
        result = like(ready, "1.1", work=LAMPS)
        assert result.source.work == LAMPS
        assert [column.cards[0].span for column in result.columns[:2]] == [Span(3, 1)] * 2
        assert result.columns[0].candidates == 6
        assert result.columns[1].cards[0].shared == ("lamp", "stood", "window")


def test_a_passage_is_no_claim_so_nothing_is_said_of_quotations_names_and_levels(ready):
    text = make_work([["A lamp stood in the window of the toll-house, as Gatsby knew."]], title="Another")
    ready.store.works.add(text)
    result = like(ready, "1.1", work=text)
    assert (result.quoted, result.unknown, result.weak) == ((), (), False)
    strengths = [card.strength for column in result.columns for card in column.cards]
    assert {strength.level for strength in strengths} == {"fair"}
    assert all(strength.sentence.endswith("the rest of this work.") for strength in strengths)


def test_a_passage_that_runs_over_the_end_of_its_work_ends_there(ready):
    assert like(ready, "2.2.1", n=5).source.span == Span(5, 1)


@pytest.mark.parametrize(
    ("at", "n", "error", "message"),
    [
        ("9.1.1", 1, NotFound, "passage 9.1.1"),
        ("nowhere", 1, BadRequest, "is not a place in a work"),
        ("1.1.1", 0, BadRequest, "1 to 5 are possible"),
        ("1.1.1", 6, BadRequest, "1 to 5 are possible"),
    ],
)
def test_a_passage_that_is_not_there_is_told(ready, at, n, error, message):
    with pytest.raises(error, match=message):
        like(ready, at, n=n)


def test_a_passage_beside_which_there_is_no_other_is_told(ready):
    with pytest.raises(BadRequest, match="no other"):
        like(ready, "1.2.1", n=5, length=2)
    with pytest.raises(BadRequest, match="no other"):
        like(ready, "2.1.1", n=3, chapters=(2,))


def test_a_passage_without_a_word_is_told(ready):
    marks = make_work([["* * *", "Something."]], title="Marks")
    ready.store.works.add(marks)
    with pytest.raises(BadClaim, match="has no word"):
        like(ready, "1.1", work=marks)


# ---- what goes wrong meanwhile ------------------------------------------------------------------------------------


def test_a_folder_of_indexes_that_is_deleted_while_the_program_runs_makes_a_pending_column(ready, settings):
    assert ask(ready, "Nobody paid").columns[0].cards
    shutil.rmtree(settings.indexes)
    dense, bm25, fusion = ask(ready, "Nobody paid").columns
    assert (dense.pending, dense.cards, dense.note, fusion.pending) == (True, (), "", True)
    assert bm25.cards


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory"), OSError(12, "Cannot allocate memory")],
)
def test_a_retriever_that_runs_out_of_memory_says_so_and_the_others_answer(ready, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ready.retrievers.get("dense-relic"), "rank", fail)
    result = ask(ready, "Nobody paid")
    dense, bm25, fusion = result.columns
    assert "enough memory" in dense.note
    assert (dense.cards, dense.pending, fusion.note) == ((), False, dense.note)
    assert bm25.cards
    assert not result.weak


def test_a_file_that_is_gone_when_it_is_opened_makes_a_pending_column(ready, monkeypatch):
    def fail(*_, **__):
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(ready.retrievers.get("dense-relic"), "rank", fail)
    assert ask(ready, "Nobody paid").columns[0].pending


def test_a_mistake_of_the_program_is_not_taken_for_a_lack_of_memory(ready, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(ready.retrievers.get("dense-relic"), "rank", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        ask(ready, "Nobody paid")


@pytest.mark.parametrize(
    ("sentences", "span", "near"),
    [
        (1000, Span(500, 2), Span(488, 26)),
        (1000, Span(3, 1), Span(0, 16)),
        (1000, Span(998, 2), Span(986, 14)),
        (100, Span(50, 1), Span(48, 5)),
        (10, Span(5, 2), Span(5, 2)),
    ],
)
def test_what_stands_by_a_passage_is_left_out_where_others_like_it_are_looked_for(sentences, span, near):
    work = make_work([f"Line {number}." for number in range(sentences)])
    source = Source(work=work, span=span, place=work.place(span))
    assert source.near == near


@pytest.mark.parametrize("everywhere", [False, True], ids=["one work", "all works"])
def test_no_search_finds_what_stands_by_the_passage(ready, everywhere):
    work = make_work([f"A lamp, number {number}." for number in range(200)])
    ready.store.works.add(work)
    asked = SearchRequest(
        work_id="" if everywhere else work.id,
        like=SeedPassage(work.id, str(work.place(Span(100, 1)).address)),
        length=2,
        results=50,
        retrievers=("bm25",),
    )
    result = ready.search.run(asked)
    assert result.source.near == Span(96, 9)
    found = {hit.span for card in result.columns[0].cards for hit in (card, *card.others) if card.work == work}
    assert found
    assert not any(span.overlaps(result.source.near) for span in found)
    if not everywhere:
        assert result.columns[0].candidates == 199 - 10, "ten spans of two sentences touch nine in a row"
