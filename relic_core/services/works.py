"""Works: adding, listing, loading, removing; finding one by what a person calls it."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, NotFound
from relic_core.library import folder, sample
from relic_core.library.reading import read_edition
from relic_core.services.adding import Added, Description, notice_of
from relic_core.services.naming import resolve
from relic_core.services.previews import make_preview
from relic_core.store.shelf import Shelf
from relic_core.text.decoding import file_name, harmless
from relic_core.text.metadata import Metadata
from relic_core.text.reading import read_work

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import EditionDetails, Work, WorkFilter, WorkSummary, WorkVersion
    from relic_core.services.previews import Preview
    from relic_core.wiring import App
_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True)
class Available:
    """A file of the library folder.

    - `path`: where it is.
    - `size`: in bytes.
    - `work_id`: the stored work with its text; empty where there is none.
    """

    path: Path
    title: str
    size: int
    work_id: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name


class Works:
    """The works of an app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._shelf = Shelf(app.store)

    def add(
        self,
        source: Path | bytes,
        *,
        name: str = "",
        title: str = "",
        author: str = "",
        translator: str = "",
        year: int | None = None,
        came_from: str = "",
    ) -> Added:
        """Read a text and store it as a work, unless its text is stored already.

        - `source`: a file, or what one holds.
        - `name`: the file's name, for `bytes`.
        - `title`, `author`, `translator`, `year`: where given, they stand over what the file says of itself, and
          correct what is stored of its text. Of a file of the library folder that is named for a work of the catalogue,
          the catalogue says what is not given.
        - `came_from`: where the text came from, in words; the file's name or path where not given.

        Raises BadText: it is empty, too large, or no text.
        Raises NotFound, BadRequest: there is no such file, or it is a folder; a year that cannot be.
        """
        told = Description.of(title=title, author=author, translator=translator, year=year)
        work, notice, details = self._read(source, told, name=name, came_from=came_from)
        summary, outcome = self._app.store.works.add(work, given=told.given)
        if outcome == "added":
            self._app.citing.learn(summary.id, details)
        return Added(summary, outcome, notice=notice)

    def preview(
        self,
        source: Path | bytes,
        *,
        name: str = "",
        title: str = "",
        author: str = "",
        translator: str = "",
        year: int | None = None,
    ) -> Preview:
        """Read a text as `add` would, and store nothing; parameters and errors are those of `add`."""
        told = Description.of(title=title, author=author, translator=translator, year=year)
        work, notice, _ = self._read(source, told, name=name)
        return make_preview(work, summaries=self.summaries(), removed=self.removed(), notice=notice)

    def _read(
        self, source: Path | bytes, told: Description, *, name: str, came_from: str = ""
    ) -> tuple[Work, str, EditionDetails]:
        """Read a work; give with it what the reader should know, and what its file says of the edition."""
        max_bytes = self._app.settings.max_text_bytes
        if isinstance(source, Path):
            data, name = folder.read_bytes(source, max_bytes=max_bytes), source.name
            told = told.over(self._app.catalogue.entry_of_file(source))
            came_from = came_from or harmless(str(source), longest=_LONGEST_PATH)
        else:
            data = source
        edition = read_edition(
            data,
            name=file_name(name),
            said=Metadata(told.title, told.author, told.translator, told.year),
            source=came_from or file_name(name),
            max_bytes=max_bytes,
        )
        work = edition.work
        entry = self._app.catalogue.entry_of(work) if work.year is None else None
        if entry is not None:  # plain text seldom says when it first appeared, and the shelf knows
            work = replace(work, year=entry.year)
        return work, notice_of(work, edition.missing), edition.details

    def find_file(self, given: str) -> Path:
        """Find the file a person means: a path, or the name of a file of the library folder, with or without its end.

        Nothing is checked of a path that is neither; reading it tells what is wrong.

        Raises NotFound: it begins with the home folder of a user whom there is not.
        """
        try:
            path = Path(given).expanduser()
        except RuntimeError:
            raise NotFound(f"There is no home folder for '{given}'. Write the path in full.") from None
        library = self._app.settings.library
        if library is not None and not folder.mode_of(path):
            for candidate in (library / given, *(library / f"{given}{suffix}" for suffix in folder.SUFFIXES)):
                if stat.S_ISREG(folder.mode_of(candidate)):
                    return candidate
        return path

    def find_files(self, given: str) -> tuple[Path, ...]:
        """Find the files a person means: the one of `find_file`, or where that is a folder, every text in it.

        Raises NotFound, BadRequest: as `find_file` and `texts_in`.
        """
        path = self.find_file(given)
        return self.texts_in(path) if stat.S_ISDIR(folder.mode_of(path)) else (path,)

    def texts_in(self, path: Path) -> tuple[Path, ...]:
        """List the .txt, .epub and .xml files of a folder by name.

        Raises NotFound, BadRequest: the folder is not there, or is none, or may not be read, or has no such file.
        """
        paths = tuple(text.path for text in folder.list_texts(path))
        if not paths:
            raise NotFound(f"The folder {path} has no .txt file, and no .epub or .xml.")
        return paths

    def available(self) -> tuple[Available, ...]:
        """List the files of the library folder and which of them are stored; empty where no folder is set.

        Raises NotFound, BadRequest: the folder of RELIC_LIBRARY is not there, or is none, or may not be read.
        """
        settings = self._app.settings
        if settings.library is None:
            return ()
        stored = {summary.sha256: summary.id for summary in self.summaries()}
        found = []
        for text in folder.list_texts(settings.library):
            sha256 = folder.text_sha256(text.path, modified=text.modified, max_bytes=settings.max_text_bytes)
            entry = self._app.catalogue.entry_of_file(text.path)
            title = entry.title if entry else text.title
            found.append(Available(path=text.path, title=title, size=text.size, work_id=stored.get(sha256, "")))
        return tuple(found)

    def ensure_sample(self) -> WorkSummary | None:
        """Store the sample work and its examples, unless they are stored as they should be.

        Returns: none where the reader has removed the sample: it stays away until its text is added again.
        """
        work = read_work(
            sample.NOVEL.read_bytes(),
            name=sample.NOVEL.name,
            title=sample.TITLE,
            author=sample.AUTHOR,
            year=sample.YEAR,
            source=sample.SOURCE,
            max_bytes=self._app.settings.max_text_bytes,
        )
        if self._app.store.works.is_removed(work.sha256):
            return None
        summary, _ = self._app.store.works.add(work)
        self._app.examples.ensure_sample(self.load(summary.id))
        return summary

    def summaries(self) -> tuple[WorkSummary, ...]:
        """List the stored works by title."""
        return self._app.store.works.summaries()

    def removed(self) -> tuple[WorkSummary, ...]:
        """List the works that were removed and can be put back, the last removed first."""
        return self._app.store.works.removed()

    def described(self, work_id: str) -> WorkSummary:
        """Say which edition an id means, also of a work that was removed: searches and notes outlive it.

        Raises NotFound: there never was such a work.
        """
        return self._app.store.works.described(work_id)

    def describe(self, work_id: str, *, title: str, author: str, translator: str, year: int | None) -> WorkSummary:
        """Correct what is said of a work; its text, its id, its searches and its indexes stay.

        Raises BadRequest: the title is empty, something is too long, or the year cannot be.
        Raises NotFound: no stored work has that id.
        """
        told = Description.of(title=title, author=author, translator=translator, year=year)
        if not told.title:
            raise BadRequest("A work needs a title. Write one; the author, the translator and the year may stay empty.")
        return self._app.store.works.describe(
            work_id, title=told.title, author=told.author, translator=told.translator, year=told.year
        )

    def load(self, work_id: str) -> Work:
        """Return a work; the last ones stay in memory, as many as their texts' weight allows.

        Raises NotFound: no stored work has that id.
        """
        return self._shelf.load(work_id)

    def load_all(self, work_ids: Iterable[str]) -> dict[str, Work]:
        """Return several works by id, twice as fast as one by one; those that are not stored are left out."""
        return self._shelf.load_all(work_ids)

    def imprints(self) -> dict[str, WorkVersion]:
        """Give what names the indexes of every stored work, by its id; none is loaded for it."""
        return self._shelf.standing().imprints

    def scope(self, narrowing: WorkFilter) -> tuple[WorkSummary, ...]:
        """List the stored works that a narrowing admits, by title."""
        return tuple(summary for summary in self._shelf.standing().summaries if narrowing.admits(summary))

    def remove(self, work_id: str) -> WorkSummary:
        """Hide a work; `restore` undoes it.

        Raises NotFound: no stored work has that id.
        """
        return self._app.store.works.remove(work_id)

    def restore(self, work_id: str) -> WorkSummary:
        """Undo `remove`.

        Raises NotFound: there never was such a work.
        """
        return self._app.store.works.restore(work_id)

    def resolve(self, said: str, *, removed: bool = False) -> WorkSummary:
        """Find the stored work, or the removed one, that a person means by an id, the beginning of one, or a title.

        Raises NotFound: none fits; the message names the nearest.
        Raises BadRequest: several fit; the message names them.
        """
        return resolve(said, self.removed() if removed else self.summaries(), removed=removed)
