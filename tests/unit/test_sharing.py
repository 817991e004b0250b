"""Searches that last: what an address carries, what is told of it elsewhere and later, then and now, two columns."""

from dataclasses import replace

import pytest

from relic_core.domain import EVERYWHERE, SearchRequest, SeedPassage, WorkFilter
from relic_core.domain.searches import ModelFingerprints, SharedSearch, TopKHit, TopKSnapshot
from relic_core.errors import BadBenchmark, BadRequest, NotFound, StoreError
from relic_core.formats import search_address
from relic_core.retrieval.dense import Dense
from relic_core.services.comparing import numbered
from relic_core.wiring import build
from tests.approved import says
from tests.fake_encoder import FakeEncoder
from tests.fake_retrievers import use_fakes
from tests.making import make_work

SAYS = says("history")

SENTENCES = [
    ["The ferry left at six, and nobody aboard it had paid for the crossing but the dog."],
    ["He counted the lanterns again.", "There was one lantern more than there had been passengers."],
    ["A lamp stood in the window of the toll-house.", "The chapter of accidents was closed."],
    ["Nobody paid for it.", "The dog slept.", "The river rose.", "The rain fell on the toll-house."],
]
WORK = make_work(*SENTENCES, title="The Toll", author="A. Nobody")
OTHER_EDITION = make_work(*SENTENCES, ["The end."], title="The Toll", author="A. Nobody")
QUAY = make_work([["Nobody lit the lamp of the quay.", "The dog barked at the ferry."]], title="The Quay")
CLAIM = "Nobody paid for the crossing"


def made(settings, *works, encoder="fake/1"):
    """Make a workbench with works that are prepared for an encoder."""
    bench = build(settings)
    known = {work.id for work in bench.works.summaries()}
    for work in works:
        if work.id not in known:
            bench.store.works.add(work)
    use_fakes(bench)
    bench.retrievers._made["dense-relic"] = Dense(
        "dense-relic", encoder=lambda: FakeEncoder(encoder), root=settings.indexes
    )
    for work in bench.works.summaries():
        bench.indexes.build(work.id, ["dense-relic"], lambda *_: None)
    return bench


@pytest.fixture
def bench(settings):
    return made(settings, WORK, QUAY)


@pytest.fixture
def elsewhere(tmp_path, settings):
    """Make a store of a colleague, with the works given."""

    def make(*works, encoder="fake/1"):
        return made(
            replace(settings, data=tmp_path / "theirs", indexes=tmp_path / "their-indexes"), *works, encoder=encoder
        )

    return make


REQUEST = SearchRequest(work_id=WORK.id, claim_text=CLAIM, length=1, results=1, retrievers=("dense-relic", "bm25"))


def asked(bench, request=REQUEST):
    """Ask, and keep the search with what it found; gives its id."""
    result = bench.search.run(request)
    search = bench.history.keep(request, made_with=result.made_with)
    bench.snapshots.keep(search.id, result)
    return search.id


# ---- what made an answer ------------------------------------------------------------------------------------------


def test_what_made_an_answer_is_the_same_in_another_store_with_the_same_works_and_models(bench, elsewhere):
    assert elsewhere(WORK, QUAY).fingerprints.of(REQUEST) == bench.fingerprints.of(REQUEST)


def test_another_model_changes_the_makers_of_what_uses_it_and_of_nothing_else(bench, elsewhere):
    request = replace(REQUEST, retrievers=("dense-relic", "bm25", "fusion"))
    mine, theirs = bench.fingerprints.of(request), elsewhere(WORK, encoder="fake/2").fingerprints.of(request)
    changed = {name for name in request.retrievers if mine.retrievers[name] != theirs.retrievers[name]}
    assert changed == {"dense-relic", "fusion"}
    assert mine.edition == theirs.edition


def test_broken_words_read_whole_change_the_makers_of_what_uses_a_model_and_of_nothing_else(bench, elsewhere):
    request = replace(REQUEST, retrievers=("dense-relic", "bm25", "fusion"))
    mine = bench.fingerprints.of(request)
    whole = elsewhere(replace(WORK, cuts=((3, 4),))).fingerprints.of(request)
    changed = {name for name in request.retrievers if mine.retrievers[name] != whole.retrievers[name]}
    assert changed == {"dense-relic", "fusion"}
    assert mine.edition == whole.edition


