"""Metrics: the card of each (name, formula, meaning, source), and the figures of runs: one gold per example, its rank.

One answer each to what formulas leave open:

* **ties**: a rank comes from the one tie rule (`rank_scores`), so equal scores keep the order of the text; no metric
  breaks ties anew;
* **missing rankings** (a claim that gives a retriever nothing to go by) are misses: 0 for all metrics that reward a
  high place, and the last place, ``rank = candidates``, in mean and median rank;
* **k above the pool** means the whole pool: then every example with a ranking is a hit. P@k still divides by k.

Metrics of sets, with several golds per query, are computed in `sets`, those of items in `proxy_task`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from relic_core.errors import BadBenchmark, BadRequest, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Outcome

Measures = Literal["outcomes", "sets", "items"]

_NAME = re.compile(r"(?P<family>[a-z-]+|f1)(?:@(?P<k>[1-9]\d{0,5}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What there is to know of a metric.

    - `higher_is_better`: none for a count that is no merit.
    - `percent`: whether it lies between 0 and 1 and is written as a percentage, as the papers do.
    - `decimals`: digits after the point when written.
    - `measures`: what it is computed from: the outcomes of a run (`values`), rankings with several golds (`sets`), or
      items of the proxy task (`proxy_task`).
    """

    name: str
    label: str
    formula: str
    meaning: str
    source: str
    higher_is_better: bool | None = True
    percent: bool = True
    decimals: int = 1
    measures: Measures = "outcomes"

    def written(self, value: float, *, more: int = 0) -> str:
        """Write a figure or a difference as tables do, with `more` digits; what rounds to nothing has no sign.

        >>> metric("recall@10").written(0.3241), metric("mrr").written(-0.0001), metric("mrr").written(-0.0001, more=1)
        ('32.4', '0.000', '-0.0001')
        """
        return f"{value * 100 if self.percent else value:z.{self.decimals + more}f}"


_RELIC = "RELiC (Thai et al. 2022), section 3.1"
_QUEST = "QUEST (Malaviya et al. 2023), section 4.2 and table 3"

_WITH_K: dict[str, Metric] = {
    "recall": Metric(
        name="recall",
        label="R@{k}",
        formula="share of the examples whose gold has rank {k} or better",
        meaning="How often the critic's own quotation is among the first {k} passages.",
        source=_RELIC,
    ),
    "overlap-recall": Metric(
        name="overlap-recall",
        label="R@{k}, overlap counts",
        formula="share of the examples with a passage of rank {k} or better that shares a sentence with the gold",
        meaning="How often one of the first {k} passages is the critic's own quotation or overlaps it; the literature "
        "reports the strict figure, which only counts the quotation itself.",
        source=f"{_RELIC}, names the strictness; this tolerant form is ours",
    ),
    "p": Metric(
        name="p",
        label="P@{k}",
        formula="mean over the examples of (golds among the first {k}) / {k}",
        meaning="How much of the first {k} passages is what the critic quoted; with one quotation at most 1/{k}.",
        source="TREC (trec_eval: P_{k})",
    ),
    "ndcg": Metric(
        name="ndcg",
        label="nDCG@{k}",
        formula="mean over the examples of 1 / log2(rank + 1) where the rank is {k} or better, else 0",
        meaning="How near to the top of the first {k} passages the critic's own quotation stands: 100 at the top, "
        "63 in the second place, 0 beyond place {k}.",
        source="Järvelin and Kekäläinen 2002, as in trec_eval; main metric of BIRCO (Wang et al. 2024)",
    ),
    "mrecall": Metric(
        name="mrecall",
        label="MRecall@{k}",
        formula="share of the queries for which min({k}, golds) golds are among the first {k}",
        meaning="How often nothing is missing: all passages that answer are among the first {k}, or fill them.",
        source="Min et al. 2021; QUEST (Malaviya et al. 2023), table 4",
        measures="sets",
    ),
}

