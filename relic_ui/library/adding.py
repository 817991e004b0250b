"""Adding works: by number, from a folder, and files of the reader's own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from relic_core.errors import RelicError
from relic_core.services.catalogue import parse_number
from relic_core.services.works import Preview
from relic_core.wiring import App
from relic_ui import jobs, person
from relic_ui.library import correcting
from relic_ui.library.library import open_works
from relic_ui.library.previews import beginning_html, left_out_list, name_of_kind
from relic_ui.links import link
from relic_ui.shell import literal, show_errors
from relic_ui.visit import visit

_SHOWN_NAME = 60
_LISTED = 1_000
"""Chapters of a preview that are named: a file may have a hundred thousand."""


class _Read(NamedTuple):
    """An upload as it was understood."""

    name: str
    data: bytes
    preview: Preview


def show(app: App) -> None:
    """Take files, show what was understood of each, and add those that the reader wants."""
    state = visit()
    megabytes = max(1, app.settings.max_text_bytes // 1_000_000)
    files = st.file_uploader(
        "Plain text (.txt), EPUB (.epub) or TEI (.xml)",
        accept_multiple_files=True,  # of any type: what cannot be read is reported in our words, file by file
        max_upload_size=megabytes,
        key=f"own_files-{state.setdefault('own_round', 0)}",
        help="You see how a file was read before anything is stored.",
    )
    state["own_here"] = {file.file_id for file in files or ()}
    waiting = [file for file in files or () if file.file_id not in state.setdefault("own_done", set())]
    if not waiting:
        return
    with st.container(key="own-reading"):
        read = _read_all(app, waiting)
    offered = {key: each for key, each in read.items() if isinstance(each, _Read)}
    refused = [key for key, each in read.items() if not isinstance(each, _Read)]
    entered = {}
    for key, each in read.items():
        with st.container(key=f"own-place-{key}"):
            if isinstance(each, _Read):
                entered[key] = _show_preview(key, each)
            else:
                _show_refusal(key, *each)
    wanted = {key: each for key, each in offered.items() if each.preview.stored is None}
    with st.container(horizontal=True, key="own-all"):
        if len(wanted) > 1:
            _add_button(f"Add all {len(wanted)}", "own_add_all", list(wanted))
        if len(refused) > 1 and offered:
            _discard_button("Discard the files that could not be read", "own_discard_refused", refused)
        if len(read) > 1:
            _discard_button("Discard all", "own_discard_all", list(read))
    asked = [key for key in state.pop("own_asked", ()) if key in offered]
    if asked:
        _add(app, {key: offered[key] for key in asked}, entered)


def _add_button(label: str, key: str, files: list[str], help_: str | None = None) -> None:
    def ask() -> None:
        visit()["own_asked"] = files

    st.button(label, key=key, on_click=ask, type="primary", icon=":material/add:", help=help_)


def _discard_button(label: str, key: str, files: list[str], help_: str | None = None) -> None:
    def discard() -> None:
        visit().pop("own_messages", None)
        _finish(files)

    st.button(label, key=key, on_click=discard, type="tertiary", help=help_)


def _read_all(app: App, files: Sequence[UploadedFile]) -> dict[str, _Read | tuple[str, str]]:
    """Understand each file, once in a visit: a preview, or the file's name and why it cannot be read."""
    kept: dict[str, Any] = visit().setdefault("own_read", {})
    found: dict[str, _Read | tuple[str, str]] = {}
    for file in files:
        if file.file_id not in kept:
            data = file.getvalue()
            with st.spinner(f"Reading {literal(_short(file.name))} …"):
                try:
                    # Whatever is drawn ends this run once the visitor has left or pressed something else.
                    preview = app.works.preview(data, name=file.name, whose=_visitor(), wait=st.empty().empty)
                    kept[file.file_id] = _Read(file.name, data, preview)
                except RelicError as error:
                    kept[file.file_id] = (file.name, str(error))
        found[file.file_id] = kept[file.file_id]
    return _once(found)


def _visitor() -> str:
    """Give who is signed in, or else this visit: visitors do not wait for each other's files."""
    context = get_script_run_ctx()
    return person.current() or (context.session_id if context else "")


