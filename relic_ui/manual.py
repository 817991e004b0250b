"""The page Help: the documents of the project, searched, with links and pictures that work inside the app."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import pairwise

import streamlit as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from relic_core.config import APP
from relic_ui.links import address, link
from relic_ui.naming import shorten
from relic_ui.shell import literal, warn_of_address

GUIDE = "guide"
_DOCS = APP.parent / "docs"
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MOST, _SHOWN = 30, 200
"""Places that a search lists, and characters shown of each."""


def show() -> None:
    """Draw what is searched for, or the document that the address names, and the list of all."""
    st.title("Help", anchor=False)
    name = st.query_params.get("page", "")
    if name:
        st.session_state["help_words"] = ""
    words = st.text_input(
        "Search the help", key="help_words", icon=":material/search:", on_change=st.query_params.clear, width=440
    )
    if words.strip():
        st.html(_found_html(words))
        return
    name = name or GUIDE
    if name not in names():
        warn_of_address(f"There is no page of help called “{literal(name[:40])}”. Here is the first.")
        name = GUIDE
    st.html(f'<article class="relic-help">{_html(name)}</article>')
    listed = "".join(f"<li>{link('help', title_of(each), page=each)}</li>" for each in names())
    st.html(f'<nav class="relic-help" aria-label="All help"><h2>All help</h2><ul>{listed}</ul></nav>')


@cache
def names() -> tuple[str, ...]:
    """List the documents, the guide first."""
    return tuple(sorted((path.stem for path in _DOCS.glob("*.md")), key=lambda name: (name != GUIDE, name)))


def title_of(name: str) -> str:
    """Give the title of a document."""
    return _plain(_read(name)[1])


@cache
def _read(name: str) -> list[Token]:
    """Read a document: its headings have anchors, and its links and pictures lead where they can inside the app."""
    tokens = _MARKDOWN.parse((_DOCS / f"{name}.md").read_text(encoding="utf-8"))
    for before, token in pairwise(tokens):
        if before.type in {"heading_open", "heading_close"}:
            before.tag = f"h{len(before.markup) + 1}"  # below the page's own
        if before.type == "heading_open":
            before.attrSet("id", anchor(_plain(token)))
        elif before.type == "fence":
            before.attrSet("tabindex", "0")
    for each in [child for token in tokens for child in token.children or ()]:
        if each.type == "link_open":
            _lead(each, name)
        elif each.type == "image":
            picture = _DOCS / str(each.attrs["src"])
            each.attrSet("src", f"data:image/png;base64,{b64encode(picture.read_bytes()).decode()}")
    return tokens


def _lead(opened: Token, name: str) -> None:
    """Have a link to a document, or to a place in one, lead there in the app."""
    to = re.fullmatch(r"(?:([\w-]+)\.md)?(?:#(.*))?", str(opened.attrs["href"]))
    if to and to[1] in {None, name}:
        opened.attrs = {"target": "_self", "href": f"#{to[2]}"}
    elif to:
        opened.attrs = {"class": "relic-link", "target": "_self", "href": address("help", page=to[1])}
        if to[2]:
            opened.attrSet("data-then", f"[id='{to[2]}']")
    elif not str(opened.attrs["href"]).startswith("http"):
        opened.attrs = {}  # it is in the checkout alone


@cache
def _html(name: str) -> str:
    return str(_MARKDOWN.renderer.render(_read(name), _MARKDOWN.options, {}))


def anchor(heading: str) -> str:
    """Name the place of a heading, as the documents themselves do.

    >>> anchor("How they were checked, in 2023")
    'how-they-were-checked-in-2023'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _plain(token: Token) -> str:
    words = (" " if child.type == "softbreak" else child.content for child in token.children or ())
    return "".join(words) or token.content


def _places(name: str) -> Iterator[tuple[str, str, bool]]:
    """Give the headings and paragraphs of a document, each with the heading it stands under and whether it is one."""
    under, tokens = "", _read(name)
    for before, token in pairwise(tokens):
        heads = before.type == "heading_open"
        under = _plain(token) if heads else under
        if token.type in {"inline", "fence"}:
            yield under, _plain(token), heads


def search(words: str) -> list[tuple[str, str, str]]:
    """Find the places that hold all words, headings first: document, heading, what stands there."""
    wanted = words.casefold().split()
    found = []
    for name in names():
        for under, said, heads in _places(name):
            if all(word in said.casefold() for word in wanted):
                found.append((not heads, (name, under, said)))
    return [place for _, place in sorted(found, key=lambda each: each[0])]


def _found_html(words: str) -> str:
    found = search(words)
    if not found:
        return f'<p class="relic-quiet">No page of help has “{escape(shorten(words, _SHOWN))}”. Try fewer words.</p>'
    items = ""
    for name, under, said in found[:_MOST]:
        to = {"data-then": f"[id='{anchor(under)}']"}
        items += f"<li>{link('help', f'{title_of(name)}: {under}', attributes=to, page=name)}"
        items += f"<p>{escape(shorten(said, _SHOWN))}</p></li>"
    return f'<ul class="relic-help">{items}</ul>'
