"""The parts of the Find page that answer: searching, keeping the answer for the visit, and showing what was found."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError, StoreError
from relic_ui import person
from relic_ui.cards import show_cards, show_heading
from relic_ui.find import search_address, share
from relic_ui.find.find import forget_address
from relic_ui.find.library_strip import show_library_strip
from relic_ui.find.notices import show_notices
from relic_ui.find.preparing import show_pending, show_preparing
from relic_ui.keep import Marks
from relic_ui.strip import show_strip

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from streamlit.delta_generator import DeltaGenerator

    from relic_core.domain import SearchRequest
    from relic_core.services.search import Column, SearchResult
    from relic_core.wiring import App

_LACKS, _DUE, _MODELS = "lacks", "due", "models"
"""Of what is answered from: a work of a library that is not prepared, an index of the whole that is to be built, and
the choice of models."""


def show_answer(app: App, request: SearchRequest) -> None:
    """Search, draw what is answered at once, then what takes seconds, in the place that was kept for it.

    The search's short id is put into the page's address. The last answer is kept for the visit, so that a rerun for
    another reason costs nothing. A request that is refused leaves no address.
    """
    result = _answer(app, request)
    search_address.tell(app, request)
    page = _draw(app, result)
    waiting = {column.retriever: page.columns[column.retriever] for column in result.columns if column.waiting}
    if waiting:
        with next(iter(waiting.values())), st.spinner("Reading the best passages beside your claim …"):
            whole = app.search.run(request)
        _keep(app, request, whole)
        _draw_strip(page, whole)
        for column in whole.columns:
            if column.retriever in waiting:
                with waiting[column.retriever]:
                    _draw_cards(column, whole, page.marks)
        _draw_foot(page, whole)


def _answer(app: App, request: SearchRequest) -> SearchResult:
    """Give the answer that is kept; where there is none, as much of it as is there at once."""
    state = st.session_state
    kept, ready = state.get("find_answer"), _ready(app, request)
    if kept is None or kept[:2] != (request, ready):
        what = "passages like this one" if request.like else "passages that bear your claim out"
        try:
            with st.spinner(f"Reading the {'work' if request.work_id else 'works'} for {what} …"):
                result = app.search.run(request, at_once=True)
        except RelicError:
            forget_address()
            raise
        _keep(app, request, result)
    *_, result, search_id = state["find_answer"]
    state["find_search"] = search_id
    search_address.name(app, search_id, request)
    return result


def _keep(app: App, request: SearchRequest, result: SearchResult) -> None:
    """Keep an answer for the visit, and the search in the history with the first passages it found."""
    search = app.history.keep(request, made_with=result.made_with, person=person.current())
    try:
        app.snapshots.keep(search.id, result)
        st.session_state["find_unkept"] = ""
    except StoreError as error:  # the answer does not hang on it
        st.session_state["find_unkept"] = f"What was found could not be kept for then and now. {error}"
    ready = _answered_from(_ready(app, request), result)
    st.session_state["find_answer"] = (request, ready, result, search.id)


def _ready(app: App, request: SearchRequest) -> frozenset[Hashable]:
    """Tell what a search would be answered from: where it has changed, the kept answer is an old one."""
    indexes, models = app.indexes, (_MODELS, app.models_chosen)
    if request.work_id:
        ready = (card.name for card in app.retrievers.cards() if indexes.ready(request.work_id, card.name))
        return frozenset({models, *ready})
    works = app.works.scope(request.narrowing)
    lacking = indexes.unprepared(works, length=request.length)
    due = {_DUE} if indexes.library_due() else set()
    return frozenset({models, *(work.id for work in works), *((_LACKS, each) for each in lacking), *due})


def _answered_from(ready: frozenset[Hashable], result: SearchResult) -> frozenset[Hashable]:
    """Tell what an answer was made from: what was ready before it, but for what turned out not to be.

    An index may be found damaged while it is searched, or be finished just after. What is ready then is not what the
    answer was made from, and the answer would be kept though another could be had.
    """
    pending = {each.retriever for each in result.columns if each.pending}
    if result.work is not None:
        return ready - pending
    lacking = {(_LACKS, work.id) for work in result.unprepared}
    return ready | (lacking or ({_DUE} if pending else set()))


@dataclass(frozen=True, slots=True)
class _Page:
    """Where the parts of an answer stand that change when all of it is there (columns by retriever); what is kept."""

    strip: DeltaGenerator
    columns: Mapping[str, DeltaGenerator]
    foot: DeltaGenerator
    marks: Marks


def _draw(app: App, result: SearchResult) -> _Page:
    """Draw the notices, where the hits stand, and one column per retriever."""
    show_notices(result)
    show_preparing(app, result)
    share.show_bar(app, st.session_state["find_search"], result.request)
    strip = st.empty()
    marks = Marks(app, result.request.claim_text)
    slots = st.columns(len(result.columns), gap="medium")
    for slot, column in zip(slots, result.columns, strict=True):
        with slot:
            show_heading(column)
            _draw_cards(column, result, marks)
    names = [column.retriever for column in result.columns]
    page = _Page(strip, dict(zip(names, slots, strict=True)), st.empty(), marks)
    _draw_strip(page, result)
    _draw_foot(page, result)
    return page


def _draw_strip(page: _Page, result: SearchResult) -> None:
    with page.strip.container():
        if result.work is None:
            show_library_strip(result.columns)
        else:
            show_strip(result.columns, result.work)


def _draw_cards(column: Column, result: SearchResult, marks: Marks) -> None:
    if not column.waiting:
        show_cards(column, result, st.session_state["find_search"], marks)
    if column.pending:
        show_pending(column, result)


def _draw_foot(page: _Page, result: SearchResult) -> None:
    works = f" of {len(result.searched):,} works" * (len(result.searched) > 1)
    page.foot.html(
        f'<p class="relic-quiet">{max(each.candidates for each in result.columns):,} passages{works} compared in '
        f"{result.seconds:.2f} s. The address of this page reopens the search.</p>"
        f'<details class="relic-quiet relic-made"><summary>What this was made with</summary>'
        f"{escape(result.made_with)}</details>"
        + (f'<p class="relic-quiet">{escape(unkept)}</p>' if (unkept := st.session_state.get("find_unkept")) else "")
    )
