"""Training, in a real browser: a few steps with a tiny base, watched to their end; the look by day and night."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from relic_core.config import Settings
from relic_core.wiring import build
from tests.approved import says
from tests.browser.conftest import environment_for
from tests.browser.serving import serving
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
    shutil.copytree(prepared, folder / "own")
    settings = Settings(data=folder / "own" / "data", indexes=folder / "own" / "indexes")
    base = make_base(folder / "tiny")
    bench = build(settings, executor=InlineExecutor(settings))
    furnish(bench)
    bench.trainings.start(asked_of(base, steps=4, validate_every=2, name="Quays and coins"))
    idle = build(settings, executor=SimpleNamespace(submit=lambda *_: None))
    idle.trainings.start(asked_of(base, steps=3, name="Ferries"))
    with serving(environment_for(folder / "own"), folder / "server.log") as running:
        yield running


def page_at(page, trained):
    opened(page, f"{trained.url}/training")


def test_a_training_is_resumed_watched_to_its_end_and_made_the_default(page, trained):
    page_at(page, trained)
    page.get_by_role("button", name="Resume Ferries").click()
    expect(page.get_by_text("Finished, step 3 of 3").first).to_be_visible(timeout=MINUTES)
    settled(page)
    page.get_by_role("button", name=SAYS["make default"]).click()
    expect(page.get_by_text(SAYS["Ferries in use"])).to_be_visible(timeout=MINUTES)
    page.get_by_role("button", name=SAYS["use packaged"]).first.click()
    expect(page.get_by_text(SAYS["packaged model"])).to_be_visible(timeout=MINUTES)


def test_who_begins_a_training_is_taken_to_it(page, trained):
    name = f"Begun here {uuid4().hex[:6]}"  # made once more, the journey must not find the training of the first
    page_at(page, trained)
    page.get_by_label("What to call it").fill(name)
    page.get_by_role("button", name=SAYS["begin"]).click(timeout=MINUTES)
    heading = page.locator("#training-one")
    expect(heading).to_have_text(name, timeout=MINUTES)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    page.get_by_role("button", name=f"Stop {name}").click(timeout=MINUTES)
    expect(page.get_by_text(SAYS["stopped"]).first).to_be_visible(timeout=MINUTES)


def test_the_page_breaks_no_rule_of_accessibility_by_day_or_night_wide_or_narrow(inspected, trained):
    page, look = inspected
    page.set_default_timeout(MINUTES)
    page_at(page, trained)
    page.get_by_role("link", name="Its figures: Quays and coins").click()
    page.get_by_role("heading", level=2, name="Quays and coins").wait_for()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(page)
    look("figures and form")
    page.get_by_text(SAYS["recipe heading"]).click()
    page.get_by_text("More", exact=True).last.click()
    page.get_by_text(SAYS["batch label"]).last.wait_for()
    look("recipe and more")
