"""The catalogue as a shelf: which of its works are stored, and getting the others."""

from __future__ import annotations

import difflib
import re
import stat
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from relic_core.errors import BadRequest
from relic_core.library import catalogue, folder
from relic_core.library.catalogue import CatalogueEntry, Split
from relic_core.library.gutenberg import check_number, parse_number
from relic_core.services import fetching

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.domain import Job, Work, WorkSummary
    from relic_core.ports import Progress
    from relic_core.services.fetching import Item, Tally
    from relic_core.wiring import App

__all__ = ["Catalogue", "CatalogueEntry", "Origin", "Shelved", "Split", "parse_number"]

Origin = Literal["stored", "folder", "gutenberg", "none"]

_FROM_GUTENBERG = re.compile(r"Project Gutenberg (\d+),")


@dataclass(frozen=True, slots=True)
class Shelved:
    """A work of the catalogue and where it can be had.

    - `work`: the stored work; None where it is not stored.
    - `origin`: it is stored; or the library folder has it; or Project Gutenberg has; or neither: the reader's own file
      is the only way in.
    """

    entry: CatalogueEntry
    work: WorkSummary | None
    origin: Origin
    path: Path | None


class Catalogue:
    """The catalogue of an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def shelf(self) -> tuple[Shelved, ...]:
        """List the works of the catalogue in its order, each with where it can be had."""
        stored = self._stored()
        return tuple(self._shelved(entry, stored.get(entry.slug)) for entry in catalogue.entries())

    def add(self, slugs: Sequence[str], *, prepare: bool = True) -> Job:
        """Add works of the catalogue in the background, by one job; asked again, it goes on where it stopped.

        A file of the library folder stands before Project Gutenberg. What is stored is passed over, and what can be
        had nowhere is told in the job's closing note.

        - `slugs`: which: by slug or by title.
        - `prepare`: prepare them for searching too; else each is prepared when it is first searched.

        Raises BadRequest: a slug that is not in the catalogue, or none at all.
        """
        items = self.items(slugs)
        entry = catalogue.find(items[0]["slug"])
        title = f"Adding {entry.title}" if entry and len(items) == 1 else f"Adding {len(items)} works"
        subject = "\n".join(sorted(item["slug"] for item in items))
        arguments = {"items": items, "prepare": prepare}
        return self._app.jobs.start("fetch", title=title, subject=subject, arguments=arguments)

    def add_gutenberg(self, number: int) -> Job:
        """Fetch any book of Project Gutenberg by its number and add it, in the background.

        Raises BadRequest: no such number can be.
        """
        item = self.item_of_number(number)
        entry = catalogue.find_number(number)
        title = f"Fetching no. {number} ({entry.title if entry else 'Project Gutenberg'})"
        return self._app.jobs.start("fetch", title=title, subject=f"gutenberg:{number}", arguments={"items": [item]})

    def fetch(self, items: Sequence[Item], progress: Progress) -> Tally:
        """Add works here and now; as `add`, but without preparing them."""
        return fetching.fetch(self._app, items, progress)

    def items(self, slugs: Sequence[str]) -> list[Item]:
        """Say where each work would be taken from, as `fetching.fetch` wants it; a work named twice counts once.

        Raises BadRequest: what is neither slug nor title of a work in the catalogue; or nothing was named.
        """
        entries = {entry.slug: entry for entry in catalogue.entries()}
        wanted = list(dict.fromkeys(_slug(named) for named in slugs))
        if not wanted:
            raise BadRequest("No work was named. Name one or more of the catalogue, or a whole split.")
        items = []
        for slug in wanted:
            path = self._path(slug)
            place = {"path": str(path)} if path else {"gutenberg": entries[slug].gutenberg}
            items.append({"slug": slug, **{name: value for name, value in place.items() if value}})
        return items

    def item_of_number(self, number: int) -> Item:
        """Say what is known of a number, as `fetching.fetch` wants it.

        Raises BadRequest: no such number can be.
        """
        check_number(number)
        entry = catalogue.find_number(number)
        return {"gutenberg": number, **({"slug": entry.slug} if entry else {})}

    def entry_of(self, work: WorkSummary | Work) -> CatalogueEntry | None:
        """Find the entry of a work by where it came from, else by its title and author; None where it has none.

        Anybody may call a file emma.txt. In the library folder the name is an agreement; elsewhere it says something
        only together with the author, and of a work without an author nothing is known.
        """
        by_number = _FROM_GUTENBERG.match(work.source)
        if by_number and (entry := catalogue.find_number(int(by_number[1]))):
            return entry
        path = PurePath(work.source)
        entry = catalogue.find(path.stem) if path.suffix in folder.SUFFIXES else None
        if entry is not None and path.parent == self._app.settings.library:
            return entry
        if not work.author:
            return None
        if entry is not None and catalogue.same_author(work.author, entry.author):
            return entry
        return catalogue.find_named(work.title, work.author)

    def entry_of_file(self, path: Path) -> CatalogueEntry | None:
        """Find the entry that a file of the library folder is named for; None for any other file."""
        library = self._app.settings.library
        if library is None or path.suffix.lower() not in folder.SUFFIXES:
            return None
        try:
            agreed = path.parent.resolve() == library.resolve()
        except (OSError, RuntimeError, ValueError):
            return None  # reading it tells what is wrong
        return catalogue.find(path.stem) if agreed else None

    def stored(self, slug: str, number: int | None) -> WorkSummary | None:
        """Find the stored work of an entry, or of a number of Project Gutenberg; None where there is none."""
        if slug:
            return self._stored().get(slug)
        if number is None:
            return None
        source = f"Project Gutenberg {number},"
        return next((work for work in self._app.works.summaries() if work.source.startswith(source)), None)

    def _stored(self) -> dict[str, WorkSummary]:
        """Map slugs to stored works; of several editions the one that was added first."""
        found: dict[str, WorkSummary] = {}
        for work in sorted(self._app.works.summaries(), key=lambda work: work.added):
            entry = self.entry_of(work)
            if entry is not None:
                found.setdefault(entry.slug, work)
        return found

    def _shelved(self, entry: CatalogueEntry, work: WorkSummary | None) -> Shelved:
        path = self._path(entry.slug)
        origin: Origin = "stored" if work else "folder" if path else "gutenberg" if entry.gutenberg else "none"
        return Shelved(entry=entry, work=work, origin=origin, path=path)

    def _path(self, slug: str) -> Path | None:
        """Give the file of the library folder; one without a byte is none."""
        library = self._app.settings.library
        if library is None:
            return None
        path = library / f"{slug}.txt"
        return path if stat.S_ISREG(folder.mode_of(path)) and path.stat().st_size else None


def _slug(named: str) -> str:
    """Give the slug of the work that a slug or a title names.

    >>> _slug("The Scarlet Letter"), _slug("emma")
    ('the_scarlet_letter', 'emma')

    Raises BadRequest: none is called that; the message names the nearest.
    """
    if entry := catalogue.find(named) or catalogue.find_named(named):
        return entry.slug
    called = {name.casefold(): entry.slug for entry in catalogue.entries() for name in (entry.slug, entry.title)}
    near = dict.fromkeys(called[name] for name in difflib.get_close_matches(named.casefold(), called, n=4))
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise BadRequest(
        f"There is no work of the catalogue called '{named}'.{hint} `python -m relic_core catalogue` lists the "
        f"{len(catalogue.entries())} works by name and title."
    )
