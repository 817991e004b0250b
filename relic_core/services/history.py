"""The history of searches, each with a short id for permalinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import Search
    from relic_core.services.answers import SearchRequest
    from relic_core.wiring import App


class History:
    """What was asked, in order."""

    def __init__(self, app: App) -> None:
        self._app = app

    def keep(self, request: SearchRequest, *, made_with: str = "", person: str = "") -> Search:
        """Add a search to the history; the same question has the same id every time.

        - `made_with`: what answered, as in `relic_core.domain.Search`.
        - `person`: who asked, where people sign in.
        """
        return self._app.store.searches.add(
            request.work_id,
            request.claim_text,
            length=request.length,
            retrievers=request.retrievers,
            results=request.results,
            chapters=request.chapters,
            narrowing=request.narrowing,
            like=request.like,
            made_with=made_with,
            person=person,
        )

    def get(self, search_id: str) -> Search:
        """Return the latest search of an id.

        Raises NotFound: this store has none.
        """
        return self._app.store.searches.get(search_id.strip().lower())

    def recent(self, limit: int = 20) -> tuple[Search, ...]:
        """List the last questions, newest first, each once."""
        return self._app.store.searches.recent(limit)

    def asked(
        self, *, words: str = "", work_id: str | None = None, person: str = "", limit: int = 50, skip: int = 0
    ) -> tuple[tuple[Search, ...], int]:
        """List what somebody asked, newest first, each question once, and say how many there are.

        - `words`: only those whose claim holds these; all where empty.
        - `work_id`: only those of a work; of the whole library where empty.
        - `person`: who asked; empty where nobody signs in.
        - `limit`, `skip`: how many, after how many.
        """
        return self._app.store.searches.asked(words=words, work_id=work_id, person=person, limit=limit, skip=skip)

    def remove(self, search_id: str, person: str = "") -> Search:
        """Hide a search from somebody's list; `undo` brings it back, and so does asking it again. Raises NotFound."""
        return self._app.store.searches.remove(search_id.strip().lower(), person)

    def undo(self, search_id: str, person: str = "") -> Search:
        """Bring a removed search back. Raises NotFound."""
        return self._app.store.searches.restore(search_id.strip().lower(), person)

    def removed(self, person: str = "") -> tuple[Search, ...]:
        """List what somebody asked and removed, the last removed first."""
        return self._app.store.searches.removed(person)

    def works_asked(self, *, person: str = "") -> tuple[str, ...]:
        """List the ids of the works that somebody searched, the last one first; empty for the whole library."""
        return self._app.store.searches.works_asked(person=person)
