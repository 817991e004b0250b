"""Names of chapters and parts: what a heading found in markup says."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from relic_core.text.blocks import Block, flatten
from relic_core.text.headings import clean_title, parse_heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.text.headings import Heading

_COUNTED = {"chapter", "chap", "roman", "arabic", "word"}
"""Units whose number alone names them; others are cited as printed ("Stave I", "Letter 2")."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a heading says.

    - `level`: as its words tell; empty for a title that says nothing of its level.
    - `number`, `title`: as `Chapter` has them.
    - `label`: the whole heading on one line, to be cited as a part.
    - `word`: the word for what it counts ("volume"), as `Heading` has it.
    - `bare`: it is a number without a word for what it counts.
    - `by_another`: it says that another hand than the author's wrote what follows.
    """

    level: str
    number: str
    title: str
    label: str
    word: str = ""
    counts: bool = False
    bare: bool = False
    by_another: bool = False


def name_heading(lines: Sequence[str]) -> Named:
    """Read the lines of a heading.

    >>> named = name_heading(["CHAPTER IV.", "The Ferry"])
    >>> named.level, named.number, named.title
    ('chapter', 'IV', 'The Ferry')
    >>> name_heading(["[Book I.]"]).label, name_heading(["Scene 2. A Wharf"]).title
    ('Book I', 'Scene 2. A Wharf')
    """
    lines = [line.strip("[] ") or line for line in lines]
    flat = flatten(" ".join(lines))
    heading = _parse(lines)
    rest = lines[heading.lines :] if heading else []
    if heading is None and len(lines) > 1:
        heading, rest = _parse(lines[:1]), lines[1:]
    if heading is None or heading.level == "section":
        return Named("", "", clean_title(flat), clean_title(flat))
    more = clean_title(" ".join(rest))
    title = f"{heading.title}: {more}" if heading.title and more else heading.title or more
    label = _joined(heading.label, more).rstrip(" .:")
    counted = heading.word.split()[0] in _COUNTED
    return Named(
        level=heading.level,
        number=heading.number if counted else "",
        title=title if counted else clean_title(label),
        label=clean_title(label),
        word=heading.word,
        counts=bool(heading.number),
        bare=heading.bare,
        by_another=heading.by_another,
    )


def with_title(named: Named, below: Sequence[str]) -> Named:
    """Give a heading the title that stands in a heading of its own below it."""
    title = clean_title(" ".join(below))
    label = _joined(named.label, title)
    return replace(named, title=title if named.number else clean_title(label), label=label)


def _joined(label: str, more: str) -> str:
    return f"{label.rstrip('.: ')}: {more}" if more else label


def _parse(lines: Sequence[str]) -> Heading | None:
    length = sum(map(len, lines)) + len(lines) - 1
    return parse_heading(Block(0, length, tuple(lines), 99)) if lines and re.search(r"\w", lines[0]) else None
