"""EPUB: the package, its outline and its pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise

from lxml.etree import _Element as Element

from relic_core.domain import EditionDetails
from relic_core.errors import BadText, EmptyText, NotFound, UnsafeFile
from relic_core.library.archives import MOST_UNPACKED, Archive, resolve
from relic_core.library.blocks import (
    Inline,
    Item,
    Named,
    Opening,
    TextBlock,
    name_heading,
    with_title,
)
from relic_core.library.composing import Edition, compose
from relic_core.library.edition_details import edition_of
from relic_core.library.markup import (
    attribute,
    count_elements,
    decode_markup,
    descendants,
    local_name,
    parse_html,
    parse_xml,
    person_name,
    refuse_many,
    text_of,
    words_of,
)
from relic_core.ports import Segmenter
from relic_core.text.blocks import refuse_too_many
from relic_core.text.decoding import too_large
from relic_core.text.metadata import Metadata, speaks_of
from relic_core.text.structure import is_prologue

BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt figcaption figure footer form h1 h2 h3 h4
    h5 h6 header hgroup hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
SKIPPED = frozenset("script style head template audio video iframe rt rp noscript svg input select case".split())  # noqa: SIM905 - as above
"""Of an `epub:switch`, the default is read."""
CELLS = frozenset({"td", "th", "dt", "dd", "caption", "summary"})
_ITALIC_ELEMENTS = frozenset({"i", "em", "cite", "dfn", "var"})
_ITALIC_CLASSES = frozenset({"italic", "italics", "ital", "it", "emphasis"})

_KINDS = {
    "front matter": "titlepage halftitlepage halftitle half-title title-page imprint copyright-page copyright cover "
    "dedication seriespage other-credits contributors landmarks acknowledgments acknowledgements doc-acknowledgments "
    "doc-dedication",
    "contents": "toc loi lot loa page-list contents toc-list tableofcontents",
    "end matter": "colophon index bibliography glossary backlink credits errata",
    "licence": "uncopyright pgheader pg-boilerplate pg-header pg-footer pgfooter project-gutenberg-license pg_header "
    "pg_footer boilerplate",
    "editor's note": "transnote tnote tnotes transcribers-note transcriber_note transcribernote",
    "illustration": "caption figcaption figcenter-caption",
}
_KIND_OF = {token: kind for kind, tokens in _KINDS.items() for token in tokens.split()}
_PARTS = frozenset({"part", "volume", "division", "doc-part", "z3998:volume"})
_CHAPTERS = frozenset(
    """
    chapter prologue epilogue preface introduction foreword afterword conclusion preamble appendix prelude doc-chapter
    doc-prologue doc-epilogue doc-preface doc-introduction doc-foreword doc-afterword doc-conclusion doc-appendix
    """.split()  # noqa: SIM905 - as above
)
_VERSE = frozenset(
    """
    verse poem poetry stanza poetry-container song hymn lyrics linegroup z3998:verse z3998:poem z3998:song z3998:hymn
    z3998:lyrics poemcenter poempage
    """.split()  # noqa: SIM905 - as above
)
_LINE = re.compile(r"(?:i|indent|line|verse|l|vers)-?\d*")
_NOTE = frozenset({"footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote", "fn", "fnote"})
_NOTES = frozenset({"footnotes", "endnotes", "rearnotes", "doc-footnotes", "doc-endnotes"})
_REFERENCE = frozenset(
    {"noteref", "doc-noteref", "fnanchor", "footnote-ref", "footnoteref", "fnref", "note-ref", "fn-ref"}
)
_HEADING_CLASS = re.compile(
    r"(?:chap(?:ter)?|part|book|section)[-_]?(?:num|number|no|title|head|heading|name)\d?|c[nth]|p[nt]|heading\d?"
)
"""Classes of paragraphs that are headings."""
_UNSEEN = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9]))", re.IGNORECASE
)
_INITIAL = re.compile(
    r"(?:\W*(?:illustration|(?:drop(?:ped)?|initial|ornate|decorated)(?: cap\w*| letter)?)\W+)?([\"'“‘]?[^\W\d_])\W?",
    re.IGNORECASE,
)
"""What stands for a picture of the first letter of a chapter."""
_PAGE = frozenset("pagebreak doc-pagebreak pagenum pageno page-number pagenumber pgnum".split())  # noqa: SIM905 - as above
_PAGE_NUMBER = re.compile(
    r"[\W_]{0,4}(?:(?:pages?|pag|pgs?|pp?)[\W_]{0,3})?(?:\d{1,4}[a-z]?|[ivxlcdm]{1,9})[\W_]{0,4}", re.IGNORECASE
)
_BACK = frozenset({"backlink", "doc-backlink", "fn-backref", "footnote-back", "label", "fnlabel"})
_MARKER = re.compile(r"[\[({]?\s*(?:\d{1,4}|[*†‡§¶‖]{1,4}|[a-z])\s*[\])}]?")
_BRACKETED = re.compile(r"\[\s*(?:\d{1,4}|[a-zA-Z*†‡§])\s*\]|[*†‡§¶‖]{1,4}")
_ASIDES = {
    "contents": r"(?:table of )?contents|list of (?:illustrations|plates|maps|contents)|illustrations|landmarks",
    "front matter": r"cover(?: page| image)?|(?:half[- ]?)?title[- ]?(?:page)?|"
    r"copyright(?: page| notice| information)?|imprint|dedication|frontispiece|"
    r"(?:also|other \w+|books|works|novels) by\b.{0,60}|praise for\b.{0,80}|"
    r"about (?:this|the) e?-?book.{0,20}|begin reading|start|publisher[’']?s? note|acknowledge?ments?|epigraph",
    "end matter": r"colophon|about the (?:author|publisher)|index|bibliography|glossary|errata|(?:back )?cover copy|"
    r"advertisements?|copyright(?: and)? permissions?|the end|finis|notes? on the text|further reading",
    "licence": r"(?:the )?(?:full )?project gutenberg.{0,100}|uncopyright|start: full license",
    "editor's note": r"(?:original )?transcriber[’']?s?[’']? notes?:?|editor[’']?s?[’']? notes?:?|"
    r"transcriber[’']?s?[’']? amendments",
    "note": r"(?:foot|end)?notes[.:]?|footnotes? (?:to|for) .{0,60}",
}
"""What headings say over what is not a chapter, whole."""
_ASIDE_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _ASIDES.items()}
_RETURN = re.compile(r"\W*(?:\d{1,4}|[a-z]|[*†‡§¶‖]{1,4}|↩.{0,3}|back|return)?\W*", re.IGNORECASE)


def aside_kind(label: str) -> str:
    """Say why what stands under a heading is not a chapter; empty where it may be one.

    >>> aside_kind("Table of Contents"), aside_kind("The Ferry")
    ('contents', '')
    """
    flat = " ".join(label.split()).strip(" .:")
    return next((kind for kind, pattern in _ASIDE_PATTERNS.items() if pattern.fullmatch(flat)), "")


def tokens_of(element: Element) -> frozenset[str]:
    """Return types, roles and classes of an element in small letters, and an id of Gutenberg's wrapping."""
    if not element.attrib:
        return frozenset()
    name = attribute(element, "id").lower()
    classes = attribute(element, "class").lower().split()
    return semantics_of(element).union(classes, [name] if name.startswith(("pg-", "project-gutenberg")) else [])


