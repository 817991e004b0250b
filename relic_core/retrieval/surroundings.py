"""BM25 over what stands around a span: the scene, the pages and the chapter have their words in common with a claim.

Who writes about a line names what happens beside it, which the line itself does not: its people, its place, what was
said before. A work is cut into blocks of a few sentences, and each block with `HALVES` blocks on either side, as far as
the work goes, is a document of BM25 (`relic_core.retrieval.bm25`); a span has the sum of the scores of those around the
block that its middle is in. No word may count against a document, and some occur in nearly all, so that here

    idf(w) = ln(1 + (N - n_w + 0.5) / (n_w + 0.5))

with N and n_w counted over the works that are searched together. Alone this finds the page and not the line; beside
rankings of spans it adds what these cannot know (docs/evaluation.md has the figures).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import GIVEN_PASSAGES, Claim, Corpus, Ranking, Scores, Span, Work, WorkVersion, rank_works
from relic_core.ports import Retriever
from relic_core.retrieval.bm25 import K1, B, Bm25, gain, key_of
from relic_core.retrieval.postings import Postings
from relic_core.retrieval.words import claim_terms, terms_version
from relic_core.text.words import WorkWords

CODE = "surroundings/1"
"""Version of how scores are made: a new one makes other scores."""

BLOCK = 5
"""Sentences of a block."""

HALVES = (4, 9, 20)
"""Blocks on either side of a span's own: 45, 95 and 205 sentences. Chosen on half of dev."""

_ALONE = 8
"""Works that were searched alone whose words are held."""


class Surroundings(Bm25):
    """Ranks spans by what stands around them; what `Bm25` holds of sentences is held of blocks here."""

    _sentences_held = BLOCK

    def __init__(self, *, indexes: Path | None = None) -> None:
        super().__init__(indexes=indexes)
        self._alone: LRUCache[Postings] = LRUCache(_ALONE)

    @property
    def name(self) -> str:
        """The registered name."""
        return "surroundings"

    @property
    def configuration(self) -> Mapping[str, str]:
        """What surroundings are, and all that decides the words and their weights."""
        lengths = ", ".join(str(BLOCK * (2 * half + 1)) for half in HALVES)
        return {"k1": str(K1), "b": str(B), "words": terms_version("tokens"), "sentences": lengths, "code": CODE}

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; 0 where nothing around it shares a word with the claim."""
        return self.rank(claim, Corpus.of(work), length).scores

    def rank(
        self,
        claim: Claim,
        corpus: Corpus,
        length: int,
        *,
        like: tuple[WorkVersion, Span] | None = None,
    ) -> Ranking:
        """Rank as `Bm25.rank`.

        All have 0 around passages that do not follow each other, and where a passage is asked with: its words are those
        of its own scene.
        """
        asked = claim_terms(claim, "tokens")
        running = tuple(work for work in corpus.versions if work.segmenter != GIVEN_PASSAGES and not like)
        if corpus.whole and running:
            postings = self._alone.get(
                key_of(running[0]), lambda: Postings.none().extended(self._words(corpus, running))
            )
        else:
            postings = self._holding(replace(corpus, versions=running)).postings
        places = {work.id: postings.works[key_of(work)] for work in running if key_of(work) in postings.works}
        scores = around(postings, asked, list(places.values()))

        removed = {work.id for work in running} - places.keys()

        def of(work: WorkVersion) -> Scores:
            if work.id not in places:
                return np.zeros(work.candidates(length), dtype=np.float32)
            middle = np.arange(work.candidates(length)) + length // 2
            found: Scores = scores[places[work.id].start + middle // BLOCK]
            return found

        return rank_works(
            self.name, length, ((work.id, of(work)) for work in corpus.versions if work.id not in removed)
        )

    def _words(self, corpus: Corpus, works: Sequence[WorkVersion]) -> Iterator[tuple[str, WorkWords]]:
        for key, words in super()._words(corpus, works):
            yield key, replace(words, starts=np.append(words.starts[:-1:BLOCK], words.starts[-1]))


def around(postings: Postings, asked: Sequence[str], works: Sequence[range]) -> Scores:
    """Score the blocks of some works by what stands around each; shape (n_blocks,), 0 in all other works."""
    scores = np.zeros(postings.sentences, dtype=np.float32)
    documents = sum(map(len, works))
    if not documents:
        return scores
    open_, close = min(work.start for work in works), max(work.stop for work in works)
    blocks = np.arange(open_, close)
    searched = np.zeros(len(blocks), dtype=bool)
    for work in works:
        searched[work.start - open_ : work.stop - open_] = True
    reaches = []
    for half in HALVES:
        first = np.maximum(blocks - half, postings.opens[blocks])
        end = np.minimum(blocks + half + 1, postings.closes[blocks])
        sizes = postings.tokens[end] - postings.tokens[first]
        relative = sizes / (sizes[searched].mean() or 1.0)
        reaches.append((np.arange(-half, half + 1), first - open_, end - open_, relative))
    for word, times in Counter(term for term in asked if term in postings.vocabulary).items():
        number = postings.vocabulary[word]
        entries = slice(postings.first[number], postings.first[number + 1])
        sentence, count = postings.sentence[entries], postings.count[entries]
        some = slice(*np.searchsorted(sentence, (open_, close)))
        own = sentence[some] - open_
        before = np.zeros(len(blocks) + 1, dtype=np.int32)
        np.cumsum(np.bincount(own, count[some], len(blocks)), out=before[1:], dtype=np.int32)
        for reach, first, end, relative in reaches:
            near = searched
            if len(own) * len(reach) < len(blocks):  # a rare word is in few documents
                near = np.zeros(len(blocks), dtype=bool)
                near[np.clip(own[:, None] + reach, 0, len(blocks) - 1)] = True
                near &= searched
            near = np.flatnonzero(near)
            held = before[end[near]] - before[first[near]]
            near, held = near[held > 0], held[held > 0]
            idf = float(np.log1p((documents - len(near) + 0.5) / (len(near) + 0.5)))
            scores[open_ + near] += times * gain(idf, held, relative[near], k1=K1, b=B)
    return scores


def create(settings: Settings, components: Sequence[Retriever]) -> Surroundings:  # noqa: ARG001 - the registry's signature
    """Make it over the words of works."""
    return Surroundings(indexes=settings.indexes)
