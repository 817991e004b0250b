"""Attribution: which stretch of which work a span of a text comes from, marked as a quotation or not.

Source: Muther and Smith 2023, "Citations as Queries: Source Attribution Using Language Models as Rerankers". As there,
works are cut into stretches of about 300 tokens, here at the ends of sentences, the author's name and the title are
read with each stretch, and what BM25 puts first is ordered anew (`rerank`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Scores, Span, Work, best_first, best_of
from relic_core.domain.attribution import Target
from relic_core.encoders.towers import flat_span
from relic_core.ports import Progress, SpanScorer, silent
from relic_core.retrieval.bm25 import TextIndex
from relic_core.retrieval.fusion import share, sum_of_shares
from relic_core.retrieval.reranked import below, beside
from relic_core.text.masking import MARKED_WORDS
from relic_core.text.unbroken import unbroken
from relic_core.text.words import WORD, WorkWords, content_tokens

Ints = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float32]

CONTENT_WORDS = 100
"""Content words of a stretch: with the function words between them about 300 word pieces of an English novel."""

TOP_K = 100
"""Stretches that are ordered anew."""

MEANING = 2.0
"""What meaning counts for beside words where the span is masked. Chosen on dev."""

AROUND = 0.25
"""What the words around a span count for beside its own."""

NEARER = (500, 250, 125)
"""Characters on either side of a masked span: the words within each count once more. Chosen on dev."""

NEIGHBOURS, SURROUNDINGS = 2, 2.0
"""Stretches on either side whose mean, with its own, counts beside a stretch's score where the span is masked, and what
it counts for: who writes about a scene has its words in common with what stands around the line, too. Chosen on dev."""

PAIRS = 60.0
"""What all pairs of a span are worth, in the scores of BM25."""

STRONG = 0.25
"""From which strength on a source is taken to be among the stretches: of dev's windows whose work was left out 2% are
said to have one, of the others 97%, or 82% where the quotation is edited (docs/attribution.md)."""

_NOT_THERE = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class Stretches:
    """The stretches of some works, one work after the other: the candidates of attribution.

    - `keys`, `work`: what each work is known by; of each stretch, its work as an index into these.
    - `start`, `end`: its sentences, half-open.
    - `words`: its content words, those of author and title, `named` of them, behind the others.
    """

    keys: tuple[str, ...]
    work: Ints
    start: Ints
    end: Ints
    words: WorkWords
    named: Ints

    def __len__(self) -> int:
        return len(self.work)

    def span(self, at: int) -> Span:
        """Give the sentences of a stretch."""
        return Span(int(self.start[at]), int(self.end[at] - self.start[at]))

    @classmethod
    def of(cls, works: Iterable[tuple[str, str, WorkWords]]) -> Stretches:
        """Cut works, as key, author and title, and content words by sentence, into stretches.

        Parts of a work that have titles of their own follow each other under its key.
        """
        vocabulary: dict[str, int] = {}
        keys: list[str] = []
        work, start, end, ids, sizes, behind = [], [], [], [], [], []
        for key, named, words in works:
            cuts = cut(words.starts)
            number = np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words.vocabulary], np.int32)
            fields = [vocabulary.setdefault(word, len(vocabulary)) for word in content_tokens(named)]
            borders = words.starts[cuts]
            own = number[words.ids] if len(number) else words.ids
            ids.append(np.insert(own, np.repeat(borders[1:], len(fields)), np.tile(fields, len(cuts) - 1)))
            sizes.append(np.diff(borders) + len(fields))
            if keys[-1:] != [key]:
                keys.append(key)
            work.append(np.full(len(cuts) - 1, len(keys) - 1))
            start.append(cuts[:-1])
            end.append(cuts[1:])
            behind.append(np.full(len(cuts) - 1, len(fields)))
        joined = WorkWords(
            vocabulary=vocabulary,
            ids=np.concatenate([np.zeros(0, np.int32), *ids]).astype(np.int32),
            starts=np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))]).astype(np.int64),
        )
        whole = [np.concatenate([np.zeros(0, np.int64), *each]) for each in (work, start, end, behind)]
        return cls(keys=tuple(keys), work=whole[0], start=whole[1], end=whole[2], words=joined, named=whole[3])


def cut(starts: Ints) -> Ints:
    """Cut the sentences of a work into stretches of about `CONTENT_WORDS` content words, each as long as the others.

    Given the content words before each sentence, and in all, gives the first sentence of each, and their number.

    >>> cut(np.array([0, 60, 100, 150, 210, 220])).tolist()
    [0, 3, 5]
    """
    sentences = len(starts) - 1
    count = max(1, round(int(starts[-1]) / CONTENT_WORDS))
    ends = np.searchsorted(starts, np.arange(1, count) * starts[-1] / count)
    return np.unique(np.concatenate([[0], ends, [sentences]])).astype(np.int64)


def source_text(work: Work, span: Span) -> str:
    """Set a stretch as models read it: author and title in front."""
    return f"{work.author}, {work.title}. {flat_span(work, span)}"


class Attributor:
    """Ranks stretches as sources of the span of a target.

    - `score_vector`: scores every two sentences in a row of a work, by its key, against a vector, (n_sentences - 1,).
    """

    def __init__(
        self, stretches: Stretches, score_vector: Callable[[str, Vector], Scores | None] | None = None
    ) -> None:
        self.stretches, self._score_vector = stretches, score_vector
        self._index = TextIndex(stretches.words)

    def by_words(self, target: Target, *, masked: bool = False) -> Scores:
        """Score all stretches by BM25: by the span's words and, for less, those around it, `masked` by these alone."""
        around = self._bm25(unbroken(f"{target.left} {target.right}"))
        return around if masked else self._bm25(unbroken(target.span)) + np.float32(AROUND) * around

    def by_nearness(self, target: Target) -> Scores:
        """Score all stretches by the words around a masked span, the nearer the more, in them and in those beside them.

        See `NEARER` and `SURROUNDINGS`.
        """
        scores = self.by_words(target, masked=True)
        for within in NEARER:
            scores = scores + self.by_words(target.near(within), masked=True)
        work, at = self.stretches.work, np.arange(len(self.stretches))
        first = np.maximum(at - NEIGHBOURS, np.searchsorted(work, work))
        end = np.minimum(at + NEIGHBOURS + 1, np.searchsorted(work, work, side="right"))
        sums = np.concatenate([[0.0], np.cumsum(scores, dtype=np.float64)])
        found: Scores = (scores + SURROUNDINGS * (sums[end] - sums[first]) / (end - first)).astype(np.float32)
        return found

    def _bm25(self, words: str) -> Scores:
        return self._index.score(Claim(words)) if content_tokens(words) else np.zeros(len(self.stretches), np.float32)

    def by_meaning(self, vector: Vector) -> Scores:
        """Score all stretches by the best two sentences in a row that begin in each; of unread works the least."""
        found = np.full(len(self.stretches), np.nan, dtype=np.float32)
        for number, key in enumerate(self.stretches.keys):
            scores = self._score_vector(key, vector) if self._score_vector else None
            if scores is not None and len(scores):
                inside = self.stretches.work == number
                found[inside] = np.maximum.reduceat(np.append(scores, scores[-1]), self.stretches.start[inside])
        read = ~np.isnan(found)
        found[~read] = found[read].min(initial=0.0)
        return found

    def pairs(self, target: Target, some: Ints) -> Scores:
        """Give for some stretches how much of the span they hold: pairs of content words next to each other, 0 to 1.

        Less for a short span: `_NOT_THERE` pairs that no stretch holds are counted with its own.
        """
        words, known = self.stretches.words, self.stretches.words.vocabulary
        ids = [known.get(token, -1) for token in content_tokens(unbroken(target.span))]
        wanted = np.unique(np.array([_pair(a, b) for a, b in pairwise(ids) if min(a, b) >= 0] or [-1]))
        held = []
        lasts = words.starts[some + 1] - self.stretches.named[some]
        for first, last in zip(words.starts[some], lasts, strict=True):
            own = words.ids[first:last].astype(np.int64)
            held.append(np.isin(wanted, _pair(own[:-1], own[1:])).sum())
        return np.array(held, dtype=np.float32) / np.float32(max(0, len(ids) - 1) + _NOT_THERE)

    def shares_pair(self, span: str) -> bool:
        """Whether a pair of content words of a span occurs in a stretch, for a quick look."""
        known = self.stretches.words.vocabulary
        ids = [known.get(token, -1) for token in content_tokens(unbroken(span))]
        return any(a >= 0 and b >= 0 and _pair(a, b) in self._every_pair for a, b in pairwise(ids))

    @cached_property
    def _every_pair(self) -> frozenset[int]:
        ids = self.stretches.words.ids.astype(np.int64)
        return frozenset(_pair(ids[:-1], ids[1:]).tolist())

    def rank(self, target: Target) -> Scores:
        """Score all stretches by words, the first `TOP_K` also by the pairs of words that they share with the span."""
        scores = self.by_words(target)
        top = best_of(scores, TOP_K)
        scores[top] += np.float32(PAIRS) * self.pairs(target, top)
        return scores

    def strength(self, target: Target, left_out: npt.NDArray[np.bool_] | None = None) -> float:
        """Say how much of a span the best of the first `TOP_K` stretches, without those `left_out`, holds."""
        scores = self.by_words(target)
        if left_out is not None:
            scores[left_out] = -1.0
        top = best_of(scores, TOP_K)
        return float(self.pairs(target, top[scores[top] >= 0]).max(initial=0.0))


