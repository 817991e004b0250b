"""What is tried of reliability, one row each, on a library made for it; and the tables of the documentation."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from relic_core.config import PROJECT, Settings
from relic_core.config.provenance import code
from relic_core.domain import SearchRequest, Span
from relic_core.domain.figures import Table
from relic_core.errors import RelicError, StoreBusy, unknown_name
from relic_core.ports import Progress, silent
from relic_core.reporting.tables import write as write_tables
from relic_core.services.answers import Column
from relic_core.wiring import App, build
from tools.bench import parts
from tools.machine import busy, in_full
from tools.reliability import attacks, strange
from tools.reliability.assistants import assistants
from tools.reliability.mutating import mutate
from tools.reliability.process import REFUSED, claim
from tools.reliability.rows import Row, Trial
from tools.reliability.visit import Visit


def waits(alone: Sequence[float], together: Sequence[float]) -> tuple[float, float, str]:
    """Hold the waits of many against those of one: p50 and p95 as multiples of alone, and the sentence that says so."""
    (a50, a95), (t50, t95) = (np.percentile(each, (50, 95), method="inverted_cdf") for each in (alone, together))
    p50, p95 = float(t50 / a50), float(t95 / a95)
    sentence = f"Alone p50 {a50:.2f} s, p95 {a95:.2f} s; together p50 {p50:.1f} times and p95 {p95:.1f} times as long."
    return p50, p95, sentence


_MOST_RATIO = 2.0
"""How much longer than their share of the machine people may wait at the median."""


def searchers(trial: Trial) -> Row:
    """Let many ask the one app of a server at once, each for an answer and a line of the history."""
    trial.say("one alone searches")
    _ask(trial, "warm", 1)
    alone = [seconds for seconds, _ in _ask(trial, "alone", trial.rounds)]
    trial.say(f"{trial.searchers} search at once")
    together = threading.Barrier(trial.searchers)

    def one(number: int) -> list[tuple[float, str]]:
        together.wait()
        return _ask(trial, f"searcher {number}", trial.rounds)

    with ThreadPoolExecutor(trial.searchers) as pool:
        answers = [answer for each in pool.map(one, range(trial.searchers)) for answer in each]
    times = [seconds for seconds, _ in answers]
    kept = {search.id for search in trial.app.history.recent(1_000_000)}
    failed = sum(not search_id for _, search_id in answers)
    lost = sum(bool(search_id) and search_id not in kept for _, search_id in answers)
    p50, p95, sentence = waits(alone, times)
    return Row(
        name=f"{trial.searchers} searchers at once",
        done=f"{trial.searchers} threads of one server's app each asked {trial.rounds} times, without a pause between, "
        f"for the first answer of a page and its line in the history; before that, one alone did.",
        expected=f"Every search is answered and kept; at the median nobody waits more than {_MOST_RATIO:.0f} times "
        f"their share ({trial.searchers} times as long as alone).",
        happened=f"{len(answers) - failed:,} of {len(answers):,} were answered. {sentence}",
        held=failed == 0 and lost == 0 and p50 <= _MOST_RATIO * trial.searchers,
        counts={"searches": len(answers), "failed": failed, "lost": lost, "p50 ratio": p50, "p95 ratio": p95},
    )


_SEMINAR_RATIO = 0.6
"""How much longer than their share of the machine visitors of pages may wait at the median."""


def seminar(trial: Trial) -> Row:
    """Let visitors without browsers open the address of a search at once, each of a claim of its own, and one alone."""
    with _serving(trial) as (url, process), ExitStack() as stack:
        visits = [stack.enter_context(Visit(url)) for _ in range(trial.searchers)]
        trial.say("a visitor opens a search alone")
        _open_search(trial, visits[0], "warm")
        alone = [_open_search(trial, visits[0], f"alone {number}") for number in range(trial.rounds)]
        before = parts.peak_mb(process)
        trial.say(f"{trial.searchers} visitors open one each at once")
        times: list[float] = []
        with ThreadPoolExecutor(trial.searchers) as pool:
            for number in range(trial.rounds):
                whose = [f"visitor {each}, {number}" for each in range(trial.searchers)]
                times += pool.map(partial(_open_search, trial), visits, whose)
        megabytes = (parts.peak_mb(process) - before) / trial.searchers
    answered = [seconds for seconds in times if seconds]
    p50, p95, sentence = waits(alone, answered)
    return Row(
        name=f"a seminar of {trial.searchers}",
        done=f"{trial.searchers} visitors of one server, each a websocket without a browser, opened the address of a "
        f"search of their own at the same moment, {trial.rounds} times; before that, one alone did.",
        expected=f"Every page is drawn with its cards; at the median nobody waits more than "
        f"{_SEMINAR_RATIO * trial.searchers:.0f} times as long as alone.",
        happened=f"{len(answered)} of {len(times)} pages were drawn with cards. {sentence} At most {megabytes:.1f} MB "
        "were taken for each visitor.",
        held=len(answered) == len(times) and p50 <= _SEMINAR_RATIO * trial.searchers,
        counts={"searches": len(times), "lost": 0, "p50 ratio": p50, "p95 ratio": p95, "MB a visitor": megabytes},
    )


def _open_search(trial: Trial, visit: Visit, who: str) -> float:
    """Open the address of a search and give the seconds until the page is drawn; 0 where it has no card."""
    names = tuple(card.name for card in trial.app.retrievers.default())
    claim_text = f"{trial.claims[0]} ({who})"
    request = SearchRequest(work_id=trial.work_id, claim_text=claim_text, length=1, retrievers=names)
    code = trial.app.sharing.share("", request).code
    began = time.perf_counter()
    messages = visit.open("find", f"search={code}")
    return (time.perf_counter() - began) * any(b"relic-card" in each.SerializeToString() for each in messages)


def _ask(trial: Trial, who: str, times: int) -> list[tuple[float, str]]:
    """Ask some times; seconds and the id under which each was kept, empty where it was refused."""
    found = []
    for number in range(times):
        claim = f"{trial.claims[number % len(trial.claims)]} ({who}, {number})"
        request = SearchRequest(work_id=trial.work_id, claim_text=claim)
        began = time.perf_counter()
        try:
            trial.app.search.run(request, at_once=True)
            kept = trial.app.history.keep(request).id
        except RelicError:
            kept = ""
        found.append((time.perf_counter() - began, kept))
    return found


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
        with _process(settings, "write", name) as process:
            lines = _lines(process, 3 + number)
            process.kill()
            lines += _rest(process)
        acknowledged += [claim(name, int(line)) for line in lines if line.isdigit()]
    lost = _lost(settings, acknowledged)
    return Row(
        name="a process killed while it writes",
        done=f"A process that keeps searches without a pause was killed {trial.rounds} times (SIGKILL), each time "
        "after some had been acknowledged; each next one went on with the same store.",
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
    with _process(settings, "write", "full", str(limit)) as process:
        lines = _rest(process)
        code = process.wait()
    acknowledged = [claim("full", int(line)) for line in lines if line.isdigit()]
    refusal = next((line.removeprefix("refused ") for line in lines if line.startswith("refused ")), "")
    refusal = refusal.replace(f"{settings.data}/", "")
    lost = _lost(settings, acknowledged)
    try:
        build(settings).history.keep(SearchRequest(work_id="w", claim_text="after"))
        again = True
    except RelicError:
        again = False
    return Row(
        name="a full disk",
        done=f"A process kept searches while no file might grow beyond {_ROOM / 1e6:.1f} MB more (RLIMIT_FSIZE); "
        "afterwards there was room again.",
        expected="The search that does not fit is refused with a sentence that says why; those before are kept; with "
        "room, writing goes on.",
        happened=f"{len(acknowledged):,} were acknowledged, {lost or 'none'} of them lost. Then: "
        f"“{refusal.partition(': ')[2]}” With room again a search was {'kept' if again else 'not kept'}.",
        held=code == REFUSED and refusal.startswith("StoreFull") and lost == 0 and again,
        counts={"acknowledged": len(acknowledged), "lost": lost},
    )


def locked(trial: Trial) -> Row:
    """Ask while a command holds the store: somebody patient and somebody impatient."""
    trial.say("holding the store")
    settings = trial.app.settings
    with _process(settings, "hold", str(_HELD)) as process:
        _lines(process, 1)
        try:
            build(replace(settings, lock_seconds=_PATIENCE)).works.summaries()
            message = "nothing"
        except StoreBusy as error:
            message = str(error).replace(f"{settings.data}/", "").replace(sys.executable, "python")
        began = time.perf_counter()
        trial.app.works.summaries()
        waited = time.perf_counter() - began
    busy = "is in use by another program" in message
    return Row(
        name="a store that a command holds",
        done=f"A command held the store for {_HELD:.0f} s. A command that waits {_PATIENCE:.0f} s for it asked for "
        "the list of works, then the app, which waits longer, did.",
        expected="The impatient one is told who holds the store; the patient one waits and is answered.",
        happened=f"The first was told “{message}” The second was answered after {waited:.1f} s more.",
        held=busy and waited < _HELD + settings.lock_seconds,
        counts={"lost": 0},
    )


def index_gone(trial: Trial) -> Row:
    """Delete an index that the app has open; search; build it anew; search again."""
    trial.say("deleting an index under the app")
    request = SearchRequest(work_id=trial.work_id, claim_text=trial.claims[0])
    app = trial.app

    def asked() -> dict[str, Column]:
        return {column.retriever: column for column in app.search.run(request, at_once=True).columns}

    def hits(columns: Mapping[str, Column]) -> dict[str, list[Span]]:
        return {name: [card.span for card in column.cards] for name, column in columns.items()}

    before = hits(asked())
    shutil.rmtree(app.settings.indexes / _DENSE)
    meanwhile = asked()
    _prepare(app, trial.work_id)
    after = hits(asked())
    others = hits(meanwhile)["bm25"] == before["bm25"]
    pending = meanwhile[_DENSE].pending
    return Row(
        name="an index deleted under the app",
        done="The folder of a retriever's indexes was deleted while the app had one of them open; a search followed, "
        "the index was built anew, and the same search followed.",
        expected="No error: the other retrievers answer, this one says that the work is to be prepared (or still "
        "answers from memory); built anew, it answers as before.",
        happened=f"The others answered {'as before' if others else 'otherwise'}; this one "
        f"{'asked for the work to be prepared' if pending else 'answered from memory'}; afterwards the "
        f"hits were {'the same' if after == before else 'others'}.",
        held=others and bool(pending or meanwhile[_DENSE].cards) and after == before,
        counts={"lost": 0},
    )


def _lost(settings: Settings, acknowledged: Sequence[str]) -> int:
    """Count what was acknowledged and is not there."""
    kept = {search.request.claim_text for search in build(settings).history.recent(1_000_000)}
    return sum(each not in kept for each in acknowledged)


@contextmanager
def _process(settings: Settings, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process on a library, and see that it has ended at the end; see `tools.reliability.process`."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "tools.reliability.process", *arguments],
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run has found; `note` says whether the machine was busy."""

    rows: tuple[Row, ...]
    machine: Mapping[str, str | int | float]
    code: str
    date: str
    command: str
    note: str
    seconds: float

    @property
    def held(self) -> bool:
        """Whether everything that could be tried came as expected."""
        return all(row.held is not False for row in self.rows)

    @property
    def lost(self) -> int:
        """How many acknowledged writes were lost, all rows together."""
        return int(sum(row.counts.get("lost", 0) for row in self.rows))


