"""The catalogue: the 79 works that RELiC was built from (tables A7 and A8 of the paper), as facts.

By part of the data set, then by year, then by title.

Spellings of names that are slips in the tables are put right, and the translator of War and Peace is the one of the
edition that Project Gutenberg has, where the paper names another.
"""

from __future__ import annotations

import csv
import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Literal, get_args

from relic_core.config import ASSETS
from relic_core.domain import Work, WorkSummary
from relic_core.errors import BadRequest, BadText

FILE = ASSETS / "catalogue.csv"
RelicSplit = Literal["train", "validation", "test"]
SUFFIXES = (".txt", ".epub", ".xml")
"""Endings of the files that are offered from a folder; what is in a file decides how it is read."""

_FROM_GUTENBERG = re.compile(r"Project Gutenberg (\d+),")
_ALIKE = 0.8
"""How much of two surnames must agree: Dostoevsky is also written Dostoyevsky, Tolstoy Tolstoi."""
_SUBTITLE = re.compile(
    r"\s*(?:[;:(\[]|\s[-–—]\s|--|—|,?\s+or,\s|,\s+or\s|,?\s+and\s+(?:other|selected)\s+(?:\w+\s+)?stories)",
    re.IGNORECASE,
)
_A_PART = re.compile(r"[\s;:(\[,–—-]*(?:vol(?:ume)?s?|parts?|books?|abridged|selections)\b", re.IGNORECASE)
"""How a subtitle begins that makes a title one of something less than the work."""
_ARTICLE = re.compile(r"(?:the|an?)\s+")
_ALSO = {
    "nineteen eighty four": "1984",
    "posthumous papers of the pickwick club": "pickwick papers",
    "life and adventures of nicholas nickleby": "nicholas nickleby",
    "life and adventures of martin chuzzlewit": "martin chuzzlewit",
    "personal history of david copperfield": "david copperfield",
    "alice in wonderland": "alices adventures in wonderland",
    "huckleberry finn": "adventures of huckleberry finn",
}
"""Other titles that works of the catalogue go by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One work of the catalogue, as in the paper.

    - `slug`: short name, also of its file in a library folder (``slug.txt``).
    - `type`: "novel", "novella", "collection (fiction)", "collection (nonfiction)".
    - `free_in_us`: the year on whose first day its copyright in the United States ends; None where it ended before this
      list was made.
    """

    slug: str
    title: str
    author: str
    translator: str
    year: int
    type: str
    language: str
    split: RelicSplit
    gutenberg: int | None
    free_in_us: int | None

    @property
    def last_day(self) -> str:
        """The last day of its copyright in the United States, in words; empty where that is past."""
        return f"31 December {self.free_in_us - 1}" if self.free_in_us is not None else ""


def read_entries(path: Path = FILE) -> tuple[CatalogueEntry, ...]:
    """Read a catalogue. Raises BadText: a line that is not an entry, or a slug or number given twice."""
    found: list[CatalogueEntry] = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        try:
            for row in rows:
                found.append(_entry(row, found))  # which looks through those before
        except (csv.Error, ValueError, KeyError, TypeError) as error:
            raise BadText(f"Line {rows.line_num} of {path} is not an entry of a catalogue: {error}.") from error
    return tuple(found)


@lru_cache(maxsize=1)
def entries() -> tuple[CatalogueEntry, ...]:
    """Return the catalogue that ships with the program, in the order of its file."""
    return read_entries()


def find(slug: str) -> CatalogueEntry | None:
    """Find an entry by its slug."""
    return next((entry for entry in entries() if entry.slug == slug), None)


def find_number(number: int) -> CatalogueEntry | None:
    """Find an entry by its number at Project Gutenberg."""
    return next((entry for entry in entries() if entry.gutenberg == number), None)


def find_named(title: str, author: str = "") -> CatalogueEntry | None:
    """Find the entry that a title and an author mean; without an author the whole title must agree.

    >>> find_named("MOBY-DICK; Or, The Whale", "Melville, Herman").slug
    'moby_dick'
    >>> find_named("Emma McChesney and Co.", "Edna Ferber"), find_named("Emma", "Edna Ferber")
    (None, None)
    """
    return next((entry for entry in entries() if same_work((title, author), (entry.title, entry.author))), None)


def entry_of(work: WorkSummary | Work, library: Path | None) -> CatalogueEntry | None:
    """Find the entry of a work by where it came from, else by its title and author; None where it has none.

    Anybody may call a file emma.txt. In the library folder the name is an agreement; elsewhere it says something only
    together with the author, and of a work without an author nothing is known.
    """
    by_number = _FROM_GUTENBERG.match(work.source)
    if by_number and (entry := find_number(int(by_number[1]))):
        return entry
    path = PurePath(work.source)
    entry = find(path.stem) if path.suffix in SUFFIXES else None
    if entry is not None and path.parent == library:
        return entry
    if not work.author:
        return None
    if entry is not None and same_author(work.author, entry.author):
        return entry
    return find_named(work.title, work.author)


