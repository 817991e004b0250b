"""Training: how do I train a model on the quotations that critics chose, and does it find better?"""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from relic_core.config import Settings
from relic_core.errors import StoreBusy
from relic_core.services.jobs import Jobs
from relic_core.store.trainings import TrainingRows
from relic_core.training import examples
from relic_core.training.folders import TrainingFolder
from relic_core.training.recipes import SourceRecipe
from relic_core.training.requests import TrainingRequest
from relic_core.wiring import build
from tests.app.reading import bars, html, plain, said, sound
from tests.approved import says
from tests.inline import InlineExecutor
from tests.making_rerankers import bart
from tests.making_sources import keep, make_source, make_window
from tests.making_training import make_base
from tests.small_training import asked_of, asked_of_reranker, furnish

SAYS = says("training")

TRAINING = "pages/training.py"


@pytest.fixture
def furnished(app, monkeypatch):
    """Return the app with something to learn from, on a machine whose speed is known without measuring."""
    monkeypatch.setattr("relic_core.training.estimates.measure", lambda _: 5_000.0)
    furnish(app.bench)
    return app


@pytest.fixture(scope="module")
def trained(prepared, base, tmp_path_factory):
    """Return a data folder with two trainings that are finished, to be copied, and their ids."""
    folder = shutil.copytree(prepared, tmp_path_factory.mktemp("trained") / "own")
    settings = Settings(data=folder / "data", indexes=folder / "indexes")
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench)
    asked = (asked_of(base, steps=2, seed=seed, name=f"of <{seed}>") for seed in (1, 2))
    return settings.data, [bench.trainings.start(each).id for each in asked]


@pytest.fixture
def made(furnished, trained):
    """Return two trainings that are finished."""
    data, ids = trained
    furnished.store.close()
    shutil.copytree(data, furnished.settings.data, dirs_exist_ok=True)
    return ids


def quickly(at, base):
    """Ask for two steps with a tiny base, as a person could behind "More"."""
    for key, value in {
        "batch": 6, "window_batch": 3, "stretches": 4, "window": 32, "claim_tokens": 24, "passage_tokens": 16,
        "chunk_tokens": 64, "steps": 2,
    }.items():  # fmt: skip
        at.number_input(f"training_set_default_{key}").set_value(value)
    at.text_input("training_set_default_claim_windows").set_value("[]")
    at.selectbox("training_set_default_precision").set_value("float32")
    at.radio("training_base_kind").set_value(SAYS["other base"])
    at.run()
    at.text_input("training_base").set_value(str(base))
    at.text_input("training_name").set_value("mine")
    return sound(at.run())


def test_without_anything_mined_the_page_says_what_to_do(app):
    at = sound(app.open(TRAINING))
    assert SAYS["no criticism"] in said(at)
    assert [link.value for link in at.main.get("page_link")] == [SAYS["open library"]]
    assert [each.key for each in at.button if (each.key or "").startswith("training")] == []


def test_what_was_mined_is_parted_by_a_button(app):
    work = app.bench.works.load(app.bench.works.summaries()[0].id)
    source = make_source("Of Quays")
    windows = [make_window(work, source, at) for at in range(40)]
    keep(app.bench, source, windows, works=[work])
    at = sound(app.open(TRAINING))
    assert SAYS["undecided which"] in said(at)
    at = sound(at.button("training_split").click().run())
    assert SAYS["undecided which"] not in said(at)
    assert app.bench.store.splits.counts("pair")
    (told,) = [each.value for each in at.success]
    counts = {split: app.bench.store.splits.counts("window").get(split, 0) for split in ("training", "dev", "test")}
    assert f"of any book, {counts['training']:,} of your works" in told
    assert SAYS["to validate"] in told
    assert "to report on" in told
    assert not [each.value for each in sound(app.open(TRAINING)).success]


def test_before_it_begins_the_page_says_what_is_learnt_from_and_how_long_that_takes(furnished, base):
    at = quickly(furnished.open(TRAINING), base)
    words = plain(html(at))
    assert SAYS["learns from"] in words
    assert SAYS["validated on"] in words
    assert SAYS["duration"] in words
    assert SAYS["little"] in said(at)


