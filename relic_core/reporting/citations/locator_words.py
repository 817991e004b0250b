"""A locator in the words of a style: "ch. 3, par. 5", "chap. 3, para. 5"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.reporting.citations.runs import inner_quotes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.reporting.citations.locators import Counted, Locator, Unit

_HUNDRED = 100
_SAME: dict[Unit, str] = {
    "volume": "vol.", "book": "bk.", "part": "pt.", "canto": "canto", "letter": "letter", "stave": "stave",
    "act": "act", "scene": "sc.", "section": "sec.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """What a style calls the places of a work.

    - `dash`: between the first and the last.
    - `short`: leave out the digits that the last number shares with the first.
    """

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
