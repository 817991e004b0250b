"""Laying a quotation upon the words of a work: what is the same, what was changed, left out or put in."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import QRatio

from relic_core.mining.spellings import UNKNOWN
from relic_core.text.words import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relic_core.mining.quoted_works import QuotedWorks, Words
    from relic_core.mining.seeds import SharedRun

_PAST_END, _PAST_END_THERE = 16, 22
"""Words beyond the outermost runs that are laid upon each other, in the source and in the work."""
_ALIKE, _ALIKE_GARBLED = 74.0, 60.0
"""QRatio of words that are one word printed or scanned in two ways; the second where no work has such a word."""
_MOST_RESPELT = 4
"""Words on either side that may be one another's other print."""
_CHANGED = 7.0
"""Bits that each word costs which stands in one text alone."""
_LEFT_OUT, _LEFT_OUT_EACH = 8.0, 0.1
"""Bits that an ellipsis costs, and each word left out at it."""
_PUT_IN, _PUT_IN_EACH = 6.0, 0.6
"""Bits that words between marks of quotation or in brackets cost, and each of them."""

_ELLIPSIS = re.compile(r"\.\s?\.|…|\*\s*\*|[-–—_]{3,}|[–—]|--|\[\s*\]|\betc\b|&c")
_BRACKETED = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_MARK = re.compile(r"[\"“”„«»‘]|(?<!\w)['’]|['’](?!\w)")


def unbracketed(text: str) -> int:
    """Count the words of a text that do not stand in brackets.

    >>> unbracketed("He [the ferryman, that is] went (as we read) home.")
    3
    """
    return len(tokens(_BRACKETED.sub(" ", text)))


class Block(NamedTuple):
    """Words that stand in both texts: half-open positions of words in the source and in the works; and how rare."""

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
        """Align what is between and around the runs of a chain.

        - `chain`: in the order of both texts, without overlap.
        - `first`, `stop`: where the work's words begin and end among those of all works.

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
    """Whether blocks have as many words in the source as in the work."""
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
