"""Batches of training: which examples go together, what is read of them, and which quotations are negatives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from relic_core.domain import Claim, Span
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest
from relic_core.training.batching import Planned, plan
from relic_core.training.collating import Collator, HardNegatives, Material, alike, cut_work, draw_claim, runs
from relic_core.training.learners import trained_card
from relic_core.training.recipes import EncoderRecipe
from tests.making_training import make_novel, make_pairs, make_recipe, make_windows

# ---------------------------------------------------------------- the plan


def test_a_batch_is_of_one_source_where_the_source_fills_it():
    sources = ["a"] * 9 + ["b"] * 4 + ["c"] * 2 + ["d"]
    planned = plan(EncoderRecipe(batch=4, share=0.0), sources, [])
    assert sorted(number for batch in planned for number in batch.members) == list(range(16))
    of = [{sources[number] for number in batch.members} for batch in planned]
    assert sum(found == {"a"} for found in of) == 2
    assert sum(found == {"b"} for found in of) == 1
    assert all(len(batch.members) <= 4 for batch in planned)


def test_windows_of_a_batch_are_on_one_work_and_have_their_share():
    works = ["x"] * 7 + ["y"] * 2 + ["z"]
    planned = plan(EncoderRecipe(batch=10, window_batch=3, share=0.25), ["a"] * 300, works)
    kinds = Counter(batch.kind for batch in planned)
    assert kinds == {"pairs": 30, "windows": 10}
    for batch in planned:
        if batch.kind == "windows":
            assert len({works[number] for number in batch.members}) == 1
            assert len(batch.members) <= 3


def test_the_plan_hangs_on_the_seed_alone_and_differs_between_epochs():
    recipe = EncoderRecipe(batch=4, share=0.0, epochs=2, seed=5)
    sources = ["a"] * 40
    planned = plan(recipe, sources, [])
    assert planned == plan(recipe, sources, [])
    assert planned != plan(replace(recipe, seed=6), sources, [])
    first, second = planned[:10], planned[10:]
    assert [batch.round for batch in planned] == [0] * 10 + [1] * 10
    assert {batch.members for batch in first} != {batch.members for batch in second}


def test_half_an_epoch_reads_half_the_pairs_and_steps_end_it_sooner():
    sources = ["a"] * 40
    assert len(plan(EncoderRecipe(batch=4, share=0.0, epochs=1.5), sources, [])) == 15
    assert len(plan(EncoderRecipe(batch=4, share=0.0, epochs=1.5, steps=3), sources, [])) == 3


def test_no_pair_is_alone_in_its_batch():
    planned = plan(EncoderRecipe(batch=4, share=0.0), ["a"] * 4 + ["b"], [])
    assert sorted(map(len, (batch.members for batch in planned))) == [5]


@pytest.mark.parametrize("count", [0, 1])
def test_too_little_to_learn_from_is_said(count):
    with pytest.raises(BadRequest, match=rf"There are {count} pair\(s\) and 0 window\(s\) .* 2 pairs or one window"):
        plan(EncoderRecipe(), ["a"] * count, [])


def test_windows_alone_can_be_learnt_from():
    assert [batch.kind for batch in plan(EncoderRecipe(), [], ["x"] * 20)] == ["windows"] * 2
    assert {batch.kind for batch in plan(EncoderRecipe(share=1.0), ["a"] * 100, ["x"] * 20)} == {"windows"}


# ---------------------------------------------------------------- claims


def test_all_shapes_are_drawn_by_their_weights_and_anew_in_each_round():
    left, right = ["One.", "Two.", "Three."], ["Four.", "Five."]
    shapes = [("4/4", 1.0), ("1/1", 1.0), ("0/1", 0.0)]
    drawn = [draw_claim(left, right, shapes, chance=f"1 {turn} pair") for turn in range(100)]
    found = Counter((claim.left, claim.right) for claim in drawn)
    assert set(found) == {("One. Two. Three.", "Four. Five."), ("Three.", "Four.")}
    assert all(30 < count < 70 for count in found.values())
    assert drawn[3] == draw_claim(left, right, shapes, chance="1 3 pair")


def test_a_bare_prompt_has_no_mask_and_one_sentence():
    drawn = {draw_claim(["One.", "Two."], ["Three."], [("bare", 1.0)], chance=str(turn)) for turn in range(40)}
    assert drawn == {Claim(left="Two."), Claim(left="Three.")}


def test_a_shape_without_a_sentence_gives_way_to_all_there_are():
    assert draw_claim(["One.", "Two."], [], [("0/1", 1.0)], chance="") == Claim("One. Two.", "", masked=True)


# ---------------------------------------------------------------- likeness


def test_quotations_that_overlap_are_alike_and_others_are_not():
    run = "one two three four five six seven eight"
    texts = [
        f"{run} nine",
        f"“Zero, {run.upper()}!”",
        "two three",
        "two, three four",
        "quite another thing",
        "twos threes",
    ]
    found = alike(texts)
    assert np.array_equal(found, found.T)
    assert {(a, b) for a, b in np.argwhere(found).tolist() if a < b} == {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)}


def test_a_quotation_without_words_is_a_negative_of_none():
    assert alike(["…", "a word", "another"])[0].all()


# ---------------------------------------------------------------- tensors


def collator(base, pairs=(), windows=(), work=None, hard=None, **given):
    recipe = make_recipe(base, **given)
    encoder = LateChunkingEncoder(trained_card(recipe), precision="float32")
    material = Material(pairs, windows, lambda _: work, hard or HardNegatives())
    return Collator(recipe, encoder, material), encoder


def test_claims_are_read_as_they_are_when_searching(base):
    pairs = make_pairs(4)
    made, encoder = collator(base, pairs, shapes=(("4/4", 1.0),))
    features = made([Planned("pairs", (0, 1, 2, 3), 0)])
    tower = encoder.pair.claims
    mask = tower.tokenizer.token_to_id("[MASK]")
    for row, length, pair in zip(features["claims"], features["claim_lengths"], pairs, strict=True):
        claim = Claim(" ".join(pair.left), " ".join(pair.right), masked=True)
        expected = [*tower.opening, *encoder.pair.claim_ids(claim, 24), *tower.closing]
        assert row[:length].tolist() == expected
        assert expected.count(mask) == 1
        assert length <= 26


def test_only_the_quotation_s_own_tokens_are_pooled(base):
    made, _ = collator(base, make_pairs(3))
    features = made([Planned("pairs", (0, 1, 2), 0)])
    for number, (row, length) in enumerate(zip(features["segments"], features["passage_lengths"], strict=True)):
        assert row[0] == -1
        assert set(row[1 : length - 1].tolist()) == {number}
        assert set(row[length - 1 :].tolist()) == {-1}


def test_of_a_first_token_model_the_first_token_is_pooled(base):
    made, _ = collator(base, make_pairs(3), pooling="first")
    features = made([Planned("pairs", (0, 1, 2), 0)])
    assert features["segments"][:, 0].tolist() == [0, 1, 2]
    assert (features["segments"][:, 1:] == -1).all()


def test_a_quotation_that_overlaps_the_gold_is_no_negative(base):
    pairs = make_pairs(4)
    pairs[1] = replace(pairs[1], quotation=pairs[0].quotation)
    pairs[2] = replace(pairs[2], quotation=f"and {pairs[0].quotation}")
    made, _ = collator(base, pairs)
    features = made([Planned("pairs", (0, 1, 2, 3), 0)])
    assert features["gold"].tolist() == [0, 0, 1, 2]
    assert features["allowed"].tolist() == [
        [True, False, True],
        [True, False, True],
        [False, True, True],
        [True, True, True],
    ]


def test_hard_negatives_are_further_columns_for_all_claims_but_those_they_are_like(base):
    pairs = make_pairs(2)
    hard = HardNegatives(pairs={pairs[0].id: ("soup was far", pairs[1].quotation + " and soup")})
    made, _ = collator(base, pairs, hard=hard, hard_negatives=2)
    features = made([Planned("pairs", (0, 1), 0)])
    assert features["passages"].shape[0] == 4
    other_is_like = features["allowed"][1].tolist()
    assert sorted(other_is_like[2:]) == [False, True]
    assert features["allowed"][0].tolist() == [True, True, True, True]


def test_windows_are_pooled_from_the_stretches_in_which_an_index_reads_them(base):
    work = make_novel()
    windows = make_windows(work, 6)
    made, encoder = collator(base, windows=windows, work=work)
    features = made([Planned("windows", (0, 1, 2), 0)])
    cut = cut_work(encoder, work)
    for claim, window in enumerate(windows[:3]):
        span = int(features["gold"][claim])
        first, length = int(features["starts"][span]), int(features["lengths"][span])
        assert length == window.gold.length
        within = (features["segments"] >= first) & (features["segments"] < first + length)
        assert int(within.sum()) == int(cut.counts[window.gold.start : window.gold.end].sum())


def test_spans_that_overlap_the_gold_and_those_of_other_lengths_are_no_negatives(base):
    work = make_novel()
    windows = make_windows(work, 6)
    made, encoder = collator(base, windows=windows, work=work, stretches=100)
    features = made([Planned("windows", (0, 1, 2), 0)])
    cut = cut_work(encoder, work)
    sentences = cut.complete(range(len(cut.rows)))
    assert sentences == list(range(60))
    for claim, window in enumerate(windows[:3]):
        counted = features["allowed"][claim]
        assert set(features["lengths"][counted].tolist()) == {window.gold.length}
        spans = [Span(int(start), window.gold.length) for start in features["starts"][counted]]
        expected = [span for span in runs(sentences, window.gold.length) if not span.overlaps(window.gold)]
        assert sorted(spans) == sorted([*expected, window.gold])


def test_hard_spans_are_among_the_stretches_of_their_batch(base):
    work = make_novel()
    windows = make_windows(work, 2)
    far = Span(55, 1)
    made, _ = collator(
        base, windows=windows, work=work, stretches=1, hard=HardNegatives(windows={windows[0].id: (far,)})
    )
    features = made([Planned("windows", (0,), 0)])
    assert features["passages"].shape[0] == 2
    alone, _ = collator(base, windows=windows, work=work, stretches=1)
    assert alone([Planned("windows", (0,), 0)])["passages"].shape[0] == 1


def test_a_sentence_cut_at_the_border_of_stretches_is_complete_only_with_both(base):
    work = make_novel()
    _, encoder = collator(base, windows=make_windows(work, 1), work=work)
    cut = cut_work(encoder, work)
    long = cut.holding([Span(0, 60)])
    assert long == list(range(len(cut.rows)))
    for row, (_, owners) in enumerate(cut.cores):
        for sentence in cut.complete([row]):
            assert (owners == sentence).sum() == cut.counts[sentence]


def test_a_first_token_model_reads_spans_of_works_by_themselves(base):
    work = make_novel()
    windows = make_windows(work, 3)
    made, _ = collator(base, windows=windows, work=work, pooling="first")
    features = made([Planned("windows", (0, 1, 2), 0)])
    assert features["passages"].shape[0] == 3
    assert torch.equal(features["lengths"], torch.ones(3, dtype=torch.int64))
