"""The catalogue as a shelf: which of its works are stored; adding works by their place, many of them by one job."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from relic_core.config import Settings
from relic_core.domain import Job, Work, WorkSummary
from relic_core.errors import (
    BadRequest,
    BadText,
    JobCancelled,
    NotFound,
    RelicError,
    SourceAway,
    SourceUnavailable,
    StoreReadOnly,
)
from relic_core.library import catalogue, folder
from relic_core.library.catalogue import CatalogueEntry, RelicSplit, entry_of
from relic_core.library.gutenberg import Downloads, Gate, Gutenberg, check_number, parse_number
from relic_core.ports import Progress
from relic_core.services.indexing import Preparing
from relic_core.services.works import Added, Works
from relic_core.store import locks

__all__ = ["Catalogue", "CatalogueEntry", "Item", "Origin", "RelicSplit", "Shelved", "Tally", "parse_number"]

Item = dict[str, Any]
"""What to add, in JSON: ``slug`` of the catalogue, ``gutenberg`` its number, ``path`` a file; at least one of them.
``title``, ``author``, ``translator`` and ``year`` stand over what the catalogue and the file say."""

Origin = Literal["stored", "folder", "gutenberg", "none"]

_DESCRIBED = ("title", "author", "translator", "year")
_NAMED = 5
"""Titles that a closing note names; of more it gives the number."""


@dataclass(frozen=True, slots=True)
class Shelved:
    """A work of the catalogue and where it can be had; where nowhere, the reader's own file is the only way in."""

    entry: CatalogueEntry
    work: WorkSummary | None
    origin: Origin
    path: Path | None


