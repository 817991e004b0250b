"""A passage as HTML: escaped, words to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from relic_core.reporting.passages import Passage, Piece


def passage_html(passage: Passage, *, mark_gold: bool = False, met: Mapping[str, str] | None = None) -> str:
    """Set a passage as paragraphs; with `mark_gold` the passage asked for apart from its surroundings.

    - `met`: of lit words that stand for another word elsewhere, that word.
    """
    paragraphs = []
    announced = not mark_gold  # a screen reader is told once where the passage begins
    for paragraph in passage.paragraphs:
        css = ' class="relic-verse"' if paragraph.kind == "verse" else ""
        body = ""
        for piece in paragraph.pieces:
            if piece.gold and not announced:
                body += '<span class="relic-sr">The passage begins: </span>'
                announced = True
            body += _piece(piece, met or {}, mark_gold=mark_gold)
        paragraphs.append(f"<p{css}>{body}</p>")
    return "".join(paragraphs)


def _piece(piece: Piece, met: Mapping[str, str], *, mark_gold: bool) -> str:
    html = escape(piece.text).replace("--", '<span class="relic-nobreak">--</span>')  # a dash of plain texts
    if piece.italic:
        html = f"<em>{html}</em>"
    if piece.lit and piece.text in met:
        said = escape(f"meets {met[piece.text]}")
        html = f'<mark class="relic-meets" title="{said}">{html}<span class="relic-sr"> ({said})</span></mark>'
    elif piece.lit:
        html = f"<mark>{html}</mark>"
    if mark_gold and piece.gold:
        html = f'<span class="relic-gold">{html}</span>'
    return html if mark_gold or piece.gold else f'<span class="relic-rest">{html}</span>'
