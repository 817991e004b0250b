"""Benchmarks opened over the works of the library, and retrievers measured on them.

One retriever on one benchmark with one context shape makes a run, which is kept with all its outcomes. Two programs
that measure the same at once make one run: the second waits for the first.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from relic_core import engines
from relic_core.config import Settings
from relic_core.domain import ContextSize, Outcome, QuotationContext, Run, Work, WorkSummary
from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest, NotFound
from relic_core.evaluation import figures, metrics
from relic_core.evaluation.benchmarks import loci
from relic_core.evaluation.benchmarks import registry as benchmarks
from relic_core.evaluation.benchmarks.relic import submit
from relic_core.evaluation.experiments import Experiment, moved_ranks, refuse_learnt
from relic_core.evaluation.labels import Labels, join_windows
from relic_core.evaluation.sentences import score_lists
from relic_core.formats import parquet, trec
from relic_core.formats.files import read_text
from relic_core.installed import COMMAND
from relic_core.language_models.cached_client import CachedClient, ModelQuestion
from relic_core.language_models.parsing import read_quotation
from relic_core.language_models.prompts import SUPPORTS, ask, claim_text
from relic_core.ports import Benchmark, Progress, Retriever
from relic_core.retrieval import bm25, registry
from relic_core.retrieval.calibration import model_named
from relic_core.retrieval.read_by_model import ReadByModel
from relic_core.retrieval.recalled import Recalled
from relic_core.retrieval.words import Terms
from relic_core.services.catalogue import Shelved
from relic_core.services.runs import Runs
from relic_core.store import locks, run_journal
from relic_core.text.placing import LEAST_RATIO, like

__all__ = [
    "Benchmarks", "Measured", "Measuring", "chosen_retrievers", "figures", "named_retrievers", "retriever_names",
    "score_lists",
]  # fmt: skip

FEWEST = 5
"""Novels that a model is calibrated on at least."""

_TERMS: dict[str, Terms] = {"bm25": "tokens", "bm25-lemmas": "lemmas"}


class Benchmarks:
    """What retrievers are measured on; also the source of the works that benchmarks quote."""

    card = staticmethod(benchmarks.card)
    cards = staticmethod(benchmarks.cards)

    def __init__(
        self,
        settings: Settings,
        shelf: Callable[[], Sequence[Shelved]],
        load_work: Callable[[str], Work],
        labels: Callable[[], Mapping[str, str]],
    ) -> None:
        self._labels = labels
        self._settings = settings
        self._shelf = shelf
        self._load_work = load_work

    def open(self, name: str, *, data: Path | None = None) -> Benchmark:
        """Open a benchmark; `data` is the reader's own file or folder, in place of ``RELIC_BENCHMARKS``."""
        return benchmarks.open_benchmark(name, settings=self._settings, works=self, data=data)

    @property
    def calibrated_on(self) -> list[str]:
        """The works that models are calibrated on, by their slugs."""
        return list(dict.fromkeys(each.work for each in loci.DEV.claims()))

    def well_known(self) -> Benchmark:
        """Open the well-known passages of dev that are in works of the library, to calibrate models by.

        Raises NotFound: the works are fewer than `FEWEST`; the message says how to add others.
        """
        wanted = self.calibrated_on
        shelf = [each for each in self._shelf() if each.entry.slug in wanted]
        here = [each.entry.slug for each in shelf if each.work is not None]
        if len(here) < FEWEST:
            more = [each.entry.slug for each in shelf if each.origin in {"folder", "gutenberg"}][: FEWEST - len(here)]
            raise NotFound(
                f"Models are calibrated on {FEWEST} novels or more, and your library has {len(here)} of those that "
                "will do. Until then a model of your own answers without levels. Add others, for example: "
                f"python -m relic_core catalogue --add {' '.join(more)}"
            )
        return loci.DEV.over(self.find(here))

    def unplaced(self, name: str) -> tuple[QuotationContext, ...]:
        """Read the windows of a benchmark without its works, for their claims; raises as `open`."""
        return benchmarks.unplaced(name, settings=self._settings)

    def export(self, name: str, path: Path, *, data: Path | None = None) -> Labels:
        """Write the windows of a benchmark as Parquet, with readers' labels; as private as the benchmark's data."""
        if path.suffix.lower() != ".parquet":
            raise BadRequest(
                f"Windows are written as Parquet, and '{path.name}' does not end in .parquet. Rename it so."
            )
        benchmark = self.open(name, data=data)
        card, windows = benchmark.card, benchmark.windows()
        facts = {"benchmark": card.name, "split": card.split, "data_hash": benchmark.data_hash, "licence": card.licence}
        joined = join_windows(self._labels(), windows, benchmark.work)
        parquet.write_windows(path, windows, facts, joined.by_id)
        return joined

    def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """Give the stored works of some slugs, or of their ids in the library.

        Raises NotFound: the message names the missing and how to add them.
        """
        shelf = {each.entry.slug: each for each in self._shelf()}
        here = {key: each.work.id for key, each in shelf.items() if each.work is not None}
        own: dict[str, Work] = {}
        for key in keys:
            if key not in shelf:
                with contextlib.suppress(NotFound):  # told of all together below
                    own[key] = self._load_work(key)
        if missing := [key for key in dict.fromkeys(keys) if key not in here and key not in own]:
            unknown = [key for key in missing if key not in shelf]
            there = [key for key in missing if key in shelf and shelf[key].origin != "none"]
            raise NotFound(_how_to_add(missing, there, unknown, has_folder=self._settings.library is not None))
        return {key: own[key] if key in own else self._load_work(here[key]) for key in keys}


