"""Lemmas: one dictionary word in the place of each content token, so that a word is found in all its forms.

`relic_core.text.forms` lists the dictionary words a printed word may be a form of. A retriever that counts words needs
one, and the same one for every form: thought is taken for think, and so is thoughts, by way of thought. The sentence is
not looked at, so roses and rise come out as one word.

A word whose only dictionary words are function words stays as it is (likes, ones, nearer): those are left out on
either side, and these are not.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cache, lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from relic_core.text.forms import lemmas
from relic_core.text.words import STOPWORDS, WORDS, WorkWords, work_words

if TYPE_CHECKING:
    from relic_core.domain import Work

_RULE = "lemmas/2"

_CHOSEN = {"eldest": "old", "bade": "bid"}
"""Where the first of several by the alphabet would be a word that nobody uses (eld, bede)."""


@cache
def lemmas_version() -> str:
    """Name all that decides lemmas: the words, the rule, and the release of the dictionary.

    >>> lemmas_version().startswith("words/1, lemmas/2, simplemma ")
    True
    """
    return f"{WORDS}, {_RULE}, simplemma {version('simplemma')}"


@lru_cache(maxsize=1 << 17)
def lemma(token: str) -> str:
    """Give the one dictionary word that a content token counts as.

    - `token`: as `relic_core.text.words.tokens` makes it.

    >>> [lemma(token) for token in ("lamps", "went", "thought", "thoughts", "think", "likes")]
    ['lamp', 'go', 'think', 'think', 'think', 'likes']
    """
    path = [token]
    while True:
        found = _CHOSEN.get(path[-1]) or min(lemmas(path[-1]) - STOPWORDS - {path[-1]}, default=path[-1])
        if found in path:  # it is its own lemma, or words are each other's: all of those come out as one of them
            return min(path[path.index(found) :])
        path.append(found)


_KEPT = 4
_lock = threading.Lock()
_kept: OrderedDict[str, WorkWords] = OrderedDict()


def work_lemmas(work: Work) -> WorkWords:
    """Read the lemmas of a work, one look-up for each different token; those of the last few works are kept."""
    words = work_words(work)
    with _lock:
        found = _kept.pop(work.fingerprint, None) or _lemmatized(words)
        _kept[work.fingerprint] = found
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
        return found


def _lemmatized(words: WorkWords) -> WorkWords:
    vocabulary: dict[str, int] = {}
    number = [vocabulary.setdefault(lemma(token), len(vocabulary)) for token in words.vocabulary]
    return WorkWords(vocabulary=vocabulary, ids=np.array(number, dtype=np.int32)[words.ids], starts=words.starts)
