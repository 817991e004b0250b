"""What the header of a TEI file says about the work: title, author, translator, year."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.domain import EditionDetails
from relic_core.library.edition_details import edition_of
from relic_core.library.markup import attribute, local_name, person_name
from relic_core.text.metadata import Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element as Element

_EDITION_WORDS = re.compile(
    r"\s*[:;,.\-–—(\[]*\s*(?:\bELTeC edition\b|\b(?:an? )?(?:machine[- ]readable|electronic|digital|TEI|XML|encoded)\b"
    r"[\w\s-]{0,30}?\b(?:version|edition|transcription|text|resource)\b)[\s.)\]]*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[0-9]\d\d|20\d\d)(?!\d)")
_TRANSLATES = re.compile(r"transl|\btrl\b|\btr\.", re.IGNORECASE)
_DIGITAL = re.compile(r"digital|electronic|online|web", re.IGNORECASE)
_FIRST = re.compile(r"first|original|copytext0", re.IGNORECASE)


def read_header(root: Element) -> Metadata:
    """Read the first header of a file; of a corpus, that is the corpus's own.

    The year is that of a first edition where one is told apart, else of the work's creation, else the earliest of the
    printed sources; the file's own publication is none of them.
    """
    header = next((element for element in root if local_name(element) == "teiheader"), None)
    if header is None:
        return Metadata()
    statement = _first(header, "titlestmt")
    authors = [_text(author) for author in _children(statement, "author")]
    return Metadata(
        title=_title(statement),
        author=" and ".join(filter(None, map(person_name, dict.fromkeys(authors)))),
        translator=person_name(_translator(statement)),
        year=_year(header),
    )


def read_details(root: Element) -> EditionDetails:
    """Read what the first header says of the edition: its editors, its language, and the printed book it was made from.

    Of several printed sources the one counts that is not told to be a first edition.
    """
    header = next((element for element in root if local_name(element) == "teiheader"), None)
    if header is None:
        return EditionDetails()
    editors = [
        _text(next(iter(_children(each, "name", "persname")), each))
        for each in _children(_first(header, "titlestmt"), "editor")
        if not _TRANSLATES.search(attribute(each, "role"))
    ]
    sources = [source for element in header.iter() if local_name(element) == "sourcedesc" for source in _bibls(element)]
    printed = [
        each
        for each in sources
        if not _DIGITAL.search(attribute(each, "type")) and _first(each, "publisher") is not None
    ]
    book = next((each for each in printed if not _FIRST.search(attribute(each, "type"))), next(iter(printed), None))
    language = _first(header, "language")
    if book is None:
        return edition_of(editor=_people(editors), language="" if language is None else _text(language))
    place, publisher = _first(book, "pubplace"), _first(book, "publisher")
    return edition_of(
        editor=_people(editors),
        language="" if language is None else _text(language),
        place="" if place is None else _text(place),
        publisher="" if publisher is None else _text(publisher),
        year=max(_years([book]), default=None),
    )


def _people(names: Iterable[str]) -> str:
    return "; ".join(filter(None, dict.fromkeys(map(person_name, names))))


def _title(statement: Element | None) -> str:
    titles = _children(statement, "title")
    for kinds in ({"main", "uniform"}, {""}):
        found = [_text(title) for title in titles if attribute(title, "type").lower() in kinds]
        if found and found[0]:
            break
    else:
        found = [_text(title) for title in titles]
    title = found[0] if found else ""
    shorter = _EDITION_WORDS.sub("", title).strip(" :;,")
    return shorter or title


def _translator(statement: Element | None) -> str:
    for element in _children(statement, "editor", "author", "respstmt", "translator"):
        role = attribute(element, "role") + " " + " ".join(_text(resp) for resp in _children(element, "resp"))
        if local_name(element) == "translator" or _TRANSLATES.search(role):
            names = _children(element, "name", "persname")
            return _text(names[0]) if names else _text(element)
    return ""


def _year(header: Element) -> int | None:
    sources = [source for element in header.iter() if local_name(element) == "sourcedesc" for source in _bibls(element)]
    first = _years(element for element in sources if _FIRST.search(attribute(element, "type")))
    created = _years(element for element in header.iter() if local_name(element) == "creation")
    printed = _years(element for element in sources if not _DIGITAL.search(attribute(element, "type")))
    return min(first or created or printed, default=None)


def _bibls(source: Element) -> Iterator[Element]:
    for child in source:
        name = local_name(child)
        if name.startswith(("bibl", "msdesc")) or name == "p":
            inside = [each for each in child if local_name(each).startswith("bibl") and attribute(each, "type")]
            yield from inside or [child]
        elif name == "listbibl":
            yield from child


def _years(elements: Iterable[Element]) -> list[int]:
    found = []
    for element in elements:
        for date in element.iter():
            if local_name(date) not in {"date", "docdate", "origdate"}:
                continue
            if any(local_name(above).startswith(("author", "pers", "person")) for above in date.iterancestors()):
                continue  # of birth and death
            given = next(
                (attribute(date, name) for name in ("when", "value", "from", "notBefore") if attribute(date, name)), ""
            )
            year = _YEAR.search(given) or _YEAR.search(_text(date))
            if year:
                found.append(int(year[1]))
    return found


def _first(element: Element, name: str) -> Element | None:
    return next((each for each in element.iter() if local_name(each) == name), None)


def _children(element: Element | None, *names: str) -> list[Element]:
    return [] if element is None else [child for child in element if local_name(child) in names]


def _text(element: Element) -> str:
    return " ".join("".join(str(piece) for piece in element.itertext()).split())
