"""Trainings that make a reranker: its hard negatives, its validation, the default reranker, what goes wrong."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from relic_core.config import Settings
from relic_core.domain import rank_scores
from relic_core.domain.trainings import Training
from relic_core.encoders.cross_encoder import CrossEncoder
from relic_core.errors import BadRequest, BadWeights, JobCancelled, RelicError
from relic_core.evaluation import experiments
from relic_core.retrieval import registry, reranked
from relic_core.retrieval.reranked import FIRST, Reranked
from relic_core.services.models import Chosen
from relic_core.training import estimates, hard_negatives, running
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import EncoderRecipe, RerankerRecipe, recipe_of
from relic_core.training.requests import TrainingRequest
from relic_core.training.validation import SHAPE, RerankerValidation, claim_of, figures, first_stage_of
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making_rerankers import CountingReranker, make_reranker_recipe
from tests.making_training import make_base
from tests.small_training import asked_of, asked_of_reranker, furnish, furnished


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A tiny encoder in the place of dense-RELiC; it reads stretches of the usual length."""
    return make_base(tmp_path_factory.mktemp("encoder") / "dense", positions=256)


@pytest.fixture
def settings(settings, encoder):
    return replace(settings, trained=str(encoder))


@pytest.fixture
def bench(settings):
    return furnished(settings)


def of(settings, training):
    return TrainingFolder.find(settings.data, training.id)


# ---------------------------------------------------------------- what is asked


def test_what_is_usual_goes_by_what_is_made():
    assert (TrainingRequest().validation, TrainingRequest().hard) == (150, "")
    usual = TrainingRequest(recipe=recipe_of("reranker"))
    assert (usual.validation, usual.hard) == (50, "default")
    assert TrainingRequest(recipe=recipe_of("reranker"), hard="").hard == ""  # none are looked for where that is asked
    assert usual.lasting("try").recipe == RerankerRecipe()


def test_what_is_asked_is_written_down_and_read_again_as_what_it_is(base, tmp_path):
    asked = asked_of_reranker(base, hard="base", sources=("a", "b"))
    given = {"name": asked.name, "recipe": asked.recipe.to_json(), "asked": asked.to_json()}
    assert TrainingRequest.of(Training(id="a", created=datetime.now(UTC), **given)) == asked
    path = tmp_path / "mine.json"
    path.write_text('{"kind": "reranker", "batch": 20}')
    assert recipe_of(str(path), ["negatives=5"]) == RerankerRecipe(batch=20, negatives=5)
    with pytest.raises(BadRequest, match="'temperature'"):
        recipe_of("reranker", ["temperature=0.1"])
    with pytest.raises(BadRequest, match='"mean" or "likeness"'):
        recipe_of("reranker", ["pooling=first"])


# ---------------------------------------------------------------- what is made


def test_a_training_ends_with_a_reranker_and_its_figures_beside_those_of_the_ranking_before(bench, base, settings):
    training = bench.trainings.start(asked_of_reranker(base, validate_every=2))
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.step, followed.training.kind) == ("finished", 3, "reranker")
    assert [each["step"] for each in followed.validations] == [0, 2, 3]
    assert set(figures({SHAPE: [1]})) <= set(followed.best)
    assert followed.best["windows"] == 6
    assert followed.best["recall@100"] == 100, "the work has 48 sentences, which are all reordered"
    assert CrossEncoder(of(settings, training).model).card.name == "cross-encoder (tiny)"
    assert followed.has_model
    assert not (of(settings, training).path / "checkpoints").exists()


def test_the_ranking_before_is_the_combined_one_as_the_app_makes_it(bench, base, settings):
    training = bench.trainings.start(asked_of_reranker(base))
    chosen = of(settings, training).examples()
    windows = [each.window for each in bench.store.windows.some(chosen["validation"])]
    fusion = registry.create("fusion", settings=settings)
    ranks = []
    for window in windows:
        work, length = bench.works.load(window.work_id), window.gold.length
        assert fusion.ready(work, length), "it was prepared on the way"
        ranking = rank_scores("fusion", work.id, length, fusion.score(claim_of(window, SHAPE), work, length))
        ranks.append(ranking.rank_of(window.gold))
    before = bench.trainings.get(training.id).before
    assert {name: before[name] for name in ("recall@1", "recall@10", "median")} == {
        name: figures({SHAPE: ranks})[name] for name in ("recall@1", "recall@10", "median")
    }


