"""How often and where in a work a word stands: a strip for each work, and counts by chapter or by work."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from html import escape
from itertools import groupby

import streamlit as st

from relic_core.services.concordance import ChapterCount, ConcordanceAnswer, ConcordanceRequest, WorkCount
from relic_ui import links

_MOST_LINES = 300
_AXIS_LABELS = 8
_NUMERAL = re.compile("[IVXLC]+")
_LAST_LABEL = 0.92
"""Where a label would run over the end."""
_CELL = 4
_LEVELS = 8
_MOST_TINTED = 60
"""Chapters from which on their borders would be all that a strip shows."""


def show_counts(answer: ConcordanceAnswer) -> None:
    """Draw the strips, and the counts to open."""
    request = answer.request
    striped = [work for work in answer.works if work.chapters]
    more = len(answer.works) - len(striped)
    if request.work_id:
        (work,) = striped
        st.html(f"{_strip(work, axis=True)}{_chapters(work)}")
        return
    strips = "".join(_named_strip(work, request) for work in striped)
    rest = f'<p class="relic-quiet">and {more} more, in the list below</p>' if more else ""
    st.html(f'<ul class="relic-kwic-strips">{strips}</ul>{rest}{_works(answer.works, request)}')


def _strip(work: WorkCount, *, axis: bool) -> str:
    """Draw a thin line for each place over the length of the work; a click leads into the chapter."""
    ends = [chapter.begins for chapter in work.chapters[1:]] + [1.0]
    tinted = len(work.chapters) <= _MOST_TINTED
    spans = "".join(
        _segment(work, chapter, end, tinted=tinted and index % 2 == 1)
        for index, (chapter, end) in enumerate(zip(work.chapters, ends, strict=True))
    )
    below = f'<div class="relic-axis relic-kwic-axis">{_axis(work.chapters)}</div>' if axis else ""
    return (
        f'<p class="relic-sr">{escape(_in_words(work))}</p>'
        f'<div class="relic-kwic-strip" aria-hidden="true"><div class="relic-kwic-track">{spans}'
        f'<div class="relic-kwic-marks" style="background-image:{_lines(work.density)}"></div></div>{below}</div>'
    )


def _lines(density: Sequence[int]) -> str:
    """Draw a line for each thousandth of a work that holds a place, as one background: Streamlit lets no SVG through.

    Where lines would run together, each is a two-hundred-and-fiftieth, and the more places it holds the darker.

    >>> _lines([1, 2] + [0] * 998)
    'linear-gradient(90deg,color-mix(in srgb,currentColor 80%,#0000) 0% calc(0.2% + 1px),#0000 0.2% 100%)'
    """
    if sum(map(bool, density)) > _MOST_LINES:
        counts = [sum(density[at : at + _CELL]) for at in range(0, len(density), _CELL)]
        most = max(counts)
        levels, line = [-(-_LEVELS * cell // most) for cell in counts], ""
    else:
        levels, line = [_LEVELS if held else 0 for held in density], " + 1px"
    stops, at, share = [], 0, 100 / len(levels)
    for level, same in groupby(levels):
        begin, at = at, at + len(list(same))
        end = f"{at * share:g}%"  # a line reaches one pixel into what follows it: where stops overlap the first holds
        ink = f"color-mix(in srgb,currentColor {10 * level}%,#0000)" if level else "#0000"
        stops.append(f"{ink} {begin * share:g}% {f'calc({end}{line})' if level and line else end}")
    return f"linear-gradient(90deg,{','.join(stops)})"


def _segment(work: WorkCount, chapter: ChapterCount, end: float, *, tinted: bool) -> str:
    style = f"left:{chapter.begins:.3%};width:{end - chapter.begins:.3%}"
    css = "relic-kwic-chapter relic-kwic-tinted" if tinted else "relic-kwic-chapter"
    named = escape(f"{chapter.name}: {chapter.count:,}")
    if chapter.at is None:
        return f'<span class="{css}" style="{style}" title="{named}"></span>'
    href = escape(links.address("read", work=work.work.id, at=str(chapter.at)))
    return (
        f'<a class="relic-link {css}" style="{style}" title="{named}" href="{href}" target="_self" tabindex="-1"></a>'
    )


def _in_words(work: WorkCount) -> str:
    held = [chapter for chapter in work.chapters if chapter.count]
    most = max(held, key=lambda chapter: chapter.count)
    if len(work.chapters) == 1:
        return f"{work.work.title} has one chapter."
    if len(held) == 1:
        return f"Of the {len(work.chapters)} chapters of {work.work.title} it occurs in {most.name} alone."
    where = f"{len(held)} of the {len(work.chapters)} chapters of {work.work.title}"
    if len({chapter.count for chapter in held}) == 1:
        return f"It occurs in {where}, in each {'once' if most.count == 1 else f'{most.count:,} times'}."
    return f"It occurs in {where}, most often in {most.name} ({most.count:,})."


def _named_strip(work: WorkCount, request: ConcordanceRequest) -> str:
    return (
        f'<li><span class="relic-kwic-name">{_in(work, request)}</span>{_strip(work, axis=False)}'
        f'<span class="relic-kwic-count">{work.count:,}</span></li>'
    )


def _in(work: WorkCount, request: ConcordanceRequest) -> str:
    """Link to the same query in one work."""
    parameters = dataclasses.replace(request, work_id=work.work.id, page=1).parameters
    return links.link("concordance", work.work.title, **parameters)


def _chapters(work: WorkCount) -> str:
    if len(work.chapters) == 1:
        return ""
    rows = []
    most = max(chapter.rate for chapter in work.chapters)
    for chapter in work.chapters:
        name = escape(chapter.name)
        if chapter.at is not None:
            name = links.link("read", chapter.name, work=work.work.id, at=str(chapter.at))
        rows.append(_counted(name, chapter.count, chapter.rate, most))
    return _opened("Counts by chapter", "Chapter (leads to the first place)", rows)


def _works(works: Sequence[WorkCount], request: ConcordanceRequest) -> str:
    most = max(work.rate for work in works)
    rows = [_counted(_in(work, request), work.count, work.rate, most) for work in works]
    return _opened("Counts by work", "Work", rows)


def _counted(name: str, count: int, rate: float, most: float) -> str:
    bar = f'<i style="width:{rate / most:.1%}"></i>' if count else ""
    return (
        f'<tr><th scope="row">{name}</th><td>{count:,}</td><td>{rate:,.1f}</td>'
        f'<td class="relic-kwic-bar" aria-hidden="true">{bar}</td></tr>'
    )


def _opened(label: str, first: str, rows: Sequence[str]) -> str:
    return (
        f'<details class="relic-kwic-counts"><summary>{label}</summary>'
        f'<div tabindex="0" role="region" aria-label="{label}"><table><thead><tr><th scope="col">{first}</th>'
        '<th scope="col">Times</th><th scope="col">In 10,000 words</th><td></td></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _axis(chapters: Sequence[ChapterCount]) -> str:
    """Label up to eight places where a chapter begins, or a part."""
    parts: dict[str, float] = {}
    for chapter in chapters:
        if chapter.part:
            parts.setdefault(chapter.part, chapter.begins)
    if len(parts) > 1:  # chapters are counted anew in each part, so their numbers alone would mislead
        named = [(_part_name(part), begins) for part, begins in parts.items()]
    else:
        numbered = [(chapter.number, chapter.begins) for chapter in chapters if chapter.number]
        named = numbered or [(str(place), chapter.begins) for place, chapter in enumerate(chapters, start=1)]
    step = max(1, -(-len(named) // _AXIS_LABELS))
    shown = [(name, begins) for name, begins in named[::step] if begins < _LAST_LABEL]
    return "".join(f'<span style="left:{begins:.2%}">{escape(name)}</span>' for name, begins in shown)


def _part_name(part: str) -> str:
    """Shorten the name of a part to what stands before the colon, in small letters; numerals stay as they are.

    >>> _part_name("BOOK VIII: SUNSET AND SUNRISE"), _part_name("Part the First")
    ('Book VIII', 'Part The First')
    """
    words = part.split(":", maxsplit=1)[0].split()
    return " ".join(word.upper() if _NUMERAL.fullmatch(word) else word.title() for word in words)
