"""What another system ranked becomes a run: TREC's files and BIRCO's, and files that do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relic_core.domain import Chapter, ContextSize, SearchRequest, Span
from relic_core.errors import BadBenchmark
from relic_core.evaluation import figures, imported
from relic_core.evaluation.benchmarks.passages import GIVEN_PASSAGES
from relic_core.evaluation.metrics import figure
from relic_core.formats import trec
from relic_core.wiring import build
from tests.small_benchmark import SmallBenchmark, novel

SHAPE = ContextSize(1, 1)


@pytest.fixture
def small():
    return SmallBenchmark()


def named(small, window, start):
    work = small.work(window.pool)
    end = work.sentences[start + window.gold.length - 1].end
    return trec.document(window.book, (work.sentences[start].start, end))


@pytest.fixture
def ranked(small, tmp_path):
    """Write a run that puts the gold of each claim second, behind the last candidate; the last claim is left out."""
    path = tmp_path / "theirs.run"
    lines = []
    for window in small.windows()[:-1]:
        last = small.work(window.pool).candidates(window.gold.length) - 1
        for rank, start in enumerate((window.gold.start, last)):  # out of order: the score decides
            lines.append(f"{window.id} Q0 {named(small, window, start)} {rank} {rank + 0.5} their-system\n")
    path.write_text("".join(lines))
    return path


def test_a_trec_run_stands_as_it_was_scored_and_what_it_lacks_is_a_miss(small, ranked):
    run, outcomes, _ = imported.import_ranking(small, ranked, SHAPE)
    assert [outcome.rank for outcome in outcomes] == [2] * 9 + [None]
    assert (run.label, run.examples, run.shape) == ("their-system (imported)", 10, SHAPE)
    assert imported.import_ranking(small, ranked, SHAPE)[0].id == run.id


def test_it_is_listed_shown_and_compared_as_any_other(small, ranked, run, settings):
    app = build(settings)
    taken, new, _ = app.runs.import_ranking(ranked, small, SHAPE, "ColBERT")
    assert new
    assert not app.runs.import_ranking(ranked, small, SHAPE, "ColBERT")[1]
    assert run("runs", "show", taken.id).code == 0
    assert "ColBERT" in run("runs").out


def claim_of(window):
    claim = window.claim(SHAPE)
    return f"{claim.left} ____ {claim.right}"


def searched(app, work, window, **asked):
    """Search a work with the claim of a window by what was imported."""
    request = SearchRequest(
        work_id=work.id, claim_text=claim_of(window), length=window.gold.length, results=5,
        retrievers=("bm25", "imported:ColBERT"), **asked,
    )  # fmt: skip
    return app.search.run(request).columns[1]


def test_a_search_with_a_claim_that_it_ranked_has_it_as_a_column(small, ranked, settings):
    app, theirs = build(settings), small.works["first"]
    work = app.works.add(theirs.text.encode(), name="first.txt", title="The First").work
    assert app.works.load(work.id).sha256 == theirs.sha256
    (run, _, shown) = app.runs.import_ranking(ranked, small, SHAPE, "ColBERT")
    assert (shown, app.runs.systems(theirs.sha256)) == (9, ("imported:ColBERT",))
    window = small.windows()[2]
    column = searched(app, work, window)
    last = theirs.candidates(window.gold.length) - 1
    assert [card.span.start for card in column.cards] == [last, window.gold.start]
    assert column.card.label == "ColBERT (imported)"
    other = searched(app, work, replace(window, left=("He says something else",)))
    assert not other.answered
    assert other.note
    app.runs.remove(run.id)
    assert app.runs.systems(theirs.sha256) == ()


def test_of_given_pools_those_passages_are_shown_that_stand_in_the_edition_of_the_library(small, ranked):
    edition = novel("The First", 1)
    given = SmallBenchmark(pool="given")
    given.works = {key: as_pool(work) for key, work in given.works.items()}
    window = given.windows()[0]
    path = ranked.with_name("pools.run")
    path.write_text("".join(f"{window.id} Q0 p{start} {start} {-start} x\n" for start in (0, 3, 7)))
    _, outcomes, (kept,) = imported.import_ranking(given, path, SHAPE, editions={"first": edition})
    assert outcomes[0].rank == 1
    assert [edition.span_between(*place) for place in kept.places] == [Span(0, 1), Span(3, 1), Span(7, 1)]
    assert imported.import_ranking(given, path, SHAPE)[2] == ()


def as_pool(work):
    """Make each sentence a chapter with an id, as the works of given pools are."""
    sentences = tuple(replace(each, chapter=each.index) for each in work.sentences)
    chapters = tuple(
        Chapter(index=each.index, title=f"p{each.index}", start=each.start, end=each.end) for each in sentences
    )
    return replace(work, sentences=sentences, chapters=chapters, segmenter=GIVEN_PASSAGES)


@pytest.mark.parametrize(
    "line",
    ["w0 Q0 first:0-9 1 high tag", "w0 Q0 first:0-9 1 nan tag", "w0 first:0-9 1 2", "", "w0 Q0 nowhere:0-9 1 2.0 tag",
     "w0 Q0 first:1-2 1 2.0 tag", "q99 Q0 first:0-9 1 2.0 tag"],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_refused(small, tmp_path, line):
    path = tmp_path / "theirs.run"
    path.write_text(line and f"{line}\n")
    with pytest.raises(BadBenchmark, match=r"."):
        imported.import_ranking(small, path, SHAPE)


def test_a_document_twice_is_refused(small, ranked):
    ranked.write_text(ranked.read_text() * 2)
    with pytest.raises(BadBenchmark, match="twice"):
        imported.import_ranking(small, ranked, SHAPE)


@pytest.mark.parametrize("content", ["[]", "{}", '{"w0": 3}', '{"a": {"w0": ["x"]}}', '{"w0": ["x", "x"]}', "{"])
def test_json_that_is_no_ranking_is_refused(small, tmp_path, content):
    path = tmp_path / "theirs.json"
    path.write_text(content)
    with pytest.raises(BadBenchmark, match=r"."):
        imported.import_ranking(small, path, SHAPE, "b")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("system", "printed"),
    [("GPT-4_score_O", [55.91, 77.08]), ("GPT-4_subtask_O", [53.67, 62.5]), ("Monot5", [16.2, 14.58])],
)
def test_birco_s_published_rankings_are_runs_with_their_figures(run, shared, monkeypatch, settings, system, printed):
    monkeypatch.setenv("RELIC_BENCHMARKS", str(shared / "benchmarks"))
    path = shared / "benchmarks" / "birco_relic" / "published_rankings.json"
    assert run("runs", "import", path, "--benchmark", "birco-pools", "--system", system).code == 0
    runs = build(settings).runs
    (taken,) = [each for each in runs.all() if not each.shipped]
    outcomes = runs.outcomes(taken.id)
    assert [round(100 * figure(name, outcomes), 2) for name in ("ndcg@10", "recall@5")] == printed


def with_two_unknown_queries(ranked):
    lines = ranked.read_text().splitlines(keepends=True)
    more = [line.replace("w0 ", f"{query} ", 1) for query in ("w90", "w91") for line in lines if line.startswith("w0 ")]
    ranked.write_text("".join(lines + more))
    return ranked


def test_a_run_says_how_many_claims_it_lacks_and_which_queries_are_unknown(small, ranked):
    run, outcomes, _ = imported.import_ranking(small, with_two_unknown_queries(ranked), SHAPE)
    assert run.machine[figures.UNKNOWN] == "2: w90, w91"
    (lacking, unknown) = figures.lacks(run, outcomes, "recall@1")
    assert "9 of 10" in lacking
    assert "w90" in unknown
    assert figures.lacks(replace(run, retriever="bm25", machine={}), outcomes) == []
    assert len(figures.lacks(run, outcomes[:-1])) == 1


def test_its_figures_are_over_all_claims_and_over_those_it_ranks(small, ranked):
    run, outcomes, _ = imported.import_ranking(small, ranked, SHAPE)
    assert figures.UNKNOWN not in run.machine
    other = replace(run, id="other", retriever="bm25"), outcomes
    (table,) = figures.tables([(run, outcomes), other], names=("mrr",))
    (of_all, of_ranked, theirs) = table.rows
    assert [row[-1] for row in table.rows] == [10, 9, 10]
    assert (of_all[2].value, of_ranked[2].value) == (pytest.approx(0.45), pytest.approx(0.5))
    assert of_all[2].best  # a mean over fewer claims competes with no other
    assert theirs[2].best
    assert not of_ranked[2].best


def test_the_import_says_so_at_once(small, ranked, settings):
    taken, *_ = build(settings).runs.import_ranking(with_two_unknown_queries(ranked), small, SHAPE, "ColBERT")
    said = build(settings).recall.lacking([taken], "recall@1", {taken.id: "ColBERT"})
    assert ["9 of 10" in said[0], "w91" in said[1]] == [True, True]
