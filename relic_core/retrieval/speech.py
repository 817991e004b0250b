"""What is spoken in works and by whom, kept as an index beside their words, so that a novel is read for it once."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from relic_core.domain import Work, WorkVersion
from relic_core.errors import StaleIndex, StoreError
from relic_core.retrieval import index_files
from relic_core.text.speech import SPEECH, Speech, WorkSpeech, kept_speech

RETRIEVER = "speech"
"""The name of its folder of indexes."""


def stored_speech(work: WorkVersion, *, indexes: Path, load: Callable[[str], Work]) -> WorkSpeech:
    """Give the speech of a work, from memory, from disk, or read from the work, and keep it for all who ask.

    Raises StaleIndex: the work that was loaded is of another version.
    """
    return kept_speech(work.fingerprint, lambda: _opened(work, indexes, load))


def _opened(work: WorkVersion, indexes: Path, load: Callable[[str], Work]) -> WorkSpeech:
    recipe = index_files.Recipe.of(work, retriever=RETRIEVER, encoder="", code=SPEECH)
    with suppress(StaleIndex, OSError):  # not there, damaged, or deleted while it was opened: it is made
        arrays = index_files.load(indexes, recipe)
        names = json.loads(arrays["names"].tobytes())
        return WorkSpeech(
            tuple(Speech(start, end, names[by]) for start, end, by in arrays["speeches"].tolist()),
            np.array(arrays["spoken"]),
        )
    text = load(work.id)
    if text.fingerprint != work.fingerprint:
        raise StaleIndex(f"{work.title} was changed while its speech was being read. Search again.")
    speech = WorkSpeech.of(text)
    names = list(dict.fromkeys(["", *(each.speaker for each in speech.speeches)]))
    number = {name: by for by, name in enumerate(names)}
    rows = [(each.start, each.end, number[each.speaker]) for each in speech.speeches]
    with suppress(StoreError, OSError):  # a search does not fail because nothing can be kept
        index_files.save(
            indexes,
            recipe,
            {
                "speeches": np.array(rows, dtype=np.int32).reshape(-1, 3),
                "names": np.frombuffer(json.dumps(names).encode(), dtype=np.uint8),
                "spoken": speech.spoken,
            },
        )
    return speech
