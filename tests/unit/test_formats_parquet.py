"""Runs and windows as Parquet: what a notebook sees, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pyarrow import parquet

from relic_core.domain import Book, ContextSize, Outcome, QuotationContext, Run, Span
from relic_core.errors import BadBenchmark, StoreError
from relic_core.formats.parquet import write_outcomes, write_windows

RUN = Run(
    id="k3v7", benchmark="birco-novels", split="test", pool="whole work", data_hash="ab" * 32, retriever="bm25",
    label="BM25", shape=ContextSize(4, 4), configuration={"k1": "0.5", "b": "0.9"},
    books=(Book(key="ferry", title="The Ferry", author="A. Nobody", year=1891, sentences=6, sha256="cd" * 32),
           Book(key="mill", title="The Mill")),
    examples=2, code="0.1.0", machine={"system": "Linux"}, seconds=1.25, index_bytes=0,
    created=datetime(2026, 7, 5, 15, 4, 5, 123456, tzinfo=UTC), tags=("tuned",),
)  # fmt: skip
OUTCOMES = (
    Outcome(example_id="1", book="ferry", length=2, kind="claim-supporting", candidates=5, rank=3, overlap_rank=2,
            gold=(10, 40), first=((0, 9), (10, 40))),
    Outcome(example_id="2", book="mill", length=1, kind="", candidates=9, rank=None, overlap_rank=None, gold=(0, 7)),
)  # fmt: skip
WINDOWS = (
    QuotationContext(id="1", book="ferry", pool="ferry", left=("A “claim”.",), right=(), gold=Span(3, 2), kind="other"),
    QuotationContext(id="2", book="mill", pool="q2", left=(), right=("B.", "C.", "D.", "E."), gold=Span(0, 5)),
)


def test_the_same_run_makes_the_same_bytes(tmp_path):
    write_outcomes(tmp_path / "one.parquet", RUN, OUTCOMES)
    elsewhere = RUN.created.astimezone(timezone(timedelta(hours=5)))
    same = replace(RUN, configuration={"b": "0.9", "k1": "0.5"}, created=elsewhere)
    write_outcomes(tmp_path / "two.parquet", same, OUTCOMES)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_notebook_sees_the_fields_as_columns_and_the_run_in_the_metadata(tmp_path):
    write_outcomes(tmp_path / "run.parquet", RUN, OUTCOMES)
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.column("rank").to_pylist() == [3, None]
    assert table.column("gold").to_pylist()[0] == {"start": 10, "end": 40}
    said = json.loads(table.schema.metadata[b"relic"])
    assert said["run"]["shape"] == "4/4"
    assert said["run"]["books"][0]["year"] == 1891


def test_a_notebook_sees_windows_and_what_they_are_of(tmp_path):
    longer = replace(WINDOWS[1], gold=Span(3, 9))  # than what pages search for
    write_windows(tmp_path / "windows.parquet", (WINDOWS[0], longer), {"benchmark": "birco-pools"})
    table = parquet.read_table(tmp_path / "windows.parquet")
    assert table.to_pylist()[0] == {
        "id": "1", "book": "ferry", "pool": "ferry", "left": ["A “claim”."], "right": [],
        "gold_start": 3, "gold_length": 2, "kind": "other",
        "label": "",
    }  # fmt: skip
    assert table.column("gold_length").to_pylist() == [2, 9]
    assert json.loads(table.schema.metadata[b"relic"])["facts"] == {"benchmark": "birco-pools"}


def test_no_outcomes_and_no_windows_are_tables_too(tmp_path):
    write_outcomes(tmp_path / "run.parquet", replace(RUN, examples=0), ())
    write_windows(tmp_path / "windows.parquet", (), {})
    for name in ("run", "windows"):
        assert parquet.read_table(tmp_path / f"{name}.parquet").num_rows == 0


@pytest.mark.parametrize(
    ("run", "outcomes", "what"),
    [
        ({"examples": 3}, {}, "3"),
        ({"books": RUN.books[1:]}, {}, "of the book 'ferry', which the run does not name"),
        ({}, {"example_id": "2"}, "example '2' occurs twice"),
        ({}, {"rank": 6}, "gold's"),
        ({}, {"rank": 1}, "cannot"),
        ({}, {"rank": None}, "cannot"),
        ({}, {"overlap_rank": 0}, "cannot"),
        ({}, {"length": 0}, "a gold of 0 sentences"),
        ({}, {"gold": (9, 3)}, "9 to 3 is not a place"),
        ({}, {"first": ((-1, 3),)}, "-1 to 3 is not a place"),
    ],
)
def test_outcomes_that_cannot_be_those_of_the_run_are_not_written(tmp_path, run, outcomes, what):
    changed = (replace(OUTCOMES[0], **outcomes), OUTCOMES[1])
    with pytest.raises(BadBenchmark, match=what):
        write_outcomes(tmp_path / "run.parquet", replace(RUN, **run), changed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"left": ("a\ud800",)}, "Parquet"),
        ({"gold": Span(2**63, 1)}, "Parquet"),
    ],
)
def test_windows_that_cannot_be_are_not_written(tmp_path, change, what):
    with pytest.raises(BadBenchmark, match=what):
        write_windows(tmp_path / "windows.parquet", (replace(WINDOWS[0], **change), WINDOWS[1]), {})
    assert list(tmp_path.iterdir()) == []


def test_facts_that_no_file_can_hold_are_not_written(tmp_path):
    with pytest.raises(BadBenchmark, match="Parquet"):
        write_outcomes(tmp_path / "run.parquet", replace(RUN, label="\udc80"), OUTCOMES)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StoreError, match="written"):
        write_outcomes(tmp_path / "no" / "run.parquet", RUN, OUTCOMES)