def test_a_quotation_outside_the_head_keeps_its_rank_and_one_within_it_is_ranked_anew(bench, settings, monkeypatch):
    monkeypatch.setattr("relic_core.training.validation.TOP_K", 25)
    windows = [stored.window for batch in bench.store.windows.iterate(split="dev") for stored in batch]
    works = {window.work_id: bench.works.load(window.work_id) for window in windows}
    folder = TrainingFolder.create(settings.data, name="x", recipe={}, asked={})
    told = []
    first_stage = first_stage_of(settings, folder, windows, works, lambda _d, _t, note="": told.append(note))
    assert any(note.startswith("Preparing") for note in told)
    assert told[-1] == "Ranking by meaning and by words: 5 of 6"
    outside = [window for window in windows if window.gold.start not in first_stage[window.id].starts]
    assert outside
    assert len(outside) < len(windows)
    assert all(first_stage[window.id].rank > 25 for window in outside)
    reranker = CountingReranker("e")  # as good an opinion as another
    found = RerankerValidation(windows, works, first_stage, lambda *_: None).measure(reranker)
    assert len(reranker.asked) == len(windows) - len(outside), "nothing is read for the others"
    as_the_app = Reranked(registry.create("fusion", settings=settings), CountingReranker("e"), top_k=25, weight=FIRST)
    ranks = []
    for window in windows:
        work, length = works[window.work_id], window.gold.length
        scores = as_the_app.score(claim_of(window, SHAPE), work, length)
        ranks.append(rank_scores("reranked", work.id, length, scores).rank_of(window.gold))
    assert found == figures({SHAPE: ranks})
    assert [ranks[number] for number, window in enumerate(windows) if window in outside] == [
        first_stage[window.id].rank for window in outside
    ]
    monkeypatch.setattr("relic_core.training.validation.registry", None)
    assert first_stage_of(settings, folder, windows, works, lambda *_: None) == first_stage, "once in a training"
    (folder.path / "heads.json").write_text('{"heads": {}}')
    with pytest.raises(BadRequest, match=r"heads\.json is damaged"):
        first_stage_of(settings, folder, windows, works, lambda *_: None)


def test_a_reranker_that_gives_no_numbers_is_told(bench, settings):
    windows = [stored.window for batch in bench.store.windows.iterate(split="dev") for stored in batch]
    works = {window.work_id: bench.works.load(window.work_id) for window in windows}
    folder = TrainingFolder.create(settings.data, name="x", recipe={}, asked={})
    first_stage = first_stage_of(settings, folder, windows, works, lambda *_: None)
    reranker = CountingReranker()
    reranker.rerank = lambda _claim, _work, spans, _progress: np.full(len(spans), np.nan, dtype=np.float32)
    with pytest.raises(RelicError, match="no number"):
        RerankerValidation(windows, works, first_stage, lambda *_: None).measure(reranker)


# ---------------------------------------------------------------- hard negatives


def test_hard_negatives_are_looked_for_with_the_default_encoder_for_what_is_read_and_no_more(
    bench, base, settings, encoder
):
    training = bench.trainings.start(asked_of_reranker(base, steps=2, negatives=2, share=0.0))
    chosen = of(settings, training).examples()
    assert len(chosen["pairs"]) == 36
    assert len(chosen["hard"]["pairs"]) == 12, "two batches of six"
    assert chosen["hard"]["windows"] == {}
    assert chosen["hard"]["by"].startswith("dense/"), "it says who looked"
    assert max(map(len, chosen["hard"]["pairs"].values())) > 6, "more than are drawn"
    assert max(max(numbers) for numbers in chosen["hard"]["pairs"].values()) > 12  # among all quotations of the source
    told = [each for each in of(settings, training).events() if each.event == "hard negatives"]
    assert [each.facts["pairs"] for each in told] == [12]


def test_none_are_looked_for_where_that_is_asked(bench, base, settings):
    training = bench.trainings.start(asked_of_reranker(base, hard=""))
    assert of(settings, training).examples()["hard"] is None
    assert bench.trainings.get(training.id).state == "finished"


