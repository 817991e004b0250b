"""Cite: how do I cite this work, or this passage of it?"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from relic_core.domain import EditionDetails, SearchRequest
from tests.app.reading import html, plain, said, sound
from tests.approved import says

SAYS = says("cite")

CITE, WORK, FIND, READ = "pages/cite.py", "pages/work.py", "pages/find.py", "pages/read.py"
TEXT = "CHAPTER I\n\nThe river is up. Nobody asked it.\n\nIt fell.\n\nCHAPTER II\n\nOne lantern fewer.\n"


@pytest.fixture
def lanterns(app):
    return app.bench.works.add(TEXT.encode(), name="lanterns.txt", title="Lanterns", author="A. <b>Body</b>").work


def forms(at):
    """Map each form of the citation to its words."""
    return {plain(name): plain(words) for name, words in re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", html(at))}


def saves(at):
    return {button.label for button in at.get("download_button")}


def test_a_passage_is_cited_with_its_place(app, lanterns):
    at = sound(app.open(CITE, work=lanterns.id, at="1.1.2", n="2"))
    assert forms(at)["In the text"] == "(<b>Body</b>, ch. 1, pars. 1-2)"
    assert "<b>" not in html(at), "what is said of a work is shown, not obeyed"
    assert "Nobody asked it." in plain(html(at))
    assert forms(at)[SAYS["block quotation"]].endswith("It fell. (<b>Body</b>, ch. 1, pars. 1-2)")
    short = sound(app.open(CITE, work=lanterns.id, at="1.1.2"))
    assert forms(short)[SAYS["inline quotation"]] == "“Nobody asked it” (<b>Body</b>, ch. 1, par. 1)."
    assert SAYS["no pages"] in html(at)
    assert saves(at) == {"RIS", "BibTeX", "CSL-JSON"}
    assert "for Zotero" in html(at)
    assert f'href="read?work={lanterns.id}&amp;at=1.1.2&amp;n=2"' in html(at)


@pytest.mark.parametrize("said", ["0", "-3", "99999", "x"])
def test_a_number_of_sentences_that_cannot_be_is_told_and_one_is_cited(app, lanterns, said):
    at = sound(app.open(CITE, work=lanterns.id, at="1.1.2", n=said))
    (warning,) = at.warning
    assert said.strip("-") in warning.value
    assert forms(at)[SAYS["inline quotation"]].startswith("“Nobody asked it”")


def test_the_style_is_remembered_on_the_next_page(app, lanterns):
    at = sound(app.open(CITE, work=lanterns.id))
    assert list(forms(at)) == ["In the text", "Works Cited, entry"]
    at = sound(at.segmented_control(key="citation_style").set_value("chicago-notes").run())
    assert list(forms(at)) == [SAYS["first note"], "Note, later", "Bibliography, entry"]
    at.query_params["work"] = lanterns.id
    at = sound(at.switch_page(WORK).run())
    assert "Note, later" in forms(at)


def test_a_whole_work_has_no_words_on_pages(app, lanterns):
    at = sound(app.open(CITE, work=lanterns.id))
    assert SAYS["no pages"] not in html(at)
    assert SAYS["publisher unknown"] in html(at)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, SAYS["no passage given"]),
        ({"work": "never"}, "no work 'never'"),
        ({"work": "LANTERNS", "at": "9.9.9"}, SAYS["passage unknown"]),
        ({"work": "LANTERNS", "at": "here"}, "is not a place in a work"),
    ],
)
def test_what_is_not_there_is_said(app, lanterns, query, message):
    at = sound(app.open(CITE, **{name: value.replace("LANTERNS", lanterns.id) for name, value in query.items()}))
    assert message in said(at)
    assert not forms(at)
    assert query or f'href="cite?work={lanterns.id}"' in html(at)


def test_details_of_the_edition_are_corrected_on_its_page(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    assert forms(at)["Works Cited, entry"].endswith("Lanterns.")
    at = sound(at.button(key="work_correct").click().run())
    key = f"correct-{lanterns.id}-edition"
    for name, value in (("publisher", "Dent <i>& Sons</i>"), ("year", "1906"), ("volumes", "2")):
        at.text_input(key=f"{key}-{name}").set_value(value)
    at = sound(at.button(key=f"correct-save-{lanterns.id}").click().run())
    assert forms(at)["Works Cited, entry"].endswith("Lanterns. Dent <i>& Sons</i>, 1906. 2 vols.")
    details = app.bench.citing.work(lanterns.id).details
    assert (details.publisher, details.year, details.volumes) == ("Dent <i>& Sons</i>", 1906, 2)


def test_a_wrong_detail_is_told_and_nothing_is_changed(app, lanterns):
    at = sound(app.open(WORK, work=lanterns.id))
    at = sound(at.button(key="work_correct").click().run())
    at.text_input(key=f"correct-{lanterns.id}-edition-year").set_value("MCMVI")
    at.text_input(key=f"correct-{lanterns.id}-title").set_value("Other")
    at = sound(at.button(key=f"correct-save-{lanterns.id}").click().run())
    assert "'MCMVI', is not a number" in said(at)
    assert app.bench.works.described(lanterns.id).title == "Lanterns"
    assert app.bench.citing.work(lanterns.id).details == EditionDetails()


def test_cards_and_the_reading_room_lead_to_the_citation(app, lanterns):
    request = SearchRequest(
        work_id=lanterns.id, claim_text="the river", length=1, results=2, retrievers=("bm25",), chapters=()
    )
    search = app.bench.history.keep(request)
    at = sound(app.open(FIND, q=search.id))
    address = f"cite?work={lanterns.id}&amp;at=1.1.1&amp;n=1&amp;q={search.id}"
    assert f'href="{address}" target="_self">Cite</a>' in html(at)


def test_a_held_work_names_what_holds_it(app, lanterns):
    known = EditionDetails(container="Project Gutenberg", number="46", url="https://www.gutenberg.org/ebooks/46")
    app.bench.citing.describe(lanterns.id, replace(known, year=2004))
    at = sound(app.open(CITE, work=lanterns.id))
    assert "Project Gutenberg, 2004, www.gutenberg.org/ebooks/46." in forms(at)["Works Cited, entry"]
    assert SAYS["publisher unknown"] not in html(at)


def test_a_quotation_is_cited_as_in_print_and_to_the_letter_beside_it(app):
    text = TEXT.replace("It fell.", "\"It's gone--'tis gone,\" he said.")
    work = app.bench.works.add(text.encode(), name="typed.txt", title="Typed", author="A. Body").work
    at = sound(app.open(CITE, work=work.id, at="1.2.1"))
    assert "It’s gone—’tis gone" in forms(at)[SAYS["inline quotation"]]
    assert "\"It's gone--'tis gone,\" he said." in forms(at)["The words to the letter"]
    sound(at.toggle(key="as_printed").set_value(False).run())
    assert "It's gone--'tis gone" in forms(at)[SAYS["inline quotation"]]
    assert "The words to the letter" not in forms(at)
