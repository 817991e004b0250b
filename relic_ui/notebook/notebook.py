"""The parts of the notebook's page: the choice of a collection, the search in it, the notes in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

import streamlit as st

from relic_core.domain import VERDICTS, CollectionCount
from relic_core.services.notebook import NoteView
from relic_core.wiring import App
from relic_ui import person, removed
from relic_ui.naming import many, shorten, ways
from relic_ui.notebook import notebook_save
from relic_ui.notebook.notebook_note import (
    CLAIM_SHOWN,
    LENGTHS,
    REWRITTEN,
    VERDICT_LABELS,
    Around,
    claim_of,
    opening,
    show_note,
)
from relic_ui.shell import literal, show_errors, warn_of_address
from relic_ui.visit import visit

STYLE = Path(__file__).with_name("notebook.css")

_PAGE = 10
_NAME_SHOWN = 60
_ALL, _ANY = "", ""
_COLLECTION, _SOUGHT, _VERDICT, _TAG, _ORDER, _AT = (
    "notebook_collection",
    "notebook_sought",
    "notebook_verdict",
    "notebook_tag",
    "notebook_order",
    "notebook_page",
)
_ORDERS = ("Mine", "By claim")


def do(app: App, does: str, to: str) -> None:
    """Do what was pressed on a note."""
    book, whose = app.notebook, person.current()
    with show_errors():
        if does in {"up", "down"}:
            book.move(to, -1 if does == "up" else 1, whose)
        elif does in LENGTHS:
            st.session_state[opening(book.lengthen(to, LENGTHS[does], whose).id)] = True
        elif does == "remove-note":
            note = book.remove(to, whose)
            visit()["note_removed"] = (note.id, f"{note.kept.title}, {note.kept.place}")


def teach() -> None:
    """Say what the notebook is for, and lead on."""
    st.html(
        '<div class="relic-notes-none"><p class="relic-lede">The passages that you keep, each with its place, '
        "the claim you kept it for, and your own words.</p><ol>"
        "<li>Press <strong>Keep</strong> beside a passage: in Find, Read, Find a word, or the results of a proxy "
        "task.</li>"
        "<li>Here you comment on a passage, tag it, say whether it supports its claim, and order your passages in "
        "collections.</li>"
        "<li>Save the notebook as a Word document, or as a file to open elsewhere. Your verdicts can measure how well "
        "passages are found.</li></ol></div>"
    )
    st.page_link("pages/find.py", label="Find a first passage", icon=":material/search:")


def show(app: App) -> None:
    """Draw the notebook."""
    visit().pop("notebook_counts_changed", None)  # all of it is drawn anew
    book, whose = app.notebook, person.current()
    counts = book.collections(whose)
    _restore(app, counts)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="notebook_do"):
        chosen = _choose(counts)
        _arrange(app, counts, chosen)
        sought = _seek(app) if any(each.notes for each in counts) else {}
        notebook_save.show(app, chosen)
    _show_undo(app)
    if not sought:
        teach()
        return
    views = book.notes(chosen, person=whose, **sought)
    filtered = any(sought.values())
    if filtered or not views:
        message = f"{many(len(views), 'note')} found." if filtered else "This collection is empty."
        st.html(f'<p role="status" class="relic-quiet">{message}</p>')
    _show_notes(app, views, counts, chosen, movable=not filtered and not _by_claim())


def _restore(app: App, counts: Sequence[CollectionCount]) -> None:
    """Go to the note or collection that the address names, once; forget a collection that is not there any more."""
    state, wanted, name = visit(), st.query_params.get("note", ""), st.query_params.get("collection", "")
    if st.session_state.get(_COLLECTION, _ALL) not in {_ALL, *(each.collection.id for each in counts)}:
        st.session_state[_COLLECTION] = _ALL
    if (wanted, name) == state.get("notebook_address", ("", "")):
        return
    state["notebook_address"] = (wanted, name)
    if name:
        _open_collection(counts, name)
    every = [view.note.id for view in _ordered(app.notebook.notes(person=person.current()))]
    if wanted in every:
        st.session_state.update({_COLLECTION: _ALL, _SOUGHT: "", _VERDICT: _ANY, _TAG: _ANY})
        st.session_state[_AT] = every.index(wanted) // _PAGE + 1
    elif wanted:
        warn_of_address("This note is not in your notebook. If you removed it, you can put it back below.")


def _open_collection(counts: Sequence[CollectionCount], name: str) -> None:
    """Open the collection that the address names, by its id or as its owner calls it."""
    wanted = name.strip().casefold()
    there = [each.collection.id for each in counts if wanted in {each.collection.id, each.collection.name.casefold()}]
    st.session_state[_COLLECTION] = there[0] if there else _ALL
    if not there:
        st.info(
            f"There is no collection “{literal(shorten(name, _NAME_SHOWN))}” in your notebook. Here are all your "
            "notes.",
            icon=":material/link_off:",
        )


def _choose(counts: Sequence[CollectionCount]) -> str:
    """Choose a collection, or all notes."""
    labels = {each.collection.id: f"{each.collection.name} ({each.notes:,})" for each in counts}
    return st.selectbox(
        "Collection",
        [_ALL, *labels],
        format_func=lambda each: labels[each] if each else f"All notes ({sum(count.notes for count in counts):,})",
        key=_COLLECTION,
        persist_state="session",
        on_change=_first_page,
        width=220,
    )


def _arrange(app: App, counts: Sequence[CollectionCount], chosen: str) -> None:
    """Make a collection; rename or remove the one that is chosen."""
    book, whose = app.notebook, person.current()
    with st.popover("Collections", icon=":material/folder:", key="notebook_arrange"):
        with st.form("notebook_new", border=False, clear_on_submit=False):
            name = st.text_input("New collection", key="notebook_new_name", placeholder="Its name")
            if st.form_submit_button("Create", icon=":material/create_new_folder:"):
                with show_errors():
                    made = book.add_collection(name, whose)
                    visit()["notebook_next"] = made.id
                    st.rerun()
        here = next((each.collection for each in counts if each.collection.id == chosen), None)
        if here is None:
            return
        with st.form("notebook_rename", border=False):
            renamed = st.text_input("Rename this one", value=here.name, key=f"notebook_name_{here.id}")
            if st.form_submit_button("Rename", icon=":material/edit:"):
                with show_errors():
                    book.rename_collection(here.id, renamed, whose)
                    st.rerun()
        if st.button("Remove this collection with its notes", key="notebook_remove", icon=":material/delete:"):
            with show_errors():
                book.remove_collection(here.id, whose)
                visit()["collection_removed"] = (here.id, here.name)
                st.rerun()


def take_next() -> None:
    """Open the collection that was made in the run before; called before its choice is drawn."""
    if made := visit().pop("notebook_next", ""):
        st.session_state[_COLLECTION] = made
        visit().pop("notebook_new_name", None)


def _show_undo(app: App) -> None:
    """Offer to put back what was just removed."""
    whose = person.current()
    with show_errors():
        removed.show_undo("note", "Removed from the notebook", lambda each: app.notebook.undo(each, whose))
        removed.show_undo(
            "collection", "Removed with its notes", lambda each: app.notebook.undo_collection(each, whose)
        )


def show_removed(app: App) -> None:
    """List everything that can be put back."""
    book, whose = app.notebook, person.current()
    notes, collections = book.removed(whose), book.removed_collections(whose)
    if not notes and not collections:
        return
    with st.expander(f"Removed ({len(notes) + len(collections)})", key="notebook_removed"), show_errors():
        each_note = [(note.id, note.kept.title, f", {note.kept.place}") for note in notes]
        removed.show_each("note", each_note, "notebook_back_", lambda each: app.notebook.undo(each, whose))
        each_one = [(each.id, each.name, ", with its notes") for each in collections]
        removed.show_each(
            "collection", each_one, "notebook_all_back_", lambda each: app.notebook.undo_collection(each, whose)
        )


def _seek(app: App) -> dict[str, str]:
    """Draw the search within the notebook; give what is asked. The button of what is folded says what is set in it."""
    state, tags = st.session_state, app.notebook.tags(person.current())
    if state.get(_TAG, _ANY) not in {_ANY, *tags}:
        state[_TAG] = _ANY
    words = st.text_input(
        "Search the notebook",
        key=_SOUGHT,
        persist_state="session",
        on_change=_first_page,
        placeholder="In passages, claims, your words, tags",
        width=250,
    )
    verdict, order = state.get(_VERDICT, _ANY), _ORDERS[1] if _by_claim() else ""
    chosen = [literal(each) for each in (verdict and _verdict_label(verdict), state.get(_TAG), order) if each]
    label = f"Filters ({len(chosen)}): {', '.join(chosen)}" if chosen else "Filters"
    with st.popover(label, icon=":material/filter_list:", key="notebook_filters", width="content"):
        verdict = st.selectbox(
            "Verdict",
            [_ANY, *VERDICTS, "none"],
            format_func=_verdict_label,
            key=_VERDICT,
            persist_state="session",
            on_change=_first_page,
        )
        tag = _ANY
        if tags:
            tag = st.selectbox(
                "Tag",
                [_ANY, *tags],
                format_func=lambda each: each or "Any",
                key=_TAG,
                persist_state="session",
                on_change=_first_page,
            )
        st.selectbox("Order", _ORDERS, key=_ORDER, persist_state="session", on_change=_first_page)
    return {"words": words or "", "verdict": verdict or "", "tag": tag or ""}


def _verdict_label(verdict: str) -> str:
    return VERDICT_LABELS.get(verdict, "None yet" if verdict else "Any")


def _by_claim() -> bool:
    return bool(st.session_state.get(_ORDER) == _ORDERS[1])


def _ordered(views: Sequence[NoteView]) -> Sequence[NoteView]:
    """Put notes in the order chosen: claims as the first note of each stands, notes without a claim last."""
    if not _by_claim():
        return views
    claims = [claim for view in views if (claim := claim_of(view.note))]
    first = {claim: number for number, claim in enumerate(dict.fromkeys(claims))}
    return sorted(views, key=lambda view: first.get(claim_of(view.note), len(first)))


def _first_page() -> None:
    st.session_state[_AT] = 1


def _show_notes(
    app: App,
    views: Sequence[NoteView],
    counts: Sequence[CollectionCount],
    chosen: str,
    *,
    movable: bool,
) -> None:
    """Draw the notes of a page, each with where it may move, or under its claim."""
    book, views, grouped = app.notebook, _ordered(views), _by_claim()
    counted = Counter(claim_of(view.note) for view in views)
    names = {each.collection.id: each.collection.name for each in counts}
    homes = [view.note.collection_id for view in views]
    same = [first == second for first, second in pairwise(homes)]
    labels = ways(app)
    tags = book.tags(person.current())
    pages = max(1, -(-len(views) // _PAGE))
    state = st.session_state
    st.session_state[_AT] = min(max(1, state.get(_AT, 1)), pages)
    page = st.pagination(pages, key=_AT) if pages > 1 else 1
    state[REWRITTEN] = book.rewritten(person.current())
    above = None
    rows = st.container(key="notebook_rows", gap="xsmall")
    for at in range((page - 1) * _PAGE, min(page * _PAGE, len(views))):
        home, claim = homes[at], claim_of(views[at].note) if grouped else None
        if claim is not None and claim != above:
            heading = escape(shorten(claim, CLAIM_SHOWN)) if claim else "Without a claim"
            rows.html(f'<h2 class="relic-notes-claim">{heading} <span>{many(counted[claim], "note")}</span></h2>')
        above = claim
        around = Around(
            labels=labels,
            tags=tags,
            others={each: name for each, name in names.items() if each != home},
            collection=names[home] if not chosen and len(names) > 1 else "",
            claim=claim,
            up=movable and at > 0 and same[at - 1],
            down=movable and at < len(views) - 1 and same[at],
        )
        with rows:
            show_note(app, views[at], around)


def tell_taken_in() -> None:
    """Say once what a file added."""
    if message := visit().pop("notebook_taken_in", ""):
        st.success(literal(message), icon=":material/check:")
    if refused := visit().pop("notebook_not_taken_in", ""):
        st.error(literal(refused), icon=":material/error:")
