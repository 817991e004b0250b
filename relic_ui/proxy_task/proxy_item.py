"""One item of a study: the critic's words with the quotation left out, and three passages to choose from.

What answers to a press happens in the browser (``proxy_item.js``), which tells the server of each press once; the
answer is stored before the next item is drawn. A press names its item, so that what was pressed twice, or on two
devices, cannot become an answer to another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_JS = Path(__file__).with_name("proxy_item.js")
_KEY = "proxy_item"
_MOST_SECONDS = 86_400.0
_MOST_COMMENT = 4_000

_HTML = f"""
<div class="relic-proxy">
  <p class="relic-sr" role="status" data-part="said"></p>
  <header class="relic-proxy-head">
    <h2 tabindex="-1" data-part="heading"></h2>
    <p data-part="work"></p>
    <p data-part="counted"></p>
    <progress aria-label="Items answered" data-part="progress" max="1" value="0"></progress>
  </header>
  <div data-part="body"></div>
  <p class="relic-proxy-trouble" role="alert" data-part="trouble"></p>
  <div class="relic-proxy-foot">
    <div class="relic-proxy-do">
      <button type="button" class="relic-proxy-plain" data-part="back">Back one item <kbd aria-hidden="true">B</kbd>
      </button>
      <button type="button" class="relic-proxy-plain" data-part="next"><span data-part="on"></span>
        <kbd aria-hidden="true">N</kbd></button>
    </div>
    <details data-part="more"><summary>Add a comment</summary>
      <label for="relic-proxy-comment">Your comment on this item, kept with your choice</label>
      <textarea id="relic-proxy-comment" data-part="comment" maxlength="{_MOST_COMMENT}"></textarea>
    </details>
    <div class="relic-proxy-keys">
      <p>Keys: <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> choose, <kbd>0</kbd> or <kbd>C</kbd> cannot decide</p>
      <button type="button" data-part="keys"></button>
    </div>
  </div>
</div>
"""

_ARRIVE = """
export default function (component) {
  const target = document.getElementById(component.data.id)
  const main = document.querySelector('[data-testid="stMain"]')
  if (!target || document.activeElement !== document.body) return
  if (main) main.scrollTop = 0
  target.focus({ preventScroll: true })
}
"""

Does = Literal["choose", "back", "next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """What the reader did.

    - `choice`: number of the chosen passage, from 1; 0 where the reader cannot decide, and where nothing was chosen.
    - `seconds`: for how long the item could be seen.
    - `nonce`: tells this press from every other.
    """

    does: Does
    item: str
    choice: int
    comment: str
    seconds: float
    nonce: str


def press_of(told: object) -> Press | None:
    """Read what the browser tells; None where it is nothing that this page could have sent.

    >>> press_of({"does": "choose", "item": "a", "choice": "2", "comment": "", "seconds": 3.5, "nonce": "x"}).choice
    2
    >>> press_of({"does": "shout"}) is None
    True
    """
    does = told.get("does") if isinstance(told, dict) else None
    if not isinstance(told, dict) or does not in {"choose", "back", "next"}:
        return None
    choice, seconds = str(told.get("choice", "")), told.get("seconds", 0)
    if does == "choose" and choice not in {"0", "1", "2", "3"}:
        return None
    real = isinstance(seconds, int | float) and seconds >= 0
    return Press(
        does=does,
        item=str(told.get("item", "")),
        choice=int(choice or 0) if does == "choose" else 0,
        comment=str(told.get("comment", ""))[:_MOST_COMMENT],
        seconds=min(float(seconds), _MOST_SECONDS) if real else 0.0,
        nonce=str(told.get("nonce", "")),
    )


@st.cache_resource
def _component() -> Callable[..., Any]:
    """Register the component once per server; it shares the page's styles."""
    return cast(
        "Callable[..., Any]",
        st.components.v2.component(
            "relic_proxy_item", html=_HTML, js=_JS.read_text(encoding="utf-8"), isolate_styles=False
        ),
    )


