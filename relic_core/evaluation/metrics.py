"""Metrics: the card of each, and the figures of runs: one gold per example, its rank; or judged passages, by grade.

The formulas, their sources, and an answer to each question that they leave open are in docs/metrics.md. The metric of
items is computed in `proxy_task`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from relic_core.domain import RELEVANT, Outcome
from relic_core.errors import BadRequest, unknown_name

_NAME = re.compile(r"(?P<family>[a-z][a-z0-9-]*)(?:@(?P<k>[1-9]\d{0,5}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What there is to know of a metric.

    - `higher_is_better`: none for a count that is no merit.
    - `percent`: whether it lies between 0 and 1 and is written as a percentage, as the papers do.
    - `decimals`: digits after the point when written.
    """

    name: str
    label: str
    meaning: str
    higher_is_better: bool | None = True
    percent: bool = True
    decimals: int = 1

    def written(self, value: float, *, more: int = 0) -> str:
        """Write a figure or a difference as tables do, with `more` digits; what rounds to nothing has no sign.

        >>> metric("recall@10").written(0.3241), metric("mrr").written(-0.0001), metric("mrr").written(-0.0001, more=1)
        ('32.4', '0.000', '-0.0001')
        """
        return f"{value * 100 if self.percent else value:z.{self.decimals + more}f}"


PROXY = "proxy-accuracy"
OF_SETS = {"set-precision", "set-recall", "f1"}
"""Of these only runs on judged benchmarks keep enough: the others keep three places of a ranking."""

_WITH_K: dict[str, Metric] = {
    "recall": Metric(
        name="recall", label="R@{k}", meaning="How often the critic's own quotation is among the first {k} passages."
    ),
    "overlap-recall": Metric(
        name="overlap-recall",
        label="R@{k}, overlap counts",
        meaning="How often one of the first {k} passages is the critic's own quotation or overlaps it; the literature "
        "reports the strict figure, which only counts the quotation itself.",
    ),
    "p": Metric(
        name="p",
        label="P@{k}",
        meaning="How much of the first {k} passages is what the critic quoted; with one quotation at most 1/{k}.",
    ),
    "ndcg": Metric(
        name="ndcg",
        label="nDCG@{k}",
        meaning="How near to the top of the first {k} passages the critic's own quotation stands: 100 at the top, "
        "63 in the second place, 0 beyond place {k}. Of judged passages, the best grades first.",
    ),
    "success": Metric(name="success", label="Success@{k}", meaning="How often one of the first {k} passages answers."),
    "mrecall": Metric(
        name="mrecall", label="MRecall@{k}", meaning="How often all passages that answer are among the first {k}."
    ),
}

_WITHOUT_K: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric(
            name="mean-rank",
            label="Mean rank",
            meaning="The place at which the critic's own quotation stands on average; a few very low ones weigh much.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            name="median-rank",
            label="Median rank",
            meaning="The place that half of the quotations reach.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            name="mrr",
            label="MRR",
            meaning="How near to the top the quotation stands, the first places weighing most.",
            percent=False,
            decimals=3,
        ),
        Metric(
            name="candidates",
            label="Candidates",
            meaning="From how many passages the right one had to be picked: the fewer, the easier.",
            higher_is_better=None,
            percent=False,
        ),
        Metric(
            name="set-precision",
            label="Precision",
            meaning="How much of what was returned answers, whatever its order.",
        ),
        Metric(name="set-recall", label="Recall", meaning="How much of what answers was returned, whatever its order."),
        Metric(name="f1", label="F1", meaning="The harmonic mean of precision and recall of what was returned."),
        Metric(
            name=PROXY,
            label="Proxy task",
            meaning="How often the critic's own quotation is put above two passages that another retriever put first.",
        ),
    )
}

KS = (1, 3, 5, 10, 50, 100)


def names() -> tuple[str, ...]:
    """List the metrics of a run that tables choose from; those with a k can be had with any k.

    >>> names()[:7]
    ('recall@1', 'recall@3', 'recall@5', 'recall@10', 'recall@50', 'recall@100', 'mean-rank')
    """
    recalls = tuple(f"recall@{k}" for k in KS)
    tolerant = tuple(f"overlap-{each}" for each in recalls)
    return (
        *recalls, "mean-rank", "median-rank", "mrr", "ndcg@10", "p@10", "candidates", *tolerant,
        "success@10", "mrecall@10", "set-precision", "set-recall", "f1",
    )  # fmt: skip


