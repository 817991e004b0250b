"""A novel at one look: how long each chapter is, how much of it is spoken, and who is in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from relic_core.domain import Work
from relic_core.text.dialogue import spoken_by_sentence
from relic_core.text.people import Person, people_of

_FEWEST, _SHORT, _STRETCHES = 5, 200, 40
"""Chapters below which a work of so many sentences is cut into stretches, and how many."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A chapter, or a stretch of a work without: its first sentence, that one's address, words and words spoken."""

    name: str
    first: int
    at: str
    words: int
    spoken: int


@dataclass(frozen=True, slots=True)
class Novel:
    """A work at one look; `chapters`: the stretches are its chapters."""

    stretches: tuple[Stretch, ...]
    people: tuple[Person, ...]
    chapters: bool

    def count(self, sentences: Iterable[int]) -> list[int]:
        """Count in each stretch the sentences given, each as often as it is given."""
        firsts = [stretch.first for stretch in self.stretches]
        counts = [0] * len(firsts)
        for sentence in sentences:
            counts[bisect_right(firsts, sentence) - 1] += 1
        return counts


def novel(work: Work) -> Novel:
    """Read a work for its picture."""
    firsts: dict[int, int] = {}
    for sentence in work.sentences:
        firsts.setdefault(sentence.chapter, sentence.index)
    chapters = len(firsts) >= _FEWEST or len(work.sentences) < _SHORT
    starts = [*firsts.values()] if chapters else [*range(0, len(work.sentences), len(work.sentences) // _STRETCHES + 1)]
    spoken = spoken_by_sentence(work)
    stretches = []
    for first, end in pairwise((*starts, len(work.sentences))):
        here = work.chapter_name(work.sentences[first].chapter)
        stretches.append(
            Stretch(
                here if chapters else f"From {first / len(work.sentences):.0%} on",
                first,
                str(work.address(first)),
                sum(each.words for each in spoken[first:end]),
                sum(each.spoken for each in spoken[first:end]),
            )
        )
    return Novel(tuple(stretches), people_of(work), chapters)
