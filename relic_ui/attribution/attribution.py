"""The page "Where is this from?": a passage, the words of it that may be quoted, and the works they may come from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
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
from relic_ui.links import asked_anew, cite_link, link, name_asked, press
from relic_ui.naming import listed, many, name_of, shorten
from relic_ui.passages import passage_html
from relic_ui.shell import LONGEST_PASTE, warn_of_address
from relic_ui.style import RETRIEVER_COLOURS, hue
from relic_ui.visit import visit

TITLE = "Where is this from?"

_PARAMETERS = ("text", "words", "works", "by")
_BY = {"words": "The words themselves", "masked": "What stands around them, the words hidden"}
_LONGEST = 6_000
"""Characters of an address that every server takes; a longer passage is not put into it."""
_WORKS, _WORDS = 6, 120
"""Works and further sentences named, and characters of a sentence that are shown."""
_MARKS = "“”\"‘’' "
_THERE = {"data-then": "#attribution-answer"}
_MOST_GAIN = 6.0
"""Log-probability that a source adds to a word from which on its underline is as dark as it gets."""


def show(app: App, summaries: Sequence[WorkSummary]) -> None:
    """Draw the form, and the answer to what was asked last."""
    state = visit()
    request = _ask(app, summaries)
    if request is None:
        st.html('<p class="relic-lede">See which works of your library a text quotes or adapts.</p>')
        return
    if state.get("attribution_answer", (None, None))[0] != (request, list(summaries)):
        bar = st.progress(0.0, "Reading …")
        stop = st.empty()
        if request.explain:  # a press ends this run of the page, and with it the reading
            stop.button("Stop", key="attribution_stop", type="tertiary", icon=":material/stop_circle:", on_click=_stop)

        def tell(done: int, total: int, note: str = "") -> None:
            bar.progress(done / max(1, total), note)

        try:
            found = app.attribution.run(request, tell)
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
    visit().update(
        {
            "attribution_text": wanted.get("text", ""),
            "attribution_span": wanted.get("words", ""),
            "attribution_works": works,
            "attribution_by": "masked" if wanted.get("by") == "masked" else "words",
            "attribution_asked": None,
        }
    )
    return bool(wanted.get("text"))


def _address(asked: AttributionRequest | None) -> dict[str, str]:
    """Write what an address carries; nothing of what is too long for one."""
    if asked is None:
        return {}
    words = asked.text[slice(*asked.span)] if asked.span else ""
    by = asked.by if asked.by != "words" else ""
    given = zip(_PARAMETERS, (asked.text, words, ",".join(asked.works.works), by), strict=True)
    named = {name: value for name, value in given if value}
    return named if len(urlencode(named)) <= _LONGEST else {}


def _stop() -> None:
    visit()["attribution_asked"] = None


def _ask(app: App, summaries: Sequence[WorkSummary]) -> AttributionRequest | None:
    """Draw the form; give the request that was sent off last, or None."""
    state, by_id = visit(), {work.id: work for work in summaries}
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
                filter_mode="contains",
                select_all=False,
                width=420,
            )
            st.selectbox(
                "Look for",
                list(_BY),
                key="attribution_by",
                persist_state="session",
                format_func=_BY.__getitem__,
                width=330,
                help="Hidden words are sought by what is said around them. Name the words above.",
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
            by=state["attribution_by"],
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
    likely = found.likely if request.by == "words" else None
    if likely:
        heading = f"Likely <cite>{escape(likely.work.title)}</cite>"
        more = f"The words differ: {_difference(likely, found.target.span)}"
    elif request.by == "masked" and not named:
        heading, more = "By what stands around the words", "The passages that fit best are below."
    elif not named:
        heading = "No sure source"
        none = "The work does not share" if found.searched == 1 else f"None of {found.searched} works shares"
        why = (
            "These words are too few, or too common, to be certain of their source."
            if found.few
            else f"{none} enough of these words to be their certain source."
        )
        more = f"{why} The nearest passages are below."
    elif len(named) == 1:
        also = dict.fromkeys(f"<cite>{escape(card.work.title)}</cite>" for card in found.borrowed)
        heading, more = f"From {named[0]}{''.join(f'; {each}' for each in also if each not in named[0])}", ""
    else:
        heading, more = f"Found equally in {len(named)} works", f"{listed(named)}."
    beside = "" if found.others or not named else ", and no other has a certain source"
    tried = f"{found.tried} sentences and quotations tried; this one was found best{beside}. " * (found.tried > 1)
    near = [escape(work.title) for work, strong in found.works if not strong][:_WORKS]
    others = f"Next by words: {', '.join(near)}." if named and near else ""
    sources = [card for card in found.cards if card.strong or not named]
    lines = "".join(f'<p class="relic-quiet">{line}</p>' for line in (more, f"{tried}{others}") if line)
    lines += _others(found, request)
    st.html(f'<h2 class="relic-source" id="attribution-answer">{heading}</h2>')
    sources = [likely] if likely else sources
    borrowed = [*(card for card in sources[:1] if card.strong), *found.borrowed]
    rest = [card for card in found.cards if card not in sources]
    with st.container(key="attribution_answer"):
        left, right = st.columns(2, gap="medium")
    left.html(f"{_passage(found, borrowed)}{lines}")
    if borrowed:
        right.html("".join(_card(card, marks, number) for number, card in enumerate(borrowed, start=1)))
    sources = [card for card in sources if card not in borrowed]
    if found.note:
        st.warning(found.note, icon=":material/info:")
    with st.container(key="attribution_cards"):
        if sources:
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


def _difference(card: SourceCard, words: str) -> str:
    """Set a line of a work as it was changed: what was left out, and what was put in."""
    old, new = card.passage.plain.split(), words.split()
    html = []
    for does, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if does != "equal" and b > a:
            html.append(f"<del>{escape(' '.join(old[a:b]))}</del>")
        if d > c:
            put = escape(" ".join(new[c:d]))
            html.append(put if does == "equal" else f"<ins>{put}</ins>")
    return " ".join(html)


def _passage(found: Attribution, borrowed: Sequence[SourceCard]) -> str:
    """Set the whole text, each borrowed stretch in the colour and number of its source, underlined where explained."""
    target = found.target
    lit = [(a, b, number) for number, card in enumerate(borrowed, start=1) for a, b in card.runs]
    ends = {(number, b) for _, b, number in lit}
    borders = {0, len(target.text), target.start, target.end}
    borders.update(at for a, b, _ in (*lit, *found.gains) for at in (a, b))
    html = ""
    for start, end in pairwise(sorted(borders)):
        piece = escape(target.text[start:end])
        number = next((number for a, b, number in lit if a <= start and end <= b), 0)
        if number:
            piece = f'<mark style="{_colour(number)}">{piece}</mark>'
            piece += f"<sup>{number}</sup>" * (len(borrowed) > 1 and (number, end) in ends)
        gain = next((gain for a, b, gain in found.gains if a <= start and end <= b), 0.0)
        if gain > 0:
            piece = f'<span class="relic-gain" style="--relic-gain:{min(1.0, gain / _MOST_GAIN):.0%}">{piece}</span>'
        html += piece if number or target.start <= start < target.end else f'<span class="relic-rest">{piece}</span>'
    return f'<blockquote class="relic-target" tabindex="0" role="region" aria-label="Your text">{html}</blockquote>'


def _colour(number: int) -> str:
    colours = list(RETRIEVER_COLOURS.values())
    return f"--relic-hue:{colours[(number - 1) % len(colours)]}"


def _card(card: SourceCard, marks: keep.Marks, number: int = 0) -> str:
    work, at, n = card.work, str(card.place.address), card.span.length
    where = f"{card.place.label} · {card.place.fraction:.0%}"
    title = f'<cite class="relic-card-work">{escape(name_of(work))}</cite>'
    rank = f'<span class="relic-rank"><span class="relic-sr">Passage </span>{number or card.rank}</span>'
    read = link("read", where, title=f"{where} into the work: read it in its chapter", work=work.id, at=at, n=n)
    kept = marks.html(work.id, at, n, place=f"passage {number or card.rank}, {name_of(work)}, {where}")
    return (
        f'<article class="relic-card" id="source-{"of-" * bool(number)}{number or card.rank}" '
        f'style="{_colour(number) if number else hue("bm25")}"><header><h3>{rank} {title} {read}'
        f"</h3></header><blockquote>{passage_html(card.passage)}</blockquote>"
        f'<div class="relic-card-do">{kept} {cite_link(work.id, at, n, "")}</div></article>'
    )
