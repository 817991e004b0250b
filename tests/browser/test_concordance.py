"""Find a word, in a real browser."""

from __future__ import annotations

import csv
import io
import re

from playwright.sync_api import expect

from tests.approved import says
from tests.browser.visiting import focused, note_where_left, opened, settled, stands_where_left

SAYS = says("concordance")


def rows(page):
    return page.locator("table.relic-kwic tbody tr")


def _a_word_is_found_sorted_saved_and_followed_into_the_text(page, server):
    opened(page, f"{server.url}/concordance")
    page.get_by_role("link", name="brass").click()
    page.wait_for_url("**/concordance?word=brass&work=*")
    expect(rows(page)).to_have_count(5)
    expect(page.get_by_role("textbox", name=SAYS["word field"])).to_have_value("brass")

    box = page.get_by_role("textbox", name=SAYS["word field"])
    box.fill("bolt")
    box.press("Enter")
    page.wait_for_url("**word=bolt**")
    expect(rows(page)).to_have_count(13)
    by_place = rows(page).all_inner_texts()

    page.get_by_role("radio", name="1R, word after").or_(
        page.get_by_role("button", name="1R, word after")
    ).first.click()
    page.wait_for_url("**sort=right**")
    settled(page)
    assert sorted(rows(page).all_inner_texts()) == sorted(by_place)
    rights = [re.sub(r"^\W+", "", text).casefold() for text in page.locator("td.relic-kwic-right").all_inner_texts()]
    assert rights == sorted(rights, key=lambda text: re.findall(r"\w+", text)[:2])

    middles = [box.bounding_box() for box in page.locator("td.relic-kwic-word").all()]
    assert len({round(box["x"]) for box in middles}) == 1, "the words found stand under one another"

    with page.expect_download() as saved:
        page.get_by_role("button", name="Save all 13 as CSV").click()
    assert saved.value.suggested_filename.startswith("bolt in high-water")
    table = list(csv.DictReader(io.StringIO(saved.value.path().read_text("utf-8-sig"))))
    assert len(table) == 13
    assert (
        next(row["right"].split()[:1] for row in table)
        == page.locator("td.relic-kwic-right").first.inner_text().split()[:1]
    )

    address = page.url
    link = rows(page).first.get_by_role("link")
    sentence = table[0]["sentence"]
    assert f"&at={sentence}&" in link.get_attribute("href")
    link.click()
    page.wait_for_url(f"**/read?work=*at={sentence}*")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Find", exact=True).click()
    page.wait_for_url("**/find")
    page.get_by_role("link", name="Find a word").click()
    page.wait_for_url(address)
    expect(rows(page)).to_have_count(13)
    settled(page)


def _a_row_is_come_back_to_from_the_text(page):
    for back in (page.go_back, page.get_by_role("link", name="Back to the places of “bolt”").click):
        row = rows(page).nth(9)
        row.scroll_into_view_if_needed()
        named = row.get_attribute("id")
        note_where_left(page)
        row.get_by_role("link").click()
        page.locator("article.relic-read-text").wait_for()
        settled(page)
        back()
        expect(rows(page)).to_have_count(13)
        focused(page, "it.closest('tr')?.id", named)
        stands_where_left(page)
        settled(page)


def _a_page_that_a_link_leads_to_is_begun_at_its_heading(page, server):
    opened(page, f"{server.url}/library")
    page.get_by_role("link", name=SAYS["about sample"]).first.click()
    page.wait_for_url("**/work?*")
    focused(page, "it.tagName", "H1")


def test_a_word_is_found_sorted_saved_and_followed_into_the_text_and_back(page, server):
    """An address holds word and order, the file is what the table shows, and each way back leads to the row left."""
    _a_word_is_found_sorted_saved_and_followed_into_the_text(page, server)
    _a_row_is_come_back_to_from_the_text(page)
    _a_page_that_a_link_leads_to_is_begun_at_its_heading(page, server)


def test_pages_of_many_places_are_sound_turned_and_turned_back(inspected, server):
    """A page turned begins at its beginning, two clicks are one step, and back leads to where the last was left."""
    page, look = inspected
    for query in ("", "?word=zzbolt", "?word=t*&forms=1&sort=left"):
        opened(page, f"{server.url}/concordance{query}")
        if query:
            page.locator(".relic-kwic-summary").wait_for()
        for summary in page.locator(".relic-kwic-counts summary").all():
            summary.click()
        look(query)
    expect(rows(page)).to_have_count(50)
    first = rows(page).first.inner_text()
    following = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Next")
    following.scroll_into_view_if_needed()
    length = page.evaluate("history.length")
    note_where_left(page)
    following.dblclick()
    page.wait_for_url("**page=2**")
    page.get_by_text(re.compile("^Page 2 of")).wait_for()
    focused(page, "it.id", "kwic-places")
    expect(rows(page).first).to_be_in_viewport()
    assert rows(page).first.inner_text() != first
    settled(page)
    assert page.evaluate("history.length") == length + 1, "two clicks are one step"
    page.go_back()
    page.get_by_text(re.compile("^Page 1 of")).wait_for()
    focused(page, "it.textContent", "Next")
    stands_where_left(page)
    assert rows(page).first.inner_text() == first
