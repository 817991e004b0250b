"""Links between pages inside HTML of ours: real links, with an address, that keep the visit when clicked.

A plain link makes the browser load the app anew, which takes a second and forgets what is being done. A click on a link
made here changes the address and lets Streamlit follow it. (Streamlit's own `switch_page` with parameters leaves two
steps in the browser's history, the first of them to nowhere.) What is come back to stands where it was left
(``links.js``), by the browser's Back and by a link of the class ``relic-back``.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from markupsafe import Markup

from relic_ui.component import component
from relic_ui.visit import visit

_JS = Path(__file__).with_name("links.js").read_text(encoding="utf-8")


def address(page: str, /, **parameters: str | int | None) -> str:
    """Make the address of a page of ``pages/``, relative to that of any other; what is None or "" is left away.

    >>> address("read", work="emma-1", at="3.5.2", q=None)
    'read?work=emma-1&at=3.5.2'
    """
    given = {name: str(value) for name, value in parameters.items() if value not in (None, "")}
    return f"{page}?{urlencode(given)}" if given else page


def place_of(heading: str) -> str:
    """Name the place of a heading in a document.

    >>> place_of("Where is this from?")
    'where-is-this-from'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def set_address(**wanted: str) -> None:
    """Put the whole of the page's address at once: each step would be one in the browser's history."""
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def asked_anew(names: Sequence[str]) -> dict[str, str] | None:
    """Give those of the address's parameters that a page goes by; None where they ask for what is shown.

    A page keeps what was asked in a visit: a bare address asks for something else only by the browser's Back. An
    address that has not caught up with a press, and so names what was shown before, asks for nothing.
    """
    state = visit()
    wanted, named, here = _given(names), _named(), state["came_from"] == state["page"]
    pressed = from_press() and wanted in named
    if named[-1:] == [wanted]:
        named[:-1] = []
    elif not pressed and (wanted or here):
        named[:] = [wanted]
        return wanted
    return None


def press() -> None:
    """Remember that this run of the page comes from a press; a callback of each widget whose value an address names."""
    visit()["pressed"] = True


def begin() -> None:
    """Begin a run of a page."""
    state = visit()
    state["from_press"] = state.pop("pressed", False) and state["came_from"] == state["page"]


def from_press() -> bool:
    """Tell whether this run comes from a press on the page, or from its script: its address may not have caught up."""
    return bool(visit()["from_press"])


def name_asked(names: Sequence[str], asked: dict[str, str]) -> None:
    """Put what is shown into the page's address, as one step that Back undoes; parameters of others stay."""
    if (given := _given(names)) != asked:
        others = {name: value for name, value in st.query_params.items() if name not in names}
        st.query_params.from_dict(others | asked)
        _named().append(given)
    _named().append(asked)


def _given(names: Sequence[str]) -> dict[str, str]:
    return {name: st.query_params[name] for name in names if name in st.query_params}


def _named() -> list[dict[str, str]]:
    """Give what the page's address named since the browser was seen to have caught up; the last is what is shown."""
    named: list[dict[str, str]] = st.session_state.setdefault(f"named by {visit()['page']}", [])
    return named


def link(
    page: str,
    label: str,
    /,
    *,
    css: str = "",
    title: str = "",
    attributes: Mapping[str, str] | None = None,
    **parameters: str | int | None,
) -> Markup:
    """Make the HTML of a link to a page of ``pages/``.

    - `label`: not yet escaped.
    - `css`: further classes; with ``relic-back`` it leads back to where that page was left.
    - `title`: shown on hovering, read out in place of the words.
    - `attributes`: ``data-then`` is a selector of what a followed link scrolls to and focuses.

    >>> link("read", "Read on", work="emma-1")
    Markup('<a class="relic-link" href="read?work=emma-1" target="_self">Read on</a>')
    """
    classes = escape(f"relic-link {css}".strip())
    given = {"title": title, "aria-label": title} if title else {}
    further = "".join(f' {name}="{escape(value)}"' for name, value in {**given, **(attributes or {})}.items())
    href = escape(address(page, **parameters))
    html = f'<a class="{classes}" href="{href}" target="_self"{further}>{escape(label)}</a>'
    return Markup(html)  # noqa: S704 - all its parts are escaped


def cite_link(work_id: str, at: str = "", length: int | None = None, search_id: str = "") -> Markup:
    """Link to the citation of a work or a passage.

    >>> cite_link("emma-1", "3.5.2", 2)
    Markup('<a class="relic-link" href="cite?work=emma-1&amp;at=3.5.2&amp;n=2" target="_self">Cite</a>')
    """
    return link("cite", "Cite", work=work_id, at=at, n=length, q=search_id)


def pages_html(page: int, pages: int, to: Callable[[str, int], str]) -> str:
    """Make the links from a page of a list to others, each by `to`, of its words and a page; nothing for one page."""
    if pages == 1:
        return ""

    def step(label: str, number: int) -> str:
        return to(label, number) if 1 <= number <= pages and number != page else ""

    here = f"<span>Page {page:,} of {pages:,}</span>"
    steps = (step("First", 1), step("Previous", page - 1), here, step("Next", page + 1), step("Last", pages))
    return f'<nav class="relic-kwic-pages" aria-label="Pages">{"".join(steps)}</nav>'


def number(written: str, digits: int = 6) -> int:
    """Read a number out of an address; 0 where it is none, or has more digits.

    >>> number("12"), number("-1"), number("²"), number("9" * 40)
    (12, 0, 0, 0)
    """
    return int(written) if written.isascii() and written.isdecimal() and len(written) <= digits else 0


def follow() -> None:
    """Listen for clicks on links made here; called once on every page, by the shell."""
    nonce, to = visit().get("brought", ("", ""))
    component("relic_links", js=_JS)(key="relic_links", data={"nonce": nonce, "to": to})


def bring(to: str) -> None:
    """Scroll to what a press has brought up and focus it, with the next run of the page."""
    visit()["brought"] = secrets.token_hex(8), to
