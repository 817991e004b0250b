"""The parts of the Find a word page that ask: the form, what the address says, and what is offered to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from relic_core.domain import VOICES, WorkSummary
from relic_core.services.concordance import SORTS, ConcordanceAnswer, ConcordanceRequest
from relic_core.wiring import App
from relic_ui import links
from relic_ui.naming import name_of
from relic_ui.shell import warn_of_address
from relic_ui.visit import visit
from relic_ui.voice import choose_voice

SORT_LABELS = {"text": "Place", "left": "1L, word before", "right": "1R, word after"}
PARAMETERS = ("word", "work", "sort", "variants", "forms", "case", "voice", "form", "with", "page")
_SAMPLE = "High Water at Averhythe"
_EXAMPLES = ("brass", "lamp*", "high water")
_ALL_WORKS = ""
_FURTHER = ("case", "variants", "forms", "with")


def restore(summaries: Sequence[WorkSummary]) -> None:
    """Put the widgets to what the page's address asks for."""
    if (wanted := links.asked_anew(PARAMETERS)) is None:
        return
    known = {_ALL_WORKS, *(work.id for work in summaries)}
    work = wanted.get("work", _ALL_WORKS)
    if work not in known:
        warn_of_address(
            "This address names a work that is not in your library, so all your works are searched instead. Add that "
            "edition in the Library to search it."
        )
    as_written = wanted.get("case") == "1"
    visit().update(
        {
            "concordance_word": wanted.get("word", ""),
            "concordance_work": work if work in known else _ALL_WORKS,
            "concordance_sort": wanted["sort"] if wanted.get("sort") in SORTS else "text",
            "concordance_variants": wanted.get("variants") == "1" and not as_written,
            "concordance_forms": wanted.get("forms") == "1" and not as_written,
            "concordance_case": as_written,
            "concordance_voice": wanted["voice"] if wanted.get("voice") in VOICES else "any",
            "concordance_only": wanted.get("form", ""),
            "concordance_with": wanted.get("with", ""),
            "concordance_page": links.number(wanted.get("page", "")) or 1,
        }
    )


def _first_page() -> None:
    visit()["concordance_page"] = 1
    links.press()


def _anew() -> None:
    """Forget what belonged to the query before: the form chosen and the page."""
    visit()["concordance_only"] = ""
    _first_page()


def ask(summaries: Sequence[WorkSummary]) -> ConcordanceRequest | None:
    """Draw the form; give the request it makes, or None while there is no word."""
    state = visit()
    by_id = {work.id: work for work in summaries}
    if state.get("concordance_work") not in {_ALL_WORKS, *by_id}:
        state["concordance_work"] = _ALL_WORKS
    state.setdefault("concordance_sort", "text")
    state.setdefault("concordance_voice", "any")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        word = st.text_input(
            "Word or phrase",
            key="concordance_word",
            persist_state="session",
            on_change=_anew,
            width=340,
            help="A \\* matches any letters: honour\\* also finds honourable. A ? matches one: wom?n. whale | shark "
            "(or OR) finds both. A phrase is found across punctuation and line ends, within a paragraph. Gatsby also "
            "finds Gatsby's.",
        )
        st.selectbox(
            "Work",
            [_ALL_WORKS, *by_id],
            format_func=lambda work_id: name_of(by_id[work_id]) if work_id else f"All works ({len(by_id)})",
            key="concordance_work",
            persist_state="session",
            on_change=_anew,
            width=340,
        )
        st.button("Find", type="primary", icon=":material/search:", key="concordance_button", on_click=links.press)
    _ask_further()
    if not (word or "").strip():
        work = state["concordance_work"]
        links.name_asked(PARAMETERS, {"work": work} if work and "work" in st.query_params else {})
        return None
    return ConcordanceRequest(
        word=word,
        work_id=state["concordance_work"],
        sort=state["concordance_sort"] or "text",
        variants=state["concordance_variants"],
        forms=state["concordance_forms"],
        as_written=state["concordance_case"],
        voice=state["concordance_voice"],
        only=state.get("concordance_only", ""),
        beside=state["concordance_with"] or "",
        page=state.get("concordance_page", 1),
    )


def _ask_further() -> None:
    state = visit()
    strict = bool(state.get("concordance_case"))
    chosen = [st.session_state.get(f"concordance_{name}") for name in _FURTHER]
    kept = any(chosen) or state["concordance_voice"] != "any"
    options = st.expander("Options: compare words, spellings, speech", expanded=kept)
    with options, st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.text_input(
            "Compare with",
            key="concordance_with",
            persist_state="session",
            on_change=_anew,
            placeholder="dark, shadow, the sea",
            width=340,
            help="Up to three other words or phrases, with commas between them. They are counted beside the first, in "
            "10,000 words, over the chapters of a work or over your works.",
        )
        if strict:
            state.update({"concordance_variants": False, "concordance_forms": False})
        st.checkbox(
            "Other spellings",
            key="concordance_variants",
            persist_state="session",
            on_change=_anew,
            disabled=strict,
            help="honour and honor, realise and realize, shew and show, to-day and today.",
        )
        st.checkbox(
            "Word forms",
            key="concordance_forms",
            persist_state="session",
            on_change=_anew,
            disabled=strict,
            help="go, goes, went, gone, by a dictionary that knows no context. Each form can be looked at alone.",
        )
        st.checkbox(
            "Exactly as written",
            key="concordance_case",
            persist_state="session",
            on_change=_anew,
            help="Capitals and accents count, and Gatsby no longer finds Gatsby's.",
        )
        choose_voice(
            "concordance_voice",
            "Speech: words in quotation marks, or under a speaker's name. Rates count all words.",
            on_change=_anew,
            label="collapsed",
        )


def choose_sort() -> None:
    """Draw the choice of an order."""
    st.segmented_control(
        "Sort by",
        list(SORT_LABELS),
        format_func=SORT_LABELS.__getitem__,
        key="concordance_sort",
        persist_state="session",
        required=True,
        on_change=_first_page,
    )


def answer(app: App, request: ConcordanceRequest) -> ConcordanceAnswer:
    """Find the word, and put the query into the page's address. Raises as `Concordance.find`."""
    # First, so that a query that is refused has an address too and Back leads from it to the one before.
    links.name_asked(PARAMETERS, request.parameters)
    with st.spinner("Reading …"):
        return app.concordance.find(request)


def invite(summaries: Sequence[WorkSummary]) -> None:
    """Say what the page is for, with words to try."""
    sample = next((work for work in summaries if work.title == _SAMPLE), None)
    tries = (
        [links.link("concordance", word, word=word, work=sample.id) for word in _EXAMPLES]
        if sample
        else [links.link("concordance", word, word=word) for word in ("light*", "the sea", "nobody")]
    )
    where = f"In <cite>{escape(sample.title)}</cite>: " if sample else "Try: "
    st.html(
        '<p class="relic-lede">Every place where a word or a phrase occurs, with the words before and after it: how '
        "often, in which chapters, beside which other words.</p>"
        f'<p class="relic-kwic-try">{where}{" · ".join(tries)}</p>'
    )
