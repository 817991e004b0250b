"""Answering: one item at a time, in each annotator's own order, from any device; nothing is shown before it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from relic_core.domain.studies import (
    LONGEST_COMMENT,
    LONGEST_SECONDS,
    Annotator,
    Answer,
    Study,
    checked_name,
    in_order,
    part_of,
)
from relic_core.errors import BadRequest, NotFound
from relic_core.store.study_answers import StudyAnswerRows
from relic_core.studies.service import Studies


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """An item as an annotator sees it.

    - `right_option`: number of the critic's passage; 0 where the annotator is not to know, or there is none.
    - `anchor`: number of the word that a span holds; 0 where none is marked.
    - `alone`: whether it is a claim with no quotation missing from it.
    """

    id: str
    number: int
    left: str
    right: str
    options: tuple[str, ...]
    title: str
    author: str
    source: str
    right_option: int
    anchor: int
    alone: bool
    asks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an annotator is to do now.

    - `done`, `total`: how many they have answered, and how many there are for them: those, and what is still open to
      them.
    - `given`: how many items are theirs in all, others' answers aside: of a divided study a part.
    - `before`, `after`: ids of the answered items next to this one in their order; empty where there is none.
    """

    item: ShownItem | None
    answer: Answer | None
    done: int
    total: int
    given: int
    before: str
    after: str
    revealed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredItem:
    """An item with what an annotator has answered to it."""

    item: ShownItem
    answer: Answer


class Answering:
    """What annotators do."""

    def __init__(self, studies: Studies, rows: StudyAnswerRows) -> None:
        self._studies = studies
        self._rows = rows

    def join(self, study_id: str, name: str) -> Annotator:
        """Give the annotator of a name: the one who began here or elsewhere, or a new one who agreed to take part.

        - `name`: a name or a code; kept to the letter, and compared without regard to case and spaces.
        """
        checked = checked_name("An annotator", name)
        study = self._studies.study(study_id)
        self._studies.find_works(study).check(study)
        return self._rows.join(study_id, checked)

    def knows(self, study_id: str, name: str) -> bool:
        """Whether somebody of this name has begun the study."""
        return self._rows.named(study_id, name) is not None

    def task(self, study_id: str, annotator_id: str, item_id: str = "") -> Task:
        """Say what an annotator is to do now.

        - `item_id`: an item to show; the first that is open to them where empty.
        """
        study = self._studies.study(study_id)
        terms = self._studies.terms(study_id)
        answers, others = self._rows.standing(study_id, annotator_id)
        order, given = self._order(study, annotator_id)
        wanted = dict.fromkeys(study.shared, terms.wanted)  # one reader where it is not in it
        still_open = [
            each
            for each in order[:given]
            if each not in answers and (not terms.wanted or others.get(each, 0) < wanted.get(each, 1))
        ]
        if item_id and item_id not in order:
            raise _unknown_item(study, item_id)
        shown = item_id or next(iter(still_open), "")
        at = order.index(shown) if shown else len(order)
        # What was skipped because others had answered it, and was opened by its address, is in nobody's way.
        return Task(
            item=_shown(study, order, shown, revealed=terms.revealed and shown in answers) if shown else None,
            answer=answers.get(shown),
            done=len(answers),
            total=len(answers) + len(still_open),
            given=given,
            before=next((each for each in reversed(order[:at]) if each in answers), ""),
            after=next((each for each in order[at + 1 :] if each in answers), ""),
            revealed=terms.revealed,
        )

    def answer(
        self, study_id: str, annotator_id: str, item_id: str, choice: int, *, seconds: float, comment: str = ""
    ) -> Answer:
        """Keep an answer; earlier answers of the annotator to the item stay on record, and this one counts.

        - `choice`: number of the option or label, from 1, or a span (`span_choice`); 0 for "cannot decide".
        - `seconds`: how long the item was before their eyes; more than a day is kept as a day.

        Raises StoreBusy: another program holds the store; nothing was kept, and it can be tried again.
        """
        study = self._studies.study(study_id)
        item = study.item(item_id)
        if item is None:
            raise _unknown_item(study, item_id)
        if not study.kind.allows(item, choice):
            wanted = f"some words with number {item.anchor} among them" if item.anchor else "1, 2 or 3"
            raise BadRequest(f"An answer to this study is {wanted}, or 0 for 'cannot decide'; not {choice}.")
        if not (math.isfinite(seconds) and seconds >= 0):
            raise BadRequest(f"An answer takes 0 seconds or more; {seconds} was given.")
        if len(comment) > LONGEST_COMMENT:
            raise BadRequest(
                f"The comment has {len(comment):,} characters; at most {LONGEST_COMMENT:,} are kept. Shorten it."
            )
        return self._rows.add(
            study_id,
            Answer(
                item_id=item_id,
                annotator_id=annotator_id,
                choice=choice,
                seconds=min(float(seconds), LONGEST_SECONDS),
                comment=comment,
                created=datetime.now(UTC),
            ),
        )

    def answered(self, study_id: str, annotator_id: str) -> tuple[AnsweredItem, ...]:
        """List what an annotator has answered, each item once, the last answered first. Raises NotFound as `task`."""
        study = self._studies.study(study_id)
        revealed = self._studies.terms(study_id).revealed
        answers = self._rows.standing(study_id, annotator_id).answers
        order, _ = self._order(study, annotator_id)
        return tuple(
            AnsweredItem(item=_shown(study, order, answer.item_id, revealed=revealed), answer=answer)
            for answer in sorted(answers.values(), key=lambda answer: -answer.number)
        )

    def _order(self, study: Study, annotator_id: str) -> tuple[tuple[str, ...], int]:
        """Put the items in an annotator's order, those first that are theirs; and say how many these are."""
        order = in_order(study.making.seed, annotator_id, tuple(item.id for item in study.items))
        if not study.making.shared:
            return order, len(order)
        readers, joined = self._studies.terms(study.id).wanted, self._rows.annotators(study.id)
        ids, answers = [each.annotator.id for each in joined], self._rows.latest(study.id)
        part = part_of(study, readers, annotator_id, joined=ids, answers=answers)
        own = {*study.shared, *study.parts(readers)[part]}
        return tuple(sorted(order, key=lambda each: each not in own)), len(own)


def _unknown_item(study: Study, item_id: str) -> NotFound:
    return NotFound(f"The study {study.label} has no item '{item_id:.40}'. Go on with the next one.")


def _shown(study: Study, order: tuple[str, ...], item_id: str, *, revealed: bool) -> ShownItem:
    item = study.item(item_id)
    if item is None:
        raise _unknown_item(study, item_id)
    work = study.work(item.book)
    return ShownItem(
        id=item.id,
        number=order.index(item_id) + 1,
        left=item.left,
        right=item.right,
        options=tuple(option.words for option in item.options),
        title=work.title,
        author=work.author,
        source=item.source,
        right_option=item.right_option if revealed else 0,
        anchor=item.anchor,
        alone=study.claims_alone,
        asks=study.asks,
    )
