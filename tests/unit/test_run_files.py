"""Run files: what is written is read again, and what was damaged is refused."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relic_core.domain import Book, ContextSize, Outcome, Run
from relic_core.errors import BadBenchmark, NotFound, StoreError
from relic_core.formats import run_files
from relic_core.formats.run_files import FORMAT, read_head, read_run, write_run

BOOKS = (
    Book(key="emma", title="Emma", author="Jane Austen", year=1815, sentences=9731, sha256="a" * 64),
    Book(key="été", title="L’Été – a “novel”"),
)


def outcome(number, **changes):
    made = Outcome(
        example_id=f"{number}", book="emma", length=2, kind="", candidates=9731, rank=1412 + number,
        overlap_rank=613, gold=(512_345, 512_445), first=((1234, 1345), (555_555, 555_655), (12_345, 12_467)),
    )  # fmt: skip
    return replace(made, **changes)


def run_of(outcomes, **changes):
    made = Run(
        id="3f9a01c2b4d5", benchmark="birco-novels", split="test", pool="whole work", data_hash="d" * 64,
        retriever="bm25", label="BM25", shape=ContextSize(4, 4), configuration={"k1": "0.5", "b": "0.9"}, books=BOOKS,
        examples=len(outcomes), code="0.1.0 abc", machine={"cores": "2"}, seconds=1.25, index_bytes=17,
        created=datetime(2026, 3, 1, 12, tzinfo=UTC), tags=("first",),
    )  # fmt: skip
    return replace(made, **changes)


FORTY_EIGHT = tuple(outcome(number) for number in range(48))


def test_a_run_comes_back_as_it_was(tmp_path):
    outcomes = (*FORTY_EIGHT, outcome(48, book="été", kind="other", rank=None, overlap_rank=None, first=()))
    run = run_of(outcomes)
    write_run(tmp_path / "run.json", run, outcomes)
    assert read_run(tmp_path / "run.json") == (run, outcomes)
    assert read_head(tmp_path / "run.json") == replace(run, shipped=True)


places = st.tuples(st.integers(0, 10**7), st.integers(1, 10**4)).map(lambda pair: (pair[0], sum(pair)))


@st.composite
def outcomes_(draw, example_id):
    candidates = draw(st.integers(1, 40_000))
    rank = draw(st.none() | st.integers(1, candidates))
    return Outcome(
        example_id=example_id, book=draw(st.sampled_from(["emma", "été"])), length=draw(st.integers(1, 5)),
        kind=draw(st.sampled_from(["", "claim-supporting", "other"])), candidates=candidates, rank=rank,
        overlap_rank=rank and draw(st.integers(1, rank)), gold=draw(places),
        first=tuple(draw(st.lists(places, max_size=3))),
    )  # fmt: skip


@given(
    outcomes=st.lists(st.text(st.characters(codec="utf-8"), max_size=9), unique=True, max_size=8).flatmap(
        lambda ids: st.tuples(*map(outcomes_, ids))
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_outcomes_come_back(tmp_path, outcomes):
    run = run_of(outcomes)
    write_run(tmp_path / "run.json", run, outcomes)
    assert read_run(tmp_path / "run.json") == (run, outcomes)


def test_the_same_run_makes_the_same_bytes_and_an_outcome_costs_little(tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    write_run(one, run_of(FORTY_EIGHT), FORTY_EIGHT)
    write_run(two, run_of(FORTY_EIGHT, configuration={"b": "0.9", "k1": "0.5"}), FORTY_EIGHT)
    assert one.read_bytes() == two.read_bytes()
    many = tuple(outcome(number) for number in range(1048))
    write_run(two, run_of(many), many)
    assert (two.stat().st_size - one.stat().st_size) / 1000 < 90


def test_the_head_can_be_read_by_a_person(tmp_path):
    write_run(tmp_path / "run.json", run_of(FORTY_EIGHT), FORTY_EIGHT)
    head = (tmp_path / "run.json").read_text(encoding="utf-8").splitlines()[:6]
    assert head[1] == f' "format": "{FORMAT}",'
    assert head[3:5] == [' "id": "3f9a01c2b4d5",', ' "benchmark": "birco-novels",']


def written(tmp_path):
    path = tmp_path / "run.json"
    write_run(path, run_of(FORTY_EIGHT), FORTY_EIGHT)
    return path


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_file_cut_short_is_refused(tmp_path, share):
    path = written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * (len(data) - 3))])
    with pytest.raises(BadBenchmark):
        read_run(path)


def test_a_changed_rank_is_noticed(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8").replace("1412,613", "1,1"), "utf-8")
    with pytest.raises(BadBenchmark, match="sha256"):
        read_run(path)


def test_another_version_is_refused_by_its_name(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8").replace(FORMAT, "relic run/2"), "utf-8")
    with pytest.raises(BadBenchmark, match="relic run/2"):
        read_run(path)


@pytest.mark.parametrize("text", ["[]", "{}", "null", "\ufeff{", '{"format": "relic run/1"}', "[" * 100_000, "\x00"])
def test_what_is_no_run_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadBenchmark):
        read_run(tmp_path / "run.json")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"pool": "both"}, "pool"),
        ({"seconds": -1.0}, "seconds"),
        ({"label": 3}, "label"),
        ({"configuration": {"k1": 0.5}}, "k1"),
        ({"tags": (1,)}, "tags"),
        ({"books": (replace(BOOKS[0], year="1815"), BOOKS[1])}, "year"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_a_head_of_the_wrong_kind_is_refused_though_its_digest_is_right(tmp_path, changes, why):
    path = tmp_path / "run.json"
    write_run(path, run_of(FORTY_EIGHT, **changes), FORTY_EIGHT)
    with pytest.raises(BadBenchmark, match=why):
        read_run(path)


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        ((outcome(1), outcome(1)), "twice"),
        ((outcome(1, rank=9732),), "cannot be"),
        ((outcome(1, rank=600, overlap_rank=601),), "cannot be"),
        ((outcome(1, overlap_rank=None),), "cannot be"),
        ((outcome(1, book="persuasion"),), "persuasion"),
    ],
)
def test_outcomes_that_cannot_be_are_not_written(tmp_path, outcomes, why):
    with pytest.raises(BadBenchmark, match=why):
        write_run(tmp_path / "run.json", run_of(outcomes), outcomes)
    with pytest.raises(BadBenchmark, match="3 examples"):
        write_run(tmp_path / "run.json", run_of(FORTY_EIGHT, examples=3), FORTY_EIGHT)
    assert list(tmp_path.iterdir()) == []


def test_a_book_that_is_not_listed_is_refused_on_reading(tmp_path):
    path = tmp_path / "run.json"
    write_run(path, run_of(FORTY_EIGHT), FORTY_EIGHT)
    content = json.loads(path.read_text("utf-8"))
    content["outcomes"][0][1] = 7
    lines, _ = content.pop("outcomes"), content.pop("sha256")
    content.pop("format")
    head = {"format": FORMAT, "sha256": run_files._digest(content, lines), **content, "outcomes": lines}
    path.write_text(json.dumps(head), "utf-8")
    with pytest.raises(BadBenchmark, match="not listed"):
        read_run(path)


def test_a_missing_file_and_a_missing_folder_are_told(tmp_path):
    with pytest.raises(NotFound):
        read_run(tmp_path / "run.json")
    with pytest.raises(StoreError):
        write_run(tmp_path / "none" / "run.json", run_of(FORTY_EIGHT), FORTY_EIGHT)
