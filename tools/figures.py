"""Print the tables of the documentation, made from the runs that came with the program, or check figures.

What runs must come to, within tolerances, stands in a file of expected figures.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

from annotated_types import Ge
from pydantic import FiniteFloat, TypeAdapter

from relic_core.cli.console import ProgressLine
from relic_core.domain import SHAPES, ContextSize, Outcome, Run
from relic_core.domain.figures import Cell, Figure, Table
from relic_core.domain.grouping import grouped
from relic_core.errors import BadBenchmark, BadRequest, NotFound, RelicError
from relic_core.evaluation import figures, metrics
from relic_core.evaluation.papers import NONE, PAPERS
from relic_core.formats.escaping import escape_markdown_cell
from relic_core.formats.files import read_text, written_whole
from relic_core.ports import Progress
from relic_core.reporting.tables import as_markdown
from relic_core.retrieval import registry
from relic_core.retrieval.calibration import model_named
from relic_core.services.runs import SHIPPED
from relic_core.wiring import App
from tools import command
from tools.between_marks import marks, write_between

EXPECTED = SHIPPED / "expected.csv"

MARKS = "figures"
"""Name of the marks between which docs/results.md has its tables."""

TABLE_METRICS = ("recall@1", "recall@10", "recall@100", "mrr", "ndcg@10")
TABLE_SHAPE = SHAPES[-1]
NAMES = ("recall@1", "recall@10", "recall@100", "mean-rank", "mrr", "ndcg@10")
"""The metrics that are expected of a run."""

_LEXICAL, _OTHER = (0.001, 0.005), (0.01, 0.05)
"""How far a figure may be off: by so much, or by this share of it where that is more. Word counts come out the same on
every machine but for near ties; encoders compute in other number formats on other processors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One figure that a run must come to, and how far it may be off."""

    benchmark: str
    data_hash: str
    retriever: str
    shape: str
    metric: str
    value: FiniteFloat
    tolerance: Annotated[FiniteFloat, Ge(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An expected figure held against a run.

    - `found`: None where there is no run.
    - `why`: what is wrong, as a sentence; empty where nothing is.
    """

    expected: Expected
    found: float | None
    why: str = ""


_NUMBER_FORMAT = re.compile(r"\b(?:float32|bfloat16|float16)\b(?: on cuda)?")
_OF_SHORT_CLAIMS = "loci-"
"""How the names of the benchmarks begin that ask short claims."""
_COLUMNS = tuple(field.name for field in fields(Expected))
_EXPECTED = TypeAdapter(Expected)


def read_expected(path: Path = EXPECTED) -> tuple[Expected, ...]:
    """Read a file of expected figures. Raises BadBenchmark: it is damaged; with the line."""
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    if tuple(rows.fieldnames or ()) != _COLUMNS:
        raise BadBenchmark(f"{path} is not a file of expected figures: its first line must be {','.join(_COLUMNS)}.")
    found = []
    for number, row in enumerate(rows, start=2):
        try:
            found.append(_EXPECTED.validate_python(row))
            ContextSize.parse(row["shape"])
            metrics.metric(row["metric"])
        except (ValueError, RelicError) as error:
            raise BadBenchmark(f"{path}, line {number}: {error}") from None
    return tuple(found)


def write_expected(app: App, path: Path = EXPECTED) -> int:
    """Write the figures of the runs that came with the program as what is expected from now on; say how many."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    count = 0
    for run, outcomes in shipped(app):
        for name in NAMES:
            value = round(metrics.figure(name, outcomes), 6)
            least, share = _LEXICAL if registry.card(run.retriever).kind in {"lexical", "baseline"} else _OTHER
            tolerance = round(max(least, share * abs(value)), 6)
            writer.writerow([run.benchmark, run.data_hash, run.retriever, run.shape, name, value, tolerance])
            count += 1
    with written_whole(path) as file:
        file.write(out.getvalue().encode())
    return count


def shipped(app: App) -> tuple[tuple[Run, tuple[Outcome, ...]], ...]:
    """List the runs of the small model that came along, by benchmark, shape and retriever in the registries' order."""
    order = [card.name for card in registry.cards()]
    runs = [run for run in app.runs.all() if run.shipped and model_named(run.configuration) != "larger"]
    named = [card.name for card in app.benchmarks.cards()]

    def place(run: Run) -> tuple[int, str, int, int, str]:
        return (
            named.index(run.benchmark) if run.benchmark in named else len(named),
            run.data_hash,
            SHAPES.index(run.shape) if run.shape in SHAPES else len(SHAPES),
            order.index(run.retriever) if run.retriever in order else len(order),
            run.id,
        )

    return tuple((run, app.runs.outcomes(run.id)) for run in sorted(runs, key=place))


