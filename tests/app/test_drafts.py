"""Check a draft: a pasted text is checked in a job, its quotations marked; it is kept only where that is asked."""

from __future__ import annotations

import re

from relic_core.domain.drafts import Draft
from tests.app.reading import html, plain, said, sound

PAGE = "pages/drafts.py"


def sentence_of(app):
    work = app.bench.works.load(app.bench.works.summaries()[0].id)
    return work, " ".join(max((work.sentence_text(at) for at in range(40)), key=len).split())


def give(app, text):
    app.run_jobs()
    at = sound(app.open(PAGE))
    at.text_area(key="drafts_text").set_value(text)
    (send,) = [button for button in at.button if button.form_id]
    return sound(send.click().run())


def test_a_quotation_is_marked_listed_and_led_to_in_read(app):
    work, sentence = sentence_of(app)
    at = give(
        app, f"The clerk says: “{sentence}” So <b>be</b> it.\n\nAnd “a clockwork nightingale repaid every heron.”"
    )
    shown = html(at)
    assert "1 to the letter" in plain(shown)
    assert "1 not found in your library" in plain(shown)
    assert "<b>be</b>" not in shown
    to = re.search(r'href="(read\?[^"]*)"', shown)[1]
    assert work.id in to
    for number in (1, 2):
        assert f'href="#check-{number}"' in shown
        assert f'id="check-{number}"' in shown


def test_a_draft_is_kept_or_deleted_as_its_writer_says(app):
    _, sentence = sentence_of(app)
    at = give(app, f"“{sentence}”")
    assert app.bench.drafts.kept() == ()
    at = sound(at.button(key="drafts_keep").click().run())
    (kept,) = app.bench.drafts.kept()
    again = sound(app.open(PAGE))
    assert f"drafts?draft={kept.id}" in html(again)
    at = sound(at.button(key="drafts_delete").click().run())
    assert app.bench.drafts.kept() == ()
    assert at.text_area(key="drafts_text")


def test_what_was_not_found_is_taken_to_find(app, press_button):
    at = give(app, "He says that “a clockwork nightingale repaid every heron of the marshes” in the end.")
    (draft_id,) = [each.name for each in (app.settings.data / "drafts").iterdir()]
    at = press_button(at, "find", "quotation-1")
    shown = html(at)
    to = re.search(r'data-does="keep" data-to="([^"]*)"', shown)[1]  # it was searched at once
    at = press_button(sound(at.switch_page("pages/find.py").run()), "keep", to)
    assert f"drafts?draft={draft_id}" in html(at)
    (chosen,) = app.bench.drafts.get(draft_id).report.chosen
    at = sound(app.open(PAGE, draft=draft_id))
    assert chosen.found.words[:60] in plain(html(at))
    place = f"{chosen.at}/{chosen.found.work_id}/{chosen.found.at}/{chosen.found.length}"
    at = press_button(at, "take-away", place)
    assert app.bench.drafts.get(draft_id).report.chosen == ()


def test_an_empty_form_and_a_draft_that_is_gone_are_said(app):
    at = give(app, "  ")
    assert "Paste a text" in said(at)
    gone = sound(app.open(PAGE, draft="0" * 32))
    assert "deleted" in said(gone)


def test_a_draft_whose_check_failed_is_shown_as_far_as_it_came_and_can_be_deleted(app):
    draft_id = app.bench.drafts.start(Draft("“A clockwork nightingale repaid every heron of the marshes.”"))
    (job,) = app.bench.jobs.under_way("check")
    app.bench.jobs.cancel(job.id)
    app.bench.jobs.run(app.settings.data / "jobs" / job.id)
    at = sound(app.open(PAGE, draft=draft_id))
    assert "clockwork" in html(at)
    sound(at.button(key="drafts_delete").click().run())
    assert not list((app.settings.data / "drafts").iterdir())
