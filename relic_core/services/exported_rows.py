"""The rows of an export as they are taken from the store, batch by batch, and the files they go into."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from relic_core.config import ASSETS, provenance
from relic_core.errors import BadRequest, NotFound
from relic_core.formats import datasets_folder, pair_files, relic
from relic_core.formats.files import written_whole
from relic_core.formats.folders import written_folder
from relic_core.formats.pair_rows import Head, PairRow, QuotedEdition, WindowRow
from relic_core.mining import volumes
from relic_core.services.dataset import splitting
from relic_core.services.dataset.sources import told_origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from relic_core.domain import MinedWindow, Offsets, Pair, SecondarySource, WorkSummary
    from relic_core.ports import Progress
    from relic_core.store.mined_windows import StoredWindow
    from relic_core.store.works import StoredText
    from relic_core.wiring import App

_CARD = ASSETS / "export" / "card.md"

RowKind = Literal["pairs", "windows"]
_STORED: dict[RowKind, Literal["pair", "window"]] = {"pairs": "pair", "windows": "window"}

USED = ("training", "dev", "test")
"""The splits that are exported where none is named."""

FILES = {"training": "train.json", "dev": "val.json", "test": "test.json"}
"""Our splits -> the files of RELiC that stand for them."""

MARKER = "relic.json"

UNSPLIT = "It was mined after the last split"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which rows are wanted: of a split, on a work, from a source; all where these are not given."""

    split: str = ""
    work: WorkSummary | None = None
    source: SecondarySource | None = None

    def says(self) -> dict[str, str]:
        """Say it for the head of a file."""
        return {
            "split": self.split or "all but what was left out",
            **({"work": self.work.id} if self.work else {}),
            **({"source": self.source.id} if self.source else {}),
        }


