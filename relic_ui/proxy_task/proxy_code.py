"""The owner's code of a study: asked for before the results and the owner's side, given and changed on that side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relic_core.errors import RelicError
from relic_core.services.studies.studies import LONGEST_CODE
from relic_ui.shell import literal

if TYPE_CHECKING:
    from relic_core.domain.studies import StudyView
    from relic_core.wiring import App

_OPENED = "proxy_opened"
"""In the session: ids of the studies whose code was given in this visit."""

WITHOUT = (
    "No code is set, so whoever can open this page can see the results, and with them which passages are right. Set "
    "one before you invite others."
)


def opened(app: App, view: StudyView) -> bool:
    """Whether the visitor may see the results and the owner's side; asks for the code where it is not known yet."""
    study_id = view.study.id
    if study_id in st.session_state.get(_OPENED, set()) or not app.studies.guarded(study_id):
        return True
    st.html(
        '<p class="relic-measure">The results tell which passages are right, so whoever runs this study has put a code '
        "before them.</p>"
    )
    with st.form("proxy_code_ask", border=False, width=520):
        code = st.text_input("The owner’s code", type="password", max_chars=LONGEST_CODE, key="proxy_code")
        pressed = st.form_submit_button("Open", type="primary", key="proxy_code_open")
    if pressed and app.studies.opens(study_id, code):
        _open(study_id)
        st.rerun()
    if pressed:
        st.error(
            literal(
                "That is not the code. Where it was forgotten, another can be set on the computer that runs the "
                f"program: python -m relic_core study owner-code {study_id} CODE"
            ),
            icon=":material/lock:",
        )
    return False


def show(app: App, view: StudyView) -> None:
    """Let the code be set, changed or taken away; who does so has been let in by the one before."""
    study_id = view.study.id
    guarded = app.studies.guarded(study_id)
    st.header("Who sees the results", anchor="proxy-code")
    said = (
        "The results and this side open with the owner’s code. It is kept in a form that cannot be read back."
        if guarded
        else WITHOUT
    )
    st.html(f'<p class="relic-quiet relic-measure">{said}</p>')
    with st.form(f"proxy_code_set-{study_id}", border=False, clear_on_submit=True, width=520):
        code = st.text_input(
            "New code" if guarded else "The owner’s code", type="password", max_chars=LONGEST_CODE, key="proxy_code_new"
        )
        with st.container(horizontal=True):
            keep = st.form_submit_button("Set the code", key="proxy_code_keep", icon=":material/lock:")
            drop = guarded and st.form_submit_button("Take the code away", key="proxy_code_drop")
    if keep and not code.strip():
        st.error("Please write a code.", icon=":material/error:")
    elif keep or drop:
        try:
            app.studies.give_code(study_id, "" if drop else code)
        except RelicError as error:
            st.error(literal(str(error)), icon=":material/error:")
            return
        _open(study_id)
        st.session_state["proxy_managed"] = ("The code is taken away." if drop else "The code is set.", "")
        st.rerun()


def _open(study_id: str) -> None:
    st.session_state.setdefault(_OPENED, set()).add(study_id)
