"""Quotations of a text: what stands between marks, over paragraphs too, and what is set off as prose or verse.

The marks are walked through once, paragraph by paragraph. Which of a mark's roles counts (opening, closing, apostrophe)
depends on its neighbours, on what is open, and on the style of the book: single marks quote in British ones, and are
mostly apostrophes in the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from relic_core.domain.grouping import grouped
from relic_core.mining.prose import Prose, Quotation
from relic_core.mining.setting import ProsePiece

Role = Literal["opens", "closes", "either"]

_MARK = re.compile(r"[\"“”„«»'‘’]|``")
_KINDS = {"“": "double", "”": "double", "„": "double", '"': "double", "``": "double"} | dict.fromkeys("‘’'", "single")
_KINDS |= dict.fromkeys("«»", "angle")
_ELISION = re.compile(
    r"(?:tis|twas|twere|twill|twould|twixt|tween|em|er|im|til|till|gainst|neath|cause|bout|round|fore|mongst|nuff|midst"
    r"|pon|scape|prentice|cept|gin|ere|th|t|d|ll|ve|s|re|m|n|o|a|un|ud)\b|\d\d(?:s|\b)",
    re.IGNORECASE,
)
_OPENS_SINGLE = re.compile(r"(?<![^\s(\[“\"—-])[‘'](?=[^\W\d_])")
_OPENS_DOUBLE = re.compile(r"[“«]|(?<!\S)\"(?=\S)")
_ALWAYS: dict[str, Role] = {"„": "opens", "«": "opens", "``": "opens", "”": "closes", "»": "closes"}
_BEFORE = frozenset(" ([{—–-/")
_OPENING = "\"“‘«'"
_LEADS = " \"“‘'«([-—–"
_LONGEST = 30
"""Paragraphs over which a quotation runs at the most: what is never closed swallows no more."""
_TAIL = 90
"""Characters behind the closing mark of a quotation set off: who wrote it, and where."""


@dataclass(slots=True)
class _Open:
    """A mark that was opened: its kind, and where what it quotes begins."""

    kind: str
    start: int


def find_quotations(prose: Prose) -> tuple[Quotation, ...]:
    """Find the quotations of a text, nested ones marked, by their starts; of several at one place the longer first.

    >>> from relic_core.mining.prose import read_prose
    >>> prose = read_prose("She said, 'I don't know “why” it rained,' and left. 'Tis so.")
    >>> [(prose.text[q.start : q.end], q.nested) for q in find_quotations(prose)]
    [("I don't know “why” it rained,", False), ('why', True)]
    """
    single = _single_style(prose.text)
    found = list(_set_off(prose))
    blocks = [(quotation.start, quotation.end) for quotation in found]
    inline: list[Quotation] = []
    flows = grouped(prose.stretches, lambda stretch: stretch.flow)
    for stretches in flows.values():
        inline += _marked_quotations(prose.text, stretches, single=single)
    found += _not_twice(inline, blocks)
    found.sort(key=lambda quotation: (quotation.start, -quotation.end))
    return tuple(_nested(found))


def _single_style(text: str) -> bool:
    singles = sum(not _ELISION.match(text, mark.end()) for mark in _OPENS_SINGLE.finditer(text))
    doubles = sum(1 for _ in _OPENS_DOUBLE.finditer(text))
    return singles > 2 * doubles


def _marked_quotations(text: str, stretches: Sequence[ProsePiece], *, single: bool) -> Iterator[Quotation]:
    carried: list[tuple[_Open, list[ProsePiece]]] = []  # what the paragraphs before left open, and which they are
    for number, stretch in enumerate(stretches):
        starting = [opened for opened, _ in carried]
        found, left = _walk(text, stretch, starting, single=single)
        yield from found
        set_off = stretch.kind in {"block", "verse"}
        following = next(
            (after for after in stretches[number + 1 :][:_LONGEST] if (after.kind in {"block", "verse"}) == set_off),
            None,
        )
        still: list[tuple[_Open, list[ProsePiece]]] = []
        for opened in left:
            run = next((run for before, run in carried if before is opened), [])
            run = [*run, stretch]
            if following is not None and len(run) < _LONGEST and _goes_on(text, following, opened.kind):
                still.append((opened, run))
            else:
                yield from _unclosed(text, opened, run)
        carried = still
    for opened, run in carried:
        yield from _unclosed(text, opened, run)


def _unclosed(text: str, opened: _Open, run: Sequence[ProsePiece]) -> Iterator[Quotation]:
    for number, stretch in enumerate(run):
        start = opened.start if number == 0 else stretch.start + _lead(text, stretch.start, stretch.end)
        yield from _quotation(text, start, stretch.end, closed=False)


def _goes_on(text: str, stretch: ProsePiece, kind: str) -> bool:
    first = text[stretch.start]
    return _KINDS.get(first) == kind and first not in "”’»"


def _lead(text: str, start: int, end: int) -> int:
    at = start
    while at < end and text[at] in "\"“‘'« ":
        at += 1
    return at - start


def _walk(
    text: str, stretch: ProsePiece, carried: Sequence[_Open], *, single: bool
) -> tuple[list[Quotation], list[_Open]]:
    """Walk through one paragraph; give what was closed in it, and what is open at its end."""
    stack = list(carried)
    found: list[Quotation] = []
    marks = list(_MARK.finditer(text, stretch.start, stretch.end))
    again = {opened.kind for opened in stack}
    last_close = _last_closes(text, marks, stretch)
    for number, mark in enumerate(marks):
        at, kind = mark.start(), _KINDS[mark[0]]
        if again and kind in again and not text[stretch.start : at].strip(_LEADS):
            again.discard(kind)  # the mark that is repeated at each paragraph
            continue
        role = _role(text, mark, stretch, stack, single=single)
        level = next((level for level in range(len(stack) - 1, -1, -1) if stack[level].kind == kind), -1)
        if role == "either":
            role = "closes" if level >= 0 else "opens"
        if role == "opens":
            if kind == "single" and last_close <= at and not (single and not stack):
                continue  # nothing closes it here: an apostrophe
            if level >= 0:  # the one before was never closed
                found += _cut(text, stack[level:], at)
                del stack[level:]
            stack.append(_Open(kind, mark.end()))
        elif role == "closes" and level >= 0:
            if kind == "single" and _is_possessive(text, marks, number, stretch):
                continue
            opened = stack[level]
            found += _cut(text, stack[level + 1 :], at)
            del stack[level:]
            found += _quotation(text, opened.start, at, closed=True)
    return found, stack


def _cut(text: str, opened: Sequence[_Open], at: int) -> Iterator[Quotation]:
    for one in opened:
        yield from _quotation(text, one.start, at, closed=False)


def _last_closes(text: str, marks: Sequence[re.Match[str]], stretch: ProsePiece) -> int:
    for mark in reversed(marks):
        if mark[0] in "'’" and _may_close(text, mark.start(), mark.end(), stretch):
            return mark.start()
    return -1


def _may_close(text: str, start: int, end: int, stretch: ProsePiece) -> bool:
    before = text[start - 1] if start > stretch.start else " "
    after = text[end] if end < stretch.end else " "
    return not before.isspace() and before not in "([{" and not after.isalnum()


def _role(text: str, mark: re.Match[str], stretch: ProsePiece, stack: Sequence[_Open], *, single: bool) -> Role | None:
    shape, start, end = mark[0], mark.start(), mark.end()
    if shape in _ALWAYS:
        return _ALWAYS[shape]
    before = text[start - 1] if start > stretch.start else " "
    after = text[end] if end < stretch.end else " "
    if shape == "“":  # it closes what „ opened
        low = bool(stack) and stack[-1].kind == "double" and text[stack[-1].start - 1] == "„"
        return "closes" if low else "opens"
    apostrophe = shape != '"' and before.isalnum() and after.isalnum()
    if shape == "‘" or apostrophe:
        return None if apostrophe or (not single and not stack and _ELISION.match(text, end)) else "opens"
    opening = shape != "’" and (before in _BEFORE or before in "“‘\"'«") and not after.isspace()
    closing = not before.isspace() and before not in "([{" and not after.isalnum()
    if shape == '"' and opening == closing:
        return "either"
    if opening and not (closing and before in "-—–\"'"):
        elided = shape == "'" and not after.isupper() and _ELISION.match(text, end)
        return None if elided else "opens"
    return "closes" if closing else None


def _is_possessive(text: str, marks: Sequence[re.Match[str]], number: int, stretch: ProsePiece) -> bool:
    """Whether a single mark behind an s, with a small letter to follow, is an apostrophe: another one closes later."""
    mark = marks[number]
    if text[mark.start() - 1 : mark.start()] != "s" or not re.match(r" [a-z]", text[mark.end() : mark.end() + 2]):
        return False
    for after in marks[number + 1 :]:
        if after[0] == "‘" or (after[0] == "'" and _OPENS_SINGLE.match(text, after.start())):
            return False
        if after[0] in "'’" and _may_close(text, after.start(), after.end(), stretch):
            return True
    return False


def _quotation(text: str, start: int, end: int, *, closed: bool) -> Iterator[Quotation]:
    if any(map(str.isalnum, text[start:end])):
        yield Quotation(*_trimmed(text, start, end), "inline", closed=closed)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _set_off(prose: Prose) -> Iterator[Quotation]:
    run: list[ProsePiece] = []
    for stretch in prose.stretches:
        if stretch.kind == "note":
            continue
        if run and not (
            stretch.kind == run[-1].kind and stretch.flow == run[-1].flow and _one(prose.text, run, stretch)
        ):
            yield _of_run(prose.text, run)
            run = []
        if stretch.kind in {"block", "verse"}:
            run.append(stretch)
    if run:
        yield _of_run(prose.text, run)


def _one(text: str, run: Sequence[ProsePiece], stretch: ProsePiece) -> bool:
    """Whether a stretch goes on with the quotation before it: not where that was in marks and closed."""
    ended = text[run[-1].end - 1] in "\"”’»'"
    begun = text[stretch.start] in _OPENING or text[run[0].start] in _OPENING
    return not (ended and begun) and len(run) < _LONGEST


def _of_run(text: str, run: Sequence[ProsePiece]) -> Quotation:
    start, end = run[0].start, run[-1].end
    kind: Literal["block", "verse"] = "verse" if run[0].kind == "verse" else "block"
    opening = text[start]
    if opening in "\"“‘«'" and not (opening == "'" and _ELISION.match(text, start + 1)):
        closing = {"“": "”", "‘": "’", "«": "»"}.get(opening, opening)
        last = text.rfind(closing, start + 1, end)
        alone = text.find(closing, start + 1, end) == last or closing in "’'" or len(run) > 1 or opening == '"'
        whole = last > start and end - last <= _TAIL and not re.search(r"[.!?] ", text[last:end])
        if whole and alone and (end - last < 3 or not text[last + 1].isalnum()):  # noqa: PLR2004 - the mark and a stop
            start, end = start + 1, last
        elif text.find(closing, start + 1, end) < 0:
            start += 1
    start, end = _trimmed(text, start, end)
    return Quotation(start, max(start, end), kind)


def _not_twice(inline: Sequence[Quotation], blocks: Sequence[tuple[int, int]]) -> Iterator[Quotation]:
    """Leave out what the marks around a quotation set off say a second time."""
    blocks = sorted(blocks)
    at = 0
    for quotation in sorted(inline, key=lambda one: one.start):
        while at < len(blocks) and blocks[at][1] <= quotation.start:
            at += 1
        if at < len(blocks) and blocks[at][0] < quotation.end:
            start, end = blocks[at]
            same = min(quotation.end, end) - max(quotation.start, start)
            if same > 0.8 * (end - start) or quotation.start <= start + 1:
                continue
        yield quotation


def _nested(found: Sequence[Quotation]) -> Iterator[Quotation]:
    """Mark those that stand within one before them; how far one that was never closed reaches nobody knows."""
    reach = 0
    for quotation in found:
        yield replace(quotation, nested=quotation.end <= reach)
        reach = max(reach, quotation.end if quotation.closed else 0)
