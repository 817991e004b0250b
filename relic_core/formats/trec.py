"""TREC's run and qrels files, for the tools that read them (trec_eval, ir_measures).

A run has six columns, ``query Q0 document rank score tag``; qrels have four, ``query 0 document grade``. Such tools
ignore the column of ranks and sort by score, breaking ties their own way; so the scores written here are not the
retriever's but count down by one from rank to rank, and every tool comes to our order. They stay below 2**24 so that
tools which keep them in single precision (trec_eval) hold them exactly.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import check_text, read_text, written_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Outcome

MAX_DEPTH = 2**24
"""Documents that one query can rank: the whole numbers that single precision holds."""

DEPTH = 1000
"""How far down a run's ranking goes: as far as trec_eval's users are used to."""

_RUN_COLUMNS = 6
_QREL_COLUMNS = 4


def write_run(path: Path, rankings: Mapping[str, Sequence[str]], tag: str) -> None:
    """Write a run, whole or not at all; the same rankings make the same bytes.

    - `rankings`: query id -> document ids, best first. A query without a document leaves no line, as in every run.

    Raises BadBenchmark: an id or the tag is empty or holds white space, a document is ranked twice, or a ranking is too
    long.
    Raises StoreError: the file cannot be written.
    """
    tag = _word(tag, "the tag")
    with written_whole(path) as file:
        for query, ranking in rankings.items():
            name = _word(query, "the id of a query")
            if len(ranking) > MAX_DEPTH:
                raise BadBenchmark(
                    f"{path}: query '{name:.80}' ranks {len(ranking):,} documents; at most {MAX_DEPTH:,}."
                )
            if len(set(ranking)) < len(ranking):
                raise BadBenchmark(f"{path}: query '{name:.80}' ranks a document twice.")
            file.writelines(
                f"{name} Q0 {_word(document, 'the id of a document')} {rank} {len(ranking) - rank + 1} {tag}\n".encode()
                for rank, document in enumerate(ranking, start=1)
            )


def read_run(path: Path) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Read a run.

    What it returns:
    - `tag`: what names it; empty where the file has no line.
    - `rankings`: query id -> document ids, best first, in the order of the file.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: a line has not six columns, the ranks of a query do not count up from 1, its scores do not fall
    from line to line (tools would order it otherwise), a document is ranked twice, or there is more than one tag; with
    the line.
    """
    tag = ""
    rankings: dict[str, dict[str, float]] = {}
    last = ""
    for here, (query, _, document, rank, score, written) in _rows(
        path, _RUN_COLUMNS, "query Q0 document rank score tag"
    ):
        if tag not in {"", written}:
            raise BadBenchmark(f"{here}: the tag is '{written:.80}', and was '{tag:.80}' before. A file holds one run.")
        tag = written
        if query != last and query in rankings:
            raise BadBenchmark(f"{here}: query '{query:.80}' comes back. The lines of a query stand together.")
        last = query
        ranking = rankings.setdefault(query, {})
        if document in ranking:
            raise BadBenchmark(f"{here}: document '{document:.80}' is ranked twice for query '{query:.80}'.")
        if rank != str(len(ranking) + 1):
            raise BadBenchmark(f"{here}: the rank is '{rank:.20}', and {len(ranking) + 1} follows.")
        value = _score(here, score)
        if ranking and value >= next(reversed(ranking.values())):
            raise BadBenchmark(
                f"{here}: the score {score:.30} is not below the one before, so that tools would order the documents "
                "otherwise than the ranks do."
            )
        ranking[document] = value
    return tag, {query: tuple(ranking) for query, ranking in rankings.items()}


def write_qrels(path: Path, relevant: Mapping[str, Mapping[str, int]]) -> None:
    """Write qrels, whole or not at all; the same grades make the same bytes.

    - `relevant`: query id -> document id -> grade, from 0.

    Raises BadBenchmark: an id is empty or holds white space, or a grade is below 0.
    Raises StoreError: the file cannot be written.
    """
    with written_whole(path) as file:
        for query, grades in relevant.items():
            name = _word(query, "the id of a query")
            for document, grade in grades.items():
                if grade < 0:
                    raise BadBenchmark(
                        f"{path}: '{document:.80}' has the grade {grade} for '{name:.80}'; grades begin at 0."
                    )
                file.write(f"{name} 0 {_word(document, 'the id of a document')} {grade:d}\n".encode())


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read qrels.

    Returns: query id -> document id -> grade, in the order of the file.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: a line has not four columns, a grade is no whole number from 0, or a document is graded twice;
    with the line.
    """
    relevant: dict[str, dict[str, int]] = {}
    for here, (query, _, document, grade) in _rows(path, _QREL_COLUMNS, "query 0 document grade"):
        grades = relevant.setdefault(query, {})
        if document in grades:
            raise BadBenchmark(f"{here}: document '{document:.80}' is graded twice for query '{query:.80}'.")
        if not re.fullmatch(r"[0-9]{1,9}", grade, re.ASCII):
            raise BadBenchmark(f"{here}: the grade '{grade:.20}' is no whole number from 0.")
        grades[document] = int(grade)
    return relevant


def golds_of(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Name the gold of each example, for `write_qrels`."""
    return {each.example_id: {_document(each.book, each.gold): 1} for each in outcomes}


def rankings_of(outcomes: Sequence[Outcome]) -> dict[str, list[str]]:
    """List what is known of each ranking, for `write_run`: the first hits, and the gold at its rank.

    What stood between is not kept in a run; its places are filled with names that no passage has, so that tools find
    the gold at the rank that it had. A gold that stood below `DEPTH` is left out, and counts as not found.
    """
    return {each.example_id: _ranked(each) for each in outcomes}


def _ranked(outcome: Outcome) -> list[str]:
    if outcome.rank is None:
        return []
    first = [_document(outcome.book, place) for place in outcome.first]
    if outcome.rank <= len(first) or outcome.rank > DEPTH:
        return first
    between = [f"rank-{rank}" for rank in range(len(first) + 1, outcome.rank)]
    return [*first, *between, _document(outcome.book, outcome.gold)]


def _document(book: str, place: Sequence[int]) -> str:
    """Name a passage by its characters; without white space, as TREC's files want it."""
    return f"{'_'.join(book.split())}:{place[0]}-{place[1]}"


def _word(written: str, what: str) -> str:
    """Refuse what would not come back as one column."""
    if not written or any(each.isspace() or unicodedata.category(each) == "Cc" for each in written):
        raise BadBenchmark(
            f"{what} is '{written:.80}'. In TREC's files it is one column: at least a character, and no white space."
        )
    check_text(written, what)
    return written


def _rows(path: Path, columns: int, names: str) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        row = re.split(r"[ \t]+", line.strip(" \t\r"))
        if row == [""]:
            continue
        here = f"{path}, line {number:,}"
        if len(row) != columns:
            raise BadBenchmark(f"{here} has {len(row)} columns, and {columns} are wanted: {names}.")
        yield here, row


def _score(here: str, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadBenchmark(f"{here}: the score '{written:.30}' is no number.")
    return value
