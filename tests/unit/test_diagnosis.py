"""Why a quotation was missed: what is told from the texts, how cases are parted, what people say of them."""

import csv
from dataclasses import replace
from itertools import pairwise

import pytest

from relic_core.domain import Claim, ContextSize, Outcome, QuotationContext, Span
from relic_core.errors import BadRequest
from relic_core.evaluation.diagnosis import CODES, FINDINGS, Diagnosis, diagnose, part_by
from relic_core.services import runs as runs_module
from tests.making import make_work
from tests.making_runs import book_of, make_run, outcomes_in
from tests.making_sources import keep, make_source, make_window
from tests.small_benchmark import Counting, SmallBenchmark, outcomes_of

SYNONYMS = {
    "sorrow": "grief", "ship": "vessel", "house": "dwelling", "anger": "fury", "road": "highway", "child": "infant",
    "forest": "woodland", "sea": "ocean", "friend": "companion", "fear": "dread", "letter": "epistle", "hill": "mound",
}  # fmt: skip


class Paraphrased(SmallBenchmark):
    """Claims that say a sentence of the work in other words, which stand elsewhere in it."""

    def __init__(self):
        words = list(SYNONYMS)
        golds = [f"The {one} of {other}." for one in words for other in words if one != other]
        others = [f"That {SYNONYMS[one]} and some {SYNONYMS[other]}." for one, other in pairwise(words)]
        self.texts = golds
        super().__init__(windows=len(golds))
        self.works = {key: make_work(golds + others, title=key) for key in self.works}

    def _window(self, number):
        if not hasattr(self, "texts"):
            return None
        said = " ".join(SYNONYMS.get(word, word) for word in self.texts[number].rstrip(".").split())
        return QuotationContext(
            id=f"w{number}", book="first", pool="first", left=(f"He speaks of {said}",), right=(), gold=Span(number, 1)
        )


def fact(**given):
    """A case of which nothing is found."""
    return Diagnosis(
        **{
            "example_id": "a", "rank": 20, "overlap": 0.5, "first_overlap": 0.2, "words": 30, "spoken": 0.0,
            "pronominal": False, "neighbour": False, "overlapping": 2, "place": 0.5, "quoted": 1,
        }
        | given
    )  # fmt: skip


def test_of_paraphrases_all_that_bm25_misses_is_put_down_to_shared_words():
    benchmark = Paraphrased()
    outcomes = outcomes_of(benchmark, Counting(), shape=ContextSize(1, 0))
    claims = {window.id: window.claim(ContextSize(1, 0)) for window in benchmark.windows()}
    missed = [outcome for outcome in outcomes if outcome.rank > 10]
    assert len(missed) > len(outcomes) / 2
    found = [diagnose(each, claims[each.example_id], benchmark.works[each.book]) for each in missed]
    assert all("overlap" in each.findings for each in found)


def test_what_is_told_of_a_case():
    work = make_work(
        [
            "Dorcas watched the lamp above the weir.",
            "“Put it out,” he said, “or they see you.”",
            "The tide rose again.",
        ],
        ["Mapplebeck slept.", "The weir and Dorcas and the lamp were gone."],
    )  # fmt: skip
    starts = [(sentence.start, sentence.end) for sentence in work.sentences]
    outcome = Outcome(
        example_id="a", book="b", length=1, kind="", candidates=5, rank=4, overlap_rank=4, gold=starts[1],
        first=(starts[4],),
    )  # fmt: skip
    claim = Claim("Of the lamp at the weir, Dorcas")
    case = diagnose(outcome, claim, work, [Span(0, 2), Span(1, 1), Span(2, 1)])
    assert (case.overlap, case.first_overlap) == (0.0, pytest.approx(3 / 4))
    assert (case.words, case.overlapping, case.quoted, case.place) == (9, 0, 2, 0.25)
    assert 0.6 < case.spoken < 1
    assert case.findings == ("overlap", "short")
    named = diagnose(replace(outcome, gold=starts[0]), claim, work)
    assert not named.pronominal
    pair = replace(outcome, length=2, gold=(starts[1][0], starts[2][1]), first=((starts[2][0], starts[3][1]),))
    beside = diagnose(pair, None, work, pool=True)
    assert beside.findings == ("neighbour",)
    assert (beside.overlap, beside.place) == (None, None)
    assert diagnose(pair, None, work).overlapping == 2
    assert diagnose(replace(outcome, gold=(9_000, 9_001)), claim, work) is None


@pytest.mark.parametrize(
    ("sentence", "only"),
    [
        ("“Put out the lamp, Dorcas.”", True),
        ("“Put it out,” said he, “or they see you.”", False),
        ("“Put it out.” And she to him: “I will not.”", True),
        ("He himself was not what they were.", True),
        ("He saw what they were.", False),
        ("“Put it out,” he sighed.", False),
        ("It was Dorcas.", False),
        ("It is mine.", True),
        ("Thou art he, and thou wert not.", True),
        ("* * *", False),
        ("— — —", False),
        ("1815.", False),
    ],
)
def test_a_quotation_is_pronouns_and_dialogue_only_where_no_other_word_stands_outside_its_speech(sentence, only):
    work = make_work(["Dorcas watched.", sentence], ["“No,” said he.", "“Yes,” said she."])
    at = next(place for place, each in enumerate(work.sentences) if work.text[each.start :].startswith(sentence[:6]))
    end = next(each.end for each in reversed(work.sentences) if each.paragraph == work.sentences[at].paragraph)
    outcome = Outcome(
        example_id="a", book="b", length=1, kind="", candidates=9, rank=4, overlap_rank=4,
        gold=(work.sentences[at].start, end), first=(),
    )  # fmt: skip
    assert diagnose(outcome, None, work).pronominal == only


