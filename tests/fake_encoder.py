"""An encoder without a model: every word has a fixed direction, so that like words mean like vectors."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Claim
from relic_core.text.words import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.ports import Progress

DIMENSION = 16


def direction(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


class FakeEncoder:
    """Counts the sentences or passages it was asked for, and can be told to fail after some."""

    dimension = DIMENSION

    def __init__(self, identity: str = "fake/1", *, fail_after: int | None = None) -> None:
        self.identity = identity
        self.fail_after = fail_after
        self.encoded = 0

    @property
    def facts(self) -> dict[str, str | int]:
        return {"model": self.identity, "pooling": "mean"}

    def encode_claims(self, claims: Sequence[Claim]) -> np.ndarray:
        rows = [sum((direction(word) for word in tokens(claim.words)), np.zeros(DIMENSION)) for claim in claims]
        return np.array([row / (np.linalg.norm(row) or 1.0) for row in rows], dtype=np.float32)

    def encode_passages(self, passages: Sequence[str]) -> np.ndarray:
        if self.fail_after is not None and self.encoded >= self.fail_after:
            raise KeyboardInterrupt
        self.encoded += len(passages)
        return self.encode_claims([Claim(passage) for passage in passages])

    def encode_sentences(self, work: Work, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        if self.fail_after is not None and self.encoded >= self.fail_after:
            raise KeyboardInterrupt
        self.encoded += len(work.sentences)
        words = [tokens(work.text[s.start : s.end]) or ["?"] for s in work.sentences]
        sums = np.array([sum(direction(word) for word in each) for each in words], dtype=np.float32)
        progress(len(words), len(words))
        return sums, np.array([len(each) for each in words], dtype=np.int32)
