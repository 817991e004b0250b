"""A run of mining: tasks given out, what comes back made into rows, windows judged by the thresholds, the summary."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Self

from relic_core.config import provenance
from relic_core.domain.figures import many
from relic_core.domain.trainings import duration
from relic_core.errors import RelicError, StoreError
from relic_core.formats.files import as_object, as_string, parse, read_text, write_whole
from relic_core.installed import COMMAND
from relic_core.library.secondary import SourceFile, unread
from relic_core.mining import thresholds, volumes
from relic_core.mining.plans import Done, Plan, Planned
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.volumes import Mined, VolumeTask
from relic_core.ports import Progress, Workers
from relic_core.store.mined_windows import WindowRows
from relic_core.store.sources import MinedSource, SourceRows

_NAMED = 5
"""Names that a summary gives for one problem; of more it gives the number."""
_LINES = 20
"""Sources with a problem that a note names; of more it gives the number."""
_NO_WORKS = (
    "The library holds no work to look for. Add some in the Library of the app, or on the command line "
    f"({COMMAND} add FILE, or catalogue --add emma), then mine again."
)


@dataclass(slots=True)
class MiningSummary:
    """What mining came to.

    - `already`, `removed`, `twice`: as of `Plan`.
    - `pairs`, `windows`: found in the sources mined now; `set_aside`: of all windows there are, those left out.
    - `problems`: what is the matter, in plain words → names of the sources.
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
            lines.append(f"And {many(more, 'other file')}.")
        return "\n".join(lines)

    @property
    def figures(self) -> str:
        """All but the problems, in plain words."""
        sentences = []
        if self.mined:
            sentences.append(
                f"{many(self.mined, 'book')} mined: {many(self.pairs, 'quotation')} of any book, and "
                f"{many(self.windows, 'window')} on works of the library."
            )
        for count, what in (
            (self.already, "mined before, with nothing new to look for"),
            (self.twice, "passed over: the same file as another"),
            (self.removed, "passed over: removed from the secondary sources, where it can be put back"),
        ):
            if count:
                sentences.append(f"{many(count, 'book')} {what}.")
        if self.set_aside:
            sentences.append(f"Of all windows there are, {self.set_aside:,} are set aside, each with its reason.")
        sentences = sentences or ["Nothing was mined."]
        if self.no_works:
            sentences.append(_NO_WORKS)
        if self.others:
            kinds = "file of another kind was" if len(self.others) == 1 else "files of other kinds were"
            sentences.append(f"{len(self.others):,} {kinds} left alone: {_listed(self.others)}.")
        return " ".join(sentences)

    @property
    def by_problem(self) -> tuple[str, ...]:
        """Each problem with the sources that have it."""
        return tuple(f"{_listed(names)}: {problem}" for problem, names in self.problems.items())


def mine_planned(
    plan: Plan, quoted: QuotedWorks | None, progress: Progress, *, workers: Workers, places: bool = False
) -> Iterator[tuple[Mined, Path]]:
    """Mine what is planned, for offsets and digests only where `places`; what could not be read comes first."""
    for file, root, problem in plan.unread:
        yield Mined(source=unread(file), problem=problem), root
    roots = {each.file: each.root for each in plan.planned}
    pace = _Pace(plan.planned, progress)
    pace.tell()
    if not plan.planned:
        return
    code = provenance.code()

    def task(each: Planned) -> VolumeTask:
        return VolumeTask(
            file=each.file,
            works=quoted.folder if quoted and each.among else None,
            among=each.among,
            pairs=each.pairs,
            max_bytes=plan.max_bytes,
            places=places,
            code=code,
        )

    with closing(workers.map(volumes.mine_volume, map(task, plan.planned))) as doing:  # a stop ends workers at once
        for mined in doing:
            yield mined, roots[mined.task.file] if mined.task else Path()
            pace.tell(mined.task.file if mined.task else None)


