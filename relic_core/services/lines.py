"""The best line of a passage: who asks for a quotation of any length is shown a passage, and in it what to quote.

A passage is ranked as a whole, since what bears a claim out is spread over it. Its line is the one or two sentences
that Combined ranks highest among those of the passage, two of one paragraph, each length by how far it stands out of
its work; where the work is not prepared for Combined, BM25 chooses. A speech tag, or a clause that ends before the
speech that it brings in, is no line by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from relic_core.domain import Claim, Scores, Span, Work
from relic_core.errors import RelicError
from relic_core.ports import Retriever
from relic_core.reporting.passages import grown, whole_sentences
from relic_core.retrieval.fusion import share

_LENGTHS = (1, 2)
_BEFORE_SPEECH = re.compile(r":[-—–]*\s*$")

WORDS = 60
"""Words up to which whole sentences are shown around a line."""


class Lines:
    """Chooses the lines of passages for one claim; `retriever` gives a registered one."""

    def __init__(self, claim: Claim, retriever: Callable[[str], Retriever]) -> None:
        self._claim = claim
        self._retriever = retriever
        self._scored: dict[str, list[Scores]] = {}

    def line(self, work: Work, passage: Span) -> Span:
        """Choose the line of a passage, in whole grammatical sentences."""
        if work.id not in self._scored:
            self._scored[work.id] = self._scores(work)
        best, most = passage, -np.inf
        for length, scores in zip(_LENGTHS, self._scored[work.id], strict=True):
            for start in range(passage.start, passage.end - length + 1):
                one_paragraph = work.sentences[start].paragraph == work.sentences[start + length - 1].paragraph
                if one_paragraph and scores[start] > most:
                    best, most = Span(start, length), float(scores[start])
        line = whole_sentences(work, best)
        if _BEFORE_SPEECH.search(work.sentence_text(line.end - 1)) and line.end < len(work.sentences):
            speech = whole_sentences(work, Span(line.end, 1))
            if work.sentences[speech.start].chapter == work.sentences[line.start].chapter:
                return Span(line.start, speech.end - line.start)
        return line

    def shown(self, work: Work, line: Span, passage: Span) -> Span:
        """Say what is shown of a passage with its line."""
        return grown(work, line, passage, words=WORDS)

    def _scores(self, work: Work) -> list[Scores]:
        with suppress(RelicError):  # its own column says what is wrong with it
            combined = self._retriever("fusion")
            if combined.ready(work, *_LENGTHS):
                return self._scored_by(combined, work)
        return self._scored_by(self._retriever("bm25"), work)

    def _scored_by(self, retriever: Retriever, work: Work) -> list[Scores]:
        return [np.asarray(share(retriever.score(self._claim, work, length)), dtype=np.float32) for length in _LENGTHS]
