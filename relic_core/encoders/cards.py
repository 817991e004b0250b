"""Cards: how the states of a model become the vector of a claim and of a passage, or the score of the two together.

Weights alone do not say it, and a model that is used otherwise than it was trained scores badly without a warning. An
encoder's card comes, in this order, from

1. a JSON file named in the place of a model, or the file ``encoder.json`` in the folder that is named;
2. the name of a well-known family (`family_facts`);
3. the files that sentence-transformers writes (`facts_of_folder`; only read, nothing of it is imported); of a
   ColBERT and of RELiC's own checkpoints theirs; of DPR, which has none, the model's type. What by its files is of a
   kind that is not read is refused (`kinds`);
4. the default: the mean of the tokens' states, compared by cosine, every span read in its context.

A JSON file need say only what differs from 2 to 4 for the model that it names.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from relic_core.encoders.kinds import (
    AUTHORS,
    COLBERT,
    COLBERT_KIND,
    MODULES,
    TOWERS,
    Seen,
    check_encoder,
)
from relic_core.encoders.weights import (
    CONFIG,
    DEFAULT_NAME,
    EXPECTED,
    NAMED_BY,
    ModelFiles,
    find_model,
    model_folder,
    settings_folder,
)
from relic_core.errors import BadWeights
from relic_core.formats.files import record_in

Pooling = Literal["mean", "first", "last", "pooler"]
Similarity = Literal["cosine", "dot"]
Spans = Literal["in context", "alone"]
Scoring = Literal["pooled", "late"]

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
      token (``[CLS]``, ``<s>``), or what the model's own pooler makes of that; or the state of its last token.
    - `query_prefix`, `passage_prefix`: what is put before every claim and every passage, to the letter, the space at
      the end included.
    - `similarity`: how a claim's vector is compared with a passage's.
    - `spans`: whether a work is read in stretches and a span pooled from its own tokens, which have seen what stands
      around it, or every span is read by itself. Only a mean can be taken in context.
    - `window`: the most tokens that go through the model together, the prefix included, special tokens apart.
    - `mask`: what a claim has where the quotation was masked: the mask token that the model was trained with
      (``[MASK]``, ``<mask>``); empty for encoders that read both sides as one text.
    - `claim_windows`: tokens to each of which a claim is cut, those nearest to the mask being kept; its vector is the
      sum of the vectors of all cuts. A critic's nearest words tell most of what he quotes, and the mean of a page hides
      them. Empty where a claim is read once, as far as `window`.
    - `digest`: of what both models learnt, as `encoder_digest` gives it: what is not as when the card was written
      is refused. Empty where nothing is known of them.
    - `dense`: folders of the dense layers behind the pooling, as sentence-transformers has them; of an encoder for late
      interaction those that every token's state goes through.
    - `learnt`: what of RELiC's own data it was trained on ("RELiC's train split"): it is not measured on those works.
    - `scoring`: "pooled": one vector of the claim with one of the passage. "late": each token of the claim with that of
      the passage which is nearest to it (`retrieval.late`).
    - `skip`: tokens of a passage that late interaction passes over: punctuation.
    - `passage_window`: the same as `window` of a passage read alone, where that is less.
    - `expansion`: tokens to which a claim is filled up with mask tokens for late interaction; `attended`: whether its
      own tokens see those.

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
    dense: tuple[str, ...] = ()
    learnt: str = ""
    scoring: Scoring = "pooled"
    skip: tuple[str, ...] = ()
    passage_window: int = 0
    expansion: int = 0
    attended: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not str(field.type).startswith(("int", "bool", "tuple")) and not isinstance(value, str):
                _refuse(self, field.name, "a text in quotation marks")
        if not self.name.strip():
            _refuse(self, "name", "a name")
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                _refuse(self, name, " or ".join(f'"{value}"' for value in allowed))
        if type(self.window) is not int or self.window < LEAST_WINDOW:
            _refuse(self, "window", f"a whole number of tokens, {LEAST_WINDOW} or more")
        if type(self.passage_window) is not int or not (
            not self.passage_window or LEAST_WINDOW <= self.passage_window <= self.window
        ):
            _refuse(self, "passage_window", f"a whole number of tokens, {LEAST_WINDOW} to {self.window}")
        if not isinstance(self.claim_windows, tuple) or not all(
            type(each) is int and LEAST_WINDOW <= each <= self.window for each in self.claim_windows
        ):
            _refuse(self, "claim_windows", f"a list of whole numbers of tokens, {LEAST_WINDOW} to {self.window}")
        if self.scoring == "late" and self.spans == "alone":
            _refuse(self, "spans", '"in context" where scoring is "late"')
        if self.dense and self.spans == "in context" and self.scoring == "pooled":
            _refuse(self, "spans", '"alone" where dense layers follow the pooling')
        if self.spans == "in context" and self.pooling != "mean":
            raise BadWeights(
                f'The encoder card of {self.name} says "pooling": "{self.pooling}" and "spans": "in context". A '
                "stretch read in context has one first token, and one last, for many spans, so only a mean can be "
                'taken there. Write "spans": "alone" (each span is read by itself, slower), or "pooling": "mean".'
            )

    def check_pooled(self) -> None:
        """Refuse an encoder for late interaction where one vector of a text is wanted."""
        if self.scoring == "late":
            raise BadWeights(
                f"{self.name} compares single tokens, and gives no vector of a whole claim or passage. Name it in "
                "RELIC_LATE, for the column Late interaction, and another encoder here."
            )

    @property
    def facts(self) -> dict[str, str | int | tuple[int, ...] | tuple[str, ...]]:
        """What decides the vectors beside the models' files; what came later is left out where it is not used."""
        apart = {"name", "query_model", "passage_model", "digest", "dense", "learnt", "expansion", "attended"}
        apart |= {name for name in ("mask", "claim_windows", "skip", "passage_window") if not getattr(self, name)}
        apart |= {"scoring"} if self.scoring == "pooled" else set()
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in apart}


