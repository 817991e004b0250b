"""Kinds of models, told by the files of their folder: how each is used, or why not.

A model that is not used as it was made still answers, only badly. So a kind whose vector or score is made by parts
that are not here is refused before any of it is read. What has none of these marks is read as a plain encoder, and
weights that this leaves unused are refused in turn (`check_leftover`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from relic_core.encoders.weights import CONFIG, WEIGHTS, settings_folder
from relic_core.errors import BadWeights
from relic_core.formats.files import record_of

MODULES = "modules.json"
COLBERT = "artifact.metadata"
PEFT = "adapter_config.json"
TOWERS = ("prefix_encoder", "suffix_encoder")
"""Folders of dense-RELiC as its authors save it."""

_HEADER = 8
_MOST_HEADER = 100_000_000


@dataclass(frozen=True)
class Seen:
    """What a folder's files say, as far as they can be read; what is wrong with them is said when they are loaded."""

    folder: Path

    def has(self, *names: str) -> bool:
        """Whether any file's name fits one of the patterns."""
        return any(next(self.folder.glob(name), None) for name in names)

    def json(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """Read a file; nothing where it cannot be read."""
        try:
            return json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}

    def table(self, name: str) -> Mapping[str, Any]:
        """Read a file of settings; empty where it cannot be read. Raises BadWeights: it is JSON of another kind."""
        content = self.json(name)
        if not isinstance(content, dict):
            raise BadWeights(f"{self.folder / name} must be a JSON object. Fetch the model again.")
        return content

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The model's configuration."""
        content = self.json(CONFIG)
        return content if isinstance(content, dict) else {}

    @cached_property
    def architecture(self) -> str:
        """The class whose weights they are."""
        names = self.config.get("architectures")
        return str(names[0]) if isinstance(names, list) and names else ""

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Kinds of the modules that sentence-transformers lists; none where there is no list."""
        content = self.json(MODULES)
        rows = content if isinstance(content, list) else []
        return tuple(str(row.get("type")).rsplit(".", 1)[-1] for row in rows if isinstance(row, dict))

    @cached_property
    def tensors(self) -> frozenset[str]:
        """Names of the weights: of their file's header alone."""
        try:
            with (self.folder / WEIGHTS).open("rb") as file:
                size = int.from_bytes(file.read(_HEADER), "little")
                return frozenset(record_of(dict[str, Any], file.read(min(size, _MOST_HEADER))))
        except (OSError, ValueError):
            return frozenset()


class Kind(NamedTuple):
    """A kind of model.

    - `files`: how it is recognised, for people.
    - `read`: as what it is read, and how; empty where it is not.
    - `refused`: why it is no encoder of whole texts, and what to do; empty where it is one.
    """

    name: str
    files: str
    fits: Callable[[Seen], bool]
    read: str = ""
    refused: str = ""


def _plain(seen: Seen) -> bool:
    """Whether nothing but the weights says how a model is used."""
    return not seen.modules and not seen.has(COLBERT)


