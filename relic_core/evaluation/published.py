"""Figures from the papers, to be laid beside ours: facts, measured elsewhere on other data.

Which they are, and what to bear in mind, is in docs/metrics.md, "Published figures". Where a paper gives no figure
(mean rank of ColBERT, proxy task of BM25) there is none here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from relic_core.domain import ContextSize, Pool
from relic_core.evaluation import papers
from relic_core.evaluation.metrics import PROXY, metric

_TABLES = {"relic": ("3", "A9"), "birco": ("2", "3")}
_BENCHMARKS = {"relic": "public-relic-test", "birco": "birco-pools"}
"""Beside which benchmark of ours a paper's columns stand."""
_OF: dict[str, tuple[int, float, str, Pool]] = {
    "relic": (7785, 4888, "RELiC test, as published", "whole work"),
    "birco": (100, 50, "BIRCO-RELIC test, as published", "given"),
    PROXY: (200, 3, "RELiC proxy task on Pride and Prejudice, as published", "given"),
}
"""Examples, candidates, data and pool, where a row does not say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """One figure from a paper.

    - `length`: sentences of the quotations; None for all lengths together.
    - `value`: the same on the scale of our figures, shares between 0 and 1.
    - `standard_error`: on the scale of `value`, where the paper gives one.
    - `candidates`: mean number of candidates; of BIRCO's pools as its text says, they hold 50 or 51.
    """

    paper: str
    table: str
    system: str
    shape: ContextSize | None
    length: int | None
    metric: str
    printed: str
    value: float
    standard_error: float | None
    n: int
    candidates: float
    data: str
    pool: Pool

    @property
    def source(self) -> str:
        """Where it is printed, as a note under a table says it."""
        return f"{papers.PAPERS[self.paper.lower()]}, table {self.table}"


@lru_cache(maxsize=1)
def published() -> tuple[PublishedFigure, ...]:
    """Return the published figures that ship with the program, in the order of their tables.

    >>> best = [each for each in published() if each.table == "3" and each.metric == "recall@10"][-1]
    >>> best.system, str(best.shape), best.printed
    ('dense-RELiC', '4/4', '32.4')
    """
    found: list[PublishedFigure] = []
    for paper, numbers in _TABLES.items():
        for table in papers.printed(paper):
            if table.number.removeprefix("table ") in numbers:
                for row in table.rows:
                    found += _figures(paper, table, row)
    return tuple(found)


def _figures(paper: str, table: papers.PaperTable, row: Sequence[str]) -> Iterator[PublishedFigure]:
    by_label = {label: cell for (label, _, name), cell in zip(table.heads, row, strict=True) if not name}
    figures = {
        name: cell for (_, of, name), cell in zip(table.heads, row, strict=True) if name and of == _BENCHMARKS[paper]
    }
    candidates = figures.pop("candidates", "")
    shape = by_label.get("context", "4/4" if paper == "relic" else "")  # table A9 is of 4/4
    for name, printed in figures.items():
        if printed == papers.NONE:
            continue
        n, most, data, pool = _OF.get(name, _OF[paper])
        value, _, error = printed.partition(" ± ")
        scale = 100 if metric(name).percent else 1
        yield PublishedFigure(
            paper=papers.PAPERS[paper].partition(" ")[0],
            table=table.number.removeprefix("table "),
            system=by_label.get("system", "dense-RELiC"),
            shape=ContextSize.parse(shape) if shape else None,
            length=1 if name == PROXY else int(by_label["length"]) if "length" in by_label else None,
            metric=name,
            printed=value,
            value=float(value) / scale,
            standard_error=float(error) / scale if error else None,
            n=int(by_label.get("n", n)),
            candidates=float(candidates or most),
            data=data,
            pool=pool,
        )
