"""The store's rows of secondary sources: what replaces what, what hides what, what comes back in which order."""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, datetime, timedelta

import pytest

from relic_core.domain import Judgement, Pair
from relic_core.errors import NotFound
from relic_core.store import Store
from relic_core.store.sources import MinedSource
from tests.making import make_work
from tests.making_sources import make_source, make_window

WORK = make_work([["The lamp was lit."], ["The tide came in.", "It went out again."], ["Nobody counted."]])
OTHER = make_work([["Another book begins."]], title="Another")
SOURCE = make_source("Tides")


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "relic.duckdb")
    made.works.add(WORK)
    made.works.add(OTHER)
    return made


def pair(number: int, source=SOURCE, **given) -> Pair:
    facts = {
        "id": f"{number:012x}", "source_id": source.id, "kind": "inline", "left": ("One.", "Two."),
        "quotation": f"words of quotation {number}", "right": (), "at": (number, number + 5), "passage": (0, 99),
    }  # fmt: skip
    return Pair(**{**facts, **given})


def mined(source=SOURCE, *, work=WORK, **given) -> MinedSource:
    facts = {
        "source": source, "file": f"file of {source.id}", "root": "/books", "rules": "rules/1", "works": ("one",),
        "segmenters": {work.id: work.segmenter}, "pairs": (pair(1, source), pair(2, source)),
        "windows": (make_window(work, source, 0),), "dropped": {"too short": 3},
    }  # fmt: skip
    return MinedSource(**{**facts, **given})


def windows(store, show="all"):
    return [stored.window for batch in store.windows.iterate(show) for stored in batch]


def pairs(store, split=""):
    return [each for batch in store.pairs.iterate(split) for each in batch]


def judgement(window, answer, *, judge="a", minutes=0, question="match"):
    created = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    return Judgement(window_id=window.id, question=question, answer=answer, judge=judge, comment="", created=created)


def test_what_was_added_comes_back_as_it_was(store):
    source = dataclasses.replace(SOURCE, number=138, origin="a shelf", licence="CC0")
    given = mined(source, windows=(make_window(WORK, source, 1, 2, left=(), score=87.5),))
    store.sources.add(given)
    assert store.sources.get(source.id) == source
    assert tuple(windows(store)) == given.windows
    assert store.pairs.of_source(source.id) == given.pairs
    assert store.windows.get(given.windows[0].id) == (given.windows[0], "")


def test_mining_again_adds_nothing_twice(store):
    store.sources.add(mined())
    store.sources.add(mined())
    assert len(windows(store)) == 1
    assert len(pairs(store)) == 2
    assert len(store.sources.all()) == 1


def test_a_search_for_other_works_leaves_pairs_and_windows_as_they_are(store):
    store.sources.add(mined())
    new = make_window(OTHER, SOURCE, 0)
    store.sources.add(mined(work=OTHER, pairs=None, windows=(new,), works=("two",)))
    assert {window.work_id for window in windows(store)} == {WORK.id, OTHER.id}
    assert len(pairs(store)) == 2
    (known,) = store.sources.known()
    assert known.works == {"one", "two"}
    assert known.pairs


def test_other_rules_replace_all_that_was_found_under_the_old(store):
    store.sources.add(mined())
    store.sources.add(mined(work=OTHER, rules="rules/2", pairs=(), windows=()))
    assert windows(store) == []
    assert pairs(store) == []
    assert [known.rules for known in store.sources.known()] == ["rules/2"]


def test_a_source_that_could_not_be_read_gives_way_to_itself_when_it_can(store):
    unread = dataclasses.replace(make_source("Unread"), sha256="", name=SOURCE.name, origin=SOURCE.origin)
    store.sources.add(mined(unread, file="", pairs=None, windows=(), segmenters={}, problem="It is damaged."))
    assert [stored.problem for stored in store.sources.all()] == ["It is damaged."]
    assert store.sources.known() == ()
    store.sources.add(mined())
    assert [(stored.source, stored.problem) for stored in store.sources.all()] == [(SOURCE, "")]


def test_a_reprint_gives_no_pair_twice_and_stands_in_when_the_first_is_removed(store):
    first, reprint = sorted((make_source("A Book"), make_source("A Reprint")), key=lambda source: source.id)
    for source in (reprint, first):
        store.sources.add(mined(source, windows=()))
    assert {each.source_id for each in pairs(store)} == {first.id}
    assert store.pairs.count() == len(store.pairs.ids()) == 2
    store.sources.remove(first.id)
    assert {each.source_id for each in pairs(store)} == {reprint.id}


def test_a_removed_source_takes_all_with_it_and_brings_it_back(store):
    store.sources.add(mined())
    assert store.sources.remove(SOURCE.id) == SOURCE
    assert (store.sources.all(), windows(store), pairs(store)) == ((), [], [])
    assert store.sources.removed() == (SOURCE,)
    assert store.sources.known()[0].removed
    with pytest.raises(NotFound):
        store.sources.remove(SOURCE.id)
    store.sources.restore(SOURCE.id)
    assert len(windows(store)) == 1
    assert len(pairs(store)) == 2


def test_windows_go_with_their_work_and_come_back_with_it(store):
    store.sources.add(mined())
    store.works.remove(WORK.id)
    assert windows(store) == []
    with pytest.raises(NotFound, match="no window"):
        store.windows.get(make_window(WORK, SOURCE, 0).id)
    store.works.restore(WORK.id)
    assert len(windows(store)) == 1


def test_windows_on_sentences_of_an_earlier_cut_are_not_shown(store):
    store.sources.add(mined())
    store.works.add(dataclasses.replace(WORK, segmenter="by hand/2"))
    assert windows(store) == []


