"""The answer of the Find a word page: counts, strips, and the word in its context, one place under the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from relic_core.domain import WorkSummary
from relic_core.reporting.concordance import Occurrence
from relic_core.services.concordance import MOST_EXPORTED, ConcordanceAnswer, ConcordanceRequest
from relic_core.wiring import App
from relic_ui import keep, links
from relic_ui.buttons import save_button
from relic_ui.concordance import compared
from relic_ui.concordance.concordance import choose_sort
from relic_ui.concordance.kwic_counts import show_counts

_FORMS_SHOWN = 24
_TO_SUMMARY = {"data-then": "#kwic-summary"}
_TO_PLACES = {"data-then": "#kwic-places"}
_WIDEST_WORD = 26
"""Characters of the widest column for the words found."""


def show_answer(app: App, answer: ConcordanceAnswer, summaries: Sequence[WorkSummary]) -> None:
    """Draw what was found: how often and in which forms, where in the work, and the places themselves."""
    summary = _summary(answer, summaries)
    st.html(f'<div class="relic-kwic-summary" id="kwic-summary" role="status">{summary}</div>{_forms(answer)}')
    if answer.request.compared:
        compared.show(app, answer)
    if not answer.total:
        if near := _nothing(answer):
            st.html(near)
        return
    if not answer.request.compared:
        show_counts(answer)
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        choose_sort()
        request = dataclasses.replace(answer.request, page=1)
        save_button(
            f"Save {_exported(answer)} as CSV",
            lambda: app.concordance.export(request),
            _file_name(request),
            "text/csv",
            key="concordance_save",
        )
    several = not answer.request.work_id
    marks = keep.Marks(app, answer.request.word)
    st.html(_table(answer, marks, several=several) + _pages(answer))


def _exported(answer: ConcordanceAnswer) -> str:
    if answer.total > MOST_EXPORTED:
        return f"the first {MOST_EXPORTED:,}"
    return "it" if answer.total == 1 else f"all {answer.total:,}"


def _file_name(request: ConcordanceRequest) -> str:
    """Name the file of a table after its query.

    >>> from types import SimpleNamespace
    >>> _file_name(SimpleNamespace(word="good/fortune*", work_id="emma-1"))
    'good-fortune in emma-1.csv'
    """
    words = "-".join("".join(sign if sign.isalnum() else " " for sign in request.word).split())[:40]
    return f"{words} in {request.work_id or 'all works'}.csv"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _link(label: str, request: ConcordanceRequest, **changed: object) -> str:
    wanted = dataclasses.replace(request, page=1, **changed) if changed else request  # type: ignore[arg-type]
    return links.link("concordance", label, attributes=_TO_SUMMARY, **wanted.parameters)


def _searched(answer: ConcordanceAnswer, summaries: Sequence[WorkSummary]) -> str:
    named = next((work.title for work in summaries if work.id == answer.request.work_id), None)
    if named is not None:
        return f"<cite>{escape(named)}</cite>"
    return "your one work" if answer.searched == 1 else f"{answer.searched} works"


def _summary(answer: ConcordanceAnswer, summaries: Sequence[WorkSummary]) -> str:
    word = escape(answer.request.word.strip())
    voice, where = answer.request.voice, _searched(answer, summaries)
    if voice != "any":
        where = f"the {voice} of {where}"
    if not answer.total:
        return f"<p><b>{word}</b> does not occur in {where}.</p>"
    words = sum(work.words for work in answer.works)
    rate = 10_000 * answer.total / max(1, words)
    if answer.request.work_id:
        of_all = " of all" * (voice != "any")
        return f"<p><b>{word}</b> occurs {_times(answer.total)} in {where}: {rate:,.1f} in 10,000 words{of_all}.</p>"
    held = f"{'one' if len(answer.works) == 1 else len(answer.works)} of " if answer.searched > 1 else ""
    return f"<p><b>{word}</b> occurs {_times(answer.total)}, in {held}{where}.</p>"


def _forms(answer: ConcordanceAnswer) -> str:
    """List the forms found, each a link to its places alone."""
    request, forms = answer.request, answer.forms
    if len(forms) <= 1 and not request.only:
        return f'<p class="relic-kwic-forms">{_more(answer)}</p>' if answer.more else ""
    shown = [form for form in forms[:_FORMS_SHOWN] if form.key != request.only]
    items = [f"{_link(form.label, request, only=form.key)} {form.count:,}" for form in shown]
    if len(forms) > _FORMS_SHOWN:
        items.append(f"and {len(forms) - _FORMS_SHOWN:,} more")
    if request.only:
        chosen = next((form.label for form in forms if form.key == request.only), request.only)
        every = _link("show all forms", request, only="")
        lead = f"Only <b>{escape(chosen)}</b> is shown: {every}."
        return f'<p class="relic-kwic-forms">{lead}{" Others: " + ", ".join(items) if items else ""}</p>'
    return f'<p class="relic-kwic-forms">Counted: {", ".join(items)}{". " * bool(answer.more)}{_more(answer)}</p>'


def _more(answer: ConcordanceAnswer) -> str:
    """Name the word forms that were not asked for, with a link to all."""
    if not answer.more:
        return ""
    named = ", ".join(escape(form.label) for form in answer.more[:_FORMS_SHOWN])
    count = sum(form.count for form in answer.more)
    return f"{count:,} more as {named}: {_link('show', answer.request, forms=True)}"


def _nothing(answer: ConcordanceAnswer) -> str:
    """Say what is near where nothing was found."""
    request = answer.request
    parts = []
    several = len(answer.words) > 1
    for word in answer.words:
        if several and word.count:
            own = _link(word.word, request, word=word.word, only="")
            parts.append(f"{own} alone occurs {_times(word.count)}.")
        elif word.near:
            alike = ", ".join(_link(near, request, word=near, only="", as_written=False) for near in word.near)
            lead = f"<b>{escape(word.word)}</b> does not occur. Words" if several else "Words"
            parts.append(f"{lead} like it that do: {alike}.")
        elif several:
            parts.append(f"<b>{escape(word.word)}</b> does not occur.")
    for offer in answer.offers:
        found = "" if offer.count is None else f": {_times(offer.count)}"
        wider = links.link("concordance", f"Look {offer.label}", attributes=_TO_SUMMARY, **offer.request.parameters)
        parts.append(f"{wider}{found}.")
    return f'<ul class="relic-kwic-near">{"".join(f"<li>{part}</li>" for part in parts)}</ul>' if parts else ""


def _table(answer: ConcordanceAnswer, marks: keep.Marks, *, several: bool) -> str:
    longest = max(len(row.keyword) for row in answer.rows)
    first = (
        (answer.page - 1) * len(answer.rows) + 1 if answer.page < answer.pages else answer.total - len(answer.rows) + 1
    )
    caption = f"Places {first:,} to {first + len(answer.rows) - 1:,} of {answer.total:,}"
    heads = (("left", "Before"), ("word", "Word"), ("right", "After"), ("place", "Place"))
    head = "".join(
        f'<th scope="col" role="columnheader" class="relic-kwic-{name}">{label}</th>' for name, label in heads
    )
    rows = "".join(
        _row(row, first + index, answer.request, marks, several=several) for index, row in enumerate(answer.rows)
    )
    return (
        '<table class="relic-kwic" id="kwic-places" role="table" '
        f'style="--relic-kwic-word:{min(longest, _WIDEST_WORD)}">'
        f'<caption class="relic-sr">{caption}</caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
    )


def _row(row: Occurrence, number: int, request: ConcordanceRequest, marks: keep.Marks, *, several: bool) -> str:
    """Set one place, with a name on the page by its number among all, to be come back to."""
    place = row.place
    inside = place.label.removeprefix(f"{place.chapter} · ")
    to = links.link(
        "read",
        place.chapter,
        title=f"{place.chapter}, {inside}",
        work=row.work.id,
        at=str(row.place.address),
        n=row.sentences if row.sentences > 1 else None,
        words=urlencode(request.parameters),
    )
    named = f'<span class="relic-kwic-title">{escape(row.work.title)}</span> ' if several else ""
    kept = marks.html(
        row.work.id, str(place.address), row.sentences, request.word.strip(), place=f"line {number}, {place.label}"
    )
    return (
        f'<tr role="row" id="kwic-{number}">'
        f'<td role="cell" class="relic-kwic-left"><div><span>{escape(row.left)}</span></div></td>'
        f'<td role="cell" class="relic-kwic-word"><mark>{escape(row.keyword)}</mark></td>'
        f'<td role="cell" class="relic-kwic-right"><div><span>{escape(row.right)}</span></div></td>'
        f'<td role="cell" class="relic-kwic-place">{named}<div>{to}<span>, {escape(inside)}</span></div>{kept}</td>'
        "</tr>"
    )


def _pages(answer: ConcordanceAnswer) -> str:
    def to(label: str, number: int) -> str:
        parameters = dataclasses.replace(answer.request, page=number).parameters
        return links.link("concordance", label, attributes=_TO_PLACES, **parameters)

    return links.pages_html(answer.page, answer.pages, to)
