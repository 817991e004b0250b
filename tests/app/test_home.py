"""Home: what this is, and a first claim to try."""

from __future__ import annotations

from relic_core.services.prompts import prompts_for
from tests.app.reading import html, sound
from tests.approved import says

SAYS = says("home")


def test_every_example_of_the_sample_is_offered(app):
    (sample,) = app.bench.works.summaries()
    at = sound(app.open())
    claims = [prompt.claim for prompt in prompts_for(sample)]
    assert len(claims) == 3
    assert [button.label for button in at.button] == claims
    assert SAYS["one ready"] in html(at)


def test_an_example_answers_at_one_click(app):
    at = app.open()
    label = at.button[0].label
    sound(at.button[0].click().run())
    assert at.title[0].value == SAYS["find page"]
    assert at.text_area(key="find_claim").value == label
    assert [sum("relic-card" in each.value for each in column.get("html")) for column in at.columns] == [5, 5, 5]


def test_an_empty_library_has_no_examples_and_says_so(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open())
    assert list(at.button) == []
    assert SAYS["empty"] in html(at)
    assert SAYS["put back"] in html(at)
    assert SAYS["shelf"] in html(at)
