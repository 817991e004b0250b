"""One run of mining: tasks made and given out, what comes back made into rows, all windows judged by the thresholds."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.config import provenance
from relic_core.library.secondary import unread
from relic_core.mining import thresholds, volumes
from relic_core.mining.volumes import Mined, VolumeTask
from relic_core.services.mining.plans import Pace
from relic_core.store.sources import MinedSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relic_core.mining.quoted_works import QuotedWorks
    from relic_core.ports import Progress, Workers
    from relic_core.services.mining.plans import Plan, Planned
    from relic_core.wiring import App


def mine_planned(
    plan: Plan,
    quoted: QuotedWorks | None,
    progress: Progress,
    *,
    workers: Workers,
    places: bool = False,
) -> Iterator[tuple[Mined, Path]]:
    """Mine what is planned; what could not be read comes first, with its problem.

    - `quoted`: the index of works; None where the library has none.
    - `progress`: told how many books are done, and how long it will take.
    - `places`: whether only offsets and digests are to come back.

    Yields: what was found in a source, and what had been named for it.
    """
    for file, root, problem in plan.unread:
        yield Mined(source=unread(file), problem=problem), root
    roots = {each.file: each.root for each in plan.planned}
    pace = Pace(plan.planned, progress)
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

    doing = workers.map(volumes.mine_volume, map(task, plan.planned))
    with ExitStack() as stack:
        if isinstance(doing, Generator):  # a run that is stopped ends its workers at once
            stack.enter_context(closing(doing))
        for mined in doing:
            yield mined, roots[mined.task.file] if mined.task else Path()
            pace.tell(mined.task.file if mined.task else None)


def rows_of(
    mined: Mined, ids: dict[str, str], *, rules: str, root: Path, quoted: QuotedWorks | None, among: dict[str, str]
) -> MinedSource:
    """Make the rows of what was mined; a text that is stored already keeps its id, whatever its title is now."""
    source_id = ids.setdefault(mined.source.sha256, mined.source.id) if mined.source.sha256 else mined.source.id
    looked_for = (mined.task.among or frozenset()) if mined.task and mined.file else frozenset()
    segmenters = {work.id: work.segmenter for work in quoted.works if work.id in looked_for} if quoted else {}
    return MinedSource(
        source=replace(mined.source, id=source_id),
        file=mined.file,
        root=str(root),
        language=mined.language,
        problem=mined.problem,
        rules=rules,
        works=tuple(sorted(among[work_id] for work_id in looked_for)),
        segmenters=segmenters,
        pairs=None if mined.pairs is None else tuple(replace(pair, source_id=source_id) for pair in mined.pairs),
        windows=tuple(replace(window, source_id=source_id) for window in mined.windows),
        dropped=mined.dropped,
        seconds=mined.seconds,
        code=mined.task.code if mined.task else "",
    )


def set_aside(app: App, quoted: QuotedWorks | None) -> int:
    """Have the thresholds look over all windows; gives how many are set aside."""
    store = app.store
    sources = {stored.source.id: stored.source for stored in store.sources.all()}
    works = {} if quoted is None else thresholds.facts_of(quoted)
    windows = [
        stored.window
        for batch in store.windows.iterate("all")
        for stored in batch
        if stored.window.source_id in sources and stored.window.work_id in works  # else removed just now
    ]
    reasons = thresholds.set_aside(windows, sources, works)
    store.windows.set_aside(reasons)
    return len(reasons)
