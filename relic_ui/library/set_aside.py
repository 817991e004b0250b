"""What of a file was set aside, in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.services.works import LeftOutPreview

_NAMES = {
    "licence": "Licence",
    "front matter": "Front matter",
    "contents": "List of contents",
    "illustration": "Illustration marks",
    "editor's note": "Editor’s notes",
    "note": "Footnotes",
    "page number": "Page numbers",
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
