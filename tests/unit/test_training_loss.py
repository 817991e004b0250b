"""The dual encoder in training: its vectors are those of searching, its loss that of the paper, its gradient exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relic_core.domain import Claim
from relic_core.encoders.late_chunking import ClaimTokens, LateChunkingEncoder
from relic_core.ports import silent
from relic_core.retrieval.late import LateIndex
from relic_core.training.batching import Planned
from relic_core.training.collating import Collator, Material
from relic_core.training.exporting import merged
from relic_core.training.learners import trained_card
from relic_core.training.models import DualEncoder
from tests.making_training import make_novel, make_pairs, make_recipe, make_windows

PAIRS = Planned("pairs", (0, 1, 2, 3, 4), 0)
WINDOWS = Planned("windows", (0, 1, 2), 0)


def prepared(base, batch, **given):
    recipe = make_recipe(base, shapes=(("4/4", 1.0),), **given)
    encoder = LateChunkingEncoder(trained_card(recipe), precision="float32")
    work = make_novel()
    pairs, windows = make_pairs(5), make_windows(work, 3)
    torch.manual_seed(1)
    model = DualEncoder(recipe, encoder.pair.passages)
    features = Collator(recipe, encoder, Material(pairs, windows, lambda _: work))([batch])
    return model, features, encoder, (pairs, windows, work)


def vectors_of(model, features):
    claims = model.claim_vectors(features["claims"], features["claim_lengths"])
    names = ("passages", "passage_lengths", "segments", "starts", "lengths")
    return claims, model.span_vectors(*(features[name] for name in names))


def cosines(one, other):
    return (one * other).sum(-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)


def test_claims_have_the_vectors_they_have_when_searching(base):
    model, features, encoder, (pairs, _, _) = prepared(base, PAIRS)
    claims, _ = vectors_of(model, features)
    asked = [Claim(" ".join(pair.left), " ".join(pair.right), masked=True) for pair in pairs]
    found = encoder.pair.claims.vectors([encoder.pair.claim_ids(claim, 24) for claim in asked], reading="claims")
    assert cosines(claims.detach().numpy(), found) == pytest.approx(1.0, abs=1e-5)


def test_spans_have_the_vectors_that_an_index_gives_them(base):
    model, features, encoder, (_, windows, work) = prepared(base, WINDOWS)
    _, spans = vectors_of(model, features)
    sums, counts = encoder.encode_sentences(work, lambda *_: None)
    for claim, window in enumerate(windows):
        expected = sums[window.gold.start : window.gold.end].sum(0) / counts[window.gold.start : window.gold.end].sum()
        assert spans[features["gold"][claim]].detach().numpy() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_loss_is_the_softmax_over_what_counts(base, similarity):
    model, features, _, _ = prepared(base, PAIRS, similarity=similarity, temperature=0.1)
    features["allowed"][0, 3] = False
    claims, spans = (each.detach().double() for each in vectors_of(model, features))
    losses = []
    for row in range(5):
        scores = {}
        for column in features["allowed"][row].nonzero().flatten().tolist():
            product = torch.dot(claims[row], spans[column])
            scores[column] = (
                product if similarity == "dot" else product / claims[row].norm() / spans[column].norm() / 0.1
            )
        assert len(scores) == (4 if row == 0 else 5)
        losses.append(torch.logsumexp(torch.stack(list(scores.values())), 0) - scores[int(features["gold"][row])])
    assert model(**features)["loss"].item() == pytest.approx(torch.stack(losses).mean().item(), rel=1e-4)


def spans_of(features):
    return (features[name] for name in ("passages", "passage_lengths", "segments", "starts", "lengths"))


def test_words_meet_as_when_searching(base):
    model, features, encoder, (_, windows, work) = prepared(base, WINDOWS, scoring="late", temperature=0.1)
    torch.nn.init.normal_(model._moved, std=0.01)
    scores = model.late_scores(features["claims"], features["claim_lengths"], *spans_of(features)).detach().numpy()
    index = LateIndex(**LateIndex.arrays(*encoder.encode_tokens(work, silent)))
    weights = model.counting().exp().detach().numpy()
    for row, window in enumerate(windows):
        read = encoder.pair.claim_ids(Claim(" ".join(window.left), " ".join(window.right), masked=True), 24)
        ids = [*encoder.pair.claims.opening, *read, *encoder.pair.claims.closing]
        (batch,) = encoder.pair.claims.forward([read], reading="a claim")
        asked = ClaimTokens(
            encoder.pair.claims.compared(batch.states[0]).numpy(), weights[ids] / weights[ids].sum(), ("",) * len(ids)
        )
        own = int(features["gold"][row])
        every = np.arange(work.candidates(window.gold.length))
        expected = index.score(asked, every, window.gold.length)
        assert scores[row, own] == pytest.approx(expected[window.gold.start] / 0.1, abs=2e-2)


@pytest.mark.parametrize("scoring", ["pooled", "late"])
@pytest.mark.parametrize("batch", [PAIRS, WINDOWS], ids=["pairs", "windows"])
@pytest.mark.parametrize("chunk_tokens", [16, 100_000])
def test_states_made_twice_and_small_chunks_give_the_same_gradient(base, batch, chunk_tokens, scoring):
    def gradients(**given):
        model, features, _, _ = prepared(base, batch, scoring=scoring, **given)
        model(**features)["loss"].backward()
        return {name: each.grad for name, each in model.named_parameters() if each.grad is not None}

    plain, cached = gradients(chunk_tokens=100_000), gradients(chunk_tokens=chunk_tokens, cached=True)
    assert plain.keys() == cached.keys()
    assert len(plain) > 40
    assert ("_moved" in plain) == (scoring == "late")
    for name, gradient in plain.items():
        assert torch.allclose(gradient, cached[name], atol=1e-5, rtol=1e-3), name


def test_dropout_is_the_same_when_states_are_made_twice(base):
    def gradients(*, cached):
        model, features, _, _ = prepared(base, PAIRS, dropout=0.3, cached=cached)
        torch.manual_seed(3)
        model.train()(**features)["loss"].backward()
        return {name: each.grad for name, each in model.named_parameters() if each.grad is not None}

    plain, cached = gradients(cached=False), gradients(cached=True)
    assert all(torch.allclose(each, cached[name], atol=1e-5, rtol=1e-3) for name, each in plain.items())


def test_frozen_embeddings_and_the_pooler_are_not_learnt(base):
    model, _, _, _ = prepared(base, PAIRS)
    learnt = {name for name, each in model.named_parameters() if each.requires_grad}
    assert learnt
    assert not any(".embeddings." in name or ".pooler." in name for name in learnt)
    whole, _, _, _ = prepared(base, PAIRS, frozen_embeddings=False)
    assert any(".embeddings." in name for name, each in whole.named_parameters() if each.requires_grad)


def test_one_encoder_for_both_is_one(base):
    model, _, _, _ = prepared(base, PAIRS, shared=True)
    assert model.claims is model.passages
    apart, _, _, _ = prepared(base, PAIRS)
    assert apart.claims is not apart.passages


def test_adapters_begin_as_nothing_and_are_added_in_when_written(base):
    plain, features, _, _ = prepared(base, PAIRS)
    model, _, _, _ = prepared(base, PAIRS, lora_rank=2)
    assert model(**features)["loss"].item() == pytest.approx(plain(**features)["loss"].item(), rel=1e-5)
    learnt = {name: each for name, each in model.named_parameters() if each.requires_grad}
    assert learnt
    assert all("lora_" in name for name in learnt)
    for parameter in learnt.values():
        torch.nn.init.normal_(parameter, std=0.3)
    changed = model(**features)["loss"].item()
    assert changed != pytest.approx(plain(**features)["loss"].item(), rel=1e-3)
    plain.claims.load_state_dict(merged(model.claims))
    plain.passages.load_state_dict(merged(model.passages))
    assert plain(**features)["loss"].item() == pytest.approx(changed, rel=1e-4)
