"""The context of a quotation: the sentences around it, as RELiC's windows have them."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.domain.windows import MAX_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relic_core.mining.prose import Prose

OWN_RUN = 5
"""Words in a row that a context may not share with what is quoted."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_OPENING = " \"“‘'«([{—–-"
_CLOSING = " \"”’'»)]}.,;:!?—–-"


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a quotation.

    - `left`, `right`: the sentences before and after it, in the order of the text; at most four each.
    - `start`, `end`: where quotation and context stand in `Prose.text`.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    start: int
    end: int


def context(prose: Prose, start: int, end: int, *, own: Sequence[str] = ()) -> Context:
    """Give the context of ``prose.text[start:end]``.

    What stands in the sentence of the quotation, before or after it, counts as a sentence where it holds a word. No
    context leaves the flow of its quotation, and none goes on beyond a sentence that says again what is quoted.

    - `own`: further texts of which no `OWN_RUN` words in a row may stand in the context: the sentences of the quoted
      work.

    >>> from relic_core.mining.prose import read_prose
    >>> prose = read_prose("Rain fell. He notes that “it was a wet day” in June. So it was.")
    >>> found = context(prose, prose.text.index("it was"), prose.text.index("”"))
    >>> found.left, found.right
    (('Rain fell.', 'He notes that'), ('in June.', 'So it was.'))
    """
    runs = _runs((prose.text[start:end], *own))
    flow = prose.stretches[prose.stretch_at(start)].flow if prose.stretches else 0
    indices = prose.flows.get(flow, [])
    touched = prose.sentences_of(start, end)
    first = bisect_left(indices, touched.start)
    after = bisect_left(indices, touched.stop)
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    if touched:
        left = _piece(prose.text, prose.sentences[touched.start][0], start, trailing=True)
        right = _piece(prose.text, end, prose.sentences[touched.stop - 1][1], trailing=False)
    left += (prose.sentences[index] for index in reversed(indices[max(0, first - MAX_CONTEXT) : first]))
    right += (prose.sentences[index] for index in indices[after : after + MAX_CONTEXT])
    left = _clean(prose.text, left, runs, backwards=True)[::-1]
    right = _clean(prose.text, right, runs, backwards=False)
    return Context(
        tuple(prose.text[slice(*span)] for span in left),
        tuple(prose.text[slice(*span)] for span in right),
        min(start, left[0][0]) if left else start,
        max(end, right[-1][1]) if right else end,
    )


def words_of(text: str) -> list[str]:
    """List the words of a text in lower case, apostrophes made alike."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def _runs(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in texts for run in _in_a_row(words_of(text)))


def _in_a_row(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Give every `OWN_RUN` words in a row."""
    return zip(*(words[at:] for at in range(OWN_RUN)), strict=False)


def _piece(text: str, start: int, end: int, *, trailing: bool) -> list[tuple[int, int]]:
    """Take what a sentence has before or after its quotation, without the marks between; nothing where no word is."""
    if trailing:
        while end > start and text[end - 1] in _OPENING:
            end -= 1
    else:
        while start < end and text[start] in _CLOSING:
            start += 1
    return [(start, end)] if start < end and _WORD.search(text, start, end) else []


def _clean(
    text: str, sentences: Iterable[tuple[int, int]], runs: frozenset[tuple[str, ...]], *, backwards: bool
) -> list[tuple[int, int]]:
    """Take sentences going outward, at most four, up to one with which they say again what is quoted."""
    taken: list[tuple[int, int]] = []
    said: list[str] = []
    for start, end in sentences:
        words = words_of(text[start:end])
        said = [*words, *said[: OWN_RUN - 1]] if backwards else [*said[1 - OWN_RUN :], *words]
        if len(taken) == MAX_CONTEXT or not runs.isdisjoint(_in_a_row(said)):
            break
        taken.append((start, end))
    return taken
