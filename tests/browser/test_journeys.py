"""What a scholar does, from the first minute on, in a real browser."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.domain import LENGTHS, Span
from relic_core.library import sample
from relic_core.text.reading import read_work
from relic_core.wiring import build
from tests.approved import says
from tests.browser.visiting import answered, ask, cards, claim_box, edit, found_words, opened, settled, view

SAYS = says("find")

EXAMPLE = "The brass bolt stands for a false certainty"
CLAIM = "Mapplebeck blames others for what he left undone"
WORDS_OF_THE_WORK = "remarked that it was nice to see a good solid bit of brass"
PASSAGE = (
    f"The officer from London {WORDS_OF_THE_WORK}. He trusts what shines, and the whole coast is surveyed from it."
)
COLUMNS = ["By a second model · Reranked", "By meaning · dense-RELiC", "By words · BM25"]
JOB_MS = 240_000
PLACES = """() => {
    const all = [...document.querySelectorAll(".relic-card, .relic-card :is(button, summary, a[href^='cite'])")]
    const top = all[0].getBoundingClientRect().top
    return all.map(each => each.getBoundingClientRect()).map(({ x, y, width, height }) =>
        [x, y - top, width, height].map(Math.round))
}"""
"""Where cards and what can be done with them stand, from the first card on."""


@pytest.fixture
def visitor(page):
    """A visitor's tab whose context, other tabs included, may ask this machine alone."""
    asked = set()

    def note(request):
        asked.add(urlsplit(request.url))

    page.context.on("request", note)
    page.on("websocket", note)
    yield page
    page.context.remove_listener("request", note)
    assert {url.hostname for url in asked if url.scheme not in {"data", "blob"}} == {"localhost"}


def headings(page):
    return page.locator(".relic-column h2").all_inner_texts()


def ends_of_first_quotations(page):
    """Tell for each list where on the screen its first quotation ends: in full, or the line of one shown before."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[data-testid="stColumn"], .st-key-find_best, .st-key-find_one')]
            .map(list => list.querySelector("article"))
            .filter(article => article && article.getBoundingClientRect().left + 50 < innerWidth)
            .map(article => [...article.querySelectorAll("blockquote")].find(each => each.checkVisibility()) ?? article)
            .map(quotation => quotation.getBoundingClientRect().bottom)"""
    )


# ---- the first minute ---------------------------------------------------------------------------------------------


def test_a_deep_link_is_the_first_thing_a_new_server_is_asked(visitor, cold_server):
    opened(visitor, f"{cold_server.url}/find")
    assert visitor.title() == SAYS["page title"]
    menu = visitor.get_by_test_id("stSidebar").get_by_test_id("stPageLink-NavLink").filter(visible=True)
    named = [text.split()[-1] for text in menu.all_inner_texts()]
    assert named == [
        "Find",
        "Read",
        "draft",
        "Notebook",
        "Criticism",
        "Echoes",
        "Library",
        "Help",
    ]
    visitor.get_by_role("link", name="Library").click()
    visitor.wait_for_url("**/library")
    visitor.get_by_role("heading", name="Library", level=1).wait_for()
    visitor.get_by_role("heading", name=SAYS["sample"], level=3).wait_for()


def test_the_keyboard_goes_on_from_the_claim_and_the_name_of_the_page_begins_anew(visitor, server):
    opened(visitor, f"{server.url}/find")
    ask(visitor, CLAIM)
    expect(visitor.locator('[class*="st-key-find_folded"] summary')).to_be_focused()
    asked = visitor.url
    visitor.get_by_test_id("stSidebar").get_by_role("link", name="Find", exact=True).click()
    visitor.wait_for_url(f"{server.url}/find")
    expect(claim_box(visitor)).to_have_value("")
    visitor.go_back()
    visitor.wait_for_url(asked)
    visitor.locator(".relic-card").first.wait_for()


