"""Which words of a source occur in which work: shared runs are found, chained, and aligned with it word by word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import QRatio

from relic_core.domain import Offsets
from relic_core.mining.quoted_works import RUN, UNKNOWN, Numbers, QuotedWork, QuotedWorks, Words
from relic_core.text.words import tokens

Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.float64]


COMMONEST = 32
"""Runs that occur more often in the works are commonplace and start nothing; they are found beside rarer ones."""
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


def find_chains(
    numbers: Numbers, works: QuotedWorks, *, among: Collection[int] | None = None, least: float = LEAST_BITS
) -> list[list[SharedRun]]:
    """Find runs of words that a source shares with works, `among` some, those of one quotation together, in order.

    - `least`: how rare they have to be together.
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
    kept = _promising(numbers, works, starts, stops, shift, rarity, least)
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
    numbers: Numbers,
    works: QuotedWorks,
    starts: Integers,
    stops: Integers,
    shift: Integers,
    rarity: Bits,
    least: float,
) -> npt.NDArray[np.bool_]:
    """Tell which runs can be part of a quotation: rare by themselves, together with neighbours, or with near words."""
    kept = rarity >= least
    rest = np.flatnonzero(~kept)
    kept[rest] = _among_neighbours(starts, starts + shift, rarity)[rest] >= least
    rest = np.flatnonzero(~kept)
    near = _beside(numbers, works, starts[rest], shift[rest], -1) + _beside(numbers, works, stops[rest], shift[rest], 1)
    kept[rest] = rarity[rest] + near >= least
    return kept


def _among_neighbours(here: Integers, there: Integers, rarity: Bits) -> Bits:
    """Sum the rarity of the runs in each run's cell and in the eight around it."""
    wide = np.int64(1) << 32
    buckets = (here >> _CELL) * wide + (there >> _CELL)
    known, which = np.unique(buckets, return_inverse=True)
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
    made = [chain[0]]
    for run in chain[1:]:
        last = made[-1]
        over = max(0, last.here + last.words - run.here, last.there + last.words - run.there)
        if over < run.words:
            made.append(SharedRun(run.here + over, run.there + over, run.words - over, run.bits))
    return made


_PAST_END, _PAST_END_THERE = 16, 22
"""Words beyond the outermost runs that are laid upon each other, in the source and in the work."""
_ALIKE, _ALIKE_GARBLED = 74.0, 60.0
"""QRatio of words that are one word printed or scanned in two ways; the second where no work has such a word."""
_MOST_RESPELT = 4
"""Words on either side that may be one another's other print."""
_CHANGED = 7.0
"""Bits that each word costs that only one text has."""
_LEFT_OUT, _LEFT_OUT_EACH = 8.0, 0.1
"""Bits that an ellipsis costs, and each word left out at it."""
_PUT_IN, _PUT_IN_EACH = 6.0, 0.6
"""Bits that words between marks of quotation or in brackets cost, and each of them."""

_ELLIPSIS = re.compile(r"\.\s?\.|…|\*\s*\*|[-–—_]{3,}|[–—]|--|\[\s*\]|\betc\b|&c")
_BRACKETED = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_MARK = re.compile(r"[\"“”„«»‘]|(?<!\w)['’]|['’](?!\w)")


def unbracketed(text: str) -> int:
    """Count the words of a text that are not in brackets.

    >>> unbracketed("He [the ferryman, that is] went (as we read) home.")
    3
    """
    return len(tokens(_BRACKETED.sub(" ", text)))


class Block(NamedTuple):
    """Words that both texts share: half-open positions of words in the source and in the works; and how rare."""

    here: int
    here_end: int
    there: int
    there_end: int
    bits: float


class Gap(NamedTuple):
    """What stands between two blocks: how many words in the source and in the work, and what the source shows there."""

    here: int
    there: int
    ellipsis: bool
    aside: bool

    @property
    def free(self) -> bool:
        """Whether the critic shows that words were left out or put in."""
        return self.ellipsis or self.aside

    @property
    def cost(self) -> float:
        """Bits."""
        mine = _PUT_IN + _PUT_IN_EACH * self.here if self.aside and self.here else _CHANGED * self.here
        if self.ellipsis:
            return mine + _LEFT_OUT + _LEFT_OUT_EACH * self.there
        theirs = _CHANGED * self.there
        return mine + theirs if self.aside else max(mine, theirs)


