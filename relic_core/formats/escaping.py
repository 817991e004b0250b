"""What other programs would obey in our words: formulas of spreadsheets, marks of Markdown, LaTeX and XML.

Every writer of CSV, Markdown, LaTeX and Word goes through here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Begins a CSV file, without which spreadsheets take accents for something else."""

_FORMULA = tuple("=+-@\t\r＝＋－＠")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~&$^@]|=(?==)|(?<==)=|%(?=%)|(?<=%)%|-(?=-)|\.(?=\.)")
_MARKDOWN_CELL = str.maketrans({character: f"\\{character}" for character in r"\`*_{}[]<>#|~$"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after the end of a row it would be taken for an argument
        "]": "{]}",
        "–": "--",
        "—": "---",
        "−": "$-$",
        "“": "``",
        "”": "''",
    }
)
_BIBTEX = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        **{mark: f"\\{mark}" for mark in "&%$#_"},
    }
)
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_csv_formula(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would run as a formula.

    >>> escape_csv_formula("=1+1"), escape_csv_formula("a = b")
    ("'=1+1", 'a = b')
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def as_csv(rows: Iterable[Iterable[object]], *, line_end: str = "\r\n") -> str:
    """Write rows, heads among them, as CSV: numbers to the last digit, no words a formula."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=line_end)
    for row in rows:
        writer.writerow([escape_csv_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def escape_markdown(words: str) -> str:
    """Escape what Markdown would obey within a line; of Pandoc ^, @, -- and .., of Obsidian == and %%."""
    return _MARKDOWN.sub(r"\\\g<0>", words)


def escape_markdown_cell(words: str) -> str:
    """Escape what Markdown would obey in a table."""
    return words.translate(_MARKDOWN_CELL)


def escape_latex(words: str) -> str:
    """Escape what LaTeX would obey; dashes and quotation marks are set as LaTeX has them."""
    return words.translate(_LATEX)


def escape_bibtex(words: str) -> str:
    r"""Escape what LaTeX would obey so that braces stay balanced, which BibTeX counts even where they are escaped.

    >>> print(escape_bibtex("M*A*S*H & {50%} a_b"))
    M*A*S*H \& {\textbraceleft}50\%{\textbraceright} a\_b
    """
    return " ".join(words.split()).translate(_BIBTEX)


def without_control_characters(words: str, put: str = "") -> str:
    """Take out what no XML may hold, and so no document of Word; `put` something in the place of each."""
    return _NO_XML.sub(put, words)
