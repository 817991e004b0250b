"""The client of a language model's server: what it sends where, and what it says when there is no answer."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from relic_core.config import Settings
from relic_core.errors import BadRequest, ReaderUnavailable
from relic_core.language_models import server as module
from relic_core.language_models.server import Server
from relic_core.services import health
from tests.chat_server import serving

MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A passage."}]
KEY = "sk-very-secret"


@pytest.fixture
def chat():
    with serving() as chat:
        yield chat


@pytest.fixture
def named(settings, chat):
    return replace(settings, reader=chat.address, reader_model="tiny", reader_seconds=2.0)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(module, "_PAUSE", 0.01)


def ask(settings):
    return Server(settings).ask(MESSAGES, threading.Event())


def test_a_question_is_answered_and_asked_for_coolly(named, chat):
    said = ask(named)
    assert (said.text, said.tokens) == ('{"score": 5}', 100)
    assert {name: chat.asked[0][name] for name in ("model", "messages", "temperature", "stream")} == {
        "model": "tiny", "messages": MESSAGES, "temperature": 0, "stream": False,
    }  # fmt: skip
    assert chat.keys == [""]


def test_the_key_is_sent_and_stands_in_no_settings_and_no_error(named, chat, monkeypatch):
    monkeypatch.setenv("RELIC_READER_KEY", KEY)
    Settings.from_environment({"RELIC_READER_KEY": KEY})  # no unknown variable
    ask(named)
    assert chat.keys == [f"Bearer {KEY}"]
    assert KEY not in str(named.to_environment()) + repr(Server(named))
    for deed in ("401", "404", "400", "418"):
        chat.misbehaviour = [deed]
        with pytest.raises(ReaderUnavailable) as raised:
            ask(named)
        assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("deed", "says"),
    [
        ("401", "does not take the key"),
        ("404", "no model tiny"),
        ("always 500", "fault of its own"),
        ("always 429", "left alone"),
        ("always half", "half an answer"),
        ("always nothing", "half an answer"),
        ("context", "RELIC_READER_CONTEXT"),
        ("elsewhere", "refuses"),
        ("always hang", "RELIC_READER_SECONDS"),
        ("always drips", "RELIC_READER_SECONDS"),
        ("always drips its head", "RELIC_READER_SECONDS"),
    ],
)
def test_what_goes_wrong_is_said_in_words(named, chat, deed, says):
    chat.misbehaviour = [deed]
    with pytest.raises(ReaderUnavailable, match=says):
        ask(replace(named, reader_seconds=0.3))


def test_an_answer_without_an_end_is_given_up(named, chat):
    chat.misbehaviour = ["endless"]
    with pytest.raises(ReaderUnavailable, match="32 MB"):
        ask(named)


@pytest.mark.parametrize("deeds", [["429", "429"], ["500"], ["half", "503"]])
def test_a_server_that_is_busy_or_stumbles_is_asked_again(named, chat, deeds):
    chat.misbehaviour = [*deeds]
    assert ask(named).text
    assert len(chat.asked) == len(deeds) + 1


@pytest.mark.parametrize(
    "until",
    [lambda: "3600", lambda: format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)],
    ids=["seconds", "date"],
)
def test_one_that_wants_to_be_left_alone_for_long_is_not_waited_for(named, chat, until):
    chat.misbehaviour, chat.retry_after = ["always 429"], until()
    with pytest.raises(ReaderUnavailable, match=r"3,[56]\d\d seconds"):
        ask(named)
    assert len(chat.asked) == 1


def test_after_the_last_try_nothing_is_waited_for(named, chat, monkeypatch):
    waits, stop = [], threading.Event()
    monkeypatch.setattr(stop, "wait", waits.append)
    chat.misbehaviour = ["always 500"]
    with pytest.raises(ReaderUnavailable):
        Server(named).ask(MESSAGES, stop)
    assert len(chat.asked) == len(waits) + 1 > 1


def test_an_answer_that_is_no_text_is_half_an_answer(named, chat):
    chat.answer = lambda _: ["no", "text"]
    with pytest.raises(ReaderUnavailable, match="half an answer"):
        ask(named)


def test_a_server_that_is_not_there_is_named(settings):
    away = replace(settings, reader="http://127.0.0.1:9/v1", reader_model="tiny")
    with pytest.raises(ReaderUnavailable, match=r"no model's server on this computer"):
        ask(away)


def test_a_question_longer_than_the_context_is_not_sent(named, chat):
    with pytest.raises(ReaderUnavailable, match="RELIC_READER_CONTEXT"):
        ask(replace(named, reader_context=1_000))
    assert not chat.asked


def test_nothing_is_sent_to_another_machine_that_is_not_allowed(settings):
    away = replace(settings, reader="https://api.example.org/v1", reader_model="tiny")
    for allowed in ("", "example.org", "api.example.org.evil.net"):
        with pytest.raises(ReaderUnavailable, match=r"sent to api\.example\.org"):
            Server(replace(away, reader_allow=allowed))
    assert Server(replace(away, reader_allow="API.example.org")).place == "api.example.org"


def test_without_a_server_or_a_model_it_says_what_to_set(settings, chat):
    for lacking in (settings, replace(settings, reader=chat.address)):
        with pytest.raises(ReaderUnavailable, match="RELIC_READER_MODEL"):
            Server(lacking)


@pytest.mark.parametrize(
    "address",
    ["ftp://a.org", "no address", "http://a.org/v1?key=secret", "http://a.org/v1#secret"]
    + [f"http://{who}@a.org/v1" for who in ("me:secret", ":secret", "secret")],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused_and_not_repeated(address):
    with pytest.raises(BadRequest, match="RELIC_READER must be") as raised:
        Settings(reader=address)
    assert "secret" not in str(raised.value).replace("nothing secret", "")


def test_health_says_whether_it_answers_and_where_the_words_go(settings, named):
    def said(settings):
        return [(found.level, found.message) for found in health.language_model(settings)]

    assert said(settings) == []
    ((level, good),) = said(named)
    assert level == "good"
    assert "this computer" in good
    ((level, other),) = said(replace(named, reader_model="huge"))
    assert level == "notice"
    assert "tiny" in other
    ((level, none),) = said(replace(named, reader="https://api.example.org/v1"))
    assert level == "notice"
    assert "api.example.org" in none


def test_it_is_tried_by_one_question_and_named_as_the_server_names_it(named, chat):
    assert Server(named).try_out() == ('{"score": 5}', "tiny-q4")
    (found,) = health.try_language_model(named)
    assert (found.level, "tiny-q4" in found.message) == ("good", True)
    assert len(chat.asked) == 2
    chat.name = None
    assert Server(named).try_out()[1] == ""


@pytest.mark.parametrize("said", [" ", None, "<think>Ready for what"])
def test_one_that_used_the_answer_up_with_thinking_is_asked_once_and_noticed(named, chat, said):
    chat.answer = lambda _: said
    assert [found.level for found in health.try_language_model(named)] == ["notice"]
    assert len(chat.asked) == 1


def test_a_server_that_gives_the_key_for_its_name_does_not_have_it_shown(named, chat, monkeypatch):
    monkeypatch.setenv("RELIC_READER_KEY", KEY)
    chat.name = f"{'a' * 150} {KEY}"  # the end is cut off
    assert "sk-" not in Server(named).try_out()[1]


def test_tried_in_vain_it_says_why_once_and_which_models_there_are(named, chat):
    chat.misbehaviour = ["always 404"]
    why, listed = health.try_language_model(replace(named, reader_model="huge"))
    assert (why.level, "RELIC_READER_MODEL" in why.message) == ("bad", True)
    assert "tiny" in listed.message


@pytest.mark.parametrize("deed", ["always 401", "always 500"])
def test_tried_in_vain_for_another_reason_it_is_not_asked_for_its_models(named, chat, monkeypatch, deed):
    chat.misbehaviour, asked = [deed], []
    monkeypatch.setattr(Server, "models", lambda _: asked.append(1) or (["tiny"], 0.0))
    assert [found.level for found in health.try_language_model(replace(named, reader_model="huge"))] == ["bad"]
    assert not asked


@pytest.mark.parametrize(
    ("prefix", "text", "tokens"),
    [
        ("She said:", " nothing at all", [" nothing", " at", " all"]),
        ("She said: no", "thing", [" nothing"]),
        ("", "nothing more", ["nothing", " more"]),
    ],
)
def test_the_log_probabilities_of_a_text_behind_a_prefix(named, chat, prefix, text, tokens):
    assert Server(named).prompt_logprobs(prefix, text) == [(token, -len(token)) for token in tokens]
    assert {name: chat.asked[0][name] for name in ("prompt", "echo", "max_tokens")} == {
        "prompt": prefix + text, "echo": True, "max_tokens": 1,
    }  # fmt: skip


def test_a_character_cut_in_two_by_the_tokens_is_stepped_over(named, chat):
    tokens = ["A", "\ufffd", "\ufffd", "B", " on"]
    chat.logprobs = lambda _: {"tokens": tokens, "token_logprobs": [None, -1, -2, -3, -4]}
    assert Server(named).prompt_logprobs("A", "\u2014B") == [("\ufffd", -1), ("\ufffd", -2), ("B", -3)]


@pytest.mark.parametrize(
    "given", [None, {}, {"tokens": [" more"], "token_logprobs": [-1]}, {"content": [{"token": " more"}]}]
)
def test_a_server_without_log_probabilities_of_a_prompt_is_said_to_have_none(named, chat, given):
    chat.logprobs = lambda _: given
    with pytest.raises(ReaderUnavailable, match="log-probabilities"):
        Server(named).prompt_logprobs("She", " said")
    assert len(chat.asked) == 1


@pytest.mark.parametrize(
    ("deed", "says"),
    [("400", "log-prob"), ("404", "log-prob"), ("501", "log-prob"), ("401", "key"), ("context", "CONTEXT")],
)
def test_a_server_that_refuses_a_completion_says_why(named, chat, deed, says):
    chat.misbehaviour = [deed]
    with pytest.raises(ReaderUnavailable, match=says):
        Server(named).prompt_logprobs("She", " said")
