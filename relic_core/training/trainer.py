"""Training: from the beginning, or from where the last run left it, to its end or to a stop.

Models of every kind are trained alike; they differ in their batches, their loss and what is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from transformers import set_seed

from relic_core.domain import MinedWindow, Pair, Work
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.cross_encoder import JointTexts
from relic_core.encoders.generator import SourceReader, SpanLikelihood
from relic_core.encoders.joint_reader import JointReader
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.encoders.weights import ModelFiles, find_model
from relic_core.errors import BadRequest, BadWeights
from relic_core.training import checkpoints, loop
from relic_core.training.batching import Planned, plan
from relic_core.training.collating import Collator, Features, HardNegatives, Material, RerankerCollator, check_choices
from relic_core.training.exporting import keep_model, write_generator, write_model, write_reranker
from relic_core.training.models import DualEncoder, RerankerInTraining, Start, base_files, mask_token, start_of
from relic_core.training.recipes import AnyRecipe, EncoderRecipe, RerankerRecipe, SourceRecipe
from relic_core.training.sources import (
    ChooseSources,
    GeneratorInTraining,
    RetrievalCollator,
    RetrievalInTraining,
    SourceCollator,
)

Validate = Callable[[Path], Mapping[str, float]]

MODEL = "model"
CANDIDATE = "candidate"
CHECKPOINTS = "checkpoints"
CHECKPOINT_SECONDS = 600.0

_VERSIONS = ("torch", "transformers", "accelerate", "peft", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a training made.

    - `folder`: the best weights; where nothing validated them, the last. Of an encoder with ``claims/``, ``passages/``,
      ``encoder.json``, which RELIC_TRAINED can name, and ``training.json``; of a reranker what `CrossEncoder` takes, of
      a model for attribution what `SpanLikelihood` takes.
    - `finished`: whether it ended by itself; else it was stopped, and can be resumed.
    - `figures`: what the validation of these weights gave.
    - `seconds`: of training and validation, over all runs.
    """

    folder: Path
    steps: int
    of: int
    finished: bool
    figures: Mapping[str, float]
    seconds: float


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


def train(  # noqa: PLR0913 - what is trained, on what, where to, and how it is reported
    recipe: AnyRecipe,
    pairs: Sequence[Pair],
    windows: Sequence[MinedWindow],
    folder: Path,
    *,
    work: Callable[[str], Work],
    choose_sources: ChooseSources | None = None,
    learnt: str = "",
    hard: HardNegatives | None = None,
    start: EncoderCard | None = None,
    validate: Validate | None = None,
    report: loop.Report | None = None,
    stop: Callable[[], bool] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Trained:
    """Train what the recipe makes.

    - `windows`: those on more sentences than the recipe's `longest` are left out.
    - `folder`: where to: ``checkpoints/`` to go on from, ``model/`` with the best weights so far.
    - `choose_sources`: of the windows, for a recipe for attribution.
    - `learnt`: what of RELiC's own data is among it: see `EncoderCard`.
    - `hard`: hard negatives by the ids of pairs and windows.
    - `start`: a trained encoder to go on from, in place of the base; a reranker begins half way between its two models.
    - `validate`: given a folder as of `Trained`, gives figures, the recipe's `watch` among them; higher is better.
    - `report`: told of every step, checkpoint and validation, as a flat mapping with "event" and "step".
    - `stop`: asked after every step whether to stop. SIGTERM stops too. A checkpoint is written, and no model where
      none was validated yet.
    - `resume`: whether to go on from the last good checkpoint of the folder, where there is one.

    Raises BadRequest: too little to learn from; `start` was made from another base; a folder with a training in it that
    is not to be resumed; checkpoints of another configuration.
    Raises BadWeights: the base cannot be read; every checkpoint is damaged.
    Raises StoreFull: no room for a checkpoint or a model; what was written before is kept.
    Raises RelicError: the loss is not a number any more; memory ran out.
    """
    kept = folder / CHECKPOINTS
    tell = report if report is not None else lambda _: None
    windows = [window for window in windows if window.gold.length <= recipe.longest]
    sources: Mapping[str, Sequence[str]] = {}
    if isinstance(recipe, SourceRecipe) and choose_sources:
        sources = choose_sources(recipe.supervision, windows, work, recipe.candidates if recipe.retrieves else 1)
        windows = [window for window in windows if window.id in sources]
    material = Material(pairs, windows, work, hard or HardNegatives(), sources)
    kind = kind_of(recipe, material, start, learnt)
    planned = plan(recipe, [pair.source_id for pair in pairs], [window.work_id for window in windows])
    record = origin_record(kind, recipe, material, learnt)
    digests = "recipe_digest", "data_digest", "base_digest", "start_digest"
    origin = checkpoints.Origin(
        recipe=record["recipe"], processes=loop.processes(), **{name: record.get(name, "") for name in digests}
    )
    found = _where_it_was_left(folder, origin, resume=resume)
    set_seed(recipe.seed)
    model = kind.model()

    def written(name: str, figures: Mapping[str, float]) -> Path:
        record["figures"], record["seconds"] = dict(figures), round(watch.seconds, 1)
        kind.write(folder / name, model, record)
        return folder / name

    def validated(step: int) -> Mapping[str, float]:
        assert validate is not None  # noqa: S101 - asked for only where it is given
        return validate(written(CANDIDATE, {"step": step}))

    with loop.terminated() as asked, loop.quiet():
        watch = loop.Watch(
            recipe,
            validate=validated if validate else None,
            keep=lambda figures: keep_model(folder / CANDIDATE, folder / MODEL, figures),
            report=tell,
            stop=lambda: asked() or (stop is not None and stop()),
            checkpoint_seconds=checkpoint_seconds,
        )
        trainer = loop.Loop(
            recipe=recipe, model=model, planned=planned, collator=kind.collator, folder=kept, origin=origin, watch=watch
        )
        if found is not None:
            watch.go_on(found[1])
        first = 0 if found is None else checkpoints.step_of(found[0])
        if loop.is_first():
            tell({"event": "begins", "step": first, "of": trainer.steps, "pairs": len(pairs), "windows": len(windows)})
        if not watch.given_up:
            trainer.train(resume_from_checkpoint=None if found is None else str(found[0]))
    finished = not watch.stopped
    if finished and loop.is_first() and not (folder / MODEL).exists():
        written(MODEL, {})
    return Trained(
        folder=folder / MODEL,
        steps=max(first, trainer.state.global_step),
        of=trainer.steps,
        finished=finished,
        figures=dict(watch.best),
        seconds=watch.seconds,
    )


def kind_of(recipe: AnyRecipe, material: Material, start: EncoderCard | None, learnt: str) -> Kind:
    """Say what a recipe trains; parameters as of `train`."""
    if isinstance(recipe, EncoderRecipe):
        return _encoder(recipe, material, start, learnt)
    if isinstance(recipe, SourceRecipe):
        return _retrieval(recipe, material, start) if recipe.retrieves else _generator(recipe, material)
    return _reranker(recipe, material, start)


def origin_record(kind: Kind, recipe: AnyRecipe, material: Material, learnt: str) -> dict[str, Any]:
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
        **({"learnt": learnt} if learnt else {}),
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


def _encoder(recipe: EncoderRecipe, material: Material, start: EncoderCard | None, learnt: str) -> Kind:
    card = replace(trained_card(recipe), learnt=learnt or (start.learnt if start else ""))
    encoder = LateChunkingEncoder(card, precision="float32")
    tower = encoder.pair.passages
    base = base_files(recipe, tower)
    begun = _start(start, base)

    def write(folder: Path, model: DualEncoder, record: Mapping[str, Any]) -> None:
        write_model(folder, model, base, card, record, recipe, begun)

    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=Collator(recipe, encoder, material),
        model=lambda: DualEncoder(recipe, tower, begun),
        write=write,
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

    def write(folder: Path, model: RerankerInTraining, record: Mapping[str, Any]) -> None:
        write_reranker(folder, model.reader, base, card, record, keeps_embeddings=recipe.keeps_embeddings)

    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=RerankerCollator(recipe, texts, material),
        model=lambda: RerankerInTraining(recipe, card, texts.tower, begun),
        write=write,
    )


