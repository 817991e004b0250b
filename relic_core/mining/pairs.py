"""Pairs: quotations with the sentences around them; what is dirty, foreign or no quotation is left out and counted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from relic_core.domain.sources import Pair, passage_id
from relic_core.domain.windows import MAX_CONTEXT
from relic_core.mining.prose import Prose, Quotation
from relic_core.text.languages import is_english, language

OWN_RUN = 5
"""Words in a row that a context may not share with what is quoted."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_OPENING = " \"“‘'«([{—–-"
_CLOSING = " \"”’'»)]}.,;:!?—–-"


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a quotation: up to four sentences on either side, and where it all is in `Prose.text`."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    start: int
    end: int


def context(prose: Prose, start: int, end: int, *, own: Sequence[str] = ()) -> Context:
    """Give the context of ``prose.text[start:end]``.

    What the sentence of the quotation has before or after it counts as a sentence where it holds a word. No
    context leaves the flow of its quotation, and none goes on beyond a sentence that says again what is quoted.

    - `own`: further texts of which no `OWN_RUN` words in a row may be in the context: the sentences of the quoted
      work.

    >>> from relic_core.mining.prose import read_prose
    >>> prose = read_prose("Rain fell. He notes that “it was a wet day” in June. So it was.")
    >>> found = context(prose, prose.text.index("it was"), prose.text.index("”"))
    >>> found.left, found.right
    (('Rain fell.', 'He notes that'), ('in June.', 'So it was.'))
    """
    quoted = (prose.text[start:end], *own)
    runs = frozenset(chain.from_iterable(_in_a_row(words_of(text)) for text in quoted))
    flow = prose.stretches[prose.stretch_at(start)].flow if prose.stretches else 0
    indices = prose.flows.get(flow, [])
    touched = prose.sentences_of(start, end)
    first = bisect_left(indices, touched.start)
    after = bisect_left(indices, touched.stop)
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    if touched:
        left = _piece(prose.text, prose.sentences[touched.start][0], start, trailing=True)
        right = _piece(prose.text, end, prose.sentences[touched.stop - 1][1], trailing=False)
    left += (prose.sentences[index] for index in reversed(indices[max(0, first - MAX_CONTEXT) : first]))
    right += (prose.sentences[index] for index in indices[after : after + MAX_CONTEXT])
    left = _clean(prose.text, left, runs, backwards=True)[::-1]
    right = _clean(prose.text, right, runs, backwards=False)
    return Context(
        tuple(prose.text[slice(*span)] for span in left),
        tuple(prose.text[slice(*span)] for span in right),
        min(start, left[0][0]) if left else start,
        max(end, right[-1][1]) if right else end,
    )


def words_of(text: str) -> list[str]:
    """List the words of a text in lower case, apostrophes made alike."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def _in_a_row(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(OWN_RUN)), strict=False)


def _piece(text: str, start: int, end: int, *, trailing: bool) -> list[tuple[int, int]]:
    """Take what a sentence has before or after its quotation, without the marks between; nothing where no word is."""
    if trailing:
        while end > start and text[end - 1] in _OPENING:
            end -= 1
    else:
        while start < end and text[start] in _CLOSING:
            start += 1
    return [(start, end)] if start < end and _WORD.search(text, start, end) else []


def _clean(
    text: str, sentences: Iterable[tuple[int, int]], runs: frozenset[tuple[str, ...]], *, backwards: bool
) -> list[tuple[int, int]]:
    """Take sentences going outward, at most four, up to one with which they say again what is quoted."""
    taken: list[tuple[int, int]] = []
    own_words: list[str] = []
    for start, end in sentences:
        words = words_of(text[start:end])
        own_words = [*words, *own_words[: OWN_RUN - 1]] if backwards else [*own_words[1 - OWN_RUN :], *words]
        if len(taken) == MAX_CONTEXT or not runs.isdisjoint(_in_a_row(own_words)):
            break
        taken.append((start, end))
    return taken


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
"""What is found in footnotes and bibliographies, and in no quotation."""
_NAME_WORD = 4
_CAPITALS, _TITLE, _FIGURES, _FIGURES_AROUND = 0.6, 0.7, 0.15, 0.12
"""Shares from which on words are not a quotation: of capital letters, of longer words with a capital, of figures (in a
quotation and around it)."""
_LONG_TITLE = 6
"""The most words of a title in a language whose nouns have capitals."""


@dataclass(frozen=True, slots=True)
class PairsFound:
    """The pairs of a source, in its order, and why how many quotations gave none."""

    pairs: tuple[Pair, ...]
    dropped: Mapping[str, int]


def make_pairs(prose: Prose, quotations: Iterable[Quotation], source_id: str) -> PairsFound:
    """Make the pairs of one source.

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
    if is_no_quotation(text):
        return NO_QUOTATION
    return "" if is_english(text) else FOREIGN


def _why_not_around(around: Context) -> str:
    joined = " ".join((*around.left, *around.right))
    if len(words_of(joined)) < MIN_CONTEXT_WORDS:
        return NO_CONTEXT
    if _share_of_figures(joined) > _FIGURES_AROUND:
        return NO_QUOTATION
    return "" if is_english(joined) else FOREIGN


def is_no_quotation(text: str, *, nouns: bool = False) -> bool:
    """Whether words are capitals, a title, a list of titles or of names, or figures.

    - `nouns`: whether all nouns of the language have capitals, so that only few words without a comma are a title.
    """
    if _REFERENCE.search(text):
        return True
    letters = [letter for letter in text if letter.isalpha()]
    if sum(map(str.isupper, letters)) > _CAPITALS * len(letters):
        return True
    words = re.findall(r"[^\W_]+", text)
    long = [word for word in words if len(word) >= _NAME_WORD and word.isalpha()]
    may_be_title = not nouns or ("," not in text and len(words) <= _LONG_TITLE)
    if may_be_title and sum(word[0].isupper() for word in long) > _TITLE * len(long):
        return True
    return _share_of_figures(text) > _FIGURES


def _share_of_figures(text: str) -> float:
    """Share of the words that hold a figure: bibliographies and tables have many."""
    words = re.findall(r"[^\W_]+", text)
    return sum(any(map(str.isdecimal, word)) for word in words) / max(1, len(words))
