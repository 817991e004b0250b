"""Searching many works at once: what a page and a command get."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import Hit, SearchRequest, SeedPassage, Span, WorkFilter, group_overlapping
from relic_core.errors import BadClaim, BadRequest, BadWeights, StaleIndex
from relic_core.retrieval.dense import Dense
from relic_core.wiring import build
from tests.approved import says
from tests.fake_encoder import FakeEncoder
from tests.fake_retrievers import use_fakes
from tests.inline import InlineExecutor
from tests.making import answer_again, make_work

SAYS = says("jobs")

TOLL = replace(
    make_work(
        [
            ["The ferry left at six, and nobody aboard it had paid for the crossing but the dog."],
            ["He counted the lanterns again.", "There was one lantern more than there had been passengers."],
        ],
        [["A lamp stood in the window of the toll-house."], ["Nobody paid for it."]],
        title="The Toll",
    ),
    author="A. Ferryman",
    year=1850,
)
LAMPS = replace(
    make_work(
        [
            "A lamp stood in a window.",
            "Dogs barked at the lantern.",
            "Nobody had counted the passengers, said Harriet.",
        ],
        title="Lamps",
    ),
    author="B. Lamplighter",
    year=1890,
)
BRIEF = replace(make_work(["Nobody paid."], title="Brief"), author="B. Lamplighter")
WORKS = (TOLL, LAMPS, BRIEF)


@pytest.fixture
def bench(settings):
    bench = build(settings, executor=InlineExecutor(settings))
    for work in WORKS:
        bench.store.works.add(work)
    use_fakes(bench)
    return bench


@pytest.fixture
def ready(bench):
    for work in WORKS:
        bench.indexes.build(work.id, ["dense-relic"], lambda *_: None)
    return bench


def ask(bench, claim="", **options):
    return bench.search.run(SearchRequest(work_id="", claim_text=claim, **options))


def found(column):
    return [(card.work.title, card.span) for card in column.cards]


# ---- what is found ------------------------------------------------------------------------------------------------


def test_every_column_answers_with_verbatim_passages_that_name_their_works(ready):
    result = ask(ready, "Nobody counted the lanterns", results=10)
    assert (result.work, [work.title for work in result.searched]) == (None, ["Brief", "Lamps", "The Toll"])
    assert [column.retriever for column in result.columns] == ["dense-relic", "bm25", "reranked"]
    for column in result.columns:
        assert column.candidates == 9
        assert (column.exact, column.note, column.pending) == (True, "", False)
        assert len({card.work.title for card in column.cards}) > 1
        ranks = [card.rank for card in column.cards]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1
        for card in column.cards:
            assert card.work in WORKS
            assert card.quotation.plain == card.work.span_text(card.span)
            assert card.place == card.work.place(card.span)


def test_meaning_scores_a_passage_as_a_search_of_its_own_work_does(ready):
    everywhere = ask(ready, "Nobody paid for the lamp", results=20, retrievers=("dense-relic",)).columns[0]
    alone = {
        (work.title, card.span): (card.score, card.strength)
        for work in WORKS
        for card in ready.search.run(
            SearchRequest(
                work_id=work.id, claim_text="Nobody paid for the lamp", results=20, retrievers=("dense-relic",)
            )
        )
        .columns[0]
        .cards
    }
    assert {(card.work.title, card.span): (card.score, card.strength) for card in everywhere.cards} == alone


def test_a_card_names_the_ranks_others_give_it_in_the_whole_library(ready):
    named = ("dense-relic", "bm25", "reranked", "fusion")
    result = ask(ready, "Nobody counted the lanterns", results=9, retrievers=named)
    ranks = {column.card: {(c.work.id, c.span): c.rank for c in column.cards} for column in result.columns}
    compared = 0
    for column in result.columns:
        for card in column.cards:
            for other, rank in card.other_ranks:
                shown = ranks.get(other, {}).get((card.work.id, card.span))
                compared += shown is not None
                assert shown in (None, rank)
    assert compared > 9


def test_overlapping_passages_share_a_card_and_those_of_other_works_do_not():
    places = [("a", 4), ("b", 4), ("a", 5), ("b", 0), ("a", 0)]
    hits = [Hit(work_id, Span(start, 2), 1.0 / rank, rank) for rank, (work_id, start) in enumerate(places, 1)]
    groups = [(group.best.rank, [other.rank for other in group.others]) for group in group_overlapping(hits)]
    assert groups == [(1, [3]), (2, []), (4, []), (5, [])]


def test_a_claim_that_shares_no_word_gets_no_cards_by_words(ready):
    column = ask(ready, "jealousy", retrievers=("bm25",)).columns[0]
    assert (column.cards, column.strength, column.pending) == ((), None, False)


def test_a_name_weighs_against_the_works_that_never_use_it(ready):
    """By words a passage of the work that knows the name is worth more than a like one of a work that does not."""
    cards = ask(ready, "as Harriet, passengers counted", retrievers=("bm25",), results=9).columns[0].cards
    levels = {card.work.title: card.strength.level for card in reversed(cards)}
    assert levels["The Toll"] == "weak"
    assert "no more of" in next(card.strength.sentence for card in cards if card.work.title == "The Toll")


def test_works_too_short_for_the_length_are_not_searched(ready):
    result = ask(ready, "Nobody paid", length=2)
    assert [work.title for work in result.searched] == ["Lamps", "The Toll"]
    assert result.columns[0].candidates == 2 + 4


def test_what_answered_is_named_for_a_permalink_and_changes_with_the_works(ready):
    made_with = ask(ready, "Nobody paid").made_with
    assert made_with.startswith("3 works ")
    assert FakeEncoder().identity in made_with
    assert ", counting, version" in made_with  # the reranker, of which no digest is known
    assert made_with == ask(ready, "Nobody else paid").made_with
    assert ask(ready, "Nobody paid", work_filter=WorkFilter(works=(TOLL.id,))).made_with != made_with


# ---- narrowing ----------------------------------------------------------------------------------------------------


def test_a_narrowed_search_ranks_and_counts_what_it_admits(ready):
    work_filter = WorkFilter(authors=("B. Lamplighter",))
    result = ask(ready, "Nobody counted the lanterns", work_filter=work_filter, results=9)
    assert ready.works.scope(work_filter) == result.searched
    assert [work.title for work in result.searched] == ["Brief", "Lamps"]
    for column in result.columns:
        assert {card.work.title for card in column.cards} <= {"Brief", "Lamps"}
        assert column.candidates == 4
        assert all(rank <= 4 for card in column.cards for _, rank in card.other_ranks)
        assert column.cards[0].rank == 1


@pytest.mark.parametrize(
    ("work_filter", "said"),
    [
        (WorkFilter(authors=("Nobody", "Somebody")), "is by Nobody or Somebody. Choose"),
        (WorkFilter(first_year=1900), "is of 1900 or later. Choose"),
        (WorkFilter(last_year=1800), "is of 1800 or before. Choose"),
        (
            WorkFilter(works=("gone",), first_year=1800, last_year=1900),
            "years 1800 to 1900",
        ),
    ],
)
def test_a_narrowing_that_leaves_nothing_is_told(ready, work_filter, said):
    with pytest.raises(BadRequest, match=said):
        ask(ready, "Nobody paid", work_filter=work_filter)


def test_an_empty_library_is_told(settings):
    with pytest.raises(BadRequest, match="no work"):
        ask(build(settings), "Nobody paid")


def test_a_length_that_no_work_holds_is_told(ready):
    with pytest.raises(BadRequest, match=r" 2 sentences.* 1 "):
        ask(ready, "Nobody paid", length=2, work_filter=WorkFilter(works=(BRIEF.id,)))
    with pytest.raises(BadRequest, match="has another passage of one sentence"):
        ask(ready, like=SeedPassage(BRIEF.id, "1.1"), work_filter=WorkFilter(works=(BRIEF.id,)))


def test_a_retriever_that_searches_single_works_only_is_refused(ready):
    with pytest.raises(BadRequest, match="one work at a time"):
        ask(ready, "Nobody paid", retrievers=("random",))


def test_a_claim_in_a_script_that_no_work_has_is_refused(ready):
    for retrievers in (("dense-relic",), ("bm25",)):
        with pytest.raises(BadClaim, match="Cyrillic"):
            ask(ready, "Паром ушёл в шесть", retrievers=retrievers)


# ---- like ---------------------------------------------------------------------------------------------------------


def test_passages_like_one_are_found_in_all_works_but_for_itself_and_what_overlaps_it(ready):
    result = ask(ready, like=SeedPassage(TOLL.id, "1.2.1", 1), length=2, results=9)
    assert (result.source.work, result.source.span) == (TOLL, Span(1, 1))
    assert (result.quoted, result.unknown, result.weak) == ((), (), False)
    for column in result.columns:
        assert column.candidates == 2 + 4 - 2
        spans = {(card.work.id, hit.span) for card in column.cards for hit in (card, *card.others)}
        assert not spans & {(TOLL.id, Span(0, 2)), (TOLL.id, Span(1, 2))}
        assert all(card.strength.level == "fair" for card in column.cards)
        assert all(rank <= 4 for card in column.cards for _, rank in card.other_ranks)


def test_likeness_by_meaning_is_that_of_the_passages_own_vectors(ready):
    dense = ready.retrievers.get("dense-relic")
    column = ask(ready, like=SeedPassage(TOLL.id, "2.1.1"), retrievers=("dense-relic",), results=20).columns[0]
    source = dense.span_vector(TOLL.version, Span(3, 1))
    assert found(column)[0] == ("Lamps", Span(0, 1))
    for card in column.cards:
        assert card.score == pytest.approx(float(source @ dense.span_vector(card.work.version, card.span)), abs=1e-5)


def test_the_passage_may_stand_in_a_work_that_is_not_prepared_or_not_searched(bench):
    bench.indexes.build(LAMPS.id, ["dense-relic"], lambda *_: None)
    work_filter = WorkFilter(works=(LAMPS.id,))
    result = ask(bench, like=SeedPassage(TOLL.id, "2.1.1"), work_filter=work_filter, results=9)
    assert result.source.work == TOLL
    dense, bm25, reranked = result.columns
    assert found(dense)[0] == found(bm25)[0] == ("Lamps", Span(0, 1))
    assert (dense.candidates, bm25.candidates) == (3, 3)
    assert "instead of a claim" in reranked.note


# ---- works that are not prepared ----------------------------------------------------------------------------------


def test_where_nothing_is_prepared_words_answer_and_meaning_is_pending(bench):
    result = ask(bench, "Nobody paid")
    dense, bm25, fusion = result.columns
    assert (dense.pending, dense.cards, dense.note, dense.candidates) == (True, (), "", 9)
    assert fusion.pending
    assert {card.work.title for card in bm25.cards} >= {"Brief", "The Toll"}
    assert [work.title for work in result.unprepared] == ["Brief", "Lamps", "The Toll"]
    assert FakeEncoder().identity not in result.made_with


def test_what_reads_one_work_says_so_also_where_nothing_is_prepared_for_what_it_is_made_of(bench):
    column = ask(bench, "Nobody paid", retrievers=("late",)).columns[0]
    assert (column.pending, column.cards) == (False, ())
    assert "one work at a time" in column.note


def test_works_that_are_not_prepared_are_named_and_passed_over_by_meaning_alone(bench):
    bench.indexes.build(LAMPS.id, ["dense-relic"], lambda *_: None)
    result = ask(bench, "Nobody paid for the lamp", results=9)
    dense, bm25, fusion = result.columns
    assert [work.title for work in result.unprepared] == ["Brief", "The Toll"]
    assert {card.work.title for card in dense.cards} == {card.work.title for card in fusion.cards} == {"Lamps"}
    assert (dense.candidates, dense.pending) == (3, False)
    unread = [card for card in bm25.cards if card.work.title != "Lamps"]
    assert {card.work.title for card in unread} == {"Brief", "The Toll"}
    for card in unread:
        ranks = {other.name: rank for other, rank in card.other_ranks}
        assert (ranks["dense-relic"], ranks["fusion"]) == (0, 0)


def test_works_are_prepared_one_after_another_by_one_job_and_those_that_are_ready_passed_over(settings, monkeypatch):
    monkeypatch.setattr(
        "relic_core.retrieval.registry.Retrievers.get",
        lambda *_: Dense("dense-relic", encoder=FakeEncoder, root=settings.indexes),
    )
    bench = build(settings, executor=InlineExecutor(settings))
    for work in (TOLL, LAMPS):
        bench.store.works.add(work)
    bench.indexes.build(LAMPS.id, ["dense-relic"], lambda *_: None)
    assert bench.indexes.missing(TOLL.id) == ("dense-relic",)
    job = bench.indexes.start_many([TOLL.id, LAMPS.id])
    assert (job.kind, job.state, job.note) == ("prepare", "done", SAYS["two ready"])
    assert bench.indexes.missing(TOLL.id) == ()
    assert [each.title for each in bench.jobs.recent() if each.kind == "index"] == ["Preparing The Toll"]


def test_of_works_that_are_ready_the_words_are_written_where_they_are_not(ready):
    """As in a library that an earlier version prepared, which kept no words."""
    words = ready.settings.indexes / "words"
    shutil.rmtree(words)
    note = ready.indexes.run_prepare({"works": [TOLL.id, LAMPS.id]}, lambda *_: None)
    assert (note, ready.jobs.recent()) == (SAYS["two ready"], ())
    assert {path.parent.parent.name for path in words.rglob("manifest.json")} == {TOLL.id, LAMPS.id}


def test_unprepared_works_are_told_without_loading_any(bench, monkeypatch):
    bench.indexes.build(LAMPS.id, ["dense-relic"], lambda *_: None)
    monkeypatch.setattr(bench.works, "load", None)
    assert set(bench.indexes.unprepared(bench.works.summaries())) == {TOLL.id, BRIEF.id}

    def no_model():
        raise BadWeights("The model is gone.")

    other = build(bench.settings)
    other.retrievers._made["dense-relic"] = Dense("dense-relic", encoder=no_model, root=bench.settings.indexes)
    assert other.indexes.unprepared(other.works.summaries()) == ()
    dense, bm25, fusion = ask(other, "Nobody paid").columns
    assert (dense.note, dense.pending, fusion.note) == ("The model is gone.", False, "The model is gone.")
    assert bm25.cards


# ---- more than memory holds ---------------------------------------------------------------------------------------


class Compact(Dense):
    """Answers with some of the exact ranking, once its compact index was built."""

    def __init__(self, exact):
        super().__init__(exact.name, encoder=exact._encoder, root=exact.root)
        self.exact, self.due, self.prepared_for, self.recall = exact, True, [], (0.98449, 0.9999)

    def compact_due(self, works, length):
        return self.due

    def build_compact(self, works, progress, *, claims=(), workers=None):
        self.prepared_for.append((tuple(work.id for work in works), tuple(claims)))
        self.due = False

    def rank(self, claim, corpus, length, *, like=None):
        ranking = self.exact.rank(claim, corpus, length, like=like)
        some = np.sort(ranking.order[:4])
        return replace(
            ranking,
            work=ranking.work[some],
            start=ranking.start[some],
            scores=ranking.scores[some],
            exact=False,
            recall=self.recall,
        )


@pytest.fixture
def large(ready):
    compact = Compact(ready.retrievers.get("dense-relic"))
    ready.retrievers._made["dense-relic"] = compact
    ready.retrievers._made.pop("fusion", None)
    return ready, compact


def test_a_library_too_large_for_memory_waits_for_its_own_index_and_says_so(large):
    bench, compact = large
    dense, bm25, fusion = ask(bench, "Nobody paid").columns
    assert (dense.pending, dense.cards, fusion.pending) == (True, (), True)
    assert "too large" in dense.note
    assert bm25.cards
    assert bench.indexes.library_due()
    bench.history.keep(SearchRequest(work_id="", claim_text="Nobody paid [MASK] at all"))
    bench.history.keep(SearchRequest(work_id="", like=SeedPassage(TOLL.id, "1.1.1")))
    bench.indexes.build_library(lambda *_: None)
    ((works, claims),) = compact.prepared_for
    assert set(works) == {work.id for work in WORKS}
    assert [claim.words for claim in claims] == ["Nobody paid at all"]
    assert not bench.indexes.library_due()
    assert ask(bench, "Nobody paid").columns[0].cards


def test_an_approximate_answer_says_what_it_was_measured_to_find(large):
    bench, compact = large
    compact.due = False
    exact = {(c.work.id, c.span): c.strength for c in ask_exactly(bench, compact).columns[0].cards}
    dense, bm25, fusion = ask(bench, "Nobody paid for the lamp", results=9).columns
    assert (dense.exact, bm25.exact, fusion.exact) == (False, True, False)
    assert re.findall(r"[\d.]+%", dense.note) == ["98.4%", "99.9%"]
    assert (fusion.note, bm25.note, dense.pending) == (dense.note, "", False)
    assert (len(dense.cards), dense.candidates) == (4, 9)
    for card in dense.cards:
        assert card.strength == exact[card.work.id, card.span], "a hit is judged among all spans of its work"
    assert 0 in {rank for card in bm25.cards for other, rank in card.other_ranks if other == dense.card}


def test_an_approximate_answer_whose_recall_is_not_known_says_so(large):
    bench, compact = large
    compact.due, compact.recall = False, None
    dense, _, fusion = ask(bench, "Nobody paid for the lamp").columns
    assert "been measured" in dense.note
    assert fusion.note == dense.note


def ask_exactly(bench, compact):
    bench.retrievers._made["dense-relic"] = compact.exact
    try:
        return ask(bench, "Nobody paid for the lamp", results=9)
    finally:
        bench.retrievers._made["dense-relic"] = compact


def test_the_index_of_the_library_is_built_by_a_job_and_needs_nothing_where_memory_is_enough(ready):
    assert not ready.indexes.library_due()
    job = ready.indexes.start_library()
    assert (job.kind, job.state) == ("library", "done")


# ---- what goes wrong meanwhile ------------------------------------------------------------------------------------


def test_a_work_removed_or_cut_anew_while_it_was_ranked_loses_its_hits(ready, monkeypatch):
    admitted = ready.works.admitted(WorkFilter())
    assert len({card.work.title for card in ask(ready, "Nobody paid for the lamp", results=9).columns[1].cards}) == 3
    ready.works.remove(BRIEF.id)
    ready.store.works.add(replace(LAMPS, segmenter="by hand/2", sentences=LAMPS.sentences[:2]))
    monkeypatch.setattr(ready.works, "admitted", lambda _: admitted)
    columns = ask(ready, "Nobody paid for the lamp", results=9).columns
    assert {card.work.title for column in columns for card in column.cards} == {"The Toll"}


def files_of(bench, work):
    return bench.settings.indexes / "dense-relic" / work.id


def flip_a_byte(bench, work):
    (path,) = files_of(bench, work).rglob("sums.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def delete_when_ranked(bench, monkeypatch, *works):
    library = bench.retrievers.get("dense-relic")
    rank = library.rank

    def late(*given, **further):
        for work in works:
            shutil.rmtree(files_of(bench, work))
        return rank(*given, **further)

    monkeypatch.setattr(library, "rank", late)


def test_a_work_whose_index_turns_out_to_be_damaged_is_named_as_not_prepared(ready):
    flip_a_byte(ready, LAMPS)
    result = ask(ready, "Nobody paid for the lamp", results=9)
    assert result.unprepared == ready.works.scope(WorkFilter(works=(LAMPS.id,)))
    assert (result.columns[0].candidates, result.columns[0].pending) == (6, False)
    assert {card.work.title for card in result.columns[0].cards} == {"Brief", "The Toll"}


def test_a_work_whose_index_is_deleted_before_it_is_ranked_is_named_as_not_prepared(ready, monkeypatch):
    delete_when_ranked(ready, monkeypatch, LAMPS)
    assert [work.title for work in ask(ready, "Nobody paid").unprepared] == ["Lamps"]


def test_where_all_indexes_turn_out_to_be_damaged_or_deleted_meaning_is_pending(ready, monkeypatch):
    flip_a_byte(ready, BRIEF)
    delete_when_ranked(ready, monkeypatch, TOLL, LAMPS)
    result = ask(ready, "Nobody paid")
    dense, bm25, fusion = result.columns
    assert (dense.pending, dense.cards, dense.candidates, fusion.pending) == (True, (), 9, True)
    assert bm25.cards
    assert [work.title for work in result.unprepared] == ["Brief", "Lamps", "The Toll"]
    assert not result.weak


def test_a_work_removed_before_its_words_were_read_is_passed_over(ready, monkeypatch):
    admitted = ready.works.admitted(WorkFilter())
    shutil.rmtree(ready.settings.indexes / "words" / LAMPS.id)
    ready.works.remove(LAMPS.id)
    monkeypatch.setattr(ready.works, "admitted", lambda _: admitted)
    dense, bm25, fusion = ask(ready, "Nobody paid for the lamp", results=9).columns
    assert {card.work.title for card in bm25.cards} == {"Brief", "The Toll"}
    assert (dense.note, bm25.note, fusion.note) == ("", "", "")


@pytest.mark.parametrize("claim", ["Nobody paid", "Nobody paid for the lamp"])
def test_where_all_works_found_are_removed_meanwhile_the_columns_say_so(ready, monkeypatch, claim):
    admitted = ready.works.admitted(WorkFilter())
    for work in WORKS:
        ready.works.remove(work.id)
    monkeypatch.setattr(ready.works, "admitted", lambda _: admitted)
    result = ask(ready, claim)
    for column in result.columns:
        assert (column.cards, column.strength) == ((), None)
        assert "removed or changed. Search" in column.note
    assert not result.weak  # of works that are gone nothing can be said


def test_a_claim_in_the_script_of_one_work_is_not_refused_for_another_that_has_no_hit(settings):
    """Nothing is prepared, and no word is shared: the work first by title has no say in it."""
    bench = build(settings)
    use_fakes(bench)
    for work in (make_work(["The ferry left."], title="A"), make_work(["Το πλοίο έφυγε."], title="B")):
        bench.store.works.add(work)
    dense, bm25, fusion = ask(bench, "θάλασσα").columns
    assert (dense.pending, bm25.cards, bm25.note, fusion.pending) == (True, (), "", True)


def test_lack_of_memory_and_damage_make_a_note_and_the_others_answer(ready, monkeypatch):
    library = ready.retrievers.get("dense-relic")
    for error, pending in ((MemoryError(), False), (StaleIndex("It is damaged."), True)):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(library, "rank", fail)
        dense, bm25, fusion = ask(ready, "Nobody paid").columns
        assert (dense.pending, fusion.pending) == (pending, pending)
        assert ("memory" in dense.note) is not pending
        assert bm25.cards


# ---- coming back --------------------------------------------------------------------------------------------------


def test_reading_a_work_marks_the_hits_of_a_search_of_the_library_in_it(ready):
    request = SearchRequest(
        work_id="",
        claim_text="Nobody counted the lanterns",
        work_filter=WorkFilter(works=(TOLL.id, LAMPS.id)),
        results=9,
    )
    result = answer_again(ready, ready.history.keep(request).id)
    assert result.request == request
    cards = [(number, card) for column in result.columns for number, card in enumerate(column.cards, start=1)]
    for work in (TOLL, LAMPS):
        marks = ready.reading.hits(work, result)
        assert sorted((mark.number, mark.span) for mark in marks) == sorted(
            (number, card.span) for number, card in cards if card.work == work
        )
        assert marks
    assert ready.reading.hits(BRIEF, result) == ()


def test_a_search_of_chapters_or_for_likeness_is_answered_again_as_it_was_asked(ready):
    for asked in (
        SearchRequest(work_id=TOLL.id, claim_text="Nobody paid", chapters=(2,)),
        SearchRequest(work_id=LAMPS.id, like=SeedPassage(TOLL.id, "2.1.1"), length=2),
    ):
        result = answer_again(ready, ready.history.keep(asked).id)
        assert result.request == asked
        assert ready.reading.hits(result.work, result)


def test_the_history_of_a_work_holds_none_of_the_library(ready):
    ready.history.keep(SearchRequest(work_id="", claim_text="Nobody paid"))
    kept = ready.history.keep(SearchRequest(work_id=TOLL.id, claim_text="Nobody paid"))
    assert [search.id for search in ready.editions.facts(TOLL.id).searches] == [kept.id]
