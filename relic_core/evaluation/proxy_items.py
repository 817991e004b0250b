"""Items of the proxy task: the gold among three passages (RELiC, section 4).

A person cannot rank thousands of passages. The paper therefore gave its experts the gold with the two passages that
BM25 had put first, in random order, and asked which belongs to the claim. A retriever answers the same item by its own
ranking: its answer is the option that it ranks best. The retriever that chose the other two options is left out, since
it had put them above all else (the paper's note 9).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Span
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from relic_core.domain import Ranking, Window
    from relic_core.evaluation.metrics import Values

OPTIONS = 3


class TooShort(BadRequest):
    """A work has too few passages for the options of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyItem:
    """A claim's gold among two passages that a retriever chose.

    Attributes
    ----------
    id : str
        Of the window.
    work_id : str
        The work that the options stand in.
    options : tuple of Span
        Three spans of one length that do not overlap, in the order in which they are shown.
    answer : int
        Place of the gold among the options, from 0.
    chooser : str
        The retriever whose best two the other options are.

    Raises
    ------
    BadRequest
        Not three spans of one length apart from each other, or no such answer.
    """

    id: str
    work_id: str
    options: tuple[Span, ...]
    answer: int
    chooser: str

    def __post_init__(self) -> None:
        """Check the options."""
        in_order = sorted(self.options)
        apart = all(not a.overlaps(b) for a, b in pairwise(in_order))
        if (
            len(self.options) != OPTIONS
            or len({option.length for option in self.options}) != 1
            or not apart
            or self.answer not in range(OPTIONS)
        ):
            raise BadRequest(
                f"Item '{self.id}' cannot be: it needs {OPTIONS} passages of one length that do not overlap, and the "
                f"answer 0, 1 or 2; given were {self.options} and {self.answer}."
            )

    @property
    def gold(self) -> Span:
        """The option that the critic quoted."""
        return self.options[self.answer]


def make_item(
    window: Window, ranking: Ranking, *, candidates: npt.NDArray[np.int64] | None = None, seed: int = 0
) -> ProxyItem:
    """Make an item of a window: its gold and the best two spans of a ranking.

    Parameters
    ----------
    window : Window
        Whose gold is to be told from the other two.
    ranking : Ranking
        All spans of the gold's length of its work for the window's claim, by the retriever that chooses.
    candidates : int array, shape (n_candidates,), optional
        Starts of the spans that may be options, where not all may (`Benchmark.candidates`).
    seed : int
        Decides, with the window's id, the order of the options; the same on every machine.

    Raises
    ------
    BadRequest
        The ranking is of another length, or the gold lies beyond the work.
    TooShort
        The work is too short for three options.
    """
    gold = window.gold
    if ranking.length != gold.length:
        raise BadRequest(
            f"The gold of '{window.id}' has {gold.length} sentences and the ranking is of spans of {ranking.length}: "
            "rank the spans of the gold's length."
        )
    if not 0 <= gold.start < len(ranking):
        raise BadRequest(
            f"The gold of '{window.id}' starts at sentence {gold.start}, and {ranking.work_id} has {len(ranking)} "
            f"spans of {gold.length} sentences: the ranking is of another work or edition."
        )
    allowed = np.ones(len(ranking), dtype=bool)
    if candidates is not None:
        allowed[:] = False
        allowed[candidates] = True
    chosen = [gold]
    for start in ranking.order:
        span = Span(int(start), gold.length)
        if allowed[start] and not any(span.overlaps(other) for other in chosen):
            chosen.append(span)
            if len(chosen) == OPTIONS:
                break
    else:
        raise TooShort(
            f"{ranking.work_id} is too short for an item of '{window.id}': beside the gold it needs {OPTIONS - 1} "
            f"passages of {gold.length} sentences that overlap neither the gold nor each other, and the ranking gives "
            f"{len(chosen) - 1}. Choose a shorter quotation or a longer work."
        )
    options = tuple(sorted(chosen, key=lambda span: _shuffled(seed, window.id, span)))
    return ProxyItem(
        id=window.id,
        work_id=ranking.work_id,
        options=options,
        answer=options.index(gold),
        chooser=ranking.retriever,
    )


def _shuffled(seed: int, item_id: str, span: Span) -> bytes:
    """Key of an option in its random order: a digest, because generators change from one version to the next."""
    return hashlib.sha256(f"{seed}\n{item_id}\n{span.start}".encode()).digest()


def proxy_values(items: Sequence[ProxyItem], rankings: Mapping[str, Ranking | None]) -> Values:
    """Say which items a retriever answers rightly.

    Parameters
    ----------
    items : sequence of ProxyItem
        Any number.
    rankings : mapping of str to Ranking or None
        Per item's id all spans of the options' length of its work, ranked by one retriever for the item's claim; None
        where it gave no ranking, which is a wrong answer.

    Returns
    -------
    float64 array, shape (n_items,)
        1 where the gold has the best rank of the three options, else 0. Equal scores keep the order of the text, as in
        every ranking.

    Raises
    ------
    BadRequest
        A ranking is missing, is of another work or length or by several retrievers, or is by the retriever that chose
        the options.
    """
    lacking = [item.id for item in items if item.id not in rankings]
    if lacking:
        raise BadRequest(
            f"{len(lacking)} items have no ranking, the first of them '{lacking[0]}': rank each, or say None for those "
            "that the retriever gave none for."
        )
    retrievers = {ranking.retriever for item in items if (ranking := rankings[item.id]) is not None}
    if len(retrievers) > 1:
        raise BadRequest(f"An accuracy is of one retriever; rankings by {', '.join(sorted(retrievers))} were given.")
    return np.array([_answered(item, rankings[item.id]) for item in items], dtype=np.float64)


def _answered(item: ProxyItem, ranking: Ranking | None) -> bool:
    if ranking is None:
        return False
    if ranking.retriever == item.chooser:
        raise BadRequest(
            f"{item.chooser} chose the options of item '{item.id}' from its own best hits, so its accuracy on them "
            "means nothing. Measure another retriever, or make items by another chooser."
        )
    if ranking.work_id != item.work_id or ranking.length != item.gold.length:
        raise BadRequest(
            f"Item '{item.id}' is of {item.work_id} and of {item.gold.length} sentences; the ranking is of "
            f"{ranking.work_id} and of {ranking.length}."
        )
    return min(item.options, key=ranking.rank_of) == item.gold
