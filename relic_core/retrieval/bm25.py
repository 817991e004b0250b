"""BM25 over the spans of a work: words shared with the claim, rare words counting more, long spans less.

    score = sum over the claim's words of idf(w) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * words / average words))
    idf(w) = ln((N - n_w + 0.5) / (n_w + 0.5))

with N spans and n_w of them holding the word (Robertson and Zaragoza 2009), k1 and b as the RELiC paper tuned them.
Function words are left out on both sides. A word in more than half of the spans has a negative idf; as in `rank_bm25`
it gets a quarter of the average idf instead, so that this and `bm25-reference` agree for every length. In works of few
sentences even the average may be 0 or negative: there such words count next to nothing here, so that a span that shares
one still comes before a span that shares none, and they count nothing or against a span in `rank_bm25`.

bm25s answers the queries. Its table of scores is made here, from the tokens of the sentences: spans overlap, and so the
table is made from `length` shifted copies of the sentences instead of the joined texts of all spans.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from relic_core.retrieval.claims import claim_tokens
from relic_core.text.words import STOPWORDS, WORDS, work_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from relic_core.config import Settings
    from relic_core.domain import Claim, Scores, Work
    from relic_core.ports import Progress, Retriever
    from relic_core.text.words import WorkWords

CODE = "bm25/1"
"""Version of how scores are made: a new one makes other scores."""

K1 = 0.5
B = 0.9
"""As tuned in the RELiC paper."""

EPSILON = 0.25
"""Share of the average idf that words in more than half of the spans get (rank_bm25's value)."""

LEAST = 1e-6
"""The least a word can weigh: enough to tell a shared word from none, too little to outweigh a word that is rare."""

_KEPT = 20


class Bm25:
    """BM25 served by bm25s; tables are made on demand and the last few kept in memory."""

    name = "bm25"
    encoder_identity = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: OrderedDict[tuple[str, int], Any] = OrderedDict()

    @property
    def configuration(self) -> Mapping[str, str]:
        """The parameters, and the versions of the words and of the table."""
        return {"k1": str(K1), "b": str(B), "words": WORDS, "code": CODE}

    def ready(self, work: Work, length: int) -> bool:  # noqa: ARG002 - a table is made in less than a second
        """Say yes: a table that is missing is made while answering."""
        return True

    def prepare(self, work: Work, progress: Progress) -> None:
        """Read the words of the work, the longer part of what `score` needs."""
        work_words(work)
        progress(1, 1, "Counting words")

    def score(self, claim: Claim, work: Work, length: int) -> Scores:
        """Score every span of `length` sentences; 0 where it shares no word with the claim.

        Returns
        -------
        float32 array, shape (n_candidates,)
            At least 0.

        Raises
        ------
        BadClaim
            The claim holds no word.
        """
        words = claim_tokens(claim)
        if work.candidates(length) == 0:
            return np.zeros(0, dtype=np.float32)
        table = self._table(work, length)
        ids = table.get_tokens_ids([word for word in words if word not in STOPWORDS])
        if not ids:
            return np.zeros(work.candidates(length), dtype=np.float32)
        scores: Scores = table.get_scores_from_ids(ids)
        return scores

    def _table(self, work: Work, length: int) -> Any:  # noqa: ANN401 - bm25s is not typed
        key = (work.fingerprint, length)
        with self._lock:
            table = self._tables.pop(key, None) or _make_table(work_words(work), length)
            self._tables[key] = table
            while len(self._tables) > _KEPT:
                self._tables.popitem(last=False)
            return table


def _make_table(words: WorkWords, length: int) -> Any:  # noqa: ANN401 - bm25s is not typed
    """Fill a bm25s index with the scores of every word in every span of `length` sentences."""
    import bm25s

    sentences = len(words.starts) - 1
    spans = sentences - length + 1
    sentence_of = np.repeat(np.arange(sentences), np.diff(words.starts))
    keys = []
    for shift in range(length):  # sentence i is the one `shift` of span i - shift
        span_of = sentence_of - shift
        inside = (span_of >= 0) & (span_of < spans)
        keys.append(words.ids[inside].astype(np.int64) * spans + span_of[inside])
    cells, counts = np.unique(np.concatenate(keys), return_counts=True)  # by word, then by span
    word, span = np.divmod(cells, spans)
    holding = np.bincount(word, minlength=len(words.vocabulary))
    sizes = words.starts[length:] - words.starts[:spans]
    relative = sizes / (sizes.mean() or 1.0)  # a work without content words has a mean of 0, and no cells
    data = _idf(holding, spans)[word] * counts * (K1 + 1) / (counts + K1 * (1 - B + B * relative[span]))

    table = bm25s.BM25(k1=K1, b=B, method="robertson")
    table.vocab_dict = words.vocabulary
    table.nonoccurrence_array = None
    table.scores = {
        "data": data.astype(np.float32),
        "indices": span.astype(np.int32),
        "indptr": np.concatenate([[0], np.cumsum(holding)]),
        "num_docs": spans,
    }
    return table


def _idf(holding: npt.NDArray[np.int64], spans: int) -> npt.NDArray[np.float64]:
    """Weigh each word by how few spans hold it; shape (n_words,)."""
    idf = np.log(spans - holding + 0.5) - np.log(holding + 0.5)
    average = idf.mean() if len(idf) else 0.0
    return np.maximum(np.where(idf < 0, EPSILON * average, idf), LEAST)


def create(settings: Settings, components: Sequence[Retriever]) -> Bm25:  # noqa: ARG001 - the registry's signature
    """Make the serving BM25."""
    return Bm25()
