"""Each kind of model, by tiny ones with random weights: used as it was made, or refused with the reason."""

from __future__ import annotations

import json
import os
import string
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertModel, T5Config, T5EncoderModel

from relic_core.domain import Claim, Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.cross_encoder import open_reranker
from relic_core.encoders.kinds import KINDS, check_leftover, kind_of
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.pretrained_rerankers import RankLlamaReranker
from relic_core.encoders.sparse import SparseEncoder
from relic_core.encoders.towers import PassageEncoder, flat_span
from relic_core.errors import BadWeights
from relic_core.ports import silent
from tests import tiny_models
from tests.making import make_work
from tests.tiny_models import SHAPE, save_bert_tokenizer
from tests.unit.test_from_elsewhere import NOVEL, SPANS, cross, t5, with_tokens

DOCS = Path(__file__).parents[2] / "docs" / "encoders.md"
BEGIN, END = "<!-- kinds -->\n", "<!-- /kinds -->"
PASSAGE = "the ferryman was near the river ."


def config(folder, **said):
    path = folder / "config.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(before | said), encoding="utf-8")


def add_tensors(folder, **tensors):
    save_file({**load_file(folder / "model.safetensors"), **tensors}, folder / "model.safetensors")


def colbert(folder, *, projection=True):
    tiny_models.bert(folder)
    path = str(folder / "tokenizer.json")
    said = json.loads(Path(path).read_text(encoding="utf-8"))
    for token in ("[MASK]", "[unused0]", "[unused1]"):
        said["model"]["vocab"][token] = len(said["model"]["vocab"])
    Path(path).write_text(json.dumps(said), encoding="utf-8")
    config(folder, architectures=["HF_ColBERT"])
    known = {"query_maxlen": 32, "doc_maxlen": 100, "query_token_id": "[unused0]", "doc_token_id": "[unused1]"}
    (folder / "artifact.metadata").write_text(json.dumps(known), encoding="utf-8")
    if projection:
        torch.manual_seed(7)
        add_tensors(folder, **{"linear.weight": torch.randn(8, 16)})


def t5_encoder(folder):
    folder.mkdir()
    save_bert_tokenizer(folder)
    size = with_tokens(folder, closing="[SEP]")
    made = T5Config(vocab_size=size, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, initializer_factor=2.0)
    T5EncoderModel(made).save_pretrained(folder)


def authors(folder):
    for seed, tower in enumerate(("prefix_encoder", "suffix_encoder")):
        tiny_models.roberta(folder / tower, seed=seed, positions=300)


def sim(folder):
    folder.mkdir()
    (folder / "sim.pt").touch()
    (folder / "sim.sp.30k.model").touch()


def tart(folder):
    cross(folder, labels=2)
    config(folder, architectures=["EncT5ForSequenceClassification"], model_type="t5")


def ance(folder):
    tiny_models.bert(folder)
    add_tensors(folder, **{"embeddingHead.weight": torch.ones(16, 16), "norm.weight": torch.ones(16)})


def specter(folder):
    tiny_models.bert(folder)
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "pytorch_adapter.bin").touch()


def peft(folder):
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}', encoding="utf-8")


MAKERS = {
    "dense-RELiC of its authors": authors,
    "SIM": sim,
    "TART": tart,
    "ANCE": ance,
    "SPECTER-2, its adapters": specter,
    "Adapters (PEFT)": peft,
    "SPLADE": tiny_models.splade,
    "ColBERT": colbert,
    "A cross-encoder, RankLLaMA or classifier": cross,
    "MonoT5, BART and others that write": t5,
    "GTR, sentence-T5 and other T5 encoders": t5_encoder,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    torch.manual_seed(3)
    for at, make in enumerate(MAKERS.values()):
        make(folder / str(at))
    return {name: folder / str(at) for at, name in enumerate(MAKERS)}


def test_each_kind_is_told_by_its_files(made, tmp_path):
    assert {name: kind_of(folder).name for name, folder in made.items()} == {kind.name: kind.name for kind in KINDS}
    assert kind_of(tiny_models.bert(tmp_path / "plain")) is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_is_an_encoder_or_refused_with_the_reason(made, kind):
    if not kind.refused:
        assert read_card(str(made[kind.name])).query_model
        return
    with pytest.raises(BadWeights) as told:
        read_card(str(made[kind.name]))
    assert kind.refused in str(told.value)


def test_the_table_of_the_documentation_is_that_of_the_program():
    rows = [f"| {each.name} | {each.files} | {each.read or f'refused: it {each.refused}'} |" for each in KINDS]
    table = "\n".join(["| kind | known by | read |", "|---|---|---|", *rows]) + "\n"
    text = DOCS.read_text(encoding="utf-8")
    if "WRITE_TABLE" in os.environ:
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        DOCS.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")
        text = DOCS.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0] == table


