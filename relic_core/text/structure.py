"""The structure of a plain text: what stands before and after, titles, chapters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter

from relic_core.domain import Chapter, LeftOut, Offsets, Paragraph, ParagraphKind
from relic_core.text.blocks import VERSE_NUMBER, Block, is_verse, split_blocks
from relic_core.text.contents import entry_key, is_prose
from relic_core.text.headings import (
    COUNTED,
    Heading,
    Mark,
    clean_title,
    is_capitals,
    is_title,
    mark_heading,
    mark_title,
    parse_heading,
)
from relic_core.text.layout import Layout, end_matter_kind, is_the_end, lay_out, licence, title_page
from relic_core.text.metadata import Metadata, labelled_head, read_metadata, speaks_of
from relic_core.text.sentences import sentences_between
from relic_core.text.unbroken import cuts

_FEW_LINES = 1_500
"""Characters. Numbers that are nearer one another, all in all, are those of notes, or of a list."""
_MISPRINT = 3
"""How far a number may be off and still go on with the count."""


def count_chapters(layout: Layout) -> tuple[list[int], list[int]]:
    """Choose the headings that count chapters, and those that count sections inside chapters.

    Headings with a word ("Chapter IV") come before bare numbers with a title ("IV. The Ferry") and these before bare
    numbers, unless there are far more of the latter. Both are indices of blocks, in order.
    """
    headings = layout.headings
    units = [index for index in layout.free if index in headings and headings[index].level == "chapter"]
    worded = _without_letters_inside(layout, [index for index in units if not headings[index].bare])
    chains = {
        style: _chain(layout, [index for index in units if headings[index].word == style])
        for style in ("roman", "arabic", "word", "roman titled", "arabic titled")
    }
    bare = max((chains["roman"], chains["arabic"], chains["word"]), key=len)
    titled = max((chains["roman titled"], chains["arabic titled"]), key=len)
    if worded and len(worded) < len(bare) and all(headings[index].word == "letter" for index in worded):
        return sorted({*worded, *bare}), []
    if len(worded) > 1 or (worded and max(len(bare), len(titled)) <= 1):  # one number alone is not a count
        worded += _goes_on(layout, worded, [index for index in units if headings[index].word.endswith("titled")])
        return worded, _sections(
            layout, worded, [index for index in units if headings[index].word in {"roman", "arabic"}]
        )
    holds = bool(bare) and titled[:1] < bare[:1] and sum(headings[index].value == 1 for index in bare) > 1
    listed = titled[:1] < bare[:1] and layout.length(bare[0], bare[-1]) < _FEW_LINES * len(bare)
    if len(titled) > 1 and (holds or listed or len(titled) > 3 * len(bare)):
        return titled, _sections(layout, titled, bare)
    return (bare, []) if len(bare) > 1 else ([], [])


def _chain(layout: Layout, indices: Iterable[int]) -> list[int]:
    """Keep the numbers that count up from 1, again and again; one misprint does not break the count.

    The count begins again on a new page or below the heading of a part; stanzas of a poem do neither.
    """
    dividers = [index for index, heading in layout.headings.items() if heading.level in {"part", "named"}]
    kept: list[int] = []
    last = position = 0
    for index in indices:
        value = layout.headings[index].value
        starts = value == 1 and (
            not kept
            or layout.blocks[index].gap >= _NEW_PAGE
            or bisect_right(dividers, index) > bisect_right(dividers, kept[-1])
        )
        if starts:
            last = position = 0
        if starts or (kept and (0 < value - last <= _MISPRINT or value == position + 1)):
            kept.append(index)
            last, position = value, position + 1
    return kept


def _without_letters_inside(layout: Layout, worded: list[int]) -> list[int]:
    """Leave out numbered letters that stand inside chapters; letters before the first chapter count."""
    chapters = [index for index in worded if layout.headings[index].word != "letter"]
    if 2 * len(chapters) <= len(worded):
        return worded
    return [index for index in worded if layout.headings[index].word != "letter" or index < chapters[0]]


def _goes_on(layout: Layout, worded: Sequence[int], titled: Iterable[int]) -> list[int]:
    """Numbers with a title that take up the count where the word for it stops being printed."""
    last = layout.headings[worded[-1]].value
    kept = []
    for index in titled:
        new_page = layout.blocks[index].gap >= _NEW_PAGE
        if index > worded[-1] and layout.headings[index].value == last + 1 and new_page:
            kept.append(index)
            last += 1
    return kept


def _sections(layout: Layout, chapters: Iterable[int], bare: Iterable[int]) -> list[int]:
    """Bare numbers that count up from 1 inside chapters; other bare numbers are part of the prose."""
    starts = set(chapters)
    kept: list[int] = []
    last = 0
    for index in sorted({*starts, *bare}):
        value = layout.headings[index].value
        if index in starts:
            last = 0
        elif value == 1 or 0 < value - last < _MISPRINT:
            last = value
            kept.append(index)
    return kept


_MOST_LINES = 6
_MOST_GAP = 5
_SHORT = 60
"""Characters of a title on one line; also of the sentences that may be titles."""
_FEW = 3
_NAME_WORD = 4
"""Letters; longer words have a capital in a title, which "with" and "from" have not."""


def add_titles(layout: Layout, chosen: dict[int, Mark]) -> None:
    """Give marks the titles that stand below them.

    A title in capitals is taken. Any other short line may be the first of the prose; it is taken where most numbers of
    the text have such a line below them.
    """
    candidates: dict[int, int] = {}
    untitled = 0
    for index, mark in chosen.items():
        if mark.level not in {"chapter", "part"} or mark.title or not mark.number:
            continue
        untitled += 1
        title = layout.below.get(index, -1)
        after = layout.below.get(title, -1)
        if after < 0 or title in chosen or not _may_be_title(layout.blocks[title], layout.width):
            continue
        over_heading = after in chosen and chosen[after].level != "section"
        if over_heading == (mark.level == "part") and not (over_heading and _is_sentence(layout.blocks[title].flat)):
            candidates[index] = title
    if untitled < _FEW:
        candidates = {
            index: title for index, title in candidates.items() if not _is_sentence(layout.blocks[title].flat)
        }
    most = len(candidates) > 0.5 * untitled
    capitals = sum(is_capitals(layout.blocks[title].flat) for title in candidates.values()) > 0.8 * len(candidates)
    for index, title in candidates.items():
        printed = layout.blocks[title].flat
        spoken = re.search(
            r"^[\"'“‘]|[:!?][\"'”’]?$", printed
        )  # a shout or a salutation in capitals is not a title by itself
        taken = (is_capitals(printed) and (most or not spoken)) or (most and not capitals)
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
        if block.gap < _OWN_PAGE or below.gap >= block.gap or is_capitals(" ".join(below.lines[:3])):
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
    if not line or line[0] in "\"'“‘" or is_verse(block, width) or VERSE_NUMBER.match(line):
        return False
    return is_title(line) or (len(block.lines) == 1 and len(line) < _SHORT and _is_sentence(line) and ". " not in line)


_OWN_PAGE = 3
"""Blank lines before a block that begins a new page."""
_PROLOGUE = 1_500
_SHORT_PROLOGUE = 600
"""Characters of prose: so much is a prologue, or so much in three paragraphs; less is a dedication."""
_SHORT_PROLOGUE_PARAGRAPHS = 3
_LAST_SHARE = 0.1
"""End matter that no "The End" announces is in this last share of the text."""
_LAST_BLOCKS = 6


def front_matter(layout: Layout, marks: Sequence[Mark]) -> tuple[set[int], int]:
    """Find the blocks of title pages, dedications and pieces by another hand, and where prose begins.

    The latter is the block with which prose without a heading begins before the first chapter; -1 for none.
    """
    dividing = [mark for mark in marks if mark.level != "section"]
    if not dividing:
        return title_page(layout), -1
    first = dividing[0].index
    prologue = _prologue(layout, first)
    found = {index for index in layout.free if index < (first if prologue < 0 else prologue)}
    ends = [mark.index for mark in dividing[1:]] + [len(layout.blocks)]
    for mark, end in zip(dividing, ends, strict=True):
        if mark.level == "aside":
            found |= set(range(mark.index, end))
    numbered = next((mark.index for mark in dividing if mark.value == 1), 0)
    return found | _half_title(layout, first, numbered), prologue


def end_matter(layout: Layout, marks: Sequence[Mark]) -> dict[int, str]:
    """Find the blocks behind the end of the work, with their kinds.

    The work ends near the end of the text: with "The End", or where notes, a bibliography or a printer's line begin.
    "The End" elsewhere, as of a story in a collection, is left out for itself.
    """
    of_headings = {*(mark.index for mark in marks), *(mark.under for mark in marks)}
    last = max((mark.index for mark in marks if mark.level != "section"), default=-1)
    room = _LAST_SHARE * layout.length(0, len(layout.blocks))
    ends = [index for index in layout.free if index not in of_headings and is_the_end(layout.blocks[index])]
    found = dict.fromkeys(ends, "end matter")
    kind = ""
    for index in range(last + 1, len(layout.blocks)):
        if index in of_headings:
            continue
        block = layout.blocks[index]
        alone = block.gap > 1 or len(layout.blocks) - index <= _LAST_BLOCKS
        late = bool(kind) or layout.length(index, len(layout.blocks)) < room
        begins = found.get(index) or (end_matter_kind(block) if kind or alone else "")
        if begins and late:
            kind = begins
        if kind:
            found[index] = kind
    return found


def is_prologue(lengths: Sequence[int]) -> bool:
    """Whether paragraphs of prose before the first heading are a prologue, by their lengths in characters."""
    return sum(lengths) >= _PROLOGUE or (len(lengths) >= _SHORT_PROLOGUE_PARAGRAPHS and sum(lengths) >= _SHORT_PROLOGUE)


def _half_title(layout: Layout, first: int, numbered: int) -> set[int]:
    """Blocks of a half-title: capitals on a page of their own, between a preface and the first number."""
    for begin in range(numbered - 1, first, -1):
        block = layout.blocks[begin]
        if not block.short or len(block.lines) > 2 or not is_capitals(block.flat):  # noqa: PLR2004 - a title and its subtitle
            return set()
        if block.gap >= _OWN_PAGE:
            return set(range(begin, numbered))
    return set()


def _prologue(layout: Layout, first: int) -> int:
    """Index of the block that begins prose before the first heading, if it is more than a dedication; else -1."""
    prose = [
        index
        for index in layout.free
        if index < first
        and is_prose(layout.blocks[index], layout.width)
        and not layout.blocks[index].lines[0].lstrip("_ ").startswith(("To ", "TO "))
    ]
    if not is_prologue([layout.length(index, index + 1) for index in prose]):
        return -1
    place = layout.free.index(prose[0])
    while place:
        above = layout.blocks[layout.free[place - 1]]
        if layout.blocks[layout.free[place]].gap >= _OWN_PAGE or is_capitals(above.lines[0]):
            break
        place -= 1
    return layout.free[place]


_FRONT_SHARE = 0.35
"""Of the blocks: where no chapter has a number, prefaces stand before this."""
_MOST_IN_ONE = 0.6
"""Share of the text in one chapter, from which on it is looked at for titles."""
_LONG_ASIDE, _ASIDE_SHARE = 50_000, 0.25
"""Characters, and share of the text behind the first mark: a longer piece is the work, its own marks not found."""
_NEW_PAGE = 2


def find_marks(layout: Layout, *, title: str) -> list[Mark]:
    """Decide which headings stand, in order; that of a half-title, which repeats the work's title, does not."""
    chapters, sections = count_chapters(layout)
    chosen = {index: mark_heading(index, layout.headings[index], "chapter") for index in chapters}
    chosen |= {index: mark_heading(index, layout.headings[index], "section") for index in sections}
    for index, heading in layout.headings.items():
        if heading.level == "section":
            chosen[index] = mark_heading(index, heading, "section")
        elif heading.level == "part" and _part_stands(layout, index, heading):
            chosen[index] = mark_heading(index, heading, "part")
    chosen |= _volumes(layout, title)
    _drop_from_title_page(chosen)
    chosen |= _named(layout, chosen)
    chosen |= _listed(layout, chosen, title)
    if all(mark.word == "front" or mark.level not in {"chapter", "part"} for mark in chosen.values()):
        front = max(chosen, default=-1)  # before it stands the title page
        chosen |= {index: mark for index, mark in titles_alone(layout).items() if index > front}
    chosen |= _essays(layout, chosen, title)
    add_titles(layout, chosen)
    chosen |= titled_parts(layout, chosen)
    _promote(layout, chosen)
    _drop_without_prose(layout, chosen)
    if not any(mark.level == "chapter" and mark.number for mark in chosen.values()):
        chosen |= {index: replace(mark, level="chapter") for index, mark in chosen.items() if mark.level == "part"}
    return [chosen[index] for index in sorted(chosen)]


