"""Claims joined by and, or, but not: probabilities, units, requests, and the search over a small work."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Condition, Corpus, SearchRequest, joined_claims, rank_scores, rank_works
from relic_core.domain.calibration import Sigmoid
from relic_core.domain.searches import split_claim
from relic_core.errors import BadRequest
from relic_core.formats.search_address import from_json, to_json
from relic_core.retrieval.composing import aligned, compose, compose_rankings, joining
from relic_core.retrieval.search import Findings, Question
from relic_core.wiring import build
from tests.making import make_work

P = st.floats(0, 1)
JOINED = st.lists(st.tuples(st.sampled_from(["and", "or", "not"]), P), min_size=1, max_size=5).filter(
    lambda rows: any(how != "not" for how, _ in rows)
)
WORK = make_work(
    [["Storms tore the roof away.", "Nobody spoke of floods."], ["The sea was calm, and so was he."]],
    [["Floods took the bridge.", "A storm at sea drowned the floods of talk."]],
    title="Weather",
)


def one(*rows):
    return float(compose([how for how, _ in rows], np.array([[p] for _, p in rows]))[0])


@pytest.mark.parametrize(("how", "expected"), [("and", 0.36), ("or", 0.94), ("not", 0.54)])
def test_two_probabilities_are_joined_as_independent_events(how, expected):
    assert one(("and", 0.9), (how, 0.4)) == pytest.approx(expected)


@given(JOINED, st.randoms())
def test_the_order_of_rows_never_changes_the_answer(rows, random):
    other = random.sample(rows, len(rows))
    assert one(*rows) == one(*other)
    assert 0 <= one(*rows) <= 1


@given(P, P, P)
def test_de_morgan_holds_and_what_is_certain_is_idempotent(p, q, r):
    assert 1 - one(("or", p), ("or", q)) == pytest.approx(one(("and", 1 - p), ("and", 1 - q)))
    either = one(("or", q), ("or", r))
    assert one(("and", p), ("not", q), ("not", r)) == pytest.approx(one(("and", p), ("not", either)))
    for sure in (0.0, 1.0):
        assert one(("and", sure), ("and", sure)) == one(("or", sure), ("or", sure)) == sure


def found(corpus, **masks):
    return Findings(question=Question(claim=None, wanted=frozenset()), corpus=corpus, length=1, masks=masks)


def test_a_unit_has_for_each_claim_the_probability_of_its_best_passage():
    rows = [Condition("and", "a"), Condition("and", "b")]
    scores = [[2, 0, 0, 0, 1], [0, 0, 2, 1, 0]]
    rankings = [rank_scores("x", WORK.id, 1, np.array(each, dtype=np.float32)) for each in scores]
    made = compose_rankings(rows, rankings, Sigmoid(2.0, -1.0), found(Corpus.of(WORK)), unit="chapter")
    assert made.bearing.tolist() == [[0, 4], [2, 3]]
    assert made.ranking.start.tolist() == [0, 3]
    best = Sigmoid(2.0, -1.0)((np.array(scores) - np.mean(scores[0])) / np.std(scores[0]))
    assert made.ranking.scores == pytest.approx([best[0, 0] * best[1, 2], best[0, 4] * best[1, 3]])
    (first,) = made.ranking.hits(1)
    assert made.at(first) == 0

    mask = np.array([False, True, True, True, True])
    masked = compose_rankings(
        rows, rankings, Sigmoid(2.0, -1.0), found(Corpus.of(WORK), **{WORK.id: mask}), unit="chapter"
    )
    assert masked.bearing.tolist() == [[1, 4], [2, 3]], "what a candidate is worth does not hang on the others"
    assert masked.probabilities[:, 1].tolist() == made.probabilities[:, 1].tolist()


def test_works_are_units_and_what_an_approximate_ranking_missed_counts_as_its_last():
    ranked = rank_works("x", 1, [("a", np.array([3, 1], np.float32)), ("b", np.array([2, 0], np.float32))])
    fewer = ranked.only(np.array([True, False, True, False]), left_out=0)
    whole, probabilities = aligned([ranked, fewer], Sigmoid(1.0, 0.0))
    assert len(whole) == 4
    assert probabilities[1].tolist() == [
        probabilities[1, 0],
        probabilities[1, 2],
        probabilities[1, 2],
        probabilities[1, 2],
    ]
    corpus = Corpus((), lambda _: None)
    made = compose_rankings([Condition("and", "a")], [ranked], Sigmoid(1.0, 0.0), found(corpus), unit="work")
    assert [hit.work_id for hit in made.ranking.hits(5)] == ["a", "b"]


# ---- what is asked --------------------------------------------------------------------------------------------------


def request(*rows, **further):
    conditions = tuple(Condition(*row) for row in rows)
    return SearchRequest(**{"work_id": "w", "claim_text": "storms", "conditions": conditions} | further)


@pytest.mark.parametrize(
    ("rows", "further"),
    [
        ([("not", "at sea")], {"claim_text": " "}),
        ([("or", " Storms ")], {}),
        ([("and", "")], {}),
        ([("and", "floods")], {"claim_text": ""}),
        ([("or", f"claim {number}") for number in range(5)], {}),
        ([("or", "floods")], {"unit": "work"}),
        ([("or", "floods")], {"unit": "chapter", "chapters": (2,)}),
        ([("or", "floods")], {"unit": "chapter", "work_id": ""}),
        ([], {"unit": "chapter"}),
    ],
)
def test_what_cannot_be_asked_is_refused(rows, further):
    with pytest.raises(BadRequest):
        request(*rows, **further)


def test_the_rows_in_any_order_are_one_question_that_is_kept_and_read_as_a_sentence():
    rows = [Condition("and", "proud"), Condition("and", "kind"), Condition("not", "before the letter")]
    for order in permutations(rows):
        claim, others = joined_claims(order)
        assert claim in {"proud", "kind"}
        asked = SearchRequest(work_id="w", claim_text=claim, conditions=others, unit="chapter")
        assert asked.sentence.endswith("but not “before the letter”")
        assert from_json(to_json(asked), "here") == asked
    assert "unit" not in to_json(SearchRequest(work_id="w", claim_text="a"))


@pytest.mark.parametrize(
    ("typed", "rows"),
    [
        ("Darcy is proud and he shows kindness in private but not before the letter", ["and", "and", "not"]),
        ("storms or floods", ["and", "or"]),
        ("Elizabeth and Darcy quarrel", []),
        ("Or else", []),
        ("a or b or c or d or e or f", []),
    ],
)
def test_a_sentence_is_parted_where_it_joins_claims(typed, rows):
    assert [row.joined for row in split_claim(typed)] == rows


# ---- the search -----------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(settings):
    bench = build(settings)
    bench.store.works.add(WORK)
    return bench


def ask(bench, *rows, **further):
    return bench.search.run(request(*rows, **{"work_id": WORK.id, "retrievers": ("bm25",)} | further))


def test_a_composed_search_says_what_each_passage_is_worth_for_each_claim(bench):
    (column,) = ask(bench, ("or", "floods"), ("not", "sea"), claim_text="storm").columns
    card = column.cards[0]
    assert [part.condition.claim_text for part in card.parts] == ["storm", "floods", "sea"]
    assert card.score == pytest.approx(
        one(*((each.condition.joined, each.probability) for each in card.parts)), abs=1e-6
    )
    (plain,) = ask(bench, ("or", "floods"), claim_text="storm").columns
    (without,) = (each.score for each in plain.cards if each.span == card.span)
    assert card.score == pytest.approx(without * (1 - card.parts[2].probability), abs=1e-6)
    least = joining("bm25", None).least(["and", "or", "not"])
    assert [each.answers for each in column.cards] == [each.score >= least for each in column.cards]
    assert column.candidates == 5


def test_in_the_best_evidence_what_answers_stands_above_what_does_not(bench):
    best = ask(bench, ("or", "floods"), claim_text="storm", retrievers=("bm25", "bm25-lemmas"), results=1).best
    answers = [each.card.answers for each in best if each.card.parts]
    assert answers == sorted(answers, reverse=True)


def test_chapters_answer_with_a_passage_for_each_claim_whatever_stands_between(bench):
    (column,) = ask(bench, ("and", "calm"), claim_text="roof", unit="chapter").columns
    assert len(column.cards) == 2
    assert [part.span.start for part in column.cards[0].parts] == [0, 2]


def test_a_retriever_without_probabilities_says_so_and_the_others_answer(bench):
    words, reranked = ask(bench, ("or", "floods"), retrievers=("bm25", "reranked")).columns
    assert words.cards
    assert reranked.note
    assert not reranked.cards


def test_the_command_joins_claims_and_the_history_has_the_sentence(run, bench):
    typed = ("search", "weather", "--or", "floods", "--or", "storm", "--not", "sea", "--retriever", "bm25")
    answer = json.loads(run(*typed, "--format", "json").out)
    assert answer["columns"][0]["hits"][0]["parts"][1]["or"] == "storm"
    kept = bench.history.recent()[0]
    assert kept.request.rows == (Condition("and", "floods"), Condition("or", "storm"), Condition("not", "sea"))
    searches, count = bench.history.asked(words="STORM")
    assert (searches, count) == ((kept,), 1)
    assert bench.history.asked(words="joined") == ((), 0), "no claim holds what the program notes beside them"
    assert run("search", "weather", "--not", "sea").code != 0
    assert "at " in run(*typed, "--unit", "chapter").out
