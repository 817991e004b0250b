"""What every registered retriever must do, with the packaged encoder, a tiny reranker and a server."""

from __future__ import annotations

import json
from typing import get_args

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import Claim, rank_scores
from relic_core.errors import BadClaim, BadRequest, NoIndex
from relic_core.ports import silent
from relic_core.retrieval import registry
from relic_core.retrieval.reranked import TOP_K
from tests.chat_server import by_shared_words, serving
from tests.making import make_work
from tests.making_rerankers import make_cross_encoder
from tests.making_training import make_base
from tests.tiny_models import splade

NAMES = [card.name for card in registry.cards()]
ALONE = {f"{name}, spans alone": name for name in ("dense-relic", "zero-shot")}
"""Dense retrievers with an encoder whose card says that spans are read by themselves."""
WAYS = [*NAMES, *ALONE]
READ_BY_MODEL = {card.name for card in registry.cards() if card.server}
"""Those that ask a model's server; the one here goes by shared words."""
SAVING = {"dense-relic", "reranked", "fusion", "zero-shot", "late", "splade", *READ_BY_MODEL}
"""Those whose preparation is kept on disk, and that therefore have to be prepared."""
TAUGHT_NOTHING = {"random", "reranked", "splade"}
"""Those whose order has nothing to do with the claim's words: these models' weights are random here."""
PAGES = {"surroundings"}
"""Those that tell the pages of a work apart, and not its sentences."""
LENGTHS = range(1, 8)

CHAPTERS = (
    [
        ["The ferry left the quay at dusk.", "Nobody on board spoke."],
        ["“The river is high,” said the ferryman.", "He spat; the oars creaked."],
        ["My sister had written to me in March.", "I had not answered her letter."],
    ],
    [
        ["In the morning the orchard was white with frost.", "A fox crossed it slowly."],
        ["The schoolmaster counted his coins twice.", "He was a miser, and proud of it.", "Dinner was soup."],
    ],
)
OBVIOUS = "He was a miser, and proud of it."


@pytest.fixture(scope="module")
def work():
    return make_work(*CHAPTERS, title="The Ferry")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the settings that name a cross-encoder and a language model's server."""
    folder = tmp_path_factory.mktemp("reranker")
    cross_encoder = str(make_cross_encoder(folder / "tiny", make_base(folder / "base")))
    sparse = str(splade(folder / "splade"))
    with serving(answer=by_shared_words) as chat:
        yield {
            "reranker": cross_encoder,
            "sparse": sparse,
            "reader": chat.address,
            "reader_model": "tiny",
            "reader_context": 100_000,
        }


def make(way, folder, models, made=None):
    """Make a retriever as the app does, with a model that is known in the place of what training made."""
    card = folder / "card.json"
    card.write_text(json.dumps({"model": "", "spans": "alone" if way in ALONE else "in context"}), encoding="utf-8")
    settings = Settings(
        data=folder / "data", indexes=folder / "indexes", model=str(card), trained=str(card), reader_at_once=2, **models
    )
    return registry.create(ALONE.get(way, way), settings=settings, made=made)


