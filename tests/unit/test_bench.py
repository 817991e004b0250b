"""The bench measures what it says, and says what it could not measure; how fast anything is, no test asks."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from contextlib import nullcontext

import numpy as np
import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.config.provenance import machine
from relic_core.domain import Claim, Span
from relic_core.encoders.cards import read_card
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadRequest, NotFound, RelicError
from relic_core.ports import silent
from relic_core.services.search import Search
from relic_core.wiring import build
from tests import tiny_models
from tests.approved import says
from tests.making import make_work
from tests.making_rerankers import make_cross_encoder
from tests.making_training import make_base
from tools.bench import parts
from tools.bench import report as reports
from tools.bench.parts import QUICK, Bench, SentenceTransformersBaseline, as_fast, head, median_and_tail
from tools.bench.report import Figure, Measured, Target
from tools.between_marks import put_between
from tools.machine import busy, in_full

SAYS = says("bench")

HERE = ("bm25", "building", "latency", "library", "agreement")
"""The parts that start no process."""

PROSE = (
    "The tide rose by {n} inches, and the clerk of gauge {n} wrote it down.",
    "He was not a proud man; page {n} shows it.",
    "“Is the ferry near?” the miser asked for the {n}th time.",
    "Nobody said a word about coin {n} or the orchard.",
)


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    """Return a workbench with tiny models, the sample and a small work, which is prepared."""
    folder = tmp_path_factory.mktemp("bench")
    model = tiny_models.bert(folder / "tiny")
    reranker = make_cross_encoder(folder / "reranker", make_base(folder / "base"))
    made = build(Settings(data=folder / "data", indexes=folder / "indexes", trained=str(model), reranker=str(reranker)))
    made.ensure_sample()
    work = make_work([[PROSE[n % 4].format(n=n) for n in range(120)]], [[PROSE[n % 4].format(n=n) for n in range(80)]])
    made.store.works.add(work)
    made.indexes.build(work.id, ["dense-relic"], silent)
    return made


@pytest.fixture(scope="module")
def work(workbench):
    return workbench.works.load(workbench.works.resolve("A Small Work").id)


@pytest.fixture(scope="module")
def report(workbench, work):
    return parts.measure(workbench, HERE, work_id=work.id, quick=True, progress=silent)


def bench_of(workbench, **changed):
    claims = tuple(example.claim for example in workbench.store.examples.of_split("sample")[:4])
    given = {"effort": QUICK, "work_id": "", "full": False, "claims": claims, "say": lambda what: None}
    return Bench(app=workbench, **{**given, **changed})


def part(report, name):
    (found,) = [each for each in report.parts if each.part == name]
    return found


def figure(measured, beginning):
    (found,) = [each for each in measured.figures if each.what.startswith(beginning)]
    return found


def test_every_part_that_was_asked_for_has_figures_in_the_order_of_the_parts(report):
    assert [each.part for each in report.parts] == list(HERE)
    assert [each.part for each in report.parts if not each.figures] == []
    assert report.quick
    assert report.claims.startswith("4 claims of the sample")


def test_every_figure_is_a_number_and_names_its_baseline_where_it_has_a_ratio(report):
    for measured in report.parts:
        for each in measured.figures:
            assert math.isfinite(each.value), each
            assert each.repetitions >= 1, each
            if each.ratio is not None:
                assert each.baseline, each
                assert each.baseline_value is not None, each
                assert math.isfinite(each.ratio), each


def test_both_bm25_put_the_same_ten_first_for_every_length_and_kind_of_claim(report):
    measured = part(report, "bm25")
    assert figure(measured, "queries with the same").value == 100
    assert figure(measured, "queries with the same").repetitions == 5 * 2
    asked = [each for each in measured.figures if each.target and each.target.of == "ratio"]
    assert [each.what for each in asked] == [
        f"{kind}, passages of {length}" for kind in ("a real claim", "a page of the work") for length in range(1, 6)
    ]
    for each in asked:
        assert each.ratio == pytest.approx(each.baseline_value / each.value)
        assert (each.target.bound, each.target.limit, each.baseline) == ("at least", 300, "rank_bm25")


def test_another_top_ten_is_told(workbench, work, monkeypatch):
    seen = iter(range(1000))
    monkeypatch.setattr(parts, "top", lambda scores: [next(seen)])
    told = figure(parts.bm25(bench_of(workbench, work_id=work.id)), "queries with the same")
    assert (told.value, told.met) == (0, False)


def test_pages_of_a_work_leave_a_sentence_out_between_their_sides(work):
    for page in parts.pages(work, 20):
        assert page.masked
        text = " ".join(" ".join(work.sentence_text(at) for at in range(len(work.sentences))).split())
        assert page.left in text
        assert page.right in text
        assert f"{page.left} {page.right}".strip() not in text or not (page.left and page.right)
    assert parts.pages(work, 3) == parts.pages(work, 3)
    (alone,) = parts.pages(head(work, 1), 1)
    assert alone.words == ""


def test_what_the_baseline_was_spared_is_told_and_reckoned_length_by_length(report, work):
    measured = part(report, "building")
    every = sum(work.candidates(length) for length in range(1, 6))
    assert f"encoded {5 * QUICK.spans} of the {every:,} spans, drawn at random" in measured.notes[0]
    built = figure(measured, "building the index")
    assert built.ratio == pytest.approx(built.baseline_value / built.value)
    assert built.target.limit == (12 if machine()["amx"] else 6)


def test_in_full_the_baseline_encodes_every_span(workbench, work):
    measured = parts.building(bench_of(workbench, work_id=work.id, full=True))
    assert measured.notes == ("The baseline encoded every span.",)


def test_the_baseline_makes_the_vectors_that_the_plain_encoder_makes_in_float32(workbench, work):
    card = dataclasses.replace(read_card(workbench.settings.trained), passage_prefix="passage: ")
    spans = [Span(start, length) for start, length in ((0, 1), (3, 2), (7, 5))]
    _, theirs = SentenceTransformersBaseline(card).encode(work, spans)
    texts = [" ".join(work.sentence_text(at) for at in range(span.start, span.end)) for span in spans]
    ours = PassageEncoder(card, precision="float32").encode_passages(texts)
    np.testing.assert_allclose(theirs, ours, atol=1e-5)


def test_answers_are_timed_for_every_retriever_that_works_are_prepared_for(report, workbench):
    names = [card.name for card in workbench.retrievers.default()]
    for name, limit in (("latency", 30), ("library", 300)):
        whats = [each.what for each in part(report, name).figures]
        assert {each for each in names if not any(f"ranking by {each}," in what for what in whats)} == set()
        assert [what for what in whats if what.startswith("the whole answer")] == [
            "the whole answer, with cards, median",
            "the whole answer, with cards, 95th percentile",
        ]
        held = [each for each in part(report, name).figures if each.target]
        assert [(each.what, each.target.limit) for each in held if each.target.of == "value"] == [
            ("ranking by dense-relic, 95th percentile", limit)
        ]
        joined = [each.target.limit for each in held if each.target.of == "ratio"]
        assert joined == ([1.5] if name == "latency" else [])


def test_works_that_are_not_prepared_are_left_out_of_the_library_and_named_as_such(report):
    measured = part(report, "library")
    assert measured.on.startswith("1 prepared works")
    assert SAYS["one unprepared"] in measured.notes


@pytest.mark.parametrize("name", ["latency", "library", "start"])
def test_where_nothing_is_prepared_that_is_what_is_said(workbench, tmp_path, name):
    bare = build(dataclasses.replace(workbench.settings, indexes=tmp_path / "none"))
    (measured,) = parts.measure(bare, [name], quick=True, progress=silent).parts
    assert measured.figures == ()
    assert measured.notes[0].startswith(SAYS["not measured"])
    assert "python -m relic_core index WORK" in measured.notes[0]


def test_questions_are_real_prose_and_none_is_asked_twice(workbench):
    asked = bench_of(workbench).questions(12)
    assert len(set(asked)) == len(asked) == 12
    assert all(claim.words for claim in asked)


def test_a_named_work_goes_before_the_preferred_one_and_that_before_the_longest(workbench, work):
    sample = workbench.works.resolve("averhythe")
    assert bench_of(workbench, work_id=work.id).work("War and Peace").id == work.id
    assert bench_of(workbench).work("A Small Work").id == work.id
    assert bench_of(workbench).work("War and Peace").id == sample.id
    assert bench_of(workbench).prepared("War and Peace").id == work.id, "the only one that is prepared"


def test_the_two_number_formats_are_compared_over_every_length(report):
    measured = part(report, "agreement")
    overlap, correlation = measured.figures
    assert overlap.repetitions == 5 * QUICK.claims
    assert 50 < overlap.value <= 100
    assert 0.9 < correlation.value <= 1


def test_a_server_that_answers_at_once_is_asked_by_the_call_and_by_the_column(workbench):
    (measured,) = parts.measure(workbench, ["reading"], quick=True, progress=silent).parts
    assert [(each.unit, each.target.limit) for each in measured.figures] == [("ms", 5.0), ("s", 2.0), ("ms", 50.0)]
    assert measured.figures[1].repetitions == QUICK.starts


class Inline:
    """Stands for a spawned process: runs its target in this one."""

    def __init__(self, *, dies: bool = False) -> None:
        self.sent: list[object] = []
        self.dies = dies
        self.exitcode = -9 if dies else 0

    def Pipe(self, *, duplex):  # noqa: N802 - multiprocessing's name
        return self, self

    def Process(self, *, target, args, name):  # noqa: N802
        self.call = lambda: target(*args)
        return self

    def start(self):
        if not self.dies:
            self.call()

    def join(self): ...

    def close(self): ...

    def send(self, what):
        self.sent.append(what)

    def recv(self):
        if not self.sent:
            raise EOFError
        return self.sent[0]


@pytest.fixture
def inline(monkeypatch):
    """Keep the part for memory in this process, and let a server stand for the app's that is this process too."""

    def use(*, dies=False):
        monkeypatch.setattr(parts.multiprocessing, "get_context", lambda how: Inline(dies=dies))
        monkeypatch.setattr(parts, "server", lambda app, environment: nullcontext((os.getpid(), 1.0)))

    return use