def test_looking_tells_how_far_it_is_and_goes_on_where_it_was_stopped(settings, base, monkeypatch):
    bench = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    furnish(bench)
    training = bench.trainings.start(asked_of_reranker(base, steps=0))
    told = []

    def progress(done, total, note=""):
        told.append(note)
        if note.startswith(f"{hard_negatives.LOOKING}: 36"):
            raise JobCancelled

    with pytest.raises(JobCancelled):
        bench.run_training(training.id, progress)
    assert f"{hard_negatives.LOOKING}: 18 of 42" in told
    kept = of(settings, training).examples()["hard"]
    assert len(kept["looked"]) == 1
    assert len(kept["pairs"]) == 18
    assert bench.trainings.get(training.id).state == "stopped"
    looked_for = []
    in_source, in_work = hard_negatives.in_source, hard_negatives.in_work

    def source(encoder, pairs, *given, **named):
        looked_for.append(("source", len(pairs)))
        return in_source(encoder, pairs, *given, **named)

    def work(encoder, windows, *given, **named):
        looked_for.append(("work", len(windows)))
        return in_work(encoder, windows, *given, **named)

    monkeypatch.setattr(hard_negatives, "in_source", source)
    monkeypatch.setattr(hard_negatives, "in_work", work)
    bench.run_training(training.id, lambda *_: None)
    assert looked_for == [("source", 18), ("work", 6)]
    assert bench.trainings.get(training.id).state == "finished"
    hard = of(settings, training).examples()["hard"]
    assert "looked" not in hard
    assert len(hard["pairs"]) == 36


def test_what_another_model_had_begun_to_look_for_is_looked_for_anew(settings, base, tmp_path):
    bench = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    furnish(bench)
    training = bench.trainings.start(asked_of_reranker(base, steps=1, share=0.0))

    def progress(_done, _total, note=""):
        if note.startswith(hard_negatives.LOOKING):
            raise JobCancelled

    with pytest.raises(JobCancelled):
        bench.run_training(training.id, progress)
    folder = of(settings, training)
    chosen = folder.examples()
    chosen["hard"] |= {"by": "another", "looked": ["source nothing"], "pairs": {"nothing": [0]}}
    folder.write_examples(chosen)
    bench.run_training(training.id, lambda *_: None)
    assert "nothing" not in folder.examples()["hard"]["pairs"]


def test_a_reranker_cannot_look_for_hard_negatives(bench, base):
    made = bench.trainings.start(asked_of_reranker(base, steps=1, hard=""))
    with pytest.raises(BadRequest, match=made.id):
        bench.trainings.start(asked_of_reranker(base, hard=made.id))


# ---------------------------------------------------------------- stopping and resuming


def test_a_stopped_training_goes_on_from_its_checkpoint_and_looks_for_nothing_again(bench, base, settings, monkeypatch):
    monkeypatch.setattr(running.Journal, "stop", lambda journal: journal._done >= 1)
    training = bench.trainings.start(asked_of_reranker(base, steps=6))
    monkeypatch.undo()
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.step, followed.checkpoint, followed.resumable) == ("stopped", 2, 2, True)
    monkeypatch.setattr("relic_core.training.hard_negatives.in_source", None)
    monkeypatch.setattr("relic_core.training.validation.registry", None)
    followed = bench.trainings.resume(training.id)
    assert (followed.state, followed.step) == ("finished", 6)
    assert [step for step, _ in followed.losses] == [1, 2, 3, 4, 5, 6]
    assert [each["step"] for each in followed.validations] == [0, 6]


# ---------------------------------------------------------------- the default reranker


@pytest.fixture(scope="module")
def trained(base, encoder, tmp_path_factory):
    """A data folder with a reranker and an encoder that were trained, to be copied; and their ids."""
    folder = tmp_path_factory.mktemp("trained")
    bench = furnished(Settings(data=folder / "data", indexes=folder / "indexes", trained=str(encoder)))
    asked = (
        asked_of_reranker(base, steps=1, name="orders", validation=0, hard=""),
        asked_of(base, steps=1, name="finds"),
    )
    return bench.settings.data, [bench.trainings.start(each).id for each in asked]


@pytest.fixture
def made(trained, settings):
    """A reranker and an encoder that were trained."""
    data, ids = trained
    shutil.copytree(data, settings.data, dirs_exist_ok=True)
    return ids


@pytest.fixture
def unnamed(settings):
    """Settings that name no models."""
    return replace(settings, trained="")


