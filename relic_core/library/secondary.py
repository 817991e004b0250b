"""Secondary sources: folders, archives, and the tables that describe them."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from relic_core.config import Settings
from relic_core.domain import SecondarySource
from relic_core.errors import BadText, NotFound, NotText, RelicError, UnsafeFile
from relic_core.library import archives, folder
from relic_core.library.catalogue import SUFFIXES
from relic_core.library.reading import no_text, read_file, refuse_others
from relic_core.text.decoding import decode, file_name, harmless, storable
from relic_core.text.metadata import Metadata, read_metadata
from relic_core.text.reading import title_of_file, work_id

MOST_TABLE_BYTES = 50_000_000
"""Of one table."""

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "file": ("file", "filename", "name", "path", "volume", "key"),
    "number": ("gutenbergid", "gutenberg", "gutenbergnumber", "ebook", "pg", "id", "number"),
    "title": ("title", "booktitle"),
    "author": ("author", "authors", "creator", "by"),
    "origin": ("source", "origin", "url", "address"),
    "licence": ("licence", "license", "rights"),
}
"""What the columns of a table of sources may be called: letters and digits alone, in small letters."""


class SourceTable:
    r"""What tables say of sources, by the names of files and by numbers of Project Gutenberg; the first row counts.

    >>> table = SourceTable()
    >>> table.add(b"Gutenberg ID;Title\n138;The Ferry and Its Critics\n")
    >>> table.row_of("138.txt")["title"], table.row_of("pg138-0.txt")["number"], table.row_of("essay.txt")
    ('The Ferry and Its Critics', '138', {})
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, str]] = {}

    def add(self, data: bytes) -> None:
        """Read a table; one without a column that names files tells nothing."""
        text = decode(data, max_bytes=MOST_TABLE_BYTES)
        head = text.partition("\n")[0]
        try:
            lines = list(csv.reader(io.StringIO(text), delimiter=max(",;\t", key=head.count)))
        except csv.Error as error:
            raise BadText(f"A table of sources cannot be read ({error}). Save it anew as CSV.") from None
        heads = [re.sub(r"[^a-z0-9]", "", head.lower()) for head in next(iter(lines), [])]
        columns = {
            what: next((heads.index(name) for name in names if name in heads), None) for what, names in _COLUMNS.items()
        }
        for values in lines[1:]:
            row = {
                what: values[column].strip()
                for what, column in columns.items()
                if column is not None and column < len(values)
            }
            for key in ("file", "number"):
                if row.get(key):
                    self._rows.setdefault(_key(row[key]), row)

    def row_of(self, name: str) -> Mapping[str, str]:
        """Give the row of a file: "title", "author", "number", "origin", "licence", as far as there are columns."""
        stem = _key(name)
        digits = re.match(r"(?:pg)?(\d{1,6})(?!\d)", stem)
        return self._rows.get(stem) or (self._rows.get(digits[1]) if digits else None) or {}


def _key(name: str) -> str:
    """Give what a file is looked up by: its name without folders and ending, in small letters.

    >>> _key("Essays/138.TXT"), _key("138")
    ('138', '138')
    """
    last = PurePosixPath(name.replace("\\", "/")).name.casefold()
    return next((last.removesuffix(suffix) for suffix in SUFFIXES if last.endswith(suffix)), last)


