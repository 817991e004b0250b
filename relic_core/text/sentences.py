"""Text into sentences by RELiC's rule: ends of sentences, abbreviations, ellipses, colons and semicolons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from relic_core.ports import Segmenter

TITLES = frozenset(
    """
    mr mrs messrs ms mm mme mmes mlle mlles mons mgr dr prof rev revd hon st ste fr wm geo
    capt col gen lieut lt maj sergt sgt corp adm insp det supt gov sen rep mt v vs viz cf i.e e.g p.s n.b
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Words that are followed by what they introduce, mostly a name: their stop never ends a sentence."""

NUMBERED = frozenset(
    """
    no nos vol vols ch chap fig p pp art sec jan feb mar apr jun jul aug sep sept oct nov dec esq
    """.split()  # noqa: SIM905
)
"""Words whose stop ends a sentence unless a number follows."""

PLACES = frozenset(
    """
    Ak Ala Ariz Ark Calif Colo Conn Fla Ga Ia Kan Kans Ky Md Mich Minn Mont Neb Nebr Nev Okla Ore Tenn Va Wis
    """.split()  # noqa: SIM905
)
"""Words whose stop is theirs only as written here: "Ark." is in America, and "ark." ends a sentence."""

_MONTHS = re.compile(r"\s(?:Januar|Jänner|Februar|Feber|März|Mai|Juni|Juli|Oktober|Dezember)\b")
"""German months that no other language writes so: "3. Mai" is a date."""
_DAY = re.compile(r"\d{1,2}")
_WIDE_STOP = re.compile(r"[。！？；｡]+[」』”’）]*")
"""Marks that end a sentence of Chinese or Japanese, where no white space follows."""

_UNIT = re.compile(r"\d*[a-z]")
"""Single letters, as in "3s. 6d." or "c. 1850"."""

_NO_INITIALS = frozenset({"i", "a.m", "p.m"})


def owns_stop(word: str, *, before_number: bool = False, before_name: bool = True) -> bool:
    """Whether the full stop after `word` is part of it and ends no sentence.

    - `word`: what stands before the stop, its inner stops included ("p.m", "Mrs").
    - `before_name`: whether a name may follow. Initials own their stop only before one.

    >>> [word for word in ("Mrs", "St", "J", "Y.M.C", "I", "wife", "Ark", "ark", "Miss") if owns_stop(word)]
    ['Mrs', 'St', 'J', 'Y.M.C', 'Ark']
    >>> owns_stop("no"), owns_stop("No", before_number=True)
    (False, True)
    >>> owns_stop("S.E", before_name=False)
    False
    """
    lowered = word.lower()
    if lowered in TITLES or word in PLACES:
        return True
    if word[-1].isupper() and word[-2:-1] in {"", "."}:  # "J.", "U.S.", "Ph.D."
        return before_name and lowered not in _NO_INITIALS
    return before_number and (lowered in NUMBERED or _UNIT.fullmatch(lowered) is not None)


_WORD = re.compile(r"[^\W_]")
_GAP = re.compile(r"[.!?…;:][\W_]*")
"""From the first mark after a word to the next word; no character is read twice, so cutting takes linear time."""

_PIECE = re.compile(r"\S+")
_ENDING = re.compile(r"[.!?…”’)\]»]+")
_ENDS = re.compile(r"[;:…]|\.\s?\.")
_UNSPACED_ELLIPSIS = re.compile(r"…|\.{2,}")
_QUOTED = re.compile(r"[”’\"'»«“]")
"""Before the gap in a gap's marks, so that « and “ close here, as in German."""
_GOES_ON = re.compile(r"[”’\"'»«“],|[!?],[”’\"'»«“]")
"""What joins a quotation to the words behind it, as in ``“Wait!”, he said``."""
_LAST_WORD = re.compile(r"[^\W_][\w.]*$")
_NEXT_WORDS = re.compile(r"(\w+)\W*(\w*)")
_OPENING_QUOTES = ("“", "‘", '"', "'")
_OPENING_WORD = re.compile(r"\w+(?![\w.])")
"""The first word of a sentence, unless it is an initial itself."""

_LOOK = 24
"""Characters looked at before and after a gap."""

