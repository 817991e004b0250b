"""The recipes that come with the program, of encoders and of rerankers, and reading any recipe back as what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, unknown_name
from relic_core.training.recipes import DEFAULT, LAPTOP, PAPER, Recipe
from relic_core.training.reranking.recipe import RerankerRecipe
from relic_core.training.written_recipes import KIND

if TYPE_CHECKING:
    from relic_core.domain.trainings import ModelKind

AnyRecipe = Recipe | RerankerRecipe

RERANKER = RerankerRecipe()

RECIPES: dict[str, AnyRecipe] = {recipe.name: recipe for recipe in (DEFAULT, PAPER, LAPTOP, RERANKER)}

_KINDS: dict[ModelKind, type[AnyRecipe]] = {"encoder": Recipe, "reranker": RerankerRecipe}


def recipe_named(name: str) -> AnyRecipe:
    """Give a recipe by its name.

    Raises BadRequest: there is none of that name.
    """
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    return RECIPES[name]


def read_recipe(given: object) -> AnyRecipe:
    """Read a recipe from JSON as what its ``kind`` says; what says none makes an encoder.

    Raises BadRequest: it is no object, of no kind there is, says what no recipe of its kind says, or a value is not
    allowed.

    >>> read_recipe({"kind": "reranker", "negatives": 3}) == RerankerRecipe(negatives=3)
    True
    """
    if not isinstance(given, Mapping):
        return Recipe.from_json(given)
    kind = given.get(KIND, Recipe.kind)
    if kind not in _KINDS:
        raise unknown_name("kind of recipe", str(kind), _KINDS)
    if KIND not in given:
        encoder, reranker = ({field.name for field in fields(each)} for each in _KINDS.values())
        only = sorted(key for key in given if key in reranker - encoder)
        if only:
            raise BadRequest(
                f"The recipe says {' and '.join(only)}, which only a reranker's does. If it is one, write "
                f'"{KIND}": "{RerankerRecipe.kind}" into it.'
            )
    return _KINDS[kind].from_json(given)


def loop_of(recipe: AnyRecipe) -> Recipe:
    """Give of any recipe what they have in common, as an encoder's: batches, optimiser, base, what is learnt."""
    return recipe if isinstance(recipe, Recipe) else recipe.training
