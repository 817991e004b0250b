"""What a reader should know before trusting the hits of a search."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui.naming import listed, shorten
from relic_ui.shell import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.services.search import SearchResult

_QUOTED_SHOWN = 80


def show_notices(result: SearchResult) -> None:
    """Say that the evidence is weak, what the work never uses, and what the claim quotes of it."""
    title = literal(result.work.title) if result.work else "The library"
    never = f"{title} never uses {_marked(result.unknown)}." if result.unknown else ""
    if result.weak:
        st.warning(
            "**The evidence is weak.** Something always comes first, but nothing here answers your claim better than "
            f"passages of unrelated books would. {never}{' ' * bool(never)}Try other words, another length, or "
            f"{'another work' if result.work else 'other works'}.",
            icon=":material/balance:",
        )
    elif never:
        st.info(never, icon=":material/info:")
    if result.quoted and result.work:
        _show_quoted(result, result.work)


def _show_quoted(result: SearchResult, work: Work) -> None:
    quoted = result.quoted[0]
    shown = shorten(result.request.claim_text[quoted.start : quoted.end], _QUOTED_SHOWN)
    place = work.place(quoted.span)

    def mask() -> None:
        st.session_state["find_claim"] = quoted.mask(result.request.claim_text)

    with st.container(border=True):
        st.html(
            f"<p>Your passage quotes {quoted.words} words of the work itself ({escape(place.chapter)}, paragraph "
            f"{place.paragraph}): <em>{escape(shown)}</em></p>"
        )
        if not result.claim.masked:
            st.html(
                '<p class="relic-quiet">Mask them, and the search looks for the passage your analysis is about '
                "instead of its own words.</p>"
            )
            st.button("Mask them and search again", key="find_mask", on_click=mask, icon=":material/visibility_off:")


def _marked(words: Sequence[str]) -> str:
    """List words in quotation marks.

    >>> _marked(["Gatsby"]), _marked(["Gatsby", "Daisy"])
    ('“Gatsby”', '“Gatsby” or “Daisy”')
    """
    return listed([f"“{word}”" for word in words], last="or")
