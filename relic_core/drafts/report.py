"""What came of checking a draft, as files: a table, JSON, a page to print, and comments in the writer's file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from relic_core.domain import CitedWork
from relic_core.domain.drafts import Difference, DraftReport, Excuse, QuotationCheck
from relic_core.drafts.reading import word_paragraphs
from relic_core.formats.escaping import as_csv, without_control_characters
from relic_core.reporting.citations.styles import works_cited

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

COLUMNS = (
    "outcome", "quotation", "said", "differences", "work", "place", "address", "nearest_work", "nearest_place",
    "nearest_address", "named", "citation", "start", "end",
)  # fmt: skip
EXCUSES: dict[Excuse, str] = {
    "edition": "perhaps another edition's spelling",
    "ellipsis": "words left out without an ellipsis",
    "pronoun": "a pronoun changed without brackets",
    "capital": "a capital changed without brackets",
}
_SHOWN = 300
_POINTS_SHOWN = 2


def outcome_in_words(check: QuotationCheck) -> str:
    """Say in plain words what came of a check."""
    found, named = check.found, " or ".join(check.named)
    where = f"{found.title}, {found.place}" if found else ""
    if check.outcome == "to the letter":
        text = f"To the letter: {where}."
    elif check.outcome == "altered":
        text = f"Altered: {where}."
    elif check.outcome == "elsewhere":
        given = (
            f"chapter {check.chapter} of {named}" if check.chapter and named else named or f"chapter {check.chapter}"
        )
        altered = ", and altered" * bool(check.differences)
        text = f"From elsewhere than named{altered}: the draft names {given}, and it is in {where}."
    elif check.outcome == "critic" and check.critic:
        altered = ", and altered" * bool(check.differences)
        quoted = ", which quotes it" * check.critic.quoted
        text = f"In your criticism{altered}: {check.critic.label}, {check.critic.place}{quoted}."
        text += f" It is not in {named}." * bool(named)
    elif check.outcome == "too short":
        where = f"more. Not to the letter in {found.title}" if found else "where it comes from"
        text = f"Too short to tell {where}."
    elif check.critic:
        text = f"Not found in your library, which of {check.critic.label} has the sentences around quotations alone."
    elif check.missing:
        text = f"Not found in your library, which has no work by the name {check.missing}. Add it to check this."
    elif named:
        edition = f" (edition: {found.edition})" if found and found.edition and found.title in check.named else ""
        text = f"Not found in your library: not in {named}{edition}."
    else:
        text = "Not found in your library. The draft names no work here that is in it."
    if check.cut:
        text += f" Cut after “{check.cut}”."
    if check.points:
        shown = "; ".join(map(difference_in_words, check.points[:_POINTS_SHOWN]))
        text += f" Punctuation differs: {shown}{' …' * (len(check.points) > _POINTS_SHOWN)}."
    if check.missing and found and check.is_placed:
        text += f" The citation names {check.missing}, which your library does not have."
    return text


def difference_in_words(difference: Difference) -> str:
    """Write a difference.

    >>> difference_in_words(Difference("his", "her", "pronoun"))
    '“his” for “her” (a pronoun changed without brackets)'
    """
    if not difference.ours:
        text = f"“{difference.theirs}” left out"
    elif not difference.theirs:
        text = f"“{difference.ours}” put in"
    else:
        text = f"“{difference.ours}” for “{difference.theirs}”"
    return text + (f" ({EXCUSES[difference.excuse]})" if difference.excuse else "")


def citation(check: QuotationCheck, style: str = "mla") -> str:
    """Give the citation of what was found; empty where nothing was."""
    return check.found.citation[style] if check.found and check.is_placed else ""


def as_table(report: DraftReport, style: str = "mla") -> str:
    """Write a table (CSV), a row for each quotation."""
    return as_csv((COLUMNS, *(_row(check, style) for check in report.checks)))


def _row(check: QuotationCheck, style: str) -> Iterator[object]:
    yield " and ".join(check.outcomes)
    yield from (check.words, outcome_in_words(check), "; ".join(map(difference_in_words, check.differences)))
    if check.outcome == "critic" and check.critic:
        yield from (check.critic.label, check.critic.place, "", "", "", "")
    else:
        for found in (check.found, None) if check.is_placed else (None, check.found):
            yield from (found.title, found.place, found.at) if found else ("", "", "")
    yield from ("; ".join(check.named), citation(check, style), *check.at)


def as_json(report: DraftReport) -> str:
    """Write everything, with offsets into the text of the draft, which is in it."""
    plain: dict[str, Any] = TypeAdapter(DraftReport).dump_python(report, mode="json")
    whole = {"format": "relic checked draft/1", "summary": report.summary, **plain}
    return TypeAdapter(dict[str, Any]).dump_json(whole, indent=2).decode() + "\n"


def as_page(report: DraftReport, cited: dict[str, CitedWork], style: str = "mla") -> str:
    """Write a page (HTML) that can be printed: the quotations one by one, and the works cited."""
    items = ""
    for check in report.checks:
        lines = "".join(f"<p>{escape(line)}</p>" for line in _lines(report, check, style))
        items += f"<li><blockquote>{escape(check.words[:_SHOWN])}</blockquote>{lines}</li>"
    chosen = ""
    for at in report.unquoted:
        words = escape(report.draft.text[slice(*at)][:_SHOWN])
        for line in _chosen(report, at[0], style):
            chosen += f"<li><blockquote>{words}</blockquote><p>{escape(line)}</p></li>"
    entries = "".join(f"<li>{entry.html}</li>" for entry in works_cited(cited.values(), style))
    title = escape(report.draft.name or "A draft")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}, checked</title>'
        "<style>body{font:1rem/1.5 serif;max-width:42rem;margin:2rem auto;padding:0 1rem}li{break-inside:avoid}</style>"
        f"<h1>{title}</h1><p>{escape(report.summary)}. {report.searched:,} works were looked in.</p>"
        + "".join(f"<p>{escape(each)}</p>" for each in report.notices)
        + f"<ol>{items}</ol>"
        + (f"<h2>Chosen for paragraphs that quote nothing</h2><ul>{chosen}</ul>" if chosen else "")
        + (f"<h2>Works cited</h2><ul>{entries}</ul>" if entries else "")
        + "</html>\n"
    )


def cited_ids(report: DraftReport) -> tuple[str, ...]:
    """List the works that a draft quotes, and those of what was chosen for it."""
    quoted = (check.found.work_id for check in report.checks if check.found and citation(check))
    return tuple(dict.fromkeys((*quoted, *(each.found.work_id for each in report.chosen))))


def as_word(report: DraftReport, original: bytes = b"", style: str = "mla") -> bytes:
    """Write the draft for Word with a comment at each quotation: a copy of the writer's file, or one of its text."""
    from docx import Document

    document = Document(io.BytesIO(original)) if original else _document(report.draft.text)
    remarks = [(check.at, list(_lines(report, check, style))) for check in report.checks]
    remarks += [(at, list(_chosen(report, at[0], style))) for at in report.unquoted]
    for begin, lead, paragraph, reference in list(word_paragraphs(document)):
        text = "".join(run.text for run in _runs(paragraph))
        set_off = len(lead)
        end = begin + len(text) + set_off * text.count("\n")
        for at, remark in remarks:
            if not remark or not begin <= at[0] < end:
                continue
            first, last = at[0] - begin, min(at[1], end) - begin
            lines = (report.draft.text.count("\n", begin, begin + each) * set_off for each in (first, last))
            first, last = (each - moved for each, moved in zip((first, last), lines, strict=True))
            marked = [reference] if reference else _between(paragraph, first, last)
            if marked:
                document.add_comment(marked, text="\n".join(remark), author="RELiC Workbench", initials="RW")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _document(text: str) -> Document:
    import docx

    document = docx.Document()
    for paragraph in text.split("\n\n"):
        document.add_paragraph(without_control_characters(paragraph, " "))  # what stands behind one stays in its place
    return document


