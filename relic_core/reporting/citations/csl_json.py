"""CSL-JSON: what Zotero, Pandoc and other programs that follow the Citation Style Language read and write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from relic_core.reporting.citations.bibtex import key
from relic_core.reporting.citations.edition import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relic_core.domain import CitedWork
    from relic_core.reporting.citations.names import Name


def write(works: Iterable[CitedWork]) -> str:
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
    return [
        {"literal": name.direct}
        if name.whole or not name.given
        else {
            part: value
            for part, value in (
                ("family", name.family),
                ("given", name.given),
                ("dropping-particle", name.particle or name.title),
                ("suffix", name.suffix),
            )
            if value
        }
        for name in people
    ]
