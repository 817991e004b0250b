"""Texts of the reader's own: each is shown as it was understood before anything of it is stored.

A press is noted by a callback and done when the page is drawn, and everything stands in a place of its own: otherwise a
press that comes while the page is being drawn anew, because a job has ended or a field was just filled in, is lost.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from relic_core.errors import RelicError
from relic_ui.library import correcting
from relic_ui.library.beginning import beginning_html
from relic_ui.library.set_aside import left_out_list, name_of_kind
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from relic_core.services.works import Preview
    from relic_core.wiring import App

_SHOWN_NAME = 60


class _Read(NamedTuple):
    """An upload as it was understood."""

    name: str
    data: bytes
    preview: Preview


def show(app: App) -> None:
    """Take files, show what was understood of each, and add those that the reader wants."""
    state = st.session_state
    with st.container(key="own-said"):
        _show_said()
    megabytes = max(1, app.settings.max_text_bytes // 1_000_000)
    files = st.file_uploader(
        "Plain text (.txt), EPUB (.epub) or TEI (.xml)",
        accept_multiple_files=True,  # of any type: what cannot be read is told in our words, file by file
        max_upload_size=megabytes,
        key=f"own_files-{state.setdefault('own_round', 0)}",
        help="You see what was understood of a file before anything of it is stored.",
    )
    state["own_here"] = {file.file_id for file in files or ()}
    waiting = [file for file in files or () if file.file_id not in state.setdefault("own_done", set())]
    if not waiting:
        return
    with st.container(key="own-reading"):
        read = _read_all(app, waiting)
    offered = {key: each for key, each in read.items() if isinstance(each, _Read)}
    refused = [key for key, each in read.items() if not isinstance(each, _Read)]
    said = {}
    for key, each in read.items():
        with st.container(key=f"own-place-{key}"):
            if isinstance(each, _Read):
                said[key] = _show_preview(key, each)
            else:
                _show_refusal(key, *each)
    wanted = {key: each for key, each in offered.items() if each.preview.stored is None}
    with st.container(horizontal=True, key="own-all"):
        if len(wanted) > 1:
            _ask_button(f"Add all {len(wanted)}", "own_add_all", list(wanted), type="primary", icon=":material/add:")
        if len(refused) > 1 and offered:
            _discard_button("Discard all that could not be read", "own_discard_refused", refused)
        if len(read) > 1:
            _discard_button("Discard all", "own_discard_all", list(read))
    asked = [key for key in state.pop("own_asked", ()) if key in offered]
    if asked:
        _add(app, {key: offered[key] for key in asked}, said)


def _ask_button(label: str, key: str, files: list[str], **look: Any) -> None:  # noqa: ANN401 - as st.button has it
    """Draw a button that asks for files to be added."""

    def ask() -> None:
        st.session_state["own_asked"] = files

    st.button(label, key=key, on_click=ask, **look)


def _discard_button(label: str, key: str, files: list[str], help_: str | None = None) -> None:
    """Draw a button that has done with files."""

    def discard() -> None:
        st.session_state.pop("own_said", None)
        _finish(files)

    st.button(label, key=key, on_click=discard, type="tertiary", help=help_)


def _read_all(app: App, files: Sequence[UploadedFile]) -> dict[str, _Read | tuple[str, str]]:
    """Understand each file, once in a visit: a preview, or the file's name and why it cannot be read."""
    kept: dict[str, Any] = st.session_state.setdefault("own_read", {})
    found: dict[str, _Read | tuple[str, str]] = {}
    for file in files:
        if file.file_id not in kept:
            data = file.getvalue()
            with st.spinner(f"Reading {literal(_short(file.name))} …"):
                try:
                    kept[file.file_id] = _Read(file.name, data, app.works.preview(data, name=file.name))
                except RelicError as error:
                    kept[file.file_id] = (file.name, str(error))
        found[file.file_id] = kept[file.file_id]
    return _once(found)


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
        else (each.name, "It holds the same as another of these files, and is left out.")
        for key, each in found.items()
    }


