"""Secondary sources, pairs and mined windows made by hand, for tests of what is written of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pyarrow import parquet

from relic_core.domain import MinedWindow, Pair, SecondarySource, Span, Work, passage_id, window_id
from relic_core.formats.pair_files import FileHeader, PairRow, QuotedEdition, WindowRow


def make_source(number: int = 1, *, title: str = "On Ferries", licence: str = "Public domain in the USA"):
    sha256 = hashlib.sha256(f"{title} {number}".encode()).hexdigest()
    return SecondarySource(
        id=f"on-ferries-{number}", title=title, author="A. Critic", name=f"{number}.txt", sha256=sha256,
        characters=10_000, number=60_000 + number, origin="by hand", licence=licence,
    )  # fmt: skip


def make_pair(number: int = 0, *, source: SecondarySource | None = None, words: bool = True) -> Pair:
    left, quotation, right = (f"Before, {number}.", "He wrote:"), f"The boat “number” {number} lay still…", ("So—yes.",)
    start = 100 * number
    return Pair(
        id=passage_id(*left, quotation, *right),
        source_id=(source or make_source()).id,
        kind=("inline", "block", "verse")[number % 3],
        left=left if words else (),
        quotation=quotation if words else "",
        right=right if words else (),
        at=(start + 20, start + 60),
        passage=(start, start + 90),
    )


def make_window(work: Work, gold: Span, *, number: int = 0, source: SecondarySource | None = None) -> MinedWindow:
    source = source or make_source()
    first = work.sentences[gold.start]
    quotation = work.text[first.start : first.end]
    start = 100 * number
    return MinedWindow(
        id=window_id(source.sha256, work.sha256, (start + 20, start + 60), (gold.start, gold.end)),
        source_id=source.id,
        work_id=work.id,
        kind="inline",
        left=(f"The critic says this, {number}.",),
        quotation=quotation,
        right=("And he means it.",),
        gold=gold,
        at=(start + 20, start + 60),
        passage=(start, start + 90),
        lit=((0, len(quotation)),),
        lit_in_work=((first.start, first.end),),
        score=97.5,
    )


def make_window_row(work: Work, window: MinedWindow, split: str = "", evidence: str = "") -> WindowRow:
    gold = work.sentences[window.gold.start : window.gold.end]
    return WindowRow(
        window=window,
        split=split,
        sentences=tuple(" ".join(work.text[each.start : each.end].split()) for each in gold),
        in_work=(gold[0].start, gold[-1].end),
        match="right" if evidence else "",
        evidence=evidence,
    )


def make_pair_rows(count: int, split: str = "training", *, first: int = 0) -> list[PairRow]:
    return [PairRow(pair=make_pair(number), split=split) for number in range(first, first + count)]


def make_head(*works: Work, sources: tuple[SecondarySource, ...] = ()) -> FileHeader:
    return FileHeader(
        made={"program": "0.1.0 by hand", "rules": "prose/1"},
        sources=sources or (make_source(),),
        works=tuple(
            QuotedEdition(
                id=work.id, title=work.title, author=work.author, year=work.year, sha256=work.sha256,
                fingerprint=work.fingerprint, segmenter=work.segmenter, origin=work.source,
            )
            for work in works
        ),
    )  # fmt: skip


def read_rows(path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read a file of pairs or windows: its head, and its rows, whose checksum is that of the head."""
    if path.suffix == ".parquet":
        table = parquet.read_table(path, page_checksum_verification=True)
        return json.loads(table.schema.metadata[b"relic"]), table.to_pylist()
    first, body = path.read_bytes().split(b"\n", 1)
    head = json.loads(first)
    assert head["sha256"] == hashlib.sha256(body).hexdigest()
    return head, [json.loads(line) for line in body.splitlines()]
