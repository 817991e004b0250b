"""Command lines as they are typed: what became of one, and parsing one without running it."""

from __future__ import annotations

import argparse
import inspect
from typing import Any, NamedTuple
from unittest import mock

import click

from relic_core import cli
from relic_core.cli.commands import ENGINE, Command


class Ran(NamedTuple):
    """What became of a command: its exit code, what it printed, and the error of ours that it ended with."""

    code: int
    out: str
    err: str
    error: Exception | None


def parse(words: list[str]) -> tuple[int, dict[str, Any], list[Any]]:
    """Parse a command line; gives the exit code, what each option gives, and the other words."""
    options: dict[str, Any] = {}
    others: list[Any] = []

    def keep(command: click.Command, ctx: click.Context) -> int:
        typed = {name: value for name, value in ctx.params.items() if name != ENGINE}
        inspect.signature(command.callback or keep).bind(None, **typed)  # as it would be called
        for each in command.params:
            value = ctx.params[str(each.name)]
            if isinstance(each, click.Option):
                options.update(dict.fromkeys(each.opts, value))
            else:
                others.extend(value if isinstance(value, tuple) else [] if value in (None, "") else [value])
        return 0

    def keep_of_tool(_name: str, _about: str, add_options: Any, _do: Any, arguments: list[str]) -> int:
        parser = argparse.ArgumentParser()
        add_options(parser)
        given = vars(parser.parse_args(arguments))
        options.update((name, given.get(each.dest)) for name, each in parser._option_string_actions.items())
        return 0

    with mock.patch.object(Command, "invoke", keep), mock.patch("tools.command.run", keep_of_tool):
        try:
            code = cli.main(words)
        except SystemExit as ended:  # of a tool
            code = int(ended.code or 0)
    return code, options, others
