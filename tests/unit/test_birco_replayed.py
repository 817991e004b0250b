"""Rankings that BIRCO's authors published, replayed by a server as if a model gave them: our figures are theirs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relic_core.domain import ContextSize
from relic_core.evaluation.metrics import figure
from relic_core.language_models.prompts import claim_text
from relic_core.ports import silent
from relic_core.retrieval import read_by_model
from relic_core.wiring import build
from tests.chat_server import parts, serving

pytestmark = [pytest.mark.corpus, pytest.mark.usefixtures("kept_open")]

PRINTED = {"llm-score": ("GPT-4_score_O", 55.91, 77.08), "llm-subtask": ("GPT-4_subtask_O", 53.67, 62.50)}
"""nDCG@10 and R@5 of BIRCO's published rankings, on the 48 queries at hand."""
OTHERS = (
    "GPT-4_reason_O",
    "StripedHyena_7B_subtask_O",
    "llama_70b_subtask_O",
    "Monot5",
    "e5_rank",
    "Rankgpt_llama70b_O",
)
SHAPE = ContextSize(4, 4)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


class Replayed:
    """BIRCO's data, and a server that answers as the ranking says which the model asked is called after."""

    def __init__(self, folder, settings, chat):
        self.published = json.loads((folder / "published_rankings.json").read_text("utf-8"))
        self.golds = {pool["query_id"]: pool["relevant"][0] for pool in lines(folder / "pools.jsonl")}
        self._settings = replace(
            settings, benchmarks=folder.parent, reader=chat.address, reader_run_tokens=10**9, reader_context=100_000
        )
        self._benchmark = build(self._settings).benchmarks.open("birco-pools")
        self._queries = {claim_text(window.claim(SHAPE)): window.id for window in self._benchmark.windows()}
        self._passages = {}
        for each in lines(folder / "passages.jsonl"):
            self._passages.setdefault(" ".join(each["text"].split()), []).append(each["id"])
        chat.answer = self._answer
        self._rankings = {}

    def _place(self, claim, passage):
        order = self._rankings[self._queries[claim]]
        return next(order.index(each) for each in self._passages[passage] if each in order)

    def _answer(self, messages):
        instructions, ((_, claim), *passages) = messages[0]["content"], parts(messages)
        if '"criteria"' in instructions and not passages:
            return '{"criteria": ["It is as published."]}'
        if '"order"' in instructions:
            best = sorted(passages, key=lambda each: self._place(claim, each[1]))
            return json.dumps({"order": [code for code, _ in best]})
        return json.dumps({"score": 10 - self._place(claim, passages[-1][1]) / 10})

    def outcomes(self, name, system):
        """Measure over a random first ranking, all of each pool."""
        self._rankings = self.published[system]
        app = build(replace(self._settings, reader_model=system))
        (retriever,) = app.measuring.with_server([name], self._benchmark, objective="on", top=60, over="random")
        return app.measuring.measure(self._benchmark, retriever, SHAPE, progress=silent)

    def ranks(self, system):
        """Give the rank of each gold as it was published."""
        return {query: self.published[system][query].index(gold) + 1 for query, gold in self.golds.items()}


@pytest.fixture
def replayed(shared, settings):
    with serving() as chat:
        yield Replayed(shared / "benchmarks" / "birco_relic", settings, chat)


@pytest.mark.parametrize("name", PRINTED)
def test_gpt_4_s_published_rankings_have_their_figures(replayed, name):
    system, *printed = PRINTED[name]
    measured = replayed.outcomes(name, system)
    assert [round(100 * figure(each, measured.outcomes), 2) for each in ("ndcg@10", "recall@5")] == printed
    assert {outcome.example_id: outcome.rank for outcome in measured.outcomes} == replayed.ranks(system)
    assert int(measured.run.machine["model calls"]) >= sum(outcome.candidates for outcome in measured.outcomes)


def test_other_published_rankings_come_up_to_the_place(replayed, monkeypatch):
    monkeypatch.setattr(read_by_model, "WINDOW", 60)  # all of a pool: one call for a claim, and the whole ranking
    for system in OTHERS:
        measured = replayed.outcomes("llm-rank", system)
        assert {each.example_id: each.rank for each in measured.outcomes} == replayed.ranks(system), system
