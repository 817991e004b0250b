"""Encoder cards: how a model's states become the vector of a claim and of a passage.

Weights alone do not say it, and a model that is used otherwise than it was trained scores badly without a word of
warning. A card comes, in this order, from

1. a JSON file that is named in the place of a model, or the file ``encoder.json`` in the folder that is named;
2. the name of a well-known family (`relic_core.encoders.families`);
3. the files that sentence-transformers writes (`relic_core.encoders.sentence_transformers_files`), and of DPR, which
   has none, the model's type;
4. the default: the mean of the tokens' states, compared by cosine, every span read in its context.

A JSON file need say only what differs from 2 to 4 for the model that it names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from relic_core.encoders.families import family_facts
from relic_core.encoders.sentence_transformers_files import facts_of_folder
from relic_core.encoders.weights import CONFIG, DEFAULT_NAME, NAMED_BY, model_folder, settings_folder
from relic_core.errors import BadWeights

Pooling = Literal["mean", "first", "pooler"]
Similarity = Literal["cosine", "dot"]
Spans = Literal["in context", "alone"]

CARD = "encoder.json"
WINDOW = 254
"""Tokens that go through a model together, special tokens apart: all-MiniLM-L6-v2 was trained on 256."""

LEAST_WINDOW = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderCard:
    """How an encoder is used.

    - `query_model`, `passage_model`: where the towers are: a folder, or the hub name of a model in the local cache;
      empty for the packaged all-MiniLM-L6-v2. The same for an encoder of one tower.
    - `pooling`: the vector of a text: the mean of its tokens' states, special tokens included; the state of its first
      token (``[CLS]``, ``<s>``); or what the model's own pooler makes of that.
    - `query_prefix`, `passage_prefix`: what is put before every claim and every passage, to the letter, the space at
      the end included.
    - `similarity`: how a claim's vector is compared with a passage's.
    - `spans`: whether a work is read in stretches and a span pooled from its own tokens, which have seen what stands
      around it, or every span is read by itself. Only a mean can be taken in context.
    - `window`: the most tokens that go through the model together, the prefix included, special tokens apart.
    - `mask`: what stands in a claim where the quotation was masked: the mask token that the model was trained with
      (``[MASK]``, ``<mask>``); empty for encoders that read both sides as one text.
    - `claim_windows`: tokens to each of which a claim is cut, those nearest to the mask being kept; its vector is the
      sum of the vectors of all cuts. A critic's nearest words tell most of what he quotes, and the mean of a page hides
      them. Empty where a claim is read once, as far as `window`.
    - `digest`: of the files of both models, as `pair_digest` gives it: what is not as it was when the card was written
      is refused. Empty where nothing is known of them.

    Raises BadWeights: a value is none of the allowed ones, or two do not go together.
    """

    name: str
    query_model: str = ""
    passage_model: str = ""
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    similarity: Similarity = "cosine"
    spans: Spans = "in context"
    window: int = WINDOW
    mask: str = ""
    claim_windows: tuple[int, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        """Check the values."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in {"window", "claim_windows"} and not isinstance(value, str):
                self._refuse(field.name, "a text in quotation marks")
        if not self.name.strip():
            self._refuse("name", "a name")
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                self._refuse(name, " or ".join(f'"{value}"' for value in allowed))
        if type(self.window) is not int or self.window < LEAST_WINDOW:
            self._refuse("window", f"a whole number of tokens, {LEAST_WINDOW} or more")
        if not isinstance(self.claim_windows, tuple) or not all(
            type(each) is int and LEAST_WINDOW <= each <= self.window for each in self.claim_windows
        ):
            self._refuse("claim_windows", f"a list of whole numbers of tokens, {LEAST_WINDOW} to {self.window}")
        if self.spans == "in context" and self.pooling != "mean":
            raise BadWeights(
                f'The encoder card of {self.name} says "pooling": "{self.pooling}" and "spans": "in context". A '
                "stretch read in context has one first token for many spans, so only a mean can be taken there. Write "
                '"spans": "alone" (each span is read by itself, slower), or "pooling": "mean".'
            )

    def _refuse(self, name: str, allowed: str) -> None:
        given = json.dumps(getattr(self, name), ensure_ascii=False, default=str)
        raise BadWeights(f'The encoder card of {self.name} says "{name}": {given}; it must be {allowed}.')

    @property
    def facts(self) -> dict[str, str | int | tuple[int, ...]]:
        """What decides the vectors beside the models' files; what came later is left out where it is not used."""
        apart = {"name", "query_model", "passage_model", "digest"}
        apart |= {name for name in ("mask", "claim_windows") if not getattr(self, name)}
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in apart}


