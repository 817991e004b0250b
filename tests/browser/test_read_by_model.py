"""A column read by a language model, in a real browser: pressed, watched, stopped; cards move once and say why."""

from __future__ import annotations

import json
import threading

import pytest
from playwright.sync_api import expect

from relic_core.domain import SearchRequest
from tests.browser.serving import copied, serving
from tests.browser.visiting import found_words, opened, settled
from tests.chat_server import parts
from tests.chat_server import serving as serving_a_model

CLAIM = "The brass bolt stands for a false certainty"
READ = 3
"""Passages that the model reads before it hangs."""
JOB_MS = 400_000


@pytest.fixture
def model():
    """A model that likes best what came last, rests on words that are there but for the first, and hangs at the fourth.

    `model.order` has the passages as it was asked about them.
    """
    released, order = threading.Event(), []

    def answer(messages):
        passage = parts(messages)[-1][1]
        order.append(passage)
        if len(order) > READ:
            released.wait(60)
        words = "a golden ferry" if len(order) == 1 else " ".join(passage.split()[:2])
        return json.dumps({"reason": f"Reason {len(order)} <b>.", "words": words, "score": len(order)})

    with serving_a_model(answer=answer) as chat:
        chat.order = order
        yield chat
        released.set()


@pytest.fixture
def reading(prepared, browser, model, tmp_path):
    settings = {"RELIC_READER": model.address, "RELIC_READER_MODEL": "tiny", "RELIC_READER_AT_ONCE": "1"}
    with serving(copied(prepared, tmp_path / "own"), **settings, RELIC_READER_PASSAGES="5") as server:
        yield server


def test_a_model_s_column_is_read_stopped_and_moves_once(page, reading, model):
    bench = reading.bench()
    (work,) = bench.works.summaries()
    asked = SearchRequest(work_id=work.id, claim_text=CLAIM, length=1, retrievers=("bm25", "llm-reason"), results=5)
    search = bench.history.keep(asked, made_with="bm25")
    other, column = (page.get_by_test_id("stColumn").nth(at) for at in (0, 1))
    cards = column.locator(".relic-card")

    def shown(where=column):
        return [found_words(card) for card in where.locator(".relic-card").all()]

    opened(page, f"{reading.url}/find?q={search.id}")
    expect(cards).to_have_count(5)
    before, others = shown(), shown(other)
    assert model.asked == []
    expect(column.get_by_text("this computer")).to_be_visible()

    page.get_by_role("button", name="Read the first 5").click()
    expect(column.get_by_text(f"{READ} of 5 read").first).to_be_visible(timeout=JOB_MS)
    assert shown() == before
    expect(column.locator(".relic-reading")).to_have_count(0)

    page.get_by_role("button", name="Stop reading").click()
    expect(column.locator(".relic-reading")).to_have_count(READ, timeout=JOB_MS)
    settled(page)
    assert shown() == [*before[READ - 1 :: -1], *before[READ:]]
    assert shown(other) == others
    expect(column.get_by_text("Reason 3 <b>.")).to_be_visible()
    expect(column.locator(".relic-reading strong")).to_have_text(["3 of 10", "2 of 10", "1 of 10"])
    lit = [card.locator("blockquote mark").all_text_contents() for card in cards.all()]
    rests = [" ".join(passage.split()[:2]) for passage in model.order[READ - 1 : 0 : -1]]
    assert [" ".join(" ".join(each).split()) for each in lit] == [*rests, "", "", ""]
    expect(column.locator(".relic-misquoted")).to_have_count(1)
    expect(page.get_by_role("button", name="Read on")).to_be_visible()
