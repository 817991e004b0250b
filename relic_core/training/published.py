"""RELiC's own files as what a training learns from (Thai et al. 2022, section 3.2), without mining or a library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from relic_core.domain import MinedWindow, Span, Work
from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder, flat_span
from relic_core.errors import BadRequest
from relic_core.formats.relic import RelicBook, entry_of, read_relic, work_of
from relic_core.library.catalogue import RelicSplit
from relic_core.ports import Progress, silent
from relic_core.store.trainings import Material
from relic_core.training.batching import plan
from relic_core.training.collating import draw_claim
from relic_core.training.recipes import LIKELIHOOD, EncoderRecipe
from relic_core.training.requests import TrainingRequest

LEARNT = "RELiC's train split"
"""What a model says that was trained on it: it may not be measured on works of that split."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the files of a request hold."""

    windows: tuple[MinedWindow, ...]
    validation: tuple[MinedWindow, ...]
    works: dict[str, Work]

    @property
    def material(self) -> Material:
        """How much there is, as of what was mined."""
        count = max(1, len(self.windows))
        return Material(
            pairs=0,
            windows=len(self.windows),
            works=len({window.work_id for window in self.windows}),
            dev=len(self.validation),
            mined_pairs=0,
            mined_windows=len(self.windows),
            context=sum(len(" ".join((*window.left, *window.right))) for window in self.windows) / count,
            quotation=sum(len(window.quotation) for window in self.windows) / count,
        )


def published(request: TrainingRequest) -> Published:
    """Read the files that a request names, of works of RELiC that are not kept for measuring."""
    works: dict[str, Work] = {}
    named: tuple[tuple[str, RelicSplit], ...] = ((request.data, "train"), (request.validation_data, "validation"))
    learnt, held = (_windows(Path(file), split, request.recipe.longest, works) if file else () for file, split in named)
    return Published(learnt, held, works)


def _windows(path: Path, split: RelicSplit, longest: int, works: dict[str, Work]) -> tuple[MinedWindow, ...]:
    stat = path.stat() if path.is_file() else None
    made = []
    for book in _read(path, stat.st_mtime_ns if stat else 0):
        if not book.quotes:
            continue
        _check(path, book, split)
        work = work_of(book)
        works[work.id] = work
        for quote in book.quotes:
            if quote.start is None:
                raise BadRequest(
                    f"{path} does not say where its quotations stand ({quote.id} is the first): it is RELiC's hidden "
                    "test split. Learn from train.json, and validate on val.json."
                )
            gold = Span(quote.start, quote.length)
            window = MinedWindow(
                id=quote.id, source_id="", work_id=work.id, kind="inline", left=tuple(map(str.strip, quote.left)),
                quotation=flat_span(work, gold), right=tuple(map(str.strip, quote.right)), gold=gold, at=(0, 0),
                passage=(0, 0), lit=(), lit_in_work=(), score=100.0,
            )  # fmt: skip
            if window.has_context and gold.length <= longest:
                made.append(window)
    return tuple(made)


@lru_cache(maxsize=2)
def _read(path: Path, _mtime_ns: int) -> tuple[RelicBook, ...]:
    """Read a file once, for the estimate and for the check before a training begins."""
    return read_relic(path)


def _check(path: Path, book: RelicBook, split: RelicSplit) -> None:
    entry = entry_of(book.title)
    if entry is None:
        raise BadRequest(
            f"{path} has the book '{book.title:.80}', which is none of RELiC's 79 works, so it is not known whether it "
            "may be used for training. Take it out of the file; to train on quotations of other works, mine their "
            "criticism (docs/mining.md)."
        )
    if entry.split != split:
        raise BadRequest(
            f"{path} has quotations of {book.title:.80}, a work of RELiC's {entry.split} split, and the {split} split "
            "is wanted. Learn from train.json and validate on val.json: what else there is is for measuring."
        )


@dataclass(frozen=True, slots=True)
class LossValidation:
    """Gives the loss of a model on the quotations of a file, in batches of one work, as the training's own."""

    recipe: EncoderRecipe
    read: Published
    progress: Progress = silent

    def __call__(self, folder: Path) -> dict[str, float]:
        """Give the figures of a model that a training wrote.

        Returns: "loss", the mean over the claims; `LIKELIHOOD`: the geometric mean of the probability that a claim
        gives its own quotation among its batch's, in percent; "windows", how many there are.
        """
        windows, recipe = self.read.validation, self.recipe
        encoder = PassageEncoder(read_card(str(folder / "encoder.json")))
        losses: list[float] = []
        planned = plan(recipe.with_(share=1.0, epochs=1, steps=0), [], [window.work_id for window in windows])
        for done, batch in enumerate(planned):
            self.progress(done, len(planned), f"validating: {done} of {len(planned)} batches")
            members = [windows[member] for member in batch.members]
            claims = [draw_claim(each.left, each.right, recipe.shapes, chance=each.id) for each in members]
            rows = [encoder.pair.passage_ids(each.quotation, recipe.passage_tokens) for each in members]
            passages = encoder.pair.passages.vectors(rows, reading="validating")
            scores = encoder.encode_claims(claims).astype(float) @ passages.astype(float).T
            scores /= recipe.temperature if recipe.similarity == "cosine" else 1.0
            losses += (np.logaddexp.reduce(scores, axis=1) - scores.diagonal()).tolist()
        loss = float(np.mean(losses))
        return {"loss": loss, LIKELIHOOD: 100.0 * float(np.exp(-loss)), "windows": float(len(windows))}
