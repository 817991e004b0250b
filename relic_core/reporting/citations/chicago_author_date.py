"""Chicago, eighteenth edition, author-date: the entry in the list of references, and the citation in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.citations import chicago
from relic_core.reporting.citations.locators import CHICAGO, in_words
from relic_core.reporting.citations.text_runs import Line

if TYPE_CHECKING:
    from relic_core.reporting.citations.edition import Parts
    from relic_core.reporting.citations.locators import Locator
    from relic_core.reporting.citations.text_runs import TextRun


def entry(parts: Parts) -> tuple[TextRun, ...]:
    """Write the entry in the list of references."""
    line = Line()
    years = _years(parts, "()")
    if parts.authors:
        line.add(chicago.listed(parts.authors)).stop().add(years).stop()
        chicago.add_title(line, parts)
    else:
        chicago.add_title(line, parts)
        line.add(years).stop()
    chicago.add_contributors(line, parts)
    pieces = (chicago.publication(parts), chicago.held_besides(parts), chicago.accessed(parts), parts.url)
    for piece in filter(None, pieces):
        line.add(piece[0].upper() + piece[1:] if piece != parts.url else piece).stop()
    return line.runs


def in_text(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the citation in the text, in brackets."""
    line = Line().add("(")
    comma = "" if parts.year or parts.first_year else ","
    if parts.authors:
        line.add(chicago.families(parts.authors), before="").mark(comma)
    else:
        line.title(parts.short_title, comma, quoted=parts.within, before="")
    line.add(_years(parts, "[]"))
    if locator:
        line.mark(",").add(in_words(locator, CHICAGO))
    return line.add(")", before="").runs


def _years(parts: Parts, brackets: str) -> str:
    """Give the year of this edition with its letter, behind the year of the first where the two are known."""
    year = parts.year or parts.first_year
    if not year:
        return f"n.d.-{parts.letter}" if parts.letter else "n.d."
    number, era = year.partition(" ")[::2]
    lettered = " ".join(filter(None, (f"{number}{parts.letter}", era)))
    return f"{brackets[0]}{parts.first_year}{brackets[1]} {lettered}" if parts.first_year and parts.year else lettered
