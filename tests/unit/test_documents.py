"""Documents: the commands they show are ones that the program takes."""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from pathlib import Path

import pytest

from tests.typed import parse
from tools import documented

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").glob("*.md"))]

_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(r"^(?:\S*/)?python3? -m relic_core ([^|>\n]+)", re.MULTILINE)
"""Up to where a shell would lead the output elsewhere."""


def _shown(page: Path) -> list[str]:
    blocks = _FENCED.findall(page.read_text(encoding="utf-8").replace("\\\n", " "))
    return [line for block in blocks for line in _SHOWN.findall(block)]


COMMANDS = [(page.name, line) for page in PAGES for line in _shown(page)]


def test_documents_show_commands():
    assert {"README.md", "mining.md", "training.md", "evaluation.md"} <= {name for name, _ in COMMANDS}


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_that_a_document_shows_is_understood(page, line):
    assert parse(shlex.split(line, comments=True))[0] == 0, f"{page} shows a command that is refused: {line}"


def test_sixty_commands_can_be_run_in_a_clean_clone_and_the_others_have_a_reason():
    commands = documented.printed()
    able = [each for each in commands if not each.needs]
    assert len(able) >= 60
    assert all(each.needs in {"", *documented.NEEDS} for each in commands)
    for each in able:
        words = shlex.split(each.run.partition(" >")[0].partition("python -m ")[2])
        assert words[0] != "relic_core" or parse(words[1:])[0] == 0, each.run


def test_a_command_that_fails_is_told_with_what_it_wrote(monkeypatch, tmp_path, capsys):
    class Clone:
        def __init__(self, folder):
            self.filled = str

        def run(self, said):
            return int("works" in said), "It wrote this."

    monkeypatch.setattr(documented, "Clone", Clone)
    assert documented.main(Namespace(page=["commands"])) == 1
    wrote = capsys.readouterr()
    assert "1 failed" in wrote.out
    assert "It wrote this." in wrote.err
