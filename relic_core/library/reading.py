"""From the bytes of any file that is accepted to a work: plain text, EPUB, TEI.

What is in the file decides on the format, never its name; files that are not texts of works are refused with a word on
what to do instead.
"""

from __future__ import annotations

import json
import re

from relic_core.config import Settings
from relic_core.domain import Work
from relic_core.errors import BadText, NotText, OtherFormat
from relic_core.library import archives
from relic_core.library.composing import Edition
from relic_core.library.epub import read_epub
from relic_core.library.markup import is_web_page, root_name
from relic_core.library.tei import ROOTS, read_tei
from relic_core.ports import Segmenter
from relic_core.text.decoding import other_reading, too_large
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work

_HEAD = 100_000
"""Bytes in which the first element of an XML file stands, comments and document type before it."""
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"<\x00": "utf-16-le", b"\x00<": "utf-16-be"}
_OTHERS = (
    (b"{\\rtf", "an RTF document", "Open it in a word processor and save it as plain text in UTF-8"),
    (
        b"\xd0\xcf\x11\xe0",
        "a document of an older word processor (.doc)",
        "Open it there and save it as plain text in UTF-8",
    ),
    (b"7z\xbc\xaf", "a 7z archive", "Unpack it and add the files in it one by one"),
    (b"Rar!", "a RAR archive", "Unpack it and add the files in it one by one"),
    (b"%!PS", "a PostScript file", "Turn it into plain text in UTF-8 (ps2ascii does)"),
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
_CLOSING = re.compile(rb"</(?:[\w.-]+:)?([A-Za-z][\w.-]*)\s*>\s*$")
_HTML = frozenset(
    """
    a article aside blockquote body br center div dl font footer form h1 h2 h3 h4 h5 h6 head header html li main meta
    nav ol p pre script section span style table tbody td title tr ul
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
_LARGEST_JSON = 5_000_000
"""Bytes. Values take many times the room of what is written, so larger files are not tried."""


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
    """Read a work from the bytes of a file, whatever its format; parameters as `text.reading.read_work`."""
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes=max_bytes)
    if archives.is_zip(data):
        _refuse_documents(data)
        return read_epub(data, name=name, metadata=metadata, source=source, max_bytes=max_bytes, segmenter=segmenter)
    head = data[:_HEAD].decode(_UTF16.get(data[:2], "utf-8"), errors="replace").lstrip("\ufeff")
    root = root_name(head) if head.lstrip("\ufeff \t\r\n").startswith("<") else ""
    if root.lower() in ROOTS:
        return read_tei(data, name=name, metadata=metadata, source=source, max_bytes=max_bytes, segmenter=segmenter)
    refuse_others(data, head, root)
    try:
        work = read_work(data, name=name, metadata=metadata, source=source, segmenter=segmenter, max_bytes=max_bytes)
    except NotText as error:
        raise no_text(error, name) from None
    return Edition(work, doubt=other_reading(data))


def no_text(error: NotText, name: str) -> BadText:
    """Say what is wrong with a file that is not text: where it is called an EPUB, more than that."""
    if not name.lower().endswith(".epub"):
        return error
    return BadText(
        "The file is called an EPUB and does not begin as one, so it is damaged, or something else. Fetch it again; if "
        "it is so there too, add another edition."
    )


def _refuse_documents(data: bytes) -> None:
    """Refuse documents of word processors, which are zip archives as EPUBs are."""
    names = archives.Archive(data).names
    if "META-INF/container.xml" in names:
        return
    for place, kind in _DOCUMENTS:
        if any(name.startswith(place) for name in names):
            raise OtherFormat(
                f"The file is {kind}. {_READ} Open it there, save it as plain text in UTF-8, and add that."
            )


def refuse_others(data: bytes, head: str, root: str) -> None:
    """Refuse what would be read as plain text and is none: another kind of document, or XML that breaks off.

    - `root`: name of the element it begins with; empty where it begins with none.
    """
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
    closing = _closing_name(data) if root else ""
    whole = closing == root.lower() or {closing, root.lower()} <= _HTML
    is_page = bool(closing) and whole and root.lower() in _HTML
    if is_page or is_web_page(head) or (tags > _MOST_TAGS and tags * _TAGGED > len(head)):
        raise OtherFormat(
            f"The file is a web page (HTML), whatever its name says. {_READ} Save the page from a browser as plain "
            "text, or add the EPUB of the work where the site offers one."
        )
    if not root and head.lstrip().startswith("<?xml"):
        raise BadText("The file begins as XML does and breaks off before its first element. Fetch it again.")
    if root and ((closing and whole) or head.lstrip().startswith("<?xml") or "xmlns" in head[:2000]):
        raise OtherFormat(
            f"The file is XML, but not TEI: its first element is <{root[:60]}>, and TEI begins with <TEI>, <TEI.2> or "
            f"<teiCorpus>. {_READ} Export the work in one of these formats."
        )
    if _is_json(data, head):
        raise OtherFormat(
            f"The file is JSON, which holds data for programs. {_READ} Export the text from the program that made it, "
            "as plain text in UTF-8, and add that."
        )


def _closing_name(data: bytes) -> str:
    end = data[-400:].replace(b"\x00", b"")  # names of elements are ASCII, in UTF-16 with a zero beside each letter
    found = _CLOSING.search(end)
    return found[1].decode().lower() if found else ""


def _is_json(data: bytes, head: str) -> bool:
    if not re.match(r"\s*[\[{]", head) or len(data) > _LARGEST_JSON:
        return False
    try:
        return isinstance(json.loads(data), dict | list)
    except (ValueError, RecursionError):
        return False
