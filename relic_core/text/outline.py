"""The outline of a work: which of the blocks that read like headings are headings, and of what.

The rules, in the order they are applied:

* Where two or more headings carry a word ("Chapter", "Letter", "Stave"), those are the chapters, and bare numbers
  inside them are sections, which divide a chapter and are no chapters. Elsewhere bare numbers that count up are the
  chapters (`counting`).
* Books, parts and volumes hold chapters; where a work has nothing below them, they are the chapters.
* Pieces with a name (prologue, preface, epilogue) and titles that a contents list names without a number are chapters
  without a number. A named piece directly over a chapter 1 is a part.
* A heading without any prose before the next heading of its kind is none.
* A preface or introduction by another hand (it says so, or it speaks of the author by name) is set aside.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from relic_core.text.apparatus import end_matter_kind
from relic_core.text.contents import entry_key
from relic_core.text.counting import count_chapters
from relic_core.text.headings import clean_title, is_capitals, parse_heading
from relic_core.text.marks import Mark, mark_heading, mark_title
from relic_core.text.titles import add_titles, titled_parts, titles_alone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.text.headings import Heading
    from relic_core.text.layout import Layout

_FRONT_SHARE = 0.35
"""Of the blocks: where no chapter has a number, prefaces stand before this."""
_NEW_PAGE = 2
_SIGNATURE = 200
"""Characters at the end of a preface in which an author's own name may stand."""


def find_marks(layout: Layout, *, title: str) -> list[Mark]:
    """Decide which headings stand.

    - `title`: of the work, as far as known; a half-title is no chapter.

    Returns: in order; empty for a text without chapters.
    """
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
    if not any(mark.level in {"chapter", "part"} for mark in chosen.values()):
        chosen |= titles_alone(layout)
    add_titles(layout, chosen)
    chosen |= titled_parts(layout, chosen)
    _promote(layout, chosen)
    _drop_without_prose(layout, chosen)
    if not any(mark.level == "chapter" and mark.number for mark in chosen.values()):
        chosen |= {index: replace(mark, level="chapter") for index, mark in chosen.items() if mark.level == "part"}
    return [chosen[index] for index in sorted(chosen)]


def set_aside(marks: Sequence[Mark], pieces: Sequence[str], *, author: str, front: str) -> list[Mark]:
    """Set aside prefaces and introductions by another hand: they speak of the author by name or are announced.

    - `pieces`: the text under each mark.
    """
    surname = author.rpartition(" ")[2]
    name = re.compile(rf"\b{re.escape(surname)}\b") if surname.isalpha() else None
    announced = re.search(r"\bintroduction\b[\s_/]*by\b", front, re.IGNORECASE)

    def by_another(mark: Mark, piece: str) -> bool:
        if mark.level != "chapter" or mark.word != "front":
            return False
        if announced and "introduction" in mark.label.lower():
            return True
        return name is not None and len(name.findall(piece[:-_SIGNATURE])) > 1

    return [
        replace(mark, level="aside") if by_another(mark, piece) else mark
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
    """Parts that repeat the title of the work ("LITTLE WOMEN PART 2")."""
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
    """Take out the number of a volume on the title page of an edition ("VOL. III" of one that holds two novels)."""
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
        if heading.level != "named" or is_its_title or not stands:
            continue
        if heading.word == "anywhere":
            found[index] = mark_heading(index, heading, "chapter")
        elif index < first:
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
    """Take out headings with nothing under them: lists, half-titles, repeated headings."""
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