_ALLOWED = {
    "pooling": get_args(Pooling), "similarity": get_args(Similarity), "spans": get_args(Spans),
    "scoring": get_args(Scoring),
}  # fmt: skip
_FROM_FILES = {"dense", "skip", "expansion", "attended"}
_KEYS = ("model", *(field.name for field in fields(EncoderCard) if field.name not in _FROM_FILES))


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


def _facts_of_model(model: str, pooling: str | None = None, scoring: str | None = None) -> dict[str, Any]:
    """Say of a model what its name and its files tell; `pooling`, `scoring`: as of `facts_of_folder`."""
    if not model:
        return {"name": DEFAULT_NAME}
    named = {"name": model, "query_model": model, "passage_model": model}
    known = _known(model)
    if known:
        return {**named, **known}
    folder = model_folder(model)
    named["name"] = _name(model, folder)
    kind = check_encoder(folder) if pooling is None else None
    if kind and kind.name == AUTHORS:
        found = _facts_of_authors(folder)
    elif kind and kind.name == COLBERT_KIND and scoring != "pooled":
        found = _facts_of_colbert(folder)
    else:
        found = facts_of_folder(folder, pooling, scoring)
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
        return str(record_in(dict[str, Any], settings).get("model_type", ""))
    except (OSError, ValueError):
        return ""  # what is wrong with the file is said when the model is loaded


def _read_file(path: Path, *, name: str) -> EncoderCard:
    """Read a card from a JSON file; what it leaves out is as of the model that it names, or lies beside."""
    given = _read_object(
        path,
        "encoder card",
        _KEYS,
        missing=f"There is no encoder card '{path}'. Give the path of one (docs/encoders.md), a folder with a model, "
        f"or nothing. {NAMED_BY}",
        again="Mend it, or write it anew.",
    )
    if "model" in given and ("query_model" in given or "passage_model" in given):
        raise BadWeights(
            f"The encoder card {path} names a model and a query_model or passage_model. Name one model for claims and "
            "passages alike, or one for each."
        )
    towers = _towers(given, path)
    model = towers.get("passage_model", str(path.parent))
    facts = {**_facts_of_model(model, given.get("pooling"), given.get("scoring")), "name": name, **towers}
    facts.update({key: value for key, value in given.items() if key not in {"model", *towers}})
    if isinstance(facts.get("claim_windows"), list):
        facts["claim_windows"] = tuple(facts["claim_windows"])
    elif "claim_windows" not in given and isinstance(window := given.get("window"), int):
        facts["claim_windows"] = tuple(min(each, window) for each in facts.get("claim_windows", ()))
    if "pooling" in given and "spans" not in given and given["pooling"] != "mean":
        facts["spans"] = "alone"
    return EncoderCard(**facts)


