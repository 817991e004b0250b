"""Passages that a model recalls: what stands in the work comes first as the work has it, what does not is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from relic_core.domain import Claim, Corpus, Span, rank_scores
from relic_core.errors import ReaderUnavailable, RelicError
from relic_core.retrieval.recalled import Recalled
from relic_core.text.placing import Places, quoted_span, recalled_span
from tests.chat_server import parts, serving
from tests.making import make_work

SENTENCES = [
    "The ferry left the quay at dusk, and nobody on board spoke.",
    "The river is high tonight, said the ferryman, and it will be higher before the morning.",
    "My sister had written to me in March about the house and the debts.",
    "I had not answered her letter, for I did not know what to say to her.",
    "In the morning the orchard was white with frost, and a fox crossed it slowly.",
    "The schoolmaster counted his coins twice, for he was a miser and proud of it.",
]
WORK = make_work(SENTENCES[:3], SENTENCES[3:], title="The Ferry")
CLAIM = Claim("The letter stays unanswered")


@pytest.fixture
def chat():
    with serving() as chat:
        yield chat


@pytest.fixture
def named(settings, chat):
    return replace(settings, reader=chat.address, reader_model="tiny")


def saying(*passages):
    return lambda messages: json.dumps({"passages": passages})


def recalled(named, task="recall", **options):
    return Recalled(None, named, task, **options)


def order(retriever, length=1, work=WORK, claim=CLAIM):
    scores = -np.arange(work.candidates(length), dtype=np.float32)
    return retriever.combine(claim, Corpus.of(work), [rank_scores("x", work.id, length, scores)]).order.tolist()


@pytest.mark.parametrize(
    ("words", "span"),
    [
        (SENTENCES[3], Span(3, 1)),
        (SENTENCES[3].upper().replace(",", " —"), Span(3, 1)),
        (f"{SENTENCES[1]} {SENTENCES[2]}", Span(1, 2)),
        ("In the morning the orchard lay white with the frost, and a fox crossed it slow.", Span(4, 1)),
        ("In the morning the garden was full of children, and a dog ran through it.", None),
        ("The schoolmaster was generous and gave his coins to the poor of the parish.", None),
        ("", None),
    ],
)
def test_words_are_of_a_work_where_they_are_like_a_passage_of_it(words, span):
    assert quoted_span(Places(WORK), WORK, words) == recalled_span(Places(WORK), WORK, words) == span


@pytest.mark.parametrize(
    ("words", "span"),
    [
        ("In the morning the orchard was white", Span(4, 1)),
        ("“and a fox crossed — IT slowly”", Span(4, 1)),
        ("counted his coins twice, for he", Span(5, 1)),  # six words out of the middle
        ("and nobody on board spoke. The river is high tonight", Span(0, 2)),
        ("crossed it slowly. The schoolmaster", None),  # five words
        ("I did not know what to", None),  # in the work to the letter, as in any other
        ("The river is high tonight, said the captain,", None),  # a word is another's
    ],
)
def test_a_part_of_a_sentence_counts_where_it_is_recalled_to_the_letter(words, span):
    places = Places(WORK)
    assert recalled_span(places, WORK, words) == span
    assert quoted_span(places, WORK, words) is None  # RELiC's rule, by which rankings of others are taken in


def test_what_stands_in_the_work_comes_first_and_what_does_not_is_counted(named, chat):
    chat.answer = saying(SENTENCES[4], "She wept over the letter all night long, and burnt it.", SENTENCES[3][:-5])
    retriever = recalled(named)
    assert order(retriever) == [4, 3, 0, 1, 2, 5]
    found = retriever.recall(CLAIM, WORK)
    assert (found.given, found.lost, found.spans) == (3, 1, (Span(4, 1), Span(3, 1)))
    assert len(chat.asked) == 1


@pytest.mark.parametrize(("length", "first"), [(2, 3), (3, 2), (5, 1), (6, 0)])
def test_a_candidate_of_any_length_holds_what_was_recalled(named, chat, length, first):
    chat.answer = saying(SENTENCES[3])
    assert order(recalled(named), length)[0] == first


def test_where_nothing_is_recalled_the_order_stays(named, chat):
    for answer in (saying(), lambda _: "I know this novel well."):
        chat.answer = answer
        assert order(recalled(named), claim=Claim(str(answer))) == list(range(6))


def test_with_the_text_every_part_is_asked_and_parts_overlap(named, chat):
    chat.answer = lambda messages: json.dumps({"passages": [parts(messages)[2][1].split(". ")[0]]})
    long = make_work(
        [f"{sentence} {number}." for number in range(60) for sentence in SENTENCES], title="The Long Ferry"
    )
    retriever = recalled(replace(named, reader_context=4_000), "recall-text")
    assert sorted(order(retriever, work=long)) == list(range(360))
    texts = [parts(body["messages"])[2][1] for body in chat.asked]
    assert len(texts) > 3
    assert all(long.sentence_text(at) in " ".join(texts) for at in range(360))
    assert sum(map(len, texts)) > len(" ".join(long.sentence_text(at) for at in range(360)))


def test_a_context_too_small_for_parts_is_said(named):
    with pytest.raises(ReaderUnavailable, match="RELIC_READER_CONTEXT"):
        order(recalled(replace(named, reader_context=1_500), "recall-text"))


def test_it_recalls_of_one_work_at_a_time(named):
    with pytest.raises(RelicError, match="one work"):
        recalled(named).combine(CLAIM, Corpus((), {}.__getitem__), [None])


def test_it_says_by_which_rule_a_passage_is_recalled_beside_what_the_first_retriever_says(named):
    first = SimpleNamespace(name="bm25", configuration={"code": "bm25/1"})
    said = Recalled(first, named, "recall").configuration
    assert (said["code"], said["bm25 code"]) == ("recalled/2", "bm25/1")


def test_a_run_counts_what_is_not_in_the_work(named, chat):
    chat.answer = saying(SENTENCES[4], "She wept over the letter all night long, and burnt it.")
    run = recalled(named, run=True, objective="")
    order(run)
    assert {run.usage[name] for name in run.usage if "recalled" in name} == {1, 2}
