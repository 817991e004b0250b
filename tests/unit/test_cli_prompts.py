"""The command `prompts`: what it shows, writes and checks; and that the documentation has the report's table."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relic_core import cli
from relic_core.config import Settings
from tests.making_prompts import PRIDE, bench_with, fill_in, rows_of
from tests.making_rerankers import CountingReranker
from tools.prompts import asking, reports

PAGE = Path(__file__).resolve().parents[2] / "docs" / "prompts.md"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A workbench that no test leaves otherwise than it was."""
    folder = tmp_path_factory.mktemp("prompts")
    return bench_with(Settings(data=folder / "data", indexes=folder / "indexes"))


@pytest.fixture
def removed(bench):
    """Take *Pride and Prejudice* out of the library for one test."""
    bench.works.remove(PRIDE.id)
    yield
    bench.works.restore(PRIDE.id)


@pytest.fixture
def otherwise(bench, monkeypatch):
    """Have the reranker put others first."""
    monkeypatch.setattr(bench.retrievers.get("reranked"), "_reranker", CountingReranker("w"))


@pytest.fixture
def prompts(bench, tmp_path, monkeypatch, capsys):
    """Run the command on a workbench with fakes, whose program came without a report; gives code, output and errors."""
    monkeypatch.setattr("tools.command.build", lambda: bench)
    monkeypatch.setattr(reports, "REPORT", tmp_path / "shipped.json")

    def prompts(*arguments):
        try:
            code = cli.main(["prompts", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return prompts


@pytest.fixture
def sheets(prompts, tmp_path):
    """Two sheets, filled in: one reader likes mothers, the other nothing."""
    paths = tmp_path / "first.csv", tmp_path / "second.csv"
    for seed, path in enumerate(paths, start=1):
        assert prompts("--sheet", path, "--seed", seed)[0] == 0
    fill_in(paths[0], lambda row: "supports" if "mother" in row["passage"] else "no")
    fill_in(paths[1], lambda row: "partly" if "mother" in row["passage"] else "no")
    return paths


@pytest.fixture
def shipped(prompts, sheets, tmp_path):
    """Make the report and have it come with the program."""
    first, second = sheets
    code, _, errors = prompts("--write", tmp_path / "shipped.json", "--read", first, "--read", second)
    assert (code, errors) == (0, "")


def test_hits_are_shown_to_the_letter_with_their_places_under_prompt_and_retriever(prompts):
    code, said, errors = prompts()
    assert (code, errors) == (0, "")
    asked = said.split("Pride and Prejudice, 1 sentence (Table A5): ")[1]
    words = asked.split("  BM25:\n")[1].split("\n\n")[0].splitlines()
    assert words[:2] == [
        "     1  Elizabeth bit her lip at her mother and said nothing.",
        "        Chapter 1, 20% into the work · 1.1.2",
    ]
    assert said.count("  dense-RELiC:\n") == said.count("  Dense, zero-shot:\n") == 4
    assert "readers:" not in said
    assert said.endswith(
        "Brave New World (Table 6) is not asked: in copyright in the United States until 31 December 2027.\n"
    )


def test_only_the_retrievers_asked_for_are_shown(prompts):
    said = prompts("--retriever", "bm25")[1]
    assert said.count("  BM25:") == 4
    assert "dense-RELiC" not in said


def test_verdicts_are_shown_where_there_are_some(prompts, shipped):
    said = prompts()[1]
    assert "1.1.2 · readers: supports, partly\n" in said
    assert "· readers: no, no\n" in said


def test_what_is_missing_is_said_in_plain_words_with_what_to_do(prompts, removed):
    code, said, errors = prompts()
    assert (code, said) == (1, "")
    assert "python -m relic_core catalogue --add pride_and_prejudice" in errors


def test_a_sheet_is_written_and_nothing_in_it_or_about_it_names_a_retriever(prompts, tmp_path, bench):
    code, said, _ = prompts("--sheet", tmp_path / "sheet.csv")
    rows = rows_of(tmp_path / "sheet.csv")
    assert code == 0
    assert said.startswith(f"{len(rows)} passages stand in ")
    assert {row["seed"] for row in rows} == {"0"}
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").casefold()
    for card in (each for each in bench.retrievers.cards() if each.library):
        assert card.name not in text
        assert card.label.casefold() not in text


def test_the_report_is_written_with_its_figures(prompts, sheets, tmp_path):
    code, said, _ = prompts("--write", tmp_path / "mine.json", "--read", sheets[0], "--read", sheets[1])
    assert code == 0
    assert "Cohen's kappa" in said
    assert json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["seeds"] == [1, 2]


@pytest.mark.parametrize(("first", "wrong"), [(1, "are not asked about now"), (6, "missing")])
def test_a_sheet_of_other_passages_makes_no_report(prompts, sheets, tmp_path, monkeypatch, first, wrong):
    monkeypatch.setattr(asking, "FIRST", first)
    code, _, errors = prompts("--write", tmp_path / "mine.json", "--read", sheets[0], "--read", sheets[1])
    assert code == 1
    assert "first.csv" in errors
    assert wrong in errors
    assert "make a new one" in errors
    assert not (tmp_path / "mine.json").exists()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_report_takes_two_readers_and_nobody_is_asked_before_there_are(prompts, sheets, tmp_path, removed, count):
    given = [word for path in (*sheets, tmp_path / "third.csv")[:count] for word in ("--read", path)]
    code, _, errors = prompts("--write", tmp_path / "mine.json", *given)
    assert code == 1
    assert "the sheets of 2 readers" in errors


def test_a_check_without_a_report_says_that_there_is_none(prompts):
    code, said, errors = prompts("--check")
    assert (code, said) == (1, "")
    assert "No report of the prompts comes with this version" in errors
    assert "docs/prompts.md" in errors


def test_a_check_passes_where_the_same_is_found(prompts, shipped):
    assert prompts("--check") == (0, "Every retriever's first hits are those of the report.\n", "")


def test_a_check_fails_where_others_are_found_and_says_where(prompts, shipped, otherwise):
    code, said, errors = prompts("--check")
    assert (code, said) == (1, "")
    assert "Reranked, “Victor does not consider the consequences of his actions” (1 sentence): " in errors
    assert "; in the report " in errors


def test_the_table_is_printed_or_put_between_the_marks_of_a_page(prompts, shipped, tmp_path):
    code, table, _ = prompts("--table")
    assert code == 0
    assert "| retriever | hits | both: supports | both: at least partly |" in table
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- prompts -->\n<!-- /prompts -->\n", encoding="utf-8")
    assert prompts("--table", page) == (0, f"{page} has been written.\n", "")
    assert page.read_text(encoding="utf-8") == f"Before.\n\n<!-- prompts -->\n\n{table}\n<!-- /prompts -->\n"
    assert prompts("--table", page) == (0, f"{page} is as it should be.\n", "")


def test_without_a_report_the_table_says_so_and_needs_no_work(prompts, removed):
    code, said, _ = prompts("--table")
    assert code == 0
    assert said.startswith(reports.NOT_MADE)
    assert "Brave New World (Table 6)" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seed", "1"),
        ("--read", "first.csv"),
        ("--sheet", "s.csv", "--retriever", "bm25"),
        ("--sheet", "s.csv", "--seed", "-1"),
        ("--write", "r.json", "--seed", "1"),
        ("--check", "--table"),
        ("--check", "--retriever", "bm25"),
        ("--sheet",),
    ],
    ids=" ".join,
)
def test_options_that_would_be_ignored_are_wrong_usage(prompts, arguments):
    code, said, errors = prompts(*arguments)
    assert (code, said) == (2, "")
    assert "usage:" in errors


