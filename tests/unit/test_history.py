"""The history: the same question under the same id, the latest first."""

import pytest

from relic_core.domain import SearchRequest
from relic_core.errors import NotFound
from relic_core.wiring import build


@pytest.fixture
def history(settings):
    return build(settings).history


def keep(history, claim, *, made_with="", **changed):
    question = {"length": 2, "retrievers": ("bm25", "zero-shot"), "results": 5} | changed
    return history.keep(SearchRequest(work_id="the-ferry", claim_text=claim, **question), made_with=made_with)


def test_the_same_question_has_the_same_id_every_time_and_another_question_another(history):
    first = keep(history, "She counts lanterns.", made_with="version 1")
    again = keep(history, "She counts lanterns.", made_with="version 2")
    assert again.id == first.id
    assert history.get(first.id) == again, "the latest answers"
    assert keep(history, "She counts lanterns.", length=3).id != first.id


def test_the_same_question_has_the_same_id_in_another_store(history, settings, tmp_path):
    elsewhere = build(type(settings)(data=tmp_path / "elsewhere", indexes=settings.indexes)).history
    assert keep(elsewhere, "She counts lanterns.").id == keep(history, "She counts lanterns.").id


def test_recent_lists_the_newest_first_and_each_question_once(history):
    for claim in ("One", "Two", "Three", "One"):
        keep(history, claim)
    assert [search.request.claim_text for search in history.recent()] == ["One", "Three", "Two"]
    assert [search.request.claim_text for search in history.recent(1)] == ["One"]


def test_an_id_is_found_as_people_copy_it(history):
    kept = keep(history, "She counts lanterns.")
    assert history.get(f" {kept.id.upper()}\n") == kept


def test_an_unknown_id_says_what_to_do(history):
    with pytest.raises(NotFound, match=r"'abcdefg'"):
        history.get("abcdefg")
