"""What goes wrong in a training, of either kind: it is said in plain words, and nothing that was good is lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from relic_core.domain import Claim
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest, BadWeights, RelicError, StoreError, StoreFull
from relic_core.training import checkpoints, exporting
from relic_core.training.collating import HardNegatives
from relic_core.training.models import DualEncoder, RerankerInTraining
from tests.making_training import Reports
from tests.unit.training_run import DIES_AT, KINDS, PAIRS, WINDOWS, run

RUN = Path(__file__).with_name("training_run.py")
MODELS = {"dual encoder": DualEncoder, "cross-encoder": RerankerInTraining}
EITHER = pytest.mark.parametrize("kind", KINDS)


def weights(folder):
    return {str(path.relative_to(folder)): load_file(path) for path in folder.rglob("model.safetensors")}


def same(one, other):
    assert set(one) == set(other)
    assert one, "there are weights to compare"
    return all(torch.equal(tensor, other[file][name]) for file in one for name, tensor in one[file].items())


def kept(folder):
    return sorted(path.name for path in (folder / "checkpoints").iterdir())


# ---------------------------------------------------------------- too little to learn from


@EITHER
def test_three_examples_are_trained_on(kind, base, tmp_path):
    made = run(kind, base, tmp_path, [replace(pair, source_id="one") for pair in PAIRS[:3]], [])
    assert made.finished
    assert weights(made.folder)


@EITHER
@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_pairs_without_a_window_are_refused(kind, base, tmp_path, count):
    with pytest.raises(BadRequest, match=rf"\b{count} pair\(s\)"):
        run(kind, base, tmp_path, PAIRS[:count], [])
    assert not list(tmp_path.iterdir())


def test_a_reranker_that_has_nothing_to_choose_from_is_refused(base, tmp_path):
    apart = [replace(pair, source_id=pair.id) for pair in PAIRS[:3]]
    with pytest.raises(BadRequest, match="3 pairs"):
        run("cross-encoder", base, tmp_path / "a", apart, [])
    with pytest.raises(BadRequest, match="3 pairs"):
        run("cross-encoder", base, tmp_path / "a", apart, WINDOWS, recipe={"share": 0.0})
    hard = HardNegatives({apart[1].id: ["the soup is near"]})
    assert run("cross-encoder", base, tmp_path / "b", apart, [], hard=hard).finished
    assert run("cross-encoder", base, tmp_path / "c", apart, WINDOWS).finished


# ---------------------------------------------------------------- a base that is none


@EITHER
@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "model.safetensors"])
def test_a_base_that_lacks_a_file_is_refused_by_its_name(kind, base, tmp_path, name):
    broken = shutil.copytree(base, tmp_path / "broken")
    (broken / name).unlink()
    with pytest.raises(BadWeights, match=rf"broken lacks {name}\. .* save_pretrained"):
        run(kind, broken, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@EITHER
def test_a_base_with_a_damaged_file_is_refused(kind, base, tmp_path):
    broken = shutil.copytree(base, tmp_path / "broken")
    whole = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadWeights, match="broken"):
        run(kind, broken, tmp_path / "run")


# ---------------------------------------------------------------- checkpoints


@EITHER
def test_a_checkpoint_of_another_configuration_is_refused_with_what_differs(kind, base, tmp_path):
    run(kind, base, tmp_path, stop=lambda: True)
    with pytest.raises(BadRequest, match=r"\(batch: 6 then, 8 now\)"):
        run(kind, base, tmp_path, recipe={"batch": 8})


@EITHER
def test_a_checkpoint_of_another_version_is_refused_with_what_to_do(kind, base, tmp_path):
    run(kind, base, tmp_path, stop=lambda: True)
    (manifest,) = tmp_path.glob("checkpoints/*/checkpoint.json")
    said = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(said | {"version": 2}), encoding="utf-8")
    with pytest.raises(BadRequest, match=r"version 2 .* reads 1\)"):
        run(kind, base, tmp_path)
    del said["start_digest"]  # as it was written before a training could go on from an encoder
    manifest.write_text(json.dumps(said), encoding="utf-8")
    assert run(kind, base, tmp_path).finished


@EITHER
def test_a_checkpoint_of_another_base_is_refused(kind, base, tmp_path):
    own = shutil.copytree(base, tmp_path / "base")
    run(kind, own, tmp_path / "run", stop=lambda: True)
    config = own / "config.json"
    config.write_text(config.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(BadRequest, match="base model"):
        run(kind, own, tmp_path / "run")


@EITHER
@pytest.mark.parametrize("when", ["in a step", "in a checkpoint"])
def test_a_training_that_was_killed_ends_with_the_weights_of_one_that_was_not(kind, base, tmp_path, when):
    whole = run(kind, base, tmp_path / "whole")
    environment = {**os.environ, "PYTHONPATH": str(RUN.parents[2])}
    killed = subprocess.run(
        [sys.executable, str(RUN), kind, str(base), str(tmp_path / "killed"), when],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert f"checkpoint-{DIES_AT - 1}" in kept(tmp_path / "killed")
    assert (f".checkpoint-{DIES_AT}.half" in kept(tmp_path / "killed")) == (when == "in a checkpoint")
    begun = Reports()
    resumed = run(kind, base, tmp_path / "killed", report=begun)
    assert begun[0]["step"] == DIES_AT - 1
    assert resumed.finished
    assert same(weights(whole.folder), weights(resumed.folder))


# ---------------------------------------------------------------- a full disk


@EITHER
def test_a_disk_that_is_full_when_a_checkpoint_is_sealed_is_said_and_the_one_before_is_kept(
    kind, base, tmp_path, monkeypatch
):
    writing, calls = checkpoints.written_whole, []

    def full(path):
        calls.append(path)
        if len(calls) == 3:
            raise StoreError(f"{path} cannot be written") from OSError(errno.ENOSPC, "No space left on device")
        return writing(path)

    monkeypatch.setattr(checkpoints, "written_whole", full)
    with pytest.raises(StoreFull, match=r"no room .*checkpoint-3\."):
        run(kind, base, tmp_path, checkpoint_seconds=0.0)
    assert kept(tmp_path) == ["checkpoint-1", "checkpoint-2"]
    monkeypatch.undo()
    assert run(kind, base, tmp_path).finished


@EITHER
def test_a_disk_that_is_full_when_a_model_is_written_leaves_the_best_before(kind, base, tmp_path, monkeypatch):
    write, calls = exporting.write_tensors, []
    towers = 2 if kind == "dual encoder" else 1

    def full(path, tensors):
        calls.append(path)
        if len(calls) > towers:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, tensors)

    monkeypatch.setattr(exporting, "write_tensors", full)
    best = []

    def validate(folder):
        best.append(weights(folder))
        return {"recall@10": 1.0}

    with pytest.raises(StoreFull, match=r"no room .*candidate"):
        run(kind, base, tmp_path, recipe={"validate_every": 2}, validate=validate)
    assert same(weights(tmp_path / "model"), best[0])
    assert not list(tmp_path.rglob("*.half"))


# ---------------------------------------------------------------- numbers that are none


@EITHER
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_training_before_it_changes_the_weights(
    kind, base, tmp_path, monkeypatch, value
):
    forward, calls = MODELS[kind].forward, []

    def wrong(self, **features):
        output = forward(self, **features)
        calls.append(output)
        return {**output, "loss": output["loss"] * value} if len(calls) == 3 else output

    monkeypatch.setattr(MODELS[kind], "forward", wrong)
    with pytest.raises(RelicError, match=r"loss of step 3 is (nan|inf)"):
        run(kind, base, tmp_path, checkpoint_seconds=0.0)
    assert kept(tmp_path) == ["checkpoint-1", "checkpoint-2"]


@EITHER
def test_a_gradient_that_is_no_number_does_so_too_and_what_is_resumed_is_sound(kind, base, tmp_path, monkeypatch):
    whole = run(kind, base, tmp_path / "whole")
    forward, calls = MODELS[kind].forward, []

    def wrong(self, **features):
        output = forward(self, **features)
        calls.append(output)
        if len(calls) == 3:
            output["loss"].register_hook(lambda gradient: gradient * float("nan"))
        return output

    monkeypatch.setattr(MODELS[kind], "forward", wrong)
    with pytest.raises(RelicError, match=r"gradient of step 3 is nan"):
        run(kind, base, tmp_path / "run", checkpoint_seconds=0.0)
    assert kept(tmp_path / "run") == ["checkpoint-1", "checkpoint-2"]
    monkeypatch.undo()
    assert same(weights(run(kind, base, tmp_path / "run").folder), weights(whole.folder))


@EITHER
@pytest.mark.parametrize("way", ["forth", "back"])
def test_a_lack_of_memory_on_either_way_is_said_with_what_helps(kind, base, tmp_path, monkeypatch, way):
    forward = MODELS[kind].forward

    def full(_gradient=None):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    def wrong(self, **features):
        output = full() if way == "forth" else forward(self, **features)
        output["loss"].register_hook(full)
        return output

    monkeypatch.setattr(MODELS[kind], "forward", wrong)
    with pytest.raises(RelicError, match=r"step 1 .* cached"):
        run(kind, base, tmp_path)


# ---------------------------------------------------------------- a model that was damaged


@EITHER
@pytest.mark.parametrize("at", [-1, 9, 4000])
def test_a_trained_model_of_which_a_byte_is_damaged_is_refused(kind, base, tmp_path, at):
    made = run(kind, base, tmp_path, recipe={"steps": 2}).folder

    def use():
        if kind == "cross-encoder":
            return CrossEncoder(made)
        return LateChunkingEncoder(read_card(str(made / "encoder.json"))).encode_claims([Claim("the ferry")])

    use()
    for path in made.rglob("model.safetensors"):
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)
        with pytest.raises(BadWeights, match="is damaged"):
            use()
        content[at] ^= 1
        path.write_bytes(content)
    use()