def semantics_of(element: Element) -> frozenset[str]:
    """Return the semantic types and roles of an element in small letters."""
    return frozenset(f"{attribute(element, 'type')} {attribute(element, 'role')}".lower().split())


def kind_of(element: Element, tokens: frozenset[str]) -> str:
    """Say why what is inside an element is not text of the work; empty where it is."""
    name = local_name(element)
    if name == "figcaption":
        return "illustration"
    if name == "nav":
        return "contents"
    if not tokens:
        return ""
    if name in HEADINGS:
        tokens -= {"toc", "contents"}
    kind = next((_KIND_OF[token] for token in sorted(tokens) if token in _KIND_OF), "")
    if kind == "contents" and not any(_KIND_OF.get(token) == kind for token in semantics_of(element)):
        kind = kind if _is_linked(element) else ""  # a class name may say that prose is what a page contains
    if not kind and "epigraph" in tokens and name in {"section", "body"}:
        headed = next(descendants(element, *HEADINGS), None) is not None
        return "" if headed else "front matter"  # of the whole work: those of chapters are quotations in them
    return kind


def _is_linked(element: Element) -> bool:
    every = sum(len(str(piece).strip()) for piece in element.itertext())
    links = [each for each in descendants(element, "a") if attribute(each, "href")]
    pieces = chain.from_iterable(each.itertext() for each in links)
    return 2 * sum(len(str(piece).strip()) for piece in pieces) >= max(1, every)


def role_of(element: Element) -> str:
    """Say whether a section is marked as a part or a chapter; class names say too little."""
    semantics = semantics_of(element)
    if semantics & _CHAPTERS:
        return "chapter"
    return "part" if semantics & _PARTS else ""


def is_line(tokens: frozenset[str]) -> bool:
    """Whether an element inside verse is marked as one line of it."""
    return any(_LINE.fullmatch(token) for token in tokens)


def is_note(element: Element, tokens: frozenset[str]) -> bool:
    """Whether an element is one note."""
    if (
        tokens & _NOTES
        or not (tokens & _NOTE or "note" in semantics_of(element))
        or local_name(element) in {"a", "sup"}
    ):
        return False
    return not any(tokens_of(child) & _NOTE for child in element if local_name(child) in BLOCKS)


def is_page_number(element: Element, tokens: frozenset[str]) -> bool:
    """Whether an element is the number of a printed page, or the place where one would stand: it holds nothing else."""
    if not tokens & _PAGE or holds_blocks(element):
        return False
    words = text_of(element).strip()
    return not words or bool(_PAGE_NUMBER.fullmatch(words))


def holds_blocks(element: Element) -> bool:
    """Whether paragraphs or their like stand inside an element."""
    return len(element) > 0 and any(local_name(each) in BLOCKS for each in element.iterdescendants())


def is_reference(element: Element, tokens: frozenset[str], *, returned: bool) -> bool:
    """Whether a link leads to a note; `returned`: from where it leads to, a link with the same mark leads back."""
    if "#" not in attribute(element, "href"):
        return False
    if tokens & _REFERENCE:
        return True
    words = text_of(element).strip()
    if not words or not _MARKER.fullmatch(words):
        return False
    if returned:
        return True
    raised = any(local_name(each) == "sup" for each in (*element.iterdescendants(), *element.iterancestors()))
    return raised or bool(_BRACKETED.fullmatch(words))


def is_return(element: Element, tokens: frozenset[str]) -> bool:
    """Whether a link or a label inside a note is its number or leads back to the text."""
    may_be = bool(tokens & _BACK) or local_name(element) in {"a", "sup"}
    return may_be and bool(_RETURN.fullmatch(text_of(element).strip()))


Marker = tuple[str, str, str]
"""The page of a link that is a number, a letter or a sign, the page that it leads to, and what it says."""


