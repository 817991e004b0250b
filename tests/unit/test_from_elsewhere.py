"""Models as others publish them: rerankers by their prefix, encoders by what sentence-transformers says of them."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
    T5Config,
    T5ForConditionalGeneration,
)

from relic_core.domain import Claim, Span
from relic_core.encoders import batching
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.encoders.pretrained_rerankers import MonoT5Reranker, OneLogitReranker, YesNoReranker
from relic_core.encoders.towers import PassageEncoder, flat_span
from relic_core.errors import BadClaim, BadWeights
from relic_core.ports import silent
from tests.making_training import make_novel
from tests.tiny_models import SHAPE, bert, save_bert_tokenizer, save_roberta_tokenizer

NOVEL = make_novel()
CLAIM = Claim("he claims the ferry is far :", "and so the ferry was near", masked=True)
QUERY = "he claims the ferry is far : and so the ferry was near"
SPANS = [Span(start, 1 + start % 3) for start in (7, 3, 30, 12, 3)]
PASSAGES = [flat_span(NOVEL, span) for span in SPANS]
QWEN = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "intermediate_size": 24, "initializer_range": 0.5, "max_window_layers": 2,
}  # fmt: skip


def with_tokens(folder, *tokens, closing=""):
    path = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.add_special_tokens([token for token in tokens if token.startswith("<")])
    tokenizer.add_tokens([token for token in tokens if not token.startswith("<")])
    if closing:
        ends = [(closing, tokenizer.token_to_id(closing))]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {closing}", special_tokens=ends)
    tokenizer.save(path)
    return tokenizer.get_vocab_size()


def cross(folder, labels=1, positions=256):
    folder.mkdir()
    save_bert_tokenizer(folder)
    config = BertConfig(vocab_size=120, max_position_embeddings=positions, num_labels=labels, **SHAPE)
    BertForSequenceClassification(config).save_pretrained(folder)


def t5(folder):
    folder.mkdir()
    save_bert_tokenizer(folder)
    size = with_tokens(folder, "true", "false", closing="[SEP]")
    config = T5Config(
        vocab_size=size, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
        initializer_factor=2.0,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)


def causal(folder, *, tokens=("<|im_start|>", "<|im_end|>", "<think>", "</think>", "yes", "no")):
    folder.mkdir()
    save_roberta_tokenizer(folder)
    size = with_tokens(folder, *tokens)
    Qwen3ForCausalLM(Qwen3Config(vocab_size=size, pad_token_id=1, **QWEN)).save_pretrained(folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    torch.manual_seed(3)
    for name, make in {"cross": cross, "t5": t5, "causal": causal}.items():
        make(folder / name)
    return folder


def score(reranker, claim=CLAIM, spans=SPANS):
    return reranker.rerank(claim, NOVEL, spans, silent)


def by_hand(kind, folder):
    """Score by transformers alone, one passage at a time."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    word = tokenizer.convert_tokens_to_ids
    with torch.no_grad():
        for passage in PASSAGES:
            if kind == "cross":
                model = BertForSequenceClassification.from_pretrained(folder).eval()
                yield float(model(**tokenizer(QUERY, passage, return_tensors="pt", return_token_type_ids=True)).logits)
            elif kind == "t5":
                model = T5ForConditionalGeneration.from_pretrained(folder).eval()
                read = tokenizer(f"Query: {QUERY} Document: {passage} Relevant:", return_tensors="pt")["input_ids"]
                said = model(input_ids=read, decoder_input_ids=torch.tensor([[0]])).logits[0, 0].log_softmax(-1)
                yield float(said[word("true")] - said[word("false")])
            else:
                model = Qwen3ForCausalLM.from_pretrained(folder).eval()
                text = (
                    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
                    'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
                    f"<Instruct>: {YesNoReranker.task}\n<Query>: {QUERY}\n<Document>: {passage}<|im_end|>\n"
                    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
                )
                read = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
                said = model(input_ids=read).logits[0, -1].log_softmax(-1)
                yield float(said[word("yes")] - said[word("no")])


KINDS = {"cross": OneLogitReranker, "t5": MonoT5Reranker, "causal": YesNoReranker}