def _one_click_from_home_brings_verbatim_quotations_side_by_side(visitor, server):
    opened(visitor, server.url)
    visitor.get_by_role("button", name=EXAMPLE).click()
    answered(visitor, server.url)
    expect(claim_box(visitor)).to_have_value(EXAMPLE)
    expect(visitor.get_by_text(f"“{EXAMPLE}”")).to_be_visible()
    expect(claim_box(visitor)).to_be_hidden()
    assert headings(visitor) == COLUMNS
    lefts = [box.bounding_box() for box in visitor.locator(".relic-column").all()]
    assert lefts[0]["y"] == lefts[1]["y"] == lefts[2]["y"]
    assert lefts[0]["x"] < lefts[1]["x"] < lefts[2]["x"]

    work = read_work(sample.NOVEL.read_bytes(), name=sample.NOVEL.name)
    spans = {
        " ".join(work.span_text(Span(n, length)).split()).replace("_", "")
        for length in LENGTHS
        for n in range(work.candidates(length))
    }
    quotations = [found_words(card) for card in visitor.locator(".relic-card").all()]
    assert len(quotations) == 15
    assert set(quotations) <= spans


def _the_first_quotations_stand_on_the_first_screen(visitor, server):
    """Side by side on a desk, and the first list in a window as narrow as a phone."""
    assert len(ends_of_first_quotations(visitor)) == 3
    assert max(ends_of_first_quotations(visitor)) < 900
    visitor.set_viewport_size({"width": 400, "height": 850})
    for name in ("Side by side", "Best evidence", "By words"):
        view(visitor, name)
        (end,) = ends_of_first_quotations(visitor)
        assert end < 850
        track = visitor.locator(".relic-track").bounding_box()
        assert track["height"] <= 62
    assert visitor.evaluate("document.querySelector('.stMainBlockContainer').scrollHeight") < 3000
    view(visitor, "Best evidence")
    _what_can_be_done_stays_where_it_is_when_a_passage_is_kept(visitor)
    visitor.set_viewport_size({"width": 1280, "height": 900})
    visitor.wait_for_url("**view=best**")  # another view opens in a window so wide
    settled(visitor)
    _what_can_be_done_stays_where_it_is_when_a_passage_is_kept(visitor)
    numbers = [
        text for text in visitor.locator(".relic-rank").all_inner_texts() if text
    ]  # but those that are folded away
    assert [text.split()[-1] for text in numbers] == [str(number + 1) for number in range(len(numbers))]
    visitor.reload()
    answered(visitor, "")
    expect(visitor.locator(".st-key-find_best")).to_be_visible()


def _what_can_be_done_stays_where_it_is_when_a_passage_is_kept(visitor):
    keep = visitor.locator(".relic-card button").first
    for pressed in ("true", "false"):
        before = visitor.evaluate(PLACES)
        keep.click()
        expect(keep).to_have_attribute("aria-pressed", pressed)
        settled(visitor)
        assert visitor.evaluate(PLACES) == before


# ---- asking, and coming back --------------------------------------------------------------------------------------


def _the_address_brings_the_search_back(visitor, server, browser):
    opened(visitor, f"{server.url}/find")
    first = ask(visitor, CLAIM)
    quoted = visitor.locator(".relic-card blockquote p").first
    words = quoted.inner_text()
    address = visitor.url
    second = ask(visitor, "The sea keeps its own accounts")
    assert second != first

    visitor.reload()
    answered(visitor, "")
    expect(claim_box(visitor)).to_have_value("The sea keeps its own accounts")
    assert cards(visitor) == second

    visitor.go_back()
    visitor.wait_for_url(address)
    visitor.wait_for_function("([box, text]) => document.querySelector(box)?.value === text", arg=["textarea", CLAIM])
    expect(quoted).to_have_text(words)
    settled(visitor)
    assert cards(visitor) == first

    other = browser.new_context()
    colleague = other.new_page()
    colleague.goto(address)
    assert answered(colleague, "") == first
    expect(claim_box(colleague)).to_have_value(CLAIM)
    other.close()


def _back_from_the_first_search_leads_to_an_empty_form(visitor, server):
    opened(visitor, f"{server.url}/find")
    ask(visitor, CLAIM)
    visitor.go_back()
    visitor.wait_for_url(f"{server.url}/find")
    visitor.wait_for_function("document.querySelector('textarea')?.value === ''")
    visitor.locator(".relic-card").first.wait_for(state="detached")


def _another_page_and_back_keeps_the_search(visitor, server):
    opened(visitor, f"{server.url}/find")
    first = ask(visitor, CLAIM)
    visitor.get_by_role("link", name="Library").click()
    visitor.wait_for_url("**/library")
    visitor.get_by_role("heading", name="Library", level=1).wait_for()
    visitor.get_by_role("link", name=SAYS["find page"], exact=True).click()
    assert answered(visitor, "") == first


