"""Where a passage stands, as a citation says it: chapter and paragraph, lines, act and scene."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from relic_core.domain import Address, KeptPassage, Span, Work
from relic_core.reporting.citations.names import title_capitals
from relic_core.reporting.citations.text_runs import inner_quotes
from relic_core.text.headings import number_value

_HUNDRED = 100
_SAME: dict[Unit, str] = {
    "volume": "vol.", "book": "bk.", "part": "pt.", "canto": "canto", "letter": "letter", "stave": "stave",
    "act": "act", "scene": "sc.", "section": "sec.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """What a style calls the places of a work; `short` leaves out digits that the last number shares with the first."""

    units: Mapping[Unit, str]
    counted: Mapping[Counted, tuple[str, str]]
    dash: str
    short: bool


MLA = Labels(
    units={**_SAME, "chapter": "ch."},
    counted={"paragraph": ("par.", "pars."), "line": ("line", "lines"), "note": ("n.", "nn.")},
    dash="-",
    short=True,
)
CHICAGO = Labels(
    units={**_SAME, "chapter": "chap."},
    counted={"paragraph": ("para.", "paras."), "line": ("line", "lines"), "note": ("n.", "nn.")},
    dash="–",
    short=False,
)


def in_words(locator: Locator, labels: Labels) -> str:
    """Write a locator, from the largest unit to what is counted in the smallest.

    >>> from relic_core.reporting.citations.locators import make_locator
    >>> in_words(make_locator("Volume I, Chapter IV: The Ferry", "paragraph", 5, 6), MLA)
    'vol. 1, ch. 4, pars. 5-6'
    >>> in_words(make_locator("The Pool of Tears", "paragraph", 5, 5), CHICAGO)
    '“The Pool of Tears,” para. 5'
    """
    begin = _above(locator, labels)
    one, several = labels.counted[locator.kind]
    inside = f"{one if locator.first == locator.last else several} {numbers(locator, labels)}"
    written = f"{begin}{' ' if begin.endswith('”') else ', '}{inside}" if begin else inside
    return f"{written}, to {in_words(locator.on, labels)}" if locator.on else written


def numbers(locator: Locator, labels: Labels) -> str:
    """Write the first and the last of what is counted."""
    first, last = locator.first, locator.last
    if first == last:
        return str(first)
    shown = str(last)
    if labels.short and first >= _HUNDRED and first // _HUNDRED == last // _HUNDRED:
        shown = shown[-2:]
    return f"{first}{labels.dash}{shown}"


def _above(locator: Locator, labels: Labels) -> str:
    if locator.before:
        return f"before {labels.units['chapter']} 1"
    if locator.heading:
        return f"“{inner_quotes(locator.heading)},”"
    return ", ".join(f"{labels.units[unit]} {number}" for unit, number in locator.units)


Unit = Literal["volume", "book", "part", "canto", "letter", "stave", "act", "scene", "section", "chapter"]
Counted = Literal["paragraph", "line", "note"]

BEFORE = "Before the first chapter"
THE_TEXT = "The text"
_LARGEST_FIRST: tuple[Unit, ...] = get_args(Unit)
_UNITS: dict[str, Unit] = {**{unit: unit for unit in _LARGEST_FIRST}, "vol": "volume"}

NO_PAGES = (
    "This text has no page numbers, so the citation gives chapter and paragraph as they are counted in this edition; "
    "for numbered verse the lines, for plays act and scene. Where you cite a printed edition, put its pages in their "
    "place."
)
"""What a page says beside a citation."""

_NUMBERED = re.compile(
    r"(?:(?P<word>volume|vol|book|part|canto|letter|stave|act|scene|chapter|section)\b\.?\s+(?:the\s+)?"
    r"(?P<number>[ivxlcdm]+|\d+|[a-z]+(?:-[a-z]+)?)"
    r"|(?P<first>first|second|third|fourth|fifth|sixth)\s+(?P<of>volume|book|part|act|canto))(?=$|[\s.,:;)\]—–-])",
    re.IGNORECASE,
)
_CHAPTER = re.compile(r"(?:^|, )Chapter (?P<number>[^:,]{1,40})(?:$|: )")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """Where a passage stands.

    - `units`: from the largest: ("volume", 2), ("chapter", 3).
    - `heading`: the chapter's own words where it has no number: "The Pool of Tears"; empty otherwise.
    - `before`: it stands before the first chapter.
    - `on`: where it ends, if that is in another chapter.
    """

    units: tuple[tuple[Unit, int], ...] = ()
    heading: str = ""
    before: bool = False
    kind: Counted = "paragraph"
    first: int = 1
    last: int = 1
    on: Locator | None = None

    def number(self, unit: Unit) -> int | None:
        """Give the number of a unit; None where it has none."""
        return dict(self.units).get(unit)


def locate(work: Work, span: Span) -> Locator:
    """Say where a span of a work stands."""
    first, last = work.sentences[span.start], work.sentences[span.end - 1]
    kind, begins = _count(work, first.paragraph, first.start)
    end_kind, ends = _count(work, last.paragraph, last.end)
    if first.chapter == last.chapter:
        return make_locator(work.chapter_name(first.chapter), kind, begins, ends if end_kind == kind else begins)
    on = make_locator(work.chapter_name(last.chapter), end_kind, ends, ends)
    return make_locator(work.chapter_name(first.chapter), kind, begins, begins, on=on)


def locate_kept(kept: KeptPassage) -> Locator:
    """Say where a kept passage stands, from what was kept with it; its work may be gone."""
    paragraphs = kept.quotation.count("\n\n")
    if kept.line is not None:
        return make_locator(kept.chapter, "line", kept.line, kept.line + kept.quotation.count("\n") - paragraphs)
    kind: Counted = "note" if Address.parse(kept.at).note else "paragraph"
    return make_locator(kept.chapter, kind, kept.paragraph, kept.paragraph + paragraphs)


def make_locator(chapter: str, kind: Counted, first: int, last: int, *, on: Locator | None = None) -> Locator:
    """Read what is printed over a chapter, and put what is counted inside it with it.

    >>> make_locator("Volume II, Chapter IV: The Ferry", "paragraph", 5, 5).units
    (('volume', 2), ('chapter', 4))
    >>> make_locator("ACT I, SCENE II. A Room of State", "line", 3, 4).units
    (('act', 1), ('scene', 2))
    >>> make_locator("The Pool of Tears", "paragraph", 1, 1).heading
    'The Pool of Tears'
    """
    counted = _CHAPTER.search(chapter)
    number = number_value(counted["number"].strip(" .")) if counted else None
    above = chapter[: counted.start()] if counted and number is not None else chapter
    units: dict[Unit, int] = {}
    for found in _NUMBERED.finditer(above):
        unit = _UNITS[(found["word"] or found["of"]).lower()]
        value = number_value(found["number"] or found["first"])
        starts = not found.start() or above[: found.start()].endswith(", ")
        if value is not None and (starts or unit in {"act", "scene"}):
            units.setdefault(unit, value)
    if number is not None:
        units.setdefault("chapter", number)
    before = chapter == BEFORE
    heading = "" if units or before or chapter == THE_TEXT else chapter
    return Locator(
        units=tuple((unit, units[unit]) for unit in _LARGEST_FIRST if unit in units),
        heading=_shorten(heading),
        before=before,
        kind=kind,
        first=first,
        last=max(first, last),
        on=on,
    )


def _count(work: Work, paragraph_index: int, offset: int) -> tuple[Counted, int]:
    paragraph = work.paragraphs[paragraph_index]
    if paragraph.kind == "note":
        return "note", paragraph.number
    if paragraph.line is not None:
        return "line", paragraph.line + work.text.count("\n", paragraph.start, offset)
    return "paragraph", paragraph.number


def _shorten(heading: str) -> str:
    """Give the words of a heading up to where its subtitle begins, of a long one the first; no capitals of print.

    >>> _shorten("THE POOL OF TEARS: A CHAPTER")
    'The Pool of Tears'
    """
    main = title_capitals(re.split(r"[:;] ", heading, maxsplit=1)[0])
    return main if len(main) <= _LONGEST_NAME else f"{main[:_LONGEST_NAME].rsplit(' ', 1)[0]} …"
