"""Making studies: windows of a benchmark or of the reader's own sources, or pairs of passages, become items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from relic_core.config import provenance
from relic_core.domain import (
    LENGTHS,
    MAX_CONTEXT,
    BenchmarkCard,
    ContextSize,
    MinedWindow,
    QuotationContext,
    Span,
    Work,
    WorkSummary,
)
from relic_core.domain.studies import (
    Item,
    Making,
    Study,
    StudyRequest,
    StudyWork,
    checked_name,
    in_order,
    study_id,
    study_kind,
)
from relic_core.errors import BadRequest, NotFound
from relic_core.evaluation.benchmarks.opened import Opened, book_of
from relic_core.library.naming import meant
from relic_core.ports import Benchmark, Progress, Retriever
from relic_core.retrieval import registry
from relic_core.studies.proxy_task import ItemSettings, Made, make_items, option_of
from relic_core.studies.spans import SpanPair
from relic_core.studies.spans import make_items as make_span_items

_DIGITS = 12
"""Of a text's digest, in messages."""
_Drawn = TypeVar("_Drawn", QuotationContext, Item)

MINED = BenchmarkCard(
    name="",
    label="Your own books of criticism",
    description="Places in your own secondary sources where works of the library are quoted.",
    pool="whole work",
    main_metric="recall@10",
    source="The reader's secondary sources",
    licence="",
    citation="",
)


def mined_benchmark(found: Iterable[MinedWindow], load_all: Callable[[Iterable[str]], Mapping[str, Work]]) -> Opened:
    """Give windows that were mined from the reader's sources as a benchmark."""
    usable = [window for window in found if window.has_context and window.gold.length in LENGTHS]
    works = load_all({window.work_id for window in usable})
    windows = [
        QuotationContext(
            id=window.id,
            book=window.work_id,
            pool=window.work_id,
            left=window.left[-MAX_CONTEXT:],
            right=window.right[:MAX_CONTEXT],
            gold=window.gold,
        )
        for window in usable
        if window.work_id in works
    ]
    if not windows:
        raise NotFound(
            "No window was mined from sources of your own yet. Mine some (python -m relic_core mine FOLDER), or make "
            "the study of a benchmark: sample, public-relic-test."
        )
    return Opened(MINED, windows, books=[book_of(key, work) for key, work in works.items()], works=works)


def check_request(request: StudyRequest) -> None:
    """Refuse a request that cannot be, before anything is opened for it."""
    checked_name("A study", request.name)
    kind = study_kind(request.kind)
    if not kind.is_proxy and request.beyond:
        raise BadRequest("A place beyond which quotations are ranked is for studies of the proxy task: leave it out.")
    if request.shared and (not kind.is_proxy or request.shared < 2):  # noqa: PLR2004 - an interval takes two
        raise BadRequest(
            "A study of the proxy task can be divided, with 2 items or more that all read; kinds of evidence and spans "
            f"are judged by several readers of each item. Given were {request.shared} shared items for a study of the "
            f"kind {kind.name}."
        )
    if kind.marks_spans and (request.works or request.lengths not in {(), (1,)}):
        raise BadRequest("A study of spans is made of all its pairs: leave out works and lengths, or shorten the file.")
    registry.card(request.chooser)
    ContextSize.parse(request.shape)
    if request.most < 0 or request.beyond < 0 or not set(request.lengths) <= set(LENGTHS):
        raise BadRequest(
            f"A study has items of quotations of {LENGTHS[0]} to {LENGTHS[-1]} sentences, and the number of items and "
            f"the place beyond which a quotation is ranked are 0 or more; given were {request.lengths}, "
            f"{request.most} and {request.beyond}."
        )


def make_study(
    request: StudyRequest,
    benchmark: Benchmark,
    *,
    chooser: Retriever | None,
    sources: Mapping[str, str],
    words: Callable[[Work, Span], str],
    progress: Progress,
) -> Study:
    """Make a study of the windows of a benchmark.

    - `chooser`: who chooses the other options; None for kinds of evidence, where there are none.

    Raises BadRequest: works or lengths cannot be, or nothing is left of the windows.
    Raises RelicError: what the benchmark and the chooser raise.
    """
    shape = ContextSize.parse(request.shape)
    windows = _wanted(benchmark, request)
    # Where every item has to lie beyond a place, it is not known before how many of the windows do.
    drawn = _drawn(windows, request.seed, 0 if request.beyond else request.most)
    settings = ItemSettings(shape=shape, seed=request.seed, beyond=request.beyond, words=words)
    if chooser is None:
        made = Made(tuple(_quoted(window, benchmark.work(window.pool), settings) for window in drawn), left_out=())
    else:
        made = make_items(benchmark, drawn, chooser=chooser, settings=settings, progress=progress)
    kept = _drawn(made.items, request.seed, request.most)
    items = tuple(replace(item, source=sources.get(item.id, "")) for item in kept)
    if not items:
        raise BadRequest(
            f"Nothing is left for a study: of {len(drawn):,} windows {len(made.nearer):,} have their quotation among "
            f"the first {request.beyond:,} of {registry.card(request.chooser).label}, and {len(made.left_out):,} have "
            "no ranking or too short a work. Choose more works or lengths, or leave the place out."
        )
    if request.shared >= len(items):
        raise BadRequest(
            f"The study has {len(items):,} items, so {request.shared:,} of them cannot be shared and others divided. "
            "Share fewer, or choose more works or lengths."
        )
    pools, books = {window.book: window.pool for window in drawn}, dict.fromkeys(item.book for item in items)
    works = [_work(key, benchmark.work(pools[key]), benchmark) for key in books]
    study = _study(
        request,
        works,
        items,
        split=benchmark.card.split,
        chooser=chooser.name if chooser else "",
        chooser_configuration=dict(chooser.configuration) if chooser else {},
        windows=len(windows),
        left_out=len(made.left_out),
    )
    # Said only where the items do not show it: other files are those that earlier versions of the program read.
    alone = chooser is not None and not any(window.masked for window in windows)
    return study if study.claims_alone == alone else replace(study, making=replace(study.making, alone=alone))


