"""BIRCO as JSON lines and as a pickle, and rankings: one set of records, one set of checks."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats.birco import MASKED, BircoQuery, read_jsonl, read_pickle
from relic_core.formats.birco_rankings import read_rankings

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
    return np.int64(value) if isinstance(value, int) else np.str_(value)


def test_lines_become_a_set_with_its_pools_in_the_order_of_the_queries(tmp_path):
    read = read_jsonl(_folder(tmp_path))
    assert read.queries == tuple(BircoQuery(**query) for query in QUERIES)
    assert read.passages == {passage["id"]: passage["text"] for passage in PASSAGES}
    assert list(read.pools.items()) == [("q1", ("c2", "c1")), ("q2", ("c3", "c2"))]
    assert read.relevant == {"q1": {"c1": 1}, "q2": {"c3": 1}}


def test_a_line_feed_of_unicode_within_a_text_ends_no_line(tmp_path):
    assert "\u2028" in read_jsonl(_folder(tmp_path)).queries[1].text


@pytest.mark.parametrize("make", [lambda data: data, _in_numpy])
def test_the_pickle_gives_the_same_set_in_plain_types(tmp_path, make):
    lines = read_jsonl(_folder(tmp_path))
    read = read_pickle(_pickled(tmp_path, make(_data())))
    assert (read.passages, read.pools, read.relevant) == (lines.passages, lines.pools, lines.relevant)
    assert read.queries == tuple(BircoQuery(query["id"], query["text"]) for query in QUERIES)
    kinds = {type(each) for each in (*read.passages, *read.pools["q1"], read.queries[0].id, read.queries[0].text)}
    assert kinds == {str}
    assert type(read.relevant["q1"]["c1"]) is int


def _with(lines, number, **changes):
    return [{**line, **changes} if each == number else line for each, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("changed", "where", "what"),
    [
        ({"queries": [*QUERIES, QUERIES[0]]}, "queries.jsonl, line 3", "'q1' was given before"),
        ({"passages": [*PASSAGES, PASSAGES[1]]}, "passages.jsonl, line 4", "'c2' was given before"),
        ({"pools": [*POOLS, POOLS[0]]}, "pools.jsonl, line 3", "'q2' was given before"),
        ({"queries": _with(QUERIES, 1, text="no mask")}, "queries.jsonl, line 2", "'q2' has no '[masked sentence(s)]'"),
        ({"queries": _with(QUERIES, 1, id="")}, "queries.jsonl, line 2", "'id' is empty"),
        ({"queries": _with(QUERIES, 1, id=7)}, "queries.jsonl, line 2", "'id' must be a string, and is a whole number"),
        ({"queries": _with(QUERIES, 1, year=7)}, "queries.jsonl, line 2", "unknown 'year'"),
        ({"queries": [*QUERIES, {"id": "q3", "text": MASKED}]}, "pools.jsonl", "query 'q3' has no pool"),
        ({"queries": [QUERIES[0]]}, "pools.jsonl, line 1", "no query 'q2' among the 1"),
        ({"passages": PASSAGES[:2]}, "pools.jsonl, line 1", "no passage 'c3' among the 2"),
        ({"passages": _with(PASSAGES, 0, text=" ")}, "passages.jsonl, line 1", "text of 'c1' is empty"),
        ({"pools": _with(POOLS, 0, relevant=["c1"])}, "pools.jsonl, line 1", "'c1', relevant to 'q2', is not in"),
        ({"pools": _with(POOLS, 0, relevant=[])}, "pools.jsonl, line 1", "0 passages are relevant"),
        ({"pools": _with(POOLS, 0, relevant=["c3", "c2"])}, "pools.jsonl, line 1", "2 passages are relevant"),
        ({"pools": _with(POOLS, 0, relevant=["c3", "c3"])}, "pools.jsonl, line 1", "names a passage twice"),
        ({"pools": _with(POOLS, 0, candidates=["c3", "c3"])}, "pools.jsonl, line 1", "names a passage twice"),
        ({"pools": _with(POOLS, 0, candidates="c3")}, "pools.jsonl, line 1", "must be a list of strings"),
        ({"pools": ""}, "pools.jsonl", "is empty"),
        ({"pools": "\n" + json.dumps(POOLS[0])}, "pools.jsonl, line 1", "is empty"),
        ({"pools": json.dumps(POOLS[0])[:-9]}, "pools.jsonl, line 1", "no whole JSON"),
        ({"pools": "[1]\n"}, "pools.jsonl, line 1", "must be a JSON object"),
        ({"passages": '{"id": "a", "text": "x"}\n{"id": "b", "id": "c", "text": "x"}\n'}, "line 2", "has 'id' twice"),
        ({"passages": '{"id": "a", "text": "\\ud83d"}\n'}, "passages.jsonl, line 1", "the lone surrogate U+D83D"),
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


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda d: d.pop("qrel"), "has no 'qrel'"),
        (lambda d: d.__setitem__("extra", {}), "unknown 'extra'"),
        (lambda d: d.__setitem__("query", []), "'query' must be a JSON object, and is a list"),
        (lambda d: d["query"].clear(), "no query 'q2' among the 0"),
        (lambda d: d["query"].__setitem__("q1", "no mask"), "'q1' has no"),
        (lambda d: d["query"].__setitem__("q1", 5), "the text of 'q1' must be a string"),
        (lambda d: d["query"].__setitem__("q1", f"{MASKED} \ud800"), "the lone surrogate U+D800"),
        (lambda d: d["corpus"].pop("c1"), "no passage 'c1'"),
        (lambda d: d["qrel"].pop("q1"), "query 'q1' has no pool"),
        (lambda d: d["qrel"]["q1"].__setitem__("c1", 0), "0 passages are relevant"),
        (lambda d: d["qrel"]["q1"].__setitem__("c2", 1), "2 passages are relevant"),
        (lambda d: d["qrel"]["q1"].__setitem__("c2", -1), "must be a whole number from 0"),
        (lambda d: d["qrel"]["q1"].__setitem__("c2", True), "must be a whole number from 0"),
        (lambda d: d["qrel"].__setitem__("q1", ["c1"]), "the pool of 'q1' must be a JSON object"),
    ],
)
def test_a_pickle_that_is_no_such_set_is_refused(tmp_path, change, what):
    data = _data()
    change(data)
    with pytest.raises(BadBenchmark) as caught:
        read_pickle(_pickled(tmp_path, data))
    assert what in str(caught.value)
    assert "test_set.pickle" in str(caught.value)


def test_a_file_that_is_no_pickle_is_told_what_would_be_one_of_birco(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Read me\n", encoding="utf-8")
    with pytest.raises(BadBenchmark, match=r"README\.md is no file of BIRCO: a folder with queries\.jsonl.*\.pickle"):
        read_pickle(path)


RANKED = {"q1": ["c1", "c2"], "q2": ["c2", "c3"]}


def test_rankings_are_read_from_json_from_one_pickle_and_from_a_folder_of_them(tmp_path):
    wanted = {query: tuple(order) for query, order in RANKED.items()}
    told = tmp_path / "all.json"
    told.write_text(json.dumps({"SimCSE": RANKED, "E5": RANKED}), encoding="utf-8")
    assert read_rankings(told) == {"SimCSE": wanted, "E5": wanted}
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    _pickled(ranks, RANKED, "simcse_rank.pickle")
    _pickled(ranks, _in_numpy(RANKED), "e5_rank.pickle")
    (ranks / "notes.txt").write_text("no ranking")
    assert read_rankings(ranks) == {"e5_rank": wanted, "simcse_rank": wanted}
    assert read_rankings(ranks / "e5_rank.pickle") == {"e5_rank": wanted}


def test_a_query_that_a_system_did_not_rank_is_not_made_up(tmp_path):
    path = _pickled(tmp_path, {"q1": ["c1", "c2"]}, "half.pickle")
    assert read_rankings(path, read_jsonl(_folder(tmp_path))) == {"half": {"q1": ("c1", "c2")}}


@pytest.mark.parametrize(
    ("order", "what"),
    [
        ({"q1": ["c1"]}, "no order of its pool: 1 of 2 passages are missing, and 0 are not of the pool"),
        ({"q1": ["c1", "c3"]}, "1 of 2 passages are missing, and 1 are not of the pool"),
        ({"q1": ["c1", "c2", "c1"]}, "names a passage twice"),
        ({"q3": ["c1", "c2"]}, "of no query of this set"),
        ({"q1": "c1"}, "must be a list of strings"),
        ({"q1": [1]}, "must hold strings alone"),
        ([], "must be a JSON object"),
    ],
)
@pytest.mark.parametrize("form", ["json", "pickle"])
def test_a_ranking_that_is_no_permutation_of_its_pool_is_refused(tmp_path, order, what, form):
    known = read_jsonl(_folder(tmp_path))
    path = tmp_path / f"system.{form}"
    path.write_bytes(pickle.dumps(order) if form == "pickle" else json.dumps({"system": order}).encode())
    with pytest.raises(BadBenchmark, match=what):
        read_rankings(path, known)


def test_without_its_set_a_ranking_must_still_name_each_passage_once(tmp_path):
    with pytest.raises(BadBenchmark, match="names a passage twice"):
        read_rankings(_pickled(tmp_path, {"q1": ["c1", "c1"]}))


def test_a_folder_without_rankings_is_told(tmp_path):
    with pytest.raises(NotFound, match="no ranking"):
        read_rankings(tmp_path)


@pytest.mark.corpus
def test_the_published_rankings_order_every_pool_of_the_48_queries(shared):
    folder = shared / "benchmarks" / "birco_relic"
    known = read_jsonl(folder)
    assert len(known.queries) == 48
    assert {len(pool) for pool in known.pools.values()} == {50, 51}
    rankings = read_rankings(folder / "published_rankings.json", known)
    assert len(rankings) == 30
    assert {len(ranked) for ranked in rankings.values()} == {48}
