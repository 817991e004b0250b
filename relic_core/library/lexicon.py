"""The words of many texts, numbered, and which of them a word of a query means.

A text becomes an array of numbers, one for each printed word, so that looking for a word is looking for a number. The
words are those of `relic_core.text.words`, with their endings ('s) kept.
"""

from __future__ import annotations

import difflib
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from relic_core.text.forms import lemmas
from relic_core.text.variants import one_spelling
from relic_core.text.words import fold, word_spans

Numbers = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_ALIKE = 0.77
"""Least likeness of a word that may have been meant, 1 for the same word."""
_MOST_NEAREST = 4
_LONGER = 2
"""Letters by which it may be longer or shorter."""
_BASIC_PLANE = 0x10000
_APOSTROPHES = (0x27, 0x2019)
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|(?:jus|lors|puis|quoi)qu|[ad]?all|dell|nell|sull|quell|un)'(?=[aeiouh])")
"""A word of French or Italian that lost its vowel before the next: l'histoire, d'Artagnan, dell'anno."""
_COMBINING = re.compile("[\u0300-\u036f]")


@cache
def _letters() -> Flags:
    """Tell of each character of the basic plane whether it is a letter or digit."""
    return np.fromiter((chr(code).isalnum() for code in range(_BASIC_PLANE)), np.bool_, _BASIC_PLANE)


def word_offsets(text: str) -> tuple[Numbers, Numbers]:
    """Find where the words of a text start and end, as `word_spans` does, some five times as fast.

    >>> [offsets.tolist() for offsets in word_offsets("_Gatsby’s_ drawing-room")]
    [[1, 11, 19], [9, 18, 23]]
    """
    if _COMBINING.search(text):  # accents as characters of their own: rare, and left to the rule itself
        spans = np.array([span[:2] for span in word_spans(text)], np.int32).reshape(-1, 2)
        return spans[:, 0].copy(), spans[:, 1].copy()
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    inside = np.zeros(len(codes) + 2, np.bool_)  # with an end on either side
    word = inside[1:-1]
    basic = codes < _BASIC_PLANE
    if basic.all():
        np.take(_letters(), codes, out=word)
    else:
        word[basic] = _letters()[codes[basic]]
        word[~basic] = [chr(code).isalnum() for code in codes[~basic].tolist()]
    letters = inside.copy()
    between = (codes == _APOSTROPHES[0]) | (codes == _APOSTROPHES[1])
    word |= between & letters[:-2] & letters[2:]
    borders = np.flatnonzero(inside[1:] != inside[:-1]).astype(np.int32)
    return borders[::2].copy(), borders[1::2].copy()


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query."""

    word: str

    @property
    def folded(self) -> str:
        """In lower case, without accents."""
        return fold(self.word)

    @property
    def wild(self) -> bool:
        """Whether it holds a sign for any letters, or for one."""
        return "*" in self.word or "?" in self.word


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far from the letters of a query its words may be; `as_written`, Gatsby is neither gatsby nor Gatsby's."""

    variants: bool = False
    forms: bool = False
    as_written: bool = False


class Lexicon:
    """Printed words with their numbers; it only grows, and is safe to share between threads."""

    def __init__(self) -> None:
        self.printed: list[str] = []
        self.folded: list[str] = []
        self._numbers: dict[str, int] = {}
        self._growing = threading.Lock()
        self._order: Numbers = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.folded)

    def number(self, words: list[str]) -> Numbers:
        """Give each of a text's words its number; new words get new ones."""
        with self._growing:
            for word in dict.fromkeys(words):
                if word not in self._numbers:
                    self._numbers[word] = len(self.printed)
                    self.printed.append(word)
                    self.folded.append(fold(word))
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))

    def order(self) -> Numbers:
        """Rank the words by the alphabet; those that differ in capitals or accents alone share a rank."""
        order = self._order
        if len(order) < len(self):
            folded = self.folded[:]
            ranks = {word: rank for rank, word in enumerate(sorted(set(folded)))}
            order = self._order = np.fromiter(map(ranks.__getitem__, folded), np.int32, len(folded))
        return order

    def meant(self, term: Term, reach: Reach, first: int, last: int) -> Flags:
        """Tell of each word from number `first` up to `last` whether a word of a query means it."""
        if reach.as_written:
            fits = _glob(term.word) if term.wild else term.word.__eq__
            return np.fromiter(map(fits, self.printed[first:last]), np.bool_, last - first)
        return np.fromiter(map(_wanted(term, reach), self.folded[first:last]), np.bool_, last - first)