def test_with_few_quotations_and_the_pretrained_model_dense_relic_is_recommended(furnished):
    at = sound(furnished.open(TRAINING))
    assert SAYS["better go on"] in said(at)
    at = sound(at.selectbox("training_start_encoder_").set_value("default").run())
    assert SAYS["little"] in said(at)
    assert SAYS["better go on"] not in said(at)


def test_a_training_is_begun_watched_and_stopped(furnished, base, press_button):
    at = quickly(furnished.open(TRAINING), base)
    at = sound(at.button("training_begin").click().run())
    (followed,) = furnished.bench.trainings.all()
    assert followed.training.name == "mine"
    assert at.query_params["id"] in ([followed.training.id], followed.training.id)
    assert at.session_state["brought"][1] == "#training-one", "the page takes the reader to it"
    assert SAYS["waiting"] in bars(at)[0]
    assert SAYS["other running"] in plain(html(at))
    press_button(at, "stop-training", followed.training.id)
    assert furnished.bench.jobs.get(followed.job).note == "Stopping."


def test_while_it_runs_its_figures_are_shown_with_the_time_left(furnished, base):
    training = furnished.bench.trainings.start(asked_of(base, steps=40))
    folder = TrainingFolder.find(furnished.settings.data, training.id)
    folder.append("started")
    folder.append("begins", 0, of=40, pairs=36, windows=6)
    folder.append("before", 0, **{"recall@1": 0.0, "recall@10": 20.0, "recall@100": 60.0, "windows": 6.0})
    for step in range(1, 11):
        folder.append(
            "step", step, of=40, loss=4.0 - step / 10, step_seconds=10.0, seconds=10.0 * step, memory_mib=2048.0
        )
    folder.append(
        "validation", 10, **{"recall@1": 10.0, "recall@10": 35.5, "recall@100": 70.0, "windows": 6.0, "took": 60.0}
    )
    job = furnished.bench.jobs.under_way("train")[0]
    (furnished.settings.data / "jobs" / job.id / "journal.jsonl").write_text(
        '{"at": "2026-01-01T00:00:00+00:00", "state": "running", "note": ""}\n'
    )
    at = sound(furnished.open(TRAINING))
    assert "Running, step 10 of 40, 8 minutes left. recall@10: 35.5 (before: 20.0)." in bars(at)[0]
    words = plain(html(at))
    assert "loss now3.000" in words
    assert "memory2.0 GB" in words
    assert len(at.get("plotly_chart")) == 2
    tables = html(at)
    assert 'aria-label="Loss"' in tables
    assert 'aria-label="Validations"' in tables


def test_the_time_left_counts_the_validations_also_before_the_first_of_them(furnished, base):
    training = furnished.bench.trainings.start(asked_of(base, steps=40, validate_every=20))
    folder = TrainingFolder.find(furnished.settings.data, training.id)
    folder.append("started")
    folder.append("chosen", validation=6, held=0)
    folder.append("begins", 0, of=40, pairs=36, windows=6)
    folder.append("before", 0, **{"recall@10": 20.0, "windows": 6.0, "took": 120.0})
    for step in range(1, 11):
        folder.append("step", step, of=40, loss=3.0, step_seconds=2.0, seconds=2.0 * step)
    job = furnished.bench.jobs.under_way("train")[0]
    (furnished.settings.data / "jobs" / job.id / "journal.jsonl").write_text(
        '{"at": "2026-01-01T00:00:00+00:00", "state": "running", "note": ""}\n'
    )
    assert furnished.bench.trainings.get(training.id).left == 30 * 2.0 + 2 * 120.0


def test_trainings_are_compared_and_their_names_are_shown_not_obeyed(furnished, made):
    at = sound(furnished.open(TRAINING))
    words = plain(html(at))
    assert "of <1>" in words
    assert "of <1>" not in html(at)
    assert SAYS["best weights"] in words
    assert SAYS["differences"] in words
    assert "seed" in words


def test_a_model_is_made_the_default_and_the_way_back_is_offered(furnished, made, press_button):
    first, second = made
    at = sound(furnished.open(TRAINING))
    assert SAYS["packaged models"] in plain(html(at))
    at = press_button(at, "use-model", first)
    assert SAYS["chosen model"] in plain(html(at))
    assert furnished.bench.settings.trained.endswith(f"{first}/model/encoder.json")
    at = press_button(at, "use-model", second)
    at = press_button(at, "model-before", "it")
    assert SAYS["chosen model"] in plain(html(at))
    at = press_button(at, "use-packaged", "packaged-encoder")
    assert furnished.bench.settings.trained == ""