def test_each_kind_has_a_default_of_its_own_and_going_back_takes_back_the_last_choice(made, bench, unnamed):
    reranker, encoder = made
    bench.trainings.use(reranker)
    bench.trainings.use(encoder)
    opened = build(unnamed)
    assert opened.settings.reranker == str(unnamed.data / "trainings" / reranker / "model")
    assert opened.settings.trained == str(unnamed.data / "trainings" / encoder / "model" / "encoder.json")
    default = opened.trainings.default
    assert (default.reranker.choice.name, default.encoder.choice.name) == ("orders", "finds")
    assert not default.reranker.problem
    assert default.use(reranker)
    with pytest.raises(BadRequest, match="orders"):
        bench.trainings.remove(reranker)
    now = bench.trainings.go_back()
    assert (now.encoder, now.reranker.training) == (None, reranker)
    bench.trainings.use(encoder)
    bench.trainings.use(encoder)
    bench.trainings.use_packaged("packaged-reranker")
    assert build(unnamed).settings.reranker == ""
    assert build(unnamed).settings.trained
    bench.trainings.use_packaged()
    assert build(unnamed).settings == unnamed
    assert bench.trainings.go_back().encoder.training == encoder
    assert bench.trainings.go_back().reranker.training == reranker
    assert bench.trainings.go_back().encoder is None, "the same choice twice is one"
    assert bench.trainings.go_back() == Chosen()


def test_the_app_s_reranker_is_the_one_that_was_chosen(made, bench, settings, monkeypatch, tmp_path):
    monkeypatch.setattr(reranked, "WEIGHTS", tmp_path / "none")
    bench.trainings.use(made[0])
    retriever = registry.create("reranked", settings=build(settings).settings)
    assert retriever.configuration["reranker reranker"] == "cross-encoder (tiny)"
    with pytest.raises(BadWeights, match=r"mine|none"):
        registry.create("reranked", settings=settings)
    named = build(replace(settings, reranker=str(tmp_path / "mine")))
    assert named.settings.reranker == named.trainings.default.reranker.fixed == str(tmp_path / "mine")


def test_runs_are_labelled_with_a_reranker_that_does_not_come_with_the_program(made, bench, settings):
    bench.trainings.use(made[0])
    settings = build(settings).settings
    assert experiments._own_models(registry.card("reranked"), settings) == ["dense", "cross-encoder (tiny)"]
    assert experiments._own_models(registry.card("fusion"), settings) == ["dense"]


def test_a_chosen_reranker_that_was_damaged_is_told_and_can_be_undone(made, bench, unnamed):
    bench.trainings.use(made[0])
    model = unnamed.data / "trainings" / made[0] / "model"
    weights = model / "model.safetensors"
    tensors = load_file(weights)
    tensors["head.weight"] += 1
    save_file(tensors, weights)
    told = build(unnamed).trainings.default.reranker.problem
    assert "is damaged" in told
    assert "train --use packaged-reranker" in told
    with pytest.raises(BadWeights, match="is damaged"):
        bench.trainings.use(made[0])
    shutil.rmtree(model)
    assert "not there" in bench.trainings.default.reranker.problem
    (unnamed.data / "model.json").write_text("{")
    assert "model.json" in bench.trainings.default.problem
    with pytest.raises(BadWeights, match=r"model\.json"):
        CrossEncoder(build(unnamed).settings.reranker)
    bench.trainings.use_packaged()
    assert build(unnamed).settings == unnamed


def test_a_file_of_choices_from_before_there_were_rerankers_is_read(made, bench, unnamed):
    _, encoder = made
    bench.trainings.use(encoder)
    digest = bench.trainings.default.encoder.choice.digest
    of_one = {"training": encoder, "name": "finds", "digest": digest, "at": "2026-01-01T00:00:00+00:00"}
    packaged = {"training": "", "name": "", "digest": "", "at": "2026-01-02T00:00:00+00:00"}
    (unnamed.data / "model.json").write_text(json.dumps({"version": 1, "chosen": [packaged, of_one]}))
    default = bench.trainings.default
    assert (default.encoder.choice.training, default.reranker.choice, default.problem) == (encoder, None, "")
    assert bench.trainings.go_back() == Chosen()
    (unnamed.data / "model.json").write_text(json.dumps({"version": 3, "chosen": []}))
    assert "is 3" in bench.trainings.default.problem


# ---------------------------------------------------------------- what goes wrong


def test_three_examples_are_too_few(settings, base):
    bench = furnished(settings, pairs=3, windows=0)
    told = r"\b3 pairs\b.*\b0 windows\b.*\b30\b"
    assert re.search(told, bench.training_plans.prospect(asked_of_reranker(base)).lacking)
    with pytest.raises(BadRequest, match=told):
        bench.trainings.start(asked_of_reranker(base))
    assert bench.trainings.all() == ()


