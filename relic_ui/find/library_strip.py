"""Which works the passages come from: the works by year, each with links to its cards. The strip of a whole library."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from relic_ui.cards import anchor, hue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.services.search import Card, Column

_OPEN_WORKS = 16
"""Works up to which the list stands open: three columns of five cards come from fifteen at most."""


def show_library_strip(columns: Sequence[Column]) -> None:
    """Draw the works in the order of their first publication; those of unknown year come last."""
    works: dict[str, Work] = {}
    found: dict[str, list[str]] = {}
    for column in columns:
        for card in column.cards:
            works[card.work.id] = card.work
            found.setdefault(card.work.id, []).append(_mark(card, column))
    if not works:
        return
    ordered = sorted(works.values(), key=lambda work: (work.year is None, work.year or 0, work.title))
    rows = "".join(_row(work, found[work.id]) for work in ordered)
    many = "one work" if len(works) == 1 else f"{len(works)} works, the oldest first"
    listed = f'<ol class="relic-from">{rows}</ol>'
    if len(works) > _OPEN_WORKS:
        listed = f"<details><summary>Show them</summary>{listed}</details>"
    st.html(
        f'<nav class="relic-from-works" aria-label="Which works the passages come from">'
        f'<p class="relic-quiet">From {many}</p>{listed}</nav>'
    )


def _row(work: Work, marks: Sequence[str]) -> str:
    year = str(work.year) if work.year else "<span class='relic-sr'>Year unknown</span>–"
    return (
        f'<li><span class="relic-from-year">{year}</span><span class="relic-from-work"><cite>{escape(work.title)}'
        f'</cite><span class="relic-from-marks">{"".join(marks)}</span></span></li>'
    )


def _mark(card: Card, column: Column) -> str:
    short = f"{column.label.split(',')[0]} {card.rank}"
    where = f"{short}: {card.work.title}, {card.place.label.replace(' · ', ', ')}"
    return (
        f'<a href="#{anchor(column.retriever, card.rank)}" title="{escape(where)}" aria-label="{escape(where)}" '
        f'target="_self" style="{hue(column.retriever)}">{escape(short)}</a>'
    )
