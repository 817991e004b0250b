"""A benchmark that has been opened: its windows and works, checked against each other."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import MAX_CONTEXT, BenchmarkCard, Book, QuotationContext, Span, Work
from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.files import read_bytes
from relic_core.library import catalogue
from relic_core.text.placing import Places

Starts = npt.NDArray[np.int64]

_NAMED = 5


class Opened:
    """The port `Benchmark` for windows and works that are at hand.

    - `books`: the quoted works, each once; those no window is of are left out.
    - `works`: what candidates are taken from, by pool.
    - `candidates`: for a pool and a length where the spans that count start, ascending; where missing, all spans count.

    Raises BadBenchmark: there are no windows, ids occur twice, a side has more than four sentences, a gold lies beyond
    its work or is not a candidate, or a work or a book is missing.
    """

    def __init__(
        self,
        card: BenchmarkCard,
        windows: Sequence[QuotationContext],
        *,
        books: Iterable[Book],
        works: Mapping[str, Work],
        candidates: Mapping[tuple[str, int], Starts] | None = None,
    ) -> None:
        self._windows = tuple(windows)
        self._candidates = candidates
        known = {book.key: book for book in books}
        self._check(card.label, known, works)
        self._works = {window.pool: works[window.pool] for window in windows}
        self._books = tuple({window.book: known[window.book] for window in windows}.values())
        self.card = replace(card, examples=len(self._windows), books=len(self._books))

    def windows(self) -> tuple[QuotationContext, ...]:
        """List all windows, in order; each has been checked."""
        return self._windows

    def books(self) -> tuple[Book, ...]:
        """List the quoted works in the order of their first window."""
        return self._books

    def work(self, pool: str) -> Work:
        """Give the work that candidates of a pool are taken from."""
        return self._works[pool]

    def candidates(self, window: QuotationContext) -> Starts | None:
        """List where the spans start that count as candidates; None for all spans."""
        return None if self._candidates is None else self._candidates[window.pool, window.gold.length]

    @cached_property
    def data_hash(self) -> str:
        """Sha256 over all that decides a retriever's ranks: windows, the works' text and sentences, candidates."""
        digest = hashlib.sha256()

        def add(*values: object) -> None:
            digest.update(json.dumps(values).encode())

        for window in self._windows:
            span = (window.gold.start, window.gold.length)
            add(window.id, window.book, window.pool, window.left, window.right, span, window.kind)
            if window.accepted:
                add(window.masked, [(place.start, place.length) for place in window.accepted])
            if window.grades:
                add(window.masked, window.grades)
        for pool, work in self._works.items():
            add(pool, work.reading)
        lengths = {(window.pool, window.gold.length): window for window in self._windows}
        for key in sorted(lengths) if self._candidates is not None else ():
            starts = np.ascontiguousarray(self.candidates(lengths[key]), dtype="<i8")
            add(*key, hashlib.sha256(starts.tobytes()).hexdigest())
        return digest.hexdigest()

    def _check(self, label: str, books: Mapping[str, Book], works: Mapping[str, Work]) -> None:
        if not self._windows:
            raise BadBenchmark(f"{label} holds no window: the file is empty, or nothing in it is a question.")
        times = Counter(window.id for window in self._windows)
        _refuse(f"{label} gives ids more than once", (name for name in times if times[name] > 1))
        _refuse(
            f"{label} has windows with more than {MAX_CONTEXT} sentences on a side",
            (window.id for window in self._windows if max(len(window.left), len(window.right)) > MAX_CONTEXT),
        )
        _refuse(
            f"{label} has windows whose book or pool is not described",
            (window.id for window in self._windows if window.book not in books or window.pool not in works),
        )
        _refuse(
            f"{label} has quotations that lie outside the text they are said to be in",
            (
                window.id
                for window in self._windows
                if not all(_is_inside(span, works[window.pool]) for span in _golds(window))
            ),
        )
        if self._candidates is not None:
            _refuse(
                f"{label} has quotations that are not among their own candidates",
                (window.id for window in self._windows if not _is_listed(window, self._candidates)),
            )


def book_of(key: str, work: Work) -> Book:
    """Describe a quoted work: from the catalogue where the key is a slug of it, else from the work itself."""
    entry = catalogue.find(key)
    return Book(
        key=key,
        title=entry.title if entry else work.title,
        author=entry.author if entry else work.author,
        year=entry.year if entry else work.year,
        sentences=len(work.sentences),
        sha256=work.sha256,
    )


def place_all(label: str, passages: Mapping[str, tuple[str, str]], works: Mapping[str, Work]) -> dict[str, Span]:
    """Place quotations, each given as its work's key and its words; the best place where one is in several.

    Raises BadBenchmark: some cannot be placed; the message names them.
    """
    found: dict[str, Span] = {}
    for key in dict.fromkeys(key for key, _ in passages.values()):
        places = Places(works[key])
        for name, (_, words) in passages.items():
            if passages[name][0] == key and (placed := places.find(words)):
                found[name] = placed[0].span
    _refuse(
        f"{label} quotes words that cannot be found in the works of the library, which may be other editions",
        (f"{name} ({key})" for name, (key, _) in passages.items() if name not in found),
    )
    return {name: found[name] for name in passages}


def checksum(paths: Iterable[Path]) -> str:
    """Compute the sha256 of files one after the other, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.name):
        digest.update(read_bytes(path))
    return digest.hexdigest()


def data_path(card: BenchmarkCard, settings: Settings, data: Path | None, *, below: str) -> Path:
    """Choose where a benchmark is read from: what the reader names, else its place in the folder of benchmarks."""
    path = data if data is not None else settings.benchmarks / below if settings.benchmarks is not None else None
    if path is None:
        raise NotFound(
            f"The data of {card.label} do not ship with the program. {card.needs} Set RELIC_BENCHMARKS to a folder "
            f"that holds them as {below}, or name the file with --data."
        )
    if not path.exists():
        raise NotFound(f"There is no {path}, where the data of {card.label} should be. {card.needs}")
    return path


def checked_sum(card: BenchmarkCard, path: Path, files: Iterable[Path], *, own: bool) -> str:
    """Give the checksum of the files in a folder, which is that of the card, unless the data are the reader's own."""
    found = checksum(files)
    if not own and found != card.checksum:
        raise BadBenchmark(
            f"The files in {path} are not those that {card.label} was described from: their sha256 is {found[:12]}… "
            f"instead of {card.checksum[:12]}…. Get them again; to measure on files of your own, name them with --data."
        )
    return found


def _golds(window: QuotationContext) -> list[Span]:
    return [window.gold, *window.accepted, *(Span(start, window.gold.length) for start, _ in window.grades)]


def _is_inside(gold: Span, work: Work) -> bool:
    return gold.start >= 0 and gold.length >= 1 and gold.end <= len(work.sentences)


def _is_listed(window: QuotationContext, candidates: Mapping[tuple[str, int], Starts]) -> bool:
    starts = candidates.get((window.pool, window.gold.length))
    return starts is not None and all(start in starts for start in (window.gold.start, *dict(window.grades)))


def _refuse(what: str, ids: Iterable[str]) -> None:
    wrong = list(ids)
    if wrong:
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise BadBenchmark(
            f"{what}: {', '.join(wrong[:_NAMED])}{more}. Nothing was measured; get the file again, or correct it."
        )
