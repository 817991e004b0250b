"""Encoders of every shape, held to a plain forward pass of transformers: DPR, SimCSE, E5, RoBERTa."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertForMaskedLM, BertModel, DPRContextEncoder, DPRQuestionEncoder, RobertaModel

from relic_core.domain import Claim
from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.encoders.weights import CONFIG, TOKENIZER, WEIGHTS
from relic_core.errors import BadWeights
from relic_core.ports import silent
from tests import tiny_models
from tests.making import make_work
from tests.tiny_models import write_card

LEFT, RIGHT = "The ferryman says it was near the river", "and the miser was proud, in the end."
PASSAGES = ["The fox.", "He was a miser, and proud of it; the soup was far.", "A coin of the ferryman."]


def plain(model, folder, text):
    """Read one text by itself: the model's own output."""
    ids = Tokenizer.from_file(str(folder / TOKENIZER)).encode(text).ids
    with torch.inference_mode():
        return model.eval()(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))


def alone(model):
    return PassageEncoder(read_card(str(model)), precision="float32")


def unit(vector):
    return vector / np.linalg.norm(vector)


def check(encoder, query, passage):
    """Hold claims and passages, encoded in batches, to functions that read one text by itself."""
    claims = [Claim(LEFT, RIGHT, masked=True), Claim("the frost"), Claim(LEFT)]
    for claim, vector in zip(claims, encoder.encode_claims(claims), strict=True):
        np.testing.assert_allclose(vector, query(claim.words), atol=1e-5, rtol=1e-4)
    for text, vector in zip(PASSAGES, encoder.encode_passages(PASSAGES), strict=True):
        np.testing.assert_allclose(vector, passage(text), atol=1e-5, rtol=1e-4)


# ---------------------------------------------------------------- DPR


@pytest.fixture(scope="module")
def dpr(tmp_path_factory):
    return tiny_models.dpr(tmp_path_factory.mktemp("dpr"))


def test_dpr_reads_claims_with_one_tower_and_passages_with_the_other(dpr, tmp_path):
    """A card that names the two folders is enough: what a DPR is, its configuration tells."""
    encoder = alone(write_card(tmp_path / "dpr.json", query_model=f"{dpr}/question", passage_model=f"{dpr}/context"))
    question = DPRQuestionEncoder.from_pretrained(dpr / "question")
    context = DPRContextEncoder.from_pretrained(dpr / "context")
    check(
        encoder,
        lambda text: plain(question, dpr / "question", text).pooler_output[0].numpy(),
        lambda text: plain(context, dpr / "context", text).pooler_output[0].numpy(),
    )


def test_towers_may_be_named_as_seen_from_the_card(dpr):
    path = write_card(dpr / "card.json", query_model="question", passage_model="context")
    near, far = (alone(path), alone(write_card(dpr / "deep" / "c.json", model=f"{dpr}/context")))
    card = read_card(path)
    assert (card.pooling, card.similarity, card.spans) == ("first", "dot", "alone")
    np.testing.assert_array_equal(near.encode_passages(PASSAGES), far.encode_passages(PASSAGES))
    claim = [Claim(LEFT)]
    assert not np.allclose(near.encode_claims(claim), far.encode_claims(claim))


def test_the_card_may_lie_in_the_folder(dpr, tmp_path):
    shutil.copytree(dpr, tmp_path / "my-dpr")
    write_card(tmp_path / "my-dpr" / "encoder.json", query_model="question", passage_model="context")
    card = read_card(str(tmp_path / "my-dpr"))
    assert card.name == "my-dpr"
    assert card.query_model.endswith("question")


def test_inner_products_are_of_vectors_as_they_come(dpr):
    norms = np.linalg.norm(alone(dpr / "context").encode_passages(PASSAGES), axis=1)
    assert (np.abs(norms - 1) > 0.1).all()


def test_a_dpr_with_a_projection_is_refused(tmp_path):
    tiny_models.dpr(tmp_path, projection=8)
    with pytest.raises(BadWeights, match="8 dimensions"):
        alone(tmp_path / "context").encode_passages(PASSAGES)


