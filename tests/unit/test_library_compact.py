"""The compact index on disk: made of the works' own indexes, measured, and never used where it does not fit."""

from __future__ import annotations

import json
import shutil
import threading

import numpy as np
import pytest

from relic_core.domain import Claim, Corpus, Span
from relic_core.errors import JobCancelled, NoIndex, StaleIndex
from relic_core.ports import silent
from relic_core.retrieval import compact
from relic_core.retrieval.dense import Dense
from relic_core.store import locks
from tests.fake_encoder import FakeEncoder
from tests.making import make_work

CLAIM = Claim("word3 and word17")


@pytest.fixture(autouse=True)
def _few_questions(monkeypatch):
    monkeypatch.setattr(compact, "QUESTIONS", 60)


def make_dense(root, identity="fake/1", memory=float("inf")):
    encoder = FakeEncoder(identity)
    return Dense("demo", encoder=lambda: encoder, root=root, memory=memory)


def corpus(versions):
    return Corpus(tuple(versions), pytest.fail)


@pytest.fixture(scope="module")
def works():
    rng = np.random.default_rng(0)
    return [
        make_work(
            [" ".join(f"word{word}" for word in rng.integers(40, size=6)) + f" end{number}." for _ in range(size)],
            title=f"Work {number}",
        )
        for number, size in enumerate((300, 1, 250))
    ]


@pytest.fixture
def dense(tmp_path, works):
    made = make_dense(tmp_path)
    for work in works:
        made.prepare(work, silent)
    return made


@pytest.fixture
def work_versions(works):
    return [work.version for work in works]


def folders(dense):
    return list((dense.root / "demo" / "library").glob("[!.]*/manifest.json"))


def test_its_manifest_says_what_it_was_made_of_and_what_it_finds(dense, work_versions):
    import faiss

    compact.build(dense, work_versions, silent, claims=[CLAIM])
    (path,) = folders(dense)
    manifest = json.loads(path.read_text())
    notes = manifest["notes"]
    assert [(work[0], work[1], work[3]) for work in notes["works"]] == [
        (each.id, each.fingerprint, each.sentences) for each in work_versions
    ]
    assert (manifest["encoder"], notes["encoder"]) == ("fake/1", dict(FakeEncoder().facts))
    assert (notes["faiss"], notes["seed"]) == (faiss.__version__, compact.SEED)
    assert notes["index"].startswith("IVF")
    assert notes["index"].endswith(",SQ4")
    assert set(notes["measured"]) == {"1", "2", "3", "4", "5"}
    assert notes["measured on"] == {"claims": 1, "made questions": compact.QUESTIONS - 1}
    assert set(manifest["files"]) == {"library.faiss", "library.lists"}


def test_the_same_works_make_the_same_index(tmp_path, works, work_versions):
    contents = []
    for name in ("a", "b"):
        dense = make_dense(tmp_path / name)
        for work in works:
            dense.prepare(work, silent)
        compact.build(dense, work_versions, silent)
        (path,) = folders(dense)
        contents.append([(path.parent / name).read_bytes() for name in (compact.FILE, compact.LISTS)])
    assert contents[0] == contents[1]


def test_measured_recall_is_what_the_finished_index_finds(dense, work_versions, monkeypatch):
    monkeypatch.setattr(compact, "FOUND", 40)
    compact.build(dense, work_versions, silent)
    recipe = compact.newest(dense.root, "demo", "fake/1", work_versions)
    index = compact.open_compact(dense.root, recipe)
    asked = compact.queries(dense, work_versions, (), np.random.default_rng(5))[:60]
    for length in (1, 4):
        shares = {10: [], 100: []}
        for vector in asked:
            whole = dense._rank_many(vector, work_versions, 0, length)
            some = dense._approximate(vector, work_versions, length, index)
            for k, found in shares.items():
                best = {(hit.work_id, hit.span) for hit in whole.hits(k)}
                found.append(len(best & {(hit.work_id, hit.span) for hit in some.hits(k)}) / k)
        assert [np.mean(found) for found in shares.values()] == pytest.approx(index.measured[length], abs=0.06)
    assert index.measured[1][1] <= 0.4  # no more than 40 sentences are found


