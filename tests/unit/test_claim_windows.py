"""Claims that are cut to several lengths: their vectors are added up, and nothing else changes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relic_core.domain import Claim
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest, BadWeights
from relic_core.training.recipes import EncoderRecipe
from relic_core.training.requests import base_card
from tests.making import make_work
from tests.making_training import make_base
from tests.tiny_models import write_card

LONG = Claim(" ".join(f"word{at} and" for at in range(60)), " ".join(f"then{at} so" for at in range(60)), masked=True)
SHORT = Claim("the ferry left", "at dusk", masked=True)


def encoder(*windows, **given):
    return LateChunkingEncoder(
        EncoderCard(name="cut", mask="[MASK]", claim_windows=windows, **given), precision="float32"
    )


def vectors(*windows, **given):
    return encoder(*windows, **given).encode_claims([LONG, SHORT])


def test_a_claim_of_several_windows_is_the_sum_of_its_cuts():
    together = vectors(96, 32)
    added = vectors(96) + vectors(32)
    np.testing.assert_allclose(together, added / np.linalg.norm(added, axis=1, keepdims=True), atol=1e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx([1.0, 1.0], abs=1e-6)


def test_a_claim_that_fits_every_window_is_as_it_is_read_once():
    long, short = vectors(96, 32) @ vectors().T
    assert short[1] == pytest.approx(1.0, abs=1e-6)
    assert long[0] < 0.999


def test_inner_products_are_of_the_mean_of_the_cuts():
    made = vectors(96, 32, similarity="dot")
    cuts = [vectors(96, similarity="dot"), vectors(32, similarity="dot")]
    np.testing.assert_allclose(made, np.mean(cuts, axis=0), atol=1e-5)


def test_the_identity_tells_the_windows_and_works_are_read_as_before():
    plain, cut = encoder(), encoder(96, 32)
    assert plain.identity != cut.identity
    assert "claims of 96+32 tokens" in cut.identity
    work = make_work(["The ferry left the quay at dusk.", "Nobody on board spoke."])
    for one, other in zip(*(each.encode_sentences(work, lambda *_: None) for each in (plain, cut)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_claims_have_no_vectors():
    assert encoder(96, 32).encode_claims([]).shape == (0, 384)


def test_a_card_says_the_windows_as_a_list(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"model": "", "claim_windows": [96, 32]}), encoding="utf-8")
    assert read_card(str(path)).claim_windows == (96, 32)
    assert read_card().claim_windows == ()


@pytest.mark.parametrize("windows", [[8], [300], ["96"], 96, [True], [96.0]])
def test_windows_that_cannot_be_are_refused(windows, tmp_path):
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"model": "", "claim_windows": windows}), encoding="utf-8")
    with pytest.raises(BadWeights, match="claim_windows"):
        read_card(str(path))
    with pytest.raises(BadRequest, match="claim_windows"):
        EncoderRecipe.from_json({"claim_windows": windows})


def test_a_recipe_is_read_as_it_was_written():
    recipe = EncoderRecipe(claim_windows=(96, 32))
    assert EncoderRecipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert recipe.digest != EncoderRecipe().digest


@pytest.mark.parametrize(("window", "cuts"), [(254, (176, 150, 48)), (160, (160, 150, 48)), (96, (96, 48))])
def test_a_base_is_read_no_longer_than_the_recipe_says_nor_is_any_cut_of_a_claim(tmp_path, window, cuts):
    base = make_base(tmp_path / "base")
    write_card(base / "encoder.json", claim_windows=[176, 150, 48])
    card = base_card(EncoderRecipe(base=str(base), window=window, claim_tokens=64, passage_tokens=64))
    assert (card.window, card.claim_windows) == (window, cuts)
