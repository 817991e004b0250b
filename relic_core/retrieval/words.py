"""The words of works and claims, as retrievers by words count them.

The words of a work are kept as an index, so that a novel is read once and its words are opened in milliseconds after.
They are made when first asked for. Where the folder of indexes cannot be written they are made again in the next
process, and no search fails for it; a damaged index is made anew.

How often each word occurs in each span of a length is what BM25 and TF-IDF weigh. Spans overlap, so the counts are made
from `length` shifted copies of the sentences instead of the joined texts of all spans. They are made once for a work, a
length and a kind of term, and kept: another weighting is a matter of milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from relic_core.caching import LRUCache
from relic_core.domain import Claim, Work, WorkVersion
from relic_core.errors import StaleIndex, StoreError
from relic_core.retrieval import index_files
from relic_core.text.forms import lemma, lemmas_version, work_lemmas
from relic_core.text.masking import claim_tokens
from relic_core.text.words import STOPWORDS, WORDS, WorkWords, keep_words, work_words

Terms = Literal["tokens", "lemmas", "all"]
"""What is counted: words as they stand, or the dictionary words that they are forms of, both without function words; or
every word as it stands."""

RETRIEVER = "words"
"""Under this name the words are in the folder of indexes; every retriever that counts words shares them."""

LAYOUT = "layout/2"
"""Version of the arrays, and of the reading of broken words (`relic_core.text.unbroken`), which changes what a file of
broken words holds and nothing of others; a new one makes old indexes unused, and they are made again at once."""


def terms_version(terms: Terms) -> str:
    """Name all that decides what the terms are."""
    return lemmas_version() if terms == "lemmas" else f"{WORDS}, all" if terms == "all" else WORDS


def work_terms(work: Work, terms: Terms, indexes: Path | None = None) -> WorkWords:
    """Give the terms of a work whose text is at hand; known from then on to all who ask for them by the text."""
    found = stored_terms(work.version, terms, indexes=indexes, load=lambda _: work)
    if terms == "tokens" and indexes is not None:
        keep_words(work.fingerprint, found)
    return found


def stored_terms(work: WorkVersion, terms: Terms, *, indexes: Path | None, load: Callable[[str], Work]) -> WorkWords:
    """Open the terms of a work, or read them and keep them on disk; only then the work is loaded.

    Raises StaleIndex: the work that was loaded is of another version.
    """
    recipe = index_files.Recipe.of(work, retriever=RETRIEVER, encoder="", code=f"{terms_version(terms)}, {LAYOUT}")
    if indexes is not None:
        with suppress(StaleIndex, OSError):  # not there, damaged, or deleted while it was opened: it is made
            return _of_arrays(index_files.load(indexes, recipe))
    text = load(work.id)
    if text.fingerprint != work.fingerprint:
        raise StaleIndex(f"{work.title} was changed while its words were being read. Search again.")
    if terms == "all":
        words = WorkWords.of(text, left_out=frozenset())
    else:
        words = work_lemmas(text) if terms == "lemmas" else work_words(text)
    if indexes is not None:
        with suppress(StoreError, OSError):  # a search does not fail because nothing can be kept
            index_files.save(indexes, recipe, _to_arrays(words))
    return words


def _to_arrays(words: WorkWords) -> dict[str, npt.NDArray[Any]]:
    joined = "\n".join(words.vocabulary).encode()  # no token holds a line break
    return {
        "ids": words.ids.astype(np.int32),
        "starts": words.starts.astype(np.int64),
        "vocabulary": np.frombuffer(joined, dtype=np.uint8),
    }


def _of_arrays(arrays: dict[str, npt.NDArray[Any]]) -> WorkWords:
    """Copy the arrays into memory: the files may be deleted while the words are in use."""
    joined = arrays["vocabulary"].tobytes().decode()
    terms = joined.split("\n") if joined else []
    return WorkWords(
        vocabulary={term: number for number, term in enumerate(terms)},
        ids=np.array(arrays["ids"]),
        starts=np.array(arrays["starts"]),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanCounts:
    """How often each term occurs in each span of one length of one work.

    - `first`: term ``i`` has the entries ``first[i]`` up to ``first[i + 1]``, one for each span that holds it.
    - `span`: the span of each cell, in the order of the text within each term.
    - `sizes`: terms in each span, repetitions counted.
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

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.first.nbytes + self.span.nbytes + self.count.nbytes + self.sizes.nbytes

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
        entries, counts = np.unique(np.concatenate(keys), return_counts=True)  # by term, then by span
        term, span = np.divmod(entries, spans)
        holding = np.bincount(term, minlength=len(words.vocabulary))
        return cls(
            vocabulary=words.vocabulary,
            spans=spans,
            first=np.concatenate([[0], np.cumsum(holding)]).astype(np.int64),
            span=span.astype(np.int32),
            count=counts.astype(np.int32),
            sizes=words.starts[length:] - words.starts[:spans],
        )


_MOST = 64_000_000
"""In bytes: all lengths of two of the longest novels, or of a dozen others."""
_kept: LRUCache[SpanCounts] = LRUCache(_MOST, lambda counts: counts.nbytes)


def span_counts(work: Work, length: int, terms: Terms, indexes: Path | None = None) -> SpanCounts:
    """Count the terms of a work's spans, at least one of which there must be; the last few counts are kept."""
    key = (work.fingerprint, length, terms)
    return _kept.get(key, lambda: SpanCounts.of(work_terms(work, terms, indexes), length))


def claim_terms(claim: Claim, terms: Terms) -> list[str]:
    """List the terms of a claim; none where it is all function words and these are not counted.

    Raises BadClaim: it holds no word at all.
    """
    if terms == "all":
        return claim_tokens(claim)
    found = [token for token in claim_tokens(claim) if token not in STOPWORDS]
    return [lemma(token) for token in found] if terms == "lemmas" else found
