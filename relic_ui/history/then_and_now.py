"""Then and now: what a search found when it was asked before, and what it finds now."""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_core.domain import Search
from relic_core.services.comparing import ColumnThenAndNow, MovedPassage, ThenAndNow
from relic_core.wiring import App
from relic_ui.history import history
from relic_ui.history.found_line import FoundLines
from relic_ui.history.history import HistoryQuery
from relic_ui.links import set_address
from relic_ui.naming import listed, ways
from relic_ui.style import hue
from relic_ui.visit import visit


def show(app: App, asked: HistoryQuery, search: Search) -> None:
    """Draw what one search found then and what it finds now."""
    with st.spinner("Asking it again …"):
        found = app.comparing.then_and_now(search, at=asked.at)
    _choose_then(found)
    _show_changes(found)
    if not found.columns:
        return
    lines, names = FoundLines(app, search), ways(app)
    slots = st.columns(len(found.columns), gap="medium")
    for slot, column in zip(slots, found.columns, strict=True):
        with slot:
            st.html(_column_html(column, names.get(column.retriever, column.label), lines))


def _choose_then(found: ThenAndNow) -> None:
    if len(found.times) < 2:  # noqa: PLR2004 - one is no choice
        return
    count = len(found.times)
    by_key = {
        each.isoformat(): f"{history.moment(each)} ({number} of {count})" for number, each in enumerate(found.times, 1)
    }
    chosen = found.then.isoformat() if found.then else ""
    visit()["history_then"] = chosen

    def turn() -> None:
        at = visit()["history_then"]
        set_address(**{**st.query_params.to_dict(), "at": at})

    st.selectbox(
        "Then",
        list(by_key),
        format_func=by_key.__getitem__,
        key="history_then",
        on_change=turn,
        width=340,
        help="Results are kept each time something they depend on changes.",
    )


def _show_changes(found: ThenAndNow) -> None:
    """Say what answers now that did not then, and what of it can be seen below."""
    if found.then is None:
        st.info(
            "Nothing was kept of this search, since no way of searching could answer. Open it and prepare its work.",
            icon=":material/history:",
        )
        return
    when = history.moment(found.then)
    if found.differences:
        items = "".join(f"<li>{escape(each)}</li>" for each in found.differences)
        st.html(f'<p class="relic-measure">Since {when}:</p><ul class="relic-changed">{items}</ul>')
    elif all(column.unchanged for column in found.columns):
        st.html(
            f'<p class="relic-measure">Nothing has changed since {when}: the same text, the same models and the same '
            "program answer, and the first ten passages are the same.</p>"
        )
    else:
        st.html(
            f'<p class="relic-measure">The models and the program are the same as on {when}, and yet some passages '
            "rank differently.</p>"
        )
    if found.silent:
        one = len(found.silent) == 1
        st.html(
            f'<p class="relic-quiet">{escape(listed([card.called for card in found.silent]))} cannot be compared: '
            f"{'it' if one else 'they'} did not answer then, or cannot now.</p>"
        )


def _column_html(column: ColumnThenAndNow, name: str, lines: FoundLines) -> str:
    """Make the HTML of one retriever's passages, those of now first."""
    here = [each for each in column.passages if each.now and each.now <= _TEN]
    left = [each for each in column.passages if not (each.now and each.now <= _TEN)]
    stayed = sum(1 for each in here if each.then and each.then <= _TEN)
    summary = "As it was." if column.unchanged else f"{stayed} of the first {len(here)} were among the first ten then."
    heading = f'<h2>{escape(name)}</h2><p class="relic-quiet relic-moved-sum">{summary}</p>'
    items = "".join(_item(each, column, lines) for each in here)
    parts = [
        f'<div class="relic-column" style="{hue(column.retriever)}">{heading}</div>',
        f'<ol class="relic-moved" style="{hue(column.retriever)}">{items}</ol>',
    ]
    if left:
        items = "".join(_item(each, column, lines) for each in left)
        parts.append(
            f'<h3 class="relic-history-day">No longer among the first ten</h3><ul class="relic-moved" '
            f'style="{hue(column.retriever)}">{items}</ul>'
        )
    if not column.passages:
        parts.append('<p class="relic-quiet">It found nothing then, and finds nothing now.</p>')
    return "".join(parts)


_TEN = 10


def _item(each: MovedPassage, column: ColumnThenAndNow, lines: FoundLines) -> str:
    """Make the line of a passage; where nothing has changed, nothing is said of any."""
    rank = f'<span class="relic-rank"><span class="relic-sr">Now </span>{each.now or "–"}</span>'
    retriever = column.retriever if each.now else ""
    words = lines.html(each.passage, retriever=retriever, rank=each.now) if each.passage else _AWAY
    if column.unchanged:
        return f"<li>{rank}<div>{words}</div></li>"
    css = ' class="relic-moved-quiet"' if each.moved == "stayed" else ""
    return f'<li{css}>{rank}<div><div class="relic-moved-how">{how(each)}</div>{words}</div></li>'


_AWAY = '<p class="relic-quiet">Its work is not in your library any more.</p>'


def how(each: MovedPassage) -> str:
    """Say in words what became of a passage.

    >>> from types import SimpleNamespace
    >>> how(SimpleNamespace(moved="rose", then=4, now=2)), how(SimpleNamespace(moved="new", then=0, now=3))
    ('<span aria-hidden="true">↑</span> rose from 4', 'new')
    """
    if each.moved == "rose":
        return f'<span aria-hidden="true">↑</span> rose from {each.then}'
    if each.moved == "fell":
        return f'<span aria-hidden="true">↓</span> fell from {each.then}'
    return {"stayed": "as then", "new": "new", "gone": f"gone; it was {each.then}"}[each.moved]
