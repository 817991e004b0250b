"""Files from outside and from our own disk: what is wrong in them is refused in words, whatever it is."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from relic_core.domain.notes import KeptPassage
from relic_core.errors import BadBackup, BadBenchmark, BadRequest, RelicError, StoreFull, StoreReadOnly
from relic_core.formats.files import checked, record_of
from relic_core.store import locks
from relic_core.training.folders import TrainingFolder
from relic_ui import uploads
from tests.privileges import without_privileges
from tools.reliability import mutating
from tools.reliability.mutants import grown
from tools.reliability.readers import every
from tools.reliability.rows import Trial


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    from relic_core.config import Settings
    from relic_core.wiring import build

    folder = tmp_path_factory.mktemp("library")
    app = build(Settings(data=folder / "data", indexes=folder / "indexes"))
    app.ensure_sample()
    return app


@pytest.fixture(scope="module")
def readers(library, tmp_path_factory):
    return {each.name: each for each in every(library, tmp_path_factory.mktemp("readers"))}


def given(readers, name, **said):
    """Give a reader its whole file with some values changed, its digests made anew."""
    reader = readers[name]
    whole = json.loads(reader.whole)
    for path, value in said.items():
        holder, (*way, last) = whole, path.split("__")
        for key in way:
            holder = holder[int(key) if key.isdigit() else key]
        holder[int(last) if last.isdigit() else last] = value
    with suppress(RelicError, TypeError, ValueError, AttributeError):  # then no digest can be made
        if reader.sign:
            reader.sign(whole)
    return reader.read(json.dumps(whole).encode())


def test_no_reader_lets_anything_but_words_out_of_200_wrong_files(readers):
    came = mutating.walk(tuple(readers.values()), 200)
    assert set(came) == {"read", "refused"}
    assert min(came.values()) > 20


def test_what_a_reader_lets_out_is_counted_by_its_name(readers):
    def fails(_):
        raise KeyError("x")

    reader = replace(readers["a search"], read=fails)
    assert mutating.walk([reader], 1) == {"a search: KeyError: 'x'": 1}


@pytest.mark.parametrize("name", ["a notebook", "a study", "a search", "rankings of BIRCO", "a run"])
def test_a_large_file_does_not_cost_more_than_its_reading(readers, name):
    import time

    reader = readers[name]
    for _, data in grown(reader.whole, 1_000_000, reader.sign, of_json=reader.of_json):
        began = time.process_time()
        assert mutating._given(reader, data) in {"read", "refused"}
        assert time.process_time() - began < 4  # a hundredth of it for a message about each value took longer


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a notebook", {"collections__0__created": "0001-01-01T00:00:00+14:00"}),
        ("a notebook", {"collections__0__notes__0__updated": "9999-12-31T23:59:59-14:00"}),
        ("a notebook", {"collections__0__notes__0__kept__start": 2**31}),
        ("a study", {"study__name": None}),
        ("a study", {"study__earlier": None}),
        ("a study", {"study__version": 2**31}),
        ("a study", {"study__works__0__fingerprint": {}}),
        ("a study", {"study__making__lengths": ["1"]}),
        ("a study", {"study__making__chooser_configuration": {"k1": 0.9}}),
        ("a study", {"study__making__windows": "many"}),
        ("a study", {"study__created": "9999-12-31T23:59:59-14:00"}),
        ("a run", {"index_bytes": 2**63}),
        ("a run", {"created": "0001-01-01T00:00:00+14:00"}),
        ("a run", {"outcomes__0__7": [2**31 - 1, 1]}),
    ],
)
def test_a_value_that_the_store_has_no_room_for_is_refused(readers, name, said):
    with pytest.raises(BadBenchmark):
        given(readers, name, **said)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("the head of a file of weights", b"[" * 10_000),
        ("the head of a file of weights", b"[null]"),
        ("the head of a file of weights", b'{"a": {"shape": ["b"]}}'),
        ("a model's modules.json", b'[{"type": "a.Transformer", "path": "\\u0000"}]'),
        ("what a back-up began", b"a/" + b"b" * 5_000 + b"/c"),
        ("a catalogue", b"slug,title\n\xff"),
        ("WordNet's index.noun", b"lamp n 1 1 @ 1 0 light\n"),
    ],
)
def test_what_other_exceptions_came_of_is_read_or_refused(readers, name, data):
    assert mutating._given(readers[name], data) in {"read", "refused"}


def test_a_whole_file_of_each_kind_is_read(readers):
    unread = []
    for reader in readers.values():
        try:
            reader.read(reader.whole)
        except RelicError:
            unread.append(reader.name)
    assert set(unread) <= {"the card of a reranker"}  # whose weights are not beside it


@pytest.mark.parametrize("said", ["1e400", "NaN", "2", '"1"', "[]", "null"])
def test_the_format_of_a_back_up_is_a_number_that_is_known(readers, said):
    reader = readers["the manifest of a back-up"]
    with pytest.raises(BadBackup):
        reader.read(reader.whole.replace(b'"format": 1', f'"format": {said}'.encode()))


def test_half_a_character_in_a_comment_does_not_lose_the_answer(library):
    study = library.studies.study(library.studies.all()[0].id)
    who = library.answering.join(study.id, "Grace")
    library.answering.answer(study.id, who.id, study.items[0].id, 1, seconds=2.0, comment="Sure\ud83d.")
    (kept,) = library.store.study_answers.latest(study.id)[-1:]
    assert (kept.annotator_id, kept.choice) == (who.id, 1)
    assert "Sure" in kept.comment


def test_a_notebook_is_not_searched_for_a_book(library):
    with pytest.raises(BadRequest, match="200"):
        library.notebook.notes(words=" ".join(map(str, range(200_000))))
    assert library.notebook.notes(words="lamp " * 200_000) == library.notebook.notes(words="lamp")


def test_a_lock_in_a_folder_that_cannot_be_written_is_told_in_words(tmp_path):
    folder = tmp_path / "indexes"
    folder.mkdir(mode=0o555)
    tmp_path.chmod(0o755)
    with without_privileges(), pytest.raises(StoreReadOnly), locks.held(folder / "quoted-works.lock"):
        pass


def test_studies_are_listed_where_the_sample_finds_no_room(library, monkeypatch):
    def full(*_):
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(library.studies._rows, "is_known", lambda _: False)
    monkeypatch.setattr(library.studies._rows, "add", full)
    assert library.studies.all()


def test_who_was_struck_off_uploads_nothing_more(monkeypatch):
    monkeypatch.setattr(uploads, "_allowed", {"ada": 9})
    why = [""]
    monkeypatch.setattr(uploads, "_asks", {"ada": lambda: why[0]})
    came = []

    async def app(_scope, _receive, _send):
        came.append("uploaded")

    async def send(message):
        came.append(message.get("status"))

    monkeypatch.setattr(uploads.Limits, "_has_room", lambda *_: True)
    headers = [(b"content-length", b"1")]
    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/ada/1", "headers": headers}
    limits = uploads.Limits(app)
    with ThreadPoolExecutor(1) as thread:  # a loop of its own: the tests of pages have one already
        thread.submit(lambda: asyncio.run(limits(scope, None, send))).result()
        why[0] = "not on the list"
        thread.submit(lambda: asyncio.run(limits(scope, None, send))).result()
    assert came[:2] == ["uploaded", 403]


def test_an_old_training_is_opened(tmp_path):
    folder = TrainingFolder.create(tmp_path, name="A", recipe={"name": "x"}, asked={"use": "pairs"})
    folder.append("step", 3, loss=0.5)
    assert folder.training.name == "A"
    assert [(each.event, each.step, dict(each.facts)) for each in folder.events()] == [("step", 3, {"loss": 0.5})]


@dataclass(frozen=True)
class Record:
    name: str
    numbers: tuple[int, ...] = ()


def test_a_record_is_read_strictly():
    assert checked(Record, {"name": "a", "numbers": [1]}, "It") == Record("a", (1,))
    for wrong in ({}, {"name": 1}, {"name": "a", "more": 1}, {"name": "a", "numbers": [1.0]}, {"name": "\ud83d"}, []):
        with pytest.raises(BadBenchmark, match="It"):
            checked(Record, wrong, "It")
    with pytest.raises(ValueError, match="at"):
        record_of(KeptPassage, '{"work_id": "w", "sha256": "s", "title": "t", "author": ""}')


def test_the_drill_says_what_it_found(library, tmp_path, monkeypatch):
    monkeypatch.setattr(mutating, "_MUTATIONS", 20)
    monkeypatch.setattr(mutating, "_LARGE", 10_000)
    trial = Trial(
        app=library, folder=tmp_path, work_id="", claims=(), searchers=1, browsers=1, rounds=1, say=lambda _: None
    )
    row = mutating.mutate(trial)
    assert row.held, row.happened
    assert row.counts["wrong"] == 20
