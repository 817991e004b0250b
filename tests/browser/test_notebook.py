"""Keeping passages and writing about them, in a real browser, by keyboard."""

from __future__ import annotations

import re
import uuid

from playwright.sync_api import expect

from relic_core.evaluation.benchmarks import relic as benchmark
from tests.approved import says
from tests.browser.serving import copied, serving
from tests.browser.visiting import claim_box, focused, found_words, opened, settled, tab_to

SAYS = says("notebook")

CLAIM = "The brass bolt stands for a false certainty"
KEEP = ".relic-keep button"


def scrolled(page):
    return page.evaluate("document.querySelector('.stMain').scrollTop")


def saved(page, offered, file):
    """Press what is offered in the menu that saves, and return the file."""
    tab_to(page, offered)
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(file)
    return file


def _a_hit_is_kept_and_the_page_stands_still(page, server, claim):
    """Return the id of the note, and the quotation."""
    opened(page, f"{server.url}/find")
    tab_to(page, claim_box(page))
    page.keyboard.type(claim)
    page.keyboard.press("Control+Enter")
    card = page.locator(".relic-card").first
    card.wait_for()
    settled(page)
    before = page.locator(".relic-card").count()
    name, words = card.get_attribute("id"), found_words(card)

    card.locator("summary").first.focus()
    page.keyboard.press("Enter")
    top = scrolled(page)
    page.keyboard.press("k")
    expect(card.locator(KEEP)).to_have_attribute("aria-pressed", "true")
    settled(page)
    focused(page, "it.closest('article')?.id + ' ' + it.dataset.does", f"{name} let-go")
    assert abs(scrolled(page) - top) < 3
    expect(card.locator(".relic-around").first).to_be_visible()
    expect(page.locator(".relic-card")).to_have_count(before)
    return card.locator(".relic-keep a").get_attribute("href").split("note=")[1], words


