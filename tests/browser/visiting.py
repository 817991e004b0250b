"""What every journey does: open a page, wait for it, ask."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from relic_ui.find.claim_box import CLAIM_LABEL

VIEWS = {"Side by side": "side", "Best evidence": "best"}
TABS = 140
"""Stops of the Tab key after which there is no way there."""


def claim_box(page):
    """Find the claim box, also where the form is folded."""
    return page.get_by_label(CLAIM_LABEL, exact=True)


def edit(page):
    """Open the form again, where it is folded."""
    claim_box(page).wait_for(state="attached")
    if not claim_box(page).is_visible():
        page.get_by_text("Edit", exact=True).click()
        expect(claim_box(page)).to_be_focused()


def view(page, name):
    """Choose how the answer is shown."""
    page.locator(".st-key-find_view").get_by_text(name, exact=True).click()
    page.locator(f".st-key-find_{VIEWS.get(name, 'one')} .relic-card").first.wait_for()
    settled(page)


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
    """Write a claim, press Enter, and wait for the answer; return its cards."""
    before = page.url
    edit(page)
    claim_box(page).fill(claim)
    claim_box(page).press("Enter")
    return answered(page, before)


def answered(page, before):
    page.wait_for_url(lambda url: "q=" in url and url != before)
    page.locator(".relic-card").first.wait_for()
    settled(page)
    return cards(page)


def cards(page):
    return page.locator(".relic-card").all_inner_texts()


def found_words(card):
    """Return the words of a card that were found, without the rest of their sentences."""
    text = card.locator("blockquote").evaluate(
        """quotation => {
            const own = quotation.cloneNode(true)
            own.querySelectorAll(".relic-rest").forEach(each => each.remove())
            return [...own.querySelectorAll("p")].map(each => each.textContent).join(" ")
        }"""
    )
    return " ".join(text.split())


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
