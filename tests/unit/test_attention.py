"""MPNet's attention in one operation."""

from pathlib import Path
from typing import NoReturn

import pytest
import torch
from transformers import MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetSelfAttention

from relic_core.domain import Claim
from relic_core.encoders.attention import fuse_attention
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from tests.tiny_models import SHAPE, save_bert_tokenizer


@pytest.fixture
def model() -> MPNetModel:
    torch.manual_seed(1)
    made = MPNetModel(MPNetConfig(vocab_size=80, **SHAPE)).eval()
    torch.nn.init.normal_(made.encoder.relative_attention_bias.weight)
    return made


def not_used(*_: object, **__: object) -> NoReturn:
    pytest.fail("the model attends by transformers' own code")


def test_states_are_those_of_transformers_own_attention(model: MPNetModel, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = torch.randint(4, 60, (2, 150))
    seen = torch.ones_like(ids)
    seen[1, 90:] = 0
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=seen).last_hidden_state
        monkeypatch.setattr(MPNetSelfAttention, "forward", not_used)
        found = fuse_attention(model)(input_ids=ids, attention_mask=seen).last_hidden_state
        bias = model.encoder.compute_position_bias(expected)
    torch.testing.assert_close(found[seen.bool()], expected[seen.bool()], atol=1e-5, rtol=1e-4)
    assert bias.shape == (1, 2, 150, 150), "one for all rows"


def test_an_encoder_reads_with_it_and_a_training_without(
    model: MPNetModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save_pretrained(tmp_path)
    save_bert_tokenizer(tmp_path)
    encoder = LateChunkingEncoder(read_card(str(tmp_path)), precision="float32")
    trained = encoder.pair.claims.build()
    monkeypatch.setattr(MPNetSelfAttention, "forward", not_used)
    assert encoder.encode_claims([Claim("the ferry of the river")]).shape == (1, 16)
    with pytest.raises(pytest.fail.Exception):
        trained(input_ids=torch.tensor([[5, 6]]))


def test_other_models_are_left_as_they_are() -> None:
    other = torch.nn.Linear(2, 2)
    assert fuse_attention(other) is other
    assert "forward" not in vars(other)
