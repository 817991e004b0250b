"""Buttons inside HTML of ours: a long list of works is one piece of HTML, which a hundred widgets would make slow.

A button made here says what it does and to what; the page that asks `pressed` is told once. After a press the focus of
the keyboard goes on to what the press brought up, or stays in the row whose button has gone.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

_JS = """
export default function (component) {
  const { setTriggerValue } = component
  const press = event => {
    const button = event.target.closest?.("button.relic-button")
    if (!button || event.defaultPrevented) return
    const then = button.dataset.then
    const row = button.closest("li[id]")?.id
    setTriggerValue("pressed", `${button.dataset.does} ${button.dataset.to}`)
    let elsewhere = false
    document.addEventListener("pointerdown", () => { elsewhere = true }, { once: true })
    const until = Date.now() + (then ? 6000 : 600000)
    const look = () => {
      const brought = then && document.querySelector(then)
      if (brought) { (brought.querySelector("input, textarea, button") ?? brought).focus(); return }
      const focused = document.activeElement
      if (!then && row && focused === document.body) document.getElementById(row)?.focus({ preventScroll: true })
      else if (!then && focused !== button && focused.id !== row) return
      if (!elsewhere && Date.now() < until) setTimeout(look, 200)
    }
    look()
  }
  document.addEventListener("click", press)
  document.documentElement.dataset.relicButtons = "listening"
  return () => document.removeEventListener("click", press)
}
"""


@st.cache_resource
def _listener() -> Callable[..., Any]:
    """Register the listener once per server."""
    return cast("Callable[..., Any]", st.components.v2.component("relic_buttons", js=_JS))


def button(does: str, to: str, label: str, *, title: str, then: str = "") -> str:
    """Make the HTML of a button.

    Parameters
    ----------
    does, to : str
        What it does and to what, without spaces: what `pressed` gives back.
    label : str
        The words on it, not yet escaped.
    title : str
        What it is called where many have the same words, beginning with them: read out in their place.
    then : str
        A selector: what the press brings up, and where the focus goes.

    Examples
    --------
    >>> button("add", "emma", "Add", title="Add Emma")
    '<button type="button" class="relic-button" data-does="add" data-to="emma" aria-label="Add Emma">Add</button>'
    """
    goes = f' data-then="{escape(then)}"' if then else ""
    return (
        f'<button type="button" class="relic-button" data-does="{escape(does)}" data-to="{escape(to)}"{goes} '
        f'aria-label="{escape(title)}">{escape(label)}</button>'
    )


def pressed() -> tuple[str, str]:
    """Say which button was pressed, once; called once by a page that has such buttons.

    Returns
    -------
    does, to : str
        As given to `button`; both empty where none was pressed.
    """
    with st.sidebar:
        asked = _listener()(key="relic_buttons", on_pressed_change=lambda: None).pressed
    does, _, to = str(asked or "").partition(" ")
    return does, to
