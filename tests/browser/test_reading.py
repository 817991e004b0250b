"""The reading room: from a hit to its chapter and back, addresses that open again, and reading on."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.approved import says
from tests.browser.conftest import NARROW
from tests.browser.visiting import (
    ask,
    cards,
    focused,
    found_words,
    note_where_left,
    opened,
    settled,
    stands_where_left,
    view,
)

SAYS = says("read")

CLAIM = "Mapplebeck blames others for what he left undone"


def lit(page):
    """Return the names of the sentences that are lit, as the style sheet has them, once there are some."""
    page.wait_for_function("document.querySelector('.relic-read-light')?.textContent")
    style = page.locator(".relic-read-light").text_content()
    return re.findall(r"#(s-[\w-]+)", style.split("{")[0])


def words(page, names):
    return " ".join(" ".join(page.locator(f"#{name}").inner_text() for name in names).split())


def stands_in_view(page, name):
    """Wait until what has a name stands in the window, the whole of it."""
    page.wait_for_function(
        """name => {
            const box = document.getElementById(name)?.getBoundingClientRect();
            return box && box.top >= 0 && box.bottom <= innerHeight;
        }""",
        arg=name,
    )


def address(page):
    return {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()}


def chapter(page):
    return page.locator("#chapter-name").inner_text().split("\n")[-1]


def reading(page, url):
    """Open an address of the reading room and wait for its chapter."""
    opened(page, url)
    page.locator("article.relic-read-text").wait_for()
    page.wait_for_function("document.documentElement.dataset.relicReading === 'listening'")
    settled(page)


def scrolled(page, by):
    """Turn the wheel, and wait until the page has come to rest so far on."""
    before = page.evaluate("document.querySelector('.stMain').scrollTop")
    page.mouse.wheel(0, by)
    page.wait_for_function("top => Math.abs(document.querySelector('.stMain').scrollTop - top) < 2", arg=before + by)


def onward(page):
    return page.get_by_role("navigation", name="Where to go on").get_by_role("link", name="Next chapter")


def next_chapter(page, name, act):
    act()
    page.locator("#chapter-name", has_text=name).wait_for()
    settled(page)


@pytest.fixture(scope="module")
def sample(server):
    bench = server.bench()
    (work,) = bench.works.summaries()
    return bench.works.load(work.id)


@pytest.fixture
def room(server, sample):
    """The address of the sample in the reading room."""
    return f"{server.url}/read?work={sample.id}"


def _a_hit_is_read_in_its_chapter_and_the_same_results_stand_again(page, look, server):
    opened(page, f"{server.url}/read")
    look("choice")
    opened(page, f"{server.url}/find")
    ask(page, CLAIM)
    view(page, "By words")
    before = cards(page)
    results = address(page)
    assert {"q", "w", "m", "view"} <= results.keys()
    card = page.locator(".relic-card").nth(2)
    quoted = found_words(card)
    card.get_by_role("link", name=SAYS["read in chapter"]).click()
    page.wait_for_url("**/read?*")

    names = lit(page)
    settled(page)
    assert words(page, names) == quoted
    stands_in_view(page, names[0])
    assert page.evaluate("document.activeElement.id") == names[0], "where a screen reader goes on"
    style = page.locator(".relic-read-light").text_content()
    assert "The passage begins" in style
    assert "The passage ends" in style
    mark = "a.relic-read-mark[aria-label^='By words 3: ']"
    assert page.locator(f"{mark}:visible").count() == 1
    beside = page.evaluate(
        """([name, mark]) => document.querySelector(`article ${mark}`).getBoundingClientRect().top
            - document.getElementById(name).getClientRects()[0].top""",
        [names[0], mark],
    )
    assert abs(beside) < 15, "the mark stands on the line where its passage begins"
    assert page.locator(".relic-read-contents .relic-read-count").count() > 0
    look("from a hit")

    page.get_by_role("link", name=SAYS["back to results"]).click()
    page.wait_for_url("**/find?q=*")
    page.locator(".relic-card").first.wait_for()
    settled(page)
    assert (address(page), cards(page)) == (results, before)
    page.locator(".relic-card").nth(2).get_by_role("link", name="Cite", exact=True).click()
    page.wait_for_url("**/cite?*")
    page.get_by_role("link", name=SAYS["back to results"]).click()
    page.locator(".relic-card").first.wait_for()
    settled(page)
    assert (address(page), cards(page)) == (results, before)


def _results_stand_where_they_were_left(page):
    view(page, "Best evidence")
    for back in (page.go_back, page.get_by_role("link", name=SAYS["back to results"]).click):
        link = page.locator(".relic-card[id='hit-best-7']").get_by_role("link", name=SAYS["read in chapter"])
        link.scroll_into_view_if_needed()
        note_where_left(page)
        link.click()
        page.wait_for_url("**/read?*")
        assert page.evaluate("window.leftAt") > 200
        lit(page)
        settled(page)
        back()
        page.wait_for_url("**/find?q=*")
        focused(page, "it.closest('article')?.id", "hit-best-7")
        stands_where_left(page)
        settled(page)
        stands_where_left(page)


def _from_hit_to_hit_in_the_order_of_the_text(page):
    page.locator(".relic-card").get_by_role("link", name=SAYS["read in chapter"]).first.click()
    page.wait_for_url("**/read?*")
    seen = [lit(page)]
    for _ in range(2):
        follower = page.get_by_role("link", name=re.compile("^(Next|Previous) hit")).last
        was = page.url
        follower.click()
        page.wait_for_url(lambda url, was=was: url != was)
        settled(page)
        page.wait_for_function(
            "was => !document.querySelector('.relic-read-light').textContent.startsWith('#' + was + '{')",
            arg=seen[-1][0],
        )
        seen.append(lit(page))
        stands_in_view(page, seen[-1][0])
    assert len({names[0] for names in seen}) >= 2


def _the_contents_are_folded_where_there_is_no_room(page, look):
    contents = page.locator(".relic-read-contents")
    assert contents.evaluate("each => each.open"), "there is room"
    page.set_viewport_size({"width": NARROW, "height": 900})
    page.reload()
    lit(page)
    settled(page)
    assert not contents.evaluate("each => each.open")  # folded where there is no room
    contents.locator("summary").click()
    look("contents")


def test_from_a_hit_into_the_text_and_back(inspected, server):
    """A hit is lit and marked in its chapter, hits lead to each other, and results stand where they were left."""
    page, look = inspected
    _a_hit_is_read_in_its_chapter_and_the_same_results_stand_again(page, look, server)
    _results_stand_where_they_were_left(page)
    _from_hit_to_hit_in_the_order_of_the_text(page)
    _the_contents_are_folded_where_there_is_no_room(page, look)


def _a_sentence_chosen_is_in_the_address_and_lit_again_for_somebody_else(page, room, browser):
    reading(page, f"{room}&at=3")
    sentence = page.locator("#s-3-4-2")
    sentence.scroll_into_view_if_needed()
    article = page.locator("article").inner_html()
    top = sentence.bounding_box()["y"]
    sentence.click()
    assert lit(page) == ["s-3-4-2"]
    assert address(page)["at"] == "3.4.2"
    assert sentence.bounding_box()["y"] == top, "nothing moves"
    assert page.locator("article").inner_html() == article

    page.locator("#s-3-5-1").click(modifiers=["Shift"])
    chosen = lit(page)
    assert chosen[0] == "s-3-4-2"
    assert chosen[-1] == "s-3-5-1"
    assert address(page)["n"] == str(len(chosen))
    expect(page.get_by_role("status").filter(has_text="paragraph 4")).to_contain_text(f"{len(chosen)} sentences")

    other = browser.new_context(viewport={"width": 1280, "height": 900})
    colleague = other.new_page()
    reading(colleague, page.url)
    assert lit(colleague) == chosen
    stands_in_view(colleague, chosen[0])
    other.close()


def _what_the_reader_selects_or_marks_by_keyboard_is_lit(page):
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"at=3(&|$)"))
    page.evaluate(
        """() => {
            const [one, other] = ["s-3-4-1", "s-3-4-2"].map(name => document.getElementById(name).firstChild);
            getSelection().setBaseAndExtent(one, 3, other, 5);
        }"""
    )
    page.wait_for_url("**at=3.4.1*n=2*")
    assert lit(page) == ["s-3-4-1", "s-3-4-2"]

    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"at=3(&|$)"))
    page.locator("#p-3-1 .relic-read-n").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert lit(page) == ["s-3-3-1"]
    assert page.evaluate("document.activeElement.textContent") == "3"
    page.get_by_role("button", name="One sentence more").press("Enter")
    assert len(lit(page)) == 2
    page.get_by_role("button", name=SAYS["mark next"]).press("Enter")
    assert lit(page)[0] != "s-3-3-1"
    page.keyboard.press("Escape")
    assert address(page)["at"] == "3"
    expect(page.locator(".relic-read-bar")).to_be_hidden()


def _the_skip_link_leads_to_the_passage(page, room):
    reading(page, f"{room}&at=5.3.1")
    lit(page)
    skip = page.get_by_role("link", name="Skip to the passage")
    skip.focus()
    page.keyboard.press("Enter")
    settled(page)
    stands_in_view(page, "s-5-3-1")


def _the_address_and_the_words_are_copied(page, room, server, sample):
    reading(page, f"{room}&at=3.4.2&n=2")
    names = lit(page)
    work = f"{sample.author}, {sample.title} ({sample.year})"
    words_copied = f"“{words(page, names)}” ({work}, {sample.chapter_name(2)}, paragraph 4)"
    address_copied = f"{room}&at=3.4.2&n=2&w={sample.fingerprint[:8]}"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    for allowed in (True, False):
        if not allowed:  # after the last words are gone from the clipboard
            page.evaluate("navigator.clipboard.writeText('')")
            page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
        for button, text in (("Copy address", address_copied), ("Copy words", words_copied)):
            page.get_by_role("button", name=button).click()
            page.get_by_role("status").filter(has_text="Copied").wait_for()
            page.wait_for_function("async text => await navigator.clipboard.readText() === text", arg=text)


def test_what_is_chosen_in_the_text_has_an_address(page, room, browser, server, sample):
    """What is clicked, selected or marked by keyboard is lit, in the address and for others, and can be copied."""
    _a_sentence_chosen_is_in_the_address_and_lit_again_for_somebody_else(page, room, browser)
    _what_the_reader_selects_or_marks_by_keyboard_is_lit(page)
    _the_skip_link_leads_to_the_passage(page, room)
    _the_address_and_the_words_are_copied(page, room, server, sample)


def _chapters_follow_each_other_by_link_by_key_and_by_the_browsers_back(page, room):
    reading(page, f"{room}&at=2")
    page.locator("article").evaluate("article => article.lastElementChild.scrollIntoView()")
    next_chapter(page, "Chapter III", onward(page).click)
    assert address(page)["at"] == "3"
    page.wait_for_function("document.activeElement.id === 'chapter-name'")
    stands_in_view(page, "chapter-name")  # a chapter is begun at its beginning
    next_chapter(page, "Chapter IV", lambda: page.keyboard.press("ArrowRight"))
    next_chapter(page, "Chapter III", lambda: page.keyboard.press("ArrowLeft"))
    next_chapter(page, "Chapter IV", page.go_back)
    entry = page.get_by_role("navigation", name="Contents").get_by_role("link", name="Chapter IX", exact=False).first
    next_chapter(page, "Chapter IX", entry.click)
    assert page.locator(".relic-read-contents [aria-current]").inner_text().startswith("Chapter IX")


def _keys_are_not_taken_from_one_who_types_or_selects(page, room):
    reading(page, f"{room}&at=2")
    page.evaluate("document.querySelector('.stMain').insertAdjacentHTML('beforeend', '<input id=typing>')")
    page.locator("#typing").focus()
    page.keyboard.press("ArrowRight")
    page.locator("h1").click()
    page.keyboard.press("Control+ArrowRight")
    page.get_by_test_id("stMainMenu").get_by_role("button").first.click()
    menu = page.get_by_test_id("stMainMenuPopover")
    menu.wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert address(page)["at"] == "2"
    page.locator("#s-2-1-1").click(position={"x": 5, "y": 5})
    page.wait_for_url(re.compile(r"at=2\.1\.1(&|$)"))
    next_chapter(page, "Chapter III", lambda: page.keyboard.press("ArrowRight"))


def _one_press_held_and_two_clicks_are_one_step(page, room):
    reading(page, f"{room}&at=2")
    held = page.evaluate("history.length")
    page.keyboard.down("ArrowRight")
    page.keyboard.down("ArrowRight")  # with `repeat`, as while a key is held
    page.keyboard.up("ArrowRight")
    page.locator("#chapter-name", has_text="Chapter III").wait_for()
    settled(page)
    assert page.evaluate("history.length") == held + 1
    next_chapter(page, "Chapter IV", onward(page).dblclick)
    assert page.evaluate("history.length") == held + 2
    next_chapter(page, "Chapter III", page.go_back)


def _back_shows_each_chapter_where_it_was_left(page, room):
    reading(page, f"{room}&at=2")
    left = []
    for name in ("Chapter III", "Chapter IV"):
        page.mouse.move(700, 400)
        scrolled(page, 400 if left else 900)
        number = 3 if left else 2
        left.append((number, page.locator(f"#p-{number}-4").bounding_box()["y"]))
        next_chapter(page, name, lambda: onward(page).evaluate("link => link.click()"))
    for number, y in reversed(left):
        page.go_back()
        page.wait_for_function(
            "([id, top]) => Math.abs((document.getElementById(id)?.getBoundingClientRect().top ?? 1e9) - top) < 2",
            arg=[f"p-{number}-4", y],
        )


def _the_place_is_kept_within_a_visit(page, room):
    reading(page, f"{room}&at=3")
    page.locator("#p-3-12").scroll_into_view_if_needed()
    page.mouse.move(700, 400)
    scrolled(page, 300)
    top = page.locator("#p-3-14").bounding_box()["y"]
    page.get_by_role("link", name="Library").click()
    page.get_by_role("heading", level=1, name="Library").wait_for()
    assert urlsplit(page.url).query == ""  # another page has an address of its own
    page.get_by_role("link", name="Read", exact=True).click()
    page.locator("#p-3-14").wait_for()
    page.wait_for_function(
        "top => Math.abs(document.getElementById('p-3-14').getBoundingClientRect().top - top) < 2", arg=top
    )
    page.wait_for_url(re.compile(r"[?&]at=3(&|$)"))


def _a_new_visit_is_offered_the_place_and_not_taken_to_it(page, room):
    reading(page, f"{room}&at=9.4.1")
    lit(page)
    page.wait_for_function("localStorage.getItem('relic-read')")
    reading(page, room)
    assert chapter(page).startswith("Chapter I:")
    offer = page.get_by_role("link", name="Continue at Chapter IX")
    expect(offer).to_be_visible()
    next_chapter(page, "Chapter IX", offer.click)
    assert address(page)["at"].startswith("9.")


def test_reading_on_by_link_key_and_back(page, room):
    """Each step is one step, back shows a chapter where it was left, and a new visit is offered the place."""
    _chapters_follow_each_other_by_link_by_key_and_by_the_browsers_back(page, room)
    _keys_are_not_taken_from_one_who_types_or_selects(page, room)
    _one_press_held_and_two_clicks_are_one_step(page, room)
    _back_shows_each_chapter_where_it_was_left(page, room)
    _the_place_is_kept_within_a_visit(page, room)
    _a_new_visit_is_offered_the_place_and_not_taken_to_it(page, room)
