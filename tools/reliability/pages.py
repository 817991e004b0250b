"""Real browsers on a real server: several people at once, and a page that was left open while the server was restarted.

They are driven by playwright, which is needed for testing and for this alone (requirements-dev.txt); without it, or
without a Chromium, these rows say so.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from relic_core.config import PROJECT
from tools.bench import start
from tools.reliability.rows import Row, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.reliability.rows import Trial

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_PATIENCE = 60_000
_SOON = 60_000
"""Milliseconds; a server that has just begun loads its encoder before its first answer."""
_MOST_RATIO = 2.0
_DONE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_CONNECTED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'


def browsers(trial: Trial) -> Row:
    """Let several browsers search at once, beside one alone."""
    name = f"{trial.browsers} browsers at once"
    done = (
        f"{trial.browsers} visitors of one server opened Find and asked {trial.rounds} times each, all of them "
        "pressing at the same "
        "moment; before that, one alone did."
    )
    expected = f"Every search is answered; at the median nobody waits more than {_MOST_RATIO:.0f} times their share."
    if why := _missing():
        return Row(name=name, done=done, expected=expected, happened=why, held=None)
    with _serving(trial) as url, _chromium() as chromium:
        trial.say("a browser searches alone")
        pages = [_opened(chromium, url) for _ in range(trial.browsers)]
        _ask_at_once(trial, pages, "first")  # what a server loads for its first answer is not what is measured
        alone = [
            seconds for number in range(trial.rounds) for seconds in _ask_at_once(trial, pages[:1], f"alone {number}")
        ]
        trial.say(f"{trial.browsers} browsers search at once")
        times = [
            seconds for number in range(trial.rounds) for seconds in _ask_at_once(trial, pages, f"at once {number}")
        ]
        errors = sum(
            page.locator('[data-testid="stException"], [data-testid="stAlertContentError"]').count() for page in pages
        )
    p50, p95 = (percentile(times, share) / percentile(alone, share) for share in (0.5, 0.95))
    return Row(
        name=name,
        done=done,
        expected=expected,
        happened=f"{len(times)} searches were answered, {errors or 'no'} errors shown. Alone p50 "
        f"{percentile(alone, 0.5):.1f} s, p95 "
        f"{percentile(alone, 0.95):.1f} s; together p50 {p50:.1f} times and p95 {p95:.1f} times as long.",
        held=errors == 0 and p50 <= _MOST_RATIO * trial.browsers,
        counts={"searches": len(times), "lost": 0, "p50 ratio": p50, "p95 ratio": p95},
    )


def overnight(trial: Trial) -> Row:
    """Leave a page open, restart the server under it, and use the page again."""
    name = "a page left open overnight"
    done = (
        "A page with an answer stayed open while its server was ended and, later, started again at the same address; "
        "then "
        "the page was used without being loaded anew."
    )
    expected = "The page connects again by itself and answers; what had been asked before is in the history."
    if why := _missing():
        return Row(name=name, done=done, expected=expected, happened=why, held=None)
    trial.say("leaving a page open over a restart")
    port = start.free_port()
    with _chromium() as chromium:
        with _serving(trial, port) as url:
            page = _opened(chromium, url)
            _ask_at_once(trial, [page], "evening")
        page.wait_for_timeout(5_000)
        with _serving(trial, port):
            page.locator(_CONNECTED).wait_for()
            page.locator(_DONE).wait_for()
            page.set_default_timeout(_SOON)
            presses = next((press for press in (1, 2, 3) if _answered(trial, page)), 0)
    kept = [search.claim_text for search in trial.app.history.recent(1_000_000)]
    lost = sum(not any(f"({when})" in text for text in kept) for when in ("evening", *(["morning"] if presses else [])))
    late = f"an answer takes more than {_SOON // 1000} s, or the claim of its address stood in place of what was typed"
    said = (
        "did not answer at three presses",
        "answered at the first press",
        f"answered when the claim was written for the second time: {late}",
        f"answered when the claim was written for the third time: {late}",
    )[presses]
    return Row(
        name=name,
        done=done,
        expected=expected,
        happened=f"It connected by itself and {said}. Of the searches that were answered {lost or 'none'} was lost.",
        held=presses == 1 and lost == 0,
        counts={"presses": presses, "lost": lost},
    )


def _answered(trial: Trial, page: Any) -> bool:  # noqa: ANN401 - as below
    trouble = import_module("playwright.sync_api").TimeoutError
    try:
        _ask_at_once(trial, [page], "morning")
    except trouble:
        return False
    return True


def _missing() -> str:
    if find_spec("playwright") is None:
        return "Not tried: playwright is not installed (requirements-dev.txt)."
    return "" if _path() else "Not tried: there is no Chromium here."


def _path() -> str:
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, filter(None, names))), "")


@contextmanager
def _serving(trial: Trial, port: int = 0) -> Iterator[str]:
    environment = {**os.environ, **trial.app.settings.to_environment()}
    port = port or start.free_port()
    with start.server(PROJECT / "app.py", environment, port=port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _chromium() -> Iterator[Any]:
    playwright = import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_path(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _opened(chromium: Any, url: str) -> Any:  # noqa: ANN401 - playwright is looked up when it is needed
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(_PATIENCE)
    page.goto(f"{url}/find")
    page.get_by_role("heading", level=1).wait_for()
    page.locator(_DONE).wait_for()
    return page


def _ask_at_once(trial: Trial, pages: list[Any], when: str) -> list[float]:
    """Write a claim into every page, press in all of them, and take the time till each has its answer."""
    before = [page.url for page in pages]
    for number, page in enumerate(pages):
        box = page.locator("textarea").first
        box.fill(f"{trial.claims[number % len(trial.claims)]} ({when})")
    began = time.perf_counter()
    for page in pages:
        page.locator("textarea").first.press("Control+Enter")
    times = []
    for page, old in zip(pages, before, strict=True):
        page.wait_for_url(lambda url, old=old: "q=" in url and url != old)
        page.locator(".relic-card").first.wait_for()
        page.locator(_DONE).wait_for()
        times.append(time.perf_counter() - began)
    return times