ARCHIVE = ".zip"
TABLE = ".csv"
MOST_BYTES = max(64_000_000, Settings.max_text_bytes)
"""Of one source, unless the settings allow more: a journal's bound volume may be longer than any novel."""
MOST_ARCHIVE_BYTES = 1_000_000_000
"""Of an archive within an archive, which is held in memory while it is read."""
MOST_ENTRIES = 200_000
_HEADER = 6_000  # characters in which the header of Project Gutenberg stands
_NUMBER = re.compile(r"\[?\s*E(?:Book|text)\s*#?\s*(\d{1,6})\b", re.IGNORECASE)
_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that may be a secondary source; only names, so that it travels easily.

    - `inside`: names of the entries that lead to it: none, one in an archive, two in an archive in an archive.
    """

    path: Path
    inside: tuple[str, ...] = ()
    title: str = ""
    author: str = ""
    origin: str = ""
    licence: str = ""
    number: int | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        """What the file is called, without its folders.

        >>> SourceFile(path=Path("a/criticism.zip"), inside=("essays/138.txt",)).name
        '138.txt'
        """
        return file_name(self.inside[-1] if self.inside else self.path.name)

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return harmless(" in ".join([*reversed(self.inside), str(self.path)]), longest=_LONGEST_PATH)


def list_sources(
    path: Path, *, settings: Settings | None = None, others: list[str] | None = None
) -> Iterator[SourceFile]:
    """List the sources of a file, of a folder and the folders in it, or of an archive, by name.

    Tables (.csv) in them, or beside a file or archive under its name or as ``metadata.csv``, say title, author and
    where a source comes from: a row is found by the file's name, with or without its ending, or by its number. What
    may not be read by the `settings` is passed over. Into `others` go the names of files of kinds that are not read.

    Yields: also what cannot be read as far as that shows: it has a `problem`.

    Raises BadText: what was named is an archive, and damaged; or it may not be read.
    """
    others = [] if others is None else others
    if not path.exists():
        raise NotFound(f"There is no file or folder {path}. Check the name and its folder.")
    if path.is_dir():
        found = list(_in_folder(path, settings, others))
    elif path.suffix.lower() == TABLE:
        raise BadText(f"{path} is a table, and no source: it may say what the texts beside it are. Name the texts.")
    else:
        table, found = SourceTable(), []
        for beside in (path.with_suffix(TABLE), path.parent / f"metadata{TABLE}"):
            if beside.is_file() and beside != path and _may_be_read(beside, settings):
                found += _add(table, SourceFile(path=beside))
        alone = _described(SourceFile(path=path), table)
        found += _in_archive(path, table, others) if path.suffix.lower() == ARCHIVE else [alone]
        if len(found) == 1 and found[0].problem and not found[0].inside:
            raise BadText(found[0].problem)
    if not found:
        raise NotFound(f"{path} holds no text: no .txt, .epub, .xml or .zip file. Name another folder or archive.")
    yield from found


def read_source(file: SourceFile, *, max_bytes: int = 0) -> bytes:
    """Read the bytes of a source, `MOST_BYTES` at most or more where `max_bytes` is; errors name the file."""
    most = max(max_bytes, MOST_BYTES)
    if file.problem:
        raise BadText(file.problem)
    if not file.inside:
        return folder.read_bytes(file.path, max_bytes=most)
    return _entry(_opened(file), file, at_most=most)


def text_of(data: bytes, *, name: str, max_bytes: int = 0) -> str:
    """Decode a source: plain text as it stands, an EPUB or a TEI file as `reading` puts it down."""
    most = max(max_bytes, MOST_BYTES)
    if archives.is_zip(data) or data[:200].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").startswith(b"<"):
        return read_file(data, name=name, segmenter=folder.UNCUT, max_bytes=most).text
    refuse_others(data, data[:_HEADER].decode("utf-8", errors="replace"), "")
    try:
        return decode(data, max_bytes=most)
    except NotText as error:
        raise no_text(error, name) from None


def read_sources(paths: Sequence[Path], *, max_bytes: int = 0) -> Iterator[tuple[SecondarySource, str]]:
    """Read the texts below some paths one by one, each with what it is; what cannot be read is passed over."""
    for path in paths:
        for file in list_sources(path):
            try:
                text = text_of(read_source(file, max_bytes=max_bytes), name=file.name, max_bytes=max_bytes)
            except RelicError:
                continue
            yield describe(file, text), text


def describe(file: SourceFile, text: str) -> SecondarySource:
    """Say what a source is: as its table says, else the header of Project Gutenberg, else the file's name."""
    header = text[:_HEADER]
    metadata = replace(read_metadata(header, ()), **Metadata(file.title, file.author).given)
    title, number = metadata.title or title_of_file(file.name), _NUMBER.search(header)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return replace(
        unread(file),
        id=work_id(title, sha256),
        title=title,
        author=metadata.author,
        sha256=sha256,
        characters=len(text),
        number=file.number or (int(number[1]) if number else None),
    )


def unread(file: SourceFile) -> SecondarySource:
    """Name a source that could not be read: its id is of its name and place, it has no text and no hash."""
    title = harmless(file.title) or title_of_file(file.name)
    return SecondarySource(
        id=work_id(title, hashlib.sha256(file.place.encode()).hexdigest()),
        title=title,
        author=harmless(file.author),
        name=file.name,
        sha256="",
        characters=0,
        number=file.number,
        origin=file.origin or file.place,
        licence=file.licence,
    )


def _may_be_read(path: Path, settings: Settings | None) -> bool:
    return settings is None or not folder.refusal(path, settings)


def _in_folder(path: Path, settings: Settings | None, others: list[str]) -> Iterator[SourceFile]:
    table = SourceTable()
    paths: list[Path] = []
    for parent, folders, names in os.walk(path):
        open_ = (name for name in folders if not _is_hidden(name) and _may_be_read(Path(parent, name), settings))
        folders[:] = sorted(open_)
        for name in sorted(names):
            each = Path(parent, name)
            if not _may_be_read(each, settings):
                continue
            if each.suffix.lower() == TABLE and not _is_hidden(name) and each.is_file():
                yield from _add(table, SourceFile(path=each))
            elif _is_wanted(name) and each.is_file():
                paths.append(each)
            elif not _is_hidden(name):
                others.append(file_name(name))
    for each in paths:
        if each.suffix.lower() == ARCHIVE:
            yield from _in_archive(each, table, others)
        else:
            yield _described(SourceFile(path=each), table)


