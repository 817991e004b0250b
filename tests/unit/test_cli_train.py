"""The command `train`: beginning a training, looking after those there are, and what it says of what is wrong."""

from __future__ import annotations

import json

import pytest

from relic_core.errors import BadRequest, BadWeights, NotFound
from relic_core.services import jobs
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making_training import make_base
from tests.small_training import furnish

TINY = {
    "batch": 6, "window_batch": 3, "stretches": 4, "share": 0.3, "window": 32, "claim_tokens": 24,
    "passage_tokens": 16, "chunk_tokens": 64, "precision": "float32", "learning_rate": 0.01, "validate_every": 0,
}  # fmt: skip


@pytest.fixture
def bench(settings, monkeypatch):
    """A workbench with something to learn from, whose jobs run at once, also those of commands."""
    monkeypatch.setattr(jobs, "SubprocessExecutor", InlineExecutor)
    made = build(settings)
    furnish(made)
    return made


@pytest.fixture
def train(bench, base, tmp_path, run):
    """Run the command; a training begins with a tiny recipe."""
    recipe = tmp_path / "tiny.json"
    recipe.write_text(json.dumps({"name": "tiny", "base": str(base), "steps": 2, **TINY}))

    def train(*typed, begin=False):
        return run("train", *(["--recipe", recipe, "--validate", "4"] if begin else []), *typed)

    return train


def test_a_dry_run_says_what_would_be_learnt_from_and_how_long_it_takes_and_begins_nothing(train, bench):
    ran = train("--dry-run", begin=True)
    assert ran.code == 0
    for figure in ("36 pairs", "6 windows", "4 windows", "2 steps"):
        assert figure in ran.out
    assert ran.err, "it is little"
    assert bench.trainings.all() == ()


def test_a_training_is_begun_shown_compared_used_removed_and_put_back(train, bench, monkeypatch):
    ran = train("--name", "first", "--wait", begin=True)
    assert (ran.code, "first (" in ran.out, "finished" in ran.out) == (0, True, True)
    assert train("--name", "second", "--set", "seed=3", begin=True).code == 0
    heads, *rows = train("--list", "--format", "csv").out.splitlines()
    assert heads.startswith("id,name,state")
    assert {row.split(",")[1]: row.split(",")[4] for row in rows} == dict.fromkeys(("first", "second"), "2 of 2")
    shown = train("--show", "first").out
    assert [part in shown for part in ("36 pairs", "recall@10, %", "before")] == [True] * 3
    assert [each["caption"] for each in json.loads(train("--show", "first", "--format", "json").out)] == [
        "Validations", "Loss"
    ]  # fmt: skip
    assert "seed" in train("--compare", "first", "second").out
    used = train("--use", "first").out
    assert [part in used for part in ("model of first", "--calibrate first")] == [True] * 2
    assert "catalogue --add" in str(train("--calibrate", "first").error), "a model is there, and no novel"
    assert train("--remove", "first").code == 1, "searches use it"
    assert "model of first" not in train("--use", "packaged").out
    assert "model of first" in train("--back").out
    larger = bench.settings.data / "trainings" / bench.trainings.find("second").training.id / "model"
    monkeypatch.setattr("relic_core.services.models.TRAINED_LARGE", larger)
    used = train("--use", "packaged-large").out
    assert [part in used for part in ("dense-RELiC, larger", "packaged-large", "index --all")] == [True] * 3
    train("--use", "packaged")
    training_id = train("--remove", "first").out.split()[-1]
    assert training_id in train("--list").out.splitlines()[-1]
    assert train("--restore", training_id).code == 0
    assert training_id not in train("--list").out.splitlines()[-1]


@pytest.fixture
def reranker(base, tmp_path, monkeypatch, run):
    """Options that begin a tiny reranker, with a tiny encoder in the place of dense-RELiC."""
    monkeypatch.setenv("RELIC_TRAINED", str(make_base(tmp_path / "dense", positions=256)))
    recipe = tmp_path / "orders.json"
    said = {"kind": "reranker", "name": "orders", "base": str(base), "steps": 2, "negatives": 3, "batch": 6}
    said |= {"claim_tokens": 24, "window": 48, "precision": "float32", "validate_every": 0}
    recipe.write_text(json.dumps(said))
    return ("--recipe", recipe, "--validate", "4")


