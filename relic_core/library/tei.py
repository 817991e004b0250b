"""TEI: the header, names of divisions, verse and speeches of an edition in XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

from lxml.etree import _Element as Element

from relic_core.domain import EditionDetails, ParagraphKind
from relic_core.errors import BadText
from relic_core.library.blocks import Inline, Item, Named, Opening, TextBlock, name_heading
from relic_core.library.composing import Edition, compose
from relic_core.library.edition_details import edition_of
from relic_core.library.epub import aside_kind
from relic_core.library.markup import (
    attribute,
    decode_markup,
    descendants,
    local_name,
    parse_xml,
    person_name,
    text_of,
    words_of,
)
from relic_core.ports import Segmenter
from relic_core.text.metadata import Metadata, speaks_of

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
"""Elements that are in a paragraph or hold paragraphs."""
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
    kinds = f"{attribute(note, 'type')} {attribute(note, 'place')} {attribute(note, 'subtype')}"
    by = attribute(note, "resp").lstrip("#").lower()
    return bool(_EDITORIAL.search(kinds)) or (bool(by) and not by.startswith("aut"))


def is_italic(element: Element) -> bool:
    """Whether the words of an element are printed in italics."""
    look = " ".join(attribute(element, each) for each in ("rend", "rendition", "style"))
    if look.strip():
        return bool(_ITALIC.search(look)) and not _UPRIGHT.search(look)
    return local_name(element) in {"emph", "hi"}


def leading_heads(element: Element) -> list[Element]:
    """Return the headings at the beginning of a division, where nothing but marks of pages stands between them."""
    heads = []
    for child in element:
        name = local_name(child)
        if name == "head":
            heads.append(child)
        elif name not in _PAGE_MARKS or attribute(child, "unit") in CHAPTERS:
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
    """Whether an element that may be in a line holds paragraphs."""
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
    """Find the names of notes, and which notes say that they belong to a place with a name."""
    notes: set[str] = set()
    marks: dict[str, list[str]] = {}
    for note in descendants(root, "note"):
        if name := attribute(note, "id"):
            notes.add(name)
            if target := attribute(note, "target").lstrip("#"):
                marks.setdefault(target, []).append(name)
    return notes, marks


_DIGITAL_WORDS = (
    r"(?:machine[- ]readable|maschinenlesbare\w*|electronic|elektronische\w*|[eé]lectronique|electr[oó]nica|"
    r"elettronica|digitale?\w*|num[eé]rique|TEI|XML|encoded|ELTeC)"
)
_EDITION = r"(?:[eé]ditions?|edici[oó]n|edi[cç][aã]o|edizione|Ausgabe|Fassung|versi[oó]ne?|transcription|text|resource)"
_EDITION_WORDS = re.compile(
    rf"\s*[:;,.\-–—(\[]*\s*\b(?:(?:an? )?{_DIGITAL_WORDS}\b[\w\s-]{{0,30}}?\b{_EDITION}|"
    rf"{_EDITION}\s+{_DIGITAL_WORDS})\b[\s.)\]]*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[0-9]\d\d|20\d\d)(?!\d)")
_TRANSLATES = re.compile(r"transl|\btrl\b|\btr\.", re.IGNORECASE)
_DIGITAL = re.compile(r"digital|electronic|online|web|https?:", re.IGNORECASE)
_FIRST = re.compile(r"first|original|copytext0", re.IGNORECASE)


def read_header(root: Element) -> tuple[Metadata, EditionDetails]:
    """Read what the first header of a file says of the work and of the edition; of a corpus, that is the corpus's own.

    The year of the work is that of its print or first performance where the file lists these events, else of a first
    edition where one is marked, else of the work's creation, else the earliest of the printed sources; the file's own
    publication is none of them. The edition is the printed book that the file
    was made from: of several printed sources the one that is not marked as a first edition.
    """
    header = next((element for element in root if local_name(element) == "teiheader"), None)
    if header is None:
        return Metadata(), EditionDetails()
    statement = next(descendants(header, "titlestmt"), None)
    sources = list(chain.from_iterable(map(_bibls, descendants(header, "sourcedesc"))))
    firsts = [each for each in sources if _FIRST.search(attribute(each, "type"))]
    printed = [each for each in sources if not _DIGITAL.search(attribute(each, "type"))]
    dated = [each for each in printed if each in firsts or not _DIGITAL.search(words_of(each))]
    editors = [each for each in _children(statement, "editor") if not _TRANSLATES.search(attribute(each, "role"))]
    year = _performed(root) or min(_years(firsts) or _years(descendants(header, "creation")), default=None)
    metadata = Metadata(
        title=_title(statement),
        author=" and ".join(_people(_children(statement, "author"))),
        translator=_translator(statement),
        year=year or min(_years(dated), default=None),
        guessed=() if year else ("year",),
    )
    books = [each for each in printed if next(descendants(each, "publisher"), None) is not None]
    books.sort(key=lambda each: each in firsts)
    details = edition_of(
        editor="; ".join(_people(editors)),
        language=_first_words(header, "language"),
        place=_first_words(books[0], "pubplace") if books else "",
        publisher=_first_words(books[0], "publisher") if books else "",
        year=max(_years(books[:1]), default=None),
    )
    return metadata, details


def _people(elements: Iterable[Element]) -> Iterator[str]:
    return filter(None, dict.fromkeys(map(_person, elements)))


_BESIDE_NAMES = frozenset({"idno", "rolename", "date", "birth", "death", "note", "ref", "ptr", "resp", "affiliation"})


def _person(element: Element) -> str:
    """Read a name, of several forms the first; where its parts are marked, in the order in which they are spoken."""
    named = next(descendants(element, "persname"), next(iter(_children(element, "name")), element))

    def parts(*names: str) -> str:
        return " ".join(words_of(each) for each in descendants(named, *names))

    if surname := parts("surname"):
        return " ".join(
            filter(None, (parts("forename"), parts("namelink"), surname.replace(" ", "\xa0"), parts("genname")))
        )
    return person_name(" ".join(_name_text(named).split()) or attribute(element, "key"))


def _name_text(element: Element) -> str:
    inside = (
        f"{'' if local_name(each) in {'', *_BESIDE_NAMES} else _name_text(each)} {each.tail or ''}" for each in element
    )
    return f"{element.text or ''}{''.join(inside)}"


def _performed(root: Element) -> int | None:
    """Give the year of print, else of the first performance, else of writing, of the events that a file lists."""
    events: list[Element] = []
    for listed in descendants(root, "standoff"):
        events.extend(descendants(listed, "event"))
    for kind in ("print", "premiere", "written"):
        years = _years(each for each in events if kind_of(each) == kind)
        if years:
            return min(years)
    return None


def _first_words(element: Element, name: str) -> str:
    return next(map(words_of, descendants(element, name)), "")


def _title(statement: Element | None) -> str:
    titles = [(attribute(title, "type").lower(), words_of(title)) for title in _children(statement, "title")]
    for kinds in ({"main", "uniform"}, {""}):
        found = [title for kind, title in titles if kind in kinds]
        if found and found[0]:
            break
    else:
        found = [title for _, title in titles]
    title = found[0] if found else ""
    return _EDITION_WORDS.sub("", title).strip(" :;,") or title


def _translator(statement: Element | None) -> str:
    for element in _children(statement, "editor", "author", "respstmt", "translator"):
        role = attribute(element, "role") + " " + " ".join(words_of(resp) for resp in _children(element, "resp"))
        if local_name(element) == "translator" or _TRANSLATES.search(role):
            return _person(element)
    return ""


def _bibls(source: Element) -> Iterator[Element]:
    for child in source:
        name = local_name(child)
        if name.startswith(("bibl", "msdesc")) or name == "p":
            inside = [each for each in child if local_name(each).startswith("bibl") and attribute(each, "type")]
            yield from inside or [child]
        elif name == "listbibl":
            yield from child


def _years(elements: Iterable[Element]) -> list[int]:
    years = []
    dates = (descendants(element, "date", "docdate", "origdate", "event") for element in elements)
    for date in chain.from_iterable(dates):
        if any(local_name(above).startswith(("author", "pers", "person")) for above in date.iterancestors()):
            continue  # of birth and death
        given = next(
            filter(None, (attribute(date, name) for name in ("when", "value", "from", "notBefore", "to", "notAfter"))),
            "",
        )
        year = _YEAR.search(given) or _YEAR.search(words_of(date))
        if year:
            years.append(int(year[1]))
    return years


def _children(element: Element | None, *names: str) -> list[Element]:
    return [] if element is None else [child for child in element if local_name(child) in names]


_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")


class Verse:
    """The stanza that is being read, the notes on it, and how far the lines of its chapter are counted."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first = 0
        self.refs: list[str] = []
        self.numbered = False
        self._last = 0  # of the chapter, printed or empty

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


