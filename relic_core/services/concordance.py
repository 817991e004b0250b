"""The concordance: every place of a word or phrase in one work or in all, in its context and counted."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter, OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

import numpy as np

from relic_core.errors import BadRequest, NotFound
from relic_core.library.lexicon import Reach, nearest
from relic_core.library.queries import read_query
from relic_core.reporting.concordance import to_csv
from relic_core.services.kwic import (
    MOST_EXPORTED,
    MOST_PAGES,
    PAGE,
    SORTS,
    Answer,
    ChapterCount,
    ConcordanceRequest,
    Offer,
    WordCount,
    WorkCount,
)
from relic_core.services.occurrences import gather
from relic_core.services.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from relic_core.library.lexicon import Numbers
    from relic_core.reporting.concordance import Occurrence
    from relic_core.services.occurrences import Gathered
    from relic_core.services.texts import WordedText
    from relic_core.wiring import App

_WIDTH = 110
"""Characters of context on either side on a page, and in an export."""
_EXPORT_WIDTH = 300
_STRIPS = 6
_GRAIN = 1000
"""Places that a strip tells apart."""
_KEPT = 4
_ATTEMPTS = 3
"""Times to begin anew where works are removed while they are looked through."""

T = TypeVar("T")


class Concordance:
    """Finds words."""

    def __init__(self, app: App) -> None:
        self._texts = Texts(app)
        self._kept: OrderedDict[object, Gathered] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, request: ConcordanceRequest) -> Answer:
        """Find every place of a word or phrase, and set one page of them.

        - `request`: what to look for, where and how.

        Raises BadRequest: there is no word in the query, or too many; an unknown order; options that exclude one
        another.
        Raises NotFound: no work has that id.
        """
        return self._steadily(request, self._find)

    def _steadily(self, request: ConcordanceRequest, act: Callable[[ConcordanceRequest], T]) -> T:
        """Do something; anew where all works are asked for and one of them was removed meanwhile."""
        for _ in range(_ATTEMPTS if not request.work_id else 0):
            with suppress(NotFound):
                return act(request)
        return act(request)

    def _find(self, request: ConcordanceRequest) -> Answer:
        began = time.perf_counter()
        gathered = self._gather(request)
        total = len(gathered.firsts)
        pages = max(1, -(-total // PAGE))
        page = min(max(1, request.page), pages)
        shown = slice((page - 1) * PAGE, page * PAGE)
        return Answer(
            request=request,
            total=total,
            page=page,
            pages=pages,
            rows=self._rows(gathered, shown, _WIDTH),
            forms=gathered.forms,
            works=self._works(gathered),
            searched=len(gathered.works),
            words=() if total else self._words(request),
            offers=() if total else self._offers(request),
            seconds=time.perf_counter() - began,
        )

    def export(self, request: ConcordanceRequest) -> bytes:
        """Write the places of a query as a table, in the order asked for; at most `MOST_EXPORTED` of them.

        - `request`: as for `find`; its page does not matter.

        Raises BadRequest, NotFound: as `find`.
        """
        request = dataclasses.replace(request, page=1)
        rows = self._steadily(
            request, lambda asked: self._rows(self._gather(asked), slice(0, MOST_EXPORTED), _EXPORT_WIDTH)
        )
        address = f"concordance?{urlencode(request.parameters)}"
        return to_csv(rows, query=request.word.strip(), options=request.options, address=address)

    def _gather(self, request: ConcordanceRequest) -> Gathered:
        if request.sort not in SORTS:
            raise BadRequest(f"'{request.sort}' is no order. Choose one of: {', '.join(SORTS)}.")
        if request.as_written and (request.variants or request.forms):
            raise BadRequest(
                "Exactly as written leaves no room for spelling variants or word forms. Choose the one or the others."
            )
        if request.page < 1 or request.page > MOST_PAGES:
            raise BadRequest(f"There is no page {request.page}; pages are counted from 1.")
        summaries, versions = self._texts.look()
        works = tuple(work for work in summaries if request.work_id in ("", work.id))
        if request.work_id and not works:
            raise NotFound(
                f"There is no work '{request.work_id}' in your library. Add it in the Library, or take another."
            )
        asked = (
            dataclasses.replace(request, page=1),
            works,
            tuple(versions[work.id] for work in works if work.id in versions),
        )
        with self._lock:
            kept = self._kept.get(asked)
            if kept is not None:
                self._kept.move_to_end(asked)
                return kept
        gathered = gather(self._texts, works, request)
        with self._lock:
            self._kept[asked] = gathered
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return gathered

    def _rows(self, gathered: Gathered, shown: slice, width: int) -> tuple[Occurrence, ...]:
        texts: dict[int, tuple[WordedText, list[str]]] = {}
        rows = []
        places = (gathered.owners[shown], gathered.firsts[shown], gathered.lengths[shown])
        for owner, first, length in zip(*(part.tolist() for part in places), strict=True):
            work = gathered.works[owner]
            if owner not in texts:
                text = self._texts.get(work.id, gathered.lexicon)
                texts[owner] = (text, text.chapter_names())
            text, names = texts[owner]
            rows.append(text.occurrence(work, names, first, length, width=width))
        return tuple(rows)

    def _works(self, gathered: Gathered) -> tuple[WorkCount, ...]:
        """Count by work, the most frequent first; the first of them with what their strips show."""
        counts = np.array(gathered.counts, np.int64)
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        counted = []
        for rank, owner in enumerate(order.tolist()):
            work = gathered.works[owner]
            text = self._texts.get(work.id, gathered.lexicon)
            firsts = np.sort(gathered.firsts[gathered.owners == owner]) if rank < _STRIPS else None
            size = len(text.wording.ids)
            counted.append(
                WorkCount(
                    work=work,
                    count=int(counts[owner]),
                    words=size,
                    density=() if firsts is None else _density(firsts, size),
                    chapters=() if firsts is None else _chapters(text, firsts),
                )
            )
        return tuple(counted)

    def _words(self, request: ConcordanceRequest) -> tuple[WordCount, ...]:
        """Count the words of a query that was not found one by one, and name words like those that never occur."""
        plain = dataclasses.replace(request, only="", sort="text", page=1)
        (typed, *_) = read_query(request.word, Reach())
        vocabulary: Counter[str] = Counter()
        counted = []
        for term in dict.fromkeys(typed.terms):
            if not term.word.strip("*'"):
                continue
            count = len(self._gather(dataclasses.replace(plain, word=term.word)).firsts)
            near: tuple[str, ...] = ()
            if not count and not term.wild:
                vocabulary = vocabulary or self._vocabulary(request.work_id)
                near = tuple(nearest(term.folded, vocabulary))
            counted.append(WordCount(term.word, count, near))
        return tuple(counted)

    def _vocabulary(self, work_id: str) -> Counter[str]:
        """Count the words, folded, of one work or of all."""
        lexicon = self._texts.lexicon()
        wanted = [work.id for work in self._texts.look()[0] if work_id in ("", work.id)]
        counts = np.zeros(0, np.int64)
        for text in self._texts.each(wanted, lexicon):
            own = np.bincount(text.wording.ids, minlength=len(counts))
            own[: len(counts)] += counts
            counts = own
        vocabulary: Counter[str] = Counter()
        for number in np.flatnonzero(counts).tolist():
            vocabulary[lexicon.folded[number]] += int(counts[number])
        return vocabulary

    def _offers(self, request: ConcordanceRequest) -> tuple[Offer, ...]:
        """Name wider ways to ask that find something; all works are not counted unless they are in memory."""
        plain = dataclasses.replace(request, page=1, only="", as_written=False)
        both = dataclasses.replace(plain, variants=True, forms=True)
        ways = {"without asking for capitals and accents": plain if request.as_written else request}
        if len(self._gather(both).firsts):
            ways |= {
                "with other spellings": dataclasses.replace(plain, variants=True),
                "with other word forms": dataclasses.replace(plain, forms=True),
                "with other spellings and word forms": both,
            }
        offers = []
        seen = {0}  # a wider way that finds no more than a narrower one is not worth a line
        for label, wider in ways.items():
            count = len(self._gather(wider).firsts)
            if count not in seen:
                seen.add(count)
                offers.append(Offer(label, wider, count))
        summaries = self._texts.look()[0]
        if request.work_id and len(summaries) > 1:
            wider = dataclasses.replace(request, page=1, only="", work_id="")
            known = all(self._texts.holds(work.id) for work in summaries)
            everywhere = len(self._gather(wider).firsts) if known else None
            if everywhere != 0:
                offers.append(Offer(f"in all {len(summaries)} works", wider, everywhere))
        return tuple(offers)


def _density(firsts: Numbers, size: int) -> tuple[int, ...]:
    """Count the places in each thousandth of a work."""
    return tuple(np.bincount(firsts.astype(np.int64) * _GRAIN // size, minlength=_GRAIN).tolist())


def _chapters(text: WordedText, firsts: Numbers) -> tuple[ChapterCount, ...]:
    """Count by chapter; `firsts` are the places in the order of the text."""
    stored, wording = text.stored, text.wording
    sentences = wording.sentences_of(firsts)
    chapter_of = stored.sentence_chapters[sentences]
    counts = np.bincount(chapter_of, minlength=len(stored.chapters)).tolist()
    words = wording.words_per_chapter(len(stored.chapters))
    chapters = []
    before = 0
    for chapter, name in zip(stored.chapters, text.chapter_names(), strict=True):
        count = counts[chapter.index]
        first = int(np.searchsorted(chapter_of, chapter.index)) if count else -1
        chapters.append(
            ChapterCount(
                name=name,
                number=chapter.number,
                part=chapter.part,
                count=count,
                words=words[chapter.index],
                begins=before / max(1, len(wording.ids)),
                at=text.address(int(sentences[first])) if count else None,
            )
        )
        before += words[chapter.index]
    return tuple(chapters)
