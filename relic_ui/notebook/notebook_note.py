"""One note of the notebook: the passage and what brought it up on one side, the scholar's words on the other."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from relic_core.domain import VERDICTS
from relic_core.errors import RelicError
from relic_core.reporting.notebook import brought_up
from relic_ui import person
from relic_ui.buttons import button
from relic_ui.citing import cite_link
from relic_ui.keep import note_anchor
from relic_ui.links import link
from relic_ui.naming import shorten
from relic_ui.shell import literal, show_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import Note
    from relic_core.services.notebook import NoteView
    from relic_core.wiring import App

VERDICT_LABELS = {"supports": "Supports", "contradicts": "Contradicts", "unsure": "Unsure"}
_CLAIM_SHOWN = 160
_NOW = "notebook_now"
"""In the session: notes as they were last read or written, by id."""


class Around(NamedTuple):
    """What a note is drawn with: labels of retrievers, tags in use, other collections by id, and where it may move."""

    labels: Mapping[str, str]
    tags: Sequence[str]
    others: Mapping[str, str]
    collection: str = ""
    up: bool = False
    down: bool = False


def show_note(app: App, view: NoteView, around: Around) -> None:
    """Draw a note."""
    st.session_state.setdefault(_NOW, {})[view.note.id] = view.note
    with st.container(border=True, key=f"notebook_{view.note.id}"):
        passage, own = st.columns([3, 2], gap="medium")
        passage.html(note_html(view, around))
        with own:
            _editor(app, view.note.id, around.tags, around.others)


def note_html(view: NoteView, around: Around) -> str:
    """Make the HTML of the passage: where it stands, its words, what it was kept for, and what can be done with it."""
    kept = view.note.kept
    title = f"<cite>{escape(kept.title)}</cite>"
    n = kept.length if kept.length > 1 else None
    where = escape(kept.place)
    if view.work_id:
        where = link("read", kept.place, work=view.work_id, at=kept.at, n=n, q=kept.search_id or None)
    by = f" {escape(kept.author)}," if kept.author else ""
    notice = ""
    if view.notice:
        other = f" {link('work', 'About that edition', work=view.other_id)}" if view.other_id else ""
        notice = f'<p class="relic-note-notice">{escape(view.notice)}{other}</p>'
    held = f'<span class="relic-quiet">in {escape(around.collection)}</span>' if around.collection else ""
    return (
        f'<article class="relic-note" id="{note_anchor(view.note.id)}" tabindex="-1">'
        f"<header><h2>{by} {title} · {where}</h2>{held}</header>"
        f"<blockquote>{escape(kept.quotation)}</blockquote>{notice}{_kept_for(view.note, around.labels)}"
        f"{_foot(view, around)}</article>"
    )


def _kept_for(note: Note, labels: Mapping[str, str]) -> str:
    """Say which claim a passage was kept for, and what brought it up."""
    kept = note.kept
    claim = " ".join(kept.claim_text.split())
    lines = ""
    if kept.for_claim:
        short = shorten(claim, _CLAIM_SHOWN)
        whole = f"<details><summary>For the claim “{escape(short)}”</summary><p>{escape(kept.claim_text)}</p></details>"
        lines = whole if short != claim else f"<p>For the claim “{escape(claim)}”</p>"
    again = f" {link('find', 'Open the search', q=kept.search_id)}" if kept.search_id else ""
    return f'<div class="relic-note-for">{lines}<p>{escape(brought_up(kept, labels))}{again}</p></div>'


def _foot(view: NoteView, around: Around) -> str:
    note, kept = view.note, view.note.kept
    place = f"{kept.title}, {kept.place}"
    cite = f"<span>{cite_link(view.work_id, kept.at, kept.length)}</span>" if view.work_id else ""
    moves = (("up", "Up", around.up), ("down", "Down", around.down))
    steps = "".join(button(does, note.id, label, title=f"{label}: {place}") for does, label, may in moves if may)
    remove = button("remove-note", note.id, "Remove", title=f"Remove: {place}", then=".st-key-note_undo")
    made = f"{note.created:%d %B %Y}, edition {kept.sha256[:12]}. {kept.made_with}".lstrip("0")
    return (
        f'<div class="relic-note-foot">{cite}{steps}{remove}'
        f'<details class="relic-made"><summary>How it was kept</summary>{escape(made)}</details></div>'
    )


@st.fragment
def _editor(app: App, note_id: str, tags: Sequence[str], others: Mapping[str, str]) -> None:
    """Draw what the scholar says of a passage; it is saved when a field is left, and the page stands still."""
    if st.session_state.pop("notebook_counts_changed", False):
        st.rerun()  # the menus above count verdicts and list tags
    note: Note = st.session_state[_NOW][note_id]
    keys = {name: f"notebook_{name}_{note_id}" for name in ("words", "tags", "verdict")}
    _fill(note, keys)
    for name in keys:
        if refused := _refused(note_id).get(name):
            st.error(literal(refused), icon=":material/error:")

    def save(name: str) -> None:
        _save(app, note_id, name, st.session_state[keys[name]])

    st.text_area("Your words", key=keys["words"], height="content", on_change=save, args=("words",))
    if note.kept.for_claim or note.verdict:  # a verdict that was given before can be taken back
        st.segmented_control(
            "Verdict on the claim",
            list(VERDICTS),
            format_func=lambda verdict: VERDICT_LABELS[verdict],
            key=keys["verdict"],
            on_change=save,
            args=("verdict",),
        )
    known = list(dict.fromkeys([*tags, *note.tags, *st.session_state[keys["tags"]]]))
    st.multiselect(
        "Tags",
        known,
        key=keys["tags"],
        accept_new_options=True,
        placeholder="Choose, or write a new one",
        on_change=save,
        args=("tags",),
    )
    said = st.session_state.get("notebook_said", ("", ""))
    words = said[1] if said[0] == note_id else ""
    st.html(f'<p class="relic-note-said" role="status">{escape(words)}</p>')
    if others:
        with st.popover(
            "Move to …", type="tertiary", icon=":material/drive_file_move:", key=f"notebook_move_{note_id}"
        ):
            for collection_id, name in others.items():
                if st.button(literal(name), key=f"notebook_to_{note_id}_{collection_id}", type="tertiary"):
                    with show_errors():  # a fragment runs without its page, which tells such things else
                        app.notebook.write(note_id, collection_id=collection_id, person=person.current())
                        st.rerun()


def _fill(note: Note, keys: Mapping[str, str]) -> None:
    """Fill the fields from the store when they are new, or the note was changed elsewhere; what was refused stays."""
    state, refused = st.session_state, _refused(note.id)
    stored = {"words": note.words, "tags": list(note.tags), "verdict": note.verdict}
    seen: dict[str, Any] = state.get(f"notebook_seen_{note.id}", {})
    for name, key in keys.items():
        if name in refused:
            state.setdefault(key, state[f"notebook_draft_{note.id}"].get(name))
        elif key not in state or seen.get(name) != stored[name]:
            state[key] = stored[name]
    state[f"notebook_seen_{note.id}"] = stored


def _save(app: App, note_id: str, name: str, given: Any) -> None:  # noqa: ANN401 - words, tags or a verdict
    """Save one field; what cannot be saved stays where it was typed, with the reason beside it."""
    state, refused = st.session_state, _refused(note_id)
    value = given or "" if name == "verdict" else given
    try:
        note = app.notebook.write(note_id, person=person.current(), **{name: value})
    except RelicError as error:
        refused[name] = str(error)
        state.setdefault(f"notebook_draft_{note_id}", {})[name] = given
        state["notebook_said"] = (note_id, "Not saved.")
        return
    refused.pop(name, None)
    state[_NOW][note_id] = note
    state["notebook_counts_changed"] = name != "words"
    state[f"notebook_seen_{note_id}"][name] = given
    state["notebook_said"] = (note_id, "Saved.")


def _refused(note_id: str) -> dict[str, str]:
    """Give why fields of a note could not be saved."""
    refused: dict[str, str] = st.session_state.setdefault("notebook_refused", {}).setdefault(note_id, {})
    return refused
