"""What came of a study, counted: people each and together, models, and how far people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import median

import numpy as np

from relic_core.domain import ContextSize
from relic_core.domain.figures import Cell, Figure, Table
from relic_core.domain.grouping import grouped
from relic_core.domain.studies import (
    CANNOT_DECIDE,
    OPTIONS,
    WORDS_A_SECOND,
    Annotator,
    Answer,
    Item,
    ItemResult,
    MajorityResult,
    Measure,
    ModelAnswers,
    ModelResult,
    PersonResult,
    Study,
    StudyResults,
)
from relic_core.errors import BadRequest
from relic_core.evaluation import metrics
from relic_core.evaluation.figures import figure_over
from relic_core.evaluation.intervals import Interval, over_of
from relic_core.evaluation.metrics import Values
from relic_core.ports import Benchmark, Progress, Retriever
from relic_core.retrieval import registry
from relic_core.studies import raters, spans
from relic_core.studies.proxy_task import (
    ItemSettings,
    alike,
    ask,
    built_on,
    caveat,
    check_not_chooser,
    make_items,
    proxy_values,
)

_CHANCE = (
    f"Chance is {100 / OPTIONS:.1f}: each item has {OPTIONS} options. “Cannot decide” counts as not right, and in the "
    "measures of agreement as a missing answer."
)
_MAJORITY = (
    "A majority is more than half of those who answered an item: two of three, three of four. Items that fewer than "
    "two people have answered are left out of it, and of all measures of agreement."
)
_TOO_FAST = (
    f"Too fast: before anybody could have read what was shown, at {WORDS_A_SECOND} words a second. Silent reading is "
    "about 238 words a minute (Brysbaert 2019), skimming three to four times that. These answers count like all others."
)
_SINGLY = (
    "“People, one by one” is of all items that were answered, each counting the same: by its one reader, or by the "
    "share of its readers who were right."
)
_NOBODY = "Nobody has answered this study yet."
_UNDECIDED = "“Cannot decide” counts as a missing answer."
_AGREED = "Items on which readers agree: more than half of those who answered gave the label, two at least."
_UNEQUAL = (
    "In Fleiss', Randolph's and Gwet's figures every item counts the same, however many answered it; in Krippendorff's "
    "it counts by its answers."
)


def compute(
    study: Study,
    *,
    annotators: Sequence[Annotator],
    answers: Sequence[Answer],
    models: Sequence[ModelAnswers],
    stored: Mapping[str, str],
    hasty: Collection[tuple[str, str]] = (),
    judged: Sequence[tuple[str, str, tuple[str, ...]]] = (),
) -> StudyResults:
    """Compute the results of a study.

    - `answers`: those that count: of an annotator to an item one.
    - `hasty`: annotators with the items that they answered too fast; they are marked, and count like all others.
    - `judged`: what people say of the other passages: item, who, codes.
    """
    kind = study.kind
    items = _item_results(study, answers, models, stored, hasty, judged)
    shared = set(study.shared)
    together = tuple(each for each in items if each.item.id in shared)
    counts = np.array([each.votes for each in together], dtype=np.int64).reshape(len(together), OPTIONS)
    if kind.marks_spans:
        measures, around = spans.measures(items)
    else:
        measures = raters.measures(counts, labels=bool(kind.labels))
        around = raters.intervals(counts, [each.item.book for each in together])
    fair = {each.label for each in models if not caveat(each.retriever, study.making.chooser)}
    all_right = [each for each in items if each.answered >= raters.LEAST and each.right == each.answered]
    missed_by_models = tuple(each for each in all_right if fair.intersection(each.wrong_models))
    books = {item.book for item in study.items}
    drawn = {each.item.book for each in together if each.answered >= raters.LEAST} or books
    several = len(books if kind.is_proxy else drawn) > 1
    over = "works, each with all its items" if several else "items, and speak of this work alone"
    if several and len(drawn) == 1:
        over += "; those of agreement and majorities over items, since these are of one work"
    intervals = (
        f"Intervals are 95%, by bootstrap over {over}: how far a figure would move on others, answered by the same "
        "people."
    )
    numbers = sorted({each.answered for each in together})
    some = f"{'Shared items' if study.making.shared else 'Items'} have {numbers[0]} to {numbers[-1]} answers each."
    unequal = (some if kind.marks_spans else f"{some} {_UNEQUAL}",) if len(numbers) > 1 else ()
    about = (_CHANCE, _MAJORITY) if kind.is_proxy else (_UNDECIDED, *((_AGREED,) if kind.labels else ()))
    return StudyResults(
        study=study,
        people=tuple(_person(study, annotator, answers, hasty) for annotator in annotators),
        majority=_majority(together, is_proxy=kind.is_proxy),
        singly=_singly(items) if study.making.shared else None,
        agreement=measures,
        figures=_figures(measures, around),
        paradox=raters.paradox(counts, kind.labels),
        models=_models(study, models),
        items=tuple(sorted(items, key=lambda each: (each.share is None, each.share or 0.0, -each.seconds))),
        missed_by_models=missed_by_models,
        intervals=intervals,
        notes=(
            *(() if answers else (_NOBODY,)), *((study.division, _SINGLY) if study.making.shared else ()), *about,
            intervals, *unequal, *((_TOO_FAST,) if hasty else ()),
        ),
    )  # fmt: skip


def _item_results(
    study: Study,
    answers: Sequence[Answer],
    models: Sequence[ModelAnswers],
    stored: Mapping[str, str],
    hasty: Collection[tuple[str, str]],
    judged: Sequence[tuple[str, str, tuple[str, ...]]],
) -> list[ItemResult]:
    by_item = grouped(answers, lambda answer: answer.item_id)
    items = []
    for number, item in enumerate(study.items, start=1):
        own = by_item.get(item.id, [])
        decided = tuple(answer.choice for answer in own if answer.choice != CANNOT_DECIDE)
        chosen = Counter(answer.choice for answer in own)
        votes = tuple(chosen[option] for option in range(1, OPTIONS + 1))
        found = ItemResult(
            item=item,
            number=number,
            title=study.work(item.book).title,
            work_id=stored.get(item.book, ""),
            answered=len(own),
            cannot=chosen[CANNOT_DECIDE],
            votes=votes,
            majority=spans.majority(decided) if study.kind.marks_spans else raters.majority(votes, len(own)),
            seconds=median(answer.seconds for answer in own) if own else 0.0,
            models={each.label: each.choices[item.id] for each in models if item.id in each.choices},
            comments=tuple(answer.comment for answer in own if answer.comment.strip()),
            judged=tuple(chain.from_iterable(codes for item_id, _, codes in judged if item_id == item.id)),
            too_fast=sum(item_id == item.id for _, item_id in hasty),
            choices=decided,
        )
        items.append(found)
    return items


def _singly(items: Sequence[ItemResult]) -> Figure | None:
    """Give how often people were right on all items, one by one: each item by the share of its answers."""
    known = [(each.share, each.item.book) for each in items if each.share is not None]
    return accuracy(np.array([share for share, _ in known]), [book for _, book in known])


def accuracy(values: Values, books: Sequence[str]) -> Figure | None:
    """Give the share of right answers with its interval: over works where there are several, else over items.

    Returns: without an interval for a single answer; None for none.
    """
    if not len(values):
        return None
    return figure_over(metrics.metric("proxy-accuracy"), values, books)


def accuracy_of(items: Sequence[Item], choices: Mapping[str, int]) -> Figure | None:
    """Give how often items were answered rightly; as `accuracy`."""
    return accuracy(proxy_values(items, choices), [item.book for item in items])


def _figures(measures: Sequence[Measure], intervals: Mapping[str, Interval]) -> dict[str, Figure]:
    """Set the figures of agreement with their intervals where these can be had; a dash where all draws agree."""
    figures = {}
    for each in measures:
        if each.value is None:
            continue
        form = ".1%" if each.is_share else "z.2f"
        figure = Figure(text=format(each.value, form), value=each.value)
        around = intervals.get(each.key)
        if around is not None and around.flat:
            figure = replace(figure, ends=("–", ""))
        elif around is not None:
            ends = (format(around.low, form), format(around.high, form))
            figure = replace(figure, low=around.low, high=around.high, ends=ends)
        figures[each.key] = figure
    return figures


def _person(
    study: Study, annotator: Annotator, answers: Sequence[Answer], hasty: Collection[tuple[str, str]]
) -> PersonResult:
    own = {answer.item_id: answer for answer in answers if answer.annotator_id == annotator.id}
    items = [item for item in study.items if item.id in own]
    choices = {item_id: answer.choice for item_id, answer in own.items()}
    return PersonResult(
        annotator=annotator,
        answered=len(own),
        right=sum(choices[item.id] == item.right_option for item in items) if study.kind.is_proxy else 0,
        cannot=sum(choice == CANNOT_DECIDE for choice in choices.values()),
        accuracy=accuracy_of(items, choices) if study.kind.is_proxy else None,
        seconds=median(answer.seconds for answer in own.values()) if own else 0.0,
        too_fast=sum(who == annotator.id for who, _ in hasty),
    )


def _majority(items: Sequence[ItemResult], *, is_proxy: bool) -> MajorityResult:
    asked = [each for each in items if each.answered >= raters.LEAST]
    right = np.array([is_proxy and each.majority == each.item.right_option for each in asked], dtype=np.float64)
    none = sum(each.majority == 0 for each in asked)
    return MajorityResult(
        items=len(asked),
        right=int(right.sum()),
        wrong=len(asked) - int(right.sum()) - none,
        none=none,
        accuracy=accuracy(right, [each.item.book for each in asked]) if is_proxy else None,
    )


def _models(study: Study, models: Sequence[ModelAnswers]) -> tuple[ModelResult, ...]:
    """Set how retrievers did, the best first; the one that chose the options is named and left out."""
    answered = {each.retriever: each for each in models}
    chooser = study.making.chooser
    found = []
    for card in registry.cards():
        left_out = alike(card.name) == alike(chooser)
        made = None if left_out else answered.get(card.name)
        if card.name in answered or card.name == chooser:
            found.append(
                ModelResult(
                    retriever=card.name,
                    label=card.label,
                    accuracy=None if made is None else accuracy_of(study.items, made.choices),
                    mark=caveat(card.name, chooser),
                    left_out=left_out,
                    created=None if made is None else made.created,
                    server=card.server,
                )
            )
    return tuple(sorted(found, key=lambda each: -1.0 if each.accuracy is None else each.accuracy.value, reverse=True))


def proxy_table(
    benchmark: Benchmark,
    retrievers: Sequence[str],
    *,
    chooser: str,
    shape: ContextSize,
    lengths: Sequence[int] = (1,),
    create: Callable[[str], Retriever],
    progress: Progress,
) -> Table:
    """Ask retrievers the proxy task, with every window of a benchmark for an item.

    - `chooser`: who chooses the other two options; not one of those that are asked.
    - `lengths`: sentences of a quotation; any where empty. The paper has one (RELiC, section 4).

    Raises BadRequest: no retriever is asked, the chooser is asked, or no window is left.
    """
    if not retrievers:
        raise BadRequest(f"Name retrievers to be asked, others than {chooser}, which chooses the options.")
    check_not_chooser(retrievers, chooser)
    windows = [each for each in benchmark.windows() if not lengths or each.gold.length in lengths]
    if not windows:
        raise BadRequest(
            f"{benchmark.card.label} has no quotation of {' or '.join(map(str, lengths))} sentences: choose another "
            "length, or 0 for any."
        )
    made = make_items(
        benchmark, windows, chooser=create(chooser), settings=ItemSettings(shape=shape), progress=progress
    )
    pools = dict.fromkeys(window.pool for window in windows)
    works = {work.id: work for work in map(benchmark.work, pools)}
    rows: list[tuple[Cell, ...]] = []
    for each in retrievers:
        choices = ask(made.items, works.__getitem__, create(each), progress=progress).choices
        rows.append((registry.card(each).label, str(shape), accuracy_of(made.items, choices) or "–", len(made.items)))
    other = registry.card(chooser).label
    notes = [f"Each claim has {OPTIONS} candidates. Chance is {100 / OPTIONS:.1f}."]
    notes += [
        f"{registry.card(each).label} is built on {other}, which chose the options, and shares its errors: its figure "
        "says less than the others'."
        for each in retrievers
        if built_on(each, chooser)
    ]
    if len(made.items) > 1:
        notes.append(f"Intervals are 95%, by bootstrap over {over_of([item.book for item in made.items])}.")
    if made.left_out:
        notes.append(f"{len(made.left_out):,} claims make no item: no ranking, or too short a work for three options.")
    return Table(
        caption=f"{benchmark.card.label}: the critic's quotation told from two passages that {other} put first"
        f"{f'; sentences of a quotation: {listed}' if (listed := ', '.join(map(str, lengths))) else ''}.",
        heads=("retriever", "context", metrics.metric("proxy-accuracy").label, "n"),
        rows=tuple(rows),
        notes=tuple(notes),
    )
