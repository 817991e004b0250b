"""The parts of the Find page that answer: searching, keeping the answer for the visit, and showing what was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from relic_core.domain import SearchRequest
from relic_core.errors import StoreError
from relic_core.services.model_reading import lit
from relic_core.services.search import SearchResult, shown_gap
from relic_core.services.sources import QuotationCounts
from relic_core.wiring import App
from relic_ui import language_model, person
from relic_ui.find import address_bar, conditions, read_by_model, scope, share, views
from relic_ui.find.cards import (
    Placed,
    card_html,
    other_works_html,
    placed_best,
    placed_in,
    show_heading,
    show_notes,
    threshold_html,
    work_html,
)
from relic_ui.find.claim_box import MORE, ask, with_more
from relic_ui.find.library_strip import show_library_strip
from relic_ui.find.notices import found_in_a_line, show_notices
from relic_ui.find.preparing import show_pending, show_preparing
from relic_ui.find.strip import show_strip
from relic_ui.keep import Marks
from relic_ui.links import set_address
from relic_ui.naming import many, number_of
from relic_ui.shell import literal
from relic_ui.sources.critics import link_about
from relic_ui.visit import FoundAnswer, visit

_READERS = ThreadPoolExecutor(thread_name_prefix="second model")
_LACKS, _DUE, _MODELS, _BY = "lacks", "due", "models", "by"
"""Of what is answered from: a work of a library that is not prepared, an index of the whole that is to be built, the
choice of models, and which of the small model and the larger one answers."""


def answer(app: App, request: SearchRequest) -> SearchResult:
    """Give the answer kept for the visit, or as much of it as is there at once; put its short id into the address."""
    state = visit()
    kept, ready = state.get("find_answer"), _ready(app, request)
    if kept is None or kept[:2] != (request, ready):
        with st.spinner("Searching …"):
            result = app.search.run(request, at_once=True)
        kept = _keep(app, request, result)
    *_, result, search_id = kept
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
        view = views.choose(result)
        conditions.offer_split(request)
        if search_id := visit()["find_search"]:
            share.show_menu(app, search_id, request)
    show_notices(result)
    _show_more(result)
    show_preparing(app, result)
    found = _show_scenes(result)
    _tell_found(found, app, view, result)
    page = _Page.of(app, view, result)
    if not any(column.waiting for column in result.columns):
        page.draw(result)
        return
    reading = _READERS.submit(app.search.run, request)  # meanwhile the others' cards are drawn
    page.draw(result)
    with page.waiting(result), st.spinner("The second model reads the best passages …"):
        whole = reading.result()
    _keep(app, request, whole)
    _tell_found(found, app, view, whole)
    page.draw(whole, before=result)


def _show_more(result: SearchResult) -> None:
    """Offer a short claim a second sentence, which finds more than another reading of the cards would."""
    if not result.claim.short or result.source or result.request.conditions:
        return

    def add() -> None:
        state = visit()
        state["find_claim"] = with_more(result.request.claim_text, state["find_say_more"] or "")
        state["find_say_more"] = ""
        ask()

    with st.form("find_more_asking", border=False), st.container(horizontal=True, gap="small", key="find_more_line"):
        st.text_input(MORE, key="find_say_more", label_visibility="collapsed", placeholder=MORE)
        st.form_submit_button(
            "Find again", icon=":material/search:", key="find_more_button", on_click=add, width="content"
        )


def _tell_found(place: DeltaGenerator, app: App, view: str, result: SearchResult) -> None:
    line = found_in_a_line(result, app.sources.quoted)
    if not line:  # an empty paragraph would indent the chapters beside it
        place.empty()
        return
    line = f"Best evidence: {line}." if view != views.BEST else f"{line[0].upper()}{line[1:]}."
    place.html(f'<p class="relic-quiet">{escape(line)}</p>', width="content")


def _show_scenes(result: SearchResult) -> DeltaGenerator:
    """Offer the chapters that hold most of the answer, to search one alone, or the whole work again.

    Returns: the place before them, for what was found.
    """
    request = result.request

    def limit(chapters: Sequence[int]) -> None:
        scope.limit_to(request.work_id, chapters)
        ask()

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="find_scenes"):
        place = st.empty()
        for scene in result.scenes:
            marked = f"{number_of(scene.name)}: {', '.join(scene.marks)}" if scene.marks else scene.name
            st.button(
                literal(f"{marked} · {scene.passages} of 20" if scene.passages else marked),
                key=f"find_scene_{scene.chapter}",
                type="tertiary",
                on_click=limit,
                args=((scene.chapter,),),
                help=f"Search {literal(scene.name)} alone: it has {scene.passages} of the first 20 passages",
            )
        if request.chapters:
            st.button("Search the whole work", key="find_whole", type="tertiary", on_click=limit, args=((),))
    return place


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
        # What is drawn once stays on the page in the next run, and with it what the reader opened in a card.
        room = st.empty if any(column.waiting for column in result.columns) else st.container
        strip, lists = room(), {}
        with st.container(key=f"find_{view if view in {views.SIDE, views.BEST, views.WORKS} else 'one'}"):
            shown = [column for column in result.columns if view in {views.SIDE, column.retriever}]
            places = st.columns(len(shown), gap="small") if view == views.SIDE else [st.container() for _ in shown]
            for place, column in zip(places, shown, strict=True):
                with place:
                    show_heading(column)
                    read_by_model.show_reading(app, column, result)
                    lists[column.retriever] = room()
            if view == views.BEST:
                st.html('<h2 class="relic-sr">Best evidence</h2>')
                lists[views.BEST] = room()
            if view == views.WORKS:
                st.html('<h2 class="relic-sr">Works by their best passages</h2>')
                lists[views.WORKS] = room()
        marks = Marks(app, result.request.sentence)
        return cls(view, marks, app, strip, lists, st.empty())

    def waiting(self, result: SearchResult) -> DeltaGenerator:
        """Give the place of the first list that waits for an answer; the foot of the page where none does."""
        names = [column.retriever for column in result.columns if column.waiting]
        return next((self.lists[name] for name in names if name in self.lists), self.foot)

    def draw(self, result: SearchResult, *, before: SearchResult | None = None) -> None:
        """Draw the lists, the strip and the foot; what has not changed since the answer `before` is left as it is."""
        search_id = visit()["find_search"] or ""
        readings = self.app.model_reading.of(result)
        result = lit(result, readings)
        critics = _critics(result, self.app.sources.quoted)
        if self.view == views.WORKS:
            self._draw_works(result, search_id)
            _draw_foot(self.foot, result, critics=critics)
            return
        model = language_model.name(self.app)
        placed = self._draw_best(result, search_id, model) if self.view == views.BEST else []
        for number, column in enumerate(result.columns):
            if column.retriever not in self.lists:
                continue
            left = number if self.view == views.SIDE else 0
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
                below = read_by_model.readings_html(readings.get(column.retriever), column, model)
                for card, reading in zip(self._cards_html(shown, result, search_id), below, strict=True):
                    st.html(f"{card}{reading}")
                if column.pending:
                    show_pending(column, result)
        with self.strip.container():
            if result.work is None:
                show_library_strip(placed)
            else:
                show_strip(placed, result.work, result.ridge)
        _draw_foot(self.foot, result, critics=critics)

    def _cards_html(self, placed: Sequence[Placed], result: SearchResult, search_id: str) -> list[Markup]:
        """Make the HTML of the cards of a list, with the line above the first that is not in the answer."""
        return [
            threshold_html(each, placed) + card_html(each, result, search_id, self.marks, self.app.sources.quoted)
            for each in placed
        ]

    def _draw_best(self, result: SearchResult, search_id: str, model: str) -> list[Placed]:
        """Draw the best evidence, the later cards folded; gives what stands open."""
        placed, most = placed_best(result), 2 * result.request.results
        cards, shown = self._cards_html(placed, result, search_id), placed[:most]
        with self.lists[views.BEST].container():
            waits = any(column.waiting for column in result.columns)
            verdicts = {} if waits else read_by_model.show_synthesis(self.app, result, model)
            for each, card in zip(shown, cards[:most], strict=True):
                st.html(card + self._verdict(each, verdicts, model))
            if more := cards[most:]:
                with st.expander(many(len(more), "more passage").capitalize()):
                    for card in more:
                        st.html(card)
        return shown

    def _verdict(self, placed: Placed, verdicts: Mapping[int, str], model: str) -> Markup:
        """Make the HTML of the model's verdict on a card, unless the reader gave one."""
        card = placed.card
        mark = self.marks.of(card.work.id, str(card.place.address), card.line.length)
        return Markup() if mark and mark.verdict else read_by_model.verdict_html(verdicts.get(placed.number), model)

    def _draw_works(self, result: SearchResult, search_id: str) -> None:
        listed = result.by_work[: 2 * result.request.results]
        with self.lists[views.WORKS].container():
            for number, hits in enumerate(listed, start=1):
                st.html(work_html(self.app.works.load(hits[0].work_id), number, hits, search_id, self.marks))
            if others := other_works_html(result, len(listed)):
                st.html(others)


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
    unkept = visit().get("find_unkept")
    foot.html(
        critics
        + f'<p class="relic-quiet">{max(each.candidates for each in result.columns):,} passages{works} compared in '
        f"{result.seconds:.2f} s{by}. The address of this page reopens the search.</p>"
        f'<details class="relic-quiet relic-made"><summary>Texts and models used</summary>'
        f"{escape(result.made_with)}</details>" + (f'<p class="relic-quiet">{escape(unkept)}</p>' if unkept else "")
    )