def metric(name: str) -> Metric:
    """Describe a metric.

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
        return replace(form, name=name, label=form.label.format(k=k), meaning=form.meaning.format(k=k))
    raise unknown_name("metric", name, {*names(), PROXY})


def cutoff(name: str) -> int:
    """Return the k of a metric's name; 0 where it has none.

    >>> cutoff("recall@10"), cutoff("mrr")
    (10, 0)
    """
    _, _, k = name.partition("@")
    return int(k) if k else 0


Values = npt.NDArray[np.float64]


def values(name: str, outcomes: Sequence[Outcome]) -> Values:
    """Compute what a metric says of each example.

    Returns: in the order of `outcomes`; finite. Their mean is the figure, for "median-rank" their median.

    With one gold per example recall@k is the hit, P@k the hit / k, the ideal DCG is 1 and so nDCG@k is 1 / log2(rank +
    1) (RELiC, section 3.1; Järvelin and Kekäläinen 2002). MRecall@k is QUEST's: whether all golds are within k.
    """
    if metric(name).name == PROXY:
        raise BadRequest(
            f"'{name}' is not computed from the outcomes of a run but from the items of the proxy task. "
            f"Metrics of runs: {', '.join(names())}."
        )
    candidates = np.array([each.candidates for each in outcomes], dtype=np.float64)
    ranks = np.array([each.rank or np.inf for each in outcomes], dtype=np.float64)
    overlap_ranks = np.array([each.overlap_rank or np.inf for each in outcomes], dtype=np.float64)
    k = cutoff(name)
    by_example: Values
    match name.partition("@")[0]:
        case "recall" | "set-recall" | "p" | "set-precision" | "f1" | "mrecall" as family:
            returned = np.array([len(each.first) for each in outcomes], dtype=np.float64)
            found, golds = _answers(outcomes, np.full(len(outcomes), k) if k else returned)
            shares = {
                "p": found / (k or 1),
                "set-precision": found / np.maximum(returned, 1),
                "f1": 2 * found / np.maximum(returned + golds, 1),
                "mrecall": ((found == golds) & (golds > 0)).astype(np.float64),
            }
            by_example = shares.get(family, found / np.maximum(golds, 1))
        case "overlap-recall":
            by_example = (overlap_ranks <= k).astype(np.float64)
        case "success":
            by_example = (ranks <= k).astype(np.float64)
        case "ndcg":
            by_example = _ndcg(outcomes, k)
        case "mrr":
            by_example = 1 / ranks  # 1 / inf is 0: a missing ranking
        case "candidates":
            by_example = candidates
        case _:  # mean-rank, median-rank
            by_example = np.minimum(ranks, candidates)
    return by_example


def figure(name: str, outcomes: Sequence[Outcome]) -> float:
    """Compute the figure of a metric over examples: the mean of its values, for "median-rank" their median.

    Shares lie between 0 and 1; `Metric.written` makes percentages of them.
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


def _judged(outcomes: Sequence[Outcome]) -> tuple[npt.NDArray[np.int64], Values, Values]:
    """List example, rank (infinite: not ranked) and grade of each gold; of an example with one gold the grade is 1."""
    rows = [
        (number, rank or np.inf, grade)
        for number, each in enumerate(outcomes)
        for rank, grade in each.graded or ((each.rank or 0, 1.0),)
    ]
    numbers, ranks, grades = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return numbers.astype(np.int64), ranks, grades


def _answers(outcomes: Sequence[Outcome], depths: Values) -> tuple[Values, Values]:
    """Count the golds within a depth and all golds of each example; each (n_examples,)."""
    numbers, ranks, grades = _judged(outcomes)
    answers = grades >= RELEVANT
    within = answers & (ranks <= depths[numbers])
    return (
        np.bincount(numbers, within, len(outcomes)).astype(np.float64),
        np.bincount(numbers, answers, len(outcomes)).astype(np.float64),
    )


def _ndcg(outcomes: Sequence[Outcome], k: int) -> Values:
    numbers, ranks, grades = _judged(outcomes)

    def gain(places: Values, gains: Values) -> Values:
        within = np.where(places <= k, gains / np.log2(places + 1), 0.0)
        return np.bincount(numbers, within, len(outcomes)).astype(np.float64)

    best = np.lexsort((-grades, numbers))  # examples in their order, of each the best grades first
    places = (np.arange(len(numbers)) - np.searchsorted(numbers, numbers) + 1).astype(np.float64)
    ndcg: Values = gain(ranks, grades) / gain(places, grades[best])
    return ndcg
