"""The missing quotation, in a real browser: by keyboard alone, by several at once, and after an interruption."""

from __future__ import annotations

import re
from types import SimpleNamespace
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from relic_core.domain.studies import StudyRequest
from tests.approved import says
from tests.browser.serving import serving
from tests.browser.visiting import focused, opened, settled, tab_to

SAYS = says("proxy_task")

PATIENCE = 60_000
"""Milliseconds that a page may take on a machine that does other things as well."""


@pytest.fixture(scope="module")
def studied(server) -> SimpleNamespace:
    """Return the study of the sample, with where it is answered."""
    bench = server.bench()
    study = bench.studies.get(bench.studies.all()[-1].id).study
    return SimpleNamespace(
        url=server.url, bench=bench, study=study, folder=server.folder, of=len(study.items),
        address=f"{server.url}/proxy_task?study={study.id}",
    )  # fmt: skip


def somebody(name):
    """Make a name that nobody has yet: a journey that is made once more must not find the answers of the first."""
    return f"{name} {uuid4().hex[:6]}"


def begin(page, address, name):
    opened(page, address)
    box = page.get_by_role("textbox", name="Your name, or a code")
    box.fill(name)
    page.get_by_text(SAYS["agreement"]).click()
    page.get_by_role("button", name="Begin").click()


def item_shown(page, number, of):
    expect(page.get_by_role("heading", level=2, name=f"Item {number} of {of}", exact=True)).to_be_visible(
        timeout=PATIENCE
    )


def press(page, key, number, of):
    """Press a key, and wait for the item that it leads to."""
    page.wait_for_timeout(400)  # what is pressed in the moment an item comes is taken for a double click
    page.keyboard.press(key)
    item_shown(page, number, of)


def answers(studied, name):
    annotator = studied.bench.answering.join(studied.study.id, name)
    return {each.item.id: each.answer for each in studied.bench.answering.answered(studied.study.id, annotator.id)}


def chosen(studied, name):
    """Give the choices of somebody, the last answered first."""
    return [answer.choice for answer in answers(studied, name).values()]


def anew(browser, width=1280):
    """Open a browser that remembers nobody."""
    return browser.new_context(viewport={"width": width, "height": 900}).new_page()


def test_the_keyboard_alone_leads_from_the_first_visit_to_the_last_item(page, studied):
    """Every item is announced, every answer saved with its time, and an item that was answered can be gone back to."""
    name = somebody("keys")
    opened(page, f"{studied.url}/proxy_task")
    tab_to(page, page.get_by_role("link", name=f"Take part: {studied.study.label}").first)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("textbox", name="Your name, or a code").first)
    page.keyboard.type(name)
    tab_to(page, page.get_by_role("checkbox", name=SAYS["agreement"]).first)
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Begin").first)
    page.keyboard.press("Enter")
    item_shown(page, 1, studied.of)
    focused(page, "it.textContent", f"Item 1 of {studied.of}")
    shown = page.locator("button[data-choice='2'] .relic-proxy-words").inner_text().split()
    tab_to(page, page.get_by_role("button", name=re.compile(rf"^Passage 2\s+{re.escape(shown[0])}")).first)
    page.keyboard.press("Enter")
    item_shown(page, 2, studied.of)
    assert chosen(studied, name) == [2]
    for number in range(3, studied.of + 1):
        press(page, "1230c"[number % 5], number, studied.of)
        focused(page, "it.textContent", f"Item {number} of {studied.of}")
        expect(page.get_by_role("status").filter(has_text="Saved.")).to_have_count(1, timeout=PATIENCE)
    press(page, "b", studied.of - 1, studied.of)
    press(page, "n", studied.of, studied.of)
    page.wait_for_timeout(400)
    page.keyboard.press("1")
    page.get_by_role("heading", name="Thank you").wait_for()
    focused(page, "it.id", "proxy-end")
    kept = answers(studied, name)
    assert len(kept) == studied.of
    assert {answer.choice for answer in kept.values()} == {0, 1, 2, 3}
    assert all(0 < answer.seconds < 120 for answer in kept.values())


def _nothing_is_chosen_by_a_word_that_is_written_a_key_turned_off_or_a_double_click(page, look, studied, name):
    page.set_default_timeout(PATIENCE)
    opened(page, f"{studied.url}/proxy_task")
    look("studies")
    opened(page, studied.address)
    look(SAYS["first look"])
    begin(page, studied.address, name)
    item_shown(page, 1, studied.of)
    page.get_by_text("Add a comment").click()
    page.get_by_label(SAYS["comment"]).press_sequentially("1 or 2, not 3; bcn 0")
    page.wait_for_timeout(600)
    look("an item")
    page.get_by_role("button", name="Turn keys off").click()
    page.wait_for_timeout(400)
    page.keyboard.press("1")
    page.wait_for_timeout(800)
    item_shown(page, 1, studied.of)
    page.locator("button[data-choice='3']").click()
    item_shown(page, 2, studied.of)
    expect(page.get_by_label(SAYS["comment"])).to_have_value("")
    (answer,) = answers(studied, name).values()
    assert (answer.choice, answer.comment) == (3, "1 or 2, not 3; bcn 0")
    page.wait_for_timeout(400)
    page.locator("button[data-choice='1']").dblclick()
    item_shown(page, 3, studied.of)
    page.wait_for_timeout(1000)
    item_shown(page, 3, studied.of)
    assert chosen(studied, name) == [1, 3]
    page.get_by_role("button", name="Turn keys on").click()
    press(page, "1", 4, studied.of)
    page.get_by_role("button", name="Back one item").click()
    item_shown(page, 3, studied.of)
    look("an item that was answered")


