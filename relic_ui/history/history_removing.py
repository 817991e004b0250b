"""Removing searches from the list, and putting them back: at once, later, and from the address of one."""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_core.domain import Search
from relic_core.wiring import App
from relic_ui import person, removed
from relic_ui.buttons import button
from relic_ui.naming import length_of, name_of_search
from relic_ui.shell import show_errors
from relic_ui.visit import visit

_CLAIM_SHOWN = 120
_REMOVED_SHOWN = 40
_REMOVES = "remove-search"
_UNDO = ".st-key-search_undo"
"""Where the focus goes from a button that is gone with its line."""


def remove_button(app: App, search: Search) -> str:
    """Make the button that removes a search from the list."""
    return button(_REMOVES, search.id, "Remove", title=f"Remove: {_name(app, search)}", then=_UNDO)


def do(app: App, does: str, to: str) -> None:
    """Do what was pressed on a search."""
    if does == _REMOVES:
        with show_errors():
            search = app.history.remove(to, person.current())
            label = f"{_name(app, search)} · {_where(app, search)}"
            visit()["search_removed"] = (search.id, label)
            if (found := visit().get("find_answer")) and found[-1] == search.id:
                del visit()["find_answer"]  # asked again it is kept again


def show_undo(app: App) -> None:
    """Offer to put back the search that was just removed."""
    with show_errors():
        removed.show_undo("search", "Removed from your searches", lambda each: _put_back(app, each))


def show_removed(app: App) -> None:
    """List the searches that can be put back."""
    gone = app.history.removed(person.current())
    if not gone:
        return
    with st.expander(f"Removed ({len(gone)})", key="history_removed"), show_errors():
        each_one = [(each.id, _name(app, each), f" · {_where(app, each)}") for each in gone[:_REMOVED_SHOWN]]
        removed.show_each("search", each_one, "history_back_", lambda each: _put_back(app, each))
        if len(gone) > _REMOVED_SHOWN:
            st.html(
                f'<p class="relic-quiet">These are the last {_REMOVED_SHOWN}. Every other can be put back at its own '
                "address, and by asking it again.</p>"
            )


def tell_removed(app: App, search_id: str) -> bool:
    """Say that the search of an address was removed by who reads this, and offer it; False where it was not."""
    wanted = search_id.strip().lower()
    search = next((each for each in app.history.removed(person.current()) if each.id == wanted), None)
    if search is None:
        return False
    address = st.query_params.to_dict()  # a page may take it away before the button is pressed

    def put_back() -> None:
        with show_errors():
            _put_back(app, wanted)
            st.query_params.from_dict(address)

    with st.container(horizontal=True, vertical_alignment="center", key="search_gone"):
        message = f"You removed this search: <em>{escape(_name(app, search))}</em>"
        st.html(f'<p role="status">{message}</p>', width="content")
        st.button("Put it back", key="search_gone_back", icon=":material/undo:", on_click=put_back)
    return True


def _put_back(app: App, search_id: str) -> None:
    app.history.undo(search_id, person.current())


def _where(app: App, search: Search) -> str:
    """Say what tells searches of one claim apart: what was searched, and for how much."""
    where = app.works.described(search.request.work_id).title if search.request.work_id else "the whole library"
    return f"{where}, {length_of(search.request)}"


def _name(app: App, search: Search) -> str:
    return name_of_search(app, search, longest=_CLAIM_SHOWN)
