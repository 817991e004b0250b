"""Exports from the store: what is chosen, what is left out, and what a person is told."""

from __future__ import annotations

import dataclasses
import json

import pytest

from relic_core.domain import Judgement, Span
from relic_core.errors import BadRequest, NotFound
from relic_core.formats import relic
from relic_core.formats.relic import read_relic
from relic_core.mining.exporting import UNSPLIT
from relic_core.services.dataset import ExportRequest
from relic_core.store.sources import MinedSource
from relic_core.wiring import build
from tests.making import work_of
from tests.making_pairs import make_pair, make_source, make_window, read_rows

pytestmark = pytest.mark.usefixtures("kept_open")

FERRY_AGAIN = "THE FERRY\n\nOne\n" + "".join(
    f"{word} sentence of another edition\u2014it is long.\n"
    for word in ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh"]
)
FERRY, OTHER = work_of(), work_of(FERRY_AGAIN, work_id="the-ferry-11111111")
ONE, TWO = make_source(1), make_source(2, title="On Boats")
WINDOWS = [
    *(make_window(FERRY, Span(start, 1), number=start, source=ONE) for start in range(4)),
    make_window(OTHER, Span(0, 2), number=5, source=TWO),
    make_window(OTHER, Span(1, 6), number=6, source=TWO),
]
PAIRS = [make_pair(number, source=ONE if number < 3 else TWO) for number in range(5)]


@pytest.fixture
def workbench(settings):
    """A workbench with two sources, two works, five pairs and six windows; nothing is split."""
    workbench = build(settings)
    for work in (FERRY, OTHER):
        workbench.store.works.add(work)
    for source in (ONE, TWO):
        workbench.store.sources.add(
            MinedSource(
                source=source, rules="prose/1", language="en",
                segmenters={work.id: work.segmenter for work in (FERRY, OTHER)},
                pairs=tuple(pair for pair in PAIRS if pair.source_id == source.id),
                windows=tuple(window for window in WINDOWS if window.source_id == source.id), dropped={},
            )
        )  # fmt: skip
    return workbench


def split(workbench):
    """Split all: of the windows on one work dev and test, on the other training; one pair and one window left out."""
    chosen = ["dev", "dev", "test", "left out", "training", "training"]
    workbench.store.splits.replace(
        "window",
        [
            (each.id, name, "a reprint" if name == "left out" else "")
            for each, name in zip(WINDOWS, chosen, strict=True)
        ],
    )
    workbench.store.splits.replace(
        "pair",
        [
            (each.id, "left out" if each is PAIRS[0] else "training", "in a benchmark" * (each is PAIRS[0]))
            for each in PAIRS
        ],
    )


def request(kind, out, **more):
    return ExportRequest(kind=kind, out=out, **more)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_before_a_split_everything_is_exported_and_no_row_names_one(workbench, tmp_path, suffix):
    made = workbench.exporter.export(request("pairs", tmp_path / f"p{suffix}"))
    assert (made.rows, made.left_out) == ({"pairs": 5}, {})
    head, rows = read_rows(tmp_path / f"p{suffix}")
    assert head["made"]["split"] == "all but what was left out"
    assert {row["id"] for row in rows} == {pair.id for pair in PAIRS}
    assert {row["split"] for row in rows} == {""}


def test_after_a_split_what_was_left_out_stays_out_and_is_counted(workbench, tmp_path):
    split(workbench)
    made = workbench.exporter.export(request("pairs", tmp_path / "p.jsonl"))
    assert (made.rows, made.left_out) == ({"pairs": 4}, {"in a benchmark": 1})
    assert {row["split"] for row in read_rows(tmp_path / "p.jsonl")[1]} == {"training"}
    made = workbench.exporter.export(request("windows", tmp_path / "w.parquet"))
    assert (made.rows, made.left_out) == ({"windows": 5}, {"a reprint": 1})
    assert [row["split"] for row in read_rows(tmp_path / "w.parquet")[1]] == ["training"] * 2 + ["dev"] * 2 + ["test"]


