"""Keeping the passage that is marked in the reading room, with the search that the reader comes from."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

import streamlit as st

from relic_core.errors import NotFound
from relic_ui import keep

if TYPE_CHECKING:
    from relic_core.domain import Work
    from relic_core.services.answers import SearchResult
    from relic_core.wiring import App


def do(app: App, does: str, to: str) -> None:
    """Keep the passage that is marked, or let it go: the search that the reader comes from stands behind it."""
    passage = keep.asked(does, to)
    if passage is None:
        return
    search_id = "".join(passage.further)
    found, retriever, rank = at_hand(search_id) if search_id else None, "", 0
    if found is not None:
        here = (passage.work_id, passage.at, passage.length)
        ranked = (
            (card.rank, column.retriever)
            for column in found.columns
            for card in column.cards
            if (card.work.id, str(card.place.address), card.span.length) == here
        )
        rank, retriever = min(ranked, default=(0, ""))
    keep.press(app, passage, origin="read", search_id=search_id, retriever=retriever, rank=rank)


def kept(app: App, work: Work, search_id: str) -> dict[str, object]:
    """Gather what the component needs of the notebook: what is kept of this work, for the claim at hand."""
    claim = ""
    if search_id:
        with suppress(NotFound):  # a search of another machine: the page says so below
            claim = app.history.get(search_id).claim_text
    return {"search": search_id, "kept": keep.Marks(app, claim).in_work(work.id)}


def at_hand(search_id: str) -> SearchResult | None:
    """Take the answer that Find has just shown, or that this page has already; None where there is none."""
    state = st.session_state
    shown, kept = state.get("find_answer"), state.get("read_answer")
    if shown is not None and shown[3] == search_id:
        return cast("SearchResult", shown[2])
    return cast("SearchResult", kept[1]) if kept is not None and kept[0] == search_id else None
