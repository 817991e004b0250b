"""Counting what came of a study: from answers and items to figures."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain.studies import CANNOT_DECIDE, OPTIONS
from relic_core.evaluation import metrics, raters
from relic_core.evaluation.intervals import interval_of
from relic_core.evaluation.proxy_items import proxy_values
from relic_core.evaluation.proxy_runs import alike
from relic_core.evaluation.rater_intervals import agreement_intervals
from relic_core.reporting.tables import Figure
from relic_core.retrieval import registry
from relic_core.services.figures import figure_of
from relic_core.services.studies.results import ItemResult, MajorityResult, ModelResult, PersonResult, StudyResults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relic_core.domain.studies import Annotator, Answer, ModelAnswers, Study
    from relic_core.evaluation.intervals import Interval
    from relic_core.evaluation.metrics import Values
    from relic_core.evaluation.raters import Counts, Measure, Share

CARD = "proxy-accuracy"

_CHANCE = (
    f"Chance is {100 / OPTIONS:.1f}: each item has {OPTIONS} options. “Cannot decide” counts as not right, and in the "
    "measures of agreement as a missing answer."
)
_MAJORITY = (
    "A majority is more than half of those who answered an item: two of three, three of four. Items that fewer than "
    "two people have answered are left out of it, and of all measures of agreement."
)
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
    marks: Mapping[str, str],
    stored: Mapping[str, str],
) -> StudyResults:
    """Compute the results of a study.

    - `answers`: those that count: of an annotator to an item one.
    - `marks`: by retriever what has to be known of its answers.
    - `stored`: by the key of a work the id of the stored one.
    """
    items = tuple(_item(study, number, answers, models, stored) for number in range(len(study.items)))
    choices: dict[str, list[int]] = {item.id: [] for item in study.items}
    for answer in answers:
        choices[answer.item_id].append(answer.choice)
    counts = raters.count_choices(list(choices.values()), OPTIONS)
    measures = raters.measures(counts)
    all_agree, none_agree = raters.all_and_none(counts)
    labels = {each.label for each in models if not marks.get(each.retriever)}
    telling = tuple(
        each
        for each in items
        if each.answered >= raters.LEAST
        and each.right == each.answered
        and any(each.models[label] != each.item.right_option for label in labels & set(each.models))
    )
    hardest = sorted(items, key=lambda each: (each.share is None, each.share or 0.0, -each.seconds))
    return StudyResults(
        study=study,
        people=tuple(_person(study, annotator, answers) for annotator in annotators),
        majority=_majority(items),
        agreement=measures,
        all_agree=all_agree,
        none_agree=none_agree,
        figures=_figures(study, counts, measures, (all_agree, none_agree)),
        paradox=raters.paradox(counts),
        models=_models(study, models, marks),
        items=tuple(hardest),
        telling=telling,
        intervals=_intervals(study),
        notes=_notes(study, items),
    )


def accuracy(values: Values, books: Sequence[str]) -> Figure | None:
    """Give the share of right answers with its interval: over works where there are several, else over items.

    - `values`: 1 for right, 0 for not.

    Returns: without an interval for a single answer; None for none.
    """
    if not len(values):
        return None
    card = metrics.metric(CARD)
    if len(values) == 1:
        return Figure(text=card.written(float(values[0])), value=float(values[0]))
    return figure_of(card, interval_of(values, books, over="works" if len(set(books)) > 1 else "examples"))


def _figures(study: Study, counts: Counts, measures: Sequence[Measure], shares: Sequence[Share]) -> dict[str, Figure]:
    """Set the figures of agreement with their intervals, where these can be had."""
    around = agreement_intervals(counts, [item.book for item in study.items])
    figures = {each.key: _set(each.value, around.get(each.key), "z.2f") for each in measures if each.value is not None}
    return figures | {
        each.label: _set(each.value, around.get(each.label), ".1%") for each in shares if each.value is not None
    }


def _set(value: float, around: Interval | None, form: str) -> Figure:
    """Set a figure; a dash stands in the place of an interval where all draws gave the same."""
    if around is None:
        return Figure(text=format(value, form), value=value)
    if around.flat:
        return Figure(text=format(value, form), value=value, ends=("–", ""))
    ends = (format(around.low, form), format(around.high, form))
    return Figure(text=format(value, form), value=value, low=around.low, high=around.high, ends=ends)


def _person(study: Study, annotator: Annotator, answers: Sequence[Answer]) -> PersonResult:
    own = {answer.item_id: answer for answer in answers if answer.annotator_id == annotator.id}
    items = [item for item in study.items if item.id in own]
    values = proxy_values(items, {item_id: answer.choice for item_id, answer in own.items()})
    return PersonResult(
        annotator=annotator,
        answered=len(own),
        right=int(values.sum()),
        cannot=sum(answer.choice == CANNOT_DECIDE for answer in own.values()),
        accuracy=accuracy(values, [item.book for item in items]),
        seconds=median(answer.seconds for answer in own.values()) if own else 0.0,
    )


def _majority(items: Sequence[ItemResult]) -> MajorityResult:
    asked = [each for each in items if each.answered >= raters.LEAST]
    chosen = [raters.majority(each.votes, each.answered) for each in asked]
    right = np.array(
        [choice == each.item.right_option for choice, each in zip(chosen, asked, strict=True)], dtype=np.float64
    )
    none = chosen.count(0)
    return MajorityResult(
        items=len(asked),
        right=int(right.sum()),
        wrong=len(asked) - int(right.sum()) - none,
        none=none,
        accuracy=accuracy(right, [each.item.book for each in asked]),
    )


def _models(study: Study, models: Sequence[ModelAnswers], marks: Mapping[str, str]) -> tuple[ModelResult, ...]:
    answered = {each.retriever: each for each in models}
    found = []
    for card in registry.cards():
        left_out = alike(card.name) == alike(study.making.chooser)
        if card.name not in answered and (not left_out or card.name != study.making.chooser):
            continue
        made = None if left_out else answered.get(card.name)
        values = None if made is None else proxy_values(study.items, made.choices)
        found.append(
            ModelResult(
                retriever=card.name,
                label=card.label,
                accuracy=None if values is None else accuracy(values, [item.book for item in study.items]),
                mark=marks.get(card.name, ""),
                left_out=left_out,
                created=None if made is None else made.created,
            )
        )
    return tuple(sorted(found, key=lambda each: -1.0 if each.accuracy is None else each.accuracy.value, reverse=True))


def _item(
    study: Study,
    number: int,
    answers: Sequence[Answer],
    models: Sequence[ModelAnswers],
    stored: Mapping[str, str],
) -> ItemResult:
    item = study.items[number]
    own = [answer for answer in answers if answer.item_id == item.id]
    chosen = Counter(answer.choice for answer in own)
    return ItemResult(
        item=item,
        number=number + 1,
        title=study.work(item.book).title,
        work_id=stored.get(item.book, ""),
        answered=len(own),
        right=chosen[item.right_option],
        cannot=chosen[CANNOT_DECIDE],
        votes=tuple(chosen[option] for option in range(1, OPTIONS + 1)),
        share=chosen[item.right_option] / len(own) if own else None,
        seconds=median(answer.seconds for answer in own) if own else 0.0,
        models={each.label: each.choices[item.id] for each in models if item.id in each.choices},
        comments=tuple(answer.comment for answer in own if answer.comment.strip()),
    )


def _intervals(study: Study) -> str:
    over = "works, each with all its items" if len(study.works) > 1 else "items, and speak of this work alone"
    return (
        f"Intervals are 95%, by bootstrap over {over}: how far a figure would move on others, answered by the same "
        "people."
    )


def _notes(study: Study, items: Sequence[ItemResult]) -> tuple[str, ...]:
    numbers = sorted({each.answered for each in items})
    notes = [_CHANCE, _MAJORITY, _intervals(study)]
    if len(numbers) > 1:
        notes.append(f"Items have {numbers[0]} to {numbers[-1]} answers each. {_UNEQUAL}")
    return tuple(notes)
