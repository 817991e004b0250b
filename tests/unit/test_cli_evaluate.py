"""The commands that measure, `evaluate` and `runs`, and the tools that rest on runs: what they give and end with."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from pyarrow import parquet

from relic_core.domain import ContextSize
from relic_core.errors import BadRequest, BadWeights, NotFound, ReaderUnavailable, StoreError, TokensUsedUp
from relic_core.evaluation import experiments
from relic_core.evaluation.benchmarks import registry
from relic_core.evaluation.papers import NONE
from relic_core.formats.relic import Quote, RelicBook, write_relic
from relic_core.formats.run_files import read_run, write_run
from relic_core.installed import COMMAND
from relic_core.language_models.prompts import SUPPORTS
from relic_core.ports import silent
from relic_core.services import evaluation, runs
from relic_core.studies import proxy_task
from relic_core.studies import results as study_results
from relic_core.wiring import build
from tests.chat_server import by_shared_words, serving
from tests.making import make_work
from tests.small_benchmark import SmallBenchmark, novel
from tests.tiny_models import bert, write_card
from tools import figures as expected
from tools.between_marks import marks


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    """Put a small benchmark in the place of every one, and no run with the program."""

    def opened(name):
        registry._module(name)  # refuses an unknown name
        small = SmallBenchmark(pool="given" if name == "birco-pools" else "whole work")
        small.card = replace(small.card, name=name, split="test" if name.startswith("birco") else "dev")
        return small

    monkeypatch.setattr(runs, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(registry, "open_benchmark", lambda name, **options: opened(name))
    monkeypatch.setattr(registry, "card", lambda name: opened(name).card)


@pytest.fixture
def stored(settings):
    """The rows of the runs, and how many there are."""
    return build(settings).store.runs


def only_id(stored):
    (made,) = stored.all()
    return made.id


def measure(settings, name="random", size=(1, 1), **options):
    return build(settings).measuring.measure(SmallBenchmark(**options), name, ContextSize(*size), progress=silent)


def test_a_retriever_is_measured_and_the_table_names_the_run(run, stored):
    ran = run("evaluate", "sample", "bm25")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("A Small Benchmark: 10 ")
    for head in ("retriever", "R@1", "R@100", "Mean rank", "Median rank", "MRR", "nDCG@10", "candidates"):
        assert head in lines[2]
    assert lines[3].startswith("BM25       4/4")
    assert "–" in lines[4]
    assert only_id(stored) in lines[-1]


def test_measured_twice_it_is_recognised_and_the_table_is_the_same(run, stored):
    first, second = run("evaluate", "sample", "bm25"), run("evaluate", "sample", "bm25")
    assert (second.out, bool(second.err)) == (first.out, True)
    assert run("evaluate", "sample", "bm25", "--again").code == 0
    assert len(stored.all()) == 1


def test_several_retrievers_and_shapes_make_one_table(run):
    ran = run("evaluate", "sample", "bm25,random", "--shape", "1/1,4/4", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [(row["retriever"], row["context"]) for row in rows] == [
        ("BM25", "1/1"), ("Random", "1/1"), ("BM25", "4/4"), ("Random", "4/4")
    ]  # fmt: skip
    assert {row["benchmark"] for row in rows} == {"sample"}
    assert float(rows[1]["MRR low"]) < float(rows[1]["MRR"]) < float(rows[1]["MRR high"])


def test_all_shapes_are_the_papers_six(run):
    (table,) = json.loads(run("evaluate", "sample", "random", "--shape", "all", "--format", "json").out)
    assert [row["context"] for row in table["rows"]] == ["0/1", "0/4", "1/0", "4/0", "1/1", "4/4"]


@pytest.mark.parametrize(("form", "mark"), [("markdown", "| --- |"), ("latex", r"\toprule")])
def test_tables_can_be_taken_into_a_paper(run, form, mark):
    assert mark in run("evaluate", "sample", "bm25", "--format", form).out


def test_bm25_takes_parameters_of_its_own_and_the_list_tells_runs_apart(run):
    for options in (["bm25"], ["bm25", "--k1", "1.2"], ["bm25-lemmas", "--b", "0.2"], ["bm25", "--function-words"]):
        assert run("evaluate", "sample", *options).code == 0
    said = run("runs").out
    for label in ("BM25  ", "BM25 (k1 1.2)", "BM25, lemmas (b 0.2)", "BM25 (function words counted)"):
        assert label in said
    assert run("evaluate", "sample", "random", "--k1", "1.2").code == 1
    assert run("evaluate", "sample", "bm25-lemmas", "--function-words").code == 1


def test_a_table_has_the_columns_that_are_asked_for(run, stored):
    ran = run("evaluate", "sample", "bm25", "--metric", "overlap-recall@3", "--metric", "mrr", "--format", "json")
    assert list(json.loads(ran.out)[0]["rows"][0]) == [
        "retriever", "context", "R@3, overlap counts", "MRR", "candidates", "n"
    ]  # fmt: skip
    assert "P@5" in run("runs", "show", only_id(stored), "--metric", "p@5").out
    assert run("evaluate", "sample", "random", "--metric", "recal@3").code == 1
    assert only_id(stored)  # nothing was measured before that was said


@pytest.mark.parametrize(
    ("by", "parts", "counts"),
    [("length", [1, 2, 3], [4, 3, 3]), ("book", ["The First", "The Second"], [5, 5]), ("kind", ["none"], [10])],
)
def test_a_table_can_have_a_row_for_each_length_book_or_kind(run, stored, by, parts, counts):
    (table,) = json.loads(run("evaluate", "sample", "bm25,random", "--by", by, "--format", "json").out)
    assert [(row["retriever"], row[by]) for row in table["rows"]] == [
        (name, part) for name in ("BM25", "Random") for part in parts
    ]
    assert [row["n"] for row in table["rows"]] == [*counts, *counts]
    assert {"R@10", "Mean rank", "candidates"} <= set(table["rows"][0])
    for made in stored.all():
        (shown,) = json.loads(run("runs", "show", made.id, "--by", by, "--format", "json").out)
        assert [row for row in table["rows"] if row["retriever"] == made.label] == shown["rows"]


def test_where_nothing_varies_there_is_a_dash_and_no_interval(run):
    typed = ("evaluate", "sample", "bm25", "--metric", "recall@100", "--format")
    assert "| 100.0 (–) |" in run(*typed, "markdown").out
    assert "–" not in run(*typed, "csv").out


def test_stopped_by_ctrl_c_it_says_that_it_goes_on(run, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "evaluate", stopped)
    ran = run("evaluate", "sample", "bm25")
    assert (ran.code, len(ran.err.split("\n")) > 2) == (130, True)


def test_without_words_the_benchmarks_are_listed(run):
    lines = run("evaluate").out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(registry.names())]] == list(registry.names())
    assert "bm25" in lines[-1]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (["sample"], 2),
        (["sentences"], 2),
        (["sentences", "lists", "--format", "latex"], 2),
        (["sample", "bm52"], 1),
        (["simple", "bm25"], 1),
        (["sample", "bm25", "--shape", "9/9"], 1),
        (["sample", "bm25", "--shape", "long"], 1),
        (["sample", "bm25", "--proxy"], 1),
        (["sample", "bm25", "--submission", "x.json"], 2),
        (["sample", "bm25", "--chooser", "bm25"], 2),
        (["sample", "bm25", "--texts", "t"], 2),
        (["sentences", "lists", "--k1", "1"], 2),
        (["sample", "--windows", "w.csv"], 1),
        (["sample", "bm25", "--windows", "w.parquet"], 2),
        (["sample", "--windows", "w.parquet", "--by", "kind"], 2),
        (["relic", "bm25", "--data", "t.json", "--submission", "x.json", "--proxy"], 2),
        (["sample", "random", "--proxy", "--k1", "0"], 2),
        (["sample", "random", "--proxy", "--again", "--by", "kind"], 2),
        (["relic", "bm25", "--data", "t.json", "--submission", "x.json", "--b", "0.5"], 2),
        (["relic", "bm25,random", "--data", "t.json", "--submission", "x.json"], 2),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_what_cannot_be_measured_is_told(run, typed, code):
    ran = run("evaluate", *typed)
    assert (ran.code, ran.out, bool(ran.err)) == (code, "", True)


def test_the_proxy_task_is_asked_of_all_but_the_chooser_and_tells_who_rests_on_it(run, monkeypatch):
    alone = run("evaluate", "sample", "random,tf-idf", "--proxy", "--chooser", "bm25").out
    assert "Random" in alone

    def quickly(items, *arguments, **options):
        return proxy_task.Chosen(choices={item.id: 1 for item in items}, ranks={})

    monkeypatch.setattr(study_results, "ask", quickly)
    typed = ("evaluate", "sample", "fusion", "--proxy", "--chooser")
    resting, free = (run(*typed, name).out.count("Combined") for name in ("bm25", "tf-idf"))
    assert resting > free
    single, every = (run(*typed, "bm25", "--length", length).out for length in ("1", "0"))
    assert run(*typed, "bm25").out == single != every, "as in the paper"


def test_runs_are_listed_shown_tagged_removed_and_restored(run, stored):
    run("evaluate", "sample", "bm25")
    made = only_id(stored)
    assert made in run("runs").out
    run("runs", "tag", made[:5], "tuned", "second")
    said = run("runs", "tag", made[:5], "second", "third").out
    assert said.index("second, third") < said.index("tuned")
    shown = run("runs", "show", made[:5]).out
    for part in ("second, third", "bm25/1", "R@10", "evaluate sample bm25 --shape 4/4 --k1 0.5 --b 0.9 --again"):
        assert part in shown
    assert json.loads(run("runs", "show", made, "--format", "json").out)[0]["benchmark"] == "sample"
    assert f"runs restore {made}" in run("runs", "remove", made).out
    assert made not in run("runs").out
    assert run("runs", "restore", made[:5]).code == 1
    assert run("runs", "restore", made).code == 0
    for said in (made, made[:5]):
        ran = run("runs", "restore", said)
        assert (ran.code, made in ran.err) == (1, True)
    assert made in run("runs", "list", "--format", "csv").out


def test_runs_of_given_pools_and_whole_works_are_told_apart(run):
    run("evaluate", "birco-pools", "random")
    run("evaluate", "birco-novels", "random")
    listed = run("runs").out
    assert [pool in listed for pool in ("given", "whole work", "R@")] == [True, True, False]


def test_runs_are_compared_in_pairs_and_corrected(run, stored):
    run("evaluate", "sample", "bm25,random,tf-idf")
    ids = [made.id for made in stored.all()]
    ran = run("runs", "compare", *ids, "--metric", "mrr", "--metric", "recall@10")
    assert (ran.code, ran.out.count("MRR")) == (0, 2)
    assert "4 comparisons (Holm)" in ran.out
    assert "1 comparison (" in run("runs", "compare", *ids[:2]).out


def test_runs_of_other_data_are_not_compared(run, stored):
    run("evaluate", "sample", "bm25")
    (first,) = stored.all()
    outcomes = stored.outcomes(first.id)
    for number, change in enumerate(({"benchmark": "other"}, {"pool": "given"}, {"data_hash": "0" * 64})):
        stored.add(replace(first, id=f"other{number}", **change), outcomes)
        assert isinstance(run("runs", "compare", first.id, f"other{number}").error, BadRequest)


def test_a_run_on_the_readers_own_file_says_that_it_is_to_be_named(settings):
    made = measure(settings).run
    assert "--data" not in made.command
    assert replace(made, benchmark="relic").command.endswith("evaluate relic random --shape 1/1 --data DATA")
    asked = replace(made, machine={"data": "own"}, configuration={"objective": "FILE", "head": "5", "first": "bm25"})
    assert asked.command.endswith(" --objective FILE --top 5 --over bm25 --data DATA")


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (["show"], 2), (["show", "none"], 1), (["compare", "one"], 2), (["export", "one"], 2), (["import"], 2),
        (["import", "none.json"], 1), (["import", "a.run"], 1), (["remove", "none"], 1), (["restore", "none"], 1),
        (["tag"], 2), (["burn"], 2), (["show", ""], 1), (["list", "one"], 2),
        (["compare", "one", "two", "--by", "length"], 2), (["remove", "one", "--metric", "mrr", "--format", "csv"], 2),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)  # fmt: skip
def test_what_cannot_be_done_with_a_run_is_told(run, typed, code):
    ran = run("runs", *typed)
    assert (ran.code, ran.out, bool(ran.err)) == (code, "", True)


def test_the_beginning_of_several_ids_is_not_enough(run, settings, stored):
    made = measure(settings)
    for made_up in ("abcd0", "abcd1"):
        stored.add(replace(made.run, id=made_up), made.outcomes)
    ran = run("runs", "show", "abcd")
    assert (ran.code, "abcd0, abcd1" in ran.err) == (1, True)
    assert run("runs", "show", "abcd0").code == 0


def columns(path):
    return [line.split() for line in path.read_text("utf-8").splitlines()]


def test_a_run_goes_out_in_every_form_and_comes_in_again(run, settings, stored, tmp_path, monkeypatch):
    run("evaluate", "sample", "bm25")
    made = only_id(stored)
    for suffix in ("json", "parquet", "run", "qrels"):
        assert run("runs", "export", made, tmp_path / f"out.{suffix}").code == 0
    assert run("runs", "export", made, tmp_path / "out.xml").code == 1
    kept, outcomes = read_run(tmp_path / "out.json")
    assert kept.id == made
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column("rank").to_pylist() == [outcome.rank for outcome in outcomes]
    ranks = {(line[0], line[2]): int(line[3]) for line in columns(tmp_path / "out.run")}
    golds = {line[0]: line[2] for line in columns(tmp_path / "out.qrels")}
    assert [ranks[each.example_id, golds[each.example_id]] for each in outcomes] == [each.rank for each in outcomes]
    assert run("runs", "import", tmp_path / "out.json").code == 0
    assert only_id(stored) == made, "it was there"
    monkeypatch.setenv("RELIC_DATA", str(tmp_path / "other"))
    assert run("runs", "import", tmp_path / "out.json").code == 0
    assert build(replace(settings, data=tmp_path / "other")).store.runs.outcomes(made) == outcomes


def test_windows_go_out_as_parquet(run, tmp_path):
    assert run("evaluate", "sample", "--windows", tmp_path / "w.parquet").code == 0
    table = parquet.read_table(tmp_path / "w.parquet")
    facts = json.loads(table.schema.metadata[b"relic"])["facts"]
    assert table.column("id").to_pylist() == [each.id for each in SmallBenchmark().windows()]
    assert (facts["benchmark"], facts["data_hash"]) == ("sample", SmallBenchmark().data_hash)


def test_a_gold_far_down_is_left_out_of_a_ranking_for_trec(run, settings, stored, tmp_path):
    made = measure(settings)
    first, second, *rest = made.outcomes
    far = (
        replace(first, rank=1000, overlap_rank=9, candidates=9_000_000),
        replace(second, rank=8_000_000, overlap_rank=9, candidates=9_000_000),
        *rest,
    )
    stored.add(replace(made.run, id="far"), far)
    run("runs", "export", "far", tmp_path / "far.run")
    lengths = Counter(line[0] for line in columns(tmp_path / "far.run"))
    assert (lengths["w0"], lengths["w1"]) == (1000, 3)


def test_a_file_with_other_ranks_is_refused_until_the_run_is_removed(run, stored, tmp_path):
    run("evaluate", "sample", "bm25")
    made, path = only_id(stored), tmp_path / "other.json"
    kept, outcomes = stored.get(made), stored.outcomes(made)
    others = tuple(replace(each, rank=1 + each.rank % 20, overlap_rank=1) for each in outcomes)
    write_run(path, kept, others)
    ran = run("runs", "import", path)
    assert (ran.code, f"runs remove {made}" in ran.err, stored.outcomes(made)) == (1, True, outcomes)
    for _ in range(2):
        run("runs", "remove", made)
        assert (run("runs", "import", path).code, stored.outcomes(made)) == (0, others)


def test_a_run_whose_id_is_not_its_own_is_not_taken_in(run, settings, stored, tmp_path):
    made = measure(settings)
    write_run(tmp_path / "other.json", replace(made.run, shape=ContextSize(4, 4)), made.outcomes)
    assert run("runs", "import", tmp_path / "other.json").code == 1
    assert only_id(stored) == made.run.id


def test_tune_prints_a_grid_and_refuses_a_test_split(run):
    ran = run("tune", "bm25", "sample", "--k1", "0.5,2", "--b", "0,0.9", "--metric", "recall@10")
    assert (ran.code, "R@10" in ran.out) == (0, True)
    assert run("tune", "bm25-lemmas", "sample", "--k1", "0.5", "--b", "0.9").code == 0
    for wrong in (["birco-novels"], ["sample", "--k1", "much"]):
        assert run("tune", "bm25", *wrong).code == 1


def test_figures_are_printed_written_and_checked(run, settings, tmp_path):
    (tmp_path / "shipped").mkdir()
    made = measure(settings, "bm25", (4, 4), split="dev")
    write_run(tmp_path / "shipped" / "bm25.json", made.run, made.outcomes)
    path, page = tmp_path / "expected.csv", tmp_path / "page.md"
    path.write_text("benchmark,data_hash,retriever,shape,metric,value,tolerance\n", "utf-8")
    assert [run("figures", how, "--expected", path).code for how in ("--check", "--measure")] == [1, 1]
    assert run("figures", "--expect", "--expected", path).code == 0
    assert len(path.read_text("utf-8").splitlines()) == 1 + len(expected.NAMES)
    assert [run("figures", how, "--expected", path).code for how in ("--check", "--measure")] == [0, 0]
    table = run("figures").out
    assert "| BM25 |" in table
    begin, end = marks(expected.MARKS)
    page.write_text(f"{begin}{end}\n", encoding="utf-8")
    run("figures", "--write", page)
    assert page.read_text(encoding="utf-8") == f"{begin}\n\n{table}\n{end}\n"
    path.write_text(path.read_text("utf-8").replace("mrr,0.", "mrr,1."), "utf-8")
    ran = run("figures", "--check", "--expected", path)
    assert (ran.code, ran.err.startswith("sample bm25 4/4 mrr: ")) == (1, True)


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
    data, out = tmp_path / "test.json", tmp_path / "answers.json"
    write_relic(data, books)
    ran = run("evaluate", "relic", "bm25", "--data", data, "--submission", out, "--shape", "1/1")
    assert (ran.code, ran.err) == (0, "")
    answers = json.loads(out.read_text("utf-8"))
    assert [len(each) for each in answers.values()] == [100, 100]
    assert "river" in " ".join(sentences[answers["q1"][0] : answers["q1"][0] + 2]).lower()
    assert answers["q2"] == list(range(100))


def test_works_of_benchmarks_are_found_in_the_library_and_missing_ones_named(settings):
    workbench = build(settings)
    emma = make_work(["Emma was handsome."], title="Emma", author="Jane Austen")
    workbench.store.works.add(emma)
    assert workbench.benchmarks.find(["emma", "emma"]) == {"emma": emma}
    assert workbench.benchmarks.find([emma.id]) == {emma.id: emma}
    with pytest.raises(NotFound, match=r"2 works.*catalogue --add persuasion.*Not in the catalogue: nothing_such"):
        workbench.benchmarks.find(["emma", "persuasion", "nothing_such"])
    assert workbench.benchmarks.cards() == registry.cards()


@pytest.fixture
def chat(monkeypatch):
    """Serve a model that goes by shared words, and recites what the first claim of the benchmark wants."""
    known = SmallBenchmark()
    gold = known.work(known.windows()[0].pool).span_text(known.windows()[0].gold)

    def answer(messages):
        if '"quotation"' in messages[0]["content"]:
            return json.dumps({"quotation": gold})
        return by_shared_words(messages)

    with serving(answer=answer) as chat:
        monkeypatch.setenv("RELIC_READER", chat.address)
        monkeypatch.setenv("RELIC_READER_MODEL", "tiny")
        yield chat


def test_a_model_is_measured_with_what_it_took_and_without_what_it_knows_by_heart(run, stored, chat):
    typed = ("evaluate", "sample", "llm-score,random", "--objective", "off", "--top", "5", "--over", "bm25", "--probe")
    ran = run(*typed, "--format", "csv")
    assert ran.code == 0
    whole, left = (list(csv.DictReader(io.StringIO(part))) for part in ran.out.strip().split("\n\n"))
    assert [{row["n"] for row in rows} for rows in (whole, left)] == [{"10"}, {"9"}]
    model = next(each for each in stored.all() if each.retriever == "llm-score")
    assert model.configuration["objective"] == "off"
    assert model.command.endswith(" llm-score --shape 4/4 --objective off --top 5 --over bm25")
    assert model.configuration["reranker weights"] == chat.digest
    assert int(model.machine["model calls"]) > 10
    assert float(model.machine["model tokens"]) > 0
    asked = len(chat.asked)
    random = next(each for each in stored.all() if each.retriever == "random")
    stored.add(replace(random, id="c0", retriever="fusion", label="Combined"), stored.outcomes(random.id))
    *_, beside = run(*typed[:2], "llm-score", *typed[3:-1], "--format", "csv").out.strip().split("\n\n")
    (row,) = csv.DictReader(io.StringIO(beside))
    assert row["against"].split()[1] == "Combined"
    assert float(row["difference low"]) <= float(row["difference"]) <= float(row["difference high"])
    assert len(chat.asked) == asked  # found, and nothing is asked again


def test_a_run_whose_server_failed_goes_on_where_it_was(run, stored, chat, monkeypatch):
    monkeypatch.setenv("RELIC_READER_AT_ONCE", "1")
    chat.misbehaviour = ["fine"] * 12 + ["401"]
    typed = ("evaluate", "sample", "llm-score", "--top", "5", "--over", "bm25")
    assert isinstance(run(*typed).error, ReaderUnavailable)
    assert not stored.all()
    asked = len(chat.asked)
    assert run(*typed).code == 0
    (made,) = stored.all()
    assert len(chat.asked) - asked <= 5 * made.examples - 12


def test_a_model_is_told_what_is_wanted_in_the_words_of_a_file(run, stored, chat, tmp_path):
    (tmp_path / "objective.txt").write_text("Wanted is rain.", encoding="utf-8")
    typed = ("evaluate", "sample", "llm-score", "--top", "1", "--over", "bm25", "--objective")
    assert run(*typed, str(tmp_path / "objective.txt")).code == 0
    assert all("Wanted is rain." in json.dumps(each) for each in chat.asked)
    assert "--objective FILE --top 1" in stored.all()[0].command
    assert run(*typed, "on").code == 0
    assert len(stored.all()) == 2  # by other prompts it is another run
    (tmp_path / "same.txt").write_text(SUPPORTS, encoding="utf-8")
    assert run(*typed, str(tmp_path / "same.txt")).code == 0
    assert len(stored.all()) == 2
    assert sum("--objective on" in each.command for each in stored.all()) == 1
    assert isinstance(run(*typed, "no-such-file").error, NotFound)


def rows_of(sheet):
    """Read the tables of a sheet: rows by their heads, without what Markdown escapes."""
    found = []
    for part in sheet.read_text("utf-8").replace("\\", "").split("\n\n"):
        if part.startswith("| "):
            heads, _, *rows = [line.strip("| ").split(" | ") for line in part.splitlines()]
            found.append([dict(zip(heads, row, strict=True)) for row in rows])
    return found


def test_a_sheet_sets_each_way_with_the_objective_and_without_beside_birco_s_figures(
    run, stored, chat, tmp_path, monkeypatch
):
    monkeypatch.setenv("RELIC_READER_PASSAGES", "5")
    sheet = tmp_path / "a sheet.md"
    chat.answer = lambda asked: by_shared_words(asked) if SUPPORTS in asked[0]["content"] else "What is wanted?"
    typed = ("evaluate", "birco-pools,birco-wtb, birco-wtb", "random,llm-score,llm-rank", "--over", "bm25")
    assert run(*typed, "--report", sheet).code == 0
    runs = {each.id: each for each in stored.all()}
    said = Counter((each.benchmark, each.retriever, each.configuration.get("objective")) for each in runs.values())
    ways = [("random", None), *product(("llm-score", "llm-rank"), ("on", "off"))]
    assert said == Counter((task, *way) for task in ("birco-pools", "birco-wtb") for way in ways)
    taken, figures = rows_of(sheet)
    assert {row["run"] for row in taken} == runs.keys()
    for row in taken:
        made = runs[row["run"]]
        assert (row["benchmark"], row["system"]) == (made.benchmark, made.label)
        for name in ("calls", "tokens", "answers unreadable"):
            assert row[name].replace(",", "") == made.machine.get(f"model {name}", NONE)
        for name, digest in made.configuration.items():
            assert "prompt" not in name or digest in row["prompts"]
    assert {row["answers unreadable"] for row in taken if "objective off" in row["system"]} == {"50", "10"}
    ours = {row["from"].split()[3].rstrip(","): row for row in figures if row["from"] != "published"}
    assert ours.keys() == runs.keys()
    for key, row in ours.items():
        task = {"birco-pools": "RELIC", "birco-wtb": "WTB"}[runs[key].benchmark]
        for head, metric in (("nDCG@10", "ndcg@10"), ("R@5", "recall@5")):
            figure = evaluation.figures.measured(metric, stored.outcomes(key))
            assert row[f"{task} {head}"] == f"{figure.text} ({figure.interval})"
    (best,) = [row for row in figures if row["system"] == "Rank+O GPT-4"]
    assert best == {
        "system": "Rank+O GPT-4", "WTB nDCG@10": "82.1 ± 3.3", "WTB R@5": "88.0 ± 3.2", "RELIC nDCG@10": "62.3 ± 3.9",
        "RELIC R@5": "70.1 ± 4.5", "from": "published",
    }  # fmt: skip
    assert chat.digest in sheet.read_text("utf-8").replace("\\", "")
    whole, asked = sheet.read_text("utf-8"), len(chat.asked)
    (command,) = [line for line in whole.splitlines() if line.startswith(f"{COMMAND} ")]
    assert command.endswith(" --objective on --top 5 --over bm25 --report SHEET")
    assert run(*command.removeprefix(COMMAND).split()[:-1], sheet).code == 0
    assert (sheet.read_text("utf-8"), len(chat.asked)) == (whole, asked)


def test_a_sheet_that_was_interrupted_has_what_was_measured_and_goes_on(run, stored, chat, tmp_path, monkeypatch):
    monkeypatch.setenv("RELIC_READER_AT_ONCE", "1")
    sheet = tmp_path / "sheet.md"
    typed = ("evaluate", "birco-pools", "llm-score", "--top", "5", "--over", "bm25", "--report", sheet)
    chat.misbehaviour = ["fine"] * 60 + ["401"]
    assert isinstance(run(*typed).error, ReaderUnavailable)
    (first,) = stored.all()
    assert [row["run"] for row in rows_of(sheet)[0]] == [first.id]
    assert run(*typed).code == 0
    assert {row["run"] for row in rows_of(sheet)[0]} == {each.id for each in stored.all()}
    assert len(stored.all()) == 2
    assert len(chat.asked) == 2 * 5 * first.examples + 1


def test_a_way_whose_tokens_are_used_up_comes_last_and_is_left_for_the_next_time(
    run, stored, chat, tmp_path, monkeypatch
):
    monkeypatch.setenv("RELIC_READER_AT_ONCE", "1")
    sheet, wanted = tmp_path / "sheet.md", tmp_path / "wanted.txt"
    wanted.write_text("Wanted is rain.", encoding="utf-8")
    typed = ("evaluate", "birco-pools", "llm-subtask,llm-rank", "--top", "5", "--over", "bm25", "--report", sheet)
    monkeypatch.setenv("RELIC_READER_RUN_TOKENS", "3500")
    assert isinstance(run(*typed, "--objective", wanted).error, TokensUsedUp)
    assert [each.retriever for each in stored.all()] == ["llm-rank"] * 2
    assert {row["run"] for row in rows_of(sheet)[0]} == {each.id for each in stored.all()}
    assert any("Wanted" in json.dumps(each) and "criteria" in json.dumps(each) for each in chat.asked), "goes on"
    monkeypatch.setenv("RELIC_READER_RUN_TOKENS", "1000000")
    assert run(*typed, "--objective", wanted).code == 0
    runs = {each.id: (each.retriever, each.configuration["objective"]) for each in stored.all()}
    assert [runs[row["run"]] for row in rows_of(sheet)[0]] == list(
        product(("llm-rank", "llm-subtask"), ("off", "FILE"))
    )
    assert str(tmp_path) not in sheet.read_text("utf-8")
    assert "--objective FILE" in sheet.read_text("utf-8")


@pytest.mark.parametrize(
    ("typed", "file", "error"),
    [
        (("birco-pools", "bm25,random"), "sheet.md", BadRequest),
        (("sample", "random,llm-score"), "sheet.md", BadRequest),
        (("birco-pools,nothing-such", "random,llm-score"), "sheet.md", BadRequest),
        (("birco-pools", "random,llm-score"), "no-such-folder/sheet.md", StoreError),
        (("birco-pools", "random,llm-score"), ".", StoreError),
        (("birco-pools", "random,llm-score", "--objective", "no-such-file"), "sheet.md", NotFound),
    ],
)
def test_a_sheet_that_cannot_be_made_is_refused_before_anything_is_measured(
    run, stored, chat, tmp_path, typed, file, error
):
    assert isinstance(run("evaluate", *typed, "--report", tmp_path / file).error, error)
    assert not stored.all()
    assert not chat.asked
    assert not list(tmp_path.glob("*sheet*"))


def test_without_a_server_no_sheet_is_begun(run, stored, tmp_path):
    ran = run("evaluate", "birco-pools", "random,llm-score", "--report", tmp_path / "sheet.md")
    assert isinstance(ran.error, ReaderUnavailable)
    assert not stored.all()
    assert not (tmp_path / "sheet.md").exists()


@pytest.mark.parametrize(
    "typed",
    [
        ("bm25", "--top", "5"),
        ("random", "--objective", "on"),
        ("random", "--over", "bm25"),
    ],
)
def test_what_is_for_a_model_is_refused_without_one(run, typed):
    assert isinstance(run("evaluate", "sample", *typed).error, BadRequest)


@pytest.mark.parametrize("proxy", [(), ("--proxy",)])
def test_of_all_retrievers_those_that_cannot_be_made_are_left_out_and_named(run, tmp_path, monkeypatch, proxy):
    card = write_card(tmp_path / "c.json", model=str(bert(tmp_path / "bert")), spans="alone")
    monkeypatch.setenv("RELIC_TRAINED", card)
    monkeypatch.setattr(evaluation, "named_retrievers", lambda said, without="": ("tf-idf", "late", "random"))
    ran = run("evaluate", "sample", "all", *proxy)
    assert ran.code == 0
    assert "TF-IDF" in ran.out
    assert "Random" in ran.out
    assert "late is left out" in ran.err
    assert "RELIC_LATE" in ran.err
    assert isinstance(run("evaluate", "sample", "tf-idf,late", *proxy).error, BadWeights)


def test_without_a_server_a_model_is_not_measured_and_all_does_not_ask_for_one(run, stored):
    assert isinstance(run("evaluate", "sample", "llm-score").error, ReaderUnavailable)
    assert not any(name.startswith("llm-") for name in evaluation.named_retrievers("all"))
    assert not stored.all()
