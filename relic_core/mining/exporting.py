"""Pairs and windows out of the store, as files for others: RELiC's JSON, JSON lines, Parquet, a folder of data.

Rows are taken from the store batch by batch, so that memory does not grow with them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from relic_core.config import ASSETS, provenance
from relic_core.domain import MinedWindow, Offsets, Pair, SecondarySource, WorkSummary, WorkVersion
from relic_core.errors import BadRequest, NotFound, unknown_name
from relic_core.formats import datasets_folder, pair_files, relic
from relic_core.formats.files import write_whole, written_folder
from relic_core.formats.pair_files import SPLITS, FileHeader, PairRow, QuotedEdition, WindowRow
from relic_core.installed import COMMAND
from relic_core.library.naming import meant
from relic_core.mining import volumes
from relic_core.mining.splits import SPLIT
from relic_core.ports import Progress, silent
from relic_core.store.mined_windows import StoredWindow, WindowRows
from relic_core.store.pairs import PairRows
from relic_core.store.sources import SourceRows
from relic_core.store.splits import SplitRows
from relic_core.store.works import StoredText

Kind = Literal["pairs", "windows", "dataset"]

Form = Literal["jsonl", "parquet", "relic", "datasets"]

FORMS: dict[Form, str] = {
    "jsonl": "JSON lines: one row a line, after a line that says what made them",
    "parquet": "Parquet: the same columns, what made them in the metadata",
    "relic": "RELiC's own JSON: a folder with train.json (training), val.json (dev) and test.json (test); windows only",
    "datasets": "a folder for Hugging Face's `datasets`: a data card and Parquet files",
}

RowKind = Literal["pairs", "windows"]
_STORED: dict[RowKind, Literal["pair", "window"]] = {"pairs": "pair", "windows": "window"}
_USED = ("training", "dev", "test")
_FILES = {"training": "train.json", "dev": "val.json", "test": "test.json"}
MARKER = "relic.json"
UNSPLIT = "It was mined after the last split"
_CARD = ASSETS / "export" / "card.md"

_SUFFIXES: dict[str, Form] = {pair_files.JSON_LINES: "jsonl", pair_files.PARQUET: "parquet"}
_IN_FOLDERS: tuple[Form, ...] = ("relic", "datasets")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is to be exported.

    - `form`: one of `FORMS`; chosen by the file's name where empty, "datasets" where that does not say.
    - `split`: only this one of `SPLITS`; all but what was left out where empty.
    - `work`, `source`: only windows on this work (an id, its beginning, a title); only what is in this source (its
      id, the beginning of it, its number in Project Gutenberg).
    """

    kind: Kind
    out: Path
    form: str = ""
    split: str = ""
    work: str = ""
    source: str = ""
    places: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was exported: how many "pairs" and "windows", and why in plain words how many others were not."""

    path: Path
    form: Form
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuotedTexts:
    """The works that windows quote, and the words of their sentences."""

    summaries: Callable[[], Iterable[WorkSummary]]
    versions: Callable[[], Mapping[str, WorkVersion]]
    resolve: Callable[[str], WorkSummary]
    read: Callable[[str], StoredText]

    def editions(self, work_ids: Collection[str]) -> tuple[QuotedEdition, ...]:
        """Describe works for the head of a file."""
        versions = self.versions()
        return tuple(
            QuotedEdition(
                id=each.id,
                title=each.title,
                author=each.author,
                year=each.year,
                sha256=each.sha256,
                fingerprint=versions[each.id].fingerprint,
                segmenter=versions[each.id].segmenter,
                origin=each.source,
            )
            for each in self.summaries()
            if each.id in work_ids
        )


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes pairs, windows or both."""

    sources: SourceRows
    pairs: PairRows
    windows: WindowRows
    splits: SplitRows
    works: QuotedTexts

    def export(self, request: ExportRequest, progress: Progress = silent) -> Exported:
        """Write what is asked for; `progress` gets the number of rows written."""
        if request.kind not in get_args(Kind):
            raise unknown_name("kind of export", request.kind, get_args(Kind))
        form = _form(request)
        if request.split and request.split not in SPLITS:
            raise unknown_name("split", request.split, SPLITS)
        _refuse_impossible(request, form)
        export = _Export(
            of=self,
            kinds=("pairs", "windows") if request.kind == "dataset" else (request.kind,),
            split=request.split,
            work=self.works.resolve(request.work) if request.work else None,
            source=self.find_source(request.source) if request.source else None,
            progress=progress,
        )
        export.check(by_splits=bool(request.split) or form in _IN_FOLDERS)
        if form == "relic":
            rows, left_out = export.write_relic(request.out)
        elif form == "datasets":
            rows, left_out = export.write_datasets(request.out)
        else:
            rows, left_out = export.write_file(request.out, places=request.places)
        return Exported(path=request.out, form=form, rows=rows, left_out=left_out)

    def find_source(self, given: str) -> SecondarySource:
        """Find the source a person means: by its id, the beginning of its id, or its number in Project Gutenberg."""
        there = [stored.source for stored in self.sources.all()]
        wanted = given.strip()
        fits = (
            [each for each in there if wanted and wanted in (each.id, str(each.number))],
            [each for each in there if wanted and each.id.startswith(wanted.casefold())],
        )
        found = meant(f"{given:.80}", fits, kind="sources", called=lambda each: each.id)
        if found is None:
            raise NotFound(
                f"There is no secondary source '{given:.80}'. `python -m relic_core sources` lists those there are, "
                "with their ids."
            )
        return found


