"""Runs and windows as Parquet: what comes back, what a notebook sees, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from pyarrow import parquet

from relic_core.domain import Book, ContextSize, Outcome, QuotationContext, Run, Span
from relic_core.errors import BadBenchmark, NotFound, StoreError
from relic_core.formats.parquet import read_outcomes, read_windows, write_outcomes, write_windows

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


def test_a_run_and_its_outcomes_come_back(tmp_path):
    write_outcomes(tmp_path / "run.parquet", RUN, OUTCOMES)
    assert read_outcomes(tmp_path / "run.parquet") == (RUN, OUTCOMES)


def test_the_moment_comes_back_whatever_its_time_zone_and_a_file_is_never_shipped(tmp_path):
    elsewhere = replace(RUN, created=RUN.created.astimezone(timezone(timedelta(hours=5))), shipped=True)
    write_outcomes(tmp_path / "run.parquet", elsewhere, OUTCOMES)
    assert read_outcomes(tmp_path / "run.parquet")[0] == RUN


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


def test_windows_come_back_with_what_they_are_of(tmp_path):
    facts = {"benchmark": "birco-pools", "licence": "CC BY-NC 4.0"}
    write_windows(tmp_path / "windows.parquet", WINDOWS, facts)
    assert read_windows(tmp_path / "windows.parquet") == (WINDOWS, facts)


def test_a_quotation_may_be_longer_than_what_pages_search_for(tmp_path):
    longer = (replace(WINDOWS[0], gold=Span(3, 9)),)
    write_windows(tmp_path / "windows.parquet", longer, {})
    assert read_windows(tmp_path / "windows.parquet")[0] == longer


def test_no_outcomes_and_no_windows_come_back_too(tmp_path):
    write_outcomes(tmp_path / "run.parquet", replace(RUN, examples=0), ())
    assert read_outcomes(tmp_path / "run.parquet")[1] == ()
    write_windows(tmp_path / "windows.parquet", (), {})
    assert read_windows(tmp_path / "windows.parquet") == ((), {})


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
        ({}, {"gold": (9, 3)}, "9 to 3 is no place"),
        ({}, {"first": ((-1, 3),)}, "-1 to 3 is no place"),
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
        ({"id": "2"}, "window '2' occurs twice"),
        ({"left": ("x",) * 5}, "more than 4 sentences"),
        ({"right": ("x",) * 5}, "more than 4 sentences"),
        ({"gold": Span(-1, 1)}, "no quotation"),
        ({"gold": Span(0, 0)}, "no quotation"),
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


def _altered(path, change):
    """Write the file anew with another table, as another program might."""
    table = change(parquet.read_table(path))
    parquet.write_table(table, path)
    return path


def _column(name, values, kind=None):
    def change(table):
        at = table.schema.get_field_index(name)
        field = pa.field(name, kind or table.schema.field(name).type, nullable=table.schema.field(name).nullable)
        return table.set_column(at, field, [values])

    return change


def _head(change):
    def altered(table):
        said = json.loads(table.schema.metadata[b"relic"])
        change(said)
        return table.replace_schema_metadata({b"relic": json.dumps(said).encode()})

    return altered


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda table: table.drop_columns(["rank"]), "rank"),
        (lambda table: table.append_column("more", [[1, 2]]), "more"),
        (_column("rank", ["3", None], pa.string()), "'rank'"),
        (_column("rank", [3.0, None], pa.float64()), "'rank'"),
        (_column("rank", [9, None]), "9"),
        (_column("example_id", ["1", "1"]), "'1'"),
        (lambda table: table.set_column(0, pa.field("example_id", pa.string()), [["1", None]]), "'example_id'"),
        (lambda table: table.slice(1), "2 examples"),
        (lambda table: table.replace_schema_metadata({}), "origin"),
        (_head(lambda said: said.update(format="relic outcomes/9")), "'relic outcomes/9'"),
        (_head(lambda said: said.pop("run")), "'run'"),
        (_head(lambda said: said.update(run=[])), "the run"),
        (_head(lambda said: said["run"].pop("seconds")), "'seconds'"),
        (_head(lambda said: said["run"].update(more=1)), "'more'"),
        (_head(lambda said: said["run"].update(seconds=-1)), "'seconds'"),
        (_head(lambda said: said["run"].update(seconds=True)), "'seconds'"),
        (_head(lambda said: said["run"].update(examples="2")), "'examples'"),
        (_head(lambda said: said["run"].update(pool="ocean")), "'ocean'"),
        (_head(lambda said: said["run"].update(shape="9/9")), "9/9"),
        (_head(lambda said: said["run"].update(created="yesterday")), "'yesterday'"),
        (_head(lambda said: said["run"].update(created="2026-07-05T15:04:05")), "time zone"),
        (_head(lambda said: said["run"].update(configuration={"k1": 0.5})), "'k1'"),
        (_head(lambda said: said["run"].update(books={})), "'books'"),
        (_head(lambda said: said["run"]["books"][0].update(year="1891")), "'year'"),
        (_head(lambda said: said["run"]["books"][1].update(key="")), "'key'"),
        (_head(lambda said: said["run"].update(tags="tuned")), "'tags'"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path, change, what):
    path = tmp_path / "run.parquet"
    write_outcomes(path, RUN, OUTCOMES)
    with pytest.raises(BadBenchmark) as caught:
        read_outcomes(_altered(path, change))
    assert what in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_table_written_anew_without_a_change_is_read(tmp_path):
    """Shows that the test above refuses for what was changed."""
    path = tmp_path / "run.parquet"
    write_outcomes(path, RUN, OUTCOMES)
    assert read_outcomes(_altered(path, _head(lambda said: None))) == (RUN, OUTCOMES)


def test_windows_are_no_outcomes(tmp_path):
    write_windows(tmp_path / "windows.parquet", WINDOWS, {})
    with pytest.raises(BadBenchmark, match="of the format 'relic windows/1', and 'relic outcomes/1' is wanted"):
        read_outcomes(tmp_path / "windows.parquet")


def test_doubled_windows_are_refused_on_reading_too(tmp_path):
    write_windows(tmp_path / "windows.parquet", WINDOWS, {})
    path = _altered(tmp_path / "windows.parquet", _column("id", ["1", "1"]))
    with pytest.raises(BadBenchmark, match="window '1' occurs twice"):
        read_windows(path)


@pytest.mark.parametrize("raw", [b"", b"PAR1", b"not Parquet at all", b"PAR1" + b"\x00" * 40 + b"PAR1"])
def test_what_is_no_parquet_is_refused(tmp_path, raw):
    (tmp_path / "run.parquet").write_bytes(raw)
    with pytest.raises(BadBenchmark, match="Parquet"):
        read_outcomes(tmp_path / "run.parquet")


def test_a_damaged_or_cut_file_never_reads_as_another_run(tmp_path):
    path = tmp_path / "run.parquet"
    write_outcomes(path, RUN, OUTCOMES)
    raw = path.read_bytes()
    for end in range(0, len(raw), 97):
        path.write_bytes(raw[:end])
        with pytest.raises(BadBenchmark):
            read_outcomes(path)
    start = raw.index(b"claim-supporting")
    path.write_bytes(raw[:start] + b"K" + raw[start + 1 :])
    with pytest.raises(BadBenchmark, match="Parquet"):
        read_outcomes(path)


def test_files_and_folders_that_are_not_there_are_told(tmp_path):
    with pytest.raises(NotFound, match=r"run\.parquet"):
        read_outcomes(tmp_path / "run.parquet")
    with pytest.raises(StoreError, match="written"):
        write_outcomes(tmp_path / "no" / "run.parquet", RUN, OUTCOMES)
