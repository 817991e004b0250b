"""Composed search: fit its probabilities, build a set of composed claims, and measure it against one claim.

`fit` fits the sigmoids of a retriever on claims of dev and says how far the probabilities hold. `build` composes
critics' claims by QUEST's seven templates (Malaviya et al. 2023, table 1) and writes the set: a category is a critic's
claim, its answers are the sentences that the critic quotes for it. The set names windows and sentences and holds no
text. `measure` holds composed search against a search with the whole sentence as one claim. Nothing is changed.
"""

from __future__ import annotations

import random
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.cli.console import ProgressLine
from relic_core.domain import COMPOSING, LENGTHS, Claim, Corpus, Joined, QuotationContext, Ranking, Work
from relic_core.domain.figures import Figure, Table
from relic_core.errors import BadRequest
from relic_core.evaluation.calibrating import (
    PASSAGES,
    Scored,
    best_threshold,
    draw,
    f1,
    fitted,
    prepare,
)
from relic_core.evaluation.intervals import interval_of, over_of
from relic_core.formats.envelope import Envelope
from relic_core.ports import Benchmark, Progress, Retriever
from relic_core.reporting import tables
from relic_core.retrieval import composing, registry
from relic_core.retrieval.search import Findings, Question
from relic_core.wiring import App
from tools import command
from tools.tune.bm25 import check_split

Floats = npt.NDArray[np.float64]
Thresholds = tuple[float, float]

TEMPLATES: dict[str, tuple[Joined, ...]] = {
    "A": ("and",),
    "A or B": ("and", "or"),
    "A and B": ("and", "and"),
    "A not B": ("and", "not"),
    "A or B or C": ("and", "or", "or"),
    "A and B and C": ("and", "and", "and"),
    "A and B not C": ("and", "and", "not"),
}
FEWEST, MOST = 2, 20
"""Answers of a query, as in QUEST."""
WORDS = 8
"""Words that a critic's sentence must have to be taken for a claim."""
CUTOFFS = (20, 100)
_SEED = "composed claims 1"
_FILE = Envelope("composed claims", 1, ("benchmark", "data", "works", "queries"), {})
_BINS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def bare_claim(window: QuotationContext) -> str:
    """Give the sentence before a quotation, where it is long enough to be a claim; else nothing."""
    sentence = window.left[-1] if window.left else ""
    return sentence if len(sentence.split()) >= WORDS else ""


def some(benchmark: Benchmark, works: Sequence[str]) -> list[QuotationContext]:
    """List the windows with a claim, of the works named or of all; of a claim that stands twice the first."""
    found = {
        (window.pool, text): window
        for window in reversed(benchmark.windows())
        if (text := bare_claim(window)) and (not works or window.pool in works)
    }
    if not found:
        raise BadRequest(f"{benchmark.card.label} has no claim on these works. Name others with --works.")
    return sorted(found.values(), key=lambda window: window.id)


def backgrounds(
    retriever: Callable[[str], Retriever], claim: Claim, work: Work, length: int, names: Sequence[str]
) -> dict[str, Ranking]:
    """Rank all spans of a work for a claim by some retrievers, as a search does."""
    found = Findings(
        question=Question(claim=claim, wanted=frozenset()), corpus=Corpus.of(work), length=length, masks={}
    )
    found.ask(registry.in_order(names), retriever)
    for name in names:
        if name in found.refusals:
            raise found.refusals[name]
    return found.backgrounds


def fit(app: App, options: Namespace, progress: Progress) -> tuple[Table, ...]:
    """Fit the sigmoids for every length, and hold them against works that they were not fitted on."""
    benchmark = app.benchmarks.open(options.benchmark)
    check_split(benchmark)
    windows = some(benchmark, options.works)
    works = {window.pool: benchmark.work(window.pool) for window in windows}
    prepare(app.retrievers.get(COMPOSING[0]), list(works.values()), progress)
    scored: dict[tuple[str, int], list[Scored]] = {}
    for done, window in enumerate(windows):
        progress(done, len(windows), "Asking")
        for length in LENGTHS:
            claim, work = Claim(bare_claim(window)), works[window.pool]
            found = backgrounds(app.retrievers.get, claim, work, length, COMPOSING)
            for name in COMPOSING:
                scored.setdefault((name, length), []).append(draw(window, found[name], options.others))
    made = []
    for name in COMPOSING:
        rows: list[tuple[str | Figure, ...]] = []
        held = []
        for length in LENGTHS:
            of = scored[name, length]
            sigmoid = fitted(of)
            rows.append((f"{length}", f"{sigmoid.slope:g}", f"{sigmoid.intercept:g}"))
            for left_out in works:
                apart = fitted([each for each in of if each.work != left_out])
                held += [(apart(each.scores), each.is_gold) for each in of if each.work == left_out]
        probabilities, golds = (np.concatenate(each) for each in zip(*held, strict=True))
        about = f"{len(windows):,} claims on {len(works)} works of {benchmark.card.label}, {options.others} others each"
        made.append(
            Table(caption=f"Sigmoids of {name}: {about}.", heads=("length", "slope", "intercept"), rows=tuple(rows))
        )
        made.append(_reliability(name, probabilities, golds))
    return tuple(made)


