"""Reading: a chapter of a stored work, the place asked for in it, and the hits of a search along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from relic_core.caching import LRUCache
from relic_core.domain import Address, Place, Span, Work, WorkSummary
from relic_core.errors import BadRequest, NotFound, RelicError
from relic_core.reporting.chapters import SetChapter, chapter_name, set_chapter
from relic_core.services.search import SearchResult

_CHAPTERS_KEPT = 8


@dataclass(frozen=True, slots=True)
class ContentsPart:
    """A part of a work, or the whole where it has none; of its chapters position from 0 and name without the part."""

    name: str
    chapters: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPage:
    """A chapter opened at a place; `notice`: why something else is shown than was asked for; empty where it is not."""

    work: Work
    chapter: SetChapter
    contents: tuple[ContentsPart, ...]
    passage: Span | None = None
    place: Place | None = None
    notice: str = ""

    @property
    def at(self) -> str:
        """The address of what is shown: of the passage, or the number of the chapter alone."""
        return str(self.chapter.index + 1) if self.place is None else str(self.place.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class HitMark:
    """A hit of a search as it is marked beside the text; `way` is what pages call its retriever."""

    retriever: str
    way: str
    number: int
    span: Span
    place: Place

    @property
    def at(self) -> str:
        """The address of its first sentence."""
        return str(self.place.address)


class Reading:
    """Opens works."""

    def __init__(self, load: Callable[[str], Work], removed: Callable[[], tuple[WorkSummary, ...]]) -> None:
        self._load, self._removed = load, removed
        self._set = LRUCache[SetChapter](_CHAPTERS_KEPT)

    def page(self, work_id: str, *, at: str = "", length: int = 1) -> ReadingPage:
        """Open a work at an address; the first chapter where it is empty, and with a notice where it leads nowhere.

        Sentences that the chapter has no more are left away. NotFound says which edition is not here.
        """
        work = self._open(work_id)
        passage, notice, chapter = None, "", 0
        try:
            if at:
                chapter, passage = _find(work, at, length)
        except RelicError as error:
            notice = f"{error} This is the first chapter."
        return ReadingPage(
            work=work,
            chapter=self._set.get((work.fingerprint, chapter), lambda: set_chapter(work, chapter)),
            contents=_contents(work),
            passage=passage,
            place=work.place(passage) if passage else None,
            notice=notice,
        )

    def hits(self, work: Work, result: SearchResult) -> tuple[HitMark, ...]:
        """List the hits of a search in the order of the text; of a search of the library, those in this work."""
        if result.work is not None and result.work.id != work.id:
            raise BadRequest(
                f"The search was made in another work, {result.work.title}; its hits are not marked in {work.title}."
            )
        marks = []
        for column in result.columns:
            name, way = column.retriever, column.card.called
            for number, card in enumerate(column.cards, start=1):
                if card.work.id == work.id:
                    marks.append(HitMark(retriever=name, way=way, number=number, span=card.line, place=card.place))
        return tuple(sorted(marks, key=lambda mark: (mark.span, mark.number)))

    def _open(self, work_id: str) -> Work:
        try:
            return self._load(work_id)
        except NotFound:
            for removed in self._removed():
                if removed.id == work_id:
                    edition = f"{removed.title} ({removed.year})" if removed.year else removed.title
                    raise NotFound(
                        f"The edition that this address names, {edition}, was removed from your library. Its text can "
                        "be put back in the Library."
                    ) from None
            raise NotFound(
                f"This address names a work that is not in your library: '{work_id[:80]}'. Its text may be on another "
                "machine; add it in the Library, or choose another work."
            ) from None


def _find(work: Work, at: str, length: int) -> tuple[int, Span | None]:
    """Find the chapter and the passage of an address; an address of a chapter alone names no passage."""
    address = Address.parse(at)
    if "." not in at and address.chapter <= len(work.chapters):
        return address.chapter - 1, None
    span = work.span_at(at, max(1, length), within_chapter=True)
    return work.sentences[span.start].chapter, span


def _contents(work: Work) -> tuple[ContentsPart, ...]:
    parts = []
    for name, chapters in groupby(work.chapters, key=lambda chapter: chapter.part):
        named = tuple((chapter.index, chapter_name(work, chapter.index)) for chapter in chapters)
        parts.append(ContentsPart(name, named))
    return tuple(parts)
