r"""Tables of figures with their intervals: for a terminal, and as Markdown, CSV and LaTeX.

A table is plain words and numbers, made elsewhere; here it is only set. So one table reads the same in a terminal, in
the README, in a spreadsheet and in a paper.

>>> table = Table(caption="Averhythe, 72 claims", heads=("retriever", "R@1"),
...               rows=(("BM25", Figure(text="25.0", value=0.25, low=0.125, high=0.375, ends=("12.5", "37.5"))),))
>>> print(as_text(table))
Averhythe, 72 claims
<BLANKLINE>
retriever        R@1
BM25            25.0
           12.5–37.5
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, get_args

from relic_core.domain.figures import Cell, Figure, Part, Table
from relic_core.errors import unknown_name
from relic_core.formats import escaping
from relic_core.formats.escaping import escape_latex, escape_markdown_cell

__all__ = ["FORMATS", "PARTS", "Cell", "Figure", "Format", "Part", "Table", "write"]

Format = Literal["table", "markdown", "csv", "latex", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

PARTS: tuple[Part, ...] = get_args(Part)


def write(tables: tuple[Table, ...], form: str) -> str:
    """Write tables one below the other."""
    if form == "json":
        return json.dumps([as_plain(table) for table in tables], ensure_ascii=False, indent=2)
    writers: dict[str, Callable[[Table], str]] = {
        "table": as_text,
        "markdown": as_markdown,
        "csv": as_csv,
        "latex": as_latex,
    }
    if form not in writers:
        raise unknown_name("form of a table", form, FORMATS)
    return "\n\n".join(writers[form](table) for table in tables)


def as_text(table: Table) -> str:
    """Set a table for a terminal: intervals stand below their figures."""
    lines: list[list[str]] = []
    for row in table.rows:
        lines.append([_read(cell) for cell in row])
        below = [cell.interval if isinstance(cell, Figure) else "" for cell in row]
        if any(below):
            lines.append(below)
    head = [table.caption, ""] if table.caption else []
    notes = ["", *table.notes] if table.notes else []
    return "\n".join([*head, *set_lines((table.heads, *lines), table.to_the_right), *notes])


def set_lines(lines: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Set lines of cells in columns of equal width, some of them to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        placed = zip(line, widths, right, strict=True)
        yield "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in placed
        ).rstrip()


def as_markdown(table: Table) -> str:
    """Set a table in Markdown, with every character that Markdown would obey escaped."""
    right = table.to_the_right

    def set_line(values: Iterable[str]) -> str:
        return f"| {' | '.join(values)} |"

    def set_cell(cell: Cell) -> str:
        text = escape_markdown_cell(_read(cell))
        if not isinstance(cell, Figure):
            return text
        text = f"**{text}**" if cell.best else text
        return f"{text} ({cell.interval})" if cell.interval else text

    lines = [
        set_line([escape_markdown_cell(head) for head in table.heads]),
        set_line(["---:" if to_right else "---" for to_right in right]),
        *(set_line(map(set_cell, row)) for row in table.rows),
    ]
    head = [escape_markdown_cell(table.caption), ""] if table.caption else []
    notes = ["", " ".join(escape_markdown_cell(note) for note in table.notes)] if table.notes else []
    return "\n".join([*head, *lines, *notes])


def as_csv(table: Table) -> str:
    """Write a table as CSV: numbers to the last digit, intervals in columns of their own, no cell a formula."""
    with_ends = [
        any(isinstance(row[at], Figure) and row[at].interval for row in table.rows)  # type: ignore[union-attr]  # asked before
        for at in range(len(table.heads))
    ]
    heads: list[object] = [head for head, _ in table.about]
    for head, ends in zip(table.heads, with_ends, strict=True):
        heads += [head, f"{head} low", f"{head} high"] if ends else [head]
    rows = [heads]
    for row in table.rows:
        values: list[object] = [fact for _, fact in table.about]
        for cell, ends in zip(row, with_ends, strict=True):
            if isinstance(cell, Figure):
                values += [cell.value, *(["" if end is None else end for end in (cell.low, cell.high)] if ends else [])]
            else:
                values += [cell, *(["", ""] if ends else [])]
        rows.append(values)
    return escaping.as_csv(rows, line_end="\n").rstrip("\n")


def as_latex(table: Table) -> str:
    r"""Set a table in LaTeX with the rules of booktabs; it wants ``\usepackage{booktabs}``."""
    columns = "".join("r" if to_right else "l" for to_right in table.to_the_right)

    def set_cell(cell: Cell) -> str:
        text = escape_latex(_read(cell))
        if not isinstance(cell, Figure):
            return text
        text = rf"\textbf{{{text}}}" if cell.best else text
        return rf"{text} {{\scriptsize ({escape_latex(cell.interval)})}}" if cell.interval else text

    lines = [rf"{' & '.join(map(set_cell, row))} \\" for row in table.rows]
    caption = escape_latex(" ".join([table.caption, *table.notes]).strip())
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{' & '.join(escape_latex(head) for head in table.heads)} \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
    )


def as_plain(table: Table) -> dict[str, object]:
    """Give a table as plain data: each row an object by the heads."""

    def plain(cell: Cell) -> object:
        if not isinstance(cell, Figure):
            return cell
        ends = {} if cell.low is None else {"low": cell.low, "high": cell.high}
        return {"value": cell.value, **ends}

    rows = [dict(zip(table.heads, map(plain, row), strict=True)) for row in table.rows]
    return {"caption": table.caption, **dict(table.about), "rows": rows, "notes": list(table.notes)}


def _read(cell: Cell) -> str:
    if isinstance(cell, Figure):
        return cell.text
    return f"{cell:,}" if isinstance(cell, int) else cell
