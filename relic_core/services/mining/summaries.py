"""What mining came to, in figures and in plain words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.mining.volumes import Mined

_NAMED = 5
"""Names that a summary gives for one problem; of more it gives the number."""


@dataclass(slots=True)
class MiningSummary:
    """What mining came to.

    Attributes
    ----------
    mined, unread : int
        Sources that were read; that could not be, or were lost on the way.
    already, removed, twice : int
        Sources that had been mined as they are; that were removed and stay away; files that are the same as another.
    pairs, windows : int
        Found in the sources mined now.
    set_aside : int
        Of all windows there are, those that are left out for a reason.
    problems : dict of str to list of str
        What is the matter, in plain words → names of the sources.
    dropped : dict of str to int
        Why quotations were passed over, in plain words → how many.
    seconds : float
        How long it took.
    places : bool
        Only offsets and digests were written, and nothing was stored.
    """

    mined: int = 0
    unread: int = 0
    already: int = 0
    removed: int = 0
    twice: int = 0
    pairs: int = 0
    windows: int = 0
    set_aside: int = 0
    problems: dict[str, list[str]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    places: bool = False

    def add(self, mined: Mined) -> None:
        """Count what was found in a source."""
        if mined.problem:
            self.problems.setdefault(mined.problem, []).append(mined.source.name)
        if mined.file:
            self.mined += 1
        else:
            self.unread += 1
        self.pairs += mined.found[0]
        self.windows += mined.found[1]
        for reason, count in mined.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count

    @property
    def note(self) -> str:
        """All of it in plain words."""
        return " ".join([self.figures, *(f"{listed(names)}: {problem}" for problem, names in self.problems.items())])

    @property
    def figures(self) -> str:
        """All but the problems, in plain words."""
        said = []
        if self.mined:
            said.append(
                f"{_counted(self.mined, 'book')} mined: {_counted(self.pairs, 'pair')} and "
                f"{_counted(self.windows, 'window')} on works of the library."
            )
        for count, what in (
            (self.already, "mined before, with nothing new to look for"),
            (self.twice, "passed over: the same file as another"),
            (self.removed, "passed over: removed from the secondary sources, where it can be put back"),
        ):
            if count:
                said.append(f"{_counted(count, 'book')} {what}.")
        if self.set_aside:
            said.append(f"Of all windows there are, {self.set_aside:,} are set aside, each with its reason.")
        return " ".join(said) or "Nothing was mined."


def listed(names: Sequence[str]) -> str:
    """Name some sources; of many the first.

    Examples
    --------
    >>> listed(["a.txt", "b.txt"]), listed([f"{number}.txt" for number in range(7)])
    ('a.txt, b.txt', '0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more')
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
