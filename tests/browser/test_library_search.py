"""Searching all works at once, some chapters of one, and for passages like another, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.approved import says
from tests.browser.visiting import answered, ask, cards, edit, note_where_left, opened, settled, stands_where_left, view

SAYS = says("find")

ALL = "All works of the library (3)"


def choose(page, label, option):
    """Choose from a list."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def options(page):
    """Open what is rarely chosen."""
    page.get_by_test_id("stPopoverButton").filter(has_text="Options").press("Enter")


def chapter_of(heading):
    """Read the chapter off the heading of a card."""
    return re.search(r"Chapter [IV]+", heading)[0]


def changed(page, before):
    """Wait until another search is shown."""
    page.wait_for_url(lambda url: "q=" in url and url != before)
    settled(page)
    return page.url


def _narrowed_to_one_author(page):
    """Choose an author, then press Find; give the new address."""
    everywhere = page.url
    edit(page)
    options(page)
    choose(page, "Authors", "A. Beacon")
    page.keyboard.press("Escape")  # the list
    page.keyboard.press("Escape")  # the panel
    page.get_by_test_id("stPopoverButton").filter(has_text="Options: one work").wait_for()
    assert page.url == everywhere, "nothing was asked for yet"
    page.get_by_role("button", name="Find", exact=True).click()
    return changed(page, everywhere)


def test_from_all_works_to_one_author_into_a_work_and_on_to_passages_like_one_in_some_chapters(page, library_server):
    opened(page, f"{library_server.url}/find")
    choose(page, "Work", ALL)
    settled(page)
    ask(page, "The ferryman asked for light and got none")
    view(page, "By words")
    named = page.locator(".relic-card-work")
    page.get_by_role("navigation", name=SAYS["results by work"]).get_by_text("The Mole").first.wait_for()

    narrowed = _narrowed_to_one_author(page)
    expect(named.first).to_have_text("The Mole, A. Beacon (1902)")
    assert set(named.all_inner_texts()) == {"The Mole, A. Beacon (1902)"}

    first = page.get_by_role("link", name=SAYS["read in chapter"]).first
    first.scroll_into_view_if_needed()
    note_where_left(page)
    first.click()
    page.get_by_role("heading", level=1, name="The Mole").wait_for()
    page.get_by_role("region", name="The passage marked").get_by_role("link", name=SAYS["more like"]).wait_for()
    page.go_back()
    page.wait_for_url(narrowed)
    stands_where_left(page)
    page.locator(".relic-card").first.wait_for()
    settled(page)

    found = cards(page)
    page.get_by_text("Why this?").first.click()
    page.get_by_role("link", name=SAYS["more like"]).first.click()
    page.get_by_role("figure", name=SAYS["model passage"]).wait_for()
    alike = changed(page, narrowed)
    page.wait_for_function("document.activeElement.id === 'find-like'")
    page.get_by_text("Edit", exact=True).click()
    expect(page.get_by_role("combobox", name="Work")).to_have_value("The Mole, A. Beacon (1902)")
    expect(page.get_by_role("textbox")).to_have_count(0)

    options(page)
    page.get_by_text("From … to …").click()
    choose(page, "From", "Chapter III")
    page.get_by_test_id("stPopoverButton").filter(has_text="Options: 2 of 4 chapters").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Find", exact=True).click()
    limited = changed(page, alike)
    assert {chapter_of(text) for text in page.locator(".relic-card h3").all_text_contents()} <= {
        "Chapter III",
        "Chapter IV",
    }

    page.get_by_text("Edit", exact=True).click()
    page.get_by_role("button", name="Look in all 3 works").click()
    changed(page, limited)
    page.locator(".relic-card-work").first.wait_for()
    for address in (limited, alike, narrowed):  # each step is one of the browser's own
        page.go_back()
        page.wait_for_url(address)
        settled(page)
    expect(page.locator(".relic-card")).to_have_count(len(found))
    assert cards(page) == found


def test_the_chapter_and_the_passage_that_are_read_can_be_searched_from(page, library_server):
    opened(page, f"{library_server.url}/read")
    page.get_by_role("link", name="The Quay").click()
    page.get_by_role("link", name="Next chapter: Chapter II").first.click()
    page.get_by_role("heading", level=2, name="Chapter II").wait_for()
    settled(page)
    page.wait_for_function("document.documentElement.dataset.relicReading === 'listening'")
    page.get_by_text("Nobody lit the lantern of house II.").click()
    page.get_by_role("button", name="One sentence more").click()
    page.get_by_role("link", name=SAYS["more like"]).click()
    answered(page, page.url.split("?")[0])
    shown = page.get_by_role("figure", name=SAYS["model passage"])
    expect(shown).to_contain_text("Nobody lit the lantern of house II. The ferryman had asked for it, and left.")

    page.go_back()
    page.get_by_role("link", name=SAYS["search chapter"]).click()
    page.get_by_test_id("stPopoverButton").filter(has_text="Options: 1 of 4 chapters").wait_for()
    settled(page)
    ask(page, "The ferryman leaves")
    assert {chapter_of(text) for text in page.locator(".relic-card h3").all_text_contents()} == {"Chapter II"}
