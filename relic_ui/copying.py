"""Buttons that copy words from HTML of ours, italics with them where the place they go to keeps italics.

A button made here copies the element of the class ``relic-copied`` in the same ``relic-copy`` block. Nothing is asked
of the server; the button says that it was done, to a screen reader too.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st

from relic_ui.component import component

_JS = Path(__file__).with_name("copying.js").read_text(encoding="utf-8")


def listen() -> None:
    """Listen for presses; called once by a page that has such buttons."""
    with st.sidebar:
        component("relic_copying", js=_JS)(key="relic_copying")


def copy_button(title: str) -> str:
    """Make the HTML of a button.

    >>> copy_button("the note")[:75]
    '<button type="button" class="relic-copy-button" aria-label="Copy the note">'
    """
    return (
        f'<button type="button" class="relic-copy-button" aria-label="Copy {escape(title)}">'
        '<span data-words="Copy">Copy</span><span class="relic-sr" role="status"></span></button>'
    )
