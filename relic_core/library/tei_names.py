"""The elements of TEI by what is done with them; all names in small letters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.library.markup import attribute, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DIVISIONS = frozenset({"div", *(f"div{level}" for level in range(8))})
BLOCKS = frozenset(
    """
    p ab opener closer dateline salute signed byline trailer argument epigraph list item table row address addrline
    postscript lg l sp stage speaker castlist castitem head docauthor docdate doctitle titlepart docimprint docedition
    imprimatur listbibl bibl floatingtext epilogue prologue set performance div
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""Elements that are paragraphs or hold paragraphs wherever they stand."""
EITHER = frozenset({"q", "quote", "said", "cit", "seg", "add", "subst", "supplied", "corr", "hi", "emph", "unclear"})
"""Elements that stand in a paragraph or hold paragraphs."""
INSIDE = frozenset(
    {"dateline", "salute", "signed", "addrline", "docauthor", "docdate", "titlepart", "cell", "label", "bibl"}
)
"""Elements that stand by themselves in one line with others of their kind."""
SKIPPED = frozenset(
    """
    del figdesc index interp interpgrp span spangrp teiheader facsimile standoff sourcedoc desc fs fvlib metamark
    surplus certainty precision listannotation alt join link linkgrp timeline witdetail
    """.split()  # noqa: SIM905 - as above
)
"""Elements that are not printed, or are struck out."""
CHAPTERS = frozenset(
    {"chapter", "scene", "letter", "poem", "story", "tale", "canto", "essay", "entry", "prologue", "epilogue"}
)
"""Types of divisions that are chapters whatever is inside, unless chapters are inside."""
_PAGE_MARKS = {"", "pb", "milestone", "fw", "lb", "cb", "anchor"}
AUTHORS_PIECES = re.compile(
    r"(?:author.?s?.?)?(?:preface|prologue|introduction|foreword|induction|argument|proem|epilogue|afterword|postscript|"
    r"conclusion|envoi)",
    re.IGNORECASE,
)
"""Types of divisions outside the body that are chapters."""
_EDITORIAL = re.compile(
    r"edit|transl|\btr\b|comment|textual|critical|gloss|annotat|transcri|variant|app", re.IGNORECASE
)
_NOTES = re.compile(r"(?:foot|end|rear)?_?-?notes?", re.IGNORECASE)
_ITALIC = re.compile(r"ital|(?:^|[\s#:_-])(?:it?|slant\w*)(?:$|[\s;])", re.IGNORECASE)
_UPRIGHT = re.compile(r"roman|upright|normal", re.IGNORECASE)


def kind_of(element: Element) -> str:
    """Return the type of a division in small letters."""
    return attribute(element, "type").strip().lower()


def holds_notes(element: Element) -> bool:
    """Whether a division is a collection of notes."""
    return bool(_NOTES.fullmatch(kind_of(element)))


def is_editorial(note: Element) -> bool:
    """Whether a note says that it is not the author's."""
    said = f"{attribute(note, 'type')} {attribute(note, 'place')} {attribute(note, 'subtype')}"
    by = attribute(note, "resp").lstrip("#").lower()
    return bool(_EDITORIAL.search(said)) or (bool(by) and not by.startswith("aut"))


def is_italic(element: Element) -> bool:
    """Whether the words of an element are printed in italics."""
    name = local_name(element)
    look = " ".join(attribute(element, each) for each in ("rend", "rendition", "style"))
    if look.strip():
        return bool(_ITALIC.search(look)) and not _UPRIGHT.search(look)
    return name in {"emph", "hi"}


def leading_heads(element: Element) -> list[Element]:
    """Return the headings at the beginning of a division, where nothing but marks of pages stands between them."""
    heads = []
    for child in element:
        name = local_name(child)
        if name == "head":
            heads.append(child)
        elif name not in _PAGE_MARKS:
            break
    return heads


def divisions(element: Element) -> list[Element]:
    """Return the divisions directly inside an element that could be chapters."""
    return [child for child in element if local_name(child) in DIVISIONS and not holds_notes(child)]


def divides(element: Element) -> bool:
    """Whether the divisions inside an element are chapters, and not sections of one."""
    inside = divisions(element)
    if not inside:
        return False
    if kind_of(element) in CHAPTERS:
        return any(kind_of(child) in CHAPTERS for child in inside)
    return local_name(element) not in DIVISIONS or any(
        attribute(child, "n") or kind_of(child) or any(local_name(each) == "head" for each in child) for child in inside
    )


def has_blocks(element: Element) -> bool:
    """Whether an element that may stand in a line holds paragraphs."""
    return len(element) > 0 and any(local_name(each) in BLOCKS for each in element.iterdescendants())


def is_tokenised(element: Element) -> bool:
    """Whether blanks between words are elements, so that those between the tags are none."""
    names = {local_name(child) for child in element}
    return "c" in names and "w" in names


def is_run(element: Element) -> bool:
    """Whether an element stands among text."""
    before = element.getprevious()
    text = before.tail if before is not None else element.getparent().text
    return bool((text and text.strip()) or (element.tail and element.tail.strip()))


def references(root: Element) -> tuple[set[str], dict[str, list[str]]]:
    """Find the names of notes, and which notes say that they hang on a place with a name."""
    notes: set[str] = set()
    marks: dict[str, list[str]] = {}
    for note in root.iter():
        if local_name(note) == "note" and attribute(note, "id"):
            name = attribute(note, "id")
            notes.add(name)
            target = attribute(note, "target").lstrip("#")
            if target:
                marks.setdefault(target, []).append(name)
    return notes, marks
