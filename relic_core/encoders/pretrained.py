"""Models with a head of their own, loaded as transformers has them: what gives a score, or words, and no states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from relic_core.encoders.batching import is_out_of_memory, too_little_memory
from relic_core.encoders.precision import Arithmetic
from relic_core.encoders.weights import ModelFiles, check_size, configuration, first_line, state_of
from relic_core.errors import BadWeights

State = dict[str, Any]
"""Weights by their names."""


def load_pretrained(
    files: ModelFiles,
    arithmetic: Arithmetic,
    *mappings: str,
    what: str,
    advice: str,
    changed: Callable[[State], State] | None = None,
    labels: int | None = None,
) -> Any:  # noqa: ANN401 - transformers is not typed
    """Load a model by its configuration, from safetensors alone and without code of its own.

    - `mappings`: of transformers, from configurations to classes; the first that knows the configuration counts.
    - `what`: what it is wanted as: "one that generates text from text".
    - `advice`: what to do where it is none.
    - `changed`: makes the weights that are loaded of those in the files; `labels`: logits of the head that they bring.

    Raises BadWeights: the files cannot be read so, or leave a part of the model unset.
    """
    import torch
    import transformers

    folder = files.folder
    try:
        config = configuration(files)
        if labels:
            config.num_labels = labels
        try:
            known = (getattr(transformers, mapping) for mapping in mappings)
            kind = next(each[type(config)] for each in known if type(config) in each)
        except StopIteration:
            raise ValueError(f"it is of type {config.model_type}") from None
        check_size(files, lambda: kind(config))
        with without_progress():
            model, loaded = kind.from_pretrained(
                None,
                config=config,
                state_dict=changed(state_of(files)) if changed else state_of(files),
                dtype=getattr(torch, arithmetic.precision),
                output_loading_info=True,
            )
    except Exception as error:  # what a wrong value in the configuration leads to may be anything
        if is_out_of_memory(error):
            raise too_little_memory(files.name, "being loaded", arithmetic.device) from error
        raise BadWeights(f"The model in {folder} cannot be read as {what} ({first_line(error)}). {advice}") from error
    if loaded["missing_keys"]:
        raise BadWeights(
            f"The weights in {folder} do not fit their configuration: {len(loaded['missing_keys'])} part(s) are "
            f"missing, the first being {min(loaded['missing_keys'])}. Fetch the model again."
        )
    return model.to(arithmetic.device).eval()


@contextmanager
def without_progress() -> Iterator[None]:
    """Load models without the progress bars that transformers draws; afterwards all is as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # untyped
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # untyped
