"""The index of quoted works finds every run of four words, whatever its printing, and notices when it was changed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relic_core.domain import Span
from relic_core.errors import BadRequest, NoIndex, StaleIndex, StoreError
from relic_core.mining.quoted_works import RUN, UNKNOWN, QuotedWorks, open_or_build, run_hashes, spelt
from relic_core.ports import silent
from tests.making import make_work

FERRY = make_work(
    [
        ["The ferryman counted lanterns, not passengers.", "“Don’t honour him,” she said."],
        "It rained on the weir-keeper.",
    ],
    title="The Ferry",
    author="Ada Quill",
)
GAUGE = make_work([["The clerk read the gauge.", "The ferryman counted lanterns again."]], title="The Gauge")


@pytest.fixture
def index(tmp_path):
    return QuotedWorks.build([FERRY, GAUGE], tmp_path / "words", silent)


def found(index, text, **told):
    words = index.read(text)
    here, there = index.look_up(words.numbers, **{"commonest": 9, **told})
    return {
        (" ".join(words.spellings[at : at + RUN]), index.works[index.owner_of(to)].title, index.sentence_of(to))
        for at, to in zip(here.tolist(), there.tolist(), strict=True)
    }


def test_a_run_of_four_words_is_found_in_every_work_that_has_it(index):
    assert found(index, "It says: the ferryman counted lanterns!") == {
        ("the ferryman counted lanterns", "The Ferry", 0),
        ("the ferryman counted lanterns", "The Gauge", 4),
    }


def test_case_accents_apostrophes_hyphens_and_spelling_make_no_difference(index):
    assert ("dont honor him she", "The Ferry", 1) in found(index, "DON'T hönor him—she said")
    assert ("on the weir keeper", "The Ferry", 2) in found(index, "on the _weir keeper_")


def test_a_commonplace_run_is_left_out_and_so_is_one_across_two_works(index):
    assert found(index, "the ferryman counted lanterns", commonest=1) == set()
    assert found(index, "the weir-keeper. The clerk") == set()
    assert ("the clerk read the", "The Gauge", 3) in found(index, "the clerk read the")


def test_a_run_across_two_sentences_of_a_work_is_found(index):
    assert ("the gauge the ferryman", "The Gauge", 3) in found(index, "the gauge. The ferryman")


def test_a_text_shorter_than_a_run_has_none(index):
    assert found(index, "the ferryman counted") == set()
    assert found(index, "") == set()


def test_words_that_no_work_has_are_unknown(index):
    words = index.read("the zeppelin rained")
    assert (words.numbers == UNKNOWN).tolist() == [False, True, False]
    assert words.spellings == ["the", "zeppelin", "rained"]
    assert (words.starts.tolist(), words.ends.tolist()) == ([0, 4, 13], [3, 12, 19])


def test_offsets_and_sentences_are_those_of_the_works_to_the_letter(index):
    second = index.works[1]
    start, end = index.offsets(second.first_word, second.first_word + 4)
    assert GAUGE.text[start:end] == "The clerk read the gauge"
    assert index.gold_texts(second, Span(0, 2)) == ("The clerk read the gauge.", "The ferryman counted lanterns again.")
    assert index.gold_texts(index.works[0], Span(1, 1)) == ("“Don’t honour him,” she said.",)
    places = list(zip(index.sentence_starts.tolist(), index.sentence_ends.tolist(), strict=True))
    assert places == [(each.start, each.end) for work in (FERRY, GAUGE) for each in work.sentences]


def test_rare_words_count_for_more_bits_than_common_ones(index):
    the, weir = index.vocabulary["the"], index.vocabulary["weir"]
    assert index.bits[weir] > index.bits[the] > 0


def test_the_same_works_give_the_same_arrays(index, tmp_path):
    again = QuotedWorks.build(iter([FERRY, GAUGE]), tmp_path / "again", silent)
    assert np.array_equal(again.hashes, index.hashes)
    assert np.array_equal(again.places, index.places)
    assert again.works == index.works


def test_what_is_known_of_a_work_is_in_the_manifest(index):
    first = index.works[0]
    assert (first.id, first.title, first.author) == (FERRY.id, "The Ferry", "Ada Quill")
    assert (first.sha256, first.fingerprint, first.sentences) == (FERRY.sha256, FERRY.fingerprint, 3)


def test_building_again_replaces_what_was_there(index):
    assert [each.title for each in QuotedWorks.build([GAUGE], index.folder, silent).works] == ["The Gauge"]
    assert [path.name for path in index.folder.parent.iterdir()] == ["words"]


def test_a_build_that_fails_leaves_the_old_index_and_nothing_half_made(index):
    def stopping():
        yield GAUGE
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        QuotedWorks.build(stopping(), index.folder, silent)
    assert len(QuotedWorks.open(index.folder).works) == 2
    assert [path.name for path in index.folder.parent.iterdir()] == ["words"]


def test_no_work_and_a_work_given_twice_are_refused(tmp_path):
    with pytest.raises(BadRequest, match="Add works"):
        QuotedWorks.build([], tmp_path / "words", silent)
    with pytest.raises(BadRequest, match="given twice"):
        QuotedWorks.build([FERRY, FERRY], tmp_path / "words", silent)


def test_progress_says_how_many_works_were_read(tmp_path):
    told = []
    QuotedWorks.build([FERRY, GAUGE], tmp_path / "words", lambda *what: told.append(what))
    assert told == [(0, 2, "The Ferry"), (1, 2, "The Gauge"), (2, 2, "")]


def test_a_folder_without_an_index_is_told(tmp_path):
    with pytest.raises(NoIndex, match="Mine again"):
        QuotedWorks.open(tmp_path)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="quoted"):
        QuotedWorks.build([FERRY], tmp_path / "file" / "words", silent)


@pytest.mark.parametrize("name", ["words.npy", "hashes.npy", "vocabulary.txt", "sentences.txt"])
def test_a_file_that_was_cut_short_is_noticed(index, name):
    path = index.folder / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StaleIndex, match=name):
        QuotedWorks.open(index.folder)


def test_any_flipped_bit_is_noticed_before_mining_and_the_index_built_anew(index):
    versions = {FERRY.id: FERRY.version}
    for path in sorted(index.folder.iterdir()):
        written = path.read_bytes()
        for at in (len(written) - 1, len(written) // 2):
            path.write_bytes(written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :])
            with pytest.raises(StaleIndex):
                QuotedWorks.open(index.folder, thorough=True)
            path.write_bytes(written)
    QuotedWorks.open(index.folder, thorough=True)
    (index.folder / "words.npy").write_bytes(b"x" * (index.folder / "words.npy").stat().st_size)
    open_or_build(index.folder, versions, {FERRY.id: FERRY}.__getitem__, silent)
    QuotedWorks.open(index.folder, thorough=True)


def test_a_file_of_the_right_size_that_is_no_array_is_noticed(index):
    path = index.folder / "words.npy"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(StaleIndex, match="damaged"):
        QuotedWorks.open(index.folder)


def test_a_manifest_that_was_changed_is_noticed(index):
    path = index.folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["works"][0]["title"] = "Another"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(StaleIndex, match="was changed"):
        QuotedWorks.open(index.folder)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(StaleIndex):
        QuotedWorks.open(index.folder)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(StaleIndex, match="damaged"):
        QuotedWorks.open(index.folder)


def test_an_index_of_another_version_is_told(index, monkeypatch):
    monkeypatch.setattr("relic_core.mining.quoted_works.CODE", "quoted works/0")
    with pytest.raises(StaleIndex, match="built anew"):
        QuotedWorks.open(index.folder)


def test_hashes_tell_the_order_of_words():
    one, other = run_hashes(np.array([1, 2, 3, 4, 5], np.int32)), run_hashes(np.array([2, 1, 3, 4, 5], np.int32))
    assert len(set(one.tolist() + other.tolist())) == 4


def test_a_word_without_a_letter_to_compare_is_itself():
    assert spelt("1,000") == "1,000"
