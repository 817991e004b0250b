"""RELiC's JSON and the leaderboard's file: what is read, what is written, and what is refused with which words."""

from __future__ import annotations

import copy
import json

import pytest

from relic_core.errors import BadBenchmark, NotFound, StoreError
from relic_core.formats.relic import Quote, RelicBook, read_relic, write_relic, write_submission

FERRY = {
    "sentences": ["The river rose. ", "Nobody crossed it. ", "“Wait,” he said.", "They waited. ", "It fell. ", "Dawn."],
    "candidates": {
        "1_sentence": [0, 1, 2, 3, 4, 5],
        "2_sentence": [0, 1, 2, 3, 4],
        "3_sentence": [0, 1, 3],
        "4_sentence": [0, 1, 2],
        "5_sentence": [1, 0],
    },
    "quotes": {
        "070789": [["The novel waits.", "So does he."], 3, 2, ["The pause is moral."]],
        "070790": [[], 1, 5, ["One.", "Two.", "Three.", "Four."]],
    },
}
MILL = {
    "sentences": ["The wheel turned."],
    "candidates": {"1_sentence": [0], "2_sentence": [], "3_sentence": [], "4_sentence": [], "5_sentence": []},
    "quotes": {"9": [["Before."], None, 1, []]},
}


def _write(tmp_path, content, name="val.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def data():
    return copy.deepcopy({"The Ferry": FERRY, "The Mill": MILL})


def _refused(path):
    with pytest.raises(BadBenchmark) as caught:
        read_relic(path)
    return str(caught.value)


def test_a_file_becomes_books_in_its_order_with_every_part_of_them(tmp_path, data):
    ferry, mill = read_relic(_write(tmp_path, data))
    assert (ferry.title, mill.title) == ("The Ferry", "The Mill")
    assert ferry.sentences == tuple(FERRY["sentences"])
    assert ferry.candidates == {1: (0, 1, 2, 3, 4, 5), 2: (0, 1, 2, 3, 4), 3: (0, 1, 3), 4: (0, 1, 2), 5: (1, 0)}
    assert ferry.quotes == (
        Quote("070789", ("The novel waits.", "So does he."), 3, 2, ("The pause is moral.",)),
        Quote("070790", (), 1, 5, ("One.", "Two.", "Three.", "Four.")),
    )
    assert mill.quotes[0].start is None  # the hidden test file


def test_what_is_written_is_what_the_authors_files_hold(tmp_path, data):
    write_relic(tmp_path / "out.json", read_relic(_write(tmp_path, data)))
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == data


def test_writing_twice_makes_the_same_bytes_and_leaves_no_other_file(tmp_path, data):
    books = read_relic(_write(tmp_path, data))
    write_relic(tmp_path / "one.json", books)
    write_relic(tmp_path / "two.json", iter(books))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["one.json", "two.json", "val.json"]


def test_the_candidate_lists_of_a_book_share_their_numbers(tmp_path):
    many = {f"{n}_sentence": list(range(2000 - n + 1)) for n in range(1, 6)}
    (book,) = read_relic(_write(tmp_path, {"Long": {"sentences": ["A."] * 2000, "candidates": many, "quotes": {}}}))
    assert book.candidates[1][1500] is book.candidates[5][1500]


@pytest.mark.parametrize("end", [1, 40, 200, 500, -2])
def test_a_file_cut_short_is_refused_with_the_position(tmp_path, data, end):
    text = json.dumps(data)[:end]
    message = _refused(_write(tmp_path, text))
    assert "val.json is not whole JSON" in message
    assert f"of {len(text):,}" in message
    assert "cut short" in message


def test_a_file_cut_within_a_character_is_refused_with_the_byte(tmp_path, data):
    path = tmp_path / "val.json"
    raw = json.dumps(data, ensure_ascii=False).encode()
    cut = raw.index("“".encode()) + 1
    path.write_bytes(raw[:cut])
    assert f"byte {cut - 1:,} of {cut:,}" in _refused(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[]", "JSON"),
        ("{}", "holds no book"),
        ('{"A": 3}', "'A'"),
        ('{"A": {"sentences": [], "quotes": {}}}', "book 'A': 'candidates'"),
        ("[" * 100_000, "nested"),
        ('{"A": NaN}', "NaN is not a number"),
        ("9" * 5000, "not whole JSON"),
    ],
)
def test_what_is_no_file_of_relic_is_refused(tmp_path, content, what):
    assert what in _refused(_write(tmp_path, content))


