"""The columns of a language model: where the words go, reading and stopping it, and what it says of each passage.

Nothing that a model writes is drawn as HTML or Markdown, and its words never look like the work's.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from zlib import crc32

import streamlit as st
from markupsafe import Markup

from relic_core.domain import Claim, Job
from relic_core.services.answers import Column
from relic_core.services.model_reading import SYNTHESIS, CardReading, ColumnReading, ModelReading
from relic_core.services.search import SearchResult
from relic_core.wiring import App
from relic_ui import jobs, language_model, person
from relic_ui.naming import many
from relic_ui.shell import LONGEST_PASTE, literal, show_errors
from relic_ui.templates import render
from relic_ui.visit import visit

_OWN = "Your own words"
_LONGEST_QUESTION = 500


def show_reading(app: App, column: Column, result: SearchResult) -> None:
    """Draw, under the heading of a column of a model, what can be done and how far it is."""
    reads = app.model_reading
    search_id, retriever = visit()["find_search"], column.retriever
    if not column.card.server or not search_id:  # what is not kept cannot be read in a job
        return
    sent = "the name of the work" if retriever.startswith("llm-recall") else "the passages"
    if not language_model.is_allowed(reads, f"The claim and {sent}", retriever):
        return
    job = reads.job(search_id, retriever)
    if _is_reading(app, job):
        return
    seen = f"find_read_{search_id}_{retriever}"
    if job and st.session_state.get(seen) != job.id:  # it has ended since the answer was made
        st.session_state[seen] = job.id
        visit()["find_answer"] = None
        st.rerun()
    if job and job.state == "failed":
        st.warning(literal(f"{job.note} What was read before is kept."), icon=":material/warning:")
    recalls = retriever.startswith("llm-recall")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if job and job.state == "done":
            st.html(f'<p class="relic-quiet">{escape(job.note)}</p>', width="content")
        elif st.button(
            "Read on" if job else "Have it recall" if recalls else f"Read the first {reads.passages}",
            key=f"find_read_{retriever}",
            icon=":material/smart_toy:",
        ):
            with show_errors():
                reads.start(search_id, retriever)
                st.rerun()
        with st.popover("What it looks for", type="tertiary", key=f"find_objective_{retriever}"):
            _choose_objective(reads, result.claim, retriever)
    st.html(
        f'<p class="relic-quiet">The claim and {sent} go to {escape(reads.place)}. A model may know famous criticism '
        "by heart, and it can be wrong.</p>"
    )


def _is_reading(app: App, job: Job | None) -> bool:
    """Say whether a job reads, and show how far it is."""
    if not job or not job.active:
        return False
    jobs.show_job(app, job.id, doing="beginning to read", stop="Stop reading")
    return True


def show_synthesis(app: App, result: SearchResult, model: str) -> Mapping[int, str]:
    """Draw what the model says of the best evidence, or offer to ask it. Returns: its verdicts, by a card's number."""
    reads, search_id, who = app.model_reading, visit()["find_search"], person.current()
    if not model or not search_id or not result.best or result.source:
        return {}
    if not language_model.is_allowed(reads, "The claim and the passages", SYNTHESIS):
        return {}
    job, asked = reads.job(search_id, SYNTHESIS, who), reads.further(search_id, who)
    answers = reads.synthesis(result, further=asked)
    known = max(0, len(answers) - 1)
    answered, left = asked[:known], asked[known : known + 1]
    if answers:
        pairs = list(zip(("", *answered), answers, strict=True))
        st.html(render("find/synthesis.html", answers=pairs, model=model))
    verdicts = answers[0].verdicts if answers else {}
    reading = _is_reading(app, job)
    if job and job.state == "failed" and (left or not answers):
        st.warning(literal(job.note), icon=":material/warning:")
    further, key, state = None, f"find_further_{search_id}", st.session_state
    if answers:
        # One box, while a job reads, too: another question may have been typed into it, as in another tab.
        if state.get(key, "").strip() in {"", *asked}:
            state[key] = "" if reading else "".join(left)
        with st.form("find_further", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            question = st.text_input("Ask further about these passages", key=key, max_chars=_LONGEST_QUESTION)
            pressed = st.form_submit_button(
                "Ask", key="find_further_ask", icon=":material/smart_toy:", width="content", disabled=reading
            )
            if pressed and question.strip() and not reading:
                further = [*answered, question.strip(), *asked[known + 1 :]]
    elif not reading and st.button("What do these passages show?", key="find_synthesis", icon=":material/smart_toy:"):
        further = asked
    if further is not None:
        with show_errors():
            reads.start(search_id, SYNTHESIS, who, further)
            st.rerun()
    return verdicts


def verdict_html(verdict: str | None, model: str) -> Markup:
    """Make the HTML of a model's verdict under a card; nothing where it gave none."""
    return Markup('<p class="relic-quiet">The model ({}): {}</p>').format(model, verdict) if verdict else Markup()


def _choose_objective(reads: ModelReading, claim: Claim, retriever: str) -> None:
    """Let the scholar choose what makes a passage relevant, and write it in words of their own."""
    chosen = reads.objective(claim)
    names = [*reads.objectives, _OWN]
    state, key = st.session_state, f"find_objective_text_{retriever}"

    def take() -> None:
        state[key] = reads.objectives.get(state[f"{key}_card"], state[key])

    st.selectbox(
        "A passage that",
        names,
        index=next((at for at, name in enumerate(names) if reads.objectives.get(name) == chosen), len(names) - 1),
        key=f"{key}_card",
        on_change=take,
    )
    if key not in state:
        state[key] = chosen
    st.text_area("In words, as given to the model", key=key, height=160, max_chars=LONGEST_PASTE)
    criteria = written = ""
    if retriever == "llm-subtask":
        written = "\n".join(reads.criteria(claim))
        criteria = st.text_area(
            "Criteria, one per line; if empty, the model writes them",
            written,
            key=f"{key}_{crc32(written.encode())}",
            max_chars=LONGEST_PASTE,
        )
    if st.button("Use this for the claim", key=f"{key}_use"):
        with show_errors():
            reads.choose(claim, state[key], criteria.splitlines() if criteria != written else None)
            visit()["find_answer"] = None
            st.rerun()


def readings_html(found: ColumnReading | None, column: Column, model: str) -> list[str]:
    """Make what is drawn under each card of a column: of a model's, how much of what it recalled is not in the work."""
    if found is None or not column.answered:
        return [""] * len(column.cards)
    if found.given:
        st.html(
            f'<p class="relic-quiet">{found.lost} of {many(found.given, "passage")} that it gave '
            f"{'is' if found.lost == 1 else 'are'} not in this work, and not shown.</p>"
        )
    return [_reading_html(each, model) for each in found.readings]


def _reading_html(reading: CardReading | None, model: str) -> str:
    """Make the HTML of what a model says of one passage."""
    if reading is None:
        return ""
    answer = reading.answer
    criteria = "".join(f"<li>{escape(name)}: {score:g}</li>" for name, score in answer.criteria)
    rests = ""
    if answer.words:
        rests = (
            f'<p class="relic-quiet">It rests on: “{escape(answer.words)}”</p>'
            if reading.stands
            else f'<p class="relic-misquoted">It rests on words that are not here: {escape(answer.words)}</p>'
        )
    if reading.misquotes:
        rests += '<p class="relic-misquoted">The reason quotes words that are not here.</p>'
    return (
        f'<aside class="relic-reading"><p><strong>{answer.score:g} of 10</strong> ({escape(model)}). '
        f"{escape(answer.reason)}</p>{f'<ul>{criteria}</ul>' if criteria else ''}{rests}</aside>"
    )
