"""Find where a passage is in a work, though it was printed, scanned or cut into sentences otherwise.

Letters and digits alone are compared, in small letters, so that quotation marks, dashes, spacing and line breaks do not
count. Where the passage is in the work to the letter, that is its place. Elsewhere runs of ten letters that both
sides share each vote for how far the passage is shifted against the work (rare runs weigh more), and near the shift
with most votes all shared runs of seven letters are laid upon each other: what they cover has been found. So a slip of
the pen, another spelling, a few words more or fewer cost no more than themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.fuzz import QRatio
from rapidfuzz.utils import default_process

from relic_core.domain import Span, Work
from relic_core.text.words import content_tokens, tokens

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LEAST_AGREEMENT = 0.75
"""Share of a passage that has to be at a place for it to be the passage's, unless the caller says otherwise."""

LEAST_QUOTED = 0.5
"""The same for words that are quoted from memory, before they are compared as RELiC does."""
LEAST_RATIO = 80.0
"""QRatio from which words are taken for those of a passage (RELiC, appendix A)."""
LEAST_RUN = 15
"""Characters in a row that a quotation has to share with the passage (RELiC, appendix A); all of a shorter one."""
_LEAST_WORDS, _LEAST_CONTENT = 6, 3
"""Words of a part of a sentence that is recalled to the letter, and how many of them are no function words.

Of 8,000 runs of six such words from 73 novels none stood in eight others; of those with fewer that are no function
words one in a thousand stood in another ("in the middle of the night" is in every fifth novel). Four of five runs of
eight words, a half sentence, have the three.
"""

_SEED = 10
_RUN = 7
"""Letters: a run of ten is rare enough to vote, one of seven is no accident where the passage is expected anyway."""
_COMMONEST = 64
"""A run that occurs in a work more often says nothing of the place."""
_DRIFT = 24
"""Letters that words left out or put in may shift a passage against the work; a quarter of longer passages."""
_MANY = 1_000
"""Places of a passage to the letter that are looked at: a word of two letters occurs in a novel ten thousand times."""
_RIVALS = 8
"""Places looked at for one passage, those with most votes."""
_RIVAL = 0.2
"""Share of the best place's votes that another needs to be looked at."""
_HALF, _THIRD = 1 / 2, 1 / 3