def _read_object(path: Path, what: str, keys: Sequence[str], *, missing: str, again: str) -> dict[str, Any]:
    """Read the JSON object of a card, with some of its keys; `missing` and `again` are said where it cannot be read."""
    try:
        given = record_in(object, path)
    except FileNotFoundError:
        raise BadWeights(missing) from None
    except (OSError, ValueError) as error:
        raise BadWeights(f"The {what} {path} cannot be read as JSON ({error}). {again}") from None
    if not isinstance(given, dict):
        raise BadWeights(f"The {what} {path} must be one JSON object, {{...}}, with the keys {', '.join(keys)}.")
    unknown = [key for key in given if key not in keys]
    if unknown:
        raise BadWeights(
            f"The {what} {path} says '{unknown[0]}', which no card does. Known: {', '.join(keys)}. {again}"
        )
    return given


def _towers(given: dict[str, Any], path: Path) -> dict[str, str]:
    """Find the models that a card names; a folder may be named as seen from the card's own."""
    towers = {}
    for key in ("query_model", "passage_model"):
        model = given.get(key, given.get("model"))
        if model is None:
            continue
        if not isinstance(model, str):
            raise BadWeights(
                f'The encoder card {path} says "{key}": {model}; it must be a folder or a hub name in quotes.'
            )
        beside = path.parent / Path(model).expanduser()
        towers[key] = str(beside) if model and beside.is_dir() else model
    if len(towers) == 1:
        raise BadWeights(
            f"The encoder card {path} names a {next(iter(towers))} and no other. Name query_model and passage_model, "
            "or one model for both."
        )
    return towers


_BERT_WINDOW = 254
_LONG_WINDOW = 510
"""Tokens, two special ones apart."""

_FIRST_DOT: dict[str, Any] = {"pooling": "first", "similarity": "dot", "spans": "alone"}

_FAMILIES: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        (
            r"facebook/dpr-(?:question|ctx)_encoder-(?P<trained_on>[\w-]+)",
            {
                **_FIRST_DOT,
                "window": _BERT_WINDOW,
                "query_model": "facebook/dpr-question_encoder-{trained_on}",
                "passage_model": "facebook/dpr-ctx_encoder-{trained_on}",
            },
        ),
        (r"princeton-nlp/sup-simcse-[\w-]+", {"pooling": "pooler", "spans": "alone", "window": _LONG_WINDOW}),
        (r"princeton-nlp/unsup-simcse-[\w-]+", {"pooling": "first", "spans": "alone", "window": _LONG_WINDOW}),
        (
            r"intfloat/(?:multilingual-)?e5-(?:small|base|large)(?:-v2)?",
            {"query_prefix": "query: ", "passage_prefix": "passage: ", "window": _LONG_WINDOW},
        ),
        (r"(?:FacebookAI/)?(?:xlm-)?roberta-(?:base|large)", {**_FIRST_DOT, "window": _LONG_WINDOW}),
    )
)


def family_facts(model: str) -> dict[str, Any]:
    """Say in values of an `EncoderCard` how a model of a known family is used; empty for one of none.

    >>> family_facts("facebook/dpr-ctx_encoder-multiset-base")["query_model"]
    'facebook/dpr-question_encoder-multiset-base'
    >>> family_facts("intfloat/e5-small-v2")["query_prefix"]
    'query: '
    >>> family_facts("somebody/something")
    {}
    """
    for pattern, facts in _FAMILIES:
        match = pattern.fullmatch(model)
        if match:
            named = {name: facts[name].format(**match.groupdict()) for name in facts if name.endswith("_model")}
            return {**facts, **named}
    return {}


_PROMPTS = "config_sentence_transformers.json"
_LENGTH = "sentence_bert_config.json"
_POOLING = {
    "mean": "mean", "mean_tokens": "mean", "cls": "first", "cls_token": "first", "lasttoken": "last",
}  # fmt: skip
_SPECIAL = 2
"""Tokens that a tokenizer adds, and that sentence-transformers counts."""
_LONGEST = 510
"""Tokens read together at most, however many a model takes: a longer stretch costs more and gains nothing here."""


