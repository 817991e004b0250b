"""The concordance over stored works: counts, order, pages, places, tables, and what it says where nothing is found."""

from __future__ import annotations

import csv
import dataclasses
import io
import threading

import pytest

from relic_core.cli import main
from relic_core.domain import Address
from relic_core.errors import BadRequest, NotFound
from relic_core.library import sample
from relic_core.services.concordance import PAGE, Concordance, ConcordanceRequest
from relic_core.store import shelf
from relic_core.store.shelf import Texts
from relic_core.text.reading import read_work
from relic_core.wiring import build

RIVER = """RIVER

CHAPTER I

The river rose all night. The old river rose again; a colour of brass lay on the river.

CHAPTER II

Nobody saw it.

CHAPTER III

“The river!” he said. The colours went. They go; they have gone.
"""
LAMPS = "LAMPS\n\nCHAPTER 1\n\nA lamp by the river. Lamps and lamps, and the colour of the lamp.\n"


@pytest.fixture
def bench(settings):
    made = build(settings)
    vars(made)["river"] = made.works.add(RIVER.encode(), name="river.txt", title="The River").work.id
    vars(made)["lamps"] = made.works.add(LAMPS.encode(), name="lamps.txt", title="Lamps", author="A. Nobody").work.id
    return made


def find(bench, word, **asked):
    return bench.concordance.find(ConcordanceRequest(word=word, **asked))


def lines(answer):
    return [f"{row.left}|{row.keyword}|{row.right}" for row in answer.rows]


def rights(answer):
    return [row.right.split()[0] if row.right.split() else "" for row in answer.rows]


# ---- one work -----------------------------------------------------------------------------------------------------


def test_places_and_addresses_are_those_of_the_work(settings):
    bench = build(settings)
    made = bench.ensure_sample()
    work = bench.works.load(made.id)
    answer = find(bench, "the", work_id=made.id)
    pages = [find(bench, "the", work_id=made.id, page=page) for page in range(1, answer.pages + 1)]
    rows = [row for page in pages for row in page.rows]
    assert len(rows) == answer.total > 10 * PAGE
    for row in rows:
        from relic_core.domain import Span

        index = work.sentence_at(row.place.address)
        assert row.place == work.place(Span(index, 1))
        assert "the" in work.sentence_text(index).casefold()


def test_counts_by_chapter(bench):
    (work,) = find(bench, "river", work_id=bench.river).works
    assert [chapter.count for chapter in work.chapters] == [3, 0, 1]
    assert [str(chapter.at) if chapter.at else None for chapter in work.chapters] == ["1.1.1", None, "3.1.1"]
    assert sum(chapter.words for chapter in work.chapters) == work.words
    assert work.chapters[0].begins == 0
    assert sum(work.density) == work.count == 4
    assert work.chapters[0].rate == pytest.approx(10_000 * 3 / work.chapters[0].words)


def test_the_order_goes_by_the_neighbour_asked_for_then_the_second_then_the_text(bench):
    assert rights(find(bench, "river", work_id=bench.river)) == ["rose", "rose", ".", "!”"]
    by_right = find(bench, "river", work_id=bench.river, sort="right")
    assert [row.right[:11] for row in by_right.rows] == [".", "!” he said.", " rose again", " rose all n"]
    by_left = find(bench, "river", work_id=bench.river, sort="left")
    assert [row.left.split()[-1].strip("“") for row in by_left.rows] == ["old", "The", "The", "the"]
    assert by_left.rows[1].place.address == Address(1, 1, 1), "no word before it comes first"


def test_forms_are_counted_as_printed_and_can_be_looked_at_alone(bench):
    answer = find(bench, "go", work_id=bench.river, forms=True)
    assert {(form.label, form.count) for form in answer.forms} == {("go", 1), ("went", 1), ("gone", 1)}
    alone = find(bench, "go", work_id=bench.river, forms=True, only="went")
    assert [row.keyword for row in alone.rows] == ["went"]
    assert alone.forms == answer.forms
    assert [work.count for work in alone.works] == [1]


def test_word_forms_are_counted_unasked_and_the_wider_query_finds_them(bench):
    answer = find(bench, "go", work_id=bench.river)
    assert (answer.total, {(form.label, form.count) for form in answer.more}) == (1, {("went", 1), ("gone", 1)})
    wider = find(bench, "go", work_id=bench.river, forms=True)
    assert wider.total == answer.total + sum(form.count for form in answer.more)
    asked = ({"forms": True}, {"as_written": True}, {"only": "go"})
    assert not any(find(bench, "go", work_id=bench.river, **each).more for each in asked)


def test_the_words_of_alternatives_are_counted_one_by_one_where_none_is_found(bench):
    answer = find(bench, "rivver | lampp")
    assert [(word.word, word.near) for word in answer.words] == [("rivver", ("river",)), ("lampp", ("lamp", "lamps"))]


