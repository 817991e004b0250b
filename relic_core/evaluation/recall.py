"""Recall by parts: the runs of a benchmark, the marks of one run by one view, and the examples behind a mark."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain import SHAPES, BenchmarkCard, Book, ContextSize, Outcome, Pool, Run
from relic_core.domain.figures import DRAWN_K, Group, Mark, Series, View
from relic_core.domain.grouping import grouped
from relic_core.errors import BadRequest
from relic_core.evaluation.intervals import interval_of, over_of
from relic_core.evaluation.metrics import values
from relic_core.evaluation.published import published
from relic_core.retrieval import registry
from relic_core.retrieval.bm25 import K1, B
from relic_core.retrieval.calibration import model_named

Verdict = Literal["missed", "some", "found"]

MOST_K = 100
"""Up to which k the curve goes."""
NO_KIND, NO_RANKING, ALL = "unlabelled", "no-ranking", "all"
"""Keys of groups: quotations of no labelled kind, without a ranking, and all together."""
NORMAL = 1.96
"""Standard errors on either side that make a 95% interval."""

_HERE = "measured here"
_KINDS = ("claim-supporting", "paraphrase-supporting", "other", NO_KIND)
_RANGE_ENDS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
_DEFAULT_SHAPE = ContextSize(4, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A benchmark with its runs, newest first, and those that are shown where none were chosen."""

    card: BenchmarkCard
    runs: tuple[Run, ...]
    default: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One example, with what each run made of it; the verdict: all runs have it too low, some, or none."""

    id: str
    book: Book
    length: int
    kind: str
    outcomes: tuple[tuple[Run, Outcome], ...]
    verdict: Verdict


def offers_of(runs: Sequence[Run], cards: Sequence[BenchmarkCard], model: str = "") -> tuple[Offer, ...]:
    """List the benchmarks that there are runs of (newest first), those that say most first.

    - `model`: "small" or "larger", the one in use, whose runs are shown first.

    Whole works stand before given pools, and what quotes a single work, as the sample does, at the end; else the
    registered ones in their order, and others by name.
    """
    by_name = grouped(runs, lambda run: run.benchmark)
    known = {card.name: card for card in cards}
    names = [name for name in known if name in by_name] + sorted(set(by_name) - set(known))
    offers = [
        Offer(card=known.get(name) or _card_of(own[0]), runs=tuple(own), default=default_runs(own, model))
        for name in names
        if (own := by_name[name])
    ]
    return tuple(sorted(offers, key=lambda offer: (len(offer.runs[0].books) == 1, offer.card.pool == "given")))


def _card_of(run: Run) -> BenchmarkCard:
    return BenchmarkCard(
        name=run.benchmark, label=run.benchmark, description="", split=run.split, pool=run.pool,
        main_metric="recall@10", examples=run.examples, books=len(run.books), source="", licence="", citation="",
    )  # fmt: skip


def default_runs(runs: Sequence[Run], model: str = "") -> tuple[Run, ...]:
    """Choose what is shown first, in the order in which pages show retrievers.

    Of one state of the data, that which most retrievers were measured on (the newest of several), and of one shape,
    4/4 where there is it, one run of each retriever that pages offer (of all, where none of those was measured): the
    one of the model in use, and of these the one that came with the program, else one with the retriever's own
    parameters, else the newest.
    """
    states = dict.fromkeys(run.data_hash for run in runs)
    measured = {(run.data_hash, run.retriever) for run in runs}
    counts = Counter(state for state, _ in measured)
    most = max(states, key=counts.__getitem__)
    same = [run for run in runs if run.data_hash == most]
    shape = _DEFAULT_SHAPE if any(run.shape == _DEFAULT_SHAPE for run in same) else same[0].shape
    cards = registry.cards()
    order = {card.name: place for place, card in enumerate(cards)}
    offered = {card.name for card in cards if card.shown}
    own = [run for run in same if run.shape == shape]
    own = [run for run in own if run.retriever in offered] or own
    chosen: dict[str, Run] = {}

    def place(run: Run) -> tuple[bool, bool, bool]:
        of = model_named(run.configuration)
        return of not in {"", model or "small"}, not run.shipped, not _as_registered(run)

    for run in sorted(own, key=place):  # stable: the newest first
        chosen.setdefault(run.retriever, run)
    return tuple(sorted(chosen.values(), key=lambda run: order.get(run.retriever, len(order))))


def _as_registered(run: Run) -> bool:
    """Whether a run was made with the parameters that its retriever has unless others are asked for."""
    given = run.configuration
    return float(given.get("k1", K1)) == K1 and float(given.get("b", B)) == B and "function words" not in given


def labels(runs: Sequence[Run], model: str = "") -> dict[str, str]:
    """Give each run a name that tells it from the others: retriever, model, shape, and its id where those are alike.

    - `model`: "small" or "larger", the one in use.

    The label of a run of the larger model names it already; "small" is said beside one, or where that is in use.
    """
    models = [model_named(run.configuration) for run in runs]
    beside = " (small)" * ("larger" in {*models, model})
    given = [
        f"{run.label}{beside * (model == 'small')} · {run.shape.words}" for run, model in zip(runs, models, strict=True)
    ]
    return {
        run.id: label if given.count(label) == 1 else f"{label} · {run.id[:6]}"
        for run, label in zip(runs, given, strict=True)
    }


def check_measured(run: Run) -> None:
    """Refuse a run without examples. Raises BadRequest: it is one."""
    if not run.examples:
        raise BadRequest(
            f"{run.label} was measured on no quotation, so it has no ranks to show. Take it out, or measure it again."
        )


def check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that cannot stand side by side.

    Raises BadRequest: there are none; or they are of several benchmarks, or of given pools and of whole works.
    """
    if not runs:
        raise BadRequest("No run is chosen. Choose one or more to see their figures.")
    if len({run.pool for run in runs}) > 1:
        raise BadRequest(
            "Some of these runs rank all passages of a work, and others a pool of some dozens that comes with the "
            "question. The second is far easier, so their figures are never shown side by side. Choose one kind of "
            "pool first, then its runs."
        )
    if len(names := sorted({run.benchmark for run in runs})) > 1:
        raise BadRequest(
            f"These runs answer different questions: {', '.join(names)}. Choose one benchmark first, then its runs."
        )