@pytest.mark.parametrize(
    ("given", "findings"),
    [
        ({}, ()),
        ({"rank": None}, ("no ranking",)),
        ({"first_overlap": 0.6}, ("overlap",)),
        ({"overlap": None}, ()),
        ({"rank": 1, "overlap": 0.0, "first_overlap": 0.6, "neighbour": True, "words": 3}, ("short",)),
        ({"rank": None, "overlap": 0.0}, ("no ranking",)),
    ],
)
def test_what_is_found(given, findings):
    assert fact(**given).findings == findings


def test_quarters_hold_a_quarter_each_and_never_part_what_is_alike():
    found, labels = part_by("overlap", {"run": {str(n): max(0.0, (n - 40) / 100) for n in range(80)}})
    assert {found["run"][str(n)] for n in range(41)} == {"1"}
    assert list(labels) == ["1", "3", "4"]
    assert part_by("overlap", {"run": {}}) == ({"run": {}}, {})
    assert list(part_by("dialogue", {"run": {"a": 0.5, "b": 1.0}})[1]) == ["both", "speech"]
    assert part_by("place", {"run": {"a": 0.0, "b": 1.0}})[0] == {"run": {"a": "1", "b": "4"}}


@pytest.fixture
def measured(bench, tmp_path, monkeypatch):
    """A run on a work that is in the library."""
    monkeypatch.setattr(runs_module, "SHIPPED", tmp_path / "shipped")
    text = "\n\n".join(f"The {number} lamp went out. He saw it, and said so." for number in range(20))
    work = bench.works.load(bench.works.add(text.encode(), name="lamps.txt").work.id)
    outcomes = outcomes_in(work, "lamps", [1, 40, None, 12, 3, 55], length=2)
    run = make_run([book_of(work, "lamps")], outcomes, benchmark="by-hand")
    bench.store.runs.add(run, outcomes)
    return bench, run, outcomes


def test_cases_are_saved_with_what_people_say_of_them_last(measured, tmp_path):
    app, run, outcomes = measured
    first, second = list(CODES)[:2]
    app.runs.judge_case(run, outcomes[1].example_id, [first])
    app.runs.judge_case(run, outcomes[1].example_id, [second])
    app.runs.judge_case(run, outcomes[1].example_id, [first, second], judge="somebody")
    with pytest.raises(BadRequest):
        app.runs.judge_case(run, outcomes[1].example_id, ["no code"])
    app.recall.save_cases(run, "recall@10", tmp_path / "cases.csv")
    rows = list(csv.DictReader((tmp_path / "cases.csv").read_text("utf-8").splitlines()))
    assert [row["found"] for row in rows] == ["yes", "no", "no", "no", "yes", "no"]
    assert rows[1]["judged"] == f"{second}; {first}, {second}"
    assert rows[2]["findings"].startswith("no ranking")
    with pytest.raises(BadRequest):
        app.recall.save_cases(run, "recall@10", tmp_path / "cases.txt")


def test_a_run_is_diagnosed_by_what_its_texts_tell(measured):
    app, run, outcomes = measured
    found, *parted = app.recall.diagnosis(run, "recall@10")
    assert {row[0] for row in found.rows} >= set(FINDINGS)
    assert {row[0]: row[2:] for row in found.rows}["pronominal"] == (0, "0.0%", "0.0%")
    assert [len(table.rows) > 0 for table in parted] == [False, True, True, True]  # no claims, so no shared words
    assert parted[0].notes
    chart = app.recall.chart("place", [run], "recall@10")
    behind = [app.recall.cases("place", [run], "recall@10", group.key) for group in chart.groups]
    assert sum(map(len, behind)) == len(outcomes)


def test_claims_that_are_mined_later_are_seen(measured):
    app, run, outcomes = measured
    (summary,) = app.works.summaries()
    assert app.recall.chart("overlap", [run], "recall@10").marks == ()
    work = app.works.load(summary.id)
    source = make_source("Lamps")
    window = replace(make_window(work, source, 1, left=("Of the lamp.",)), id=outcomes[1].example_id)
    keep(app, source, [window], works=[work])
    assert [mark.n for mark in app.recall.chart("overlap", [run], "recall@10").marks] == [1]


def test_a_run_without_ranks_and_one_without_quotations_are_each_refused_in_a_sentence(measured):
    app, run, outcomes = measured
    bare = replace(run, id="bare", retriever="nothing", examples=0)
    app.store.runs.add(bare, [])
    silent = replace(run, id="silent", retriever="silent")
    app.store.runs.add(silent, [replace(each, rank=None, overlap_rank=None) for each in outcomes])
    app.runs.all()
    with pytest.raises(BadRequest):
        app.recall.overall([bare], "recall@10")
    for each in (bare, silent):
        with pytest.raises(BadRequest):
            app.recall.diagnosis(each, "recall@10")
    assert app.recall.chart("curve", [bare], "recall@10").marks == ()
