"""Finding the texts of sources again, and telling others where they came from."""

from __future__ import annotations

import re
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

    - `max_bytes`: as of `read_source`.

    Raises NotFound: a path is not there, or holds no text.
    Raises BadText: a path is an archive, and damaged.
    """
    for path in paths:
        for file in list_sources(path):
            try:
                text = text_of(read_source(file, max_bytes=max_bytes), name=file.name, max_bytes=max_bytes)
            except RelicError:
                continue
            yield describe(file, text), text


def told_origin(source: SecondarySource) -> str:
    """Say where a source came from as far as its table told; a place on this machine is left away.

    >>> from types import SimpleNamespace
    >>> told_origin(SimpleNamespace(name="138.txt", origin="https://www.gutenberg.org/138.txt"))
    'https://www.gutenberg.org/138.txt'
    >>> told_origin(SimpleNamespace(name="138.txt", origin="essays/138.txt in /books/a/criticism.zip"))
    ''
    """
    is_place = re.fullmatch(rf"(?:.*/)?{re.escape(source.name)}(?: in .+)?", source.origin, re.DOTALL)
    return "" if is_place and "://" not in source.origin else source.origin