def markers(root: Element, path: str) -> Iterator[tuple[Marker, bool]]:
    """Find the links that may be marks of notes, each with whether words of its block stand before it."""
    for link in descendants(root, "a"):
        words = text_of(link).strip()
        if "#" in attribute(link, "href") and _MARKER.fullmatch(words):
            yield (path, resolve(path, attribute(link, "href"))[0], words.strip("[](){} .")), _has_before(link)


def _has_before(element: Element) -> bool:
    """Whether words stand before an element in its block, which is no heading."""
    if any(local_name(above) in HEADINGS for above in element.iterancestors()):
        return False
    while (parent := element.getparent()) is not None and local_name(element) not in BLOCKS:
        siblings = element.itersiblings(preceding=True)
        if (parent.text or "").strip() or any((text_of(each) + (each.tail or "")).strip() for each in siblings):
            return True
        element = parent
    return False


_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways of scrambling fonts, which lock no text."""
_PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
_PAGE_NAME = re.compile(r"\.x?html?$|\.xml$", re.IGNORECASE)
_WEB = re.compile(r"https?://\S+")
_OLDEST_EBOOK = 1971
"""Year. A date before it cannot be the e-book's own, so it is the work's."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents list; `depth` is 0 for the outermost."""

    path: str
    fragment: str
    label: str
    depth: int


@dataclass(frozen=True, slots=True)
class Package:
    """What the package of an EPUB says.

    - `pages`: in reading order; `asides` are those outside of it, such as notes.
    """

    pages: tuple[str, ...]
    asides: frozenset[str]
    missing: tuple[str, ...]
    contents: tuple[Entry, ...]
    navigation: str
    metadata: Metadata
    details: EditionDetails


def read_package(archive: Archive) -> Package:
    """Read the package of an EPUB. Raises BadText: it names no page. Raises UnsafeFile: it is locked (DRM)."""
    if not archive.find(_CONTAINER):
        raise BadText(
            "The file is a zip archive without META-INF/container.xml, so it is no EPUB, or one that did not arrive "
            "whole. Fetch it again. If it is a folder of texts packed together, unpack it and add the files."
        )
    path = _package_path(archive)
    root = _xml(archive, path, "The package file of the EPUB")
    manifest, types, navigation, ncx = _manifest(root, path)
    spine = [(attribute(each, "idref"), attribute(each, "linear") == "no") for each in descendants(root, "itemref")]
    listed = [(manifest.get(name, ""), aside) for name, aside in spine]
    pages = [(each, aside) for each, aside in listed if types.get(each, "") in _PAGES or _PAGE_NAME.search(each)]
    unlisted = [name for name, _ in spine if name and not manifest.get(name)]
    held = list(dict.fromkeys(archive.find(each) for each, _ in pages if archive.find(each)))
    missing = [each for each, _ in pages if not archive.find(each)] + unlisted
    _refuse_locked(archive, held)
    if not held:
        raise BadText(
            "The EPUB names no page that it holds"
            + (f"; '{missing[0][:200]}' is missing from it" if missing else "")
            + ". Fetch the book again; it did not arrive whole, or was packed without its text."
        )
    toc = ncx or manifest.get(next((attribute(each, "toc") for each in descendants(root, "spine")), ""), "")
    metadata, details = _described(root)
    return Package(
        pages=tuple(held),
        asides=frozenset(archive.find(each) for each, aside in pages if aside),
        missing=tuple(dict.fromkeys(missing)),
        contents=tuple(_contents(archive, navigation, toc)),
        navigation=archive.find(navigation),
        metadata=metadata,
        details=details,
    )


def _package_path(archive: Archive) -> str:
    container = _xml(archive, _CONTAINER, "META-INF/container.xml of the EPUB")
    paths = [attribute(each, "full-path") for each in descendants(container, "rootfile")]
    resolved = [resolve("", path)[0] for path in paths]
    found = next((path for path in resolved if path and archive.find(path)), "")
    if not found:
        raise BadText(
            f"The EPUB names '{(paths or ['nothing'])[0][:200]}' as its package file and does not hold it. Fetch the "
            "book again; it did not arrive whole."
        )
    return archive.find(found)


def _manifest(root: Element, path: str) -> tuple[dict[str, str], dict[str, str], str, str]:
    manifest: dict[str, str] = {}
    types: dict[str, str] = {}
    navigation = ncx = ""
    for item in descendants(root, "item"):
        place = resolve(path, attribute(item, "href"))[0] or attribute(item, "href")
        kind = attribute(item, "media-type").strip().lower()
        manifest.setdefault(attribute(item, "id"), place)
        types[place] = kind
        if "nav" in attribute(item, "properties").split():
            navigation = place
        if kind == "application/x-dtbncx+xml":
            ncx = place
    return manifest, types, navigation, ncx


def _refuse_locked(archive: Archive, pages: Iterable[str]) -> None:
    if not archive.find(_ENCRYPTION):
        return
    locked = set()
    for data in descendants(_xml(archive, _ENCRYPTION, "META-INF/encryption.xml of the EPUB"), "encrypteddata"):
        methods = descendants(data, "encryptionmethod")
        method = next((attribute(each, "algorithm") or attribute(each, "Algorithm") for each in methods), "")
        if method not in _FONTS:
            places = (attribute(each, "URI") for each in descendants(data, "cipherreference"))
            locked |= {archive.find(resolve("", place)[0]) for place in places}
    if locked & set(pages):
        raise UnsafeFile(
            "The EPUB is locked by the shop that sold it (DRM): its pages are encrypted and cannot be read here. Add "
            "an edition without a lock: Project Gutenberg and Standard Ebooks have most works of authors long dead."
        )


