"""Secondary sources in a real browser: from a zip of criticism to the counts beside the text."""

from __future__ import annotations

import re
import zipfile

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.wiring import build
from tests.approved import says
from tests.browser.visiting import ask, opened, settled, view
from tests.making_sources import keep, make_source, make_window

SAYS = says("sources")

CRITICISM = """{title}

by A. Critic

CHAPTER I

The town of the tale keeps its accounts by the tide, and the clerk who keeps them is the only man who never looks at
the water. Nobody in it has a memory of his own.

His employers know as much. "{first}" With that, as a reviewer said, the whole of the vanity is laid out upon the
table, and the rest of the book has only to add it up.

The neighbours are no better. They come to look, they stay to be asked, and they go home when it rains. It is a book in
which everybody is in somebody's way.

What the wife thinks of it is another thing. "{second}" She is the one reader he has, and she has not been asked to
read. A later chapter takes this up again, and comes to no other end.
"""


@pytest.fixture(scope="module")
def sample(prepared):
    bench = build(Settings(data=prepared / "data", indexes=prepared / "indexes"))
    (work,) = bench.works.summaries()
    return bench.works.load(work.id)


@pytest.fixture
def archive(tmp_path, sample):
    """Two books that quote the first sentence of the sample; each quotes another one besides."""
    long = [index for index, sentence in enumerate(sample.sentences) if 70 < sentence.end - sentence.start < 200]
    quoted = [" ".join(sample.sentence_text(index).split()) for index in [0, *[each for each in long if each > 40]]]
    clean = [words for words in quoted if not re.search('[“”"]', words)]
    path = tmp_path / "criticism.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, title in enumerate(("Tide and Town", "The Clerk and the Flood"), start=1):
            text = CRITICISM.format(title=title.upper(), first=clean[0], second=clean[number])
            archive.writestr(f"{title}.txt", text)
    return path


def test_a_zip_is_added_its_quotations_looked_at_and_counted_beside_the_text(page, fresh_server, archive, sample):
    """The words quoted are marked on both sides, and a window that is judged none counts no more."""
    opened(page, f"{fresh_server.url}/library?part=Criticism")
    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    part = page.locator(".st-key-library-sources")
    part.locator("input[type=file]").set_input_files(archive)
    part.get_by_role("button", name=SAYS["find"]).click()
    told = page.locator(".st-key-sources-job")
    expect(told).to_contain_text(SAYS["finding"], timeout=60_000)
    row = part.get_by_role("listitem").filter(has_text="Tide and Town")
    row.get_by_role("link", name=SAYS["look"]).wait_for(timeout=120_000)
    settled(page)
    row.get_by_role("link", name=SAYS["look"]).click()

    page.get_by_role("heading", name=re.compile("Tide and Town", re.IGNORECASE), level=1).wait_for()
    window = page.locator("li.relic-window").first
    window.wait_for()
    settled(page)
    sentence = " ".join(sample.sentence_text(0).split())
    window.locator("summary").first.click()
    for side in (window.locator("details"), window.get_by_label("The work", exact=True)):
        marked = side.locator("mark").all_text_contents()
        assert re.sub(r"\W+", "", "".join(marked)) == re.sub(r"\W+", "", sentence)

    window.get_by_role("link", name=SAYS["read in chapter"]).click()
    count = page.locator("a.relic-read-quoted").first
    expect(count).to_have_text("2")
    page.go_back()
    window.wait_for()
    page.locator("html[data-relic-buttons]").wait_for(state="attached")
    page.get_by_text("Label them for a data set").click()
    settled(page)
    window.get_by_role("button", name=SAYS["no quotation"]).focus()
    page.keyboard.press("Enter")
    expect(window).to_contain_text("Left out: judged no quotation", timeout=30_000)
    expect(window.get_by_role("button", name=SAYS["no quotation"])).to_be_focused()
    settled(page)
    window.get_by_role("link", name=SAYS["read in chapter"]).click()
    expect(count).to_have_text("1")


# ---- beside the text ----------------------------------------------------------------------------------------------


@pytest.fixture
def quoted(fresh_server, sample):
    """The address of a work with sources made by hand, in the reading room."""
    bench = fresh_server.bench()
    for title, places in (("Tide and Town", (0, 2)), ("The Clerk and the Flood", (2, 9)), ("Slack Water", (2,))):
        source = make_source(title)
        keep(bench, source, [make_window(sample, source, place) for place in places], works=[sample])
    return f"{fresh_server.url}/read?work={sample.id}&at=1"


