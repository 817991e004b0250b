"""Notes as documents: passages with citations, what the scholar wrote, a list of works.

As Markdown, as a document for Word and LibreOffice, and as a table.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core import __version__
from relic_core.domain import CitedWork, KeptPassage, Note
from relic_core.formats.escaping import BOM, as_csv, without_control_characters
from relic_core.formats.notebook import Section, notes_of
from relic_core.reporting.citations import chicago
from relic_core.reporting.citations.edition import Parts
from relic_core.reporting.citations.locators import locate_kept
from relic_core.reporting.citations.quoting import WITH_NOTES, quote
from relic_core.reporting.citations.styles import Style, disambiguate, style, works_cited
from relic_core.reporting.citations.text_runs import TextRun, as_markdown, as_text

if TYPE_CHECKING:
    from docx.document import Document

BlockKind = Literal["heading", "passage", "quotation", "note", "words", "facts", "entry", "foot"]
_VERDICTS = {"supports": "Supports the claim", "contradicts": "Contradicts the claim", "unsure": "Unsure"}
_BEFORE = {"quotation": "> ", "entry": "- "}
_WORD_STYLES = {"quotation": "Quote", "entry": "Bibliography", "note": "Details", "facts": "Details", "foot": "Details"}
"""Kinds of paragraphs -> styles of Word; the others are Normal, and headings are headings."""
_INDENT = 0.5
"""In inches: of quotations set off, and of the lines of an entry after its first."""
_SMALL = 9

COLUMNS = (
    "collection", "title", "author", "translator", "year", "place", "address", "sentences", "quotation", "claim",
    "verdict", "tags", "words", "how it was kept", "found by", "rank", "kept on", "changed", "citation",
    "entry", "edition",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of a document; `level`: of a heading, from 1, what the document is called; 0 of everything else."""

    kind: BlockKind
    lines: tuple[tuple[TextRun, ...], ...]
    level: int = 0


def document(
    sections: Sequence[Section], style_name: str, editions: Mapping[str, CitedWork], *, title: str = ""
) -> tuple[Block, ...]:
    """Lay notes out in the order given, and list the works once, at the end.

    - `editions`: the works by their ids; of one that is not there the title and the author are taken from the note.
    - `title`: what a document of several collections is called. Each of them that has notes then stands below a heading
      of its own; without a title the document is that of one collection, and is called as it is.
    """
    chosen = style(style_name)
    notes = list(notes_of(sections))
    called = title or next((section.collection.name for section in sections), "")
    blocks = [_heading(1, TextRun(called.strip() or "Notes"))]
    cited: dict[str, CitedWork] = {}
    apart = disambiguate((cited_work(note.kept, editions) for note in notes), chosen)
    for section in sections:
        if title and section.notes:
            blocks.append(_heading(2, TextRun(section.collection.name)))
        for number, note in enumerate(section.notes, start=1):
            kept = note.kept
            work = cited_work(kept, editions)
            place = kept.place.replace(" · ", ", ")
            blocks.append(
                _heading(
                    3 if title else 2, TextRun(f"{number}. "), TextRun(work.title, italic=True), TextRun(f", {place}")
                )
            )
            citation = citation_of(kept, apart[work.id], chosen, first=work.id not in cited)
            blocks += _passage(kept, citation, style_name)
            blocks += _written(note)
            cited[work.id] = work
    if cited:
        blocks.append(_heading(2, TextRun(chosen.listed)))
        blocks += [Block("entry", (entry.runs,)) for entry in works_cited(cited.values(), style_name)]
    passages = "One passage" if len(notes) == 1 else f"{len(notes):,} passages"
    foot = f"{passages}, from RELiC Workbench {__version__}, cited by {chosen.label}."
    return (*blocks, Block("foot", ((TextRun(foot),),)))


def cited_work(kept: KeptPassage, editions: Mapping[str, CitedWork]) -> CitedWork:
    """Give the work of a kept passage as it is cited."""
    return editions.get(kept.work_id) or CitedWork(id=kept.work_id, title=kept.title, author=kept.author)


def citation_of(kept: KeptPassage, parts: Parts, chosen: Style, *, first: bool = True) -> tuple[TextRun, ...]:
    """Write what stands behind a quotation: the citation in the text, or the note; `parts` as of `disambiguate`."""
    write = chicago.short_note if chosen.name in WITH_NOTES and not first else chosen.in_text
    return write(parts, locate_kept(kept))


def _passage(kept: KeptPassage, citation: tuple[TextRun, ...], style_name: str) -> Iterator[Block]:
    quoted = quote(kept.quotation, citation, style_name, verse=kept.line is not None)
    for lines in quoted.paragraphs:
        yield Block("quotation" if quoted.block else "passage", lines)
    if style_name in WITH_NOTES:
        yield Block("note", (citation,))


def _written(note: Note) -> Iterator[Block]:
    for paragraph in note.words.strip().split("\n\n"):
        lines = tuple((TextRun(line.strip()),) for line in paragraph.split("\n") if line.strip())
        if lines:
            yield Block("words", lines)
    asked = "Word looked for" if note.kept.origin == "concordance" else "Claim"
    facts = [(asked, note.kept.claim_text), ("Verdict", _VERDICTS.get(note.verdict or "", ""))]
    facts.append(("Tags", ", ".join(note.tags)))
    fact_lines = tuple((TextRun(f"{name}: {' '.join(value.split())}"),) for name, value in facts if value.strip())
    if fact_lines:
        yield Block("facts", fact_lines)


