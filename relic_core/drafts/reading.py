"""Drafts from files: Word, OpenDocument, Markdown, HTML, LaTeX, PDF and plain text, all to paragraphs of plain text."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import _Element as Element

from relic_core.domain.drafts import Draft
from relic_core.errors import BadText, NotFound, RelicError, TextTooLarge, UnsafeFile
from relic_core.library.archives import Archive
from relic_core.library.markup import decode_markup, local_name, parse_html, parse_xml
from relic_core.text.decoding import decode, file_name

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import _Cell
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run
    from pypdf import PdfReader

MOST_BYTES = 20_000_000
_MOST_BYTES_OF = {".md": 2_000_000, ".tex": 1_000_000}
"""Where reading takes long: four times and twice what 60,000 words have. So much takes up to half a minute."""
_SET_OFF = "    "
"""How a quotation that is set off begins in plain text: as typed, or as its style says."""
_QUOTE_STYLE = re.compile(r"quot|block text|verse|epigraph", re.IGNORECASE)
_BLOCKS = frozenset("p h1 h2 h3 h4 h5 h6 li pre div dd dt td th figcaption section article body".split())  # noqa: SIM905
_Read = tuple[str, str]
"""The text of a draft, and a notice on how it was read."""
_BESIDE = frozenset({"annotation", "tracked-changes"})
"""What of an OpenDocument is no part of its text."""
_UNSEEN = frozenset("script style head template".split())  # noqa: SIM905 - a list
_FIGURES = re.compile(r"[\W\d]+")
_RUNNING = re.compile(r"[^)”\"’]*[^)”\"’.,;:!?]")
"""A line above or below a page: neither the end of a sentence nor of a citation."""
_OLD_WORD = b"\xd0\xcf\x11\xe0"
_ZIPPED = frozenset({".docx", ".odt"})
_LOCKED = (
    "{name} is an old Word file (.doc), or one with a password. Open it, save it as .docx without a password, and give "
    "that; or paste the text."
)


def read_draft(data: bytes, name: str) -> Draft:
    """Read a draft by the ending of its name.

    Raises BadText: it is of a kind that is not read, locked, damaged, or holds no words.
    """
    called = file_name(name)
    ending = PurePosixPath(called).suffix.lower()
    if len(data) > (most := _MOST_BYTES_OF.get(ending, MOST_BYTES)):
        raise TextTooLarge(
            f"{called} has {len(data):,} bytes; a draft of its kind may have {most:,}. Check it chapter by chapter."
        )
    if data.startswith(_OLD_WORD):
        raise BadText(_LOCKED.format(name=called))
    if not data:
        raise BadText(f"{called} is empty (0 bytes). Choose another file, or paste the text.")
    read = _READERS.get(ending)
    if read is None:
        raise BadText(f"{called} is not a draft that can be read. Give {', '.join(_READERS)}, or paste the text.")
    try:
        text, notice = read(data)
    except (TextTooLarge, UnsafeFile):
        raise
    except Exception as error:  # readers of other people's files fail in many ways
        if isinstance(error, RelicError) and ending not in _ZIPPED:
            raise
        logging.getLogger(__name__).info("%s cannot be read", called, exc_info=error)
        raise BadText(f"{called} is damaged, or no {ending} file. Save it anew, or paste the text.") from error
    if not any(map(str.isalpha, text)):
        scanned = " Its pages may be pictures: have the text recognised first." * (ending == ".pdf")
        raise BadText(f"{called} holds no words.{scanned}")
    return Draft(text, called, notice)


class WordParagraph(NamedTuple):
    """A paragraph of a document for Word.

    - `start`: where its text begins in the draft, behind its `lead`: white space where it is set off, a note's number.
    - `reference`: of a note, the run of the text that refers to it.
    """

    start: int
    lead: str
    paragraph: Paragraph
    reference: Run | None = None


def word_paragraphs(document: Document) -> Iterator[WordParagraph]:
    """Give the paragraphs of a document for Word, those of its tables too, then its footnotes and endnotes."""
    at = 0
    for paragraph, lead, reference in (*((each, "", None) for each in _in_blocks(document)), *_notes(document)):
        before = lead or _SET_OFF * (bool(paragraph.text.strip()) and _is_set_off(paragraph))
        yield WordParagraph(at + len(before), before, paragraph, reference)
        at += len(before) + len(_in_lines(paragraph.text, len(before))) + 2


def _in_blocks(container: Document | _Cell) -> Iterator[Paragraph]:
    from docx.table import Table

    for block in container.iter_inner_content():
        if isinstance(block, Table):
            every = chain.from_iterable(row.cells for row in block.rows)
            distinct = {id(cell._tc): cell for cell in every}  # noqa: SLF001 - merged cells come again
            for cell in distinct.values():
                yield from _in_blocks(cell)
        else:
            yield block


def _notes(document: Document) -> Iterator[tuple[Paragraph, str, Run | None]]:
    from docx.oxml import parse_xml
    from docx.oxml.ns import qn
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

    for kind in ("footnote", "endnote"):
        for relation in document.part.rels.values():
            if not relation.reltype.endswith(f"/{kind}s"):
                continue
            for note in parse_xml(relation.target_part.blob).findall(qn(f"w:{kind}")):
                number = note.get(qn("w:id"))
                found = document.element.body.xpath(f".//w:{kind}Reference[@w:id='{number}']/parent::w:r")
                for each in note.findall(qn("w:p")) if found else ():  # what nothing refers to is not printed
                    yield Paragraph(each, document), f"[{number}] ", Run(found[0], document)


def _is_set_off(paragraph: Paragraph) -> bool:
    indent = paragraph.paragraph_format.left_indent
    named = paragraph.style.name if paragraph.style is not None else ""
    return bool(indent and indent > 0) or bool(_QUOTE_STYLE.search(named or ""))


def _in_lines(text: str, set_off: int) -> str:
    return text.replace("\n", "\n" + " " * set_off)


def _word(data: bytes) -> _Read:
    from docx import Document

    Archive(data)  # refuses what unpacks without end
    document = Document(io.BytesIO(data))
    if document.element.body.xpath(".//w:ins"):
        raise UnsafeFile(
            "The draft holds tracked changes that were neither accepted nor rejected. Decide on them in Word, or give "
            "a copy in which all are accepted."
        )
    paragraphs = (f"{each.lead}{_in_lines(each.paragraph.text, len(each.lead))}" for each in word_paragraphs(document))
    return "\n\n".join(paragraphs), ""


def _open_document(data: bytes) -> _Read:
    archive = Archive(data)
    with suppress(NotFound):
        if b":encryption-data" in archive.read("META-INF/manifest.xml"):
            raise UnsafeFile("This document is locked with a password. Save it without one, or paste the text.")
    root = parse_xml(decode(archive.read("content.xml"), max_bytes=MOST_BYTES), what="The draft")
    quoting: set[str] = set()
    for style in root.iter():
        if local_name(style) == "style" and _QUOTE_STYLE.search(" ".join(map(str, style.attrib.values()))):
            quoting.update(str(value) for key, value in style.attrib.items() if str(key).endswith("}name"))
    paragraphs: list[str] = []
    notes: list[str] = []
    for element in root.iter():
        within = {local_name(each) for each in element.iterancestors()}
        if local_name(element) in {"p", "h"} and not within & _BESIDE:
            if "note" in within:
                notes.append(f"[{len(notes) + 1}] {''.join(_inline(element)).strip()}")
                continue
            style = next((str(value) for key, value in element.attrib.items() if str(key).endswith("}style-name")), "")
            set_off = _SET_OFF if style in quoting or _QUOTE_STYLE.search(style) else ""
            paragraphs.append(set_off + _in_lines("".join(_inline(element)).strip(), len(set_off)))
    return "\n\n".join(filter(str.strip, [*paragraphs, *notes])), ""


def _inline(element: Element) -> Iterator[str]:
    """Give the words of a paragraph of OpenDocument, whose spaces, tabs and line breaks are elements."""
    name = local_name(element)
    if name in {"note", "annotation"}:
        pass
    elif name in {"s", "tab"}:
        yield " "
    elif name == "line-break":
        yield "\n"
    else:
        yield element.text or ""
        for child in element:
            yield from _inline(child)
            yield child.tail or ""


def _html(data: bytes) -> _Read:
    return _of_page(decode_markup(data, what="The draft", max_bytes=MOST_BYTES))


def _markdown(data: bytes) -> _Read:
    from markdown_it import MarkdownIt

    text = re.sub(r"(?m)^\[(?=\^[^\]]+\]:)", r"\\[", decode(data, max_bytes=MOST_BYTES))  # a note is no link's address
    return _of_page(f"<body>{MarkdownIt('js-default').render(text)}</body>")


def _of_page(page: str) -> _Read:
    paragraphs: list[str] = []

    def read(element: Element, *, set_off: bool) -> None:
        name = local_name(element)
        if name in _UNSEEN:
            return
        set_off = set_off or name == "blockquote"
        if name in _BLOCKS or name == "blockquote":
            paragraphs.append(_SET_OFF * set_off)
        emphasis = "_" * (name in {"em", "i", "cite"})
        paragraphs[-1] += "\n" + _SET_OFF * set_off if name == "br" else emphasis + _flowing(element.text)
        for child in element:
            read(child, set_off=set_off)
            if local_name(child) in _BLOCKS or local_name(child) == "blockquote":
                paragraphs.append(_SET_OFF * set_off)
            paragraphs[-1] += _flowing(child.tail)
        paragraphs[-1] += emphasis

    paragraphs.append("")
    read(parse_html(page, what="The draft"), set_off=False)
    return "\n\n".join(each.rstrip() for each in paragraphs if each.strip()), ""


def _flowing(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _latex(data: bytes) -> _Read:
    from pylatexenc.latex2text import LatexNodes2Text

    text = decode(data, max_bytes=MOST_BYTES)
    text = re.sub(r"(?s)^.*?\\begin\{document\}|\\end\{document\}.*$", "", text)
    set_off = (
        r"(?s)\\begin\{(?:quote|quotation|verse|displayquote)\}(.*?)\\end\{(?:quote|quotation|verse|displayquote)\}"
    )
    quoted = re.sub(set_off, lambda found: "\n\n" + re.sub(r"(?m)^\s*(?=\S)", _MARKED, found[1].strip()) + "\n\n", text)
    plain: str = LatexNodes2Text(keep_comments=False).latex_to_text(quoted)
    return plain.replace("``", "“").replace("''", "”").replace(_MARKED, _SET_OFF), ""


_MARKED = "\ue000"
"""Where a line set off begins, while LaTeX is read: a character that nobody types."""


def _pdf(data: bytes) -> _Read:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong with a file is said in one sentence
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not _opens(reader):
        raise BadText("This PDF is locked with a password. Save it without one, or paste the text.")
    texts = _without_heads([page.extract_text() for page in reader.pages])
    without = (page for page, text in zip(reader.pages, texts, strict=True) if not text.strip())
    pictures = sum(bool(page.images.keys()) for page in without)
    notice = f"{pictures:,} of its {len(texts):,} pages are pictures without text, and were not read."
    return "\n".join(texts), notice * bool(pictures)


def _without_heads(pages: Sequence[str]) -> list[str]:
    """Drop lines at the ends of pages, two at either, where another page has them too, but for its figures."""
    lines = [page.strip().split("\n") for page in pages]
    for _ in range(2):
        ends = Counter[str]()
        for page in lines:
            ends.update(_FIGURES.sub("", line) for line in {*page[:1], *page[-1:]})
        for page in lines:
            for end in (0, -1):
                if page and _RUNNING.fullmatch(page[end]) and ends[_FIGURES.sub("", page[end])] > 1:
                    del page[end]
    return ["\n".join(page) for page in lines]


def _opens(reader: PdfReader) -> bool:
    """Whether a PDF that is locked against changes alone opens without a password."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # noqa: BLE001 - it is locked in a way that cannot be undone here
        return False


_READERS: dict[str, Callable[[bytes], _Read]] = {
    ".docx": _word,
    ".odt": _open_document,
    ".md": _markdown,
    ".txt": lambda data: (decode(data, max_bytes=MOST_BYTES), ""),
    ".html": _html,
    ".htm": _html,
    ".tex": _latex,
    ".pdf": _pdf,
}
ENDINGS = tuple(_READERS)
