"""What sentence-transformers writes beside a model: its modules, its pooling, its prompts.

Only the files are read; neither that library nor anything that a folder brings along is imported.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from pathlib import Path

MODULES = "modules.json"
_PROMPTS = "config_sentence_transformers.json"
_LENGTH = "sentence_bert_config.json"
_POOLING = {"mean": "mean", "mean_tokens": "mean", "cls": "first", "cls_token": "first"}
_SPECIAL = 2
"""Tokens that a tokenizer adds, and that sentence-transformers counts."""
_LONGEST = 510
"""Tokens read together at most, however many a model takes: a longer stretch costs more and gains nothing here."""


def facts_of_folder(folder: Path, pooling: str | None = None) -> dict[str, Any]:
    """Say how a folder that sentence-transformers wrote is used; empty for another.

    - `folder`: where the model is.
    - `pooling`: pooling that is said elsewhere: then the modules may be any.

    Returns: values of an `EncoderCard`.

    Raises BadWeights: a file is damaged, or says something that is not done here.
    """
    if not (folder / MODULES).is_file():
        return {}
    modules = _read(folder / MODULES)
    kinds = [_kind(module, folder) for module in modules]
    if pooling is None and kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise BadWeights(
            f"{folder / MODULES} lists {', '.join(kinds) or 'nothing'}; what is read here is Transformer, Pooling and, "
            "at the end, Normalize. Take another model, or write an encoder card that says how it is used "
            "(docs/encoders.md)."
        )
    paths = [_inside(folder, module) for module in modules]
    transformer = paths[kinds.index("Transformer")] if "Transformer" in kinds else folder
    prompts = _read(folder / _PROMPTS) if (folder / _PROMPTS).is_file() else {}
    said = prompts.get("prompts") or {}
    facts = {
        "pooling": pooling or _pooling(paths[kinds.index("Pooling")] / "config.json"),
        "query_prefix": said.get("query") or "",
        "passage_prefix": said.get("passage") or said.get("document") or "",
        "similarity": "cosine" if "Normalize" in kinds else prompts.get("similarity_fn_name") or "cosine",
        "query_model": str(transformer),
        "passage_model": str(transformer),
    }
    facts["spans"] = "in context" if facts["pooling"] == "mean" else "alone"
    length = _read(transformer / _LENGTH).get("max_seq_length") if (transformer / _LENGTH).is_file() else None
    return {**facts, "window": min(length - _SPECIAL, _LONGEST)} if isinstance(length, int) else facts


def _kind(module: object, folder: Path) -> str:
    """Name a module: the last part of its type."""
    if not isinstance(module, dict) or not isinstance(module.get("type"), str):
        raise BadWeights(f"{folder / MODULES} is damaged: a module has no type. Fetch the model again.")
    return str(module["type"]).rsplit(".", 1)[-1]


def _inside(folder: Path, module: dict[str, Any]) -> Path:
    """Find the folder of a module, which must not lead out of the model's."""
    path = folder / str(module.get("path", ""))
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadWeights(f"{folder / MODULES} leads out of its folder, to {path}. Fetch the model again.")
    return path


def _pooling(path: Path) -> str:
    """Read which token states make the vector."""
    said = _read(path)
    modes = [
        key.removeprefix("pooling_mode_") for key, on in said.items() if key.startswith("pooling_mode_") and on is True
    ]
    if isinstance(said.get("pooling_mode"), str):
        modes.append(said["pooling_mode"])
    if len(modes) != 1 or modes[0] not in _POOLING:
        raise BadWeights(
            f"{path} pools by {' and '.join(modes) or 'nothing'}; what is done here is mean or cls. Take another "
            "model, or write an encoder card that says how it is used (docs/encoders.md)."
        )
    if said.get("include_prompt") is False:
        raise BadWeights(
            f"{path} leaves the prompt out of the mean, which is not done here. Take another model, or write an "
            "encoder card that says how it is used (docs/encoders.md)."
        )
    return _POOLING[modes[0]]


def _read(path: Path) -> Any:  # noqa: ANN401 - JSON
    """Read one of the files; all but the list of modules hold an object."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadWeights(f"{path} cannot be read ({error}). Fetch the model again.") from None
    if not isinstance(said, list if path.name == MODULES else dict):
        raise BadWeights(f"{path} does not hold what sentence-transformers writes there. Fetch the model again.")
    return said
