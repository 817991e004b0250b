"""Who may learn from what."""

from dataclasses import replace

import pytest

from relic_core.domain import Span
from relic_core.domain.sources import MinedWindow
from relic_core.mining import splits
from relic_core.mining.splits import Candidate, Gate, measured
from relic_core.mining.word_runs import HeldOut, RunSet, digests_of
from tests.small_dataset import sentences

PARTS = {"moby": "dev", "emma": "test", "emma-again": "left out"}
EIGHT = "the river rose and nobody counted the lanterns"


def window(name, work, *, source="a", at=0, seed=0, quotation="Nobody counted the lanterns."):
    left, right = sentences(1_000 + seed, 2)
    return MinedWindow(
        id=name, source_id=source, work_id=work, kind="inline", left=(left,), quotation=quotation, right=(right,),
        gold=Span(0, 1), at=(at + 40, at + 60), passage=(at, at + 100), lit=(), lit_in_work=(), score=100.0,
    )  # fmt: skip


def candidate(text, *, source="z", passage=(0, 100), name="c"):
    return Candidate("pair", name, source, passage, (text,))


def judged(text, *, works=(), benchmarks=(), held_out=None, windows=(), **place):
    gate = Gate(RunSet.of(works), RunSet.of(benchmarks), held_out, windows)
    ((_, split, reason),) = gate.rows([candidate(text, **place)], why="It may")
    return split, reason


def split_of(rows):
    return {name: (split, reason) for name, split, reason in rows}


def test_the_work_decides_between_dev_and_test():
    rows = split_of(measured([window("d", "moby", seed=1), window("t", "emma", at=500, seed=2)], PARTS))
    assert {name: split for name, (split, _) in rows.items()} == {"d": "dev", "t": "test"}


def test_works_that_are_not_measured_are_passed_over():
    assert measured([window("x", "quiet")], PARTS) == []


def test_a_second_edition_of_a_measured_work_is_left_out():
    assert measured([window("e", "emma-again")], PARTS) == [("e", "left out", splits.OTHER_EDITION)]


def test_of_reprints_the_first_stands():
    first, again = window("w1", "moby", seed=1), window("w2", "moby", source="b", seed=1)
    rows = split_of(measured([first, again], PARTS))
    assert (rows["w1"][0], rows["w2"]) == ("dev", ("left out", splits.REPRINT))


def test_of_a_reprint_on_dev_and_on_test_the_test_window_stands():
    rows = split_of(measured([window("d", "moby", seed=1), window("t", "emma", source="b", seed=1)], PARTS))
    assert (rows["t"][0], rows["d"]) == ("test", ("left out", splits.REPRINT))


def test_a_dev_window_on_the_passage_of_a_test_window_is_left_out():
    rows = split_of(measured([window("d", "moby", at=99, seed=1), window("t", "emma", at=0, seed=2)], PARTS))
    assert (rows["t"][0], rows["d"]) == ("test", ("left out", splits.IN_A_TEST_PASSAGE))


def test_passages_that_touch_do_not_overlap():
    rows = split_of(measured([window("d", "moby", at=100, seed=1), window("t", "emma", at=0, seed=2)], PARTS))
    assert rows["d"][0] == "dev"


def test_a_dev_window_that_shares_a_run_with_a_test_window_elsewhere_is_left_out():
    test = window("t", "emma", seed=2)
    dev = replace(window("d", "moby", source="b", seed=1), right=(f"It is said: {test.left[0]}",))
    assert split_of(measured([dev, test], PARTS))["d"] == ("left out", splits.SHARED_WITH_TEST)


def test_what_shares_nothing_may_be_learnt_from():
    others = sentences(5, 4)
    assert judged(f"Seven words: {' '.join(EIGHT.split()[:7])}.", works=[EIGHT], benchmarks=others) == (
        "training",
        "It may",
    )


@pytest.mark.parametrize(
    ("where", "reason"), [("works", splits.SHARED_WITH_WORK), ("benchmarks", splits.SHARED_WITH_BENCHMARK)]
)
def test_eight_shared_words_keep_it_from_training(where, reason):
    known = [f"{sentences(6, 1)[0]} So {EIGHT.upper()}?"]
    assert judged(f"He says that {EIGHT}, and more.", **{where: known}) == ("left out", reason)


def test_a_run_on_the_held_out_list_keeps_it_from_training():
    listed = HeldOut(digests_of(EIGHT) >> 16)
    assert judged(f"He says that {EIGHT}.", held_out=listed) == ("left out", splits.SHARED_WITH_LIST)
    assert judged(f"He says nothing. {sentences(7, 1)[0]}", held_out=listed)[0] == "training"


def test_what_a_dev_or_test_window_says_is_kept_from_training_wherever_it_stands():
    seen = window("t", "emma", seed=3)
    assert judged(f"As one wrote: {seen.right[0]}", windows=[seen]) == ("left out", splits.SHARED_WITH_MEASURED)


def test_the_passage_of_a_dev_or_test_window_is_kept_from_training_though_no_run_is_shared():
    seen = window("t", "emma", source="s", at=200)
    assert judged("A few words.", windows=[seen], source="s", passage=(150, 201)) == (
        "left out",
        splits.IN_A_MEASURED_PASSAGE,
    )
    assert judged("A few words.", windows=[seen], source="s", passage=(150, 200))[0] == "training"


def test_each_text_of_a_candidate_is_looked_at_and_none_runs_into_the_next():
    halves = (" ".join(EIGHT.split()[:4]), " ".join(EIGHT.split()[4:]))
    gate = Gate(RunSet.of([EIGHT]), RunSet.of([]), None, [])
    rows = list(
        gate.rows(
            [Candidate("pair", "a", "s", (0, 1), halves), Candidate("pair", "b", "s", (0, 1), ("No.", EIGHT))], why=""
        )
    )
    assert [split for _, split, _ in rows] == ["training", "left out"]


def test_a_window_is_learnt_from_with_the_sentences_it_quotes():
    one = window("w", "quiet")
    assert Candidate.of_window(one, "The gold.").texts == (splits.words_of(one), "The gold.")
    assert " ".join(one.left) in splits.words_of(one)
    assert one.quotation in splits.words_of(one)


def test_many_candidates_are_judged_as_one_by_one(monkeypatch):
    monkeypatch.setattr(splits, "_AT_ONCE", 3)
    texts = [EIGHT if at % 4 == 0 else text for at, text in enumerate(sentences(8, 10))]
    gate = Gate(RunSet.of([EIGHT]), RunSet.of([]), None, [])
    rows = list(gate.rows((candidate(text, name=str(at)) for at, text in enumerate(texts)), why=""))
    assert [(name, split == "left out") for name, split, _ in rows] == [(str(at), at % 4 == 0) for at in range(10)]
