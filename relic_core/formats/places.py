"""Which books of criticism quote which passages of the shelf's works: offsets and hashes, no word of either.

Works are known by the sha256 of their text. In another edition a passage is found by the hash of its words.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal

from relic_core.config import ASSETS
from relic_core.domain import Span, Work
from relic_core.errors import BadBenchmark
from relic_core.formats.files import Count, Name, Strict, checked, parse, read_text

FILE = ASSETS / "places.json"
_WORDS = re.compile(r"[^\W_]+")
_DIGITS = 12
_LONGEST = 5
_SHARE = 2
"""One passage in so many has to be found before a text is taken for another edition of the work."""


class CriticsBook(Strict):
    """A book of criticism as the layer knows it; year and number at Project Gutenberg are 0 where not known."""

    title: Name
    author: str
    year: Count
    number: Count
    sha256: str


class QuotedPlaces(Strict):
    """What is quoted of a work: index of the book, offsets into the text, and the hash of the words there."""

    title: Name
    sha256: str
    places: tuple[tuple[Count, Count, Count, str], ...]


class Layer(Strict):
    """The file: what made it, the books, the works, and the digest of both."""

    format: Literal["relic places/1"] = "relic places/1"
    about: Mapping[str, str]
    digest: str
    books: tuple[CriticsBook, ...]
    works: tuple[QuotedPlaces, ...]

    def find(self, title: str, sha256: str) -> QuotedPlaces | None:
        """Find what is quoted of a work, of which this or another edition is known."""
        title = title.casefold()
        known = [each for each in self.works if each.sha256 == sha256 or each.title.casefold() == title]
        return min(known, key=lambda each: each.sha256 != sha256, default=None)

    def place(self, listed: QuotedPlaces, work: Work) -> tuple[tuple[CriticsBook, Span], ...]:
        """Give the books with the sentences that they quote; none where the text is of something else.

        In the text that the layer knows all places count, since lists count them without opening it: one in no
        sentence, as it was read here, is an empty span.
        """
        spans = (
            {each: work.span_between(*each[1:3]) or Span(0, 0) for each in listed.places}
            if listed.sha256 == work.sha256
            else _aligned(listed, work)
        )
        return tuple((self.books[place[0]], span) for place, span in spans.items() if span)


def _aligned(listed: QuotedPlaces, work: Work) -> Mapping[tuple[int, int, int, str], Span | None]:
    wanted = {place[3] for place in listed.places}
    words = [" ".join(_WORDS.findall(work.span_text(Span(at, 1)).casefold())) for at in range(len(work.sentences))]
    spans: dict[str, Span] = {}
    seen = Counter[str]()
    for length in range(1, _LONGEST + 1):
        for start in range(len(words) - length + 1):
            if (digest := hash_of(" ".join(words[start : start + length]))) in wanted:
                seen[digest] += 1
                spans[digest] = Span(start, length)
    found = {place: spans[place[3]] for place in listed.places if seen[place[3]] == 1}
    return found if len(found) * _SHARE >= len(listed.places) else {}


def hash_of(text: str) -> str:
    """Hash words, whatever stands between them.

    >>> hash_of("“It rained,” he said.") == hash_of("'It _rained_', he said")
    True
    """
    return hashlib.sha256(" ".join(_WORDS.findall(text.casefold())).encode()).hexdigest()[:_DIGITS]


def digest_of(books: Iterable[CriticsBook], works: Iterable[QuotedPlaces]) -> str:
    """Hash what a layer says."""
    text = "\n".join(each.model_dump_json() for each in chain(books, works))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def read_layer(path: Path) -> Layer:
    """Read a layer. Raises BadBenchmark: it is damaged, or not what its digest says."""
    layer = checked(Layer, parse(read_text(path), str(path)), str(path))
    numbers = [place[0] for place in chain.from_iterable(work.places for work in layer.works)]
    if layer.digest != digest_of(layer.books, layer.works) or max(numbers, default=-1) >= len(layer.books):
        raise BadBenchmark(f"{path} is not as it was made. Install the program anew.")
    return layer
