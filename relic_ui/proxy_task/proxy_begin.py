"""Before the first item: what is asked of a reader, what is stored, a name or code, and consent."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError
from relic_ui.naming import listed, many
from relic_ui.proxy_task.proxy_address import ANSWER, answer_as, answering, paragraphs, title
from relic_ui.shell import literal

if TYPE_CHECKING:
    from relic_core.domain.studies import Annotator, StudyView
    from relic_core.wiring import App
    from relic_ui.proxy_task.proxy_address import Asked

_LONGEST_NAME = 100
_OWNER_SEES = "Answers and results are seen by whoever runs the study, who has a code for that."
_ALL_SEE = "Results, with the names or codes, can be seen by everybody who can open this page."


def annotator(app: App, view: StudyView, asked: Asked) -> Annotator | None:
    """Give who answers, where the address goes on with that; None where nobody does, or nobody that is known."""
    chosen = answering(view.study.id) if asked.show == ANSWER else ""
    if not chosen:
        return None
    lines = app.studies.annotators(view.study.id)
    found = next((line.annotator for line in lines if line.annotator.id == chosen), None)
    if found is None:
        st.warning(
            "The answers that you were going on with are not here: they were removed, or given elsewhere. Begin anew "
            "below.",
            icon=":material/link_off:",
        )
    return found


def show(app: App, view: StudyView) -> None:
    """Draw what stands before the first item."""
    title(view.study.label)
    if view.held:
        st.warning(literal(" ".join(view.held)), icon=":material/menu_book:")
        return
    items = len(view.study.items)
    works = listed([work.title for work in view.study.works])
    sees = _OWNER_SEES if app.studies.guarded(view.study.id) else _ALL_SEE
    st.html(
        f'<div class="relic-proxy-before"><p class="relic-quiet">{many(items, "item")} of '
        f"<cite>{escape(works)}</cite>. You can stop at any time and go on later.</p>"
        f"<section><h2>What to do</h2>{paragraphs(view.terms.instructions)}</section>"
        f"<section><h2>Before you begin</h2>{paragraphs(view.terms.consent)}"
        f'<div class="relic-quiet">{paragraphs(view.terms.privacy)}<p>{sees}</p></div></section></div>'
    )
    if st.session_state.get("proxy_known", ("", ""))[0] == view.study.id:
        _confirm(app, view)
    else:
        _ask(app, view)


def _ask(app: App, view: StudyView) -> None:
    """Ask for a name and for consent."""
    state = st.session_state
    with st.form("proxy_begin", border=False, width=520):
        name = st.text_input(
            "Your name, or a code",
            key="proxy_name",
            max_chars=_LONGEST_NAME,
            autocomplete="off",
        )
        st.html(
            '<p class="relic-quiet">To go on later, on this device or another, give the same name or code.</p>',
        )
        agreed = st.checkbox("I have read this, and I agree to take part", key="proxy_agreed")
        pressed = st.form_submit_button("Begin", type="primary", key="proxy_start")
    if not pressed:
        return
    if not name.strip():
        st.error("Please give a name or a code: your answers are kept under it.", icon=":material/error:")
    elif not agreed:
        st.error("Please tick that you agree to take part; without that nothing is stored.", icon=":material/error:")
    else:
        try:
            if app.answering.knows(view.study.id, name):
                state["proxy_known"] = (view.study.id, name)
                st.rerun()
            _join(app, view, name)
        except RelicError as error:
            st.error(literal(str(error)), icon=":material/error:")


def _confirm(app: App, view: StudyView) -> None:
    """Ask whether who gives a known name is the one who gave it before: their answers would become one person's."""
    _, name = st.session_state["proxy_known"]
    st.html(
        f'<p role="status" class="relic-proxy-known" tabindex="-1">There are answers under the name '
        f"<strong>{escape(name)}</strong> already. Are they yours?</p>"
    )
    with st.container(horizontal=True):
        if st.button("Yes, go on where I stopped", key="proxy_go_on", type="primary"):
            try:
                _join(app, view, name)
            except RelicError as error:
                st.error(literal(str(error)), icon=":material/error:")
        if st.button("No, I give another name", key="proxy_other_name"):
            del st.session_state["proxy_known"]
            st.rerun()


def _join(app: App, view: StudyView, name: str) -> None:
    joined = app.answering.join(view.study.id, name)
    st.session_state.pop("proxy_known", None)
    answer_as(view.study.id, joined.id)
    st.rerun()
