"""The commands that measure: evaluate, runs, tune, figures; what they print and what they end with."""

import csv
import io
import json
from dataclasses import replace

import pytest

from relic_core import cli
from relic_core.domain import ContextSize
from relic_core.errors import NotFound
from relic_core.evaluation import proxy_runs
from relic_core.evaluation.benchmarks import registry
from relic_core.formats.leaderboard import read_submission
from relic_core.formats.parquet import read_outcomes, read_windows
from relic_core.formats.relic import Quote, RelicBook, read_relic, write_relic
from relic_core.formats.run_files import read_run, write_run
from relic_core.formats.trec import read_qrels
from relic_core.formats.trec import read_run as read_trec
from relic_core.services import exchange, measuring, proxy, runs
from relic_core.services.benchmarks import Benchmarks
from relic_core.wiring import build
from tests.making import make_work
from tests.small_benchmark import SmallBenchmark, novel, quiet
from tools import figures as expected
from tools.between_marks import marks


@pytest.fixture
def run(settings, tmp_path, monkeypatch, capsys):
    """Run a command on the test's own store and a small benchmark; gives exit code, output and errors."""
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(runs, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(registry, "open_benchmark", lambda name, **options: opened(name))
    monkeypatch.setattr(registry, "card", lambda name: opened(name).card)

    def opened(name):
        registry._module(name)  # refuses an unknown name
        small = SmallBenchmark(pool="given" if name == "birco-pools" else "whole work")
        small.card = replace(small.card, name=name, split="test" if name.startswith("birco") else "dev")
        return small

    def run(*arguments):
        try:
            code = cli.main(list(arguments))
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def only_id(settings):
    (made,) = build(settings).store.runs.all()
    return made.id


def test_a_retriever_is_measured_and_the_table_names_the_run(run, settings):
    code, said, told = run("evaluate", "sample", "bm25")
    assert (code, told) == (0, "")
    lines = said.splitlines()
    assert lines[0] == "A Small Benchmark: 10 claims about 2 works; each claim is ranked against the whole work."
    assert lines[2].split("  ")[0] == "retriever"
    for head in ("R@1", "R@100", "Mean rank", "Median rank", "MRR", "nDCG@10", "candidates"):
        assert head in lines[2]
    assert lines[3].startswith("BM25       4/4")
    assert "–" in lines[4]
    assert "bootstrap over works" in said
    assert only_id(settings) in lines[-1]


def test_measured_twice_it_is_recognised_and_the_table_is_the_same(run):
    first, second = run("evaluate", "sample", "bm25"), run("evaluate", "sample", "bm25")
    assert second[1] == first[1]
    assert "Nothing was measured now" in second[2]
    assert "every rank is what it was" in run("evaluate", "sample", "bm25", "--again")[2]


def test_several_retrievers_and_shapes_make_one_table(run):
    code, said, _ = run("evaluate", "sample", "bm25,random", "--shape", "1/1,4/4", "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [(row["retriever"], row["context"]) for row in rows] == [
        ("BM25", "1/1"), ("Random", "1/1"), ("BM25", "4/4"), ("Random", "4/4")
    ]  # fmt: skip
    assert {row["benchmark"] for row in rows} == {"sample"}
    assert float(rows[1]["MRR low"]) < float(rows[1]["MRR"]) < float(rows[1]["MRR high"])


def test_all_shapes_are_the_papers_six(run):
    _, said, _ = run("evaluate", "sample", "random", "--shape", "all", "--format", "json")
    (table,) = json.loads(said)
    assert [row["context"] for row in table["rows"]] == ["0/1", "0/4", "1/0", "4/0", "1/1", "4/4"]


@pytest.mark.parametrize(("form", "mark"), [("markdown", "| --- |"), ("latex", r"\toprule")])
def test_tables_can_be_taken_into_a_paper(run, form, mark):
    assert mark in run("evaluate", "sample", "bm25", "--format", form)[1]


def test_bm25_takes_parameters_of_its_own(run):
    _, said, _ = run("evaluate", "sample", "bm25", "--k1", "1.2")
    assert "BM25 (k1 1.2)" in said
    code, _, told = run("evaluate", "sample", "random", "--k1", "1.2")
    assert code == 1
    assert "bm25 alone" in told


def test_lemmas_take_parameters_too_and_the_list_tells_runs_apart(run):
    run("evaluate", "sample", "bm25")
    run("evaluate", "sample", "bm25", "--k1", "1.2")
    run("evaluate", "sample", "bm25-lemmas", "--b", "0.2")
    said = run("runs")[1]
    for label in ("BM25  ", "BM25 (k1 1.2)", "BM25, lemmas (b 0.2)"):
        assert label in said


def test_a_table_has_the_columns_that_are_asked_for(run, settings):
    assert "R@10, overlap counts" in run("evaluate", "sample", "bm25")[1]
    said = run("evaluate", "sample", "bm25", "--metric", "overlap-recall@3", "--metric", "mrr", "--format", "json")[1]
    assert list(json.loads(said)[0]["rows"][0]) == [
        "retriever", "context", "R@3, overlap counts", "MRR", "candidates", "n"
    ]  # fmt: skip
    assert "P@5" in run("runs", "show", only_id(settings), "--metric", "p@5")[1]
    code, _, told = run("evaluate", "sample", "random", "--metric", "recal@3")
    assert code == 1
    assert "Did you mean" in told
    assert only_id(settings)  # nothing was measured before that was said


@pytest.mark.parametrize(
    ("by", "parts", "counts"),
    [("length", [1, 2, 3], [4, 3, 3]), ("book", ["The First", "The Second"], [5, 5]), ("kind", ["none"], [10])],
)
def test_a_table_can_have_a_row_for_each_length_book_or_kind(run, settings, by, parts, counts):
    said = run("evaluate", "sample", "bm25,random", "--by", by, "--format", "json")[1]
    (table,) = json.loads(said)
    assert [(row["retriever"], row[by]) for row in table["rows"]] == [
        (name, part) for name in ("BM25", "Random") for part in parts
    ]
    assert [row["n"] for row in table["rows"]] == [*counts, *counts]
    for head in ("R@10", "Mean rank", "candidates"):
        assert head in table["rows"][0]
    for made in build(settings).store.runs.all():
        (shown,) = json.loads(run("runs", "show", made.id, "--by", by, "--format", "json")[1])
        assert [row for row in table["rows"] if row["retriever"] == made.label] == shown["rows"]


def test_where_nothing_varies_there_is_a_dash_and_no_interval(run):
    said = run("evaluate", "sample", "bm25", "--metric", "recall@100", "--format", "markdown")[1]
    assert "| 100.0 (–) |" in said
    assert "no certainty" in said
    assert "–" not in run("evaluate", "sample", "bm25", "--metric", "recall@100", "--format", "csv")[1]


def test_stopped_by_ctrl_c_it_says_that_it_goes_on(run, monkeypatch):
    with monkeypatch.context() as patch:

        def stopped(*arguments, **options):
            raise KeyboardInterrupt

        patch.setattr(measuring, "evaluate", stopped)
        code, _, told = run("evaluate", "sample", "bm25")
    assert code == 130
    assert "goes on from there" in told


def test_without_words_the_benchmarks_are_listed(run, monkeypatch):
    monkeypatch.undo()
    code, said, _ = run("evaluate")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()[1 : 1 + len(registry.names())]] == list(registry.names())
    assert "Retrievers: " in said


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["sample"], 2, "RETRIEVER"),
        (["sentences"], 2, "folder of lists"),
        (["sentences", "lists", "--format", "latex"], 2, "json"),
        (["sample", "bm52"], 1, "Did you mean"),
        (["simple", "bm25"], 1, "Did you mean sample"),
        (["sample", "bm25", "--shape", "9/9"], 1, "0 to 4"),
        (["sample", "bm25", "--shape", "long"], 1, "no context shape"),
        (["sample", "bm25", "--proxy"], 1, "another chooser"),
        (["sample", "bm25", "--submission", "x.json"], 2, "test.json"),
        (["sample", "bm25", "--chooser", "bm25"], 2, "add --proxy"),
        (["sample", "bm25", "--texts", "t"], 2, "a benchmark takes no --texts"),
        (["sentences", "lists", "--k1", "1"], 2, "evaluate sentences takes no --k1"),
        (["sample", "--windows", "w.parquet", "--by", "kind"], 2, "--windows takes no --by"),
        (["relic", "bm25", "--data", "t.json", "--submission", "x.json", "--proxy"], 2, "takes no --proxy"),
        (["sample", "random", "--proxy", "--k1", "0"], 2, "--proxy takes no --k1"),
        (["sample", "random", "--proxy", "--again", "--by", "kind"], 2, "--proxy takes no --again, --by"),
        (["relic", "bm25", "--data", "t.json", "--submission", "x.json", "--b", "0.5"], 2, "--submission takes no --b"),
        (["relic", "bm25,random", "--data", "t.json", "--submission", "x.json"], 2, "ONE_RETRIEVER"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_what_cannot_be_measured_is_told(run, arguments, code, why):
    ended, _, told = run("evaluate", *arguments)
    assert ended == code
    assert why in told


def test_the_proxy_task_is_asked_of_all_but_the_chooser(run):
    code, said, _ = run("evaluate", "sample", "random,tf-idf", "--proxy", "--chooser", "bm25")
    assert code == 0
    assert "from two passages that BM25 put first" in said
    assert "Random" in said
    assert "3 candidates. Chance is 33.3." in said
    assert "is built on" not in said


def test_a_figure_of_the_proxy_task_that_rests_on_the_chooser_is_told(run, monkeypatch):
    def quickly(items, *arguments, **options):
        return proxy_runs.Chosen(choices={item.id: 1 for item in items}, ranks={})

    monkeypatch.setattr(proxy, "ask", quickly)
    assert "Combined is built on BM25" in run("evaluate", "sample", "fusion", "--proxy")[1]
    said = run("evaluate", "sample", "fusion", "--proxy", "--chooser", "bm25-reference")[1]
    assert "Combined is built on BM25 (rank_bm25)" in said
    assert "is built on" not in run("evaluate", "sample", "fusion", "--proxy", "--chooser", "tf-idf")[1]


def test_runs_are_listed_shown_tagged_removed_and_restored(run, settings):
    assert "Nothing has been measured yet" in run("runs")[1]
    run("evaluate", "sample", "bm25")
    made = only_id(settings)
    assert made in run("runs")[1]
    assert "tagged: tuned, second" in run("runs", "tag", made[:5], "tuned", "second")[1]
    assert "is tagged: second, third. No longer: tuned." in run("runs", "tag", made[:5], "second", "third")[1]
    shown = run("runs", "show", made[:5])[1]
    assert "second, third" in shown
    first = [line.split(" ")[0] for line in shown.splitlines()]
    assert (first.count("code"), first.count("program")) == (1, 1)
    assert "bm25/1" in shown
    assert "python -m relic_core evaluate sample bm25 --shape 4/4 --k1 0.5 --b 0.9 --again" in shown
    assert "R@10" in shown
    assert json.loads(run("runs", "show", made, "--format", "json")[1])[0]["benchmark"] == "sample"
    assert f"runs restore {made}" in run("runs", "remove", made)[1]
    assert "Nothing has been measured yet" in run("runs")[1]
    code, _, told = run("runs", "restore", made[:5])
    assert (code, "whole id" in told) == (1, True)
    assert "is back" in run("runs", "restore", made)[1]
    for said in (made, made[:5]):
        code, _, told = run("runs", "restore", said)
        assert (code, told) == (1, f"Run {made} is not removed; there is nothing to restore.\n")
    assert made in run("runs", "list", "--format", "csv")[1]


def test_runs_of_given_pools_and_whole_works_are_told_apart_and_not_compared(run, settings):
    run("evaluate", "birco-pools", "random")
    run("evaluate", "birco-novels", "random")
    listed = run("runs")[1]
    assert "given" in listed
    assert "whole work" in listed
    assert "R@" not in listed


def test_runs_are_compared_in_pairs_and_corrected(run, settings):
    run("evaluate", "sample", "bm25,random,tf-idf")
    ids = [made.id for made in build(settings).store.runs.all()]
    code, said, _ = run("runs", "compare", *ids, "--metric", "mrr", "--metric", "recall@10")
    assert code == 0
    assert "corrected for 4 comparisons (Holm)" in said
    assert "Candidates: 39 on average." in said
    assert said.count("MRR") == 2
    assert "1 comparison (" in run("runs", "compare", *ids[:2])[1]


def test_runs_of_other_data_are_not_compared(run, settings, monkeypatch):
    run("evaluate", "sample", "bm25")
    workbench = build(settings)
    (first,) = workbench.store.runs.all()
    outcomes = workbench.store.runs.outcomes(first.id)
    for number, change in enumerate(({"benchmark": "other"}, {"pool": "given"}, {"data_hash": "0" * 64})):
        workbench.store.runs.add(replace(first, id=f"other{number}", **change), outcomes)
        code, _, told = run("runs", "compare", first.id, f"other{number}")
        assert code == 1
        assert "on the same data alone" in told


def test_a_run_on_the_readers_own_file_says_that_it_is_to_be_named(run, settings):
    made = build(settings).measuring.measure(SmallBenchmark(), "random", ContextSize(1, 1), progress=quiet).run
    assert "--data" not in made.command
    assert replace(made, benchmark="relic").command.endswith("evaluate relic random --shape 1/1 --data FILE")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show"], 2), (["show", "none"], 1), (["compare", "one"], 2), (["export", "one"], 2), (["import"], 2),
        (["import", "none.json"], 1), (["remove", "none"], 1), (["restore", "none"], 1), (["tag"], 2), (["burn"], 2),
        (["show", ""], 1),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)  # fmt: skip