@dataclass(slots=True, kw_only=True)
class _Export:
    """One export: which rows are wanted (of a split, on a work, from a source; all where not given), and its files."""

    of: Exporter
    kinds: Sequence[RowKind]
    split: str
    work: WorkSummary | None
    source: SecondarySource | None
    progress: Progress
    _written: int = 0
    _texts: dict[str, _Sentences] = field(default_factory=dict)

    def check(self, *, by_splits: bool) -> None:
        """Refuse an export of nothing, or by splits where there are none."""
        if by_splits and not any(self.of.splits.counts(_STORED[kind]) for kind in self.kinds):
            raise BadRequest(
                "Nothing has been split yet, so what may be learnt from and what is for measuring is not known. Split "
                f"first: {SPLIT}"
            )
        for kind in self.kinds:
            splits = self._splits(kind)
            if any(True for _ in (self._pairs(splits) if kind == "pairs" else self._marked(splits))):
                return
        raise NotFound(self._nothing())

    def write_file(self, path: Path, *, places: bool) -> tuple[dict[str, int], dict[str, int]]:
        """Write one kind of rows as JSON lines or Parquet; gives how many were written, and not, and why."""
        head, (kind,) = self._head(), self.kinds
        if kind == "pairs":
            count = pair_files.write_pairs(path, head, self._pairs(self._splits(kind)), places=places)
        else:
            count = pair_files.write_windows(path, head, self._windows(self._splits(kind)), places=places)
        return {kind: count}, self._left_out()

    def write_datasets(self, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
        """Write a folder for `datasets`."""
        left_out = self._left_out()
        made = datasets_folder.write_folder(
            folder,
            self._head(),
            pairs={split: self._pairs([split]) for split in self._splits("pairs") if "pairs" in self.kinds},
            windows={split: self._windows([split]) for split in self._splits("windows") if "windows" in self.kinds},
            words=_CARD.read_text(encoding="utf-8"),
            left_out=left_out,
        )
        return {kind: sum(made[kind].splits.values()) for kind in self.kinds}, left_out

    def write_relic(self, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
        """Write a folder of RELiC's files."""
        by_split: dict[str, dict[str, list[MinedWindow]]] = {}
        for window, split in self._marked(self._splits("windows")):
            by_split.setdefault(split, {}).setdefault(window.work_id, []).append(window)
        head = self._head()
        titles = _titles(head.works)
        unfit: Counter[str] = Counter()
        counts: dict[str, int] = {}

        def books(split: str) -> Iterator[relic.RelicBook]:
            for work_id in sorted(by_split[split], key=titles.__getitem__):
                sentences = self._sentences(work_id).words()
                book, left_out = relic.book_of(titles[work_id], sentences, by_split[split][work_id])
                unfit.update(left_out)
                counts[split] = counts.get(split, 0) + len(book.quotes)
                yield book

        with written_folder(folder, MARKER) as half:
            for split in by_split:
                relic.write_relic(half / _FILES[split], books(split))
            files = {_FILES[split]: {"split": split, "windows": count} for split, count in counts.items()}
            facts = {**head.facts(), "files": files}
            write_whole(half / MARKER, f"{json.dumps(facts, ensure_ascii=False, indent=1, sort_keys=True)}\n")
        return {"windows": sum(counts.values())}, {**self._left_out(), **unfit}

    def _pairs(self, splits: Sequence[str]) -> Iterator[PairRow]:
        """Take pairs of some splits, one split after the other; of all where the split is empty."""
        for split in splits:
            for batch in self.of.pairs.iterate(split):
                wanted = [PairRow(pair=pair, split=split) for pair in batch if self._wanted(pair)]
                yield from wanted
                self._tell(len(wanted))

    def _windows(self, splits: Sequence[str]) -> Iterator[WindowRow]:
        answers = self.of.windows.answers()
        for window, split in self._marked(splits):
            sentences = self._sentences(window.work_id)
            yield WindowRow(
                window=window,
                split=split,
                sentences=sentences.words(window.gold.start, window.gold.end),
                in_work=sentences.place(window.gold.start, window.gold.end),
                match=answers.get((window.id, "match"), ""),
                evidence=answers.get((window.id, "evidence"), ""),
            )
            self._tell(1)

    def _head(self) -> FileHeader:
        counts = {each.source_id: each for each in self.of.sources.counts()}
        works: tuple[QuotedEdition, ...] = ()
        if "windows" in self.kinds:
            works = self.of.works.editions({window.work_id for window, _ in self._marked(self._splits("windows"))})
        chosen = {
            "split": self.split or "all but what was left out",
            **({"work": self.work.id} if self.work else {}),
            **({"source": self.source.id} if self.source else {}),
        }
        sources = sorted((stored.source for stored in self.of.sources.all()), key=lambda source: source.id)
        return FileHeader(
            made={"program": provenance.code(), "rules": volumes.rules(), **chosen},
            sources=tuple(
                replace(source, origin=source.public_origin)
                for source in sources
                if self.source in (None, source)
                and any(getattr(counts[source.id], kind) for kind in self.kinds if source.id in counts)
            ),
            works=works,
        )

    def _left_out(self) -> dict[str, int]:
        reasons: Counter[str] = Counter()
        for kind in self.kinds:
            marks = self.of.splits.of(_STORED[kind])
            for name in self._ids(kind) if marks else ():
                split, reason = marks.get(name, ("", UNSPLIT))
                if (split == "left out" != self.split) or not (split or self.split):
                    reasons[reason] += 1
        if "windows" in self.kinds:
            reasons.update(f"Set aside: {stored.set_aside}" for stored in self._stored("set aside"))
        return dict(sorted(reasons.items()))

    def _ids(self, kind: RowKind) -> Iterable[str]:
        if kind == "windows":
            return (stored.window.id for stored in self._stored("kept"))
        if self.source is None:
            return self.of.pairs.ids()
        return (pair.id for pair in self.of.pairs.of_source(self.source.id))

    def _splits(self, kind: RowKind) -> Sequence[str]:
        if self.split:
            return [self.split]
        there = self.of.splits.counts(_STORED[kind])
        return [split for split in _USED if there.get(split)] if there else [""]

    def _marked(self, splits: Sequence[str]) -> Iterator[tuple[MinedWindow, str]]:
        for split in splits:
            for stored in self._stored("kept", split):
                yield stored.window, split

    def _stored(self, show: Literal["kept", "set aside"], split: str = "") -> Iterator[StoredWindow]:
        for batch in self.of.windows.iterate(show, split=split):
            for each in batch:
                if self._wanted(each.window) and (self.work is None or each.window.work_id == self.work.id):
                    yield each

    def _wanted(self, passage: Pair | MinedWindow) -> bool:
        return self.source is None or passage.source_id == self.source.id

    def _tell(self, rows: int) -> None:
        self._written += rows
        self.progress(self._written, 0, f"{self._written:,} rows")

    def _sentences(self, work_id: str) -> _Sentences:
        """Give the sentences of a work; they stay, since a source quotes many works in turn."""
        if work_id not in self._texts:
            self._texts[work_id] = _Sentences(self.of.works.read(work_id))
        return self._texts[work_id]

    def _nothing(self) -> str:
        kinds = " and no ".join(self.kinds)
        if self.split or self.work or self.source:
            asked = [
                *([f"of the split {self.split}"] if self.split else []),
                *([f"on {self.work.title}"] if self.work else []),
                *([f"in {self.source.title}"] if self.source else []),
            ]
            return (
                f"There are no {kinds} {' '.join(asked)}. Choose less narrowly; `{COMMAND} dataset "
                "statistics` shows how many there are of what."
            )
        return (
            f"There are no {kinds} to export. Mine secondary sources first: {COMMAND} mine FOLDER. Windows "
            "are found on the works of the library alone, and where a data set was split, what was left out is not "
            "exported."
        )


class _Sentences:
    """The words of a work's sentences, white space single, and where they stand."""

    def __init__(self, stored: StoredText) -> None:
        self._text = stored.text
        self._starts, self._ends = stored.sentence_starts, stored.sentence_ends

    def words(self, first: int = 0, end: int | None = None) -> tuple[str, ...]:
        """Give the sentences ``first:end``."""
        places = zip(self._starts[first:end], self._ends[first:end], strict=True)
        return tuple(" ".join(self._text[start:stop].split()) for start, stop in places)

    def place(self, first: int, end: int) -> Offsets:
        """Give the offsets of the sentences ``first:end`` in the text."""
        return int(self._starts[first]), int(self._ends[end - 1])


def _titles(works: Sequence[QuotedEdition]) -> dict[str, str]:
    titles: dict[str, str] = {}
    for named in (lambda work: work.title, lambda work: f"{work.title} ({work.author})"):
        left = [work for work in works if work.id not in titles]
        often = Counter(named(work) for work in left)
        titles |= {work.id: named(work) for work in left if often[named(work)] == 1}
    return titles | {work.id: f"{work.title} ({work.id})" for work in works if work.id not in titles}


def _form(request: ExportRequest) -> Form:
    by_name = _SUFFIXES.get(request.out.suffix.lower())
    if not request.form:
        if by_name:
            return by_name
        if request.kind == "dataset" and not request.out.suffix:
            return "datasets"
        raise BadRequest(
            f"'{request.out.name}' does not say in which form {request.kind} are wanted. Let it end in "
            f"{' or '.join(_SUFFIXES)}, or name one with --format: {', '.join(FORMS)}."
        )
    for form in FORMS:
        if form == request.form:
            if form not in _IN_FOLDERS and by_name != form:
                raise BadRequest(f"'{request.out.name}' is to be of the form {form}; let its name end in .{form}.")
            if form in _IN_FOLDERS and by_name:
                raise BadRequest(
                    f"The form {form} is a folder, and '{request.out.name}' is the name of a file. Leave the end off."
                )
            return form
    raise unknown_name("form of export", request.form, FORMS)


def _refuse_impossible(request: ExportRequest, form: Form) -> None:
    in_folder = form in _IN_FOLDERS
    if form == "relic" and request.kind != "windows":
        raise BadRequest(
            "RELiC's form holds quotations of known works, and of a pair the work is not known. Export windows, or "
            "choose another form."
        )
    if request.kind == "dataset" and not in_folder:
        raise BadRequest(
            "A data set is a folder. Choose the form datasets, or export pairs and windows one after the other."
        )
    if request.places and in_folder:
        raise BadRequest(
            f"The form {form} has to have the words. Offsets without them are written as "
            f"{' or '.join(_SUFFIXES.values())}."
        )
    if request.split == "left out" and in_folder:
        raise BadRequest(
            f"The form {form} has no place for what was left out. Export that as jsonl or parquet, to look at it."
        )
    if request.work and request.kind == "pairs":
        raise BadRequest("Of a pair the quoted work is not known. Export windows, or leave the work off.")