def set_aside(marks: Sequence[Mark], pieces: Sequence[str], *, author: str, front: str) -> list[Mark]:
    """Set aside prefaces by another hand, which speak of the author in the text under their mark or are announced."""
    by = re.findall(r"\bintroduction\b[\s_/]*by\b[\s_/]*([^/]{,60})", front, re.IGNORECASE)
    surname = re.escape(author.rpartition(" ")[2])
    own = len(by) == 1 and bool(surname) and re.search(rf"\b{surname}\b", by[0], re.IGNORECASE) is not None
    announced = len(by) == 1 and not own  # more: of other books
    most = max(_LONG_ASIDE, _ASIDE_SHARE * sum(map(len, pieces)))

    def by_another(mark: Mark, piece: str) -> bool:
        stated = mark.level == "aside" or (announced and "introduction" in mark.label.lower())
        return len(piece) <= most and (stated or speaks_of(author, piece))

    return [
        replace(mark, level="aside" if by_another(mark, piece) else "chapter") if mark.word == "front" else mark
        for mark, piece in zip(marks, pieces, strict=True)
    ]


def _part_stands(layout: Layout, index: int, heading: Heading) -> bool:
    """Whether a part is a heading and not a sentence: on a new page, in capitals, or next to another heading."""
    neighbours = (layout.headings.get(index - 1), layout.headings.get(index + 1))
    return (
        layout.blocks[index].gap >= _NEW_PAGE
        or is_capitals(heading.label)
        or any(neighbour is not None and neighbour.level in {"part", "chapter"} for neighbour in neighbours)
    )