def test_what_cannot_be_done_with_a_run_is_told(run, arguments, code):
    ended, _, told = run("runs", *arguments)
    assert ended == code
    assert told


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["compare", "one"], "two ids"),
        (["list", "one"], "one"),
        (["compare", "one", "two", "--by", "length"], "runs compare takes no --by"),
        (["remove", "one", "--metric", "mrr", "--format", "csv"], "runs remove takes no --metric, --format"),
    ],
    ids=" ".join,
)
def test_what_would_be_ignored_is_refused(run, arguments, why):
    code, _, told = run("runs", *arguments)
    assert code == 2
    assert why in told


def test_a_file_that_is_no_run_of_ours_is_judged_by_its_ending_first(run, tmp_path):
    code, _, told = run("runs", "import", str(tmp_path / "a.run"))
    assert code == 1
    assert "only .json files can" in told


def test_the_beginning_of_several_ids_is_not_enough(run, settings):
    workbench = build(settings)
    made = workbench.measuring.measure(SmallBenchmark(), "random", ContextSize(1, 1), progress=quiet)
    for made_up in ("abcd0", "abcd1"):
        workbench.store.runs.add(replace(made.run, id=made_up), made.outcomes)
    code, _, told = run("runs", "show", "abcd")
    assert code == 1
    assert "abcd0, abcd1. Give more characters" in told
    assert run("runs", "show", "abcd0")[0] == 0


