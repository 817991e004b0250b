"""A folder of pairs and windows as Hugging Face's `datasets` reads it: a data card and shards of Parquet.

The layout is that of a repository of data sets (huggingface.co/docs/datasets/repository_structure): ``README.md`` with
a head in YAML that names the configurations ``pairs`` and ``windows`` and the files of each split, and
``data/<configuration>/<split>-00000-of-00002.parquet``. ``load_dataset(folder, "windows")`` reads it; so does anything
that reads Parquet, each shard saying by itself what made it (`pair_files`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from pathlib import Path
from typing import Literal, TypeVar

from relic_core.domain.grouping import grouped
from relic_core.errors import BadBenchmark
from relic_core.formats.files import write_whole, written_folder
from relic_core.formats.pair_files import PARQUET, FileHeader, PairRow, WindowRow, write_pairs, write_windows

Configuration = Literal["pairs", "windows"]

SPLIT_NAMES = {"training": "train", "dev": "validation", "test": "test"}
"""Our splits -> what `datasets` and its users call them."""

_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
_LARGEST = "10M<n<100M"

_UNSAID = "not stated"


@dataclass(slots=True)
class Counted:
    """What was written of one configuration.

    - `kinds`, `sources`: (split, kind) and (split, id of the source) -> rows.
    - `lengths`, `works`, `evidence`: (split, sentences of the gold), (split, id of the work), (split, type of evidence)
      -> rows; none for pairs.
    """

    splits: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    sources: Counter[tuple[str, str]] = field(default_factory=Counter)
    lengths: Counter[tuple[str, int]] = field(default_factory=Counter)
    works: Counter[tuple[str, str]] = field(default_factory=Counter)
    evidence: Counter[tuple[str, str]] = field(default_factory=Counter)


def write_card(
    head: FileHeader, counted: Mapping[Configuration, Counted], *, words: str, left_out: Mapping[str, int]
) -> str:
    """Write a card.

    - `words`: what the rows do not say, in Markdown: a title, then sections. What is counted stands behind its first
      section.
    """
    title, _, rest = words.strip().partition("\n")
    name = title.lstrip("# ")
    summary, heading, rest = rest.strip().partition("\n## ")
    sections = (
        f"# {name}",
        summary.strip(),
        "## What is in it",
        _rows(counted),
        "### How the quotations are set",
        _split_table("set as", counted, lambda each: each.kinds),
        *_windows(head, counted["windows"]),
        f"{heading.strip()} {rest}".strip(),
        "## What was left out",
        _table(("why", "how many"), sorted(left_out.items())) if left_out else "Nothing was left out.",
        "## What made it",
        _table(("what", "which"), sorted(head.made.items())),
        "## Columns",
        _COLUMNS,
        "## Sources and their licences",
        _sources(head, counted),
    )
    return f"{_front(counted, name)}\n" + "\n\n".join(sections) + "\n"


def licences_of(head: FileHeader) -> str:
    """Write what may be done with the sources, of which the rows are parts."""
    stated = grouped(head.sources, lambda source: source.licence or _UNSAID)
    groups = []
    for licence, of in sorted(stated.items()):
        titles = (f"- {_cell(source.title)}" for source in of)
        groups.append("\n".join((f"## {_cell(licence)}\n", *titles)))
    return (
        "# Licences\n\nThe passages are parts of the texts below, and each stays under what was stated for its text "
        "when that was mined. Look there before you pass the data on.\n\n" + "\n\n".join(groups) + "\n"
    )


_COLUMNS = """\
Both configurations: `id`; `split` (training, dev, test); `source` (its id); `kind` (inline, block, verse); `left` and
`right`, up to four sentences before and after the quotation, cleaned; `quotation`; where it is in the text of the
source, in characters, half-open: `quotation_start`, `quotation_end`; where the whole passage is there:
`passage_start`, `passage_end`.

