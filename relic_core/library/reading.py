"""From the bytes of any file that is accepted to a work: plain text, EPUB, TEI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.text.reading import read_work

if TYPE_CHECKING:
    from relic_core.domain import Work


def read_file(  # noqa: PLR0913 - the metadata of a work, each by its name
    data: bytes,
    *,
    name: str,
    title: str = "",
    author: str = "",
    translator: str = "",
    year: int | None = None,
    source: str = "",
    max_bytes: int = Settings.max_text_bytes,
) -> Work:
    """Read a work from the bytes of a file, whatever its format; parameters and errors as `text.reading.read_work`."""
    return read_work(
        data,
        name=name,
        title=title,
        author=author,
        translator=translator,
        year=year,
        source=source,
        max_bytes=max_bytes,
    )