def test_a_run_goes_out_in_every_form_and_comes_in_again(run, settings, tmp_path):
    run("evaluate", "sample", "bm25")
    made = only_id(settings)
    for suffix in ("json", "parquet", "run", "qrels"):
        assert run("runs", "export", made, str(tmp_path / f"out.{suffix}"))[0] == 0
    kept, outcomes = read_run(tmp_path / "out.json")
    assert kept.id == made
    assert read_outcomes(tmp_path / "out.parquet") == (kept, outcomes)
    _, rankings = read_trec(tmp_path / "out.run")
    qrels = read_qrels(tmp_path / "out.qrels")
    for outcome in outcomes:
        (gold,) = qrels[outcome.example_id]
        assert rankings[outcome.example_id].index(gold) + 1 == outcome.rank
    assert "is here already" in run("runs", "import", str(tmp_path / "out.json"))[1]
    other = build(replace(settings, data=tmp_path / "other"))
    assert exchange.take_in(other, tmp_path / "out.json") == (kept, True)
    assert other.store.runs.outcomes(made) == outcomes
    code, _, told = run("runs", "export", made, str(tmp_path / "out.xml"))
    assert code == 1
    assert ".parquet" in told


def test_windows_go_out_as_parquet(run, tmp_path):
    code, said, _ = run("evaluate", "sample", "--windows", str(tmp_path / "w.parquet"))
    assert (code, said) == (0, f"10 windows are in {tmp_path / 'w.parquet'}.\n")
    windows, facts = read_windows(tmp_path / "w.parquet")
    assert windows == SmallBenchmark().windows()
    assert (facts["benchmark"], facts["data_hash"]) == ("sample", SmallBenchmark().data_hash)
    for wrong, code in ((["--windows", "w.csv"], 1), (["bm25", "--windows", "w.parquet"], 2)):
        assert run("evaluate", "sample", *wrong)[0] == code


