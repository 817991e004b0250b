"""A store is brought up step by step, each step whole or not at all."""

import duckdb
import pytest

from relic_core.errors import StoreError
from relic_core.store.connection import Database
from relic_core.store.locks import LockTimeout
from relic_core.store.migrations import Migration, read_migrations, version
from relic_core.text.reading import read_work
from tests.making import work_of

SHIPPED = read_migrations()


def applied(path):
    with duckdb.connect(path) as connection:
        return connection.execute("SELECT number, name FROM migrations ORDER BY number").fetchall()


def test_a_new_store_has_every_step_once(tmp_path):
    path = tmp_path / "relic.duckdb"
    for _ in range(2):
        with Database(path).reading(LockTimeout(1)):
            pass
    assert applied(path) == [(step.number, step.name) for step in SHIPPED]


def test_a_later_version_adds_its_step_and_keeps_what_is_there(tmp_path):
    path = tmp_path / "relic.duckdb"
    from relic_core.store.works import WorkRows

    work = work_of()
    WorkRows(Database(path, SHIPPED), LockTimeout(1)).add(work)
    later = (*SHIPPED, Migration(len(SHIPPED) + 1, "jottings", "CREATE TABLE jottings (words VARCHAR);"))
    with Database(path, later).writing(LockTimeout(1)) as cursor:
        cursor.execute("INSERT INTO jottings VALUES ('kept')")
    assert applied(path)[-1] == (len(SHIPPED) + 1, "jottings")
    assert WorkRows(Database(path, later), LockTimeout(1)).load(work.id) == work


def test_a_work_from_before_the_second_step_counts_as_written_when_it_was_added(tmp_path):
    from relic_core.store.works import WorkRows

    path = tmp_path / "relic.duckdb"
    with Database(path, SHIPPED[:1]).writing(LockTimeout(1)) as cursor:
        cursor.execute(
            "INSERT INTO works VALUES ('old', 'Old', '', '', '', NULL, 'x', 's/1', 0, 0, 0, '2026-01-02', 'It.')"
        )
    works = WorkRows(Database(path, SHIPPED), LockTimeout(1))
    (old,) = works.summaries()
    assert works.version("old").written == old.added.replace(tzinfo=None)
    corrected = works.describe("old", title="New", author="", translator="", year=None)
    assert corrected.added == old.added
    assert works.version("old").written > old.added.replace(tzinfo=None)


def test_a_work_from_before_the_nineteenth_step_is_read_as_before_until_it_is_looked_through(tmp_path):
    from relic_core.store.works import TextRows, WorkRows

    path = tmp_path / "relic.duckdb"
    read = {name: read_work(text.encode(), name=f"{name}.txt") for name, text in OLD.items()}
    with Database(path, SHIPPED[:18]).writing(LockTimeout(1)) as cursor:
        for name, work in read.items():
            cursor.execute(
                "INSERT INTO works (id, title, author, translator, source, sha256, segmenter, chapters, sentences, "
                "words, added, format) VALUES (?, ?, '', '', ?, ?, ?, 1, 1, 1, '2026-01-02', 'plain text')",
                [work.id, work.title, name, work.sha256, work.segmenter],
            )
            cursor.execute("INSERT INTO texts VALUES (?, 0, ?)", [work.id, work.text])
            for sentence in work.sentences:
                cursor.execute(
                    "INSERT INTO sentences (work_id, position, start_offset, end_offset, chapter, paragraph) "
                    "VALUES (?, ?, ?, ?, 0, 0)",
                    [work.id, sentence.index, sentence.start, sentence.end],
                )
    works, texts = (kind(Database(path, SHIPPED), LockTimeout(1)) for kind in (WorkRows, TextRows))
    before = texts.versions()
    assert {each.reading for each in texts.work_versions().values()} == {work.fingerprint for work in read.values()}
    assert set(works.not_looked_through()) == {work.id for work in read.values()}
    for name, work in read.items():
        assert works.load(work.id).cuts == ()
        works.keep_cuts(work.id, work.cuts)
        assert works.load(work.id).cuts == work.cuts, name
        assert texts.work_versions()[work.id].reading == work.reading, name
    assert not works.not_looked_through()
    assert read["broken"].cuts
    changed = {work_id for work_id, version in texts.versions().items() if version != before[work_id]}
    assert changed == {read["broken"].id}, "the others need not be read anew"


OLD = {"broken": "Nobody on the far bank rang the gar\u00adden bell.", "whole": "Nobody rang the bell."}
TEXTS = {
    "none": "",
    "one": "A",
    "piece": "b" * 8192,
    "piece-and-one": "b" * 8192 + "c",
    "two-pieces": "xy" * 8192,
    "wide": "𝕬é\u0301" * 5000 + "end",
    "line ends": "z" * 8191 + "\r\n" + "z" * 8191 + "\n",
    "nothing": "before\x00after " * 2000,
}


def test_texts_from_before_they_stood_in_pieces_are_kept_to_the_letter(tmp_path):
    from relic_core.store.works import WorkRows

    path = tmp_path / "relic.duckdb"
    with Database(path, SHIPPED[:3]).writing(LockTimeout(1)) as cursor:
        for name, text in TEXTS.items():
            cursor.execute(
                "INSERT INTO works (id, title, author, translator, source, sha256, segmenter, chapters, sentences, "
                "words, added, text, format) "
                "VALUES (?, ?, '', '', '', ?, 's/1', 0, 0, 0, '2026-01-02', ?, 'plain text')",
                [name, name, name, text],
            )
        cursor.execute("INSERT INTO tombstones VALUES ('work', 'wide', '2026-01-03')")
    works = WorkRows(Database(path, SHIPPED), LockTimeout(1))
    assert {work.id for work in works.summaries()} == TEXTS.keys() - {"wide"}
    works.restore("wide")
    assert {name: works.load(name).text for name in TEXTS} == TEXTS


def test_a_step_that_fails_leaves_the_store_at_the_step_before(tmp_path):
    path = tmp_path / "relic.duckdb"
    broken = Migration(
        len(SHIPPED) + 1, "broken", "CREATE TABLE half (a INTEGER); DROP TABLE examples; SELECT * FROM no_such_table;"
    )
    with pytest.raises(StoreError, match="no_such_table"), Database(path, (*SHIPPED, broken)).reading(LockTimeout(1)):
        pass
    assert not path.exists(), "a new store appears whole or not at all"
    with Database(path, SHIPPED).reading(LockTimeout(1)):
        pass
    with pytest.raises(StoreError, match="no_such_table"), Database(path, (*SHIPPED, broken)).reading(LockTimeout(1)):
        pass
    with duckdb.connect(path) as connection:
        assert version(connection) == len(SHIPPED)
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert "examples" in tables
    assert "half" not in tables


@pytest.mark.parametrize("names", [["0002_second.sql"], ["0001_first.sql", "0003_third.sql"], ["first.sql"]])
def test_steps_without_their_order_are_refused(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(StoreError, match="out of order"):
        read_migrations(tmp_path)


def test_no_table_has_a_foreign_key():
    assert not [step.name for step in SHIPPED if "REFERENCES" in step.sql.upper()]
