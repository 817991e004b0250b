"""Adding works by their place: books of Project Gutenberg, files; many of them by one job."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relic_core.errors import BadText, JobCancelled, NotFound, RelicError, SourceAway, SourceUnavailable, StoreReadOnly
from relic_core.library import catalogue
from relic_core.library.gutenberg import Downloads, Gate, Gutenberg
from relic_core.services.preparing import Preparing
from relic_core.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from relic_core.config import Settings
    from relic_core.domain import WorkSummary
    from relic_core.library.catalogue import CatalogueEntry
    from relic_core.ports import Progress
    from relic_core.services.adding import Added
    from relic_core.wiring import App

Item = dict[str, Any]
"""What to add, in JSON: ``slug`` of the catalogue, ``gutenberg`` its number, ``path`` a file; at least one of them.
``title``, ``author``, ``translator`` and ``year`` stand over what the catalogue and the file say."""

_DESCRIBED = ("title", "author", "translator", "year")
_NAMED = 5
"""Titles that a closing note names; of more it gives the number."""


@dataclass(slots=True)
class Tally:
    """What adding several works came to.

    - `added`: works that are new, or back.
    - `notices`: what the reader should know of those added.
    - `unprepared`: reason → works that were added, or were there, and whose preparation could not be begun for it.
    """

    added: list[Added] = field(default_factory=list)
    already: list[WorkSummary] = field(default_factory=list)
    failed: dict[str, list[str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    unprepared: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, name: str, reason: str) -> None:
        """Note a failure; those of one reason are told together."""
        self.failed.setdefault(reason, []).append(name)

    @property
    def failures(self) -> int:
        """How many could not be added."""
        return sum(map(len, self.failed.values()))

    @property
    def note(self) -> str:
        """All of it in plain words."""
        return self.told()

    def told(self, alone: str = "") -> str:
        """Say all of it in plain words, without repeating a title that stands above it.

        - `alone`: the only work that was to be added, where the reader has just been told its title.
        """
        added, already = [each.work.title for each in self.added], [work.title for work in self.already]
        if alone and alone in (*added, *already):
            said = ["Added."] if added else ["It was in the library already."]
        else:
            said = [
                *_counted(added, "has been added", "have been added"),
                *_counted(already, "was in the library already", "were there already"),
            ]
        said += [notice.removeprefix(f"{alone}: ") if alone else notice for notice in self.notices]
        said += self.not_prepared
        for reason, names in self.failed.items():
            said += [reason if names == [alone] else f"Not added: {', '.join(names)}. {reason}"]
        return " ".join(said)

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


def make_gutenberg(settings: Settings) -> Gutenberg:
    """Make the mirror that the settings name; processes that share the data folder share its pauses."""

    def turn(while_waiting: Callable[[], None]) -> AbstractContextManager[None]:
        try:
            settings.downloads.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreReadOnly(
                f"The folder of downloads {settings.downloads} cannot be made ({error.strerror}). Make its place "
                "writable or choose another data folder with RELIC_DATA."
            ) from error
        return locks.held(settings.downloads / "turn.lock", while_waiting=while_waiting)

    downloads = Downloads(settings.downloads)
    gate = Gate(downloads, settings.gutenberg_pause, turn)
    return Gutenberg(settings.gutenberg, downloads, gate, max_bytes=settings.max_text_bytes)


def fetch(
    app: App,
    items: Sequence[Item],
    progress: Progress,
    *,
    prepare: Preparing | None = None,
    gutenberg: Gutenberg | None = None,
) -> Tally:
    """Add works from where they are; what is stored is passed over, and one failure does not stop the rest.

    - `app`: where to.
    - `progress`: told which it has come to; what it raises ends the work, and what was added stays.
    - `prepare`: given each work that was added, or was there.
    - `gutenberg`: in place of the mirror that the settings name.
    """
    tally = Tally()
    fetcher = _Fetcher(app, make_gutenberg(app.settings) if gutenberg is None else gutenberg)
    for done, item in enumerate(items):
        name = _name_of(item)

        def say(note: str, *, done: int = done, name: str = name) -> None:
            progress(done, len(items), f"{name}: {note}" if note else name)

        say("")
        try:
            work = fetcher.stored(item)
            if work is not None:
                tally.already.append(work)
            else:
                added, notice = fetcher.add(item, say)
                work = added.work
                (tally.already.append(work) if added.already else tally.added.append(added))
                tally.notices += [f"{work.title}: {told}" for told in (notice, added.notice) if told]
        except (JobCancelled, StoreReadOnly):
            raise  # nothing more can be added
        except RelicError as error:
            tally.fail(name, str(error))
            continue
        if prepare is not None:
            _prepare(work, prepare, tally)
    progress(len(items), len(items), "")
    return tally


def _prepare(work: WorkSummary, prepare: Preparing, tally: Tally) -> None:
    """Have a work prepared; it stays added where that cannot be begun."""
    try:
        prepare.add(work.id)
    except JobCancelled:
        raise
    except RelicError as error:
        tally.unprepared.setdefault(str(error), []).append(work.title)


class _Fetcher:
    """Adds one item after another, and remembers that the mirror does not answer."""

    def __init__(self, app: App, gutenberg: Gutenberg) -> None:
        self._app = app
        self._gutenberg = gutenberg
        self._away = 0

    def stored(self, item: Item) -> WorkSummary | None:
        return self._app.catalogue.stored(item.get("slug", ""), item.get("gutenberg"))

    def add(self, item: Item, say: Callable[[str], None]) -> tuple[Added, str]:
        entry = catalogue.find(item.get("slug", ""))
        described = _description(entry) | {name: item[name] for name in _DESCRIBED if item.get(name)}
        if item.get("path"):
            return self._app.works.add(Path(item["path"]), **described), ""
        if not item.get("gutenberg"):
            raise NotFound(_not_to_be_had(entry))
        try:
            book = self._gutenberg.fetch(item["gutenberg"], say, offline=self._away > 1)
            self._away = 0
        except SourceAway:
            self._away += 1
            raise
        added = self._app.works.add(
            book.data, name=f"Project Gutenberg {book.number}.txt", came_from=book.source, **described
        )
        return added, book.notice


def _description(entry: CatalogueEntry | None) -> dict[str, Any]:
    return {} if entry is None else {name: getattr(entry, name) for name in _DESCRIBED}


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


def run_fetch(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "fetch" job: add works of the catalogue, or books by their numbers.

    - `app`: where to.
    - `arguments`: ``items``, a list of `Item`; ``prepare``, whether to begin to prepare them, which is done where it is
      not said.

    Raises SourceUnavailable: none of them could be added; the message says why.
    """
    items: list[Item] = arguments["items"]
    tally = _fetch_and_prepare(app, items, progress, wanted=arguments.get("prepare", True))
    note = tally.told(_name_of(items[0]) if len(items) == 1 else "")
    if tally.failed and not (tally.added or tally.already):
        raise SourceUnavailable(note)
    return note


