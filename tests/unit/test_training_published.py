"""Training on RELiC's own files (section 3.2): its batches, its loss, what stops it, what its model is barred from."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file

from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats.relic import Quote, RelicBook, read_relic, write_relic
from relic_core.services import jobs
from relic_core.training.batching import plan
from relic_core.training.collating import Collator, Material
from relic_core.training.learners import _encoder, _reranker
from relic_core.training.models import _choosing
from relic_core.training.published import LEARNT, LossValidation, published
from relic_core.training.recipes import RECIPES, RerankerRecipe
from relic_core.training.requests import LIKELIHOOD, TrainingRequest
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making_training import NOUNS


def book(title, quotes=18, sentences=40):
    lines = tuple(f"{NOUNS[at % 13]} and {NOUNS[(at * 5 + 1) % 13]}, {title} {at}. " for at in range(sentences))
    named = tuple(
        Quote(f"{title} {at}", ("He says :", f"the {lines[2 * at % 30].split()[0]} is far."), 2 * at % 30, 1, ("So.",))
        for at in range(quotes)
    )
    starts = {length: tuple(range(sentences - length + 1)) for length in range(1, 6)}
    return RelicBook(title, lines, starts, named)


@pytest.fixture
def files(tmp_path):
    """RELiC's train.json and val.json, small: two works of its train split, one of its validation split."""
    train, val = tmp_path / "train.json", tmp_path / "val.json"
    write_relic(train, [book("The Awakening"), book("Frankenstein", 20)])
    write_relic(val, [book("Emma", 4)])
    return train, val


def test_the_loss_of_the_paper_is_summed_over_a_batch_in_one_direction():
    scores = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    assert _choosing(scores, torch.arange(2), "sum")["loss"].item() == pytest.approx(0.2539, abs=5e-5)
    one_way = torch.tensor([[2.0, 0.0], [2.0, 0.0]])  # the other direction would give ln 4
    assert _choosing(one_way, torch.arange(2), "sum")["loss"].item() == pytest.approx(0.1269 + 2.1269, abs=5e-4)


def test_a_batch_is_of_one_primary_work_and_every_other_quotation_of_it_counts(files, base):
    request = TrainingRequest(recipe=RECIPES["paper"].with_(base=str(base), window=60, claim_tokens=60,
                              passage_tokens=60, window_batch=10), data=str(files[0]))  # fmt: skip
    read = published(request)
    recipe = request.recipe
    planned = plan(recipe.with_(epochs=1), [], [window.work_id for window in read.windows])
    of = [{read.windows[member].work_id for member in batch.members} for batch in planned]
    assert (Counter(batch.kind for batch in planned), {len(each) for each in of}) == ({"windows": 4}, {1})
    batch = next(batch for batch in planned if len(batch.members) > 2)
    kind = _encoder(recipe, Material((), read.windows, read.works.__getitem__), None)
    assert isinstance(kind.collator, Collator)
    features = kind.collator([batch])
    assert features["allowed"].all()
    assert features["gold"].tolist() == list(range(len(batch.members)))
    told = {read.windows[member].quotation for member in batch.members}
    assert told <= {sentence.strip() for book in read_relic(files[0]) for sentence in book.sentences}


@pytest.fixture
def train(files, settings, monkeypatch, run, base):
    """Run the command on the files, with the tiny base in the place of RoBERTa."""
    monkeypatch.setattr(jobs, "SubprocessExecutor", InlineExecutor)

    def train(*typed, base=base):
        sizes = [f"{key}=60" for key in ("window", "claim_tokens", "passage_tokens")] if base else ["steps=1"]
        changes = ["window_batch=10", "epochs=1", f"base={base}", "frozen_embeddings=true", *sizes]
        named = [part for change in changes for part in ("--set", change)]
        ran = run("train", "--data", files[0], "--recipe", "paper", *named, *typed)
        return ran, {each.training.name: each for each in build(settings).trainings.all()}

    return train


def test_the_command_trains_each_size_on_a_file_and_is_stopped_by_the_validation_loss(train, files, settings, run):
    ran, every = train("--val", files[1], "--shape", "all", "--wait", "--set", "steps=1")
    assert (ran.code, ran.out.count("38 windows")) == (0, 6)
    sizes = ("4/4", "1/1", "4/0", "0/4", "1/0", "0/1")
    assert {name: each.training.recipe["shapes"] for name, each in every.items()} == {
        f"paper {size}": [[size, 1.0]] for size in sizes
    }
    followed = every["paper 4/4"]
    assert (followed.state, followed.step, followed.watch) == ("finished", 1, LIKELIHOOD)
    assert followed.best[LIKELIHOOD] == pytest.approx(100 * 2.718281828 ** -followed.best["loss"])
    assert "loss" in run("train", "--show", "paper 4/4").out


