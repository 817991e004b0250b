"""A real server, a real Chromium, and the accessibility checker axe."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from relic_core.config import Settings
from relic_core.wiring import build
from tests.browser.serving import PROJECT, SERVED, copied, serving
from tests.browser.visiting import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.browser.serving import Server

AXE = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
WCAG = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast"]
# What is stale while a fragment runs again is pale for that moment alone.
AT_ONCE = """
addEventListener("DOMContentLoaded", () => document.head.append(Object.assign(document.createElement("style"), {
  textContent: `*, ::before, ::after { transition: none !important; animation: none !important }
    [data-stale="true"] { opacity: 1 !important }` })))
"""
PATIENCE = 20_000
"""Milliseconds in which what is waited for comes on a machine that does other things as well."""
WIDE, NARROW = 1280, 400
"""Of a desk and of a phone, in pixels."""

CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
# One process for all pages of this machine, which has Streamlit's scripts read and compiled after the first.
CHROMIUM_FLAGS += ["--process-per-site"]
# Without these Chromium calls its makers.
CHROMIUM_FLAGS += ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this folder, and let a journey that fails be made once more.

    A browser and a server on a machine that does other things as well can miss a moment; our faults fail every time.
    What was made again is counted in the closing line and listed by ``-rR``.
    """
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))


def missing(reason: str) -> None:
    """Skip for want of a tool; in CI, where `make test` installs it, fail: a skipped journey would pass unseen."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def server(prepared, browser, tmp_path_factory) -> Iterator[Server]:  # `browser`: without one, nothing is served
    """Serve a copy of the sample to all tests that do not mind what others keep, measure and find there."""
    with serving(copied(prepared, tmp_path_factory.mktemp("server"))) as running:
        yield running


@pytest.fixture(scope="session")
def library_server(prepared, browser, tmp_path_factory) -> Iterator[Server]:
    """Serve the sample and two short works, all of them indexed, to tests that do not mind one another."""
    folder = copied(prepared, tmp_path_factory.mktemp("library"))
    bench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    for title, light, year in (("The Quay", "lantern", 1851), ("The Mole", "beacon", 1902)):
        text = "\n\n".join(
            f"CHAPTER {number}\n\nNobody lit the {light} of house {number}. The ferryman had asked for it, and left."
            for number in ("I", "II", "III", "IV")
        )
        source = f"{title}\n\n{text}\n".encode()
        work = bench.works.add(source, name="a.txt", title=title, author=f"A. {light.title()}", year=year).work
        bench.indexes.build(work.id, bench.indexes.missing(work.id), lambda _done, _total, _note="": None)
    with serving(folder) as running:
        yield running


@pytest.fixture
def fresh_server(prepared, browser, tmp_path) -> Iterator[Server]:
    """Serve a copy of the sample to one test, by a server that nobody has asked for anything yet."""
    with serving(copied(prepared, tmp_path / "own")) as running:
        yield running


@pytest.fixture
def cold_server(prepared, browser, tmp_path) -> Iterator[Server]:
    """Serve a copy of the sample to one test, by a server that has just been started as a reader starts it."""
    with serving(copied(prepared, tmp_path / "own"), cold=True) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium (``CHROMIUM`` names another)."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    if path is None:
        missing("There is no Chromium: install Debian's package chromium, or name one in CHROMIUM.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def profile(browser) -> BrowserContext:
    """Return a profile whose cache all visitors share: Streamlit's own files are read once from a server."""
    context = browser.new_context(viewport={"width": WIDE, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    stays = context.new_page()  # or the process of the pages would end with each visitor
    stays.route("**", lambda route: route.fulfill(body=""))
    stays.goto("http://localhost/")
    return context


@pytest.fixture
def page(profile) -> Iterator[Page]:
    """Open an empty tab of a new visitor; at the end no exception may stand on it."""
    tab = profile.new_page()
    tab.add_init_script(AT_ONCE)
    yield tab
    exceptions = tab.get_by_test_id("stException").all_inner_texts()
    _forget(profile)
    assert exceptions == []


def _forget(profile: BrowserContext) -> None:
    """Close the tabs of a visitor and throw away what the pages kept, except for the cache."""
    stays, *tabs = profile.pages
    chromium = profile.new_cdp_session(stays)
    for port in SERVED:
        kept = {"origin": f"http://localhost:{port}", "storageTypes": "local_storage,indexeddb"}
        chromium.send("Storage.clearDataForOrigin", kept)
    for tab in tabs:
        tab.close()
    profile.clear_cookies()
    profile.clear_permissions()


@pytest.fixture(scope="session")
def axe() -> Callable[..., list[str]]:
    """Return a function that lists a page's breaches of WCAG 2.2 AA, each as "rule: selector: what is wrong".

    It takes the page and, where not all of the guidelines are wanted, the names of axe's rules.
    """
    if not AXE.is_file():
        missing("axe-core is not installed: run npm ci.")
    source = AXE.read_text(encoding="utf-8")

    def violations(page: Page, rules: list[str] = WCAG) -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.evaluate(source)
        # Style sheets are loaded for a rule that is not among these, films for one on films, of which there are none.
        wanted = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
        report = page.evaluate("wanted => axe.run(document, wanted)", wanted)
        return [
            f"{violation['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary']}"
            for violation in report["violations"]
            for node in violation["nodes"]
        ]

    return violations


@pytest.fixture
def inspected(page, axe) -> Iterator[tuple[Page, Callable[[str], None]]]:
    """Open a tab with a function that inspects what it shows: wide by day, wide by night, and narrow by night.

    By night and wide only the colours are looked at, and narrow by day nothing: widths change what is shown and where,
    hours change colours.

    At the end no inspection may have found a breach for axe, or need to scroll sideways. The page is 1280 px wide and
    light between inspections.
    """
    findings = {}

    def show(width: int, scheme: str) -> None:
        page.emulate_media(color_scheme=scheme)
        if page.viewport_size["width"] != width:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(150)  # charts take their new width

    def look(name: str) -> None:
        for width, scheme, rules in ((WIDE, "light", WCAG), (WIDE, "dark", COLOURS), (NARROW, "dark", WCAG)):
            show(width, scheme)
            page.wait_for_function(
                """light => (getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\\d+/g)
                    .slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 384) === light""",
                arg=scheme == "light",
            )
            settled(page)
            wide = page.evaluate(
                "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth"
            )
            breaches = axe(page, rules)
            if breaches:
                # A script that the new width started dims what it has not drawn anew: look again when it is done.
                page.wait_for_timeout(2_000)
                settled(page)
                breaches = axe(page, rules)
            findings[name, width, scheme] = breaches + ([f"{wide} px too wide"] if wide > 0 else [])
        show(WIDE, "light")

    yield page, look
    assert {name: found for name, found in findings.items() if found} == {}
    assert findings
