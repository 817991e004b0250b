"""More like this: a passage in the place of the claim."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from markupsafe import Markup

from relic_core.domain import EVERYWHERE, MAX_LENGTH, SeedPassage, Work
from relic_core.errors import NotFound
from relic_core.reporting.passages import quotation
from relic_core.services.reading import ReadingPage
from relic_core.wiring import App
from relic_ui.find.claim_box import ask
from relic_ui.find.scope import Scope, narrow_to
from relic_ui.links import link
from relic_ui.naming import name_of
from relic_ui.passages import passage_html
from relic_ui.shell import literal, sentences_named, warn_of_address
from relic_ui.visit import visit

PARAMETERS = ("like", "at", "n")
"""What an address carries that opens the page with a passage."""
MORE = "More like this"
PASSAGE = "find-like"
"""Name of the passage on the page."""

_UNDER_WAY = "find_like"


def more_link(work_id: str, at: str = "", length: int | None = None) -> Markup:
    """Link to the passages like one."""
    return link("find", MORE, attributes={"data-then": f"#{PASSAGE}"}, like=work_id, at=at, n=length)


def under_way() -> SeedPassage | None:
    """Give the passage that others are to be like; None while a claim is asked."""
    return st.session_state.get(_UNDER_WAY)


def ask_a_claim() -> None:
    """Put the claim box back in the place of the passage."""
    st.session_state[_UNDER_WAY] = None


def begin(app: App, given: Mapping[str, str]) -> bool:
    """Put a passage in the place of the claim, as an address asks for (`PARAMETERS`); where there is none, say so."""
    state = visit()
    ask_a_claim()
    try:
        length = sentences_named()
        page = app.reading.page(given["like"], at=given.get("at", ""), length=min(length, MAX_LENGTH))
    except NotFound as error:
        warn_of_address(literal(str(error)))
        return False
    if page.passage is None:
        warn_of_address(f"This address does not name a passage. Choose one in the work, then “{MORE}”.")
        return False
    st.session_state[_UNDER_WAY] = SeedPassage(page.work.id, page.at, page.passage.length)
    state.update({"find_work": page.work.id, "find_length": page.passage.length})
    return True


def resume(seed_passage: SeedPassage | None) -> None:
    """Put the passage of a search that is asked again in the place of the claim, or take it away."""
    st.session_state[_UNDER_WAY] = seed_passage


def source(app: App, seed_passage: SeedPassage) -> ReadingPage | None:
    """Give the page of the work that the passage stands on; None, so that a claim is asked, where it is gone."""
    try:
        return app.reading.page(seed_passage.work_id, at=seed_passage.at, length=seed_passage.length)
    except NotFound:
        ask_a_claim()
        return None


def show_source(page: ReadingPage, length: int) -> None:
    """Draw the passage."""
    if page.passage is not None and page.place is not None:
        where = f"{name_of(page.work)} · {page.place.label}"
        there = link("read", where, work=page.work.id, at=page.at, n=length)
        st.html(
            f'<figure class="relic-like" id="{PASSAGE}" tabindex="-1" aria-label="The passage searched '
            f'with"><blockquote>{passage_html(quotation(page.work, page.passage))}</blockquote>'
            f"<figcaption>{there}</figcaption></figure>"
        )


def show_instead(page: ReadingPage, scope: Scope, *, works: int) -> None:
    """Offer to look for passages like this one elsewhere; `works` are all of the library."""

    def look_in(work: Work | None) -> None:
        visit()["find_work"] = work.id if work else ""
        if work is None:  # all works, as the button says, whatever an earlier search was narrowed to
            narrow_to(EVERYWHERE)
        ask()

    if scope.work is None:
        label = f"Look in {literal(page.work.title)} alone"
        st.button(label, key="find_like_alone", on_click=look_in, args=(page.work,), icon=":material/book:")
    elif works > 1:
        label = f"Look in all {works} works"
        st.button(label, key="find_like_everywhere", on_click=look_in, args=(None,), icon=":material/library_books:")
