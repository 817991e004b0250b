"""A small data set: works of the catalogue by their names, with words of our own, and critics who quote them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from relic_core.domain import Span, window_id
from relic_core.domain.sources import MinedWindow, Pair, SecondarySource, passage_id
from relic_core.library.secondary import SourceFile, describe
from relic_core.mining.pairs import context
from relic_core.mining.prose import read_prose
from relic_core.store.sources import MinedSource
from tests.making import make_work

if TYPE_CHECKING:
    from pathlib import Path

    from relic_core.domain import Work
    from relic_core.wiring import App

_WORDS = (
    "river lantern ferry bolt gauge tide book bridge stone rope light glass winter kettle barley anchor ladder meadow "
    "candle harbour orchard pebble saddle thimble walnut copper violet hollow timber garden whistle button carriage "
    "pillow basket feather mirror needle pepper rabbit silver velvet window yellow autumn bottle cradle dinner engine"
)
HEAD = "*** START OF THE PROJECT GUTENBERG EBOOK {title} ***\n\n\n"
FOOT = "\n\n*** END OF THE PROJECT GUTENBERG EBOOK {title} ***\n\nA licence.\n"


def sentences(seed: int, count: int, length: int = 11) -> list[str]:
    """Make sentences that share no eight words in a row with those of another seed."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(_WORDS.split(), length)).capitalize() + "." for _ in range(count)]


def novel(title: str, author: str, seed: int) -> Work:
    """Make a work of sixty sentences; by its title and author it may be one of the catalogue."""
    own = sentences(seed, 60)
    return replace(
        make_work([own[at : at + 6] for at in range(0, 60, 6)], title=title, author=author), source="by hand"
    )


@dataclass
class Critic:
    """A critical book: paragraphs of a claim, a quotation and a claim, the last of them without a quotation known."""

    title: str
    seed: int
    number: int
    quotes: list[tuple[Work, Span]]
    others: list[str] = field(default_factory=list)

    @property
    def body(self) -> str:
        own = iter(sentences(self.seed, 12 * (len(self.quotes) + len(self.others))))
        quoted = [work.span_text(gold) for work, gold in self.quotes] + self.others
        paragraphs = []
        for words in quoted:
            paragraphs.append(
                f"{next(own)} {next(own)}\n{next(own)} The author says: “{words}” {next(own)}\n{next(own)} {next(own)}"
            )
            paragraphs += [f"{next(own)} {next(own)}\n{next(own)}", f"{next(own)} {next(own)} {next(own)}"]
        return "\n\n".join(paragraphs)

    @property
    def text(self) -> str:
        return HEAD.format(title=self.title) + self.body + FOOT.format(title=self.title)

    def mined(self, path: Path) -> tuple[SecondarySource, list[MinedWindow], list[Pair]]:
        """Mine it: windows where works are known to be quoted, pairs of all quotations."""
        file = SourceFile(path=path, title=self.title, number=self.number, origin="A shelf", licence="CC0")
        source = describe(file, self.text)
        prose = read_prose(self.text)
        windows, pairs = [], []
        for work, gold in [*self.quotes, *((None, words) for words in self.others)]:
            words = work.span_text(gold) if work else gold
            start = prose.text.index(words)
            end = start + len(words)
            around = context(prose, start, end)
            at, passage = prose.in_source(start, end), prose.in_source(around.start, around.end)
            said = {"left": around.left, "quotation": words, "right": around.right, "kind": "inline", "at": at}
            name = passage_id(*around.left, words, *around.right)
            pairs.append(Pair(id=name, source_id=source.id, passage=passage, **said))
            if work:
                first, last = work.sentences[gold.start], work.sentences[gold.end - 1]
                windows.append(
                    MinedWindow(
                        id=window_id(source.sha256, work.sha256, at, (first.start, last.end)), source_id=source.id,
                        work_id=work.id, gold=gold, passage=passage, lit=(), lit_in_work=(), score=100.0, **said,
                    )
                )  # fmt: skip
        return source, windows, pairs


DEV = novel("Jane Eyre", "Charlotte Brontë", 1)
TEST = novel("Emma", "Jane Austen", 2)
OTHER = novel("The Quiet Lock", "A. Nobody", 3)
BY_SLUG = {"jane_eyre": DEV, "emma": TEST}

CRITICS = [
    Critic(f"Essays, Volume {at + 1}", 100 + at, 900_001 + at, [
        (DEV, Span(12 * at, 1 + at)), (TEST, Span(12 * at, 1)), (OTHER, Span(12 * at, 2)),
    ], sentences(900 + at, 2))
    for at in range(5)
]  # fmt: skip
"""Each of the five quotes each of the three novels once, and two texts that nobody knows."""


def keep(workbench: App, folder: Path, critics: list[Critic] | None = None) -> Path:
    """Add the works and what was mined from the critics to a store, and write their books into a folder."""
    folder.mkdir(exist_ok=True)
    for work in (DEV, TEST, OTHER):
        workbench.store.works.add(work)
    segmenters = {work.id: work.segmenter for work in (DEV, TEST, OTHER)}
    for critic in CRITICS if critics is None else critics:
        path = folder / f"{critic.number}.txt"
        path.write_text(critic.text, encoding="utf-8")
        source, windows, pairs = critic.mined(path)
        workbench.store.sources.add(
            MinedSource(
                source=source, file=source.sha256, root=str(folder), rules="by hand/1", language="en",
                segmenters=segmenters, pairs=tuple(pairs), windows=tuple(windows), dropped={},
            )
        )  # fmt: skip
    return folder
