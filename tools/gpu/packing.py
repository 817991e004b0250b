"""Packs what a training would learn from, with what learns it, and unpacks what was learnt."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np
import torch
from safetensors import numpy as arrays
from safetensors.torch import load, save
from transformers import set_seed

from relic_core.attribution.learning import choose_sources
from relic_core.config import PROJECT
from relic_core.domain import MinedWindow, Span, Work
from relic_core.domain.grouping import grouped
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import JointTexts
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest, BadWeights
from relic_core.formats.files import digest_of
from relic_core.ports import Progress
from relic_core.retrieval.fusion import share
from relic_core.retrieval.reranked import FIRST
from relic_core.training.batching import Planned, plan
from relic_core.training.checkpoints import written_folder
from relic_core.training.collating import Features, HardNegatives, Material, joint, padded
from relic_core.training.examples import Examples, TrainingData
from relic_core.training.folders import TrainingFolder
from relic_core.training.learners import Kind, kind_of, origin_record, trained_card
from relic_core.training.models import mask_token
from relic_core.training.recipes import AnyRecipe, EncoderRecipe, RerankerRecipe, SourceRecipe, read_recipe
from relic_core.training.requests import TrainingRequest, settle
from relic_core.training.running import TrainingRun
from relic_core.training.trainer import Trained
from relic_core.training.validation import SHAPE, SHAPES, RerankerValidation, Validation, claim_of
from relic_core.wiring import App
from tools.gpu.batches import together
from tools.gpu.parts import MB, cut, joined, read_manifest, write_manifest

VERSION = 1
CARRIED = (
    *(f"tools/gpu/{name}.py" for name in ("__init__", "absent", "batches", "learning", "parts")),
    *(f"relic_core/{name}.py" for name in ("errors", "installed")),
    *(f"relic_core/encoders/{name}.py" for name in ("batching", "joint_reader", "precision")),
    "relic_core/training/models.py",
)
"""Modules that learn, as they are; of those that they mention besides, names stand in."""
_RUN = '''"""Learn from this folder: python run.py --minutes N."""

import os
import sys
import time

from tools.gpu.absent import stand_in

began = time.monotonic()
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded; see relic_core/__init__.py
stand_in()

from tools.gpu.learning import main

sys.exit(main(began))
'''


class Fewer(TrainingData):
    """What was mined, with at most so many windows of any work; 0 for all."""

    most = 0

    def gather(self, request: TrainingRequest, progress: Progress) -> Examples:
        """Draw the windows of each work by the recipe's seed."""
        found = super().gather(request, progress)
        if not self.most:
            return found
        drawing = random.Random(request.recipe.seed)  # noqa: S311 - no secret
        windows: list[MinedWindow] = []
        for of_work in grouped(found.windows, lambda window: window.work_id).values():
            windows += drawing.sample(of_work, min(len(of_work), self.most))
        return Examples(found.pairs, tuple(windows))


