"""The words of an e-book's page as leaves, with what the page says about each."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from relic_core.library import epub_marks as marks
from relic_core.library.archives import resolve
from relic_core.library.inline import Inline
from relic_core.library.leaves import TextBlock, refuse_many_paragraphs
from relic_core.library.markup import attribute, local_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element as Element

_MOST_NAMES = 100
"""Of a note: each of its paragraphs is looked up by all of them."""
_LONG_LINE = 75
"""Characters; a line of verse is no longer where nothing says that it is verse."""
_HIDDEN = "hidden"
"""Why a leaf is left out that browsers do not show."""
_EDITORIAL = re.compile(
    r"(?:[\[(—–-]\s*|\s)(?:Ed|Tr|Trans|Transl|Editor|Translator|Transcriber)s?\.?(?:[’']s note)?\s*[\])]?\.?\s*$"
    r"|^\W*(?:(?:translator|editor|transcriber)[’']?s?[’']? note|note by the (?:translator|editor))",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Found:
    """A leaf where it stands.

    - `level`: 1 to 6 for a heading, 0 for anything else.
    - `role`: of a heading: "part" or "chapter" where the first heading of a section so marked; "section" where another
      one.
    - `anchors`: names of the places at its beginning; "" at the beginning of the page.
    - `linked`: all of it leads elsewhere in the book, as lines of a contents list do.
    """

    leaf: TextBlock
    page: str
    level: int = 0
    role: str = ""
    anchors: list[str] = field(default_factory=list)
    linked: bool = False


class Page:
    """Reads a page; `found` is what stands on it."""

    def __init__(self, root: Element, path: str) -> None:
        self.found: list[Found] = []
        self._path = path
        self._inline = Inline()
        self._anchors = [""]
        self._left_out = ""
        self._verse = False
        self._lines: list[str] = []
        self._line_refs: list[str] = []
        self._names: tuple[str, ...] = ()
        self._roles: list[list[str]] = []  # of the sections around; emptied by their first heading
        self._heading = False
        self._linked = [0, 0]  # characters in links, and all
        self._pending: list[TextBlock] = []  # what is left out inside a paragraph, to stand behind it
        for child in root if local_name(root) == "html" else [root]:
            if local_name(child) != "head":
                self._node(child)
        self._close()

    def _content(self, element: Element) -> None:
        self._text(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._node(child)
            self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if text:
            self._inline.text(text)
            self._linked[1] += len(text.strip())

    def _node(self, element: Element) -> None:
        name = local_name(element)
        for anchor in (attribute(element, "id"), element.get("name") if name == "a" else ""):
            if anchor:
                self._anchors.append(anchor)
        tokens = marks.tokens_of(element)
        hidden = element.get("hidden") is not None
        if name in marks.SKIPPED:
            return
        if marks.is_page_number(element, tokens):
            self._aside(element, "page number")
        elif not self._names and marks.is_note(element, tokens):
            self._note(element)
        elif hidden and name not in marks.BLOCKS and not marks.holds_blocks(element):
            self._aside(element, _HIDDEN)
        elif name in marks.BLOCKS or hidden:
            kind = marks.kind_of(element, tokens) or (_HIDDEN if hidden else "")
            role = marks.role_of(element) if name in {"section", "div", "article", "body"} else ""
            with self._inside(kind, role=role, verse=marks.is_verse(tokens) and not self._verse):
                self._block(element, name, tokens)
        else:
            self._run(element, name, tokens)

    def _block(self, element: Element, name: str, tokens: frozenset[str]) -> None:
        holds = marks.holds_blocks(element)
        if name in marks.HEADINGS or name == "hgroup":
            self._read_heading(element, name)
        elif name in marks.CELLS and not holds:
            self._inline.text(" ")
            self._content(element)
            self._inline.text(" ")
        elif name == "pre":
            self._preformatted(element)
        else:
            stanza = holds or not (marks.is_line(tokens) or name == "p")
            self._close(stanza=stanza)
            self._content(element)
            self._close(stanza=stanza)

    def _run(self, element: Element, name: str, tokens: frozenset[str]) -> None:
        if name == "br":
            self._inline.line_break()
        elif name == "img":
            if len(attribute(element, "alt").strip()) == 1:  # a drop cap
                self._text(attribute(element, "alt").strip())
        elif self._names and marks.is_return(element, tokens):
            return
        elif name == "a" and marks.is_reference(element, tokens):
            path, fragment = resolve(self._path, attribute(element, "href"))
            self._inline.refs.append(f"{path}#{fragment}")
        elif name == "a" and attribute(element, "href"):
            before = self._linked[1]
            self._content(element)
            if not re.match(r"\w+:", attribute(element, "href")):
                self._linked[0] += self._linked[1] - before
        elif self._verse and name == "span" and marks.is_line(tokens):
            self._inline.line_break()
            self._content(element)
            self._inline.line_break()
        elif marks.is_italic(element, tokens) and not self._heading:
            self._inline.open_italic()
            self._content(element)
            self._inline.close_italic()
        else:
            self._content(element)

    def _aside(self, element: Element, kind: str) -> None:
        words = Inline.clean("".join(str(piece) for piece in element.itertext()))
        if words:
            self._pending.append(TextBlock(lines=(words,), left_out=self._left_out or kind))

    def _read_heading(self, element: Element, name: str) -> None:
        self._close()
        self._heading = True
        if name == "hgroup":
            level = min(
                (marks.HEADINGS[local_name(each)] for each in element if local_name(each) in marks.HEADINGS), default=2
            )
            self._text(element.text)
            for child in element:
                if isinstance(child.tag, str):
                    self._content(child)
                self._inline.line_break()
                self._text(child.tail)
        else:
            level = marks.HEADINGS[name]
            self._content(element)
        self._heading = False
        lines, refs = self._inline.take()
        if not lines:  # the words are in a picture
            images = [attribute(each, "alt") for each in element.iter() if local_name(each) == "img"]
            lines = [line for line in (Inline.clean(said) for said in (attribute(element, "title"), *images)) if line][
                :1
            ]
        if lines:
            roles = self._roles[-1] if self._roles else []
            if self._left_out == _HIDDEN:
                roles = []  # the section is named by a heading that is seen
            role = roles.pop() if roles else ("section" if self._roles else "")
            self._emit(
                TextBlock(lines=tuple(lines), left_out=self._left_out or "heading", refs=refs), level=level, role=role
            )
        self._emit_pending()

    def _note(self, element: Element) -> None:
        self._close()
        ids = [attribute(each, "id") or each.get("name") for each in element.iter() if isinstance(each.tag, str)]
        parent = element.getparent()
        above = attribute(parent, "id") if parent is not None and parent[0] is element else ""
        names = (f"{self._path}#{name}" for name in (*self._anchors[-1:], above, *ids) if name)
        self._names = tuple(islice(names, _MOST_NAMES))
        before = len(self.found)
        self._content(element)
        self._close()
        self._names = ()
        words = " ".join(found.leaf.text for found in self.found[before:] if not found.leaf.left_out)
        if _EDITORIAL.search(words):
            for found in self.found[before:]:
                found.leaf = replace(found.leaf, left_out=self._left_out or "editor's note")

    def _preformatted(self, element: Element) -> None:
        self._close()
        text = "".join(str(piece) for piece in element.itertext())
        for block in re.split(r"\n[ \t]*\n", text):
            for line in block.split("\n"):
                self._text(line)
                self._inline.line_break()
            self._close()

    @contextmanager
    def _inside(self, kind: str, *, role: str, verse: bool) -> Iterator[None]:
        before = self._left_out, self._verse
        if kind or role or verse:
            self._close()
        self._left_out = self._left_out or kind
        self._verse = self._verse or verse
        if role:
            self._roles.append([role])
        yield
        if kind or role or verse:
            self._close()
        if role:
            self._roles.pop()
        self._left_out, self._verse = before

    def _close(self, *, stanza: bool = True) -> None:
        """End the paragraph being read; lines of verse that stand each in a block of its own are one stanza."""
        lines, refs = self._inline.take()
        linked, self._linked = self._linked, [0, 0]
        if self._verse and not self._names and not stanza and len(lines) < 2:  # noqa: PLR2004 - one line or none
            self._lines += lines
            self._line_refs += refs
            return
        if self._lines:
            whole, more = tuple(self._lines), tuple(self._line_refs)
            self._lines, self._line_refs = [], []
            self._emit(TextBlock(lines=whole, kind="verse", left_out=self._left_out, refs=more))
        if not lines:
            self._inline.refs += refs
            self._emit_pending()
            return
        all_linked = linked[1] > 0 and linked[0] >= linked[1]
        if self._names:
            leaf = TextBlock(lines=(" ".join(lines),), kind="note", left_out=self._left_out, names=self._names)
        elif self._verse or _looks_like_verse(lines):
            leaf = TextBlock(lines=tuple(lines), kind="verse", left_out=self._left_out, refs=refs)
        else:
            leaf = TextBlock(lines=(" ".join(lines),), left_out=self._left_out, refs=refs)
        self._emit(leaf, linked=all_linked)
        self._emit_pending()

    def _emit(self, leaf: TextBlock, *, level: int = 0, role: str = "", linked: bool = False) -> None:
        refuse_many_paragraphs(len(self.found), what="The EPUB")
        anchors, self._anchors = self._anchors, []
        self.found.append(Found(leaf, self._path, level, role, anchors, linked))

    def _emit_pending(self) -> None:
        pending, self._pending = self._pending, []
        self.found += [Found(leaf, self._path) for leaf in pending]  # no anchors: nothing leads to them


def _looks_like_verse(lines: list[str]) -> bool:
    """Whether lines broken on purpose are short and most begin with a capital: verse, an address, an inscription."""
    if len(lines) < 2 or max(map(len, lines)) > _LONG_LINE:  # noqa: PLR2004 - one line is none broken
        return False
    capitals = sum(not line.lstrip("_\"'“‘(—[")[:1].islower() for line in lines)
    return capitals > 0.6 * len(lines)