@pytest.mark.parametrize("there", [False, True])
def test_the_larger_model_is_offered_where_its_base_is_installed(furnished, made, press_button, monkeypatch, there):
    larger = furnished.settings.data / "trainings" / made[0] / "model"
    monkeypatch.setattr("relic_core.services.models.TRAINED_LARGE", larger)
    monkeypatch.setattr("relic_core.services.models.is_large_installed", lambda: there)
    at = sound(furnished.open(TRAINING))
    assert ("packaged-large" in html(at)) is there
    if there:
        at = press_button(at, "use-packaged", "packaged-large")
        assert furnished.bench.settings.trained == str(larger / "encoder.json")
        assert "packaged-large" not in html(sound(at))


@pytest.fixture
def dense(furnished, tmp_path, monkeypatch):
    """Name a tiny encoder in the place of dense-RELiC."""
    model = str(make_base(tmp_path / "dense", positions=256))
    monkeypatch.setenv("RELIC_TRAINED", model)
    furnished.settings = replace(furnished.settings, trained=model)
    return model


def test_a_model_is_calibrated_from_its_row(furnished, made, press_button):
    press_button(sound(furnished.open(TRAINING)), "calibrate-model", made[0])
    assert [job.subject for job in furnished.bench.jobs.recent() if job.kind == "calibrate"] == [made[0]]


def test_a_reranker_is_asked_for_by_its_recipe(furnished, base, dense):
    at = furnished.open(TRAINING)
    at.selectbox("training_recipe").set_value("reranker")
    at = sound(at.run())
    assert at.number_input("training_validation_reranker").value == 50
    assert at.selectbox("training_hard_reranker").value == "default"
    for key, value in {"batch": 6, "window_batch": 3, "window": 48, "claim_tokens": 24, "steps": 2}.items():
        at.number_input(f"training_set_reranker_{key}").set_value(value)
    at.radio("training_base_kind").set_value(SAYS["other base"])
    at.run()
    at.text_input("training_base").set_value(str(base))
    at = sound(at.run())
    words = plain(html(at))
    assert SAYS["learns from"] in words
    assert SAYS["mining duration"] in words
    sound(at.button("training_begin").click().run())
    (followed,) = furnished.bench.trainings.all()
    assert followed.training.kind == "reranker"
    assert (followed.training.asked["hard"], followed.training.asked["validation"]) == ("default", 50)


def test_what_means_nothing_for_a_reranker_is_told_on_the_page(furnished, dense):
    at = furnished.open(TRAINING)
    at.selectbox("training_recipe").set_value("reranker")
    at.run()
    at.selectbox("training_set_reranker_pooling").set_value("first")
    at = sound(at.run())
    assert SAYS["bad pooling"] in said(at)
    assert "training_begin" not in [each.key for each in at.button]


def test_a_model_for_attribution_is_chosen_and_not_offered_for_searching(furnished, tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "LEAST", 4)
    base = str(bart(tmp_path / "bart"))
    bench = build(furnished.settings, executor=InlineExecutor(furnished.settings))
    training = bench.trainings.start(TrainingRequest(recipe=SourceRecipe(base=base, steps=1)))
    at = furnished.open(TRAINING)
    assert f"RELIC_RERANKER=likelihood:{furnished.settings.data}" in plain(html(at))
    assert "use-model" not in html(at)
    at.selectbox("training_recipe").set_value("source")
    at.radio("training_base_kind").set_value(SAYS["other base"])
    at.run()
    at.text_input("training_base").set_value(base)
    assert "training_begin" in [each.key for each in sound(at.run()).button]
    assert bench.trainings.get(training.id).best["likelihood"] > 0


