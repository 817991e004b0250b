"""What is odd about each benchmark, and what is said of data that are damaged or missing."""

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from relic_core.config import Settings
from relic_core.domain import BenchmarkCard, Book, ContextSize, QuotationContext, Span
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.benchmarks.birco import CHECKSUM, FILES
from relic_core.evaluation.benchmarks.opened import Opened, book_of, place_all
from relic_core.evaluation.benchmarks.passages import in_order
from relic_core.evaluation.experiments import run_id
from relic_core.formats.birco import MASKED
from relic_core.formats.relic import Quote, RelicBook, write_relic
from relic_core.library import sample
from relic_core.retrieval.bm25 import Bm25
from tests.making import make_work
from tests.shelf import Shelf

FERRY = make_work(
    ["The ferryman never counted his passengers.", "He counted their lanterns instead.", "Nobody spoke of it."],
    ["The river had no opinion of the matter.", "It rose all the same, and took the lower orchard with it."],
    title="The Ferry",
)
CARD = BenchmarkCard(
    name="own", label="My own", description="Mine.", split="", pool="whole work", main_metric="recall@10",
    examples=None, books=None, source="me", licence="mine", citation="me",
)  # fmt: skip
BOOK = book_of("ferry", FERRY)


FIRST = Span(0, 1)


def window(name="w1", *, gold=FIRST, book="ferry", pool="ferry", left=("He writes:",), right=(), kind=""):
    return QuotationContext(id=name, book=book, pool=pool, left=left, right=right, gold=gold, kind=kind)


def opened(*windows, work=FERRY, candidates=None):
    return Opened(CARD, windows, books=[BOOK], works={"ferry": work}, candidates=candidates)


class TestOpened:
    """Windows and works are checked against each other."""

    def test_there_must_be_a_window(self):
        with pytest.raises(BadBenchmark, match="window"):
            opened()

    def test_an_id_given_twice_is_named(self):
        with pytest.raises(BadBenchmark, match=r"once: w1\. Nothing"):
            opened(window("w1"), window("w2"), window("w1", gold=Span(1, 1)))

    @pytest.mark.parametrize("gold", [Span(5, 1), Span(4, 2), Span(-1, 2), Span(0, 0), Span(2, -1)])
    def test_a_quotation_beyond_its_work_is_named(self, gold):
        with pytest.raises(BadBenchmark, match="in: w2"):
            opened(window("w1", gold=Span(4, 1)), window("w2", gold=gold))

    def test_five_sentences_on_a_side_are_too_many(self):
        with pytest.raises(BadBenchmark, match="side: w1"):
            opened(window(right=("One.",) * 5))

    @pytest.mark.parametrize("which", ["book", "pool"])
    def test_a_book_or_a_pool_that_is_not_described_is_named_with_its_window(self, which):
        with pytest.raises(BadBenchmark, match="described: w1"):
            opened(window(**{which: "other"}))

    def test_a_quotation_that_is_no_candidate_is_named(self):
        with pytest.raises(BadBenchmark, match="candidates: w1, w2"):
            opened(window(), window("w2", gold=Span(0, 2)), candidates={("ferry", 1): [1, 2]})

    def test_many_at_fault_are_counted(self):
        with pytest.raises(BadBenchmark, match="n0, n1, n2, n3, n4 and 3 more"):
            opened(*(window(f"n{number}", gold=Span(9, 1)) for number in range(8)))

    def test_counts_are_those_of_what_was_opened(self):
        benchmark = Opened(
            CARD,
            [window("w1"), window("w2")],
            books=[Book(key="unread", title="Never quoted"), BOOK],
            works={"ferry": FERRY, "unread": make_work(["Nothing."])},
        )
        assert (benchmark.card.examples, benchmark.card.books) == (2, 1)
        assert benchmark.books() == (BOOK,)

    def test_the_hash_is_of_all_that_decides_ranks(self):
        hashes = [
            benchmark.data_hash
            for benchmark in (
                opened(window()),
                opened(window("w2")),
                opened(window(gold=Span(1, 1))),
                opened(window(gold=Span(0, 2))),
                opened(window(left=("He wrote:",))),
                opened(window(left=(), right=("He writes:",))),
                opened(window(kind="other")),
                opened(window(), window("w2")),
                opened(window("w2"), window()),
                opened(window(), candidates={("ferry", 1): [0, 1]}),
                opened(window(), candidates={("ferry", 1): [0, 2]}),
            )
        ]
        assert len(set(hashes)) == len(hashes)

    def test_a_work_that_is_cut_or_read_otherwise_has_another_hash(self):
        joined = dataclasses.replace(FERRY.sentences[0], end=FERRY.sentences[1].end)
        others = [dataclasses.replace(each, index=each.index - 1) for each in FERRY.sentences[2:]]
        otherwise = dataclasses.replace(FERRY, sentences=(joined, *others))
        assert otherwise.sha256 == FERRY.sha256
        assert opened(window()).data_hash != opened(window(), work=otherwise).data_hash
        assert opened(window()).data_hash == opened(window(), work=dataclasses.replace(FERRY, title="X")).data_hash
        assert opened(window()).data_hash != opened(window(), work=dataclasses.replace(FERRY, cuts=((3, 4),))).data_hash


