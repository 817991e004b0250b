"""Where a source and the works share runs of words, and which of these runs belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relic_core.mining.spellings import RUN, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from relic_core.mining.quoted_works import Numbers, QuotedWorks

    Integers = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.float64]

COMMONEST = 32
"""Runs that stand in the works more often are commonplace and start nothing; they are found again beside rarer ones."""
LEAST_BITS = 50.0
"""How rare the shared words are together, at least: the words of a run of eight come to 75 on average, those of
"I do not know what to say" to 45."""
MOST_BETWEEN = 40
"""Words of the source between two runs of one quotation: what a critic puts in."""
MOST_SKIPPED = 250
"""Words of the work between two runs of one quotation: what a critic leaves out behind an ellipsis."""

_REACH = 7
"""Words on either side of a lone run that are looked at for more that the two texts share."""
_CELL = 6
"""Runs are neighbours that stand within some 2**6 words in both texts."""
_SLANT = 1.5
"""Bits that each word costs by which two runs are farther apart in one text than in the other."""


class SharedRun(NamedTuple):
    """Words that stand alike in both texts: where in the source, where in the works, how many, and how rare."""

    here: int
    there: int
    words: int
    bits: float


def find_chains(numbers: Numbers, works: QuotedWorks, *, among: Collection[int] | None = None) -> list[list[SharedRun]]:
    """Find runs of words that a source shares with the works, those of one quotation together.

    - `among`: positions of the works that are looked at; all by default.

    Returns: runs in the order of both texts, all in one work, in order of the source.
    """
    here, there = works.look_up(numbers, commonest=COMMONEST)
    owners = np.searchsorted(works.first_word_of, there, "right") - 1
    if among is not None:
        wanted = np.isin(owners, np.fromiter(among, dtype=np.int64, count=len(among)))
        here, there = here[wanted], there[wanted]
    if not len(here):
        return []
    bits = np.concatenate([[0.0], np.cumsum(np.where(numbers == UNKNOWN, 0, works.bits[numbers]), dtype=np.float64)])
    starts, stops, shift = _joined(here, there)
    rarity = bits[stops] - bits[starts]
    kept = _promising(numbers, works, starts, stops, shift, rarity)
    starts, stops, shift, rarity = starts[kept], stops[kept], shift[kept], rarity[kept]
    owners = np.searchsorted(works.first_word_of, starts + shift, "right") - 1
    chains = []
    order = np.lexsort((shift, starts, stops, owners))  # by their ends: a long run stands before what begins within it
    borders = np.flatnonzero(np.diff(owners[order])) + 1
    for group in np.split(order, borders):
        runs = [
            SharedRun(int(starts[at]), int(starts[at] + shift[at]), int(stops[at] - starts[at]), float(rarity[at]))
            for at in group
        ]
        chains += _chained(runs)
    return sorted(chains)


def _joined(here: Integers, there: Integers) -> tuple[Integers, Integers, Integers]:
    """Join runs of `RUN` words that overlap or touch: first word in the source, one behind the last, shift to there."""
    shift = there - here
    order = np.lexsort((here, shift))
    here, shift = here[order], shift[order]
    opens = np.concatenate([[True], (np.diff(shift) != 0) | (np.diff(here) > RUN)])
    first = np.flatnonzero(opens)
    last = np.concatenate([first[1:], [len(here)]]) - 1
    return here[first], here[last] + RUN, shift[first]


def _promising(
    numbers: Numbers, works: QuotedWorks, starts: Integers, stops: Integers, shift: Integers, rarity: Bits
) -> npt.NDArray[np.bool_]:
    """Tell which runs can be part of a quotation: rare by themselves, together with neighbours, or with near words."""
    kept = rarity >= LEAST_BITS
    rest = np.flatnonzero(~kept)
    kept[rest] = _among_neighbours(starts, starts + shift, rarity)[rest] >= LEAST_BITS
    rest = np.flatnonzero(~kept)
    near = _beside(numbers, works, starts[rest], shift[rest], -1) + _beside(numbers, works, stops[rest], shift[rest], 1)
    kept[rest] = rarity[rest] + near >= LEAST_BITS
    return kept


def _among_neighbours(here: Integers, there: Integers, rarity: Bits) -> Bits:
    """Sum the rarity of the runs in each run's cell and in the eight around it."""
    wide = np.int64(1) << 32
    cells = (here >> _CELL) * wide + (there >> _CELL)
    known, which = np.unique(cells, return_inverse=True)
    sums = np.bincount(which, weights=rarity)
    around = np.zeros(len(known))
    for up in (-1, 0, 1):
        for along in (-1, 0, 1):
            wanted = known + up * wide + along
            at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            around += np.where(known[at] == wanted, sums[at], 0.0)
    return np.asarray(around[which], dtype=np.float64)


def _beside(numbers: Numbers, works: QuotedWorks, ends: Integers, shift: Integers, step: int) -> Bits:
    """Sum the bits of words that stand alike near the end of a run, where a word may be changed, added or left out.

    - `ends`: the first word of the run where `step` is -1, one behind its last where it is 1.
    """
    best = np.zeros(len(ends))
    for slip in (-1, 0, 1):
        total = np.zeros(len(ends))
        for away in range(_REACH):
            at = ends + (away if step > 0 else -1 - away)
            inside = (at >= 0) & (at < len(numbers))
            mine = numbers[np.clip(at, 0, len(numbers) - 1)]
            theirs = works.words[np.clip(at + shift + slip, 0, len(works.words) - 1)]
            total += np.where(inside & (mine == theirs), works.bits[theirs], 0.0)
        best = np.maximum(best, total)
    return best


def _chained(runs: list[SharedRun]) -> list[list[SharedRun]]:
    """Lay runs of one work, in the order of their ends in the source, together where they follow each other."""
    scores: list[float] = []
    before: list[int] = []
    for number, run in enumerate(runs):
        best, chosen = 0.0, -1
        for other in range(number - 1, -1, -1):
            mine = run.here - runs[other].here - runs[other].words
            if mine > MOST_BETWEEN:
                break
            theirs = run.there - runs[other].there - runs[other].words
            if min(mine, theirs) <= -min(run.words, RUN) or theirs > MOST_SKIPPED:  # said again: another quotation
                continue
            slant = abs(mine - theirs)
            score = scores[other] - min(_SLANT * slant, 0.9 * min(scores[other], LEAST_BITS))
            if score > best:
                best, chosen = score, other
        scores.append(best + run.bits)
        before.append(chosen)
    chains = []
    taken = [False] * len(runs)
    for last in sorted(range(len(runs)), key=lambda at: -scores[at]):
        if taken[last]:
            continue
        chain, at = [], last
        while at >= 0 and not taken[at]:
            taken[at] = True
            chain.append(runs[at])
            at = before[at]
        chains.append(_untangled(chain[::-1]))
    return chains


def _untangled(chain: list[SharedRun]) -> list[SharedRun]:
    """Cut off what runs share with the run before them."""
    made = [chain[0]]
    for run in chain[1:]:
        last = made[-1]
        over = max(0, last.here + last.words - run.here, last.there + last.words - run.there)
        if over < run.words:
            made.append(SharedRun(run.here + over, run.there + over, run.words - over, run.bits))
    return made