_NOMINATIVES = frozenset({"he", "she", "it", "they", "we", "you", "there"})
_CLAUSE_STARTS = _NOMINATIVES | frozenset(
    """
    one who this that these those the a an his her its their my our your but again
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""First words after a quoted ``?`` or ``!`` that begin a clause; others are the verb of speaking, or go on after it."""

_NO_NAMES = _CLAUSE_STARTS | {"i"}
_INTERJECTIONS = frozenset({"oh", "ah", "o"})


@dataclass(frozen=True)
class RuleSegmenter:
    """The segmenter by rules; the module says which.

    Its name stays where a rule moves sentences in few works: these keep those that they were stored with, what is
    made of a work goes by its fingerprint, and what was mined of criticism keeps its contexts until it is mined anew.
    """

    identity: str = "relic-rules/1"

    def segment(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Cut ``text[start:end]``, one paragraph; see `relic_core.ports.Segmenter`.

        >>> text = "“Where to?” asked Mrs. Poole. “Nowhere… I stay; you go.”"
        >>> [text[a:b] for a, b in RuleSegmenter().segment(text, 0, len(text))]
        ['“Where to?” asked Mrs. Poole.', '“Nowhere…', 'I stay;', 'you go.”']
        """
        word = _WORD.search(text, start, end)
        if word is None:
            return sentences_between(text, [start, end])
        bounds = [start]
        for gap in _GAP.finditer(text, word.end(), end):
            opening = gap.start() + _opening(text, gap)
            if gap.start() < opening and gap.end() < end and _parts(text, bounds[-1], gap, opening):
                bounds.append(opening)
        bounds = sorted({*bounds, *(stop.end() for stop in _WIDE_STOP.finditer(text, word.start(), end))})
        return sentences_between(text, [*bounds, end])


def sentences_between(text: str, bounds: list[int]) -> list[tuple[int, int]]:
    """Make the stretches between neighbouring bounds, without white space at their ends and without empty ones."""
    spans = []
    for start, end in pairwise(bounds):
        stretch = text[start:end]
        kept = stretch.strip()
        if kept:
            first = start + stretch.index(kept[0])
            spans.append((first, first + len(kept)))
    return spans


def count_ends(text: str) -> int:
    """Count the marks that may end a sentence, at least as many as there are sentences but for one a paragraph."""
    return sum(map(text.count, ".?!;:…。！？；｡"))


def next_opening(gap: str) -> int:
    """Offset in a gap between two words where the later sentence begins, 0 where no white space parts them.

    >>> [(gap[: next_opening(gap)], gap[next_opening(gap) :]) for gap in ('." ', ". “‘", "! … “", "?--")]
    [('." ', ''), ('. ', '“‘'), ('! … ', '“'), ('', '?--')]
    """
    for piece in _PIECE.finditer(gap):
        if piece.start() and (piece.end() == len(gap) or not _ENDING.fullmatch(piece.group())):
            return piece.start()
    return len(gap) if gap[-1:].isspace() else 0


def _opening(text: str, gap: re.Match[str]) -> int:
    # An ellipsis is a word of its own to spaCy, white space or not: "he thought...Then" is two sentences.
    if _UNSPACED_ELLIPSIS.fullmatch(gap.group()) and text[gap.start() - 1].isalnum():
        return len(gap.group())
    return next_opening(gap.group())


def _parts(text: str, first: int, gap: re.Match[str], opening: int) -> bool:
    """Whether `gap` ends the sentence that began at `first`, given that the next would begin at `opening`."""
    marks = text[gap.start() : opening]
    ends = _ENDS.search(marks) is not None
    if ends or _GOES_ON.search(marks):
        return ends
    following = text[gap.end()]
    quoted = _QUOTED.search(marks) is not None
    if following.islower():
        if quoted:
            return text[opening] not in "-–—" and _begins_clause(text[gap.end() : gap.end() + _LOOK])
        return marks[0] != "." and ")" not in marks and not _is_interjection(text[first : gap.start()])
    if marks[0] != "." or quoted:
        return True
    before = _LAST_WORD.search(text[max(first, gap.start() - _LOOK) : gap.start()])
    if before is None:
        return True
    may_be_name = "," in marks or _may_be_name(text[opening : gap.end() + _LOOK])
    dated = _DAY.fullmatch(before.group()) and _MONTHS.match(text, gap.start() + 1)
    return not (dated or owns_stop(before.group(), before_number=following.isdigit(), before_name=may_be_name))


def _begins_clause(following: str) -> bool:
    """Whether a clause of its own follows a closing quotation mark, as in ``?" the child asked``."""
    words = _NEXT_WORDS.match(following)
    if words is None:
        return False
    word, then = words.groups()
    if word == "and":
        return then in _NOMINATIVES or then[:1].isupper()
    return word in _CLAUSE_STARTS


def _may_be_name(following: str) -> bool:
    """Whether what follows an initial may go on with a name: neither a quotation nor a word that begins a clause."""
    word = _OPENING_WORD.match(following)
    begins_clause = word is not None and word.group().lower() in _NO_NAMES
    return not (begins_clause or following.startswith(_OPENING_QUOTES))


def _is_interjection(fragment: str) -> bool:
    return len(fragment) < _LOOK and fragment.strip(" \n\"'“‘_").lower() in _INTERJECTIONS


@lru_cache(maxsize=1)
def default_segmenter() -> Segmenter:
    """Make the segmenter that works are cut with unless another is asked for."""
    return RuleSegmenter()


def sentences_of(text: str) -> tuple[str, ...]:
    """Cut a text into its sentences, each with its white space single."""
    words = " ".join(text.split())
    return tuple(words[start:end] for start, end in default_segmenter().segment(words, 0, len(words)))
