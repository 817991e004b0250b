"""Small works under the names of those that the RELiC paper's prompts are about, and readers' sheets."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from relic_core.ports import silent
from relic_core.retrieval.dense import Dense
from relic_core.wiring import build
from tests.fake_encoder import FakeEncoder
from tests.fake_retrievers import use_fakes
from tests.making import make_work

if TYPE_CHECKING:
    from pathlib import Path

FRANKENSTEIN = make_work(
    [
        ["The glacier creaked below the hut.", "Nobody there had thought of the consequences of his actions."],
        ["Victor whistled in the stove-room.", "He did not consider the candle, nor the straw."],
    ],
    [
        ["A sledge came up from the lake.", "It carried a trunk without a label."],
        ["His actions had been watched from the ridge.", "The dogs lay down."],
    ],
    title="Frankenstein",
    author="Mary Shelley",
)
GATSBY = make_work(
    [["The lawn was lit for nobody.", "A symbol hung over the bridge: two painted spectacles."]],
    [["Gatsby's boats went out at noon.", "Oranges were sold by the crate.", "No guest knew the band by name."]],
    title="The Great Gatsby",
    author="F. Scott Fitzgerald",
)
PRIDE = make_work(
    [["The carriage was late again.", "Elizabeth bit her lip at her mother and said nothing.", "The rain held off."]],
    [["Her mother spoke of lace.", "Frustration is not a word for parlours.", "They walked to the mill and back."]],
    title="Pride and Prejudice",
    author="Jane Austen",
)
WORKS = (FRANKENSTEIN, GATSBY, PRIDE)


class ContraryEncoder(FakeEncoder):
    """Finds like what is unlike."""

    def encode_claims(self, claims):
        return -super().encode_claims(claims)


def bench_with(settings, works=WORKS, prepared=("dense-relic", "zero-shot")):
    """Make a workbench with works that are prepared for some retrievers, all of them without a language model."""
    bench = build(settings)
    use_fakes(bench)
    bench.retrievers._made["zero-shot"] = Dense(
        "zero-shot", encoder=lambda: ContraryEncoder("contrary/1"), root=bench.settings.indexes
    )
    for work in works:
        bench.store.works.add(work)
        bench.indexes.build(work.id, prepared, silent)
    return bench


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def save(path: Path, rows: list[dict[str, str]], delimiter: str = ",") -> Path:
    """Save a sheet as a spreadsheet would."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def fill_in(path: Path, judge) -> Path:
    """Give each row of a sheet the verdict that `judge` makes of it, and a note that quotes."""
    return save(path, [{**row, "verdict": judge(row), "note": f"Note: {row['passage']}"} for row in rows_of(path)])
