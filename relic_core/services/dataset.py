"""The data set: what was mined, parted into dev, test and training, and checked for leaks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap

from relic_core.config import Settings
from relic_core.domain import MinedWindow
from relic_core.domain.grouping import grouped
from relic_core.errors import NotFound
from relic_core.evaluation import off_limits
from relic_core.library import catalogue
from relic_core.library.catalogue import entry_of
from relic_core.mining.exporting import ExportRequest
from relic_core.mining.leakage import Offence, name_of, shared_passages, shared_runs
from relic_core.mining.splits import PART_OF, SPLIT, Candidate, Gate, Row, Split, examples_of, measured
from relic_core.mining.word_runs import RunSet
from relic_core.ports import Progress, silent
from relic_core.services.catalogue import stored_works
from relic_core.services.works import Works
from relic_core.store.mined_windows import WindowRows
from relic_core.store.pairs import PairRows
from relic_core.store.splits import SplitRows

__all__ = ["Dataset", "ExportRequest", "LeakReport", "SplitSummary"]

_OTHER_WORK = "It is on a work that is not measured, and shares nothing with what is"
_PAIR = "It shares nothing with what is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSummary:
    """What parting came to.

    - `windows`, `pairs`, `examples`: split → how many; an example is a window with words around a quotation of one to
      five sentences.
    - `left_out`: "window" and "pair" → reason → how many.
    """

    windows: Mapping[str, int]
    pairs: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    examples: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """What a look for leaks came to; `notes`: what could not be looked at, and what to do about it."""

    offences: tuple[Offence, ...]
    pairs: int
    windows: int
    texts: int
    notes: tuple[str, ...] = ()


class Dataset:
    """Parts the kept windows and all pairs of a store."""

    def __init__(
        self, splits: SplitRows, pairs: PairRows, windows: WindowRows, works: Works, settings: Settings
    ) -> None:
        self._splits = splits
        self._pairs = pairs
        self._windows = windows
        self._works = works
        self._settings = settings

    def split(self, progress: Progress = silent) -> SplitSummary:
        """Part all kept windows and all pairs into dev, test and training, and keep that, with examples of each.

        What was parted before is replaced. Run it after mining, judging, or adding works and benchmarks.
        """
        began = time.monotonic()
        parts, missing = self._parts()
        digest = self._splits.digest(parts)  # of what is read below, whatever is judged meanwhile
        progress(0, 5, "Reading the works that are measured")
        works = RunSet.of(text for _, text in self._texts(parts))
        progress(1, 5, "Reading the benchmarks")
        benchmarks = RunSet.of(text for _, text in off_limits.benchmark_texts(self._settings))
        held_out = off_limits.held_out(self._settings)
        progress(2, 5, "Parting the windows")
        windows = self._kept()
        rows = measured(windows, parts)
        known = {name: part for name, part, _ in rows}
        kept = [window for window in windows if known.get(window.id) in {"dev", "test"}]
        gate = Gate(works, benchmarks, held_out, kept)
        others = [window for window in windows if window.work_id not in parts]
        rows += gate.rows(starmap(Candidate.of_window, self._with_golds(others)), why=_OTHER_WORK)
        progress(3, 5, "Parting the pairs")
        total, done = self._pairs.count(), 0
        pair_rows: list[Row] = []
        for batch in self._pairs.iterate():
            pair_rows += gate.rows(map(Candidate.of_pair, batch), why=_PAIR)
            done += len(batch)
            progress(3, 5, f"Parting the pairs: {done:,} of {total:,}")
        progress(4, 5, "Keeping the splits")
        examples = examples_of(windows, rows, self._windows.evidence())
        self._splits.keep(rows, pair_rows, examples, digest)
        progress(5, 5, "")
        return SplitSummary(
            windows=_counts(rows),
            pairs=_counts(pair_rows),
            left_out={"window": _reasons(rows), "pair": _reasons(pair_rows)},
            examples={part: len(those) for part, those in examples.items()},
            notes=off_limits.notes(self._settings, missing),
            seconds=time.monotonic() - began,
        )

    def stale(self) -> tuple[str, ...]:
        """Say that the splits are older than what they part; nothing where they are not, or there are none."""
        if not self._parted() or self._splits.kept_digest() == self._splits.digest(self._parts()[0]):
            return ()
        return (
            f"Something was mined, judged, added, removed or put back since the splits were made. Renew them: {SPLIT}",
        )

    def marked(self) -> tuple[tuple[MinedWindow, str], ...]:
        """List the kept windows, by source, each with its split; "" where nothing was split."""
        marks = self._splits.of("window")
        unmarked = ("left out" if marks else "", "")
        return tuple((window, marks.get(window.id, unmarked)[0]) for window in self._kept())

    def leakage(self, progress: Progress = silent) -> LeakReport:
        """Look for leaks in what is marked for training, and for passages in two splits; trusts no mark on training."""
        if not self._parted():
            raise NotFound(f"Nothing is parted yet, so nothing can be checked. First: {SPLIT}")
        (parts, missing), old = self._parts(), self.stale()
        of_split: dict[str, list[MinedWindow]] = {"dev": [], "test": [], "training": []}
        offences = []
        for window, mark in self.marked():
            if mark in of_split:
                of_split[mark].append(window)
                wanted = parts.get(window.work_id, "training")
                if mark != wanted:
                    where = f"it is marked {mark}, and its work {window.work_id} is for {wanted}"
                    offences.append(Offence("window", window.id, "", (where,)))
        dev, test = (list(map(Candidate.of_window, of_split[part])) for part in ("dev", "test"))
        training = list(starmap(Candidate.of_window, self._with_golds(of_split["training"])))
        progress(0, 3, "Comparing dev with test")
        tested = [("test", each) for each in test]
        offences += shared_passages(dev, tested)
        offences += shared_runs(dev, lambda: _named(tested))
        fixed = [*tested, *(("dev", each) for each in dev)]
        texts = pairs = 0

        def forbidden() -> Iterator[tuple[str, str]]:
            nonlocal texts
            texts = 0
            for named in (self._texts(parts), off_limits.benchmark_texts(self._settings), _named(fixed)):
                for each in named:
                    texts += 1
                    yield each

        def learnt() -> Iterator[Candidate]:
            nonlocal pairs
            yield from training
            for batch in self._pairs.iterate("training"):
                pairs += len(batch)
                progress(1, 3, f"Checking the pairs for training: {pairs:,}")
                learning = list(map(Candidate.of_pair, batch))
                offences.extend(shared_passages(learning, fixed))
                yield from learning

        progress(1, 3, "Reading what must not be learnt from")
        offences += shared_passages(training, fixed)
        offences += shared_runs(learnt(), forbidden, off_limits.held_out(self._settings))
        progress(3, 3, "")
        return LeakReport(
            offences=tuple(offences),
            pairs=pairs,
            windows=sum(map(len, of_split.values())),
            texts=texts,
            notes=(*old, *off_limits.notes(self._settings, missing)),
        )

    def _parted(self) -> bool:
        return bool(self._splits.counts("window") or self._splits.counts("pair"))

    def _parts(self) -> tuple[dict[str, Split], list[str]]:
        """Say what each stored work of the catalogue is for, by id, and the titles of those that are not stored.

        A second edition of a work is "left out".
        """
        summaries, library = self._works.summaries(), self._settings.library
        stored = stored_works(summaries, library)
        first = {work.id for work in stored.values()}
        parts: dict[str, Split] = {
            work.id: PART_OF[entry.split] if work.id in first else "left out"
            for work in summaries
            if (entry := entry_of(work, library)) is not None
        }
        return parts, [entry.title for entry in catalogue.entries() if entry.slug not in stored]

    def _texts(self, work_ids: Iterable[str]) -> Iterator[tuple[str, str]]:
        return ((f"the work {work_id}", self._works.read(work_id).text) for work_id in work_ids)

    def _kept(self) -> list[MinedWindow]:
        return list(self._windows.one_by_one())

    def _with_golds(self, windows: Sequence[MinedWindow]) -> Iterator[tuple[MinedWindow, str]]:
        for work_id, those in grouped(windows, lambda window: window.work_id).items():
            work = self._works.load(work_id)
            for window in those:
                yield window, work.span_text(window.gold)


def _named(candidates: Iterable[tuple[str, Candidate]]) -> Iterator[tuple[str, str]]:
    for _, each in candidates:
        for text in each.texts:
            yield name_of(each), text


def _counts(rows: Iterable[Row]) -> dict[str, int]:
    return dict(sorted(Counter(part for _, part, _ in rows).items()))


def _reasons(rows: Iterable[Row]) -> dict[str, int]:
    return dict(Counter(why for _, part, why in rows if part == "left out").most_common())
