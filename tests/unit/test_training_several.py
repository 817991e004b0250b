"""A training on several cards: a process for each, here on processors."""

import json
import os
import subprocess
import sys

import pytest

from relic_core.encoders.cards import read_card
from relic_core.training import checkpoints
from tests.conftest import PROJECT


@pytest.mark.parametrize("cached", ["no", "yes"])
def test_two_processes_share_the_batches_and_one_writes_the_model(tmp_path, cached):
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.several_run", str(tmp_path), cached],
        capture_output=True, text=True, cwd=PROJECT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reports = json.loads((tmp_path / "reports.json").read_text())
    steps = [said["step"] for said in reports if said["event"] == "step"]
    assert steps == [1, 2, 3, 4, 5, 6], "twelve batches, two in a step"
    assert [said["recall@10"] for said in reports if said["event"] == "validation"] == [1.0]
    assert reports[-1] == {"event": "made", "finished": True}
    assert json.loads((tmp_path / "out" / "model" / "training.json").read_text())["recipe"]["cached"] == (
        cached == "yes"
    )
    assert read_card(str(tmp_path / "out" / "model" / "encoder.json")).digest
    (last,) = checkpoints.in_order(tmp_path / "out" / "checkpoints")
    assert json.loads((last / "checkpoint.json").read_text())["processes"] == 2