def test_a_book_of_the_catalogue_is_described_by_it():
    book = book_of("moby_dick", FERRY)
    assert (book.title, book.author, book.year) == ("Moby Dick", "Herman Melville", 1851)
    assert (book.sentences, book.sha256) == (5, FERRY.sha256)
    assert book_of("ferry", FERRY).title == "The Ferry"


def test_quotations_that_cannot_be_placed_are_named_with_their_work():
    passages = {
        "a": ("ferry", "Nobody spoke of it"),
        "b": ("ferry", "All happy families are alike."),
        "c": ("ferry", "HE COUNTED THEIR LANTERNS instead; nobody spoke of it"),
    }
    with pytest.raises(BadBenchmark, match=r"editions: b \(ferry\)\. Nothing"):
        place_all("My own", passages, {"ferry": FERRY})
    del passages["b"]
    assert place_all("My own", passages, {"ferry": FERRY}) == {"a": Span(2, 1), "c": Span(1, 2)}


class TestSample:
    """The excerpts that ship."""

    def test_kinds_are_those_of_the_literature(self):
        kinds = {excerpt.id: excerpt.kind for excerpt in sample.read_excerpts()}
        benchmark = registry.open_benchmark("sample", settings=Settings(), works=Shelf())
        for window in benchmark.windows():
            paraphrase = kinds[window.id] == "paraphrase"
            assert window.kind == ("paraphrase-supporting" if paraphrase else "claim-supporting")

    def test_it_takes_no_file(self, tmp_path):
        with pytest.raises(BadRequest, match="program"):
            registry.open_benchmark("sample", settings=Settings(), works=Shelf(), data=tmp_path)


QUERIES = [
    {"id": "q1", "text": f"One. Two; three. He\nsays it: {MASKED} So it goes. {MASKED} And here?", "work": "ferry"},
    {"id": "q2", "text": f"{MASKED} All rises.", "work": "ferry"},
]
PASSAGES = {
    "c3": "The ferryman never counted his passengers.  He counted their lanterns  instead. ",
    "c1": "Nobody spoke of it.",
    "c2": "It rose all the same, and took t8e lower orchard with it.",
}
POOLS = {"q1": (["c2", "c1", "c3"], "c3"), "q2": (["c3", "c2"], "c2")}


@pytest.fixture
def birco(tmp_path):
    """A folder of BIRCO's form, in the folder of benchmarks."""
    folder = tmp_path / "birco_relic"
    folder.mkdir()
    write_birco(folder)
    return folder


def write_birco(folder, *, queries=QUERIES, passages=PASSAGES, pools=POOLS):
    rows = {
        "queries": queries,
        "passages": [{"id": name, "text": text} for name, text in passages.items()],
        "pools": [
            {"query_id": name, "candidates": candidates, "relevant": [gold]}
            for name, (candidates, gold) in pools.items()
        ],
    }
    for name, lines in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def open_birco(data, name="birco-pools", works=None):
    return registry.open_benchmark(
        name,
        settings=Settings(),
        works=Shelf(
            {"ferry": FERRY},
        )
        if works is None
        else works,
        data=data,
    )


def gain(rank):
    """Give nDCG@10 of a rank."""
    return (rank <= 10) / np.log2(rank + 1)


