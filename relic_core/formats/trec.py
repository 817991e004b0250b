"""TREC's run and qrels files, for the tools that read them (trec_eval, ir_measures).

A run has six columns, ``query Q0 document rank score tag``; qrels have four, ``query 0 document grade``. Such tools
ignore the column of ranks and sort by score, breaking ties their own way; so the scores written here are not the
retriever's but count down by one from rank to rank, and every tool comes to our order. They stay below 2**24 so that
tools which keep them in single precision (trec_eval) hold them exactly.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from relic_core.domain import Outcome
from relic_core.errors import BadBenchmark
from relic_core.formats.files import check_text, read_text, written_whole

DEPTH = 1000
"""How far down a run's ranking goes: as far as trec_eval's users are used to."""


def write_run(path: Path, outcomes: Sequence[Outcome], tag: str) -> None:
    """Write what is known of each ranking, whole or not at all: see `rankings`."""
    tag = _word(tag, "the tag")
    with written_whole(path) as file:
        for query, ranking in rankings(outcomes):
            file.writelines(
                f"{query} Q0 {document} {rank} {score:.0f} {tag}\n".encode()
                for rank, (document, score) in enumerate(ranking.items(), start=1)
            )


def rankings(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, dict[str, float]]]:
    """Give by query the scores of its documents, best first: the first hits, and the gold at its rank.

    What stood between is not kept in a run; its places are filled with names that no passage has, so that tools find
    the gold at the rank that it had. A gold that stood below `DEPTH` is left out, and counts as not found. Of judged
    passages the ranking itself is given. An example without a ranking is left out, as in every run.
    """
    for outcome in outcomes:
        if ranking := _ranked(outcome):
            scores = map(float, range(len(ranking), 0, -1))
            yield _word(outcome.example_id, "the id of a query"), dict(zip(ranking, scores, strict=True))


def read_run(path: Path) -> tuple[str, dict[str, list[str]]]:
    """Read a run: its tag, and for each query its documents by score, as TREC's tools do; ties as they stand."""
    rows, scored = _rows(path, "query Q0 document rank score tag", 4)
    if not rows:
        raise BadBenchmark(f"{path} is empty: it holds no ranking. Export the run once more.")
    return rows[-1][-1], {query: sorted(found, key=lambda each: -found[each]) for query, found in scored.items()}


def write_qrels(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the golds of each example, whole or not at all; errors as those of `write_run`."""
    with written_whole(path) as file:
        for query, grades in golds(outcomes):
            file.writelines(f"{query} 0 {document} {grade:g}\n".encode() for document, grade in grades.items())


def golds(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, dict[str, float]]]:
    """Give by query the grades of its documents."""
    for outcome in outcomes:
        grades = {} if outcome.graded else {document(outcome.book, outcome.gold): 1.0}
        for number, (rank, grade) in enumerate(outcome.graded):
            listed = 1 <= rank <= len(outcome.first)
            grades[document(outcome.book, outcome.first[rank - 1]) if listed else f"unlisted-{number}"] = grade
        yield _word(outcome.example_id, "the id of a query"), grades


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Read qrels: for each query the grades of its documents, those of 0 and less among them; raises as `read_run`."""
    return _rows(path, "query 0 document grade", 3)[1]


def _rows(path: Path, columns: str, number_in: int) -> tuple[list[list[str]], dict[str, dict[str, float]]]:
    """Read a file of columns: its rows, and for each query the number that stands beside each document."""
    wanted, rows, found = columns.split(), list[list[str]](), dict[str, dict[str, float]]()
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        here, row = f"{path}, line {number:,}", line.split()
        try:
            value = float(row[number_in]) if len(row) == len(wanted) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BadBenchmark(
                f"{here}: {len(wanted)} columns are wanted, {columns}, of which the {wanted[number_in]} is a number."
            )
        query, named = row[0], row[2]
        if named in found.setdefault(query, {}):
            raise BadBenchmark(f"{here}: document '{named:.80}' stands twice under query '{query:.80}'.")
        found[query][named] = value
        rows.append(row)
    return rows, found


def _ranked(outcome: Outcome) -> list[str]:
    if outcome.rank is None:
        return []
    first = [document(outcome.book, place) for place in outcome.first]
    if outcome.graded:
        return first
    if outcome.rank <= len(first):  # what answers may only overlap it
        first[outcome.rank - 1] = document(outcome.book, outcome.gold)
        return first
    if outcome.rank > DEPTH:
        return first
    between = [f"rank-{rank}" for rank in range(len(first) + 1, outcome.rank)]
    return [*first, *between, document(outcome.book, outcome.gold)]


def document(book: str, place: Sequence[int]) -> str:
    """Name a passage by its characters."""
    return _word(f"{'_'.join(book.split())}:{place[0]}-{place[1]}", "the id of a document")


def _word(written: str, what: str) -> str:
    if not written or any(each.isspace() or unicodedata.category(each) == "Cc" for each in written):
        raise BadBenchmark(
            f"{what} is '{written:.80}'. In TREC's files it is one column: at least a character, and no white space."
        )
    check_text(written, what)
    return written
