"""Recall, in a real browser: from a mark to the failures and on to the text; addresses; the look by day and night."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from tests.approved import says
from tests.browser.visiting import focused, opened, settled
from tests.making_runs import book_of, make_books, make_outcomes, make_run, outcomes_in

SAYS = says("recall")

BENCHMARK = "by-hand"
RETRIEVERS = (("bm25", 1.2), ("zero-shot", 1.6), ("fusion", 2.0))


@pytest.fixture(scope="module")
def measured(server) -> SimpleNamespace:
    """Return three runs on twelve works, of which one is in the library that is served."""
    bench = server.bench()
    (summary,) = bench.works.summaries()
    work = bench.works.load(summary.id)
    books = (*make_books(11), book_of(work, "averhythe"))
    runs = []
    for seed, (retriever, skill) in enumerate(RETRIEVERS):
        here = outcomes_in(work, "averhythe", [1, 30 + seed, 4, 200, None, 12, 9, 77], length=2)
        outcomes = (*make_outcomes(books[:-1], seed=seed, skill=skill), *here)
        for shape in ("4/4", "1/1"):
            run = make_run(books, outcomes, retriever=retriever, benchmark=BENCHMARK, shape=shape)
            bench.store.runs.add(run, outcomes)
            runs += [run] if shape == "4/4" else []
    return SimpleNamespace(url=server.url, runs=runs, work=work)


def query(measured, **asked):
    """Return an address with all three runs."""
    ids = ",".join(run.id for run in measured.runs)
    given = {"benchmark": BENCHMARK, "runs": ids, "metric": "recall@10", "view": "books", "least": "1", **asked}
    return f"{measured.url}/recall?" + "&".join(f"{name}={value}" for name, value in given.items())


def charted(page, url):
    opened(page, url)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(page)


def marks(page, series):
    return page.locator(".js-plotly-plot .scatterlayer .trace").nth(series).locator(".point")


def click_mark(page, mark):
    """Click a mark of the chart: Plotly listens above its marks, so the mouse itself goes there, once all rests."""
    hovered = page.locator(".js-plotly-plot .hoverlayer .hovertext")
    for _ in range(40):
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x - 3, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(250)
        if hovered.count() and mark.bounding_box() == box:
            page.mouse.click(x, y)
            return
    pytest.fail("No words appeared over the mark.")


def cases(page):
    return page.locator("article.relic-recall-case")


def keys(page):
    """Return the keys of the works in the chart, from above."""
    return page.evaluate("document.querySelector('.js-plotly-plot').layout.yaxis.categoryarray")


def place(page, heading):
    """Return how far below the beginning of the page a heading stands."""
    return heading.bounding_box()["y"] + page.evaluate("document.querySelector('.stMain').scrollTop")


def _another_mark_and_the_same_again_lead_where_they_say(page, measured):
    charted(page, query(measured))
    for row in (2, 5, 2):
        click_mark(page, marks(page, 1).nth(row))
        page.wait_for_url(f"**book={keys(page)[row]}**")
        expect(page.locator(".js-plotly-plot .shapelayer path[style*='224, 164, 0']")).to_have_count(1)
        settled(page)


def _a_mark_leads_to_the_failures_and_a_second_click_into_the_text(page, measured):
    charted(page, query(measured))
    click_mark(page, marks(page, 0).nth(keys(page).index("averhythe")))
    page.wait_for_url("**book=averhythe**")
    expect(cases(page)).to_have_count(5)
    focused(page, "it.id", "recall-examples")
    expect(page.get_by_role("heading", name=SAYS["examples"])).to_be_in_viewport()
    expect(page.get_by_role("combobox", name="Work")).to_have_value(SAYS["sample"])
    page.get_by_text(SAYS["all missed"]).wait_for()

    address = page.url
    case = page.locator("#case-averhythe-3")
    expect(case).to_contain_text(SAYS["rank two hundred"])
    link = case.locator("a[href*='read?work=']").first
    sentence = measured.work.address(3)
    assert f"at={sentence}&n=2" in link.get_attribute("href")
    link.click()
    page.wait_for_url(f"**/read?work={measured.work.id}&at={sentence}&n=2")
    page.locator("article.relic-read-text").wait_for()

    page.go_back()
    page.wait_for_url(address)
    expect(cases(page)).to_have_count(5)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(page)
    page.go_back()
    page.wait_for_url(lambda url: "book=" not in url)
    expect(cases(page)).to_have_count(0)


def _a_keyboard_reaches_the_failures(page):
    box = page.get_by_role("combobox", name="Work")
    box.focus()
    page.keyboard.type("High")
    page.keyboard.press("Enter")
    page.wait_for_url("**book=averhythe**")
    expect(cases(page)).to_have_count(5)


def _nothing_moves_when_a_mark_is_chosen_and_examples_are_paged(page, measured):
    for view in ("books", "lengths"):
        charted(page, query(measured, view=view, show="all"))
        below = page.get_by_role("heading", name=SAYS["examples"])
        before = place(page, below)
        click_mark(page, marks(page, 0).nth(1))
        cases(page).first.wait_for()
        settled(page)
        assert abs(place(page, below) - before) < 3

    first = cases(page).first.get_attribute("id")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Next").click()
    page.wait_for_url("**page=2**")
    page.get_by_text("Page 2 of").wait_for()
    focused(page, "it.id", "recall-examples")
    assert cases(page).first.get_attribute("id") != first
    page.go_back()
    page.get_by_text("Page 1 of").wait_for()
    assert cases(page).first.get_attribute("id") == first


def test_from_a_mark_to_the_failures_and_into_the_text(page, measured):
    """A mark leads to its failures, by mouse or by keyboard, moves nothing, and back undoes each choice."""
    _another_mark_and_the_same_again_lead_where_they_say(page, measured)
    _a_mark_leads_to_the_failures_and_a_second_click_into_the_text(page, measured)
    _a_keyboard_reaches_the_failures(page)
    _nothing_moves_when_a_mark_is_chosen_and_examples_are_paged(page, measured)


def test_the_address_the_files_and_every_view_are_sound(inspected, measured):
    """Figures and image are saved without a network; an address shows the same to another visitor; back leads back."""
    page, look = inspected
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    charted(page, query(measured))
    with page.expect_download() as saved:
        page.get_by_role("button", name=SAYS["save CSV"]).click()
    assert saved.value.suggested_filename == f"{BENCHMARK} recall-10 books.csv"
    table = list(csv.DictReader(io.StringIO(saved.value.path().read_text("utf-8-sig"))))
    assert len(table) == 12 * len(RETRIEVERS)
    with page.expect_download() as image:
        page.locator(".modebar-btn[data-title*='PNG']").click()
    assert image.value.suggested_filename == f"{BENCHMARK} recall-10 books.png"
    assert asked
    assert [url for url in asked if not url.startswith((measured.url, "ws://localhost", "data:", "blob:"))] == []

    page.get_by_role("combobox", name="Seen by").focus()
    page.keyboard.type("Over")
    page.keyboard.press("Enter")
    page.wait_for_url("**view=curve**")
    page.get_by_role("heading", name="Recall@k over k").wait_for()
    settled(page)
    with page.context.browser.new_context() as other:
        visitor = other.new_page()
        charted(visitor, page.url)
        expect(visitor.get_by_role("heading", name="Recall@k over k")).to_be_visible()
        expect(visitor.locator(".js-plotly-plot .legendtext")).to_have_text(["BM25", "Dense, zero-shot", "Combined"])
    page.go_back()
    page.wait_for_url("**view=books**")
    expect(page.get_by_role("heading", name=SAYS["ten by work"])).to_be_visible()

    for chosen in (
        {"book": "averhythe"},
        {"view": "lengths", "beside": "1", "length": "2"},
        {"view": "curve", "k": "10"},
        {"view": "table"},
    ):  # the other views are drawn by the same code
        if chosen.get("view") == "table":
            opened(page, query(measured, **chosen))
        else:
            charted(page, query(measured, **chosen))
        page.evaluate("document.querySelectorAll('.relic-recall-fold').forEach(fold => { fold.open = true })")
        look(str(chosen))
