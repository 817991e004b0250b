"""Blocks: the runs of lines between blank lines, in which everything else is looked for.

Texts without blank lines are cut too: at every line where lines are far longer than any printed line (one paragraph
per line), at the indented lines where paragraphs are marked by an indent, and else behind every line that ends before
it is full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from relic_core.errors import UnsafeFile

MOST_PARAGRAPHS = 200_000
"""Of a work, with what is left out; a long novel has about 10,000."""
MOST_SENTENCES = 1_000_000
"""Of a work, by the marks that may end one; a long novel has about 40,000."""
_LONG_LINE = 200
"""No printed line is this long: a block with such a line holds one paragraph per line."""
_LONG_BLOCK = 25
"""Lines. Where most of a text is in blocks longer than this, blank lines do not part its paragraphs."""
_HEADS = re.compile(r"\s*(?:(?:CHAPTER|Chapter|BOOK|Book|PART|Part|VOLUME|Volume)\s\S+.{0,60}|[IVXLC]+\.?|\d{1,3}\.?)")
"""A line that begins a piece of its own in a text without blank lines, however full the line above is."""
VERSE_NUMBER = re.compile(r"\s*\d{1,3}:\d{1,3}\s+(?=\S)")
"""Chapter and verse before a verse, as plain texts of the Bible have them."""
_MARKS = re.compile(r"\[\d{1,3}\]|\{\d{1,3}\}|[_*=\ufeff]")
_SLACK = 4
"""Characters that may stay free at the end of a full line."""
_SHORT = 400
"""Characters. Longer blocks are prose without looking closer, which keeps one-line files linear."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines, without white space at their ends, and the blank lines before it.

    - `gap`: 99 at the start of a text, 0 where it was cut off the block before it.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    gap: int

    @property
    def short(self) -> bool:
        """Whether it is short enough to be a heading."""
        return self.end - self.start <= _SHORT

    @property
    def flat(self) -> str:
        """Its text on one line, marks of emphasis and footnotes taken away; for short blocks."""
        return flatten(" ".join(self.lines))


def flatten(line: str) -> str:
    """Put white space in order and take away marks of emphasis, footnote marks and blank marks of the start.

    >>> flatten("  _BOOK THE FIRST_.  CHAPTER LXXII[1] ")
    'BOOK THE FIRST. CHAPTER LXXII'
    """
    return " ".join(_MARKS.sub("", line).split())


@dataclass(frozen=True, slots=True)
class Manner:
    """How a text marks its paragraphs where blank lines do not.

    - `by_indent`: whether the first lines of paragraphs are indented.
    - `width`: how long its lines may be where the last line of a paragraph is known by ending early; 0 where it is not.
    """

    by_indent: bool
    width: int


def manner_of(text: str, start: int, end: int) -> Manner:
    """Tell how ``text[start:end]`` marks its paragraphs; of the whole text, since any part may hold only long ones."""
    runs = [lines for _, lines in _runs(text, start, end)]
    long = [lines for lines in runs if len(lines) > _LONG_BLOCK]
    dense = sum(map(len, long)) > 0.5 * sum(map(len, runs))
    by_indent = dense and sum(map(len, filter(_has_indents, long))) > 0.5 * sum(map(len, long))
    width = _full(len(line) for _, line in chain.from_iterable(long)) if dense and not by_indent else 0
    return Manner(by_indent, width)


def refuse_too_many(paragraphs: int = 0, sentences: int = 0, *, what: str) -> None:
    """Refuse a file with more than `MOST_PARAGRAPHS` or `MOST_SENTENCES`, more than any work has, as an UnsafeFile."""
    for count, most, name in ((paragraphs, MOST_PARAGRAPHS, "paragraphs"), (sentences, MOST_SENTENCES, "sentences")):
        if count > most:
            raise UnsafeFile(
                f"{what} has more than {most:,} {name}, many times those of a long novel, and is not opened. If it is "
                "a collection, add its works one by one; or fetch the book elsewhere."
            )


def split_blocks(text: str, start: int, end: int, manner: Manner | None = None) -> Iterator[Block]:
    """Cut ``text[start:end]`` at blank lines, and further where a text marks its paragraphs otherwise.

    Together the blocks hold every visible character of the stretch.
    """
    manner = manner or manner_of(text, start, end)
    for gap, lines in _runs(text, start, end):
        for number, piece in enumerate(_pieces(lines, manner)):
            yield _block(piece, gap if number == 0 else min(gap, 1))


