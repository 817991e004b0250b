"""The address bar of Find opens a search and names the one shown; `formats.search_address` says what it holds."""

from __future__ import annotations

import streamlit as st

from relic_core.domain import SearchRequest
from relic_core.errors import BadRequest, RelicError
from relic_core.services.sharing import CODE
from relic_core.wiring import App
from relic_ui.links import set_address
from relic_ui.shell import literal, warn_of_address

_CODE, _NOTICES, _NAMES = "find_code", "find_code_notices", "find_code_names"
"""In the session: the code that was opened last, what was said of it, and the id of the search that it turned out."""

VIEW = "view"
"""In an address: the view of the answer, where it is not the one that opens."""
VIEWED = "find_view_named"
"""In the session: what the address says of it."""


def opened(app: App, code: str) -> SearchRequest | None:
    """Open the search that the page's address carries; None where that was done before, or cannot be, as is shown."""
    state = st.session_state
    if state.get(_CODE) == code:
        return None
    state.update({_CODE: code, _NOTICES: (), _NAMES: ""})
    try:
        found = app.sharing.open_code(code)
    except RelicError as error:
        warn_of_address(f"The search that this address carries cannot be opened. {literal(str(error))}")
        return None
    state[_NOTICES] = found.notices
    return found.request


def name(app: App, search_id: str, request: SearchRequest) -> None:
    """Put a search into the page's address, with what made its answer; an address that names it already is left.

    Left too where it was made with something else, which `tell` says: each change would be a step in the browser's
    history, and going back would lead to where one goes on from at once.
    """
    state, given = st.session_state, st.query_params
    if given.get("q") == search_id:
        return
    if CODE in given and given[CODE] == state.get(_CODE) and state[_NAMES] in {"", search_id}:
        state[_NAMES] = search_id
        return
    state.pop(_CODE, None)
    viewed = state.get(VIEWED) or given.get(VIEW, "")
    set_address(**app.sharing.short(search_id, request), **({VIEW: viewed} if viewed else {}))


def name_view(view: str) -> None:
    """Put a view into the page's address; "" is the one that opens."""
    st.session_state[VIEWED] = view
    if view:
        st.query_params[VIEW] = view
    else:
        st.query_params.pop(VIEW, None)


def tell(app: App, request: SearchRequest) -> None:
    """Say what differs between the answer shown and the one that the page's address was made with."""
    given = st.query_params.to_dict()
    try:
        notices = st.session_state.get(_NOTICES, ()) if CODE in given else app.sharing.changes(request, given)
    except BadRequest as error:
        notices = (str(error),)
    if notices:
        st.info(literal(" ".join(notices)), icon=":material/history:")