def _contents(archive: Archive, navigation: str, ncx: str) -> list[Entry]:
    """Read the contents list of an EPUB 3, else that of an EPUB 2; a damaged one is passed over."""
    entries: list[Entry] = []
    try:
        if archive.find(navigation):
            lists = list(descendants(_html(archive, navigation), "nav"))
            lists = [each for each in lists if "toc" in attribute(each, "type").split()] or lists
            if lists:
                entries = list(_navigation(lists[0], navigation, 0))
        if not entries and archive.find(ncx):
            maps = list(descendants(_xml(archive, ncx, f"The page '{ncx[:200]}' of the EPUB"), "navmap"))
            if maps:
                entries = list(_points(maps[0], ncx, 0))
    except UnsafeFile:
        raise
    except (BadText, NotFound):
        return []  # the headings on the pages say enough
    return entries


def _navigation(element: Element, base: str, depth: int) -> Iterator[Entry]:
    for child in element:
        name = local_name(child)
        if name in {"ol", "ul"}:
            yield from _navigation(child, base, depth)
        elif name == "li":
            link = next((each for each in child if local_name(each) in {"a", "span"}), None)
            if link is not None:
                yield _entry(base, attribute(link, "href"), words_of(link), depth)
            yield from _navigation(child, base, depth + 1)


def _points(element: Element, base: str, depth: int) -> Iterator[Entry]:
    for point in element:
        if local_name(point) == "navpoint":
            label = next((words_of(each) for each in point if local_name(each) == "navlabel"), "")
            source = next((attribute(each, "src") for each in point if local_name(each) == "content"), "")
            yield _entry(base, source, label, depth)
            yield from _points(point, base, depth + 1)


def _entry(base: str, href: str, label: str, depth: int) -> Entry:
    return Entry(*(resolve(base, href) if href else ("", "")), label, depth)


def _described(root: Element) -> tuple[Metadata, EditionDetails]:
    refined: dict[tuple[str, str], list[str]] = {}
    for meta in descendants(root, "meta"):
        key = attribute(meta, "refines").lstrip("#"), attribute(meta, "property")
        refined.setdefault(key, []).append(words_of(meta))

    def given(element: Element, name: str) -> list[str]:
        return refined.get((attribute(element, "id"), name)) or [attribute(element, name)]

    creators = [
        (person_name(words_of(each), given(each, "file-as")[0]), " ".join(given(each, "role")).lower().split())
        for each in descendants(root, "creator", "contributor")
        if words_of(each) and (local_name(each) == "creator" or any(given(each, "role")))
    ]

    def people(role: str) -> list[str]:
        return list(dict.fromkeys(name for name, roles in creators if role in (roles or ["aut"])))

    def every(name: str) -> list[str]:
        return [words for each in descendants(root, name) if (words := words_of(each))]

    titles = [each for each in descendants(root, "title") if words_of(each)]
    main = [each for each in titles if "main" in (*given(each, "title-type"), attribute(each, "type"))]
    metadata = Metadata(
        title=words_of((main or titles)[0]) if titles else "",
        author=" and ".join(people("aut")),
        translator=" and ".join(people("trl")),
        year=_year(root, original=True) or _year(root),
        guessed=() if _year(root, original=True) else ("year",),
    )
    details = edition_of(
        editor="; ".join(filter(None, people("edt"))),
        publisher=next(iter(every("publisher")), ""),
        language=next(iter(every("language")), ""),
        url=next((each for each in (*every("identifier"), *every("source")) if _WEB.fullmatch(each)), ""),
    )
    return metadata, details


def _year(root: Element, *, original: bool = False) -> int | None:
    for date in descendants(root, "date"):
        year = re.match(r"\s*(\d{4})\b", words_of(date))
        marked = "original" in attribute(date, "event").lower()
        if year and (marked or (not original and 1000 < int(year[1]) < _OLDEST_EBOOK)):  # noqa: PLR2004 - no printed work is older
            return int(year[1])
    return None


def _xml(archive: Archive, path: str, what: str) -> Element:
    return parse_xml(decode_markup(archive.read(path), what=what, max_bytes=MOST_UNPACKED), what=what)


def _html(archive: Archive, path: str) -> Element:
    what = f"The page '{path[:200]}' of the EPUB"
    return parse_html(decode_markup(archive.read(path), what=what, max_bytes=MOST_UNPACKED), what=what)


_LICENCE_START = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_LICENCE_END = re.compile(
    r"\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg", re.IGNORECASE
)
_CREDIT = re.compile(r"(?:produced|prepared|transcribed|e-?text prepared) by\b|credits:", re.IGNORECASE)
_THE_END = re.compile(r"\W*(?:the end|finis|fin)\W*", re.IGNORECASE)
_SENTENCE = 60
_SENTENCE_ENDS = ".!?…”’\"'"
"""A prologue begins with a paragraph longer than this, which ends as sentences do."""
_LOWEST = 6
_SHORT = 120
"""Characters of a paragraph that may be a heading set as a paragraph."""
_FEW = 2


@dataclass(slots=True)
class _Mark:
    named: Named
    role: str  # "part", "chapter", "title", "section", "aside"
    rank: int
    kind: str = ""  # of an aside
    invented: bool = False  # its words are in the contents list alone
    holds_equals: bool = True  # of a part: whether chapters of the same rank may be its own


