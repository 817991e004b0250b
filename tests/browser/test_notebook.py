"""Keeping passages and writing about them, in a real browser, by keyboard."""

from __future__ import annotations

import re
import shutil
import uuid

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.evaluation.benchmarks import relic as benchmark
from relic_core.wiring import build
from tests.approved import says
from tests.browser.conftest import environment_for
from tests.browser.serving import serving
from tests.browser.visiting import ask, claim_box, focused, opened, settled, tab_to

SAYS = says("notebook")

CLAIM = "The brass bolt stands for a false certainty"
KEEP = "button[data-does=keep]"


@pytest.fixture(scope="module")
def bench(prepared, browser, tmp_path_factory):  # `browser` first: without one, nothing is prepared for nothing
    """A store of this module's own, with notes in two collections."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    made = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    (work,) = made.works.summaries()
    book = made.notebook
    for name, addresses in (("Light or water", ("1.1.1", "1.2.1", "1.3.1")), ("Brass", ("2.1.1",))):
        home = book.add_collection(name).id
        for at in addresses:
            note = book.keep(work.id, at, 2, collection_id=home, claim_text=f"{CLAIM}, and so does {at}.")
            book.write(note.id, words="A word of mine.", tags=["light"], verdict="unsure")
    return made


@pytest.fixture(scope="module")
def url(bench):
    folder = bench.settings.data.parent
    with serving(environment_for(folder), folder / "server.log") as running:
        yield running.url


def scrolled(page):
    return page.evaluate("document.querySelector('.stMain').scrollTop")


def test_a_hit_is_kept_written_about_judged_and_measured_on_by_keyboard_alone(page, url, bench, tmp_path):
    claim = f"{CLAIM} {uuid.uuid4().hex[:6]}"  # a journey made once more must not find what it kept before
    opened(page, f"{url}/find")
    before = ask(page, claim)
    card = page.locator(".relic-card").first
    name = card.get_attribute("id")
    card.locator("summary").first.focus()
    page.keyboard.press("Enter")
    card.locator(KEEP).focus()
    top = scrolled(page)
    page.keyboard.press("Enter")
    expect(card.locator(KEEP)).to_have_attribute("aria-pressed", "true")
    settled(page)
    focused(page, "it.closest('article')?.id + ' ' + it.dataset.does", f"{name} keep")
    assert abs(scrolled(page) - top) < 3
    expect(card.locator(".relic-around").first).to_be_visible()
    assert len(page.locator(".relic-card").all()) == len(before)

    card.locator(".relic-keep a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebook?note=*")
    note_id = page.url.split("note=")[1]
    focused(page, "it.id", f"note-{note_id}")
    settled(page)
    note = page.locator(f".st-key-notebook_{note_id}")
    expect(note).to_contain_text(f"For the claim “{claim}”")

    page.keyboard.press("Tab")  # the first key ends the arriving, which holds the focus until the page rests
    note.get_by_role("textbox", name="Your words").focus()
    page.keyboard.type("He trusts what *shines*.")
    page.keyboard.press("Tab")
    note.get_by_text("Saved.").wait_for()
    supports = note.get_by_role("radio", name="Supports")
    supports.focus()
    page.keyboard.press("Space")
    settled(page)
    page.wait_for_timeout(500)
    settled(page)
    kept = bench.notebook.note(note_id).note
    assert (kept.words, kept.verdict) == ("He trusts what *shines*.", "supports")

    page.get_by_role("button", name="Save").first.focus()
    page.keyboard.press("Enter")
    offered = page.get_by_role("button", name=SAYS["verdicts export"])
    offered.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    file = tmp_path / "verdicts.json"
    download.value.save_as(file)
    made = {window.id: window.left for window in benchmark.create(bench.settings, bench.works, file).windows()}
    assert made[note_id] == (claim,)


def test_the_tab_key_leads_from_a_claim_to_the_text_to_the_notebook_and_to_a_document(page, url, tmp_path):
    claim = f"{CLAIM} {uuid.uuid4().hex[:6]}"
    opened(page, f"{url}/find")
    tab_to(page, claim_box(page))
    page.keyboard.type(claim)
    page.keyboard.press("Control+Enter")
    card = page.locator(".relic-card").first
    card.wait_for()
    settled(page)
    words = card.locator("blockquote p").first.inner_text()

    tab_to(page, card.get_by_role("link", name=SAYS["read in chapter"]))
    page.keyboard.press("Enter")
    page.locator("article.relic-read-text").wait_for()
    settled(page)
    bar = page.get_by_role("region", name="The passage marked")
    tab_to(page, bar.get_by_role("button", name="Keep"))
    page.keyboard.press("Enter")
    tab_to(page, bar.locator("[data-part=kept] a"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebook?note=*")

    note = page.locator(f".st-key-notebook_{page.url.split('note=')[1]}")
    expect(note).to_contain_text(f"For the claim “{claim}”")
    settled(page)
    tab_to(page, note.get_by_role("textbox", name="Your words"))
    page.keyboard.type("He trusts what shines.")
    page.keyboard.press("Tab")
    note.get_by_text("Saved.").wait_for()
    tab_to(page, page.get_by_role("button", name="Save").first)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name=re.compile("Markdown")))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    file = tmp_path / "notes.md"
    download.value.save_as(file)
    written = file.read_text(encoding="utf-8")
    assert "He trusts what shines." in written
    assert f"Claim: {claim}" in written
    assert words.split("”")[-1].strip(" .")[:30] in written


def _notes_are_put_in_order_by_keyboard_and_the_focus_goes_with_them(page, url, bench):
    first, second = [view.note.id for view in bench.notebook.notes(bench.notebook.collections()[0].collection.id)][:2]
    opened(page, f"{url}/notebook")
    down = page.locator(f"#note-{first} button[data-does=down]")
    down.focus()
    page.keyboard.press("Enter")
    focused(page, "it.closest('article')?.id + ' ' + it.dataset.does", f"note-{first} down")
    page.wait_for_function(
        "([a, b]) => document.getElementById(a)?.getBoundingClientRect().top"
        " < document.getElementById(b)?.getBoundingClientRect().top",
        arg=[f"note-{second}", f"note-{first}"],
    )


def _a_sentence_is_kept_where_it_is_read_and_the_page_stands_still(page, url, bench):
    (work,) = bench.works.summaries()
    opened(page, f"{url}/read?work={work.id}&at=3.4.1")
    keep = page.locator(".relic-read-bar [data-part=keep]")
    keep.focus()
    top = scrolled(page)
    page.keyboard.press("Enter")
    expect(keep).to_have_attribute("aria-pressed", "true")
    expect(keep).to_have_text("Kept")
    settled(page)
    assert abs(scrolled(page) - top) < 3
    focused(page, "it.dataset.part", "keep")
    page.get_by_role("button", name=SAYS["mark next"]).focus()
    page.keyboard.press("Enter")
    expect(keep).to_have_attribute("aria-pressed", "false")


def test_the_notebook_is_sound_for_axe_and_needs_no_scrolling_sideways(inspected, url):
    page, look = inspected
    opened(page, f"{url}/notebook")
    look("notes")
    page.get_by_role("button", name="Save").first.click()
    page.get_by_text("Take in a notebook").wait_for()
    look("saving")
    page.keyboard.press("Escape")
    opened(page, f"{url}/concordance?word=brass")
    page.locator(KEEP).first.wait_for()
    look("lines that can be kept")


# ---- journeys: the steps above, in one visit ----------------------------------------------------------------------


def test_notes_are_ordered_by_keyboard_and_kept_where_they_are_read(page, url, bench):
    _notes_are_put_in_order_by_keyboard_and_the_focus_goes_with_them(page, url, bench)
    _a_sentence_is_kept_where_it_is_read_and_the_page_stands_still(page, url, bench)
