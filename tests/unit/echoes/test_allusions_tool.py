"""The tool that learns what makes verses parallel, and counts the pairs before each known echo."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from relic_core.echoes.measuring import Known
from tools import allusions

OLD = ["In the beginning", "the great fish", "a fish was in the sea", "the sea and the land", "a lamp was lit"]


def known(units, golds):
    return Known(kind="allusion", book="Matthew", units=units, golds=golds)


def test_only_pairs_that_nobody_named_count_before_a_known_one_and_its_best_pair_counts():
    scores = np.array([[0.9, 0.1, 0.8], [0.2, 0.7, 0.3]], np.float32)
    echoes = [known((4,), (1, 2)), known((5,), (1,)), known((5,), (0,))]
    counts = allusions.before_each(lambda rows: scores[rows.start - 4 : rows.stop - 4], range(4, 6), echoes)
    assert counts == [1, 1, 2]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    verses = {f"Jonah_1_{at}": text for at, text in enumerate(OLD, 1)}
    verses |= {"Matthew_1_1": "the fish was great", "Romans_1_1": "x"}
    rows = [json.dumps({"id": name, "text": text}) for name, text in verses.items()]
    (tmp_path / "authorized_version.jsonl").write_text("\n".join(rows), encoding="utf-8")
    row = {"source": ["Matthew_1_1"], "target": ["Jonah_1_2"], "ref_type": "allusion"}
    (tmp_path / "bible_references.jsonl").write_text(json.dumps(row), encoding="utf-8")
    names = [(f"Jonah_1_{a}", f"Jonah_1_{b}") for a, b in ((1, 2), (2, 3), (3, 4), (4, 5), (1, 5))]
    (tmp_path / "pairs.tsv").write_text("\n".join(map("\t".join, names)), encoding="utf-8")
    vectors = np.eye(6, dtype=np.float32)
    monkeypatch.setattr(allusions, "_vectors", lambda given, _: vectors[: len(given)])
    monkeypatch.setattr(allusions, "_BATCH", 2)
    monkeypatch.setattr(allusions, "_HELD", 0.2)
    return tmp_path


def test_a_head_is_learnt_goes_on_where_it_was_stopped_and_is_the_same_again(texts):
    def head_of(name, *epochs):
        for number in epochs:
            given = ["learn", str(texts / "pairs.tsv"), "--texts", str(texts), "--data", str(texts)]
            assert allusions.main([*given, "--out", str(texts / name), "--epochs", str(number)]) == 0
        return load_file(texts / name / "head.safetensors")["linear.weight"]

    once, stopped = head_of("once", 2), head_of("stopped", 1, 2)
    assert not np.allclose(once, np.eye(len(once)))
    card = json.loads((texts / "once" / "training.json").read_text(encoding="utf-8"))
    assert card["learnt_from"] == 3
    assert set(card["beside_combined"]) == {"allusion"}
    assert stopped.shape == once.shape
    again = head_of("again", 2)
    assert (again == once).all()
