"""The sample: a short novel written for this project, and excerpts of criticism that quote it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from relic_core.config import ASSETS
from relic_core.domain import MAX_LENGTH, Claim, Example, Span, Work
from relic_core.errors import BadText
from relic_core.text.metadata import Metadata
from relic_core.text.placing import Places
from relic_core.text.reading import read_work

FOLDER = ASSETS / "sample"
NOVEL = FOLDER / "novel.txt"
EXCERPTS = FOLDER / "excerpts.jsonl"
SPLIT = "sample"
TITLE = "High Water at Averhythe"
SOURCE = "The sample, written for this project (CC0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A passage of criticism around words of the novel, from the beginning of a sentence to the end of one."""

    id: str
    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]
    kind: str = ""


@cache
def read_novel(*, max_bytes: int) -> Work:
    """Read the novel, once in a process."""
    metadata = Metadata(title=TITLE)
    return read_work(NOVEL.read_bytes(), name=NOVEL.name, metadata=metadata, source=SOURCE, max_bytes=max_bytes)


def read_excerpts() -> tuple[Excerpt, ...]:
    """Read the excerpts, one JSON object on a line."""
    rows = map(json.loads, EXCERPTS.read_text(encoding="utf-8").splitlines())
    return tuple(
        Excerpt(
            id=row["id"],
            left=tuple(row["left"]),
            quotation=row["quotation"],
            right=tuple(row["right"]),
            kind=row["kind"],
        )
        for row in rows
    )


def align(work: Work, excerpts: Sequence[Excerpt]) -> tuple[Example, ...]:
    """Find the quotation of each excerpt in the work, by letters and digits alone, and make it an example.

    Raises BadText: it is not there once, does not begin and end with a sentence, or is longer than five.
    """
    places = Places(work)
    return tuple(
        Example(
            id=excerpt.id,
            work_id=work.id,
            claim=Claim(left=" ".join(excerpt.left), right=" ".join(excerpt.right), masked=True),
            gold=_place(places, excerpt, work.title),
            kind=excerpt.kind,
            split=SPLIT,
        )
        for excerpt in excerpts
    )


def _place(places: Places, excerpt: Excerpt, title: str) -> Span:
    found = places.find_exact(excerpt.quotation)
    if not found:
        raise BadText(f"The quotation of excerpt '{excerpt.id}' is not in {title}: {excerpt.quotation!r}.")
    spans = [place.span for place in found if place.whole]
    if not spans:
        raise BadText(
            f"The quotation of excerpt '{excerpt.id}' does not begin and end with a sentence of {title}: "
            f"{excerpt.quotation!r}."
        )
    if len(spans) > 1:
        raise BadText(f"The quotation of excerpt '{excerpt.id}' occurs in {title} {len(spans)} times.")
    if spans[0].length > MAX_LENGTH:
        raise BadText(
            f"The quotation of excerpt '{excerpt.id}' has {spans[0].length} sentences; {MAX_LENGTH} are allowed."
        )
    return spans[0]