_READ = re.compile("Transformer Pooling( Dense)*( Normalize)?")
_READ_LATE = re.compile("Transformer( Dense)+( Normalize)?")
_LATE_LENGTHS = {"query_length": 32, "document_length": 180}
"""Tokens that PyLate reads where a folder does not say how many."""


def facts_of_folder(folder: Path, pooling: str | None = None, scoring: str | None = None) -> dict[str, Any]:
    """Say in values of an `EncoderCard` how a folder that sentence-transformers wrote is used; empty for another.

    - `pooling`: pooling that is said elsewhere: then the modules may be any.
    - `scoring`: said elsewhere, too; a folder of PyLate is for late interaction where neither says otherwise.
    """
    if not (folder / MODULES).is_file():
        return {}
    modules = _read(folder / MODULES)
    kinds = [_kind(module, folder) for module in modules]
    paths = [_inside(folder, module) for module in modules]
    prompts = _read(folder / _PROMPTS) if (folder / _PROMPTS).is_file() else {}
    if prompts.get("similarity_fn_name") == "MaxSim":
        if (scoring or ("late" if pooling is None else "pooled")) == "late":
            return _facts_of_late(folder, kinds, paths, prompts)
        pooling, prompts = pooling or "mean", {**prompts, "similarity_fn_name": "cosine"}
    if pooling is None and not _READ.fullmatch(" ".join(kinds)):
        raise BadWeights(
            f"{folder / MODULES} lists {', '.join(kinds) or 'nothing'}; what is read here is Transformer, Pooling, any "
            "Dense and, at the end, Normalize. Take another model, or write an encoder card that says how it is used "
            "(docs/encoders.md)."
        )
    transformer = paths[kinds.index("Transformer")] if "Transformer" in kinds else folder
    texts = prompts.get("prompts") or {}
    default = texts.get(prompts.get("default_prompt_name") or "") or ""
    facts = {
        "pooling": pooling or _pooling(paths[kinds.index("Pooling")] / "config.json"),
        "query_prefix": texts.get("query") or default,
        "passage_prefix": texts.get("passage") or texts.get("document") or default,
        "similarity": "cosine" if "Normalize" in kinds else prompts.get("similarity_fn_name") or "cosine",
        "query_model": str(transformer),
        "passage_model": str(transformer),
    }
    if pooling is None and (dense := [str(path) for path, kind in zip(paths, kinds, strict=True) if kind == "Dense"]):
        facts["dense"] = tuple(dense)
    facts["spans"] = "alone" if "dense" in facts or facts["pooling"] != "mean" else "in context"
    length = _read(transformer / _LENGTH).get("max_seq_length") if (transformer / _LENGTH).is_file() else None
    return {**facts, "window": min(length - _SPECIAL, _LONGEST)} if isinstance(length, int) else facts


def _facts_of_late(
    folder: Path, kinds: Sequence[str], paths: Sequence[Path], prompts: Mapping[str, Any]
) -> dict[str, Any]:
    """Say how a folder that PyLate wrote is used: its tokens go through a projection, and are compared one by one."""
    if not _READ_LATE.fullmatch(" ".join(kinds)):
        raise BadWeights(
            f"{folder / MODULES} lists {', '.join(kinds) or 'nothing'}; a model for late interaction (MaxSim) has a "
            "Transformer and, after it, the projection of its tokens, a Dense. Fetch the model again, or take another."
        )
    lengths = {name: prompts.get(name) or default for name, default in _LATE_LENGTHS.items()}
    skip = prompts.get("skiplist_words") or []
    if not all(type(each) is int for each in lengths.values()) or not isinstance(skip, list):
        raise BadWeights(f"{folder / _PROMPTS} does not hold what PyLate writes there. Fetch the model again.")
    window = min(lengths["document_length"] - _SPECIAL, _LONGEST)
    return {
        "scoring": "late",
        "query_prefix": prompts.get("query_prefix") or "",
        "passage_prefix": prompts.get("document_prefix") or "",
        "query_model": str(paths[0]),
        "passage_model": str(paths[0]),
        "dense": tuple(str(path) for path, kind in zip(paths, kinds, strict=True) if kind == "Dense"),
        "skip": tuple(map(str, skip)),
        "window": window,
        "claim_windows": (min(lengths["query_length"] - _SPECIAL, window),),
        "expansion": lengths["query_length"] if prompts.get("do_query_expansion", True) else 0,
        "attended": prompts.get("attend_to_expansion_tokens") is True,
    }


