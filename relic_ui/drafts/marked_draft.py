"""A draft with each of its quotations marked, and the list of them beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from markupsafe import Markup

from relic_core.domain.drafts import CheckOutcome, DraftReport, QuotationCheck
from relic_core.drafts.report import EXCUSES, citation, outcome_in_words
from relic_ui.templates import render

_SET_OFF = "    "
_ITALICS = re.compile(r"(?<![\w*\\/])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])")
_Piece = tuple[str, int, bool]
"""Words, the number of the quotation that they are of or 0, and whether it begins there."""
_COLOURS: dict[CheckOutcome, str] = {
    "to the letter": "#3f8a55",
    "altered": "#b07c00",
    "elsewhere": "#a0477a",
    "critic": "#4a6fa5",
    "not found": "#c0453a",
    "too short": "#77726a",
}
_LINES: dict[CheckOutcome, str] = {
    "to the letter": "solid",
    "altered": "wavy",
    "elsewhere": "double",
    "critic": "solid;--relic-outcome-at:underline overline",
    "not found": "dashed",
    "too short": "dotted",
}
"""So that no outcome is known by its colour alone."""

STYLE = Path(__file__).with_name("marked_draft.css")


def result_html(report: DraftReport, *, marking: bool) -> Markup:
    """Set a draft and the list of its quotations; `marking` also the paragraphs that quote nothing."""
    return render(
        "drafts/draft.html",
        report=report,
        paragraphs=_paragraphs(report, marking=marking),
        look=_look,
        italics=_italics,
        outcome_in_words=outcome_in_words,
        citation=citation,
        excuses=EXCUSES,
    )


def _paragraphs(report: DraftReport, *, marking: bool) -> Iterator[tuple[list[_Piece], int, bool]]:
    """Give the paragraphs of a draft: what each holds, its number if it quotes nothing, and whether it is set off."""
    unquoted = {at[0]: number for number, at in enumerate(report.unquoted, start=1)} if marking else {}
    for paragraph in re.finditer(r"[^\n].*?(?=\n\s*\n|\Z)", report.draft.text, re.DOTALL):
        if paragraph[0].strip():
            start, end = paragraph.span()
            number = next((unquoted[at] for at in unquoted if start <= at < end), 0)
            yield _pieces(report, start, end), number, paragraph[0].startswith(_SET_OFF)


def _pieces(report: DraftReport, start: int, end: int) -> list[_Piece]:
    pieces, done, text = [], start, report.draft.text
    for number, check in enumerate(report.checks, start=1):
        first, last = max(check.at[0], done), min(check.at[1], end)
        if first < last:
            pieces.append((text[done:first], 0, False))
            pieces.append((text[first:last], number, check.at[0] >= start))
            done = last
    return [*pieces, (text[done:end], 0, False)]


def _italics(words: str) -> Markup:
    """Set what is marked as italics, as in Markdown; asterisks of notes and in sums stay.

    >>> _italics("In *Emma* & _Persuasion_, 3 * 4 * 5, a note,* **bold**")
    Markup('In <em>Emma</em> &amp; <em>Persuasion</em>, 3 * 4 * 5, a note,* **bold**')
    """
    return Markup(_ITALICS.sub(r"<em>\2</em>", escape(words)))  # noqa: S704 - the words are escaped


def _look(check: QuotationCheck) -> str:
    return f"--relic-outcome:{_COLOURS[check.outcome]};--relic-outcome-line:{_LINES[check.outcome]}"
