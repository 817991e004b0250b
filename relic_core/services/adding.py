"""Adding texts: what it came to, and the job that adds files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relic_core.errors import BadText, RelicError

if TYPE_CHECKING:
    from relic_core.domain import Work, WorkSummary
    from relic_core.ports import Progress
    from relic_core.services.workbench import Workbench
    from relic_core.store.works import Outcome

_LONGEST_APPARATUS = 40_000
"""Characters. Project Gutenberg's licence has 20,000, the contents of the longest novels less."""


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a text came to.

    Attributes
    ----------
    work : WorkSummary
        The stored work.
    outcome : {"added", "already", "corrected", "restored", "cut again"}
        Whether it is new, was there, was there under metadata other than those given, had been removed, or was there
        with the sentences of another segmenter.
    notice : str
        What the reader should know of it; empty where nothing is out of the way.
    """

    work: WorkSummary
    outcome: Outcome
    notice: str = ""

    @property
    def already(self) -> bool:
        """Whether the text was there before and nothing was written."""
        return self.outcome == "already"


def set_aside(work: Work) -> str:
    """Say so where more of a file was set aside than what usually stands around a text; empty where not.

    Files joined end to end are the usual case: all that follows the first licence is taken for a part of it.
    """
    lengths = [part.end - part.start for part in work.left_out]
    besides = sum(part.end - part.start for part in work.left_out if part.kind != "licence")
    if max(lengths, default=0) <= _LONGEST_APPARATUS and besides <= len(work.text) / 2:
        return ""
    longest = max(work.left_out, key=lambda part: part.end - part.start)
    line = work.text.count("\n", 0, longest.start) + 1
    return (
        f"{sum(lengths) / len(work.text):.0%} of the file was set aside and cannot be found by searching, most of it "
        f"from line {line:,} on ({longest.kind}). If the author's text goes on there, as in files joined end to end, "
        "split the file and add each part."
    )


def run_add(workbench: Workbench, arguments: dict[str, Any], progress: Progress) -> str:
    """Do an "add" job: store files as works and begin to prepare them; one that fails does not stop the rest.

    Parameters
    ----------
    workbench : Workbench
        Where to.
    arguments : dict
        ``paths``, a list of files.
    progress : Progress
        Told which file it has come to.

    Raises
    ------
    BadText
        None of the files could be added; the message says why for each.
    """
    paths = [Path(path) for path in arguments["paths"]]
    said, failed = [], []
    for done, path in enumerate(paths):
        progress(done, len(paths), f"Reading {path.name}")
        try:
            added = workbench.works.add(path)
            said.append(f"{added.work.title} {'is in the library already' if added.already else 'has been added'}.")
            said.extend(filter(None, [added.notice]))
            workbench.indexes.start(added.work.id)
        except RelicError as error:
            failed.append(f"{path.name}: {error}")
    if not said:
        raise BadText(" ".join(failed))
    return " ".join([*said, *failed])
