"""Sheets for readers: passages to be judged without knowing which retriever found them, at what rank.

A sheet is a CSV file with a row for each prompt and passage, each passage once however many retrievers found it, in an
order drawn by a seed. Its reader fills in the columns `verdict` and, if need be, `note`.
"""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.escaping import BOM, as_csv
from relic_core.formats.files import read_bytes, written_whole
from relic_core.reporting.passages import surroundings
from relic_core.text.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from relic_core.domain import Span, Work
    from tools.prompts.asking import Answered

Verdict = Literal["supports", "partly", "no"]
"""What a reader may say: the passage is evidence for the prompt, in part or from afar, or not."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
COLUMNS = ("id", "seed", "work", "prompt", "before", "passage", "after", "verdict", "note")
READERS = 2

_NEEDED = ("id", "seed", "verdict")
_AROUND = 2
"""Sentences of the chapter shown on either side."""
_MOST_BYTES = 5_000_000
_NAMED = 5
"""Rows that a message names; of more it gives the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet that a reader has filled in.

    - `seed`: of its order.
    - `verdicts`: by the id of the passage; all that were wanted.
    """

    seed: int
    verdicts: dict[str, Verdict]


def write_sheet(path: Path, answers: Sequence[Answered], *, seed: int) -> int:
    """Write an empty sheet.

    A cell that a spreadsheet would take for a formula gets an apostrophe in front; all others are to the letter, but
    for line wraps.

    - `path`: a file that is not there yet: one that was filled in must not be lost.
    - `seed`: decides the order, on every machine alike.

    Returns: how many passages are to be judged.

    Raises BadRequest: there is such a file.
    Raises StoreError: it cannot be written.
    """
    check_free(path)
    rows = [(id_, each, span) for each in answers for id_, span in each.passages.items()]
    rows.sort(key=lambda row: hashlib.sha256(f"{seed} {row[0]}".encode()).hexdigest())
    table: list[Sequence[object]] = [COLUMNS]
    for id_, each, span in rows:
        said = (each.prompt.prompt.title, each.prompt.prompt.claim, *in_context(each.work, span))
        table.append([id_, seed, *said, "", ""])
    with written_whole(path) as file:
        file.write(f"{BOM}{as_csv(table)}".encode())
    return len(rows)


def check_free(path: Path) -> None:
    """Refuse to write a sheet over a file that is there.

    Raises BadRequest: there is one.
    """
    if path.exists():
        raise BadRequest(f"There is a file {path} already, and verdicts may stand in it. Name another one.")


def in_context(work: Work, span: Span) -> tuple[str, str, str]:
    """Give a passage with a little of its chapter: what stands before it, its words, what stands after it."""
    sides = ["", "", ""]
    at = 0
    for paragraph in surroundings(work, span, sentences=_AROUND).paragraphs:
        for piece in paragraph.pieces:
            at = 1 if piece.gold else 2 if at else 0
            sides[at] += piece.text
        sides[at] += "\n\n"
    before, words, after = (side.strip() for side in sides)
    return before, words, after


def read_sheets(paths: Sequence[Path], wanted: Collection[str]) -> tuple[Sheet, ...]:
    """Read the sheets of the two readers, in the order given.

    - `wanted`: ids of the passages that each must judge.

    Raises BadRequest: they are not two.
    Raises NotFound, BadBenchmark: as `read_sheet`.
    """
    check_readers(paths)
    return tuple(read_sheet(path, wanted) for path in paths)


def check_readers(paths: Sequence[Path]) -> None:
    """Refuse another number of sheets than there are readers.

    Raises BadRequest: they are not two files.
    """
    if len(paths) != READERS or len({path.resolve() for path in paths}) != READERS:
        raise BadRequest(
            f"The report needs the sheets of {READERS} readers, each in a file of its own: --read FIRST --read SECOND."
        )


def read_sheet(path: Path, wanted: Collection[str]) -> Sheet:
    """Read a sheet that was filled in; capitals, spaces and the order of rows and columns make no difference.

    - `path`: the file, as `write_sheet` made it and a spreadsheet saved it, with commas, semicolons or tabs.
    - `wanted`: ids of the passages that it must judge, each once.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is no sheet; or a passage is missing, unknown, there twice, or without a verdict that is
    allowed.
    Raises BadText: it is no text.
    """
    text = decode(read_bytes(path, at_most=_MOST_BYTES), max_bytes=_MOST_BYTES).text
    head = text.partition("\n")[0]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count)))
    heads = [name.strip().casefold() for name in rows[0]] if rows else []
    if any(heads.count(name) != 1 for name in _NEEDED):
        raise BadBenchmark(f"{path} is no sheet of prompts: its first line must name the columns {', '.join(COLUMNS)}.")
    at = [heads.index(name) for name in _NEEDED]
    filled = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    said = [tuple(row[column].strip() if column < len(row) else "" for column in at) for row in filled]
    ids = [id_ for id_, _, _ in said]
    odd = [(id_, verdict) for id_, _, verdict in said if verdict and verdict.casefold() not in VERDICTS]
    wrong = [
        _those("is missing", "are missing", [id_ for id_ in wanted if id_ not in ids]),
        _those("is not asked about now", "are not asked about now", [id_ for id_ in ids if id_ not in wanted]),
        _those("stands there twice", "stand there twice", sorted({id_ for id_ in ids if ids.count(id_) > 1})),
        _those("has no verdict", "have no verdict", [id_ for id_, _, verdict in said if not verdict]),
        _those("has an unknown verdict", "have unknown verdicts", [f"{id_}: “{v:.20}”" for id_, v in odd]),
    ]
    if any(wrong):
        raise BadBenchmark(
            f"{path} cannot be taken as it is. {' '.join(filter(None, wrong))} Every passage that the retrievers find "
            f"now needs one of the verdicts {', '.join(VERDICTS)}. Where other passages are found than when the sheet "
            "was made, make a new one."
        )
    seeds = {seed for _, seed, _ in said}
    seed = seeds.pop() if len(seeds) == 1 else ""
    if not (seed.isascii() and seed.isdigit()):
        raise BadBenchmark(f"{path}: the column seed must hold one and the same number in every row. Restore it.")
    return Sheet(seed=int(seed), verdicts={id_: cast("Verdict", verdict.casefold()) for id_, _, verdict in said})


def _those(one: str, several: str, which: Sequence[str]) -> str:
    """Say of which passages something is true; nothing where there are none.

    >>> _those("is missing", "are missing", ["p1", "p2"])
    '2 passages are missing (p1, p2).'
    """
    if not which:
        return ""
    count = f"1 passage {one}" if len(which) == 1 else f"{len(which)} passages {several}"
    return f"{count} ({', '.join([*which[:_NAMED], *(['…'] if len(which) > _NAMED else [])])})."