class TestBircoPools:
    """Pools as they were given."""

    def test_each_passage_is_a_chapter_of_one_sentence(self, birco):
        work = open_birco(birco).work("q1")
        texts = [work.sentence_text(index) for index in range(len(work.sentences))]
        assert texts == [" ".join(PASSAGES[name].split()) for name in in_order("q1", PASSAGES)]
        assert [chapter.title for chapter in work.chapters] == in_order("q1", PASSAGES)
        assert [sentence.chapter for sentence in work.sentences] == [0, 1, 2]
        assert [sentence.paragraph for sentence in work.sentences] == [0, 1, 2]

    @pytest.mark.parametrize("place", ["first", "last"])
    def test_neither_ids_nor_the_order_of_the_file_tell_where_the_gold_stands(self, birco, place):
        ids = [f"c{number:02}" for number in range(20)]
        golds = {f"q{number}": ids[0 if place == "first" else -1] for number in range(200)}
        write_birco(
            birco,
            queries=[{**QUERIES[0], "id": name} for name in golds],
            passages={name: f"Passage {name}." for name in ids},
            pools={name: (ids, gold) for name, gold in golds.items()},
        )
        windows = open_birco(birco).windows()
        places = Counter(window.gold.start for window in windows)
        # Drawn by lot: 200 places of 20, on average 9.5 with a standard error of 0.41.
        assert abs(sum(window.gold.start for window in windows) / 200 - 9.5) < 1.2
        assert len(places) == 20

    def test_a_pool_stands_in_the_same_order_whatever_that_of_the_file(self, birco):
        before = open_birco(birco)
        write_birco(birco, pools={name: (ids[::-1], gold) for name, (ids, gold) in POOLS.items()})
        assert open_birco(birco).data_hash == before.data_hash

    def test_a_query_is_cut_to_the_four_nearest_sentences_or_taken_whole(self, birco):
        said = [f"{number} is said." for number in ("One", "Two", "Three", "Four", "Five", "Six")]
        write_birco(birco, queries=[{**QUERIES[0], "text": f"{' '.join(said)} {MASKED} {' '.join(said)}"}, QUERIES[1]])
        cut, whole = (open_birco(birco, name).windows()[0] for name in ("birco-pools", "birco-pools-whole"))
        assert (cut.left, cut.right) == (tuple(said[2:]), tuple(said[:4]))
        assert (whole.left[-3:], whole.right[:3]) == (cut.left[-3:], cut.right[:3])
        claim = whole.claim(ContextSize(4, 4))
        assert (claim.left, claim.right) == (" ".join(said), " ".join(said))
        assert open_birco(birco, "birco-pools-whole").windows()[1] == open_birco(birco).windows()[1]

    @pytest.mark.corpus
    @pytest.mark.parametrize("shape", ["0/1", "1/1", "4/4"])
    def test_ties_tell_no_more_than_chance(self, shared, shape):
        """Some claims share no word with their pool: all passages have score 0, and the order of the text decides."""
        benchmark = registry.open_benchmark(
            "birco-pools", settings=Settings(benchmarks=shared / "benchmarks"), works=Shelf()
        )
        retriever, measured, by_lot = Bm25(k1=0.5, b=0.9), [], []
        for window in benchmark.windows():
            scores = retriever.score(window.claim(ContextSize.parse(shape)), benchmark.work(window.pool), 1)
            gold = scores[window.gold.start]
            better, equal = np.count_nonzero(scores > gold), np.count_nonzero(scores == gold)
            measured.append(gain(better + 1 + np.count_nonzero(scores[: window.gold.start] == gold)))
            by_lot.append(gain(better + np.arange(1, equal + 1)).mean())
        assert abs(np.mean(measured) - np.mean(by_lot)) < 0.005

    @pytest.mark.corpus
    def test_golds_stand_anywhere_in_their_pools(self, shared):
        benchmark = registry.open_benchmark(
            "birco-pools", settings=Settings(benchmarks=shared / "benchmarks"), works=Shelf()
        )
        places = [
            window.gold.start / (len(benchmark.work(window.pool).sentences) - 1) for window in benchmark.windows()
        ]
        assert abs(np.mean(places) - 0.5) < 2 * 0.042, "two standard errors of 48 places drawn by lot"

    def test_the_gold_has_length_1_whatever_it_holds(self, birco):
        benchmark = open_birco(birco)
        places = [in_order(name, ids).index(gold) for name, (ids, gold) in POOLS.items()]
        assert [window.gold for window in benchmark.windows()] == [Span(place, 1) for place in places]
        assert [benchmark.work(window.pool).candidates(1) for window in benchmark.windows()] == [3, 2]

    def test_a_query_is_cut_at_its_first_mask_and_keeps_the_four_nearest_sentences(self, birco):
        first, second = open_birco(birco).windows()
        assert first.left == ("One.", "Two;", "three.", "He says it:")
        assert first.right == ("So it goes.", "And here?")
        assert (second.left, second.right) == ((), ("All rises.",))

    def test_a_longer_side_loses_what_is_farthest(self, birco):
        write_birco(
            birco, queries=[{**QUERIES[0], "text": f"A b. C d. E f. G h. I j. {MASKED} " + "K l. " * 6}, QUERIES[1]]
        )
        first = open_birco(birco).windows()[0]
        assert first.left == ("C d.", "E f.", "G h.", "I j.")
        assert first.right == ("K l.",) * 4

    def test_without_novels_no_query_is_looked_for_in_one(self, birco):
        write_birco(birco, queries=[{key: each for key, each in query.items() if key != "work"} for query in QUERIES])
        with pytest.raises(BadBenchmark, match="2 queries"):
            open_birco(birco, "birco-novels")

    def test_an_empty_passage_is_refused(self, birco):
        write_birco(birco, passages={**PASSAGES, "c1": " \n"})
        with pytest.raises(BadBenchmark, match=r"passages\.jsonl, line 2"):
            open_birco(birco)


