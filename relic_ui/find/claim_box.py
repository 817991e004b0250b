"""The claim box: a short claim, or a paragraph with a gap where its quotation would stand."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from relic_core.domain import GAP, Claim
from relic_core.services.search import has_gap
from relic_ui.component import component
from relic_ui.shell import LONGEST_PASTE
from relic_ui.visit import visit

CLAIM_LABEL = "Your claim, or a paragraph with a gap"
PLACEHOLDER = f"Paste a paragraph of yours, with {GAP} where the quotation goes.\nOr write a short claim."
_HELP = f"Enter searches; Shift+Enter starts a new line. {GAP} or [MASK] marks where the quotation goes."
MORE = "Say one thing more: who, when, what it shows"

_LISTENER_JS = Path(__file__).with_name("claim_box.js").read_text(encoding="utf-8")

_GAP_HTML = """
<p>In place of the words selected in the box, or at the cursor:</p><button type="button">Insert a gap</button>
"""

_GAP_JS = Path(__file__).with_name("gap_button.js").read_text(encoding="utf-8")

_GAP_CSS = Path(__file__).with_name("gap_button.css").read_text(encoding="utf-8")


def ask() -> None:
    """Have the page Find answer what its form says, with its next run."""
    visit()["find_ask"] = True


def show_claim_box(first: str) -> None:
    """Draw the box, which begins with `first`."""
    st.text_area(
        CLAIM_LABEL,
        first,
        key="find_claim",
        height=96,
        max_chars=LONGEST_PASTE,
        placeholder=PLACEHOLDER,
        persist_state="session",
        help=_HELP,
    )
    with st.sidebar:
        component("relic_claim_box", js=_LISTENER_JS)(key="relic_claim_box", data={"label": CLAIM_LABEL})


def takes_more(claim_text: str) -> bool:
    """Whether one thing more helps a claim: not one with a gap, or a paragraph, which say enough."""
    return Claim(left=claim_text, masked=has_gap(claim_text)).short


def show_more_box() -> None:
    """Draw the box for a second sentence of the claim."""
    st.text_input(f"{MORE} (optional)", key="find_more", persist_state="session")


def with_more(claim_text: str, more: str) -> str:
    """Join a second sentence to a claim.

    >>> with_more("Pip is ashamed", "at the forge"), with_more("Who lies?", ""), with_more("A lie?", "His")
    ('Pip is ashamed. At the forge', 'Who lies?', 'A lie? His')
    """
    claim_text, more = claim_text.strip(), more.strip()
    if not more or not claim_text:
        return claim_text or more
    return f"{claim_text}{'' if claim_text.endswith(('.', '!', '?', '…')) else '.'} {more[0].upper()}{more[1:]}"


def show_gap_button(claim_key: str) -> None:
    """Draw the button that puts a gap into the claim."""

    def put_gap() -> None:
        if asked := visit()["gap_button"].gap:
            st.session_state[claim_key] = with_gap(str(asked["before"]), str(asked["after"]))

    gap_button = component("relic_gap_button", html=_GAP_HTML, css=_GAP_CSS, js=_GAP_JS)
    gap_button(key="gap_button", data={"label": CLAIM_LABEL}, on_gap_change=put_gap)


def with_gap(before: str, after: str) -> str:
    """Put a gap between what stands before and after the words selected, or the cursor.

    >>> with_gap("He ", ", and sighs.")
    'He ____, and sighs.'
    >>> with_gap("He says:", "")
    'He says: ____'
    """
    gap = "" if not before or before[-1].isspace() else " "
    space = "" if not after or after[0].isspace() or after[0] in ".,;:!?)" else " "
    return f"{before}{gap}{GAP}{space}{after}"
