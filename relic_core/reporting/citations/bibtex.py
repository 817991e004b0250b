r"""BibTeX, for LaTeX: one entry a work, in UTF-8, with the fields that biblatex and Zotero read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from relic_core.formats.escaping import escape_bibtex
from relic_core.reporting.citations.edition import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import CitedWork
    from relic_core.reporting.citations.names import Name


def write(works: Iterable[CitedWork]) -> str:
    """Write a file of entries, in the order given."""
    return "\n".join(_entry(work) for work in works)


def _entry(work: CitedWork) -> str:
    parts, details = parts_of(work), work.details
    year = details.year if details.year is not None else work.year
    number = f"{parts.container} eBook {parts.number}" if parts.container and parts.number else parts.container
    fields = {
        "author": _people(parts.authors),
        "title": escape_bibtex(parts.title),
        "booktitle": escape_bibtex(parts.collection),
        "editor": _people(parts.editors),
        "translator": _people(parts.translators),
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


def _people(people: Sequence[Name]) -> str:
    return " and ".join(_person(name) for name in people)


def _person(name: Name) -> str:
    """Write a name as BibTeX parts it: particle and family, suffix, given."""
    if name.whole or not name.given:
        return f"{{{escape_bibtex(name.direct)}}}"
    glue = "" if name.particle.endswith(("'", "’")) else " "
    family = f"{name.particle}{glue}{name.family}" if name.particle else name.family
    given = ", ".join(filter(None, (name.given, name.title)))
    return ", ".join(_shielded(part) for part in (family, name.suffix, given) if part)


def _shielded(part: str) -> str:
    """Keep commas and the word "and" from parting a name."""
    written = escape_bibtex(part)
    return f"{{{written}}}" if "," in part or re.search(r"\band\b", part, re.IGNORECASE) else written
