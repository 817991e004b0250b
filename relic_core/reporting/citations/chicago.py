"""What the two ways of the Chicago Manual of Style, eighteenth edition, share: names, and the facts of publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.citations.edition import long_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.reporting.citations.edition import Parts
    from relic_core.reporting.citations.names import Name
    from relic_core.reporting.citations.text_runs import Line

_TWO, _MOST_LISTED, _LISTED = 2, 6, 3


def listed(people: Sequence[Name]) -> str:
    """List the authors of an entry, the first turned around: up to six, of more the first three."""
    if not people:
        return ""
    names = [people[0].turned, *(name.direct for name in people[1:])]
    if len(names) > _MOST_LISTED:
        return f"{', '.join(names[:_LISTED])}, et al."
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def directly(people: Sequence[Name]) -> str:
    """Name people in the order of speech: up to two, of more the first."""
    names = [name.direct for name in people]
    return f"{names[0]} et al." if len(names) > _TWO else " and ".join(names)


def families(people: Sequence[Name]) -> str:
    """Name people as a citation in the text does, by their families: up to two, of more the first."""
    names = [name.in_text for name in people]
    return f"{names[0]} et al." if len(names) > _TWO else " and ".join(names)


def add_title(line: Line, parts: Parts) -> None:
    """Add the title of an entry."""
    line.title(parts.title, ".", quoted=parts.within)


def add_contributors(line: Line, parts: Parts) -> None:
    """Add the collection that an entry is in, who translated and edited it, which edition and volume it is."""
    translated = f"translated by {directly(parts.translators)}" if parts.translators else ""
    edited = f"edited by {directly(parts.editors)}" if parts.editors else ""
    if parts.within:
        line.add("In").title(parts.collection)
        for piece in filter(None, (edited, translated)):
            line.mark(",").add(piece)
        line.stop()
    else:
        for piece in filter(None, (translated, edited)):
            line.add(piece[0].upper() + piece[1:]).stop()
    for piece in filter(None, (parts.edition, volume_of(parts))):
        line.add(piece[0].upper() + piece[1:]).stop()


def volume_of(parts: Parts) -> str:
    """Say which volume of several is cited, or how many there are."""
    if parts.volume:
        return f"vol. {parts.volume}"
    return f"{parts.volumes} vols." if parts.volumes else ""


def publication(parts: Parts) -> str:
    """Give place and publisher; where neither is known, what holds the text."""
    published = ": ".join(filter(None, (parts.place, parts.publisher)))
    return published or held(parts)


def held(parts: Parts) -> str:
    """Name what holds the text, with the number where there is no address."""
    number = "" if parts.url or not parts.number else f", no. {parts.number}"
    return f"{parts.container}{number}" if parts.container else ""


def held_besides(parts: Parts) -> str:
    """Name what holds the text where the publisher has been named in its place."""
    return held(parts) if parts.place or parts.publisher else ""


def accessed(parts: Parts) -> str:
    """Say when the address was visited, where nothing else dates the text."""
    return f"accessed {long_date(parts.accessed)}" if parts.accessed and parts.url and not parts.year else ""
