"""Ask every retriever the prompts that the RELiC paper tried (Tables 6 and A5), and show its first three hits.

They can be judged blind by two readers; a report of it is kept (docs/prompts.md).
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from relic_core.cli.console import ProgressLine
from relic_core.domain import Span
from relic_core.errors import NotFound
from relic_core.wiring import App
from tools import command
from tools.prompts.asking import Answered, ask, left_out

_WIDEST = 100
_TAKEN = {"sheet": "seed", "write": "read", "check": "", "table": "", "": "retriever"}
"""What the command does, by the option that says so, with the option that goes with it."""


def add_options(parser: ArgumentParser) -> None:
    """Describe the options."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sheet", type=Path, metavar="FILE", help="write a sheet (CSV) for a reader to fill in")
    what.add_argument("--write", type=Path, metavar="FILE", help="make the report (JSON) with the sheets of --read")
    what.add_argument("--check", action="store_true", help="ask again; say where the report that is here differs")
    what.add_argument(
        "--table", nargs="?", type=Path, const=Path(), metavar="FILE",
        help="print the report's figures in Markdown, or put them between the marks of this page",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, metavar="N", help="draws the order of a sheet (default 0)")
    parser.add_argument("--read", type=Path, action="append", default=[], metavar="FILE", help="a sheet filled in")
    parser.add_argument(
        "--retriever",
        action="append",
        default=[],
        metavar="NAME",
        help="show only this one; may be given several times",
    )


def do(app: App, options: Namespace) -> int:
    """Show, write or check. 1 where a check finds other hits."""
    does = next(name for name in _TAKEN if not name or getattr(options, name))
    command.refuse_unused(options, f"prompts{f' --{does}' * bool(does)}", (does, _TAKEN[does]))
    if options.seed is not None and options.seed < 0:
        options.parser.error("--seed is a whole number from 0")
    return {"sheet": _sheet, "write": _write, "check": _check, "table": _table, "": _show}[does](app, options)


def _ask(app: App, names: Sequence[str] = ()) -> tuple[Answered, ...]:
    with ProgressLine("Asking") as progress:
        return ask(app, names, progress)


def _show(app: App, options: Namespace) -> int:
    from tools.prompts.reports import shipped

    answers = _ask(app, options.retriever)
    try:
        verdicts: Mapping[str, Sequence[str]] = shipped().verdicts
    except NotFound:  # it has not been made: there are none to show
        verdicts = {}
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    for each in answers:
        prompt = each.prompt
        sentences = f"{prompt.length} sentence{'s' * (prompt.length > 1)}"
        asked = f"{prompt.prompt.title}, {sentences} (Table {prompt.table}): “{prompt.prompt.claim}”"
        print(textwrap.fill(asked, width), end="\n\n")
        for name, spans in each.hits.items():
            print(f"  {app.retrievers.card(name).label}:")
            for rank, span in enumerate(spans, start=1):
                print(_hit(each, rank, span, verdicts.get(each.id_of(span), ()), width))
            if not spans:
                print("      No passage shares a word with it.")
            print()
    for prompt, why in left_out():
        print(f"{prompt.prompt.title} (Table {prompt.table}) is not asked: {why}.")
    return 0


def _hit(answered: Answered, rank: int, span: Span, verdicts: Sequence[str], width: int) -> str:
    from relic_core.reporting.passages import quotation

    place = answered.work.place(span)
    where = f"{place.chapter}, {place.fraction:.0%} into the work · {place.address}"
    where += f" · readers: {', '.join(verdicts)}" if verdicts else ""
    words = " ".join(quotation(answered.work, span).plain.split())
    lines = [textwrap.fill(words, width, initial_indent=f"{rank:6d}  ", subsequent_indent=" " * 8)]
    lines.append(textwrap.fill(where, width, initial_indent=" " * 8, subsequent_indent=" " * 8))
    return "\n".join(lines)


def _sheet(app: App, options: Namespace) -> int:
    from tools.prompts.reports import VERDICTS, check_free, write_sheet

    check_free(options.sheet)
    count = write_sheet(options.sheet, _ask(app), seed=options.seed or 0)
    print(f"{count} passages stand in {options.sheet}. Each wants one verdict: {', '.join(VERDICTS)}.")
    return 0


def _write(app: App, options: Namespace) -> int:
    from relic_core.reporting.tables import write
    from tools.prompts.reports import check_readers, figures, make_report, read_sheets, write_report

    check_readers(options.read)
    answers = _ask(app)
    sheets = read_sheets(options.read, [id_ for each in answers for id_ in each.passages])
    report = make_report(app, answers, sheets)
    write_report(options.write, report)
    print(write((figures(report),), "table"))
    print(f"\nThe report stands in {options.write}.")
    return 0


def _check(app: App, options: Namespace) -> int:  # noqa: ARG001 - as all of them
    from tools.prompts.reports import changed_makers, differences, shipped

    report = shipped()
    answers = _ask(app)
    off = differences(report, app, answers)
    for sentence in (*changed_makers(report, app, answers), *off):
        print(sentence, file=sys.stderr)
    if off:
        return 1
    print("Every retriever's first hits are those of the report.")
    return 0


def _table(app: App, options: Namespace) -> int:  # noqa: ARG001 - as all of them
    from tools.between_marks import write_between
    from tools.prompts.reports import page_table

    if options.table == Path():
        print(page_table())
    else:
        write_between(options.table, "prompts", page_table())
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("prompts", __doc__, add_options, do, arguments)


if __name__ == "__main__":
    sys.exit(main())
