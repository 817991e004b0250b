"""Find with a language model on a server: its columns, pressed and read, and what is said of where the words go."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from relic_core.config import Settings
from relic_core.domain import SearchRequest
from relic_core.services.model_reading import SYNTHESIS
from tests.app.conftest import APP
from tests.app.reading import FIND, found, html, said, sound
from tests.app.test_signing_in import ADA, AUTH
from tests.chat_server import by_shared_words, parts, serving

CLAIM = "The brass bolt stands for a false certainty"
READ = "find_read_llm-reason"
HELP, DOCUMENT, TRY = "pages/help.py", "reading_by_model", "language_model_try"
ASK = "find_further_ask"


@pytest.fixture
def chat(app, monkeypatch):
    """Name a server for the app, and let jobs run at once."""
    with serving(answer=by_shared_words) as chat:
        name_server(app, monkeypatch, chat.address)
        yield chat


def name_server(app, monkeypatch, address, model="tiny"):
    app.settings = replace(app.settings, reader=address, reader_model=model, reader_passages=5)
    for name, value in app.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    app.run_jobs()


def ask(app, *retrievers):
    at = app.open(FIND)
    at.get_by_key("find_retrievers").set_value(list(retrievers))
    at.get_by_key("find_length").set_value(1)
    return found(at, CLAIM)


def ask_for_best(app, claim=CLAIM):
    at = app.open(FIND)
    at.get_by_key("find_retrievers").set_value(["bm25", "llm-reason"])
    return sound(found(at, claim).get_by_key("find_view").set_value("best").run())


def test_without_a_server_no_column_of_a_model_is_offered(app):
    at = sound(app.open(FIND))
    assert not any("Read by" in option for option in at.get_by_key("find_retrievers").options)


def test_a_column_is_read_when_it_is_pressed_and_says_why(app, chat):
    at = ask(app, "bm25", "llm-reason")
    assert chat.asked == []
    assert "this computer" in html(at)
    assert "relic-reading" not in html(at)
    sound(at.button(key=READ).click().run())
    assert len(chat.asked) == 5
    assert html(at).count('class="relic-reading"') == 5
    assert not any(button.key == READ for button in at.button)
    again = ask(app, "bm25", "llm-reason")
    assert html(again).count('class="relic-reading"') == 5
    assert len(chat.asked) == 5


def test_help_says_what_is_set_but_the_key_and_has_it_answer_before_any_search(app, chat, monkeypatch):
    chat.answer = lambda _: "ready"
    monkeypatch.setenv("RELIC_READER_KEY", "sk-very-secret")
    at = sound(app.open(HELP, page=DOCUMENT))
    assert {chat.address, "tiny", "8,192"} <= set(re.split(r"[<> ]", html(at)))
    assert chat.asked == []
    sound(at.button(key=TRY).click().run())
    assert "tiny-q4" in at.success[0].value.replace("\\", "")
    assert len(chat.asked) == 1
    assert "sk-very-secret" not in html(at) + said(at)
    assert [box.key for box in at.text_input] == ["help_words"], "no address is typed here"


def test_help_says_what_to_set_where_no_model_is(app):
    at = sound(app.open(HELP, page=DOCUMENT))
    named = Settings(**tomllib.loads(at.code[0].value))
    assert named.reader
    assert named.reader_model
    assert not any(button.key == TRY for button in at.button)


def signed_in(page, sub="8", /, **query):
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.secrets["auth"], at.user = AUTH, ADA | {"sub": sub}
    for name, value in query.items():
        at.query_params[name] = value
    return sound(at.switch_page(page).run())


def test_where_people_sign_in_the_address_is_not_shown(app, monkeypatch):
    name_server(app, monkeypatch, "http://127.0.0.1:9/v1")
    at = signed_in(HELP, page=DOCUMENT)
    at = sound(at.button(key=TRY).click().run())
    assert said(at)
    assert "this computer" in html(at)
    assert "127.0.0.1" not in html(at) + said(at)


def test_other_pages_of_help_are_about_no_model(app, chat):
    assert not any(button.key == TRY for button in sound(app.open(HELP, page="citing")).button)


@pytest.mark.parametrize(
    ("deed", "says"), [("always 401", "RELIC_READER_KEY"), ("always 404", "tiny"), ("", "RELIC_READER")]
)
def test_a_model_that_does_not_answer_is_said_in_words(app, chat, monkeypatch, deed, says):
    chat.misbehaviour = [deed] if deed else []
    name_server(app, monkeypatch, chat.address if deed else "http://127.0.0.1:9/v1", model="huge")
    at = sound(app.open(HELP, page=DOCUMENT))
    assert says not in said(at)
    assert says in said(sound(at.button(key=TRY).click().run()))
    assert not at.success


def test_another_machine_is_not_even_tried_before_it_is_allowed(app, monkeypatch):
    name_server(app, monkeypatch, "https://api.example.org/v1")
    at = sound(app.open(HELP, page=DOCUMENT))
    assert not any(button.key == TRY for button in at.button)
    at = sound(at.button(key="find_allow_language_model").click().run())
    assert any(button.key == TRY for button in at.button)


def test_the_options_of_find_lead_to_the_model(app, monkeypatch):
    to = f'href="help?page={DOCUMENT}"'
    assert to in html(sound(app.open(FIND)))
    name_server(app, monkeypatch, "http://127.0.0.1:9/v1")
    (link,) = re.findall(rf"{re.escape(to)}[^>]*>([^<]*)", html(sound(app.open(FIND))))
    assert "tiny" in link


def test_each_card_that_a_model_read_or_judged_names_it_shortened_as_text(app, chat, monkeypatch):
    name_server(app, monkeypatch, chat.address, model=f"<i>{'a' * 200}</i>")
    short = f"&lt;i&gt;{'a' * 20}"
    at = sound(ask(app, "bm25", "llm-reason").button(key=READ).click().run())
    readings = re.findall(r'<aside class="relic-reading">.*?</aside>', html(at), re.DOTALL)
    assert [short in each for each in readings] == [True] * 5
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    (verdict,) = re.findall(r'<p class="relic-quiet">[^<]*: supports</p>', html(at))
    assert short in verdict
    assert "a" * 100 not in verdict + "".join(readings)
    assert "<i>a" not in html(at)


def test_what_a_model_writes_is_text(app, chat):
    chat.answer = lambda _: '{"reason": "<script>alert(1)</script> **so**", "words": "<i>no</i>", "score": 3}'
    at = sound(ask(app, "bm25", "llm-reason").button(key=READ).click().run())
    assert "&lt;script&gt;" in html(at)
    assert not {"<script>alert", "<i>no"} & {part for part in ("<script>alert", "<i>no") if part in html(at)}
    assert "relic-misquoted" in html(at)


def test_a_server_that_fails_is_said_on_the_column_and_the_others_stand(app, chat):
    chat.misbehaviour = ["always 401"]
    at = sound(ask(app, "bm25", "llm-reason").button(key=READ).click().run())
    assert "RELIC_READER_KEY" in said(at)
    assert html(at).count("<article") >= 10
    chat.misbehaviour = []
    sound(at.button(key=READ).click().run())
    assert html(at).count('class="relic-reading"') == 5


def test_another_machine_is_named_and_asked_about_once_before_anything_is_sent(app, monkeypatch):
    name_server(app, monkeypatch, "https://api.example.org/v1")
    at = sound(ask(app, "bm25", "llm-reason"))
    assert "api.example.org" in said(at)
    assert html(at).count("<article") >= 5
    assert not any(button.key == READ for button in at.button)
    at = sound(at.button(key="find_allow_llm-reason").click().run())
    assert any(button.key == READ for button in at.button)
    again = ask(app, "bm25", "llm-reason")
    assert any(button.key == READ for button in again.button)
    assert not app.bench.model_reading.job(app.bench.history.recent(1)[0].id, "llm-reason")


def test_an_objective_of_one_s_own_is_kept_for_the_claim(app, chat):
    at = ask(app, "bm25", "llm-reason")
    key = "find_objective_text_llm-reason"
    at.text_area(key=key).set_value("Wanted is a doubt.")
    sound(at.button(key=f"{key}_use").click().run())
    sound(at.button(key=READ).click().run())
    assert all("Wanted is a doubt." in body["messages"][0]["content"] for body in chat.asked)


def test_what_is_kept_from_it_carries_the_model_and_its_reason(app, chat):
    at = sound(ask(app, "bm25", "llm-reason").button(key=READ).click().run())
    (search,) = [each for each in app.bench.history.recent(5) if "llm-reason" in each.request.retrievers]
    result = app.bench.search.run(search.request)
    card = result.columns[1].cards[0]
    assert html(at)
    made_with = app.bench.model_reading.made_with(search.id, "llm-reason", card.work, str(card.place.address), 1)
    assert "tiny" in made_with
    assert "words with the claim" in made_with


def test_criteria_are_shown_and_those_of_the_scholar_take_their_place(app, chat):
    at = sound(ask(app, "bm25", "llm-subtask").button(key="find_read_llm-subtask").click().run())
    key = "find_objective_text_llm-subtask"
    (criteria,) = [area for area in at.text_area if area.value == "It uses words of the claim."]
    criteria.set_value("It names the bolt.\n\nIt is brass.")
    sound(at.button(key=f"{key}_use").click().run())
    (search,) = [each for each in app.bench.history.recent(5) if "llm-subtask" in each.request.retrievers]
    claim = app.bench.search.run(search.request).claim
    assert app.bench.model_reading.criteria(claim) == ("It names the bolt.", "It is brass.")


def test_a_search_of_somebody_who_has_a_model_opens_without_one(app):
    (work,) = app.bench.works.summaries()
    request = SearchRequest(work_id=work.id, claim_text=CLAIM, length=1, retrievers=("bm25", "llm-reason"))
    search = app.bench.history.keep(request, made_with="bm25")
    at = sound(app.open(FIND, q=search.id))
    assert html(at).count("<article") >= 5


def test_the_model_proposes_how_to_split_a_claim_and_nothing_is_searched(app, chat):
    at = sound(app.open(FIND))
    at.text_area(key="find_claim").set_value("Storms are feared, nobody is at sea")
    at = sound(at.button(key="find_model_split").click().run())
    assert at.text_area(key="find_claim").value == "Storms are feared"
    assert (at.get_by_key("find_joined_0").value, at.get_by_key("find_part_0").value) == ("not", "nobody is at sea")
    assert not app.bench.history.recent(1)


def test_a_claim_that_is_one_alone_is_left_as_it_is(app, chat):
    at = sound(app.open(FIND))
    at.text_area(key="find_claim").set_value(CLAIM)
    at = sound(at.button(key="find_model_split").click().run())
    assert at.text_area(key="find_claim").value == CLAIM
    assert at.toast


def test_the_best_evidence_is_read_together_and_what_is_not_in_the_work_is_struck_through(app, chat):
    at = ask_for_best(app)
    assert chat.asked == []
    at = sound(at.button(key="find_synthesis").click().run())
    assert len(chat.asked) == 1
    assert "<s>“a comet of pure marzipan”</s>" in html(at)
    assert html(at).count("<s>") == 1
    assert 'href="#hit-best-2"' in html(at)
    assert "(tiny): supports" in html(at)
    again = ask_for_best(app)
    assert html(again).count("<s>") == 1
    assert len(chat.asked) == 1


def test_a_verdict_of_the_reader_stands_in_place_of_the_model_s(app, chat):
    at = ask_for_best(app)
    search = app.bench.history.recent(1)[0]
    card = app.bench.search.run(search.request).best[0].card
    note = app.bench.notebook.keep(
        card.work.id, str(card.place.address), card.line.length, search_id=search.id, retriever="bm25"
    )
    app.bench.notebook.write(note.id, verdict="contradicts")
    at = sound(at.button(key="find_synthesis").click().run())
    assert "): supports" not in html(at)
    assert "contradicts" in html(at)


def test_a_synthesis_is_text_and_one_that_rests_on_nothing_is_refused(app, chat):
    chat.answer = lambda messages: json.dumps(
        {"sentences": [{"sentence": "<script>alert(1)</script>", "passages": [parts(messages)[1][0]]}], "verdicts": []}
    )
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    assert "&lt;script&gt;" in html(at)
    assert "<script>" not in html(at)
    chat.answer = lambda _: '{"sentences": [{"sentence": "So.", "passages": []}], "verdicts": []}'
    at = sound(ask_for_best(app, "Nobody is at sea").button(key="find_synthesis").click().run())
    assert "could not be read" in said(at)


def ask_further(at, question):
    (box,) = [each for each in at.text_input if each.key.startswith("find_further")]
    box.set_value(question)
    return sound(at.button(key=ASK).click().run())


def asked_further(at):
    return [unescape(each) for each in re.findall(r"<h3>([^<]*)</h3>", html(at).partition("relic-card")[0])]


def left_in_the_box(at):
    return [each.value for each in at.text_input if each.key.startswith("find_further")]


def test_what_is_asked_further_is_answered_below_in_its_order_and_stays_with_the_search(app, chat):
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    at = ask_further(ask_further(at, "Who <b>pays</b>?"), "And when?")
    assert asked_further(at) == ["Who <b>pays</b>?", "And when?"]
    assert left_in_the_box(at) == [""]
    shown = html(at)
    assert shown.index("marzipan") < shown.index("Asked Who") < shown.index("Asked And when?")
    assert shown.count("<s>“a tureen of sheer basalt”</s>") == 2
    assert "<b>pays" not in shown
    assert "(tiny): supports" in shown
    assert len(chat.asked) == 3
    assert asked_further(sound(at.run())) == ["Who <b>pays</b>?", "And when?"]
    again = sound(app.open(FIND, q=at.query_params["q"]).get_by_key("find_view").set_value("best").run())
    assert asked_further(again) == ["Who <b>pays</b>?", "And when?"]
    assert len(chat.asked) == 3
    other = sound(found(at, "Nobody is at sea").button(key="find_synthesis").click().run())
    assert asked_further(other) == []
    assert left_in_the_box(other) == [""]


def test_a_question_that_fails_is_said_and_stays_in_the_box_until_it_is_answered(app, chat):
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    chat.misbehaviour = ["always 401"]
    at = ask_further(at, "Who pays?")
    assert "RELIC_READER_KEY" in said(at)
    assert (asked_further(at), left_in_the_box(at)) == ([], ["Who pays?"])
    assert "marzipan" in html(at)
    chat.misbehaviour = []
    at = sound(at.button(key=ASK).click().run())
    assert "RELIC_READER_KEY" not in said(at)
    assert (asked_further(at), left_in_the_box(at)) == (["Who pays?"], [""])


def test_nothing_is_asked_where_nothing_is_typed(app, chat):
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    ask_further(at, "  ")
    assert len(chat.asked) == 1


def two_questions(app, chat):
    """Ask two questions further, then change the objective, for which nothing is answered yet."""
    at = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    at = ask_further(ask_further(at, "Who pays?"), "And when?")
    (search,) = app.bench.history.recent(1)
    app.bench.model_reading.choose(app.bench.search.run(search.request).claim, "Wanted is a doubt.")
    at = sound(at.run())
    assert asked_further(at) == []
    return at


def test_what_was_asked_further_is_answered_anew_for_another_objective(app, chat):
    at = sound(two_questions(app, chat).button(key="find_synthesis").click().run())
    assert (asked_further(at), left_in_the_box(at)) == (["Who pays?", "And when?"], [""])


def test_a_question_behind_one_that_is_not_answered_any_more_is_not_lost(app, chat):
    at = two_questions(app, chat)
    chat.misbehaviour = ["fine", "always 401"]
    at = sound(at.button(key="find_synthesis").click().run())
    assert (asked_further(at), left_in_the_box(at)) == ([], ["Who pays?"])
    chat.misbehaviour = []
    assert asked_further(ask_further(at, "Who gains?")) == ["Who gains?", "And when?"]


def in_two_tabs(app):
    """Have the best passages of a search read together, and open it again."""
    one = sound(ask_for_best(app).button(key="find_synthesis").click().run())
    other = sound(app.open(FIND, q=one.query_params["q"]).get_by_key("find_view").set_value("best").run())
    return one, other


def test_what_was_typed_in_another_tab_is_asked_behind_what_was_answered_meanwhile(app, chat):
    one, other = in_two_tabs(app)
    ask_further(one, "Who pays?")
    other = ask_further(other, "And when?")
    assert (asked_further(other), left_in_the_box(other)) == (["Who pays?", "And when?"], [""])


def test_what_was_typed_while_another_tab_has_it_read_stays_in_the_box(app, chat):
    one, other = in_two_tabs(app)
    app.bench.model_reading.start(one.query_params["q"], SYNTHESIS, further=["Who pays?"])
    other = ask_further(other, "And when?")
    assert left_in_the_box(other) == ["And when?"]
    assert other.button(key=ASK).disabled
    assert app.bench.model_reading.further(one.query_params["q"], "") == ["Who pays?"]


def test_where_people_sign_in_each_sees_the_questions_that_they_asked(app, chat):
    search_id = ask_for_best(app).query_params["q"]

    def visit(sub):
        return sound(signed_in(FIND, sub, q=search_id).get_by_key("find_view").set_value("best").run())

    ada = sound(visit("ada").button(key="find_synthesis").click().run())
    assert asked_further(ask_further(ada, "Who pays?")) == ["Who pays?"]
    assert asked_further(ask_further(visit("ben"), "And when?")) == ["And when?"]
    assert asked_further(visit("ada")) == ["Who pays?"]