def outline(blocks: Sequence[PageBlock], contents: Sequence[Entry], *, title: str, author: str) -> list[Item]:
    """Put the blocks of all pages, given in reading order, in order of chapters."""
    _leave_out_licence(blocks)
    _notes_by_reference(blocks)
    listed = _listed(blocks, contents)
    marks = _marks(blocks, listed, title)
    _promote(blocks, marks)
    _set_aside(blocks, marks, author)
    first = min((place for place, mark in marks.items() if mark.role in {"part", "chapter"}), default=None)
    if first is None:
        marks = {place: mark for place, mark in marks.items() if mark.role == "aside"}
        first = -1
    prologue = _prologue(blocks, marks, first)
    return _items(blocks, marks, first, prologue)


def _leave_out_licence(blocks: Sequence[PageBlock]) -> None:
    """Leave out what Project Gutenberg puts around a text, where only its words tell."""
    start = max(
        (place for place, each in enumerate(blocks[:200]) if _LICENCE_START.search(each.block.text)), default=-1
    )
    end = next(
        (place for place, each in enumerate(blocks) if place > start and _LICENCE_END.match(each.block.text)),
        len(blocks),
    )
    for place, each in enumerate(blocks):
        if place <= start or place >= end:
            each.block = replace(each.block, left_out="licence")
            each.level = 0


def _notes_by_reference(blocks: Sequence[PageBlock]) -> None:
    """Make notes of paragraphs that a reference in the text leads to, though nothing marks them."""
    wanted = set(chain.from_iterable(each.block.refs for each in blocks if each.block.kind != "note"))
    for each in blocks:
        names = tuple(name for anchor in each.anchors if (name := f"{each.page}#{anchor}") in wanted)
        if names and not each.level and not each.block.left_out and each.block.kind == "prose" and not each.block.refs:
            each.block = replace(each.block, kind="note", names=names)


def _listed(blocks: Sequence[PageBlock], contents: Sequence[Entry]) -> dict[int, list[Entry]]:
    """Find where the lines of the contents list lead: to a heading where one is near."""
    places: dict[tuple[str, str], int] = {}
    for place, each in enumerate(blocks):
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
                for near in range(place, min(place + 3, len(blocks)))
                if blocks[near].page == entry.path
                and (blocks[near].level or _same(blocks[near].block.text, entry.label))
            ),
            place,
        )
        heading = _in_two_paragraphs(blocks, place, heading, entry.label)
        listed.setdefault(heading, []).append(entry)
    return listed


def _in_two_paragraphs(blocks: Sequence[PageBlock], place: int, heading: int, label: str) -> int:
    """Make headings of a number and a title that are set as paragraphs; return the place of the first."""
    for first in {place, heading - 1} - {-1}:
        pair = blocks[first : first + 2]
        if len(pair) < _FEW or any(each.level or each.block.left_out or each.page != pair[0].page for each in pair):
            continue
        number, title = (each.block.text for each in pair)
        named = name_heading([number])
        counts = named.counts and not named.title and len(title) < _SHORT
        if counts and (_same(f"{number} {title}", label) or _same(name_heading([label]).title or label, title)):
            for each in pair:
                each.level = _LOWEST
            return first
    return heading


def _marks(blocks: Sequence[PageBlock], listed: dict[int, list[Entry]], title: str) -> dict[int, _Mark]:
    named = {
        place: name_heading(each.block.lines)
        for place, each in enumerate(blocks)
        if (each.level or _is_heading(each, listed.get(place, []))) and each.block.left_out in {"", "heading"}
    }
    useful = sum(place in listed and not aside_kind(each.label) for place, each in named.items()) >= _FEW
    marks: dict[int, _Mark] = {}
    above: int | None = None
    for place, each in enumerate(blocks):
        entries = listed.get(place, [])
        rank = entries[-1].depth if useful and entries else 10 + each.level if useful else each.level
        if place not in named:
            if each.block.left_out:
                continue
            above = None
            label = entries[-1].label if entries else ""
            if kind := aside_kind(label):
                marks[place] = _Mark(Named("", "", label, label), "aside", rank, kind, invented=True)
            elif label and not _same(label, title) and each.block.kind != "note":
                marks[place] = _Mark(name_heading([label]), "chapter", rank, invented=True)
            continue
        role, kind = _role(
            each, named[place], entries, marks.get(above) if above is not None else None, useful, title, marks
        )
        if role == "title" and above is not None:
            marks[above].named = with_title(marks[above].named, each.block.lines)
        marks[place] = _Mark(named[place], role, rank, kind)
        if role != "title":
            above = place if role in {"part", "chapter"} else None
    return marks


def _role(  # noqa: PLR0911 - the rules of the module, one after the other
    block: PageBlock,
    named: Named,
    entries: list[Entry],
    above: _Mark | None,
    useful: bool,
    title: str,
    marks: dict[int, _Mark],
) -> tuple[str, str]:
    kind = aside_kind(named.label)
    if kind and not (block.role == "chapter" and kind != "note"):
        return "aside", kind
    if title and _same(named.label, title) and not any(mark.role in {"part", "chapter"} for mark in marks.values()):
        return "work", ""
    if block.role in {"part", "chapter"}:
        return block.role, ""
    numbered = named.level in {"part", "chapter"} and named.counts
    if above is not None and not named.counts and named.level != "named" and not entries:
        if above.named.counts and not _has_title(above.named):
            return "title", ""
        if above.role == "chapter":
            return "title", ""
    if block.role == "section":
        return "section", ""
    if entries and useful:
        return ("part" if named.level == "part" else "chapter"), ""
    inside = next((mark for mark in reversed(marks.values()) if mark.role in {"part", "chapter"}), None)
    deeper = inside is not None and inside.role == "chapter" and (useful or block.level > inside.rank)
    if numbered:
        if named.bare and deeper and not (inside is not None and inside.named.bare) and above is None:
            return "section", ""
        return ("part" if named.level == "part" else "chapter"), ""
    if useful or deeper:
        return ("section" if inside is not None else "work"), ""
    return "chapter", ""