def test_what_was_left_out_can_be_looked_at(workbench, tmp_path):
    split(workbench)
    made = workbench.exporter.export(request("windows", tmp_path / "w.jsonl", split="left out"))
    assert made.rows == {"windows": 1}
    _, (row,) = read_rows(tmp_path / "w.jsonl")
    assert (row["split"], row["id"]) == ("left out", WINDOWS[3].id)


def test_a_window_comes_with_the_words_and_place_of_its_sentences(workbench, tmp_path):
    workbench.exporter.export(request("windows", tmp_path / "w.jsonl", work="the-ferry-11111111"))
    _, rows = read_rows(tmp_path / "w.jsonl")
    assert [(row["gold_start"], row["gold_length"]) for row in rows] == [(0, 2), (1, 6)]
    work = workbench.works.load("the-ferry-11111111")
    assert rows[0]["sentences"][0] == "First sentence of another edition—it is long."
    quoted = work.text[rows[0]["work_start"] : rows[0]["work_end"]]
    assert " ".join(quoted.split()) == " ".join(rows[0]["sentences"])


def test_the_head_names_the_works_and_sources_that_rows_name_and_no_others(workbench, tmp_path):
    workbench.exporter.export(request("windows", tmp_path / "w.jsonl", source="60002"))
    head, _ = read_rows(tmp_path / "w.jsonl")
    assert [source["id"] for source in head["sources"]] == ["on-ferries-2"]
    (work,) = head["works"]
    assert work["fingerprint"] == workbench.works.load(work["id"]).fingerprint
    assert head["made"]["source"] == "on-ferries-2"


def test_only_what_was_asked_for_is_counted_among_what_is_not_there(workbench, tmp_path):
    split(workbench)
    workbench.store.windows.set_aside({WINDOWS[0].id: "quoted too seldom"})
    made = workbench.exporter.export(request("windows", tmp_path / "w.jsonl", work="the-ferry-11111111"))
    assert (made.rows, made.left_out) == ({"windows": 2}, {})
    made = workbench.exporter.export(request("pairs", tmp_path / "p.jsonl", source="60002"))
    assert (made.rows, made.left_out) == ({"pairs": 2}, {})
    made = workbench.exporter.export(request("windows", tmp_path / "w.jsonl", source="60001"))
    assert made.left_out == {"a reprint": 1, "Set aside: quoted too seldom": 1}


def test_a_file_names_no_place_on_the_machine_that_made_it(workbench, tmp_path):
    source = dataclasses.replace(ONE, origin=f"/books/a/{ONE.name}")
    workbench.store.sources.add(
        MinedSource(source=source, rules="prose/1", language="en", segmenters={}, pairs=None, dropped={})
    )
    workbench.exporter.export(request("pairs", tmp_path / "p.jsonl"))
    assert "/books/a" not in (tmp_path / "p.jsonl").read_text()
    assert source.name in (tmp_path / "p.jsonl").read_text()


def test_windows_that_are_set_aside_are_not_exported(workbench, tmp_path):
    workbench.store.windows.set_aside({WINDOWS[0].id: "quoted too seldom"})
    made = workbench.exporter.export(request("windows", tmp_path / "w.jsonl"))
    assert made.rows == {"windows": 5}
    assert made.left_out == {"Set aside: quoted too seldom": 1}


def test_judgements_stand_beside_the_windows(workbench, tmp_path):
    from datetime import UTC, datetime

    window = WINDOWS[1]
    for question, answer in (("match", "right"), ("evidence", "other")):
        workbench.store.windows.judge(
            Judgement(
                window_id=window.id, question=question, answer=answer, judge="k", comment="",
                created=datetime(2026, 1, 1, tzinfo=UTC),
            )
        )  # fmt: skip
    workbench.exporter.export(request("windows", tmp_path / "w.jsonl"))
    rows = {row["id"]: row for row in read_rows(tmp_path / "w.jsonl")[1]}
    assert (rows[window.id]["match"], rows[window.id]["evidence"]) == ("right", "other")
    assert {row["match"] for row in rows.values()} == {"right", ""}


