"""A secondary text as it is read: what is printed around its prose taken away, every character still traceable."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from relic_core.domain import Offsets
from relic_core.mining.setting import ProsePiece, find_pieces
from relic_core.text.sentences import default_segmenter
from relic_core.text.unbroken import inline_noise, printed_noise

RULES = "prose/1"
"""Version of the rules by which a text is read, its quotations found and its pairs made; any change gives a new one."""

_SPACES = np.array([32, *range(9, 14), *range(28, 32), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
                    0x202F, 0x205F, 0x3000], dtype=np.uint32)  # fmt: skip
"""What `str.isspace` takes for white space."""
_UNSEEN = np.array([ord("_"), 0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF], dtype=np.uint32)
"""Marks of emphasis, soft hyphens and what has no width: dropped wherever they stand."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between marks, or set off.

    - `start`, `end`: in `Prose.text`, half-open, without the outer marks; a quotation may run over several stretches.
    - `closed`: whether the mark that opens it was closed; a quotation set off is.
    - `nested`: whether it stands within another quotation.
    """

    start: int
    end: int
    kind: Literal["inline", "block", "verse"]
    closed: bool = True
    nested: bool = False


class Prose:
    """The cleaned words of a source, and their places in it.

    - `text`: white space single, noise gone (RELiC, appendix A).
    - `stretches`: in order; they do not overlap.
    - `sentences`: offsets into `text`, in order, each within one stretch.
    """

    def __init__(
        self, text: str, stretches: Sequence[ProsePiece], sentences: Sequence[Offsets], origins: _Origins
    ) -> None:
        self.text = text
        self.stretches = tuple(stretches)
        self.sentences = tuple(sentences)
        self._origins = origins

    def in_source(self, start: int, end: int) -> Offsets:
        """Find ``text[start:end]`` in the source: from its first to behind its last character."""
        return self._origins.outer(start, end)

    def kept(self, start: int, end: int) -> tuple[Offsets, ...]:
        """List the stretches of the source that ``text[start:end]`` is made of.

        Joined, with each run of white space as one space and none at the ends, they are that text.
        """
        return self._origins.stretches(start, end)

    def stretch_at(self, place: int) -> int:
        """Give the index of the stretch that holds a place of `text`, or of the one before it; 0 before the first."""
        return max(0, bisect_right(self._starts, place) - 1)

    def sentences_of(self, start: int, end: int) -> range:
        """Give the indices of the sentences that ``text[start:end]`` touches."""
        return range(bisect_right(self._sentence_ends, start), bisect_left(self._sentence_starts, end))

    @cached_property
    def sentence_flows(self) -> tuple[int, ...]:
        """The flow of each sentence."""
        return tuple(self.stretches[self.stretch_at(start)].flow for start in self._sentence_starts)

    @cached_property
    def flows(self) -> dict[int, list[int]]:
        """The indices of the sentences of each flow, in order."""
        found: dict[int, list[int]] = {}
        for index, flow in enumerate(self.sentence_flows):
            found.setdefault(flow, []).append(index)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [stretch.start for stretch in self.stretches]

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [start for start, _ in self.sentences]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [end for _, end in self.sentences]


class _Origins:
    """The place of each character of a clean text in its source.

    - `places`: ascending; the offset of each character in the source.
    - `bridged`: whether only white space that was made single lies between a character and the one before it.
    """

    def __init__(self, places: npt.NDArray[np.int64], bridged: npt.NDArray[np.bool_]) -> None:
        begins = np.ones(len(places), dtype=np.bool_)
        begins[1:] = places[1:] != places[:-1] + 1
        self._clean = np.flatnonzero(begins)
        self._source = places[begins]
        self._bridged = bridged[begins]
        self._length = len(places)

    def outer(self, start: int, end: int) -> Offsets:
        if start >= end:
            at = self._place(min(start, self._length - 1)) if self._length else 0
            return at, at
        return self._place(start), self._place(end - 1) + 1

    def stretches(self, start: int, end: int) -> tuple[Offsets, ...]:
        if start >= end:
            return ()
        first, last = (int(at) for at in np.searchsorted(self._clean, [start, end - 1], side="right") - 1)
        found: list[tuple[int, int]] = []
        for piece in range(first, last + 1):
            clean, source = int(self._clean[piece]), int(self._source[piece])
            after = int(self._clean[piece + 1]) if piece < last else end
            begin = source + max(0, start - clean)
            stop = source + after - clean
            if found and self._bridged[piece]:
                found[-1] = (found[-1][0], stop)
            else:
                found.append((begin, stop))
        return tuple(found)

    def _place(self, at: int) -> int:
        piece = int(np.searchsorted(self._clean, at, side="right")) - 1
        return int(self._source[piece]) + at - int(self._clean[piece])


def read_prose(text: str, *, of_a_book: bool = True) -> Prose:
    r"""Read a secondary text: drop what is printed around its prose, tell how each piece of it is set.

    Dropped are licences, contents, indexes, headings, marks of illustrations, running heads, page numbers, footnote
    marks, in-line citations, word breaks and marks of emphasis: they let models cheat (Thai et al. 2022, appendix A).

    >>> prose = read_prose("Rain is _worth-\nless_ here (p. 149).[3] It\n[Pg 12]\nfell; worthless.\n")
    >>> prose.text
    'Rain is worthless here. It fell; worthless.'
    >>> prose.in_source(8, 17), prose.kept(8, 17)
    ((9, 20), ((9, 14), (16, 20)))
    """
    printed = printed_noise(text)
    pieces = find_pieces(printed.masked, of_a_book=of_a_book)
    dropped = inline_noise(text, printed)
    clean, origins, places = _clean(text, pieces, dropped)
    stretches = list(_stretches(clean, pieces, places))
    segment = default_segmenter().segment
    sentences = []
    for stretch in stretches:
        sentences.extend(segment(clean, stretch.start, stretch.end))
    return Prose(clean, stretches, sentences, origins)


def _clean(
    text: str, pieces: Sequence[ProsePiece], dropped: Sequence[Offsets]
) -> tuple[str, _Origins, npt.NDArray[np.int64]]:
    """Take the pieces of a text without what is dropped.

    White space between the pieces stands for their borders; that within what is dropped goes with it.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    blank = np.isin(codes, _SPACES)
    inside = _covered([(piece.start, piece.end) for piece in pieces], len(codes))
    keep = (inside | blank) & ~_covered(dropped, len(codes)) & ~np.isin(codes, _UNSEEN)
    visible = np.flatnonzero(keep & ~blank)
    keep[: visible[0] if len(visible) else len(keep)] = False
    keep[visible[-1] + 1 if len(visible) else 0 :] = False
    places = np.flatnonzero(keep).astype(np.int64)
    white = blank[places]
    single = np.ones(len(places), dtype=np.bool_)
    single[1:] = ~(white[1:] & white[:-1])
    places, white = places[single], white[single]
    seen = np.cumsum(~blank, dtype=np.int32)
    bridged = np.zeros(len(places), dtype=np.bool_)
    if len(places):
        nothing_between = seen[places[1:] - 1] == seen[places[:-1]]
        bridged[1:] = nothing_between & (white[1:] | white[:-1])
    letters = codes[places].copy()
    letters[white] = 32
    return letters.tobytes().decode("utf-32-le", "surrogatepass"), _Origins(places, bridged), places


def _covered(stretches: Sequence[Offsets], length: int) -> npt.NDArray[np.bool_]:
    change = np.zeros(length + 1, dtype=np.int32)
    if stretches:
        bounds = np.array(stretches, dtype=np.int64)
        np.add.at(change, bounds[:, 0], 1)
        np.add.at(change, bounds[:, 1], -1)
    return np.cumsum(change[:-1], dtype=np.int32) > 0


def _stretches(clean: str, pieces: Sequence[ProsePiece], places: npt.NDArray[np.int64]) -> list[ProsePiece]:
    starts = np.searchsorted(places, [piece.start for piece in pieces])
    ends = np.searchsorted(places, [piece.end for piece in pieces])
    found = []
    for piece, first, after in zip(pieces, starts.tolist(), ends.tolist(), strict=True):
        start, end = first, after
        while start < end and clean[start] == " ":
            start += 1
        while end > start and clean[end - 1] == " ":
            end -= 1
        if start < end:
            found.append(ProsePiece(start, end, piece.kind, piece.flow))
    return found
