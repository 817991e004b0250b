"""Whatever a work holds, the store gives back the same."""

import tempfile
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relic_core.domain import Chapter, Claim, Example, LeftOut, Paragraph, SearchRequest, Sentence, Span, Work
from relic_core.store import Store

words = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.integers(0, 2**31 - 1)


def rows(make, **fields):
    return st.lists(st.fixed_dictionaries(fields), max_size=8).map(
        lambda found: tuple(make(index, row) for index, row in enumerate(found))
    )


@st.composite
def works(draw):
    text = draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200))
    place = st.integers(0, len(text))
    spans = {"start": place, "end": place}
    unique = uuid.uuid4().hex  # drawn anew even where Hypothesis repeats itself: a text is stored once
    return Work(
        id=draw(words) + unique,
        title=draw(words),
        author=draw(words),
        text=text,
        sha256=unique,
        segmenter=draw(words),
        chapters=draw(rows(lambda i, row: Chapter(i, **row), **spans, number=words, title=words, part=words)),
        paragraphs=draw(
            rows(
                lambda i, row: Paragraph(i, **row),
                **spans,
                chapter=numbers,
                number=numbers,
                kind=st.sampled_from(["prose", "verse"]),
            )
        ),
        sentences=draw(rows(lambda i, row: Sentence(i, **row), **spans, chapter=numbers, paragraph=numbers)),
        left_out=draw(rows(lambda _, row: LeftOut(**row), **spans, kind=words)),
        year=draw(st.none() | st.integers(-800, 2100)),
        translator=draw(words),
        source=draw(words),
        cuts=tuple(draw(st.lists(st.tuples(place, place), max_size=4))),
    )


@pytest.fixture(scope="module")
def store():
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder) / "relic.duckdb")


@settings(max_examples=25)
@given(work=works())
def test_a_work_loaded_equals_the_one_added(store, work):
    store.works.add(work)
    assert store.works.load(work.id) == work
    assert store.texts.work_versions()[work.id].reading == work.reading


@settings(max_examples=25)
@given(
    rows(
        lambda i, row: Example(str(i), row["work"], Claim(row["left"], row["right"], row["masked"]), row["gold"]),
        work=words,
        left=words,
        right=words,
        masked=st.booleans(),
        gold=st.builds(Span, numbers, st.integers(1, 5)),
    )
)
def test_examples_come_back_in_order(store, examples):
    store.examples.replace("", examples)
    assert store.examples.of_split("") == examples


@settings(max_examples=25)
@given(words, words, st.lists(words, min_size=1, max_size=3).map(tuple), st.integers(1, 5), st.integers(1, 50))
def test_a_search_is_found_by_its_id(store, work_id, claim, retrievers, length, results):
    request = SearchRequest(work_id=work_id, claim_text=claim, length=length, retrievers=retrievers, results=results)
    made = store.searches.keep(request)
    assert store.searches.get(made.id) == made
    assert made.request == request