_ALLOWED = {"pooling": get_args(Pooling), "similarity": get_args(Similarity), "spans": get_args(Spans)}
_KEYS = ("model", *(field.name for field in fields(EncoderCard)))


def read_card(model: str = "") -> EncoderCard:
    """Find out how a model is used.

    - `model`: empty for the packaged all-MiniLM-L6-v2; a JSON file; a folder; or the hub name of a model in the local
      Hugging Face cache.

    Raises BadWeights: there is no such model, or what is said of it cannot be followed.

    >>> card = read_card()
    >>> card.name, card.pooling, card.similarity, card.spans
    ('all-MiniLM-L6-v2', 'mean', 'cosine', 'in context')
    """
    if model.endswith(".json"):
        path = Path(model).expanduser()
        return _read_file(path, name=path.stem)
    if model and not _known(model):
        folder = model_folder(model)
        if (folder / CARD).is_file():
            return _read_file(folder / CARD, name=_name(model, folder))
    return EncoderCard(**_facts_of_model(model))


def _known(model: str) -> dict[str, Any]:
    """Say what the family of a model tells; a folder has none, whatever it is called."""
    return {} if Path(model).expanduser().is_dir() else family_facts(model)


def _facts_of_model(model: str, pooling: str | None = None) -> dict[str, Any]:
    """Say of a model what its name and its files tell; where the pooling is said elsewhere, theirs is not asked for."""
    if not model:
        return {"name": DEFAULT_NAME}
    named = {"name": model, "query_model": model, "passage_model": model}
    known = _known(model)
    if known:
        return {**named, **known}
    folder = model_folder(model)
    named["name"] = _name(model, folder)
    found = facts_of_folder(folder, pooling)
    if found:
        return {**named, **found}
    if _model_type(folder) == "dpr":
        return {**named, "pooling": "first", "similarity": "dot", "spans": "alone"}
    return named


def _name(model: str, folder: Path) -> str:
    return folder.resolve().name if Path(model).expanduser().is_dir() else model


def _model_type(folder: Path) -> str:
    settings = settings_folder(folder) / CONFIG
    try:
        return str(json.loads(settings.read_text(encoding="utf-8")).get("model_type", ""))
    except (OSError, ValueError, AttributeError):
        return ""  # what is wrong with the file is said when the model is loaded


def _read_file(path: Path, *, name: str) -> EncoderCard:
    """Read a card from a JSON file; what it leaves out is as of the model that it names, or lies beside."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadWeights(
            f"There is no encoder card '{path}'. Give the path of one (docs/encoders.md), a folder with a model, or "
            f"nothing. {NAMED_BY}"
        ) from None
    except (OSError, ValueError) as error:
        raise BadWeights(
            f"The encoder card {path} cannot be read as JSON ({error}). Mend it, or write it anew."
        ) from None
    if not isinstance(given, dict):
        raise BadWeights(f"The encoder card {path} must be one JSON object, {{...}}, with the keys {', '.join(_KEYS)}.")
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise BadWeights(f"The encoder card {path} says '{unknown[0]}', which no card does. Known: {', '.join(_KEYS)}.")
    if "model" in given and ("query_model" in given or "passage_model" in given):
        raise BadWeights(
            f"The encoder card {path} names a model and a query_model or passage_model. Name one model for claims and "
            "passages alike, or one for each."
        )
    towers = _towers(given, path)
    model = towers.get("passage_model", str(path.parent))
    facts = {**_facts_of_model(model, given.get("pooling")), "name": name, **towers}
    facts.update({key: value for key, value in given.items() if key not in {"model", *towers}})
    if isinstance(facts.get("claim_windows"), list):
        facts["claim_windows"] = tuple(facts["claim_windows"])
    if "pooling" in given and "spans" not in given and given["pooling"] != "mean":
        facts["spans"] = "alone"
    return EncoderCard(**facts)


def _towers(given: dict[str, Any], path: Path) -> dict[str, str]:
    """Find the models that a card names; a folder may be named as seen from the card's own."""
    towers = {}
    for key in ("query_model", "passage_model"):
        said = given.get(key, given.get("model"))
        if said is None:
            continue
        if not isinstance(said, str):
            raise BadWeights(
                f'The encoder card {path} says "{key}": {said}; it must be a folder or a hub name in quotes.'
            )
        beside = path.parent / Path(said).expanduser()
        towers[key] = str(beside) if said and beside.is_dir() else said
    if len(towers) == 1:
        raise BadWeights(
            f"The encoder card {path} names a {next(iter(towers))} and no other. Name query_model and passage_model, "
            "or one model for both."
        )
    return towers
