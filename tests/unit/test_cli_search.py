"""The commands `search` and `history`."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from relic_core.domain import SearchRequest, SeedPassage, WorkFilter
from relic_core.errors import BadRequest, NotFound, RelicError, StoreReadOnly
from relic_core.services.search import Search
from relic_core.store.searches import SearchRows
from relic_core.wiring import build
from tests.making import work_of
from tests.making_sources import keep, make_source, make_window

CLAIM = "He counted the lanterns"
WORDS = ("--retriever", "bm25")


@pytest.fixture
def ferry(settings):
    work = work_of()
    build(settings).store.works.add(work)
    return work


@pytest.fixture
def asked(settings):
    """Give the last search of the history."""
    return lambda: build(settings).history.recent()[0]


@pytest.fixture
def answer(run):
    """Search, and give the answer as JSON."""
    return lambda *typed: json.loads(run("search", *typed, *WORDS, "--format", "json").out)


@pytest.fixture
def changed(monkeypatch):
    """Change a part of every answer."""
    answers = Search.run

    def change(part):
        monkeypatch.setattr(Search, "run", lambda self, request, **options: part(answers(self, request, **options)))

    return change


def test_a_search_is_printed_with_its_places_and_kept_in_the_history(run, ferry, asked):
    ran = run("search", "ferry", CLAIM, "--length", "2", "--results", "3", *WORDS)
    assert (ran.code, ran.err) == (0, "")
    first = ran.out.partition("\n   2  ")[0]
    assert first.partition("\n")[2].startswith("   1  ")
    assert "He counted their lanterns instead." in " ".join(first.split())
    assert "\n      Chapter One, " in first
    kept = asked()
    assert kept.request == SearchRequest(work_id=ferry.id, claim_text=CLAIM, length=2, results=3, retrievers=("bm25",))
    assert kept.made_with


def test_a_search_that_cannot_be_kept_is_answered(run, ferry, monkeypatch):
    def refuse(*_, **__):
        raise StoreReadOnly("Full.")

    monkeypatch.setattr(SearchRows, "keep", refuse)
    ran = run("search", "ferry", CLAIM, *WORDS, "--format", "json")
    assert (ran.code, json.loads(ran.out)["claim"], ran.err.endswith("Full.\n")) == (0, CLAIM, True)


def test_a_weak_search_and_a_column_that_is_not_ready_are_told(run, ferry, changed):
    plain = run("search", "ferry", CLAIM, *WORDS).out
    changed(
        lambda result: replace(
            result,
            weak=True,
            columns=(*result.columns, replace(result.columns[0], cards=(), pending=True, note="Gone.")),
        )
    )
    ran = run("search", "ferry", CLAIM, *WORDS)
    assert len(ran.out) > len(plain)
    assert ran.err.splitlines()[0] == "BM25: Gone."
    assert ran.err.endswith(f" index {ferry.id}\n")


def test_passages_are_numbered_without_gaps_whatever_stands_behind_another_card(run, ferry, changed):
    def gapped(result):
        (column,) = result.columns
        return replace(result, columns=(replace(column, cards=tuple(replace(c, rank=7) for c in column.cards)),))

    changed(gapped)
    printed = run("search", "ferry", CLAIM, *WORDS).out
    numbers = [int(line.split()[0]) for line in printed.splitlines() if line[:6].strip().isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_a_search_as_json_is_verbatim_and_reads_the_claim_from_standard_input(answer, ferry, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CLAIM}: “He counted their lanterns instead.”\n"))
    found = answer("ferry", "-")
    assert found["claim"].startswith(f"{CLAIM}: ")
    (column,) = found["columns"]
    assert (column["retriever"], column["pending"], column["exact"]) == ("bm25", False, True)
    hit = column["hits"][0]
    assert (hit["rank"], hit["chapter"], hit["shared"][:2]) == (1, "Chapter One", ["counted", "lanterns"])
    assert ferry.text[hit["start"] : hit["end"]] == hit["quotation"]
    (quoted,) = found["quoted"]
    assert ferry.text[quoted["start"] : quoted["end"]].split() == quoted["words"].strip("“”").split()
    assert {"length", "weak", "unknown", "seconds", "made_with", "work"} <= found.keys()


def test_a_search_of_all_works_names_the_work_of_each_passage_and_what_is_not_prepared(run, answer, ferry, asked):
    ran = run("search", "--all", CLAIM, "--from", "1800", "--to", "1900", *WORDS)
    assert ran.code == 0
    assert "\n      The Ferry · Chapter One, " in ran.out
    assert (asked().request.work_id, asked().request.work_filter) == ("", WorkFilter(first_year=1800, last_year=1900))
    found = answer(CLAIM, "--all")
    assert (found["work"], [work["title"] for work in found["works"]]) == (None, ["The Ferry"])
    assert found["columns"][0]["hits"][0]["work"] == ferry.id


def test_works_are_ranked_by_their_best_passages(run, answer, ferry, settings):
    words = b"Nobody counted. They counted the lanterns twice. Then they slept."
    other = build(settings).works.add(words, name="o.txt", title="Other").work
    (first, second) = answer("--all", CLAIM, "--by", "work")["by_work"]
    assert {first["id"], second["id"]} == {ferry.id, other.id}
    ranks = [[passage["rank"] for passage in each["passages"]] for each in (first, second)]
    assert ranks[0][0] == 1
    assert ranks[0][0] < ranks[1][0]
    assert all(own == sorted(own) and len(own) <= 3 for own in ranks)
    printed = run("search", "--all", CLAIM, "--by", "work", *WORDS).out
    assert printed.index(first["title"]) < printed.index(second["title"])
    assert run("search", ferry.id, CLAIM, "--by", "work").code == 2


def test_the_whole_library_is_narrowed_by_parts_of_names_and_by_works(run, ferry, asked):
    run("search", "--all", CLAIM, "--author", "NOBODY", "--works", "ferry", *WORDS)
    assert asked().request.work_filter == WorkFilter(works=(ferry.id,), authors=(ferry.author,))
    ran = run("search", "--all", CLAIM, "--author", "austen")
    assert (type(ran.error), ferry.author in ran.err) == (NotFound, True)


def test_chapters_are_given_as_a_list_of_numbers_and_ranges(run, ferry, asked):
    run("search", "ferry", CLAIM, "--chapters", "1, 1-2,2", *WORDS)
    assert asked().request.chapters == (1, 2)
    for wrong in ("", "x", "7-5", "1-", "1;2", "1-99999"):
        assert isinstance(run("search", "ferry", CLAIM, "--chapters", wrong).error, BadRequest), wrong


def test_only_passages_that_critics_quote_are_searched_where_that_is_asked(run, settings, ferry, answer):
    assert isinstance(run("search", "ferry", CLAIM, "--quoted", *WORDS).error, BadRequest)
    source = make_source("Tides")
    keep(build(settings), source, [make_window(ferry, source, 2)], works=[ferry])
    found = answer("ferry", CLAIM, "--quoted", "--length", "2")
    assert found["columns"][0]["candidates"] == 2
    found = answer("--all", CLAIM, "--quoted", "--length", "1")
    assert {hit["address"] for column in found["columns"] for hit in column["hits"]} <= {str(ferry.address(2))}


@pytest.mark.parametrize("voice", ["speech", "narration"])
def test_speech_or_narration_alone_is_searched_where_that_is_asked(run, asked, ferry, answer, voice):
    spoken = [index for index in range(len(ferry.sentences)) if "“" in ferry.sentence_text(index)]
    fits = {
        str(ferry.address(index)) for index in range(len(ferry.sentences)) if (index in spoken) == (voice == "speech")
    }
    found = answer("ferry", "The river, the ferryman, three lanterns", f"--{voice}", "--results", "9", "--length", "1")
    (column,) = found["columns"]
    assert (found["voice"], column["candidates"], asked().request.voice) == (voice, len(fits), voice)
    assert {hit["address"] for hit in column["hits"]} <= fits
    assert isinstance(run("search", "ferry", CLAIM, f"--{voice}", "--length", "5", *WORDS).error, BadRequest)
    assert answer("--all", CLAIM, f"--{voice}", "--length", "1")["columns"][0]["candidates"] == len(fits)


def test_a_hit_says_who_speaks_where_a_tag_does(run, settings, answer):
    work = work_of(
        "THE QUAY\n\nOne\n“The lanterns are out,” said Job.\nThe lanterns burned on.\n",
        work_id="quay-00000000",
        title="The Quay",
    )
    build(settings).store.works.add(work)
    hits = answer("the quay", "The lanterns are out", "--length", "1")["columns"][0]["hits"]
    assert {hit["address"]: hit.get("speakers", []) for hit in hits} == {"1.1.1": ["Job"], "1.1.2": []}
    assert "spoken by Job" in run("search", "the quay", "The lanterns are out", "--length", "1", *WORDS).out


def test_passages_like_another_are_shown_without_a_level_and_with_their_source(answer, ferry, asked):
    found = answer("ferry", "--like", "1.1.2", "--sentences", "2", "--length", "1")
    assert (asked().request.work_id, asked().request.like) == (ferry.id, SeedPassage(ferry.id, "1.1.2", 2))
    assert (found["like"]["address"], found["like"]["work"]["title"]) == ("1.1.2", "The Ferry")
    assert {hit["strength"] for hit in found["columns"][0]["hits"]} == {None}
    answer("--all", "ferry", "--like", "1.1.2")
    assert (asked().request.work_id, asked().request.like.work_id) == ("", ferry.id)


@pytest.mark.parametrize(
    "typed",
    [
        ["ferry"],
        ["--all"],
        ["ferry", "claim", "--all"],
        ["ferry", "claim", "--author", "x"],
        ["ferry", "claim", "--to", "1900"],
        ["claim", "--all", "--chapters", "3"],
        ["ferry", "claim", "--like", "1.1"],
        ["--like", "1.1"],
        ["ferry", "claim", "--sentences", "2"],
    ],
    ids=" ".join,
)
def test_options_of_a_search_that_do_not_go_together_are_refused(run, typed):
    assert run("search", *typed).code == 2


@pytest.fixture
def search(settings, ferry, run):
    """A search by words in a small work, with what it found."""
    bench = build(settings)
    request = SearchRequest(work_id=ferry.id, claim_text=CLAIM, retrievers=("bm25", "tf-idf"))
    search_id = bench.history.keep(request).id
    bench.snapshots.keep(search_id, bench.search.run(request))
    return search_id


def test_what_was_asked_is_listed_and_looked_through(run, search):
    assert run("history").out.splitlines()[1].startswith(search)
    assert CLAIM in run("history", "--words", "LANTERNS").out
    assert search not in run("history", "--words", "brass").out


def test_a_search_is_shown_with_the_address_that_opens_it_elsewhere(run, search):
    address = run("history", "show", search).out.split("address", 1)[1].split()[0]
    assert search in run("history", "open", address).out


def test_a_search_asked_again_and_retrievers_compared(run, search):
    assert run("history", "rerun", search).out.count("as it was") == 2
    ran = run("history", "compare", search, "bm25", "tf-idf")
    assert (ran.code, "He counted their lanterns instead." in ran.out) == (0, True)


def test_a_search_goes_into_a_file_and_comes_out_of_it(run, search, tmp_path):
    path = tmp_path / "search.relic.json"
    assert run("history", "save", search, path).code == 0
    assert search in run("history", "open", path).out
    path.write_text("{}")
    assert isinstance(run("history", "open", path).error, RelicError)


def test_a_search_is_removed_and_put_back(run, search):
    assert run("history", "remove", search).out.endswith(f" history restore {search}\n")
    assert search not in run("history").out
    assert search in run("history", "--removed").out
    assert run("history", "restore", search).code == 0
    assert search in run("history").out


@pytest.mark.parametrize(
    "typed",
    [("show",), ("compare", "a", "b"), ("list", "a"), ("show", "a", "--words", "b"), ("--limit", "0"),
     ("--removed", "--words", "x")],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_of_the_history_is_refused(run, typed):
    assert run("history", *typed).code == 2


def test_a_search_that_is_not_there_is_told(run):
    ran = run("history", "rerun", "zzzzzzz")
    assert (type(ran.error), "'zzzzzzz'" in ran.err) == (NotFound, True)
