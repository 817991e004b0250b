"""The composition root: `build` makes one `App` from settings, and this module alone knows every service.

Only entry points, job processes, tools and tests import it. What brings numerical libraries is made on first use, so
that a command loads no more than it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from relic_core.config import Settings
from relic_core.ports import Executor, Progress, silent
from relic_core.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from relic_core.attribution.service import Attributing, SourceCard
    from relic_core.domain import EditionDetails, Pair, SecondarySource, WorkSummary
    from relic_core.domain.studies import ItemResult, StudyResults
    from relic_core.domain.trainings import ModelKind
    from relic_core.drafts.service import Drafts
    from relic_core.echoes.service import Echoes
    from relic_core.evaluation.diagnosis import Diagnosis
    from relic_core.evaluation.rebuilding import RebuildSummary
    from relic_core.mining.exporting import Exporter
    from relic_core.mining.manifest import ManifestSummary
    from relic_core.mining.statistics import Statistics
    from relic_core.ports import SpanScorer
    from relic_core.retrieval.registry import Retrievers
    from relic_core.services.backups import Backups
    from relic_core.services.catalogue import Catalogue
    from relic_core.services.citing import Citing
    from relic_core.services.comparing import Comparing
    from relic_core.services.concordance import Concordance
    from relic_core.services.dataset import Dataset
    from relic_core.services.editions import Editions
    from relic_core.services.evaluation import Benchmarks, Measuring
    from relic_core.services.health import Finding
    from relic_core.services.indexing import Indexes
    from relic_core.services.jobs import Jobs
    from relic_core.services.larger import LargerModel
    from relic_core.services.mining import Mining
    from relic_core.services.model_reading import ModelReading
    from relic_core.services.notebook import Notebook, NoteEditions
    from relic_core.services.notebook_files import NotebookFiles
    from relic_core.services.people import People
    from relic_core.services.reading import Reading
    from relic_core.services.recall import Outcomes, Recall
    from relic_core.services.runs import Runs
    from relic_core.services.search import Search
    from relic_core.services.sharing import Sharing
    from relic_core.services.snapshots import Fingerprints, Snapshots
    from relic_core.services.sources import Sources
    from relic_core.services.training import Trainings
    from relic_core.services.training_plans import TrainingPlans
    from relic_core.services.works import Works
    from relic_core.store.searches import SearchRows
    from relic_core.store.shelf import Shelf
    from relic_core.store.works import StoredText
    from relic_core.studies.answering import Answering
    from relic_core.studies.files import StudyFiles
    from relic_core.studies.results import Results, StudyModels
    from relic_core.studies.service import Studies, StudyMaking
    from relic_core.text.speech import WorkSpeech
    from relic_core.training.examples import TrainingData
    from relic_core.training.requests import TrainingRequest


JOBS: dict[str, Callable[[App, dict[str, Any], Progress], str]] = {
    "add": lambda app, arguments, progress: app.catalogue.run_add(arguments, progress),
    "calibrate": lambda app, arguments, progress: app.run_calibrating(arguments["training"], progress),
    "check": lambda app, arguments, progress: app.drafts.run_job(arguments, progress),
    "echoes": lambda app, arguments, progress: app.echoes.run(arguments, progress),
    "fetch": lambda app, arguments, progress: app.catalogue.run_fetch(arguments, progress),
    "index": lambda app, arguments, progress: app.indexes.run_index(arguments, progress),
    "larger": lambda app, _arguments, progress: app.larger_model.run(progress),
    "library": lambda app, _arguments, progress: app.indexes.run_library(progress),
    "mine": lambda app, arguments, progress: app.mining.run_job(arguments, progress),
    "read-by-model": lambda app, arguments, progress: app.model_reading.run(arguments, progress),
    "prepare": lambda app, arguments, progress: app.indexes.run_prepare(arguments, progress),
    "read-by-larger": lambda app, _arguments, progress: app.indexes.run_read_by_larger(progress),
    "rebuild": lambda app, _arguments, progress: str(app.rebuild(progress=progress)),
    "study": lambda app, arguments, progress: app.study_making.run(arguments, progress),
    "study-models": lambda app, arguments, progress: app.study_models.run(arguments, progress),
    "train": lambda app, arguments, progress: app.run_training(arguments["training"], progress),
}
"""What does each kind of job, given the app, the job's arguments and its progress: a new kind is one line here."""