def ranges() -> tuple[tuple[str, str, int], ...]:
    """List the ranges of ranks, each about three times as wide as the one before: key, label, first rank.

    >>> ranges()[:3]
    (('1', '1', 1), ('2-3', '2–3', 2), ('4-10', '4–10', 4))
    >>> ranges()[-2:]
    (('10001-', 'over 10,000', 10001), ('no-ranking', 'none', 0))
    """
    named = [("1", "1", 1)]
    for before, last in pairwise(_RANGE_ENDS):
        named.append((f"{before + 1}-{last}", f"{before + 1:,}–{last:,}", before + 1))
    beyond = _RANGE_ENDS[-1]
    return (*named, (f"{beyond + 1}-", f"over {beyond:,}", beyond + 1), (NO_RANKING, "none", 0))


def range_of(rank: int | None) -> str:
    """Give the key of the range that a rank lies in.

    >>> range_of(1), range_of(7), range_of(20_000), range_of(None)
    ('1', '4-10', '10001-', 'no-ranking')
    """
    if rank is None:
        return NO_RANKING
    return next(key for key, _, first in reversed(ranges()[:-1]) if rank >= first)


def key_of(outcome: Outcome, view: View | str) -> str:
    """Give the key of the group that an outcome belongs to; `ALL` where a view does not part the examples."""
    match view:
        case "books":
            return outcome.book
        case "lengths":
            return str(outcome.length)
        case "kinds":
            return outcome.kind or NO_KIND
        case "ranks":
            return range_of(outcome.rank)
        case _:
            return ALL


def marks_of(
    run: Run, outcomes: Sequence[Outcome], name: str, view: View | str, keys: Mapping[str, str] | None = None
) -> tuple[Mark, ...]:
    """Compute the marks of one run, whose id becomes the key of the series; none of a run without outcomes.

    - `outcomes`: in the order of their ids (`intervals.sorted_by_id`), in which samples are drawn.
    - `view`: by what; "shapes" and "published" give one mark each, whose group is the run's shape, or its id.
    - `keys`: the group of each example, where it is not told from its outcome; those without one are left out.
    """
    if keys is not None:
        outcomes = [outcome for outcome in outcomes if outcome.example_id in keys]
    if not outcomes:
        return ()
    if view == "curve":
        return tuple(_curve(run, outcomes, name))
    parts = np.array([keys[each.example_id] if keys else key_of(each, view) for each in outcomes], dtype=str)
    candidates = np.array([outcome.candidates for outcome in outcomes], dtype=np.float64)
    if view == "ranks":
        return tuple(
            Mark(group=key, series=run.id, value=float(np.mean(parts == key)), n=int(np.sum(parts == key)))
            for key, _, _ in ranges()
        )
    figures = values(name, outcomes)
    works = np.array([outcome.book for outcome in outcomes], dtype=str)
    named = {"shapes": str(run.shape), "published": run.id}
    return tuple(
        _mark(named.get(view, str(key)), run, figures[own], works[own], float(candidates[own].mean()))
        for key in dict.fromkeys(parts.tolist())
        if (own := parts == key).any()
    )


