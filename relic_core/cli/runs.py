"""List the runs, show and compare them, take them in and give them away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relic_core.cli import console
from relic_core.reporting import tables

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from relic_core.cli.console import Commands
    from relic_core.domain import Run
    from relic_core.wiring import App

_WANTED = {
    "list": "no further words",
    "show": "one id",
    "compare": "two ids or more",
    "tag": "an id, and the words in place of its tags",
    "remove": "one id",
    "restore": "one whole id",
    "export": "an id and a file",
    "import": "one file",
}
_USED = {"list": ("format",), "show": ("metric", "by", "format"), "compare": ("metric", "format")}
"""Options that an action takes; none where it is not named."""
_LEAST = {"list": 0, "show": 1, "compare": 2, "tag": 1, "remove": 1, "restore": 1, "export": 2, "import": 1}
_MOST = {"list": 0, "show": 1, "remove": 1, "restore": 1, "export": 2, "import": 1}


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "runs",
        summary="List the runs: what was measured here, or came with the program; or do something with one.",
        examples=(
            "  python -m relic_core runs\n"
            "  python -m relic_core runs show 3f9a01c2b4d5\n"
            "  python -m relic_core runs show 3f9a --by length\n"
            "  python -m relic_core runs compare 3f9a 77c2 b01e --metric recall@10 --metric mrr\n"
            "  python -m relic_core runs tag 3f9a tuned first-try\n"
            "  python -m relic_core runs remove 3f9a\n"
            "  python -m relic_core runs restore 3f9a01c2b4d5\n"
            "  python -m relic_core runs export 3f9a ranks.parquet\n"
            "  python -m relic_core runs import bm25.json"
        ),
    )
    parser.add_argument(
        "action", nargs="?", choices=tuple(_LEAST), default="list", metavar="ACTION",
        help="list, show ID, compare ID ID ..., tag ID WORD ..., remove ID, restore ID, export ID FILE, import FILE",
    )  # fmt: skip
    parser.add_argument("said", nargs="*", metavar="ID", help="the beginning of an id will do")
    parser.add_argument(
        "--metric", action="append", metavar="NAME", help="show or compare by this; may be given several times"
    )
    parser.add_argument("--by", choices=tables.PARTS, default="", help="show: a row for each of these")
    parser.add_argument("--format", choices=tables.FORMATS, default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:
    """Do it."""
    from relic_core.services import exchange, figures

    action, said = options.action, options.said
    if not _LEAST[action] <= len(said) <= _MOST.get(action, len(said)):
        options.refuse(f"runs {action} wants {_WANTED[action]}")
    console.refuse_unused(
        options, f"runs {action}", {"metric": None, "by": "", "format": "table"}, _USED.get(action, ())
    )
    if action == "list":
        return _list(app, options)
    if action == "import":
        taken, new = exchange.take_in(app, Path(said[0]))
        print(f"{_name(taken)} was taken in." if new else f"{_name(taken)} is here already.")
        return 0
    if action == "restore":
        print(f"{_name(exchange.bring_back(app, said[0]))} is back.")
        return 0
    if action == "compare":
        chosen = [exchange.find(app, each) for each in said]
        measured = [(each, app.runs.outcomes(each.id)) for each in chosen]
        names = options.metric or [figures.main_metric(chosen[0])]
        print(tables.write((figures.comparison(measured, names=names),), options.format))
        return 0
    found = exchange.find(app, said[0])
    if action == "show":
        return _show(app, found, options)
    if action == "tag":
        app.runs.tag(found.id, said[1:])
        print(f"{_name(found)} {_tagged(found.tags, said[1:])}")
    elif action == "remove":
        app.runs.remove(found.id)
        print(f"{_name(found)} is removed. Bring it back: python -m relic_core runs restore {found.id}")
    else:
        exchange.export(app, found, Path(said[1]))
        print(f"{_name(found)} is in {said[1]}.")
    return 0


def _list(app: App, options: Namespace) -> int:
    runs = app.runs.all()
    table = tables.Table(
        caption="",
        heads=("id", "benchmark", "chosen from", "retriever", "context", "n", "made", "tags"),
        rows=tuple(
            (
                run.id,
                run.benchmark,
                run.pool,
                run.label,
                str(run.shape),
                run.examples,
                f"{run.created:%Y-%m-%d}",
                ", ".join((*run.tags, *(["came with the program"] if run.shipped else []))),
            )
            for run in runs
        ),
    )
    if runs or options.format != "table":
        print(tables.write((table,), options.format))
    else:
        print("Nothing has been measured yet. Begin with: python -m relic_core evaluate sample dense-relic")
    return 0


def _show(app: App, run: Run, options: Namespace) -> int:
    from relic_core.services import figures

    names = figures.columns(options.metric)
    made = figures.tables([(run, app.runs.outcomes(run.id))], names=names, by=options.by)
    if options.format != "table":
        print(tables.write(made, options.format))
        return 0
    facts = [
        ("run", run.id),
        ("retriever", f"{run.label} ({run.retriever})"),
        *sorted(run.configuration.items()),
        ("benchmark", f"{run.benchmark}{f', {run.split}' if run.split else ''}"),
        ("context", str(run.shape)),
        ("data", run.data_hash),
        ("program", run.code),
        ("machine", ", ".join(f"{name} {value}" for name, value in sorted(run.machine.items()))),
        ("seconds", f"{run.seconds:,.3f}"),
        ("index", f"{run.index_bytes:,} bytes"),
        ("made", f"{run.created:%Y-%m-%d %H:%M} UTC"),
        ("tags", ", ".join(run.tags)),
        ("again", f"{run.command} --again"),
    ]
    print(console.table(("", ""), facts).lstrip("\n"), end="\n\n")
    print(tables.write(made, options.format))
    return 0


def _tagged(before: Sequence[str], now: Sequence[str]) -> str:
    """Say what a run is tagged, and what that replaced.

    >>> _tagged((), ["tuned"]), _tagged(("first", "tuned"), ["tuned"]), _tagged(("tuned",), [])
    ('is tagged: tuned.', 'is tagged: tuned. No longer: first.', 'has no tags. No longer: tuned.')
    """
    said = f"is tagged: {', '.join(dict.fromkeys(now))}." if now else "has no tags."
    gone = [tag for tag in before if tag not in now]
    return f"{said} No longer: {', '.join(gone)}." if gone else said


def _name(run: Run) -> str:
    return f"Run {run.id} ({run.label} on {run.benchmark}, {run.shape})"
