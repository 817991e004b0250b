"""The look in one place: type, spacing, colour and the quotation card, for every page.

Colours that carry meaning are mid-tones that read on the light and on the dark page; everything else is mixed from the
text colour of the theme (``.streamlit/config.toml``), so both modes come from one set of rules.
"""

from __future__ import annotations

from pathlib import Path

RETRIEVER_COLOURS = {
    "dense-relic": "#1f7079",
    "bm25": "#96590f",
    "reranked": "#a0477a",
    "fusion": "#5a64a8",
    "zero-shot": "#5f7a34",
    "late": "#8a4b2f",
}
"""One colour per retriever, the same on cards, strips and charts."""

OTHER_COLOUR = "#77726a"


def hue(retriever: str) -> str:
    """Give the CSS that sets a retriever's colour."""
    return f"--relic-hue:{RETRIEVER_COLOURS.get(retriever, OTHER_COLOUR)}"


_HERE = Path(__file__).parent
_SHEETS = ("style.css", "tables.css", "concordance/kwic.css", "sources/sources.css")
CSS = f"<style>{''.join((_HERE / each).read_text(encoding='utf-8') for each in _SHEETS)}</style>"
