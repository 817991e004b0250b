"""Encoder cards: where they come from, what they may say, and how a wrong one is refused."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from relic_core.encoders.cards import EncoderCard, read_card
from relic_core.errors import BadWeights
from tests.tiny_models import write_card

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    """Return a folder that looks like a model: cards are read without its weights."""
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    return folder


# ---------------------------------------------------------------- where a card comes from


def test_without_a_word_it_is_the_packaged_encoder():
    assert read_card() == EncoderCard(
        name="all-MiniLM-L6-v2", pooling="mean", similarity="cosine", spans="in context", window=254
    )


def test_a_folder_that_says_nothing_is_pooled_by_the_mean_and_compared_by_cosine(folder):
    card = read_card(str(folder))
    assert card == EncoderCard(name="my-model", query_model=str(folder), passage_model=str(folder))


def test_a_folder_that_is_a_dpr_is_used_as_one(folder):
    (folder / "config.json").write_text('{"model_type": "dpr"}', encoding="utf-8")
    card = read_card(str(folder))
    assert (card.pooling, card.similarity, card.spans) == ("first", "dot", "alone")


def test_a_card_says_what_differs(folder, tmp_path):
    card = read_card(write_card(tmp_path / "mine.json", model=str(folder), query_prefix="ask: ", window=100))
    assert card == EncoderCard(
        name="mine", query_model=str(folder), passage_model=str(folder), query_prefix="ask: ", window=100
    )


def test_a_card_in_the_folder_names_no_model(folder):
    write_card(folder / "encoder.json", similarity="dot")
    assert read_card(str(folder)) == EncoderCard(
        name="my-model", query_model=str(folder), passage_model=str(folder), similarity="dot"
    )


def test_a_card_may_name_the_packaged_model(tmp_path):
    card = read_card(write_card(tmp_path / "plain.json", model="", spans="alone"))
    assert card == EncoderCard(name="plain", spans="alone")


@pytest.mark.parametrize("pooling", ["first", "pooler"])
def test_what_cannot_be_taken_in_context_is_taken_alone(folder, pooling):
    write_card(folder / "encoder.json", pooling=pooling)
    assert read_card(str(folder)).spans == "alone"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("facebook/dpr-question_encoder-single-nq-base", ("first", "dot", "alone", "", "")),
        ("facebook/dpr-ctx_encoder-multiset-base", ("first", "dot", "alone", "", "")),
        ("princeton-nlp/sup-simcse-bert-base-uncased", ("pooler", "cosine", "alone", "", "")),
        ("princeton-nlp/unsup-simcse-roberta-large", ("first", "cosine", "alone", "", "")),
        ("intfloat/e5-small-v2", ("mean", "cosine", "in context", "query: ", "passage: ")),
        ("intfloat/multilingual-e5-base", ("mean", "cosine", "in context", "query: ", "passage: ")),
        ("roberta-base", ("first", "dot", "alone", "", "")),
        ("FacebookAI/roberta-large", ("first", "dot", "alone", "", "")),
    ],
)
def test_a_known_family_is_used_as_it_was_trained(name, expected):
    card = read_card(name)
    assert card.name == name
    assert (card.pooling, card.similarity, card.spans, card.query_prefix, card.passage_prefix) == expected


@pytest.mark.parametrize("half", ["question", "ctx"])
def test_half_of_a_known_pair_brings_the_other(half):
    card = read_card(f"facebook/dpr-{half}_encoder-single-nq-base")
    assert card.query_model == "facebook/dpr-question_encoder-single-nq-base"
    assert card.passage_model == "facebook/dpr-ctx_encoder-single-nq-base"


def test_a_card_of_a_known_family_says_only_what_differs(tmp_path):
    card = read_card(write_card(tmp_path / "e5.json", model="intfloat/e5-base-v2", spans="alone"))
    assert (card.spans, card.query_prefix, card.window) == ("alone", "query: ", 510)


def test_a_card_may_read_claims_and_passages_with_one_half_of_a_known_pair(tmp_path):
    """So the RELiC paper used DPR: the context encoder for both."""
    name = "facebook/dpr-ctx_encoder-single-nq-base"
    card = read_card(write_card(tmp_path / "c.json", model=name))
    assert (card.query_model, card.passage_model, card.pooling) == (name, name, "first")


def test_a_folder_called_like_a_known_model_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roberta-base").mkdir()
    assert read_card("roberta-base").pooling == "mean"


def test_models_that_only_look_like_a_known_family_are_none_of_it():
    with pytest.raises(BadWeights, match="no such model"):
        read_card("intfloat/e5-mistral-7b-instruct")


# ---------------------------------------------------------------- sentence-transformers


def sentence_transformer(
    folder, *, kinds=("Transformer", "Pooling", "Normalize"), pooling=None, prompts=None, length=None
):
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize", "Dense": "2_Dense"}
    modules = [
        {"idx": number, "name": str(number), "path": paths[kind], "type": f"sentence_transformers.models.{kind}"}
        for number, kind in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "1_Pooling" / "config.json", pooling or {"pooling_mode_mean_tokens": True})
    if prompts is not None:
        write_json(folder / "config_sentence_transformers.json", prompts)
    if length is not None:
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    return str(folder)


def write_json(path, said):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(said), encoding="utf-8")


CLS = {"word_embedding_dimension": 8, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


def test_what_sentence_transformers_wrote_is_followed(folder):
    prompts = {"prompts": {"query": "q: ", "document": "d: "}, "similarity_fn_name": "cosine"}
    card = read_card(sentence_transformer(folder, pooling=CLS, prompts=prompts, length=128))
    assert card == EncoderCard(
        name="my-model", query_model=str(folder), passage_model=str(folder), pooling="first",
        query_prefix="q: ", passage_prefix="d: ", spans="alone", window=126,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "said", "expected"),
    [
        (("Transformer", "Pooling"), "dot", "dot"),
        (("Transformer", "Pooling"), None, "cosine"),
        (("Transformer", "Pooling", "Normalize"), "dot", "cosine"),
    ],
)
def test_vectors_of_length_one_are_compared_by_cosine(folder, kinds, said, expected):
    card = read_card(sentence_transformer(folder, kinds=kinds, prompts={"similarity_fn_name": said}))
    assert card.similarity == expected


def test_the_mean_is_taken_in_context_and_a_long_window_is_cut(folder):
    card = read_card(sentence_transformer(folder, length=8192))
    assert (card.pooling, card.spans, card.window) == ("mean", "in context", 510)


def test_the_packaged_folder_and_the_packaged_encoder_are_used_alike():
    from relic_core.encoders.weights import model_folder

    card = read_card(str(model_folder()))
    assert card.facts == read_card().facts


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"kinds": ("Transformer", "Dense", "Pooling")}, "Transformer, Dense, Pooling"),
        ({"pooling": {"pooling_mode_max_tokens": True}}, "pools by max_tokens"),
        ({"pooling": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}}, "mean_tokens and cls_token"),
        ({"pooling": {"pooling_mode_mean_tokens": False}}, "pools by nothing"),
        ({"pooling": {"pooling_mode_mean_tokens": True, "include_prompt": False}}, "leaves the prompt"),
        (
            {"kinds": ("Transformer", "Pooling"), "prompts": {"similarity_fn_name": "manhattan"}},
            '"similarity": "manhattan"',
        ),
    ],
)
def test_what_is_not_done_here_is_refused_and_a_card_can_overrule_it(folder, tmp_path, said, message):
    with pytest.raises(BadWeights, match=message):
        read_card(sentence_transformer(folder, **said))
    card = write_card(tmp_path / "c.json", model=str(folder), pooling="mean", similarity="cosine", spans="alone")
    assert read_card(card).pooling == "mean"


def test_a_new_way_of_writing_the_pooling_is_understood(folder):
    assert read_card(sentence_transformer(folder, pooling={"pooling_mode": "cls"})).pooling == "first"


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("content", ["{", "3", '"mean"', "[3]"])
def test_damaged_files_of_sentence_transformers_are_refused(folder, name, content):
    sentence_transformer(folder)
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match="my-model"):
        read_card(str(folder))


def test_a_module_that_leads_out_of_its_folder_is_refused(folder):
    modules = [{"path": "../elsewhere", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]
    sentence_transformer(folder)
    write_json(folder / "modules.json", modules)
    with pytest.raises(BadWeights, match="leads out of its folder"):
        read_card(str(folder))


def test_weights_in_a_folder_of_their_own_are_found(folder):
    modules = [{"path": "0_Transformer", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]
    sentence_transformer(folder)
    write_json(folder / "modules.json", modules)
    assert read_card(str(folder)).passage_model == str(folder / "0_Transformer")


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"poling": "mean"}, "says 'poling'.*Known: model, name.*pooling"),
        ({"pooling": "max"}, r'"pooling": "max"; it must be "mean" or "first" or "last" or "pooler"'),
        ({"pooling": 3}, '"pooling": 3; it must be a text'),
        ({"similarity": "euclid"}, '"cosine" or "dot"'),
        ({"spans": "context"}, '"in context" or "alone"'),
        ({"window": "254"}, '"window": "254";.* 16 or more'),
        ({"window": 15}, "16 or more"),
        ({"window": True}, "16 or more"),
        ({"window": 99.5}, "16 or more"),
        ({"query_prefix": None}, '"query_prefix": null; it must be a text'),
        ({"name": " "}, "it must be a name"),
        ({"model": 3}, "must be a folder or a hub name"),
        ({"model": "", "query_model": ""}, "claims and passages"),
        ({"query_model": ""}, "names a query_model and no other"),
        ({"pooling": "first", "spans": "in context"}, 'only a mean can be taken there.*"spans": "alone"'),
        ({"pooling": "pooler", "spans": "in context"}, "only a mean"),
        ({"model": "no/such-model"}, "hf download no/such-model"),
    ],
    ids=str,
)
def test_a_card_that_cannot_be_followed_says_what_is_allowed(folder, said, message):
    write_card(folder / "encoder.json", **said)
    with pytest.raises(BadWeights, match=message):
        read_card(str(folder))


@pytest.mark.parametrize(("content", "message"), [("{", "read as JSON"), ("[]", "JSON object")])
def test_a_card_that_is_none(folder, content, message):
    (folder / "encoder.json").write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match=message):
        read_card(str(folder))


def test_a_card_that_is_not_there(tmp_path):
    with pytest.raises(BadWeights, match=r"'.*none\.json'.*RELIC_TRAINED is .*RELIC_MODEL"):
        read_card(str(tmp_path / "none.json"))


DOCUMENTED = re.findall(r"```json\n(.*?)```", (PROJECT / "docs" / "encoders.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", DOCUMENTED)
def test_the_cards_that_the_documentation_shows_are_accepted(tmp_path, block):
    for name in re.findall(r'_model": "([^"]+)"', block):
        (tmp_path / name).mkdir()
    (tmp_path / "shown.json").write_text(block, encoding="utf-8")
    card = read_card(str(tmp_path / "shown.json"))
    assert card.spans == "alone"
    assert {key: getattr(card, key) for key in json.loads(block).keys() & card.facts.keys()} == {
        key: value for key, value in json.loads(block).items() if key in card.facts
    }


def test_the_documentation_names_every_key():
    assert DOCUMENTED
    text = (PROJECT / "docs" / "encoders.md").read_text(encoding="utf-8")
    assert {field.name for field in fields(EncoderCard)} <= set(re.findall(r"`(\w+)`", text))


def test_reading_cards_imports_neither_torch_nor_transformers(folder):
    import subprocess
    import sys

    code = (
        f"import sys; from relic_core.encoders.cards import read_card; read_card({str(folder)!r}); read_card(); "
        "print([m for m in ('torch', 'transformers', 'tokenizers', 'sentence_transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
