"""Pairs: quotations with their contexts, what is dirty, foreign or no quotation at all left out, and why counted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain.sources import Pair, passage_id
from relic_core.mining.contexts import context, words_of
from relic_core.mining.languages import is_english, language

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relic_core.mining.contexts import Context
    from relic_core.mining.prose import Prose, Quotation

MIN_WORDS = 8
"""Words of a quotation at the least, as in RELiC's own matching."""
MIN_CONTEXT_WORDS = 5
"""Words of both sides together at the least."""

FOREIGN_SOURCE = "the source is not in English"
FOREIGN = "not in English"
SHORT = f"fewer than {MIN_WORDS} words"
UNCLOSED = "its mark is never closed"
NESTED = "within another quotation"
NO_CONTEXT = f"fewer than {MIN_CONTEXT_WORDS} words around it"
NO_QUOTATION = "a list, a title, a reference or capitals"
TWICE = "the same words in the same context"

_REFERENCE = re.compile(r"\b(?:[Ii]bid|op\. cit|loc\. cit)\b|\bpp?\. ?\d|\b[Vv]ol\. ?[\divxIVX]|(?:^|\W)[Cc]f\. ")
"""What stands in footnotes and bibliographies, and in no quotation."""
_NAME_WORD = 4
_CAPITALS, _TITLE, _FIGURES, _FIGURES_AROUND = 0.6, 0.7, 0.15, 0.12
"""Shares from which on words are no quotation: of capital letters, of longer words with a capital, of figures (in a
quotation and around it)."""


@dataclass(frozen=True, slots=True)
class PairsFound:
    """The pairs of a source.

    - `pairs`: in the order of the source.
    - `dropped`: why quotations gave no pair -> how many.
    """

    pairs: tuple[Pair, ...]
    dropped: Mapping[str, int]


def make_pairs(prose: Prose, quotations: Iterable[Quotation], source_id: str) -> PairsFound:
    """Make the pairs of one source.

    - `quotations`: as `quotations.find_quotations` gives them.

    >>> from relic_core.mining.prose import read_prose
    >>> from relic_core.mining.quotations import find_quotations
    >>> prose = read_prose("He writes that “it rained on the ferry all that night in June” and that “it is so.”")
    >>> found = make_pairs(prose, find_quotations(prose), "rain-00000000")
    >>> [(pair.left, pair.quotation) for pair in found.pairs], dict(found.dropped)
    ([(('He writes that',), 'it rained on the ferry all that night in June')], {'fewer than 8 words': 1})
    """
    foreign = language(prose.text) != "en" and not is_english(prose.text)
    dropped: Counter[str] = Counter()
    pairs: dict[str, Pair] = {}
    for quotation in quotations:
        words = prose.text[quotation.start : quotation.end]
        why = FOREIGN_SOURCE if foreign else _why_not(quotation, words)
        if why:
            dropped[why] += 1
            continue
        around = context(prose, quotation.start, quotation.end)
        why = _why_not_around(around)
        name = passage_id(*around.left, words, *around.right)
        if why or name in pairs:
            dropped[why or TWICE] += 1
            continue
        pairs[name] = Pair(
            id=name,
            source_id=source_id,
            kind=quotation.kind,
            left=around.left,
            quotation=words,
            right=around.right,
            at=prose.in_source(quotation.start, quotation.end),
            passage=prose.in_source(around.start, around.end),
        )
    return PairsFound(tuple(pairs.values()), dict(dropped))


def _why_not(quotation: Quotation, text: str) -> str:
    """Say why a quotation by itself gives no pair; empty where it may."""
    words = words_of(text)
    if len(words) < MIN_WORDS:
        return SHORT
    if quotation.nested:
        return NESTED
    if not quotation.closed:
        return UNCLOSED
    if _is_no_quotation(text):
        return NO_QUOTATION
    return "" if is_english(text) else FOREIGN


def _why_not_around(around: Context) -> str:
    said = " ".join((*around.left, *around.right))
    if len(words_of(said)) < MIN_CONTEXT_WORDS:
        return NO_CONTEXT
    if _share_of_figures(said) > _FIGURES_AROUND:
        return NO_QUOTATION
    return "" if is_english(said) else FOREIGN


def _is_no_quotation(text: str) -> bool:
    """Whether words are capitals, a title, a list of titles or of names, or figures."""
    if _REFERENCE.search(text):
        return True
    letters = [letter for letter in text if letter.isalpha()]
    if sum(map(str.isupper, letters)) > _CAPITALS * len(letters):
        return True
    words = re.findall(r"[^\W_]+", text)
    long = [word for word in words if len(word) >= _NAME_WORD and word.isalpha()]
    if sum(word[0].isupper() for word in long) > _TITLE * len(long):
        return True
    return _share_of_figures(text) > _FIGURES


def _share_of_figures(text: str) -> float:
    """Share of the words that hold a figure: bibliographies and tables have many."""
    words = re.findall(r"[^\W_]+", text)
    return sum(any(map(str.isdecimal, word)) for word in words) / max(1, len(words))