def test_a_colbert_reads_claims_as_its_authors_do(made):
    folder = made["ColBERT"]
    encoder = LateChunkingEncoder(read_card(str(folder)), precision="float32")
    found = encoder.encode_claim_tokens(Claim("the ferry")).vectors
    known = Tokenizer.from_file(str(folder / "tokenizer.json")).token_to_id
    ids = [known(token) for token in ("[CLS]", "[unused0]", "the", "ferry", "[SEP]")]
    mask = torch.tensor([[1] * len(ids) + [0] * (32 - len(ids))])
    weights = load_file(folder / "model.safetensors")
    with torch.no_grad():
        ids += [known("[MASK]")] * (32 - len(ids))
        states = BertModel.from_pretrained(folder).eval()(torch.tensor([ids]), attention_mask=mask).last_hidden_state
        expected = torch.nn.functional.normalize(states[0] @ weights["linear.weight"].T, dim=-1)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


def test_a_colbert_without_its_projection_is_refused(tmp_path):
    colbert(tmp_path / "m", projection=False)
    with pytest.raises(BadWeights, match="dense layer"):
        LateChunkingEncoder(read_card(str(tmp_path / "m"))).check_tokens()


def test_of_a_colbert_s_passages_punctuation_is_not_compared(made):
    card = read_card(str(made["ColBERT"]))
    assert card.skip == tuple(string.punctuation)
    vectors, counts = LateChunkingEncoder(card, precision="float32").encode_tokens(make_work([[PASSAGE]]), silent)
    assert (vectors.shape, counts.tolist()) == ((6, 8), [6])


def test_a_t5_encoder_is_read_as_transformers_does(made):
    folder = made["GTR, sentence-T5 and other T5 encoders"]
    card = tiny_models.write_card(folder.parent / "t5.json", model=str(folder), spans="alone")
    (found,) = PassageEncoder(read_card(card), precision="float32").encode_passages([PASSAGE])
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(PASSAGE).ids
    with torch.no_grad():
        mean = T5EncoderModel.from_pretrained(folder).eval()(torch.tensor([ids])).last_hidden_state[0].mean(0)
    np.testing.assert_allclose(found, torch.nn.functional.normalize(mean, dim=0).numpy(), atol=1e-4)


def test_the_authors_checkpoints_make_one_card_with_their_cuts(made):
    folder = made["dense-RELiC of its authors"]
    card = read_card(str(folder))
    assert (card.pooling, card.similarity, card.spans, card.mask) == ("pooler", "dot", "alone", "<mask>")
    pair = PassageEncoder(card, precision="float32").pair
    assert (len(pair.claim_ids(Claim("far " * 300))), len(pair.passage_ids("far " * 300))) == (254, 96)
    assert card.query_model.endswith("prefix_encoder")
    assert card.passage_model.endswith("suffix_encoder")


def test_the_authors_checkpoints_as_downloaded_are_to_be_converted(tmp_path):
    for tower in ("prefix_encoder", "suffix_encoder"):
        config(tmp_path / tower)
    with pytest.raises(BadWeights, match="Convert it once"):
        read_card(str(tmp_path))


@pytest.mark.parametrize("strategy", ["max", "sum"])
def test_a_splade_weighs_terms_by_its_head_for_masked_words(tmp_path, strategy):
    from transformers import BertForMaskedLM

    folder = tiny_models.splade(tmp_path / "m", pooling_strategy=strategy)
    (found,) = SparseEncoder(str(folder), precision="float32").encode_claims([Claim(PASSAGE)])
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(PASSAGE).ids
    with torch.no_grad():
        weights = BertForMaskedLM.from_pretrained(folder).eval()(torch.tensor([ids])).logits[0].relu().log1p()
    np.testing.assert_allclose(found, (weights.amax(0) if strategy == "max" else weights.sum(0)).numpy(), atol=1e-4)


@pytest.mark.parametrize("kind", ["ColBERT", "SIM", "A cross-encoder, RankLLaMA or classifier"])
def test_another_kind_is_no_splade(made, kind):
    with pytest.raises(BadWeights, match="no SPLADE"):
        SparseEncoder(str(made[kind]))


@pytest.mark.parametrize("name", ["sentence_bert_config.json", "1_Pooling/config.json"])
def test_settings_of_a_splade_that_are_a_list_are_refused(tmp_path, name):
    folder = tiny_models.splade(tmp_path / "m", pooling_strategy="max")
    (folder / name).write_text("[]", encoding="utf-8")
    with pytest.raises(BadWeights, match="JSON object"):
        SparseEncoder(str(folder))


@pytest.mark.parametrize(
    "head",
    [
        "mask_predictions.dense.weight",
        "lm_predictions.lm_head.bias",
        "lm_loss.weight",
        "sop_classifier.classifier.bias",
    ],
)
def test_heads_of_other_tasks_may_be_left_unread(tmp_path, head):
    check_leftover(tmp_path, [head])
    with pytest.raises(BadWeights, match="not used here"):
        check_leftover(tmp_path, [f"encoder.{head}"])


def test_weights_that_nothing_reads_are_refused(tmp_path):
    folder = tiny_models.bert(tmp_path / "m")
    add_tensors(folder, **{"text_projection.weight": torch.ones(4, 16)})
    card = tiny_models.write_card(tmp_path / "c.json", model=str(folder), spans="alone")
    with pytest.raises(BadWeights, match=r"text_projection\.weight"):
        PassageEncoder(read_card(card), precision="float32").encode_passages([PASSAGE])