def _volumes(layout: Layout, title: str) -> dict[int, Mark]:
    found = {}
    for index in layout.free if title else ():
        block = layout.blocks[index]
        if block.gap < _NEW_PAGE or len(block.lines) > 1 or not block.flat.lower().startswith(title.lower()):
            continue
        heading = parse_heading(replace(block, lines=(block.flat[len(title) :].strip(" ,.:;—-"),)))
        if heading is not None and heading.level == "part":
            found[index] = replace(mark_heading(index, heading, "part"), label=clean_title(block.flat))
    return found


def _drop_from_title_page(chosen: dict[int, Mark]) -> None:
    first = min(chosen, default=-1)
    if first >= 0 and chosen[first].level == "part" and chosen[first].value > 1 and first + 1 not in chosen:
        del chosen[first]


def _named(layout: Layout, chosen: Mapping[int, Mark]) -> dict[int, Mark]:
    """Prefaces before the first chapter, prologues and epilogues, each alone on its page or in capitals."""
    numbered = [index for index, mark in chosen.items() if mark.level == "chapter"]
    first = min(numbered, default=int(_FRONT_SHARE * len(layout.blocks)))
    found = {}
    for index, heading in layout.headings.items():
        above = chosen.get(index - 1)
        is_its_title = above is not None and above.level == "chapter" and not above.title
        stands = layout.blocks[index].gap >= _NEW_PAGE or is_capitals(heading.label)
        around = layout.blocks[max(0, index - 4) : index - 1] + layout.blocks[index + 1 : index + 3]
        if heading.level != "named" or is_its_title or not stands:
            continue
        poem = index > _FEW and all(is_verse(block, layout.width) for block in around)  # a title may stand between
        if heading.word == "anywhere" or (index < first and not poem):
            found[index] = mark_heading(index, heading, "aside" if heading.by_another else "chapter")
    return found


