"""Check a draft: a pasted text is checked in a job, its quotations marked; it is kept only where that is asked."""

from __future__ import annotations

import re

import pytest

from relic_core.domain.drafts import Draft
from relic_ui.drafts.drafts import LONGEST_DRAFT
from tests.app.reading import html, plain, said, sound
from tests.making_drafts import BAD

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


def upload(app, name, data):
    at = sound(app.open(PAGE))
    at.file_uploader[0].set_value([(name, data, "application/octet-stream")])
    (send,) = [button for button in at.button if button.form_id]
    return sound(send.click().run())


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_draft_is_refused_in_a_sentence(app, name):
    data, says = BAD[name]
    assert says in said(upload(app, name, data))
    assert not list((app.settings.data / "drafts").glob("*"))


def test_a_pasted_draft_may_be_as_long_as_a_file_and_none_is_cut_in_silence(app):
    assert "60,001 words" in said(give(app, "word " * 60_001))
    assert "file" in said(give(app, "x" * LONGEST_DRAFT))


def test_a_novel_of_the_library_is_refused_on_its_page(app):
    work = app.bench.works.load(app.bench.works.summaries()[0].id)
    told = "\n\n".join(" ".join(work.text[each.start : each.end].split()) for each in work.paragraphs[:60])
    assert "seems to be" in said(give(app, told))


def test_a_draft_in_another_language_is_checked_with_a_word_on_translations(app):
    text = "Dans ce livre on lit que « le batelier comptait ses lanternes près du quai gelé, et personne ne payait »."
    at = give(app, text)
    assert "translation" in plain(html(at)) + said(at)


def test_a_draft_whose_check_failed_is_shown_as_far_as_it_came_and_can_be_deleted(app):
    draft_id = app.bench.drafts.start(Draft("“A clockwork nightingale repaid every heron of the marshes.”"))
    (job,) = app.bench.jobs.under_way("check")
    app.bench.jobs.cancel(job.id)
    app.bench.jobs.run(app.settings.data / "jobs" / job.id)
    at = sound(app.open(PAGE, draft=draft_id))
    assert "clockwork" in html(at)
    sound(at.button(key="drafts_delete").click().run())
    assert not list((app.settings.data / "drafts").iterdir())
