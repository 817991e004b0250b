"""The notebook as files: what can be saved of it, and a file that is taken in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from relic_core.errors import RelicError
from relic_core.services.notebook_files import DOCUMENTS, DocumentCard, DocumentForm
from relic_core.wiring import App
from relic_ui import citing, person, typography
from relic_ui.buttons import save_button
from relic_ui.naming import many, ways
from relic_ui.visit import visit

JSON = DocumentCard("JSON, to import again", "json", "application/json")


def forms(app: App, collection_id: str, whose: str) -> list[tuple[DocumentCard, Callable[[], bytes]]]:
    """List what a notebook, or a collection, can be saved as, each with what makes its bytes when it is pressed."""
    labels, style = ways(app), citing.chosen_style()

    def document(form: DocumentForm) -> bytes:
        return app.notebook_files.document(
            form, style, collection_id, whose, labels=labels, as_printed=typography.as_printed()
        )

    documents = [(card, partial(document, form)) for form, card in DOCUMENTS.items()]
    return [*documents, (JSON, lambda: app.notebook_files.export(collection_id, whose))]


def show(app: App, collection_id: str) -> None:
    """Draw the menu: forms to save in, verdicts as an evaluation set, and a file to take in."""
    whose, files = person.current(), app.notebook_files
    with st.popover("Save", icon=":material/download:", key="notebook_save"):
        what = "this collection" if collection_id else "all notes"
        st.html(f'<p class="relic-quiet">Save {what} as</p>')
        citing.choose_style("Citations in")
        typography.choose()
        for card, make in forms(app, collection_id, whose):
            name = files.file_name(card.ending, collection_id, whose)
            save_button(card.label, make, name, card.mime, key=f"notebook_save_{card.ending}")
        _show_evaluation_set(app, collection_id, whose)
        st.file_uploader(
            "Import a notebook saved as JSON",
            type="json",
            key=_uploader(),
            on_change=_take_in,
            args=(app, whose),
        )


def _show_evaluation_set(app: App, collection_id: str, whose: str) -> None:
    """Offer the verdicts as an evaluation set, and say what is left out of it."""
    count, left_out = app.notebook_files.examples(collection_id, whose)
    save_button(
        "Verdicts, for measuring retrievers",
        lambda: app.notebook_files.evaluation_set(collection_id, whose).content,
        "verdicts.json",
        "application/json",
        key="notebook_save_verdicts",
        icon="balance",
        disabled=not count,
    )
    st.text(
        f"{many(count, 'passage').capitalize()} with the verdict “supports”, in RELiC’s form.{left_out}",
        width=320,
    )


def _uploader() -> str:
    return f"notebook_file_{visit().get('notebook_files', 0)}"


def _take_in(app: App, whose: str) -> None:
    """Take the file in, say what it added, and draw the uploader empty again."""
    state = visit()
    file = st.session_state.get(_uploader())
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
