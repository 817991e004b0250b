"""The views of an answer: which there are, which opens, and which one the reader chose last.

The browser says whether its window is wide, and which view was chosen last in such a window; it keeps that, apart for
each person who signs in. It says so before a claim is asked, and again where the window is made wider or narrower: the
answer that is there is then drawn anew, unless the reader has chosen its view.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from relic_core.services.search import SearchResult
from relic_ui import links, person
from relic_ui.component import component
from relic_ui.find import address_bar
from relic_ui.shell import literal
from relic_ui.visit import visit

SIDE, BEST, WORKS = "side", "best", "by-work"
"""Views of an answer; the others are the names of its columns."""

_BROWSER = "find_browser"
"""In the session: the width that the browser told, and the view chosen last in a window so wide."""
_CHOSEN = "find_view_chosen"
"""In the session: a view that was chosen just now, for the browser to keep."""
_PICKED = "find_view_picked"
"""In the session: the reader chose a view in this visit, which stays however wide the window becomes."""

_JS = Path(__file__).with_name("views.js").read_text(encoding="utf-8")


def listen() -> None:
    """Have the browser say how wide it is; called at the end of a page, since what it says ends the page's run."""
    state = visit()
    width, _ = _seen()

    def seen() -> None:
        reply = state.get("relic_view")  # gone where the reader has left the page meanwhile
        if reply is None:
            return
        values = reply.seen or {}
        links.press()
        st.session_state[_BROWSER] = (str(values.get("width", "")), str(values.get("view", "")))
        if not (st.session_state.get(address_bar.VIEWED) or st.session_state.get(_PICKED)):
            state["find_view"] = ""  # what opens in a window so wide

    data = {
        "told": _BROWSER in st.session_state,
        "width": width,
        "who": person.current(),
        "chosen": st.session_state.pop(_CHOSEN, ""),
    }
    with st.sidebar:
        component("relic_view", js=_JS)(key="relic_view", data=data, on_seen_change=seen)


def _on_phone() -> bool:
    return "Mobi" in st.context.headers.get("User-Agent", "")


def _seen() -> tuple[str, str]:
    """Say whether the window is "wide" or "narrow", and which view was chosen last in such a window.

    Until the browser has told, its name has to do.
    """
    return st.session_state.get(_BROWSER) or ("narrow" if _on_phone() else "wide", "")


def choose(result: SearchResult) -> str:
    """Draw the choice of a view, and give the one chosen."""
    state = visit()
    names = {column.retriever: column.card.called for column in result.columns}
    if len(names) == 1 and len(result.by_work) <= 1:
        return next(iter(names))
    width, last = _seen()
    side = {} if _on_phone() else {SIDE: "Side by side"}  # there is no room for columns
    works = {WORKS: "By work"} if len(result.by_work) > 1 else {}
    views = {**side, BEST: "Best evidence", **works, **names}
    default = SIDE if width == "wide" and side else BEST
    opens = last if last in views else default
    in_address = st.query_params.get(address_bar.VIEW, "")
    another = in_address != st.session_state.get(address_bar.VIEWED, "") and not links.from_press()
    if another and (in_address or state["came_from"] == state["page"]):
        state["find_view"] = in_address  # another address, by Back or typed
    if state.get("find_view") not in views:
        state["find_view"] = opens

    def keep() -> None:
        st.session_state.update({_CHOSEN: state["find_view"], _PICKED: True})

    chosen = st.segmented_control(
        "View",
        list(views),
        format_func=lambda name: literal(views[name]),
        key="find_view",
        persist_state="session",
        required=True,
        label_visibility="collapsed",
        width="content",
        on_change=keep,
    )
    chosen = chosen or default
    address_bar.name_view("" if chosen == default else chosen)
    return chosen
