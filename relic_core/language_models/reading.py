"""Four ways in which a language model reads passages beside a claim (BIRCO, Wang et al. 2024, section 4).

Ties keep the prior order. A passage whose answer cannot be read stands behind those that were read, in the prior order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from relic_core.language_models import parsing, prompts
from relic_core.language_models.cached_client import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.language_models.cached_client import CachedClient
    from relic_core.language_models.prompts import Method
    from relic_core.ports import Progress

WINDOW, STEP = 20, 10
"""Passages that are put in order at once, and by how many the window moves: from the back to the front."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model makes of one passage.

    - `score`: 0 to 10; None where it gave none that can be read, or was not asked for one.
    - `reason`, `words`: why, and the words of the passage that it says this rests on.
    - `criteria`: the criteria with the score by each.
    """

    score: float | None = None
    reason: str = ""
    words: str = ""
    criteria: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """Passages put in order.

    - `order`: positions of the passages, best first.
    - `readings`: in the order of the passages.
    """

    order: tuple[int, ...]
    readings: tuple[Reading, ...]


def read(
    client: CachedClient,
    method: Method,
    claim: str,
    passages: Sequence[str],
    objective: str,
    progress: Progress,
    *,
    criteria: Sequence[str] = (),
) -> Order:
    """Read passages beside a claim and put them in order.

    - `passages`: in the prior order, best first.
    - `objective`: what makes a passage relevant; empty for closeness in meaning.
    - `progress`: told how far it is; where it raises JobCancelled, the order goes by what was read until then.
    - `criteria`: of the claim, for the method "subtask": see `write_criteria`.

    Raises ReaderUnavailable: the model does not answer; what it answered before is kept.
    """
    if method == "rank":
        order = _ranked(client, claim, passages, objective, progress)
        return Order(tuple(order), (Reading(),) * len(passages))
    if method == "subtask":
        readings = _by_criteria(client, claim, passages, objective, progress, criteria)
    else:
        questions = [
            Question(prompts.about_passage(method, claim, passage, objective), parsing.read_reason)
            for passage in passages
        ]
        answers = client.all(questions, progress)
        readings = [Reading(each.score, each.reason, each.words) if each else Reading() for each in answers]
    return Order(_best_first(readings), tuple(readings))


def _best_first(readings: Sequence[Reading]) -> tuple[int, ...]:
    def place(at: int) -> tuple[bool, float]:
        score = readings[at].score
        return score is None, -(score or 0.0)

    return tuple(sorted(range(len(readings)), key=place))


def write_criteria(client: CachedClient, claim: str, objective: str, progress: Progress) -> tuple[str, ...]:
    """Have the model write the criteria of a claim; none where its answer cannot be read. Raises as `read`."""
    (answer,) = client.all([Question(prompts.for_criteria(claim, objective), parsing.read_criteria)], progress)
    return answer or ()


def _by_criteria(
    client: CachedClient,
    claim: str,
    passages: Sequence[str],
    objective: str,
    progress: Progress,
    criteria: Sequence[str],
) -> list[Reading]:
    """Score each passage by each criterion, and take the mean of all; a passage that lacks one has none."""
    answers = client.all(
        [
            Question(prompts.about_criterion(claim, criterion, passage, objective), parsing.read_score)
            for passage in passages
            for criterion in criteria
        ],
        progress,
    )
    readings = []
    for at in range(len(passages)):
        scores = [each for each in answers[at * len(criteria) : (at + 1) * len(criteria)] if each is not None]
        whole = bool(criteria) and len(scores) == len(criteria)
        readings.append(
            Reading(sum(scores) / len(scores), criteria=tuple(zip(criteria, scores, strict=True)))
            if whole
            else Reading()
        )
    return readings


def _ranked(client: CachedClient, claim: str, passages: Sequence[str], objective: str, progress: Progress) -> list[int]:
    """Order a sliding window from the back to the front (Sun et al. 2023, as BIRCO's section 4.2 takes it up)."""
    order = list(range(len(passages)))

    def window_of(number: int) -> Progress:
        return lambda _done, _total, note="": progress(number * len(passages) // len(starts), len(passages), note)

    starts = [*range(len(passages) - WINDOW, 0, -STEP), 0] if passages else []
    for done, start in enumerate(starts):
        window = order[start : start + WINDOW]

        prompt = prompts.for_order(claim, [passages[at] for at in window], objective)
        (answer,) = client.all([Question(prompt, partial(parsing.read_order, count=len(window)))], window_of(done))
        if answer:
            order[start : start + WINDOW] = [window[at] for at in answer]
    return order
