"""Figures as rows, from which charts, tables and files are made: a chart, its table and its file cannot differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

View = Literal["books", "lengths", "shapes", "kinds", "overlap", "dialogue", "place", "curve", "ranks", "published"]
"""By quoted work, by length of the quotation, by context shape, by kind of evidence; by overlap of claim and quotation,
by how much of the quotation is spoken, by its place in the work; recall@k over k; how the ranks are distributed; beside
published figures."""

Part = Literal["length", "book", "kind"]
"""What the examples of a run can be parted by, a row for each."""

DRAWN_K = (1, 3, 5, 10, 50, 100)
"""The k at which the curve has intervals and marks: those that the RELiC paper reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What is drawn in one colour, its retriever's if any, with one kind of mark.

    - `key`: unique in its chart: the id of a run, the name of a retriever, or "published".
    """

    key: str
    label: str
    retriever: str = ""
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A place on the axis: a book, a length, a shape, a k, a range of ranks, a published system.

    - `n`: examples in it; of the run that has the most where they differ.
    - `facts`: further columns of the table, each with its head.
    """

    key: str
    label: str
    note: str = ""
    n: int = 0
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One measured figure, of `n` examples; `candidates` ranked for an example on average, 0 where unknown."""

    group: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int
    candidates: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Everything that a chart, its table, its text and its file say; what is no `share` is written times 100."""

    view: View
    title: str
    measure: str
    by: str
    groups: tuple[Group, ...]
    series: tuple[Series, ...]
    marks: tuple[Mark, ...]
    share: bool = True
    caption: str = ""
    summary: str = ""

    def written(self, value: float) -> str:
        """Write one of its figures."""
        return written(value, share=self.share)

    def interval(self, mark: Mark) -> str:
        """Write the ends of one of its intervals; empty where there is none."""
        return interval(mark, share=self.share)

    def marks_of(self, series: str) -> tuple[Mark, ...]:
        """List the marks of one series, in the order of the groups."""
        own = {mark.group: mark for mark in self.marks if mark.series == series}
        return tuple(own[group.key] for group in self.groups if group.key in own)


def many(number: int, what: str, more: str = "") -> str:
    """Count things in words; `more` is what several are called, where that is not `what` with an s.

    >>> many(1, "chapter"), many(1_200, "sentence"), many(0, "search", "searches")
    ('1 chapter', '1,200 sentences', '0 searches')
    """
    return f"{number:,} {what if number == 1 else more or f'{what}s'}"


def written(value: float, *, share: bool = True) -> str:
    """Write a figure with one decimal: a share as a percentage, another times a hundred, as the papers write nDCG.

    >>> written(0.19318), written(0), written(0.19318, share=False)
    ('19.3%', '0.0%', '19.3')
    """
    return f"{100 * value:.1f}{'%' * share}"


def interval(mark: Mark, *, share: bool = True) -> str:
    """Write the ends of an interval; empty where there is none.

    >>> interval(Mark(group="emma", series="a", value=0.5, low=0.25, high=0.75, n=8))
    '25.0% to 75.0%'
    """
    if mark.low is None or mark.high is None:
        return ""
    return f"{written(mark.low, share=share)} to {written(mark.high, share=share)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number in a table, and the ends of its interval as they are read, or first what is shown in its place."""

    text: str
    value: float
    low: float | None = None
    high: float | None = None
    ends: tuple[str, str] = ("", "")
    best: bool = False

    @property
    def interval(self) -> str:
        """The interval as it is read; empty where there is none."""
        return self.ends[0] if self.low is None else "–".join(self.ends)


Cell = str | int | Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under heads.

    - `rows`: as many cells in each as there are heads: words, counts, figures. A column of figures or counts is set to
      the right.
    - `about`: what holds for all rows, by heads of its own: CSV has it in front of every row, JSON once.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check that every row is as wide as the heads, and put all words on one line."""
        if any(len(row) != len(self.heads) for row in self.rows):
            raise ValueError(f"a table with {len(self.heads)} heads has a row of another width")
        flat = {
            "caption": _flat(self.caption),
            "heads": tuple(map(_flat, self.heads)),
            "rows": tuple(tuple(_flat(cell) if isinstance(cell, str) else cell for cell in row) for row in self.rows),
            "notes": tuple(map(_flat, self.notes)),
            "about": tuple((_flat(head), _flat(fact)) for head, fact in self.about),
        }
        for name, value in flat.items():
            object.__setattr__(self, name, value)

    @property
    def to_the_right(self) -> tuple[bool, ...]:
        """Which columns hold numbers alone."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.heads)
        return tuple(bool(column) and not any(isinstance(cell, str) for cell in column) for column in columns)


def _flat(words: str) -> str:
    """Put words on one line: a break would end a row."""
    return " ".join(words.split())
