"""Works that are not ready to be searched by meaning: one is prepared at once, those of a library on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from relic_core.domain import Job, WorkSummary
from relic_core.services.answers import Column
from relic_core.services.search import SearchResult
from relic_core.wiring import App
from relic_ui.jobs import show_job, stop_label
from relic_ui.naming import some_of
from relic_ui.shell import literal
from relic_ui.visit import visit

_NAMED = 4


def show_preparing(app: App, result: SearchResult) -> None:
    """Say what is not ready to be searched by meaning, and how its preparation goes."""
    if result.foreign:
        st.info(result.foreign, icon=":material/translate:")
    if result.work is None:
        if result.unprepared:
            able = [column.retriever for column in result.columns if column.card.library]
            _show_library(app, result.unprepared, able)
        elif any(column.pending for column in result.columns) and app.indexes.library_due():
            _offer(
                app,
                "library",
                "Your library is too large to be searched by meaning without one index for all of it.",
                label="Build the index",
                start=lambda: app.indexes.start_library(),  # noqa: PLW0108 - asked anew
            )
    elif any(column.pending for column in result.columns):
        _show_work(app, result.work.id, result.request.retrievers)
    else:
        visit().get("find_jobs", {}).pop(result.work.id, None)


def _show_work(app: App, work_id: str, also: tuple[str, ...]) -> None:
    """Prepare the work, once: what was stopped, or came to nothing, begins again when the reader asks for it."""
    state = visit()
    begun = state.setdefault("find_jobs", {})
    if begun.get(work_id, ((), ""))[0] != also:
        begun[work_id] = (also, app.indexes.start(work_id, also).id)
    job = app.jobs.get(begun[work_id][1])
    if job.state != "done":
        show_job(app, job.id)
    elif state.get("find_job_done") != job.id:
        state["find_job_done"] = job.id
        st.rerun()
    else:
        st.warning(
            "The work has been prepared, but its index cannot be read. Check that the index folder, "
            f"{literal(str(app.settings.indexes))}, can be written to.",
            icon=":material/warning:",
        )
    if not job.active:
        again = partial(begun.pop, work_id)
        st.button("Prepare it again", key="find_prepare", on_click=again, icon=":material/replay:")


def _show_library(app: App, works: Sequence[WorkSummary], also: Sequence[str]) -> None:
    """Name the works that are not ready; prepare them on request."""
    one = len(works) == 1
    _offer(
        app,
        "prepare",
        f"{'One work cannot' if one else f'{len(works)} works cannot'} be searched by meaning yet: "
        f"{some_of([work.title for work in works], _NAMED)}. So far only {'its' if one else 'their'} words are "
        "searched.",
        label="Prepare it" if one else "Prepare them",
        start=lambda: app.indexes.start_many([work.id for work in works], also),
    )


def _offer(app: App, kind: str, lacking: str, *, label: str, start: Callable[[], Job]) -> None:
    """Say what is lacking, and start what mends it on request; while it is under way, show how it goes.

    A job of the kind that was begun on another page, or in another tab, is shown as well.
    """
    state, key = st.session_state, f"find_job_{kind}"
    job = app.jobs.get(state[key]) if key in state else None
    if job is None or not job.active:
        job = next(iter(app.jobs.under_way(kind)), job)
    st.html(f'<p class="relic-quiet relic-unread">{escape(lacking)}</p>')
    if job and job.active:
        show_job(app, job.id, stop=stop_label(job))
        return
    if job and job.note:
        st.html(f'<p class="relic-quiet">{escape(f"{job.title} has ended: {job.note}")}</p>')

    def begin() -> None:
        state[key] = start().id

    st.button(label, key=f"find_start_{kind}", on_click=begin, icon=":material/play_arrow:")


def show_pending(column: Column, result: SearchResult) -> None:
    """Say what a column without cards waits for."""
    complete = " The other columns are complete." * (sum(each.pending or each.waiting for each in result.columns) == 1)
    what = f"{escape(result.work.title)} is" if result.work else "works are"
    st.html(
        f'<p class="relic-quiet">{escape(column.card.called)}: passages appear here once {what} prepared.{complete}</p>'
    )
