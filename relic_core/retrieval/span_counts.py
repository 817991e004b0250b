"""Words counted in every span of a length: what BM25 and TF-IDF weigh.

Spans overlap, so the counts are made from `length` shifted copies of the sentences instead of the joined texts of all
spans. They are made once for a work, a length and a kind of term, and kept: another weighting is a matter of
milliseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from relic_core.retrieval.claims import claim_tokens
from relic_core.text.lemmas import lemma, lemmas_version, work_lemmas
from relic_core.text.words import STOPWORDS, WORDS, work_words

if TYPE_CHECKING:
    import numpy.typing as npt

    from relic_core.domain import Claim, Work
    from relic_core.text.words import WorkWords

Terms = Literal["tokens", "lemmas"]
"""What is counted: words as they stand, or the dictionary words that they are forms of. Never function words."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanCounts:
    """How often each term occurs in each span of one length of one work.

    Attributes
    ----------
    vocabulary : dict of str to int
        Each term's number.
    spans : int
        Spans of the work.
    first : int64 array, shape (n_terms + 1,)
        Term ``i`` has the cells ``first[i]`` up to ``first[i + 1]``, one for each span that holds it.
    span : int32 array, shape (n_cells,)
        The span of each cell, in the order of the text within each term.
    count : int32 array, shape (n_cells,)
        How often the term occurs there, at least once.
    sizes : int64 array, shape (n_spans,)
        Terms in each span, repetitions counted.
    """

    vocabulary: dict[str, int]
    spans: int
    first: npt.NDArray[np.int64]
    span: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]

    @property
    def holding(self) -> npt.NDArray[np.int64]:
        """How many spans hold each term; shape (n_terms,)."""
        return np.diff(self.first)

    @classmethod
    def of(cls, words: WorkWords, length: int) -> SpanCounts:
        """Count the terms of a work that has at least one span of `length` sentences."""
        sentences = len(words.starts) - 1
        spans = sentences - length + 1
        sentence_of = np.repeat(np.arange(sentences), np.diff(words.starts))
        keys = []
        for shift in range(length):  # sentence i is the one `shift` of span i - shift
            span_of = sentence_of - shift
            inside = (span_of >= 0) & (span_of < spans)
            keys.append(words.ids[inside].astype(np.int64) * spans + span_of[inside])
        cells, counts = np.unique(np.concatenate(keys), return_counts=True)  # by term, then by span
        term, span = np.divmod(cells, spans)
        holding = np.bincount(term, minlength=len(words.vocabulary))
        return cls(
            vocabulary=words.vocabulary,
            spans=spans,
            first=np.concatenate([[0], np.cumsum(holding)]).astype(np.int64),
            span=span.astype(np.int32),
            count=counts.astype(np.int32),
            sizes=words.starts[length:] - words.starts[:spans],
        )


_KEPT = 20
_lock = threading.Lock()
_kept: OrderedDict[tuple[str, int, Terms], SpanCounts] = OrderedDict()


def span_counts(work: Work, length: int, terms: Terms) -> SpanCounts:
    """Count the terms of a work's spans, at least one of which there must be; the last few counts are kept."""
    key = (work.fingerprint, length, terms)
    with _lock:
        found = _kept.pop(key, None) or SpanCounts.of(work_terms(work, terms), length)
        _kept[key] = found
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
        return found


def work_terms(work: Work, terms: Terms) -> WorkWords:
    """Read the terms of a work."""
    return work_lemmas(work) if terms == "lemmas" else work_words(work)


def claim_terms(claim: Claim, terms: Terms) -> list[str]:
    """List the terms of a claim; none where it is all function words.

    Raises
    ------
    BadClaim
        It holds no word at all.
    """
    found = [token for token in claim_tokens(claim) if token not in STOPWORDS]
    return [lemma(token) for token in found] if terms == "lemmas" else found


def terms_version(terms: Terms) -> str:
    """Name all that decides what the terms are."""
    return lemmas_version() if terms == "lemmas" else WORDS