def test_an_address_of_this_store_says_nothing_while_nothing_has_changed(bench):
    short = bench.sharing.short("abcdefg", REQUEST)
    assert set(short) == {"q", "w", "m"}
    assert bench.sharing.changes(REQUEST, short) == ()
    assert bench.sharing.changes(REQUEST, {"q": "abcdefg"}) == ()


def test_a_model_taught_anew_is_told_by_its_name(bench, settings):
    short = bench.sharing.short("abcdefg", REQUEST)
    (said,) = made(settings, encoder="fake/2").sharing.changes(REQUEST, short)
    assert said.startswith(f"{SAYS['trained anew']}, or")


def test_a_work_cut_anew_and_another_library_are_told(bench):
    made_then = bench.fingerprints.of(REQUEST)
    short = {"w": "0" * 8, "m": ""}
    assert bench.sharing.changes(REQUEST, short)[0].startswith("The sentences of The Toll")
    whole = replace(REQUEST, work_id="")
    assert bench.fingerprints.of(whole).edition != made_then.edition
    before = bench.sharing.short("abcdefg", whole)
    bench.works.remove(QUAY.id)
    assert bench.sharing.changes(whole, before)[0].startswith(SAYS["other works"])


@pytest.mark.parametrize(
    "given", [{"w": "zzz"}, {"m": "1"}, {"m": "0" * 8}, {"w": "9" * 400}, {"m": "-.-.-"}, {"m": "."}]
)
def test_digests_that_cannot_be_read_are_told(bench, given):
    with pytest.raises(BadRequest, match="read"):
        bench.sharing.changes(REQUEST, given)


# ---- elsewhere ----------------------------------------------------------------------------------------------------


def test_a_search_opens_in_another_store_with_its_address_alone(bench, elsewhere):
    shared = bench.sharing.share("abcdefg", REQUEST)
    there = elsewhere(WORK, QUAY)
    opened = there.sharing.open_code(shared.code)
    assert (opened.request, opened.notices) == (REQUEST, ())
    assert there.sharing.open_file(shared.file, "search.relic.json") == opened
    assert not shared.long


def test_elsewhere_another_model_is_told(bench, elsewhere):
    opened = elsewhere(WORK, encoder="fake/2").sharing.open_code(bench.sharing.share("abcdefg", REQUEST).code)
    assert opened.request == REQUEST
    assert [said.split(",")[0] for said in opened.notices] == [SAYS["trained anew"]]


def test_another_edition_is_asked_in_its_place_and_told(bench, elsewhere):
    code = bench.sharing.share("abcdefg", replace(REQUEST, chapters=(2, 4))).code
    opened = elsewhere(OTHER_EDITION).sharing.open_code(code)
    assert (opened.request.work_id, opened.request.chapters) == (OTHER_EDITION.id, (2, 4))
    (said,) = opened.notices
    assert said.startswith(SAYS["edition of address"])


def test_passages_like_one_open_in_another_edition_too(bench, elsewhere):
    request = SearchRequest(work_id="", like=SeedPassage(WORK.id, "1.1.1"), retrievers=("bm25",))
    opened = elsewhere(OTHER_EDITION).sharing.open_code(bench.sharing.share("abcdefg", request).code)
    assert opened.request.like == SeedPassage(OTHER_EDITION.id, "1.1.1")


def test_a_work_that_is_not_there_is_named(bench, elsewhere):
    code = bench.sharing.share("abcdefg", REQUEST).code
    with pytest.raises(NotFound, match=rf": The Toll, A\. Nobody \(edition {WORK.id}\)"):
        elsewhere(QUAY).sharing.open_code(code)


def test_works_of_a_narrowing_that_are_not_there_are_told(bench, elsewhere):
    both = SearchRequest(
        work_id="", claim_text=CLAIM, work_filter=WorkFilter(works=(WORK.id, QUAY.id)), retrievers=("bm25",)
    )
    there = elsewhere(QUAY)
    opened = there.sharing.open_code(bench.sharing.share("abcdefg", both).code)
    assert opened.request.work_filter == WorkFilter(works=(QUAY.id,))
    assert opened.notices == (f"{SAYS['works of scope']} '{WORK.id}'.",)
    one = replace(both, work_filter=WorkFilter(works=(WORK.id,)))
    with pytest.raises(NotFound, match="None of the works"):
        there.sharing.open_code(bench.sharing.share("abcdefg", one).code)


