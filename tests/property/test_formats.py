"""What is written is read again, whatever the text; and any file, however damaged, is read or refused in words."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from relic_core.domain import Book, ContextSize, Outcome, Run
from relic_core.errors import BadBenchmark
from relic_core.formats.birco import MASKED
from relic_core.formats.relic import (
    DEPTH,
    LENGTHS,
    Quote,
    RelicBook,
    read_relic,
    write_relic,
    write_submission,
)
from relic_core.formats.run_files import read_run, write_run

texts = st.text(max_size=12)  # any Unicode but lone surrogates
contexts = st.lists(texts, max_size=4).map(tuple)
words = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=6)


def _through(write, read, *given):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "file", *given)
        return read(Path(folder) / "file")


@st.composite
def relic_books(draw):
    titles = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    ids = iter(draw(st.lists(texts, min_size=9, max_size=9, unique=True)))
    books = []
    for title in titles:
        sentences = tuple(draw(st.lists(texts, max_size=9)))
        candidates = {}
        for length in LENGTHS:
            starts = range(max(0, len(sentences) - length + 1))
            chosen = draw(st.lists(st.sampled_from(starts), unique=True)) if starts else []
            candidates[length] = tuple(chosen)
        quotes = []
        for _ in range(draw(st.integers(0, 3))):
            length = draw(st.sampled_from(LENGTHS))
            start = draw(st.sampled_from([None, *candidates[length]]))
            quotes.append(Quote(next(ids), draw(contexts), start, length, draw(contexts)))
        books.append(RelicBook(title, sentences, candidates, tuple(quotes)))
    return tuple(books)


@given(relic_books())
def test_books_of_relic_are_read_as_they_were_written(books):
    assert _through(write_relic, read_relic, books) == books


@given(relic_books(), st.randoms(use_true_random=False))
def test_a_submission_is_read_as_it_was_written(books, random):
    rankings = {}
    for book in books:
        for quote in book.quotes:
            starts = list(book.candidates[quote.length])
            random.shuffle(starts)
            rankings[quote.id] = starts[:DEPTH]
    read = _through(write_submission, lambda path: json.loads(path.read_text("utf-8")), rankings)
    assert read == rankings


@given(relic_books(), st.data())
def test_a_file_of_relic_cut_anywhere_is_refused(books, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "val.json"
        write_relic(path, books)
        raw = path.read_bytes().rstrip()
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
        try:
            read_relic(path)
        except BadBenchmark as error:
            assert "val.json" in str(error)
        else:
            raise AssertionError("a part of a file was read as a file")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
relic_shaped = st.dictionaries(
    st.text(max_size=3),
    st.fixed_dictionaries(
        {
            "sentences": st.lists(st.text(max_size=3), max_size=4) | json_values,
            "candidates": st.fixed_dictionaries(
                {f"{n}_sentence": st.lists(st.integers(-1, 4), max_size=3) | json_values for n in LENGTHS}
            ),
            "quotes": st.dictionaries(
                st.text(max_size=2), st.lists(json_values | st.integers(0, 6), max_size=4), max_size=2
            ),
        }
    ),
    max_size=2,
)


@given(json_values | relic_shaped)
def test_any_json_is_read_or_refused_in_words(value):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "val.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        try:
            assert json.loads(path.read_text()) == _as_json(read_relic(path))
        except BadBenchmark as error:
            assert "val.json" in str(error)


def _as_json(books):
    return {
        book.title: {
            "sentences": list(book.sentences),
            "candidates": {f"{n}_sentence": list(starts) for n, starts in book.candidates.items()},
            "quotes": {q.id: [list(q.left), q.start, q.length, list(q.right)] for q in book.quotes},
        }
        for book in books
    }


seen = texts.filter(str.strip)


@st.composite
def birco_sets(draw):
    passages = draw(st.dictionaries(seen, seen, min_size=1, max_size=6))
    queries = draw(st.dictionaries(seen, texts.map(lambda text: f"{text}{MASKED}"), min_size=1, max_size=4))
    pools = {
        query: draw(st.lists(st.sampled_from(sorted(passages)), min_size=1, max_size=6, unique=True))
        for query in queries
    }
    return queries, passages, pools, {query: draw(st.sampled_from(pool)) for query, pool in pools.items()}


offsets = st.tuples(st.integers(0, 2**30), st.integers(0, 2**20)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def runs(draw):
    books = draw(st.lists(st.builds(_book, seen, texts, st.none() | st.integers(-800, 2100)), max_size=3,
                          unique_by=lambda book: book.key))  # fmt: skip
    ids = draw(st.lists(texts, max_size=4 if books else 0, unique=True))
    outcomes = []
    for example_id in ids:
        candidates = draw(st.integers(1, 2**31 - 1))
        rank = draw(st.none() | st.integers(1, candidates))
        outcomes.append(
            Outcome(
                example_id=example_id,
                book=draw(st.sampled_from(books)).key,
                length=draw(st.integers(1, 5)),
                kind=draw(texts),
                candidates=candidates,
                rank=rank,
                overlap_rank=None if rank is None else draw(st.integers(1, rank)),
                gold=draw(offsets),
                first=tuple(draw(st.lists(offsets, max_size=3))),
            )
        )
    run = Run(
        id=draw(texts), benchmark=draw(texts), split=draw(texts), pool=draw(st.sampled_from(["whole work", "given"])),
        data_hash=draw(texts), retriever=draw(texts), label=draw(texts),
        shape=ContextSize(0, 1),
        configuration=draw(st.dictionaries(texts, texts, max_size=3)), books=tuple(books), examples=len(outcomes),
        code=draw(texts), machine=draw(st.dictionaries(texts, texts, max_size=2)), seconds=draw(st.floats(0, 1e9)),
        index_bytes=draw(st.integers(0, 2**50)), tags=tuple(draw(st.lists(texts, max_size=2))),
        created=draw(st.datetimes(datetime(1980, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))),  # noqa: DTZ001 - given its zone beside
    )  # fmt: skip
    return run, tuple(outcomes)


def _book(key, title, year):
    return Book(key=key, title=title, year=year)


@given(runs())
def test_runs_are_read_as_they_were_written(made):
    assert _through(write_run, read_run, *made) == made
