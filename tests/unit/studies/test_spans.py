"""Agreement on marked spans by the paper's formulas worked out by hand, and items made of pairs."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain.studies import ItemResult, span_choice
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.studies.spans import (
    agreement,
    by_permutation,
    consensus,
    majority,
    make_items,
    measures,
    overlap,
    queries,
    read_pairs,
    retrieval,
)

SPANS = st.tuples(st.integers(-9, 0), st.integers(1, 9))
LINES = (
    '{"passage": "It rained. He came as a thief in the night, said she. It rained.", "anchor": "thief", '
    '"target": ["the day so cometh as a thief in the night", "Another verse."]}\n\n'
    '{"id": "lamp", "passage": "A lamp unto my feet", "anchor": "lamp unto", "target": "thy word is a lamp"}'
)


def results(items, *choices):
    return [
        ItemResult(
            item=item, number=1, title="", work_id="", answered=len(own), cannot=0, votes=(0, 0, 0),
            majority=majority(own), seconds=0.0, models={}, comments=(), choices=own,
        )
        for item, own in zip(items, choices, strict=True)
    ]  # fmt: skip


def test_the_papers_formulas():
    found = agreement([[(3, 8), (4, 9)], [(0, 2), (0, 2)], [(0, 1)]])
    assert {key: round(float(value[0]), 3) for key, value in found.items()} == {
        "overlap": 0.833, "expected": 0.75, "kappa": 0.333, "perfect agree": 0.5
    }  # fmt: skip
    twice = agreement([[(3, 8), (4, 9)], [(0, 2), (0, 2)]], np.array([[2, 0], [0, 2]]))
    assert twice["overlap"] == pytest.approx([2 / 3, 1])
    assert np.isnan(twice["kappa"][1]), "equal spans are what is expected"


@given(SPANS, SPANS)
def test_overlap_is_symmetric_and_one_for_equal_spans_alone(s, t):
    assert overlap(s, t) == overlap(t, s)
    assert (overlap(s, t) == 1) == (s == t)


@given(st.lists(SPANS, min_size=1, max_size=4))
def test_the_consensus_overlaps_all_at_least_as_much_as_any_of_them(spans):
    best = consensus(spans)
    assert all(sum(overlap(best, s) for s in spans) >= sum(overlap(one, s) for s in spans) - 1e-9 for one in spans)


def test_chance_compares_spans_of_different_passages_alone():
    assert np.isnan(by_permutation([[(0, 2), (0, 2)]]))
    assert by_permutation([[(0, 2), (0, 2)], [(1, 3)]]) == pytest.approx(1 / 3)


def test_chance_of_a_sample_is_that_of_the_passages_drawn_and_one_drawn_twice_is_no_other():
    items = [[(0, 2), (0, 2)], [(1, 3)], [(0, 1), (-4, 1)]]
    weights = np.array([[1, 1, 1], [1, 1, 0], [0, 2, 0], [2, 1, 3]], dtype=float)
    found = by_permutation(items, weights)
    drawn = [
        overlap(s, t)
        for a, times in enumerate(weights[3])
        for b, others in enumerate(weights[3])
        if a < b
        for s in items[a] * int(times)
        for t in items[b] * int(others)
    ]
    assert found[:2].tolist() == [by_permutation(items)[0], by_permutation(items[:2])[0]]
    assert np.isnan(found[2])
    assert found[3] == pytest.approx(np.mean(drawn))


@pytest.mark.parametrize("items", [[[(0, 2)]], [[(2, 2), (0, 2)]], []])
def test_one_reader_or_a_span_without_words_says_nothing(items):
    with pytest.raises(BadRequest):
        agreement(items)


def test_measures_before_two_readers_have_marked_and_after():
    items = make_items(read_pairs(LINES, "pairs.jsonl"))
    none, around = measures(results(items, (), (span_choice(1, 2),)))
    assert (around, {each.value for each in none}) == ({}, {None})
    made, around = measures(results(items, (span_choice(6, 7), span_choice(7, 8)), (span_choice(1, 3),) * 2))
    values = {each.key: each.value for each in made}
    assert values["overlap"] == pytest.approx((1 / 3 + 1) / 2)
    assert values["perfect agree"] == 0.5
    assert around["overlap"].low <= values["overlap"] <= around["overlap"].high


def test_items_are_made_of_pairs_and_an_anchor_is_the_rarest_word_that_both_sides_share():
    first, second = make_items(read_pairs(LINES, "pairs.jsonl"))
    assert (first.id, first.words[first.anchor - 1], first.right) == (
        "1", "thief", "the day so cometh as a thief in the night\nAnother verse."
    )  # fmt: skip
    assert (second.id, second.anchor) == ("lamp", 2)
    sides = [("The night of the thief", "a thief in the night"), ("A night", "the night"), ("Rain", "A dry day")]
    saved = [
        {
            "number": at,
            "a_passage": a,
            "b_passage": b.replace(" ", "\n"),
            "a_work": "A",
            "a_place": "1",
            "b_work": "B",
            "b_place": "2",
        }
        for at, (a, b) in enumerate(sides, start=1)
    ]
    made = make_items(read_pairs(json.dumps(saved), "pairs.json"))
    assert [each.words[each.anchor - 1] for each in made] == ["thief", "night"], "the third shares no word"
    assert [each.right for each in made] == ["a thief in the night", "the night"], "one line is one target"


@pytest.mark.parametrize(
    "text",
    ['{"passage": "A lamp"}', '{"passage": "A lamp", "anchor": "boat"}', '[{"number": 1}]', "boat", '{"passage": 1}'],
)
def test_a_file_of_another_form_or_an_anchor_that_is_not_there_is_told(text):
    with pytest.raises(BadBenchmark):
        make_items(read_pairs(text, "pairs.jsonl"))


def test_what_readers_marked_is_compared_with_windows_and_the_sentence():
    items = make_items(read_pairs(LINES, "pairs.jsonl"))
    found = results(items, (span_choice(6, 9),) * 2, (span_choice(2, 2),) * 2)
    asked = queries(found[0])
    assert list(asked.values())[0::3] == ["a thief in the", "He came as a thief in the night, said she."]
    assert asked["3 words on either side"] == "came as a thief in the night,"
    table = retrieval(found, ["a verse of rain", "another of the night"], "tf-idf")
    assert [row[2].value for row in table.rows] == [1.0] * 4, "success@1"
    for items_, method in ((found, "embeddings"), (results(items, (), ()), "tf-idf")):
        with pytest.raises(BadRequest):
            retrieval(items_, [], method)