def test_a_way_of_searching_that_is_not_known_is_left_out_and_told(bench):
    shared = SharedSearch(request=replace(REQUEST, retrievers=("oracle", "bm25")))
    opened = bench.sharing.open_code(search_address.write_code(shared))
    assert opened.request.retrievers == ("bm25",)
    assert "'oracle'" in opened.notices[0]


def test_another_system_s_column_whose_run_is_not_here_is_left_out_and_told_as_that(bench):
    shared = SharedSearch(request=replace(REQUEST, retrievers=("imported:ColBERT", "bm25")))
    opened = bench.sharing.open_code(search_address.write_code(shared))
    assert opened.request.retrievers == ("bm25",)
    (said,) = opened.notices
    assert "'ColBERT'" in said
    assert "version" not in said, "it is not the program's that differs"


def test_a_number_out_of_range_is_refused(bench):
    request = replace(REQUEST)
    object.__setattr__(request, "length", 9)  # as another version might write it
    code = search_address.write_code(SharedSearch(request=request))
    with pytest.raises(BadRequest, match="9"):
        bench.sharing.open_code(code)


@pytest.mark.parametrize("named", ["works", "authors"])
def test_more_works_or_authors_than_may_be_listed_are_refused(bench, named):
    def code(count):
        request = SearchRequest(
            work_id="", claim_text=CLAIM, retrievers=("bm25",), work_filter=WorkFilter(**{named: ("a",) * count})
        )
        return search_address.write_code(SharedSearch(request=request))

    assert search_address.read_code(code(10_000))
    with pytest.raises(BadRequest, match="10,000"):
        search_address.read_code(code(10_001))


def test_a_long_claim_makes_a_long_address_and_the_file_carries_it(bench, elsewhere):
    words = " ".join(f"word{number * 7919 % 100_003}" for number in range(1500))
    shared = bench.sharing.share("abcdefg", replace(REQUEST, claim_text=words))
    assert shared.long
    assert elsewhere(WORK).sharing.open_file(shared.file, "a").request.claim_text == words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda code: code[:-1], "cut short"),
        (lambda code: code[:20] + code[21:], "cut short"),
        (lambda code: "2" + code[1:], "another version"),
        (lambda code: "", "cut short"),
        (lambda code: "1." + "A" * 500_000 + ".aaaaaaaa", "longer than"),
    ],
)
def test_an_address_that_is_not_whole_is_told(bench, change, said):
    with pytest.raises(BadRequest, match=said):
        bench.sharing.open_code(change(bench.sharing.share("abcdefg", REQUEST).code))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.replace(b"crossing", b"ferry"), "by hand"),
        (lambda data: data.replace(b"search/1", b"search/7"), "another version"),
        (lambda data: data[: len(data) // 2], "not whole JSON"),
        (lambda data: b"\xff\xfe\x00", "not text in UTF-8"),
        (lambda data: b"[]", "no search"),
    ],
)
def test_a_file_that_is_not_whole_is_told(bench, change, said):
    with pytest.raises(BadBenchmark, match=said):
        bench.sharing.open_file(change(bench.sharing.share("abcdefg", REQUEST).file), "search.relic.json")


# ---- heads --------------------------------------------------------------------------------------------------------


def test_the_first_passages_of_each_column_are_kept_once(bench, settings):
    search = asked(bench)
    kept = bench.store.snapshots.of(search, length=1)
    assert [top_k.retriever for _, top_k in kept] == ["dense-relic", "bm25"]
    result = bench.search.run(REQUEST)
    for column, (_, top_k) in zip(result.columns, kept, strict=True):
        assert [(hit.first, hit.rank) for hit in top_k.hits[:1]] == [
            (card.span.start, card.rank) for card in column.cards
        ]
        assert len(top_k.hits) > 1, "more than are shown"
        for hit in top_k.hits:
            assert WORK.text[hit.start : hit.end] == WORK.sentence_text(hit.first)
    asked(bench)
    asked(made(settings))  # a server that has just started
    assert len(bench.store.snapshots.of(search, length=1)) == 2


def test_only_what_was_made_otherwise_is_kept_again(bench, settings):
    search = asked(bench)
    asked(made(settings, encoder="fake/2"))
    assert [top_k.retriever for _, top_k in bench.store.snapshots.of(search, length=1)] == [
        "dense-relic",
        "bm25",
        "dense-relic",
    ]


