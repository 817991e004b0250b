"""Adding a text: the ways in, the commonest first, and the job that each of them starts."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

from relic_core.services.catalogue import parse_number
from relic_ui import jobs
from relic_ui.library import own_texts
from relic_ui.shell import literal, show_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.wiring import App


def show_adding(app: App) -> None:
    """Offer the ways to add a text: from this computer, from Project Gutenberg, from the library folder, by path."""
    st.header("Add a text", anchor="add")
    st.html(
        '<p class="relic-measure">Licences, contents lists and editors’ matter are set aside; chapters and sentences '
        "are found. The file itself is not changed, and it stays on this machine.</p>"
    )
    folder = app.settings.library
    ways = ["Files of your own", "Project Gutenberg", *(["Your folder"] if folder else []), "By path"]
    tabs = dict(zip(ways, st.tabs(ways, key="library_ways"), strict=True))
    with tabs["Files of your own"]:
        own_texts.show(app)
    with tabs["Project Gutenberg"]:
        _show_gutenberg(app)
    if folder is not None:
        with tabs["Your folder"]:
            _show_folder(app, folder)
    with tabs["By path"]:
        _show_path(app)


def _show_gutenberg(app: App) -> None:
    mirror = urlsplit(app.settings.gutenberg).hostname or ""
    st.html(
        '<p class="relic-measure relic-quiet">Any book of Project Gutenberg, by its number or the address of its page. '
        f"Its plain text is fetched from {escape(mirror)} in the background, stored here, and prepared for searching. "
        "Without a connection nothing is lost: download the book elsewhere and add the file.</p>"
    )
    with st.form("library_gutenberg_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        said = st.text_input(
            "Number or address of the book",
            key="library_gutenberg",
            placeholder="1342, or https://www.gutenberg.org/ebooks/1342",
            width=440,
        )
        if st.form_submit_button("Fetch and add", icon=":material/download:"):
            with show_errors():
                number = parse_number(said)
                jobs.follow("gutenberg", app.catalogue.add_gutenberg(number), f"looking for book {number} …")
                st.rerun()
    with st.container(key="library_gutenberg_job"), show_errors():
        jobs.show_followed(app, "gutenberg")


def _show_folder(app: App, folder: Path) -> None:
    """Offer the texts of the folder that RELIC_LIBRARY names."""
    with show_errors():
        with st.spinner(f"Looking through {literal(folder.name)} …"):
            offered = {str(text.path): text for text in app.works.available() if not text.work_id}
        with st.form("library_folder_form", border=False):
            chosen = st.multiselect(
                f"Texts in your folder {literal(folder.name)}",
                list(offered),
                format_func=lambda path: offered[path].title,
                key="library_chosen",
                placeholder=f"{len(offered)} to choose from" if offered else "All of them are in the library",
            )
            if st.form_submit_button("Add the chosen ones", icon=":material/add:") and chosen:
                _start(app, "folder", [Path(path) for path in chosen])
        jobs.show_followed(app, "folder")


def _show_path(app: App) -> None:
    with st.form("library_path_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.text_input("Path of a file on the machine that runs the app", key="library_path", width=440)
        if st.form_submit_button("Add", icon=":material/add:") and path.strip():
            with show_errors():
                _start(app, "path", [app.works.find_file(path.strip().strip('"'))])
    with st.container(key="library_path_job"), show_errors():
        jobs.show_followed(app, "path")


def _start(app: App, way: str, paths: Iterable[Path]) -> None:
    """Add files in the background; how that goes is told under the form."""
    named = [str(path) for path in paths]
    title = f"Adding {Path(named[0]).name}" if len(named) == 1 else f"Adding {len(named)} texts"
    jobs.follow(way, app.jobs.start("add", title=title, subject="\n".join(named), arguments={"paths": named}))
    st.rerun()
