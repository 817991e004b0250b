"""Going on from an encoder that was trained before."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from relic_core.domain import Claim
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.weights import TOKEN_WEIGHTS, find_model, state_of
from relic_core.errors import BadRequest, BadWeights
from relic_core.training.learners import trained_card
from relic_core.training.models import DualEncoder, RerankerInTraining, start_of
from tests.making_rerankers import make_reranker_recipe
from tests.making_training import Reports, make_base, make_novel, make_pairs, make_recipe, make_windows, train_on


@pytest.fixture(scope="module")
def first(base, tmp_path_factory):
    """Make an encoder that was trained for a few steps."""
    return trained(make_recipe(base), tmp_path_factory.mktemp("first") / "run")


def trained(recipe, folder, **given):
    work = make_novel()
    return train_on(
        recipe, make_pairs(24, sources=2), make_windows(work, 4), folder, work=lambda _: work, **given
    ).folder


def card_of(folder):
    return read_card(str(folder / "encoder.json"))


def weights(folder, tower):
    return state_of(find_model(str(folder / tower)))


def test_a_training_of_no_rate_gives_back_what_it_went_on_from(base, first, tmp_path):
    made = trained(make_recipe(base, learning_rate=1e-30, weight_decay=0.0), tmp_path, start=card_of(first))
    for tower in ("claims", "passages"):
        before, after = weights(first, tower), weights(made, tower)
        assert any(not torch.equal(before[name], find_state(base)[name]) for name in before)
        assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)


def test_late_interaction_learns_what_tokens_count_for_and_goes_on_from_it(base, first, tmp_path):
    recipe = make_recipe(base, scoring="late", learning_rate=0.003)
    made = trained(recipe, tmp_path / "first", start=card_of(first))
    encoder = LateChunkingEncoder(card_of(made), precision="float32")
    weights = encoder.encode_claim_tokens(Claim("the ferry was near")).weights
    assert len(set(weights.tolist())) > 1
    assert (weights > 0).all()
    with pytest.raises(BadWeights, match="RELIC_LATE"):
        encoder.encode_claims([Claim("the ferry was near")])
    half = trained(
        make_recipe(base, scoring="late", learning_rate=0.003, blend=0.5), tmp_path / "half", start=card_of(first)
    )
    blended = LateChunkingEncoder(card_of(half), precision="float32").encode_claim_tokens(Claim("the ferry was near"))
    assert blended.weights == pytest.approx(weights**0.5, rel=1e-4)
    again = trained(
        make_recipe(base, scoring="late", learning_rate=1e-30, weight_decay=0.0),
        tmp_path / "again",
        start=card_of(made),
    )
    later = LateChunkingEncoder(card_of(again), precision="float32").encode_claim_tokens(Claim("the ferry was near"))
    assert later.weights == pytest.approx(weights, rel=1e-5)


def test_a_start_is_another_when_its_tokens_count_for_something_else(base, first, tmp_path):
    folder = trained(make_recipe(base, scoring="late"), tmp_path / "late", start=card_of(first))
    path = folder / "claims" / TOKEN_WEIGHTS
    before = start_of(card_of(folder), find_model(str(base))).digest
    save_file({"weights": load_file(path)["weights"] * 2}, path)
    assert start_of(card_of(folder), find_model(str(base))).digest != before


def test_an_encoder_with_dense_layers_is_not_gone_on_from(base, first, tmp_path):
    with pytest.raises(BadRequest, match="dense layers"):
        trained(make_recipe(base), tmp_path, start=replace(card_of(first), dense=("1_Dense",), spans="alone"))


def find_state(base):
    return state_of(find_model(str(base)))


def test_what_was_gone_on_from_stands_in_the_record(base, first, tmp_path):
    made = trained(make_recipe(base), tmp_path, start=card_of(first))
    record = json.loads((made / "training.json").read_text())
    assert record["start"] == card_of(first).name
    assert record["start_digest"] == start_of(card_of(first), find_model(str(base))).digest
    assert "start" not in json.loads((first / "training.json").read_text())


@pytest.mark.parametrize("shared", [False, True])
def test_a_blend_keeps_some_of_what_was_gone_on_from(base, first, tmp_path, shared):
    start = start_of(card_of(first), find_model(str(base)))
    whole, half = (
        trained(
            make_recipe(base, blend=blend, learning_rate=0.003, shared=shared),
            tmp_path / str(blend),
            start=card_of(first),
        )
        for blend in (1.0, 0.5)
    )
    learnt, blended = weights(whole, "claims"), weights(half, "claims")
    before = start.mean() if shared else weights(first, "claims")
    assert any(not torch.equal(learnt[name], before[name]) for name in learnt)
    for name, tensor in blended.items():
        if tensor.is_floating_point():
            assert torch.allclose(tensor, (before[name] + learnt[name]) / 2, atol=1e-6)


def test_one_model_for_both_begins_half_way_between_two(base, first):
    recipe = make_recipe(base, shared=True)
    tower = LateChunkingEncoder(trained_card(recipe), precision="float32").pair.passages
    start = start_of(card_of(first), find_model(str(base)))
    state = DualEncoder(recipe, tower, start).claims.state_dict()
    claims, passages = weights(first, "claims"), weights(first, "passages")
    for name, tensor in state.items():
        if tensor.is_floating_point() and name in claims:
            assert torch.allclose(tensor, (claims[name] + passages[name]) / 2, atol=1e-6)


def test_a_reranker_begins_half_way_between_the_models_of_an_encoder(base, first, tmp_path):
    recipe = make_reranker_recipe(base)
    tower = LateChunkingEncoder(trained_card(make_recipe(base)), precision="float32").pair.passages
    start = start_of(card_of(first), find_model(str(base)))
    state = RerankerInTraining(recipe, recipe.card(), tower, start).reader.model.state_dict()
    mean = start.mean()
    assert set(mean) == set(state)
    assert all(torch.equal(state[name], mean[name]) for name in mean)
    work = make_novel()
    made = train_on(recipe, make_pairs(12, sources=1), [], tmp_path, work=lambda _: work, start=card_of(first)).folder
    assert json.loads((made / "training.json").read_text())["start_digest"] == start.digest


def test_an_encoder_made_from_another_base_is_refused(base, first, tmp_path):
    other_words = make_base(tmp_path / "words", mask=False)
    other_shape = make_base(tmp_path / "shape", positions=128)
    for number, recipe in enumerate((make_recipe(other_words, mask=False), make_recipe(other_shape))):
        with pytest.raises(BadRequest, match="base"):
            trained(recipe, tmp_path / f"run-{number}", start=card_of(first))


def test_a_checkpoint_of_a_training_that_went_on_from_another_encoder_is_refused(base, first, tmp_path):
    seen = Reports()
    trained(
        make_recipe(base), tmp_path, start=card_of(first), report=seen, checkpoint_seconds=0.0,
        stop=lambda: len(seen) > 3,
    )  # fmt: skip
    with pytest.raises(BadRequest, match="another encoder"):
        trained(make_recipe(base), tmp_path)
    assert trained(make_recipe(base), tmp_path, start=card_of(first)).is_dir()