def test_towers_of_unlike_dimension_are_refused(tmp_path):
    tiny_models.bert(tmp_path / "a")
    tiny_models.bert(tmp_path / "b", dimension=32)
    encoder = alone(write_card(tmp_path / "c.json", query_model="a", passage_model="b", spans="alone"))
    with pytest.raises(BadWeights, match=r" 16 .* 32"):
        encoder.encode_claims([Claim("the fox")])


# ---------------------------------------------------------------- SimCSE


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_models.bert(tmp_path_factory.mktemp("bert") / "my-bert")


def test_supervised_simcse_takes_what_the_pooler_makes_of_the_first_token(bert, tmp_path):
    model = BertModel.from_pretrained(bert)

    def vector(text):
        return unit(plain(model, bert, text).pooler_output[0].numpy())

    check(alone(write_card(tmp_path / "c.json", model=str(bert), pooling="pooler")), vector, vector)


def test_unsupervised_simcse_takes_the_first_token_as_it_is(bert, tmp_path):
    model = BertModel.from_pretrained(bert)

    def vector(text):
        return unit(plain(model, bert, text).last_hidden_state[0, 0].numpy())

    check(alone(write_card(tmp_path / "c.json", model=str(bert), pooling="first")), vector, vector)


def test_a_pooler_without_weights_is_refused_where_it_is_asked_for(bert, tmp_path):
    shutil.copytree(bert, tmp_path / "m")
    weights = {name: tensor for name, tensor in load_file(bert / WEIGHTS).items() if not name.startswith("pooler.")}
    save_file(weights, tmp_path / "m" / WEIGHTS)
    alone(write_card(tmp_path / "first.json", model="m", pooling="first")).encode_passages(PASSAGES)
    with pytest.raises(BadWeights, match=r"pooler\.dense"):
        alone(write_card(tmp_path / "pooler.json", model="m", pooling="pooler")).encode_passages(PASSAGES)


# ---------------------------------------------------------------- E5


@pytest.fixture(scope="module")
def e5(bert, tmp_path_factory):
    return write_card(
        tmp_path_factory.mktemp("cards") / "e5.json",
        model=str(bert), query_prefix="query: ", passage_prefix="passage: ", spans="alone", window=100,
    )  # fmt: skip


def test_e5_puts_a_prefix_before_claims_and_another_before_passages(bert, e5):
    model = BertModel.from_pretrained(bert)

    def vector(text):
        return unit(plain(model, bert, text).last_hidden_state[0].mean(0).numpy())

    check(alone(e5), lambda text: vector(f"query: {text}"), lambda text: vector(f"passage: {text}"))


def test_in_context_the_prefix_stands_before_every_stretch_and_is_not_pooled(bert, e5):
    first, second = PASSAGES[1:]
    work = make_work([[first, second]])
    model = BertModel.from_pretrained(bert)
    states = plain(model, bert, f"passage: {first} {second}").last_hidden_state[0].numpy()
    encode = Tokenizer.from_file(str(bert / TOKENIZER)).encode
    prefix, size = 1 + 2, len(encode(first, add_special_tokens=False).ids)
    encoder = LateChunkingEncoder(replace(read_card(e5), spans="in context"), precision="float32")
    sums, counts = encoder.encode_sentences(work, silent)
    assert counts.tolist() == [size, len(states) - prefix - size - 1]
    expected = [states[prefix : prefix + size].sum(0), states[prefix + size : -1].sum(0)]
    np.testing.assert_allclose(sums, expected, atol=1e-4)


def test_in_context_stretches_with_their_prefix_fit_the_window(bert, e5, monkeypatch):
    card = replace(read_card(e5), spans="in context", window=20)
    encoder = LateChunkingEncoder(card, precision="float32")
    seen = []
    forward = encoder.pair.passages.forward
    monkeypatch.setattr(
        encoder.pair.passages, "forward", lambda rows, **said: seen.extend(rows) or forward(rows, **said)
    )
    _, counts = encoder.encode_sentences(make_work([["the fox " * 30 + "."]]), silent)
    prefix = encoder.pair.passages.tokens("", "passage: ").prefix
    assert len(prefix) == 2
    assert len(seen) > 3
    assert all(row[:2] == prefix and len(row) <= 20 for row in seen)
    assert counts.tolist() == [61]


