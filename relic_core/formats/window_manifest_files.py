"""The two files of a manifest of windows.

``manifest.json`` lists sources and works with the hashes of their texts, how the windows were chosen, and how many
there are. ``windows.parquet`` has a row for each window. The same manifest makes the same bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

from relic_core.domain import MAX_CONTEXT, MAX_LENGTH
from relic_core.errors import BadBenchmark
from relic_core.formats import parquet_tables
from relic_core.formats.files import as_object, as_string, kind_of, parse, read_text, written_whole
from relic_core.formats.window_manifest import (
    SETS,
    ListedSource,
    ListedWindow,
    ListedWork,
    Manifest,
    SetFacts,
    digest_of,
    row_of,
    sets_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from relic_core.formats.window_manifest import Pieces

T = TypeVar("T")

FORMAT = "relic window manifest/1"
FACTS, ROWS = "manifest.json", "windows.parquet"

_HEX = re.compile(r"[0-9a-f]{64}")
_PIECES = re.compile(r"\d{1,10}-\d{1,10}(?: \d{1,10}-\d{1,10})*")
_COLUMNS = {
    "id": ("text", False),
    "source": ("number", False),
    "work": ("text", False),
    "split": ("text", False),
    "capped": ("number", False),
    "kind": ("text", False),
    "left": ("texts", False),
    "quotation": ("text", False),
    "right": ("texts", False),
    "gold_start": ("number", False),
    "gold_end": ("number", False),
    "gold_length": ("number", False),
    "sha256": ("text", False),
}


def read_sets(folder: Path) -> dict[str, SetFacts]:
    """Read what a manifest says of its sets, without its windows.

    Raises NotFound: there is no manifest.
    Raises BadBenchmark: it is damaged.
    """
    path = folder / FACTS
    said = as_object(_facts(path)["sets"], f"{path}: 'sets'", tuple(SETS))
    return {name: _record(SetFacts, each, f"{path}: the set '{name}'") for name, each in said.items()}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write both files.

    Raises BadBenchmark: it would not be read again.
    Raises StoreError: the folder cannot be written.
    """
    _check(str(folder), manifest)
    digest = digest_of(manifest.windows, manifest)
    facts = {
        "format": FORMAT,
        "about": dict(manifest.about),
        "windows": len(manifest.windows),
        "digest": digest,
        "sets": {name: asdict(each) for name, each in sets_of(manifest).items()},
        "sources": [asdict(source) for source in manifest.sources],
        "works": [asdict(work) for work in manifest.works],
    }
    parquet_tables.write(
        folder / ROWS, FORMAT, {"digest": digest}, _COLUMNS, [[row_of(window) for window in manifest.windows]]
    )
    with written_whole(folder / FACTS) as file:
        file.write((json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode())


def read_manifest(folder: Path) -> Manifest:
    """Read both files and check them against each other.

    Raises NotFound: one of them is not there.
    Raises BadBenchmark: one is damaged, or they are not of one manifest.
    """
    path = folder / FACTS
    facts = _facts(path)
    _, batches = parquet_tables.read(folder / ROWS, FORMAT, ("digest",), _COLUMNS)
    rows = [row for batch in batches for row in batch]
    manifest = Manifest(
        sources=tuple(_record(ListedSource, each, f"{path}: a source") for each in _list(facts, "sources", path)),
        works=tuple(_record(ListedWork, each, f"{path}: a work") for each in _list(facts, "works", path)),
        windows=tuple(_window(row, f"{folder / ROWS}: window '{row['id']:.80}'") for row in rows),
        about={key: str(said) for key, said in as_object(facts["about"], f"{path}: 'about'").items()},
    )
    _check(str(folder), manifest)
    if facts["digest"] != digest_of(manifest.windows, manifest) or read_sets(folder) != sets_of(manifest):
        raise BadBenchmark(f"{path} and {folder / ROWS} are not of one manifest. Get both again.")
    return manifest


def _facts(path: Path) -> dict[str, object]:
    keys = ("format", "about", "windows", "digest", "sets", "sources", "works")
    facts = as_object(parse(read_text(path), str(path)), str(path), keys)
    if facts["format"] != FORMAT:
        raise BadBenchmark(f"{path} is of the format '{facts['format']!s:.60}', and '{FORMAT}' is wanted.")
    return facts


def _window(row: dict[str, Any], here: str) -> ListedWindow:
    return ListedWindow(
        **{name: row[name] for name in ("id", "source", "work", "split", "kind", "sha256")},
        capped=bool(row["capped"]),
        left=tuple(_pieces(said, here) for said in row["left"]),
        quotation=_pieces(row["quotation"], here),
        right=tuple(_pieces(said, here) for said in row["right"]),
        gold=(row["gold_start"], row["gold_end"]),
        length=row["gold_length"],
    )


def _pieces(said: str, here: str) -> Pieces:
    if not _PIECES.fullmatch(said):
        raise BadBenchmark(f"{here} has '{said:.40}' where stretches of a text are wanted: '120-180 181-200'.")
    return tuple((int(start), int(end)) for start, _, end in (piece.partition("-") for piece in said.split(" ")))


def _list(facts: Mapping[str, object], key: str, path: Path) -> list[object]:
    said = facts[key]
    if not isinstance(said, list):
        raise BadBenchmark(f"{path}: '{key}' must be a list, and is {kind_of(said)}.")
    return said


def _record(made: type[T], said: object, here: str) -> T:
    """Make a record of strings and numbers of an object that has exactly its fields."""
    names = [each.name for each in fields(made)]  # type: ignore[arg-type]  # a dataclass
    values = as_object(said, here, names)
    for name, value in values.items():
        if name not in {"number", "examples", "books"}:
            as_string(value, f"{here}: '{name}'", empty=True)
        elif type(value) is not int or value < 0:
            raise BadBenchmark(f"{here}: '{name}' must be a whole number, 0 or more, and is {kind_of(value)}.")
    return made(**values)


def _check(here: str, manifest: Manifest) -> None:
    works = {work.slug for work in manifest.works}
    hashes = [work.sha256 for work in manifest.works]
    hashes += [said for source in manifest.sources for said in (source.sha256, source.body)]
    if len(works) < len(manifest.works) or not all(map(_HEX.fullmatch, hashes)):
        raise BadBenchmark(f"{here}: a work is listed twice, or a hash is not 64 hex digits.")
    seen: set[str] = set()
    for window in manifest.windows:
        there = f"{here}: window '{window.id:.80}'"
        if window.id in seen:
            raise BadBenchmark(f"{there} occurs twice.")
        seen.add(window.id)
        if window.work not in works or not 0 <= window.source < len(manifest.sources):
            raise BadBenchmark(f"{there} is of a work or source that is not listed.")
        if window.split not in {"dev", "test"} or not 1 <= window.length <= MAX_LENGTH:
            raise BadBenchmark(f"{there} has the split '{window.split:.20}' and {window.length} sentences.")
        if max(len(window.left), len(window.right)) > MAX_CONTEXT or not (window.left or window.right):
            raise BadBenchmark(f"{there} has no context, or more than {MAX_CONTEXT} sentences on a side.")
        if not 0 <= window.gold[0] < window.gold[1] or not _HEX.fullmatch(window.sha256):
            raise BadBenchmark(f"{there} has a quotation of no length, or a hash that is not 64 hex digits.")
