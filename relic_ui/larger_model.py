"""The larger model where it is missing: how its fetching goes, quietly, and the one press that fetches it."""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_core.wiring import App
from relic_ui import person
from relic_ui.shell import show_errors


def show(app: App) -> None:
    """Say that the larger model is being fetched, or offer it; nothing where it is there, or where people sign in."""
    larger = app.larger_model
    if person.providers() or not larger.offered:
        return
    job = larger.job
    comes = job.active if job else app.settings.fetch_larger == "yes"
    st.fragment(_show, run_every="2s" if comes else None)(app)


def _show(app: App) -> None:
    larger = app.larger_model
    job = larger.job
    if not larger.offered or (job is None and app.settings.fetch_larger == "yes"):
        return  # it is there by now, or fetched once the page has settled
    if job and job.active:
        done = f": {job.done} of {job.total} parts" if job.total else ""
        st.html(f'<p class="relic-quiet" role="status">{escape(job.title)}{done}. You can search meanwhile.</p>')
        return
    message = "The small model searches here. A larger one (0.4 GB) finds more of what critics quoted."
    if job and job.state == "failed":
        message = job.note
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="larger_model"), show_errors():
        st.html(f'<p class="relic-quiet">{escape(message)}</p>', width="content")
        if st.button("Install the larger model", key="larger_install", type="tertiary", icon=":material/download:"):
            larger.start()
            st.rerun()
