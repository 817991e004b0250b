"""Files of pairs and mined windows: what is written is read again, and nothing else is."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc

import pytest

from relic_core.domain import Span
from relic_core.errors import BadBenchmark, NotFound, StoreError
from relic_core.formats.pair_files import PairRow, read_pairs, read_windows, write_pairs, write_windows
from tests.making import work_of
from tests.making_pairs import make_head, make_pair, make_pair_rows, make_source, make_window, make_window_row

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


def rewrite(path, change, row=1):
    """Change a row of a file of JSON lines and put its checksum right, as somebody would who knows how."""
    import hashlib

    lines = lines_of(path)
    change(lines[row])
    body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines[1:])
    lines[0]["sha256"] = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(json.dumps(lines[0]) + "\n" + body, encoding="utf-8")


def test_pairs_come_back_as_they_were_with_what_made_them(path):
    rows, head = make_pair_rows(7), make_head()
    assert write_pairs(path, head, rows) == 7
    read = read_pairs(path)
    assert read.head == head
    assert list(read.rows) == rows


def test_windows_come_back_as_they_were_with_their_sentences_and_judgements(path):
    work, rows = some_windows()
    head = make_head(work)
    assert write_windows(path, head, rows) == 3
    read = read_windows(path)
    assert read.head == head
    assert list(read.rows) == rows


def test_no_row_at_all_is_a_file_too(path):
    assert write_pairs(path, make_head(), []) == 0
    assert list(read_pairs(path).rows) == []


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


def test_a_file_of_offsets_is_not_taken_for_one_with_words(path):
    write_pairs(path, make_head(), make_pair_rows(2), places=True)
    with pytest.raises(BadBenchmark, match="places of pairs"):
        read_pairs(path)


def test_windows_are_not_taken_for_pairs(path):
    work, rows = some_windows()
    write_windows(path, make_head(work), rows)
    with pytest.raises(BadBenchmark, match="'relic pairs/1' is wanted"):
        read_pairs(path)


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
    with pytest.raises(BadBenchmark, match=r"\.jsonl"):
        read_pairs(tmp_path / "pairs.csv")


def test_a_missing_file_is_told(path):
    with pytest.raises(NotFound, match="rows"):
        read_pairs(path)


@pytest.mark.parametrize("cut", [0.0, 0.3, 0.6, 0.95])
def test_a_file_that_was_cut_short_is_refused_before_a_row_is_used(path, cut):
    write_pairs(path, make_head(), make_pair_rows(40))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(BadBenchmark, match="rows"):
        read_pairs(path)


def test_lines_that_were_taken_out_are_missed(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_pairs(path, make_head(), make_pair_rows(9))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5] + lines[6:]))
    with pytest.raises(BadBenchmark, match="9 rows"):
        read_pairs(path)


def test_a_byte_that_was_changed_is_noticed(path):
    write_pairs(path, make_head(), make_pair_rows(30))
    data = bytearray(path.read_bytes())
    place = data.index(b"lay still") if path.suffix == ".jsonl" else len(data) // 4
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadBenchmark):
        list(read_pairs(path).rows)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda row: row.update(kind="poster"), "'kind'.*'poster'"),
        (lambda row: row.update(split="train"), "'split'.*'train'"),
        (lambda row: row.update(quotation_start=-1), "'quotation_start'.*-1"),
        (lambda row: row.update(quotation_start="20"), "'quotation_start'.*'20'"),
        (lambda row: row.update(left=["a."] * 5), "'left'.*4.*5"),
        (lambda row: row.update(left="a."), "'left'.*'a.'"),
        (lambda row: row.update(quotation=" "), "'quotation'.*' '"),
        (lambda row: row.update(note="x"), "'note'"),
        (lambda row: row.pop("right"), "'right'"),
    ],
)
def test_what_is_wrong_with_a_pair_is_told_with_its_row(tmp_path, change, told):
    path = tmp_path / "rows.jsonl"
    write_pairs(path, make_head(), make_pair_rows(3))
    rewrite(path, change, row=2)
    with pytest.raises(BadBenchmark, match=f"row 2.*{told}"):
        list(read_pairs(path).rows)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda row: row.update(gold_length=0), "'gold_length'.*0"),
        (lambda row: row.update(score=100.5), "'score'.*100.5"),
        (lambda row: row.update(score="97"), "'score'.*'97'"),
        (lambda row: row.update(score=True), "'score'.*True"),
        (lambda row: row.update(lit=[[1, 4]]), "'lit' '0'"),
        (lambda row: row.update(match="perhaps"), "'match'.*'perhaps'"),
    ],
)
def test_what_is_wrong_with_a_window_is_told_with_its_row(tmp_path, change, told):
    path = tmp_path / "rows.jsonl"
    work, rows = some_windows()
    write_windows(path, make_head(work), rows)
    rewrite(path, change, row=1)
    with pytest.raises(BadBenchmark, match=f"row 1.*{told}"):
        list(read_windows(path).rows)


def test_the_facts_of_a_head_are_checked(tmp_path):
    path = tmp_path / "rows.jsonl"
    for change, told in (
        (lambda head: head["sources"][0].update(characters="many"), "'characters'.*'many'"),
        (lambda head: head["sources"][0].pop("licence"), "'licence'"),
        (lambda head: head.update(made=["by hand"]), "made"),
        (lambda head: head.update(works="none"), "'works'.*'none'"),
    ):
        write_pairs(path, make_head(), make_pair_rows(1))
        rewrite(path, lambda row: None)
        head, *rest = lines_of(path)
        change(head)
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (head, *rest)), "utf-8")
        with pytest.raises(BadBenchmark, match=told):
            read_pairs(path)


def test_a_source_without_a_number_stays_without(path):
    source = dataclasses.replace(make_source(), number=None)
    head = make_head(sources=(source,))
    write_pairs(path, head, make_pair_rows(1))
    assert read_pairs(path).head.sources == (source,)


def test_half_a_character_is_refused(path):
    row = PairRow(pair=dataclasses.replace(make_pair(), quotation="half \ud83d of one"))
    with pytest.raises(BadBenchmark, match="written as"):
        write_pairs(path, make_head(), [row])


def test_many_rows_are_written_and_read_without_holding_them(tmp_path):
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
        assert sum(1 for _ in read_pairs(path).rows) == count
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 5_000_000


def test_a_large_parquet_file_comes_back_in_order(tmp_path):
    path = tmp_path / "many.parquet"
    rows = make_pair_rows(5_001)
    write_pairs(path, make_head(), rows)
    assert list(read_pairs(path).rows) == rows
