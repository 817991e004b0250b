"""Chicago, eighteenth edition: notes and bibliography, and author-date; both share names and facts of publication."""

from __future__ import annotations

from collections.abc import Sequence

from relic_core.reporting.citations.edition import Parts, long_date
from relic_core.reporting.citations.locators import CHICAGO, Locator, in_words
from relic_core.reporting.citations.names import Name, up_to_two
from relic_core.reporting.citations.text_runs import Line, TextRun

_MOST_LISTED, _LISTED = 6, 3


def full_note(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the note of a first mention."""
    line = Line()
    if parts.authors:
        line.add(_direct(parts.authors)).mark(",")
    if parts.within:
        line.title(parts.title, ",", quoted=True).add("in").title(parts.collection)
    else:
        line.title(parts.title)
    pieces = [
        f"ed. {_direct(parts.editors)}" if parts.editors else "",
        f"trans. {_direct(parts.translators)}" if parts.translators else "",
        parts.edition,
        _volume(parts) if parts.volume or not (locator and locator.number("volume")) else "",
    ]
    for piece in filter(None, pieces):
        line.mark(",").add(piece)
    line.add(f"({'; '.join(filter(None, (parts.first_year, _published(parts))))})")
    if locator:
        line.mark(",").add(in_words(locator, CHICAGO))
    for piece in filter(None, (_held_besides(parts), _accessed(parts), parts.url)):
        line.mark(",").add(piece)
    return line.stop().runs


def short_note(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the note of a later mention."""
    line = Line()
    if parts.authors:
        line.add(up_to_two([name.in_text for name in parts.authors])).mark(",")
    line.title(parts.short_title, "," if locator else ".", quoted=parts.within)
    if locator:
        line.add(in_words(locator, CHICAGO)).stop()
    return line.runs


def bibliography_entry(parts: Parts) -> tuple[TextRun, ...]:
    """Write the entry in the bibliography."""
    line = Line().add(_listed(parts.authors)).stop().title(parts.title, ".", quoted=parts.within)
    _add_contributors(line, parts)
    line.add(parts.first_year).stop()
    line.add(_published(parts)).stop()
    return _add_holder(line, parts).runs


def reference_entry(parts: Parts) -> tuple[TextRun, ...]:
    """Write the entry in the list of references, where the year stands behind the authors."""
    line = Line()
    years = _years(parts, "()")
    if parts.authors:
        line.add(_listed(parts.authors)).stop().add(years).stop().title(parts.title, ".", quoted=parts.within)
    else:
        line.title(parts.title, ".", quoted=parts.within).add(years).stop()
    _add_contributors(line, parts)
    line.add(_capital(_publication(parts))).stop()
    return _add_holder(line, parts).runs


def in_text(parts: Parts, locator: Locator | None = None) -> tuple[TextRun, ...]:
    """Write the citation in the text by author and date, in brackets."""
    line = Line().add("(")
    comma = "" if parts.year or parts.first_year else ","
    if parts.authors:
        line.add(up_to_two([name.in_text for name in parts.authors]), before="").mark(comma)
    else:
        line.title(parts.short_title, comma, quoted=parts.within, before="")
    line.add(_years(parts, "[]"))
    if locator:
        line.mark(",").add(in_words(locator, CHICAGO))
    return line.add(")", before="").runs


def _listed(people: Sequence[Name]) -> str:
    names = [name.direct if at else name.turned for at, name in enumerate(people)]
    if len(names) > _MOST_LISTED:
        return f"{', '.join(names[:_LISTED])}, et al."
    return f"{', '.join(names[:-1])}, and {names[-1]}" if len(names) > 1 else "".join(names)


def _direct(people: Sequence[Name]) -> str:
    return up_to_two([name.direct for name in people])


def _capital(piece: str) -> str:
    return piece[:1].upper() + piece[1:]


def _add_contributors(line: Line, parts: Parts) -> None:
    translated = f"translated by {_direct(parts.translators)}" if parts.translators else ""
    edited = f"edited by {_direct(parts.editors)}" if parts.editors else ""
    if parts.within:
        line.add("In").title(parts.collection)
        for piece in filter(None, (edited, translated)):
            line.mark(",").add(piece)
        line.stop()
        translated = edited = ""
    for piece in filter(None, (translated, edited, parts.edition, _volume(parts))):
        line.add(_capital(piece)).stop()


def _volume(parts: Parts) -> str:
    if parts.volume:
        return f"vol. {parts.volume}"
    return f"{parts.volumes} vols." if parts.volumes else ""


def _publication(parts: Parts) -> str:
    return ": ".join(filter(None, (parts.place, parts.publisher))) or _held(parts)


def _published(parts: Parts) -> str:
    """Give publisher and year, and say so where no year is known at all."""
    year = parts.year or ("" if parts.first_year else "n.d.")
    return ", ".join(filter(None, (_publication(parts), year)))


def _held(parts: Parts) -> str:
    number = "" if parts.url or not parts.number else f", no. {parts.number}"
    return f"{parts.container}{number}" if parts.container else ""


def _held_besides(parts: Parts) -> str:
    return _held(parts) if parts.place or parts.publisher else ""


def _accessed(parts: Parts) -> str:
    return f"accessed {long_date(parts.accessed)}" if parts.accessed and parts.url and not parts.year else ""


def _add_holder(line: Line, parts: Parts) -> Line:
    for piece in filter(None, (_capital(_held_besides(parts)), _capital(_accessed(parts)), parts.url)):
        line.add(piece).stop()
    return line


def _years(parts: Parts, brackets: str) -> str:
    """Give the year of this edition with its letter, behind the year of the first where the two are known."""
    year = parts.year or parts.first_year
    if not year:
        return f"n.d.-{parts.letter}" if parts.letter else "n.d."
    number, era = year.partition(" ")[::2]
    lettered = " ".join(filter(None, (f"{number}{parts.letter}", era)))
    return f"{brackets[0]}{parts.first_year}{brackets[1]} {lettered}" if parts.first_year and parts.year else lettered
