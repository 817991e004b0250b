"""Late interaction: MaxSim over the tokens of spans in their context, and models in the form that PyLate writes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertModel

from relic_core.config import Settings
from relic_core.domain import Claim, Corpus, Span, rank_scores
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import ClaimTokens, LateChunkingEncoder
from relic_core.errors import BadWeights, RelicError, StaleIndex
from relic_core.evaluation.experiments import _own_models
from relic_core.ports import silent
from relic_core.retrieval import registry
from relic_core.retrieval.dense import BLOCK, blocks
from relic_core.retrieval.late import LateIndex
from relic_core.retrieval.reranked import beside
from relic_core.services import health
from tests.making import make_work
from tests.making_training import make_base, make_novel
from tests.tiny_models import bert, roberta, write_card

NOVEL = make_novel()
CLAIM = Claim("he claims the ferry is far :", "and so the ferry was near", masked=True)


def pylate(folder, *, dimension=8, read=16, **said):
    """Write beside a model what PyLate has: a projection of its tokens, prefixes, lengths, words passed over."""
    bert(folder, seed=3)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["[Q] ", "[D] "])
    tokenizer.save(str(folder / "tokenizer.json"))
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    facts = {
        "similarity_fn_name": "MaxSim", "query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 32,
        "document_length": 48, "do_query_expansion": False, "skiplist_words": [".", ","], "prompts": {}, **said,
    }  # fmt: skip
    (folder / "config_sentence_transformers.json").write_text(json.dumps(facts))
    (folder / "1_Dense").mkdir()
    wide = {"in_features": read, "out_features": dimension, "bias": False}
    wide["activation_function"] = "torch.nn.modules.linear.Identity"
    (folder / "1_Dense" / "config.json").write_text(json.dumps(wide))
    torch.manual_seed(8)
    save_file({"linear.weight": torch.randn(dimension, read)}, folder / "1_Dense" / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return pylate(tmp_path_factory.mktemp("pylate") / "tiny-colbert")


@pytest.fixture
def own(folder, tmp_path):
    """Return a copy of the folder that may be changed."""
    return shutil.copytree(folder, tmp_path / "own")


def encoder_of(folder):
    return LateChunkingEncoder(read_card(str(folder)), precision="float32")


def retriever(tmp_path, late, **given):
    trained = tmp_path / "trained"
    if not trained.exists():
        make_base(trained, positions=256)
    settings = Settings(
        data=tmp_path / "data", indexes=tmp_path / "indexes", trained=str(trained), late=str(late), **given
    )
    return registry.create("late", settings=settings)


# ---------------------------------------------------------------- the score


def random_tokens(seed, sentences=12, claim=9, dimension=24):
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 9, sentences).astype(np.int32)
    vectors = draw.standard_normal((int(counts.sum()) + claim, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors[claim:], counts, vectors[:claim]


def exactly(vectors, counts):
    """Open an index of numbers that eight bits hold without loss."""
    arrays = LateIndex.arrays(vectors, counts)
    return LateIndex(**arrays), arrays["codes"] * arrays["scales"].astype(np.float32)[:, None]


def pylate_scores(queries, documents, mask):
    """Score as PyLate does (`colbert_scores`), padding left out of the maxima."""
    products = torch.einsum("ash,bth->abst", queries, documents)
    return products.masked_fill(~mask[None, :, None], -torch.inf).max(axis=-1).values.sum(axis=-1)


@pytest.mark.parametrize("length", range(1, 6))
def test_the_score_is_pylate_s_maxsim(length):
    vectors, counts, claim = random_tokens(length)
    index, held = exactly(vectors, counts)
    ends = np.cumsum(counts)
    spans = [
        torch.from_numpy(held[ends[start] - counts[start] : ends[start + length - 1]])
        for start in range(len(counts) - length + 1)
    ]
    padded = torch.nn.utils.rnn.pad_sequence(spans, batch_first=True)
    mask = torch.arange(padded.shape[1]) < torch.tensor([len(each) for each in spans])[:, None]
    expected = pylate_scores(torch.from_numpy(claim)[None], padded, mask)[0].numpy()
    asked = ClaimTokens(claim, np.ones(len(claim), np.float32), ())
    np.testing.assert_allclose(index.score(asked, np.arange(len(spans)), length), expected, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("at_once", [1, 7, 4096])
def test_weighed_maxima_of_any_spans_are_those_of_brute_force(seed, at_once, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.late._AT_ONCE", at_once)
    vectors, counts, claim = random_tokens(seed)
    index, held = exactly(vectors, counts)
    draw = np.random.default_rng(seed)
    weights, sentence_of = draw.random(len(claim)).astype(np.float32), np.repeat(np.arange(len(counts)), counts)
    for length in range(1, len(counts) + 1):
        starts = np.flatnonzero(draw.random(len(counts) - length + 1) < 0.7)  # those of a ranking, with gaps
        expected = [
            (weights * (claim @ held[(sentence_of >= start) & (sentence_of < start + length)].T).max(axis=1)).sum()
            for start in starts
        ]
        found = index.score(ClaimTokens(claim, weights, ()), starts, length)
        np.testing.assert_allclose(found, np.array(expected, dtype=np.float32), atol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_eight_bits_are_off_by_half_a_step_at_most(scale):
    vectors, counts, claim = random_tokens(3, dimension=384)
    vectors = scale * vectors
    arrays = LateIndex.arrays(vectors, counts)
    assert (arrays["codes"].dtype, arrays["scales"].dtype) == (np.int8, np.float16)
    steps = np.abs(vectors).max(axis=1) / 127
    held = LateIndex(**arrays).vectors(Span(0, len(counts)))
    assert (np.abs(held - vectors) <= 0.51 * steps[:, None]).all()
    errors = np.abs(claim @ held.T - claim @ vectors.T)
    assert (errors <= 0.51 * np.sqrt(384) * steps).all()
    assert errors.max() < 0.005 * scale


def test_a_token_of_zeros_stays_one():
    index = LateIndex(**LateIndex.arrays(np.zeros((2, 4), np.float32), np.array([2], np.int32)))
    assert not index.vectors(Span(0, 1)).any()


# ---------------------------------------------------------------- PyLate's folders


def states(folder, ids):
    """Give the projected states of tokens, of length 1, by a plain forward pass."""
    with torch.inference_mode():
        found = BertModel.from_pretrained(folder).eval()(input_ids=torch.tensor([ids])).last_hidden_state[0]
    projected = found @ load_file(folder / "1_Dense" / "model.safetensors")["linear.weight"].T
    return torch.nn.functional.normalize(projected, dim=-1).numpy()


def test_a_folder_of_pylate_says_how_it_is_used(folder):
    card = read_card(str(folder))
    assert (card.name, card.scoring, card.spans) == ("tiny-colbert", "late", "in context")
    assert (card.query_prefix, card.passage_prefix, card.skip) == ("[Q] ", "[D] ", (".", ","))
    assert (card.window, card.claim_windows) == (46, (30,))


def test_a_claim_s_tokens_are_those_of_pylate(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    asked = encoder_of(folder).encode_claim_tokens(Claim("the ferry is far"))
    ids = tokenizer.encode("the ferry is far").ids
    ids.insert(1, tokenizer.token_to_id("[Q] "))  # as PyLate puts it
    np.testing.assert_allclose(asked.vectors, states(folder, ids), atol=1e-5)
    assert len(asked.words) == len(ids)
    assert [word for word in dict.fromkeys(asked.words) if word] == ["the", "ferry", "is", "far"]
    assert asked.weights.tolist() == [1.0] * len(ids)


def test_a_work_s_tokens_are_projected_in_their_context_without_words_passed_over(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    work = make_work([["The fox , the ferry .", "The miser .", "..."]])
    vectors, counts = encoder_of(folder).encode_tokens(work, silent)
    ids = tokenizer.encode("The fox , the ferry . The miser . ...").ids
    ids.insert(1, tokenizer.token_to_id("[D] "))
    every = states(folder, ids)[2:-1]
    said = [tokenizer.id_to_token(each) not in {".", ","} for each in ids[2:-1]]
    said[-3:] = [True] * 3  # a sentence of nothing else keeps them
    np.testing.assert_allclose(vectors, every[said], atol=1e-5)
    words = encoder_of(folder).token_words(work)
    assert [len(each) for each in words] == counts.tolist()
    assert list(dict.fromkeys(chain(*words))) == ["The", "fox", "the", "ferry", "miser", ""]


def test_of_a_long_claim_the_words_around_the_gap_are_read(folder):
    asked = encoder_of(folder).encode_claim_tokens(Claim("far " * 60 + "near " * 9, "near " * 9 + "far " * 60, True))
    assert len(asked.words) == 32
    assert asked.words.count("near") == 18


def test_what_claims_count_for_is_read_from_beside_the_model(own, tmp_path, monkeypatch):
    encoder = encoder_of(own)
    late = retriever(tmp_path, own)
    late.prepare(NOVEL, silent)
    before = late.configuration
    weights = torch.ones(encoder.pair.claims.tokenizer.get_vocab_size())
    weights[encoder.pair.claims.tokenizer.token_to_id("the")] = 0.0
    save_file({"weights": weights}, own / "token_weights.safetensors")
    asked = encoder_of(own).encode_claim_tokens(Claim("the ferry"))
    assert asked.weights[list(asked.words).index("the")] == 0.0
    assert set(asked.weights) == {0.0, 1.0}
    assert late.configuration == before, "it goes on by what it has read"
    monkeypatch.setattr("relic_core.encoders.towers._loaded", {})  # as after a new start
    late = retriever(tmp_path, own)
    assert late.ready(NOVEL, 1), "no token of the work is another"
    changed = {name for name, value in late.configuration.items() if before[name] != value}
    assert changed == {"encoder"}
    save_file({"weights": torch.ones(3)}, own / "token_weights.safetensors")
    assert changed == {name for name, value in late.configuration.items() if before[name] != value}


def no_projection(folder):
    (folder / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])
    )


def projection_gone(folder):
    shutil.rmtree(folder / "1_Dense")


def other_projection(folder):
    save_file({"linear.weight": torch.randn(8, 24)}, folder / "1_Dense" / "model.safetensors")


def no_number(folder):
    save_file({"linear.weight": torch.full((8, 16), torch.nan)}, folder / "1_Dense" / "model.safetensors")


def residual(folder):
    path = folder / "1_Dense" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"use_residual": True}))


def weights(tensor):
    def write(folder):
        save_file({"weights": tensor}, folder / "token_weights.safetensors")

    return write


def no_lengths(folder):
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"query_length": "long"}))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (no_projection, "Dense"),
        (projection_gone, "1_Dense"),
        (other_projection, "24 dimensions"),
        (no_number, "not finite"),
        (residual, "not done here"),
        (weights(torch.ones(3)), "tokenizer has"),
        (weights(torch.full((200,), torch.inf)), "not finite"),
        (weights(torch.ones(200, 2)), "shape"),
        (no_lengths, "PyLate"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(own, damage, said):
    damage(own)
    with pytest.raises(BadWeights, match=said):
        encoder_of(own).encode_claim_tokens(CLAIM)


@pytest.mark.parametrize("setting", ["model", "trained"])
def test_an_encoder_for_late_interaction_is_refused_where_whole_passages_are_compared(folder, setting):
    with pytest.raises(BadWeights, match="RELIC_LATE"):
        registry.create(
            {"model": "zero-shot", "trained": "dense-relic"}[setting], settings=Settings(**{setting: str(folder)})
        )


@pytest.mark.parametrize(
    ("setting", "damage", "said"),
    [
        ("model", None, "RELIC_LATE"),
        ("trained", None, "RELIC_LATE"),
        ("late", None, ""),
        ("late", projection_gone, "1_Dense"),
        ("late", no_number, "not finite"),
        ("late", weights(torch.ones(3)), "tokenizer has"),
    ],
)
def test_a_look_at_the_models_says_what_their_use_would(own, tmp_path, setting, damage, said):
    if damage:
        damage(own)
    place = {"model": "encoder", "trained": "trained encoder", "late": "late interaction"}[setting]
    found = {each.name: each for each in health._models(Settings(**{setting: str(own)}))}[place]
    assert found.level == ("bad" if said else "good")
    assert said in found.message
    alone = write_card(tmp_path / "c.json", model="", spans="alone")
    assert [each.level for each in health._models(Settings(late=alone))] == ["good", "good", "good", "bad"]


def test_an_encoder_that_reads_passages_alone_is_refused(tmp_path):
    card = write_card(tmp_path / "c.json", model="", spans="alone")
    with pytest.raises(BadWeights, match="RELIC_LATE"):
        retriever(tmp_path, card)


def test_cards_may_say_late_of_any_encoder_in_context(folder, tmp_path):
    plain, late = (
        read_card(write_card(tmp_path / "c.json", name="mine", model="", **said)) for said in ({}, {"scoring": "late"})
    )
    assert "scoring" not in plain.facts
    assert LateChunkingEncoder(late).identity != LateChunkingEncoder(plain).identity
    named = read_card(write_card(tmp_path / "d.json", model=str(folder), claim_windows=[20]))
    assert (named.scoring, named.claim_windows, len(named.dense)) == ("late", (20,), 1)
    for wrong in ({"spans": "alone"}, {"scoring": "later"}):
        with pytest.raises(BadWeights, match=next(iter(wrong))):
            read_card(write_card(tmp_path / "e.json", model="", **{"scoring": "late", **wrong}))


def test_a_card_over_a_folder_of_pylate_may_overrule_it(folder, tmp_path):
    def read(**said):
        return read_card(write_card(tmp_path / "c.json", model=str(folder), **said))

    for said in ({"pooling": "mean"}, {"scoring": "pooled"}):
        card = read(**said)
        assert (card.scoring, card.pooling, card.similarity, card.spans) == ("pooled", "mean", "cosine", "in context")
        assert (card.dense, card.skip) == ((), ())
        vectors, _ = LateChunkingEncoder(card, precision="float32").encode_sentences(NOVEL, silent)
        assert vectors.shape == (len(NOVEL.sentences), 16)
    assert read(pooling="first").spans == "alone"
    assert (read(window=20).window, read(window=20).claim_windows) == (20, (20,))
    late = read(pooling="mean", scoring="late")
    assert (late.scoring, len(late.dense), late.skip) == ("late", 1, (".", ","))
    with pytest.raises(BadWeights, match="claim_windows"):
        read(window=20, claim_windows=[30])
    with pytest.raises(BadWeights, match="window"):
        read(window=True)


# ---------------------------------------------------------------- the retriever


def test_the_head_is_put_in_order_and_the_rest_stays(folder, tmp_path):
    late = retriever(tmp_path, folder, late_top_k=10)
    late.prepare(NOVEL, silent)
    first = rank_scores("fusion", NOVEL.id, 2, late._first.score(CLAIM, NOVEL, 2)).order
    scores = late.score(CLAIM, NOVEL, 2)
    late._weight = 0.0
    alone = late.score(CLAIM, NOVEL, 2)
    both = beside(alone[first[:10]], late._first.score(CLAIM, NOVEL, 2)[first[:10]], 1.0)
    np.testing.assert_allclose(scores[first[:10]], both, atol=1e-5)
    order = rank_scores("late", NOVEL.id, 2, scores).order
    assert sorted(order[:10]) == sorted(first[:10])
    assert order[10:].tolist() == first[10:].tolist()
    encoder = encoder_of(folder)
    vectors, counts = encoder.encode_tokens(NOVEL, silent)
    asked = encoder.encode_claim_tokens(CLAIM)
    sentence_of = np.repeat(np.arange(len(counts)), counts)
    for start in first[:10].tolist():
        span = vectors[(sentence_of >= start) & (sentence_of < start + 2)]
        assert alone[start] == pytest.approx((asked.vectors @ span.T).max(axis=1).sum(), abs=0.3)


def test_it_says_which_words_met(tmp_path):
    late = retriever(tmp_path, write_card(tmp_path / "c.json", model="", scoring="late"))
    work = make_work(["It was dusk.", "The boat left the quay.", "The sailor was silent."])
    late.prepare(work, silent)
    met = late.matches(Claim("the mariner and the ship, the ship"), work, Span(1, 2))
    assert sorted(met) == [("mariner", "sailor"), ("ship", "boat")]
    assert late.matches(Claim("and the"), work, Span(1, 2)) == ()


@pytest.mark.parametrize("trimmed", [True, False])
def test_each_token_met_is_named_by_the_word_it_is_part_of(trimmed, tmp_path, monkeypatch):
    monkeypatch.setattr("relic_core.retrieval.dense.BLOCK", 2)  # so that a block ends within a chapter
    model = roberta(tmp_path / "roberta", trimmed=trimmed)
    late = retriever(tmp_path, write_card(tmp_path / "c.json", model=str(model), scoring="late", window=62))
    sentences = [
        "The ferry left - far.",
        "“ 7 ” foxes",
        "frost, proud ferryman!",
        "Orchard - Lamp.",
        "miser  ,",
        "Near Coin",
    ]
    work = make_work([sentences, sentences[::-1]])
    late.prepare(work, silent)
    encoder, pieces = late._encoder(), []  # of each sentence, as its block was read
    for block in blocks(work):
        rows, cores, counts = encoder.cut(replace(work, sentences=work.sentences[block.start : block.stop]))
        ids = [each for row, (first, own) in zip(rows, cores, strict=True) for each in row[first : first + len(own)]]
        read = [encoder.pair.passages.tokenizer.decode([each]).strip() for each in ids]
        pieces += [read[end - count : end] for end, count in zip(np.cumsum(counts), counts, strict=True)]
    held = LateIndex.vectors
    monkeypatch.setattr(LateIndex, "vectors", lambda self, span: np.eye(len(held(self, span)), dtype=np.float32))
    monkeypatch.setattr("relic_core.retrieval.late._MATCHES", 1000)
    named = 0
    for length in (1, 2, 3):
        for start in range(len(pieces) - length + 1):
            own = list(chain(*pieces[start : start + length]))
            each = np.eye(len(own), dtype=np.float32)  # the first token of the claim meets the first, and so on
            asked = ClaimTokens(each, each[0] * 0 + 1, tuple(f"claim{number}" for number in range(len(own))))
            monkeypatch.setattr(late, "_read", lambda _, asked=asked: asked)
            met = dict(late.matches(CLAIM, work, Span(start, length)))
            assert all(own[int(mine[5:])] in theirs for mine, theirs in met.items())
            named += len(met)
    assert named > 100


def test_a_work_of_several_blocks_goes_on_where_it_was_stopped(folder, tmp_path, monkeypatch):
    long = make_novel(2 * BLOCK + 60)
    late = retriever(tmp_path, folder)
    late._first.prepare(long, silent)
    encoder, read = late._encoder(), []
    encode = encoder.encode_tokens

    def stopping(part, progress):
        if len(read) == 1:
            raise KeyboardInterrupt
        read.append(part)
        return encode(part, progress)

    def counting(part, progress):
        read.append(part)
        return encode(part, progress)

    with monkeypatch.context() as patch:
        patch.setattr(encoder, "encode_tokens", stopping)
        with pytest.raises(KeyboardInterrupt):
            late.prepare(long, silent)
        patch.setattr(encoder, "encode_tokens", counting)
        late.prepare(long, silent)
    assert [len(part.sentences) for part in read] == [BLOCK + 30, BLOCK + 30]
    whole = encode(long, silent)
    index = late._opened(late._recipe(long.version))
    np.testing.assert_allclose(index.vectors(Span(0, len(long.sentences))), whole[0], atol=0.01)


def test_a_damaged_index_is_said_to_be(folder, tmp_path):
    late = retriever(tmp_path, folder)
    late.prepare(NOVEL, silent)
    path = late._recipe(NOVEL.version).folder(late._root) / "codes.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StaleIndex, match="damaged"):
        late.score(CLAIM, NOVEL, 1)
    late.prepare(NOVEL, silent)
    assert late.ready(NOVEL, 1)


def test_of_several_works_it_says_that_it_reads_one(folder, tmp_path):
    late = retriever(tmp_path, folder)
    late.prepare(NOVEL, silent)
    corpus = replace(Corpus.of(NOVEL), whole=None)
    with pytest.raises(RelicError, match="one work at a time"):
        late.rank(CLAIM, corpus, 1)


def test_a_run_names_the_encoder_that_was_set_for_it(folder):
    settings = Settings(late=str(folder))
    assert _own_models(registry.card("late"), settings) == ["tiny-colbert"]
    assert _own_models(registry.card("fusion"), settings) == []


def test_workers_are_told_of_it():
    settings = Settings(late="somewhere", late_top_k=7).for_workers()
    assert (settings.late, settings.late_top_k) == ("somewhere", 7)