def _in_archive(path: Path, table: SourceTable, others: list[str], outer: tuple[str, ...] = ()) -> Iterator[SourceFile]:
    here = SourceFile(path=path, inside=outer)
    try:
        archive = _opened(replace(here, inside=(*outer, "")))
    except RelicError as error:
        yield replace(here, problem=str(error))
        return
    infos = [info for info in archive.infolist() if archives.inside(info.filename) and not info.is_dir()]
    infos = sorted((info for info in infos if not _is_hidden(info.filename)), key=lambda info: info.filename)
    for info in infos:
        if info.filename.lower().endswith(TABLE):
            yield from _add(table, replace(here, inside=(*outer, info.filename)))
        elif not _is_wanted(info.filename):
            others.append(file_name(info.filename))
    for info in (each for each in infos if _is_wanted(each.filename)):
        file = replace(here, inside=(*outer, info.filename))
        if not info.filename.lower().endswith(ARCHIVE):
            yield _described(file, table)
        elif outer:
            yield replace(
                file,
                problem=f"'{info.filename[:200]}' is an archive in an archive in an archive ({here.place}); only one "
                "within another is opened. Unpack the outer one and name the folder.",
            )
        else:
            yield from _in_archive(path, table, others, (info.filename,))


def _add(table: SourceTable, file: SourceFile) -> Iterator[SourceFile]:
    """Read a table; one that cannot be read is reported, and the sources go without it."""
    try:
        table.add(read_source(file, max_bytes=MOST_TABLE_BYTES))
    except RelicError as error:
        yield replace(file, problem=str(error))


def _described(file: SourceFile, table: SourceTable) -> SourceFile:
    row = table.row_of(file.name)
    number = row.get("number", "")
    return replace(
        file,
        title=row.get("title", ""),
        author=row.get("author", ""),
        origin=harmless(row.get("origin", ""), longest=_LONGEST_PATH),
        licence=harmless(row.get("licence", "")),
        number=int(number) if re.fullmatch(r"[0-9]{1,6}", number) else None,
    )


def _opened(file: SourceFile) -> zipfile.ZipFile:
    outer = file.inside[:-1]
    try:
        return _open_cached(file.path, outer, file.path.stat().st_mtime_ns)
    except (zipfile.BadZipFile, OSError) as error:
        where = outer[0] if outer else str(file.path)
        raise BadText(
            f"The archive {storable(where)} cannot be opened ({str(error)[:120]}). Fetch it again, or unpack it and "
            "name the folder."
        ) from None


@lru_cache(maxsize=2)
def _open_cached(path: Path, outer: tuple[str, ...], modified: int) -> zipfile.ZipFile:
    """Open an archive, or one within it, and leave it open: its texts are read one by one, and its list is long."""
    del modified  # part of the cache's key
    if outer:
        file = SourceFile(path=path, inside=outer)
        archive = archives.opened(io.BytesIO(_entry(_opened(file), file, at_most=MOST_ARCHIVE_BYTES)))
    else:
        archive = archives.opened(path)
    if len(archive.infolist()) > MOST_ENTRIES:
        raise UnsafeFile(
            f"The archive {storable(str(path))} holds {len(archive.infolist()):,} entries; at most "
            f"{MOST_ENTRIES:,} are allowed. Unpack it and name the folders one by one."
        )
    return archive


def _entry(archive: zipfile.ZipFile, file: SourceFile, *, at_most: int) -> bytes:
    name = file.inside[-1]
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise NotFound(f"{file.place} is not there any more. List the sources again.") from None
    if info.flag_bits & 1:
        raise UnsafeFile(f"{file.place} is locked with a password. Unpack the archive with the program that made it.")
    if info.compress_type not in archives.METHODS:
        raise BadText(
            f"{file.place} is packed in a way that is not read here. Unpack the archive and name the folder, or pack "
            "it as an ordinary zip archive."
        )
    try:
        return archives.unpack(archive, info, at_most=at_most)
    except zipfile.BadZipFile as error:
        raise BadText(f"{file.place} is damaged ({str(error)[:120]}). Fetch it again.") from None


def _is_wanted(name: str) -> bool:
    return name.lower().endswith((*SUFFIXES, ARCHIVE)) and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name.replace("\\", "/")).parts)
