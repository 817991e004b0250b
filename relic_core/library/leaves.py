"""Leaves: the blocks of text that a page of markup holds, and the openings of chapters between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import UnsafeFile

if TYPE_CHECKING:
    from relic_core.domain import ParagraphKind

MOST_PARAGRAPHS = 200_000
"""Of a work, with what is left out; a long novel has about 10,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A block of text without blocks inside.

    - `lines`: at least one; of prose, they are joined to one.
    - `left_out`: why it is no paragraph; empty where it is one.
    - `line`: number of its first line of verse.
    """

    lines: tuple[str, ...]
    kind: ParagraphKind = "prose"
    left_out: str = ""
    speaker: str = ""
    line: int | None = None
    refs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its text as it is laid out."""
        return ("\n" if self.kind == "verse" or self.left_out else " ").join(self.lines)


@dataclass(frozen=True, slots=True)
class Opening:
    """A chapter begins; its heading follows as a leaf left out. `holds`: a part begins, with chapters to follow."""

    number: str = ""
    title: str = ""
    part: str = ""
    holds: bool = False


Item = TextBlock | Opening


def refuse_many_paragraphs(count: int, *, what: str) -> None:
    """Refuse a file with more paragraphs than any work has.

    Raises UnsafeFile: there are more than `MOST_PARAGRAPHS`.
    """
    if count > MOST_PARAGRAPHS:
        raise UnsafeFile(
            f"{what} has more than {MOST_PARAGRAPHS:,} paragraphs, many times those of a long novel, and is not "
            "opened. If it is a collection, add its works one by one; or fetch the book elsewhere."
        )
