"""Figures from the papers, to be laid beside ours: facts, measured elsewhere on other data.

They stand in `published.csv` as printed. From RELiC (Thai et al. 2022) tables 3 and A9; from BIRCO (Wang et al. 2024)
the columns RELIC of table 2, and from its table 3 the four systems that table 2 leaves out. Where a paper gives no
figure (mean rank of ColBERT, proxy task of BM25) there is no line.

What a reader has to know when comparing:

* RELiC's test split is five works; a whole work there has 4,888 candidates on average. The proxy task is 200 quotations
  of one sentence from one work, with BM25's best two, and its last line is the majority of three experts.
* Tables 3 and A9 agree in every recall and in the candidates. The mean ranks of A9 average to 380.9 where table 3 has
  377.3, the very figure that A9 gives for five sentences; both stand here as printed.
* BIRCO's 100 queries are a selection: those that GPT-4 could answer without passages were taken out, and the pools of
  about 50 were chosen by word match and by embeddings.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from relic_core.config import ASSETS
from relic_core.domain import ContextSize, Pool
from relic_core.evaluation.metrics import metric

FILE = ASSETS / "published.csv"

_CITATIONS = {"RELiC": "Thai et al. 2022", "BIRCO": "Wang et al. 2024"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """One figure from a paper.

    - `shape`: the claim's context; None where the paper gives none.
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
        return f"{self.paper} ({_CITATIONS[self.paper]}), table {self.table}"


@lru_cache(maxsize=1)
def published() -> tuple[PublishedFigure, ...]:
    """Return the published figures that ship with the program, in the order of their tables.

    >>> best = [each for each in published() if each.table == "3" and each.metric == "recall@10"][-1]
    >>> best.system, str(best.shape), best.printed
    ('dense-RELiC', '4/4', '32.4')
    """
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(_figure(row) for row in csv.DictReader(file))


def _figure(row: dict[str, str]) -> PublishedFigure:
    card = metric(row["metric"])
    scale = 100 if card.percent else 1
    return PublishedFigure(
        paper=row["paper"],
        table=row["table"],
        system=row["system"],
        shape=ContextSize.parse(row["shape"]) if row["shape"] else None,
        length=int(row["length"]) if row["length"] else None,
        metric=card.name,
        printed=row["value"],
        value=float(row["value"]) / scale,
        standard_error=float(row["standard_error"]) / scale if row["standard_error"] else None,
        n=int(row["n"]),
        candidates=float(row["candidates"]),
        data=row["data"],
        pool=cast("Pool", row["pool"]),
    )
