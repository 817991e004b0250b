"""MLA, ninth edition: the entry in the list of works cited, and the citation in the text.

The order is that of the template of core elements: author, title, first publication, contributors, version, volume,
publisher and year; then the container that holds the text, and its address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from relic_core.reporting.citations.edition import Parts, short_date
from relic_core.reporting.citations.locators import MLA, Locator, in_words, numbers
from relic_core.reporting.citations.names import Name, up_to_two
from relic_core.reporting.citations.text_runs import Line, TextRun

_TWO = 2
_FIRST = re.compile(r"^(?:translated|edited|vol|no)\b")


def entry(parts: Parts) -> tuple[TextRun, ...]:
    """Write the entry in the list of works cited."""
    line = Line().add(_listed(parts.authors)).stop().title(parts.title, ".", quoted=parts.within)
    line.add(parts.first_year).stop()
    publisher = _publisher(parts.publisher) or parts.place
    # A year without a publisher is that of the text where it is held.
    held_year = parts.year if parts.container and not publisher else ""
    book = [
        _by("translated by", parts.translators),
        _by("edited by", parts.editors),
        parts.edition,
        parts.volume and f"vol. {parts.volume}",
        publisher,
        "" if held_year else parts.year,
        "" if parts.container else parts.bare_url,
    ]
    _series(line, parts.collection, book)
    if parts.volumes:
        line.add(f"{parts.volumes} vols.")
    if parts.container:
        number = "" if parts.url or not parts.number else f"no. {parts.number}"
        _series(line, parts.container, [number, held_year, parts.bare_url])
    if parts.accessed and parts.url:
        line.add(f"Accessed {short_date(parts.accessed)}").stop()
    return line.runs


def with_author_again(runs: Sequence[TextRun], authors: Sequence[Name]) -> tuple[TextRun, ...]:
    """Put three hyphens for authors who are those of the entry above."""
    rest = runs[0].text.removeprefix(_listed(authors)).removeprefix(".")
    return (replace(runs[0], text=f"---.{rest}"), *runs[1:])


def in_text(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the citation in the text, in brackets; with the title where several works of one author are cited."""
    titled = parts.titled or not parts.authors
    line = Line().add("(")
    by_number = _by_number(locator) if locator else ""
    mark = "," if locator and not by_number else ""
    if parts.authors:
        line.add(up_to_two([name.in_text for name in parts.authors]), before="").mark("," if titled else mark)
    if titled:
        line.title(parts.short_title, mark, quoted=parts.within, before=" " if parts.authors else "")
    if locator:
        line.add(by_number or in_words(locator, MLA))
    return line.add(")", before="").runs


def _by_number(locator: Locator) -> str:
    """Write act, scene and line, or the division of a poem and its lines, as bare numbers; nothing of other places."""
    if locator.kind != "line" or locator.on:
        return ""
    act, scene = locator.number("act"), locator.number("scene")
    if act and scene:
        return f"{act}.{scene}.{numbers(locator, MLA)}"
    if [unit for unit, _ in locator.units] in (["book"], ["canto"]):
        return f"{locator.units[0][1]}.{numbers(locator, MLA)}"
    return ""


def _series(line: Line, container: str, pieces: Sequence[str]) -> None:
    given = [piece for piece in pieces if piece]
    if container:
        line.title(container)
    elif given:
        given[0] = _FIRST.sub(lambda found: found[0].capitalize(), given[0])
    for at, piece in enumerate(given):
        if at or container:
            line.mark(",")
        line.add(piece)
    if container or given:
        line.stop()


def _by(what: str, people: Sequence[Name]) -> str:
    return f"{what} {up_to_two([_direct(name) for name in people])}" if people else ""


def _listed(people: Sequence[Name]) -> str:
    if not people:
        return ""
    first = people[0].turned
    if len(people) == 1:
        return first
    return f"{first}, and {_direct(people[1])}" if len(people) == _TWO else f"{first}, et al."


def _direct(name: Name) -> str:
    return re.sub(r" (?=[JS]r\.?$)", ", ", name.direct)


def _publisher(name: str) -> str:
    """Shorten the names of presses of universities, and leave away words of business.

    >>> _publisher("Oxford University Press"), _publisher("University of Chicago Press"), _publisher("Harper and Co.")
    ('Oxford UP', 'U of Chicago P', 'Harper')
    """
    shorter = re.sub(r",?\s+(?:and|&)?\s*(?:Company|Co\.|Corporation|Corp\.|Inc\.|Ltd\.|Limited)$", "", name)
    if "University" in shorter and "Press" in shorter:
        shorter = re.sub(r"\bPress\b", "P", re.sub(r"\bUniversity\b", "U", shorter)).replace("U P", "UP")
    return shorter or name
