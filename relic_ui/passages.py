"""A passage as HTML: escaped, words to the letter, set as in print where the reader wants that."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from markupsafe import Markup

from relic_core.reporting.passages import Passage, Piece, printed_passage
from relic_ui import typography


def passage_html(
    passage: Passage, *, mark_gold: bool = False, met: Mapping[str, str] | None = None, to_the_letter: bool = False
) -> Markup:
    """Set a passage as paragraphs; with `mark_gold` the passage asked for apart from its surroundings.

    - `met`: of lit words that stand for another word elsewhere, that word.
    - `to_the_letter`: whatever the reader has chosen.
    """
    paragraphs = []
    shown = printed_passage(passage) if typography.as_printed() and not to_the_letter else passage
    announced = not mark_gold  # a screen reader hears once where the passage begins
    for paragraph, as_shown in zip(passage.paragraphs, shown.paragraphs, strict=True):
        css = ' class="relic-verse"' if paragraph.kind == "verse" else ""
        body = ""
        for piece, set_piece in zip(paragraph.pieces, as_shown.pieces, strict=True):
            if piece.gold and not announced:
                body += '<span class="relic-sr">The passage begins: </span>'
                announced = True
            body += _piece(piece, set_piece.text, met or {}, mark_gold=mark_gold)
        paragraphs.append(f"<p{css}>{body}</p>")
    return Markup("".join(paragraphs))  # noqa: S704 - all its parts are escaped


def _piece(piece: Piece, text: str, met: Mapping[str, str], *, mark_gold: bool) -> str:
    html = escape(text).replace("--", '<span class="relic-nobreak">--</span>')  # a dash of plain texts
    if piece.italic:
        html = f"<em>{html}</em>"
    if piece.lit and piece.text in met:
        note = escape(f"meets {met[piece.text]}")
        html = f'<mark class="relic-meets" title="{note}">{html}<span class="relic-sr"> ({note})</span></mark>'
    elif piece.lit:
        html = f"<mark>{html}</mark>"
    if mark_gold and piece.gold:
        html = f'<span class="relic-gold">{html}</span>'
    return html if mark_gold or piece.gold else f'<span class="relic-rest">{html}</span>'
