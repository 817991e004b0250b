"""The plain encoder: every passage goes through the model by itself, and one vector comes out.

This is how most encoders were trained and how the RELiC paper used them. It costs a pass over the work for every length
of span, and a passage is blind to what stands around it; but it takes any pooling.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from relic_core.encoders.towers import TowerPair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from relic_core.domain import Claim
    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.precision import Precision


class PassageEncoder:
    """Encodes claims and passages, each by itself; the models are loaded when first used.

    - `card`: which models, and how they are used.
    - `precision`: number format of the models, on the processor; by default what is best for this machine, on its GPU
      where it has one. Vectors that come out are float32.

    Raises BadWeights: a model's files are missing or not the expected ones.
    """

    def __init__(self, card: EncoderCard, *, precision: Precision | None = None) -> None:
        self._pair = TowerPair(card, precision=precision)

    @property
    def identity(self) -> str:
        """Model, digest of its files and card, number format, pooling, and how long a passage may be."""
        card = self._pair.card
        return self._pair.identity(f"spans alone, {card.pooling} of up to {card.window} tokens")

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What makes the vectors, for the manifests of indexes: see `TowerPair.facts`."""
        return self._pair.facts(stretch=self._pair.card.window, context=0)

    def encode_claims(self, claims: Sequence[Claim]) -> npt.NDArray[np.float32]:
        """Encode claims: see `TowerPair.encode_claims`."""
        return self._pair.encode_claims(claims)

    def encode_passages(self, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode passages, each after the prefix and by itself; of one longer than the window the beginning.

        Returns: each of length 1 where the card compares by cosine.

        Raises RelicError: memory ran out.
        """
        rows = [self._pair.passage_ids(passage) for passage in passages]
        return self._pair.passages.vectors(rows, reading="reading passages")


_loaded: dict[str, PassageEncoder] = {}
_lock = threading.Lock()


def load_passage_encoder(card: EncoderCard) -> PassageEncoder:
    """Give the encoder of a card that reads spans by themselves; as `load_late_chunking`."""
    encoder = PassageEncoder(card)
    with _lock:
        return _loaded.setdefault(encoder.identity, encoder)
