"""What every journey does: open a page, wait for it, ask."""

from __future__ import annotations

import pytest

from relic_ui.find.claim_box import CLAIM_LABEL

TABS = 90
"""Stops of the Tab key after which there is no way there."""


def claim_box(page):
    return page.get_by_role("textbox", name=CLAIM_LABEL)


def settled(page):
    """Wait until the script has run to its end."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


def opened(page, url):
    """Open an address and wait until its page is drawn, and its links are followed without loading it anew."""
    page.goto(url)
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function("window.relicLinks")
    settled(page)


def ask(page, claim):
    """Write a claim, press Ctrl+Enter, and wait for the answer; return its cards."""
    before = page.url
    claim_box(page).fill(claim)
    claim_box(page).press("Control+Enter")
    return answered(page, before)


def answered(page, before):
    page.wait_for_url(lambda url: "q=" in url and url != before)
    page.locator(".relic-card").first.wait_for()
    settled(page)
    return cards(page)


def cards(page):
    return page.locator(".relic-card").all_inner_texts()


def note_where_left(page):
    """Note how far down the page is scrolled when the next click comes: the browser may scroll on the way to it."""
    page.evaluate(
        """addEventListener("click", () => { window.leftAt = document.querySelector(".stMain").scrollTop },
                            { capture: true, once: true })"""
    )


def stands_where_left(page):
    """Wait until the page is scrolled to where it was at that click."""
    page.wait_for_function("Math.abs(document.querySelector('.stMain').scrollTop - window.leftAt) < 3")


def focused(page, expression, expected):
    """Wait until what has the focus gives a value."""
    page.wait_for_function(
        f"wanted => {{ const it = document.activeElement; return ({expression}) === wanted }}", arg=expected
    )


def tab_to(page, target):
    """Press the Tab key until the focus is on an element, or within it."""
    target.wait_for()
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if target.evaluate("it => it === document.activeElement || it.contains(document.activeElement)"):
            return
    pytest.fail(f"The Tab key does not lead to {target}.")
