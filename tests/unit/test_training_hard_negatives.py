"""Mining hard negatives: what is ranked high and is no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import Claim
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.retrieval.bm25 import Bm25
from relic_core.training.hard_negatives import Guard, in_source, in_work, quotation_vectors, span_vectors
from relic_core.training.learners import trained_card
from tests.making_training import make_base, make_novel, make_pairs, make_recipe, make_windows

ALL = Guard(count=1000, margin=100.0)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    base = make_base(tmp_path_factory.mktemp("base") / "tiny")
    return LateChunkingEncoder(trained_card(make_recipe(base)), precision="float32")


def mined(encoder, pairs, guard=ALL):
    told, found = [], {}
    for source in dict.fromkeys(pair.source_id for pair in pairs):
        own = [pair for pair in pairs if pair.source_id == source]
        found |= in_source(encoder, own, [pair.quotation for pair in own], guard, told.append)
    return found, told


def test_candidates_of_a_pair_are_the_other_quotations_of_its_source(encoder):
    pairs = make_pairs(12, sources=2)
    found, told = mined(encoder, pairs)
    for pair in pairs:
        others = {other.quotation for other in pairs if other.source_id == pair.source_id} - {pair.quotation}
        assert set(found[pair.id]) <= others
    assert told == [6, 6]


def test_the_hardest_come_first_and_are_as_many_as_asked(encoder):
    pairs = make_pairs(12, sources=1)
    found, _ = mined(encoder, pairs, guard=Guard(count=3, margin=100.0))
    for pair in pairs:
        chosen = found[pair.id]
        assert len(chosen) == 3
        claim = encoder.encode_claims([Claim(" ".join(pair.left), " ".join(pair.right), masked=True)])[0]
        scores = quotation_vectors(encoder, chosen) @ claim
        assert list(scores) == sorted(scores, reverse=True)


def test_what_overlaps_the_gold_or_has_nearly_its_words_is_passed_over(encoder):
    pairs = make_pairs(6, sources=1)
    gold = "the proud miser was near the far river quay"
    nearly = "the proud miser is near the far river quay"
    within = "the far river"
    apart = "soup , dinner and frost"
    texts = [gold, nearly, within, apart, "a fox", "an orchard"]
    pairs = [replace(pair, quotation=text) for pair, text in zip(pairs, texts, strict=True)]
    found, _ = mined(encoder, pairs)
    assert set(found[pairs[0].id]) == {apart, "a fox", "an orchard"}
    assert nearly in found[pairs[3].id]


def test_what_scores_far_above_the_gold_may_be_an_answer_and_is_passed_over():
    scores = np.array([0.9, 0.6, 0.5, 0.2, 0.1], dtype=np.float32)
    spread = float(scores.std())
    assert Guard(count=5, margin=0.0).choose(scores, 2, lambda _: False) == [3, 4]
    assert Guard(count=5, margin=0.11 / spread).choose(scores, 2, lambda _: False) == [1, 3, 4]
    assert Guard(count=5, margin=0.41 / spread).choose(scores, 2, lambda _: False) == [0, 1, 3, 4]


def test_candidates_of_a_window_are_spans_of_its_length_that_share_no_sentence_with_it(encoder):
    work = make_novel()
    windows = make_windows(work, 3)
    found = in_work(encoder, windows, work, ALL, lambda _: None)
    for window in windows:
        chosen = found[window.id]
        assert chosen
        assert all(span.length == window.gold.length for span in chosen)
        assert not any(span.overlaps(window.gold) for span in chosen)
        assert all(span.start >= 0 and span.end <= len(work.sentences) for span in chosen)


def test_of_windows_bm25_finds_as_many_again_and_in_what_the_encoder_does_not_read(encoder):
    work = make_novel(600)
    windows = make_windows(work, 3)
    few = Guard(count=4, margin=100.0)
    alone = in_work(encoder, windows, work, few, lambda _: None, most=60)
    both = in_work(encoder, windows, work, few, lambda _: None, most=60, words=Bm25())
    for window in windows:
        assert both[window.id][:4] == alone[window.id]
        added = both[window.id][4:]
        assert 0 < len(added) <= 4
        assert not any(span.overlaps(window.gold) for span in added)
        claim = Claim(" ".join(window.left), " ".join(window.right), masked=True)
        scores = Bm25().score(claim, work, window.gold.length)
        assert min(scores[span.start] for span in added) > np.median(scores)


def test_of_a_long_work_what_is_around_the_quotations_is_read_and_a_part_drawn_by_chance(encoder):
    work = make_novel(600)
    windows = make_windows(work, 3)

    def spans(most):
        found = in_work(encoder, windows, work, ALL, lambda _: None, most=most)
        return {span.start for window in windows for span in found[window.id]}

    whole, part = spans(len(work.sentences)), spans(150)
    assert len(whole) > 2 * len(part)
    assert part <= whole
    assert spans(150) == part
    for window in windows:
        near = {start for start in whole if abs(start - window.gold.start) <= 5}
        assert near - {window.gold.start} <= part
    assert len(spans(1)) >= len(windows)  # what is around them, though more than asked


def test_span_vectors_are_means_over_tokens():
    sums = np.array([[2.0, 0.0], [0.0, 3.0], [4.0, 4.0]], dtype=np.float32)
    counts = np.array([1, 3, 2], dtype=np.int32)
    assert np.allclose(span_vectors(sums, counts, 2), [[0.5, 0.75], [0.8, 1.4]])
    assert span_vectors(sums, counts, 4).shape == (0, 2)


def test_quotations_are_pooled_like_a_sentence_of_a_work_that_stands_alone(encoder):
    work = make_novel()
    one = replace(work, sentences=work.sentences[:1])
    sums, counts = encoder.encode_sentences(one, lambda *_: None)
    text = work.text[work.sentences[0].start : work.sentences[0].end]
    found = quotation_vectors(encoder, [text])[0]
    expected = sums[0] / counts[0]
    assert found == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_an_example_without_another_candidate_is_left_out(encoder):
    found, _ = mined(encoder, make_pairs(2, sources=2))
    assert found == {}
