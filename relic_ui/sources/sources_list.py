"""Secondary sources in the Library: adding them, which there are, and what was found in each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from relic_core.services.sources import SourceSummary
from relic_core.wiring import App
from relic_ui import buttons, jobs
from relic_ui.library.shelf import filtered
from relic_ui.links import link
from relic_ui.naming import listed, many
from relic_ui.removed import show_each, show_undo
from relic_ui.shell import show_errors
from relic_ui.visit import visit

_FILTER_FROM = 8
"""Sources from which on a filter is offered."""
_STEP = 12
"""Sources that are shown before the reader asks for more; then as many as stand on four such lists at once."""
_WORKS_NAMED = 3
_REMOVED_SHOWN = 12


def do(app: App, does: str, to: str) -> None:
    """Do what a button in the list of sources asks for."""
    if does == "remove-source":
        with show_errors():
            source = app.sources.remove(to)
            visit()["sources_removed"] = (source.id, source.title)


def show(app: App) -> None:
    """Draw the part of the Library that secondary sources have: what is known at once before what is counted."""
    st.html('<p class="relic-measure">Books and articles about your works. The files stay on this machine.</p>')
    with st.container(key="sources-adding"):
        _show_adding(app)
    with st.container(key="sources-list"):
        show_undo("sources", "Removed from the secondary sources", app.sources.restore)
        with st.spinner("Counting quotations …"):
            sources = app.sources.all()
        if sources:
            _show_sources(sources)
        _show_removed(app)


def _show_sources(sources: Sequence[SourceSummary]) -> None:
    read = [each for each in sources if not each.problem]
    failed = [each for each in sources if each.problem]
    windows, pairs = sum(each.windows for each in read), sum(each.pairs for each in read)
    works = len({work for each in read for work, _, _ in each.works})
    if read:
        see = link("sources", "See them by work", css="relic-work-link")
        st.html(
            f"<p>{many(len(read), 'source').capitalize()}: {many(windows, 'quotation')} of {many(works, 'work')} of "
            f"your library, among {many(pairs, 'quotation')} in all. {see if windows else ''}</p>"
        )
    _show_rows(_chosen(sorted(read, key=lambda each: (-each.windows, each.source.title.casefold()))))
    if failed:
        items = "".join(
            f"<li><strong>{escape(each.source.title)}</strong>: {escape(each.problem)}</li>" for each in failed
        )
        st.html(
            f'<details class="relic-shelf-found"><summary>{many(len(failed), "source")} that could not be '
            f'searched, and why</summary><ul class="relic-shelf-left-out relic-source-problems">{items}</ul></details>'
        )


def _chosen(sources: Sequence[SourceSummary]) -> Sequence[SourceSummary]:
    if len(sources) < _FILTER_FROM:
        return sources
    found = filtered(
        sources,
        _searched,
        "sources",
        label="Filter by title, author or quoted work",
        key="sources_filter",
        none=": no title, author or quoted work matches",
    )
    return sources if found is None else found


def _searched(summary: SourceSummary) -> str:
    titles = " ".join(title for _, title, _ in summary.works)
    return f"{summary.source.title} {summary.source.author} {titles}"


def _show_rows(sources: Sequence[SourceSummary]) -> None:
    state = visit()
    if state.get("came_from") != state.get("page"):
        state.pop("sources_more", None)
    most = state.get("sources_more", _STEP)
    if rows := "".join(map(_row, sources[:most])):
        st.html(f'<ul class="relic-shelf-works">{rows}</ul>')
    if (left := len(sources) - most) > 0:

        def show_more() -> None:
            visit()["sources_more"] = most + 4 * _STEP

        more = min(left, 4 * _STEP)
        label = f"Show {more} more" if more < left else f"Show the other {more}" if more > 1 else "Show the last one"
        st.button(label, key="sources_show_more", on_click=show_more, icon=":material/expand_more:")


def _row(summary: SourceSummary) -> str:
    source = summary.source
    title, key = escape(source.title), escape(source.id)
    look = ""
    if summary.windows or summary.set_aside:
        look = link(
            "sources", "Look at its quotations", title=f"Look at its quotations: {source.title}", source=source.id
        )
    remove = buttons.button(
        "remove-source", source.id, "Remove", title=f"Remove {source.title}", then=".st-key-sources_undo"
    )
    return (
        f'<li id="source-{key}" tabindex="-1"><div><h3 class="relic-item">{title}</h3>'
        f"<p>{escape(source.author or 'Author unknown')}</p>"
        f'<p class="relic-quiet">{escape(_found_in(summary))}</p></div>'
        f'<div class="relic-shelf-do">{look}<details name="more"><summary aria-label="More for {title}">More</summary>'
        f"<div>{remove}</div></details></div></li>"
    )


def _found_in(summary: SourceSummary) -> str:
    """Say what was found in a source.

    >>> from types import SimpleNamespace
    >>> _found_in(SimpleNamespace(windows=3, pairs=40, works=(("e", "Emma", 2), ("p", "Persuasion", 1))))
    '3 quotations of Emma (2) and Persuasion (1); 40 quotations in all'
    """
    named = [f"{title} ({windows:,})" for _, title, windows in summary.works[:_WORKS_NAMED]]
    if (more := len(summary.works) - _WORKS_NAMED) > 0:
        named.append(many(more, "other work"))
    every = f"{many(summary.pairs, 'quotation')} in all"
    if not summary.windows:
        return f"No quotation of your works; {every}"
    if len(summary.works) == 1:
        return f"{many(summary.windows, 'quotation')} of {summary.works[0][1]}; {every}"
    return f"{many(summary.windows, 'quotation')} of {listed(named)}; {every}"


def _show_removed(app: App) -> None:
    """List the removed sources, quietly: removing loses nothing."""
    removed = app.sources.removed()
    if not removed:
        return
    with st.expander(f"Removed secondary sources ({len(removed)})", key="sources_removed_list"):
        st.html(
            '<p class="relic-quiet relic-measure">Quotations in a removed source are not shown and not counted. What '
            "was found in it, and what you judged of it, is kept until you put it back.</p>"
        )
        shown = [(each.id, each.title, f", {each.author}" if each.author else "") for each in removed[:_REMOVED_SHOWN]]
        show_each("sources", shown, "restore-source-", app.sources.restore)
        if (more := len(removed) - _REMOVED_SHOWN) > 0:
            st.html(f'<p class="relic-quiet">and {more:,} removed before these</p>')


_PLACE = "sources"


def _show_adding(app: App) -> None:
    """Offer the ways to add sources, and show how the last one goes, wherever it was started."""
    here, path = st.tabs(["From this computer", "A folder, by path"], key="sources_ways")
    with here:
        _show_upload(app)
    with path:
        _show_path(app)
    with st.container(key="sources-job"), show_errors():
        if f"followed-{_PLACE}" not in st.session_state and (mining := app.jobs.under_way("mine")):
            jobs.follow(_PLACE, mining[0])
        jobs.show_followed(app, _PLACE)
        if not _show_go_on(app) and not _under_way(app):
            _show_due(app)


def _show_upload(app: App) -> None:
    state = visit()
    files = st.file_uploader(
        "Plain text (.txt), EPUB (.epub), TEI (.xml), or a .zip of them",
        accept_multiple_files=True,  # of any type: what cannot be read is reported with the others
        max_upload_size=max(1, app.settings.max_upload_bytes // 1_000_000),
        key=f"sources_files-{state.setdefault('sources_round', 0)}",
        help="A .csv in the archive with the columns file, title and author tells what the texts are; without one it "
        "is read off each text’s own beginning.",
    )
    if not files:
        return
    label = "Find the quotations" if len(files) == 1 else f"Find the quotations in {len(files)} files"
    if st.button(label, key="sources_add", icon=":material/format_quote:", type="primary"):
        with show_errors():
            _start(app, _keep(app, files))


def _keep(app: App, files: Sequence[UploadedFile]) -> list[Path]:
    """Put uploads where the job finds them, and have done with the uploader."""
    with st.spinner("Keeping the files …"):
        paths = [app.mining.keep(file.name, file.getvalue()) for file in files]
    visit()["sources_round"] += 1
    return paths


def _show_path(app: App) -> None:
    with st.form("sources_path_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.text_input(
            "Path of a folder, a .zip or a text on the machine that runs the app", key="sources_path", width=440
        )
        if st.form_submit_button("Find quotations", icon=":material/format_quote:") and path.strip():
            with show_errors():
                _start(app, [Path(path.strip().strip('"'))])


def _show_due(app: App) -> None:
    """Offer to look again where works were added since."""
    if not app.mining.due():
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            "Works have been added since these sources were read, or the rules for finding quotations have improved.",
            icon=":material/update:",
            width="stretch",
        )
        if st.button("Search them again", key="sources_again"):
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
    jobs.follow(_PLACE, app.mining.start(paths), "searching the files …")
    st.rerun()


def _under_way(app: App) -> bool:
    job_id, _ = st.session_state.get(f"followed-{_PLACE}", ("", ""))
    return bool(job_id) and app.jobs.get(job_id).active
