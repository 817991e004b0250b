"""The strip: where in the narrative the passages stand, before the ridge of how well each stretch answers.

A dot is a link to its card and stands where its passage stands; where two would meet, one stands above the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from html import escape
from itertools import groupby
from operator import attrgetter

import streamlit as st

from relic_core.domain import Work
from relic_ui.find.cards import Placed
from relic_ui.naming import number_of, shorten
from relic_ui.style import hue

DOT = 25
"""Pixels from the middle of one dot to that of the next, beside or above it."""
_FEW, _MOST = 24, 80
"""Chapters up to which a narrow strip is divided into them, and any."""
_WIDTHS = {"wide": (600, 2), "narrow": (264, 2)}
"""The narrowest strips, in pixels, and how many dots stand above each other on them at most."""
_LETTER = 6.5
"""Pixels that a letter of a chapter's name takes, about."""
_NAMED = 24
"""Letters of a chapter's name that are shown."""


def show_strip(placed: Sequence[Placed], work: Work, ridge: Sequence[float]) -> None:
    """Draw the passages along the length of the work: a tick for each, and a dot where there is room above its place.

    Those with small numbers come before others, and one that another column shows too has its dot there.
    """
    if not placed:
        return
    ordered = sorted((each for each in placed if not each.again), key=lambda each: each.number)
    fractions = [each.card.place.fraction for each in ordered]
    levels = {name: stacked(fractions, width, most) for name, (width, most) in _WIDTHS.items()}
    ticks = "".join(
        f'<i aria-hidden="true" style="{hue(each.retriever)};left:{each.card.place.fraction:.2%}"></i>'
        for each in ordered
    )
    links = ""
    for at, each in enumerate(ordered):
        rows = {name: level[at] for name, level in levels.items()}
        links += _dot(each, {name: row for name, row in rows.items() if row is not None})
    deepest = ";".join(
        f"--relic-{name}:{1 + max((row for row in level if row is not None), default=0)}"
        for name, level in levels.items()
    )
    fine = " relic-fine" * (len(work.chapters) > _FEW)
    borders = _borders(work)
    st.html(
        '<nav class="relic-strip" aria-label="Where in the work the passages are">'
        f'<a class="relic-read-skip" href="#{placed[0].anchor}" target="_self">Skip to the passages</a>'
        f'<div class="relic-track{fine}" style="{deepest}">{_ridge(ridge)}{_chapters(borders)}{ticks}{links}</div>'
        f"{_axis(borders)}{_legend(placed, ridge)}</nav>"
    )


def _dot(placed: Placed, rows: dict[str, int]) -> str:
    if not rows:
        return ""
    place = placed.card.place
    where = escape(f"{placed.by}, {placed.number}: {place.chapter}, {place.fraction:.0%}")
    style = ";".join(
        [hue(placed.retriever), f"left:{place.fraction:.2%}", *(f"--relic-{name}:{row}" for name, row in rows.items())]
    )
    return (
        f'<a class="relic-dot" href="#{placed.anchor}" title="{where}" aria-label="{where}" target="_self" '
        f'style="{style}">{placed.number}</a>'
    )


def stacked(fractions: Sequence[float], width: int, most: int) -> list[int | None]:
    """Say how high each dot stands on a strip so wide, from 0, so that none covers another; None: there is no room.

    >>> stacked([0.5, 0.1, 0.52, 0.51], 280, 2)
    [0, 0, 1, None]
    """
    rows: list[list[float]] = [[] for _ in range(most)]
    found: list[int | None] = []
    for fraction in fractions:
        free = (at for at, row in enumerate(rows) if all(abs(fraction - other) * width >= DOT for other in row))
        level = next(free, None)
        if level is not None:
            rows[level].append(fraction)
        found.append(level)
    return found


def _ridge(heights: Sequence[float]) -> str:
    """Draw the heights as one outline, as wide as the strip: Streamlit takes SVG out of a page's HTML."""
    if not heights:
        return ""
    along = [(100 * (at + 0.5) / len(heights), height) for at, height in enumerate(heights)]
    outline = [(0.0, 0.0), (0.0, heights[0]), *along, (100.0, heights[-1]), (100.0, 0.0)]
    points = ",".join(f"{left:g}% {100 * (1 - height):.0f}%" for left, height in outline)
    return f'<div class="relic-ridge" aria-hidden="true" style="clip-path:polygon({points})"></div>'


def _borders(work: Work) -> list[tuple[float, str]]:
    """List where chapters begin, as a share of the work, with their names; of many chapters where parts do."""
    starts = [(chapter.start, work.chapter_name(chapter.index)) for chapter in work.chapters]
    if len(starts) > _MOST:
        parts = groupby(work.chapters, key=lambda chapter: chapter.part)
        starts = [(next(chapters).start, part) for part, chapters in parts]
    last = max(1, len(work.sentences) - 1)
    return [(bisect_left(work.sentences, start, key=attrgetter("start")) / last, name) for start, name in starts]


def _chapters(borders: Sequence[tuple[float, str]]) -> str:
    """Divide the strip; each part names itself where the mouse rests."""
    return "".join(
        f'<span aria-hidden="true" title="{escape(name)}" style="left:{at:.2%}"></span>' for at, name in borders
    )


def _axis(borders: Sequence[tuple[float, str]]) -> str:
    """Write as many names of chapters below the strip as fit side by side."""
    shown: dict[int, list[str]] = {}
    labels = [shorten(number_of(chapter), _NAMED) for _, chapter in borders]
    for name, (width, _) in _WIDTHS.items():
        free = 0.0
        for at, ((share, _), label) in enumerate(zip(borders, labels, strict=True)):
            start, wide = share * width, _LETTER * len(label) + 8
            if label and start >= free and start + wide <= width + DOT:
                shown.setdefault(at, []).append(name)
                free = start + wide
    names = "".join(
        f'<span class="{" ".join(f"relic-{name}" for name in names)}" style="left:{borders[at][0]:.2%}">'
        f"{escape(labels[at])}</span>"
        for at, names in sorted(shown.items())
    )
    return f'<div class="relic-strip-names" aria-hidden="true">{names}</div>' if names else ""


def _legend(placed: Sequence[Placed], ridge: Sequence[float]) -> str:
    """Say what the colours are."""
    ways = {each.retriever: each.way for each in placed}
    colours = "".join(
        f'<span class="relic-by" style="{hue(retriever)}">{escape(way)}</span>' for retriever, way in ways.items()
    )
    if not ridge:
        return f'<p class="relic-legend">{colours}</p>' if len(ways) > 1 else ""
    return f'<p class="relic-legend">{colours}<span class="relic-shade">Likely places</span></p>'
