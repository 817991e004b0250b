"""The program as people install it: a wheel in an environment of its own, outside the checkout, and its one command."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from relic_core.installed import MODULE
from tools.bench.parts import free_port
from tools.reliability.visit import Visit

PROJECT = Path(__file__).resolve().parents[2]
LETTER = "It was a small room, and the letter on its table had been opened and closed again by a careful hand."
START_SECONDS = 180


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy: building writes beside what it builds."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in ("relic_core", "relic_ui", "pages", "docs", ".streamlit"):
        shutil.copytree(PROJECT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    files = ("app.py", "setup.py", "pyproject.toml", "README.md", "LICENSE")
    for path in [*(PROJECT / file for file in files), *PROJECT.glob("requirements*.txt")]:
        shutil.copy(path, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", target, source], check=True)
    (built,) = target.glob("*.whl")
    return built


class Installed:
    """The program in an environment, used by somebody whose home is new."""

    def __init__(self, folder, wheel):
        self.home, self.away, environment = folder / "home", folder / "away", folder / "environment"
        self.home.mkdir()
        self.away.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        self.packages = next(environment.glob("lib/python*/site-packages"))
        # What the program needs is here already; nothing is fetched again.
        (self.packages / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", f"--python={environment}/bin/python", "install", "--quiet", "--no-index"]
        subprocess.run([*pip, "--no-deps", wheel], check=True)
        self.relic = str(environment / "bin" / "relic")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RELIC_", "XDG_", "PYTHON"))}
        self.environment = {**kept, "HOME": str(self.home), "RELIC_FETCH_LARGER": "no"}

    def run(self, *typed):
        return subprocess.run(
            [self.relic, *typed], cwd=self.away, env=self.environment, capture_output=True, text=True, check=False
        )

    def said(self, *typed):
        done = self.run(*typed)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    made = Installed(tmp_path_factory.mktemp("installed"), wheel)
    assert "is ready to search" in made.said("setup")
    return made


def test_the_wheel_has_the_app_its_pages_and_all_that_stands_beside_the_code(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {path for folder in ("relic_core", "relic_ui") for path in (PROJECT / folder).rglob("*") if path.is_file()}
    files = {str(path.relative_to(PROJECT)) for path in ours if "__pycache__" not in path.parts}
    assert len(files) > 500
    assert files - names == set()
    parts = [*PROJECT.glob("pages/*.py"), *PROJECT.glob("docs/*.md"), *PROJECT.glob("docs/pictures/*")]
    app = {f"relic_ui/_app/{path.relative_to(PROJECT)}" for path in parts}
    assert app | {"relic_ui/_app/app.py", "relic_ui/_app/.streamlit/config.toml"} <= names
    assert [name for name in names if name.startswith(("tests/", "tools/", "data/", "indexes/", "app.py"))] == []


def test_the_wheel_needs_what_the_requirements_pin(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    needed = {
        line.removeprefix("Requires-Dist: ").split(";")[0]
        for line in archive.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist: ")
    }
    pinned = set()
    for name in ("", "-cluster", "-mcp", "-signin"):
        lines = (PROJECT / f"requirements{name}.txt").read_text(encoding="utf-8").splitlines()
        pinned |= {line.split("#")[0].strip() for line in lines if line[:1].isalnum()}
    assert needed == pinned


def test_an_installed_program_answers_a_search(installed):
    found = installed.said("search", "averhythe", "The brass bolt is a false certainty", "--results", "3")
    assert "dense-RELiC" in found
    assert "bolt" in found


def test_an_installed_program_checks_a_draft(installed):
    draft = installed.away / "essay.md"
    draft.write_text(
        "In *High Water at Averhythe* the bolt is introduced with care: “It is a bolt of brass, as broad as a crown "
        f"piece.” Another sentence is in no work of ours: “{LETTER}”\n",
        encoding="utf-8",
    )
    found = installed.said("check", "essay.md")
    assert "1 to the letter" in found
    assert "1 not found" in found


def test_an_installed_program_answers_an_assistant(installed):
    pytest.importorskip("mcp", reason="The package mcp is not installed (requirements-mcp.txt).")
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(command=installed.relic, args=["mcp"], env=installed.environment, cwd=installed.away)
    with (installed.away / "mcp.log").open("w", encoding="utf-8") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(server, errlog=log), read_timeout_seconds=180)
        with portal.wrap_async_context_manager(client) as connected:
            read = portal.call(connected.call_tool, "read_passage", {"work": "averhythe", "sentences": 1})
    assert read.structured_content["passage"]["at"] == "1.1.1"


def test_an_installed_program_starts_its_app(installed):
    port = free_port()
    environment = {**installed.environment, "STREAMLIT_SERVER_HEADLESS": "true"}
    with subprocess.Popen(
        [installed.relic, "app", "--port", str(port)],
        cwd=installed.away, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            url = f"http://localhost:{port}"
            wait_until_healthy(url, process)
            with Visit(url) as visit:
                drawn = b"".join(each.SerializeToString() for each in visit.open("find"))
                recall = b"".join(each.SerializeToString() for each in visit.open("recall"))
        finally:
            process.terminate()
            said = process.communicate(timeout=120)[0]
    assert b"High Water at Averhythe" in drawn
    assert b"relic evaluate" in recall
    assert b"-m relic_core" not in recall + drawn
    assert "Traceback" not in said
    assert "Network URL" not in said, "its configuration is in the wheel"


def wait_until_healthy(url, process):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own
            return
        time.sleep(0.1)
    pytest.fail("The app did not start.")


def test_what_an_installed_program_keeps_is_among_its_persons_data_and_nowhere_else(installed):
    settings = {line.split()[0]: line for line in installed.said("settings").splitlines()}
    assert str(installed.home) in settings["data"]
    assert [path.name for path in installed.home.rglob("relic.duckdb")] == ["relic.duckdb"]
    assert [path.name for path in installed.home.rglob("indexes")] == ["indexes"]
    for name in ("data", "indexes", "relic.toml"):
        assert not (installed.packages / name).exists()
    assert not (installed.packages.parent / "data").exists()


def test_what_it_says_to_type_is_its_one_command(installed):
    refused = installed.run("works", "--nothing")
    assert refused.returncode == 2
    assert "Usage: relic works" in refused.stderr
    unknown = installed.run("remove", "No Such Work")
    assert "`relic works` lists" in unknown.stderr
    typed = ("search", "--help"), ("--help",), ("sources",), ("runs",), ("train", "--list"), ("settings", "--example")
    said = [unknown.stderr, *(installed.said(*each) for each in typed)]
    assert [each for each in said if "-m relic_core" in each] == []


def test_sentences_that_are_no_errors_name_the_command_that_works_where_they_are_said():
    """What is raised, noted or shown as an example is put right where it is shown; nothing else is."""
    found = []
    for path in (*PROJECT.glob("relic_core/**/*.py"), *PROJECT.glob("relic_ui/**/*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        put_right = {id(each) for node in nodes if is_put_right(node) for each in ast.walk(node)}
        texts = [node for node in nodes if isinstance(node, ast.Constant) and MODULE in str(node.value)]
        found += [f"{path.name}:{each.lineno}" for each in texts if id(each) not in put_right]
    assert [each for each in found if not each.startswith("installed.py")] == []


def is_put_right(node):
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    shown = isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"note", "command"}
    return isinstance(node, ast.Raise) or docstring or shown