@pytest.fixture(scope="module")
def made(work, models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    retrievers = {}
    for name in NAMES:
        make(name, folder, models, retrievers)
    for way in ALONE:
        retrievers[way] = make(way, folder, models)
    for retriever in retrievers.values():
        retriever.prepare(work, silent, lengths=LENGTHS)
    return retrievers


@pytest.fixture(params=WAYS)
def retriever(request, made):
    return made[request.param]


@pytest.fixture(params=WAYS)
def fresh(request, models, tmp_path):
    """Return a retriever that has prepared nothing."""
    return make(request.param, tmp_path, models)


def test_its_name_is_the_registered_one(made):
    assert {way: retriever.name for way, retriever in made.items()} == {way: ALONE.get(way, way) for way in WAYS}


def test_its_card_can_be_shown(retriever):
    card = registry.card(retriever.name)
    assert card.label
    assert card.description.endswith(".")
    assert card.kind in get_args(registry.Kind)
    assert set(card.components) <= set(NAMES)


def test_it_is_ready_once_prepared_and_preparing_again_is_harmless(retriever, work):
    retriever.prepare(work, silent)
    assert all(retriever.ready(work, length) for length in range(1, 6))


def test_it_is_ready_for_the_lengths_it_was_asked_to_prepare(fresh, work):
    fresh.prepare(work, silent, lengths=[2])
    assert fresh.ready(work, 2)
    assert fresh.score(Claim("the ferry"), work, 2).shape == (work.candidates(2),)


def test_those_that_compare_vectors_of_their_own_name_their_encoder(retriever):
    assert bool(retriever.encoder_identity) == (registry.card(retriever.name).kind == "dense")


@pytest.mark.parametrize("length", LENGTHS)
def test_it_scores_every_candidate(retriever, work, length):
    scores = retriever.score(Claim("the ferryman and the river", "a proud miser", masked=True), work, length)
    assert scores.shape == (work.candidates(length),)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


def test_it_answers_the_same_twice(retriever, work):
    claim = Claim("An unanswered letter weighs on the narrator.")
    np.testing.assert_array_equal(retriever.score(claim, work, 2), retriever.score(claim, work, 2))


@pytest.mark.parametrize("way", [way for way in WAYS if way not in TAUGHT_NOTHING | PAGES])
def test_it_puts_the_obvious_sentence_first(way, made, work):
    scores = made[way].score(Claim("The proud schoolmaster is called a miser:", "proud of it", masked=True), work, 1)
    assert work.sentence_text(int(scores.argmax())) == OBVIOUS


@pytest.mark.parametrize("length", [12, 40])
def test_a_length_beyond_the_work_has_no_candidates(retriever, work, length):
    assert retriever.score(Claim("the ferry"), work, length).shape == (0,)


@pytest.mark.parametrize("text", ["", "   ", "—", "…“”"])
def test_a_claim_without_words_is_refused(retriever, work, text):
    with pytest.raises(BadClaim, match="words"):
        retriever.score(Claim(text), work, 1)


@pytest.mark.parametrize("text", ["Наташа и Пьер", "zzyzx", "the of and", "word " * 3000, "e\u0301 \u200b fox"])
def test_any_words_can_be_searched_with(retriever, work, text):
    assert np.isfinite(retriever.score(Claim(text), work, 1)).all()


def test_a_work_of_one_sentence(fresh):
    single = make_work(["The ferry left."])
    fresh.prepare(single, silent)
    assert fresh.score(Claim("the ferry"), single, 1).shape == (1,)
    assert fresh.score(Claim("the ferry"), single, 2).shape == (0,)


def test_a_work_without_sentences(fresh):
    empty = make_work([])
    fresh.prepare(empty, silent)
    assert fresh.score(Claim("the ferry"), empty, 1).shape == (0,)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_prepared_is_there_for_the_next_start(way, work, models, tmp_path):
    fresh, again = (make(way, tmp_path, models) for _ in range(2))
    fresh.prepare(work, silent)
    assert again.ready(work, 3)
    claim = Claim("the frost in the orchard")
    np.testing.assert_array_equal(again.score(claim, work, 3), fresh.score(claim, work, 3))


def test_unprepared_it_says_so_or_answers(fresh, work):
    if fresh.name in SAVING:
        assert not fresh.ready(work, 1)
        with pytest.raises(NoIndex, match="The Ferry"):
            fresh.score(Claim("the ferry"), work, 1)
    else:
        assert fresh.ready(work, 1)
        assert fresh.score(Claim("the ferry"), work, 1).any()


def test_a_reranker_reorders_the_head_of_what_it_is_made_of_and_keeps_the_rest(made):
    long = make_work([f"The {word} left the quay." for word in ("ferry", "fox", "miser", "frost")] * 40)
    made["reranked"].prepare(long, silent)
    claim = Claim("A fox and a miser leave.")
    first, after = (
        rank_scores(name, long.id, 1, made[name].score(claim, long, 1)).order.tolist()
        for name in ("fusion", "reranked")
    )
    assert sorted(after[:TOP_K]) == sorted(first[:TOP_K])
    assert after[:TOP_K] != first[:TOP_K]
    assert after[TOP_K:] == first[TOP_K:]


def test_preparing_reports_progress_up_to_the_end(fresh, work):
    told = []
    fresh.prepare(work, lambda done, total, note="": told.append((done, total)))
    assert told
    assert all(0 <= done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BadRequest, match="Did you mean bm25"):
        registry.create("bm52", settings=Settings())


def test_names_are_registered_once_and_components_can_be_had_before_what_is_made_of_them():
    assert len(set(NAMES)) == len(NAMES)
    ordered = [card.name for card in registry.in_order(NAMES)]
    assert sorted(ordered) == sorted(NAMES)
    for card in registry.cards():
        assert all(ordered.index(part) < ordered.index(card.name) for part in card.components)


def test_listing_retrievers_loads_none_of_their_libraries():
    import subprocess
    import sys

    code = (
        "import sys; from relic_core.retrieval import registry; registry.cards(); "
        "print([m for m in ('torch', 'transformers', 'bm25s', 'rank_bm25', 'simplemma', 'faiss') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_its_configuration_is_words_that_can_be_written_down(retriever):
    assert retriever.configuration
    assert all(isinstance(part, str) and part for pair in retriever.configuration.items() for part in pair)
