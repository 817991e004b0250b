"""Learns from what was packed, with PyTorch and transformers alone: `python run.py --minutes N` in the packed folder.

Models, losses and passes are the program's own (`relic_core.training.models`); batches were made where it was packed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers
from safetensors import numpy as arrays
from safetensors.torch import load, save
from torch import nn

from relic_core.encoders.joint_reader import Rows
from relic_core.errors import BadRequest, RelicError
from relic_core.training.models import DualEncoder, RerankerInTraining
from tools.gpu.batches import Batches, Features
from tools.gpu.parts import MANIFEST, MB, cut, joined, read_manifest, write_manifest

CHECKPOINT = "checkpoint.pt"
_CHECKPOINT_SECONDS = 300.0
_RESERVED = 0.1, 30.0
"""Kept for validating and writing at the end: this share of the time, and at most so many seconds."""
_TOLD_EVERY = 10


def build(made: dict[str, Any]) -> nn.Module:
    """Make the model that a folder was packed for, with weights by chance."""
    recipe: Any = SimpleNamespace(**made["record"]["recipe"], is_late=False)
    config = transformers.AutoConfig.for_model(**made["config"])
    tower: Any = SimpleNamespace(build=lambda **_: getattr(transformers, made["model"])(config))
    if made["kind"] == "reranker":
        return RerankerInTraining(recipe, recipe, tower)
    return DualEncoder(recipe, tower)


def learnt(model: nn.Module) -> dict[str, torch.Tensor]:
    """Give the weights that are learnt, by their names."""
    return {name: each for name, each in model.named_parameters() if each.requires_grad}


class Learning:
    """A training of what lies in a folder, from its last checkpoint on."""

    def __init__(self, folder: Path, minutes: float, *, began: float) -> None:
        self._began = began
        self._seconds = 60 * minutes
        self._folder, self._made = folder, read_manifest(folder)
        self.recipe: dict[str, Any] = self._made["record"]["recipe"]
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._batches = Batches(arrays.load(joined(folder, self._made["batches"])))
        held = self._made["validation"]
        self._held = Batches(arrays.load(joined(folder, held))) if held else None
        self._model = self._begun()
        self._weights = learnt(self._model)
        self._first = {name: each.detach().clone() for name, each in self._weights.items()}
        shrunk = {name: each.ndim > 1 for name, each in self._weights.items()}
        groups = [
            {"params": [self._weights[name] for name in shrunk if shrunk[name]], "weight_decay": self._decay},
            {"params": [self._weights[name] for name in shrunk if not shrunk[name]], "weight_decay": 0.0},
        ]
        self._optimizer = torch.optim.AdamW(groups, lr=self.recipe["learning_rate"], fused=True)
        schedule = "linear" if self.recipe["schedule"] == "linear" else "constant_with_warmup"
        warmup = round(self.recipe["warmup"] * len(self._batches))
        self._schedule = transformers.get_scheduler(schedule, self._optimizer, warmup, len(self._batches))
        self._step, self._spent, self._longest = 0, 0.0, 0.0
        self._validations: list[dict[str, float]] = []
        self._best: dict[str, torch.Tensor] = {}
        self._go_on()

    @property
    def _decay(self) -> float:
        return float(self.recipe["weight_decay"])

    def _begun(self) -> nn.Module:
        torch.manual_seed(self.recipe["seed"])
        model = build(self._made)
        stored = load(joined(self._folder, self._made["weights"]))
        state = {name: stored[same].float() for name, same in self._made["names"].items()}
        model.load_state_dict(state)
        return model.to(self._device).train()

    # ---------------------------------------------------------------- learning

    def run(self) -> bool:
        """Learn until all batches are read or the time is over; say whether all are."""
        written = time.monotonic()
        while self._step < len(self._batches):
            began = time.monotonic()
            if self._is_over(began):
                break
            figures = self._learn(self._batches[self._step])
            self._step += 1
            self._longest = max(self._longest, time.monotonic() - began)
            if self._step % _TOLD_EVERY == 0 or self._step == len(self._batches):
                _tell(event="step", step=self._step, of=len(self._batches), **figures)
            every = self.recipe["validate_every"]
            if every and self._step % every == 0 and not self._is_over(time.monotonic()):
                self._validate()
            if time.monotonic() - written > _CHECKPOINT_SECONDS:
                self._keep()
                written = time.monotonic()
        if self._held is not None and self._step and self._step not in [each["step"] for each in self._validations]:
            self._validate()
        self._keep()
        return self._step == len(self._batches)

    def _is_over(self, now: float) -> bool:
        share, most = _RESERVED
        reserved = min(most, share * self._seconds) + 2 * self._longest
        reserved += max((each["took"] for each in self._validations), default=0.0)
        return now - self._began + reserved > self._seconds

    def _learn(self, batch: Features) -> dict[str, float]:
        torch.manual_seed(self.recipe["seed"] + self._step)  # so that a run that goes on leaves out the same
        began = time.monotonic()
        try:
            with self._mixed():
                output = self._model(**self._there(batch))
            output["loss"].backward()
        except torch.OutOfMemoryError as error:
            raise RelicError(
                f"Memory ran out in step {self._step + 1}. Pack it anew with --set cached=true, or a smaller batch or "
                "chunk_tokens."
            ) from error
        norm = nn.utils.clip_grad_norm_(list(self._weights.values()), self.recipe["clip"] or math.inf).item()
        if not math.isfinite(norm):
            raise RelicError(
                f"The gradient of step {self._step + 1} is {norm}: the training has run away. Pack it anew with a "
                "lower learning rate or a longer warm-up."
            )
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        found = {"loss": output["loss"].item(), "first": output["first"].item(), "gradient": norm}
        return found | {"seconds": time.monotonic() - began}

    def _mixed(self) -> torch.autocast:
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self.recipe["precision"] == "bfloat16")

    def _there(self, batch: Features) -> Features:
        return {key: tensor.to(self._device) for key, tensor in batch.items()}

    # ---------------------------------------------------------------- validating

    def _validate(self) -> None:
        began = time.monotonic()
        blend = self.recipe.get("blend", 1.0)
        now = {name: each.detach().clone() for name, each in self._weights.items()}
        self._model.eval()
        with torch.no_grad(), self._mixed():
            for name, each in self._weights.items():
                if ".lora_A." not in name:  # as much less is added where only one of the two is
                    each.lerp_(self._first[name], 1 - blend)
            figures = _figures(self._ranks())
            for name, each in self._weights.items():
                each.copy_(now[name])
        self._model.train()
        figures |= {"step": self._step, "took": time.monotonic() - began}
        watch = self.recipe["watch"]
        if figures.get(watch, -1.0) > max((each.get(watch, -1.0) for each in self._validations), default=-1.0):
            self._best = {name: each.cpu() for name, each in now.items()}
        self._validations.append(figures)
        _tell(event="validation", **figures)

    def _ranks(self) -> dict[str, list[int]]:
        """Rank the golds of the validation; by the ends that the shapes' figures have."""
        ranks: dict[str, list[int]] = defaultdict(list)
        assert self._held is not None  # noqa: S101 - asked for only where there is one
        model: Any = self._model
        for number in range(len(self._held)):
            batch = self._there(self._held[number])
            if self._made["kind"] == "reranker":
                ranks[""].append(_reordered(model, batch))
                continue
            spans = model.span_vectors(*(batch[key] for key in _SPANS))
            claims = model.claim_vectors(batch["claims"], batch["claim_lengths"]).float()
            if self.recipe["similarity"] == "cosine":
                claims = nn.functional.normalize(claims, dim=-1)
            claims = claims.view(-1, self._made["cuts"], claims.shape[-1]).mean(1)
            lengths, golds = batch["lengths"].cpu().numpy(), batch["gold"].tolist()
            scores = model.scores(claims, spans).cpu().numpy()
            parted = scores.reshape(len(self._made["shapes"]), len(golds), len(lengths))
            for end, of_shape in zip(self._made["shapes"], parted, strict=True):
                of_golds = zip(of_shape, golds, strict=True)
                ranks[end] += [_rank(row, gold, lengths == lengths[gold]) for row, gold in of_golds]
        return ranks

    # ---------------------------------------------------------------- keeping

    def _keep(self) -> None:
        state = {
            "record": self._made["record"],
            "step": self._step,
            "seconds": self.seconds,
            "learnt": {name: each.detach().cpu() for name, each in self._weights.items()},
            "best": self._best,
            "validations": self._validations,
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
        }
        half = self._folder / f".{CHECKPOINT}"
        torch.save(state, half)
        half.replace(self._folder / CHECKPOINT)

    def _go_on(self) -> None:
        path = self._folder / CHECKPOINT
        if not path.exists():
            return
        state = torch.load(path, map_location="cpu", weights_only=True)
        if state["record"] != self._made["record"]:
            raise BadRequest(f"{path} is of another training. Move it away, or take the folder that it belongs to.")
        with torch.no_grad():
            for name, each in self._weights.items():
                each.copy_(state["learnt"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        self._step, self._spent = state["step"], state["seconds"]
        self._best, self._validations = state["best"], state["validations"]
        _tell(event="goes on", step=self._step, of=len(self._batches))

    @property
    def seconds(self) -> float:
        """Spent so far, over all runs."""
        return self._spent + time.monotonic() - self._began

    def bring_back(self, folder: Path, size: int) -> None:
        """Write the best weights, or the last where nothing was validated, in parts of at most `size` bytes."""
        if not self._step:
            raise BadRequest("There was no time for a single step. Give more --minutes.")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        watch = self.recipe["watch"]
        figures = max(self._validations, key=lambda each: each.get(watch, -1.0), default={})
        tensors = {name: _short(each) for name, each in (self._best or self._weights).items()}
        made = {key: self._made[key] for key in ("version", "kind", "record", "start", "learnt")}
        write_manifest(folder, {
            **made,
            "weights": cut(save(tensors), folder, "weights", size),
            "steps": self._step,
            "of": len(self._batches),
            "figures": {key: value for key, value in figures.items() if key != "took"},
            "seconds": round(self.seconds, 1),
            "versions": {each.__name__: each.__version__ for each in (torch, transformers)},
            "machine": torch.cuda.get_device_name() if self._device.type == "cuda" else "CPU",
        })  # fmt: skip


_SPANS = ("passages", "passage_lengths", "segments", "starts", "lengths")


def _reordered(model: Any, batch: Features) -> int:  # noqa: ANN401 - a `RerankerInTraining`, perhaps
    """Rank the gold of one claim among the first retriever's passages, each by both scores; see `reranked.beside`."""
    if batch["gold"].item() < 0:
        return int(batch["rank"].item())
    claims = model.reader.read_claims(batch["claims"], batch["claim_lengths"])
    keys = ("passages", "passage_lengths", "owners", "starts", "ends")
    found = model.reader.scores(claims, Rows(*(batch[key] for key in keys))).double().cpu().numpy()
    own = (found - found.mean()) / found.std() if found.std() else np.zeros_like(found)
    return _rank(own + batch["first"].cpu().numpy(), int(batch["gold"].item()), np.ones(len(own), np.bool_))


def _rank(scores: npt.NDArray[Any], gold: int, among: npt.NDArray[np.bool_]) -> int:
    better = among & (scores > scores[gold])
    equal = (among & (scores == scores[gold]))[:gold]
    return 1 + int(better.sum()) + int(equal.sum())


def _figures(ranks: dict[str, list[int]]) -> dict[str, float]:
    """Make figures of ranks, named as `validation.figures` names them."""
    made = {}
    for end, of_shape in ranks.items():
        for k in (1, 10, 100):
            made[f"recall@{k}{end}"] = 100 * float((np.array(of_shape) <= k).mean())
    score = float(np.mean(list(made.values())))
    medians = {f"median{end}": float(np.median(of_shape)) for end, of_shape in ranks.items()}
    return {**made, **medians, "score": score, "windows": float(len(next(iter(ranks.values()))))}


def _short(tensor: torch.Tensor) -> torch.Tensor:
    half = tensor.detach().half()
    return (half if torch.isfinite(half).all() else tensor.detach().float()).cpu().contiguous()


def _tell(**values: Any) -> None:  # noqa: ANN401 - any JSON
    short = {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}
    print(json.dumps(short), flush=True)


def main(began: float) -> int:
    """Do what the command line says, in the time since the program `began`; give the exit code."""
    folder = Path(sys.argv[0]).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, required=True, help="stop and write before so many are over")
    parser.add_argument("--back", type=Path, default=folder / "back", help="where to write (default: %(default)s)")
    parser.add_argument("--back-size", type=float, default=16.0, metavar="MB", help="of a part (default: %(default)s)")
    options = parser.parse_args()
    try:
        learning = Learning(folder, options.minutes, began=began)
        finished = learning.run()
        learning.bring_back(options.back, int(options.back_size * MB))
    except (RelicError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{'All is learnt' if finished else 'Stopped in time: run it again to go on'}. See {options.back}.")
    return 0
