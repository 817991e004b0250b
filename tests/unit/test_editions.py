"""What is known of a stored edition."""

import json
from dataclasses import replace

import numpy as np
import pytest

from relic_core.domain import SearchRequest
from relic_core.errors import NotFound
from relic_core.library.novel import novel
from relic_core.library.reading import read_file
from relic_core.retrieval import index_files
from relic_core.services.editions import count
from relic_core.text.languages import reads_english
from tests.making import FERRY, make_work, work_of

TEXT = "CHAPTER I\n\n“The river is up,” he said.\n\nCHAPTER II\n\nNobody counted the lanterns. Nobody’s LANTERNS.\n"


@pytest.fixture
def work(bench):
    return bench.works.add(TEXT.encode(), name="river.txt").work


def test_numbers_of_a_work_are_the_sums_of_its_chapters(bench, work):
    facts = bench.editions.facts(work.id)
    numbers = facts.numbers
    assert (numbers.words, numbers.sentences) == (work.words, work.sentences)
    assert sum(chapter.words for chapter in numbers.chapters) == numbers.words == 12
    assert sum(stretch.spoken for stretch in facts.novel.stretches) == numbers.spoken == 4
    assert sum(stretch.words for stretch in facts.novel.stretches) == numbers.words
    assert numbers.sentences == 3
    assert numbers.dialogue == pytest.approx(4 / 12)
    assert numbers.sentence_length == 4.0
    assert numbers.longest is numbers.chapters[0] or numbers.longest is numbers.chapters[1]
    assert 0 < numbers.set_aside < 1


def test_words_are_different_whatever_their_capitals_and_endings(bench, work):
    assert bench.editions.facts(work.id).numbers.distinct_words == len(
        {"the", "river", "is", "up", "he", "said", "nobody", "counted", "lanterns"}
    )


def test_each_chapter_has_the_address_of_its_first_sentence():
    work = work_of(FERRY)
    assert [stretch.at for stretch in novel(work).stretches] == ["1.1.1", "2.1.1"]
    (empty,) = count(make_work([])).chapters
    assert empty.words == 0
    assert novel(make_work([])).stretches == ()


def test_a_work_of_one_chapter_has_no_longest():
    assert count(make_work(["One."])).longest is None
    assert count(make_work()).dialogue == count(make_work()).sentence_length == count(make_work()).set_aside == 0.0


def test_only_its_own_searches_are_listed(bench, work):
    other = bench.works.add(b"It rained.", name="rain.txt").work
    for each in (work, other):
        bench.store.searches.keep(SearchRequest(work_id=each.id, claim_text=f"About {each.title}"))
    assert [search.request.work_id for search in bench.editions.facts(work.id).searches] == [work.id]


def test_where_people_sign_in_each_sees_their_own_searches(bench, work):
    for person in ("ada", "ben"):
        bench.store.searches.keep(SearchRequest(work_id=work.id, claim_text=f"Of {person}"), person=person)
    assert [search.request.claim_text for search in bench.editions.facts(work.id, person="ada").searches] == ["Of ada"]
    assert bench.editions.facts(work.id).searches == ()


def test_numbers_follow_the_text_when_a_work_is_removed_and_corrected(bench, work):
    before = bench.editions.facts(work.id)
    bench.works.describe(work.id, title="Another", author="", translator="", year=None)
    after = bench.editions.facts(work.id)
    assert after.summary.title == "Another"
    assert after.numbers is before.numbers, "they were counted once"
    bench.works.remove(work.id)
    with pytest.raises(NotFound):
        bench.editions.facts(work.id)


def test_a_work_that_is_removed_while_it_is_looked_at_is_told(bench, work, monkeypatch):
    monkeypatch.setattr(bench.works, "summaries", tuple)
    with pytest.raises(NotFound):
        bench.editions.facts(work.id)


def test_indexes_are_told_from_their_manifests(bench, work, settings):
    facts = bench.editions.facts(work.id)
    assert facts.indexes == ()
    assert facts.missing == ("dense-relic",)
    bench.indexes.start(work.id)
    facts = bench.editions.facts(work.id)
    assert facts.missing == ()
    (built,) = facts.indexes
    assert built.retriever == "dense-relic"
    assert built.encoder == bench.retrievers.get("dense-relic").encoder_identity
    assert built.fits
    arrays = (settings.indexes / "dense-relic" / work.id).glob("*/*.npy")
    assert built.size == sum(path.stat().st_size for path in arrays) > 0


