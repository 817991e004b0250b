"""The main job: a claim, a work and a length in; the evidence of several retrievers, side by side, out."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.domain import group_overlapping, rank_scores
from relic_core.errors import BadRequest, BadWeights, NoIndex, StaleIndex
from relic_core.reporting.passages import quotation
from relic_core.retrieval import strength
from relic_core.retrieval.fusion import fuse
from relic_core.services.answers import Card, Column, SearchResult
from relic_core.text import masking
from relic_core.text.words import content_tokens, shared_words, unknown_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import Claim, Group, Ranking, Work
    from relic_core.errors import RelicError
    from relic_core.services.answers import SearchRequest
    from relic_core.services.workbench import Workbench

_FINDERS_KEPT = 3
_CANDIDATES_PER_RESULT = 6
"""Hits looked at for each result wanted, since overlapping ones share a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is known before columns are made: the question, and of every retriever its ranking and judge, or refusal."""

    request: SearchRequest
    work: Work
    claim: Claim
    wanted: frozenset[str]
    quoted: tuple[masking.Quoted, ...]
    rankings: dict[str, Ranking]
    refusals: dict[str, RelicError]
    judges: dict[str, strength.Judge]


class Search:
    """Answers search requests."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._finders: OrderedDict[str, masking.QuotationFinder] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, request: SearchRequest) -> SearchResult:
        """Rank a work's passages for a claim with every retriever asked for.

        A retriever whose index is not built yet gives a pending column; the others do not wait for it.

        Raises
        ------
        BadClaim
            The claim cannot be searched with.
        BadRequest
            An unknown retriever, or a work shorter than the length asked for.
        NotFound
            No work has that id.
        """
        began = time.perf_counter()
        work = self._workbench.works.load(request.work_id)
        claim = masking.read_claim(request.claim_text, max_words=self._workbench.settings.max_claim_words)
        masking.check_script(claim, work)
        if work.candidates(request.length) == 0:
            held = "one sentence" if len(work.sentences) == 1 else f"{len(work.sentences)} sentences"
            raise BadRequest(
                f"{work.title} has {held}, so it holds no passage of {request.length}. Choose a shorter quotation."
            )
        rankings, refusals = self._rank_all(claim, work, request)
        encoders = self._encoders(rankings)
        found = _Found(
            request=request,
            work=work,
            claim=claim,
            wanted=frozenset(content_tokens(claim.words)),
            quoted=self._finder(work).find(request.claim_text),
            rankings=rankings,
            refusals=refusals,
            judges={
                name: strength.Judge(ranking, rankings, claim=claim, work=work, encoders=encoders)
                for name, ranking in rankings.items()
            },
        )
        columns = tuple(self._column(name, found) for name in request.retrievers)
        made_with = (
            f"work {work.sha256[:12]}",
            work.segmenter,
            *dict.fromkeys(encoders.values()),
            f"version {__version__}",
        )
        return SearchResult(
            request=request,
            work=work,
            claim=claim,
            columns=columns,
            quoted=found.quoted,
            unknown=unknown_words(claim.words, work),
            weak=not refusals and all(_weak(name, found) for name in rankings),
            seconds=time.perf_counter() - began,
            made_with=", ".join(made_with),
        )

    def mask(self, claim_text: str, quoted: masking.Quoted) -> str:
        """Put a mask in the place of words of the work that a claim quotes."""
        return masking.mask_quotation(claim_text, quoted)

    def _finder(self, work: Work) -> masking.QuotationFinder:
        with self._lock:
            finder = self._finders.pop(work.fingerprint, None) or masking.QuotationFinder(work)
            self._finders[work.fingerprint] = finder
            while len(self._finders) > _FINDERS_KEPT:
                self._finders.popitem(last=False)
            return finder

    def _rank_all(
        self, claim: Claim, work: Work, request: SearchRequest
    ) -> tuple[dict[str, Ranking], dict[str, RelicError]]:
        """Rank with every retriever that can: the columns', and the others for "ranked elsewhere".

        Returns
        -------
        rankings, refusals : dict
            By retriever: its ranking, or why it has none.
        """
        indexes = self._workbench.indexes
        names = dict.fromkeys((*request.retrievers, *(card.name for card in indexes.cards())))
        rankings: dict[str, Ranking] = {}
        refusals: dict[str, RelicError] = {}
        for name in sorted(names, key=lambda name: indexes.card(name).kind == "fusion"):  # components come first
            card = indexes.card(name)
            parts = [rankings[part] for part in card.components if part in rankings]
            if card.components and len(parts) == len(card.components):
                scores = fuse(parts)
            else:
                try:
                    scores = indexes.retriever(name).score(claim, work, request.length)
                except (StaleIndex, BadWeights) as error:
                    refusals[name] = error
                    continue
            rankings[name] = rank_scores(name, work.id, request.length, scores)
        return rankings, refusals

    def _encoders(self, rankings: Iterable[str]) -> dict[str, str]:
        """Identities of the encoders that had a part in rankings, by retriever."""
        named = {name: self._workbench.indexes.retriever(name).encoder_identity for name in rankings}
        return {name: identity for name, identity in named.items() if identity}

    def _column(self, name: str, found: _Found) -> Column:
        card = self._workbench.indexes.card(name)
        total = found.work.candidates(found.request.length)
        ranking = found.rankings.get(name)
        if ranking is None:
            error = found.refusals[name]
            return Column(
                name,
                card.label,
                card.description,
                cards=(),
                strength=None,
                candidates=total,
                pending=isinstance(error, StaleIndex),
                note="" if isinstance(error, NoIndex) else str(error),
            )
        hits = ranking.hits(found.request.results * _CANDIDATES_PER_RESULT)
        if card.kind == "lexical":  # a score of 0 means no shared word: such a hit is first by the tie rule alone
            hits = tuple(hit for hit in hits if hit.score > 0)
        cards = tuple(self._card(group, name, found) for group in group_overlapping(hits)[: found.request.results])
        return Column(name, card.label, card.description, cards, cards[0].strength if cards else None, total)

    def _card(self, group: Group, own: str, found: _Found) -> Card:
        span = group.best.span
        words = quotation(found.work, span, light=lambda sentence: shared_words(found.wanted, sentence))
        return Card(
            rank=group.best.rank,
            span=span,
            quotation=words,
            place=found.work.place(span),
            score=group.best.score,
            strength=found.judges[own].of(group.best),
            elsewhere=tuple(
                (self._workbench.indexes.card(name).label, ranking.rank_of(span))
                for name, ranking in found.rankings.items()
                if name != own
            ),
            shared=tuple({piece.text.casefold(): piece.text for piece in words.pieces if piece.lit}.values()),
            quoted=any(span.overlaps(each.span) for each in found.quoted),
            others=group.others,
        )


def _weak(name: str, found: _Found) -> bool:
    """Whether the best that a retriever ranks is weak, shown as a column or not."""
    (best,) = found.rankings[name].hits(1)
    return best.score == 0 or found.judges[name].of(best).level == "weak"
