"""RIS, for Zotero, EndNote, Mendeley and other managers of references: lines of tag and value, ended as on Windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.citations.bibtex import key
from relic_core.reporting.citations.edition import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relic_core.domain import CitedWork


def write(works: Iterable[CitedWork]) -> str:
    """Write a file of records, in the order given."""
    return "\r\n".join("".join(f"{tag}  - {value}\r\n" for tag, value in _record(work)) for work in works)


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
