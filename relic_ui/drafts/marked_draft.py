"""A draft with each of its quotations marked, and the list of them beside it."""

from __future__ import annotations

import re
from html import escape

from relic_core.domain.drafts import SUMMED, CheckOutcome, Difference, DraftReport, QuotationCheck
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
    "not found": "#c0453a",
    "too short": "#77726a",
}
_LINES: dict[CheckOutcome, str] = {
    "to the letter": "solid",
    "altered": "wavy",
    "elsewhere": "double",
    "not found": "dashed",
    "too short": "dotted",
}
"""So that no outcome is known by its colour alone."""

STYLE = """
<style>
.relic-draft { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 24rem); gap: 1rem 3rem;
  margin-top: 1rem; }
.relic-draft-text { font-family: var(--relic-serif); font-size: 1.08rem; line-height: 1.6; max-width: 44rem;
  overflow-wrap: anywhere; }
.relic-draft-text p { margin: 0 0 .9em !important; white-space: pre-line; font-size: inherit; }
.relic-draft-text blockquote { margin: 0 0 .9em 1.2rem; padding-left: .8rem; border-left: 2px solid var(--relic-line);
  color: inherit; opacity: 1; font-size: inherit; }
.relic-draft-text blockquote p { margin: 0 !important; }
.relic-draft-quote, .relic-draft-quote:hover { color: inherit; scroll-margin-top: 5rem;
  text-decoration: underline 2px var(--relic-outcome); text-decoration-style: var(--relic-outcome-line);
  text-underline-offset: .2em; text-decoration-skip-ink: none; }
.relic-draft-quote:is(:target, :focus-visible), .relic-draft-list li:target {
  background: color-mix(in srgb, var(--relic-outcome) 18%, transparent); }
.relic-draft-quote sup { font-family: "Source Sans", sans-serif; font-size: .7em; font-weight: 600;
  margin-left: .15em; }
.relic-draft-list { list-style: none; margin: 0 !important; padding: 0 !important; align-self: start; }
.relic-draft-list li { margin: 0 0 .9rem !important; padding: .1rem .4rem .1rem .8rem; scroll-margin-top: 5rem;
  border-left: 3px solid var(--relic-outcome); font-size: .92rem; line-height: 1.45; overflow-wrap: anywhere; }
.relic-draft-list h3 { font-size: .92rem; font-weight: 600; margin: 0; padding: 0; letter-spacing: 0;
  line-height: 1.5; }
.relic-draft-list h3 a { color: inherit; display: inline-block; min-height: 1.5rem; }
.relic-draft-list blockquote { font-family: var(--relic-serif); margin: .1rem 0; padding: 0; border: 0; color: inherit;
  opacity: 1; font-size: 1rem; }
.relic-draft-differences { margin: .2rem 0 !important; padding: 0 !important; list-style: none; }
.relic-draft-differences > li { border: 0; padding: 0; margin: 0 !important; }
.relic-draft-list ins { text-decoration: none; font-weight: 600; }
.relic-draft-unquoted { border-left: 3px dotted var(--relic-line); padding-left: .8rem; }
@media (max-width: 900px) { .relic-draft { grid-template-columns: minmax(0, 1fr); } }
</style>
"""


def result_html(report: DraftReport, *, marking: bool) -> str:
    """Set a draft and the list of its quotations; `marking` also the paragraphs that quote nothing."""
    items = "".join(_item(number, check) for number, check in enumerate(report.checks, start=1))
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
            title = "Find passages for this paragraph"
            body += f" {buttons.button('find', f'paragraph-{number}', 'Find a quotation', title=title)}"
            html += f'<div class="relic-draft-unquoted"><p>{body}</p></div>'
        elif paragraph[0].startswith(_SET_OFF):
            html += f"<blockquote><p>{body}</p></blockquote>"
        else:
            html += f"<p>{body}</p>"
    return html


def _paragraph(report: DraftReport, start: int, end: int) -> str:
    html, done, text = "", start, report.draft.text
    for number, check in enumerate(report.checks, start=1):
        first, last = max(check.at[0], done), min(check.at[1], end)
        if first < last:
            named = f' id="quote-{number}"' if check.at[0] >= start else ""
            html += escape(text[done:first])
            html += (
                f'<a class="relic-draft-quote" href="#check-{number}" target="_self"{named} style="{_look(check)}" '
                f'title="{SUMMED[check.outcome].capitalize()}">{escape(text[first:last])}<sup>{number}</sup></a>'
            )
            done = last
    return html + escape(text[done:end])


def _look(check: QuotationCheck) -> str:
    return f"--relic-outcome:{_COLOURS[check.outcome]};--relic-outcome-line:{_LINES[check.outcome]}"


def _item(number: int, check: QuotationCheck) -> str:
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
    if check.outcome == "not found":
        if check.missing or not check.named:
            do.append(link("library", "Add a work"))
        if check.claim:
            title = f"Find passages that would serve here, for quotation {number}"
            do.append(buttons.button("find", f"quotation-{number}", "Find passages that would serve", title=title))
    if cite := citation(check):
        body += f'<p class="relic-quiet">Cite: {escape(cite)}</p>'
    head = f'<h3><a href="#quote-{number}" target="_self">{number}. {SUMMED[check.outcome].capitalize()}</a></h3>'
    return f'<li id="check-{number}" style="{_look(check)}">{head}{words}{body}<p>{" ".join(do)}</p></li>'


def _difference(difference: Difference) -> str:
    ours = f"<del>{escape(difference.ours)}</del> " if difference.ours else ""
    theirs = f"<ins>{escape(difference.theirs)}</ins>" if difference.theirs else ""
    told = " is left out" if not difference.ours else " is not there" if not difference.theirs else ""
    why = f' <span class="relic-quiet">({EXCUSES[difference.excuse]})</span>' if difference.excuse else ""
    return f"{ours}{theirs}{told}{why}"
