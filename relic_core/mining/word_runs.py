"""Runs of eight words: what two texts must not share for one to be learnt from and the other measured on.

A word is a run of the letters a to z after lowering the case; all else parts words. That is the rule of the lists of
held-out runs that are passed around as hashes, so it is the rule here.

Runs are compared by 64-bit hashes: each word by eight bytes of BLAKE2b, eight words by a polynomial over them, modulo
2^64. Equal runs have equal hashes, so a shared run is never missed. Two runs that differ have equal hashes with odds of
at most 1 in 2^58 (a power of two is lost where the same words come in another order): over twenty-five million runs of
pairs and nine million of novels, the odds that one pair is left out for nothing are about 1 in 1,000.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.errors import BadBenchmark
from relic_core.formats.files import read_text

Runs = npt.NDArray[np.uint64]

RUN = 8

_WORD = re.compile("[a-z]+")
_FACTOR = 0x9E3779B97F4A7C15 | 3
"""Odd, and 3 modulo 4: then the powers of two that are lost when words change places are few."""
_POWERS = np.array([pow(_FACTOR, RUN - 1 - place, 2**64) for place in range(RUN)], dtype=np.uint64)
_HELD_OUT = re.compile(r"[0-9a-f]{12}")
_HELD_OUT_BITS = 48
_MOST_WORDS = 2_000_000
"""Words whose hashes are kept; a text of nothing but new words must not fill the memory."""


def words(text: str) -> list[str]:
    """List the words of a text.

    >>> words("The Ferry’s 3 lanterns—lit!")
    ['the', 'ferry', 's', 'lanterns', 'lit']
    """
    return _WORD.findall(text.lower())


def runs_of(text: str) -> Runs:
    """Hash the runs of a text; shape (max(0, n_words - 7),), in the order of the text."""
    return runs_of_many([text])[0]


def runs_of_many(texts: Sequence[str]) -> tuple[Runs, npt.NDArray[np.int64]]:
    """Hash the runs of many short texts at once, none from one into the next: in order, and which text each is of."""
    split = [words(text) for text in texts]
    owners = np.repeat(np.arange(len(split)), [len(each) for each in split])
    if len(owners) < RUN:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    hashes = np.fromiter(map(_HASHES.__getitem__, chain.from_iterable(split)), np.uint64, count=len(owners))
    last = len(hashes) - RUN + 1
    runs = np.zeros(last, np.uint64)
    for place, power in enumerate(_POWERS):
        runs += hashes[place : place + last] * power  # wraps at 2^64, as it should
    whole = owners[:last] == owners[RUN - 1 :]
    return runs[whole], owners[:last][whole]


def digests_of(text: str) -> Runs:
    """Take the first eight bytes of the sha256 of each run in order, its words joined by single spaces.

    >>> import hashlib
    >>> hashlib.sha256(b"a b c d e f g h").hexdigest()[:16] == f"{digests_of('A b, c d; e f g h.')[0]:016x}"
    True
    """
    found = words(text)
    if len(found) < RUN:
        return np.empty(0, np.uint64)
    joined = " ".join(found).encode()
    ends = np.cumsum([len(word) + 1 for word in found])
    starts = (ends - [len(word) + 1 for word in found]).tolist()
    stretches = zip(starts, (ends[RUN - 1 :] - 1).tolist(), strict=False)  # the last seven words begin no run
    sha256 = hashlib.sha256
    return np.frombuffer(b"".join([sha256(joined[start:end]).digest()[:8] for start, end in stretches]), ">u8").astype(
        np.uint64
    )


class RunSet:
    """The runs of some texts: eight bytes each, about 72 MB for seventy-three novels.

    >>> kept = RunSet.of(["one two three four five six seven eight nine"])
    >>> len(kept), kept.holds(runs_of("Two, three, four: five six seven eight nine ten")).tolist()
    (2, [True, False])
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = _sorted_once(runs)

    @classmethod
    def of(cls, texts: Iterable[str]) -> RunSet:
        """Collect the runs of texts, read one at a time."""
        collected = [runs_of(text) for text in texts]
        return cls(np.concatenate(collected) if collected else np.empty(0, np.uint64))

    def __len__(self) -> int:
        return len(self._runs)

    def holds(self, runs: Runs) -> npt.NDArray[np.bool_]:
        """Say of each run whether it is one of these; shape as `runs`."""
        return _among(runs, self._runs)


class HeldOut:
    """A list of runs that may not be learnt from, known by their hashes alone.

    - `hashes`: the first twelve hex digits of each run's sha256, as numbers. One in 2^48 runs is taken for one of them
      by chance; of twenty-five million, with a list of 130,000, about one in a hundred lists of pairs loses a pair.
    """

    def __init__(self, hashes: Runs) -> None:
        self._hashes = _sorted_once(hashes)

    @classmethod
    def read(cls, path: Path) -> HeldOut:
        """Read a list: twelve hex digits on each line."""
        lines = read_text(path).split()
        for number, line in enumerate(lines, start=1):
            if not _HELD_OUT.fullmatch(line):
                raise BadBenchmark(
                    f"{path}: entry {number:,} is '{line:.40}', and twelve hex digits in small letters are wanted: the "
                    "beginning of the sha256 of a run of eight words. Get the list again."
                )
        return cls(np.array([int(line, 16) for line in lines], dtype=np.uint64))

    def __len__(self) -> int:
        return len(self._hashes)

    def holds(self, digests: Runs) -> npt.NDArray[np.bool_]:
        """Say of each of `digests_of` whether it is on the list; shape as `digests`."""
        return _among(digests >> np.uint64(64 - _HELD_OUT_BITS), self._hashes)


def _among(asked: Runs, kept: Runs) -> npt.NDArray[np.bool_]:
    if not len(kept):
        return np.zeros(len(asked), dtype=bool)
    order = np.argsort(asked)  # asked in order, each look-up begins where the one before ended: ten times as fast
    places = np.searchsorted(kept, asked[order])
    places[places == len(kept)] = 0
    found = np.empty(len(asked), dtype=bool)
    found[order] = kept[places] == asked[order]
    return found


def _sorted_once(numbers: Runs) -> Runs:
    """Sort numbers and drop repetitions, by sorting alone: `numpy.unique` hashes, which takes longer here."""
    numbers = np.sort(numbers)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


class _Hashes(dict[str, int]):
    """Word -> 64-bit number, computed when first asked."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = made = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        return made


_HASHES = _Hashes()
