"""What no model may be trained on besides the measured works: the texts of benchmarks, the list of held-out runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from relic_core.config import Settings
from relic_core.evaluation.benchmarks import public_relic, relic
from relic_core.evaluation.benchmarks.birco import FOLDER as BIRCO_FOLDER
from relic_core.formats.birco import read_jsonl
from relic_core.formats.relic import read_relic
from relic_core.formats.window_manifest import FACTS, read_texts
from relic_core.installed import COMMAND
from relic_core.library import sample
from relic_core.mining.word_runs import HeldOut

HELD_OUT = "heldout_eight_grams.txt"
_NAMED = 6
"""Works that a note names; of more it gives the number."""


def benchmark_texts(settings: Settings) -> Iterator[tuple[str, str]]:
    """Give the texts of the benchmarks that are here, each with its name."""
    yield "the sample", sample.NOVEL.read_text(encoding="utf-8")
    for excerpt in sample.read_excerpts():
        yield f"the sample, {excerpt.id}", " ".join((*excerpt.left, excerpt.quotation, *excerpt.right))
    birco = _below(settings, BIRCO_FOLDER)
    if birco is not None:
        read = read_jsonl(birco)
        for query in read.queries:
            yield f"birco, query {query.id}", query.text
        for name, passage in read.passages.items():
            yield f"birco, passage {name}", passage
    folder = _below(settings, relic.FOLDER)
    for path in sorted(folder.glob("*.json")) if folder is not None else ():
        for book in read_relic(path):
            yield f"relic, {book.title}", " ".join(book.sentences)
            for quote in book.quotes:
                if quote.start is None:
                    yield f"relic, {quote.id}", " ".join(quote.left)
                    yield f"relic, {quote.id}", " ".join(quote.right)
                else:  # as the critic has it, so that runs into the quotation and out of it are seen
                    gold = book.sentences[quote.start : quote.start + quote.length]
                    yield f"relic, {quote.id}", " ".join((*quote.left, *gold, *quote.right))
    rebuilt = public_relic.data_file(settings)
    if rebuilt.exists():
        for name, text in read_texts(rebuilt)[0].items():
            yield f"window {name}", " ".join((*text.left, text.quotation, *text.right))


def held_out(settings: Settings) -> HeldOut | None:
    """Read the list of held-out runs; None where there is none."""
    path = _below(settings, HELD_OUT)
    return HeldOut.read(path) if path is not None else None


def notes(settings: Settings, missing: Sequence[str]) -> tuple[str, ...]:
    """Say what was not there to be looked at; `missing` are titles of the catalogue's works that are not stored."""
    sentences = []
    if missing:
        named = missing if len(missing) <= _NAMED else [*missing[:_NAMED], f"{len(missing) - _NAMED:,} others"]
        works = "1 work is" if len(missing) == 1 else f"{len(missing):,} works are"
        sentences.append(
            f"Of the catalogue {works} not in the library, so quotations of them were not recognised: "
            f"{', '.join(named)}. `{COMMAND} catalogue` lists them all; to add those that can be had: "
            f"{COMMAND} catalogue --split all --add"
        )
    for below, what in (
        (HELD_OUT, "list of held-out runs"),
        (BIRCO_FOLDER, "data of BIRCO-RELIC"),
        (relic.FOLDER, "data of RELiC as published"),
    ):
        if _below(settings, below) is None:
            sentences.append(f"There is no {what}: it would be {below} in the folder that RELIC_BENCHMARKS names.")
    if (public_relic.MANIFEST / FACTS).exists() and not public_relic.data_file(settings).exists():
        sentences.append(f"The words of the public-domain RELiC are not here: {public_relic.REBUILD}")
    return tuple(sentences)


def _below(settings: Settings, name: str) -> Path | None:
    folder = settings.benchmarks
    return folder / name if folder is not None and (folder / name).exists() else None
