"""Trainings of the app: what they learn from, how they go, stopping and resuming, the default model, bad input."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import signal
import time
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.domain.trainings import KILLED, Training
from relic_core.encoders.cards import HeadPooling, Reading
from relic_core.encoders.weights import TOKEN_WEIGHTS
from relic_core.errors import BadRequest, BadWeights, JobCancelled, NotFound, StoreFull
from relic_core.retrieval import dense, late
from relic_core.services.models import PACKAGED_LARGE, Chosen, with_chosen
from relic_core.training import estimates, running
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import (
    ABOUT,
    RECIPES,
    SETTINGS,
    EncoderRecipe,
    RerankerRecipe,
    SourceRecipe,
    recipe_of,
    setting,
)
from relic_core.training.requests import LENGTHS, TrainingRequest
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.small_training import asked_of, furnish, furnished


@pytest.fixture
def bench(settings):
    return furnished(settings)


@pytest.fixture
def stopped(bench, base, monkeypatch):
    """A training that was stopped after its second step."""
    monkeypatch.setattr(running.Journal, "stop", lambda journal: journal._done >= 1)
    training = bench.trainings.start(asked_of(base, steps=6, name="long"))
    monkeypatch.undo()
    return training.id


# ---------------------------------------------------------------- what is made


def test_a_training_learns_validates_and_ends_with_a_model_and_its_figures(bench, base, settings):
    training = bench.trainings.start(asked_of(base, validate_every=2))
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.step, followed.of, followed.checkpoint) == ("finished", 3, 3, 3)
    assert [step for step, _ in followed.losses] == [1, 2, 3]
    assert [each["step"] for each in followed.validations] == [0, 2, 3]
    assert followed.before["windows"] == followed.best["windows"] == 6
    assert 0 <= followed.best["recall@10"] <= followed.best["recall@100"] == 100, "the work has 48 sentences"
    assert (followed.pairs, followed.windows, followed.held_back) == (36, 6, 0)
    assert followed.memory > 1
    assert followed.has_model
    assert not followed.resumable
    folder = TrainingFolder.find(settings.data, training.id)
    assert not (folder.path / "checkpoints").exists(), "nothing is gone on with, and they are large"


def test_what_a_training_tells_is_taken_into_the_store_once(bench, base, settings):
    training = bench.trainings.start(asked_of(base))
    told = TrainingFolder.find(settings.data, training.id).events()
    bench.trainings.all()
    bench.trainings.all()
    kept = bench.store.trainings.events(training.id)
    assert kept == told
    assert [each.event for each in kept if each.event == "step"] == ["step"] * 3
    shutil.rmtree(settings.data / "trainings")
    (followed,) = bench.trainings.all()
    assert (followed.state, followed.step, followed.resumable, followed.has_model) == ("finished", 3, False, False)
    assert "or moved" in followed.note


def test_only_what_is_asked_for_is_learnt_from(bench, base, settings):
    of_one = bench.store.sources.all()[0].source.id

    def learnt(**given):
        training = bench.trainings.start(asked_of(base, steps=1, **given))
        return TrainingFolder.find(settings.data, training.id).examples()

    assert (len(learnt(use="pairs")["pairs"]), learnt(use="pairs")["windows"]) == (36, [])
    some = learnt(pairs=30, use="pairs")["pairs"]
    assert len(some) == 30
    assert some == learnt(pairs=30, use="pairs")["pairs"], "the same are drawn again"
    with pytest.raises(BadRequest, match=r"18 pairs\b.*\b3 windows"):
        learnt(sources=(of_one,))


def test_hard_negatives_are_looked_for_once_and_used_again(stopped, bench, base, settings, monkeypatch):
    monkeypatch.setattr(running.Journal, "stop", lambda journal: journal._done >= 1)
    training = bench.trainings.start(asked_of(base, steps=0, hard="base", hard_negatives=1))
    monkeypatch.undo()
    found = TrainingFolder.find(settings.data, training.id).examples()["hard"]
    assert len(found["pairs"]) > 30
    assert found["windows"]
    monkeypatch.setattr("relic_core.training.hard_negatives.in_source", None)
    assert bench.trainings.resume(training.id).state == "finished"


# ---------------------------------------------------------------- validation


def test_without_windows_to_choose_by_some_works_are_held_back_and_nothing_is_learnt_of_them(settings, base):
    bench = furnished(settings, windows=13, dev=6)
    marks = bench.store.splits.of("window")
    bench.store.splits.replace("window", [(window_id, "training", "") for window_id in marks])
    assert any("held back" in note for note in bench.training_plans.prospect(asked_of(base)).notes)
    training = bench.trainings.start(asked_of(base))
    chosen = TrainingFolder.find(settings.data, training.id).examples()
    assert chosen["held"]
    assert set(chosen["validation"]) == {window_id for window_id in marks if window_id.startswith("dev")}
    assert not set(chosen["validation"]) & set(chosen["windows"])
    assert bench.trainings.get(training.id).held_back == 6


def test_no_pair_quotes_a_work_that_is_held_back_though_its_windows_are_not_learnt_from(settings, base):
    bench = furnished(settings, windows=12, dev=6, overlapping=True)
    marks = bench.store.splits.of("window")
    bench.store.splits.replace("window", [(window_id, "training", "") for window_id in marks])
    asked = asked_of(base, longest=1)
    training = bench.trainings.start(asked)
    chosen = TrainingFolder.find(settings.data, training.id).examples()
    assert chosen["held"]
    held = [each.window for each in bench.store.windows.some(list(marks)) if each.window.id.startswith("dev")]
    assert {window.gold.length for window in held} == {1, 2, 3}
    places = {(window.source_id, window.at) for window in held}
    every = [pair for batch in bench.store.pairs.iterate() for pair in batch]
    quoting = {pair.id for pair in every if (pair.source_id, pair.at) in places}
    assert len(quoting) == 6
    assert len(chosen["pairs"]) == len(every) - 6
    assert {each.window.gold.length for each in bench.store.windows.some(chosen["windows"])} == {1}
    assert not quoting & set(chosen["pairs"])


def test_it_is_said_that_figures_flatter_what_may_have_learnt_from_the_works_held_back(settings, base):
    bench = furnished(settings, windows=13, dev=6)
    start = bench.trainings.start(asked_of(base, steps=1, validation=0)).id

    def flatters(**given):
        return any("may then look" in note for note in bench.training_plans.prospect(asked_of(base, **given)).notes)

    marks = bench.store.splits.of("window")
    assert not flatters(start=start)  # there are others to validate on
    bench.store.splits.replace("window", [(window_id, "training", "") for window_id in marks])
    assert flatters(start=start)
    assert not flatters()
    assert not flatters(start=start, validation=0)


def test_without_anything_to_validate_on_the_last_weights_are_kept_and_that_is_said(bench, base):
    bench.store.splits.replace("window", [])
    asked = asked_of(base, use="pairs")
    assert any("no figures" in note for note in bench.training_plans.prospect(asked).notes)
    followed = bench.trainings.get(bench.trainings.start(asked).id)
    assert (followed.state, followed.validations, followed.has_model) == ("finished", (), True)


def test_spans_of_a_model_that_reads_them_alone_are_ranked_too(bench, base):
    asked = asked_of(base, pooling="first", similarity="dot", share=0.0, window_batch=3)
    followed = bench.trainings.get(bench.trainings.start(asked).id)
    assert followed.state == "finished"
    assert followed.best["windows"] == 6


def test_late_interaction_is_trained_and_validated_word_by_word_and_is_named_by_a_setting(bench, base, settings):
    first = bench.trainings.start(asked_of(base, scoring="late"))
    still = asked_of(base, scoring="late", start=first.id, learning_rate=1e-30, weight_decay=0.0)
    training = bench.trainings.start(still)
    followed = bench.trainings.get(training.id)
    assert followed.state == "finished"
    figures = ("recall@10", "median", "median 1/0")
    assert [followed.before[key] for key in figures] == [followed.best[key] for key in figures]
    assert followed.before["windows"] == followed.best["windows"] == 6
    folder = TrainingFolder.find(settings.data, training.id)
    assert (folder.model / "claims" / TOKEN_WEIGHTS).is_file()
    with pytest.raises(BadRequest, match=f"RELIC_LATE={folder.card}"):
        bench.trainings.use(training.id)
    with pytest.raises(BadWeights, match="RELIC_LATE"):
        bench.trainings.start(asked_of(base, hard=training.id))
    assert late.checked_encoder(replace(settings, late=str(folder.card))) == "late interaction (tiny)"
    (folder.model / "claims" / TOKEN_WEIGHTS).unlink()
    with pytest.raises(BadWeights, match="damaged"):
        late.checked_encoder(replace(settings, late=str(folder.card)))


# ---------------------------------------------------------------- stopping and resuming


def test_a_stopped_training_has_a_checkpoint_and_goes_on_from_it(stopped, bench):
    followed = bench.trainings.get(stopped)
    assert (followed.state, followed.step, followed.checkpoint, followed.resumable) == ("stopped", 2, 2, True)
    assert bench.jobs.recent()[0].state == "cancelled"
    followed = bench.trainings.resume(stopped)
    assert (followed.state, followed.step) == ("finished", 6)
    assert [step for step, _ in followed.losses] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(BadRequest, match="is finished"):
        bench.trainings.resume(stopped)


def test_a_job_that_is_asked_to_stop_ends_with_a_checkpoint(settings, base):
    bench = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    furnish(bench)
    training = bench.trainings.start(asked_of(base))
    asked = []

    def progress(done, total, note=""):
        asked.append(done)
        if done >= 1:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        bench.run_training(training.id, progress)
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.step, followed.checkpoint) == ("stopped", 2, 2)


def test_material_that_came_later_does_not_change_a_training_that_is_resumed(stopped, bench, settings):
    learnt = TrainingFolder.find(settings.data, stopped).examples()["pairs"]
    marks = [(pair_id, "training", "") for pair_id in bench.store.splits.of("pair")]
    bench.store.splits.replace("pair", marks[:20])
    followed = bench.trainings.resume(stopped)
    assert (followed.state, followed.pairs) == ("finished", len(learnt))


def test_material_that_is_gone_is_told_and_can_be_put_back(stopped, bench):
    source = bench.store.sources.all()[0].source.id
    bench.store.sources.remove(source)
    followed = bench.trainings.resume(stopped)
    assert followed.state == "failed"
    assert "the library" in followed.note
    bench.store.sources.restore(source)
    assert bench.trainings.resume(stopped).state == "finished"


def test_a_checkpoint_of_another_configuration_is_told(stopped, bench, settings):
    path = settings.data / "trainings" / stopped / "asked.json"
    said = json.loads(path.read_text())
    said["recipe"]["batch"] = 5
    path.write_text(json.dumps(said))
    followed = bench.trainings.resume(stopped)
    assert followed.state == "failed"
    assert "batch: 6 then, 5 now" in followed.note
    assert bench.jobs.recent()[0].note == followed.note


def test_a_killed_trainer_shows_as_ended_with_what_to_do_and_is_gone_on_with(stopped, bench, settings):
    TrainingFolder.find(settings.data, stopped).append("started")  # and then nothing more
    followed = bench.trainings.get(stopped)
    assert (followed.state, followed.note, followed.resumable) == ("failed", KILLED, True)
    assert bench.trainings.resume(stopped).state == "finished"


def test_a_trainer_in_a_process_can_be_killed_and_resumed(settings, base):
    bench = build(settings)
    furnish(bench)
    training = bench.trainings.start(asked_of(base, steps=0, epochs=400.0, validation=0))
    deadline = time.monotonic() + 120
    while bench.trainings.get(training.id).step < 1:
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.1)
    (job,) = bench.jobs.under_way("train")
    assert bench.trainings.get(training.id).left is not None
    with pytest.raises(BadRequest, match=r"is (waiting|running)"):
        bench.trainings.remove(training.id)
    (process,) = _processes(job.id)
    os.kill(process, signal.SIGKILL)
    bench.jobs.wait(job.id, 20)
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.note) == ("failed", KILLED)
    assert bench.trainings.resume(training.id).active
    bench.trainings.stop(training.id)
    job = next(iter(bench.jobs.under_way("train")), None)
    assert job is None or not bench.jobs.wait(job.id, 120).active
    assert bench.trainings.get(training.id).state == "stopped"


def _processes(job_id):
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if job_id.encode() in (path.read_bytes() if path.exists() else b"")
    ]


# ---------------------------------------------------------------- bad input


def test_three_examples_are_too_few_and_that_is_said_before_anything_begins(settings, base):
    bench = furnished(settings, pairs=3, windows=0)
    told = r"\b3 pairs\b.*\b0 windows\b.*\b30\b"
    assert re.search(told, bench.training_plans.prospect(asked_of(base)).lacking)
    with pytest.raises(BadRequest, match=told):
        bench.trainings.start(asked_of(base))
    assert bench.trainings.all() == ()


def test_what_is_missing_is_said_with_what_to_do(settings):
    bench = build(settings, executor=InlineExecutor(settings))
    nothing = bench.training_plans.lacking()
    assert nothing
    furnish(bench, parted=False)
    prospect = bench.training_plans.prospect(TrainingRequest())
    assert prospect.lacking not in {"", nothing}, "another thing is missing now"
    assert prospect.unparted
    bench.store.splits.replace("pair", [(pair_id, "left out", "") for pair_id in bench.store.pairs.ids()])
    bench.store.splits.replace("window", [(window_id, "dev", "") for window_id in bench.store.windows.ids()])
    assert "other works" in bench.training_plans.lacking()
    bench.store.splits.replace("window", [(window_id, "left out", "") for window_id in bench.store.windows.ids()])
    assert "other works" in bench.training_plans.lacking(), "chosen is chosen, though nothing of it is left"


def test_a_base_without_tokenizer_is_told_before_anything_begins(bench, base, tmp_path):
    broken = shutil.copytree(base, tmp_path / "broken")
    (broken / "tokenizer.json").unlink()
    for act in (bench.training_plans.prospect, bench.trainings.start):
        with pytest.raises(BadWeights, match=r"lacks tokenizer\.json"):
            act(asked_of(broken))
    assert bench.trainings.all() == ()


def test_a_full_disk_is_told_before_anything_begins(bench, base, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))
    with pytest.raises(StoreFull, match="Make room"):
        bench.trainings.start(asked_of(base))


def test_a_disk_that_fills_up_under_way_is_told_and_the_training_can_be_resumed(bench, base, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("relic_core.training.trainer.save_file", full)
    training = bench.trainings.start(asked_of(base))
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.resumable) == ("failed", True)
    assert "no room" in followed.note
    monkeypatch.undo()
    assert bench.trainings.resume(training.id).state == "finished"


def test_a_loss_that_is_no_number_is_told(bench, base, monkeypatch):
    monkeypatch.setattr("relic_core.training.trainer.math", SimpleNamespace(isfinite=lambda _: False))
    followed = bench.trainings.get(bench.trainings.start(asked_of(base)).id)
    assert followed.state == "failed"
    assert "run away" in followed.note
    assert "learning rate" in followed.note


def test_a_fault_of_the_program_ends_a_training_visibly(bench, base, monkeypatch):
    monkeypatch.setattr("relic_core.training.running.draw", None)
    followed = bench.trainings.get(bench.trainings.start(asked_of(base)).id)
    assert followed.state == "failed"
    assert "a mistake" in followed.note


def test_one_of_several_processes_that_were_launched_together_begins_nothing(bench, base, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(BadRequest, match=r"\b2 processes .* docs/training\.md"):
        bench.trainings.start(asked_of(base))
    assert bench.trainings.all() == ()


def test_hard_negatives_that_nothing_would_be_trained_on_are_refused_before_they_are_looked_for(bench, base):
    for act in (bench.training_plans.prospect, bench.trainings.start):
        with pytest.raises(BadRequest, match=r"hard_negatives is 0\b"):
            act(asked_of(base, hard="base", hard_negatives=0))
    assert bench.trainings.all() == ()
    assert not bench.training_plans.prospect(asked_of(base, hard_negatives=0)).lacking


# ---------------------------------------------------------------- the default model


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    """A data folder with two trainings that have a model, to be copied; and their ids."""
    folder = tmp_path_factory.mktemp("trained")
    bench = furnished(Settings(data=folder / "data", indexes=folder / "indexes"))
    asked = (asked_of(base, steps=1, seed=seed, name=f"of {seed}") for seed in (1, 2))
    return bench.settings.data, [bench.trainings.start(each).id for each in asked]


@pytest.fixture
def made(trained, settings):
    """Two trainings that have a model."""
    data, ids = trained
    shutil.copytree(data, settings.data, dirs_exist_ok=True)
    return ids


def card(settings, training_id):
    return str(settings.data / "trainings" / training_id / "model" / "encoder.json")


def test_a_model_that_is_made_the_default_is_what_the_next_workbench_searches_with(made, bench, settings):
    first, second = made
    bench.trainings.use(first)
    assert build(settings).settings.trained == card(settings, first)
    assert build(settings).trainings.default.encoder.choice.name == "of 1"
    bench.trainings.use(second)
    assert dense.create_trained(build(settings).settings, []).encoder_identity
    assert bench.trainings.go_back().encoder.training == first
    assert build(settings).settings.trained == card(settings, first)
    bench.trainings.use_packaged()
    assert build(settings).settings.trained == ""
    assert bench.trainings.default.before.encoder.training == first
    bench.trainings.go_back()
    assert bench.trainings.go_back() == Chosen()  # before the first there was the packaged one


def test_a_model_of_ones_own_is_called_by_its_own_name_and_the_one_that_comes_along_by_its(made, bench, settings, base):
    name = "dense-relic"
    assert build(settings).retrievers.card(name).label == "dense-RELiC"
    bench.trainings.use(made[0])
    own = build(settings)
    year = bench.trainings.get(made[0]).training.created.year
    assert own.retrievers.card(name).label == "of 1"
    assert re.match(rf"of 1, trained here on \d+ \w+ {year}\. Compares meanings", own.retrievers.card(name).description)
    assert "of 1" in [card.label for card in own.retrievers.cards()]
    work = own.works.summaries()[0].id
    own.indexes.build(work, [name], lambda *_: None)
    result = own.search.run(SearchRequest(work_id=work, claim_text="The quay was far", retrievers=(name, "bm25")))
    mine, words = result.columns
    assert mine.card.label == "of 1"
    assert "of 1" in [other.label for other, _ in words.cards[0].other_ranks]
    assert re.search(rf"of 1, trained here on \d+ \w+ {year} \(dense-RELiC", result.made_with)
    assert build(replace(settings, trained=str(base))).retrievers.card(name).label == "dense-RELiC"
    bench.trainings.use_packaged()
    assert build(settings).retrievers.card(name).label == "dense-RELiC"


def test_a_start_over_another_base_is_refused_before_it_is_reckoned_how_long_a_training_takes(bench, base):
    for ask in (bench.training_plans.prospect, bench.training_plans.check):
        with pytest.raises(BadRequest, match="--start base"):
            ask(asked_of(base, start="default"))


def test_the_encoder_over_the_larger_base_is_chosen_and_left_like_a_training_s(made, bench, settings, monkeypatch):
    larger = settings.data / "trainings" / made[1] / "model"
    monkeypatch.setattr("relic_core.services.models.TRAINED_LARGE", larger)
    for there in (False, True):
        monkeypatch.setattr("relic_core.services.models.is_large_installed", lambda there=there: there)
        assert bench.trainings.default.offers_large is there
    bench.trainings.use(made[0])
    bench.trainings.use_packaged(PACKAGED_LARGE)
    chosen = build(settings)
    assert chosen.settings.trained == str(larger / "encoder.json")
    assert "all-mpnet-base-v2" in chosen.retrievers.card("dense-relic").description
    assert not bench.trainings.default.encoder.problem
    assert not bench.trainings.default.offers_large
    bench.trainings.use_packaged("packaged-encoder")
    assert build(settings).settings.trained == ""
    assert bench.trainings.go_back().encoder.training == PACKAGED_LARGE
    assert bench.trainings.go_back().encoder.training == made[0]
    named = build(replace(settings, trained=str(larger)))
    assert not named.trainings.default.offers_large


def test_other_weights_that_a_newer_program_brings_are_used_where_the_larger_ones_were_chosen(
    made, bench, settings, monkeypatch
):
    for training in made:
        larger = settings.data / "trainings" / training / "model"
        monkeypatch.setattr("relic_core.services.models.TRAINED_LARGE", larger)
        if training == made[0]:
            bench.trainings.use_packaged(PACKAGED_LARGE)
    assert not bench.trainings.default.encoder.problem
    assert build(settings).settings.trained == str(larger / "encoder.json")


@pytest.fixture
def no_larger_base(settings, monkeypatch):
    """Let the larger base not be installed."""

    def raises(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(settings.data / "nothing"))
    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", raises)


def test_the_encoder_over_the_larger_base_is_not_chosen_where_that_is_not_installed(no_larger_base, bench, settings):
    with pytest.raises(BadWeights, match=r"requirements-large\.txt"):
        bench.trainings.use_packaged(PACKAGED_LARGE)
    assert not (settings.data / "model.json").exists()


def test_where_the_larger_base_is_gone_the_way_back_is_told_and_none_leads_to_it(
    no_larger_base, made, bench, settings, monkeypatch
):
    with monkeypatch.context() as there:
        there.setattr("relic_core.services.models.TRAINED_LARGE", settings.data / "trainings" / made[0] / "model")
        bench.trainings.use_packaged(PACKAGED_LARGE)
    assert "packaged-encoder" in bench.trainings.default.encoder.problem
    with pytest.raises(BadWeights, match="packaged-encoder"):
        build(settings).retrievers.get("dense-relic")
    bench.trainings.use_packaged("packaged-encoder")
    with pytest.raises(BadWeights, match="not installed"):
        bench.trainings.go_back()
    assert bench.trainings.default.encoder.choice is None


def test_a_model_is_chosen_before_there_is_a_data_folder(tmp_path):
    build(Settings(data=tmp_path / "none" / "yet", indexes=tmp_path / "indexes")).trainings.use_packaged()
    assert (tmp_path / "none" / "yet" / "model.json").is_file()


def test_what_the_environment_names_stands_over_the_choice(made, bench, settings, base):
    bench.trainings.use(made[0])
    named = build(Settings(data=settings.data, indexes=settings.indexes, trained=str(base)))
    assert named.settings.trained == str(base)
    assert named.trainings.default.encoder.fixed == str(base)


def test_a_choice_that_was_damaged_is_told_and_can_be_undone(made, bench, settings):
    bench.trainings.use(made[0])
    weights = settings.data / "trainings" / made[0] / "model" / "claims" / "model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    assert "went on" in bench.trainings.default.encoder.problem
    shutil.rmtree(weights.parents[1])
    assert "not there" in bench.trainings.default.encoder.problem
    (settings.data / "model.json").write_text('{"version": 1, "chosen": [')
    assert "model.json" in bench.trainings.default.problem
    broken = build(settings)
    with pytest.raises(BadWeights, match=r"model\.json"):
        dense.create_trained(broken.settings, [])
    broken.trainings.use_packaged()
    assert with_chosen(settings) == settings


def test_a_training_without_a_model_cannot_be_the_default(bench, base, settings):
    held = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    training = held.trainings.start(asked_of(base))
    with pytest.raises(BadRequest, match="no model"):
        held.trainings.use(training.id)
    with pytest.raises(NotFound):
        held.trainings.use("nothing2")


def test_a_training_that_is_still_at_it_cannot_be_the_default(made, bench, monkeypatch):
    job = SimpleNamespace(id="k3v7qa2x", subject=made[0], state="running", note="")
    monkeypatch.setattr(bench.jobs, "under_way", lambda _kind: (job,))
    with pytest.raises(BadRequest, match="is running"):
        bench.trainings.use(made[0])
    bench.trainings.use(made[1])
    assert bench.trainings.default.encoder.choice.training == made[1]


# ---------------------------------------------------------------- removing, finding, comparing


def test_a_training_is_removed_and_put_back_but_not_while_it_is_the_default(made, bench, settings):
    bench.trainings.use(made[0])
    with pytest.raises(BadRequest, match="of 1"):
        bench.trainings.remove(made[0])
    bench.trainings.remove(made[1])
    assert [each.training.id for each in bench.trainings.all()] == [made[0]]
    assert [each.id for each in bench.trainings.removed()] == [made[1]]
    assert (settings.data / "trainings" / made[1] / "model").is_dir()
    bench.trainings.restore(made[1])
    assert len(bench.trainings.all()) == 2


def test_trainings_are_found_by_id_and_name_and_set_side_by_side(made, bench):
    assert bench.trainings.find("of 2").training.id == bench.trainings.find(made[1][:5]).training.id == made[1]
    with pytest.raises(NotFound, match="train --list"):
        bench.trainings.find("of 3")
    figures, differences = bench.trainings.compared(made)
    assert figures.heads == ("", "of 1", "of 2")
    assert differences.rows == (("seed", "1", "2"),)


# ---------------------------------------------------------------- what is asked, and what it costs


def test_a_recipe_is_read_by_name_or_from_a_file_and_can_be_changed(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"batch": 20}')
    assert recipe_of(str(path), ["share=0.5"]) == EncoderRecipe(batch=20, share=0.5)
    assert recipe_of("paper").pooling == "first"
    with pytest.raises(BadRequest, match="key=value"):
        recipe_of("default", ["batch"])
    with pytest.raises(NotFound, match=r"none\.json"):
        recipe_of(str(tmp_path / "none.json"))
    path.write_text("{")
    with pytest.raises(BadRequest, match=r"mine\.json"):
        recipe_of(str(path))


def test_every_setting_of_a_recipe_and_every_recipe_is_explained():
    every = {field.name for kind in (EncoderRecipe, RerankerRecipe, SourceRecipe) for field in fields(kind)}
    assert set(SETTINGS) == every
    assert set(ABOUT) == set(RECIPES)
    assert setting("reading", "reranker").among == get_args(Reading)
    assert set(setting("pooling", "reranker").among) == set(get_args(HeadPooling))
    assert setting("pooling", "encoder").among == ("mean", "first", "pooler")


def test_what_is_asked_can_be_written_down_and_read_again(base):
    asked = asked_of(base, hard="base", sources=("a", "b"))
    given = {"name": asked.name, "recipe": asked.recipe.to_json(), "asked": asked.to_json()}
    assert TrainingRequest.of(Training(id="a", created=datetime.now(UTC), **given)) == asked
    for wrong in ({"pairs": -1}, {"use": "poems"}, {"validation": -2}):
        with pytest.raises(BadRequest):
            replace(TrainingRequest(), **wrong)


def test_the_estimate_grows_with_what_is_read_and_falls_with_the_machine_s_speed(bench, base):
    material = replace(bench.store.trainings.material(), pairs=10_000, windows=0)
    recipe = asked_of(base, steps=0).recipe

    def reckon(recipe=recipe, pairs=0, words=0, speed=1_000.0):
        learnt = replace(material, pairs=pairs or material.pairs)
        return estimates.reckon(recipe, learnt, speed, validated=50 if words else 0, validated_words=words)

    usual = reckon()
    assert usual.steps == 2 * -(-10_000 // recipe.batch), "two epochs"
    assert reckon(speed=2_000.0).seconds == pytest.approx(usual.seconds / 2)
    assert reckon(pairs=1_000).seconds == pytest.approx(usual.seconds / 10, rel=0.01)
    assert reckon(recipe.with_(cached=True)).seconds == pytest.approx(usual.seconds * 4 / 3)
    assert reckon(words=50_000).seconds > usual.seconds
    assert LENGTHS["try"].pairs < LENGTHS["some"].pairs


def test_the_estimate_s_steps_are_those_that_are_made(bench, base):
    asked = asked_of(base, steps=0)
    prospect = bench.training_plans.prospect(asked)
    assert prospect.lacking == ""
    assert prospect.validated == 6
    made = bench.trainings.get(bench.trainings.start(asked).id).of
    assert prospect.estimate.steps == pytest.approx(made, abs=4)
