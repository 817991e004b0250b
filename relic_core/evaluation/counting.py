"""Counting the windows of a set as RELiC's authors counted theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from relic_core.domain import MAX_LENGTH, MinedWindow, QuotationContext, SecondarySource, Work
from relic_core.errors import NotFound, unknown_name
from relic_core.evaluation.benchmarks import public_relic
from relic_core.formats.window_manifest import SETS as BENCHMARKS
from relic_core.formats.window_manifest import read_manifest
from relic_core.library import catalogue
from relic_core.mining.statistics import Counted, Statistics, count
from relic_core.ports import Benchmark, Progress

STORE, CAPPED, UNCAPPED = "store", "public-relic", "public-relic-all"
SETS = (STORE, CAPPED, UNCAPPED, *(f"public-relic-{name}" for name in BENCHMARKS))
"""All windows of the store that have a split (before there are splits, all kept ones) and a quotation of one to five
sentences; the public-domain benchmarks, dev and test together; each by itself."""

NOT_PARTED = "not parted yet"
_TOGETHER = {
    CAPPED: ("public-relic-dev", "public-relic-test"),
    UNCAPPED: ("public-relic-dev-all", "public-relic-test-all"),
}


def statistics(
    of: str,
    progress: Progress,
    *,
    marked: Callable[[], Sequence[tuple[MinedWindow, str]]],
    load_work: Callable[[str], Work],
    sources: Callable[[], Iterable[SecondarySource]],
    open_benchmark: Callable[[str], Benchmark],
) -> Statistics:
    """Count the windows of a set: RELiC's Table 1, section A.3 and Figure 2."""
    if of not in SETS:
        raise unknown_name("set of windows", of, SETS)
    if of == STORE:
        return _of_store(marked(), load_work, {source.id: source.title for source in sources()}, progress)
    manifest = read_manifest(public_relic.MANIFEST)
    titles = {entry.slug: entry.title for entry in catalogue.entries()}
    titles |= {str(at): each.title for at, each in enumerate(manifest.sources)}
    source_of = {window.id: str(window.source) for window in manifest.windows}
    counted: list[Counted] = []
    sentences: dict[str, int] = {}
    for name in _TOGETHER.get(of, (of,)):
        opened = open_benchmark(name)
        for window in opened.windows():
            work = opened.work(window.pool)
            counted.append(_counted(window, opened.card.split, source_of[window.id], window.pool, work))
            sentences[window.pool] = len(work.sentences)
    return count(counted, sentences, titles)


def _of_store(
    marked: Sequence[tuple[MinedWindow, str]],
    load_work: Callable[[str], Work],
    titles: dict[str, str],
    progress: Progress,
) -> Statistics:
    of_work: dict[str, list[tuple[MinedWindow, str]]] = {}
    for window, split in marked:
        if split != "left out" and window.gold.length <= MAX_LENGTH:
            of_work.setdefault(window.work_id, []).append((window, split or NOT_PARTED))
    if not of_work:
        raise NotFound(
            "There is no quotation to count: none was found yet, or all were left out of the splits or run over more "
            f"than {MAX_LENGTH} sentences."
        )
    counted: list[Counted] = []
    sentences: dict[str, int] = {}
    for done, (work_id, windows) in enumerate(of_work.items()):
        work = load_work(work_id)
        progress(done, len(of_work), work.title)
        sentences[work_id], titles[work_id] = len(work.sentences), work.title
        counted += [_counted(window, split, window.source_id, work_id, work) for window, split in windows]
    return count(counted, sentences, titles)


def _counted(window: MinedWindow | QuotationContext, split: str, source: str, key: str, work: Work) -> Counted:
    return Counted(
        split=split,
        source=source,
        work=key,
        gold=window.gold,
        context_words=_words((*window.left, *window.right)),
        quotation_words=_words([work.span_text(window.gold)]),
    )


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)
