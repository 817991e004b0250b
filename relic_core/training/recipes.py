"""Recipes: all that decides what a training makes of its data, as one JSON object with a digest.

`SETTINGS` says of every setting what it does and what it may be. Three kinds of recipe share most of them: an encoder's
(dense-RELiC, which finds passages), a reranker's (a cross-encoder, which reorders them), and one for attribution (which
says where a quotation comes from).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from relic_core.domain import MAX_LENGTH, ContextSize
from relic_core.domain.trainings import ModelKind
from relic_core.encoders.cards import LEAST_WINDOW, WINDOW, HeadPooling, Reading, RerankerCard, Scoring
from relic_core.encoders.generator import BART
from relic_core.errors import BadRequest, BadWeights, NotFound, unknown_name
from relic_core.formats.files import record_in

Pooling = Literal["mean", "first", "pooler"]
Similarity = Literal["cosine", "dot"]
Loss = Literal["mean", "sum"]
Precision = Literal["bfloat16", "float32"]
Schedule = Literal["linear", "constant"]
Supervision = Literal["pair", "span", "found", "retrieved"]

BARE = "bare"
"""The shape of a prompt: one sentence beside the quotation, and no mask."""
LIKELIHOOD = "likelihood"
"""A figure of a validation: 100 exp(-loss)."""
KIND = "kind"
"""Key of a recipe's JSON that says what it makes; where it is left out, an encoder."""


class Setting(NamedTuple):
    """What a setting does, and what it may be: some words, or a number in a range, `above` its lowest or from it on."""

    does: str
    among: tuple[str, ...] = ()
    whole: tuple[int, int] | None = None
    number: tuple[float, float] | None = None
    above: bool = False


_MANY = 10**9

