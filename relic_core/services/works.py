"""Works: adding, previewing, listing, loading, removing; finding one by what a person calls it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from relic_core.config import Settings
from relic_core.domain import EditionDetails, Work, WorkFilter, WorkSummary, WorkVersion
from relic_core.errors import BadRequest
from relic_core.library import apart, folder, sample
from relic_core.library.catalogue import entry_of, entry_of_file
from relic_core.library.composing import Edition
from relic_core.library.naming import resolve
from relic_core.library.previews import LeftOutPreview, Pickled, Preview, Upload, beside, make_preview, notice_of
from relic_core.library.reading import read_edition
from relic_core.store.shelf import Shelf
from relic_core.store.splits import ExampleRows
from relic_core.store.works import Outcome, WorkRows
from relic_core.text.decoding import file_name, harmless
from relic_core.text.languages import reads_english
from relic_core.text.metadata import Metadata
from relic_core.text.reading import put_back
from relic_core.text.unbroken import within

__all__ = ["Added", "Available", "LeftOutPreview", "Preview", "Works", "ensure_sample"]

_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a text came to; `notice` is what the reader should know of it, empty for nothing."""

    work: WorkSummary
    outcome: Outcome
    notice: str = ""

    @property
    def already(self) -> bool:
        """Whether the text was there before and nothing was written."""
        return self.outcome == "already"


@dataclass(frozen=True, slots=True)
class Available:
    """A file of the library folder; `work_id` is the stored work with its text, empty where there is none."""

    path: Path
    title: str
    size: int
    work_id: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name


