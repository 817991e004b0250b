"""How well our sentences agree with RELiC's own list of a work.

Both sides are read as streams of letters and digits, case ignored, so that spacing, quotation marks and dashes do not
count. The streams are aligned, for editions differ and the lists hold headings; letters of the list that are in a
heading of the work, or in the mark or caption of an illustration, are left out, and with them the sentences that
consist of nothing else. What a work leaves out for another reason still counts against it. A sentence of ours is
*exact* if a sentence of the list begins and ends at the same aligned places and has the same letters in between. The
pairs are one to one, so the number of exact sentences is the same from both sides; precision is its share of our
sentences, recall its share of theirs.

Sentences without any letter or digit cannot be compared and do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from relic_core.domain import Work
from relic_core.errors import BadRequest, NotFound
from relic_core.formats.files import record_in
from relic_core.library import folder
from relic_core.text.reading import read_work, segmenter

Offsets = npt.NDArray[np.int64]

_WORD = re.compile(r"[^\W_]+")
_APPARATUS = frozenset({"heading", "illustration"})
"""Kinds of what a work leaves out that are left out of the list, too."""

_SAME_WORK = 0.5
"""Share of a list's letters that the work must have for the two to be compared."""


@dataclass(frozen=True, kw_only=True)
class SentenceScore:
    """Agreement of two ways to cut one work.

    - `apparatus`: sentences of the list left out because they hold nothing but headings and illustrations of the work.
    """

    ours: int
    theirs: int
    exact: int
    apparatus: int

    @property
    def precision(self) -> float:
        """Share of our sentences that are exact, 0-1."""
        return self.exact / self.ours

    @property
    def recall(self) -> float:
        """Share of their sentences that are exact, 0-1."""
        return self.exact / self.theirs


def read_list(path: Path) -> list[str]:
    """Read a list of sentences, a JSON array of strings.

    Raises BadRequest: the file is not there or holds something else.
    """
    try:
        return record_in(list[str], path)
    except OSError as error:
        raise BadRequest(f"The sentence list {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadRequest(
            f"The sentence list {path} must be a JSON array of strings, the sentences in order: {error}."
        ) from error


def score_lists(
    lists: Path, texts: Path, *, cutter: str = "rules", max_bytes: int
) -> Iterator[tuple[str, str, SentenceScore]]:
    """Compare the lists of sentences of a folder (``NAME.json``) with our sentences of texts (``NAME.txt``).

    Raises BadRequest: a list that cannot be read or is of another text.
    """
    cut = segmenter(cutter)
    paths = sorted(lists.glob("*.json"))
    if not paths:
        raise NotFound(f"There are no sentence lists (NAME.json) in {lists}.")
    for path in paths:
        data = folder.read_bytes(texts / f"{path.stem}.txt", max_bytes=max_bytes)
        work = read_work(data, name=f"{path.stem}.txt", segmenter=cut, max_bytes=max_bytes)
        yield path.stem, work.segmenter, score_sentences(work, read_list(path))


def score_sentences(work: Work, theirs: Sequence[str]) -> SentenceScore:
    """Compare the sentences of a work with a list of sentences of the same text.

    Raises BadRequest: either side holds no words, or less than half of the list's letters are in the work.
    """
    apparatus = [(left.start, left.end) for left in work.left_out if left.kind in _APPARATUS]
    return score_spans(
        work.text, [(sentence.start, sentence.end) for sentence in work.sentences], theirs, apparatus=apparatus
    )


def score_spans(
    text: str, ours: Sequence[tuple[int, int]], theirs: Sequence[str], *, apparatus: Sequence[tuple[int, int]] = ()
) -> SentenceScore:
    """Compare spans of a text with a list of sentences; see `score_sentences`.

    >>> text = "I. He rose; she sat. Why?"
    >>> score_spans(text, [(3, 11), (12, 25)], ["I. He rose; ", "she sat. ", "Why?"], apparatus=[(0, 2)])
    SentenceScore(ours=2, theirs=3, exact=1, apparatus=0)
    """
    stretches = sorted([(start, end, False) for start, end in ours] + [(start, end, True) for start, end in apparatus])
    words, bounds = _words(text[start:end] for start, end, _ in stretches)
    their_words, their_bounds = _words(theirs)
    if not their_words or not any(_WORD.search(text, start, end) for start, end in ours):
        raise BadRequest("There is nothing to compare: one side holds no sentence with a word in it.")
    aligned = _aligned(words, their_words)  # (n_letters of theirs,): the place among our letters, -1 where none
    if np.mean(aligned >= 0) < _SAME_WORK:
        raise BadRequest("The list of sentences is of another text: less than half of its letters are in the work.")

    sentences = set()
    in_apparatus = np.zeros(bounds[-1] + 1, dtype=bool)
    for (start, end), (_, _, is_apparatus) in zip(pairwise(bounds), stretches, strict=True):
        if is_apparatus:
            in_apparatus[start:end] = True
        elif start < end:
            sentences.add((start, end))
    kept = (aligned < 0) | ~in_apparatus[aligned]

    exact = compared = left_out = 0
    for start, end in pairwise(their_bounds):
        places = aligned[start:end][kept[start:end]]
        compared += bool(places.size)
        left_out += start < end and not places.size
        unbroken = bool(places.size) and places[0] >= 0 and bool(np.all(np.diff(places) == 1))
        exact += unbroken and (int(places[0]), int(places[-1]) + 1) in sentences
    if not compared:
        raise BadRequest("There is nothing to compare: the list of sentences holds no sentence of the work.")
    return SentenceScore(ours=len(sentences), theirs=compared, exact=exact, apparatus=left_out)


def _words(stretches: Iterable[str]) -> tuple[list[str], list[int]]:
    """Folded words of all stretches, and the places among the letters where the stretches part (one more than them)."""
    words: list[str] = []
    bounds = [0]
    for stretch in stretches:
        own = _WORD.findall(stretch.lower())
        words += own
        bounds.append(bounds[-1] + sum(map(len, own)))
    return words, bounds


def _aligned(ours: list[str], theirs: list[str]) -> Offsets:
    """Place of each letter of `theirs` among the letters of `ours`, -1 where it has none; shape (n_letters,)."""
    our_places = np.cumsum([0, *map(len, ours)])
    their_places = np.cumsum([0, *map(len, theirs)])
    aligned = np.full(their_places[-1], -1, dtype=np.int64)
    for tag, a, a_end, b, b_end in SequenceMatcher(None, ours, theirs).get_opcodes():
        # Words parted otherwise ("to day", "to-day", "today") are the same letters.
        if tag == "equal" or (tag == "replace" and "".join(ours[a:a_end]) == "".join(theirs[b:b_end])):
            aligned[their_places[b] : their_places[b_end]] = np.arange(our_places[a], our_places[a_end])
    return aligned
