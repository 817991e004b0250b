"""Notes as a document for Word and LibreOffice."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.reporting.notebook.document import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docx.document import Document
    from docx.text.paragraph import Paragraph

    from relic_core.domain import CitedWork, Note
    from relic_core.reporting.citations.runs import Run
    from relic_core.reporting.notebook.document import Block

_STYLES = {"title": "Title", "heading": "Heading 1"}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML may hold."""
_INDENT = 0.5
"""In inches: of quotations set off, and of the lines of an entry after its first."""
_SMALL = 9


def word(notes: Sequence[Note], collection_name: str, style_name: str, editions: Mapping[str, CitedWork]) -> bytes:
    """Write notes as a .docx file: quotations set off are indented, entries hang. Parameters as `document`."""
    import docx  # some tenths of a second, which no page should wait for

    made = docx.Document()
    properties = made.core_properties
    properties.title = _clean(collection_name)[:255]
    properties.author = ""
    if notes:  # else the day on which the empty document of python-docx was made
        properties.created = properties.modified = max(note.updated for note in notes)
    properties.comments = f"RELiC Workbench {__version__}"
    for block in document(notes, collection_name, style_name, editions):
        _add(made, block)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _add(made: Document, block: Block) -> None:
    from docx.shared import Inches, Pt

    paragraph = made.add_paragraph(style=_STYLES.get(block.kind))
    setting = paragraph.paragraph_format
    for at, line in enumerate(block.lines):
        if at:
            paragraph.add_run().add_break()
        _add_runs(paragraph, line)
    if block.kind == "quotation":
        setting.left_indent = Inches(_INDENT)
        setting.right_indent = Inches(_INDENT)
    elif block.kind == "entry":
        setting.left_indent = Inches(_INDENT)
        setting.first_line_indent = -Inches(_INDENT)
    elif block.kind in {"facts", "note", "foot"}:
        for run in paragraph.runs:
            run.font.size = Pt(_SMALL)
    elif block.kind == "heading":
        setting.keep_with_next = True


def _add_runs(paragraph: Paragraph, runs: Sequence[Run]) -> None:
    for run in runs:
        added = paragraph.add_run(_clean(run.text))
        if run.italic:
            added.italic = True


def _clean(words: str) -> str:
    return _NO_XML.sub("", words)