@pytest.mark.parametrize("kind", KINDS)
def test_a_reranker_from_elsewhere_scores_as_transformers_does(made, kind, monkeypatch):
    reranker = KINDS[kind](str(made / kind), precision="float32")
    found = score(reranker)
    np.testing.assert_allclose(found, list(by_hand(kind, made / kind)), atol=1e-4)
    assert len(np.unique(found.round(5))) > 1
    monkeypatch.setitem(batching.TOKENS, "cpu", 1)
    np.testing.assert_allclose(score(reranker), found, atol=1e-4)
    assert score(reranker, spans=[]).shape == (0,)
    with pytest.raises(BadClaim):
        score(reranker, Claim(""))


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_claim_keeps_what_is_next_to_the_quotation_and_leaves_the_passage_room(made, kind):
    reranker = KINDS[kind](str(made / kind), precision="float32")
    far, near = Claim("far " * 900 + "the ferry", "the quay " + "near " * 900, masked=True), Claim("ferry " * 2000)
    query = reranker._query(far, 20)
    assert "the ferry the quay" in query
    assert len(reranker._encoded(query)) <= 20 + 1, "the space between may be a token"
    assert np.isfinite([*score(reranker, far), *score(reranker, near)]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_setting_names_it_by_its_prefix(made, kind):
    named = open_reranker(f"{kind}:{made / kind}")
    assert type(named) is KINDS[kind]
    assert all(isinstance(part, str) and part for pair in named.configuration.items() for part in pair)
    with pytest.raises(BadWeights, match="RELIC_RERANKER"):
        open_reranker(f"{kind}:")


def two_logits(folder):
    cross(folder, labels=2)


def no_head(folder):
    bert(folder)


def short(folder):
    cross(folder, positions=24)


def altered(folder):
    cross(folder)
    said = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**said, "hidden_size": 32}))


def own_code(folder):
    cross(folder)
    said = json.loads((folder / "config.json").read_text())
    said |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config"}}
    (folder / "config.json").write_text(json.dumps(said))


def no_words(folder):
    causal(folder, tokens=("<|im_start|>", "<|im_end|>"))


def no_chat(folder):
    causal(folder, tokens=("yes", "no"))


def no_weights(folder):
    cross(folder)
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("kind", "make", "named"),
    [
        ("cross", two_logits, "2 logits"),
        ("cross", no_head, "missing"),
        ("cross", short, "room for"),
        ("cross", altered, "cannot be read"),
        ("cross", own_code, "code of its own"),
        ("cross", no_weights, "model.safetensors"),
        ("t5", cross, "of type bert"),
        ("likelihood", causal, "a causal model reads"),
        ("causal", no_words, "'yes'"),
        ("causal", no_chat, "im_start"),
    ],
)
def test_what_is_no_such_reranker_is_refused_with_a_word(tmp_path, kind, make, named):
    make(tmp_path / "made")
    with pytest.raises(BadWeights, match=named):
        score(open_reranker(f"{kind}:{tmp_path / 'made'}"))


# ---------------------------------------------------------------- encoders


def sentence_transformers_folder(folder, *, dense):
    """Write beside a model what sentence-transformers has: the last token, dense layers, prompts, length 1."""
    kinds = ["Transformer", "Pooling", *["Dense"] * dense, "Normalize"]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds) if number)]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(zip(kinds, paths, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    said = {"prompts": {"query": "query: ", "document": "passage: "}, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(said))
    for path in paths[1:]:
        (folder / path).mkdir()
    pooled = {"word_embedding_dimension": 16, "pooling_mode_lasttoken": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooled))
    for number in range(dense):
        wide = {"in_features": (16, 24)[number], "out_features": (24, 12)[number], "bias": not number}
        wide["activation_function"] = f"torch.nn.modules.{('activation.Tanh', 'linear.Identity')[number]}"
        (folder / paths[2 + number] / "config.json").write_text(json.dumps(wide))
        tensors = {"linear.weight": torch.randn(wide["out_features"], wide["in_features"])}
        tensors |= {"linear.bias": torch.randn(24)} if not number else {}
        save_file(tensors, folder / paths[2 + number] / "model.safetensors")
    return folder


def embedder(folder):
    """Save a causal model whose tokenizer closes a text, as Qwen3-Embedding's does."""
    folder.mkdir()
    save_roberta_tokenizer(folder)
    size = with_tokens(folder, "<eos>", closing="<eos>")
    Qwen3Model(Qwen3Config(vocab_size=size, pad_token_id=1, **QWEN)).save_pretrained(folder)
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return folder


@pytest.mark.parametrize(("make", "dense"), [(embedder, 0), (bert, 2)], ids=["causal", "dense layers"])
def test_a_folder_of_sentence_transformers_gives_the_vectors_that_it_gives(tmp_path, make, dense):
    from sentence_transformers import SentenceTransformer

    torch.manual_seed(4)
    folder = sentence_transformers_folder(make(tmp_path / "made"), dense=dense)
    card = read_card(str(folder))
    assert (card.pooling, card.spans, len(card.dense)) == ("last", "alone", dense)
    encoder = PassageEncoder(card, precision="float32")
    reference = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    np.testing.assert_allclose(encoder.encode_passages(PASSAGES), reference.encode_document(PASSAGES), atol=1e-5)
    claims = encoder.encode_claims([Claim("the ferry is far")])
    np.testing.assert_allclose(claims, reference.encode_query(["the ferry is far"]), atol=1e-5)

    if dense:  # what the layers are is part of what the encoder is
        before = encoder.identity
        save_file({"linear.weight": torch.ones(12, 24)}, folder / "3_Dense" / "model.safetensors")
        assert PassageEncoder(read_card(str(folder)), precision="float32").identity != before
        shutil.rmtree(folder / "2_Dense")
        with pytest.raises(BadWeights, match="2_Dense"):
            PassageEncoder(card, precision="float32").encode_passages(PASSAGES)
