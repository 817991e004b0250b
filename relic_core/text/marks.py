"""Marks: headings that stand, as the outline holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relic_core.text.headings import clean_title

if TYPE_CHECKING:
    from relic_core.text.blocks import Block
    from relic_core.text.headings import Heading

MarkLevel = Literal["part", "chapter", "section", "aside"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading that stands.

    - `level`: "aside" begins matter by another hand.
    - `word`: as in `Heading`; "listed" for titles a contents list names, "titled" for parts that have only a title.
    - `value`: the number as a number; 0 where it has none.
    - `title`, `label`: the title, and the whole heading, each with what stands on the next lines.
    - `under`: index of the block below it that holds its title.
    """

    index: int
    level: MarkLevel
    word: str
    number: str
    value: int
    title: str
    label: str
    under: int | None = None


def mark_heading(index: int, heading: Heading, level: MarkLevel) -> Mark:
    """Let a heading stand."""
    return Mark(index, level, heading.word, heading.number, heading.value, heading.title, heading.label)


def mark_title(index: int, block: Block, level: MarkLevel, word: str) -> Mark:
    """Let a title without a number stand."""
    title = clean_title(block.flat)
    return Mark(index, level, word, "", 0, title, title)