def _reliability(name: str, predicted: Floats, golds: npt.NDArray[np.bool_]) -> Table:
    """Say of probabilities, bin by bin, how often they came true."""
    bins = np.searchsorted(_BINS, predicted, side="right")
    borders = (0.0, *_BINS, 1.0)
    rows = [
        (
            f"{borders[at]:g} to {borders[at + 1]:g}",
            f"{predicted[of].mean():.3f}",
            f"{golds[of].mean():.3f}",
            f"{of.sum():,}",
        )
        for at in range(len(borders) - 1)
        if (of := bins == at).any()
    ]
    gap = sum(
        abs(float(predicted[of].mean() - golds[of].mean())) * of.mean()
        for at in set(bins.tolist())
        if (of := bins == at).any()
    )
    return Table(
        caption=f"Reliability of {name}, all lengths, each work by sigmoids fitted without it.",
        heads=("probability", "mean", "came true", "n"),
        rows=tuple(rows),
        notes=(f"Expected calibration error: {gap:.4f}.",),
    )


@dataclass(frozen=True, slots=True)
class Query:
    """A composed claim: its template, the windows whose claims it joins, and the sentences that answer it."""

    template: str
    work: str
    windows: tuple[str, ...]
    answers: tuple[int, ...]


def answers(template: str, quoted: Sequence[frozenset[int]]) -> frozenset[int]:
    """Give the sentences that answer a template, given those quoted for each claim.

    >>> sorted(answers("A and B not C", [frozenset({1, 2, 3}), frozenset({2, 3, 4}), frozenset({3})]))
    [2]
    """
    found = quoted[0]
    for joined, each in zip(TEMPLATES[template][1:], quoted[1:], strict=True):
        found = found & each if joined == "and" else found | each if joined == "or" else found - each
    return found


def compose_queries(windows: Sequence[QuotationContext], most: int) -> Iterator[Query]:
    """Compose queries of the claims about each work, at most so many of a template, drawn by a seed.

    Each claim has a part in the answer: what is left out, or joined by and, shares a sentence with it.
    """
    quoted = {window.id: frozenset(range(window.gold.start, window.gold.end)) for window in windows}
    by_work: dict[str, list[str]] = {}
    for window in windows:
        by_work.setdefault(window.pool, []).append(window.id)
    sharing = {
        each: [other for other in of if other != each and quoted[each] & quoted[other]]
        for of in by_work.values()
        for each in of
    }
    work_of = {window.id: window.pool for window in windows}
    for template, joined in TEMPLATES.items():
        drawing = random.Random(f"{_SEED} {template}")  # noqa: S311 - no secret
        if "or" in joined:
            every = [drawing.sample(of, len(joined)) for of in by_work.values() if len(of) >= len(joined) for _ in of]
        else:
            every = [[each, *rest] for each, of in sharing.items() for rest in permutations(of, len(joined) - 1)]
        seen: set[tuple[object, ...]] = set()
        kept = []
        for ids in drawing.sample(every, len(every)):
            found = answers(template, [quoted[each] for each in ids])
            key = (frozenset(ids[:-1]), ids[-1]) if "not" in joined else (frozenset(ids),)
            if FEWEST <= len(found) <= MOST and key not in seen:
                seen.add(key)
                kept.append(Query(template, work_of[ids[0]], tuple(ids), tuple(sorted(found))))
        yield from kept[:most]


