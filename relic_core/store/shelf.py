"""The works of a store in memory: those loaded last, their texts word by word, and what is known of all unloaded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import NamedTuple

from relic_core.domain import Address, Place, Work, WorkSummary, WorkVersion
from relic_core.errors import NotFound
from relic_core.library.concordance import Wording
from relic_core.library.lexicon import Lexicon
from relic_core.store import Store
from relic_core.store.works import StoredText, TextRows, Version

Stamp = tuple[tuple[int, int], ...]

KEPT_CHARACTERS = 60_000_000
"""Of the texts kept in memory, in all; with its sentences a text takes about 6 bytes for each."""

LEAST_KEPT = 3
"""Works kept however long they are: a page, a comparison, and one more."""

MOST_BYTES = 600_000_000
"""Memory for texts, in bytes: what is read beyond it puts the texts longest unused out. A novel takes about 5 MB."""
_AT_ONCE = 24
"""Works read from the store together."""
_MOST_WORDS = 2_000_000
"""Different printed words in memory; beyond it all texts are read anew."""


class Contents(NamedTuple):
    """What a store holds, and the stamp of the store when that was looked up."""

    stamp: Stamp
    summaries: tuple[WorkSummary, ...]
    versions: dict[str, Version]
    work_versions: dict[str, WorkVersion]


class _Loaded(NamedTuple):
    """A work in memory, which of its states it is, and the stamp of the store when that was last looked up."""

    work: Work
    version: Version
    stamp: Stamp


class Shelf:
    """Keeps what was read of a store for as long as it is true; safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._lock = threading.Lock()
        self._contents: Contents | None = None

    def load(self, work_id: str) -> Work:
        """Return a work."""
        store = self._store
        # Stamp and version are looked up before the work: what is written in between is noticed at the next call. The
        # lock is not held meanwhile, or those who wait for a busy store would wait one behind the other.
        stamp = store.stamp()
        with self._lock:
            loaded = self._loaded.get(work_id)
        if loaded is None or loaded.stamp != stamp:
            with store.works.together():
                version = store.works.version(work_id)
                work = loaded.work if loaded and loaded.version == version else store.works.load(work_id)
            loaded = _Loaded(work, version, stamp)
        with self._lock:
            self._loaded[work_id] = loaded
            self._loaded.move_to_end(work_id)
            kept = sum(len(each.work.text) for each in self._loaded.values())
            while kept > KEPT_CHARACTERS and len(self._loaded) > LEAST_KEPT:
                _, dropped = self._loaded.popitem(last=False)
                kept -= len(dropped.work.text)
        return loaded.work

    def load_all(self, work_ids: Iterable[str]) -> dict[str, Work]:
        """Return several works, the store opened once where it must be; those that are not stored are left out."""
        stamp = self._store.stamp()
        wanted = list(work_ids)
        with self._lock:
            known = all(each in self._loaded and self._loaded[each].stamp == stamp for each in wanted)
        found = {}
        with nullcontext() if known else self._store.works.together():
            for work_id in wanted:
                with suppress(NotFound):
                    found[work_id] = self.load(work_id)
        return found

    def contents(self) -> Contents:
        """Say what the store holds; looked up anew only where something may have been written.

        Every search is written down, so most writing concerns no work: then the versions of works, which take a look
        at all sentences, are not read anew.
        """
        stamp = self._store.stamp()
        contents = self._contents
        if contents is None or contents.stamp != stamp:
            with self._store.works.together():
                versions = self._store.texts.versions()
                listed = self._store.works.summaries()
                if contents is not None and (versions, listed) == (contents.versions, contents.summaries):
                    work_versions = contents.work_versions
                else:
                    work_versions = self._store.texts.work_versions()
            # What is written between these steps has changed the stamp, and is looked up by the next call.
            summaries = tuple(each for each in listed if each.id in work_versions)
            contents = self._contents = Contents(stamp, summaries, versions, work_versions)
        return contents


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


class Texts:
    """Reads texts, and keeps those used last in so many bytes; the one being read may be larger."""

    def __init__(self, shelf: Shelf, rows: TextRows, *, most_bytes: int = MOST_BYTES) -> None:
        self._rows = rows
        self.contents = shelf.contents
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._kept: OrderedDict[str, WordedText] = OrderedDict()
        self._lexicon = Lexicon()

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
        """Return a text numbered by a lexicon."""
        return next(self.each([work_id], lexicon))

    def each(self, work_ids: Sequence[str], lexicon: Lexicon) -> Iterator[WordedText]:
        """Give some texts one after the other, numbered by a lexicon; those not in memory are read several at once."""
        versions = self.contents().versions
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
                    for stored_id, stored in self._rows.read(wanted[:_AT_ONCE]).items():
                        read[stored_id] = self._keep(stored_id, stored, lexicon)
                text = read.pop(work_id, None) or self._current(work_id, versions.get(work_id), lexicon)
            if text is None:
                raise NotFound(f"There is no work '{work_id}' in your library. Add it in the Library, or take another.")
            yield text

    def _keep(self, work_id: str, stored: StoredText, lexicon: Lexicon) -> WordedText:
        sentences = (stored.sentence_starts, stored.sentence_ends, stored.sentence_chapters, stored.sentence_paragraphs)
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
