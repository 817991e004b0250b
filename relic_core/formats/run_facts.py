"""What any file of a run says of it, in the words of JSON, and the check that outcomes are those of the run."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from relic_core.domain import Book, ContextSize, Run
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats.files import as_object, as_string, as_strings, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Outcome, Pool

_FACTS = tuple(field.name for field in fields(Run) if field.name != "shipped")
_BOOK = tuple(field.name for field in fields(Book))


def facts_of(run: Run) -> dict[str, object]:
    """Say all there is to say of a run but its outcomes, and whether it came with the program, which no file decides.

    Returns: ready for JSON; the moment in UTC as ISO 8601.
    """
    return {name: getattr(run, name) for name in _FACTS} | {
        "shape": str(run.shape),
        "configuration": dict(sorted(run.configuration.items())),
        "books": [asdict(book) for book in run.books],
        "machine": dict(sorted(run.machine.items())),
        "created": run.created.astimezone(UTC).isoformat(),
        "tags": list(run.tags),
    }


def run_of(facts: object, here: str, *, shipped: bool = False) -> Run:
    """Make a run of what `facts_of` said.

    - `here`: where it comes from, for messages.
    - `shipped`: what `Run.shipped` is to say.

    Raises BadBenchmark: a fact is missing, unknown, or not of its kind.
    """
    given = as_object(facts, here, _FACTS)

    def word(name: str) -> str:
        return as_string(given[name], f"{here}: '{name}'", empty=True)

    books = given["books"]
    if not isinstance(books, list):
        raise BadBenchmark(f"{here}: 'books' must be a list, and is {kind_of(books)}.")
    return Run(
        id=word("id"),
        benchmark=word("benchmark"),
        split=word("split"),
        pool=_pool(word("pool"), here),
        data_hash=word("data_hash"),
        retriever=word("retriever"),
        label=word("label"),
        shape=_shape(word("shape"), here),
        configuration=words(given["configuration"], f"{here}: 'configuration'"),
        books=tuple(_book(book, f"{here}: book {number}") for number, book in enumerate(books, start=1)),
        examples=_whole(given["examples"], f"{here}: 'examples'"),
        code=word("code"),
        machine=words(given["machine"], f"{here}: 'machine'"),
        seconds=_seconds(given["seconds"], f"{here}: 'seconds'"),
        index_bytes=_whole(given["index_bytes"], f"{here}: 'index_bytes'"),
        created=_moment(word("created"), here),
        tags=as_strings(given["tags"], f"{here}: 'tags'"),
        shipped=shipped,
    )


def check_outcomes(here: str, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Refuse outcomes that cannot be those of a run.

    - `here`: where they come from or go to, for messages.

    Raises BadBenchmark: their number is another, an example occurs twice, a book is not the run's, or a rank or a place
    cannot be.
    """
    if len(outcomes) != run.examples:
        raise BadBenchmark(f"{here}: the run says {run.examples:,} examples, and has {len(outcomes):,} outcomes.")
    books = {book.key for book in run.books}
    seen: set[str] = set()
    for outcome in outcomes:
        there = f"{here}: example '{outcome.example_id:.80}'"
        if outcome.example_id in seen:
            raise BadBenchmark(f"{there} occurs twice.")
        seen.add(outcome.example_id)
        if outcome.book not in books:
            raise BadBenchmark(f"{there} is of the book '{outcome.book:.80}', which the run does not name.")
        if outcome.length < 1 or outcome.candidates < 0:
            raise BadBenchmark(f"{there} has a gold of {outcome.length} sentences, {outcome.candidates:,} candidates.")
        if not outcome.possible:
            raise BadBenchmark(
                f"{there}: the gold's rank is {outcome.rank} and that of the first overlapping hit "
                f"{outcome.overlap_rank}, of {outcome.candidates:,} candidates; that cannot be."
            )
        for start, end in (outcome.gold, *outcome.first):
            if not 0 <= start <= end:
                raise BadBenchmark(f"{there}: {start} to {end} is no place in a text.")


def words(value: object, here: str) -> dict[str, str]:
    """Take a value as an object whose values are strings.

    Raises BadBenchmark: it is none.
    """
    return {
        as_string(name, f"{here}: a name", empty=True): as_string(each, f"{here}: '{name:.80}'", empty=True)
        for name, each in as_object(value, here).items()
    }


def _pool(written: str, here: str) -> Pool:
    known: tuple[Literal["whole work"], Literal["given"]] = ("whole work", "given")
    for pool in known:
        if written == pool:
            return pool
    raise BadBenchmark(f"{here}: the pool is '{written:.40}'. Known: {', '.join(known)}.")


def _shape(written: str, here: str) -> ContextSize:
    try:
        return ContextSize.parse(written)
    except BadRequest as error:
        raise BadBenchmark(f"{here}: {error}") from None


def _book(given: object, here: str) -> Book:
    facts = as_object(given, here, _BOOK)
    year = facts["year"]
    if year is not None and type(year) is not int:
        raise BadBenchmark(f"{here}: 'year' must be a whole number or null, and is {kind_of(year)}.")
    return Book(
        key=as_string(facts["key"], f"{here}: 'key'"),
        title=as_string(facts["title"], f"{here}: 'title'", empty=True),
        author=as_string(facts["author"], f"{here}: 'author'", empty=True),
        year=year,
        sentences=_whole(facts["sentences"], f"{here}: 'sentences'"),
        sha256=as_string(facts["sha256"], f"{here}: 'sha256'", empty=True),
    )


def _whole(value: object, here: str) -> int:
    if type(value) is not int or value < 0:
        raise BadBenchmark(f"{here} must be a whole number from 0, and is {kind_of(value)} that is none.")
    return value


def _seconds(value: object, here: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not (math.isfinite(value) and value >= 0):
        raise BadBenchmark(f"{here} must be a number from 0, and is {kind_of(value)} that is none.")
    return float(value)


def _moment(written: str, here: str) -> datetime:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise BadBenchmark(
            f"{here}: '{written:.40}' is no moment. It is written as 2026-07-05T15:04:05+00:00."
        ) from None
    if moment.tzinfo is None:
        raise BadBenchmark(f"{here}: the moment '{written:.40}' has no time zone.")
    return moment
