"""What the page Echoes asks: which works, which part of the first, how; and the job that compares them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relic_core.domain import WorkSummary
from relic_core.echoes.service import DEFAULT, METHODS, PART, TOP, EchoAnswer, EchoRequest, read_request
from relic_core.wiring import App
from relic_ui import jobs, links
from relic_ui.echoes import pairs
from relic_ui.naming import name_of
from relic_ui.shell import show_errors, warn_of_address
from relic_ui.visit import visit

_TOPS = (20, 50, TOP, 200, 500)
_WHOLE = 0
_EVERY = 1.0
_SHARES = (_EVERY, 0.2, 0.1, 0.05, 0.02, 0.01)
_METHODS = {each.name: each for each in METHODS}


def ask(app: App, summaries: Sequence[WorkSummary]) -> EchoAnswer | None:
    """Draw the form, and give what was found of what the address asks; None while nothing was."""
    by_id = {work.id: work for work in summaries}
    _restore(by_id)
    asked = _form(app, by_id)
    if asked is not None:
        links.set_address(**asked.parameters)
        visit()["echoes_address"] = asked.parameters
        if app.echoes.found(asked) is None:
            app.echoes.start(asked)
    wanted = read_request(st.query_params.to_dict())
    if not (wanted.work_id and wanted.others):
        _say_what_for()
        return None
    if answer := app.echoes.found(wanted):
        return answer
    job = app.echoes.job(wanted)
    if job is None:
        st.info("These works have not been compared here yet. Press Compare.", icon=":material/info:")
    else:
        jobs.show_job(app, job.id, doing="opening the works")
        if job.active:
            _show_first(app, wanted)
    return None


@st.fragment(run_every="3s")
def _show_first(app: App, wanted: EchoRequest) -> None:
    with show_errors():
        if some := app.echoes.found(wanted, PART):
            st.html('<p role="status">The most similar so far:</p>')
            pairs.show_pairs(app, some)


def _restore(by_id: dict[str, WorkSummary]) -> None:
    """Put the widgets to what the address asks for, once for each address."""
    state, given = visit(), st.query_params.to_dict()
    if given == state.get("echoes_address"):
        return
    state["echoes_address"] = given
    wanted = read_request(given)
    gone = [each for each in (wanted.work_id, *wanted.others) if each and each not in by_id]
    if gone:
        warn_of_address(
            "This address names a work that is not in your library. Add that edition in the Library to compare it."
        )
    if wanted.work_id in by_id:
        state["echoes_work"] = wanted.work_id
    if wanted.others:
        state["echoes_others"] = [each for each in wanted.others if each in by_id]
    if given:
        state["echoes_chapter"] = wanted.chapter
        state["echoes_method"] = wanted.method if wanted.method in _METHODS else DEFAULT
        state["echoes_top"] = wanted.top if wanted.top in _TOPS else TOP
        state["echoes_most"] = wanted.most if wanted.most in _SHARES else _EVERY


def _form(app: App, by_id: dict[str, WorkSummary]) -> EchoRequest | None:
    """Draw the form; give what it asks when Compare is pressed."""
    state = visit()
    if state.get("echoes_work") not in by_id:
        state["echoes_work"] = next(iter(by_id))
    state["echoes_others"] = [each for each in state.get("echoes_others", ()) if each in by_id]
    state.setdefault("echoes_method", DEFAULT)
    state.setdefault("echoes_top", TOP)
    state.setdefault("echoes_most", _EVERY)
    left, right = st.columns(2)
    with left:
        work_id = st.selectbox(
            "Work",
            list(by_id),
            format_func=lambda each: name_of(by_id[each]),
            key="echoes_work",
            persist_state="session",
        )
    with right:
        others = st.multiselect(
            "Compared with",
            list(by_id),
            format_func=lambda each: name_of(by_id[each]),
            key="echoes_others",
            persist_state="session",
            placeholder="Choose one or more works",
            filter_mode="contains",
            select_all=False,
        )
    with st.expander("Options", key="echoes_options"):
        work = app.works.load(work_id)
        chapters = [_WHOLE, *range(1, len(work.chapters) + 1)]
        if state.get("echoes_chapter") not in chapters:
            state["echoes_chapter"] = _WHOLE
        chapter = st.selectbox(
            "Part of it",
            chapters,
            format_func=lambda each: work.chapter_name(each - 1) if each else "The whole work",
            key="echoes_chapter",
            persist_state="session",
        )
        method = st.selectbox(
            "How passages are compared",
            list(_METHODS),
            format_func=lambda each: _METHODS[each].label,
            key="echoes_method",
            persist_state="session",
            help=" ".join(f"**{each.label}**: {each.description}\n\n" for each in METHODS),
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            top = st.selectbox("Pairs", _TOPS, key="echoes_top", persist_state="session", width=110)
            most = st.selectbox(
                "Words in",
                _SHARES,
                format_func=lambda each: "all passages" if each == _EVERY else f"at most {each:.0%} of passages",
                key="echoes_most",
                persist_state="session",
                width=230,
                disabled=not _METHODS[method].filtered,
                help="Leaves out words that occur in many passages. They weigh little anyway.",
            )
    pressed = st.button("Compare", type="primary", icon=":material/compare_arrows:", key="echoes_button")
    if not pressed:
        return None
    most = most if _METHODS[method].filtered else _EVERY
    return EchoRequest(work_id=work_id, others=tuple(others), chapter=chapter, method=method, top=top, most=most)


def _say_what_for() -> None:
    st.html('<p class="relic-lede">See where a work quotes another, alludes to it or sounds like it.</p>')


def invite() -> None:
    """Say what the page needs."""
    _say_what_for()
    st.info("Your library has one work. Add another in the Library to compare them.", icon=":material/info:")
