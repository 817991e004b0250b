"""What was removed and can be put back: the one just removed at the top of a list, all of them at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

import streamlit as st

from relic_ui.shell import literal


def show_undo(part: str, message: str, restore: Callable[[str], object]) -> None:
    """Offer to put back what has just been removed.

    - `part`: ``{part}_removed`` in the visit's state holds the id and title of what was removed.
    - `message`: what it was removed from: "Removed from the library".
    """
    removed = st.session_state.get(f"{part}_removed")
    if removed is None:
        return
    name, title = removed
    with st.container(horizontal=True, vertical_alignment="center", key=f"{part}_undoing"):
        st.html(f'<p role="status">{message}: <em>{escape(title)}</em></p>', width="content")
        if st.button("Put it back", key=f"{part}_undo", icon=":material/undo:"):
            _put_back(part, name, restore)


def show_each(part: str, removed: Iterable[tuple[str, str, str]], key: str, restore: Callable[[str], object]) -> None:
    """List removed things (id, title, what is said behind the title), each with a button that puts it back."""
    for name, title, more in removed:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f"<p>{escape(title)}{escape(more)}</p>", width="content")
            if st.button("Put it back", key=f"{key}{name}", type="tertiary", help=literal(f"Put {title} back")):
                _put_back(part, name, restore)


def _put_back(part: str, name: str, restore: Callable[[str], object]) -> None:
    restore(name)
    if (st.session_state.get(f"{part}_removed") or ("",))[0] == name:
        del st.session_state[f"{part}_removed"]
    st.rerun()
