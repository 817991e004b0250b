"""The data set as a command meets it: splits, leaks, statistics, the manifest and what is rebuilt of it."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from relic_core import cli
from relic_core.config import Settings
from relic_core.domain import ContextSize, Span
from relic_core.errors import BadBenchmark, BadRequest, NotFound
from relic_core.evaluation.benchmarks import public_relic, registry, relic
from relic_core.formats.window_manifest import FACTS, body_of, read_manifest
from relic_core.mining import splits
from relic_core.store.sources import MinedSource
from relic_core.wiring import build
from tests.gutenberg_mirror import serve
from tests.making import make_work
from tests.shelf import Shelf
from tests.small_dataset import BY_SLUG, CRITICS, DEV, FOOT, HEAD, OTHER, TEST, Critic, keep, sentences

WORKS = Shelf(BY_SLUG)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with what the five critics quote, their books, the same store parted, and its manifest; made once."""
    folder = tmp_path_factory.mktemp("made")
    bench = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    keep(bench, folder / "critics")
    shutil.copytree(folder / "data", folder / "parted")
    bench = build(Settings(data=folder / "parted", indexes=folder / "indexes"))
    bench.dataset.split()
    return folder, bench.make_manifest([folder / "critics"], folder / "manifest")


@pytest.fixture
def shelf(made, settings, tmp_path):
    """A store with what the five critics quote; their books."""
    shutil.copytree(made[0] / "data", settings.data)
    return Path(shutil.copytree(made[0] / "critics", tmp_path / "critics"))


@pytest.fixture
def parted(made, settings, tmp_path):
    """The same with splits; the books."""
    shutil.copytree(made[0] / "parted", settings.data)
    return Path(shutil.copytree(made[0] / "critics", tmp_path / "critics"))


@pytest.fixture
def manifest(made, tmp_path, monkeypatch):
    """The manifest of the small data set in the place of the one that ships."""
    folder = Path(shutil.copytree(made[0] / "manifest", tmp_path / "manifest"))
    monkeypatch.setattr(public_relic, "MANIFEST", folder)
    return replace(made[1], folder=folder)


