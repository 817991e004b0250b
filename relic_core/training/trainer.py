"""Training dense-RELiC on the trainer of transformers, with checkpoints, validation and a log of every step."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from transformers import set_seed

from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.one_pass import OnePassEncoder
from relic_core.encoders.weights import find_model
from relic_core.errors import BadRequest, BadWeights
from relic_core.training import checkpoints, processes
from relic_core.training.batching import plan
from relic_core.training.collating import Collator, HardNegatives, Material
from relic_core.training.disk import tidy
from relic_core.training.dual_encoder import DualEncoder
from relic_core.training.exporting import keep_model, write_model
from relic_core.training.loop import Loop, quiet
from relic_core.training.preparing import keeps_embeddings
from relic_core.training.stopping import terminated
from relic_core.training.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from relic_core.domain import MinedWindow, Pair, Work
    from relic_core.encoders.towers import Tower
    from relic_core.encoders.weights import ModelFiles
    from relic_core.training.recipes import Recipe

    Validate = Callable[[Path], Mapping[str, float]]
    Report = Callable[[Mapping[str, Any]], None]

MODEL = "model"
"""Folder, within that of a training, of the best weights so far; its ``encoder.json`` is what RELIC_MODEL names."""

CANDIDATE = "candidate"
CHECKPOINTS = "checkpoints"
CHECKPOINT_SECONDS = 600.0

_MASKS = ("[MASK]", "<mask>")
_VERSIONS = ("torch", "transformers", "accelerate", "peft", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a training made.

    Attributes
    ----------
    folder : Path
        With ``claims/``, ``passages/``, ``encoder.json`` and ``training.json``: the best weights; where nothing
        validated them, the last.
    steps, of : int
        Steps made, and planned.
    finished : bool
        Whether it ended by itself; else it was stopped, and can be resumed.
    figures : mapping of str to float
        What the validation of these weights gave.
    seconds : float
        Of training and validation, over all sittings.
    """

    folder: Path
    steps: int
    of: int
    finished: bool
    figures: Mapping[str, float]
    seconds: float


