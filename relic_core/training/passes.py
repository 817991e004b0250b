"""Forward passes of a batch in training: rows of like length together, and states that are kept or made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import torch
from torch.utils.checkpoint import checkpoint

from relic_core.encoders.batching import TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relic_core.training.recipes import Recipe

T = TypeVar("T")


class Passes:
    """How a recipe parts a batch.

    - `recipe`: its tokens in a forward pass, and whether passes are made twice.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._twice = recipe.cached
        self._tokens = recipe.chunk_tokens or TOKENS["cuda" if torch.cuda.is_available() else "cpu"]

    def of(self, lengths: torch.Tensor) -> Iterator[tuple[torch.Tensor, int]]:
        """Part rows into forward passes.

        Yields: numbers of the rows, the longest of all first, and the length of the pass's longest.

        >>> from relic_core.training.recipes import Recipe
        >>> parts = Passes(Recipe(chunk_tokens=100)).of(torch.tensor([30, 50, 30, 2]))
        >>> [(rows.tolist(), longest) for rows, longest in parts]
        [([1, 0], 50), ([2, 3], 30)]
        """
        order = torch.argsort(lengths, descending=True, stable=True)
        at = 0
        while at < len(order):
            longest = int(lengths[order[at]])
            rows = order[at : at + max(1, self._tokens // longest)]
            yield rows, longest
            at += len(rows)

    def once_or_twice(self, run: Callable[..., T], *arguments: torch.Tensor) -> T:
        """Run a pass; where memory is short its states are not kept but made again for the gradient.

        What is kept between the passes is what `run` gives, as in GradCache (Gao et al. 2021), and the gradient is the
        same.
        """
        if self._twice and torch.is_grad_enabled():
            found: T = checkpoint(run, *arguments, use_reentrant=False)
            return found
        return run(*arguments)


def in_order(parts: list[torch.Tensor], rows: list[torch.Tensor]) -> torch.Tensor:
    """Put together what passes gave, in the order of the batch's rows.

    - `parts`: of each pass, along the first axis one for each of its rows.
    - `rows`: their numbers, as `Passes.of` gives them.
    """
    return torch.cat(parts)[torch.argsort(torch.cat(rows))]
