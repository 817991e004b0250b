"""The parts of the Library page: the works there are, ways to add one, and what is being prepared."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError
from relic_ui.find import name_of
from relic_ui.jobs import show_job
from relic_ui.shell import literal, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import Job, WorkSummary
    from relic_core.services.workbench import Workbench

RECENT = 12
"""Jobs that the page looks back on."""
_FILTER_FROM = 8
"""Works from which on a filter is offered."""


def show_works(workbench: Workbench) -> None:
    """List the stored works, each with a way to search it and to take it away."""
    _show_undo(workbench)
    summaries = workbench.works.summaries()
    st.header("The works")
    if not summaries:
        st.info("Nothing is stored yet. Add a text below.", icon=":material/menu_book:")
        return
    wanted = ""
    if len(summaries) >= _FILTER_FROM:
        wanted = st.text_input("Filter by title or author", key="library_filter", width=360).casefold()
    for work in summaries:
        if wanted in f"{work.title} {work.author}".casefold():
            _show_work(workbench, work)


def _show_work(workbench: Workbench, work: WorkSummary) -> None:
    chapters = "One chapter" if work.chapters == 1 else f"{work.chapters} chapters"
    translator = f" · translated by {escape(work.translator)}" if work.translator else ""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"work-{work.id}"):
        st.html(
            f'<h3 class="relic-item">{escape(name_of(work))}</h3>'
            f'<p class="relic-quiet">{chapters} · {work.sentences:,} sentences · {work.words:,} words{translator}</p>'
        )
        if st.button("Find in it", key=f"find-{work.id}", icon=":material/search:"):
            st.session_state["find_work"] = work.id
            st.switch_page("pages/find.py")
        if st.button("Remove", key=f"remove-{work.id}", type="tertiary", help=literal(f"Remove {work.title}")):
            workbench.works.remove(work.id)
            st.session_state["library_removed"] = (work.id, work.title)
            st.rerun()


def _show_undo(workbench: Workbench) -> None:
    removed = st.session_state.get("library_removed")
    if removed is None:
        return
    work_id, title = removed
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Removed from the library:", width="content")
        st.text(title, width="content")
        if st.button("Put it back", key="library_undo", icon=":material/undo:"):
            workbench.works.restore(work_id)
            del st.session_state["library_removed"]
            st.rerun()


def show_adding(workbench: Workbench) -> None:
    """Offer the ways to add a text: from this computer, from the library folder, by path."""
    st.header("Add a text")
    st.html(
        '<p class="relic-measure">Plain-text files (.txt) of up to '
        f"{workbench.settings.max_text_bytes // 1_000_000} MB. Licences, contents lists and editors' notes are set "
        "aside; chapters and sentences are found. The file itself is not changed.</p>"
    )
    folder = workbench.settings.library
    if folder is not None:
        _show_folder(workbench, folder)
    _show_upload(workbench)
    with st.form("library_path_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.text_input("Path of a file on the machine that runs the app", key="library_path")
        if st.form_submit_button("Add", icon=":material/add:") and path.strip():
            with told():
                _start(workbench, [workbench.works.find_file(path.strip().strip('"'))])


def _show_folder(workbench: Workbench, folder: Path) -> None:
    """Offer the texts of the folder that RELIC_LIBRARY names."""
    with told():
        with st.spinner(f"Looking through {literal(folder.name)} …"):
            offered = {str(text.path): text for text in workbench.works.available() if not text.work_id}
        with st.form("library_folder_form", border=False):
            chosen = st.multiselect(
                f"Texts in your folder {literal(folder.name)}",
                list(offered),
                format_func=lambda path: offered[path].title,
                key="library_chosen",
                placeholder=f"{len(offered)} to choose from" if offered else "All of them are in the library",
            )
            if st.form_submit_button("Add the chosen ones", icon=":material/add:") and chosen:
                _start(workbench, [Path(path) for path in chosen])


def _show_upload(workbench: Workbench) -> None:
    with st.form("library_upload_form", border=False, clear_on_submit=True):
        files = st.file_uploader("Texts from this computer", type=["txt"], accept_multiple_files=True)
        if st.form_submit_button("Add them", icon=":material/upload:") and files:
            with st.spinner("Reading …"):
                said = [_add_upload(workbench, file.name, file.getvalue()) for file in files]
            st.session_state["library_said"] = said
            st.rerun()
    shown = {"success": st.success, "warning": st.warning, "error": st.error}
    for kind, message in st.session_state.pop("library_said", []):
        shown[kind](literal(message))


def _add_upload(workbench: Workbench, name: str, data: bytes) -> tuple[str, str]:
    """Add one uploaded text and begin to prepare it; say how it went."""
    try:
        added = workbench.works.add(data, name=name)
        workbench.indexes.start(added.work.id)
    except RelicError as error:
        return "error", f"{name}: {error}"
    if added.already:
        return "success", f"{name}: its text is in the library already, as {added.work.title}."
    chapters = "one chapter" if added.work.chapters == 1 else f"{added.work.chapters} chapters"
    said = f"{added.work.title} has been added: {chapters}, {added.work.sentences:,} sentences. {added.notice}"
    return "warning" if added.notice else "success", said.rstrip()


def _start(workbench: Workbench, paths: Iterable[Path]) -> None:
    """Add files in the background."""
    named = [str(path) for path in paths]
    title = f"Adding {Path(named[0]).name}" if len(named) == 1 else f"Adding {len(named)} texts"
    job = workbench.jobs.start("add", title=title, subject="\n".join(named), arguments={"paths": named})
    st.session_state["library_job"] = job.id
    st.rerun()


def show_jobs(workbench: Workbench, recent: Sequence[Job]) -> None:
    """Show what is being added or prepared, and how the job that this reader started ended."""
    active = [job for job in recent if job.active]
    if active:
        st.header("Under way")
    for job in active:
        show_job(workbench, job.id)
    for job in recent:
        if job.id == st.session_state.get("library_job") and not job.active:
            (st.success if job.state == "done" else st.warning)(literal(f"{job.title}: {job.note}"))


def show_ended_jobs(recent: Sequence[Job]) -> None:
    """List how earlier jobs ended."""
    ended = sorted((job for job in recent if not job.active), key=lambda job: job.updated)
    if ended:
        with st.expander("What was added and prepared before"):
            for job in reversed(ended):
                st.text(f"{job.updated:%d %b, %H:%M} UTC  {job.title}: {job.note or job.state}")
