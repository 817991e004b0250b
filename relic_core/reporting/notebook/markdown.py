"""Notes as Markdown, which Pandoc, Obsidian and most editors read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.reporting.citations.runs import as_markdown
from relic_core.reporting.notebook.document import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain import CitedWork
    from relic_core.formats.notebook import Section
    from relic_core.reporting.notebook.document import Block

_BEFORE = {"quotation": "> ", "entry": "- "}


def markdown(
    sections: Sequence[Section], style_name: str, editions: Mapping[str, CitedWork], *, title: str = ""
) -> str:
    """Write notes as Markdown; every word is shown as it is, whatever marks it holds. Parameters as `document`."""
    blocks = document(sections, style_name, editions, title=title)
    written = ""
    for before, block in zip((None, *blocks), blocks, strict=False):
        together = before is not None and before.kind == block.kind and block.kind in {"quotation", "entry"}
        between = ("\n" if block.kind == "entry" else "\n>\n") if together else "\n\n"
        written += (between if before is not None else "") + _block(block)
    return f"{written}\n"


def _block(block: Block) -> str:
    mark = f"{'#' * block.level} " if block.level else _BEFORE.get(block.kind, "")
    lines = [as_markdown(line, heading=block.kind == "heading") for line in block.lines]
    if block.kind == "foot":
        return f"---\n\n{lines[0]}"
    return "\\\n".join(f"{mark}{line}" for line in lines)
