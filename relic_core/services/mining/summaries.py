"""What mining came to, in figures and in plain words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from relic_core.mining.volumes import Mined
    from relic_core.services.mining.plans import Plan

_NAMED = 5
"""Names that a summary gives for one problem; of more it gives the number."""
_LINES = 20
"""Sources with a problem that a note names; of more it gives the number."""
_NO_WORKS = (
    "The library holds no work to look for. Add some in the Library of the app, or on the command line (python -m "
    "relic_core add FILE, or catalogue --add emma), then mine again."
)


@dataclass(slots=True)
class MiningSummary:
    """What mining came to.

    - `mined`, `unread`: sources that were read; that could not be, or were lost on the way.
    - `already`, `removed`, `twice`: sources that had been mined as they are; that were removed and stay away; files
      that are the same as another.
    - `pairs`, `windows`: found in the sources mined now.
    - `set_aside`: of all windows there are, those that are left out for a reason.
    - `problems`: what is the matter, in plain words → names of the sources.
    - `dropped`: why quotations were passed over, in plain words → how many.
    - `others`: names of files of other kinds, which were left alone.
    - `no_works`: the library holds no work, so none was looked for.
    - `places`: only offsets and digests were written, and nothing was stored.
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
    others: Sequence[str] = ()
    no_works: bool = False
    places: bool = False

    @classmethod
    def begun(cls, plan: Plan, *, no_works: bool, places: bool = False) -> Self:
        """Begin with what is known before anything is mined."""
        return cls(
            already=plan.already,
            removed=plan.removed,
            twice=plan.twice,
            others=plan.others,
            no_works=no_works,
            places=places,
        )

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
        """All of it in plain words: a line of figures, then one for each source with a problem, by its file's name."""
        named = sorted((name, problem) for problem, names in self.problems.items() for name in names)
        lines = [self.figures, *(f"{name}: {' '.join(problem.split())}" for name, problem in named[:_LINES])]
        if (more := len(named) - _LINES) > 0:
            lines.append(f"And {_counted(more, 'other file')}.")
        return "\n".join(lines)

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
        said = said or ["Nothing was mined."]
        if self.no_works:
            said.append(_NO_WORKS)
        if self.others:
            kinds = "file of another kind was" if len(self.others) == 1 else "files of other kinds were"
            said.append(f"{len(self.others):,} {kinds} left alone: {listed(self.others)}.")
        return " ".join(said)


def listed(names: Sequence[str]) -> str:
    """Name some sources; of many the first.

    >>> listed(["a.txt", "b.txt"]), listed([f"{number}.txt" for number in range(7)])
    ('a.txt, b.txt', '0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more')
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