SETTINGS = {
    "name": Setting("What the recipe is called."),
    "base": Setting(
        "The model it begins from: a folder, or a name in Hugging Face's local cache. Empty for the packaged one."
    ),
    "shared": Setting("One encoder for claims and quotations alike, instead of two. Half the size, and usually worse."),
    "supervision": Setting(
        "Which source goes with a quotation: pair, the one that holds it; span, BM25's first; found, the one that "
        "shares its words, where any does. Or retrieved: BM25's first ones, and an encoder learns which of them helps.",
        among=get_args(Supervision),
    ),
    "candidates": Setting("Of retrieved: how many sources are weighed.", whole=(2, 100)),
    "generator": Setting("Of retrieved: the model that says how likely a quotation is, and stays as it is."),
    "reading": Setting(
        "Whether the claim is read once, before all passages, or anew together with each: three times as slow.",
        among=get_args(Reading),
    ),
    "pooling": Setting(
        "How a text becomes one vector: the mean of its tokens; its first token, as in the paper; or what the model's "
        "pooler makes of that, as in its authors' code.",
        among=get_args(Pooling),
    ),
    "scoring": Setting(
        "Whether one vector of a claim meets one of a passage (pooled), or each token of a claim the nearest one of a "
        "passage (late): an encoder for late interaction, which also learns what each token of a claim counts for.",
        among=get_args(Scoring),
    ),
    "similarity": Setting(
        "How claims and quotations are compared: by angle (cosine), or by angle and length (dot).",
        among=get_args(Similarity),
    ),
    "temperature": Setting(
        "How sharply near misses are distinguished: lower is sharper.", number=(0.0, 100.0), above=True
    ),
    "loss": Setting(
        "Of a batch: the mean over its claims, passages that overlap a claim's own left out; or, as in the paper, the "
        "sum, in which each other quotation of the batch counts as wrong.",
        among=get_args(Loss),
    ),
    "mask": Setting("Whether the encoder sees where in the criticism the quotation stood."),
    "context": Setting("Sentences of the work that are read on either side of a passage: 0 or 1.", whole=(0, 1)),
    "negatives": Setting(
        "Wrong passages that each quotation is to be distinguished from: hard ones where any were found, then others.",
        whole=(1, 100),
    ),
    "batch": Setting(
        "Quotations in a batch; each is a negative for the others' claims, so more is harder and better.",
        whole=(2, 4096),
    ),
    "window_batch": Setting("The same for quotations of works in your library, all of one work.", whole=(1, 4096)),
    "stretches": Setting("Pages of that work that are read beside them, as further negatives.", whole=(1, 4096)),
    "share": Setting(
        "Share of the batches that hold quotations of works, read in their context: 0 to 1.", number=(0.0, 1.0)
    ),
    "cached": Setting("Saves memory by reading everything twice. The result is the same."),
    "chunk_tokens": Setting(
        "How much is read at a time; 0 leaves it to the program. Lower it where memory runs out.", whole=(0, 1_000_000)
    ),
    "epochs": Setting("How many times all quotations are read.", number=(0.0, 1000.0), above=True),
    "steps": Setting("Stop after so many batches, whatever the epochs say; 0 for no such limit.", whole=(0, _MANY)),
    "learning_rate": Setting(
        "How much each batch changes the model. Too high and the loss runs away.", number=(0.0, 1.0), above=True
    ),
    "warmup": Setting("Share of the training in which that rate rises to its height.", number=(0.0, 1.0)),
    "weight_decay": Setting("How strongly weights are drawn back towards zero.", number=(0.0, 1.0)),
    "clip": Setting("The largest change that one batch may ask for; 0 for any.", number=(0.0, 1000.0)),
    "schedule": Setting("Whether the rate falls to zero towards the end, or stays.", among=get_args(Schedule)),
    "precision": Setting(
        "Number format of the products: bfloat16 is faster on recent processors, float32 exact.",
        among=get_args(Precision),
    ),
    "dropout": Setting("Share of the states left out by chance. Costs much time on a processor.", number=(0.0, 0.9)),
    "frozen_embeddings": Setting("Leaves the words' own vectors as they are: less memory, smaller files."),
    "lora_rank": Setting(
        "Train small additions to the layers (LoRA) instead of the layers: their rank; 0 trains the layers.",
        whole=(0, 1024),
    ),
    "blend": Setting(
        "How much of what was learnt is written: 1 for all of it; less keeps more of the model it began from.",
        number=(0.0, 1.0),
    ),
    "shapes": Setting(
        "How much of the criticism around a quotation is shown, with weights: 4/4 is four sentences either side."
    ),
    "claim_tokens": Setting("The most tokens read of a claim.", whole=(LEAST_WINDOW, 8192)),
    "passage_tokens": Setting("The most tokens read of a quotation by itself.", whole=(LEAST_WINDOW, 8192)),
    "claim_windows": Setting(
        "Lengths in tokens to which a claim is cut when searching, all added up; none to read it once."
    ),
    "window": Setting(
        "Tokens of a work that are read together; also when searching with the model.", whole=(LEAST_WINDOW, 8192)
    ),
    "longest": Setting("The most sentences of a quotation of a work.", whole=(1, 100)),
    "hard_negatives": Setting(
        "Wrong answers of its own for each quotation, where such were looked for.", whole=(0, 100)
    ),
    "seed": Setting("Decides all that is left to chance: the same number, the same training.", whole=(0, 2**31 - 1)),
    "validate_every": Setting("Batches between two validations; 0 for one at the end.", whole=(0, _MANY)),
    "patience": Setting("Stop after so many validations without a better one; 0 for never.", whole=(0, 10**6)),
    "watch": Setting("The figure that decides which weights are kept."),
}

_OF_RERANKERS: dict[str, Setting] = {
    "pooling": Setting(
        "What the score is made of: how like the passage's tokens are to the claim's; or their mean; or, read "
        "together, the first token.",
        among=("likeness", "mean", "first"),
    ),
    "batch": SETTINGS["batch"]._replace(does="Quotations in a batch."),
    "window": SETTINGS["window"]._replace(
        does="Tokens of claim and passage together, also when searching with the model."
    ),
}
"""Settings that mean something else in a reranker's recipe."""

_OF_SOURCES = {
    "base": SETTINGS["base"]._replace(
        does=f"The model that learns: a folder, or a name in Hugging Face's local cache. Empty for {BART}, or of "
        "retrieved for the packaged encoder."
    ),
    "window_batch": SETTINGS["window_batch"]._replace(does="Quotations in a batch."),
}
"""Settings that mean something else in a recipe for attribution."""


