"""One window: the critic’s words on one side, the sentences of the work on the other, lit where they agree."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from relic_ui.buttons import button
from relic_ui.links import link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import Offsets, SecondarySource
    from relic_core.services.sources import WindowView

EVIDENCE = {
    "claim-supporting": (
        "A claim",
        (
            "the critic makes a claim about the work, and the quotation is the evidence for it. The words around it "
            "refer to what is quoted."
        ),
    ),
    "paraphrase-supporting": (
        "A paraphrase",
        (
            "the critic retells what happens, and the quotation goes with the retelling. The words around it make no "
            "argument about what is quoted."
        ),
    ),
    "other": (
        "Something else",
        "no criticism of the work: a film of it is discussed, for example, or the print is damaged.",
    ),
}
"""Answers on evidence → what the button says, and what the answer means (RELiC, section 2.3)."""

MATCH = {"right": "Yes", "wrong": "No"}
"""Answers on the match → what the button says."""
_WEAK = 82.0
"""Likeness, of 100, of the least like sentence, below which a match is called weak: one in ten of those kept."""
_KINDS = {"inline": "", "block": "set off", "verse": "set off as verse"}


def window_id(window: str) -> str:
    """Name the place of a window on its page."""
    return f"window-{window}"


def window_html(view: WindowView, number: int, *, of: str) -> str:
    """Make the HTML of one window, an item of a list.

    - `number`: its number in the list, from 1.
    - `of`: what the list is of: what is the same in all of it is not said again.
    """
    window, name = view.window, escape(window_id(view.window.id))
    heading = f"<cite>{escape(view.work.title)}</cite>" if of == "source" else cited(view.source)
    where = escape(view.place.label.replace(" · ", ", "))
    set_how = _KINDS[window.kind]
    return (
        f'<li id="{name}" tabindex="-1" aria-labelledby="{name}-name" class="relic-window'
        f'{" relic-window-out" if view.set_aside else ""}">'
        f'<h3 id="{name}-name"><span class="relic-window-number">{number:,}</span> {heading}'
        f'<span class="relic-window-where">{where}</span></h3>'
        '<div class="relic-window-sides">'
        f'<section aria-label="The critic"><h4>{"The critic" if of == "source" else "In this source"}'
        f"{f', {set_how}' if set_how else ''}</h4>{critic_html(view)}</section>"
        f'<section aria-label="The work"><h4>{"The work" if of == "source" else escape(view.work.title)}</h4>'
        f"<blockquote>{marked(view.sentences, view.lit_in_sentences)}</blockquote>"
        f'<p class="relic-window-links">{_links(view, others=of != "sentence")}</p></section></div>'
        f"{_weak(view)}{_judging(view)}</li>"
    )


def cited(source: SecondarySource) -> str:
    """Name a source: its title, and the author where one is known."""
    by = f' <span class="relic-window-by">{escape(source.author)}</span>' if source.author else ""
    return f"<cite>{escape(source.title)}</cite>{by}"


def critic_html(view: WindowView) -> str:
    """Set the critic's words, with the quotation between them."""
    window = view.window
    before = f'<p class="relic-window-around">{escape(" ".join(window.left))}</p>' if window.left else ""
    after = f'<p class="relic-window-around">{escape(" ".join(window.right))}</p>' if window.right else ""
    return f"{before}<blockquote>{marked(window.quotation, view.lit)}</blockquote>{after}"


def marked(text: str, lit: Iterable[Offsets]) -> str:
    r"""Set words with the lit stretches as marks; an empty line parts paragraphs.

    >>> marked("A & B rose", [(0, 5)])
    '<p><mark>A &amp; B</mark> rose</p>'
    >>> marked("It rose.\n\nIt fell.", [(3, 12)])
    '<p>It <mark>rose.</mark></p><p><mark>It</mark> fell.</p>'
    """
    lit = sorted(lit)
    paragraphs, at = [], 0
    for paragraph in re.split(r"(\n{2,})", text):
        if paragraph.strip():
            paragraphs.append(f"<p>{_marked(paragraph, at, lit)}</p>")
        at += len(paragraph)
    return "".join(paragraphs)


def _marked(text: str, at: int, lit: Iterable[Offsets]) -> str:
    """Set the stretch of a text that begins at `at`."""
    html, done = "", 0
    for start, end in lit:
        first, last = max(start - at, done), min(end - at, len(text))
        if first < last:
            html += f"{escape(text[done:first])}<mark>{escape(text[first:last])}</mark>"
            done = last
    return html + escape(text[done:])


def _links(view: WindowView, *, others: bool) -> str:
    at, n = str(view.place.address), view.window.gold.length
    title = view.work.title
    read = link(
        "read", "Read it in its chapter", title=f"Read it in its chapter: {title}", work=view.work.id, at=at, n=n
    )
    if not others:
        return read
    return read + link("sources", "Who else quotes it", title=f"Who else quotes it: {title}", work=view.work.id, at=at)


def _weak(view: WindowView) -> str:
    """Say that a match is weak, and why a window was set aside."""
    said = ""
    if view.set_aside:
        said += f'<p class="relic-window-note"><strong>Set aside:</strong> {escape(view.set_aside.rstrip("."))}.</p>'
    if view.window.score < _WEAK:
        said += (
            '<p class="relic-window-note"><strong>A weak match:</strong> the words differ in places '
            f"(likeness {view.window.score:.0f} of 100). It may be another edition, or quoted from memory.</p>"
        )
    return said


def _judging(view: WindowView) -> str:
    """Offer the two questions: whether it is a quotation of this passage, and what it is there for."""
    key = view.window.id
    match = "".join(
        button(answer, key, label, title=f"{label}: a quotation of this passage", chosen=view.match == answer)
        for answer, label in MATCH.items()
    )
    supports = "".join(
        button(answer, key, label, title=f"{label} ({answer})", chosen=view.evidence == answer)
        for answer, (label, _) in EVIDENCE.items()
    )
    groups = "".join(
        f'<div role="group" aria-label="{asked}"><span aria-hidden="true">{asked}</span>{buttons}</div>'
        for asked, buttons in (("A quotation of this passage?", match), ("It supports", supports))
    )
    return f'<div class="relic-window-judge">{groups}</div>'
