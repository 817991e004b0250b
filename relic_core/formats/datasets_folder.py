"""A folder of pairs and windows as Hugging Face's `datasets` reads it: a data card and shards of Parquet.

The layout is that of a repository of data sets (huggingface.co/docs/datasets/repository_structure): ``README.md`` with
a head in YAML that names the configurations ``pairs`` and ``windows`` and the files of each split, and
``data/<configuration>/<split>-00000-of-00002.parquet``. ``load_dataset(folder, "windows")`` reads it; so does anything
that reads Parquet, each shard saying by itself what made it (`pair_files`).
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from relic_core.errors import BadBenchmark
from relic_core.formats import data_card
from relic_core.formats.data_card import SPLIT_NAMES, Counted
from relic_core.formats.files import written_whole
from relic_core.formats.folders import written_folder
from relic_core.formats.pair_files import PARQUET, write_pairs, write_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from relic_core.formats.data_card import Configuration
    from relic_core.formats.pair_files import Head, PairRow, WindowRow

MARKER = "relic.json"
"""A file that tells such a folder: what made it, and what its card counts."""

SHARD_ROWS = 50_000
"""Rows of a file: some 50 MB of text."""

_SHARDS = "{split}-{number:05d}-of-{count:05d}" + PARQUET

R = TypeVar("R")


def write_folder(
    folder: Path,
    head: Head,
    *,
    pairs: Mapping[str, Iterable[PairRow]],
    windows: Mapping[str, Iterable[WindowRow]],
    words: str,
    left_out: Mapping[str, int],
) -> dict[Configuration, Counted]:
    """Write a folder, whole or not at all; the same rows make the same bytes.

    - `folder`: one that is there is replaced if it is empty or was written by this function.
    - `head`: what made the rows, and the sources and works that they name.
    - `pairs`, `windows`: one of ``training``, ``dev``, ``test`` -> its rows, taken as they are written. A split without
      rows has no file.
    - `words`, `left_out`: what the data card says that the rows do not (`data_card.write`).

    Raises BadRequest: there is something else under that name.
    Raises BadBenchmark: there is no row at all, or a row cannot be written (`pair_files.write_pairs`).
    Raises StoreError: the folder cannot be written.
    """
    made: dict[Configuration, Counted] = {"pairs": Counted(), "windows": Counted()}
    with written_folder(folder, MARKER) as half:
        data = half / "data"
        data.mkdir()
        for split, name in SPLIT_NAMES.items():
            _write_split(
                data / "pairs", name, _counted_pairs(pairs.get(split, ()), made["pairs"], name),
                lambda path, rows: write_pairs(path, head, rows),
            )  # fmt: skip
            _write_split(
                data / "windows", name, _counted_windows(windows.get(split, ()), made["windows"], name),
                lambda path, rows: write_windows(path, head, rows),
            )  # fmt: skip
        if not any(counted.splits for counted in made.values()):
            raise BadBenchmark(f"{folder}: there is no pair and no window to write.")
        splits = {name: dict(counted.splits) for name, counted in made.items()}
        facts = json.dumps({"made": dict(head.made), "rows": splits}, ensure_ascii=False, indent=1, sort_keys=True)
        for name, text in (
            ("README.md", data_card.write(head, made, words=words, left_out=left_out)),
            ("LICENSE.md", data_card.licences(head)),
            (MARKER, f"{facts}\n"),
        ):
            with written_whole(half / name) as file:
                file.write(text.encode())
    return made


def _write_split(folder: Path, split: str, rows: Iterator[R], write: Callable[[Path, Iterable[R]], int]) -> None:
    """Write rows into as many files as they need, whose names say how many there are."""
    shards: list[Path] = []
    while head := list(islice(rows, 1)):
        folder.mkdir(exist_ok=True)
        shards.append(folder / f"{len(shards)}{PARQUET}")
        write(shards[-1], _from(head, islice(rows, SHARD_ROWS - 1)))
    for number, shard in enumerate(shards):
        shard.rename(folder / _SHARDS.format(split=split, number=number, count=len(shards)))


def _from(first: list[R], rest: Iterator[R]) -> Iterator[R]:
    yield from first
    yield from rest


def _counted_pairs(rows: Iterable[PairRow], counted: Counted, split: str) -> Iterator[PairRow]:
    for row in rows:
        counted.splits[split] += 1
        counted.kinds[split, row.pair.kind] += 1
        counted.sources[split, row.pair.source_id] += 1
        yield row


def _counted_windows(rows: Iterable[WindowRow], counted: Counted, split: str) -> Iterator[WindowRow]:
    for row in rows:
        window = row.window
        counted.splits[split] += 1
        counted.kinds[split, window.kind] += 1
        counted.sources[split, window.source_id] += 1
        counted.lengths[split, window.gold.length] += 1
        counted.works[split, window.work_id] += 1
        if row.evidence:
            counted.evidence[split, row.evidence] += 1
        yield row
