"""Whatever notes hold, the file gives back the same, and so does the store."""

import tempfile
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relic_core.domain import ORIGINS, VERDICTS, Collection, KeptPassage, Note, note_id
from relic_core.formats.notebook import Section, read_notebook, write_notebook
from relic_core.store import Store

words = st.text(st.characters(codec="utf-8"), max_size=30)
said = words.filter(str.strip)
names = said.map(lambda text: " ".join(text.split()))
times = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - given its zone beside
small = st.integers(1, 9)


@st.composite
def passages(draw):
    start = draw(st.integers(0, 10**6))
    return KeptPassage(
        work_id=draw(said), sha256=draw(said), title=draw(said), author=draw(words),
        at=f"{draw(small)}.{draw(st.sampled_from(['', 'n']))}{draw(small)}.{draw(small)}", length=draw(small),
        start=start, end=start + draw(small), place=draw(words), chapter=draw(words), paragraph=draw(small),
        line=draw(st.none() | small), quotation=draw(said), origin=draw(st.sampled_from(ORIGINS)),
        claim_text=draw(words), search_id=draw(words), retriever=draw(words), rank=draw(st.integers(0, 9)),
        made_with=draw(words),
    )  # fmt: skip


@st.composite
def sections(draw):
    passage_lists = draw(st.lists(st.lists(passages(), max_size=2), max_size=2))
    made, seen = [], set()
    for number, found in enumerate(passage_lists):
        collection = Collection(id=f"c{number}", name=draw(names), created=draw(times))
        notes = []
        for kept in found:
            name = note_id("", kept)
            if name not in seen:
                seen.add(name)
                tags = draw(st.lists(names, max_size=3, unique_by=str.casefold))
                notes.append(
                    Note(
                        id=name,
                        collection_id=collection.id,
                        kept=kept,
                        words=draw(words),
                        tags=tuple(tags),
                        verdict=draw(st.none() | st.sampled_from(VERDICTS)),
                        position=float(len(notes) + 1),
                        created=draw(times),
                        updated=draw(times),
                    )
                )
        made.append(Section(collection, tuple(notes)))
    return tuple(made)


@settings(max_examples=25)
@given(sections())
def test_a_file_read_is_what_was_written(made):
    data = write_notebook(made)
    assert read_notebook(data, "here") == made
    assert write_notebook(read_notebook(data, "here")) == data


@pytest.fixture(scope="module")
def store():
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder) / "relic.duckdb")


@settings(max_examples=8)
@given(made=sections())
def test_a_notebook_stored_is_what_was_given(store, made):
    whose = uuid.uuid4().hex  # drawn anew even where Hypothesis repeats itself
    mine = [
        Section(
            replace(collection, id=f"{whose}{collection.id}", person=whose),
            tuple(
                replace(note, id=note_id(whose, note.kept), collection_id=f"{whose}{collection.id}", person=whose)
                for note in notes
            ),
        )
        for collection, notes in made
    ]
    store.notes.take_in([section.collection for section in mine], [note for section in mine for note in section.notes])
    for collection, notes in mine:
        assert store.collections.get(collection.id, whose) == collection
        assert store.notes.all(whose, collection.id) == notes


tag_sets = st.lists(st.sampled_from(["sea", "light", "night", "dusk", "quay", "rope"]), unique=True).map(tuple)
edits = st.tuples(
    st.integers(0, 1),
    st.booleans(),
    st.fixed_dictionaries(
        {}, optional={"words": words, "tags": tag_sets, "verdict": st.none() | st.sampled_from(VERDICTS)}
    ),
)


@settings(max_examples=25, deadline=None)
@given(kept=passages(), written=st.lists(edits, max_size=8))
def test_of_two_visits_that_write_on_one_note_nothing_is_lost(store, kept, written):
    """Each visit goes on from what it saw last: what it wrote itself, or what it read when it looked again."""
    whose, at = uuid.uuid4().hex, datetime(2026, 5, 4, tzinfo=UTC)
    store.collections.add(Collection(id=f"{whose}c", name="Light", created=at, person=whose))
    bare = Note(id=note_id(whose, kept), collection_id=f"{whose}c", kept=kept, created=at, updated=at, person=whose)
    seen = [store.notes.keep(bare)[0]] * 2
    wanted = set()  # tags that one of them added, and nobody removed since
    for visit, looks_again, said in written:
        if looks_again:
            seen[visit] = store.notes.get(bare.id, whose)
        before, now = store.notes.change(bare.id, whose, seen[visit], **said)
        if "tags" in said:
            wanted |= set(said["tags"]) - set(seen[visit].tags)
            wanted -= set(seen[visit].tags) - set(said["tags"])
        for name in ("words", "verdict"):
            assert getattr(now, name) == said.get(name, getattr(before, name)), "who writes last, counts"
        assert set(now.tags) == wanted
        seen[visit] = now
    versions = store.notes.versions(bare.id, whose)
    assert {said["words"] for _, _, said in written if "words" in said} <= {each.words for each in versions}
    assert {said["verdict"] for _, _, said in written if "verdict" in said} <= {each.verdict for each in versions}
    assert replace(versions[0], updated=at) == replace(store.notes.get(bare.id, whose), updated=at)
