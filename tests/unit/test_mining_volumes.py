"""One volume at a time: what is found, what goes wrong, and that no word travels where none may."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from relic_core.domain import passage_id
from relic_core.engines import Processes
from relic_core.errors import StaleIndex
from relic_core.library.secondary import SourceFile, describe
from relic_core.mining import volumes
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.volumes import VolumeTask, mine, mine_volume
from relic_core.ports import silent
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work
from tests.criticism import ESSAYS, FRENCH, NOVEL, SECOND, write_books, write_zip
from tests.inline import InProcess

WORK = read_work(NOVEL.encode(), name="novel.txt", metadata=Metadata("The Lantern Count", "Ada Quillfeather"))


@pytest.fixture(scope="module")
def works(tmp_path_factory) -> QuotedWorks:
    return QuotedWorks.build([WORK], tmp_path_factory.mktemp("index") / "works", silent)


def source_of(text: str):
    return describe(SourceFile(path=Path("essays.txt")), text)


def task(path: Path, works: QuotedWorks | None, **given) -> VolumeTask:
    return VolumeTask(file=SourceFile(path=path), works=works.folder if works else None, **given)


def test_the_quotations_of_a_book_of_criticism_are_found_with_their_sentences(works):
    mined = mine(ESSAYS, source_of(ESSAYS), works=works)
    assert mined.language == "en"
    assert mined.found == (len(mined.pairs), len(mined.windows)) == (3, 3)
    quoted = [WORK.span_text(window.gold) for window in mined.windows]
    assert [words.split()[:3] for words in quoted] == [
        ["The", "ferryman", "Orlick"], ["The", "river", "had"], ["Bramwater", "looked", "at"],
    ]  # fmt: skip
    for found in (*mined.pairs, *mined.windows):
        start, end = found.at
        assert passage_id(ESSAYS[start:end]) == passage_id(found.quotation)


def test_without_works_there_are_pairs_alone_and_without_pairs_windows_alone(works):
    assert mine(ESSAYS, source_of(ESSAYS), works=None).found == (3, 0)
    windows_alone = mine(ESSAYS, source_of(ESSAYS), works=works, pairs=False)
    assert (windows_alone.pairs, len(windows_alone.windows)) == (None, 3)


def test_works_that_are_not_asked_for_are_not_found(works):
    assert mine(ESSAYS, source_of(ESSAYS), works=works, among=()).windows == ()


def test_a_book_in_french_gives_nothing_and_says_so(works):
    mined = mine(FRENCH, source_of(FRENCH), works=works)
    assert (mined.language, mined.pairs, mined.windows) == ("fr", (), ())
    assert "'fr'" in mined.problem


def test_a_task_gives_what_the_function_gives(works, tmp_path):
    path = write_books(tmp_path) / "essays.txt"
    mined = mine_volume(task(path, works))
    plain = mine(ESSAYS, source_of(ESSAYS), works=works)
    assert (mined.pairs, mined.windows, mined.source.id) == (plain.pairs, plain.windows, plain.source.id)
    assert len(mined.file) == 64


def test_a_damaged_volume_is_told_and_raises_nothing(works, tmp_path):
    (tmp_path / "spoilt.txt").write_bytes(b"\x00\x01\x02" * 99)
    mined = mine_volume(task(tmp_path / "spoilt.txt", works))
    assert mined.problem
    assert (mined.file, mined.source.sha256, mined.source.name) == ("", "", "spoilt.txt")


def test_a_mistake_of_the_program_in_one_volume_is_told_of_that_volume(works, tmp_path, monkeypatch):
    def stumble(*_: object) -> None:
        raise RuntimeError("stumbled")

    monkeypatch.setattr(volumes, "find_quotations", stumble)
    mined = mine_volume(task(write_books(tmp_path) / "essays.txt", works))
    assert "stumbled" in mined.problem
    assert mined.file == ""


def test_want_of_memory_is_told_of_the_volume(works, tmp_path, monkeypatch):
    def grow(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(volumes, "find_quotations", grow)
    assert "memory" in mine_volume(task(write_books(tmp_path) / "essays.txt", works)).problem


def test_an_index_that_is_not_there_is_no_fault_of_a_volume(tmp_path):
    with pytest.raises(StaleIndex):
        mine_volume(VolumeTask(file=SourceFile(path=write_books(tmp_path) / "essays.txt"), works=tmp_path / "away"))


@pytest.mark.parametrize(("places", "told"), [(True, "(ValueError)"), (False, "(ValueError('gravity'))")])
def test_a_mistake_of_the_program_gives_no_word_away_where_none_may(works, tmp_path, monkeypatch, caplog, places, told):
    def fail(*_, **__):
        raise ValueError("gravity")

    monkeypatch.setattr(volumes, "mine", fail)
    path = write_zip(tmp_path / "books.zip", {"essays.txt": ESSAYS})
    asked = VolumeTask(file=SourceFile(path=path, inside=("essays.txt",)), works=works.folder, places=places, code="1")
    assert told in mine_volume(asked).problem
    assert ("gravity" in caplog.text) is not places


def test_offsets_and_digests_alone_come_back_where_no_word_may(works, tmp_path):
    path = write_zip(tmp_path / "books.zip", {"essays.txt": ESSAYS})
    asked = VolumeTask(file=SourceFile(path=path, inside=("essays.txt",)), works=works.folder, places=True, code="1.0")
    mined = mine_volume(asked)
    plain = mine_volume(dataclasses.replace(asked, places=False))
    assert (mined.pairs, mined.windows, mined.found) == (None, (), (3, 3))
    assert set(mined.files) == {volumes.PAIRS_FILE, volumes.WINDOWS_FILE}
    rows = [json.loads(line) for line in mined.files[volumes.WINDOWS_FILE].splitlines()[1:]]
    assert [(row["id"], row["quotation_start"]) for row in rows] == [(w.id, w.at[0]) for w in plain.windows]
    assert [row["quotation_digest"] for row in rows] == [passage_id(w.quotation) for w in plain.windows]
    written = b"".join(mined.files.values()).decode().casefold()
    for word in ("honest", "gravity", "parish", "judgement", "ferryman", "addressed"):
        assert word in ESSAYS
        assert word not in written


def test_processes_find_what_this_process_finds(works, tmp_path):
    folder = write_books(tmp_path, essays=ESSAYS, widows=SECOND)
    tasks = [task(path, works) for path in sorted(folder.iterdir())]

    def facts(mined):
        return sorted((each.source.id, each.pairs, each.windows, dict(each.dropped)) for each in mined)

    assert facts(Processes(1).map(mine_volume, tasks)) == facts(InProcess().map(mine_volume, tasks))


def test_the_rules_name_who_cuts_the_sentences():
    from relic_core.text.sentences import default_segmenter

    assert default_segmenter().identity in volumes.rules()