def rows_of(
    mined: Mined, ids: dict[str, str], *, rules: str, root: Path, quoted: QuotedWorks | None, among: dict[str, str]
) -> MinedSource:
    """Make the rows of what was mined; a text that is stored already keeps its id, whatever its title is now."""
    source_id = ids.setdefault(mined.source.sha256, mined.source.id) if mined.source.sha256 else mined.source.id
    looked_for = (mined.task.among or frozenset()) if mined.task and mined.file else frozenset()
    return MinedSource(
        source=replace(mined.source, id=source_id),
        file=mined.file,
        root=str(root),
        language=mined.language,
        problem=mined.problem,
        rules=rules,
        works=tuple(sorted(among[work_id] for work_id in looked_for)),
        segmenters={work.id: work.segmenter for work in quoted.works if work.id in looked_for} if quoted else {},
        pairs=None if mined.pairs is None else tuple(replace(pair, source_id=source_id) for pair in mined.pairs),
        windows=tuple(replace(window, source_id=source_id) for window in mined.windows),
        dropped=mined.dropped,
        seconds=mined.seconds,
        code=mined.task.code if mined.task else "",
    )


def set_aside(sources: SourceRows, windows: WindowRows, quoted: QuotedWorks | None) -> int:
    """Have the thresholds look over all windows; gives how many are set aside."""
    known = {stored.source.id: stored.source for stored in sources.all()}
    works = {} if quoted is None else thresholds.facts_of(quoted)
    there = [
        stored.window
        for stored in chain.from_iterable(windows.iterate("all"))
        if stored.window.source_id in known and stored.window.work_id in works  # else removed just now
    ]
    reasons = thresholds.set_aside(there, known, works)
    windows.set_aside(reasons)
    return len(reasons)


class _Pace:
    """Says how far mining has come and how long it will take, by the bytes that are done."""

    def __init__(self, planned: Sequence[Planned], progress: Progress) -> None:
        self._sizes = {each.file: each.size for each in planned}
        self._total = sum(self._sizes.values())
        self._done = self._bytes = 0
        self._progress = progress
        self._began = time.monotonic()

    def tell(self, file: SourceFile | None = None) -> None:
        """Tell that a file is done; at the beginning none is."""
        if file is not None:
            self._done += 1
            self._bytes += self._sizes.get(file, 0)
        count = len(self._sizes)
        note = f"{self._done:,} of {many(count, 'book')}"
        if self._bytes and self._done < count:
            left = (time.monotonic() - self._began) * (self._total - self._bytes) / self._bytes
            note += f", {duration(left)} left"
        self._progress(self._done, max(count, 1), note)


def _listed(names: Sequence[str]) -> str:
    """Name some sources; of many the first.

    >>> _listed(["a.txt", "b.txt"]), _listed([f"{number}.txt" for number in range(7)])
    ('a.txt, b.txt', '0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more')
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


_VOLUME = "volume.json"
_FORMAT = "relic places of a volume/1"
_DIGITS = 16


class Places:
    """Writes a folder for each source: ``volume.json``, and files of pairs and windows with offsets and digests.

    ``volume.json`` is written last: a source without it was not finished, and is mined again.
    """

    def __init__(self, folder: Path, *, rules: str, works: Sequence[str], pairs: bool) -> None:
        self._folder = folder
        asked = json.dumps([rules, list(works), pairs])
        self._asked = hashlib.sha256(asked.encode()).hexdigest()[:_DIGITS]
        self._done = Done(frozenset(works), pairs=pairs)

    def done(self) -> dict[str, Done]:
        """Say which files were mined under the same rules for the same works, by their sha256."""
        found = {}
        for path in sorted(self._folder.glob(f"*/{_VOLUME}")):
            with suppress(RelicError):  # damaged: it is mined again, and written anew
                facts = as_object(parse(read_text(path), str(path)), str(path))
                if as_string(facts.get("asked", ""), str(path), empty=True) == self._asked:
                    found[as_string(facts.get("file"), str(path))] = self._done
        return found

    def write(self, mined: Mined) -> None:
        """Write what was mined of a source."""
        folder = self._folder / mined.file[:_DIGITS]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (_VOLUME, volumes.PAIRS_FILE, volumes.WINDOWS_FILE):  # of a run that asked for something else
                (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"The folder {folder} cannot be written ({error.strerror}). Name one that is yours to write."
            ) from error
        for name, data in mined.files.items():
            write_whole(folder / name, data)
        facts = {
            "format": _FORMAT,
            "asked": self._asked,
            "file": mined.file,
            "source": asdict(mined.source),
            "language": mined.language,
            "problem": mined.problem,
            "pairs": mined.found[0],
            "windows": mined.found[1],
            "dropped": dict(mined.dropped),
        }
        write_whole(folder / _VOLUME, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
