"""Windows: the places of a source that quote sentences of a work, with what the critic says around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from relic_core.domain import MinedWindow, Offsets, QuotationKind, SecondarySource, window_id
from relic_core.mining.matches import Aligner, Match, matches_of, unbracketed
from relic_core.mining.pairs import context
from relic_core.mining.prose import Prose, Quotation
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.standardising import Standard, standardise

HALF = 0.5
"""Share of a quotation's words that has to be in the work for the whole of it, but for what is quoted from
elsewhere at its ends (`LEAST_LEFT_OVER`), to be the window's."""
NEARLY_ALL = 0.8
"""Share of a quotation's words from which the quotation itself speaks for a match, however short."""
LEAST_BITS_UNMARKED = 95.0
"""How rare words have to be together that are not marked as a quotation, or are only a part of one: some ten
words. Shorter ones are as often chance as quotation."""

LEAST_LEFT_OVER = 5
"""Words at either end of a quotation, in no brackets and more than its first or last sentence has there, from which
they are quoted from elsewhere and are not the window's."""

_SLACK = 3
"""Characters by which a match may stick out of its quotation: a dash, a mark within marks."""
_PARTING = " .,;:!?…*-–—"
_CLOSING = frozenset(".,;:!?…)")


@dataclass(frozen=True, slots=True)
class _Found:
    """A standardised match with its words, its quotation and all that is quoted around it, in `Prose.text`.

    `unquoted` counts the words of the first sentence before what is matched of it, and of the last one behind: so many
    may be worded differently in the quotation.
    """

    match: Match
    standard: Standard
    words: Offsets
    at: Offsets
    around: Offsets
    kind: QuotationKind
    unquoted: tuple[int, int]


def make_windows(
    prose: Prose,
    quotations: Sequence[Quotation],
    source: SecondarySource,
    works: QuotedWorks,
    *,
    among: Collection[str] | None = None,
) -> tuple[MinedWindow, ...]:
    """Find the places of a source that quote works, `among` some, in the order of the source.

    Everything found is given; `thresholds.set_aside` says later what of it is not a quotation by a critic. Where the
    same words occur in several places of the works, there is a window for each.
    """
    words = works.read(prose.text)
    aligner = Aligner(prose.text, words, works)
    marks = _Marks(prose, quotations, words.starts.tolist())
    found: list[_Found] = []
    for match in matches_of(aligner, among=among):
        for standard in standardise(match, aligner, marks.words_around):
            start = int(words.starts[standard.blocks[0].here])
            end = int(words.ends[standard.blocks[-1].here_end - 1])
            count = sum(block.here_end - block.here for block in standard.blocks)
            placed = marks.place(start, _behind(prose.text, end), count)
            around = placed.at
            sure = placed.sure
            if around[0] > match.start or around[1] < match.end:
                other = marks.place(match.start, _behind(prose.text, match.end), match.words)
                around = min(around[0], other.at[0]), max(around[1], other.at[1])
                sure = sure or other.sure
            if sure or match.bits >= LEAST_BITS_UNMARKED:
                found.append(
                    _Found(
                        match, standard, (start, end), placed.at, around, placed.kind, _unquoted(match, standard, works)
                    )
                )
    made: dict[str, MinedWindow] = {}
    for together in _clusters(found):
        parted = [replace(each, at=_own_part(each, together, prose.text)) for each in together]
        made |= {window.id: window for window in _windows(prose, parted, source, aligner)}
    return tuple(made.values())


def _windows(prose: Prose, found: list[_Found], source: SecondarySource, aligner: Aligner) -> list[MinedWindow]:
    works, made = aligner.works, []
    own = list(chain.from_iterable(works.gold_texts(each.match.work, each.standard.gold) for each in found))
    places = {each.around for each in found}
    contexts = {around: context(prose, *around, own=own) for around in places}
    for each in found:
        work, gold, at = each.match.work, each.standard.gold, each.at
        surroundings = contexts[each.around]
        first, last = (work.first_sentence + number for number in (gold.start, gold.end - 1))
        place = int(works.sentence_starts[first]), int(works.sentence_ends[last])
        in_source = prose.in_source(*at)
        starts, ends = aligner.words.starts, aligner.words.ends
        made.append(
            MinedWindow(
                id=window_id(source.sha256, work.sha256, in_source, place),
                source_id=source.id,
                work_id=work.id,
                kind=each.kind,
                left=surroundings.left,
                quotation=prose.text[slice(*at)],
                right=surroundings.right,
                gold=gold,
                at=in_source,
                passage=prose.in_source(min(at[0], surroundings.start), max(at[1], surroundings.end)),
                lit=tuple(
                    (int(starts[block.here]) - at[0], int(ends[block.here_end - 1]) - at[0])
                    for block in each.standard.blocks
                ),
                lit_in_work=tuple(works.offsets(block.there, block.there_end - 1) for block in each.standard.blocks),
                score=each.standard.score,
            )
        )
    return made


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where matched words stand: the quotations from the first to the last if they make up half of them."""

    at: Offsets
    kind: QuotationKind
    share: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether the quotation is little else than the matched words."""
        return self.share >= NEARLY_ALL


