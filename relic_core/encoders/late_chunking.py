"""The late-chunking encoder: a work goes through the model once, in stretches; runs of sentences are pooled after.

A sentence's vector is the sum of the contextual states of its own tokens, so the mean over any span is the sum of its
sentences' sums over the sum of their counts. The model sees what stands around a sentence: stretches overlap, and each
sentence is taken from the one that has it in the middle. A prefix is at the head of every stretch, unpooled.

For late interaction the states are not added up: each goes through the encoder's projection, where it has one, and is
compared for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, Work
from relic_core.encoders.cards import LEAST_WINDOW, EncoderCard, read_card
from relic_core.encoders.precision import Precision
from relic_core.encoders.towers import Tokens, TowerPair, dense_layers, flat, shared
from relic_core.encoders.weights import token_weights
from relic_core.errors import BadRequest
from relic_core.ports import Progress
from relic_core.text.words import words_at

if TYPE_CHECKING:
    import torch

Core = tuple[int, npt.NDArray[np.int64]]
"""Where the tokens that are kept begin in their row, and which sentence each belongs to."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens that go through the encoder together, around those whose states are taken from it: its core."""

    start: int
    end: int
    core_start: int
    core_end: int


def cut_stretches(sentence_of: npt.NDArray[np.int64], *, window: int, context: int) -> list[Stretch]:
    """Cut the tokens of a run of sentences into stretches.

    Cores follow each other without gaps, end at the ends of sentences and are about equally long, so each sentence is
    taken from the stretch in which it has context on both sides; a sentence longer than a core is cut.

    - `sentence_of`: the sentence each token belongs to, not decreasing.
    - `window`: the most tokens in a stretch, special tokens apart.
    - `context`: tokens of context on either side of a core, fewer at the ends of the run.

    >>> for stretch in cut_stretches(np.array([0, 0, 0, 1, 1, 2]), window=5, context=1):
    ...     print(stretch)
    Stretch(start=0, end=4, core_start=0, core_end=3)
    Stretch(start=2, end=6, core_start=3, core_end=6)
    """
    total = len(sentence_of)
    if total == 0:
        return []
    room = window - 2 * context
    if room < 1:
        raise ValueError(f"a window of {window} tokens has no room for {context} tokens of context on either side")
    target = total / -(-total // room)  # equal cores rather than a short last one
    ends = [0, *(np.flatnonzero(np.diff(sentence_of)) + 1).tolist(), total]
    borders = [0]
    for previous, end in pairwise(ends):
        start = borders[-1]
        if previous > start and (end - start > room or end - start - target > target - (previous - start)):
            borders.append(previous)
        while end - borders[-1] > room:
            borders.append(borders[-1] + room)
    if borders[-1] < total:
        borders.append(total)
    return [Stretch(max(0, start - context), min(total, end + context), start, end) for start, end in pairwise(borders)]


@dataclass(frozen=True, slots=True)
class ClaimTokens:
    """A claim for late interaction: of each token, special ones included, its vector, what it counts for, its word.

    `vectors` has the shape (n_tokens, dimension); a token that belongs to no word has an empty one.
    """

    vectors: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]
    words: tuple[str, ...]


CONTEXT = 32
"""Tokens of context on either side of those whose states are kept: about a third more tokens than the work has. A
quarter of the window where that is less."""


