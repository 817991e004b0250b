"""The public-domain RELiC: quotations in criticism of Project Gutenberg, to be found in the works of RELiC.

What ships is a manifest: where each window stands, and hashes. The words are cut out of the sources by ``python -m
relic_core dataset rebuild``, which writes them below the data folder. Every word that is measured on is held against
the manifest when the benchmark is opened.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path

from relic_core.config import ASSETS, Settings
from relic_core.domain import LENGTHS, BenchmarkCard, QuotationContext, Span, Work
from relic_core.errors import BadBenchmark, NotFound
from relic_core.evaluation.benchmarks.opened import Opened, book_of
from relic_core.formats.window_manifest import (
    FACTS,
    SETS,
    ListedWindow,
    Manifest,
    SetFacts,
    WindowText,
    read_manifest,
    read_sets,
    read_texts,
    sha256_of,
)
from relic_core.installed import COMMAND
from relic_core.ports import WorkSource

MANIFEST = ASSETS / "public_relic"
REBUILD = f"{COMMAND} dataset rebuild"

_FOLDER, _FILE = "public_relic", "windows.parquet"
_NAMED = 5
_WORKS = {"dev": "the works of RELiC's training split", "test": "the works of RELiC's validation and test splits"}
_SOME = "five novels of RELiC's training split by five authors, to choose among many trainings by"
_CAPPED = (
    "No source has more than a quarter of a work's windows; which are taken was drawn by a committed seed. A work that "
    "fewer than four sources quote has none here, and all in the version without that limit."
)
_UNCAPPED = (
    "All windows, however many of a work's come from one source: one book of synopses holds most of those on Jane "
    "Austen's novels, so the version with a limit is the one to report first."
)


def data_file(settings: Settings) -> Path:
    """Say where rebuilding writes the words, and opening looks for them: below the data folder."""
    return settings.data / _FOLDER / _FILE


def facts(name: str) -> SetFacts | None:
    """Read what the manifest says of a set; None where no manifest ships."""
    return read_sets(MANIFEST)[name] if (MANIFEST / FACTS).exists() else None


class PublicRelic:
    """One of the benchmarks, a key of `SETS`: a split, with or without the limit on sources, or some works of it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._set = SETS[name]

    @property
    def CARD(self) -> BenchmarkCard:  # noqa: N802 - what the registry asks every benchmark for
        """What it is; counts and checksum are those of the manifest that ships."""
        known = facts(self._name)
        part = ", some works" if self._set.works else "" if self._set.capped else ", all windows"
        return BenchmarkCard(
            name=f"public-relic-{self._name}",
            label=f"Public-domain RELiC, {self._set.split}{part}",
            description="Quotations in older criticism that is free of copyright, on "
            f"{_SOME if self._set.works else _WORKS[self._set.split]}; found by this program's mining, and checked by "
            "hand on a sample only. Quotations of one to five sentences, as in RELiC; longer ones are left out. "
            f"{_CAPPED if self._set.capped else _UNCAPPED}",
            split=self._set.split,
            pool="whole work",
            main_metric="recall@10",
            examples=known.examples if known else None,
            books=known.books if known else None,
            source="Criticism and biography of Project Gutenberg; the works from the reader's library",
            licence="In the public domain in the United States, as Project Gutenberg gives it; elsewhere it may not be",
            citation="RELiC Workbench, the public-domain RELiC; after Thai et al. (2022), RELiC: Retrieving Evidence "
            "for Literary Claims, ACL",
            checksum=known.digest if known else "",
            needs=f"It needs the critical books, which `{REBUILD}` gathers (from a folder you name, or Project "
            "Gutenberg), and the works in the library.",
        )

    def create(self, settings: Settings, works: WorkSource, data: Path | None) -> Opened:
        """Read the rebuilt words, hold them against the manifest, and find the sentences quoted in the works."""
        manifest, chosen, texts = self._read(settings, data)
        found = works.find(list(dict.fromkeys(window.work for window in chosen)))
        self._check_works(manifest, found)
        starts = {slug: [sentence.start for sentence in work.sentences] for slug, work in found.items()}
        windows = [
            _window(window, texts[window.id], _gold(window, found[window.work], starts[window.work]))
            for window in chosen
        ]
        return Opened(self.CARD, windows, books=[book_of(key, work) for key, work in found.items()], works=found)

    def unplaced(self, settings: Settings) -> tuple[QuotationContext, ...]:
        """Read the windows for their claims alone, without the works; with empty golds."""
        _, chosen, texts = self._read(settings, None)
        return tuple(_window(window, texts[window.id], Span(0, 0)) for window in chosen)

    def _read(
        self, settings: Settings, data: Path | None
    ) -> tuple[Manifest, Sequence[ListedWindow], Mapping[str, WindowText]]:
        card = self.CARD
        path = data_file(settings) if data is None else data / _FILE if data.is_dir() else data
        if not path.exists():  # asked first: the manifest takes half a second
            raise NotFound(f"There is no {path}, where the data of {card.label} should be. Make it: {REBUILD}")
        manifest = read_manifest(MANIFEST)
        texts, _ = read_texts(path)
        chosen = manifest.chosen(self._set)
        missing = [window.id for window in chosen if window.id not in texts]
        if missing:
            raise BadBenchmark(
                f"{card.label} has {len(chosen):,} windows, and {path} lacks {len(missing):,} of them "
                f"({_some(missing)}). A figure over the others would be of another set. {REBUILD} says which sources "
                "are wanted."
            )
        changed = [window.id for window in chosen if sha256_of(texts[window.id]) != window.sha256]
        if changed:
            raise BadBenchmark(
                f"{path} holds other words than {card.label} has in {len(changed):,} windows ({_some(changed)}). "
                f"Delete the file and make it anew: {REBUILD}"
            )
        return manifest, chosen, texts

    def _check_works(self, manifest: Manifest, works: Mapping[str, Work]) -> None:
        listed = {work.slug: work for work in manifest.works}
        others = [work.title for slug, work in works.items() if work.sha256 != listed[slug].sha256]
        if others:
            raise BadBenchmark(
                f"{self.CARD.label} was made on other editions than your library has of: {'; '.join(others)}. Its "
                "quotations are offsets into texts whose sha256 the manifest lists "
                f"({MANIFEST / FACTS}); remove these works and add the editions of those hashes."
            )


def _window(window: ListedWindow, text: WindowText, gold: Span) -> QuotationContext:
    return QuotationContext(
        id=window.id,
        book=window.work,
        pool=window.work,
        left=text.left,
        right=text.right,
        gold=gold,
        quotation=text.quotation,
    )


def _gold(window: ListedWindow, work: Work, starts: Sequence[int]) -> Span:
    """Take the sentences from the one in which the quotation begins to the one in which it ends."""
    first = max(0, bisect_right(starts, window.gold[0]) - 1)
    last = max(0, bisect_right(starts, window.gold[1] - 1) - 1)
    gold = Span(first, last - first + 1)
    if gold.length not in LENGTHS or work.sentences[last].end < window.gold[1]:
        raise BadBenchmark(
            f"Window {window.id} quotes {window.length} sentences of {work.title}, and in your library they are "
            f"{gold.length}, cut by {work.segmenter}. Add the work again, so that it is cut as it is now."
        )
    return gold


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")


DEV, TEST, DEV_ALL, TEST_ALL, DEV_SHORT = (PublicRelic(name) for name in SETS)
