"""Works as a page or a command meets them."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from relic_core.config import Settings
from relic_core.domain import SearchRequest, WorkFilter
from relic_core.errors import BadRequest, BadText, EmptyText, NotFound, TextTooLarge
from relic_core.library import sample
from relic_core.store import Store, shelf
from relic_core.text.placing import letters
from relic_core.wiring import build
from tests.approved import says
from tests.inline import InlineExecutor
from tests.making import work_of
from tests.privileges import without_privileges

SAYS = says("jobs")

TEXT = "The river rose.\n\nNobody counted the lanterns. Nobody had been asked to.\n"


@pytest.fixture
def library(settings, tmp_path):
    """A workbench with a folder of two texts and something else."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "the_river_at_night.txt").write_text(TEXT)
    (folder / "PG77.TXT").write_bytes(b"The Project Gutenberg EBook\r\n\r\nTitle: Lanterns\r\n\r\nThey burned.\r\n")
    (folder / "notes.md").write_text("no text")
    return build(replace(settings, library=folder))


def test_a_file_becomes_a_work(bench, tmp_path):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    added = bench.works.add(path, title="The River", author="A. Nobody", translator="B. Nobody", year=1891)
    assert not added.already
    assert (added.work.title, added.work.author, added.work.translator, added.work.year) == (
        "The River",
        "A. Nobody",
        "B. Nobody",
        1891,
    )
    assert added.work.source == str(path)
    assert added.work.sentences == 3
    assert bench.works.load(added.work.id).text == TEXT
    assert added.notice == ""


def test_the_same_text_is_known_again_however_it_comes(bench, tmp_path):
    path = tmp_path / "river.txt"
    path.write_text(TEXT)
    first = bench.works.add(path)
    again = bench.works.add(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(), name="upload.txt")
    assert again.already
    assert again.work == first.work


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda path: None, NotFound, "no file"),
        (lambda path: path.mkdir(), BadRequest, "is a folder"),
        (os.mkfifo, BadRequest, "ordinary file"),
        (lambda path: path.write_bytes(b""), EmptyText, None),
        (lambda path: path.write_bytes(b"word " * 50_000), TextTooLarge, "has 250,000 bytes; at most 100,000"),
        (lambda path: path.symlink_to(path), BadRequest, "read .*Check"),
    ],
    ids=["missing", "folder", "pipe", "empty", "large", "loop"],
)
def test_what_cannot_be_added_is_told(settings, tmp_path, make, error, said):
    bench = build(replace(settings, max_text_bytes=100_000))
    make(tmp_path / "it.txt")
    with pytest.raises(error, match=said):
        bench.works.add(tmp_path / "it.txt")
    assert bench.works.summaries() == ()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ("~nosuchuser/x.txt", NotFound, "in full"),
        ("x" * 300, BadText, "read .*Check"),
        ("a\0b.txt", BadRequest, "read .*Check"),
        ("/dev/null/x.txt", NotFound, "There is no file"),
    ],
    ids=["home of nobody", "long", "null", "below a file"],
)
@pytest.mark.parametrize("with_library", [False, True])
def test_a_name_that_no_file_can_have_is_told(bench, library, with_library, given, error, said):
    works = (library if with_library else bench).works
    with pytest.raises(error, match=said):
        works.add(works.find_file(given))
    with pytest.raises(error, match=said):
        works.add(*works.find_files(given))


