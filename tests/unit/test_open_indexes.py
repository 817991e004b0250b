"""Indexes that are open: few enough, and those last used."""

from operator import itemgetter
from pathlib import Path

from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import Recipe
from relic_core.retrieval.open_indexes import OpenIndexes


def test_no_more_files_stay_open_than_allowed_and_the_last_used_stay(monkeypatch):
    recipes = [
        Recipe(retriever="r", work_id=str(n), title="", work="", segmenter="", encoder="", code="") for n in range(4)
    ]
    loaded = []

    def load(root, recipe):
        loaded.append(recipe.work_id)
        return {"a": recipe.work_id, "b": 0}

    monkeypatch.setattr(index_files, "stamp", lambda root, recipe: ())
    indexes = OpenIndexes(Path(), itemgetter("a"), files=5, load=load)
    for number in (0, 1, 0, 2, 0, 1):
        assert indexes.get(recipes[number]) == str(number)
    assert loaded == ["0", "1", "2", "1"]
