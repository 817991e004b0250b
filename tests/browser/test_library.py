"""The library in a real browser: texts of the reader's own, the shelf, and the page of a work."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.approved import says
from tests.browser.visiting import opened, settled

SAYS = says("library")

LANTERNS = (
    "LANTERNS\n\nCHAPTER I\n\n“The river is up,” said the ferryman.\n\nCHAPTER II\n\nThere was one lantern fewer.\n"
)


@pytest.fixture
def files(tmp_path):
    good, bad = tmp_path / "lanterns.txt", tmp_path / "noise.txt"
    good.write_text(LANTERNS, encoding="utf-8")
    bad.write_bytes(bytes(range(256)) * 64)
    return [good, bad]


def test_an_edition_is_uploaded_corrected_looked_at_removed_and_put_back(page, fresh_server, files):
    opened(page, f"{fresh_server.url}/library")
    page.locator(".st-key-library-adding input[type=file]").set_input_files(files)
    page.get_by_role("alert").filter(has_text="noise.txt").wait_for()
    card = page.locator("[class*='st-key-own-']").filter(has_text="lanterns.txt").first
    card.get_by_text("The river is up").wait_for()
    expect(card.get_by_role("textbox", name="Title")).to_have_value("Lanterns")
    card.get_by_role("textbox", name="Title").fill("Seven Lanterns")
    card.get_by_role("textbox", name="First published").fill("1891")
    card.get_by_role("button", name="Add").click()
    page.get_by_text(SAYS["retitled"]).wait_for()
    page.get_by_role("heading", name="Seven Lanterns", level=3).wait_for()
    settled(page)
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("alert").filter(has_text="noise.txt")).to_have_count(0, timeout=20_000)

    page.get_by_role("link", name="About Seven Lanterns").click()
    page.get_by_role("heading", name="Seven Lanterns", level=1).wait_for()
    settled(page)
    expect(page.get_by_role("row")).to_have_count(3)
    expect(page.get_by_text("Author unknown, 1891")).to_be_visible()

    page.go_back()
    page.get_by_role("heading", name="Seven Lanterns", level=3).wait_for()
    expect(page.get_by_role("link", name="About Seven Lanterns")).to_be_focused()
    settled(page)
    page.keyboard.press("Tab")  # the first key ends the coming back, which holds the focus until the page rests
    more = page.locator("summary[aria-label='More for Seven Lanterns']")
    more.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove Seven Lanterns").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Seven Lanterns", level=3).wait_for(state="detached")
    page.get_by_text(SAYS["removed"]).wait_for()

    page.reload()
    page.get_by_text("Removed works (1)").click()
    page.get_by_role("button", name="Put it back").click()
    page.get_by_role("heading", name="Seven Lanterns", level=3).wait_for()


def test_details_are_corrected_in_place_by_keyboard(page, fresh_server):
    opened(page, f"{fresh_server.url}/library")
    page.locator("summary[aria-label^='More for']").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_be_focused()
    settled(page)  # until the form has its button, Enter sends nothing
    page.keyboard.press("Control+A")
    page.keyboard.type("High Water")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="High Water", exact=True, level=3).wait_for()
    title.wait_for(state="detached")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A library folder, so that no work has to be fetched."""
    made = tmp_path / "texts"
    made.mkdir()
    (made / "frankenstein.txt").write_text("It rained. Nobody slept.")
    monkeypatch.setenv("RELIC_LIBRARY", str(made))


def test_a_work_of_the_shelf_is_added_by_one_press(page, folder, fresh_server):
    opened(page, f"{fresh_server.url}/library")
    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    row = page.locator("#shelf-frankenstein")
    row.get_by_role("button", name=SAYS["add Frankenstein"]).focus()
    page.keyboard.press("Enter")
    row.get_by_role("link", name="Read Frankenstein").wait_for(timeout=60_000)
    page.get_by_role("heading", name="Frankenstein", level=3).wait_for()
    expect(row).to_be_focused(timeout=20_000)


def test_a_row_of_the_shelf_stays_where_it_is_when_it_is_pressed(page, folder, fresh_server):
    opened(page, f"{fresh_server.url}/library")
    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    row = page.locator("#shelf-frankenstein")
    row.scroll_into_view_if_needed()
    button = row.get_by_role("button", name=SAYS["add Frankenstein"])
    before = row.bounding_box()["y"]
    button.dblclick()
    row.get_by_role("link", name="Read Frankenstein").wait_for(timeout=60_000)
    expect(page.locator(".st-key-shelf-job").get_by_role("status")).to_be_in_viewport(timeout=20_000)
    settled(page)
    assert abs(row.bounding_box()["y"] - before) < 3
    assert page.get_by_text("On its way").count() == 0, "the second press added nothing"


def test_the_pages_are_sound_for_axe_and_need_no_scrolling_sideways(inspected, fresh_server, files):
    page, look = inspected
    opened(page, f"{fresh_server.url}/library")
    page.locator(".st-key-library-adding input[type=file]").set_input_files(files)
    page.get_by_role("alert").filter(has_text="noise.txt").wait_for()
    for summary in page.locator(".relic-shelf-found summary").all():
        summary.click()
    page.locator("summary[aria-label^='More for']").first.click()
    settled(page)
    look("library")
    page.get_by_role("button", name="Correct details").first.click()
    page.get_by_role("button", name="Save").wait_for()
    settled(page)
    look("correcting")
    page.get_by_role("tab", name="Project Gutenberg").click()
    look("Project Gutenberg")
    page.get_by_role("link", name=SAYS["about sample"]).click()
    page.get_by_role("heading", name=SAYS["sample"], level=1).wait_for()
    settled(page)
    for summary in page.locator("details summary").all():
        summary.click()
    look("work")
    opened(page, f"{fresh_server.url}/work")
    look("no work")
