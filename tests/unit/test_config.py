"""Settings from the environment: what cannot be meant is refused with the name of the variable."""

import math
from pathlib import Path

import pytest

from relic_core.config import Settings
from relic_core.errors import BadRequest

NUMBERS = (
    "RELIC_MAX_TEXT_BYTES", "RELIC_MAX_CLAIM_WORDS", "RELIC_LOCK_SECONDS", "RELIC_JOB_LOCK_SECONDS",
    "RELIC_LIBRARY_MEMORY",
)  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("given", ["nan", "inf", "-inf", "1e999", "many", "0", "-3"])
def test_a_number_that_is_none_or_not_above_zero_is_told(name, given):
    with pytest.raises(BadRequest, match=rf"^{name} is .*must be a number"):
        Settings.from_environment({name: given})


def test_numbers_are_checked_however_settings_are_made():
    with pytest.raises(BadRequest, match="RELIC_LOCK_SECONDS"):
        Settings(lock_seconds=math.nan)
    with pytest.raises(BadRequest, match="RELIC_LOCK_SECONDS"):
        Settings(lock_seconds=math.inf)


def test_texts_longer_than_offsets_reach_are_not_allowed():
    assert Settings.from_environment({"RELIC_MAX_TEXT_BYTES": "2e9"}).max_text_bytes == 2_000_000_000
    with pytest.raises(BadRequest, match="at most 2,000,000,000"):
        Settings.from_environment({"RELIC_MAX_TEXT_BYTES": "1e30"})


@pytest.mark.parametrize("name", ["RELIC_DATA", "RELIC_INDEXES", "RELIC_LIBRARY"])
def test_the_home_of_a_user_whom_there_is_not_is_told(name):
    with pytest.raises(BadRequest, match=f"{name} is '~nosuch/x'.*Write the path in full"):
        Settings.from_environment({name: "~nosuch/x"})


def test_a_folder_below_the_own_home_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings.from_environment({"RELIC_DATA": "~/relic"}).data == tmp_path / "relic"


def test_half_of_the_machines_memory_may_hold_a_library_unless_another_limit_is_set():
    kilobytes = int(Path("/proc/meminfo").read_text(encoding="utf-8").split()[1])
    assert Settings().library_memory == pytest.approx(kilobytes / 2_000, rel=0.1)
    assert Settings.from_environment({"RELIC_LIBRARY_MEMORY": "0.5"}).library_memory == 0.5


def test_models_are_named_by_settings_of_their_own_and_reach_other_processes():
    given = {"RELIC_MODEL": "a", "RELIC_TRAINED": " b ", "RELIC_RERANKER": " /models/c "}
    settings = Settings.from_environment(given)
    assert (settings.model, settings.trained, settings.reranker) == ("a", "b", "/models/c")
    assert Settings.from_environment(settings.to_environment()) == settings
