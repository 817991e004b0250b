"""Searches: what did I ask, and would I find the same today?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest

from relic_core.domain import SearchRequest
from relic_core.domain.searches import TopKSnapshot
from relic_core.errors import StoreFull
from relic_core.store.searches import SearchRows, TopKSnapshotRows
from tests.app.reading import FIND, found, html, plain, said, sound
from tests.approved import says

SAYS = says("history")

HISTORY = "pages/history.py"
CLAIM = "The brass bolt stands for a false certainty"
HOSTILE = ("zzzzzzz", "x" * 3000, "<b>*q*</b>", "1e9", "9" * 60, "../..", "\u202e²", "%00", "1.AAAA.aaaaaaaa")


@pytest.fixture
def request_(app):
    (sample,) = app.bench.works.summaries()
    return SearchRequest(work_id=sample.id, claim_text=CLAIM, retrievers=("dense-relic", "bm25"))


@pytest.fixture
def search(app, request_):
    """A search that was asked, with what it found."""
    bench = app.bench
    result = bench.search.run(request_)
    search_id = bench.history.keep(request_, made_with=result.made_with).id
    bench.snapshots.keep(search_id, result)
    return search_id


def keep(app, claim, *, work_id=None):
    (sample,) = app.bench.works.summaries()
    named = sample.id if work_id is None else work_id
    return app.bench.history.keep(SearchRequest(work_id=named, claim_text=claim)).id


def codes(at):
    return [each.value for each in at.get("code")]


# ---- the list -----------------------------------------------------------------------------------------------------


def test_before_the_first_search_the_page_says_how_to_begin(app):
    at = sound(app.open(HISTORY))
    assert SAYS["nothing asked"] in said(at)


def test_every_search_is_there_once_with_the_last_first_and_leads_to_itself(app):
    ids = {claim: keep(app, claim) for claim in ("A first <b>claim</b>", "A second claim", "A first <b>claim</b>")}
    shown = html(sound(app.open(HISTORY)))
    assert SAYS["two searches"] in plain(shown)
    assert shown.index("A first &lt;b&gt;claim") < shown.index("A second claim")
    for search_id in ids.values():
        assert shown.count(f'href="find?q={search_id}"') == 1
        assert f"history?q={search_id}&amp;show=then" in shown
    assert SAYS["search line"] in plain(shown)


def test_searches_are_looked_through_by_their_words_and_by_their_work(app):
    keep(app, "The ferryman and the lamp")
    keep(app, "A claim for all works", work_id="")
    at = sound(app.open(HISTORY))
    sound(at.text_input(key="history_words").set_value("FERRY").run())
    assert "One search that hold" in plain(html(at))
    assert "A claim for all works" not in html(at)
    assert value(at, "words") == "FERRY"
    sound(at.text_input(key="history_words").set_value("").run())
    sound(at.selectbox(key="history_work").set_value("-").run())
    assert "A claim for all works" in html(at)
    assert "The ferryman" not in html(at)
    keep(app, "He reads [MASK] aloud")
    assert "He reads ____ aloud" in plain(html(sound(app.open(HISTORY))))
    again = sound(app.open(HISTORY, words="ferry"))
    assert again.text_input(key="history_words").value == "ferry"
    assert "One search" in plain(html(again))


def test_many_searches_are_parted_into_pages(app, monkeypatch):
    monkeypatch.setattr("relic_ui.history.history.PAGE", 2)
    for number in range(5):
        keep(app, f"Claim {number}")
    first = html(sound(app.open(HISTORY)))
    assert "Claim 4" in first
    assert "Claim 2" not in first
    assert 'href="history?page=2"' in first
    last = html(sound(app.open(HISTORY, page="3")))
    assert "Claim 0" in last
    assert "Earlier" not in last
    assert "There is no page 99; the last is 3." in said(sound(app.open(HISTORY, page="99")))


@pytest.mark.parametrize("given", HOSTILE)
def test_an_address_edited_by_hand_gives_no_traceback(app, search, given):
    for query in (
        {"words": given, "work": given, "page": given},
        {"q": given, "show": "then", "at": given},
        {"q": search, "show": given},
        {"q": search, "show": "compare", "of": f"{given},bm25"},
    ):
        sound(app.open(HISTORY, **query))


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (
            {"q": "SEARCH", "show": "ban*ana*"},
            SAYS["view unknown"],
        ),
        ({"q": "SEARCH"}, SAYS["view taken away"]),
        ({"work": "zzz"}, SAYS["work of address"]),
    ],
)
def test_what_an_address_asks_for_in_vain_is_told_above_the_list(app, search, query, told):
    at = sound(app.open(HISTORY, **{name: value.replace("SEARCH", search) for name, value in query.items()}))
    assert said(at).startswith(told)
    assert len(at.info) == 1
    assert CLAIM in html(at)
    assert said(sound(app.open(HISTORY))) == ""


@pytest.mark.parametrize("show", ["then", "compare"])
def test_a_search_of_another_store_is_told(app, show):
    assert "There is no search 'zzzzzzz' in this store" in said(sound(app.open(HISTORY, q="zzzzzzz", show=show)))


# ---- removing, and putting back -----------------------------------------------------------------------------------


def test_a_search_is_removed_and_put_back_at_once_or_later(app, press_button):
    first, second = keep(app, "A <b>first</b> claim"), keep(app, "A second claim")
    at = sound(app.open(HISTORY))
    assert f'data-does="remove-search" data-to="{first}"' in html(at)
    assert 'aria-label="Remove: A &lt;b&gt;first&lt;/b&gt; claim"' in html(at)
    press_button(at, "remove-search", first)
    assert SAYS["first removed"] in plain(html(at))
    assert f'href="find?q={first}"' not in html(at)
    assert f'href="find?q={second}"' in html(at)
    sound(at.button(key="search_undo").click().run())
    assert f'href="find?q={first}"' in html(at)
    for each in (first, second):
        press_button(at, "remove-search", each)
    assert SAYS["none left"] in said(at)
    later = sound(app.open(HISTORY))
    sound(later.button(key=f"history_back_{second}").click().run())
    assert f'href="find?q={second}"' in html(later)
    assert [each.id for each in app.bench.history.removed()] == [first]


def test_a_press_on_a_search_that_has_gone_is_told(app, search, press_button):
    assert "There is no search 'zzzzzzz'" in said(
        press_button(sound(app.open(HISTORY)), "remove-search", "zzzzzzz", unseen=True)
    )


@pytest.mark.parametrize(("page", "query"), [(HISTORY, {"show": "then"}), (FIND, {})])
def test_the_address_of_a_removed_search_says_so_and_offers_it(app, search, page, query):
    app.bench.history.remove(search)
    at = sound(app.open(page, q=search.upper(), **query))
    assert f"{SAYS['search removed']}: {CLAIM}" in plain(html(at))
    assert said(at) == ""
    sound(at.button(key="search_gone_back").click().run())
    assert app.bench.history.removed() == ()
    assert SAYS["search removed"] not in html(at)
    if page == FIND:
        assert at.text_area(key="find_claim").value == CLAIM
    else:
        assert SAYS["unchanged"] in plain(html(at))


def test_asking_it_again_brings_a_removed_search_back(app):
    at = ask(app)
    search_id = value(at, "q")
    app.bench.history.remove(search_id)
    ask(app)
    assert [each.id for each in app.bench.history.asked()[0]] == [search_id]


def test_asking_it_again_in_the_visit_in_which_it_was_removed_brings_it_back(app, press_button):
    at = ask(app)
    search_id = value(at, "q")
    at = sound(at.switch_page(HISTORY).run())
    press_button(at, "remove-search", search_id)
    at = sound(at.switch_page(FIND).run())
    found(at, CLAIM)
    assert [each.id for each in app.bench.history.asked()[0]] == [search_id]
    assert app.bench.history.removed() == ()


def test_the_second_press_of_a_double_click_removes_no_more_and_leaves_the_way_back(app, search, press_button):
    at = press_button(sound(app.open(HISTORY)), "remove-search", search)
    press_button(at, "remove-search", search, unseen=True)
    assert "There is no search" not in said(at)
    sound(at.button(key="search_undo").click().run())
    assert app.bench.history.removed() == ()


def test_of_many_removed_searches_the_last_are_listed(app):
    for number in range(42):
        app.bench.history.remove(keep(app, f"Claim number {number}"))
    at = sound(app.open(HISTORY))
    assert sum((button.key or "").startswith("history_back_") for button in at.button) == 40
    assert "These are the last 40" in plain(html(at))


# ---- a search that was sent as a file -----------------------------------------------------------------------------


def upload(app, data, name="search.relic.json"):
    at = sound(app.open(HISTORY))
    at.file_uploader[0].set_value([(name, data, "application/json")])
    return sound(at.run())


@pytest.fixture
def sent(app, request_):
    """A search as a file, which this store did not make."""
    return app.bench.sharing.share("", request_).file


def test_a_search_that_was_sent_is_shown_and_leads_on_to_asking_it(app, sent):
    at = upload(app, sent)
    assert CLAIM in html(at)
    assert said(at).count("\n") == 0
    href = next(each for each in html(at).split('"') if each.startswith("find?search="))
    code = dict(parse_qsl(urlsplit(href).query))["search"]
    assert sound(app.open(FIND, search=code)).text_area(key="find_claim").value == CLAIM
    assert app.bench.history.asked()[1] == 1  # only what was asked is in the list


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda sent: sent[: len(sent) // 2], "search.relic.json"),
        (lambda sent: sent.replace(b"brass bolt", b"brass knob"), "changed"),
        (lambda sent: sent.replace(b"relic search/1", b"relic search/9"), "relic search/9"),
        (lambda _: b"{}", "search.relic.json"),
        (lambda _: b"\xff\xfe\x00", "search.relic.json"),
        (lambda _: b"", "search.relic.json"),
    ],
    ids=["cut off", "changed", "other version", "another file", "no text", "empty"],
)
def test_a_file_that_cannot_be_opened_is_told_beside_the_list(app, search, sent, changed, told):
    at = upload(app, changed(sent))
    assert told in said(at)
    assert len(at.warning) == 1
    assert "find?search=" not in html(at)
    assert f'href="find?q={search}"' in html(at)


def test_a_search_whose_work_is_not_here_is_told(app, sent, request_):
    app.bench.works.remove(request_.work_id)
    at = upload(app, sent)
    assert SAYS["sample missing"] in said(at)
    assert "find?search=" not in html(at)


# ---- then and now -------------------------------------------------------------------------------------------------


def test_where_nothing_has_changed_the_page_says_so(app, search):
    at = sound(app.open(HISTORY, q=search, show="then"))
    assert SAYS["unchanged"] in plain(html(at))
    assert html(at).count("As it was.") == 2


def test_after_a_change_of_model_each_passage_says_where_it_stood(app, search):
    rows = app.bench.store.snapshots
    ((_, then), _) = rows.of(search, length=1)
    turned = (then.hits[3], *then.hits[1:3], then.hits[0], *then.hits[5:])
    rows.add(search, [replace(then, maker="ffff0000", hits=turned)])  # as if another model had answered meanwhile
    at = sound(app.open(HISTORY, q=search, show="then", at=rows.of(search, length=1)[-1][0].isoformat()))
    told = plain(html(at))
    assert SAYS["model changed"] in told
    for words in ("↑ rose from 4", "↓ fell from 1", "as then", "new"):
        assert words in told
    assert SAYS["kept in ten"] in told
    sound(at.selectbox(key="history_then").select_index(0).run())
    assert value(at, "at") == rows.of(search, length=1)[0][0].isoformat()
    assert html(at).count("As it was.") == 2


def test_a_work_that_was_removed_is_told(app, search, request_):
    app.bench.works.remove(request_.work_id)
    at = sound(app.open(HISTORY, q=search, show="then"))
    assert said(at) != ""
    assert CLAIM in html(at)


# ---- two columns --------------------------------------------------------------------------------------------------


def test_two_columns_are_compared_in_words_and_numbers(app, search):
    at = sound(app.open(HISTORY, q=search, show="compare", of="dense-relic,bm25"))
    found = app.bench.comparing.compare(app.bench.history.get(search).request, ["dense-relic", "bm25"])
    told = plain(html(at))
    assert f"{found.overlap} {SAYS['same of ten']}" in told
    lines = json.loads(at.get("plotly_chart")[0].proto.spec)["data"]
    beyond = max(max(line["y"]) for line in lines)
    assert [line["y"] for line in lines] == [[each.first or beyond, each.second or beyond] for each in found.passages]
    assert [plain(each.split("</h2>")[0]) for each in html(at).split("<h2>")[1:]] == [
        "Found by both", "By meaning alone", "By words alone",
    ]  # fmt: skip
    assert html(at).count('href="read?') == len(found.passages)
    assert SAYS["overlaps"] in told
    assert at.get_by_key("compare_first").options[0] == "By meaning"


@pytest.mark.parametrize("show", ["then", "compare"])
def test_a_passage_is_kept_and_read_with_the_claim_it_was_found_for(app, search, press_button, show):
    at = sound(app.open(HISTORY, q=search, show=show, of="dense-relic,bm25"))
    to = re.search(r'data-does="keep" data-to="([^"]+)"', html(at))[1]
    work, place, _ = to.split("/")[:3]
    assert f'href="read?work={work}&amp;at={place}&amp;n=' in html(at)
    assert html(at).count(f"&amp;q={search}") >= html(at).count('href="read?')
    sound(press_button(at, "keep", to))
    (view,) = app.bench.notebook.notes()
    kept = view.note.kept
    assert (kept.claim_text, kept.search_id, kept.at) == (CLAIM, search, place)
    assert kept.retriever in {"dense-relic", "bm25"}
    assert kept.rank == 1


def test_a_way_of_searching_that_is_not_known_is_told_and_others_are_compared(app, search):
    at = sound(app.open(HISTORY, q=search, show="compare", of="oracle,bm25"))
    assert SAYS["retriever unknown"] in said(at)
    assert "By words alone" in html(at)


# ---- the address of a search --------------------------------------------------------------------------------------


def shared_address(at):
    """Take the two addresses out of the popover."""
    short, whole = codes(at)
    return dict(parse_qsl(urlsplit(short).query)), dict(parse_qsl(urlsplit(whole).query))


def ask(app, claim=CLAIM):
    at = app.open(FIND)
    at.get_by_key("find_retrievers").set_value(["bm25", "dense-relic"])
    return found(at, claim)


def value(at, name):
    given = at.query_params[name]
    return given[0] if isinstance(given, list) else given


def test_both_addresses_of_a_search_open_it_and_say_nothing_while_nothing_differs(app):
    at = ask(app)
    for query in shared_address(at):
        again = sound(app.open(FIND, **query))
        assert again.text_area(key="find_claim").value == CLAIM
        assert said(again) == said(at)
        assert html(again).count("<article") == html(at).count("<article")
        assert {name: value(again, name) for name in again.query_params} == query, "it stays as it was given"


def test_another_claim_after_an_address_was_opened_has_an_address_of_its_own(app):
    _, whole = shared_address(ask(app))
    again = sound(app.open(FIND, **whole))
    found(again, "The lamp")
    assert set(again.query_params) == {"q", "w", "m"}
    again.query_params.clear()
    again.query_params["search"] = whole["search"]
    assert sound(again.run()).text_area(key="find_claim").value == CLAIM, "Back"


def test_what_differs_since_an_address_was_made_is_told(app):
    short, _ = shared_address(ask(app))
    makers = short["m"].split(".")
    other = ".".join("ffff" + each[4:] if not each.startswith("0000") else each for each in makers)
    assert SAYS["trained anew"] in said(sound(app.open(FIND, q=short["q"], w=short["w"], m=other)))
    assert SAYS["cut anew"] in said(sound(app.open(FIND, q=short["q"], w="0" * 8)))


@pytest.mark.parametrize("given", HOSTILE)
def test_an_address_of_find_edited_by_hand_gives_no_traceback(app, search, given):
    at = sound(app.open(FIND, search=given))
    assert SAYS["not opened"] in said(at)
    at = sound(app.open(FIND, q=search, w=given, m=given))
    assert SAYS["unreadable"] in said(at)
    assert at.text_area(key="find_claim").value == CLAIM


def test_a_search_in_a_work_that_is_not_here_is_told(app, request_):
    code = app.bench.sharing.share("a", request_).code
    app.bench.works.remove(request_.work_id)
    keep_one = app.bench.works.add(b"CHAPTER I\n\nThe river rose all night.\n", name="r.txt", title="River").work
    at = sound(app.open(FIND, search=code))
    assert SAYS["sample missing"] in said(at)
    assert at.selectbox(key="find_work").value == keep_one.id


def test_a_way_of_searching_that_pages_do_not_offer_does_not_keep_a_search_from_opening(app, request_):
    kept = app.bench.history.keep(replace(request_, retrievers=("bm25-lemmas", "bm25"))).id
    at = sound(app.open(FIND, q=kept))
    assert at.text_area(key="find_claim").value == CLAIM


@pytest.mark.parametrize(("rows", "writes"), [(TopKSnapshotRows, "add"), (SearchRows, "keep")])
def test_what_cannot_be_kept_does_not_keep_the_answer_away(app, monkeypatch, rows, writes):
    def full(*_, **__):
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(rows, writes, full)
    at = ask(app)
    for _ in range(2):
        assert html(at).count("<article") == 10
        assert "could not be saved for “Then and now”. The disk is full." in plain(html(at))
        at = sound(at.run())


def test_a_search_made_on_the_page_is_kept_with_what_it_found(app):
    at = ask(app)
    kept = app.bench.store.snapshots.of(value(at, "q"), length=3)
    assert {head.retriever for _, head in kept} == {"dense-relic", "bm25"}
    assert all(isinstance(head, TopKSnapshot) and 10 <= len(head.hits) <= 20 for _, head in kept)