def test_an_export_in_relics_form_gives_the_same_windows_back(workbench, tmp_path):
    split(workbench)
    made = workbench.exporter.export(request("windows", tmp_path / "out", form="relic"))
    assert made.rows == {"windows": 4}
    assert made.left_out == {"a reprint": 1, relic.TOO_LONG: 1}
    windows = {window.id: window for window in WINDOWS}
    expected = {"val.json": {0, 1}, "test.json": {2}, "train.json": {4}}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*expected, "relic.json"}
    for name, numbers in expected.items():
        (book,) = read_relic(tmp_path / "out" / name)
        assert {quote.id for quote in book.quotes} == {WINDOWS[number].id for number in numbers}
        for quote in book.quotes:
            window = windows[quote.id]
            assert (quote.left, quote.start, quote.length, quote.right) == (
                window.left, window.gold.start, window.gold.length, window.right,
            )  # fmt: skip
            assert book.sentences[quote.start].split() == window.quotation.split()


def test_a_quotation_with_nothing_around_it_is_no_claim_in_relics_form(workbench, tmp_path):
    one, *others = WINDOWS[:4]
    bare = dataclasses.replace(one, left=("* * *",), right=())
    works = [workbench.works.load(work_id) for work_id in {each.work_id for each in WINDOWS}]
    workbench.store.sources.add(
        MinedSource(
            source=ONE, rules="prose/1", language="en", dropped={}, windows=(bare, *others),
            segmenters={work.id: work.segmenter for work in works},
        )
    )  # fmt: skip
    split(workbench)
    made = workbench.exporter.export(request("windows", tmp_path / "out", form="relic", split="dev"))
    assert made.rows == {"windows": 1}
    assert made.left_out[relic.NO_CONTEXT] == 1


def test_a_file_of_relics_form_can_be_measured_on(workbench, tmp_path):
    split(workbench)
    workbench.exporter.export(request("windows", tmp_path / "out", form="relic"))
    opened = workbench.benchmarks.open("relic", data=tmp_path / "out" / "val.json")
    assert sorted(window.gold.start for window in opened.windows()) == [0, 1]


def test_two_editions_of_one_title_stay_two_books(workbench, tmp_path):
    windows = WINDOWS
    workbench.store.splits.replace("window", [(each.id, "training", "") for each in windows])
    workbench.exporter.export(request("windows", tmp_path / "out", form="relic"))
    books = read_relic(tmp_path / "out" / "train.json")
    assert [book.title for book in books] == ["The Ferry (the-ferry-00000000)", "The Ferry (the-ferry-11111111)"]


def test_beside_relics_files_stands_what_made_them(workbench, tmp_path):
    split(workbench)
    workbench.exporter.export(request("windows", tmp_path / "out", form="relic"))
    facts = json.loads((tmp_path / "out" / "relic.json").read_text(encoding="utf-8"))
    assert facts["files"]["val.json"] == {"split": "dev", "windows": 2}
    assert facts["made"]["rules"].startswith("prose/")
    assert len(facts["sources"]) == 2


def test_a_data_set_holds_pairs_and_windows_by_split(workbench, tmp_path):
    split(workbench)
    made = workbench.exporter.export(request("dataset", tmp_path / "set"))
    assert made.form == "datasets"
    assert made.rows == {"pairs": 4, "windows": 5}
    assert made.left_out == {"in a benchmark": 1, "a reprint": 1}
    there = {path.relative_to(tmp_path / "set" / "data").as_posix() for path in (tmp_path / "set").rglob("*.parquet")}
    assert there == {
        "pairs/train-00000-of-00001.parquet",
        "windows/train-00000-of-00001.parquet",
        "windows/validation-00000-of-00001.parquet",
        "windows/test-00000-of-00001.parquet",
    }