def _mark(
    group: str, run: Run, figures: npt.NDArray[np.float64], works: npt.NDArray[np.str_], candidates: float
) -> Mark:
    """Compute one figure with its interval; none from a single example, or where all samples come out alike."""
    low = high = None
    if len(figures) > 1:
        found = interval_of(figures, works.tolist(), over=over_of(works.tolist()))
        if not found.flat:
            low, high = found.low, found.high
    value = float(figures.mean())
    return Mark(group=group, series=run.id, value=value, low=low, high=high, n=len(figures), candidates=candidates)


def _curve(run: Run, outcomes: Sequence[Outcome], name: str) -> Iterator[Mark]:
    tolerant = name.startswith("overlap-")
    ranks = np.array([(each.overlap_rank if tolerant else each.rank) or np.inf for each in outcomes], dtype=np.float64)
    works = np.array([outcome.book for outcome in outcomes], dtype=str)
    candidates = float(np.mean([outcome.candidates for outcome in outcomes]))
    for k in range(1, MOST_K + 1):
        hits = (ranks <= k).astype(np.float64)
        if k in DRAWN_K:
            yield _mark(str(k), run, hits, works, candidates)
        else:
            yield Mark(group=str(k), series=run.id, value=float(hits.mean()), n=len(hits), candidates=candidates)


def groups_of(
    view: View, runs: Sequence[Run], marks: Sequence[Mark], *, labels: Mapping[str, str], sort: str, least: int
) -> tuple[tuple[Group, ...], str]:
    """Put the groups of a chart in order; with what is left out as a sentence, empty where nothing is.

    - `sort`: order of books: "recall", "year", "length", "author", "title".
    """
    counts: dict[str, int] = {}
    for mark in marks:
        counts[mark.group] = max(counts.get(mark.group, 0), mark.n)
    if view == "books":
        return _books(runs, marks, counts, sort=sort, least=least)
    if view == "published":
        return tuple(Group(key=run.id, label=labels[run.id], note=_HERE, n=counts[run.id]) for run in runs), ""
    named = [(str(k), str(k)) for k in range(1, MOST_K + 1)] if view == "curve" else _IN_ORDER[view](counts)
    return tuple(Group(key=key, label=label, n=counts.get(key, 0)) for key, label in named), ""