def test_the_documentation_has_the_table_of_the_report_or_says_that_there_is_none():
    """Of the program's own report: `prompts --table docs/prompts.md` puts it there."""
    between = PAGE.read_text(encoding="utf-8").partition("<!-- prompts -->")[2].partition("<!-- /prompts -->")[0]
    assert between == f"\n\n{reports.page_table()}\n\n"
    assert (reports.NOT_MADE in between) != reports.REPORT.is_file()


def test_of_two_versions_the_shares_and_their_difference_are_told_by_prompt():
    verdicts = {"a": ("supports", "supports"), "b": ("partly", "supports"), "c": ("no", "no")}
    judged = {
        id_: reports.Judged(address="1.1.1", start=0, length=1, characters=(0, 1), verdicts=both)
        for id_, both in verdicts.items()
    }
    found = [{"before": ("c",), "after": ("a", "b")}, {"before": ("b", "c"), "after": ("a",)}]
    versions = [
        reports.UsedRetriever(name=name, label=name, encoder="", configuration={}) for name in ("before", "after")
    ]
    prompts = [
        reports.Reported(table="", claim="x", asked="x", work="w", length=1, passages=judged, hits=hits)
        for hits in found
    ]
    report = reports.Report(
        created=datetime.now(UTC),
        code="",
        shape="",
        seeds=(1,),
        works=(),
        retrievers=versions,
        prompts=prompts,
        left_out=(),
    )
    rows = {row[0]: [str(cell).split()[0] for cell in row[1:] if cell] for row in reports.shares(report).rows}
    assert rows == {
        "before": ["3", "0.0", "25.0"],
        "after": ["3", "75.0", "100.0"],
        "difference": ["75.0", "75.0"],
    }


def test_a_report_that_comes_with_the_program_is_of_every_retriever_and_prompt(bench):
    """Whatever was trained since: a retriever that pages offer and the report lacks was never read."""
    if not reports.REPORT.is_file():
        assert reports.NOT_MADE in PAGE.read_text(encoding="utf-8")
        return
    report = reports.shipped()
    cards = [card.name for card in bench.retrievers.cards() if card.library]
    assert [list(each.hits) for each in report.prompts] == [cards] * 4
    assert {each.slug for each in report.works} == {"frankenstein", "the_great_gatsby", "pride_and_prejudice"}
    assert all(len(ids) <= 3 for each in report.prompts for ids in each.hits.values())