def remarks_on(check: QuotationCheck, style: str = "mla") -> Iterator[str]:
    """Say what came of a check, each difference, what comes nearest, and how to cite what was found."""
    yield outcome_in_words(check)
    yield from map(difference_in_words, check.differences)
    if check.found and not check.is_placed:
        yield f"Nearest in {check.found.title}: “{check.found.words[:_SHOWN]}”"
    if check.critic and check.critic.words:
        yield f"There: “{check.critic.words[:_SHOWN]}”"
    if cite := citation(check, style):
        yield f"Cite: {cite}"


def _lines(report: DraftReport, check: QuotationCheck, style: str) -> Iterator[str]:
    yield from remarks_on(check, style)
    yield from _chosen(report, check.at[0], style)


def _chosen(report: DraftReport, start: int, style: str) -> Iterator[str]:
    for found in report.chosen_at(start):
        yield f"Chosen: “{found.words}” {found.citation[style]}"


def _between(paragraph: Paragraph, first: int, last: int) -> list[Run]:
    """Give the runs of a paragraph from one character to another, cut where these stand inside a run."""
    for place in (first, last):
        at = 0
        for run in _runs(paragraph):
            length = len(run.text)
            if at < place < at + length:
                _cut(run, place - at)
                break
            at += length
    found, at = [], 0
    for run in _runs(paragraph):
        if first <= at < last and run.text:
            found.append(run)
        at += len(run.text)
    return found


def _runs(paragraph: Paragraph) -> list[Run]:
    return [run for each in paragraph.iter_inner_content() for run in getattr(each, "runs", [each])]


def _cut(run: Run, place: int) -> None:
    """Make two runs of one that holds nothing but text; others stay whole."""
    if any(child.tag.rpartition("}")[2] not in {"t", "rPr", "br", "tab"} for child in run._r):  # noqa: SLF001 - no other way
        return
    behind = deepcopy(run._r)  # noqa: SLF001
    run._r.addnext(behind)  # noqa: SLF001
    text = run.text
    run.text = text[:place]
    type(run)(behind, run._parent).text = text[place:]  # noqa: SLF001