def test_a_folder_that_may_not_be_entered_is_told(bench, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir(mode=0)
    with without_privileges():
        with pytest.raises(BadText, match="Permission denied"):
            bench.works.add(*bench.works.find_files(str(folder / "x.txt")))
        with pytest.raises(BadRequest, match="Permission denied"):
            bench.works.texts_in(folder)


def test_a_file_whose_name_is_not_in_utf_8_is_added_and_can_be_listed(settings, tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text(TEXT)
    bench = build(replace(settings, library=tmp_path), executor=InlineExecutor(settings))
    (offered,) = bench.works.available()
    assert offered.title == "Caf\N{REPLACEMENT CHARACTER}"
    added = bench.works.add(path)
    assert added.work.source == f"{tmp_path}/caf\N{REPLACEMENT CHARACTER}.txt"
    assert bench.works.available()[0].work_id == added.work.id


def test_the_library_folder_is_listed_with_what_is_stored_of_it(library):
    before = library.works.available()
    assert [(text.name, text.title, text.work_id) for text in before] == [
        ("PG77.TXT", "Lanterns", ""),
        ("the_river_at_night.txt", "The river at night", ""),
    ]
    added = library.works.add(before[1].path)
    assert [text.work_id for text in library.works.available()] == ["", added.work.id]
    before[1].path.write_text("Another river.\n")
    assert [text.work_id for text in library.works.available()] == ["", ""]


def test_texts_of_every_format_are_offered_and_known_again(settings, tmp_path):
    for name in ("hamlet.xml", "LANTERNS.EPUB", "river.txt", "page.html"):
        (tmp_path / name).write_text("<TEI><text><body><p>It rose.</p></body></text></TEI>")
    (tmp_path / "river.txt").write_text(TEXT)
    bench = build(replace(settings, library=tmp_path), executor=InlineExecutor(settings))
    assert [text.title for text in bench.works.available()] == ["LANTERNS", "Hamlet", "River"]
    added = bench.works.add(bench.works.find_file("hamlet"))
    assert added.work.format == "TEI"
    known = {text.name: text.work_id for text in bench.works.available()}
    assert known["hamlet.xml"] == added.work.id
    assert len(bench.works.find_files(str(tmp_path))) == 3


def test_files_of_the_library_folder_are_found_by_name(library, tmp_path):
    expected = library.settings.library / "the_river_at_night.txt"
    assert library.works.find_file("the_river_at_night") == expected
    assert library.works.find_file("the_river_at_night.txt") == expected
    (tmp_path / "other.txt").write_text(TEXT)
    assert library.works.find_file(str(tmp_path / "other.txt")) == tmp_path / "other.txt"
    assert library.works.find_file("nothing.txt").name == "nothing.txt"


def test_a_library_folder_that_is_not_there_is_told(settings, tmp_path):
    assert build(settings).works.available() == ()
    with pytest.raises(NotFound, match="RELIC_LIBRARY"):
        build(replace(settings, library=tmp_path / "gone")).works.available()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRequest, match="is a file"):
        build(replace(settings, library=tmp_path / "file")).works.available()
    (tmp_path / "bare").mkdir()
    with pytest.raises(NotFound, match=r"no \.txt file"):
        build(settings).works.texts_in(tmp_path / "bare")


def test_loaded_works_stay_in_memory_until_they_change(bench, settings):
    work = work_of()
    bench.store.works.add(work)
    first = bench.works.load(work.id)
    assert bench.works.load(work.id) is first
    elsewhere = Store(settings.store)
    elsewhere.searches.keep(SearchRequest(work_id=work.id, claim_text="claim"))
    assert bench.works.load(work.id) is first, "something else was written"
    elsewhere.works.add(replace(work, segmenter="by-hand/2", sentences=work.sentences[:2]))
    assert len(bench.works.load(work.id).sentences) == 2
    elsewhere.works.remove(work.id)
    with pytest.raises(NotFound):
        bench.works.load(work.id)
    bench.works.restore(work.id)
    assert len(bench.works.load(work.id).sentences) == 2


def test_a_work_added_anew_is_known_by_its_new_title_wherever_it_was_loaded(bench, settings):
    elsewhere = build(settings)
    first = bench.works.add(TEXT.encode(), name="x.txt", title="The River").work
    assert bench.works.load(first.id).title == "The River"
    elsewhere.works.remove(first.id)
    assert elsewhere.works.add(TEXT.encode(), name="x.txt", title="Lanterns").outcome == "restored"
    assert bench.works.load(first.id).title == "Lanterns"
    corrected = elsewhere.works.add(TEXT.encode(), name="x.txt", author="A. Nobody", year=1891)
    assert (corrected.outcome, corrected.work.id, corrected.work.title) == ("corrected", first.id, "Lanterns")
    work = bench.works.load(first.id)
    assert (work.title, work.author, work.year) == ("Lanterns", "A. Nobody", 1891)
    assert elsewhere.works.add(TEXT.encode(), name="another.txt").already, "what a file is called corrects nothing"


def test_readers_ask_the_store_side_by_side(bench, monkeypatch):
    work = work_of()
    bench.store.works.add(work)
    together = threading.Barrier(2, timeout=5)
    load = bench.store.works.load

    def wait(work_id):
        together.wait()  # broken unless two are here at once
        return load(work_id)

    monkeypatch.setattr(bench.store.works, "load", wait)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(bench.works.load, [work.id] * 2)) == [work, work]


