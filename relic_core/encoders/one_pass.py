"""The one-pass encoder: a work goes through the model once, in stretches, and any run of sentences can be pooled after.

A sentence's vector is the sum of the contextual states of its own tokens, so the mean over any span is the sum of its
sentences' sums over the sum of their counts. The model sees what stands around a sentence: stretches overlap, and each
sentence is taken from the one in which it stands in the middle. A prefix stands at the head of every stretch, unpooled.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from relic_core.encoders.cards import read_card
from relic_core.encoders.pairs import Pair
from relic_core.encoders.stretches import cut_stretches
from relic_core.encoders.texts import flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import torch

    from relic_core.domain import Claim, Work
    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.precision import Precision
    from relic_core.encoders.towers import Tokens
    from relic_core.ports import Progress

CONTEXT = 32
"""Tokens of context on either side of those whose states are kept: about a third more tokens than the work has. A
quarter of the window where that is less."""


class OnePassEncoder:
    """Encodes works in one pass and claims by mean pooling; the models are loaded when first used.

    Parameters
    ----------
    card : EncoderCard, optional
        Which model, and how it is used: spans in context. By default the packaged one.
    precision : {"float32", "bfloat16"}, optional
        Number format of the model; by default the best for this machine. Vectors that come out are float32.

    Raises
    ------
    BadWeights
        The model's files are missing or not the expected ones.
    """

    def __init__(self, card: EncoderCard | None = None, *, precision: Precision | None = None) -> None:
        self._pair = Pair(card or read_card(), precision=precision)
        self._window = self._pair.card.window
        self._context = min(CONTEXT, self._window // 4)

    @property
    def identity(self) -> str:
        """Model, digest of its files and card, number format, pooling, and how the work is cut.

        Where tokens take in spaces, it says that they are pooled with the word: before, they were with the space, so
        that the first word of a sentence counted as the last of the one before it.
        """
        words = ", spaces with their word" if self._pair.passages.joins_spaces else ""
        return self._pair.identity(f"one-pass mean, {self._window} tokens with {self._context} of context{words}")

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._pair.passages.dimension

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: see `Pair.encode_claims`; means over all token states, special tokens included."""
        return self._pair.encode_claims(claims)

    def encode_sentences(self, work: Work, progress: Progress) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Encode the sentences of a work in one pass; stretches do not cross the borders of chapters.

        Parameters
        ----------
        work : Work
            Its sentences may be a part of the whole work's.
        progress : Progress
            Told after every batch how many tokens are done.

        Returns
        -------
        sums : float32 array, shape (n_sentences, dimension)
            Per sentence the sum of its own tokens' contextual states.
        counts : int32 array, shape (n_sentences,)
            Number of tokens of each sentence, at least 1.
        """
        import torch

        sums = torch.zeros((len(work.sentences), self.dimension), dtype=torch.float32)
        counts = np.zeros(len(work.sentences), dtype=np.int32)
        rows: list[list[int]] = []
        cores: list[tuple[int, torch.Tensor]] = []  # where the core begins in its row, and whose tokens it holds
        for read, ids, sentence_of in self._chapters(work):
            counts += np.bincount(sentence_of, minlength=len(counts)).astype(np.int32)
            for stretch in cut_stretches(sentence_of, window=self._pair.room(read), context=self._context):
                rows.append([*read.prefix, *ids[stretch.start : stretch.end].tolist()])
                owners = torch.from_numpy(sentence_of[stretch.core_start : stretch.core_end])
                cores.append((len(read.prefix) + stretch.core_start - stretch.start, owners))
        done, total = 0, sum(len(row) for row in rows)
        opening = len(self._pair.passages.opening)
        for batch in self._pair.passages.forward(rows):
            for member, state in zip(batch.members, batch.states, strict=True):
                first, owners = cores[member]
                first += opening
                sums.index_add_(0, owners, state[first : first + len(owners)])
            done += sum(len(rows[member]) for member in batch.members)
            progress(done, total, "Reading the work")
        return sums.numpy(), counts

    def _chapters(self, work: Work) -> Iterator[tuple[Tokens, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Yield each chapter's tokens; their ids, every sentence with one; the sentence of `work` each belongs to."""
        first = 0
        for _, members in groupby(work.sentences, key=lambda sentence: sentence.chapter):
            sentences = list(members)
            read, ids, sentence_of = self._tokens([flat(work, sentence) for sentence in sentences])
            yield read, ids, sentence_of + first
            first += len(sentences)

    def _tokens(self, texts: list[str]) -> tuple[Tokens, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Tokenize texts as one, and say which text each token belongs to; every text gets a token."""
        read = self._pair.passages.tokens(" ".join(texts), self._pair.card.passage_prefix)
        ids = np.array(read.ids, dtype=np.int64)
        starts = np.cumsum([0, *(len(text) + 1 for text in texts[:-1])])
        text_of = np.searchsorted(starts, np.array(read.places, dtype=np.int64), side="right") - 1
        silent = np.setdiff1d(np.arange(len(texts)), text_of)  # only characters that the tokenizer drops
        where = np.searchsorted(text_of, silent)
        return read, np.insert(ids, where, self._pair.passages.closing[-1]), np.insert(text_of, where, silent)
