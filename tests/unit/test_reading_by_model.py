"""A language model's server reads the top k of a ranking: orders, ties, retries, what is kept, limits, stopping."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import Claim, Corpus, rank_scores
from relic_core.errors import JobCancelled, ReaderUnavailable
from relic_core.language_models import server as client
from relic_core.language_models.prompts import SUPPORTS
from relic_core.ports import silent
from relic_core.retrieval import registry
from relic_core.retrieval.read_by_model import ReadByModel, stopped
from tests.chat_server import by_shared_words, parts, serving
from tests.making import make_work

CLAIM = Claim("The fox is proud:", "and hungry", masked=True)
WORK = make_work([[f"The fox saw {number} geese at dawn." for number in range(60)]], title="The Fox")
NUMBER = re.compile(r"saw (\d+) geese")
METHODS = ("score", "reason", "subtask", "rank")


def number_of(text) -> int:
    return int(NUMBER.search(text)[1])


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(client, "_PAUSE", 0.01)


@pytest.fixture
def chat():
    with serving() as chat:
        yield chat


@pytest.fixture
def first():
    """Rank as the text goes: 0 first."""

    class AsItGoes:
        name, encoder_identity, configuration = "random", "", {"code": "0"}

        def ready(self, work, *lengths):
            return True

        def prepare(self, work, progress, *, lengths=()): ...

        def score(self, claim, work, length):
            return -np.arange(work.candidates(length), dtype=np.float32)

    return AsItGoes()


@pytest.fixture
def named(settings, chat):
    return replace(settings, reader=chat.address, reader_model="tiny", reader_seconds=5.0, reader_at_once=8)


def make(first, named, method="score", **options):
    return ReadByModel(first, named, method, **options)


def order(retriever, progress=silent, claim=CLAIM, work=WORK):
    ranking = retriever.combine(
        claim, Corpus.of(work), [rank_scores("random", work.id, 1, retriever._first.score(claim, work, 1))], progress
    )
    return ranking.order.tolist()


def scored(value):
    """Answer every question for a score by what a function makes of the passage's number; criteria by one."""

    def answer(messages):
        if len(parts(messages)) == 1:
            return '{"criteria": ["It has geese.", "It is dawn."]}'
        return json.dumps({"score": value(number_of(parts(messages)[-1][1]))})

    return answer


@pytest.mark.parametrize("method", ["score", "reason", "subtask"])
def test_passages_stand_by_score_ties_in_the_prior_order_and_the_rest_below(first, named, chat, method):
    chat.answer = scored(lambda number: number % 3)
    found = order(make(first, named, method, top_k=7))
    assert found[:7] == [2, 5, 1, 4, 0, 3, 6]
    assert found[7:] == list(range(7, 60))


def test_requests_run_side_by_side_up_to_the_limit(first, named, chat):
    chat.misbehaviour = ["always slow"]
    order(make(first, replace(named, reader_at_once=3), top_k=12))
    assert 1 < chat.most_at_once <= 3


def test_each_criterion_is_scored_by_itself_and_the_mean_counts(first, named, chat):
    asked = []

    def answer(messages):
        if '"criteria"' in messages[0]["content"]:
            return '{"criteria": ["geese", "dawn"]}'
        _, (_, criterion), (_, passage) = parts(messages)
        asked.append(criterion)
        return json.dumps({"score": number_of(passage) if criterion == "geese" else 4 - 2 * number_of(passage)})

    chat.answer = answer
    retriever = make(first, named, "subtask", top_k=3)
    assert order(retriever)[:3] == [0, 1, 2]
    assert sorted(asked) == ["dawn"] * 3 + ["geese"] * 3
    texts = [WORK.sentence_text(at) for at in range(3)]
    assert [each.score for each in retriever.readings(CLAIM, texts)] == [2.0, 1.5, 1.0]
    assert retriever.readings(CLAIM, texts)[1].criteria == (("geese", 1.0), ("dawn", 2.0))


def test_a_true_comparator_brings_the_first_ten_of_fifty_up_in_four_calls(first, named, chat):
    def answer(messages):
        passages = parts(messages)[1:]
        return json.dumps({"order": [code for code, text in sorted(passages, key=lambda each: -number_of(each[1]))]})

    chat.answer = answer
    assert order(make(first, named, "rank", top_k=50))[:10] == list(range(49, 39, -1))
    assert len(chat.asked) == 4
    assert [len(parts(body["messages"])) for body in chat.asked] == [21] * 4


@pytest.mark.parametrize(("top_k", "calls"), [(1, 1), (5, 1), (20, 1), (21, 2), (30, 2), (31, 3)])
def test_any_number_of_passages_is_put_in_order(first, named, chat, top_k, calls):
    chat.answer = by_shared_words
    assert sorted(order(make(first, named, "rank", top_k=top_k))[:top_k]) == list(range(top_k))
    assert len(chat.asked) == calls


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_the_order_stays(first, named, chat, method):
    chat.answer = lambda messages: "I would rather not."
    retriever = make(first, named, method, top_k=5, run=True)
    for _ in range(2):
        assert order(retriever) == list(range(60))
    asked = {"score": 5, "reason": 5, "subtask": 1, "rank": 1}[method]
    assert len(chat.asked) == 2 * asked
    assert retriever.usage["model answers unreadable"] == 2 * asked  # of each asking
    assert len({json.dumps(body["messages"]) for body in chat.asked}) == 2 * asked


