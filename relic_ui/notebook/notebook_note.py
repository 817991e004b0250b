"""One note of the notebook: a row; when it is open, the passage on one side, the scholar's words on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from relic_core.domain import VERDICTS, Note
from relic_core.domain.notes import LONGEST_WORDS
from relic_core.errors import RelicError
from relic_core.reporting.notebook_exports import brought_up
from relic_core.services.notebook import NoteView
from relic_core.wiring import App
from relic_ui import person, typography
from relic_ui.history.history import moment
from relic_ui.keep import note_anchor
from relic_ui.naming import shorten
from relic_ui.shell import literal, show_errors
from relic_ui.templates import render
from relic_ui.visit import visit

VERDICT_LABELS = {"supports": "Supports", "contradicts": "Contradicts", "unsure": "Unsure"}
CLAIM_SHOWN = 160
MOST = LONGEST_WORDS * 5 // 4
"""Characters that the box of a note takes, so that one which is a little too long is refused in words."""
LENGTHS = {"longer": 1, "shorter": -1}
"""By how many sentences a button changes a passage."""
_NOW = "notebook_now"
"""In the session: notes as they were last read or written, by id."""
_OTHER = "notebook_other"
"""In the session: versions that were written elsewhere and have now been written over, until the scholar has chosen."""
REWRITTEN = "notebook_rewritten"
"""In the session: the ids of notes that have earlier versions to show."""


class Around(NamedTuple):
    """What a note is drawn with: labels of retrievers, tags in use, other collections by id, and where it may move.

    - `claim`: the claim that it stands under, where notes stand under their claims.
    """

    labels: Mapping[str, str]
    tags: Sequence[str]
    others: Mapping[str, str]
    collection: str = ""
    up: bool = False
    down: bool = False
    claim: str | None = None


def show_note(app: App, view: NoteView, around: Around) -> None:
    """Draw a note; one that the address names is open."""
    state, note_id = st.session_state, view.note.id
    state.setdefault(_NOW, {})[note_id] = view.note
    if opening(note_id) not in state and st.query_params.get("note") == note_id:
        state[opening(note_id)] = True
    with st.container(border=True, key=f"notebook_{note_id}", gap=None):
        _row(app, view, around)


def opening(note_id: str) -> str:
    """Name what says in the session whether a note is open."""
    return f"notebook_open_{note_id}"


@st.fragment
def _row(app: App, view: NoteView, around: Around) -> None:
    """Draw the row, and what it opens to; it stays open while it holds what could not be saved."""
    if _refused(view.note.id):
        st.session_state[opening(view.note.id)] = True
    note: Note = st.session_state[_NOW][view.note.id]
    anchor = note_anchor(note.id)
    st.html(render("notebook/row.html", view=view, note=note, around=around, anchor=anchor, verdicts=VERDICT_LABELS))
    line = shorten(typography.chosen(" ".join(note.kept.quotation.split())), CLAIM_SHOWN)
    whole = st.expander(literal(line), key=opening(note.id), type="compact", on_change="rerun")
    if whole.open:
        passage, own = whole.columns([3, 2], gap="medium")
        passage.html(_passage_html(view, around))
        with own:
            _editor(app, note.id, around.tags, around.others)


def claim_of(note: Note) -> str:
    """Give the claim that a passage was kept for, on one line; empty where there is none."""
    return " ".join(note.kept.claim_text.split()) if note.kept.for_claim else ""


def _passage_html(view: NoteView, around: Around) -> Markup:
    """Make the HTML of the passage: its words, what it was kept for, and what can be done with it."""
    kept, claim = view.note.kept, claim_of(view.note)
    return render(
        "notebook/passage.html",
        view=view,
        around=around,
        words=typography.chosen(kept.quotation),
        claim=claim,
        short=shorten(claim, CLAIM_SHOWN),
        brought_up=brought_up(kept, around.labels),
    )


def _editor(app: App, note_id: str, tags: Sequence[str], others: Mapping[str, str]) -> None:
    """Draw what the scholar says of a passage; it is saved when a field is left, and the page stands still."""
    if visit().pop("notebook_counts_changed", False):
        st.rerun()  # the menus above count verdicts and list tags
    note: Note = st.session_state[_NOW][note_id]
    keys = {name: f"notebook_{name}_{note_id}" for name in ("words", "tags", "verdict")}
    _fill(note, keys)
    new = keys["words"] not in st.session_state
    for refused in dict.fromkeys(_refused(note_id).values()):
        st.error(literal(refused), icon=":material/error:")

    def save(*names: str) -> None:
        _save(app, note_id, {name: st.session_state[keys[name]] for name in names})

    def put(values: Mapping[str, Any]) -> None:
        st.session_state.update({keys[name]: value for name, value in values.items()})
        save(*values)

    first = note.words if new else ""
    written = st.text_area(
        "Your words",
        first,
        key=keys["words"],
        height="content",
        max_chars=MOST,
        on_change=save,
        args=("words",),
    )
    if new and written != first:  # on a page that outlived its server, which the new one has not seen
        if any(written == version.words for version in app.notebook.versions(note_id, person.current())):
            # Nothing was written there since another tab or person went on: what they wrote is shown.
            st.session_state[f"notebook_seen_{note_id}"]["words"] = written
            st.rerun()
        save("words")
    _show_other(note, keys["words"], put)
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
    status = visit().get("notebook_message", ("", ""))
    words = status[1] if status[0] == note_id else ""
    st.html(Markup('<p class="relic-note-said" role="status">{}</p>').format(words))
    with st.container(horizontal=True, gap="small"):
        if others:
            _offer_move(app, note_id, others)
        if note_id in st.session_state.get(REWRITTEN, ()):
            _show_versions(app, note_id, put)


def _offer_move(app: App, note_id: str, others: Mapping[str, str]) -> None:
    with st.popover("Move to …", type="tertiary", icon=":material/drive_file_move:", key=f"notebook_move_{note_id}"):
        for collection_id, name in others.items():
            if st.button(literal(name), key=f"notebook_to_{note_id}_{collection_id}", type="tertiary"):
                with show_errors():  # a fragment runs without its page, which tells such things else
                    app.notebook.write(note_id, collection_id=collection_id, person=person.current())
                    st.rerun()


def _show_other(note: Note, words_key: str, put: Callable[[Mapping[str, Any]], None]) -> None:
    """Say that a note was changed elsewhere, what it says there, and let the scholar choose."""
    others: dict[str, Note] = st.session_state.setdefault(_OTHER, {})
    other = others.get(note.id)
    if other is None or (other.words, other.verdict) == (note.words, note.verdict):
        return

    there: dict[str, Any] = {} if other.words == note.words else {"words": other.words}
    there |= {} if other.verdict == note.verdict else {"verdict": other.verdict}

    def put_together() -> None:
        put({"words": f"{other.words}\n\n{st.session_state[words_key]}"})

    def choose(does: Callable[[], None]) -> None:
        others.pop(note.id, None)
        does()

    choices = {"Put both together": put_together} if there.get("words", "").strip() and note.words.strip() else {}
    choices |= {"Use the other": partial(put, there), "Keep mine": lambda: None}
    with st.container(key=f"notebook_other_{note.id}", gap="small"):
        _show_version(there, moment(other.updated), conflict=True)
        with st.container(horizontal=True, gap="small"):
            for label, does in choices.items():
                key = f"notebook_{label.split()[0].lower()}_{note.id}"
                st.button(label, key=key, type="tertiary", on_click=choose, args=(does,))


def _show_versions(app: App, note_id: str, put: Callable[[Mapping[str, Any]], None]) -> None:
    """List what a note said before; it is read when the list is opened."""
    key = f"notebook_earlier_{note_id}"

    def take_back(values: Mapping[str, Any]) -> None:
        st.session_state[key] = False
        put(values)

    earlier = st.popover("Earlier versions", type="tertiary", icon=":material/history:", key=key, on_change="rerun")
    if not earlier.open:
        return
    with earlier, show_errors():
        for number, version in enumerate(app.notebook.versions(note_id, person.current())[1:]):
            values = {"words": version.words, "verdict": version.verdict, "tags": list(version.tags)}
            if not any(values.values()):
                continue  # as it was kept, or when all was taken away
            when = moment(version.updated)
            shown = {name: value for name, value in values.items() if value}
            _show_version(shown, when)
            tip = f"Restore the version from {when}"
            st.button("Restore", key=f"{key}_{number}", help=tip, on_click=take_back, args=(values,))


def _show_version(values: Mapping[str, Any], when: str, *, conflict: bool = False) -> None:
    st.html(render("notebook/version.html", values=values, when=when, conflict=conflict, verdicts=VERDICT_LABELS))


def _fill(note: Note, keys: Mapping[str, str]) -> None:
    """Fill the fields from the store when they are new, or the note was changed elsewhere; what was refused stays."""
    state, refused = st.session_state, _refused(note.id)
    stored = {"words": note.words, "tags": list(note.tags), "verdict": note.verdict}
    seen: dict[str, Any] = state.get(f"notebook_seen_{note.id}", {})
    for name, key in keys.items():
        if name in refused:
            state.setdefault(key, state[f"notebook_draft_{note.id}"].get(name))
        elif name != "words" if key not in state else seen.get(name) != stored[name]:
            state[key] = stored[name]
    state[f"notebook_seen_{note.id}"] = stored | {name: seen[name] for name in refused if name in seen}


def _save(app: App, note_id: str, given: Mapping[str, Any]) -> None:
    """Save fields; what cannot be saved stays where it was typed, with the reason beside it."""
    state, refused = visit(), _refused(note_id)
    shown: dict[str, Any] = st.session_state[f"notebook_seen_{note_id}"]
    seen: Note = replace(st.session_state[_NOW][note_id], **shown | {"tags": tuple(shown["tags"])})
    values: Any = {name: value or "" if name == "verdict" else value for name, value in given.items()}
    try:
        note, other = app.notebook.write_over(seen, person=person.current(), **values)
    except RelicError as error:
        refused.update(dict.fromkeys(given, str(error)))
        st.session_state.setdefault(f"notebook_draft_{note_id}", {}).update(given)
        state["notebook_message"] = (note_id, "Not saved.")
        return
    for name in given:
        refused.pop(name, None)
    st.session_state[_NOW][note_id] = note
    if other is not None:
        st.session_state.setdefault(_OTHER, {})[note_id] = other
    before = other or seen
    if note != before and (before.words or before.tags or before.verdict):
        st.session_state.setdefault(REWRITTEN, set()).add(note_id)
    if list(given) != ["words"]:
        state["notebook_counts_changed"] = True
    shown.update(given)
    state["notebook_message"] = (note_id, "Saved.")


def _refused(note_id: str) -> dict[str, str]:
    """Give why fields of a note could not be saved."""
    return visit().setdefault("notebook_refused", {}).setdefault(note_id, {})
