"""What is said of a work, as fields to fill in: used before a text is added and to correct it afterwards."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from relic_core.domain import Work, WorkSummary
from relic_core.errors import BadRequest
from relic_core.wiring import App
from relic_ui.library import correcting_edition
from relic_ui.shell import show_errors

_FIELDS = (
    ("title", "Title", 300, ""),
    ("author", "Author", 215, "Not found in the text"),
    ("translator", "Translator", 170, "None"),
    ("year", "First published", 120, "Year"),
)


def fields(about: WorkSummary | Work, key: str) -> dict[str, str]:
    """Draw the fields of a work (`key` sets them apart from another's); give what they hold, for `read`."""
    with st.container(horizontal=True, gap="small"):
        return correcting_edition.text_fields(_FIELDS, about, key)


def read(entered: dict[str, str]) -> dict[str, Any]:
    """Turn what the fields hold into changes of the work.

    Raises BadRequest: the title is empty, or the year is not a number.

    >>> read({"title": " Emma ", "author": "", "translator": "", "year": "1815"})
    {'title': 'Emma', 'author': '', 'translator': '', 'year': 1815}
    """
    words = {name: re.sub(r"[^\S\xa0]+", " ", value).strip() for name, value in entered.items()}
    if not words["title"]:
        raise BadRequest("The title is empty. Write one to find the work by.")
    year = words.pop("year")
    try:
        return {**words, "year": int(year) if year else None}
    except ValueError:
        raise BadRequest(
            f"The year '{year[:40]}' is not a number. Write the year of first publication, such as 1815, or leave it "
            "empty."
        ) from None


def show_form(app: App, work: WorkSummary) -> bool:
    """Draw the form that corrects what is said of a stored work; True once it was saved, or given up."""
    with st.form(f"correct-{work.id}"):
        st.html('<p class="relic-quiet">The text, its searches and its links stay as they are.</p>')
        entered = fields(work, f"correct-{work.id}")
        details = app.citing.work(work.id).details
        with st.expander("The edition, for citations"):
            edition, accessed = correcting_edition.fields(details, f"correct-{work.id}-edition")
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", type="primary", key=f"correct-save-{work.id}")
            give_up = st.form_submit_button("Cancel", type="tertiary", key=f"correct-cancel-{work.id}")
    if save:
        with show_errors():
            described, edited = read(entered), correcting_edition.read(details, edition, accessed)
            app.citing.describe(work.id, edited)
            app.works.describe(work.id, **described)
            return True
    return give_up
