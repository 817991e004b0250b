"""Where windows are in their sources and in the works they quote, and hashes of their words: no text.

Who has the sources can cut every window out of them again, to the letter, and prove it by the hashes.

Offsets into a source count characters from the beginning of its body: what stands between the header and the footer of
Project Gutenberg, white space at both ends left out. So a new header moves nothing.

A manifest is two files: ``manifest.json`` lists sources and works with the hashes of their texts, how the windows were
chosen, and how many there are; ``windows.parquet`` has a row for each window. The same manifest makes the same bytes.
The words, once they are cut out on a machine, are a third file, which may not be passed on where the sources may not;
its metadata name the digest of the manifest it was cut by.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from relic_core.domain import MinedWindow, Offsets
from relic_core.errors import BadBenchmark
from relic_core.formats import parquet_tables
from relic_core.formats.files import Count, Strict, as_string, checked, parse, read_text, write_whole
from relic_core.text.layout import licence

Pieces = tuple[Offsets, ...]
"""Stretches of a body that make one sentence: joined, with each run of white space as one space, none at the
ends."""

Part = Literal["dev", "test"]


@dataclass(frozen=True, slots=True)
class WindowSet:
    """What a benchmark is made of; `capped`: no source has more than a share of a work's windows; no works: all."""

    split: Part
    capped: bool = True
    works: tuple[str, ...] = ()


SETS: Mapping[str, WindowSet] = {
    "dev": WindowSet("dev"),
    "test": WindowSet("test"),
    "dev-all": WindowSet("dev", capped=False),
    "test-all": WindowSet("test", capped=False),
    "dev-short": WindowSet(
        "dev", works=("adam_bede", "great_expectations", "jane_eyre", "the_scarlet_letter", "wuthering_heights")
    ),
}
"""The sets that benchmarks are made of. The short one is of novels by five authors that are read in some minutes, to
choose among many trainings by."""


class ListedSource(Strict):
    """A source, as far as finding it again needs; `sha256` and `body` are digests of its text and of its body."""

    title: str
    author: str
    number: Count
    sha256: str
    body: str
    licence: str
    origin: str


class ListedWork(Strict):
    """A quoted work: its slug in the catalogue, its title, and the sha256 of the text that offsets belong to."""

    slug: str
    title: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWindow:
    """Where a window stands.

    - `capped`: whether it is in the version in which no source has more than a quarter of a work's windows.
    - `gold`: the sentences quoted, 1 to 5: offsets into the work's text.
    """

    id: str
    source: int
    work: str
    split: Part
    capped: bool
    kind: str
    left: tuple[Pieces, ...]
    quotation: Pieces
    right: tuple[Pieces, ...]
    gold: Offsets
    length: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Windows, which name sources by index and works by slug, with all that finding them again needs."""

    sources: tuple[ListedSource, ...]
    works: tuple[ListedWork, ...]
    windows: tuple[ListedWindow, ...] = field(repr=False)
    about: Mapping[str, str] = field(hash=False, repr=False)

    def chosen(self, of: WindowSet) -> tuple[ListedWindow, ...]:
        """List the windows of a benchmark, in order."""
        return tuple(
            window
            for window in self.windows
            if window.split == of.split
            and (window.capped or not of.capped)
            and (window.work in of.works or not of.works)
        )


def body_of(text: str) -> Offsets:
    r"""Find the body of a source's decoded text.

    >>> text = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nOn Ferries.\n\n*** END OF THE PROJECT GUTENBERG EBOOK"
    >>> text[slice(*body_of(text))]
    'On Ferries.'
    """
    start, end = licence(text)
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))


def cut(body: str, pieces: Pieces, *, shift: int = 0) -> str:
    r"""Cut a sentence out of a body.

    >>> cut("He wrote: “It\nrained.”", ((11, 14), (14, 21)))
    'It rained.'
    """
    return " ".join("".join(body[max(0, start + shift) : max(0, end + shift)] for start, end in pieces).split())


def sha256_of(text: WindowText | MinedWindow) -> str:
    """Hash the words of a window: white space single, each sentence on a line, empty lines around the quotation."""
    sides = []
    for side in (text.left, [text.quotation], text.right):
        sentences = (" ".join(sentence.split()) for sentence in side)
        sides.append("\n".join(sentences))
    return hashlib.sha256("\n\n".join(sides).encode()).hexdigest()


def digest_of(windows: Iterable[ListedWindow], manifest: Manifest) -> str:
    """Hash some windows of a manifest with the texts they are in: what a benchmark's card is held to."""
    digest = hashlib.sha256()
    works = {work.slug: work.sha256 for work in manifest.works}
    for window in windows:
        row = {**row_of(window), "source": manifest.sources[window.source].body, "text": works[window.work]}
        digest.update(json.dumps(row, sort_keys=True).encode())
    return digest.hexdigest()


class SetFacts(Strict):
    """How many windows and works a set has, and the hash of all that decides it."""

    examples: Count
    books: Count
    digest: str


def sets_of(manifest: Manifest) -> dict[str, SetFacts]:
    """Count the sets of a manifest."""
    found = {}
    for name, each in SETS.items():
        windows = manifest.chosen(each)
        books = len({window.work for window in windows})
        found[name] = SetFacts(examples=len(windows), books=books, digest=digest_of(windows, manifest))
    return found