def _quoted(window: QuotationContext, work: Work, settings: ItemSettings) -> Item:
    claim = window.claim(settings.shape)
    return Item(
        id=window.id, book=window.book, work_id=work.id, left=claim.left, right=claim.right, right_option=0, chooser="",
        options=(option_of(work, window.gold, settings),), gold_rank=0, kind=window.kind,
    )  # fmt: skip


def make_span_study(request: StudyRequest, pairs: Sequence[SpanPair]) -> Study:
    """Make a study of pairs of passages, in which spans are marked.

    Raises BadRequest: no pair is left, or its name or numbers cannot be.
    """
    check_request(request)
    made = make_span_items(pairs)
    if not made:
        raise BadRequest(
            f"Nothing is left for a study: none of {len(pairs):,} pairs has an anchor or a word that both sides share. "
            'Name one in each line: "anchor".'
        )
    if len({item.id for item in made}) < len(made):
        raise BadRequest("Two of the pairs have one id. Give each another, or leave the ids away.")
    items = tuple(_drawn(made, request.seed, request.most))
    books = dict.fromkeys(item.book for item in items)
    works = [
        StudyWork(key=key, title=key, author="", year=None, sha256="", fingerprint="", segmenter="") for key in books
    ]
    request = replace(request, lengths=())
    return _study(request, works, items, windows=len(pairs), left_out=len(pairs) - len(made))


def _study(request: StudyRequest, works: Sequence[StudyWork], items: tuple[Item, ...], **made: Any) -> Study:  # noqa: ANN401 - fields of `Making`
    name = request.name.strip()
    facts: dict[str, Any] = {"split": "", "chooser": "", "chooser_configuration": {}} | made
    making = Making(
        benchmark=request.benchmark, lengths=tuple(sorted(set(request.lengths))),
        shape=ContextSize.parse(request.shape), beyond=request.beyond, seed=request.seed, code=provenance.code(),
        kind=request.kind, shared=request.shared, **facts,
    )  # fmt: skip
    return Study(
        id=study_id(name=name, version=1, seed=request.seed, items=items, shared=request.shared), name=name, version=1,
        earlier="", works=tuple(works), items=items, making=making, created=datetime.now(UTC),
    )  # fmt: skip


def next_version(before: Study) -> Study:
    """Make the next version of a study, whose terms may differ from those of the one before."""
    version = before.version + 1
    return replace(
        before,
        id=study_id(
            name=before.name, version=version, seed=before.making.seed, items=before.items, shared=before.making.shared
        ),
        version=version,
        earlier=before.id,
        created=datetime.now(UTC),
    )


def why_held(work: StudyWork, summaries: Sequence[WorkSummary]) -> str:
    """Say why a study is held back for a work that is not in the library as it was, and what to do."""
    wanted = f"the edition whose text has the sha256 {work.sha256[:_DIGITS]}…"
    called = f"{work.title} ({work.author})" if work.author else work.title
    if any(summary.sha256 == work.sha256 for summary in summaries):
        return (
            f"{called} is in the library, but its sentences are not cut as they were for the study "
            f"({work.segmenter}): remove it and add it again with the version of the program that made the study."
        )
    other = next((each for each in summaries if each.title.casefold() == work.title.casefold()), None)
    if other is not None:
        return (
            f"{called} is in the library in another edition (sha256 {other.sha256[:_DIGITS]}…): the study was made of "
            f"{wanted} Add that one; you can have both."
        )
    return f"{called} is not in the library: add {wanted}"


def _wanted(benchmark: Benchmark, request: StudyRequest) -> list[QuotationContext]:
    keys = {_key(benchmark, named) for named in request.works}
    windows = [
        window
        for window in benchmark.windows()
        if (not keys or window.book in keys) and (not request.lengths or window.gold.length in request.lengths)
    ]
    if not windows:
        of = f" on {', '.join(request.works)}" if request.works else ""
        raise BadRequest(
            f"{benchmark.card.label} has no window{of} whose quotation has {' or '.join(map(str, request.lengths))} "
            "sentences. Choose other works or lengths."
        )
    return windows


def _key(benchmark: Benchmark, named: str) -> str:
    """Find the key of the work that a person means. Raises BadRequest: none fits, or several."""
    wanted, books = named.strip().casefold(), benchmark.books()
    fits = (
        [book.key for book in books if book.key == named.strip()],
        [book.key for book in books if wanted == book.title.casefold()],
        [book.key for book in books if wanted and wanted in book.title.casefold()],
    )
    if found := meant(named, fits, kind="works", called=str):
        return found
    raise BadRequest(
        f"{benchmark.card.label} quotes no work called '{named}'. It quotes: "
        f"{', '.join(sorted(book.key for book in books))}."
    )


def _drawn(some: Sequence[_Drawn], seed: int, most: int) -> list[_Drawn]:
    drawn = set(in_order(seed, "drawn", tuple(each.id for each in some))[: most or None])
    return [each for each in some if each.id in drawn]


def _work(key: str, work: Work, benchmark: Benchmark) -> StudyWork:
    book = next(book for book in benchmark.books() if book.key == key)
    return StudyWork(
        key=key,
        title=book.title,
        author=book.author,
        year=book.year,
        sha256=work.sha256,
        fingerprint=work.fingerprint,
        segmenter=work.segmenter,
    )
