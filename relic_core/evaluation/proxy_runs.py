"""The proxy task answered by retrievers: one chooses the distractors, the others are asked (RELiC, section 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import rank_scores
from relic_core.errors import BadClaim, BadRequest
from relic_core.evaluation.proxy_items import TooShort, make_item, proxy_values
from relic_core.evaluation.runner import by_pool
from relic_core.ports import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Ranking, Shape, Window, Work
    from relic_core.evaluation.metrics import Values
    from relic_core.ports import Benchmark, Progress, Retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyAnswers:
    """What retrievers answered.

    Attributes
    ----------
    books : tuple of str
        The quoted work of each item.
    values : dict of str to float array, shape (n_items,)
        By retriever: 1 for a right answer, else 0.
    left_out : tuple of str
        Windows that no item could be made of: the chooser gave no ranking, or the work is too short for three options.
    """

    books: tuple[str, ...]
    values: dict[str, Values] = field(repr=False)
    left_out: tuple[str, ...]


def answer_items(
    benchmark: Benchmark,
    retrievers: Sequence[Retriever],
    *,
    chooser: Retriever,
    shape: Shape,
    seed: int = 0,
    progress: Progress,
) -> ProxyAnswers:
    """Make an item of every window of a benchmark and ask retrievers.

    Parameters
    ----------
    benchmark : Benchmark
        Whose windows become items.
    retrievers : sequence of Retriever
        Who is asked; not the chooser, whose own best two the other options are (the paper's note 9).
    chooser : Retriever
        Who chooses the other two options.
    shape : Shape
        How much context each claim takes.
    seed : int
        Decides the order of the options.
    progress : Progress
        Told how many items are done.

    Raises
    ------
    BadRequest
        Nobody is asked, or the chooser is, or its copy for checking.
    """
    if not retrievers or any(alike(each.name) == alike(chooser.name) for each in retrievers):
        raise BadRequest(
            f"{chooser.name} chooses the options, so its own accuracy says nothing. Name other retrievers to be asked, "
            "or another chooser."
        )
    windows = benchmark.windows()
    books: list[str] = []
    left_out: list[str] = []
    values: dict[str, list[float]] = {each.name: [] for each in retrievers}
    done = 0
    for pool, some in by_pool(windows).items():
        work = benchmark.work(pool)
        lengths = sorted({window.gold.length for window in some})
        for each in (chooser, *retrievers):
            progress(done, len(windows), f"{work.title}: preparing {each.name}")
            each.prepare(work, silent, lengths=lengths)
        for window in some:
            done += 1
            progress(done, len(windows), work.title)
            chosen = _ranking(chooser, window, work, shape)
            if chosen is None:
                left_out.append(window.id)
                continue
            try:
                item = make_item(window, chosen, candidates=benchmark.candidates(window), seed=seed)
            except TooShort:  # counted and told with the result
                left_out.append(window.id)
                continue
            books.append(window.book)
            for each in retrievers:
                answers = proxy_values([item], {item.id: _ranking(each, window, work, shape)})
                values[each.name].append(float(answers[0]))
    return ProxyAnswers(
        books=tuple(books),
        values={name: np.array(answers, dtype=np.float64) for name, answers in values.items()},
        left_out=tuple(left_out),
    )


def alike(name: str) -> str:
    """Give the name of the retriever that makes the same ranking: a copy for checking has that of what it copies.

    Examples
    --------
    >>> alike("bm25-reference"), alike("bm25-lemmas")
    ('bm25', 'bm25-lemmas')
    """
    return name.removesuffix("-reference")


def _ranking(retriever: Retriever, window: Window, work: Work, shape: Shape) -> Ranking | None:
    """Rank all spans for a window; None for a claim without words."""
    try:
        scores = retriever.score(window.claim(shape), work, window.gold.length)
    except BadClaim:
        return None
    return rank_scores(retriever.name, work.id, window.gold.length, scores)
