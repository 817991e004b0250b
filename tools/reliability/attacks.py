"""Attacks, one row each: a full disk, back-ups and settings that were tampered with, doors, two servers."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import duckdb
import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from relic_core.config import PROJECT, Settings
from relic_core.domain import SearchRequest
from relic_core.errors import BadBackup, RelicError, StoreFull
from relic_core.formats.backups import BackupFile, BackupWriter
from relic_core.ports import silent
from relic_core.store.swapping import STAGED
from relic_core.wiring import App, build
from relic_ui import strangers
from tools.bench import parts
from tools.reliability.process import claim
from tools.reliability.rows import Row, Trial
from tools.reliability.visit import Visit

_DISK, _ROOM = 48_000_000, 3_000_000
"""Bytes of a disk, and of its room when a large write comes, which fits beside the store's file but not into it too."""
_LARGE, _SMALL = 2_000_000, 1_000
"""Characters of searches that are kept."""
_TEXT = b"The New Quay\n\nNobody lit the lamp. The ferry was late. The lamp stood on the quay."


@contextmanager
def small_disk(at: Path) -> Iterator[bool]:
    """Mount a disk of memory on a folder; gives false, and the folder as it is, where that is not allowed."""
    at.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(at)]
    with suppress(FileNotFoundError):
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:  # noqa: S603 - our own words
            try:
                yield True
            finally:
                subprocess.run(["umount", "-l", str(at)], check=False)  # noqa: S603, S607 - what was mounted above
            return
    yield False