_NO_LETTERS = re.compile(r"[\W_]+")
_SCRAMBLED = re.compile(
    "[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}"
)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a passage stands.

    - `span`: the sentences that hold it: those of which it holds at least half, and those that hold at least a third of
      it.
    - `agreement`: share of the passage's letters that are in the span, in their order, 0-1.
    - `coverage`: share of the span's letters that the passage holds, 0-1. Both are 1 where a passage is whole sentences
      to the letter.
    """

    span: Span
    agreement: float
    coverage: float

    @property
    def whole(self) -> bool:
        """Whether the passage is the sentences of the span, no letter more and none less."""
        return self.agreement == self.coverage == 1


class _Found(NamedTuple):
    """Letters that a passage and a work share: ``passage[i]`` is the letter ``work[i]``."""

    passage: Integers
    work: Integers


class Places:
    """Finds passages in one work; what it prepares serves all passages asked for."""

    def __init__(self, work: Work) -> None:
        pieces = [letters(work.sentence_text(index)) for index in range(len(work.sentences))]
        self._letters = "".join(pieces)
        self._spoken = [index for index, piece in enumerate(pieces) if piece]  # sentences with a letter in them
        self._bounds = np.cumsum([0, *(len(pieces[index]) for index in self._spoken)])
        self._starts: list[int] = self._bounds[:-1].tolist()

    def find(self, passage: str, *, least: float = LEAST_AGREEMENT) -> tuple[Placement, ...]:
        """Find the places where a passage stands, or something like it, down to an agreement of `least`.

        Those to the letter, in the order of the text; else those that agree enough and share no sentence, best first.
        """
        exact = self.find_exact(passage)
        if exact:
            return exact
        return tuple(place for place in self._alike(_wanted(passage)) if place.agreement >= least)

    def find_exact(self, passage: str) -> tuple[Placement, ...]:
        """Find the places where a passage stands to the letter, in the order of the text.

        The agreement is below 1 where little of a sentence is quoted beside whole ones: it is not part of the span.
        Where a few letters occur in the work more than a thousand times, those places are given at which they are whole
        sentences; where they nowhere are, the first thousand.
        """
        wanted = _wanted(passage)
        if not wanted:
            return ()
        best: dict[Span, Placement] = {}  # twice in one sentence is one place
        for start in self._stands(wanted):
            unbroken = _Found(np.arange(len(wanted)), np.arange(start, start + len(wanted)))
            place = self._placement(unbroken, len(wanted))
            if place.span not in best or place.agreement > best[place.span].agreement:
                best[place.span] = place
        return tuple(best.values())

    def _stands(self, wanted: str) -> list[int]:
        stands, start = [], self._letters.find(wanted)
        while start >= 0:
            stands.append(start)
            start = self._letters.find(wanted, start + 1)
        if len(stands) > _MANY:
            starts = np.array(stands)
            whole = np.isin(starts, self._bounds) & np.isin(starts + len(wanted), self._bounds)
            stands = (starts[whole] if whole.any() else starts)[:_MANY].tolist()
        return stands

    def _alike(self, wanted: str) -> list[Placement]:
        codes, runs = _codes(wanted), _codes(self._letters)
        drift = max(_DRIFT, len(wanted) // 4)
        placed: list[Placement] = []
        for low in self._shifts(codes, drift):
            start, end = max(0, low), min(len(runs), low + drift + len(codes))
            found = _shared(codes, runs[start:end], low - start, drift)
            if len(found.work):
                placed.append(self._placement(_Found(found.passage, found.work + start), len(codes)))
        kept: list[Placement] = []
        for place in sorted(placed, key=lambda place: (-place.agreement, place.span.start)):
            if not any(place.span.overlaps(other.span) for other in kept):
                kept.append(place)
        return kept

    def _shifts(self, codes: npt.NDArray[np.uint32], drift: int) -> list[int]:
        """Find how far a passage may be shifted against the work: for each place the least shift, most votes first."""
        hashes, order = self._seeds
        seeds = _hashes(codes, _SEED)
        first, last = np.searchsorted(hashes, seeds, "left"), np.searchsorted(hashes, seeds, "right")
        counts = last - first
        shifts, votes = [], []
        for position in np.flatnonzero((counts > 0) & (counts <= _COMMONEST)):
            stands = order[first[position] : last[position]]
            shifts.append(stands - position)
            votes.append(np.full(len(stands), 1 / len(stands)))
        if not shifts:
            return []
        order = np.argsort(np.concatenate(shifts), kind="stable")
        shift, vote = np.concatenate(shifts)[order], np.concatenate(votes)[order]
        ends = np.searchsorted(shift, shift + drift, "right")
        sums = np.concatenate([[0.0], np.cumsum(vote)])
        together = sums[ends] - sums[: len(shift)]
        best, lows = together.max(), []
        for _ in range(_RIVALS):
            at = int(np.argmax(together))
            if together[at] < _RIVAL * best:
                break
            lows.append(int(shift[at]))
            together[np.abs(shift - shift[at]) <= drift] = -1.0
        return lows

    @cached_property
    def _seeds(self) -> tuple[npt.NDArray[np.uint64], Integers]:
        """Hashes of all runs of the work, ascending, and where each stands; both of shape (n_runs,)."""
        hashes = _hashes(_codes(self._letters), _SEED)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def _placement(self, found: _Found, size: int) -> Placement:
        low = bisect_right(self._starts, int(found.work.min())) - 1
        high = bisect_right(self._starts, int(found.work.max()))
        bounds = self._bounds[low : high + 1]
        held, _ = np.histogram(np.unique(found.work), bins=bounds)
        lengths = np.diff(bounds)
        belongs = np.flatnonzero((held >= _HALF * lengths) | (held >= _THIRD * size))
        if not belongs.size:
            belongs = np.array([np.argmax(held)])
        first, last = int(belongs[0]), int(belongs[-1])
        inside = (found.work >= bounds[first]) & (found.work < bounds[last + 1])
        return Placement(
            span=Span(self._spoken[low + first], self._spoken[low + last] + 1 - self._spoken[low + first]),
            agreement=len(np.unique(found.passage[inside])) / size,
            coverage=float(held[first : last + 1].sum() / lengths[first : last + 1].sum()),
        )


def quoted_span(places: Places, work: Work, words: str) -> Span | None:
    """Find the sentences that somebody quotes from a work, as RELiC standardises quotations (appendix A).

    The first place whose words are like these by QRatio, and share a run of characters; None: not of this work.
    """
    for place in places.find(words, least=LEAST_QUOTED):
        theirs = " ".join(work.span_text(place.span).split())
        if like(words, theirs) >= LEAST_RATIO and _longest_run(words, theirs) >= min(LEAST_RUN, len(letters(words))):
            return place.span
    return None


def recalled_span(places: Places, work: Work, words: str) -> Span | None:
    """Find the sentences that somebody recalls of a work: as `quoted_span` does, or by a part of them to the letter.

    Such a part has some words at least, and not function words alone; the first place where it stands counts.
    """
    if span := quoted_span(places, work, words):
        return span
    if len(tokens(words)) < _LEAST_WORDS or len(content_tokens(words)) < _LEAST_CONTENT:
        return None
    return next((place.span for place in places.find_exact(words)), None)


def like(words: str, others: str) -> float:
    """Tell how alike two stretches of words are: QRatio, 0-100, of their letters, whatever their marks and capitals.

    >>> like("It was dusk!", "It was dusk."), like("It was dusk.", "Nobody spoke.") < 50
    (100.0, True)
    """
    return float(QRatio(words, others, processor=default_process))


def _longest_run(words: str, others: str) -> int:
    mine, theirs = letters(words), letters(others)
    return SequenceMatcher(None, mine, theirs, autojunk=False).find_longest_match().size


def letters(text: str) -> str:
    r"""Keep the letters and digits of a text, in small letters.

    >>> letters("“No,” said I;\nit was 1851.")
    'nosaidiitwas1851'
    """
    return _NO_LETTERS.sub("", text.casefold())


def _wanted(passage: str) -> str:
    return letters(unscrambled(passage))


def unscrambled(text: str) -> str:
    r"""Put right the characters of UTF-8 that were read as Latin-1; other text stays as it is.

    >>> unscrambled("a ch\u00e2teau, a caf\u00c3\u00a9, and Maisie\u00e2\u0080\u0099s")
    'a château, a café, and Maisie’s'
    """
    return _SCRAMBLED.sub(_read_again, text)


def _read_again(scrambled: re.Match[str]) -> str:
    try:
        return scrambled.group().encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return scrambled.group()  # it was no UTF-8 after all


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)


def _hashes(codes: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.uint64]:
    """Give all runs of `size` letters a number, equal runs the same; shape (n_letters - size + 1,)."""
    runs = max(0, len(codes) - size + 1)
    hashes = np.zeros(runs, dtype=np.uint64)
    for offset in range(size):  # arithmetic wraps at 2**64, as is meant
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + codes[offset : offset + runs].astype(np.uint64)
    return hashes


def _shared(passage: npt.NDArray[np.uint32], region: npt.NDArray[np.uint32], low: int, drift: int) -> _Found:
    """Lay upon each other the runs that a passage and a region share, shifted by `low` to ``low + drift`` letters."""
    theirs = _hashes(region, _RUN)
    order = np.argsort(theirs, kind="stable")
    ours = _hashes(passage, _RUN)
    ranked = theirs[order]
    first, last = np.searchsorted(ranked, ours, "left"), np.searchsorted(ranked, ours, "right")
    counts = last - first
    at = np.repeat(np.arange(len(ours)), counts)
    # For each run of the passage the places first, first + 1, ..., last - 1 of the ranked runs of the region.
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    stands = order[np.repeat(first, counts) + steps]
    near = (stands - at >= low) & (stands - at <= low + drift)
    within = np.arange(_RUN)
    return _Found((at[near, None] + within).ravel(), (stands[near, None] + within).ravel())
