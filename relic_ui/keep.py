"""Keeping a passage in the notebook: one button, on every page that shows passages.

The button says Keep, or Kept with a link to the note. It is part of the page's own HTML, so a press draws the one card
anew, and nothing moves. A second press lets the passage go, unless something was written about it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import streamlit as st
from markupsafe import Markup

from relic_core.domain import Origin
from relic_core.services.notebook import Mark
from relic_core.wiring import App
from relic_ui import person
from relic_ui.buttons import button
from relic_ui.links import link, number
from relic_ui.shell import literal, show_errors

_KEEP, _LET_GO = "keep", "let-go"  # what is wanted, so that a press that comes twice does what it does once

_PARTS = 3


class KeepRequest(NamedTuple):
    """What a press asks to keep or let go; `further` is what the page put behind it."""

    work_id: str
    at: str
    length: int
    further: tuple[str, ...]
    keep: bool = True


class Marks:
    """What is kept already, of one claim.

    - `claim_text`: the claim of the page, or the query of a concordance.
    """

    def __init__(self, app: App, claim_text: str) -> None:
        whose = person.current()
        self._claim = claim_text.strip()
        self._marks = _marks(app, whose, app.settings.store, app.stamp())

    def of(self, work_id: str, at: str, length: int) -> Mark | None:
        """Say in which note a passage is kept; None where it is not."""
        return self._marks.get((self._claim, work_id, at, length))

    def in_work(self, work_id: str) -> list[list[str | int]]:
        """List what is kept of a work: address, length, note, collection, and whether it is for the page's claim.

        What is kept for that claim comes first.
        """
        found: list[list[str | int]] = [
            [at, length, mark.note_id, mark.collection, claim == self._claim]
            for (claim, work, at, length), mark in self._marks.items()
            if work == work_id
        ]
        return sorted(found, key=lambda each: not each[-1])

    def html(self, work_id: str, at: str, length: int, *further: str, place: str) -> Markup:
        """Make the HTML of the button of one passage; the page gets `further` when it is pressed.

        - `place`: where it is, in words: which of many buttons this is.
        """
        mark = self.of(work_id, at, length)
        to = "/".join((work_id, at, str(length), *(quote(each, safe="") for each in further)))
        does, label = (_KEEP, "Keep") if mark is None else (_LET_GO, "Kept")
        label += f" · {mark.verdict}" if mark and mark.verdict else ""
        pressed = button(does, to, label, title=f"{label}: {place} (key k)", chosen=mark is not None)
        note = "" if mark is None else note_link(mark)
        return Markup(f'<span class="relic-keep">{pressed}{note}</span>')  # noqa: S704 - both are HTML already


@st.cache_resource(max_entries=8, show_spinner=False)
def _marks(
    _app: App,
    whose: str,
    store: Path,  # noqa: ARG001 - what the answer depends on
    stamp: tuple[tuple[int, int], ...],  # noqa: ARG001 - what the answer depends on
) -> dict[tuple[str, str, str, int], Mark]:
    """Look once what is kept, until the store changes."""
    return _app.notebook.marks(whose)


def note_link(mark: Mark) -> Markup:
    """Link to a note in the notebook."""
    return link(
        "notebook",
        "note",
        title=f"in {mark.collection}: open the note",
        attributes={"data-then": f"#{note_anchor(mark.note_id)}"},
        note=mark.note_id,
    )


def note_anchor(note_id: str) -> str:
    """Name the place of a note on the page of the notebook."""
    return f"note-{note_id}"


def asked(does: str, to: str) -> KeepRequest | None:
    """Read what a press asks to keep or let go; None where something else was pressed, or nothing.

    >>> asked("keep", "emma-1/3.5.2/2/q1/bm25/4")
    KeepRequest(work_id='emma-1', at='3.5.2', length=2, further=('q1', 'bm25', '4'), keep=True)
    >>> asked("add", "emma"), asked("", "")
    (None, None)
    """
    parts = to.split("/")
    if does not in {_KEEP, _LET_GO} or len(parts) < _PARTS:
        return None
    return KeepRequest(parts[0], parts[1], number(parts[2], 5), tuple(map(unquote, parts[3:])), does == _KEEP)


def press(
    app: App,
    passage: KeepRequest,
    *,
    origin: Origin,
    claim_text: str = "",
    search_id: str = "",
    retriever: str = "",
    rank: int = 0,
) -> None:
    """Keep a passage or let it go, and say so without moving the page."""
    with show_errors():
        work = app.works.load(passage.work_id)
        made_with = app.model_reading.made_with(search_id, retriever, work, passage.at, passage.length)
        done = app.notebook.press(
            passage.work_id,
            passage.at,
            passage.length,
            keep=passage.keep,
            person=person.current(),
            origin=origin,
            claim_text=claim_text,
            search_id=search_id,
            retriever=retriever,
            rank=rank,
            made_with=made_with,
        )
        messages = {
            "kept": f"Kept in {literal(done.collection)}.",
            "let go": "No longer kept.",
            "stays": "Still kept, because you have written about it. You can remove it in the notebook.",
        }
        st.toast(messages[done.outcome], icon=":material/bookmark:")


def do(app: App, does: str, to: str, *, origin: Origin) -> None:
    """Do what was pressed where the words that a passage is kept for stand behind it."""
    if passage := asked(does, to):
        press(app, passage, origin=origin, claim_text="".join(passage.further))


def do_found(app: App, does: str, to: str) -> None:
    """Do what was pressed on a card of Find: the search, the retriever and the rank stand behind the passage."""
    if passage := asked(does, to):
        search_id, retriever, rank = (*passage.further, "", "", "")[:3]
        press(app, passage, origin="find", search_id=search_id, retriever=retriever, rank=number(rank, 5))
