"""Leaks of each sort are found, with their words and the place where they also stand."""

import hashlib

import numpy as np

from relic_core.mining.leakage import HELD_OUT, Offence, shared_passages, shared_runs
from relic_core.mining.splits import Candidate
from relic_core.mining.word_runs import HeldOut
from tests.small_dataset import sentences

EIGHT = "the river rose and nobody counted the lanterns"


def item(*texts, name="p1", source="s", passage=(0, 100), kind="pair"):
    return Candidate(kind, name, source, passage, texts)


def texts(**named):
    return lambda: list(named.items())


def test_a_leak_is_told_with_its_words_and_every_place():
    found = shared_runs(
        [item(f"We read {EIGHT.upper()} today."), item(*sentences(1, 3), name="p2")],
        texts(emma=f"No. {EIGHT}! Again", birco="Nothing of that.", moby=f"He said, {EIGHT}."),
    )
    assert found == [Offence("pair", "p1", EIGHT, ("emma", "moby"))]


def test_runs_that_follow_each_other_are_one_stretch():
    long = f"{EIGHT} in the dark"
    assert shared_runs([item(f"So {long}. No")], texts(emma=f"And {long} there")) == [
        Offence("pair", "p1", long, ("emma",))
    ]


def test_the_held_out_list_is_asked_too():
    held = HeldOut(np.array([int(hashlib.sha256(EIGHT.encode()).hexdigest()[:12], 16)], dtype=np.uint64))
    assert shared_runs([item("All well."), item(EIGHT, name="p2")], texts(), held) == [
        Offence("pair", "p2", EIGHT, (HELD_OUT,))
    ]


def test_no_item_is_held_against_itself():
    assert shared_runs([item(EIGHT, kind="window", name="w")], texts(**{"window w": EIGHT})) == []


def test_nothing_shared_is_no_offence():
    assert shared_runs([item(*sentences(1, 5))], texts(emma=" ".join(sentences(2, 50)), empty="")) == []
    assert shared_runs([], texts(emma=EIGHT)) == []
    assert shared_runs([item(EIGHT)], texts()) == []


def test_it_finds_what_comparing_words_finds():
    known = " ".join(sentences(3, 40))
    said = known.split()
    items = [item(" ".join(said[at : at + 5 + at % 6]), name=str(at)) for at in range(0, 300, 7)]
    found = {each.id for each in shared_runs(items, texts(emma=known))}
    assert found == {each.id for each in items if len(each.texts[0].split()) >= 8}


def test_passages_on_one_another_are_told_with_the_split_of_the_other():
    window = item("", name="w", passage=(100, 200), kind="window")
    items = [item("", name="in", passage=(199, 300)), item("", name="out", passage=(200, 300))]
    assert shared_passages([*items, item("", name="elsewhere", source="t", passage=(0, 999))], [("test", window)]) == [
        Offence("pair", "in", "", ("window w (test), on the same passage of s",))
    ]


def test_an_offence_reads_as_a_sentence():
    assert str(Offence("pair", "p1", EIGHT, ("emma", "birco"))) == f"pair p1 shares “{EIGHT}” with emma, birco"
    assert str(Offence("pair", "p1", "", ("the test",))) == "pair p1: the test"