def _splade(seen: Seen) -> bool:
    if "SpladePooling" in seen.modules:
        return True
    try:
        card = (seen.folder / "README.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    tags = re.match(r"---\n(.*?)\n---", card, re.DOTALL)
    return bool(_plain(seen) and tags and re.search(r"^\s*- splade\s*$", tags[1], re.MULTILINE | re.IGNORECASE))


AUTHORS = "dense-RELiC of its authors"
COLBERT_KIND = "ColBERT"
SPLADE = "SPLADE"

KINDS = (
    Kind(
        AUTHORS,
        "`prefix_encoder/` and `suffix_encoder/`",
        lambda seen: all((seen.folder / tower).is_dir() for tower in TOWERS),
        read="as an encoder of two towers: pooler, inner product, `<mask>`, claims of 256 tokens and passages of 98, "
        "each by itself",
    ),
    Kind(
        "SIM",
        "`*.pt` beside a sentencepiece `*.model`, no `config.json`",
        lambda seen: seen.has("*.pt") and seen.has("*.model") and not seen.has(CONFIG),
        refused="averages vectors of word pieces that are pickled, and loading a pickle can execute what somebody put "
        "there",
    ),
    Kind(
        "TART",
        "`EncT5ForSequenceClassification`",
        lambda seen: seen.architecture.startswith("EncT5"),
        refused="follows an instruction, and gives two logits through code of its own, which is never run here",
    ),
    Kind(
        "ANCE",
        "`embeddingHead.weight`, or `LayerNorm` in `modules.json`",
        lambda seen: "LayerNorm" in seen.modules or any(name.endswith("embeddingHead.weight") for name in seen.tensors),
        refused="puts a projection and a layer norm behind its first token, which are not read here; without them its "
        "vectors mean nothing",
    ),
    Kind(
        "SPECTER-2, its adapters",
        "`adapter_config.json` beside `pytorch_adapter.bin`, or a head's",
        lambda seen: seen.has("pytorch_adapter.bin", "head_config.json", "*/pytorch_adapter.bin"),
        refused="has adapters of the library adapters, which are not read here; without them its base is another model",
    ),
    Kind(
        "Adapters (PEFT)",
        "`adapter_config.json`, `adapter_model.safetensors`",
        lambda seen: seen.has(PEFT),
        read="as a reranker, `rankllama:FOLDER`, where they are RankLLaMA's: added to their base",
        refused="holds adapters of another model. Those of a RankLLaMA are named as a reranker, rankllama:FOLDER; of "
        "an encoder, save the model with its adapters merged",
    ),
    Kind(
        SPLADE,
        "`SpladePooling` in `modules.json`, or the tag `splade` of its model card",
        _splade,
        read="as the retriever `splade`, named by RELIC_SPARSE: term weights of the head for masked words",
        refused="weighs terms and makes no dense vector: name it in RELIC_SPARSE, and search with the retriever splade",
    ),
    Kind(
        COLBERT_KIND,
        "`linear.weight`, and `artifact.metadata` or an architecture `…ColBERT`",
        lambda seen: not seen.modules and (seen.has(COLBERT) or seen.architecture.endswith("ColBERT")),
        read="for late interaction, named by RELIC_LATE: projection, [Q] and [D], claims filled up with mask tokens, "
        "no punctuation",
    ),
    Kind(
        "A cross-encoder, RankLLaMA or classifier",
        "`…ForSequenceClassification`",
        lambda seen: _plain(seen) and seen.architecture.endswith("ForSequenceClassification"),
        read="as a reranker, where it has one logit: `cross:FOLDER`, or `rankllama:FOLDER` where it reads one way",
        refused="gives a score for a text and no vector. One that was trained to rank is named as a reranker, "
        "cross:FOLDER or rankllama:FOLDER",
    ),
    Kind(
        "MonoT5, BART and others that write",
        "`decoder.…` beside `encoder.…`",
        lambda seen: _plain(seen) and bool(seen.config.get("is_encoder_decoder")) and _decodes(seen.tensors),
        read="as a reranker: `t5:FOLDER` a MonoT5, `likelihood:FOLDER` any",
        refused="reads one text and writes another, and makes no vector. It is named as a reranker: t5:FOLDER a "
        "MonoT5, likelihood:FOLDER any other",
    ),
    Kind(
        "GTR, sentence-T5 and other T5 encoders",
        "`model_type` t5, no `decoder.…`",
        lambda seen: str(seen.config.get("model_type")).endswith("t5") and not _decodes(seen.tensors),
        read="as an encoder: the encoder half, pooled as `modules.json` or a card says, dense layers behind it",
    ),
)


def _decodes(tensors: Collection[str]) -> bool:
    return any(name.startswith(("decoder.", "model.decoder.")) for name in tensors)


def kind_of(folder: Path) -> Kind | None:
    """Tell the kind of a model; None of a plain encoder, or of what nothing is known of."""
    try:
        seen = Seen(settings_folder(folder))
        return next((kind for kind in KINDS if kind.fits(seen)), None)
    except (BadWeights, OSError):
        return None  # said when it is loaded


def check_encoder(folder: Path) -> Kind | None:
    """Tell the kind of a model that is to be an encoder. Raises BadWeights: it is one that cannot be."""
    kind = kind_of(folder)
    if kind and kind.refused:
        raise BadWeights(
            f"The model in {folder} is no encoder of this program ({kind.name}): it {kind.refused}. {_SEE}"
        )
    return kind


def check_leftover(folder: Path, unused: Collection[str]) -> None:
    """Refuse weights that nothing reads, unless they are heads for other tasks than making vectors."""
    strange = sorted(name for name in unused if not _HEADS.search(name))
    if strange:
        raise BadWeights(
            f"The weights in {folder} hold {len(strange)} part(s) that are not used here, the first being "
            f"{strange[0]}: the model is of a kind that is not known, and half of it would make other vectors. {_SEE}"
        )


_SEE = "What is read, and how, is in docs/encoders.md."
_HEADS = re.compile(
    r"^(cls|lm_head|lm_loss|mlm_head|(mask_|lm_)?predictions|vocab_\w+|generator_\w+|discriminator_\w+|qa_outputs|"
    r"(sop_)?classifier|score|head|decoder|linear|embeddingHead|norm|pooler|gates)\b|position_ids$|inv_freq$|masked_bias$|attn\.bias$"
)
