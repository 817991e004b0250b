"""What a recipe of each kind trains: the model, its batches, and how it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.cross_encoder import JointTexts
from relic_core.encoders.generator import SourceReader, SpanLikelihood
from relic_core.encoders.joint_reader import JointReader
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.encoders.weights import ModelFiles, find_model
from relic_core.errors import BadRequest, BadWeights
from relic_core.training.batching import Planned
from relic_core.training.collating import Collator, Features, Material, RerankerCollator, check_choices
from relic_core.training.exporting import write_generator, write_model, write_reranker
from relic_core.training.models import DualEncoder, RerankerInTraining, Start, base_files, mask_token, start_of
from relic_core.training.recipes import AnyRecipe, EncoderRecipe, RerankerRecipe, SourceRecipe
from relic_core.training.sources import GeneratorInTraining, RetrievalCollator, RetrievalInTraining, SourceCollator

_VERSIONS = ("torch", "transformers", "accelerate", "peft", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a recipe of one kind trains.

    - `start`: what it goes on from, in place of the base.
    - `collator`: makes the tensors of a planned batch.
    - `model`: makes the model; the seed is set before.
    - `write`: writes a model into a folder, with the record of what made it.
    """

    name: str
    base: ModelFiles
    start: Start | None
    collator: Callable[[Sequence[Planned]], Features]
    model: Callable[[], Any]
    write: Callable[[Path, Any, Mapping[str, Any]], None]


def kind_of(recipe: AnyRecipe, material: Material, start: EncoderCard | None) -> Kind:
    """Say what a recipe trains; parameters as of `trainer.train`."""
    if isinstance(recipe, EncoderRecipe):
        return _encoder(recipe, material, start)
    if isinstance(recipe, SourceRecipe):
        return _retrieval(recipe, material, start) if recipe.retrieves else _generator(recipe, material)
    return _reranker(recipe, material, start)


def origin_record(kind: Kind, recipe: AnyRecipe, material: Material) -> dict[str, Any]:
    """Give what is known of a model before it is trained, for its record."""
    return {
        "card": kind.name,
        "recipe": recipe.to_json(),
        "recipe_digest": recipe.digest,
        "data_digest": data_digest(material),
        "base_digest": kind.base.digest,
        **({} if kind.start is None else {"start": kind.start.name, "start_digest": kind.start.digest}),
        "seed": recipe.seed,
        "pairs": len(material.pairs),
        "windows": len(material.windows),
        **({"learnt": material.learnt} if material.learnt else {}),
        "versions": {name: metadata.version(name) for name in _VERSIONS},
    }


def check_base(recipe: AnyRecipe) -> None:
    """Refuse a base that cannot be trained from, by making a reranker of it; or a generator that cannot be read."""
    if isinstance(recipe, RerankerRecipe):
        card = recipe.card(mask_token(recipe))
        JointReader(JointTexts(card, recipe.base, precision="float32").tower.build(), card)
    elif isinstance(recipe, EncoderRecipe):
        trained_card(recipe)
    elif recipe.retrieves:
        query_card(recipe, None)
        _ = SpanLikelihood(recipe.generator).model
    else:
        _ = SourceReader(recipe.base).model


def trained_card(recipe: EncoderRecipe) -> EncoderCard:
    """Say how the encoder that a recipe makes is used; its models are still the base. Raises BadWeights."""
    base = read_card(recipe.base)
    if base.dense:
        raise BadWeights(
            f"{base.name} has dense layers behind its pooling, which training would leave out. Take a base without "
            "them, or name the folder of the model inside."
        )
    return EncoderCard(
        name=f"{'late interaction' if recipe.is_late else 'dense-RELiC'} ({recipe.name})",
        query_model=base.query_model,
        passage_model=base.passage_model,
        pooling=recipe.pooling,
        query_prefix=base.query_prefix,
        passage_prefix=base.passage_prefix,
        scoring=recipe.scoring,
        similarity=recipe.similarity,
        spans="in context" if recipe.in_context else "alone",
        window=recipe.window,
        passage_window=recipe.passage_tokens if recipe.pooling == "pooler" else 0,
        claim_windows=recipe.claim_windows,
        mask=mask_token(recipe),
    )


