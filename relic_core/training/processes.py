"""Several processes that train together, each on a GPU of its own: what one decides holds for all."""

from __future__ import annotations

import os
from typing import TypeVar

from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped, unused-ignore]

T = TypeVar("T")


def count() -> int:
    """Count the processes that ``accelerate launch`` started; 1 where it did not."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this is the process that writes."""
    return os.environ.get("RANK", "0") == "0"


def agreed(value: T) -> T:
    """Give what the first of several processes found to all of them; call it in all.

    - `value`: counts in the first process alone.
    """
    (said,) = broadcast_object_list([value])
    return said  # type: ignore[no-any-return]  # untyped