def _wanted(term: Term, reach: Reach) -> Callable[[str], bool]:
    """Make the test that tells of a folded word whether it is meant."""
    means = _wanted_whole(term, reach)
    return lambda found: means(found) or ("'" in found and means(_ELIDED.sub("", found)))


def _wanted_whole(term: Term, reach: Reach) -> Callable[[str], bool]:
    word = term.folded
    if term.wild:
        fits = _glob(word)
        return (lambda found: fits(found) or fits(found.removesuffix("'s"))) if "?" in word else fits
    possessive = f"{word}'s"
    if reach.forms:
        spelled = one_spelling if reach.variants else str
        wanted = {spelled(lemma) for lemma in lemmas(spelled(word))} | ({spelled(word)} if reach.variants else set())

        def has_form(found: str) -> bool:
            if found in (word, possessive):
                return True
            return not wanted.isdisjoint(map(spelled, lemmas(spelled(found))))

        return has_form
    if reach.variants:
        spelling = {one_spelling(word), one_spelling(possessive)}
        return lambda found: one_spelling(found) in spelling
    return lambda found: found in (word, possessive)


def _glob(pattern: str) -> Callable[[str], bool]:
    """Make the test for a pattern: * is any letters or none, ? is one; its time is bounded by the lengths of both.

    >>> [[word for word in ("prince", "princess", "spring") if _glob(each)(word)] for each in ("prin*e*", "s?ring")]
    [['prince', 'princess'], ['spring']]
    """
    head, *parts = re.split(r"\*+", pattern)
    if not parts:
        return lambda word: len(word) == len(head) and _find(head, word, 0, len(head)) == 0
    *middle, tail = parts
    least = len(head) + len(tail)

    def fits(word: str) -> bool:
        place, end = len(head), len(word) - len(tail)
        if len(word) < least or _find(head, word, 0, place) or _find(tail, word, end, len(word)) != end:
            return False
        for part in middle:
            found = _find(part, word, place, end)
            if found < 0:
                return False
            place = found + len(part)
        return True

    return fits


def _find(part: str, word: str, start: int, end: int) -> int:
    """Find the first place of a part of a pattern, in which ? is any letter, between two places of a word; else -1."""
    if "?" not in part:
        return word.find(part, start, end)
    places = range(start, end - len(part) + 1)
    return next((at for at in places if all(sign in ("?", word[at + by]) for by, sign in enumerate(part))), -1)


def nearest(word: str, counts: Counter[str]) -> list[str]:
    """List the words of a folded vocabulary that look most like one that is not in it, the likeliest first.

    >>> from collections import Counter
    >>> nearest("natashe", Counter({"natasha": 900, "nature": 20, "the": 5}))
    ['natasha']
    """
    alike = difflib.SequenceMatcher(b=word, autojunk=False)
    likely = []
    for known, count in counts.items():
        if abs(len(known) - len(word)) > _LONGER or not ({known[0], known[-1]} & {word[0], word[-1]}) or known == word:
            continue
        alike.set_seq1(known)
        if alike.real_quick_ratio() >= _ALIKE and alike.quick_ratio() >= _ALIKE and (ratio := alike.ratio()) >= _ALIKE:
            likely.append((-round(ratio, 2), -count, known))
    return [known for *_, known in sorted(likely)[:_MOST_NEAREST]]
