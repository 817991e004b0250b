"""The proxy task: the gold among three passages, answered by retrievers (RELiC, section 4).

A retriever's answer is the option that it ranks best; how items are made, and who is left out: docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relic_core.domain import Claim, ContextSize, QuotationContext, Ranking, Span, rank_scores
from relic_core.domain.studies import CANNOT_DECIDE, OPTIONS, Item, Option, in_order
from relic_core.domain.works import Work
from relic_core.errors import BadClaim, BadRequest
from relic_core.evaluation.metrics import Values
from relic_core.evaluation.runner import by_pool
from relic_core.ports import Benchmark, Progress, Retriever, silent
from relic_core.retrieval import registry


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings:
    """How items are made.

    - `seed`: decides, with the window's id, the order of the options; the same on every machine.
    - `beyond`: only windows whose gold the chooser ranks behind this place; 0 for all (RELiC, section 4: 1,000).
    - `words`: sets the words of a span as they are shown; to the letter where not given.
    """

    shape: ContextSize
    seed: int = 0
    beyond: int = 0
    words: Callable[[Work, Span], str] = Work.span_text


class Made(NamedTuple):
    """Items in the order of their windows; ids of windows without a ranking or of too short a work; of `beyond`."""

    items: tuple[Item, ...]
    left_out: tuple[str, ...]
    nearer: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """By item the option that a retriever chooses (`CANNOT_DECIDE` without a ranking), and the gold's rank (then 0)."""

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
    """Make an item of every window that one can be made of."""
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
            elif ranking.rank_of(window.gold) <= settings.beyond:
                nearer.append(window.id)
            else:
                item = make_item(window, ranking, work, settings, candidates=benchmark.candidates(window))
                if item is None:
                    left_out.append(window.id)
                else:
                    found[window.id] = item
    items = tuple(found[window.id] for window in windows if window.id in found)
    return Made(items=items, left_out=tuple(left_out), nearer=tuple(nearer))


def make_item(
    window: QuotationContext,
    ranking: Ranking,
    work: Work,
    settings: ItemSettings,
    *,
    candidates: npt.NDArray[np.int64] | None = None,
) -> Item | None:
    """Make an item of a window: its gold and the best two spans of a ranking; None where the work is too short.

    - `ranking`: all spans of the gold's length of its work for the window's claim, by the retriever that chooses.
    - `candidates`: starts of the spans that may be options, where not all may (`Benchmark.candidates`).
    """
    gold = window.gold
    chosen = [gold, *_distractors(window, ranking, candidates)]
    if len(chosen) < OPTIONS:
        return None
    starts = in_order(settings.seed, window.id, tuple(str(span.start) for span in chosen))
    spans = tuple(Span(int(start), gold.length) for start in starts)
    claim = window.claim(settings.shape)
    return Item(
        id=window.id,
        book=window.book,
        work_id=ranking.works[0],
        left=claim.left,
        right=claim.right,
        options=tuple(option_of(work, span, settings) for span in spans),
        right_option=1 + spans.index(gold),
        chooser=ranking.retriever,
        gold_rank=ranking.rank_of(gold),
        kind=window.kind,
    )


def option_of(work: Work, span: Span, settings: ItemSettings) -> Option:
    """Make an option of a span."""
    return Option(
        span=span, at=work.span_offsets(span), address=str(work.address(span.start)), words=settings.words(work, span)
    )


def _distractors(window: QuotationContext, ranking: Ranking, candidates: npt.NDArray[np.int64] | None) -> list[Span]:
    """Give the best two spans that overlap neither what is right nor each other; fewer where there are no more."""
    allowed = np.full(len(ranking.scores), fill_value=candidates is None)
    if candidates is not None:
        allowed[candidates] = True
    chosen: list[Span] = []
    for start in ranking.order:
        span = Span(int(start), ranking.length)
        if allowed[start] and not any(map(span.overlaps, (window.gold, *window.accepted, *chosen))):
            chosen.append(span)
            if len(chosen) == OPTIONS - 1:
                break
    return chosen