@pytest.mark.parametrize("masked", [True, False])
def test_of_a_long_claim_the_prefix_and_the_words_around_the_mask_are_kept(e5, masked):
    encoder = alone(e5)
    left, right = "far " * 200 + "near " * 40, "near " * 40 + "far " * 200
    kept = encoder.pair.claim_ids(Claim(left, right, masked=masked))
    words = [encoder.pair.claims.tokenizer.id_to_token(number) for number in kept]
    assert len(words) == 100
    assert words[:2] == ["query", ":"]
    assert words.count("near") == (80 if masked else 0)


def test_of_a_long_passage_the_beginning_is_kept(e5):
    encoder = alone(e5)
    words = [encoder.pair.passages.tokenizer.id_to_token(n) for n in encoder.pair.passage_ids("start " + "far " * 300)]
    assert words[:3] == ["passage", ":", "start"]
    assert len(words) == 100


def test_a_prefix_that_leaves_no_room_is_refused(e5):
    card = replace(read_card(e5), query_prefix="the fox " * 40)
    with pytest.raises(BadWeights, match=r"80 tokens.* 100"):
        PassageEncoder(card).encode_claims([Claim("the fox")])


# ---------------------------------------------------------------- RoBERTa


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return tiny_models.roberta(tmp_path_factory.mktemp("roberta") / "m")


def roberta_card(folder, tmp_path, **said):
    return write_card(tmp_path / "c.json", model=str(folder), pooling="first", similarity="dot", **said)


def test_roberta_takes_the_state_of_its_first_token_however_texts_are_padded(roberta, tmp_path):
    model = RobertaModel.from_pretrained(roberta)

    def vector(text):
        return plain(model, roberta, text).last_hidden_state[0, 0].numpy()

    check(alone(roberta_card(roberta, tmp_path, window=62)), vector, vector)


def test_a_prefix_before_byte_pairs_is_tokenized_with_its_text(roberta, tmp_path):
    encoder = alone(roberta_card(roberta, tmp_path, window=62, query_prefix="query: "))
    whole = Tokenizer.from_file(str(roberta / TOKENIZER)).encode("query: the fox", add_special_tokens=False).ids
    assert encoder.pair.claim_ids(Claim("the fox")) == whole
    read = encoder.pair.claims.tokens("the fox", "query: ")
    assert "".join(encoder.pair.claims.tokenizer.id_to_token(n) for n in read.prefix) == "query:"
    assert read.places[0] == len("the") - 1


def test_roberta_reads_two_tokens_fewer_than_it_has_positions(roberta, tmp_path):
    text = ["far " * 300]
    assert np.isfinite(alone(roberta_card(roberta, tmp_path, window=62)).encode_passages(text)).all()
    with pytest.raises(BadWeights, match=r" 64 tokens.* 65"):
        alone(roberta_card(roberta, tmp_path, window=63)).encode_passages(text)


@pytest.mark.parametrize("prefix", ["", "query: "])
def test_a_word_is_pooled_into_its_own_sentence_whether_or_not_its_token_begins_with_the_space(tmp_path, prefix):
    work = make_work([["The fox.", "the ferry was near.", "far"], ["a coin", "of the river"]])
    found = {}
    for name, trimmed in (("trimmed", True), ("untrimmed", False)):
        model = tiny_models.roberta(tmp_path / name / "m", trimmed=trimmed)
        card = write_card(
            tmp_path / name / "c.json", model=str(model), pooling="mean", spans="in context", passage_prefix=prefix,
            window=62,
        )  # fmt: skip
        encoder = LateChunkingEncoder(read_card(card), precision="float32")
        assert encoder.pair.passages.joins_spaces is not trimmed
        assert ("spaces with" in encoder.identity) is not trimmed
        found[name] = encoder.encode_sentences(work, silent)
    encode = Tokenizer.from_file(str(model / TOKENIZER)).encode
    texts = [f"{' ' if at not in {0, 3} else ''}{work.sentence_text(at)}" for at in range(5)]
    assert found["untrimmed"][1].tolist() == [len(encode(text, add_special_tokens=False).ids) for text in texts]
    for trimmed, untrimmed in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(untrimmed, trimmed)


