"""Back-ups: taken while others write, checked to the last byte, and restored whole or not at all."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.errors import BadBackup, BadRequest, NotFound, StoreError, StoreFull
from relic_core.store import migrations, swapping
from relic_core.wiring import build
from tests.approved import says
from tests.making import make_work, work_of
from tools.reliability.attacks import altered, leave_log

SAYS = says("commands")

PROJECT = Path(__file__).resolve().parents[2]


def silent(_done, _total, _note=""):
    pass


def search(workbench, claim):
    return workbench.store.searches.keep(SearchRequest(work_id="w", claim_text=claim))


def library(folder):
    return build(Settings(data=folder / "data", indexes=folder / "indexes"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make, once: a library with a work, a search, an upload, a training and what is left out; its back-up; another."""
    folder = tmp_path_factory.mktemp("made")
    workbench = library(folder / "one")
    workbench.store.works.add(work_of())
    search(workbench, "The ferry is late")
    data = workbench.settings.data
    for name, text in (
        ("sources/a b.txt", "A critic."),
        ("trainings/abcdefgh/asked.json", "{}"),
        ("trainings/abcdefgh/model/layers.safetensors", "weights"),
        ("trainings/abcdefgh/checkpoints/1/state.safetensors", "half-way"),
        ("model.json", "[]"),
        ("downloads/book.txt", "fetched"),
        ("sources/.b.txt.1234.half", "half"),
    ):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text, encoding="utf-8")
    workbench.backups.make(folder / "kept.zip", silent)
    other = library(folder / "two")
    other.store.works.add(make_work(["It was here before."]))
    search(other, "before")
    (other.settings.data / "model.json").write_text("mine", encoding="utf-8")
    return folder


@pytest.fixture
def ferry(made, tmp_path):
    shutil.copytree(made / "one", tmp_path / "one")
    return library(tmp_path / "one")


@pytest.fixture
def backup(made, tmp_path):
    return Path(shutil.copy(made / "kept.zip", tmp_path / "kept.zip"))


@pytest.fixture
def other(made, tmp_path):
    """Another library, with a work, a search and a file."""
    shutil.copytree(made / "two", tmp_path / "two")
    return library(tmp_path / "two")


def texts(workbench):
    """Give what a library holds: its works, searches, and the files beside the store."""
    data = workbench.settings.data
    store = data / "relic.duckdb"
    files = {
        path.relative_to(data).as_posix(): path.read_text(encoding="utf-8")
        for top in swapping.contents(data, store=store.name)
        if not top.name.startswith(store.name)
        for path in ([top] if top.is_file() else sorted(each for each in top.rglob("*") if each.is_file()))
    }
    claims = [each.request.claim_text for each in workbench.store.searches.recent(50)]
    return [each.title for each in workbench.works.summaries()], claims, files


def test_what_was_backed_up_comes_back_whole(backup, tmp_path):
    other = library(tmp_path / "new")
    done = other.backups.restore(backup, silent)
    works, claims, files = texts(other)
    assert (works, claims) == ([work_of().title], ["The ferry is late"])
    assert files == {
        "sources/a b.txt": "A critic.",
        "trainings/abcdefgh/asked.json": "{}",
        "trainings/abcdefgh/model/layers.safetensors": "weights",
        "model.json": "[]",
    }
    assert done.aside is None
    left = sorted(
        path.name for path in other.settings.data.iterdir() if path.name.startswith((".restoring-", "before"))
    )
    assert left == []


def test_a_back_up_says_what_it_holds_and_what_it_leaves_out(ferry, backup):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with zipfile.ZipFile(backup) as archive:
        said = json.loads(archive.read("manifest.json"))
        assert archive.read("relic.toml").decode().startswith('data = "')
    assert (said["format"], said["works"], said["store_version"]) == (1, 1, migrations.known_version())
    assert said["store_engine"] == duckdb.__version__
    assert [each.split(":")[0] for each in said["left_out"]] == [
        "indexes",
        "trainings/abcdefgh/checkpoints",
        "downloads",
    ]
    assert sorted(path.name for path in backup.parent.iterdir()) == ["kept.zip", "one"]


def test_models_are_left_out_where_that_is_asked_and_so_is_their_choice(ferry, tmp_path):
    ferry.backups.make(tmp_path / "small.zip", silent, models=False)
    with zipfile.ZipFile(tmp_path / "small.zip") as archive:
        names = [name for name in archive.namelist() if "model" in name]
    assert names == []


