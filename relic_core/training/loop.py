"""The trainer of transformers, as dense-RELiC needs it: planned batches, whole checkpoints, errors in words."""

from __future__ import annotations

import contextlib
import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from relic_core.encoders.batching import is_out_of_memory
from relic_core.errors import RelicError
from relic_core.training import checkpoints
from relic_core.training.disk import written_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from relic_core.training.batching import Planned
    from relic_core.training.checkpoints import Origin
    from relic_core.training.collating import Features
    from relic_core.training.recipes import Recipe

TRAINED = "trained.safetensors"
"""In a checkpoint: the weights that are learnt; the others are the base's."""


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
    """Trains a model over planned batches.

    - `model`: what; called with a batch it gives "loss" and "first".
    - `planned`: the batches, in order.
    - `state`: gives what else has to be known to go on.
    """

    def __init__(  # noqa: PLR0913 - all of it is needed to train
        self,
        *,
        recipe: Recipe,
        model: torch.nn.Module,
        planned: list[Planned],
        collator: Callable[[Sequence[Planned]], Features],
        folder: Path,
        origin: Origin,
        state: Callable[[], Mapping[str, Any]],
        callback: TrainerCallback,
    ) -> None:
        self._folder = folder
        self._origin = origin
        self._further = state
        self._learner = model
        self.counted: dict[str, float] = {}
        self.steps = -(-len(planned) // origin.processes)
        """That make up the training: each process takes a batch of its own."""
        super().__init__(
            model=model,
            args=arguments(recipe, folder, self.steps),
            train_dataset=planned,  # type: ignore[arg-type, unused-ignore]  # a list has length and items
            data_collator=collator,
            callbacks=[callback],
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
        self.counted = {
            "examples": float(len(inputs["gold"])),
            "tokens": float(inputs["claim_lengths"].sum() + inputs["passage_lengths"].sum()),
            "spans": float(inputs["allowed"].sum()) / len(inputs["gold"]),
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
            checkpoints.seal(half, self._origin, self._further())
        checkpoints.rotate(self._folder)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:  # noqa: ANN401, ARG002
        """Put what was learnt in its place."""
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