LICENSED = """\
*** START OF THE PROJECT GUTENBERG EBOOK {title} ***

{prose}

*** END OF THE PROJECT GUTENBERG EBOOK {title} ***

{licence}
"""


def licensed(title, *, sentences):
    prose = "".join(f"This is sentence {number} of {title}.\n" for number in range(sentences))
    licence = "You may copy it, give it away or re-use it under these terms.\n" * 300
    return LICENSED.format(title=title, prose=prose, licence=licence)


def test_files_joined_end_to_end_are_told(bench, tmp_path, monkeypatch):
    short = bench.works.add(licensed("Short", sentences=20).encode(), name="short.txt")
    assert short.notice == ""  # the licence of a short text is longer than the text
    joined = licensed("One", sentences=900) + licensed("Two", sentences=900)
    added = bench.works.add(joined.encode(), name="joined.txt")
    line = joined[: joined.index("*** END OF")].count("\n") + 1
    assert f"from line {line:,} on (licence)" in added.notice
    assert "split the" in added.notice
    assert bench.works.add(joined.encode(), name="joined.txt").notice == added.notice
    path = tmp_path / "joined.txt"
    path.write_text(joined)
    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", lambda *_: None)
    assert added.notice in bench.jobs.start("add", title="Adding", arguments={"paths": [str(path)]}).note


def test_a_text_of_which_half_is_notes_is_told(bench):
    text = "It rose.\n\n" + "[1] A note on the river.\n\n" * 10
    notice = bench.works.add(text.encode(), name="x.txt").notice
    assert notice.startswith("9")
    assert "% of the file was set aside" in notice


def test_works_stay_in_memory_by_the_weight_of_their_texts_and_three_in_any_case(bench, monkeypatch):
    text = "Text\n\nNumber {}.\n"
    for number in range(6):
        bench.store.works.add(work_of(text.format(number), work_id=f"work-{number}"))
    monkeypatch.setattr(shelf, "KEPT_CHARACTERS", 5 * len(text.format(0)))
    first = bench.works.load("work-0")
    for number in (1, 2, 3, 4):
        bench.works.load(f"work-{number}")
    assert bench.works.load("work-0") is first
    second = bench.works.load("work-1")
    bench.works.load("work-5")  # six are too heavy, and the third was used longest ago
    assert (bench.works.load("work-0"), bench.works.load("work-1")) == (first, second)
    loaded = count_loads(bench, monkeypatch)
    bench.works.load("work-2")
    assert loaded == ["work-2"]
    monkeypatch.setattr(shelf, "KEPT_CHARACTERS", 1)
    for number in (3, 4, 5, 4, 3, 5):
        bench.works.load(f"work-{number}")
    assert loaded.count("work-4") <= 1


def count_loads(bench, monkeypatch):
    loaded, load = [], bench.store.works.load
    monkeypatch.setattr(bench.store.works, "load", lambda work_id: loaded.append(work_id) or load(work_id))
    return loaded


