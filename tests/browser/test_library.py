"""The library in a real browser: texts of the reader's own, the shelf, and the page of a work."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.approved import says
from tests.browser.visiting import opened, settled
from tests.making_books import tei

SAYS = says("library")

JOB_MS = 240_000
LANTERNS = (
    "LANTERNS\n\nCHAPTER I\n\n“The river is up,” said the ferryman.\n\nCHAPTER II\n\nThere was one lantern fewer.\n"
)

PLAY = tei(
    """<div type="act" n="1"><head>ACT I</head><div type="scene" n="1"><head>Scene 1</head>
<stage>A quay. Enter the BOATMAN.</stage>
<sp><speaker>BOATMAN</speaker>
<l n="1">The river rose, and nobody had asked it,</l>
<l n="2">The lanterns went, and nobody had counted;</l>
<l n="3">And in the morning there was one lantern fewer,</l>
<l n="4">And no one on the quay to say where it had gone,</l>
<l n="5">And no one on the river to have seen.</l></sp>
<sp><speaker>CLERK</speaker>
<p>It was a Tuesday.<note place="foot">In one copy, a Thursday.</note> Nobody was there.</p></sp>
</div></div>"""
)


@pytest.fixture
def files(tmp_path):
    good, bad, play = tmp_path / "lanterns.txt", tmp_path / "noise.txt", tmp_path / "play.xml"
    good.write_text(LANTERNS, encoding="utf-8")
    bad.write_bytes(bytes(range(256)) * 64)
    play.write_bytes(PLAY)
    return [good, bad, play]


def _files_are_looked_at_corrected_and_added(page, look, fresh_server, files):
    opened(page, f"{fresh_server.url}/library?part=Add")
    page.locator(".st-key-library-adding input[type=file]").set_input_files(files)
    page.get_by_role("alert").filter(has_text="noise.txt").wait_for()
    card = page.locator("[class*='st-key-own-']").filter(has_text="lanterns.txt").first
    card.get_by_text("The river is up").wait_for()
    expect(card.get_by_role("textbox", name="Title")).to_have_value("Lanterns")
    for summary in page.locator(".relic-shelf-found summary").all():
        summary.click()
    settled(page)
    look("library")
    card.get_by_role("textbox", name="Title").fill("Seven Lanterns")
    card.get_by_role("textbox", name="First published").fill("1891")
    card.get_by_role("button", name="Add").click()
    page.get_by_text(SAYS["retitled"]).wait_for()
    settled(page)
    page.locator("[class*='st-key-own-place-']").filter(has_text="noise.txt").get_by_role("button").click()
    expect(page.get_by_role("alert").filter(has_text="noise.txt")).to_have_count(0)
    settled(page)
    page.locator("[class*='st-key-own-']").filter(has_text="play.xml").get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="The Ferry", level=3).wait_for()  # the last of them leads to the works
    page.get_by_role("heading", name="Seven Lanterns", level=3).wait_for()
    settled(page)
    page.locator("summary[aria-label^='More for']").first.click()
    look("works")


def _a_work_is_looked_at_removed_and_put_back(page):
    page.get_by_role("link", name="About Seven Lanterns").click()
    page.get_by_role("heading", name="Seven Lanterns", level=1).wait_for()
    settled(page)
    page.locator("summary").filter(has_text="2 chapters as a table").click()
    expect(page.get_by_role("region", name="The work as a table").get_by_role("row")).to_have_count(3)
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
    settled(page)


def _a_play_has_its_speakers_lines_and_notes(page):
    page.get_by_role("link", name="Read The Ferry").click()
    page.locator("article.relic-read-text").wait_for()
    page.wait_for_function("document.documentElement.dataset.relicReading === 'listening'")
    settled(page)
    assert page.locator(".relic-read-speaker").all_inner_texts() == ["BOATMAN", "CLERK"]
    assert page.locator(".relic-read-stage").first.evaluate("each => getComputedStyle(each).fontStyle") == "italic"
    assert page.locator(".relic-read-verse").first.inner_text().count("\n") >= 4
    assert page.locator(".relic-read-line").all_inner_texts() == ["5"]
    note = page.locator(".relic-read-notes p").first
    page.get_by_role("link", name="Note 1", exact=True).first.click()
    page.wait_for_function("document.querySelector('.relic-read-notes p:target')")
    assert "a Thursday" in note.inner_text()
    page.get_by_role("link", name=re.compile("Back to paragraph")).click()
    page.wait_for_function("document.querySelector('.relic-read-prose:target')")


def test_texts_are_uploaded_corrected_looked_at_removed_put_back_and_read(inspected, fresh_server, files):
    """What a file holds is shown before it is added, a removed work can be put back, and a play is read as a play."""
    page, look = inspected
    _files_are_looked_at_corrected_and_added(page, look, fresh_server, files)
    _a_work_is_looked_at_removed_and_put_back(page)
    _a_play_has_its_speakers_lines_and_notes(page)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A library folder, so that no work has to be fetched."""
    made = tmp_path / "texts"
    made.mkdir()
    for name in ("frankenstein", "jane_eyre"):
        (made / f"{name}.txt").write_text(f"It rained on {name}. Nobody slept.")
    monkeypatch.setenv("RELIC_LIBRARY", str(made))


def test_details_are_corrected_in_place_and_works_of_the_shelf_added_by_one_press(inspected, folder, fresh_server):
    """By keyboard the focus goes on with the work; a row stays where it is, and a second press adds nothing."""
    page, look = inspected
    opened(page, f"{fresh_server.url}/library")
    page.locator("summary[aria-label^='More for']").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_be_focused()
    settled(page)  # until the form has its button, Enter sends nothing
    look("correcting")
    expect(title).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("High Water")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="High Water", exact=True, level=3).wait_for()
    title.wait_for(state="detached")

    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    page.get_by_role("tab", name="Shelf").click()
    row = page.locator("#shelf-frankenstein")
    row.get_by_role("button", name=SAYS["add Frankenstein"]).focus()
    page.keyboard.press("Enter")
    row.get_by_role("link", name="Read it: Frankenstein").wait_for(timeout=JOB_MS)
    expect(row).to_be_focused()
    settled(page)

    row = page.locator("#shelf-jane_eyre")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()["y"]
    row.get_by_role("button", name="Add Jane Eyre from your folder").dblclick()
    row.get_by_role("link", name="Read it: Jane Eyre").wait_for(timeout=JOB_MS)
    expect(page.locator(".st-key-shelf-job").get_by_role("status")).to_be_in_viewport()
    settled(page)
    assert abs(row.bounding_box()["y"] - before) < 3
    assert page.get_by_text("On its way").count() == 0, "the second press added nothing"

    page.get_by_role("tab", name="Add").click()
    page.get_by_role("tab", name="Project Gutenberg").click()
    look("Project Gutenberg")
    page.get_by_role("tab", name="Works").click()
    page.get_by_role("heading", name="Frankenstein", level=3).wait_for()
    settled(page)
    page.get_by_role("link", name="About High Water").click()
    page.get_by_role("heading", name="High Water", level=1).wait_for()
    settled(page)
    for summary in page.locator("details summary").all():
        summary.click()
    look("work")
    opened(page, f"{fresh_server.url}/work")
    look("no work")
