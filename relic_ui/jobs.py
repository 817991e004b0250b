"""Progress of jobs on a page: polled in a fragment, so that the rest of the page stays still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_ui.shell import literal, told

if TYPE_CHECKING:
    from relic_core.domain import Job
    from relic_core.services.workbench import Workbench

_MINUTE = 60


def show_job(workbench: Workbench, job_id: str) -> None:
    """Show one job: its progress until it ends, when the page is drawn anew; of one that failed, how it ended.

    Parameters
    ----------
    workbench : Workbench
        Where the job is known.
    job_id : str
        The job to watch.
    """
    job = workbench.jobs.get(job_id)
    if not job.active:
        if job.state != "done":
            st.warning(literal(f"{job.title} has ended: {job.note}"), icon=":material/warning:")
        return

    @st.fragment(run_every="1s")
    def poll() -> None:
        with told():
            job = workbench.jobs.get(job_id)
            if not job.active:
                st.rerun()
            st.progress(_share(job), text=literal(f"{job.title}: {job.note or 'starting'}{_left(job)}"))
            if st.button("Stop", key=f"stop-{job_id}", type="tertiary", icon=":material/stop_circle:"):
                workbench.jobs.cancel(job_id)

    poll()


def _share(job: Job) -> float:
    return min(1.0, job.done / job.total) if job.total else 0.0


def _left(job: Job) -> str:
    """Say how long it will still take.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> _left(SimpleNamespace(seconds_left=130.0))
    ', about 2 minutes left'
    """
    if job.seconds_left is None:
        return ""
    if job.seconds_left < _MINUTE:
        return f", about {max(1, round(job.seconds_left))} s left"
    minutes = round(job.seconds_left / _MINUTE)
    return f", about {minutes} {'minute' if minutes == 1 else 'minutes'} left"
