"""MPNet's attention in one operation: a fifth less time than in six, and the same vectors but for rounding.

transformers has it for most kinds of models. MPNet's adds a bias for relative positions, so it is written out there,
and the bias is copied for each row of a batch.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch


def fuse_attention(model: torch.nn.Module) -> torch.nn.Module:
    """Have a model that is not trained attend in one operation, where it is an MPNet; give the same model."""
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetSelfAttention

    for module in model.modules():
        if isinstance(module, MPNetSelfAttention):
            module.forward = MethodType(_attend, module)  # type: ignore[method-assign]
        elif isinstance(module, MPNetEncoder):
            module.compute_position_bias = MethodType(_position_bias, module)  # type: ignore[method-assign]
    return model


def _attend(
    self: Any,  # noqa: ANN401 - transformers is not typed
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor | None,
    position_bias: torch.Tensor,
    **_: object,
) -> tuple[torch.Tensor]:
    """Do what `MPNetSelfAttention.forward` does, without dropout."""
    shape = (*hidden_states.shape[:-1], -1, self.attention_head_size)
    query, key, value = (layer(hidden_states).view(shape).transpose(1, 2) for layer in (self.q, self.k, self.v))
    bias = position_bias if attention_mask is None else position_bias + attention_mask
    attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    return (self.o(attended.transpose(1, 2).flatten(2)),)


def _position_bias(self: Any, hidden_states: torch.Tensor, **_: object) -> torch.Tensor:  # noqa: ANN401
    """Do what `MPNetEncoder.compute_position_bias` does, once for all rows; shape (1, heads, tokens, tokens)."""
    place = torch.arange(hidden_states.shape[1], device=hidden_states.device)
    bucket = self.relative_position_bucket(place[None, :] - place[:, None])
    return self.relative_attention_bias(bucket).permute(2, 0, 1).contiguous().unsqueeze(0)  # type: ignore[no-any-return]
