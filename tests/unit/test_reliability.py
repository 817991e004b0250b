"""What the report on reliability is made of: that it counts, and that it does not take a loss for a success."""

from __future__ import annotations

import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.errors import BadRequest
from relic_core.wiring import build
from tests.making import work_of
from tools.reliability import reliability
from tools.reliability.reliability import Row, Trial, waits


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    bench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    bench.store.works.add(work_of())
    return Trial(
        app=bench,
        folder=folder,
        work_id=work_of().id,
        claims=("The ferry is late",),
        searchers=3,
        browsers=1,
        rounds=1,
        say=lambda _: None,
    )


def test_what_a_killed_process_had_acknowledged_is_there(trial):
    row = reliability.killed(trial)
    assert (row.held, row.counts["lost"], row.counts["kills"]) == (True, 0, 1)
    assert row.counts["acknowledged"] >= 3


def test_a_full_disk_refuses_in_words_and_goes_on_with_room(trial, monkeypatch):
    monkeypatch.setattr(reliability, "_ROOM", 50_000)
    row = reliability.full_disk(trial)
    assert row.held is True
    assert "is full. Make room and try again; nothing was lost." in row.happened


def test_who_holds_the_store_is_told_to_the_impatient_and_the_patient_are_answered(trial, monkeypatch):
    monkeypatch.setattr(reliability, "_HELD", 1.5)
    monkeypatch.setattr(reliability, "_PATIENCE", 0.3)
    row = reliability.locked(trial)
    assert row.held is True
    assert "is in use by another program (python -m tools.reliability.process" in row.happened


def test_a_search_that_is_not_there_is_counted_as_lost(trial):
    assert reliability._lost(trial.app.settings, ["never asked"]) == 1


def made(held, lost):
    row = Row(name="a kill", done="D.", expected="E.", happened="H.", held=held, counts={"lost": lost, "ratio": 1.25})
    machine = dict.fromkeys(("processor", "cores", "memory_gb", "system", "python", "streamlit"), "x")
    return reliability.Report(
        rows=(row,), machine=machine, code="1", date="2026-01-01", command="c", note="", seconds=60.0
    )


@pytest.mark.parametrize(("held", "well"), [(True, True), (None, True), (False, False)])
def test_a_row_that_came_otherwise_fails_the_run_and_one_that_could_not_be_tried_does_not(held, well):
    assert made(held, 0).held is well


def test_the_report_counts_what_was_lost_and_tells_each_row_in_its_own_words():
    page, shown = (reliability.write(made(False, 2), form) for form in ("markdown", "table"))
    assert "Acknowledged writes lost, all together: 2" in page
    assert "| a kill | no | H. |" in page
    assert "lost 2, ratio 1.2" in shown
    assert "A kill\n\nDone: D.\n\nExpected: E.\n\nHappened: H." in shown


def test_an_unknown_part_and_nobody_at_all_are_refused(capsys):
    with pytest.raises(BadRequest, match="There is no part called 'fire'"):
        reliability.run(["fire"], lambda *_: None)
    with pytest.raises(SystemExit):
        cli.main(["reliability", "--rounds", "0"])
    assert "--rounds must be 1 or more" in capsys.readouterr().err


def test_the_command_names_the_parts_there_are():
    from tools.reliability.__main__ import _PARTS

    assert tuple(reliability.PARTS) == _PARTS


def test_waits_are_multiples_of_times_that_were_measured():
    together = [float(n) for n in range(1, 101)]
    p50, p95, said = waits([1.0, 2.0], together)
    assert (p50, p95) == (50.0, 47.5)
    assert "p95 47.5 times" in said
