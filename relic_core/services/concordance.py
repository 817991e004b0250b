"""The concordance: every place of a word or phrase in one work or in all, in its context and counted."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlencode

import numpy as np

from relic_core.caching import LRUCache
from relic_core.domain import Address, Voice, WorkSummary
from relic_core.errors import BadRequest, NotFound
from relic_core.library.concordance import Finder, Found
from relic_core.library.lexicon import Lexicon, Numbers, Reach, nearest
from relic_core.library.queries import read_query
from relic_core.reporting.concordance import Occurrence, to_csv
from relic_core.store.shelf import Texts, WordedText
from relic_core.text.speech import WorkSpeech

PAGE = 50
MOST_PAGES = 1_000_000
MOST_EXPORTED = 100_000
SORTS = ("text", "left", "right")
_WIDTH = 110
"""Characters of context on either side on a page, and in an export."""
_EXPORT_WIDTH = 300
_STRIPS = 6
_BESIDE = 3
_GRAIN = 1000
"""Places that a strip tells apart."""
_KEPT = 8
_ATTEMPTS = 3
"""Times to begin anew where works are removed while they are looked through."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcordanceRequest:
    """What to look for, where and how.

    - `word`: a word or a phrase, or several with | or OR between; * stands for any letters of a word, ? for one.
    - `as_written`: capitals, accents and the ending 's count; excludes the two before.
    - `voice`: only words that are spoken, or that are not.
    - `only`: key of the one form to show; empty for all.
    - `beside`: other words that are counted beside it, with commas between them; the first three.
    """

    word: str
    work_id: str = ""
    sort: str = "text"
    variants: bool = False
    forms: bool = False
    as_written: bool = False
    voice: Voice = "any"
    only: str = ""
    beside: str = ""
    page: int = 1

    @property
    def compared(self) -> tuple[ConcordanceRequest, ...]:
        """The same request for each of the other words."""
        words = dict.fromkeys(filter(None, (word.strip() for word in self.beside.split(","))))
        plain = dataclasses.replace(self, sort="text", only="", beside="", page=1)
        return tuple(dataclasses.replace(plain, word=word) for word in list(words)[:_BESIDE])

    @property
    def options(self) -> str:
        """What was asked besides the words, in words."""
        chosen = (
            (self.variants, "spelling variants"),
            (self.forms, "word forms"),
            (self.as_written, "exactly as written"),
            (self.voice != "any", f"{self.voice} only"),
            (bool(self.only), f"only {self.only}"),
            (self.sort != "text", f"by {self.sort} neighbour"),
        )
        return "; ".join(label for given, label in chosen if given)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the address of the page that shows it carries; what is as usual is left away.

        >>> ConcordanceRequest(word="good fortune", forms=True).parameters
        {'word': 'good fortune', 'forms': '1'}
        """
        given = {
            "word": self.word.strip(),
            "work": self.work_id,
            "sort": self.sort if self.sort != "text" else "",
            "variants": "1" if self.variants else "",
            "forms": "1" if self.forms else "",
            "case": "1" if self.as_written else "",
            "voice": self.voice if self.voice != "any" else "",
            "form": self.only,
            "with": self.beside.strip(),
            "page": str(self.page) if self.page > 1 else "",
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class FormCount:
    """A form that was found: its key, how it is mostly printed, how often it was found in all."""

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterCount:
    """How often a query was found in a chapter.

    - `name`, `number`, `part`: the chapter's name in full; its number and its part as printed.
    - `begins`: where in the work it begins, 0 to 1, counted in words.
    """

    name: str
    number: str
    part: str
    count: int
    words: int
    begins: float
    at: Address | None

    @property
    def rate(self) -> float:
        """How often in 10,000 words."""
        return 10_000 * self.count / max(1, self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCount:
    """How often a query was found in a work; `density` in each thousandth; of the works with the most alone."""

    work: WorkSummary
    count: int
    words: int
    density: tuple[int, ...]
    chapters: tuple[ChapterCount, ...]

    @property
    def rate(self) -> float:
        """How often in 10,000 words."""
        return 10_000 * self.count / max(1, self.words)


@dataclass(frozen=True, slots=True)
class WordCount:
    """A word of a query that was not found: how often it stands alone, and words like it where it never does."""

    word: str
    count: int
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A wider way to ask: what is different, the request, and what it finds, None where that is not known."""

    label: str
    request: ConcordanceRequest
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcordanceAnswer:
    """One page of what was found, and the counts of all.

    - `page`, `pages`: the page shown (the last where a later one was asked for), and how many there are.
    - `forms`: the forms found, before one of them was chosen, the most frequent first.
    - `more`: the forms that word forms would find besides, where they were not asked for.
    - `words`: where nothing was found: the words one by one.
    - `offers`: where nothing was found: what would find something.
    """

    request: ConcordanceRequest
    total: int
    page: int
    pages: int
    rows: tuple[Occurrence, ...]
    forms: tuple[FormCount, ...]
    more: tuple[FormCount, ...]
    works: tuple[WorkCount, ...]
    searched: int
    words: tuple[WordCount, ...]
    offers: tuple[Offer, ...]
    seconds: float


