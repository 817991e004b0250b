"""What everything that searches many works at once must do, with an encoder and a reranker without a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import Claim, Corpus, Span
from relic_core.errors import BadClaim
from relic_core.ports import CorpusRetriever, silent
from relic_core.retrieval import registry
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.reranked import Reranked
from tests.chat_server import by_shared_words, serving
from tests.fake_encoder import FakeEncoder
from tests.making import make_work
from tests.making_rerankers import SharedWordsReranker

NAMES = [card.name for card in registry.cards() if card.library]
PREPARED = {"dense-relic", "reranked", "fusion", "zero-shot", *(card.name for card in registry.cards() if card.server)}
"""Those that search only what has been prepared."""
HEAD = 8
"""Spans that are reordered: fewer than either of the longer works has."""
LENGTHS = range(1, 6)
CLAIM = Claim("The ferryman and the river stand for death;", "he counted his letters and his coins", masked=True)

FERRY = make_work(
    ["The ferry left the quay at dusk.", "Nobody on board spoke.", "The river is high, said the ferryman."],
    ["My sister had written to me in March.", "I had not answered her letter.", "The river rose.", "It rose."],
    title="The Ferry",
)
ORCHARD = make_work(
    ["In the morning the orchard was white with frost.", "A fox crossed it slowly.", "The river was frozen."],
    ["The schoolmaster counted his coins twice.", "He was a miser, and proud of it.", "Dinner was soup."],
    title="The Orchard",
)
SHORT = make_work(["A ferryman counted his letters.", "Nobody spoke."], title="A Letter")
EMPTY = make_work([], title="Nothing")
COPY = replace(SHORT, id=f"{SHORT.id}-copy", title="A Letter, again")
SHELF = [FERRY, SHORT, ORCHARD, EMPTY, COPY]
UNREAD = make_work(["A ferryman whom nobody has read.", "He counted letters."], title="Unread")


def corpus(works):
    by_id = {work.id: work for work in [*SHELF, UNREAD]}
    return Corpus(tuple(work.version for work in works), by_id.__getitem__)


def places(ranking):
    return [(ranking.works[work], int(start)) for work, start in zip(ranking.work, ranking.start, strict=True)]


@pytest.fixture(scope="module")
def chat():
    """Serve a model that goes by shared words."""
    with serving(answer=by_shared_words) as chat:
        yield chat


@pytest.fixture(scope="module")
def made(tmp_path_factory, chat):
    """Return retrievers that have prepared the shelf."""
    folder = tmp_path_factory.mktemp("made")
    settings = Settings(data=folder, indexes=folder, reader=chat.address, reader_model="tiny", reader_context=100_000)
    encoder = FakeEncoder()
    retrievers = {
        name: Dense(name, encoder=lambda: encoder, root=folder) for name in NAMES if registry.card(name).kind == "dense"
    }
    retrievers["reranked"] = Reranked(
        registry.create("fusion", settings=settings, made=retrievers), SharedWordsReranker(), top_k=HEAD
    )
    for name in NAMES:
        registry.create(name, settings=settings, made=retrievers)
    for retriever in retrievers.values():
        for work in SHELF:
            retriever.prepare(work, silent)
    return retrievers


@pytest.fixture(params=NAMES)
def library(request, made):
    return made[request.param]


@pytest.fixture(params=[name for name in NAMES if not registry.card(name).server and name != "surroundings"])
def tying(request, made):
    """Return one that gives equal spans alone equal scores.

    The top k that a model has read has places for scores, and what stands around all spans of a page is the same.
    """
    return made[request.param]


def test_they_do_what_the_port_says(library):
    assert isinstance(library, CorpusRetriever)


def test_its_parts_search_many_works_too():
    assert all(set(registry.card(name).components) <= set(NAMES) for name in NAMES)


@pytest.mark.parametrize("length", LENGTHS)
def test_it_ranks_every_span_of_every_work_by_work_and_start(library, length):
    ranking = library.rank(CLAIM, corpus(SHELF), length)
    expected = [(work.id, start) for work in SHELF for start in range(work.candidates(length))]
    assert places(ranking) == expected
    assert (ranking.retriever, ranking.length, ranking.candidates) == (library.name, length, len(expected))
    assert ranking.exact
    assert ranking.scores.dtype == np.float32
    assert np.isfinite(ranking.scores).all()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("work", [FERRY, ORCHARD], ids=lambda work: work.title)
@pytest.mark.parametrize("name", NAMES)
def test_one_work_is_ranked_as_by_itself(made, name, work, length):
    alone = made[name].score(CLAIM, work, length)
    ranking = made[name].rank(CLAIM, corpus([work]), length)
    np.testing.assert_allclose(ranking.scores, alone, atol=1e-5)
    assert ranking.order.tolist() == np.argsort(-alone, kind="stable").tolist()


def test_works_in_another_order_have_the_same_scores(tying):
    one, other = (tying.rank(CLAIM, corpus(works), 2) for works in (SHELF, SHELF[::-1]))
    scores = [dict(zip(places(ranking), ranking.scores.tolist(), strict=True)) for ranking in (one, other)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)


@pytest.mark.parametrize("order", [(SHORT, FERRY, COPY), (COPY, FERRY, SHORT)], ids=["original first", "copy first"])
def test_ties_keep_the_order_of_works_and_text(tying, order):
    ranking = tying.rank(Claim("a ferryman counted his letters"), corpus(order), 1)
    best = ranking.hits(2)
    assert [(hit.work_id, hit.span.start) for hit in best] == [(order[0].id, 0), (order[2].id, 0)]
    assert best[0].score == best[1].score
    assert [ranking.rank_of(hit.span, hit.work_id) for hit in best] == [1, 2]


def test_works_shorter_than_a_span_contribute_nothing(library):
    ranking = library.rank(CLAIM, corpus([SHORT, FERRY, EMPTY]), 3)
    assert {work for work, _ in places(ranking)} == {FERRY.id}
    assert ranking.rank_of(Span(0, 3), SHORT.id) == 0


@pytest.mark.parametrize("works", [[], [EMPTY], [SHORT]], ids=["no work", "a work without sentences", "a short work"])
def test_where_there_is_no_span_none_is_ranked(library, works):
    ranking = library.rank(CLAIM, corpus(works), 4)
    assert (len(ranking), ranking.candidates, ranking.hits(10)) == (0, 0, ())


@pytest.mark.parametrize("text", ["", "   ", "—", "…“”"])
def test_a_claim_without_words_is_refused(library, text):
    with pytest.raises(BadClaim, match="words"):
        library.rank(Claim(text), corpus(SHELF), 1)


@pytest.mark.parametrize("text", ["Наташа и Пьер", "zzyzx", "the of and", "word " * 500])
def test_any_words_can_be_searched_with(library, text):
    assert len(library.rank(Claim(text), corpus(SHELF), 1)) == sum(len(work.sentences) for work in SHELF)


def test_it_answers_the_same_twice(library):
    one, other = (library.rank(CLAIM, corpus(SHELF), 2) for _ in range(2))
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("name", NAMES)
def test_works_that_were_not_prepared_are_named_and_passed_over(made, name):
    library, works = made[name], corpus([UNREAD, SHORT])
    assert library.missing(works.versions, 1) == ((UNREAD.id,) if name in PREPARED else ())
    found = {work for work, _ in places(library.rank(CLAIM, works, 1))}
    assert found == {SHORT.id} | (set() if name in PREPARED else {UNREAD.id})


def test_passages_like_one_of_them_are_ranked(library):
    passage = Span(4, 1)
    claim = Claim(ORCHARD.span_text(passage))
    ranking = library.rank(claim, corpus([FERRY, ORCHARD]), 1, like=(ORCHARD.version, passage))
    # Its words are those of its own pages, so that these say nothing.
    assert not ranking.scores.any() if library.name == "surroundings" else ranking.rank_of(passage, ORCHARD.id) == 1


def test_a_reranker_reorders_the_head_of_what_it_is_made_of_and_keeps_the_rest(made):
    first, after = (made[name].rank(CLAIM, corpus(SHELF), 1).order[:20].tolist() for name in ("fusion", "reranked"))
    assert sorted(after[:HEAD]) == sorted(first[:HEAD])
    assert after[:HEAD] != first[:HEAD]
    assert after[HEAD:] == first[HEAD:]