def test_a_base_that_is_no_bert_or_roberta_is_told_before_anything_begins(bench, tmp_path):
    from transformers import DistilBertConfig, DistilBertModel

    base = make_base(tmp_path / "distilled")
    config = DistilBertConfig(vocab_size=120, dim=16, n_layers=1, n_heads=2, hidden_dim=16, max_position_embeddings=64)
    DistilBertModel(config).save_pretrained(base)
    with pytest.raises(BadWeights, match="distilbert"):
        bench.trainings.start(asked_of_reranker(base))
    assert bench.trainings.all() == ()


def test_a_base_without_a_mask_token_is_told_before_anything_begins(bench, tmp_path):
    with pytest.raises(BadWeights, match="mask token"):
        bench.trainings.start(asked_of_reranker(make_base(tmp_path / "maskless", mask=False)))


def test_without_a_dense_encoder_it_is_said_what_it_is_needed_for(bench, base, settings, tmp_path):
    without = build(replace(settings, trained=str(tmp_path / "none")), executor=InlineExecutor(settings))
    for act in (without.training_plans.prospect, without.trainings.start):
        with pytest.raises(BadWeights, match=r"dense-RELiC .* train --use ID"):
            act(asked_of_reranker(base))
    alone = asked_of_reranker(base, hard="", validation=0)
    assert without.training_plans.prospect(alone).lacking == ""


def test_a_figure_that_the_validation_does_not_give_is_refused_before_anything_begins(bench, base):
    with pytest.raises(BadRequest, match=r"recall@10 1/1"):
        bench.trainings.start(asked_of_reranker(base, watch="recall@10 1/1"))
    assert bench.trainings.start(asked_of(base, steps=1, watch="recall@10 1/1"))


# ---------------------------------------------------------------- what it costs


def test_the_estimate_of_a_reranker_grows_with_its_negatives_its_validation_and_what_is_looked_for(bench, base):
    material = replace(bench.store.trainings.material(), pairs=10_000, windows=0, context=800.0, quotation=250.0)

    def reckon(recipe=None, windows=0, looking=0.0):
        recipe = recipe or make_reranker_recipe(base, epochs=1.0, window=400, claim_tokens=200)
        words = 1_000 if windows else 0
        return estimates.reckon(
            recipe, material, 1_000.0, validated=windows, validated_words=words, looking_speed=looking
        )

    usual = reckon()
    assert usual.steps == -(-10_000 // 6)
    more = reckon(make_reranker_recipe(base, epochs=1.0, window=400, claim_tokens=200, negatives=7))
    assert 1.4 * usual.seconds < more.seconds < 2 * usual.seconds, "the claim is read once"
    together = reckon(make_reranker_recipe(base, epochs=1.0, window=400, claim_tokens=200, reading="together"))
    assert together.seconds > 2 * usual.seconds
    assert reckon(windows=50).seconds > reckon(windows=10).seconds > usual.seconds
    looked = reckon(looking=1_000.0)
    assert looked.looking > 0
    assert looked.seconds == pytest.approx(usual.seconds + looked.looking)


def test_a_compact_model_takes_half_of_its_layers(base):
    of_packaged, of_folder = estimates.room(RerankerRecipe()), estimates.room(make_reranker_recipe(base))
    assert 2 * of_packaged == pytest.approx(estimates.room(EncoderRecipe()), rel=0.01), "an encoder has two towers"
    assert estimates.room(RerankerRecipe(frozen_embeddings=False)) > 2 * of_packaged
    layers, whole = 42_996_480, 4 * sum(tensor.numel() for tensor in load_file(base / "model.safetensors").values())
    assert of_packaged == pytest.approx(9 * layers + 3 * layers / 2, rel=0.02)
    assert of_folder > 3 * whole  # which nobody else has, so that its models are written whole


def test_the_estimate_s_steps_are_those_that_are_made(bench, base, settings):
    asked = asked_of_reranker(base, steps=0, epochs=1.0, hard="")
    prospect = bench.training_plans.prospect(asked)
    assert (prospect.lacking, prospect.validated) == ("", 6)
    made = bench.trainings.get(bench.trainings.start(asked).id).of
    assert prospect.estimate.steps == pytest.approx(made, abs=3)
