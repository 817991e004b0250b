"""The commands `mine` and `sources`."""

from __future__ import annotations

import json

import pytest

from relic_core.cli import main
from relic_core.config import Settings
from relic_core.engines import InProcess
from relic_core.ports import silent
from relic_core.services.mining.mining import Mining, run_mine
from relic_core.wiring import App, build
from tests.criticism import ESSAYS, SECOND, add_novel, write_books


@pytest.fixture
def bench(tmp_path, monkeypatch) -> App:
    settings = Settings(data=tmp_path / "data", indexes=tmp_path / "indexes")
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Mining, "workers", lambda *_, **__: InProcess())
    made = build(settings)
    add_novel(made)
    return made


@pytest.fixture
def books(tmp_path):
    return write_books(tmp_path / "books", essays=ESSAYS, widows=SECOND)


def test_mine_says_what_was_found_and_a_second_time_that_nothing_is_new(bench, books, capsys):
    assert main(["mine", str(books)]) == 0
    assert "2 books mined: 4 pairs and 4 windows on works of the library." in capsys.readouterr().out
    assert main(["mine"]) == 0
    assert "2 books mined before, with nothing new to look for." in capsys.readouterr().out


def test_mine_names_what_could_not_be_read_and_fails_after_the_rest_is_done(bench, books, capsys):
    (books / "spoilt.txt").write_bytes(b"\x00\x01\x02" * 99)
    assert main(["mine", str(books), "--no-pairs"]) == 1
    said = capsys.readouterr()
    assert "2 books mined: 0 pairs and 4 windows" in said.out
    assert said.err.startswith("spoilt.txt: ")


def test_mine_writes_places_and_stores_nothing(bench, books, tmp_path, capsys):
    assert main(["mine", str(books), "--offsets-only", str(tmp_path / "places")]) == 0
    assert len(list((tmp_path / "places").glob("*/volume.json"))) == 2
    assert bench.sources.all() == ()


def test_mine_looks_only_for_the_works_that_are_named(bench, books, capsys):
    assert main(["mine", str(books), "--works", "Nothing Like It"]) == 1
    assert main(["mine", str(books), "--works", "The Lantern Count"]) == 0
    assert "4 windows" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_told(bench, tmp_path, capsys):
    assert main(["mine", str(tmp_path / "away")]) == 1
    assert "There is no file or folder" in capsys.readouterr().err


def test_sources_lists_sources_and_windows(bench, books, capsys):
    assert main(["sources"]) == 0
    assert "no secondary sources yet" in capsys.readouterr().out
    main(["mine", str(books)])
    capsys.readouterr()
    assert main(["sources"]) == 0
    assert "Essays on River Novels" in capsys.readouterr().out
    assert main(["sources", "--windows", "The Lantern Count", "--format", "json", "--show", "all"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 4
    assert all(row["work"] == "The Lantern Count" and row["sentences"] for row in rows)
    widows = next(each.source.id for each in bench.sources.all() if each.source.name == "widows.txt")
    assert main(["sources", "--windows", widows, "--show", "all"]) == 0
    assert "geraniums" in capsys.readouterr().out


def test_windows_of_what_is_neither_source_nor_work_are_refused(bench, capsys):
    assert main(["sources", "--windows", "nothing at all"]) == 1
    assert capsys.readouterr().err.startswith("No secondary source and no work is called 'nothing at all'. ")


def test_the_windows_of_a_source_are_listed_by_its_title(bench, books, capsys):
    main(["mine", str(books)])
    capsys.readouterr()
    assert main(["sources", "--windows", "essays on river NOVELS", "--show", "all", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["source"] for row in rows} == {"Essays on River Novels"}


def test_a_title_that_a_source_shares_with_a_work_is_refused_with_both_ids(bench, tmp_path, capsys):
    path = tmp_path / "The Lantern Count.txt"
    path.write_text("Of the night of the flood nothing is said. The town keeps bad books, and nobody minds.\n")
    main(["mine", str(path)])
    assert main(["sources", "--windows", "The Lantern Count"]) == 1
    (source,) = bench.sources.all()
    (work,) = bench.works.summaries()
    said = capsys.readouterr().err
    assert f"{source.source.id} (a source), {work.id} (a work). Give the id." in said


def test_a_draw_from_one_source_is_refused(bench, capsys):
    assert main(["sources", "--windows", "The Lantern Count", "--draw", "2"]) == 2


def test_files_of_other_kinds_are_named_in_what_mine_says(bench, books, capsys):
    for name in ("article.docx", "scan.pdf", ".DS_Store"):
        (books / name).write_bytes(b"%PDF")
    main(["mine", str(books)])
    assert "2 files of other kinds were left alone: article.docx, scan.pdf." in capsys.readouterr().out


def test_mining_with_an_empty_library_says_how_to_add_works(bench, books, capsys):
    assert main(["mine", str(books)]) == 0
    assert "holds no work" not in capsys.readouterr().out
    (work,) = bench.works.summaries()
    bench.works.remove(work.id)
    assert main(["mine", str(books), "--again"]) == 0
    said = capsys.readouterr().out
    assert "0 windows on works of the library. The library holds no work to look for." in said
    assert "relic_core add FILE" in said


def test_a_text_of_one_word_is_mined_and_called_no_foreign_language(bench, tmp_path):
    (tmp_path / "hello.txt").write_text("Hello.\n")
    main(["mine", str(tmp_path / "hello.txt")])
    (source,) = bench.sources.all()
    assert (source.language, source.problem) == ("en", "")


def test_the_note_of_a_job_names_what_could_not_be_read_one_file_a_line(bench, books):
    for number in range(23):
        (books / f"spoilt-{number:02}.txt").write_bytes(b"\x00\x01\x02" * (99 + number))
    figures, *lines = run_mine(bench, {"paths": [str(books)]}, silent).splitlines()
    assert figures.startswith("2 books mined")
    assert [line.split(":")[0] for line in lines[:20]] == [f"spoilt-{number:02}.txt" for number in range(20)]
    assert lines[20:] == ["And 3 other files."]


def test_a_source_is_removed_and_put_back(bench, books, capsys):
    main(["mine", str(books)])
    source = bench.sources.all()[0].source
    assert main(["sources", "--remove", source.id]) == 0
    assert source.id not in {each.source.id for each in bench.sources.all()}
    assert main(["sources", "--restore", source.id]) == 0
    assert source.id in {each.source.id for each in bench.sources.all()}
