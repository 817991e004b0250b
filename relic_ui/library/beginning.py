"""How a work begins, for a look at it before it is stored: set as the reading room sets it, without notes."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from relic_core.domain import Span
from relic_core.reporting.passages import quotation
from relic_ui.passages import passage_html

if TYPE_CHECKING:
    from relic_core.domain import Work

_CHARACTERS = 300


def beginning_html(work: Work) -> str:
    """Set the first sentences of a work: speakers named, lines of verse kept, stage directions apart."""
    shown = []
    length = 0
    for sentence in work.sentences:
        if length >= _CHARACTERS:
            break
        if work.paragraphs[sentence.paragraph].kind != "note":
            shown.append(sentence)
            length += sentence.end - sentence.start
    parts = []
    speaker = ""
    for index, members in groupby(shown, key=lambda sentence: sentence.paragraph):
        sentences = list(members)
        paragraph = work.paragraphs[index]
        if paragraph.speaker and paragraph.speaker != speaker:
            parts.append(f'<p class="relic-read-speaker">{escape(paragraph.speaker)}</p>')
        if paragraph.kind != "stage":
            speaker = paragraph.speaker
        html = passage_html(quotation(work, Span(sentences[0].index, len(sentences))))
        parts.append(f'<div class="relic-shelf-stage">{html}</div>' if paragraph.kind == "stage" else html)
    return "".join(parts)
