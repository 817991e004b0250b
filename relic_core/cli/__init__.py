"""The command line. A command's module is imported when the command is called, or its own help is asked for.

A new command is a function in a module of this package (see `commands`) and a line here.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING

import click

from relic_core import __version__
from relic_core.errors import RelicError
from relic_core.installed import COMMAND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.wiring import App

FAILED = 1
STOPPED = 130

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Works": {
        "setup": ("works", "Add the sample work and prepare it for searching."),
        "add": ("works", "Add texts to the library: files, folders, books of Project Gutenberg."),
        "catalogue": ("works", "List the 79 works that RELiC was built from, or add some of them."),
        "works": ("works", "List the works of the library."),
        "describe": ("works", "Correct what is said of a work, and of its edition for citations."),
        "cite": ("works", "Cite a work, or a passage of it."),
        "remove": ("works", "Take a work out of the library."),
        "restore": ("running", "Put back a removed work, or a whole library from a back-up."),
        "index": ("works", "Prepare works for searching by meaning."),
    },
    "Search": {
        "search": ("search", "Find the passages that support a claim, or that are like another passage."),
        "attribute": ("attribution", "Find the work that a passage, or words in it, come from."),
        "check": ("drafts", "Check every quotation of a draft against the library."),
        "history": ("history", "List what was asked; ask again, compare, share."),
        "echoes": ("echoes", "Find where a work echoes others: quotations, allusions, shared phrases."),
        "concordance": ("concordance", "Look a word or phrase up: every place of it, in its context."),
    },
    "Notebook": {
        "notebook": ("notebook", "The passages that you kept: list, save, take in, measure on your verdicts.")
    },
    "Criticism and data set": {
        "mine": ("criticism", "Find the quotations in secondary sources."),
        "sources": ("criticism", "List the secondary sources that were mined, or their windows."),
        "dataset": ("dataset", "Split, check and count what was mined; write or rebuild the public-domain RELiC."),
        "export": ("criticism", "Write what was mined to files: pairs, windows, or a whole data set."),
    },
    "Evaluation": {
        "evaluate": ("evaluation", "Measure retrievers on a benchmark."),
        "runs": ("runs", "List, show and compare what was measured; take runs in and give them away."),
        "paper": ("runs", "Print every table of a paper beside what is measured here."),
        "diagnose": ("runs", "Say why the quotations of a run were missed."),
    },
    "Training": {"train": ("training", "Train a model of your own on the quotations that were found.")},
    "Studies": {"study": ("studies", "People and models choose the missing quotation out of three.")},
    "Assistants": {"mcp": ("assistants", "Let an assistant find, check, read and cite passages.")},
    "Running it": {
        "app": ("running", "Start the app: its pages in the browser."),
        "settings": ("running", "Show every setting, its value and where it comes from."),
        "health": ("running", "Say whether everything is as it should be."),
        "jobs": ("running", "List the latest jobs, or stop one."),
        "backup": ("running", "Write everything that cannot be made again into one file."),
        "hand-over": ("running", "Hand what was kept over to a person who signs in."),
    },
    "": {"job": ("running", "")},
}
"""Section -> command -> its module and what the list says of it. The one without a name is not listed."""

TOOLS = ("bench", "figures", "prompts", "reliability", "tune")
"""Commands that moved out of the program, to `tools` in a checkout."""

_EPILOG = f"""\b
A first round:
  {COMMAND} setup
  {COMMAND} works
  {COMMAND} search averhythe "The brass bolt stands for a false certainty" --length 2

Settings are read from RELIC_* in the environment and from relic.toml beside the data (RELIC_CONFIG names another file);
`settings` shows them all.

Exit codes: 0 done, 1 it could not be done (the message says why), 2 wrong usage, 130 stopped by Ctrl-C."""


class _Program(click.Group):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        found = next((each[cmd_name] for each in SECTIONS.values() if cmd_name in each), None)
        if found is None:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{found[0]}"), cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        for section, commands in SECTIONS.items():
            if section:
                with formatter.section(section):
                    formatter.write_dl([(f"{name:<11}", help_text) for name, (_, help_text) in commands.items()])


PROGRAM = _Program(
    commands=[click.Command(name) for name in chain.from_iterable(SECTIONS.values())],
    help="Find the quotation that supports a literary claim.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[],
)
click.version_option(__version__, message="RELiC Workbench %(version)s")(PROGRAM)


def make_app(engine: str = "") -> App:
    """Build what commands work with; an engine that was typed stands over that of the settings."""
    from relic_core.config import Settings
    from relic_core.wiring import build

    settings = Settings.from_environment()
    return build(replace(settings, engine=engine) if engine else settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, of ``sys.argv`` where none is given; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="backslashreplace")  # a locale such as POSIX has no curly quotes
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except RelicError as error:
        show_error(error)
        return FAILED
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe (`| head`) has seen enough; nothing more may be written to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def show_error(error: RelicError) -> None:
    """Say what could not be done."""
    print(error, file=sys.stderr)


def _run(typed: list[str]) -> int:
    if typed and typed[0] in TOOLS:
        name = f"tools.{typed[0]}"
        try:
            tool = import_module(name if typed[0] == "figures" else f"{name}.__main__")
        except ModuleNotFoundError:
            raise RelicError(
                f"`{typed[0]}` is a tool of the project's source: run it there, as python -m {name}."
            ) from None
        return int(tool.main(typed[1:]))
    with PROGRAM.make_context(COMMAND, typed, obj=make_app) as context:
        return int(PROGRAM.invoke(context))