def test_a_gold_far_down_is_left_out_of_a_ranking_for_trec(run, settings, tmp_path):
    made = build(settings).measuring.measure(SmallBenchmark(), "random", ContextSize(1, 1), progress=quiet)
    first, second, *rest = made.outcomes
    far = (
        replace(first, rank=1000, overlap_rank=9, candidates=9_000_000),
        replace(second, rank=8_000_000, overlap_rank=9, candidates=9_000_000),
        *rest,
    )
    build(settings).store.runs.add(replace(made.run, id="far"), far)
    run("runs", "export", "far", str(tmp_path / "far.run"))
    _, rankings = read_trec(tmp_path / "far.run")
    assert (len(rankings["w0"]), len(rankings["w1"])) == (1000, 3)


def test_a_file_with_other_ranks_is_refused_until_the_run_is_removed(run, settings, tmp_path):
    run("evaluate", "sample", "bm25")
    made = only_id(settings)
    path = tmp_path / "other.json"
    stored = build(settings).store.runs
    kept, outcomes = stored.get(made), stored.outcomes(made)
    others = tuple(replace(each, rank=1 + each.rank % 20, overlap_rank=1) for each in outcomes)
    write_run(path, kept, others)
    code, _, told = run("runs", "import", str(path))
    assert code == 1
    assert "10 of its 10 ranks are others" in told
    assert f"runs remove {made}" in told
    assert build(settings).store.runs.outcomes(made) == outcomes
    run("runs", "remove", made)
    code, said, _ = run("runs", "import", str(path))
    assert (code, "was taken in" in said) == (0, True)
    assert build(settings).store.runs.outcomes(made) == others
    run("runs", "remove", made)
    assert "was taken in" in run("runs", "import", str(path))[1]


