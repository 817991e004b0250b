"""Notes as a table, one row each, for spreadsheets and pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.formats.escaping import BOM, as_csv
from relic_core.reporting.citations.runs import as_text
from relic_core.reporting.citations.styles import style
from relic_core.reporting.citations.telling_apart import tell_apart
from relic_core.reporting.notebook.document import citation_of, cited_work
from relic_core.reporting.notebook.telling import brought_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import CitedWork, Note
    from relic_core.formats.notebook import Section

COLUMNS = (
    "collection", "title", "author", "translator", "year", "place", "address", "sentences", "quotation", "claim",
    "verdict", "tags", "words", "how it was kept", "found by", "rank", "kept on", "changed", "citation",
    "entry", "edition",
)  # fmt: skip


def csv(
    sections: Sequence[Section],
    style_name: str,
    editions: Mapping[str, CitedWork],
    *,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Write notes as CSV; parameters as `document`, and what people call retrievers.

    It begins with a byte order mark, without which Excel takes UTF-8 for another encoding. A cell that begins like a
    formula (=, +, -, @, a tab or a carriage return) gets an apostrophe in front, since a spreadsheet would run it.
    "how it was kept" says what brought the passage up, for people; "found by" has the retriever's own name. "edition"
    is the sha256 of the text that the quotation was taken from.
    """
    rows: list[tuple[str, ...]] = [COLUMNS]
    chosen = style(style_name)
    apart = tell_apart((cited_work(note.kept, editions) for _, notes in sections for note in notes), chosen)
    for collection, notes in sections:
        for note in notes:
            work = cited_work(note.kept, editions)
            citation, entry = citation_of(note.kept, apart[work.id], chosen), chosen.entry(apart[work.id])
            said = (brought_up(note.kept, labels or {}), as_text(citation), as_text(entry))
            rows.append(_row(collection.name, note, work, *said))
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
