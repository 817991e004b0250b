"""Secondary sources and what was found in them: quotations, pairs, windows on the works of the library."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relic_core.domain.runs import Offsets
from relic_core.domain.spans import Span

QuotationKind = Literal["inline", "block", "verse"]
"""How a quotation is set: between marks in the running text, set off as prose, set off as verse."""

WindowQuestion = Literal["match", "evidence"]
"""What a judge was asked of a window: whether it quotes these sentences; what the quotation is there for."""

ANSWERS: dict[WindowQuestion, tuple[str, ...]] = {
    "match": ("right", "wrong"),
    "evidence": ("claim-supporting", "paraphrase-supporting", "other"),
}
"""The answers to each question; those on evidence are the types of RELiC, section 2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondarySource:
    """A text in which works are quoted: a book or an article of criticism, a biography.

    - `id`: a slug of its title and the first eight digits of its hash; the text decides it, not the file.
    - `name`: of the file, within the folder or archive it came from.
    - `sha256`: of the decoded text: offsets belong to it.
    """

    id: str
    title: str
    author: str
    name: str
    sha256: str
    characters: int
    number: int | None = None
    origin: str = ""
    licence: str = ""

    @property
    def public_origin(self) -> str:
        """Where it came from as far as its table told; a place on this machine is left away.

        >>> facts = {"id": "a", "title": "A", "author": "", "name": "138.txt", "sha256": "", "characters": 0}
        >>> SecondarySource(**facts, origin="https://www.gutenberg.org/138.txt").public_origin
        'https://www.gutenberg.org/138.txt'
        >>> SecondarySource(**facts, origin="essays/138.txt in /books/a/criticism.zip").public_origin
        ''
        """
        is_place = re.fullmatch(rf"(?:.*/)?{re.escape(self.name)}(?: in .+)?", self.origin, re.DOTALL)
        return "" if is_place and "://" not in self.origin else self.origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A quotation found in a secondary source with its context, whether or not the quoted work is known.

    - `id`: a digest of the words of the quotation and its context: a reprint gives the same pair (`passage_id`).
    - `left`, `right`: up to four sentences before and after it, cleaned; one side may be empty.
    - `quotation`: its words, cleaned, without the outer marks.
    - `at`, `passage`: where the quotation, and the whole pair, are in the source's text.
    """

    id: str
    source_id: str
    kind: QuotationKind
    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]
    at: Offsets
    passage: Offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedWindow:
    """A place in a secondary source where sentences of a work were found; as a `Pair`, with what it quotes.

    - `id`: a digest of the texts of source and work and of the offsets in both (`window_id`): mining again gives the
      same.
    - `gold`: the sentences of the work: what the quotation is standardised to (RELiC, appendix A).
    - `lit`, `lit_in_work`: stretches of `quotation` whose words the work shares; the same in the work's text.
    - `score`: how alike the quotation and the sentences are, 0-100: the least QRatio of a sentence or a part that was
      matched.
    """

    id: str
    source_id: str
    work_id: str
    kind: QuotationKind
    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]
    gold: Span
    at: Offsets
    passage: Offsets
    lit: tuple[Offsets, ...]
    lit_in_work: tuple[Offsets, ...]
    score: float

    @property
    def has_context(self) -> bool:
        """Whether a word stands before or after the quotation: else there is no claim to be answered."""
        return any(map(str.isalpha, "".join((*self.left, *self.right))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One person's answer to one question about one mined window; the last counts, "" takes it back."""

    window_id: str
    question: WindowQuestion
    answer: str
    judge: str
    comment: str
    created: datetime


def passage_id(*parts: str) -> str:
    """Name a passage by its words: twelve hex digits, the same for a reprint set otherwise.

    >>> passage_id("“It rained,”", "he wrote.") == passage_id('"It  rained,"', "He wrote.")
    True
    """
    words = ["".join(filter(str.isalnum, part.casefold())) for part in parts]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]


def window_id(source_sha256: str, work_sha256: str, at: Offsets, sentences: Offsets) -> str:
    """Name a window by where it stands: the texts, the offsets of the quotation and those of the work's sentences."""
    place = f"{source_sha256} {work_sha256} {at[0]} {at[1]} {sentences[0]} {sentences[1]}"
    return hashlib.sha256(place.encode()).hexdigest()[:12]
