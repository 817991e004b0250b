"""EPUB: e-books, with their chapters, verse, italics and notes, read in memory by the standard library and lxml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadText, EmptyText
from relic_core.library.archives import MOST_UNPACKED, Archive
from relic_core.library.composing import About, compose
from relic_core.library.epub_outline import outline
from relic_core.library.epub_package import read_package
from relic_core.library.epub_pages import Found, Page
from relic_core.library.markup import decode_markup, parse_html

if TYPE_CHECKING:
    from relic_core.domain import Work
    from relic_core.ports import Segmenter
    from relic_core.text.metadata import Metadata


def read_epub(data: bytes, *, name: str, said: Metadata, source: str, segmenter: Segmenter | None = None) -> Work:
    """Read a work from the bytes of an EPUB.

    Pages that the book names and does not hold are passed over as long as others have text; `missing_pages` names them.

    Parameters
    ----------
    data : bytes
        The whole file.
    name : str
        Its name.
    said : Metadata
        What a reader said about the work.
    source : str
        Where the file came from.
    segmenter : Segmenter, optional
        In place of `sentences.default_segmenter`.

    Raises
    ------
    BadText
        It is damaged, or no EPUB.
    EmptyText
        It holds no text of a work.
    UnsafeFile
        It is locked, or made to grow without end.
    """
    archive = Archive(data)
    package = read_package(archive)
    found: list[Found] = []
    asides: list[Found] = []
    for path in package.pages:
        if path == package.navigation:
            continue  # the contents list again
        page = _page(archive, path)
        (asides if path in package.asides else found).extend(page)
    known = package.metadata
    items = outline(
        [*found, *asides], package.contents, title=said.title or known.title, author=said.author or known.author
    )
    about = About(name=name, said=said, found=known, source=source, format="EPUB")
    try:
        return compose(items, about, segmenter=segmenter)
    except EmptyText:
        if not package.missing:
            raise
        raise BadText(
            f"The EPUB holds no text: '{package.missing[0][:200]}', which it names"
            + (f" with {len(package.missing) - 1} more" if len(package.missing) > 1 else "")
            + ", is missing from it. Fetch the book again; it did not arrive whole."
        ) from None


def missing_pages(data: bytes) -> tuple[str, ...]:
    """Name the pages that an EPUB lists and does not hold.

    Raises
    ------
    BadText, UnsafeFile
        As `read_epub`.
    """
    return read_package(Archive(data)).missing


def _page(archive: Archive, path: str) -> list[Found]:
    what = f"The page '{path[:200]}' of the EPUB"
    data = archive.read(path)
    if not data.strip():
        return []
    return Page(parse_html(decode_markup(data, what=what, max_bytes=MOST_UNPACKED), what=what), path).found
