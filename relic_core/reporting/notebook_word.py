"""Notes as a document for Word and LibreOffice."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.formats.escaping import without_control_characters
from relic_core.reporting.notebook import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docx.document import Document
    from docx.text.paragraph import Paragraph

    from relic_core.domain import CitedWork
    from relic_core.formats.notebook import Section
    from relic_core.reporting.citations.text_runs import TextRun
    from relic_core.reporting.notebook import Block

_STYLES = {"quotation": "Quote", "entry": "Bibliography", "note": "Details", "facts": "Details", "foot": "Details"}
"""Kinds of paragraphs -> styles of Word; the others are Normal, and headings are headings."""
_INDENT = 0.5
"""In inches: of quotations set off, and of the lines of an entry after its first."""
_SMALL = 9


def word(sections: Sequence[Section], style_name: str, editions: Mapping[str, CitedWork], *, title: str = "") -> bytes:
    """Write notes as a .docx file, in Word's own styles, so that one change of a style changes all it is set in.

    Parameters as `document`.
    """
    import docx  # some tenths of a second, which no page should wait for

    made = docx.Document()
    blocks = document(sections, style_name, editions, title=title)
    changes = [note.updated for section in sections for note in section.notes]
    properties = made.core_properties
    properties.title = without_control_characters("".join(run.text for run in blocks[0].lines[0]))[:255]
    properties.author = ""
    if changes:  # else the day on which the empty document of python-docx was made
        properties.created = properties.modified = max(changes)
    properties.comments = f"RELiC Workbench {__version__}"
    _set_styles(made, both_sides=style_name != "mla")
    for block in blocks:
        _add(made, block)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _set_styles(made: Document, *, both_sides: bool) -> None:
    """Set the styles as the handbooks ask: quotations indented and upright, entries hanging; what is beside, small."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Inches, Pt

    quote = made.styles["Quote"]
    quote.font.italic = quote.font.cs_italic = (
        False  # Word's are in italics, which a reader would take for the author's
    )
    quote.paragraph_format.left_indent = Inches(_INDENT)
    quote.paragraph_format.right_indent = Inches(_INDENT) if both_sides else None
    entry = made.styles.add_style("Bibliography", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
    entry.paragraph_format.left_indent = Inches(_INDENT)
    entry.paragraph_format.first_line_indent = -Inches(_INDENT)
    details = made.styles.add_style("Details", WD_STYLE_TYPE.PARAGRAPH)
    details.font.size = Pt(_SMALL)
    for each in (entry, details):
        each.base_style = made.styles["Normal"]
        each.quick_style = True  # shown in Word's gallery


def _add(made: Document, block: Block) -> None:
    paragraph = made.add_paragraph(style=f"Heading {block.level}" if block.level else _STYLES.get(block.kind))
    for at, line in enumerate(block.lines):
        if at:
            paragraph.add_run().add_break()
        _add_runs(paragraph, line)


def _add_runs(paragraph: Paragraph, runs: Sequence[TextRun]) -> None:
    for run in runs:
        added = paragraph.add_run(without_control_characters(run.text))
        if run.italic:
            added.italic = True