def _listed(layout: Layout, chosen: Mapping[int, Mark], title: str) -> dict[int, Mark]:
    """Titles that a contents list names without a number, alone on their page; each is met once."""
    waiting = Counter(entry for entry in layout.entries if entry != entry_key(title))
    list_begins = min((index for index, kind in layout.kinds.items() if kind == "contents"), default=0)
    if list_begins > 0.5 * len(layout.blocks):  # a list at the end
        list_begins = -1
    found: dict[int, Mark] = {}
    for above, index in pairwise([-1, *layout.free] if waiting else ()):
        block = layout.blocks[index]
        alone = block.gap >= _NEW_PAGE and block.short and len(block.lines) <= 2  # noqa: PLR2004 - a title on two lines
        is_its_title = above in chosen and not chosen[above].title
        if index < list_begins or index in chosen or not alone or is_its_title or end_matter_kind(block):
            continue
        key = entry_key(block.flat)
        if key and waiting[key] > 0:
            waiting[key] -= 1
            found[index] = mark_title(index, block, "chapter", "listed")
    return found


def _essays(layout: Layout, chosen: Mapping[int, Mark], title: str) -> dict[int, Mark]:
    """Titles in capitals, alone on a new page, in what would otherwise be most of the text in one chapter."""
    starts = sorted({0, len(layout.blocks), *(index for index, mark in chosen.items() if mark.level != "section")})
    begin, end = max(pairwise(starts), key=lambda piece: layout.length(*piece), default=(0, 0))
    whole = layout.length(0, len(layout.blocks))
    if layout.length(begin, end) < _MOST_IN_ONE * whole:
        return {}
    found = {}
    for index in layout.free:
        block, below = layout.blocks[index], layout.below.get(index, end)
        alone = block.gap >= _OWN_PAGE and len(block.lines) == 1 and is_capitals(block.flat) and is_title(block.flat)
        if not (begin < index < below < end and alone and layout.blocks[below].gap < block.gap) or index in chosen:
            continue
        if entry_key(block.flat) != entry_key(title) and not end_matter_kind(block):
            found[index] = mark_title(index, block, "chapter", "listed")
    divided = pairwise([begin, *found, end])
    if len(found) < _FEW or max(layout.length(*piece) for piece in divided) >= _MOST_IN_ONE * whole:
        return {}
    return found


