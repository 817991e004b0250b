"""Lists of contents and of illustrations: where they stand, and which titles they name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from relic_core.text.blocks import Block, flatten, is_verse
from relic_core.text.headings import Heading, is_capitals, is_title

_CONTENTS = re.compile(r"(?:the |table of |detailed )?contents(?: of .{1,40})?[.:]?", re.IGNORECASE)
_ILLUSTRATIONS = re.compile(r"(?:the |list of )?(?:illustrations|plates|maps)[.:]?", re.IGNORECASE)
_ENTRY = re.compile(
    r"\s*_?(?:(?:chapter|chap|book|part|volume|letter|stave|canto)\b|(?:[IVXLC]+|\d{1,3})(?:[.:)]|\s{2,}|\s*$))",
    re.IGNORECASE,
)
_LEADING_NUMBER = re.compile(
    r"^\W*(?:(?:chapter|chap\.?|letter)\s+)?(?:[IVXLC]+|\d{1,3})(?:[.:)]|\s{2,}|\s*$)\W*", re.IGNORECASE
)
_TRAILING_PAGE = re.compile(r"[\s.·]*\d{1,4}\s*$|[\s.]+[ivxl]+\s*$")
_OWN_PAGE = 3
"""Blank lines before a block that begins a new page."""
_LOOK_BACK = 6
_LINE_ROOM = 120
"""Characters of a line that may head a list."""
_PROSE_LENGTH = 180


def is_prose(block: Block, width: int) -> bool:
    """Whether a block is a paragraph of prose beyond doubt: long, lower case, lines broken where they were full."""
    if block.end - block.start < _PROSE_LENGTH or is_verse(block, width) or is_list(block):
        return False
    sample = " ".join(block.lines[:20])[:2000]
    lower = sum(map(str.islower, sample))
    return lower > 0.7 * max(1, sum(map(str.isalpha, sample)))


def is_list(block: Block) -> bool:
    """Whether a block is a list of chapters: most of its lines begin with a number or a word for a unit."""
    if len(block.lines) < 4:  # noqa: PLR2004 - fewer lines may be a heading in its parts
        return False
    entries = sum(bool(_ENTRY.match(line)) for line in block.lines)
    return entries >= 3 and entries > 0.4 * len(block.lines)  # noqa: PLR2004 - entries may wrap


def entry_key(line: str) -> str:
    """Reduce a line to what a contents list and a heading have in common.

    >>> entry_key("THE CUSTOM-HOUSE.   . . . . 11"), entry_key("The Custom House")
    ('thecustomhouse', 'thecustomhouse')
    """
    return re.sub(r"[\W_]", "", _TRAILING_PAGE.sub("", flatten(line))).lower()


def find_contents(
    blocks: Sequence[Block], headings: Mapping[int, Heading], width: int
) -> tuple[dict[int, str], list[str]]:
    """Find the blocks of contents lists, and the titles without a number that they name.

    A list goes from its heading to where the first paragraph of prose behind it has its own heading; at the end of a
    file, to the end.

    Returns: "contents" by the indices of blocks, and the keys (`entry_key`) of the titles, in order.
    """
    kinds: dict[int, str] = {}
    entries: list[str] = []
    prose = -1
    for index, block in enumerate(blocks):
        if index in kinds:
            continue
        first = flatten(block.lines[0]) if len(block.lines[0]) < _LINE_ROOM else ""
        named = bool(_CONTENTS.fullmatch(first))
        if named or _ILLUSTRATIONS.fullmatch(first):
            if block.gap < 2 and not is_capitals(first):  # noqa: PLR2004 - a word of the prose that stands alone
                continue
            after = index + 1 + (len(block.lines) == 1)  # what directly follows the heading is the list
            if prose < after:
                prose = next((at for at in range(after, len(blocks)) if is_prose(blocks[at], width)), len(blocks))
            if prose < len(blocks):
                end = _first_of_page(blocks, headings, index, prose)
            else:  # the end of the file, or a tiny text
                end = _first_repeat(headings, index, prose)
            region = range(index, end)
        elif is_list(block):
            named, region = True, range(index, index + 1)
        else:
            continue
        kinds |= dict.fromkeys(region, "contents")
        if named:
            lines = chain.from_iterable(blocks[member].lines for member in region)
            entries += [entry_key(line) for line in lines if not _LEADING_NUMBER.match(line) and entry_key(line)]
    return kinds, entries


def _first_repeat(headings: Mapping[int, Heading], start: int, stop: int) -> int:
    """Index of the first heading met twice behind `start`, else `stop`."""
    seen: set[str] = set()
    for index in range(start + 1, stop):
        label = headings[index].label if index in headings else ""
        if label in seen:
            return index
        seen |= {label} - {""}
    return stop


def _first_of_page(blocks: Sequence[Block], headings: Mapping[int, Heading], start: int, prose: int) -> int:
    """Index of the block that begins the page on which the prose at `prose` stands, its headings above it included."""
    lowest = max(start + 1, prose - _LOOK_BACK)
    first = next((index for index in range(prose, lowest - 1, -1) if blocks[index].gap >= _OWN_PAGE), 0)
    if not first:
        first = next((index for index in range(prose - 1, lowest - 1, -1) if index in headings), prose)
    words = {headings[index].word for index in range(first, prose) if index in headings}
    while first - 1 > start:
        above = headings.get(first - 1)
        step = 1
        if above is None and first - 2 > start and blocks[first - 1].short and is_title(blocks[first - 1].flat or "-"):
            above, step = headings.get(first - 2), 2  # the title of a part under its number
        gap = blocks[first - step].gap
        if above is None or above.word in words or not (gap >= _OWN_PAGE or (above.level == "part" and gap > 1)):
            break
        words.add(above.word)
        first -= step
    return first