def _how_to_add(missing: Sequence[str], there: Sequence[str], unknown: Sequence[str], *, has_folder: bool) -> str:
    are = "A work is needed that is" if len(missing) == 1 else f"{len(missing)} works are needed that are"
    sentences = [f"{are} not in the library."]
    if there:
        sentences.append(f"Add {'it' if len(there) == 1 else 'them'}: {COMMAND} catalogue --add {' '.join(there)}")
        if not has_folder:
            sentences.append("(set RELIC_LIBRARY to a folder with NAME.txt files to take them from there instead).")
    if unknown:
        sentences.append(
            f"Not in the catalogue: {', '.join(unknown)}. Add your own text, and name it by the id that "
            f"`{COMMAND} works` shows."
        )
    if nowhere := [key for key in missing if key not in there and key not in unknown]:
        sentences.append(
            f"Not free to fetch: {', '.join(nowhere)}. Put your own copy into the folder RELIC_LIBRARY as NAME.txt."
        )
    return " ".join(sentences)


def retriever_names() -> tuple[str, ...]:
    """Name the retrievers that there are, those that pages do not offer among them."""
    return tuple(card.name for card in registry.cards())


def named_retrievers(listed: str, *, without: str = "") -> tuple[str, ...]:
    """Read names of retrievers, with commas between, or "all".

    "all" leaves out slow copies of others, those that need a server or a model of your own, and the one that `without`
    names.
    """
    if listed.strip() == "all":
        offline = (card.name for card in registry.cards() if card.on_its_own)
        return tuple(name for name in offline if not name.endswith("-reference") and name != without)
    names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
    if not names:
        raise BadRequest(f"Which retriever? Known: {', '.join(retriever_names())}.")
    return tuple(registry.card(name).name for name in names)


