"""Making a study: windows of a benchmark or of the reader's own sources, drawn by a seed, become items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.config import provenance
from relic_core.domain import LENGTHS, ContextSize, QuotationContext
from relic_core.domain.studies import Making, Study, StudyTerms, StudyWork, in_order, study_id
from relic_core.errors import BadRequest, NotFound
from relic_core.evaluation.proxy_runs import ItemSettings, make_items
from relic_core.reporting import passages
from relic_core.retrieval import registry
from relic_core.services.studies import texts
from relic_core.services.studies import windows as windows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from relic_core.domain import Span, Work
    from relic_core.domain.studies import Item
    from relic_core.ports import Benchmark, Progress
    from relic_core.wiring import App

FARTHEST = 1_000
"""The paper's second variant: the gold is not among so many that dense-RELiC ranks first (RELiC, section 4)."""


PRIDE = ("public-relic-test", "pride_and_prejudice")
"""The work of the paper's study, in the benchmark of criticism that is free of copyright."""

PRIDE_NAME = "Pride and Prejudice"
"""What the study of that work is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """What study is wanted.

    - `benchmark`: whose windows; empty for those that were mined from the reader's own sources.
    - `works`: only windows on these: keys of the benchmark, ids or titles; all where empty.
    - `lengths`: sentences of a quotation; any where empty.
    - `shape`: the claim's context: "4/4".
    - `chooser`: the retriever that chooses the other two options.
    - `beyond`: only windows whose quotation it ranks behind this place; 0 for all.
    - `most`: how many items at most, drawn by the seed; 0 for all.
    - `seed`: decides the draw, the order of the options, and each annotator's order of the items.
    - `wanted`: how many annotators for each item; 0 gives everybody every item.
    - `instructions`, `consent`, `privacy`: in place of the texts that studies have else.
    - `owner`: the code of who runs it, sealed (`owners.seal`); empty where its results are open to everybody.
    """

    name: str
    benchmark: str = ""
    works: tuple[str, ...] = ()
    lengths: tuple[int, ...] = (1,)
    shape: str = "4/4"
    chooser: str = "bm25"
    beyond: int = 0
    most: int = 0
    seed: int = 0
    wanted: int = 3
    instructions: str = ""
    consent: str = ""
    privacy: str = ""
    owner: str = ""

    @property
    def terms(self) -> StudyTerms:
        """What annotators are told. Raises BadRequest where a text is too long."""
        given = {name: said for name in ("instructions", "consent", "privacy") if (said := getattr(self, name))}
        for name, said in given.items():
            texts.checked_text(name, said)
        return replace(texts.DEFAULT, wanted=texts.checked_wanted(self.wanted), **given)


def make(app: App, request: StudyRequest, *, data: Path | None = None, progress: Progress) -> Study:
    """Make a study; it is not kept.

    - `app`: where the works are.
    - `data`: the reader's own file of the benchmark.
    - `progress`: told how many windows are done.

    Raises BadRequest: something in the request cannot be, or nothing is left of the windows.
    Raises NotFound: a work or the data of the benchmark are not here.
    Raises RelicError: what the benchmark and the chooser raise.
    """
    name = texts.checked_name("A study", request.name)
    chooser = registry.card(request.chooser)
    shape = ContextSize.parse(request.shape)
    _check_numbers(request)
    benchmark = windows_of.opened(app, request.benchmark, data=data)
    windows = _chosen(benchmark, request)
    asked = app.measuring.retriever(chooser.name, app.measuring.settings_for(benchmark))
    # Where every item has to lie beyond a place, it is not known before how many of the windows do.
    drawn = _drawn(windows, request.seed, 0 if request.beyond else request.most)
    made = make_items(
        benchmark,
        drawn,
        chooser=asked,
        settings=ItemSettings(shape=shape, seed=request.seed, beyond=request.beyond, words=words_of),
        progress=progress,
    )
    kept = {window.id for window in _drawn([w for w in drawn if w.id in _ids(made.items)], request.seed, request.most)}
    items = tuple(item for item in made.items if item.id in kept)
    if not items:
        raise BadRequest(
            f"Nothing is left for a study: of {len(drawn):,} windows {len(made.nearer):,} have their quotation among "
            f"the first {request.beyond:,} of {chooser.label}, and {len(made.left_out):,} have no ranking or too short "
            "a work. Choose more works or lengths, or leave the place out."
        )
    sources = windows_of.sources(app) if not request.benchmark else {}
    items = tuple(replace(item, source=sources.get(item.id, "")) for item in items)
    pools = {window.book: window.pool for window in drawn}
    return Study(
        id=study_id(name=name, version=1, seed=request.seed, items=items),
        name=name,
        version=1,
        earlier="",
        works=tuple(
            _work(key, benchmark.work(pools[key]), benchmark) for key in dict.fromkeys(item.book for item in items)
        ),
        items=items,
        making=Making(
            benchmark=request.benchmark,
            split=benchmark.card.split,
            lengths=tuple(sorted(set(request.lengths))),
            shape=shape,
            chooser=chooser.name,
            chooser_configuration=dict(asked.configuration),
            beyond=request.beyond,
            seed=request.seed,
            windows=len(windows),
            left_out=len(made.left_out),
            code=provenance.code(),
        ),
        created=datetime.now(UTC),
    )


def next_version(before: Study, *, seed: int | None, without: Collection[str]) -> Study:
    """Make the next version of a study, with another seed or without some items.

    Raises BadRequest: no item would be left.
    Raises NotFound: there is no such item.
    """
    unknown = set(without) - _ids(before.items)
    if unknown:
        raise NotFound(f"The study {before.label} has no item {', '.join(sorted(unknown))}.")
    items = tuple(item for item in before.items if item.id not in without)
    if not items:
        raise BadRequest("A study needs an item at least: leave fewer out.")
    made_now = replace(before.making, seed=before.making.seed if seed is None else seed)
    version = before.version + 1
    keys = {item.book for item in items}
    return replace(
        before,
        id=study_id(name=before.name, version=version, seed=made_now.seed, items=items),
        version=version,
        earlier=before.id,
        works=tuple(work for work in before.works if work.key in keys),
        items=items,
        making=made_now,
        created=datetime.now(UTC),
    )


def words_of(work: Work, span: Span) -> str:
    """Set the words of a span as annotators read them."""
    return passages.quotation(work, span).plain


def _chosen(benchmark: Benchmark, request: StudyRequest) -> list[QuotationContext]:
    """Take the windows on the works and of the lengths that are wanted."""
    keys = {_key(benchmark, said) for said in request.works}
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


def _key(benchmark: Benchmark, said: str) -> str:
    """Find the key of the work that a person means.

    Raises BadRequest: none fits, or several.
    """
    wanted = said.strip().casefold()
    books = benchmark.books()
    for fits in (
        [book.key for book in books if book.key == said.strip()],
        [book.key for book in books if wanted == book.title.casefold()],
        [book.key for book in books if wanted and wanted in book.title.casefold()],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise BadRequest(f"'{said}' fits several works: {', '.join(fits)}. Name one of these.")
    raise BadRequest(
        f"{benchmark.card.label} quotes no work called '{said}'. It quotes: "
        f"{', '.join(sorted(book.key for book in books))}."
    )


def _drawn(windows: Sequence[QuotationContext], seed: int, most: int) -> list[QuotationContext]:
    """Draw windows by a seed; all where there are no more. In the order of the benchmark."""
    if not most or most >= len(windows):
        return list(windows)
    drawn = set(in_order(seed, "drawn", tuple(window.id for window in windows))[:most])
    return [window for window in windows if window.id in drawn]


def _ids(items: Sequence[Item]) -> set[str]:
    return {item.id for item in items}


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


def _check_numbers(request: StudyRequest) -> None:
    if request.most < 0 or request.beyond < 0 or not set(request.lengths) <= set(LENGTHS):
        raise BadRequest(
            f"A study has items of quotations of {LENGTHS[0]} to {LENGTHS[-1]} sentences, and the number of items and "
            f"the place beyond which a quotation is ranked are 0 or more; given were {request.lengths}, "
            f"{request.most} and {request.beyond}."
        )


def run_make(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "study" job: make a study.

    - `app`: where the works are.
    - `arguments`: the fields of a `StudyRequest`.
    - `progress`: told how many windows are done.
    """
    lists = {name: tuple(arguments[name]) for name in ("works", "lengths")}
    study = app.studies.make(StudyRequest(**arguments | lists), progress=progress)
    return f"{study.label} has {len(study.items):,} items ({study.id})"
