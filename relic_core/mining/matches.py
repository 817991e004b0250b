"""Which words of a source stand in which work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.mining.alignment import Aligner, Block
from relic_core.mining.seeds import LEAST_BITS, find_chains

if TYPE_CHECKING:
    from collections.abc import Collection

    from relic_core.domain import Offsets
    from relic_core.mining.prose import Prose
    from relic_core.mining.quoted_works import QuotedWork, QuotedWorks

LEAST_WORDS = 8
"""Words that have to stand in both texts, as in RELiC's runs of eight."""
RIVAL = 0.9
"""Share of the best match's bits that another place of the same words needs to be a rival to it."""
_SAME = 0.5
"""Share of a match's words in the source that a better match has to hold for the two to be about the same words."""


@dataclass(frozen=True, slots=True)
class Match:
    """Words of a source that stand in a work, in order.

    - `start`, `end`: where they stand in `Prose.text`, half-open.
    - `blocks`: what is the same, by positions of words.
    - `bits`: how rare the shared words are together.
    """

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


def find_matches(prose: Prose, works: QuotedWorks, *, among: Collection[str] | None = None) -> tuple[Match, ...]:
    """Find the words of a source that stand in works, whether or not the source marks them as quoted.

    Where the same words stand in several places, in one work or several, the places that are nearly as good as the best
    are all given.

    - `among`: ids of the works that are looked at; all by default.

    Returns: in the order of the source.

    Raises BadRequest: a work of `among` is not in `works`.
    """
    words = works.read(prose.text)
    return matches_of(Aligner(prose.text, words, works), among=among)


def matches_of(aligner: Aligner, *, among: Collection[str] | None = None) -> tuple[Match, ...]:
    """Find matches as `find_matches` does, of a source whose words were read before."""
    works, words = aligner.works, aligner.words
    numbers = None if among is None else [works.number_of(each) for each in among]
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
        cells = range(first >> 5, ((stop - 1) >> 5) + 1)
        others = {number for cell in cells for number in by_cell.get(cell, ())}
        if all(_stands_beside(match, kept[number]) for number in others):
            for cell in cells:
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