def test_memory_is_that_of_a_process_that_asks_three_works_for_every_length(workbench, work, inline, monkeypatch):
    inline()
    asked = []
    true = Search.run

    def run(self, request):
        asked.append((request.work_id, request.length, request.retrievers))
        return true(self, request)

    monkeypatch.setattr(Search, "run", run)
    measured = parts.memory(bench_of(workbench))
    shown = tuple(card.name for card in workbench.retrievers.default())
    sample = workbench.works.resolve("averhythe").id
    assert asked == [(each, length, shown) for each in (work.id, sample) for length in range(1, 6)]
    before, answering = measured.figures[0].baseline_value, measured.figures[0].value
    assert before > 10
    assert answering > 0.95 * before, "in a process that has asked much before, memory can be given back meanwhile"
    assert measured.notes[0] == SAYS["one of two"]


def test_the_server_is_added_to_the_memory_that_the_target_is_for(workbench, inline, monkeypatch):
    inline()
    sizes = iter([100.0, 700.0, 200.0])
    monkeypatch.setattr(parts, "peak_mb", lambda process: next(sizes))
    done, server, both = parts.memory(bench_of(workbench)).figures
    assert (done.value, done.baseline_value, done.ratio, done.target) == (700, 100, 7, None)
    assert (server.value, both.value, both.met) == (200, 900, True)


