"""Rebuilding the public-domain RELiC: its words, cut out of the sources again and held against their hashes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relic_core.config import Settings
from relic_core.errors import JobCancelled, RelicError, SourceAway, StoreReadOnly
from relic_core.evaluation.benchmarks import public_relic
from relic_core.formats.window_manifest import (
    ListedSource,
    ListedWindow,
    Manifest,
    WindowText,
    body_of,
    digest_of,
    read_manifest,
    read_texts,
    sha256_of,
    write_texts,
)
from relic_core.library.gutenberg import Gutenberg
from relic_core.library.secondary import read_sources, text_of
from relic_core.mining.manifest import find_text
from relic_core.ports import Progress, silent

_AWAY = 2
"""Sources for which a mirror may fail to answer before it is asked no more."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A source of which not all windows could be rebuilt."""

    title: str
    number: int
    windows: int
    of: int
    why: str

    def __str__(self) -> str:
        number = f" (Project Gutenberg {self.number})" if self.number else ""
        return f"{self.title}{number}: {self.windows:,} of {self.of:,} windows are missing. {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildSummary:
    """What rebuilding came to."""

    path: Path
    windows: int
    of: int
    lacking: tuple[Lacking, ...] = ()

    def __str__(self) -> str:
        return "\n".join((f"{self.windows:,} of {self.of:,} quotations are here.", *map(str, self.lacking)))


def rebuild(
    settings: Settings,
    gutenberg: Gutenberg,
    paths: Sequence[Path] = (),
    *,
    offline: bool = False,
    progress: Progress = silent,
) -> RebuildSummary:
    """Cut the windows of the manifest that ships with the program out of their sources again.

    Raises NotFound: there is no manifest.
    Raises BadBenchmark: it is damaged.
    Raises StoreReadOnly: the data folder cannot be written.
    """
    manifest = read_manifest(public_relic.MANIFEST)
    path = public_relic.data_file(settings)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(
            f"The folder {path.parent} cannot be made ({error.strerror}). Choose another data folder with RELIC_DATA."
        ) from None
    work = _Rebuilding(manifest, _kept(manifest, path))
    for source, text in read_sources(paths, max_bytes=settings.max_text_bytes):
        for index in work.meant(source.sha256, source.number or 0, text):
            work.take(index, text)
            progress(work.whole, len(manifest.sources), manifest.sources[index].title)
        if not work.open:
            break
    if not offline:
        for index, data in _fetched(gutenberg, work, max_bytes=settings.max_text_bytes, progress=progress):
            work.take(index, data)
    found = [(window.id, work.found[window.id]) for window in manifest.windows if window.id in work.found]
    write_texts(path, found, digest_of(manifest.windows, manifest))
    return RebuildSummary(path=path, windows=len(found), of=len(manifest.windows), lacking=tuple(work.lacking()))


class _Rebuilding:
    """What of a manifest has been found, and what is still looked for."""

    def __init__(self, manifest: Manifest, found: dict[str, WindowText]) -> None:
        self.manifest = manifest
        self.found = found
        self.why: dict[int, str] = {}
        self._of_source: dict[int, list[ListedWindow]] = defaultdict(list)
        for window in manifest.windows:
            self._of_source[window.source].append(window)

    @property
    def open(self) -> tuple[int, ...]:
        """The sources of which windows are missing."""
        return tuple(index for index in self._of_source if self._missing(index))

    @property
    def whole(self) -> int:
        """How many sources are done."""
        return len(self.manifest.sources) - len(self.open)

    def meant(self, sha256: str, number: int, text: str) -> list[int]:
        """Say which of the open sources a text may be: by its hash, its body's hash, or its number."""
        sources = self.manifest.sources
        body = hashlib.sha256(text[slice(*body_of(text))].encode()).hexdigest()
        return [
            index
            for index in self.open
            if sources[index].sha256 == sha256
            or sources[index].body == body
            or (number > 0 and sources[index].number == number)
        ]

    def take(self, index: int, text: str) -> None:
        """Cut the missing windows of a source out of its text, or out of what stands for it."""
        source = self.manifest.sources[index]
        body = text[slice(*body_of(text))]
        same = hashlib.sha256(body.encode()).hexdigest() == source.body
        shift = 0
        for window in self._missing(index):
            located = find_text(body, window, near=shift, **({"reach": 0} if same else {}))
            if located is not None:
                self.found[window.id], shift = located
        if self._missing(index):
            self.why[index] = (
                "Its text is the one that is meant, and these windows are not in it: the manifest is damaged."
                if same
                else "The text that was found is another than the one the manifest was made from (its sha256 is "
                f"{source.sha256}{f', from {source.origin}' if source.origin else ''}), and these passages read "
                "otherwise in it. Find that text, and name it with --from."
            )

    def lacking(self) -> Iterator[Lacking]:
        """List the sources of which windows are missing."""
        for index in self.open:
            source: ListedSource = self.manifest.sources[index]
            why = self.why.get(index, "It is not among the files named, and was not fetched.")
            yield Lacking(source.title, source.number, len(self._missing(index)), len(self._of_source[index]), why)

    def _missing(self, index: int) -> list[ListedWindow]:
        return [window for window in self._of_source[index] if window.id not in self.found]


def _kept(manifest: Manifest, path: Path) -> dict[str, WindowText]:
    if not path.exists():
        return {}
    try:
        earlier: Mapping[str, WindowText] = read_texts(path)[0]
    except RelicError:
        return {}  # damaged: it is written anew
    return {
        window.id: text
        for window in manifest.windows
        if (text := earlier.get(window.id)) is not None and sha256_of(text) == window.sha256
    }


def _fetched(
    gutenberg: Gutenberg, work: _Rebuilding, *, max_bytes: int, progress: Progress
) -> Iterator[tuple[int, str]]:
    """Fetch the sources that are still wanted by their numbers, politely; what fails is reported for that source."""
    total, away = len(work.manifest.sources), 0
    for index in work.open:
        source = work.manifest.sources[index]
        if not source.number:
            continue

        def say(note: str, *, title: str = source.title) -> None:
            progress(work.whole, total, f"{title}: {note}" if note else title)

        say("")
        try:
            book = gutenberg.fetch(source.number, say, offline=away >= _AWAY)
            away = 0
            text = text_of(book.data, name=f"{source.number}.txt", max_bytes=max_bytes)
        except (JobCancelled, StoreReadOnly):
            raise
        except RelicError as error:
            away += isinstance(error, SourceAway)
            if index not in work.why:
                work.why[index] = str(error)
            continue
        yield index, text