class TestBircoNovels:
    """The same queries in whole works."""

    def test_golds_are_placed_among_our_sentences(self, birco):
        benchmark = open_birco(birco, "birco-novels")
        assert [(each.id, each.pool, each.gold) for each in benchmark.windows()] == [
            ("q1", "ferry", Span(0, 2)),
            ("q2", "ferry", Span(4, 1)),
        ]
        assert benchmark.candidates(benchmark.windows()[0]) is None
        assert benchmark.books() == (book_of("ferry", FERRY),)

    def test_another_edition_is_told_by_what_is_not_in_it(self, birco):
        other = make_work(["The ferryman never counted his passengers.", "He counted their lanterns instead."])
        with pytest.raises(BadBenchmark, match=r"editions: q2 \(ferry\)"):
            open_birco(birco, "birco-novels", Shelf({"ferry": other}))

    def test_a_novel_that_is_missing_is_for_the_library_to_tell(self, birco):
        with pytest.raises(NotFound, match="The shelf has no ferry"):
            open_birco(birco, "birco-novels", Shelf())


class TestBircoData:
    """Where the data are, and whether they are those that are known."""

    @pytest.mark.parametrize("name", ["birco-pools", "birco-novels"])
    def test_where_no_folder_is_set_the_message_says_what_to_set(self, name):
        with pytest.raises(NotFound, match=r"(?s)do not ship.*RELIC_BENCHMARKS.*birco_relic.*--data"):
            registry.open_benchmark(name, settings=Settings(), works=Shelf())

    def test_a_folder_without_the_data_is_named(self, tmp_path):
        with pytest.raises(NotFound, match=r"birco_relic"):
            registry.open_benchmark("birco-pools", settings=Settings(benchmarks=tmp_path), works=Shelf())

    def test_other_files_in_the_place_of_the_known_ones_are_refused_until_named(self, birco):
        with pytest.raises(BadBenchmark, match="BIRCO-RELIC"):
            registry.open_benchmark("birco-pools", settings=Settings(benchmarks=birco.parent), works=Shelf())
        assert open_birco(birco).card.checksum not in {"", CHECKSUM}

    @pytest.mark.parametrize("file", FILES)
    def test_a_file_cut_short_is_refused(self, birco, file):
        path = birco / file
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(BadBenchmark, match=file):
            open_birco(birco)

    @pytest.mark.parametrize("file", FILES)
    def test_a_missing_file_is_named(self, birco, file):
        (birco / file).unlink()
        with pytest.raises(NotFound, match=file):
            open_birco(birco)

    def test_an_id_given_twice_is_refused(self, birco):
        write_birco(birco, queries=[*QUERIES, QUERIES[0]])
        with pytest.raises(BadBenchmark, match="q1"):
            open_birco(birco)


AWAKENING = RelicBook(
    title="The Awakening",
    sentences=("CHAPTER I ", "The parrot spoke.  ", " ", "Nobody answered it; ", "the sea was loud that day. "),
    candidates={1: (4, 1, 3), 2: (3,), 3: (), 4: (1,), 5: ()},
    quotes=(Quote("r1", ("A bird speaks first. ",), 1, 4, ()), Quote("r2", (), 4, 1, (" The sea is last.",))),
)
UNQUOTED = RelicBook(
    title="Not in the Catalogue", sentences=("A. ",), candidates=dict.fromkeys(range(1, 6), ()), quotes=()
)


@pytest.fixture
def relic(tmp_path):
    """A file of RELiC's form, in its place in the folder of benchmarks."""
    path = tmp_path / "relic" / "val.json"
    path.parent.mkdir()
    write_relic(path, [UNQUOTED, AWAKENING])
    return path


def open_relic(data=None, benchmarks=None):
    return registry.open_benchmark("relic", settings=Settings(benchmarks=benchmarks), works=Shelf(), data=data)


