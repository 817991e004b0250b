"""The notebook as files: what can be saved of it, and a file that is taken in.

A further form is one function that makes a `Form`, and one line in `FORMS`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from relic_core.errors import RelicError
from relic_core.services.notebook_files import DOCUMENTS
from relic_ui import citing, person
from relic_ui.naming import many, ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from relic_core.services.notebook_files import DocumentForm
    from relic_core.wiring import App


class Form(NamedTuple):
    """One form that a notebook, or a collection, can be saved in.

    - `make`: makes its bytes, when the button is pressed.
    """

    label: str
    ending: str
    mime: str
    make: Callable[[], bytes]


def _as_json(app: App, collection_id: str, whose: str) -> Form:
    def make() -> bytes:
        return app.notebook_files.export(collection_id, whose)

    return Form("JSON, to take in again", "json", "application/json", make)


def _as_document(form: DocumentForm, app: App, collection_id: str, whose: str) -> Form:
    card = DOCUMENTS[form]
    labels = ways(app)
    style = citing.chosen_style()

    def make() -> bytes:
        return app.notebook_files.document(form, style, collection_id, whose, labels=labels)

    return Form(card.label, card.ending, card.mime, make)


FORMS: tuple[Callable[[App, str, str], Form], ...] = (
    *(partial(_as_document, form) for form in DOCUMENTS),
    _as_json,
)
"""The forms offered, in order: each is given the app, the collection (empty for all notes) and the person."""


def show(app: App, collection_id: str) -> None:
    """Draw the menu: forms to save in, verdicts as an evaluation set, and a file to take in."""
    whose, files = person.current(), app.notebook_files
    with st.popover("Save", icon=":material/download:", key="notebook_save"):
        what = "this collection" if collection_id else "all notes"
        st.html(f'<p class="relic-quiet">Save {what} as</p>')
        citing.choose_style("Citations in")
        for make in FORMS:
            form = make(app, collection_id, whose)
            st.download_button(
                form.label,
                data=form.make,
                file_name=files.file_name(form.ending, collection_id, whose),
                mime=form.mime,
                on_click="ignore",
                icon=":material/download:",
                key=f"notebook_save_{form.ending}",
            )
        _show_evaluation_set(app, collection_id, whose)
        st.file_uploader(
            "Take in a notebook that was saved as JSON",
            type="json",
            key=_uploader(),
            on_change=_take_in,
            args=(app, whose),
        )


def _show_evaluation_set(app: App, collection_id: str, whose: str) -> None:
    """Offer the verdicts as an evaluation set, and say what is left out of it."""
    count, left_out = app.notebook_files.examples(collection_id, whose)
    st.download_button(
        "Verdicts, to measure retrievers with",
        data=lambda: app.notebook_files.evaluation_set(collection_id, whose).content,
        file_name="verdicts.json",
        mime="application/json",
        on_click="ignore",
        icon=":material/balance:",
        disabled=not count,
        key="notebook_save_verdicts",
    )
    st.text(
        f"{many(count, 'passage').capitalize()} with the verdict “supports”, in RELiC’s form.{left_out}",
        width=320,
    )


def _uploader() -> str:
    return f"notebook_file_{st.session_state.get('notebook_files', 0)}"


def _take_in(app: App, whose: str) -> None:
    """Take the file in, say what it added, and draw the uploader empty again."""
    state = st.session_state
    file = state.get(_uploader())
    if file is None:
        return
    try:
        done = app.notebook_files.take_in(file.getvalue(), file.name, whose)
    except RelicError as error:
        state["notebook_not_taken_in"] = str(error)
    else:
        parts = [f"{many(done.new, 'note')} taken in"]
        parts += [f"{many(done.newer, 'note')} brought up to date"] if done.newer else []
        parts += [f"{many(done.there, 'note')} here already"] if done.there else []
        state["notebook_taken_in"] = f"{file.name}: {', '.join(parts)}."
    state["notebook_files"] = state.get("notebook_files", 0) + 1