def run(
    parts: Sequence[str],
    progress: Progress,
    *,
    searchers: int = 20,
    browsers: int = 4,
    rounds: int = 5,
    text: Path | None = None,
    command: str = "",
) -> Report:
    """Do all parts, or those named, to a library in a folder that is deleted afterwards.

    - `searchers`, `browsers`, `rounds`: how many at once, and how often things are repeated.
    - `text`: a novel that is in that library too; `press` asks the longest.
    - `command`: how it was called, for the report.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    chosen = [part for part in PARTS if not parts or part in parts]
    began, date, note = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds"), busy()
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        progress(0, len(chosen), "preparing the sample")
        app = build(Settings(data=at / "data", indexes=at / "indexes"))
        app.ensure_sample()
        work_id = app.works.summaries()[0].id  # the sample
        if text:
            app.works.add(text.read_bytes(), name=text.name)
        for work in app.works.summaries():
            _prepare(app, work.id)
        examples = tuple(example.claim.words for example in app.store.examples.of_split("sample"))
        rows = []
        for number, part in enumerate(chosen):
            trial = Trial(
                app=app,
                folder=at,
                work_id=work_id,
                claims=examples,
                searchers=searchers,
                browsers=browsers,
                rounds=rounds,
                say=partial(progress, number, len(chosen)),
            )
            rows.append(PARTS[part](trial))
    return Report(
        rows=tuple(rows),
        machine=in_full(),
        code=code(),
        date=date,
        command=command,
        note=note,
        seconds=time.perf_counter() - began,
    )


def write(report: Report, form: str) -> str:
    """Write the report: what ran it, and a table; for a terminal also what was done and expected, row by row."""
    machine = report.machine
    ran_on = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; Python "
        f"{machine['python']}, Streamlit {machine['streamlit']}, RELiC Workbench {report.code}; {report.date}, "
        f"{report.seconds / 60:.1f} minutes. Made by `{report.command}`."
    )
    came = {True: "yes", False: "no", None: "not tried"}
    brief = form == "markdown"
    table = Table(
        caption=f"Acknowledged writes lost, all together: {report.lost}",
        heads=("what", "as expected", "what happened" if brief else "counted"),
        rows=tuple((row.name, came[row.held], row.happened if brief else _counted(row)) for row in report.rows),
    )
    sections = [
        f"{row.name[:1].upper()}{row.name[1:]}\n\nDone: {row.done}\n\nExpected: {row.expected}\n\n"
        f"Happened: {row.happened}"
        for row in report.rows
    ]
    return "\n\n".join(
        [ran_on, *filter(None, [report.note]), write_tables((table,), form), *([] if brief else sections)]
    )


def _counted(row: Row) -> str:
    return ", ".join(f"{name} {f'{value:,.1f}'.removesuffix('.0')}" for name, value in row.counts.items())


def _prepare(app: App, work_id: str) -> None:
    app.indexes.build(work_id, app.indexes.missing(work_id), silent)


_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_PAGE_PATIENCE = 60_000
_SOON = 60_000
"""Milliseconds; a server that has just begun loads its encoder before its first answer."""
_DONE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_CONNECTED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'


def browsers(trial: Trial) -> Row:
    """Let several browsers search at once, beside one alone."""
    row = Row(
        name=f"{trial.browsers} browsers at once",
        done=f"{trial.browsers} visitors of one server opened Find and asked {trial.rounds} times each, all of them "
        "pressing at the same moment; before that, one alone did.",
        expected=f"Every search is answered; at the median nobody waits more than {_MOST_RATIO:.0f} times their share.",
        happened=_missing(),
        held=None,
    )
    if row.happened:
        return row
    with _serving(trial) as (url, _), _chromium() as chromium:
        trial.say("a browser searches alone")
        pages = [_opened(chromium, url) for _ in range(trial.browsers)]
        _ask_at_once(trial, pages, "first")  # what a server loads for its first answer is not what is measured
        alone = [each for number in range(trial.rounds) for each in _ask_at_once(trial, pages[:1], f"alone {number}")]
        trial.say(f"{trial.browsers} browsers search at once")
        times = [each for number in range(trial.rounds) for each in _ask_at_once(trial, pages, f"at once {number}")]
        errors = sum(
            page.locator('[data-testid="stException"], [data-testid="stAlertContentError"]').count() for page in pages
        )
    p50, p95, sentence = waits(alone, times)
    return replace(
        row,
        happened=f"{len(times)} searches were answered, {errors or 'no'} errors shown. {sentence}",
        held=errors == 0 and p50 <= _MOST_RATIO * trial.browsers,
        counts={"searches": len(times), "lost": 0, "p50 ratio": p50, "p95 ratio": p95},
    )


def press(trial: Trial) -> Row:
    """Take the seconds from the press on Find to the first and the last card, of a fresh server and of a warm one."""
    longest = max(trial.app.works.summaries(), key=lambda work: work.sentences)
    row = Row(
        name="from the press to the cards",
        done=f"One visitor asked {longest.title} ({longest.sentences:,} sentences) in a browser: once a server that "
        f"had just begun, then {trial.rounds} times the same one.",
        expected="Every search is answered in three columns.",
        happened=_missing(),
        held=None,
    )
    if row.happened:
        return row
    with _serving(trial) as (url, _), _chromium() as chromium:
        page = _opened(chromium, url, work=longest.id)
        fresh, *warm = [_pressed(page, f"{trial.claims[0]} ({number})") for number in range(trial.rounds + 1)]
        answered = page.locator(".relic-column").count() == 3  # noqa: PLR2004
    cards, done = (statistics.median(times) for times in zip(*warm, strict=True))
    return replace(
        row,
        happened=f"The first search showed a card after {fresh[0]:.2f} s and its last after {fresh[1]:.2f} s; warm, at "
        f"the median, after {cards:.2f} s and {done:.2f} s.",
        held=answered,
        counts={"searches": trial.rounds + 1, "lost": 0},
    )


def _pressed(page: Any, claim: str) -> tuple[float, float]:  # noqa: ANN401 - as of `_opened`
    """Ask, and give the seconds till a first card of the answer is there, and till all of it is."""
    page.evaluate("for (const card of document.querySelectorAll('.relic-card')) card.classList.add('relic-before')")
    box = _written(page, claim)
    began = time.perf_counter()
    box.press("Control+Enter")
    page.locator(".relic-card:not(.relic-before)").first.wait_for()
    first = time.perf_counter() - began
    page.locator(_DONE).wait_for()
    return first, time.perf_counter() - began


def overnight(trial: Trial) -> Row:
    """Leave a page open, restart the server under it, and use the page again."""
    row = Row(
        name="a page left open overnight",
        done="A page with an answer stayed open while its server was ended and, later, started again at the same "
        "address; then the page was used without being loaded anew.",
        expected="The page connects again by itself and answers; what had been asked before is in the history.",
        happened=_missing(),
        held=None,
    )
    if row.happened:
        return row
    trial.say("leaving a page open over a restart")
    port = parts.free_port()
    with _chromium() as chromium:
        with _serving(trial, port) as (url, _):
            page = _opened(chromium, url)
            _ask_at_once(trial, [page], "evening")
        page.wait_for_timeout(5_000)
        with _serving(trial, port):
            page.locator(_CONNECTED).wait_for()
            page.locator(_DONE).wait_for()
            page.set_default_timeout(_SOON)
            try:
                _ask_at_once(trial, [page], "morning")
                asked = ["evening", "morning"]
            except import_module("playwright.sync_api").TimeoutError:
                asked = ["evening"]
    kept = [search.request.claim_text for search in trial.app.history.recent(1_000_000)]
    lost = sum(not any(f"({when})" in text for text in kept) for when in asked)
    answered = "answered" if "morning" in asked else f"did not answer within {_SOON // 1000} s"
    return replace(
        row,
        happened=f"It connected by itself and {answered}. Of the searches answered {lost or 'none'} was lost.",
        held="morning" in asked and lost == 0,
        counts={"lost": lost},
    )


def _missing() -> str:
    if find_spec("playwright") is None:
        return "Not tried: playwright is not installed (requirements-dev.txt)."
    return "" if _path() else "Not tried: there is no Chromium here."


def _path() -> str:
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, filter(None, names))), "")


@contextmanager
def _serving(trial: Trial, port: int = 0) -> Iterator[tuple[str, int]]:
    """Serve the library; gives the address, and the id of the server's process."""
    environment = {**os.environ, **trial.app.settings.to_environment()}
    port = port or parts.free_port()
    with parts.server(PROJECT / "app.py", environment, port=port) as (process, _):
        yield f"http://127.0.0.1:{port}", process


