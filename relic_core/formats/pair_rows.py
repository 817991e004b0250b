"""Pairs and mined windows as rows: one set of columns for every file of them, with their words or with offsets only.

A row is what JSON makes of a record: numbers, strings and lists. Where a row has no words it has digests of them
(`passage_id`), by which somebody who holds the texts can see that they were found again. A place in a text is a start
and an end, counted in characters, half-open.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from relic_core.domain import passage_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain import MinedWindow, Offsets, Pair, SecondarySource
    from relic_core.formats.parquet_tables import Columns

PAIRS = "relic pairs/1"
WINDOWS = "relic mined windows/1"
PLACES_OF_PAIRS = "relic places of pairs/1"
PLACES_OF_WINDOWS = "relic places of mined windows/1"
"""Names and versions of the formats; a file of another version is refused."""

SPLITS = ("training", "dev", "test", "left out")
"""What a pair or window may be used for: to learn from, to choose by, to report on, nothing."""

_BEFORE: Columns = {"id": ("text", False), "split": ("text", False), "source": ("text", False), "kind": ("text", False)}
_WORDS: Columns = {"left": ("texts", False), "quotation": ("text", False), "right": ("texts", False)}
_PLACES: Columns = dict.fromkeys(
    ("quotation_start", "quotation_end", "passage_start", "passage_end"), ("number", False)
)
_DIGESTS: Columns = {
    "left_sentences": ("number", False),
    "right_sentences": ("number", False),
    "left_digest": ("text", False),
    "quotation_digest": ("text", False),
    "right_digest": ("text", False),
}
_WORK: Columns = {
    "work": ("text", False),
    "gold_start": ("number", False),
    "gold_length": ("number", False),
    "work_start": ("number", False),
    "work_end": ("number", False),
    "lit": ("places", False),
    "lit_in_work": ("places", False),
    "score": ("fraction", False),
    "match": ("text", False),
    "evidence": ("text", False),
}

COLUMNS: Mapping[str, Columns] = {
    PAIRS: {**_BEFORE, **_WORDS, **_PLACES},
    WINDOWS: {**_BEFORE, **_WORDS, **_PLACES, **_WORK, "sentences": ("texts", False)},
    PLACES_OF_PAIRS: {**_BEFORE, **_PLACES, **_DIGESTS},
    PLACES_OF_WINDOWS: {**_BEFORE, **_PLACES, **_DIGESTS, **_WORK, "sentences_digest": ("text", False)},
}
"""Format -> its columns in order, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A pair and what it may be used for.

    - `split`: one of `SPLITS`; empty where nobody has decided yet.
    """

    pair: Pair
    split: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A mined window with the words that it quotes.

    - `sentences`: the work's own sentences, one for each of ``window.gold``, white space single.
    - `in_work`: where these sentences stand in the work's text.
    - `split`: one of `SPLITS`; empty where nobody has decided yet.
    - `match`, `evidence`: the latest judgements (`ANSWERS`); empty where nobody judged.
    """

    window: MinedWindow
    sentences: tuple[str, ...]
    in_work: Offsets
    split: str = ""
    match: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedEdition:
    """A work that windows are on: golds and offsets belong to this text and these sentences.

    - `year`: of first publication.
    - `fingerprint`: of its text and where its sentences stand (`Work.fingerprint`).
    - `segmenter`: name and version of what cut the sentences.
    - `origin`: where the text came from.
    """

    id: str
    title: str
    author: str
    year: int | None
    sha256: str
    fingerprint: str
    segmenter: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a file of pairs or windows says of itself.

    - `made`: what made it: the program, the rules of mining, what was chosen.
    - `works`: all that the rows name; none for pairs.
    """

    made: Mapping[str, str]
    sources: tuple[SecondarySource, ...]
    works: tuple[QuotedEdition, ...] = ()

    def facts(self) -> dict[str, object]:
        """Say it in the words of JSON."""
        return {
            "made": dict(sorted(self.made.items())),
            "sources": [asdict(source) for source in self.sources],
            "works": [asdict(work) for work in self.works],
        }


HEAD = tuple(field.name for field in fields(Head))
"""What every head says."""


def row_of_pair(row: PairRow, *, places: bool = False) -> dict[str, Any]:
    """Set a pair as a row; with `places`, offsets and digests in place of its words."""
    return _row(row.pair, row.split, places=places)


def row_of_window(row: WindowRow, *, places: bool = False) -> dict[str, Any]:
    """Set a window as a row; with `places`, offsets and digests in place of its words."""
    window = row.window
    own: dict[str, Any] = {
        "work": window.work_id,
        "gold_start": window.gold.start,
        "gold_length": window.gold.length,
        "work_start": row.in_work[0],
        "work_end": row.in_work[1],
        "lit": [{"start": start, "end": end} for start, end in window.lit],
        "lit_in_work": [{"start": start, "end": end} for start, end in window.lit_in_work],
        "score": float(window.score),
        "match": row.match,
        "evidence": row.evidence,
    }
    last = {"sentences_digest": passage_id(*row.sentences)} if places else {"sentences": list(row.sentences)}
    return {**_row(window, row.split, places=places), **own, **last}


def _row(passage: Pair | MinedWindow, split: str, *, places: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": passage.id,
        "split": split,
        "source": passage.source_id,
        "kind": passage.kind,
    }
    where = {
        "quotation_start": passage.at[0],
        "quotation_end": passage.at[1],
        "passage_start": passage.passage[0],
        "passage_end": passage.passage[1],
    }
    if not places:
        said = {"left": list(passage.left), "quotation": passage.quotation, "right": list(passage.right)}
        return {**row, **said, **where}
    known = bool(passage.quotation)  # else it was mined without its words, and of these nothing is known here
    return {
        **row,
        **where,
        "left_sentences": len(passage.left),
        "right_sentences": len(passage.right),
        "left_digest": passage_id(*passage.left) if known else "",
        "quotation_digest": passage_id(passage.quotation) if known else "",
        "right_digest": passage_id(*passage.right) if known else "",
    }