# ---------------------------------------------------------------- files and identity


@pytest.mark.parametrize("old", ["head", "gamma and beta"])
def test_weights_saved_with_a_head_or_under_old_names_are_read(bert, tmp_path, old):
    shutil.copytree(bert, tmp_path / "m")
    if old == "head":
        whole = BertForMaskedLM.from_pretrained(bert)
        torch.manual_seed(3)
        weights = {f"bert.{name}": tensor for name, tensor in load_file(bert / WEIGHTS).items()}
        weights["cls.predictions.bias"] = whole.cls.predictions.bias.detach().clone()
    else:
        names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        weights = {}
        for name, tensor in load_file(bert / WEIGHTS).items():
            for new, before in names.items():
                name = name.replace(new, before)  # noqa: PLW2901
            weights[name] = tensor
    save_file(weights, tmp_path / "m" / WEIGHTS)
    said = {"pooling": "pooler", "name": "same"}
    expected = alone(write_card(tmp_path / "a.json", model=str(bert), **said)).encode_passages(PASSAGES)
    found = alone(write_card(tmp_path / "b.json", model="m", **said)).encode_passages(PASSAGES)
    np.testing.assert_array_equal(found, expected)


def test_a_damaged_tokenizer_is_refused(bert, tmp_path):
    shutil.copytree(bert, tmp_path / "m")
    (tmp_path / "m" / TOKENIZER).write_text("{}", encoding="utf-8")
    with pytest.raises(BadWeights, match=r"tokenizer\.json"):
        LateChunkingEncoder(read_card(str(tmp_path / "m"))).encode_claims([Claim("the fox")])