def _facts_of_colbert(folder: Path) -> dict[str, Any]:
    """Say how a ColBERT as its authors write it is used (Khattab and Zaharia 2020): projection beside the model."""
    settings = Seen(folder).json(COLBERT) or {}
    try:
        query, document = (int(settings.get(name, default)) for name, default in _COLBERT_LENGTHS.items())
    except (TypeError, ValueError, AttributeError):
        raise BadWeights(
            f"{folder / COLBERT} does not hold what ColBERT writes there. Fetch the model again."
        ) from None
    window = min(document - _SPECIAL, _LONGEST)
    return {
        "scoring": "late",
        "query_prefix": str(settings.get("query_token_id", "[unused0]")),
        "passage_prefix": str(settings.get("doc_token_id", "[unused1]")),
        "dense": (str(folder),),
        "skip": tuple(string.punctuation) if settings.get("mask_punctuation", True) else (),
        "window": window,
        "claim_windows": (min(query - _SPECIAL, window),),
        "expansion": query,
        "attended": settings.get("attend_to_mask_tokens") is True,
    }


_COLBERT_LENGTHS = {"query_maxlen": 32, "doc_maxlen": 180}


def _facts_of_authors(folder: Path) -> dict[str, Any]:
    """Say how dense-RELiC is used as its authors save it: what their code does with it."""
    towers = [folder / tower for tower in TOWERS]
    if not all((tower / name).is_file() for tower, name in product(towers, EXPECTED)):
        raise BadWeights(
            f"{folder} holds dense-RELiC as its authors save it, in {' and '.join(TOWERS)}. Convert it once, so that "
            f"each of the two has {', '.join(EXPECTED)} (docs/encoders.md, What a model must be)."
        )
    return {
        "query_model": str(towers[0]),
        "passage_model": str(towers[1]),
        "pooling": "pooler",
        "similarity": "dot",
        "spans": "alone",
        "window": 256 - _SPECIAL,
        "passage_window": 98 - _SPECIAL,
        "mask": "<mask>",
    }


def _kind(module: object, folder: Path) -> str:
    if not isinstance(module, dict) or not isinstance(module.get("type"), str):
        raise BadWeights(f"{folder / MODULES} is damaged: a module has no type. Fetch the model again.")
    return str(module["type"]).rsplit(".", 1)[-1]


def _inside(folder: Path, module: dict[str, Any]) -> Path:
    """Find the folder of a module, which must not lead out of the model's."""
    path = folder / str(module.get("path", ""))
    if "\0" in str(path) or not path.resolve().is_relative_to(folder.resolve()):
        raise BadWeights(f"{folder / MODULES} leads out of its folder, to {path}. Fetch the model again.")
    return path


def _pooling(path: Path) -> str:
    facts = _read(path)
    modes = [
        key.removeprefix("pooling_mode_") for key, on in facts.items() if key.startswith("pooling_mode_") and on is True
    ]
    if isinstance(facts.get("pooling_mode"), str):
        modes.append(facts["pooling_mode"])
    if len(modes) != 1 or modes[0] not in _POOLING:
        raise BadWeights(
            f"{path} pools by {' and '.join(modes) or 'nothing'}; what is done here is mean, cls or lasttoken. Take "
            "another model, or write an encoder card that says how it is used (docs/encoders.md)."
        )
    if facts.get("include_prompt") is False:
        raise BadWeights(
            f"{path} leaves the prompt out of the mean, which is not done here. Take another model, or write an "
            "encoder card that says how it is used (docs/encoders.md)."
        )
    return _POOLING[modes[0]]


def _read(path: Path) -> Any:  # noqa: ANN401 - JSON
    """Read one of the files; all but the list of modules hold an object."""
    try:
        content = record_in(object, path)
    except (OSError, ValueError) as error:
        raise BadWeights(f"{path} cannot be read ({error}). Fetch the model again.") from None
    if not isinstance(content, list if path.name == MODULES else dict):
        raise BadWeights(f"{path} does not hold what sentence-transformers writes there. Fetch the model again.")
    return content