def pack(
    app: App, request: TrainingRequest, folder: Path, size: float, progress: Progress, *,
    most: int = 0, hard: HardNegatives | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Pack a training into a folder that is not there yet, its files in parts of at most `size` MB; give the manifest.

    - `most`: windows of any work.
    - `hard`: hard negatives that were found before.
    """
    if folder.exists():
        raise BadRequest(f"{folder} is there already. Name a folder that is not.")
    app.training_plans.check(request)
    if isinstance(request.recipe, SourceRecipe) or request.recipe.is_late:
        raise BadRequest(
            f"The recipe {request.recipe.name} is trained where the library is. What can be packed: encoders with one "
            "vector for each text, and cross-encoders."
        )
    store = app.store
    data = Fewer(store.pairs, store.windows, store.trainings, store.works)
    data.most = most
    with TemporaryDirectory() as kept:
        training = TrainingFolder.create(
            Path(kept), name=request.recipe.name, recipe=request.recipe.to_json(), asked=request.to_json()
        )
        start = settle(app.settings, training, request)["start"].get("model", "")
        packing = Packing(folder, int(size * MB), start, hard, progress)
        patiently = partial(store.patiently, app.settings.job_lock_seconds)
        TrainingRun(app.settings, data, app.works.load, patiently, choose_sources, packing).learn(training, progress)
    return read_manifest(folder)


@dataclass(frozen=True)
class Packing:
    """Stands where a training would learn: see `trainer.train`."""

    folder: Path
    size: int
    start: str
    hard: HardNegatives | None
    progress: Progress = field(repr=False)

    def __call__(
        self,
        recipe: AnyRecipe,
        material: Material,
        *_: object,
        **given: Any,  # noqa: ANN401 - of many kinds
    ) -> Trained:
        """Write the folder."""
        material = replace(material, hard=self.hard or material.hard)
        kind = kind_of(recipe, material, given["start"])
        planned = plan(
            recipe, [pair.source_id for pair in material.pairs], [window.work_id for window in material.windows]
        )
        set_seed(recipe.seed)
        model = kind.model()
        with written_folder(self.folder) as half:
            _carry(half)
            names, weights = _weights(model)
            within = getattr(model, "claims", None) or model.reader.model
            held = together(_validation(recipe, given["validate"]))
            write_manifest(half, {
                "version": VERSION,
                "kind": recipe.kind,
                "record": origin_record(kind, recipe, material),
                "start": self.start,
                "learnt": material.learnt,
                "model": type(within).__name__,
                "config": within.config.to_dict(),
                "names": names,
                "steps": len(planned),
                "shapes": ["" if shape == SHAPE else f" {shape}" for shape in SHAPES],
                "cuts": len(_cuts(recipe)),
                "weights": cut(weights, half, "weights", self.size),
                "batches": cut(self._batches(kind, planned), half, "batches", self.size),
                "validation": cut(arrays.save(held), half, "validation", self.size) if held else None,
                "carried": {name: digest_of(half / name) for name in CARRIED},
            })  # fmt: skip
        return Trained(folder=self.folder, steps=0, of=len(planned), finished=True, figures={}, seconds=0.0)

    def _batches(self, kind: Kind, planned: Sequence[Planned]) -> bytes:
        def made() -> Iterator[Features]:
            for number, each in enumerate(planned):
                self.progress(number, len(planned), f"Packing: batch {number:,} of {len(planned):,}")
                yield kind.collator([each])

        return arrays.save(together(made()))


def _carry(folder: Path) -> None:
    for name in CARRIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PROJECT / name, folder / name)
    for name in ("relic_core", "relic_core/encoders", "relic_core/training"):
        (folder / name / "__init__.py").touch()
    (folder / "run.py").write_text(_RUN, encoding="utf-8")


def _weights(model: torch.nn.Module) -> tuple[dict[str, str], bytes]:
    """Write what a model begins as in bfloat16, what is there twice once; and say under which name each part is."""
    names, known, tensors = dict[str, str](), dict[str, str](), dict[str, torch.Tensor]()
    for name, tensor in model.state_dict().items():
        short = tensor.detach().to(torch.bfloat16).contiguous()
        same = known.setdefault(f"{short.shape} {hashlib.sha256(short.view(torch.int16).numpy()).hexdigest()}", name)
        tensors.setdefault(same, short)
        names[name] = same
    return names, save(tensors)


def _cuts(recipe: AnyRecipe) -> tuple[int, ...]:
    return getattr(recipe, "claim_windows", ()) or (recipe.window,)


def _validation(recipe: AnyRecipe, validate: object) -> Iterator[Features]:
    if isinstance(validate, RerankerValidation) and isinstance(recipe, RerankerRecipe):
        texts = JointTexts(recipe.card(mask_token(recipe)), recipe.base, precision="float32")
        return (_reordered(texts, validate, window) for window in validate.windows)
    if isinstance(validate, Validation) and isinstance(recipe, EncoderRecipe) and recipe.in_context:
        encoder = LateChunkingEncoder(trained_card(recipe), precision="float32")
        by_work = grouped(validate.windows, lambda window: window.work_id)
        return (_ranked(encoder, recipe, validate.works[name], windows) for name, windows in by_work.items())
    return iter(())


def _ranked(
    encoder: LateChunkingEncoder, recipe: EncoderRecipe, work: Work, windows: Sequence[MinedWindow]
) -> Features:
    """Make tensors as a collator does: a work, its spans of the golds' lengths, and claims in all shapes and cuts."""
    rows, cores, _ = encoder.cut(work)
    tower, claims = encoder.pair.passages, encoder.pair.claims
    ids, lengths = padded([[*tower.opening, *row, *tower.closing] for row in rows], 0)
    segments = torch.full(ids.shape, -1)
    for number, (first, owners) in enumerate(cores):
        at = len(tower.opening) + first
        segments[number, at : at + len(owners)] = torch.from_numpy(owners)
    spans = [
        Span(start, length)
        for length in sorted({window.gold.length for window in windows})
        for start in range(work.candidates(length))
    ]
    place = {span: number for number, span in enumerate(spans)}
    read = [
        [*claims.opening, *encoder.pair.claim_ids(claim_of(window, shape), each), *claims.closing]
        for shape in SHAPES
        for window in windows
        for each in _cuts(recipe)
    ]
    claim_ids, claim_lengths = padded(read, 0)
    return {
        "claims": claim_ids,
        "claim_lengths": claim_lengths,
        "passages": ids,
        "passage_lengths": lengths,
        "segments": segments,
        "starts": torch.tensor([span.start for span in spans]),
        "lengths": torch.tensor([span.length for span in spans]),
        "gold": torch.tensor([place[window.gold] for window in windows]),
    }


def _reordered(texts: JointTexts, validate: RerankerValidation, window: MinedWindow) -> Features:
    """Make tensors, as a collator does, of a claim and the first retriever's passages, and what that says of them."""
    top = validate.first_stage[window.id]
    work, starts = validate.works[window.work_id], top.starts
    claim = texts.claim(claim_of(window, SHAPE))
    rows = [texts.passage(texts.passage_of(work, Span(start, window.gold.length)), claim) for start in starts]
    return joint([claim], rows, [0] * len(rows)) | {
        "first": torch.from_numpy(share(np.array(top.scores, dtype=np.float32), FIRST)),
        "gold": torch.tensor([starts.index(window.gold.start) if window.gold.start in starts else -1]),
        "rank": torch.tensor([top.rank]),
    }


def unpack(back: Path, folder: Path) -> Mapping[str, Any]:
    """Make the folder of a model from what came back; give its record."""
    if folder.exists():
        raise BadRequest(f"{folder} is there already. Name a folder that is not.")
    manifest = read_manifest(back)
    if manifest["version"] != VERSION:
        raise BadWeights(f"{back} was written by another version of this program. Unpack it with that one.")
    recipe, record = read_recipe(manifest["record"]["recipe"]), manifest["record"]
    start = read_card(manifest["start"]) if manifest["start"] else None
    kind = kind_of(recipe, Material((), (), _no_work, learnt=manifest["learnt"]), start)
    for what, found in (("base", kind.base.digest), ("start", "" if kind.start is None else kind.start.digest)):
        if found != record.get(f"{what}_digest", ""):
            raise BadWeights(f"The {what} is not the one that was packed. Put that one back, and unpack again.")
    model = kind.model()
    weights = load(joined(back, manifest["weights"]))
    wanted = {name for name, each in model.named_parameters() if each.requires_grad}
    if wanted != set(weights):
        raise BadWeights(f"What {back} holds does not fit the recipe that it names. Pack and run it anew.")
    model.load_state_dict(weights, strict=False)
    made = {key: manifest[key] for key in ("figures", "seconds", "versions", "machine", "steps", "of")}
    learnt: dict[str, Any] = record | made
    kind.write(folder, model, learnt)
    return learnt


def _no_work(work_id: str) -> NoReturn:
    raise BadRequest(f"{work_id} was learnt from elsewhere.")
