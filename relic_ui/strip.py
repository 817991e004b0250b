"""The strip: where in the narrative each retriever's hits fall. A dot is a link to its card."""

from __future__ import annotations

import math
import re
from html import escape
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from relic_ui.cards import anchor, hue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.services.search import Card, Column

_NARROWEST, _DOT = 282, 24
"""Widths in pixels of the narrowest strip and of a dot; on a wider strip dots stand further apart, never nearer."""
_STEP = _DOT + 2
_LANES, _LANE_REM = 2, 1.75
"""Every row has as many lanes from the start, so that nothing moves when what is waited for answers."""
_AXIS_LABELS = 8
_NUMERAL = re.compile("[IVXLC]+")
_LAST_LABEL = 0.92
"""Where a label would run over the end."""


def show_strip(columns: Sequence[Column], work: Work) -> None:
    """Draw one row per retriever over the length of the work, and the chapters below.

    One without hits has no row; one that is waited for has an empty one. All are equally high, so that nothing moves
    when it answers.
    """
    if not any(column.cards for column in columns):
        return
    rows = "".join(_row(column) for column in columns if column.cards or column.waiting)
    st.html(
        '<nav aria-label="Where in the work the passages stand"><div class="relic-strip">'
        f'{rows}<span class="relic-strip-name relic-strip-axis-name">Begins at</span>'
        f'<div class="relic-axis" aria-hidden="true">{_axis(work)}</div></div></nav>'
    )


def _row(column: Column) -> str:
    places = places_of([card.place.fraction for card in column.cards])
    dots = "".join(_dot(card, column, lane, aside) for card, (lane, aside) in zip(column.cards, places, strict=True))
    return (
        f'<span class="relic-strip-name">{escape(column.label)}</span>'
        f'<div class="relic-track" style="{hue(column.retriever)};height:{_LANES * _LANE_REM}rem">{dots}</div>'
    )


def _dot(card: Card, column: Column, lane: int, aside: int) -> str:
    where = escape(f"{column.label}, rank {card.rank}: {card.place.chapter}, {card.place.fraction:.0%}")
    left = f"{card.place.fraction:.2%}"
    if aside:
        left = f"calc({left} {'-' if aside < 0 else '+'} {abs(aside) * _STEP}px)"
    return (
        f'<a class="relic-dot" href="#{anchor(column.retriever, card.rank)}" title="{where}" aria-label="{where}" '
        f'target="_self" style="left:{left};top:calc({lane * _LANE_REM}rem + 2px)">{card.rank}</a>'
    )


def places_of(fractions: Sequence[float]) -> list[tuple[int, int]]:
    """Give each dot a lane, and steps aside of where it belongs, at which it covers no other however wide the strip.

    From left to right dots take the lanes by turns; one too near to that before it in its lane goes a step on, and back
    from the end of the strip.

    >>> places_of([0.10, 0.12, 0.50])
    [(0, 0), (1, 0), (0, 0)]
    >>> places_of([0.50, 0.50, 0.50, 0.50])
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    order = sorted(range(len(fractions)), key=lambda number: fractions[number])
    found: dict[int, tuple[int, int]] = {}
    for lane in range(_LANES):
        own = order[lane::_LANES]
        for number, aside in zip(own, _asides([fractions[number] for number in own]), strict=True):
            found[number] = lane, aside
    return [found[number] for number in range(len(fractions))]


def _asides(fractions: Sequence[float]) -> list[int]:
    """Spread the dots of one lane, from left to right, by whole steps."""
    asides = [0] * len(fractions)
    for at in range(1, len(fractions)):
        asides[at] = max(0, asides[at - 1] + _needed(fractions[at - 1], fractions[at]))
    for at in reversed(range(len(fractions))):
        asides[at] = min(asides[at], math.floor((1 - fractions[at]) * _NARROWEST / _STEP))
        if at + 1 < len(fractions):
            asides[at] = min(asides[at], asides[at + 1] - _needed(fractions[at], fractions[at + 1]))
    return asides


def _needed(before: float, after: float) -> int:
    """Say how many steps more than the dot before it a dot has to go aside; negative where it may go back."""
    return math.ceil((_DOT - (after - before) * _NARROWEST) / _STEP)


def _axis(work: Work) -> str:
    """Label the chapters below a strip that counts sentences."""
    begins: dict[int, int] = {}
    for sentence in work.sentences:
        begins.setdefault(sentence.chapter, sentence.index)
    last = max(1, len(work.sentences) - 1)
    return axis_html([(work.chapters[chapter], first / last) for chapter, first in begins.items()])


class Named(Protocol):
    """What a chapter has printed over it."""

    @property
    def number(self) -> str:
        """Its number."""

    @property
    def part(self) -> str:
        """The part it stands in."""


def axis_html(chapters: Sequence[tuple[Named, float]]) -> str:
    """Label up to eight places where a chapter begins, or a part where the work has parts.

    - `chapters`: the chapters in order, each with the share of the work that stands before it.
    """
    parts: dict[str, float] = {}
    for chapter, begins in chapters:
        if chapter.part:
            parts.setdefault(chapter.part, begins)
    if len(parts) > 1:  # chapters are counted anew in each part, so their numbers alone would mislead
        named = [(part_name(part), begins) for part, begins in parts.items()]
    else:
        numbered = [(chapter.number, begins) for chapter, begins in chapters if chapter.number]
        named = numbered or [(str(place), begins) for place, (_, begins) in enumerate(chapters, start=1)]
    step = max(1, -(-len(named) // _AXIS_LABELS))
    shown = [(name, begins) for name, begins in named[::step] if begins < _LAST_LABEL]
    return "".join(f'<span style="left:{begins:.2%}">{escape(name)}</span>' for name, begins in shown)


def part_name(part: str) -> str:
    """Shorten the name of a part to what stands before the colon, in small letters; numerals stay as they are.

    >>> part_name("BOOK VIII: SUNSET AND SUNRISE"), part_name("Part the First")
    ('Book VIII', 'Part The First')
    """
    words = part.split(":", maxsplit=1)[0].split()
    return " ".join(word.upper() if _NUMERAL.fullmatch(word) else word.title() for word in words)
