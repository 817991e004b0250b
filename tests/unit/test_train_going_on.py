"""Going on with a training: with the encoders it was begun with, from where it was, and not once it is finished."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest

from relic_core.encoders.cards import read_card
from relic_core.encoders.weights import encoder_digest
from relic_core.errors import BadRequest, BadWeights, JobCancelled
from relic_core.training import hard_negatives, running
from relic_core.training.folders import TrainingFolder
from relic_core.wiring import build
from tests.small_training import asked_of, furnished


@pytest.fixture
def bench(settings):
    return furnished(settings)


@pytest.fixture
def encoders(bench, base):
    """Two encoders that were trained; the first is the default."""
    made = [bench.trainings.start(asked_of(base, steps=1, validation=0, seed=seed)).id for seed in (1, 2)]
    bench.trainings.use(made[0])
    return made


def begin(settings, asked):
    """Begin a training that waits for its turn."""
    return build(settings, executor=SimpleNamespace(submit=lambda *_: None)).trainings.start(asked)


def run(settings, training, progress=lambda *_: None):
    build(settings).run_training(training.id, progress)


def digest_of(settings, training_id):
    card = read_card(str(TrainingFolder.find(settings.data, training_id).card))
    return encoder_digest(card.query_model, card.passage_model)


def stop_when(note):
    def progress(_done, _total, said=""):
        if said.startswith(note):
            raise JobCancelled

    return progress


# ---------------------------------------------------------------- the encoders it was begun with


def test_a_training_goes_on_from_what_was_the_default_when_it_was_begun(encoders, bench, base, settings, monkeypatch):
    training = begin(settings, asked_of(base, steps=4, start="default"))
    bench.trainings.use(encoders[1])  # before it had its turn
    monkeypatch.setattr(running.Journal, "stop", lambda journal: journal._done >= 1)
    with pytest.raises(JobCancelled):
        run(settings, training)
    monkeypatch.undo()
    bench.trainings.use_packaged()
    run(settings, training)
    folder = TrainingFolder.find(settings.data, training.id)
    record = json.loads((folder.model / "training.json").read_text())
    assert record["start_digest"] == digest_of(settings, encoders[0])
    assert folder.training.asked["start"] == "default", "as a person called it"


def test_hard_negatives_are_looked_for_with_what_was_the_default_when_it_was_begun(encoders, bench, base, settings):
    training = begin(settings, asked_of(base, steps=0, hard="default"))
    with pytest.raises(JobCancelled):
        run(settings, training, stop_when(f"{hard_negatives.LOOKING}: 36"))
    folder = TrainingFolder.find(settings.data, training.id)
    by = folder.examples()["hard"]["by"]
    bench.trainings.use(encoders[1])
    run(settings, training)
    assert folder.examples()["hard"]["by"] == by


def test_an_encoder_that_is_gone_or_was_changed_is_told_by_its_name(encoders, bench, base, settings, monkeypatch):
    model = TrainingFolder.find(settings.data, encoders[0]).model
    training = begin(settings, asked_of(base, steps=4, start=encoders[0]))
    with pytest.raises(JobCancelled):
        run(settings, training, stop_when("Reading the first batch"))
    other = TrainingFolder.find(settings.data, encoders[1]).model
    kept = model.rename(model.with_name("kept"))
    with pytest.raises(BadWeights, match=encoders[0]):
        run(settings, training)
    shutil.copytree(other, model)
    with pytest.raises(BadWeights, match="not as it was"):
        run(settings, training)
    assert "not as it was" in bench.trainings.get(training.id).note
    shutil.rmtree(model)
    kept.rename(model)
    run(settings, training)
    assert bench.trainings.get(training.id).state == "finished"


# ---------------------------------------------------------------- stopped while it loads; finished


def test_one_that_is_stopped_while_it_loads_says_how_far_it_was(bench, base, settings, monkeypatch):
    training = begin(settings, asked_of(base, steps=6))
    with pytest.raises(JobCancelled):
        run(settings, training, stop_when("Loading"))
    assert bench.trainings.get(training.id).note == "It was stopped before its first step."
    monkeypatch.setattr(running.Journal, "stop", lambda journal: journal._done >= 1)
    with pytest.raises(JobCancelled):
        run(settings, training)
    monkeypatch.undo()
    with pytest.raises(JobCancelled):
        run(settings, training, stop_when("Loading"))
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.step) == ("stopped", 2)
    assert followed.note == "Stopped after step 2."


def test_one_that_was_killed_while_it_cleared_up_is_finished_and_is_not_learnt_again(
    bench, base, settings, monkeypatch
):
    removed = shutil.rmtree

    def killed(path, **how):
        if path.name == "checkpoints":
            raise KeyboardInterrupt
        removed(path, **how)

    training = begin(settings, asked_of(base))
    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        run(settings, training)
    monkeypatch.undo()
    assert bench.trainings.get(training.id).state == "finished"
    told = TrainingFolder.find(settings.data, training.id).events()
    with pytest.raises(BadRequest, match="is finished"):
        run(settings, training)
    assert TrainingFolder.find(settings.data, training.id).events() == told
