"""One file for many threads and processes; whatever is wrong with it is said, and nothing in it is lost."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.errors import StoreBusy, StoreError, StoreReadOnly, StoreTooNew
from relic_core.store import Store
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout, is_held
from tests.making import work_of
from tests.privileges import without_privileges
from tools.reliability.attacks import LOG_DAMAGE, leave_log

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def python(code, *arguments, **options):
    """Start Python on some code that may use the project and the tests."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def held(tmp_path):
    """A store that another process holds open until the test ends."""
    path = tmp_path / "relic.duckdb"
    Store(path).works.summaries()
    with python(HOLD, path, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "held\n"
        yield path, process
        process.stdin.close()
        process.wait(10)


def test_a_store_that_another_process_holds_is_waited_for_and_then_its_holder_named(held):
    path, process = held
    began = time.monotonic()
    with pytest.raises(StoreBusy, match=f"process {process.pid}") as caught:
        Store(path, lock_seconds=0.4).works.summaries()
    assert 0.4 <= time.monotonic() - began < 5
    assert "relic.duckdb" in str(caught.value)


def test_a_store_that_comes_free_in_time_is_used(held):
    path, process = held
    threading.Timer(0.3, process.stdin.close).start()
    assert Store(path, lock_seconds=10).works.summaries() == ()


TURNS = """
import sys
from pathlib import Path
from relic_core.domain import SearchRequest
from relic_core.store import Store
store = Store(Path(sys.argv[1]), lock_seconds=20)
for number in range(15):
    made = store.searches.keep(SearchRequest(work_id="w", claim_text=f"{sys.argv[2]} {number}"))
    assert store.searches.get(made.id) == made
"""


def test_two_processes_read_and_write_in_turns_and_neither_fails(tmp_path):
    path = tmp_path / "relic.duckdb"  # made by whichever comes first
    writers = [python(TURNS, path, name) for name in ("app", "command")]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    assert len(Store(path).searches.recent(100)) == 30


OVERLAPPING = """
import sys, threading, time
from pathlib import Path
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
database = Database.at(Path(sys.argv[1]))
def poll(number):
    time.sleep(number / 20)
    while True:
        with database.reading(LockTimeout(60)) as cursor:
            cursor.execute("SELECT 1").fetchall()
            time.sleep(0.1)
for number in range(3):
    threading.Thread(target=poll, args=(number,), daemon=True).start()
time.sleep(0.3)
print("polling", flush=True)
sys.stdin.readline()
"""
"""An app with several pages, whose units of work overlap without a pause."""


def test_a_process_whose_units_of_work_overlap_lets_others_have_their_turns(tmp_path):
    path = tmp_path / "relic.duckdb"
    Store(path).works.summaries()
    with python(OVERLAPPING, path, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "polling\n"
        store = Store(path, lock_seconds=2)
        for number in range(3):
            made = store.searches.keep(SearchRequest(work_id="w", claim_text=f"claim {number}"))
            assert store.searches.get(made.id) == made
        process.stdin.close()


WAITS = """
import sys
from pathlib import Path
from relic_core.store import Store
print("waiting", flush=True)
Store(Path(sys.argv[1]), lock_seconds=30).works.summaries()
"""


def test_a_unit_of_work_within_another_does_not_wait_for_those_who_wait_for_it(tmp_path):
    path = tmp_path / "relic.duckdb"
    store = Store(path, lock_seconds=20)
    with Database.at(path).reading(LockTimeout(1)), python(WAITS, path) as process:
        assert process.stdout.readline() == "waiting\n"
        deadline = time.monotonic() + 10
        while not is_held(path.with_name("relic.duckdb.next")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        began = time.monotonic()
        assert store.works.summaries() == ()
        assert time.monotonic() - began < 5
        process.kill()


def test_work_of_hours_waits_longer_and_tells_that_it_waits(held):
    path, process = held
    store, told = Store(path, lock_seconds=0.1), []
    threading.Timer(1.5, process.stdin.close).start()
    with store.patiently(20, lambda: told.append("waiting")):
        assert store.works.summaries() == ()
    assert told


def test_whoever_waits_patiently_can_be_called_away_and_is_hasty_again_afterwards(held):
    path, _ = held
    store = Store(path, lock_seconds=0.1)

    def called_away():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.patiently(20, called_away):
        store.works.summaries()
    with pytest.raises(StoreBusy):
        store.works.summaries()


GUARDED = """
import sys
from pathlib import Path
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
with Database.at(Path(sys.argv[1])).reading(LockTimeout(1)):
    open(sys.argv[1]).close()
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_store_stays_guarded_when_another_handle_on_its_file_is_closed(tmp_path):
    """The kernel then drops the lock that DuckDB took, whoever in the process opened the handle."""
    path = tmp_path / "relic.duckdb"
    with python(GUARDED, path, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StoreBusy, match=f"process {process.pid}"):
            Store(path, lock_seconds=0.2).works.summaries()
        process.stdin.close()


def test_threads_get_their_own_rows(tmp_path):
    store = Store(tmp_path / "relic.duckdb")

    def use(number):
        made = store.searches.keep(SearchRequest(work_id="w", claim_text=f"claim {number}"))
        return all(store.searches.get(made.id) == made for _ in range(5))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(40)))
    assert len(store.searches.recent(100)) == 40


def test_two_stores_of_one_path_share_what_is_open(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with Database.at(tmp_path / "relic.duckdb").writing(LockTimeout(1)) as cursor:
        cursor.execute("INSERT INTO tombstones VALUES ('work', 'x', now()::TIMESTAMP)")
        assert Store(tmp_path / "link" / "relic.duckdb").works.summaries() == ()


def test_nothing_stays_open_between_units_of_work(tmp_path):
    path = tmp_path / "relic.duckdb"
    Store(path).works.summaries()
    with python(HOLD, path, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "held\n", "another process may open it now"
        process.stdin.close()


def held_here(path):
    return is_held(path.with_name("relic.duckdb.lock"))


def test_a_server_keeps_the_file_open_between_units_of_work_that_follow_one_another(tmp_path):
    path = tmp_path / "relic.duckdb"
    store = Store(path, linger_seconds=30)
    made = store.searches.keep(SearchRequest(work_id="w", claim_text="one"))
    assert not held_here(path), "what was written is taken in at once"
    assert store.searches.get(made.id) == made
    assert held_here(path)
    stamp = store.stamp()
    assert store.works.summaries() == ()
    with python(WAITS, path) as process:
        assert process.stdout.readline() == "waiting\n"
        while process.poll() is None and not is_held(path.with_name("relic.duckdb.next")):
            time.sleep(0.01)
        store.works.summaries()  # lets the other go first
        assert process.wait(10) == 0
    store.copy(tmp_path / "copy.duckdb")  # needs the file alone
    assert Store(tmp_path / "copy.duckdb").searches.get(made.id) == made
    Database.at(path).rest()
    assert not held_here(path)
    assert store.stamp() == stamp, "nothing was written"


def test_a_file_that_was_kept_open_is_closed_by_itself_even_where_no_thread_can_be_had(tmp_path, monkeypatch):
    path = tmp_path / "relic.duckdb"
    store = Store(path, linger_seconds=0.2)
    store.works.summaries()
    assert held_here(path)
    deadline = time.monotonic() + 10
    while held_here(path):
        assert time.monotonic() < deadline
        time.sleep(0.01)

    def refuse(_timer):
        raise RuntimeError

    monkeypatch.setattr(threading.Timer, "start", refuse)
    store.works.summaries()
    assert not held_here(path)


LINGERS = """
import os, signal, sys
from pathlib import Path
from relic_core.domain import SearchRequest
from relic_core.store import Store
store = Store(Path(sys.argv[1]), linger_seconds=30)
for number in range(5):
    store.searches.keep(SearchRequest(work_id="w", claim_text=f"claim {number}"))
    store.works.summaries()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_killed_while_it_keeps_the_file_open_loses_nothing(tmp_path):
    path = tmp_path / "relic.duckdb"
    python(LINGERS, path).communicate(timeout=60)
    assert kept(path) == 5
    assert Store(path).losses() == ()


def test_a_block_that_raises_writes_nothing(tmp_path):
    database = Database.at(tmp_path / "relic.duckdb")
    with pytest.raises(ZeroDivisionError), database.writing(LockTimeout(1)) as cursor:
        cursor.execute("INSERT INTO tombstones VALUES ('work', 'x', now()::TIMESTAMP)")
        _ = 1 / 0
    with database.reading(LockTimeout(1)) as cursor:
        assert cursor.execute("SELECT count(*) FROM tombstones").fetchall() == [(0,)]


def test_no_statement_can_reach_the_network_or_other_files(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with Database.at(tmp_path / "relic.duckdb").reading(LockTimeout(1)) as cursor:
        settings = ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access")
        assert not any(cursor.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in settings)
        with pytest.raises(duckdb.Error):
            cursor.execute("SELECT * FROM read_csv(?)", [str(tmp_path / "secret.csv")])


WRITE = """
import sys
from pathlib import Path
from relic_core.store import Store
from tests.making import work_of
store = Store(Path(sys.argv[1]), lock_seconds=10)
for number in range(1000):
    text = f"Number {sys.argv[2]} {number}\\n\\n" + "A line of some length stands here.\\n" * 3000
    store.works.add(work_of(text, work_id=f"work-{sys.argv[2]}-{number}", title=f"{sys.argv[2]} {number}"))
    print(number, flush=True)
"""


def test_a_writer_killed_at_any_moment_leaves_a_store_that_opens_with_whole_works(tmp_path):
    path = tmp_path / "relic.duckdb"
    acknowledged = 0
    for attempt, delay in enumerate((0.0, 0.013, 0.029, 0.041)):
        writer = python(WRITE, path, attempt)
        writer.stdout.readline()
        time.sleep(delay)
        os.kill(writer.pid, signal.SIGKILL)
        rest, _ = writer.communicate(timeout=20)
        acknowledged += 1 + rest.count("\n")
        store = Store(path, lock_seconds=10)
        summaries = store.works.summaries()
        # The one that was being added may have been finished just before the kill.
        assert acknowledged <= len(summaries) <= acknowledged + 1
        acknowledged = len(summaries)
        assert all(summary.sentences == 3000 == len(store.works.load(summary.id).sentences) for summary in summaries)


def test_writers_who_come_together_wait_together(held):
    path, _ = held
    store = Store(path, lock_seconds=0.5)

    def write(number):
        with pytest.raises(StoreBusy):
            store.searches.keep(SearchRequest(work_id="w", claim_text=f"claim {number}"))

    began = time.monotonic()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert time.monotonic() - began < 2.5  # one behind the other it takes 3 s


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path):
    path = tmp_path / "relic.duckdb"
    content = b"This is not a database. " * 500
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"relic\.duckdb cannot"):
        Store(path, lock_seconds=0.1).works.summaries()
    assert path.read_bytes() == content


def test_a_store_that_was_emptied_is_damage_and_no_new_library(tmp_path):
    path = tmp_path / "relic.duckdb"
    Store(path).works.add(work_of())
    os.truncate(path, 0)
    with pytest.raises(StoreError, match="empty"):
        Store(path).works.summaries()
    assert path.stat().st_size == 0
    path.unlink()
    assert Store(path).works.summaries() == (), "deleted, and begun again"


def test_a_log_whose_store_is_gone_is_damage_and_no_new_library(logged):
    logged.unlink()
    with pytest.raises(StoreError, match="gone"):
        Store(logged).works.summaries()
    assert not logged.exists()
    assert log_of(logged).stat().st_size


# ---- the log ------------------------------------------------------------------------------------------------------

KEPT = 6


def keep_and_die(path, name, times=KEPT):
    leave_log(Settings(data=path.parent), name, times)


def log_of(path):
    return path.with_name(f"{path.name}.wal")


def kept(path):
    return len(Store(path).searches.recent(100))


@pytest.fixture(scope="module")
def logged_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logged")
    Store(folder / "relic.duckdb").works.summaries()
    keep_and_die(folder / "relic.duckdb", "first")
    return folder


@pytest.fixture
def logged(logged_once, tmp_path):
    """A store whose process was killed, with some searches that are in its log alone."""
    shutil.copytree(logged_once, tmp_path / "logged")
    path = tmp_path / "logged" / "relic.duckdb"
    assert log_of(path).stat().st_size
    return path


@pytest.mark.parametrize("damage", ["emptied", "deleted", "zeroed", "cut to its head", "cut in half", "cut by a byte"])
def test_a_log_that_lost_what_was_acknowledged_is_told_once_with_times(logged, damage):
    LOG_DAMAGE[damage](log_of(logged))
    assert kept(logged) < KEPT
    (told,) = Store(logged).losses()
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", told)) == 2
    Store(logged).searches.keep(SearchRequest(work_id="w", claim_text="afterwards"))
    keep_and_die(logged, "then", 3)
    kept(logged)
    assert Store(logged).losses() == (told,)
    logged.with_name("relic.duckdb.lost").unlink()
    assert Store(logged).losses() == ()


def test_a_log_damaged_where_the_store_cannot_be_opened_is_told_too(logged):
    LOG_DAMAGE["one bit flipped"](log_of(logged))
    with pytest.raises(StoreError, match="read"):
        kept(logged)
    assert len(Store(logged).losses()) == 1


def test_a_loss_that_cannot_be_written_down_keeps_the_store_shut(logged):
    os.truncate(log_of(logged), 60)
    logged.with_name("relic.duckdb.lost").mkdir()
    with pytest.raises(StoreReadOnly, match="lost"):
        kept(logged)
    logged.with_name("relic.duckdb.lost").rmdir()
    kept(logged)
    assert len(Store(logged).losses()) == 1


def killed_before_its_note(path, note):
    before = note.read_bytes()
    keep_and_die(path, "then", 2)
    note.write_bytes(before)


def half_noted(path, note):
    note.write_bytes(note.read_bytes()[:100])


def used_by_the_version_before(path, note):
    with duckdb.connect(path) as connection:  # which takes the log in, and knows of no note
        connection.execute("DELETE FROM tombstones")


def used_by_the_version_before_and_killed(path, note):
    used_by_the_version_before(path, note)
    before = note.read_bytes()
    keep_and_die(path, "then", 1)
    note.write_bytes(before)


def another_store_in_its_place(path, note):
    log_of(path).unlink()
    path.unlink()
    other = path.with_name("other") / path.name
    Store(other).works.add(work_of())
    shutil.copyfile(other, path)


SOUND = {
    "as it was left": (lambda path, note: None, KEPT),
    "killed between commit and note": (killed_before_its_note, KEPT + 2),
    "copied without the note": (lambda path, note: note.unlink(), KEPT),
    "half a note": (half_noted, KEPT),
    "a note of other bytes": (lambda path, note: note.write_bytes(os.urandom(512)), KEPT),
    "opened by the version before": (used_by_the_version_before, KEPT),
    "killed by the version before": (used_by_the_version_before_and_killed, KEPT + 1),
    "killed again": (lambda path, note: keep_and_die(path, "then", 2), KEPT + 2),
    "another store": (another_store_in_its_place, 0),
}


@pytest.mark.parametrize("case", SOUND)
def test_a_store_that_lost_nothing_gives_no_alarm(logged, case):
    happens, expected = SOUND[case]
    happens(logged, logged.with_name("relic.duckdb.wal-note"))
    assert kept(logged) == expected
    assert kept(logged) == expected
    assert Store(logged).losses() == ()


def test_processes_that_take_turns_and_are_killed_give_no_alarm(tmp_path):
    path = tmp_path / "relic.duckdb"
    writers = [python(TURNS, path, name) for name in ("app", "command", "job")]
    _, said = writers[0].communicate(timeout=60)
    assert writers[0].returncode == 0, said
    for writer in writers[1:]:
        writer.kill()
        writer.communicate()
    assert kept(path) >= 15
    assert Store(path).losses() == ()


def test_a_folder_in_the_place_of_the_store_is_told_in_whole_sentences(tmp_path):
    path = tmp_path / "relic.duckdb"
    path.mkdir()
    (path / "something").touch()
    with pytest.raises(StoreError, match=r"Is a directory\. Nothing"):
        Store(path).works.summaries()


@pytest.mark.parametrize("place", [0, 20_000, -523_000], ids=["head", "first block", "late block"])
def test_a_damaged_store_is_told_and_left_alone(tmp_path, place):
    path = tmp_path / "relic.duckdb"
    Store(path).works.add(work_of("Long\n\n" + "".join(f"A line of length {n * n}.\n" for n in range(20_000))))
    content = bytearray(path.read_bytes())
    place %= len(content)
    content[place : place + 2_000] = bytes(2_000)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="read"):
        Store(path, lock_seconds=0.1).works.load("the-ferry-00000000")
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_told_and_left_alone(tmp_path):
    path = tmp_path / "relic.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE invoices (amount INTEGER)")
    with pytest.raises(StoreError, match="another program"):
        Store(path).works.summaries()
    with duckdb.connect(path) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("invoices",)]