_THE_END = re.compile(r"\W*(?:the end|end|finis|fin|explicit)\W*", re.IGNORECASE)
_LIKE_PARAGRAPHS = {"p", "ab", "opener", "closer", "row", "byline"}
_PRINTED = ("sic", "orig", "abbr", "lem", "rdg")
"""Of alternatives in the encoding, the one that is printed."""


class BlockReader:
    """Reads elements one after the other; what it finds it appends to `blocks`; `root` is that of the whole file."""

    def __init__(self, root: Element) -> None:
        self.blocks: list[Item] = []
        self.inline = Inline()
        self._pending: list[TextBlock] = []
        self.verse = Verse()
        self._kind: ParagraphKind = "prose"
        self._left_out = ""
        self._names: tuple[str, ...] = ()
        self._speaker = ""
        self._within = False  # a paragraph or a line
        self._heading = False
        self._notes, self._marks = references(root)
        self._adds_quotes = any(attribute(each, "marks") == "none" for each in descendants(root, "quotation"))
        self._made_names = 0

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
        quoted = self._adds_quotes and local_name(element) in {"q", "said"} and not has_blocks(element)
        if quoted:
            self.inline.open_quote()
        self._text(element.text, tight=tight)
        for child in element:
            if isinstance(child.tag, str):
                self.node(child)
            self._text(child.tail, tight=tight)
        if quoted:
            self.inline.close_quote()

    def heading(self, heads: list[Element]) -> list[str]:
        """Read headings, which are left out; return their lines."""
        self.close()
        lines: list[str] = []
        refs: list[str] = []
        for head in heads:
            self._read_label(head)
            taken, more = self.inline.take()
            lines += taken
            refs += more
        if lines:
            self._emit(TextBlock(lines=tuple(lines), left_out=self._left_out or "heading", refs=tuple(refs)))
        self._emit_pending()
        return lines

    def close(self) -> None:
        """End the paragraph or the verse that is being read."""
        self.verse.refs += self._close_prose()
        self._close_verse()
        self._emit_pending()

    def _close_prose(self) -> tuple[str, ...]:
        """End the paragraph that is being read; where it has no words, return its references to notes."""
        lines, refs = self.inline.take()
        if not lines:
            return refs
        self._close_verse()
        self._emit(TextBlock(lines=(" ".join(lines),), kind=self._kind, speaker=self._speaker, refs=refs))
        return ()

    def node(self, element: Element) -> None:  # noqa: C901, PLR0912 - one branch for each kind of element
        """Read an element."""
        name = local_name(element)
        if name in SKIPPED:
            return
        if attribute(element, "id") in self._marks:
            self.inline.refs += self._marks[attribute(element, "id")]
        if name == "l":
            self._read_line(element)
        elif name == "note":
            self._read_note(element)
        elif name in {"lb", "pb", "cb", "gb", "milestone"}:
            self._break(element, name)
        elif name in {"choice", "app"}:
            self._choose(element)
        elif name in {"ref", "ptr"} and attribute(element, "target").lstrip("#") in self._notes:
            self.inline.refs.append(attribute(element, "target").lstrip("#"))
        elif name == "gap":
            self.inline.text("[—]")  # "[…]" would end a sentence
        elif name in {"figure", "fw"}:
            self._aside(element, "illustration" if name == "figure" else "page number")
        elif name == "stage" and self._within:
            self._in_italics(element)
        elif name == "pc" and attribute(element, "join"):
            self._joined(element)
        elif name in INSIDE and (self._within or name == "cell"):
            self.inline.text(" ")
            self.content(element)
            self.inline.text(" ")
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
            self._read_speaker(element)
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
            with self.leaving_out("end matter" if _THE_END.fullmatch(words_of(element)) else ""):
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
        self.verse.numbered = True
        self.content(element)
        self.close()
        self._speaker = before

    def _read_label(self, element: Element) -> None:
        before = self._within, self._heading
        self._within = self._heading = True
        self.content(element)
        self._within, self._heading = before

    def _read_speaker(self, element: Element) -> None:
        self.close()
        self._read_label(element)
        lines, refs = self.inline.take()
        if lines:
            self._emit(TextBlock(lines=(" ".join(lines),), left_out=self._left_out or "speaker", refs=refs))
            self._speaker = " ".join(lines).strip(" .:,;")
        self._emit_pending()

    def _read_line(self, element: Element) -> None:
        refs = self._close_prose()
        before, self._within = self._within, True
        self.content(element)
        self._within = before
        lines, more = self.inline.take()
        number = self.verse.count(element)
        if lines and number != self.verse.first + len(self.verse.lines):  # places count the lines of a stanza
            self._close_verse()
            self.verse.first = number
        self.verse.refs += [*refs, *more]
        if lines:
            self.verse.lines.append(" ".join(lines))

    def _close_verse(self) -> None:
        if self.verse.lines:
            lines, refs = tuple(self.verse.lines), tuple(self.verse.refs)
            self.verse.lines, self.verse.refs = [], []
            kind: ParagraphKind = self._kind if self._kind != "prose" else "verse"
            line = self.verse.first if kind == "verse" else None  # lines in notes and directions have no numbers
            self._emit(TextBlock(lines=lines, kind=kind, speaker=self._speaker, line=line, refs=refs))

    def _read_note(self, element: Element) -> None:
        name = attribute(element, "id")
        if not name:
            self._made_names += 1
            name = f"note {self._made_names}"
        outer = self.inline, self.verse, self._pending, self.blocks, self._speaker, self._names
        state = self._within, self._heading
        self.inline, self.verse, self._pending, self.blocks = Inline(), Verse(), [], []
        self._speaker, self._names, self._within, self._heading = "", (name,), not has_blocks(element), False
        with self._as("note"):
            self.content(element)
        found = [block for block in self.blocks if isinstance(block, TextBlock)]
        self.inline, self.verse, self._pending, self.blocks, self._speaker, self._names = outer
        self._within, self._heading = state
        if is_editorial(element):
            found = [replace(block, left_out=block.left_out or "editor's note") for block in found]
        else:
            self.inline.refs.append(name)
        self._pending += found

    def _break(self, element: Element, name: str) -> None:
        if attribute(element, "break").lower() in {"no", "false"}:
            self.inline.glue()
        elif name == "lb" and self._heading:
            self.inline.line_break()
        elif name == "milestone" and attribute(element, "unit") in CHAPTERS and not self._names:
            self.close()
            self.blocks.append(Opening(number=attribute(element, "n").strip()))
        elif name == "lb":
            self.inline.line_end()
        elif name != "milestone":
            self.inline.line_end("")

    def _choose(self, element: Element) -> None:
        inside = [child for child in element if isinstance(child.tag, str)]
        ranked = sorted(inside, key=lambda child: (*_PRINTED, local_name(child)).index(local_name(child)))
        if ranked:
            self._run(ranked[0])

    def _aside(self, element: Element, kind: str) -> None:
        words = [element.text or ""]
        for child in element:
            if local_name(child) and local_name(child) not in SKIPPED:
                words.append(text_of(child))
            words.append(child.tail or "")
        words = [" ".join(line.split()) for line in words]
        lines = tuple(Inline.clean(line) for line in words if Inline.clean(line))
        if lines:
            self._pending.append(TextBlock(lines=lines, left_out=self._left_out or kind))

    def _in_italics(self, element: Element) -> None:
        if self._heading:
            self.content(element)
            return
        self.inline.open_italic()
        self.content(element)
        self.inline.close_italic()

    def _joined(self, element: Element) -> None:
        side = attribute(element, "join")
        if side in {"left", "both"}:
            self.inline.glue()
        self.content(element)
        if side in {"right", "both"}:
            self.inline.glue()

    @contextmanager
    def _as(self, kind: ParagraphKind) -> Iterator[None]:
        self.close()
        before, speaker = self._kind, self._speaker
        self._kind, self._speaker = kind, ""
        yield
        self.close()
        self._kind, self._speaker = before, speaker

    def _text(self, text: str | None, *, tight: bool) -> None:
        if text and not (tight and text.isspace()):
            self.inline.text(text)

    def _emit(self, block: TextBlock) -> None:
        if self._left_out and not block.left_out:
            block = replace(block, left_out=self._left_out)
        if block.kind == "note":
            block = replace(block, names=self._names)
        self.blocks.append(block)

    def _emit_pending(self) -> None:
        pending, self._pending = self._pending, []
        for block in pending:
            self.blocks.append(replace(block, left_out=block.left_out or self._left_out))