class Exports:
    """Takes rows from a store and writes them.

    - `progress`: told how many rows have been written.
    """

    def __init__(self, app: App, chosen: Chosen, progress: Progress) -> None:
        self._app = app
        self._store = app.store
        self._chosen = chosen
        self._progress = progress
        self._written = 0
        self._works: dict[str, _Sentences] = {}

    def check_splits(self, kinds: Sequence[RowKind], *, wanted: bool) -> None:
        """Refuse an export by splits where there are none.

        Raises BadRequest: they are `wanted`, and nothing has been split.
        """
        if wanted and not any(self._store.splits.counts(_STORED[kind]) for kind in kinds):
            raise BadRequest(
                "Nothing has been split yet, so what may be learnt from and what is for measuring is not known. Split "
                f"first: {splitting.SPLIT}"
            )

    def write_file(self, path: Path, kind: RowKind, *, places: bool) -> tuple[dict[str, int], dict[str, int]]:
        """Write one kind of rows as JSON lines or Parquet; gives how many were written, and not, and why.

        Raises NotFound: there is none.
        """
        self._refuse_nothing((kind,))
        head = self.head((kind,))
        if kind == "pairs":
            count = pair_files.write_pairs(path, head, self.pairs(self._splits("pairs")), places=places)
        else:
            count = pair_files.write_windows(path, head, self.windows(self._splits("windows")), places=places)
        return {kind: count}, self.left_out((kind,))

    def write_datasets(self, folder: Path, kinds: Sequence[RowKind]) -> tuple[dict[str, int], dict[str, int]]:
        """Write a folder for `datasets`; result and errors as those of `write_file`."""
        self._refuse_nothing(kinds)
        left_out = self.left_out(kinds)
        made = datasets_folder.write_folder(
            folder,
            self.head(kinds),
            pairs={split: self.pairs([split]) for split in self._splits("pairs") if "pairs" in kinds},
            windows={split: self.windows([split]) for split in self._splits("windows") if "windows" in kinds},
            words=_CARD.read_text(encoding="utf-8"),
            left_out=left_out,
        )
        return {kind: sum(made[kind].splits.values()) for kind in kinds}, left_out

    def write_relic(self, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
        """Write a folder of RELiC's files; result and errors as those of `write_file`."""
        self._refuse_nothing(("windows",))
        by_split: dict[str, dict[str, list[MinedWindow]]] = {}
        for row in self._windows(self._splits("windows")):
            by_split.setdefault(row[1], {}).setdefault(row[0].work_id, []).append(row[0])
        head = self.head(("windows",))
        titles = _titles(head.works)
        unfit: Counter[str] = Counter()
        counts: dict[str, int] = {}

        def books(split: str) -> Iterator[relic.RelicBook]:
            for work_id in sorted(by_split[split], key=titles.__getitem__):
                work = self._work(work_id)
                sentences = work.words(0, len(work))
                book, left_out = relic.book_of(titles[work_id], sentences, by_split[split][work_id])
                unfit.update(left_out)
                counts[split] = counts.get(split, 0) + len(book.quotes)
                yield book

        with written_folder(folder, MARKER) as half:
            for split in by_split:
                relic.write_relic(half / FILES[split], books(split))
            files = {FILES[split]: {"split": split, "windows": count} for split, count in counts.items()}
            facts = {**head.facts(), "files": files}
            with written_whole(half / MARKER) as file:
                file.write(f"{json.dumps(facts, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode())
        return {"windows": sum(counts.values())}, {**self.left_out(("windows",)), **unfit}

    def pairs(self, splits: Sequence[str]) -> Iterator[PairRow]:
        """Take pairs of some splits, one split after the other; of all where the split is empty."""
        for split in splits:
            for batch in self._store.pairs.iterate(split):
                wanted = [PairRow(pair=pair, split=split) for pair in batch if self._wanted(pair)]
                yield from wanted
                self._tell(len(wanted))

    def windows(self, splits: Sequence[str]) -> Iterator[WindowRow]:
        """Take windows that are kept, with the sentences they quote; parameters as those of `pairs`."""
        answers = self._store.judgements.latest()
        for window, split in self._windows(splits):
            work = self._work(window.work_id)
            judged = [answers.get((window.id, question)) for question in ("match", "evidence")]
            match, evidence = (each.answer if each else "" for each in judged)
            yield WindowRow(
                window=window,
                split=split,
                sentences=work.words(window.gold.start, window.gold.end),
                in_work=work.place(window.gold.start, window.gold.end),
                match=match,
                evidence=evidence,
            )
            self._tell(1)

    def head(self, kinds: Sequence[RowKind]) -> Head:
        """Say what made the rows, and name all sources and works that they may name."""
        sources = [stored.source for stored in self._store.sources.all()]
        counts = {each.source_id: each for each in self._store.sources.counts()}
        works: tuple[QuotedEdition, ...] = ()
        if "windows" in kinds:
            quoted = {window.work_id for window, _ in self._windows(self._splits("windows"))}
            summaries = self._app.works.summaries()
            works = tuple(self._edition(summary) for summary in summaries if summary.id in quoted)
        return Head(
            made={"program": provenance.code(), "rules": volumes.rules(), **self._chosen.says()},
            sources=tuple(
                replace(source, origin=told_origin(source))
                for source in sorted(sources, key=lambda source: source.id)
                if self._chosen.source in (None, source)
                and any(getattr(counts[source.id], kind) for kind in kinds if source.id in counts)
            ),
            works=works,
        )

    def left_out(self, kinds: Sequence[RowKind]) -> dict[str, int]:
        """Count what is not exported of the chosen source and work, by the reason."""
        reasons: Counter[str] = Counter()
        for kind in kinds:
            of = self._store.splits.of(_STORED[kind])
            for name in self._ids(kind) if of else ():
                split, reason = of.get(name, ("", UNSPLIT))
                if (split == "left out" != self._chosen.split) or not (split or self._chosen.split):
                    reasons[reason] += 1
        if "windows" in kinds:
            reasons.update(f"Set aside: {stored.set_aside}" for stored in self._stored("set aside"))
        return dict(sorted(reasons.items()))

    def _ids(self, kind: RowKind) -> Iterable[str]:
        if kind == "windows":
            return (stored.window.id for stored in self._stored("kept"))
        if self._chosen.source is None:
            return self._store.pairs.ids()
        return (pair.id for pair in self._store.pairs.of_source(self._chosen.source.id))

    def _splits(self, kind: RowKind) -> Sequence[str]:
        """List the splits to take: the one named, or those there are; all rows at once where nothing was split."""
        if self._chosen.split:
            return [self._chosen.split]
        there = self._store.splits.counts(_STORED[kind])
        return [split for split in USED if there.get(split)] if there else [""]

    def _windows(self, splits: Sequence[str]) -> Iterator[tuple[MinedWindow, str]]:
        for split in splits:
            for stored in self._stored("kept", split):
                yield stored.window, split

    def _stored(self, show: Literal["kept", "set aside"], split: str = "") -> Iterator[StoredWindow]:
        """Take the windows of the chosen source and work."""
        for batch in self._store.windows.iterate(show, split=split):
            yield from (each for each in batch if self._wanted(each.window) and self._on_work(each.window))

    def _wanted(self, passage: Pair | MinedWindow) -> bool:
        return self._chosen.source is None or passage.source_id == self._chosen.source.id

    def _on_work(self, window: MinedWindow) -> bool:
        return self._chosen.work is None or window.work_id == self._chosen.work.id

    def _refuse_nothing(self, kinds: Sequence[RowKind]) -> None:
        for kind in kinds:
            splits = self._splits(kind)
            if any(True for _ in (self.pairs(splits) if kind == "pairs" else self._windows(splits))):
                return
        raise NotFound(_nothing(self._chosen, " and no ".join(kinds)))

    def _tell(self, rows: int) -> None:
        self._written += rows
        self._progress(self._written, 0, f"{self._written:,} rows")

    def _work(self, work_id: str) -> _Sentences:
        """Give the sentences of a work; they stay, since a source quotes many works in turn."""
        if work_id not in self._works:
            self._works[work_id] = _Sentences(self._store.texts.read([work_id])[work_id])
        return self._works[work_id]

    def _edition(self, summary: WorkSummary) -> QuotedEdition:
        imprint = self._app.works.imprints()[summary.id]
        return QuotedEdition(
            id=summary.id,
            title=summary.title,
            author=summary.author,
            year=summary.year,
            sha256=summary.sha256,
            fingerprint=imprint.fingerprint,
            segmenter=imprint.segmenter,
            origin=summary.source,
        )


class _Sentences:
    """The words of a work's sentences, white space single, and where they stand."""

    def __init__(self, stored: StoredText) -> None:
        self._text = stored.text
        self._starts, self._ends = stored.sentence_starts, stored.sentence_ends

    def __len__(self) -> int:
        return len(self._starts)

    def words(self, first: int, end: int) -> tuple[str, ...]:
        """Give the sentences ``first:end``."""
        places = zip(self._starts[first:end], self._ends[first:end], strict=True)
        return tuple(" ".join(self._text[start:stop].split()) for start, stop in places)

    def place(self, first: int, end: int) -> Offsets:
        """Say where the sentences ``first:end`` stand in the text."""
        return int(self._starts[first]), int(self._ends[end - 1])


def _titles(works: Sequence[QuotedEdition]) -> dict[str, str]:
    """Give each work a title of its own: with its author, and its id, where two have one title.

    Returns: id -> the key in RELiC's file.
    """
    titles: dict[str, str] = {}
    for named in (lambda work: work.title, lambda work: f"{work.title} ({work.author})"):
        left = [work for work in works if work.id not in titles]
        often = Counter(named(work) for work in left)
        titles |= {work.id: named(work) for work in left if often[named(work)] == 1}
    return titles | {work.id: f"{work.title} ({work.id})" for work in works if work.id not in titles}


def _nothing(chosen: Chosen, kinds: str) -> str:
    """Say that there is nothing to export, and what to do."""
    if chosen.split or chosen.work or chosen.source:
        asked = [
            *([f"of the split {chosen.split}"] if chosen.split else []),
            *([f"on {chosen.work.title}"] if chosen.work else []),
            *([f"in {chosen.source.title}"] if chosen.source else []),
        ]
        return (
            f"There are no {kinds} {' '.join(asked)}. Choose less narrowly; `python -m relic_core dataset statistics` "
            "shows how many there are of what."
        )
    return (
        f"There are no {kinds} to export. Mine secondary sources first: python -m relic_core mine FOLDER. Windows are "
        "found on the works of the library alone, and where a data set was split, what was left out is not exported."
    )