@dataclass(frozen=True, eq=False)
class App:
    """Every service over one library; cheap to make, safe to share between threads.

    - `named_models`: the models that the settings name, which stand over those that were chosen; empty for none.
    - `models_chosen`: of which choice of models it was made: see `models.stamp`.
    """

    settings: Settings
    store: Store
    executor: Executor
    named_models: Mapping[ModelKind, str]
    models_chosen: tuple[int, int]

    @cached_property
    def works(self) -> Works:
        """Works added, listed, loaded, removed."""
        from relic_core.services.works import Works

        def learn(work_id: str, details: EditionDetails) -> None:
            self.citing.learn(work_id, details)

        return Works(self.store.works, self.shelf, self.settings, learn)

    @cached_property
    def shelf(self) -> Shelf:
        """The works in memory."""
        from relic_core.store.shelf import Shelf

        return Shelf(self.store)

    @cached_property
    def ensure_sample(self) -> Callable[[], WorkSummary | None]:
        """Stores the sample work and its examples, unless they are stored or were removed."""
        from relic_core.services.works import ensure_sample

        return partial(ensure_sample, self.store.works, self.shelf, self.store.examples, self.settings.max_text_bytes)

    @property
    def history(self) -> SearchRows:
        """What was asked."""
        return self.store.searches

    @cached_property
    def people(self) -> People:
        """People who sign in."""
        from relic_core.services.people import People

        return People(self.store.people, self.settings.sign_in_allow)

    @cached_property
    def jobs(self) -> Jobs:
        """Long work that outlives the page that started it."""
        from relic_core.services.jobs import Jobs

        return Jobs(
            self.store.jobs,
            self.settings.jobs,
            self.executor,
            functions={kind: partial(run, self) for kind, run in JOBS.items()},
            patiently=partial(self.store.patiently, self.settings.job_lock_seconds),
        )

    @cached_property
    def retrievers(self) -> Retrievers:
        """The retrievers, each made once."""
        from relic_core.retrieval.registry import Retrievers
        from relic_core.services import models

        settings, own = self.settings, models.own_models(self.settings.data, self.named_models)
        if not models.is_large(settings.trained):
            return Retrievers(settings, own, model="" if settings.trained else "small")
        without = {name: model for name, model in own.items() if name == "reranked"}
        smaller = Retrievers(replace(settings, trained=""), without, model="small")
        return Retrievers(settings, own, smaller=smaller, model="larger")

    @cached_property
    def indexes(self) -> Indexes:
        """What the retrievers have prepared."""
        from relic_core.services.indexing import Indexes

        return Indexes(self.retrievers, self.works, self.jobs, self.settings, self.history.recent)

    @cached_property
    def search(self) -> Search:
        """Answers search requests."""
        from relic_core.services.search import Search

        settings = self.settings
        return Search(
            self.retrievers,
            self.works,
            lambda work_id: self.sources.quoted(work_id).counts,
            indexes=settings.indexes,
            max_claim_words=settings.max_claim_words,
        )

    @cached_property
    def attribution(self) -> Attributing:
        """Says which work a passage comes from."""
        from relic_core.attribution.ranking import by_server
        from relic_core.attribution.service import Attributing
        from relic_core.encoders.cards import read_card
        from relic_core.encoders.generator import SpanLikelihood
        from relic_core.language_models.server import Server

        settings = self.settings
        server = bool(settings.reader and settings.reader_model)

        def scorer() -> SpanScorer:
            if self.reads_here:
                return SpanLikelihood(settings.reranker.partition(":")[2].strip())
            return by_server(Server(settings).prompt_logprobs)

        encoder = partial(read_card, settings.model)
        makes = scorer if self.reads_here or server else None
        return Attributing(self.works, self.retrievers, settings.indexes, encoder, makes)

    @property
    def reads_here(self) -> bool:
        """Whether attribution's language model is one in a folder; it comes before the server."""
        return self.settings.reranker.partition(":")[0] == "likelihood"

    def quoting(self, work_id: str) -> tuple[tuple[Pair, SourceCard], ...]:
        """Find who quotes a work beyond the windows that mining found; see `Attributing.quoting`."""
        _, known = self.store.windows.page(work_id=work_id)
        places = {(stored.window.source_id, stored.window.at) for stored in known}
        pairs = chain.from_iterable(self.store.pairs.iterate())
        return self.attribution.quoting(work_id, pairs, places)

    @cached_property
    def model_reading(self) -> ModelReading:
        """What a language model makes of the passages of searches."""
        from relic_core.services.model_reading import ModelReading

        texts = self.store.reading_texts
        return ModelReading(self.search.run, self.retrievers, self.jobs, self.history.get, texts, self.settings)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """What an answer depends on besides the question."""
        from relic_core.services.snapshots import Fingerprints

        return Fingerprints(self.retrievers, self.works)

    @cached_property
    def snapshots(self) -> Snapshots:
        """The first passages that searches found, as they were kept."""
        from relic_core.services.snapshots import Snapshots

        return Snapshots(self.store.snapshots, self.fingerprints)

    @cached_property
    def comparing(self) -> Comparing:
        """Answers held against one another."""
        from relic_core.services.comparing import Comparing

        card = self.retrievers.card
        return Comparing(self.search.run, self.works.load_all, card, self.snapshots, self.fingerprints)

    @cached_property
    def sharing(self) -> Sharing:
        """Searches that open elsewhere and later."""
        from relic_core.services.sharing import Sharing

        return Sharing(self.works, self.fingerprints, self.snapshots.made, self.reading.page, self.runs.systems)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The works RELiC was built from, and which of them are stored."""
        from relic_core.services.catalogue import Catalogue, make_gutenberg
        from relic_core.services.indexing import Preparing

        return Catalogue(
            self.works,
            self.settings.library,
            self.jobs.start,
            gutenberg=partial(make_gutenberg, self.settings),
            preparing=partial(Preparing, self.indexes, self.jobs),
        )

    @cached_property
    def editions(self) -> Editions:
        """What is known of a stored edition: its numbers, its source, its indexes."""
        from relic_core.services.editions import Editions

        return Editions(self.works, self.indexes, self.history.asked, self.settings.library)

    @cached_property
    def citing(self) -> Citing:
        """Cites works and passages."""
        from relic_core.services.citing import Citing

        return Citing(self.store.works, self.store.edition_details, self.shelf.load)

    @cached_property
    def reading(self) -> Reading:
        """The chapters of works, ready to be read."""
        from relic_core.services.reading import Reading

        return Reading(self.works.load, self.works.removed)

    @cached_property
    def concordance(self) -> Concordance:
        """Finds words."""
        from relic_core.retrieval.speech import stored_speech
        from relic_core.services.concordance import Concordance
        from relic_core.store.shelf import Texts

        def speech(work_id: str) -> WorkSpeech:
            version = self.shelf.contents().work_versions.get(work_id) or self.shelf.load(work_id).version
            return stored_speech(version, indexes=self.settings.indexes, load=self.shelf.load)

        return Concordance(Texts(self.shelf, self.store.texts), speech)

    @cached_property
    def echoes(self) -> Echoes:
        """Finds echoes between works."""
        from relic_core.echoes.service import Echoes

        return Echoes(self.works, self.retrievers, self.settings, lambda: self.jobs)

    @cached_property
    def drafts(self) -> Drafts:
        """Checks the quotations of drafts."""
        from relic_core.drafts.critics import Critics
        from relic_core.drafts.service import Drafts

        sources = self.store.sources
        critics = Critics(lambda: [stored.source for stored in sources.all()], sources.holding)
        folder, start = self.settings.data / "drafts", self.jobs.start
        return Drafts(folder, self.works, self.mining.quoted, self.citing.works, critics, start)

    @cached_property
    def benchmarks(self) -> Benchmarks:
        """What retrievers are measured on."""
        from relic_core.services.evaluation import Benchmarks

        return Benchmarks(self.settings, self.catalogue.shelf, self.works.load, self.store.windows.evidence)

    @cached_property
    def measuring(self) -> Measuring:
        """Measures retrievers."""
        from relic_core.services.evaluation import Measuring

        return Measuring(self.settings, self.store.works.summaries, self.runs)

    @cached_property
    def runs(self) -> Runs:
        """The runs there are: measured here, or come with the program."""
        from relic_core.services.runs import Runs

        return Runs(self.store.runs, stamp=self.store.stamp, labels=self.store.windows.evidence)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes of runs, ready to be read."""
        from relic_core.services.recall import Outcomes

        summaries, windows = self.store.works.summaries, self.store.windows
        return Outcomes(self.benchmarks, summaries, self.works.load, self.catalogue.shelf, windows)

    @cached_property
    def recall(self) -> Recall:
        """The figures of runs, ready to be drawn."""
        from relic_core.services.recall import Recall

        return Recall(self.runs, self.outcomes.traits, self.outcomes.diagnosed, self.retrievers.model)

    @cached_property
    def mining(self) -> Mining:
        """Finds quotations in secondary sources."""
        from relic_core.services.mining import Mining

        return Mining(self.store.sources, self.store.windows, self.works, self.settings, self.jobs.start)

    @cached_property
    def sources(self) -> Sources:
        """The secondary sources, and the windows that were found in them."""
        from relic_core.services.sources import Sources

        stamp, most = self.store.stamp, self.settings.max_claim_words
        return Sources(self.store.sources, self.store.windows, self.works, stamp, max_claim_words=most)

    @cached_property
    def dataset(self) -> Dataset:
        """What was mined, parted into splits and checked for leaks."""
        from relic_core.services.dataset import Dataset

        return Dataset(self.store.splits, self.store.pairs, self.store.windows, self.works, self.settings)

    @cached_property
    def exporter(self) -> Exporter:
        """Writes pairs and windows to files for others."""
        from relic_core.mining.exporting import Exporter, QuotedTexts

        def read(work_id: str) -> StoredText:
            return self.store.texts.read([work_id])[work_id]

        works = QuotedTexts(self.works.summaries, self.works.work_versions, self.works.resolve, read)
        return Exporter(self.store.sources, self.store.pairs, self.store.windows, self.store.splits, works)

    def statistics(self, of: str = "store", progress: Progress = silent) -> Statistics:
        """Count the windows of a set; see `counting.statistics`."""
        from relic_core.evaluation import counting

        return counting.statistics(
            of,
            progress,
            marked=self.dataset.marked,
            load_work=self.works.load,
            sources=self._mined_sources,
            open_benchmark=self.benchmarks.open,
        )

    def make_manifest(
        self, sources: Sequence[Path], folder: Path | None = None, progress: Progress = silent
    ) -> ManifestSummary:
        """Write the manifest of the dev and test windows, below the data folder where no folder is named."""
        from relic_core.mining.manifest import make_manifest

        entries = {each.work.id: each.entry for each in self.catalogue.shelf() if each.work is not None}
        folder = folder or self.settings.data / "public_relic" / "manifest"
        marked, known = self.dataset.marked(), self._mined_sources()
        return make_manifest(marked, entries, self.works.load, known, sources, folder, progress)

    def rebuild(
        self, sources: Sequence[Path] = (), *, offline: bool = False, progress: Progress = silent
    ) -> RebuildSummary:
        """Cut the windows of the public-domain RELiC out of their sources; see `rebuilding.rebuild`."""
        from relic_core.evaluation.rebuilding import rebuild
        from relic_core.services.catalogue import make_gutenberg

        return rebuild(self.settings, make_gutenberg(self.settings), sources, offline=offline, progress=progress)

    def _mined_sources(self) -> tuple[SecondarySource, ...]:
        return tuple(stored.source for stored in self.store.sources.all())

    @cached_property
    def trainings(self) -> Trainings:
        """Models trained on what was mined here."""
        from relic_core.services.training import Trainings

        def check(asked: TrainingRequest) -> None:
            self.training_plans.check(asked)  # made when first asked for: it brings numerical libraries

        return Trainings(self.settings, self.store.trainings, self.jobs, self.named_models, check)

    @cached_property
    def larger_model(self) -> LargerModel:
        """Fetches the larger model."""
        from relic_core.services.larger import LargerModel

        return LargerModel(self.settings, self.jobs, self.named_models)

    def calibrate(self, named: str, progress: Progress = silent) -> str:
        """Calibrate an encoder, named as for `Trainings.encoder`; see `calibrating.calibrate`."""
        from relic_core.evaluation.calibrating import calibrate

        return calibrate(self.settings, self.trainings.encoder(named), self.benchmarks.well_known(), progress)

    def run_calibrating(self, training_id: str, progress: Progress) -> str:
        """Do a "calibrate" job: add what is missing of the novels that models are calibrated on, then calibrate."""
        self.catalogue.fetch(self.catalogue.items(self.benchmarks.calibrated_on), progress)
        return self.calibrate(training_id, progress)

    @cached_property
    def training_plans(self) -> TrainingPlans:
        """What trainings would learn from and cost."""
        from relic_core.services.training_plans import TrainingPlans

        return TrainingPlans(self.settings, self.training_data, self.store.splits, self.dataset.stale, self.store.stamp)

    @cached_property
    def training_data(self) -> TrainingData:
        """What was mined, as trainings read it."""
        from relic_core.training.examples import TrainingData

        store = self.store
        return TrainingData(store.pairs, store.windows, store.trainings, store.works)

    def run_training(self, training_id: str, progress: Progress) -> str:
        """Do a training, in its job."""
        from relic_core.attribution.learning import choose_sources
        from relic_core.training.running import TrainingRun

        patiently = partial(self.store.patiently, self.settings.job_lock_seconds)
        running = TrainingRun(self.settings, self.training_data, self.works.load, patiently, choose_sources)
        return running.run(training_id, progress)

    @cached_property
    def backups(self) -> Backups:
        """Back-ups of the library, and their restoring."""
        from relic_core.services.backups import Backups

        return Backups(self.settings, self.jobs, self.store.copy, self.store.alone, self.store.works.summaries)

    @cached_property
    def examine(self) -> Callable[..., tuple[Finding, ...]]:
        """Says whether everything is as it should be; see `services.health.examine`."""
        from relic_core.services import health

        return partial(health.examine, self.store, self.settings, self.works, self.indexes)

    @cached_property
    def studies(self) -> Studies:
        """Studies of the proxy task."""
        from relic_core.studies.service import Studies

        return Studies(self.store.studies, self.store.study_answers, self.works)

    @cached_property
    def study_making(self) -> StudyMaking:
        """Makes studies."""
        from relic_core.studies.service import StudyMaking, mined_windows

        return StudyMaking(
            self.studies,
            self.benchmarks.open,
            partial(mined_windows, self.store.windows, self.store.sources, self.works.load_all),
            lambda name, benchmark: self.measuring.retriever_for(benchmark, name),
            self.jobs.start,
        )

    @cached_property
    def answering(self) -> Answering:
        """What annotators of studies do."""
        from relic_core.studies.answering import Answering

        return Answering(self.studies, self.store.study_answers)

    @cached_property
    def study_models(self) -> StudyModels:
        """What retrievers answer to studies."""
        from relic_core.studies.results import StudyModels

        return StudyModels(
            self.studies,
            self.store.studies,
            self.works.load,
            lambda name: self.measuring.retriever(name, self.settings),
            self.jobs.start,
        )

    @cached_property
    def study_results(self) -> Results:
        """What came of studies."""
        from relic_core.studies.results import Results

        rows, judged = self.store.study_answers, self.store.runs.case_judgements
        return Results(self.studies, self.study_models, rows, judged, self.store.stamp)

    def diagnosed_items(self, results: StudyResults, some: Sequence[ItemResult]) -> dict[str, Diagnosis]:
        """Say why quotations of the proxy task are missed; see `studies.results.diagnosed`."""
        from relic_core.studies.results import diagnosed

        return diagnosed(results, some, self.works.load, self.store.windows)

    def label_windows(self, study_id: str) -> str:
        """Label windows as most readers of a study did; see `studies.results.label_windows`."""
        from relic_core.studies.results import label_windows

        return label_windows(self.study_results.of(study_id), self.store.windows)

    @cached_property
    def study_files(self) -> StudyFiles:
        """Studies and answers given away and taken in."""
        from relic_core.studies.files import StudyFiles

        return StudyFiles(self.studies, self.study_results, self.store.study_answers, self.works, self.catalogue)

    @cached_property
    def notebook(self) -> Notebook:
        """Passages that were kept, with the scholar's words."""
        from relic_core.services.notebook import Notebook

        store = self.store
        return Notebook(store.notes, store.collections, self.works.load, self.history.get, self._editions_of_notes)

    @cached_property
    def notebook_files(self) -> NotebookFiles:
        """The notebook as files."""
        from relic_core.services.notebook_files import NotebookFiles

        store = self.store
        return NotebookFiles(
            store.notes, store.collections, self.works.load_all, self._editions_of_notes, self.citing.works
        )

    def _editions_of_notes(self) -> NoteEditions:
        from relic_core.services.notebook import NoteEditions

        return NoteEditions(self.works.summaries(), self.works.removed())

    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Tell whether anything may have been written to the store since: equal stamps, nothing was."""
        return self.store.stamp()

    def losses(self) -> tuple[str, ...]:
        """Tell what was lost from the store: see `Store.losses`."""
        return self.store.losses()


def build(settings: Settings | None = None, *, executor: Executor | None = None, linger_seconds: float = 0.0) -> App:
    """Make the app from settings, from the environment where not given; each job runs in a process of its own."""
    from relic_core.services import models
    from relic_core.services.jobs import SubprocessExecutor

    given = Settings.from_environment() if settings is None else settings
    used = models.with_chosen(given)
    return App(
        settings=used,
        store=Store(used.store, lock_seconds=used.lock_seconds, linger_seconds=linger_seconds),
        executor=SubprocessExecutor(used) if executor is None else executor,
        named_models={"encoder": given.trained, "reranker": given.reranker},
        models_chosen=models.stamp(given.data),
    )
