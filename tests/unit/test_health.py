"""Health: plain sentences, and an exit code that a container can act on."""

import json
import shutil
import threading
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.errors import StoreError
from relic_core.services import health
from relic_core.store.migrations import read_migrations
from relic_core.wiring import build
from tests.approved import says
from tests.making import work_of
from tests.making_training import make_base
from tests.privileges import without_privileges

SAYS = says("commands")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Make a library with one work, prepared by words, once."""
    folder = tmp_path_factory.mktemp("prepared")
    bench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    work = work_of()
    bench.store.works.add(work)
    bench.indexes.build(work.id, ["bm25"], lambda _done, _total, _note="": None)
    return folder


@pytest.fixture
def bench(prepared, tmp_path):
    shutil.copytree(prepared, tmp_path / "own")
    return build(Settings(data=tmp_path / "own" / "data", indexes=tmp_path / "own" / "indexes"))


def found(bench, **options):
    return {finding.name: (finding.level, finding.message) for finding in bench.examine(**options)}


def test_a_sound_library_is_well(bench):
    said = found(bench)
    assert {name: level for name, (level, _) in said.items()} == {
        "store": "good",
        "works": "good",
        "data": "good",
        "indexes folder": "good",
        "encoder": "good",
        "trained encoder": "good",
        "reranker": "good",
        "indexes": "notice",
    }
    assert said["works"][1] == SAYS["one work"]
    assert f"all {len(read_migrations())} migrations" in said["store"][1]
    assert SAYS["one index whole"] in said["indexes"][1]
    assert all(finding.level != "bad" for finding in bench.examine())


def test_a_work_that_was_prepared_for_another_encoder_is_not_prepared(bench, tmp_path):
    first = build(replace(bench.settings, trained=str(make_base(tmp_path / "first", positions=300))))
    other = build(replace(bench.settings, trained=str(make_base(tmp_path / "other", positions=320))))
    (work,) = first.works.summaries()
    first.indexes.build(work.id, first.indexes.missing(work.id), lambda _done, _total, _note="": None)
    assert [found(each)["indexes"][0] for each in (first, other)] == ["good", "notice"]


def test_a_store_that_cannot_be_opened_is_bad_and_the_rest_is_looked_at(bench, monkeypatch):
    monkeypatch.setattr(bench.indexes, "unprepared", lambda _works: ())
    prepared = found(bench)["indexes"][1]
    bench.settings.store.write_bytes(b"no database" * 1000)
    said = found(bench)
    assert said["store"][0] == "bad"
    assert "read" in said["store"][1]
    assert said["encoder"][0] == "good"
    assert len(said["indexes"][1]) < len(prepared), "that every work is prepared is not known"
    assert any(finding.level == "bad" for finding in bench.examine())


@pytest.mark.parametrize("broken", ["removed", "work_versions"])
def test_a_store_that_opens_and_cannot_be_read_on_is_bad_and_the_rest_is_looked_at(bench, monkeypatch, broken):
    def fails():
        raise StoreError("The store is damaged.")

    monkeypatch.setattr(bench.works, broken, fails)
    said = found(bench)
    assert said["store"] == ("bad", "The store is damaged.")
    assert {"data", "encoder", "indexes"} <= set(said)


def test_a_folder_that_cannot_be_written_is_bad(bench):
    bench.settings.data.chmod(0o555)
    with without_privileges():
        assert health._room("data", bench.settings.data).level == "bad"
    bench.settings.data.chmod(0o755)
    assert health._room("data", bench.settings.data).level == "good"


@pytest.mark.parametrize(("free", "level"), [(10**8, "bad"), (10**9, "notice"), (10**11, "good")])
def test_little_room_is_told_before_it_is_too_late(bench, monkeypatch, free, level):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, free))
    assert found(bench)["data"][0] == level


def test_files_of_a_model_that_are_not_the_expected_ones_are_bad(bench, tmp_path):
    broken = build(Settings(data=bench.settings.data, indexes=bench.settings.indexes, reranker=str(tmp_path)))
    level, said = found(broken)["reranker"]
    assert (level, "reranker.json" in said) == ("bad", True)


def test_an_index_whose_content_was_changed_is_found_by_a_thorough_look_and_left_alone(bench):
    path = next(bench.settings.indexes.rglob("*.npy"))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "none damaged" in found(bench)["indexes"][1]
    level, said = found(bench, thorough=True)["indexes"]
    assert (level, SAYS["one index damaged"] in said) == ("notice", True)
    path.write_bytes(data[:-1])
    assert "1 damaged" in found(bench)["indexes"][1]
    assert path.is_file()


@pytest.fixture
def answering():
    """A server that says that it is well, as the app does."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/_stcore/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.05))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_app_is_asked_where_it_is_named(answering):
    assert health._app(f"{answering}/").level == "good"
    assert health._app("http://127.0.0.1:9").level == "bad"
    assert health._app("localhost").level == "bad"


def test_the_command_ends_with_1_where_something_is_bad(bench, monkeypatch, capsys):
    for name, value in bench.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    assert cli.main(["health"]) == 0
    assert f"good  works            {SAYS['one work']}" in capsys.readouterr().out
    assert cli.main(["health", "--app", "http://127.0.0.1:9", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows if row["level"] == "bad"] == ["app"]
