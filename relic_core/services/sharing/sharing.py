"""Searches that last: written for elsewhere, opened from elsewhere, kept with what they found."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from relic_core.domain import EVERYWHERE
from relic_core.domain.sharing import HeadHit, TopKSnapshot
from relic_core.formats import searches
from relic_core.formats.files import read_bytes, written_whole
from relic_core.services.asking import request_of
from relic_core.services.sharing import addresses, differences
from relic_core.services.sharing.comparing import compare
from relic_core.services.sharing.digests import edition_of, makers_of
from relic_core.services.sharing.then_and_now import then_and_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from relic_core.domain import Search, WorkHit
    from relic_core.domain.sharing import ModelFingerprints
    from relic_core.services.answers import SearchRequest, SearchResult
    from relic_core.services.sharing.addresses import Opened, OpenedPassage
    from relic_core.services.sharing.comparing import Comparison
    from relic_core.services.sharing.then_and_now import ThenAndNow
    from relic_core.wiring import App

LONG = 2_000
"""Characters of an address above which a letter or a messenger may cut it: a file is safer."""

_REMEMBERED = 1_000
"""Searches of which is known, without a look at the store, what is kept."""

FILE_NAME = "search.relic.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What can be given away of a search.

    - `short`: what an address of this store carries: the search's id and, in digests, what it was made with.
    - `code`: what an address carries that opens in any store with the work: the whole search.
    - `file`: the same as a file, for a code that is long.
    """

    short: dict[str, str]
    code: str
    file: bytes

    @property
    def long(self) -> bool:
        """Whether an address with the code is longer than every program takes."""
        return len(self.code) > LONG


class Sharing:
    """Gives searches away, takes them in, and keeps what they found."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._remembered: dict[str, tuple[tuple[str, tuple[str, str, str]], ...]] = {}
        self._lock = threading.Lock()

    def makers(self, request: SearchRequest) -> ModelFingerprints:
        """Name what would answer a request here and now."""
        return makers_of(self._app, request)

    def short(self, search_id: str, request: SearchRequest) -> dict[str, str]:
        """Give what an address of this store carries of a search."""
        return {"q": search_id, **differences.written(self.makers(request), request.retrievers)}

    def edition(self, work_id: str) -> str:
        """Give what an address carries of a work's edition: eight hex digits; empty where the work is not there."""
        return edition_of(self._app, work_id, EVERYWHERE)

    def share(self, search_id: str, request: SearchRequest) -> Shared:
        """Write a search for this store, for any other, and as a file."""
        shared = addresses.shared_of(self._app, request)
        return Shared(
            short={"q": search_id, **differences.written(shared.makers, request.retrievers)},
            code=searches.write_code(shared),
            file=searches.write_file(shared),
        )

    def code(self, search_id: str) -> str:
        """Write a search of the history for an address that opens anywhere. Raises NotFound where there is none."""
        return self.share(search_id, request_of(self._app.history.get(search_id))).code

    def save(self, search_id: str, path: Path) -> None:
        """Write a search of the history to a file.

        Raises NotFound: there is no such search.
        Raises StoreError: the file cannot be written.
        """
        shared = self.share(search_id, request_of(self._app.history.get(search_id)))
        with written_whole(path) as file:
            file.write(shared.file)

    def open_said(self, said: str) -> Opened:
        """Open the search of an address, with or without its beginning, or of the file that somebody names.

        Raises NotFound: there is no such file; and as `open_code`.
        Raises RelicError: as `open_code` and `open_file`.
        """
        code = parse_qs(urlsplit(said).query).get("search", [""])[-1]
        if code or searches.is_code(said):
            return self.open_code(code or said)
        return self.open_file(read_bytes(Path(said)), said)

    def kept(self, search: Search) -> tuple[tuple[datetime, TopKSnapshot], ...]:
        """List what is kept of what a search found, the oldest first."""
        return self._app.store.search_heads.of(search.id, length=search.length)

    def open_code(self, code: str) -> Opened:
        """Open the search that an address carries.

        Raises BadRequest: it cannot be read, or a number in it is out of range.
        Raises NotFound: what it was asked of is not in this library.
        """
        return addresses.fit(self._app, searches.read_code(code))

    def open_file(self, data: bytes, name: str) -> Opened:
        """Open the search that a file holds.

        Raises BadBenchmark: it is no such file, or was damaged or changed.
        Raises BadRequest, NotFound: as `open_code`.
        """
        return addresses.fit(self._app, searches.read_file(data, name))

    def open_passage(self, work_id: str, *, at: str, length: int, edition: str = "") -> OpenedPassage:
        """Open a passage that an address names: see `addresses.open_passage`."""
        return addresses.open_passage(self._app, work_id, at=at, length=length, edition=edition)

    def told(self, request: SearchRequest, given: Mapping[str, str]) -> tuple[str, ...]:
        """Say what differs from when an address was made, by the ``w`` and ``m`` that it carries.

        Raises BadRequest: they cannot be read.
        """
        edition, makers = given.get("w", ""), given.get("m", "")
        if not edition and not makers:
            return ()
        then = differences.read(edition, makers, request.retrievers)
        return addresses.told(self._app, request, then, since="this address was made")

    def remember(self, search_id: str, result: SearchResult) -> int:
        """Keep the first passages of each column, where what made them differs from the last kept.

        Nothing is kept while a column is still to come. Asked again with nothing changed it costs no look at the store.

        Returns: how many columns' passages were kept.

        Raises StoreError: the store cannot be written.
        """
        if any(column.pending or column.waiting for column in result.columns):
            return 0
        heads = self.heads(result)
        made = tuple((head.retriever, head.made_with) for head in heads)
        with self._lock:
            if self._remembered.get(search_id) == made:
                return 0
        kept = self._app.store.search_heads.add(search_id, heads)
        with self._lock:
            self._remembered[search_id] = made
            while len(self._remembered) > _REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return kept

    def then_and_now(self, search_id: str, *, at: str = "") -> ThenAndNow:
        """Hold what a search found against what it finds now: see `then_and_now`."""
        return then_and_now(self._app, search_id, at=at)

    def compare(self, search_id: str, retrievers: Sequence[str]) -> Comparison:
        """Hold what two retrievers find for the question of a search against one another: see `compare`.

        Raises NotFound: there is no such search.
        Raises RelicError: as `compare`.
        """
        return compare(self._app, request_of(self._app.history.get(search_id)), retrievers)

    def heads(self, result: SearchResult) -> tuple[TopKSnapshot, ...]:
        """Give the first passages of each column that has answered, with what made them."""
        makers = makers_of(self._app, result.request, result.work)
        return tuple(
            TopKSnapshot(
                retriever=column.retriever,
                length=result.request.length,
                edition=makers.edition,
                maker=makers.retrievers[column.retriever],
                version=makers.version,
                hits=tuple(_hit(each, result) for each in column.head),
            )
            for column in result.columns
            if column.answered
        )


def _hit(found: WorkHit, result: SearchResult) -> HeadHit:
    hit, start, end = found.hit, 0, 0
    if result.work is not None:
        start, end = result.work.sentences[hit.span.start].start, result.work.sentences[hit.span.end - 1].end
    return HeadHit(found.work_id, hit.span.start, hit.rank, hit.score, start, end)
