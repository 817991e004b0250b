"""Stretch lengths and overlaps compared on data to choose by: which data, which readings, what is told."""

from dataclasses import replace

import pytest

from relic_core import cli
from relic_core.domain import ContextSize
from relic_core.encoders.cards import read_card
from relic_core.encoders.late_chunking import LateChunkingEncoder
from relic_core.encoders.towers import PassageEncoder
from relic_core.errors import BadRequest
from relic_core.evaluation.benchmarks import registry
from relic_core.ports import silent
from relic_core.retrieval.dense import Dense
from relic_core.retrieval.dense_alone import DenseAlone
from relic_core.wiring import build
from tests import tiny_models
from tests.small_benchmark import SmallBenchmark, novel, outcomes_of
from tools.tune import stretches
from tools.tune.stretches import Question, compare_readings, densest, every_other, read_and_rank

SHAPES = (ContextSize(1, 1), ContextSize(1, 0))


@pytest.fixture
def model(tmp_path):
    return str(tiny_models.bert(tmp_path / "bert"))


def test_the_densest_works_are_those_most_quoted_for_their_length():
    benchmark = SmallBenchmark(windows=9)  # five of the first, four of the second
    assert {window.pool for window in densest(benchmark, 1)} == {"first"}
    benchmark.works["first"] = novel("The First", 1, sentences=60)
    assert {window.pool for window in densest(benchmark, 1)} == {"second"}
    assert densest(benchmark, 2) == benchmark.windows()


def test_half_the_claims_are_the_same_half_in_whatever_order():
    windows = SmallBenchmark(windows=9).windows()
    half = every_other(windows)
    assert len(half) == 5
    assert set(half) == set(every_other(windows[::-1]))


def test_a_reading_has_the_outcomes_that_measuring_its_retriever_gives(model, tmp_path):
    card = read_card(model)

    def in_context(root):
        return Dense("dense", encoder=lambda: LateChunkingEncoder(card, stretch=32, context=4), root=root)

    def alone(root):
        plain = replace(card, spans="alone")
        return DenseAlone("alone", encoder=lambda: PassageEncoder(plain), root=root)

    benchmark, told = SmallBenchmark(), []
    found = read_and_rank(
        benchmark, benchmark.windows(), {"32/4": in_context, "alone": alone}, shapes=SHAPES,
        progress=lambda done, total, note="": told.append((done, total)),
    )  # fmt: skip
    assert set(found) == {(name, shape) for name in ("32/4", "alone") for shape in SHAPES}
    for name, factory in (("32/4", in_context), ("alone", alone)):
        assert found[name, SHAPES[0]] == outcomes_of(benchmark, factory(tmp_path), shape=SHAPES[0])
    assert told[-1] == (4, 4)
    assert told == sorted(told)


@pytest.fixture
def compared(settings, monkeypatch, model):
    def run(benchmark, *, half=False, works=0, **options):
        workbench = build(replace(settings, trained=model))
        monkeypatch.setattr(workbench.benchmarks, "open", lambda name, *, data=None: benchmark)
        question = Question(benchmark=benchmark.card.name, shapes=SHAPES[:1], half=half, works=works)
        given = {"windows": (32,), "contexts": (0, 4), "progress": silent, **options}
        return compare_readings(workbench, question, **given)

    return run


def test_readings_are_set_beside_each_other_and_against_the_encoders_own(compared, settings):
    figures, differences = compared(SmallBenchmark(), alone=True)
    assert [row[0] for row in figures.rows] == ["254/32", "32/0", "32/4", "alone"]
    assert {"R@10", "R@50", "R@100", "Mean rank", "Median rank", "MRR"} <= set(figures.heads)
    assert {row[1].split()[1] for row in differences.rows} == {"32/0", "32/4", "alone"}
    assert differences.caption.startswith("reading 254/32 1/1 against others")
    assert not any("HALF" in note or "A part" in note for note in figures.notes)
    assert not settings.indexes.exists() or not any(settings.indexes.rglob("*.npy"))


def test_a_pair_whose_context_fills_its_stretch_is_left_out(compared):
    figures = compared(SmallBenchmark(), contexts=(0, 16, 20))[0]
    assert [row[0] for row in figures.rows] == ["254/32", "32/0"]


def test_parts_and_halves_are_labelled(compared):
    half = compared(SmallBenchmark(), half=True)
    assert all(any("HALF: 5 of 10 claims" in note for note in table.notes) for table in half)
    part = compared(SmallBenchmark(), works=1)
    assert any("A part: 5 of 10 claims" in note for note in part[0].notes)


def of(name, split):
    benchmark = SmallBenchmark(split=split)
    benchmark.card = replace(benchmark.card, name=name)
    return benchmark


def test_the_sample_and_half_of_the_placed_claims_may_be_chosen_by(compared):
    assert compared(of("sample", "sample"))
    assert compared(of("birco-novels", "test"), half=True)


@pytest.mark.parametrize(
    ("name", "split", "half"), [("birco-novels", "test", False), ("relic", "test", True), ("relic", "", False)]
)
def test_what_is_reported_on_is_refused(compared, name, split, half):
    with pytest.raises(BadRequest, match="choices are made on dev"):
        compared(of(name, split), half=half)


def test_what_cannot_be_tried_is_refused_before_anything_is_read(compared, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(stretches, "read_and_rank", lambda *given, **options: pytest.fail("something was read"))
    with pytest.raises(BadRequest, match="Stretches of 8 tokens"):
        compared(SmallBenchmark(), windows=(8,), contexts=(0,))
    with pytest.raises(BadRequest, match="number of works"):
        compared(SmallBenchmark(), works=-1)
    card = tiny_models.write_card(tmp_path / "alone.json", model=str(tmp_path / "bert"), spans="alone")
    with pytest.raises(BadRequest, match="no stretches to choose"):
        compare_readings(
            build(replace(settings, trained=card)), Question(benchmark="sample", shapes=SHAPES), progress=silent
        )


def test_the_command_prints_tables_for_each_shape_and_refuses_what_it_does_not_take(
    settings, monkeypatch, capsys, model
):
    def run(*arguments):
        try:
            code = cli.main(["tune", *arguments])
        except SystemExit as ended:
            code = ended.code
        return code, capsys.readouterr()

    for name, value in replace(settings, trained=model).to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(registry, "open_benchmark", lambda name, **options: SmallBenchmark())
    code, said = run("stretches", "sample", "--windows", "32", "--contexts", "4", "--shape", "1/1,1/0", "--works", "1")
    assert code == 0
    assert said.out.count("reading 254/32") == 2
    assert said.out.count("A part: 5 of 10 claims") == 4
    code, said = run("stretches", "sample", "--windows", "many")
    assert (code, "--windows has 'many'" in said.err) == (1, True)
    for wrong in (("stretches", "sample", "--k1", "0.5"), ("bm25", "sample", "--alone"), ("lines", "sample")):
        assert run(*wrong)[0] == 2
