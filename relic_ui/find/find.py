"""The page Find, also the home page: its address, the form, and the one line it folds to once there is an answer.

What is shown is the answer to what was asked last, by the button, an example or an address. The form may say something
else meanwhile: nothing is searched before the reader asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relic_core.domain import (
    ANY_LENGTH,
    COMPOSING,
    DEFAULT_RETRIEVERS,
    EVERYWHERE,
    LENGTHS,
    MAX_RESULTS,
    VOICES,
    SearchRequest,
    WorkSummary,
)
from relic_core.errors import RelicError
from relic_core.services.answers import BEST_ORDER
from relic_core.services.reading import ReadingPage
from relic_core.services.search import SearchResult, shown_gap
from relic_core.services.sharing import CODE
from relic_core.wiring import App
from relic_ui import language_model, larger_model, links, typography
from relic_ui.find import address_bar, answering, conditions, like, scope, views
from relic_ui.find.claim_box import ask, show_claim_box, show_gap_button, show_more_box, takes_more, with_more
from relic_ui.find.examples import show_examples, show_library
from relic_ui.find.scope import Scope
from relic_ui.history import history_removing
from relic_ui.naming import length_of, name_of, shorten
from relic_ui.shell import literal, show_errors, warn_of_address
from relic_ui.visit import visit
from relic_ui.voice import choose_voice

TITLE = "Find"
QUESTION = "Find the passage that supports your claim"
DEFAULT_RESULTS = 5
_LIBRARY = ""
"""The whole library, in the list of works and in a request."""
_CLAIM_SHOWN = 110


def show(app: App, summaries: Sequence[WorkSummary]) -> None:
    """Draw the form, or the line it folds to and the answer."""
    restore(app, summaries)
    where = _scope(app, summaries)
    seed = _seed(app)
    head, body = st.container(key="find_head"), st.container(key="find_body")
    result = None
    with body, show_errors():
        if request := _request(app, where):
            result = answering.answer(app, request)
    if result is None:
        visit()["find_asked"] = None
        forget_address()
    with head:
        if result is None:
            st.title(QUESTION, anchor=False)
            with st.container(key="find_form"):
                _show_form(app, where, summaries, seed)
            show_examples(where)
            show_library(len(summaries))
        else:
            st.html(f'<h1 class="relic-sr">{TITLE}</h1>')
            with st.expander(_folded(result), key=f"find_folded_{visit()['find_search']}"):
                _show_form(app, where, summaries, seed)
            if seed and result.request.like:
                like.show_source(seed, result.request.like.length)
    if result:
        with body:
            answering.show(app, result)
    views.listen()
    larger_model.show(app)


def restore(app: App, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to the search that the page's address names.

    The widgets keep the last search of a visit when the reader comes back from another page. An address that names a
    work alone, or a chapter of it, begins anew there; one that names a passage looks for others like it. One without
    anything, reached on this page by the browser's Back, clears the claim.
    """
    state = visit()
    given = st.query_params.to_dict()
    if links.from_press():
        return
    if CODE in given:
        if request := address_bar.opened(app, given[CODE]):
            state["find_search"] = None
            _reopen(request)
        return
    wanted, shown = given.get("q"), state.get("find_search")
    if wanted is None and "like" in given:
        state["find_search"] = None
        state["find_asked"] = None
        if like.begin(app, given):
            scope.limit_to(state["find_work"], ())
            ask()
        return
    if wanted is None and "work" in given:
        _begin_in(given["work"], given.get("in", ""), summaries)
        return
    if wanted == shown:
        return
    if wanted is None:
        if state["came_from"] == state["page"]:
            _begin_anew()
            st.query_params.clear()  # the page's name at the left, pressed, comes as a bare address and leaves the old
        return
    state["find_search"], state["find_asked"] = wanted, None
    if not history_removing.tell_removed(app, wanted):
        _reopen_kept(app, wanted, summaries)


