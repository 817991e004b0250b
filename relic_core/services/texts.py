"""The texts that the concordance reads, kept in memory while they are as the store has them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain import Address, Place, Work
from relic_core.errors import NotFound
from relic_core.library.concordance import Wording
from relic_core.library.lexicon import Lexicon
from relic_core.reporting.concordance import Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relic_core.domain import WorkSummary
    from relic_core.store.works import StoredText, Version
    from relic_core.wiring import App

MOST_BYTES = 600_000_000
"""Memory for texts, in bytes: what is read beyond it puts the texts longest unused out. A novel takes about 5 MB."""
_AT_ONCE = 24
"""Works read from the store together."""
_MOST_WORDS = 2_000_000
"""Different printed words in memory; beyond it all texts are read anew."""


@dataclass(frozen=True, eq=False)
class WordedText:
    """One stored work as the concordance reads it."""

    stored: StoredText
    wording: Wording
    lexicon: Lexicon

    def chapter_names(self) -> list[str]:
        """Name the chapters as `Work.chapter_name` does."""
        chapters = self.stored.chapters
        bare = Work(
            id="", title="", author="", text="", sha256="", segmenter="", chapters=chapters, paragraphs=(), sentences=()
        )
        return [bare.chapter_name(chapter.index) for chapter in chapters]

    def address(self, sentence: int) -> Address:
        """Give the stable address of a sentence, as `Work.address` does."""
        paragraph = int(self.stored.sentence_paragraphs[sentence])
        return Address(
            chapter=int(self.stored.sentence_chapters[sentence]) + 1,
            paragraph=int(self.stored.paragraph_numbers[paragraph]),
            sentence=self.wording.number_in_paragraph(sentence),
            note=bool(self.stored.paragraph_notes[paragraph]),
        )

    def place(self, sentence: int, names: list[str]) -> Place:
        """Say where a sentence stands, as `Work.place` does."""
        stored = self.stored
        paragraph = int(stored.sentence_paragraphs[sentence])
        chapter = int(stored.sentence_chapters[sentence])
        line: int | None = int(stored.paragraph_lines[paragraph])
        if line is not None and line >= 0:
            start = int(stored.paragraph_starts[paragraph])
            line += stored.text.count("\n", start, int(stored.sentence_starts[sentence]))
        else:
            line = None
        return Place(
            chapter=names[chapter],
            chapter_index=chapter,
            paragraph=int(stored.paragraph_numbers[paragraph]),
            sentence=sentence + 1,
            fraction=sentence / max(1, len(stored.sentence_starts) - 1),
            address=self.address(sentence),
            speaker=str(stored.paragraph_speakers[paragraph]),
            line=line,
            note=bool(stored.paragraph_notes[paragraph]),
        )

    def occurrence(self, work: WorkSummary, names: list[str], first: int, length: int, *, width: int) -> Occurrence:
        """Set some words in their context.

        - `first`, `length`: number of the first word, and how many they are.
        """
        left, keyword, right = self.wording.context(first, length, width=width)
        here, there = self.wording.reach(first, length)
        return Occurrence(work, self.place(here, names), there - here + 1, left, keyword, right)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the store holds, and its stamp when that was looked up."""

    stamp: tuple[tuple[int, int], ...]
    summaries: tuple[WorkSummary, ...]
    versions: dict[str, Version]


class Texts:
    """Reads texts, and keeps those used last.

    - `app`: where the works are.
    - `most_bytes`: memory that texts may take; the one being read may be larger.
    """

    def __init__(self, app: App, *, most_bytes: int = MOST_BYTES) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._kept: OrderedDict[str, WordedText] = OrderedDict()
        self._lexicon = Lexicon()
        self._contents = _Contents((), (), {})

    def look(self) -> tuple[tuple[WorkSummary, ...], dict[str, Version]]:
        """List the stored works by title, and which state of each is stored."""
        stamp = self._app.store.stamp()  # before the rest: what is written in between is noticed next time
        contents = self._contents
        if not stamp or contents.stamp != stamp:
            contents = _Contents(stamp, self._app.works.summaries(), self._app.store.texts.versions())
            self._contents = contents
        return contents.summaries, contents.versions

    def lexicon(self) -> Lexicon:
        """Return the lexicon that numbers the texts; a new one where the old has grown too large."""
        with self._lock:
            if len(self._lexicon) > _MOST_WORDS:
                self._lexicon = Lexicon()
                self._kept.clear()
            return self._lexicon

    def holds(self, work_id: str) -> bool:
        """Whether a text is in memory, so that looking into it costs little."""
        with self._lock:
            return work_id in self._kept

    def get(self, work_id: str, lexicon: Lexicon) -> WordedText:
        """Return a text numbered by a lexicon.

        Raises NotFound: no stored work has that id.
        """
        return next(self.each([work_id], lexicon))

    def each(self, work_ids: Sequence[str], lexicon: Lexicon) -> Iterator[WordedText]:
        """Give some texts one after the other, numbered by a lexicon; those not in memory are read several at once.

        Raises NotFound: no stored work has one of the ids.
        """
        versions = self.look()[1]
        read: dict[str, WordedText] = {}
        for place, work_id in enumerate(work_ids):
            text = read.pop(work_id, None) or self._current(work_id, versions.get(work_id), lexicon)
            if text is None:
                with self._reading:  # two visitors who ask for the same texts wait for one reading of them
                    wanted = [
                        other
                        for other in work_ids[place:]
                        if self._current(other, versions.get(other), lexicon) is None and other not in read
                    ]
                    for stored_id, stored in self._app.store.texts.read(wanted[:_AT_ONCE]).items():
                        read[stored_id] = self._keep(stored_id, stored, lexicon)
                text = read.pop(work_id, None) or self._current(work_id, versions.get(work_id), lexicon)
            if text is None:
                raise _missing(work_id)
            yield text

    def _keep(self, work_id: str, stored: StoredText, lexicon: Lexicon) -> WordedText:
        sentences = (
            stored.sentence_starts,
            stored.sentence_ends,
            stored.sentence_chapters,
            stored.sentence_paragraphs,
        )
        read = WordedText(stored, Wording.of(stored.text, sentences, stored.paragraph_notes, lexicon), lexicon)
        with self._lock:
            if lexicon is self._lexicon:
                self._kept[work_id] = read
                self._kept.move_to_end(work_id)
                size = sum(each.wording.size for each in self._kept.values())
                while size > self._most_bytes and len(self._kept) > 1:
                    _, gone = self._kept.popitem(last=False)
                    size -= gone.wording.size
        return read

    def _current(self, work_id: str, version: Version | None, lexicon: Lexicon) -> WordedText | None:
        with self._lock:
            kept = self._kept.get(work_id)
            if kept is None or kept.stored.version != version or kept.lexicon is not lexicon:
                return None
            self._kept.move_to_end(work_id)
            return kept


def _missing(work_id: str) -> NotFound:
    return NotFound(f"There is no work '{work_id}' in your library. Add it in the Library, or take another.")
