"""Dense retrieval: scores of spans without span vectors, and an index that is built once."""

import shutil
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Claim
from relic_core.errors import BadClaim, JobCancelled, NoIndex, StaleIndex
from relic_core.ports import silent
from relic_core.retrieval import dense, index_files
from relic_core.retrieval.dense import BLOCK, Dense, blocks
from relic_core.store import locks
from tests.fake_encoder import FakeEncoder
from tests.making import make_work


@given(st.lists(st.integers(0, 3 * BLOCK), min_size=1, max_size=6))
def test_blocks_hold_every_sentence_once_in_order(chapters):
    work = make_work(*(["x."] * size for size in chapters))
    found = blocks(work)
    assert [index for block in found for index in block] == list(range(sum(chapters)))
    assert all(0 < len(block) <= 2 * BLOCK for block in found)


def test_blocks_end_with_chapters_where_chapters_allow():
    assert blocks(make_work(["x."] * 300, ["x."] * 200, ["x."] * 10)) == [range(500), range(500, 510)]


@pytest.fixture
def work():
    return make_work(*([f"Word{chapter}x{i} stands here." for i in range(BLOCK)] for chapter in range(3)))


def retriever(tmp_path, encoder):
    return Dense("demo", encoder=lambda: encoder, root=tmp_path)


def test_a_work_that_was_not_prepared(tmp_path, work):
    unprepared = retriever(tmp_path, FakeEncoder())
    assert not unprepared.ready(work, 1)
    with pytest.raises(NoIndex, match="A Small Work"):
        unprepared.score(Claim("word"), work, 1)


def test_a_prepared_work_answers_in_another_process_too(tmp_path, work):
    first = retriever(tmp_path, FakeEncoder())
    first.prepare(work, silent)
    encoder = FakeEncoder()
    second = retriever(tmp_path, encoder)
    assert second.ready(work, 5)
    claim = Claim("word1x7 stands here")
    np.testing.assert_array_equal(second.score(claim, work, 3), first.score(claim, work, 3))
    assert second.score(claim, work, 1).argmax() == BLOCK + 7
    assert encoder.encoded == 0


def test_preparing_again_does_nothing(tmp_path, work):
    encoder = FakeEncoder()
    for _ in range(2):
        retriever(tmp_path, encoder).prepare(work, silent)
    assert encoder.encoded == len(work.sentences)


def test_of_two_who_prepare_a_work_at_once_one_waits_and_says_so(tmp_path, work):
    waiting = threading.Event()
    told = []

    def second_progress(done, total, note=""):
        told.append(note)
        if note.startswith("Another program"):
            waiting.set()

    class Slow(FakeEncoder):
        def encode_sentences(self, work, progress):
            if not self.encoded:
                second.start()
                assert waiting.wait(20)
            return super().encode_sentences(work, progress)

    builder, waiter = Slow(), FakeEncoder()
    second = threading.Thread(target=retriever(tmp_path, waiter).prepare, args=(work, second_progress))
    retriever(tmp_path, builder).prepare(work, silent)
    second.join()
    assert len(set(told)) == 1
    assert (builder.encoded, waiter.encoded) == (len(work.sentences), 0)


def test_waiting_for_another_can_be_cancelled(tmp_path, work):
    first = retriever(tmp_path, FakeEncoder())
    first.prepare(work, silent)
    (lock,) = tmp_path.rglob("*.lock")
    shutil.rmtree(lock.with_suffix(""))

    def cancelled(done, total, note=""):
        assert note.startswith("Another program")
        raise JobCancelled

    with locks.held(lock), pytest.raises(JobCancelled):
        retriever(tmp_path, FakeEncoder()).prepare(work, cancelled)
    first.prepare(work, silent)
    assert first.ready(work, 1)


def test_a_work_that_is_prepared_waits_for_nobody(tmp_path, work):
    prepared = retriever(tmp_path, FakeEncoder())
    prepared.prepare(work, silent)
    (lock,) = tmp_path.rglob("*.lock")
    with locks.held(lock):
        prepared.prepare(work, pytest.fail)


def test_a_stopped_build_goes_on_where_it_stopped_and_gives_the_same_index(tmp_path, work):
    stopped = FakeEncoder(fail_after=2 * BLOCK)
    with pytest.raises(KeyboardInterrupt):
        retriever(tmp_path / "a", stopped).prepare(work, silent)
    resumed = FakeEncoder()
    again = retriever(tmp_path / "a", resumed)
    assert not again.ready(work, 1)
    again.prepare(work, silent)
    assert resumed.encoded == BLOCK
    whole = retriever(tmp_path / "b", FakeEncoder())
    whole.prepare(work, silent)
    claim = Claim("word2x3")
    np.testing.assert_array_equal(again.score(claim, work, 2), whole.score(claim, work, 2))
    assert not list(tmp_path.rglob("*.npz"))


def test_the_layout_of_indexes_is_the_one_that_people_have():
    assert dense.CODE == "dense/1"


def test_the_configuration_names_the_encoder_the_index_and_how_claims_are_read(tmp_path):
    said = {"encoder": FakeEncoder().identity, "code": "dense/1", "claims": "claims/1", "short claims": "readings/1"}
    assert retriever(tmp_path, FakeEncoder()).configuration == said


def test_a_card_that_asks_for_inner_products_gets_them(tmp_path):
    small = make_work(["The long long word.", "Word."])
    encoder = FakeEncoder()
    found = [
        Dense("demo", encoder=lambda: encoder, root=tmp_path, similarity=similarity) for similarity in ("cosine", "dot")
    ]
    found[0].prepare(small, silent)
    cosines, dots = (each.score(Claim("word"), small, 1) for each in found)
    sums, counts = encoder.encode_sentences(small, silent)
    norms = np.linalg.norm(sums, axis=1) / counts
    np.testing.assert_allclose(dots, cosines * norms, rtol=1e-5)
    assert not np.allclose(dots, cosines)


