"""What a citation is made from: a work's title, author, translator and year, and the details of its edition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionDetails:
    """What a citation needs of an edition besides what `WorkSummary` says; empty or None where it is not known.

    Several persons are parted by a semicolon, a comma or "and".

    - `collection`: the book that a story, an essay or a poem is collected in.
    - `volume`: which volume of several this is: "2".
    - `volumes`: how many volumes the edition has.
    - `edition`: "2nd", "Revised": without it a first edition is meant.
    - `year`: of this edition; the year of the work is that of its first publication.
    - `container`: what holds the text: "Project Gutenberg".
    - `accessed`: when it was taken from there.
    - `language`: of the text, as a code or a name: "en".
    """

    editor: str = ""
    collection: str = ""
    volume: str = ""
    volumes: int | None = None
    edition: str = ""
    publisher: str = ""
    place: str = ""
    year: int | None = None
    container: str = ""
    number: str = ""
    url: str = ""
    accessed: date | None = None
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedWork:
    """A work as it is cited.

    - `year`: of first publication.
    """

    id: str
    title: str
    author: str = ""
    translator: str = ""
    year: int | None = None
    details: EditionDetails = field(default_factory=EditionDetails)
