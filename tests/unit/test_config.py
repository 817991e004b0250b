"""Settings from the environment and from a file: what cannot be meant is refused where it stands."""

import math
import os
import re
from pathlib import Path

import pytest

from relic_core.config import Settings, example, stated
from relic_core.config.settings import find_file
from relic_core.errors import BadRequest

NUMBERS = (
    "RELIC_MAX_TEXT_BYTES", "RELIC_MAX_CLAIM_WORDS", "RELIC_LOCK_SECONDS", "RELIC_JOB_LOCK_SECONDS",
    "RELIC_LIBRARY_MEMORY",
)  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("given", ["nan", "inf", "-inf", "1e999", "many", "0", "-3"])
def test_a_number_that_is_none_or_not_above_zero_is_told(name, given):
    with pytest.raises(BadRequest, match=rf"^{name} is .*must be a (whole )?number"):
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


# ---- the file -----------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    """Write a file of settings and give an environment that names it."""

    def write(text, **more):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return {"RELIC_CONFIG": str(path), **more}

    return write


def test_the_environment_stands_over_the_file_and_the_file_over_what_is_usual(written):
    given = written("max_claim_words = 300\nlock_seconds = 2", RELIC_LOCK_SECONDS="5", RELIC_MAX_CLAIM_WORDS="")
    settings = Settings.from_environment(given)
    assert (settings.max_claim_words, settings.lock_seconds, settings.max_text_bytes) == (300, 5.0, 20_000_000)
    origins = {each.name: each.comes_from for each in stated(given)}
    assert origins["max_claim_words"] == f"max_claim_words in {given['RELIC_CONFIG']}"
    assert (origins["lock_seconds"], origins["max_text_bytes"]) == ("RELIC_LOCK_SECONDS", "default")


def test_every_kind_of_setting_can_be_written_in_a_file(written, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/ada")
    given = written(
        'data = "kept"\nlibrary = "~/texts"\nindexes = "/srv/indexes"\nmodel = " e5 "\ntrained = ""\n'
        'gutenberg = "http://localhost:8/"\ngutenberg_pause = 0\nmax_text_bytes = 2e6\n'
        'sign_in_allow = ["Ada@Example.org", "@example.edu", "example.edu"]\n'
    )
    assert Settings.from_environment(given) == Settings(
        data=tmp_path / "kept",
        library=Path("/ada/texts"),
        indexes=Path("/srv/indexes"),
        model="e5",
        gutenberg="http://localhost:8",
        gutenberg_pause=0.0,
        max_text_bytes=2_000_000,
        sign_in_allow=("ada@example.org", "example.edu"),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('max_claim_words = "many"', "max_claim_words in .*mine.toml is 'many'; it must be a whole number greater"),
        ("max_claim_words = true", "max_claim_words in .*mine.toml is true; it must be a whole number"),
        ("max_claim_words = 2.5", r"max_claim_words in .*mine.toml is 2.5; it must be a whole number"),
        ("max_claim_words = nan", "max_claim_words in .*mine.toml is nan"),
        ("max_claim_words = ''", "max_claim_words in .*mine.toml is ''; it must be a whole number"),
        ("lock_seconds = 0", r"lock_seconds in .*mine.toml is 0; it must be a number greater than 0"),
        ("max_text_bytes = 3_000_000_000", "max_text_bytes in .* is 3,000,000,000; .*at most 2,000,000,000. Split"),
        ("data = 3", "data in .*mine.toml is 3; it must be the path of a folder"),
        ('data = "~nosuch/x"', "data in .*mine.toml is '~nosuch/x'.*Write the path in full"),
        ("model = []", r"model in .*mine.toml is \[\]; it must be a text"),
        ("sign_in_allow = 'a@b.org'", "sign_in_allow in .* is 'a@b.org'; it must be a list of texts"),
        ("sign_in_allow = ['ada']", "sign_in_allow in .*mine.toml has 'ada'; every entry must be an address"),
        ("gutenberg = 'gopher://x'", "gutenberg in .*mine.toml is 'gopher://x'; it must be the address of a mirror"),
        ("gutenberg_pause = 1", "gutenberg_pause in .*mine.toml is 1.0; Project Gutenberg asks"),
        ("gutenberg_pause = -1", "gutenberg_pause in .*mine.toml is -1; it must be a number of 0 or more"),
        ("lock_second = 3", "mine.toml sets lock_second, which is not a setting. Did you mean lock_seconds"),
        ("RELIC_DATA = '/x'", "mine.toml sets RELIC_DATA, which is not a setting. Did you mean data"),
        ("[limits]\nlock_seconds = 3", "mine.toml sets limits, which is not a setting"),
        ("lock_seconds = =", "mine.toml is no TOML: .*line 1"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place_in_the_file(written, text, told):
    with pytest.raises(BadRequest, match=told):
        Settings.from_environment(written(text))


def test_the_file_is_not_asked_about_a_value_that_the_environment_gives(written):
    given = written("gutenberg_pause = 0", RELIC_GUTENBERG="http://127.0.0.1:8")
    assert Settings.from_environment(given).gutenberg_pause == 0
    with pytest.raises(BadRequest, match=r"^RELIC_GUTENBERG_PAUSE is 1.0"):
        Settings.from_environment(written("gutenberg_pause = 3", RELIC_GUTENBERG_PAUSE="1"))


def test_a_file_that_is_named_has_to_be_there_and_to_be_text(tmp_path):
    for named, told in ((tmp_path / "none.toml", "no such file"), (tmp_path, "no such file"), ("~nosuch/x", "in full")):
        with pytest.raises(BadRequest, match=f"^RELIC_CONFIG is '{named}'.*{told}"):
            Settings.from_environment({"RELIC_CONFIG": str(named)})
    path = tmp_path / "bytes.toml"
    path.write_bytes(b'data = "\xe9"')
    with pytest.raises(BadRequest, match=r"bytes.toml is not in UTF-8"):
        Settings.from_environment({"RELIC_CONFIG": str(path)})


def test_the_file_in_the_project_is_read_where_no_other_is_named(tmp_path):
    assert find_file({}, tmp_path) is None
    (tmp_path / "relic.toml").write_text("", encoding="utf-8")
    assert find_file({}, tmp_path) == tmp_path / "relic.toml"
    assert find_file({"RELIC_CONFIG": os.devnull}, tmp_path) == Path(os.devnull)


def test_a_variable_that_is_no_setting_is_refused():
    with pytest.raises(
        BadRequest, match=r"sets RELIC_LOCK_SECOND, which is not a setting. Did you mean RELIC_LOCK_SECO"
    ):
        Settings.from_environment({"RELIC_LOCK_SECOND": "3"})
    assert Settings.from_environment({"RELIC_SHARED": "/novels"}) == Settings()


def test_a_process_that_is_given_the_settings_reads_no_file(written):
    settings = Settings(library=None, sign_in_allow=("ada@example.org",))
    given = {**written('library = "/texts"'), **settings.to_environment()}
    assert Settings.from_environment(given) == settings


def test_the_example_sets_nothing_until_it_is_uncommented(written):
    assert Settings.from_environment(written(example())) == Settings()
    without = "\n".join(re.sub(r"^# (?=\w+ = )", "", line) for line in example().splitlines())
    values, where = Settings.read(written(without))
    said_by_default = {"model", "trained", "late", "reranker"}
    assert set(where) == set(Settings().as_mapping()) - said_by_default
    assert values["library"] == Path("/srv/texts")
