"""Zip archives read in memory and with suspicion: nothing is unpacked to disk, and sizes are counted while reading."""

from __future__ import annotations

import posixpath
import re
import unicodedata
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from relic_core.errors import BadText, NotFound, TextTooLarge, UnsafeFile
from relic_core.text.decoding import too_large

MOST_ENTRIES = 5_000
MOST_UNPACKED = 100_000_000
_MOST_RATIO = 200
_RATIO_FROM = 1_000_000
"""Bytes unpacked: smaller entries may be packed as tightly as they like."""
_ENTRY = b"PK\x01\x02"
_CHUNK = 1 << 16
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_zip(data: bytes) -> bool:
    """Whether a file begins as a zip archive does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


class Archive:
    """A zip archive held in memory. Raises UnsafeFile: too many entries, or it unpacks to more than is allowed.

    - `size`: bytes that its entries say they unpack to.
    """

    def __init__(self, data: bytes) -> None:
        entries = data.count(_ENTRY)  # counted before zipfile makes an object of each
        if entries > MOST_ENTRIES:
            raise UnsafeFile(
                f"The archive holds {entries:,} entries; at most {MOST_ENTRIES:,} are allowed, and a book needs a few "
                "hundred. Add the work as plain text."
            )
        try:
            self._zip = opened(BytesIO(data))
        except zipfile.BadZipFile as error:
            raise _damaged(error) from None
        self._budget = MOST_UNPACKED
        self._read: dict[str, bytes] = {}
        self._entries = {
            name: info for info in self._zip.infolist() if (name := inside(info.filename)) and not info.is_dir()
        }
        self._folded = {_folded(name): name for name in self._entries}
        self.size = sum(info.file_size for info in self._zip.infolist())
        if self.size > MOST_UNPACKED:
            raise _too_much()

    @property
    def names(self) -> frozenset[str]:
        """Names of the entries, as paths from the root; names that lead out of it are not among them."""
        return frozenset(self._entries)

    def find(self, path: str) -> str:
        """Return the name of the entry at a path, in whatever case or form it is written; empty where there is none."""
        return path if path in self._entries else self._folded.get(_folded(path), "")

    def read(self, path: str) -> bytes:
        """Unpack an entry. Raises UnsafeFile: it is encrypted, or it or all that was read grows too much."""
        name = self.find(path)
        if not name:
            raise NotFound(f"The archive holds no entry '{path[:200]}'.")
        if name not in self._read:
            self._read[name] = self._unpack(name)
        return self._read[name]

    def _unpack(self, name: str) -> bytes:
        info = self._entries[name]
        if info.flag_bits & 1:
            raise UnsafeFile(
                "The archive is locked with a password. Unlock it with the program that made it, or add another "
                "edition."
            )
        if info.compress_type not in METHODS:
            raise BadText(
                f"The entry '{name[:200]}' is packed in a way that EPUB does not allow. Open the book in an editor "
                "such as Sigil, save it again, and add that."
            )
        try:
            data = unpack(self._zip, info, at_most=self._budget)
        except zipfile.BadZipFile as error:
            raise _damaged(error) from None
        except TextTooLarge:
            raise _too_much() from None
        self._budget -= len(data)
        return data


def opened(file: Path | BinaryIO) -> zipfile.ZipFile:
    """Open an archive. Raises zipfile.BadZipFile: it is damaged, in whatever way."""
    try:
        return zipfile.ZipFile(file)
    except (FileNotFoundError, PermissionError):
        raise
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError) as error:
        raise zipfile.BadZipFile(str(error)) from None


def unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, *, at_most: int) -> bytes:
    """Unpack an entry, counting while reading. Raises BadZipFile: damaged; UnsafeFile: it grows as no text does."""
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(info) as entry:
            while piece := entry.read(_CHUNK):
                size += len(piece)
                if size > at_most:
                    raise too_large(
                        max(size, info.file_size), max_bytes=at_most, what=f"The entry '{info.filename[:200]}' has"
                    )
                if size > _RATIO_FROM and size > _MOST_RATIO * max(1, info.compress_size):
                    raise UnsafeFile(
                        f"The entry '{info.filename[:200]}' unpacks to more than {_MOST_RATIO} times its size, as no "
                        "text does: the file is made to fill the memory and is not opened. Fetch the book elsewhere."
                    )
                pieces.append(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise zipfile.BadZipFile(str(error)) from None
    return b"".join(pieces)


def resolve(base: str, href: str) -> tuple[str, str]:
    """Resolve a reference inside an archive to path and fragment; empty where it leads out of the archive.

    >>> resolve("OEBPS/content.opf", "text/ch%201.xhtml#p3"), resolve("OEBPS/content.opf", "../../etc/passwd")
    (('OEBPS/text/ch 1.xhtml', 'p3'), ('', ''))
    """
    place, _, fragment = href.strip().partition("#")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", place):
        return "", ""
    place = unquote(place.partition("?")[0])
    if not place:
        return base, unquote(fragment)
    path = inside(posixpath.join(posixpath.dirname(base), place.replace("\\", "/")))
    return path, unquote(fragment) if path else ""


def inside(name: str) -> str:
    """Normalise a path; empty for one that leads out of the archive or names nothing."""
    name = name.replace("\\", "/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or "\x00" in name:
        return ""
    path = posixpath.normpath(name)
    return "" if path in {".", ""} or path.split("/")[0] == ".." else path


def _folded(path: str) -> str:
    """Fold case, and put together accents that macOS writes apart."""
    return unicodedata.normalize("NFC", path).casefold()


def _too_much() -> UnsafeFile:
    return UnsafeFile(
        f"The archive unpacks to more than {MOST_UNPACKED // 1_000_000} MB, which is more than any book's text. It is "
        "not opened. If it is a book with many pictures or sounds, add the work as plain text."
    )


def _damaged(error: Exception) -> BadText:
    why = " ".join(str(error).split())[:120]
    return BadText(
        f"The file is a zip archive, as EPUBs are, but a damaged one{f' ({why})' if why else ''}. Fetch it again; if "
        "it is damaged there too, add another edition."
    )
