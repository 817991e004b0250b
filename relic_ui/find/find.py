"""The parts of the Find page that ask: its address, choosing where to search, the claim and the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain import DEFAULT_RETRIEVERS, EVERYWHERE, MAX_LENGTH, MAX_RESULTS, MIN_LENGTH, SearchRequest
from relic_core.errors import NotFound, RelicError
from relic_ui.find import like, scope, search_address
from relic_ui.find.claim_box import CLAIM_LABEL, PLACEHOLDER, show_mask_button
from relic_ui.history import history_removing
from relic_ui.naming import name_of
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import SeedPassage, WorkSummary
    from relic_core.wiring import App
    from relic_ui.find.scope import Scope

DEFAULT_RESULTS = 5
_LIBRARY = ""
"""The whole library, in the list of works and in a request."""


# ---- the address --------------------------------------------------------------------------------------------------


def restore(app: App, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to the search that the page's address names.

    The widgets keep the last search of a visit when the reader comes back from another page. An address that names a
    work alone, or a chapter of it, begins anew there; one that names a passage looks for others like it. One without
    anything, reached on this page by the browser's Back, clears the claim.

    - `app`: where searches are kept.
    - `summaries`: the works that can be chosen.
    """
    state = st.session_state
    given = st.query_params.to_dict()
    if search_address.CODE in given:
        if request := search_address.opened(app, given[search_address.CODE]):
            state["find_search"] = None
            _reopen(request)
        return
    wanted, shown = given.get("q"), state.get("find_search")
    if wanted is None and "like" in given:
        state["find_search"] = None
        if like.begin(app, given):
            scope.limit_to(state["find_work"], ())
        return
    if wanted is None and "work" in given:
        _begin_in(given["work"], given.get("in", ""), summaries)
        return
    if wanted == shown:
        return
    if wanted is None:
        if state["came_from"] == state["page"]:
            state["find_search"], state["find_claim"] = None, ""
            like.ask_a_claim()
        return
    state["find_search"] = wanted
    if not history_removing.tell_removed(app, wanted):
        _reopen_kept(app, wanted, summaries)


