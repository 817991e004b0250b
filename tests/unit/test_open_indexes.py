"""Indexes that are open: few enough, those last used, and only as long as their files are what they were."""

from pathlib import Path

from relic_core.retrieval import index_files
from relic_core.retrieval.index_files import Recipe


def test_no_more_stay_open_than_allowed_the_last_used_stay_and_what_was_replaced_is_opened_anew(monkeypatch):
    recipes = [
        Recipe(retriever="r", work_id=str(n), title="", work="", segmenter="", encoder="", code="") for n in range(4)
    ]
    stamps, loaded = {"0": 0, "1": 0, "2": 0}, []

    def opened(recipe):
        loaded.append(recipe.work_id)
        return recipe.work_id

    monkeypatch.setattr(index_files, "stamp", lambda root, recipe: stamps[recipe.work_id])
    get = index_files.kept_open(Path(), opened, most=2)
    for number in (0, 1, 0, 2, 0, 1):
        assert get(recipes[number]) == str(number)
    assert loaded == ["0", "1", "2", "1"]
    stamps["1"] += 1
    assert get(recipes[1]) == "1"
    assert loaded == ["0", "1", "2", "1", "1"]