# ---- reading the answer -------------------------------------------------------------------------------------------


def in_view(page, name):
    """Whether a card stands in the window, and is the one set apart."""
    return page.evaluate(
        """name => {
            const box = document.getElementById(name).getBoundingClientRect();
            return document.querySelector(".relic-card:target")?.id === name && box.top >= 0 && box.top < innerHeight;
        }""",
        name,
    )


def _a_dot_of_the_strip_leads_to_its_card_by_mouse_and_by_keyboard(visitor, server):
    opened(visitor, f"{server.url}/find")
    before = ask(visitor, CLAIM)
    dots = visitor.get_by_role("navigation", name="Where in the work").get_by_role("link")
    for press, number in (
        (lambda dot: dot.click(), dots.count() - 1),
        (lambda dot: visitor.keyboard.press("Enter"), 4),
    ):
        dots.nth(number - 1).focus()
        visitor.keyboard.press("Tab")
        name = dots.nth(number).get_attribute("href").removeprefix("#")
        assert visitor.evaluate("document.activeElement.getAttribute('href')") == f"#{name}"
        press(dots.nth(number))
        visitor.wait_for_function("name => location.hash === '#' + name", arg=name)
        settled(visitor)
        assert in_view(visitor, name)
    assert cards(visitor) == before


def _the_surroundings_open_by_keyboard(visitor, server):
    opened(visitor, f"{server.url}/find")
    ask(visitor, CLAIM)
    card = visitor.locator(".relic-card").first
    around = card.locator(".relic-around").first
    assert not around.is_visible()
    card.get_by_text("Show context").focus()
    visitor.keyboard.press("Enter")
    around.wait_for()
    asked_for = " ".join("".join(around.locator(".relic-gold").all_text_contents()).split())
    assert asked_for == found_words(card)
    assert len(around.inner_text()) > len(asked_for)


# ---- a gap --------------------------------------------------------------------------------------------------------


def _selected_words_give_way_to_a_gap(visitor, server):
    opened(visitor, f"{server.url}/find")
    text = "He says that nobody asked him, and it is false."
    claim_box(visitor).fill(text)
    start = text.index("nobody")
    claim_box(visitor).evaluate("(box, ends) => box.setSelectionRange(...ends)", [start, text.index(",")])
    visitor.get_by_test_id("stPopoverButton").filter(has_text="Options").click()
    visitor.get_by_role("button", name="Insert a gap").click()
    expect(claim_box(visitor)).to_have_value("He says that ____, and it is false.")
    visitor.keyboard.press("Escape")
    assert "q=" not in visitor.url, "nothing was asked for yet"
    visitor.get_by_role("button", name="Find", exact=True).click()
    answered(visitor, f"{server.url}/find")


def _a_passage_pasted_whole_gets_a_gap_on_offer(visitor, server):
    opened(visitor, f"{server.url}/find")
    before = ask(visitor, PASSAGE)
    address = visitor.url
    expect(visitor.locator(".relic-why", has_text=SAYS["card quoted"])).not_to_have_count(0)
    visitor.get_by_role("button", name=SAYS["mask and search"]).click()
    after = answered(visitor, address)
    expect(claim_box(visitor)).to_have_value(PASSAGE.replace(f"{WORDS_OF_THE_WORK}.", "____"))
    assert after != before
    expect(visitor.locator(".relic-why", has_text=SAYS["card quoted"])).to_have_count(0)


# ---- for everybody ------------------------------------------------------------------------------------------------


def test_every_page_is_sound_for_axe_and_needs_no_scrolling_sideways(inspected, server, library_server):
    page, look = inspected
    for name in ("", "find"):
        opened(page, f"{server.url}/{name}")
        look(name)
    page.get_by_role("button", name=EXAMPLE).click()  # and the mouse stays there
    answered(page, page.url.split("?")[0])
    page.locator(".relic-card summary").first.click()
    look("answer")
    ask(page, PASSAGE)
    look("notice")
    page.locator(".st-key-find_side .relic-card").first.wait_for()  # drawn anew, the window being wide again
    settled(page)
    notice = page.url
    page.get_by_text("Why this?").first.click()
    page.get_by_role("link", name=SAYS["more like"]).first.click()
    page.get_by_role("figure").wait_for()
    answered(page, notice)
    page.get_by_text("Edit", exact=True).click()
    page.get_by_test_id("stPopoverButton").filter(has_text="Options").click()
    page.get_by_text("From … to …").click()
    page.get_by_role("combobox", name="From").wait_for()
    settled(page)
    look(SAYS["chapters look"])
    opened(page, f"{library_server.url}/find")
    works = page.get_by_role("combobox", name="Work")
    works.click()
    works.fill("All works")
    works.press("Enter")
    settled(page)
    ask(page, CLAIM)
    look("all works")
    view(page, "Best evidence")
    page.get_by_text("Why this?").first.click()
    look("best evidence")
    page.get_by_text("Edit", exact=True).click()
    page.get_by_test_id("stPopoverButton").filter(has_text="Options").click()
    page.get_by_role("combobox", name="Authors").wait_for()
    look("narrowing")


