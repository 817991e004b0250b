"""Reordering by the likelihood of the claim's words (Muther and Smith 2023), with a tiny BART of random weights."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from relic_core.domain import Claim, Span
from relic_core.encoders import batching, generator
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.encoders.generator import GeneratorReranker
from relic_core.errors import BadClaim, BadWeights
from relic_core.ports import silent
from tests.making import make_work
from tests.making_rerankers import bart
from tests.making_training import make_novel
from tests.tiny_models import bert

NOVEL = make_novel()
CLAIM = Claim("he claims the ferry is far :", "and so the ferry was near", masked=True)
SPANS = [Span(start, 1 + start % 3) for start in (7, 3, 30, 12, 3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bart(tmp_path_factory.mktemp("bart") / "tiny")


@pytest.fixture
def reranker(folder):
    return GeneratorReranker(str(folder), precision="float32")


def score(reranker, claim=CLAIM, spans=SPANS, work=NOVEL):
    return reranker.rerank(claim, work, spans, silent)


@pytest.mark.parametrize(
    "claim",
    [CLAIM, Claim("the ferry"), Claim("", "the ferry", masked=True), Claim("far " * 300, "near " * 300, masked=True)],
    ids=["masked", "bare", "mask first", "long"],
)
def test_a_score_is_the_mean_log_likelihood_of_the_claim_s_words(reranker, folder, claim):
    """By the loss of transformers itself, one passage at a time."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    observed, target, counted = reranker._cut(claim)
    labels = torch.tensor([[token if count else -100 for token, count in zip(target, counted, strict=True)]])
    said = torch.tensor([[model.config.decoder_start_token_id, *target[:-1]]])
    for span, found in zip(SPANS, score(reranker, claim), strict=True):
        passage = " ".join(NOVEL.sentence_text(at) for at in range(span.start, span.end))
        with torch.no_grad():
            source = torch.tensor([reranker._source(observed, passage)])
            loss = model(input_ids=source, decoder_input_ids=said, labels=labels).loss
        assert found == pytest.approx(-float(loss), abs=1e-4)
        assert found < 0


def test_batches_make_no_difference(reranker, monkeypatch):
    whole = score(reranker)
    assert len(np.unique(whole.round(6))) == 4
    monkeypatch.setitem(batching.TOKENS, "cpu", 1)
    np.testing.assert_allclose(score(reranker), whole, atol=1e-5)


def test_what_is_said_are_the_hundred_pieces_around_the_mask_and_the_rest_is_read(reranker):
    observed, target, counted = reranker._cut(Claim("far " * 150 + "river", "quay" + " near" * 150, masked=True))
    names = [reranker._tokenizer.id_to_token(each) for each in target]
    assert (names[0], names[-1]) == ("<s>", "</s>")
    assert sum(counted) == generator.PIECES
    at = names.index("<mask>")
    assert not counted[at]
    assert names[at + 1].strip("Ġ") == "quay"
    assert len(observed) <= generator.OBSERVED + 1
    assert [reranker._tokenizer.id_to_token(each) for each in observed].count("<mask>") == 1


def test_a_short_claim_is_said_whole_and_nothing_is_left_to_read(reranker):
    observed, _, counted = reranker._cut(Claim("the ferry"))
    assert [reranker._tokenizer.id_to_token(each) for each in observed] == ["<mask>"]
    assert sum(counted) == len(reranker._ids("the ferry"))


def test_a_passage_longer_than_the_window_is_cut(reranker):
    work = make_work([["coin " * 900 + "."]])
    observed, _, _ = reranker._cut(CLAIM)
    assert len(reranker._source(observed, "coin " * 900)) == generator.WINDOW + 2
    assert np.isfinite(score(reranker, spans=[Span(0, 1)], work=work)).all()


@pytest.mark.parametrize("claim", [Claim(""), Claim("—", "…", masked=True)])
def test_a_claim_without_words_is_refused(reranker, claim):
    with pytest.raises(BadClaim, match="no words"):
        score(reranker, claim)


def test_no_spans_have_no_scores(reranker):
    assert score(reranker, spans=[]).shape == (0,)


def test_progress_is_told_to_the_end(reranker):
    told = []
    reranker.rerank(CLAIM, NOVEL, SPANS, lambda done, total, note="": told.append((done, total)))
    assert told[-1] == (5, 5)


def test_its_configuration_and_name_say_which_model(reranker):
    assert reranker.name == "tiny, likelihood of the claim"
    assert len(reranker.configuration["weights"]) == 64
    assert all(isinstance(part, str) and part for pair in reranker.configuration.items() for part in pair)


def test_a_person_without_the_model_is_told_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(BadWeights, match=r"facebook/bart-base'\. .* hf download facebook/bart-base"):
        GeneratorReranker()
    with pytest.raises(BadWeights, match="was named"):
        GeneratorReranker(" ")


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "config.json"])
def test_a_file_that_is_missing_is_named(folder, tmp_path, name):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / name).unlink()
    with pytest.raises(BadWeights, match=f"lacks {name}"):
        GeneratorReranker(str(copy))


def test_an_encoder_is_no_generator(tmp_path):
    with pytest.raises(BadWeights, match="of type bert"):
        score(GeneratorReranker(str(bert(tmp_path / "bert")), precision="float32"))


def test_damaged_weights_are_refused(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(BadWeights, match=r"hf download facebook/bart-base"):
        score(GeneratorReranker(str(copy), precision="float32"))


def test_a_model_that_reads_too_little_is_refused(tmp_path):
    with pytest.raises(BadWeights, match="64 tokens"):
        score(GeneratorReranker(str(bart(tmp_path / "short", positions=64)), precision="float32"))


def test_the_setting_that_names_a_reranker_may_ask_for_a_likelihood(folder, reranker):
    named = open_reranker(f"likelihood:{folder}")
    assert named.name == reranker.name == "tiny, likelihood of the claim"
    with pytest.raises(BadWeights, match="was named"):
        open_reranker("likelihood:")


def test_loading_draws_nothing_on_the_terminal(reranker, capfd):
    score(reranker)
    assert capfd.readouterr().err == ""
