"""Books made by hand, for tests: EPUB and TEI files as bytes, of a work or of chapters of paragraphs."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from relic_core.library.concordance import Finder, Wording
from relic_core.library.lexicon import Lexicon, Reach
from relic_core.library.queries import read_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import Work

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>A page</title></head><body>{}</body></html>'
)
_ITALIC = re.compile(r"_(?=\S)([^_]{1,300}?)(?<=\S)_")


@dataclass(frozen=True)
class Section:
    """A chapter of a book in the making: `head` has one line or more, paragraphs are text or, for verse, lines."""

    head: tuple[str, ...]
    paragraphs: tuple[str | tuple[str, ...], ...]
    part: str = ""


def sections_of(work: Work) -> list[Section]:
    """Take a work apart."""
    sections = []
    for chapter in work.chapters:
        paragraphs: list[str | tuple[str, ...]] = []
        for paragraph in work.paragraphs:
            if paragraph.chapter != chapter.index:
                continue
            lines = tuple(" ".join(line.split()) for line in work.text[paragraph.start : paragraph.end].split("\n"))
            paragraphs.append(lines if paragraph.kind == "verse" else " ".join(lines))
        number = f"Chapter {chapter.number}" if chapter.number else ""
        head = tuple(line for line in (number, chapter.title) if line)
        sections.append(Section(head, tuple(paragraphs), chapter.part))
    return sections


def pack(entries: Mapping[str, str | bytes]) -> bytes:
    """Make a zip archive."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def package(pages: Sequence[str], *, metadata: str = "", manifest: str = "", spine: str = "") -> str:
    """Make the package file of an EPUB, of the names of its pages."""
    items = "".join(
        f'<item id="p{n}" href="{escape(page)}" media-type="application/xhtml+xml"/>' for n, page in enumerate(pages)
    )
    refs = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    return (
        '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:o="http://www.idpf.org/2007/opf">'
        f"{metadata}</metadata><manifest>{items}{manifest}</manifest><spine>{refs}{spine}</spine></package>"
    )


def epub(
    pages: Mapping[str, str] | Sequence[str], *, metadata: str = "<dc:title>The Ferry</dc:title>",
    more: Mapping[str, str | bytes] | None = None, manifest: str = "", spine: str = "",
) -> bytes:  # fmt: skip
    """Make an EPUB of the bodies of its pages; a body that begins with "<?xml" or "<!" is a whole page."""
    if not hasattr(pages, "items"):
        pages = {f"page{number}.xhtml": body for number, body in enumerate(pages)}
    whole = {
        f"OEBPS/{name}": body if body.startswith(("<?xml", "<!")) else XHTML.format(body)
        for name, body in pages.items()
    }
    listing = package(list(pages), metadata=metadata, manifest=manifest, spine=spine)
    return pack({"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/content.opf": listing,
                 **whole, **(more or {})})  # fmt: skip


def epub_of(work: Work) -> bytes:
    """Make an EPUB of a work, with a contents list; parts are headings above those of their chapters."""
    pages: dict[str, str] = {}
    lines = []
    part = ""
    for number, section in enumerate(sections_of(work)):
        body = ""
        if section.part and section.part != part:
            body += f"<h2 id='part'>{escape(section.part)}</h2>"
            lines.append(f'<li><a href="c{number}.xhtml#part">{escape(section.part)}</a></li>')
        part = section.part
        level = 3 if part else 2
        if section.head:
            body += f"<h{level} id='head'>{'<br/>'.join(map(escape, section.head))}</h{level}>"
            entry = f'<li><a href="c{number}.xhtml#head">{escape(" ".join(section.head))}</a></li>'
            if part:
                entry = f"<ol>{entry}</ol>"
                lines[-1] = lines[-1].removesuffix("</li>") + entry + "</li>"
                lines[-1] = lines[-1].replace("</ol><ol>", "")
            else:
                lines.append(entry)
        body += "\n".join(_paragraph(paragraph) for paragraph in section.paragraphs)
        pages[f"c{number}.xhtml"] = body
    nav = XHTML.format(f'<nav epub:type="toc"><ol>{"".join(lines)}</ol></nav>')
    people = f"<dc:creator>{escape(work.author)}</dc:creator>" if work.author else ""
    return epub(
        pages, metadata=f"<dc:title>{escape(work.title)}</dc:title>{people}", more={"OEBPS/nav.xhtml": nav},
        manifest='<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
    )  # fmt: skip


def tei(
    body: str, *, header: str = "<titleStmt><title>The Ferry</title></titleStmt>", front: str = "", back: str = ""
) -> bytes:
    """Make a TEI file."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>'
        f"{header}</fileDesc></teiHeader><text>{f'<front>{front}</front>' if front else ''}<body>{body}</body>"
        f"{f'<back>{back}</back>' if back else ''}</text></TEI>"
    ).encode()


def tei_of(work: Work) -> bytes:
    """Make a TEI file of a work."""
    body, part = "", ""
    for section in sections_of(work):
        if section.part != part:
            body += "</div>" if part else ""
            body += f'<div type="part"><head>{escape(section.part)}</head>' if section.part else ""
        part = section.part
        heads = "".join(f"<head>{escape(line)}</head>" for line in section.head)
        words = "\n".join(
            f"<p>{_in_italics(paragraph, 'hi')}</p>" if isinstance(paragraph, str)
            else f"<lg>{''.join(f'<l>{escape(line, quote=False)}</l>' for line in paragraph)}</lg>"
            for paragraph in section.paragraphs
        )  # fmt: skip
        body += f'<div type="chapter">{heads}{words}</div>'
    body += "</div>" if part else ""
    author = f"<author>{escape(work.author)}</author>" if work.author else ""
    return tei(body, header=f"<titleStmt><title>{escape(work.title)}</title>{author}</titleStmt>")


def _paragraph(paragraph: str | tuple[str, ...]) -> str:
    if isinstance(paragraph, str):
        return f"<p>{_in_italics(paragraph, 'i')}</p>"
    return f'<div class="poem"><p>{"<br/>".join(escape(line, quote=False) for line in paragraph)}</p></div>'


def _in_italics(text: str, element: str) -> str:
    return _ITALIC.sub(rf"<{element}>\1</{element}>", escape(text, quote=False))


def names(work: Work) -> list[str]:
    """Name the chapters."""
    return [chapter.name for chapter in work.chapters]


def texts(work: Work, kind: str | None = None) -> list[str]:
    """Give the paragraphs, of one kind or all."""
    return [work.text[each.start : each.end] for each in work.paragraphs if kind in {None, each.kind}]


def left_out(work: Work) -> list[tuple[str, str]]:
    """Give what is not text of the work, by kind, on one line each."""
    return [(each.kind, " ".join(work.text[each.start : each.end].split())) for each in work.left_out]


def looked_up(work: Work, typed: str) -> list[str]:
    """Find a word in a work as *Find a word* does; what is printed at each place."""
    lexicon = Lexicon()
    sentences = [np.array([getattr(each, name) for each in work.sentences], np.int32)
                 for name in ("start", "end", "chapter", "paragraph")]  # fmt: skip
    wording = Wording.of(work.text, tuple(sentences), np.zeros(len(work.paragraphs), np.bool_), lexicon)
    found = Finder(read_query(typed, Reach()), Reach(), lexicon).find(wording)
    places = zip(found.firsts.tolist(), found.lengths.tolist(), strict=True)
    return [work.text[wording.starts[first] : wording.ends[first + length - 1]] for first, length in places]