def _heading(level: int, *runs: TextRun) -> Block:
    return Block("heading", (runs,), level)


def markdown(
    sections: Sequence[Section], style_name: str, editions: Mapping[str, CitedWork], *, title: str = ""
) -> str:
    """Write notes as Markdown; every word is shown as it is, whatever marks it holds. Parameters as `document`."""
    blocks = document(sections, style_name, editions, title=title)
    written = ""
    for before, block in zip((None, *blocks), blocks, strict=False):
        together = before is not None and before.kind == block.kind and block.kind in {"quotation", "entry"}
        between = ("\n" if block.kind == "entry" else "\n>\n") if together else "\n\n"
        written += (between if before is not None else "") + _block_as_markdown(block)
    return f"{written}\n"


def _block_as_markdown(block: Block) -> str:
    mark = f"{'#' * block.level} " if block.level else _BEFORE.get(block.kind, "")
    lines = [as_markdown(line, heading=block.kind == "heading") for line in block.lines]
    if block.kind == "foot":
        return f"---\n\n{lines[0]}"
    return "\\\n".join(f"{mark}{line}" for line in lines)


def word(sections: Sequence[Section], style_name: str, editions: Mapping[str, CitedWork], *, title: str = "") -> bytes:
    """Write notes as a .docx file, in Word's own styles, so that one change of a style changes all it is set in."""
    import docx  # some tenths of a second, which no page should wait for

    made = docx.Document()
    blocks = document(sections, style_name, editions, title=title)
    changes = [note.updated for note in notes_of(sections)]
    properties = made.core_properties
    properties.title = without_control_characters("".join(run.text for run in blocks[0].lines[0]))[:255]
    properties.author = ""
    if changes:  # else the day on which the empty document of python-docx was made
        properties.created = properties.modified = max(changes)
    properties.comments = f"RELiC Workbench {__version__}"
    _set_styles(made, both_sides=style_name != "mla")
    for block in blocks:
        _add_block(made, block)
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


def _add_block(made: Document, block: Block) -> None:
    paragraph = made.add_paragraph(style=f"Heading {block.level}" if block.level else _WORD_STYLES.get(block.kind))
    for at, line in enumerate(block.lines):
        if at:
            paragraph.add_run().add_break()
        for run in line:
            paragraph.add_run(without_control_characters(run.text)).italic = run.italic or None


def csv(
    sections: Sequence[Section],
    style_name: str,
    editions: Mapping[str, CitedWork],
    *,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Write notes as CSV; parameters as `document`, and what people call retrievers.

    Its encoding and cells like formulas are as in `concordance.to_csv`. "how it was kept" says what brought the passage
    up, for people; "found by" has the retriever's own name. "edition" is the sha256 of the text quoted from.
    """
    rows: list[tuple[str, ...]] = [COLUMNS]
    chosen = style(style_name)
    apart = disambiguate((cited_work(note.kept, editions) for note in notes_of(sections)), chosen)
    for collection, notes in sections:
        for note in notes:
            work = cited_work(note.kept, editions)
            citation, entry = citation_of(note.kept, apart[work.id], chosen), chosen.entry(apart[work.id])
            citing = (brought_up(note.kept, labels or {}), as_text(citation), as_text(entry))
            rows.append(_row(collection.name, note, work, *citing))
    return f"{BOM}{as_csv(rows)}"


def _row(collection_name: str, note: Note, work: CitedWork, brought: str, citation: str, entry: str) -> tuple[str, ...]:
    kept = note.kept
    return (
        collection_name,
        work.title,
        work.author,
        work.translator,
        "" if work.year is None else str(work.year),
        kept.place,
        kept.at,
        str(kept.length),
        kept.quotation,
        kept.claim_text,
        note.verdict or "",
        "; ".join(note.tags),
        note.words,
        brought,
        kept.retriever,
        str(kept.rank or ""),
        note.created.isoformat(timespec="seconds"),
        note.updated.isoformat(timespec="seconds"),
        citation,
        entry,
        kept.sha256,
    )


def brought_up(kept: KeptPassage, labels: Mapping[str, str]) -> str:
    """Say in a sentence how a passage was met; `labels` are what people call retrievers."""
    if kept.retriever:
        label = labels.get(kept.retriever, kept.retriever)
        ranked = f"{label}, rank {kept.rank:,}" if kept.rank else label
        return f"{ranked}{', read in its chapter' if kept.origin == 'read' else ''}."
    if kept.origin == "concordance":
        return f"Found by the word “{kept.claim_text}”." if kept.claim_text else "Found by a word."
    met = {
        "proxy_task": "One of the three passages of an item of the proxy task.",
        "find": "Found by a search.",
        "sources": "Quoted by a critic.",
        "attribution": "Found as the source of words in another text.",
    }
    if kept.origin in met:
        return met[kept.origin]
    return "Met in reading, with the claim at hand." if kept.claim_text else "Met in reading."
