"""What the documentation says that each part of a training is worth is what the runs beside it come to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relic_core.config import ASSETS
from relic_core.evaluation import metrics
from relic_core.formats.run_files import read_run
from relic_core.services.models import TRAINED_LARGE

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = DOCS.parent / "tools" / "measured"


def section(title):
    page = TRAINED_LARGE / "README.md" if title == "Figures" else DOCS / "training.md"
    said = page.read_text(encoding="utf-8").split(f"## {title}")[1]
    return re.split(r"\n##+ ", said)[0].splitlines()


def figures(title):
    """Read the figures of a table, by the name that begins each row."""
    return {
        found[1]: [float(figure) for figure in re.findall(r"\| (\d+\.\d)\b", line)]
        for line in section(title)
        if (found := re.match(r"\| `([\w-]+)`", line))
    }


SHORT, LOCI = ("recall@10", "recall@100"), ("recall@5", "recall@20")
TABLES = {
    "ablations": ("What each part is worth", {"4-4": SHORT, "1-1": SHORT}),
    "larger_base": ("A larger base", {"4-4": SHORT, "1-1": SHORT, "loci": LOCI}),
    "large_windows": ("More windows", {"4-4": SHORT, "1-1": SHORT}),
    "synthetic_claims": ("Claims that a language model wrote", {"loci": LOCI}),
    "larger_base_test": ("Figures", {"test": ("recall@1", *SHORT), "novels": SHORT, "pools": ("ndcg@10",)}),
}
"""By folder: the heading, and what is told of the runs on each benchmark or shape."""
ASKED = {
    "4-4": ("public-relic-dev-short", "4/4", 372),
    "1-1": ("public-relic-dev-short", "1/1", 372),
    "loci": ("loci-dev", "4/4", 168),
    "test": ("public-relic-test", "4/4", 279),
    "novels": ("birco-novels", "4/4", 48),
    "pools": ("birco-pools", "4/4", 48),
}
"""The benchmark, the shape and the claims of each."""


def _place(folder):
    return ASSETS / "results" / "larger" if folder == "larger_base_test" else MEASURED / folder


@pytest.mark.parametrize(
    ("folder", "name"), [(folder, name) for folder, (title, _) in TABLES.items() for name in figures(title)]
)
def test_a_row_is_what_its_runs_come_to(folder, name):
    title, benchmarks = TABLES[folder]
    found = []
    for benchmark, names in benchmarks.items():
        run, outcomes = read_run(_place(folder) / f"{name}-{benchmark}.json")
        assert (run.benchmark, str(run.shape), len(outcomes)) == ASKED[benchmark]
        found += [round(100 * metrics.figure(each, outcomes), 1) for each in names]
    assert found == figures(title)[name]


@pytest.mark.parametrize("folder", TABLES)
def test_every_run_has_its_row(folder):
    title, benchmarks = TABLES[folder]
    wanted = {f"{name}-{benchmark}" for name in figures(title) for benchmark in benchmarks}
    assert {path.stem for path in _place(folder).iterdir()} == wanted


def test_the_runs_differ_in_their_encoders_alone():
    runs = [read_run(path)[0] for path in sorted((MEASURED / "ablations").iterdir())]
    assert len({run.data_hash for run in runs}) == 1
    encoders = [run.configuration["encoder"] for run in runs if run.retriever == "dense-relic"]
    assert len(set(encoders)) == len(encoders) / 2, "one for both shapes of each training, and none twice"


@pytest.mark.parametrize("folder", ["late_interaction", "larger_base_pairs", "one_encoder"])
def test_runs_of_what_is_not_kept_can_be_read(folder):
    for path in (MEASURED / folder).iterdir():
        run, outcomes = read_run(path)
        assert (run.benchmark, str(run.shape), len(outcomes)) in ASKED.values()