def test_imprints_are_those_of_the_works_and_looked_up_again_only_when_something_was_written(bench, monkeypatch):
    work = work_of()
    bench.store.works.add(work)
    asked, work_versions = [], bench.store.texts.work_versions
    monkeypatch.setattr(bench.store.texts, "work_versions", lambda: asked.append(1) or work_versions())
    assert bench.works.work_versions() == {work.id: work.version}
    assert bench.works.work_versions()[work.id].candidates(2) == work.candidates(2)
    assert len(asked) == 1
    other = work_of("Text\n\nAnother.\n", work_id="another-1")
    bench.store.works.add(other)
    assert bench.works.work_versions() == {work.id: work.version, other.id: other.version}
    bench.works.remove(work.id)
    assert set(bench.works.work_versions()) == {other.id}


def test_what_is_written_of_no_work_does_not_have_all_sentences_read_again(bench, monkeypatch):
    work = work_of()
    bench.store.works.add(work)
    asked, work_versions = [], bench.store.texts.work_versions
    monkeypatch.setattr(bench.store.texts, "work_versions", lambda: asked.append(1) or work_versions())
    known = bench.works.work_versions()
    stamp = bench.store.stamp()
    bench.history.keep(SearchRequest(work_id="", claim_text="Nobody paid"))
    assert bench.store.stamp() != stamp
    assert bench.works.work_versions() is known
    assert len(asked) == 1


def test_imprints_follow_a_title_corrected_a_text_cut_again_and_a_work_removed_and_restored(bench):
    work = work_of()
    bench.store.works.add(work)
    bench.works.work_versions()
    bench.store.works.describe(work.id, title="Another", author="", translator="", year=None)
    assert bench.works.work_versions()[work.id].title == "Another"
    bench.store.works.add(replace(work, segmenter="by hand/2", sentences=work.sentences[:1]))
    assert bench.works.work_versions()[work.id] == bench.works.load(work.id).version != work.version
    bench.works.remove(work.id)
    assert bench.works.work_versions() == {}
    bench.store.works.add(work)
    assert bench.works.work_versions() == {work.id: bench.works.load(work.id).version}


