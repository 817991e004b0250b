"""RELiC's JSON: whole books in sentences, the spans that count as candidates, and the quotations with their contexts.

One object per file, book title -> object with three keys:

* ``sentences``: the book in order;
* ``candidates``: ``"1_sentence"`` to ``"5_sentence"`` -> the starts that are valid for a quotation of that length;
* ``quotes``: id -> [up to four sentences before it, start, length, up to four sentences after it].

In the hidden test file every start is null. Source: the data of Thai et al. 2022 (RELiC), section 2 and its DATA.md.
Everything is checked on the way in, and by the same code on the way out, so what is written can be read.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from relic_core.domain import (
    MAX_CONTEXT,
    MAX_LENGTH,
    MIN_LENGTH,
    Chapter,
    MinedWindow,
    Paragraph,
    Sentence,
    Work,
)
from relic_core.errors import BadBenchmark
from relic_core.formats.files import (
    Strict,
    as_object,
    check_text,
    checked,
    parse,
    read_text,
    write_whole,
    written_whole,
)
from relic_core.library import catalogue
from relic_core.library.catalogue import CatalogueEntry
from relic_core.text.reading import work_id

LENGTHS = tuple(range(MIN_LENGTH, MAX_LENGTH + 1))
"""The lengths of quotations that have candidates, in sentences."""

SOURCE = "relic.cs.umass.edu: train.json or val.json (the quotations of test.json are kept back by its authors)"
_SEGMENTER = "RELiC as published/1"

TOO_LONG = "The sentences quoted are more than RELiC's form has candidates for (1 to 5)"
NO_CONTEXT = "Nothing is said before or after the quotation, so there is no claim"

_Context = Annotated[list[str], Field(max_length=MAX_CONTEXT)]
_Length = Annotated[int, Field(ge=MIN_LENGTH, le=MAX_LENGTH)]


class _Book(Strict):
    sentences: list[str]
    candidates: dict[str, list[int]]
    quotes: dict[str, tuple[_Context, int | None, _Length, _Context]]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation in a secondary source.

    - `left`: up to four sentences before it, the nearest last.
    - `start`: index of its first sentence in the book; None in the hidden test file.
    - `right`: up to four sentences after it, the nearest first.
    """

    id: str
    left: tuple[str, ...]
    start: int | None
    length: int
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelicBook:
    """A book and the quotations of it.

    - `sentences`: in order, as published: they may end in a space.
    - `candidates`: for each length from 1 to 5 the valid starts, in the order of the file.
    """

    title: str
    sentences: tuple[str, ...] = field(repr=False)
    candidates: Mapping[int, tuple[int, ...]] = field(repr=False, hash=False)
    quotes: tuple[Quote, ...] = field(repr=False)


def read_relic(path: Path) -> tuple[RelicBook, ...]:
    """Read a file of RELiC and check all of it; time and memory grow with the file alone."""
    titles = as_object(parse(read_text(path), str(path)), str(path))
    if not titles:
        raise BadBenchmark(f"{path} holds no book. A file of RELiC is one object: title -> sentences, quotes, ...")
    homes: dict[str, str] = {}
    # Taken out as they are read: the raw lists of a large file need not stay to the end.
    return tuple([_book(str(path), title, titles.pop(title), homes) for title in list(titles)])


def write_relic(path: Path, books: Iterable[RelicBook]) -> None:
    """Write books, with candidates for lengths 1 to 5, as a file of RELiC, whole or not at all; the same bytes."""
    homes: dict[str, str] = {}
    titles: set[str] = set()
    with written_whole(path) as file:
        for book in books:
            if book.title in titles:
                raise BadBenchmark(f"{path}: two books have the title '{book.title}'. Titles are the file's keys.")
            raw = _raw(book)
            _book(str(path), book.title, raw, homes)
            opening = "{\n" if not titles else ",\n"
            titles.add(book.title)
            text = f"{opening}{_json(book.title)}: {_json(raw)}"
            check_text(text, f"{path}: book '{book.title:.80}'")
            file.write(text.encode())
        if not titles:
            raise BadBenchmark(f"{path}: there is no book to write.")
        file.write(b"\n}\n")


def entry_of(title: str) -> CatalogueEntry | None:
    """Find the work of the catalogue that a title of the data set means, written as a title or as a slug.

    >>> entry_of("The Awakening").split, entry_of("the_awakening").split, entry_of("An Awakening of Mine")
    ('train', 'train', None)
    """
    return catalogue.find(title) or catalogue.find_named(title.replace("_", " "))


def work_of(book: RelicBook) -> Work:
    """Make a work of a book's sentences, parted by single spaces."""
    sentences, position = [], 0
    words = [sentence.strip() for sentence in book.sentences]
    for index, sentence in enumerate(words):
        # An empty sentence keeps its place: the file counts it.
        sentences.append(Sentence(index, position, position + len(sentence), 0, 0))
        position += len(sentence) + 1
    text = " ".join(words)
    entry = entry_of(book.title)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Work(
        id=work_id(book.title, sha256),
        title=book.title,
        author=entry.author if entry else "",
        year=entry.year if entry else None,
        source=SOURCE,
        text=text,
        sha256=sha256,
        segmenter=_SEGMENTER,
        chapters=(Chapter(0, 0, len(text)),),
        paragraphs=(Paragraph(0, 0, len(text), 0, 1),),
        sentences=tuple(sentences),
    )


