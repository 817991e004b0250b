"""The strip: where in the narrative each retriever's hits fall. A dot is a link to its card."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from relic_ui.cards import anchor, hue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.services.answers import Card, Column

_DOT = 0.085
"""Width of a dot as a share of the narrowest strip (24 of about 290 px): closer dots go one lane down."""
_LANE_REM = 1.75
_AXIS_LABELS = 8
_NUMERAL = re.compile("[IVXLC]+")
_LAST_LABEL = 0.92
"""Where a label would run over the end."""


def show_strip(columns: Sequence[Column], work: Work) -> None:
    """Draw one row per retriever over the length of the work, and the chapters below.

    One without hits has no row; one that is waited for has an empty one, so that nothing moves when it answers.
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
    lanes = lanes_of([card.place.fraction for card in column.cards])
    dots = "".join(_dot(card, column, lane) for card, lane in zip(column.cards, lanes, strict=True))
    height = (max(lanes, default=1) + 1) * _LANE_REM  # most have two: what is waited for moves nothing as a rule
    return (
        f'<span class="relic-strip-name">{escape(column.label)}</span>'
        f'<div class="relic-track" style="{hue(column.retriever)};height:{height}rem">{dots}</div>'
    )


def _dot(card: Card, column: Column, lane: int) -> str:
    where = escape(f"{column.label}, rank {card.rank}: {card.place.chapter}, {card.place.fraction:.0%}")
    return (
        f'<a class="relic-dot" href="#{anchor(column.retriever, card.rank)}" title="{where}" aria-label="{where}" '
        f'target="_self" style="left:{card.place.fraction:.2%};top:calc({lane * _LANE_REM}rem + 2px)">{card.rank}</a>'
    )


def lanes_of(fractions: Sequence[float]) -> list[int]:
    """Give each dot the first lane in which it covers no other.

    Examples
    --------
    >>> lanes_of([0.10, 0.12, 0.50])
    [0, 1, 0]
    """
    placed: list[list[float]] = []
    lanes = []
    for fraction in fractions:
        free = (n for n, others in enumerate(placed) if all(abs(fraction - other) >= _DOT for other in others))
        lane = next(free, len(placed))
        if lane == len(placed):
            placed.append([])
        placed[lane].append(fraction)
        lanes.append(lane)
    return lanes


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

    Parameters
    ----------
    chapters : sequence of (Named, float)
        The chapters in order, each with the share of the work that stands before it.
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

    Examples
    --------
    >>> part_name("BOOK VIII: SUNSET AND SUNRISE"), part_name("Part the First")
    ('Book VIII', 'Part The First')
    """
    words = part.split(":", maxsplit=1)[0].split()
    return " ".join(word.upper() if _NUMERAL.fullmatch(word) else word.title() for word in words)
