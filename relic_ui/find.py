"""The parts of the Find page: choosing a work, asking, and showing what was found."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.domain import MAX_LENGTH, MIN_LENGTH
from relic_core.errors import RelicError
from relic_core.services.answers import MAX_RESULTS, SearchRequest
from relic_ui.cards import show_column
from relic_ui.claim_box import CLAIM_LABEL, PLACEHOLDER, show_mask_button
from relic_ui.jobs import show_job
from relic_ui.shell import literal
from relic_ui.strip import show_strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import WorkSummary
    from relic_core.services.answers import Column, SearchResult
    from relic_core.services.workbench import Workbench

DEFAULT_RESULTS = 5
_QUOTED_SHOWN = 80


def restore(workbench: Workbench, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to the search that the page's address names.

    The widgets keep the last search of a visit when the reader comes back from another page. An address that names a
    work alone begins anew in that work; one without anything, reached on this page by the browser's Back, clears the
    claim.

    Parameters
    ----------
    workbench : Workbench
        Where searches are kept.
    summaries : sequence of WorkSummary
        The works that can be chosen.
    """
    state = st.session_state
    wanted, shown = st.query_params.get("q"), state.get("find_search")
    if wanted is None and "work" in st.query_params:
        _begin_in(st.query_params.pop("work"), summaries)
        return
    if wanted == shown:
        return
    if wanted is None:
        if state["came_from"] == state["page"]:
            state["find_search"], state["find_claim"] = None, ""
        return
    state["find_search"] = wanted
    try:
        search = workbench.history.get(wanted)
    except RelicError as error:
        st.warning(
            f"This address names a search that cannot be reopened. {literal(str(error))}", icon=":material/link_off:"
        )
        return
    if search.work_id not in {work.id for work in summaries}:
        removed = [name_of(work) for work in workbench.works.removed() if work.id == search.work_id]
        edition = (
            f"an edition that is not in your library any more: {removed[0]}. Put it back"
            if removed
            else ("a work that is not in your library. Add that edition")
        )
        st.warning(
            f"This search was made in {literal(edition)} in the Library to reopen it.", icon=":material/link_off:"
        )
        return
    state.update(
        find_work=search.work_id,
        find_claim=search.claim_text,
        find_length=search.length,
        find_results=search.results,
        find_retrievers=list(search.retrievers),
    )