def _reopen_kept(app: App, wanted: str, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to a search of the history, or say why that cannot be."""
    try:
        search = app.history.get(wanted)
    except RelicError as error:
        warn_of_address(f"This address names a search that cannot be reopened. {literal(str(error))}")
        return
    if missing := _missing(app, search.request, summaries):
        warn_of_address(f"This search was made {literal(missing)} in the Library to reopen it.")
    else:
        for notice in app.sharing.columns(search.request)[1]:
            warn_of_address(literal(notice))
        _reopen(search.request)


def _missing(app: App, search: SearchRequest, summaries: Sequence[WorkSummary]) -> str:
    """Say what a search was made in that is not there any more, and what to do; empty where all of it is there."""
    if not scope.can_narrow_to(search.work_filter, summaries):
        return "in works that are not all in your library any more. Put them back"
    present = {_LIBRARY, *(work.id for work in summaries)}
    if search.work_id not in present:
        return f"in {_removed_work(app, search.work_id)}"
    if search.like and search.like.work_id not in present:
        return f"with a passage of {_removed_work(app, search.like.work_id)}"
    return ""


def _removed_work(app: App, work_id: str) -> str:
    """Name a work that is not there, and begin to say what to do."""
    for work in app.works.removed():
        if work.id == work_id:
            return f"an edition that is not in your library any more: {name_of(work)}. Put it back"
    return "a work that is not in your library. Add that edition"


def _reopen(search: SearchRequest) -> None:
    """Put the widgets to a request."""
    state = visit()
    state.update(
        {
            "find_work": search.work_id,
            "find_length": search.length,
            "find_results": search.results,
            "find_retrievers": list(search.retrievers),
            "find_quoted": search.critics_quote,
            "find_voice": search.voice,
        }
    )
    like.resume(search.like)
    if search.like is None:
        # A page that outlived its server may hold words that were typed since: they win over a box's first content.
        if "find_claim" in state:
            state["find_claim"] = search.claim_text
        else:
            state["find_claim_first"] = search.claim_text
    state["find_more"] = ""
    conditions.put(search.conditions, search.unit)
    scope.limit_to(search.work_id, search.chapters)
    scope.narrow_to(search.work_filter)
    ask()


def _begin_in(work_id: str, chapter: str, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to a work, or to a chapter of it, and to no claim."""
    _begin_anew()
    links.set_address()
    if work_id in {work.id for work in summaries}:
        visit()["find_work"] = work_id
        scope.limit_to(work_id, [int(chapter)] if chapter.isascii() and chapter.isdecimal() else [])
    else:
        warn_of_address(
            "This address names a work that is not in your library. Choose another here, or add that edition in the "
            "Library."
        )


def _begin_anew() -> None:
    """Empty the claim box, and show no answer."""
    visit().update({"find_search": None, "find_asked": None, "find_claim": "", "find_more": ""})
    conditions.put()
    like.ask_a_claim()


def forget_address() -> None:
    """Take the search out of the page's address: what is shown is not it."""
    visit()["find_search"] = None
    links.set_address()


def ask_for(claim: str, work_id: str) -> None:
    """Have the page answer a claim in a work, or in the library where none is named, for a press on another page."""
    _begin_anew()
    visit().update({"find_claim": claim, "find_work": work_id})
    scope.limit_to(work_id, ())
    ask()


def show_nothing_to_search(does: str = "search") -> None:
    """Say how to get a work."""
    st.info(f"Your library is empty. Add a work to {does} it here.", icon=":material/menu_book:")
    st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")


def _scope(app: App, summaries: Sequence[WorkSummary]) -> Scope:
    """Read off the form where is searched; what is not there any more is not chosen any more."""
    state, by_id = visit(), {work.id: work for work in summaries}
    offered = [*by_id, _LIBRARY] if len(by_id) > 1 else [*by_id]
    if state.get("find_work") not in offered:
        state["find_work"] = scope.searched_last(app, offered)
    state.setdefault("find_length", ANY_LENGTH)
    state.setdefault("find_results", DEFAULT_RESULTS)
    state.setdefault("find_retrievers", list(DEFAULT_RETRIEVERS))
    state.setdefault("find_voice", VOICES[0])
    if state["find_work"] == _LIBRARY:
        return scope.in_works(summaries)
    return scope.in_chapters(app, by_id[state["find_work"]])


def _seed(app: App) -> ReadingPage | None:
    """Find the passage that others are to be like; where it is gone, say so, and ask a claim."""
    seed_passage = like.under_way()
    if seed_passage is None:
        return None
    page = like.source(app, seed_passage)
    if page is None:
        visit()["find_asked"] = None
        warn_of_address(
            f"The passage to search with is from {literal(_removed_work(app, seed_passage.work_id))} in the "
            "Library to search with it again, or write a claim here."
        )
    return page


def _request(app: App, where: Scope) -> SearchRequest | None:
    """Give what was asked last: what the form says, where it was asked just now. Raises BadRequest: no way chosen."""
    state = visit()
    if state.pop("find_ask", False):
        state["find_asked"] = None
        if not where.works:
            _show_no_works()
            return None
        seed_passage, chosen = like.under_way(), state["find_retrievers"]
        claim = _claim()
        rows = () if seed_passage else conditions.chosen()
        if takes_more(claim) and not (rows or seed_passage) and (more := state.get("find_more")):
            state["find_claim"] = claim = with_more(claim, more)
        state["find_more"] = ""
        ways = tuple(name for name in _retriever_titles(app, where) if name in chosen)
        state["find_asked"] = SearchRequest(
            work_id=where.work.id if where.work else _LIBRARY,
            claim_text="" if seed_passage else claim,
            length=state["find_length"],
            results=state["find_results"],
            retrievers=_composing(ways) if rows else ways,
            conditions=rows,
            unit=conditions.unit(where) if rows else "passage",
            chapters=where.chapters,
            work_filter=where.work_filter,
            like=seed_passage,
            critics_quote=state.get("find_quoted", False),
            voice=state["find_voice"],
        )
    return state.get("find_asked")


def _composing(ways: tuple[str, ...]) -> tuple[str, ...]:
    """Give the ways chosen that can answer joined claims; the best of them where none was, or as pages open."""
    able = tuple(name for name in ways if name in COMPOSING)
    return able if able and {*ways} != {*DEFAULT_RETRIEVERS} else COMPOSING[:1]


def _claim() -> str:
    state = visit()
    # A box that shows its first content, untouched, is empty on coming back from another page.
    return str(state.get("find_claim", state.get("find_claim_first")) or "")


def _retriever_titles(app: App, where: Scope) -> dict[str, str]:
    """Name the ways of searching in the order of their columns.

    What goes by a claim beside each passage is not offered where there is none.
    """
    cards = sorted(app.retrievers.cards(), key=lambda card: card.name not in BEST_ORDER)
    if like.under_way():
        return {card.name: card.title for card in cards if card.kind != "reranker"}
    systems = app.runs.systems(where.work.sha256) if where.work else ()
    return {card.name: card.title for card in (*cards, *map(app.retrievers.card, systems))}


def _folded(result: SearchResult) -> str:
    """Say on one line what was asked, as the label of what opens the form again."""
    request = result.request
    where = result.work.title if result.work else "All works"
    asked = "Passages like this one" if result.source else f"“{shorten(shown_gap(request.claim_text), _CLAIM_SHOWN)}”"
    if request.conditions:
        asked = shorten(request.sentence, 2 * _CLAIM_SHOWN)
    limits = (
        f", {len(request.chapters)} of {len(result.work.chapters)} chapters" if result.work and request.chapters else ""
    )
    if not result.work and request.work_filter != EVERYWHERE:
        where = f"{len(result.searched)} works" if len(result.searched) > 1 else result.searched[0].title
    limits += ", quoted by critics" * request.critics_quote
    limits += f", {request.voice} only" * (request.voice != "any")
    limits += f", {request.unit}s" * (request.unit != "passage")
    return f"{literal(asked)} *{literal(where)}{limits} · {length_of(request)}* **Edit**"


def _show_form(app: App, where: Scope, summaries: Sequence[WorkSummary], seed: ReadingPage | None) -> None:
    state = visit()
    names = {work.id: name_of(work) for work in summaries}
    if len(names) > 1:
        names = {_LIBRARY: f"All works of the library ({len(names)})"} | names
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="find_where"):
        st.selectbox(
            "Work",
            list(names),
            format_func=names.__getitem__,
            key="find_work",
            persist_state="session",
            help="One work, or all works in your library. Add works in the Library.",
        )
        st.segmented_control(
            "Sentences in the quotation",
            [ANY_LENGTH, *LENGTHS],
            format_func=lambda length: str(length or "Any"),
            key="find_length",
            persist_state="session",
            required=True,
            width="content",
            help="A sentence here ends at a full stop, a colon or a semicolon.",
        )
        limits = f": {where.limits}" if where.limits else ""
        with st.popover(f"Options{limits}", icon=":material/tune:", key="find_options", width="content"):
            _show_options(app, where, summaries)
    if seed:
        with st.container(horizontal=True, gap="small", key="find_like_do"):
            st.button("Find", type="primary", icon=":material/search:", key="find_button", on_click=ask)
            st.button("Write a claim instead", key="find_claim_instead", on_click=_ask_a_claim, icon=":material/edit:")
            like.show_instead(seed, where, works=len(summaries))
        return
    with st.form("find_asking", border=False):
        show_claim_box("" if "find_claim" in state else state.get("find_claim_first", ""))
        conditions.show_rows(where)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            if not (state["find_asked"] or conditions.chosen()) and takes_more(_claim()):
                show_more_box()
            heard = visit().pop("find_heard", False)
            if (
                st.form_submit_button(
                    "Find", type="primary", icon=":material/search:", key="find_button", on_click=_hear
                )
                and not heard
            ):  # a server that has just started knew nothing of the button when it was pressed
                ask()
                st.rerun()
            conditions.show_add(app)


