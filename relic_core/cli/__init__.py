"""Commands, one file each. A new one is a module with `add_parser` and `run`, and one line in `COMMANDS`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from relic_core import __version__
from relic_core.cli import (
    add,
    backup,
    catalogue,
    cite,
    concordance,
    console,
    dataset,
    describe,
    evaluate,
    export,
    hand_over,
    health,
    history,
    index,
    job,
    jobs,
    mine,
    notebook,
    remove,
    restore,
    runs,
    search,
    settings,
    setup,
    sources,
    study,
    train,
    works,
)
from relic_core.config import Settings
from relic_core.errors import RelicError
from relic_core.wiring import build

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    setup,
    settings,
    add,
    catalogue,
    works,
    describe,
    remove,
    restore,
    backup,
    hand_over,
    index,
    search,
    history,
    concordance,
    notebook,
    cite,
    mine,
    sources,
    dataset,
    train,
    evaluate,
    runs,
    study,
    export,
    jobs,
    health,
    job,
)
"""In the order of the help."""

TOOLS = ("bench", "figures", "prompts", "reliability", "tune")
"""Commands that moved out of the program, to `tools` in a checkout."""

FAILED = 1
STOPPED = 130

_EPILOG = """\
a first round:
  python -m relic_core setup
  python -m relic_core works
  python -m relic_core search averhythe "The brass bolt stands for a false certainty" --length 2

Settings are read from RELIC_* in the environment and from relic.toml in the project (RELIC_CONFIG names another file);
`settings` shows them all.
Exit codes: 0 done, 1 it could not be done (the message says why), 2 wrong usage, 130 stopped by Ctrl-C."""


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the command line with every command.

    Parsed options carry ``run``, the command, and ``refuse``, which ends with its usage and a message (exit code 2).
    """
    parser = argparse.ArgumentParser(
        prog="python -m relic_core",
        description="Find the quotation that supports a literary claim.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"RELiC Workbench {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        described = command.add_parser(commands)
        described.set_defaults(run=command.run, refuse=described.error)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    - `arguments`: in place of ``sys.argv[1:]``.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in TOOLS:
        return _tool(given[0], given[1:])
    options = make_parser().parse_args(given)
    try:
        for name, value in vars(options).items():
            if isinstance(value, str):
                console.check_utf8(name, value)
        code: int = options.run(build(Settings.from_environment()), options)
    except RelicError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe (`| head`) has seen enough; nothing more may be written to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _tool(name: str, arguments: Sequence[str]) -> int:
    """Hand over to the tool of a checkout."""
    try:
        tool = import_module(f"tools.{name}" if name == "figures" else f"tools.{name}.__main__")
    except ModuleNotFoundError:
        print(f"`{name}` is a tool of the project's source: run it there, as python -m tools.{name}.", file=sys.stderr)
        return FAILED
    code: int = tool.main(arguments)
    return code