@contextmanager
def _chromium() -> Iterator[Any]:
    playwright = import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_path(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _opened(chromium: Any, url: str, *, work: str = "") -> Any:  # noqa: ANN401 - playwright is looked up when needed
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(_PAGE_PATIENCE)
    page.goto(f"{url}/find?work={work}" if work else f"{url}/find")
    page.get_by_role("heading", level=1).wait_for()
    page.locator(_DONE).wait_for()
    return page


def _written(page: Any, claim: str) -> Any:  # noqa: ANN401 - as of `_opened`
    """Write a claim into the form, which an answer has folded, and give its box."""
    box = page.locator("textarea").first
    box.wait_for(state="attached")
    if not box.is_visible():
        page.get_by_text("Edit", exact=True).click()
    box.fill(claim)
    return box


def _ask_at_once(trial: Trial, pages: list[Any], when: str) -> list[float]:
    """Write a claim into every page, press in all of them, and take the time till each has its answer."""
    before = [page.url for page in pages]
    boxes = [
        _written(page, f"{trial.claims[number % len(trial.claims)]} ({when})") for number, page in enumerate(pages)
    ]
    began = time.perf_counter()
    for box in boxes:
        box.press("Control+Enter")
    times = []
    for page, old in zip(pages, before, strict=True):
        page.wait_for_url(lambda url, old=old: "q=" in url and url != old)
        page.locator(".relic-card").first.wait_for()
        page.locator(_DONE).wait_for()
        times.append(time.perf_counter() - began)
    return times


PARTS: Mapping[str, Callable[[Trial], Row]] = {
    "searchers": searchers,
    "seminar": seminar,
    "browsers": browsers,
    "press": press,
    "killed": killed,
    "full": full_disk,
    "locked": locked,
    "index": index_gone,
    "overnight": overnight,
    "assistants": assistants,
    "disk": attacks.disk,
    "tampered": attacks.tampered,
    "damaged": attacks.damaged,
    "logs": attacks.logs,
    "settings": attacks.settings,
    "doors": attacks.doors,
    "crowd": attacks.crowd,
    "changed": attacks.changed,
    "slips": attacks.slips,
    "names": attacks.names,
    "journals": strange.journals,
    "rot": strange.rot,
    "mirror": strange.mirror,
    "drips": strange.drips,
    "codes": strange.codes,
    "previews": strange.previews,
    "people": attacks.two_people,
    "servers": attacks.two_servers,
    "mutate": mutate,
}