def row_of(window: ListedWindow) -> dict[str, Any]:
    """Give a window as a row of the table."""
    return {
        **{name: getattr(window, name) for name in ("id", "source", "work", "split", "kind", "sha256")},
        "capped": int(window.capped),
        "left": [_written(pieces) for pieces in window.left],
        "quotation": _written(window.quotation),
        "right": [_written(pieces) for pieces in window.right],
        "gold_start": window.gold[0],
        "gold_end": window.gold[1],
        "gold_length": window.length,
    }


def _written(pieces: Pieces) -> str:
    return " ".join(f"{start}-{end}" for start, end in pieces)


FORMAT = "relic window manifest/1"
FACTS, ROWS = "manifest.json", "windows.parquet"

_PIECES = re.compile(r"\d{1,10}-\d{1,10}(?: \d{1,10}-\d{1,10})*")
_COLUMNS = {
    "id": "text",
    "source": "number",
    "work": "text",
    "split": "text",
    "capped": "number",
    "kind": "text",
    "left": "texts",
    "quotation": "text",
    "right": "texts",
    "gold_start": "number",
    "gold_end": "number",
    "gold_length": "number",
    "sha256": "text",
}


def read_sets(folder: Path) -> dict[str, SetFacts]:
    """Read what a manifest says of its sets, without its windows."""
    return _facts(folder / FACTS).sets


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write both files."""
    digest = digest_of(manifest.windows, manifest)
    facts = {
        "format": FORMAT,
        "about": dict(manifest.about),
        "windows": len(manifest.windows),
        "digest": digest,
        "sets": {name: each.model_dump() for name, each in sets_of(manifest).items()},
        "sources": [source.model_dump() for source in manifest.sources],
        "works": [work.model_dump() for work in manifest.works],
    }
    parquet_tables.write(
        folder / ROWS, FORMAT, {"digest": digest}, _COLUMNS, [[row_of(window) for window in manifest.windows]]
    )
    write_whole(folder / FACTS, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Read both files and check them against each other."""
    path = folder / FACTS
    facts = _facts(path)
    _, batches = parquet_tables.read(folder / ROWS, FORMAT, ("digest",), _COLUMNS)
    rows = chain.from_iterable(batches)
    manifest = Manifest(
        sources=tuple(facts.sources),
        works=tuple(facts.works),
        windows=tuple(_window(row, f"{folder / ROWS}: window '{row['id']:.80}'") for row in rows),
        about=facts.about,
    )
    try:
        whole = facts.digest == digest_of(manifest.windows, manifest) and facts.sets == sets_of(manifest)
    except LookupError:  # a window is of a work or a source that is not listed
        whole = False
    if not whole:
        raise BadBenchmark(f"{path} and {folder / ROWS} are not of one manifest. Get both again.")
    return manifest


class _Facts(Strict):
    format: str
    about: dict[str, str]
    windows: Count
    digest: str
    sets: dict[str, SetFacts]
    sources: list[ListedSource]
    works: list[ListedWork]


def _facts(path: Path) -> _Facts:
    facts = checked(_Facts, parse(read_text(path), str(path)), str(path))
    if facts.format != FORMAT or facts.sets.keys() != SETS.keys():
        raise BadBenchmark(
            f"{path} is of the format '{facts.format:.60}', and '{FORMAT}' is wanted, with all its sets."
        )
    return facts


def _window(row: dict[str, Any], here: str) -> ListedWindow:
    return ListedWindow(
        **{name: row[name] for name in ("id", "source", "work", "split", "kind", "sha256")},
        capped=bool(row["capped"]),
        left=tuple(_pieces(pieces, here) for pieces in row["left"]),
        quotation=_pieces(row["quotation"], here),
        right=tuple(_pieces(pieces, here) for pieces in row["right"]),
        gold=(row["gold_start"], row["gold_end"]),
        length=row["gold_length"],
    )


def _pieces(pieces: str, here: str) -> Pieces:
    if not _PIECES.fullmatch(pieces):
        raise BadBenchmark(f"{here} has '{pieces:.40}' where stretches of a text are wanted: '120-180 181-200'.")
    parted = (piece.partition("-") for piece in pieces.split(" "))
    return tuple((int(start), int(end)) for start, _, end in parted)


TEXTS_FORMAT = "relic window texts/1"

_TEXT_COLUMNS = {"id": "text", "left": "texts", "quotation": "text", "right": "texts"}


@dataclass(frozen=True, slots=True)
class WindowText:
    """The words of a window: its sentences before the quotation, the quotation as the source has it, those after."""

    left: tuple[str, ...]
    quotation: str
    right: tuple[str, ...]


def write_texts(path: Path, texts: Iterable[tuple[str, WindowText]], digest: str) -> int:
    """Write the words of windows by their ids, and count them."""
    rows = [
        {"id": name, "left": list(text.left), "quotation": text.quotation, "right": list(text.right)}
        for name, text in texts
    ]
    return parquet_tables.write(path, TEXTS_FORMAT, {"manifest": digest}, _TEXT_COLUMNS, [rows])


def read_texts(path: Path) -> tuple[dict[str, WindowText], str]:
    """Read the words of windows, and the digest of their manifest."""
    head, batches = parquet_tables.read(path, TEXTS_FORMAT, ("manifest",), _TEXT_COLUMNS)
    texts: dict[str, WindowText] = {}
    for batch in batches:
        for row in batch:
            if row["id"] in texts:
                raise BadBenchmark(f"{path}: window '{row['id']:.80}' occurs twice.")
            texts[row["id"]] = WindowText(tuple(row["left"]), row["quotation"], tuple(row["right"]))
    return texts, as_string(head["manifest"], f"{path}: the metadata, 'manifest'")
