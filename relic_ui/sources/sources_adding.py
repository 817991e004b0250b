"""Adding secondary sources: files or an archive from this computer, or a folder by its path; one job reads them all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui import jobs
from relic_ui.shell import show_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from relic_core.wiring import App

_PLACE = "sources"


def show(app: App, *, begun: bool) -> None:
    """Offer the ways to add sources, and show how the last one goes.

    - `app`: where they go.
    - `begun`: there are sources already.
    """
    here, path = st.tabs(["From this computer", "A folder, by path"], key="sources_ways")
    with here:
        _show_upload(app)
    with path:
        _show_path(app)
    with st.container(key="sources-job"), show_errors():
        jobs.show_followed(app, _PLACE)
        if not _show_go_on(app) and begun and not _under_way(app):
            _show_due(app)


def _show_upload(app: App) -> None:
    state = st.session_state
    files = st.file_uploader(
        "Plain text (.txt), EPUB (.epub), TEI (.xml), or a .zip of them",
        accept_multiple_files=True,  # of any type: what cannot be read is told with the others
        max_upload_size=max(1, app.settings.max_upload_bytes // 1_000_000),
        key=f"sources_files-{state.setdefault('sources_round', 0)}",
        help="A .csv in the archive with the columns file, title and author tells what the texts are; without one it "
        "is read off each text’s own beginning.",
    )
    if not files:
        return
    label = "Find its quotations" if len(files) == 1 else f"Find the quotations in {len(files)} files"
    if st.button(label, key="sources_add", icon=":material/format_quote:", type="primary"):
        with show_errors():
            _start(app, _keep(app, files))


def _keep(app: App, files: Sequence[UploadedFile]) -> list[Path]:
    """Put uploads where the job finds them, and have done with the uploader."""
    with st.spinner("Keeping the files …"):
        paths = [app.mining.keep(file.name, file.getvalue()) for file in files]
    st.session_state["sources_round"] += 1
    return paths


def _show_path(app: App) -> None:
    with st.form("sources_path_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.text_input(
            "Path of a folder, a .zip or a text on the machine that runs the app", key="sources_path", width=440
        )
        if st.form_submit_button("Find quotations", icon=":material/format_quote:") and path.strip():
            with show_errors():
                _start(app, [Path(path.strip().strip('"')).expanduser()])


def _show_due(app: App) -> None:
    """Offer to look again where works were added since."""
    if not app.mining.due():
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            "Works were added since these sources were read, or there are better rules for finding quotations.",
            icon=":material/update:",
            width="stretch",
        )
        if st.button("Look through them again", key="sources_again"):
            _start(app, [])


def _show_go_on(app: App) -> bool:
    """Offer to go on with what was just stopped; say whether that is so."""
    job_id, _ = st.session_state.get(f"followed-{_PLACE}", ("", ""))
    job = app.jobs.get(job_id) if job_id else None
    if job is None or job.state != "cancelled":
        return False
    if st.button("Go on", key="sources_go_on", icon=":material/play_arrow:"):
        _start(app, [Path(line) for line in job.subject.splitlines()])
    return True


def _start(app: App, paths: Sequence[Path]) -> None:
    jobs.follow(_PLACE, app.mining.start(paths), "looking through the files …")
    st.rerun()


def _under_way(app: App) -> bool:
    job_id, _ = st.session_state.get(f"followed-{_PLACE}", ("", ""))
    return bool(job_id) and app.jobs.get(job_id).active
