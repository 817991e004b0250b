"""Tiny rerankers for tests: a cross-encoder as training writes it, a random BART, two that count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BartConfig, BartForConditionalGeneration

from relic_core.encoders.cards import RerankerCard
from relic_core.encoders.cross_encoder import JointTexts
from relic_core.encoders.joint_reader import JointReader
from relic_core.encoders.towers import flat_span
from relic_core.encoders.weights import find_model
from relic_core.text.words import tokens
from relic_core.training.exporting import write_reranker
from relic_core.training.recipes import RerankerRecipe
from tests.tiny_models import save_roberta_tokenizer

if TYPE_CHECKING:
    from pathlib import Path


WAYS = {
    "likeness": {"reading": "claim first", "pooling": "likeness"},
    "claim first": {"reading": "claim first", "pooling": "mean"},
    "together": {"reading": "together", "pooling": "mean"},
    "together, likeness": {"reading": "together", "pooling": "likeness"},
}
"""The ways in which claim and passage are read together and a score is made of it."""


def make_card(**given: Any) -> RerankerCard:
    """Make a card for models of 64 positions."""
    return RerankerCard(**{"name": "tiny", "mask": "[MASK]", "claim_tokens": 16, "window": 40, **given})


def make_cross_encoder(folder: Path, base: Path, **given: Any) -> Path:
    """Write an untrained cross-encoder on a base."""
    card = make_card(**given)
    torch.manual_seed(5)
    reader = JointReader(JointTexts(card, str(base), precision="float32").tower.build(), card)
    learner, files = SimpleNamespace(reader=reader), find_model(str(base))
    write_reranker(folder, learner, {"figures": {}}, base=files, card=card, keeps_embeddings=True)
    return folder


def make_reranker_recipe(base: Path, **given: Any) -> RerankerRecipe:
    """Make a recipe for a tiny base: float32, small batches, short windows."""
    facts: dict[str, Any] = {
        "name": "tiny", "base": str(base), "batch": 6, "window_batch": 3, "share": 0.3, "window": 48,
        "claim_tokens": 24, "chunk_tokens": 128, "precision": "float32", "learning_rate": 0.01, "negatives": 3,
        "validate_every": 0, "epochs": 2.0, "pooling": "mean",
    }  # fmt: skip
    return RerankerRecipe(**{**facts, **given})


def bart(folder: Path, *, seed: int = 0, positions: int = 512) -> Path:
    """Save a BART with its tokenizer, ``<mask>`` in it."""
    folder.mkdir(parents=True)
    save_roberta_tokenizer(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(["<mask>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(seed)
    config = BartConfig(
        vocab_size=tokenizer.get_vocab_size(), d_model=16, max_position_embeddings=positions, init_std=0.5,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, dropout=0.0, bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2,
        forced_eos_token_id=2,
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


class CountingReranker:
    """Scores a passage by how often it holds a letter."""

    name = "counting"
    configuration = {"reranker": "counting", "letter": "z"}  # noqa: RUF012 - a Protocol's property

    def __init__(self, letter="z"):
        self._letter = letter
        self.asked = []

    def rerank(self, claim, work, spans, progress):
        self.asked.append(list(spans))
        counts = [flat_span(work, span).count(self._letter) for span in spans]
        return np.array(counts, dtype=np.float32)


class SharedWordsReranker:
    """Scores a passage by the share of its words that the claim has as well."""

    name = "shared-words"
    configuration = {"reranker": "shared words"}  # noqa: RUF012 - a Protocol's property

    def rerank(self, claim, work, spans, progress):
        asked = set(tokens(claim.words))
        read = [set(tokens(flat_span(work, span))) for span in spans]
        return np.array([len(asked & words) / max(1, len(words)) for words in read], dtype=np.float32)
