"""Training, in a real browser: a few steps with a tiny base, watched to their end; the look by day and night."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.wiring import build
from tests.approved import says
from tests.browser.serving import copied, serving
from tests.browser.visiting import opened, settled
from tests.inline import InlineExecutor
from tests.making_training import make_base
from tests.small_training import asked_of, furnish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.serving import Server

SAYS = says("training")

MINUTES = 180_000


@pytest.fixture(scope="module")
def trained(prepared, browser, tmp_path_factory) -> Iterator[Server]:
    """Serve the sample with two trainings, one of which is finished and one stopped before its first step."""
    folder = tmp_path_factory.mktemp("trained")
    own = copied(prepared, folder / "own")
    settings = Settings(data=own / "data", indexes=own / "indexes")
    base = make_base(folder / "tiny")
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench)
    bench.trainings.start(asked_of(base, steps=4, validate_every=2, name="Quays and coins"))
    idle = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    idle.trainings.start(asked_of(base, steps=3, name="Ferries"))
    with serving(own) as running:
        yield running


def test_a_training_is_resumed_watched_to_its_end_and_made_the_default(page, trained):
    """One that was stopped goes on to its last step while it is watched; its model is used, and no longer used."""
    opened(page, f"{trained.url}/training")
    page.get_by_role("button", name="Resume Ferries").click()
    expect(page.get_by_text("Finished, step 3 of 3").first).to_be_visible(timeout=MINUTES)
    settled(page)
    page.get_by_role("button", name=SAYS["make default"]).click()
    expect(page.get_by_text(SAYS["Ferries in use"])).to_be_visible(timeout=MINUTES)
    page.get_by_role("button", name=SAYS["use packaged"]).first.click()
    expect(page.get_by_text(SAYS["packaged model"])).to_be_visible(timeout=MINUTES)


def test_who_begins_a_training_is_taken_to_it_on_a_page_that_is_sound(inspected, trained):
    """Figures, form and recipe break no rule; the focus goes to the training that was begun, which can be stopped."""
    page, look = inspected
    page.set_default_timeout(MINUTES)
    opened(page, f"{trained.url}/training")
    page.get_by_role("link", name="Its figures: Quays and coins").click()
    page.get_by_role("heading", level=2, name="Quays and coins").wait_for()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(page)
    page.get_by_text(SAYS["recipe heading"]).click()
    page.get_by_text("More", exact=True).last.click()
    page.get_by_text(SAYS["batch label"]).last.wait_for()
    look("figures, recipe and form")

    name = f"Begun here {uuid4().hex[:6]}"  # made once more, the journey must not find the training of the first
    opened(page, f"{trained.url}/training")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name=SAYS["begin"]).click()
    heading = page.locator("#training-one")
    expect(heading).to_have_text(name, timeout=MINUTES)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    page.get_by_role("button", name=f"Stop {name}").click()
    expect(page.get_by_text(SAYS["stopped"]).first).to_be_visible(timeout=MINUTES)