WRITER = """
import sys
from pathlib import Path
from relic_core.domain import SearchRequest
from relic_core.store import Store
store = Store(Path(sys.argv[1]), lock_seconds=20)
number = 0
while True:
    store.searches.keep(SearchRequest(work_id="w", claim_text=f"claim {number}"))
    print(number, flush=True)
    number += 1
"""


def test_a_back_up_taken_while_another_process_writes_has_all_that_was_acknowledged_before(ferry, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", WRITER, str(ferry.settings.store)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(5):
            before = int(writer.stdout.readline())
        ferry.backups.make(tmp_path / "busy.zip", silent)
        writer.kill()
    other = library(tmp_path / "new")
    other.backups.restore(tmp_path / "busy.zip", silent)
    claims = {each.request.claim_text for each in other.store.searches.recent(100_000)}
    assert {f"claim {number}" for number in range(before + 1)} <= claims


def test_a_back_up_replaces_an_earlier_one_and_nothing_else(ferry, backup, tmp_path):
    held = backup.read_bytes()
    with pytest.raises(BadRequest, match="--force"):
        ferry.backups.make(backup, silent)
    assert backup.read_bytes() == held
    ferry.backups.make(backup, silent, force=True)
    assert backup.read_bytes() != held
    mine = tmp_path / "thesis.zip"
    mine.write_text("my thesis", encoding="utf-8")
    with pytest.raises(BadRequest, match="is not a back-up"):
        ferry.backups.make(mine, silent, force=True)
    with pytest.raises(BadRequest, match="in the data"):
        ferry.backups.make(ferry.settings.data / "kept.zip", silent)
    with pytest.raises(NotFound, match="There is no folder"):
        ferry.backups.make(tmp_path / "none" / "kept.zip", silent)
    with pytest.raises(NotFound, match="nothing to"):
        library(tmp_path / "new").backups.make(tmp_path / "empty.zip", silent)


def test_a_back_up_that_fails_leaves_the_earlier_one(ferry, backup, monkeypatch):
    held = backup.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("relic_core.formats.backups.BackupWriter.add", full)
    with pytest.raises(StoreError, match="No space left"):
        ferry.backups.make(backup, silent, force=True)
    assert backup.read_bytes() == held
    assert sorted(path.name for path in backup.parent.iterdir()) == ["kept.zip", "one"]


def rotten(path):
    """Flip one bit of a row, where nothing but reading it tells."""
    data = bytearray(path.read_bytes())
    data[data.rindex(b"The ferry is late")] ^= 1
    path.write_bytes(data)


def test_a_store_with_a_flipped_bit_is_not_backed_up_and_the_earlier_back_up_stays(ferry, backup):
    held = backup.read_bytes()
    rotten(ferry.settings.store)
    with pytest.raises(StoreError, match="damaged"):
        ferry.backups.make(backup, silent, force=True)
    assert backup.read_bytes() == held
    assert sorted(path.name for path in backup.parent.iterdir()) == ["kept.zip", "one"]
    assert [each.level for each in ferry.examine(thorough=True) if each.name == "store"] == ["bad"]


def test_a_back_up_of_a_store_with_a_flipped_bit_is_found_damaged(backup, other, tmp_path):
    bad = altered(backup, tmp_path / "altered", rotten)
    before = texts(other)
    with pytest.raises(BadBackup, match="read"):
        other.backups.check(bad, silent)
    with pytest.raises(BadBackup, match="read"):
        other.backups.restore(bad, silent, force=True)
    assert texts(other) == before


def emptied(ferry):
    os.truncate(ferry.settings.store, 0)
    return StoreError


def without_works(ferry):
    ferry.works.remove(work_of().id)
    return BadRequest


@pytest.mark.parametrize("happens", [emptied, without_works])
def test_a_library_that_has_lost_its_works_does_not_replace_a_back_up_that_has_them(ferry, backup, happens):
    held = backup.read_bytes()
    with pytest.raises(happens(ferry)):
        ferry.backups.make(backup, silent, force=True)
    assert backup.read_bytes() == held


def test_works_in_a_back_up_are_given_up_only_where_that_is_asked(ferry, backup):
    second = backup.with_name("second.zip")
    ferry.store.works.add(make_work(["A second work."]))
    ferry.backups.make(second, silent)
    for work in ferry.works.summaries():
        ferry.works.remove(work.id)
    ferry.ensure_sample()
    with pytest.raises(BadRequest, match=r"sample.*--even-empty"):
        ferry.backups.make(second, silent, force=True)
    assert ferry.backups.make(second, silent, force=True, even_empty=True).works == 1
    assert ferry.backups.make(second, silent, force=True).works == 1
    rewritten(backup, second, lambda _entries, manifest: manifest.update(format=99))
    with pytest.raises(BadRequest, match="unknown"):
        ferry.backups.make(second, silent, force=True)


def test_a_back_up_restored_over_a_store_with_a_log_gives_no_alarm(ferry, backup, tmp_path):
    leave_log(ferry.settings, "logged", 3)
    assert ferry.store.path.with_name("relic.duckdb.wal").exists()
    done = ferry.backups.restore(backup, silent, force=True)
    assert texts(ferry)[1] == ["The ferry is late"]
    assert ferry.losses() == ()
    aside = build(Settings(data=done.aside, indexes=tmp_path / "indexes"))
    assert len(texts(aside)[1]) == 1 + 3
    assert aside.losses() == ()


def test_a_folder_whose_store_was_deleted_takes_a_back_up_without_force(ferry, backup):
    for left in ferry.settings.data.iterdir():
        if not left.name.startswith("relic.duckdb."):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    ferry.backups.restore(backup, silent)
    assert texts(ferry)[1] == ["The ferry is late"]


# ---- what is refused ----------------------------------------------------------------------------------------------


def rewritten(source, target, change):
    """Copy a zip, with `change` made to its entries: a dict of name and bytes."""
    with zipfile.ZipFile(source) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    change(entries, manifest)
    if "manifest.json" in entries:
        entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return target


def climbing(name):
    def change(entries, manifest):
        entries[name] = b"x"
        manifest["members"][name] = {
            "bytes": 1,
            "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
        }

    return change


def unlisted(name):
    def change(entries, manifest):
        del entries[name], manifest["members"][name]

    return change


def said(**new):
    return lambda entries, manifest: manifest.update(new)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (said(format=2), "a newer version"),
        (said(store_version=9_999), "newer.* 9999"),
        (said(works=7), " 1 works,.* 7"),
        (said(members={}), "does not hold"),
        (said(members=3), "incomplete"),
        (said(store_version="13"), "incomplete .*store_version.*'13'"),
        (said(works=None), "incomplete"),
        (said(store=3), "incomplete"),
        (said(format="x"), "manifest cannot"),
        (said(extra=3), "incomplete"),
        (lambda entries, _: entries.pop("manifest.json"), "not a back-up"),
        (lambda entries, _: entries.pop("data/model.json"), r"\(data/model\.json\)"),
        (lambda entries, _: entries.update({"data/more.txt": b"x"}), r"\(data/more\.txt\)"),
        (lambda entries, _: entries.update({"data/model.json": b"[]x"}), r"model.json does not hold what"),
        (lambda entries, _: entries.update({"data/model.json": b"{}"}), r"model.json does not hold what"),
        (climbing("data/../../evil"), "lead out"),
        (climbing("../evil"), "lead out"),
        (climbing("/evil"), "lead out"),
        (climbing("data\\..\\evil"), "lead out"),
        (climbing("data//evil"), "lead out"),
        (climbing("data/model.json/evil"), "lies in data/model.json"),
        (climbing("data/relic.duckdb/evil"), "lies in data/relic.duckdb"),
        (climbing("manifest.json"), "or itself"),
        (unlisted("relic.toml"), "no relic.toml"),
        (unlisted("data/relic.duckdb"), "no store"),
    ],
)  # fmt: skip
def test_a_back_up_that_was_changed_is_refused_and_nothing_is_touched(backup, other, tmp_path, change, told):
    bad = rewritten(backup, tmp_path / "bad.zip", change)
    before = texts(other)
    with pytest.raises(BadBackup, match=told):
        other.backups.restore(bad, silent, force=True)
    with pytest.raises(BadBackup, match=told):
        other.backups.check(bad, silent)
    assert texts(other) == before
    assert not [path for path in other.settings.data.iterdir() if path.name.startswith((".restoring-", "before"))]
    assert not (tmp_path / "evil").exists()


