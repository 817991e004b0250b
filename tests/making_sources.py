"""Secondary sources made by hand: what mining would have found in them, put into a store."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from relic_core.domain import MinedWindow, Pair, SecondarySource, Span, passage_id, window_id
from relic_core.store.sources import MinedSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work
    from relic_core.wiring import App

LEFT = ("The tide is the book’s only clerk.", "It keeps the accounts that nobody else will keep.")
RIGHT = ("So the town is counted from below.",)


def make_window(
    work: Work,
    source: SecondarySource,
    at: int,
    length: int = 1,
    *,
    score: float = 100.0,
    left: Sequence[str] = LEFT,
    right: Sequence[str] = RIGHT,
) -> MinedWindow:
    """Make a window on some sentences of a work, quoted to the letter but for line ends."""
    gold = Span(at, length)
    start, end = work.sentences[at].start, work.sentences[gold.end - 1].end
    words = " ".join(work.text[start:end].split())
    offsets = (1_000 * at, 1_000 * at + len(words))
    return MinedWindow(
        id=window_id(source.sha256, work.sha256, offsets, (start, end)),
        source_id=source.id,
        work_id=work.id,
        kind="inline",
        left=tuple(left),
        quotation=words,
        right=tuple(right),
        gold=gold,
        at=offsets,
        passage=offsets,
        lit=((0, len(words)),),
        lit_in_work=((start, end),),
        score=score,
    )


def make_source(title: str, *, author: str = "A. Critic") -> SecondarySource:
    """Make a source; its title decides all of it."""
    sha256 = hashlib.sha256(title.encode()).hexdigest()
    slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
    return SecondarySource(
        id=f"{slug}-{sha256[:8]}",
        title=title,
        author=author,
        name=f"{title}.txt",
        sha256=sha256,
        characters=100_000,
    )


def keep(
    bench: App,
    source: SecondarySource,
    windows: Sequence[MinedWindow] = (),
    *,
    works: Sequence[Work] = (),
    problem: str = "",
) -> SecondarySource:
    """Put a source into the store with what was found in it."""
    pairs = tuple(
        Pair(
            id=passage_id(*window.left, window.quotation, *window.right),
            source_id=source.id,
            kind="inline",
            left=window.left,
            quotation=window.quotation,
            right=window.right,
            at=window.at,
            passage=window.passage,
        )
        for window in windows
    )
    bench.store.sources.add(
        MinedSource(
            source=source,
            rules="made by hand",
            language="en",
            problem=problem,
            segmenters={work.id: work.segmenter for work in works},
            pairs=pairs,
            windows=tuple(windows),
            dropped={},
        )
    )
    return source