def _ranges(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    last = max((place for place, (key, _, _) in enumerate(ranges()[:-1]) if counts.get(key)), default=0)
    held = [*ranges()[: last + 1], *(each for each in ranges()[-1:] if counts.get(each[0]))]
    return [(key, label) for key, label, _ in held]


def _kinds(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    held = [kind for kind in _KINDS if kind in counts] + sorted(set(counts) - set(_KINDS))
    return [] if held == [NO_KIND] else [(kind, "not labelled" if kind == NO_KIND else kind) for kind in held]


_IN_ORDER: dict[str, Callable[[Mapping[str, int]], list[tuple[str, str]]]] = {
    "ranks": _ranges,
    "kinds": _kinds,
    "shapes": lambda counts: [(str(each), each.words) for each in sorted(map(ContextSize.parse, counts), key=place_of)],
    "lengths": lambda counts: [(key, key) for key in sorted(counts, key=int)],
}


def place_of(shape: ContextSize) -> tuple[int, ContextSize]:
    """Give the place of a shape: that of the paper's Table 3, others behind."""
    return (SHAPES.index(shape) if shape in SHAPES else len(SHAPES)), shape


def _books(
    runs: Sequence[Run], marks: Sequence[Mark], counts: Mapping[str, int], *, sort: str, least: int
) -> tuple[tuple[Group, ...], str]:
    books = chain.from_iterable(run.books for run in reversed(runs))
    known = {book.key: book for book in books}
    held = [known[key] for key, count in counts.items() if count >= least and key in known]
    means = {book.key: np.mean([mark.value for mark in marks if mark.group == book.key]) for book in held}
    orders = {
        "recall": lambda book: -means[book.key],
        "year": lambda book: book.year or 9999,
        "length": lambda book: -book.sentences,
        "author": lambda book: _surname(book.author),
    }
    ordered = sorted(held, key=lambda book: book.title.removeprefix("The ").casefold())
    if sort in orders:
        ordered.sort(key=orders[sort])
    few = len(counts) - len(held)
    left_out = (
        f"{few} work{'s' * (few != 1)} with fewer than {least} quotations {'are' if few != 1 else 'is'} left out."
    )
    return tuple(_book(book, counts[book.key], sort) for book in ordered), left_out if few else ""


def _surname(author: str) -> str:
    words = author.casefold().split()
    return words[-1] if words else "\uffff"


def _book(book: Book, n: int, sort: str) -> Group:
    year = "" if book.year is None else str(book.year)
    sentences = f"{book.sentences:,}" if book.sentences else ""
    notes = {"author": book.author, "length": f"{sentences} sentences" if sentences else ""}
    return Group(
        key=book.key,
        label=book.title,
        note=notes.get(sort, year),
        n=n,
        facts=(("Author", book.author), ("Year", year), ("Sentences", sentences)),
    )


def published_marks(
    pool: Pool, name: str, *, by_length: bool
) -> tuple[tuple[Group, ...], tuple[Mark, ...], tuple[str, ...]]:
    """List the published figures of a metric: groups, marks of the series "published", and where each is printed.

    Figures of the other kind of pool are left out. By length, the groups are lengths; else each figure over all lengths
    is a group of its own. Ends of intervals are made from standard errors where those are printed.
    """
    groups: list[Group] = []
    marks: list[Mark] = []
    sources = []
    for each in published():
        if each.pool != pool or each.metric != name or (each.length is not None) is not by_length:
            continue
        key = str(each.length) if by_length else f"published-{len(groups)}"
        shape = f" · {each.shape.words}" if each.shape else ""
        groups.append(Group(key=key, label=f"{each.system}{shape}", note=f"{each.paper}, table {each.table}", n=each.n))
        reach = None if each.standard_error is None else NORMAL * each.standard_error
        marks.append(
            Mark(
                group=key,
                series="published",
                value=each.value,
                low=None if reach is None else max(0.0, each.value - reach),
                high=None if reach is None else min(1.0, each.value + reach),
                n=each.n,
                candidates=each.candidates,
            )
        )
        counted = "" if by_length else f", n = {each.n:,}, {each.candidates:,.0f} candidates on average"
        sources.append(f"{each.system if by_length else ''} {each.source}: {each.data}{counted}".strip())
    if not by_length:
        order = sorted(range(len(groups)), key=lambda at: -marks[at].value)
        groups, marks = [groups[at] for at in order], [marks[at] for at in order]
    return tuple(groups), tuple(marks), tuple(dict.fromkeys(sources))


def by_retriever(runs: Sequence[Run], marks: Sequence[Mark]) -> tuple[tuple[Series, ...], list[Mark]]:
    """Put the runs of a retriever into one series."""
    label_of = {run.retriever: run.label for run in reversed(runs)}
    series = tuple(
        Series(key=name, label=label_of[name], retriever=name, runs=tuple(run.id for run in some))
        for name, some in grouped(runs, lambda run: run.retriever).items()
    )
    own = {run.id: run.retriever for run in runs}
    return series, [dataclasses.replace(mark, series=own[mark.series]) for mark in marks]


def of_all_shapes(runs: Sequence[Run], among: Sequence[Run]) -> tuple[Run, ...]:
    """Take, for each retriever of the runs, its newest run of every shape, by the same model on the same data."""

    def alike(run: Run) -> tuple[str, ...]:
        return run.benchmark, run.retriever, run.data_hash, model_named(run.configuration)

    wanted = set(map(alike, runs))
    newest: dict[tuple[str, ContextSize], Run] = {(run.retriever, run.shape): run for run in reversed(runs)}
    for run in among:
        if alike(run) in wanted:
            newest.setdefault((run.retriever, run.shape), run)
    order = list(dict.fromkeys(run.retriever for run in runs))
    return tuple(sorted(newest.values(), key=lambda run: (order.index(run.retriever), place_of(run.shape))))


def cases_behind(
    measured: Sequence[tuple[Run, Sequence[Outcome]]],
    view: View,
    name: str,
    key: str,
    keys: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Case, ...]:
    """List the examples behind a group of a chart, the worst first by the best rank that a run has given."""
    found: dict[str, list[tuple[Run, Outcome]]] = {}
    hits: dict[str, list[bool]] = {}
    for run, outcomes in measured:
        for outcome, value in zip(outcomes, values(name, outcomes).tolist(), strict=True):
            found.setdefault(outcome.example_id, []).append((run, outcome))
            hits.setdefault(outcome.example_id, []).append(value > 0)

    def fits(run: Run, outcome: Outcome) -> bool:
        if keys is not None:
            return keys[run.id].get(outcome.example_id) == key
        return view in {"shapes", "curve"} or key_of(outcome, view) == key

    cases = [_case(own, hits[example_id]) for example_id, own in found.items() if any(fits(*each) for each in own)]
    return tuple(
        sorted(cases, key=lambda case: min(each.rank or float("inf") for _, each in case.outcomes), reverse=True)
    )


def _case(own: Sequence[tuple[Run, Outcome]], hits: Sequence[bool]) -> Case:
    run, outcome = own[0]
    return Case(
        id=outcome.example_id,
        book=next(book for book in run.books if book.key == outcome.book),
        length=outcome.length,
        kind=outcome.kind,
        outcomes=tuple(own),
        verdict="found" if all(hits) else "some" if any(hits) else "missed",
    )
