"""A search is given away, opened on another machine under another model, and held against what it found before."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.wiring import build
from tests.approved import says
from tests.browser.conftest import environment_for
from tests.browser.serving import Server, serving
from tests.browser.visiting import answered, ask, cards, claim_box, focused, opened, settled
from tests.making_training import make_base

if TYPE_CHECKING:
    from collections.abc import Iterator

SAYS = says("history")

CLAIM = "The brass bolt stands for a false certainty"
EARLIER = "The narrator cannot see the weather from his window"


@pytest.fixture(scope="module")
def elsewhere(prepared, browser, tmp_path_factory) -> Iterator[tuple[Server, str]]:
    """Serve another store with the same work, where another model was put in the place of the one that it began with.

    With the server comes the id of a search that was asked there before.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    settings = Settings(data=folder / "data", indexes=folder / "indexes")
    before = build(settings)
    (sample,) = before.works.summaries()
    request = SearchRequest(work_id=sample.id, claim_text=EARLIER, retrievers=("dense-relic", "bm25"))
    search = before.history.keep(request).id
    before.snapshots.keep(search, before.search.run(request))
    model = str(make_base(folder / "model", positions=256))
    now = build(Settings(data=settings.data, indexes=settings.indexes, trained=model))
    now.indexes.build(sample.id, ["dense-relic"], lambda *_: None)
    with serving(environment_for(folder) | {"RELIC_TRAINED": model}, folder / "server.log") as running:
        yield running, search


def test_a_search_is_given_away_and_opened_on_another_machine(page, server, elsewhere):
    opened(page, f"{server.url}/find")
    ask(page, CLAIM)
    page.locator(".st-key-find_share button").click()
    short, whole = (page.get_by_test_id("stCode").nth(number) for number in (0, 1))
    whole.wait_for()
    address = "".join(whole.inner_text().split())
    assert "".join(short.inner_text().split()) == page.url
    there, _ = elsewhere
    assert "/find?search=1." in address
    page.goto(address.replace(server.url, there.url))
    expect(claim_box(page)).to_have_value(CLAIM)
    page.locator(".relic-card").first.wait_for()
    settled(page)
    expect(page.get_by_text(SAYS["other model"])).to_be_visible()
    assert "search=" in page.url, "the address stays as it was given"
    ask(page, f"{CLAIM}, and for no other")
    page.go_back()
    expect(claim_box(page)).to_have_value(CLAIM)


def test_what_a_search_found_before_the_model_was_changed_is_held_against_now(page, elsewhere):
    there, search = elsewhere
    opened(page, f"{there.url}/history")
    page.locator(f"a[href*='q={search}'][href*='show=then']").click()
    page.wait_for_url(f"**/history?q={search}&show=then")
    page.locator(".relic-moved").first.wait_for()
    settled(page)
    expect(page.get_by_text(SAYS["trained anew"])).to_be_visible()
    moved = page.locator(".relic-moved-how").all_inner_texts()
    assert {"new"} <= set(moved)
    assert any(each.startswith(("gone", "↓", "↑")) for each in moved)
    expect(page.get_by_text("As it was.")).to_have_count(1)
    page.get_by_role("link", name=SAYS["open"]).click()
    answered(page, "")
    expect(claim_box(page)).to_have_value(EARLIER)


def _a_search_of_an_address_stands_again_after_a_passage_was_read(page, elsewhere, back):
    there, search = elsewhere
    opened(page, f"{there.url}/find?q={search}")
    first = answered(page, "")
    page.locator(".relic-card").get_by_role("link", name=SAYS["read in chapter"]).first.click()
    page.wait_for_url("**/read?**")
    back_to_the_results = page.get_by_role("link", name=SAYS["back to results"]).first
    back_to_the_results.wait_for()
    settled(page)
    if back == "the link":
        back_to_the_results.click()
    else:
        page.go_back()
    page.wait_for_url(f"**/find?q={search}")
    expect(claim_box(page)).to_have_value(EARLIER)
    page.locator(".relic-card").first.wait_for()
    settled(page)
    assert cards(page) == first


def _the_columns_of_a_search_are_compared_and_a_passage_is_read(page, elsewhere):
    there, search = elsewhere
    opened(page, f"{there.url}/find?q={search}")
    page.locator(".relic-card").first.wait_for()
    page.locator(".st-key-find_share button").click()
    page.get_by_role("link", name=SAYS["compare"]).click()
    page.get_by_role("heading", name="By BM25 alone").wait_for()
    page.locator(".relic-moved-where a").first.click()
    page.wait_for_url(f"**/read?**q={search}**")


def _a_search_is_removed_and_put_back_by_keyboard_and_from_its_own_address(page, elsewhere):
    there, search = elsewhere
    line = page.locator(f"a[href='find?q={search}']")
    opened(page, f"{there.url}/history")
    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    remove = page.locator(f"[data-does='remove-search'][data-to='{search}']")
    remove.focus()
    page.keyboard.press("Enter")
    page.get_by_text(SAYS["removed"]).wait_for()
    expect(line).to_have_count(0)
    focused(page, "it.innerText.includes('Put it back')", True)
    page.keyboard.press("Enter")
    expect(line.first).to_be_visible()

    remove.click()
    expect(line).to_have_count(0)
    opened(page, f"{there.url}/find?q={search}")
    page.get_by_text(SAYS["search removed"]).wait_for()
    page.get_by_role("button", name="Put it back").click()
    page.locator(".relic-card").first.wait_for()
    expect(claim_box(page)).to_have_value(EARLIER)


def test_the_searches_are_sound_for_axe_and_need_no_scrolling_sideways(inspected, elsewhere):
    page, look = inspected
    there, search = elsewhere
    opened(page, f"{there.url}/history")
    look("searches")
    for name in ("then", "compare"):
        opened(page, f"{there.url}/history?q={search}&show={name}")
        page.locator(".relic-moved").first.wait_for()
        settled(page)
        look(name)
    opened(page, f"{there.url}/find?q={search}")
    page.locator(".relic-card").first.wait_for()
    settled(page)
    page.locator(".st-key-find_share button").click()
    page.get_by_test_id("stCode").first.wait_for()
    look("share")


# ---- journeys: the steps above, in one visit ----------------------------------------------------------------------


def test_searches_are_compared_removed_and_put_back(page, elsewhere):
    for back in ("the link", "the browser"):
        _a_search_of_an_address_stands_again_after_a_passage_was_read(page, elsewhere, back)
    _the_columns_of_a_search_are_compared_and_a_passage_is_read(page, elsewhere)
    _a_search_is_removed_and_put_back_by_keyboard_and_from_its_own_address(page, elsewhere)