def strong(target: Target, strength: Scores) -> npt.NDArray[np.bool_]:
    """Say of what stretches hold of a span whether that makes them its source: never of fewer than `MARKED_WORDS`."""
    return (strength >= STRONG) & (len(content_tokens(target.span)) >= MARKED_WORDS)


def fuse(words: Scores, meaning: Scores, weight: float = MEANING) -> Scores:
    """Fuse what words and meaning say of all stretches, each standardised; `weight` is what meaning counts for."""
    return sum_of_shares([share(words), share(meaning, weight)])


def rerank(scores: Scores, anew: Scores, *, first: float = 0.0) -> Scores:
    """Put the first `TOP_K` stretches into a new order by scores `anew`; the others stay below.

    - `first`: what the old scores count for beside the new ones'; nothing in the paper.
    """
    order = best_first(scores)
    top = order[:TOP_K]
    return below(beside(anew, scores[top], first), top, order[TOP_K:], scores)


def likelihood(scorer: SpanScorer, target: Target, sources: Sequence[str], progress: Progress = silent) -> Scores:
    """Score sources by s = sum_i log p(t_i | t_<i, context, source) over the tokens of the span (section 4.3)."""
    _, found = scorer(target, sources, progress)
    sums: Scores = found.sum(axis=1)
    return sums