def _has_title(named: Named) -> bool:
    return ":" in named.label or (bool(named.number) and bool(named.title))


def _promote(blocks: Sequence[PageBlock], marks: dict[int, _Mark]) -> None:
    """Make parts of chapters that hold chapters, and chapters of parts that hold none."""
    divisions = [place for place in sorted(marks) if marks[place].role in {"part", "chapter"}]
    for place, following in pairwise([*divisions, len(blocks)]):
        mark, after = marks[place], marks.get(following)
        own = _words_under(blocks, mark, place, following)
        if mark.role == "part":
            other = after is not None and after.named.word != mark.named.word
            inside = after is not None and (after.rank > mark.rank or (not own and other))
            holds = inside or (after is not None and after.role == "chapter" and (other or not own))
            mark.role = "part" if holds else "chapter"
        elif after is not None and after.rank > mark.rank and not own:
            mark.role, mark.holds_equals = "part", False


def _set_aside(blocks: Sequence[PageBlock], marks: dict[int, _Mark], author: str) -> None:
    """Leave out prefaces and introductions by another hand."""
    for place, following in pairwise([*sorted(marks), len(blocks)]):
        mark = marks[place]
        if mark.role != "chapter" or mark.named.word != "front":
            continue
        if mark.named.by_another or speaks_of(author, _words_under(blocks, mark, place, following)):
            mark.role, mark.kind = "aside", "front matter"


def _words_under(blocks: Sequence[PageBlock], mark: _Mark, place: int, following: int) -> str:
    """Give what stands under a heading; an invented one has its place in the first paragraph."""
    under = blocks[place + (not mark.invented) : following]
    return " ".join(each.block.text for each in under if not each.block.left_out)


def _prologue(blocks: Sequence[PageBlock], marks: dict[int, _Mark], first: int) -> int:
    """Where prose without a heading begins before the first chapter; -1 where none does."""
    if first < 0:
        return 0
    prose: list[int] = []
    closed: str | None = None  # the page on which a piece that is left out goes on; "" to the next heading
    for place, each in enumerate(blocks[:first]):
        mark = marks.get(place)
        if mark is not None:
            closed = None
            if mark.role == "aside":
                prose = []
                closed = "" if mark.named.word == "front" else each.page if mark.kind != "contents" else None
        if closed is not None and closed in {"", each.page}:
            continue
        if not each.block.left_out and not each.level and not each.linked and each.block.kind == "prose":
            text = each.block.text
            if prose or (len(text) > _SENTENCE and text[-1] in _SENTENCE_ENDS):
                prose.append(place)
    return prose[0] if is_prologue([len(blocks[place].block.text) for place in prose]) else -1


def _items(blocks: Sequence[PageBlock], marks: dict[int, _Mark], first: int, prologue: int) -> list[Item]:
    items: list[Item] = []
    parts: list[tuple[int, str, str]] = []  # rank, word, label
    aside = "" if first <= 0 and first != 0 else "front matter"
    for place, each in enumerate(blocks):
        mark = marks.get(place)
        block = each.block
        if place == prologue:
            items.append(Opening())
            aside = ""
        if mark is not None and mark.role in {"part", "chapter"}:
            aside = ""
            items.append(_opening(mark, parts))
        elif mark is not None and mark.role == "aside":
            aside = "front matter" if mark.kind == "end matter" and place < first else mark.kind
        elif mark is not None and mark.role == "work" and place < first:
            block = replace(block, left_out="front matter")
        if mark is not None and not mark.invented and not block.left_out:
            block = replace(block, left_out="heading", kind="prose")
        elif aside and block.left_out == "page number":
            block = replace(block, left_out=aside)  # one stretch with what stands around it
        elif mark is not None and mark.role == "aside" and block.left_out == "heading":
            block = replace(block, left_out=aside)
        elif not block.left_out:
            block = _placed(each, aside, before=place < first)
        items.append(block)
    return items


def _placed(each: PageBlock, aside: str, *, before: bool) -> TextBlock:
    if aside == "note" and each.block.kind == "note":
        return each.block
    if aside and not (each.block.kind == "note" and aside != "licence"):
        return replace(each.block, left_out="contents" if each.linked and before else aside)
    if _THE_END.fullmatch(each.block.text):
        return replace(each.block, left_out="end matter")
    if before and _CREDIT.match(each.block.text):
        return replace(each.block, left_out="editor's note")
    return replace(each.block, left_out="contents") if each.linked and before else each.block


def _opening(mark: _Mark, parts: list[tuple[int, str, str]]) -> Opening:
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
        parts.append((mark.rank if mark.holds_equals else mark.rank + 1, word, label))
        return Opening("", label, above, holds=True)
    return Opening(named.number, named.title, above)


def _is_heading(block: PageBlock, entries: list[Entry]) -> bool:
    return any(_same(block.block.text, entry.label) for entry in entries) and len(block.block.text) < _SHORT


def _same(one: str, other: str) -> bool:
    letters = ["".join(filter(str.isalnum, text.casefold())) for text in (one, other)]
    return bool(letters[0]) and letters[0] == letters[1]


