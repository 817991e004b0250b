"""The claim box: a short claim, or a paragraph with a gap where its quotation would stand."""

from __future__ import annotations

import streamlit as st

from relic_core.domain import GAP, Claim
from relic_core.services.search import has_gap
from relic_ui.component import component
from relic_ui.shell import LONGEST_PASTE

CLAIM_LABEL = "Your claim, or a paragraph with a gap"
PLACEHOLDER = f"Paste a paragraph of yours, with {GAP} where the quotation goes.\nOr write a short claim."
_HELP = f"Enter searches; Shift+Enter starts a new line. {GAP} or [MASK] marks where the quotation goes."
MORE = "Say one thing more: who, when, what it shows"

_LISTENER_JS = """
// Enter finds, as in other search boxes; Edit puts the cursor into the box.
export default function (component) {
  const gone = new AbortController()
  // The box folds away with the focus: it goes on to the line above the answer, unless the reader moved it meanwhile.
  const goOn = (from, looks) => {
    const line = document.querySelector('[class*="st-key-find_folded"] summary')
    if (line && document.activeElement === document.body) line.focus({ preventScroll: true })
    else if (looks && [from, document.body].includes(document.activeElement)) setTimeout(goOn, 150, from, looks - 1)
  }
  document.addEventListener("click", event => { // Enter comes here too
    const find = event.target.closest?.('[data-testid="stFormSubmitButton"] button[kind^="primary"]')
    if (find && box(find.closest('[data-testid="stForm"]') ?? document)) goOn(document.activeElement, 200)
  }, { signal: gone.signal, capture: true })
  const box = within => within.querySelector(`textarea[aria-label="${component.data.label}"]`)
  document.addEventListener("keydown", event => {
    const area = event.target
    const row = area.matches?.('[class*="st-key-find_conditions"] input:not([role])')
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || (area !== box(document) && !row)) return
    if (event.ctrlKey || event.metaKey) return // Streamlit's own
    const find = area.closest('[data-testid="stForm"]')?.querySelector(
      '[data-testid="stFormSubmitButton"] button[kind^="primary"]')
    if (!find) return
    event.preventDefault()
    if (row) event.stopPropagation() // Streamlit would press the first button of the form, which removes a row
    find.click()
  }, { signal: gone.signal, capture: true })
  document.addEventListener("toggle", event => {
    const details = event.target
    if (details.open && details.closest('[class*="st-key-find_folded"]')) box(details)?.focus()
  }, { signal: gone.signal, capture: true })
  return () => gone.abort()
}
"""

_GAP_HTML = """
<p>In place of the words selected in the box, or at the cursor:</p><button type="button">Insert a gap</button>
"""

_GAP_JS = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const button = parentElement.querySelector("button")
  button.onclick = () => {
    const area = document.querySelector(`textarea[aria-label="${data.label}"]`)
    if (!area) return
    const start = area.selectionStart ?? area.value.length
    const end = area.selectionEnd ?? start
    setTriggerValue("gap", { before: area.value.slice(0, start), after: area.value.slice(end) })
  }
}
"""

_GAP_CSS = """
button { font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: transparent; cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem);
  padding: 0.25rem 0.75rem; min-height: 2.25rem; }
p { font-size: 0.875rem; opacity: 0.8; margin: 0 0 .4rem; color: var(--st-text-color); }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""


def ask() -> None:
    """Have the page Find answer what its form says, with its next run."""
    st.session_state["find_ask"] = True


def show_claim_box(first: str, *, key: str) -> None:
    """Draw the box, which begins with `first`."""
    st.text_area(
        CLAIM_LABEL,
        first,
        key=key,
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


def show_more_box(*, key: str) -> None:
    """Draw the box for a second sentence of the claim."""
    st.text_input(f"{MORE} (optional)", key=key, persist_state="session")


def with_more(claim_text: str, more: str) -> str:
    """Join a second sentence to a claim.

    >>> with_more("Pip is ashamed", "At the forge"), with_more("Who lies?", ""), with_more("A lie?", "His")
    ('Pip is ashamed. At the forge', 'Who lies?', 'A lie? His')
    """
    claim_text, more = claim_text.strip(), more.strip()
    if not more or not claim_text:
        return claim_text or more
    return f"{claim_text}{'' if claim_text.endswith(('.', '!', '?', '…')) else '.'} {more}"


def show_gap_button(claim_key: str) -> None:
    """Draw the button that puts a gap into the claim."""

    def put_gap() -> None:
        if asked := st.session_state["gap_button"].gap:
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
