"""Who quotes a work, where it is read: counts beside its sentences, the sources behind one, the lines most used."""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_core.attribution.service import SourceCard
from relic_core.domain import Pair, Span
from relic_core.services.reading import ReadingPage
from relic_core.services.sources import QuotationCounts, WindowView
from relic_core.wiring import App
from relic_ui.links import link
from relic_ui.naming import many, shorten
from relic_ui.sources import known
from relic_ui.sources.sources import cited, marked, window_id

_AROUND = 150
"""Characters of the critic's words on either side that the reading room shows."""
_WORDS_SHOWN = 280
_NONE_TWICE = '<p class="relic-quiet">No passage is quoted more than once so far.</p>'


def counts_beside(page: ReadingPage, quoted: QuotationCounts) -> dict[str, int]:
    """Say how often each sentence of the chapter is quoted, by its address; those that nobody quotes are left away."""
    chapter = page.chapter.span
    inside = sorted(index for index in quoted.counts if chapter.start <= index < chapter.end)
    return {str(page.work.place(Span(index, 1)).address): quoted.counts[index] for index in inside}


def summary_html(page: ReadingPage, quoted: QuotationCounts, here: int) -> str:
    """Say over the chapter what the numbers beside it are, with a switch; nothing of a work that nobody quotes.

    - `here`: sentences of the chapter that are quoted.
    """
    if not quoted.windows:
        return ""
    heading = f"Critics quote {many(here, 'sentence')} here" if here else "Critics quote nothing here"
    switch = '<button type="button" class="relic-read-switch">Hide the counts</button>' if here else ""
    every = link(
        "sources",
        f"All {many(quoted.windows, 'quotation')}" if quoted.windows > 1 else "The quotation",
        work=page.work.id,
    )
    return f'<div class="relic-read-quotes"><p>{heading}</p>{switch}{every}</div>'


def quoting_html(app: App, page: ReadingPage) -> str:
    """List who quotes the sentence that the page is opened at: the source, and the critic's words around."""
    if page.passage is None:
        return ""
    views, at = app.sources.quoting(page.work.id, page.passage.start), page.passage.start
    quoted = app.sources.quoted(page.work.id)
    times, sources = quoted.counts.get(at, 0), len(quoted.critics.get(at, ()))
    heading = f"Quoted {_times(times)}" + (f" by {many(sources, 'source')}" if times > 1 else "")
    place = page.place.label.replace(" · ", ", ") if page.place else ""
    also = "".join(f"<li><h3>{known.book_html(book)}</h3></li>" for book in known.books_of(quoted, Span(at, 1)))
    if also:
        every = link("sources", "Where their words are to be had", work=page.work.id, at=page.at)
        also += f'<li><p class="relic-window-links">{every}</p></li>'
    items = "".join(map(_quoting, views)) + also or "<li>No secondary source quotes this sentence any more.</li>"
    return (
        f"<header><h2>{heading if times else 'Not quoted'} <span>{escape(place)}</span></h2>"
        f'<button type="button" class="relic-read-shut">Close</button></header><ol>{items}</ol>'
    )


def _quoting(view: WindowView) -> str:
    window = view.window
    left, right = " ".join(window.left), " ".join(window.right)
    if len(left) > _AROUND:
        left = "… " + left[-_AROUND:].split(" ", 1)[-1]
    words = marked(shorten(window.quotation, _WORDS_SHOWN), view.lit).removeprefix("<p>").removesuffix("</p>")
    to = link(
        "sources",
        "The quotation beside the text",
        title=f"The quotation beside the text: {view.source.title}",
        attributes={"data-then": f"#{window_id(window.id)}"},
        work=view.work.id,
        at=str(view.place.address),
    )
    source = link(
        "sources", "All that it quotes", title=f"All that it quotes: {view.source.title}", source=view.source.id
    )
    return (
        f"<li><h3>{cited(view.source)}</h3><p>{escape(left)} <b>{words}</b> {escape(shorten(right, _AROUND))}</p>"
        f'<p class="relic-window-links">{to}{source}</p></li>'
    )


def show_most_quoted(app: App, work_id: str) -> None:
    """Say how often a work is quoted, by how many, and which of its passages are quoted most."""
    st.header("What critics quote", anchor="quoted")
    quoted = app.sources.quoted(work_id)
    if not quoted.windows:
        add = link("library", "Add books about it", css="relic-work-link", part="Criticism")
        st.html(
            '<p class="relic-measure">No secondary source of your library quotes it. '
            f"{add}: the program finds where they quote it.</p>"
        )
        return
    work = app.works.load(work_id)
    share = len(quoted.counts) / len(work.sentences)
    every = link("sources", "All of them beside the text", css="relic-work-link", work=work_id)
    st.html(
        f'<p class="relic-measure">Quoted in {many(quoted.windows, "place")} by {many(quoted.sources, "source")}; '
        f"{many(len(quoted.counts), 'sentence')} of {len(work.sentences):,} ({share:.1%}) at least once. {every}</p>"
    )
    twice = {index: times for index, times in quoted.counts.items() if times > 1}
    items = "".join(known.passage_html(work, span, quoted) for span in known.most_quoted(twice or quoted.counts))
    st.html(
        f'<h3 class="relic-item">{"Most quoted" if twice else "Quoted"} passages</h3>'
        f"{'' if twice else _NONE_TWICE}"
        f'<ol class="relic-work-quoted">{items}</ol>{known.by_chapter_html(work, quoted)}{known.also_html(quoted)}'
    )


def show_quoting(app: App, work_id: str) -> None:
    """Offer to look for quotations of a work that mining did not find, and list them."""
    key = f"quoting_{work_id}"
    if st.button("Look for looser quotations", key="work_quoting", icon=":material/travel_explore:"):
        with st.spinner("Reading what critics quote …"):
            st.session_state[key] = app.quoting(work_id)
    if (found := st.session_state.get(key)) is None:
        return
    items = "".join(_looser(app, pair, card) for pair, card in found)
    st.html(
        f'<h3 class="relic-item">Looser quotations</h3><ol class="relic-work-quoted">{items}</ol>'
        if found
        else '<p class="relic-quiet">No other quotation in your secondary sources comes from it.</p>'
    )


def _looser(app: App, pair: Pair, card: SourceCard) -> str:
    work, where = card.work, card.place.label.replace(" · ", ", ")
    read = link("read", where, title=f"Read it: {where}", work=work.id, at=str(card.place.address), n=card.span.length)
    return (
        f"<li><div><q>{escape(shorten(pair.quotation, _WORDS_SHOWN))}</q>"
        f'<p class="relic-window-links">{cited(app.sources.get(pair.source_id))} {read}</p></div></li>'
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
