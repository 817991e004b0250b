"""The script that counts the house, on a house of a few lines."""

from __future__ import annotations

import json

import pytest

from tools import house

TREE = {
    "relic_core/__init__.py": "",
    "relic_core/__main__.py": "from relic_core import errors\n",
    "relic_core/errors.py": (
        '"""Errors."""\n\n# a comment\nSAID = "The work is not stored anywhere"\n\n\nclass Narrowing:\n    """One."""\n'
    ),
    "relic_core/wiring.py": "from relic_core.services.works import Works\nclass App:\n    works: Works\n",
    "relic_core/store/__init__.py": "class Rows:\n    def __init__(self, path): ...\n",
    "relic_core/services/works.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from relic_core.wiring import App\n"
        "class Works:\n"
        "    def __init__(self, app: App): ...\n"
        "    def get(self, work):\n        '''Read it.'''\n        return self.rows.get(work)\n"
        "    def first(self, work):\n        return self.rows.get(work, 1)\n"
    ),
    "relic_core/services/search.py": (
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Shelf:\n    rows: Rows\n    others: Rows\n"
        "@dataclass\nclass Answer:\n    a: int\n    b: int\n    c: int\n    def total(self): ...\n"
        "class Search:\n    def __init__(self, shelf: Shelf, b: int, *, c: int, d: int, e: int): ...\n"
    ),
    "relic_ui/cards.py": (
        "def show(app):\n    return app.store.works, app.works.restore, _all(app)\n"
        "def _all(app):\n    '''Whoever is told.'''\n    return [a for b in app for a in b]\n"
    ),
    "app.py": "import relic_ui\n",
    "tests/unit/test_works.py": (
        "def test_of_prose(): assert 'it is not stored anywhere at all'\n"
        "def test_of_no_prose():\n    '''It is not stored anywhere.'''\n    assert 'is_not_stored anywhere'\n"
    ),
    "tests/browser/test_journey.py": "def test_journey(): ...\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_small_house_is_counted(root, capsys):
    assert house.main(["--root", str(root), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures.pop("help_seconds") > 0
    assert figures == {
        "core_files": 7, "core_lines": 37, "core_code": 30, "services_files": 2, "services_lines": 23,
        "all_lines": 43, "tests_lines": 5,
        "core_tokens": 170, "core_characters": 802, "core_median_line": 16.0, "core_nested": 0.0,
        "core_once_percent": 0.0, "ui_tokens": 42, "ui_characters": 153, "ui_median_line": 26, "ui_nested": 250.0,
        "ui_once_percent": 50.0,
        "long_functions": 0, "many_parameters": 0, "type_checking": 1,
        "circles": 1, "largest_circle": 2, "wiring_importers": 1, "services_importing_wiring": 1, "store_reached": 1,
        "constructor_most": 6, "constructors_above_5": 1, "locators": 1, "whole_stores": 0, "passing_along": 1,
        "help_modules": 2, "wiring_modules": None,
        "tests": 3, "journeys": 1, "prose_tests": 1, "prose_tests_percent": 33.3, "dialect": 1, "dialect_phrases": 2,
    }  # fmt: skip


def test_what_was_counted_is_listed(root, capsys):
    house.main(["--root", str(root), "--verbose"])
    listed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith(" ")]
    assert listed == [
        "cards.py _all",
        "relic_core/services/works.py:2",
        "2: relic_core.services.works relic_core.wiring",
        "relic_core/services/works.py",
        "relic_core/services/works.py",
        "relic_ui/cards.py:2 app.store",
        "6 relic_core/services/search.py:12 Search",
        "relic_core/services/works.py:4 Works",
        "relic_core/services/works.py:6 get",
        "1 tests/unit/test_works.py",
        "1 Narrowing",
        "relic_ui/cards.py: Whoever",
        "relic_ui/cards.py: is told",
    ]


@pytest.mark.parametrize(("limit", "held"), [("circles=1", True), ("circles=0", False), ("wiring_modules=60", False)])
def test_a_limit_is_held_where_the_figure_is_there_and_not_above_it(root, limit, held):
    assert house.main(["--root", str(root), "--max", limit]) == (0 if held else 1)
