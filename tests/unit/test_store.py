"""What the store keeps is what was given."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from relic_core.domain import Claim, Example, Job, SearchRequest, Span
from relic_core.errors import NotFound
from relic_core.store import Store
from tests.making import FERRY, work_of


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "data" / "relic.duckdb", lock_seconds=1)


def test_a_work_comes_back_as_it_was_added(store):
    work = work_of()
    summary, outcome = store.works.add(work)
    assert outcome == "added"
    assert store.works.load(work.id) == work
    assert (summary.chapters, summary.sentences, summary.words) == (2, 5, 26)
    assert summary.added.tzinfo is UTC
    assert store.works.summaries() == (summary,)


def test_summaries_stand_by_title_whatever_its_capitals(store):
    for title in ("beta", "Alpha", "Gamma"):
        store.works.add(work_of(f"Text\n\n{title} is here.\n", work_id=title, title=title))
    assert [summary.title for summary in store.works.summaries()] == ["Alpha", "beta", "Gamma"]


def test_the_same_text_twice_is_one_work(store):
    store.works.add(work_of())
    summary, outcome = store.works.add(work_of(work_id="another", title="Another title"))
    assert (outcome, summary.id, summary.title) == ("already", "the-ferry-00000000", "The Ferry")
    assert len(store.works.summaries()) == 1


def test_what_is_given_of_a_stored_text_corrects_it_and_leaves_the_rest(store):
    first, _ = store.works.add(work_of())
    found = replace(work_of(), title="Ferries", author="B. Body", year=None)
    summary, outcome = store.works.add(found, given=("author",))
    assert (outcome, summary.id, summary.title, summary.author) == ("corrected", first.id, "The Ferry", "B. Body")
    assert store.works.load(first.id) == replace(work_of(), author="B. Body")
    assert store.works.add(found, given=("author",)) == (summary, "already")
    recut = replace(found, title="The Boat", segmenter="by-hand/2")
    summary, outcome = store.works.add(recut, given=("title",))
    assert (outcome, summary.title, summary.author) == ("cut again", "The Boat", "B. Body")


def test_a_removed_work_is_hidden_until_the_removal_is_undone(store):
    work = work_of()
    store.works.add(work)
    assert not store.works.is_removed(work.sha256)
    store.works.remove(work.id)
    assert store.works.is_removed(work.sha256)
    assert store.works.summaries() == ()
    for use in (store.works.load, store.works.version, store.works.remove):
        with pytest.raises(NotFound, match="the-ferry"):
            use(work.id)
    store.works.restore(work.id)
    assert store.works.load(work.id) == work
    store.works.restore(work.id)
    assert len(store.works.summaries()) == 1


def test_a_removed_text_added_again_is_back_under_its_id_with_what_is_now_known_of_it(store):
    first, _ = store.works.add(work_of())
    store.works.remove("the-ferry-00000000")
    summary, outcome = store.works.add(work_of(work_id="ferries", title="Ferries"))
    assert summary.added == first.added
    assert (outcome, summary.id, summary.title) == ("restored", "the-ferry-00000000", "Ferries")
    assert len(store.works.load(summary.id).sentences) == 5


def test_another_segmenter_cuts_a_stored_text_anew_and_leaves_the_rest(store):
    work = work_of()
    first, _ = store.works.add(work)
    before = store.works.version(work.id)
    coarse = replace(work, title="Forgotten", segmenter="by-hand/2", sentences=work.sentences[:2])
    summary, outcome = store.works.add(coarse)
    assert (outcome, summary.title, summary.sentences) == ("cut again", "The Ferry", 2)
    assert summary.added == first.added
    after = store.works.version(work.id)
    assert (after.sha256, after.segmenter) == (work.sha256, "by-hand/2")
    assert after.written > before.written
    assert store.works.load(work.id) == replace(coarse, title="The Ferry")


def test_a_work_as_long_as_war_and_peace_is_added_and_loaded_in_bulk(store):
    work = work_of("Long\n\n" + "".join(f"A sentence of middling length, number {n}.\n" for n in range(32_000)))
    began = time.monotonic()
    store.works.add(work)
    assert time.monotonic() - began < 3, "row by row it takes above ten seconds, in bulk a tenth of one"
    assert len(store.works.load(work.id).sentences) == 32_000


def test_works_do_not_mix(store):
    first, second = work_of(), work_of("Other\n\nAn end.\n", work_id="other", title="Other")
    store.works.add(first)
    store.works.add(second)
    assert store.works.load("other") == second
    assert store.works.load(first.id) == first


def test_restoring_what_never_was_is_an_error(store):
    with pytest.raises(NotFound, match="'nothing'"):
        store.works.restore("nothing")


def test_an_add_that_fails_half_way_leaves_nothing(store):
    work = work_of()
    broken = replace(work, left_out=(replace(work.left_out[0], start="nowhere"),))
    with pytest.raises(Exception, match="nowhere"):
        store.works.add(broken)
    assert store.works.summaries() == ()
    assert store.works.add(work)[1] == "added"
    assert store.works.load(work.id) == work


def test_the_stamp_changes_with_writing_alone(store):
    store.works.add(work_of())
    before = store.stamp()
    store.works.summaries()
    assert store.stamp() == before
    store.works.remove("the-ferry-00000000")
    assert store.stamp() != before


def test_examples_of_a_split_are_replaced_whole(store):
    examples = [
        Example(f"e{number}", "w", Claim("left", "right", masked=True), Span(number, 2), kind="irony", split="sample")
        for number in range(3)
    ]
    store.examples.replace("sample", examples)
    store.examples.replace("dev", [replace(examples[0], split="dev")])
    assert store.examples.of_split("sample") == tuple(examples)
    store.examples.replace("sample", examples[:1])
    assert store.examples.of_split("sample") == tuple(examples[:1])
    store.examples.replace("sample", [])
    assert store.examples.of_split("sample") == ()
    assert len(store.examples.of_split("dev")) == 1


def ask(store, claim="She counts lanterns.", **changed):
    made_with = changed.pop("made_with", "")
    question = {"length": 2, "retrievers": ("bm25", "zero-shot"), "results": 5} | changed
    return store.searches.keep(SearchRequest(work_id="the-ferry", claim_text=claim, **question), made_with=made_with)


def test_the_same_question_has_the_same_short_id_and_another_question_another(store):
    first = ask(store, made_with="version 1")
    assert len(first.id) == 7
    again = ask(store, made_with="version 2")
    assert again.id == first.id
    others = [ask(store, length=3), ask(store, results=6), ask(store, retrievers=("bm25",)), ask(store, "Another")]
    assert len({first.id, *(other.id for other in others)}) == 5
    assert store.searches.get(first.id) == again
    assert [search.id for search in store.searches.recent(10)] == [
        *(other.id for other in reversed(others)),
        first.id,
    ]
    assert len(store.searches.recent(2)) == 2


def test_two_questions_with_the_same_beginning_of_their_names_stay_apart(store, monkeypatch):
    digests = iter(["aaaaaaa1", "aaaaaaa2", "aaaaaaa2"])
    monkeypatch.setattr("relic_core.store.searches.question_digest", lambda *_, **__: next(digests))
    assert [ask(store, "One").id, ask(store, "Two").id, ask(store, "Two").id] == ["aaaaaaa", "aaaaaaa2", "aaaaaaa2"]


def test_a_claim_is_kept_to_the_letter(store):
    claim = "“Zoë's” ‘lantern’ [MASK]\n\tДа; --\x00 '); DROP TABLE searches; --"
    assert store.searches.get(ask(store, claim).id).request.claim_text == claim


def test_an_unknown_search_says_what_to_do(store):
    with pytest.raises(NotFound):
        store.searches.get("abc")


def test_jobs_are_taken_in_once(store):
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    job = Job("aaaaaaaa", "add", "Adding", "x", "done", 1, 1, "Added.", moment, moment)
    store.jobs.add([job])
    store.jobs.add([replace(job, note="changed"), replace(job, id="bbbbbbbb", created=moment.replace(day=3))])
    assert store.jobs.get("aaaaaaaa") == job
    assert [kept.id for kept in store.jobs.recent(5)] == ["bbbbbbbb", "aaaaaaaa"]
    with pytest.raises(NotFound):
        store.jobs.get("cccccccc")


def test_the_handmade_work_is_sound():
    work = work_of()
    assert [work.sentence_text(index) for index in (0, 2, 4)] == [
        "The ferryman never counted his passengers.",
        "“Three,” he said; nobody answered.",
        "It rose all the same…",
    ]
    assert [chapter.number for chapter in work.chapters] == ["One", "Two"]
    assert work.text == FERRY