def test_what_was_mined_since_the_split_is_counted_as_such(workbench, tmp_path):
    split(workbench)
    workbench.store.splits.replace("pair", [(each.id, "training", "") for each in PAIRS[:3]])
    made = workbench.exporter.export(request("pairs", tmp_path / "p.jsonl"))
    assert (made.rows, made.left_out) == ({"pairs": 3}, {UNSPLIT: 2})


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet", "set"])
def test_the_same_store_makes_the_same_bytes(workbench, tmp_path, name):
    split(workbench)

    def contents(folder):
        folder.mkdir()
        workbench.exporter.export(request("dataset" if name == "set" else "pairs", folder / name))
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_offsets_only_can_be_taken_where_texts_may_not_leave(workbench, tmp_path):
    workbench.exporter.export(request("windows", tmp_path / "w.jsonl", places=True))
    written = (tmp_path / "w.jsonl").read_text(encoding="utf-8")
    assert len(written.splitlines()) == 7
    assert "The critic says" not in written
    assert "sentence of another edition" not in written
    head, (row, *_) = read_rows(tmp_path / "w.jsonl")
    assert head["format"] == "relic places of mined windows/1"
    assert not {"left", "quotation", "right", "sentences"} & set(row)


def test_progress_is_told_as_rows_are_taken(workbench, tmp_path):
    told = []
    workbench.exporter.export(request("pairs", tmp_path / "p.jsonl"), lambda done, total, note="": told.append(done))
    assert told
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("kind", "out", "more", "told"),
    [
        ("poems", "p.jsonl", {}, "'poems'"),
        ("pairs", "p.csv", {}, r"\.jsonl.*\.parquet"),
        ("pairs", "folder", {}, "--format"),
        ("pairs", "p.jsonl", {"form": "parquet"}, r"\.parquet"),
        ("pairs", "p.jsonl", {"form": "xml"}, "'xml'"),
        ("windows", "w.jsonl", {"form": "relic"}, "is a folder"),
        ("pairs", "out", {"form": "relic"}, "the work is not known"),
        ("dataset", "d.jsonl", {}, "A data set is a folder"),
        ("windows", "out", {"form": "datasets", "places": True}, "datasets .*jsonl"),
        ("windows", "out", {"form": "relic", "split": "left out"}, "relic .*jsonl"),
        ("pairs", "p.jsonl", {"work": "the-ferry-00000000"}, "Export windows"),
        ("pairs", "p.jsonl", {"split": "train"}, "Did you mean training"),
        ("pairs", "p.jsonl", {"split": "training"}, "dataset split"),
        ("windows", "out", {"form": "relic"}, "dataset split"),
        ("dataset", "out", {}, "dataset split"),
        ("pairs", "p.jsonl", {"source": "on-ferries"}, "fits several sources"),
    ],
)
def test_what_cannot_be_exported_is_told_with_what_to_do(workbench, tmp_path, kind, out, more, told):
    with pytest.raises(BadRequest, match=told):
        workbench.exporter.export(request(kind, tmp_path / out, **more))
    assert not list(tmp_path.glob("*.jsonl"))


def test_nothing_to_export_says_how_to_come_by_something(settings, tmp_path):
    with pytest.raises(NotFound, match="python -m relic_core mine"):
        build(settings).exporter.export(request("pairs", tmp_path / "p.jsonl"))


def test_a_choice_that_nothing_fits_is_told(workbench, tmp_path):
    split(workbench)
    with pytest.raises(NotFound, match=r"split test .*The Ferry .*On Boats"):
        workbench.exporter.export(
            request("windows", tmp_path / "w.jsonl", split="test", source="60002", work="the-ferry-0")
        )
    with pytest.raises(NotFound, match="no pairs of the split dev"):
        workbench.exporter.export(request("pairs", tmp_path / "p.jsonl", split="dev"))


def test_a_source_is_found_by_its_id_the_beginning_of_it_or_its_number(workbench):
    assert workbench.exporter.find_source("on-ferries-1").number == 60_001
    assert workbench.exporter.find_source("60001").id == "on-ferries-1"
    assert workbench.exporter.find_source("On-Ferries-2").number == 60_002
    with pytest.raises(NotFound, match="python -m relic_core sources"):
        workbench.exporter.find_source("off-ferries")
    with pytest.raises(NotFound):
        workbench.exporter.find_source(" ")
