"""The words of a work kept as an index, so that a novel is read once and its words are opened in milliseconds after.

They are made when first asked for. Where the folder of indexes cannot be written they are made again in the next
process, and no search fails for it; a damaged index is made anew.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from relic_core.errors import StaleIndex, StoreError
from relic_core.retrieval import index_files
from relic_core.text.forms import lemmas_version, work_lemmas
from relic_core.text.words import WORDS, WorkWords, keep_words, work_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from relic_core.domain import Work, WorkVersion

Terms = Literal["tokens", "lemmas"]
"""What is counted: words as they stand, or the dictionary words that they are forms of. Never function words."""

RETRIEVER = "words"
"""Under this name the words stand in the folder of indexes; every retriever that counts words shares them."""

LAYOUT = "layout/1"
"""Version of the arrays; a new one makes old indexes unused."""


def terms_version(terms: Terms) -> str:
    """Name all that decides what the terms are."""
    return lemmas_version() if terms == "lemmas" else WORDS


def work_terms(work: Work, terms: Terms, indexes: Path | None = None) -> WorkWords:
    """Give the terms of a work whose text is at hand; words are then known to all who ask for them by the text.

    - `indexes`: folder of all indexes; where it is not given, the terms are kept in memory only.
    """
    found = stored_terms(work.imprint, terms, indexes=indexes, load=lambda _: work)
    if terms == "tokens" and indexes is not None:
        keep_words(work.fingerprint, found)
    return found


def stored_terms(work: WorkVersion, terms: Terms, *, indexes: Path | None, load: Callable[[str], Work]) -> WorkWords:
    """Open the terms of a work, or read them and keep them on disk.

    - `indexes`: as of `work_terms`.
    - `load`: gives the work of an id; called only where its terms are not on disk, or are damaged.

    Raises StaleIndex: the work that was loaded is another than the imprint names.
    """
    recipe = index_files.Recipe.of(work, retriever=RETRIEVER, encoder="", code=f"{terms_version(terms)}, {LAYOUT}")
    if indexes is not None:
        with suppress(StaleIndex, OSError):  # not there, damaged, or deleted while it was opened: it is made
            return _of_arrays(index_files.load(indexes, recipe))
    text = load(work.id)
    if text.fingerprint != work.fingerprint:
        raise StaleIndex(f"{work.title} was changed while its words were being read. Search again.")
    words = work_lemmas(text) if terms == "lemmas" else work_words(text)
    if indexes is not None:
        with suppress(StoreError, OSError):  # a search does not fail because nothing can be kept
            index_files.save(indexes, recipe, _to_arrays(words))
    return words


def _to_arrays(words: WorkWords) -> dict[str, npt.NDArray[Any]]:
    joined = "\n".join(words.vocabulary).encode()  # no token holds a line break
    return {
        "ids": words.ids.astype(np.int32),
        "starts": words.starts.astype(np.int64),
        "vocabulary": np.frombuffer(joined, dtype=np.uint8),
    }


def _of_arrays(arrays: dict[str, npt.NDArray[Any]]) -> WorkWords:
    """Copy the arrays into memory: the files may be deleted while the words are in use."""
    joined = arrays["vocabulary"].tobytes().decode()
    terms = joined.split("\n") if joined else []
    return WorkWords(
        vocabulary={term: number for number, term in enumerate(terms)},
        ids=np.array(arrays["ids"]),
        starts=np.array(arrays["starts"]),
    )
