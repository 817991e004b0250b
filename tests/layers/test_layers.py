"""The shape of the house: who may import whom, and what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("relic_core", "relic_ui")
MODULES = sorted(path for name in PACKAGES for path in (PROJECT / name).rglob("*.py"))
SCRIPTS = sorted([*(PROJECT / "pages").glob("*.py"), *PROJECT.glob("app.py")])

# Where the heavy or far-reaching packages may be imported: the package, and the folders and files that may.
HOMES = {
    "torch": ("relic_core/encoders/", "relic_core/training/"),
    "transformers": ("relic_core/encoders/", "relic_core/training/"),
    "sentence_transformers": ("relic_core/encoders/", "relic_core/training/"),
    "accelerate": ("relic_core/training/",),
    "peft": ("relic_core/training/",),
    "duckdb": ("relic_core/store/",),
    "streamlit": ("relic_ui/", "pages/", "app.py"),
}
OPEN_TO_PAGES = {"services", "reporting", "domain", "config", "errors"}


class Import(NamedTuple):
    """One imported name: "a.b" from `import a.b`, "a.b.c" from `from a.b import c`."""

    path: Path
    line: int
    name: str


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports(path: Path) -> list[Import]:
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [Import(path, node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import; write the whole name"
            found += [Import(path, node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def show(path: Path, line: int = 0) -> str:
    place = path.relative_to(PROJECT).as_posix()
    return f"{place}:{line}" if line else place


def test_the_declared_contracts_hold():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    linted = subprocess.run([*command, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize("package", HOMES)
def test_a_heavy_package_is_imported_only_at_home(package):
    strays = [
        show(found.path, found.line)
        for path in [*MODULES, *SCRIPTS]
        for found in imports(path)
        if found.name.split(".")[0] == package and not show(path).startswith(HOMES[package])
    ]
    assert strays == [], f"{package} may be imported in {HOMES[package]} alone"


def test_pages_reach_the_core_through_its_open_rooms_only():
    strays = [
        f"{show(found.path, found.line)} imports {found.name}"
        for path in SCRIPTS
        for found in imports(path)
        if found.name.startswith("relic_core.") and found.name.split(".")[1] not in OPEN_TO_PAGES
    ]
    assert strays == [], f"pages and app.py import from relic_core only {sorted(OPEN_TO_PAGES)}"


def test_no_room_is_a_lumber_room():
    named = {"utils", "util", "helpers", "common", "misc"}
    assert [show(path) for path in MODULES if named & {path.stem, path.parent.name}] == []


def test_only_commands_print():
    printing = [
        show(path, node.lineno)
        for path in MODULES
        if not show(path).startswith(("relic_core/cli/", "relic_core/__main__.py"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def test_starting_the_search_loads_neither_torch_nor_streamlit():
    """BM25 must answer before the heavy libraries are there, and the core must run without the pages."""
    script = (
        "import sys, relic_core.wiring;"
        "print([name for name in ('torch', 'transformers', 'streamlit') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert loaded.stdout.strip() == "[]", loaded.stdout + loaded.stderr


def test_nothing_of_one_machine_is_in_the_project():
    """No path of a developer's machine and no host of a package registry stands in a file that is committed."""
    elsewhere = re.compile(
        r"/(?:work|farm|root|home|Users)/|pypi\.org|pythonhosted\.|deb\.debian|debian\.org|registry\.npmjs|registry\.yarnpkg"
    )
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("This copy of the project is not a git checkout, so nothing tells its files from others.")
    found = []
    for path in map(PROJECT.joinpath, filter(None, listed.stdout.split("\0"))):
        if path.is_file() and b"\0" not in (data := path.read_bytes()):
            text = data.decode("utf-8", errors="replace")
            found += [f"{show(path)}: {match.group()}" for match in elsewhere.finditer(text)]
    assert found == []


# ---- the door --------------------------------------------------------------------------------------------------------


def taken_of_the_app(node: ast.AST) -> bool:
    """Whether an expression is a service of the app, or something of one, that is not called on the spot."""
    return isinstance(node, ast.Attribute) and (
        (isinstance(node.value, ast.Name) and node.value.id in {"app", "_app"}) or taken_of_the_app(node.value)
    )


def own(function: ast.AST) -> list[ast.AST]:
    """List the nodes of a function without those of functions defined in it."""
    found, waiting = [], list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def called_later(function: ast.AST) -> list[ast.AST]:
    """List what may run after a function has: functions defined in it, arguments of partials and by keyword."""
    nodes = own(function)
    partials = [each.args for each in nodes if isinstance(each, ast.Call) and ast.unparse(each.func) == "partial"]
    keywords = [each.value for each in nodes if isinstance(each, ast.keyword) and not isinstance(each.value, ast.Call)]
    return [*(each for each in nodes if isinstance(each, ast.FunctionDef | ast.Lambda)), *chain(*partials), *keywords]


def services_kept(function: ast.AST) -> set[str]:
    """List the names under which a function keeps services of the app."""
    pairs = []
    for each in own(function):
        if isinstance(each, ast.Assign):
            target, value = each.targets[-1], each.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs += zip(target.elts, value.elts, strict=True) if several else [(target, value)]
    return {target.id for target, value in pairs if isinstance(target, ast.Name) and is_service(value)}


def is_service(node: ast.AST) -> bool:
    return taken_of_the_app(node) and not ast.unparse(node).startswith("app.settings")


def test_what_runs_without_its_page_asks_the_app_itself_and_so_the_door():
    strays, fragments = [], 0
    for path in [*(PROJECT / "relic_ui").rglob("*.py"), *SCRIPTS]:
        for function in (each for each in ast.walk(tree(path)) if isinstance(each, ast.FunctionDef)):
            if any("fragment" in ast.unparse(each) for each in function.decorator_list):
                fragments += 1
                if not any(isinstance(each, ast.Name) and each.id == "app" for each in ast.walk(function)):
                    strays.append(f"{show(path, function.lineno)}: a fragment that never asks the app")
            kept = services_kept(function)
            for later in called_later(function):
                names = {each.id for each in ast.walk(later) if isinstance(each, ast.Name)}
                if names & kept or is_service(later):
                    strays.append(f"{show(path, later.lineno)}: {ast.unparse(later)[:60]}")
    assert fragments >= 7, "the fragments are not found any more"
    assert strays == [], "Streamlit calls these without the page: have them take what they use from `app` then"


def test_keys_of_a_visit_are_declared_in_its_record():
    """A key that is written out is asked of `relic_ui.visit`, where types know it."""
    key = re.compile(r'session_state(?:\[|\.(?:get|pop|setdefault)\()"(\w+)"')
    places = {path.name: key.findall(path.read_text(encoding="utf-8")) for path in MODULES + SCRIPTS}
    assert {name: keys for name, keys in places.items() if keys} == {}