def test_a_system_that_hides_other_processes_is_told(workbench, inline, monkeypatch, tmp_path):
    inline()
    monkeypatch.setattr(parts, "_PROCESSES", tmp_path)
    assert parts.peak_mb(os.getpid()) > 10
    assert parts.peak_mb(os.getppid()) == 0
    monkeypatch.setattr(parts, "server", lambda app, environment: nullcontext((os.getppid(), 1.0)))
    measured = parts.memory(bench_of(workbench))
    assert len(measured.figures) == 1
    assert "the app's server is not in it" in measured.notes[-1]


def test_a_process_that_died_is_told_and_not_taken_for_a_small_one(workbench, inline):
    inline(dies=True)
    measured = parts.memory(bench_of(workbench))
    assert measured.figures == ()
    assert measured.notes == ("Not measured: the process ended with -9 before it could tell.",)


def test_a_first_answer_is_asked_in_a_fresh_process_with_a_store_of_its_own(workbench, work, monkeypatch, capsys):
    ran, apps = [], []

    def seconds_of(arguments, environment):
        ran.append((arguments, environment["RELIC_DATA"]))
        if arguments[0] == "-m":  # the command is one that works
            for name in ("RELIC_DATA", "RELIC_INDEXES", "RELIC_TRAINED", "RELIC_RERANKER"):
                monkeypatch.setenv(name, environment[name])
            assert cli.main(arguments[2:]) == 0
        return 4.0 if arguments[0] == "-m" else 2.0

    monkeypatch.setattr(parts, "_seconds_of", seconds_of)
    monkeypatch.setattr(parts, "seconds_to_health", lambda app, environment: apps.append(app.name) or 1.0)
    measured = parts.start(bench_of(workbench))
    assert apps == ["blank.py", "app.py"]
    assert [arguments[:4] for arguments, _ in ran][1] == ["-m", "relic_core", "search", work.id]
    assert str(workbench.settings.data) not in {data for _, data in ran}
    assert [(each.value, each.ratio) for each in measured.figures] == [(1.0, 1.0), (4.0, 0.5)]
    assert workbench.history.recent() == ()
    assert "dense-RELiC" in capsys.readouterr().out