# ---- long work ----------------------------------------------------------------------------------------------------


def test_a_text_is_prepared_although_the_tab_is_closed(visitor, fresh_server, tmp_path):
    chapters = (
        f"CHAPTER {number}\n\n"
        + "\n\n".join(
            f"The lantern of house {house} in street {number} was lit by nobody. Who had counted it? "
            f"The ferryman said that number {house * number} had gone across the river to look for its owner."
            for house in range(1, 21)
        )
        for number in range(1, 9)
    )
    text = tmp_path / "lanterns.txt"
    text.write_text("Lanterns\n\n" + "\n\n".join(chapters))

    tab = visitor.context.new_page()
    opened(tab, f"{fresh_server.url}/library?part=Add")
    tab.locator(".st-key-library-adding").get_by_role("tab", name="By path").click()
    path = tab.get_by_role("textbox", name="Path of a file")
    path.fill(str(tmp_path / "missing.txt"))
    path.press("Enter")
    tab.get_by_role("alert").filter(has_text="There is no file").wait_for(timeout=JOB_MS)

    path.fill(str(text))
    path.press("Enter")
    tab.get_by_text(SAYS["Lanterns added"]).first.wait_for(timeout=JOB_MS)
    bench = build(Settings(data=tmp_path / "own" / "data", indexes=tmp_path / "own" / "indexes"))
    tab.close()
    (job,) = [job for job in bench.jobs.recent() if job.kind == "index"]  # under way; on a quick machine done
    assert bench.jobs.wait(job.id, timeout=JOB_MS / 1000).state == "done"

    opened(visitor, f"{fresh_server.url}/library")
    visitor.get_by_role("link", name="Find in it: Lanterns").click()
    claim_box(visitor).wait_for()
    ask(visitor, "Nobody feels responsible for the lights")
    assert headings(visitor) == COLUMNS
    assert visitor.locator(".relic-card[id^='hit-dense-relic']").count() == 5


def test_what_is_typed_after_a_refused_claim_and_a_walk_to_the_library_is_kept(page, server):
    opened(page, f"{server.url}/find")
    ask(page, SAYS["claim"])
    edit(page)
    claim_box(page).fill("Латунный болт")
    claim_box(page).press("Control+Enter")
    page.get_by_text("Cyrillic letters").wait_for()
    assert "q=" not in page.url, "an address that names another search than the one on the page"
    page.get_by_role("link", name="Library").click()
    page.get_by_role("heading", level=1, name="Library").wait_for()
    page.get_by_role("link", name=SAYS["find page"], exact=True).click()
    claim_box(page).wait_for()
    settled(page)
    assert ask(page, SAYS["other claim"])
    expect(claim_box(page)).to_have_value(SAYS["other claim"])


# ---- journeys: the steps above, in one visit ----------------------------------------------------------------------


def test_the_first_claim_its_address_and_the_way_back(visitor, server, browser):
    _one_click_from_home_brings_verbatim_quotations_side_by_side(visitor, server)
    _the_first_quotations_stand_on_the_first_screen(visitor, server)
    _the_address_brings_the_search_back(visitor, server, browser)
    _back_from_the_first_search_leads_to_an_empty_form(visitor, server)
    _another_page_and_back_keeps_the_search(visitor, server)


def test_reading_the_answer_and_leaving_a_gap(visitor, server):
    _a_dot_of_the_strip_leads_to_its_card_by_mouse_and_by_keyboard(visitor, server)
    _the_surroundings_open_by_keyboard(visitor, server)
    _selected_words_give_way_to_a_gap(visitor, server)
    _a_passage_pasted_whole_gets_a_gap_on_offer(visitor, server)
