"""MPNet's attention in one operation."""

from typing import NoReturn

import pytest
import torch
from transformers import MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetSelfAttention

from relic_core.encoders.attention import fuse_attention


def test_states_are_those_of_transformers_own_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_used(*_: object, **__: object) -> NoReturn:
        pytest.fail("the model attends by transformers' own code")

    torch.manual_seed(1)
    config = MPNetConfig(
        vocab_size=60, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40
    )
    model = MPNetModel(config).eval()
    torch.nn.init.normal_(model.encoder.relative_attention_bias.weight)
    ids = torch.randint(4, 60, (2, 150))
    seen = torch.ones_like(ids)
    seen[1, 90:] = 0
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=seen).last_hidden_state
        monkeypatch.setattr(MPNetSelfAttention, "forward", not_used)
        found = fuse_attention(model)(input_ids=ids, attention_mask=seen).last_hidden_state
    read = seen.bool()
    torch.testing.assert_close(found[read], expected[read], atol=1e-5, rtol=1e-4)


def test_other_models_are_left_as_they_are() -> None:
    model = torch.nn.Linear(2, 2)
    assert fuse_attention(model) is model
    assert "forward" not in vars(model)
