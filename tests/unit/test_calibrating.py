"""Calibrations: the file beside a model's weights, and the command that writes it."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace

import pytest

from relic_core.config import ASSETS, Settings
from relic_core.domain import Claim, Corpus, SearchRequest
from relic_core.domain.calibration import Calibration, Joining, Sigmoid, Threshold
from relic_core.errors import BadRequest, BadWeights, NotFound
from relic_core.evaluation.benchmarks import loci
from relic_core.ports import silent
from relic_core.retrieval import calibration, registry
from relic_core.retrieval.composing import joining
from relic_core.retrieval.fusion import WEIGHTS
from relic_core.services.catalogue import Catalogue
from relic_core.wiring import build
from tests.making import make_work
from tests.shelf import Shelf
from tests.small_benchmark import SmallBenchmark

IDENTITY = "some/model/0123456789ab/float32/mean"
MADE = Calibration(
    model="0123456789ab",
    strength=Threshold(fair=0.1 + 0.2, strong=0.7, per_unknown=0.05, if_named=0.0),
    joined={"fusion": Joining((Sigmoid(1.3, -5.7),) * 5, threshold=0.3, threshold_and=0.03)},
    fusion=replace(WEIGHTS, short={"bm25": 0.3, "surroundings": 0.0}),
)


def test_a_calibration_is_read_as_it_was_written_by_folder_and_by_card(tmp_path):
    path = calibration.write(tmp_path, MADE)
    assert path == tmp_path / "calibration.json"
    assert calibration.find(str(tmp_path), IDENTITY) == MADE
    assert calibration.find(str(tmp_path / "encoder.json"), IDENTITY) == MADE
    assert calibration.find(str(tmp_path / "another.json"), IDENTITY) is None


def test_a_model_without_one_has_none_unless_its_files_are_those_of_a_model_that_comes_along(tmp_path):
    assert calibration.find(str(tmp_path), IDENTITY) is None
    assert calibration.find("", IDENTITY) is None
    assert calibration.find(str(tmp_path), "copied/e764cf4d4099/float32/mean").strength.fair == 0.43


def test_one_that_is_damaged_or_of_other_weights_is_refused(tmp_path):
    path = calibration.write(tmp_path, MADE)
    with pytest.raises(BadWeights, match="other weights"):
        calibration.find(str(tmp_path), IDENTITY.replace("ab", "cd"))
    path.write_text(path.read_text().replace("0.7", "0.71"))
    with pytest.raises(BadWeights, match="--calibrate"):
        calibration.find(str(tmp_path), IDENTITY)
    path.write_text("{")
    with pytest.raises(BadWeights, match="--calibrate"):
        calibration.find(str(tmp_path), IDENTITY)


@pytest.mark.parametrize("path", sorted((ASSETS / "weights").glob("*/calibration.json")), ids=str)
def test_those_that_ship_are_whole(path):
    model = json.loads(path.read_bytes())["model"]
    assert calibration.find(str(path.parent), f"x/{model}/float32").model == model


@pytest.fixture
def model(base, tmp_path):
    """A folder with an encoder, as a training leaves it."""
    folder = tmp_path / "model"
    shutil.copytree(base, folder / "claims")
    (folder / "encoder.json").write_text(json.dumps({"name": "mine", "model": "claims", "window": 32}))
    return folder


@pytest.fixture
def bench(settings, monkeypatch):
    monkeypatch.setattr("relic_core.services.evaluation.Benchmarks.well_known", lambda self: SmallBenchmark(20))
    return build(settings)


def test_a_model_that_was_calibrated_has_levels_answers_joined_claims_and_is_fused_by_its_weights(
    bench, model, run, settings
):
    made = {}
    combined = registry.create("fusion", settings=replace(settings, trained=str(model)), made=made)
    assert made["dense-relic"].calibration is None
    with pytest.raises(BadRequest, match="--calibrate"):
        joining("dense-relic", made["dense-relic"].calibration)
    assert combined.weights == WEIGHTS

    ran = run("train", "--calibrate", model)
    assert (ran.code, str(model / "calibration.json") in ran.out) == (0, True)
    found = made["dense-relic"].calibration
    assert found.strength.strong >= found.strength.fair
    for name in ("dense-relic", "fusion"):
        join = joining(name, found)
        assert len(join.sigmoids) == 5
        assert 0 <= join.threshold_and < join.threshold < 1
    calibration.write(model, replace(found, fusion=MADE.fusion))
    assert combined.weights == MADE.fusion
    assert "bm25 0.3" in combined.configuration["of a short claim"]
    work = SmallBenchmark().work("first")
    assert combined.rank(Claim("the river"), Corpus.of(work), 1).exact


def test_the_job_adds_the_novels_that_lack_and_calibrates_on_them(bench, model, monkeypatch):
    added = []
    monkeypatch.setattr(Catalogue, "fetch", lambda _self, items, _progress: added.extend(items))
    said = bench.run_calibrating(str(model), silent)
    assert {item["slug"] for item in added} == {claim.work for claim in loci.DEV.claims()}
    assert str(model / "calibration.json") in said


def test_what_is_no_encoder_and_what_is_not_there_is_refused(run, model):
    assert isinstance(run("train", "--calibrate", "nothing").error, NotFound)
    (model / "encoder.json").unlink()
    assert isinstance(run("train", "--calibrate", model).error, NotFound)


def test_with_too_few_novels_the_message_names_those_to_add(run, model):
    ran = run("train", "--calibrate", model)
    assert isinstance(ran.error, NotFound)
    assert "catalogue --add" in str(ran.error)
    assert "sense_and_sensibility" in str(ran.error)
    assert not (model / "calibration.json").exists()


def test_well_known_passages_open_on_some_of_their_works_with_the_same_ids(tmp_path, monkeypatch):
    works = {slug: make_work([f"{slug} is near.", "The end."], title=slug) for slug in ("one", "two")}
    claims = [
        {
            "work": slug,
            "claim": f"a claim about {slug}",
            "places": [{"start": 0, "end": 3, "sha256": hashlib.sha256(work.text[:3].encode()).hexdigest()}],
        }
        for slug, work in works.items()
    ]
    (tmp_path / "dev.json").write_text(json.dumps({"claims": claims}))
    monkeypatch.setattr(loci, "FOLDER", tmp_path)
    known = loci.WellKnownPassages("dev", 2, 2, hashlib.sha256((tmp_path / "dev.json").read_bytes()).hexdigest())
    every = known.create(Settings(), Shelf(works), None).windows()
    assert [each.id for each in known.over({"two": works["two"]}).windows()] == [each.id for each in every[2:]]


def test_a_damaged_calibration_silences_its_model_and_nothing_else(settings, model):
    (model / "calibration.json").write_text("{}")
    bench = build(replace(settings, trained=str(model)))
    work = bench.ensure_sample()
    bench.retrievers.get("dense-relic").prepare(bench.works.load(work.id), silent)
    asked = SearchRequest(claim_text="the river", work_id=work.id, retrievers=("dense-relic", "bm25"))
    dense, words = bench.search.run(asked).columns
    assert "--calibrate" in dense.note
    assert words.cards
