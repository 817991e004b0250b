"""The file that RELiC's leaderboard takes: one JSON object, quotation id -> starts of the 100 best candidates.

A candidate is named by the index of its first sentence in the book, as in the benchmark file; the scorer of the
leaderboard looks the gold start up in the list, and takes no list that is shorter than 100. Source: README.md and
scripts/score_submission.py of RELiC's repository.
"""

from __future__ import annotations

import json
import operator
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, kind_of, parse, read_text, written_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.formats.relic import RelicBook

DEPTH = 100
"""How many candidates a quotation is answered with."""


def write_submission(path: Path, rankings: Mapping[str, Sequence[int]], books: Sequence[RelicBook]) -> None:
    """Write a submission, whole or not at all; the same rankings make the same bytes.

    - `path`: the file; one that is there is replaced.
    - `rankings`: for every quotation of the books the starts of its best candidates, best first: 100, or all where its
      book has fewer of its length.

    Raises BadBenchmark: a quotation is missing or not of these books; a list is too short or too long, names a
    candidate twice, or one that the book has not.
    Raises StoreError: the file cannot be written.
    """
    plain: dict[str, object] = {}
    for quote_id, starts in rankings.items():
        try:
            plain[quote_id] = [operator.index(start) for start in starts]  # also numpy's numbers
        except TypeError:
            raise BadBenchmark(
                f"{path}: quotation '{quote_id:.80}' is answered with something that is no start."
            ) from None
    checked = _checked(str(path), plain, books)
    lines = ",\n".join(
        f"{json.dumps(quote_id, ensure_ascii=False)}: {list(starts)}" for quote_id, starts in checked.items()
    )
    with written_whole(path) as file:
        file.write(f"{{\n{lines}\n}}\n".encode())


def read_submission(path: Path, books: Sequence[RelicBook]) -> dict[str, tuple[int, ...]]:
    """Read a submission and check it against what was asked.

    Returns: starts, best first, for every quotation in the order of the books.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is damaged, or does not answer these books (as of `write_submission`).
    """
    return _checked(str(path), as_object(parse(read_text(path), str(path)), str(path)), books)


def _checked(path: str, answers: Mapping[str, object], books: Sequence[RelicBook]) -> dict[str, tuple[int, ...]]:
    checked: dict[str, tuple[int, ...]] = {}
    for book in books:
        valid = {length: frozenset(starts) for length, starts in book.candidates.items()}
        for quote in book.quotes:
            here = f"{path}: quotation '{quote.id:.80}' of '{book.title:.80}'"
            if quote.id not in answers:
                raise BadBenchmark(f"{here} is not answered. Every quotation of the benchmark needs a list.")
            checked[quote.id] = _answer(here, answers[quote.id], valid[quote.length], quote.length)
    unknown = [quote_id for quote_id in answers if quote_id not in checked]
    if unknown:
        raise BadBenchmark(
            f"{path}: '{unknown[0]:.80}' is no quotation of these books ({len(unknown):,} such ids). "
            "The file answers another benchmark or another split."
        )
    return checked


def _answer(here: str, starts: object, valid: frozenset[int], length: int) -> tuple[int, ...]:
    if not isinstance(starts, list):
        raise BadBenchmark(f"{here} must be answered with a list of starts, and is with {kind_of(starts)}.")
    wanted = min(DEPTH, len(valid))
    if len(starts) != wanted:
        raise BadBenchmark(f"{here} is answered with {len(starts):,} candidates; {wanted} are wanted.")
    for start in starts:
        if type(start) is not int:
            raise BadBenchmark(f"{here} must be answered with whole numbers; there is {kind_of(start)}.")
        if start not in valid:
            raise BadBenchmark(f"{here}: {start:,} is no candidate of {length} sentences in this book.")
    if len(set(starts)) < len(starts):
        raise BadBenchmark(f"{here} is answered with the same candidate twice.")
    return tuple(starts)
