"""What the program is installed from: licences, hashes, advisories; nothing is asked of the network."""

from __future__ import annotations

import json
import re

import pytest

from relic_core.config import PROJECT
from tools import dependencies

OLD = {"id": "PYSEC-1", "affected": [{"package": {"name": "Duckdb"}, "versions": ["0.1"]}]}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setattr(dependencies, "_pip", lambda *_: pytest.fail("the index was asked"))


def test_no_pin_is_under_a_licence_that_is_refused(capsys):
    assert dependencies.main([]) == 0
    assert f"{len(dependencies.pins())} packages; nothing" in capsys.readouterr().out


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "GNU General Public License v2 (GPLv2)", "LGPL-2.1", "AGPL-3.0"])
def test_a_licence_that_is_refused_ends_with_1(monkeypatch, capsys, licence):
    monkeypatch.setattr(dependencies, "licence_of", lambda name: licence if name == "duckdb" else "MIT")
    assert dependencies.main([]) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("duckdb "))
    assert line.endswith("REFUSED")


def ranged(*events):
    affected = {"package": {"name": "duckdb"}, "ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}
    return {"id": "PYSEC-2", "affected": [affected]}


@pytest.mark.parametrize(
    ("advisory", "version", "concerned"),
    [
        (OLD, "0.1", True),
        (OLD, "0.2", False),
        (ranged({"introduced": "0"}, {"fixed": "2.1"}), "2.0.0", True),
        (ranged({"introduced": "0"}, {"fixed": "2.0"}), "2.0.0", False),
        (ranged({"introduced": "1.0"}, {"last_affected": "2.0.0"}), "2.0.0", True),
        (ranged({"introduced": "3.0"}), "2.0.0", False),
        (ranged({"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "1.9"}), "2.0.0", True),
    ],
)
def test_an_advisory_concerns_the_versions_that_it_says(advisory, version, concerned):
    assert dependencies.concerns(advisory, "duckdb", version) is concerned


def test_advisories_of_a_folder_are_held_against_the_pins(tmp_path, capsys):
    (tmp_path / "one.json").write_text(json.dumps(ranged({"introduced": "0"})), encoding="utf-8")
    assert dependencies.main(["--advisories", str(tmp_path)]) == 1
    assert "PYSEC-2" in capsys.readouterr().out
    (tmp_path / "one.json").write_text("{", encoding="utf-8")
    assert dependencies.main(["--advisories", str(tmp_path)]) == 1
    assert "holds no advisories" in capsys.readouterr().err


def test_the_container_s_list_has_every_package_that_it_needs_as_it_is_pinned():
    text = (PROJECT / dependencies.HASHES).read_text(encoding="utf-8")
    listed = dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+) ", text))
    pins = dependencies.pins()
    assert listed == {name: pins[name] for name in dependencies.container()}
