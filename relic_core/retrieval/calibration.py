"""The file of a calibration, beside the weights it belongs to; `train --calibrate` writes it.

Models that come with the program have one, and so has all-MiniLM-L6-v2, which lies elsewhere. These hold for a copy of
the same files in another folder, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path

from relic_core.config import ASSETS
from relic_core.domain.calibration import Calibration
from relic_core.encoders.cards import CARD
from relic_core.errors import BadBenchmark, BadWeights
from relic_core.formats.envelope import Envelope
from relic_core.formats.files import checked, write_whole
from relic_core.installed import COMMAND
from relic_core.ports import Retriever

FILE = "calibration.json"

_FORMAT = Envelope("calibration", 1, ("model", "strength", "joined", "fusion"), {})


def model_of(encoder_identity: str) -> str:
    """Take the digest of the model out of the identity of an encoder; empty where there is none.

    >>> model_of("some/model/0123456789ab/float32/mean")
    '0123456789ab'
    """
    found = re.search(r"/([0-9a-f]{12})/", encoder_identity)
    return found[1] if found else ""


def of(retrievers: Iterable[Retriever]) -> Calibration | None:
    """Give the first calibration of some retrievers: that of the one with an encoder."""
    return next((found for each in retrievers if (found := each.calibration)), None)


def find(model: str, encoder_identity: str) -> Calibration | None:
    """Find what is known of an encoder, whose model is a folder or a card in one, a hub name, or empty.

    Raises BadWeights: the file beside the model is damaged, or was written for another model.
    """
    found = beside(model)
    if found is None:
        return _shipped().get(model_of(encoder_identity))
    if found.model != model_of(encoder_identity):
        raise _unusable(_path(model), "it was written for other weights, or another card")
    return found


def beside(model: str) -> Calibration | None:
    """Read the file beside a model, named as for `find`; None where there is none. Raises BadWeights: it is damaged."""
    path = _path(model)
    return _read(path, path.stat().st_mtime_ns) if model and path.is_file() else None


def _path(model: str) -> Path:
    path = Path(model).expanduser()
    return (path.parent if path.name == CARD else path) / FILE


def write(folder: Path, calibration: Calibration) -> Path:
    """Write a calibration beside its model, and say where."""
    path = folder / FILE
    write_whole(path, _FORMAT.write(asdict(calibration)))
    return path


def model_named(configuration: Mapping[str, str]) -> str:
    """Name the encoder, of those that come with the program, that scores go by: "small" or "larger"; else nothing.

    >>> model_named({"dense-relic encoder": "another/0123456789ab/float32", "k1": "0.5"})
    ''
    """
    digests = {model_of(value) for name, value in configuration.items() if name.endswith("encoder")}
    return next((name for digest, name in _packaged().items() if digest in digests), "")


@cache
def _packaged() -> Mapping[str, str]:
    folders = {"dense-relic": "small", "dense-relic-large": "larger"}
    return {_read(ASSETS / "weights" / folder / FILE, 0).model: name for folder, name in folders.items()}


@cache
def _shipped() -> Mapping[str, Calibration]:
    every = [_read(path, 0) for path in (ASSETS / "weights").glob(f"*/{FILE}")]
    return {each.model: each for each in every}


@lru_cache(maxsize=16)
def _read(path: Path, _stamp: int) -> Calibration:
    try:
        return checked(Calibration, _FORMAT.read(path.read_bytes(), str(path)), str(path))
    except (OSError, BadBenchmark):
        raise _unusable(path, "it is damaged, or was changed by hand") from None


def _unusable(path: Path, why: str) -> BadWeights:
    return BadWeights(
        f"The calibration {path} cannot be used: {why}. If the model came with the program, install the program "
        f"again. Else write the file anew ({COMMAND} train --calibrate {path.parent}), or remove it: the "
        "model then answers without levels."
    )
