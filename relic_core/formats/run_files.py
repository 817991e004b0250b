r"""Runs as files: one run with all its outcomes as JSON, a head that a person can read and one short line per outcome.

A file holds offsets, ids and ranks, and never a word of a work or of a claim, so that it may be given to anybody. ::

    {
     "format": "relic run/1",
     "sha256": "…",                      over everything else in the file
     "id": "k3v7…", "benchmark": "birco-novels", …
     "books": [{"key": "emma", …}],
     "kinds": ["", "claim-supporting"],
     "outcomes": [
      ["12", 0, 2, 0, 9731, 14, 13, [81230, 140], [[5120, 96], [81101, 210], [300017, 88]]],
      …

An outcome is its example's id, the number of its book and of its kind in the lists above it (from 0) with the gold's
length between them, the candidates, the gold's rank and the overlap rank (0: no ranking), where the gold stands and
where the first hits stand, each as a start and a number of characters. Of a query with judged passages follow their
ranks (0: not ranked) and grades.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from relic_core.domain import ContextSize, Offsets, Outcome, Run
from relic_core.domain.bounds import MOST, Amount, Count
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.files import (
    Moment,
    as_object,
    as_string,
    checked,
    decoded,
    parse,
    read_bytes,
    record_of,
    write_whole,
)

FORMAT = "relic run/1"

SUFFIX = ".json"

MAX_BYTES = 200_000_000
"""Larger files are not read: 80 bytes an outcome make some two million of them."""


def write_run(path: Path, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Write a run whole or not at all; the same run makes the same bytes. Raises BadBenchmark: outcomes of another."""
    check_outcomes(str(path), run, outcomes)
    books = {book.key: number for number, book in enumerate(run.books)}
    names = sorted({outcome.kind for outcome in outcomes})
    kinds = {kind: number for number, kind in enumerate(names)}
    content = {**facts_of(run), "kinds": names}
    lines = [outcome_line(each, book=books[each.book], kind=kinds[each.kind]) for each in outcomes]
    head = json.dumps({"format": FORMAT, "sha256": _digest(content, lines), **content}, indent=1, ensure_ascii=False)
    body = ",\n".join(f"  {_compact(line)}" for line in lines)
    text = f'{head[:-2]},\n "outcomes": [\n{body}\n ]\n}}\n'
    write_whole(path, text)


def read_run(path: Path) -> tuple[Run, tuple[Outcome, ...]]:
    """Read a run and check it, with the outcomes in the order of the benchmark."""
    run, kinds, lines = _opened(path, shipped=False)
    books = [book.key for book in run.books]
    try:
        outcomes = tuple(read_outcome(line, books=books, kinds=kinds) for line in lines)
    except (TypeError, ValueError) as error:
        raise _damaged(path, str(error)) from None
    check_outcomes(str(path), run, outcomes)
    return run, outcomes


def read_head(path: Path) -> Run:
    """Read what a run that came with the program is, without its outcomes; raises as `read_run`."""
    return _opened(path, shipped=True)[0]


