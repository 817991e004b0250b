"""Training, to its end or to a stop: planned batches, whole checkpoints, validation, errors in words.

Models of every kind are trained alike; they differ in their batches, their loss and what is written.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

import torch
from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped, unused-ignore]
from safetensors.torch import load_file, save_file
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)

from relic_core.encoders.batching import is_out_of_memory
from relic_core.encoders.cards import EncoderCard
from relic_core.errors import BadRequest, RelicError
from relic_core.training import checkpoints
from relic_core.training.batching import Planned, plan
from relic_core.training.checkpoints import Origin, written_folder
from relic_core.training.collating import Features, Material
from relic_core.training.exporting import keep_model
from relic_core.training.folders import CHECKPOINTS, MODEL
from relic_core.training.learners import kind_of, origin_record
from relic_core.training.recipes import AnyRecipe, Recipe

Validate = Callable[[Path], Mapping[str, float]]

CANDIDATE = "candidate"
CHECKPOINT_SECONDS = 600.0


class Report(Protocol):
    """Takes what happens in a training: "step", "checkpoint", "validation" and the like, with figures."""

    def __call__(self, event: str, step: int, **facts: Any) -> None: ...  # noqa: ANN401, D102 - figures, as a rule


T = TypeVar("T")


def processes() -> int:
    """Count the processes that ``accelerate launch`` started; 1 where it did not."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this is the process that writes."""
    return os.environ.get("RANK", "0") == "0"


def agreed(value: T) -> T:
    """Give what the first of several processes found to all of them; call it in all."""
    (first,) = broadcast_object_list([value])
    return first  # type: ignore[no-any-return]  # untyped


@contextlib.contextmanager
def terminated() -> Iterator[Callable[[], bool]]:
    """Take SIGTERM as the wish to stop, in the main thread, which alone gets signals; says whether it came."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set
        return

    def take(_signal: int, _frame: FrameType | None) -> None:
        came.set()

    before = signal.signal(signal.SIGTERM, take)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGTERM, before)


TRAINED = "trained.safetensors"
"""In a checkpoint: the weights that are trained; the others are the base's."""


def arguments(recipe: Recipe, folder: Path, steps: int) -> TrainingArguments:
    """Say to the trainer what the recipe says; parameters as of `Loop`."""
    on_processor = not torch.cuda.is_available()
    return TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=1,  # an item is a batch
        num_train_epochs=1.0,  # and the plan has all epochs
        train_sampling_strategy="sequential",
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear" if recipe.schedule == "linear" else "constant_with_warmup",
        warmup_steps=round(recipe.warmup * steps),
        weight_decay=recipe.weight_decay,
        max_grad_norm=recipe.clip,
        optim="adamw_torch_fused",
        bf16=recipe.precision == "bfloat16",
        use_cpu=on_processor,
        seed=recipe.seed,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",  # written when the watch says so
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=not on_processor,
        ddp_find_unused_parameters=False,
        label_names=[],
    )


