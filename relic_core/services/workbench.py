"""The workbench: one object with everything a page or a command needs, made from settings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.services.examples import Examples
from relic_core.services.history import History
from relic_core.services.jobs import Jobs, SubprocessExecutor
from relic_core.services.people import People
from relic_core.services.training import chosen
from relic_core.services.works import Works
from relic_core.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain.trainings import ModelKind
    from relic_core.ports import Executor
    from relic_core.services.backups.backups import Backups
    from relic_core.services.benchmarks import Benchmarks
    from relic_core.services.catalogue import Catalogue
    from relic_core.services.citing import Citing
    from relic_core.services.concordance import Concordance
    from relic_core.services.dataset.dataset import Dataset
    from relic_core.services.editions import Editions
    from relic_core.services.indexing import Indexes
    from relic_core.services.library.search import LibrarySearch
    from relic_core.services.measuring import Measuring
    from relic_core.services.mining.mining import Mining
    from relic_core.services.notebook.notebook import Notebook
    from relic_core.services.outcomes import Outcomes
    from relic_core.services.reading import Reading
    from relic_core.services.recall.recall import Recall
    from relic_core.services.runs import Runs
    from relic_core.services.search import Search
    from relic_core.services.sharing.sharing import Sharing
    from relic_core.services.sources import Sources
    from relic_core.services.studies.studies import Studies
    from relic_core.services.training.training import Trainings


class Workbench:
    """The only way in; cheap to make, safe to share between threads.

    - `settings`: from the environment where not given.
    - `executor`: runs jobs; each in a process of its own where not given.
    """

    def __init__(self, settings: Settings | None = None, *, executor: Executor | None = None) -> None:
        given = Settings.from_environment() if settings is None else settings
        self.named_models: Mapping[ModelKind, str] = {"encoder": given.trained, "reranker": given.reranker}
        """The models that the settings name, which stand over those that were chosen; empty where they name none."""
        self.models_chosen = chosen.stamp(given.data)
        """Of which choice of models it was made: see `chosen.stamp`."""
        self.settings = chosen.with_chosen(given)
        self.store = Store(self.settings.store, lock_seconds=self.settings.lock_seconds)
        self.works = Works(self)
        self.examples = Examples(self)
        self.history = History(self)
        self.people = People(self)
        self.jobs = Jobs(self, SubprocessExecutor(self.settings) if executor is None else executor)

    # Made on first use, since they bring numerical libraries that many commands do not need.

    @cached_property
    def indexes(self) -> Indexes:
        """The retrievers and what they have prepared."""
        from relic_core.services.indexing import Indexes

        return Indexes(self)

    @cached_property
    def search(self) -> Search:
        """Answers search requests."""
        from relic_core.services.search import Search

        return Search(self)

    @cached_property
    def library_search(self) -> LibrarySearch:
        """Answers search requests that name no work."""
        from relic_core.services.library.search import LibrarySearch

        return LibrarySearch(self)

    @cached_property
    def sharing(self) -> Sharing:
        """Searches that open elsewhere and later, and what they found then."""
        from relic_core.services.sharing.sharing import Sharing

        return Sharing(self)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The works RELiC was built from, and which of them are stored."""
        from relic_core.services.catalogue import Catalogue

        return Catalogue(self)

    @cached_property
    def editions(self) -> Editions:
        """What is known of a stored edition: its numbers, its source, its indexes."""
        from relic_core.services.editions import Editions

        return Editions(self)

    @cached_property
    def citing(self) -> Citing:
        """Cites works and passages."""
        from relic_core.services.citing import Citing

        return Citing(self)

    @cached_property
    def reading(self) -> Reading:
        """The chapters of works, ready to be read."""
        from relic_core.services.reading import Reading

        return Reading(self)

    @cached_property
    def concordance(self) -> Concordance:
        """Finds words."""
        from relic_core.services.concordance import Concordance

        return Concordance(self)

    @cached_property
    def benchmarks(self) -> Benchmarks:
        """What retrievers are measured on."""
        from relic_core.services.benchmarks import Benchmarks

        return Benchmarks(self)

    @cached_property
    def measuring(self) -> Measuring:
        """Measures retrievers."""
        from relic_core.services.measuring import Measuring

        return Measuring(self)

    @cached_property
    def runs(self) -> Runs:
        """The runs there are: measured here, or come with the program."""
        from relic_core.services.runs import Runs

        return Runs(self)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes of runs, ready to be read."""
        from relic_core.services.outcomes import Outcomes

        return Outcomes(self)

    @cached_property
    def recall(self) -> Recall:
        """The figures of runs, ready to be drawn."""
        from relic_core.services.recall.recall import Recall

        return Recall(self)

    @cached_property
    def mining(self) -> Mining:
        """Finds quotations in secondary sources."""
        from relic_core.services.mining.mining import Mining

        return Mining(self)

    @cached_property
    def sources(self) -> Sources:
        """The secondary sources, and the windows that were found in them."""
        from relic_core.services.sources import Sources

        return Sources(self)

    @cached_property
    def dataset(self) -> Dataset:
        """What was mined, parted into splits, checked and counted."""
        from relic_core.services.dataset.dataset import Dataset

        return Dataset(self)

    @cached_property
    def trainings(self) -> Trainings:
        """Models taught on what was mined here."""
        from relic_core.services.training.training import Trainings

        return Trainings(self)

    @cached_property
    def backups(self) -> Backups:
        """Back-ups of the library, and their restoring."""
        from relic_core.services.backups.backups import Backups

        return Backups(self)

    @cached_property
    def studies(self) -> Studies:
        """Studies of the proxy task."""
        from relic_core.services.studies.studies import Studies

        return Studies(self)

    @cached_property
    def notebook(self) -> Notebook:
        """Passages that were kept, with the scholar's words."""
        from relic_core.services.notebook.notebook import Notebook

        return Notebook(self)
