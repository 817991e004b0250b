"""A passage that a search found, as a line: its words, the link to where it can be read, the button that keeps it."""

from __future__ import annotations

from relic_core.domain import Search
from relic_core.services.comparing import Located
from relic_core.wiring import App
from relic_ui.keep import Marks
from relic_ui.links import link
from relic_ui.naming import name_of
from relic_ui.passages import passage_html


class FoundLines:
    """Makes the lines of what one search found; a passage that is read or kept from here goes with its claim."""

    def __init__(self, app: App, search: Search) -> None:
        self._search = search
        self._marks = Marks(app, search.request.sentence)

    def html(self, passage: Located, *, retriever: str, rank: int) -> str:
        """Make the HTML of a passage; "" and 0 where nothing brings it up now."""
        work, where, n = passage.work, passage.place.label, passage.span.length
        named = where if self._search.request.work_id else f"{name_of(work)} · {where}"
        there = link("read", named, work=work.id, at=passage.at, n=n, q=self._search.id)
        further = (self._search.id, retriever, str(rank or ""))
        keep = self._marks.html(work.id, passage.at, n, *further, place=named)
        return (
            f'<blockquote>{passage_html(passage.quotation)}</blockquote><p class="relic-moved-where">{there} {keep}</p>'
        )
