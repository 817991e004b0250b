"""Items of the proxy task: the gold among three passages (RELiC, section 4).

A person cannot rank thousands of passages. The paper therefore gave its experts the gold with the two passages that
BM25 had put first, in random order, and asked which belongs to the claim. A retriever answers the same item by its own
ranking: its answer is the option that it ranks best. The retriever that chose the other two options is left out, since
it had put them above all else (the paper's note 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Span
from relic_core.domain.studies import CANNOT_DECIDE, OPTIONS, Item, Option, in_order
from relic_core.domain.works import Work
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from relic_core.domain import ContextSize, QuotationContext, Ranking
    from relic_core.evaluation.metrics import Values


class TooShort(BadRequest):
    """A work has too few passages for the options of an item."""


def make_item(
    window: QuotationContext,
    ranking: Ranking,
    work: Work,
    *,
    shape: ContextSize,
    candidates: npt.NDArray[np.int64] | None = None,
    seed: int = 0,
    words: Callable[[Work, Span], str] = Work.span_text,
) -> Item:
    """Make an item of a window: its gold and the best two spans of a ranking.

    - `window`: whose gold is to be told from the other two.
    - `ranking`: all spans of the gold's length of its work for the window's claim, by the retriever that chooses.
    - `shape`: how much context the claim has.
    - `candidates`: starts of the spans that may be options, where not all may (`Benchmark.candidates`).
    - `seed`: decides, with the window's id, the order of the options; the same on every machine.
    - `words`: sets the words of a span as they are shown; to the letter where not given.

    Raises BadRequest: the ranking is of another length or work, or the gold lies beyond the work.
    Raises TooShort: the work is too short for three options.
    """
    gold = window.gold
    if ranking.length != gold.length:
        raise BadRequest(
            f"The gold of '{window.id}' has {gold.length} sentences and the ranking is of spans of {ranking.length}: "
            "rank the spans of the gold's length."
        )
    if not 0 <= gold.start < len(ranking) or len(ranking.scores) != work.candidates(gold.length):
        raise BadRequest(
            f"The gold of '{window.id}' starts at sentence {gold.start}, and {ranking.work_id} has {len(ranking)} "
            f"spans of {gold.length} sentences: the ranking is of another work or edition."
        )
    chosen = [gold, *_distractors(gold, ranking, candidates)]
    if len(chosen) < OPTIONS:
        raise TooShort(
            f"{ranking.work_id} is too short for an item of '{window.id}': beside the gold it needs {OPTIONS - 1} "
            f"passages of {gold.length} sentences that overlap neither the gold nor each other, and the ranking gives "
            f"{len(chosen) - 1}. Choose a shorter quotation or a longer work."
        )
    starts = in_order(seed, window.id, tuple(str(span.start) for span in chosen))
    spans = tuple(Span(int(start), gold.length) for start in starts)
    claim = window.claim(shape)
    return Item(
        id=window.id,
        book=window.book,
        work_id=ranking.work_id,
        left=claim.left,
        right=claim.right,
        options=tuple(_option(work, span, words) for span in spans),
        right_option=1 + spans.index(gold),
        chooser=ranking.retriever,
        gold_rank=ranking.rank_of(gold),
        kind=window.kind,
    )


def _distractors(gold: Span, ranking: Ranking, candidates: npt.NDArray[np.int64] | None) -> list[Span]:
    """Give the best two spans that overlap neither the gold nor each other; fewer where there are no more."""
    allowed = np.ones(len(ranking.scores), dtype=bool)
    if candidates is not None:
        allowed[:] = False
        allowed[candidates] = True
    chosen: list[Span] = []
    for start in ranking.order:
        span = Span(int(start), gold.length)
        if allowed[start] and not any(span.overlaps(other) for other in (gold, *chosen)):
            chosen.append(span)
            if len(chosen) == OPTIONS - 1:
                break
    return chosen


def _option(work: Work, span: Span, words: Callable[[Work, Span], str]) -> Option:
    return Option(
        span=span,
        at=(work.sentences[span.start].start, work.sentences[span.end - 1].end),
        address=str(work.address(span.start)),
        words=words(work, span),
    )


def choice(item: Item, ranking: Ranking | None) -> int:
    """Say which option a retriever chooses: the one that it ranks best.

    - `ranking`: all spans of the options' length of the item's work, ranked for its claim; None where there is no
      ranking.

    Returns: number of the option, from 1; `CANNOT_DECIDE` without a ranking. Equal scores keep the order of the text,
    as in every ranking.

    Raises BadRequest: the ranking is of another work or length, or is by the retriever that chose the options.
    """
    if ranking is None:
        return CANNOT_DECIDE
    if ranking.retriever == item.chooser:
        raise BadRequest(
            f"{item.chooser} chose the options of item '{item.id}' from its own best hits, so its accuracy on them "
            "means nothing. Measure another retriever, or make items by another chooser."
        )
    length = item.gold.span.length
    if ranking.work_id != item.work_id or ranking.length != length:
        raise BadRequest(
            f"Item '{item.id}' is of {item.work_id} and of {length} sentences; the ranking is of "
            f"{ranking.work_id} and of {ranking.length}."
        )
    return 1 + min(range(OPTIONS), key=lambda place: ranking.rank_of(item.spans[place]))


def proxy_values(items: Sequence[Item], choices: Mapping[str, int]) -> Values:
    """Say which items were answered rightly.

    - `choices`: per item's id the number of the option that was chosen; `CANNOT_DECIDE` is a wrong answer.

    Returns: 1 where the critic's quotation was chosen, else 0.

    Raises BadRequest: an item was not answered.
    """
    lacking = [item.id for item in items if item.id not in choices]
    if lacking:
        raise BadRequest(
            f"{len(lacking)} items have no answer, the first of them '{lacking[0]}': answer each, or say that it "
            f"cannot be decided ({CANNOT_DECIDE})."
        )
    return np.array([choices[item.id] == item.right_option for item in items], dtype=np.float64)
