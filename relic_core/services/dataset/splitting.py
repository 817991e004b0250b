"""Parting windows and pairs into dev, test and training, and checking the parts for leaks."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.domain import MAX_LENGTH, Claim, Example
from relic_core.errors import NotFound
from relic_core.mining.leakage import Item, Offence, name_of, shared_passages, shared_runs
from relic_core.mining.splits import PART_OF, Candidate, Forbidden, Gate, measured, words_of
from relic_core.mining.word_runs import RunSet
from relic_core.services.dataset import off_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from relic_core.domain import MinedWindow, Pair
    from relic_core.mining.splits import Row, Split
    from relic_core.ports import Progress
    from relic_core.wiring import App

SPLIT = "python -m relic_core dataset split"
_OTHER_WORK = "It is on a work that is not measured, and shares nothing with what is"
_PAIR = "It shares nothing with what is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSummary:
    """What parting came to.

    - `left_out`: "window" and "pair" -> reason -> how many were left out for it.
    - `examples`: split -> how many examples were made: windows whose quotation has one to five sentences, with words
      around it.
    - `notes`: what could not be looked at, and what to do about it.
    """

    windows: Mapping[str, int]
    pairs: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    examples: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """What a look for leaks came to.

    - `offences`: each thing that stands where it must not; none where all is well.
    - `pairs`, `windows`: how many were checked.
    - `texts`: how many texts they were held against.
    - `notes`: what could not be looked at, and what to do about it.
    """

    offences: tuple[Offence, ...]
    pairs: int
    windows: int
    texts: int
    notes: tuple[str, ...] = ()


def split(app: App, progress: Progress) -> SplitSummary:
    """Part all kept windows and all pairs, and keep the splits and the examples of each; see `Dataset.split`."""
    began = time.monotonic()
    store = app.store
    parts = parts_of_works(app)
    digest = store.splits.digest(parts)  # of what is read below, whatever is judged meanwhile
    progress(0, 5, "Reading the works that are measured")
    works = RunSet.of(text for _, text in off_limits.of_works(app, parts))
    progress(1, 5, "Reading the benchmarks")
    benchmarks = RunSet.of(text for _, text in off_limits.of_benchmarks(app.settings))
    forbidden = Forbidden(works=works, benchmarks=benchmarks, held_out=off_limits.held_out(app.settings))
    progress(2, 5, "Parting the windows")
    windows = kept_windows(app)
    rows = measured(windows, parts)
    known = {row[0]: row[1] for row in rows}
    gate = Gate(forbidden, [window for window in windows if known.get(window.id) in {"dev", "test"}])
    others = [window for window in windows if window.work_id not in parts]
    rows += gate.rows(_of_windows(app, others), why=_OTHER_WORK)
    progress(3, 5, "Parting the pairs")
    total, done = store.pairs.count(), 0
    pair_rows: list[Row] = []
    for batch in store.pairs.iterate():
        pair_rows += gate.rows(map(Candidate.of_pair, batch), why=_PAIR)
        done += len(batch)
        progress(3, 5, f"Parting the pairs: {done:,} of {total:,}")
    progress(4, 5, "Keeping the splits")
    store.splits.replace("window", rows)
    store.splits.replace("pair", pair_rows)
    store.splits.keep_digest(digest)
    examples = _keep_examples(app, windows, rows)
    progress(5, 5, "")
    return SplitSummary(
        windows=_counts(rows),
        pairs=_counts(pair_rows),
        left_out={"window": _reasons(rows), "pair": _reasons(pair_rows)},
        examples=examples,
        notes=off_limits.notes(app),
        seconds=time.monotonic() - began,
    )


def stale(app: App) -> tuple[str, ...]:
    """Say that the splits are older than what they part; nothing where they are not, or there are none."""
    splits = app.store.splits
    if not _are_there(app) or splits.kept_digest() == splits.digest(parts_of_works(app)):
        return ()
    return (f"Something was mined, judged, added, removed or put back since the splits were made. Renew them: {SPLIT}",)


def _are_there(app: App) -> bool:
    """Whether anything was parted."""
    return bool(app.store.splits.counts("window") or app.store.splits.counts("pair"))


def leakage(app: App, progress: Progress) -> LeakReport:
    """Check what is marked for training, dev and test; see `Dataset.leakage`."""
    store, parts = app.store, parts_of_works(app)
    if not _are_there(app):
        raise NotFound(f"Nothing is parted yet, so nothing can be checked. First: {SPLIT}")
    old = stale(app)
    marks = {name: mark for name, (mark, _) in store.splits.of("window").items()}
    windows = [window for window in kept_windows(app) if marks.get(window.id) in {"dev", "test", "training"}]
    offences = [*_misplaced(windows, marks, parts)]
    of_split = {part: [each for each in windows if marks[each.id] == part] for part in ("dev", "test", "training")}
    items = {
        "dev": [_item_of_window(window) for window in of_split["dev"]],
        "test": [_item_of_window(window) for window in of_split["test"]],
        "training": [_item_of_window(window, gold) for window, gold in _golds(app, of_split["training"])],
    }
    progress(0, 3, "Comparing dev with test")
    tested = [("test", item) for item in items["test"]]
    offences += shared_passages(items["dev"], tested)
    offences += shared_runs(items["dev"], lambda: _named(tested))
    fixed = [*tested, *(("dev", item) for item in items["dev"])]
    texts = 0

    def forbidden() -> Iterator[tuple[str, str]]:
        nonlocal texts
        texts = 0
        for named in (
            off_limits.of_works(app, parts),
            off_limits.of_benchmarks(app.settings),
            _named(fixed),
        ):
            for each in named:
                texts += 1
                yield each

    pairs = 0

    def learnt() -> Iterator[Item]:
        nonlocal pairs
        yield from items["training"]
        for batch in store.pairs.iterate("training"):
            pairs += len(batch)
            progress(1, 3, f"Checking the pairs for training: {pairs:,}")
            batch_items = [_item_of_pair(pair) for pair in batch]
            offences.extend(shared_passages(batch_items, fixed))
            yield from batch_items

    progress(1, 3, "Reading what must not be learnt from")
    offences += shared_passages(items["training"], fixed)
    offences += shared_runs(learnt(), forbidden, off_limits.held_out(app.settings))
    progress(3, 3, "")
    return LeakReport(
        offences=tuple(offences),
        pairs=pairs,
        windows=len(windows),
        texts=texts,
        notes=(*old, *off_limits.notes(app)),
    )


def parts_of_works(app: App) -> dict[str, Split]:
    """Say for each stored work of the catalogue what its windows are for; "left out" for a second edition."""
    first = {each.work.id for each in app.catalogue.shelf() if each.work is not None}
    parts: dict[str, Split] = {}
    for work in app.works.summaries():
        entry = app.catalogue.entry_of(work)
        if entry is not None:
            parts[work.id] = PART_OF[entry.split] if work.id in first else "left out"
    return parts


def kept_windows(app: App) -> list[MinedWindow]:
    """List the windows that no threshold and no judge has set aside, by source."""
    return [stored.window for batch in app.store.windows.iterate("kept") for stored in batch]


def _of_windows(app: App, windows: Sequence[MinedWindow]) -> Iterator[Candidate]:
    for window, gold in _golds(app, windows):
        yield Candidate.of_window(window, gold)


def _golds(app: App, windows: Sequence[MinedWindow]) -> Iterator[tuple[MinedWindow, str]]:
    """Give windows with the words they quote, by work, so that one work is in memory at a time."""
    of_work: dict[str, list[MinedWindow]] = {}
    for window in windows:
        of_work.setdefault(window.work_id, []).append(window)
    for work_id, those in of_work.items():
        work = app.works.load(work_id)
        for window in those:
            yield window, work.span_text(window.gold)


def _keep_examples(app: App, windows: Sequence[MinedWindow], rows: Iterable[Row]) -> dict[str, int]:
    known = {row[0]: row[1] for row in rows}
    kinds = {
        name: judged.answer
        for (name, question), judged in app.store.judgements.latest(None).items()
        if question == "evidence"
    }
    counts = {}
    for part in ("dev", "test", "training"):
        examples = [
            Example(
                id=window.id,
                work_id=window.work_id,
                claim=Claim(left=" ".join(window.left), right=" ".join(window.right), masked=True),
                gold=window.gold,
                kind=kinds.get(window.id, ""),
                split=part,
            )
            for window in windows
            if known.get(window.id) == part and window.gold.length <= MAX_LENGTH and window.has_context
        ]
        app.store.examples.replace(part, examples)
        counts[part] = len(examples)
    return counts


def _misplaced(
    windows: Iterable[MinedWindow], marks: Mapping[str, str], parts: Mapping[str, Split]
) -> Iterator[Offence]:
    """Name the windows whose split is not that of their work."""
    for window in windows:
        wanted = parts.get(window.work_id, "training")
        if marks[window.id] != wanted:
            where = f"it is marked {marks[window.id]}, and its work {window.work_id} is for {wanted}"
            yield Offence("window", window.id, "", (where,))


def _item_of_window(window: MinedWindow, *golds: str) -> Item:
    return Item("window", window.id, window.source_id, window.passage, (words_of(window), *golds))


def _item_of_pair(pair: Pair) -> Item:
    return Item("pair", pair.id, pair.source_id, pair.passage, (words_of(pair),))


def _named(items: Iterable[tuple[str, Item]]) -> Iterator[tuple[str, str]]:
    for _, item in items:
        for text in item.texts:
            yield name_of(item), text


def _counts(rows: Iterable[Row]) -> dict[str, int]:
    return dict(sorted(Counter(part for _, part, _ in rows).items()))


def _reasons(rows: Iterable[Row]) -> dict[str, int]:
    return dict(Counter(why for _, part, why in rows if part == "left out").most_common())
