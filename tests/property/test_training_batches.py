"""Batches of training, whatever the sources: nothing is lost, nothing is alone, few sources in each."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from relic_core.training.batching import together
from relic_core.training.collating import alike, runs

sizes = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@given(sizes, st.integers(2, 16), st.integers(0, 5))
def test_every_pair_is_in_one_batch_and_no_batch_is_over_full(counts, size, seed):
    numbers = iter(range(sum(counts)))
    groups = {str(name): [next(numbers) for _ in range(count)] for name, count in enumerate(counts)}
    made = together(groups, size, random.Random(seed))
    found = Counter(number for batch in made for number in batch)
    if sum(counts) > 1:
        assert sorted(found) == list(range(sum(counts)))
        assert set(found.values()) == {1}
        assert min(map(len, made)) > 1
        assert max(map(len, made)) <= size + len(counts)
        assert sum(len(batch) > size for batch in made) <= 1
    of = {number: name for name, members in groups.items() for number in members}
    pure = sum(len({of[number] for number in batch}) == 1 and len(batch) == size for batch in made)
    assert pure >= sum(count // size for count in counts) - 1


words = st.lists(st.sampled_from("abcde"), min_size=0, max_size=14).map(" ".join)


@given(st.lists(words, min_size=1, max_size=6))
def test_likeness_is_as_defined_for_every_two(texts):
    found = alike(texts)
    for one, first in enumerate(texts):
        for other, second in enumerate(texts):
            assert found[one, other] == _alike(first.split(), second.split())


def _alike(one, other):
    def within(small, large):
        return any(large[at : at + len(small)] == small for at in range(len(large) - len(small) + 1))

    shared = any(within(one[at : at + 8], other) for at in range(len(one) - 7))
    return shared or within(one, other) or within(other, one)


@given(st.sets(st.integers(0, 30)), st.integers(1, 6))
def test_runs_are_all_the_spans_whose_sentences_are_there(sentences, length):
    expected = [at for at in range(31) if all(at + shift in sentences for shift in range(length))]
    assert [span.start for span in runs(sorted(sentences), length)] == expected