def _promote(layout: Layout, chosen: dict[int, Mark]) -> None:
    """Make a named piece directly over a number 1 a part, and the sections under it its chapters."""
    inside = False
    for index, following in pairwise([*sorted(chosen), -1]):
        mark = chosen[index]
        if mark.level == "section":
            if inside:
                chosen[index] = replace(mark, level="chapter")
            continue
        after = chosen.get(following)
        directly = following == layout.below.get(index if mark.under is None else mark.under)
        inside = directly and mark.word in {"anywhere", "listed"} and after is not None and after.value == 1
        if inside:
            chosen[index] = replace(mark, level="part", word="epilogue")


def _drop_without_prose(layout: Layout, chosen: dict[int, Mark]) -> None:
    of_headings = {*chosen, *(mark.under for mark in chosen.values())}
    place = {index: position for position, index in enumerate(layout.free)}
    order = sorted(chosen)
    for index, following in pairwise([*order, -1]):
        stop = place[following] if following >= 0 else len(layout.free)
        has_prose = any(member not in of_headings for member in layout.free[place[index] + 1 : stop])
        holds_part = chosen[index].level == "part" and following >= 0
        holds_section = following >= 0 and chosen[following].level == "section" and chosen[index].level != "section"
        if not (has_prose or holds_part or holds_section):
            del chosen[index]


_MANY = 0.3
"""Share of the blocks from which on a text is one of numbered verses."""
_PREAMBLE = 600
"""Characters. Longer prose between the heading of a part and that of its first chapter is a chapter of its own."""
_GROWING = {"front matter", "contents", "editor's note", "end matter", "note"}
"""Kinds of which blocks that follow each other are one stretch."""