def ask(items: Sequence[Item], works: Callable[[str], Work], retriever: Retriever, *, progress: Progress) -> Chosen:
    """Have a retriever answer items; a language model that reads passages is shown the three options alone.

    Raises BadRequest: the retriever chose the options, or is a copy of the one that did.
    """
    for name in {item.chooser for item in items}:
        check_not_chooser([retriever.name], name)
    choices: dict[str, int] = {}
    ranks: dict[str, int] = {}
    if registry.card(retriever.name).server:
        return Chosen(choices=_read(items, retriever, progress), ranks=dict.fromkeys((item.id for item in items), 0))
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


def _read(items: Sequence[Item], retriever: Retriever, progress: Progress) -> dict[str, int]:
    """Have a language model read the options of each item; it cannot decide where no score of its can be read."""
    from relic_core.retrieval.read_by_model import ReadByModel  # brings the client of servers

    if not isinstance(retriever, ReadByModel):
        raise BadRequest(
            f"{retriever.name} names passages from memory and reads none, so it cannot choose among three. Name "
            "llm-score, llm-reason, llm-subtask or llm-rank."
        )
    choices = {}
    for done, item in enumerate(items):
        progress(done, len(items), retriever.name)
        order, readings = retriever.read(item.claim, [option.words for option in item.options], silent)
        read = retriever.name == "llm-rank" or any(each.score is not None for each in readings)
        choices[item.id] = 1 + order[0] if read else CANNOT_DECIDE
    return choices


def choice(item: Item, ranking: Ranking | None) -> int:
    """Say which option a retriever chooses: the one that it ranks best; `CANNOT_DECIDE` without a ranking."""
    if ranking is None:
        return CANNOT_DECIDE
    return 1 + min(range(OPTIONS), key=lambda place: ranking.rank_of(item.spans[place]))


def proxy_values(items: Sequence[Item], choices: Mapping[str, int]) -> Values:
    """Say which items were answered rightly: 1 where the critic's quotation was chosen, else 0.

    Raises BadRequest: an item was not answered.
    """
    lacking = [item.id for item in items if item.id not in choices]
    if lacking:
        raise BadRequest(
            f"{len(lacking)} items have no answer, the first of them '{lacking[0]}': answer each, or say that it "
            f"cannot be decided ({CANNOT_DECIDE})."
        )
    return np.array([choices[item.id] == item.right_option for item in items], dtype=np.float64)


def check_not_chooser(names: Sequence[str], chooser: str) -> None:
    """Refuse retrievers that rank as the one that chose the options."""
    for name in names:
        if alike(name) == alike(chooser):
            raise BadRequest(
                f"{name} chose the other options from its own best hits, so its own accuracy on them says nothing. "
                "Name other retrievers, or another chooser."
            )


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


def may_answer(chooser: str) -> tuple[str, ...]:
    """Name the retrievers that may answer where one chose the options: all others, but for copies for checking.

    Those that ask a server's language model, which may cost money, answer only where they are named; so does what keeps
    every token of a work, which takes hundreds of megabytes.
    """
    cards = (each for each in registry.cards() if each.on_its_own and not each.keeps_own_index)
    return tuple(card.name for card in cards if card.name == alike(card.name) != alike(chooser))


def caveat(name: str, chooser: str) -> str:
    """Say what has to be known of a retriever's answers where one chose the options; mostly nothing."""
    if alike(name) == alike(chooser):
        return "is left out, since it chose the other options"
    if registry.card(name).server:  # it reads the three passages alone, whatever chose them
        return ""
    if built_on(name, chooser):
        return f"is built on {registry.card(chooser).label}, which chose the other options, and shares its errors"
    return "goes by chance" if registry.card(name).kind == "baseline" else ""


def _ranking(retriever: Retriever, claim: Claim, work: Work, length: int) -> Ranking | None:
    try:
        scores = retriever.score(claim, work, length)
    except BadClaim:
        return None
    return rank_scores(retriever.name, work.id, length, scores)
