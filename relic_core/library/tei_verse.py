"""Verse of a TEI text: its lines as they are read, and their numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from relic_core.library.markup import attribute

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")


class Verse:
    """The stanza that is being read, and how far the lines of its chapter are counted.

    - `refs`: names of the notes that hang on the stanza.
    - `numbered`: lines of this chapter are cited by number: they have numbers, or are spoken in a play.
    """

    def __init__(self) -> None:
        self.refs: list[str] = []
        self.numbered = False
        self._lines: list[str] = []
        self._first = 0
        self._last = 0  # of the chapter, printed or empty

    def __bool__(self) -> bool:
        """Whether it has a line."""
        return bool(self._lines)

    def start_chapter(self) -> None:
        """Count lines anew."""
        self._last, self.numbered = 0, False

    def count(self, element: Element) -> int:
        """Give a line its number, as it says or by the one before it."""
        given = _LAST_NUMBER.search(attribute(element, "n"))
        if given:
            self._last, self.numbered = int(given[1]), True
        elif attribute(element, "part").upper() not in {"M", "F"}:  # these go on with a line of the speaker before
            self._last += 1
        else:
            self._last = max(1, self._last)
        return self._last

    def follows(self, number: int) -> bool:
        """Whether a line of that number goes on the stanza: the number after its last, for places count its lines."""
        return not self._lines or number == self._first + len(self._lines)

    def add(self, number: int, line: str) -> None:
        """Take a line that `follows`."""
        if not self._lines:
            self._first = number
        self._lines.append(line)

    def take(self) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
        """Return the lines, the number of the first, and the references to notes; begin a new stanza."""
        taken = tuple(self._lines), self._first, tuple(self.refs)
        self._lines, self.refs = [], []
        return taken