_WITHOUT_K: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric(
            name="mean-rank",
            label="Mean rank",
            formula="mean of the gold's ranks; without a ranking, the last rank",
            meaning="The place at which the critic's own quotation stands on average; a few very low ones weigh much.",
            source=_RELIC,
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            name="median-rank",
            label="Median rank",
            formula="median of the gold's ranks (of the two in the middle, their mean); without a ranking, the last",
            meaning="The place that half of the quotations reach.",
            source="beside the mean rank of RELiC, since ranks are skewed",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            name="mrr",
            label="MRR",
            formula="mean of 1 / rank; without a ranking, 0",
            meaning="How near to the top the quotation stands, the first places weighing most.",
            source="Voorhees 1999 (TREC-8 question answering)",
            percent=False,
            decimals=3,
        ),
        Metric(
            name="candidates",
            label="Candidates",
            formula="mean number of candidates per example",
            meaning="From how many passages the right one had to be picked: the fewer, the easier.",
            source="RELiC (Thai et al. 2022), tables 3 and A9",
            higher_is_better=None,
            percent=False,
        ),
        Metric(
            name="precision",
            label="Precision",
            formula="mean over the queries of (golds in the answer) / (size of the answer); an empty answer has 0",
            meaning="How much of what was given as an answer is right.",
            source=_QUEST,
            measures="sets",
        ),
        Metric(
            name="recall",
            label="Recall",
            formula="mean over the queries of (golds in the answer) / (number of golds)",
            meaning="How much of what is right was given.",
            source=_QUEST,
            measures="sets",
        ),
        Metric(
            name="f1",
            label="F1",
            formula="mean over the queries of 2 * precision * recall / (precision + recall), 0 where both are 0",
            meaning="Precision and recall in one figure, which the lower of the two holds down.",
            source=_QUEST,
            measures="sets",
        ),
        Metric(
            name="proxy-accuracy",
            label="Proxy task",
            formula="share of the items whose gold has the best rank of the three options",
            meaning="How often the critic's own quotation is told from two passages that another retriever put first.",
            source="RELiC (Thai et al. 2022), section 4",
            measures="items",
        ),
    )
}

KS = (1, 3, 5, 10, 50, 100)
"""The k of the paper's tables."""


def names() -> tuple[str, ...]:
    """List the metrics of a run that tables choose from; those with a k can be had with any k.

    >>> names()[:7]
    ('recall@1', 'recall@3', 'recall@5', 'recall@10', 'recall@50', 'recall@100', 'mean-rank')
    """
    recalls = tuple(f"recall@{k}" for k in KS)
    tolerant = tuple(f"overlap-{each}" for each in recalls)
    return (*recalls, "mean-rank", "median-rank", "mrr", "ndcg@10", "p@10", "candidates", *tolerant)


def set_names() -> tuple[str, ...]:
    """List the usual metrics of rankings with several golds (`relic_core.evaluation.sets`)."""
    return ("precision", "recall", "f1", *(f"mrecall@{k}" for k in (20, 50, 100)))


def metric(name: str) -> Metric:
    """Describe a metric.

    - `name`: "recall@10", "mean-rank"; any k from 1.

    Raises BadRequest: there is no such metric.

    >>> metric("recall@20").label
    'R@20'
    """
    match = _NAME.fullmatch(name)
    family, k = (match["family"], match["k"]) if match else ("", None)
    if k is None:
        if family in _WITHOUT_K:
            return _WITHOUT_K[family]
    elif family in _WITH_K:
        form = _WITH_K[family]
        words = {each: getattr(form, each).format(k=k) for each in ("label", "formula", "meaning", "source")}
        return replace(form, name=name, **words)
    raise unknown_name("metric", name, {*names(), *set_names(), "proxy-accuracy"})


def cutoff(name: str) -> int:
    """Return the k of a metric's name; 0 where it has none.

    >>> cutoff("recall@10"), cutoff("mrr")
    (10, 0)
    """
    _, _, k = name.partition("@")
    return int(k) if k else 0


Values = npt.NDArray[np.float64]
"""Shape (n_examples,): what a metric says of each example."""


def values(name: str, outcomes: Sequence[Outcome]) -> Values:
    """Compute what a metric says of each example.

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