def check(app: App, expected: Sequence[Expected]) -> tuple[Checked, ...]:
    """Hold every expected figure against the newest run with the retriever's own parameters, model and code."""
    runs = app.runs.all()
    chosen: dict[tuple[str, str, str, str], Run | None] = {}
    checked = []
    for each in expected:
        key = (each.benchmark, each.data_hash, each.retriever, each.shape)
        if key not in chosen:
            short = each.benchmark.startswith(_OF_SHORT_CLAIMS)
            now = _any_format(app.measuring.retriever(each.retriever, app.settings).configuration, short=short)
            chosen[key] = next(
                (run for run in runs if _key(run) == key and _any_format(run.configuration, short=short) == now), None
            )
        if run := chosen[key]:
            checked.append(_held(each, app.runs.outcomes(run.id), f"run {run.id}"))
        else:
            again = f"python -m relic_core evaluate {each.benchmark} {each.retriever} --shape {each.shape}"
            again += " --data FILE" if each.benchmark == "relic" else ""
            checked.append(Checked(expected=each, found=None, why=f"There is no such run. Measure it: {again}."))
    return tuple(checked)


def measure(app: App, expected: Sequence[Expected], progress: Progress) -> tuple[Checked, ...]:
    """Measure everything that is expected anew, and hold the figures against it; tell what cannot be measured here."""
    made: dict[tuple[str, str, str], tuple[str, tuple[Outcome, ...]] | str] = {}
    checked = []
    for each in expected:
        key = (each.benchmark, each.retriever, each.shape)
        if key not in made:
            try:
                benchmark = app.benchmarks.open(each.benchmark)
                run = app.measuring.measure(
                    benchmark, each.retriever, ContextSize.parse(each.shape), again=True, renew=False, progress=progress
                )
            except (NotFound, BadBenchmark, BadRequest) as error:
                made[key] = f"It could not be measured here. {error}"
            else:
                made[key] = (run.run.data_hash, run.outcomes)
        found = made[key]
        if isinstance(found, str):
            checked.append(Checked(expected=each, found=None, why=found))
        elif found[0] != each.data_hash:
            why = f"The data here are others ({found[0][:12]}) than those it is expected on ({each.data_hash[:12]})."
            checked.append(Checked(expected=each, found=None, why=why))
        else:
            checked.append(_held(each, found[1], "measured now"))
    return tuple(checked)


_OTHER_FIELDS = frozenset({"birco-arguana", "birco-clinical-trial", "birco-doris-mae-dev"})


def results_tables(app: App) -> str:
    """Make the tables of docs/results.md, from the runs that came with the program, but for the sample's.

    BIRCO's tasks of other fields are in docs/papers.md, beside the published systems.
    """
    runs = [
        (run, outcomes)
        for run, outcomes in shipped(app)
        if run.shape == TABLE_SHAPE and run.split != "sample" and run.benchmark not in _OTHER_FIELDS
    ]
    made = figures.tables(runs, names=TABLE_METRICS)
    notes = dict.fromkeys(note for table in made for note in table.notes)
    parts = [*(as_markdown(_without_constants(table)) for table in made), " ".join(notes)]
    return "\n\n".join(parts) if made else "No run has come with the program yet."


def _without_constants(table: Table) -> Table:
    """Leave out what is one for all, the context and how many claims and candidates there are, and the notes."""
    kept = [at for at, head in enumerate(table.heads) if head not in {"context", "candidates", "n"}]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    candidates = table.rows[0][table.heads.index("candidates")]
    size = candidates.text if isinstance(candidates, Figure) else candidates
    caption = f"{table.caption.removesuffix('.')}, of {size} passages on average."
    return replace(table, caption=caption, heads=tuple(table.heads[at] for at in kept), rows=rows, notes=())


def paper_tables(app: App) -> str:
    """Make the tables of docs/papers.md, our rows of the runs that came with the program alone, of one context."""
    parts = []
    for name, heading in PAPERS.items():
        parts.append(f"## {heading}")
        for table in app.runs.paper(name, shipped=True):
            title = table.caption.removeprefix(f"{heading}, ")
            parts.append(_of_paper(replace(table, caption=title[0].upper() + title[1:])))
    return "\n\n".join(parts)


_HERE = "measured here: "
_PAGE = "docs/papers.md"


