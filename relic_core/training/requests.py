"""What a person asks of a training: how, how long, on what, from which model; and the encoders named in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from relic_core.config import Settings
from relic_core.domain.trainings import ModelKind, Training
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.weights import encoder_digest
from relic_core.errors import BadRequest, BadWeights, unknown_name
from relic_core.retrieval.dense import trained_model
from relic_core.training.folders import FOLDER, TrainingFolder
from relic_core.training.recipes import LIKELIHOOD, AnyRecipe, EncoderRecipe, SourceRecipe, read_recipe

Use = Literal["pairs and windows", "pairs", "windows"]
USES: dict[Use, str] = {
    "pairs and windows": "All quotations: those of any book, and those of works in your library",
    "windows": "Only quotations of works in your library",
    "pairs": "Only quotations without regard to the work they come from",
}

NO_MODEL = ""
"""Stands for the recipe's base where a training could go on from an encoder, and for no search for hard negatives."""
DENSE_RELIC = "default"
"""Stands for dense-RELiC as the app has it: the model that was made the default, or the packaged one."""
PRETRAINED = "base"
"""Stands for the recipe's base as it is, whatever the training goes on from."""

_BY_KIND, _BY_KIND_NUMBER = "usual", -1
_MOST_VALIDATED = 100_000
_SETTLED = "models.json"
_OF_ITS_OWN = {"start": (NO_MODEL,), "hard": (NO_MODEL, PRETRAINED)}
"""By field: what names no encoder beside the recipe's base."""
_DOES = {"start": "goes on from", "hard": "looks for hard negatives with"}


class RequestDefaults(NamedTuple):
    """What is asked of a training where nothing is said."""

    validation: int
    hard: str
    start: str


DEFAULTS: dict[ModelKind, RequestDefaults] = {
    "encoder": RequestDefaults(150, NO_MODEL, NO_MODEL),
    "reranker": RequestDefaults(50, DENSE_RELIC, DENSE_RELIC),
    "source": RequestDefaults(150, NO_MODEL, NO_MODEL),
}
"""By what is made. A reranker reads thirty passages for each window, learns from hard negatives above all, and
learns little where it begins from a model that never saw a critic at work."""


def defaults_of(recipe: AnyRecipe) -> RequestDefaults:
    """Give what is asked with a recipe; late interaction goes on from what has learnt which passages answer a claim."""
    defaults = DEFAULTS[recipe.kind]
    return defaults._replace(start=DENSE_RELIC) if recipe.is_late else defaults


class Length(NamedTuple):
    """How long a training is: the most pairs, 0 for all; how often they are read; in plain words."""

    pairs: int
    epochs: float
    label: str