def test_a_run_whose_id_is_not_its_own_is_not_taken_in(run, settings, tmp_path):
    made = build(settings).measuring.measure(SmallBenchmark(), "random", ContextSize(1, 1), progress=quiet)
    write_run(tmp_path / "other.json", replace(made.run, shape=ContextSize(4, 4)), made.outcomes)
    code, _, told = run("runs", "import", str(tmp_path / "other.json"))
    assert code == 1
    assert "changed by hand" in told


def test_tune_prints_a_grid_and_refuses_a_test_split(run):
    code, said, _ = run("tune", "bm25", "sample", "--k1", "0.5,2", "--b", "0,0.9", "--metric", "recall@10")
    assert code == 0
    assert "R@10 of BM25 on A Small Benchmark" in said
    assert "Best: k1" in said
    assert "of BM25, lemmas on" in run("tune", "bm25-lemmas", "sample", "--k1", "0.5", "--b", "0.9")[1]
    code, _, told = run("tune", "bm25", "birco-novels")
    assert code == 1
    assert "choices are made on dev" in told
    code, _, told = run("tune", "bm25", "sample", "--k1", "much")
    assert code == 1
    assert "--k1 is 'much'" in told


def test_figures_are_printed_written_and_checked(run, settings, tmp_path):
    (tmp_path / "shipped").mkdir()
    made = build(settings).measuring.measure(SmallBenchmark(split="dev"), "bm25", ContextSize(4, 4), progress=quiet)
    write_run(tmp_path / "shipped" / "bm25.json", made.run, made.outcomes)
    path = str(tmp_path / "expected.csv")
    (tmp_path / "expected.csv").write_text("benchmark,data_hash,retriever,shape,metric,value,tolerance\n", "utf-8")
    for how in ("--check", "--measure"):
        code, said, told = run("figures", how, "--expected", path)
        assert (code, said) == (1, "")
        assert "nothing to check" in told
    assert f"{len(expected.NAMES)} figures are expected" in run("figures", "--expect", "--expected", path)[1]
    assert run("figures", "--check", "--expected", path)[:2] == (0, "6 of 6 figures are as expected.\n")
    assert run("figures", "--measure", "--expected", path)[:2] == (0, "6 of 6 figures are as expected.\n")
    table = run("figures")[1]
    assert "| BM25 | 4/4 |" in table
    page = tmp_path / "page.md"
    begin, end = marks(expected.MARKS)
    page.write_text(f"{begin}{end}\n", encoding="utf-8")
    assert "has been written" in run("figures", "--write", str(page))[1]
    assert page.read_text(encoding="utf-8") == f"{begin}\n\n{table}\n{end}\n"
    off = (tmp_path / "expected.csv").read_text("utf-8").replace("mrr,0.", "mrr,1.")
    (tmp_path / "expected.csv").write_text(off, "utf-8")
    code, said, told = run("figures", "--check", "--expected", path)
    assert (code, said) == (1, "5 of 6 figures are as expected.\n")
    assert told.startswith("sample bm25 4/4 mrr: It is ")


