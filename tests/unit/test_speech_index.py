"""The speech of a work on disk: read once, the same when opened, made anew when damaged, never in a search's way."""

from __future__ import annotations

import pytest

from relic_core.caching import LRUCache
from relic_core.errors import StaleIndex
from relic_core.retrieval.speech import stored_speech
from relic_core.text import speech as text_speech
from relic_core.text.speech import WorkSpeech
from tests.making import make_work


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch):
    """Keep one work in memory, and open another one between."""
    monkeypatch.setattr(text_speech, "_kept", LRUCache(1))


@pytest.fixture
def work():
    return make_work(["“The river is up,” said Tamsin.", "Nobody ran.", "“Run!” cried Job. “Run, I say!”"])


def opened(work, tmp_path, load):
    stored_speech((other := make_work(["Rain."])).version, indexes=tmp_path, load=lambda _: other)
    return stored_speech(work.version, indexes=tmp_path, load=load)


def never(work_id):
    raise AssertionError(f"the text of {work_id} was loaded")


def same(found, work):
    expected = WorkSpeech.of(work)
    return (found.speeches, found.spoken.tolist()) == (
        expected.speeches, expected.spoken.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("chapters", [[], [["Rain fell."]], None])
def test_speech_read_once_is_opened_without_the_text(work, tmp_path, chapters):
    work = work if chapters is None else make_work(*chapters)
    assert same(opened(work, tmp_path, lambda _: work), work)
    assert same(opened(work, tmp_path, never), work)


def test_what_is_damaged_is_made_anew(work, tmp_path):
    opened(work, tmp_path, lambda _: work)
    for path in (tmp_path / "speech" / work.id).rglob("names.npy"):
        path.write_bytes(b"")
    assert same(opened(work, tmp_path, lambda _: work), work)
    assert same(opened(work, tmp_path, never), work)


def test_a_folder_that_cannot_be_written_is_in_no_search_s_way(work, tmp_path):
    (tmp_path / "speech").write_text("no folder")
    assert same(opened(work, tmp_path, lambda _: work), work)


def test_the_speech_of_another_version_is_refused(work, tmp_path):
    with pytest.raises(StaleIndex):
        opened(work, tmp_path, lambda _: make_work(["“Up,” said Job."]))
