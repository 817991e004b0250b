"""Learning where a quotation comes from (Muther and Smith 2023), with tiny models: sources, losses, trainings."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from relic_core.attribution import ranking
from relic_core.attribution.learning import choose_sources
from relic_core.domain import MinedWindow, Span, passage_id
from relic_core.domain.attribution import AttributionRequest
from relic_core.encoders.cards import read_card
from relic_core.encoders.generator import SourceReader, SpanLikelihood
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadRequest, BadWeights
from relic_core.ports import silent
from relic_core.training import examples
from relic_core.training.batching import Planned
from relic_core.training.collating import Material
from relic_core.training.learners import check_base, query_card
from relic_core.training.models import DualEncoder
from relic_core.training.recipes import SourceRecipe
from relic_core.training.requests import TrainingRequest
from relic_core.training.sources import (
    GeneratorInTraining,
    RetrievalCollator,
    RetrievalInTraining,
    SourceCollator,
    SourceValidation,
    marginal_loss,
    target_of,
)
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making import make_work
from tests.making_rerankers import bart
from tests.making_training import NOUNS, Reports, make_base, train_on
from tests.small_training import furnish

NAMES = [one + two for one in NOUNS for two in NOUNS if one != two]
SENTENCES = [" ".join(NAMES[3 * at : 3 * at + 3]) + " met ." for at in range(40)]
WORKS = {
    work.id: work
    for work in (
        make_work([SENTENCES[:20]], title="The Ferry", author="Ada North"),
        make_work([SENTENCES[20:]], title="The Orchard", author="B. Lee"),
    )
}


def window(work, start, length, quotation=""):
    words = quotation or " ".join(SENTENCES[20 * list(WORKS).index(work) + start + at] for at in range(length))
    return MinedWindow(
        id=passage_id(work, str(start)), source_id="source", work_id=work, kind="inline", left=("he says of it :",),
        quotation=words, right=("so it is .",), gold=Span(start, length), at=(start, start + 1), passage=(0, 1),
        lit=(), lit_in_work=(), score=99.0,
    )  # fmt: skip


WINDOWS = [window(work, start, 2) for work in WORKS for start in (0, 4, 8, 12, 16)]


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch):
    monkeypatch.setattr(ranking, "CONTENT_WORDS", 16)  # four sentences, so that no quotation lies across two
    monkeypatch.setattr(examples, "LEAST", 4)


@pytest.fixture(scope="session")
def generator(tmp_path_factory):
    return bart(tmp_path_factory.mktemp("sources") / "bart")


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("sources") / "bert", positions=512)


def recipe(generator, encoder, supervision="pair", **given):
    base = (
        {"base": str(encoder), "generator": str(generator)} if supervision == "retrieved" else {"base": str(generator)}
    )
    facts = {"window_batch": 3, "learning_rate": 0.01, "validate_every": 0, "epochs": 3.0, "candidates": 3}
    return SourceRecipe(**{"supervision": supervision, **base, **facts, **given})


def run(recipe, folder, **given):
    most = recipe.candidates if recipe.retrieves else 1
    sources = choose_sources(recipe.supervision, WINDOWS, WORKS.__getitem__, most)
    windows = [window for window in WINDOWS if window.id in sources]
    return train_on(recipe, [], windows, folder, work=WORKS.__getitem__, sources=sources, **given)


def weights(folder):
    files = sorted(folder.rglob("*.safetensors"))
    return {f"{path.parent.name} {name}": each for path in files for name, each in load_file(path).items()}


# ---------------------------------------------------------------- the source that is learnt with


def test_where_bm25_is_right_span_and_found_choose_what_pair_does():
    true = choose_sources("pair", WINDOWS, WORKS.__getitem__)
    assert true == choose_sources("span", WINDOWS, WORKS.__getitem__)
    assert true == choose_sources("found", WINDOWS, WORKS.__getitem__)
    for each in WINDOWS:
        (source,) = true[each.id]
        assert each.quotation in source
        assert WORKS[each.work_id].title in source


def test_what_no_stretch_shares_is_not_found_and_left_out_and_pair_still_has_it():
    work = next(iter(WORKS))
    changed = window(work, 4, 1, "quite other words stand here than the novel has")
    found = choose_sources("found", [*WINDOWS[:1], changed], WORKS.__getitem__)
    assert list(found) == [WINDOWS[0].id]
    assert SENTENCES[4] in choose_sources("pair", [changed], WORKS.__getitem__)[changed.id][0]
    with pytest.raises(BadRequest):
        choose_sources("found", [changed], WORKS.__getitem__)


def test_the_first_sources_by_words_are_retrieved():
    for key, some in choose_sources("retrieved", WINDOWS, WORKS.__getitem__, 3).items():
        assert len(set(some)) == 3
        assert some[:1] == choose_sources("pair", WINDOWS, WORKS.__getitem__)[key]


# ---------------------------------------------------------------- losses


@pytest.mark.parametrize("members", [(0,), (1, 7, 9)])
def test_the_loss_is_minus_the_mean_of_what_likelihood_adds_up(generator, members):
    material = Material([], WINDOWS, WORKS.__getitem__, sources=choose_sources("pair", WINDOWS, WORKS.__getitem__))
    reader = SourceReader(str(generator), precision="float32")
    batch = SourceCollator(reader, material)([Planned("windows", members, 0)])
    with torch.no_grad():
        loss = GeneratorInTraining(reader.model)(**batch)["loss"].item()
    scored = [
        SpanLikelihood(str(generator), precision="float32")(target_of(each), material.sources[each.id], silent)[1]
        for each in (WINDOWS[member] for member in members)
    ]
    n = sum(each.shape[1] for each in scored)
    assert sum(float(each.sum()) for each in scored) == pytest.approx(-n * loss, rel=1e-4)


def test_the_loss_of_retrieval_and_its_posterior():
    scores = torch.tensor([[0.7, 0.3]]).log().requires_grad_()
    loss = marginal_loss(scores, torch.tensor([[0.5, 0.1]]).log())
    assert loss.item() == pytest.approx(0.9676, abs=5e-5)
    loss.sum().backward()
    posterior = torch.tensor([[0.7, 0.3]]) - scores.grad  # the gradient is p less the posterior
    np.testing.assert_allclose(posterior.numpy(), [[0.921, 0.079]], atol=5e-4)


def test_only_the_query_encoder_learns_from_retrieval(generator, encoder):
    asked = recipe(generator, encoder, "retrieved")
    sources = choose_sources("retrieved", WINDOWS, WORKS.__getitem__, 3)
    frozen = SpanLikelihood(str(generator), precision="float32")
    before = copy.deepcopy(frozen.model.state_dict())
    reading = PassageEncoder(query_card(asked, None), precision="float32")
    collator = RetrievalCollator(reading, frozen, Material([], WINDOWS, WORKS.__getitem__, sources=sources))
    model = RetrievalInTraining(DualEncoder(asked.encoder(), reading.pair.passages))
    made = model(**collator([Planned("windows", (0, 5), 0)]))
    made["loss"].backward()
    assert {each.grad for each in frozen.model.parameters()} == {None}
    assert all(torch.equal(each, before[name]) for name, each in frozen.model.state_dict().items())
    assert {each.grad for each in model.encoder.passages.parameters()} == {None}
    assert any(each.grad is not None and each.grad.any() for each in model.encoder.claims.parameters())


# ---------------------------------------------------------------- trainings


@pytest.mark.parametrize("supervision", ["span", "retrieved"])
def test_a_training_lowers_the_loss_and_one_that_was_stopped_ends_with_the_same_weights(
    generator, encoder, tmp_path, supervision
):
    asked = recipe(generator, encoder, supervision)
    whole = run(asked, tmp_path / "whole")
    true = choose_sources("retrieved" if asked.retrieves else "pair", WINDOWS, WORKS.__getitem__, asked.candidates)
    validation = SourceValidation(asked, WINDOWS, true, silent)
    before = validation.measure(query_card(asked, None) if supervision == "retrieved" else str(generator))
    assert validation(whole.folder)["loss"] < before["loss"]
    parts = Reports()
    stopped = run(asked, tmp_path / "parts", report=parts, stop=lambda: len(parts.of("step")) >= 3)
    assert not stopped.finished
    resumed = run(asked, tmp_path / "parts")
    assert resumed.finished
    one, other = weights(whole.folder), weights(resumed.folder)
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())
    assert json.loads((whole.folder / "training.json").read_text())["recipe"] == asked.to_json()
    with pytest.raises(BadRequest):  # of another recipe
        run(recipe(generator, encoder, "found"), tmp_path / "parts")


def test_what_retrieval_makes_is_an_encoder_whose_passages_are_the_base_s(generator, encoder, tmp_path):
    made = run(recipe(generator, encoder, "retrieved", steps=4), tmp_path)
    card = read_card(str(made.folder / "encoder.json"))
    assert PassageEncoder(card, precision="float32").encode_passages(["the river"]).shape == (1, 16)
    before = load_file(encoder / "model.safetensors")
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(load_file(made.folder / "passages" / "model.safetensors")[name], before[name])
    assert not torch.equal(load_file(made.folder / "claims" / "model.safetensors")[name], before[name])


@pytest.mark.parametrize("supervision", ["pair", "retrieved"])
def test_a_training_is_done_from_the_library_and_its_model_is_named_by_a_setting(
    settings, generator, encoder, supervision
):
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench, windows=9, dev=5)
    asked = TrainingRequest(recipe=recipe(generator, encoder, supervision), validation=5)
    prospect = bench.training_plans.prospect(asked)
    assert (prospect.material.pairs, prospect.material.windows, prospect.validated) == (0, 9, 5)
    assert prospect.estimate.steps > 0
    training = bench.trainings.start(asked)
    followed = bench.trainings.get(training.id)
    assert (followed.state, followed.training.kind, followed.pairs, followed.windows) == ("finished", "source", 0, 9)
    for figures in (followed.before, followed.best):
        assert figures["likelihood"] == pytest.approx(100 * np.exp(-figures["loss"]))
    with pytest.raises(BadRequest) as refused:
        bench.trainings.use(training.id)
    name, value = next(word for word in str(refused.value).split() if "=" in word).split("=")
    key = {"RELIC_RERANKER": "reranker", "RELIC_MODEL": "model"}[name]
    reading = build(replace(settings, **{key: value}), executor=InlineExecutor(settings))
    way = "likelihood" if key == "reranker" else "cosine"
    text = "he says the ferry and orchard , he was near , and so it is"
    found = reading.attribution.run(AttributionRequest(text=text, span=(12, 40), by="masked", reranking=way))
    assert found.cards


# ---------------------------------------------------------------- what cannot be


def test_a_base_that_does_not_generate_is_refused(generator, encoder):
    with pytest.raises(BadWeights):
        check_base(recipe(encoder, encoder))
    with pytest.raises(BadWeights):
        check_base(recipe(encoder, encoder, "retrieved"))
    check_base(recipe(generator, encoder))
    check_base(recipe(generator, encoder, "retrieved"))


@pytest.mark.parametrize(
    ("said", "request_"),
    [({"supervision": "none"}, {}), ({}, {"hard": "base"}), ({}, {"use": "pairs"}), ({}, {"start": "default"}),
     ({"batch": 5}, {}), ({"candidates": 1}, {})],
)  # fmt: skip
def test_what_means_nothing_for_attribution_is_refused(said, request_):
    with pytest.raises(BadRequest):
        TrainingRequest(recipe=SourceRecipe.from_json(said), **request_)


def test_without_quotations_of_works_nothing_is_begun(settings, generator, encoder):
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench, windows=0)
    with pytest.raises(BadRequest, match="0 windows"):
        bench.trainings.start(TrainingRequest(recipe=recipe(generator, encoder)))