def _reopen_kept(app: App, wanted: str, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to a search of the history, or say why that cannot be."""
    try:
        search = app.history.get(wanted)
    except RelicError as error:
        _warn(f"This address names a search that cannot be reopened. {literal(str(error))}")
        return
    if lacking := _lacking(app, search.request, summaries):
        _warn(f"This search was made {literal(lacking)} in the Library to reopen it.")
    else:
        _reopen(search.request)


def _warn(said: str) -> None:
    st.warning(said, icon=":material/link_off:")


def _lacking(app: App, search: SearchRequest, summaries: Sequence[WorkSummary]) -> str:
    """Say what a search was made in that is not there any more, and what to do; empty where all of it is there."""
    if not scope.can_narrow_to(search.narrowing, summaries):
        return "in works that are not all in your library any more. Put them back"
    present = {_LIBRARY, *(work.id for work in summaries)}
    if search.work_id not in present:
        return f"in {_gone(app, search.work_id)}"
    if search.like and search.like.work_id not in present:
        return f"with a passage of {_gone(app, search.like.work_id)}"
    return ""


def _gone(app: App, work_id: str) -> str:
    """Name a work that is not there, and begin to say what to do."""
    for work in app.works.removed():
        if work.id == work_id:
            return f"an edition that is not in your library any more: {name_of(work)}. Put it back"
    return "a work that is not in your library. Add that edition"


def _reopen(search: SearchRequest) -> None:
    """Put the widgets to a request."""
    state = st.session_state
    state.update(
        find_work=search.work_id,
        find_length=search.length,
        find_results=search.results,
        find_retrievers=list(search.retrievers),
    )
    like.resume(search.like)
    if search.like is None:
        # A page that outlived its server may hold words that were typed since: they win over a box's first content.
        state["find_claim" if "find_claim" in state else "find_claim_first"] = search.claim_text
    scope.limit_to(search.work_id, search.chapters)
    scope.narrow_to(search.narrowing)


def _begin_in(work_id: str, chapter: str, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to a work, or to a chapter of it, and to no claim."""
    state = st.session_state
    state["find_search"], state["find_claim"] = None, ""
    like.ask_a_claim()
    set_address()
    if work_id in {work.id for work in summaries}:
        state["find_work"] = work_id
        scope.limit_to(work_id, [int(chapter)] if chapter.isascii() and chapter.isdecimal() else [])
    else:
        _warn(
            "This address names a work that is not in your library. Choose another here, or add that edition in the "
            "Library."
        )


def forget_address() -> None:
    """Take the search out of the page's address: what is shown is not it."""
    st.session_state["find_search"] = None
    set_address()


def set_address(**wanted: str) -> None:
    """Put the whole of the page's address at once: each step would be one in the browser's history."""
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


# ---- asking -------------------------------------------------------------------------------------------------------


def show_nothing_to_search() -> None:
    """Say how to get a work."""
    st.info("Your library is empty. Add a text, and come back to search it.", icon=":material/menu_book:")
    st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")


def choose_work(summaries: Sequence[WorkSummary]) -> WorkSummary:
    """Draw the list of works and give the chosen one."""
    chosen = _choose(summaries, {})
    return next(work for work in summaries if work.id == chosen)


def choose_scope(app: App, summaries: Sequence[WorkSummary]) -> Scope:
    """Draw the list of works, with all of them at its head, and what limits the search there; give what is chosen."""
    many = len(summaries)
    every = {_LIBRARY: f"All works of the library ({many})"} if many > 1 else {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="find_where"):
        chosen = _choose(summaries, every)
        if chosen == _LIBRARY:
            return scope.choose_works(summaries)
        return scope.choose_chapters(app, next(work for work in summaries if work.id == chosen))


def _choose(summaries: Sequence[WorkSummary], more: dict[str, str]) -> str:
    names = more | {work.id: name_of(work) for work in summaries}
    if st.session_state.get("find_work") not in names:
        st.session_state["find_work"] = summaries[0].id
    chosen: str = st.selectbox(
        "Work",
        list(names),
        format_func=names.__getitem__,
        key="find_work",
        persist_state="session",
        help="One work, or all works of your library at once. Works are added in the Library.",
    )
    return chosen


def ask(app: App, where: Scope) -> SearchRequest | None:
    """Draw what is asked and the settings; give the request they make, or None while there is none.

    Every change answers at once; the button is for those who look for one, and says what is missing.

    Raises BadRequest: no way of searching is chosen.
    """
    state = st.session_state
    state.setdefault("find_length", MIN_LENGTH)
    state.setdefault("find_results", DEFAULT_RESULTS)
    state.setdefault("find_retrievers", list(DEFAULT_RETRIEVERS))
    likeness = _ask_passage(app, where)
    # What reads a claim beside each passage is not offered where there is none.
    labels = {card.name: card.label for card in app.retrievers.cards() if not (likeness and card.kind == "reranker")}
    claim_text = "" if likeness else _ask_claim()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        length = st.segmented_control(
            "Sentences in the quotation",
            list(range(MIN_LENGTH, MAX_LENGTH + 1)),
            key="find_length",
            persist_state="session",
            required=True,
            help="Here a sentence ends at its full stop, and also at a colon or a semicolon.",
        )
        chosen = st.pills(
            "Ways of searching",
            list(labels),
            format_func=lambda name: literal(labels[name]),  # a model of one's own has a name of one's own
            selection_mode="multi",
            key="find_retrievers",
            persist_state="session",
        )
        results = st.number_input(
            "Results each",
            min_value=1,
            max_value=MAX_RESULTS,
            key="find_results",
            persist_state="session",
            width=130,
        )
        pressed = st.button("Find", type="primary", icon=":material/search:", key="find_button")
    if not (likeness or claim_text.strip() or pressed):
        return None
    if not where.works:
        _show_no_works()
        return None
    return SearchRequest(
        work_id=where.work.id if where.work else _LIBRARY,
        claim_text=claim_text,
        length=length,
        results=results,
        retrievers=tuple(name for name in labels if name in chosen),
        chapters=where.chapters,
        narrowing=where.narrowing,
        like=likeness,
    )


def _ask_passage(app: App, where: Scope) -> SeedPassage | None:
    """Draw the passage that others are to be like; None, so that a claim is asked, where there is none any more."""
    likeness = like.under_way()
    if likeness is None:
        return None
    try:
        like.show_source(app, likeness, where, works=len(app.works.summaries()))
    except NotFound:
        like.ask_a_claim()
        _warn(
            f"The passage that others were to be like is of {literal(_gone(app, likeness.work_id))} in the "
            "Library to look for others again, or ask a claim here."
        )
        return None
    return likeness


def _ask_claim() -> str:
    state = st.session_state
    claim_text = st.text_area(
        CLAIM_LABEL,
        # A box that shows its first content, untouched, is empty on coming back from another page.
        "" if "find_claim" in state else state.get("find_claim_first", ""),
        key="find_claim",
        height=96,
        placeholder=PLACEHOLDER,
        persist_state="session",
        help="Write the claim in your own words; the search looks for passages that bear it out.",
    )
    show_mask_button("find_claim")
    return claim_text or ""


def _show_no_works() -> None:
    st.info(
        "No work of your library fits everything the search is narrowed to. Take an author, a year or a work away.",
        icon=":material/filter_list:",
    )
    st.button("Search all works again", key="find_widen", on_click=scope.narrow_to, args=(EVERYWHERE,))