class LateChunkingEncoder:
    """Encodes works in one pass and claims by mean pooling; the models are loaded when first used.

    - `precision`: number format of the model, on the processor; by default what is best for this machine, on its GPU
      where it has one. Vectors that come out are float32.
    - `stretch`: the most tokens of a stretch, special tokens apart; by default the card's window, to which claims are
      cut whatever is said here.
    - `context`: tokens of context on either side of those whose states are kept; by default `CONTEXT`, or a quarter of
      the stretch where that is less.

    Raises BadRequest: stretches that are too short, or that their context fills.
    """

    def __init__(
        self,
        card: EncoderCard | None = None,
        *,
        precision: Precision | None = None,
        stretch: int | None = None,
        context: int | None = None,
    ) -> None:
        card = card or read_card()
        self._stretch = card.window if stretch is None else stretch
        self._context = min(CONTEXT, self._stretch // 4) if context is None else context
        if self._stretch < LEAST_WINDOW or not 0 <= 2 * self._context < self._stretch:
            raise BadRequest(
                f"Stretches of {self._stretch} tokens with {self._context} of context on either side cannot be: a "
                f"stretch has {LEAST_WINDOW} tokens or more, and its context on both sides together has fewer."
            )
        self.pair = TowerPair(card, precision=precision, longest=max(card.window, self._stretch))

    @cached_property
    def identity(self) -> str:
        """Model, digest of its files and card, number format, pooling, and how the work is cut.

        Where tokens take in spaces, it says that they are pooled with the word: before, they were with the space, so
        that the first word of a sentence counted as the last of the one before it.
        """
        return self._identity("mean")

    @property
    def token_identity(self) -> str:
        """The same of single tokens; what those of a claim count for, no index holds."""
        return self._identity("tokens")

    @property
    def weighed(self) -> str:
        """What the tokens of a claim count for, and to how many it is filled up, named; else empty."""
        filled = f", claims filled up to {self.pair.card.expansion}" if self.pair.card.expansion else ""
        return f"{filled}, claims weighed by {self._weights[0][:12]}" if self._weights else filled

    def check_tokens(self) -> None:
        """Look at the projection of tokens, and at what those of a claim count for. Raises BadWeights."""
        for folder in self.pair.card.dense:
            dense_layers(Path(folder), self.pair.card.name)
        _ = self._weights

    def _identity(self, what: str) -> str:
        words = ", spaces with their word" if self.pair.passages.joins_spaces else ""
        window = self.pair.card.window
        claims = f", claims of up to {window}" if self._stretch != window else ""
        return self.pair.identity(
            f"one-pass {what}, {self._stretch} tokens with {self._context} of context{words}{claims}"
        )

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What makes the vectors, for the manifests of indexes: see `TowerPair.facts`."""
        return self.pair.facts(stretch=self._stretch, context=self._context)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.pair.passages.dimension

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: see `TowerPair.encode_claims`; means over all token states, special tokens included."""
        return self.pair.encode_claims(claims)

    def encode_sentences(self, work: Work, progress: Progress) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Encode the sentences of a work, or of a part, in one pass; stretches do not cross the borders of chapters.

        Returns: per sentence the sum of its own tokens' contextual states, and their number, at least 1.
        """
        import torch

        self.pair.card.check_pooled()
        rows, cores, counts = self.cut(work)
        sums = torch.zeros((len(work.sentences), self.dimension), dtype=torch.float32)
        for member, states in self._states(work, rows, cores, progress):
            sums.index_add_(0, torch.from_numpy(cores[member][1]), states)
        return sums.numpy(), counts

    def encode_tokens(self, work: Work, progress: Progress) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Encode the tokens of a work, or of a part, in the same pass, for late interaction.

        Returns: vectors of the tokens in the order of the text, without those that the card skips; number of tokens of
        each sentence, at least 1.
        """
        rows, cores, _ = self.cut(work)
        owners = np.concatenate([np.zeros(0, np.int64), *(owners for _, owners in cores)])
        ends = np.cumsum([len(owners) for _, owners in cores])
        found = np.zeros((len(owners), self.dimension), dtype=np.float32)
        for member, states in self._states(work, rows, cores, progress):
            found[ends[member] - len(states) : ends[member]] = self.pair.passages.compared(states).numpy()
        cut = [row[first : first + len(own)] for row, (first, own) in zip(rows, cores, strict=True)]
        kept = self._compared(np.fromiter(chain.from_iterable(cut), np.int64), owners)
        return found[kept], np.bincount(owners[kept], minlength=len(work.sentences)).astype(np.int32)

    def token_words(self, work: Work) -> list[list[str]]:
        """Give of each sentence the word of each token that `encode_tokens` gives of it; empty where it is in none."""
        found: list[list[str]] = [[] for _ in work.sentences]
        for read, sentence_of, text in self._chapters(work):
            kept = self._compared(np.array(read.ids, dtype=np.int64), sentence_of)
            words = words_at(text, np.array(read.places, dtype=np.int64)[kept].tolist())
            for sentence, word in zip(sentence_of[kept].tolist(), words, strict=True):
                found[sentence].append(word)
        return found

    def encode_claim_tokens(self, claim: Claim) -> ClaimTokens:
        """Encode the tokens of a claim, cut once, to the largest of the card's windows for claims."""
        self.pair.check_dimensions()
        card, tower = self.pair.card, self.pair.claims
        read = self.pair.claim_tokens(claim, max(card.claim_windows or (card.window,)))
        ids, states = tower.filled(read.ids)
        places = [*[-1] * len(tower.opening), *read.places]
        places += [-1] * (len(ids) - len(places))
        return ClaimTokens(
            tower.compared(states).numpy(),
            np.ones(len(ids), np.float32) if self._weights is None else self._weights[1][ids],
            tuple(words_at(f"{claim.left} {claim.right}", places)),
        )

    @cached_property
    def _weights(self) -> tuple[str, npt.NDArray[np.float32]] | None:
        """Read once with their digest, so that what is named is what is used."""
        return token_weights(self.pair.card.query_model, self.pair.claims.tokenizer.get_vocab_size())

    def _compared(self, ids: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which tokens are compared: not those that the card skips, unless their sentence has no others."""
        if not self.pair.card.skip or not len(ids):
            return np.ones(len(ids), dtype=np.bool_)
        known = map(self.pair.passages.tokenizer.token_to_id, self.pair.card.skip)
        compared = ~np.isin(ids, [number for number in known if number is not None])
        return np.asarray(compared | (np.bincount(owners[compared], minlength=owners.max() + 1)[owners] == 0))

    def _states(
        self, work: Work, rows: Sequence[list[int]], cores: Sequence[Core], progress: Progress
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """Run rows through the model; yields of each, by its number, the states of the tokens that are kept."""
        done, total = 0, sum(len(row) for row in rows)
        opening = len(self.pair.passages.opening)
        for batch in self.pair.passages.forward(rows, reading=f"reading '{work.title}'"):
            for member, states in zip(batch.members, batch.states, strict=True):
                first, owners = cores[member]
                yield member, states[opening + first : opening + first + len(owners)]
            done += sum(len(rows[member]) for member in batch.members)
            progress(done, total, "Reading the work")

    def cut(self, work: Work) -> tuple[list[list[int]], list[Core], npt.NDArray[np.int32]]:
        """Cut a work into the rows that go through the model, without running it.

        Returns: token ids, the prefix's first, special tokens left out; of each row, where the tokens begin whose
        states are kept, and the sentence that each of them belongs to; number of tokens of each sentence, at least 1.
        """
        counts = np.zeros(len(work.sentences), dtype=np.int32)
        rows: list[list[int]] = []
        cores: list[Core] = []
        for read, sentence_of, _ in self._chapters(work):
            counts += np.bincount(sentence_of, minlength=len(counts)).astype(np.int32)
            for stretch in cut_stretches(
                sentence_of, window=self.pair.room(read, self._stretch), context=self._context
            ):
                rows.append([*read.prefix, *read.ids[stretch.start : stretch.end]])
                owners = sentence_of[stretch.core_start : stretch.core_end]
                cores.append((len(read.prefix) + stretch.core_start - stretch.start, owners))
        return rows, cores, counts

    def _chapters(self, work: Work) -> Iterator[tuple[Tokens, npt.NDArray[np.int64], str]]:
        """Yield each chapter's tokens, every sentence with one; the sentence of `work` each belongs to; their text."""
        first = 0
        for _, members in groupby(work.sentences, key=lambda sentence: sentence.chapter):
            sentences = list(members)
            texts = [flat(work, sentence) for sentence in sentences]
            read, sentence_of = self._tokens(texts)
            yield read, sentence_of + first, " ".join(texts)
            first += len(sentences)

    def _tokens(self, texts: list[str]) -> tuple[Tokens, npt.NDArray[np.int64]]:
        """Tokenize texts as one, and say which text each token belongs to; every text gets a token, if nowhere."""
        read = self.pair.passages.tokens(" ".join(texts), self.pair.card.passage_prefix)
        ids = np.array(read.ids, dtype=np.int64)
        starts = np.cumsum([0, *(len(text) + 1 for text in texts[:-1])])
        text_of = np.searchsorted(starts, np.array(read.places, dtype=np.int64), side="right") - 1
        silent = np.setdiff1d(np.arange(len(texts)), text_of)  # only characters that the tokenizer drops
        where = np.searchsorted(text_of, silent)
        ids = np.insert(ids, where, self.pair.passages.closing[-1])
        places = np.insert(np.array(read.places, dtype=np.int64), where, -1)
        return Tokens(read.prefix, ids.tolist(), places.tolist()), np.insert(text_of, where, silent)


def load_late_chunking(card: EncoderCard) -> LateChunkingEncoder:
    """Give the encoder of a card that reads spans in context: one for all who ask in this process."""
    return shared(LateChunkingEncoder(card))
