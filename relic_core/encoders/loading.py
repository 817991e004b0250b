"""The encoders of this process: each is made once, however many retrievers ask for it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from relic_core.encoders.alone import AloneEncoder
from relic_core.encoders.one_pass import LateChunkingEncoder

if TYPE_CHECKING:
    from relic_core.encoders.cards import EncoderCard

_one_pass: dict[str, LateChunkingEncoder] = {}
_alone: dict[str, AloneEncoder] = {}
_lock = threading.Lock()


def load_one_pass(card: EncoderCard) -> LateChunkingEncoder:
    """Give the encoder of a card that reads spans in context.

    Raises BadWeights: the model's files are missing or not the expected ones.
    """
    encoder = LateChunkingEncoder(card)
    with _lock:
        return _one_pass.setdefault(encoder.identity, encoder)


def load_alone(card: EncoderCard) -> AloneEncoder:
    """Give the encoder of a card that reads spans by themselves; raises as `load_one_pass`."""
    encoder = AloneEncoder(card)
    with _lock:
        return _alone.setdefault(encoder.identity, encoder)
