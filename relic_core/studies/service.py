"""The studies of the library: made and listed, what they tell annotators, who has answered, who runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from relic_core.config import ASSETS, Settings
from relic_core.domain import BenchmarkCard, Job, Span, Work
from relic_core.domain.runs import ECHOES
from relic_core.domain.studies import (
    CLAIMS_ALONE,
    Study,
    StudyRequest,
    StudyTerms,
    StudyView,
    WorksFound,
    check_terms,
    checked_name,
    reading_minutes,
    study_kind,
)
from relic_core.echoes.measuring import KnownEchoes
from relic_core.errors import BadBenchmark, BadRequest, NotFound, RelicError, StoreReadOnly
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.formats.files import decoded, read_bytes, write_whole
from relic_core.formats.studies import StudyFile, read_study, write_study
from relic_core.library.naming import meant
from relic_core.ports import Benchmark, Progress, Retriever, silent
from relic_core.reporting import passages
from relic_core.retrieval import registry
from relic_core.services.catalogue import Catalogue
from relic_core.services.works import Works
from relic_core.store.mined_windows import WindowRows
from relic_core.store.sources import SourceRows
from relic_core.store.studies import LONGEST_CODE, StudyCounts, StudyRows, fits, seal
from relic_core.store.study_answers import AnnotatorCounts, StudyAnswerRows
from relic_core.studies.making import (
    MINED,
    check_request,
    make_span_study,
    make_study,
    mined_benchmark,
    next_version,
    why_held,
)
from relic_core.studies.spans import known_pairs, read_pairs

__all__ = ["LONGEST_CODE", "Studies", "StudyCounts", "StudyMaking", "StudySource", "seal"]

SAMPLE = ASSETS / "sample" / "study.json"
"""Items of the sample work, so that the task can be tried at once; ``python -m relic_core study sample`` makes it."""

_SAMPLE_REQUEST = StudyRequest(name="High Water at Averhythe", benchmark="sample", most=10, seed=1, wanted=0)
_GUESSES, _REST = 5, 60.0
"""Wrong codes of an owner that are tried as they come, and seconds before each one after them."""
_SAMPLE_CODE = "came with the program"
_SAMPLE_MADE = datetime(2026, 11, 1, tzinfo=UTC)
"""Fixed, so that the same items make the same file."""

PRIDE = StudyRequest(name="Pride and Prejudice", benchmark="public-relic-test", works=("pride_and_prejudice",))
"""The study of the paper's own work, in the benchmark of criticism that is free of copyright."""

TEST_WORKS = StudyRequest(name="Single sentences of the test works", benchmark="public-relic-test", seed=8)
"""The study of all single sentences that critics quote of the test works, for a department to run."""

FARTHEST = 1_000
"""The paper's second variant: the gold is not among so many that dense-RELiC ranks first (RELiC, section 4)."""