class Aligner:
    """Lays the words of one source upon those of the works."""

    def __init__(self, text: str, words: Words, works: QuotedWorks) -> None:
        self.text = text
        self.words = words
        self.works = works
        self._numbers: list[int] = words.numbers.tolist()

    def align(self, chain: Sequence[SharedRun], first: int, stop: int) -> Iterator[list[Block]]:
        """Align what is between and around the runs of a chain, which are in the order of both texts, without overlap.

        Yields: blocks that belong together, in order: each stretch costs less by what stands between than it brings.
        """
        blocks: list[Block] = []
        here, there = max(0, chain[0].here - _PAST_END), max(first, chain[0].there - _PAST_END_THERE)
        for run in chain:
            self._fill(blocks, here, run.here, there, run.there)
            blocks.append(self._block(run.here, run.here + run.words, run.there, run.there + run.words))
            here, there = run.here + run.words, run.there + run.words
        self._fill(blocks, here, min(len(self._numbers), here + _PAST_END), there, min(stop, there + _PAST_END_THERE))
        yield from self._stretches(self._with_respelt(_merged(blocks)))

    def gap(self, before: Block, after: Block) -> Gap:
        """Say what stands between two blocks."""
        here, there = after.here - before.here_end, after.there - before.there_end
        if not here and there <= 0:
            return Gap(0, 0, ellipsis=False, aside=False)
        between = self.text[self.words.ends[before.here_end - 1] : self.words.starts[after.here]]
        return Gap(
            here,
            there,
            ellipsis=there > 0 and _ELLIPSIS.search(between) is not None,
            aside=here > 0 and (len(_MARK.findall(between)) > 1 or _BRACKETED.search(between) is not None),
        )

    def strange(self, before: Block, after: Block) -> int:
        """Count the words of the source between two blocks, those in brackets left out: the critic's additions."""
        between = self.text[self.words.ends[before.here_end - 1] : self.words.starts[after.here]]
        return unbracketed(between) if after.here > before.here_end else 0

    def longest(self, here: range, there: range) -> Block | None:
        """Find the longest run of words that stand alike in words of the source and of the works; None for none."""
        theirs = self.works.words[there.start : there.stop].tolist()
        mine = self._numbers[here.start : here.stop]
        found = SequenceMatcher(None, mine, theirs, autojunk=False).find_longest_match()
        if not found.size:
            return None
        at, place = here.start + found.a, there.start + found.b
        return self._block(at, at + found.size, place, place + found.size)

    def _block(self, here: int, here_end: int, there: int, there_end: int) -> Block:
        bits = float(self.works.bits[self.works.words[there:there_end]].sum())
        return Block(here, here_end, there, there_end, bits)

    def _fill(self, blocks: list[Block], here: int, here_end: int, there: int, there_end: int) -> None:
        if here >= here_end or there >= there_end:
            return
        theirs = self.works.words[there:there_end].tolist()
        blocks.extend(
            self._block(here + piece.src_start, here + piece.src_end, there + piece.dest_start, there + piece.dest_end)
            for piece in LCSseq.opcodes(self._numbers[here:here_end], theirs)
            if piece.tag == "equal"
        )

    def _with_respelt(self, blocks: list[Block]) -> list[Block]:
        """Take for the same what is printed a little otherwise between two blocks, or beyond the first and the last."""
        made: list[Block] = []
        for block in blocks:
            if made:
                before = made[-1]
                found = self._respelt(before.here_end, block.here, before.there_end, block.there)
                if found is not None:
                    made.append(found)
            made.append(block)
        return _merged(made)

    def _respelt(self, here: int, here_end: int, there: int, there_end: int) -> Block | None:
        mine, theirs = here_end - here, there_end - there
        if not (0 < mine <= _MOST_RESPELT and 0 < theirs <= _MOST_RESPELT):
            return None
        one = "".join(self.words.spellings[here:here_end])
        other = "".join(self.works.spellings[number] for number in self.works.words[there:there_end])
        garbled = UNKNOWN in self._numbers[here:here_end]
        if QRatio(one, other) < (_ALIKE_GARBLED if garbled else _ALIKE):
            return None
        return self._block(here, here_end, there, there_end)

    def _stretches(self, blocks: list[Block]) -> Iterator[list[Block]]:
        """Cut blocks where what lies between costs more than either side brings; the best stretch first."""
        costs = [0.0, *(self.gap(before, block).cost for before, block in pairwise(blocks))]
        rest = [(0, len(blocks))]  # no recursion: a retelling has thousands in a row
        while rest:
            first, stop = rest.pop()
            best, best_from, best_to = 0.0, first, first
            score, begin = 0.0, first
            for number in range(first, stop):
                score -= costs[number]
                if score <= 0 or number == first:
                    score, begin = 0.0, number
                score += blocks[number].bits
                if score > best:
                    best, best_from, best_to = score, begin, number + 1
            if best_to > best_from:
                yield blocks[best_from:best_to]
                rest += [(best_to, stop), (first, best_from)]


