"""Where the quotations of BIRCO come out in whole novels, against where they are known to stand."""

import json

import pytest

from relic_core.config import Settings
from relic_core.evaluation.benchmarks import registry
from relic_core.text.placing import letters, unscrambled
from tests.shelf import Shelf

pytestmark = pytest.mark.corpus


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_quotations_of_birco_are_placed_where_they_stand(shared):
    """Known places are fractions of lists that were cut by other rules and count headings and front matter, too."""
    folder = shared / "benchmarks" / "birco_relic"
    known = {row["query_id"]: row for row in read(folder / "placements.jsonl")}
    golds = {row["query_id"]: row["relevant"][0] for row in read(folder / "pools.jsonl")}
    passages = {row["id"]: row["text"] for row in read(folder / "passages.jsonl")}
    opened = registry.open_benchmark(
        "birco-novels",
        settings=Settings(benchmarks=shared / "benchmarks"),
        works=Shelf(folder=shared / "corpus" / "primary"),
    )
    assert {window.id: window.book for window in opened.windows()} == {name: row["work"] for name, row in known.items()}
    apart, to_the_letter, of_the_same_length = [], 0, 0
    for window in opened.windows():
        work = opened.work(window.pool)
        apart.append(abs(window.gold.start - known[window.id]["position"] * len(work.sentences)))
        assert apart[-1] < 0.02 * len(work.sentences), window.id
        of_the_same_length += window.gold.length == known[window.id]["sentences"]
        to_the_letter += letters(work.span_text(window.gold)) == letters(unscrambled(passages[golds[window.id]]))
    assert len(apart) == 48
    assert sorted(apart)[24] < 7, "half of them within six sentences"
    assert of_the_same_length >= 47
    assert to_the_letter >= 46
