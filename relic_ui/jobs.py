"""Progress of jobs on a page: polled in a fragment, so that the rest of the page stays still.

What is drawn here never has the page drawn anew while the page is being drawn: a press that came with that run, of a
button further down, would be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from relic_core.domain import Job
from relic_core.wiring import App
from relic_ui.shell import literal, show_errors
from relic_ui.visit import visit

_MINUTE = 60
_NAMED = 48
"""Characters of a job's title on the button that stops it."""


def show_job(app: App, job_id: str, *, doing: str = "starting", stop: str = "Stop") -> None:
    """Show one job: its progress until it ends, when the page is drawn anew; of one that failed, how it ended.

    - `doing`: what it is said to do before it says so itself.
    """
    job = app.jobs.get(job_id)
    if not job.active:
        if job.state != "done":
            st.warning(literal(f"{job.title} has ended: {job.note}"), icon=":material/warning:")
        return
    drawn = False

    @st.fragment(run_every="1s")
    def poll() -> None:
        nonlocal drawn
        with show_errors():
            job = app.jobs.get(job_id)
            if drawn and not job.active:
                st.rerun()
            drawn = True
            st.progress(_share(job), text=literal(f"{job.title}: {job.note or doing}{_left(job)}"))
            if st.button(stop, key=f"stop-{job_id}", type="tertiary", icon=":material/stop_circle:"):
                app.jobs.cancel(job_id)

    poll()


def offer(app: App, place: str, label: str, start: Callable[[], Job]) -> None:
    """Offer to get what a page lacks; while it comes, say how far it is.

    - `label`: what comes, and how long that takes.
    """
    job = show_followed(app, place)
    if not (job and job.active) and st.button(label, key=f"get_{place}", icon=":material/download:"):
        follow(place, start())
        st.rerun()


def offer_critics(app: App, place: str) -> None:
    """Offer to get the critical books out of which the claims of the public-domain RELiC are cut."""
    title = "Getting the critics’ books"

    def start() -> Job:
        return app.jobs.start("rebuild", title=title, subject="public-relic")

    offer(app, place, "Get the critics’ books (about 10 minutes)", start)


def follow(place: str, job: Job, doing: str = "starting") -> None:
    """Tell, from now on, at this place of the page how a job goes and how it ends."""
    st.session_state[f"followed-{place}"] = (job.id, doing)


def show_followed(app: App, place: str) -> Job | None:
    """Show the job that was last started at this place: its progress, then its outcome until the page is left."""
    job_id, doing = st.session_state.get(f"followed-{place}", ("", ""))
    if not job_id:
        return None
    job = app.jobs.get(job_id)
    if job.active:
        show_job(app, job_id, doing=doing, stop=stop_label(job))
    elif visit().get("came_from") == visit().get("page"):
        _show_outcome(job)
    else:
        del st.session_state[f"followed-{place}"]
    return job


def _show_outcome(job: Job) -> None:
    """Say how a job ended; the lines of its note after the first, what went wrong, are set as a list."""
    first, *problems = job.note.splitlines() or [""]
    message = "\n".join([literal(f"{job.title}: {first}"), "", *(f"- {literal(line)}" for line in problems)])
    if job.state == "done" and not problems:
        st.success(message)
    else:
        st.warning(message, icon=":material/warning:")


def show_under_way(app: App, jobs: Sequence[Job]) -> None:
    """Show several jobs, a line and a button for each; when one of them ends the page is drawn anew."""
    drawn = False

    @st.fragment(run_every="2s")
    def poll() -> None:
        nonlocal drawn
        with show_errors():
            now = [app.jobs.get(job.id) for job in jobs]
            if drawn and not all(job.active for job in now):
                st.rerun()
            drawn = True
            for job in now:
                st.html(_line(job))
                if st.button(
                    stop_label(job), key=f"under-way-stop-{job.id}", type="tertiary", icon=":material/stop_circle:"
                ):
                    app.jobs.cancel(job.id)

    poll()


def _line(job: Job) -> str:
    title = escape(job.title)
    value = f' value="{_share(job):.3f}"' if job.total else ""
    return (
        f'<p class="relic-job"><strong>{title}</strong> {escape(job.note or "starting")}{_left(job)}'
        f'<progress aria-label="{title}" max="1"{value}></progress></p>'
    )


def stop_label(job: Job) -> str:
    """Name the button that stops a job by what it stops.

    >>> from types import SimpleNamespace
    >>> stop_label(SimpleNamespace(title="Adding 48 works"))
    'Stop adding 48 works'
    """
    title = job.title if len(job.title) <= _NAMED else f"{job.title[:_NAMED].rsplit(' ', 1)[0]} …"
    return literal(f"Stop {title[:1].lower()}{title[1:]}")


def when(moment: datetime) -> str:
    """Write when something was, by the clock of the reader where the browser has told its zone.

    >>> from datetime import UTC, datetime
    >>> when(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '01 Mar, 09:05 UTC'
    """
    try:
        return f"{moment.astimezone(ZoneInfo(st.context.timezone or '')):%d %b, %H:%M}"
    except (ZoneInfoNotFoundError, ValueError):  # none was given, or one that is not known here
        return f"{moment:%d %b, %H:%M} UTC"


def _share(job: Job) -> float:
    return min(1.0, job.done / job.total) if job.total else 0.0


def _left(job: Job) -> str:
    """Say how long it will still take, where the job does not say so itself.

    >>> from types import SimpleNamespace
    >>> _left(SimpleNamespace(note="3 of 9 works", seconds_left=130.0))
    ', about 2 minutes left'
    >>> _left(SimpleNamespace(note="3 of 9 books, about 4 minutes left", seconds_left=130.0))
    ''
    """
    if job.seconds_left is None or job.note.endswith(" left"):
        return ""
    if job.seconds_left < _MINUTE:
        return f", about {max(1, round(job.seconds_left))} s left"
    minutes = round(job.seconds_left / _MINUTE)
    return f", about {minutes} {'minute' if minutes == 1 else 'minutes'} left"
