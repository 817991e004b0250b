"""Metrics of runs: one gold per example, its rank among the candidates, and the figures made of the ranks.

One answer each to what formulas leave open:

* **ties**: a rank comes from the one tie rule (`rank_scores`), so equal scores keep the order of the text; no metric
  breaks ties anew;
* **missing rankings** (a claim that gives a retriever nothing to go by) are misses: 0 for all metrics that reward a
  high place, and the last place, ``rank = candidates``, in mean and median rank;
* **k above the pool** means the whole pool: then every example with a ranking is a hit. P@k still divides by k.

Metrics of sets, with several golds per query, are computed in `relic_core.evaluation.sets`; what there is to know of
any metric stands on its card (`metric`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from relic_core.errors import BadBenchmark, BadRequest
from relic_core.evaluation.metric_cards import KS, Measures, Metric, cutoff, metric, names, set_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Outcome

__all__ = ["KS", "Metric", "Values", "centre", "figure", "metric", "names", "set_names", "values"]

Values = npt.NDArray[np.float64]
"""Shape (n_examples,): what a metric says of each example."""


def values(name: str, outcomes: Sequence[Outcome]) -> Values:
    """Compute what a metric says of each example.

    - `outcomes`: in any order.

    Returns: in the order of `outcomes`; finite. Their mean is the figure, for "median-rank" their median.

    Raises BadRequest: there is no such metric, or it is not computed from outcomes.
    Raises BadBenchmark: an outcome whose ranks cannot be.

    With one gold per example recall@k is the hit, P@k the hit / k, the ideal DCG is 1 and so nDCG@k is 1 / log2(rank +
    1) (RELiC, section 3.1; Järvelin and Kekäläinen 2002).
    """
    wanted = metric(name)
    if wanted.measures != "outcomes":
        raise BadRequest(
            f"'{name}' is not computed from the outcomes of a run but from {_ELSEWHERE[wanted.measures]}. "
            f"Metrics of runs: {', '.join(names())}."
        )
    candidates, ranks, overlap_ranks = _ranks(outcomes)
    k = cutoff(name)
    by_example: Values
    match name.partition("@")[0]:
        case "recall":
            by_example = (ranks <= k).astype(np.float64)
        case "overlap-recall":
            by_example = (overlap_ranks <= k).astype(np.float64)
        case "p":
            by_example = (ranks <= k) / k
        case "ndcg":
            by_example = np.where(ranks <= k, 1 / np.log2(ranks + 1), 0.0)
        case "mrr":
            by_example = 1 / ranks  # 1 / inf is 0: a missing ranking
        case "candidates":
            by_example = candidates
        case _:  # mean-rank, median-rank
            by_example = np.minimum(ranks, candidates)
    return by_example


_ELSEWHERE: dict[Measures, str] = {
    "sets": "rankings with several golds",
    "items": "the items of the proxy task",
}


def figure(name: str, outcomes: Sequence[Outcome]) -> float:
    """Compute the figure of a metric over examples: the mean of its values, for "median-rank" their median.

    Shares lie between 0 and 1; `Metric.written` makes percentages of them.

    Raises BadRequest: there is no such metric, or there are no outcomes.
    Raises BadBenchmark: an outcome whose ranks cannot be.
    """
    return centre(name, values(name, outcomes))


def centre(name: str, of: Values) -> float:
    """Bring per-example values down to one figure.

    - `name`: of the metric whose values they are.
    - `of`: as `values` gives them, or a part of them.

    Raises BadRequest: there are no values.

    >>> centre("median-rank", np.array([1.0, 2.0, 90.0]))
    2.0
    """
    if not of.size:
        raise BadRequest(f"There are no examples to compute {metric(name).label} of: choose some, or other filters.")
    return float(np.median(of) if name == "median-rank" else np.mean(of))


def _ranks(outcomes: Sequence[Outcome]) -> tuple[Values, Values, Values]:
    """Candidates, ranks and overlap ranks, each (n_examples,); infinite where there is no ranking."""
    for each in outcomes:
        both = (each.rank, each.overlap_rank)
        if each.candidates < 1 or not each.possible:
            raise BadBenchmark(
                f"The outcome of example '{each.example_id}' cannot be: rank and overlap rank {both} among "
                f"{each.candidates} candidates. Ranks are 1 to the number of candidates, the overlap rank is no worse "
                "than the rank, and both are absent where there was no ranking. Measure the run again."
            )
    return (
        np.array([each.candidates for each in outcomes], dtype=np.float64),
        np.array([each.rank or np.inf for each in outcomes], dtype=np.float64),
        np.array([each.overlap_rank or np.inf for each in outcomes], dtype=np.float64),
    )