def test_settings_kept_in_the_data_folder_are_restored_beside_those_of_the_back_up(ferry, other, tmp_path):
    (ferry.settings.data / "relic.toml").write_text("lock_seconds = 9\n")
    ferry.backups.make(tmp_path / "own.zip", silent)
    other.backups.restore(tmp_path / "own.zip", silent, force=True)
    assert (other.settings.data / "relic.toml").read_text() == "lock_seconds = 9\n"
    assert not [path for path in other.settings.data.iterdir() if path.name.startswith(".relic")]


DECIDED = {"staged": ".restoring-1", "aside": "before-restore-1", "store": "relic.duckdb", "old": [], "new": []}


@pytest.mark.parametrize(
    "written",
    [
        b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"{}", b"[" * 100_000,
        *(json.dumps({**DECIDED, **wrong}).encode() for wrong in (
            {"staged": 3}, {"aside": ""}, {"store": None}, {"old": "model.json"}, {"new": {"model.json": 1}},
            {"new": ["../../diary.txt"]}, {"old": ["/etc/passwd"]}, {"staged": ".."}, {"aside": "a/b"},
            {"new": ["a\0b"]},
        )),
    ],
)  # fmt: skip
def test_a_damaged_note_of_what_a_restore_decided_is_told_and_nothing_is_moved(backup, ferry, written):
    data = ferry.settings.data
    (data / "restoring.json").write_bytes(written)
    before = sorted(data.iterdir())
    with pytest.raises(StoreError, match=r"restoring\.json, which .* is damaged .*delete the file"):
        ferry.works.summaries()
    assert [each.level for each in ferry.examine() if each.name == "store"] == ["bad"]
    assert {path.name for path in set(data.iterdir()) - set(before)} <= {"relic.duckdb.lock", "relic.duckdb.next"}
    (data / "restoring.json").unlink()
    ferry.backups.restore(backup, silent, force=True)
    assert texts(ferry)[1] == ["The ferry is late"]


