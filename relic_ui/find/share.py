"""What can be done with a search: share it, see what it found then, compare its columns."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from relic_core.domain import SearchRequest
from relic_core.errors import RelicError
from relic_core.services.sharing import CODE, FILE_NAME, LONG
from relic_core.wiring import App
from relic_ui.buttons import save_button
from relic_ui.history.history import further
from relic_ui.shell import literal

_HERE = {"localhost", "127.0.0.1", "::1", None}


def show_menu(app: App, search_id: str, request: SearchRequest) -> None:
    """Draw the menu of what can be done with a search that has been answered."""
    with st.popover("More", icon=":material/more_horiz:", key="find_share", width="content"):
        st.html(f'<p class="relic-search-do">{further(search_id, request.retrievers)}</p>')
        _show_share(app, search_id, request)


def _show_share(app: App, search_id: str, request: SearchRequest) -> None:
    try:
        shared = app.sharing.share(search_id, request)
    except RelicError as error:
        st.warning(literal(str(error)), icon=":material/warning:")
        return
    base = f"{(st.context.url or '').removesuffix('/find')}/find"  # at home too
    whose = "machine" if urlsplit(base).hostname in _HERE else "server"
    st.html(
        '<div class="relic-share"><h2 class="relic-item">Share this search</h2>'
        f'<p class="relic-item">On this {whose}</p><p class="relic-quiet">Short: it uses this library’s '
        "history.</p></div>"
    )
    st.code(f"{base}?{urlencode(shared.short)}", language=None, wrap_lines=True)
    st.html(
        '<p class="relic-item">Anywhere else</p><p class="relic-quiet">It holds the whole search and opens in any '
        "RELiC Workbench that has the work. If that one has another address, replace everything before “find”.</p>"
    )
    address = f"{base}?{urlencode({CODE: shared.code})}"
    if shared.long:
        st.html(
            f"<p class='relic-quiet'>The claim is long: the address would have {len(address):,} characters, and e-mail "
            f"often cuts one of more than {LONG:,}. Send the file instead; it opens on the page Searches.</p>"
        )
    else:
        st.code(address, language=None, wrap_lines=True)
    save_button("Save the search as a file", shared.file, FILE_NAME, "application/json", key="find_share_file")
