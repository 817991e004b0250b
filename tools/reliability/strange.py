"""Attacks by what comes from outside, and by rot of our own files, one row each."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from relic_core.errors import BadRequest, BadText, ReaderUnavailable, RelicError
from relic_core.language_models.server import Server, is_allowed
from relic_core.library import apart
from relic_core.library.gutenberg import Book, Downloads
from relic_core.mining.quoted_works import QUOTED_WORKS, QuotedWorks
from relic_core.ports import silent
from relic_core.services.catalogue import make_gutenberg
from relic_core.store.jobs import JobFolder
from relic_core.wiring import build
from tools.bench import parts
from tools.reliability.rows import Row, Trial

_TEXT = b"The New Quay\n\nNobody lit the lamp. The ferry was late. The lamp stood on the quay."
_BOOK = 1342


class _Answers(BaseHTTPRequestHandler):
    """Answers each request by `answer`, which is given this handler."""

    answer: Callable[[BaseHTTPRequestHandler], None]

    def do_GET(self) -> None:
        """Answer."""
        with suppress(OSError):  # the one who asked has gone
            type(self).answer(self)

    do_POST = do_GET  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Serve on this machine; gives the address."""
    handler = type("Handler", (_Answers,), {"answer": staticmethod(answer)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _say(handler: BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def _flips(path: Path, most: int) -> Iterator[None]:
    """Flip bits of a file one by one, drawn with a fixed seed, each put right again before the next."""
    written = path.read_bytes()
    chance = random.Random(len(written))  # noqa: S311 - no secret
    for bit in sorted(chance.sample(range(8 * len(written)), min(most, 8 * len(written)))):
        flipped = bytearray(written)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        yield
    path.write_bytes(written)


def journals(trial: Trial) -> Row:
    """Flip bits of a job's journal, of what was asked of it, and of the list of servers that may be asked."""
    trial.say("flipping bits of journals")
    app = build(replace(trial.app.settings, data=trial.folder / "journals", reader="http://relic.example.edu/v1"))
    folder, alive = JobFolder.create(
        app.settings.data / "jobs", kind="add", title="Adding", subject="", arguments={"paths": ["quay.txt"]}
    )
    os.close(alive)
    (folder.path / "journal.jsonl").write_text(_JOURNAL, encoding="utf-8")
    shutil.move(folder.path, template := trial.folder / "journal")
    (allowed := app.settings.data / "reader-allowed.txt").write_text("relic.example.edu\n", encoding="utf-8")
    errors: list[str] = []

    def listed(path: Path) -> None:
        shutil.rmtree(app.settings.data / "jobs")
        shutil.copytree(template, folder.path)
        try:
            app.jobs.recent()
            is_allowed(app.settings)
        except Exception as error:  # noqa: BLE001 - any is what is looked for
            errors.append(f"{path.name}: {type(error).__name__}")

    tried = 0
    for path in (template / "journal.jsonl", template / "job.json", allowed):
        for _ in _flips(path, 20 * trial.rounds):
            tried += 1
            listed(path)
    allowed.write_bytes("relic.example.edu é".encode("latin-1"))
    listed(allowed)
    return Row(
        name="flipped bits in journals",
        done=f"{tried} bits were flipped, one at a time: in the journal of a job, in what was asked of it, and in the "
        "list of servers that may be asked, which then was not UTF-8 either. Each time the jobs were listed.",
        expected="They are listed each time; what cannot be read is passed over.",
        happened=f"{tried + 1 - len(errors)} of {tried + 1} times they were listed. {', '.join(errors[:3])}".strip(),
        held=not errors,
        counts={"flips": tried, "errors": len(errors), "lost": 0},
    )


_JOURNAL = """\
{"at": "2026-11-26T05:01:32+00:00", "state": "running"}
{"at": "2026-11-26T05:01:33+00:00", "done": 1, "total": 4, "note": "one"}
"""


def rot(trial: Trial) -> Row:
    """Flip bits of what is kept beside the store and the indexes: the index of quoted works, and downloads."""
    trial.say("flipping bits of quoted works and downloads")
    at = replace(trial.app.settings, data=trial.folder / "rot", indexes=trial.folder / "rot-indexes")
    app = build(at)
    work = app.works.load(app.works.add(_TEXT, name="quay.txt").work.id)
    quoted = QuotedWorks.build([work], at.indexes / QUOTED_WORKS, silent).folder
    book = Book(number=_BOOK, data=_TEXT, url="https://gutenberg.example/1342.txt", fetched=datetime.now(UTC))
    Downloads(at.downloads).save(book)
    unnoticed: list[str] = []
    tried = 0
    for path in (*sorted(quoted.iterdir()), *sorted((at.downloads / str(_BOOK)).iterdir())):
        for _ in _flips(path, 4 * trial.rounds):
            tried += 1
            noticed = {each.name for each in app.examine(thorough=True) if each.level != "good"}
            if not noticed & {"quoted works", "downloads"}:
                unnoticed.append(path.name)
    return Row(
        name="rot beside the store",
        done=f"{tried} bits were flipped, one at a time, in the index of quoted works and in a downloaded book with "
        "what is known of it. Each time `health --thorough` looked.",
        expected="It names each.",
        happened=f"It named {tried - len(unnoticed)} of {tried}. {', '.join(sorted({*unnoticed}))}".strip(),
        held=not unnoticed,
        counts={"flips": tried, "unnoticed": len(unnoticed), "lost": 0},
    )


def mirror(trial: Trial) -> Row:
    """Have a mirror of Project Gutenberg send its visitors on, to other hosts and to this machine."""
    trial.say("a mirror that sends on")
    reached: list[str] = []

    def reach(handler: BaseHTTPRequestHandler) -> None:
        reached.append(handler.path)
        _say(handler, 200, _TEXT)

    with _answering(reach) as other:
        places = (
            other.replace("127.0.0.1", "localhost"),
            "//localhost/secret",
            "http://169.254.169.254/latest",
            "file:///etc/passwd",
            "http://[::1]/",
            "//",
        )
        fetched = []
        for number, place in enumerate(places):
            with _answering(partial(_say, status=302, Location=f"{place}/a.txt")) as address:
                settings = replace(trial.app.settings, data=trial.folder / f"sent-{number}", gutenberg=address)
                with suppress(RelicError):
                    make_gutenberg(settings).fetch(_BOOK, lambda _: None)
                    fetched.append(place)
    return Row(
        name="a mirror that sends on",
        done=f"A mirror of Project Gutenberg sent its visitors on to {len(places)} other places, services of this "
        "machine among them.",
        expected="Nobody goes there, and no text is recorded as the mirror's.",
        happened=f"{len(reached)} went there; {len(fetched)} texts were taken.",
        held=not reached and not fetched,
        counts={"redirects": len(places), "followed": len(reached), "lost": 0},
    )


_PATIENCE = 2.0


def drips(trial: Trial) -> Row:
    """Ask a model's server that drips, and one whose answer has no end."""
    trial.say("a model's server that drips")

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _ in range(600):
            handler.wfile.write(b" ")
            time.sleep(0.1)

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            handler.wfile.write(b" " * 1_000_000)

    waited, given_up, before = [], 0, peak()
    for answer in (drip, endless):
        with _answering(answer) as address:
            asked = replace(trial.app.settings, reader=f"{address}/v1", reader_model="m", reader_seconds=_PATIENCE)
            began = time.monotonic()
            try:
                Server(asked).models()
            except ReaderUnavailable:
                given_up += 1
            waited.append(time.monotonic() - began)
    grown = peak() - before
    return Row(
        name="a model's server without an end",
        done=f"A model's server was asked that sends ten bytes a second, then one whose answer never ends; "
        f"`reader_seconds` was {_PATIENCE:.0f}.",
        expected=f"Both are given up in words, after at most {3 * _PATIENCE:.0f} s and with no more than {_GROWN} MB.",
        happened=f"{given_up} of 2 were given up, after {waited[0]:.1f} and {waited[1]:.1f} s, with {grown:.0f} MB.",
        held=given_up == 2 and max(waited) < 3 * _PATIENCE and grown < _GROWN,  # noqa: PLR2004 - both
        counts={"servers": 2, "given up": given_up, "MB": grown, "lost": 0},
    )


_GROWN = 150
"""MB: an answer may have 32, and is held more than once while it comes."""


def peak() -> float:
    """Give the most memory that this process has held, in MB."""
    return parts.peak_mb(os.getpid())


def codes(trial: Trial) -> Row:
    """Guess the owner's code of a study, from many threads at once."""
    trial.say("guessing codes")
    app = build(replace(trial.app.settings, data=trial.folder / "codes"))
    app.ensure_sample()
    study = app.studies.all()[0].id
    app.studies.give_code(study, "Quillfeather 7")
    asked = 60 + 60 * trial.rounds

    def guess(number: int) -> str:
        try:
            return "opened" if app.studies.opens(study, f"guess {number}") else "tried"
        except BadRequest:
            return "refused"

    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        came = Counter(pool.map(guess, range(asked)))
    seconds = time.monotonic() - began
    most = 6 + int(seconds / 60) + 1
    return Row(
        name="guessed codes",
        done=f"{asked} codes of a study's owner were guessed by 20 threads at once, in {seconds:.1f} s.",
        expected="Five are tried as they come, then one a minute.",
        happened=f"{came['tried']} were tried, {came['refused']} refused and {came['opened']} opened it.",
        held=came["tried"] <= most and not came["opened"],
        counts={"guesses": asked, "tried": came["tried"], "lost": 0},
    )


_UPLOADED = 9_600_000
_PAGES = 4.0
"""How much longer a page may take at the median while a file is read: its process has a processor to itself, or not."""
_HOSTILE: dict[str, bytes] = {
    "lines without a stop": b"The river rose today\n",
    "short paragraphs": b"The river rose today.\n\n",
    "capitals": b"THE RIVER\n\n",
    "sentences of a word": b"It rose. No? " * 20 + b"\n\n",
    "headings": b"CHAPTER I\n\nThe river rose today.\n\n",
}
"""What a file of one upload repeats."""


def previews(trial: Trial) -> Row:
    """Upload large files that take long to read, and time what others ask meanwhile."""
    app, times, given_up = trial.app, [], []

    def ask() -> float:
        began = time.monotonic()
        app.works.load(trial.work_id)
        sum(range(200_000))
        return time.monotonic() - began

    alone = [ask() for _ in range(40)]
    together: list[float] = []
    before = peak()
    for name, piece in list(_HOSTILE.items())[: 1 + trial.rounds]:
        trial.say(f"previewing {name}")
        data = piece * (_UPLOADED // len(piece))
        began = time.monotonic()
        try:
            app.works.preview(data, name="upload.txt", whose="somebody", wait=lambda: together.append(ask()))
        except BadText:
            given_up.append(name)
        times.append(time.monotonic() - began)
    grown = peak() - before
    ratio = statistics.median(together) / statistics.median(alone)
    return Row(
        name="large uploads",
        done=f"{len(times)} files of {_UPLOADED / 1e6:.1f} MB that take long to read were uploaded and previewed; "
        "another thread of the server meanwhile did the work of a small page.",
        expected=f"Each is previewed, or given up in words at {apart.SECONDS} s of a processor; a page takes no "
        f"more than {_PAGES:.0f} times as long at the median, and the server holds no more than {_HELD} MB more.",
        happened=f"{len(times) - len(given_up)} were previewed, {len(given_up)} given up, the slowest after "
        f"{max(times):.0f} s. A page took {ratio:.1f} times as long; the server held {grown:.0f} MB more.",
        held=ratio < _PAGES and grown < _HELD,
        counts={"uploads": len(times), "given up": len(given_up), "page ratio": ratio, "MB": grown, "lost": 0},
    )


_HELD = 400
