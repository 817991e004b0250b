"""A training on several cards: a process for each, here on processors."""

import json
import os
import subprocess
import sys

import torch
from safetensors.torch import load_file

from relic_core.encoders.cards import read_card
from relic_core.training import checkpoints
from tests.conftest import PROJECT


def trained(folder, cached):
    """Train by two processes; give what was reported and the weights."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.several_run", str(folder), cached],
        capture_output=True, text=True, cwd=PROJECT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = sorted((folder / "out" / "model").rglob("model.safetensors"))
    assert json.loads((folder / "out" / "model" / "training.json").read_text())["recipe"]["cached"] == (cached == "yes")
    return json.loads((folder / "reports.json").read_text()), [load_file(each) for each in made]


def test_two_processes_share_the_batches_and_one_writes_the_model_the_same_with_cached_gradients(tmp_path):
    reports, weights = trained(tmp_path / "plain", "no")
    steps = [said["step"] for said in reports if said["event"] == "step"]
    assert steps == [1, 2, 3, 4, 5, 6], "twelve batches, two in a step"
    assert [said["recall@10"] for said in reports if said["event"] == "validation"] == [1.0]
    assert reports[-1] == {"event": "made", "finished": True}
    assert read_card(str(tmp_path / "plain" / "out" / "model" / "encoder.json")).digest
    (last,) = checkpoints.in_order(tmp_path / "plain" / "out" / "checkpoints")
    assert json.loads((last / "checkpoint.json").read_text())["processes"] == 2
    _, others = trained(tmp_path / "cached", "yes")
    assert len(weights) == len(others) == 2
    for one, other in zip(weights, others, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.allclose(each, other[name], atol=1e-4) for name, each in one.items())