def _once(found: dict[str, _Read | tuple[str, str]]) -> dict[str, _Read | tuple[str, str]]:
    """Leave out files that hold the same as one before them."""
    seen: dict[str, str] = {}
    for key, each in found.items():
        if isinstance(each, _Read):
            seen.setdefault(hashlib.sha256(each.data).hexdigest(), key)
    firsts = set(seen.values())
    return {
        key: each
        if not isinstance(each, _Read) or key in firsts
        else (each.name, "It has the same content as another of these files, and is left out.")
        for key, each in found.items()
    }


def _show_refusal(key: str, name: str, why: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.error(f"**{literal(_short(name))}**: {literal(why)}", icon=":material/error:", width="stretch")
        _discard_button("Discard", f"own-discard-{key}", [key], literal(f"Discard {_short(name)}"))


def _show_preview(key: str, read: _Read) -> dict[str, str]:
    """Show one file as it was understood; give what its fields hold."""
    preview = read.preview
    work = preview.work
    with st.container(border=True, key=f"own-{key}"):
        st.html(
            f'<h3 class="relic-item">{escape(_short(read.name))}</h3>'
            f'<p class="relic-quiet">{work.format[:1].upper()}{work.format[1:]} · {len(preview.chapters):,} '
            f"{'chapter' if len(preview.chapters) == 1 else 'chapters'} · "
            f"{sum(chapter.words for chapter in preview.chapters):,} words · {preview.sentences:,} sentences</p>"
        )
        if preview.stored is not None:
            st.info(f"Already in your library as {literal(preview.stored.title)}.", icon=":material/inventory_2:")
        elif preview.removed is not None:
            st.info("You removed this text earlier. Adding it puts it back.", icon=":material/undo:")
        if preview.namesakes:
            st.info(_another_edition(preview), icon=":material/library_books:")
        if preview.notice:
            st.warning(literal(preview.notice), icon=":material/warning:")
        entered = correcting.fields(work, f"own-{key}")
        st.html(f'<blockquote class="relic-shelf-first">{beginning_html(work)}</blockquote>' + _details(preview))
        with st.container(horizontal=True):
            label = "Add" if preview.stored is None else "Save these details"
            _add_button(label, f"own-add-{key}", [key], literal(f"{label}: {_short(read.name)}"))
            _discard_button("Discard", f"own-discard-{key}", [key], literal(f"Discard {_short(read.name)}"))
    return entered


def _another_edition(preview: Preview) -> str:
    others = len(preview.namesakes)
    first = preview.namesakes[0]
    which = f"{first.words:,} words" + (f", translated by {first.translator}" if first.translator else "")
    if others == 1:
        return f"You have another edition of this title ({literal(which)}). Both can be kept."
    return f"You have {others} other editions of this title. All can be kept."


def _details(preview: Preview) -> str:
    """List the chapters that were found and what was left out, each behind a disclosure."""
    many = len(preview.chapters)
    chapters = "".join(
        f"<li>{escape(chapter.name)} <span>{chapter.words:,} words</span></li>"
        for chapter in preview.chapters[:_LISTED]
    )
    if many > _LISTED:
        chapters += f"<li>and {many - _LISTED:,} more</li>"
    parts = (
        f'<details class="relic-shelf-found"><summary>{many:,} {"chapter" if many == 1 else "chapters"} found</summary>'
        f"<ol>{chapters}</ol></details>"
    )
    if preview.left_out:
        share = sum(part.characters for part in preview.left_out) / preview.characters
        kinds = ", ".join(name_of_kind(part.kind).lower() for part in preview.left_out)
        parts += (
            f'<details class="relic-shelf-found"><summary>Left out: {escape(kinds)} '
            f"({share:.1%} of the file)</summary>"
            f"{left_out_list(preview.left_out)}<p>Long pieces can be put back on the page of the work.</p></details>"
        )
    return parts


def _add(app: App, texts: dict[str, _Read], entered: dict[str, dict[str, str]]) -> None:
    """Store texts, begin to prepare them, and keep how it went for the next run of the page."""
    messages: list[tuple[str, str, str]] = []
    added = []
    with st.spinner("Adding …"):
        for key, read in texts.items():
            try:
                given = correcting.read(entered[key])
                if read.preview.stored is None:  # what nobody changed, nobody has confirmed
                    given = {name: each for name, each in given.items() if each != getattr(read.preview.work, name)}
                kept = read.preview.kept
                kept = kept and kept._replace(wait=st.empty().empty)  # as in `_read_all`
                work = app.works.add(kept or read.data, name=read.name, **given).work
                app.indexes.start(work.id)
            except RelicError as error:
                messages.append(("error", f"{_short(read.name)}: {error}", ""))
                continue
            added.append(key)
            messages.append(("success", f"{work.title} is in your library.", work.id))
    visit()["own_messages"] = messages
    if _finish(added):
        open_works()
    st.rerun()


def _finish(keys: Sequence[str]) -> bool:
    """Have done with files; once that is so for all of them, which is what it returns, the uploader is emptied."""
    state = visit()
    for key in keys:
        state["own_done"].add(key)
        state["own_read"].pop(key, None)
    if not state["own_here"] <= state["own_done"]:
        return False
    state["own_round"] += 1
    state["own_done"] = set()
    return True


def show_outcomes(app: App) -> None:
    """Tell what came of the last press, until the next one or until the page is left; what was added leads to it."""
    state = visit()
    job = None
    with st.container(key="library_adding_job"), show_errors():
        job = jobs.show_followed(app, "adding")
    if job and job.state == "done" and state.get("library_led") != job.id:
        state["library_led"] = job.id
        open_works()
    if state.get("came_from") != state.get("page"):
        state.pop("own_messages", None)
    shown = {"success": st.success, "error": st.error}
    for kind, message, work_id in state.get("own_messages", []):
        shown[kind](literal(message))
        if work_id:
            to = link("read", "Read it", work=work_id) + link("find", "Find in it", work=work_id)
            st.html(f'<p class="relic-work-do">{to}</p>')


def _short(name: str) -> str:
    """Cut a very long file name.

    >>> _short("a" * 100 + ".txt")[-9:]
    'aaaaa.txt'
    """
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME // 2]}…{name[-_SHOWN_NAME // 2 :]}"


def show_adding(app: App) -> None:
    """Offer the ways to add a text: from this computer, from Project Gutenberg, from the library folder, by path."""
    folder = app.settings.library
    ways = ["Files of your own", "Project Gutenberg", *(["Your folder"] if folder else []), "By path"]
    tabs = dict(zip(ways, st.tabs(ways, key="library_ways"), strict=True))
    with tabs["Files of your own"]:
        st.html('<p class="relic-measure relic-quiet">Your file is not changed and stays on this computer.</p>')
        show(app)
    with tabs["Project Gutenberg"]:
        _show_gutenberg(app)
    if folder is not None:
        with tabs["Your folder"]:
            _show_folder(app, folder)
    with tabs["By path"]:
        _show_path(app)


def _show_gutenberg(app: App) -> None:
    mirror = urlsplit(app.settings.gutenberg).hostname or ""
    st.html(f'<p class="relic-measure relic-quiet">Its plain text is fetched from {escape(mirror)}.</p>')
    with st.form("library_gutenberg_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        entered = st.text_input(
            "Number or address of the book",
            key="library_gutenberg",
            placeholder="1342, or https://www.gutenberg.org/ebooks/1342",
            width=440,
        )
        if st.form_submit_button("Fetch and add", icon=":material/download:"):
            with show_errors():
                number = parse_number(entered)
                jobs.follow("adding", app.catalogue.add_gutenberg(number), f"looking for book {number} …")
                st.rerun()


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
            if st.form_submit_button("Add the selected files", icon=":material/add:") and chosen:
                _start(app, [Path(path) for path in chosen])


def _show_path(app: App) -> None:
    with st.form("library_path_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.text_input("Path of a file on the computer that runs the app", key="library_path", width=440)
        if st.form_submit_button("Add", icon=":material/add:") and path.strip():
            with show_errors():
                _start(app, [app.works.find_file(path.strip().strip('"'))])


def _start(app: App, paths: Iterable[Path]) -> None:
    """Add files in the background; how that goes is shown above the works."""
    named = [str(path) for path in paths]
    title = f"Adding {Path(named[0]).name}" if len(named) == 1 else f"Adding {len(named)} texts"
    jobs.follow("adding", app.jobs.start("add", title=title, subject="\n".join(named), arguments={"paths": named}))
    st.rerun()