def run_add(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do an "add" job: store files as works and begin to prepare them; one that fails does not stop the rest.

    - `app`: where to.
    - `arguments`: ``paths``, a list of files.
    - `progress`: told which file it has come to.

    Raises BadText: none of the files could be added; the message says why for each.
    """
    items: list[Item] = [{"path": path} for path in arguments["paths"]]
    tally = _fetch_and_prepare(app, items, progress, wanted=True)
    failed = [f"{name}: {reason}" for reason, names in tally.failed.items() for name in names]
    if not (tally.added or tally.already):
        raise BadText(" ".join(failed))
    said = [f"{added.work.title} has been added." for added in tally.added]
    said += [f"{work.title} is in the library already." for work in tally.already]
    return " ".join([*said, *tally.notices, *tally.not_prepared, *failed])


def _fetch_and_prepare(app: App, items: Sequence[Item], progress: Progress, *, wanted: bool) -> Tally:
    """Add works and, where that is wanted, have them prepared; what was added before a stop is prepared too."""
    prepare = Preparing(app, len(items)) if wanted else None
    try:
        tally = fetch(app, items, progress, prepare=prepare)
    except RelicError:
        if prepare is not None:
            with contextlib.suppress(RelicError):  # what stopped the adding is told
                prepare.hand_over()
        raise
    if prepare is not None:
        try:
            prepare.hand_over()
        except RelicError as error:
            tally.unprepared.setdefault(str(error), []).append("the works that still waited")
    return tally
