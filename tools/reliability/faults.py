"""Things that break: a process killed while it writes, a full disk, a store that is held, an index that is gone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.config import PROJECT, Settings
from relic_core.errors import RelicError, StoreBusy
from relic_core.services.answers import SearchRequest
from relic_core.wiring import build
from tools.reliability.rows import Row
from tools.reliability.writing import REFUSED, claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.reliability.rows import Trial

_ROOM = 4_000_000
"""Bytes that the store may still grow by on the full disk."""
_HELD, _PATIENCE = 3.0, 1.0
"""Seconds: how long the store is held, and how long somebody impatient waits."""
_DENSE = "dense-relic"


def killed(trial: Trial) -> Row:
    """Kill a process again and again while it writes; then look for what it had acknowledged."""
    settings = Settings(data=trial.folder / "killed" / "data", indexes=trial.folder / "killed" / "indexes")
    acknowledged: list[str] = []
    for number in range(trial.rounds):
        trial.say(f"killing a process while it writes, {number + 1} of {trial.rounds}")
        name = f"killed {number}"
        with _process("writing", [name], settings) as process:
            lines = _lines(process, 3 + number)
            process.kill()
            lines += _rest(process)
        acknowledged += [claim(name, int(line)) for line in lines if line.isdigit()]
    lost = _lost(settings, acknowledged)
    return Row(
        name="a process killed while it writes",
        done=f"A process that keeps searches without a pause was killed {trial.rounds} times (SIGKILL), each time "
        "after some "
        "had been acknowledged; each next one went on with the same store.",
        expected="The store opens each time, and no acknowledged search is lost.",
        happened=f"It opened each time; {len(acknowledged):,} searches were acknowledged, {lost or 'none'} of them "
        "lost.",
        held=lost == 0 and len(acknowledged) >= 3 * trial.rounds,
        counts={"kills": trial.rounds, "acknowledged": len(acknowledged), "lost": lost},
    )


def full_disk(trial: Trial) -> Row:
    """Let files grow no further, as on a full disk; then give room again."""
    trial.say("filling the disk")
    settings = Settings(data=trial.folder / "full" / "data", indexes=trial.folder / "full" / "indexes")
    build(settings).works.summaries()
    limit = settings.store.stat().st_size + _ROOM
    with _process("writing", ["full", str(limit)], settings) as process:
        lines = _rest(process)
        code = process.wait()
    acknowledged = [claim("full", int(line)) for line in lines if line.isdigit()]
    told = next((line.removeprefix("refused ") for line in lines if line.startswith("refused ")), "")
    told = told.replace(f"{settings.data}/", "")
    lost = _lost(settings, acknowledged)
    try:
        build(settings).history.keep(SearchRequest(work_id="w", claim_text="after"))
        again = True
    except RelicError:
        again = False
    return Row(
        name="a full disk",
        done=f"A process kept searches while no file might grow beyond {_ROOM / 1e6:.1f} MB more (RLIMIT_FSIZE); "
        "afterwards "
        "there was room again.",
        expected="The search that does not fit is refused with a sentence that says why; those before are kept; with "
        "room, "
        "writing goes on.",
        happened=f"{len(acknowledged):,} were acknowledged, {lost or 'none'} of them lost. Then: "
        f"“{told.partition(': ')[2]}” "
        f"With room again a search was {'kept' if again else 'not kept'}.",
        held=code == REFUSED and told.startswith("StoreFull") and lost == 0 and again,
        counts={"acknowledged": len(acknowledged), "lost": lost},
    )


def locked(trial: Trial) -> Row:
    """Ask while a command holds the store: somebody patient and somebody impatient."""
    trial.say("holding the store")
    settings = trial.app.settings
    with _process("holding", [str(_HELD)], settings) as process:
        _lines(process, 1)
        try:
            build(replace(settings, lock_seconds=_PATIENCE)).works.summaries()
            said = "nothing"
        except StoreBusy as error:
            said = str(error).replace(f"{settings.data}/", "").replace(sys.executable, "python")
        began = time.perf_counter()
        trial.app.works.summaries()
        waited = time.perf_counter() - began
    busy = "is in use by another program" in said
    return Row(
        name="a store that a command holds",
        done=f"A command held the store for {_HELD:.0f} s. A command that waits {_PATIENCE:.0f} s for it asked for "
        "the list of works, then the app, which waits longer, did.",
        expected="The impatient one is told who holds the store; the patient one waits and is answered.",
        happened=f"The first was told “{said}” The second was answered after {waited:.1f} s more.",
        held=busy and waited < _HELD + settings.lock_seconds,
        counts={"lost": 0},
    )


def index_gone(trial: Trial) -> Row:
    """Delete an index that the app has open; search; build it anew; search again."""
    trial.say("deleting an index under the app")
    request = SearchRequest(work_id=trial.work_id, claim_text=trial.claims[0])
    bench = trial.app
    before = {column.retriever: _words(column.cards) for column in bench.search.run(request, at_once=True).columns}
    shutil.rmtree(bench.settings.indexes / _DENSE)
    meanwhile = {column.retriever: column for column in bench.search.run(request, at_once=True).columns}
    bench.indexes.build(trial.work_id, bench.indexes.missing(trial.work_id), lambda _done, _total, _note="": None)
    after = {column.retriever: _words(column.cards) for column in bench.search.run(request, at_once=True).columns}
    others = all(_words(column.cards) == before[name] for name, column in meanwhile.items() if name == "bm25")
    pending = meanwhile[_DENSE].pending or bool(meanwhile[_DENSE].cards)
    return Row(
        name="an index deleted under the app",
        done="The folder of a retriever's indexes was deleted while the app had one of them open; a search followed, "
        "the index "
        "was built anew, and the same search followed.",
        expected="No error: the other retrievers answer, this one says that the work is to be prepared (or still "
        "answers from "
        "memory); built anew, it answers as before.",
        happened=f"The others answered {'as before' if others else 'otherwise'}; this one "
        f"{'asked for the work to be prepared' if meanwhile[_DENSE].pending else 'answered from memory'}; afterwards "
        "the "
        f"hits were {'the same' if after == before else 'others'}.",
        held=others and pending and after == before,
        counts={"lost": 0},
    )


def _words(cards: Sequence[object]) -> list[str]:
    return [repr(getattr(card, "span", card)) for card in cards]


def _lost(settings: Settings, acknowledged: Sequence[str]) -> int:
    """Count what was acknowledged and is not there."""
    kept = {search.claim_text for search in build(settings).history.recent(1_000_000)}
    return sum(each not in kept for each in acknowledged)


@contextmanager
def _process(module: str, arguments: Sequence[str], settings: Settings) -> Iterator[subprocess.Popen[str]]:
    with _run(["-m", f"tools.reliability.{module}", *arguments], settings) as process:
        yield process


@contextmanager
def _run(arguments: Sequence[str], settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Start our own program on a library, and see that it has ended at the end."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, *arguments],
        cwd=PROJECT,
        env={**os.environ, **settings.to_environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _lines(process: subprocess.Popen[str], number: int) -> list[str]:
    assert process.stdout is not None  # noqa: S101 - it was asked for above
    return [process.stdout.readline().strip() for _ in range(number)]


def _rest(process: subprocess.Popen[str]) -> list[str]:
    """Read what is left; a line cut short by a kill was not acknowledged."""
    assert process.stdout is not None  # noqa: S101 - as above
    text = process.stdout.read()
    return [line.strip() for line in text.splitlines(keepends=True) if line.endswith("\n")]