def _neither_a_closed_tab_nor_a_server_started_anew_loses_an_answer_or_a_comment(page, studied, name):
    press(page, "n", 4, studied.of)
    tab = page.context.new_page()
    opened(tab, page.url)
    item_shown(tab, 4, studied.of)
    tab.get_by_text("Add a comment").click()
    tab.get_by_label(SAYS["comment"]).press_sequentially("Half a thou")
    tab.wait_for_url("**show=answer**")
    address = tab.url
    tab.close()
    tab = page.context.new_page()
    opened(tab, address)
    item_shown(tab, 4, studied.of)
    expect(tab.get_by_label(SAYS["comment"])).to_have_value("Half a thou", timeout=PATIENCE)
    assert chosen(studied, name) == [1, 1, 3]
    with serving(studied.folder) as other:
        opened(tab, f"{other.url}/proxy_task?{address.split('?')[1]}")
        item_shown(tab, 4, studied.of)
        tab.locator("button[data-choice='2']").click()
        item_shown(tab, 5, studied.of)
    assert chosen(studied, name) == [2, 1, 1, 3]
    tab.close()


def test_what_is_chosen_and_written_is_neither_a_slip_nor_lost_and_the_page_is_sound(inspected, studied):
    """No words typed, key turned off or double click choose; a closed tab or a new server loses nothing."""
    page, look = inspected
    name = somebody("mouse")
    _nothing_is_chosen_by_a_word_that_is_written_a_key_turned_off_or_a_double_click(page, look, studied, name)
    _neither_a_closed_tab_nor_a_server_started_anew_loses_an_answer_or_a_comment(page, studied, name)


def test_several_people_and_devices_at_once_each_go_on_with_their_own_answers(browser, inspected, studied):
    """Two answer side by side; a third device asks who comes, and one of the two goes on there and at the first.

    What becomes of many answers, and the owner's side, is sound.
    """
    names = somebody("left"), somebody("right")
    left, right, phone = anew(browser), anew(browser), anew(browser, 400)
    for page, name in zip((left, right), names, strict=True):
        begin(page, studied.address, name)
    for number in range(1, 7):
        for page in (left, right):
            item_shown(page, number, studied.of)
            page.wait_for_timeout(400)
        left.keyboard.press("1")
        right.keyboard.press("3")
    for page in (left, right):
        item_shown(page, 7, studied.of)
    assert [chosen(studied, name) for name in names] == [[1] * 6, [3] * 6]
    # An address that is passed on asks who comes; the browser that remembers goes on.
    left.reload()
    item_shown(left, 7, studied.of)
    opened(phone, left.url)
    phone.get_by_role("textbox", name="Your name, or a code").wait_for()
    assert phone.get_by_text(names[0]).count() == 0
    # One of the two goes on at another device.
    begin(phone, studied.address, names[0].upper())
    phone.get_by_text(SAYS["name in use"]).wait_for()
    phone.get_by_role("button", name=SAYS["go on"]).click()
    item_shown(phone, 7, studied.of)
    press(phone, "2", 8, studied.of)
    left.keyboard.press("3")  # the seventh item once more: it was shown here before
    item_shown(left, 8, studied.of)
    assert chosen(studied, names[0]) == [3, *[1] * 6]
    for page in (left, right, phone):
        page.context.close()

    owner, look = inspected
    for person, shift in (("ann", 0), ("ben", 0), ("cid", 1)):
        annotator = studied.bench.answering.join(studied.study.id, person)
        for item in studied.study.items:
            choice = (item.right_option - 1 + shift) % 3 + 1
            studied.bench.answering.answer(studied.study.id, annotator.id, item.id, choice, seconds=3.0)
    opened(owner, f"{studied.address}&show=results")
    owner.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(owner)
    look("results")
    opened(owner, f"{studied.address}&show=manage")
    look("the owner's side")
    opened(owner, f"{studied.url}/proxy_task?show=make")
    look("making a study")


def test_a_span_is_marked_by_the_keyboard_alone_and_by_a_finger(page, studied):
    """The beginning and the end are moved apart from each other, never past the anchor, and what is saved is both."""
    request = StudyRequest(name=somebody("Spans"), kind="span")
    pairs = '{"passage": "He came as a thief in the night, said she", "anchor": "thief"}\n' * 2
    made = studied.bench.study_making.make_spans(
        request, studied.bench.echoes.known, file=pairs.encode(), name="pairs.jsonl"
    )
    name = somebody("spans")
    begin(page, f"{studied.url}/proxy_task?study={made.id}", name)
    item_shown(page, 1, 2)
    beginning, end = (page.get_by_role("slider", name=re.compile(side)) for side in ("Beginning", "End"))
    tab_to(page, beginning.first)
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    expect(beginning).to_be_focused()
    expect(beginning).to_have_attribute("aria-valuetext", "a")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(end).to_have_attribute("aria-valuenow", "7")
    page.wait_for_timeout(400)
    page.keyboard.press("Enter")
    item_shown(page, 2, 2)
    page.wait_for_timeout(400)
    page.locator("[data-word='2']").click()
    page.locator("[data-word='8']").click()
    expect(beginning).to_have_attribute("aria-valuenow", "2")
    page.get_by_role("button", name="Save this span").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    annotator = studied.bench.answering.join(made.id, name)
    kept = studied.bench.answering.answered(made.id, annotator.id)
    assert [each.answer.choice for each in kept] == [2008, 4007]