def test_overlapping_spans_are_kept_as_one_passage(bench):
    search = asked(bench, replace(REQUEST, length=2))
    for _, top_k in bench.store.snapshots.of(search, length=2):
        spans = [(hit.start, hit.end) for hit in top_k.hits]
        assert all(a[1] <= b[0] or b[1] <= a[0] for a in spans for b in spans if a is not b)


def test_places_of_a_library_search_are_those_of_the_words(bench):
    search = asked(bench, SearchRequest(work_id="", claim_text="the dog", length=2, results=1, retrievers=("bm25",)))
    ((_, top_k),) = bench.store.snapshots.of(search, length=2)
    works = {work.id: work for work in (WORK, QUAY)}
    assert {hit.work_id for hit in top_k.hits} == works.keys()
    for hit in top_k.hits:
        work = works[hit.work_id]
        assert (hit.start, hit.end) == (work.sentences[hit.first].start, work.sentences[hit.first + 1].end)


def test_nothing_is_kept_while_a_column_is_to_come(bench):
    result = bench.search.run(replace(REQUEST, retrievers=("bm25", "reranked")), at_once=True)
    assert bench.snapshots.keep("abcdefg", result) == 0
    assert bench.store.snapshots.of("abcdefg", length=1) == ()


def test_a_column_that_refuses_keeps_nothing_of_its_own(bench):
    request = SearchRequest(work_id=WORK.id, like=SeedPassage(WORK.id, "1.1.1"), retrievers=("bm25", "reranked"))
    assert [top_k.retriever for top_k in bench.snapshots.take(bench.search.run(request))] == ["bm25"]


def test_what_cannot_be_kept_is_raised_as_an_error_of_the_store(bench, monkeypatch):
    result = bench.search.run(REQUEST)
    bench.store.snapshots._lock_seconds = 0.01

    def full(*_arguments, **_options):
        raise StoreError("The disk is full.")

    monkeypatch.setattr(type(bench.store.snapshots), "_writing", full)
    with pytest.raises(StoreError, match="full"):
        bench.snapshots.keep("abcdefg", result)


# ---- then and now -------------------------------------------------------------------------------------------------


def test_where_nothing_has_changed_everything_stayed(bench):
    found = bench.comparing.then_and_now(bench.history.get(asked(bench)))
    assert found.differences == ()
    assert len(found.times) == 1
    assert [column.retriever for column in found.columns] == ["dense-relic", "bm25"]
    for column in found.columns:
        assert column.unchanged
        assert column.rank_overlap == 1


def test_a_new_model_moves_what_it_ranks_and_the_words_say_so(bench, settings):
    search = asked(bench)
    heads = bench.store.snapshots
    ((_, then), _) = heads.of(search, length=1)
    turned = TopKSnapshot(
        retriever="dense-relic", length=1, edition=then.edition, maker="ffff0000", version="0.0.1",
        hits=(then.hits[2], then.hits[1], then.hits[0]),
    )  # fmt: skip
    heads.add(search, [turned])  # as if another model had answered meanwhile
    found = made(settings).comparing.then_and_now(
        bench.history.get(search), at=heads.of(search, length=1)[-1][0].isoformat()
    )
    dense, words = found.columns
    assert words.unchanged
    by_then = {each.then: each for each in dense.passages}
    assert [by_then[place].moved for place in (1, 2, 3)] == ["fell", "stayed", "rose"]
    assert {each.moved for each in dense.passages if not each.then} == {"new"}
    assert 0 < dense.rank_overlap < 1
    assert found.differences[0].startswith(SAYS["trained anew"])
    assert found.differences[-1].startswith(SAYS["answering version"])
    assert len(heads.of(search, length=1)) == 4, "now has been kept as well"


def test_what_is_found_no_more_has_gone(bench):
    search = asked(bench, replace(REQUEST, retrievers=("bm25",)))
    ((_, now),) = bench.store.snapshots.of(search, length=1)
    silent = next(n for n in range(len(WORK.sentences)) if n not in {hit.first for hit in now.hits})
    sentence = WORK.sentences[silent]
    gone = TopKHit(WORK.id, silent, 1, 9.0, sentence.start, sentence.end)
    old = TopKSnapshot(
        retriever="bm25", length=1, edition=now.edition, maker="00001111", version=now.version, hits=(gone, *now.hits)
    )
    bench.store.snapshots.add(search, [old])
    at = bench.store.snapshots.of(search, length=1)[-1][0].isoformat()
    (column,) = bench.comparing.then_and_now(bench.history.get(search), at=at).columns
    last = column.passages[-1]
    assert (last.moved, last.then, last.now) == ("gone", 1, 0)
    assert last.passage.quotation.plain == WORK.sentence_text(silent)


