"""The folder for Hugging Face's `datasets`: its layout, its card, and that it is there whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from pyarrow import parquet

from relic_core.config import ASSETS
from relic_core.domain import Span
from relic_core.errors import BadBenchmark, BadRequest, StoreError
from relic_core.formats import datasets_folder
from relic_core.formats.datasets_folder import write_folder
from tests.making import work_of
from tests.making_pairs import make_head, make_pair_rows, make_source, make_window, make_window_row, read_rows

WORDS = "# A small set\n\nWhat it is.\n\n## Known faults\n\n- It is small.\n"


def make_folder(folder, *, pairs=None, windows=None, words=WORDS, left_out=None):
    work = work_of()
    window_rows = {
        "dev": [make_window_row(work, make_window(work, Span(0, 1)), "dev", "claim-supporting")],
        "training": [make_window_row(work, make_window(work, Span(1, 2), number=1), "training")],
    }
    return write_folder(
        folder,
        make_head(work),
        pairs={"training": make_pair_rows(5)} if pairs is None else pairs,
        windows=window_rows if windows is None else windows,
        words=words,
        left_out=left_out or {"It shares 8 words in a row with a benchmark": 1_234},
    )


def front(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    return yaml.safe_load(text.split("---\n")[1])


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_head_of_the_card_names_the_files_of_each_split(tmp_path):
    make_folder(tmp_path / "set")
    configs = {
        config["config_name"]: {each["split"]: each["path"] for each in config["data_files"]}
        for config in front(tmp_path / "set")["configs"]
    }
    assert configs == {
        "pairs": {"train": "data/pairs/train-*.parquet"},
        "windows": {"train": "data/windows/train-*.parquet", "validation": "data/windows/validation-*.parquet"},
    }
    named = {
        path for splits in configs.values() for pattern in splits.values() for path in (tmp_path / "set").glob(pattern)
    }
    assert named == set((tmp_path / "set").rglob("*.parquet"))


def test_the_head_of_the_card_says_what_the_hub_asks(tmp_path):
    make_folder(tmp_path / "set")
    said = front(tmp_path / "set")
    assert said["pretty_name"] == "A small set"
    assert said["language"] == ["en"]
    assert said["size_categories"] == ["n<1K"]
    assert (said["license"], said["license_name"], said["license_link"]) == ("other", "as-of-each-source", "LICENSE.md")
    assert (tmp_path / "set" / "LICENSE.md").is_file()


def test_each_shard_says_by_itself_what_made_it(tmp_path):
    make_folder(tmp_path / "set")
    head, rows = read_rows(tmp_path / "set" / "data" / "pairs" / "train-00000-of-00001.parquet")
    assert head["made"]["rules"] == "prose/1"
    assert [row["id"] for row in rows] == [row.pair.id for row in make_pair_rows(5)]
    _, (row,) = read_rows(tmp_path / "set" / "data" / "windows" / "validation-00000-of-00001.parquet")
    assert (row["split"], row["evidence"]) == ("dev", "claim-supporting")


def test_many_rows_go_into_several_files_that_say_how_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets_folder, "SHARD_ROWS", 4)
    make_folder(tmp_path / "set", pairs={"training": iter(make_pair_rows(9))})
    folder = tmp_path / "set" / "data" / "pairs"
    shards = sorted(folder.iterdir())
    assert [shard.name for shard in shards] == [f"train-0000{number}-of-00003.parquet" for number in range(3)]
    assert [parquet.read_metadata(shard).num_rows for shard in shards] == [4, 4, 1]
    assert [row["id"] for shard in shards for row in read_rows(shard)[1]] == [row.pair.id for row in make_pair_rows(9)]


def test_rows_that_fill_the_files_exactly_leave_no_empty_one(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets_folder, "SHARD_ROWS", 4)
    make_folder(tmp_path / "set", pairs={"training": make_pair_rows(8)})
    assert len(list((tmp_path / "set" / "data" / "pairs").iterdir())) == 2


def test_the_card_counts_what_was_written(tmp_path):
    made = make_folder(tmp_path / "set")
    assert dict(made["pairs"].splits) == {"train": 5}
    assert dict(made["windows"].lengths) == {("validation", 1): 1, ("train", 2): 1}
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    for line in (
        "| pairs | 5 | 0 | 0 | 5 |",
        "| windows | 1 | 1 | 0 | 2 |",
        "| inline | 2 | 0 | 0 | 1 | 1 | 0 |",
        "| 2 | 1 | 0 | 0 |",
        "| claim-supporting | 0 | 1 | 0 |",
        "| It shares 8 words in a row with a benchmark | 1,234 |",
        "| rules | prose/1 |",
    ):
        assert line in card
    work, source = work_of(), make_source()
    assert f"| The Ferry | A. Nobody | 1891 | {work.sha256} | by-hand/1 | 1 | 1 | 0 |" in card
    assert f"| On Ferries | A. Critic | 60001 | Public domain in the USA | {source.sha256} | 5 | 2 |" in card


def test_the_card_has_the_words_it_is_given_and_counts_behind_the_first_of_them(tmp_path):
    make_folder(tmp_path / "set")
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    places = [card.index(words) for words in ("# A small set", "What it is.", "## What is in it", "- It is small.")]
    assert places == sorted(places)


def test_the_card_that_comes_with_the_program_says_what_may_not_be_learnt_from(tmp_path):
    make_folder(tmp_path / "set", words=(ASSETS / "export" / "card.md").read_text(encoding="utf-8"))
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    for heading in ("What the splits may be used for", "How it was made", "Known faults", "How to make it again"):
        assert f"\n## {heading}\n" in card
    assert "Not for training" in card
    assert front(tmp_path / "set")["pretty_name"] == "Quotations in literary criticism"


def test_a_title_cannot_break_the_table_it_stands_in(tmp_path):
    source = make_source(title="Ferries | <b>Boats</b>\n[and] *more*")
    write_folder(
        tmp_path / "set", make_head(sources=(source,)), pairs={"training": make_pair_rows(1)}, windows={},
        words=WORDS, left_out={},
    )  # fmt: skip
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert r"| Ferries \| &lt;b>Boats&lt;/b> \[and\] \*more\* |" in card


def test_the_licences_of_the_sources_are_gathered(tmp_path):
    sources = (make_source(1), make_source(2, licence=""), make_source(3))
    write_folder(
        tmp_path / "set", make_head(sources=sources), pairs={"training": make_pair_rows(1)}, windows={},
        words=WORDS, left_out={},
    )  # fmt: skip
    said = (tmp_path / "set" / "LICENSE.md").read_text(encoding="utf-8")
    assert said.count("## Public domain in the USA") == 1
    assert "## not stated" in said


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        make_folder(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_earlier_export_is_replaced_whole(tmp_path):
    make_folder(tmp_path / "set")
    make_folder(tmp_path / "set", windows={})
    assert not (tmp_path / "set" / "data" / "windows").exists()
    assert json.loads((tmp_path / "set" / "relic.json").read_text())["rows"] == {"pairs": {"train": 5}, "windows": {}}
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize("name", [".", "../here", "link"])
def test_the_folder_one_is_in_can_be_written_and_a_link_stays_a_link(tmp_path, monkeypatch, name):
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "link").symlink_to(here)
    monkeypatch.chdir(tmp_path if name == "link" else here)
    make_folder(Path(name))
    assert (here / "README.md").is_file()
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "link"]


def test_a_folder_of_others_may_be_the_one_one_is_in_and_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(BadRequest, match="other things"):
        make_folder(Path())
    assert [path.name for path in tmp_path.iterdir()] == ["own.txt"]


def test_somebody_elses_folder_is_not_touched(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadRequest, match=str(tmp_path / "set")):
        make_folder(tmp_path / "set")
    assert contents(tmp_path / "set") == {"thesis.txt": b"years of work"}
    (tmp_path / "file").write_text("a file")
    with pytest.raises(BadRequest, match="is a file"):
        make_folder(tmp_path / "file")


def test_an_empty_folder_will_do(tmp_path):
    (tmp_path / "set").mkdir()
    make_folder(tmp_path / "set")
    assert (tmp_path / "set" / "README.md").is_file()


def test_nothing_half_made_stays_behind(tmp_path):
    make_folder(tmp_path / "set")
    before = contents(tmp_path / "set")

    def breaking():
        yield from make_pair_rows(2)
        raise StoreError("The store went away")

    with pytest.raises(StoreError, match="went away"):
        make_folder(tmp_path / "set", pairs={"training": breaking()})
    assert contents(tmp_path / "set") == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_folder_of_nothing_is_not_written(tmp_path):
    with pytest.raises(BadBenchmark, match="no pair and no window"):
        make_folder(tmp_path / "set", pairs={}, windows={})
    assert not list(tmp_path.iterdir())


def test_a_folder_in_a_place_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StoreError, match=str(tmp_path)):
        make_folder(tmp_path / "nowhere" / "set")