Windows besides: `work` (its id); `gold_start` and `gold_length`, the sentences quoted, counted from 0 in the work;
`sentences`, their words; `work_start`, `work_end`, where they are in the work's text; `lit` and `lit_in_work`, the
stretches that agree, in the quotation and in the work's text; `score`, how alike they are, 0 to 100; `match` and
`evidence`, what readers judged, empty where nobody did."""


def _front(counted: Mapping[Configuration, Counted], name: str) -> str:
    rows = sum(sum(each.splits.values()) for each in counted.values())
    lines = [
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        "license: other",
        "license_name: as-of-each-source",
        "license_link: LICENSE.md",
        "language:",
        "- en",
        "size_categories:",
        f"- {next((size for most, size in _SIZES if rows < most), _LARGEST)}",
        "task_categories:",
        "- text-retrieval",
        "annotations_creators:",
        "- machine-generated",
        "tags:",
        "- literature",
        "- literary-criticism",
        "- quotations",
        "configs:",
    ]
    for kind, each in counted.items():
        if each.splits:
            lines += [f"- config_name: {kind}", "  data_files:"]
            for split in SPLIT_NAMES.values():
                if each.splits[split]:
                    lines += [f"  - split: {split}", f"    path: data/{kind}/{split}-*.parquet"]
    return "\n".join(("---", *lines, "---"))


def _rows(counted: Mapping[Configuration, Counted]) -> str:
    names = tuple(SPLIT_NAMES.values())
    return _table(
        ("", *names, "all"),
        [(name, *(each.splits[split] for split in names), sum(each.splits.values())) for name, each in counted.items()],
    )


def _split_table(
    head: str, counted: Mapping[Configuration, Counted], of: Callable[[Counted], Counter[tuple[str, str]]]
) -> str:
    names = tuple(SPLIT_NAMES.values())
    keys = sorted({key for _, key in chain.from_iterable(map(of, counted.values()))})
    columns = list(product(counted, names))
    return _table(
        (head, *(f"{name}, {split}" for name, split in columns)),
        [(key, *(of(counted[name])[split, key] for name, split in columns)) for key in keys],
    )


def _windows(head: FileHeader, windows: Counted) -> list[str]:
    if not windows.splits:
        return []
    names = tuple(SPLIT_NAMES.values())
    lengths = sorted({length for _, length in windows.lengths})
    works = [work for work in head.works if any(windows.works[split, work.id] for split in names)]
    sections = [
        "### Windows by the sentences quoted",
        _table(("sentences", *names), [(str(n), *(windows.lengths[split, n] for split in names)) for n in lengths]),
        "### Windows by work",
        _table(
            ("work", "author", "year", "text (sha256)", "sentences cut by", *names),
            [
                (
                    work.title, work.author, str(work.year or ""), work.sha256, work.segmenter,
                    *(windows.works[split, work.id] for split in names),
                )
                for work in sorted(works, key=lambda work: (work.title.casefold(), work.id))
            ],
        ),
    ]  # fmt: skip
    if windows.evidence:
        sections += [
            "### Windows by evidence, where readers judged it",
            _split_table("evidence", {"windows": windows}, lambda each: each.evidence),
        ]
    return sections


def _sources(head: FileHeader, counted: Mapping[Configuration, Counted]) -> str:
    totals: dict[str, Counter[str]] = {name: Counter() for name in counted}
    for name, each in counted.items():
        for (_, source_id), rows in each.sources.items():
            totals[name][source_id] += rows
    return _table(
        ("source", "author", "Project Gutenberg", "licence", "text (sha256)", *counted),
        [
            (
                source.title, source.author, str(source.number or ""), source.licence or _UNSAID, source.sha256,
                *(totals[name][source.id] for name in counted),
            )
            for source in sorted(head.sources, key=lambda source: (source.title.casefold(), source.id))
        ],
    )  # fmt: skip


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Set a table in Markdown, numbers to the right.

    >>> print(_table(("", "n"), [("a|b", 1200)]))
    |  | n |
    | --- | ---: |
    | a\|b | 1,200 |
    """
    right = [bool(rows) and all(isinstance(row[column], int) for row in rows) for column in range(len(heads))]
    lines = [heads, ["---:" if each else "---" for each in right], *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    """Set a value so that it stays in its cell and is shown as it is, whatever a title holds."""
    if isinstance(value, int):
        return f"{value:,}"
    words = " ".join(str(value).split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{letter}" if letter in "|[]`*_" else letter for letter in words)


MARKER = "relic.json"

SHARD_ROWS = 50_000
"""Rows of a file: some 50 MB of text."""

_SHARDS = "{split}-{number:05d}-of-{count:05d}" + PARQUET

R = TypeVar("R", PairRow, WindowRow)


def write_folder(
    folder: Path,
    head: FileHeader,
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

    Raises BadBenchmark: there is no row at all, or a row cannot be written (`pair_files.write_pairs`).
    """
    made: dict[Configuration, Counted] = {"pairs": Counted(), "windows": Counted()}
    with written_folder(folder, MARKER) as half:
        data = half / "data"
        data.mkdir()
        for split, name in SPLIT_NAMES.items():
            _write_split(
                data / "pairs", name, _counted(pairs.get(split, ()), made["pairs"], name),
                lambda path, rows: write_pairs(path, head, rows),
            )  # fmt: skip
            _write_split(
                data / "windows", name, _counted(windows.get(split, ()), made["windows"], name),
                lambda path, rows: write_windows(path, head, rows),
            )  # fmt: skip
        if not any(counted.splits for counted in made.values()):
            raise BadBenchmark(f"{folder}: there is no pair and no window to write.")
        splits = {name: dict(counted.splits) for name, counted in made.items()}
        facts = json.dumps({"made": dict(head.made), "rows": splits}, ensure_ascii=False, indent=1, sort_keys=True)
        for name, text in (
            ("README.md", write_card(head, made, words=words, left_out=left_out)),
            ("LICENSE.md", licences_of(head)),
            (MARKER, f"{facts}\n"),
        ):
            write_whole(half / name, text)
    return made


def _write_split(folder: Path, split: str, rows: Iterator[R], write: Callable[[Path, Iterable[R]], int]) -> None:
    shards: list[Path] = []
    while head := list(islice(rows, 1)):
        folder.mkdir(exist_ok=True)
        shards.append(folder / f"{len(shards)}{PARQUET}")
        write(shards[-1], chain(head, islice(rows, SHARD_ROWS - 1)))
    for number, shard in enumerate(shards):
        shard.rename(folder / _SHARDS.format(split=split, number=number, count=len(shards)))


def _counted(rows: Iterable[R], counted: Counted, split: str) -> Iterator[R]:
    for row in rows:
        passage = row.window if isinstance(row, WindowRow) else row.pair
        counted.splits[split] += 1
        counted.kinds[split, passage.kind] += 1
        counted.sources[split, passage.source_id] += 1
        if isinstance(row, WindowRow):
            counted.lengths[split, row.window.gold.length] += 1
            counted.works[split, row.window.work_id] += 1
            if row.evidence:
                counted.evidence[split, row.evidence] += 1
        yield row