def gains(scorer: SpanScorer, target: Target, source: str, progress: Progress = silent) -> list[tuple[int, int, float]]:
    """Say which log-probability a source adds to each word of a span, with the word's half-open offsets in it."""
    offsets, found = scorer(target, [source, ""], progress)
    more = found[0] - found[1]
    pieces = (target.span[start:end] for start, end in offsets)
    blanks = [len(piece) - len(piece.lstrip()) for piece in pieces]
    middles = np.array([(start + blank + end - 1) // 2 for (start, end), blank in zip(offsets, blanks, strict=True)])
    words = ((match.start(), match.end()) for match in WORD.finditer(target.span))
    return [
        (start, end, float(more[inside].sum()))
        for start, end in words
        if (inside := (middles >= start) & (middles < end)).any()
    ]


def by_server(ask: Callable[[str, str], list[tuple[str, float]]]) -> SpanScorer:
    """Make a scorer of a server that gives the log-probabilities of a text's tokens behind a prefix."""

    def score(target: Target, sources: Sequence[str], progress: Progress) -> tuple[list[tuple[int, int]], Scores]:
        found: list[list[tuple[str, float]]] = []
        for source in sources:
            progress(len(found), len(sources), "Reading")
            found.append(ask(f"{source}\n\n{target.left}", target.span))
        # The first token may begin before the span, with the space there.
        borders = np.cumsum([0, *(len(token) for token, _ in found[0])]) if found else np.zeros(1, int)
        offsets = list(pairwise(np.maximum(0, borders - borders[-1] + len(target.span)).tolist()))
        return offsets, np.array([[value for _, value in each] for each in found], dtype=np.float32)

    return score


def _pair(first: Any, second: Any) -> Any:  # noqa: ANN401 - of numbers and of arrays alike
    return (first << 32) | second