@dataclass(slots=True)
class _Group:
    """A chapter in the making.

    - `start`: of its heading; None where it begins with its first block.
    - `waiting`: a part has begun and its first chapter has not.
    """

    start: int | None
    number: str
    title: str
    part: str
    waiting: bool = False
    blocks: list[Block] = field(default_factory=list)

    @property
    def takes_heading(self) -> bool:
        return self.waiting and sum(block.end - block.start for block in self.blocks) < _PREAMBLE


class Assembly:
    """Takes the blocks of a text one after the other; of verses with numbers before them, these are left out."""

    def __init__(self, width: int, *, verses: bool = False) -> None:
        self.left_out: list[LeftOut] = []
        self._width = width
        self._verses = verses
        self._groups = [_Group(None, "", "", "")]
        self._parts: dict[str, str] = {}
        self._growing = ""

    def leave_out(self, block: Block, kind: str) -> None:
        """Take a block that is not the author's text."""
        if kind == self._growing:
            self.left_out[-1] = replace(self.left_out[-1], end=block.end)
        else:
            self.left_out.append(LeftOut(block.start, block.end, kind))
        self._growing = kind if kind in _GROWING else ""

    def begin(self, start: int, number: str = "", title: str = "") -> None:
        """Begin a chapter, which takes over the heading of a part directly before it."""
        last = self._groups[-1]
        if last.takes_heading:
            last.number, last.title, last.waiting = number, title, False
        else:
            self._groups.append(_Group(start, number, title, self._part))

    def head(self, mark: Mark, block: Block) -> None:
        """Take a heading."""
        self.leave_out(block, "heading")
        if mark.level == "part":
            self._begin_part(mark, block)
        elif mark.level == "chapter":
            counts_anew = "epilogue" in self._parts and (mark.value == 1 or mark.word == "listed")  # behind a prologue
            if not self._groups[-1].waiting and (mark.word in {"front", "anywhere"} or counts_anew):
                self._parts.clear()
            if mark.word.split()[0] in COUNTED:
                self.begin(block.start, mark.number, mark.title)
            else:
                self.begin(block.start, title=clean_title(mark.label))

    def add(self, block: Block) -> None:
        """Take a paragraph; a block that was cut off the one before (gap 0) goes back to it."""
        if self._verses and (number := VERSE_NUMBER.match(block.lines[0])):
            first, start = block.lines[0][number.end() :], block.start + len(number[0].lstrip())
            self.left_out.append(LeftOut(block.start, block.start + len(number[0].strip()), "verse number"))
            block = replace(block, start=start, lines=(first, *block.lines[1:]))
        blocks = self._groups[-1].blocks
        follows = bool(blocks) and not (self.left_out and self.left_out[-1].start > blocks[-1].start)
        if block.gap == 0 and follows:
            whole = blocks.pop()
            block = Block(whole.start, block.end, (*whole.lines, *block.lines), whole.gap)
        blocks.append(block)
        self._growing = ""

    def chapters(self) -> tuple[Chapter, ...]:
        """Return the chapters that have paragraphs."""
        return tuple(
            Chapter(
                index,
                group.blocks[0].start if group.start is None else group.start,
                group.blocks[-1].end,
                group.number,
                group.title,
                group.part,
            )
            for index, group in enumerate(self._filled)
        )

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Return the paragraphs, numbered in their chapters from 1."""
        made: list[Paragraph] = []
        for chapter, group in enumerate(self._filled):
            for number, block in enumerate(group.blocks, start=1):
                kind: ParagraphKind = "verse" if is_verse(block, self._width) else "prose"
                made.append(Paragraph(len(made), block.start, block.end, chapter, number, kind))
        return tuple(made)

    @property
    def _filled(self) -> list[_Group]:
        return [group for group in self._groups if group.blocks]

    @property
    def _part(self) -> str:
        return ", ".join(self._parts.values())

    def _begin_part(self, mark: Mark, block: Block) -> None:
        """Enter a part: a volume or epilogue ends all parts, any other ends the last of its kind and what that held."""
        if mark.word in {"volume", "vol", "epilogue"}:
            self._parts.clear()
        if mark.word in self._parts:
            names = list(self._parts)
            for name in names[names.index(mark.word) :]:
                del self._parts[name]
        self._parts[mark.word] = mark.label.rstrip(" .:")
        last = self._groups[-1]
        if last.takes_heading:
            last.part = self._part
        else:
            self._groups.append(_Group(block.start, "", "", self._part, waiting=True))


@dataclass(frozen=True, slots=True)
class Structure:
    """What `analyse` found, all in order, with one chapter and one paragraph at least; the year is of publication.

    - `left_out`: what is not the author's text. Kinds: "licence", "front matter", "contents", "illustration",
      "editor's note", "note", "page number", "verse number", "break", "heading", "end matter".
    """

    metadata: Metadata
    chapters: tuple[Chapter, ...]
    paragraphs: tuple[Paragraph, ...]
    left_out: tuple[LeftOut, ...]


def analyse(text: str) -> Structure:
    r"""Tell chapters, paragraphs and apparatus of a text apart that was decoded and has a word.

    >>> found = analyse("THE FERRY\n\nby A. Person\n\n\nCHAPTER I\n\nRain fell.\n\nNobody came.\n\n\nTHE END\n")
    >>> found.metadata.title, found.metadata.author, [each.name for each in found.chapters], len(found.paragraphs)
    ('The Ferry', 'A. Person', ['Chapter I'], 2)
    >>> [left.kind for left in found.left_out]
    ['front matter', 'heading', 'end matter']
    """
    start, end = licence(text)
    layout = lay_out(text, start, end)
    metadata, marks = _outline(text, text[:start], layout)
    assembly = _assemble(layout, marks, cuts(text))
    if not assembly.paragraphs():  # a file of headings and apparatus only: then they are the text
        if not layout.blocks:
            start, end = 0, len(text)
        assembly = Assembly(layout.width)
        for block in layout.blocks or split_blocks(text, start, end):
            assembly.add(block)
    return Structure(
        metadata=metadata,
        chapters=assembly.chapters(),
        paragraphs=assembly.paragraphs(),
        left_out=(
            *_piece(text, 0, start, "front matter" if start == labelled_head(text) else "licence"),
            *assembly.left_out,
            *_piece(text, end, len(text), "licence"),
        ),
    )


def _outline(text: str, header: str, layout: Layout) -> tuple[Metadata, list[Mark]]:
    marks = find_marks(layout, title=read_metadata(header, ()).title)
    before = {index for index in layout.free if index < marks[0].index} if marks else title_page(layout)
    front = [layout.blocks[index] for index in sorted(before)]
    known = read_metadata(header, front)
    starts = [layout.blocks[mark.index].start for mark in marks]
    pieces = [text[begin:end] for begin, end in zip(starts, [*starts[1:], len(text)], strict=False)]
    page = " / ".join(block.flat for block in front if block.short)
    return known, set_aside(marks, pieces, author=known.author, front=page)


def _assemble(layout: Layout, marks: Sequence[Mark], gone: Sequence[Offsets]) -> Assembly:
    front, prologue = front_matter(layout, marks)
    headings = {mark.index: mark for mark in marks if mark.level != "aside"}
    kinds = end_matter(layout, marks) | dict.fromkeys(front, "front matter")
    kinds |= {mark.under: "heading" for mark in headings.values() if mark.under is not None}
    kinds |= layout.kinds
    numbered = sum(VERSE_NUMBER.match(block.lines[0]) is not None for block in layout.blocks)
    assembly = Assembly(layout.width, verses=numbered > _MANY * len(layout.blocks))
    for index, block in enumerate(layout.blocks):
        if index == prologue:
            assembly.begin(block.start)
        if index in kinds:
            assembly.leave_out(block, kinds[index])
        elif index in headings:
            assembly.head(headings[index], block)
        elif _is_cut(block, gone):
            assembly.leave_out(block, "page number")
        else:
            assembly.add(block)
    return assembly


def _is_cut(block: Block, gone: Sequence[Offsets]) -> bool:
    """Whether a block is a page number or a running head and nothing else."""
    place = bisect_right(gone, block.start, key=itemgetter(0)) - 1
    return place >= 0 and block.end <= gone[place][1]


def _piece(text: str, start: int, end: int, kind: str) -> list[LeftOut]:
    return [LeftOut(*stretch, kind) for stretch in sentences_between(text, [start, end])]