def test_a_reranker_is_begun_and_made_the_default_by_the_same_command(train, reranker):
    ran = train(*reranker, "--name", "orders", "--wait")
    assert (ran.code, "finished" in ran.out) == (0, True)
    assert train("--list", "--format", "csv").out.splitlines()[1].split(",")[1:4] == ["orders", "finished", "reranker"]
    assert isinstance(train("--calibrate", "orders").error, BadRequest)
    used = train("--use", "orders").out
    assert [part in used for part in (" orders ", "RELIC_TRAINED", "index --all")] == [True, True, False]
    assert train("--remove", "orders").code == 1, "searches use it"
    assert " orders " not in train("--use", "packaged-reranker").out
    assert " orders " in train("--back").out
    assert " orders " not in train("--use", "packaged").out


def test_no_hard_negatives_are_looked_for_where_that_is_asked(train, reranker, bench):
    train(*reranker, "--hard", "none")
    assert bench.trainings.all()[0].training.asked["hard"] == ""


def test_a_base_that_no_reranker_can_be_made_of_is_told(train, reranker, tmp_path, bench):
    from transformers import DistilBertConfig, DistilBertModel

    base = make_base(tmp_path / "distilled")
    config = DistilBertConfig(vocab_size=120, dim=16, n_layers=1, n_heads=2, hidden_dim=16, max_position_embeddings=64)
    DistilBertModel(config).save_pretrained(base)
    ran = train(*reranker, "--base", base)
    assert (ran.code, "distilbert" in ran.err, bench.trainings.all()) == (1, True, ())


def test_one_that_has_ended_is_told_when_it_is_stopped_and_cannot_be_resumed(train):
    train("--name", "first", begin=True)
    assert "finished" in train("--stop", "first").out
    assert "finished" in train("--resume", "first").err


@pytest.mark.parametrize(
    ("typed", "error", "named"),
    [
        (("--set", "batch=1"), BadRequest, "batch is 1"),
        (("--set", "bach=6"), BadRequest, "batch"),
        (("--recipe", "lapdog"), BadRequest, "laptop"),
        (("--recipe", "reranker", "--set", "temperature=1"), BadRequest, "'temperature'"),
        (("--recipe", "reranker", "--set", "pooling=first"), BadRequest, '"claim first"'),
        (("--recipe", "none.json"), NotFound, "none.json"),
        (("--length", "ever"), BadRequest, "'ever'"),
        (("--pairs", "0", "--no-windows"), BadRequest, ""),
        (("--pairs", "3", "--no-windows"), BadRequest, "3 pairs and 0 windows"),
        (("--recipe", "reranker", "--pairs", "3", "--no-windows"), BadRequest, "3 pairs and 0 windows"),
        (("--base", "/nowhere/at/all"), BadWeights, "'/nowhere/at/all'"),
        (("--show", "first"), NotFound, "'first'"),
        (("--use", "first"), NotFound, "'first'"),
        (("--restore", "first"), NotFound, "'first'"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_begins(train, bench, typed, error, named):
    ran = train(*typed)
    assert (ran.code, type(ran.error), bench.trainings.all()) == (1, error, ())
    assert named in ran.err


@pytest.mark.parametrize(
    "typed",
    [
        ("--list", "--show", "first"),
        ("--list", "--pairs", "3"),
        ("--show", "first", "--wait"),
        ("--windows", "--no-windows"),
    ],
    ids=" ".join,
)
def test_what_does_not_go_together_is_wrong_usage(train, typed):
    assert train(*typed).code == 2


def test_recipes_are_listed(run):
    listed = json.loads(run("train", "--recipes", "--format", "json").out)[0]["rows"]
    assert {"laptop", "reranker"} <= {row["name"] for row in listed}