def test_an_app_is_waited_for_until_its_server_is_healthy(tmp_path):
    app = tmp_path / "blank.py"
    app.write_text("", encoding="utf-8")
    assert parts.seconds_to_health(app, dict(os.environ)) > 0


def test_a_server_that_does_not_come_up_is_told_with_its_last_word(tmp_path):
    with pytest.raises(RelicError, match=r"Streamlit did not come up with missing.py in \d+ s: .*missing.py"):
        parts.seconds_to_health(tmp_path / "missing.py", dict(os.environ))


def test_a_process_that_fails_is_told(tmp_path):
    with pytest.raises(RelicError, match=r"failed: no$"):
        parts._seconds_of(["-c", "import sys; sys.exit('no')"], dict(os.environ))


def test_a_report_that_was_kept_reads_as_it_was(report, tmp_path):
    path = tmp_path / "bench.json"
    reports.keep(report, path)
    again = reports.read(path)
    assert json.loads(reports.write(again)) == json.loads(reports.write(report))
    assert reports.as_tables(again, "markdown") == reports.as_tables(report, "markdown")
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert {
        "processor",
        "cores",
        "flags",
        "python",
        "torch",
        "threads",
        "faiss-cpu",
        "bm25s",
        "sentence-transformers",
    } <= set(plain["machine"])
    assert {"code", "date", "claims", "seconds"} <= set(plain)
    met = [row["met"] for each in plain["parts"] for row in each["figures"]]
    assert met == [each.met for measured in report.parts for each in measured.figures]


@pytest.mark.parametrize("written", ["[]", "{}", '{"format": "relic bench/0", "notes": [], "parts": []}', "nothing"])
def test_another_file_is_no_report(tmp_path, written):
    path = tmp_path / "bench.json"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(BadRequest, match=r"holds no figures.*bench --out"):
        reports.read(path)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFound):
        reports.read(tmp_path / "none.json")


def test_the_table_has_a_line_for_every_figure_and_says_what_was_not_measured(report):
    text = reports.as_tables(report, "table")
    for measured in report.parts:
        for each in measured.figures:
            assert sum(line.startswith(each.what) for line in text.splitlines()) >= 1
    assert "mean nothing" in text
    bare = dataclasses.replace(report, parts=(Measured(part="start", on="", notes=("Not measured: so.",)),))
    assert "Not measured: so." in reports.as_tables(bare, "table")


