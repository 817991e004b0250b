"""Files of pairs and mined windows: what is written, in both forms."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc

import pytest

from relic_core.domain import Span
from relic_core.errors import BadBenchmark, StoreError
from relic_core.formats.pair_files import PairRow, write_pairs, write_windows
from tests.making import work_of
from tests.making_pairs import make_head, make_pair, make_pair_rows, make_window, make_window_row, read_rows

SUFFIXES = (".jsonl", ".parquet")


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"rows{request.param}"


def some_windows():
    work = work_of()
    golds = [Span(0, 1), Span(1, 2), Span(2, 3)]
    windows = [make_window(work, gold, number=number) for number, gold in enumerate(golds)]
    splits = ["dev", "training", ""]
    evidence = ["claim-supporting", "", ""]
    return work, [make_window_row(work, *each) for each in zip(windows, splits, evidence, strict=True)]


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_pair_is_written_with_its_words_places_and_split(path):
    assert write_pairs(path, make_head(), make_pair_rows(7, "dev")) == 7
    head, rows = read_rows(path)
    assert [row["id"] for row in rows] == [row.pair.id for row in make_pair_rows(7)]
    assert rows[1] == {
        "id": make_pair(1).id,
        "split": "dev",
        "source": head["sources"][0]["id"],
        "kind": "block",
        "left": ["Before, 1.", "He wrote:"],
        "quotation": "The boat “number” 1 lay still…",
        "right": ["So—yes."],
        "quotation_start": 120,
        "quotation_end": 160,
        "passage_start": 100,
        "passage_end": 190,
    }


def test_a_window_is_written_with_its_sentences_and_judgements(path):
    work, windows = some_windows()
    write_windows(path, make_head(work), windows)
    head, rows = read_rows(path)
    first, of_work = rows[0], work.sentences[0]
    assert first["sentences"] == [" ".join(work.text[of_work.start : of_work.end].split())]
    assert (first["work_start"], first["work_end"]) == (of_work.start, of_work.end)
    assert first["lit_in_work"] == [{"start": of_work.start, "end": of_work.end}]
    assert [(row["gold_start"], row["gold_length"]) for row in rows] == [(0, 1), (1, 2), (2, 3)]
    assert [(row["split"], row["match"], row["evidence"]) for row in rows] == [
        ("dev", "right", "claim-supporting"),
        ("training", "", ""),
        ("", "", ""),
    ]
    assert (head["works"][0]["sha256"], head["works"][0]["fingerprint"]) == (work.sha256, work.fingerprint)


def test_no_row_at_all_is_a_file_too(path):
    assert write_pairs(path, make_head(), []) == 0
    assert read_rows(path)[1] == []


def test_the_same_rows_make_the_same_bytes(path):
    write_pairs(path, make_head(), make_pair_rows(5))
    before = path.read_bytes()
    write_pairs(path, make_head(), iter(make_pair_rows(5)))
    assert path.read_bytes() == before


def test_both_forms_have_the_same_columns_and_values(tmp_path):
    from pyarrow import parquet

    work, rows = some_windows()
    for suffix in SUFFIXES:
        write_windows(tmp_path / f"w{suffix}", make_head(work), rows)
    lines = lines_of(tmp_path / "w.jsonl")[1:]
    table = parquet.read_table(tmp_path / "w.parquet")
    assert table.column_names == list(lines[0])
    assert table.to_pylist() == lines


def test_the_first_line_says_what_made_the_rows_and_how_many_there_are(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_pairs(path, make_head(), make_pair_rows(12))
    head = lines_of(path)[0]
    assert (head["format"], head["rows"], head["made"]["rules"]) == ("relic pairs/1", 12, "prose/1")
    assert head["sources"][0]["number"] == 60_001


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_offsets_only_hold_no_word_of_a_text(tmp_path, suffix):
    work, rows = some_windows()
    path = tmp_path / f"places{suffix}"
    write_windows(path, make_head(work), rows, places=True)
    written = path.read_bytes()
    for row in rows:
        for text in (*row.window.left, row.window.quotation, *row.window.right, *row.sentences):
            assert text.encode() not in written
    pairs = tmp_path / f"pairs{suffix}"
    write_pairs(pairs, make_head(), make_pair_rows(3), places=True)
    assert b"lay still" not in pairs.read_bytes()
    assert b"He wrote" not in pairs.read_bytes()


def test_offsets_only_tell_by_digests_whether_the_words_were_found_again(tmp_path):
    path = tmp_path / "places.jsonl"
    again = dataclasses.replace(make_pair(1), quotation='the boat "NUMBER" 1\nlay still...')
    other = dataclasses.replace(make_pair(1), quotation="The boat lay still.", id="other")
    rows = [PairRow(pair=each) for each in (make_pair(1), dataclasses.replace(again, id="again"), other)]
    write_pairs(path, make_head(), rows, places=True)
    first, second, third = lines_of(path)[1:]
    assert first["quotation_digest"] == second["quotation_digest"] != third["quotation_digest"]
    assert (first["quotation_start"], first["quotation_end"]) == (120, 160)
    assert (first["left_sentences"], first["right_sentences"]) == (2, 1)


def test_what_was_mined_without_words_is_written_as_offsets_alone(tmp_path):
    rows = [PairRow(pair=make_pair(1, words=False))]
    with pytest.raises(BadBenchmark, match=make_pair(1).id):
        write_pairs(tmp_path / "pairs.jsonl", make_head(), rows)
    assert not list(tmp_path.iterdir())
    write_pairs(tmp_path / "pairs.jsonl", make_head(), rows, places=True)
    assert lines_of(tmp_path / "pairs.jsonl")[1]["quotation_digest"] == ""


def test_an_id_names_one_passage(path):
    with pytest.raises(BadBenchmark, match="occurs twice"):
        write_pairs(path, make_head(), make_pair_rows(2) + make_pair_rows(1))
    assert not path.exists()


def test_a_failed_export_leaves_the_file_before_it(path):
    write_pairs(path, make_head(), make_pair_rows(2))
    before = path.read_bytes()

    def breaking():
        yield from make_pair_rows(1)
        raise StoreError("The store went away")

    with pytest.raises(StoreError):
        write_pairs(path, make_head(), breaking())
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_another_ending_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(BadBenchmark, match=r"\.jsonl.*\.parquet"):
        write_pairs(tmp_path / "pairs.csv", make_head(), [])


def test_half_a_character_is_refused(path):
    row = PairRow(pair=dataclasses.replace(make_pair(), quotation="half \ud83d of one"))
    with pytest.raises(BadBenchmark, match="written as"):
        write_pairs(path, make_head(), [row])


def test_many_rows_are_written_without_holding_them(tmp_path):
    """Rows of five megabytes in all are never in memory together; a list of them would be more than twice that."""
    path = tmp_path / "many.jsonl"
    count, body = 4_000, "x" * 1_200

    def rows():
        for number in range(count):
            pair = make_pair(number)
            yield PairRow(pair=dataclasses.replace(pair, quotation=f"{pair.quotation} {body}"), split="training")

    tracemalloc.start()
    try:
        write_pairs(path, make_head(), rows())
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 5_000_000


def test_a_large_parquet_file_is_written_in_order(tmp_path):
    path = tmp_path / "many.parquet"
    rows = make_pair_rows(5_001)
    write_pairs(path, make_head(), rows)
    assert [row["id"] for row in read_rows(path)[1]] == [row.pair.id for row in rows]
