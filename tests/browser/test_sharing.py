"""A search is given away, opened on another machine under another model, and held against what it found before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.wiring import build
from tests.approved import says
from tests.browser.serving import Server, copied, serving
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
    folder = copied(prepared, tmp_path_factory.mktemp("elsewhere"))
    settings = Settings(data=folder / "data", indexes=folder / "indexes")
    before = build(settings)
    (sample,) = before.works.summaries()
    request = SearchRequest(work_id=sample.id, claim_text=EARLIER, retrievers=("dense-relic", "bm25"))
    search = before.history.keep(request).id
    before.snapshots.keep(search, before.search.run(request))
    model = str(make_base(folder / "model", positions=256))
    now = build(Settings(data=settings.data, indexes=settings.indexes, trained=model))
    now.indexes.build(sample.id, ["dense-relic"], lambda *_: None)
    with serving(folder, RELIC_TRAINED=model) as running:
        yield running, search


def test_a_search_is_given_away_and_opened_on_another_machine(inspected, server, elsewhere):
    """The long address carries the search to another store, which says that another model answers there."""
    page, look = inspected
    opened(page, f"{server.url}/find")
    ask(page, CLAIM)
    page.locator(".st-key-find_share button").click()
    short, whole = (page.get_by_test_id("stCode").nth(number) for number in (0, 1))
    whole.wait_for()
    look("share")
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


def _what_moved_since_the_model_was_changed_is_told(page, look, there, search):
    opened(page, f"{there.url}/history")
    look("searches")
    page.locator(f"a[href*='q={search}'][href*='show=then']").click()
    page.wait_for_url(f"**/history?q={search}&show=then")
    page.locator(".relic-moved").first.wait_for()
    settled(page)
    expect(page.get_by_text(SAYS["trained anew"])).to_be_visible()
    moved = page.locator(".relic-moved-how").all_inner_texts()
    assert {"new"} <= set(moved)
    assert any(each.startswith(("gone", "↓", "↑")) for each in moved)
    expect(page.get_by_text("As it was.")).to_have_count(1)
    look("then")


def _it_stands_again_after_a_passage_was_read(page, search):
    page.get_by_role("link", name=SAYS["open"]).click()
    answered(page, "")
    page.reload()
    first = answered(page, "")
    for back in (page.go_back, page.get_by_role("link", name=SAYS["back to results"]).first.click):
        page.locator(".relic-card").get_by_role("link", name=SAYS["read in chapter"]).first.click()
        page.wait_for_url("**/read?**")
        page.get_by_role("link", name=SAYS["back to results"]).first.wait_for()
        settled(page)
        back()
        page.wait_for_url(f"**/find?q={search}")
        expect(claim_box(page)).to_have_value(EARLIER)
        page.locator(".relic-card").first.wait_for()
        settled(page)
        assert cards(page) == first


def _its_columns_are_compared_and_a_passage_is_read(page, look, search):
    page.locator(".st-key-find_share button").click()
    page.get_by_role("link", name=SAYS["compare"]).click()
    page.get_by_role("heading", name="By words alone").wait_for()
    page.locator(".relic-moved").first.wait_for()
    settled(page)
    look("compare")
    page.locator(".relic-moved-where a").first.click()
    page.wait_for_url(f"**/read?**q={search}**")


def _it_is_removed_and_put_back_by_keyboard_and_from_its_own_address(page, there, search):
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


def test_a_search_is_held_against_what_it_found_opened_compared_removed_and_put_back(inspected, elsewhere):
    """What moved since the model was changed is told; a search stands again after reading; removing is undone."""
    page, look = inspected
    there, search = elsewhere
    _what_moved_since_the_model_was_changed_is_told(page, look, there, search)
    _it_stands_again_after_a_passage_was_read(page, search)
    _its_columns_are_compared_and_a_passage_is_read(page, look, search)
    _it_is_removed_and_put_back_by_keyboard_and_from_its_own_address(page, there, search)
