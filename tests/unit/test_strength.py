"""Strong or weak: a claim about another book must come out weak."""

import numpy as np
import pytest

from relic_core.config import ASSETS, Settings
from relic_core.domain import Claim, rank_scores
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.formats.run_files import read_run
from relic_core.library import sample
from relic_core.retrieval import calibration, registry
from relic_core.retrieval.fusion import fuse
from relic_core.retrieval.strength import OutOfVocabulary, StrengthClassifier
from relic_core.text.reading import read_work
from tests.approved import says
from tests.making import make_work

SAYS = says("strength")

WORK = make_work([f"Emma met Harriet on walk number{i}." for i in range(200)], title="Emma")
IDENTITY = LateChunkingEncoder(precision="float32").identity
MINILM = dict.fromkeys(["dense-relic", "zero-shot", "dense"], calibration.find("", IDENTITY).strength)
"""Thresholds were set for this model, whichever retriever goes by it."""
ANOTHER = {"zero-shot": None}


def ranking(name, best, *, at=7):
    """Return a ranking with a background around 0.3 and one best score."""
    scores = np.random.default_rng(1).normal(0.3, 0.02, 200).astype(np.float32)
    scores[at] = best
    return rank_scores(name, WORK.id, 1, scores)


def judge(claim, *rankings, by_meaning=MINILM):
    chosen = rankings[0]
    known = {each.retriever: each for each in rankings}
    return StrengthClassifier(
        chosen, known, unknown_words=OutOfVocabulary.of(Claim(claim), WORK), by_meaning=by_meaning
    ).of(chosen.hits(1)[0])


@pytest.mark.parametrize(("cosine", "level"), [(0.8, "strong"), (0.45, "fair"), (0.41, "weak")])
def test_the_level_follows_the_cosine(cosine, level):
    assert judge("Emma and Harriet walk", ranking("zero-shot", cosine)).level == level


def test_words_the_work_never_uses_raise_the_threshold():
    best = ranking("zero-shot", 0.55)
    assert judge("Emma and Harriet walk", best).level == "strong"
    assert judge("a whaling voyage ends in shipwreck", best).level == "weak"


def test_a_name_the_work_never_uses_raises_the_threshold():
    best = ranking("zero-shot", 0.55)
    assert judge("on a walk, gatsby met Emma", best).level == "strong"
    assert judge("on a walk, Gatsby met Emma", best).level == "weak"


@pytest.mark.parametrize(
    "claim",
    [
        "on a Victorian walk, Emma met Harriet",
        "Emma met Harriet on a walk, as Freud would say",
        "on a kind of Gothic walk, Emma met Harriet",
        "Emma Met Harriet on a Needless Walk",
        "EMMA MET HARRIET ON A NEEDLESS WALK",
    ],
)
def test_what_critics_capitalise_does_not_make_a_claim_weak(claim):
    assert judge(claim, ranking("zero-shot", 0.53)).level in {"fair", "strong"}


def levels(claim, length, made, work):
    """Judge the best hit of every retriever."""
    rankings = {
        name: rank_scores(name, work.id, length, made[name].score(Claim(claim), work, length))
        for name in ("dense-relic", "bm25", "fusion")
    }
    return {
        StrengthClassifier(each, rankings, unknown_words=OutOfVocabulary.of(Claim(claim), work), by_meaning=MINILM)
        .of(each.hits(1)[0])
        .level
        for each in rankings.values()
    }


def made_with_minilm(folder, work):
    """Make the retrievers, by meaning with the model that thresholds were set for, and prepare a work for them."""
    card = folder / "card.json"
    card.write_text('{"model": ""}', encoding="utf-8")
    made = {}
    registry.create("fusion", settings=Settings(indexes=folder / "indexes", trained=str(card)), made=made)
    made["fusion"].prepare(work, lambda done, total, note="": None)
    return made


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """Return the retrievers, prepared for the sample, and the sample."""
    work = read_work(sample.NOVEL.read_bytes(), name=sample.NOVEL.name)
    return made_with_minilm(tmp_path_factory.mktemp("made"), work), work


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize(
    ("claim", "weak"),
    [
        ("The brass bolt stands for a false certainty", False),
        ("The brass bolt stands for a Victorian certainty", False),
        ("The brass bolt stands for a false certainty, as Freud would say", False),
        ("The brass bolt is a kind of Gothic relic", False),
        ("The Brass Bolt Stands for a False Certainty", False),
        ("Gatsby's parties are a display of wealth", True),
        ("Elizabeth displays frustration towards her mother", True),
        ("Captain Ahab's hatred of the whale", True),
        ("Captain Ahab's Hatred of the Whale", True),
    ],
)
def test_a_claim_about_the_sample_is_not_weak_for_a_capital_letter(sampled, claim, weak, length):
    assert (levels(claim, length, *sampled) == {"weak"}) is weak


def test_z_is_robust():
    """One outlier moves neither the middle nor the spread."""
    plain = judge("Emma", ranking("zero-shot", 0.6))
    scores = ranking("zero-shot", 0.6).scores.copy()
    scores[100] = 50.0
    with_outlier = rank_scores("zero-shot", WORK.id, 1, scores)
    judged = StrengthClassifier(
        with_outlier, {}, unknown_words=OutOfVocabulary.of(Claim("Emma"), WORK), by_meaning=MINILM
    ).of(with_outlier.hits(2)[1])
    assert judged.z == pytest.approx(plain.z, rel=0.05)