LENGTHS: dict[str, Length] = {
    "try": Length(2_000, 1.0, "A first try, on 2,000 quotations"),
    "some": Length(13_000, 1.0, "Enough to compare two ways, on 13,000 quotations"),
    "once": Length(0, 1.0, "All quotations, once"),
    "thrice": Length(0, 3.0, "All quotations, three times"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What is asked of a training. Of `validation`, `hard` and `start` the default is that of `defaults_of`.

    - `name`: empty for a name made of the recipe's.
    - `pairs`: the most pairs, drawn by whole sources; 0 for all.
    - `sources`: only on what these secondary sources quote; on all where empty.
    - `validation`: windows that it is validated on; 0 for none.
    - `hard`: the model that looks for hard negatives before the first step: `DENSE_RELIC`, `PRETRAINED`, the id of a
      training, or a model's folder, name or card; `NO_MODEL` for none.
    - `start`: the encoder that it goes on from: `DENSE_RELIC`, the id of a training, or an encoder's folder or card;
      `NO_MODEL` for the recipe's base, which is the default where the recipe names one.
    - `data`, `validation_data`: files of RELiC to learn from and to validate on, in place of what was mined.
    """

    name: str = ""
    recipe: AnyRecipe = field(default_factory=EncoderRecipe)
    use: Use = "pairs and windows"
    pairs: int = 0
    sources: tuple[str, ...] = ()
    validation: int = _BY_KIND_NUMBER
    hard: str = _BY_KIND
    start: str = _BY_KIND
    data: str = ""
    validation_data: str = ""

    def __post_init__(self) -> None:
        """Check the values, and put in the defaults."""
        defaults = defaults_of(self.recipe)
        if self.validation == _BY_KIND_NUMBER:
            object.__setattr__(self, "validation", defaults.validation)
        if self.hard == _BY_KIND:
            object.__setattr__(self, "hard", defaults.hard)
        if self.start == _BY_KIND:
            object.__setattr__(self, "start", NO_MODEL if self.recipe.base else defaults.start)
        if self.data or self.validation_data:
            self._check_published()
        if isinstance(self.recipe, SourceRecipe):
            self._check_source(self.recipe)
        if self.use not in get_args(Use):
            raise unknown_name("way to choose the examples", self.use, get_args(Use))
        if self.pairs < 0:
            raise BadRequest(f"The most pairs to learn from are {self.pairs:,}; give 0 for all, or a number above it.")
        if not 0 <= self.validation <= _MOST_VALIDATED:
            raise BadRequest(
                f"The training is to be validated on {self.validation:,} windows; give 0 to {_MOST_VALIDATED:,}."
            )

    def _check_published(self) -> None:
        """Refuse what does not go with RELiC's own files; their validation gives a loss, which is watched."""
        if not self.data:
            raise BadRequest("A file to validate on was given, and none to learn from: name RELiC's train.json too.")
        if self.validation_data and self.recipe.is_late:
            raise BadRequest(
                "The loss on a file of RELiC is that of one vector a text, which an encoder for late interaction has "
                "not. Train it without --val, or with another recipe."
            )
        if not isinstance(self.recipe, EncoderRecipe) or self.hard or self.sources or self.pairs:
            raise BadRequest(
                "On RELiC's own file an encoder is trained, on all its quotations and without hard negatives: "
                "leave out what chooses pairs, sources or hard negatives, and take the recipe of an encoder."
            )
        watch = LIKELIHOOD if self.validation_data else self.recipe.watch
        object.__setattr__(self, "use", "windows")
        object.__setattr__(self, "validation", 0)
        object.__setattr__(self, "recipe", self.recipe.with_(watch=watch, share=1.0))

    def _check_source(self, recipe: SourceRecipe) -> None:
        if self.hard or (self.start and not recipe.retrieves) or self.use == "pairs":
            raise BadRequest(
                "A model learns where a quotation comes from on quotations of works in your library, from the base and "
                "without hard negatives. Leave out what says otherwise; only what learns by retrieval may go on "
                "from an encoder."
            )
        object.__setattr__(self, "use", "windows")

    def to_json(self) -> dict[str, Any]:
        """Write what it learns from as a JSON object, without name and recipe."""
        values = asdict(self) | {"sources": list(self.sources)}
        return {key: values[key] for key in values if key not in {"name", "recipe"}}

    @classmethod
    def of(cls, training: Training) -> TrainingRequest:
        """Read what was asked; raises BadRequest as `TrainingRequest` and `read_recipe`."""
        keys = {"use", "pairs", "validation", "hard", "start", "data", "validation_data"}
        known = {"start": NO_MODEL} | {key: value for key, value in training.asked.items() if key in keys}
        sources = tuple(training.asked.get("sources", ()))
        return cls(name=training.name, recipe=read_recipe(training.recipe), sources=sources, **known)

    def lasting(self, length: str) -> TrainingRequest:
        """Give the same for another of `LENGTHS`. Raises BadRequest: there is no such length."""
        if length not in LENGTHS:
            raise unknown_name("length of a training", length, LENGTHS)
        chosen = LENGTHS[length]
        return replace(self, pairs=chosen.pairs, recipe=self.recipe.with_(epochs=chosen.epochs))


def base_card(recipe: AnyRecipe) -> EncoderCard:
    """Say how the base of a recipe is used as it is: as its card says, and reading no more at a time than the recipe.

    Cuts of claims that are longer than that are shortened to it, those that come out the same counting once.
    """
    card = read_card(recipe.base)
    window = min(card.window, recipe.window)
    cuts = tuple(dict.fromkeys(min(cut, window) for cut in card.claim_windows))
    return replace(card, window=window, claim_windows=cuts)


def encoder_named(settings: Settings, named: str) -> str:
    """Give what `read_card` takes for an encoder that a person named. Raises BadRequest: a training has none."""
    if named == DENSE_RELIC:
        return trained_model(settings)
    folder = TrainingFolder(settings.data / FOLDER / named)
    if not folder.path.is_dir() or "/" in named:
        return named
    if not folder.has_model:
        raise BadRequest(f"The training {named} has no model yet. Take another, or wait until it has.")
    if not folder.card.is_file():
        raise BadRequest(
            f"The training {named} makes no encoder, and what it makes finds nothing by itself. Name another."
        )
    return str(folder.card)


def start_card(settings: Settings, request: TrainingRequest) -> EncoderCard | None:
    """Find the encoder that a training goes on from; None where it begins from its base."""
    return None if request.start == NO_MODEL else read_card(encoder_named(settings, request.start))


def hard_card(settings: Settings, request: TrainingRequest) -> EncoderCard:
    """Find the encoder that looks for hard negatives.

    Raises BadRequest: it reads spans by themselves, or is none. Raises BadWeights: it is one for late interaction.
    """
    looking = request.hard
    card = base_card(request.recipe) if looking == PRETRAINED else read_card(encoder_named(settings, looking))
    card.check_pooled()
    if card.spans != "in context":
        raise BadRequest(
            f"{card.name} reads every span by itself, and hard negatives are looked for in context. Take another model."
        )
    return card


def settle(settings: Settings, folder: TrainingFolder, request: TrainingRequest) -> dict[str, dict[str, str]]:
    """Write down which encoders a training uses: what is the default now may be another when it is resumed.

    Returns: for "start" and "hard", where used, "model", as `read_card` takes it, and "digest", empty before its use.
    """
    encoders = folder.read(_SETTLED, tuple(_OF_ITS_OWN))
    if encoders is None:
        encoders = {
            key: {} if (name := getattr(request, key)) in own else {"model": _placed(settings, name), "digest": ""}
            for key, own in _OF_ITS_OWN.items()
        }
        folder.write(_SETTLED, encoders)
    return encoders


def settled(
    settings: Settings, folder: TrainingFolder, request: TrainingRequest, needed: Iterable[str]
) -> TrainingRequest:
    """Give what is asked of a training, with the encoders that were settled on in the place of what they were called.

    - `needed`: "start", "hard": those that this run will use. They must be as they were when they were first used.
    """
    encoders = settle(settings, folder, request)
    for key in needed:
        if not encoders[key]:
            continue
        model, before = encoders[key]["model"], encoders[key]["digest"]
        now = _digest(key, model)
        if before and now != before:
            raise BadWeights(
                f"The training {_DOES[key]} the model {model}, which is not as it was when the training began. Put it "
                "back as it was, or start the training anew."
            )
        encoders[key]["digest"] = now
    folder.write(_SETTLED, encoders)
    start, hard = encoders["start"], encoders["hard"]
    return replace(request, start=start.get("model", request.start), hard=hard.get("model", request.hard))


def _placed(settings: Settings, named: str) -> str:
    """Find an encoder, and name it so that it is found from any folder."""
    model = encoder_named(settings, named)
    path = Path(model).expanduser()
    return str(path.resolve()) if path.exists() else model


def _digest(key: str, model: str) -> str:
    try:
        card = read_card(model)
        return encoder_digest(card.query_model, card.passage_model)
    except BadWeights as error:
        raise BadWeights(
            f"The training {_DOES[key]} the model {model}, which cannot be used any more. {error} Put it back as it "
            "was, or start the training anew."
        ) from error
