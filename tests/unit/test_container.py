"""The container, held against the project: what it installs, who it runs as, what it keeps, how it is asked."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
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
    (version,) = re.findall(r"python:(\d+\.\d+)", " ".join(said(steps, "ARG")))
    described = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f">={version}" == described["project"]["requires-python"]
    assert f"We test with {version} on Debian" in (PROJECT / "README.md").read_text(encoding="utf-8")


def test_nothing_is_installed_but_what_is_listed_with_its_hash(steps):
    install = next(at for at, step in enumerate(steps) if "pip install" in step.said)
    copied = {name for step in steps[:install] if step.word == "COPY" for name in step.said.split()[:-1]}
    commands = steps[install].said.split("&&")
    assert all("--require-hashes" in command and "--no-deps" in command for command in commands)
    assert {name for command in commands for name in re.findall(r"-r (\S+)", command)} == copied
    for name in copied:
        text = re.sub(r"(?m)^#.*$", "", (PROJECT / name).read_text(encoding="utf-8"))
        assert re.fullmatch(r"(?:\s*[\w.-]+==[\w.]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\s*)+", text)


def test_images_are_named_by_version_and_may_be_named_by_digest(steps, services):
    (image,) = [step.said.split("=", 1)[1] for step in steps if step.said.startswith("PYTHON_IMAGE=")]
    named = r"[a-z]+:\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?"
    assert re.fullmatch(named, image)
    assert said(steps, "FROM") == ["${PYTHON_IMAGE}"]
    assert re.fullmatch(rf"\$\{{RELIC_CADDY:-{named}\}}", services["proxy"]["image"])


def test_no_container_takes_all_of_the_machine(services):
    assert all(service["mem_limit"] and service["pids_limit"] for service in services.values())
    megabytes = re.fullmatch(
        r"\$\{RELIC_LIBRARY_MEMORY:-(\d+)\}", services["relic"]["environment"]["RELIC_LIBRARY_MEMORY"]
    )
    assert int(megabytes[1]) < 1_000 * int(re.search(r":-(\d+)g", services["relic"]["mem_limit"])[1])


@pytest.mark.skipif(shutil.which("caddy") is None, reason="There is no caddy here.")
def test_over_https_no_cookie_of_the_proxy_goes_by_http():
    command = ["caddy", "adapt", "--adapter", "caddyfile", "--config", str(PROJECT / "Caddyfile")]
    routes = json.dumps(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    secure = '"match": [{"protocol": "https"}]'
    assert secure in routes
    assert '"Set-Cookie": [{"replace": "$1; Secure"' in routes


def copy_context(root):
    """Copy what the image is built from, as .dockerignore lets it in."""
    lines = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line.rstrip("/") for line in lines if line and not line.startswith("#")]

    def ignored(folder, names):
        at = Path(folder).relative_to(PROJECT)
        return [
            name
            for name in names
            if any(
                fnmatch(str(at / name), pattern) or ("/" not in pattern and fnmatch(name, pattern))
                for pattern in patterns
            )
        ]

    shutil.copytree(PROJECT, root, ignore=ignored, dirs_exist_ok=True)


STUBS = """
useradd() { echo useradd "$@" >> "$ROOT/asked"; }
chown() { echo chown "$@" >> "$ROOT/asked"; }
pip() { echo pip "$@" >> "$ROOT/asked"; }
"""
"""What needs root, or the network: written down instead of done."""


def test_its_steps_make_a_root_in_which_the_program_is_well(steps, environment, tmp_path):
    """Without a container's engine: in a folder as root, with the packages that are installed here."""
    root = tmp_path / "root"
    at = root / "app"
    copied = set()
    for step in steps:
        if step.word == "WORKDIR":
            at = root / step.said.lstrip("/")
            at.mkdir(parents=True)
        elif step.word == "COPY" and step.said.endswith(". ."):
            copy_context(at)
            copied.add(".")
        elif step.word == "COPY":
            *names, _ = step.said.split()
            copied |= {Path(shutil.copy(PROJECT / name, at)).name for name in names}
        elif step.word == "RUN":
            root.mkdir(exist_ok=True)
            script = STUBS + re.sub(r"(?<![\w.])/srv/", f"{root}/srv/", step.said)
            given = {"ROOT": str(root), "PATH": os.environ["PATH"], "TORCH_INDEX": "https://torch.example/cpu"}
            subprocess.run(["sh", "-ec", script], cwd=at if at.exists() else root, env=given, check=True)
    asked = (root / "asked").read_text(encoding="utf-8")
    assert {"pip.txt", "hashes.txt", "."} == copied
    assert asked.count("pip install --require-hashes") == 2
    for path in (at / "requirements.txt", at / "tests", at / ".git"):
        assert path.exists() == (path.name == "requirements.txt")
    own = {name: value.replace("/srv/", f"{root}/srv/") for name, value in environment.items()}
    own |= {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    check = listed(steps, "HEALTHCHECK")[1:4]
    well = subprocess.run([sys.executable, *check], cwd=at, env=own, capture_output=True, text=True, check=False)
    assert well.returncode == 0, well.stdout + well.stderr
    assert str(root / "srv" / "relic" / "data") in well.stdout


@pytest.mark.skipif(not os.environ.get("RELIC_NETWORK"), reason="It asks PyPI: set RELIC_NETWORK=1.")
def test_every_hash_is_one_of_the_index():
    from tools import dependencies

    names = dependencies.container()
    pins = dependencies.pins()
    known = dependencies.fetch_hashes([f"{name}=={pins[name]}" for name in names])
    text = (PROJECT / "hashes.txt").read_text(encoding="utf-8")
    assert all(digest in text for digests in known.values() for digest in digests)


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