def test_a_back_up_that_would_have_files_moved_is_refused(backup, other, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "diary.txt").write_text("mine")
    moves = {"staged": str(tmp_path / "elsewhere"), "aside": "x", "store": "s", "old": [], "new": ["diary.txt"]}
    written = json.dumps(moves).encode()

    def change(entries, manifest):
        entries["data/restoring.json"] = written
        manifest["members"]["data/restoring.json"] = {
            "bytes": len(written),
            "sha256": hashlib.sha256(written).hexdigest(),
        }

    with pytest.raises(BadBackup, match=r"restoring\.json"):
        other.backups.check(rewritten(backup, tmp_path / "bad.zip", change), silent)
    assert (tmp_path / "elsewhere" / "diary.txt").read_text() == "mine"


def test_links_in_a_zip_are_refused(backup, tmp_path):
    bad = tmp_path / "bad.zip"
    shutil.copy(backup, bad)
    link = zipfile.ZipInfo("data/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadBackup, match="lead out"):
        library(tmp_path / "new").backups.restore(bad, silent)


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_a_damaged_or_shortened_back_up_is_refused(backup, tmp_path, where):
    whole = backup.read_bytes()
    at = int(len(whole) * where)
    for name, data in (
        ("cut.zip", whole[:at]),
        ("flipped.zip", whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :]),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadBackup, match="be restored"):
            library(tmp_path / "new").backups.restore(tmp_path / name, silent)


def test_a_file_that_is_none_or_not_there_is_told(tmp_path):
    other = library(tmp_path / "new")
    (tmp_path / "a.zip").write_text("no zip", encoding="utf-8")
    with pytest.raises(BadBackup, match="not a zip file"):
        other.backups.restore(tmp_path / "a.zip", silent)
    with pytest.raises(NotFound, match="There is no file"):
        other.backups.restore(tmp_path / "b.zip", silent)


def test_a_library_that_holds_something_is_replaced_only_by_force_and_kept_aside(backup, other, tmp_path):
    (other.settings.data / "notes.txt").write_text("mine", encoding="utf-8")
    before = texts(other)
    with pytest.raises(BadRequest, match=r"\(1 work\).*--force"):
        other.backups.restore(backup, silent)
    assert texts(other) == before
    done = other.backups.restore(backup, silent, force=True)
    assert texts(other)[1] == ["The ferry is late"]
    assert "notes.txt" not in texts(other)[2]
    aside = build(Settings(data=done.aside, indexes=tmp_path / "indexes"))
    assert texts(aside) == before


