"""The page "Where is this from?": a passage, the words of it that may be quoted, and the works they may come from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from urllib.parse import urlencode

import streamlit as st

from relic_core.attribution.service import Attribution, SourceCard
from relic_core.domain import WorkFilter, WorkSummary
from relic_core.domain.attribution import AttributionRequest
from relic_core.errors import BadRequest
from relic_core.wiring import App
from relic_ui import buttons, keep
from relic_ui.citing import cite_link
from relic_ui.links import asked_anew, link, name_asked, press
from relic_ui.naming import listed, many, name_of, shorten
from relic_ui.passages import passage_html
from relic_ui.shell import LONGEST_PASTE, warn_of_address
from relic_ui.style import hue

TITLE = "Where is this from?"

_PARAMETERS = ("text", "words", "works")
_LONGEST = 6_000
"""Characters of an address that every server takes; a longer passage is not put into it."""
_AROUND = 200
"""Characters on either side of the span that are shown with it."""
_WORKS, _WORDS = 6, 120
"""Works and further sentences named, and characters of a sentence that are shown."""
_MARKS = "“”\"‘’' "
_THERE = {"data-then": "#attribution-answer"}
_MOST_GAIN = 6.0
"""Log-probability that a source adds to a word from which on its underline is as dark as it gets."""


def show(app: App, summaries: Sequence[WorkSummary]) -> None:
    """Draw the form, and the answer to what was asked last."""
    state = st.session_state
    request = _ask(app, summaries)
    if request is None:
        st.html(
            '<p class="relic-lede">Paste a passage of criticism, a letter or a history. See which works of '
            "your library it quotes or adapts, with or without quotation marks.</p>"
        )
        return
    if state.get("attribution_answer", (None, None))[0] != (request, list(summaries)):
        bar = st.progress(0.0, "Reading …")
        stop = st.empty()
        if request.explain:  # a press ends this run of the page, and with it the reading
            stop.button("Stop", key="attribution_stop", type="tertiary", icon=":material/stop_circle:", on_click=_stop)
        try:
            found = app.attribution.run(request, lambda done, total, note="": bar.progress(done / max(1, total), note))
        finally:
            bar.empty()
            stop.empty()
        state["attribution_answer"] = (request, list(summaries)), found
    found = state["attribution_answer"][1]
    if passage := keep.asked(*buttons.pressed()):
        keep.press(app, passage, origin="attribution", claim_text=found.target.span)
    _show_answer(found, keep.Marks(app, found.target.span), request)


def _restore(by_id: Mapping[str, WorkSummary]) -> bool:
    """Fill the form with what the page's address asks for; say whether that is to be looked for."""
    if (wanted := asked_anew(_PARAMETERS)) is None:
        return False
    works = [each for each in wanted.get("works", "").split(",") if each]
    if not set(works) <= by_id.keys():
        warn_of_address(
            "This address names works that are not in your library. Add them in the Library to search them."
        )
    st.session_state.update(
        attribution_text=wanted.get("text", ""),
        attribution_span=wanted.get("words", ""),
        attribution_works=works,
        attribution_asked=None,
    )
    return bool(wanted.get("text"))


def _address(asked: AttributionRequest | None) -> dict[str, str]:
    """Write what an address carries; nothing of what is too long for one."""
    if asked is None:
        return {}
    words = asked.text[slice(*asked.span)] if asked.span else ""
    given = zip(_PARAMETERS, (asked.text, words, ",".join(asked.works.works)), strict=True)
    named = {name: value for name, value in given if value}
    return named if len(urlencode(named)) <= _LONGEST else {}


def _stop() -> None:
    st.session_state["attribution_asked"] = None


