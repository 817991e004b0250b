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

    Attributes
    ----------
    editor : str
        Who edited it.
    collection : str
        The book that a story, an essay or a poem is collected in.
    volume : str
        Which volume of several this is: "2".
    volumes : int or None
        How many volumes the edition has.
    edition : str
        "2nd", "Revised": without it a first edition is meant.
    publisher, place : str
        Of this edition.
    year : int or None
        Of this edition; the year of the work is that of its first publication.
    container : str
        What holds the text: "Project Gutenberg".
    number : str
        Its number there.
    url : str
        Its address there.
    accessed : date or None
        When it was taken from there.
    language : str
        Of the text, as a code or a name: "en".
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

    Attributes
    ----------
    id, title, author, translator : str
        As the library has them.
    year : int or None
        Of first publication.
    details : EditionDetails
        Of the edition.
    """

    id: str
    title: str
    author: str = ""
    translator: str = ""
    year: int | None = None
    details: EditionDetails = field(default_factory=EditionDetails)
