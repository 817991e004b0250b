"""The parts of the Find page that answer: searching, keeping the answer for the visit, and showing what was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relic_core.domain import GAP, SearchRequest
from relic_core.errors import StoreError
from relic_core.services.model_reading import lit
from relic_core.services.search import SearchResult, shown_gap
from relic_core.services.sources import QuotationCounts
from relic_core.wiring import App
from relic_ui import person
from relic_ui.find import address_bar, conditions, read_by_model, share
from relic_ui.find.cards import (
    card_html,
    placed_best,
    placed_in,
    show_heading,
    show_notes,
    threshold_html,
    work_html,
)
from relic_ui.find.library_strip import show_library_strip
from relic_ui.find.notices import show_notices
from relic_ui.find.preparing import show_pending, show_preparing
from relic_ui.find.strip import show_strip
from relic_ui.keep import Marks
from relic_ui.links import set_address
from relic_ui.shell import literal
from relic_ui.sources.critics import link_about

_READERS = ThreadPoolExecutor(thread_name_prefix="reads again")
_SIDE, _BEST, _WORKS = "side", "best", "by-work"
"""Views of an answer; the others are the names of its columns."""

_LACKS, _DUE, _MODELS, _BY = "lacks", "due", "models", "by"
"""Of what is answered from: a work of a library that is not prepared, an index of the whole that is to be built, the
choice of models, and which of the small model and the larger one answers."""


def answer(app: App, request: SearchRequest) -> SearchResult:
    """Give the answer kept for the visit, or as much of it as is there at once; put its short id into the address."""
    state = st.session_state
    kept, ready = state.get("find_answer"), _ready(app, request)
    if kept is None or kept[:2] != (request, ready):
        with st.spinner("Searching …"):
            result = app.search.run(request, at_once=True)
        _keep(app, request, result)
    *_, result, search_id = state["find_answer"]
    state["find_search"] = search_id or None
    if search_id:
        address_bar.name(app, search_id, request)
    else:
        set_address()  # what is not kept no address can name
    return result


def show(app: App, result: SearchResult) -> None:
    """Draw what is answered, then what takes seconds, in the place that was kept for it."""
    request = result.request
    address_bar.tell(app, request)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="find_do"):
        view = _choose_view(result)
        conditions.offer_split(request)
        if st.session_state["find_search"]:
            share.show_menu(app, st.session_state["find_search"], request)
    show_notices(result)
    show_preparing(app, result)
    page = _Page.of(app, view, result)
    if not any(column.waiting for column in result.columns):
        page.draw(result)
        return
    reading = _READERS.submit(app.search.run, request)  # meanwhile the others' cards are drawn
    page.draw(result)
    with page.waiting(result), st.spinner("Reading the best passages again …"):
        whole = reading.result()
    _keep(app, request, whole)
    page.draw(whole, before=result)


def _choose_view(result: SearchResult) -> str:
    """Draw the choice of a view, and give the one chosen; a phone has no room for columns side by side."""
    state = st.session_state
    names = {column.retriever: column.card.called for column in result.columns}
    if len(names) == 1 and len(result.by_work) <= 1:
        return next(iter(names))
    phone = "Mobi" in st.context.headers.get("User-Agent", "")
    works = {_WORKS: "By work"} if len(result.by_work) > 1 else {}
    views = {**({} if phone else {_SIDE: "Side by side"}), _BEST: "Best evidence", **works, **names}
    opens, said = next(iter(views)), st.query_params.get(address_bar.VIEW, "")
    if said != state.get(address_bar.VIEWED, "") and (said or state["came_from"] == state["page"]):
        state["find_view"] = said  # another address, by Back or typed
    if state.get("find_view") not in views:
        state["find_view"] = opens
    chosen = st.segmented_control(
        "View",
        list(views),
        format_func=lambda name: literal(views[name]),
        key="find_view",
        persist_state="session",
        required=True,
        label_visibility="collapsed",
        width="content",
    )
    address_bar.name_view("" if chosen == opens else chosen)
    return chosen


@dataclass(frozen=True, slots=True)
class _Page:
    """Where the parts of an answer stand that change when all of it is there; what is kept, and what critics quote.

    - `lists`: places of the view's lists: the best evidence, or columns by retriever.
    """

    view: str
    marks: Marks
    app: App
    strip: DeltaGenerator
    lists: Mapping[str, DeltaGenerator]
    foot: DeltaGenerator

    @classmethod
    def of(cls, app: App, view: str, result: SearchResult) -> _Page:
        """Make room for an answer."""
        strip, lists = st.empty(), {}
        with st.container(key=f"find_{view if view in {_SIDE, _BEST, _WORKS} else 'one'}"):
            shown = [column for column in result.columns if view in {_SIDE, column.retriever}]
            places = st.columns(len(shown), gap="small") if view == _SIDE else [st.container() for _ in shown]
            for place, column in zip(places, shown, strict=True):
                with place:
                    show_heading(column)
                    read_by_model.show_reading(app, column, result)
                    lists[column.retriever] = st.empty()
            if view == _BEST:
                st.html('<h2 class="relic-sr">Best evidence</h2>')
                lists[_BEST] = st.empty()
            if view == _WORKS:
                st.html('<h2 class="relic-sr">Works by their best passages</h2>')
                lists[_WORKS] = st.empty()
        marks = Marks(app, result.request.sentence)
        return cls(view, marks, app, strip, lists, st.empty())

    def waiting(self, result: SearchResult) -> DeltaGenerator:
        """Give the place of the first list that waits for an answer; the foot of the page where none does."""
        names = [column.retriever for column in result.columns if column.waiting]
        return next((self.lists[name] for name in names if name in self.lists), self.foot)

    def draw(self, result: SearchResult, *, before: SearchResult | None = None) -> None:
        """Draw the lists, the strip and the foot; what has not changed since the answer `before` is left as it is."""
        search_id = st.session_state["find_search"] or ""
        readings = self.app.model_reading.of(result)
        result = lit(result, readings)
        critics = _critics(result, self.app.sources.quoted)
        if self.view == _WORKS:
            with self.lists[_WORKS].container():
                for number, hits in enumerate(result.by_work[: 2 * result.request.results], start=1):
                    st.html(work_html(self.app.works.load(hits[0].work_id), number, hits, search_id))
            _draw_foot(self.foot, result, critics=critics)
            return
        placed = []
        if self.view == _BEST:
            placed = placed_best(result)
            with self.lists[_BEST].container():
                for each in placed:
                    st.html(
                        threshold_html(each, placed)
                        + card_html(each, result, search_id, self.marks, self.app.sources.quoted)
                    )
        for number, column in enumerate(result.columns):
            if column.retriever not in self.lists:
                continue
            left = number if self.view == _SIDE else 0
            shown = placed_in(column, result.columns[:left])
            placed += shown
            if (
                before
                and not (then := before.columns[number]).waiting
                and shown == placed_in(then, before.columns[:left])
            ):
                continue
            with self.lists[column.retriever].container():
                if not column.waiting:
                    show_notes(column, result)
                said = read_by_model.said_html(readings.get(column.retriever), column)
                for each, reading in zip(shown, said, strict=True):
                    line = threshold_html(each, shown)
                    st.html(line + card_html(each, result, search_id, self.marks, self.app.sources.quoted) + reading)
                if column.pending:
                    show_pending(column, result)
        with self.strip.container():
            if result.work is None:
                show_library_strip(placed)
            else:
                show_strip(placed, result.work)
        _draw_foot(self.foot, result, critics=critics)


def _critics(result: SearchResult, quoted: Callable[[str], QuotationCounts]) -> str:
    """Lead to what critics say about the claim; nothing where none quotes a work that was found in."""
    works = {each.card.work.id for each in result.best}
    if result.source or not any(quoted(work_id).windows for work_id in works):
        return ""
    link = link_about(shown_gap(result.request.sentence), result.request.work_id)
    return f'<p class="relic-search-do">{link}</p>'


def _draw_foot(foot: DeltaGenerator, result: SearchResult, *, critics: str) -> None:
    works = f" of {len(result.searched):,} works" * (len(result.searched) > 1)
    by = f" by the {result.model} model" * bool(result.model)
    unkept = st.session_state.get("find_unkept")
    more = result.claim.short and not (result.source or result.request.conditions or result.weak)
    foot.html(
        critics + "<p>Not the passage you have in mind? Paste your paragraph around it, with "
        f"{GAP} where the quotation goes: that finds more than a short claim does.</p>"
        * more
        + f'<p class="relic-quiet">{max(each.candidates for each in result.columns):,} passages{works} compared in '
        f"{result.seconds:.2f} s{by}. The address of this page reopens the search.</p>"
        f'<details class="relic-quiet relic-made"><summary>Texts and models used</summary>'
        f"{escape(result.made_with)}</details>" + (f'<p class="relic-quiet">{escape(unkept)}</p>' if unkept else "")
    )


def _keep(app: App, request: SearchRequest, result: SearchResult) -> None:
    """Keep an answer for the visit, and the search in the history with the first passages it found."""
    search_id, unkept = "", ""
    try:
        search_id = app.history.keep(request, made_with=result.made_with, person=person.current()).id
        app.snapshots.keep(search_id, result)
    except StoreError as error:  # the answer does not hang on it
        unkept = f"{'The results' if search_id else 'The search'} could not be saved for “Then and now”. {error}"
    st.session_state["find_unkept"] = unkept
    ready = _answered_from(_ready(app, request), result)
    st.session_state["find_answer"] = (request, ready, result, search_id)


def _ready(app: App, request: SearchRequest) -> frozenset[Hashable]:
    """Tell what a search would be answered from: where it has changed, the kept answer is an old one."""
    indexes, models = app.indexes, (_MODELS, app.models_chosen)
    if request.work_id:
        ready = (
            card.name for card in app.retrievers.cards() if indexes.ready(request.work_id, card.name, request.length)
        )
        return frozenset({models, _by(app, [request.work_id], request), *ready})
    works = app.works.scope(request.work_filter)
    lacking = indexes.unprepared(works, request.length)
    due = {_DUE} if indexes.library_due() else set()
    by = _by(app, [work.id for work in works], request)
    return frozenset({models, by, *(work.id for work in works), *((_LACKS, each) for each in lacking), *due})


def _by(app: App, works: Iterable[str], request: SearchRequest) -> tuple[str, str]:
    versions = app.works.work_versions()
    known = [versions[work] for work in works if work in versions]
    return _BY, app.retrievers.answering(known, request.length).model


def _answered_from(ready: frozenset[Hashable], result: SearchResult) -> frozenset[Hashable]:
    """Tell what an answer was made from: what was ready before it, but for what turned out not to be.

    An index may be found damaged while it is searched, or be finished just after. What is ready then is not what the
    answer was made from, and the answer would be kept though another could be had.
    """
    if result.model:
        ready -= {(_BY, "small"), (_BY, "larger")}
        ready |= {(_BY, result.model)}
    pending = {each.retriever for each in result.columns if each.pending}
    if result.work is not None:
        return ready - pending
    lacking = {(_LACKS, work.id) for work in result.unprepared}
    return ready | (lacking or ({_DUE} if pending else set()))
