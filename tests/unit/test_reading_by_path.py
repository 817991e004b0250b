"""What may be read by its path: never the program's own files, and where folders are listed, only what is in them."""

from __future__ import annotations

import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.config import Settings
from relic_core.errors import BadRequest, BadText, NotFound, RelicError
from relic_core.library.folder import refusal
from relic_core.training.recipes import EncoderRecipe
from relic_core.training.requests import TrainingRequest
from relic_core.wiring import build
from tests.inline import InlineExecutor

SECRET = 'cookie_secret = "that of the server, on which everybody\'s visit hangs. It is long."\n' * 20


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Give the settings of a machine with a library folder, secrets, a listed folder and one of other people's."""
    folders = ("library", "listed", "elsewhere", "data/sources", "data/jobs", ".streamlit", "library/.kept", "indexes")
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    for name in (
        ".streamlit/secrets.toml", "relic.toml", "mine.cfg", "data/choices.txt", "data/jobs/a.txt",
        "data/sources/a.txt", "library/a.txt", "library/.kept/a.txt", "library/.a.txt", "listed/a.txt",
        "elsewhere/a.txt", "indexes/a.txt",
    ):  # fmt: skip
        (tmp_path / name).write_text(SECRET)
    for name, target in {"s.txt": ".streamlit/secrets.toml", "e.txt": "elsewhere/a.txt", "d": "data"}.items():
        (tmp_path / "library" / name).symlink_to(tmp_path / target)
    monkeypatch.setenv("RELIC_CONFIG", str(tmp_path / "mine.cfg"))
    monkeypatch.chdir(tmp_path)
    return Settings(data=tmp_path / "data", indexes=tmp_path / "indexes", library=tmp_path / "library")


NEVER = (
    ".streamlit/secrets.toml", ".streamlit", "library/s.txt", "library/../.streamlit/secrets.toml", "relic.toml",
    "data/choices.txt", "data/jobs/a.txt", "data", "library/d/choices.txt", "library/.a.txt", "library/.kept/a.txt",
    "mine.cfg", "indexes/a.txt", "/proc/self/environ", "/proc/self/cwd/relic.toml",
    "library/\0.txt", "~nosuchuser/a.txt",
)  # fmt: skip


@pytest.mark.parametrize("path", NEVER)
@pytest.mark.parametrize("listed", [(), ("listed",), ("/",)])
def test_secrets_and_the_programs_own_files_are_never_read(machine, path, listed, tmp_path):
    app = build(replace(machine, read_from=tuple(tmp_path / each for each in listed)))
    for named in {Path(path), Path(path) if path[0] in "~/" else tmp_path / path}:
        with pytest.raises(BadRequest):
            app.works.add(named)
        with pytest.raises((BadRequest, NotFound)):
            app.mining.start([named])
    assert not app.works.summaries()


@pytest.mark.parametrize(
    ("path", "free", "confined"),
    [
        ("library/a.txt", True, True),
        ("listed/a.txt", True, True),
        ("listed/../library/a.txt", True, True),
        ("data/sources/a.txt", True, True),
        ("elsewhere/a.txt", True, False),
        ("library/../elsewhere/a.txt", True, False),
        ("library/e.txt", True, False),
        ("listedelsewhere/a.txt", True, False),
    ],
)
def test_where_folders_are_listed_what_lies_elsewhere_is_not_read(machine, path, free, confined, tmp_path):
    assert (not refusal(Path(path), machine)) is free
    assert (not refusal(Path(path), replace(machine, read_from=(tmp_path / "listed",)))) is confined


def test_what_is_not_there_is_refused_in_the_words_for_what_is(machine, tmp_path):
    confined = replace(machine, read_from=(tmp_path / "listed",))
    there, not_there = (refusal(tmp_path / "elsewhere" / name, confined) for name in ("a.txt", "b.txt"))
    assert there.replace("a.txt", "b.txt") == not_there


def test_a_library_folder_inside_the_data_folder_goes_on_being_read(machine, tmp_path):
    (tmp_path / "data" / "texts").mkdir()
    own = replace(machine, library=tmp_path / "data" / "texts")
    assert not refusal(tmp_path / "data" / "texts" / "a.txt", own)
    assert refusal(tmp_path / "data" / "choices.txt", own)
    assert refusal(tmp_path / "data" / "choices.txt", replace(machine, library=tmp_path / "data"))


