"""Going on from an encoder that was trained before, in place of an untaught base.

What critics' quotations taught it is not to be learnt anew, whether more of them are added, harder wrong answers are
taught, or a reranker is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relic_core.encoders.weights import TOKENIZER, find_model, named_as, pair_digest, settings_folder, state_of
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from relic_core.encoders.cards import EncoderCard
    from relic_core.encoders.weights import ModelFiles


@dataclass(frozen=True, slots=True)
class Start:
    """What a training goes on from.

    - `claims`, `passages`: the two models, which may be one.
    """

    name: str
    claims: ModelFiles
    passages: ModelFiles

    @property
    def digest(self) -> str:
        """Over the files of both."""
        return pair_digest(self.claims, self.passages)

    def mean(self) -> dict[str, torch.Tensor]:
        """Give the weights half way between the two, for a model that reads claims and passages alike."""
        claims, passages = state_of(self.claims), state_of(self.passages)
        passages = named_as(passages, claims)
        return {
            name: (tensor + passages[name]) / 2 if tensor.is_floating_point() and name in passages else tensor
            for name, tensor in claims.items()
        }


def start_of(card: EncoderCard, base: ModelFiles) -> Start:
    """Find an encoder that is to be gone on from, and check that it reads what the base reads.

    - `base`: what the recipe begins from: what is made is written as how it differs from this.

    Raises BadWeights: it is not there, or damaged.
    Raises BadRequest: it has another tokenizer than the base.
    """
    start = Start(card.name, find_model(card.query_model), find_model(card.passage_model))
    tokenizers = {
        (settings_folder(files.folder) / TOKENIZER).read_bytes() for files in (base, start.claims, start.passages)
    }
    if len(tokenizers) > 1:
        raise _another(start.name)
    return start


def begin_as(model: Any, tensors: Mapping[str, torch.Tensor], name: str) -> None:  # noqa: ANN401 - untyped
    """Put weights into a model that was built from a base.

    - `model`: as `Tower.build` gives it; it is changed.
    - `name`: of what they are taken from.

    Raises BadRequest: they are of a model of another shape.
    """
    own = model.state_dict()
    given = named_as(tensors, own)
    if any(given[each].shape != own[each].shape if each in given else "pooler." not in each for each in own):
        raise _another(name)
    model.load_state_dict({each: tensor for each, tensor in given.items() if each in own}, strict=False)


def _another(name: str) -> BadRequest:
    return BadRequest(
        f"The training cannot go on from {name}: it was made from another base than the recipe's. Name the base it was "
        "made from, or begin from the base itself."
    )