@pytest.mark.parametrize(
    ("cosine", "start"),
    [
        (
            0.8,
            SAYS["much closer"],
        ),
        (
            0.31,
            SAYS["no closer"],
        ),
    ],
)
def test_the_sentence_says_both_things(cosine, start):
    at = 7
    best = ranking("zero-shot", cosine, at=at)
    judged = StrengthClassifier(
        best, {}, unknown_words=OutOfVocabulary.of(Claim("Emma walks"), WORK), by_meaning=MINILM
    ).of(best.hits(200)[best.ranks[at] - 1])
    assert judged.sentence.startswith(start)
    assert judged.sentence.endswith(".")


def test_spans_without_a_shared_word_are_no_background_for_bm25():
    scores = np.zeros(200, dtype=np.float32)
    scores[:20] = np.linspace(1, 2, 20)
    scores[3] = 12.0
    strong = rank_scores("bm25", WORK.id, 1, scores)
    assert judge("Emma and Harriet walk", strong).level == "strong"
    scores[3] = 2.2
    assert judge("Emma and Harriet walk", rank_scores("bm25", WORK.id, 1, scores)).level == "weak"


def test_no_shared_word_anywhere_is_weak():
    nothing = rank_scores("bm25", WORK.id, 1, np.zeros(200, dtype=np.float32))
    judged = judge("Emma", nothing)
    assert judged.level == "weak"
    assert np.isfinite(judged.z)


def test_a_fused_hit_is_judged_by_the_kinder_component():
    dense, words = ranking("zero-shot", 0.8), rank_scores("bm25", WORK.id, 1, np.zeros(200, dtype=np.float32))
    fused = fuse([dense, words])
    judged = judge("Emma walks", fused, dense, words)
    assert judged.level == "strong"
    assert "closer to the claim" in judged.sentence


def test_a_retriever_without_measured_bars_is_called_neither_strong_nor_weak():
    judged = judge("Emma walks", ranking("new", 0.9))
    assert judged.level == "fair"
    assert judged.sentence == (SAYS["far above"])


@pytest.mark.parametrize("cosine", [0.9, 0.35])
def test_the_bars_of_one_encoder_do_not_judge_another(cosine):
    words = rank_scores("bm25", WORK.id, 1, np.zeros(200, dtype=np.float32))
    judged = judge("Emma walks", ranking("zero-shot", cosine), words, by_meaning=ANOTHER)
    assert judged.level == "fair"
    assert "closer" not in judged.sentence
    assert judged.sentence.endswith(SAYS["unrelated unknown"])


def test_the_thresholds_of_an_encoder_hold_for_a_copy_of_it_in_a_folder(tmp_path):
    copied = calibration.find(str(tmp_path), IDENTITY.replace("all-MiniLM-L6-v2", "my/model"))
    assert copied.strength == MINILM["dense"]
    assert judge("Emma walks", ranking("dense", 0.8)).level == "strong"
    assert judge("Emma walks", ranking("dense", 0.41)).level == "weak"


def test_a_fused_hit_of_an_encoder_without_thresholds_is_not_called_weak_for_want_of_shared_words():
    dense, words = ranking("zero-shot", 0.8), rank_scores("bm25", WORK.id, 1, np.zeros(200, dtype=np.float32))
    fused = fuse([dense, words])
    assert judge("Emma walks", fused, dense, words, by_meaning=ANOTHER).level == "fair"


@pytest.mark.shipped
def test_thresholds_were_set_for_the_encoder_that_comes_with_the_program(tmp_path):
    known = registry.create("dense-relic", settings=Settings(indexes=tmp_path)).calibration
    assert known.strength
    assert set(known.joined) == {"dense-relic", "fusion"}


def test_thresholds_were_set_for_the_encoder_over_the_larger_base():
    run, _ = read_run(ASSETS / "results" / "larger" / "dense-relic-larger-test.json")
    assert calibration.find("", run.configuration["encoder"]).strength


def test_a_work_of_one_sentence():
    work = make_work(["Only this."])
    one = rank_scores("zero-shot", work.id, 1, np.array([0.9], dtype=np.float32))
    assert np.isfinite(
        StrengthClassifier(one, {}, unknown_words=OutOfVocabulary.of(Claim("only this"), work), by_meaning=MINILM)
        .of(one.hits(1)[0])
        .z
    )


PROMPTS = {
    "own": [
        "Alice grows so large that she cannot leave the room",
        "Alice falls slowly past cupboards and shelves",
        "The Mouse is offended by talk of cats",
        "Alice swims in a pool of her own tears",
    ],
    "other": [
        "Gatsby's parties are lavish and empty",
        "Elizabeth displays frustration towards her mother",
        "Victor does not consider the consequences of his actions",
        "the whale as an emblem of fate",
        "doctors impose proportion on their patients in Mrs. Dalloway",
    ],
}


@pytest.mark.corpus
def test_claims_about_another_book_come_out_weak(shared, tmp_path):
    text = (shared / "corpus" / "primary" / "alices_adventures_in_wonderland.txt").read_text(encoding="utf-8")
    alice = make_work([part.strip() for part in text.split(". ") if part.strip()][:200], title="Alice")
    made = made_with_minilm(tmp_path, alice)
    for prompt in PROMPTS["own"]:
        assert levels(prompt, 2, made, alice) != {"weak"}, prompt
    for prompt in PROMPTS["other"]:
        assert levels(prompt, 2, made, alice) == {"weak"}, prompt
