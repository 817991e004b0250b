"""What a training learns from: pairs and windows of the store that are marked for training."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from relic_core.domain import MinedWindow, Pair
from relic_core.errors import BadRequest
from relic_core.ports import Progress
from relic_core.store.mined_windows import WindowRows
from relic_core.store.pairs import PairRows
from relic_core.store.trainings import Material, TrainingRows
from relic_core.store.works import WorkRows
from relic_core.training.requests import TrainingRequest

LEAST = 30
"""Examples below which a model learns nothing that is worth a minute."""
FEW = 1_000
"""Examples below which a training is offered with a warning."""
_SEED = 11
"""Of which sources are taken where not all pairs are wanted."""

_READING = "Reading what was mined"


@dataclass(frozen=True, slots=True)
class Examples:
    """Pairs and windows, in the order of the store."""

    pairs: tuple[Pair, ...]
    windows: tuple[MinedWindow, ...]

    def without(self, held: Iterable[MinedWindow]) -> Examples:
        """Leave out all on the works of the windows held, and the pairs that say the same as any of these.

        Those too are given that are not learnt from: a pair may quote what they quote.
        """
        works: set[str] = set()
        gone: dict[str, list[tuple[int, int]]] = {}
        for window in held:
            works.add(window.work_id)
            gone.setdefault(window.source_id, []).append(window.at)
        kept = tuple(window for window in self.windows if window.work_id not in works)
        pairs = tuple(
            pair
            for pair in self.pairs
            if not any(first < pair.at[1] and pair.at[0] < last for first, last in gone.get(pair.source_id, ()))
        )
        return Examples(pairs, kept)


class TrainingData:
    """What was mined, as trainings read it; `material` and `works` count it and list the works it may be on."""

    def __init__(self, pairs: PairRows, windows: WindowRows, counts: TrainingRows, works: WorkRows) -> None:
        self._pairs = pairs
        self._windows = windows
        self.material = counts.material
        self.works = works.summaries

    def windows(self, split: str) -> list[MinedWindow]:
        """List the windows of a split."""
        return list(self._windows.one_by_one(split=split))

    def on_works(self, works: Iterable[str]) -> list[MinedWindow]:
        """List all windows on some works, those too that are not learnt from."""
        pages = (self._windows.page(work_id=work, show="all")[1] for work in works)
        return [stored.window for stored in chain.from_iterable(pages)]

    def gather(self, request: TrainingRequest, progress: Progress) -> Examples:
        """Read what is asked for. Raises BadRequest: there is too little."""
        wanted = set(request.sources)
        pairs: list[Pair] = []
        if request.use != "windows":
            for batch in self._pairs.iterate(split="training"):
                pairs += [pair for pair in batch if not wanted or pair.source_id in wanted]
                progress(0, 0, f"{_READING}: {len(pairs):,} pairs")
        windows: list[MinedWindow] = []
        if request.use != "pairs":
            for stored in self._windows.iterate(split="training"):
                windows += [
                    each.window
                    for each in stored
                    if each.window.has_context
                    and each.window.gold.length <= request.recipe.longest
                    and (not wanted or each.window.source_id in wanted)
                ]
                progress(0, 0, f"{_READING}: {len(windows):,} windows")
        found = Examples(tuple(_some(pairs, request.pairs)), tuple(windows))
        check_enough(len(found.pairs), len(found.windows))
        return found

    def named(self, pairs: Sequence[str], windows: Sequence[str], progress: Progress) -> Examples:
        """Read the examples of these ids, in their order. Raises BadRequest: some are not in the store any more."""
        wanted = set(pairs)
        by_id: dict[str, Pair] = {}
        if wanted:
            for batch in self._pairs.iterate():
                by_id.update({pair.id: pair for pair in batch if pair.id in wanted})
                progress(0, 0, f"{_READING}: {len(by_id):,} pairs")
        found = {stored.window.id: stored.window for stored in self._windows.some(windows)}
        gone = sum(each not in by_id for each in pairs) + sum(each not in found for each in windows)
        if gone:
            raise BadRequest(
                f"{gone:,} of the {len(pairs) + len(windows):,} quotations that this training learns from are not in "
                "the library any more: their sources or works were removed, or mined anew. Put them back to resume "
                "it, or start a new training."
            )
        return Examples(tuple(by_id[each] for each in pairs), tuple(found[each] for each in windows))


def check_enough(pairs: int, windows: int) -> None:
    """Refuse what is too little to learn from. Raises BadRequest."""
    if pairs + windows < LEAST:
        raise BadRequest(
            f"There are {pairs:,} pairs and {windows:,} windows to learn from. At least {LEAST} are needed, and some "
            "thousands to learn much. What is kept for measuring is never learnt from: add other novels, and what "
            "critics wrote about them, in the Library, decide what of it may be learnt from, or choose more of it."
        )


def lacking(material: Material, *, parted: bool) -> str:
    """Say why nothing can be learnt yet, and what to do; empty where something can.

    - `parted`: whether it was decided what may be learnt from.
    """
    if not material.mined_pairs + material.mined_windows:
        return (
            "There is no criticism yet. A model is trained on quotations found in books of criticism: add such books "
            "in the Library, under “Criticism”."
        )
    if not parted:
        return "Quotations were found, but the training data have not been prepared from them."
    if not material.pairs + material.windows:
        return (
            "All quotations that were found are kept for measuring, or were left out: their works are among those that "
            "retrievers are measured on. Add criticism of other works."
        )
    return ""


def _some(pairs: Sequence[Pair], most: int) -> Sequence[Pair]:
    """Draw whole sources until there are so many pairs; of the last source the first."""
    if not most or len(pairs) <= most:
        return pairs
    by_source = Counter(pair.source_id for pair in pairs)
    sources = sorted(by_source)
    random.Random(_SEED).shuffle(sources)  # noqa: S311 - no secret
    room: dict[str, int] = {}
    left = most
    for source in sources:
        room[source] = min(left, by_source[source])
        left -= room[source]
    kept = []
    for pair in pairs:
        if room[pair.source_id]:
            room[pair.source_id] -= 1
            kept.append(pair)
    return kept