def query_card(recipe: SourceRecipe, start: EncoderCard | None) -> EncoderCard:
    """Say how a query encoder is used that learns by retrieval; its models are still those it begins as."""
    card = trained_card(recipe.encoder())
    begun, name = start or card, f"query encoder ({recipe.name})"
    models = begun.query_model, begun.passage_model
    return replace(card, name=name, query_model=models[0], passage_model=models[1], learnt=begun.learnt)


def _generator(recipe: SourceRecipe, material: Material) -> Kind:
    reader, base = SourceReader(recipe.base, precision="float32"), find_model(recipe.base)

    def write(folder: Path, model: GeneratorInTraining, record: Mapping[str, Any]) -> None:
        write_generator(folder, model.model, base, record)

    return Kind(
        name=reader.name,
        base=base,
        start=None,
        collator=SourceCollator(reader, material),
        model=lambda: GeneratorInTraining(reader.model),
        write=write,
    )


def _retrieval(recipe: SourceRecipe, material: Material, start: EncoderCard | None) -> Kind:
    own, card = recipe.encoder(), query_card(recipe, start)
    tower = LateChunkingEncoder(trained_card(own), precision="float32").pair.passages
    base = base_files(own, tower)
    begun = _start(start, base)
    generator = SpanLikelihood(recipe.generator, precision="float32")

    def write(folder: Path, model: RetrievalInTraining, record: Mapping[str, Any]) -> None:
        write_model(folder, model.encoder, base, card, record, own, begun)

    return Kind(
        name=card.name,
        base=base,
        start=begun,
        collator=RetrievalCollator(PassageEncoder(card, precision="float32"), generator, material),
        model=lambda: RetrievalInTraining(DualEncoder(own, tower, begun)),
        write=write,
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


def _where_it_was_left(
    folder: Path, origin: checkpoints.Origin, *, resume: bool
) -> tuple[Path, Mapping[str, Any]] | None:
    """Find the checkpoint to go on from; None where there is none. A training that is not to go on is kept."""
    kept = folder / CHECKPOINTS
    if loop.is_first():
        checkpoints.tidy(folder)
        checkpoints.tidy(kept)
    if resume:
        return checkpoints.last_good(kept, origin)
    if checkpoints.in_order(kept) or (folder / MODEL).exists():
        raise BadRequest(
            f"There is a training in {folder} already. Resume it, or name a folder that is empty or not there."
        )
    return None
