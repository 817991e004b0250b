"""Buttons that copy words from HTML of ours, italics with them where the place they go to keeps italics.

A button made here copies the element of the class ``relic-copied`` in the same ``relic-copy`` block. Nothing is asked
of the server; the button says that it was done, and a screen reader is told.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from relic_ui.component import component

_JS = """
export default function () {
  window.relicCopying?.abort() // drawn anew, the component is begun anew: two that write at once spoil the clipboard
  const gone = window.relicCopying = new AbortController()
  const byHand = words => {
    const range = document.createRange()
    range.selectNodeContents(words)
    const selection = getSelection()
    selection.removeAllRanges()
    selection.addRange(range)
    const done = document.execCommand("copy")
    selection.removeAllRanges()
    return done
  }
  const copy = async words => {
    const text = words.innerText
    try {
      await navigator.clipboard.write([new ClipboardItem({
        "text/plain": new Blob([text], { type: "text/plain" }),
        "text/html": new Blob([words.innerHTML], { type: "text/html" }),
      })])
      return true
    } catch {
      return byHand(words) // no clipboard without https, or it was refused
    }
  }
  const press = async event => {
    const button = event.target.closest?.("button.relic-copy-button")
    const words = button?.closest(".relic-copy")?.querySelector(".relic-copied")
    if (!words) return
    const done = await copy(words)
    const said = button.querySelector("[role=status]")
    const label = button.querySelector("[data-words]")
    label.textContent = done ? "Copied" : "Not copied: mark the words and press Ctrl+C"
    said.textContent = done ? "Copied" : "Not copied"
    clearTimeout(button.undoing)
    button.undoing = setTimeout(() => { label.textContent = label.dataset.words; said.textContent = "" }, 2500)
  }
  document.addEventListener("click", press, { signal: gone.signal })
  document.documentElement.dataset.relicCopying = "listening"
  return () => gone.abort()
}
"""


def listen() -> None:
    """Listen for presses; called once by a page that has such buttons."""
    with st.sidebar:
        component("relic_copying", js=_JS)(key="relic_copying")


def copy_button(title: str) -> str:
    """Make the HTML of a button.

    >>> copy_button("the note")[:75]
    '<button type="button" class="relic-copy-button" aria-label="Copy the note">'
    """
    return (
        f'<button type="button" class="relic-copy-button" aria-label="Copy {escape(title)}">'
        '<span data-words="Copy">Copy</span><span class="relic-sr" role="status"></span></button>'
    )
