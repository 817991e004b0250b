"""Training a cross-encoder on the trainer of transformers: the loop, watch and checkpoints of dense-RELiC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from transformers import set_seed

from relic_core.encoders.joint_texts import JointTexts
from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest
from relic_core.training import checkpoints, processes
from relic_core.training.batching import plan
from relic_core.training.collating import HardNegatives, Material
from relic_core.training.disk import tidy
from relic_core.training.exporting import keep_model
from relic_core.training.loop import Loop, quiet
from relic_core.training.preparing import keeps_embeddings
from relic_core.training.reranking.examples import Lists
from relic_core.training.reranking.exporting import write_reranker
from relic_core.training.reranking.model import RerankerInTraining
from relic_core.training.stopping import terminated
from relic_core.training.trainer import (
    CANDIDATE,
    CHECKPOINT_SECONDS,
    CHECKPOINTS,
    MODEL,
    Trained,
    _mask_token,
    _nobody,
    _record,
    data_digest,
)
from relic_core.training.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import MinedWindow, Pair, Work
    from relic_core.training.reranking.recipe import RerankerRecipe
    from relic_core.training.trainer import Report, Validate


def train_reranker(  # noqa: PLR0913 - what is trained, on what, where to, and who is told
    recipe: RerankerRecipe,
    pairs: Sequence[Pair],
    windows: Sequence[MinedWindow],
    folder: Path,
    *,
    work: Callable[[str], Work],
    hard: HardNegatives | None = None,
    validate: Validate | None = None,
    report: Report | None = None,
    stop: Callable[[], bool] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Trained:
    """Train a cross-encoder; parameters and errors as of `train`.

    Returns
    -------
    Trained
        Its folder is what `CrossEncoder` takes: weights, configuration, tokenizer, ``reranker.json`` and
        ``training.json``.
    """
    report = _nobody if report is None else report
    windows = [window for window in windows if window.gold.length <= recipe.longest]
    base, training = find_model(recipe.base), recipe.training
    card = recipe.card(_mask_token(training) if recipe.mask else "")
    texts = JointTexts(card, recipe.base, precision="float32")
    planned = plan(training, [pair.source_id for pair in pairs], [window.work_id for window in windows])
    origin = checkpoints.Origin(
        recipe=recipe.to_json(),
        recipe_digest=recipe.digest,
        data_digest=data_digest(pairs, windows, hard),
        base_digest=base.digest,
        processes=processes.count(),
    )
    kept = folder / CHECKPOINTS
    if processes.is_first():
        tidy(folder)
        tidy(kept)
    found = checkpoints.last_good(kept, origin) if resume else None
    if not resume and (checkpoints.in_order(kept) or (folder / MODEL).exists()):
        raise BadRequest(
            f"There is a training in {folder} already. Resume it, or name a folder that is empty or not there."
        )
    set_seed(recipe.seed)
    model = RerankerInTraining(recipe, card, texts.tower)

    def written(name: str, figures: Mapping[str, float]) -> Path:
        record = _record(origin, cast("Any", card), len(pairs), len(windows), figures, watch.seconds)
        write_reranker(folder / name, model.reader, base, card, record, keeps_embeddings=keeps_embeddings(training))
        return folder / name

    def validated(step: int) -> Mapping[str, float]:
        assert validate is not None  # noqa: S101 - asked for only where it is given
        return validate(written(CANDIDATE, {"step": step}))

    with terminated() as asked, quiet():
        watch = Watch(
            training,
            validate=validated if validate else None,
            keep=lambda figures: keep_model(folder / CANDIDATE, folder / MODEL, figures),
            report=report,
            stop=lambda: asked() or (stop is not None and stop()),
            checkpoint_seconds=checkpoint_seconds,
        )
        loop = Loop(
            recipe=training,
            model=cast("Any", model),
            planned=planned,
            collator=cast("Any", Lists(recipe, texts, Material(pairs, windows, work, hard or HardNegatives()))),
            folder=kept,
            origin=origin,
            state=watch.state,
            callback=watch,
        )
        watch.loop = loop
        if found is not None:
            watch.go_on(found[1])
        first = 0 if found is None else checkpoints.step_of(found[0])
        if processes.is_first():
            counted = {"pairs": len(pairs), "windows": len(windows)}
            report({"event": "begins", "step": first, "of": loop.steps, **counted})
        if not watch.given_up:
            loop.train(resume_from_checkpoint=None if found is None else str(found[0]))
    finished = not watch.stopped
    if finished and processes.is_first() and not (folder / MODEL).exists():
        written(MODEL, {})
    return Trained(
        folder=folder / MODEL,
        steps=max(first, loop.state.global_step),
        of=loop.steps,
        finished=finished,
        figures=dict(watch.best),
        seconds=watch.seconds,
    )
