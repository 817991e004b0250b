"""A chapter as HTML: the same whatever is lit or marked in it, so that the browser keeps its place."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from relic_core.domain import Address
from relic_core.reporting.chapters import Aside, ChapterParagraph, ChapterStretch, SetChapter, printed_chapter
from relic_core.reporting.passages import Piece

HEADING = "chapter-name"
"""Name of the chapter's heading on the page."""


def sentence_id(address: Address | str) -> str:
    """Name a sentence on the page.

    >>> sentence_id("3.n1.2")
    's-3-n1-2'
    """
    return f"s-{str(address).replace('.', '-')}"


def paragraph_id(chapter: int, paragraph: ChapterParagraph) -> str:
    """Name a paragraph on the page, by the index of its chapter and its number there."""
    return _paragraph_id(chapter, paragraph.number, note=paragraph.kind == "note")


def _paragraph_id(chapter: int, number: int, *, note: bool = False) -> str:
    return f"p-{chapter + 1}-{'n' * note}{number}"


@lru_cache(maxsize=8)
def chapter_html(chapter: SetChapter, work_id: str, *, as_printed: bool) -> str:
    """Set a chapter as an article, its dashes and quotation marks as in print or to the letter.

    Every sentence is an element with a name (`sentence_id`), every paragraph one with a number beside it; where a
    sentence is, its own ``data-place`` says or that of its paragraph.
    """
    if as_printed:
        chapter = printed_chapter(chapter)
    part = f'<span class="relic-read-part">{escape(chapter.part)}</span> ' if chapter.part else ""
    name = "" if chapter.name == chapter.part else f"<span>{escape(chapter.name)}</span>"
    body = "".join(_aside(block) if isinstance(block, Aside) else _paragraph(block, chapter) for block in chapter.body)
    return (
        f'<article class="relic-read-text" data-work="{escape(work_id)}" data-chapter="{chapter.index + 1}" '
        f'aria-labelledby="{HEADING}">'
        f'<h2 id="{HEADING}" tabindex="-1">{part}{name}</h2>{body}{_notes(chapter)}</article>'
    )


def _notes(chapter: SetChapter) -> str:
    if not chapter.notes:
        return ""
    notes = "".join(_paragraph(note, chapter) for note in chapter.notes)
    return f'<section class="relic-read-notes" aria-label="Notes"><h3>Notes</h3>{notes}</section>'


def _aside(aside: Aside) -> str:
    """Set what stands between paragraphs."""
    if aside.kind == "break":
        return '<hr class="relic-read-break">'
    if aside.kind == "heading":
        return f'<h3 class="relic-read-heading">{escape(aside.text)}</h3>'
    return f'<p class="relic-read-aside"><span class="relic-sr">Note: </span>{escape(aside.text)}</p>'


def _paragraph(paragraph: ChapterParagraph, chapter: SetChapter) -> str:
    named = paragraph_id(chapter.index, paragraph)
    kind = "Note" if paragraph.kind == "note" else "Paragraph"
    place = next((stretch.place for stretch in paragraph.stretches if stretch.address), "")
    speaker = f'<p class="relic-read-speaker">{escape(paragraph.speaker)}</p>' if paragraph.speaker else ""
    classes = f"relic-read-{paragraph.kind}" + (" relic-read-first" if paragraph.opens else "")
    number = (
        f'<a class="relic-read-n" href="#{named}" target="_self" aria-label="{kind} {paragraph.number}">'
        f"{paragraph.number}</a>"
        if place
        else ""
    )
    body = "".join(_stretch(stretch, place) for stretch in paragraph.stretches)
    references = "".join(
        f'<a class="relic-read-note-link" href="#{_paragraph_id(chapter.index, note, note=True)}" target="_self" '
        f'aria-label="Note {note}">{note}</a>'
        for note in paragraph.notes
    )
    back = ""
    if paragraph.hangs_on is not None:
        back = (
            f' <a class="relic-read-back" href="#{_paragraph_id(chapter.index, paragraph.hangs_on)}" target="_self" '
            f'aria-label="Back to paragraph {paragraph.hangs_on}">↩</a>'
        )
    return (
        f'{speaker}<p id="{named}" class="{classes}" data-place="{escape(place)}">{number}{body}{references}{back}</p>'
    )


def _stretch(stretch: ChapterStretch, place: str) -> str:
    """Set a sentence, or what is between two; a place that is not its paragraph's is given."""
    body = "".join(map(_piece, stretch.pieces))
    if stretch.address is None:
        return body
    own = f' data-place="{escape(stretch.place)}"' if stretch.place != place else ""
    return f'<span id="{sentence_id(stretch.address)}"{own}>{body}</span>'


def _piece(piece: Piece) -> str:
    html = f"<em>{escape(piece.text)}</em>" if piece.italic else escape(piece.text)
    return f'<span class="relic-read-line" aria-hidden="true">{piece.line}</span>{html}' if piece.line else html
