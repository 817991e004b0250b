"""The strip: where in the narrative the passages stand, on one line. A dot is a link to its card."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from operator import attrgetter

import streamlit as st

from relic_core.domain import Work
from relic_ui.find.cards import Placed
from relic_ui.style import hue

_STEP = 26
"""Pixels from one dot to the next where they crowd."""
_FEW, _MOST = 24, 80
"""Chapters up to which a narrow strip is divided into them, and any."""
_WIDTHS = {"wide": (640, 2 * _STEP), "narrow": (282, _STEP)}
"""The narrowest strips, in pixels, and how far from its place a dot may be on them."""


def show_strip(placed: Sequence[Placed], work: Work) -> None:
    """Draw the passages along the length of the work: a tick for each, and a dot where there is room near its place.

    Those with small numbers come before others, and one that another column shows too has its dot there.
    """
    if not placed:
        return
    ordered = sorted((each for each in placed if not each.again), key=lambda each: each.number)
    lefts: dict[str, dict[str, str]] = {each.anchor: {} for each in ordered}
    for name, (width, most) in _WIDTHS.items():
        room: dict[str, float] = {}
        asides: dict[str, float] = {}
        for each in ordered:
            wider = room | {each.anchor: each.card.place.fraction}
            moved = asides_of(list(wider.values()), width)
            if max(map(abs, moved)) <= most:
                room, asides = wider, dict(zip(wider, moved, strict=True))
        for anchor, aside in asides.items():
            lefts[anchor][name] = f"calc({room[anchor]:.2%} + {aside:.0f}px)"
    ticks = "".join(
        f'<i aria-hidden="true" style="{hue(each.retriever)};left:calc({each.card.place.fraction:.2%} + 11px)"></i>'
        for each in ordered
    )
    fine = " relic-fine" * (len(work.chapters) > _FEW)
    links = "".join(_dot(each, lefts[each.anchor]) for each in ordered if lefts[each.anchor])
    st.html(
        '<nav class="relic-strip" aria-label="Where in the work the passages are">'
        f'<a class="relic-read-skip" href="#{placed[0].anchor}" target="_self">Skip to the passages</a>'
        f'<div class="relic-track{fine}">{_chapters(work)}{ticks}{links}</div></nav>'
    )


def _dot(placed: Placed, lefts: Mapping[str, str]) -> str:
    place = placed.card.place
    where = escape(f"{placed.by}, {placed.number}: {place.chapter}, {place.fraction:.0%}")
    style = ";".join([hue(placed.retriever), *(f"--relic-{name}:{left}" for name, left in lefts.items())])
    return (
        f'<a class="relic-dot" href="#{placed.anchor}" title="{where}" aria-label="{where}" target="_self" '
        f'style="{style}">{placed.number}</a>'
    )


def _chapters(work: Work) -> str:
    """Divide the strip into chapters, many of them into parts; each names itself where the mouse rests."""
    borders = [(chapter.start, work.chapter_name(chapter.index)) for chapter in work.chapters]
    if len(borders) > _MOST:
        parts = groupby(work.chapters, key=lambda chapter: chapter.part)
        borders = [(next(chapters).start, part) for part, chapters in parts]
    last = max(1, len(work.sentences) - 1)
    return "".join(
        f'<span aria-hidden="true" title="{escape(name)}" '
        f'style="left:{bisect_left(work.sentences, start, key=attrgetter("start")) / last:.2%}"></span>'
        for start, name in borders
    )


def asides_of(fractions: Sequence[float], width: int) -> list[float]:
    """Say how many pixels each dot goes aside of where it belongs, so that it covers no other on a strip so wide.

    From left to right, one too near to that before it goes on, and back from the end of the strip.

    >>> asides_of([0.5, 0.1, 0.5, 1.0], 280)
    [0.0, 0.0, 26.0, 0.0]
    """
    order = sorted(range(len(fractions)), key=lambda number: fractions[number])
    places, least = {}, 0.0
    for number in order:
        places[number] = max(least, fractions[number] * width)
        least = places[number] + _STEP
    most = float(width)
    for number in reversed(order):
        places[number] = min(most, places[number])
        most = places[number] - _STEP
    return [places[number] - fraction * width for number, fraction in enumerate(fractions)]