def cut_block(block: Block, lines: int, text: str) -> tuple[Block, Block]:
    """Cut a block behind its first `lines` lines; the second piece has gap 0."""
    end = block.start
    for line in block.lines[:lines]:
        end = text.index(line.strip(), end) + len(line.strip())
    start = end + len(text[end : block.end]) - len(text[end : block.end].lstrip())
    head = Block(start=block.start, end=end, lines=block.lines[:lines], gap=block.gap)
    return head, Block(start=start, end=block.end, lines=block.lines[lines:], gap=0)


def is_verse(block: Block, width: int) -> bool:
    """Whether the lines of a block end before they had to and most begin with a capital.

    A line of prose is broken because the next word did not fit any more; a line of verse, of an address or of a list
    is broken although it would have.

    - `width`: how long the lines of the text's prose may be (`line_width`).
    """
    broken = block.lines[:-1]
    if not broken or sum(map(len, broken)) > 0.85 * width * len(broken):
        return False
    verses = sum(
        _ends_early(line, following, width) and not following.lstrip()[0].islower()
        for line, following in pairwise(block.lines)
    )
    return verses > 0.6 * len(broken)


def line_width(blocks: Sequence[Block]) -> int:
    """Measure how long the lines of a text's prose may be; only lines that another follows count."""
    return _full(len(line) for block in blocks if len(block.lines) > 3 for line in block.lines[:-1])  # noqa: PLR2004 - paragraphs


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Yield (blank lines before, lines with their offsets) of each run of lines that are not blank."""
    before = start
    while before and text[before - 1].isspace():
        before -= 1
    gap = max(1, text.count("\n", before, start)) - 1 if before else 99
    lines: list[tuple[int, str]] = []
    position = start
    for line in text[start:end].split("\n"):
        if line.strip():
            lines.append((position, line.rstrip()))
        else:
            if lines:
                yield max(1, gap), lines
                gap, lines = 0, []
            gap += 1
        position += len(line) + 1
    if lines:
        yield max(1, gap), lines


def _has_indents(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether single lines are indented, as at the beginnings of paragraphs, and not whole stretches, as in letters."""
    indented = [line[0].isspace() for _, line in lines]
    alone = sum(one and not following for one, following in pairwise(indented))
    return 0.03 * len(lines) < sum(indented) <= 0.6 * len(lines) and alone > 0.6 * sum(indented)


def _pieces(lines: list[tuple[int, str]], manner: Manner) -> Iterator[list[tuple[int, str]]]:
    starts: Iterable[int]
    numbered = [at for at, (_, line) in enumerate(lines) if VERSE_NUMBER.match(line)]
    if len(lines) > 1 and any(len(line) > _LONG_LINE for _, line in lines):
        starts = range(1, len(lines))
    elif len(numbered) > 1 and numbered[0] == 0:
        starts = numbered[1:]
    elif manner.by_indent or manner.width:
        starts = (at for at in range(1, len(lines)) if _begins(lines[at - 1][1], lines[at][1], manner))
    else:
        starts = ()
    return (lines[at:end] for at, end in pairwise(chain([0], starts, [len(lines)])))


def _begins(above: str, line: str, manner: Manner) -> bool:
    if manner.by_indent:
        return line[0].isspace()
    return _ends_early(above, line, manner.width) or _HEADS.fullmatch(line) is not None


def _ends_early(line: str, following: str, width: int) -> bool:
    """Whether the first word of the following line would have had room at the end of this one."""
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) <= width - _SLACK


def _full(lengths: Iterable[int]) -> int:
    ordered = sorted(lengths)
    return max(60, ordered[int(0.9 * len(ordered))]) if ordered else 72


def _block(lines: Sequence[tuple[int, str]], gap: int) -> Block:
    first_offset, first = lines[0]
    last_offset, last = lines[-1]
    return Block(
        start=first_offset + len(first) - len(first.lstrip()),
        end=last_offset + len(last),
        lines=tuple(line for _, line in lines),
        gap=gap,
    )
