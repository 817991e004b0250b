"""Citations for other programs: BibTeX, RIS and CSL-JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from relic_core.domain import CitedWork
from relic_core.formats.escaping import escape_bibtex
from relic_core.reporting.citations.edition import parts_of
from relic_core.reporting.citations.names import Name


def write_bibtex(works: Iterable[CitedWork]) -> str:
    """Write a file of entries, in the order given."""
    return "\n".join(_entry(work) for work in works)


def _entry(work: CitedWork) -> str:
    parts, details = parts_of(work), work.details
    year = details.year if details.year is not None else work.year
    number = f"{parts.container} eBook {parts.number}" if parts.container and parts.number else parts.container
    fields = {
        "author": _bibtex_people(parts.authors),
        "title": escape_bibtex(parts.title),
        "booktitle": escape_bibtex(parts.collection),
        "editor": _bibtex_people(parts.editors),
        "translator": _bibtex_people(parts.translators),
        "edition": escape_bibtex(parts.edition.removesuffix(" ed.")),
        "volume": escape_bibtex(parts.volume),
        "volumes": str(parts.volumes or ""),
        "publisher": escape_bibtex(parts.publisher or parts.container),
        "address": escape_bibtex(parts.place),
        "year": "" if year is None else str(year),
        "origdate": str(work.year) if work.year not in {None, year} else "",
        "url": quote(parts.url, safe="/:?#[]@!$&'()*+,;=%-._~"),
        "urldate": "" if parts.accessed is None else parts.accessed.isoformat(),
        "language": escape_bibtex(parts.language),
        "note": escape_bibtex(number),
    }
    kind = "incollection" if parts.within else "book"
    written = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key(work)},\n{written}}}\n"


def key(work: CitedWork) -> str:
    """Give the key of a work, which stays whatever is corrected in what is said of it.

    >>> from relic_core.domain import CitedWork
    >>> key(CitedWork(id="emma-1a2b3c4d", title="Emma"))
    'emma-1a2b3c4d'
    """
    return re.sub(r"[^A-Za-z0-9:._-]", "-", work.id) or "work"


def _bibtex_people(people: Sequence[Name]) -> str:
    return " and ".join(_person(name) for name in people)


def _person(name: Name) -> str:
    if name.whole or not name.given:
        return f"{{{escape_bibtex(name.direct)}}}"
    given = ", ".join(filter(None, (name.given, name.title)))
    return ", ".join(_shielded(part) for part in (name.full_family, name.suffix, given) if part)


def _shielded(part: str) -> str:
    """Keep commas and the word "and" from parting a name."""
    written = escape_bibtex(part)
    return f"{{{written}}}" if "," in part or re.search(r"\band\b", part, re.IGNORECASE) else written


def write_csl_json(works: Iterable[CitedWork]) -> str:
    """Write a file of items, in the order given."""
    return json.dumps([_item(work) for work in works], ensure_ascii=False, indent=2) + "\n"


def _item(work: CitedWork) -> dict[str, Any]:
    parts, details = parts_of(work), work.details
    year = details.year if details.year is not None else work.year
    accessed = parts.accessed
    item = {
        "id": key(work),
        "type": "chapter" if parts.within else "book",
        "title": parts.title,
        "author": _people(parts.authors),
        "editor": _people(parts.editors),
        "translator": _people(parts.translators),
        "container-title": parts.collection,
        "edition": parts.edition.removesuffix(" ed."),
        "volume": parts.volume,
        "number-of-volumes": str(parts.volumes or ""),
        "publisher": parts.publisher or parts.container,
        "publisher-place": parts.place,
        "issued": {} if year is None else {"date-parts": [[year]]},
        "original-date": {"date-parts": [[work.year]]} if work.year not in {None, year} else {},
        "source": parts.container,
        "archive_location": parts.number,
        "URL": parts.url,
        "accessed": {"date-parts": [[accessed.year, accessed.month, accessed.day]]} if accessed else {},
        "language": parts.language,
    }
    return {name: value for name, value in item.items() if value}


def _people(people: Sequence[Name]) -> list[dict[str, str]]:
    found = []
    for name in people:
        parts = {
            "family": name.family,
            "given": name.given,
            "dropping-particle": name.particle or name.title,
            "suffix": name.suffix,
        }
        whole = name.whole or not name.given
        found.append({"literal": name.direct} if whole else {part: value for part, value in parts.items() if value})
    return found


def write_ris(works: Iterable[CitedWork]) -> str:
    """Write a file of records, in the order given."""
    records = ((f"{tag}  - {value}\r\n" for tag, value in _record(work)) for work in works)
    return "\r\n".join(map("".join, records))


def _record(work: CitedWork) -> Iterator[tuple[str, str]]:
    parts, details = parts_of(work), work.details
    year = details.year if details.year is not None else work.year
    kind = "CHAP" if parts.within else "EBOOK" if parts.container or parts.url else "BOOK"
    number = f"{parts.container} eBook {parts.number}" if parts.container and parts.number else ""
    first = f"First published {parts.first_year}" if parts.first_year and parts.year else ""
    given = [
        ("ID", key(work)),
        *(("AU", name.turned) for name in parts.authors),
        ("TI", parts.title),
        ("T2", parts.collection),
        *(("ED", name.turned) for name in parts.editors),
        *(("A4", name.turned) for name in parts.translators),
        ("ET", parts.edition.removesuffix(" ed.")),
        ("VL", parts.volume),
        ("NV", str(parts.volumes or "")),
        ("PB", parts.publisher or parts.container),
        ("CY", parts.place),
        ("PY", "" if year is None else str(year)),
        ("UR", parts.url),
        ("Y2", f"{parts.accessed:%Y/%m/%d}" if parts.accessed else ""),
        ("LA", parts.language),
        ("DB", parts.container),
        ("AN", number),
        ("N1", first),
    ]
    yield "TY", kind
    yield from ((tag, " ".join(value.split())) for tag, value in given if value.strip())
    yield "ER", ""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files of references."""

    name: str
    label: str
    suffix: str
    mime: str
    purpose: str
    write: Callable[[Iterable[CitedWork]], str]


FORMATS: Mapping[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat(
            "ris",
            "RIS",
            ".ris",
            "application/x-research-info-systems",
            "for Zotero, EndNote or Mendeley: open it, or choose Import there",
            write_ris,
        ),
        FileFormat(
            "bibtex", "BibTeX", ".bib", "application/x-bibtex", "for LaTeX, and for JabRef and Zotero", write_bibtex
        ),
        FileFormat(
            "csl-json",
            "CSL-JSON",
            ".json",
            "application/vnd.citationstyles.csl+json",
            "for Pandoc, and for Zotero: it keeps the most",
            write_csl_json,
        ),
    )
}
