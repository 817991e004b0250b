"""Finding the texts of sources again: among files of this machine, or at Project Gutenberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import RelicError
from relic_core.library.secondary import describe, list_sources, read_source, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from relic_core.domain import SecondarySource


def texts(paths: Sequence[Path], *, max_bytes: int = 0) -> Iterator[tuple[SecondarySource, str]]:
    """Read the texts below some paths one by one, each with what it is.

    What cannot be read is passed over: whoever looks for a text by its hash is told that it was not found.

    Parameters
    ----------
    paths : sequence of Path
        Files, folders and archives.
    max_bytes : int
        As of `read_source`.

    Raises
    ------
    NotFound
        A path is not there, or holds no text.
    BadText
        A path is an archive, and damaged.
    """
    for path in paths:
        for file in list_sources(path):
            try:
                text = text_of(read_source(file, max_bytes=max_bytes), name=file.name, max_bytes=max_bytes)
            except RelicError:
                continue
            yield describe(file, text), text