def numbers(page):
    page.locator("a.relic-read-quoted").first.wait_for(state="attached")
    return page.locator("a.relic-read-quoted").all_inner_texts()


def where(page, at):
    return page.locator(f"#s-{at.replace('.', '-')}").evaluate("each => each.getClientRects()[0].top")


def tops_of_sentences(page):
    return page.evaluate(
        """() => {
            const zero = document.querySelector("article").getBoundingClientRect().top
            const sentences = [...document.querySelectorAll("article [id^=s-]")]
            return sentences.map(each => Math.round(each.getClientRects()[0].top - zero))
        }"""
    )


def _who_quotes_a_sentence_is_listed_and_the_text_stands_still(page, look, quoted, sample):
    opened(page, quoted)
    assert numbers(page) == ["1", "3", "1"]
    at = str(sample.place(make_window(sample, make_source("x"), 2).gold).address)
    count = page.locator(f"a.relic-read-quoted[data-at='{at}']")
    assert abs(count.bounding_box()["y"] + 12 - where(page, at) - 12) < 16, "it stands on the line of its sentence"
    before = tops_of_sentences(page)
    page.get_by_role("button", name="Hide the counts").click()
    expect(count).to_be_hidden()
    assert tops_of_sentences(page) == before
    page.reload()
    page.get_by_role("button", name="Show the counts").click()
    expect(count).to_be_visible()
    assert tops_of_sentences(page) == before

    count.click()
    listed = page.get_by_role("region", name=SAYS["who quotes"])
    expect(listed.get_by_role("heading", level=2)).to_contain_text("Quoted 3 times by 3 sources")
    expect(listed).to_be_focused()
    settled(page)
    look("who quotes")
    assert tops_of_sentences(page) == before
    assert "quoting=1" in page.url
    expect(listed.get_by_role("heading", level=3)).to_have_count(3)
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    expect(count).to_be_focused()
    assert "quoting" not in page.url

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(listed.get_by_role("heading", level=2)).to_contain_text("Quoted once")
    settled(page)
    listed.get_by_role("link", name=SAYS["beside text"]).click()
    page.get_by_role("heading", name=SAYS["who quotes"], level=1).wait_for()
    expect(page.locator("li.relic-window")).to_have_count(1)
    page.go_back()
    expect(listed.get_by_role("heading", level=2)).to_contain_text("Quoted once")


def _marks_of_hits_and_counts_stand_beside_each_other(page, fresh_server, sample):
    opened(page, f"{fresh_server.url}/find?work={sample.id}")
    ask(page, " ".join(sample.sentence_text(0).split()))
    view(page, "By words")
    page.locator(".relic-card[id='hit-bm25-1']").get_by_role("link", name=SAYS["read in chapter"]).click()
    page.wait_for_url("**/read?*")
    page.locator("article .relic-read-mark").first.wait_for()
    page.locator("a.relic-read-quoted").first.wait_for()
    settled(page)
    covered = page.evaluate(
        """() => {
            const boxes = name => [...document.querySelectorAll(name)].map(each => each.getBoundingClientRect())
            const beside = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 1
            const apart = (a, b) => beside(a, b) || beside(b, a)
            return boxes("article .relic-read-mark").some(a => boxes("a.relic-read-quoted").some(b => !apart(a, b)))
        }"""
    )
    assert not covered


def _windows_and_their_sources_are_sound(page, look, fresh_server, sample):
    opened(page, f"{fresh_server.url}/sources")
    look("works")
    page.get_by_role("link", name=sample.title).click()
    page.locator("li.relic-window").first.wait_for()
    page.get_by_text("Label them for a data set").click()
    settled(page)
    page.get_by_role("button", name="A claim").first.click()
    expect(page.get_by_role("button", name="A claim").first).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="No: a quotation").nth(1).click()
    page.get_by_text("judged no quotation").first.wait_for()
    page.get_by_text("What the answers mean").click()
    settled(page)
    look("windows")
    opened(page, f"{fresh_server.url}/library?part=Criticism")
    look("library")


def test_who_quotes_a_sentence_is_listed_and_the_text_stands_still(inspected, quoted, fresh_server, sample):
    """Counts come and go without moving the text or covering the marks of hits; the pages that list them are sound."""
    page, look = inspected
    _who_quotes_a_sentence_is_listed_and_the_text_stands_still(page, look, quoted, sample)
    _marks_of_hits_and_counts_stand_beside_each_other(page, fresh_server, sample)
    _windows_and_their_sources_are_sound(page, look, fresh_server, sample)
