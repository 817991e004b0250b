"""The page Help: the documents of the project, searched, with links and pictures that work inside the app."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from html import escape, unescape

import streamlit as st
from markdown_it import MarkdownIt

from relic_core.config import APP
from relic_core.wiring import App
from relic_ui import language_model
from relic_ui.links import link, place_of
from relic_ui.naming import shorten
from relic_ui.shell import literal, warn_of_address
from relic_ui.visit import visit

GUIDE = "guide"
_DOCS = APP.parent / "docs"
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MOST, _BEFORE, _SHOWN = 30, 60, 240
"""Sections that a search lists, and the characters shown of each, some of them before the word."""


def show(app: App) -> None:
    """Draw what is searched for, or the document that the address names, and the list of all."""
    st.title("Help", anchor=False)
    name = st.query_params.get("page", "")
    visit()["help_words"] = "" if name else st.query_params.get("words", "")
    words = st.text_input("Search the help", key="help_words", on_change=_seek, width=440)
    if words.strip():
        st.html(_found_html(words))
        return
    if name and name not in names():
        warn_of_address(f"There is no page of help called “{literal(name[:40])}”. Here is the first.")
    if name == language_model.DOCUMENT:
        language_model.show(app)
    st.html(f'<article class="relic-help">{html(name if name in names() else GUIDE)}</article>')
    listed = "".join(f"<li>{link('help', title_of(each), page=each)}</li>" for each in names())
    st.html(f'<nav class="relic-help" aria-label="All help"><h2>All help</h2><ul>{listed}</ul></nav>')


def _seek() -> None:
    """Put the words into the address, so that the browser's Back finds them again."""
    st.query_params.from_dict({"words": visit()["help_words"]})


@cache
def names() -> list[str]:
    """List the documents, the guide first."""
    return sorted((path.stem for path in _DOCS.glob("*.md")), key=lambda name: (name != GUIDE, name))


def title_of(name: str) -> str:
    """Give the title of a document."""
    return _sections(name)[0].split("\n")[0]


@cache
def html(name: str) -> str:
    """Make the HTML of a document: its headings are places, and its links lead where they can inside the app."""
    made = _MARKDOWN.render((_DOCS / f"{name}.md").read_text(encoding="utf-8"))
    made = re.sub(r"<h(\d)>(.*?)</h\d>", _heading, made)
    made = re.sub(r'<a href="([^"]*)"', _opened, made).replace("<pre>", '<pre tabindex="0">')
    return re.sub(r'src="([^"]*)"', _picture, made)


def _heading(found: re.Match[str]) -> str:
    level = int(found[1]) + 1  # below the page's own
    return f'<h{level} id="{place_of(_plain(found[2]))}">{found[2]}</h{level}>'


def _opened(found: re.Match[str]) -> str:
    name, _, place = found[1].partition("#")
    if name.startswith("http"):
        return f'{found[0]} target="_blank"'
    if not name:
        return f'{found[0]} target="_self"'
    if "/" in name:  # it is in the checkout alone
        return "<a"
    then = f" data-then=\"[id='{place}']\"" if place else ""
    return f'<a class="relic-link" target="_self" href="help?page={name.removesuffix(".md")}"{then}'


def _picture(found: re.Match[str]) -> str:
    return f'src="data:image/png;base64,{b64encode((_DOCS / found[1]).read_bytes()).decode()}"'


def _plain(markup: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", markup))


@cache
def _sections(name: str) -> list[str]:
    """Give the words of each section, the heading on a line of its own."""
    return [_plain(section) for section in re.split(r"(?=<h\d id)", html(name))[1:]]


def search(words: str) -> list[tuple[str, str]]:
    """Find the sections that hold all words, those with all in the heading first: document, section."""
    wanted = words.casefold().split()
    every = [(name, section) for name in names() for section in _sections(name)]
    found = [place for place in every if all(word in place[1].casefold() for word in wanted)]
    return sorted(found, key=lambda place: not all(word in place[1].split("\n")[0].casefold() for word in wanted))


def _found_html(words: str) -> str:
    items, found = "", search(words)
    for name, section in found[:_MOST]:
        heading, _, text = section.partition("\n")
        start = max(0, text.casefold().find(words.casefold().split()[0]) - _BEFORE)
        to = {"data-then": f"[id='{place_of(heading)}']"}
        items += f"<li>{link('help', f'{title_of(name)}: {heading}', attributes=to, page=name)}"
        items += f"<p>{escape(shorten(text[text.rfind(' ', 0, start) + 1 :], _SHOWN))}</p></li>"
    nothing = f"<p>No page of help has “{escape(shorten(words, _SHOWN))}”. Try fewer words.</p>"
    more = f"<p>{len(found) - _MOST} more have these words. Add one.</p>" if len(found) > _MOST else ""
    return f'<ul class="relic-help">{items}</ul>{more}' if items else nothing
