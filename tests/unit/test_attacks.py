"""What an attack found holds: the drills of `tools.reliability`, each in its short version."""

from __future__ import annotations

import os
from functools import partial

import pytest

from relic_core.config import Settings
from relic_core.wiring import build
from tests.browser.serving import forked
from tests.making import work_of
from tools.reliability import attacks, strange
from tools.reliability.rows import Trial

DRILLS = (
    *("disk", "tampered", "damaged", "logs", "settings", "doors", "crowd", "changed"),
    *("slips", "names", "two_people", "two_servers"),
)
STRANGE = ("journals", "rot", "mirror", "drips", "codes", "previews")


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    app = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    app.store.works.add(work_of())
    return Trial(
        app=app, folder=folder, work_id=work_of().id, claims=(), searchers=1, browsers=1, rounds=1, say=lambda _: None
    )


@pytest.mark.parametrize("drill", DRILLS)
def test_it_holds(trial, drill, monkeypatch):
    monkeypatch.setattr(attacks.parts, "server", partial(forked, trial.folder))
    monkeypatch.setattr(attacks, "_LET_GO", 0)
    row = getattr(attacks, drill)(trial)
    if row.held is None:
        (pytest.fail if os.environ.get("CI") and drill == "two_servers" else pytest.skip)(row.happened)
    assert row.held, row.happened


@pytest.mark.parametrize("drill", STRANGE)
def test_what_comes_from_outside_and_rot_do_no_harm(trial, drill, monkeypatch):
    monkeypatch.setattr(strange, "_UPLOADED", 1_500_000)
    row = getattr(strange, drill)(trial)
    assert row.held, row.happened
