"""The command `train`: beginning a training, looking after those there are, and what it says of what is wrong."""

from __future__ import annotations

import json

import pytest

from relic_core.cli import main
from relic_core.config import Settings
from relic_core.services import jobs
from relic_core.wiring import InlineExecutor, build
from tests.making_training import make_base
from tests.small_training import furnish

TINY = {
    "batch": 6, "window_batch": 3, "stretches": 4, "share": 0.3, "window": 32, "claim_tokens": 24,
    "passage_tokens": 16, "chunk_tokens": 64, "precision": "float32", "learning_rate": 0.01, "validate_every": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A workbench with something to learn from, whose jobs run at once, also those of commands."""
    settings = Settings(data=tmp_path / "data", indexes=tmp_path / "indexes")
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(jobs, "SubprocessExecutor", InlineExecutor)
    made = build(settings)
    furnish(made)
    return made


@pytest.fixture
def train(bench, base, tmp_path, capsys):
    """Run the command; gives exit code, output and errors. A training begins with a tiny recipe."""
    recipe = tmp_path / "tiny.json"
    recipe.write_text(json.dumps({"name": "tiny", "base": str(base), "steps": 2, **TINY}))

    def train(*arguments, begin=False):
        given = ["--recipe", str(recipe), "--validate", "4"] if begin else []
        try:
            code = main(["train", *given, *arguments])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return train


def test_a_dry_run_says_what_would_be_learnt_from_and_how_long_it_takes_and_begins_nothing(train, bench):
    code, out, err = train("--dry-run", begin=True)
    assert code == 0
    assert "It learns from 36 pairs and 6 windows, and is validated on 4 windows." in out
    assert "it takes about less than a minute (2 steps)" in out
    assert "That is little" in err
    assert bench.trainings.all() == ()


def test_a_training_is_begun_shown_compared_used_removed_and_put_back(train, bench):
    code, out, _ = train("--name", "first", "--wait", begin=True)
    assert code == 0
    assert "first (" in out
    assert "): finished. 2 steps in less than a minute." in out
    assert train("--name", "second", "--set", "seed=3", begin=True)[0] == 0
    _, out, _ = train("--list")
    assert "first" in out
    assert "2 of 2" in out
    assert "Searches use the packaged model.\nWhat they find is reordered by the packaged reranker." in out
    _, out, _ = train("--show", "first")
    assert "learns from" in out
    assert "recall@10, %" in out
    assert "before" in out
    _, out, _ = train("--compare", "first", "second")
    assert "In what they differ" in out
    assert "seed" in out
    _, out, _ = train("--use", "first")
    assert "Searches use the model of first" in out
    assert train("--remove", "first")[0] == 1
    _, out, _ = train("--use", "packaged")
    assert "Searches use the packaged model." in out
    assert "Searches use the model of first" in train("--back")[1]
    train("--use", "packaged")
    _, out, _ = train("--remove", "first")
    assert "is removed. To put it back: python -m relic_core train --restore " in out
    training_id = out.split()[-1]
    assert f"Removed: {training_id} (first)." in train("--list")[1]
    assert train("--restore", training_id)[1] == "first is back.\n"


@pytest.fixture
def reranker(base, tmp_path, monkeypatch):
    """Options that begin a tiny reranker, with a tiny encoder in the place of dense-RELiC."""
    monkeypatch.setenv("RELIC_TRAINED", str(make_base(tmp_path / "dense", positions=256)))
    recipe = tmp_path / "orders.json"
    said = {"kind": "reranker", "name": "orders", "base": str(base), "steps": 2, "negatives": 3, "batch": 6}
    said |= {"claim_tokens": 24, "window": 48, "precision": "float32", "validate_every": 0}
    recipe.write_text(json.dumps(said))
    return ("--recipe", str(recipe), "--validate", "4")


def test_a_reranker_is_begun_and_made_the_default_by_the_same_command(train, reranker):
    code, out, _ = train(*reranker, "--name", "orders", "--wait")
    assert code == 0
    assert "): finished. 2 steps in less than a minute." in out
    assert "Of that, looking for hard negatives takes less than a minute." in out
    assert train("--list", "--format", "csv")[1].splitlines()[1].split(",")[1:4] == ["orders", "finished", "reranker"]
    _, out, _ = train("--use", "orders")
    assert "What they find is reordered by the reranker of orders" in out
    assert "Works are prepared" not in out, "nothing is prepared for a reranker"
    assert "Searches use the model that RELIC_TRAINED names" in out
    assert train("--remove", "orders")[0] == 1
    assert "reordered by the packaged reranker." in train("--use", "packaged-reranker")[1]
    assert "reordered by the reranker of orders" in train("--back")[1]
    assert "reordered by the packaged reranker." in train("--use", "packaged")[1]


def test_no_hard_negatives_are_looked_for_where_that_is_asked(train, reranker, bench):
    _, out, _ = train(*reranker, "--hard", "none", "--dry-run")
    assert "hard negatives" not in out
    train(*reranker, "--hard", "none")
    assert bench.trainings.all()[0].training.asked["hard"] == ""


def test_a_base_that_no_reranker_can_be_made_of_is_told(train, reranker, tmp_path, bench):
    from transformers import DistilBertConfig, DistilBertModel

    base = make_base(tmp_path / "distilled")
    config = DistilBertConfig(vocab_size=120, dim=16, n_layers=1, n_heads=2, hidden_dim=16, max_position_embeddings=64)
    DistilBertModel(config).save_pretrained(base)
    code, out, err = train(*reranker, "--base", str(base))
    assert code == 1
    assert "A reranker cannot be made of a model of type distilbert: BERT and RoBERTa models are read" in err
    assert "Traceback" not in out + err
    assert bench.trainings.all() == ()


def test_figures_are_written_for_a_machine_too(train):
    train("--name", "first", begin=True)
    _, out, _ = train("--show", "first", "--format", "json")
    assert [each["caption"] for each in json.loads(out)] == ["Validations", "Loss"]
    _, out, _ = train("--list", "--format", "csv")
    assert out.splitlines()[0].startswith("id,name,state")


def test_one_that_has_ended_is_told_when_it_is_stopped_and_cannot_be_resumed(train):
    train("--name", "first", begin=True)
    assert "finished" in train("--stop", "first")[1]
    code, _, err = train("--resume", "first")
    assert (code, err) == (1, "first is finished: there is nothing to go on with. Start a new training.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--set", "batch=1"), "The recipe's batch is 1; it must be a whole number"),
        (("--set", "bach=6"), "Did you mean batch"),
        (("--recipe", "lapdog"), "Did you mean laptop"),
        (("--recipe", "reranker", "--set", "temperature=1"), "no setting of a reranker's recipe called 'temperature'"),
        (
            ("--recipe", "reranker", "--set", "pooling=first"),
            'it must be "mean" or "likeness" where reading is "claim first"',
        ),
        (("--recipe", "reranker", "--pairs", "3", "--no-windows"), "There are 3 pairs and 0 windows to learn from"),
        (("--recipe", "none.json"), "There is no recipe none.json"),
        (("--length", "ever"), "There is no length of a training called 'ever'"),
        (("--pairs", "0", "--no-windows"), "nothing to learn from"),
        (("--pairs", "3", "--no-windows"), "There are 3 pairs and 0 windows to learn from"),
        (("--base", "/nowhere/at/all"), "There is no folder '/nowhere/at/all'"),
        (("--show", "first"), "There is no training 'first'"),
        (("--use", "first"), "There is no training 'first'"),
        (("--restore", "first"), "There is no training 'first'"),
    ],
)
def test_what_is_wrong_is_said_in_words_and_nothing_begins(train, bench, arguments, told):
    code, out, err = train(*arguments)
    assert code == 1
    assert told in err
    assert "Traceback" not in out + err
    assert bench.trainings.all() == ()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--list", "--show", "first"),
        ("--list", "--pairs", "3"),
        ("--show", "first", "--wait"),
        ("--windows", "--no-windows"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(train, arguments):
    assert train(*arguments)[0] == 2


def test_recipes_are_listed(train):
    _, out, _ = train("--recipes")
    assert "laptop" in out
    assert "reranker" in out
    assert "The RELiC paper's own recipe" in out