def book_of(title: str, sentences: Sequence[str], windows: Iterable[MinedWindow]) -> tuple[RelicBook, Counter[str]]:
    """Set mined windows on a work as a book of RELiC.

    Returns: with it why windows have no place in the form -> how many. Every span of 1 to 5 sentences is a candidate; a
    quotation has the id of its window.

    >>> book, left_out = book_of("The Ferry", ["It rained.", "He rowed."], [])
    >>> book.candidates[2], book.candidates[3], left_out
    ((0,), (), Counter())
    """
    quotes, left_out = [], Counter[str]()
    for window in windows:
        if window.gold.length not in LENGTHS:
            left_out[TOO_LONG] += 1
        elif not window.has_context:
            left_out[NO_CONTEXT] += 1
        else:
            quotes.append(Quote(window.id, window.left, window.gold.start, window.gold.length, window.right))
    candidates = {length: tuple(range(len(sentences) - length + 1)) for length in LENGTHS}
    return RelicBook(title, tuple(sentences), candidates, tuple(quotes)), left_out


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _raw(book: RelicBook) -> dict[str, object]:
    quotes: dict[str, object] = {}
    for quote in book.quotes:
        if quote.id in quotes:
            raise BadBenchmark(f"Book '{book.title}' has two quotations with the id '{quote.id}'.")
        quotes[quote.id] = [list(quote.left), quote.start, quote.length, list(quote.right)]
    return {
        "sentences": list(book.sentences),
        "candidates": {f"{length}_sentence": list(starts) for length, starts in sorted(book.candidates.items())},
        "quotes": quotes,
    }


def _book(path: str, title: str, raw: object, homes: dict[str, str]) -> RelicBook:
    """Check a book; `homes` collects the title that each id was met under."""
    here = f"{path}: book '{title:.80}'"
    read = checked(_Book, raw, here)
    wanted = [f"{length}_sentence" for length in LENGTHS]
    if sorted(read.candidates) != wanted:
        raise BadBenchmark(
            f"{here}: 'candidates' has {', '.join(read.candidates):.200}, and must have {', '.join(wanted)}."
        )
    # All lists of a book share these numbers, so each entry costs the eight bytes of a reference.
    numbers = list(range(len(read.sentences)))
    candidates = {
        length: _starts(f"{here}: '{name}'", read.candidates[name], length, numbers)
        for name, length in zip(wanted, LENGTHS, strict=True)
    }
    valid = {length: frozenset(starts) for length, starts in candidates.items()}
    quotes = []
    for quote_id, (left, start, length, right) in read.quotes.items():
        there = f"{here}, quotation '{quote_id:.80}'"
        if quote_id in homes:
            raise BadBenchmark(
                f"{there}: the same id is in the book '{homes[quote_id]:.80}' too. An id names one quotation."
            )
        homes[quote_id] = title
        if start is not None:
            _check_start(there, start, length, len(numbers), valid[length])
        quotes.append(Quote(quote_id, tuple(left), start, length, tuple(right)))
    return RelicBook(title, tuple(read.sentences), candidates, tuple(quotes))


def _starts(here: str, starts: list[int], length: int, numbers: list[int]) -> tuple[int, ...]:
    last = len(numbers) - length
    for start in starts:
        if not 0 <= start <= last:
            raise BadBenchmark(
                f"{here} holds the start {start:,}, from which no {length} sentences follow: the book has "
                f"{len(numbers):,}, counted from 0."
            )
    if len(set(starts)) < len(starts):
        raise BadBenchmark(f"{here} holds a start twice. Each candidate is listed once.")
    return tuple(map(numbers.__getitem__, starts))


def _check_start(here: str, start: int, length: int, sentences: int, valid: frozenset[int]) -> None:
    if not 0 <= start <= sentences - length:
        raise BadBenchmark(
            f"{here}: the gold span, {length} sentences from {start:,}, runs beyond the book, which has "
            f"{sentences:,} sentences, counted from 0. The file is damaged, or its sentences were cut anew."
        )
    if start not in valid:
        raise BadBenchmark(
            f"{here}: the gold start {start:,} is not among the {len(valid):,} candidates of '{length}_sentence'. "
            "It could never be found: add it to them, or correct the start."
        )


DEPTH = 100
"""How many candidates a quotation is answered with."""


def write_submission(path: Path, rankings: Mapping[str, list[int]]) -> None:
    """Write a submission, whole or not at all; the same rankings make the same bytes.

    - `rankings`: for every quotation the starts of its best candidates, best first: `DEPTH`, or all there are.
    """
    lines = ",\n".join(f"{_json(quote_id)}: {starts}" for quote_id, starts in rankings.items())
    write_whole(path, f"{{\n{lines}\n}}\n")