def _ask(app: App, summaries: Sequence[WorkSummary]) -> AttributionRequest | None:
    """Draw the form; give the request that was sent off last, or None."""
    state, by_id = st.session_state, {work.id: work for work in summaries}
    reopened = _restore(by_id)
    state["attribution_works"] = [each for each in state.get("attribution_works", ()) if each in by_id]
    with st.form("attribution_form", border=False):
        st.text_area(
            "A passage of an essay, a letter or a history",
            key="attribution_text",
            height=150,
            max_chars=LONGEST_PASTE,
            persist_state="session",
        )
        st.text_input(
            "The words to look for (optional)",
            key="attribution_span",
            persist_state="session",
            placeholder="Exactly as in the passage. If empty, each sentence is tried.",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.multiselect(
                "Look in",
                list(by_id),
                key="attribution_works",
                persist_state="session",
                format_func=lambda work_id: name_of(by_id[work_id]),
                placeholder=f"All works ({len(by_id)})",
                width=420,
            )
            sent = st.form_submit_button(
                "Find the source", type="primary", icon=":material/travel_explore:", on_click=press
            )
        explain = app.attribution.reads and st.checkbox(
            "Underline what the source explains, by the language model",
            key="attribution_explain",
            persist_state="session",
            help="It takes seconds."
            + " The passage goes to the server that RELIC_READER names." * (not app.reads_here),
        )
    if sent or reopened:
        state["attribution_asked"] = None
        text = state["attribution_text"]
        state["attribution_asked"] = AttributionRequest(
            text=text,
            span=_span(text, state["attribution_span"]),
            works=WorkFilter(works=tuple(state["attribution_works"])),
            explain=bool(explain and sent),  # an address sends no passage to a server
        )
    asked: AttributionRequest | None = state.get("attribution_asked")
    name_asked(_PARAMETERS, _address(asked))
    return asked


def _span(text: str, words: str) -> tuple[int, int] | None:
    """Find words in a passage, however white space parts them; None where none are given. Raises BadRequest."""
    if not words.strip():
        return None
    found = re.search(r"\s+".join(map(re.escape, words.split())), text)
    if found is None:
        raise BadRequest("These exact words are not in the passage. Copy them from it, or leave the field empty.")
    return found.span()


def _show_answer(found: Attribution, marks: keep.Marks, request: AttributionRequest) -> None:
    if not found.cards:
        st.info(
            "None of your works shares a word with it. It may be in another language.", icon=":material/search_off:"
        )
        return
    named = [
        f"<cite>{escape(work.title)}</cite>{f', {escape(work.author)}' * bool(work.author)}" for work in found.found
    ]
    if not named:
        said = "No sure source"
        none = "The work does not share" if found.searched == 1 else f"None of {found.searched} works shares"
        why = (
            "These words are too few, or too common, to be certain of their source."
            if found.few
            else f"{none} enough of these words to be their certain source."
        )
        more = f"{why} The nearest passages are below."
    elif len(named) == 1:
        said, more = f"From {named[0]}", ""
    else:
        said, more = f"Found equally in {len(named)} works", f"{listed(named)}."
    beside = "" if found.others or not named else ", and no other has a certain source"
    tried = f"{found.tried} sentences and quotations tried; this one was found best{beside}. " * (found.tried > 1)
    near = [escape(work.title) for work, strong in found.works if not strong][:_WORKS]
    others = f"Next by words: {', '.join(near)}." if named and near else ""
    sources = [card for card in found.cards if card.strong or not named]
    rest = [card for card in found.cards if card not in sources]
    lines = "".join(f'<p class="relic-quiet">{line}</p>' for line in (more, f"{tried}{others}") if line)
    lines += _others(found, request)
    st.html(f'<h2 class="relic-source" id="attribution-answer">{said}</h2>{_passage(found)}{lines}')
    if found.note:
        st.warning(found.note, icon=":material/info:")
    with st.container(key="attribution_cards"):
        st.html("".join(_card(card, marks) for card in sources))
        if rest:
            with st.expander(many(len(rest), "passage").capitalize() + " that come next by words"):
                st.html("".join(_card(card, marks) for card in rest))


def _others(found: Attribution, request: AttributionRequest) -> str:
    """Lead to the other sentences that have a source; nothing where there are none."""
    items = []
    for each in found.others[:_WORKS]:
        named = _address(replace(request, span=(each.start, each.end)))
        words = f"“{shorten(each.span.strip(_MARKS), _WORDS)}”"
        items.append(f"<li>{link('attribution', words, attributes=_THERE, **named) if named else escape(words)}</li>")
    heading = "<p>Another sentence has a source:</p>" if len(items) == 1 else "<p>Other sentences have a source:</p>"
    return f'<div class="relic-attributed">{heading}<ul>{"".join(items)}</ul></div>' if items else ""


def _passage(found: Attribution) -> str:
    """Set the span in its surroundings, lit where the best stretch has its words, underlined where it explains them."""
    target = found.target
    first, last = max(0, target.start - _AROUND), min(len(target.text), target.end + _AROUND)
    if first:  # at a word's beginning, and at its end
        first = target.text.find(" ", first, target.start) + 1 or target.start
    if last < len(target.text):
        last = max(target.end, target.text.rfind(" ", target.end, last))
    lit = found.cards[0].runs if found.cards[0].strong else ()
    borders = {
        target.start,
        target.end,
        *(at for run in lit for at in run),
        *(at for a, b, _ in found.gains for at in (a, b)),
    }
    html = ""
    for start, end in pairwise(sorted({first, last, *borders})):
        piece = escape(target.text[start:end])
        if any(a <= start and end <= b for a, b in lit):
            piece = f"<mark>{piece}</mark>"
        gain = next((gain for a, b, gain in found.gains if a <= start and end <= b), 0.0)
        if gain > 0:
            piece = f'<span class="relic-gain" style="--relic-gain:{min(1.0, gain / _MOST_GAIN):.0%}">{piece}</span>'
        html += piece if target.start <= start and end <= target.end else f'<span class="relic-rest">{piece}</span>'
    before = '<span class="relic-rest">… </span>' * (first > 0)
    after = '<span class="relic-rest"> …</span>' * (last < len(target.text))
    return f'<blockquote class="relic-target">{before}{html}{after}</blockquote>'


def _card(card: SourceCard, marks: keep.Marks) -> str:
    work, at, n = card.work, str(card.place.address), card.span.length
    where = f"{card.place.label} · {card.place.fraction:.0%}"
    title = f'<cite class="relic-card-work">{escape(name_of(work))}</cite>'
    rank = f'<span class="relic-rank"><span class="relic-sr">Passage </span>{card.rank}</span>'
    read = link("read", where, title=f"{where} into the work: read it in its chapter", work=work.id, at=at, n=n)
    kept = marks.html(work.id, at, n, place=f"passage {card.rank}, {name_of(work)}, {where}")
    return (
        f'<article class="relic-card" id="source-{card.rank}" style="{hue("bm25")}"><header><h3>{rank} {title} {read}'
        f"</h3></header><blockquote>{passage_html(card.passage)}</blockquote>"
        f'<div class="relic-card-do">{kept} {cite_link(work.id, at, n, "")}</div></article>'
    )
