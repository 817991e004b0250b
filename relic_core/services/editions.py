"""Editions: what is known of a stored work, its numbers, its source, what was set aside, its indexes, its searches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import NotFound
from relic_core.services.previews import left_out_of
from relic_core.text.dialogue import dialogue_of
from relic_core.text.words import word_spans

if TYPE_CHECKING:
    from relic_core.domain import Search, Work, WorkSummary
    from relic_core.services.catalogue import CatalogueEntry
    from relic_core.services.indexing import Built
    from relic_core.services.previews import LeftOutPreview
    from relic_core.text.dialogue import SpeechStyle
    from relic_core.wiring import App

_COUNTED = 8
"""Works whose numbers stay in memory: counting War and Peace takes about half a second."""
_SEARCHES = 500
"""Searches in a work that are listed, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterFacts:
    """The numbers of a chapter.

    - `sentences`, `words`, `spoken`: counts; `spoken` are the words of dialogue.
    - `address`: of its first sentence; empty where it has none.
    """

    name: str
    sentences: int
    words: int
    spoken: int
    address: str

    @property
    def share(self) -> float:
        """Share of dialogue, from 0 to 1."""
        return self.spoken / self.words if self.words else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What can be counted in a work.

    - `distinct_words`: different words, capitals, accents and endings like 's not told apart.
    - `chapters`: in the order of the text.
    - `left_out`: what was set aside, by kind, the longest first.
    """

    paragraphs: int
    sentences: int
    words: int
    distinct_words: int
    spoken: int
    style: SpeechStyle
    chapters: tuple[ChapterFacts, ...]
    left_out: tuple[LeftOutPreview, ...]
    characters: int

    @property
    def dialogue(self) -> float:
        """Share of dialogue, from 0 to 1."""
        return self.spoken / self.words if self.words else 0.0

    @property
    def sentence_length(self) -> float:
        """Mean length of a sentence, in words; 0 where there is none."""
        return self.words / self.sentences if self.sentences else 0.0

    @property
    def longest(self) -> ChapterFacts | None:
        """The chapter of most words; None where there are fewer than two chapters."""
        return max(self.chapters, key=lambda chapter: chapter.words) if len(self.chapters) > 1 else None

    @property
    def set_aside(self) -> float:
        """Share of the file's characters that was set aside, from 0 to 1."""
        return sum(part.characters for part in self.left_out) / self.characters if self.characters else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a stored edition.

    - `summary`: title, author, translator, year, source, hash, and when it was added.
    - `format`: of the file it was read from.
    - `indexes`: on disk, the newest first.
    - `missing`: names of the retrievers that it has still to be prepared for.
    - `searches`: made in it, the newest first, each question once.
    """

    summary: WorkSummary
    format: str
    segmenter: str
    numbers: Numbers
    indexes: tuple[Built, ...]
    missing: tuple[str, ...]
    entry: CatalogueEntry | None
    searches: tuple[Search, ...]


class Editions:
    """What is known of the works of an app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._counted: OrderedDict[str, Numbers] = OrderedDict()
        self._lock = threading.Lock()

    def facts(self, work_id: str, *, person: str = "") -> Facts:
        """Gather what is known of a stored work.

        - `person`: whose searches are listed, where people sign in.

        Raises NotFound: no stored work has that id, or it was removed meanwhile.
        """
        bench = self._app
        work = bench.works.load(work_id)
        summary = next((each for each in bench.works.summaries() if each.id == work_id), None)
        if summary is None:
            raise NotFound(f"{work.title} ({work_id}) was taken out of the library just now. It can be put back there.")
        return Facts(
            summary=summary,
            format=work.format,
            segmenter=work.segmenter,
            numbers=self._numbers(work),
            indexes=bench.indexes.built(work_id),
            missing=bench.indexes.missing(work_id),
            entry=bench.catalogue.entry_of(summary),
            searches=bench.history.asked(work_id=work_id, person=person, limit=_SEARCHES)[0],
        )

    def _numbers(self, work: Work) -> Numbers:
        with self._lock:
            found = self._counted.get(work.fingerprint)
        if found is None:
            found = count(work)
        with self._lock:
            self._counted[work.fingerprint] = found
            self._counted.move_to_end(work.fingerprint)
            while len(self._counted) > _COUNTED:
                self._counted.popitem(last=False)
        return found


def count(work: Work) -> Numbers:
    """Count what can be counted in a work."""
    dialogue = dialogue_of(work)
    sentences = [0] * len(work.chapters)
    addresses = [""] * len(work.chapters)
    distinct: set[str] = set()
    for sentence in work.sentences:
        if not sentences[sentence.chapter]:
            addresses[sentence.chapter] = str(work.address(sentence.index))
        sentences[sentence.chapter] += 1
        distinct.update(token for _, _, token in word_spans(work.text[sentence.start : sentence.end]))
    return Numbers(
        paragraphs=len(work.paragraphs),
        sentences=len(work.sentences),
        words=dialogue.whole.words,
        distinct_words=len(distinct),
        spoken=dialogue.whole.spoken,
        style=dialogue.style,
        chapters=tuple(
            ChapterFacts(
                name=work.chapter_name(chapter.index),
                sentences=sentences[chapter.index],
                words=dialogue.chapters[chapter.index].words,
                spoken=dialogue.chapters[chapter.index].spoken,
                address=addresses[chapter.index],
            )
            for chapter in work.chapters
        ),
        left_out=left_out_of(work),
        characters=len(work.text),
    )