def test_a_store_of_a_newer_version_is_told_and_its_file_untouched(tmp_path):
    path = tmp_path / "relic.duckdb"
    Store(path).works.add(work_of())
    with duckdb.connect(path) as connection:
        connection.execute("INSERT INTO migrations VALUES (99, 'from_the_future', now()::TIMESTAMP)")
    before = path.read_bytes()
    store = Store(path)
    for use in (store.works.summaries, lambda: store.works.add(work_of())):
        with pytest.raises(StoreTooNew, match=r"version 99.*Update the program"):
            use()
    assert path.read_bytes() == before


@pytest.fixture
def open_path(tmp_path):
    """A folder of the test that everybody may enter: pytest's own may be entered by its owner alone."""
    folder = tmp_path
    before = []
    while folder != folder.parent:
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            before.append((folder, folder.stat().st_mode))
            folder.chmod(folder.stat().st_mode | 0o011)
        folder = folder.parent
    yield tmp_path
    for folder, mode in before:
        folder.chmod(mode)


@pytest.mark.parametrize("stored", [False, True], ids=["new", "with a store"])
def test_a_read_only_data_folder_is_told(open_path, stored):
    folder = open_path / "data"
    folder.mkdir()
    path = folder / "relic.duckdb"
    if stored:
        Store(path).works.add(work_of())
        path.chmod(0o444)
    folder.chmod(0o555)
    with without_privileges(), pytest.raises(StoreReadOnly, match="RELIC_DATA"):
        Store(path, lock_seconds=0.1).works.add(work_of())
    folder.chmod(0o755)
    assert len(Store(path).works.summaries()) == stored


@pytest.mark.parametrize("name", ["file/data", "x" * 300], ids=["below a file", "too long"])
def test_a_data_folder_that_cannot_be_made_is_told(tmp_path, name):
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / name / "relic.duckdb")
    assert store.stamp() == ()
    with pytest.raises(StoreReadOnly, match="RELIC_DATA"):
        store.works.summaries()


def test_a_data_folder_that_may_not_be_entered_is_told(open_path):
    folder = open_path / "data"
    Store(folder / "relic.duckdb").works.summaries()
    folder.chmod(0)
    with without_privileges():
        assert Store(folder / "relic.duckdb").stamp() == ()
        with pytest.raises(StoreReadOnly, match="RELIC_DATA"):
            Store(folder / "relic.duckdb").works.summaries()
    folder.chmod(0o755)
