"""A library in Python, for notebooks and scripts: `docs/python.md`. What it asks for is done in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from relic_core.config import Settings
from relic_core.domain import ANY_LENGTH, ContextSize, Ranking, SearchRequest, Work, WorkFilter, WorkSummary
from relic_core.errors import BadRequest, NoIndex, RelicError
from relic_core.formats import trec
from relic_core.ports import Progress, silent
from relic_core.retrieval import registry
from relic_core.services.answers import Card
from relic_core.services.evaluation import Measured
from relic_core.wiring import build

Works = str | Work | WorkSummary | Iterable[str | Work | WorkSummary]
"""A work, or several; a string is an id, the beginning of one, or a title. None at all are the whole library."""


@dataclass(frozen=True)
class Ranker:
    """A retriever over a work, several, or a library: a claim in, the ranking of every passage out.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     library = Library(folder)
    ...     work = library.add(text="The tide came in. She kept the gauge.", title="The Gauge")
    ...     ranker = library.ranker("bm25", work)
    ...     [hit.span.start for hit in ranker("Who kept the gauge?").hits(1)]
    ...     [list(ranking.values()) for ranking in ranker.run({"q1": "Nobody swims."}, k=2).values()]
    [1]
    [[0.0, -1.401298464324817e-45]]

    `Library.ranker` makes one.
    """

    request: SearchRequest
    _rank: Callable[[SearchRequest], Ranking] = field(repr=False)
    _load: Callable[[Iterable[str]], Mapping[str, Work]] = field(repr=False)

    def __call__(self, claim: str) -> Ranking:
        """Rank every passage for a claim, which may have a gap, `____`, where the quotation belongs."""
        return self._rank(replace(self.request, claim_text=claim))

    def run(self, claims: Mapping[str, str], k: int = trec.DEPTH) -> dict[str, dict[str, float]]:
        """Rank for claims by their ids, and give the scores of the best `k` passages as ranx and ir_measures take them.

        A passage is named by its work and its characters, as in qrels. Those that score the same are ordered by the
        least that a score can differ, so that tools which sort anew come to the same order.
        """
        found = {}
        for query, claim in claims.items():
            hits = self(claim).hits(k)
            works = self._load({hit.work_id for hit in hits})
            scores: dict[str, float] = {}
            least = np.float32(np.inf)
            for hit in hits:
                place = works[hit.work_id].span_offsets(hit.span)
                least = min(np.float32(hit.score), np.nextafter(least, np.float32(-np.inf)))
                scores[trec.document(hit.work_id, place)] = float(least)
            found[query] = scores
        return found


class Library:
    """A library of works: that of the app, or one in a folder of its own.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     library = Library(folder)
    ...     text = "The tide came in. She kept the gauge. He kept the books. Nobody swam. The ferry was late."
    ...     work = library.add(text=text, title="The Gauge", author="Mara Quill")
    ...     (card, *_) = library.search("Who kept the gauge?", work, retriever="bm25", length=1)
    ...     card
    ...     card.quotation.plain, card.place.label, library.cite(card)
    1. “She kept the gauge.” (The Gauge, The text · paragraph 1; 1.389)
    ('She kept the gauge.', 'The text · paragraph 1', '(Quill, par. 1)')

    - `folder`: holds `data` and `indexes`; made where it is not there. That of the settings where none is given.
    - `progress`: called while works are fetched or prepared, and while retrievers are measured; `print` will do.
    - `app`: every service of the program: see `relic_core.wiring`.

    The app may be open on the same library: the store is held for no longer than a call.
    """

    def __init__(self, folder: str | Path | None = None, *, progress: Progress = silent) -> None:
        settings = replace(Settings.from_environment(), engine="")
        if folder is not None:
            own = Path(folder).expanduser().resolve()
            settings = replace(settings, data=own / "data", indexes=own / "indexes")
        self.app = build(settings)
        self._progress = progress
        self._prepared: set[tuple[str, registry.RetrieverCard]] = set()

    def __repr__(self) -> str:
        return f"<Library in {self.app.settings.data}: {len(self.works)} works>"

    @property
    def works(self) -> tuple[WorkSummary, ...]:
        """The works, by title."""
        return self.app.works.summaries()

    def add(
        self,
        source: str | Path | int = "",
        *,
        text: str = "",
        title: str = "",
        author: str = "",
        translator: str = "",
        year: int | None = None,
    ) -> WorkSummary:
        """Add a work and give it; one whose text is there is given as it is.

        - `source`: a file; a work of the RELiC shelf, by name or title; a number of Project Gutenberg.
        - `text`: the text itself, in place of a source.
        - `title`, `author`, `translator`, `year`: in place of what is known of it.
        """
        described = {"title": title, "author": author, "translator": translator, "year": year}
        works, catalogue = self.app.works, self.app.catalogue
        if bool(text) == bool(source):
            raise BadRequest("A work is added from a source or from its text. Give one of the two.")
        if text:
            return works.add(text.encode(), **described).work  # type: ignore[arg-type]  # each by its name
        file = works.find_file(str(source))
        if isinstance(source, Path) or file.exists():
            return works.add(file, **described).work  # type: ignore[arg-type]  # as above
        item = catalogue.item_of_number(source) if isinstance(source, int) else catalogue.items([source])[0]
        tally = catalogue.fetch([item | described], self._progress)
        for reason in tally.failed:
            raise RelicError(reason)
        return (*tally.already, *(added.work for added in tally.added))[0]

    def search(
        self, claim: str, works: Works = (), *, retriever: str = "reranked", length: int = ANY_LENGTH, results: int = 5
    ) -> tuple[Card, ...]:
        """Find passages that support a claim, as the cards of one retriever, best first; see `Card`.

        Works that the retriever has not prepared are prepared first, which takes a while. What else Find can do, as
        joined claims, is asked for with a `SearchRequest`, of `app.search`.

        - `works`: see `Works`.
        - `length`: sentences of a passage, 1 to 5; by default any will do.
        """
        request = replace(self._request(retriever, works, length), claim_text=claim, results=results)
        (column,) = self.app.search.run(request).columns
        if not column.answered:
            raise NoIndex(column.note or "A work was changed meanwhile. Search again.")
        return column.cards

    def cite(self, card: Card, style: str = "mla") -> str:
        """Cite the passage of a card as in a text; `app.citing` has the other forms and the entry in full."""
        cited = self.app.citing.citation(card.work.id, style, at=str(card.place.address), length=card.line.length)
        return cited.forms[0].text

    def ranker(self, retriever: str, works: Works = (), *, length: int = 1) -> Ranker:
        """Give a retriever over works, prepared for it where they are not; for passages of 1 to 5 sentences."""
        return Ranker(self._request(retriever, works, length), self.app.search.rank, self.app.works.load_all)

    def evaluate(
        self, retriever: str, benchmark: str, *, shape: str = "4/4", data: Path | None = None, again: bool = False
    ) -> Measured:
        """Measure a retriever on a benchmark, or find the run where that was done before.

        A run of a retriever that was registered here is not kept in the library.

        - `shape`: sentences of criticism before and after the quotation.
        - `data`: your own file or folder of the benchmark's data.
        - `again`: measure although it was measured.
        """
        opened, size = self.app.benchmarks.open(benchmark, data=data), ContextSize.parse(shape)
        return self.app.measuring.measure(opened, retriever, size, again=again, progress=self._progress)

    def _request(self, retriever: str, works: Works, length: int) -> SearchRequest:
        """Make a request without a claim, and prepare the works for its retriever."""
        chosen = [works] if isinstance(works, str | Work | WorkSummary) else works
        ids = [self.app.works.resolve(each).id if isinstance(each, str) else each.id for each in chosen]
        card = registry.card(retriever)
        for work_id in ids or [work.id for work in self.works]:
            if (work_id, card) not in self._prepared:
                if not self.app.indexes.ready(work_id, retriever):
                    self.app.indexes.build(work_id, [retriever], self._progress)
                self._prepared.add((work_id, card))
        one = ids[0] if len(ids) == 1 else ""
        among = WorkFilter() if one else WorkFilter(works=tuple(ids))
        return SearchRequest(work_id=one, length=length, retrievers=(retriever,), work_filter=among)