def test_a_store_that_cannot_be_opened_can_be_replaced(backup, tmp_path):
    other = library(tmp_path / "new")
    other.settings.data.mkdir(parents=True)
    other.settings.store.write_bytes(b"no database" * 1000)
    with pytest.raises(BadRequest, match=r"store that.*opened"):
        other.backups.restore(backup, silent)
    done = other.backups.restore(backup, silent, force=True)
    assert texts(other)[1] == ["The ferry is late"]
    assert (done.aside / "relic.duckdb").read_bytes().startswith(b"no database")


def test_no_restore_begins_without_room(backup, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 1_000))
    with pytest.raises(StoreFull, match="has no room for it"):
        library(tmp_path / "new").backups.restore(backup, silent)


def test_a_restore_that_fails_leaves_nothing_of_its_own_nor_another_ones_folder(backup, other, monkeypatch):
    made = []

    def fails(_backup, folder, _progress):
        made.append(folder.name)
        raise StoreError("It fails.")

    monkeypatch.setattr("relic_core.services.backups._unpack", fails)
    for _ in range(2):
        with pytest.raises(StoreError, match="It fails"):
            other.backups.restore(backup, silent, force=True)
    assert len(set(made)) == 2  # a name that nobody can know beforehand
    assert not list(other.settings.data.glob(f"{swapping.STAGED}*"))


def test_no_restore_goes_over_a_job_that_is_under_way(ferry, backup, monkeypatch):
    class Held:
        def submit(self, folder, alive):
            self.alive = os.dup(alive)

    held = Held()
    busy = build(ferry.settings, executor=held)
    busy.jobs.start("index", title="Preparing The Quay")
    with pytest.raises(BadRequest, match="Preparing The Quay is under way"):
        busy.backups.restore(backup, silent, force=True)
    os.close(held.alive)


# ---- a restore that is killed -------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here."""


def kill_at(monkeypatch, number):
    """Let the process end before its move of that number; gives a count of the moves made."""
    made = []

    def before(real):
        def move(*arguments, **named):
            if len(made) == number:
                raise Killed
            made.append(arguments)
            return real(*arguments, **named)

        return move

    for owner, name in ((Path, "rename"), (Path, "replace"), (os, "link"), (Path, "mkdir")):
        monkeypatch.setattr(owner, name, before(getattr(owner, name)))
    return made


OLD = {"relic.duckdb": "old", "relic.duckdb.wal": "old", "model.json": "old", "sources/a": "old", "notes/b": "old"}
NEW = {"relic.duckdb": "new", "model.json": "new", "sources/a": "new", "sources/c": "new", "trainings/d": "new"}


