"""What stands beside a training: it reports every step, validates, keeps the best weights, and says when to stop."""

from __future__ import annotations

import math
import resource
import time
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from relic_core.errors import BadRequest
from relic_core.training.processes import agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from transformers import TrainerControl, TrainerState, TrainingArguments

    from relic_core.training.loop import Loop
    from relic_core.training.recipes import Recipe

    Report = Callable[[Mapping[str, Any]], None]

_MIB = 2**20


class Watch(TrainerCallback):  # type: ignore[misc, unused-ignore]  # untyped
    """Stands beside a training.

    - `recipe`: when to validate, what to look at, when to give up.
    - `validate`: writes the weights as they are and gives figures of them.
    - `keep`: makes the weights that were last validated the best.
    - `stop`: says whether somebody asked for an end.
    - `checkpoint_seconds`: between two checkpoints.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        validate: Callable[[int], Mapping[str, float]] | None,
        keep: Callable[[Mapping[str, float]], None],
        report: Report,
        stop: Callable[[], bool],
        checkpoint_seconds: float,
    ) -> None:
        self._recipe = recipe
        self._validate = validate
        self._keep = keep
        self._report = report
        self._stop = stop
        self._checkpoint_seconds = checkpoint_seconds
        self._written = self._step_began = self._began = time.monotonic()
        self._before = self._step_seconds = 0.0
        self.validations: list[dict[str, float]] = []
        self.stopped = False
        self.loop: Loop | None = None

    @property
    def seconds(self) -> float:
        """Spent so far, over all sittings."""
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

    def on_train_begin(
        self,
        args: TrainingArguments,  # noqa: ARG002 - as the trainer calls it, here and below
        state: TrainerState,  # noqa: ARG002
        control: TrainerControl,
        **_: Any,  # noqa: ANN401
    ) -> TrainerControl:
        """Start the clock."""
        self._step_began = self._written = time.monotonic()
        return control

    def on_log(  # type: ignore[override]  # the trainer always gives the logs
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, float],
        **_: Any,  # noqa: ANN401
    ) -> TrainerControl:
        """Report a step."""
        if "loss" not in logs or self.loop is None or not state.is_world_process_zero:
            return control
        counted, seconds = self.loop.counted, self._step_seconds
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
        return control

    def on_step_end(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,
        **_: Any,  # noqa: ANN401
    ) -> TrainerControl:
        """Say what is to be done after a step; what validation and a checkpoint then take is none of its time."""
        self._step_seconds = time.monotonic() - self._step_began
        control.should_log = True
        last = state.global_step >= state.max_steps
        every = self._recipe.validate_every
        if self._validate is not None and (last or (every and state.global_step % every == 0)):
            self._validated(state.global_step, control, first_process=state.is_world_process_zero)
        if not last and agreed(self._stop()):
            self.stopped = control.should_training_stop = control.should_save = True
        if last or time.monotonic() - self._written >= self._checkpoint_seconds:  # the first process's clock counts
            control.should_save = True
        return control

    def on_save(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,
        **_: Any,  # noqa: ANN401
    ) -> TrainerControl:
        """Report a checkpoint."""
        if state.is_world_process_zero:
            self._tell("checkpoint", state.global_step)
        self._written = self._step_began = time.monotonic()
        return control

    def _validated(self, step: int, control: TrainerControl, *, first_process: bool) -> None:
        """Validate in one process, keep what is better, and give up where nothing was for too long."""
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

    def _tell(self, event: str, step: int, **said: float) -> None:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MIB
        self._report({"event": event, "step": step, **said, "seconds": self.seconds, "memory_mib": memory})
