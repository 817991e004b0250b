"""The parts of the Library page: the works there are, and what is being added and prepared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from relic_core.domain import Job, WorkSummary
from relic_core.wiring import App
from relic_ui import buttons, jobs
from relic_ui.jobs import when
from relic_ui.library import correcting
from relic_ui.library.shelf import about, filtered
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import show_errors
from relic_ui.templates import render
from relic_ui.visit import visit

PARTS = {"Works": "works", "Add": "adding", "Shelf": "shelf", "Criticism": "sources"}
"""The tabs of the page, as the address names them, each with what is in it."""

ENDED = 12
"""Ended jobs that the page looks back on."""
_JOBS = 200
_OF_WORKS = {"add", "fetch", "index", "larger", "library", "prepare", "read-by-larger"}
_WATCHED = 6
"""Jobs that are shown with their progress; those that wait behind them are counted."""
_FILTER_FROM = 8
"""Works from which on a filter is offered."""
_AT_FIRST = 12
"""Works that are shown before the reader asks for all."""
_WORDS_A_SECOND = 4_000
"""That the small model reads for searching by meaning on two cores."""


def recent_jobs(app: App) -> tuple[Job, ...]:
    """List the jobs that the page tells of: all that are under way, and the last of works that have ended."""
    recent = app.jobs.recent(limit=_JOBS)
    ended = [job for job in recent if not job.active and job.kind in _OF_WORKS]
    return (*(job for job in recent if job.active), *ended[:ENDED])


def do(app: App, does: str, to: str) -> None:
    """Do what a button in the list of works asks for."""
    with show_errors():
        if does == "correct":
            visit()["library_correcting"] = to
        elif does == "remove":
            work = app.works.remove(to)
            visit()["library_removed"] = (work.id, work.title)
        elif does == "prepare":
            app.indexes.start(to)


def parts() -> list[tuple[str, DeltaGenerator]]:
    """Draw the tabs of the page, of which the address names the open one; give them with their names, that one first.

    Each has a place of its own, so that one that grows does not close what is open in another. While a job takes the
    processor all of them take seconds: what is looked at is drawn before the others.
    """
    if wanted := visit().pop("library_next", ""):
        visit()["part"] = wanted
    tabs = zip(PARTS, st.tabs(list(PARTS), key="part", bind="query-params"), strict=True)
    places = [(name, tab.container(key=f"library-{PARTS[name]}")) for name, tab in tabs]
    return sorted(places, key=lambda each: each[0] != visit()["part"])


def open_works() -> None:
    """Show the works with the next run of the page."""
    visit()["library_next"] = "Works"


def show_under_way(app: App, recent: Sequence[Job]) -> None:
    """Show what is being added and prepared: of one height however much that is."""
    active = sorted((job for job in recent if job.active), key=lambda job: (job.state != "running", job.created))
    if not active:
        return
    with st.popover(f"Under way: {len(active)}", key="library-under-way", type="tertiary"):
        st.html('<p class="relic-quiet">This goes on if you leave the page or close it.</p>')
        jobs.show_under_way(app, active[:_WATCHED])
        if waiting := len(active[_WATCHED:]):
            st.html(f'<p class="relic-quiet">{_more_wait(waiting)}</p>')


def _more_wait(number: int) -> str:
    """Say how many jobs are not shown.

    >>> _more_wait(1), _more_wait(4)
    ('One more waits for its turn.', '4 more wait for their turns.')
    """
    return "One more waits for its turn." if number == 1 else f"{number} more wait for their turns."


def show_works(app: App, summaries: Sequence[WorkSummary], recent: Iterable[Job]) -> None:
    """List the stored works, each with what can be done with it; those that were removed; and how jobs ended."""
    show_undo("library", "Removed from the library", app.works.restore)
    if summaries:
        _show_rows(app, _chosen(summaries), len(summaries))
    else:
        st.info(
            "Your library is empty. Under Add, take a file of your own or a book of Project Gutenberg; under Shelf, a "
            "work that critics quote.",
            icon=":material/menu_book:",
        )
    _show_removed(app)
    _show_ended_jobs(recent)


def _chosen(summaries: Sequence[WorkSummary]) -> Sequence[WorkSummary]:
    """Filter the works, or cut a long list off until the reader asks for all of it."""
    if len(summaries) < _FILTER_FROM:
        return summaries
    found = filtered(
        summaries,
        lambda work: f"{work.title} {work.author} {work.translator}",
        "works",
        label="Filter by title, author or translator",
        key="library_filter",
        none=": no title, author or translator matches",
    )
    if found is not None:
        return found
    if len(summaries) > _AT_FIRST and not visit().get("library_all"):
        return summaries[:_AT_FIRST]
    return summaries


def _show_rows(app: App, works: Sequence[WorkSummary], total: int) -> None:
    correcting_now = visit().get("library_correcting")
    models = app.indexes.models(works)
    lacking = frozenset(app.indexes.unprepared(works)) - models.keys()
    under_way = {job.subject: job.id for job in app.jobs.under_way("index")}
    before: list[WorkSummary] = []
    for work in works:
        if work.id in under_way:
            _show_list(before, lacking, models)
            before = []
            _show_prepared(app, work, under_way[work.id])
        else:
            before.append(work)
        if work.id == correcting_now:
            _show_list(before, lacking, models)
            before = []
            if correcting.show_form(app, work):
                del visit()["library_correcting"]
                st.rerun()
    _show_list(before, lacking, models)
    if len(works) == _AT_FIRST < total and not visit().get("library_filter"):

        def show_all() -> None:
            visit()["library_all"] = True

        st.button(f"Show all {total} works", key="library_show_all", on_click=show_all, icon=":material/expand_more:")


def _show_list(works: Iterable[WorkSummary], lacking: Set[str], models: Mapping[str, str]) -> None:
    rows = "".join(
        _row(work, _prepare(work) if work.id in lacking else _ready(models.get(work.id, ""))) for work in works
    )
    if rows:
        st.html(f'<ul class="relic-shelf-works">{rows}</ul>')


@st.fragment(run_every="2s")
def _show_prepared(app: App, work: WorkSummary, job_id: str) -> None:
    """Draw a work that is being prepared; by itself, so that what is open in the rows of others stays open."""
    with show_errors():
        job = app.jobs.get(job_id)
        left = about(job.seconds_left if job.seconds_left is not None else work.words / _WORDS_A_SECOND)
        share = Markup(' value="{:.2f}"').format(job.done / job.total) if job.total else ""
        progress = Markup('<progress aria-label="Preparing {}" max="1"{}></progress>').format(work.title, share)
        ready = _when_ready(left, progress) if job.active else "ready"
        st.html(f'<ul class="relic-shelf-works">{_row(work, ready)}</ul>')


def _ready(model: str) -> str:
    """Say which model answers.

    >>> _ready("larger"), _ready("")
    ('ready, by the larger model', 'ready')
    """
    return f"ready, by the {model} model" if model else "ready"


def _prepare(work: WorkSummary) -> Markup:
    does = buttons.button("prepare", work.id, "Prepare it", title=f"Prepare it: {work.title}", during="Preparing …")
    return _when_ready(about(work.words / _WORDS_A_SECOND), does)


def _when_ready(left: str, behind: Markup) -> Markup:
    return Markup("words only; by meaning in {} {}").format(left, behind)


def _row(work: WorkSummary, ready: str) -> Markup:
    """Make a row of the list; `ready` says whether it can be searched by meaning."""
    return render("library/row.html", work=work, ready=ready, written_by=written_by)


def written_by(work: WorkSummary) -> str:
    """Name author and year, as far as they are known.

    >>> from types import SimpleNamespace
    >>> written_by(SimpleNamespace(author="Jane Austen", year=1815)), written_by(SimpleNamespace(author="", year=None))
    ('Jane Austen, 1815', 'Author unknown')
    """
    return f"{work.author or 'Author unknown'}{f', {work.year}' if work.year else ''}"


def _show_removed(app: App) -> None:
    """List the removed works, quietly: removing loses nothing."""
    removed = app.works.removed()
    if not removed:
        return
    with st.expander(f"Removed works ({len(removed)})", key="library_removed_works"):
        st.html(
            '<p class="relic-quiet relic-measure">A removed work is neither searched nor listed. Its text and '
            "your work on it are kept, and you can put it back.</p>"
        )
        shown = [(work.id, work.title, f", {written_by(work)}") for work in removed]
        show_each("library", shown, "restore-", app.works.restore)


def _show_ended_jobs(recent: Iterable[Job]) -> None:
    """List how earlier jobs ended."""
    ended = sorted((job for job in recent if not job.active), key=lambda job: job.updated)
    if ended:
        with st.expander("Earlier additions and preparations"):
            for job in reversed(ended):
                st.text(f"{when(job.updated)}  {job.title}: {' '.join((job.note or job.state).split())}")
