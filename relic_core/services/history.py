"""The history of searches, each with a short id for permalinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain import Search
    from relic_core.services.answers import SearchRequest
    from relic_core.services.workbench import Workbench


class History:
    """What was asked, in order."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    def keep(self, request: SearchRequest, *, made_with: str = "") -> Search:
        """Add a search to the history; the same question has the same id every time.

        Parameters
        ----------
        request : SearchRequest
            What was asked.
        made_with : str
            What answered, as in `relic_core.domain.Search`.
        """
        return self._workbench.store.searches.add(
            request.work_id,
            request.claim_text,
            length=request.length,
            retrievers=request.retrievers,
            results=request.results,
            chapters=request.chapters,
            narrowing=request.narrowing,
            like=request.like,
            made_with=made_with,
        )

    def get(self, search_id: str) -> Search:
        """Return the latest search of an id.

        Raises
        ------
        NotFound
            This store has none.
        """
        return self._workbench.store.searches.get(search_id.strip().lower())

    def recent(self, limit: int = 20) -> tuple[Search, ...]:
        """List the last questions, newest first, each once."""
        return self._workbench.store.searches.recent(limit)