@pytest.mark.parametrize(
    "change",
    [
        {"num_hidden_layers": 10**9}, {"vocab_size": 10**12}, {"intermediate_size": 10**9}, {"hidden_size": 10**6},
        {"num_hidden_layers": "two"}, {"hidden_size": None}, {"hidden_size": -16}, {"num_attention_heads": 0},
        {"hidden_act": 3}, {"hidden_act": "none such"}, {"layer_norm_eps": []}, {"model_type": "none such"},
        {"model_type": ["bert"]}, {"num_hidden_layers": 1.5},
        {"auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_configuration_that_cannot_be_that_of_its_weights_is_refused(bert, tmp_path, change):
    shutil.copytree(bert, tmp_path / "m")
    said = json.loads((bert / CONFIG).read_text(encoding="utf-8"))
    (tmp_path / "m" / CONFIG).write_text(json.dumps(said | change), encoding="utf-8")
    with pytest.raises(BadWeights, match="m "):
        alone(write_card(tmp_path / "c.json", model="m")).encode_passages(PASSAGES)


@pytest.mark.parametrize("written", ["[]", "null", "{", "[" * 100_000, '"x"'], ids=lambda written: written[:5])
def test_a_configuration_that_is_no_object_is_refused(bert, tmp_path, written):
    shutil.copytree(bert, tmp_path / "m")
    (tmp_path / "m" / CONFIG).write_text(written, encoding="utf-8")
    with pytest.raises(BadWeights, match="m "):
        alone(write_card(tmp_path / "c.json", model="m")).encode_passages(PASSAGES)


def test_how_attention_is_computed_is_not_the_model_s_to_say(bert, tmp_path):
    shutil.copytree(bert, tmp_path / "m")
    said = json.loads((bert / CONFIG).read_text(encoding="utf-8"))
    ways = {"attn_implementation": "flash_attention_2", "_attn_implementation_internal": "none such"}
    (tmp_path / "m" / CONFIG).write_text(json.dumps(said | ways), encoding="utf-8")
    found = alone(write_card(tmp_path / "c.json", model="m")).encode_passages(PASSAGES)
    np.testing.assert_array_equal(
        found, alone(write_card(tmp_path / "d.json", model=str(bert))).encode_passages(PASSAGES)
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(bert, tmp_path, number):
    shutil.copytree(bert, tmp_path / "m")
    weights = load_file(bert / WEIGHTS)
    weights["encoder.layer.1.output.dense.bias"][3] = number
    save_file(weights, tmp_path / "m" / WEIGHTS)
    with pytest.raises(BadWeights, match=r"layer\.1\.output\.dense\.bias"):
        alone(write_card(tmp_path / "c.json", model="m")).encode_passages(PASSAGES)


CARD = {"pooling": "mean", "similarity": "cosine", "spans": "alone", "window": 64}


@pytest.mark.parametrize(
    "change",
    [
        {"pooling": "first"}, {"pooling": "pooler"}, {"similarity": "dot"}, {"spans": "in context"}, {"window": 65},
        {"query_prefix": "query: "}, {"passage_prefix": "query: "}, {"query_prefix": "query:"}, {"name": "another"},
    ],
    ids=str,
)  # fmt: skip
def test_another_value_on_the_card_is_another_encoder(bert, tmp_path, change):
    before = read_card(write_card(tmp_path / "c.json", model=str(bert), **CARD))
    after = read_card(write_card(tmp_path / "c.json", model=str(bert), **{**CARD, **change}))
    assert identity_of(before) != identity_of(after)


def identity_of(card):
    kind = PassageEncoder if card.spans == "alone" else LateChunkingEncoder
    return kind(card, precision="float32").identity


@pytest.mark.parametrize("tower", ["question", "context"])
@pytest.mark.parametrize("file", [WEIGHTS, TOKENIZER, CONFIG])
def test_another_file_of_either_tower_is_another_encoder(dpr, tmp_path, tower, file):
    for name in ("question", "context"):
        shutil.copytree(dpr / name, tmp_path / name)
    card = read_card(write_card(tmp_path / "c.json", query_model="question", passage_model="context"))
    before = identity_of(card)
    with (tmp_path / tower / file).open("ab") as changed:
        changed.write(b" ")
    assert identity_of(card) != before


def test_the_towers_change_places_and_it_is_another_encoder(dpr, tmp_path):
    one, other = (
        {"query_model": f"{dpr}/{a}", "passage_model": f"{dpr}/{b}"}
        for a, b in (["question", "context"], ["context", "question"])
    )
    cards = [read_card(write_card(tmp_path / "c.json", **said)) for said in (one, other)]
    assert identity_of(cards[0]) != identity_of(cards[1])


def test_where_the_files_lie_makes_no_difference(bert, tmp_path):
    shutil.copytree(bert, tmp_path / "elsewhere")
    said = {"name": "mine", **CARD}
    here = read_card(write_card(tmp_path / "a.json", model=str(bert), **said))
    there = read_card(write_card(tmp_path / "b.json", model="elsewhere", **said))
    assert identity_of(here) == identity_of(there)


def test_the_packaged_encoder_keeps_its_identity_and_its_vectors():
    """Indexes that people have are good only as long as this holds."""
    encoder = LateChunkingEncoder(precision="float32")
    assert encoder.identity == ("all-MiniLM-L6-v2/e764cf4d4099/float32/one-pass mean, 254 tokens with 32 of context")
    (claim,) = encoder.encode_claims([Claim("the ferryman and the river", "a proud miser", masked=True)])
    np.testing.assert_allclose(claim[:3], [0.00205288, 0.09425294, 0.01389471], atol=1e-4)
    sums, counts = encoder.encode_sentences(make_work([["He was a miser, and proud of it."]]), silent)
    np.testing.assert_allclose(sums[0, :3] / counts[0], [0.049309, 0.598359, 0.030193], atol=1e-3)


def test_the_packaged_model_read_otherwise_is_not_taken_for_the_packaged_encoder():
    """What is known of the packaged encoder, such as the thresholds of strong and weak, goes by its digest."""
    other = PassageEncoder(EncoderCard(name="all-MiniLM-L6-v2", spans="alone"), precision="float32")
    assert "e764cf4d4099" not in other.identity


def test_a_plain_folder_is_named_as_before_there_were_cards(bert):
    card = replace(read_card(str(bert)), window=100)
    digest = LateChunkingEncoder(card).pair.passages.files.digest[:12]
    identity = LateChunkingEncoder(card, precision="float32").identity
    assert identity == f"my-bert/{digest}/float32/one-pass mean, 100 tokens with 25 of context"
    assert json.loads((bert / CONFIG).read_text(encoding="utf-8"))["model_type"] == "bert"
