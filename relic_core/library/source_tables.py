"""Tables that say of secondary sources what they are: whatever the columns are called, and wherever they stand."""

from __future__ import annotations

import csv
import io
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from relic_core.library.folder import SUFFIXES
from relic_core.text.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 50_000_000
"""Of one table."""

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "file": ("file", "filename", "name", "path", "volume", "key"),
    "number": ("gutenbergid", "gutenberg", "gutenbergnumber", "ebook", "pg", "id", "number"),
    "title": ("title", "booktitle"),
    "author": ("author", "authors", "creator", "by"),
    "origin": ("source", "origin", "url", "address"),
    "licence": ("licence", "license", "rights"),
}
"""What the columns of a table of sources may be called: letters and digits alone, in small letters."""


class SourceTable:
    r"""What tables say of sources, by the names of files and by numbers of Project Gutenberg; the first row counts.

    >>> table = SourceTable()
    >>> table.add(b"Gutenberg ID;Title\n138;The Ferry and Its Critics\n")
    >>> table.said_of("138.txt")["title"], table.said_of("pg138-0.txt")["number"], table.said_of("essay.txt")
    ('The Ferry and Its Critics', '138', {})
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, str]] = {}

    def add(self, data: bytes) -> None:
        """Read a table; one without a column that names files tells nothing.

        Raises EmptyText, NotText, TextTooLarge: as `decoding.decode`.
        """
        text = decode(data, max_bytes=MOST_BYTES).text
        head = text.partition("\n")[0]
        reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=head.count))
        heads = [re.sub(r"[^a-z0-9]", "", head.lower()) for head in next(reader, [])]
        columns = {
            what: next((heads.index(name) for name in names if name in heads), None) for what, names in _COLUMNS.items()
        }
        for values in reader:
            row = {
                what: values[column].strip()
                for what, column in columns.items()
                if column is not None and column < len(values)
            }
            for key in ("file", "number"):
                if row.get(key):
                    self._rows.setdefault(_key(row[key]), row)

    def said_of(self, name: str) -> Mapping[str, str]:
        """Give the row of a file: "title", "author", "number", "origin", "licence", as far as there are columns."""
        stem = _key(name)
        digits = re.match(r"(?:pg)?(\d{1,6})(?!\d)", stem)
        return self._rows.get(stem) or (self._rows.get(digits[1]) if digits else None) or {}


def _key(name: str) -> str:
    """Give what a file is looked up by: its name without folders and ending, in small letters.

    >>> _key("Essays/138.TXT"), _key("138")
    ('138', '138')
    """
    last = PurePosixPath(name.replace("\\", "/")).name.casefold()
    return next((last.removesuffix(suffix) for suffix in SUFFIXES if last.endswith(suffix)), last)