def chosen_retrievers(
    listed: str, *, k1: float | None = None, b: float | None = None, function_words: bool = False
) -> tuple[str | Retriever, ...]:
    """Read names of retrievers, and give BM25 parameters of its own.

    Raises BadRequest: also for parameters of another retriever than BM25.
    """
    names = named_retrievers(listed)
    if k1 is None and b is None and not function_words:
        return names
    if function_words and names != ("bm25",):
        raise BadRequest(f"Function words are counted by bm25 alone; {', '.join(names)} was named. Name bm25.")
    terms = "all" if function_words else _TERMS.get(names[0])
    if len(names) > 1 or terms is None:
        raise BadRequest(
            f"k1 and b are parameters of bm25 alone, and of bm25-lemmas; {', '.join(names)} was named. Name one of the "
            "two."
        )
    return (bm25.Bm25(k1=bm25.K1 if k1 is None else k1, b=bm25.B if b is None else b, terms=terms),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What asking for a run has given.

    - `outcomes`: in the order of the benchmark.
    - `found`: whether it had been measured before, and was not measured now.
    - `moved`: measured again: the examples whose ranks are not what they were.
    """

    run: Run
    outcomes: tuple[Outcome, ...] = field(repr=False)
    found: bool = False
    moved: tuple[str, ...] = ()

    def __repr__(self) -> str:
        name = figures.main_metric(self.run)
        value = metrics.metric(name).written(metrics.figure(name, self.outcomes))
        return f"<{self.run.label} on {self.run.benchmark}, {self.run.shape}: {name} {value} of {len(self.outcomes)}>"

    def figure(self, metric: str) -> Figure:
        """Compute a metric, as "recall@10", with its interval: `value`, `low` and `high`."""
        return figures.measured(metric, self.outcomes)

    @property
    def rankings(self) -> dict[str, dict[str, float]]:
        """The run as ranx and ir_measures take it: see `trec.rankings`."""
        return dict(trec.rankings(self.outcomes))

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The golds as ranx and ir_measures take them."""
        qrels = {}
        for query, grades in trec.golds(self.outcomes):
            qrels[query] = {each: round(grade) for each, grade in grades.items()}
        return qrels


class Measuring:
    """Measures retrievers; `summaries` lists the stored works."""

    def __init__(self, settings: Settings, summaries: Callable[[], Sequence[WorkSummary]], runs: Runs) -> None:
        self._settings = settings
        self._summaries = summaries
        self._runs = runs
        self._made: dict[Path, dict[str, Retriever]] = {}
        self._lock = threading.Lock()

    def measure(
        self,
        benchmark: Benchmark,
        retriever: str | Retriever,
        shape: ContextSize,
        *,
        again: bool = False,
        renew: bool = True,
        tell: Callable[[str], None] | None = None,
        progress: Progress,
    ) -> Measured:
        """Measure a retriever on an open benchmark, or find the run where that was done before.

        Stopped half-way, by Ctrl-C or by force, the run goes on when it is asked for again; with another version of
        the program, or an index that has changed since, it begins anew.

        What a retriever gives that was registered in this process is not kept.

        - `renew`: measured again: whether ranks that have moved take the place of those that are kept.
        - `tell`: given whole sentences: that a run is found, goes on, begins anew, or came out the same again.
        """
        say = tell or (lambda _: None)
        settings = self.settings_for(benchmark)
        experiment = Experiment(
            benchmark, retriever, shape, settings=settings, registered=lambda name: self.retriever(name, settings)
        )
        if isinstance(retriever, str) and registry.card(retriever).registered:
            with TemporaryDirectory() as own:
                run, outcomes = experiment.measure(Path(own) / "partial.jsonl", say, progress)
            return Measured(run=run, outcomes=outcomes)
        wanted = experiment.run_id
        earlier = self._known(wanted) or self._brought_back(wanted)
        if earlier is not None and not again:
            say(f"Measured before: run {earlier.run.id} of {earlier.run.created:%d %B %Y}. Nothing was measured now.")
            return earlier
        folder = self._settings.data / "runs" / (wanted + ("-again" if again else ""))
        waited: list[bool] = []

        def waiting() -> None:
            if not waited:
                say("Another program is measuring the same; waiting for it.")
            waited.append(True)
            progress(0, 0, "Another program is measuring the same")

        with locks.held(folder / "lock", while_waiting=waiting):
            if not again and (finished := self._known(wanted)):
                say(f"Another program has measured it meanwhile: run {finished.run.id}.")
                return finished
            journal = folder / "partial.jsonl"
            workers = engines.named(self._settings.engine)
            run, outcomes = experiment.measure(journal, say, progress, workers)
            if earlier is None and not self._runs.add(run, outcomes):  # taken in from a file meanwhile
                earlier = self._known(run.id)
            moved = moved_ranks(earlier.outcomes, outcomes) if earlier is not None else ()
            if moved and renew:
                self._runs.add(run, outcomes, again=True)
            run_journal.remove(journal)
        if earlier is not None:
            say(_compared(earlier.run, moved, len(outcomes), renew=renew))
        return Measured(run=run, outcomes=outcomes, moved=moved)

    def submit(self, retriever: str, *, shape: ContextSize, data: Path, path: Path, progress: Progress) -> int:
        """Write RELiC's hidden test split, answered by a retriever, for its leaderboard; see `relic.submit`."""
        asked = self.retriever(retriever, self._apart)
        return submit(asked, shape=shape, data=data, path=path, progress=progress)

    def retriever(self, name: str, settings: Settings) -> Retriever:
        """Give the one instance of a retriever for a folder of indexes."""
        with self._lock:
            made = self._made.setdefault(settings.indexes, {})
            return registry.create(name, settings=settings, made=made)

    def retriever_for(self, benchmark: Benchmark, name: str) -> Retriever:
        """Give a retriever for a benchmark. Raises BadRequest: there is none, or it has learnt from the benchmark."""
        settings = self.settings_for(benchmark)
        refuse_learnt(registry.card(name), settings, benchmark)
        return self.retriever(name, settings)

    def with_server(
        self,
        retrievers: Sequence[str | Retriever],
        benchmark: Benchmark,
        *,
        objective: str | None = None,
        top: int | None = None,
        over: str | None = None,
    ) -> tuple[str | Retriever, ...]:
        """Make those retrievers that have a language model read the top k of a ranking; the others stay as they are.

        - `objective`: "off" where the model is not told what makes a passage relevant; else "on", or a file that says
          it in other words than the program's.
        - `top`, `over`: how many passages it reads, and of whose ranking; by default as on pages.

        Raises BadRequest: none of those named asks a server.
        """
        settings = self.settings_for(benchmark)
        made: list[str | Retriever] = []
        for each in retrievers:
            if not isinstance(each, str) or not (card := registry.card(each)).server:
                made.append(each)
                continue
            first = self.retriever(over or card.components[0], settings)
            own = benchmark.card.objective or SUPPORTS
            text = {None: own, "on": own, "off": ""}.get(objective)
            text = read_text(Path(str(objective))) if text is None else text
            kind = Recalled if each.startswith("llm-recall") else ReadByModel
            task = each.removeprefix("llm-")
            made.append(kind(first, settings, task, top_k=top, objective=text, own=own, run=True))
        if (objective or top or over) and made == list(retrievers):
            raise BadRequest(
                "--objective, --top, --over and --report are for what has a language model read passages: "
                f"{', '.join(card.name for card in registry.cards() if card.server)}."
            )
        return tuple(made)

    def without_recited(
        self, benchmark: Benchmark, measured: Sequence[tuple[Run, tuple[Outcome, ...]]], progress: Progress
    ) -> list[tuple[Run, tuple[Outcome, ...]]]:
        """Leave out the examples whose quotation the model recites unseen, and runs of which nothing is left."""
        client = ReadByModel(self.retriever("random", self._settings), self._settings, "score", run=True).client
        shapes = dict.fromkeys(run.shape for run, _ in measured)
        recited = {shape: _recited(benchmark, shape, client, progress) for shape in shapes}
        left = []
        for run, outcomes in measured:
            if some := tuple(each for each in outcomes if each.example_id not in recited[run.shape]):
                left.append((run, some))
        return left

    def against_combined(
        self, measured: Sequence[tuple[Run, tuple[Outcome, ...]]], tell: Callable[[str], None]
    ) -> list[Table]:
        """Compare each run of a language model with Combined's on the same data, or tell that there is none."""
        made, known = [], self._runs.all()
        for run, outcomes in measured:
            if not registry.card(run.retriever).server:
                continue
            asked, model = ("fusion", run.benchmark, run.data_hash, run.shape), model_named(run.configuration)
            same = (each for each in known if (each.retriever, each.benchmark, each.data_hash, each.shape) == asked)
            if combined := next((each for each in same if model_named(each.configuration) == model), None):
                pair = (run, outcomes), (combined, self._runs.outcomes(combined.id))
                made.append(figures.comparison(pair, names=[figures.main_metric(run)]))
            else:
                tell(f"To see {run.label} beside Combined, measure that too: evaluate {run.benchmark} fusion.")
        return made

    def settings_for(self, benchmark: Benchmark) -> Settings:
        """Give the settings with the folder where indexes of a benchmark's works belong.

        Novels of the library have theirs where searching finds them, so that nothing is encoded twice. Pools that were
        given, and editions that the library does not have, are kept apart from what readers prepare.
        """
        if benchmark.card.pool == "whole work":
            stored = {summary.sha256 for summary in self._summaries()}
            if all(book.sha256 in stored for book in benchmark.books()):
                return self._settings
        return self._apart

    @property
    def _apart(self) -> Settings:
        return replace(self._settings, indexes=self._settings.indexes / "benchmarks")

    def _known(self, wanted: str) -> Measured | None:
        run = next((each for each in self._runs.all() if each.id == wanted), None)
        return None if run is None else Measured(run=run, outcomes=self._runs.outcomes(run.id), found=True)

    def _brought_back(self, wanted: str) -> Measured | None:
        try:
            self._runs.restore(wanted)
        except NotFound:
            return None
        return self._known(wanted)


def _recited(benchmark: Benchmark, shape: ContextSize, client: CachedClient, progress: Progress) -> frozenset[str]:
    """Give the ids of the examples whose quotation a model knows by heart."""
    titles, windows = {book.key: book.title for book in benchmark.books()}, benchmark.windows()
    prompts = (
        ask("probe", ("The work", titles[each.book]), claim=claim_text(each.claim(shape)), objective=SUPPORTS)
        for each in windows
    )
    answers = client.all([ModelQuestion(prompt, read_quotation) for prompt in prompts], progress)
    golds = (" ".join(benchmark.work(each.pool).span_text(each.gold).split()) for each in windows)
    return frozenset(
        window.id
        for window, words, gold in zip(windows, answers, golds, strict=True)
        if words and like(words, gold) >= LEAST_RATIO
    )


def _compared(run: Run, moved: tuple[str, ...], count: int, *, renew: bool) -> str:
    if not moved:
        return f"Measured again: every rank is what it was in run {run.id}, which stays."
    kept = "What was measured now takes its place." if renew else "The run stays as it was."
    return (
        f"Measured again: {len(moved):,} of {count:,} ranks are not what they were in run {run.id} of "
        f"{run.created:%d %B %Y}. {kept}"
    )
