"""BIRCO as JSON lines and as a pickle, and rankings: one set of records, one set of checks."""

from __future__ import annotations

import io
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.birco import MASKED, read_jsonl
from relic_core.formats.judged import JudgedQuery
from tools.birco import convert, read

QUERIES = [
    {"id": "q1", "text": f"The river is a wall: {MASKED} Nobody crosses.", "work": "the_ferry"},
    {"id": "q2", "text": f"{MASKED} The wheel turns for nobody.\u2028So it seems.", "work": "the_mill"},
]
PASSAGES = [
    {"id": "c1", "text": "The river rose.  Nobody crossed it."},
    {"id": "c2", "text": "“Wait,” he said."},
    {"id": "c3", "text": "The wheel turned."},
]
POOLS = [
    {"query_id": "q2", "candidates": ["c3", "c2"], "relevant": ["c3"]},
    {"query_id": "q1", "candidates": ["c2", "c1"], "relevant": ["c1"]},
]


def _folder(tmp_path, **changed):
    files = {"queries": QUERIES, "pools": POOLS, "passages": PASSAGES} | changed
    for name, lines in files.items():
        text = (
            lines if isinstance(lines, str) else "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        )
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="")
    return tmp_path


def _data():
    return {
        "query": {query["id"]: query["text"] for query in QUERIES},
        "corpus": {passage["id"]: passage["text"] for passage in PASSAGES},
        "qrel": {
            pool["query_id"]: {each: int(each in pool["relevant"]) for each in pool["candidates"]} for pool in POOLS
        },
    }


def _pickled(tmp_path, data, name="test_set.pickle"):
    path = tmp_path / name
    path.write_bytes(pickle.dumps(data))
    return path


def _in_numpy(value):
    if isinstance(value, dict):
        return {np.str_(key): _in_numpy(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_numpy(each) for each in value]
    return np.float64(value) if isinstance(value, int) else np.str_(value)


def test_lines_become_a_set_with_its_pools_in_the_order_of_the_queries(tmp_path):
    read = read_jsonl(_folder(tmp_path))
    assert read.queries == tuple(JudgedQuery(**query) for query in QUERIES)
    assert read.passages == {passage["id"]: passage["text"] for passage in PASSAGES}
    assert read.pools == {"q1": ("c2", "c1"), "q2": ("c3", "c2")}
    assert read.grades == {"q1": {"c1": 1}, "q2": {"c3": 1}}


def test_a_line_feed_of_unicode_within_a_text_ends_no_line(tmp_path):
    assert "\u2028" in read_jsonl(_folder(tmp_path)).queries[1].text


@pytest.mark.parametrize("make", [lambda data: data, _in_numpy])
def test_a_published_pickle_is_converted_to_the_same_set(tmp_path, make):
    lines = read_jsonl(_folder(tmp_path))
    convert(_pickled(tmp_path, make(_data())), tmp_path / "converted")
    read = read_jsonl(tmp_path / "converted")
    assert (read.passages, read.pools, read.grades) == (lines.passages, lines.pools, lines.grades)
    assert read.queries == tuple(JudgedQuery(id=query["id"], text=query["text"]) for query in QUERIES)


class Calls:
    """Pickled, it is an order to call something when it is loaded."""

    def __init__(self, *what):
        self.what = what

    def __reduce__(self):
        return self.what


@pytest.mark.parametrize(
    "what",
    [(os.mkdir, ("made",)), (eval, ("1",)), (np.dtype, ("O",)), (np.dtype, ("U9999999",)), (Path, ("x",))],
    ids=["folder", "eval", "objects", "large", "path"],
)
def test_a_pickle_that_asks_for_more_than_plain_data_is_refused_and_runs_nothing(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    path = _pickled(tmp_path, {**_data(), "query": Calls(*what)})
    with pytest.raises(ValueError, match="plain data"):
        convert(path, tmp_path / "converted")
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "converted").exists()


def test_every_cut_of_a_pickle_is_refused(tmp_path):
    whole = _pickled(tmp_path, _in_numpy(_data())).read_bytes()
    for end in range(len(whole)):
        with pytest.raises(ValueError, match="plain data"):
            read(io.BytesIO(whole[:end]))


def test_too_large_a_pickle_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.birco.MAX_BYTES", 10)
    with pytest.raises(ValueError, match="10 bytes"):
        convert(_pickled(tmp_path, _data()), tmp_path / "converted")


def _with(lines, number, **changes):
    return [{**line, **changes} if each == number else line for each, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("changed", "where", "what"),
    [
        ({"queries": [*QUERIES, QUERIES[0]]}, "queries.jsonl, line 3", "'q1'"),
        ({"passages": [*PASSAGES, PASSAGES[1]]}, "passages.jsonl, line 4", "'c2'"),
        ({"pools": [*POOLS, POOLS[0]]}, "pools.jsonl, line 3", "'q2'"),
        ({"queries": _with(QUERIES, 1, text="no mask")}, "queries.jsonl, line 2", "'q2' has no '[masked sentence(s)]'"),
        ({"queries": _with(QUERIES, 1, id="")}, "queries.jsonl, line 2", "'id'"),
        ({"queries": _with(QUERIES, 1, id=7)}, "queries.jsonl, line 2", "'id'"),
        ({"queries": _with(QUERIES, 1, year=7)}, "queries.jsonl, line 2", "'year'"),
        ({"queries": [*QUERIES, {"id": "q3", "text": MASKED}]}, "pools.jsonl", "query 'q3' has no pool"),
        ({"queries": [QUERIES[0]]}, "pools.jsonl, line 1", "no query 'q2' among the 1"),
        ({"passages": PASSAGES[:2]}, "pools.jsonl, line 1", "no passage 'c3' among the 2"),
        ({"passages": _with(PASSAGES, 0, text=" ")}, "passages.jsonl, line 1", "'text'"),
        ({"pools": _with(POOLS, 0, relevant=["c1"])}, "pools.jsonl, line 1", "'c1', relevant to 'q2', is not in"),
        ({"pools": _with(POOLS, 0, relevant=[])}, "pools.jsonl, line 1", "0"),
        ({"pools": _with(POOLS, 0, relevant=["c3", "c2"])}, "pools.jsonl, line 1", "2"),
        ({"pools": _with(POOLS, 0, relevant=["c3", "c3"])}, "pools.jsonl, line 1", "passage"),
        ({"pools": _with(POOLS, 0, candidates=["c3", "c3"])}, "pools.jsonl, line 1", "passage"),
        ({"pools": _with(POOLS, 0, candidates="c3")}, "pools.jsonl, line 1", "'candidates'"),
        ({"pools": ""}, "pools.jsonl", "is empty"),
        ({"pools": "\n" + json.dumps(POOLS[0])}, "pools.jsonl, line 1", "not whole JSON"),
        ({"pools": json.dumps(POOLS[0])[:-9]}, "pools.jsonl, line 1", "not whole JSON"),
        ({"pools": "[1]\n"}, "pools.jsonl, line 1", "object"),
        ({"passages": '{"id": "a", "text": "x"}\n{"id": "b", "id": "c", "text": "x"}\n'}, "line 2", "has 'id' twice"),
        ({"passages": '{"id": "a", "text": "\\ud83d"}\n'}, "passages.jsonl, line 1", "U+D83D"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong_is_named_by_file_and_number(tmp_path, changed, where, what):
    with pytest.raises(BadBenchmark) as caught:
        read_jsonl(_folder(tmp_path, **changed))
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    (_folder(tmp_path) / "pools.jsonl").unlink()
    with pytest.raises(NotFound, match=r"pools\.jsonl"):
        read_jsonl(tmp_path)