_MOST_NAMES = 100
"""Of a note: each of its paragraphs is looked up by all of them."""
_LONG_LINE = 75
"""Characters; a line of verse is no longer where nothing says that it is verse."""
_HIDDEN = "hidden"
"""Why a block is left out that browsers do not show."""
_EDITORIAL = re.compile(
    r"(?:[\[(—–-]\s*|\s)(?:Ed|Tr|Trans|Transl|Editor|Translator|Transcriber)s?\.?(?:[’']s note)?\s*[\])]?\.?\s*$"
    r"|^\W*(?:(?:translator|editor|transcriber)[’']?s?[’']? note|note by the (?:translator|editor))",
    re.IGNORECASE,
)


@dataclass(slots=True)
class PageBlock:
    """A block where it stands.

    - `level`: 1 to 6 for a heading, 0 for anything else.
    - `role`: of a heading: "part" or "chapter" where the first of a section so marked; "section" where another one.
    - `anchors`: names of the places at its beginning; "" at the beginning of the page.
    - `linked`: all of it leads elsewhere in the book, as lines of a contents list do.
    """

    block: TextBlock
    page: str
    level: int = 0
    role: str = ""
    anchors: list[str] = field(default_factory=list)
    linked: bool = False


class Page:
    """Reads a page; `blocks` is what stands on it."""

    def __init__(self, root: Element, path: str, notes: frozenset[Marker] = frozenset()) -> None:
        self.blocks: list[PageBlock] = []
        self._path = path
        self._note_marks = notes
        self._initial = ""  # a drop cap in a block of its own
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
        self._emit_initial()

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
        tokens = tokens_of(element)
        hidden = element.get("hidden") is not None or bool(_UNSEEN.search(attribute(element, "style")))
        if name in SKIPPED:
            return
        if is_page_number(element, tokens):
            self._aside(element, "page number")
        elif not self._names and is_note(element, tokens):
            self._note(element)
        elif hidden and name not in BLOCKS and not holds_blocks(element):
            self._aside(element, _HIDDEN)
        elif name in BLOCKS or hidden:
            kind = kind_of(element, tokens) or (_HIDDEN if hidden else "")
            role = role_of(element) if name in {"section", "div", "article", "body"} else ""
            with self._inside(kind, role=role, verse=bool(tokens & _VERSE) and not self._verse):
                self._block(element, name, tokens)
        else:
            self._run(element, name, tokens)

    def _block(self, element: Element, name: str, tokens: frozenset[str]) -> None:
        holds = holds_blocks(element)
        as_heading = name in {"p", "div"} and not holds and not self._verse and not self._names
        if as_heading and any(map(_HEADING_CLASS.fullmatch, tokens)) and len(text_of(element)) < _SHORT:
            self._read_heading(element, "h6")
        elif name in HEADINGS or name == "hgroup":
            self._read_heading(element, name)
        elif name in CELLS and not holds:
            self._inline.text(" ")
            self._content(element)
            self._inline.text(" ")
        elif name == "pre":
            self._preformatted(element)
        else:
            stanza = holds or not (is_line(tokens) or name == "p")
            self._close(stanza=stanza)
            self._content(element)
            self._close(stanza=stanza)

    def _run(self, element: Element, name: str, tokens: frozenset[str]) -> None:
        if name == "br":
            before = element.getprevious()
            twice = before is not None and local_name(before) == "br" and not (before.tail or "").strip()
            self._close() if twice and not self._heading and not self._names else self._inline.line_break()
        elif name == "img":
            letter = _INITIAL.fullmatch(attribute(element, "alt").strip())
            self._text(letter[1] if letter else "")
        elif name == "q":
            self._quoted(element)
        elif self._names and is_return(element, tokens):
            return
        elif name == "a" and (mark := self._note_mark(element)) and not _has_before(element):
            return  # the number of a note, which leads back
        elif name == "a" and is_reference(element, tokens, returned=mark):
            path, fragment = resolve(self._path, attribute(element, "href"))
            self._inline.refs.append(f"{path}#{fragment}")
        elif name == "a" and attribute(element, "href"):
            before = self._linked[1]
            self._content(element)
            if not re.match(r"\w+:", attribute(element, "href")):
                self._linked[0] += self._linked[1] - before
        elif self._verse and name == "span" and is_line(tokens):
            self._inline.line_break()
            self._content(element)
            self._inline.line_break()
        elif (name in _ITALIC_ELEMENTS or tokens & _ITALIC_CLASSES) and not self._heading:
            self._inline.open_italic()
            self._content(element)
            self._inline.close_italic()
        else:
            self._content(element)

    def _note_mark(self, link: Element) -> bool:
        words = text_of(link).strip().strip("[](){} .")
        return (self._path, resolve(self._path, attribute(link, "href"))[0], words) in self._note_marks

    def _quoted(self, element: Element) -> None:
        """Read a `q`, which is shown between quotation marks, unless it has its own."""
        own = text_of(element).lstrip()[:1] in "\"'“”‘’«„"
        if not own:
            self._inline.open_quote()
        self._content(element)
        if not own:
            self._inline.close_quote()

    def _aside(self, element: Element, kind: str) -> None:
        words = Inline.clean(text_of(element))
        if words:
            self._pending.append(TextBlock(lines=(words,), left_out=self._left_out or kind))

    def _read_heading(self, element: Element, name: str) -> None:
        self._close()
        self._heading = True
        if name == "hgroup":
            level = min((HEADINGS[local_name(each)] for each in element if local_name(each) in HEADINGS), default=2)
            self._text(element.text)
            for child in element:
                if isinstance(child.tag, str):
                    self._content(child)
                self._inline.line_break()
                self._text(child.tail)
        else:
            level = HEADINGS[name]
            self._content(element)
        self._heading = False
        lines, refs = self._inline.take()
        if not lines:  # the words are in a picture
            images = [attribute(each, "alt") for each in descendants(element, "img")]
            lines = list(filter(None, map(Inline.clean, (attribute(element, "title"), *images))))[:1]
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
        before = len(self.blocks)
        self._content(element)
        self._close()
        self._names = ()
        words = " ".join(each.block.text for each in self.blocks[before:] if not each.block.left_out)
        if _EDITORIAL.search(words):
            for each in self.blocks[before:]:
                each.block = replace(each.block, left_out=self._left_out or "editor's note")

    def _preformatted(self, element: Element) -> None:
        self._close()
        for stanza in re.split(r"\n[ \t]*\n", text_of(element)):
            for line in stanza.split("\n"):
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
            block = TextBlock(lines=(" ".join(lines),), kind="note", left_out=self._left_out, names=self._names)
        elif self._verse or _looks_like_verse(lines):
            block = TextBlock(lines=tuple(lines), kind="verse", left_out=self._left_out, refs=refs)
        else:
            words = " ".join(lines)
            if _DROPPED_CAP.fullmatch(words) and not self._left_out and not refs:
                self._emit_initial()
                self._initial = words
                return
            if self._initial and _goes_on(self._initial, words):
                self._initial, words = "", self._initial + words
            block = TextBlock(lines=(words,), left_out=self._left_out, refs=refs)
        self._emit(block, linked=all_linked)
        self._emit_pending()

    def _emit_initial(self) -> None:
        """Let a letter that no paragraph goes on with be one itself."""
        if self._initial:
            words, self._initial = self._initial, ""
            self._emit(TextBlock(lines=(words,)))

    def _emit(self, block: TextBlock, *, level: int = 0, role: str = "", linked: bool = False) -> None:
        self._emit_initial()
        refuse_too_many(len(self.blocks), what="The EPUB")
        anchors, self._anchors = self._anchors, []
        self.blocks.append(PageBlock(block, self._path, level, role, anchors, linked))

    def _emit_pending(self) -> None:
        pending, self._pending = self._pending, []
        self.blocks += [PageBlock(block, self._path) for block in pending]  # no anchors: nothing leads to them


