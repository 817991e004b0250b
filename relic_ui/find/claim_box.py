"""The claim box: a bare prompt, or a passage with its quotation masked, and a button that masks what is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from relic_core.domain import MASK

if TYPE_CHECKING:
    from collections.abc import Callable

CLAIM_LABEL = "Your claim, or a passage of analysis"
PLACEHOLDER = (
    "For example: The narrator presents his own carelessness as other people's fault.\n"
    "Or paste analysis, with [MASK] where the quotation would stand."
)

_MASK_BUTTON_JS = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const button = parentElement.querySelector("button")
  const box = () => document.querySelector(`textarea[aria-label="${data.label}"]`)
  button.onclick = () => {
    const area = box()
    if (!area) return
    const start = area.selectionStart ?? area.value.length
    const end = area.selectionEnd ?? start
    setTriggerValue("masked", { before: area.value.slice(0, start), after: area.value.slice(end) })
  }
}
"""

_MASK_BUTTON_CSS = """
button { font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: transparent; cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem);
  padding: 0.25rem 0.75rem; min-height: 2.25rem; }
span { font-size: 0.875rem; opacity: 0.8; margin-left: 0.75rem; color: var(--st-text-color); }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""


@st.cache_resource
def _mask_button() -> Callable[..., Any]:
    """Register the button once per server."""
    return cast(
        "Callable[..., Any]",
        st.components.v2.component(
            "relic_mask_button",
            html='<button type="button">Mask the quotation here</button>'
            "<span>replaces the words you have selected above, or stands at the cursor</span>\n",
            css=_MASK_BUTTON_CSS,
            js=_MASK_BUTTON_JS,
        ),
    )


def masked(before: str, after: str) -> str:
    """Put a mask between what stands before and after the words selected, or the cursor.

    >>> masked("He ", ", and sighs.")
    'He [MASK], and sighs.'
    >>> masked("He says:", "")
    'He says: [MASK]'
    """
    gap = "" if not before or before[-1].isspace() else " "
    space = "" if not after or after[0].isspace() or after[0] in ".,;:!?)" else " "
    return f"{before}{gap}{MASK}{space}{after}"


def show_mask_button(claim_key: str) -> None:
    """Draw the button under the claim box."""

    def put_mask() -> None:
        asked = st.session_state["mask_button"].masked
        if asked:
            st.session_state[claim_key] = masked(str(asked["before"]), str(asked["after"]))

    _mask_button()(key="mask_button", data={"label": CLAIM_LABEL}, on_masked_change=put_mask)
