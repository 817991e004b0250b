"""Every reader of a file is given thousands of wrong ones, and a large one: nothing but words may come of it."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from relic_core.errors import RelicError
from tools.reliability.mutants import alike, grown, mutant
from tools.reliability.readers import Reader, every
from tools.reliability.rows import Row, Trial

_MUTATIONS = 2_000
_LARGE, _SECONDS = 20_000_000, 20.0
"""Bytes of a large file, and how long a reader may take for it, on a machine that does nothing else."""


def mutate(trial: Trial) -> Row:
    """Give every reader wrong files and large ones."""
    folder = trial.folder / "readers"
    folder.mkdir()
    readers = tuple(every(trial.app, folder))
    came = walk(readers, _MUTATIONS)
    slow: dict[str, float] = {}
    for reader in readers:
        for name, data in chain(grown(reader.whole, _LARGE, reader.sign, of_json=reader.of_json), alike(_LARGE)):
            trial.say(f"{len(data) / 1e6:,.0f} MB of {reader.name}, {name}")
            began = time.process_time()
            came.update([_given(reader, data)])
            slow[f"{reader.name}, {name}"] = time.process_time() - began
    worst = max(slow, key=lambda name: slow[name])
    others = {name: number for name, number in came.items() if name not in {"read", "refused"}}
    return Row(
        name="wrong files for every reader",
        done=f"Each of {len(readers)} readers was given wrong files, {_MUTATIONS:,} in all, and files of "
        f"{_LARGE / 1e6:.0f} MB of {len(slow)} forms.",
        expected=f"Each is read or refused in words; none takes more than {_SECONDS:.0f} s.",
        happened=f"{came['read']:,} were read and {came['refused']:,} refused; {others or 'none'} ended otherwise. The "
        f"longest took {slow[worst]:.1f} s ({worst}).",
        held=not others and slow[worst] <= _SECONDS,
        counts={"readers": len(readers), "wrong": _MUTATIONS, "refused": came["refused"], "lost": 0},
    )


def walk(readers: Sequence[Reader], times: int, *, seed: int = 51) -> Counter[str]:
    """Give readers, one after the other, wrong files; count what came of them."""
    chance, came = random.Random(seed), Counter[str]()  # noqa: S311 - no secret
    for number in range(times):
        reader = readers[number % len(readers)]
        came.update([_given(reader, mutant(chance, reader.whole, reader.sign, of_json=reader.of_json))])
    return came


def _given(reader: Reader, data: bytes) -> str:
    try:
        reader.read(data)
    except Exception as error:  # noqa: BLE001 - whatever else comes is what is looked for
        if isinstance(error, (RelicError, *reader.refuses)):
            return "refused"
        return f"{reader.name}: {type(error).__name__}: {error!s:.80}"
    return "read"
