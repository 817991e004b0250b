"""From the bytes of any file that is accepted to a work: plain text, EPUB, TEI.

The format is told by what is in the file, never by its name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.errors import BadText, OtherFormat
from relic_core.library import archives, epub
from relic_core.library.markup import is_web_page, root_name
from relic_core.library.tei import ROOTS, read_tei
from relic_core.text.decoding import too_large
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work

if TYPE_CHECKING:
    from relic_core.domain import Work
    from relic_core.ports import Segmenter

_HEAD = 100_000
"""Bytes in which the first element of an XML file stands, comments and document type before it."""
_OTHERS = (
    (b"{\\rtf", "an RTF document", "Open it in a word processor and save it as plain text in UTF-8"),
    (
        b"\xd0\xcf\x11\xe0",
        "a document of an older word processor (.doc)",
        "Open it there and save it as plain text in UTF-8",
    ),
    (b"7z\xbc\xaf", "a 7z archive", "Unpack it and add the files in it one by one"),
    (b"Rar!", "a RAR archive", "Unpack it and add the files in it one by one"),
    (b"\x1f\x8b", "a file packed with gzip", "Unpack it and add the file in it"),
)
_DOCUMENTS = (
    ("word/", "a document of Word (.docx)"),
    ("xl/", "a table of Excel (.xlsx)"),
    ("ppt/", "a presentation (.pptx)"),
    ("content.xml", "an OpenDocument file, as LibreOffice writes them (.odt)"),
    ("Index/", "a document of Pages (.pages)"),
)
_TAG = re.compile(r"</?(?:p|div|span|br|a|td|tr|li|script)\b[^<>]{0,200}>", re.IGNORECASE)
_MOST_TAGS = 20
_TAGGED = 400
"""Characters. Where so few stand between two tags of a page, the file is a page, cut off or not."""
_READ = "Plain text (.txt), EPUB (.epub) and TEI (.xml) can be added."


def read_file(  # noqa: PLR0913 - the metadata of a work, each by its name
    data: bytes,
    *,
    name: str,
    title: str = "",
    author: str = "",
    translator: str = "",
    year: int | None = None,
    source: str = "",
    segmenter: Segmenter | None = None,
    max_bytes: int = Settings.max_text_bytes,
) -> Work:
    """Read a work from the bytes of a file, whatever its format; parameters as `text.reading.read_work`.

    Raises
    ------
    EmptyText, NotText, TextTooLarge
        As `decoding.decode`; also where an EPUB or TEI file holds no text of a work.
    BadText
        A damaged EPUB or TEI file, or one without a text.
    OtherFormat
        A document of a kind that is not read, such as a PDF or a web page.
    UnsafeFile
        A file made to grow without end or to reach outside itself, or a locked one.
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes=max_bytes)
    said = Metadata(title, author, translator, year)
    if archives.is_zip(data):
        _refuse_documents(data)
        return epub.read_epub(data, name=name, said=said, source=source, segmenter=segmenter)
    head = _head(data)
    root = root_name(head) if head.lstrip("\ufeff \t\r\n").startswith("<") else ""
    if root.lower() in ROOTS:
        return read_tei(data, name=name, said=said, source=source, max_bytes=max_bytes, segmenter=segmenter)
    _refuse_others(data, head, root)
    return read_work(
        data,
        name=name,
        title=title,
        author=author,
        translator=translator,
        year=year,
        source=source,
        segmenter=segmenter,
        max_bytes=max_bytes,
    )


def missing_pages(data: bytes) -> tuple[str, ...]:
    """Name the pages that an EPUB lists and does not hold; none where `data` is no EPUB.

    Raises
    ------
    BadText, UnsafeFile
        As `read_file`.
    """
    return epub.missing_pages(data) if archives.is_zip(data) else ()


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


def _refuse_documents(data: bytes) -> None:
    """Refuse documents of word processors, which are zip archives as EPUBs are."""
    names = archives.Archive(data).names
    if "META-INF/container.xml" in names:
        return
    what = next((said for place, said in _DOCUMENTS if any(name.startswith(place) for name in names)), "")
    if what:
        raise OtherFormat(f"The file is {what}. {_READ} Open it there, save it as plain text in UTF-8, and add that.")


def _refuse_others(data: bytes, head: str, root: str) -> None:
    if b"%PDF-" in data[:1024]:
        raise OtherFormat(
            f"The file is a PDF, which shows pages and does not say what is text. {_READ} Look for the work in one of "
            "these, or export the text from a PDF reader, save it as .txt in UTF-8 and check it: headers, page numbers "
            "and broken words come along."
        )
    for start, what, instead in _OTHERS:
        if data.startswith(start):
            raise OtherFormat(f"The file is {what}, which is not read. {_READ} {instead}, and add that.")
    tags = len(_TAG.findall(head))
    if is_web_page(head) or (tags > _MOST_TAGS and tags * _TAGGED > len(head)):
        raise OtherFormat(
            f"The file is a web page (HTML), whatever its name says. {_READ} Save the page from a browser as plain "
            "text, or add the EPUB of the work where the site offers one."
        )
    if not root and head.lstrip().startswith("<?xml"):
        raise BadText("The file begins as XML does and breaks off before its first element. Fetch it again.")
    if root and (head.lstrip().startswith("<?xml") or "xmlns" in head[:2000]):
        raise OtherFormat(
            f"The file is XML, but not TEI: its first element is <{root[:60]}>, and TEI begins with <TEI>, <TEI.2> or "
            f"<teiCorpus>. {_READ} Export the work in one of these formats."
        )
