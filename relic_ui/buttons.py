"""Buttons inside HTML of ours, since a hundred widgets would make a long list slow; and those that save a file.

A button made here says what it does and to what; the page that asks `pressed` is told once. After a press the focus of
the keyboard goes on to what the press brought up, stays on the button where that is drawn anew, or in the row whose
button has gone; and that row stays where it is in the window, whatever grows above it, until the reader does something
else.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

from relic_ui.component import component

_JS = """
const FOCUSED = "input, textarea, button, [tabindex]"

export default function (component) {
  const { setTriggerValue } = component
  window.relicButtons?.abort() // drawn anew, the component is begun anew: a press is told once
  const gone = window.relicButtons = new AbortController()
  let last = new AbortController()
  const press = event => {
    const button = event.target.closest?.("button.relic-button")
    if (!button || event.defaultPrevented || button.getAttribute("aria-disabled")) return
    const { does, to, then, during } = button.dataset
    const closest = button.closest("li[id], article[id], tr[id]")
    const row = closest?.id
    const opened = [...(closest?.querySelectorAll("details") ?? [])].map(each => each.open)
    const words = button.textContent
    if (during) { // at once: the server may be busy
      button.setAttribute("aria-disabled", "true")
      button.textContent = during
      const undo = () => { button.removeAttribute("aria-disabled"); button.textContent = words }
      setTimeout(undo, 8000)
    }
    setTriggerValue("pressed", `${does} ${to}`)
    last.abort() // one press is followed at a time, until the reader does something else
    last = new AbortController()
    const { signal } = last
    const stop = () => last.signal === signal && last.abort()
    for (const name of ["pointerdown", "wheel", "touchmove", "keydown"])
      document.addEventListener(name, stop, { once: true, signal, passive: true })
    const place = row && document.getElementById(row).getBoundingClientRect().top
    const scroller = button.closest('[data-testid="stMain"]')
    const look = () => {
      const brought = then && document.querySelector(then)
      const takes = brought && [brought, ...brought.querySelectorAll("*")].find(each => each.matches(FOCUSED))
      if (takes) { stop(); takes.focus(); return } // Streamlit puts a button's place before the button
      const now = row && document.getElementById(row)
      if (then || !now) return
      if (now !== closest && !now.dataset.seen) { // drawn anew: what was open in it stays open
        now.dataset.seen = "yes"
        const details = [...now.querySelectorAll("details")]
        if (details.length === opened.length) details.forEach((each, at) => (each.open = opened[at]))
      }
      const moved = now.getBoundingClientRect().top - place // a work that has arrived grows the list above
      if (scroller && Math.abs(moved) > 1) scroller.scrollTop += moved
      const again = [...now.querySelectorAll("button.relic-button")].find(each => each.dataset.does === does)
      if (document.activeElement === document.body) (again ?? now).focus({ preventScroll: true })
    }
    const changes = new MutationObserver(look)
    changes.observe(document.body, { childList: true, subtree: true })
    signal.addEventListener("abort", () => changes.disconnect(), { once: true })
  }
  document.addEventListener("click", press, { signal: gone.signal })
  document.documentElement.dataset.relicButtons = "listening"
  return () => { gone.abort(); last.abort() }
}
"""


def button(
    does: str, to: str, label: str, *, title: str, then: str = "", during: str = "", chosen: bool | None = None
) -> str:
    """Make the HTML of a button.

    - `does`, `to`: what it does and to what, without spaces: what `pressed` gives back.
    - `label`: the words on it, not yet escaped.
    - `title`: what it is called where many have the same words, beginning with them: read out in their place.
    - `then`: a selector: what the press brings up, and where the focus goes.
    - `during`: the words on it from the press on, until the page is drawn anew.
    - `chosen`: of one that stays pressed, whether it is.

    >>> button("add", "emma", "Add", title="Add Emma")
    '<button type="button" class="relic-button" data-does="add" data-to="emma" aria-label="Add Emma">Add</button>'
    """
    goes = f' data-then="{escape(then)}"' if then else ""
    goes += f' data-during="{escape(during)}"' if during else ""
    goes += "" if chosen is None else f' aria-pressed="{str(chosen).lower()}"'
    return (
        f'<button type="button" class="relic-button" data-does="{escape(does)}" data-to="{escape(to)}"{goes} '
        f'aria-label="{escape(title)}">{escape(label)}</button>'
    )


def pressed() -> tuple[str, str]:
    """Say which button was pressed, once; called once by a page that has such buttons.

    What it returns:
    - `does, to`: as given to `button`; both empty where none was pressed.
    """
    with st.sidebar:
        asked = component("relic_buttons", js=_JS)(key="relic_buttons", on_pressed_change=lambda: None).pressed
    does, _, to = str(asked or "").partition(" ")
    return does, to


def save_button(
    label: str,
    data: str | bytes | Callable[[], str | bytes],
    file_name: str,
    mime: str,
    *,
    key: str,
    icon: str = "download",
    **look: Any,  # noqa: ANN401 - as st.download_button has it
) -> None:
    """Draw a button that saves a file; the page stays as it is."""
    st.download_button(label, data, file_name, mime, key=key, on_click="ignore", icon=f":material/{icon}:", **look)
