"""Dense retrieval over many works: their scores in a row, where memory allows; else what the compact index finds."""

from __future__ import annotations

import dataclasses
import json
import shutil

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import Claim, Corpus, Span, rank_scores
from relic_core.errors import BadClaim, BadRequest, NoIndex
from relic_core.ports import CorpusRetriever, VectorRetriever, silent
from relic_core.retrieval import compact, registry
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.dense_alone import DenseAlone
from tests.fake_encoder import FakeEncoder
from tests.making import make_work

CLAIM = Claim("word3 and word17")
PLENTY = 1e12


@pytest.fixture(autouse=True)
def _few_questions(monkeypatch):
    monkeypatch.setattr(compact, "QUESTIONS", 60)


def shelf(sizes, seed=0):
    """Make works of some sentences each, in words that they share."""
    rng = np.random.default_rng(seed)
    return [
        make_work(
            [" ".join(f"word{word}" for word in rng.integers(40, size=6)) + f" end{number}." for _ in range(size)],
            title=f"Work {number}",
        )
        for number, size in enumerate(sizes)
    ]


@pytest.fixture(params=[Dense, DenseAlone])
def retriever(request, tmp_path):
    encoder = FakeEncoder()
    return request.param("demo", encoder=lambda: encoder, root=tmp_path)


@pytest.fixture
def dense(tmp_path):
    encoder = FakeEncoder()
    return Dense("demo", encoder=lambda: encoder, root=tmp_path)


def prepared(retriever, works, lengths=(1, 2, 3, 4, 5)):
    for work in works:
        retriever.prepare(work, silent, lengths=lengths)
    return [work.version for work in works]


def corpus(versions):
    return Corpus(tuple(versions), pytest.fail)


def limited(dense, memory):
    """Make one that has prepared the same, with another limit."""
    return Dense("demo", encoder=dense._encoder, root=dense.root, memory=memory)


def places(ranking):
    return [(ranking.works[number], int(start)) for number, start in zip(ranking.work, ranking.start, strict=True)]


def test_it_and_its_retriever_do_what_the_ports_say(retriever):
    assert isinstance(retriever, VectorRetriever)
    assert isinstance(retriever, CorpusRetriever)
    assert retriever.name == "demo"


@pytest.mark.parametrize("length", [1, 2, 5, 7])
def test_scores_of_many_works_are_those_of_each_work_in_a_row(retriever, length):
    works = shelf([30, 1, 7, 50])
    work_versions = prepared(retriever, works, lengths=(length,))
    ranking = retriever.rank(CLAIM, corpus(work_versions), length)
    each = [retriever.score(CLAIM, work, length) for work in works]
    np.testing.assert_array_equal(ranking.scores, np.concatenate(each))
    expected = [(work.id, start) for work, scores in zip(works, each, strict=True) for start in range(len(scores))]
    assert places(ranking) == expected
    assert ranking.exact
    assert ranking.candidates == len(expected) == sum(work.candidates(length) for work in works)


def test_spans_that_tie_keep_the_order_of_works_and_text(retriever):
    first = make_work(["The fox.", "A hen.", "The fox."], title="First")
    second = make_work(["The fox.", "A cock."], title="Second")
    works = prepared(retriever, [first, second], lengths=(1,))
    for order in (works, works[::-1]):
        ranking = retriever.rank(Claim("the fox"), corpus(order), 1)
        best = [(hit.work_id, hit.span.start) for hit in ranking.hits(3)]
        assert best == [(work.id, at) for work in order for at in ((0, 2) if work.id == first.id else (0,))]


def test_the_order_of_one_work_is_that_of_its_own_search(retriever):
    (work,) = shelf([60])
    (version,) = prepared(retriever, [work], lengths=(2,))
    ranking = retriever.rank(CLAIM, corpus([version]), 2)
    own = rank_scores("demo", work.id, 2, retriever.score(CLAIM, work, 2))
    assert ranking.hits(100) == own.hits(100)