def disk(trial: Trial) -> Row:
    """Fill a real disk by one large write and many small ones; read, search, back up to another; make room."""
    row = Row(
        name="a small disk, filled",
        done=f"A disk of {_DISK / 1e6:.0f} MB was filled by large and small searches until they found no room. Then "
        "its library was read, searched and backed up to another disk, restored there, and given room again.",
        expected="What does not fit is refused in words; what was acknowledged is read, found, backed up and restored; "
        "with room, writing goes on.",
        happened="Not tried: no disk may be mounted here (it takes root).",
        held=None,
    )
    trial.say("filling a small disk")
    at = trial.folder / "small"
    with small_disk(at) as mounted:
        if not mounted:
            return row
        app = build(Settings(data=at / "data", indexes=trial.folder / "small-indexes"))
        work = app.works.add(_TEXT, name="quay.txt").work
        with (at / "filler").open("wb") as filler:
            filler.write(bytes(shutil.disk_usage(at).free - _ROOM))
        acknowledged: list[str] = []
        refused = 0
        for length in (_LARGE,) * 3 + (_SMALL,) * 3:
            claim = random.Random(len(acknowledged)).randbytes(length // 2).hex()  # noqa: S311 - no secret
            try:
                app.history.keep(SearchRequest(work_id="w", claim_text=claim))
                acknowledged.append(claim)
            except StoreFull:
                refused += 1
        read = app.works.load(work.id).text
        search = SearchRequest(work_id=work.id, claim_text="lamp", retrievers=("bm25",))
        hits = app.search.run(search, at_once=True).columns[0].cards
        app.backups.make(trial.folder / "small.zip", silent)
        other = build(Settings(data=trial.folder / "restored", indexes=trial.folder / "small-indexes"))
        other.backups.restore(trial.folder / "small.zip", silent)
        lost = sum(len({*acknowledged} - _claims(each)) for each in (app, other))
        (at / "filler").unlink()
        app.history.keep(SearchRequest(work_id="w", claim_text="with room"))
        again = "with room" in _claims(app)
    return replace(
        row,
        happened=f"{len(acknowledged)} searches were acknowledged and {refused} refused. On the full disk the work was "
        f"{'read' if read else 'not read'} and {len(hits)} passages of it found; of the searches, there and in the "
        f"back-up that was restored, {lost or 'none'} was lost. With room writing {'went on' if again else 'stood'}.",
        held=lost == 0 and again and bool(read and hits and acknowledged and refused),
        counts={"acknowledged": len(acknowledged), "refused": refused, "lost": lost},
    )


def _claims(app: App) -> set[str]:
    return {search.request.claim_text for search in app.history.recent(1_000_000)}


_ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT"
ALTERED = {
    "a view without end": f"CREATE OR REPLACE VIEW live_works AS {_ENDLESS} works.* FROM works, endless",
    "migrations without end": "ALTER TABLE migrations RENAME TO others; CREATE VIEW migrations AS "
    f"{_ENDLESS} n AS number, '' AS name, now()::TIMESTAMP AS applied FROM endless",
    "a table that is gone": "DROP TABLE texts",
    "a column of another name": "ALTER TABLE runs RENAME COLUMN created TO made",
    "a column of another kind": "ALTER TABLE searches ALTER claim_text TYPE BLOB USING encode(claim_text)",
    "a migration that is denied": "DELETE FROM migrations WHERE number > 3",
    "a work that leads elsewhere": "UPDATE works SET id = '../../..'",
    "a function of its own": "CREATE MACRO max(number) AS 3",
}
"""What may have been done to the store in a back-up whose manifest agrees with it."""


def tampered(trial: Trial) -> Row:
    """Alter back-ups: their stores, with a manifest that agrees, and bytes of the file at random."""
    trial.say("tampering with back-ups")
    whole = trial.folder / "whole.zip"
    trial.app.backups.make(whole, silent, force=True)
    chance, came = random.Random(23), Counter[str]()  # noqa: S311 - no secret
    for name, statement in ALTERED.items():
        came[_checked(trial.app, altered(whole, trial.folder / "altered", partial(_execute, statement)))] += 1
        trial.say(f"tampering with back-ups: {name}")
    for _ in range(10 * trial.rounds):
        data = bytearray(whole.read_bytes())
        at = chance.randrange(len(data))
        data[at : at + 8] = chance.randbytes(8)
        bad = trial.folder / "bad.zip"
        bad.write_bytes(data[: chance.choice((len(data), at))])
        came[_checked(trial.app, bad)] += 1
    passed = came["whole"]
    others = came.total() - came["refused"] - passed
    return Row(
        name="back-ups that were tampered with",
        done=f"A back-up was altered in {came.total()} ways: {len(ALTERED)} changes of its store, with a manifest that "
        f"agrees with them, and {10 * trial.rounds} times eight bytes at random or an end that is cut off.",
        expected="Each is refused in words, or where nothing that counts was hit, found whole; none hangs.",
        happened=f"{came['refused']} were refused, {passed} found whole, {others or 'none'} ended otherwise.",
        held=others == 0 and came["refused"] >= len(ALTERED),
        counts={"altered": came.total(), "refused": came["refused"], "lost": 0},
    )


def _execute(statement: str, store: Path) -> None:
    with duckdb.connect(store) as connection:
        connection.execute(statement)


def altered(whole: Path, folder: Path, change: Callable[[Path], object]) -> Path:
    """Copy a back-up with its store changed, and a manifest that agrees."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    bad = folder / "altered.zip"
    with closing(BackupFile(whole)) as backup, bad.open("wb") as file, BackupWriter(file) as writer:
        for name in backup.manifest.members:
            backup.unpack(name, member := folder / "member")
            if name.endswith(backup.manifest.store):
                change(member)
            writer.add(name, member)
            member.unlink()
        writer.close(backup.manifest.model_copy(update={"members": writer.members}))
    return bad


def _checked(app: App, backup: Path) -> str:
    try:
        app.backups.check(backup, silent)
    except BadBackup:
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever else comes is what is looked for
        return type(error).__name__
    return "whole"


def damaged(trial: Trial) -> Row:
    """Flip bits of stores, and empty one; back each up over a whole back-up, and check back-ups of it."""
    whole, folder = trial.folder / "before.zip", trial.folder / "damaged"
    trial.app.backups.make(whole, silent, force=True)
    chance, came, wrong = random.Random(3), Counter[str](), 0  # noqa: S311 - no secret
    for number in range(10 * trial.rounds + 1):
        trial.say(f"damaging a store, {number + 1} of {10 * trial.rounds + 1}")
        shutil.rmtree(folder, ignore_errors=True)
        app = build(Settings(data=folder / "data", indexes=folder / "indexes"))
        app.backups.restore(whole, silent)
        damage = partial(_flip, chance.randrange(1 << 30)) if number else partial(os.truncate, length=0)
        damage(app.settings.store)
        bytes_before = whole.read_bytes()
        outcome = ""
        try:
            app.backups.make(whole, silent, force=True)
            outcome = "taken"
            app.store.read_through()
        except RelicError:
            outcome = "taken and damaged" if outcome == "taken" else "refused"
        came[outcome] += 1
        kept = whole.read_bytes() == bytes_before
        whole.write_bytes(bytes_before)
        check = _checked(trial.app, altered(whole, folder / "altered", damage))
        wrong += (outcome, check) != ("taken", "whole") and (outcome, kept, check) != ("refused", True, "refused")
    return Row(
        name="a damaged store, backed up",
        done=f"In {came.total() - 1} copies of a store one bit was flipped, and one copy was emptied. Each was backed "
        "up over a whole back-up, and a back-up with such a store in it was checked.",
        expected="Where the bit counts, the back-up is refused and the earlier one stays, and `restore --check` finds "
        "the damage. No damaged store is called whole.",
        happened=f"{came['refused']} were refused, {came['taken']} were taken and could be read whole; "
        f"{wrong or 'none'} came otherwise.",
        held=wrong == 0 and came["refused"] > 0,
        counts={"damaged": came.total(), "refused": came["refused"], "lost": wrong},
    )


def _flip(place: int, store: Path) -> None:
    """Flip one bit of a file."""
    with store.open("r+b") as file:
        place %= 8 * store.stat().st_size
        file.seek(place // 8)
        (byte,) = file.read(1)
        file.seek(place // 8)
        file.write(bytes([byte ^ 1 << place % 8]))


_LOGGED = 20
"""Searches that a killed process leaves in the log alone."""


def leave_log(settings: Settings, name: str, times: int) -> None:
    """Let a process keep searches and be killed before DuckDB has taken its log into the file."""
    command = [sys.executable, "-m", "tools.reliability.process", "die", name, str(times)]
    ended = subprocess.run(command, cwd=PROJECT, env={**os.environ, **settings.to_environment()}, check=False)  # noqa: S603 - our own program
    if ended.returncode != -signal.SIGKILL:
        raise RuntimeError(f"The process ended with {ended.returncode} and not by being killed.")


LOG_DAMAGE: dict[str, Callable[[Path], object]] = {
    "emptied": lambda log: os.truncate(log, 0),
    "deleted": lambda log: log.unlink(),
    "zeroed": lambda log: log.write_bytes(bytes(log.stat().st_size)),
    "zeroed at its end": lambda log: log.write_bytes(log.read_bytes()[:-99] + bytes(99)),
    "one bit flipped": lambda log: _flip(4 * log.stat().st_size, log),
    "cut to its head": lambda log: os.truncate(log, 60),
    "cut in half": lambda log: os.truncate(log, log.stat().st_size // 2),
    "cut by a byte": lambda log: os.truncate(log, log.stat().st_size - 1),
}


def logs(trial: Trial) -> Row:
    """Damage the log that a killed process left; and leave it alone, which must give no alarm."""
    made = Settings(data=trial.folder / "logged" / "data", indexes=trial.folder / "logged" / "indexes")
    build(made).works.summaries()
    silent_losses, alarms, refused = 0, 0, 0
    for number in range(trial.rounds):
        trial.say(f"leaving a log and damaging it, {number + 1} of {trial.rounds}")
        leave_log(made, f"logged {number}", _LOGGED)
        for damage in (None, *LOG_DAMAGE.values()):
            own = trial.folder / "log"
            shutil.rmtree(own, ignore_errors=True)
            shutil.copytree(made.data, own)
            app = build(replace(made, data=own))
            if damage is not None:
                damage(own / f"{made.store.name}.wal")
            try:
                lost = len({claim(f"logged {number}", each) for each in range(_LOGGED)} - _claims(app))
            except RelicError:
                lost, refused = 0, refused + 1
            warned = any(finding.name == "log" for finding in app.examine())
            silent_losses += bool(lost) and not warned
            alarms += warned and damage is None
    tries = trial.rounds * len(LOG_DAMAGE)
    return Row(
        name="a damaged log",
        done=f"A process kept {_LOGGED} searches and was killed while they were in DuckDB's log alone, {trial.rounds} "
        f"times. Each time the log was left as it was once, and damaged in {len(LOG_DAMAGE)} ways: "
        f"{', '.join(LOG_DAMAGE)}.",
        expected="A log as it was left gives every search and no alarm. Where searches are lost, `health` says so.",
        happened=f"Of {tries} damaged logs {refused} were refused; of the others, searches were lost in silence "
        f"{silent_losses} times. Whole logs gave {alarms} false alarms in {trial.rounds} tries.",
        held=silent_losses == alarms == 0,
        counts={"damaged": tries, "silent": silent_losses, "false alarms": alarms, "lost": 0},
    )


_ODD = ("", " ", "nan", "inf", "-1", "0", "1e999", "9" * 400, "x" * 5_000, "a\0b", "\udcff", "[1]", "../..", "\u202e")
_LOCALE = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def settings(trial: Trial) -> Row:
    """Give every setting every odd value, and write to a terminal that has no letters but the English ones."""
    trial.say("odd settings")
    came = Counter[str]()
    for name in Settings().to_environment():
        for odd in _ODD:
            try:
                Settings.from_environment({name: odd})
                came["taken"] += 1
            except RelicError:
                came["refused"] += 1
            except Exception as error:  # noqa: BLE001 - whatever else comes is what is looked for
                came[f"{name}={odd[:9]!r}: {type(error).__name__}"] += 1
    command = [sys.executable, "-m", "relic_core", "cite", trial.work_id, "--style", "chicago-notes"]
    environment = {**os.environ, **trial.app.settings.to_environment(), **_LOCALE}
    written = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, check=False)  # noqa: S603 - our own
    others = {name: number for name, number in came.items() if name not in {"taken", "refused"}}
    return Row(
        name="odd settings",
        done=f"Every setting was given {len(_ODD)} odd values, one at a time; and a work was cited to a terminal of "
        "the locale POSIX.",
        expected="A value is taken or refused in words; what a terminal cannot show is spelt out.",
        happened=f"{came['taken']} were taken, {came['refused']} refused, {others or 'none'} ended otherwise; citing "
        f"ended with {written.returncode}.",
        held=not others and written.returncode == 0,
        counts={"values": came.total(), "lost": 0},
    )


_AUTH = """
[auth]
redirect_uri = "http://localhost/oauth2callback"
cookie_secret = "of no account, and long enough for signing"
client_id = "relic"
client_secret = "of no account"
server_metadata_url = "http://127.0.0.1:9/none"
"""
_LARGEST = 1_000_000
_LEAVING = 1
"""Seconds that the server keeps a visit which has lost its connection."""
_QUERIES = (
    "work=%3Cscript%3E&q=%00",
    "q=" + "%F0%9F%98%80" * 200,
    "note=..%2F..&length=1e999",
    "length=-1&at=9.9.9&work=None",
    "view=%27%22--&asked=%7B%7D",
)


def doors(trial: Trial) -> Row:
    """Upload without signing in, more than there is room for, and talk nonsense to the server."""
    row = Row(
        name="doors",
        done="Where people sign in, somebody who had not done so uploaded files and asked for the metrics. Where "
        "nobody signs in, visitors uploaded more than there is room for and left; frames of random bytes were "
        "sent to its websocket, and every page opened at forged addresses.",
        expected="No file is taken before sign-in, and no more than twice the largest for a visit and four times for "
        "the server; who has left makes room; nothing ends the server, and no page shows an error of its own.",
        happened="Not tried: signing in needs authlib (requirements-signin.txt).",
        held=None,
    )
    if find_spec("authlib") is None:
        return row
    trial.say("uploading before signing in")
    megabyte = bytes(_LARGEST - 10_000)
    with _serving(trial, HOME=str(_guarded(trial))) as url, Visit(url) as stranger:
        stranger.open()
        before = sum(stranger.upload(megabyte) == httpx.codes.NO_CONTENT for _ in range(5))
        metrics = stranger.status("/_stcore/metrics")
    _forget_sign_in(trial)
    trial.say("uploading more than there is room for")
    limits = {"RELIC_MAX_UPLOAD_BYTES": str(_LARGEST), "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(_LEAVING)}
    with _serving(trial, **limits) as url:
        taken = []
        with ExitStack() as visits:
            for _ in range(4):
                visit = visits.enter_context(Visit(url))
                visit.open()
                taken.append(sum(visit.upload(megabyte) == httpx.codes.NO_CONTENT for _ in range(3)))
        time.sleep(2 * _LEAVING)
        with Visit(url) as visit:
            visit.open()
            later = visit.upload(megabyte) == httpx.codes.NO_CONTENT
        trial.say("talking nonsense to the server")
        _talk_nonsense(url, 10 * trial.rounds)
        errors = sum(_errors(url, page, query) for page in _pages() for query in _QUERIES[: trial.rounds])
        with Visit(url) as visit:
            well = bool(visit.open())
    return replace(
        row,
        happened=f"{before or 'no'} files were taken before sign-in, and the metrics answered {metrics}. Four visitors "
        f"had {taken} of three files each taken; after they had left there {'was' if later else 'was no'} room again. "
        f"The server {'went on' if well else 'did not go on'}; {errors or 'no'} errors were shown.",
        held=not before
        and metrics == httpx.codes.NOT_FOUND
        and taken == [2, 2, 0, 0]
        and later
        and well
        and not errors,
        counts={"uploads before sign-in": before, "errors": errors, "lost": 0},
    )


def _forget_sign_in(trial: Trial) -> None:
    """Have the library opened again without signing in, as a person must who takes that away."""
    (trial.app.settings.data / ".sign-in").unlink()


def _guarded(trial: Trial) -> Path:
    """Make the home of a server where people sign in."""
    home = trial.folder / "home"
    (home / ".streamlit").mkdir(parents=True, exist_ok=True)
    (home / ".streamlit" / "secrets.toml").write_text(_AUTH, encoding="utf-8")
    return home


_SLIPS: dict[str, bytes | None] = {
    "empty": b"",
    "a folder": None,
    "with a secret that is empty": _AUTH.replace("of no account, and long enough for signing", "").encode(),
    "a comment": b"# [auth]\n",
    "of a part misspelt": _AUTH.replace("[auth]", "[atuh]").encode(),
    "of an empty part": b"[auth]\n",
    "without the line [auth]": _AUTH.replace("[auth]", "").encode(),
    "with a short secret": _AUTH.replace("and long enough for signing", "").encode(),
    "without a secret": _AUTH.replace("cookie_secret", "cookiesecret").encode(),
    "cut short": _AUTH.encode()[:-2],
    "not in UTF-8": _AUTH.replace("of no", "\u00e9t\u00e9").encode("latin-1"),
    "of a part that is none": b"auth = 1\n",
}
"""Files of secrets with a slip in them; None is a folder, as Docker makes one of a file that is not there."""


def slips(trial: Trial) -> Row:
    """Start servers with slips in the file of secrets, and without it; none may let anybody in by it."""
    tried = dict(list(_SLIPS.items())[: 3 * trial.rounds])
    row = Row(
        name="sign-in with a slip in it",
        done=f"A server was started with a file of secrets {len(tried)} times ({', '.join(tried)}); then without one, "
        "on a library in which people had signed in, and on one in which nobody had, there also with a file of "
        "another program's secrets.",
        expected="With a slip it does not start, and says why. Without the file nobody is let in where people signed "
        "in before, and everybody where nobody did.",
        happened="Not tried: signing in needs authlib (requirements-signin.txt).",
        held=None,
    )
    if find_spec("authlib") is None:
        return row
    started = [name for name, held in tried.items() if not _refuses_to_start(trial, name, held)]
    (home := trial.folder / "no-home").mkdir(exist_ok=True)
    let_in: list[bool] = []
    for secrets in ("", _AUTH, ""):
        trial.say("opening a library with and without a provider")
        at = _guarded(trial) if secrets else home
        with _serving(trial, HOME=str(at)) as url:
            let_in.append(_opens_library(trial, url))
    _forget_sign_in(trial)
    (home / ".streamlit").mkdir()
    (home / ".streamlit" / "secrets.toml").write_text('key = "of another program"', encoding="utf-8")
    with _serving(trial, HOME=str(home)) as url:
        let_in.append(_opens_library(trial, url))
    return replace(
        row,
        happened=f"{len(tried) - len(started)} of {len(tried)} servers did not start, and said why. Let in without "
        f"signing in: before anybody had {let_in[0]}, with a provider {let_in[1]}, without the file afterwards "
        f"{let_in[2]}, with another program's secrets on a library that nobody signs in to {let_in[3]}.",
        held=not started and let_in == [True, False, False, True],
        counts={"slips": len(tried), "started": len(started), "lost": 0},
    )


def _refuses_to_start(trial: Trial, name: str, held: bytes | None) -> bool:
    trial.say(f"starting with a file of secrets {name}")
    shutil.rmtree(home := trial.folder / "slip", ignore_errors=True)
    (home / ".streamlit").mkdir(parents=True)
    file = home / ".streamlit" / "secrets.toml"
    file.mkdir() if held is None else file.write_bytes(held)
    environment = {**os.environ, **trial.app.settings.to_environment(), "HOME": str(home)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={parts.free_port()}"]
    try:
        ended = subprocess.run(  # noqa: S603 - our own program
            [*command, "--server.headless=true"],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 1 and "nobody is let in" in ended.stderr.lower() and "Traceback" not in ended.stderr


_FOREIGN = "rebound.example"


def names(trial: Trial) -> Row:
    """Come under names of one's own that lead to this machine, as a page of the web may have them (DNS rebinding)."""
    trial.say("coming under foreign names")
    own = ("localhost", "127.0.0.1", "[::1]", "192.168.1.20", socket.gethostname())
    foreign = (_FOREIGN, f"localhost.{_FOREIGN}", "127.0.0.1.nip.example", "localhost@rebound.example", "[")
    with _server(trial) as (port, *_):
        asked = {
            host: {_come(port, f"{host}:{port}", path) for path in ("", "_stcore/health", "media/a.txt")}
            for host in (*own, *foreign)
        }
        opened = {host for host in (*own, *foreign[:-2]) if _opens_websocket(port, f"{host}:{port}")}
        proxied = _opens_websocket(port, "relic.example.edu", **{"X-Forwarded-For": "192.0.2.7"})
    refused = {host for host, statuses in asked.items() if statuses == {httpx.codes.FORBIDDEN}}
    return Row(
        name="foreign names",
        done=f"Where nobody signs in, pages, health, media and the websocket were asked for under {len(own)} names "
        f"of this machine and {len(foreign)} others; and the websocket as a proxy asks for it, under its own name.",
        expected="Names of this machine and addresses are answered, and what a proxy was asked for; others get 403.",
        happened=f"Refused by HTTP: {', '.join(sorted(refused))}. The websocket opened for "
        f"{', '.join(sorted(opened))}{' and for the proxy' if proxied else ''}.",
        held=refused == set(foreign) and opened == set(own) and proxied,
        counts={"foreign": len(foreign), "answered": len((opened | set(asked) - refused) - set(own)), "lost": 0},
    )


def _come(port: int, host: str, path: str) -> int:
    return httpx.get(f"http://127.0.0.1:{port}/{path}", headers={"Host": host}).status_code


def _opens_websocket(port: int, host: str, **headers: str) -> bool:
    subprotocols = [Subprotocol("streamlit")]
    with socket.create_connection(("127.0.0.1", port)) as own, suppress(InvalidStatus):
        at = f"ws://{host}/_stcore/stream"
        with connect(
            at, sock=own, subprotocols=subprotocols, origin=Origin(f"http://{host}"), additional_headers=headers
        ):
            return True
    return False


def _talk_nonsense(url: str, times: int) -> None:
    chance = random.Random(23)  # noqa: S311 - no secret
    for _ in range(times):
        with Visit(url) as visit, suppress(ConnectionClosed, WebSocketException, TimeoutError):
            for _ in range(3):
                visit.socket.send(chance.randbytes(chance.choice((0, 1, 10, 1_000, 100_000))))
            visit.socket.send("words")
            visit.socket.recv(timeout=1)


def _pages() -> list[str]:
    return ["", *sorted(path.stem for path in (PROJECT / "pages").glob("*.py"))]


def _errors(url: str, page: str, query: str) -> int:
    """Count the errors that a page shows which are none of ours."""
    with Visit(url) as visit:
        messages = visit.open(page, query)
    return sum(each.delta.new_element.HasField("exception") for each in messages)


_HALF_OPEN, _OVERSIZED = 20, 24_000_000
"""Requests that never end, and bytes of a message that no page sends."""
_PER_STRANGER = 4
"""Megabytes that a stranger may cost, who sends as large a message as is taken."""
_SENDING = 30
"""Strangers who send something, each time that things are repeated; the others only come."""
_LET_GO = 15.0
"""Seconds in which a library is warm, and the one before it gone."""


def crowd(trial: Trial) -> Row:
    """Come before the door in a crowd, with all that a websocket can be sent, and ask for what is not theirs to ask."""
    row = Row(
        name="a crowd before the door",
        done=f"Where people sign in, somebody who had not done so sent messages of {_OVERSIZED / 1e6:.0f} MB; more "
        f"strangers than are let in ({strangers.MOST}) came, and up to {_SENDING * trial.rounds} sent one each of "
        f"nearly the largest size taken; {_HALF_OPEN} began requests that they never ended. Where nobody signs in, a "
        "visitor asked for the caches to be cleared.",
        expected=f"Large messages are refused before they are held; no more strangers than that are there at once, at "
        f"{_PER_STRANGER} MB each at most, and the last to come is among them; half a request is given up; nobody's "
        "caches are cleared.",
        happened="Not tried: signing in needs authlib (requirements-signin.txt).",
        held=None,
    )
    if find_spec("authlib") is None:
        return row
    trial.say("a crowd before the door")
    with _server(trial, HOME=str(_guarded(trial))) as (port, process, _), ExitStack() as visits:
        url = f"http://localhost:{port}"
        half = [visits.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(_HALF_OPEN)]
        for each in half:
            each.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        with Visit(url) as visit:
            visit.open()
        before = parts.peak_mb(process)
        large = [visits.enter_context(Visit(url)) for _ in range(trial.rounds)]
        for visit in large:
            visit.send(_state(_OVERSIZED))
            visit.drawn()
        refused, for_large = sum(not visit.is_open for visit in large), parts.peak_mb(process) - before
        crowded = [visits.enter_context(Visit(url)) for _ in range(strangers.MOST + 5 * trial.rounds)]
        sending = crowded[-_SENDING * trial.rounds :]
        for visit in sending:
            visit.send(_state(_TAKEN))
        for visit in sending:
            visit.drawn()
        there, grown = [visit.is_open for visit in crowded], parts.peak_mb(process) - before
        given_up = _given_up(half)
    _forget_sign_in(trial)
    with _serving(trial) as url:
        first, again = (_opens_library(trial, url, clears=clears) for clears in (False, True))
    return replace(
        row,
        happened=f"{refused} of {trial.rounds} large messages were refused, for {for_large:.0f} MB more. Of "
        f"{len(crowded)} strangers {sum(there)} stayed, for {grown:.0f} MB more. {given_up} of {_HALF_OPEN} half "
        f"requests were given up. When the caches were to be cleared, the library was "
        f"{'opened anew' if again else 'left open'}.",
        held=refused == trial.rounds
        and sum(there) <= strangers.MOST
        and there[-1]
        and grown <= _PER_STRANGER * min(len(sending), strangers.MOST)
        and given_up == _HALF_OPEN
        and (first, again) == (True, False),
        counts={"strangers": len(crowded), "MB more": grown, "lost": 0},
    )


_TAKEN = 990_000
"""Bytes of state that a message may bring."""


def _state(size: int) -> BackMsg:
    """Ask for a page whose fields hold so many bytes."""
    asked = BackMsg()
    asked.rerun_script.widget_states.widgets.add(id="w", string_value="x" * size)
    return asked


def _given_up(half: list[socket.socket]) -> int:
    """Count the connections on which the server hangs up."""
    deadline, number = time.monotonic() + 3 * strangers.PATIENCE, 0
    for each in half:
        each.settimeout(max(deadline - time.monotonic(), 0.1))
        with suppress(TimeoutError):
            number += not each.recv(1)
    return number


def _opens_library(trial: Trial, url: str, *, clears: bool = False) -> bool:
    """Open a page, and see whether its library was opened for it, which takes away what a killed restore has left."""
    (left := trial.app.settings.data / f"{STAGED}left").touch()
    with Visit(url) as visit:
        if clears:
            visit.send(BackMsg(clear_cache=True))
        visit.open("library")
    return not left.exists()


def changed(trial: Trial) -> Row:
    """Change a setting under a server again and again: each time it opens the library anew, and lets the old one go."""
    trial.say("changing a setting under a server")
    file = trial.folder / "changed.toml"
    file.write_text("", encoding="utf-8")
    changes, opened, megabytes = trial.rounds + 1, 0, []
    with _server(trial, RELIC_CONFIG=str(file), RELIC_MAX_CLAIM_WORDS="") as (port, process, _):
        for number in range(changes + 1):
            opened += _opens_library(trial, f"http://localhost:{port}")
            time.sleep(_LET_GO)
            megabytes.append(parts.peak_mb(process))
            file.write_text(f"max_claim_words = {1_000 + number}\n", encoding="utf-8")
        twice = _open_twice(process)
    return Row(
        name="a setting changed under a server",
        done=f"A setting was changed {changes} times while a server ran, and a page opened after each.",
        expected="Each page opens the library anew under the new setting, and nothing of the one before stays open.",
        happened=f"The library was opened {opened} times. {twice or 'No'} files were open more than once at the end. "
        f"The most memory held was {megabytes[1]:.0f} MB after the first change, and {megabytes[-1]:.0f} MB after the "
        "last.",
        held=opened == changes + 1 and not twice,
        counts={"changes": changes, "MB more": megabytes[-1] - megabytes[1], "lost": 0},
    )


def _open_twice(process: int) -> int:
    """Count the indexes that a process has open more than once; 0 where the system does not say."""
    files = Path(f"/proc/{process}/fd").glob("*")
    names = [str(each.readlink()) for each in files if each.is_symlink()]
    return sum(number - 1 for name, number in Counter(names).items() if name.endswith(".npy"))


def two_people(trial: Trial) -> Row:
    """Let two processes write about one note at once, each over what it saw last."""
    trial.say("two people write about one note")
    note = trial.app.notebook.keep(trial.work_id, "1.1.1", origin="read")
    times = 5 * trial.rounds
    command = [sys.executable, "-m", "tools.reliability.process", "edit", note.id]
    environment = {**os.environ, **trial.app.settings.to_environment()}
    both = [
        subprocess.Popen([*command, name, str(times)], cwd=PROJECT, env=environment)  # noqa: S603 - our own program
        for name in ("Ada", "Charles")
    ]
    ended = [process.wait() for process in both]
    there = {each.words for each in trial.app.notebook.versions(note.id)}
    lost = sum(f"{name} {number}" not in there for name in ("Ada", "Charles") for number in range(times))
    return Row(
        name="two people and one note",
        done=f"Two processes wrote {times} times each about one note at once, each over what it had seen last.",
        expected="Every version of both is there.",
        happened=f"Of {2 * times} versions {lost or 'none'} was lost.",
        held=lost == 0 and ended == [0, 0],
        counts={"acknowledged": 2 * times, "lost": lost},
    )


_SEEN = 6
"""Visitors of two servers."""


def two_servers(trial: Trial) -> Row:
    """Run two servers on one library behind the proxy that comes with the project; then end one of them."""
    row = Row(
        name="two servers on one library",
        done=f"Two servers on one library stood behind the proxy of compose.yaml. {_SEEN} visitors opened pages and "
        "uploaded a file each; a work was added meanwhile; then one of the servers was ended.",
        expected="Every visitor stays with one server, both have some, and all see the new work; whoever comes after "
        "one has ended is served by the other; the proxy hides the metrics.",
        happened="Not tried: there is no caddy here.",
        held=None,
    )
    if shutil.which("caddy") is None:
        return row
    trial.say("starting two servers and their proxy")
    with ExitStack() as running:
        servers = [running.enter_context(_server(trial)) for _ in range(2)]
        url = running.enter_context(_proxy(trial.folder, [port for port, *_ in servers]))
        with ExitStack() as visits:
            people = [visits.enter_context(Visit(url)) for _ in range(_SEEN)]
            drawn = sum(bool(each.open()) for each in people)
            uploaded = sum(each.upload(b"A text.") == httpx.codes.NO_CONTENT for each in people)
            serving = len({each.served_by for each in people})
            added = trial.app.works.add(_TEXT, name="quay.txt").work
            seen = sum(
                any(added.title.encode() in sent.SerializeToString() for sent in each.open("read", f"work={added.id}"))
                for each in people
            )
            metrics = people[0].status("/_stcore/metrics")
        end = servers[0][2]
        end()
        after = 0
        for _ in range(_SEEN):
            with Visit(url) as visit:
                after += bool(visit.open("library"))
    return replace(
        row,
        happened=f"{drawn} of {_SEEN} visitors had their page drawn, by {serving} servers; {uploaded} uploaded a file "
        f"and {seen} saw the new work. With one server gone {after} of {_SEEN} were served. The metrics answered "
        f"{metrics}.",
        held=drawn == uploaded == seen == after == _SEEN and serving == 2 and metrics == httpx.codes.NOT_FOUND,  # noqa: PLR2004
        counts={"visitors": 2 * _SEEN, "served": drawn + after, "lost": 0},
    )


@contextmanager
def _server(trial: Trial, **environment: str) -> Iterator[tuple[int, int, Callable[[], None]]]:
    """Serve the library; gives the port, the id of the process, and what ends the server."""
    alone = replace(trial.app.settings, fetch_larger="no").to_environment()  # a drill leaves the environment as it is
    port, own = parts.free_port(), {**os.environ, **alone, **environment}
    with ExitStack() as server:
        process, _ = server.enter_context(parts.server(PROJECT / "app.py", own, port=port))
        yield port, process, server.close


@contextmanager
def _serving(trial: Trial, **environment: str) -> Iterator[str]:
    """Serve the library; gives the address."""
    with _server(trial, **environment) as (port, *_):
        yield f"http://localhost:{port}"


@contextmanager
def _proxy(folder: Path, ports: list[int]) -> Iterator[str]:
    """Run the proxy of the project before servers of this machine; gives its address."""
    port = parts.free_port()
    environment = {
        **os.environ,
        "RELIC_ADDRESS": f"http://localhost:{port}",
        "RELIC_SERVERS": " ".join(f"127.0.0.1:{each}" for each in ports),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(PROJECT / "Caddyfile")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as caddy:  # noqa: S603
        try:
            for _ in range(100):
                with suppress(httpx.TransportError):
                    httpx.get(f"http://localhost:{port}/_stcore/health")
                    break
                time.sleep(0.1)
            yield f"http://localhost:{port}"
        finally:
            caddy.terminate()
