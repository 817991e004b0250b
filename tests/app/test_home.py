"""Home, which is the page Find: a first claim to try, and the library."""

from __future__ import annotations

import pytest

from relic_core.domain import GAP
from relic_core.evaluation.benchmarks import loci
from relic_core.services.prompts import prompts_for
from tests.app.reading import FIND, as_read, found, html, said, sound
from tests.approved import says

SAYS = says("home")


def examples(at):
    return [button for button in at.button if button.key.startswith("try-")]


@pytest.mark.parametrize("page", ["app.py", FIND])
def test_every_example_of_the_sample_is_offered_a_paragraph_with_a_gap_first(app, page):
    (sample,) = app.bench.works.summaries()
    at = sound(app.open(page))
    assert [as_read(button.label) for button in examples(at)] == [prompt.claim for prompt in prompts_for(sample)]
    assert GAP in examples(at)[0].label.replace("\\", "")
    assert SAYS["one ready"] in html(at)


def test_another_work_chosen_offers_its_own_well_known_passages_and_none_that_are_tested_on(app):
    text = b"Chapter I\n\nThere was no possibility of taking a walk that day."
    work = app.bench.works.add(text, name="eyre.txt", title="Jane Eyre", author="Charlotte Bront\u00eb").work
    at = sound(app.open().selectbox(key="find_work").set_value(work.id).run())
    offered = [as_read(button.label) for button in examples(at)]
    assert len(offered) == 3
    assert set(offered) < {each.claim for each in loci.DEV.claims() if each.work == "jane_eyre"}
    assert not set(offered) & {each.claim for each in loci.TEST.claims()}


def test_an_example_answers_at_one_click(app):
    at = app.open()
    (sample,) = app.bench.works.summaries()
    sound(examples(at)[1].click().run())
    assert at.text_area(key="find_claim").value == prompts_for(sample)[1].claim
    assert [sum("relic-card" in each.value for each in column.get("html")) for column in at.columns] == [5, 5, 5]
    assert "q" in at.query_params


def test_what_is_asked_at_home_is_found_again_by_its_address_on_the_page_find(app):
    at = found(app.open(), "The sea keeps its own accounts")
    assert len(at.columns) == 3
    search = at.query_params["q"]
    at = sound(app.open(FIND, q=search))
    assert at.text_area(key="find_claim").value == "The sea keeps its own accounts"
    assert len(at.columns) == 3


def test_an_empty_library_has_no_examples_and_says_so(app):
    (sample,) = app.bench.works.summaries()
    app.bench.works.remove(sample.id)
    at = sound(app.open())
    assert list(at.button) == []
    assert SAYS["empty library"] in said(at)


def test_what_was_lost_from_the_store_is_told_until_it_was_read_in_this_visit(app):
    app.open()
    app.bench.settings.store.with_name("relic.duckdb.lost").write_text("Found today: a *search* is lost.\n")
    at = sound(app.open())
    assert [as_read(each.value) for each in at.warning] == ["Found today: a *search* is lost."]
    (read,) = (each for each in at.button if "read" in each.label)
    assert list(sound(read.click().run()).warning) == []
    assert len(app.open().warning) == 1, "another visit"
