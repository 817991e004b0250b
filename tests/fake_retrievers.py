"""Retrievers by meaning without a language model, put into a workbench."""

from __future__ import annotations

from relic_core.retrieval.dense import Dense
from relic_core.retrieval.reranked import Reranked
from tests.fake_encoder import FakeEncoder
from tests.making_rerankers import CountingReranker


def fake_reranked(settings, components):
    """Make a retriever that puts first what has most e's of the best thirty; takes the place of `reranked.create`."""
    return Reranked(components[0], CountingReranker("e"))


def use_fakes(bench):
    """Have a workbench search by meaning with a fake encoder, and put first what has most e's of the best thirty."""
    made = bench.retrievers._made
    made["dense-relic"] = Dense("dense-relic", encoder=FakeEncoder, root=bench.settings.indexes)
    made["reranked"] = fake_reranked(bench.settings, [bench.retrievers.get("fusion")])
