"""The quotation card and the column it stands in."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_core.reporting.passages import quotation, surroundings
from relic_ui.citing import cite_link
from relic_ui.find.like import more_link
from relic_ui.links import link
from relic_ui.naming import listed, name_of
from relic_ui.passages import passage_html
from relic_ui.shell import literal
from relic_ui.style import OTHER_COLOUR, RETRIEVER_COLOURS

if TYPE_CHECKING:
    from relic_core.services.search import Card, Column, SearchResult
    from relic_ui.keep import Marks

SURROUNDING_SENTENCES = 6
_WORDS_NAMED = 8


def hue(retriever: str) -> str:
    """Give the CSS that sets a retriever's colour."""
    return f"--relic-hue:{RETRIEVER_COLOURS.get(retriever, OTHER_COLOUR)}"


def anchor(retriever: str, rank: int) -> str:
    """Name the place of a card on its page."""
    return f"hit-{retriever}-{rank}"


def show_heading(column: Column) -> None:
    """Draw the heading of a retriever's column: what it is called, and what it does."""
    st.html(
        f'<div class="relic-column" style="{hue(column.retriever)}"><h2>{escape(column.label)}</h2>'
        f'<p class="relic-quiet">{escape(column.description)}</p></div>'
    )


def show_cards(column: Column, result: SearchResult, search_id: str, marks: Marks) -> None:
    """Draw one retriever's cards, or why there are none.

    - `search_id`: the search, to come back to from reading.
    """
    asked = _asked(result)
    if column.note and column.exact:
        st.warning(literal(column.note), icon=":material/warning:")
    elif column.note:
        st.html(f'<p class="relic-quiet relic-inexact">{escape(column.note)}</p>')
    elif not column.cards and not column.pending:
        where = "these chapters" if result.request.chapters else "this work" if result.work else "these works"
        st.html(f'<p class="relic-quiet">No passage of {where} uses the words of {asked}, little words apart.</p>')
    for card in column.cards:
        st.html(card_html(card, column, result, search_id, marks))


def card_html(card: Card, column: Column, result: SearchResult, search_id: str, marks: Marks) -> str:
    """Make the HTML of one card: rank, place, quotation, why it is there, where it can be read.

    - `result`: the answer it is part of; of a library, the card says which work it is from.
    - `search_id`: the search, to come back to from reading.
    """
    place, work = card.place, card.work
    where = f"{place.label} · {place.fraction:.0%} into the work"
    title = f'<cite class="relic-card-work">{escape(name_of(work))}</cite> ' if result.work is None else ""
    around = surroundings(work, card.span, sentences=SURROUNDING_SENTENCES)
    parts = [
        f'<article class="relic-card" id="{anchor(column.retriever, card.rank)}" style="{hue(column.retriever)}">',
        f"<header><h3>{title}{escape(where)}</h3>",
        f'<span class="relic-rank"><span class="relic-sr">Rank </span>{card.rank}</span></header>',
        f"<blockquote>{passage_html(card.quotation)}</blockquote>",
    ]
    parts.append(f'<div class="relic-why">{_why(card, column, result)}</div>')
    at, n = str(place.address), card.span.length
    chapter = link("read", "Read it in its chapter", work=work.id, at=at, n=n, q=search_id)
    keep = marks.html(work.id, at, n, search_id, column.retriever, str(card.rank), place=f"rank {card.rank}, {where}")
    cite = cite_link(work.id, at, n, search_id)
    parts.append(f'<p class="relic-card-read">{chapter} {more_link(work.id, at, n)} {cite} {keep}</p>')
    parts.append(
        "<details><summary>Read it in its surroundings</summary>"
        f'<div class="relic-around">{passage_html(around, mark_gold=True)}</div></details>'
    )
    if card.others:
        many = len(card.others)
        summary = "One overlapping passage ranked" if many == 1 else f"{many} overlapping passages ranked"
        others = "".join(
            f'<p class="relic-quiet">Rank {hit.rank}</p>{passage_html(quotation(work, hit.span))}'
            for hit in card.others
        )
        parts.append(f'<details><summary>{summary}</summary><div class="relic-around">{others}</div></details>')
    parts.append("</article>")
    return "".join(parts)


def _asked(result: SearchResult) -> str:
    return "the passage" if result.source else "your claim"


def _why(card: Card, column: Column, result: SearchResult) -> str:
    """Say why a card is there: strength, shared words, the other retrievers' ranks."""
    # Of what is like a passage no level is known: the sentence alone says how far it stands out.
    level = f'<span class="relic-strength">{card.strength.level.capitalize()} match.</span> '
    lines = [level * (result.source is None) + escape(card.strength.sentence)]
    if card.quoted:  # the claim holds its words: how well they match says nothing
        lines = ['<span class="relic-strength">Your claim already quotes words of this passage.</span>']
    asked = _asked(result).replace("your", "the")
    if card.shared:
        words = ", ".join(escape(word) for word in card.shared[:_WORDS_NAMED])
        lines.append(f"Shares with {asked}: {words}")
    else:
        lines.append(f"Shares no word with {asked}, little words apart")
    if ranked := [f"{rank:,} by {escape(label)}" for label, rank in card.other_ranks if rank]:
        lines.append(f"Ranked {', '.join(ranked)}, of {column.candidates:,}")
    if unranked := [escape(label) for label, rank in card.other_ranks if not rank]:
        unread = any(work.id == card.work.id for work in result.unprepared)
        named = listed(unranked)
        lines.append(f"Not read yet by {named}" if unread else f"Not among what {named} found")
    return "".join(f"<div>{line}</div>" for line in lines)
