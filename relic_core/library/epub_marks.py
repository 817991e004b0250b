"""What the pages of e-books mark their parts with: semantic types, roles and class names, by what is done with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.library.markup import attribute, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt figcaption figure footer form h1 h2 h3 h4
    h5 h6 header hgroup hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
SKIPPED = frozenset(
    {
        "script",
        "style",
        "head",
        "template",
        "audio",
        "video",
        "iframe",
        "rt",
        "rp",
        "noscript",
        "svg",
        "input",
        "select",
    }
)
CELLS = frozenset({"td", "th", "dt", "dd", "caption", "summary"})
_ITALIC_ELEMENTS = frozenset({"i", "em", "cite", "dfn", "var"})
_ITALIC_CLASSES = frozenset({"italic", "italics", "ital", "it", "emphasis"})

_KINDS = {
    "front matter": "titlepage halftitlepage halftitle half-title title-page imprint copyright-page copyright cover "
    "dedication seriespage other-credits contributors landmarks",
    "contents": "toc loi lot loa page-list contents toc-list tableofcontents",
    "end matter": "colophon index bibliography glossary backlink credits",
    "licence": "uncopyright pgheader pg-boilerplate pg-header pg-footer pgfooter project-gutenberg-license pg_header "
    "pg_footer boilerplate",
    "editor's note": "transnote tnote tnotes transcribers-note transcriber_note transcribernote",
    "illustration": "caption figcaption figcenter-caption",
    "errata": "errata",
}
_KIND_OF = {token: kind for kind, tokens in _KINDS.items() for token in tokens.split()} | {"errata": "end matter"}
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
"""What headings say over what is no chapter, whole."""
_ASIDE_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _ASIDES.items()}
_RETURN = re.compile(r"\W*(?:\d{1,4}|[a-z]|[*†‡§¶‖]{1,4}|↩.{0,3}|back|return)?\W*", re.IGNORECASE)


def aside_kind(label: str) -> str:
    """Say why what stands under a heading is no chapter; empty where it may be one.

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
    """Say why what is inside an element is no text of the work; empty where it is."""
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
        return "front matter"  # of the whole work: those of chapters are quotations in them
    return kind


def _is_linked(element: Element) -> bool:
    """Whether most of what an element says are links."""
    every = sum(len(str(piece).strip()) for piece in element.itertext())
    links = [each for each in element.iter() if local_name(each) == "a" and attribute(each, "href")]
    return 2 * sum(len(str(piece).strip()) for each in links for piece in each.itertext()) >= max(1, every)


def role_of(element: Element) -> str:
    """Say whether a section is marked as a part or a chapter; class names say too little."""
    semantics = semantics_of(element)
    if semantics & _CHAPTERS:
        return "chapter"
    return "part" if semantics & _PARTS else ""


def is_verse(tokens: frozenset[str]) -> bool:
    """Whether an element is marked as verse."""
    return bool(tokens & _VERSE)


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
    words = "".join(str(piece) for piece in element.itertext()).strip()
    return not words or bool(_PAGE_NUMBER.fullmatch(words))


def holds_blocks(element: Element) -> bool:
    """Whether paragraphs or their like stand inside an element."""
    return len(element) > 0 and any(local_name(each) in BLOCKS for each in element.iterdescendants())


def is_italic(element: Element, tokens: frozenset[str]) -> bool:
    """Whether the words of an inline element are printed in italics."""
    return local_name(element) in _ITALIC_ELEMENTS or bool(tokens & _ITALIC_CLASSES)


def is_reference(element: Element, tokens: frozenset[str]) -> bool:
    """Whether a link leads to a note."""
    if "#" not in attribute(element, "href"):
        return False
    if tokens & _REFERENCE:
        return True
    words = "".join(str(piece) for piece in element.itertext()).strip()
    if not words or not _MARKER.fullmatch(words):
        return False
    raised = any(local_name(each) == "sup" for each in (*element.iterdescendants(), *element.iterancestors()))
    return raised or bool(_BRACKETED.fullmatch(words))


def is_return(element: Element, tokens: frozenset[str]) -> bool:
    """Whether a link or a label inside a note is its number or leads back to the text."""
    words = "".join(str(piece) for piece in element.itertext()).strip()
    named = bool(tokens & _BACK)
    return (named or local_name(element) in {"a", "sup"}) and bool(_RETURN.fullmatch(words))