def test_a_job_does_not_read_what_the_page_would_have_refused(machine, tmp_path):
    confined = replace(machine, read_from=(tmp_path / "listed",))
    app = build(confined, executor=InlineExecutor(confined))
    for kind in ("add", "mine"):
        job = app.jobs.start(kind, title="It", arguments={"paths": [str(tmp_path / "elsewhere" / "a.txt")]})
        assert job.state == "failed"
        assert "RELIC_READ_FROM" in app.jobs.get(job.id).note


def test_criticism_in_a_folder_is_read_without_what_its_links_lead_to(machine, tmp_path):
    (tmp_path / "library" / "metadata.csv").symlink_to(tmp_path / "elsewhere" / "table.csv")
    (tmp_path / "elsewhere" / "table.csv").write_text("file,title\na.txt,Told by a table\n")
    with zipfile.ZipFile(tmp_path / "elsewhere" / "b.zip", "w") as archive:
        archive.writestr("b.txt", SECRET)
    (tmp_path / "library" / "b.zip").symlink_to(tmp_path / "elsewhere" / "b.zip")
    confined = replace(machine, read_from=(tmp_path / "listed",))
    app = build(confined, executor=InlineExecutor(confined))
    app.mining.start([tmp_path / "library"])
    (source,) = app.sources.all()
    assert (source.source.name, source.source.title) == ("a.txt", "A")


def test_what_was_read_before_folders_were_listed_is_passed_over_later(machine, tmp_path):
    app = build(machine, executor=InlineExecutor(machine))
    app.mining.start([tmp_path / "elsewhere" / "a.txt"])
    app.mining.start([])
    with pytest.raises(NotFound, match="where they were"):
        build(replace(machine, read_from=(tmp_path / "listed",))).mining.start([])


@pytest.mark.parametrize("field", ["base", "start", "hard"])
@pytest.mark.parametrize("path", ["elsewhere", "./elsewhere", "{}/elsewhere", "~/.ssh/id.json", "{}/not/there"])
def test_a_training_begins_from_no_model_that_may_not_be_read(machine, field, path, tmp_path):
    app = build(replace(machine, read_from=(tmp_path / "listed",)))
    named = path.format(tmp_path)
    asked = TrainingRequest(recipe=EncoderRecipe(base=named)) if field == "base" else TrainingRequest(**{field: named})
    with pytest.raises(BadRequest, match="RELIC_READ_FROM"):
        app.training_plans.prospect(asked)


@pytest.mark.parametrize("name", ["", "default", "k3v7qa2x", "bert-base", "org/bert-base_v1.5"])
def test_models_that_are_no_paths_go_on_being_named(machine, name, tmp_path):
    app = build(replace(machine, read_from=(tmp_path / "listed",)))
    assert app.training_plans.prospect(TrainingRequest(recipe=EncoderRecipe(base=name), start=name, hard=name)).lacking


PARTS = st.sampled_from([
    "..", ".", "library", "listed", "elsewhere", "data", "sources", "jobs", ".streamlit", ".kept", "a.txt", "s.txt",
    "d", "secrets.toml", "relic.toml", "SECRETS.TOML", "\0", "é", " ",
])  # fmt: skip


@given(st.lists(PARTS, min_size=1, max_size=8), st.booleans())
def test_whatever_way_a_path_is_spelt_it_leads_only_to_what_is_listed(tmp_path_factory, parts, full):
    top = tmp_path_factory.getbasetemp() / "spelt"
    for name in ("library", "listed", "elsewhere", "data/sources", "data/jobs", ".streamlit"):
        (top / name).mkdir(parents=True, exist_ok=True)
    if not (top / "library" / "d").is_symlink():
        (top / "library" / "d").symlink_to(top / "data")
        (top / "library" / "s.txt").symlink_to(top / ".streamlit" / "secrets.toml")
    settings = Settings(data=top / "data", indexes=top / "i", library=top / "library", read_from=(top / "listed",))
    path = Path(top if full else os.path.relpath(top), *parts)
    if not refusal(path, settings):
        real = path.resolve()
        listed = (top / "library", top / "listed", top / "data" / "sources")
        (base,) = (each for each in listed if each in (real, *real.parents))
        assert not any(part.startswith(".") for part in real.relative_to(base).parts)
        assert real.name.casefold() not in {"secrets.toml", "relic.toml"}


@given(st.text(max_size=60))
def test_no_text_that_somebody_types_as_a_path_ends_in_a_fault(text):
    settings = Settings(data=Path("/nowhere/data"), read_from=(Path("/nowhere/listed"),))
    assert refusal(Path(text), settings)
    app = build(settings)
    with pytest.raises(RelicError):
        app.works.find_file(text)
    with pytest.raises((BadRequest, BadText, NotFound)):
        app.mining.start([Path(text)])
