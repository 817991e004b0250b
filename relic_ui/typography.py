"""The choice of typography: passages as a printed edition sets them, or to the letter of the file."""

from __future__ import annotations

import streamlit as st

from relic_core.reporting.passages import printed_words

_KEY = "as_printed"


def as_printed() -> bool:
    """Whether passages are shown and cited as in print; so it is until the reader chooses otherwise."""
    return bool(st.session_state.get(_KEY, True))


def chosen(words: str) -> str:
    """Set words as the reader has chosen."""
    return printed_words(words) if as_printed() else words


def choose() -> None:
    """Draw the choice, which the visit remembers from page to page."""
    st.toggle(
        "Dashes and quotation marks as in print",
        value=True,
        key=_KEY,
        persist_state="session",
        help="Sets -- as a dash and curls straight quotation marks. What you keep is to the letter either way.",
    )
