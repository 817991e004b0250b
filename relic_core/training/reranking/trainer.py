"""Training a cross-encoder on the trainer of transformers: the loop, watch and checkpoints of dense-RELiC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.encoders.cross_encoder import JointTexts
from relic_core.encoders.joint_reader import JointReader
from relic_core.training.bases import base_files, keeps_embeddings, mask_token
from relic_core.training.collating import HardNegatives, Material
from relic_core.training.reranking.examples import Lists, check_choices
from relic_core.training.reranking.exporting import write_reranker
from relic_core.training.reranking.model import RerankerInTraining
from relic_core.training.sitting import CHECKPOINT_SECONDS, Terms, TrainingJob, sit
from relic_core.training.starts import start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from relic_core.domain import MinedWindow, Pair, Work
    from relic_core.encoders.cards import EncoderCard
    from relic_core.training.reranking.recipe import RerankerRecipe
    from relic_core.training.sitting import Report, Trained, Validate


def check_base(recipe: RerankerRecipe) -> None:
    """Refuse a base that no reranker can be made of, by making one, untaught.

    Raises BadWeights: the base is not there, cannot be read, is no BERT or RoBERTa, or has no mask token where the
    recipe wants one.
    """
    card = recipe.card(mask_token(recipe.training))
    JointReader(JointTexts(card, recipe.base, precision="float32").tower.build(), card)


def train_reranker(  # noqa: PLR0913 - what is trained, on what, where to, and who is told
    recipe: RerankerRecipe,
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
    """Train a cross-encoder; parameters and errors as of `train`. It begins half way between the models of `start`.

    Returns: its folder is what `CrossEncoder` takes: weights, configuration, tokenizer, ``reranker.json`` and
    ``training.json``.
    """
    loop = recipe.training
    card = recipe.card(mask_token(loop))
    texts = JointTexts(card, recipe.base, precision="float32")
    base = base_files(loop, texts.tower)
    windows = [window for window in windows if window.gold.length <= recipe.longest]
    material = Material(pairs, windows, work, hard or HardNegatives())
    check_choices(recipe, material)

    begun = None if start is None else start_of(start, base)

    def write(folder: Path, model: RerankerInTraining, record: Mapping[str, Any]) -> None:
        write_reranker(folder, model.reader, base, card, record, keeps_embeddings=keeps_embeddings(loop))

    lesson = TrainingJob(
        name=card.name,
        recipe=recipe,
        loop=loop,
        base=base,
        start=begun,
        material=material,
        collator=Lists(recipe, texts, material),
        model=lambda: RerankerInTraining(recipe, card, texts.tower, begun),
        write=write,
    )
    return sit(
        lesson,
        folder,
        Terms(validate=validate, report=report, stop=stop, resume=resume, checkpoint_seconds=checkpoint_seconds),
    )
