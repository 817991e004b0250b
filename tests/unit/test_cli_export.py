"""The command `export`, as it is typed."""

from __future__ import annotations

import pytest

from relic_core.cli import main
from relic_core.config import Settings
from relic_core.formats.pair_files import read_pairs
from relic_core.store.sources import MinedSource
from relic_core.wiring import build
from tests.making_pairs import make_pair, make_source


@pytest.fixture
def mined(tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RELIC_INDEXES", str(tmp_path / "indexes"))
    monkeypatch.chdir(tmp_path)
    workbench = build(Settings(data=tmp_path / "data", indexes=tmp_path / "indexes"))
    pairs = tuple(make_pair(number) for number in range(3))
    workbench.store.sources.add(
        MinedSource(source=make_source(), rules="prose/1", segmenters={}, pairs=pairs, dropped={})
    )
    return workbench


def test_pairs_are_exported(mined, tmp_path, capsys):
    assert main(["export", "pairs", "p.jsonl"]) == 0
    assert capsys.readouterr().out == "3 pairs are in p.jsonl.\n"
    assert len(list(read_pairs(tmp_path / "p.jsonl").rows)) == 3


def test_what_is_left_out_is_listed(mined, capsys):
    mined.store.splits.replace("pair", [(make_pair(0).id, "training", ""), (make_pair(1).id, "left out", "in a work")])
    assert main(["export", "pairs", "p.parquet"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["1 pair is in p.parquet.", "Not among them:"]
    assert [line.split() for line in said[2:]] == [
        ["It", "was", "mined", "after", "the", "last", "split", "1"],
        ["in", "a", "work", "1"],
    ]


def test_offsets_only_is_an_option(mined, tmp_path):
    assert main(["export", "pairs", "p.jsonl", "--offsets-only", "--source", "60001"]) == 0
    assert "lay still" not in (tmp_path / "p.jsonl").read_text(encoding="utf-8")


def test_what_cannot_be_done_is_said_on_the_error_stream(mined, capsys):
    assert main(["export", "windows", "w.jsonl"]) == 1
    assert "There are no windows to export" in capsys.readouterr().err
    assert main(["export", "pairs", "p.jsonl", "--split", "training"]) == 1
    assert "python -m relic_core dataset split" in capsys.readouterr().err


def test_wrong_usage_ends_with_two(mined):
    assert main(["export", "poems", "p.jsonl"]) == 2