def test_windows_are_listed_by_page_in_the_order_of_work_or_source(store):
    late, early = (make_window(WORK, SOURCE, at) for at in (3, 0))
    store.sources.add(mined(windows=(late, early)))
    total, page = store.windows.page(work_id=WORK.id, limit=1)
    assert (total, [each.window for each in page]) == (2, [early])
    assert [each.window for each in store.windows.page(source_id=SOURCE.id, start=1, limit=5)[1]] == [late]
    assert store.windows.golds(WORK.id) == ((SOURCE.id, 0, 1), (SOURCE.id, 3, 1))
    assert [each.window for each in store.windows.quoting(WORK.id, 3)] == [late]


def test_reasons_replace_those_before(store):
    first, second = make_window(WORK, SOURCE, 0), make_window(WORK, SOURCE, 1)
    store.sources.add(mined(windows=(first, second)))
    store.windows.set_aside({first.id: "too seldom"})
    store.windows.set_aside({second.id: "another edition"})
    assert windows(store, "kept") == [first]
    assert store.windows.page(source_id=SOURCE.id, show="set aside")[1] == ((second, "another edition"),)
    assert store.sources.counts() == ((SOURCE.id, 2, 1, 1),)


def test_reasons_outlast_a_removal_while_others_are_written(store):
    there, hidden, other = make_window(WORK, SOURCE, 0), make_window(OTHER, SOURCE, 0), make_window(WORK, SOURCE, 1)
    both = {each.id: each.segmenter for each in (WORK, OTHER)}
    store.sources.add(mined(windows=(there, hidden, other), segmenters=both))
    store.windows.set_aside({there.id: "too seldom", hidden.id: "another edition"})
    store.works.remove(OTHER.id)
    store.windows.set_aside({other.id: "a reprint"})  # by a run that sees no window on the work
    store.works.restore(OTHER.id)
    reasons = {each.window.id: each.set_aside for each in store.windows.page(source_id=SOURCE.id, show="all")[1]}
    assert reasons == {there.id: "", hidden.id: "another edition", other.id: "a reprint"}


def test_what_was_mined_from_a_folder_that_was_moved_is_known_by_its_last_place(store):
    for root in ("/z", "/a", "/moved"):
        store.sources.add(mined(root=root))
    assert [each.root for each in store.sources.known()] == ["/moved"]


def test_a_window_judged_wrong_is_set_aside_until_that_is_taken_back(store):
    window = make_window(WORK, SOURCE, 0)
    store.sources.add(mined())
    store.windows.judge(judgement(window, "wrong"))
    assert store.windows.get(window.id).set_aside
    store.windows.judge(judgement(window, "", minutes=1))
    assert store.windows.get(window.id).set_aside == ""
    assert store.windows._one("SELECT count(*) FROM judgements") == (2,)


def test_of_one_judge_the_last_answer_counts_and_across_judges_the_last(store):
    window = make_window(WORK, SOURCE, 0)
    for answer, judge, minutes in (("wrong", "a", 0), ("right", "b", 1), ("right", "a", 2), ("wrong", "b", 3)):
        store.windows.judge(judgement(window, answer, judge=judge, minutes=minutes))
    assert store.windows.answers()[window.id, "match"] == "wrong"
    store.windows.judge(judgement(window, "", judge="b", minutes=4))
    assert store.windows.answers([window.id])[window.id, "match"] == "right"
    assert store.windows.answers(["another"]) == {}


def test_of_answers_given_at_one_moment_the_last_written_counts(store):
    window = make_window(WORK, SOURCE, 0)
    for answer in ("right", "wrong", "right"):
        store.windows.judge(judgement(window, answer))
    assert store.windows.answers()[window.id, "match"] == "right"


def test_a_split_replaces_the_one_before_of_its_kind(store):
    store.sources.add(mined())
    one, two = store.pairs.ids()
    store.splits.replace("pair", [(one, "dev", ""), (two, "training", "")])
    store.splits.replace("window", [("w", "test", "")])
    store.splits.replace("pair", [(one, "left out", "of a novel"), (two, "training", "")])
    assert store.splits.of("pair") == {one: ("left out", "of a novel"), two: ("training", "")}
    assert store.splits.of("window") == {"w": ("test", "")}
    assert store.splits.counts("pair") == {"left out": 1, "training": 1}
    assert [each.id for each in pairs(store, "training")] == [two]


def test_pairs_come_in_batches_of_whole_sources(store):
    sources = [make_source(f"Book {number}") for number in range(4)]
    for source in sources:
        store.sources.add(
            mined(source, windows=(), pairs=tuple(pair(100 * sources.index(source) + n, source) for n in (1, 2)))
        )
    sizes = [len(batch) for batch in store.pairs.iterate(batch=3)]
    assert sum(sizes) == store.pairs.count()
    assert max(sizes) <= 3
    assert len(sizes) > 1


def test_twenty_thousand_pairs_are_stored_and_read_in_seconds(store):
    many = tuple(
        pair(number, left=("Some sentence of usual length, more or less." * 3,) * 4) for number in range(20_000)
    )
    began = time.process_time()
    store.sources.add(mined(pairs=many, windows=()))
    assert len(pairs(store)) == 20_000
    assert time.process_time() - began < 10


def test_half_of_a_mining_is_never_kept(store):
    store.sources.add(mined())
    broken = dataclasses.replace(make_window(WORK, SOURCE, 2), work_id="no such work")
    with pytest.raises(KeyError):
        store.sources.add(mined(pairs=(pair(7),), windows=(broken,)))
    assert len(pairs(store)) == 2
    assert len(windows(store)) == 1


def test_what_is_not_there_is_told(store):
    for ask in (store.sources.get, store.sources.restore, store.sources.remove):
        with pytest.raises(NotFound, match="'nothing'"):
            ask("nothing")
