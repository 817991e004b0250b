"""What critics say about a claim: the box on the page Criticism, and the critics' passages that it brings up."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain

import streamlit as st

from relic_core.domain import Offsets
from relic_core.services.sources import CriticsPassage, SourceSummary
from relic_core.wiring import App
from relic_ui import buttons, keep, links
from relic_ui.links import link
from relic_ui.naming import many, shorten
from relic_ui.sources import sources
from relic_ui.sources.sources import PAGE, cited, marked, window_id
from relic_ui.visit import visit

_MOST = 10
"""Passages that a claim brings up."""
_QUOTED = 320
"""Characters of a quotation that stand between the critic's words."""


def link_about(claim_text: str, work_id: str) -> str:
    """Link to what critics say about a claim, where they quote a work; of any where none is named."""
    return link("sources", "What do critics say about this?", about=claim_text, work=work_id)


def show(app: App) -> None:
    """Draw the page: the box, and the critics' passages that its claim brings up; without one, what is quoted."""
    does, to = buttons.pressed()
    st.title("Criticism")
    listed = app.sources.all()
    if not listed:
        sources.show_none(app)
        return
    claim_text, work_id = _query(listed)
    if not claim_text:
        sources.choose(app, listed)
        return
    if passage := keep.asked(does, to):
        keep.press(app, passage, origin="sources", claim_text=claim_text)
    with st.spinner("Reading what critics say …"):
        found = app.sources.about(claim_text, work_id=work_id, limit=_MOST)
    _show_found(app, claim_text, found)


def _query(listed: Sequence[SourceSummary]) -> tuple[str, str]:
    """Draw the box and give what it asks: a claim, and the work that critics are to quote; empty for any.

    The address decides, until something else is sent off, which then is in the address.
    """
    state = visit()
    works = chain.from_iterable(summary.works for summary in listed)
    titles = {work_id: title for work_id, title, _ in works}
    claim_text, work_id = st.query_params.get("about", ""), st.query_params.get("work", "")
    if state.pop("critics_sent", False):
        claim_text, work_id = (state["critics_claim"] or "").strip(), state["critics_work"]
        given = {"about": claim_text, "work": work_id} if claim_text else {}
        links.set_address(**{name: value for name, value in given.items() if value})
    elif state.get("critics_query") != (claim_text, work_id) or "critics_claim" not in state:
        state.update({"critics_claim": claim_text, "critics_work": work_id})
    state["critics_query"] = claim_text, work_id
    if state.get("critics_work") not in {"", *titles}:
        work_id = state["critics_work"] = ""
    with st.form("critics_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What do critics say about …", key="critics_claim", width=460)
        st.selectbox(
            "Quoting",
            ["", *sorted(titles, key=titles.__getitem__)],
            format_func=lambda work_id: titles.get(work_id, "Any work"),
            key="critics_work",
            width=240,
        )
        st.form_submit_button("Search", icon=":material/search:", key="critics_search", on_click=_send)
    return claim_text, work_id


def _send() -> None:
    visit()["critics_sent"] = True


def _show_found(app: App, claim_text: str, found: Sequence[CriticsPassage]) -> None:
    if not found:
        st.info(
            "No critic uses the words of your claim beside a quotation. Try other words, or any work.",
            icon=":material/format_quote:",
        )
        return
    marks = keep.Marks(app, claim_text)
    rows = "".join(_row(each, number, marks) for number, each in enumerate(found, start=1))
    count = f"The first {_MOST} passages" if len(found) == _MOST else many(len(found), "passage").capitalize()
    st.html(
        f'<h2 id="critics-heading" class="relic-item">{count}</h2>'
        f'<ol class="relic-windows relic-critics-say" aria-labelledby="critics-heading">{rows}</ol>'
    )


def _row(passage: CriticsPassage, number: int, marks: keep.Marks) -> str:
    view = passage.view
    window, work, name = view.window, view.work, escape(window_id(view.window.id))
    quotation = window.quotation if len(window.quotation) <= _QUOTED else shorten(window.quotation, _QUOTED)
    at, n, where = str(view.place.address), window.gold.length, view.place.label.replace(" · ", ", ")
    read = link("read", where, title=f"Read it in its chapter: {work.title}, {where}", work=work.id, at=at, n=n)
    source = link(
        "sources",
        "Where the critic says it",
        title=f"Where the critic says it: {view.source.title}",
        attributes={"data-then": f"#{window_id(window.id)}"},
        source=view.source.id,
        page=page if (page := (passage.number - 1) // PAGE + 1) > 1 else None,
    )
    kept = marks.html(work.id, at, n, place=f"{work.title}, {where}")
    return (
        f'<li id="{name}" tabindex="-1" aria-labelledby="{name}-name" class="relic-window">'
        f'<h3 id="{name}-name"><span class="relic-window-number">{number:,}</span> {cited(view.source)}</h3>'
        f"{_around(window.left, passage.lit_left)}<blockquote>{marked(quotation, ())}</blockquote>"
        f"{_around(window.right, passage.lit_right)}"
        f'<p class="relic-window-links"><span><cite>{escape(work.title)}</cite>, {read}</span>{source}{kept}</p></li>'
    )


def _around(sentences: Sequence[str], lit: Sequence[Offsets]) -> str:
    """Set the critic's words on one side of the quotation, with the words of the claim as marks."""
    return str(marked(" ".join(sentences), lit)).replace("<p>", '<p class="relic-window-around">')