def test_works_that_are_not_prepared_are_missing_and_passed_over(retriever):
    works = shelf([10, 10, 10])
    prepared(retriever, works[::2], lengths=(2,))
    work_versions = [work.version for work in works]
    library = retriever
    assert library.missing(work_versions, 2) == (works[1].id,)
    assert library.rank(CLAIM, corpus(work_versions), 2).works == (works[0].id, works[2].id)


@pytest.mark.parametrize("works", [[], [0, 1]])
def test_where_nothing_is_prepared_nothing_is_found(retriever, works):
    work_versions = [work.version for work in shelf([3, 4]) if works]
    ranking = retriever.rank(CLAIM, corpus(work_versions), 1)
    assert (len(ranking), ranking.candidates, ranking.works, ranking.exact) == (0, 0, (), True)


def test_a_work_whose_index_is_damaged_or_deleted_while_open_is_missing(retriever):
    works = shelf([10, 12, 14, 16])
    work_versions = prepared(retriever, works, lengths=(1,))
    library = retriever
    assert len(library.rank(CLAIM, corpus(work_versions), 1).works) == 4
    shutil.rmtree(retriever.root / "demo" / works[0].id)
    (manifest,) = (retriever.root / "demo" / works[1].id).rglob("manifest.json")
    manifest.write_text(manifest.read_text().replace('"tokens"', '"token"').replace('"spans"', '"span"'))
    path = next((retriever.root / "demo" / works[2].id).rglob("*.npy"))
    path.write_bytes(path.read_bytes()[:-3])
    assert library.missing(work_versions, 1) == tuple(work.id for work in works[:3])
    ranking = library.rank(CLAIM, corpus(work_versions), 1)
    assert ranking.works == (works[3].id,)
    np.testing.assert_array_equal(ranking.scores, retriever.score(CLAIM, works[3], 1))


