"""Every command and option that there ever was goes on working as it was typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from relic_core import cli
from tests.typed import parse

PROJECT = Path(__file__).resolve().parents[2]
TYPED = json.loads((PROJECT / "tests" / "golden" / "commands.json").read_text(encoding="utf-8"))
OPTIONS = [(name, option) for name, each in TYPED["commands"].items() for option in each["options"]]


def plain(value: Any) -> Any:
    """Compare by what stands there: no value, an empty one and none given are one."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value] or None
    return str(value) if isinstance(value, Path) else value or None


@pytest.mark.parametrize("name", TYPED["commands"])
def test_every_command_is_there(name):
    assert parse(TYPED["commands"][name]["typed"])[0] == 0


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=" ".join)
def test_every_option_is_taken_before_and_after_the_words_and_has_its_default(name, option):
    command, words = name.split()[0], TYPED["commands"][name]["typed"]
    card = TYPED["commands"][name]["options"][option]
    assert plain(parse(words)[1][option]) == plain(card["default"])
    typed = [option, *card["takes"]]
    orders = [[*words, *typed], [command, *typed, "--", *words[1:]], [*words[:2], *typed, "--", *words[2:]]]
    for order in orders[:1] if command in cli.TOOLS else orders:
        code, given, _ = parse(order)
        assert (code, plain(given.get(option))) == (0, plain(card["gives"])), order


@pytest.mark.parametrize("words", TYPED["examples"], ids=" ".join)
def test_every_example_is_taken(words):
    assert parse(words)[0] == 0


@pytest.mark.parametrize("line", TYPED["odd"], ids=lambda line: " ".join(line["typed"]))
def test_words_are_told_from_options_as_ever(line):
    code, given, words = parse(line["typed"])
    assert (code, words) == (0, line["words"])
    assert {name: plain(given[name]) for name in line["gives"]} == {
        name: plain(value) for name, value in line["gives"].items()
    }


@pytest.mark.parametrize("words", TYPED["refused"], ids=" ".join)
def test_wrong_usage_is_refused(words):
    assert parse(words)[0] == 2


def test_names_and_options_may_be_typed_in_any_order():
    assert parse(["evaluate", "birco-pools", "--data", "folder", "bm25"])[2] == ["birco-pools", "bm25"]


def leaves() -> list[tuple[str, click.Command]]:
    found = []
    for name in cli.PROGRAM.commands:
        command = cli.PROGRAM.get_command(click.Context(cli.PROGRAM), name)
        assert command is not None
        found.append((name, command))
        found += [(f"{name} {action}", each) for action, each in getattr(command, "commands", {}).items()]
    return found


@pytest.mark.parametrize(("name", "command"), leaves(), ids=lambda each: each if isinstance(each, str) else "")
def test_every_command_has_help_whose_examples_are_taken(name, command, capsys):
    assert parse([*name.split(), "--help"])[0] == 0
    assert name.split()[0] in capsys.readouterr().out


def test_the_help_lists_every_command_but_the_hidden_one_and_loads_little():
    script = (
        "import sys; from relic_core.cli import main; main(['--help']);"
        "print(*{'duckdb', 'numpy', 'torch', 'relic_core.domain'} & set(sys.modules), file=sys.stderr)"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in said.stdout.splitlines() if line.startswith("  ") and line[2] != " "]
    assert set(cli.PROGRAM.commands) - set(listed) == {"job"}
    assert said.stderr.strip() == ""
