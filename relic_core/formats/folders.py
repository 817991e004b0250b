"""Folders of files that belong together: there whole or not at all, and told from a folder that is somebody else's."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, StoreError
from relic_core.formats.files import check_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def written_folder(path: Path, marker: str) -> Iterator[Path]:
    """Give a folder to write into that appears under its name only when all is written.

    One that is there is replaced if it is empty or holds the marker, a file that has to be written into it.

    Raises BadRequest: there is something else under that name, or none can be.
    """
    check_path(path)
    path = path.resolve()  # "." has no name beside which to write, and a link is to stay one
    half, old = (path.parent / f".{path.name}.{secrets.token_hex(4)}.{end}" for end in ("half", "old"))
    try:
        _refuse_others(path, marker)
        half.mkdir()
        yield half
        if path.exists():
            path.rename(old)
        half.rename(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}). Name a folder inside one that is there, is yours to write "
            "and has room."
        ) from error
    finally:
        if old.exists() and not path.exists():  # the second of the two moves failed
            old.rename(path)
        for gone in (half, old):
            shutil.rmtree(gone, ignore_errors=True)


def _refuse_others(path: Path, marker: str) -> None:
    if not path.exists() or (path.is_dir() and ((path / marker).is_file() or not any(path.iterdir()))):
        return
    what = f"a folder that holds other things (no {marker})" if path.is_dir() else "a file"
    raise BadRequest(f"{path} is {what}. Name a folder that is not there yet, an empty one, or an earlier export.")