@dataclass(slots=True)
class Tally:
    """What adding several works came to; `failed`, `unprepared`: reason → titles."""

    added: list[Added] = field(default_factory=list)
    already: list[WorkSummary] = field(default_factory=list)
    failed: dict[str, list[str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    unprepared: dict[str, list[str]] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """How many could not be added."""
        return sum(map(len, self.failed.values()))

    def note(self, alone: str = "") -> str:
        """Say all of it in plain words; the reader has just read the title of the work that is `alone`."""
        added, already = [each.work.title for each in self.added], [work.title for work in self.already]
        if alone and alone in (*added, *already):
            sentences = ["Added."] if added else ["It was in the library already."]
        else:
            sentences = [
                *_counted(added, "has been added", "have been added"),
                *_counted(already, "was in the library already", "were there already"),
            ]
        sentences += [notice.removeprefix(f"{alone}: ") if alone else notice for notice in self.notices]
        sentences += self.not_prepared
        for reason, names in self.failed.items():
            sentences += [reason if names == [alone] else f"Not added: {', '.join(names)}. {reason}"]
        return " ".join(sentences)

    @property
    def not_prepared(self) -> list[str]:
        """What could not be made ready for searching, one sentence for each reason, and what to do about it."""
        return [
            f"Added, but the preparation of {', '.join(names)} could not be started: {reason} What is not prepared yet "
            "is when it is first searched."
            for reason, names in self.unprepared.items()
        ]


def _counted(titles: Sequence[str], one: str, many: str) -> list[str]:
    if len(titles) == 1:
        return [f"{titles[0]} {one}."]
    if not titles:
        return []
    return [f"{', '.join(titles)} {many}." if len(titles) <= _NAMED else f"{len(titles)} works {many}."]


class Catalogue:
    """The works RELiC was built from, and adding these and others; `library` comes before Project Gutenberg."""

    def __init__(
        self,
        works: Works,
        library: Path | None,
        start: Callable[..., Job],
        gutenberg: Callable[[], Gutenberg],
        preparing: Callable[[int], Preparing],
    ) -> None:
        self._works, self._library, self._start = works, library, start
        self._gutenberg, self._preparing = gutenberg, preparing

    # ---- the shelf --------------------------------------------------------------------------------------------------

    def shelf(self) -> tuple[Shelved, ...]:
        """List the works of the catalogue in its order, each with where it can be had."""
        stored = self._stored()
        return tuple(self._shelved(entry, stored.get(entry.slug)) for entry in catalogue.entries())

    def stored(self, slug: str, number: int | None = None) -> WorkSummary | None:
        """Find the stored work of an entry, or of a number of Project Gutenberg; None where there is none."""
        if slug:
            return self._stored().get(slug)
        if number is None:
            return None
        source = f"Project Gutenberg {number},"
        return next((work for work in self._works.summaries() if work.source.startswith(source)), None)

    def entry_of(self, work: WorkSummary | Work) -> CatalogueEntry | None:
        """Find the entry of a work; None where it has none."""
        return entry_of(work, self._library)

    def _stored(self) -> dict[str, WorkSummary]:
        return stored_works(self._works.summaries(), self._library)

    def _shelved(self, entry: CatalogueEntry, work: WorkSummary | None) -> Shelved:
        path = self._path(entry.slug)
        origin: Origin = "stored" if work else "folder" if path else "gutenberg" if entry.gutenberg else "none"
        return Shelved(entry=entry, work=work, origin=origin, path=path)

    def _path(self, slug: str) -> Path | None:
        if self._library is None:
            return None
        path = self._library / f"{slug}.txt"
        return path if stat.S_ISREG(folder.mode_of(path)) and path.stat().st_size else None

    # ---- adding in the background -----------------------------------------------------------------------------------

    def add(self, slugs: Sequence[str], *, prepare: bool = True) -> Job:
        """Add works of the catalogue, by slug or title, by one job; asked again, it goes on where it stopped.

        A file of the library folder comes before Project Gutenberg. What is stored is passed over, and what can be
        had nowhere is named in the job's closing note. Without `prepare` each is prepared when it is first searched.
        """
        items = self.items(slugs)
        entry = catalogue.find(items[0]["slug"])
        title = f"Adding {entry.title}" if entry and len(items) == 1 else f"Adding {len(items)} works"
        subject = "\n".join(sorted(item["slug"] for item in items))
        return self._start("fetch", title=title, subject=subject, arguments={"items": items, "prepare": prepare})

    def add_gutenberg(self, number: int) -> Job:
        """Fetch any book of Project Gutenberg by its number and add it, by a job. Raises BadRequest: no such number."""
        item = self.item_of_number(number)
        entry = catalogue.find_number(number)
        title = f"Fetching no. {number} ({entry.title if entry else 'Project Gutenberg'})"
        return self._start("fetch", title=title, subject=f"gutenberg:{number}", arguments={"items": [item]})

    def items(self, slugs: Sequence[str]) -> list[Item]:
        """Say where each work would be taken from; a work named twice counts once."""
        entries = {entry.slug: entry for entry in catalogue.entries()}
        wanted = list(dict.fromkeys(catalogue.slug_of(named) for named in slugs))
        if not wanted:
            raise BadRequest("No work was named. Name one or more of the catalogue, or a whole split.")
        items = []
        for slug in wanted:
            path = self._path(slug)
            place = {"path": str(path)} if path else {"gutenberg": entries[slug].gutenberg}
            items.append({"slug": slug, **{name: value for name, value in place.items() if value}})
        return items

    def item_of_number(self, number: int) -> Item:
        """Say what is known of a number of Project Gutenberg. Raises BadRequest: no such number can be."""
        check_number(number)
        entry = catalogue.find_number(number)
        return {"gutenberg": number, **({"slug": entry.slug} if entry else {})}

    # ---- adding here and now ----------------------------------------------------------------------------------------

    def fetch(self, items: Sequence[Item], progress: Progress, *, prepare: Preparing | None = None) -> Tally:
        """Add works from where they are; what is stored is passed over, and one failure does not stop the rest.

        What `progress` raises ends the work, and what was added stays.
        """
        tally = Tally()
        gutenberg, away = self._gutenberg(), 0
        for done, item in enumerate(items):
            name = _name_of(item)

            def say(note: str, *, done: int = done, name: str = name) -> None:
                progress(done, len(items), f"{name}: {note}" if note else name)

            say("")
            try:
                work = self.stored(item.get("slug", ""), item.get("gutenberg"))
                if work is not None:
                    tally.already.append(work)
                else:
                    added, notice = self._add(item, gutenberg, say, offline=away > 1)
                    away = away if item.get("path") else 0
                    work = added.work
                    (tally.already.append(work) if added.already else tally.added.append(added))
                    tally.notices += [f"{work.title}: {sentence}" for sentence in (notice, added.notice) if sentence]
            except (JobCancelled, StoreReadOnly):
                raise  # nothing more can be added
            except RelicError as error:
                away += isinstance(error, SourceAway)
                tally.failed.setdefault(str(error), []).append(name)
                continue
            try:
                if prepare is not None:
                    prepare.add(work.id)
            except JobCancelled:
                raise
            except RelicError as error:  # it stays added
                tally.unprepared.setdefault(str(error), []).append(work.title)
        progress(len(items), len(items), "")
        return tally

    def _add(self, item: Item, gutenberg: Gutenberg, say: Callable[[str], None], *, offline: bool) -> tuple[Added, str]:
        """Add one work; gives with it what its source has to say. The mirror is not asked where it is ``offline``."""
        entry = catalogue.find(item.get("slug", ""))
        described = {} if entry is None else {name: getattr(entry, name) for name in _DESCRIBED}
        described |= {name: item[name] for name in _DESCRIBED if item.get(name)}
        if item.get("path"):
            return self._works.add(Path(item["path"]), **described), ""
        if not item.get("gutenberg"):
            raise NotFound(_not_to_be_had(entry))
        book = gutenberg.fetch(item["gutenberg"], say, offline=offline)
        name = f"Project Gutenberg {book.number}.txt"
        return self._works.add(book.data, name=name, came_from=book.source, **described), book.notice

    def run_fetch(self, arguments: Mapping[str, Any], progress: Progress) -> str:
        """Do a "fetch" job: add ``items``, and begin to prepare them unless ``prepare`` says no."""
        items: list[Item] = arguments["items"]
        tally = self._fetch_and_prepare(items, progress, wanted=arguments.get("prepare", True))
        note = tally.note(_name_of(items[0]) if len(items) == 1 else "")
        if tally.failed and not (tally.added or tally.already):
            raise SourceUnavailable(note)
        return note

    def run_add(self, arguments: Mapping[str, Any], progress: Progress) -> str:
        """Do an "add" job: store the files ``paths`` as works, begin to prepare them; one that fails stops no other."""
        items: list[Item] = [{"path": path} for path in arguments["paths"]]
        tally = self._fetch_and_prepare(items, progress, wanted=True)
        failed: list[str] = []
        for reason, names in tally.failed.items():
            failed += (f"{name}: {reason}" for name in names)
        if not (tally.added or tally.already):
            raise BadText(" ".join(failed))
        sentences = [f"{added.work.title} has been added." for added in tally.added]
        sentences += [f"{work.title} is in the library already." for work in tally.already]
        return " ".join([*sentences, *tally.notices, *tally.not_prepared, *failed])

    def _fetch_and_prepare(self, items: Sequence[Item], progress: Progress, *, wanted: bool) -> Tally:
        """Add works and, where that is wanted, have them prepared; what was added before a stop is prepared too."""
        prepare = self._preparing(len(items)) if wanted else None
        try:
            tally = self.fetch(items, progress, prepare=prepare)
        except RelicError:
            if prepare is not None:
                with contextlib.suppress(RelicError):  # what stopped the adding is reported
                    prepare.start_waiting()
            raise
        if prepare is not None:
            try:
                prepare.start_waiting()
            except RelicError as error:
                tally.unprepared.setdefault(str(error), []).append("the works that still waited")
        return tally


def stored_works(works: Iterable[WorkSummary], library: Path | None) -> dict[str, WorkSummary]:
    """Map slugs of the catalogue to works; of several editions the one that was added first."""
    found: dict[str, WorkSummary] = {}
    for work in sorted(works, key=lambda work: work.added):
        entry = entry_of(work, library)
        if entry is not None:
            found.setdefault(entry.slug, work)
    return found


def make_gutenberg(settings: Settings) -> Gutenberg:
    """Make the mirror that the settings name; processes that share the data folder share its pauses."""

    def turn(while_waiting: Callable[[], None]) -> AbstractContextManager[None]:
        return locks.held(settings.downloads / "turn.lock", while_waiting=while_waiting)

    downloads = Downloads(settings.downloads)
    gate = Gate(downloads, settings.gutenberg_pause, turn)
    return Gutenberg(settings.gutenberg, downloads, gate, max_bytes=settings.max_text_bytes)


def _name_of(item: Mapping[str, Any]) -> str:
    entry = catalogue.find(item.get("slug", ""))
    if entry is not None:
        return entry.title
    return Path(item["path"]).name if item.get("path") else f"Project Gutenberg {item.get('gutenberg')}"


def _not_to_be_had(entry: CatalogueEntry | None) -> str:
    if entry is not None and entry.free_in_us is not None:
        return (
            f"It is in copyright in the United States until {entry.last_day}, so Project Gutenberg does not have it. "
            "If you have a copy of your own, upload it."
        )
    return "No number of Project Gutenberg is known for it here. Look it up and add the number, or upload a copy."
