"""Words of critics: what no work has may be in the criticism that was mined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from relic_core.domain import Pair, SecondarySource, Sentence, Work
from relic_core.domain.drafts import CriticPlace, Difference
from relic_core.drafts.placing import LEAST_SHARE, QuotedWords
from relic_core.mining.quoted_works import RUN, UNKNOWN, QuotedWorks
from relic_core.ports import silent
from relic_core.reporting.citations.names import read_names

Found = tuple[CriticPlace, tuple[Difference, ...]]
"""Where criticism has a quotation, and how the two differ."""
_ROWS = 3
"""Rows of words of a quotation that are searched for: a slip, on either side, spoils one."""
_UNKNOWN_BITS = 20.0
_AT_ONCE, _MOST = 100, 1_000
"""Quotations that are searched for at once, and passages that are looked at for them."""
_APART = r"(?:^|[^\pL]|$)"
"""Stands before and after a word in a pattern: \\b knows only the letters of ASCII."""


class Critics:
    """The criticism of a library, of which it keeps the sentences around quotations: up to four on either side.

    - `holding`: gives passages that a pattern fits, and so many at most.
    """

    def __init__(
        self, sources: Callable[[], Sequence[SecondarySource]], holding: Callable[[str, int], Sequence[Pair]]
    ) -> None:
        self._sources, self._holding = sources, holding

    def sources_by(self) -> dict[str, CriticPlace]:
        """Give a source for each family name of an author."""
        return {name.family: _place(each) for each in self._sources() for name in read_names(each.author)}

    def find(self, quotations: Sequence[str], works: QuotedWorks) -> Iterator[Found | None]:
        """Find each quotation, None where it is nowhere; how rare words are is taken from `works`."""
        sources = {each.id: each for each in self._sources()} if quotations else {}
        for first in range(0, len(quotations), _AT_ONCE):
            some = quotations[first : first + _AT_ONCE]
            rows = []
            for each in some:
                rows.extend(_rarest_rows(QuotedWords(each, works), works))
            passages = self._holding(f"(?i){_APART}(?:{'|'.join(rows)}){_APART}", _MOST) if rows and sources else ()
            yield from _laid(some, {each.id: each for each in passages}, sources)


def _rarest_rows(quoted: QuotedWords, works: QuotedWorks) -> list[str]:
    """Write rows of words of a quotation as patterns, for which letters alone count."""
    words = quoted.words
    if len(words.numbers) < RUN:
        return []
    bits = np.where(words.numbers == UNKNOWN, _UNKNOWN_BITS, works.bits[words.numbers])
    taken: list[int] = []
    for at in np.argsort(-np.convolve(bits, np.ones(RUN), "valid"), kind="stable").tolist():
        if len(taken) < _ROWS and all(abs(at - other) >= RUN for other in taken):
            taken.append(at)
    rows = (quoted.text[words.starts[at] : words.ends[at + RUN - 1]] for at in taken)
    patterns = (r"[^\pL]+".join(re.findall(r"[^\W\d_]+", row)) for row in rows)
    return [each for each in patterns if each]


def _laid(
    quotations: Sequence[str], passages: Mapping[str, Pair], sources: Mapping[str, SecondarySource]
) -> Iterator[Found | None]:
    """Lay quotations upon passages, which are a library for that."""
    if not passages:
        yield from (None for _ in quotations)
        return
    works = {pair.id: _as_work(pair) for pair in passages.values()}
    with TemporaryDirectory() as folder:
        index = QuotedWorks.build(works.values(), Path(folder) / "critics", silent)
        for words in quotations:
            quoted = QuotedWords(words, index)
            best = max(quoted.lay(), key=lambda each: each.share, default=None)
            if best is None or best.share < LEAST_SHARE:
                yield None
                continue
            pair, work = passages[best.work.id], works[best.work.id]
            at = index.sentence_of(best.blocks[0].there) - best.work.first_sentence
            source = sources[pair.source_id]
            place = replace(
                _place(source),
                share=pair.passage[0] / max(1, source.characters),
                words=work.sentence_text(at),
                quoted=at == len(pair.left),
            )
            yield place, quoted.differences(best, work)


def _place(source: SecondarySource) -> CriticPlace:
    return CriticPlace(source_id=source.id, title=source.title, author=source.author)


def _as_work(pair: Pair) -> Work:
    """Take the sentences around a quotation, and it among them, for those of a work."""
    texts = (*pair.left, pair.quotation, *pair.right)
    ends = np.cumsum([len(each) + 1 for each in texts]).tolist()
    return Work(
        id=pair.id,
        title="",
        author="",
        text="\n".join(texts),
        sha256=pair.id,
        segmenter="",
        chapters=(),
        paragraphs=(),
        sentences=tuple(
            Sentence(at, end - 1 - len(each), end - 1, 0, 0)
            for at, (each, end) in enumerate(zip(texts, ends, strict=True))
        ),
    )
