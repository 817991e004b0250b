"""Mining: secondary sources are read, their quotations found, and the works of the library found in them.

Sources are taken into the store as they are mined, each wholly or not at all. So a run that is stopped or killed at any
moment loses the sources of the last seconds, and the next run goes on with these; what was mined under the same rules
for the same works is not mined again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from relic_core import engines
from relic_core.config import Settings
from relic_core.domain import Job
from relic_core.errors import BadText, NotFound, StoreReadOnly
from relic_core.formats.files import write_whole
from relic_core.library.folder import admit, refusal
from relic_core.mining import quoted_works, volumes
from relic_core.mining.plans import done_before, make_plan
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.runs import MiningSummary, Places, mine_planned, rows_of, set_aside
from relic_core.ports import Progress, Workers, silent
from relic_core.services.works import Works
from relic_core.store import locks
from relic_core.store.mined_windows import WindowRows
from relic_core.store.sources import MinedSource, SourceRows
from relic_core.text.decoding import file_name

_KEEP_SECONDS = 2.0
"""Between two transactions: opening the store takes longer than mining an essay."""
_DIGITS = 16


class Mining:
    """Mines secondary sources."""

    def __init__(
        self, sources: SourceRows, windows: WindowRows, works: Works, settings: Settings, start_job: Callable[..., Job]
    ) -> None:
        self._sources = sources
        self._windows = windows
        self._works = works
        self._settings = settings
        self._start_job = start_job

    def keep(self, name: str, data: bytes) -> Path:
        """Put an upload below the data folder, in a folder named for its hash. Raises BadText: it holds no bytes."""
        if not data:
            raise BadText(f"{file_name(name)} is empty (0 bytes). Choose another file.")
        folder = self._settings.sources / hashlib.sha256(data).hexdigest()[:_DIGITS]
        path = folder / (file_name(name) or "upload.txt")
        if not path.is_file() or path.stat().st_size != len(data):
            _make(folder)
            write_whole(path, data)
        return path

    def start(self, paths: Sequence[Path]) -> Job:
        """Start a job that mines files, folders or archives (where none, all there were), or give the one that does."""
        found = self._roots(paths)
        title = found[0].name if paths else "all secondary sources"
        more = f" and {len(found) - 1} more" if paths and len(found) > 1 else ""
        return self._start_job(
            "mine",
            title=f"Finding quotations in {title}{more}",
            subject="\n".join(str(path) for path in found),
            arguments={"paths": [str(path) for path in found]},
        )

    def run_job(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do a "mine" job; ``paths`` are files, folders or archives. Raises BadText: nothing could be read."""
        summary = self.run([Path(path) for path in arguments["paths"]], progress)
        if summary.problems and not (summary.mined or summary.already or summary.twice or summary.removed):
            raise BadText(summary.note)
        return summary.note

    def due(self) -> bool:
        """Whether works were added, or rules changed, since the sources were mined."""
        rules = volumes.rules()
        known = [each for each in self._sources.known() if not each.removed]
        if not known:
            return False
        wanted = set(quoted_works.marks(self._works.work_versions()).values())
        searched: dict[str, set[str]] = {}
        for each in known:
            if each.rules == rules:
                searched.setdefault(each.source_id, set()).update(each.works)
        return any(each.source_id not in searched or not wanted <= searched[each.source_id] for each in known)

    def run(
        self,
        paths: Sequence[Path],
        progress: Progress = silent,
        *,
        workers: Workers | None = None,
        works: Sequence[str] = (),
        pairs: bool = True,
        again: bool = False,
        places: Path | None = None,
    ) -> MiningSummary:
        """Mine files, folders and archives, here and now, and keep what is found.

        - `places`: a folder for offsets and digests; then no word is kept, and nothing is stored. The words of a source
          are in memory while it is read, and nowhere else.
        """
        began = time.monotonic()
        with self._index_held(progress):
            versions = self._works.work_versions()
            if gone := sorted(set(works) - versions.keys()):
                raise NotFound(f"{', '.join(gone)} is not in the library any more. Put it back, or mine without it.")
            quoted = quoted_works.open_or_build(self._index, versions, self._works.read, progress)
            among = {
                work_id: mark for work_id, mark in quoted_works.marks(versions).items() if not works or work_id in works
            }
            rules = volumes.rules()
            folder = None if places is None else Places(places, rules=rules, works=sorted(among.values()), pairs=pairs)
            done = {} if again else folder.done() if folder else done_before(self._sources.known(), rules)
            plan = make_plan(self._roots(paths), progress, settings=self._settings, done=done, works=among, pairs=pairs)
            if folder is not None:
                plan.planned = [replace(each, among=frozenset(among), pairs=pairs) for each in plan.planned]
            summary = MiningSummary.begun(plan, no_works=quoted is None, places=folder is not None)
            found = mine_planned(plan, quoted, progress, workers=workers or self.workers(), places=folder is not None)
            if folder is not None:
                for mined, _ in found:
                    summary.add(mined)
                    if mined.file:
                        folder.write(mined)
            else:
                ids = self._sources.ids()
                rows: list[MinedSource] = []
                kept = time.monotonic()
                try:
                    for mined, root in found:
                        summary.add(mined)
                        rows.append(rows_of(mined, ids, rules=rules, root=root, quoted=quoted, among=among))
                        if time.monotonic() - kept > _KEEP_SECONDS:
                            self._sources.add(*rows)
                            rows.clear()
                            kept = time.monotonic()
                finally:  # also of a run that was stopped: what it found is to be judged like the rest
                    self._sources.add(*rows)
                    summary.set_aside = set_aside(self._sources, self._windows, quoted)
        summary.seconds = time.monotonic() - began
        return summary

    def quoted(self, progress: Progress = silent) -> QuotedWorks | None:
        """Open the index of the library's words, built anew where works changed; None where there are none.

        What was opened can be read on when others replace it.
        """
        versions = self._works.work_versions()
        if (found := quoted_works.open_current(self._index, versions, thorough=False)) is not None:
            return found
        with self._index_held(progress):
            return quoted_works.open_or_build(self._index, versions, self._works.read, progress)

    @property
    def _index(self) -> Path:
        return self._settings.indexes / quoted_works.QUOTED_WORKS

    def _index_held(self, progress: Progress) -> AbstractContextManager[None]:
        """Wait until nobody else changes the index of quoted works, and keep others from it."""
        waiting = partial(progress, 0, 1, "Waiting for another mining to end")
        return locks.held(self._index.with_suffix(".lock"), while_waiting=waiting)

    def workers(self, count: int | None = None, *, dask: str | None = None) -> Workers:
        """Make what does the work: processes of this machine, as many as processors, or a cluster of Dask.

        - `dask`: address of a scheduler; "local" starts a cluster here. That of the settings where not given.
        """
        if dask := dask or self._settings.engine:
            return engines.Dask(None if dask == engines.LOCAL else dask, count, lost=volumes.lost)
        return engines.Processes(count, lost=volumes.lost)

    def _roots(self, paths: Sequence[Path]) -> list[Path]:
        """Give the paths in full; where there are none, those of what was mined before."""
        if paths:
            admitted = (admit(path, self._settings) for path in paths)
            found = list(dict.fromkeys(path.expanduser().absolute() for path in admitted))
            for path in found:
                if not path.exists():
                    raise NotFound(f"There is no file or folder {path}. Check the name.")
            return found
        known = dict.fromkeys(each.root for each in self._sources.known() if not each.removed)
        if not known:
            raise NotFound("No secondary sources were mined yet. Name a folder, an archive or a file with them.")
        there = [Path(root) for root in known if not refusal(Path(root), self._settings) and Path(root).exists()]
        if not there:
            raise NotFound(
                f"The secondary sources are not where they were ({', '.join(list(known)[:3])}). Name their folder or "
                "archive."
            )
        return there


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(
            f"The folder {folder} cannot be written ({error.strerror}). Make it writable, or choose other folders with "
            "RELIC_DATA and RELIC_INDEXES."
        ) from error