def train(  # noqa: PLR0913 - what is trained, on what, where to, and who is told
    recipe: Recipe,
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
    """Train a dual encoder.

    Parameters
    ----------
    recipe : Recipe
        How.
    pairs, windows : sequence of Pair, sequence of MinedWindow
        On what. Windows on more sentences than the recipe's `longest` are left out.
    folder : Path
        Where to: ``checkpoints/`` to go on from, ``model/`` with the best weights so far.
    work : callable
        Gives the work of a window by its id.
    hard : HardNegatives, optional
        Hard negatives by the ids of pairs and windows.
    validate : callable, optional
        Given a folder as of `Trained`, gives figures, the recipe's `watch` among them; higher is better.
    report : callable, optional
        Told of every step, checkpoint and validation, as a flat mapping with "event" and "step".
    stop : callable, optional
        Asked after every step whether to stop. SIGTERM stops too. A checkpoint is written, and no model where none was
        validated yet.
    resume : bool
        Whether to go on from the last good checkpoint of the folder, where there is one.
    checkpoint_seconds : float
        Between two checkpoints.

    Raises
    ------
    BadRequest
        Too little to learn from; a folder with a training in it that is not to be resumed; checkpoints of another
        configuration.
    BadWeights
        The base cannot be read; every checkpoint is damaged.
    StoreFull
        No room for a checkpoint or a model; what was written before is kept.
    RelicError
        The loss is no number any more; memory ran out.
    """
    report = _nobody if report is None else report
    windows = [window for window in windows if window.gold.length <= recipe.longest]
    card = trained_card(recipe)
    encoder = OnePassEncoder(card, precision="float32")
    base = base_files(recipe, encoder.pair.passages)
    planned = plan(recipe, [pair.source_id for pair in pairs], [window.work_id for window in windows])
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
    model = DualEncoder(recipe, encoder.pair.passages)

    def written(name: str, figures: Mapping[str, float]) -> Path:
        record = _record(origin, card, len(pairs), len(windows), figures, watch.seconds)
        write_model(folder / name, model, base, card, record, keeps_embeddings=keeps_embeddings(recipe))
        return folder / name

    def validated(step: int) -> Mapping[str, float]:
        assert validate is not None  # noqa: S101 - asked for only where it is given
        return validate(written(CANDIDATE, {"step": step}))

    with terminated() as asked, quiet():
        watch = Watch(
            recipe,
            validate=validated if validate else None,
            keep=lambda figures: keep_model(folder / CANDIDATE, folder / MODEL, figures),
            report=report,
            stop=lambda: asked() or (stop is not None and stop()),
            checkpoint_seconds=checkpoint_seconds,
        )
        loop = Loop(
            recipe=recipe,
            model=model,
            planned=planned,
            collator=Collator(recipe, encoder, Material(pairs, windows, work, hard or HardNegatives())),
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


def base_files(recipe: Recipe, tower: Tower) -> ModelFiles:
    """Give the files that a training begins from, by the name in the recipe where they are the same.

    Of a pair like DPR's either half may be named, and both encoders begin from the one that reads passages.

    Raises
    ------
    BadWeights
        The base is not there, or not the expected one.
    """
    named = find_model(recipe.base)
    return named if named.digest == tower.files.digest else tower.files


def trained_card(recipe: Recipe) -> EncoderCard:
    """Say how the encoder that a recipe makes is used; its models are still the base.

    Raises
    ------
    BadWeights
        The base is not there, cannot be read, or has no mask token where the recipe wants one.
    """
    base = read_card(recipe.base)
    card = EncoderCard(
        name=f"dense-RELiC ({recipe.name})",
        query_model=base.query_model,
        passage_model=base.passage_model,
        pooling=recipe.pooling,
        query_prefix=base.query_prefix,
        passage_prefix=base.passage_prefix,
        similarity=recipe.similarity,
        spans="in context" if recipe.in_context else "alone",
        window=recipe.window,
    )
    return replace(card, mask=_mask_token(recipe)) if recipe.mask else card


def data_digest(pairs: Sequence[Pair], windows: Sequence[MinedWindow], hard: HardNegatives | None = None) -> str:
    """Hash what is learnt from: the examples in their order, with their words, and their hard negatives."""
    digest = hashlib.sha256()
    hard = hard or HardNegatives()
    for pair in pairs:
        said = [pair.id, pair.source_id, pair.left, pair.quotation, pair.right, list(hard.pairs.get(pair.id, ()))]
        digest.update(json.dumps(said).encode())
    for window in windows:
        spans = [(span.start, span.length) for span in (window.gold, *hard.windows.get(window.id, ()))]
        digest.update(json.dumps([window.id, window.work_id, window.left, window.right, spans]).encode())
    return digest.hexdigest()


def _mask_token(recipe: Recipe) -> str:
    tokenizer = OnePassEncoder(read_card(recipe.base), precision="float32").pair.claims.tokenizer
    found = [token for token in _MASKS if tokenizer.token_to_id(token) is not None]
    if not found:
        raise BadWeights(
            f"The tokenizer of the base '{recipe.base}' has no mask token ({' or '.join(_MASKS)}). Take another base, "
            "or set mask to false in the recipe."
        )
    return found[0]


def _record(
    origin: checkpoints.Origin,
    card: EncoderCard,
    pairs: int,
    windows: int,
    figures: Mapping[str, float],
    seconds: float,
) -> dict[str, Any]:
    return {
        "card": card.name,
        "recipe": origin.recipe,
        "recipe_digest": origin.recipe_digest,
        "data_digest": origin.data_digest,
        "base_digest": origin.base_digest,
        "seed": origin.recipe["seed"],
        "pairs": pairs,
        "windows": windows,
        "figures": dict(figures),
        "seconds": round(seconds, 1),
        "versions": {name: metadata.version(name) for name in _VERSIONS},
    }


def _nobody(_said: Mapping[str, Any]) -> None:
    """Hear a report and do nothing."""
