"""The container, held against the project: what it installs, who it runs as, what it keeps, how it is asked."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from pathlib import Path, PurePosixPath

import pytest
import yaml
from streamlit import config as streamlit_config

from relic_core.cli import main
from relic_core.config import Settings

PROJECT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Step:
    word: str
    said: str


@pytest.fixture(scope="module")
def steps():
    """Read the steps of the Dockerfile, their lines joined and comments dropped."""
    text = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", kept)
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def environment(steps):
    pairs = [pair for step in steps if step.word == "ENV" for pair in step.said.split()]
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))["services"]


@pytest.fixture(scope="module")
def service(services):
    """The app's own."""
    return services["relic"]


def said(steps, word):
    return [step.said for step in steps if step.word == word]


def listed(steps, word):
    """Give the words of the last step of a kind, written as JSON."""
    return json.loads(re.search(r"\[.*\]", said(steps, word)[-1])[0])


def test_the_python_is_one_that_is_tested(steps):
    (version,) = re.findall(r"python:(\d+\.\d+)", said(steps, "FROM")[0])
    described = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f">={version}" == described["project"]["requires-python"]
    assert f"We test with {version} on Debian" in (PROJECT / "README.md").read_text(encoding="utf-8")


def test_every_list_of_requirements_that_is_installed_is_there_with_those_it_names(steps):
    install = next(at for at, step in enumerate(steps) if "pip install" in step.said)
    copied = {name for step in steps[:install] if step.word == "COPY" for name in step.said.split()[:-1]}
    wanted, seen = re.findall(r"-r (\S+)", steps[install].said), set()
    while wanted:
        file = wanted.pop()
        seen.add(file)
        wanted += re.findall(r"(?m)^-[rc] (\S+)", (PROJECT / file).read_text(encoding="utf-8"))
    assert "requirements-signin.txt" in seen
    assert seen == copied


def test_it_runs_as_nobody_of_importance_and_may_not_change_the_program(steps, service):
    (user,) = said(steps, "USER")
    assert user not in {"root", "0"}
    assert any(f" {user} " in f" {step.said} " and "useradd" in step.said for step in steps if step.word == "RUN")
    order = [step.word for step in steps]
    assert order.index("USER") < order.index("CMD")
    assert any("--chown=root:root . ." in step.said for step in steps if step.word == "COPY")
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert "no-new-privileges:true" in service["security_opt"]


def test_what_people_add_is_kept_in_volumes(steps, environment, service):
    kept = [environment["RELIC_DATA"], environment["RELIC_INDEXES"]]
    assert listed(steps, "VOLUME") == kept
    mounted = dict(volume.split(":")[:2] for volume in service["volumes"])
    assert sorted(mounted.values()) == sorted(kept)
    declared = yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))["volumes"]
    assert set(mounted) <= set(declared)
    owned = next(step.said for step in steps if "chown -R" in step.said)
    assert all(PurePosixPath(path).is_relative_to("/srv/relic") for path in kept)
    assert "chown -R relic:relic /srv/relic" in owned


def test_every_setting_of_the_container_is_one(environment, service):
    given = environment | service["environment"]
    named = {name: "x" for name in given if name.startswith("RELIC_")}
    assert set(named) <= set(Settings().to_environment())
    options = {
        f"STREAMLIT_{key.replace('.', '_').upper()}" for key in map(snake, streamlit_config.get_config_options())
    }
    assert {name for name in given if name.startswith("STREAMLIT_")} <= options
    assert Settings.from_environment({name: environment[name] for name in named if name in environment})


def snake(key):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key)


def test_the_port_is_the_same_everywhere_and_the_proxy_s_open_to_this_machine_alone(steps, services):
    (port,) = said(steps, "EXPOSE")
    assert f"--server.port={port}" in listed(steps, "CMD")
    assert f"http://localhost:{port}" in listed(steps, "HEALTHCHECK")
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert services["proxy"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert services["proxy"]["environment"]["RELIC_SERVERS"] == f"${{RELIC_SERVERS:-relic:{port}}}"


def test_a_second_process_is_the_same_on_the_same_library_and_runs_where_it_is_asked_for(services):
    assert services["second"] == services["relic"] | {"profiles": ["second"]}


def test_the_command_starts_the_app_and_the_health_check_is_a_command_there_is(steps):
    command = listed(steps, "CMD")
    assert command[:4] == ["python", "-m", "streamlit", "run"]
    assert (PROJECT / command[4]).is_file()
    check = listed(steps, "HEALTHCHECK")
    assert check[:3] == ["python", "-m", "relic_core"]
    assert (check[3], main([*check[3:], "--help"])) == ("health", 0)


def test_no_model_is_looked_for_on_the_network(environment):
    assert environment["HF_HUB_OFFLINE"] == "1"


def test_nothing_private_gets_into_an_image():
    ignored = set((PROJECT / ".dockerignore").read_text(encoding="utf-8").split("\n"))
    assert {"data/", "indexes/", "relic.toml", "secrets.toml", ".streamlit/secrets.toml", ".git/"} <= ignored
    unshared = set((PROJECT / ".gitignore").read_text(encoding="utf-8").split("\n"))
    assert {"data/", "relic.toml", "secrets.toml"} <= unshared
    assert "relic_core/" not in ignored
    assert "pages/" not in ignored
