"""Texts on disk: reading a file with care, listing a folder of them."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from relic_core.config import FILE, NAMED_BY, Settings
from relic_core.errors import BadRequest, BadText, NotFound, RelicError
from relic_core.library.catalogue import SUFFIXES
from relic_core.library.reading import read_file
from relic_core.text.decoding import decode, harmless, too_large
from relic_core.text.metadata import read_metadata
from relic_core.text.reading import title_of_file

_HEAD_BYTES = 4_000
_SECRET = {FILE, "secrets.toml"}
_PROCESSES = Path("/proc")
"""Where Linux shows environment and memory of programs as if they were files."""
_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that could become a work, with a title by its heading, else by its name; in bytes and nanoseconds."""

    path: Path
    title: str
    size: int
    modified: int


def list_texts(folder: Path) -> tuple[TextFile, ...]:
    """List the .txt, .epub and .xml files of a folder by name."""
    try:
        paths = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
        )
    except FileNotFoundError:
        raise NotFound(
            f"There is no folder {folder}. Make it, or name another (RELIC_LIBRARY names the library)."
        ) from None
    except NotADirectoryError:
        raise BadRequest(f"{folder} is a file; a folder of texts is wanted here.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", error)
        raise BadRequest(
            f"The folder {folder} cannot be read ({why}). Name another or change its permissions."
        ) from None
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue  # it has just gone
        title = _title(path, status.st_mtime_ns)
        found.append(TextFile(path=path, title=title, size=status.st_size, modified=status.st_mtime_ns))
    return tuple(found)


def texts_in(folder: Path) -> tuple[Path, ...]:
    """List the .txt, .epub and .xml files of a folder by name. Raises NotFound: it has none."""
    paths = tuple(text.path for text in list_texts(folder))
    if not paths:
        raise NotFound(f"The folder {folder} has no .txt file, and no .epub or .xml.")
    return paths


def find_file(given: str, library: Path | None) -> Path:
    """Find the file a person means: a path, or the name of a file of the library folder, with or without its end.

    Nothing is checked of a path that is neither; reading it tells what is wrong.
    """
    try:
        path = Path(given).expanduser()
    except RuntimeError:
        raise NotFound(f"There is no home folder for '{given}'. Write the path in full.") from None
    if library is not None and not mode_of(path):
        for candidate in (library / given, *(library / f"{given}{suffix}" for suffix in SUFFIXES)):
            if stat.S_ISREG(mode_of(candidate)):
                return candidate
    return path


def refusal(path: Path, settings: Settings) -> str:
    """Say why a file or folder may not be read by its path; nothing where it may. Links and ``..`` are followed first.

    Refused to everybody: hidden files, files of settings and secrets, the data folder but for uploaded sources, the
    indexes. Where `settings.read_from` names folders, all that lies in none of them, nor in the library folder.
    """
    name = harmless(str(path), longest=_LONGEST_PATH)
    try:
        found = path.expanduser().resolve()
        ours = [each.resolve() for each in (settings.data, settings.indexes, _PROCESSES)]
        listed = [each.resolve() for each in (settings.library, *settings.read_from, settings.sources) if each]
        secret = {*_SECRET, Path(os.environ.get(NAMED_BY, FILE)).name.casefold()}
    except (OSError, RuntimeError, ValueError) as error:  # a null character, a link to itself, nobody's home
        return f"{name} cannot be read ({error}). Check the path, and write it in full."
    listed += [] if settings.read_from else [Path(found.anchor)]
    bases = [base for base in listed if found.is_relative_to(base)]
    if not bases:
        return (
            f"{name} is in none of the folders that may be read by a path. Upload the file, or ask the person who runs "
            "this library to put it into the library folder or to name its folder in RELIC_READ_FROM."
        )
    for base in bases if found.name.casefold() not in secret else ():
        hidden = any(part.startswith(".") for part in found.relative_to(base).parts)
        if not hidden and not any(found.is_relative_to(each) and each not in base.parents for each in ours):
            return ""
    return (
        f"{name} is not read by its path: hidden files, settings, secrets and the program's own folders never are. "
        "Copy the text into another folder and name it there."
    )


def admit(path: Path, settings: Settings) -> Path:
    """Give a path back that may be read. Raises BadRequest: it may not; see `refusal`."""
    if why := refusal(path, settings):
        raise BadRequest(why)
    return path


def mode_of(path: Path) -> int:
    """Look up what a path is, for `stat.S_ISREG` and its like; 0, which is nothing, where that cannot be seen."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # ValueError: a name with a null character
        return 0


def read_bytes(path: Path, *, max_bytes: int) -> bytes:
    """Read a file, unless it is larger than allowed; of a path that cannot be read the error says what it is."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise BadRequest(f"{path} is a folder; a text file is wanted here.")
        if not stat.S_ISREG(status.st_mode):
            raise BadRequest(f"{path} is not an ordinary file; a text file is wanted here.")
        if status.st_size > max_bytes:
            raise too_large(status.st_size, max_bytes=max_bytes)
        with path.open("rb") as file:
            return file.read(max_bytes + 1)  # no more, should it have grown meanwhile
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no file {path}. Check the name and its folder.") from None
    except (OSError, ValueError) as error:
        raise BadText(
            f"{path} cannot be read ({getattr(error, 'strerror', error)}). Check the name, change the permissions of "
            "the file and its folder, or copy it elsewhere."
        ) from None


@lru_cache(maxsize=2_000)
def text_sha256(path: Path, *, modified: int, max_bytes: int) -> str:
    """Compute the sha256 of a file's text, as a work has it, anew when modified; empty for what can be no work."""
    del modified  # part of the cache's key
    try:
        data = read_bytes(path, max_bytes=max_bytes)
        if path.suffix.lower() == ".txt":
            return hashlib.sha256(decode(data, max_bytes=max_bytes).encode()).hexdigest()
        return read_file(data, name=path.name, segmenter=UNCUT, max_bytes=max_bytes).sha256
    except RelicError:
        return ""


class _Uncut:
    """Takes each paragraph for a sentence: the text of a work does not depend on how it is cut."""

    identity = "uncut/1"

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:  # noqa: ARG002 - the port's signature
        return [(start, end)]


UNCUT = _Uncut()
"""For reading the text of a file alone."""


@lru_cache(maxsize=2_000)
def _title(path: Path, modified: int) -> str:
    del modified  # part of the cache's key
    if path.suffix.lower() != ".txt":
        return title_of_file(path.name)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", errors="replace")
    except OSError:
        head = ""  # it is listed by its name; adding it tells what is wrong
    return read_metadata(head, ()).title or title_of_file(path.name)