def run_of(data):
    card, shape = open_relic(data).card, ContextSize(1, 1)
    return run_id(
        benchmark=card.name, split=card.split, data_hash=open_relic(data).data_hash, retriever="bm25", shape=shape,
        configuration={},
    )  # fmt: skip


class TestRelic:
    """RELiC as published."""

    def test_a_work_is_the_sentences_of_the_file_parted_by_single_spaces(self, relic):
        work = open_relic(relic).work("The Awakening")
        assert work.text == "CHAPTER I The parrot spoke.  Nobody answered it; the sea was loud that day."
        assert [work.sentence_text(index) for index in range(5)] == [text.strip() for text in AWAKENING.sentences]
        assert {(sentence.chapter, sentence.paragraph) for sentence in work.sentences} == {(0, 0)}
        assert work.segmenter == "RELiC as published/1"

    def test_candidates_are_those_of_the_file_in_the_order_of_the_text(self, relic):
        benchmark = open_relic(relic)
        assert [benchmark.candidates(window).tolist() for window in benchmark.windows()] == [[1], [1, 3, 4]]

    def test_author_and_year_come_from_the_catalogue(self, relic):
        (book,) = open_relic(relic).books()
        assert (book.key, book.title, book.author, book.year) == ("The Awakening",) * 2 + ("Kate Chopin", 1899)
        assert book.sentences == 5

    def test_the_file_is_found_in_the_folder_of_benchmarks_or_in_one_that_is_named(self, relic):
        hashes = {
            open_relic(data, benchmarks).data_hash
            for data, benchmarks in ((relic, None), (relic.parent, None), (None, relic.parent.parent))
        }
        assert len(hashes) == 1

    @pytest.mark.parametrize("stem", ["train", "val", "test", "mine"])
    @pytest.mark.parametrize(
        ("titles", "split"),
        [
            (["The Awakening"], "dev"), (["the_awakening", "MOBY-DICK"], "dev"), (["The Awakening", "Emma"], "test"),
            (["Persuasion"], "test"), (["The Awakening", "My Own"], ""), (["My Own", "the_great_gatsby"], "test"),
        ],
    )  # fmt: skip
    def test_the_split_is_told_by_the_works_and_not_by_the_name_of_the_file(self, relic, titles, split, stem):
        books = [
            dataclasses.replace(
                AWAKENING,
                title=title,
                quotes=tuple(dataclasses.replace(each, id=f"{title} {each.id}") for each in AWAKENING.quotes),
            )
            for title in titles
        ]
        write_relic(relic, [UNQUOTED, *books])
        assert open_relic(relic.rename(relic.with_stem(stem))).card.split == split

    def test_the_same_data_under_two_names_make_one_run(self, relic, tmp_path):
        copied = tmp_path / "train.json"
        copied.write_bytes(relic.read_bytes())
        assert run_of(relic) == run_of(copied)

    def test_a_title_written_as_a_slug_has_its_author_and_year(self, relic):
        write_relic(relic, [dataclasses.replace(AWAKENING, title="the_awakening")])
        (book,) = open_relic(relic).books()
        assert (book.key, book.author, book.year) == ("the_awakening", "Kate Chopin", 1899)

    def test_the_hidden_split_is_for_submitting_alone(self, relic):
        hidden = [dataclasses.replace(quote, start=None) for quote in AWAKENING.quotes]
        write_relic(relic, [dataclasses.replace(AWAKENING, quotes=tuple(hidden))])
        with pytest.raises(BadBenchmark, match=r"(?s)hidden test split.*submitted.*val\.json"):
            open_relic(relic)

    def test_a_file_cut_short_is_refused(self, relic):
        relic.write_bytes(relic.read_bytes()[:-40])
        with pytest.raises(BadBenchmark, match=r"val\.json"):
            open_relic(relic)

    def test_a_quotation_beyond_its_book_is_refused(self, relic):
        content = json.loads(relic.read_text(encoding="utf-8"))
        content["The Awakening"]["quotes"]["r2"][1] = 5
        relic.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(BadBenchmark, match="r2"):
            open_relic(relic)

    def test_where_nothing_is_the_message_says_where_to_get_it(self, tmp_path):
        with pytest.raises(NotFound, match=r"relic\.cs\.umass\.edu"):
            open_relic()
        with pytest.raises(NotFound, match=r"val\.json"):
            open_relic(tmp_path)


def test_the_documentation_lists_every_benchmark_and_no_other():
    told = (Path(__file__).resolve().parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    section = told.split("## Benchmarks")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`([a-z-]+)`", " ".join(rows))) == sorted(registry.names())
