"""What a person asks of a training: how, how long, on what, from which model."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from relic_core.encoders.cards import read_card
from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.training.known_recipes import RECIPES, read_recipe, recipe_named
from relic_core.training.recipes import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from relic_core.domain.trainings import ModelKind
    from relic_core.encoders.cards import EncoderCard
    from relic_core.training.known_recipes import AnyRecipe

Use = Literal["pairs and windows", "pairs", "windows"]
USES: dict[Use, str] = {
    "pairs and windows": "All quotations: those of any book, and those of works in your library",
    "windows": "Only quotations of works in your library",
    "pairs": "Only quotations without regard to the work they come from",
}
"""What can be learnt from, in plain words."""

NO_HARD = ""
"""Stands for no hard negatives where a model that looks for them could."""
THE_BASE = ""
"""Stands for the recipe's base where a training could go on from an encoder."""
DEFAULT_HARD = "default"
"""Stands for dense-RELiC as the app has it: the model that was made the default, or the packaged one."""
BASE_HARD = "base"
"""Stands for the recipe's base, untaught, whatever the training goes on from."""

_AS_USUAL = -1
_MOST_VALIDATED = 100_000


class Usual(NamedTuple):
    """What is asked of a training where nothing is said.

    - `hard`: who looks for hard negatives.
    """

    validation: int
    hard: str
    start: str


USUAL: dict[ModelKind, Usual] = {
    "encoder": Usual(150, NO_HARD, THE_BASE),
    "reranker": Usual(50, DEFAULT_HARD, DEFAULT_HARD),
}
"""By what is made. A reranker reads a hundred passages for each window, learns from hard negatives above all, and
learns little where it begins from a model that never saw a critic at work."""


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
    """What is asked of a training.

    - `name`: what a person calls it; empty for a name made of the recipe's.
    - `pairs`: the most pairs, drawn by whole sources; 0 for all.
    - `sources`: only on what these secondary sources quote; on all where empty.
    - `validation`: Windows that it is validated on; 0 for none, -1 for as many as is `USUAL`.
    - `hard`: the model that looks for hard negatives before the first step: "default" for dense-RELiC as the app has
      it, "base", the id of a training, or a model's folder, name or card; empty for none, "usual" for what is `USUAL`.
    - `start`: the encoder that it goes on from: "default", the id of a training, or an encoder's folder or card; empty
      for the recipe's base, "usual" for what is `USUAL`, where that has the packaged base.

    Raises BadRequest: a value is none of the allowed ones.
    """

    name: str = ""
    recipe: AnyRecipe = field(default_factory=Recipe)
    use: Use = "pairs and windows"
    pairs: int = 0
    sources: tuple[str, ...] = ()
    validation: int = _AS_USUAL
    hard: str = "usual"
    start: str = "usual"

    def __post_init__(self) -> None:
        """Check the values, and put in what is usual."""
        usual = USUAL[self.recipe.kind]
        if self.validation == _AS_USUAL:
            object.__setattr__(self, "validation", usual.validation)
        if self.hard == "usual":
            object.__setattr__(self, "hard", usual.hard)
        if self.start == "usual":
            object.__setattr__(self, "start", THE_BASE if self.recipe.base else usual.start)
        if self.use not in get_args(Use):
            raise unknown_name("way to choose what is learnt from", self.use, get_args(Use))
        if self.pairs < 0:
            raise BadRequest(f"The most pairs to learn from are {self.pairs:,}; give 0 for all, or a number above it.")
        if not 0 <= self.validation <= _MOST_VALIDATED:
            raise BadRequest(
                f"The training is to be validated on {self.validation:,} windows; give 0 to {_MOST_VALIDATED:,}."
            )

    def to_json(self) -> dict[str, Any]:
        """Write what it is taught on as a JSON object, without name and recipe."""
        said = asdict(self)
        return {
            key: list(said[key]) if key == "sources" else said[key] for key in said if key not in {"name", "recipe"}
        }

    @classmethod
    def from_json(cls, name: str, recipe: Mapping[str, Any], asked: Mapping[str, Any]) -> TrainingRequest:
        """Read what was asked; raises BadRequest as `TrainingRequest` and `read_recipe`."""
        keys = {"use", "pairs", "validation", "hard", "start"}
        known = {"start": THE_BASE} | {key: value for key, value in asked.items() if key in keys}
        return cls(name=name, recipe=read_recipe(recipe), sources=tuple(asked.get("sources", ())), **known)

    def lasting(self, length: str) -> TrainingRequest:
        """Give the same for another of `LENGTHS`.

        Raises BadRequest: there is no such length.
        """
        if length not in LENGTHS:
            raise unknown_name("length of a training", length, LENGTHS)
        chosen = LENGTHS[length]
        return replace(self, pairs=chosen.pairs, recipe=self.recipe.with_(epochs=chosen.epochs))


def base_card(recipe: AnyRecipe) -> EncoderCard:
    """Say how the base of a recipe is used untaught: as its card says, and reading no more at a time than the recipe.

    Cuts of claims that are longer than that are shortened to it, those that come out the same counting once.

    Raises BadWeights: there is no such model, or what is said of it cannot be followed.
    """
    card = read_card(recipe.base)
    window = min(card.window, recipe.window)
    cuts = tuple(dict.fromkeys(min(cut, window) for cut in card.claim_windows))
    return replace(card, window=window, claim_windows=cuts)


def recipe_of(said: str, changes: Sequence[str] = ()) -> AnyRecipe:
    """Read a recipe by its name or from a JSON file, and change some of its values.

    - `said`: a name; or a path that ends in ``.json``.
    - `changes`: ``key=value``, values in JSON; a text needs no quotation marks.

    Raises NotFound: there is no such file.
    Raises BadRequest: no such recipe, no such key, or a value that is not allowed.

    >>> recipe_of("default", ["batch=32", "precision=float32"]).batch
    32
    """
    from pathlib import Path

    recipe = _read(Path(said).expanduser()) if said.endswith(".json") else recipe_named(said)
    given: dict[str, Any] = {}
    for change in changes:
        key, sign, value = change.partition("=")
        if not sign:
            raise BadRequest(f"'{change}' is no change of a recipe. Write key=value: batch=32.")
        try:
            given[key.strip()] = json.loads(value)
        except ValueError:
            given[key.strip()] = value
    return recipe.with_(**given) if given else recipe


def _read(path: Path) -> AnyRecipe:
    try:
        return read_recipe(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise NotFound(
            f"There is no recipe {path}. Name a file, or one of the recipes that come with the program: "
            f"{', '.join(RECIPES)}."
        ) from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"The recipe {path} cannot be read as JSON ({error}). Mend it, or write it anew.") from None
