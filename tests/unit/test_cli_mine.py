"""The commands `mine`, `sources` and `export`."""

from __future__ import annotations

import json

import pytest

from relic_core.errors import BadRequest, NotFound
from relic_core.ports import silent
from relic_core.services.mining import Mining
from relic_core.store.sources import MinedSource
from relic_core.wiring import build
from tests.criticism import ESSAYS, SECOND, add_novel, write_books
from tests.inline import InProcess
from tests.making_pairs import make_pair, make_source, read_rows


@pytest.fixture
def bench(settings, monkeypatch):
    monkeypatch.setattr(Mining, "workers", lambda *_, **__: InProcess())
    return build(settings)


@pytest.fixture
def novel(bench):
    return add_novel(bench)


@pytest.fixture
def books(novel, tmp_path):
    return write_books(tmp_path / "books", essays=ESSAYS, widows=SECOND)


@pytest.fixture
def windows(run):
    """List windows."""
    return lambda *typed: json.loads(run("sources", "--windows", *typed, "--show", "all", "--format", "json").out)


def test_sources_are_mined_once_and_listed_with_their_windows(bench, books, run, windows):
    assert run("sources").code == 0
    assert "4 quotations of any book, and 4 windows" in run("mine", books).out
    assert "4 windows" not in run("mine").out
    assert "Essays on River Novels" in run("sources").out
    rows = windows("The Lantern Count")
    assert len(rows) == 4
    assert all(row["work"] == "The Lantern Count" and row["sentences"] for row in rows)
    widows = next(each.source.id for each in bench.sources.all() if each.source.name == "widows.txt")
    assert "geraniums" in run("sources", "--windows", widows, "--show", "all").out
    assert {row["source"] for row in windows("essays on river NOVELS")} == {"Essays on River Novels"}


def test_what_cannot_be_read_is_named_and_fails_after_the_rest_is_done(books, run):
    (books / "spoilt.txt").write_bytes(b"\x00\x01\x02" * 99)
    for name in ("article.docx", "scan.pdf", ".DS_Store"):
        (books / name).write_bytes(b"%PDF")
    ran = run("mine", books, "--no-pairs")
    assert (ran.code, "0 quotations of any book, and 4 windows" in ran.out) == (1, True)
    assert "article.docx, scan.pdf." in ran.out
    assert ran.err.startswith("spoilt.txt: ")


def test_mine_writes_places_and_stores_nothing(bench, books, run, tmp_path):
    assert run("mine", books, "--offsets-only", tmp_path / "places").code == 0
    assert len(list((tmp_path / "places").glob("*/volume.json"))) == 2
    assert bench.sources.all() == ()


def test_mine_looks_only_for_the_works_that_are_named(books, run):
    assert run("mine", books, "--works", "Nothing Like It").code == 1
    assert "4 windows" in run("mine", books, "--works", "The Lantern Count").out


def test_what_is_neither_source_nor_work_nor_file_is_refused(bench, run, tmp_path):
    assert isinstance(run("mine", tmp_path / "away").error, NotFound)
    assert isinstance(run("sources", "--windows", "nothing at all").error, NotFound)
    assert run("sources", "--windows", "The Lantern Count", "--draw", "2").code == 2


def test_a_claim_lists_the_windows_of_critics_who_use_its_words(books, run, windows):
    run("mine", books)
    every = windows("The Lantern Count")
    word = "decade"
    assert {word in " ".join((*each["left"], *each["right"])).casefold() for each in every} == {True, False}
    found = json.loads(run("sources", "--about", word, "--windows", "The Lantern Count", "--format", "json").out)
    assert found
    assert all(word in " ".join((*each["left"], *each["right"])).casefold() for each in found)
    assert run("sources", "--about", word).out.count(found[0]["id"]) == 1
    assert run("sources", "--about", word, "--draw", "2").code == 2
    assert run("sources", "--about", word, "--show", "all").code == 2


def test_a_title_that_a_source_shares_with_a_work_is_refused_with_both_ids(bench, novel, run, tmp_path):
    path = tmp_path / "The Lantern Count.txt"
    path.write_text("Of the flood we hear little. The town keeps bad books, and nobody minds.\n")
    run("mine", path)
    (source,), (work,) = bench.sources.all(), bench.works.summaries()
    ran = run("sources", "--windows", "The Lantern Count")
    assert isinstance(ran.error, BadRequest)
    assert [each in ran.err for each in (source.source.id, work.id)] == [True, True]


def test_mining_with_an_empty_library_says_how_to_add_works(bench, books, run):
    assert "relic_core add" not in run("mine", books).out
    (work,) = bench.works.summaries()
    bench.works.remove(work.id)
    assert "relic_core add" in run("mine", books, "--again").out


def test_a_text_of_one_word_is_mined_and_called_no_foreign_language(bench, run, tmp_path):
    (tmp_path / "hello.txt").write_text("Hello.\n")
    run("mine", tmp_path / "hello.txt")
    (source,) = bench.sources.all()
    assert (source.language, source.problem) == ("en", "")


def test_the_note_of_a_job_names_what_could_not_be_read_one_file_a_line(bench, books):
    for number in range(23):
        (books / f"spoilt-{number:02}.txt").write_bytes(b"\x00\x01\x02" * (99 + number))
    _, *lines = bench.mining.run_job({"paths": [str(books)]}, silent).splitlines()
    assert [line.split(":")[0] for line in lines[:20]] == [f"spoilt-{number:02}.txt" for number in range(20)]
    assert [" 3 " in line for line in lines[20:]] == [True]


def test_a_source_is_removed_and_put_back(bench, books, run):
    run("mine", books)
    source_id = bench.sources.all()[0].source.id
    for action, there in (("--remove", False), ("--restore", True)):
        assert run("sources", action, source_id).code == 0
        assert (source_id in {each.source.id for each in bench.sources.all()}) is there


@pytest.fixture
def mined(bench):
    pairs = tuple(make_pair(number) for number in range(3))
    bench.store.sources.add(MinedSource(source=make_source(), rules="prose/1", segmenters={}, pairs=pairs, dropped={}))
    return bench


def test_pairs_are_exported_and_what_is_left_out_is_listed(mined, run, tmp_path):
    file = tmp_path / "p.jsonl"
    assert run("export", "pairs", file).out.startswith("3 pairs ")
    assert len(read_rows(file)[1]) == 3
    mined.store.splits.replace("pair", [(make_pair(0).id, "training", ""), (make_pair(1).id, "left out", "in a work")])
    said = run("export", "pairs", file).out.splitlines()
    assert said[0].startswith("1 pair ")
    assert [line.split()[-1] for line in said[2:]] == ["1", "1"]
    assert said[-1].startswith("in a work ")


def test_offsets_only_is_an_option(mined, run, tmp_path):
    assert run("export", "pairs", tmp_path / "p.jsonl", "--offsets-only", "--source", "60001").code == 0
    assert "lay still" not in (tmp_path / "p.jsonl").read_text(encoding="utf-8")


def test_what_cannot_be_exported_is_said(mined, run, tmp_path):
    assert run("export", "windows", tmp_path / "w.jsonl").code == 1
    assert "relic_core dataset split" in run("export", "pairs", tmp_path / "p.jsonl", "--split", "training").err
    assert run("export", "poems", "p.jsonl").code == 2
