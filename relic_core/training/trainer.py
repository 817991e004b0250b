"""Training dense-RELiC on the trainer of transformers, with checkpoints, validation and a log of every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.training.bases import base_files, keeps_embeddings, mask_token
from relic_core.training.collating import Collator, HardNegatives, Material
from relic_core.training.dual_encoder import DualEncoder
from relic_core.training.exporting import write_model
from relic_core.training.sitting import CHECKPOINT_SECONDS, Terms, TrainingJob, sit
from relic_core.training.starts import start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from relic_core.domain import MinedWindow, Pair, Work
    from relic_core.training.recipes import Recipe
    from relic_core.training.sitting import Report, Trained, Validate


def train(  # noqa: PLR0913 - what is trained, on what, where to, and who is told
    recipe: Recipe,
    pairs: Sequence[Pair],
    windows: Sequence[MinedWindow],
    folder: Path,
    *,
    work: Callable[[str], Work],
    hard: HardNegatives | None = None,
    start: EncoderCard | None = None,
    validate: Validate | None = None,
    report: Report | None = None,
    stop: Callable[[], bool] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Trained:
    """Train a dual encoder.

    - `pairs`, `windows`: on what. Windows on more sentences than the recipe's `longest` are left out.
    - `folder`: where to: ``checkpoints/`` to go on from, ``model/`` with the best weights so far.
    - `hard`: hard negatives by the ids of pairs and windows.
    - `start`: a trained encoder to go on from, in place of the base.
    - `validate`: given a folder as of `Trained`, gives figures, the recipe's `watch` among them; higher is better.
    - `report`: told of every step, checkpoint and validation, as a flat mapping with "event" and "step".
    - `stop`: asked after every step whether to stop. SIGTERM stops too. A checkpoint is written, and no model where
      none was validated yet.
    - `resume`: whether to go on from the last good checkpoint of the folder, where there is one.
    - `checkpoint_seconds`: between two checkpoints.

    Raises BadRequest: too little to learn from; `start` was made from another base; a folder with a training in it that
    is not to be resumed; checkpoints of another configuration.
    Raises BadWeights: the base cannot be read; every checkpoint is damaged.
    Raises StoreFull: no room for a checkpoint or a model; what was written before is kept.
    Raises RelicError: the loss is no number any more; memory ran out.
    """
    card = trained_card(recipe)
    encoder = LateChunkingEncoder(card, precision="float32")
    tower = encoder.pair.passages
    base = base_files(recipe, tower)
    windows = [window for window in windows if window.gold.length <= recipe.longest]
    material = Material(pairs, windows, work, hard or HardNegatives())

    begun = None if start is None else start_of(start, base)

    def write(folder: Path, model: DualEncoder, record: Mapping[str, Any]) -> None:
        keeps = keeps_embeddings(recipe)
        write_model(folder, model, base, card, record, keeps_embeddings=keeps, blend=recipe.blend, start=begun)

    lesson = TrainingJob(
        name=card.name,
        recipe=recipe,
        loop=recipe,
        base=base,
        start=begun,
        material=material,
        collator=Collator(recipe, encoder, material),
        model=lambda: DualEncoder(recipe, tower, begun),
        write=write,
    )
    return sit(
        lesson,
        folder,
        Terms(validate=validate, report=report, stop=stop, resume=resume, checkpoint_seconds=checkpoint_seconds),
    )


def trained_card(recipe: Recipe) -> EncoderCard:
    """Say how the encoder that a recipe makes is used; its models are still the base.

    Raises BadWeights: the base is not there, cannot be read, or has no mask token where the recipe wants one.
    """
    base = read_card(recipe.base)
    return EncoderCard(
        name=f"dense-RELiC ({recipe.name})",
        query_model=base.query_model,
        passage_model=base.passage_model,
        pooling=recipe.pooling,
        query_prefix=base.query_prefix,
        passage_prefix=base.passage_prefix,
        similarity=recipe.similarity,
        spans="in context" if recipe.in_context else "alone",
        window=recipe.window,
        claim_windows=recipe.claim_windows,
        mask=mask_token(recipe),
    )
