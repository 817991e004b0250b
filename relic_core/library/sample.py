"""The sample: a short novel written for this project, and excerpts of criticism that quote it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.config import ASSETS
from relic_core.domain import MAX_LENGTH, Claim, Example, Span
from relic_core.errors import BadText

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Work

FOLDER = ASSETS / "sample"
NOVEL = FOLDER / "novel.txt"
EXCERPTS = FOLDER / "excerpts.jsonl"
SPLIT = "sample"
TITLE = "High Water at Averhythe"
AUTHOR = ""
YEAR = None
SOURCE = "The sample, written for this project (CC0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A passage of criticism around a quotation.

    Attributes
    ----------
    id : str
        Unique in its file.
    left, right : tuple of str
        Sentences before and after the quotation.
    quotation : str
        Words of the novel, from the beginning of a sentence to the end of one.
    kind : str
        What sort of claim it is.
    """

    id: str
    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]
    kind: str = ""


def read_excerpts(path: Path = EXCERPTS) -> tuple[Excerpt, ...]:
    """Read a file of excerpts, one JSON object on a line.

    Raises
    ------
    BadText
        A line that is no excerpt, or an id given twice.
    """
    excerpts: dict[str, Excerpt] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            excerpt = Excerpt(
                id=str(row["id"]),
                left=tuple(row["left"]),
                quotation=row["quotation"],
                right=tuple(row["right"]),
                kind=row.get("kind", ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadText(f"Line {number} of {path} is no excerpt: {error!r}.") from error
        if excerpt.id in excerpts:
            raise BadText(f"Line {number} of {path} has the id '{excerpt.id}' of an earlier line.")
        excerpts[excerpt.id] = excerpt
    return tuple(excerpts.values())


def align(work: Work, excerpts: Sequence[Excerpt]) -> tuple[Example, ...]:
    """Find the quotation of each excerpt in the work and make it an example.

    Letters and digits alone are compared, so that quotation marks and line breaks may differ.

    Raises
    ------
    BadText
        A quotation that is not in the work, does not begin and end with a sentence, is longer than five sentences, or
        stands in the work more than once.
    """
    places = _Places(work)
    return tuple(
        Example(
            id=excerpt.id,
            work_id=work.id,
            claim=Claim(left=" ".join(excerpt.left), right=" ".join(excerpt.right), masked=True),
            gold=places.find(excerpt),
            kind=excerpt.kind,
            split=SPLIT,
        )
        for excerpt in excerpts
    )


class _Places:
    """Looks quotations up in the letters and digits of a work's sentences, joined."""

    def __init__(self, work: Work) -> None:
        pieces = [letters(work.sentence_text(index)) for index in range(len(work.sentences))]
        self._letters = "".join(pieces)
        self._spoken = [index for index, piece in enumerate(pieces) if piece]
        self._starts: list[int] = []  # where in the letters each of the spoken sentences starts
        position = 0
        for index in self._spoken:
            self._starts.append(position)
            position += len(pieces[index])
        self._starts.append(position)
        self._title = work.title

    def find(self, excerpt: Excerpt) -> Span:
        wanted = letters(excerpt.quotation)
        found = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", self._letters)] if wanted else []
        if not found:
            raise BadText(f"The quotation of excerpt '{excerpt.id}' is not in {self._title}: {excerpt.quotation!r}.")
        spans = [span for start in found if (span := self._span(start, start + len(wanted))) is not None]
        if not spans:
            raise BadText(
                f"The quotation of excerpt '{excerpt.id}' does not begin and end with a sentence of {self._title}: "
                f"{excerpt.quotation!r}."
            )
        if len(spans) > 1:
            raise BadText(f"The quotation of excerpt '{excerpt.id}' stands in {self._title} {len(spans)} times.")
        if spans[0].length > MAX_LENGTH:
            raise BadText(
                f"The quotation of excerpt '{excerpt.id}' has {spans[0].length} sentences; {MAX_LENGTH} are allowed."
            )
        return spans[0]

    def _span(self, start: int, end: int) -> Span | None:
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end) - 1
        if self._starts[first] != start or self._starts[last + 1] != end:
            return None
        return Span(self._spoken[first], self._spoken[last] + 1 - self._spoken[first])


def letters(text: str) -> str:
    r"""Keep the letters and digits of a text, in small letters.

    Examples
    --------
    >>> letters("“No,” said I;\nit was 1851.")
    'nosaidiitwas1851'
    """
    return "".join(character for character in text.casefold() if character.isalnum())
