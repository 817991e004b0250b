"""Titles that stand below numbers, and parts that have nothing but a title."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.text.blocks import is_verse
from relic_core.text.headings import clean_title, is_capitals, is_title
from relic_core.text.marks import Mark, mark_title

if TYPE_CHECKING:
    from relic_core.text.blocks import Block
    from relic_core.text.layout import Layout

_MOST_LINES = 6
_MOST_GAP = 5
_SHORT = 60
"""Characters of a title on one line; also of the sentences that may be titles."""
_FEW = 3
_NAME_WORD = 4
"""Letters; longer words have a capital in a title, which "with" and "from" have not."""
_NEW_PAGE = 2


def add_titles(layout: Layout, chosen: dict[int, Mark]) -> None:
    """Give marks the titles that stand below them.

    A title in capitals is taken. Any other short line may be the first of the prose; it is taken where most numbers of
    the text have such a line below them.
    """
    candidates: dict[int, int] = {}
    asked = 0
    for index, mark in chosen.items():
        if mark.level not in {"chapter", "part"} or mark.title or not mark.number:
            continue
        asked += 1
        title = layout.below.get(index, -1)
        after = layout.below.get(title, -1)
        if after < 0 or title in chosen or not _may_be_title(layout.blocks[title], layout.width):
            continue
        over_heading = after in chosen and chosen[after].level != "section"
        if over_heading == (mark.level == "part") and not (over_heading and _is_sentence(layout.blocks[title].flat)):
            candidates[index] = title
    if asked < _FEW:
        candidates = {
            index: title for index, title in candidates.items() if not _is_sentence(layout.blocks[title].flat)
        }
    most = len(candidates) > 0.5 * asked
    capitals = sum(is_capitals(layout.blocks[title].flat) for title in candidates.values()) > 0.8 * len(candidates)
    for index, title in candidates.items():
        printed = layout.blocks[title].flat
        said = re.search(
            r"^[\"'“‘]|[:!?][\"'”’]?$", printed
        )  # a shout or a salutation in capitals is no title by itself
        taken = (is_capitals(printed) and (most or not said)) or (most and not capitals)
        if taken or chosen[index].level == "part":
            whole = f"{chosen[index].label.rstrip('.:')}: {clean_title(printed)}"
            chosen[index] = replace(chosen[index], title=clean_title(printed), label=whole, under=title)


def titled_parts(layout: Layout, chosen: dict[int, Mark]) -> dict[int, Mark]:
    """Find parts that have only a title: one stands alone over each chapter 1, more than once."""
    if any(mark.level == "part" for mark in chosen.values()):
        return {}
    above = {below: index for index, below in layout.below.items()}
    firsts = [index for index, mark in chosen.items() if mark.level == "chapter" and mark.value == 1]
    parts = [above[index] for index in firsts if index in above and above[index] not in chosen]
    if len(parts) < 2 or len(parts) < len(firsts) or not all(_is_alone(layout.blocks[index]) for index in parts):  # noqa: PLR2004 - one title is the work's
        return {}
    return {index: mark_title(index, layout.blocks[index], "part", "titled") for index in parts}


def titles_alone(layout: Layout) -> dict[int, Mark]:
    """Find the chapters of a text that nothing else divides: names alone on their page, as in collections."""
    found = {}
    for index, following in layout.below.items():
        block, below = layout.blocks[index], layout.blocks[following]
        if block.gap <= _NEW_PAGE or below.gap >= block.gap or is_capitals(" ".join(below.lines[:3])):
            continue
        if len(block.lines) == 1 and len(block.lines[0]) < _SHORT and _is_name(block.flat):
            found[index] = mark_title(index, block, "chapter", "listed")
    return found if len(found) > 1 else {}


def _is_name(line: str) -> bool:
    words = [word for word in re.findall(r"\w+", line) if len(word) > _NAME_WORD]
    return bool(words) and all(word[0].isupper() for word in words) and is_title(line) and line[-1] not in ".:"


def _is_alone(block: Block) -> bool:
    return block.gap >= _NEW_PAGE and block.short and len(block.lines) == 1 and is_title(block.flat)


def _is_sentence(line: str) -> bool:
    return line.endswith(".") and not is_capitals(line)


def _may_be_title(block: Block, width: int) -> bool:
    if not block.short or len(block.lines) > _MOST_LINES or block.gap > _MOST_GAP:
        return False
    line = block.flat
    if is_capitals(line):
        return is_title(line)
    if not line or line[0] in "\"'“‘" or is_verse(block, width):
        return False
    return is_title(line) or (len(block.lines) == 1 and len(line) < _SHORT and _is_sentence(line) and ". " not in line)
