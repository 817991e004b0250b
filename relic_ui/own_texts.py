"""Texts of the reader's own: each is shown as it was understood before anything of it is stored."""

from __future__ import annotations

import hashlib
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from relic_core.errors import RelicError
from relic_ui import correcting
from relic_ui.set_aside import left_out_list
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from relic_core.services.previews import Preview
    from relic_core.services.workbench import Workbench

_KINDS = ["txt", "epub", "xml"]
_SHOWN_NAME = 60


class _Read(NamedTuple):
    """An upload as it was understood."""

    name: str
    data: bytes
    preview: Preview


def show(workbench: Workbench) -> None:
    """Take files, show what was understood of each, and add those that the reader wants."""
    state = st.session_state
    _show_said()
    megabytes = workbench.settings.max_text_bytes // 1_000_000
    files = st.file_uploader(
        "Plain text (.txt), EPUB (.epub) or TEI (.xml)",
        type=_KINDS,
        accept_multiple_files=True,
        max_upload_size=megabytes,
        key=f"own_files-{state.setdefault('own_round', 0)}",
        help="You see what was understood of a file before anything of it is stored.",
    )
    state["own_here"] = {file.file_id for file in files or ()}
    waiting = [file for file in files or () if file.file_id not in state.setdefault("own_done", set())]
    if not waiting:
        return
    read = _read_all(workbench, waiting)
    offered = {key: each for key, each in read.items() if isinstance(each, _Read)}
    said = {}
    for key, each in read.items():
        if isinstance(each, _Read):
            said[key] = _show_preview(workbench, key, each)
        else:
            _show_refusal(key, *each)
    wanted = {key: each for key, each in offered.items() if each.preview.stored is None}
    if len(wanted) > 1:
        with st.container(horizontal=True):
            if st.button(f"Add all {len(wanted)}", key="own_add_all", type="primary", icon=":material/add:"):
                _add(workbench, wanted, said)
            if st.button("Discard all", key="own_discard_all", type="tertiary"):
                _finish(list(read))
                st.rerun()


def _read_all(workbench: Workbench, files: Sequence[UploadedFile]) -> dict[str, _Read | tuple[str, str]]:
    """Understand each file, once in a visit: a preview, or the file's name and why it cannot be read."""
    kept: dict[str, Any] = st.session_state.setdefault("own_read", {})
    found: dict[str, _Read | tuple[str, str]] = {}
    for file in files:
        if file.file_id not in kept:
            data = file.getvalue()
            with st.spinner(f"Reading {literal(_short(file.name))} …"):
                try:
                    kept[file.file_id] = _Read(file.name, data, workbench.works.preview(data, name=file.name))
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
        if st.button("Discard", key=f"own-discard-{key}", type="tertiary", help=literal(f"Discard {_short(name)}")):
            _finish([key])
            st.rerun()


def _show_preview(workbench: Workbench, key: str, read: _Read) -> dict[str, str]:
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
        said = correcting.fields(preview, f"own-{key}")
        st.html(f'<blockquote class="relic-shelf-first">{escape(preview.first)}</blockquote>' + _details(preview))
        with st.container(horizontal=True):
            label = "Add" if preview.stored is None else "Save these details"
            named = f"{label}: {_short(read.name)}"
            if st.button(label, key=f"own-add-{key}", type="primary", icon=":material/add:", help=literal(named)):
                _add(workbench, {key: read}, {key: said})
            named = f"Discard {_short(read.name)}"
            if st.button("Discard", key=f"own-discard-{key}", type="tertiary", help=literal(named)):
                _finish([key])
                st.rerun()
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
        parts += (
            f'<details class="relic-shelf-found"><summary>{share:.1%} of the file set aside</summary>'
            f"{left_out_list(preview.left_out)}</details>"
        )
    return parts


def _add(workbench: Workbench, texts: dict[str, _Read], said: dict[str, dict[str, str]]) -> None:
    """Store texts, begin to prepare them, and keep how it went for the next run of the page."""
    told: list[tuple[str, str]] = []
    added = []
    with st.spinner("Adding …"):
        for key, read in texts.items():
            try:
                work = workbench.works.add(read.data, name=read.name, **correcting.read(said[key])).work
                workbench.indexes.start(work.id)
            except RelicError as error:
                told.append(("error", f"{_short(read.name)}: {error}"))
                continue
            added.append(key)
            told.append(("success", f"{work.title} is in your library. It can be read and searched by words at once."))
    st.session_state["own_said"] = told
    _finish(added)
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
    shown = {"success": st.success, "error": st.error}
    for kind, message in st.session_state.pop("own_said", []):
        shown[kind](literal(message))


def _short(name: str) -> str:
    """Cut a very long file name.

    Examples
    --------
    >>> _short("a" * 100 + ".txt")[-9:]
    'aaaaa.txt'
    """
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME // 2]}…{name[-_SHOWN_NAME // 2 :]}"
