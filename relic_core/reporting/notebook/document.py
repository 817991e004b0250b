"""What stands in the document of collections: passages with citations, what the scholar wrote, a list of works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core import __version__
from relic_core.domain import CitedWork
from relic_core.reporting.citations import chicago_notes
from relic_core.reporting.citations.locators import locate_kept
from relic_core.reporting.citations.quoting import WITH_NOTES, quote
from relic_core.reporting.citations.runs import TextRun
from relic_core.reporting.citations.styles import style, works_cited
from relic_core.reporting.citations.telling_apart import tell_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from relic_core.domain import KeptPassage, Note
    from relic_core.formats.notebook import Section
    from relic_core.reporting.citations.edition import Parts
    from relic_core.reporting.citations.styles import Style

BlockKind = Literal["heading", "passage", "quotation", "note", "words", "facts", "entry", "foot"]
_VERDICTS = {"supports": "Supports the claim", "contradicts": "Contradicts the claim", "unsure": "Unsure"}


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of a document.

    - `kind`: what it is: a heading, a passage within the text or set off as a quotation, a note that cites it, the
      scholar's words, facts about the note, an entry of the list of works, the last line.
    - `lines`: one, or several where lines are to be kept.
    - `level`: of a heading, from 1, what the document is called; 0 of everything else.
    """

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

    Raises BadRequest: there is no such style.
    """
    chosen = style(style_name)
    notes = [note for section in sections for note in section.notes]
    called = title or next((section.collection.name for section in sections), "")
    blocks = [_heading(1, TextRun(called.strip() or "Notes"))]
    cited: dict[str, CitedWork] = {}
    apart = tell_apart((cited_work(note.kept, editions) for note in notes), chosen)
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
            blocks += _said(note)
            cited[work.id] = work
    if cited:
        blocks.append(_heading(2, TextRun(chosen.listed)))
        blocks += [Block("entry", (entry.runs,)) for entry in works_cited(cited.values(), style_name)]
    foot = f"{_counted(len(notes))}, from RELiC Workbench {__version__}, cited by {chosen.label}."
    return (*blocks, Block("foot", ((TextRun(foot),),)))


def cited_work(kept: KeptPassage, editions: Mapping[str, CitedWork]) -> CitedWork:
    """Give the work of a kept passage as it is cited."""
    return editions.get(kept.work_id) or CitedWork(id=kept.work_id, title=kept.title, author=kept.author)


def citation_of(kept: KeptPassage, parts: Parts, chosen: Style, *, first: bool = True) -> tuple[TextRun, ...]:
    """Write what stands behind a quotation: the citation in the text, or the note.

    - `parts`: of its work, as `tell_apart` gives them.
    - `first`: it is the first mention of the work: later notes are short.
    """
    write = chicago_notes.short_note if chosen.name in WITH_NOTES and not first else chosen.in_text
    return write(parts, locate_kept(kept))


def _passage(kept: KeptPassage, citation: tuple[TextRun, ...], style_name: str) -> Iterator[Block]:
    """Set the quotation with its citation, which stands behind it or, in notes, in a paragraph of its own."""
    quoted = quote(kept.quotation, citation, style_name, verse=kept.line is not None)
    for lines in quoted.paragraphs:
        yield Block("quotation" if quoted.block else "passage", lines)
    if style_name in WITH_NOTES:
        yield Block("note", (citation,))


def _said(note: Note) -> Iterator[Block]:
    for paragraph in note.words.strip().split("\n\n"):
        lines = tuple((TextRun(line.strip()),) for line in paragraph.split("\n") if line.strip())
        if lines:
            yield Block("words", lines)
    asked = "Word looked for" if note.kept.origin == "concordance" else "Claim"
    facts = [(asked, note.kept.claim_text), ("Verdict", _VERDICTS.get(note.verdict or "", ""))]
    facts.append(("Tags", ", ".join(note.tags)))
    said = tuple((TextRun(f"{name}: {' '.join(value.split())}"),) for name, value in facts if value.strip())
    if said:
        yield Block("facts", said)


def _heading(level: int, *runs: TextRun) -> Block:
    return Block("heading", (runs,), level)


def _counted(number: int) -> str:
    return "One passage" if number == 1 else f"{number:,} passages"
