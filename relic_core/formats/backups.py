"""A back-up: a zip of the files of a library and a manifest that says what made it and what every file has to hold.

::

    manifest.json       format, versions, date, and of every other member its size and sha256
    relic.toml          the settings it was made under; restoring does not touch those in force
    data/…              the files of the data folder, the store among them as it stood at one moment
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import posixpath
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, Self

from relic_core.errors import BadBackup, NotFound
from relic_core.formats.files import FileDigest, Strict, record_of
from relic_core.library.archives import METHODS, opened

FORMAT = 1
MANIFEST = "manifest.json"
SETTINGS = "relic.toml"
DATA = "data/"

_CHUNK = 1 << 20
_MOST_MANIFEST = 64_000_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading a member may raise where it is damaged, locked, or packed in a way that is not read."""
_PACKED_ALREADY = {".safetensors", ".zip", ".epub", ".parquet"}


class Manifest(Strict):
    """What a back-up says of itself.

    - `own`: its works without the sample; None where an earlier version made it.
    - `left_out`: what of the data folder is not in it, and why.
    """

    format: Literal[1] = 1
    program: str
    store_version: int
    store_engine: str
    created: str
    works: int
    own: int | None = None
    store: str
    left_out: tuple[str, ...]
    members: dict[str, FileDigest]

    @property
    def bytes(self) -> int:
        """Size of all files together, unpacked."""
        return sum(member.bytes for member in self.members.values())


class _Version(Strict):
    format: int
    program: str = "not said which"


class BackupWriter:
    """Writes a back-up into an open file, member by member."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.members: dict[str, FileDigest] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, ValueError):  # a back-up that was given up: its end does not matter
            self._zip.close()

    def add(self, name: str, path: Path) -> FileDigest:
        """Add a file; what is hashed is what is written, also where somebody appends to it meanwhile."""
        info = zipfile.ZipInfo(name)
        packed = path.suffix.lower() in _PACKED_ALREADY
        info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as source, self._zip.open(info, "w", force_zip64=True) as target:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
        self.members[name] = FileDigest(bytes=size, sha256=digest.hexdigest())
        return self.members[name]

    def add_text(self, name: str, text: str) -> None:
        """Add a small file by its words."""
        data = text.encode()
        self._zip.writestr(name, data)
        self.members[name] = FileDigest(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def close(self, manifest: Manifest) -> None:
        """Write the manifest and the end of the zip."""
        self._zip.writestr(MANIFEST, json.dumps(manifest.model_dump(), indent=1, ensure_ascii=False))
        self._zip.close()


class BackupFile:
    """A back-up to be restored; its names are checked when it is opened, its bytes when they are unpacked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = opened(path)
        except FileNotFoundError:
            raise NotFound(
                f"There is no file {path}. Name a back-up that `python -m relic_core backup` made."
            ) from None
        except PermissionError as error:
            raise BadBackup(f"{path} cannot be read ({error.strerror}).") from error
        except zipfile.BadZipFile as error:
            raise self._bad(f"it is not a zip file, or is cut short ({error})") from error
        self.manifest = self._read_manifest()
        self._check_names()

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()

    def unpack(self, name: str, target: Path) -> None:
        """Unpack a member, holding it to its size and hash while it is written."""
        expected = self.manifest.members[name]
        digest, size = hashlib.sha256(), 0
        try:
            with self._zip.open(name) as source, target.open("xb") as out:
                while size <= expected.bytes and (chunk := source.read(_CHUNK)):
                    digest.update(chunk)
                    size += len(chunk)
                    out.write(chunk)
        except _DAMAGED as error:
            raise self._bad(f"its member {name} is damaged ({error})") from error
        if (size, digest.hexdigest()) != (expected.bytes, expected.sha256):
            raise self._bad(f"its member {name} does not hold what the manifest says: it was damaged or changed")

    def _read_manifest(self) -> Manifest:
        try:
            info = self._zip.getinfo(MANIFEST)
            if info.file_size > _MOST_MANIFEST:
                raise self._bad("its manifest is too large")
            manifest = self._zip.read(info)
            head = record_of(_Version, manifest, extra="ignore")
            if head.format > FORMAT:
                raise BadBackup(
                    f"{self.path} was made by a newer version of this program ({head.program:.80}). Nothing was "
                    "changed. Update the program and restore again."
                )
        except KeyError:
            raise self._bad(f"it has no {MANIFEST}, so it is not a back-up of this program") from None
        except (*_DAMAGED, ValueError) as error:
            raise self._bad(f"its manifest cannot be read ({error!s:.300})") from error
        try:
            return record_of(Manifest, manifest)
        except ValueError as error:
            raise self._bad(f"its manifest is incomplete ({error!s:.300})") from None

    def _check_names(self) -> None:
        there = self._zip.infolist()
        names = [info.filename for info in there]
        for info in there:
            name = info.filename
            if not _stays_inside(name) or stat.S_ISLNK(info.external_attr >> 16):
                raise self._bad(f"its member '{name[:200]}' would lead out of the data folder")
            if info.compress_type not in METHODS or info.flag_bits & 1:
                raise self._bad(f"its member {name[:200]} is packed as no back-up of this program is")
        expected = {MANIFEST, *self.manifest.members}
        if len(names) != len(set(names)) or set(names) != expected:
            odd = sorted(set(names) ^ expected) or sorted(name for name in set(names) if names.count(name) > 1)
            raise self._bad(f"it does not hold the files that its manifest lists ({odd[0][:200]})")
        if DATA + self.manifest.store not in expected or SETTINGS not in expected or MANIFEST in self.manifest.members:
            raise self._bad(f"its manifest lists no store, no {SETTINGS}, or itself")
        for name in self.manifest.members:
            if above := next((each for each in PurePosixPath(name).parents if str(each) in expected), None):
                raise self._bad(f"its member {name[:200]} lies in {above}, which is a file")

    def _bad(self, why: str) -> BadBackup:
        return BadBackup(f"{self.path} cannot be restored: {why}. Nothing was changed. Take another back-up.")


def is_backup(path: Path) -> bool:
    """Whether a file is a back-up of this program, of whatever version."""
    try:
        with opened(path) as archive:
            return {MANIFEST, SETTINGS} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _stays_inside(name: str) -> bool:
    """Whether a name leads to a file below the data folder, or is one of the two beside it.

    >>> [_stays_inside(name) for name in ("data/sources/a.txt", "data/../x", "/etc/passwd", "data//x", "data/.hidden")]
    [True, False, False, False, True]
    """
    if name in {MANIFEST, SETTINGS}:
        return True
    plain = "\\" not in name and "\0" not in name and posixpath.normpath(name) == name
    return plain and name.startswith(DATA) and ".." not in name.split("/")
