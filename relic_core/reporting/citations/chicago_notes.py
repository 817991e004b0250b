"""Chicago, eighteenth edition, notes and bibliography: the full note, the short one, and the entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.citations import chicago
from relic_core.reporting.citations.locators import CHICAGO, in_words
from relic_core.reporting.citations.text_runs import Line

if TYPE_CHECKING:
    from relic_core.reporting.citations.edition import Parts
    from relic_core.reporting.citations.locators import Locator
    from relic_core.reporting.citations.text_runs import TextRun


def full_note(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the note of a first mention."""
    line = Line()
    if parts.authors:
        line.add(chicago.directly(parts.authors)).mark(",")
    if parts.within:
        line.title(parts.title, ",", quoted=True).add("in").title(parts.collection)
    else:
        line.title(parts.title)
    pieces = [
        f"ed. {chicago.directly(parts.editors)}" if parts.editors else "",
        f"trans. {chicago.directly(parts.translators)}" if parts.translators else "",
        parts.edition,
        chicago.volume_of(parts) if parts.volume or not (locator and locator.number("volume")) else "",
    ]
    for piece in filter(None, pieces):
        line.mark(",").add(piece)
    line.add(f"({'; '.join(filter(None, (parts.first_year, _published(parts))))})")
    if locator:
        line.mark(",").add(in_words(locator, CHICAGO))
    for piece in filter(None, (chicago.held_besides(parts), chicago.accessed(parts), parts.url)):
        line.mark(",").add(piece)
    return line.stop().runs


def short_note(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the note of a later mention."""
    line = Line()
    if parts.authors:
        line.add(chicago.families(parts.authors)).mark(",")
    line.title(parts.short_title, "," if locator else ".", quoted=parts.within)
    if locator:
        line.add(in_words(locator, CHICAGO)).stop()
    return line.runs


def entry(parts: Parts) -> tuple[TextRun, ...]:
    """Write the entry in the bibliography."""
    line = Line().add(chicago.listed(parts.authors)).stop()
    chicago.add_title(line, parts)
    chicago.add_contributors(line, parts)
    line.add(parts.first_year).stop()
    line.add(_published(parts)).stop()
    for piece in filter(None, (chicago.held_besides(parts), chicago.accessed(parts), parts.url)):
        line.add(piece[0].upper() + piece[1:] if piece != parts.url else piece).stop()
    return line.runs


def _published(parts: Parts) -> str:
    """Give publisher and year, and say so where no year is known at all."""
    year = parts.year or ("" if parts.first_year else "n.d.")
    return ", ".join(filter(None, (chicago.publication(parts), year)))
