"""A journey: from a passage to its citation, copied with the keyboard, and back."""

from __future__ import annotations

import json

import pytest

from tests.approved import says
from tests.browser.visiting import ask, opened

SAYS = says("cite")

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


def test_a_passage_is_cited_copied_and_left_again(inspected, server):
    """A note is copied by keyboard, a file for reference managers saved, and the way back leads to the citation."""
    page, inspect = inspected
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, f"{server.url}/library")
    work = page.locator("a[href^='read?work=']").first.get_attribute("href").split("work=")[1].split("&")[0]
    opened(page, f"{server.url}/read?work={work}&at=1.2.1&n=2")
    bar = page.get_by_role("region", name="The passage marked")
    bar.get_by_role("link", name="Cite", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Cite", level=1).wait_for()
    page.get_by_text(SAYS["text without pages"]).wait_for()
    inspect("a citation")

    page.get_by_text("Chicago, notes", exact=True).click()
    page.locator("html[data-relic-copying]").wait_for(state="attached")
    button = page.get_by_role("button", name=SAYS["copy first note"])
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_contain_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(SAYS["bibliography and place"]), copied

    with page.expect_download() as download:
        page.get_by_role("button", name="CSL-JSON").click()
    (item,) = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert (item["id"], item["title"]) == (work, SAYS["sample"])

    page.get_by_role("link", name=SAYS["edition"]).click()
    page.get_by_role("heading", name="How to cite it").wait_for()
    page.get_by_text("Note, later").wait_for()
    inspect("the citation on the page of the work")

    page.go_back()
    page.get_by_role("heading", name="Cite", level=1).wait_for()


def test_a_passage_is_cited_as_in_print_from_an_answer_opened_by_its_address(page, server):
    opened(page, f"{server.url}/find")
    ask(page, "a bolt")
    opened(page, page.url)
    page.locator(".relic-card").first.get_by_role("link", name="Cite", exact=True).click()
    page.get_by_role("heading", name="Cite", level=1).wait_for()
    expect(page.get_by_role("switch")).to_be_checked()
