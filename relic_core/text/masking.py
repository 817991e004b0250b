"""Claims as typed: finding the mask, and finding words of the work that the claim already quotes."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from relic_core.domain import GAP, MASK, Claim, Span, Work
from relic_core.errors import BadClaim
from relic_core.text.unbroken import cuts, unbroken, without
from relic_core.text.words import tokens, whole_spans

_MASK = re.compile(
    r"\[\s*mask(?:ed)?(?:\s+(?:sentences?|sentence\(s\)|quotations?|quote|passage))?\s*\]|<mask>|_{3,}", re.IGNORECASE
)
_QUOTATION_MARK = re.compile(
    r"""
      (?P<opens> [“‘] | (?<![^\s(\[])["'](?=\S) | (?<!\w)'(?=\w) )
    | (?P<closes> ” | ['’](?!\w) )
    | (?P<either> " )
    """,
    re.VERBOSE,
)
"""A quotation mark and what it does, if its neighbours tell; an apostrophe between two letters is none."""

_OPENED_BY = {"”": "“", "’": "‘", '"': '"', "'": "'"}
_OPENING = "“\"‘'"
_CLOSING = "”\"’'"

_CHARACTERS_PER_WORD = 20
"""Characters that a claim may have for each word allowed: three times what prose has."""

_SEED = 5
_STRIDE = 4
_MAX_PLACES = 20
RUN_WORDS = _SEED + _STRIDE - 1
"""Words in a row that must occur in the work to be taken for a quotation: 8, as in RELiC's own matching."""

MARKED_WORDS = 4
"""Words that are enough when the claim itself puts them between quotation marks."""


def find_masks(text: str) -> list[tuple[int, int]]:
    """Find every mask in a claim as typed.

    >>> find_masks("He reads ___ aloud.")
    [(9, 12)]
    >>> [len(find_masks(m)) for m in ("[MASK]", "[masked sentence(s)]", "[...]")]
    [1, 1, 0]
    """
    return [match.span() for match in _MASK.finditer(text)]


def has_gap(claim_text: str) -> bool:
    """Whether a claim, or what is said around it, has a gap for a quotation.

    >>> has_gap("He reads [MASK] aloud"), has_gap("He reads aloud")
    (True, False)
    """
    return bool(find_masks(claim_text))


def shown_gap(claim_text: str) -> str:
    """Write the gap of a claim as pages write it.

    >>> shown_gap("He reads [MASK] aloud")
    'He reads ____ aloud'
    """
    for start, end in find_masks(claim_text)[:1]:
        return f"{claim_text[:start]}{GAP}{claim_text[end:]}"
    return claim_text


def read_claim(text: str, *, max_words: int) -> Claim:
    """Read a claim as typed: a bare prompt, or analysis with its quotation masked.

    Raises BadClaim: nothing to search with, more than `max_words` words or `_CHARACTERS_PER_WORD` times as many
    characters, or more than one mask.

    >>> read_claim("Light comes first: [MASK] Then the sea.", max_words=100)
    Claim(left='Light comes first:', right='Then the sea.', masked=True)
    """
    text = unbroken(text)
    masks = find_masks(text)
    if len(masks) > 1:
        found = " and ".join(f"“{text[start:end]}”" for start, end in masks[:2])
        raise BadClaim(
            f"The passage has {len(masks)} masks ({found}, ...). Keep the one that stands for the quotation "
            "you are looking for, and delete the others or write them out."
        )
    start, end = masks[0] if masks else (len(text), len(text))
    claim = Claim(left=" ".join(text[:start].split()), right=" ".join(text[end:].split()), masked=bool(masks))
    words = len(tokens(claim.words))
    if words == 0:
        raise BadClaim(
            "There is nothing to search with yet. Type a claim about the work in a few words, or paste a passage "
            f"of analysis with {GAP} where the quotation would stand."
        )
    if words > max_words:
        raise BadClaim(
            f"The claim has {words:,} words; up to {max_words:,} can be searched with. Keep the few sentences "
            "around the missing quotation: they say most about it."
        )
    if len(text) > max_words * _CHARACTERS_PER_WORD:
        raise BadClaim(
            f"The claim has {len(text):,} characters; up to {max_words * _CHARACTERS_PER_WORD:,} can be searched with. "
            "Keep the few sentences around the missing quotation: they say most about it."
        )
    return claim


def claim_tokens(claim: Claim) -> list[str]:
    """List the tokens of a claim, function words included. Raises BadClaim: it holds no word at all."""
    found = tokens(claim.words)
    if not found:
        raise BadClaim("The claim holds no words to search with. Type a claim about the work in a few words.")
    return found


_SCRIPT_CHARACTERS = 20_000
"""Characters of a work that tell its script."""


@lru_cache(maxsize=256)  # so that each work is read for it once
def script_of(text: str) -> str:
    """Name the script most letters of a text are written in ("LATIN", "CYRILLIC"), empty without letters.

    >>> script_of("Наташа"), script_of("Natasha"), script_of("12")
    ('CYRILLIC', 'LATIN', '')
    """
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            scripts[unicodedata.name(character, "UNKNOWN").split()[0]] += count
    return scripts.most_common(1)[0][0] if scripts else ""


def check_script(claim: Claim, works: Iterable[Work]) -> None:
    """Refuse a claim whose letters are those of none of the works: no retriever here can match across scripts."""
    script, found = script_of(claim.words[:_SCRIPT_CHARACTERS]), []
    for work in works:
        start = work.sentences[0].start if work.sentences else 0
        found.append((work.title, script_of(work.text[start : start + _SCRIPT_CHARACTERS])))
    if script and found and all(written and written != script for _, written in found):
        title, written = found[-1]
        raise BadClaim(
            f"The claim is written in {_letters(script)} letters and {title} in {_letters(written)} ones. "
            "The search compares words and their meaning in one language: write the claim in the language of the work."
        )


def _letters(script: str) -> str:
    return {"CJK": "Chinese"}.get(script, script.capitalize())


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of the claim that occur in the work."""

    start: int
    end: int
    span: Span
    words: int

    def mask(self, claim_text: str) -> str:
        """Put a mask in their place.

        >>> Quoted(8, 23, Span(0, 1), 4).mask("He says “no more of it” twice.")
        'He says [MASK] twice.'
        """
        before, after = claim_text[: self.start].rstrip(), claim_text[self.end :].lstrip()
        return " ".join(piece for piece in (before, MASK, after) if piece)


def marked_quotations(text: str) -> Iterator[tuple[int, int]]:
    """Pair the quotation marks of a text, in one walk: half-open character offsets, marks included.

    A mark that opens while another of its kind is open takes its place, so that one left unclosed spoils no later pair.

    >>> text = "He isn't “sure”, 'or so he says', of ‘that.’"
    >>> [text[start:end] for start, end in marked_quotations(text)]
    ['“sure”', "'or so he says'", '‘that.’']
    """
    opened: dict[str, int] = {}
    for match in _QUOTATION_MARK.finditer(text):
        kind = _OPENED_BY.get(match.group(), match.group())
        if match.lastgroup == "opens" or (match.lastgroup == "either" and kind not in opened):
            opened[kind] = match.start()
        elif kind in opened:
            yield opened.pop(kind), match.end()


class QuotationFinder:
    """Finds words of one work in a claim; made once per work, then used often.

    Words are compared as tokens (`relic_core.text.words`), so case, accents and the shape of apostrophes may differ.
    Only the sentences of the work are read, not what was left out.
    """

    def __init__(self, work: Work) -> None:
        self._vocabulary: dict[str, int] = {}
        words = array("i")
        ends: list[int] = []
        gone = cuts(work.text)
        for sentence in work.sentences:
            for token in tokens(without(work.text, sentence.start, sentence.end, gone)):
                words.append(self._vocabulary.setdefault(token, len(self._vocabulary)))
            ends.append(len(words))
        self._words = np.array(words, dtype=np.int32)
        self._ends = np.array(ends, dtype=np.int64)
        # Where each word of the vocabulary stands: word i at _places_of[_first[i]:_first[i + 1]], in order.
        self._places_of = np.argsort(self._words, kind="stable").astype(np.int32)
        counts = np.bincount(self._words, minlength=len(self._vocabulary))
        self._first = np.concatenate([[0], np.cumsum(counts)])

    def find(self, text: str) -> tuple[Quoted, ...]:
        """Find runs of the claim's words that occur in the work, longest first.

        A run counts from `RUN_WORDS` words on, or from `MARKED_WORDS` where quotation marks enclose it exactly.
        """
        spots = whole_spans(text)
        words = np.array([self._vocabulary.get(token, -1) for *_, token in spots], dtype=np.int32)
        taken = [False] * len(spots)
        runs: list[tuple[int, int, int]] = []  # first claim word, number of words, first work word
        for first in range(0, len(spots) - _SEED + 1, _STRIDE):
            if taken[first]:
                continue
            best = max(
                (self._extend(words, first, at) for at in self._places(words[first : first + _SEED])),
                key=lambda run: run[1],
                default=(0, 0, 0),
            )
            if best[1] >= RUN_WORDS:
                runs.append(best)
                taken[best[0] : best[0] + best[1]] = [True] * best[1]
        starts = [start for start, *_ in spots]
        for opening, closing in marked_quotations(text):
            first, last = bisect_left(starts, opening), bisect_left(starts, closing)
            if last - first < MARKED_WORDS or taken[first]:
                continue
            places = self._places(words[first:last])
            if places:
                runs.append((first, last - first, places[0]))
        found = [self._quoted(text, spots, run) for run in runs]
        return tuple(sorted(found, key=lambda quoted: (-quoted.words, quoted.start)))

    def _places(self, words: npt.NDArray[np.int32]) -> list[int]:
        if words.min() < 0:
            return []
        counts = self._first[words + 1] - self._first[words]
        by_rarity = np.argsort(counts, kind="stable")
        rarest = words[by_rarity[0]]
        starts = self._places_of[self._first[rarest] : self._first[rarest + 1]] - by_rarity[0]
        starts = starts[(starts >= 0) & (starts + len(words) <= len(self._words))]
        for i in by_rarity[1:]:
            starts = starts[self._words[starts + i] == words[i]]
            if not len(starts):
                break
        return [int(start) for start in starts[:_MAX_PLACES]]

    def _extend(self, words: npt.NDArray[np.int32], first: int, at: int) -> tuple[int, int, int]:
        room = min(first, at)
        back = _same(words[first - room : first][::-1], self._words[at - room : at][::-1])
        room = min(len(words) - first, len(self._words) - at)
        on = _same(words[first : first + room], self._words[at : at + room])
        return first - back, back + on, at - back

    def _quoted(self, text: str, spots: list[tuple[int, int, str]], run: tuple[int, int, int]) -> Quoted:
        first, count, at = run
        start, end = spots[first][0], spots[first + count - 1][1]
        while end < len(text) and text[end] in ".,;:!?…—" + _CLOSING:
            end += 1
        while start > 0 and text[start - 1] in _OPENING:
            start -= 1
        sentence, last = (int(place) for place in np.searchsorted(self._ends, [at, at + count - 1], side="right"))
        return Quoted(start=start, end=end, span=Span(sentence, last - sentence + 1), words=count)


def _same(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> int:
    """Count the words that two arrays of one length have in common at their beginning."""
    different = np.flatnonzero(left != right)
    return int(different[0]) if len(different) else len(left)
