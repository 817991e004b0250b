"""Compact models: what was learnt, in half the precision, to be laid over a base that is found by its name.

Where a training leaves the embeddings as they were, half of all-MiniLM-L6-v2 is the base's own, and of a larger
vocabulary more. So a compact model's folder holds two files: ``layers.safetensors`` with the tensors that differ from
the base's, and ``layers.json``, which says what they lie over and how both are known again. Configuration and tokenizer
are the base's.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

from relic_core.errors import BadWeights

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = "layers.safetensors"
LAYERS_CARD = "layers.json"
VERSION = "layers/1"

LayersPrecision = Literal["float16", "float16 and float32"]

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayersCard:
    """What is known of the layers of a compact model.

    - `base`: what they lie over: a hub name, or nothing for the packaged all-MiniLM-L6-v2.
    - `base_digest`: of that model, as of `ModelFiles`.
    - `sha256`: of `LAYERS`.
    - `precision`: of its tensors; in float32 are those with a number that float16 has no room for.
    """

    base: str
    base_digest: str
    sha256: str
    precision: LayersPrecision
    version: str = VERSION

    def to_json(self) -> dict[str, str]:
        """Write it as a JSON object."""
        return asdict(self)


def read_layers_card(path: Path) -> LayersCard:
    """Read the card of a compact model.

    Raises BadWeights: it is not there, is damaged, or is of another version of the format.
    """
    again = "Copy the folder again from where the model was trained, or train it anew."
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadWeights(f"The compact model in {path.parent} lacks {path.name}. {again}") from None
    except (OSError, ValueError) as error:
        raise BadWeights(f"{path} cannot be read as JSON ({error}). {again}") from None
    version = given.get("version") if isinstance(given, dict) else None
    if version != VERSION:
        raise BadWeights(
            f"{path} is no card of a compact model that this program reads: its version is {json.dumps(version)}, and "
            f'"{VERSION}" is read. Where a newer program wrote it, take that one; else it is damaged. {again}'
        )
    known = [field.name for field in fields(LayersCard)]
    unlike = sorted(set(known).symmetric_difference(given))
    if unlike:
        raise BadWeights(f"{path} is damaged: '{unlike[0]}' is missing or no key of it ({', '.join(known)}). {again}")
    for key in known:
        said = given[key]
        if not isinstance(said, str) or (key in {"sha256", "base_digest"} and not _DIGEST.fullmatch(said)):
            raise BadWeights(f'{path} is damaged: its "{key}" is {json.dumps(said)}. {again}')
    if given["precision"] not in get_args(LayersPrecision):
        allowed = " or ".join(f'"{each}"' for each in get_args(LayersPrecision))
        raise BadWeights(
            f'{path} is damaged: its "precision" is {json.dumps(given["precision"])}; it must be {allowed}. {again}'
        )
    return LayersCard(**given)