def test_the_packaged_model_can_be_taught_so_and_says_what_it_learnt(train, settings, run):
    ran, every = train("--shape", "4/4", "--wait", base="")
    model = settings.data / "trainings" / every["paper 4/4"].training.id / "model"
    assert ran.code == 0
    assert "paper 4/4" in run("train", "--show", "paper").out  # the only one of that name, whatever its shape
    assert json.loads((model / "training.json").read_text())["learnt"] == LEARNT
    assert read_card(str(model)).learnt == LEARNT


def test_the_authors_recipe_learns_a_pooler_also_where_its_base_has_none(train, base, settings, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(base, bare)
    tensors = load_file(base / "model.safetensors")
    save_file({name: each for name, each in tensors.items() if "pooler." not in name}, bare / "model.safetensors")
    ran, every = train("--recipe", "authors", "--wait", "--set", "steps=1", base=str(bare))
    assert ran.code == 0, ran.err
    (training,) = every.values()
    model = settings.data / "trainings" / training.training.id / "model"
    card = read_card(str(model))
    assert (card.pooling, card.similarity, card.window, card.passage_window) == ("pooler", "dot", 60, 60)
    began, learnt = (load_file(model / side / "model.safetensors") for side in ("claims", "passages"))
    assert not torch.equal(began["pooler.dense.weight"], learnt["pooler.dense.weight"])
    assert abs(PassageEncoder(card).encode_passages(["A lamp."])).max() <= 1  # what tanh leaves


def test_what_has_learnt_the_train_split_is_not_measured_on_it_nor_is_what_goes_on_from_it(
    train, files, settings, monkeypatch, run
):
    _, every = train("--name", "one", "--set", "steps=1")
    on, every = train("--name", "other", "--set", "steps=1", "--start", every["one"].training.id)
    assert on.code == 0, on.err
    model = settings.data / "trainings" / every["other"].training.id / "model"
    monkeypatch.setenv("RELIC_TRAINED", str(model))
    barred = run("evaluate", "relic", "dense-relic", "--data", files[0])
    assert (barred.code, type(barred.error), LEARNT in barred.err) == (1, BadRequest, True)
    assert run("evaluate", "relic", "dense-relic", "--data", files[1]).code == 0
    with pytest.raises(BadRequest, match="Let it go on from another"):
        _reranker(RerankerRecipe(), Material((), (), NotImplemented), read_card(str(model)))


def test_the_validation_loss_is_that_of_the_training(files, base, monkeypatch):
    exact = partial(PassageEncoder, precision="float32")  # as the model here; what a processor prefers is rounder
    monkeypatch.setattr("relic_core.training.published.PassageEncoder", exact)
    recipe = RECIPES["paper"].with_(base=str(base), window=60, claim_tokens=60, passage_tokens=60, dropout=0.0)
    request = TrainingRequest(recipe=recipe, data=str(files[0]), validation_data=str(files[1]))
    read = published(request)
    kind = _encoder(request.recipe, Material((), read.validation, read.works.__getitem__), None)
    model = kind.model()
    (batch,) = plan(request.recipe.with_(epochs=1), [], [window.work_id for window in read.validation])
    summed = model(**kind.collator([batch]))["loss"].item()
    folder = files[0].parent / "made"
    kind.write(folder, model, {"figures": {}})
    assert LossValidation(request.recipe, read)(folder)["loss"] == pytest.approx(summed / 4, rel=1e-4)


def cut_short(train, _):
    train.write_bytes(train.read_bytes()[:-40])


def unknown_work(train, _):
    write_relic(train, [book("A Novel of My Own", 40)])


def of_the_test_split(train, _):
    write_relic(train, [book("Pride and Prejudice", 40)])


def too_little(train, _):
    write_relic(train, [book("The Awakening", 5)])


@pytest.mark.parametrize(
    ("spoil", "typed", "error", "named"),
    [
        (cut_short, (), BadBenchmark, "train.json"),
        (unknown_work, (), BadRequest, "A Novel of My Own"),
        (of_the_test_split, (), BadRequest, "Pride and Prejudice"),
        (too_little, (), BadRequest, "5 windows"),
        (None, ("--val", "none.json"), NotFound, "none.json"),
        (None, ("--hard", "base"), BadRequest, "hard"),
        (None, ("--pairs", "40"), BadRequest, "pairs"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_nothing_begins(files, settings, train, spoil, typed, error, named):
    if spoil:
        spoil(*files)
    ran, _ = train(*typed)
    assert (ran.code, type(ran.error), named in ran.err) == (1, error, True)
    assert not (settings.data / "trainings").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"recipe": RECIPES["paper"], "validation_data": "val.json"},
        {"recipe": RerankerRecipe(), "data": "train.json"},
        {"recipe": RECIPES["late"], "data": "train.json", "validation_data": "val.json"},
    ],
)
def test_what_does_not_go_with_such_a_file_is_refused(given):
    with pytest.raises(BadRequest, match=r"train\.json|encoder"):
        TrainingRequest(**given)
