"""The library in Python: what the documents show runs, and what rankings and runs say to other tools."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest

import relic_core
from relic_core.config import Settings
from relic_core.errors import BadRequest, NotFound
from relic_core.formats.trec import DEPTH
from relic_core.retrieval import registry

PROJECT = Path(__file__).resolve().parents[2]
SNIPPETS = [
    pytest.param(code, id=f"{page}-{number}")
    for page in ("README.md", "docs/python.md")
    for number, code in enumerate(
        re.findall(r"```python\n(.*?)```", (PROJECT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    )
]
TEXT = (
    "The tide came in at noon. She kept the gauge for her father. He kept the books. Nobody swam. The ferry was late."
)


class Longest(relic_core.Retriever):
    """Prefers long passages, or short ones."""

    name, configuration, sign = "longest", {"code": "longest/1"}, 1

    def score(self, claim, work, length):
        spans = [relic_core.Span(at, length) for at in range(work.candidates(length))]
        return self.sign * np.array([len(work.span_text(span)) for span in spans], np.float32)


class Shortest(Longest):
    sign = -1


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    return relic_core.Library(tmp_path / "own")


def plain(cards):
    return [card.quotation.plain for card in cards]


def test_documents_show_python():
    assert len(SNIPPETS) >= 4
    (readme,) = (param.values[0] for param in SNIPPETS if param.id.startswith("README"))
    assert len(readme.splitlines()) <= 10


@pytest.mark.parametrize("code", SNIPPETS)
def test_what_a_document_shows_in_python_runs(code, prepared, tmp_path, monkeypatch):
    own = shutil.copytree(prepared, tmp_path / "prepared")
    settings = Settings(data=own / "data", indexes=own / "indexes", reranker=str(own / "reranker"))
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_package_loads_nothing_before_it_is_asked_for():
    code = "import relic_core, sys; print(*(name for name in sys.modules if name.startswith('relic_core')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["relic_core"]


def test_every_public_name_is_there_and_its_docstring_begins_with_an_example():
    assert 1 <= len(relic_core.__all__) <= 6
    for name in relic_core.__all__:
        assert ">>> " in (getattr(relic_core, name).__doc__ or ""), name
    stub = (PROJECT / "relic_core/__init__.pyi").read_text(encoding="utf-8")
    assert set(re.findall(r" as (\w+)", stub)) == set(relic_core.__all__)
    with pytest.raises(AttributeError):
        relic_core.nothing_of_this_name  # noqa: B018 - asking for it is the test


def test_a_text_and_a_file_are_added_once(library, tmp_path):
    work = library.add(text=TEXT, title="The Gauge")
    file = tmp_path / "gauge.txt"
    file.write_text(TEXT, encoding="utf-8")
    assert library.add(str(file)).id == library.add(file).id == work.id
    assert [each.title for each in library.works] == ["The Gauge"]
    assert "1 work" in repr(library)


@pytest.mark.parametrize(("given", "error"), [({}, BadRequest), ({"source": "no such work"}, BadRequest)])
def test_what_cannot_be_added_is_refused(library, given, error):
    with pytest.raises(error):
        library.add(**given)


def test_a_file_that_is_not_there_is_refused(library, tmp_path):
    with pytest.raises(NotFound):
        library.add(tmp_path / "nowhere.txt")


def test_a_card_reads_as_its_passage_with_place_and_score(library):
    work = library.add(text=TEXT, title="The Gauge", author="Mara Quill")
    first, *_ = library.search("Who kept the gauge?", "The Gauge", retriever="bm25", length=1)
    assert first.quotation.plain == "She kept the gauge for her father."
    assert "She kept the gauge" in repr(first) and work.title in repr(first) and first.place.label in repr(first)
    assert "Quill" in library.cite(first)


def test_a_run_keeps_the_order_of_the_ranking_for_tools_that_sort_anew(library):
    """Most passages share no word with the claim, and score the same."""
    ranker = library.ranker("bm25", library.add(text=TEXT, title="The Gauge"))
    ranking = ranker("Nobody rows")
    run = ranker.run({"q": "Nobody rows"})["q"]
    assert len(run) == len(ranking) == 5
    last = list(run)[-1]
    found = ir_measures.calc_aggregate([ir_measures.RR], {"q": {last: 1}}, {"q": run})
    assert found[ir_measures.RR] == pytest.approx(1 / 5)
    assert len(set(map(np.float32, run.values()))) == 5


@pytest.mark.parametrize("retriever", ["bm25", "random", "longest"])
def test_a_ranker_ranks_every_passage_of_several_works(library, retriever):
    relic_core.register("longest", Longest)
    works = [library.add(text=TEXT, title="One"), library.add(text=f"{TEXT} Gulls cried.", title="Two")]
    for chosen in (works, ()):
        ranking = library.ranker(retriever, chosen, length=2)("Who kept the gauge?")
        assert {*ranking.works} == {work.id for work in works} and len(ranking) == 4 + 5
    assert library.ranker(retriever, works[:1], length=2)("Who kept the gauge?").works == (works[0].id,)


def test_a_retriever_registered_again_takes_the_place_of_the_earlier_one(library):
    work = library.add(text=TEXT, title="The Gauge")
    found = []
    for each in (Longest, Shortest):
        relic_core.register("longest", each)
        found += plain(library.search("gauge", work, retriever="longest", length=1, results=1))
    assert found == ["She kept the gauge for her father.", "Nobody swam."]


def test_a_retriever_is_handed_its_components(library):
    class Turned(relic_core.Retriever):
        name, configuration = "turned", {"code": "turned/1"}

        def __init__(self, first):
            self.first = first

        def score(self, claim, work, length):
            return -self.first.score(claim, work, length)

    relic_core.register("longest", Longest)
    relic_core.register("turned", Turned, components=["longest"])
    work = library.add(text=TEXT, title="The Gauge")
    assert plain(library.search("gauge", work, retriever="turned", length=1, results=1)) == ["Nobody swam."]


def test_a_name_of_the_program_is_not_taken(library):
    with pytest.raises(BadRequest, match="bm25"):
        relic_core.register("bm25", Longest)


def test_a_registered_retriever_is_measured_anew_and_its_run_is_not_kept(library):
    measured = []
    for each in (Longest, Shortest):
        relic_core.register("longest", each)
        measured.append(library.evaluate("longest", "sample"))
    assert measured[0].outcomes != measured[1].outcomes
    assert [run.id for run in library.app.runs.all() if run.retriever == "longest"] == []


def test_figures_of_a_run_are_those_that_another_tool_computes_of_its_dicts(library):
    measured = library.evaluate("bm25", "sample")
    assert library.evaluate("bm25", "sample").found
    among = replace(measured, outcomes=tuple(each for each in measured.outcomes if (each.rank or DEPTH) < DEPTH))
    assert among.outcomes  # the golds that dicts hold
    assert len(measured.qrels) == len(measured.outcomes)
    found = ir_measures.calc_aggregate([ir_measures.RR], among.qrels, among.rankings)
    assert found[ir_measures.RR] == pytest.approx(among.figure("mrr").value)
    assert "bm25" in repr(measured).lower()


def test_another_process_uses_a_library_that_is_open(library):
    work = library.add(text=TEXT, title="The Gauge")
    for name, value in (("add", "other"), ("works", "")):
        code = (
            "import sys, relic_core; library = relic_core.Library(sys.argv[1]); "
            "sys.argv[2] and library.add(text=sys.argv[2] + '. It ended.', title='Other'); print(len(library.works))"
        )
        folder = library.app.settings.data.parent
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder), value], cwd=PROJECT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (name, done.stderr)
        assert done.stdout.split() == ["2"]
    assert {each.title for each in library.works} == {work.title, "Other"}
    assert library.app.jobs.recent() == ()
