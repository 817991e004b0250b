"""Tables of figures on a page: the same for every page, scrolling in themselves, columns of words to the left."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from relic_core.reporting import tables
from relic_ui.buttons import save_button

_FORMS: tuple[tuple[tables.Format, str, str, str], ...] = (
    ("csv", "CSV", "csv", "text/csv"),
    ("markdown", "Markdown", "md", "text/markdown"),
    ("latex", "LaTeX", "tex", "application/x-tex"),
)

_PROSE = 40
"""Characters of a cell from which its column is broken into lines, where it is not what names the row."""


def show(table: tables.Table) -> None:
    """Draw a table with its caption and notes."""
    rows = [[_read(cell) for cell in row] for row in table.rows]
    caption = table.caption if table.caption.endswith(".") or not table.notes else f"{table.caption}."
    st.html(
        f'<p class="relic-table-caption">{escape(" ".join((caption, *table.notes)))}</p>'
        f"{table_html(table.heads, rows, table.caption)}"
    )


def save(made: Sequence[tables.Table], file_name: str, *, key: str) -> None:
    """Offer tables as files, all in one."""
    with st.container(horizontal=True, gap="small"):
        for form, name, ending, mime in _FORMS:
            written = tables.write(tuple(made), form)
            save_button(f"Save as {name}", written, f"{file_name}.{ending}", mime, key=f"{key}_{form}")


def table_html(heads: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> str:
    """Set a table that scrolls in itself; columns of words stand to the left, long ones broken into lines."""
    columns = list(zip(*rows, strict=True))
    words = [at == 0 or not all(_is_number(cell) for cell in column) for at, column in enumerate(columns)]
    prose = [any(len(cell) > _PROSE for cell in column) for column in columns]

    def cell(tag: str, text: str, at: int, scope: str = "") -> str:
        css = "relic-table-words" + " relic-table-prose" * (prose[at] and tag == "td")
        given = f' class="{css}"' if words[at] else ""
        return f"<{tag}{given}{scope}>{escape(text)}</{tag}>"

    head = "".join(cell("th", text, at, ' scope="col"') for at, text in enumerate(heads))
    body = ""
    for row in rows:
        first, *others = (
            cell("td" if at else "th", text, at, "" if at else " scope=row") for at, text in enumerate(row)
        )
        body += f"<tr>{first}{''.join(others)}</tr>"
    return (
        f'<div class="relic-table" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table aria-label="{escape(label)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _read(cell: tables.Cell) -> str:
    if isinstance(cell, tables.Figure):
        return f"{cell.text} ({cell.interval})" if cell.interval else cell.text
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_number(cell: str) -> bool:
    return cell.translate(str.maketrans("", "", ",.%")).isdecimal() or not cell
