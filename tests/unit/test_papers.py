"""The tables of the papers: transcribed so that their own sums hold, with our rows, and as the page has them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from relic_core.errors import BadRequest
from relic_core.evaluation.papers import NONE, PAPERS, printed
from relic_core.evaluation.published import published
from relic_core.services.runs import Runs
from relic_core.wiring import build
from tests.conftest import PROJECT
from tests.making_runs import make_books, make_outcomes, make_run
from tests.typed import parse
from tools.figures import paper_tables

DOCS = PROJECT / "docs"


def columns(paper, number):
    table = next(each for each in printed(paper) if each.number == number)
    return {label: [row[at] for row in table.rows] for at, (label, _, _) in enumerate(table.heads)}


def number(cell):
    return float(cell.replace(",", "").partition(" ±")[0])


def total(cells):
    return sum(map(number, cells))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_is_as_wide_as_its_heads_and_something_is_said_of_what_has_no_row_of_ours(paper):
    for table in printed(paper):
        assert {len(row) for row in (*table.rows, *table.measured)} <= {len(table.heads)}
        assert table.here or table.number == "table 2"


def test_sums_of_the_papers_hold_in_what_was_transcribed():
    size = dict(zip(*columns("relic", "table 1").values(), strict=True))
    parts = [number(size[f"{split} examples"]) for split in ("training", "validation", "test")]
    assert sum(parts) == number(size["all examples"])
    lengths = columns("relic", "table A9")
    assert total(lengths["n"]) == parts[2]
    whole = columns("relic", "table 3")
    for name in ("R@1", "R@3", "R@5", "R@10", "R@50", "R@100"):
        mean = sum(number(n) * number(r) for n, r in zip(lengths["n"], lengths[name], strict=True)) / parts[2]
        assert mean == pytest.approx(number(whole[name][-2]), abs=0.06)
    assert total(columns("relic", "tables A7, A8")["works"]) == number(size["primary sources"])
    templates, queries = columns("quest", "table 1"), columns("quest", "table 2")
    for domain in ("Films", "Books", "Plants", "Animals"):
        assert total(templates[domain]) == number(queries[domain][0])
    assert columns("quest", "table 5")["all"][-1] == columns("quest", "table 3")["F1"][-1]
    birco, e5 = columns("birco", "table 2"), columns("birco", "table 4")
    for at, task in enumerate(e5["data set"]):
        assert (e5["test nDCG@10"][at], e5["test R@5"][at]) == (birco[f"{task} nDCG@10"][0], birco[f"{task} R@5"][0])


def test_figures_for_charts_come_from_the_same_tables():
    figures = {(each.table, each.system, str(each.shape), each.metric, each.length): each for each in published()}
    best = figures["3", "dense-RELiC", "4/4", "recall@10", None]
    assert (best.value, best.n, best.candidates, best.pool) == (0.324, 7785, 4888, "whole work")
    proxy = figures["3", "human domain experts", "4/4", "proxy-accuracy", 1]
    assert (proxy.value, proxy.n, proxy.pool) == (0.935, 200, "given")
    of_two = figures["A9", "dense-RELiC", "4/4", "mean-rank", 2]
    assert (of_two.value, of_two.n, of_two.candidates) == (337.6, 2028, 4991.0)
    birco = figures["2", "TART", "None", "ndcg@10", None]
    assert (birco.value, birco.standard_error, birco.n) == (pytest.approx(0.094), pytest.approx(0.019), 100)
    assert not any(each.value > 1 and each.metric != "mean-rank" for each in published())


def test_rows_of_ours_that_no_run_has_stand_in_the_page_they_name():
    for paper in PAPERS:
        for table in printed(paper):
            page = (PROJECT / table.measured_in).read_text("utf-8") if table.measured else ""
            cells = {cell for row in table.measured for cell in row if re.match(r"\d", cell)}
            assert [cell for cell in cells if cell not in page] == []


def test_what_no_run_has_measured_names_a_command_that_can_be_typed_or_says_why_not():
    for paper in PAPERS:
        for table in printed(paper):
            assert table.commands or table.here or table.benchmark, table.title
            assert not table.measured or table.commands
            for command in table.commands:
                _, _, program, *words = command.split()
                if program == "relic_core":
                    assert parse(words)[0] == 0, command
                else:
                    assert (PROJECT / f"{program.replace('.', '/')}.py").exists()


def test_what_a_command_reads_a_command_before_it_makes():
    for paper in PAPERS:
        for table in printed(paper):
            made: set[str] = set()
            for command in table.commands:
                _, _, program, first, *words = command.split()
                if first == "study" and words[0] in {"make", "package"}:
                    made.add("study")
                elif first == "study":
                    assert "study" in made, command
                elif program == "tools.composed" and first == "build":
                    made.add(words[-1])
                elif program == "tools.composed":
                    assert words[0] in made, command


def test_the_page_has_the_tables_that_the_program_prints(settings):
    assert paper_tables(build(settings)) in (DOCS / "papers.md").read_text("utf-8")


def test_the_page_counts_its_tables_and_those_with_rows_of_ours():
    page = (DOCS / "papers.md").read_text("utf-8")
    said, generated = page.split("<!-- papers -->")
    tables = re.split(r"\n(?=Tables? |In the text)", generated)[1:]
    counts = len(tables), sum("| measured here: " in each.partition("\n## ")[0] for each in tables)
    assert f"The {counts[0]} tables of five papers. Below the published rows of {counts[1]} stand rows" in said


def test_a_run_of_the_store_has_its_row_and_the_newest_counts(bench, tmp_path, monkeypatch):
    runs = Runs(bench.store.runs, tmp_path)
    books = make_books(3)
    outcomes = make_outcomes(books, seed=1)
    facts = {"benchmark": "public-relic-test", "retriever": "dense-relic"}
    old = make_run(books, outcomes, data="a", age=3, **facts)
    new = make_run(books, outcomes, data="b", age=1, **facts)
    other = make_run(books, outcomes, data="b", shape="2/2", **facts)
    tuned = replace(make_run(books, outcomes, data="c", **facts), label="dense-RELiC, tuned")
    for run in (old, new, other, tuned):
        bench.store.runs.add(run, outcomes)
    tables = {table.caption.partition(", ")[2].partition(":")[0]: table for table in runs.paper("relic")}
    ours = {number: [row for row in table.rows if "run" in str(row[-1])] for number, table in tables.items()}
    assert [row[-1].split()[3].rstrip(",") for row in ours["table 3"]] == [new.id, tuned.id]
    assert {row[0] for row in ours["table A9"]} == {str(outcome.length) for outcome in outcomes}
    assert ours["table 3"][0][tables["table 3"].heads.index("Proxy task")] == NONE
    assert not any("run" in str(row[-1]) for table in runs.paper("relic", shipped=True) for row in table.rows)
    with pytest.raises(BadRequest):
        runs.paper("another")
