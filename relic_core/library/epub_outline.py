"""The outline of an e-book: which headings begin parts and chapters, and what stands outside of them.

What a page marks is believed first (types of sections), then the contents list, then the words of a heading, then its
level. In this order:

* a heading that says "Contents", "Copyright", "Notes" or the like leaves out what follows it;
* a heading marked or listed is a chapter, or a part where chapters stand below it;
* a heading directly below a number is its title; any other heading that the list does not name is one of a section
  inside a chapter, which divides nothing;
* what stands before the first chapter is front matter, unless it is long prose: then it is a chapter without a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from relic_core.library.epub_marks import aside_kind
from relic_core.library.heading_names import Named, name_heading, with_title
from relic_core.library.leaves import Item, Opening, TextBlock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.library.epub_package import Entry
    from relic_core.library.epub_pages import Found

_LICENCE_START = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_LICENCE_END = re.compile(
    r"\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg", re.IGNORECASE
)
_CREDIT = re.compile(r"(?:produced|prepared|transcribed|e-?text prepared) by\b|credits:", re.IGNORECASE)
_THE_END = re.compile(r"\W*(?:the end|finis|fin)\W*", re.IGNORECASE)
_PROLOGUE = 1_500
_SHORT_PROLOGUE = 600
"""Characters of prose before the first heading: so much is a prologue, or so much in three paragraphs; less is a
dedication or a blurb."""
_SHORT_PROLOGUE_PARAGRAPHS = 3
_SENTENCE = 60
_SENTENCE_ENDS = ".!?…”’\"'"
"""A prologue begins with a paragraph longer than this, which ends as sentences do."""
_SIGNATURE = 200
_SHORT = 120
"""Characters of a paragraph that may be a heading set as a paragraph."""
_FEW = 2


@dataclass(slots=True)
class _Mark:
    """A heading, as it is taken."""

    named: Named
    role: str  # "part", "chapter", "title", "section", "aside"
    rank: int
    kind: str = ""  # of an aside
    invented: bool = False  # its words stand in the contents list alone


def outline(found: Sequence[Found], contents: Sequence[Entry], *, title: str, author: str) -> list[Item]:
    """Put what stands on the pages in order.

    - `found`: of all pages, in reading order.
    """
    found = _without_licence(list(found))
    found = _notes_by_reference(found)
    listed = _listed(found, contents)
    marks = _marks(found, listed, title)
    _promote(found, marks)
    _set_aside(found, marks, author)
    first = min((place for place, mark in marks.items() if mark.role in {"part", "chapter"}), default=None)
    if first is None:
        marks = {place: mark for place, mark in marks.items() if mark.role == "aside"}
        first = -1
    prologue = _prologue(found, marks, first)
    return _items(found, marks, first, prologue)


def _without_licence(found: list[Found]) -> list[Found]:
    """Leave out what Project Gutenberg puts around a text, where only its words tell."""
    start = max((place for place, each in enumerate(found[:200]) if _LICENCE_START.search(each.leaf.text)), default=-1)
    end = next(
        (place for place, each in enumerate(found) if place > start and _LICENCE_END.match(each.leaf.text)), len(found)
    )
    for place, each in enumerate(found):
        if place <= start or place >= end:
            each.leaf = replace(each.leaf, left_out="licence")
            each.level = 0
    return found


def _notes_by_reference(found: list[Found]) -> list[Found]:
    """Make notes of paragraphs that a reference in the text leads to, though nothing marks them."""
    wanted = {ref for each in found if each.leaf.kind != "note" for ref in each.leaf.refs}
    for each in found:
        names = tuple(name for anchor in each.anchors if (name := f"{each.page}#{anchor}") in wanted)
        if names and not each.level and not each.leaf.left_out and each.leaf.kind == "prose" and not each.leaf.refs:
            each.leaf = replace(each.leaf, kind="note", names=names)
    return found


def _listed(found: Sequence[Found], contents: Sequence[Entry]) -> dict[int, list[Entry]]:
    """Find where the lines of the contents list lead: to a heading where one is near."""
    places: dict[tuple[str, str], int] = {}
    for place, each in enumerate(found):
        for anchor in each.anchors:
            places.setdefault((each.page, anchor), place)
    listed: dict[int, list[Entry]] = {}
    for entry in contents:
        place = places.get((entry.path, entry.fragment), places.get((entry.path, ""), -1))
        if place < 0:
            continue
        heading = next(
            (
                near
                for near in range(place, min(place + 3, len(found)))
                if found[near].page == entry.path and (found[near].level or _same(found[near].leaf.text, entry.label))
            ),
            place,
        )
        listed.setdefault(heading, []).append(entry)
    return listed


def _marks(found: Sequence[Found], listed: dict[int, list[Entry]], title: str) -> dict[int, _Mark]:
    named = {
        place: name_heading(each.leaf.lines)
        for place, each in enumerate(found)
        if (each.level or _is_heading(each, listed.get(place, []))) and each.leaf.left_out in {"", "heading"}
    }
    useful = sum(place in listed and not aside_kind(each.label) for place, each in named.items()) >= _FEW
    marks: dict[int, _Mark] = {}
    above: int | None = None
    for place, each in enumerate(found):
        entries = listed.get(place, [])
        rank = entries[-1].depth if useful and entries else 10 + each.level if useful else each.level
        if place not in named:
            label = entries[-1].label if entries else ""
            kind = aside_kind(label) if label else ""
            if kind and not each.leaf.left_out:
                marks[place] = _Mark(Named("", "", label, label), "aside", rank, kind, invented=True)
                above = None
            elif label and not each.leaf.left_out and not _same(label, title) and each.leaf.kind != "note":
                marks[place] = _Mark(name_heading([label]), "chapter", rank, invented=True)
                above = None
            elif not each.leaf.left_out:
                above = None
            continue
        role, kind = _role(
            each, named[place], entries, marks.get(above) if above is not None else None, useful, title, marks
        )
        if role == "title" and above is not None:
            marks[above].named = with_title(marks[above].named, each.leaf.lines)
        marks[place] = _Mark(named[place], role, rank, kind)
        if role != "title":
            above = place if role in {"part", "chapter"} else None
    return marks


def _role(  # noqa: PLR0911 - the rules of the module, one after the other
    found: Found,
    named: Named,
    entries: list[Entry],
    above: _Mark | None,
    useful: bool,
    title: str,
    marks: dict[int, _Mark],
) -> tuple[str, str]:
    kind = aside_kind(named.label)
    if kind and not (found.role == "chapter" and kind != "note"):
        return "aside", kind
    if title and _same(named.label, title) and not any(mark.role in {"part", "chapter"} for mark in marks.values()):
        return "work", ""
    if found.role in {"part", "chapter"}:
        return found.role, ""
    numbered = named.level in {"part", "chapter"} and named.counts
    if above is not None and not named.counts and named.level != "named" and not entries:
        if above.named.counts and not _has_title(above.named):
            return "title", ""
        if above.role == "chapter":
            return "title", ""
    if found.role == "section":
        return "section", ""
    if entries and useful:
        return ("part" if named.level == "part" else "chapter"), ""
    inside = next((mark for mark in reversed(marks.values()) if mark.role in {"part", "chapter"}), None)
    deeper = inside is not None and inside.role == "chapter" and (useful or found.level > inside.rank)
    if numbered:
        if named.bare and deeper and not (inside is not None and inside.named.bare) and above is None:
            return "section", ""
        return ("part" if named.level == "part" else "chapter"), ""
    if useful or deeper:
        return ("section" if inside is not None else "work"), ""
    return "chapter", ""


def _has_title(named: Named) -> bool:
    return ":" in named.label or (bool(named.number) and bool(named.title))


def _promote(found: Sequence[Found], marks: dict[int, _Mark]) -> None:
    """Make parts of chapters that hold chapters, and chapters of parts that hold none."""
    divisions = [place for place in sorted(marks) if marks[place].role in {"part", "chapter"}]
    for place, following in pairwise([*divisions, len(found)]):
        mark, after = marks[place], marks.get(following)
        own = sum(len(each.leaf.text) for each in found[place + 1 : following] if not each.leaf.left_out)
        if mark.role == "part":
            inside = after is not None and (after.rank > mark.rank or (not own and after.named.word != mark.named.word))
            holds = inside or (after is not None and after.role == "chapter")
            mark.role = "part" if holds else "chapter"
        elif after is not None and after.rank > mark.rank and not own:
            mark.role = "part"


def _set_aside(found: Sequence[Found], marks: dict[int, _Mark], author: str) -> None:
    """Leave out prefaces and introductions by another hand."""
    surname = author.rpartition(" ")[2]
    name = re.compile(rf"\b{re.escape(surname)}\b") if surname.isalpha() else None
    places = sorted(marks)
    for place, following in pairwise([*places, len(found)]):
        mark = marks[place]
        if mark.role != "chapter" or mark.named.word != "front":
            continue
        text = " ".join(each.leaf.text for each in found[place + 1 : following] if not each.leaf.left_out)
        if mark.named.by_another or (name is not None and len(name.findall(text[:-_SIGNATURE])) > 1):
            mark.role, mark.kind = "aside", "front matter"


def _prologue(found: Sequence[Found], marks: dict[int, _Mark], first: int) -> int:
    """Where prose without a heading begins before the first chapter; -1 where none does."""
    if first < 0:
        return 0
    asides = {place for place, mark in marks.items() if mark.role == "aside"}
    prose: list[int] = []
    for place, each in enumerate(found[:first]):
        if place in asides:
            prose = []
        elif _may_be_prologue(each) and (prose or _begins_prologue(each.leaf.text)):
            prose.append(place)
    length = sum(len(found[place].leaf.text) for place in prose)
    if length >= _PROLOGUE or (len(prose) >= _SHORT_PROLOGUE_PARAGRAPHS and length >= _SHORT_PROLOGUE):
        return prose[0]
    return -1


def _may_be_prologue(each: Found) -> bool:
    return not each.leaf.left_out and not each.level and not each.linked and each.leaf.kind == "prose"


def _begins_prologue(text: str) -> bool:
    return len(text) > _SENTENCE and text[-1] in _SENTENCE_ENDS


def _items(found: Sequence[Found], marks: dict[int, _Mark], first: int, prologue: int) -> list[Item]:
    items: list[Item] = []
    parts: list[tuple[int, str, str]] = []  # rank, word, label
    aside = "" if first <= 0 and first != 0 else "front matter"
    for place, each in enumerate(found):
        mark = marks.get(place)
        leaf = each.leaf
        if place == prologue:
            items.append(Opening())
            aside = ""
        if mark is not None and mark.role in {"part", "chapter"}:
            aside = ""
            items.append(_opening(mark, parts))
        elif mark is not None and mark.role == "aside":
            aside = mark.kind
        elif mark is not None and mark.role == "work" and place < first:
            leaf = replace(leaf, left_out="front matter")
        if mark is not None and not mark.invented and not leaf.left_out:
            leaf = replace(leaf, left_out="heading", kind="prose")
        elif aside and leaf.left_out == "page number":
            leaf = replace(leaf, left_out=aside)  # one stretch with what stands around it
        elif mark is not None and mark.role == "aside" and leaf.left_out == "heading":
            leaf = replace(leaf, left_out=aside)
        elif not leaf.left_out:
            leaf = _placed(each, aside, before=place < first)
        items.append(leaf)
    return items


def _placed(each: Found, aside: str, *, before: bool) -> TextBlock:
    if aside == "note" and each.leaf.kind == "note":
        return each.leaf
    if aside and not (each.leaf.kind == "note" and aside != "licence"):
        return replace(each.leaf, left_out="contents" if each.linked and before else aside)
    if _THE_END.fullmatch(each.leaf.text):
        return replace(each.leaf, left_out="end matter")
    if before and _CREDIT.match(each.leaf.text):
        return replace(each.leaf, left_out="editor's note")
    return replace(each.leaf, left_out="contents") if each.linked and before else each.leaf


def _opening(mark: _Mark, parts: list[tuple[int, str, str]]) -> Opening:
    """Begin a part or chapter; `parts` are those around it, and are brought up to date."""
    named = mark.named
    word = named.word if mark.role == "part" else ""
    ends_all = named.level == "named" or (mark.role == "part" and word in {"", "volume", "vol", "epilogue"})
    while parts and (parts[-1][0] > mark.rank or (parts[-1][0] == mark.rank and ends_all)):
        parts.pop()
    same = [place for place, (_, other, _) in enumerate(parts) if word and other == word]
    del parts[same[0] if same else len(parts) :]
    above = ", ".join(label for _, _, label in parts)
    label = named.label.rstrip(" .:")
    if mark.role == "part":
        parts.append((mark.rank, word, label))
        return Opening("", label, above, holds=True)
    return Opening(named.number, named.title, above)


def _is_heading(found: Found, entries: list[Entry]) -> bool:
    """Whether a paragraph is a heading: the contents list says what it says."""
    return any(_same(found.leaf.text, entry.label) for entry in entries) and len(found.leaf.text) < _SHORT


def _same(one: str, other: str) -> bool:
    letters = ["".join(filter(str.isalnum, text.casefold())) for text in (one, other)]
    return bool(letters[0]) and letters[0] == letters[1]