def test_the_index_of_another_encoder_does_not_fit_and_a_damaged_one_is_none(bench, work, settings):
    bench.indexes.start(work.id)
    (manifest,) = index_files.manifests(settings.indexes, "dense-relic", work.id)
    facts = {name: manifest[name] for name in index_files.Recipe.__slots__}
    recipe = index_files.Recipe(**{**facts, "encoder": "another"})
    folder = index_files.save(settings.indexes, recipe, {"sums": np.zeros(3)})
    assert sorted((built.encoder == "another", built.fits) for built in bench.indexes.built(work.id)) == [
        (False, True),
        (True, False),
    ]
    said = json.loads((folder / index_files.MANIFEST).read_text())
    (folder / index_files.MANIFEST).write_text(json.dumps({**said, "encoder": "a third"}))
    assert [built.fits for built in bench.indexes.built(work.id)] == [True]
    (folder / index_files.MANIFEST).write_text("[]")
    assert [built.fits for built in bench.indexes.built(work.id)] == [True]


def test_an_index_from_before_broken_words_were_read_whole_does_not_fit_and_the_work_is_to_be_prepared(bench):
    read = read_file("Nobody rang the bell. The gar\u00adden was under water.".encode(), name="bell.txt")
    bench.store.works.add(replace(read, cuts=()))
    bench.indexes.start(read.id)
    assert [built.fits for built in bench.indexes.built(read.id)] == [True]
    bench.store.works.read_anew(read)
    assert [built.fits for built in bench.indexes.built(read.id)] == [False]
    assert bench.indexes.missing(read.id) == ("dense-relic",)
    assert bench.indexes.unprepared(bench.works.summaries()) == (read.id,)


def test_works_of_an_earlier_version_are_prepared_anew_where_they_have_broken_words(bench):
    broken = read_file("Nobody rang the bell. The gar\u00adden was under water.".encode(), name="bell.txt")
    whole = read_file(b"The river rose. Nobody rang the bell.", name="river.txt")
    for work in (broken, whole):
        bench.store.works.add(replace(work, cuts=()))
        bench.indexes.start(work.id)
    with bench.store.works._writing() as cursor:
        cursor.execute("UPDATE works SET cuts = NULL")
    assert [built.fits for built in bench.indexes.built(broken.id)] == [True], "it is searched as it was read before"
    bench.indexes.read_broken_words()
    assert bench.works.load(broken.id).cuts == broken.cuts
    assert sorted(built.fits for built in bench.indexes.built(broken.id)) == [False, True]
    assert [built.fits for built in bench.indexes.built(whole.id)] == [True]


FRENCH = "Le bac ne marchait plus, et personne ne sonnait la cloche de l'autre rive, loin de la rivière. " * 9


def test_a_work_in_another_language_says_that_the_models_read_english_before_anybody_waits(bench, work):
    added = bench.works.add(FRENCH.encode(), name="bac.txt")
    assert "in French" in added.notice
    assert bench.works.preview(FRENCH.encode(), name="bac.txt").notice == added.notice
    assert bench.editions.facts(added.work.id).foreign == bench.works.foreign(added.work.id) == added.notice
    assert bench.editions.facts(work.id).foreign == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("German", "Die Fähre lag still, und niemand rief mehr, denn der Fluss war nicht zu sehen. " * 9),
        ("Russian", "Паром больше не ходил, и никто не звонил в колокол на другом берегу реки. " * 9),
        ("", "The ferry did not run, and nobody on the far bank rang the bell for it that night. " * 9),
        ("", "Pierre said: « Jamais ! » The ferry did not run, and nobody on the far bank rang the bell. " * 9),
        ("", "Ferry, bell, lamp."),
    ],
    ids=["german", "russian", "english", "mixed", "short"],
)
def test_the_language_of_a_work_is_named(name, text):
    assert f"in {name}:" in reads_english(text) if name else reads_english(text) == ""


def test_a_search_by_meaning_says_so_while_its_column_is_pending_and_one_by_words_does_not(bench):
    added = bench.works.add(FRENCH.encode(), name="bac.txt").work
    asked = SearchRequest(work_id=added.id, claim_text="the ferry")
    assert "in French" in bench.search.run(asked).foreign
    assert bench.search.run(replace(asked, retrievers=("bm25",))).foreign == ""
