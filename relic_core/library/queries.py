"""Queries of the concordance: what was typed, read as words in a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from relic_core.errors import BadRequest
from relic_core.library.lexicon import Reach, Term
from relic_core.text.unbroken import unbroken
from relic_core.text.variants import COMPOUNDS

MAX_WORDS = 12
MAX_CHARACTERS = 300
_MAX_READINGS = 8
_MAX_ALTERNATIVES = 12

Gap = Literal["any", "joined", "hyphen", "space"]
"""What may part two words: anything, a hyphen or white space, a hyphen alone, white space alone."""

# A question mark stands for a letter where one follows; at the end of a word it is a question mark.
_SIGNS = r"(?:[^\W_][\u0300-\u036f]*|\*|\?(?=\?*(?:[^\W_]|\*)))+"
_QUERY_WORD = re.compile(rf"{_SIGNS}(?:['’]{_SIGNS})*")
_OR = re.compile(r"\||(?<!\S)OR(?!\S)")
GAPS = {
    "joined": re.compile(r"[\s_]*[-‐‑]?[\s_]*"),
    "hyphen": re.compile(r"_*[-‐‑]\s*_*"),
    "space": re.compile(r"[\s_]+"),
}
"""What a gap of each kind looks like in a text."""
_CLOSED: dict[str, tuple[str, str, Gap]] = {
    first + second: (first, second, "hyphen" if parting == "hyphen" else "space")
    for parting, pairs in COMPOUNDS.items()
    for first, second in pairs
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a query: words in a row, and what may part them."""

    terms: tuple[Term, ...]
    gaps: tuple[Gap, ...]

    @property
    def joint(self) -> str:
        """What its words are joined by when they are named together."""
        return "-" if "hyphen" in self.gaps else " "


def read_query(typed: str, reach: Reach) -> tuple[Reading, ...]:
    """Read what was typed: a word or a phrase, or several with | or OR between; * is any letters, ? is one.

    Only words count, and hyphens between them. With spelling variants, to-day is also read as today, and everybody as
    every body; the phrases as typed come first.

    Raises BadRequest: there is no word in it, or there are too many, or a word is nothing but * on its own.

    >>> from relic_core.library.lexicon import Reach
    >>> [[term.word for term in reading.terms] for reading in read_query("to-day, at last", Reach(variants=True))]
    [['to', 'day', 'at', 'last'], ['today', 'at', 'last']]
    """
    typed = unbroken(typed)
    parts = [part for part in _OR.split(typed.strip()[: MAX_CHARACTERS + 1]) if part.strip()] or [""]
    if len(parts) > _MAX_ALTERNATIVES:
        raise BadRequest(f"Those are {len(parts)} alternatives. Look up {_MAX_ALTERNATIVES} at once at most.")
    long = len(typed.strip()) > MAX_CHARACTERS
    return tuple(chain.from_iterable(_read_phrase(part, reach, long=long) for part in parts))


def _read_phrase(typed: str, reach: Reach, *, long: bool) -> list[Reading]:
    words = list(_QUERY_WORD.finditer(typed))
    if long or len(words) > MAX_WORDS:
        raise BadRequest(
            f"That is longer than the {MAX_WORDS} words ({MAX_CHARACTERS} characters) that can be looked up as a "
            "phrase. Give a few words of it, or use Find, which takes whole passages."
        )
    if not words:
        raise BadRequest("There is no word to look for, only signs. Type a word or a phrase: brass, or good fortune.")
    if all(set(word.group()) <= {"*", "?", "'", "’"} for word in words):
        raise BadRequest("A * stands for letters of a word, so it needs some beside it: honour*, or the * of the sea.")
    terms = tuple(Term(word.group().replace("’", "'")) for word in words)
    gaps: list[Gap] = []
    for (before, after), (first, second) in zip(pairwise(words), pairwise(terms), strict=True):
        hyphen = typed[before.end() : after.start()] in {"-", "‐", "‑"}
        strict = (first.folded, second.folded) in COMPOUNDS["hyphen"]
        gaps.append(("hyphen" if strict else "joined") if hyphen else "any")
    typed_so = Reading(terms, tuple(gaps))
    readings = [typed_so]
    if reach.variants:
        for place in range(len(terms)):
            for reading in readings[:]:
                if len(readings) < _MAX_READINGS and (other := _otherwise(reading, terms[place])) is not None:
                    readings.append(other)
    return readings


def _otherwise(reading: Reading, term: Term) -> Reading | None:
    """Read a word in two (everybody, every body), or the two that begin with it in one."""
    terms, gaps = reading.terms, reading.gaps
    place = next((at for at, each in enumerate(terms) if each is term), None)
    if place is None:
        return None
    if (closed := _CLOSED.get(term.folded)) is not None:
        first, second, gap = closed
        return Reading(
            (*terms[:place], Term(first), Term(second), *terms[place + 1 :]), (*gaps[:place], gap, *gaps[place:])
        )
    if place + 1 < len(terms):
        pair = (term.folded, terms[place + 1].folded)
        joined = COMPOUNDS["space"] + (COMPOUNDS["hyphen"] if gaps[place] == "hyphen" else ())
        if pair in joined:
            return Reading(
                (*terms[:place], Term("".join(pair)), *terms[place + 2 :]), (*gaps[:place], *gaps[place + 1 :])
            )
    return None
