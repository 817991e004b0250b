"""The mask of encoder cards: what stands in a claim where the quotation was, for encoders trained with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relic_core.domain import Claim
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import TowerPair
from relic_core.errors import BadWeights
from tests.tiny_models import write_card

CLAIM = Claim("He says that", "and so it is.", masked=True)


@pytest.fixture(scope="module")
def masked():
    return TowerPair(EncoderCard(name="masked", mask="[MASK]"), precision="float32")


def test_the_mask_stands_between_the_sides_of_a_masked_claim_alone(masked):
    plain = TowerPair(read_card(), precision="float32")
    mask = masked.claims.tokenizer.token_to_id("[MASK]")
    without = plain.claim_ids(CLAIM)
    ids = masked.claim_ids(CLAIM)
    assert ids.index(mask) == 3
    assert [token for token in ids if token != mask] == without
    assert masked.claim_ids(replace(CLAIM, masked=False)) == without


def test_a_long_claim_keeps_its_mask_and_the_words_beside_it(masked):
    long = Claim("left " * 400 + "near", "beside " + "right " * 400, masked=True)
    ids = masked.claim_ids(long, 21)
    words = [masked.claims.tokenizer.id_to_token(token) for token in ids]
    assert words == ["left"] * 9 + ["near", "[MASK]", "beside"] + ["right"] * 9
    assert len(masked.claim_ids(long)) == 254


def test_of_a_side_that_is_empty_the_other_has_the_room(masked):
    ids = masked.claim_ids(Claim("word " * 400, "", masked=True), 20)
    assert [masked.claims.tokenizer.id_to_token(token) for token in ids] == ["word"] * 19 + ["[MASK]"]


def identity(**card):
    return LateChunkingEncoder(EncoderCard(**card), precision="float32").identity


def test_cards_without_a_mask_have_the_identities_they_had_before_there_were_masks():
    assert "mask" not in read_card().facts
    how = "float32/one-pass mean, 254 tokens with 32 of context"
    assert identity(name="all-MiniLM-L6-v2") == f"all-MiniLM-L6-v2/e764cf4d4099/{how}"
    assert identity(name="y", similarity="dot") == f"y/f6ddb4cca535/{how}, dot"


def test_another_mask_is_another_encoder():
    identities = {identity(name="x", mask=mask) for mask in ("", "[MASK]", "…")}
    assert len(identities) == 3


def test_a_card_file_says_the_mask(tmp_path):
    base = read_card(write_card(tmp_path / "mine.json", model="", mask="[MASK]"))
    assert (base.mask, base.passage_model) == ("[MASK]", "")


def test_a_mask_that_is_no_text_is_refused():
    with pytest.raises(BadWeights, match='says "mask": 3; it must be a text'):
        EncoderCard(name="x", mask=3)
