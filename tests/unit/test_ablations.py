"""What the documentation says that each part of a training is worth is what the runs beside it come to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relic_core.formats.run_files import read_run

DOCS = Path(__file__).parents[2] / "docs"
ROWS = {
    found[1]: [float(figure) for figure in re.findall(r"\| (\d+\.\d) \(", line)]
    for line in (DOCS / "training.md").read_text(encoding="utf-8").split("### What each part is worth")[1].splitlines()
    if (found := re.match(r"\| `([\w-]+)`", line))
}


def recall(name, shape):
    run, outcomes = read_run(DOCS / "ablations" / f"{name}-{shape.replace('/', '-')}.json")
    assert (run.benchmark, str(run.shape), len(outcomes)) == ("public-relic-dev-short", shape, 372)
    return [round(100 * sum(each.rank <= k for each in outcomes) / len(outcomes), 1) for k in (1, 10, 100)]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_what_its_runs_come_to(name):
    assert recall(name, "4/4") + recall(name, "1/1") == ROWS[name]


def test_every_run_has_its_row():
    there = {path.stem for path in (DOCS / "ablations").iterdir()}
    assert there == {f"{name}-{shape}" for name in ROWS for shape in ("4-4", "1-1")}


def test_the_runs_differ_in_their_encoders_alone():
    runs = [read_run(path)[0] for path in sorted((DOCS / "ablations").iterdir())]
    assert len({run.data_hash for run in runs}) == 1
    encoders = [run.configuration["encoder"] for run in runs if run.retriever == "dense-relic"]
    assert len(set(encoders)) == len(encoders) / 2, "one for both shapes of each training, and none twice"