def _even(*blocks: Block) -> bool:
    return all(block.here_end - block.here == block.there_end - block.there for block in blocks)


def _merged(blocks: list[Block]) -> list[Block]:
    """Join blocks without a word between them in either text, word for word.

    What is printed as more words in one text than in the other stays a block of its own: in a longer one it would shift
    all that is counted from its beginning.
    """
    made: list[Block] = []
    for block in blocks:
        if made and made[-1].here_end == block.here and made[-1].there_end == block.there and _even(made[-1], block):
            last = made.pop()
            block = Block(last.here, block.here_end, last.there, block.there_end, last.bits + block.bits)  # noqa: PLW2901
        made.append(block)
    return made


LEAST_WORDS = 8
"""Words that both texts must share, as in RELiC's runs of eight."""
RIVAL = 0.9
"""Share of the best match's bits that another place of the same words needs to be a rival to it."""
_SAME = 0.5
"""Share of a match's words in the source that a better match has to hold for the two to be about the same words."""


@dataclass(frozen=True, slots=True)
class Match:
    """Words of a source that occur in a work, in order, as blocks of positions; `bits`: how rare they are together."""

    work: QuotedWork
    start: int
    end: int
    blocks: tuple[Block, ...]
    bits: float

    @property
    def words(self) -> int:
        """How many words of the work are shared."""
        return sum(block.there_end - block.there for block in self.blocks)

    @property
    def here(self) -> Offsets:
        """The positions of the words in the source, half-open."""
        return self.blocks[0].here, self.blocks[-1].here_end


def matches_of(aligner: Aligner, *, among: Collection[str] | None = None) -> tuple[Match, ...]:
    """Find the words of a source that occur in works, `among` some, whether or not the source marks them as quoted.

    Where the same words occur in several places, in one work or several, the places that are nearly as good as the best
    are all given. Returns: in the order of the source.
    """
    works, words = aligner.works, aligner.words
    numbers = None if among is None else [at for at, work in enumerate(works.works) if work.id in among]
    found = []
    for chain in find_chains(words.numbers, works, among=numbers):
        work = works.works[works.owner_of(chain[0].there)]
        for blocks in aligner.align(chain, work.first_word, work.first_word + work.words):
            match = Match(
                work,
                int(words.starts[blocks[0].here]),
                int(words.ends[blocks[-1].here_end - 1]),
                tuple(blocks),
                sum(block.bits for block in blocks),
            )
            if match.words >= LEAST_WORDS and match.bits >= LEAST_BITS:
                found.append(match)
    return _best(found)


def _best(matches: list[Match]) -> tuple[Match, ...]:
    """Leave out matches whose words in the source are held better by another; keep one of those that are the same."""
    kept: list[Match] = []
    by_cell: dict[int, list[int]] = {}
    seen: set[tuple[int, int, int, int]] = set()
    for match in sorted(matches, key=lambda each: (-each.bits, each.start, each.blocks)):
        first, stop = match.here
        place = (first, stop, match.blocks[0].there, match.blocks[-1].there_end)
        if place in seen:
            continue
        seen.add(place)
        buckets = range(first >> 5, ((stop - 1) >> 5) + 1)
        others = set[int]().union(*(by_cell.get(cell, ()) for cell in buckets))
        if all(_stands_beside(match, kept[number]) for number in others):
            for cell in buckets:
                by_cell.setdefault(cell, []).append(len(kept))
            kept.append(match)
    return tuple(sorted(kept, key=lambda each: (each.start, each.end, each.blocks)))


def _stands_beside(match: Match, better: Match) -> bool:
    """Whether a match is about other words of the source than a better one, or is nearly as good."""
    (first, stop), (start, end) = match.here, better.here
    shared = min(stop, end) - max(first, start)
    if shared < _SAME * (stop - first):
        return True
    same_place = (
        match.blocks[0].there < better.blocks[-1].there_end and better.blocks[0].there < match.blocks[-1].there_end
    )
    return not same_place and match.bits >= RIVAL * better.bits