def test_made_questions_are_like_no_sentence_and_the_same_every_time(dense, work_versions):
    first, second = (compact.queries(dense, work_versions, [CLAIM], np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[0], dense.claim_vector(CLAIM))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
    vectors = np.concatenate([dense.open(version).sentence_vectors() for version in work_versions])
    assert (first[1:] @ vectors.T).max() < 0.999


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2,), (0, 3)])
def test_the_smallest_libraries_have_one_too(tmp_path, sizes):
    dense = make_dense(tmp_path)
    tiny = [make_work([f"Some{n} words{i}." for i in range(size)], title=f"Tiny {n}") for n, size in enumerate(sizes)]
    for work in tiny:
        dense.prepare(work, silent)
    library = make_dense(dense.root, memory=1)
    work_versions = [work.version for work in tiny]
    library.build_compact(work_versions, silent)
    for length in (1, 2, 3):
        ranking = library.rank(CLAIM, corpus(work_versions), length)
        assert len(ranking) == ranking.candidates == sum(work.candidates(length) for work in tiny)


DAMAGE = {
    "manifest edited by hand": lambda folder: (folder / "manifest.json").write_text(
        (folder / "manifest.json").read_text().replace('"found": 2000', '"found": 2001')
    ),
    "file cut short": lambda folder: (folder / "library.faiss").write_bytes(
        (folder / "library.faiss").read_bytes()[:-1]
    ),
    "file gone": lambda folder: (folder / "library.faiss").unlink(),
    "folder gone": shutil.rmtree,
    "another byte": lambda folder: (folder / "library.faiss").write_bytes(
        (folder / "library.faiss").read_bytes()[:-1] + b"?"
    ),
}


@pytest.mark.parametrize("already_open", [True, False])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_one_is_never_used_and_is_built_again(dense, work_versions, damage, already_open):
    library = make_dense(dense.root, memory=1)
    library.build_compact(work_versions, silent)
    if already_open:
        library.rank(CLAIM, corpus(work_versions), 1)
    (path,) = folders(dense)
    damage(path.parent)
    later = library if already_open else make_dense(dense.root, memory=1)
    assert later.compact_due(work_versions, 1)
    with pytest.raises(NoIndex):
        later.rank(CLAIM, corpus(work_versions), 1)
    later.build_compact(work_versions, silent)
    assert len(later.rank(CLAIM, corpus(work_versions), 1)) > 100
    assert not later.compact_due(work_versions, 1)


def test_a_file_that_faiss_cannot_read_is_told(dense, work_versions, monkeypatch):
    compact.build(dense, work_versions, silent)
    recipe = compact.newest(dense.root, "demo", "fake/1", work_versions)

    def unreadable(*_):
        raise RuntimeError("Index type 0x3f not recognized")

    monkeypatch.setattr("faiss.read_index", unreadable)
    with pytest.raises(StaleIndex, match="cannot read it"):
        compact.open_compact(dense.root, recipe)


def test_that_of_another_encoder_or_code_is_not_used_and_not_deleted(dense, work_versions, works, monkeypatch):
    compact.build(dense, work_versions, silent)
    other = make_dense(dense.root, "fake/2")
    for work in works:
        other.prepare(work, silent)
    assert compact.newest(dense.root, "demo", "fake/2", work_versions) is None
    compact.build(other, work_versions, silent)
    assert len(folders(dense)) == 2
    monkeypatch.setattr(compact, "CODE", "compact/0")
    assert compact.newest(dense.root, "demo", "fake/1", work_versions) is None


def test_a_build_that_an_earlier_version_began_goes_on_and_says_what_it_holds(dense, work_versions, monkeypatch):
    import faiss

    def stop(_):
        raise KeyboardInterrupt

    made = faiss.index_factory
    with monkeypatch.context() as earlier:
        earlier.setattr(faiss, "index_factory", lambda d, key, metric: made(d, key.replace("SQ4", "SQ8"), metric))
        earlier.setattr(compact, "make_part", stop)
        with pytest.raises(KeyboardInterrupt):
            compact.build(dense, work_versions, silent)
    compact.build(dense, work_versions, silent)
    (path,) = folders(dense)
    assert json.loads(path.read_text())["notes"]["index"].endswith(",SQ8")


def test_a_build_that_is_stopped_leaves_nothing_that_could_be_taken_for_one(dense, work_versions):
    def stop(done, total, note=""):
        if note.startswith("Measuring"):
            raise JobCancelled

    with pytest.raises(JobCancelled):
        compact.build(dense, work_versions, stop)
    assert not folders(dense)
    assert not list((dense.root / "demo" / "library").glob(".making*"))