class Concordance:
    """Finds words; `speech` gives what is spoken in a work."""

    def __init__(self, texts: Texts, speech: Callable[[str], WorkSpeech]) -> None:
        self._texts = texts
        self._speech = speech
        self._gathered = LRUCache[Gathered](_KEPT)

    def find(self, request: ConcordanceRequest) -> ConcordanceAnswer:
        """Find every place of a word or phrase, and set one page of them."""
        return self._steadily(request, self._find)

    def _steadily(self, request: ConcordanceRequest, act: Callable[[ConcordanceRequest], T]) -> T:
        """Do something; anew where all works are asked for and one of them was removed meanwhile."""
        for _ in range(_ATTEMPTS if not request.work_id else 0):
            with suppress(NotFound):
                return act(request)
        return act(request)

    def _find(self, request: ConcordanceRequest) -> ConcordanceAnswer:
        began = time.perf_counter()
        gathered = self._gather(request)
        total = len(gathered.firsts)
        pages = max(1, -(-total // PAGE))
        page = min(max(1, request.page), pages)
        shown = slice((page - 1) * PAGE, page * PAGE)
        return ConcordanceAnswer(
            request=request,
            total=total,
            page=page,
            pages=pages,
            rows=self._rows(gathered, shown, _WIDTH),
            forms=gathered.forms,
            more=self._more(request, gathered) if total else (),
            works=self._works(gathered),
            searched=len(gathered.works),
            words=() if total else self._words(request),
            offers=() if total else self._offers(request),
            seconds=time.perf_counter() - began,
        )

    def export(self, request: ConcordanceRequest) -> bytes:
        """Write the places of a query as a table, in the order asked for; at most `MOST_EXPORTED` of them."""
        request = dataclasses.replace(request, page=1)
        rows = self._steadily(
            request, lambda asked: self._rows(self._gather(asked), slice(0, MOST_EXPORTED), _EXPORT_WIDTH)
        )
        address = f"concordance?{urlencode(request.parameters)}"
        return to_csv(rows, query=request.word.strip(), options=request.options, address=address)

    def _gather(self, request: ConcordanceRequest) -> Gathered:
        if request.sort not in SORTS:
            raise BadRequest(f"'{request.sort}' is not an order. Choose one of: {', '.join(SORTS)}.")
        if request.as_written and (request.variants or request.forms):
            raise BadRequest(
                "Exactly as written leaves no room for spelling variants or word forms. Choose the one or the others."
            )
        if request.page < 1 or request.page > MOST_PAGES:
            raise BadRequest(f"There is no page {request.page}; pages are counted from 1.")
        contents = self._texts.contents()
        works = tuple(work for work in contents.summaries if request.work_id in ("", work.id))
        if request.work_id and not works:
            raise NotFound(
                f"There is no work '{request.work_id}' in your library. Add it in the Library, or take another."
            )
        asked = dataclasses.replace(request, page=1), works, tuple(contents.versions[work.id] for work in works)
        return self._gathered.get(asked, lambda: gather(self._texts, works, request, self._speech))

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
            left, keyword, right = text.wording.context(first, length, width=width)
            here, there = text.wording.reach(first, length)
            rows.append(Occurrence(work, text.place(here, names), there - here + 1, left, keyword, right))
        return tuple(rows)

    def _works(self, gathered: Gathered) -> tuple[WorkCount, ...]:
        counts = np.array(gathered.counts, np.int64)
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        counted = []
        for rank, owner in enumerate(order.tolist()):
            work = gathered.works[owner]
            text = self._texts.get(work.id, gathered.lexicon)
            size = len(text.wording.ids)
            density: Sequence[int] = ()
            chapters: tuple[ChapterCount, ...] = ()
            if rank < _STRIPS:
                firsts = np.sort(gathered.firsts[gathered.owners == owner])
                density = np.bincount(firsts.astype(np.int64) * _GRAIN // size, minlength=_GRAIN).tolist()
                chapters = _chapters(text, firsts)
            count = int(counts[owner])
            counted.append(WorkCount(work=work, count=count, words=size, density=tuple(density), chapters=chapters))
        return tuple(counted)

    def _more(self, request: ConcordanceRequest, gathered: Gathered) -> tuple[FormCount, ...]:
        if request.forms or request.as_written or request.only:
            return ()
        wider = self._gather(dataclasses.replace(request, page=1, sort="text", forms=True))
        known = {form.key for form in gathered.forms}
        return tuple(form for form in wider.forms if form.key not in known)

    def _words(self, request: ConcordanceRequest) -> tuple[WordCount, ...]:
        plain = dataclasses.replace(request, only="", sort="text", page=1)
        typed = chain.from_iterable(reading.terms for reading in read_query(request.word, Reach()))
        vocabulary: Counter[str] = Counter()
        counted = []
        for term in dict.fromkeys(typed):
            if not term.word.strip("*?'"):
                continue
            count = len(self._gather(dataclasses.replace(plain, word=term.word)).firsts)
            near: tuple[str, ...] = ()
            if not count and not term.wild:
                vocabulary = vocabulary or self._vocabulary(request.work_id)
                near = tuple(nearest(term.folded, vocabulary))
            counted.append(WordCount(term.word, count, near))
        return tuple(counted)

    def _vocabulary(self, work_id: str) -> Counter[str]:
        lexicon = self._texts.lexicon()
        wanted = [work.id for work in self._texts.contents().summaries if work_id in ("", work.id)]
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
        if request.voice != "any":
            wider = dataclasses.replace(request, page=1, only="", voice="any")
            if count := len(self._gather(wider).firsts):
                offers.append(Offer("in speech and narration", wider, count))
        summaries = self._texts.contents().summaries
        if request.work_id and len(summaries) > 1:
            wider = dataclasses.replace(request, page=1, only="", work_id="")
            known = all(self._texts.holds(work.id) for work in summaries)
            everywhere = len(self._gather(wider).firsts) if known else None
            if everywhere != 0:
                offers.append(Offer(f"in all {len(summaries)} works", wider, everywhere))
        return tuple(offers)


def _chapters(text: WordedText, firsts: Numbers) -> tuple[ChapterCount, ...]:
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


@dataclass(frozen=True, eq=False)
class Gathered:
    """All places of a query, in the order asked for; all arrays of shape (n_places,) but `counts`."""

    works: tuple[WorkSummary, ...]
    lexicon: Lexicon
    counts: tuple[int, ...]
    owners: Numbers
    firsts: Numbers
    lengths: Numbers
    forms: tuple[FormCount, ...]


def gather(
    texts: Texts,
    works: tuple[WorkSummary, ...],
    request: ConcordanceRequest,
    speech: Callable[[str], WorkSpeech],
) -> Gathered:
    """Find every place of a query in some works."""
    reach = Reach(variants=request.variants, forms=request.forms, as_written=request.as_written)
    readings = read_query(request.word, reach)
    lexicon = texts.lexicon()
    finder = Finder(readings, reach, lexicon)
    forms = _Forms(lexicon, as_written=request.as_written)
    parts = [np.zeros((6, 0), np.int32)]
    for owner, text in enumerate(texts.each([work.id for work in works], lexicon)):
        found = finder.find(text.wording)
        if request.voice != "any" and len(found.firsts):
            spoken = speech(works[owner].id).holds(text.wording.starts[found.firsts])
            found = found.only(spoken if request.voice == "speech" else ~spoken)
        near, far = _neighbours(text, found, request.sort)
        owners = np.full(len(found.firsts), owner)
        rows = [owners, found.firsts, found.lengths, forms.number(text, found), near, far]
        parts.append(np.stack(rows).astype(np.int32))
    owners, firsts, lengths, numbers, near, far = np.concatenate(parts, axis=1)
    order = np.arange(len(firsts))
    if request.sort != "text":
        ranks = np.append(lexicon.order().astype(np.int64) + 1, 0)  # the last stands for no neighbour
        # Equal ones stay in the order of the works and their texts.
        order = np.argsort(ranks[near] * len(ranks) + ranks[far], kind="stable")
    if request.only:
        order = order[numbers[order] == forms.known(request.only)]
    return Gathered(
        works=works,
        lexicon=lexicon,
        counts=tuple(np.bincount(owners[order], minlength=len(works)).tolist()),
        owners=owners[order],
        firsts=firsts[order],
        lengths=lengths[order],
        forms=forms.counts(numbers),
    )


def _neighbours(text: WordedText, found: Found, sort: str) -> tuple[Numbers, Numbers]:
    if sort == "text":
        return found.firsts, found.firsts
    at, step = (found.firsts, -1) if sort == "left" else (found.firsts + found.lengths - 1, 1)
    return text.wording.neighbour(at, step), text.wording.neighbour(at, 2 * step)


class _Forms:
    """The forms in which a query is found, numbered: what differs in capitals or accents alone is one form."""

    def __init__(self, lexicon: Lexicon, *, as_written: bool) -> None:
        self._lexicon = lexicon
        self._words = lexicon.printed if as_written else lexicon.folded
        self._numbers: dict[str, int] = {}
        self._printed: list[Counter[str]] = []

    def number(self, text: WordedText, found: Found) -> Numbers:
        """Give each place the number of its form."""
        forms = np.zeros(len(found.firsts), np.int32)
        for reading, joint in enumerate(found.joints):
            here = np.flatnonzero(found.readings == reading)
            if not len(here):
                continue
            length = int(found.lengths[here[0]])
            words = text.wording.ids[found.firsts[here][:, None] + np.arange(length)]
            code = words[:, 0].astype(np.int64)
            for column in range(1, length):
                code = np.unique(code * len(self._lexicon) + words[:, column], return_inverse=True)[1]
            _, firsts, inverse, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
            numbers = []
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
                row = words[first].tolist()
                key = joint.join(self._words[word] for word in row)
                number = self._numbers.setdefault(key, len(self._numbers))
                if number == len(self._printed):
                    self._printed.append(Counter())
                self._printed[number][joint.join(self._lexicon.printed[word] for word in row)] += count
                numbers.append(number)
            forms[here] = np.array(numbers, np.int32)[inverse]
        return forms

    def known(self, key: str) -> int:
        """Return the number of a form; -1 where it was not found."""
        return self._numbers.get(key, -1)

    def counts(self, forms: Numbers) -> tuple[FormCount, ...]:
        """List the forms with how often each was found, the most frequent first, each as it is mostly printed."""
        totals = np.bincount(forms, minlength=len(self._numbers)).tolist()
        counted = [
            FormCount(key, self._printed[number].most_common(1)[0][0], totals[number])
            for key, number in self._numbers.items()
        ]
        return tuple(sorted(counted, key=lambda form: (-form.count, form.key)))
