"""Making a kept passage: its words and place from the stored work, and what brought it up from the search."""

from __future__ import annotations

import secrets
from base64 import b32encode
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.domain import ORIGINS, Address, KeptPassage, Span
from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.reporting.passages import quotation

if TYPE_CHECKING:
    from relic_core.domain import Origin, Work
    from relic_core.wiring import App

LONGEST = 200
"""Sentences of a kept passage: some eight pages of prose."""

_RANDOM_BYTES = 5
"""Eight letters and digits."""


def keep_passage(work: Work, at: str, length: int, *, origin: Origin) -> KeptPassage:
    """Take a passage out of a work, without what brought it up.

    - `at`: address of the first sentence.
    - `length`: sentences; those beyond the chapter are left away.

    Raises BadRequest: it is no address, or no length that can be.
    Raises NotFound: the work has no such place.
    """
    if origin not in ORIGINS:
        raise unknown_name("page to keep from", origin, ORIGINS)
    if not 1 <= length <= LONGEST:
        raise BadRequest(f"A passage of {length:,} sentences cannot be kept: 1 to {LONGEST} can. Mark fewer of them.")
    first = work.sentence_at(Address.parse(at))
    chapter = work.sentences[first].chapter
    last = min(first + length, len(work.sentences))
    while work.sentences[last - 1].chapter != chapter:
        last -= 1
    span = Span(first, last - first)
    place = work.place(span)
    return KeptPassage(
        work_id=work.id,
        sha256=work.sha256,
        title=work.title,
        author=work.author,
        at=str(place.address),
        length=span.length,
        start=work.sentences[first].start,
        end=work.sentences[last - 1].end,
        place=place.label,
        chapter=place.chapter,
        paragraph=place.paragraph,
        line=place.line,
        quotation=quotation(work, span).plain,
        origin=origin,
        made_with=f"work {work.sha256[:12]}, {work.segmenter}, version {__version__}",
    )


def found_by(app: App, kept: KeptPassage, search_id: str) -> KeptPassage:
    """Add the claim of a search and what answered it; a search that is not in this store adds nothing."""
    if not search_id:
        return kept
    try:
        search = app.history.get(search_id)
    except NotFound:  # an address from another machine: the passage is worth keeping without it
        return kept
    return replace(
        kept, search_id=search.id, claim_text=search.claim_text.strip(), made_with=search.made_with or kept.made_with
    )


def new_id() -> str:
    """Draw an id for a collection: eight letters and digits."""
    return b32encode(secrets.token_bytes(_RANDOM_BYTES)).decode().lower()
