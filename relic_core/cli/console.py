"""What commands share on a terminal: tables, counts, a line of progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Self

from relic_core.errors import BadRequest
from relic_core.installed import COMMAND, MODULE
from relic_core.reporting.tables import set_lines

_PAUSE_SECONDS = 0.1
_LINE = 100


def check_utf8(name: str, given: str) -> None:
    """Refuse words from a terminal or pipe that are not UTF-8, which the store and the encoder could not take.

    Paths are not for this: the name of a file may be in any encoding.
    """
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(
            f"The {name} is not in UTF-8 (its character {error.start + 1:,} is damaged). Set the terminal to UTF-8, or "
            "convert the words with iconv, and try again."
        ) from None


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Set rows under their heads, numbers to the right.

    >>> print(table(["title", "words"], [["Emma", 160_000], ["Maud", 90]]))
    title    words
    Emma   160,000
    Maud        90
    """
    texts = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    right = [bool(rows) and all(isinstance(row[column], int) for row in rows) for column in range(len(heads))]
    return "\n".join(set_lines((heads, *texts), right))


def as_json(value: object) -> str:
    """Write plain data, records and times of day as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)


def _plain(value: Any) -> object:
    return value.isoformat() if isinstance(value, datetime) else asdict(value)


class ProgressLine:
    """One line on the error stream that says how far long work has come, cleared at the end; only in a terminal."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._shown = sys.stderr.isatty()
        self._written = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(f"\r{' ' * _LINE}\r", end="", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` steps."""
        now = time.monotonic()
        if not self._shown or (now - self._written < _PAUSE_SECONDS and done < total):
            return
        self._written = now
        share = f"{100 * done // total:3d}%" if total else ""
        print(f"\r{f'{self._label} {share} {note}'[:_LINE]:<{_LINE}}", end="", file=sys.stderr, flush=True)

    def step(self, number: int, total: int) -> Callable[..., None]:
        """Report whatever one of several parts has to say as one step of all."""
        return lambda _done, _total, note="": self(number, total, note)


def shorten(text: str, most: int) -> str:
    r"""Put a text on one line of at most so many characters.

    >>> shorten("one\n two", 7), shorten("one\n two", 6)
    ('one two', 'one t…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def note(*sentences: str) -> None:
    """Say something on the error stream, beside what is printed."""
    for sentence in sentences:
        print(sentence.replace(MODULE, COMMAND), file=sys.stderr)
