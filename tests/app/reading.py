"""What a page says, taken out of AppTest's tree."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest
    from streamlit.testing.v1.element_tree import Element

FIND = "pages/find.py"
LIBRARY = "pages/library.py"


def html(at: AppTest) -> str:
    """Return all that a page shows by st.html, the styles left out."""
    return "\n".join(each.value for each in at.get("html") if "<style>" not in each.value)


def plain(markup: str) -> str:
    """Return the words of some HTML."""
    return unescape(re.sub(r"<[^>]*>", "", markup))


def said(at: AppTest) -> str:
    """Return all messages of a page as they are read, without the escapes of Markdown."""
    return as_read("\n".join(message.value for message in messages(at)))


def messages(at: AppTest) -> list[Element]:
    return [*at.error, *at.warning, *at.info, *at.success]


def bars(at: AppTest) -> list[str]:
    """Return what stands over the progress bars."""
    return [as_read(bar.text) for bar in at.get("progress")]


def as_read(markdown: str) -> str:
    return re.sub(r"\\([^\w\s]|_)", r"\1", markdown)


def sound(at: AppTest) -> AppTest:
    """Hold a page to the least: no traceback on it."""
    assert [each.message for each in at.exception] == []
    return at


def found(at: AppTest, claim: str) -> AppTest:
    """Write a claim on the page Find, and press Find."""
    at.text_area(key="find_claim").set_value(claim)
    return sound(at.button(key="find_button").click().run())
