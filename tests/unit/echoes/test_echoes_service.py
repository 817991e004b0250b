"""Echoes between stored works: found, kept, said where works are one, written to files, and measured on known ones."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from lxml import etree

from relic_core.cli import main
from relic_core.config import Settings
from relic_core.domain import Chapter
from relic_core.echoes import files, service
from relic_core.echoes import measuring as known_echoes
from relic_core.echoes.service import Echoes, EchoRequest, read_request, units
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.wiring import build
from relic_ui.passages import passage_html
from tests.making import write_wordnet

NOVEL = """THE FERRY

CHAPTER I

It rained all night on the quay. The ferryman counted his coins twice.

“I looked for a sign,” he said, “and a great fish swallowed the prophet whole.”

CHAPTER II

Nobody came. The river rose, and the lamps went out along the harbour wall.
"""
SCRIPTURE = """Jonah

CHAPTER 1

1:1 Now the word came to the prophet by the river.
1:2 And a great fish swallowed up the prophet, three days.
1:3 And the sea ceased from her raging.
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("echoes")
    bench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    for name, text in (("ferry", NOVEL), ("jonah", SCRIPTURE), ("ferry two", NOVEL.replace("twice", "three times"))):
        bench.works.add(text.encode(), name=f"{name}.txt", title=name)
    return bench


@pytest.fixture
def request_(bench):
    ids = {work.title: work.id for work in bench.works.summaries()}
    return EchoRequest(work_id=ids["ferry"], others=(ids["jonah"],), method="tf-idf")


def test_the_echo_comes_first_with_its_places_and_shared_words_lit(bench, request_):
    answer = bench.echoes.find(request_)
    best = answer.echoes[0]
    assert (best.a.place.chapter_index, best.b.place.verse) == (0, 2)
    assert {piece.text for piece in best.b.passage.pieces if piece.lit} == {"great", "fish", "swallowed", "prophet"}
    assert best.b.text == best.b.work.span_text(best.b.span)
    assert answer.units == (2, 3)


def test_a_passage_is_set_to_the_letter_without_what_was_left_out_of_the_work(bench, request_):
    text = (
        "He read _Jonah_ aloud (_twice_).\n\n[Illustration]\n\n“_And_ a great fish,” he said, “swallowed the prophet!”"
    )
    work = bench.works.add(text.encode(), name="aloud.txt").work
    (best,) = bench.echoes.find(replace(request_, work_id=work.id, top=1)).echoes
    assert best.a.text == "He read Jonah aloud (twice). “And a great fish,” he said, “swallowed the prophet!”"
    assert [piece.text for piece in best.a.passage.pieces if piece.italic] == ["Jonah", "twice", "And"]


def test_a_word_that_meets_another_is_lit_and_says_which(bench, request_, monkeypatch):
    monkeypatch.setattr(
        service, "_related", lambda _a, _b, pairs: [[("look", "swallow"), ("whole", "day")] for _ in pairs]
    )
    best = bench.echoes.find(replace(request_, method="tf-idf", at="1.2.1")).echoes[0]
    assert best.a.met == {"looked": "swallow", "whole": "day"}
    assert best.b.met == {"days": "whole"}, "the other swallows, too"
    assert "whole" in {piece.text for piece in best.a.passage.pieces if piece.lit}
    assert 'title="meets whole"' in passage_html(best.b.passage, met=best.b.met)


def test_a_dash_of_two_hyphens_is_shown_as_in_print(bench, request_):
    work = bench.works.add(b"He saw a great fish--and the prophet, swallowed whole.", name="dash.txt").work
    best = bench.echoes.find(replace(request_, work_id=work.id, top=1)).echoes[0]
    html = passage_html(best.a.passage)
    assert "—and" in re.sub(r"<[^>]*>", "", html)