def put(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def held(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and not path.relative_to(folder).parts[0].startswith(("before", "."))
    }


def test_a_swap_that_is_killed_at_any_move_leaves_the_old_library_or_the_new(tmp_path):
    number, ended = 0, []
    while len(ended) == number:
        data = tmp_path / f"n{number}"
        staged, aside = data / f"{swapping.STAGED}1", data / f"{swapping.ASIDE}now"
        put(data, OLD)
        put(staged, NEW)
        with pytest.MonkeyPatch.context() as patch:
            moves = kill_at(patch, number)
            with suppress(Killed):
                swapping.decide(data, staged, aside, store="relic.duckdb")
                swapping.finish(data)
        assert (data / "relic.duckdb").is_file(), "never missing: a program that comes now would make an empty one"
        for again in (0, 1, 2):  # whoever opens it next; and whoever is killed at that
            if swapping.is_due(data):
                with pytest.MonkeyPatch.context() as patch, suppress(Killed):
                    kill_at(patch, again)
                    swapping.finish(data)
        if swapping.is_due(data):
            swapping.finish(data)
        if len(moves) == number and held(data) == OLD:
            ended.append("old")
            assert not aside.exists()
        else:
            assert held(data) == NEW
            assert held(aside) == OLD
            ended.extend(["new"] if len(moves) == number else [])
        number += 1
    assert ended == ["old"] + ["new"] * (len(ended) - 1)
    assert len(ended) > 8


def test_a_file_system_without_hard_links_will_do(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    put(tmp_path, OLD)
    put(tmp_path / f"{swapping.STAGED}1", NEW)
    swapping.decide(tmp_path, tmp_path / f"{swapping.STAGED}1", tmp_path / "before-restore-x", store="relic.duckdb")
    swapping.finish(tmp_path)
    assert (held(tmp_path), held(tmp_path / "before-restore-x")) == (NEW, OLD)


def test_a_restore_that_was_decided_is_finished_by_whoever_opens_the_library_next(backup, other, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swapping, "finish", lambda _: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            other.backups.restore(backup, silent, force=True)
    assert swapping.is_due(other.settings.data)
    assert texts(other)[1] == ["The ferry is late"]
    assert not swapping.is_due(other.settings.data)


def test_the_commands_back_up_check_and_restore(ferry, tmp_path, monkeypatch, capsys):
    for name, value in ferry.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    path = str(tmp_path / "kept.zip")
    assert cli.main(["backup", path]) == 0
    assert "holds 1 work and 6 files" in capsys.readouterr().out
    assert cli.main(["backup", path]) == 1
    assert SAYS["earlier"] in capsys.readouterr().err
    assert cli.main(["backup", path, "--force"]) == 0
    capsys.readouterr()
    assert cli.main(["restore", path, "--check"]) == 0
    assert SAYS["back-up whole"] in capsys.readouterr().out
    assert cli.main(["restore", path]) == 1
    assert "--force" in capsys.readouterr().err
    assert cli.main(["restore", path, "--force"]) == 0
    assert SAYS["kept aside"] in capsys.readouterr().out
    assert cli.main(["restore", "emma", "--force"]) == 2


# ---- what one that was killed leaves ------------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from relic_core.config import Settings
from relic_core.wiring import build
app = build(Settings(data=Path(sys.argv[1]) / "data", indexes=Path(sys.argv[1]) / "indexes"))
kill = lambda done, total, note="": os.kill(os.getpid(), 9) if done else None
make = {"make": app.backups.make, "check": app.backups.check}[sys.argv[2]]
make(Path(sys.argv[3]), kill)
"""


def killed(library, does, file):
    command = [sys.executable, "-c", KILLED, str(library.settings.data.parent), does, str(file)]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ended.returncode == -9, ended.stderr


def copies(library, folder):
    hidden = [*folder.glob(".*"), *library.settings.data.glob(".*")]
    return {path.name[:12] for path in hidden if not path.name.endswith(".lock")}


@pytest.fixture(params=["make", "check"])
def left(ferry, backup, tmp_path, request):
    """A library, and a folder of back-ups, after a back-up or a check was killed."""
    folder = tmp_path / "backups [of Monday]"
    folder.mkdir()
    (folder / ".a.zip.of-mine").write_text("kept")
    (folder / ".b.zip.store").write_text("kept: that of another library")
    killed(ferry, request.param, folder / "a.zip" if request.param == "make" else backup)
    assert len(copies(ferry, folder)) == {"make": 5, "check": 3}[request.param]
    return ferry, folder


NEXT = {
    "a back-up": lambda library, folder, _: library.backups.make(folder / "c.zip", silent),
    "a check": lambda library, _, backup: library.backups.check(backup, silent),
    "a restore": lambda library, _, backup: library.backups.restore(backup, silent, force=True),
    "a start": lambda library, *_: library.backups.sweep(),
}


@pytest.mark.parametrize("comes", NEXT)
def test_copies_that_a_killed_backup_leaves_are_named_and_taken_away_by_what_comes_next(left, backup, comes):
    library, folder = left
    (told,) = (each for each in library.examine() if each.name == "back-ups")
    assert told.level == "notice"
    NEXT[comes](library, folder, backup)
    assert copies(library, folder) == {".a.zip.of-mine"[:12], ".b.zip.store"}
    assert "back-ups" not in [each.name for each in library.examine()]


def test_what_somebody_still_works_on_is_left_alone(ferry, backup, tmp_path):
    seen = []

    def meanwhile(_done, _total, _note=""):
        before = copies(ferry, tmp_path)
        ferry.backups.sweep()
        assert copies(ferry, tmp_path) == before
        assert "back-ups" not in [each.name for each in ferry.examine()]
        seen.append(before)

    ferry.backups.make(tmp_path / "a.zip", meanwhile)
    ferry.backups.check(backup, meanwhile)
    assert all(len(each) >= 1 for each in seen)
    assert copies(ferry, tmp_path) == set()


def test_the_sample_alone_does_not_replace_the_back_up_of_one_work_and_replaces_its_own(ferry, backup):
    ferry.works.remove(work_of().id)
    ferry.ensure_sample()
    with pytest.raises(BadRequest, match="--even-empty"):
        ferry.backups.make(backup, silent, force=True)
    own = backup.with_name("own.zip")
    ferry.backups.make(own, silent)
    assert ferry.backups.make(own, silent, force=True).own == 0
