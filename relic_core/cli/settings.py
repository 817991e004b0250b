"""Show every setting, its value and where it comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from relic_core import config
from relic_core.cli import console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from relic_core.cli.console import Commands
    from relic_core.wiring import App


def add_parser(commands: Commands) -> ArgumentParser:
    """Describe the command."""
    parser = console.command(
        commands,
        "settings",
        summary="Show every setting, its value and where it comes from: the environment, a file, or neither.",
        examples=(
            "  python -m relic_core settings\n"
            "  python -m relic_core settings --example > relic.toml\n"
            "  RELIC_CONFIG=/etc/relic.toml python -m relic_core settings --format json"
        ),
    )
    parser.add_argument("--example", action="store_true", help="write a commented file of settings instead")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default: %(default)s)")
    return parser


def run(app: App, options: Namespace) -> int:  # noqa: ARG001 - every command has the same two
    """Print the settings, or an example of a file."""
    if options.example:
        print(config.example(), end="")
        return 0
    found = config.stated()
    if options.format == "json":
        rows = [{"name": each.name, "value": each.value, "comes_from": each.comes_from} for each in found]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    heads = ("setting", "value", "comes from")
    print(console.table(heads, [(each.name, each.value, each.comes_from) for each in found]))
    return 0