def _it_is_read_written_about_and_judged(page, bench, claim, note_id):
    tab_to(page, page.locator(".relic-card").first.get_by_role("link", name=SAYS["read in chapter"]))
    page.keyboard.press("Enter")
    page.locator("article.relic-read-text").wait_for()
    settled(page)
    tab_to(page, page.get_by_role("region", name="The passage marked").locator("[data-part=kept] a"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/notebook?note={note_id}")
    focused(page, "it.id", f"note-{note_id}")
    settled(page)

    note = page.locator(f".st-key-notebook_{note_id}")
    expect(note).to_contain_text(f"For the claim “{claim}”")
    tab_to(page, note.get_by_role("textbox", name="Your words"))
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


def _the_notes_are_saved_as_documents(page, bench, tmp_path):
    """Return the notes in Markdown, and the left contexts of what can be measured on by note."""
    tab_to(page, page.get_by_role("button", name="Save").first)
    page.keyboard.press("Enter")
    written = saved(page, page.get_by_role("button", name=re.compile("Markdown")), tmp_path / "notes.md").read_text()
    file = saved(page, page.get_by_role("button", name=SAYS["verdicts export"]), tmp_path / "verdicts.json")
    made = benchmark.create(bench.settings, bench.works, file).windows()
    return written, {window.id: window.left for window in made}


def test_the_tab_key_leads_from_a_claim_to_a_kept_passage_to_words_and_to_documents(page, server, tmp_path):
    """A passage is kept where the page stands, judged and written about, and saved to be read and to be measured on."""
    bench = server.bench()
    claim = f"{CLAIM} {uuid.uuid4().hex[:6]}"  # a journey made once more must not find what it kept before
    note_id, words = _a_hit_is_kept_and_the_page_stands_still(page, server, claim)
    _it_is_read_written_about_and_judged(page, bench, claim, note_id)
    written, measured = _the_notes_are_saved_as_documents(page, bench, tmp_path)
    assert "He trusts what" in written
    assert f"Claim: {claim}" in written
    assert words.split("”")[-1].strip(" .")[:30] in written
    assert measured[note_id] == (claim,)


def _what_was_written_elsewhere_is_taken_and_mine_is_an_earlier_version(page, look, bench, note_id):
    note = page.locator(f".st-key-notebook_{note_id}")
    words = note.get_by_role("textbox", name="Your words")
    bench.notebook.write(note_id, words="Of another tab.")
    words.fill("Of this one.")
    page.keyboard.press("Tab")
    expect(note.get_by_role("status").filter(has_text=SAYS["changed elsewhere"])).to_contain_text("Of another tab.")
    settled(page)
    look("changed elsewhere")
    note.get_by_role("button", name="Use the other").click()
    expect(words).to_have_value("Of another tab.")
    note.get_by_role("button", name="Earlier versions").click()
    page.get_by_role("button", name="Restore").first.wait_for()
    settled(page)
    look("earlier versions")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Restore")).to_have_count(0)
    settled(page)


def _words_of_a_row_that_is_closed_are_saved(page, bench, note_id):
    row = page.locator(f".st-key-notebook_{note_id}")
    line, words = row.locator("summary").first, row.get_by_role("textbox", name="Your words")
    tab_to(page, line)
    page.keyboard.press("Enter")
    words.fill("Half a thought")
    line.click()
    expect(words).to_have_count(0)
    expect(row.locator("header")).to_contain_text("your words")
    assert bench.notebook.note(note_id).note.words == "Half a thought"
    line.click()
    expect(words).to_have_value("Half a thought")
    settled(page)


def test_notes_are_sound_ordered_by_keyboard_and_made_where_the_text_stands_still(inspected, server):
    """The focus goes with a note that is moved; a sentence kept in its chapter moves nothing."""
    page, look = inspected
    bench = server.bench()
    (work,) = bench.works.summaries()
    collection = bench.notebook.add_collection(f"Light or water {uuid.uuid4().hex[:6]}").id
    first, second = (
        bench.notebook.keep(work.id, at, 2, collection_id=collection, claim_text=f"{CLAIM}, and so does {at}.").id
        for at in ("1.1.1", "1.2.1")
    )
    bench.notebook.write(first, words="A word of mine.", tags=["light"], verdict="unsure")
    bench.notebook.move(first, -1)  # a journey made once more finds what it moved before

    opened(page, f"{server.url}/notebook?note={first}")
    look("notes")
    page.get_by_role("button", name="Filters").focus()
    page.keyboard.press("Enter")
    page.get_by_role("combobox", name="Order").wait_for()
    look("filters")
    page.keyboard.press("Escape")
    _what_was_written_elsewhere_is_taken_and_mine_is_an_earlier_version(page, look, bench, first)
    page.get_by_role("button", name="Save").first.click()
    page.get_by_text("Import a notebook").wait_for()
    look("saving")
    page.keyboard.press("Escape")
    _words_of_a_row_that_is_closed_are_saved(page, bench, second)
    page.locator(f"#note-{first}").focus()
    page.keyboard.press("Alt+ArrowUp")  # it is the first: no other note is moved in its place
    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_function(
        "([a, b]) => document.getElementById(a)?.getBoundingClientRect().top"
        " < document.getElementById(b)?.getBoundingClientRect().top",
        arg=[f"note-{second}", f"note-{first}"],
    )
    focused(page, "it.matches('button') && it.closest('article')?.id", f"note-{first}")

    opened(page, f"{server.url}/read?work={work.id}&at=3.4.1")
    keep = page.locator(".relic-read-bar [data-part=keep]")
    focused(page, "it.id", "s-3-4-1")
    top = scrolled(page)
    page.keyboard.press("k")
    expect(keep).to_have_attribute("aria-pressed", "true")
    expect(keep).to_have_text("Kept")
    settled(page)
    assert abs(scrolled(page) - top) < 3
    focused(page, "it.id", "s-3-4-1")
    page.get_by_role("button", name=SAYS["mark next"]).focus()
    page.keyboard.press("Enter")
    expect(keep).to_have_attribute("aria-pressed", "false")


def test_words_written_on_a_page_that_outlived_its_server_are_saved(page, prepared, tmp_path):
    folder = copied(prepared, tmp_path / "own")
    with serving(folder) as server:
        (work,) = server.bench().works.summaries()
        note = server.bench().notebook.keep(work.id, "1.1.1", 1).id
        opened(page, f"{server.url}/notebook")
        page.locator(f".st-key-notebook_{note} summary").press("Enter")
        words = page.get_by_role("textbox", name="Your words")
        words.wait_for()
    with serving(folder, port=int(server.url.rsplit(":")[-1])):
        page.locator('[data-testid="stApp"][data-test-connection-state="CONNECTED"]').wait_for()
        words.fill("Of the day after.")
        page.keyboard.press("Tab")
        page.get_by_text("Saved.").wait_for()
    assert server.bench().notebook.note(note).note.words == "Of the day after."
