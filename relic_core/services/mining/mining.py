"""Mining: secondary sources are read, their quotations found, and the works of the library found in them.

Sources are taken into the store as they are mined, each wholly or not at all. So a run that is stopped or killed at any
moment loses the sources of the last seconds, and the next run goes on with these; what was mined under the same rules
for the same works is not mined again.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relic_core import engines
from relic_core.errors import BadText, NotFound, StaleIndex, StoreReadOnly
from relic_core.formats.files import written_whole
from relic_core.mining import volumes
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.ports import silent
from relic_core.services.mining.places import Places
from relic_core.services.mining.plans import done_before, make_plan
from relic_core.services.mining.runs import mine_planned, rows_of, set_aside
from relic_core.services.mining.summaries import MiningSummary
from relic_core.store import locks
from relic_core.text.decoding import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relic_core.domain import Job, WorkSummary
    from relic_core.ports import Progress, Workers
    from relic_core.store.sources import MinedSource
    from relic_core.wiring import App

_FOLDER = "quoted-works"
_KEEP_SECONDS = 2.0
"""Between two transactions: opening the store takes longer than mining an essay."""
_DIGITS = 16
"""Of a fingerprint: enough to tell works apart, and many of them are kept for each source."""


class Mining:
    """Mines secondary sources for an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def keep(self, name: str, data: bytes) -> Path:
        """Put an upload below the data folder, in a folder named for its hash, and give its path.

        Raises BadText: it holds no bytes.
        Raises StoreError: the data folder cannot be written, or is full.
        """
        if not data:
            raise BadText(f"{file_name(name)} is empty (0 bytes). Choose another file.")
        folder = self._app.settings.sources / hashlib.sha256(data).hexdigest()[:_DIGITS]
        path = folder / (file_name(name) or "upload.txt")
        if not path.is_file() or path.stat().st_size != len(data):
            with _writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            with written_whole(path) as file:
                file.write(data)
        return path

    def start(self, paths: Sequence[Path], *, name: str = "") -> Job:
        """Start a job that mines files, folders or archives, or give the one that does just that already.

        - `paths`: what to mine; where empty, all that was mined before is looked through again, for works that are new.
        - `name`: what a person calls it; the first path's name where empty.

        Raises NotFound: a path that is not there; or none was given, and nothing was mined before.
        """
        found = self._roots(paths)
        title = name or (found[0].name if paths else "all secondary sources")
        more = f" and {len(found) - 1} more" if paths and len(found) > 1 and not name.count(",") else ""
        return self._app.jobs.start(
            "mine",
            title=f"Finding quotations in {title}{more}",
            subject="\n".join(str(path) for path in found),
            arguments={"paths": [str(path) for path in found]},
        )

    def due(self) -> bool:
        """Whether works were added, or rules changed, since the sources were mined."""
        rules = volumes.rules()
        known = [each for each in self._app.store.sources.known() if not each.removed]
        if not known:
            return False
        wanted = {imprint.fingerprint[:_DIGITS] for imprint in self._app.works.imprints().values()}
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
    ) -> MiningSummary:
        """Mine files, folders and archives, here and now, and keep what is found.

        - `paths`: as for `start`.
        - `progress`: told how many books are done; what it raises ends the run, and what was mined stays.
        - `workers`: what does the work; processes, as many as there are processors, where not given.
        - `works`: works to look for: slugs of the catalogue, ids or titles; all of the library where empty.
        - `pairs`: whether pairs are made too.
        - `again`: mine also what was mined as it is.

        Raises NotFound, BadText, BadRequest: a path that is not there or holds nothing; a work that is not in the
        library.
        """
        began = time.monotonic()
        store = self._app.store
        with self._alone(progress):
            quoted, among = self._quoted(works, progress)
            rules = volumes.rules()
            plan = make_plan(
                self._roots(paths),
                progress,
                settings=self._app.settings,
                done={} if again else done_before(store.sources.known(), rules),
                works=among,
                pairs=pairs,
            )
            summary = MiningSummary.begun(plan, no_works=quoted is None)
            ids = store.sources.ids()
            rows: list[MinedSource] = []
            kept = time.monotonic()
            try:
                for mined, root in mine_planned(plan, quoted, progress, workers=workers or self.workers()):
                    summary.add(mined)
                    rows.append(rows_of(mined, ids, rules=rules, root=root, quoted=quoted, among=among))
                    if time.monotonic() - kept > _KEEP_SECONDS:
                        store.sources.add(*rows)
                        rows.clear()
                        kept = time.monotonic()
            finally:  # also of a run that was stopped: what it found is to be judged like the rest
                store.sources.add(*rows)
                summary.set_aside = set_aside(self._app, quoted)
        summary.seconds = time.monotonic() - began
        return summary

    def run_places(
        self,
        paths: Sequence[Path],
        out: Path,
        progress: Progress = silent,
        *,
        workers: Workers | None = None,
        works: Sequence[str] = (),
        pairs: bool = True,
        again: bool = False,
    ) -> MiningSummary:
        """Mine without keeping a word: offsets and digests are written into a folder, and nothing is stored.

        The words of a source are in memory while it is read, and nowhere else. For each source a folder is made, with
        what is known of it and one file each for pairs and windows.

        - `paths`, `progress`, `workers`, `works`, `pairs`, `again`: as for `run`.
        - `out`: the folder; made where it is not there. What an earlier run wrote into it is not mined again.

        Raises NotFound, BadText, BadRequest, StoreError: as `run`; the folder cannot be written.
        """
        began = time.monotonic()
        with self._alone(progress):
            quoted, among = self._quoted(works, progress)
            places = Places(out, rules=volumes.rules(), works=sorted(among.values()), pairs=pairs)
            plan = make_plan(
                self._roots(paths),
                progress,
                settings=self._app.settings,
                done={} if again else places.done(),
                works=among,
                pairs=pairs,
            )
            plan.planned = [replace(each, among=frozenset(among), pairs=pairs) for each in plan.planned]
            summary = MiningSummary.begun(plan, no_works=quoted is None, places=True)
            for mined, _ in mine_planned(plan, quoted, progress, workers=workers or self.workers(), places=True):
                summary.add(mined)
                if mined.file:
                    places.write(mined)
        summary.seconds = time.monotonic() - began
        return summary

    def workers(self, count: int | None = None, *, dask: str | None = None) -> Workers:
        """Make what does the work: processes of this machine, or a cluster of Dask.

        - `count`: how many processes; as many as there are processors where not given.
        - `dask`: address of a scheduler of Dask; "local" starts a cluster on this machine.

        Raises BadRequest: fewer than one process.
        Raises NotFound: dask is not installed.
        """
        if dask is not None:
            return engines.Dask(None if dask == "local" else dask, count, lost=volumes.lost)
        return engines.Processes(count, lost=volumes.lost)

    def _quoted(self, works: Sequence[str], progress: Progress) -> tuple[QuotedWorks | None, dict[str, str]]:
        """Open the index of the library's works, built anew where works changed; give the works to look for."""
        imprints = self._app.works.imprints()
        if not imprints:
            return None, {}
        wanted = {work_id: imprint.fingerprint for work_id, imprint in sorted(imprints.items())}
        quoted = _opened(self._folder)
        if quoted is None or {work.id: work.fingerprint for work in quoted.works} != wanted:

            def say(done: int, total: int, note: str = "") -> None:
                progress(done, max(total, len(wanted)), f"Reading the works of the library: {note}")

            loaded = (self._app.store.works.load(work_id) for work_id in wanted)
            quoted = QuotedWorks.build(loaded, self._folder, say)
        chosen = {self._named(each).id for each in works} or set(wanted)
        return quoted, {work_id: known[:_DIGITS] for work_id, known in wanted.items() if work_id in chosen}

    def _named(self, said: str) -> WorkSummary:
        return self._app.catalogue.stored(said, None) or self._app.works.resolve(said)

    def _roots(self, paths: Sequence[Path]) -> list[Path]:
        """Give the paths in full; where there are none, those of what was mined before."""
        if paths:
            found = list(dict.fromkeys(path.expanduser().absolute() for path in paths))
            for path in found:
                if not path.exists():
                    raise NotFound(f"There is no file or folder {path}. Check the name.")
            return found
        known = dict.fromkeys(each.root for each in self._app.store.sources.known() if not each.removed)
        if not known:
            raise NotFound("No secondary sources were mined yet. Name a folder, an archive or a file with them.")
        there = [Path(root) for root in known if Path(root).exists()]
        if not there:
            raise NotFound(
                f"The secondary sources are not where they were ({', '.join(list(known)[:3])}). Name their folder or "
                "archive."
            )
        return there

    @property
    def _folder(self) -> Path:
        return self._app.settings.indexes / _FOLDER

    @contextmanager
    def _alone(self, progress: Progress) -> Iterator[None]:
        """Be the only one who mines for this store: the index of works must not change under a run."""
        folder = self._app.settings.indexes
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            lock = locks.held(
                folder / f"{_FOLDER}.lock", while_waiting=lambda: progress(0, 1, "Waiting for another mining to end")
            )
        with lock:
            yield


def run_mine(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "mine" job; ``paths`` are files, folders or archives.

    Raises BadText: nothing could be read; the message says why.
    """
    summary = app.mining.run([Path(path) for path in arguments["paths"]], progress)
    if summary.problems and not (summary.mined or summary.already or summary.twice or summary.removed):
        raise BadText(summary.note)
    return summary.note


def _opened(folder: Path) -> QuotedWorks | None:
    """Open the index of works; None where there is none that can be used."""
    try:
        return QuotedWorks.open(folder)
    except StaleIndex:  # it is built anew
        return None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn the system's errors about a folder into one for a person."""
    try:
        yield
    except OSError as error:
        raise StoreReadOnly(
            f"The folder {folder} cannot be written ({error.strerror}). Make it writable, or choose other folders with "
            "RELIC_DATA and RELIC_INDEXES."
        ) from error
