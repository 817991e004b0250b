"""Columns and cards: what every search, of one work or of many, makes of its rankings."""

from __future__ import annotations

import errno
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from relic_core.encoders.memory import is_out_of_memory
from relic_core.errors import BadClaim, BadRequest, NoIndex, RelicError, StaleIndex, StoreError
from relic_core.reporting.passages import quotation
from relic_core.services.answers import Card, Column
from relic_core.text.words import shared_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from relic_core.domain import Group, Work
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.retrieval.strength import Strength
    from relic_core.services.asking import Question
    from relic_core.text.masking import Quoted

T = TypeVar("T")

CANDIDATES_PER_RESULT = 6
"""Hits looked at for each result wanted, since overlapping ones share a card."""

_ABOUT_THE_QUESTION = (BadClaim, BadRequest, StoreError)
"""Errors that no other retriever could do anything about."""


def answer_or_refusal(answer: Callable[[], T]) -> T | RelicError:
    """Let a retriever answer; where it cannot, give the reason, so that the others are shown all the same.

    Parameters
    ----------
    answer : callable
        Asks the retriever.

    Raises
    ------
    BadClaim, BadRequest, StoreError
        What was asked cannot be answered by any retriever.
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
    cards: Iterable[RetrieverCard], *, fuse: Callable[[str, list[T]], T], rank: Callable[[str], T]
) -> tuple[dict[str, T], dict[str, RelicError]]:
    """Rank with every retriever that can; one made of others is made of their rankings, or refuses as they do.

    Parameters
    ----------
    cards : iterable of RetrieverCard
        Which retrievers; those of no others answer first.
    fuse : callable
        Makes the ranking of a retriever, by its name, from those of all its components.
    rank : callable
        Asks a retriever by its name.

    Returns
    -------
    rankings, refusals : dict
        By retriever: its ranking, or why it has none.

    Raises
    ------
    BadClaim, BadRequest, StoreError
        As `answer_or_refusal`.
    """
    rankings: dict[str, T] = {}
    refusals: dict[str, RelicError] = {}
    for card in sorted(cards, key=lambda card: card.kind == "fusion"):  # components come first
        parts = [rankings[part] for part in card.components if part in rankings]
        answer: T | RelicError
        if refusal := next((refusals[part] for part in card.components if part in refusals), None):
            answer = refusal
        elif card.components and len(parts) == len(card.components):
            answer = fuse(card.name, parts)
        else:
            answer = answer_or_refusal(partial(rank, card.name))
        if isinstance(answer, RelicError):
            refusals[card.name] = answer
        else:
            rankings[card.name] = answer
    return rankings, refusals


def refused(card: RetrieverCard, error: RelicError, candidates: int) -> Column:
    """Make the column of a retriever that has not answered.

    Parameters
    ----------
    card : RetrieverCard
        Which retriever.
    error : RelicError
        Why; that nothing has been prepared yet is told by the column's `pending` alone.
    candidates : int
        How many passages it would have ranked.
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

    Parameters
    ----------
    work : Work
        The work it stands in.
    group : Group
        The hit and those that overlap it.
    question : Question
        Whose words are lit.
    strength : Strength
        What the hit is worth.
    elsewhere : sequence of (str, int)
        The other retrievers' labels and ranks.
    quoted : sequence of Quoted
        Words of the work that the claim quotes.
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