def test_then_and_now_of_a_search_of_before_heads_were_kept_begins_now(bench):
    found = bench.comparing.then_and_now(bench.history.keep(REQUEST))
    assert len(found.times) == 1
    assert all(column.unchanged for column in found.columns)


def test_a_retriever_that_is_not_prepared_is_named_and_the_others_are_compared(bench, settings, tmp_path):
    search = asked(bench)
    later = made(settings)
    later.retrievers._made["dense-relic"] = Dense(
        "dense-relic", encoder=lambda: FakeEncoder("fake/9"), root=tmp_path / "none"
    )
    found = later.comparing.then_and_now(bench.history.get(search))
    assert [column.retriever for column in found.columns] == ["bm25"]
    assert [card.name for card in found.silent] == ["dense-relic"]
    assert found.differences[0].startswith(SAYS["trained anew"])


def test_a_search_is_sent_with_what_found_its_passages_not_with_what_would_find_them_now(bench, settings, tmp_path):
    search = asked(bench)
    later = made(settings, encoder="fake/9")
    opened = bench.sharing.open_code(later.sharing.share(search, REQUEST).code)
    assert not opened.notices
    assert (
        bench.sharing.open_code(later.sharing.share("never", REQUEST).code).notices[0].startswith(SAYS["trained anew"])
    )


# ---- two columns --------------------------------------------------------------------------------------------------


def test_two_columns_are_held_against_one_another(bench):
    found = bench.comparing.compare(REQUEST, ["dense-relic", "bm25"])
    for column in found.result.columns:
        assert [hit.span for hit in column.top_k][: len(column.cards)] == [card.span for card in column.cards]
    first, second = ({hit.span.start: at for at, hit in enumerate(column.top_k, 1)} for column in found.result.columns)
    assert {(each.passage.span.start, each.first, each.second) for each in found.passages} == {
        (start, first.get(start, 0), second.get(start, 0)) for start in first | second
    }
    assert found.overlap == len(found.found_by("both")) == len(first.keys() & second.keys())
    assert len(found.found_by("first")) + len(found.found_by("second")) + found.overlap == len(found.passages)
    assert 0 < found.rank_overlap < 1


def test_the_order_of_the_two_changes_sides_alone(bench):
    one, other = (
        bench.comparing.compare(REQUEST, names) for names in (["bm25", "dense-relic"], ["dense-relic", "bm25"])
    )
    assert (one.overlap, one.rank_overlap) == (other.overlap, other.rank_overlap)
    assert {each.passage.span for each in one.found_by("first")} == {
        each.passage.span for each in other.found_by("second")
    }


@pytest.mark.parametrize("names", [["bm25"], ["bm25", "bm25"], ["bm25", "oracle"], ["bm25", "dense-relic", "fusion"]])
def test_what_is_not_two_is_told(bench, names):
    with pytest.raises(BadRequest):
        bench.comparing.compare(REQUEST, names)


def test_a_column_that_cannot_answer_is_named(bench, tmp_path):
    bench.retrievers._made["dense-relic"] = Dense("dense-relic", encoder=FakeEncoder, root=tmp_path / "none")
    with pytest.raises(BadRequest, match="dense-RELiC cannot"):
        bench.comparing.compare(REQUEST, ["dense-relic", "bm25"])


def test_overlapping_passages_of_two_columns_are_one_and_each_goes_with_one():
    assert numbered([("a", 0, 4)], [("a", 2, 6), ("a", 0, 2)]) == ((0,), (0, 1))
    assert numbered([("a", 0, 4)], [("b", 0, 4)]) == ((0,), (1,))


def test_everywhere_is_what_a_search_without_narrowing_opens_with(bench):
    opened = bench.sharing.open_code(bench.sharing.share("a", replace(REQUEST, work_id="")).code)
    assert opened.request.work_filter == EVERYWHERE


def test_makers_that_are_not_known_are_not_compared():
    from relic_core.services.snapshots import differences

    assert (
        differences(
            ModelFingerprints(), ModelFingerprints(edition="0" * 8, retrievers={"bm25": "1" * 8}), title="", since=""
        )
        == ()
    )
