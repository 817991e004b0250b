"""Pairs, windows, a work and a tiny base for tests of training: a few dozen claims whose words point at a quotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tokenizers import Tokenizer

from relic_core.domain import MinedWindow, Pair, Span, Work, passage_id
from relic_core.training.recipes import EncoderRecipe
from tests.making import make_work
from tests.tiny_models import bert

if TYPE_CHECKING:
    from pathlib import Path

NOUNS = "ferry ferryman river quay coin lamp letter frost fox orchard miser soup dinner".split()  # noqa: SIM905


def make_base(folder: Path, *, mask: bool = True, positions: int = 64) -> Path:
    """Save a tiny BERT, with a mask token in its tokenizer."""
    bert(folder, positions=positions)
    if mask:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.add_special_tokens(["[MASK]"])
        tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def make_pairs(count: int, *, sources: int = 2) -> list[Pair]:
    """Make pairs of which each has a quotation of its own, of nouns that its context names."""
    made = []
    for number in range(count):
        one, two = NOUNS[number % len(NOUNS)], NOUNS[(number // len(NOUNS) + number + 1) % len(NOUNS)]
        left, right = (f"he claims the {one} is far", f"the {two} it says :"), (f"and so the {one} was near",)
        quotation = f"a proud {one} and a {two} {['a', 'b', 'd', 'g', 'h', 'i', 'j', 'k'][number // 13 % 8]}"
        made.append(
            Pair(
                id=passage_id(str(number)), source_id=f"source-{number % sources}", kind="inline", left=left,
                quotation=quotation, right=right, at=(number, number + 1), passage=(number, number + 2),
            )
        )  # fmt: skip
    return made


def make_novel(sentences: int = 60) -> Work:
    """Make a work of sentences of six to nine tokens in two chapters."""
    lines = [
        f"{NOUNS[at % 13]} and {NOUNS[(at * 5 + 1) % 13]} , he was {'near' if at % 3 else 'far , it is'} ."
        for at in range(sentences)
    ]
    return make_work([lines[: sentences // 2]], [lines[sentences // 2 :]])


def make_windows(work: Work, count: int) -> list[MinedWindow]:
    """Make windows on spans of one, two and three sentences that do not overlap."""
    made = []
    for number in range(count):
        gold = Span(4 * number, 1 + number % 3)
        first, last = work.sentences[gold.start], work.sentences[gold.end - 1]
        words = work.text[first.start : last.end]
        made.append(
            MinedWindow(
                id=passage_id("window", str(number)), source_id="source-0", work_id=work.id, kind="inline",
                left=("he says of the river :", words.split()[0]), quotation=words, right=("so it is .",), gold=gold,
                at=(number, number + 1), passage=(number, number + 2), lit=((0, 1),), lit_in_work=((0, 1),), score=99.0,
            )
        )  # fmt: skip
    return made


def make_recipe(base: Path, **given: Any) -> EncoderRecipe:
    """Make a recipe for a tiny base: float32, small batches, short windows."""
    facts: dict[str, Any] = {
        "name": "tiny", "base": str(base), "batch": 6, "window_batch": 3, "stretches": 4, "share": 0.3, "window": 32,
        "claim_tokens": 24, "passage_tokens": 16, "chunk_tokens": 64, "precision": "float32", "learning_rate": 0.01,
        "validate_every": 0, "epochs": 2.0,
    }  # fmt: skip
    return EncoderRecipe(**{**facts, **given})


def train_on(recipe, pairs, windows, folder, *, work, checkpoint_seconds=600.0, **given):
    """Train on examples; a checkpoint is written as often as is asked for."""
    from relic_core.training import trainer
    from relic_core.training.collating import Material

    parts = {key: given.pop(key) for key in ("hard", "sources") if key in given}
    material = Material(pairs, windows, work, **parts)
    with patch.object(trainer, "CHECKPOINT_SECONDS", checkpoint_seconds):
        return trainer.train(recipe, material, folder, **given)


class Reports(list[dict[str, Any]]):
    """What a training reported."""

    def __call__(self, event: str, step: int, **facts: Any) -> None:
        self.append({"event": event, "step": step, **facts})

    def of(self, event: str) -> list[dict[str, Any]]:
        """Give what was reported of one event."""
        return [said for said in self if said["event"] == event]
