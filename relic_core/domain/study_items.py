"""Items of the proxy task: a claim without its quotation, and three passages of which one is it (RELiC, section 4).

Options are numbered from 1, as annotators see them; `CANNOT_DECIDE` is the number of no option.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from relic_core.domain.claims import Claim
from relic_core.errors import BadRequest

if TYPE_CHECKING:
    from relic_core.domain.runs import Offsets
    from relic_core.domain.spans import Span

OPTIONS = 3
"""How many an item has."""

CANNOT_DECIDE = 0
"""The choice of somebody who would not choose."""

CHOICES = range(CANNOT_DECIDE, OPTIONS + 1)
"""All that may be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A passage that an annotator may choose.

    - `at`: where it stands: character offsets into the work's text.
    - `address`: of its first sentence, for the reading room: "3.5.2".
    - `words`: as it is shown: to the letter but for the line wraps of the file; lines of verse are parted by a line
      feed, paragraphs by an empty line.
    """

    span: Span
    at: Offsets
    address: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A claim whose quotation is missing, and three passages of which one is it.

    - `book`, `work_id`: key of the quoted work in its study, and id of the work as the ranking named it.
    - `options`: three passages of one length that do not overlap, in the order in which they are shown.
    - `right_option`: number of the one that the critic quoted, from 1.
    - `chooser`: the retriever whose best two the other options are.
    - `gold_rank`: where that retriever ranked the quotation, from 1.
    - `kind`: what the quotation is there for, where that was labelled; empty elsewhere.
    - `source`: where the claim was written, in words; may be empty.

    Raises BadRequest: not three passages of one length apart from each other, or no such option.
    """

    id: str
    book: str
    work_id: str
    left: str
    right: str
    options: tuple[Option, ...]
    right_option: int
    chooser: str
    gold_rank: int
    kind: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Check the options."""
        spans = sorted(self.spans)
        apart = all(not a.overlaps(b) for a, b in pairwise(spans))
        if (
            len(spans) != OPTIONS
            or len({span.length for span in spans}) != 1
            or not apart
            or self.right_option not in range(1, OPTIONS + 1)
        ):
            raise BadRequest(
                f"Item '{self.id}' cannot be: it needs {OPTIONS} passages of one length that do not overlap, and the "
                f"right option 1, 2 or 3; given were {self.spans} and {self.right_option}."
            )

    @property
    def spans(self) -> tuple[Span, ...]:
        """The sentences of the options, in their order."""
        return tuple(option.span for option in self.options)

    @property
    def gold(self) -> Option:
        """The option that the critic quoted."""
        return self.options[self.right_option - 1]

    @property
    def claim(self) -> Claim:
        """What a retriever is asked with."""
        return Claim(left=self.left, right=self.right, masked=True)


def in_order(seed: int, salt: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Put names in an order drawn by a seed: by digests, because generators change from one version to the next.

    - `salt`: whose order it is.

    >>> in_order(1, "anna", ("a", "b", "c", "d")) == in_order(1, "anna", ("d", "c", "b", "a"))
    True
    """
    return tuple(sorted(names, key=lambda name: hashlib.sha256(f"{seed}\n{salt}\n{name}".encode()).digest()))