def test_a_narrowing_admits_works_by_author_year_and_id(bench):
    years = {"Emma": 1815, "Maud": 1855, "Undated": None}
    for title, year in years.items():
        made = work_of(f"Text\n\n{title}.\n", work_id=f"{title.lower()}-1", title=title)
        bench.store.works.add(replace(made, author=f"By {title}", year=year))

    def admitted(**work_filter):
        return [summary.title for summary in bench.works.scope(WorkFilter(**work_filter))]

    assert admitted() == ["Emma", "Maud", "Undated"]
    assert admitted(authors=("By Maud", "By Undated")) == ["Maud", "Undated"]
    assert admitted(first_year=1800, last_year=1815) == ["Emma"]
    assert admitted(works=("undated-1",)) == ["Undated"]
    assert admitted(works=("undated-1",), last_year=1900) == []


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Works that the tests only look up."""
    bench = build(Settings(data=tmp_path_factory.mktemp("named")))
    for number, title in enumerate(("Emma", "Emma and I", "Mansfield Park", "The Mill on the Floss")):
        work_id = f"{title.lower().replace(' ', '-')}-{number}aaaaaaa"
        bench.store.works.add(work_of(f"Text\n\n{title}.\n", work_id=work_id, title=title))
    return bench.works


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("emma-0aaaaaaa", "Emma"),
        ("emma", "Emma"),
        (" EMMA ", "Emma"),
        ("emma_and", "Emma and I"),
        ("mansfield", "Mansfield Park"),
        ("Mill on the Floss", "The Mill on the Floss"),
        ("the-mill-on-the-floss-3", "The Mill on the Floss"),
    ],
)
def test_a_work_is_found_by_what_it_is_called(named, said, title):
    assert named.resolve(said).title == title


def test_a_name_that_fits_several_works_or_none_is_told(named, settings, tmp_path):
    with pytest.raises(BadRequest, match=r"several works: emma-0aaaaaaa \(Emma\), emma-and-i-1aaaaaaa"):
        named.resolve("emm")
    with pytest.raises(NotFound, match="Did you mean Mansfield Park"):
        named.resolve("Mansfeild Prak")
    with pytest.raises(NotFound, match="There is no work ''"):
        named.resolve("")
    with pytest.raises(NotFound, match="none yet"):
        build(replace(settings, data=tmp_path / "fresh")).works.resolve("Emma")


def test_adding_can_be_a_job_and_one_bad_file_does_not_stop_the_rest(bench, tmp_path, monkeypatch):
    prepared = []
    monkeypatch.setattr("relic_core.services.indexing.Indexes.start", lambda _, work_id: prepared.append(work_id))
    for name in ("the_river.txt", "the_sea.txt"):
        (tmp_path / name).write_text(f"About {name}.\n")
    paths = [str(tmp_path / name) for name in ("the_river.txt", "gone.txt", "the_sea.txt")]
    job = bench.jobs.start("add", title="Adding", arguments={"paths": paths})
    assert job.state == "done"
    assert job.note.startswith(f"{SAYS['two added']} gone.txt: There is no")
    assert prepared == [summary.id for summary in bench.works.summaries()]
    job = bench.jobs.start("add", title="Adding", arguments={"paths": paths[:1]})
    assert job.note == SAYS["river again"]
    job = bench.jobs.start("add", title="Adding", arguments={"paths": paths[1:2]})
    assert job.state == "failed"
    assert "There is no file" in job.note


def test_the_sample_is_there_with_its_examples_and_is_written_once(bench):
    summary = bench.ensure_sample()
    assert (summary.title, summary.source) == (sample.TITLE, sample.SOURCE)
    work = bench.works.load(summary.id)
    examples = bench.store.examples.of_split("sample")
    assert {example.work_id for example in examples} == {work.id}
    excerpts = {excerpt.id: excerpt for excerpt in sample.read_excerpts()}
    assert len(examples) == len(excerpts)
    for example in examples:
        assert letters(work.span_text(example.gold)) == letters(excerpts[example.id].quotation)
    stamp = bench.store.stamp()
    assert bench.ensure_sample() == summary
    assert bench.store.stamp() == stamp


def test_a_removed_sample_stays_away_until_it_is_added_again(bench):
    summary = bench.ensure_sample()
    bench.works.remove(summary.id)
    assert bench.ensure_sample() is None
    assert bench.works.summaries() == ()
    assert bench.works.add(sample.NOVEL).outcome == "restored"
    assert bench.ensure_sample().id == summary.id


def excerpt(quotation, **changed):
    return sample.Excerpt(
        id="e1", left=("Before.", "Still before."), right=("After.",), **{"quotation": quotation} | changed
    )


def test_a_quotation_is_placed_by_its_letters_and_digits():
    (example,) = sample.align(
        work_of(),
        [excerpt('He counted their lanterns -- instead; "Three,"\nhe said: nobody answered!', kind="irony")],
    )
    assert (example.gold.start, example.gold.length) == (1, 2)
    assert (example.claim.left, example.claim.right, example.claim.masked) == ("Before. Still before.", "After.", True)
    assert (example.id, example.kind, example.split) == ("e1", "irony", "sample")


@pytest.mark.parametrize(
    ("quotation", "said"),
    [
        ("The ferryman counted everybody.", "is not in The Ferry"),
        ("…", "is not in The Ferry"),
        ("He counted their lanterns", "begin and end"),
        ("counted their lanterns instead.", "begin and end"),
    ],
)
def test_a_quotation_that_is_no_span_is_refused_by_its_id(quotation, said):
    with pytest.raises(BadText, match=f"'e1'.*{said}"):
        sample.align(work_of(), [excerpt(quotation)])


def test_a_quotation_that_stands_twice_or_is_too_long_is_refused():
    work = work_of("Text\n\n" + "It rose.\nAgain?\n***!\nIt rose.\nIt fell.\nA.\nB.\n")
    with pytest.raises(BadText, match="2 times"):
        sample.align(work, [excerpt("It rose.")])
    (example,) = sample.align(work, [excerpt("Again? It rose.")])
    assert (example.gold.start, example.gold.length) == (1, 3), "a sentence without letters between others"
    with pytest.raises(BadText, match="6 sentences; 5 are allowed"):
        sample.align(work, [excerpt("Again? It rose. It fell. A. B.")])