def _opened(path: Path, *, shipped: bool) -> tuple[Run, Sequence[str], Sequence[Any]]:
    content: dict[str, Any] = as_object(
        parse(decoded(read_bytes(path, at_most=MAX_BYTES), str(path)), str(path)), str(path)
    )
    found = content.pop("format", None)
    if found != FORMAT:
        raise BadBenchmark(
            f"{path} is not a run of this program: its format is {found!r:.60}, and '{FORMAT}' is wanted. "
            "A run is written by: python -m relic_core runs export ID FILE."
        )
    try:
        digest, lines = content.pop("sha256"), content.pop("outcomes")
        whole = digest == _digest(content, lines)
    except (KeyError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise _damaged(path, "its content is not what its sha256 says")
    kinds = checked(list[str], content.pop("kinds", None), f"{path}: 'kinds'")
    return _run(content, str(path), shipped=shipped), kinds, lines


class _Line(NamedTuple):
    example_id: str
    book: Count | str
    length: Count
    kind: Count | str
    candidates: Count
    rank: Count
    overlap_rank: Count
    gold: tuple[Count, Count]
    first: tuple[tuple[Count, Count], ...]
    graded: tuple[tuple[Count, Amount], ...] = ()


def outcome_line(outcome: Outcome, *, book: int | str, kind: int | str) -> list[Any]:
    """Write an outcome as a short list; its book and its kind are named as given.

    >>> one = Outcome(example_id="7", book="emma", length=2, kind="", candidates=90, rank=3, overlap_rank=2,
    ...               gold=(100, 140), first=((10, 30), (80, 120)))
    >>> outcome_line(one, book=0, kind=0)
    ['7', 0, 2, 0, 90, 3, 2, [100, 40], [[10, 20], [80, 40]]]
    """
    line = [
        outcome.example_id,
        book,
        outcome.length,
        kind,
        outcome.candidates,
        outcome.rank or 0,
        outcome.overlap_rank or 0,
        _shortened(outcome.gold),
        list(map(_shortened, outcome.first)),
    ]
    return [*line, outcome.graded] if outcome.graded else line


def read_outcome(line: Sequence[Any], *, books: Sequence[str] | None = None, kinds: Sequence[str] = ()) -> Outcome:
    """Read what `outcome_line` wrote; what numbers of books and kinds stand for is given, or the line names them."""
    read = record_of(_Line, json.dumps(line))
    book, kind = read.book, read.kind
    if books is not None:
        if not (isinstance(book, int) and isinstance(kind, int) and book < len(books) and kind < len(kinds)):
            raise ValueError(
                f"the outcome of example '{read.example_id:.40}' is of a book or a kind that is not listed"
            )
        book, kind = books[book], kinds[kind]
    if not (isinstance(book, str) and isinstance(kind, str)):
        raise TypeError(f"the outcome of example '{read.example_id:.40}' holds a name that is none")
    return Outcome(
        example_id=read.example_id,
        book=book,
        length=read.length,
        kind=kind,
        candidates=read.candidates,
        rank=read.rank or None,
        overlap_rank=read.overlap_rank or None,
        gold=_place(read.gold),
        first=tuple(map(_place, read.first)),
        graded=read.graded,
    )


def _damaged(path: Path, what: str) -> BadBenchmark:
    return BadBenchmark(
        f"{path} cannot be used as a run: {what:.300}. Take the file anew from where it came, or measure the run again."
    )


def _digest(content: dict[str, Any], lines: Any) -> str:  # noqa: ANN401 - as read from JSON
    return hashlib.sha256(_compact({**content, "outcomes": lines}).encode()).hexdigest()


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _shortened(place: Offsets) -> list[int]:
    return [place[0], place[1] - place[0]]


def _place(shortened: Sequence[int]) -> Offsets:
    start, size = shortened
    if start + size > MOST:
        raise ValueError(f"{start:,} and {size:,} characters more are beyond any text")
    return start, start + size


_OWN = [each.name for each in fields(Run) if each.name != "shipped"]  # whether it came with the program no file decides


def facts_of(run: Run) -> dict[str, object]:
    """Say all there is to say of a run but its outcomes, ready for JSON; the moment in UTC as ISO 8601."""
    return {name: getattr(run, name) for name in _OWN} | {
        "shape": str(run.shape),
        "configuration": dict(sorted(run.configuration.items())),
        "books": [asdict(book) for book in run.books],
        "machine": dict(sorted(run.machine.items())),
        "created": run.created.astimezone(UTC).isoformat(),
        "tags": list(run.tags),
    }


def _run(content: dict[str, Any], here: str, *, shipped: bool) -> Run:
    try:
        shape = ContextSize.parse(as_string(content.get("shape"), f"{here}: 'shape'"))
    except BadRequest as error:
        raise BadBenchmark(f"{here}: {error}") from None
    run = checked(Run, {**content, "shape": asdict(shape), "shipped": shipped}, here)
    return replace(run, created=checked(Moment, content["created"], f"{here}: 'created'"))


def check_outcomes(here: str, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Refuse outcomes that cannot be those of a run: their number, a book, a rank or a place, an example twice."""
    if len(outcomes) != run.examples:
        raise BadBenchmark(f"{here}: the run says {run.examples:,} examples, and has {len(outcomes):,} outcomes.")
    books = {book.key for book in run.books}
    seen: set[str] = set()
    for outcome in outcomes:
        there = f"{here}: example '{outcome.example_id:.80}'"
        if outcome.example_id in seen:
            raise BadBenchmark(f"{there} occurs twice.")
        seen.add(outcome.example_id)
        if outcome.book not in books:
            raise BadBenchmark(f"{there} is of the book '{outcome.book:.80}', which the run does not name.")
        if outcome.length < 1 or outcome.candidates < 1:
            raise BadBenchmark(f"{there} has a gold of {outcome.length} sentences, {outcome.candidates:,} candidates.")
        if not outcome.possible:
            raise BadBenchmark(
                f"{there}: the gold's rank is {outcome.rank} and that of the first overlapping hit "
                f"{outcome.overlap_rank}, of {outcome.candidates:,} candidates; that cannot be."
            )
        if not all(0 < grade < math.inf for _, grade in outcome.graded):
            raise BadBenchmark(f"{there} has a judged passage whose grade is not a number above 0.")
        for start, end in (outcome.gold, *outcome.first):
            if not 0 <= start <= end:
                raise BadBenchmark(f"{there}: {start} to {end} is not a place in a text.")