def test_tables_go_between_the_marks_of_a_page_and_nothing_else_changes(report, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Above\n\n<!-- bench -->\nold\n<!-- /bench -->\n\nBelow <!-- figures -->\n", encoding="utf-8")
    assert put_between(page, "bench", reports.as_tables(report, "markdown"))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Above\n\n<!-- bench -->\n\n")
    assert text.endswith("\n\n<!-- /bench -->\n\nBelow <!-- figures -->\n")
    assert "old" not in text


@pytest.mark.parametrize(
    ("target", "value", "ratio", "met"),
    [
        (Target(of="ratio", bound="at least", limit=300), 1.0, 300.0, True),
        (Target(of="ratio", bound="at least", limit=300), 400.0, 299.0, False),
        (Target(of="value", bound="under", limit=30), 30.0, 1.0, False),
        (Target(of="value", bound="at most", limit=2), 2.0, None, True),
        (Target(of="ratio", bound="at least", limit=1), 2.0, None, False),
        (None, 2.0, None, None),
    ],
)
def test_a_target_holds_the_number_that_it_was_laid_down_for(target, value, ratio, met):
    assert Figure(what="it", value=value, unit="ms", ratio=ratio, target=target).met is met


def test_ratios_say_how_many_times_as_fast():
    found = as_fast("it", [0.001, 0.002, 0.009], "theirs", [1.0, 2.0], unit="ms")
    assert (found.value, found.baseline_value, found.ratio, found.repetitions) == (2.0, 1500.0, 750.0, 3)


def test_the_tail_is_the_95th_percentile_in_milliseconds():
    median, tail = median_and_tail("it", [each / 1000 for each in range(1, 102)], under=96)
    assert (round(median.value), round(tail.value), tail.met) == (51, 96, tail.value < 96)


def test_the_machine_is_described_without_importing_what_is_measured():
    told = in_full()
    assert told["cores"] >= 1
    assert told["memory_gb"] > 0
    assert told["sentence-transformers"] == "6.2.0"
    assert set(machine()) == {"system", "processor", "cores", "avx512_bf16", "amx", "python"}


def test_a_busy_machine_is_told(monkeypatch):
    from tools import machine as module

    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(module.os, "getloadavg", lambda: (3.5, 0, 0))
    assert busy().startswith(SAYS["machine busy"])
    monkeypatch.setattr(module.os, "getloadavg", lambda: (0.5, 9, 9))
    assert busy() == ""


def test_a_part_that_there_is_not_is_refused_with_those_there_are(workbench):
    with pytest.raises(BadRequest, match="bm25"):
        parts.measure(workbench, ["bm52"], quick=True, progress=silent)


def test_without_the_sample_there_are_no_claims_to_ask(settings):
    with pytest.raises(NotFound, match="relic_core setup"):
        parts.measure(build(settings), ["bm25"], quick=True, progress=silent)


@pytest.fixture
def command(workbench, monkeypatch, capsys):
    for name, value in workbench.settings.to_environment().items():
        monkeypatch.setenv(name, value)

    def call(*arguments):
        code = cli.main(["bench", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return call


def test_the_command_measures_the_parts_that_are_named_and_keeps_them(command, work, tmp_path):
    kept = tmp_path / "bench.json"
    code, out, _ = command("bm25", "--quick", "--work", "a small work", "--format", "json", "--out", kept)
    assert code == 0
    assert json.loads(out) == json.loads(kept.read_text(encoding="utf-8"))
    assert [(each["part"], each["on"]) for each in json.loads(out)["parts"]] == [
        ("bm25", f"A Small Work ({len(work.sentences)} sentences)")
    ]
    code, out, _ = command("--from", kept, "--format", "markdown")
    assert code == 0
    assert "| what | value | baseline |" in out
    page = tmp_path / "page.md"
    page.write_text("<!-- bench --><!-- /bench -->", encoding="utf-8")
    assert command("--from", kept, "--write", page)[:2] == (0, f"{page} has been written.\n")


def test_figures_that_were_kept_are_not_measured_again(command, tmp_path):
    with pytest.raises(SystemExit):
        command("bm25", "--quick", "--from", tmp_path / "bench.json")


def test_claims_without_words_on_one_side_still_make_questions(workbench):
    asked = bench_of(workbench, claims=(Claim("", "After it.", masked=True), Claim("Before it.", "", masked=True)))
    assert all(claim.words for claim in asked.questions(4))


def test_answers_without_amx_stand_beside_those_of_this_processor(workbench, work):
    (measured,) = parts.measure(workbench, ["plain"], work_id=work.id, quick=True, progress=silent).parts
    assert [each.what.split(",")[0] for each in measured.figures] == [
        "preparing",
        *["a claim"] * 2,
        *["the reranker"] * 2,
        *["the whole answer"] * 2,
    ]
    assert all(each.ratio > 0 and each.baseline == "this processor" for each in measured.figures)
    assert measured.notes[0].endswith("the plain one in float32.")
