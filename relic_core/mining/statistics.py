"""What a set of windows is made of, counted as RELiC's authors counted theirs (Thai et al. 2022, Table 1, A.3, Fig. 2).

Words are counted as they are parted by white space. An average over works or sources is over those that have a window
in the set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from relic_core.domain import Span
from relic_core.domain.grouping import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A window, as far as it is counted: words of both contexts together, and of the sentences quoted."""

    split: str
    source: str
    work: str
    gold: Span
    context_words: int
    quotation_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The numbers of a set of windows.

    - `quoted_share`: average over works of the share of their sentences that is quoted at all, between 0 and 1.
    """

    examples: Mapping[str, int]
    works: int
    sources: int
    context_words: float
    quotation_words: float
    sources_per_work: float
    windows_per_work: float
    windows_per_source: float
    quoted_share: float
    lengths: Mapping[int, int]
    by_work: Mapping[str, WorkCount] = field(repr=False)
    by_source: Mapping[str, int] = field(repr=False)
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> int:
        """Windows in all."""
        return sum(self.examples.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCount:
    """The numbers of one work; `largest`: windows from one source; `quoted`: sentences that are quoted at all."""

    split: str
    windows: int
    sources: int
    largest: int
    quoted: int
    sentences: int


RELIC = Statistics(
    examples={"training": 62_956, "validation": 7_833, "test": 7_785},
    works=79,
    sources=8_836,
    context_words=157.7,
    quotation_words=40.5,
    sources_per_work=112.0,
    windows_per_work=995.0,
    windows_per_source=9.0,
    quoted_share=0.1635,
    lengths={},
    by_work={},
    by_source={},
)
"""RELiC's own, from Table 1 and section A.3 of the paper. Figure 2 prints no numbers, so `lengths` is empty."""


def count(
    windows: Iterable[Counted], sentences: Mapping[str, int], titles: Mapping[str, str] | None = None
) -> Statistics:
    """Count a set of windows."""
    listed = list(windows)
    of_work = grouped(listed, lambda window: window.work)
    by_work = {
        work: _count_work(those, sentences[work])
        for work, those in sorted(of_work.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    }
    by_source = Counter(window.source for window in listed)
    return Statistics(
        examples=dict(sorted(Counter(window.split for window in listed).items())),
        works=len(by_work),
        sources=len(by_source),
        context_words=_mean(window.context_words for window in listed),
        quotation_words=_mean(window.quotation_words for window in listed),
        sources_per_work=_mean(each.sources for each in by_work.values()),
        windows_per_work=_mean(each.windows for each in by_work.values()),
        windows_per_source=_mean(by_source.values()),
        quoted_share=_mean(each.quoted / each.sentences for each in by_work.values()),
        lengths=dict(sorted(Counter(window.gold.length for window in listed).items())),
        by_work=by_work,
        by_source=dict(sorted(by_source.items(), key=lambda pair: (-pair[1], pair[0]))),
        titles=titles or {},
    )


def _count_work(windows: list[Counted], sentences: int) -> WorkCount:
    quoted = set(chain.from_iterable(range(window.gold.start, window.gold.end) for window in windows))
    sources = Counter(window.source for window in windows)
    return WorkCount(
        split=windows[0].split,
        windows=len(windows),
        sources=len(sources),
        largest=max(sources.values()),
        quoted=len(quoted),
        sentences=sentences,
    )


def _mean(numbers: Iterable[float]) -> float:
    listed = list(numbers)
    return sum(listed) / len(listed) if listed else 0.0