ROOTS = frozenset({"tei", "tei.2", "teicorpus", "teicorpus.2"})
"""Names of root elements, in small letters."""
_WHAT = "The TEI file"
_NUMBER = re.compile(r"\d{1,4}|[IVXLCivxlc]{1,9}")
_BY_ANOTHER = re.compile(r"edit|translat|publish|transcri|biograph|life of", re.IGNORECASE)


def read_tei(
    data: bytes, *, name: str, metadata: Metadata, source: str, max_bytes: int, segmenter: Segmenter | None
) -> Edition:
    """Read a work from the bytes of a TEI file. Raises BadText: it has no body, or holds no text of a work."""
    root = parse_xml(decode_markup(data, what=_WHAT, max_bytes=max_bytes), what=_WHAT)
    if next(descendants(root, "body"), None) is None:
        raise BadText(
            "The TEI file has no <body>: it holds a header, or pictures of pages, but no text. Add the file of the "
            "same edition that has the text; its <text> element holds a <body>."
        )
    header, details = read_header(root)
    metadata = header.corrected(metadata)
    texts = _Texts(root, metadata.author)
    work = compose(texts.items, metadata, name=name, source=source, form="TEI", segmenter=segmenter)
    return Edition(work, details=details)


class _Texts:
    """Walks the divisions of a file; `items` is what it found."""

    def __init__(self, root: Element, author: str) -> None:
        self.items: list[Item] = []
        self._reader = BlockReader(root)
        self._author = author
        self._chapter = 0  # where in the items the blocks of the current chapter begin
        self._above = ""  # the divisions around
        self._in_chapter = False
        self._corpus(root, ()) if local_name(root).startswith("teicorpus") else self._edition(root, ())
        self._end_chapter()

    def _corpus(self, root: Element, parts: tuple[str, ...]) -> None:
        for child in root:
            if local_name(child).startswith("teicorpus"):
                self._corpus(child, parts)
            elif local_name(child) in ROOTS:
                title = read_header(child)[0].title
                self._begin(Opening(title=title, part=", ".join(parts), holds=True))
                self._edition(child, (*parts, title) if title else parts)

    def _edition(self, element: Element, parts: tuple[str, ...]) -> None:
        for child in element:
            if local_name(child) == "text":
                self._text(child, parts)

    def _walk(
        self, element: Element, read: Callable[[Element], None], *, kind: str = "", skip: Sequence[Element] = ()
    ) -> None:
        self._loose(element.text, kind)
        for child in element:
            if local_name(child) and child not in skip:
                read(child)
            self._loose(child.tail, kind)

    def _loose(self, text: str | None, kind: str) -> None:
        if text and text.strip():
            with self._reader.leaving_out(kind) if kind else nullcontext():
                self._reader.inline.text(text)

    def _text(self, element: Element, parts: tuple[str, ...]) -> None:
        self._walk(element, partial(self._text_child, parts=parts))
        self._end()

    def _text_child(self, child: Element, parts: tuple[str, ...]) -> None:
        name = local_name(child)
        if name in {"front", "back"}:
            self._end()
            kind = "front matter" if name == "front" else "end matter"
            self._walk(child, partial(self._outside, parts=parts, kind=kind), kind=kind)
        elif name in DIVISIONS and self._by_another(child):
            self._end()
            with self._reader.leaving_out("front matter"):
                self._reader.node(child)
            self._end()
        elif name == "body" or name in DIVISIONS:
            self._division(child, parts)
        elif name == "group":
            heads = leading_heads(child)
            label = self._head(child, heads, parts, holds=True)
            self._walk(child, partial(self._text_child, parts=(*parts, label) if label else parts), skip=heads)
        elif name == "text":
            self._text(child, parts)
        else:
            self._inside(child)

    def _outside(self, child: Element, parts: tuple[str, ...], kind: str) -> None:
        """Read what is in front or back matter; loose blocks and divisions by another hand are left out."""
        if local_name(child) in DIVISIONS and holds_notes(child):
            self._notes(child, kind)
        elif local_name(child) in {*DIVISIONS, "prologue", "epilogue"} and self._is_authors(child):
            self._division(child, parts)
        else:
            with self._reader.leaving_out(kind):
                self._reader.node(child)
            self._end()

    def _is_authors(self, element: Element) -> bool:
        kind = local_name(element) if local_name(element) not in DIVISIONS else kind_of(element)
        head = _head_of(element)
        if not (AUTHORS_PIECES.fullmatch(kind) or name_heading([head]).level == "named"):
            return False
        words = " ".join(str(piece) for piece in element.itertext())
        if _BY_ANOTHER.search(f"{head} {attribute(element, 'resp')}") and not re.search("author", head, re.IGNORECASE):
            return False
        return not speaks_of(self._author, words)

    def _by_another(self, division: Element) -> bool:
        """Whether a division in the body, before the work begins, is a piece by another hand."""
        head = _head_of(division)
        named = name_heading([head])
        if named.by_another or any(isinstance(item, TextBlock) and not item.left_out for item in self.items):
            return named.by_another
        return bool(aside_kind(head)) or (named.word == "front" and not self._is_authors(division))

    def _notes(self, element: Element, kind: str) -> None:
        """Read a collection of notes: each goes to where it is referred to."""
        self._walk(element, partial(self._note, kind=kind), kind="note")

    def _note(self, child: Element, kind: str) -> None:
        name = local_name(child)
        holds = name in {"note", "item"} and any(local_name(each) == "note" for each in child)
        if name in DIVISIONS or name == "list" or holds:
            self._notes(child, kind)
        elif name == "note":
            self._reader.node(child)
        else:
            with self._reader.leaving_out(kind if name == "head" else "note"):
                self._reader.node(child)
        self._end()

    def _division(self, element: Element, parts: tuple[str, ...]) -> None:
        holds, heads = divides(element), leading_heads(element)
        label = self._head(element, heads, parts, holds=holds)
        below = (*parts, label) if label else parts
        self._walk(element, partial(self._part, parts=below) if holds else self._inside, skip=heads)
        self._end()

    def _part(self, child: Element, parts: tuple[str, ...]) -> None:
        name = local_name(child)
        if name in DIVISIONS and holds_notes(child):
            self._end()
            self._notes(child, "end matter")
        elif name in {*DIVISIONS, "text", "group", "body"}:
            self._end()
            self._text_child(child, parts)
        else:
            self._inside(child)

    def _inside(self, element: Element) -> None:
        if local_name(element) in DIVISIONS and holds_notes(element):
            self._end()
            self._notes(element, "heading")
        else:
            self._reader.node(element)

    def _head(self, element: Element, heads: list[Element], parts: tuple[str, ...], *, holds: bool) -> str:
        self._end()
        before = len(self._reader.blocks)
        lines = self._reader.heading(heads)
        heading = self._reader.blocks[before:]
        del self._reader.blocks[before:]
        named = name_heading(lines) if lines else _by_attributes(element)
        self._above = ", ".join(filter(None, (*parts, named.label.rstrip(" .:"))))
        self._in_chapter = kind_of(element) in CHAPTERS or named.level == "chapter"
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
        self._reader.verse.start_chapter()

    def _end(self) -> None:
        self._reader.close()
        blocks, self._reader.blocks = self._reader.blocks, []
        for block, following in pairwise([*blocks, None]):
            if isinstance(block, Opening):
                self._begin_at_milestone(block, following)
            elif block is not None:
                self.items.append(block)

    def _begin_at_milestone(self, opening: Opening, following: Item | None) -> None:
        """Begin a chapter that no division holds, unless one has just begun; a heading below it names it."""
        held = self.items[self._chapter :]
        if self._in_chapter and all(each.left_out for each in held if isinstance(each, TextBlock)):
            return
        number = opening.number if _NUMBER.fullmatch(opening.number) else ""
        title = "" if number else opening.number
        if isinstance(following, TextBlock) and following.left_out == "heading":
            named = name_heading(following.lines)
            number, title = named.number, named.title
        self._begin(Opening(number, title, self._above))

    def _end_chapter(self) -> None:
        """Take the numbers off lines that nobody cites by number: of verse quoted in prose."""
        self._end()
        blocks = [item for item in self.items[self._chapter :] if isinstance(item, TextBlock) and not item.left_out]
        verse = sum(block.kind == "verse" for block in blocks)
        if not self._reader.verse.numbered and verse <= sum(block.kind == "prose" for block in blocks):
            for place in range(self._chapter, len(self.items)):
                item = self.items[place]
                if isinstance(item, TextBlock) and item.line is not None:
                    self.items[place] = replace(item, line=None)


def _head_of(element: Element) -> str:
    return " ".join(words_of(each) for each in leading_heads(element))


def _by_attributes(element: Element) -> Named:
    kind, number = kind_of(element), attribute(element, "n").strip()
    if not _NUMBER.fullmatch(number):
        number = ""
    if kind == "chapter" and number:
        return Named("chapter", number, "", f"Chapter {number}", counts=True)
    words = kind.replace("_", " ").capitalize()
    if not number and not (kind in CHAPTERS - {"chapter", "scene"} or AUTHORS_PIECES.fullmatch(kind)):
        return Named("", "", "", "")
    label = f"{words} {number}".strip() if words else ""
    return Named("", "", label, label, counts=bool(number))