def test_the_hidden_quotations_of_relic_are_answered_for_its_leaderboard(run, tmp_path):
    sentences = [sentence + " " for sentence in novel("x", 3, 130).text.splitlines() if sentence.strip()][1:]
    starts = {length: tuple(range(len(sentences) - length + 1)) for length in range(1, 6)}
    quotes = (
        Quote("q1", ("He speaks of the river.",), None, 2, ("And of a lantern.",)),
        Quote("q2", ("...",), None, 1, ()),  # no word: answered in the order of the text
    )
    books = (
        RelicBook("A Book", tuple(sentences), starts, quotes),
        RelicBook("Unquoted", ("One.",), dict.fromkeys(range(1, 6), ()), ()),
    )
    write_relic(tmp_path / "test.json", books)
    out = tmp_path / "answers.json"
    code, said, told = run(
        "evaluate", "relic", "bm25", "--data", str(tmp_path / "test.json"), "--submission", str(out), "--shape", "1/1"
    )  # fmt: skip
    assert (code, told) == (0, "")
    assert "2 quotations" in said
    answers = read_submission(out, read_relic(tmp_path / "test.json"))
    assert [len(each) for each in answers.values()] == [100, 100]
    assert "river" in " ".join(sentences[answers["q1"][0] : answers["q1"][0] + 2]).lower()
    assert answers["q2"] == tuple(range(100))


class TestBenchmarks:
    """Works of benchmarks come from the library."""

    def test_stored_works_are_found_by_their_slugs(self, settings):
        workbench = build(settings)
        emma = make_work(["Emma was handsome."], title="Emma", author="Jane Austen")
        workbench.store.works.add(emma)
        assert workbench.benchmarks.find(["emma", "emma"]) == {"emma": emma}

    def test_missing_works_are_named_with_the_command_that_adds_them(self, settings):
        with pytest.raises(NotFound, match=r"3 works.*catalogue --add emma persuasion.*nothing_such") as told:
            build(settings).benchmarks.find(["emma", "persuasion", "nothing_such"])
        assert "RELIC_LIBRARY" in str(told.value)

    def test_the_cards_are_those_of_the_registry(self, settings):
        benchmarks = Benchmarks(build(settings))
        assert benchmarks.cards() == registry.cards()
        assert benchmarks.card("sample") == registry.card("sample")
