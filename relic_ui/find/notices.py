"""What a reader should know before trusting the hits of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from relic_core.domain import GAP, MASK, Work
from relic_core.services.search import SearchResult
from relic_core.services.sources import QuotationCounts
from relic_ui.find.claim_box import ask
from relic_ui.naming import inside, listed, many, name_of, shorten
from relic_ui.visit import visit

_QUOTED_SHOWN = 80
_FEWEST = 5
"""Passages of which it is worth saying where they are."""


def show_notices(result: SearchResult) -> None:
    """Say on a line each that the program is unsure, what the work never uses, and what the claim quotes of it."""
    title = result.work.title if result.work else "The library"
    never = f"{title} never uses {_marked(result.unknown)}." if result.unknown else ""
    if result.request.conditions:
        _show_answer(result)
    elif result.weak:
        other = "another work" if result.work else "other works"
        st.html(
            '<p class="relic-quiet relic-unsure" role="status"><strong>The program is unsure here.</strong> '
            f"{escape(never)}{' ' * bool(never)}Try other words, a paragraph with a gap, another length, or "
            f"{other}.</p>"
        )
    elif never:
        st.html(f'<p class="relic-quiet relic-unsure" role="status">{escape(never)}</p>')
    if result.quoted and result.work:
        _show_quoted(result, result.work)


def found_in_a_line(result: SearchResult, quoted: Callable[[str], QuotationCounts]) -> str:
    """Say of the best evidence where most of it is, who speaks, how much critics quote; nothing if there is none."""
    cards = [each.card for each in result.best[: 2 * result.request.results]]
    if len(cards) < _FEWEST or result.request.conditions:
        return ""
    where = Counter(card.place.chapter if result.work else name_of(card.work) for card in cards)
    often = [name for name, count in where.most_common(2) if name and count > 1 and len(where) > 1]
    speaker, spoken = next(iter(Counter(name for card in cards for name in card.speakers).most_common(1)), ("", 0))
    critics = sum(quoted(card.work.id).by(card.line)[0] > 0 for card in cards)
    parts = []
    if often and not result.scenes:  # which name the likely chapters
        parts.append(f"most often from {listed(often)}")
    if spoken > 1:
        parts.append(f"{spoken} spoken by {speaker}")
    if critics:
        parts.append(f"{critics} quoted by critics")
    return "; ".join(parts)


def _show_answer(result: SearchResult) -> None:
    """Say how many units answer joined claims, and what is known of such answers."""
    unit = result.request.unit
    phrases = []
    for column in result.columns:
        if column.answered:
            number = sum(card.answers for card in column.cards)
            units = f"{many(number, unit)} {'answers' if number == 1 else 'answer'}" if number else f"no {unit} answers"
            if 0 < number == len(column.cards):  # as many are shown as can be, and more may answer
                units = f"at least {units}"
            phrases.append(units + f", {inside(column.card.called)}" * (len(result.columns) > 1))
    if phrases:
        first, rest = phrases[0][0].upper(), "; ".join(phrases)[1:]
        st.html(
            f'<p class="relic-quiet relic-unsure" role="status"><strong>{escape(first + rest)}.</strong> The most '
            "probable of the others follow below a line. On critics’ claims, joining claims found hardly more "
            "quotations than a single sentence did.</p>"
        )


def _show_quoted(result: SearchResult, work: Work) -> None:
    quoted = result.quoted[0]
    shown = shorten(result.request.claim_text[quoted.start : quoted.end], _QUOTED_SHOWN)
    place = work.place(quoted.span)

    def leave_gap() -> None:
        claim_text = quoted.mask(result.request.claim_text).replace(MASK, GAP)
        visit().update({"find_claim": claim_text, "find_more": ""})
        ask()

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="find_own_words"):
        st.html(
            f'<p class="relic-quiet">Your claim quotes {quoted.words} words of the work itself '
            f"({escape(place.chapter)}, paragraph {place.paragraph}): <em>{escape(shown)}</em></p>"
        )
        if not result.claim.masked:
            st.button(
                "Search with a gap in their place",
                key="find_mask",
                on_click=leave_gap,
                width="content",
                help="The search then looks for the passage that your paragraph is about, not for its own words.",
            )


def _marked(words: Sequence[str]) -> str:
    """List words in quotation marks.

    >>> _marked(["Gatsby"]), _marked(["Gatsby", "Daisy"])
    ('“Gatsby”', '“Gatsby” or “Daisy”')
    """
    return listed([f"“{word}”" for word in words], last="or")
