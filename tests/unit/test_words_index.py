"""The words of a work on disk: read once, the same when opened, made anew when damaged, and never in a search's way."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relic_core.caching import LRUCache
from relic_core.domain import Claim
from relic_core.errors import StaleIndex
from relic_core.retrieval import words
from relic_core.retrieval.bm25 import Bm25
from relic_core.retrieval.words import stored_terms, work_terms
from relic_core.text import words as text_words
from relic_core.text.forms import work_lemmas
from relic_core.text.words import WorkWords, unknown_words
from tests.making import make_work
from tests.privileges import without_privileges


@pytest.fixture
def work():
    return make_work(
        ["The ferry left the quay at dusk.", "It was.", "Nobody saw the Brontës’ ferries; the ferry sank."]
    )


def never(work_id):
    raise AssertionError(f"the text of {work_id} was loaded")


def same(found, expected):
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.starts, expected.starts)
    return found.vocabulary == expected.vocabulary


def files(indexes):
    return [path for path in indexes.rglob("*") if path.is_file()]


@pytest.mark.parametrize("terms", ["tokens", "lemmas"])
def test_words_read_once_are_opened_without_the_text(work, tmp_path, terms):
    expected = WorkWords.of(work) if terms == "tokens" else work_lemmas(work)
    assert same(stored_terms(work.version, terms, indexes=tmp_path, load=lambda _: work), expected)
    assert same(stored_terms(work.version, terms, indexes=tmp_path, load=never), expected)


@pytest.mark.parametrize("sentences", [[], ["It was.", "So be it."], ["Dusk."]])
def test_words_of_the_smallest_works_are_kept_too(sentences, tmp_path):
    work = make_work(sentences)
    work_terms(work, "tokens", tmp_path)
    assert same(stored_terms(work.version, "tokens", indexes=tmp_path, load=never), WorkWords.of(work))


def test_tokens_and_lemmas_are_kept_apart(work, tmp_path):
    assert "ferries" in work_terms(work, "tokens", tmp_path).vocabulary
    assert "ferries" not in work_terms(work, "lemmas", tmp_path).vocabulary


@pytest.mark.parametrize("name", ["ids.npy", "vocabulary.npy", "manifest.json"])
@pytest.mark.parametrize("how", ["emptied", "changed", "deleted"])
def test_damaged_words_are_made_anew(work, tmp_path, name, how):
    work_terms(work, "tokens", tmp_path)
    (path,) = [path for path in files(tmp_path) if path.name == name]
    if how == "emptied":
        path.write_bytes(b"")
    elif how == "changed":
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    else:
        path.unlink()
    assert same(stored_terms(work.version, "tokens", indexes=tmp_path, load=lambda _: work), WorkWords.of(work))
    assert same(stored_terms(work.version, "tokens", indexes=tmp_path, load=never), WorkWords.of(work))


def test_the_manifest_says_what_made_them(work, tmp_path):
    work_terms(work, "tokens", tmp_path)
    (path,) = [path for path in files(tmp_path) if path.name == "manifest.json"]
    said = json.loads(path.read_text())
    assert said["work"] == work.fingerprint
    assert text_words.WORDS in said["code"]
    assert words.LAYOUT in said["code"]


def test_another_version_of_the_words_is_not_found(work, tmp_path, monkeypatch):
    work_terms(work, "tokens", tmp_path)
    monkeypatch.setattr("relic_core.retrieval.words.WORDS", "words/next")
    loaded = []
    stored_terms(work.version, "tokens", indexes=tmp_path, load=lambda work_id: loaded.append(work_id) or work)
    assert loaded == [work.id]


def test_a_folder_that_cannot_be_written_is_no_obstacle(work, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    expected = Bm25().score(Claim("ferry"), work, 1)  # first, since it imports what may not be readable below
    with without_privileges():
        scores = Bm25(indexes=closed).score(Claim("ferry"), work, 1)
    np.testing.assert_array_equal(scores, expected)
    assert not files(closed)


def test_a_file_in_the_place_of_the_folder_is_no_obstacle(work, tmp_path):
    blocked = tmp_path / "indexes"
    blocked.write_text("no folder")
    assert Bm25(indexes=blocked).score(Claim("dusk"), work, 1).any()


def test_a_work_that_was_changed_meanwhile_is_refused(work, tmp_path):
    other = make_work(["Something else."])
    with pytest.raises(StaleIndex, match="was changed"):
        stored_terms(work.version, "tokens", indexes=tmp_path, load=lambda _: other)
    assert not files(tmp_path)


def test_words_opened_for_a_search_are_not_read_again_for_its_unknown_names(work, tmp_path, monkeypatch):
    stored_terms(work.version, "tokens", indexes=tmp_path, load=lambda _: work)
    monkeypatch.setattr(text_words, "_kept", LRUCache(1))
    monkeypatch.setattr(WorkWords, "of", never)
    work_terms(work, "tokens", tmp_path)
    assert unknown_words("The end of Winterbourne and the Brontës", work) == ("Winterbourne",)


def test_bm25_and_its_lemmas_open_what_was_kept(work, tmp_path):
    for terms in ("tokens", "lemmas"):
        Bm25(terms=terms, indexes=tmp_path).prepare(work, lambda done, total, note="": None)
        assert same(
            stored_terms(work.version, terms, indexes=tmp_path, load=never),
            WorkWords.of(work) if terms == "tokens" else work_lemmas(work),
        )