def test_a_form_is_named_as_it_is_mostly_printed(bench):
    (form, other) = find(bench, "lamp*", work_id=bench.lamps).forms
    assert {(form.key, form.label, form.count), (other.key, other.label, other.count)} == {
        ("lamp", "lamp", 2),
        ("lamps", "Lamps", 2),
    }


def test_pages_beyond_the_last_show_the_last(bench):
    answer = find(bench, "river", page=99)
    assert (answer.page, answer.pages) == (1, 1)
    assert len(answer.rows) == answer.total


# ---- all works ----------------------------------------------------------------------------------------------------


def test_all_works_are_counted_the_most_frequent_first_and_listed_by_title(bench):
    answer = find(bench, "the river")
    assert [(work.work.title, work.count) for work in answer.works] == [("The River", 3), ("Lamps", 1)]
    assert [row.work.title for row in answer.rows] == ["Lamps", "The River", "The River", "The River"]
    assert answer.searched == 2


def test_a_removed_work_is_no_longer_found_and_a_restored_one_again(bench):
    assert find(bench, "brass").total == 1
    bench.works.remove(bench.river)
    assert find(bench, "brass").total == 0
    with pytest.raises(NotFound):
        find(bench, "brass", work_id=bench.river)
    bench.works.restore(bench.river)
    assert find(bench, "brass").total == 1


def test_a_work_that_another_visitor_removes_meanwhile_is_left_out_of_all(bench, monkeypatch):
    read = type(bench.store.texts).read

    def removed_first(rows, work_ids):
        monkeypatch.undo()
        bench.works.remove(bench.river)
        return read(rows, work_ids)

    monkeypatch.setattr(type(bench.store.texts), "read", removed_first)
    answer = find(bench, "river")
    assert [row.work.title for row in answer.rows] == ["Lamps"]
    assert answer.searched == 1


def test_speech_and_narration_part_the_places_of_a_word(bench):
    spoken, told = find(bench, "river", voice="speech"), find(bench, "river", voice="narration")
    assert [row.right.split()[0] for row in spoken.rows] == ["!”"]
    assert spoken.total + told.total == find(bench, "river").total
    assert [work.count for work in told.works] == [3, 1]
    nothing = find(bench, "colour*", voice="speech")
    assert nothing.total == 0
    assert [(offer.request.voice, offer.count) for offer in nothing.offers] == [("any", 3)]


def test_a_work_added_later_is_looked_through_too(bench):
    assert find(bench, "zebra").total == 0
    bench.works.add(b"CHAPTER I\n\nA zebra.\n", name="zebra.txt", title="Zebra")
    assert [row.work.title for row in find(bench, "zebra").rows] == ["Zebra"]


def test_a_corrected_title_shows(bench):
    find(bench, "brass")
    bench.works.describe(bench.river, title="The Stream", author="", translator="", year=None)
    assert [row.work.title for row in find(bench, "brass").rows] == ["The Stream"]


def test_memory_is_bounded_and_answers_stay_the_same(bench, monkeypatch):
    whole = find(bench, "the", sort="left")
    small = Texts(bench.shelf, bench.store.texts, most_bytes=1)
    request = ConcordanceRequest(word="the", sort="left")
    concordance = Concordance(small, {}.__getitem__)
    assert lines(concordance.find(request)) == lines(whole)
    assert len(small._kept) == 1
    monkeypatch.setattr(shelf, "_MOST_WORDS", 3)
    assert lines(concordance.find(request)) == lines(whole)
    assert lines(concordance.find(ConcordanceRequest(word="lamp*"))) == lines(find(bench, "lamp*"))


def test_visitors_at_once_get_each_their_own_answer(bench):
    wanted = {word: find(build(bench.settings), word).total for word in ("the", "river", "lamp*", "colour", "a", "zzz")}
    got = {}
    threads = [
        threading.Thread(target=lambda word=word: got.update({word: find(bench, word).total}))
        for word in wanted
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == wanted


# ---- nothing found ------------------------------------------------------------------------------------------------


def test_a_misspelt_word_names_its_neighbours(bench):
    answer = find(bench, "rivver", work_id=bench.river)
    assert answer.total == 0
    assert [(word.word, word.count, word.near) for word in answer.words] == [("rivver", 0, ("river",))]


def test_the_words_of_a_phrase_are_counted_one_by_one(bench):
    answer = find(bench, "river colour")
    assert [(word.word, word.count) for word in answer.words] == [("river", 5), ("colour", 2)]


def test_offers_find_what_they_promise(bench):
    offers = find(bench, "colors", work_id=bench.lamps).offers
    assert next((offer.request.variants, offer.request.forms, offer.request.work_id) for offer in offers) == (
        True,
        True,
        bench.lamps,
    )
    assert find(bench, "COLOUR", work_id=bench.lamps, as_written=True).offers[0].request.as_written is False
    for word in ("colors", "COLOUR", "brass", "nothing"):
        for offer in find(bench, word, work_id=bench.lamps).offers:
            assert offer.count in (None, bench.concordance.find(offer.request).total)
            assert offer.count != 0


# ---- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sort": "middle"}, "is not an order"),
        ({"as_written": True, "forms": True}, "leaves no room"),
        ({"as_written": True, "variants": True}, "leaves no room"),
        ({"page": 0}, "no page 0"),
        ({"page": 10**9}, "no page"),
        ({"word": "…"}, "no word"),
    ],
)
def test_what_cannot_be_done_is_told(bench, asked, said):
    with pytest.raises(BadRequest, match=said):
        bench.concordance.find(ConcordanceRequest(**{"word": "river", **asked}))


