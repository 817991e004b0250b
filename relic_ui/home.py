"""The home page: the claim box, and claims that answer at one click."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from relic_core.domain import EVERYWHERE, WorkSummary
from relic_core.services.prompts import prompts_for
from relic_core.services.search import has_gap, shown_gap
from relic_core.wiring import App
from relic_ui.find import claim_box, like, scope, views
from relic_ui.naming import name_of
from relic_ui.shell import literal

_WORKS_WITH_EXAMPLES = 2


def show(app: App) -> None:
    """Draw the page."""
    st.title("Find the passage that supports your claim")
    summaries = app.works.summaries()
    if summaries:
        _show_claim_box(app, summaries)
    offered = sorted(filter(prompts_for, summaries), key=lambda work: not has_gap(prompts_for(work)[0].claim))
    for work in offered[:_WORKS_WITH_EXAMPLES]:
        with st.container(gap="xsmall", key=f"examples-{work.id}"):
            st.html(f'<p class="relic-quiet">Try one of these, in {escape(name_of(work))}</p>')
            for number, prompt in enumerate(prompts_for(work)):
                if st.button(literal(shown_gap(prompt.claim)), key=f"home-{work.id}-{number}", type="tertiary"):
                    _find(work.id, prompt.claim, prompt.length)
    st.html(f'<p class="relic-quiet relic-measure">{_said_of_library(app, len(summaries))}</p>')
    st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")
    views.listen()


def _show_claim_box(app: App, summaries: Sequence[WorkSummary]) -> None:
    names = {work.id: name_of(work) for work in summaries}
    if len(names) > 1:
        names[""] = f"All works of the library ({len(names)})"
    if st.session_state.get("home_work") not in names:
        st.session_state["home_work"] = scope.searched_last(app, names)
    with st.form("home_asking", border=False):
        work_id = st.selectbox("Work", list(names), format_func=names.__getitem__, key="home_work")
        claim_box.show_claim_box("", key="home_claim")
        claim_box.show_more_box(key="home_more")
        if st.form_submit_button("Find", type="primary", icon=":material/search:", key="home_find"):
            claim = st.session_state["home_claim"] or ""
            more = st.session_state["home_more"] if claim_box.takes_more(claim) else ""
            _find(work_id, claim_box.with_more(claim, more or ""), None)


def _find(work_id: str, claim_text: str, length: int | None) -> None:
    """Ask on the page Find for quotations of `length` sentences; None: as it was chosen last."""
    st.session_state.update(find_work=work_id, find_claim=claim_text, find_more="", find_rows=0)
    if length:
        st.session_state["find_length"] = length
    like.ask_a_claim()
    scope.limit_to(work_id, ())
    scope.narrow_to(EVERYWHERE)
    claim_box.ask()
    st.switch_page("pages/find.py")


def _said_of_library(app: App, many: int) -> str:
    more = "from the RELiC shelf, from Project Gutenberg, or as a file of your own (plain text, EPUB or TEI)"
    if many:
        there = "One work is" if many == 1 else f"{many} works are"
        return f"{there} in your library. Add others {more}. They stay on this computer."
    back = " Removed works can be put back there." if app.works.removed() else ""
    return f"Your library is empty.{back} Add a work {more}."
