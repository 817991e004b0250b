"""Attributions: the line below a quotation set off, or the words at its end, that say whose it is or where it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.text.headings import is_capitals

if TYPE_CHECKING:
    from relic_core.text.blocks import Block

CENTRED = 12
"""Columns by which a line is set in that stands in the middle or at the right."""
LINE = 70
"""Characters of a line that stands by itself, at the most."""
_IBID = re.compile(r"(?<=[.!?\"”’'])\s+_?(?:ibid|id|op\. cit|loc\. cit)\b[^\n]{0,60}\Z", re.IGNORECASE)


def indent(line: str) -> int:
    """Count the columns before the first character of a line."""
    return len(line) - len(line.lstrip())


def inner_indent(block: Block) -> int:
    """Count the columns by which all lines of a block are set in."""
    return min(map(indent, block.lines))


def without_attribution(block: Block, text: str) -> int:
    """Where a quotation set off ends: before the line that says who wrote it, or where it stands."""
    if again := _IBID.search(text, block.start, block.end):
        return again.start()
    last = block.lines[-1]
    said = last.strip()
    begin = block.end - len(said)
    if len(block.lines) > 1 and len(said) < LINE:
        aside = indent(last) >= inner_indent(block) + CENTRED and (said[0] == "_" or is_capitals(said))
        if aside or _names_source(said):
            return block.start + len(text[block.start : begin].rstrip())
    dash = max(last.rfind("--"), last.rfind("—"))
    before = last[: max(dash, 0)].rstrip()
    if before and before[-1] in ".!?\"”’'" and _names_source(last[dash:]):
        return block.end - len(last) + len(before)
    return block.end


def _names_source(said: str) -> bool:
    """Whether words behind a dash are a name or a title: those of four letters and more have capitals."""
    if len(said) > LINE or not re.match(r"(?:--|—|―|\[)\s*[_A-Z“\"\[]", said) or re.search(r"[!?]", said):
        return False
    long = re.findall(r"[^\W\d_]{4,}", said)
    return all(word[0].isupper() for word in long)
