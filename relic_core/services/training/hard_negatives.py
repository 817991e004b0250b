"""Hard negatives of a training: looked for with a model that is named, and kept with its examples.

That may take an hour and more, so it is done for what will be read and no more, what was found is written down on the
way, and a training that is resumed goes on with it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from relic_core.domain import MinedWindow, Pair, Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.errors import BadRequest
from relic_core.services.training.asking import BASE_HARD, base_card
from relic_core.services.training.encoders import encoder_named
from relic_core.services.training.material import Examples
from relic_core.training.batching import plan
from relic_core.training.known_recipes import loop_of
from relic_core.training.recipes import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relic_core.domain import Work
    from relic_core.encoders.cards import EncoderCard
    from relic_core.ports import Progress
    from relic_core.services.training.asking import TrainingRequest
    from relic_core.services.training.folders import TrainingFolder
    from relic_core.training.collating import HardNegatives
    from relic_core.training.known_recipes import AnyRecipe
    from relic_core.wiring import App

E = TypeVar("E", Pair, MinedWindow)

LOOKING = "Looking for hard negatives"

_OF_ENCODER = 5
_OF_RERANKER = 20
_MARGIN, _ABOVE = 0.5, 4.0
"""By how many standard deviations a negative may score above the gold. Much of what is far above is as good an answer,
and an encoder that is taught to put it away forgets what it knew; a reranker is there to tell the gold from just
that."""
_TIMES = 2
"""Found for each that a reranker's example draws, where it draws many: else every reading would bring the same."""
_KEPT_SECONDS = 120.0
"""Between two times that what was found so far is written down."""


def hard_card(app: App, asked: TrainingRequest) -> EncoderCard:
    """Find the model that looks for hard negatives.

    Raises BadRequest: it is a training without a model, a reranker, or one that reads spans by themselves.
    Raises BadWeights: there is no such model.
    """
    card = base_card(asked.recipe) if asked.hard == BASE_HARD else read_card(encoder_named(app, asked.hard))
    if card.spans != "in context":
        raise BadRequest(
            f"{card.name} reads every span by itself, and hard negatives are looked for in context. Take another model."
        )
    return card


def found_of(recipe: AnyRecipe) -> int:
    """Say how many are looked for, of each example: more than are drawn of them each time that it is read.

    >>> from relic_core.training.reranking.recipe import RerankerRecipe
    >>> found_of(Recipe()), found_of(RerankerRecipe()), found_of(RerankerRecipe(negatives=15))
    (5, 20, 30)
    """
    if isinstance(recipe, Recipe):
        return max(_OF_ENCODER, recipe.hard_negatives)
    return max(_OF_RERANKER, _TIMES * recipe.negatives)


def read_of(recipe: AnyRecipe, examples: Examples) -> Examples:
    """Give those of the examples that a training reads: steps may end before all, and share may leave out a kind.

    Raises BadRequest: there is too little to learn from.
    """
    planned = plan(
        loop_of(recipe), [pair.source_id for pair in examples.pairs], [window.work_id for window in examples.windows]
    )
    members: dict[str, set[int]] = defaultdict(set)
    for batch in planned:
        members[batch.kind].update(batch.members)
    return Examples(
        tuple(examples.pairs[number] for number in sorted(members["pairs"])),
        tuple(examples.windows[number] for number in sorted(members["windows"])),
    )


def look_for(
    app: App,
    folder: TrainingFolder,
    asked: TrainingRequest,
    examples: Examples,
    chosen: dict[str, Any],
    *,
    work: Callable[[str], Work],
    progress: Progress,
) -> HardNegatives | None:
    """Look for hard negatives with the model asked for, or read those that were found; None where none are wanted.

    - `app`: where works and models are.
    - `chosen`: as `TrainingFolder.examples` gives it; what is found is written into it, and down.
    - `progress`: told of examples done. Where it ends the search, what was found is kept.

    Raises BadRequest, BadWeights: as `hard_card`.
    """
    if not asked.hard:
        return None
    from relic_core.training.collating import HardNegatives

    if chosen["hard"] is None or "looked" in chosen["hard"]:
        search = _Search(asked.recipe, examples, LateChunkingEncoder(hard_card(app, asked)), work)
        search.run(folder, chosen, progress)
    said = chosen["hard"]
    return HardNegatives(
        {key: tuple(examples.pairs[number].quotation for number in numbers) for key, numbers in said["pairs"].items()},
        {key: tuple(Span(start, length) for start, length in spans) for key, spans in said["windows"].items()},
    )