def build(app: App, options: Namespace, progress: Progress) -> tuple[Table, ...]:  # noqa: ARG001 - as the others
    """Build the set and write it."""
    benchmark = app.benchmarks.open(options.benchmark)
    queries = list(compose_queries(some(benchmark, options.works), options.most))
    content = {
        "benchmark": benchmark.card.name,
        "data": benchmark.data_hash,
        "works": list(options.works),
        "queries": [
            {"template": each.template, "work": each.work, "windows": list(each.windows), "answers": list(each.answers)}
            for each in queries
        ],
    }
    options.out.write_bytes(_FILE.write(content))
    counts = [
        (name, f"{len(of)}", f"{np.mean([len(each.answers) for each in of]) if of else 0:.1f}")
        for name in TEMPLATES
        for of in [[each for each in queries if each.template == name]]
    ]
    caption = f"Composed claims from {benchmark.card.label}, {len({each.work for each in queries})} works."
    notes = (f"Written to {options.out}; sha256 {_FILE.digest(content)}.",)
    return (Table(caption=caption, heads=("template", "queries", "mean answers"), rows=tuple(counts), notes=notes),)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one way of searching makes of one query: ranks of its answers, and the probabilities that decide the set."""

    ranks: Floats
    answers: tuple[int, ...]
    probabilities: Floats

    def mrecall(self, k: int) -> float:
        """Whether all answers are among the first k."""
        return float(self.ranks.max() <= k)

    def f1(self, threshold: float) -> float:
        """F1 of the set of all sentences from a threshold on."""
        return f1(self.probabilities, self.answers, threshold)


def measured(probabilities: Floats, query: Query) -> Measured:
    """Look up the answers of a query among all sentences of its work."""
    ranking = Ranking(
        "", 1, ("",), np.zeros(len(probabilities), np.int32), np.arange(len(probabilities), dtype=np.int32),
        probabilities.astype(np.float32), len(probabilities),
    )  # fmt: skip
    return Measured(ranking.ranks[list(query.answers)].astype(np.float64), query.answers, probabilities)


def as_one_sentence(claims: Sequence[str], joined: Sequence[Joined]) -> str:
    """Write joined claims as a reader would type them in one sentence.

    >>> as_one_sentence(["Storms rage.", "It is at sea."], ["and", "not"])
    'Storms rage, but not It is at sea.'
    """
    words = {"and": "and", "or": "or", "not": "but not"}
    first, *others = [claim.rstrip(" .:;,") for claim in claims]
    return ", ".join([first, *(f"{words[how]} {text}" for how, text in zip(joined[1:], others, strict=True))]) + "."


def measure(app: App, options: Namespace, progress: Progress) -> tuple[Table, ...]:
    """Measure composed search and the baseline; thresholds are chosen where it is asked for, on dev alone."""
    content = _FILE.read(options.file.read_bytes(), str(options.file))
    benchmark = app.benchmarks.open(content["benchmark"])
    if benchmark.data_hash != content["data"]:
        raise BadRequest(f"{options.file} was built from other windows or works than are here. Build it anew.")
    if options.choose:
        check_split(benchmark)
    windows = {window.id: window for window in some(benchmark, content["works"])}
    queries = [
        Query(each["template"], each["work"], tuple(each["windows"]), tuple(each["answers"]))
        for each in content["queries"]
    ]
    name = options.retriever
    works = [benchmark.work(work) for work in dict.fromkeys(each.work for each in queries)]
    prepare(app.retrievers.get(name), works, progress)
    known = app.search.joining(name)
    kept: dict[tuple[str, str], Floats] = {}

    def asked(text: str, work: str) -> Floats:
        if (text, work) not in kept:
            ranking = backgrounds(app.retrievers.get, Claim(text), benchmark.work(work), 1, [name])[name]
            kept[text, work] = known.sigmoids[0](composing.reached(ranking))
        return kept[text, work]

    ours, theirs = [], []
    for done, query in enumerate(queries):
        progress(done, len(queries), "Asking")
        claims, joined = [bare_claim(windows[each]) for each in query.windows], TEMPLATES[query.template]
        parts = np.stack([asked(claim, query.work) for claim in claims])
        ours.append(measured(composing.compose(joined, parts), query))
        theirs.append(measured(asked(as_one_sentence(claims, joined), query.work), query))
    our: Thresholds = (known.threshold, known.threshold_and)
    their: Thresholds = tuple(options.baseline) if options.baseline else our
    if options.choose:
        our, their = best_thresholds(queries, ours), best_thresholds(queries, theirs)
    return (_compared(name, queries, (ours, our), (theirs, their)),)


def threshold_of(query: Query, thresholds: Thresholds) -> float:
    """Choose between the threshold of a query without "and" and that of one with it."""
    return thresholds[TEMPLATES[query.template].count("and") > 1]


def best_thresholds(queries: Sequence[Query], found: Sequence[Measured]) -> Thresholds:
    """Choose the thresholds with the best mean F1, of queries without "and" and with it."""

    def best(of: Sequence[Measured]) -> float:
        return best_threshold([(one.probabilities, one.answers) for one in of])

    with_and = [TEMPLATES[query.template].count("and") > 1 for query in queries]
    without, others = ([one for one, each in zip(found, with_and, strict=True) if each is how] for how in (False, True))
    return best(without), best(others)


def _compared(
    name: str,
    queries: Sequence[Query],
    ours: tuple[Sequence[Measured], Thresholds],
    theirs: tuple[Sequence[Measured], Thresholds],
) -> Table:
    def values(k: int, side: tuple[Sequence[Measured], Thresholds]) -> Floats:
        """Give MRecall@k of each query, or F1 where k is 0; in per cent."""
        pairs = zip(queries, side[0], strict=True)
        return 100 * np.array([one.mrecall(k) if k else one.f1(threshold_of(query, side[1])) for query, one in pairs])

    metrics = {f"MRecall@{k}": k for k in CUTOFFS} | {"F1": 0}
    pairs = [(values(k, ours), values(k, theirs)) for k in metrics.values()]
    over = over_of([query.work for query in queries])
    rows: list[tuple[str, ...]] = []
    for template in ("all", *TEMPLATES):
        of = np.array([template in ("all", query.template) for query in queries])
        works = [query.work for query, chosen in zip(queries, of.tolist(), strict=True) if chosen]
        cells: list[str] = []
        for one, two in pairs if works else ():
            cells += [f"{one[of].mean():.1f}", f"{two[of].mean():.1f}", f"{(one - two)[of].mean():+.1f}"]
            if template == "all":
                gain = interval_of(one - two, works, over=over)
                cells[-1] += f" ({gain.low:+.1f} to {gain.high:+.1f})"
        rows.append((template, f"{len(works)}", *(cells or [""] * 3 * len(pairs))))
    heads = [f"{metric}{part}" for metric in metrics for part in (", joined", ", one claim", ", gain")]
    (our, our_and), (their, their_and) = ours[1], theirs[1]
    return Table(
        caption=f"Joined claims against the whole sentence, by {name}, in per cent; intervals over {over}.",
        heads=("template", "n", *heads),
        rows=tuple(rows),
        notes=(f"Thresholds, without and with and: joined {our:g} {our_and:g}, one claim {their:g} {their_and:g}.",),
    )


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, do, about in (
        ("fit", fit, fit.__doc__),
        ("build", build, build.__doc__),
        ("measure", measure, measure.__doc__),
    ):
        each = verbs.add_parser(verb, help=about, description=about)
        each.set_defaults(do=do)
        each.add_argument("--format", choices=tables.FORMATS, default="table")
        if verb == "measure":
            each.add_argument("file", type=Path, help="what build wrote")
            each.add_argument("--retriever", choices=COMPOSING, default=COMPOSING[0])
            each.add_argument("--choose", action="store_true", help="choose the thresholds, on dev alone")
            each.add_argument("--baseline", type=float, nargs=2, metavar="P", help="thresholds of the whole sentence")
            continue
        each.add_argument("benchmark", metavar="BENCHMARK")
        each.add_argument("--works", nargs="*", default=[], metavar="SLUG", help="only these works")
        if verb == "fit":
            each.add_argument("--others", type=int, default=PASSAGES, metavar="N", help="passages beside each gold")
        else:
            each.add_argument("--most", type=int, default=40, metavar="N", help="queries of a template")
            each.add_argument("--out", type=Path, required=True, metavar="FILE")


def do(app: App, options: Namespace) -> int:
    """Do what was asked for and print it."""
    with ProgressLine(options.verb.capitalize()) as progress:
        made = options.do(app, options, progress)
    print(tables.write(made, options.format))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("composed", __doc__ or "", add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
