"""Runs of eight words: what two texts share, by hashes, is what they share by their words."""

import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.errors import BadBenchmark, NotFound
from relic_core.mining.word_runs import HeldOut, RunSet, digests_of, runs_of, runs_of_many, words

EIGHT = "the river rose and nobody counted the lanterns"
few = st.lists(st.sampled_from(["a", "b", "To", "two", "B?", "—", "c3d"]), max_size=40).map(" ".join)


def runs_by_words(text):
    found = re.findall("[a-z]+", text.lower())
    return [" ".join(found[at : at + 8]) for at in range(len(found) - 7)]


@given(few, few)
def test_hashes_say_what_words_say(one, other):
    shared = [run in set(runs_by_words(other)) for run in runs_by_words(one)]
    assert RunSet.of([other]).holds(runs_of(one)).tolist() == shared


@given(st.lists(few, max_size=6))
def test_no_run_goes_from_one_text_into_the_next(texts):
    runs, owners = runs_of_many(texts)
    assert [owners.tolist().count(at) for at in range(len(texts))] == [len(runs_by_words(text)) for text in texts]
    assert np.array_equal(runs, np.concatenate([runs_of(text) for text in texts]) if texts else [])


@given(few)
def test_digests_are_the_beginning_of_the_sha256_of_each_run(text):
    wanted = [hashlib.sha256(run.encode()).hexdigest()[:16] for run in runs_by_words(text)]
    assert [f"{digest:016x}" for digest in digests_of(text).tolist()] == wanted


def test_marks_digits_case_and_line_ends_part_words_and_do_not_count():
    assert words("It’s\nNOT 1851; it is—well, Café.") == ["it", "s", "not", "it", "is", "well", "caf"]
    assert RunSet.of([EIGHT.upper().replace(" ", ",\n")]).holds(runs_of(f"Yes: {EIGHT}!")).tolist() == [False, True]


def test_the_same_words_in_another_order_are_another_run():
    swapped = "river the rose and nobody counted the lanterns"
    assert not RunSet.of([swapped]).holds(runs_of(EIGHT)).any()


def test_seven_words_are_no_run():
    assert len(runs_of(" ".join(EIGHT.split()[:7]))) == len(digests_of("one two")) == len(RunSet.of([""])) == 0
    assert not RunSet.of([]).holds(runs_of(EIGHT)).any()


def test_a_run_that_occurs_again_is_counted_once():
    assert len(RunSet.of([EIGHT, EIGHT])) == 1


def test_a_list_of_held_out_runs_knows_them_by_twelve_digits(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text(f"{hashlib.sha256(EIGHT.encode()).hexdigest()[:12]}\n{'0' * 12}\n")
    held = HeldOut.read(path)
    assert len(held) == 2
    assert held.holds(digests_of(f"And {EIGHT} there")).tolist() == [False, True, False]


@pytest.mark.parametrize("line", ["0123456789a", "0123456789ABC", "0123456789AB", "xyz"])
def test_a_damaged_list_is_refused_with_the_line(tmp_path, line):
    path = tmp_path / "list.txt"
    path.write_text(f"{'0' * 12}\n{line}\n")
    with pytest.raises(BadBenchmark, match=f"2 .*'{line}'"):
        HeldOut.read(path)


def test_a_list_that_is_not_there_is_missed(tmp_path):
    with pytest.raises(NotFound):
        HeldOut.read(tmp_path / "list.txt")
