"""Dense retrieval, each span by itself: one matrix for each length, built once and in parts."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import Claim
from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadClaim, BadWeights, NoIndex, StaleIndex
from relic_core.ports import silent
from relic_core.retrieval import dense_alone, registry
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.dense_alone import BLOCK, DenseAlone
from tests import tiny_models
from tests.fake_encoder import FakeEncoder
from tests.making import make_work


@pytest.fixture
def work():
    return make_work(*([f"Word{chapter}x{i} stands here." for i in range(BLOCK // 2)] for chapter in range(3)))


def retriever(folder, encoder):
    return DenseAlone("demo", encoder=lambda: encoder, root=folder)


def span_texts(work, length):
    sentences = [work.sentence_text(index) for index in range(len(work.sentences))]
    return [" ".join(sentences[at : at + length]) for at in range(work.candidates(length))]


def test_a_score_is_the_product_of_the_claim_with_the_span_read_by_itself(tmp_path, work):
    encoder = FakeEncoder()
    alone = retriever(tmp_path, encoder)
    alone.prepare(work, silent, lengths=(3,))
    claim = Claim("word1x7 stands here", masked=True)
    texts = span_texts(work, 3)
    expected = encoder.encode_passages(texts) @ encoder.encode_claims([claim])[0]
    scores = alone.score(claim, work, 3)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_headings_between_sentences_are_not_read(tmp_path):
    """A span over the border of two chapters is its sentences, not the heading between them."""
    read = []

    class Listening(FakeEncoder):
        def encode_passages(self, passages):
            read.extend(passages)
            return super().encode_passages(passages)

    two = make_work(["The long\n  line was wrapped."], ["The end."])
    retriever(tmp_path, Listening()).prepare(two, silent, lengths=(2,))
    assert read == ["The long line was wrapped. The end."]


def test_only_the_wanted_lengths_are_prepared(tmp_path, work):
    encoder = FakeEncoder()
    alone = retriever(tmp_path, encoder)
    alone.prepare(work, silent, lengths=(2, 2, 7))
    assert [length for length in range(1, 9) if alone.ready(work, length)] == [2, 7]
    assert encoder.encoded == work.candidates(2) + work.candidates(7)
    with pytest.raises(NoIndex, match="A Small Work"):
        alone.score(Claim("word"), work, 3)


def test_without_a_word_all_lengths_that_pages_offer_are_prepared(tmp_path):
    small = make_work([f"Some{i} words{i}." for i in range(6)])
    alone = retriever(tmp_path, FakeEncoder())
    alone.prepare(small, silent)
    assert [length for length in range(1, 7) if alone.ready(small, length)] == [1, 2, 3, 4, 5]


def test_lengths_beyond_the_work_need_no_index(tmp_path):
    small = make_work(["One.", "Two."])
    alone = retriever(tmp_path, FakeEncoder())
    assert alone.ready(small, 3)
    assert alone.score(Claim("word"), small, 3).shape == (0,)
    with pytest.raises(BadClaim):
        alone.score(Claim("…"), small, 3)


def test_preparing_again_encodes_nothing_and_still_reports(tmp_path, work):
    encoder, told = FakeEncoder(), []
    for _ in range(2):
        retriever(tmp_path, encoder).prepare(work, lambda *step: told.append(step), lengths=(1,))
    assert encoder.encoded == work.candidates(1)
    assert told[-1][:2] == (0, 0)


def test_a_prepared_work_answers_in_another_process_too(tmp_path, work):
    first = retriever(tmp_path, FakeEncoder())
    first.prepare(work, silent, lengths=(2,))
    later = retriever(tmp_path, FakeEncoder(fail_after=0))
    np.testing.assert_array_equal(later.score(Claim("word0x5"), work, 2), first.score(Claim("word0x5"), work, 2))


def test_the_matrix_is_not_read_into_memory(tmp_path, work):
    alone = retriever(tmp_path, FakeEncoder())
    alone.prepare(work, silent, lengths=(1,))
    assert isinstance(alone._opened(alone._recipe(work.version, 1))["vectors"], np.memmap)


def test_a_stopped_build_goes_on_where_it_stopped_and_gives_the_same_index(tmp_path, work):
    with pytest.raises(KeyboardInterrupt):
        retriever(tmp_path / "a", FakeEncoder(fail_after=BLOCK)).prepare(work, silent, lengths=(2,))
    resumed = FakeEncoder()
    again = retriever(tmp_path / "a", resumed)
    assert not again.ready(work, 2)
    again.prepare(work, silent, lengths=(2,))
    assert resumed.encoded == work.candidates(2) - BLOCK
    whole = retriever(tmp_path / "b", FakeEncoder())
    whole.prepare(work, silent, lengths=(2,))
    np.testing.assert_array_equal(again.score(Claim("word2x3"), work, 2), whole.score(Claim("word2x3"), work, 2))
    assert not list(tmp_path.rglob("*.npz"))


def test_progress_counts_the_spans_of_all_lengths(tmp_path, work):
    told = []
    retriever(tmp_path, FakeEncoder()).prepare(work, lambda *step: told.append(step), lengths=(1, 2))
    total = work.candidates(1) + work.candidates(2)
    counted = [step[:2] for step in told]
    assert counted[0] == (0, total)
    assert counted[-1] == (total, total)
    assert counted == sorted(counted)
    assert {step[2] for step in told} >= {"Reading passages of 1 sentence", "Reading passages of 2 sentences"}


def test_of_two_who_prepare_a_work_at_once_one_waits_and_says_so(tmp_path, work):
    waiting, told = threading.Event(), []

    def second_progress(done, total, note=""):
        told.append(note)
        if note.startswith("Another program"):
            waiting.set()

    class Slow(FakeEncoder):
        def encode_passages(self, passages):
            if not self.encoded:
                second.start()
                assert waiting.wait(20)
            return super().encode_passages(passages)

    builder, waiter = Slow(), FakeEncoder()
    second = threading.Thread(
        target=retriever(tmp_path, waiter).prepare, args=(work, second_progress), kwargs={"lengths": (1,)}
    )
    retriever(tmp_path, builder).prepare(work, silent, lengths=(1,))
    second.join()
    assert any(said.startswith("Another program") for said in told)
    assert (builder.encoded, waiter.encoded) == (work.candidates(1), 0)


@pytest.mark.parametrize("change", ["encoder", "code", "text"])
def test_an_index_of_something_else_is_not_used(tmp_path, work, change, monkeypatch):
    retriever(tmp_path, FakeEncoder()).prepare(work, silent, lengths=(1,))
    if change == "code":
        monkeypatch.setattr(dense_alone.DenseAlone, "code", "dense-alone/0")
    encoder = FakeEncoder("fake/2") if change == "encoder" else FakeEncoder()
    now = make_work(["Another sentence."]) if change == "text" else work
    assert not retriever(tmp_path, encoder).ready(now, 1)


def test_a_damaged_index_is_refused_then_built_again(tmp_path, work):
    retriever(tmp_path, FakeEncoder()).prepare(work, silent, lengths=(1,))
    (path,) = tmp_path.rglob("vectors.npy")
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(content)
    later = retriever(tmp_path, FakeEncoder())
    with pytest.raises(StaleIndex, match="damaged"):
        later.score(Claim("word"), work, 1)
    later.prepare(work, silent, lengths=(1,))
    assert later.score(Claim("word0x5 stands here"), work, 1).argmax() == 5


def test_an_index_deleted_while_it_is_open_is_missed(tmp_path, work):
    alone = retriever(tmp_path, FakeEncoder())
    alone.prepare(work, silent, lengths=(1,))
    alone.score(Claim("word"), work, 1)
    shutil.rmtree(tmp_path / "demo" / work.id)
    with pytest.raises(NoIndex):
        alone.score(Claim("word"), work, 1)


def test_a_claim_without_words_is_refused_before_the_model_is_loaded(tmp_path, work):
    def never():
        raise AssertionError

    with pytest.raises(BadClaim):
        DenseAlone("demo", encoder=never, root=tmp_path).score(Claim("…"), work, 1)


# ---------------------------------------------------------------- chosen by the encoder's card


@pytest.fixture(scope="module")
def dpr(tmp_path_factory):
    folder = tiny_models.dpr(tmp_path_factory.mktemp("dpr"))
    return tiny_models.write_card(folder / "encoder.json", query_model="question", passage_model="context")


FERRY = make_work(["The ferry left the quay.", "The fox was proud.", "A miser, and his coin.", "Frost in the orchard."])


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_zero_shot_retriever_reads_spans_alone_where_its_card_says_so(tmp_path, dpr, as_folder):
    model = str(Path(dpr).parent) if as_folder else dpr
    made = registry.create("zero-shot", settings=Settings(indexes=tmp_path, model=model))
    assert isinstance(made, DenseAlone)
    made.prepare(FERRY, silent, lengths=(2,))
    claim = Claim("the miser and the fox", masked=True)
    encoder = PassageEncoder(read_card(dpr))
    expected = encoder.encode_passages(span_texts(FERRY, 2)) @ encoder.encode_claims([claim])[0]
    np.testing.assert_allclose(made.score(claim, FERRY, 2), expected, rtol=1e-5)
    assert "two towers" in made.configuration["encoder"]
    assert (made.configuration["code"], made.configuration["claims"]) == ("dense-alone/1", "claims/1")


def test_the_zero_shot_retriever_compares_by_inner_product_where_its_card_says_so(tmp_path):
    folder = tiny_models.bert(tmp_path / "model")
    made = {}
    for similarity in ("cosine", "dot"):
        tiny_models.write_card(folder / "encoder.json", similarity=similarity, window=100)
        made[similarity] = registry.create("zero-shot", settings=Settings(indexes=tmp_path, model=str(folder)))
        assert isinstance(made[similarity], Dense)
        made[similarity].prepare(FERRY, silent)
    cosines, dots = (made[name].score(Claim("the miser", masked=True), FERRY, 1) for name in ("cosine", "dot"))
    assert (np.abs(cosines) <= 1).all()
    assert not np.allclose(cosines, dots, atol=0.1)


def test_a_card_that_cannot_be_followed_is_told_when_the_retriever_is_made(tmp_path):
    path = tiny_models.write_card(tmp_path / "c.json", model="", pooling="max")
    with pytest.raises(BadWeights, match='"mean" or "first" or "last" or "pooler"'):
        registry.create("zero-shot", settings=Settings(indexes=tmp_path, model=path))
