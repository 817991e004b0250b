"""Documents: the commands they show are ones that the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.typed import parse

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
