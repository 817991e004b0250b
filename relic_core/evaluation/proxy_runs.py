"""The proxy task answered by retrievers: one chooses the distractors, the others are asked (RELiC, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import rank_scores
from relic_core.domain.works import Work
from relic_core.errors import BadClaim, BadRequest
from relic_core.evaluation.proxy_items import TooShort, choice, make_item
from relic_core.evaluation.runner import by_pool
from relic_core.ports import silent
from relic_core.retrieval import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relic_core.domain import Claim, ContextSize, QuotationContext, Ranking, Span
    from relic_core.domain.studies import Item
    from relic_core.ports import Benchmark, Progress, Retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings:
    """How items are made.

    - `shape`: how much context each claim takes.
    - `seed`: decides the order of the options.
    - `beyond`: only windows whose gold the chooser ranks behind this place; 0 for all (RELiC, section 4: 1,000).
    - `words`: sets the words of a span as they are shown; to the letter where not given.
    """

    shape: ContextSize
    seed: int = 0
    beyond: int = 0
    words: Callable[[Work, Span], str] = Work.span_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Items that were made of windows.

    - `items`: in the order of the windows.
    - `left_out`: Windows that no item could be made of: the chooser gave no ranking, or the work is too short for three
      options.
    - `nearer`: Windows whose gold the chooser ranks too well for the items that were wanted.
    """

    items: tuple[Item, ...]
    left_out: tuple[str, ...]
    nearer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a retriever answered.

    - `choices`: by item the number of the option, from 1; `CANNOT_DECIDE` where it gave no ranking.
    - `ranks`: by item the rank of the gold among all spans of its work; 0 where it gave no ranking.
    """

    choices: dict[str, int]
    ranks: dict[str, int]


def make_items(
    benchmark: Benchmark,
    windows: Sequence[QuotationContext],
    *,
    chooser: Retriever,
    settings: ItemSettings,
    progress: Progress,
) -> Made:
    """Make an item of every window that one can be made of.

    - `benchmark`: where the windows' works are.
    - `windows`: all of it, or some.
    - `chooser`: who chooses the other two options.
    - `progress`: told how many windows are done.

    Raises RelicError: what the benchmark and the chooser raise, but for a claim without words.
    """
    found: dict[str, Item] = {}
    left_out: list[str] = []
    nearer: list[str] = []
    done = 0
    for pool, some in by_pool(windows).items():
        work = benchmark.work(pool)
        progress(done, len(windows), f"{work.title}: preparing {chooser.name}")
        chooser.prepare(work, silent, lengths=sorted({window.gold.length for window in some}))
        for window in some:
            done += 1
            progress(done, len(windows), work.title)
            ranking = _ranking(chooser, window.claim(settings.shape), work, window.gold.length)
            if ranking is None:
                left_out.append(window.id)
                continue
            if ranking.rank_of(window.gold) <= settings.beyond:
                nearer.append(window.id)
                continue
            candidates = benchmark.candidates(window)
            try:
                found[window.id] = make_item(
                    window,
                    ranking,
                    work,
                    shape=settings.shape,
                    candidates=candidates,
                    seed=settings.seed,
                    words=settings.words,
                )
            except TooShort:  # counted and told with the result
                left_out.append(window.id)
    items = tuple(found[window.id] for window in windows if window.id in found)
    return Made(items=items, left_out=tuple(left_out), nearer=tuple(nearer))


def ask(items: Sequence[Item], works: Callable[[str], Work], retriever: Retriever, *, progress: Progress) -> Chosen:
    """Have a retriever answer items.

    - `works`: gives the work of an item by its id (`Item.work_id`).
    - `retriever`: who is asked; not the chooser, whose own best two the other options are (the paper's note 9).
    - `progress`: told how many items are done.

    Raises BadRequest: the chooser is asked, or its copy for checking.
    Raises RelicError: what the retriever raises, but for a claim without words.
    """
    if any(alike(retriever.name) == alike(item.chooser) for item in items):
        raise BadRequest(
            f"{retriever.name} chooses the options, so its own accuracy says nothing. Name other retrievers to be "
            "asked, or another chooser."
        )
    choices: dict[str, int] = {}
    ranks: dict[str, int] = {}
    for work_id in dict.fromkeys(item.work_id for item in items):
        some = [item for item in items if item.work_id == work_id]
        work = works(work_id)
        progress(len(choices), len(items), f"{work.title}: preparing {retriever.name}")
        retriever.prepare(work, silent, lengths=sorted({item.gold.span.length for item in some}))
        for item in some:
            ranking = _ranking(retriever, item.claim, work, item.gold.span.length)
            choices[item.id] = choice(item, ranking)
            ranks[item.id] = 0 if ranking is None else ranking.rank_of(item.gold.span)
            progress(len(choices), len(items), f"{retriever.name}: {work.title}")
    return Chosen(choices=choices, ranks=ranks)


def alike(name: str) -> str:
    """Give the name of the retriever that makes the same ranking: a copy for checking has that of what it copies.

    >>> alike("bm25-reference"), alike("bm25-lemmas")
    ('bm25', 'bm25-lemmas')
    """
    return name.removesuffix("-reference")


def built_on(name: str, chooser: str) -> bool:
    """Whether a retriever is made of the one that chose the options, directly or by others, and shares its errors.

    >>> built_on("reranked", "bm25"), built_on("zero-shot", "bm25"), built_on("bm25", "bm25")
    (True, False, False)
    """
    parts = {alike(card.name) for card in registry.in_order([name])} - {alike(name)}
    return alike(chooser) in parts


def _ranking(retriever: Retriever, claim: Claim, work: Work, length: int) -> Ranking | None:
    """Rank all spans for a claim; None for one without words."""
    try:
        scores = retriever.score(claim, work, length)
    except BadClaim:
        return None
    return rank_scores(retriever.name, work.id, length, scores)
