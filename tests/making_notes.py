"""A small library and notebook, for tests of notes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from relic_core.domain import SearchRequest

if TYPE_CHECKING:
    from relic_core.domain import Search, Work
    from relic_core.store import Store
    from relic_core.wiring import App

FERRY = b"""THE FERRY

CHAPTER I

The river rose all night. Nobody counted the lanterns on the quay. Nobody had been asked to.

The ferryman slept, and the river did not.

CHAPTER II

In the morning there was one lantern fewer. The ferryman said that it had gone to look for its owner.

Nobody came back for the lanterns, and nobody asked the river.
"""

CLAIM = "Nobody keeps account of light. [MASK] The lanterns are left to themselves."


def add_ferry(bench: App, text: bytes = FERRY, title: str = "The Ferry") -> Work:
    """Add the work that passages are kept from."""
    work_id = bench.works.add(text, name="ferry.txt", title=title, author="A. Nobody", year=1891).work.id
    return bench.works.load(work_id)


def ask(bench: App, work: Work, claim: str = CLAIM, *, made_with: str = "work x, bm25, version 1") -> Search:
    """Put a search into the history, as the page Find does."""
    request = SearchRequest(work_id=work.id, claim_text=claim, length=1, results=5, retrievers=("bm25",))
    return bench.history.keep(request, made_with=made_with)


def words_of(store: Store, note_id: str, person: str = "") -> tuple[str, ...]:
    """List the words of a note's versions, the oldest first, each once in a row."""
    versions = store.notes.versions(note_id, person)[::-1]
    return tuple(words for words, _ in groupby(version.words for version in versions))