def show(data: Mapping[str, object], heard: Callable[[Press], None]) -> None:
    """Draw an item.

    - `data`: ``item`` (its id), ``who`` (who answers, as the browser remembers it), ``body`` (`body_html`),
      ``heading``, ``about`` and ``counted`` (words over it), ``of`` and ``answered`` (numbers), ``choice`` ("1" to "3",
      "0" for cannot decide, "" where it is not answered), ``comment``, ``back`` (whether there is an item before it),
      ``next`` (words on the button that goes on), ``settled`` (it is shown with what is right and takes no answer),
      ``visit`` (another for each session), ``heard`` (nonce of the last press that was dealt with), ``said`` and
      ``trouble`` (what became of it).
    - `heard`: is given each press before the page is drawn anew.
    """

    def pressed() -> None:
        press = press_of(st.session_state[_KEY].did)
        if press is not None:
            heard(press)

    _component()(key=_KEY, data=dict(data), on_did_change=pressed)


@st.cache_resource
def _arriver() -> Callable[..., Any]:
    """Register once per server what brings the focus of the keyboard to what has come in place of the items."""
    return cast("Callable[..., Any]", st.components.v2.component("relic_proxy_arrive", js=_ARRIVE))


def arrive(element_id: str) -> None:
    """Bring the focus to an element that has come where the focus was lost."""
    _arriver()(key="proxy_arrive", data={"id": element_id})


def body_html(
    left: str,
    right: str,
    options: Sequence[str],
    *,
    notes: Sequence[str] = (),
    verdict: str = "",
    right_option: int = 0,
) -> str:
    """Set a claim and the passages to choose from.

    - `left`, `right`: the critic's words before and after the quotation.
    - `options`: the passages, in the order in which they are shown.
    - `notes`: a line below each passage; none where it is empty.
    - `verdict`: what stands over the passages of an item that is settled.
    - `right_option`: number of the passage to set off, from 1; 0 for none.
    """
    told = f'<p class="relic-proxy-verdict" tabindex="-1" data-part="verdict">{escape(verdict)}</p>' if verdict else ""
    rows = "".join(
        _option(number, words, notes[number - 1] if notes else "", right=number == right_option)
        for number, words in enumerate(options, start=1)
    )
    undecided = (
        ""
        if verdict
        else '<div class="relic-proxy-do"><button type="button" class="relic-proxy-plain" data-choice="0">'
        'Cannot decide <kbd aria-hidden="true">0</kbd></button></div>'
    )
    return (
        f'<div class="relic-proxy-body"><section class="relic-proxy-context"><h3>The critic writes</h3>'
        f"{claim_html(left, right)}</section>"
        f'<section class="relic-proxy-choose"><h3>Which of these did the critic quote?</h3>{told}'
        f'<ol class="relic-proxy-options">{rows}</ol>{undecided}</section></div>'
    )


def claim_html(left: str, right: str) -> str:
    """Set the critic's words with the missing quotation plain to see.

    >>> claim_html("He says", "& sighs.")
    '<p>He says <b class="relic-proxy-mask">the missing quotation</b> &amp; sighs.</p>'
    """
    gap = '<b class="relic-proxy-mask">the missing quotation</b>'
    return f"<p>{escape(left)} {gap} {escape(right)}</p>"


def words_html(words: str) -> str:
    r"""Set a passage inside a line of text: a button holds no paragraphs.

    >>> words_html("One.\n\nTwo & three.")
    '<span>One.</span><span>Two &amp; three.</span>'
    """
    return "".join(f"<span>{escape(paragraph)}</span>" for paragraph in words.split("\n\n") if paragraph.strip())


def _option(number: int, words: str, note: str, *, right: bool) -> str:
    said = f'<span class="relic-proxy-note">{escape(note)}</span>' if note else ""
    css = " relic-proxy-right" if right else ""
    return (
        f'<li><button type="button" class="relic-proxy-option{css}" data-choice="{number}">'
        f'<span class="relic-rank"><span class="relic-sr">Passage </span>{number}</span>'
        f'<span class="relic-proxy-words">{words_html(words)}</span>{said}</button></li>'
    )