class _Marks:
    """Where a source marks or sets off what it quotes."""

    def __init__(self, prose: Prose, quotations: Sequence[Quotation], starts: list[int]) -> None:
        self._stretches = prose.stretches
        self._quotations = [each for each in quotations if each.end > each.start]
        self._starts = starts
        self._ends_so_far: list[int] = []  # no quotation before the first that reaches a place can hold it
        reach = 0
        for each in self._quotations:
            reach = max(reach, each.end)
            self._ends_so_far.append(reach)

    def place(self, start: int, end: int, words: int) -> _Placed:
        """Find the quotations that hold matched words, where the `words` matched are at least half of them."""
        across = self._across(start, end)
        holding = [each for each in across if each.start <= start + _SLACK and each.end >= end - _SLACK]
        for each in sorted(holding, key=lambda quotation: quotation.end - quotation.start):
            share = words / max(1, self._count(each.start, each.end))
            if share >= HALF:
                return _Placed((min(start, each.start), max(end, each.end)), each.kind, share)
        if holding:
            kind = min(holding, key=lambda quotation: quotation.end - quotation.start).kind
            return _Placed((start, end), kind)
        held = [
            each for each in across if min(end, each.end) - max(start, each.start) >= HALF * (each.end - each.start)
        ]
        at = min([start, *(each.start for each in held)]), max([end, *(each.end for each in held)])
        share = words / max(1, self._count(*at))
        if held and share >= HALF:
            kind = max(held, key=lambda quotation: quotation.end - quotation.start).kind
            return _Placed(at, kind, share)
        return _Placed((start, end), self._set(start))

    def words_around(self, word: int) -> range:
        """Give the words of the outermost closed quotation that holds a word of the source; none where none does."""
        start = self._starts[word]
        holding = [each for each in self._across(start, start + 1) if each.closed]
        if not holding:
            return range(word, word)
        outer = max(holding, key=lambda each: each.end - each.start)
        return range(bisect_left(self._starts, outer.start), bisect_left(self._starts, outer.end))

    def _across(self, start: int, end: int) -> list[Quotation]:
        first = bisect_left(self._ends_so_far, start + 1)
        last = bisect_left(self._quotations, end, key=lambda each: each.start)
        return [each for each in self._quotations[first:last] if each.end > start]

    def _count(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def _set(self, place: int) -> QuotationKind:
        number = bisect_left(self._stretches, place + 1, key=lambda each: each.start) - 1
        kind = self._stretches[number].kind if number >= 0 else "prose"
        return kind if kind in {"block", "verse"} else "inline"


def _clusters(found: list[_Found]) -> Iterator[list[_Found]]:
    cluster: list[_Found] = []
    reach = 0
    for each in sorted(found, key=lambda one: (one.around, one.words)):
        if cluster and each.around[0] >= reach:
            yield cluster
            cluster = []
        reach = max(reach, each.around[1])
        cluster.append(each)
    if cluster:
        yield cluster


def _unquoted(match: Match, standard: Standard, works: QuotedWorks) -> tuple[int, int]:
    """Count the words of the first and last sentence of a gold that stand before and behind what is matched of it."""
    first = match.work.first_sentence + standard.gold.start
    last = first + standard.gold.length
    return (
        standard.blocks[0].there - int(works.first_words[first]),
        int(works.first_words[last]) - standard.blocks[-1].there_end,
    )


def _own_part(one: _Found, found: list[_Found], text: str) -> Offsets:
    """Take the part of a quotation that is a window's own, where its other parts quote other sentences or nobody."""
    start, end = one.at
    if unbracketed(text[start : one.words[0]]) - one.unquoted[0] >= LEAST_LEFT_OVER:
        start = one.words[0]
    if unbracketed(text[one.words[1] : end]) - one.unquoted[1] >= LEAST_LEFT_OVER:
        end = one.words[1]
    for other in found:
        if other.match.work is one.match.work and other.words[0] < end and other.words[1] > start:
            if other.words[1] <= one.words[0]:
                start = max(start, other.words[1])
            elif other.words[0] >= one.words[1]:
                end = min(end, other.words[0])
    if start > one.at[0]:
        start += len(text[start : one.words[0]]) - len(text[start : one.words[0]].lstrip(_PARTING))
    if end < one.at[1]:
        end = _behind(text, one.words[1] + len(text[one.words[1] : end].rstrip(_PARTING)))
    return start, end


def _behind(text: str, end: int) -> int:
    """Take the marks that close a sentence to its words."""
    while end < len(text) and text[end] in _CLOSING:
        end += 1
    return end