def _encoder(recipe: EncoderRecipe, material: Material, start: EncoderCard | None) -> Kind:
    card = replace(trained_card(recipe), learnt=material.learnt or (start.learnt if start else ""))
    encoder = LateChunkingEncoder(card, precision="float32")
    tower = encoder.pair.passages
    base = base_files(recipe, tower)
    begun = _start(start, base)
    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=Collator(recipe, encoder, material),
        model=lambda: DualEncoder(recipe, tower, begun),
        write=partial(write_model, base=base, card=card, recipe=recipe, start=begun),
    )


def _start(start: EncoderCard | None, base: ModelFiles) -> Start | None:
    if start is not None and start.dense:
        raise BadRequest(
            f"The training cannot go on from {start.name}: it has dense layers behind its model, which training would "
            "leave out. Take an encoder without them."
        )
    return None if start is None else start_of(start, base)


def _reranker(recipe: RerankerRecipe, material: Material, start: EncoderCard | None) -> Kind:
    if start is not None and start.learnt:
        raise BadRequest(
            f"{start.name} has learnt {start.learnt}, and so would the reranker that goes on from it, which says "
            "nothing of the kind: it would be measured on works that it knows. Let it go on from another model."
        )
    card = recipe.card(mask_token(recipe))
    texts = JointTexts(card, recipe.base, precision="float32")
    base = base_files(recipe, texts.tower)
    check_choices(recipe, material)
    begun = None if start is None else start_of(start, base)
    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=RerankerCollator(recipe, texts, material),
        model=lambda: RerankerInTraining(recipe, card, texts.tower, begun),
        write=partial(write_reranker, base=base, card=card, keeps_embeddings=recipe.keeps_embeddings),
    )


def query_card(recipe: SourceRecipe, start: EncoderCard | None) -> EncoderCard:
    """Say how a query encoder is used that learns by retrieval; its models are still those it begins as."""
    card = trained_card(recipe.encoder())
    begun, name = start or card, f"query encoder ({recipe.name})"
    models = begun.query_model, begun.passage_model
    return replace(card, name=name, query_model=models[0], passage_model=models[1], learnt=begun.learnt)


def _generator(recipe: SourceRecipe, material: Material) -> Kind:
    reader, base = SourceReader(recipe.base, precision="float32"), find_model(recipe.base)
    return Kind(
        name=reader.name,
        base=base,
        start=None,
        collator=SourceCollator(reader, material),
        model=lambda: GeneratorInTraining(reader.model),
        write=partial(write_generator, base=base),
    )


def _retrieval(recipe: SourceRecipe, material: Material, start: EncoderCard | None) -> Kind:
    own, card = recipe.encoder(), query_card(recipe, start)
    tower = LateChunkingEncoder(trained_card(own), precision="float32").pair.passages
    base = base_files(own, tower)
    begun = _start(start, base)
    generator = SpanLikelihood(recipe.generator, precision="float32")
    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=RetrievalCollator(PassageEncoder(card, precision="float32"), generator, material),
        model=lambda: RetrievalInTraining(DualEncoder(own, tower, begun)),
        write=partial(write_model, base=base, card=card, recipe=own, start=begun),
    )


def data_digest(material: Material) -> str:
    """Hash what the model is trained on: the examples in their order, with their words, and their hard negatives."""
    digest, hard = hashlib.sha256(), material.hard
    for pair in material.pairs:
        values = [pair.id, pair.source_id, pair.left, pair.quotation, pair.right, list(hard.pairs.get(pair.id, ()))]
        digest.update(json.dumps(values).encode())
    for window in material.windows:
        spans = [(span.start, span.length) for span in (window.gold, *hard.windows.get(window.id, ()))]
        sources = material.sources.get(window.id, ())
        digest.update(json.dumps([window.id, window.work_id, window.left, window.right, spans, *sources]).encode())
    return digest.hexdigest()
