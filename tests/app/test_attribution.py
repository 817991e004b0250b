"""Where is this from: the page answers with the work, keeps a passage, and says what it cannot read."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from relic_core.domain.attribution import AttributionRequest
from relic_ui.attribution import attribution
from tests.app.reading import html, plain, said, sound

PAGE = "pages/attribution.py"


def quoted(app):
    work = app.bench.works.load(app.bench.works.summaries()[0].id)
    sentence = max((work.sentence_text(at) for at in range(40)), key=len)
    return work, " ".join(sentence.split())


def ask(at, text, words=""):
    at.text_area(key="attribution_text").set_value(text)
    at.text_input(key="attribution_span").set_value(words)
    (send,) = [button for button in at.button if button.form_id]
    return sound(send.click().run())


def test_the_work_is_named_its_words_lit_and_a_press_keeps_them(app, press_button):
    work, sentence = quoted(app)
    at = ask(sound(app.open(PAGE)), f"The critic is right. “{sentence}” So it ends.", sentence)
    assert work.title in plain(re.search(r'id="attribution-answer">(.*?)</h2>', html(at))[1])
    assert "<mark" in html(at)
    assert at.expander  # what only comes next by words is folded
    to = re.search(r'data-does="keep" data-to="([^"]*)"', html(at))[1]
    press_button(at, "keep", to)
    (view,) = app.bench.notebook.notes()
    assert view.note.kept.origin == "attribution"


def test_another_sentence_that_has_a_source_is_a_link_to_it(app):
    work, _ = quoted(app)
    sentences = sorted((work.sentence_text(at) for at in range(60)), key=len)[-2:]
    first, other = (" ".join(each.split()) for each in sentences)
    at = ask(sound(app.open(PAGE)), f"The critic is right. {first} Nothing follows from that. {other}")
    (to,) = re.findall(r'<li><a class="relic-link" href="attribution\?([^"]*)"', html(at))
    again = sound(app.open(PAGE, **dict(parse_qsl(unescape(to)))))
    span = again.text_input(key="attribution_span").value
    assert span in first or span in other
    text = re.search(r'class="relic-target"[^>]*>(.*?)</blockquote>', html(at), re.DOTALL)[1]
    lit = re.findall(r"<mark[^>]*>(.*?)</mark>", text, re.DOTALL)
    assert {plain(each)[:20] in first or plain(each)[:20] in other for each in lit} == {True}
    assert html(at).count('class="relic-target"') == 1
    assert plain(text).count(plain(lit[0])) == 1, "the text stands once"
    assert {f'id="source-of-{number}"' in html(at) for number in (1, 2)} == {True}, "each source stands beside it"
    for card in re.findall(r'<article class="relic-card" id="source-of-.*?</article>', html(at), re.DOTALL):
        number = re.search(r'id="source-of-(\d)"', card)[1]
        assert f"passage {number}, {work.title}" in card, "a button is named by the number that is seen"
    assert plain(re.search(r'id="attribution-answer">(.*?)</h2>', html(again))[1]).endswith(work.title)


def test_a_number_stands_behind_the_stretch_of_its_own_source_alone():
    text = "Nobody counted the lanterns."
    found = SimpleNamespace(target=SimpleNamespace(text=text, start=0, end=len(text)), gains=())
    cards = [SimpleNamespace(runs=[(0, 27)]), SimpleNamespace(runs=[(7, 14)])]
    assert re.findall(r"(\w+)</mark><sup>(\d)</sup>", attribution._passage(found, cards)) == [("lanterns", "1")]


def test_a_passage_is_still_there_on_return_from_another_page(app):
    at = ask(sound(app.open(PAGE)), "A fox. He was there.", "He was")
    at = sound(sound(at.switch_page("pages/history.py").run()).switch_page(PAGE).run())
    assert at.text_area(key="attribution_text").value == "A fox. He was there."
    assert at.text_input(key="attribution_span").value == "He was"


def test_the_address_brings_the_passage_and_its_answer_back(app):
    work, sentence = quoted(app)
    at = sound(app.open(PAGE))
    at.multiselect(key="attribution_works").set_value([work.id])
    at = ask(at, f"The critic is right. “{sentence}” So it ends.", sentence)
    again = sound(app.open(PAGE, **at.query_params))
    assert again.text_area(key="attribution_text").value == at.text_area(key="attribution_text").value
    assert again.text_input(key="attribution_span").value == sentence
    assert again.multiselect(key="attribution_works").value == [work.id]
    assert html(again) == html(at)
    again.query_params.clear()
    assert sound(again.run()).text_area(key="attribution_text").value == ""
    assert not ask(again, "far too long for an address " * 400).query_params


def test_an_address_with_a_work_that_is_not_here_says_so(app):
    assert "not in your library" in said(sound(app.open(PAGE, text="A fox. He was there.", works="emma-1")))


@pytest.mark.parametrize("local", [True, False])
def test_the_box_says_that_the_passage_leaves_where_it_does(app, monkeypatch, local):
    monkeypatch.setenv("RELIC_READER", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RELIC_READER_MODEL", "any")
    monkeypatch.setenv("RELIC_RERANKER", "likelihood:tiny" if local else "")
    at = sound(app.open(PAGE))
    assert ("RELIC_READER" in at.checkbox(key="attribution_explain").help) is not local


def test_what_cannot_be_found_is_said(app):
    _, sentence = quoted(app)
    at = ask(sound(app.open(PAGE)), sentence, "words that are not there")
    assert len(at.error) == 1
    at = ask(at, "Über allen Gipfeln")
    assert not at.error
    assert said(at)
    assert "attribution-answer" not in html(at)


def test_an_adapted_line_is_offered_as_likely_with_the_difference(app):
    work, sentence = quoted(app)
    words = sentence.split()
    texts = [" ".join("lantern" if at % n == 1 else word for at, word in enumerate(words)) for n in (5, 4, 3, 2)]
    found = [app.bench.attribution.run(AttributionRequest(text=text)) for text in texts]
    changed = next(each.target.text for each in found if each.likely)
    at = ask(sound(app.open(PAGE)), changed)
    heading = plain(re.search(r'id="attribution-answer">(.*?)</h2>', html(at))[1])
    assert heading == f"Likely {work.title}"
    assert "<ins>lantern</ins>" in html(at)
    assert "<del>" in html(at)


def test_words_are_sought_by_what_stands_around_them(app):
    _, sentence = quoted(app)
    at = sound(app.open(PAGE))
    at.selectbox(key="attribution_by").set_value("masked")
    at = ask(at, f"The bolt and the lamp of the lock. “{sentence}” The keeper of the lock.", sentence)
    assert at.query_params["by"] == "masked"
    assert html(at).count('class="relic-card"')
    assert sound(app.open(PAGE, **at.query_params)).selectbox(key="attribution_by").value == "masked"
