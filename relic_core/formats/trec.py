"""TREC's run and qrels files, for the tools that read them (trec_eval, ir_measures).

A run has six columns, ``query Q0 document rank score tag``; qrels have four, ``query 0 document grade``. Such tools
ignore the column of ranks and sort by score, breaking ties their own way; so the scores written here are not the
retriever's but count down by one from rank to rank, and every tool comes to our order. They stay below 2**24 so that
tools which keep them in single precision (trec_eval) hold them exactly.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import check_text, written_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import Outcome

MAX_DEPTH = 2**24
"""Documents that one query can rank: the whole numbers that single precision holds."""

DEPTH = 1000
"""How far down a run's ranking goes: as far as trec_eval's users are used to."""


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