class Loop(Trainer):  # type: ignore[misc, unused-ignore]  # untyped
    """Trains a model over planned batches; called with one, lengths of claims first, it gives "loss" and "first".

    - `watch`: stands beside it, and gives what else has to be known to go on.
    """

    def __init__(
        self,
        *,
        recipe: Recipe,
        model: torch.nn.Module,
        planned: list[Planned],
        collator: Callable[[Sequence[Planned]], Features],
        folder: Path,
        origin: Origin,
        watch: Watch,
    ) -> None:
        self._folder = folder
        self._origin = origin
        self._watch = watch
        self._learner = model
        self.steps = -(-len(planned) // origin.processes)
        """That make up the training: each process takes a batch of its own."""
        super().__init__(
            model=model,
            args=arguments(recipe, folder, self.steps),
            train_dataset=planned,  # type: ignore[arg-type, unused-ignore]  # a list has length and items
            data_collator=collator,
            callbacks=[watch],
        )
        self.remove_callback(PrinterCallback)

    def training_step(self, *given: Any, **named: Any) -> torch.Tensor:  # noqa: ANN401, D102 - the trainer's
        try:
            loss: torch.Tensor = super().training_step(*given, **named)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise RelicError(
                f"Memory ran out in step {self.state.global_step + 1} of the training. Take a smaller batch or "
                "chunk_tokens, or set cached to true in the recipe: states are then made twice instead of being kept."
            ) from error
        sums = [each.grad.sum() for each in self._learner.parameters() if each.grad is not None]
        if sums and not math.isfinite(total := torch.stack(sums).sum().item()):  # one number that is none is enough
            raise self._ran_away("gradient", total)
        return loss

    def compute_loss(  # noqa: D102 - the trainer's
        self,
        model: Any,  # noqa: ANN401 - the encoder, or what accelerate put around it
        inputs: Features,
        return_outputs: bool = False,  # noqa: ARG002 - the trainer's signature
        num_items_in_batch: Any = None,  # noqa: ANN401, ARG002
    ) -> torch.Tensor:
        output = model(**inputs)
        loss: torch.Tensor = output["loss"]
        if not math.isfinite(loss.item()):
            raise self._ran_away("loss", loss.item())
        lengths = [each for name, each in inputs.items() if name.endswith("_lengths")]
        examples = float(len(lengths[0]))
        spans = {"spans": float(inputs["allowed"].sum()) / examples} if "allowed" in inputs else {}
        self._watch.counted = {
            "examples": examples,
            "tokens": float(sum(each.sum() for each in lengths)),
            **spans,
            "first": output["first"].item(),
        }
        return loss

    def _ran_away(self, what: str, value: float) -> RelicError:
        return RelicError(
            f"The {what} of step {self.state.global_step + 1} is {value}: the training has run away and was stopped "
            "before it changed the weights. The last good checkpoint is kept. Take a lower learning rate, a longer "
            "warm-up or float32, and start anew."
        )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:  # noqa: ANN401, ARG002 - the trainer's signature
        """Write all of a checkpoint beside its name, then let it take the name."""
        if not self.is_world_process_zero():  # one writes, and the others meet it again in the next step
            return
        path = self._folder / f"checkpoint-{self.state.global_step}"
        with written_folder(path) as half:
            learnt = {name: each for name, each in self._learner.named_parameters() if each.requires_grad}
            save_file({name: each.detach().cpu().contiguous() for name, each in learnt.items()}, half / TRAINED)
            self._save_optimizer_and_scheduler(str(half))
            self._save_scaler(str(half))
            self._save_rng_state(str(half))
            self.state.save_to_json(str(half / "trainer_state.json"))
            checkpoints.seal(half, self._origin, self._watch.state())
        checkpoints.rotate(self._folder)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:  # noqa: ANN401, ARG002
        path = Path(resume_from_checkpoint) / TRAINED
        self._learner.load_state_dict(load_file(path), strict=False)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the trainer's own messages out of the terminal: what is to be said is reported."""
    logger = logging.getLogger("transformers.trainer")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


_MIB = 2**20


class Watch(TrainerCallback):  # type: ignore[misc, unused-ignore]  # untyped
    """Stands beside a training.

    - `recipe`: when to validate, what to look at, when to give up.
    - `validate`: writes the weights as they are and gives figures of them.
    - `keep`: makes the weights that were last validated the best.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        validate: Callable[[int], Mapping[str, float]] | None,
        keep: Callable[[Mapping[str, float]], None],
        report: Report,
        stop: Callable[[], bool],
    ) -> None:
        self._recipe = recipe
        self._validate = validate
        self._keep = keep
        self._report = report
        self._stop = stop
        self._written = self._step_began = self._began = time.monotonic()
        self._before = self._step_seconds = 0.0
        self.validations: list[dict[str, float]] = []
        self.stopped = False
        self.counted: dict[str, float] = {}
        """Of the last batch, as the loop counts them."""

    @property
    def seconds(self) -> float:
        """Spent so far, over all runs."""
        return self._before + time.monotonic() - self._began

    def state(self) -> dict[str, Any]:
        """Give what has to be known to go on."""
        return {"validations": self.validations, "seconds": self.seconds}

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.validations = [dict(each) for each in state["validations"]]
        self._before = float(state["seconds"])

    @property
    def best(self) -> Mapping[str, float]:
        """The figures of the best validation, with its "step"; empty before the first."""
        return max(self.validations, key=lambda figures: figures[self._recipe.watch], default={})

    @property
    def given_up(self) -> bool:
        """Whether nothing was better than the best for as many validations as the recipe's patience."""
        since = sum(1 for each in self.validations if each["step"] > self.best["step"])
        return 0 < self._recipe.patience <= since

    def on_train_begin(self, *_: object, **__: object) -> None:
        """Start the clock."""
        self._step_began = self._written = time.monotonic()

    def on_log(  # type: ignore[override]  # the trainer always gives the logs
        self,
        _args: TrainingArguments,
        state: TrainerState,
        _control: TrainerControl,
        logs: Mapping[str, float],
        **_: object,
    ) -> None:
        """Report a step."""
        if "loss" not in logs or not state.is_world_process_zero:
            return
        counted, seconds = self.counted, self._step_seconds
        self._tell(
            "step",
            state.global_step,
            of=state.max_steps,
            loss=logs["loss"],
            learning_rate=logs["learning_rate"],
            gradient=logs.get("grad_norm", 0.0),
            **counted,
            step_seconds=seconds,
            examples_per_second=counted["examples"] / seconds,
            tokens_per_second=counted["tokens"] / seconds,
        )
        self._step_began = time.monotonic()

    def on_step_end(self, _args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:  # type: ignore[override]  # other names
        """Say what is to be done after a step; what validation and a checkpoint then take is none of its time."""
        self._step_seconds = time.monotonic() - self._step_began
        control.should_log = True
        last = state.global_step >= state.max_steps
        every = self._recipe.validate_every
        if self._validate is not None and (last or (every and state.global_step % every == 0)):
            self._validated(state.global_step, control, first_process=state.is_world_process_zero)
        if not last and agreed(self._stop()):
            self.stopped = control.should_training_stop = control.should_save = True
        if last or time.monotonic() - self._written >= CHECKPOINT_SECONDS:  # the first process's clock counts
            control.should_save = True

    def on_save(self, _args: TrainingArguments, state: TrainerState, _control: TrainerControl, **_: object) -> None:  # type: ignore[override]  # other names
        """Report a checkpoint."""
        if state.is_world_process_zero:
            self._tell("checkpoint", state.global_step)
        self._written = self._step_began = time.monotonic()

    def _validated(self, step: int, control: TrainerControl, *, first_process: bool) -> None:
        before = self.best.get(self._recipe.watch, -math.inf)
        began = time.monotonic()
        found = dict(self._validate(step)) if self._validate is not None and first_process else {}
        figures = {name: float(value) for name, value in agreed(found).items()}
        if self._recipe.watch not in figures:
            raise BadRequest(
                f"The recipe watches {self._recipe.watch}, which the validation does not give. It gives "
                f"{', '.join(figures)}: write one of them into the recipe."
            )
        self.validations.append({**figures, "step": step})
        if first_process and figures[self._recipe.watch] > before:
            self._keep(figures)
        if first_process:
            self._tell("validation", step, **figures, took=time.monotonic() - began)
        if self.given_up:
            if first_process:
                self._tell("no better", step, patience=self._recipe.patience)
            control.should_training_stop = control.should_save = True

    def _tell(self, event: str, step: int, **figures: float) -> None:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MIB
        self._report(event, step, **figures, seconds=self.seconds, memory_mib=memory)


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


def train(
    recipe: AnyRecipe,
    material: Material,
    folder: Path,
    *,
    start: EncoderCard | None = None,
    validate: Validate | None = None,
    report: Report = lambda *_, **__: None,
    stop: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train what the recipe makes, from the last good checkpoint of the folder, where there is one.

    - `folder`: where to: ``checkpoints/`` to go on from, ``model/`` with the best weights so far.
    - `start`: a trained encoder to go on from, in place of the base; a reranker begins half way between its two models.
    - `validate`: given a folder as of `Trained`, gives figures, the recipe's `watch` among them; higher is better.
    - `report`: told of every step, checkpoint and validation.
    - `stop`: asked after every step whether to stop. SIGTERM stops too. A checkpoint is written, and no model where
      none was validated yet.

    Raises BadRequest: too little to learn from; `start` was made from another base; checkpoints of another
    configuration.
    Raises BadWeights: the base cannot be read; every checkpoint is damaged.
    Raises StoreFull: no room for a checkpoint or a model; what was written before is kept.
    Raises RelicError: the loss is not a number any more; memory ran out.
    """
    kind = kind_of(recipe, material, start)
    planned = plan(recipe, [pair.source_id for pair in material.pairs], [window.work_id for window in material.windows])
    record = origin_record(kind, recipe, material)
    origin, found = _resumed(folder, record)
    set_seed(recipe.seed)
    model = kind.model()

    def written(name: str, figures: Mapping[str, float]) -> Path:
        record["figures"], record["seconds"] = dict(figures), round(watch.seconds, 1)
        kind.write(folder / name, model, record)
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
            stop=lambda: asked() or stop(),
        )
        loop = Loop(
            recipe=recipe, model=model, planned=planned, collator=kind.collator, folder=folder / CHECKPOINTS,
            origin=origin, watch=watch,
        )  # fmt: skip
        first = 0
        if found is not None:
            watch.go_on(found[1])
            first = checkpoints.step_of(found[0])
        if is_first():
            report("begins", first, of=loop.steps, pairs=len(material.pairs), windows=len(material.windows))
        if not watch.given_up:
            loop.train(resume_from_checkpoint=found and str(found[0]))
    finished = not watch.stopped
    if finished and is_first() and not (folder / MODEL).exists():
        written(MODEL, {})
    return Trained(
        folder=folder / MODEL, steps=max(first, loop.state.global_step), of=loop.steps, finished=finished,
        figures=dict(watch.best), seconds=watch.seconds,
    )  # fmt: skip


def _resumed(folder: Path, record: Mapping[str, Any]) -> tuple[Origin, tuple[Path, dict[str, Any]] | None]:
    """Say what a training is of, clear up behind one that was killed, and find the checkpoint that it goes on from."""
    digests = "recipe_digest", "data_digest", "base_digest", "start_digest"
    origin = Origin(recipe=record["recipe"], processes=processes(), **{name: record.get(name, "") for name in digests})
    if is_first():
        checkpoints.tidy(folder)
        checkpoints.tidy(folder / CHECKPOINTS)
    return origin, checkpoints.last_good(folder / CHECKPOINTS, origin)


def train_on_all(
    recipe: AnyRecipe,
    material: Material,
    folder: Path,
    *,
    validate: Validate | None,
    **named: Any,  # noqa: ANN401
) -> Trained:
    """Train as `train` does on all graphics cards of the machine, a process for each, of which the first is this one.

    It alone validates, writes, reports, and is asked to stop.
    """
    count, others = torch.cuda.device_count(), []
    if count > 1:
        from torch.distributed.elastic.utils.distributed import get_free_port

        works = {window.work_id: material.work(window.work_id) for window in material.windows}
        given = (recipe, replace(material, work=works.__getitem__), folder)
        waiting = dict if validate else None  # while the first validates
        port = get_free_port()  # type: ignore[no-untyped-call, unused-ignore]
        where = {"MASTER_ADDR": "localhost", "MASTER_PORT": f"{port}", "WORLD_SIZE": str(count)}
        beside = where, given, {"start": named.get("start"), "validate": waiting}
        others = torch.multiprocessing.spawn(  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
            _beside, beside, count - 1, join=False
        ).processes
        os.environ.update(where, RANK="0", LOCAL_RANK="0")
    try:
        return train(recipe, material, folder, validate=validate, **named)
    finally:
        for other in others:
            other.kill()


def _beside(number: int, where: Any, given: Any, named: Any) -> None:  # noqa: ANN401 - as of `train`
    rank = str(number + 1)
    os.environ.update(where, RANK=rank, LOCAL_RANK=rank)
    train(*given, **named)
