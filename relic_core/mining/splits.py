"""Who may learn from what: windows and pairs parted into dev, test and training, each with its reason.

The rules are in docs/mining.md, "Who may learn from what". Where two splits would share a passage of a source, the
window of the less precious one is left out, training before dev, dev before test.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from relic_core.domain import MAX_LENGTH, Claim, Example, MinedWindow, Offsets, Pair, passage_id
from relic_core.installed import COMMAND
from relic_core.mining.word_runs import RUN, HeldOut, RunSet, digests_of, runs_of, runs_of_many

Split = Literal["dev", "test", "training", "left out"]
SPLIT = f"{COMMAND} dataset split"
Row = tuple[str, Split, str]
"""Id, split, and why: of what is left out the reason, of the others what put them there."""

PART_OF: dict[str, Literal["dev", "test"]] = {"train": "dev", "validation": "test", "test": "test"}
"""Split of RELiC -> split of its works' windows here."""

OTHER_EDITION = "It is on another edition of a work that is measured"
REPRINT = "Its words are those of another window: a reprint, or a sentence that the work has twice"
IN_A_TEST_PASSAGE = "It quotes the passage of a test window, in part or whole"
SHARED_WITH_TEST = f"Its passage shares {RUN} words in a row with that of a test window"
IN_A_MEASURED_PASSAGE = "It quotes the passage of a dev or test window, in part or whole"
SHARED_WITH_MEASURED = f"It shares {RUN} words in a row with a dev or test window"
SHARED_WITH_WORK = f"It shares {RUN} words in a row with a work that is measured"
SHARED_WITH_BENCHMARK = f"It shares {RUN} words in a row with a benchmark"
SHARED_WITH_LIST = f"It shares {RUN} words in a row with the list of held-out runs"

_AT_ONCE = 2_000
"""Candidates whose runs are looked up together."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair or window, as far as it may be learnt from; no run of words goes from one of its texts into the next."""

    kind: Literal["pair", "window"]
    id: str
    source_id: str
    passage: Offsets
    texts: tuple[str, ...]

    @classmethod
    def of_pair(cls, pair: Pair) -> Candidate:
        """Take a pair, its contexts and quotation as they stand together."""
        return cls("pair", pair.id, pair.source_id, pair.passage, (words_of(pair),))

    @classmethod
    def of_window(cls, window: MinedWindow, *golds: str) -> Candidate:
        """Take a window, and the words of the sentences it quotes where models learn from them too."""
        return cls("window", window.id, window.source_id, window.passage, (words_of(window), *golds))


def words_of(passage: Pair | MinedWindow) -> str:
    """Join what a secondary source says: left context, quotation, right context."""
    return " ".join((*passage.left, passage.quotation, *passage.right))


def examples_of(
    windows: Sequence[MinedWindow], rows: Iterable[Row], kinds: Mapping[str, str]
) -> dict[str, list[Example]]:
    """Make examples of the windows of each split that have words around a quotation of one to five sentences."""
    part_of = {name: part for name, part, _ in rows}
    examples: dict[str, list[Example]] = {"dev": [], "test": [], "training": []}
    for window in windows:
        part = part_of.get(window.id, "")
        if part in examples and window.gold.length <= MAX_LENGTH and window.has_context:
            example = Example(
                id=window.id,
                work_id=window.work_id,
                claim=Claim(left=" ".join(window.left), right=" ".join(window.right), masked=True),
                gold=window.gold,
                kind=kinds.get(window.id, ""),
                split=part,
            )
            examples[part].append(example)
    return examples


class Passages:
    """Stretches of sources, for asking whether another lies on one of them.

    >>> taken = Passages([("a", (10, 20)), ("a", (12, 15)), ("b", (0, 5))])
    >>> taken.overlap("a", (19, 30)), taken.overlap("a", (20, 30)), taken.overlap("b", (5, 9))
    (True, False, False)
    """

    def __init__(self, passages: Iterable[tuple[str, Offsets]]) -> None:
        self._starts: dict[str, list[int]] = defaultdict(list)
        self._ends: dict[str, list[int]] = defaultdict(list)
        for source, (start, end) in sorted(passages):
            self._starts[source].append(start)
            furthest = self._ends[source][-1] if self._ends[source] else 0
            self._ends[source].append(max(end, furthest))

    def overlap(self, source: str, passage: Offsets) -> bool:
        """Whether a stretch shares a character with one of these."""
        starts = self._starts.get(source, [])
        before = bisect_left(starts, passage[1])  # all that begin before it ends
        return before > 0 and self._ends[source][before - 1] > passage[0]


