"""Columns and cards: what every search, of one work or of many, makes of its rankings."""

from __future__ import annotations

import errno
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from relic_core.encoders.batching import is_out_of_memory
from relic_core.errors import BadClaim, BadRequest, NoIndex, RelicError, StaleIndex, StoreError
from relic_core.reporting.passages import quotation
from relic_core.retrieval.registry import in_order
from relic_core.services.answers import Card, Column
from relic_core.text.words import shared_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from relic_core.domain import Group, Work, WorkHit
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.retrieval.strength import Strength
    from relic_core.services.answers import SearchRequest
    from relic_core.services.asking import Question
    from relic_core.text.masking import Quoted

T = TypeVar("T")

CANDIDATES_PER_RESULT = 6
"""Hits looked at for each result wanted, since overlapping ones share a card."""

HEAD = 20
"""Passages of each column that are kept, to be compared with what is found later or in another way."""

_ABOUT_THE_QUESTION = (BadClaim, BadRequest, StoreError)
"""Errors that no other retriever could do anything about."""


def answer_or_refusal(answer: Callable[[], T]) -> T | RelicError:
    """Let a retriever answer; where it cannot, give the reason, so that the others are shown all the same.

    Raises BadClaim, BadRequest, StoreError: what was asked cannot be answered by any retriever.
    """
    try:
        return answer()
    except _ABOUT_THE_QUESTION:
        raise
    except RelicError as error:
        return error
    except (MemoryError, RuntimeError, OSError) as error:
        if is_out_of_memory(error) or getattr(error, "errno", None) == errno.ENOMEM:
            return RelicError(
                "There was not enough memory to search in this way. Close other programs, or search fewer works at "
                "once, and search again."
            )
        if isinstance(error, FileNotFoundError):  # its folder was deleted while it was being opened
            return NoIndex("The index was deleted while it was being read. Prepare the work again.")
        raise


def rank_with_all(
    cards: Iterable[RetrieverCard], *, combine: Callable[[RetrieverCard, list[T]], T], rank: Callable[[str], T]
) -> tuple[dict[str, T], dict[str, RelicError]]:
    """Rank with every retriever that can; one made of others is made of their rankings, or refuses as they do.

    - `cards`: which retrievers, each after those that it is made of.
    - `combine`: makes the ranking of a retriever from those of all its components.

    What it returns:
    - `rankings, refusals`: by retriever: its ranking, or why it has none.

    Raises BadClaim, BadRequest, StoreError: as `answer_or_refusal`.
    """
    rankings: dict[str, T] = {}
    refusals: dict[str, RelicError] = {}
    for card in cards:
        answer: T | RelicError
        if refusal := next((refusals[part] for part in card.components if part in refusals), None):
            answer = refusal
        elif card.components:
            answer = answer_or_refusal(partial(combine, card, [rankings[part] for part in card.components]))
        else:
            answer = answer_or_refusal(partial(rank, card.name))
        if isinstance(answer, RelicError):
            refusals[card.name] = answer
        else:
            rankings[card.name] = answer
    return rankings, refusals


def asked_of(request: SearchRequest, usual: Iterable[RetrieverCard], *, at_once: bool) -> tuple[RetrieverCard, ...]:
    """List the retrievers that a request is put to, each after those that it is made of.

    Beside the columns' own that is every usual one, for "ranked elsewhere"; but what reads passages anew takes seconds,
    and answers only where its column was asked for.

    - `at_once`: leave out what takes seconds.

    Raises BadRequest: no retriever has one of the names.
    """
    named = in_order(request.retrievers)
    kept = [card.name for card in named if not (at_once and card.kind == "reranker")]
    return in_order(dict.fromkeys((*kept, *(card.name for card in usual if card.kind != "reranker"))))


def waits(card: RetrieverCard, candidates: int) -> Column:
    """Make the column of a retriever that was left for later; `candidates` as in `refused`."""
    return Column(card.name, card.label, card.description, (), None, candidates, waiting=True)


NO_CLAIM = (
    "It reads a claim beside each passage, and a passage was given instead of a claim. Ask with a claim to use it."
)
"""Why a reranker does not look for passages like one."""


def elsewhere(
    name: str, rankings: Mapping[str, T], rank_of: Callable[[T], int], described: Callable[[str], RetrieverCard]
) -> list[tuple[str, int]]:
    """Give the other retrievers' labels and ranks for a hit of one.

    Rerankers are left out: their ranks are there seconds after the others' cards are read.

    - `rank_of`: takes a ranking and gives the hit's rank there.
    - `described`: gives the card of a retriever by its name.
    """
    others = [(described(other), ranking) for other, ranking in rankings.items() if other != name]
    return [(card.label, rank_of(ranking)) for card, ranking in others if card.kind != "reranker"]


def first_passages(hits: Iterable[WorkHit]) -> tuple[WorkHit, ...]:
    """Take the first `HEAD` passages of a ranking: of overlapping spans of a work the best, as a page groups them.

    - `hits`: best first.
    """
    head: list[WorkHit] = []
    for each in hits:
        if len(head) == HEAD:
            break
        if not any(other.work_id == each.work_id and other.hit.span.overlaps(each.hit.span) for other in head):
            head.append(each)
    return tuple(head)


def refused(card: RetrieverCard, error: RelicError, candidates: int) -> Column:
    """Make the column of a retriever that has not answered.

    - `error`: why; that nothing has been prepared yet is told by the column's `pending` alone.
    - `candidates`: how many passages it would have ranked.
    """
    return Column(
        card.name,
        card.label,
        card.description,
        cards=(),
        strength=None,
        candidates=candidates,
        pending=isinstance(error, StaleIndex),
        note="" if isinstance(error, NoIndex) else str(error),
    )


def make_card(
    work: Work,
    group: Group,
    *,
    question: Question,
    strength: Strength,
    elsewhere: Sequence[tuple[str, int]],
    quoted: Sequence[Quoted] = (),
) -> Card:
    """Make the card of a hit.

    - `question`: whose words are lit.
    - `elsewhere`: the other retrievers' labels and ranks.
    - `quoted`: words of the work that the claim quotes.
    """
    span = group.best.span
    words = quotation(work, span, light=lambda sentence: shared_words(question.wanted, sentence))
    return Card(
        work=work,
        rank=group.best.rank,
        span=span,
        quotation=words,
        place=work.place(span),
        score=group.best.score,
        strength=strength,
        elsewhere=tuple(elsewhere),
        shared=tuple({piece.text.casefold(): piece.text for piece in words.pieces if piece.lit}.values()),
        quoted=any(span.overlaps(each.span) for each in quoted),
        others=group.others,
    )