def test_what_was_found_is_kept_and_opened_again(bench, request_, monkeypatch):
    wanted = replace(request_, method="jaccard")
    assert bench.echoes.found(wanted) is None
    first = bench.echoes.find(wanted)
    monkeypatch.setattr(Echoes, "_compare", lambda *_: pytest.fail("compared again"))
    assert bench.echoes.found(read_request(wanted.parameters)).echoes == first.echoes


def test_a_chapter_or_a_passage_alone_is_compared(bench, request_):
    other = bench.echoes.find(replace(request_, chapter=2))
    assert {each.a.place.chapter_index for each in other.echoes} == {1}
    one = bench.echoes.find(replace(request_, at="1.2.1", length=2))
    assert one.units[0] == 1


def test_a_work_against_itself_and_editions_of_one_work_are_said(bench, request_):
    ids = {work.title: work.id for work in bench.works.summaries()}
    itself = bench.echoes.find(replace(request_, others=(request_.work_id,)))
    assert itself.notice
    for changed, expected in (
        ({"chapter": 1}, [(0, 1)]),
        ({"at": "1.2.1"}, [(1, 0)]),
        ({"at": "1.1.1", "length": 2}, []),
    ):
        jonah = bench.echoes.find(replace(request_, work_id=ids["jonah"], **changed))
        assert [(each.a.span.start, each.b.span.start) for each in jonah.echoes] == expected
    assert bench.echoes.find(replace(request_, others=(request_.work_id, ids["jonah"]))).notice == itself.notice
    editions = bench.echoes.find(replace(request_, others=(ids["ferry two"],)))
    assert editions.notice not in {"", itself.notice}
    assert "twice" in editions.echoes[0].a.text
    assert "three" in editions.echoes[0].b.text
    both = bench.echoes.find(replace(request_, others=(request_.work_id, ids["ferry two"])))
    assert both.notice == f"{itself.notice} {editions.notice}"
    assert both.echoes[0].b == editions.echoes[0].b


def test_a_verse_that_is_quoted_to_the_letter_is_found(bench, request_):
    text = "He read to us all evening from the old book.\n\nAnd a great fish swallowed up the prophet, three days."
    work = bench.works.add(text.encode(), name="tale.txt").work
    answer = bench.echoes.find(replace(request_, work_id=work.id, at="1.2.1"))
    assert not answer.notice
    assert answer.echoes[0].score == pytest.approx(1)
    assert answer.echoes[0].b.place.verse == 2
    bench.works.remove(work.id)


def test_a_changed_file_of_vectors_is_read_again(bench, request_, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("prophet 1 0\nfish 0 1\n", encoding="utf-8")
    wanted = replace(request_, method="soft-cosine", vectors=str(path))
    bench.echoes.find(wanted)
    assert bench.echoes.found(wanted)
    path.write_text("prophet 1 0\nfish 1 1\n", encoding="utf-8")
    assert bench.echoes.found(wanted) is None


def test_a_wordnet_that_differs_in_any_file_is_read_again(bench, request_, tmp_path):
    folder = write_wordnet(
        tmp_path / "dict",
        index_noun=("prophet n 1 0 1 0 00000001", "fish n 1 0 1 0 00000002"),
        data_noun=("00000001 06 n 01 prophet 0 000 | a", "00000002 06 n 01 fish 0 000 | b"),
    )
    wanted = replace(request_, method="soft-cosine", vectors=str(folder))
    bench.echoes.find(wanted)
    assert bench.echoes.found(wanted)
    verbs = folder / "index.verb"
    before = verbs.read_bytes()
    verbs.write_bytes(before + b"swallow v 1 0 1 0 00000003\n")
    assert bench.echoes.found(wanted) is None
    verbs.write_bytes(before)
    assert bench.echoes.found(wanted)


def test_a_chapter_without_a_sentence_is_refused(bench, request_):
    work = bench.works.load(request_.work_id)
    end = len(work.text)
    bare = replace(work, chapters=(*work.chapters, Chapter(len(work.chapters), end, end)))
    with pytest.raises(BadRequest):
        service.chosen(bare, replace(request_, chapter=len(bare.chapters)))


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"others": ()}, BadRequest),
        ({"method": "guessing"}, BadRequest),
        ({"top": 0}, BadRequest),
        ({"others": ("nothing-00000000",)}, NotFound),
        ({"chapter": 9}, NotFound),
        ({"least": 99}, BadRequest),
        ({"method": "soft-cosine", "vectors": "/no/such/file"}, BadRequest),
        ({"vectors": "random"}, BadRequest),
        ({"method": "embeddings", "most": 0.5}, BadRequest),
        ({"method": "combined", "tokens": True}, BadRequest),
        ({"method": "dense-relic", "stopwords": True}, BadRequest),
        ({"at": "1.1.1", "chapter": 1}, BadRequest),
        ({"length": 2}, BadRequest),
        ({"at": "9.1.1"}, NotFound),
    ],
)
def test_what_cannot_be_compared_is_refused(bench, request_, changed, error):
    with pytest.raises(error):
        bench.echoes.find(replace(request_, **changed))