Reading = Literal["claim first", "together"]
HeadPooling = Literal["mean", "first", "likeness"]

RERANKER_CARD = "reranker.json"


def _refuse(card: EncoderCard | RerankerCard, name: str, allowed: str) -> None:
    given = json.dumps(getattr(card, name), ensure_ascii=False, default=str)
    raise BadWeights(f'The card of {card.name} says "{name}": {given}; it must be {allowed}.')


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerCard:
    """How a cross-encoder is used.

    - `reading`: "together": every token of claim and passage sees every other, and the claim is read anew with each
      passage. "claim first": the claim is read once, by itself; the tokens of each passage see it and one another in
      every layer. The claim's tokens do not see the passage.
    - `pooling`: what the score is made of: the mean of the states of the passage's own tokens, or the first token's,
      each through a head; or the cosine of the claim's mean and the passage's. Where the claim is read first its first
      token has seen no passage, so that it tells nothing, and a likeness begins as what a dual encoder says, and learns
      through gates how much a passage's tokens should see of the claim.
    - `claim_tokens`: the most tokens of a claim; of a longer one those around the mask are kept.
    - `window`: the most tokens of claim and passage, special ones apart. Passages are cut to what the claim leaves of
      it.
    - `context`: sentences of the work read on either side of a span, within its chapter: 0 or 1.
    - `digest`: over configuration, tokenizer and weights, as of `ModelFiles`; empty before they are written.
    """

    name: str
    reading: Reading = "claim first"
    pooling: HeadPooling = "mean"
    mask: str = ""
    claim_tokens: int = 200
    window: int = 382
    context: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            _refuse(self, "name", "a name")
        for name, allowed in (("reading", get_args(Reading)), ("pooling", get_args(HeadPooling)), ("context", (0, 1))):
            if getattr(self, name) not in allowed or isinstance(getattr(self, name), bool):
                _refuse(self, name, " or ".join(json.dumps(value) for value in allowed))
        for name in ("mask", "digest"):
            if not isinstance(getattr(self, name), str):
                _refuse(self, name, "a text in quotation marks")
        for name in ("claim_tokens", "window"):
            if type(getattr(self, name)) is not int or getattr(self, name) < LEAST_WINDOW:
                _refuse(self, name, f"a whole number of tokens, {LEAST_WINDOW} or more")
        if self.window < self.claim_tokens + LEAST_WINDOW:
            _refuse(self, "window", f"at least {LEAST_WINDOW} more than claim_tokens, which is {self.claim_tokens}")
        if self.reading == "claim first" and self.pooling == "first":
            _refuse(self, "pooling", '"mean" or "likeness" where reading is "claim first"')

    @property
    def facts(self) -> dict[str, str]:
        """What decides the scores beside the model's files, as words."""
        apart = {"name", "digest"}
        return {field.name: str(getattr(self, field.name)) for field in fields(self) if field.name not in apart}


def read_reranker(folder: str | Path) -> tuple[RerankerCard, ModelFiles]:
    """Find a cross-encoder, as a training of a reranker makes it, and check its files against its card."""
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise BadWeights(
            f"There is no folder '{folder}' with a reranker. Name the folder that training one made "
            "(docs/reranking.md)."
        )
    given = _read_object(
        path / RERANKER_CARD,
        "reranker card",
        [field.name for field in fields(RerankerCard)],
        missing=f"{path} holds no {RERANKER_CARD}, so it is not a reranker. An encoder does not become one by "
        "being named so: train one from it (docs/reranking.md).",
        again="Copy the folder again, take a newer version of this program, or train the reranker anew.",
    )
    if "name" not in given:
        raise BadWeights(f"The reranker card {path / RERANKER_CARD} has no name. Copy the folder again.")
    card = RerankerCard(**given)
    files = find_model(str(path))
    if files.digest != card.digest:
        raise BadWeights(
            f"The reranker in {path} is damaged: its configuration, tokenizer or weights are not those that "
            f"{RERANKER_CARD} was written for. Copy the folder again from where it was trained, or train it anew."
        )
    return card, files
