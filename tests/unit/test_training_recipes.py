"""Recipes of training: what they may say, how they are written down, and how a wrong one is refused."""

from __future__ import annotations

import hashlib
import json

import pytest

from relic_core.errors import BadRequest
from relic_core.training.recipes import RECIPES, EncoderRecipe, RerankerRecipe, read_recipe, recipe_of


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_comes_back_from_json_as_it_went(name):
    recipe = RECIPES[name]
    assert recipe.name == name
    again = read_recipe(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    assert type(again) is type(recipe)
    assert again.digest == recipe.digest


def test_the_paper_s_recipe_is_the_paper_s():
    paper = RECIPES["paper"]
    assert (paper.base, paper.pooling, paper.similarity) == ("roberta-base", "first", "dot")
    assert (paper.batch, paper.epochs, paper.learning_rate) == (100, 10, 1e-5)
    assert paper.shapes == (("4/4", 1.0),)
    assert not paper.in_context
    assert not paper.frozen_embeddings


def test_the_authors_recipe_differs_from_the_paper_s_where_their_code_does():
    paper, authors = (RECIPES[name].to_json() for name in ("paper", "authors"))
    assert {key: authors[key] for key in authors if authors[key] != paper[key]} == {
        "name": "authors", "pooling": "pooler", "clip": 1.0, "schedule": "linear",
        "claim_tokens": 254, "passage_tokens": 96, "window": 254,
    }  # fmt: skip


def test_the_digest_hangs_on_all_but_the_name():
    assert EncoderRecipe(name="one").digest == EncoderRecipe(name="other").digest
    assert EncoderRecipe(seed=1).digest != EncoderRecipe(seed=2).digest
    assert EncoderRecipe(epochs=1).digest == EncoderRecipe(epochs=1.0).digest
    assert EncoderRecipe().digest.startswith("c5e592e3f9d8"), "as it always was: checkpoints are gone on with"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"batch": 1}, "batch is 1;.* whole .* 2"),
        ({"batch": True}, "batch is true"),
        ({"batch": 12.5}, "batch is 12.5"),
        ({"temperature": 0}, "temperature is 0;.* above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is NaN"),
        ({"learning_rate": "fast"}, 'learning_rate is "fast"'),
        ({"share": 1.5}, "share is 1.5; it must be a number from 0 to 1"),
        ({"pooling": "last"}, 'pooling is "last"; it must be "mean" or "first"'),
        ({"mask": "yes"}, 'mask is "yes"; it must be true or false'),
        ({"watch": " "}, 'watch is " "; it must be a text'),
        ({"shapes": []}, "shapes is"),
        ({"shapes": [["4/4", -1]]}, "shapes with weights"),
        ({"shapes": [["4/4", 0]]}, "is above 0"),
        ({"shapes": [["9/9", 1]]}, "context shape 9/9 cannot be"),
        ({"claim_tokens": 300}, "has, 254"),
        ({"bach": 3}, "Did you mean batch"),
        ({"scoring": "late", "pooling": "first"}, 'must be "mean" where scoring is "late"'),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_in_words(given, told):
    with pytest.raises(BadRequest, match=told):
        EncoderRecipe.from_json(given)


def test_a_list_is_no_recipe():
    with pytest.raises(BadRequest, match="JSON object"):
        EncoderRecipe.from_json([1, 2])


def test_a_name_that_is_nearly_known_is_told_which():
    with pytest.raises(BadRequest, match="Did you mean laptop"):
        recipe_of("labtop")


def test_a_recipe_says_what_it_makes_and_one_that_does_not_makes_an_encoder():
    assert "kind" not in EncoderRecipe().to_json()  # as it was written before there were other kinds
    assert read_recipe({"batch": 32}) == read_recipe({"kind": "encoder", "batch": 32}) == EncoderRecipe(batch=32)
    assert read_recipe({"kind": "reranker", "negatives": 3}) == RerankerRecipe(negatives=3)
    assert RECIPES["reranker"].with_(epochs=2) == RerankerRecipe(epochs=2.0)


def test_the_digest_of_a_reranker_s_recipe_does_not_hang_on_its_kind_being_written():
    said = RerankerRecipe().to_json()
    assert said["kind"] == "reranker"
    without = {key: value for key, value in said.items() if key not in {"kind", "name"}}
    digest = hashlib.sha256(json.dumps(without, sort_keys=True).encode()).hexdigest()
    assert RerankerRecipe().digest == digest, "checkpoints from before are still gone on with"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "poet"}, "called 'poet'"),
        ({"negatives": 3}, 'write "kind": "reranker"'),
        ({"kind": "reranker", "stretches": 3}, "reranker's .* 'stretches'"),
        ({"kind": "encoder", "negatives": 3}, "no setting of a recipe called 'negatives'"),
        ({"kind": "reranker", "pooling": "first"}, '"mean" or "likeness".* "claim first"'),
        ([1], "JSON object"),
    ],
)
def test_what_means_nothing_for_a_kind_is_refused_in_words(given, told):
    with pytest.raises(BadRequest, match=told):
        read_recipe(given)


def test_a_kind_cannot_be_changed():
    with pytest.raises(BadRequest, match="kind cannot"):
        RECIPES["reranker"].with_(kind="encoder")