def test_words_are_compared_as_they_stand_or_as_their_lemmas(bench, request_):
    texts = ("The lamps were swallowed.", "A lamp that swallows.")
    ids = [bench.works.add(text.encode(), name=f"{at}.txt", title=text).work.id for at, text in enumerate(texts)]
    asked = replace(request_, work_id=ids[0], others=(ids[1],))
    assert len(bench.echoes.find(asked).echoes) == 1
    assert bench.echoes.find(replace(asked, tokens=True)).echoes == ()
    assert read_request(replace(asked, tokens=True).parameters).tokens


class Bags:
    """An encoder by the letters of a passage."""

    identity = "letters"

    def encode_passages(self, passages):
        rows = np.array([[text.count(letter) for letter in "abcdefghilnorst"] for text in passages], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


@pytest.mark.parametrize("method", ["combined", "embeddings", "soft-cosine", "wmd", "hybrid"])
def test_methods_with_vectors_encode_each_passage_once(bench, request_, method, monkeypatch):
    monkeypatch.setattr(Echoes, "_encoder", lambda _: Bags())
    monkeypatch.setattr(service, "_PIECE", 2)
    answer = bench.echoes.find(replace(request_, method=method))
    assert answer.echoes
    monkeypatch.setattr(Bags, "encode_passages", lambda *_: pytest.fail("encoded again"))
    again = bench.echoes.find(replace(request_, method=method, top=5))
    assert again.echoes == answer.echoes[:5]


def test_passages_are_verses_short_paragraphs_together_and_sentences_of_long_ones(bench, request_):
    work = bench.works.load(request_.work_id)
    spans = units(work)
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == len(work.sentences)
    long = bench.works.add(("One two three four five six seven eight nine. " * 12).encode(), name="long.txt").work
    assert [span.length for span in units(bench.works.load(long.id))] == [3, 3, 3, 3]
    bench.works.remove(long.id)


def test_pairs_are_written_as_a_table_as_json_and_as_tei(bench, request_):
    pairs = bench.echoes.find(request_).echoes
    rows = list(csv.DictReader(io.StringIO(files.write(pairs, "csv").decode("utf-8-sig"))))
    assert rows[0]["b_passage"] == pairs[0].b.text
    assert json.loads(files.write(pairs, "json"))[0]["a_address"] == str(pairs[0].a.place.address)
    (link, *_) = etree.fromstring(files.write(pairs, "tei"))
    ids = [side.work.id for side in (pairs[0].a, pairs[0].b)]
    assert [each.partition("#")[0] for each in link.get("target").split()] == ids
    with pytest.raises(BadRequest):
        files.write(pairs, "pdf")


def test_the_command_finds_saves_and_measures(bench, request_, tmp_path, monkeypatch, capsys):
    for name, value in bench.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    typed = ["echoes", request_.work_id, *request_.others, "--method", "tesserae"]
    assert main(typed) == 0
    assert "swallowed" in capsys.readouterr().out
    assert main([*typed, "--save", str(tmp_path / "pairs.json")]) == 0
    assert json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))
    assert main([*typed, "--save", str(tmp_path / "pairs.pdf")]) == 1
    rows = [{"id": f"Jonah_1_{at}", "text": text} for at, text in enumerate(("a great fish", "a storm", "a lamp"), 1)]
    (tmp_path / "verses.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = [{"text": "the great fish", "gold": ["Jonah_1_1"], "book": book} for book in "ab"]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    capsys.readouterr()
    assert main(["evaluate", "bible-references", "tf-idf,bow", "--data", str(tmp_path), "--format", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert len(table["rows"]) == 2
    assert main(["evaluate", "bible-references", "bow", "--data", str(tmp_path), "--tokens"]) == 0
    assert "Bag of words, tokens" in capsys.readouterr().out
    named = ["evaluate", "bible-references", "soft-cosine", "--data", str(tmp_path), "--vectors"]
    assert main([*named, "random"]) == 0
    assert main([*named, str(tmp_path)]) == 1, "no WordNet"
    assert main(["evaluate", "bible-references", "tf-idf", "--data", str(tmp_path), "--vectors", "random"]) == 1


def test_known_echoes_of_the_bible_are_read_and_damaged_ones_refused(bench, tmp_path):
    verses = {
        "Jonah_1_1": "a great fish",
        "Jonah_1_2": "a storm",
        "Matthew_1_1": "the fish was great",
        "Romans_1_1": "x",
    }
    rows = [json.dumps({"id": name, "text": text}) for name, text in verses.items()]
    (tmp_path / "authorized_version.jsonl").write_text("\n".join(rows), encoding="utf-8")
    known = {"source": ["Matthew_1_1"], "target": ["Jonah_1_2", "Jonah_1_1"], "ref_type": "reference"}
    path = tmp_path / "bible_references.jsonl"
    path.write_text("\n".join([json.dumps(known)] * 2), encoding="utf-8")
    (row,) = bench.echoes.measure("tf-idf", tmp_path).rows
    assert row[2].value == 1
    texts = tmp_path / "texts"
    texts.mkdir()
    (tmp_path / "authorized_version.jsonl").rename(texts / "authorized_version.jsonl")
    assert bench.echoes.measure("tf-idf", tmp_path, texts).rows == (row,)
    known_works = known_echoes.read(tmp_path, texts)
    assert [each.title for each in known_works.b.chapters] == ["Jonah 1"]
    assert [each.number for each in known_works.b.paragraphs] == [1, 2]
    path.write_text(json.dumps(known | {"target": ["Jonah_9_9"]}), encoding="utf-8")
    with pytest.raises(BadBenchmark):
        bench.echoes.measure("tf-idf", tmp_path, texts)
    with pytest.raises(NotFound):
        bench.echoes.measure("tf-idf", tmp_path)


def test_a_greeting_is_no_echo(bench, request_):
    texts = ("“I beg your pardon,” said Orme. The rope was dry.", "“I beg your pardon,” cried Lisle. Nobody sang.")
    ids = [
        bench.works.add(text.encode(), name=f"{at}.txt", title=f"Polite {at}").work.id for at, text in enumerate(texts)
    ]
    assert bench.echoes.find(replace(request_, work_id=ids[0], others=(ids[1],))).echoes == ()


def test_the_first_pairs_are_there_while_the_rest_is_found(bench, request_, monkeypatch):
    monkeypatch.setattr(service.scoring, "_LOOK", -1.0)
    asked = replace(request_, top=7)
    looked = []
    monkeypatch.setattr(service, "write_whole", lambda path, text: looked.append((path.suffix, json.loads(text))))
    bench.echoes.find(asked)
    assert [suffix for suffix, _ in looked] == [".part", ".json"]
    assert looked[0][1]["pairs"] == looked[1][1]["pairs"][:5]
