"""Pairs of towers: one reads claims, the other passages; for most encoders they are the same."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from relic_core.encoders.precision import Arithmetic, best_arithmetic
from relic_core.encoders.towers import Tower
from relic_core.encoders.weights import find_model, pair_digest
from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from relic_core.domain import Claim
    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.precision import Precision
    from relic_core.encoders.towers import Tokens


class Pair:
    """The towers of an encoder, used as its card says.

    - `card`: which models, and how they are used.
    - `precision`: to compute in on the processor; by default what is best for this machine, on its GPU where it has
      one.
    - `longest`: the most tokens of a passage that will be read at a time; by default the card's window.

    Raises BadWeights: a model's files are missing or not the expected ones, of the packaged model or of the card.
    """

    def __init__(self, card: EncoderCard, *, precision: Precision | None = None, longest: int | None = None) -> None:
        self.card = card
        self._arithmetic = Arithmetic(precision) if precision else best_arithmetic()
        passages = find_model(card.passage_model)
        claims = passages if card.query_model == card.passage_model else find_model(card.query_model)
        if card.digest and card.digest != pair_digest(claims, passages):
            raise BadWeights(
                f"The encoder {card.name} is damaged: the files of its models are not those that its card was written "
                "for. Copy its folder again from where it was trained, or train it anew; where you changed the files "
                "yourself, take the digest out of the card."
            )
        self.passages = Tower(passages, card, arithmetic=self._arithmetic, longest=longest or card.window)
        same = claims.digest == passages.digest
        self.claims = self.passages if same else Tower(claims, card, arithmetic=self._arithmetic, longest=card.window)

    def identity(self, how: str) -> str:
        """Name the encoder, with the digest of all that decides its vectors and the number format.

        A single tower whose mean is compared by cosine has the digest of its files alone, as encoders had before there
        were cards: indexes built by it stay good.

        - `how`: how works are read, in words.
        """
        card, digest = self.card, self.passages.files.digest
        plain = card.pooling == "mean" and card.similarity == "cosine" and card.spans == "in context"
        said = card.query_prefix or card.passage_prefix or card.mask or card.claim_windows
        if self.claims is not self.passages or said or not plain:
            everything = [card.facts, self.claims.files.digest, digest]
            digest = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()
            how += f", {card.similarity}"
            if self.claims is not self.passages:
                how += ", two towers"
            if card.query_prefix or card.passage_prefix:
                how += f", prefixes {card.query_prefix!r} and {card.passage_prefix!r}"
            if card.mask:
                how += f", claims with {card.mask}"
            if card.claim_windows:
                how += f", claims of {'+'.join(map(str, card.claim_windows))} tokens"
        return f"{card.name}/{digest[:12]}/{self._arithmetic}/{how}"

    def facts(self, *, stretch: int, context: int) -> dict[str, str | int]:
        """List what makes the vectors of a work, for the manifests of indexes.

        - `stretch`, `context`: tokens read at a time, and those of them on either side that are there as context alone.

        Returns: "model", "weights" (digest of the model's files; "claim_weights" where claims have a tower of their
        own), "pooling", "spans", "similarity", "stretch_tokens", "context_tokens", "overlap_tokens" (that neighbouring
        stretches share), "precision", "device".
        """
        card = self.card
        found: dict[str, str | int] = {"model": card.name, "weights": self.passages.files.digest}
        if self.claims is not self.passages:
            found["claim_weights"] = self.claims.files.digest
        return {
            **found,
            "pooling": card.pooling,
            "spans": card.spans,
            "similarity": card.similarity,
            "stretch_tokens": stretch,
            "context_tokens": context,
            "overlap_tokens": 2 * context,
            "precision": self._arithmetic.precision,
            "device": self._arithmetic.device,
        }

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: both sides as one text after the prefix, between them the mask that the card gives, if any.

        Of a claim longer than the window the words nearest to the mask are kept, and of one without a mask the first.
        Where the card gives several windows, the vectors of all cuts are added up.

        Returns: each of length 1 where the card compares by cosine.
        """
        if self.claims.dimension != self.passages.dimension:
            raise BadWeights(
                f"The two towers of {self.card.name} do not belong together: the vectors of claims have "
                f"{self.claims.dimension} dimensions and those of passages {self.passages.dimension}."
            )
        windows = self.card.claim_windows or (self.card.window,)
        cuts = [tuple(self.claim_ids(claim, window)) for claim in claims for window in windows]
        place = {row: number for number, row in enumerate(dict.fromkeys(cuts))}  # a short claim has one cut
        vectors = self.claims.vectors([list(row) for row in place], reading="reading a claim")
        found = vectors[np.array([place[row] for row in cuts], dtype=np.int64)]
        if len(windows) == 1:
            return found
        added = found.reshape(len(claims), len(windows), self.claims.dimension).mean(axis=1)
        if self.card.similarity == "cosine":
            lengths = np.linalg.norm(added, axis=1, keepdims=True)
            added /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray(added, dtype=np.float32)

    def claim_ids(self, claim: Claim, window: int | None = None) -> list[int]:
        """Cut a claim to the window; token ids, the prefix's first, special tokens left out.

        - `claim`: a mask stands in it only where the claim is masked.
        - `window`: the most tokens; by default the card's window.
        """
        read = self.claims.tokens(claim.left, self.card.query_prefix)
        left, room = read.ids, self.room(read, window)
        right = self.claims.tokens(f" {claim.right}").ids if claim.right else []
        if not claim.masked:
            return [*read.prefix, *[*left, *right][:room]]
        mask = self._mask
        room -= len(mask)
        after = min(len(right), max(room - len(left), room // 2))
        before = min(len(left), room - after)
        return [*read.prefix, *left[len(left) - before :], *mask, *right[:after]]

    def passage_ids(self, passage: str, window: int | None = None) -> list[int]:
        """Cut a passage to the window, from its beginning; parameters and token ids as of `claim_ids`."""
        read = self.passages.tokens(passage, self.card.passage_prefix)
        return [*read.prefix, *read.ids[: self.room(read, window)]]

    @cached_property
    def _mask(self) -> list[int]:
        return self.claims.tokens(self.card.mask).ids if self.card.mask else []

    def room(self, read: Tokens, window: int | None = None) -> int:
        """Count the tokens that a window has beside the prefix; the card's window where none is given.

        Raises BadWeights: the prefix takes up more than half of it.
        """
        window = window or self.card.window
        room = window - len(read.prefix)
        if room < window // 2:
            raise BadWeights(
                f"A prefix of {self.card.name} has {len(read.prefix)} tokens, more than half of its window of "
                f"{window}. Write a larger window into its encoder card, or a shorter prefix."
            )
        return room