def test_without_a_dense_encoder_the_page_says_what_a_reranker_needs(furnished, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_TRAINED", str(tmp_path / "none"))
    at = furnished.open(TRAINING)
    at.selectbox("training_recipe").set_value("reranker")
    assert SAYS["reranker learns"] in said(sound(at.run()))


def test_a_reranker_is_made_the_default_beside_the_encoder(furnished, made, base, dense, press_button):
    bench = build(furnished.settings, executor=InlineExecutor(furnished.settings))
    reranker = bench.trainings.start(asked_of_reranker(base, steps=2, name="orders")).id
    at = sound(furnished.open(TRAINING, id=reranker))
    words = plain(html(at))
    assert SAYS["packaged reranker"] in words
    assert "a reranker · begun" in words
    assert SAYS["reading help"] in words
    at = press_button(at, "use-model", reranker)
    assert SAYS["chosen reranker"] in plain(html(at))
    assert furnished.bench.settings.reranker.endswith(f"{reranker}/model")
    at = press_button(at, "use-packaged", "packaged-reranker")
    assert SAYS["packaged reranker"] in plain(html(at))
    assert SAYS["previous reranker"] in html(at)
    at = press_button(at, "model-before", "it")
    assert SAYS["chosen reranker"] in plain(html(at))


def test_a_chosen_reranker_that_is_damaged_is_told_and_undone_on_the_page(furnished, base, dense, press_button):
    bench = build(furnished.settings, executor=InlineExecutor(furnished.settings))
    reranker = bench.trainings.start(asked_of_reranker(base, steps=1, hard="", validation=0)).id
    bench.trainings.use(reranker)
    path = furnished.settings.data / "trainings" / reranker / "model" / "config.json"
    path.write_text(path.read_text().replace("16", "32"))
    at = sound(furnished.open(TRAINING))
    assert "is damaged" in said(at)
    at = press_button(at, "use-packaged", "packaged-reranker")
    assert "is damaged" not in said(at)


def test_the_page_says_that_the_environment_stands_over_a_choice(furnished, made, base, monkeypatch):
    monkeypatch.setenv("RELIC_TRAINED", str(base))
    assert SAYS["set model"] in plain(html(furnished.open(TRAINING)))


def test_a_choice_that_was_damaged_is_told_and_undone_on_the_page(furnished, press_button):
    (furnished.settings.data / "model.json").write_text("{")
    at = sound(furnished.open(TRAINING))
    assert SAYS["model file unreadable"] in said(at)
    at = press_button(at, "use-packaged", "packaged")
    assert SAYS["packaged models"] in plain(html(at))


def test_a_training_is_removed_and_put_back(furnished, made, press_button):
    at = press_button(sound(furnished.open(TRAINING)), "remove-training", made[0])
    assert [each.training.id for each in furnished.bench.trainings.all()] == [made[1]]
    sound(at.button("training_undo").click().run())
    assert len(furnished.bench.trainings.all()) == 2


def test_a_killed_training_says_what_to_do_and_is_resumed(furnished, base, press_button):
    bench = furnished.bench
    training = bench.trainings.start(asked_of(base))
    TrainingFolder.find(furnished.settings.data, training.id).append("started")
    furnished.held.let_go()
    at = sound(furnished.open(TRAINING))
    assert SAYS["ended silently"] in said(at)
    press_button(at, "resume-training", training.id)
    assert bench.trainings.get(training.id).active


def test_a_base_without_a_tokenizer_is_told_on_the_page(furnished, base, tmp_path):
    at = quickly(furnished.open(TRAINING), tmp_path)
    assert "lacks model.safetensors and tokenizer.json and config.json" in said(at)
    assert furnished.bench.trainings.all() == ()


def test_a_setting_that_is_not_allowed_is_told_on_the_page(furnished):
    at = furnished.open(TRAINING)
    at.number_input("training_set_default_batch").set_value(1)
    at = sound(at.run())
    assert SAYS["bad batch"] in said(at)
    assert "training_begin" not in [each.key for each in at.button]


def test_a_store_that_cannot_be_read_is_told(furnished, monkeypatch):
    def busy(_):
        raise StoreBusy("Busy.")

    monkeypatch.setattr(TrainingRows, "all", busy)
    assert "Busy." in said(sound(furnished.open(TRAINING)))


def test_a_job_that_cannot_be_started_is_told_on_the_page(furnished, base, monkeypatch):
    def refused(*_, **__):
        raise StoreBusy("No room for another process.")

    monkeypatch.setattr(Jobs, "start", refused)
    at = quickly(furnished.open(TRAINING), base)
    at = sound(at.button("training_begin").click().run())
    assert "No room for another process." in said(at)
