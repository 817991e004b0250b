"""From matched words to the work's own sentences, as RELiC standardises quotations (appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from rapidfuzz.fuzz import QRatio

from relic_core.domain import Span
from relic_core.mining.matches import LEAST_WORDS, Aligner, Block, Match
from relic_core.text.placing import LEAST_RATIO, LEAST_RUN

LEAST_SHARE = 0.5
"""Share of the words of a sentence beside quoted ones that makes up for a shared run of so many characters."""
NEAR = 12
"""Words that a critic may add to a sentence beside quoted ones, or put between."""
LEAST_STRANGE = 8
"""Words of one quotation between two sentences of the work, in neither and in no brackets, from which they are two
quotations; besides two for each word of the work that is passed over there, since other editions change some."""
SHORT = 4
"""A sentence of fewer words goes with its neighbours: it is too short for either measure."""

Held = Literal["whole", "part", "touched", "mostly", "no"]


@dataclass(frozen=True, slots=True)
class Standard:
    """Consecutive sentences of a work, and the words of the source that quote them; `score`: least QRatio, 0-100."""

    gold: Span
    blocks: tuple[Block, ...]
    score: float


@dataclass(slots=True)
class _Sentence:
    """What a source has of one sentence."""

    number: int
    first: int
    stop: int
    blocks: list[Block]
    held: Held = "no"
    score: float = 0.0

    @property
    def words(self) -> int:
        return self.stop - self.first


def standardise(match: Match, aligner: Aligner, quoted: Callable[[int], range]) -> Iterator[Standard]:
    """Give the sentences of the work that a match quotes, one `Standard` for each row of consecutive ones.

    A sentence counts where all of it is quoted nearly word for word, or eight words of it or more; and beside such a
    sentence, where fifteen characters in a row are shared, or where it is short and quoted or passed over. Of the
    first and last sentences none counts for words that the critic uses beside a quotation and not in it; and the rest
    of the quotation is looked through for those before and behind.

    - `quoted`: gives the words of the quotation in which the word at a position of the source stands, if any.
    """
    row: list[_Sentence] = []
    for sentence in _sentences(match, aligner):
        _judge(sentence, aligner)
        if row and _parted(row, sentence, aligner, quoted):
            yield from _standard(row, match, aligner, quoted)
            row = []
        if sentence.held == "no" and sentence.words >= SHORT:
            yield from _standard(row, match, aligner, quoted)
            row = []
        else:
            row.append(sentence)
    yield from _standard(row, match, aligner, quoted)


def _blocks(row: Sequence[_Sentence]) -> list[Block]:
    return list(chain.from_iterable(sentence.blocks for sentence in row))


def _parted(row: Sequence[_Sentence], sentence: _Sentence, aligner: Aligner, quoted: Callable[[int], range]) -> bool:
    blocks = _blocks(row)
    if not blocks or not sentence.blocks:
        return False
    before, behind = blocks[-1], sentence.blocks[0]
    strange = aligner.strange(before, behind)
    changed = behind.there - before.there_end
    around = quoted(before.here_end - 1)
    return strange >= LEAST_STRANGE + 2 * changed and bool(around) and around == quoted(behind.here)


def _sentences(match: Match, aligner: Aligner) -> Iterator[_Sentence]:
    works = aligner.works
    blocks = match.blocks
    first, last = works.sentence_of(blocks[0].there), works.sentence_of(blocks[-1].there_end - 1)
    at = 0
    for number in range(first, last + 1):
        start, stop = int(works.first_words[number]), int(works.first_words[number + 1])
        held = []
        while at < len(blocks) and blocks[at].there < stop:
            held.append(_clipped(blocks[at], start, stop))
            if blocks[at].there_end > stop:
                break
            at += 1
        yield _Sentence(number, start, stop, held)


def _clipped(block: Block, start: int, stop: int) -> Block:
    before, behind = max(0, start - block.there), max(0, block.there_end - stop)
    here_end = block.here_end - behind
    here = min(block.here + before, max(block.here, here_end - 1))
    return Block(here, max(here + 1, here_end), block.there + before, block.there_end - behind, block.bits)


def _judge(sentence: _Sentence, aligner: Aligner) -> None:
    if not sentence.blocks:
        return
    here, there = _parts(sentence.blocks, aligner)
    shared = sum(block.there_end - block.there for block in sentence.blocks)
    mine = " ".join(aligner.words.spellings[at] for at in chain.from_iterable(here))
    whole = QRatio(mine, _spelt(aligner, range(sentence.first, sentence.stop)))
    part = QRatio(mine, " ".join(_spelt(aligner, each) for each in there))
    if whole >= LEAST_RATIO:
        sentence.held, sentence.score = "whole", whole
    elif shared >= LEAST_WORDS and part >= LEAST_RATIO:
        sentence.held, sentence.score = "part", part
    elif max(len(_spelt(aligner, range(block.there, block.there_end))) for block in sentence.blocks) >= LEAST_RUN:
        sentence.held, sentence.score = "touched", part
    elif shared >= LEAST_SHARE * sentence.words:
        sentence.held, sentence.score = "mostly", part


def _parts(blocks: Sequence[Block], aligner: Aligner) -> tuple[list[range], list[range]]:
    here, there = [range(blocks[0].here, blocks[0].here_end)], [range(blocks[0].there, blocks[0].there_end)]
    for before, block in pairwise(blocks):
        if aligner.gap(before, block).free:
            here.append(range(block.here, block.here_end))
            there.append(range(block.there, block.there_end))
        else:
            here[-1] = range(here[-1].start, block.here_end)
            there[-1] = range(there[-1].start, block.there_end)
    return here, there


def _spelt(aligner: Aligner, words: range) -> str:
    spellings = aligner.works.spellings
    return " ".join(spellings[number] for number in aligner.works.words[words.start : words.stop])


def _completed(row: list[_Sentence], match: Match, aligner: Aligner, quoted: Callable[[int], range]) -> list[_Sentence]:
    """Add what the quotation has of the sentences before and behind a row, in words that nothing else was found in."""
    works, work = aligner.works, match.work
    while row[0].number > work.first_sentence:
        here, number = row[0].blocks[0].here, row[0].number - 1
        taken = max((block.here_end for block in match.blocks if block.here_end <= here), default=0)
        start = max(quoted(here).start, taken, here - works.words_in(number) - NEAR)
        before = _beyond(number, range(start, here), aligner)
        if not before.blocks or _parted([before], row[0], aligner, quoted):
            break
        row = [before, *row]
    while row[-1].number + 1 < work.first_sentence + work.sentences:
        here, number = row[-1].blocks[-1].here_end, row[-1].number + 1
        taken = min((block.here for block in match.blocks if block.here >= here), default=len(aligner.words.starts))
        stop = min(quoted(here - 1).stop, taken, here + works.words_in(number) + NEAR)
        behind = _beyond(number, range(here, stop), aligner)
        if not behind.blocks or _parted(row, behind, aligner, quoted):
            break
        row = [*row, behind]
    return row


def _beyond(number: int, words: range, aligner: Aligner) -> _Sentence:
    first = int(aligner.works.first_words[number])
    sentence = _Sentence(number, first, first + aligner.works.words_in(number), [])
    run = aligner.longest(words, range(sentence.first, sentence.stop)) if words else None
    if run is not None and len(_spelt(aligner, range(run.there, run.there_end))) >= LEAST_RUN:
        sentence.blocks, sentence.held = [run], "touched"
    return sentence


def _ended(row: list[_Sentence], quoted: list[bool]) -> list[_Sentence]:
    """Take from both ends of a row what is not held, and what only the critic's own words beside a quotation touch."""
    first, stop = 0, len(row)
    while first < stop and _hangs_on(row[first], quoted=quoted[first], within=any(quoted[first:stop])):
        first += 1
    while first < stop and _hangs_on(row[stop - 1], quoted=quoted[stop - 1], within=any(quoted[first:stop])):
        stop -= 1
    return row[first:stop]


