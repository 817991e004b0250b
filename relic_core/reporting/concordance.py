"""Occurrences of a word in its context, and the table of them that a spreadsheet opens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from relic_core.domain import Place, WorkSummary
from relic_core.formats.escaping import BOM, as_csv

COLUMNS = (
    "work", "author", "edition", "chapter", "paragraph", "sentence", "left", "keyword", "right", "query", "options",
    "address",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a query's words stand; in the context, a pilcrow stands where a paragraph begins."""

    work: WorkSummary
    place: Place
    sentences: int
    left: str
    keyword: str
    right: str


def to_csv(occurrences: Iterable[Occurrence], *, query: str, options: str, address: str) -> bytes:
    """Write occurrences as a table, one row each, which Excel and pandas (``read_csv``) open as it is.

    Query, options and the address of the page are in every row, so that tables of several queries can be put under
    one another. It is UTF-8 with a byte order mark, without which Excel takes it for another encoding. A cell that
    begins like a formula gets an apostrophe in front, since a spreadsheet would run it; all else is to the letter.
    """
    rows: list[tuple[str, ...]] = [COLUMNS]
    for each in occurrences:
        place = each.place
        rows.append(
            (
                each.work.title,
                each.work.author,
                each.work.sha256,
                place.chapter,
                f"n{place.paragraph}" if place.note else str(place.paragraph),
                str(place.address),
                each.left,
                each.keyword,
                each.right,
                query,
                options,
                address,
            )
        )
    return f"{BOM}{as_csv(rows)}".encode()