_DROPPED_CAP = re.compile(r"[\"'“‘]{0,2}[A-ZÀ-ÞА-Я]")


def _goes_on(letter: str, words: str) -> bool:
    """Whether a paragraph goes on with the word that a drop cap begins; a number (I, V) has a sentence below it."""
    begin = words.lstrip("’'")
    capitals = begin[:2].isupper() and letter[-1] not in "IVXLC"
    return begin[:1].islower() or capitals


def _looks_like_verse(lines: list[str]) -> bool:
    if len(lines) < 2 or max(map(len, lines)) > _LONG_LINE:  # noqa: PLR2004 - one line is none broken
        return False
    capitals = sum(not line.lstrip("_\"'“‘(—[")[:1].islower() for line in lines)
    return capitals > 0.6 * len(lines)


def read_epub(
    data: bytes, *, name: str, metadata: Metadata, source: str, max_bytes: int, segmenter: Segmenter | None
) -> Edition:
    """Read a work from the bytes of an EPUB; pages that it lacks are passed over as long as others have text."""
    archive = Archive(data)
    package = read_package(archive)
    roots: dict[str, Element] = {}
    size = elements = 0
    for path in (path for path in package.pages if path != package.navigation):
        what = f"The page '{path[:200]}' of the EPUB"
        data_of_page = archive.read(path)
        size += len(data_of_page)
        if size > max_bytes:
            raise too_large(size, max_bytes=max_bytes, what="The pages of the EPUB have together")
        text = decode_markup(data_of_page, what=what, max_bytes=MOST_UNPACKED) if data_of_page.strip() else ""
        elements += count_elements(text)
        refuse_many(elements, what="The EPUB")
        if text:
            roots[path] = parse_html(text, what=what)
    found: list[tuple[Marker, bool]] = []
    for path, root in roots.items():
        found.extend(markers(root, path))
    inside = {marker for marker, has_before in found if has_before}
    begins = {marker for marker, has_before in found if not has_before}
    notes = {(page, to, words) for page, to, words in inside if (to, page, words) in begins}
    notes |= {(to, page, words) for page, to, words in notes}
    blocks: list[PageBlock] = []
    for path in _in_reading_order(roots, package):
        blocks += Page(roots[path], path, frozenset(notes)).blocks
        refuse_too_many(len(blocks), what="The EPUB")
    metadata = package.metadata.corrected(metadata)
    items = outline(blocks, package.contents, title=metadata.title, author=metadata.author)
    try:
        work = compose(items, metadata, name=name, source=source, form="EPUB", segmenter=segmenter)
    except EmptyText:
        if not package.missing:
            raise
        raise BadText(
            f"The EPUB holds no text: '{package.missing[0][:200]}', which it names"
            + (f" with {len(package.missing) - 1} more" if len(package.missing) > 1 else "")
            + ", is missing from it. Fetch the book again; it did not arrive whole."
        ) from None
    return Edition(work, package.missing, details=package.details)


def _in_reading_order(paths: Iterable[str], package: Package) -> list[str]:
    """Put pages outside of the reading order where the contents list has them; where it lacks them, last."""
    listed = list(dict.fromkeys(entry.path for entry in package.contents))
    order = [path for path in paths if path not in package.asides or (path not in listed and not package.contents)]
    for path in (path for path in paths if path not in order):
        later = listed[listed.index(path) + 1 :] if path in listed else []
        order.insert(next((order.index(each) for each in later if each in order), len(order)), path)
    return order