def test_progress_counts_sentences_up_to_all(tmp_path, work):
    told = []
    retriever(tmp_path, FakeEncoder()).prepare(work, lambda done, total, note="": told.append((done, total)))
    assert told[0] == (0, 3 * BLOCK)
    assert told[-1] == (3 * BLOCK, 3 * BLOCK)
    assert told == sorted(told)


def test_progress_goes_on_within_a_block(tmp_path):
    """A short work is a single block, and its reader wants to see that something moves."""

    class Steady(FakeEncoder):
        def encode_sentences(self, work, progress):
            for done in (10, 20, 30):
                progress(done, 40, "Reading the work")
            return super().encode_sentences(work, progress)

    told = []
    short = make_work(["x."] * 100)
    retriever(tmp_path, Steady()).prepare(short, lambda done, total, note="": told.append((done, total, note)))
    assert told == [
        (0, 100, "Loading the encoder"),
        *[(done, 100, "Reading the work") for done in (25, 50, 75, 100, 100)],
    ]


def test_the_manifest_says_by_heads_what_the_vectors_are_made_by(tmp_path, work):
    encoder = FakeEncoder()
    retriever(tmp_path, encoder).prepare(work, silent)
    (manifest,) = index_files.manifests(tmp_path, "demo", work.id)
    assert manifest["notes"]["encoder"] == dict(encoder.facts)
    assert manifest["notes"]["sentences"] == len(work.sentences)
    assert (manifest["code"], manifest["segmenter"]) == ("dense/1", work.segmenter)


def test_an_array_changed_while_it_is_open_is_noticed(tmp_path, work):
    open_one = retriever(tmp_path, FakeEncoder())
    open_one.prepare(work, silent)
    open_one.score(Claim("word"), work, 1)
    (path,) = tmp_path.rglob("sums.npy")
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(content)
    with pytest.raises(StaleIndex, match="damaged"):
        open_one.score(Claim("word"), work, 1)


@pytest.mark.parametrize(
    "change",
    [{"encoder": FakeEncoder("fake/2")}, {"code": "dense/0"}, {"sentence": "Another word stands here."}],
    ids=["encoder", "code", "text"],
)
def test_an_index_of_something_else_is_not_used(tmp_path, work, change, monkeypatch):
    retriever(tmp_path, FakeEncoder()).prepare(work, silent)
    monkeypatch.setattr(dense, "CODE", change.get("code", dense.CODE))
    now = make_work([change["sentence"]]) if "sentence" in change else work
    assert not retriever(tmp_path, change.get("encoder", FakeEncoder())).ready(now, 1)


def test_an_index_deleted_while_it_is_open_is_missed_and_can_be_built_again(tmp_path, work):
    open_one = retriever(tmp_path, FakeEncoder())
    open_one.prepare(work, silent)
    before = open_one.score(Claim("word"), work, 1)
    shutil.rmtree(tmp_path / "demo" / work.id)
    with pytest.raises(NoIndex):
        open_one.score(Claim("word"), work, 1)
    open_one.prepare(work, silent)
    np.testing.assert_array_equal(open_one.score(Claim("word"), work, 1), before)


def test_a_damaged_index_is_refused_then_built_again(tmp_path, work):
    retriever(tmp_path, FakeEncoder()).prepare(work, silent)
    (path,) = tmp_path.rglob("sums.npy")
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(content)
    later = retriever(tmp_path, FakeEncoder())
    with pytest.raises(StaleIndex, match="damaged"):
        later.score(Claim("word"), work, 1)
    assert not later.ready(work, 1)
    later.prepare(work, silent)
    assert later.score(Claim("word0x5 stands"), work, 1).argmax() == 5


def test_a_claim_without_words_is_refused_before_the_model_is_loaded(tmp_path, work):
    def never():
        raise AssertionError

    with pytest.raises(BadClaim):
        Dense("demo", encoder=never, root=tmp_path).score(Claim("…"), work, 1)


def test_lengths_beyond_those_stored_are_scored_without_building_anew(tmp_path):
    encoder = FakeEncoder()
    small = make_work([f"Some{i} words{i}." for i in range(20)])
    long = retriever(tmp_path, encoder)
    long.prepare(small, silent)
    sums, _ = FakeEncoder().encode_sentences(small, silent)
    claim = Claim("some3", masked=True)
    query = encoder.encode_claims([claim])[0]
    pooled = np.array([sums[i : i + 12].sum(0) for i in range(9)])
    expected = pooled @ query / np.linalg.norm(pooled, axis=1)
    np.testing.assert_allclose(long.score(claim, small, 12), expected, atol=1e-5)
    assert encoder.encoded == 20


def test_a_short_claim_is_read_also_without_its_names_and_as_a_critic_puts_it_and_a_long_one_as_it_stands(tmp_path):
    encoder = FakeEncoder()
    dense = retriever(tmp_path, encoder)
    short, long = Claim("the shame of Pip"), Claim("the shame of Pip", "and of Joe", masked=True)
    ways = encoder.encode_claims([short, Claim("the shame of"), Claim("The author shows the shame of:")]).mean(axis=0)
    np.testing.assert_allclose(dense.claim_vector(short), ways / np.linalg.norm(ways), atol=1e-6)
    np.testing.assert_array_equal(dense.claim_vector(long), encoder.encode_claims([long])[0])
    np.testing.assert_array_equal(
        dense.claim_vector(Claim("Of Pip and Joe")), encoder.encode_claims([Claim("Of Pip and Joe")])[0]
    )
