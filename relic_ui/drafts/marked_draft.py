"""A draft with each of its quotations marked, and the list of them beside it."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from relic_core.domain.drafts import CheckOutcome, Difference, DraftReport, QuotationCheck
from relic_core.drafts.report import EXCUSES, citation, said
from relic_ui import buttons
from relic_ui.links import link
from relic_ui.naming import shorten

_SHOWN = 160
_SET_OFF = "    "
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


def result_html(report: DraftReport, *, marking: bool) -> str:
    """Set a draft and the list of its quotations; `marking` also the paragraphs that quote nothing."""
    items = "".join(_item(number, check, report) for number, check in enumerate(report.checks, start=1))
    return (
        f'<div class="relic-draft"><section class="relic-draft-text" aria-label="The draft">'
        f'{_text(report, marking=marking)}</section><ol class="relic-draft-list" aria-label="Its quotations">'
        f"{items}</ol></div>"
    )


def _text(report: DraftReport, *, marking: bool) -> str:
    """Set the paragraphs of a draft."""
    html, unquoted = "", {at[0]: number for number, at in enumerate(report.unquoted, start=1)} if marking else {}
    for paragraph in re.finditer(r"[^\n].*?(?=\n\s*\n|\Z)", report.draft.text, re.DOTALL):
        if not paragraph[0].strip():
            continue
        body = _paragraph(report, *paragraph.span())
        number = next((unquoted[at] for at in unquoted if paragraph.start() <= at < paragraph.end()), 0)
        if number:
            title, start = "Find passages for this paragraph", report.unquoted[number - 1][0]
            body += f" {buttons.button('find', f'paragraph-{number}', 'Find a quotation', title=title)}"
            html += f'<div class="relic-draft-unquoted"><p>{body}</p>{_chosen(report, start)}</div>'
        elif paragraph[0].startswith(_SET_OFF):
            html += f"<blockquote><p>{body}</p></blockquote>"
        else:
            html += f"<p>{body}</p>"
    return html


def _chosen(report: DraftReport, start: int) -> str:
    """Set what was chosen for a place of the draft."""
    return "".join(
        f'<div class="relic-draft-chosen"><p>Chosen: “{escape(found.words)}” {escape(found.citation["mla"])}</p><p>'
        + link("read", "Read it there", title=f"Read {found.title}, {found.place}", work=found.work_id, at=found.at,
               n=found.length)
        + " "
        + buttons.button("take-away", f"{start}/{found.work_id}/{found.at}/{found.length}", "Take it away",
                         title=f"Take it away: {found.title}, {found.place}")
        + "</p></div>"
        for found in report.chosen_at(start)
    )  # fmt: skip


def _paragraph(report: DraftReport, start: int, end: int) -> str:
    html, done, text = "", start, report.draft.text
    for number, check in enumerate(report.checks, start=1):
        first, last = max(check.at[0], done), min(check.at[1], end)
        if first < last:
            named = f' id="quote-{number}"' if check.at[0] >= start else ""
            html += escape(text[done:first])
            html += (
                f'<a class="relic-draft-quote" href="#check-{number}" target="_self"{named} style="{_look(check)}" '
                f'title="{check.summed.capitalize()}">{escape(text[first:last])}<sup>{number}</sup></a>'
            )
            done = last
    return html + escape(text[done:end])


def _look(check: QuotationCheck) -> str:
    return f"--relic-outcome:{_COLOURS[check.outcome]};--relic-outcome-line:{_LINES[check.outcome]}"


def _item(number: int, check: QuotationCheck, report: DraftReport) -> str:
    """Set what came of one check, with its links."""
    words = f"<blockquote>“{escape(shorten(check.words, _SHOWN))}”</blockquote>"
    body = f"<p>{escape(said(check))}</p>"
    if check.differences:
        items = "".join(f"<li>{_difference(each)}</li>" for each in check.differences)
        body += f'<ul class="relic-draft-differences" aria-label="Yours, and the work’s">{items}</ul>'
    found, do = check.found, []
    if found is not None:
        if check.outcome == "not found":
            body += (
                f'<p class="relic-quiet">Nearest in {escape(found.title)}: “{escape(shorten(found.words, _SHOWN))}”</p>'
            )
        do.append(link("read", "Read it there", title=f"Read {found.title}, {found.place}", work=found.work_id,
                       at=found.at, n=found.length))  # fmt: skip
    if critic := check.critic:
        if critic.words:
            body += f'<p class="relic-quiet">There: “{escape(shorten(critic.words, _SHOWN))}”</p>'
        do.append(link("sources", "What it quotes", title=f"What {critic.title} quotes", source=critic.source_id))
    if check.outcome == "not found":
        if check.missing or not check.named:
            do.append(link("library", "Add a work"))
        if check.claim:
            title = f"Find passages that would serve here, for quotation {number}"
            do.append(buttons.button("find", f"quotation-{number}", "Find passages that would serve", title=title))
    if cite := citation(check):
        body += f'<p class="relic-quiet">Cite: {escape(cite)}</p>'
    chosen = _chosen(report, check.at[0])
    head = f'<h3><a href="#quote-{number}" target="_self">{number}. {check.summed.capitalize()}</a></h3>'
    return f'<li id="check-{number}" style="{_look(check)}">{head}{words}{body}<p>{" ".join(do)}</p>{chosen}</li>'


def _difference(difference: Difference) -> str:
    ours = f"<del>{escape(difference.ours)}</del> " if difference.ours else ""
    theirs = f"<ins>{escape(difference.theirs)}</ins>" if difference.theirs else ""
    told = " is left out" if not difference.ours else " is not there" if not difference.theirs else ""
    why = f' <span class="relic-quiet">({EXCUSES[difference.excuse]})</span>' if difference.excuse else ""
    return f"{ours}{theirs}{told}{why}"
