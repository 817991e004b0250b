"""Which works the passages come from: the works by year, each with links to its cards. The strip of a whole library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from relic_core.domain import Work
from relic_ui.find.cards import Placed
from relic_ui.naming import some_of
from relic_ui.style import hue

_NAMED = 4


def show_library_strip(placed: Sequence[Placed]) -> None:
    """Name the works in the order of their first publication, those of unknown year last; the list is opened."""
    works: dict[str, Work] = {}
    found: dict[str, list[str]] = {}
    for each in placed:
        works[each.card.work.id] = each.card.work
        found.setdefault(each.card.work.id, []).append(_mark(each))
    if not works:
        return
    ordered = sorted(works.values(), key=lambda work: (work.year is None, work.year or 0, work.title))
    rows = "".join(_row(work, found[work.id]) for work in ordered)
    st.html(
        '<nav class="relic-from-works" aria-label="Which works the passages come from"><details><summary>From '
        f'{escape(some_of([work.title for work in ordered], _NAMED))}</summary><ol class="relic-from">{rows}</ol>'
        "</details></nav>"
    )


def _row(work: Work, marks: Sequence[str]) -> str:
    year = str(work.year) if work.year else "<span class='relic-sr'>Year unknown</span>–"
    return (
        f'<li><span class="relic-from-year">{year}</span><span class="relic-from-work"><cite>{escape(work.title)}'
        f'</cite><span class="relic-from-marks">{"".join(marks)}</span></span></li>'
    )


def _mark(placed: Placed) -> str:
    card, short = placed.card, f"{placed.by}, {placed.number}"
    where = f"{short}: {card.work.title}, {card.place.label.replace(' · ', ', ')}"
    return (
        f'<a href="#{placed.anchor}" title="{escape(where)}" aria-label="{escape(where)}" '
        f'target="_self" style="{hue(placed.retriever)}">{escape(short)}</a>'
    )
