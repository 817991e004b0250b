"""A training on all graphics cards of a machine: a process for each, of which the first is the caller's own."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.distributed.elastic.utils.distributed import get_free_port

from relic_core.training.trainer import Trained, train


def train_on_all(*given: Any, **named: Any) -> Trained:  # noqa: ANN401 - as of `train`
    """Train as `train` does; the first process alone validates, writes, reports, and is asked to stop."""
    count, others = torch.cuda.device_count(), []
    if count > 1:
        works = {window.work_id: named["work"](window.work_id) for window in given[2]}
        learnt = {**named, "report": None, "stop": None, "work": works.__getitem__}
        learnt["validate"] = dict if named["validate"] else None  # they wait while the first does
        port = get_free_port()  # type: ignore[no-untyped-call, unused-ignore]
        where = {"MASTER_ADDR": "localhost", "MASTER_PORT": f"{port}", "WORLD_SIZE": str(count)}
        others = torch.multiprocessing.spawn(  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
            _beside, (where, given, learnt), count - 1, join=False
        ).processes
        os.environ.update(where, RANK="0", LOCAL_RANK="0")
    try:
        return train(*given, **named)
    finally:
        for other in others:
            other.kill()


def _beside(number: int, where: Any, given: Any, named: Any) -> None:  # noqa: ANN401 - as of `train`
    rank = str(number + 1)
    os.environ.update(where, RANK=rank, LOCAL_RANK=rank)
    train(*given, **named)