def _show_options(app: App, where: Scope, summaries: Sequence[WorkSummary]) -> None:
    """Draw what is rarely chosen."""
    if where.work:
        scope.choose_chapters(app, where.work)
    else:
        scope.choose_works(where, summaries)
    choose_voice(
        "find_voice",
        "Speech: every sentence of a passage holds words in quotation marks. Narration: none does.",
        label="visible",
    )
    titles = _retriever_titles(app, where)
    st.pills(
        "Ways of searching",
        list(titles),
        format_func=lambda name: literal(titles[name]),  # a model of one's own has a name of one's own
        selection_mode="multi",
        key="find_retrievers",
        persist_state="session",
    )
    language_model.lead(app)
    st.number_input(
        "Passages in each column", min_value=1, max_value=MAX_RESULTS, key="find_results", persist_state="session"
    )
    if where.work is None or visit().get("find_quoted") or app.sources.quoted(where.work.id).sources:
        st.toggle("Only passages that critics quote", key="find_quoted", persist_state="session")
    typography.choose()
    if like.under_way() is None:
        show_gap_button("find_claim")


def _hear() -> None:
    visit()["find_heard"] = True
    ask()


def _ask_a_claim() -> None:
    like.ask_a_claim()
    visit()["find_asked"] = None


def _show_no_works() -> None:
    st.info(
        "No work in your library matches all of this. Remove an author, a year or a work.",
        icon=":material/filter_list:",
    )

    def widen() -> None:
        scope.narrow_to(EVERYWHERE)
        ask()

    st.button("Search all works again", key="find_widen", on_click=widen)
