"""TEI: the header, names of divisions, verse and speeches of an edition in XML."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.domain import EditionDetails
from relic_core.errors import BadText
from relic_core.library.blocks import Inline, Item, Named, Opening, TextBlock, name_heading
from relic_core.library.composing import Edition, compose
from relic_core.library.edition_details import edition_of
from relic_core.library.markup import attribute, decode_markup, local_name, parse_xml, person_name
from relic_core.text.metadata import Metadata, speaks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element as Element

    from relic_core.domain import ParagraphKind
    from relic_core.ports import Segmenter


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


_EDITION_WORDS = re.compile(
    r"\s*[:;,.\-–—(\[]*\s*(?:\bELTeC edition\b|\b(?:an? )?(?:machine[- ]readable|electronic|digital|TEI|XML|encoded)\b"
    r"[\w\s-]{0,30}?\b(?:version|edition|transcription|text|resource)\b)[\s.)\]]*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[0-9]\d\d|20\d\d)(?!\d)")
_TRANSLATES = re.compile(r"transl|\btrl\b|\btr\.", re.IGNORECASE)
_DIGITAL = re.compile(r"digital|electronic|online|web", re.IGNORECASE)
_FIRST = re.compile(r"first|original|copytext0", re.IGNORECASE)


def read_header(root: Element) -> Metadata:
    """Read the first header of a file; of a corpus, that is the corpus's own.

    The year is that of a first edition where one is told apart, else of the work's creation, else the earliest of the
    printed sources; the file's own publication is none of them.
    """
    header = next((element for element in root if local_name(element) == "teiheader"), None)
    if header is None:
        return Metadata()
    statement = _first(header, "titlestmt")
    authors = [_text(author) for author in _children(statement, "author")]
    return Metadata(
        title=_title(statement),
        author=" and ".join(filter(None, map(person_name, dict.fromkeys(authors)))),
        translator=person_name(_translator(statement)),
        year=_year(header),
    )


def read_details(root: Element) -> EditionDetails:
    """Read what the first header says of the edition: its editors, its language, and the printed book it was made from.

    Of several printed sources the one counts that is not told to be a first edition.
    """
    header = next((element for element in root if local_name(element) == "teiheader"), None)
    if header is None:
        return EditionDetails()
    editors = [
        _text(next(iter(_children(each, "name", "persname")), each))
        for each in _children(_first(header, "titlestmt"), "editor")
        if not _TRANSLATES.search(attribute(each, "role"))
    ]
    sources = [source for element in header.iter() if local_name(element) == "sourcedesc" for source in _bibls(element)]
    printed = [
        each
        for each in sources
        if not _DIGITAL.search(attribute(each, "type")) and _first(each, "publisher") is not None
    ]
    book = next((each for each in printed if not _FIRST.search(attribute(each, "type"))), next(iter(printed), None))
    language = _first(header, "language")
    if book is None:
        return edition_of(editor=_people(editors), language="" if language is None else _text(language))
    place, publisher = _first(book, "pubplace"), _first(book, "publisher")
    return edition_of(
        editor=_people(editors),
        language="" if language is None else _text(language),
        place="" if place is None else _text(place),
        publisher="" if publisher is None else _text(publisher),
        year=max(_years([book]), default=None),
    )


def _people(names: Iterable[str]) -> str:
    return "; ".join(filter(None, dict.fromkeys(map(person_name, names))))


def _title(statement: Element | None) -> str:
    titles = _children(statement, "title")
    for kinds in ({"main", "uniform"}, {""}):
        found = [_text(title) for title in titles if attribute(title, "type").lower() in kinds]
        if found and found[0]:
            break
    else:
        found = [_text(title) for title in titles]
    title = found[0] if found else ""
    shorter = _EDITION_WORDS.sub("", title).strip(" :;,")
    return shorter or title


def _translator(statement: Element | None) -> str:
    for element in _children(statement, "editor", "author", "respstmt", "translator"):
        role = attribute(element, "role") + " " + " ".join(_text(resp) for resp in _children(element, "resp"))
        if local_name(element) == "translator" or _TRANSLATES.search(role):
            names = _children(element, "name", "persname")
            return _text(names[0]) if names else _text(element)
    return ""


def _year(header: Element) -> int | None:
    sources = [source for element in header.iter() if local_name(element) == "sourcedesc" for source in _bibls(element)]
    first = _years(element for element in sources if _FIRST.search(attribute(element, "type")))
    created = _years(element for element in header.iter() if local_name(element) == "creation")
    printed = _years(element for element in sources if not _DIGITAL.search(attribute(element, "type")))
    return min(first or created or printed, default=None)


def _bibls(source: Element) -> Iterator[Element]:
    for child in source:
        name = local_name(child)
        if name.startswith(("bibl", "msdesc")) or name == "p":
            inside = [each for each in child if local_name(each).startswith("bibl") and attribute(each, "type")]
            yield from inside or [child]
        elif name == "listbibl":
            yield from child


def _years(elements: Iterable[Element]) -> list[int]:
    found = []
    for element in elements:
        for date in element.iter():
            if local_name(date) not in {"date", "docdate", "origdate"}:
                continue
            if any(local_name(above).startswith(("author", "pers", "person")) for above in date.iterancestors()):
                continue  # of birth and death
            given = next(
                (attribute(date, name) for name in ("when", "value", "from", "notBefore") if attribute(date, name)), ""
            )
            year = _YEAR.search(given) or _YEAR.search(_text(date))
            if year:
                found.append(int(year[1]))
    return found


def _first(element: Element, name: str) -> Element | None:
    return next((each for each in element.iter() if local_name(each) == name), None)


def _children(element: Element | None, *names: str) -> list[Element]:
    return [] if element is None else [child for child in element if local_name(child) in names]


def _text(element: Element) -> str:
    return " ".join("".join(str(piece) for piece in element.itertext()).split())


_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")


class Verse:
    """The stanza that is being read, and how far the lines of its chapter are counted.

    - `refs`: names of the notes that hang on the stanza.
    - `numbered`: lines of this chapter are cited by number: they have numbers, or are spoken in a play.
    """

    def __init__(self) -> None:
        self.refs: list[str] = []
        self.numbered = False
        self._lines: list[str] = []
        self._first = 0
        self._last = 0  # of the chapter, printed or empty

    def __bool__(self) -> bool:
        """Whether it has a line."""
        return bool(self._lines)

    def start_chapter(self) -> None:
        """Count lines anew."""
        self._last, self.numbered = 0, False

    def count(self, element: Element) -> int:
        """Give a line its number, as it says or by the one before it."""
        given = _LAST_NUMBER.search(attribute(element, "n"))
        if given:
            self._last, self.numbered = int(given[1]), True
        elif attribute(element, "part").upper() not in {"M", "F"}:  # these go on with a line of the speaker before
            self._last += 1
        else:
            self._last = max(1, self._last)
        return self._last

    def follows(self, number: int) -> bool:
        """Whether a line of that number goes on the stanza: the number after its last, for places count its lines."""
        return not self._lines or number == self._first + len(self._lines)

    def add(self, number: int, line: str) -> None:
        """Take a line that `follows`."""
        if not self._lines:
            self._first = number
        self._lines.append(line)

    def take(self) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
        """Return the lines, the number of the first, and the references to notes; begin a new stanza."""
        taken = tuple(self._lines), self._first, tuple(self.refs)
        self._lines, self.refs = [], []
        return taken


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


ROOTS = frozenset({"tei", "tei.2", "teicorpus", "teicorpus.2"})
"""Names of root elements, in small letters."""
_WHAT = "The TEI file"
_NUMBER = re.compile(r"\d{1,4}|[IVXLCivxlc]{1,9}")
_BY_ANOTHER = re.compile(r"edit|translat|publish|transcri|biograph|life of", re.IGNORECASE)


def read_tei(
    data: bytes, *, name: str, metadata: Metadata, source: str, max_bytes: int, segmenter: Segmenter | None
) -> Edition:
    """Read a work from the bytes of a TEI file.

    Raises BadText: it is damaged, has no body, or holds no text of a work.
    Raises UnsafeFile: it uses entities that are not resolved.
    """
    root = parse_xml(decode_markup(data, what=_WHAT, max_bytes=max_bytes), what=_WHAT)
    if all(local_name(element) != "body" for element in root.iter()):
        raise BadText(
            "The TEI file has no <body>: it holds a header, or pictures of pages, but no text. Add the file of the "
            "same edition that has the text; its <text> element holds a <body>."
        )
    metadata = replace(read_header(root), **metadata.given)
    texts = _Texts(root, metadata.author)
    work = compose(texts.items, metadata, name=name, source=source, form="TEI", segmenter=segmenter)
    return Edition(work, details=read_details(root))


class _Texts:
    """Walks the divisions of a file; `items` is what it found."""

    def __init__(self, root: Element, author: str) -> None:
        self.items: list[Item] = []
        self._blocks = Blocks(root)
        self._author = author
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
        return not speaks_of(self._author, words)

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