class _Search:
    """Looks source by source and work by work; what it has looked through stands under "looked" until it is done."""

    def __init__(
        self, recipe: AnyRecipe, examples: Examples, encoder: LateChunkingEncoder, work: Callable[[str], Work]
    ) -> None:
        self._recipe = recipe
        self._encoder = encoder
        self._work = work
        self._read = read_of(recipe, examples)
        self._numbers = {pair.quotation: number for number, pair in enumerate(examples.pairs)}
        self._among = _grouped(examples.pairs, lambda pair: pair.source_id)

    def run(self, folder: TrainingFolder, chosen: dict[str, Any], progress: Progress) -> None:
        """Look through all that was not looked through before."""
        by = self._encoder.identity
        if chosen["hard"] is None or chosen["hard"]["by"] != by:  # not half by one model and half by another
            chosen["hard"] = {"by": by, "pairs": {}, "windows": {}, "looked": []}
        said, written = chosen["hard"], time.monotonic()
        try:
            for _ in self._look(said, progress):
                if time.monotonic() - written >= _KEPT_SECONDS:
                    folder.write_examples(chosen)
                    written = time.monotonic()
        except BaseException:  # stopped, or failed
            folder.write_examples(chosen)
            raise
        del said["looked"]
        folder.write_examples(chosen)
        folder.append("hard negatives", 0, pairs=len(said["pairs"]), windows=len(said["windows"]), by=by)

    def _look(self, said: dict[str, Any], progress: Progress) -> Iterator[None]:
        """Look through one source or work after another."""
        total, done = len(self._read.pairs) + len(self._read.windows), 0
        for name, pairs, windows in self._parts():
            if name not in said["looked"]:
                found = self._mined(pairs, windows, _shifted(progress, done, total))
                said["pairs"] |= {key: [self._numbers[text] for text in texts] for key, texts in found.pairs.items()}
                said["windows"] |= {
                    key: [[span.start, span.length] for span in spans] for key, spans in found.windows.items()
                }
                said["looked"].append(name)
                yield
            done += len(pairs) + len(windows)

    def _parts(self) -> Iterator[tuple[str, Sequence[Pair], Sequence[MinedWindow]]]:
        for source, pairs in _grouped(self._read.pairs, lambda pair: pair.source_id).items():
            yield f"source {source}", pairs, ()
        for work, windows in _grouped(self._read.windows, lambda window: window.work_id).items():
            yield f"work {work}", (), windows

    def _mined(self, pairs: Sequence[Pair], windows: Sequence[MinedWindow], progress: Progress) -> HardNegatives:
        from relic_core.training.hard_negatives import Guard, mine

        encoder = isinstance(self._recipe, Recipe)
        return mine(
            self._encoder,
            pairs,
            windows,
            work=self._work,
            progress=progress,
            guard=Guard(count=found_of(self._recipe), margin=_MARGIN if encoder else _ABOVE),
            passage_tokens=self._recipe.passage_tokens if isinstance(self._recipe, Recipe) else None,
            among=self._among[pairs[0].source_id] if pairs else (),
        )


def _grouped(examples: Iterable[E], key: Callable[[E], str]) -> dict[str, list[E]]:
    groups: dict[str, list[E]] = defaultdict(list)
    for example in examples:
        groups[key(example)].append(example)
    return groups


def _shifted(progress: Progress, before: int, of: int) -> Progress:
    """Report a part's progress as the whole's."""

    def shifted(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - as every report is called
        progress(before + done, of, f"{LOOKING}: {before + done:,} of {of:,}")

    return shifted
