"""Choosing passages for a place of a draft on the page Find: what is kept there is put at that place as well."""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_core.wiring import App
from relic_ui import person
from relic_ui.keep import asked
from relic_ui.links import link
from relic_ui.shell import show_errors

_FOR = "drafts_choosing"


def begin(draft_id: str, name: str, start: int) -> None:
    """Have the page Find choose for a place of a draft, until the draft is looked at again."""
    st.session_state[_FOR] = (draft_id, name, start)


def end() -> None:
    """Choose for no draft any more."""
    st.session_state.pop(_FOR, None)


def show(app: App, does: str, to: str) -> None:
    """Lead back to the draft, and put at its place what was just kept, or take it away where it was let go."""
    if _FOR not in st.session_state:
        return
    draft_id, name, start = st.session_state[_FOR]
    back = link("drafts", "Back to the draft", draft=draft_id)
    where = escape(name or "your draft")
    st.html(f'<p class="relic-quiet">For a place of {where}: what you keep here is put there. {back}</p>')
    if passage := asked(does, to):
        with show_errors():
            app.drafts.choose(
                draft_id, start, passage.work_id, passage.at, passage.length, person.current(), there=passage.keep
            )
