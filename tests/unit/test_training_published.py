"""Training on RELiC's own files (section 3.2): its batches, its loss, what stops it, what its model is barred from."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import torch

from relic_core.encoders.cards import read_card
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.formats.relic import Quote, RelicBook, read_relic, write_relic
from relic_core.services import jobs
from relic_core.training.batching import plan
from relic_core.training.collating import Collator, Material
from relic_core.training.models import _choosing
from relic_core.training.published import LEARNT, LossValidation, published
from relic_core.training.recipes import RECIPES
from relic_core.training.requests import LIKELIHOOD, TrainingRequest
from relic_core.training.trainer import _encoder
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making_training import NOUNS

SMALL = ("--set", "base=", "--set", "frozen_embeddings=true", "--set", "epochs=1", "--set", "window_batch=10")


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
    kind = _encoder(recipe, Material((), read.windows, read.works.__getitem__), None, "")
    assert isinstance(kind.collator, Collator)
    features = kind.collator([batch])
    assert features["allowed"].all()
    assert features["gold"].tolist() == list(range(len(batch.members)))
    told = {read.windows[member].quotation for member in batch.members}
    assert told <= {sentence.strip() for book in read_relic(files[0]) for sentence in book.sentences}


def test_the_command_trains_on_a_file_stops_by_the_validation_loss_and_says_what_it_learnt(
    files, settings, monkeypatch, run
):
    monkeypatch.setattr(jobs, "SubprocessExecutor", InlineExecutor)
    train, val = files
    ran = run("train", "--data", train, "--val", val, "--recipe", "paper", "--shape", "4/4,1/0", *SMALL, "--wait")
    assert (ran.code, ran.out.count("38 windows")) == (0, 2)
    followed = build(settings).trainings.find("paper 4/4")
    assert (followed.state, followed.step, followed.watch) == ("finished", 4, LIKELIHOOD)
    assert followed.best[LIKELIHOOD] == pytest.approx(100 * 2.718281828 ** -followed.best["loss"])
    sizes = {each.training.name: each.training.recipe["shapes"] for each in build(settings).trainings.all()}
    assert sizes == {"paper 4/4": [["4/4", 1.0]], "paper 1/0": [["1/0", 1.0]]}
    model = settings.data / "trainings" / followed.training.id / "model"
    assert json.loads((model / "training.json").read_text())["learnt"] == LEARNT
    assert read_card(str(model)).learnt == LEARNT
    assert "loss" in run("train", "--show", "paper 4/4").out

    monkeypatch.setenv("RELIC_TRAINED", str(model))
    barred = run("evaluate", "relic", "dense-relic", "--data", train)
    assert (barred.code, isinstance(barred.error, BadRequest), LEARNT in barred.err) == (1, True, True)
    assert run("evaluate", "relic", "dense-relic", "--data", val).code == 0
    # another that goes on from it has learnt the same
    on = run("train", "--data", train, "--start", model, "--set", "steps=1", "--name", "on", "--wait", "--recipe",
             "paper", *SMALL)  # fmt: skip
    made = settings.data / "trainings" / build(settings).trainings.find("on").training.id / "model"
    assert (on.code, read_card(str(made)).learnt) == (0, LEARNT)


def test_the_validation_loss_is_that_of_the_training(files, base):
    recipe = RECIPES["paper"].with_(base=str(base), window=60, claim_tokens=60, passage_tokens=60, dropout=0.0)
    request = TrainingRequest(recipe=recipe, data=str(files[0]), validation_data=str(files[1]))
    read = published(request)
    kind = _encoder(request.recipe, Material((), read.validation, read.works.__getitem__), None, "")
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
    write_relic(train, [book("Moby Dick", 40)])


def too_little(train, _):
    write_relic(train, [book("The Awakening", 5)])


@pytest.mark.parametrize(
    ("spoil", "typed", "error", "named"),
    [
        (cut_short, (), BadBenchmark, "train.json"),
        (unknown_work, (), BadRequest, "A Novel of My Own"),
        (of_the_test_split, (), BadRequest, "Moby Dick"),
        (too_little, (), BadRequest, "5 windows"),
        (None, ("--val", "none.json"), NotFound, "none.json"),
        (None, ("--hard", "base"), BadRequest, "hard"),
        (None, ("--pairs", "40"), BadRequest, "pairs"),
        (None, ("--recipe", "reranker"), BadRequest, "encoder"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_nothing_begins(files, settings, run, spoil, typed, error, named):
    if spoil:
        spoil(*files)
    ran = run("train", "--data", files[0], "--recipe", "paper", *SMALL, *typed)
    assert (ran.code, type(ran.error), named in ran.err) == (1, error, True)
    assert not (settings.data / "trainings").exists()


def test_a_file_to_validate_on_alone_is_refused():
    with pytest.raises(BadRequest, match=r"train\.json"):
        TrainingRequest(recipe=RECIPES["paper"], validation_data="val.json")
