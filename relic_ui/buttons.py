"""Buttons inside HTML of ours, since a hundred widgets would make a long list slow; and those that save a file.

A button made here says what it does to what; the page that asks `pressed` hears it once. After a press the focus of
the keyboard goes on to what the press brought up, stays on the button where that is drawn anew, or in the row whose
button has gone; and that row stays where it is in the window, whatever grows above it, until the reader does something
else.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from relic_ui.component import component
from relic_ui.links import press

_JS = Path(__file__).with_name("buttons.js").read_text(encoding="utf-8")


def button(
    does: str, to: str, label: str, *, title: str, then: str = "", during: str = "", chosen: bool | None = None
) -> Markup:
    """Make the HTML of a button.

    - `does`, `to`: what it does and to what, without spaces: what `pressed` gives back.
    - `label`: the words on it, not yet escaped.
    - `title`: what it is called where many have the same words, beginning with them: read out in their place.
    - `then`: a selector: what the press brings up, and where the focus goes.
    - `during`: the words on it from the press on, until the page is drawn anew.
    - `chosen`: of one that stays pressed, whether it is.

    >>> print(button("add", "emma", "Add", title="Add Emma"))
    <button type="button" class="relic-button" data-does="add" data-to="emma" aria-label="Add Emma">Add</button>
    """
    goes = f' data-then="{escape(then)}"' if then else ""
    goes += f' data-during="{escape(during)}"' if during else ""
    goes += "" if chosen is None else f' aria-pressed="{str(chosen).lower()}"'
    return Markup(  # noqa: S704 - all its parts are escaped
        f'<button type="button" class="relic-button" data-does="{escape(does)}" data-to="{escape(to)}"{goes} '
        f'aria-label="{escape(title)}">{escape(label)}</button>'
    )


def pressed() -> tuple[str, str]:
    """Say which button was pressed, once; called once by a page that has such buttons.

    What it returns:
    - `does, to`: as given to `button`; both empty where none was pressed.
    """
    with st.sidebar:
        asked = component("relic_buttons", js=_JS)(key="relic_buttons", on_pressed_change=press).pressed
    does, _, to = str(asked or "").partition(" ")
    return does, to


def save_button(
    label: str,
    data: str | bytes | Callable[[], str | bytes],
    file_name: str,
    mime: str,
    *,
    key: str,
    icon: str = "download",
    **look: Any,  # noqa: ANN401 - as st.download_button has it
) -> None:
    """Draw a button that saves a file; the page stays as it is."""
    st.download_button(label, data, file_name, mime, key=key, on_click="ignore", icon=f":material/{icon}:", **look)