def _of_paper(table: Table) -> str:
    """Set the columns of a table that have figures of ours which no other page has; the command prints the others.

    Where there is none, what is said of the table, and where ours are.
    """
    pages = dict.fromkeys(
        said for row in table.rows if (said := str(row[-1]).removeprefix(_HERE)).startswith("docs/") and said != _PAGE
    )
    links = "".join(f" Ours: [{name}]({name})." for name in (page.removeprefix("docs/") for page in pages))
    at = table.heads.index("context") if "context" in table.heads else None
    rows = [row for row in table.rows if at is None or row[at] in {"", str(TABLE_SHAPE)}]
    published = [row for row in rows if row[-1] == "published"]
    ours = _merged(
        row for row in rows if str(row[-1]).startswith(_HERE) and str(row[-1]).removeprefix(_HERE) not in pages
    )
    if not ours:
        return escape_markdown_cell(" ".join([f"{table.caption}.", *table.notes])) + links
    kept = [head for head in range(len(table.heads)) if any(row[head] != NONE for row in ours)]
    figured = [head for head in kept[1:-1] if head != at]
    published = [row for row in published if any(row[head] != NONE for head in figured)]
    shown = tuple(tuple(row[head] for head in kept) for row in (*published, *ours))
    return as_markdown(replace(table, heads=tuple(table.heads[head] for head in kept), rows=shown)) + links


def _merged(rows: Iterable[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Make one row of those of a system that have figures in different columns."""
    merged = []
    for of in grouped(rows, lambda row: str(row[0])).values():
        columns = [[cell for cell in column if cell != NONE] for column in zip(*of, strict=True)]
        if max(len(column) for column in columns[1:-1]) > 1:
            merged += of
            continue
        origin = next((cell for cell in columns[-1] if cell != f"{_HERE}{_PAGE}"), "measured here")
        if len(of) > 1:
            origin = f"{_HERE}several runs"
        merged.append((*(column[0] if column else NONE for column in columns[:-1]), origin))
    return merged


PAGES = {MARKS: results_tables, "papers": paper_tables}
"""Name of the marks in a page -> what makes the tables between them."""


def _held(expected: Expected, outcomes: Sequence[Outcome], where: str) -> Checked:
    found = metrics.figure(expected.metric, outcomes)
    if abs(found - expected.value) <= expected.tolerance + 1e-6:  # values are written with six digits
        return Checked(expected=expected, found=found)
    why = f"It is {found:.4f} ({where}), and {expected.value:.4f} ± {expected.tolerance:.4f} is expected."
    return Checked(expected=expected, found=found, why=why)


def _key(run: Run) -> tuple[str, str, str, str]:
    return run.benchmark, run.data_hash, run.retriever, str(run.shape)


def _any_format(configuration: Mapping[str, str], *, short: bool) -> dict[str, str]:
    """Leave out the number formats, which go by the processor; of long claims how they are read is left out, too."""
    return {
        name: _NUMBER_FORMAT.sub("*", value)
        for name, value in configuration.items()
        if short or "short claim" not in name
    }


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="hold the runs there are against the expected figures")
    what.add_argument("--measure", action="store_true", help="measure all of them anew and check what comes out")
    what.add_argument("--write", type=Path, metavar="FILE", help="put tables between their marks in this file")
    what.add_argument(
        "--expect", action="store_true", help="from now on, expect what the runs that came with the program say"
    )
    parser.add_argument("--expected", type=Path, metavar="FILE", help="other expected figures than the program's own")


def do(app: App, options: Namespace) -> int:
    """Print, check or write."""
    path = options.expected or EXPECTED
    if options.write is not None:
        name = next((each for each in PAGES if marks(each)[0] in read_text(options.write)), MARKS)
        write_between(options.write, name, PAGES[name](app))
        return 0
    if options.expect:
        print(f"{write_expected(app, path):,} figures are expected in {path}.")
        return 0
    if not (options.check or options.measure):
        print(results_tables(app))
        return 0
    wanted = read_expected(path)
    if not wanted:
        print(f"{path} expects no figure, so there is nothing to check.", file=sys.stderr)
        return 1
    if options.measure:
        with ProgressLine("Measuring") as progress:
            checked = measure(app, wanted, progress)
    else:
        checked = check(app, wanted)
    off = [each for each in checked if each.why]
    for each in off:
        figure = each.expected
        print(f"{figure.benchmark} {figure.retriever} {figure.shape} {figure.metric}: {each.why}", file=sys.stderr)
    print(f"{len(checked) - len(off):,} of {len(checked):,} figures are as expected.")
    return 1 if off else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("figures", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
