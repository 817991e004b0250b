"""The pictures of docs, taken anew from the sample: ``python -m tools.pictures [FOLDER]``, by default docs/pictures.

Needs Chromium, as journeys do. The app is started beside a library of its own, which is deleted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from relic_core.config import PROJECT
from tools.bench.parts import free_port, server

_SIZE = (1280, 860)
_CLAIM = "The brass bolt stands for a false certainty"
_WORK = "high-water-at-averhythe-4a13e067"
_DRAFT = (
    "In *High Water at Averhythe* the clerk claims honesty: “I have never told a lie that was of the least advantage "
    "to me.”\n\nOf his forgery he speaks as of housekeeping: “It is delicate work. The knife must be laid almost flat "
    "and drawn towards me, no heavier than breath” (ch. 6).\n\n“The tide forgives whoever keeps the book,” he adds."
)
"""One quotation to the letter, one altered, one invented."""
_KEPT = 4
_PATIENCE = 60_000
"""Milliseconds: the first search waits for its models."""


def _drawn(page: Page) -> None:
    """Wait until the page's script has run to its end, what it drew has settled, and no message floats above it."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.mouse.move(_SIZE[0] - 1, _SIZE[1] / 2)  # over nothing
    page.wait_for_timeout(1500)
    page.get_by_test_id("stToast").first.wait_for(state="hidden")
    page.evaluate("document.activeElement?.blur()")
    page.wait_for_timeout(500)  # until what only hover and focus show has faded


def _take(page: Page, url: str, folder: Path) -> None:
    def take(name: str) -> None:
        _drawn(page)
        page.screenshot(path=folder / f"{name}.png")

    page.goto(f"{url}/find")
    page.get_by_role("heading", level=1).wait_for()
    _drawn(page)
    box = page.locator("textarea").first
    box.fill(_CLAIM)
    box.press("Enter")
    page.wait_for_url("**q=*")
    cards = page.locator(".relic-card")
    cards.first.wait_for()
    take("find")
    answer = page.url
    for kept in range(_KEPT):
        cards.nth(kept).get_by_role("button", name="Keep").click()
        _drawn(page)
    cards.first.locator("a[href*=read]").first.click()
    page.wait_for_url("**/read**")
    take("read")
    page.goto(answer)
    cards.first.get_by_role("link", name="Cite", exact=True).click()
    page.wait_for_url("**/cite**")
    take("cite")
    page.goto(f"{url}/notebook")
    page.locator(".st-key-notebook_rows summary").first.click()
    take("notebook")
    page.goto(f"{url}/history")
    page.get_by_role("heading", level=1).wait_for()
    page.get_by_text("Compare the columns", exact=True).first.click()
    take("compare")
    page.goto(f"{url}/drafts")
    page.get_by_role("textbox").first.fill(_DRAFT)
    page.get_by_role("button", name="Check the quotations").click()
    page.locator("#draft-summary").wait_for()
    take("draft")
    page.goto(f"{url}/work?work={_WORK}")
    page.locator(".js-plotly-plot").first.wait_for()
    take("work")
    page.goto(f"{url}/recall")
    page.locator(".js-plotly-plot").first.wait_for()
    take("recall")


def main(folder: Path) -> None:
    """Take all pictures."""
    port = free_port()
    with tempfile.TemporaryDirectory() as kept, sync_playwright() as playwright:
        environment = {**os.environ, "RELIC_DATA": f"{kept}/data", "RELIC_INDEXES": f"{kept}/indexes"}
        subprocess.run([sys.executable, "-m", "relic_core", "setup"], env=environment, cwd=PROJECT, check=True)
        chromium = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": _SIZE[0], "height": _SIZE[1]})
        page.set_default_timeout(_PATIENCE)
        with server(PROJECT / "app.py", environment, port=port):
            _take(page, f"http://localhost:{port}", folder)
        chromium.close()


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.pictures", description="Take the pictures of docs anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT / "docs" / "pictures")
    main(parser.parse_args().folder)
