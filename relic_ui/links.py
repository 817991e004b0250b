"""Links between pages inside HTML of ours: real links, with an address, that keep the visit when clicked.

A plain link makes the browser load the app anew, which takes a second and forgets what is being done. A click on a link
made here changes the address and lets Streamlit follow it, as it follows the browser's Back and Forward; a click with
Ctrl, the middle button or the browser's own menu opens the address as any other link would. (Streamlit's own
`switch_page` with parameters leaves two steps in the browser's history, the first of them to nowhere.)
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

_JS = """
export default function () {
  const follow = event => {
    const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
    const link = event.target.closest?.("a.relic-link")
    if (!link || elsewhere || event.defaultPrevented) return
    event.preventDefault()
    history.pushState(null, "", link.href)
    dispatchEvent(new PopStateEvent("popstate")) // not trusted, unlike the browser's own
  }
  document.addEventListener("click", follow)
  return () => document.removeEventListener("click", follow)
}
"""


@st.cache_resource
def _follower() -> Callable[..., Any]:
    """Register the listener once per server."""
    return cast("Callable[..., Any]", st.components.v2.component("relic_links", js=_JS))


def address(page: str, /, **parameters: str | int | None) -> str:
    """Make the address of a page, relative to that of any other.

    Parameters
    ----------
    page : str
        Its name in ``pages/``.
    **parameters : str, int or None
        What the address carries; None and "" are left away.

    Examples
    --------
    >>> address("read", work="emma-1", at="3.5.2", q=None)
    'read?work=emma-1&at=3.5.2'
    """
    given = {name: str(value) for name, value in parameters.items() if value not in (None, "")}
    return f"{page}?{urlencode(given)}" if given else page


def link(page: str, label: str, /, *, css: str = "", title: str = "", **parameters: str | int | None) -> str:
    """Make the HTML of a link to a page.

    Parameters
    ----------
    page : str
        Its name in ``pages/``.
    label : str
        The words of the link, not yet escaped.
    css : str
        Further classes.
    title : str
        What the link is called where its words do not say it: shown on hovering, read out in place of the words.
    **parameters : str, int or None
        What the address carries.

    Examples
    --------
    >>> link("read", "Read on", work="emma-1")
    '<a class="relic-link" href="read?work=emma-1" target="_self">Read on</a>'
    """
    classes = escape(f"relic-link {css}".strip())
    named = f' title="{escape(title)}" aria-label="{escape(title)}"' if title else ""
    href = escape(address(page, **parameters))
    return f'<a class="{classes}" href="{href}" target="_self"{named}>{escape(label)}</a>'


def follow() -> None:
    """Listen for clicks on links made here; called once on every page, by the shell."""
    _follower()(key="relic_links")