def _begin_in(work_id: str, summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to a work and to no claim."""
    state = st.session_state
    state["find_search"], state["find_claim"] = None, ""
    if work_id in {work.id for work in summaries}:
        state["find_work"] = work_id
    else:
        st.warning(
            "This address names a work that is not in your library. Choose another here, or add that edition in the "
            "Library.",
            icon=":material/link_off:",
        )


def forget_address() -> None:
    """Take the search out of the page's address: what is shown is not it."""
    st.session_state["find_search"] = None
    st.query_params.pop("q", None)


def show_nothing_to_search() -> None:
    """Say how to get a work."""
    st.info("Your library is empty. Add a text, and come back to search it.", icon=":material/menu_book:")
    st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")


def choose_work(summaries: Sequence[WorkSummary]) -> WorkSummary:
    """Draw the list of works and give the chosen one."""
    by_id = {work.id: work for work in summaries}
    if st.session_state.get("find_work") not in by_id:
        st.session_state.pop("find_work", None)
    return by_id[
        st.selectbox(
            "Work",
            list(by_id),
            format_func=lambda work_id: name_of(by_id[work_id]),
            key="find_work",
            persist_state="session",
            help="Works are added in the Library.",
        )
    ]


def name_of(work: WorkSummary) -> str:
    """Name a work for a list.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> name_of(SimpleNamespace(title="Emma", author="Jane Austen", year=1815))
    'Emma, Jane Austen (1815)'
    """
    named = f"{work.title}, {work.author}" if work.author else work.title
    return f"{named} ({work.year})" if work.year else named


def ask(workbench: Workbench, work: WorkSummary) -> SearchRequest | None:
    """Draw the claim box and the settings; give the request they make, or None while there is no claim.

    Every change answers at once; the button is for those who look for one, and says what is missing.

    Raises
    ------
    BadRequest
        No way of searching is chosen.
    """
    labels = {card.name: card.label for card in workbench.indexes.cards()}
    state = st.session_state
    state.setdefault("find_length", MIN_LENGTH)
    state.setdefault("find_results", DEFAULT_RESULTS)
    state.setdefault("find_retrievers", list(labels))
    claim_text = st.text_area(
        CLAIM_LABEL,
        key="find_claim",
        height=96,
        placeholder=PLACEHOLDER,
        persist_state="session",
        help="Write the claim in your own words; the search looks for passages that bear it out.",
    )
    show_mask_button("find_claim")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        length = st.segmented_control(
            "Sentences in the quotation",
            list(range(MIN_LENGTH, MAX_LENGTH + 1)),
            key="find_length",
            persist_state="session",
            required=True,
        )
        chosen = st.pills(
            "Ways of searching",
            list(labels),
            format_func=labels.__getitem__,
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
    if not (claim_text or "").strip() and not pressed:
        return None
    return SearchRequest(
        work_id=work.id,
        claim_text=claim_text or "",
        length=length,
        results=results,
        retrievers=tuple(name for name in labels if name in chosen),
    )


def answer(workbench: Workbench, request: SearchRequest) -> SearchResult:
    """Search, and put the search's short id into the page's address.

    The last answer is kept for the visit, so that a rerun for another reason costs nothing. A request that is refused
    leaves no address.
    """
    state = st.session_state
    kept = state.get("find_answer")
    if kept is None or kept[:2] != (request, _ready(workbench, request.work_id)):
        try:
            with st.spinner("Reading the work for passages that bear your claim out …"):
                result = workbench.search.run(request)
        except RelicError:
            forget_address()
            raise
        search = workbench.history.keep(request, made_with=result.made_with)
        # Without what is pending: an index that was found damaged, or finished just now, is a reason to search again.
        answered = _ready(workbench, request.work_id) - {each.retriever for each in result.columns if each.pending}
        kept = state["find_answer"] = (request, answered, result, search.id)
    *_, result, search_id = kept
    state["find_search"] = st.query_params["q"] = search_id
    st.query_params.pop("work", None)
    return result


def _ready(workbench: Workbench, work_id: str) -> frozenset[str]:
    indexes = workbench.indexes
    return frozenset(card.name for card in indexes.cards() if indexes.ready(work_id, card.name))


def show_result(workbench: Workbench, result: SearchResult) -> None:
    """Draw the notices, the strip and one column per retriever."""
    _show_notices(workbench, result)
    if any(column.pending for column in result.columns):
        _show_preparing(workbench, result.work.id)
    else:
        st.session_state.get("find_jobs", {}).pop(result.work.id, None)
    show_strip(result.columns, result.work)
    for slot, column in zip(st.columns(len(result.columns), gap="medium"), result.columns, strict=True):
        with slot:
            show_column(column, result.work, st.session_state["find_search"])
            if column.pending:
                _show_pending(column, result)
    st.html(
        f'<p class="relic-quiet">{result.columns[0].candidates:,} passages compared in {result.seconds:.2f} s. '
        "The address of this page reopens the search.</p>"
        f'<details class="relic-quiet relic-made"><summary>What this was made with</summary>'
        f"{escape(result.made_with)}</details>"
    )


def _show_preparing(workbench: Workbench, work_id: str) -> None:
    """Prepare the work, once: what was stopped, or came to nothing, begins again when the reader asks for it."""
    state = st.session_state
    begun = state.setdefault("find_jobs", {})
    if work_id not in begun:
        begun[work_id] = workbench.indexes.start(work_id).id
    job = workbench.jobs.get(begun[work_id])
    if job.state != "done":
        show_job(workbench, job.id)
    elif state.get("find_job_done") != job.id:
        state["find_job_done"] = job.id
        st.rerun()
    else:
        st.warning(
            "The work has been prepared, and still its index cannot be read. Look whether the folder of indexes, "
            f"{literal(str(workbench.settings.indexes))}, can be written.",
            icon=":material/warning:",
        )
    if not job.active:
        st.button("Prepare it again", key="find_prepare", on_click=begun.pop, args=(work_id,), icon=":material/replay:")


def _show_pending(column: Column, result: SearchResult) -> None:
    complete = sum(each.pending for each in result.columns) == 1
    st.html(
        f'<p class="relic-quiet">{escape(column.label)} waits until {escape(result.work.title)} has been prepared. '
        f"Its passages appear here then{'; the other columns are complete' if complete else ''}.</p>"
    )


def _show_notices(workbench: Workbench, result: SearchResult) -> None:
    """Say what the reader should know before trusting the hits."""
    title = literal(result.work.title)
    if result.weak:
        never = f" {title} never uses {_listed(result.unknown)}." if result.unknown else ""
        st.warning(
            f"**The evidence is weak.** Something always comes first, but nothing here answers your claim better than "
            f"passages of unrelated books would.{never} Try other words, another length, or another work.",
            icon=":material/balance:",
        )
    elif result.unknown:
        st.info(f"{title} never uses {_listed(result.unknown)}.", icon=":material/info:")
    if result.quoted:
        quoted = result.quoted[0]
        words = result.request.claim_text[quoted.start : quoted.end]
        shown = words if len(words) <= _QUOTED_SHOWN else f"{words[:_QUOTED_SHOWN].rsplit(' ', 1)[0]} …"
        place = result.work.place(quoted.span)

        def mask() -> None:
            st.session_state["find_claim"] = workbench.search.mask(result.request.claim_text, quoted)

        with st.container(border=True):
            st.html(
                f"<p>Your passage quotes {quoted.words} words of the work itself ({escape(place.chapter)}, paragraph "
                f"{place.paragraph}): <em>{escape(shown)}</em></p>"
            )
            if not result.claim.masked:
                st.html(
                    '<p class="relic-quiet">Mask them, and the search looks for the passage your analysis is about '
                    "instead of its own words.</p>"
                )
                st.button(
                    "Mask them and search again", key="find_mask", on_click=mask, icon=":material/visibility_off:"
                )


def _listed(words: Sequence[str]) -> str:
    """List words in quotation marks.

    Examples
    --------
    >>> _listed(["Gatsby"]), _listed(["Gatsby", "Daisy"])
    ('“Gatsby”', '“Gatsby” or “Daisy”')
    """
    marked = [f"“{word}”" for word in words]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} or {marked[-1]}"
