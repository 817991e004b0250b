"""The address of the reading room, and what is kept of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import streamlit as st

from relic_core.domain import Work
from relic_core.errors import NotFound
from relic_core.services.reading import ReadingPage
from relic_core.services.search import SearchResult
from relic_core.wiring import App
from relic_ui import keep
from relic_ui.shell import literal, sentences_named, warn_of_address
from relic_ui.visit import visit


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuery:
    """What the page's address asks for, filled up from what was read last in this visit.

    - `work_id`, `at`, `search_id`: empty where nothing is known.
    - `words`: what the concordance was asked that the reader comes from, as its address has it; empty where it was
      none.
    - `quoting`: it is asked who quotes the sentence.
    - `resumed`: the place is that of the visit, not of the address: the reader comes back to it.
    - `edition`: the edition that the address was made with, in eight hex digits.
    """

    work_id: str
    at: str
    length: int
    search_id: str
    words: str
    quoting: bool
    resumed: bool
    edition: str = ""

    @property
    def thread(self) -> dict[str, Any]:
        """What links within the room carry on, so that the way back stays open."""
        return {"q": self.search_id, "words": self.words}


def asked() -> ReadQuery:
    """Read the page's address."""
    given, state = st.query_params, visit()
    work_id = given.get("work") or state.get("read_work", "")
    at, search_id = given.get("at", ""), given.get("q", "")
    words = given.get("words", "") if not search_id else ""
    last: Any = state.get("read_places", {}).get(work_id)
    resumed = not at and last is not None
    if resumed:
        at = last[0]
        if not search_id and not words:
            search_id, words = last[1:]
    return ReadQuery(
        work_id=work_id,
        at=at,
        length=sentences_named(),
        search_id=search_id,
        words=words,
        quoting="quoting" in given and not resumed,
        resumed=resumed,
        edition=given.get("w", "") if not resumed else "",
    )


def open_page(app: App, wanted: ReadQuery) -> ReadingPage | None:
    """Open what is asked for; None, with the reason told, where its work is not there."""
    state = visit()
    try:
        found = app.sharing.open_passage(wanted.work_id, at=wanted.at, length=wanted.length, edition=wanted.edition)
    except NotFound as error:
        state.pop("read_work", None)
        warn_of_address(literal(str(error)))
        return None
    page = found.page
    for notice in found.notices:
        warn_of_address(literal(notice))
    # A place kept on this browser is offered until the reader has gone to one in this visit.
    state["read_offer"] = page.work.id if not wanted.at else state.get("read_offer") if page.at == "1" else None
    state["read_work"] = page.work.id
    state.setdefault("read_places", {})[page.work.id] = (
        str(page.chapter.index + 1),
        wanted.search_id,
        wanted.words,
    )
    return page


def keep_pressed(app: App, does: str, to: str) -> None:
    """Keep the passage that is marked, or let it go: the search that the reader comes from stands behind it."""
    passage = keep.asked(does, to)
    if passage is None:
        return
    search_id = "".join(passage.further)
    found, retriever, rank = at_hand(search_id) if search_id else None, "", 0
    if found is not None:
        here = (passage.work_id, passage.at, passage.length)
        ranked = (
            (number, column.retriever)
            for column in found.columns
            for number, card in enumerate(column.cards, start=1)
            if (card.work.id, str(card.place.address), card.line.length) == here
        )
        rank, retriever = min(ranked, key=itemgetter(0), default=(0, ""))  # of columns that agree the first
    keep.press(app, passage, origin="read", search_id=search_id, retriever=retriever, rank=rank)


def kept(app: App, work: Work, search_id: str) -> dict[str, object]:
    """Gather what the component needs of the notebook: what is kept of this work, for the claim at hand."""
    claim = ""
    if search_id:
        with suppress(NotFound):  # a search of another machine: the page says so below
            claim = app.history.get(search_id).request.sentence
    return {"search": search_id, "kept": keep.Marks(app, claim).in_work(work.id)}


def at_hand(search_id: str) -> SearchResult | None:
    """Take the answer that Find has just shown, or that this page has already; None where there is none."""
    state = visit()
    shown, kept = state.get("find_answer"), state.get("read_answer")
    if shown is not None and shown[3] == search_id:
        return shown[2]
    return kept[1] if kept is not None and kept[0] == search_id else None
