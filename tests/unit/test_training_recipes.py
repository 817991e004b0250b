"""Recipes of training: what they may say, how they are written down, and how a wrong one is refused."""

from __future__ import annotations

import json

import pytest

from relic_core.errors import BadRequest
from relic_core.training.recipes import RECIPES, Recipe, recipe_named


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_comes_back_from_json_as_it_went(name):
    recipe = recipe_named(name)
    assert recipe.name == name
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    assert again.digest == recipe.digest


def test_the_paper_s_recipe_is_the_paper_s():
    paper = recipe_named("paper")
    assert (paper.base, paper.pooling, paper.similarity) == ("roberta-base", "first", "dot")
    assert (paper.batch, paper.epochs, paper.learning_rate) == (100, 10, 1e-5)
    assert paper.shapes == (("4/4", 1.0),)
    assert not paper.in_context
    assert not paper.frozen_embeddings


def test_the_digest_hangs_on_all_but_the_name():
    assert Recipe(name="one").digest == Recipe(name="other").digest
    assert Recipe(seed=1).digest != Recipe(seed=2).digest
    assert Recipe(epochs=1).digest == Recipe(epochs=1.0).digest


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"batch": 1}, "batch is 1; it must be a whole number from 2"),
        ({"batch": True}, "batch is true"),
        ({"batch": 12.5}, "batch is 12.5"),
        ({"temperature": 0}, "temperature is 0; it must be a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is NaN"),
        ({"learning_rate": "fast"}, 'learning_rate is "fast"'),
        ({"share": 1.5}, "share is 1.5; it must be a number from 0 to 1"),
        ({"pooling": "last"}, 'pooling is "last"; it must be "mean" or "first"'),
        ({"mask": "yes"}, 'mask is "yes"; it must be true or false'),
        ({"watch": " "}, 'watch is " "; it must be a text'),
        ({"shapes": []}, "shapes is"),
        ({"shapes": [["4/4", -1]]}, "a list of shapes with weights"),
        ({"shapes": [["4/4", 0]]}, "one weight at least is above 0"),
        ({"shapes": [["9/9", 1]]}, "context shape 9/9 cannot be"),
        ({"claim_tokens": 300}, "its window has 254"),
        ({"bach": 3}, "Did you mean batch"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_in_words(given, told):
    with pytest.raises(BadRequest) as refused:
        Recipe.from_json(given)
    assert told in str(refused.value)


def test_a_list_is_no_recipe():
    with pytest.raises(BadRequest, match="one JSON object"):
        Recipe.from_json([1, 2])


def test_a_name_that_is_nearly_known_is_told_which():
    with pytest.raises(BadRequest, match="Did you mean laptop"):
        recipe_named("labtop")