def setting(key: str, kind: ModelKind) -> Setting:
    """Say what a setting of a recipe of a kind is; a blank one where there is none."""
    own = {"encoder": {}, "reranker": _OF_RERANKERS, "source": _OF_SOURCES}[kind]
    return own.get(key) or SETTINGS.get(key) or Setting("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What recipes of every kind have in common: batches, optimiser, base, what it learns, when it is validated.

    - `unused`: settings that mean nothing for a kind; they cannot be given.
    """

    kind: ClassVar[ModelKind]
    called: ClassVar[str]
    unused: ClassVar[frozenset[str]] = frozenset()

    name: str
    base: str = ""
    mask: bool = True
    batch: int
    window_batch: int = 16
    share: float = 0.15
    cached: bool = False
    chunk_tokens: int = 0
    epochs: float = 1.0
    steps: int = 0
    learning_rate: float
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    schedule: Schedule = "linear"
    precision: Precision = "bfloat16"
    dropout: float = 0.0
    frozen_embeddings: bool = True
    lora_rank: int = 0
    shapes: tuple[tuple[str, float], ...] = (("4/4", 4.0), ("1/1", 3.0), ("1/0", 1.5), ("0/1", 0.5), (BARE, 1.0))
    claim_tokens: int
    window: int
    longest: int = MAX_LENGTH
    seed: int = 20220
    validate_every: int = 250
    patience: int = 6
    watch: str = "recall@10"

    @property
    def is_late(self) -> bool:
        """Whether it makes an encoder for late interaction."""
        return False

    def __post_init__(self) -> None:
        """Check the values; 1 and 1.0 are one recipe, and have one digest."""
        for field in fields(self):
            self._check(field.name, getattr(self, field.name))
            if setting(field.name, self.kind).number:
                object.__setattr__(self, field.name, float(getattr(self, field.name)))
        object.__setattr__(self, "shapes", tuple((shape, float(weight)) for shape, weight in self.shapes))
        for name in ("claim_tokens", "passage_tokens"):
            if getattr(self, name, 0) > self.window:
                self._refuse(name, f"at most as many tokens as the window has, {self.window}")

    def _check(self, name: str, value: object) -> None:
        allowed = setting(name, self.kind)
        if allowed.among:
            if value not in allowed.among:
                self._refuse(name, " or ".join(f'"{each}"' for each in allowed.among))
        elif allowed.whole:
            fewest, most = allowed.whole
            if type(value) is not int or not fewest <= value <= most:
                self._refuse(name, f"a whole number from {fewest:,} to {most:,}")
        elif allowed.number:
            least, highest = allowed.number
            if not _is_number(value, least, highest) or (allowed.above and not value):
                self._refuse(name, f"a number {'above' if allowed.above else 'from'} {least:g} to {highest:g}")
        elif name == "shapes":
            self._check_shapes(value)
        elif name == "claim_windows":
            self._check_windows(value)
        elif name in {"name", "base", "generator", "watch"}:
            if not isinstance(value, str) or (name != "base" and not value.strip()):
                self._refuse(name, "a text")
        elif not isinstance(value, bool):
            self._refuse(name, "true or false")

    def _check_windows(self, value: object) -> None:
        if not isinstance(value, tuple) or not all(
            type(each) is int and LEAST_WINDOW <= each <= self.window for each in value
        ):
            self._refuse("claim_windows", f"a list of whole numbers of tokens, {LEAST_WINDOW} to {self.window}")

    def _check_shapes(self, value: object) -> None:
        rows = value if isinstance(value, tuple) else ()
        if not rows or not all(
            isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], str) and _is_number(row[1], 0.0, 1e9)  # noqa: PLR2004
            for row in rows
        ):
            self._refuse("shapes", 'a list of shapes with weights: [["4/4", 2], ["1/0", 1], ["bare", 1]]')
        for shape, _ in rows:
            if shape != BARE:
                ContextSize.parse(shape)
        if not sum(weight for _, weight in rows):
            self._refuse("shapes", "a list in which one weight at least is above 0")

    def _refuse(self, name: str, allowed: str) -> None:
        given = json.dumps(getattr(self, name), ensure_ascii=False, default=str)
        raise BadRequest(f"The recipe's {name} is {given}; it must be {allowed}.")

    def to_json(self) -> dict[str, Any]:
        """Write it as a JSON object; of an encoder's the kind is left out, as it was before there were others."""
        known = {field.name for field in fields(self)} - self.unused
        values = {key: _as_lists(getattr(self, key)) for key in SETTINGS if key in known}
        return values if self.kind == "encoder" else {KIND: self.kind, **values}

    @property
    def keeps_embeddings(self) -> bool:
        """Whether the embeddings of words stay the base's: where they are frozen, and where adapters are trained."""
        return self.frozen_embeddings or self.lora_rank > 0

    @property
    def digest(self) -> str:
        """Sha256 of all that it says but name, kind, and values that were the only way before there were others."""
        values = {key: value for key, value in self.to_json().items() if key not in {"name", KIND}}
        for key, before in (("loss", "mean"), ("scoring", "pooled")):
            if values.get(key) == before:
                del values[key]
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, given: object) -> Self:
        """Read a recipe of this kind; what it leaves out is as in the default. Raises BadRequest: it cannot be one."""
        if not isinstance(given, Mapping):
            raise BadRequest("A recipe must be one JSON object, {...}.")
        values, known = dict(given), [field.name for field in fields(cls) if field.name not in cls.unused]
        kind = values.pop(KIND, cls.kind)
        if kind != cls.kind:
            raise BadRequest(
                f'The kind given is {json.dumps(kind, default=str)}, and {cls.called} has "{cls.kind}". A kind cannot '
                "be changed: begin with a recipe that makes what you want."
            )
        for key in values:
            if key not in known:
                raise unknown_name(f"setting of {cls.called}", str(key), known)
        return cls(**{key: _as_tuples(value) for key, value in values.items()})

    def with_(self, **changes: Any) -> Self:  # noqa: ANN401 - any of the fields
        """Give the recipe with some values changed; raises as `from_json`."""
        return self.from_json({**self.to_json(), **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderRecipe(Recipe):
    """How dense-RELiC is trained. Inner products are not divided by the temperature, only cosines are.

    >>> EncoderRecipe(pooling="last")
    Traceback (most recent call last):
        ...
    relic_core.errors.BadRequest: The recipe's pooling is "last"; it must be "mean" or "first" or "pooler".
    """

    kind: ClassVar[ModelKind] = "encoder"
    called: ClassVar[str] = "a recipe"

    name: str = "default"
    shared: bool = False
    pooling: Pooling = "mean"
    scoring: Scoring = "pooled"
    similarity: Similarity = "cosine"
    temperature: float = 0.05
    loss: Loss = "mean"
    batch: int = 100
    stretches: int = 24
    learning_rate: float = 2e-4
    blend: float = 1.0
    claim_tokens: int = 176
    passage_tokens: int = 72
    claim_windows: tuple[int, ...] = ()
    window: int = WINDOW
    hard_negatives: int = 1

    def __post_init__(self) -> None:
        """Check the values, and that tokens are compared only where they are read in context."""
        Recipe.__post_init__(self)
        if self.is_late and not self.in_context:
            self._refuse("pooling", '"mean" where scoring is "late"')

    @property
    def is_late(self) -> bool:
        """Whether tokens are compared, each by itself."""
        return self.scoring == "late"

    @property
    def in_context(self) -> bool:
        """Whether spans of works are read in their context: only a mean can be taken there."""
        return self.pooling == "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerRecipe(Recipe):
    """How a cross-encoder is trained; `reading` and `pooling` are those of its card.

    >>> RerankerRecipe(negatives=0)
    Traceback (most recent call last):
        ...
    relic_core.errors.BadRequest: The recipe's negatives is 0; it must be a whole number from 1 to 100.
    """

    kind: ClassVar[ModelKind] = "reranker"
    called: ClassVar[str] = "a reranker's recipe"

    name: str = "reranker"
    reading: Reading = "claim first"
    pooling: HeadPooling = "likeness"
    context: int = 0
    negatives: int = 7
    batch: int = 16
    learning_rate: float = 5e-5
    claim_tokens: int = 200
    window: int = 382

    def __post_init__(self) -> None:
        """Check the values, and that a reranker can be made of them."""
        Recipe.__post_init__(self)
        try:
            self.card()
        except BadWeights as error:
            raise BadRequest(f"The recipe makes no reranker. {error}") from error

    def card(self, mask: str = "") -> RerankerCard:
        """Say how the cross-encoder made is used; its files are still to be written."""
        return RerankerCard(
            name=f"cross-encoder ({self.name})",
            reading=self.reading,
            pooling=self.pooling,
            mask=mask,
            claim_tokens=self.claim_tokens,
            window=self.window,
            context=self.context,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecipe(Recipe):
    """How a model for attribution learns (Muther and Smith 2023, sections 4 and 5).

    A sequence-to-sequence model learns to say a quotation given what stands around it and its source; or, with
    `supervision` "retrieved", an encoder learns which source helps a `generator` that stays as it is.

    >>> SourceRecipe(supervision="retrieved").base, SourceRecipe().base
    ('', 'facebook/bart-base')
    """

    kind: ClassVar[ModelKind] = "source"
    called: ClassVar[str] = "a recipe for attribution"
    unused: ClassVar[frozenset[str]] = frozenset({
        "batch", "share", "mask", "shapes", "claim_tokens", "window", "cached", "chunk_tokens", "dropout",
        "frozen_embeddings", "lora_rank",
    })  # fmt: skip

    name: str = "source"
    supervision: Supervision = "pair"
    candidates: int = 8
    generator: str = BART
    temperature: float = 0.05
    batch: int = 2
    window_batch: int = 8
    share: float = 1.0
    learning_rate: float = 5e-5
    precision: Precision = "float32"
    frozen_embeddings: bool = False
    claim_tokens: int = WINDOW
    window: int = WINDOW
    watch: str = LIKELIHOOD

    def __post_init__(self) -> None:
        """Check the values, and put in the base."""
        Recipe.__post_init__(self)
        if self.base in {"", BART}:
            object.__setattr__(self, "base", "" if self.retrieves else BART)

    @property
    def retrieves(self) -> bool:
        """Whether an encoder learns."""
        return self.supervision == "retrieved"

    @property
    def language_model(self) -> str:
        """The model that says how likely a quotation is: what learns, or what stays as it is."""
        return self.generator if self.retrieves else self.base

    def encoder(self) -> EncoderRecipe:
        """Give the part of it that is about the encoder, where one learns."""
        shared = {field.name for field in fields(EncoderRecipe)} - self.unused - {"watch"}
        own = {field.name for field in fields(self)}
        return EncoderRecipe(**{key: getattr(self, key) for key in shared & own})


def _is_number(value: object, least: float, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and least <= value <= most


def _as_lists(value: object) -> object:
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


def _as_tuples(value: object) -> Any:  # noqa: ANN401 - any JSON
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list | tuple) else value


DEFAULT = EncoderRecipe(blend=0.5, claim_windows=(176, 96, 48))
"""That of the encoder that comes with the program; docs/training.md says what each of its choices is worth."""

PAPER = EncoderRecipe(
    name="paper",
    base="roberta-base",
    pooling="first",
    similarity="dot",
    loss="sum",
    batch=100,
    window_batch=100,
    share=1.0,
    cached=True,
    epochs=10.0,
    learning_rate=1e-5,
    warmup=0.0,
    weight_decay=0.0,
    clip=0.0,
    schedule="constant",
    precision="float32",
    dropout=0.1,
    frozen_embeddings=False,
    shapes=(("4/4", 1.0),),
    claim_tokens=510,
    passage_tokens=510,
    window=510,
    hard_negatives=0,
    validate_every=750,
    patience=2,
)
"""RELiC, section 3.2: RoBERTa-base, the first token's state, inner products, batches of 100 quotations of one primary
work, the loss summed over them, up to ten epochs, Adam at 1e-5, stopped by the loss of the validation split.

What the paper does not say: whether claims were cut (here to what RoBERTa reads), how the rate went (here constant),
how soon it was stopped (here after two validations without a better one, of which an epoch of RELiC's file has one).
"""

AUTHORS = replace(
    PAPER,
    name="authors",
    pooling="pooler",
    clip=1.0,
    schedule="linear",
    claim_tokens=254,
    passage_tokens=96,
    window=254,
)
"""What the authors' code does otherwise than their paper says: the pooler's output, claims of 256 tokens and passages
of 98 with `<s>` and `</s>`, a rate that falls to zero, gradients clipped at 1."""

LAPTOP = replace(DEFAULT, name="laptop", batch=48, window_batch=8, stretches=12, cached=True, validate_every=100)

LATE = replace(
    DEFAULT,
    name="late",
    scoring="late",
    temperature=0.02,
    batch=48,
    learning_rate=5e-5,
    blend=0.35,
    claim_windows=(176,),
)
"""For late interaction, from dense-RELiC as a start. The mean of a claim's maxima differs less between passages than
one cosine does, so that its temperature is lower."""

READING = RerankerRecipe(
    name="reading",
    reading="together",
    context=1,
    negatives=8,
    window_batch=8,
    share=1.0,
    learning_rate=1e-4,
    claim_tokens=48,
    window=112,
)
"""Claim and passage see each other from the start. Short texts make up for what that costs, and of a claim what stands
next to the quotation tells most passages apart that a retriever has put first."""

AnyRecipe = EncoderRecipe | RerankerRecipe | SourceRecipe

RECIPES: dict[str, AnyRecipe] = {
    recipe.name: recipe for recipe in (DEFAULT, PAPER, AUTHORS, LAPTOP, LATE, RerankerRecipe(), READING, SourceRecipe())
}

ABOUT = {
    "default": "The recipe of the best models here: two encoders from one small base.",
    "laptop": "The same for a machine with little memory: smaller batches, states made twice instead of kept.",
    "paper": "As the RELiC paper says, for comparison. It begins from RoBERTa-base and wants a graphics card.",
    "authors": "As its authors' code does: the pooler's output, shorter texts, a rate that falls to zero.",
    "late": "An encoder for late interaction, which compares word by word. It goes on from dense-RELiC.",
    "reranker": "Trains a second model, which puts the first thirty in order.",
    "reading": "The same, claim and passage seeing each other in every layer; on quotations of works in your library.",
    "source": "Trains what says where a quotation comes from, on quotations of works in your library.",
}

_KINDS: dict[str, type[AnyRecipe]] = {"encoder": EncoderRecipe, "reranker": RerankerRecipe, "source": SourceRecipe}


def read_recipe(given: object) -> AnyRecipe:
    """Read a recipe from JSON as what its ``kind`` says; what says none makes an encoder.

    >>> read_recipe({"kind": "reranker", "negatives": 3}) == RerankerRecipe(negatives=3)
    True
    """
    if not isinstance(given, Mapping):
        return EncoderRecipe.from_json(given)
    kind = given.get(KIND, EncoderRecipe.kind)
    if kind not in _KINDS:
        raise unknown_name("kind of recipe", str(kind), _KINDS)
    if KIND not in given:
        own = {field.name for field in fields(EncoderRecipe)}
        for other in (RerankerRecipe, SourceRecipe):
            only = sorted(field.name for field in fields(other) if field.name in given and field.name not in own)
            if only:
                raise BadRequest(
                    f"The recipe says {' and '.join(only)}, which only {other.called} does. If it is one, write "
                    f'"{KIND}": "{other.kind}" into it.'
                )
    return _KINDS[kind].from_json(given)


def recipe_of(named: str, changes: Sequence[str] = ()) -> AnyRecipe:
    """Read a recipe by its name or from a path that ends in ``.json``, and change some of its values.

    - `changes`: ``key=value``, values in JSON; a text needs no quotation marks.

    >>> recipe_of("default", ["batch=32", "precision=float32"]).batch
    32
    """
    if named.endswith(".json"):
        recipe = _read_file(Path(named).expanduser())
    elif named in RECIPES:
        recipe = RECIPES[named]
    else:
        raise unknown_name("recipe", named, RECIPES)
    given: dict[str, Any] = {}
    for change in changes:
        key, sign, value = change.partition("=")
        if not sign:
            raise BadRequest(f"'{change}' is not a change of a recipe. Write key=value: batch=32.")
        try:
            given[key.strip()] = json.loads(value)
        except ValueError:
            given[key.strip()] = value
    return recipe.with_(**given) if given else recipe


def _read_file(path: Path) -> AnyRecipe:
    try:
        return read_recipe(record_in(dict[str, Any], path))
    except FileNotFoundError:
        raise NotFound(
            f"There is no recipe {path}. Name a file, or one of the recipes that come with the program: "
            f"{', '.join(RECIPES)}."
        ) from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"The recipe {path} cannot be read as JSON ({error}). Mend it, or write it anew.") from None