def _keep(app: App, request: SearchRequest, result: SearchResult) -> FoundAnswer:
    """Keep an answer for the visit, and the search in the history with the first passages it found."""
    search_id, unkept = "", ""
    try:
        search_id = app.history.keep(request, made_with=result.made_with, person=person.current()).id
        app.snapshots.keep(search_id, result)
    except StoreError as error:  # the answer does not depend on it
        unkept = f"{'The results' if search_id else 'The search'} could not be saved for “Then and now”. {error}"
    visit()["find_unkept"] = unkept
    ready = _answered_from(_ready(app, request), result)
    visit()["find_answer"] = kept = (request, ready, result, search_id)
    return kept


def _ready(app: App, request: SearchRequest) -> frozenset[Hashable]:
    """Tell what a search would be answered from: where it has changed, the kept answer is an old one."""
    indexes, models = app.indexes, (_MODELS, app.models_chosen)
    if request.work_id:
        ready = (
            card.name for card in app.retrievers.cards() if indexes.ready(request.work_id, card.name, request.sentences)
        )
        return frozenset({models, _by(app, [request.work_id], request), *ready})
    works = app.works.scope(request.work_filter)
    lacking = indexes.unprepared(works, request.sentences)
    due = {_DUE} if indexes.library_due() else set()
    by = _by(app, [work.id for work in works], request)
    return frozenset({models, by, *(work.id for work in works), *((_LACKS, each) for each in lacking), *due})


def _by(app: App, works: Iterable[str], request: SearchRequest) -> tuple[str, str]:
    versions = app.works.work_versions()
    known = [versions[work] for work in works if work in versions]
    return _BY, app.retrievers.answering(known, request.sentences).model


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
    lacking: set[Hashable] = {(_LACKS, work.id) for work in result.unprepared}
    return ready | (lacking or ({_DUE} if pending else set()))