def _changed(data, change):
    change(data["The Ferry"])
    return data


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda b: b["quotes"]["070789"].__setitem__(1, 5), "2 sentences from 5"),
        (lambda b: b["quotes"]["070789"].__setitem__(1, -1), "beyond"),
        (lambda b: b["quotes"]["070789"].__setitem__(1, 10**30), "beyond"),
        (lambda b: b["candidates"]["2_sentence"].remove(3), "start 3 is not among the 4 candidates of '2_sentence'"),
        (lambda b: b["quotes"]["070789"].__setitem__(1, True), "'quotes' '070789' '1'"),
        (lambda b: b["quotes"]["070789"].__setitem__(1, 3.0), "'quotes' '070789' '1'"),
        (lambda b: b["quotes"]["070789"].__setitem__(2, 0), "'quotes' '070789' '2'"),
        (lambda b: b["quotes"]["070789"].__setitem__(2, 6), "'quotes' '070789' '2'"),
        (lambda b: b["quotes"]["070789"].__setitem__(2, None), "'quotes' '070789' '2'"),
        (lambda b: b["quotes"]["070789"].__setitem__(0, "text"), "'quotes' '070789' '0'"),
        (lambda b: b["quotes"]["070789"].__setitem__(3, [1]), "'quotes' '070789' '3'"),
        (lambda b: b["quotes"]["070789"].__setitem__(3, ["x"] * 5), "'quotes' '070789' '3'"),
        (lambda b: b["quotes"]["070789"].append(0), "'quotes' '070789'"),
        (lambda b: b["quotes"].__setitem__("070789", {}), "'quotes' '070789'"),
        (lambda b: b["sentences"].__setitem__(2, None), "'sentences' '2'"),
        (lambda b: b.__setitem__("sentences", "x"), "'sentences'"),
        (lambda b: b["candidates"]["4_sentence"].append(3), "3, from which no 4"),
        (lambda b: b["candidates"]["4_sentence"].append(-1), "'4_sentence'"),
        (lambda b: b["candidates"]["4_sentence"].append(2), "'4_sentence' holds a start twice"),
        (lambda b: b["candidates"]["4_sentence"].append(True), "'4_sentence' '3'"),
        (lambda b: b["candidates"].__setitem__("4_sentence", {}), "'4_sentence'"),
        (lambda b: b["candidates"].pop("4_sentence"), "'candidates'"),
        (lambda b: b["candidates"].__setitem__("6_sentence", []), "6_sentence"),
        (lambda b: b.__setitem__("author", "A. Nobody"), "'author'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_book_is_refused_with_the_file_and_the_book(tmp_path, data, change, what):
    message = _refused(_write(tmp_path, _changed(data, change)))
    assert what in message
    assert f"{tmp_path / 'val.json'}: book 'The Ferry'" in message


def test_what_is_wrong_with_a_quotation_names_its_id(tmp_path, data):
    data["The Ferry"]["quotes"]["070790"][1] = 2
    assert "book 'The Ferry', quotation '070790': the gold span" in _refused(_write(tmp_path, data))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.__setitem__("The \udcff Mill", data.pop("The Mill")),
        lambda data: data["The Ferry"]["quotes"]["070789"].__setitem__(0, ["\udcff"]),
        lambda data: data["The Ferry"]["quotes"].__setitem__("\udcff", [[], None, 1, []]),
        lambda data: data["The Ferry"]["sentences"].__setitem__(2, "a\udcffb"),
    ],
)
def test_half_of_a_character_is_refused(tmp_path, data, change):
    change(data)
    assert "U+DCFF" in _refused(_write(tmp_path, data))


def test_an_id_in_two_books_is_refused_with_both(tmp_path, data):
    data["The Mill"]["quotes"]["070789"] = [[], None, 1, []]
    message = _refused(_write(tmp_path, data))
    assert "book 'The Mill', quotation '070789'" in message
    assert "the book 'The Ferry' too" in message


@pytest.mark.parametrize(
    ("once", "doubled", "what"),
    [
        ('"070790": ', '"070789": ', "'070789' twice"),
        ('"The Mill": ', '"The Ferry": ', "'The Ferry' twice"),
        ('"5_sentence": [1, 0]', '"4_sentence": [1, 0]', "'4_sentence' twice"),
    ],
)
def test_a_doubled_key_which_json_would_drop_is_refused(tmp_path, data, once, doubled, what):
    text = json.dumps(data)
    assert text.count(once) == 1
    assert what in _refused(_write(tmp_path, text.replace(once, doubled)))


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path, data):
    path = tmp_path / "val.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(data).encode())
    assert len(read_relic(path)) == 2


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFound, match=r"test\.json"):
        read_relic(tmp_path / "test.json")


def test_a_folder_is_no_file(tmp_path):
    assert _refused(tmp_path)


def test_a_refused_book_leaves_the_file_that_was_there(tmp_path, data):
    path = _write(tmp_path, data)
    before = path.read_bytes()
    ferry, mill = read_relic(path)
    beyond = RelicBook(mill.title, mill.sentences, mill.candidates, (Quote("x", (), 1, 1, ()),))
    with pytest.raises(BadBenchmark, match="beyond"):
        write_relic(path, (ferry, beyond))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["val.json"]


def test_books_that_would_be_one_key_are_not_written(tmp_path, data):
    ferry, mill = read_relic(_write(tmp_path, data))
    with pytest.raises(BadBenchmark, match="'The Ferry'"):
        write_relic(tmp_path / "out.json", (ferry, ferry))
    twice = RelicBook(mill.title, mill.sentences, mill.candidates, mill.quotes * 2)
    with pytest.raises(BadBenchmark, match="'9'"):
        write_relic(tmp_path / "out.json", (twice,))
    with pytest.raises(BadBenchmark, match="no book to write"):
        write_relic(tmp_path / "out.json", ())
    assert not (tmp_path / "out.json").exists()


def test_a_folder_that_is_not_there_is_told(tmp_path, data):
    with pytest.raises(StoreError, match="written"):
        write_relic(tmp_path / "no" / "out.json", read_relic(_write(tmp_path, data)))


# The leaderboard's file.


@pytest.fixture
def books(tmp_path):
    long = {
        "sentences": ["A."] * 150,
        "candidates": {f"{n}_sentence": list(range(150 - n + 1)) for n in range(1, 6)},
        "quotes": {"a": [[], None, 2, []], "b": [[], None, 1, []]},
    }
    return read_relic(_write(tmp_path, {"Long": long, "The Mill": MILL}, "test.json"))


def test_a_submission_is_what_the_leaderboards_scorer_loads(tmp_path, books):
    rankings = {"a": list(range(100)), "b": list(range(149, 49, -1)), "9": [0]}
    write_submission(tmp_path / "submission.json", rankings)
    content = json.loads((tmp_path / "submission.json").read_text(encoding="utf-8"))
    assert list(content.items()) == list(rankings.items())
