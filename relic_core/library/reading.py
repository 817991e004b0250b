"""From the bytes of any file that is accepted to a work: plain text, EPUB, TEI.

The format is told by what is in the file, never by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.library import archives
from relic_core.library.composing import Edition
from relic_core.library.epub import read_epub
from relic_core.library.markup import root_name
from relic_core.library.refusals import refuse_documents, refuse_others
from relic_core.library.tei import ROOTS, read_tei
from relic_core.text.decoding import too_large
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work

if TYPE_CHECKING:
    from relic_core.domain import Work
    from relic_core.ports import Segmenter

_HEAD = 100_000
"""Bytes in which the first element of an XML file stands, comments and document type before it."""


def read_file(
    data: bytes, *, name: str, segmenter: Segmenter | None = None, max_bytes: int = Settings.max_text_bytes
) -> Work:
    """Read a work as `read_edition` does."""
    return read_edition(data, name=name, segmenter=segmenter, max_bytes=max_bytes).work


def read_edition(
    data: bytes,
    *,
    name: str,
    metadata: Metadata = Metadata(),  # noqa: B008 - frozen
    source: str = "",
    segmenter: Segmenter | None = None,
    max_bytes: int = Settings.max_text_bytes,
) -> Edition:
    """Read a work from the bytes of a file, whatever its format; parameters as `text.reading.read_work`.

    Raises EmptyText, NotText, TextTooLarge: as `decoding.decode`; also where a file holds no text of a work.
    Raises BadText: a damaged EPUB or TEI file, or one without a text.
    Raises OtherFormat: a document of a kind that is not read, such as a PDF or a web page.
    Raises UnsafeFile: a file made to grow without end or to reach outside itself, or a locked one.
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes=max_bytes)
    if archives.is_zip(data):
        refuse_documents(data)
        return read_epub(data, name=name, metadata=metadata, source=source, max_bytes=max_bytes, segmenter=segmenter)
    head = _head(data)
    root = root_name(head) if head.lstrip("\ufeff \t\r\n").startswith("<") else ""
    if root.lower() in ROOTS:
        return read_tei(data, name=name, metadata=metadata, source=source, max_bytes=max_bytes, segmenter=segmenter)
    refuse_others(data, head, root)
    return Edition(
        read_work(data, name=name, metadata=metadata, source=source, segmenter=segmenter, max_bytes=max_bytes)
    )


def _head(data: bytes) -> str:
    """Decode the beginning of a file as far as telling its format needs."""
    head = data[:_HEAD]
    for start, encoding in (
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"<\x00", "utf-16-le"),
        (b"\x00<", "utf-16-be"),
    ):
        if head.startswith(start):
            return head.decode(encoding, errors="replace").lstrip("\ufeff")
    return head.decode("utf-8", errors="replace").lstrip("\ufeff")
