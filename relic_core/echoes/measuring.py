"""Known echoes: how often a method finds the passage that scholars have named, by kind and with intervals.

Two shapes of data are read. `bible-references` names, for verses of the Gospels and Acts, the Old Testament verses that
they quote or allude to; all verses are in one file. The other shape is that of Manjavacas, Long and Kestemont (2019):
spans of one author as queries, verses as candidates, so that anyone who has their data can measure beside their figures
(allusions of Bernard of Clairvaux to the Vulgate, best method: MRR 21.95, success@20 47.60).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from relic_core.domain import Work
from relic_core.domain.figures import Cell, Table
from relic_core.domain.rankings import rank_at
from relic_core.echoes.scoring import Scorer
from relic_core.errors import BadBenchmark, NotFound
from relic_core.evaluation import metrics
from relic_core.evaluation.benchmarks.passages import work_of
from relic_core.evaluation.figures import figure_over
from relic_core.formats.files import Strict, checked, parse, read_text
from relic_core.ports import Progress

NEEDS = (
    "They need a folder with bible_references.jsonl (source, target, ref_type) and, there or in the folder of --texts, "
    "authorized_version.jsonl (id, text), or with queries.jsonl (text, gold, kind, book) and verses.jsonl (id, text), "
    "one object a line: set RELIC_BENCHMARKS to it, or name it with --data."
)
_KINDS = {"reference": "quotation", "allusion": "allusion"}
_FIRST_OF_THE_REST = "Matthew_1_1"
_SOURCES = ("Matthew", "Mark", "Luke", "John", "Acts")
FIGURES = ("recall@1", "recall@5", "recall@20", "mrr", "ndcg@20")
_LABELS = ("success@1", "success@5", "success@20", "MRR x 100", "nDCG@20")

R = TypeVar("R", bound=Strict)
Names = Annotated[list[str], Field(min_length=1)]


class _Verse(Strict):
    id: str
    text: str


class _Reference(Strict):
    source: Names
    target: Names
    ref_type: str


class _Query(Strict):
    text: str
    gold: Names
    kind: str = "allusion"
    book: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An echo that scholars have named.

    - `units`: numbers of the units that make it, in the first collection.
    - `golds`: numbers of the units that it goes back to, in the second; any one answers.
    - `book`: what is drawn as a whole for intervals.
    """

    kind: str
    book: str
    units: tuple[int, ...]
    golds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownEchoes:
    """Two collections, each sentence a unit, and what is known to echo between them."""

    echoes: tuple[Known, ...]
    a: Work
    b: Work


def read(folder: Path, texts: Path | None = None) -> KnownEchoes:
    """Read the files of a folder, of either shape.

    - `texts`: where authorized_version.jsonl is, if elsewhere.
    """
    if (queries := folder / "queries.jsonl").exists():
        asked = _rows(queries, _Query)
        verses = _verses(folder / "verses.jsonl")
        place = _numbered(verses)
        echoes = [
            Known(kind=each.kind, book=each.book or str(at), units=(at,), golds=_places(each.gold, place))
            for at, each in enumerate(asked)
        ]
        a = _work("Queries", {f"q_{at}_1": each.text for at, each in enumerate(asked)})
        return KnownEchoes(tuple(echoes), a, _work("Verses", verses))
    verses_path = (texts or folder) / "authorized_version.jsonl"
    if not verses_path.exists() or not (folder / "bible_references.jsonl").exists():
        raise NotFound(f"The known echoes are not in {folder}. {NEEDS}")
    every = list(_verses(verses_path).items())
    border = next((at for at, (name, _) in enumerate(every) if name == _FIRST_OF_THE_REST), 0)
    old = dict(every[:border])
    new = {name: text for name, text in every[border:] if name.rsplit("_", 2)[0] in _SOURCES}
    places = _numbered(new), _numbered(old)
    echoes = [
        Known(
            kind=_KINDS.get(each.ref_type, each.ref_type),
            book=each.source[0].rsplit("_", 2)[0],
            units=_places(each.source, places[0]),
            golds=_places(each.target, places[1]),
        )
        for each in _rows(folder / "bible_references.jsonl", _Reference)
    ]
    return KnownEchoes(tuple(echoes), _work("Gospels and Acts", new), _work("Old Testament", old))


def _rows(path: Path, kind: type[R]) -> list[R]:
    lines = enumerate(read_text(path).splitlines(), start=1)
    return [checked(kind, parse(line, where), where) for at, line in lines if line and (where := f"{path}, line {at}")]


def _verses(path: Path) -> dict[str, str]:
    return {verse.id: verse.text for verse in _rows(path, _Verse)}


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(names)}


def _places(names: Iterable[str], places: dict[str, int]) -> tuple[int, ...]:
    missing = [name for name in names if name not in places]
    if missing:
        raise BadBenchmark(f"The known echoes name verses that its texts do not have: {', '.join(missing[:5])}.")
    return tuple(places[name] for name in names)


def _work(title: str, verses: dict[str, str]) -> Work:
    return work_of(title, verses, "", chapter=lambda name: name.rpartition("_")[0].replace("_", " "))


def ranks(scorer: Scorer, known: Sequence[Known], progress: Progress) -> list[tuple[int, ...]]:
    """Give the ranks of each echo's golds, best first; equal scores keep the order of the text."""
    found = []
    for done, each in enumerate(known):
        scores = np.mean([scorer(range(unit, unit + 1))[0] for unit in each.units], axis=0)
        found.append(tuple(sorted(rank_at(scores, at) for at in each.golds)))
        progress(done + 1, len(known), "Known echoes")
    return found


def values(name: str, all_ranks: Sequence[tuple[int, ...]]) -> npt.NDArray[np.float64]:
    """Compute what a figure says of each echo: of its best gold, but for nDCG, which counts all.

    >>> values("ndcg@20", [(1, 30)]).round(3).tolist(), values("mrr", [(2, 30)]).tolist()
    ([0.613], [0.5])
    """
    k = metrics.cutoff(name)
    best = np.array([each[0] for each in all_ranks], dtype=np.float64)
    if name == "mrr":
        return 1 / best
    if name.startswith("recall"):
        return (best <= k).astype(np.float64)
    gains = [sum(1 / np.log2(rank + 1) for rank in each if rank <= k) for each in all_ranks]
    ideal = [sum(1 / np.log2(rank + 1) for rank in range(1, min(len(each), k) + 1)) for each in all_ranks]
    shares: npt.NDArray[np.float64] = np.array(gains) / np.array(ideal)
    return shares


def table(label: str, known: KnownEchoes, all_ranks: Sequence[tuple[int, ...]]) -> Table:
    """Set the figures of a method by kind, with 95% intervals by bootstrap over books."""
    rows: list[tuple[Cell, ...]] = []
    for kind in dict.fromkeys(each.kind for each in known.echoes):
        own = [at for at, each in enumerate(known.echoes) if each.kind == kind]
        some, books = [all_ranks[at] for at in own], [known.echoes[at].book for at in own]
        # MRR times a hundred, as the paper writes it
        cards = [metrics.metric("recall@1" if name == "mrr" else name) for name in FIGURES]
        figures = [figure_over(card, values(name, some), books) for name, card in zip(FIGURES, cards, strict=True)]
        rows.append((label, kind, *figures, len(own)))
    return Table(
        caption=f"{len(known.echoes)} known echoes, each to be found among {len(known.b.sentences):,} passages.",
        heads=("method", "kind", *_LABELS, "n"),
        rows=tuple(rows),
        notes=("Intervals are 95%, by bootstrap over books.",),
    )