@pytest.fixture
def run(settings, monkeypatch, capsys):
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments):
        try:
            code = cli.main(["dataset", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def splits_of(bench, kind):
    return Counter(split for split, _ in bench.store.splits.of(kind).values())


def test_windows_go_by_their_work_and_pairs_by_what_they_share(bench, shelf):
    done = bench.dataset.split()
    assert done.windows == {"dev": 5, "test": 5, "training": 5} == splits_of(bench, "window")
    # Of five critics' five pairs each, those that quote Jane Eyre and Emma stay out.
    assert done.pairs == {"training": 15, "left out": 10} == splits_of(bench, "pair")
    assert done.left_out["pair"] == {splits.IN_A_MEASURED_PASSAGE: 10}
    assert any("relic_core catalogue" in note for note in done.notes)


def test_windows_become_examples_of_their_split(bench, parted):
    examples = {split: bench.store.examples.of_split(split) for split in ("dev", "test", "training")}
    assert {split: {each.work_id for each in those} for split, those in examples.items()} == {
        "dev": {DEV.id},
        "test": {TEST.id},
        "training": {OTHER.id},
    }
    one = examples["dev"][0]
    window = bench.store.windows.get(one.id).window
    assert (one.claim.left, one.claim.right, one.gold) == (" ".join(window.left), " ".join(window.right), window.gold)
    assert one.claim.masked


def test_a_window_without_a_word_around_it_is_no_example(bench, tmp_path):
    folder = keep(bench, tmp_path / "critics", CRITICS[:1])
    source, (first, *others), pairs = CRITICS[0].mined(folder / "900001.txt")
    bench.store.sources.add(
        MinedSource(
            source=source, rules="by hand/1", pairs=tuple(pairs), windows=(replace(first, left=(), right=()), *others),
            segmenters={work.id: work.segmenter for work in (DEV, TEST, OTHER)}, dropped={},
        )
    )  # fmt: skip
    done = bench.dataset.split()
    assert (done.windows["dev"], done.examples["dev"]) == (1, 0)
    assert (done.windows["test"], done.examples["test"]) == (1, 1)


def test_splitting_again_replaces_what_was_there_before(bench, shelf):
    first = bench.dataset.split()
    again = bench.dataset.split()
    assert (again.windows, again.pairs, again.examples) == (first.windows, first.pairs, first.examples)
    assert len(bench.store.examples.of_split("dev")) == 5


def test_a_window_judged_wrong_is_in_no_split(bench, shelf):
    (window,) = bench.store.windows.page(work_id=TEST.id)[1][:1]
    bench.sources.judge(window.window.id, "match", "wrong")
    assert bench.dataset.split().windows["test"] == 4


def test_a_window_judged_right_is_in_its_split_whatever_rule_set_it_aside(bench, shelf):
    window = bench.store.windows.page(work_id=TEST.id)[1][0].window
    bench.store.windows.set_aside({window.id: "too seldom"})
    assert bench.dataset.split().windows["test"] == 4
    bench.sources.judge(window.id, "match", "right")
    assert bench.dataset.split().windows["test"] == 5
    assert window.id in {each.id for each in bench.store.examples.of_split("test")}


def judged(bench):
    bench.sources.judge(bench.store.windows.page(work_id=TEST.id)[1][0].window.id, "match", "wrong")


def removed(bench):
    bench.sources.remove(bench.store.sources.all()[0].source.id)


def described(bench):
    bench.works.describe(TEST.id, title="Another Book Altogether", author="Nobody", translator="", year=None)


@pytest.mark.parametrize("done", [judged, removed, described])
def test_splits_older_than_what_they_part_are_told_where_they_are_used(bench, shelf, run, tmp_path, done):
    bench.dataset.split()
    assert bench.dataset.stale() == ()
    done(bench)
    (told,) = bench.dataset.stale()
    assert told.endswith("python -m relic_core dataset split")
    assert told in run("leakage")[2]
    assert told in run("statistics")[2]
    bench.dataset.split()
    assert bench.dataset.stale() == ()


def test_what_was_put_back_makes_splits_old(bench, shelf):
    source = bench.store.sources.all()[0].source.id
    bench.sources.remove(source)
    bench.dataset.split()
    bench.sources.restore(source)
    assert bench.dataset.stale()


def test_of_works_that_are_missing_a_few_are_named_and_how_to_add_them(bench, shelf):
    (told,) = (note for note in bench.dataset.split().notes if "the catalogue" in note)
    missing = sum(each.work is None for each in bench.catalogue.shelf())
    assert f" {missing} " in told
    assert f", {missing - 6} others." in told
    assert "relic_core catalogue --split" in told
    assert len(told) < 500


def test_before_splitting_nothing_is_old(bench, shelf):
    assert bench.dataset.stale() == ()


def test_what_was_said_of_the_evidence_goes_with_the_example(bench, shelf):
    (window,) = bench.store.windows.page(work_id=TEST.id)[1][:1]
    bench.sources.judge(window.window.id, "evidence", "claim-supporting")
    bench.dataset.split()
    kinds = {each.id: each.kind for each in bench.store.examples.of_split("test")}
    assert kinds.pop(window.window.id) == "claim-supporting"
    assert set(kinds.values()) == {""}


def test_pairs_that_share_words_with_a_benchmark_are_left_out(settings, tmp_path):
    folder = tmp_path / "benchmarks" / "birco_relic"
    folder.mkdir(parents=True)
    passage = {"id": "c1", "text": CRITICS[0].others[0]}
    query = {"id": "q1", "text": "A claim. [masked sentence(s)] Another.", "work": "emma"}
    pool = {"query_id": "q1", "candidates": ["c1"], "relevant": ["c1"]}
    for name, line in (("passages", passage), ("queries", query), ("pools", pool)):
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    bench = build(replace(settings, benchmarks=folder.parent))
    keep(bench, tmp_path / "critics")
    assert bench.dataset.split().left_out["pair"][splits.SHARED_WITH_BENCHMARK] == 1


def test_a_second_edition_is_not_learnt_from(bench, shelf):
    again = replace(make_work([sentences(77, 20)], title="Jane Eyre", author="Brontë, Charlotte"), source="by hand")
    bench.store.works.add(again)
    critic = Critic("A Late Essay", 777, 900_099, [(again, Span(3, 1))])
    segmenter = again.segmenter
    path = shelf / "late.txt"
    path.write_text(critic.text)
    source, windows, pairs = critic.mined(path)
    from relic_core.store.sources import MinedSource

    bench.store.sources.add(
        MinedSource(
            source=source, rules="by hand/1", segmenters={again.id: segmenter}, pairs=tuple(pairs),
            windows=tuple(windows), dropped={},
        )
    )  # fmt: skip
    bench.dataset.split()
    assert bench.store.splits.of("window")[windows[0].id] == ("left out", splits.OTHER_EDITION)
    assert bench.store.splits.of("pair")[pairs[0].id] == ("left out", splits.SHARED_WITH_WORK)
    assert not bench.dataset.leakage().offences


def test_before_splitting_there_is_nothing_to_check(bench, shelf):
    with pytest.raises(NotFound, match="relic_core dataset split"):
        bench.dataset.leakage()


def test_after_splitting_nothing_leaks(bench, parted, run):
    report = bench.dataset.leakage()
    assert report.offences == ()
    assert (report.pairs, report.windows) == (15, 15)
    code, out, _ = run("leakage")
    assert code == 0
    assert re.findall(r"\d+", out)[:3] == ["0", "15", "15"]


def test_a_pair_of_a_measured_work_marked_for_training_is_found_out(bench, parted, run):
    rows = [(name, "training", "") for name in bench.store.splits.of("pair")]
    bench.store.splits.replace("pair", rows)
    report = bench.dataset.leakage()
    quoting = {pair.id for batch in bench.store.pairs.iterate() for pair in batch if "." in pair.quotation[:-1]}
    assert len({each.id for each in report.offences}) == 10
    assert quoting & {each.id for each in report.offences}
    shared = [each for each in report.offences if each.words]
    assert any(f"the work {TEST.id}" in each.where for each in shared)
    assert all(len(each.words.split()) >= 8 for each in shared)
    assert any("(dev)" in place or "(test)" in place for each in report.offences for place in each.where)
    code, out, _ = run("leakage")
    assert code == 1
    assert "shares “" in out
    code, out, _ = run("leakage", "--format", "json")
    assert code == 1
    assert len(json.loads(out)[0]["rows"]) == len(report.offences)


def test_a_window_in_the_wrong_split_is_found_out(bench, parted):
    rows = [
        (name, "training" if split == "test" else split, why)
        for name, (split, why) in bench.store.splits.of("window").items()
    ]
    bench.store.splits.replace("window", rows)
    report = bench.dataset.leakage()
    wrong = [each for each in report.offences if f"its work {TEST.id} is for test" in each.where[0]]
    assert len(wrong) == 5
    assert any(each.words and f"the work {TEST.id}" in each.where for each in report.offences)


def test_dev_and_test_windows_that_share_a_passage_are_found_out(bench, tmp_path):
    both = Critic("Both", 5, 900_050, [(DEV, Span(0, 1)), (TEST, Span(0, 1))])
    keep(bench, tmp_path / "critics", [both])
    bench.dataset.split()
    windows = [stored.window for batch in bench.store.windows.iterate("kept") for stored in batch]
    dev, test = sorted(windows, key=lambda window: window.work_id != DEV.id)
    shifted = replace(test, passage=(dev.passage[0], test.passage[1]), id="0" * 12)
    bench.store.sources.add(_mined_again(bench, [dev, shifted]))
    bench.store.splits.replace("window", [(dev.id, "dev", ""), ("0" * 12, "test", "")])
    report = bench.dataset.leakage()
    assert [(each.id, each.where) for each in report.offences] == [
        (dev.id, (f"window {'0' * 12} (test), on the same passage of {dev.source_id}",))
    ]
    bench.dataset.split()
    assert bench.store.splits.of("window")[dev.id] == ("left out", splits.IN_A_TEST_PASSAGE)
    assert not bench.dataset.leakage().offences


def _mined_again(bench, windows):
    from relic_core.store.sources import MinedSource

    source = bench.store.sources.get(windows[0].source_id)
    segmenters = {work.id: work.segmenter for work in (DEV, TEST, OTHER)}
    return MinedSource(
        source=source, rules="by hand/1", segmenters=segmenters, pairs=None, windows=tuple(windows), dropped={}
    )


def test_the_statistics_are_those_of_the_windows_with_a_split(bench, parted):
    counted = bench.statistics()
    assert counted.examples == {"dev": 5, "test": 5, "training": 5}
    assert (counted.works, counted.sources, counted.windows_per_source) == (3, 5, 3)
    assert counted.lengths == {1: 6, 2: 6, 3: 1, 4: 1, 5: 1}
    assert counted.by_work[DEV.id].quoted == 15
    with pytest.raises(BadRequest, match="'public'"):
        bench.statistics("public")


def test_the_statistics_of_a_benchmark_are_those_of_its_windows(bench, parted, manifest):
    bench.rebuild([parted], offline=True)
    both = bench.statistics("public-relic-all")
    assert both.examples == {"dev": 5, "test": 5}
    assert both.sources == 5
    store = bench.statistics()
    assert both.by_work["emma"] == store.by_work[TEST.id]
    assert bench.statistics("public-relic-test").total == 5


def test_statistics_as_a_command_with_a_chart(bench, parted, run, tmp_path):
    code, out, _ = run("statistics", "--chart", tmp_path / "lengths.html")
    assert code == 0
    assert "78,574" in out
    assert "16.35%" in out
    assert "The Quiet Lock" in out
    assert "plotly" in (tmp_path / "lengths.html").read_text()
    assert run("statistics", "--format", "latex", "--chart", tmp_path / "lengths.json")[0] == 0
    assert json.loads((tmp_path / "lengths.json").read_text())["data"]
    code, _, err = run("statistics", "--chart", tmp_path / "lengths.pdf")
    assert code == 2
    assert "FILE.html" in err


def test_the_manifest_holds_places_and_hashes_and_no_word_of_a_source(manifest, tmp_path):
    assert {name: each.examples for name, each in manifest.sets.items()} == {
        "dev": 5,
        "test": 5,
        "dev-all": 5,
        "dev-short": 5,
        "test-all": 5,
    }
    assert manifest.problems == ()
    listed = read_manifest(manifest.folder)
    assert [source.number for source in listed.sources] == [critic.number for critic in CRITICS]
    assert {work.slug: work.sha256 for work in listed.works} == {"jane_eyre": DEV.sha256, "emma": TEST.sha256}
    written = b"".join(path.read_bytes() for path in manifest.folder.iterdir())
    for critic in CRITICS:
        assert not [word for word in critic.body.split(".") if word.strip() and word.strip().encode() in written]


def test_the_same_store_makes_the_same_manifest(bench, parted, manifest, tmp_path):
    again = bench.make_manifest([parted], tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.folder.iterdir()} == {
        path.name: path.read_bytes() for path in manifest.folder.iterdir()
    }


def test_windows_that_no_benchmark_can_hold_are_counted(bench, tmp_path):
    long = Critic("Long", 6, 900_060, [(DEV, Span(0, 6)), (DEV, Span(20, 1))])
    folder = keep(bench, tmp_path / "critics", [long])
    bench.dataset.split()
    made = bench.make_manifest([folder])
    assert made.folder.is_relative_to(bench.settings.data)  # what ships with the program is not touched unasked
    assert list(made.left_out.values()) == [1]
    assert (made.sets["dev-all"].examples, made.sets["dev"].examples) == (1, 0)
    assert made.without_capped == ("Jane Eyre",)


def test_no_manifest_without_splits_or_without_the_sources(bench, shelf, tmp_path):
    with pytest.raises(NotFound, match="dataset split"):
        bench.make_manifest([shelf], tmp_path / "m")
    bench.dataset.split()
    with pytest.raises(BadRequest, match="--from"):
        bench.make_manifest([], tmp_path / "m")
    (shelf / f"{CRITICS[0].number}.txt").unlink()
    with pytest.raises(NotFound, match=r"1 of 5 .*: Essays, Volume 1"):
        bench.make_manifest([shelf], tmp_path / "m")


def test_the_benchmark_is_rebuilt_from_files(bench, parted, manifest):
    done = bench.rebuild([parted], offline=True)
    assert (done.windows, done.of, done.lacking) == (10, 10, ())
    opened = registry.open_benchmark("public-relic-dev", settings=bench.settings, works=WORKS)
    for window in opened.windows():
        mined = bench.store.windows.get(window.id).window
        assert (window.left, window.right, window.gold) == (mined.left, mined.right, mined.gold)
    run = bench.measuring.measure(opened, "bm25", ContextSize(4, 4), progress=lambda *_: None).run
    assert run.examples == 5


def test_another_header_of_project_gutenberg_changes_nothing(settings, manifest, tmp_path):
    folder = tmp_path / "other headers"
    folder.mkdir()
    for critic in CRITICS:
        head = "The Project Gutenberg eBook\r\n\r\n" + HEAD.format(title=critic.title.upper()) + "\n\n"
        (folder / f"{critic.number}.txt").write_text(head + critic.body + "\n" + FOOT.format(title="x"))
    done = build(settings).rebuild([folder], offline=True)
    assert (done.windows, done.lacking) == (10, ())


def test_a_line_that_was_added_moves_the_windows_and_a_changed_word_is_told(settings, manifest, tmp_path):
    folder = tmp_path / "other edition"
    folder.mkdir()
    for critic in CRITICS:
        body = "Produced by somebody else\n\n" + critic.body
        if critic is CRITICS[2]:
            words = TEST.span_text(critic.quotes[1][1])
            body = body.replace(words, words.replace(" ", " certainly ", 1))
        text = HEAD.format(title=critic.title) + f"[EBook #{critic.number}]\n\n{body}" + FOOT.format(title="x")
        (folder / f"{critic.number}.txt").write_text(text)
    done = build(settings).rebuild([folder], offline=True)
    assert done.windows == 9
    (lacking,) = done.lacking
    assert (lacking.number, lacking.windows, lacking.of) == (CRITICS[2].number, 1, 2)
    with pytest.raises(BadBenchmark, match=r"has 5 windows, and .* lacks 1 of them"):
        registry.open_benchmark("public-relic-test", settings=settings, works=WORKS)
    assert len(registry.open_benchmark("public-relic-dev", settings=settings, works=WORKS).windows()) == 5


def test_what_is_missing_is_fetched_by_number_and_what_was_found_stays(settings, manifest, shelf, tmp_path):
    some = tmp_path / "some"
    some.mkdir()
    for critic in CRITICS[:3]:
        (some / f"{critic.number}.txt").write_text(critic.text)
    books = {critic.number: critic.text.encode() for critic in CRITICS[3:4]}
    with serve(books) as mirror:
        own = replace(settings, gutenberg=mirror.address, gutenberg_pause=0.0)
        done = build(own).rebuild([some])
        assert (done.windows, done.of) == (8, 10)
        assert [(each.number, each.windows) for each in done.lacking] == [(CRITICS[4].number, 2)]
        assert "900005" in done.lacking[0].why
        mirror.books[CRITICS[4].number] = CRITICS[4].text.encode()
        asked = len(mirror.asked)
        again = build(own).rebuild()
        assert (again.windows, again.lacking) == (10, ())
        assert {path for path, _ in mirror.asked[asked:]} == {mirror.path(CRITICS[4].number)}


def test_offline_nothing_is_asked_and_each_source_is_named(run, manifest, tmp_path):
    code, out, err = run("rebuild", "--offline")
    assert code == 1
    assert out.startswith("0 of 10 ")
    assert err.count(": 2 of 2 ") == 5
    assert "Essays, Volume 1 (Project Gutenberg 900001): 2 of 2 " in err


def test_a_damaged_manifest_is_refused(bench, manifest):
    path = manifest.folder / FACTS
    for old, new, said in (
        ('"examples": 5', '"examples": 6', "manifest"),
        (CRITICS[0].number, '"x"', "'number'"),
        ('"format"', '"form"', "'format'"),
        (DEV.sha256, "0" * 64, "manifest"),
    ):
        whole = path.read_text()
        path.write_text(whole.replace(str(old), str(new), 1))
        with pytest.raises(BadBenchmark, match=said):
            bench.rebuild(offline=True)
        path.write_text(whole)


def test_words_that_were_changed_after_rebuilding_are_refused(bench, parted, manifest):
    from relic_core.formats.window_manifest import read_texts, write_texts

    bench.rebuild([parted], offline=True)
    path = public_relic.data_file(bench.settings)
    texts, digest = read_texts(path)
    name, text = next(iter(texts.items()))
    write_texts(path, (texts | {name: replace(text, left=("No.", *text.left[1:]))}).items(), digest)
    name_of = {window.id: window.split for window in read_manifest(manifest.folder).windows}[name]
    with pytest.raises(BadBenchmark, match=f" 1 .*\\({name}\\)"):
        registry.open_benchmark(f"public-relic-{name_of}-all", settings=bench.settings, works=WORKS)
    assert bench.rebuild([parted], offline=True).windows == 10
    registry.open_benchmark(f"public-relic-{name_of}-all", settings=bench.settings, works=WORKS)


def test_another_edition_of_a_work_is_told_by_its_title(bench, parted, manifest):
    bench.rebuild([parted], offline=True)
    works = Shelf({"jane_eyre": replace(DEV, sha256="0" * 64), "emma": TEST})
    with pytest.raises(BadBenchmark, match="Jane Eyre"):
        registry.open_benchmark("public-relic-dev", settings=bench.settings, works=works)


def test_before_rebuilding_the_benchmark_says_how(settings, manifest):
    with pytest.raises(NotFound, match="python -m relic_core dataset rebuild"):
        registry.open_benchmark("public-relic-dev", settings=settings, works=WORKS)


def test_without_a_manifest_the_cards_count_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(public_relic, "MANIFEST", tmp_path / "none")
    card = registry.card("public-relic-test")
    assert (card.examples, card.books, card.checksum) == (None, None, "")
    with pytest.raises(NotFound):
        registry.open_benchmark("public-relic-test", settings=Settings(data=tmp_path), works=WORKS)


def test_its_claims_can_be_read_without_the_works(bench, parted, manifest):
    bench.rebuild([parted], offline=True)
    windows = registry.unplaced("public-relic-dev", settings=bench.settings)
    assert len(windows) == 5
    assert {window.gold for window in windows} == {Span(0, 0)}


def test_what_was_rebuilt_is_not_learnt_from_in_another_store(settings, manifest, shelf, tmp_path):
    other = replace(settings, data=tmp_path / "other")
    bench = build(other)
    bench.rebuild([shelf], offline=True)
    for work in (DEV, TEST, OTHER):
        bench.store.works.add(work)
    copied = Critic("A Copy", 4242, 900_070, [], [read_left(bench)])
    keep(bench, tmp_path / "copies", [copied])
    assert bench.dataset.split().left_out["pair"] == {splits.SHARED_WITH_BENCHMARK: 1}


def test_runs_into_and_out_of_the_quotations_of_relic_are_not_learnt_from(settings, tmp_path):
    left, gold, right = "He was seen to say", "the hedge is low.", "That is all there was"
    quote = [[left], 0, 1, [right]]
    candidates = {f"{length}_sentence": list(range(2 - length)) for length in range(1, 6)}
    book = {"sentences": [gold], "candidates": candidates, "quotes": {"q": quote}}
    path = tmp_path / "benchmarks" / relic.FOLDER / "train.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"Hedges": book}))
    bench = build(replace(settings, benchmarks=tmp_path / "benchmarks"))
    keep(bench, tmp_path / "critics", [Critic("A Copy", 4243, 900_071, [], ["said he seen to say the hedge is low."])])
    assert bench.dataset.split().pairs == {"training": 1}, "seven words are not eight"
    copy = Critic("A Fuller Copy", 4244, 900_072, [], ["he was seen to say the hedge is high."])
    keep(bench, tmp_path / "copies", [copy])
    assert bench.dataset.split().left_out["pair"] == {splits.SHARED_WITH_BENCHMARK: 1}


def test_it_is_told_where_the_public_benchmark_was_not_there_to_be_held_against(bench, shelf, manifest):
    def told():
        return any(public_relic.REBUILD in note for note in bench.dataset.split().notes)

    assert told()
    bench.rebuild([shelf], offline=True)
    assert not told()


def test_a_manifest_names_no_place_on_the_machine_that_made_it(bench, tmp_path):
    source, windows, pairs = replace(CRITICS[0]).mined(tmp_path / "critics" / "900001.txt")
    folder = keep(bench, tmp_path / "critics", [])
    (folder / "900001.txt").write_text(CRITICS[0].text, encoding="utf-8")
    bench.store.sources.add(
        MinedSource(
            source=replace(source, origin=str(folder / "900001.txt")), rules="by hand/1", pairs=tuple(pairs),
            segmenters={work.id: work.segmenter for work in (DEV, TEST, OTHER)}, windows=tuple(windows), dropped={},
        )
    )  # fmt: skip
    bench.dataset.split()
    made = bench.make_manifest([folder], tmp_path / "manifest")
    assert len(read_manifest(made.folder).windows) == 2
    assert str(tmp_path) not in (made.folder / "manifest.json").read_text()


def read_left(bench):
    from relic_core.formats.window_manifest import read_texts

    return next(iter(read_texts(public_relic.data_file(bench.settings))[0].values())).left[0]


def test_the_commands_say_what_they_did(run, bench, shelf, tmp_path, monkeypatch):
    monkeypatch.setattr(public_relic, "MANIFEST", tmp_path / "manifest")
    code, out, err = run("split")
    assert code == 0
    assert "training" in out
    assert splits.IN_A_MEASURED_PASSAGE in out
    assert "relic_core catalogue" in err
    code, out, _ = run("manifest", "--from", shelf, "--to", tmp_path / "manifest")
    assert code == 0
    assert "test-all" in out
    assert f"{tmp_path / 'manifest'}." in out
    code, out, err = run("rebuild", "--from", shelf)
    assert (code, err) == (0, "")
    assert out.startswith("10 of 10 ")
    code, _, err = run("split", "--from", shelf)
    assert code == 2
    assert "dataset split takes no --from" in err


def test_its_help_names_every_action(run):
    code, out, _ = run("--help")
    assert code == 0
    for action in ("split", "leakage", "statistics", "manifest", "rebuild"):
        assert f"  {action} " in out


def test_the_body_of_a_book_stands_between_header_and_footer():
    for critic in CRITICS:
        start, end = body_of(critic.text)
        assert critic.text[start:end] == critic.body
    assert body_of("  No header at all. ") == (2, 19)


@pytest.mark.corpus
def test_nothing_leaks_from_real_books(shared, settings, tmp_path):
    """Two novels, their imitators' benchmark and one book on one of their authors."""
    from relic_core.library.secondary import describe as described
    from relic_core.library.secondary import list_sources, read_source, text_of
    from relic_core.mining.volumes import mine
    from relic_core.store.sources import MinedSource

    bench = build(replace(settings, benchmarks=shared / "benchmarks"))
    for slug in ("the_scarlet_letter", "ethan_frome"):
        bench.works.add(shared / "corpus" / "primary" / f"{slug}.txt")
    archive = shared / "corpus" / "criticism.zip"
    (file,) = [each for each in list_sources(archive) if each.name == "18566.txt"]
    text = text_of(read_source(file), name=file.name)
    source = described(file, text)
    found = mine(text, source, works=None)
    bench.store.sources.add(
        MinedSource(source=source, rules="test", segmenters={}, pairs=found.pairs, dropped=dict(found.dropped))
    )
    done = bench.dataset.split()
    assert done.left_out["pair"][splits.SHARED_WITH_WORK] > 5
    assert done.pairs["training"] > 20
    assert bench.dataset.leakage().offences == ()
    bench.store.splits.replace("pair", [(pair.id, "training", "") for pair in found.pairs])
    assert len(bench.dataset.leakage().offences) >= done.left_out["pair"][splits.SHARED_WITH_WORK]