def _show_refusal(key: str, name: str, why: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.error(f"**{literal(_short(name))}**: {literal(why)}", icon=":material/error:", width="stretch")
        _discard_button("Discard", f"own-discard-{key}", [key], literal(f"Discard {_short(name)}"))


def _show_preview(key: str, read: _Read) -> dict[str, str]:
    """Show one file as it was understood; give what stands in its fields."""
    preview = read.preview
    work = preview.work
    with st.container(border=True, key=f"own-{key}"):
        st.html(
            f'<h3 class="relic-item">{escape(_short(read.name))}</h3>'
            f'<p class="relic-quiet">{work.format[:1].upper()}{work.format[1:]} · {len(preview.chapters):,} '
            f"{'chapter' if len(preview.chapters) == 1 else 'chapters'} · "
            f"{sum(chapter.words for chapter in preview.chapters):,} words · {len(work.sentences):,} sentences</p>"
        )
        if preview.stored is not None:
            st.info(f"Already in your library as {literal(preview.stored.title)}.", icon=":material/inventory_2:")
        elif preview.removed is not None:
            st.info("You removed this text earlier; adding it puts it back.", icon=":material/undo:")
        if preview.namesakes:
            st.info(_another_edition(preview), icon=":material/library_books:")
        if preview.notice:
            st.warning(literal(preview.notice), icon=":material/warning:")
        said = correcting.fields(work, f"own-{key}")
        st.html(f'<blockquote class="relic-shelf-first">{beginning_html(work)}</blockquote>' + _details(preview))
        with st.container(horizontal=True):
            label = "Add" if preview.stored is None else "Save these details"
            named = f"{label}: {_short(read.name)}"
            _ask_button(label, f"own-add-{key}", [key], type="primary", icon=":material/add:", help=literal(named))
            _discard_button("Discard", f"own-discard-{key}", [key], literal(f"Discard {_short(read.name)}"))
    return said


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
        f"<li>{escape(chapter.name)} <span>{chapter.words:,} words</span></li>" for chapter in preview.chapters
    )
    parts = (
        f'<details class="relic-shelf-found"><summary>{many:,} {"chapter" if many == 1 else "chapters"} found</summary>'
        f"<ol>{chapters}</ol></details>"
    )
    if preview.left_out:
        share = sum(part.characters for part in preview.left_out) / len(preview.work.text)
        kinds = ", ".join(name_of_kind(part.kind).lower() for part in preview.left_out)
        parts += (
            f'<details class="relic-shelf-found"><summary>Set aside: {escape(kinds)} '
            f"({share:.1%} of the file)</summary>"
            f"{left_out_list(preview.left_out)}</details>"
        )
    return parts


def _add(app: App, texts: dict[str, _Read], said: dict[str, dict[str, str]]) -> None:
    """Store texts, begin to prepare them, and keep how it went for the next run of the page."""
    told: list[tuple[str, str]] = []
    added = []
    with st.spinner("Adding …"):
        for key, read in texts.items():
            try:
                work = app.works.add(read.data, name=read.name, **correcting.read(said[key])).work
                app.indexes.start(work.id)
            except RelicError as error:
                told.append(("error", f"{_short(read.name)}: {error}"))
                continue
            added.append(key)
            told.append(("success", f"{work.title} is in your library. It can be read and searched by words at once."))
    _finish(added)
    st.session_state["own_said"] = told
    st.rerun()


def _finish(keys: Sequence[str]) -> None:
    """Have done with files; once that is so for all of them, the uploader is emptied."""
    state = st.session_state
    for key in keys:
        state["own_done"].add(key)
        state["own_read"].pop(key, None)
    if state["own_here"] <= state["own_done"]:
        state["own_round"] += 1
        state["own_done"] = set()


def _show_said() -> None:
    """Tell what came of the last press, until the next one or until the page is left."""
    state = st.session_state
    if state.get("came_from") != state.get("page"):
        state.pop("own_said", None)
    shown = {"success": st.success, "error": st.error}
    for kind, message in state.get("own_said", []):
        shown[kind](literal(message))


def _short(name: str) -> str:
    """Cut a very long file name.

    >>> _short("a" * 100 + ".txt")[-9:]
    'aaaaa.txt'
    """
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME // 2]}…{name[-_SHOWN_NAME // 2 :]}"
