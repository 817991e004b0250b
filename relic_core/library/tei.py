"""TEI: editions in XML, with their volumes and chapters, acts and scenes, verse, speeches and notes.

What the encoding says is believed: a division is a chapter because it is one there. What is printed wins over what an
editor made of it (``sic`` over ``corr``). Front and back are left out, but for prefaces, prologues and epilogues that
no other hand is named for; notes are the author's unless they say otherwise.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.errors import BadText
from relic_core.library.composing import About, compose
from relic_core.library.heading_names import Named, name_heading
from relic_core.library.leaves import Item, Opening, TextBlock
from relic_core.library.markup import attribute, decode_markup, local_name, parse_xml
from relic_core.library.tei_blocks import Blocks
from relic_core.library.tei_header import read_details, read_header
from relic_core.library.tei_names import (
    AUTHORS_PIECES,
    CHAPTERS,
    DIVISIONS,
    divides,
    divisions,
    holds_notes,
    kind_of,
    leading_heads,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

    from relic_core.domain import EditionDetails, Work
    from relic_core.ports import Segmenter
    from relic_core.text.metadata import Metadata

ROOTS = frozenset({"tei", "tei.2", "teicorpus", "teicorpus.2"})
"""Names of root elements, in small letters."""
_WHAT = "The TEI file"
_NUMBER = re.compile(r"\d{1,4}|[IVXLCivxlc]{1,9}")
_BY_ANOTHER = re.compile(r"edit|translat|publish|transcri|biograph|life of", re.IGNORECASE)


def read_tei(
    data: bytes, *, name: str, said: Metadata, source: str, max_bytes: int, segmenter: Segmenter | None = None
) -> tuple[Work, EditionDetails]:
    """Read a work from the bytes of a TEI file, and what it says of its edition.

    - `source`: where the file came from.
    - `segmenter`: in place of `sentences.default_segmenter`.

    Raises BadText: it is damaged, has no body, or holds no text of a work.
    Raises UnsafeFile: it uses entities that are not resolved.
    """
    root = parse_xml(decode_markup(data, what=_WHAT, max_bytes=max_bytes), what=_WHAT)
    if all(local_name(element) != "body" for element in root.iter()):
        raise BadText(
            "The TEI file has no <body>: it holds a header, or pictures of pages, but no text. Add the file of the "
            "same edition that has the text; its <text> element holds a <body>."
        )
    found = read_header(root)
    texts = _Texts(root, said.author or found.author)
    about = About(name=name, said=said, found=found, source=source, format="TEI")
    return compose(texts.items, about, segmenter=segmenter), read_details(root)


class _Texts:
    """Walks the divisions of a file; `items` is what it found."""

    def __init__(self, root: Element, author: str) -> None:
        self.items: list[Item] = []
        self._blocks = Blocks(root)
        surname = author.rpartition(" ")[2]
        self._surname = re.compile(rf"\b{re.escape(surname)}\b") if surname.isalpha() else None
        self._chapter = 0  # where in the items the leaves of the current chapter begin
        self._corpus(root, ()) if local_name(root).startswith("teicorpus") else self._edition(root, ())
        self._end_chapter()

    def _corpus(self, root: Element, parts: tuple[str, ...]) -> None:
        for child in root:
            if local_name(child).startswith("teicorpus"):
                self._corpus(child, parts)
            elif local_name(child) in ROOTS:
                title = read_header(child).title
                self._begin(Opening(title=title, part=", ".join(parts), holds=True))
                self._edition(child, (*parts, title) if title else parts)

    def _edition(self, element: Element, parts: tuple[str, ...]) -> None:
        for child in element:
            if local_name(child) == "text":
                self._text(child, parts)

    def _text(self, element: Element, parts: tuple[str, ...]) -> None:
        self._loose(element.text)
        for child in element:
            self._text_child(child, parts)
            self._loose(child.tail)
        self._end()

    def _text_child(self, child: Element, parts: tuple[str, ...]) -> None:
        name = local_name(child)
        if name in {"front", "back"}:
            self._end()
            self._outside(child, parts, "front matter" if name == "front" else "end matter")
        elif name == "body" or name in DIVISIONS:
            self._division(child, parts)
        elif name == "group":
            heads = leading_heads(child)
            label = self._head(child, heads, parts, holds=True)
            read = set(heads)
            self._loose(child.text)
            for each in child:
                if each not in read:
                    self._text_child(each, (*parts, label) if label else parts)
                self._loose(each.tail)
        elif name == "text":
            self._text(child, parts)
        elif name:
            self._inside(child)

    def _outside(self, element: Element, parts: tuple[str, ...], kind: str) -> None:
        """Read front or back matter; loose leaves and divisions by another hand are left out."""
        self._left_out(element.text, kind)
        for child in element:
            self._outside_child(child, parts, kind)
            self._left_out(child.tail, kind)

    def _outside_child(self, child: Element, parts: tuple[str, ...], kind: str) -> None:
        if local_name(child):
            if local_name(child) in DIVISIONS and holds_notes(child):
                self._notes(child, kind)
            elif local_name(child) in {*DIVISIONS, "prologue", "epilogue"} and self._is_authors(child):
                self._division(child, parts)
            else:
                with self._blocks.leaving_out(kind):
                    self._blocks.node(child)
                self._gather()

    def _left_out(self, text: str | None, kind: str) -> None:
        if text and text.strip():
            with self._blocks.leaving_out(kind):
                self._blocks.loose(text)
            self._gather()

    def _is_authors(self, element: Element) -> bool:
        said = local_name(element) if local_name(element) not in DIVISIONS else kind_of(element)
        if not AUTHORS_PIECES.fullmatch(said):
            return False
        words = " ".join(str(piece) for piece in element.itertext())
        head = " ".join(
            " ".join(str(piece) for piece in each.itertext()) for each in element if local_name(each) == "head"
        )
        if _BY_ANOTHER.search(f"{head} {attribute(element, 'resp')}") and not re.search("author", head, re.IGNORECASE):
            return False
        return self._surname is None or len(self._surname.findall(words[:-200])) <= 1

    def _notes(self, element: Element, kind: str) -> None:
        """Read a collection of notes: each goes to where it is referred to."""
        self._left_out(element.text, "note")
        for child in element:
            self._note(child, kind)
            self._left_out(child.tail, "note")

    def _note(self, child: Element, kind: str) -> None:
        name = local_name(child)
        holds = name in {"note", "item"} and any(local_name(each) == "note" for each in child)
        if name in DIVISIONS or name == "list" or holds:
            self._notes(child, kind)
        elif name == "note":
            self._blocks.node(child)
        elif name:
            with self._blocks.leaving_out(kind if name == "head" else "note"):
                self._blocks.node(child)
        self._end()

    def _division(self, element: Element, parts: tuple[str, ...]) -> None:
        holds = divides(element)
        heads = leading_heads(element)
        label = self._head(element, heads, parts, holds=holds)
        read = set(heads)
        if not holds:
            self._loose(element.text)
            for child in element:
                if local_name(child) and child not in read:
                    self._inside(child)
                self._loose(child.tail)
            self._end()
            return
        inside = set(divisions(element))
        below = (*parts, label) if label else parts
        self._loose(element.text)
        for child in element:
            name = local_name(child)
            if child in inside:
                self._end()
                self._division(child, below)
            elif name in DIVISIONS:
                self._end()
                self._notes(child, "end matter")
            elif name in {"text", "group", "body"}:
                self._end()
                self._text_child(child, below)
            elif name and child not in read:
                self._inside(child)
            self._loose(child.tail)
        self._end()

    def _inside(self, element: Element) -> None:
        if local_name(element) in DIVISIONS and holds_notes(element):
            self._end()
            self._notes(element, "heading")
        else:
            self._blocks.node(element)

    def _loose(self, text: str | None) -> None:
        if text and text.strip():
            self._blocks.loose(text)

    def _head(self, element: Element, heads: list[Element], parts: tuple[str, ...], *, holds: bool) -> str:
        """Begin a chapter or a part by its heads; return its label."""
        self._end()
        before = len(self._blocks.leaves)
        lines = self._blocks.heading(heads)
        heading = self._blocks.leaves[before:]
        del self._blocks.leaves[before:]
        named = name_heading(lines) if lines else _by_attributes(element)
        nameless = local_name(element) in {"body", "group"} and not lines
        if not nameless or not holds:
            number = named.number if not holds else ""
            title = named.title if not holds else named.label
            self._begin(Opening(number=number, title=title, part=", ".join(parts), holds=holds))
        self.items += heading
        return named.label.rstrip(" .:")

    def _begin(self, opening: Opening) -> None:
        self._end_chapter()
        self.items.append(opening)
        self._chapter = len(self.items)
        self._blocks.start_chapter()

    def _end(self) -> None:
        self._blocks.close()
        self._gather()

    def _gather(self) -> None:
        self.items += self._blocks.leaves
        self._blocks.leaves.clear()

    def _end_chapter(self) -> None:
        """Take the numbers off lines that nobody cites by number: of verse quoted in prose."""
        self._end()
        leaves = [item for item in self.items[self._chapter :] if isinstance(item, TextBlock) and not item.left_out]
        verse = sum(leaf.kind == "verse" for leaf in leaves)
        if not self._blocks.lines_count and verse <= sum(leaf.kind == "prose" for leaf in leaves):
            for place in range(self._chapter, len(self.items)):
                item = self.items[place]
                if isinstance(item, TextBlock) and item.line is not None:
                    self.items[place] = replace(item, line=None)


def _by_attributes(element: Element) -> Named:
    """Name a division without a heading by its type and number."""
    kind, number = kind_of(element), attribute(element, "n").strip()
    if not _NUMBER.fullmatch(number):
        number = ""
    if kind == "chapter" and number:
        return Named("chapter", number, "", f"Chapter {number}", counts=True)
    said = kind.replace("_", " ").capitalize()
    if not number and not (kind in CHAPTERS - {"chapter", "scene"} or AUTHORS_PIECES.fullmatch(kind)):
        return Named("", "", "", "")
    label = f"{said} {number}".strip() if said else ""
    return Named("", "", label, label, counts=bool(number))
