"""What was understood of a text, on the page: its beginning, and what was set aside."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby

from relic_core.domain import Span, Work
from relic_core.reporting.passages import quotation
from relic_core.services.works import LeftOutPreview
from relic_ui.passages import passage_html

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
        html = passage_html(quotation(work, Span(sentences[0].index, len(sentences))), to_the_letter=True)
        parts.append(f'<div class="relic-shelf-stage">{html}</div>' if paragraph.kind == "stage" else html)
    return "".join(parts)


_NAMES = {
    "licence": "Licence",
    "front matter": "Front matter",
    "contents": "List of contents",
    "illustration": "Illustration marks",
    "editor's note": "Editor’s notes",
    "note": "Footnotes",
    "page number": "Page numbers",
    "verse number": "Verse numbers",
    "break": "Marks of breaks",
    "heading": "Headings",
    "speaker": "Names of speakers",
    "end matter": "End matter",
}


def name_of_kind(kind: str) -> str:
    """Name a kind of what was set aside.

    >>> name_of_kind("break"), name_of_kind("colophon")
    ('Marks of breaks', 'Colophon')
    """
    return _NAMES.get(kind, kind.capitalize())


def left_out_list(parts: Iterable[LeftOutPreview]) -> str:
    """Make a list of what was set aside: kinds, counts, and how the longest stretch of each begins."""
    rows = "".join(
        f"<li><strong>{escape(name_of_kind(part.kind))}</strong>: "
        f"{'once' if part.count == 1 else f'{part.count:,} times'}, {part.characters:,} characters"
        f'<span class="relic-shelf-sample">{escape(part.sample)}</span></li>'
        for part in parts
    )
    return f'<ul class="relic-shelf-left-out">{rows}</ul>'
