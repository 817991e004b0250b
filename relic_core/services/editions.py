"""Editions: what is known of a stored work, its numbers, its source, what was set aside, its indexes, its searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from relic_core.caching import LRUCache
from relic_core.domain import Search, WorkSummary
from relic_core.errors import NotFound
from relic_core.library.catalogue import CatalogueEntry, entry_of
from relic_core.library.novel import Novel, Stretch, novel
from relic_core.library.previews import Numbers, count
from relic_core.services.indexing import Built, Indexes
from relic_core.services.works import Works

__all__ = ["Editions", "Facts", "Novel", "Numbers", "Stretch"]

_COUNTED = 8
"""Works whose numbers stay in memory: counting War and Peace takes about half a second."""
_SEARCHES = 500
"""Searches in a work that are listed, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a stored edition.

    - `missing`: retrievers it has still to be prepared for.
    - `foreign`: that the models read English, where it is in another language.
    """

    summary: WorkSummary
    format: str
    segmenter: str
    numbers: Numbers
    novel: Novel
    indexes: tuple[Built, ...]
    missing: tuple[str, ...]
    foreign: str
    entry: CatalogueEntry | None
    searches: tuple[Search, ...]


class Editions:
    """What is known of stored works; files of the folder `library` are named for works of the catalogue."""

    def __init__(
        self, works: Works, indexes: Indexes, asked: Callable[..., tuple[tuple[Search, ...], int]], library: Path | None
    ) -> None:
        self._works, self._indexes, self._asked, self._library = works, indexes, asked, library
        self._counted = LRUCache[Numbers](_COUNTED)
        self._novels = LRUCache[Novel](_COUNTED)

    def facts(self, work_id: str, *, person: str = "") -> Facts:
        """Gather what is known of a stored work."""
        work = self._works.load(work_id)
        summary = next((each for each in self._works.summaries() if each.id == work_id), None)
        if summary is None:
            raise NotFound(f"{work.title} ({work_id}) was taken out of the library just now. It can be put back there.")
        return Facts(
            summary=summary,
            format=work.format,
            segmenter=work.segmenter,
            numbers=self._counted.get(work.fingerprint, lambda: count(work)),
            novel=self._novels.get(work.fingerprint, lambda: novel(work)),
            indexes=self._indexes.built(work_id),
            missing=self._indexes.missing(work_id),
            foreign=self._works.foreign(work_id),
            entry=entry_of(summary, self._library),
            searches=self._asked(work_id=work_id, person=person, limit=_SEARCHES)[0],
        )
