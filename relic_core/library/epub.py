"""EPUB: e-books, with their chapters, verse, italics and notes, read in memory by the standard library and lxml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.errors import BadText, EmptyText
from relic_core.library.archives import MOST_UNPACKED, Archive
from relic_core.library.composing import About, compose
from relic_core.library.epub_outline import outline
from relic_core.library.epub_package import read_package
from relic_core.library.epub_pages import Found, Page
from relic_core.library.leaves import refuse_many_paragraphs
from relic_core.library.markup import count_elements, decode_markup, parse_html, refuse_many
from relic_core.text.decoding import too_large

if TYPE_CHECKING:
    from relic_core.domain import EditionDetails, Work
    from relic_core.ports import Segmenter
    from relic_core.text.metadata import Metadata


def read_epub(
    data: bytes, *, name: str, said: Metadata, source: str, max_bytes: int, segmenter: Segmenter | None = None
) -> tuple[Work, tuple[str, ...], EditionDetails]:
    """Read a work from the bytes of an EPUB.

    Pages that the book names and does not hold are passed over as long as others have text.

    - `source`: where the file came from.
    - `max_bytes`: largest size accepted, of all pages together.
    - `segmenter`: in place of `sentences.default_segmenter`.

    What it returns:
    - `work, missing, details`: `missing` names the pages that the book lists and does not hold; `details` is what it
      says of its edition.

    Raises BadText: it is damaged, or no EPUB.
    Raises TextTooLarge: its pages have more bytes than `max_bytes`.
    Raises EmptyText: it holds no text of a work.
    Raises UnsafeFile: it is locked, or made to grow without end: it has more elements or paragraphs than any book.
    """
    archive = Archive(data)
    package = read_package(archive)
    found: list[Found] = []
    asides: list[Found] = []
    size = elements = 0
    for path in package.pages:
        if path == package.navigation:
            continue  # the contents list again
        what = f"The page '{path[:200]}' of the EPUB"
        data_of_page = archive.read(path)
        size += len(data_of_page)
        if size > max_bytes:
            raise too_large(size, max_bytes=max_bytes, what="The pages of the EPUB have together")
        text = decode_markup(data_of_page, what=what, max_bytes=MOST_UNPACKED) if data_of_page.strip() else ""
        elements += count_elements(text)
        refuse_many(elements, what="The EPUB")
        page = Page(parse_html(text, what=what), path).found if text else []
        refuse_many_paragraphs(len(found) + len(asides) + len(page), what="The EPUB")
        (asides if path in package.asides else found).extend(page)
    known = package.metadata
    items = outline(
        [*found, *asides], package.contents, title=said.title or known.title, author=said.author or known.author
    )
    about = About(name=name, said=said, found=known, source=source, format="EPUB")
    try:
        return compose(items, about, segmenter=segmenter), package.missing, package.details
    except EmptyText:
        if not package.missing:
            raise
        raise BadText(
            f"The EPUB holds no text: '{package.missing[0][:200]}', which it names"
            + (f" with {len(package.missing) - 1} more" if len(package.missing) > 1 else "")
            + ", is missing from it. Fetch the book again; it did not arrive whole."
        ) from None