def test_of_two_who_build_it_at_once_one_waits_and_finds_it_built(dense, work_versions):
    waiting, told = threading.Event(), []

    def second(done, total, note=""):
        told.append(note)
        if note.startswith("Another program"):
            waiting.set()

    def first(done, total, note=""):
        if not other.is_alive() and not waiting.is_set():
            other.start()
        assert waiting.wait(20)

    other = threading.Thread(target=compact.build, args=(dense, work_versions, second))
    compact.build(dense, work_versions, first)
    other.join()
    assert set(told) == {"Another program is building the library's index"}
    assert len(folders(dense)) == 1


def test_waiting_for_another_builder_can_be_cancelled(dense, work_versions):
    compact.build(dense, work_versions, silent)
    (lock,) = (dense.root / "demo" / "library").glob("*.lock")

    def cancelled(done, total, note=""):
        raise JobCancelled

    with locks.held(lock), pytest.raises(JobCancelled):
        compact.build(dense, work_versions, cancelled)


def test_spans_near_the_ends_of_a_work_are_not_found_beyond_them(work_versions):
    found = compact.spans_of(np.array([0, 299]), work_versions[0], 4)
    assert found.tolist() == [0, 296]
    assert all(Span(int(start), 4).end <= 300 for start in found)


class Backwards:
    """Workers that finish the last task first; `stop_after` so many they are killed."""

    def __init__(self, stop_after=None):
        self.done = []
        self._stop_after = stop_after

    def map(self, function, tasks):
        for task in reversed([*tasks]):
            if len(self.done) == self._stop_after:
                raise JobCancelled
            yield function(task)
            self.done.append(task.number)


@pytest.fixture
def _small_parts(monkeypatch):
    monkeypatch.setattr(compact, "PART", 200)


@pytest.mark.usefixtures("_small_parts")
def test_parts_that_workers_build_are_one_index_whatever_their_order(dense, work_versions):
    contents = []
    for workers in (None, Backwards()):
        compact.build(dense, work_versions, silent, workers=workers)
        (path,) = folders(dense)
        assert json.loads(path.read_text())["notes"]["parts"] == 2
        contents.append([(path.parent / name).read_bytes() for name in (compact.FILE, compact.LISTS)])
        shutil.rmtree(path.parent)
    assert contents[0] == contents[1]


@pytest.mark.usefixtures("_small_parts")
def test_a_build_that_was_killed_goes_on_with_the_parts_that_it_lacks(dense, work_versions, monkeypatch):
    with pytest.raises(JobCancelled):
        compact.build(dense, work_versions, silent, workers=Backwards(stop_after=1))
    assert not folders(dense)
    read = []
    load = compact.index_files.load
    monkeypatch.setattr(
        compact.index_files, "load", lambda root, recipe: read.append(recipe.work_id) or load(root, recipe)
    )
    compact.build(dense, work_versions, silent)
    assert read == [work_versions[0].id], "only the works of the first part"
    assert len(folders(dense)) == 1
    assert not list((dense.root / "demo" / "library").glob("*.parts"))


def test_many_lists_are_found_through_a_graph_and_answer_alike(dense, work_versions, monkeypatch):
    monkeypatch.setattr(compact, "_MANY_LISTS", 2)
    monkeypatch.setattr(compact, "FOUND", 60)
    library = make_dense(dense.root, memory=1)
    library.build_compact(work_versions, silent)
    (path,) = folders(dense)
    assert "HNSW" in json.loads(path.read_text())["notes"]["index"]
    ten, _ = library.rank(CLAIM, corpus(work_versions), 1).recall
    assert ten >= compact.WANTED


def test_damaged_lists_change_no_score(dense, work_versions):
    exact = make_dense(dense.root).rank(CLAIM, corpus(work_versions), 2)
    scores = {
        (exact.works[of], start): score for of, start, score in zip(exact.work, exact.start, exact.scores, strict=True)
    }
    library = make_dense(dense.root, memory=1)
    library.build_compact(work_versions, silent)
    (path,) = folders(dense)
    lists = path.parent / compact.LISTS
    lists.write_bytes(bytes(255 - byte for byte in lists.read_bytes()))
    ranking = make_dense(dense.root, memory=1).rank(CLAIM, corpus(work_versions), 2)
    for of, start, score in zip(ranking.work, ranking.start, ranking.scores, strict=True):
        assert score == pytest.approx(scores[ranking.works[of], start], abs=1e-6)
