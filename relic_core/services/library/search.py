"""Searching many works at once: the same columns as of one work, each card with the work it stands in."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, cast

from relic_core.errors import BadClaim, BadRequest, NoIndex, RelicError, StaleIndex
from relic_core.ports import Compacting
from relic_core.retrieval.library.fusion import fuse_library
from relic_core.retrieval.registry import in_order
from relic_core.retrieval.strength import OutOfVocabulary
from relic_core.retrieval.words_index import work_terms
from relic_core.services.answers import Column, SearchResult
from relic_core.services.asking import read_question
from relic_core.services.columns import (
    CANDIDATES_PER_RESULT,
    HEAD,
    NO_CLAIM,
    asked_of,
    elsewhere,
    first_passages,
    make_card,
    rank_with_all,
    refused,
    waits,
)
from relic_core.services.library.found import Found, group_in_works, nothing_admitted, without_source
from relic_core.services.library.judge import LibraryJudge
from relic_core.text import masking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import Group, LibraryRanking, Work, WorkHit
    from relic_core.retrieval.library.reranked import LibraryReranked
    from relic_core.retrieval.registry import RetrieverCard
    from relic_core.services.answers import Card, SearchRequest
    from relic_core.services.asking import Question
    from relic_core.services.library.found import Groups
    from relic_core.wiring import App


class LibrarySearch:
    """Answers search requests that name no work."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, request: SearchRequest, *, at_once: bool = False) -> SearchResult:
        """Rank the passages of all works that a narrowing admits with every retriever asked for.

        Works that a retriever has not prepared are passed over by it, and named; nothing waits for them. `at_once` as
        in `relic_core.services.search.Search.run`.

        Raises BadClaim: the claim cannot be searched with.
        Raises BadRequest: an unknown retriever, or one that searches single works only; no work is admitted, or none is
        long enough.
        Raises NotFound: the passage asked with is not there.
        """
        began = time.perf_counter()
        found = self._ask(request)
        self._rank_all(found, at_once=at_once)
        for name, ranking in found.rankings.items():
            found.groups[name], found.heads[name] = self._grouped(name, ranking, request)
        self._load(found)
        judge = LibraryJudge(found, self._app.indexes)
        columns = tuple(self._column(name, found, judge) for name in request.retrievers)
        is_claim = found.question.source is None
        return SearchResult(
            request=request,
            work=None,
            claim=found.question.claim,
            columns=columns,
            quoted=(),
            unknown=(),
            weak=is_claim and not found.refusals and not found.gone and all(map(judge.weak, found.rankings)),
            seconds=time.perf_counter() - began,
            made_with=found.made_with,
            searched=found.searched,
            unprepared=tuple(work for work in found.searched if work.id in found.missing),
            source=found.question.source,
        )

    def _ask(self, request: SearchRequest) -> Found:
        """Read the question and find the works that are asked."""
        bench = self._app
        question = read_question(bench, request)
        imprints = bench.works.imprints()
        admitted = [work for work in bench.works.scope(request.narrowing) if work.id in imprints]
        if not admitted:
            raise BadRequest(nothing_admitted(request.narrowing))
        searched = tuple(work for work in admitted if imprints[work.id].candidates(request.length))
        found = Found(
            request=request,
            question=question,
            searched=searched,
            imprints=tuple(imprints[work.id] for work in searched),
        )
        if found.candidates == 0:
            held = max(imprints[work.id].sentences for work in admitted)
            sentences = "one sentence" if request.length == 1 else f"{request.length} sentences"
            raise BadRequest(
                f"No work searched has {'a' if question.source is None else 'another'} passage of {sentences}; the "
                f"longest of them has {held} in all. Choose a shorter quotation, or more works."
            )
        return found

    def _rank_all(self, found: Found, *, at_once: bool) -> None:
        """Rank with every retriever that can: the columns', and the others for "ranked elsewhere"."""
        usual = [card for card in self._app.indexes.usual() if card.library]
        found.rankings, found.refusals = rank_with_all(
            asked_of(found.request, usual, at_once=at_once),
            combine=lambda card, parts: self._combine(card, parts, found),
            rank=lambda name: self._rank(name, found),
        )
        found.encoders = self._app.search.encoders(found.rankings)
        found.models = self._app.search.models(found.rankings)

    def _combine(self, card: RetrieverCard, parts: list[LibraryRanking], found: Found) -> LibraryRanking:
        if card.kind != "reranker":
            return fuse_library(parts, name=card.name)
        if found.question.source is not None:
            raise RelicError(NO_CLAIM)
        reranked = cast("LibraryReranked", self._app.indexes.library_retriever(card.name))
        return reranked.reorder(found.question.claim, *parts)

    def _rank(self, name: str, found: Found) -> LibraryRanking:
        retriever = self._app.indexes.library_retriever(name)
        length, source = found.request.length, found.question.source
        missing = retriever.missing(found.imprints, length)
        found.missing |= frozenset(missing)
        if len(missing) == len(found.imprints):
            raise _none_prepared()
        if isinstance(retriever, Compacting) and retriever.compact_due(found.imprints, length):
            raise StaleIndex(
                "These works are together too large for memory, so they are searched through an index of the whole "
                "library, which has not been built for all of them yet. Build it, or search fewer works."
            )
        like = None
        if source is not None and not retriever.missing([source.work.imprint], source.span.length):
            like = (source.work.imprint, source.span)  # else its words are asked with, as a claim would be
        ranking = retriever.rank(found.question.claim, found.imprints, length, like=like)
        if self._app.indexes.card(name).kind == "dense":
            # What was found damaged while it was opened, or was deleted since, has been passed over.
            found.missing |= {work.id for work in found.imprints}.difference(ranking.works)
            if not ranking.works:
                raise _none_prepared()
        return without_source(ranking, found.question, found.imprints)

    def _grouped(
        self, name: str, ranking: LibraryRanking, request: SearchRequest
    ) -> tuple[Groups, tuple[WorkHit, ...]]:
        """Choose what a column may show, the best hits, overlapping ones of one work together; and its head."""
        looked_at = request.results * CANDIDATES_PER_RESULT
        first = ranking.hits(max(looked_at, HEAD * CANDIDATES_PER_RESULT))
        if self._app.indexes.card(name).kind == "lexical":  # 0: no shared word, first by the tie rule alone
            first = tuple(each for each in first if each.hit.score > 0)
        return group_in_works(first[:looked_at])[: request.results], first_passages(first)

    def _load(self, found: Found) -> None:
        """Load the works of the hits shown, and of the best hit of each retriever that is not shown.

        A work that was removed or cut anew since it was ranked loses its hits.

        Raises BadClaim: the claim is in another script than all of them. Where there is no hit nothing is known of the
        scripts.
        """
        shown = [found.groups[name] for name in found.request.retrievers if name in found.groups]
        first = [groups[:1] for groups in found.groups.values()]
        ids = dict.fromkeys(work_id for groups in (*shown, *first) for work_id, _ in groups)
        imprints = {work.id: work for work in found.imprints}
        for work_id, work in self._app.works.load_all(ids).items():
            if work.fingerprint == imprints[work_id].fingerprint:
                found.works[work_id] = work
        for name, groups in found.groups.items():
            found.groups[name] = tuple(group for group in groups if group[0] in found.works)
            if groups and not found.groups[name]:
                found.gone.add(name)
        _check_script(found.question, found.works.values())
        for work_id, work in found.works.items() if found.question.source is None else ():
            work_terms(work, "tokens", self._app.settings.indexes)  # from the disk, much faster than read anew
            found.foreign[work_id] = OutOfVocabulary.of(found.question.claim, work)

    def _column(self, name: str, found: Found, judge: LibraryJudge) -> Column:
        card = self._app.indexes.card(name)
        ranking, refusal = found.rankings.get(name), found.refusals.get(name)
        if refusal is not None:
            return refused(card, refusal, found.candidates)
        if ranking is None:
            return waits(card, found.candidates)
        note = "" if ranking.exact else self._measured(name, found)
        if name in found.gone:
            note = "What was found stood in works that were removed or changed meanwhile. Search again."
        cards = tuple(self._card(work_id, group, name, found, judge) for work_id, group in found.groups[name])
        return Column(
            name,
            card.label,
            card.description,
            cards,
            cards[0].strength if cards else None,
            ranking.candidates,
            note=note,
            exact=ranking.exact,
            head=found.heads[name],
        )

    def _card(self, work_id: str, group: Group, own: str, found: Found, judge: LibraryJudge) -> Card:
        return make_card(
            found.works[work_id],
            group,
            question=found.question,
            strength=judge.strength(own, work_id, group),
            elsewhere=elsewhere(
                own,
                found.rankings,
                lambda ranking: ranking.rank_of(work_id, group.best.span),
                self._app.indexes.card,
            ),
        )

    def _measured(self, name: str, found: Found) -> str:
        """Say how many of the best an approximate ranking finds."""
        for part in in_order([name]):
            if part.name in found.rankings and (recall := found.rankings[part.name].recall):
                ten, hundred = map(_per_cent, recall)
                return (
                    f"An approximate index answers here: for claims over the whole library it was measured to find "
                    f"{ten} of the exact first ten, and {hundred} of the first hundred."
                )
        return "An approximate index answers here, and how many of the exact first it finds has not been measured."


def _none_prepared() -> NoIndex:
    return NoIndex("None of these works has been prepared yet. Prepare them first.")


def _per_cent(share: float) -> str:
    """Write a share in per cent, rounded down: what misses something is never said to find all.

    >>> _per_cent(0.9999), _per_cent(0.57), _per_cent(1.0)
    ('99.9%', '57.0%', '100.0%')
    """
    return f"{math.floor(round(share * 1000, 6)) / 10:.1f}%"


def _check_script(question: Question, works: Iterable[Work]) -> None:
    """Refuse a question whose letters are those of none of the works; of no works nothing is refused.

    Raises BadClaim: as `masking.check_script`.
    """
    refusal: BadClaim | None = None
    for work in works:
        try:
            masking.check_script(question.claim, work)
        except BadClaim as error:
            refusal = error
        else:
            return
    if refusal is not None:
        raise refusal