def _hangs_on(sentence: _Sentence, *, quoted: bool, within: bool) -> bool:
    return sentence.held == "no" or (sentence.held in {"touched", "mostly"} and within and not quoted)


def _standard(
    row: list[_Sentence], match: Match, aligner: Aligner, quoted: Callable[[int], range]
) -> Iterator[Standard]:
    row = _ended(row, [any(quoted(block.here) for block in each.blocks) for each in row])
    blocks = _blocks(row)
    if sum(block.there_end - block.there for block in blocks) < LEAST_WORDS:
        return
    here, there = _parts(blocks, aligner)
    mine = " ".join(aligner.words.spellings[at] for at in chain.from_iterable(here))
    together = QRatio(mine, " ".join(_spelt(aligner, part) for part in there))
    if together < LEAST_RATIO:
        return
    scores = [sentence.score for sentence in row if sentence.held in {"whole", "part"}]
    row = _completed(row, match, aligner, quoted)
    yield Standard(
        Span(row[0].number - match.work.first_sentence, row[-1].number - row[0].number + 1),
        tuple(_joined(_blocks(row))),
        round(min([together, *scores]), 1),
    )


def _joined(blocks: list[Block]) -> Iterator[Block]:
    last = blocks[0]
    for block in blocks[1:]:
        if last.here_end == block.here and last.there_end == block.there:
            last = last._replace(here_end=block.here_end, there_end=block.there_end)
        else:
            yield last
            last = block
    yield last
