"""Secondary sources on disk: what is listed, what is said of it, and what is refused by name."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from relic_core.errors import BadText, NotFound, TextTooLarge, UnsafeFile
from relic_core.library import archives, secondary
from relic_core.library.secondary import SourceFile, describe, list_sources, read_source, text_of, unread
from tests.criticism import ESSAYS, SECOND, write_books, write_zip


def names(path: Path) -> list[str]:
    return [file.name for file in list_sources(path)]


def zipped(tmp_path: Path, entries: dict[str, str | bytes]) -> bytes:
    return write_zip(tmp_path / "inner.zip", entries).read_bytes()


def test_a_folder_is_listed_with_the_folders_and_archives_in_it(tmp_path):
    write_books(tmp_path / "books" / "deeper", essays=ESSAYS)
    write_zip(tmp_path / "books" / "more.zip", {"shelf/widows.txt": SECOND, "cover.png": b"\x89PNG"})
    (tmp_path / "books" / "notes.doc").write_bytes(b"not read")
    assert sorted(names(tmp_path / "books")) == ["essays.txt", "widows.txt"]


def test_files_of_other_kinds_are_told_also_of_archives_and_of_archives_in_them(tmp_path):
    (tmp_path / "books").mkdir()
    inner = zipped(tmp_path, {"widows.txt": SECOND, "deep.docx": b"not read"})
    write_zip(tmp_path / "books" / "more.zip", {"inner.zip": inner, "shelf/scan.pdf": b"%PDF", "said.csv": "file\n"})
    (tmp_path / "books" / "notes.doc").write_bytes(b"not read")
    (tmp_path / "books" / ".DS_Store").write_bytes(b"not read")
    others: list[str] = []
    assert [file.name for file in list_sources(tmp_path / "books", others=others)] == ["widows.txt"]
    assert sorted(others) == ["deep.docx", "notes.doc", "scan.pdf"]


def test_what_systems_leave_behind_is_no_source(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"__MACOSX/._a.txt": b"x", "a.txt": ESSAYS, ".hidden.txt": b"x"})
    assert names(path) == ["a.txt"]


def test_an_archive_in_an_archive_is_read(tmp_path):
    path = write_zip(tmp_path / "outer.zip", {"1890s.zip": zipped(tmp_path, {"widows.txt": SECOND}), "a.txt": ESSAYS})
    found = {file.name: file for file in list_sources(path)}
    assert found["widows.txt"].inside == ("1890s.zip", "widows.txt")
    assert read_source(found["widows.txt"]).decode() == SECOND


def test_the_list_of_an_archive_is_read_once_and_again_when_it_was_written_anew(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(archives, "opened", lambda file, real=archives.opened: opened.append(file) or real(file))
    path = write_zip(tmp_path / "all.zip", {f"{number}.txt": f"Text {number}." for number in range(5)})
    assert [read_source(file) for file in list_sources(path)] == [b"Text %d." % number for number in range(5)]
    assert opened == [path]
    write_zip(path, {"new.txt": "A new text."})
    os.utime(path, ns=(1, 1))
    assert [read_source(file) for file in list_sources(path)] == [b"A new text."]


def test_an_archive_two_deep_is_refused_by_name_and_the_rest_is_read(tmp_path):
    deepest = zipped(tmp_path, {"lost.txt": SECOND})
    path = write_zip(tmp_path / "outer.zip", {"a.zip": zipped(tmp_path, {"b.zip": deepest, "c.txt": ESSAYS})})
    refused, read = sorted(list_sources(path), key=lambda file: not file.problem)
    assert "b.zip" in refused.problem
    assert "Unpack" in refused.problem
    with pytest.raises(BadText, match=r"b\.zip"):
        read_source(refused)
    assert read_source(read).decode() == ESSAYS


def test_a_damaged_entry_is_named_and_the_others_are_read(tmp_path):
    path = write_zip(tmp_path / "books.zip", {"good.txt": ESSAYS, "spoilt.txt": SECOND * 20})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("spoilt.txt").header_offset + 60
    data[place : place + 20] = bytes(20)
    path.write_bytes(data)
    good, spoilt = list_sources(path)
    assert read_source(good).decode() == ESSAYS
    with pytest.raises(BadText, match=r"spoilt\.txt in .*books\.zip is damaged"):
        read_source(spoilt)


def test_a_damaged_archive_in_a_folder_is_told_and_the_rest_is_listed(tmp_path):
    write_books(tmp_path / "books")
    (tmp_path / "books" / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    problems = {file.name: file.problem for file in list_sources(tmp_path / "books")}
    assert problems["essays.txt"] == ""
    assert problems["broken.zip"]


def test_a_damaged_archive_that_was_named_is_refused(tmp_path):
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(BadText, match=r"broken\.zip"):
        list(list_sources(tmp_path / "broken.zip"))


def test_an_entry_made_to_fill_the_memory_is_refused_before_it_does(tmp_path):
    path = write_zip(tmp_path / "bomb.zip", {"bomb.txt": b"a" * 30_000_000})
    (file,) = list_sources(path)
    with pytest.raises(UnsafeFile, match=r"bomb\.txt"):
        read_source(file)


def test_an_archive_may_be_larger_than_a_book_and_an_entry_may_not(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_UNPACKED", 1_000)
    monkeypatch.setattr(secondary, "MOST_BYTES", 3_000)
    path = write_zip(tmp_path / "books.zip", {"a.txt": ESSAYS[:2000], "b.txt": SECOND * 3, "c.txt": ESSAYS[:1900]})
    first, second, third = list_sources(path)
    assert len(read_source(first)) + len(read_source(third)) > archives.MOST_UNPACKED
    assert read_source(second)
    with pytest.raises(TextTooLarge):
        read_source(write_and_list(tmp_path, "x" * 3_001))


def write_and_list(tmp_path: Path, text: str) -> SourceFile:
    (file,) = list_sources(write_zip(tmp_path / "one.zip", {"one.txt": text}))
    return file


def test_the_settings_can_allow_more_than_the_usual_size(tmp_path, monkeypatch):
    monkeypatch.setattr(secondary, "MOST_BYTES", 1_000)
    (tmp_path / "long.txt").write_text("word " * 400)
    (file,) = list_sources(tmp_path / "long.txt")
    with pytest.raises(TextTooLarge):
        read_source(file)
    assert len(read_source(file, max_bytes=3_000)) == 2_000


@pytest.mark.parametrize("table", ["books.csv", "metadata.csv"])
def test_a_table_beside_an_archive_says_what_its_books_are(tmp_path, table):
    (tmp_path / table).write_text("Gutenberg ID;Title;Authors;Licence\n138;River Novels;B. Thorne;CC0\n")
    (file,) = list_sources(write_zip(tmp_path / "books.zip", {"pg138-0.txt": SECOND}))
    source = describe(file, SECOND)
    assert (source.title, source.author, source.number, source.licence) == ("River Novels", "B. Thorne", 138, "CC0")


def test_a_table_inside_an_archive_names_files_with_or_without_their_endings(tmp_path):
    table = "file,title\nshelf/widows.txt,On Widows\nESSAYS,On Rivers\n"
    path = write_zip(tmp_path / "books.zip", {"list.csv": table, "shelf/widows.txt": SECOND, "essays.txt": ESSAYS})
    assert {file.name: file.title for file in list_sources(path)} == {
        "widows.txt": "On Widows",
        "essays.txt": "On Rivers",
    }


def test_a_table_that_cannot_be_read_is_told_and_the_books_go_without_it(tmp_path):
    path = write_zip(tmp_path / "books.zip", {"list.csv": b"\x00\x01\x02", "a.txt": ESSAYS})
    told, book = list_sources(path)
    assert (told.name, bool(told.problem)) == ("list.csv", True)
    assert (book.name, book.problem, book.title) == ("a.txt", "", "")


def test_a_table_by_itself_is_no_source(tmp_path):
    (tmp_path / "list.csv").write_text("file,title\na,b\n")
    with pytest.raises(BadText, match="table"):
        list(list_sources(tmp_path / "list.csv"))


def test_without_a_table_the_header_of_the_text_says_what_it_is():
    source = describe(SourceFile(path=Path("77.txt")), ESSAYS)
    assert (source.title, source.author, source.number) == ("Essays on River Novels", "Basil Thorne", None)
    numbered = describe(SourceFile(path=Path("x.txt")), ESSAYS.replace("\n\nTitle", "\n\n[EBook #4711]\n\nTitle", 1))
    assert numbered.number == 4711


def test_without_a_header_the_name_of_the_file_is_the_title():
    source = describe(SourceFile(path=Path("on_widows.txt")), SECOND)
    assert (source.title, source.author, source.characters) == ("On widows", "", len(SECOND))


def test_the_text_decides_the_id_and_not_the_file():
    here, there = SourceFile(path=Path("a/essays.txt")), SourceFile(path=Path("b.zip"), inside=("x/77.txt",))
    assert describe(here, ESSAYS).id == describe(there, ESSAYS).id != describe(here, ESSAYS + "More.\n").id


def test_mixed_line_ends_make_no_other_source():
    mixed = ESSAYS.replace("\n", "\r\n", 5).replace("\n\n", "\r\r", 1)
    assert text_of(mixed.encode(), name="a.txt") == text_of(ESSAYS.encode(), name="a.txt") == ESSAYS


@pytest.mark.parametrize("data", [b"%PDF-1.7 ...", b"<html><body><p>page</p></body></html>", b"\x00\x01\x02\x03" * 40])
def test_what_is_no_text_is_refused(data):
    with pytest.raises(BadText):
        text_of(data, name="a.txt")


def test_what_could_not_be_read_has_a_name_and_no_hash():
    source = unread(SourceFile(path=Path("books.zip"), inside=("shelf/spoilt.txt",)))
    assert (source.title, source.name, source.sha256, source.characters) == ("Spoilt", "spoilt.txt", "", 0)


def test_a_path_that_is_not_there_and_a_folder_without_texts_are_told(tmp_path):
    with pytest.raises(NotFound, match=str(tmp_path / "away")):
        list(list_sources(tmp_path / "away"))
    with pytest.raises(NotFound, match="holds no text"):
        list(list_sources(tmp_path))


def test_a_lone_text_is_listed_with_any_ending(tmp_path):
    (tmp_path / "essays.md").write_text(ESSAYS)
    assert names(tmp_path / "essays.md") == ["essays.md"]


@pytest.mark.corpus
def test_the_corpus_of_criticism_is_listed_with_its_table(shared):
    files = list(list_sources(shared / "corpus" / "criticism.zip"))
    assert len(files) == 324
    assert all(file.title and file.number and not file.problem for file in files)
