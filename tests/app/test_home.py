"""Home: what this is, and a first claim to try."""

from __future__ import annotations

from relic_core.services.prompts import prompts_for
from tests.app.reading import html, sound


def test_every_example_of_the_sample_is_offered(app):
    (sample,) = app.bench.works.summaries()
    at = sound(app.open())
    claims = [prompt.claim for prompt in prompts_for(sample)]
    assert len(claims) == 3
    assert [button.label for button in at.button] == claims
    assert "One work is ready to search" in html(at)


def test_an_example_answers_at_one_click(app):
    at = app.open()
    label = at.button[0].label
    sound(at.button[0].click().run())
    assert at.title[0].value == "Find a quotation"
    assert at.text_area(key="find_claim").value == label
    assert [sum("relic-card" in each.value for each in column.get("html")) for column in at.columns] == [5, 5, 5]


def test_an_empty_library_has_no_examples_and_says_so(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open())
    assert list(at.button) == []
    assert "It is empty, so there is nothing to search yet." in html(at)
    assert "What you removed can be put back there." in html(at)
    assert "Take one from the RELiC shelf" in html(at)