def test_a_cut_may_fall_into_a_character_of_several_tokens(tmp_path):
    from transformers import RobertaConfig, RobertaForSequenceClassification

    folder = tmp_path / "m"
    folder.mkdir()
    size = tiny_models.save_roberta_tokenizer(folder)
    made = RobertaConfig(
        vocab_size=size, max_position_embeddings=102, type_vocab_size=1, num_labels=1, bos_token_id=0, pad_token_id=1,
        eos_token_id=2, **SHAPE,
    )  # fmt: skip
    RobertaForSequenceClassification(made).save_pretrained(folder)
    reranker = open_reranker(f"cross:{folder}")
    foxes = make_work([["b" * shift + "🦊" * 60 for shift in range(4)]])
    for shift in range(4):
        claim = Claim("a" * shift + "𝔉" * 60, "🦊" * 60, masked=True)
        found = reranker.rerank(claim, foxes, [Span(at, 1) for at in range(len(foxes.sentences))], silent)
        assert np.isfinite(found).all()


# ---------------------------------------------------------------- RankLLaMA


def llama(folder, *, labels=1):
    from transformers import LlamaConfig, LlamaForSequenceClassification

    folder.mkdir(parents=True)
    size = tiny_models.save_roberta_tokenizer(folder)
    made = LlamaConfig(
        vocab_size=size, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=256, num_labels=labels, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        initializer_range=0.5,
    )  # fmt: skip
    torch.manual_seed(4)
    model = LlamaForSequenceClassification(made).eval()
    model.save_pretrained(folder)
    return model


QUERY = "he claims the ferry is far"


def by_hand(model, folder):
    encode = Tokenizer.from_file(str(folder / "tokenizer.json")).encode
    with torch.no_grad():
        for span in SPANS:
            ids = encode(f"query: {QUERY} document: {flat_span(NOVEL, span)}").ids
            assert ids[-1] == 2
            yield float(model.score(model.model(torch.tensor([ids])).last_hidden_state[0, -1])[0])


def test_a_rankllama_reads_its_own_form_and_scores_by_its_end_token(tmp_path):
    model = llama(tmp_path / "m")
    reranker = RankLlamaReranker(str(tmp_path / "m"), precision="float32")
    found = reranker.rerank(Claim(QUERY), NOVEL, SPANS, silent)
    np.testing.assert_allclose(found, list(by_hand(model, tmp_path / "m")), atol=1e-4)
    assert len(np.unique(found.round(4))) > 1


@pytest.mark.parametrize("stabilised", [False, True])
def test_adapters_of_a_rankllama_are_added_to_the_base_that_they_name(tmp_path, stabilised):
    model = llama(tmp_path / "base", labels=2)
    torch.manual_seed(9)
    down, up, head = torch.randn(4, 16), torch.randn(16, 4), torch.randn(1, 16)
    (tmp_path / "a").mkdir()
    name = "base_model.model.model.layers.1.self_attn.q_proj"
    tensors = {f"{name}.lora_A.weight": down, f"{name}.lora_B.weight": up, "base_model.model.score.weight": head}
    save_file(tensors, tmp_path / "a" / "adapter_model.safetensors")
    said = {"peft_type": "LORA", "base_model_name_or_path": str(tmp_path / "base"), "r": 4, "lora_alpha": 8}
    (tmp_path / "a" / "adapter_config.json").write_text(json.dumps(said | {"use_rslora": stabilised}), encoding="utf-8")
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight += (4.0 if stabilised else 2.0) * up @ down
        model.score = torch.nn.Linear(16, 1, bias=False)
        model.score.weight.copy_(head)
    reranker = RankLlamaReranker(str(tmp_path / "a"), precision="float32")
    found = reranker.rerank(Claim(QUERY), NOVEL, SPANS, silent)
    np.testing.assert_allclose(found, list(by_hand(model, tmp_path / "base")), atol=1e-3)


def test_what_reads_one_way_is_not_asked_as_a_cross_encoder(tmp_path):
    llama(tmp_path / "m")
    with pytest.raises(BadWeights, match="rankllama:FOLDER"):
        open_reranker(f"cross:{tmp_path / 'm'}").rerank(Claim(QUERY), NOVEL, SPANS, silent)


@pytest.mark.parametrize("change", [{"use_dora": True}, {"r": 0}, {"peft_type": "IA3"}, {"r": None}], ids=str)
def test_adapters_that_are_not_plain_are_refused(tmp_path, change):
    said = {"peft_type": "LORA", "base_model_name_or_path": "x", "r": 4, "lora_alpha": 8} | change
    (tmp_path / "adapter_config.json").write_text(json.dumps(said), encoding="utf-8")
    (tmp_path / "adapter_model.safetensors").touch()
    with pytest.raises(BadWeights, match=r"merged|cannot be read"):
        open_reranker(f"rankllama:{tmp_path}")
