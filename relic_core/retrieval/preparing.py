"""Preparing works by workers: pieces of works are encoded elsewhere, and the files of the indexes are written here.

A piece is a block of sentences that end with a chapter, or some hundred spans, as one process encodes it too, so that
the index is the same to the bit. Pieces of all works are on their way together. Each is kept as soon as it is back, in
the place where a preparation by one process keeps it: either goes on where the other was stopped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from relic_core.config import Settings
from relic_core.domain import Work
from relic_core.errors import BadRequest, BadWeights, RelicError
from relic_core.ports import Progress, Workers, silent
from relic_core.retrieval.index_files import Arrays, Parts, Recipe, exists
from relic_core.retrieval.registry import RetrieverSpec, same_here
from relic_core.retrieval.vectors import VectorSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceTask:
    """A piece of a work that is to be encoded; `number` and `content` as of `vectors.Pieces`."""

    spec: RetrieverSpec
    recipe: Recipe
    number: int
    content: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Encoded:
    """What came of a piece: its arrays, or why there are none."""

    recipe: Recipe
    number: int
    arrays: Arrays = field(default_factory=dict)
    problem: str = ""


def encode_piece(task: PieceTask) -> Encoded:
    """Encode a piece, on a worker; what is wrong with this work alone is said in the result."""
    retriever = cast("VectorSearch", same_here(task.spec))
    try:
        return Encoded(task.recipe, task.number, retriever.encode(task.content))
    except (BadWeights, BadRequest):
        raise
    except RelicError as error:
        return Encoded(task.recipe, task.number, problem=str(error))


def lost(task: PieceTask, reason: str) -> Encoded:
    """Say what came of a piece whose worker died, again and again."""
    return Encoded(task.recipe, task.number, problem=f"A part of it could not be encoded: {reason}.")


def prepare_works(
    retrievers: Sequence[VectorSearch],
    works: Iterable[tuple[Work, Sequence[int]]],
    settings: Settings,
    *,
    workers: Workers,
    sentences: int,
    progress: Progress,
) -> Generator[tuple[Work, str]]:
    """Prepare works for some retrievers, each for some lengths.

    - `works`: each once; read one by one, as workers become free.
    - `settings`: those that the retrievers were made with.
    - `sentences`: of all works together; `progress` counts them.

    Yields: each work when it is ready, or with what is wrong with it.

    Raises BadWeights, BadRequest: a model is missing, here or on a worker, or is another one there.
    """
    specs = [(retriever, RetrieverSpec.of(retriever, settings)) for retriever in retrievers]
    left: dict[str, _Left] = {}
    ready: deque[_Left] = deque()
    done = 0.0

    def tasks() -> Iterator[PieceTask]:
        for work, lengths in works:
            some = list(chain.from_iterable(_unfinished(*each, work, lengths) for each in specs))
            left[work.id] = _Left(work, lengths, pieces=len(some), missing=len(some))
            if not some:
                ready.append(left[work.id])
            yield from some

    def finish() -> Iterator[tuple[Work, str]]:
        nonlocal done
        while ready:
            each = ready.popleft()
            del left[each.work.id]
            if not each.pieces:
                done += len(each.work.sentences)
            if not each.problem:
                for retriever in retrievers:
                    retriever.prepare(each.work, silent, lengths=each.lengths)
            yield each.work, each.problem

    with closing(workers.map(encode_piece, tasks())) as results:
        for encoded in results:
            mine = left[encoded.recipe.work_id]
            if encoded.problem:
                mine.problem = encoded.problem
            else:
                Parts(settings.indexes, encoded.recipe).save(encoded.number, encoded.arrays)
            mine.missing -= 1
            done += len(mine.work.sentences) / mine.pieces
            progress(round(done), sentences, f"Reading {mine.work.title}")
            if not mine.missing:
                ready.append(mine)
            yield from finish()
    yield from finish()


def _unfinished(
    retriever: VectorSearch, spec: RetrieverSpec, work: Work, lengths: Sequence[int]
) -> Iterator[PieceTask]:
    for pieces in retriever.pieces(work, lengths):
        if not exists(retriever.root, pieces.recipe):
            parts = Parts(retriever.root, pieces.recipe)
            for number, members in enumerate(pieces.members):
                if parts.load(number, len(members)) is None:
                    content = pieces.content(members)
                    yield PieceTask(spec=spec, recipe=pieces.recipe, number=number, content=content)


@dataclass(slots=True)
class _Left:
    """A work that is being prepared, how many of its pieces are missing, and what went wrong."""

    work: Work
    lengths: Sequence[int]
    pieces: int
    missing: int
    problem: str = ""
