"""Secondary sources: what was mined from them, the windows on works of the library, what judges say of these."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import get_args

from relic_core.caching import LRUCache
from relic_core.domain import (
    ANSWERS,
    Judgement,
    Offsets,
    SecondarySource,
    Span,
    WindowQuestion,
    WorkFilter,
    WorkSummary,
    best_first,
)
from relic_core.errors import BadRequest, unknown_name
from relic_core.formats.places import FILE, CriticsBook, read_layer
from relic_core.reporting.window_views import WindowView, make_view
from relic_core.retrieval.bm25 import TextIndex
from relic_core.services.works import Works
from relic_core.store.mined_windows import UNLABELLED, Show, StoredWindow, WindowRows
from relic_core.store.sources import SourceRows
from relic_core.text.decoding import harmless
from relic_core.text.masking import read_claim
from relic_core.text.words import content_tokens, shared_words

__all__ = [
    "UNLABELLED",
    "CriticsBook",
    "CriticsPassage",
    "QuotationCounts",
    "Show",
    "SourceSummary",
    "Sources",
    "WindowList",
    "WindowView",
]

_LONGEST_JUDGE = 100
_WORKS_KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """A line of the list of secondary sources.

    - `works`: ids and titles of the works it quotes with the number of its kept windows, the most quoted first.
    """

    source: SecondarySource
    pairs: int
    windows: int
    set_aside: int
    works: tuple[tuple[str, str, int], ...] = ()
    language: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowList:
    """Some windows of a list that has `total` of them."""

    total: int
    views: tuple[WindowView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotationCounts:
    """How often the sentences of a work are quoted, in windows that are kept; by index windows, and sources.

    - `listed`: what of it only the layer of places tells, whose books the library does not have.
    """

    counts: dict[int, int] = field(default_factory=dict)
    critics: dict[int, frozenset[str]] = field(default_factory=dict)
    sources: int = 0
    windows: int = 0
    listed: tuple[tuple[CriticsBook, Span], ...] = ()

    def by(self, span: Span) -> tuple[int, int]:
        """Count the sources that quote any sentence of a span, and name the sentence that most of them quote."""
        of = {index: self.critics.get(index, frozenset()) for index in range(span.start, span.end)}
        return len(frozenset().union(*of.values())), max(of, key=lambda index: len(of[index]))


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticsPassage:
    """Words of a critic around a quotation, brought up by a claim.

    - `number`: which of the kept windows of its source it is, from 1.
    - `lit_left`, `lit_right`: stretches of the sentences before and after the quotation, joined by a space, whose words
      the claim has.
    """

    view: WindowView
    number: int
    lit_left: tuple[Offsets, ...]
    lit_right: tuple[Offsets, ...]


@dataclass(frozen=True, slots=True)
class _Passage:
    """Where the words of a kept window stand; fields as of `MinedWindow` and `CriticsPassage`."""

    window_id: str
    source_id: str
    work_id: str
    at: Offsets
    passage: Offsets
    number: int


class Sources:
    """Lists sources and windows, and keeps what people say of them; `get` to `removed` are those of `SourceRows`."""

    def __init__(
        self, sources: SourceRows, windows: WindowRows, works: Works, stamp: Callable[[], object], max_claim_words: int
    ) -> None:
        self._sources = sources
        self._windows = windows
        self._works = works
        self._stamp = stamp
        self._max_claim_words = max_claim_words
        self._quoted: dict[str, tuple[object, QuotationCounts]] = {}
        self._places: LRUCache[tuple[tuple[CriticsBook, Span], ...]] = LRUCache(_WORKS_KEPT)
        self._critics: LRUCache[tuple[tuple[_Passage, ...], TextIndex]] = LRUCache(1)
        self.get = sources.get
        self.remove = sources.remove
        self.restore = sources.restore
        self.removed = sources.removed

    def all(self) -> tuple[SourceSummary, ...]:
        """List the sources by title, those that could not be read too; not those that were removed."""
        counted = {counts.source_id: counts for counts in self._sources.counts()}
        works: dict[str, list[tuple[str, str, int]]] = {}
        for source_id, work_id, title, windows in self._windows.quoted_works():
            works.setdefault(source_id, []).append((work_id, title, windows))
        return tuple(
            SourceSummary(
                source=stored.source,
                pairs=counts.pairs,
                windows=counts.windows,
                set_aside=counts.set_aside,
                works=tuple(works.get(stored.source.id, ())),
                language=stored.language,
                problem=stored.problem,
            )
            for stored in self._sources.all()
            if (counts := counted.get(stored.source.id))
        )

    def windows(
        self,
        *,
        source_id: str = "",
        work_id: str = "",
        show: Show = "kept",
        start: int = 0,
        limit: int = 20,
        evidence: str = "",
    ) -> WindowList:
        """List windows: of a source in its order, of a work in the order of the work, of both, or all.

        - `evidence`: only those with this label; `UNLABELLED` for those without one.
        """
        if show not in get_args(Show):
            raise unknown_name("choice of windows", show, get_args(Show))
        total, found = self._windows.page(
            source_id=source_id, work_id=work_id, show=show, evidence=evidence, start=start, limit=limit
        )
        return WindowList(total=total, views=self._views(found))

    def window(self, window_id: str) -> WindowView:
        """Return one window, kept or set aside. Raises NotFound: there is none, or its source or work was removed."""
        return self._views([self._windows.get(window_id)])[0]

    def draw(self, count: int, *, seed: int) -> tuple[WindowView, ...]:
        """Draw kept windows by chance, to be read and judged: the same for the same windows and seed."""
        if count < 1:
            raise BadRequest(f"{count} windows cannot be drawn; draw 1 or more.")
        ids = self._windows.ids()
        drawn = random.Random(seed).sample(ids, min(count, len(ids)))  # noqa: S311 - a sample, not a secret
        return self._views(self._windows.some(drawn))

    def quoted(self, work_id: str) -> QuotationCounts:
        """Count how often each sentence of a work is quoted; kept in memory until the store is written.

        What the layer of places says of a book counts until windows on the work are mined from that book.
        """
        stamp = self._stamp()
        known = self._quoted.get(work_id)
        if known is None or known[0] != stamp:
            own = self._windows.books(work_id)
            listed = [each for each in self._listed(work_id) if own.isdisjoint((each[0].sha256, each[0].number))]
            known = self._quoted[work_id] = stamp, _count(self._windows.golds(work_id), listed)
        return known[1]

    def quoted_works(self) -> list[tuple[WorkSummary, int, int]]:
        """List the quoted works with windows and sources, as `quoted` counts them.

        One that the layer alone knows is not loaded for it, so that its places count whether or not they lie in a
        sentence; see `Layer.place`.
        """
        layer, found = read_layer(FILE), []
        with self._windows.together():
            for work in self._works.summaries():
                listed = layer.find(work.title, work.sha256)
                if listed and listed.sha256 == work.sha256 and not self._windows.books(work.id):
                    places = set(listed.places)
                    found.append((work, len(places), len({book for book, *_ in places})))
                elif (quoted := self.quoted(work.id)).windows:
                    found.append((work, quoted.windows, quoted.sources))
        return found

    def _listed(self, work_id: str) -> tuple[tuple[CriticsBook, Span], ...]:
        layer = read_layer(FILE)
        for summary, version in self._works.admitted(WorkFilter(works=(work_id,))):
            if places := layer.find(summary.title, summary.sha256):
                return self._places.get(version.fingerprint, lambda: layer.place(places, self._works.load(work_id)))
        return ()

    def quoting(self, work_id: str, sentence: int) -> tuple[WindowView, ...]:
        """List the kept windows that quote a sentence of a work, by source."""
        return self._views(self._windows.quoting(work_id, sentence))

    def about(
        self, claim_text: str, *, source_id: str = "", work_id: str = "", limit: int = 20
    ) -> tuple[CriticsPassage, ...]:
        """Bring up what critics say of a claim: the kept windows whose critics' words share most with it, by BM25.

        A critic who quotes several times within one passage is shown once, with the best of these quotations. Words of
        all critics decide how rare a word is, whichever source or work is asked for.
        """
        claim = read_claim(claim_text, max_words=self._max_claim_words)
        passages, index = self._critics.get(self._windows.ids(), self._read_critics)
        scores = index.score(claim)
        chosen: list[_Passage] = []
        for at in best_first(scores).tolist():
            if len(chosen) == limit or scores[at] <= 0:
                break
            passage = passages[at]
            wanted = source_id in {"", passage.source_id} and work_id in {"", passage.work_id}
            if wanted and not any(_same_words(passage, other) for other in chosen):
                chosen.append(passage)
        views = self._views(self._windows.some([each.window_id for each in chosen]))
        numbers, words = {each.window_id: each.number for each in chosen}, set(content_tokens(claim.words))
        return tuple(
            CriticsPassage(
                view=view,
                number=numbers[view.window.id],
                lit_left=tuple(shared_words(words, " ".join(view.window.left))),
                lit_right=tuple(shared_words(words, " ".join(view.window.right))),
            )
            for view in views
        )

    def _read_critics(self) -> tuple[tuple[_Passage, ...], TextIndex]:
        windows = list(self._windows.one_by_one())
        counts: Counter[str] = Counter()
        passages = []
        for window in windows:
            counts[window.source_id] += 1
            number = counts[window.source_id]
            passages.append(_Passage(window.id, window.source_id, window.work_id, window.at, window.passage, number))
        return tuple(passages), TextIndex(" ".join((*each.left, *each.right)) for each in windows)

    def judge(self, window_id: str, question: WindowQuestion, answer: str, *, judge: str = "") -> None:
        """Keep what somebody says of a window; earlier answers stay on record.

        - `window_id`: one whose match is judged "wrong" is set aside, and one judged "right" is kept whatever the
          thresholds say of it, until that is taken back.
        - `answer`: one of `ANSWERS`; empty takes the judge's last answer back.
        """
        if question not in ANSWERS:
            raise unknown_name("question", question, ANSWERS)
        if answer and answer not in ANSWERS[question]:
            raise unknown_name("answer", answer, ANSWERS[question])
        self._windows.get(window_id)
        self._windows.judge(
            Judgement(
                window_id=window_id,
                question=question,
                answer=answer,
                judge=harmless(judge, longest=_LONGEST_JUDGE),
                comment="",
                created=datetime.now(UTC),
            )
        )

    def press(self, window_id: str, question: WindowQuestion, answer: str, *, judge: str = "") -> None:
        """Give an answer, or take one's own back where it is that one; parameters and errors as for `judge`.

        Who presses what somebody else has answered agrees with them.
        """
        own = self._windows.last_answer(harmless(judge, longest=_LONGEST_JUDGE), window_id, question)
        self.judge(window_id, question, "" if own == answer else answer, judge=judge)

    def _views(self, found: Sequence[StoredWindow]) -> tuple[WindowView, ...]:
        if not found:
            return ()
        sources = {stored.source.id: stored.source for stored in self._sources.all()}
        summaries = {summary.id: summary for summary in self._works.summaries()}
        answers = self._windows.answers([each.window.id for each in found])
        works = self._works.load_all({each.window.work_id for each in found})
        return tuple(
            make_view(
                each.window,
                work=works[each.window.work_id],
                summary=summaries[each.window.work_id],
                source=sources[each.window.source_id],
                set_aside=each.set_aside,
                answers=answers,
            )
            for each in found
            if each.window.work_id in works and each.window.source_id in sources  # else removed just now
        )


def _same_words(one: _Passage, other: _Passage) -> bool:
    """Whether a passage of a source shows the quotation of another."""
    return one.source_id == other.source_id and other.passage[0] <= one.at[0] < other.passage[1]


def _count(golds: Sequence[tuple[str, int, int]], listed: Sequence[tuple[CriticsBook, Span]] = ()) -> QuotationCounts:
    """Count windows by sentence.

    >>> quoted = _count([("a", 3, 2), ("b", 4, 1)])
    >>> quoted.counts, quoted.sources, quoted.windows
    ({3: 1, 4: 2}, 2, 2)
    """
    every = [*golds, *((book.sha256, span.start, span.length) for book, span in listed)]
    quoting: dict[int, list[str]] = {}
    for source, first, length in every:
        for sentence in range(first, first + length):
            quoting.setdefault(sentence, []).append(source)
    return QuotationCounts(
        counts={sentence: len(sources) for sentence, sources in quoting.items()},
        critics={sentence: frozenset(sources) for sentence, sources in quoting.items()},
        sources=len({source for source, _, _ in every}),
        windows=len(every),
        listed=tuple(listed),
    )
