"""The words of a TEI text as leaves: paragraphs, verse with its line numbers, speeches, stage directions, notes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.library.inline import Inline
from relic_core.library.leaves import TextBlock
from relic_core.library.markup import attribute, local_name
from relic_core.library.tei_names import (
    BLOCKS,
    DIVISIONS,
    EITHER,
    INSIDE,
    SKIPPED,
    has_blocks,
    is_editorial,
    is_italic,
    is_run,
    is_tokenised,
    references,
)
from relic_core.library.tei_verse import Verse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element as Element

    from relic_core.domain import ParagraphKind

_THE_END = re.compile(r"\W*(?:the end|end|finis|fin|explicit)\W*", re.IGNORECASE)
_LIKE_PARAGRAPHS = {"p", "ab", "opener", "closer", "row", "byline"}
_PRINTED = ("sic", "orig", "abbr", "lem", "rdg")
"""Of alternatives in the encoding, the one that is printed."""


class Blocks:
    """Reads elements one after the other; what it finds it appends to `leaves`.

    - `root`: of the whole file, where references to notes are looked up.
    """

    def __init__(self, root: Element) -> None:
        self.leaves: list[TextBlock] = []
        self._inline = Inline()
        self._pending: list[TextBlock] = []
        self._verse = Verse()
        self._kind: ParagraphKind = "prose"
        self._left_out = ""
        self._names: tuple[str, ...] = ()
        self._speaker = ""
        self._within = False  # a paragraph or a line
        self._heading = False
        self._notes, self._marks = references(root)
        self._made_names = 0

    def start_chapter(self) -> None:
        """Count lines anew."""
        self._verse.start_chapter()

    @property
    def lines_count(self) -> bool:
        """Whether lines of this chapter are cited by number: they have numbers, or are spoken in a play."""
        return self._verse.numbered

    @contextmanager
    def leaving_out(self, kind: str) -> Iterator[None]:
        """Leave out what is read meanwhile, as `kind`, which may be empty."""
        before, self._left_out = self._left_out, kind or self._left_out
        yield
        self.close()
        self._left_out = before

    def content(self, element: Element) -> None:
        """Read what is inside an element."""
        tight = is_tokenised(element)
        self._text(element.text, tight=tight)
        for child in element:
            if isinstance(child.tag, str):
                self.node(child)
            self._text(child.tail, tight=tight)

    def loose(self, text: str) -> None:
        """Take text that stands between elements."""
        self._inline.text(text)

    def heading(self, heads: list[Element]) -> list[str]:
        """Read headings, which are left out; return their lines."""
        self.close()
        lines: list[str] = []
        refs: list[str] = []
        for head in heads:
            self._read_label(head)
            taken, more = self._inline.take()
            lines += taken
            refs += more
        if lines:
            self._emit(TextBlock(lines=tuple(lines), left_out=self._left_out or "heading", refs=tuple(refs)))
        self._emit_pending()
        return lines

    def close(self) -> None:
        """End the paragraph or the verse that is being read."""
        lines, refs = self._inline.take()
        if lines:
            self._close_verse()
            self._emit(TextBlock(lines=(" ".join(lines),), kind=self._kind, speaker=self._speaker, refs=refs))
        else:
            self._verse.refs += refs
        self._close_verse()
        self._emit_pending()

    def node(self, element: Element) -> None:  # noqa: C901, PLR0912 - one branch for each kind of element
        """Read an element."""
        name = local_name(element)
        if name in SKIPPED:
            return
        if attribute(element, "id") in self._marks:
            self._inline.refs += self._marks[attribute(element, "id")]
        if name == "l":
            self._read_line(element)
        elif name == "note":
            self._read_note(element)
        elif name in {"lb", "pb", "cb", "gb", "milestone"}:
            self._break(element, name)
        elif name in {"choice", "app"}:
            self._choose(element)
        elif name in {"ref", "ptr"} and attribute(element, "target").lstrip("#") in self._notes:
            self._inline.refs.append(attribute(element, "target").lstrip("#"))
        elif name == "gap":
            self._inline.text("[…]")
        elif name in {"figure", "fw"}:
            self._aside(element, "illustration" if name == "figure" else "page number")
        elif name == "stage" and self._within:
            self._in_italics(element)
        elif name == "pc" and attribute(element, "join"):
            self._joined(element)
        elif name in INSIDE and (self._within or name == "cell"):
            self._inline.text(" ")
            self.content(element)
            self._inline.text(" ")
        elif name in BLOCKS or name in DIVISIONS or (name in EITHER and (not self._within or has_blocks(element))):
            if name in EITHER and not has_blocks(element) and is_run(element):
                self._run(element)
            else:
                self._block(element, name)
        else:
            self._run(element)

    def _run(self, element: Element) -> None:
        if is_italic(element):
            self._in_italics(element)
        else:
            self.content(element)

    def _block(self, element: Element, name: str) -> None:
        if name == "head":
            self.heading([element])
        elif name == "sp":
            self._speech(element)
        elif name == "speaker":
            self._say_speaker(element)
        elif name == "stage":
            before, self._within = self._within, True
            with self._as("stage"):
                self.content(element)
            self._within = before
        elif name in {"castlist", "set", "titlepage"}:
            self.close()
            with self.leaving_out("front matter"):
                self.content(element)
        elif name == "trailer":
            self.close()
            words = " ".join("".join(str(piece) for piece in element.itertext()).split())
            with self.leaving_out("end matter" if _THE_END.fullmatch(words) else ""):
                self.content(element)
        else:
            self.close()
            before = self._within
            self._within = name in _LIKE_PARAGRAPHS or not has_blocks(element)
            self.content(element)
            self._within = before
            self.close()

    def _speech(self, element: Element) -> None:
        self.close()
        before, self._speaker = self._speaker, ""
        self._verse.numbered = True
        self.content(element)
        self.close()
        self._speaker = before

    def _read_label(self, element: Element) -> None:
        before = self._within, self._heading
        self._within = self._heading = True
        self.content(element)
        self._within, self._heading = before

    def _say_speaker(self, element: Element) -> None:
        self.close()
        self._read_label(element)
        lines, refs = self._inline.take()
        if lines:
            self._emit(TextBlock(lines=(" ".join(lines),), left_out=self._left_out or "speaker", refs=refs))
            self._speaker = " ".join(lines).strip(" .:,;")
        self._emit_pending()

    def _read_line(self, element: Element) -> None:
        lines, refs = self._inline.take()
        if lines:
            self._close_verse()
            self._emit(TextBlock(lines=(" ".join(lines),), kind=self._kind, speaker=self._speaker, refs=refs))
        before_it = () if lines else refs
        before, self._within = self._within, True
        self.content(element)
        self._within = before
        lines, more = self._inline.take()
        number = self._verse.count(element)
        if lines and not self._verse.follows(number):
            self._close_verse()
        self._verse.refs += [*before_it, *more]
        if lines:
            self._verse.add(number, " ".join(lines))

    def _close_verse(self) -> None:
        if self._verse:
            lines, first, refs = self._verse.take()
            kind: ParagraphKind = self._kind if self._kind != "prose" else "verse"
            line = first if kind == "verse" else None  # lines in notes and directions are not told apart
            self._emit(TextBlock(lines=lines, kind=kind, speaker=self._speaker, line=line, refs=refs))

    def _read_note(self, element: Element) -> None:
        name = attribute(element, "id")
        if not name:
            self._made_names += 1
            name = f"note {self._made_names}"
        outer = self._inline, self._verse, self._pending, self.leaves, self._speaker, self._names
        state = self._within, self._heading
        self._inline, self._verse, self._pending, self.leaves = Inline(), Verse(), [], []
        self._speaker, self._names, self._within, self._heading = "", (name,), not has_blocks(element), False
        with self._as("note"):
            self.content(element)
        found = self.leaves
        self._inline, self._verse, self._pending, self.leaves, self._speaker, self._names = outer
        self._within, self._heading = state
        if is_editorial(element):
            found = [replace(leaf, left_out=leaf.left_out or "editor's note") for leaf in found]
        else:
            self._inline.refs.append(name)
        self._pending += found

    def _break(self, element: Element, name: str) -> None:
        if attribute(element, "break").lower() in {"no", "false"}:
            self._inline.glue()
        elif name == "lb":
            if self._heading:
                self._inline.line_break()
            else:
                self._inline.text(" ")

    def _choose(self, element: Element) -> None:
        inside = [child for child in element if isinstance(child.tag, str)]
        ranked = sorted(inside, key=lambda child: (*_PRINTED, local_name(child)).index(local_name(child)))
        if ranked:
            self._run(ranked[0])

    def _aside(self, element: Element, kind: str) -> None:
        words = [element.text or ""]
        for child in element:
            if local_name(child) and local_name(child) not in SKIPPED:
                words.append("".join(str(piece) for piece in child.itertext()))
            words.append(child.tail or "")
        words = [" ".join(line.split()) for line in words]
        lines = tuple(Inline.clean(line) for line in words if Inline.clean(line))
        if lines:
            self._pending.append(TextBlock(lines=lines, left_out=self._left_out or kind))

    def _in_italics(self, element: Element) -> None:
        if self._heading:
            self.content(element)
            return
        self._inline.open_italic()
        self.content(element)
        self._inline.close_italic()

    def _joined(self, element: Element) -> None:
        side = attribute(element, "join")
        if side in {"left", "both"}:
            self._inline.glue()
        self.content(element)
        if side in {"right", "both"}:
            self._inline.glue()

    @contextmanager
    def _as(self, kind: ParagraphKind) -> Iterator[None]:
        """Read paragraphs of a kind; a direction is nobody's speech."""
        self.close()
        before, speaker = self._kind, self._speaker
        self._kind, self._speaker = kind, ""
        yield
        self.close()
        self._kind, self._speaker = before, speaker

    def _text(self, text: str | None, *, tight: bool) -> None:
        if text and not (tight and text.isspace()):
            self._inline.text(text)

    def _emit(self, leaf: TextBlock) -> None:
        if self._left_out and not leaf.left_out:
            leaf = replace(leaf, left_out=self._left_out)
        if leaf.kind == "note":
            leaf = replace(leaf, names=self._names)
        self.leaves.append(leaf)

    def _emit_pending(self) -> None:
        pending, self._pending = self._pending, []
        for leaf in pending:
            self.leaves.append(replace(leaf, left_out=leaf.left_out or self._left_out))