def test_content_changed_before_the_first_search_is_noticed_by_it(retriever):
    works = shelf([10, 12])
    work_versions = prepared(retriever, works, lengths=(1,))
    path = next((retriever.root / "demo" / works[0].id).rglob("*.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    library = retriever
    assert library.rank(CLAIM, corpus(work_versions), 1).works == (works[1].id,)
    assert library.missing(work_versions, 1) == (works[0].id,)


def test_passages_like_another_are_ranked_by_its_vector(retriever):
    works = shelf([20, 30])
    work_versions = prepared(retriever, works, lengths=(1, 2))
    library = retriever
    ranking = library.rank(CLAIM, corpus(work_versions), 2, like=(work_versions[1], Span(4, 2)))
    (best,) = ranking.hits(1)
    assert (best.work_id, best.span) == (works[1].id, Span(4, 2))
    assert best.score == pytest.approx(1.0, abs=1e-5)
    assert len(library.rank(CLAIM, corpus(work_versions), 1, like=(work_versions[1], Span(4, 2)))) == 50


def test_a_passage_of_a_work_that_is_not_prepared_is_asked_with_as_a_claim(retriever):
    there, absent = shelf([20, 30])
    searched = corpus(prepared(retriever, [there], lengths=(1,)))
    found = retriever.rank(CLAIM, searched, 1, like=(absent.version, Span(0, 1)))
    np.testing.assert_array_equal(found.scores, retriever.rank(CLAIM, searched, 1).scores)


@pytest.mark.parametrize("span", [Span(19, 2), Span(0, 21), Span(20, 1)])
def test_a_passage_beyond_the_end_of_its_work_is_refused(retriever, span):
    work_versions = prepared(retriever, shelf([20]), lengths=(1,))
    with pytest.raises(BadRequest, match="Work 0 has 20 sentences"):
        retriever.span_vector(work_versions[0], span)


def test_a_claim_without_words_is_refused_even_where_nothing_is_prepared(retriever):
    with pytest.raises(BadClaim):
        retriever.rank(Claim("…"), corpus([]), 1)


def test_a_spans_vector_is_the_one_its_score_is_the_product_with(retriever):
    (work,) = shelf([12])
    (version,) = prepared(retriever, [work], lengths=(3,))
    query = retriever.claim_vector(CLAIM)
    products = [float(retriever.span_vector(version, Span(at, 3)) @ query) for at in range(10)]
    np.testing.assert_allclose(retriever.score_vector(query, version, 3), products, atol=1e-5)


def test_vectors_for_inner_products_are_means(tmp_path):
    encoder = FakeEncoder()
    dot = Dense("demo", encoder=lambda: encoder, root=tmp_path, similarity="dot")
    (work,) = shelf([9])
    (version,) = prepared(dot, [work])
    sums, counts = encoder.encode_sentences(work, silent)
    expected = sums[2:5].sum(axis=0) / counts[2:5].sum()
    np.testing.assert_allclose(dot.span_vector(version, Span(2, 3)), expected, rtol=1e-5)
    query = dot.claim_vector(CLAIM)
    np.testing.assert_allclose(dot.score_vector(query, version, 3)[2], expected @ query, rtol=1e-4)


def test_the_zero_shot_retriever_takes_its_limit_from_the_settings(tmp_path, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.dense.load_late_chunking", lambda card: FakeEncoder())
    library = registry.create("zero-shot", settings=Settings(indexes=tmp_path, library_memory=0.001))
    works = prepared(library, shelf([40]))
    assert library.compact_due(works, 1)
    with pytest.raises(NoIndex, match="RELIC_LIBRARY_MEMORY allows 0 MB"):
        library.rank(CLAIM, corpus(works), 1)


# ---------------------------------------------------------------- above the limit of memory: the compact index


def size_of(dense, work_versions):
    return sum(dense.size(version, 1) for version in work_versions)


@pytest.fixture
def works():
    return shelf([400, 1, 300, 500])


def test_a_library_above_the_limit_is_told_to_be_built_and_then_searched(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, size_of(dense, work_versions) - 1)
    assert library.compact_due(work_versions, 1)
    with pytest.raises(NoIndex, match="Build the library's compact index"):
        library.rank(CLAIM, corpus(work_versions), 1)
    told = []
    library.build_compact(work_versions, lambda *step: told.append(step))
    assert not library.compact_due(work_versions, 3)
    assert told[0][:2] == (0, 1201)
    assert [step[0] for step in told] == sorted(step[0] for step in told)
    assert told[-1][:2] == (1201, 1201)
    ranking = library.rank(CLAIM, corpus(work_versions), 2)
    assert not ranking.exact
    assert ranking.candidates == 399 + 299 + 499
    assert ranking.retriever == "demo"


@pytest.mark.parametrize("length", [1, 3, 6])
def test_what_the_compact_index_finds_has_the_scores_of_the_exact_search(dense, works, length, monkeypatch):
    monkeypatch.setattr(compact, "FOUND", 60)
    work_versions = prepared(dense, works)
    exact = limited(dense, PLENTY).rank(CLAIM, corpus(work_versions), length)
    library = limited(dense, 1)
    library.build_compact(work_versions, silent)
    ranking = library.rank(CLAIM, corpus(work_versions), length)
    scores = dict(zip(places(exact), exact.scores, strict=True))
    assert 60 <= len(ranking) <= 60 * length
    np.testing.assert_allclose(ranking.scores, [scores[place] for place in places(ranking)], atol=1e-6)
    assert places(ranking) == sorted(places(ranking), key=places(exact).index)
    best = {(hit.work_id, hit.span) for hit in exact.hits(10)}
    assert len(best & {(hit.work_id, hit.span) for hit in ranking.hits(10)}) >= 8


def test_its_measured_recall_is_told_by_length(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, 1)
    library.build_compact(work_versions, silent, claims=[CLAIM])
    for length in (1, 2, 3, 4, 5):
        ten, hundred = library.rank(CLAIM, corpus(work_versions), length).recall
        assert 0.98 <= ten <= 1
        assert 0 <= hundred <= 1
    assert library.rank(CLAIM, corpus(work_versions), 6).recall is None, "not measured"
    assert limited(dense, PLENTY).rank(CLAIM, corpus(work_versions), 1).recall is None, "exact"


def test_recall_is_that_of_the_compact_index_which_answered(dense, works):
    """Also where another thread has searched through another one since."""
    work_versions = prepared(dense, works)
    library = limited(dense, 1)
    library.build_compact(work_versions, silent)
    path = next((dense.root / "demo" / "library").glob("*/manifest.json"))
    told = json.loads(path.read_text())["notes"]["measured"]
    first = library.rank(CLAIM, corpus(work_versions), 1)
    library.build_compact(work_versions + prepared(dense, shelf([400], seed=9)), silent)
    library.rank(CLAIM, corpus(work_versions), 1)
    assert first.recall == tuple(told["1"])


def test_an_exact_search_after_it_needs_no_compact_index(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, size_of(dense, work_versions[:2]))
    library.build_compact(work_versions, silent)
    assert not library.rank(CLAIM, corpus(work_versions), 1).exact
    narrowed = library.rank(CLAIM, corpus(work_versions[:2]), 1)
    assert narrowed.exact
    assert narrowed.candidates == 401


def test_only_the_works_asked_for_are_found(dense, works, monkeypatch):
    """Also where the best of the library stand in the other works."""
    monkeypatch.setattr(compact, "FOUND", 25)
    work_versions = prepared(dense, works)
    library = limited(dense, 1)
    library.build_compact(work_versions, silent)
    ranking = library.rank(CLAIM, corpus(work_versions[::-1][1:]), 1)
    assert ranking.works == tuple(version.id for version in work_versions[::-1][1:])
    assert len(ranking) == 25
    assert ranking.candidates == 701


def test_a_work_added_since_is_searched_exactly_beside_it(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, size_of(dense, work_versions) - 1)
    library.build_compact(work_versions, silent)
    (new,) = shelf([60], seed=9)
    work_versions += prepared(dense, [new])
    assert not library.compact_due(work_versions, 1)
    ranking = library.rank(CLAIM, corpus(work_versions), 1)
    assert [start for work_id, start in places(ranking) if work_id == new.id] == list(range(60))
    np.testing.assert_array_equal(ranking.scores[-60:], dense.score(CLAIM, new, 1))


def test_it_is_due_again_when_more_than_a_tenth_is_not_in_it_and_takes_the_place_of_the_old(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, size_of(dense, work_versions) - 1)
    library.build_compact(work_versions, silent)
    work_versions += prepared(dense, shelf([200], seed=9))
    assert library.compact_due(work_versions, 1)
    assert not library.rank(CLAIM, corpus(work_versions), 1).exact
    library.build_compact(work_versions, silent)
    assert not library.compact_due(work_versions, 1)
    assert len(list((dense.root / "demo" / "library").glob("*/manifest.json"))) == 1


def test_a_work_removed_or_changed_since_is_not_found_by_its_old_sentences(dense, works):
    work_versions = prepared(dense, works)
    library = limited(dense, 1000)
    library.build_compact(work_versions, silent)
    changed = dataclasses.replace(work_versions[1], reading="another")
    ranking = library.rank(CLAIM, corpus([work_versions[0], changed, work_versions[3]]), 1)
    assert set(ranking.works) == {work_versions[0].id, work_versions[3].id}
    shutil.rmtree(dense.root / "demo" / work_versions[0].id)
    assert library.rank(CLAIM, corpus(work_versions), 1).works == tuple(version.id for version in work_versions[1:])