def measured(windows: Sequence[MinedWindow], parts: Mapping[str, Split]) -> list[Row]:
    """Part the windows on measured works into dev and test.

    Of windows with the same words the first stands, test before dev: reprints have the same, and so have the places of
    a sentence that works repeat. A dev window that lies on the passage of a test window, or shares a run with it, is
    left out.

    - `windows`: all that are kept, in their order; those on works that `parts` does not name are passed over.
    - `parts`: work id -> its split; "left out" for other editions of measured works.
    """
    rows: dict[str, Row] = {}
    seen: set[str] = set()
    on_measured = [(window, parts[window.work_id]) for window in windows if window.work_id in parts]
    for window, part in sorted(on_measured, key=lambda pair: pair[1] != "test"):
        name = passage_id(*window.left, window.quotation, *window.right)
        if part == "left out":
            rows[window.id] = (window.id, "left out", OTHER_EDITION)
        elif name in seen:
            rows[window.id] = (window.id, "left out", REPRINT)
        else:
            seen.add(name)
            rows[window.id] = (window.id, part, f"It is on a work of the {part} split")
    test, dev = ([each for each in windows if rows.get(each.id, ("", ""))[1] == part] for part in ("test", "dev"))
    passages = Passages((window.source_id, window.passage) for window in test)
    runs = RunSet.of(map(words_of, test))
    for window in dev:
        if passages.overlap(window.source_id, window.passage):
            rows[window.id] = (window.id, "left out", IN_A_TEST_PASSAGE)
        elif runs.holds(runs_of(words_of(window))).any():
            rows[window.id] = (window.id, "left out", SHARED_WITH_TEST)
    return list(rows.values())


class Gate:
    """Lets through what may be learnt from: what shares no run with measured works, benchmarks or the held-out list."""

    def __init__(
        self, works: RunSet, benchmarks: RunSet, held_out: HeldOut | None, measured: Sequence[MinedWindow]
    ) -> None:
        self._works = works
        self._benchmarks = benchmarks
        self._held_out = held_out
        self._passages = Passages((window.source_id, window.passage) for window in measured)
        self._windows = RunSet.of(map(words_of, measured))

    def rows(self, candidates: Iterable[Candidate], *, why: str) -> Iterator[Row]:
        """Say of each candidate whether it may be learnt from, in their order; read some thousands at a time."""
        batch: list[Candidate] = []
        for candidate in candidates:
            batch.append(candidate)
            if len(batch) == _AT_ONCE:
                yield from self._judge(batch, why)
                batch = []
        yield from self._judge(batch, why)

    def _judge(self, batch: Sequence[Candidate], why: str) -> Iterator[Row]:
        flat = list(chain.from_iterable(each.texts for each in batch))
        of_text = np.repeat(np.arange(len(batch)), [len(each.texts) for each in batch])
        runs, texts = runs_of_many(flat)
        reasons = [""] * len(batch)
        for known, reason in (
            (self._works, SHARED_WITH_WORK),
            (self._windows, SHARED_WITH_MEASURED),
            (self._benchmarks, SHARED_WITH_BENCHMARK),
        ):
            for at in np.unique(of_text[texts[known.holds(runs)]]).tolist():
                reasons[at] = reasons[at] or reason
        for at, candidate in enumerate(batch):
            if self._passages.overlap(candidate.source_id, candidate.passage):
                reasons[at] = IN_A_MEASURED_PASSAGE
            elif not reasons[at] and self._is_held_out(candidate):  # asked last: it costs a sha256 for each run
                reasons[at] = SHARED_WITH_LIST
            yield (candidate.id, "left out", reasons[at]) if reasons[at] else (candidate.id, "training", why)

    def _is_held_out(self, candidate: Candidate) -> bool:
        held_out = self._held_out
        return held_out is not None and any(held_out.holds(digests_of(text)).any() for text in candidate.texts)