class Works:
    """The works of a library; `summaries` to `restore` are those of the store, `load` and `load_all` of the shelf.

    - `learn`: takes what the file of a work that was just added says of its edition.
    """

    texts_in = staticmethod(folder.texts_in)

    def __init__(
        self, rows: WorkRows, shelf: Shelf, settings: Settings, learn: Callable[[str, EditionDetails], None]
    ) -> None:
        self._rows, self._shelf, self._settings, self._learn = rows, shelf, settings, learn
        self._library, self._max_bytes = settings.library, settings.max_text_bytes
        self.summaries, self.removed, self.described = rows.summaries, rows.removed, rows.described
        self.remove, self.restore = rows.remove, rows.restore
        self.load, self.load_all, self.read = shelf.load, shelf.load_all, rows.load

    def add(
        self,
        source: Path | bytes | Pickled,
        *,
        name: str = "",
        title: str = "",
        author: str = "",
        translator: str = "",
        year: int | None = None,
        came_from: str = "",
    ) -> Added:
        """Read a text, or take what was read for its preview, and store it as a work, unless it is stored already.

        - `title`, `author`, `translator`, `year`: where given, they stand over what the file says of itself, and
          correct what is stored of its text. Of a file of the library folder that is named for a work of the catalogue,
          the catalogue says what is not given.
        - `came_from`: where the text came from, in words; the file's name or path where not given.
        """
        metadata = Metadata.checked(title=title, author=author, translator=translator, year=year)
        edition = self._read(source, metadata, name=name, came_from=came_from)
        summary, outcome = self._rows.add(edition.work, given=metadata.given)
        if outcome == "added":
            self._learn(summary.id, edition.details)
        return Added(summary, outcome, notice=notice_of(edition.work, edition.missing, edition.doubt))

    def preview(
        self, source: Path | bytes, *, name: str = "", whose: str = "", wait: Callable[[], object] = lambda: None
    ) -> Preview:
        """Read a text as `add` would, and store nothing; errors are those of `add`.

        - `whose`, `wait`: for a large upload, see `library.apart.read`.
        """
        if isinstance(source, bytes) and apart.is_large(source):
            preview = apart.read(Upload(source, file_name(name), self._max_bytes), whose=whose, wait=wait)
            preview = replace(preview, work=self._dated(preview.work))
        else:
            preview = make_preview(self._read(source, Metadata(), name=name))
        return beside(preview, self.summaries(), self.removed())

    def _read(self, source: Path | bytes | Pickled, facts: Metadata, *, name: str, came_from: str = "") -> Edition:
        if isinstance(source, Pickled):
            edition = apart.again(source, facts)
            return replace(edition, work=self._dated(edition.work))
        if isinstance(source, Path):
            admitted = folder.admit(source, self._settings)
            data, name = folder.read_bytes(admitted, max_bytes=self._max_bytes), source.name
            if entry := entry_of_file(source, self._library):
                shelved = Metadata(entry.title, entry.author, entry.translator, entry.year)
                facts = replace(shelved, **facts.given)
            came_from = came_from or harmless(str(source), longest=_LONGEST_PATH)
        else:
            data = source
        called = file_name(name)
        edition = read_edition(data, name=called, metadata=facts, source=came_from or called, max_bytes=self._max_bytes)
        return replace(edition, work=self._dated(edition.work))

    def _dated(self, work: Work) -> Work:
        """Give a work the year that the catalogue knows: plain text seldom says when it first appeared."""
        entry = entry_of(work, self._library) if work.year is None or work.guessed else None
        if entry is None:
            return work
        year = entry.year if work.year is None or "year" in work.guessed else work.year
        return replace(work, year=year, guessed="" if work.author == entry.author else work.guessed)

    def foreign(self, work_id: str) -> str:
        """Say that the models read English, of a work in another language; empty of others."""
        return reads_english(self.load(work_id).text)

    def put_back(self, work_id: str, start: int) -> WorkSummary:
        """Make text of what was left out of a work at an offset; its indexes have to be made anew."""
        return self._rows.read_anew(put_back(self._rows.load(work_id), start))

    def find_file(self, given: str) -> Path:
        """Find the file a person means; see `library.folder.find_file` and `refusal`."""
        return folder.admit(folder.find_file(given, self._library), self._settings)

    def find_files(self, given: str) -> tuple[Path, ...]:
        """Find the files a person means: the one of `find_file`, or where that is a folder, every text in it."""
        path = self.find_file(given)
        return folder.texts_in(path) if stat.S_ISDIR(folder.mode_of(path)) else (path,)

    def available(self) -> tuple[Available, ...]:
        """List the files of the library folder and which of them are stored; empty where no folder is set."""
        if self._library is None:
            return ()
        stored = {summary.sha256: summary.id for summary in self.summaries()}
        found = []
        for text in folder.list_texts(self._library):
            sha256 = folder.text_sha256(text.path, modified=text.modified, max_bytes=self._max_bytes)
            entry = entry_of_file(text.path, self._library)
            title = entry.title if entry else text.title
            found.append(Available(path=text.path, title=title, size=text.size, work_id=stored.get(sha256, "")))
        return tuple(found)

    def describe(self, work_id: str, *, title: str, author: str, translator: str, year: int | None) -> WorkSummary:
        """Correct what is said of a work; its text, its id, its searches and its indexes stay."""
        metadata = Metadata.checked(title=title, author=author, translator=translator, year=year)
        if not metadata.title:
            raise BadRequest("A work needs a title. Write one; the author, the translator and the year may stay empty.")
        return self._rows.describe(
            work_id, title=metadata.title, author=metadata.author, translator=metadata.translator, year=metadata.year
        )

    def find_broken_words(self) -> list[str]:
        """Look through works that an earlier version added; give the ids of those that models now read otherwise."""
        found = []
        for work_id in self._rows.not_looked_through():
            work = self._rows.load(work_id)
            cuts = within(work.text, work.sentences)
            self._rows.keep_cuts(work_id, cuts)
            if cuts:
                found.append(work_id)
        return found

    def work_versions(self) -> dict[str, WorkVersion]:
        """Give what names the indexes of every stored work, by its id; none is loaded for it."""
        return self._shelf.contents().work_versions

    def scope(self, work_filter: WorkFilter) -> tuple[WorkSummary, ...]:
        """List the stored works that a filter admits, by title."""
        return tuple(summary for summary, _ in self.admitted(work_filter))

    def admitted(self, work_filter: WorkFilter) -> tuple[tuple[WorkSummary, WorkVersion], ...]:
        """List the stored works that a filter admits, by title, each with what names its indexes."""
        stored = self._shelf.contents()
        return tuple((work, stored.work_versions[work.id]) for work in stored.summaries if work_filter.admits(work))

    def resolve(self, wanted: str, *, removed: bool = False) -> WorkSummary:
        """Find the stored work, or the removed one, that a person means by an id, the beginning of one, or a title."""
        return resolve(wanted, self.removed() if removed else self.summaries(), removed=removed)


def ensure_sample(works: WorkRows, shelf: Shelf, examples: ExampleRows, max_bytes: int) -> WorkSummary | None:
    """Store the sample work and its examples as they should be; None where the reader has removed the sample."""
    work = sample.read_novel(max_bytes=max_bytes)
    if works.is_removed(work.sha256):
        return None
    summary, _ = works.add(work)
    placed = sample.align(shelf.load(summary.id), sample.read_excerpts())
    if placed != examples.of_split(sample.SPLIT):
        examples.replace(sample.SPLIT, placed)
    return summary