def test_the_second_answer_counts_where_the_first_cannot_be_read(first, named, chat):
    said = []

    def answer(messages):
        said.append(messages)
        return "Hm." if len(said) == 1 else '{"score": 3}'

    chat.answer = answer
    retriever = make(first, named, top_k=1, run=True)
    order(retriever)
    assert len(said) == 2
    assert retriever.usage["model answers unreadable"] == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_same_question_is_not_asked_twice_not_even_after_a_restart(first, named, chat, method):
    chat.answer = by_shared_words
    found = order(make(first, named, method, top_k=25))
    asked = len(chat.asked)
    chat.misbehaviour = ["always 500"]
    assert order(make(first, named, method, top_k=25)) == found
    assert len(chat.asked) == asked
    assert order(make(first, replace(named, reader_model="other"), method, top_k=25), stopped) == list(range(60))


def test_a_stop_stops_within_a_second_and_keeps_what_was_read(first, named, chat):
    hang = threading.Event()

    def answer(messages):
        number = number_of(parts(messages)[1][1])
        if number > 9:
            hang.wait(20)
        return json.dumps({"score": 10 - number if number < 10 else 10})

    chat.answer = answer
    began, told = [], []

    def progress(done, total, note=""):
        told.append((done, total))
        if done >= 10:
            began.append(time.monotonic())
            raise JobCancelled("stop")

    retriever = make(first, named, top_k=50)
    try:
        assert order(retriever, progress) == list(range(60))
        assert time.monotonic() - began[0] < 1
    finally:
        hang.set()
    assert told[0] == (0, 50)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    readings = retriever.readings(CLAIM, [WORK.sentence_text(at) for at in range(50)])
    assert [each.score for each in readings] == [10.0 - at for at in range(10)] + [None] * 40


def test_what_was_read_before_the_server_failed_is_kept(first, named, chat):
    chat.answer = scored(lambda number: number % 10)
    calm = replace(named, reader_at_once=1)
    with pytest.raises(ReaderUnavailable, match="fault of its own"):
        chat.misbehaviour = ["fine", "fine", "fine", "always 500"]
        order(make(first, calm, top_k=10))
    chat.misbehaviour = []
    assert order(make(first, calm, top_k=10), stopped)[:10] == [2, 1, 0, *range(3, 10)]
    asked = len(chat.asked)
    assert order(make(first, calm, top_k=10))[:10] == list(range(9, -1, -1))
    assert len(chat.asked) == asked + 7


def test_tokens_are_limited_for_a_search_and_for_a_run(first, named, chat):
    chat.answer = scored(lambda number: 1)
    small = replace(named, reader_search_tokens=3_000, reader_run_tokens=3_000, reader_at_once=1)
    with pytest.raises(ReaderUnavailable, match="RELIC_READER_SEARCH_TOKENS"):
        order(make(first, small, top_k=50))
    read = len(chat.asked)
    assert 0 < read < 50
    with pytest.raises(ReaderUnavailable, match="used up"):
        order(make(first, small, top_k=50))  # another search goes on from there
    assert len(chat.asked) > read
    run = make(first, replace(small, reader_model="other"), top_k=5, run=True)
    with pytest.raises(ReaderUnavailable, match="used up"):
        for claim in ("one", "two", "three", "four", "five", "six"):
            order(run, claim=Claim(claim))


def test_a_run_counts_what_it_takes(first, named, chat):
    run = make(first, replace(named, reader_price=2.0), top_k=5, run=True)
    order(run)
    assert run.usage == {
        "model calls": 5, "model tokens": 500, "model answers unreadable": 0, "model cost": pytest.approx(0.001),
    }  # fmt: skip


def test_nothing_is_asked_where_no_server_is_set_up(first, settings):
    with pytest.raises(ReaderUnavailable, match="RELIC_READER"):
        order(make(first, settings))


def test_pages_offer_it_only_where_a_server_is_set_up(settings, named):
    names = [[card.name for card in registry.Retrievers(each, {}).cards() if card.server] for each in (settings, named)]
    assert names[0] == []
    assert "llm-reason" in names[1]
    assert "tiny" in registry.Retrievers(named, {}).card("llm-reason").title
    assert not any(card.server for card in registry.Retrievers(named, {}).default())


def test_the_objective_of_a_claim_is_the_one_chosen_for_it(first, named, chat):
    retriever = make(first, named, top_k=1)
    order(retriever)
    make(first, named).choose("objective", CLAIM, "Wanted is hunger.")
    order(retriever)
    order(retriever, claim=Claim("another"))
    order(make(first, named, top_k=1, objective=""))
    wanted = [SUPPORTS, "Wanted is hunger.", SUPPORTS, "close in meaning"]
    assert len(chat.asked) == 4
    assert all(text in body["messages"][0]["content"] for body, text in zip(chat.asked, wanted, strict=True))


def test_criteria_of_the_scholar_s_take_the_place_of_the_model_s(first, named, chat):
    chat.answer = scored(lambda number: number % 5)
    make(first, named, "subtask").choose("criteria", CLAIM, json.dumps(["It has geese."]))
    order(make(first, named, "subtask", top_k=4))
    assert len(chat.asked) == 4
    assert {parts(body["messages"])[1][1] for body in chat.asked} == {"It has geese."}


def test_a_run_is_named_by_model_digest_prompts_and_objective(first, named, chat):
    texts = (SUPPORTS, "", "Wanted: x")
    on, off, other = (make(first, named, "subtask", objective=text, run=True).configuration for text in texts)
    assert on["reranker reranker"] == "tiny"
    assert on["reranker weights"] == chat.digest
    assert (on["objective"], off["objective"], other["objective"]) == ("on", "off", "FILE")
    for task in ("criteria", "subtask"):
        assert len({each[f"reranker prompt {task}"] for each in (on, off, other)}) == len(texts)
