"""Tiny models with random weights, shaped like those people bring: made in a second, without a download."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DPRConfig,
    DPRContextEncoder,
    DPRQuestionEncoder,
    RobertaConfig,
    RobertaModel,
)

if TYPE_CHECKING:
    from pathlib import Path

WORDS = """
    query passage the a of and in he she it was is ferry ferryman river quay coin lamp letter frost fox orchard miser
    proud soup dinner near far end start : , . ; “ ” - claim says
""".split()  # noqa: SIM905 - a list that a person can read and mend
SHAPE = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.5,
}  # fmt: skip


def save_bert_tokenizer(folder: Path) -> None:
    """Words and their letters, lower case, ``[CLS]`` and ``[SEP]`` around them."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *WORDS,
        *"bdghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.save(str(folder / "tokenizer.json"))


def save_roberta_tokenizer(folder: Path, *, trimmed: bool = True) -> int:
    """Byte pairs, a word taking in the space before it, ``<s>`` and ``</s>`` around the text; return how many.

    Trimmed, a token is said to begin after that space.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator([" ".join(WORDS)] * 4, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=trimmed, add_prefix_space=False
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer.get_vocab_size()


def bert(folder: Path, *, seed: int = 0, positions: int = 256, dimension: int = 16) -> Path:
    """Save a BERT with a pooler: SimCSE is one, E5 is one."""
    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    config = BertConfig(vocab_size=120, max_position_embeddings=positions, **{**SHAPE, "hidden_size": dimension})
    BertModel(config).save_pretrained(folder)
    save_bert_tokenizer(folder)
    return folder


def dpr(folder: Path, *, seed: int = 0, projection: int = 0) -> Path:
    """Save the two encoders of a DPR, in ``question`` and ``context``."""
    torch.manual_seed(seed)
    for name, kind in (("question", DPRQuestionEncoder), ("context", DPRContextEncoder)):
        config = DPRConfig(vocab_size=120, max_position_embeddings=256, projection_dim=projection, **SHAPE)
        (folder / name).mkdir(parents=True)
        kind(config).save_pretrained(folder / name)
        save_bert_tokenizer(folder / name)
    return folder


def roberta(folder: Path, *, seed: int = 0, positions: int = 66, trimmed: bool = True) -> Path:
    """Save a RoBERTa: positions count from 2, so that it reads two tokens fewer than it has positions."""
    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    size = save_roberta_tokenizer(folder, trimmed=trimmed)
    config = RobertaConfig(
        vocab_size=size, max_position_embeddings=positions, type_vocab_size=1,
        bos_token_id=0, pad_token_id=1, eos_token_id=2, **SHAPE,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)
    return folder


def splade(folder: Path, *, seed: int = 0, **pooling: str) -> Path:
    """Save a SPLADE as sentence-transformers does: a BERT with its head for masked words."""
    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    config = BertConfig(vocab_size=120, max_position_embeddings=256, **SHAPE)
    BertForMaskedLM(config).save_pretrained(folder)
    save_bert_tokenizer(folder)
    kind = "sentence_transformers.sparse_encoder.models."
    modules = [{"type": f"{kind}MLMTransformer", "path": ""}, {"type": f"{kind}SpladePooling", "path": "1_Pooling"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    write_card(folder / "1_Pooling" / "config.json", **{"pooling_strategy": "max", **pooling})
    return folder


def write_card(path: Path, **said: object) -> str:
    """Write an encoder card, and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said), encoding="utf-8")
    return str(path)


def in_hub_cache(cache: Path, name: str, folder: Path) -> Path:
    """Put a model into a cache like the Hugging Face hub's, and say where its files are."""
    made = cache / f"models--{name.replace('/', '--')}"
    (made / "refs").mkdir(parents=True, exist_ok=True)
    (made / "refs" / "main").write_text("0" * 40, encoding="utf-8")
    return shutil.copytree(folder, made / "snapshots" / ("0" * 40))