# ---- the table ----------------------------------------------------------------------------------------------------


def read_table(data):
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_a_table_has_every_place_in_the_order_asked_for_and_says_what_was_asked(bench):
    request = ConcordanceRequest(word="the river", sort="left", variants=True, page=7)
    rows = read_table(bench.concordance.export(request))
    answer = bench.concordance.find(dataclasses.replace(request, page=1))
    assert [(row["work"], row["sentence"], row["keyword"]) for row in rows] == [
        (row.work.title, str(row.place.address), row.keyword) for row in answer.rows
    ]
    assert {(row["query"], row["options"], row["address"]) for row in rows} == {
        ("the river", "spelling variants; by left neighbour", "concordance?word=the+river&sort=left&variants=1")
    }
    assert {row["author"] for row in rows} == {"", "A. Nobody"}
    assert {row["edition"] for row in rows} == {work.sha256 for work in bench.works.summaries()}


def test_pandas_reads_the_table(bench):
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(io.BytesIO(bench.concordance.export(ConcordanceRequest(word="river"))))
    assert list(table["keyword"]) == ["river"] * 5
    assert next(iter(table.columns)) == "work"


def test_a_title_that_is_a_formula_stays_words(settings):
    bench = build(settings)
    bench.works.add(b"CHAPTER I\n\nA river.\n", name="x.txt", title="=HYPERLINK(1)", author="@me")
    (row,) = read_table(bench.concordance.export(ConcordanceRequest(word="river")))
    assert (row["work"], row["author"]) == ("'=HYPERLINK(1)", "'@me")


# ---- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def command(bench, monkeypatch, capsys):
    for name, value in bench.settings.to_environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments):
        code = main(["concordance", *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_command_prints_the_words_under_one_another(command, bench):
    code, out, _ = command("river", "--work", "The River", "--sort", "right")
    *places, total = out.splitlines()
    assert code == 0
    assert len({line.index("river", 12) for line in places}) == 1
    assert total == "4 in 1 of 1 works: river 4"


def test_the_command_takes_a_phrase_options_and_a_table(command, bench, tmp_path):
    path = tmp_path / "it.csv"
    code, out, _ = command("they", "go", "--forms", "--variants", "--limit", "0", "--csv", str(path))
    assert (code, out.splitlines()) == (0, ["1 in 1 of 2 works: They go 1"])
    assert [row["keyword"] for row in read_table(path.read_bytes())] == ["They go"]


def test_the_command_says_what_is_near(command):
    code, out, _ = command("rivver")
    assert code == 0
    assert out.splitlines()[:2] == ["0 in 0 of 2 works", "Words like rivver: river"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("…",), "no word"),
        (("river", "--work", "Nowhere"), "no work 'Nowhere'"),
        (("river", "--limit", "-1"), "--limit is -1"),
        (("river", "--csv", "/nowhere/at/all.csv"), "cannot be written"),
        (("river", "--as-written", "--forms"), "leaves no room"),
    ],
)
def test_the_command_tells_what_cannot_be_done(command, arguments, said):
    code, _, error = command(*arguments)
    assert code == 1
    assert said in error


# ---- real novels --------------------------------------------------------------------------------------------------


@pytest.mark.corpus
def test_war_and_peace_holds_what_plain_counting_finds(settings, shared):
    bench = build(settings)
    work = bench.works.add(shared / "corpus" / "primary" / "war_and_peace.txt").work
    loaded = bench.works.load(work.id)
    from relic_core.text.words import fold, word_spans

    counts = {"the": 0, "peace": 0, "natasha": 0}
    for index in range(len(loaded.sentences)):
        sentence = loaded.sentence_text(index)
        for start, end, _ in word_spans(sentence):
            word = fold(sentence[start:end]).removesuffix("'s")
            if word in counts:
                counts[word] += 1
    assert {word: find(bench, word, work_id=work.id).total for word in counts} == counts
    assert find(bench, "natasha", work_id=work.id, as_written=True).total == 0
    assert find(bench, "go", work_id=work.id, forms=True).total > 2000


def test_the_sample_examples_find_something(settings):
    from relic_ui.concordance.concordance import _EXAMPLES

    bench = build(settings)
    made = bench.ensure_sample()
    assert read_work(sample.NOVEL.read_bytes(), name="novel.txt").sha256 == made.sha256
    assert all(find(bench, word, work_id=made.id).total for word in _EXAMPLES)
