"""Metrics of rankings and answer sets with any number of golds per query, each gold with a grade.

A ranking is a list of ids, best first; taken as an answer set it is all of its ids, in whatever order. Golds are ids
with grades: 0 is not relevant, 1 and more is relevant, and only nDCG tells one grade above 0 from another.

One answer each to what formulas leave open:

* **ties** are not seen here: a list has an order, and who made it broke the ties;
* **missing rankings**: a query that has golds and no ranking, or an empty one, has 0 in every metric;
* **k above the ranking** means the whole ranking; P@k still divides by k;
* **an empty answer** has precision 0, and F1 is 0 where precision and recall are;
* **a query without golds** cannot be scored and is refused.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from relic_core.errors import BadBenchmark, BadRequest
from relic_core.evaluation.metrics import cutoff, metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from relic_core.evaluation.metrics import Values

    Grades = Mapping[str, int]
    Score = Callable[[Sequence[str], Grades, int], float]

_SOME = 3
"""How many ids a message names."""


def score_rankings(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Grades], names: Iterable[str]
) -> dict[str, Values]:
    """Score rankings query by query.

    - `rankings`: query id to ids of passages, best first.
    - `relevant`: query id to passage id to grade, 0 or more.
    - `names`: of metrics: "ndcg@10", "recall@5", "p@10", "mrr", "mrecall@20"; and, taking the whole list as an answer
      set, "precision", "recall", "f1".

    Returns: per metric one value per query, in the order of `relevant`.

    Raises BadRequest: a name that names none of these metrics.
    Raises BadBenchmark: a query without golds, a grade below 0, a ranking of an unknown query or with an id twice.

    >>> scores = score_rankings({"q": ["a", "b", "c"]}, {"q": {"b": 1, "d": 1}}, ["recall@2", "mrr", "f1"])
    >>> {name: float(values[0]) for name, values in scores.items()}
    {'recall@2': 0.5, 'mrr': 0.5, 'f1': 0.4}
    """
    names = tuple(names)
    scores = [_score(name) for name in names]
    _check(rankings, relevant)
    golds = {query: {each: grade for each, grade in grades.items() if grade} for query, grades in relevant.items()}
    return {
        name: np.array(
            [score(rankings.get(query, ()), grades, cutoff(name)) for query, grades in golds.items()], dtype=np.float64
        )
        for name, score in zip(names, scores, strict=True)
    }


def _check(rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Grades]) -> None:
    without = [query for query, grades in relevant.items() if not any(grade > 0 for grade in grades.values())]
    if without:
        raise BadBenchmark(
            f"{len(without)} queries have no relevant passage and cannot be scored: {_some(without)}. Leave them out "
            "of the judgements, or complete them."
        )
    negative = [query for query, grades in relevant.items() if any(grade < 0 for grade in grades.values())]
    if negative:
        raise BadBenchmark(f"Grades are 0 (not relevant) or more; below 0 in queries: {_some(negative)}.")
    unknown = [query for query in rankings if query not in relevant]
    if unknown:
        raise BadBenchmark(
            f"{len(unknown)} rankings are of queries without judgements: {_some(unknown)}. Give the judgements of the "
            "same benchmark, or leave these rankings out."
        )
    for query, ranking in rankings.items():
        if len(set(ranking)) < len(ranking):
            twice = [each for each in dict.fromkeys(ranking) if list(ranking).count(each) > 1]
            raise BadBenchmark(f"The ranking of query '{query}' has a passage more than once: {_some(twice)}.")


def _some(ids: Sequence[str]) -> str:
    return ", ".join(islice(ids, _SOME)) + (", ..." if len(ids) > _SOME else "")


def _score(name: str) -> Score:
    wanted = metric(name)
    score = _SCORES.get(name.partition("@")[0] + ("@" if "@" in name else ""))
    if score is None:
        known = "ndcg@10, recall@5, p@10, mrecall@20 (with any k), mrr, precision, recall, f1"
        raise BadRequest(f"{wanted.label} ('{name}') is not computed from lists of ids. Those that are: {known}.")
    return score


def _found(ranking: Sequence[str], golds: Grades, k: int) -> int:
    return sum(each in golds for each in ranking[:k])


def _ndcg_at(ranking: Sequence[str], golds: Grades, k: int) -> float:
    """NDCG@k with the grade as gain and log2(rank + 1) as discount, as trec_eval has it."""
    best = sorted(golds.values(), reverse=True)
    return _dcg([golds.get(each, 0) for each in ranking[:k]]) / _dcg(best[:k])


def _dcg(gains: Sequence[int]) -> float:
    return float(np.sum(np.array(gains, dtype=np.float64) / np.log2(np.arange(2, len(gains) + 2))))


def _reciprocal_rank(ranking: Sequence[str], golds: Grades, _k: int) -> float:
    return next((1 / rank for rank, each in enumerate(ranking, start=1) if each in golds), 0.0)


_SCORES: dict[str, Score] = {
    "recall@": lambda ranking, golds, k: _found(ranking, golds, k) / len(golds),
    "p@": lambda ranking, golds, k: _found(ranking, golds, k) / k,
    # Min et al. 2021: with more golds than k, k of them are enough, since more do not fit.
    "mrecall@": lambda ranking, golds, k: float(_found(ranking, golds, k) >= min(len(golds), k)),
    "ndcg@": _ndcg_at,
    "mrr": _reciprocal_rank,
    "precision": lambda answer, golds, _: _found(answer, golds, len(answer)) / len(answer) if answer else 0.0,
    "recall": lambda answer, golds, _: _found(answer, golds, len(answer)) / len(golds),
    # 2PR / (P + R), written with counts: it needs no case for P = R = 0.
    "f1": lambda answer, golds, _: 2 * _found(answer, golds, len(answer)) / (len(answer) + len(golds)),
}