def entry_of_file(path: Path, library: Path | None) -> CatalogueEntry | None:
    """Find the entry that a file of the library folder is named for; None for any other file."""
    if library is None or path.suffix.lower() not in SUFFIXES:
        return None
    try:
        agreed = path.parent.resolve() == library.resolve()
    except (OSError, RuntimeError, ValueError):
        return None  # reading it tells what is wrong
    return find(path.stem) if agreed else None


def slug_of(named: str) -> str:
    """Give the slug of the work that a slug or a title names. Raises BadRequest: none is called that.

    >>> slug_of("The Scarlet Letter"), slug_of("emma")
    ('the_scarlet_letter', 'emma')
    """
    if entry := find(named) or find_named(named):
        return entry.slug
    called = {name.casefold(): entry.slug for entry in entries() for name in (entry.slug, entry.title)}
    near = dict.fromkeys(called[name] for name in difflib.get_close_matches(named.casefold(), called, n=4))
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise BadRequest(
        f"There is no work of the catalogue called '{named}'.{hint} `python -m relic_core catalogue` lists the "
        f"{len(entries())} works by name and title."
    )


def same_work(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two pairs of title and author name one work, whatever the edition.

    Articles, accents, marks and subtitles do not count; where one author is not known, a subtitle does. So "Emma: a
    play in three acts" counts as Emma where Jane Austen is named as the author: only a reader can tell the subtitle of
    an edition from that of a work made of it.
    """
    if one[1] and other[1]:
        return bool(_forms(one[0]) & _forms(other[0])) and same_author(one[1], other[1])
    return _plain(one[0]) == _plain(other[0]) != ""


def same_author(one: str, other: str) -> bool:
    """Whether two names can be one person's: the surname, and an initial of the given names where both have some.

    >>> same_author("Dostoyevsky, Fyodor", "F. M. Dostoevsky"), same_author("Anne Brontë", "Emily Bronte")
    (True, False)
    """
    (surname, given), (other_surname, other_given) = _name(one), _name(other)
    alike = difflib.SequenceMatcher(None, surname, other_surname).ratio() >= _ALIKE
    return alike and (not given or not other_given or bool(given & other_given))


def _entry(row: dict[str, str], before: Sequence[CatalogueEntry]) -> CatalogueEntry:
    if row["split"] not in get_args(RelicSplit):
        raise ValueError(f"its split is '{row['split']}', which is none of {', '.join(get_args(RelicSplit))}")
    if not re.fullmatch(r"[a-z0-9_]+", row["slug"]) or not row["title"] or not row["author"]:
        raise ValueError("a slug of small letters, a title and an author are needed")
    year = int(row["year"])
    free_in_us = int(row["free_in_us"]) if row["free_in_us"] else None
    gutenberg = int(row["gutenberg"]) if row["gutenberg"] else None
    if gutenberg is not None and gutenberg < 1:
        raise ValueError(f"{gutenberg} is not a number of Project Gutenberg")
    if free_in_us is not None and free_in_us <= year:
        raise ValueError(f"it cannot be free in {free_in_us}, having appeared in {year}")
    if any(entry.slug == row["slug"] or (gutenberg and entry.gutenberg == gutenberg) for entry in before):
        raise ValueError(f"the slug {row['slug']} or the number {gutenberg} was given before")
    named = {name: row[name] for name in ("slug", "title", "author", "translator", "type", "language")}
    return CatalogueEntry(**named, split=row["split"], year=year, gutenberg=gutenberg, free_in_us=free_in_us)  # type: ignore[arg-type]  # the split was checked above


@lru_cache(maxsize=2_000)
def _forms(title: str) -> frozenset[str]:
    cut = _SUBTITLE.search(title)
    forms = {_plain(title)}
    if cut and not _A_PART.match(title[cut.start() :]):
        forms.add(_plain(title[: cut.start()]))
    return frozenset(forms - {""})


@lru_cache(maxsize=2_000)
def _plain(title: str) -> str:
    folded = _fold(title.replace("&", " and "))
    words = " ".join(re.findall(r"\w+", re.sub(r"['’‘`]", "", folded)))
    words = _ARTICLE.sub("", words, count=1) if _ARTICLE.match(words) else words
    return _ALSO.get(words, words)


def _name(name: str) -> tuple[str, frozenset[str]]:
    first, comma, last = _fold(name).partition(",")
    words = re.findall(r"\w+", re.sub(r"\([^)]*\)", " ", f"{last} {first}" if comma else first))
    return (words[-1], frozenset(word[0] for word in words[:-1])) if words else ("", frozenset())


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    return "".join(character for character in plain if not unicodedata.combining(character)).casefold()
