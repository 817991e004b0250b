"""Counting the windows of a set as RELiC's authors counted theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.domain import MAX_LENGTH
from relic_core.errors import NotFound, unknown_name
from relic_core.evaluation.benchmarks import public_relic
from relic_core.formats.window_manifest import SETS as BENCHMARKS
from relic_core.formats.window_manifest_files import FACTS, read_manifest
from relic_core.library import catalogue
from relic_core.mining.statistics import Counted, Statistics, count
from relic_core.services.dataset.splitting import kept_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import MinedWindow, QuotationContext
    from relic_core.ports import Benchmark, Progress
    from relic_core.wiring import App

STORE, CAPPED, UNCAPPED = "store", "public-relic", "public-relic-all"
SETS = (STORE, CAPPED, UNCAPPED, *(f"public-relic-{name}" for name in BENCHMARKS))
"""All windows of the store that have a split (before there are splits, all kept ones) and a quotation of one to five
sentences; the public-domain benchmarks, dev and test together; each by itself."""

NOT_PARTED = "not parted yet"
_TOGETHER = {
    CAPPED: ("public-relic-dev", "public-relic-test"),
    UNCAPPED: ("public-relic-dev-all", "public-relic-test-all"),
}


def statistics(app: App, of: str, progress: Progress) -> Statistics:
    """Count a set; see `Dataset.statistics`."""
    if of not in SETS:
        raise unknown_name("set of windows", of, SETS)
    if of == STORE:
        return _of_store(app, progress)
    counted: list[Counted] = []
    sentences: dict[str, int] = {}
    titles = {window.id: window.source for window in read_manifest(public_relic.MANIFEST).windows}
    for name in _TOGETHER.get(of, (of,)):
        opened = app.benchmarks.open(name)
        for window in opened.windows():
            counted.append(_of_window(window, opened, str(titles[window.id])))
            sentences[window.pool] = len(opened.work(window.pool).sentences)
    return count(counted, sentences)


def titles(app: App) -> dict[str, str]:
    """Name works and sources; see `Dataset.titles`."""
    named = {entry.slug: entry.title for entry in catalogue.entries()}
    if (public_relic.MANIFEST / FACTS).exists():
        named |= {str(at): each.title for at, each in enumerate(read_manifest(public_relic.MANIFEST).sources)}
    named |= {summary.id: summary.title for summary in app.works.summaries()}
    return named | {stored.source.id: stored.source.title for stored in app.store.sources.all()}


def _of_store(app: App, progress: Progress) -> Statistics:
    marks = app.store.splits.of("window")
    unmarked = "left out" if marks else NOT_PARTED
    of_work: dict[str, list[MinedWindow]] = {}
    for window in kept_windows(app):
        if marks.get(window.id, (unmarked,))[0] != "left out" and window.gold.length <= MAX_LENGTH:
            of_work.setdefault(window.work_id, []).append(window)
    if not of_work:
        raise NotFound(
            "There is no quotation to count: none was found yet, or all were left out of the splits or run over more "
            f"than {MAX_LENGTH} sentences."
        )
    counted: list[Counted] = []
    sentences: dict[str, int] = {}
    for done, (work_id, windows) in enumerate(of_work.items()):
        work = app.works.load(work_id)
        progress(done, len(of_work), work.title)
        sentences[work_id] = len(work.sentences)
        counted += [
            Counted(
                split=marks.get(window.id, (unmarked,))[0],
                source=window.source_id,
                work=work_id,
                gold=window.gold,
                context_words=_words((*window.left, *window.right)),
                quotation_words=_words([work.span_text(window.gold)]),
            )
            for window in windows
        ]
    return count(counted, sentences)


def _of_window(window: QuotationContext, opened: Benchmark, source: str) -> Counted:
    return Counted(
        split=opened.card.split,
        source=source,
        work=window.pool,
        gold=window.gold,
        context_words=_words((*window.left, *window.right)),
        quotation_words=_words([opened.work(window.pool).span_text(window.gold)]),
    )


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)