class Studies:
    """The studies there are."""

    def __init__(self, rows: StudyRows, answers: StudyAnswerRows, works: Works) -> None:
        self._rows = rows
        self._answers = answers
        self._works = works
        self._read: dict[str, Study] = {}
        self._tried: dict[str, tuple[int, float]] = {}
        """Wrong codes in a row, by study, and until when no other is tried."""
        self.terms, self.add, self.restore = rows.terms, rows.add, rows.restore

    def all(self) -> tuple[StudyCounts, ...]:
        """List the studies, newest first; the sample study is put there first, unless the reader removed it."""
        study, terms = read_study(read_bytes(SAMPLE), str(SAMPLE))
        if not self._rows.is_known(study.id):
            with suppress(StoreReadOnly):  # the others can be read
                self._rows.add(study, terms)
        return self._rows.all()

    def removed(self) -> tuple[StudyCounts, ...]:
        """List the studies that were removed and can be put back, newest first."""
        return self._rows.all(removed=True)

    def study(self, study_id: str) -> Study:
        """Return a study; it never changes, so it stays in memory."""
        return self._read.get(study_id) or self._read.setdefault(study_id, self._rows.get(study_id))

    def get(self, study_id: str) -> StudyView:
        """Return a study as it stands now. Raises NotFound as `study`."""
        study = self.study(study_id)
        annotators, answers = self._answers.count(study_id)
        found = self.find_works(study)
        return StudyView(
            study=study,
            terms=self.terms(study_id),
            frozen=answers > 0,
            annotators=annotators,
            answers=answers,
            stored=found.stored,
            held=found.held,
            later=self._rows.later(study_id),
        )

    def find(self, named: str) -> Study:
        """Find the study a person means by its id, the beginning of one, or its name; of versions the last."""
        listed, wanted = sorted(self.all(), key=lambda each: each.version), named.strip().casefold()
        ways = (
            [each for each in listed if each.id == wanted],
            [each for each in listed if wanted and each.id.startswith(wanted)],
            [each for each in listed if each.name.casefold() == wanted],
            [each for each in listed if wanted and wanted in each.name.casefold()],
        )
        last = ({each.name: each for each in some} for some in ways)
        fits = (list(some.values()) for some in last)
        found = meant(named, fits, kind="studies", called=lambda each: f"{each.id} ({each.name})")
        if found is not None:
            return self.study(found.id)
        raise NotFound(f"There is no study '{named:.80}'. `python -m relic_core study` lists those there are.")

    def named(self, name: str) -> StudyCounts | None:
        """Give the study of a name, case aside, of versions the last; None where none has it."""
        wanted = name.strip().casefold()
        found = [each for each in self._rows.all() if each.name.casefold() == wanted]
        return max(found, key=lambda each: each.version, default=None)

    def find_works(self, study: Study) -> WorksFound:
        """Look for the works of a study, text and sentences."""
        known = {version.fingerprint: work_id for work_id, version in self._works.work_versions().items()}
        stored = {work.key: known[work.fingerprint] for work in study.works if work.fingerprint in known}
        missing = [work for work in study.works if work.fingerprint and work.key not in stored]
        summaries = self._works.summaries() if missing else ()
        return WorksFound(stored=stored, held=tuple(why_held(work, summaries) for work in missing))

    def edit(self, study_id: str, **changes: str | int | bool) -> StudyTerms:
        """Change what a study asks and tells; every version of every text is kept, with its time.

        - `**changes`: ``instructions``, ``wanted`` (before the first answer), ``consent``, ``privacy``, ``revealed``
          (always).
        """
        check_terms(changes, shared=self.study(study_id).making.shared)
        self._rows.change_terms(study_id, changes)
        return self.terms(study_id)

    def new_version(self, study_id: str) -> Study:
        """Make the next version of a study, with the owner's code; the one before stays with its answers.

        Of its versions the last is gone on from.
        """
        before = self.study(study_id)
        while later := self._rows.later(before.id):
            before = self.study(later)
        terms = replace(self.terms(before.id), revealed=False)
        return self.keep(next_version(before), terms, self._rows.sealed(before.id))

    def keep(self, study: Study, terms: StudyTerms, owner: str) -> Study:
        """Keep a study that was made, with the sealed code of who runs it; one that is here already stays as it is."""
        if self._rows.add(study, terms) and owner:
            self._rows.add_owner(study.id, owner)
        return self.study(study.id)

    def remove(self, study_id: str) -> Study:
        """Remove a study from the lists; its answers stay, and `restore` brings it back."""
        study = self.study(study_id)
        self._rows.remove(study_id)
        self._read.pop(study_id, None)
        return study

    def annotators(self, study_id: str) -> tuple[AnnotatorCounts, ...]:
        """List who has joined a study, with how many items each has answered, and when last."""
        self.study(study_id)
        return self._answers.annotators(study_id)

    def erase(self, study_id: str, given: str) -> int:
        """Erase an annotator with all their answers to a study, for good: rows, and where they stood in the file.

        Raises StoreBusy: they are deleted, but the file is in use and could not be written over; ask again.
        """
        ids = {each.annotator.id for each in self.annotators(study_id)}
        named = self._answers.named(study_id, given)
        annotator_id = given if given in ids else named.id if named else ""
        if not annotator_id:
            raise NotFound(
                f"The study has no annotator '{given:.100}'. Those it has: python -m relic_core study show {study_id}"
            )
        return self._answers.erase(study_id, annotator_id)

    def guarded(self, study_id: str) -> bool:
        """Whether a study has an owner's code."""
        return bool(self._rows.sealed(study_id))

    def opens(self, study_id: str, code: str) -> bool:
        """Whether a code is the owner's; any is where the study has none.

        Raises BadRequest: so many wrong ones were tried that only one a minute is.
        """
        sealed = self._rows.sealed(study_id)
        tried, until = self._tried.get(study_id, (0, 0.0))
        if sealed and tried >= _GUESSES and (left := until - monotonic()) > 0:
            raise BadRequest(f"Too many wrong codes were tried for this study. Try again in {left:.0f} seconds.")
        self._tried[study_id] = tried + 1, monotonic() + _REST  # before it is tried: others try at this moment
        if opened := not sealed or fits(code, sealed):
            self._tried.pop(study_id, None)
        return opened

    def give_code(self, study_id: str, code: str) -> None:
        """Give a study an owner's code from now on; an empty one opens it to everybody."""
        self._rows.add_owner(self.study(study_id).id, seal(code))
        self._tried.pop(study_id, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySource:
    """What a study can be made from.

    - `benchmark`, `label`: its name (empty for the windows mined here), and what pages call it.
    - `works`: key and title of each work, with its windows by the length of the quotation; of all lengths under 0.
    """

    benchmark: str
    label: str
    works: tuple[tuple[str, str, Mapping[int, int]], ...] = ()
    problem: str = ""


class StudyMaking:
    """Makes studies of benchmarks and of what was mined here."""

    def __init__(
        self,
        studies: Studies,
        open_benchmark: Callable[..., Benchmark],
        mined: Callable[[], tuple[Benchmark, Mapping[str, str]]],
        chooser: Callable[[str, Benchmark], Retriever],
        start: Callable[..., Job],
    ) -> None:
        self._studies = studies
        self._open_benchmark = open_benchmark
        self._mined = mined
        self._chooser = chooser
        self._start = start

    def sources(self) -> tuple[StudySource, ...]:
        """List what studies can be made from, the windows mined here first; opening each takes some seconds."""
        return tuple(self._source(card) for card in (MINED, *benchmarks.cards()) if card.pool == MINED.pool)

    def _source(self, card: BenchmarkCard) -> StudySource:
        try:
            benchmark, _ = self._open(card.name)
        except RelicError as error:  # told, since the others can be used
            return StudySource(benchmark=card.name, label=card.label, problem=str(error))
        counts = {book.key: Counter[int]() for book in benchmark.books()}
        for window in benchmark.windows():
            counts[window.book].update((0, window.gold.length))
        works = tuple((book.key, book.title, counts[book.key]) for book in benchmark.books())
        return StudySource(benchmark=card.name, label=card.label, works=works)

    def _open(self, name: str, data: Path | None = None) -> tuple[Benchmark, Mapping[str, str]]:
        if not name:
            return self._mined()
        card = benchmarks.card(name)
        if card.pool != MINED.pool:
            raise BadRequest(
                f"{card.label} gives passages without the work around them, so that nobody could read further. Take a "
                "benchmark of whole works."
            )
        return self._open_benchmark(name, data=data), {}

    def make(self, request: StudyRequest, *, data: Path | None = None, progress: Progress = silent) -> Study:
        """Make a study of quotations and keep it, or find it where it was made before."""
        terms = request.terms
        self._check_name_is_free(request.name)
        made = self._made(request, data, progress)
        if made.claims_alone and not request.instructions:
            terms = replace(terms, instructions=CLAIMS_ALONE)
        return self._studies.keep(made, terms, request.owner)

    def of_test_works(
        self, minutes: int | None = None, progress: Progress = silent, *, shared: int = 0, readers: int = 3
    ) -> Study:
        """Give the study of all single sentences that critics quote of the test works, or make it. Raises as `make`.

        - `minutes`: only so many of its items, drawn by chance, as one reader reads in this time.
        - `shared`, `readers`: items that all of so many readers read, the others being divided; 0 where all read all.
        """
        if shared:
            name = f"{TEST_WORKS.name}, divided among {readers} readers, {shared} shared"
            return self._made_once(replace(TEST_WORKS, name=name, shared=shared, wanted=readers), progress)
        whole = self._made_once(TEST_WORKS, progress)
        if minutes is None or minutes >= reading_minutes(whole):
            return whole
        name = f"{TEST_WORKS.name}, {minutes} minutes"
        most = max(1, len(whole.items) * minutes // reading_minutes(whole))
        return self._made_once(replace(TEST_WORKS, name=name, most=most), progress)

    def _made_once(self, request: StudyRequest, progress: Progress) -> Study:
        known = self._studies.named(request.name)
        return self._studies.study(known.id) if known else self.make(request, progress=progress)

    def make_spans(
        self, request: StudyRequest, known: Callable[[], KnownEchoes], *, file: bytes | Path | None, name: str = ""
    ) -> Study:
        """Make a study in which spans are marked, and keep it.

        - `known`: gives the known echoes, where the request names their benchmark.
        - `file`, `name`: else the file of pairs, and what messages call one that has no path.
        """
        terms = request.terms
        self._check_name_is_free(request.name)
        if isinstance(file, Path):
            name, file = file.name, read_bytes(file)
        pairs = known_pairs(known()) if request.benchmark == ECHOES else read_pairs(decoded(file or b"", name), name)
        made = make_span_study(replace(request, kind="span", benchmark=request.benchmark or name), pairs)
        return self._studies.keep(made, terms, request.owner)

    def start(self, request: StudyRequest, *, code: str = "") -> Job:
        """Make a study in the background; the job's closing note ends with the study's id in brackets."""
        check_request(request)
        _ = request.terms  # raises where they are not in order, as the job would
        name = checked_name("A study", request.name)
        self._check_name_is_free(name)
        arguments = asdict(request) | {"owner": seal(code)}
        return self._start("study", title=f"Making the study {name}", subject=name, arguments=arguments)

    def run(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do the job that `start` began."""
        lists = {name: tuple(arguments[name]) for name in ("works", "lengths")}
        study = self.make(StudyRequest(**arguments | lists), progress=progress)
        return f"{study.label} has {len(study.items):,} items ({study.id})"

    def make_sample(self, path: Path = SAMPLE) -> StudyFile:
        """Make the sample study anew and write its file."""
        study = self._made(_SAMPLE_REQUEST, None, silent)
        study = replace(study, making=replace(study.making, code=_SAMPLE_CODE), created=_SAMPLE_MADE)
        whole = StudyFile(study, _SAMPLE_REQUEST.terms)
        write_whole(path, write_study(*whole))
        return whole

    def _made(self, request: StudyRequest, data: Path | None, progress: Progress) -> Study:
        check_request(request)
        benchmark, sources = self._open(request.benchmark, data)
        chooser = None
        if study_kind(request.kind).is_proxy:
            chooser = self._chooser(registry.card(request.chooser).name, benchmark)
        return make_study(request, benchmark, chooser=chooser, sources=sources, words=words_of, progress=progress)

    def _check_name_is_free(self, name: str) -> None:
        taken = self._studies.named(name)
        if taken is not None:
            raise BadRequest(
                f"There is a study called {taken.name} (id {taken.id}). Choose another name, or make a new version of "
                "that one."
            )


def mined_windows(
    windows: WindowRows, sources: SourceRows, load_all: Callable[[Iterable[str]], Mapping[str, Work]]
) -> tuple[Benchmark, Mapping[str, str]]:
    """Give the windows that were mined from the reader's sources and are kept, and where each claim was written."""
    found = list(windows.one_by_one())
    titles = {
        each.source.id: ", ".join(filter(None, (each.source.author, each.source.title))) for each in sources.all()
    }
    return mined_benchmark(found, load_all), {window.id: titles.get(window.source_id, "") for window in found}


def paper_study(catalogue: Catalogue, settings: Settings) -> tuple[StudyRequest | None, bool]:
    """Say what the study of the paper's work would be, if that is here, and whether its critics are rebuilt."""
    if not any(each.entry.slug in PRIDE.works and each.work is not None for each in catalogue.shelf()):
        return None, False
    try:
        return PRIDE, bool(benchmarks.unplaced(PRIDE.benchmark, settings=settings))
    except (NotFound, BadBenchmark):
        return PRIDE, False


def words_of(work: Work, span: Span) -> str:
    """Set the words of a span as annotators read them."""
    return passages.quotation(work, span).plain
