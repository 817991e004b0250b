"""Benchmarks and runs: what retrievers are measured on, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from relic_core.domain.bounds import Amount, Bytes, Count, Words, Year
from relic_core.domain.windows import ContextSize
from relic_core.installed import COMMAND

Pool = Literal["whole work", "given"]
"""What a retriever chooses from: all spans of a work of the gold's length, or some dozens of passages given with the
query. Figures of the two kinds never share a column."""


ECHOES = "bible-references"
"""What the known echoes are called where a benchmark is named; see `echoes.measuring`."""
ASKED = " --objective {objective} --top {head} --over {first}"
"""What is typed to have a language model read, with facts of its configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkCard:
    """What there is to know of a benchmark without opening it.

    - `split`: "sample", "dev", "test"; this, numbers and checksum are not given where the reader's own file decides.
    - `main_metric`: name of the metric that the literature reports first ("recall@10", "ndcg@10").
    - `checksum`: sha256 of the data as we know them.
    - `needs`: what the reader must have for it, as a sentence; empty for what ships with the program.
    - `objective`: what makes a passage relevant, for a language model; empty where it is to support the claim.
    - `quotes`: whether a claim is what a critic wrote around a quotation, which alone counts; else the description says
      what is asked and what counts.
    - `own`: of one that was opened: whether the reader named its data.
    """

    name: str
    label: str
    description: str
    split: str = ""
    pool: Pool
    main_metric: str
    examples: int | None = None
    books: int | None = None
    source: str
    licence: str
    citation: str
    checksum: str = ""
    needs: str = ""
    objective: str = ""
    quotes: bool = True
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A quoted work, as a benchmark knows it.

    - `key`: its name in the benchmark: a slug of the catalogue where the work has one.
    - `sentences`, `sha256`: of the edition, to whose text the offsets of outcomes belong; 0 and empty where the pool is
      given.
    """

    key: Words
    title: str
    author: str = ""
    year: Year | None = None
    sentences: Count = 0
    sha256: str = ""


Offsets = tuple[int, int]
"""Half-open character offsets into the text of a work."""

RELEVANT = 1.0
"""The grade from which a judged passage answers its query, as in TREC; nDCG counts lower grades too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one retriever made of one example.

    - `rank`: rank of the gold, from 1; None where the retriever gave no ranking (the claim of this shape holds no
      word).
    - `overlap_rank`: rank of the first candidate that shares a sentence with the gold, the gold included.
    - `gold`: where the gold stands: character offsets into the text of the pool's work.
    - `first`: where the first hits stand, best first, at most three.

    Of a query with judged passages `rank` and `overlap_rank` are those of the first passage that answers, and

    - `first`: is the ranking, of which at most the first thousand places are kept.
    - `graded`: rank and grade of each passage with a grade above 0, in the order of the ranking before any was cut;
      rank 0 where it was not ranked.
    """

    example_id: str
    book: str
    length: int
    kind: str
    candidates: int
    rank: int | None
    overlap_rank: int | None
    gold: Offsets
    first: tuple[Offsets, ...] = ()
    graded: tuple[tuple[int, float], ...] = ()

    @property
    def possible(self) -> bool:
        """Whether the ranks fit each other and the candidates: both are missing, or the overlap rank is no worse."""
        ranks = [rank for rank, grade in self.graded if rank and grade >= RELEVANT]
        if self.graded and (min(ranks, default=None) != self.rank or max(ranks, default=0) > self.candidates):
            return False
        if self.rank is None or self.overlap_rank is None:
            return self.rank is self.overlap_rank
        return 1 <= self.overlap_rank <= self.rank <= self.candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRanking:
    """What another system ranked for one claim: digests of it and of the work's text, and places in it, best first."""

    claim: str
    work: str
    places: tuple[Offsets, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One retriever measured on one benchmark with one context shape.

    - `id`: short digest of everything that decides the ranks (benchmark, data, retriever, shape, configuration): the
      same run made twice has the same id.
    - `data_hash`: sha256 over the windows and the works they were ranked in.
    - `configuration`: all that decides the retriever's scores: parameters, encoder and the digest of its weights, code
      versions.
    - `code`: version of the program and, where known, the commit.
    - `machine`: what it was measured on; of a language model on a server also what it took: calls, tokens, cost;
      "data" where the reader named the benchmark's.
    - `index_bytes`: size on disk of what the retriever had prepared; 0 where it prepares nothing.
    """

    id: str
    benchmark: str
    split: str
    pool: Pool
    data_hash: str
    retriever: str
    label: str
    shape: ContextSize
    configuration: Mapping[str, str] = field(hash=False)
    books: tuple[Book, ...] = field(repr=False)
    examples: Count
    code: str
    machine: Mapping[str, str] = field(hash=False, repr=False)
    seconds: Amount
    index_bytes: Bytes
    created: datetime
    tags: tuple[str, ...] = ()
    shipped: bool = False

    @property
    def is_about_works(self) -> bool:
        """Whether its claims are about works; one without sentences is the name of a collection of passages."""
        return len(self.books) != 1 or self.books[0].sentences > 0

    @property
    def command(self) -> str:
        """What to type to measure it again; FILE and DATA are the reader's own, and a model has to be named besides."""
        data = " --data DATA" if "data" in self.machine or self.benchmark in {"relic", "judged"} else ""
        if self.retriever.startswith("imported:"):
            return f"{COMMAND} runs import FILE --benchmark {self.benchmark} --shape {self.shape}{data}"
        if self.benchmark == "notebook":
            return f"{COMMAND} notebook measure {self.retriever}"
        typed = f"{COMMAND} evaluate {self.benchmark} {self.retriever} --shape {self.shape}"
        given = self.configuration if self.retriever in {"bm25", "bm25-lemmas"} else {}
        typed += "".join(f" --{name} {given[name]}" for name in ("k1", "b") if name in given)
        typed += " --function-words" * ("function words" in given)
        if "objective" in self.configuration:
            typed += ASKED.format_map(self.configuration)
        return f"{typed}{data}"
