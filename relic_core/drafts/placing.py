"""Where the words of one quotation are in the works, and how they differ from the works, word by word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz.fuzz import token_sort_ratio
from rapidfuzz.utils import default_process

from relic_core.domain import Work
from relic_core.domain.drafts import Difference, Excuse
from relic_core.mining.matches import MOST_SKIPPED, Aligner, Block, SharedRun, find_chains
from relic_core.mining.quoted_works import QuotedWork, QuotedWorks
from relic_core.text.line_ends import line_ends
from relic_core.text.placing import letters
from relic_core.text.unbroken import without
from relic_core.text.words import STOPWORDS, WORD, fold

LEAST_SHARE = 0.6
"""Share of a quotation's words that have to be in a work for the quotation to be from there."""
_LEAST_BITS = 25.0
"""How rare words are from which a place is looked at: marks of quotation say that the words are from somewhere."""
_LEAST_JOINED = 45.0
"""How rare words of another place have to be to count as a second part of the quotation."""
_TELLING = 7.5
"""Bits from which a word tells of a place: more than function words have."""
_RIVAL = 0.9
_PLACES = 4
"""Places of one work that are looked at."""
_WIDEST = 24
"""Words of the stretches among which the nearest is chosen; more for longer quotations."""
_FEW = 3
"""Words left out at the most for a negation among them to be what was left out."""
_ENDS = 4
"""Words shown at either end of a long stretch that was left out."""
_BEYOND = 8
"""Words of a work that may be left out between a quotation's outermost words and the rest."""
_MOVED = 8
"""Words past which another may be moved and be shown with them, in both orders."""
_MORE = 2
"""Words of a work more than those of the quotation that may stand for them at its ends."""
_ALIKE = 60.0
"""Likeness, in whatever order, from which words at an end of the quotation are another form of those of the work."""

_IN_WORD = re.compile(r"\[(\w+)\](?=\w)|(?<=\w)\[(\w+)\]")
_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
_ELLIPSIS = re.compile(r"\.\s?\.|…|\*\s*\*|\[\s*\]")
_HYPHENS = frozenset("-‐‑")
_POINTS = re.compile(r"[,;:!?]")
_NEGATION = frozenset("no not never nor none nothing neither cannot without hardly".split())  # noqa: SIM905 - a list
_PRONOUNS = frozenset(
    """
    i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself it its
    itself they them their theirs themselves thou thee thy thine
    """.split()  # noqa: SIM905 - a list
)


@dataclass(frozen=True, slots=True)
class Laid:
    """A quotation laid upon a work.

    - `blocks`: words that are in both, in the order of the quotation.
    - `share`: of the words that are not in brackets, those that are in the work.
    """

    work: QuotedWork
    blocks: tuple[Block, ...]
    share: float


class QuotedWords:
    """The words of one quotation; those in square brackets are the writer's own."""

    def __init__(self, quotation: str, works: QuotedWorks) -> None:
        self.text, inside = _joined(quotation)
        inside += [match.span() for match in _IN_BRACKETS.finditer(self.text)]
        self.words = works.read(self.text)
        self._works, self._aligner = works, Aligner(self.text, self.words, works)
        spans = list(zip(self.words.starts.tolist(), self.words.ends.tolist(), strict=True))
        self._raw = [self.text[start:end] for start, end in spans]
        self._own = [any(a < end and start < b for a, b in inside) for start, end in spans]

    def lay(self, *, among: Collection[str] | None = None) -> list[Laid]:
        """Lay the words upon works, `among` some, where rows of them are; those with the most of them first."""
        chains = find_chains(self.words.numbers, self._works, among=self._numbers(among), least=_LEAST_BITS)
        return sorted(self._laid(chains), key=lambda each: -each.share)

    def nearest(self, *, among: Collection[str] | None = None) -> list[Laid]:
        """Lay the words upon the stretches that hold the rarest of them, in whatever order: slower than `lay`."""
        return sorted(self._laid(self._nearest(self._numbers(among))), key=lambda each: -each.share)

    def _numbers(self, among: Collection[str] | None) -> list[int]:
        return [at for at, work in enumerate(self._works.works) if among is None or work.id in among]

    def _laid(self, chains: Iterable[Sequence[SharedRun]]) -> Iterator[Laid]:
        parts: dict[int, list[list[Block]]] = {}
        for chain in chains:
            owner = self._works.owner_of(chain[0].there)
            work = self._works.works[owner]
            parts.setdefault(owner, []).extend(
                self._aligner.align(chain, work.first_word, work.first_word + work.words)
            )
        for owner, found in parts.items():
            found.sort(key=lambda blocks: -_bits(blocks))
            for best in [each for each in found if _bits(each) >= _RIVAL * _bits(found[0])][:_PLACES]:
                blocks = list(best)
                for other in found:  # what was joined from two places of a work
                    more = [each for each in other if all(_apart(each, block) for block in blocks)]
                    if _bits(more) >= _LEAST_JOINED:
                        blocks += more
                blocks.sort()
                self._widen(blocks)
                held = sum(self._own[block.here : block.here_end].count(False) for block in blocks)
                yield Laid(self._works.works[owner], tuple(blocks), held / max(1, self._own.count(False)))

    def _widen(self, blocks: list[Block]) -> None:
        """Add the words at either end that stand alike in the work a little beyond words that were left out there."""
        if _bits(blocks) < _LEAST_JOINED:
            return
        first, last, words = blocks[0], blocks[-1], len(self._own)
        begin = max(self._sentence(first.there)[0], first.there - first.here - _BEYOND)
        end = min(self._sentence(last.there_end - 1)[1], last.there_end + words - last.here_end + _BEYOND)
        for here, there in (
            (range(first.here), range(begin, first.there)),
            (range(last.here_end, words), range(last.there_end, end)),
        ):
            more = self._aligner.longest(here, there)
            if more and self._works.bits[self._works.words[more.there : more.there_end]].max() >= _TELLING:
                blocks.append(more)
        blocks.sort()

    def _sentence(self, word: int) -> tuple[int, int]:
        """Give the first word of a word's sentence, and that behind its last."""
        sentence, first_words = self._works.sentence_of(word), self._works.first_words
        return int(first_words[sentence]), int(first_words[sentence + 1])

    def _nearest(self, numbers: Sequence[int]) -> Iterator[list[SharedRun]]:
        """Find the stretches of works that hold the rarest words of the quotation, in whatever order, best first."""
        works = self._works
        mine = np.unique(self.words.numbers[self.words.numbers >= 0])
        mine = mine[works.bits[mine] >= _TELLING]
        if not len(mine):
            return
        wanted = np.zeros(len(works.bits), dtype=np.bool_)
        wanted[mine] = True
        half = max(_WIDEST, len(self._own)) // 2
        scored: list[tuple[float, int, int]] = []
        for number in numbers:
            work = works.works[number]
            held = works.words[work.first_word : work.first_word + work.words]
            at = np.flatnonzero(wanted[held])
            if len(at):
                # A word counts once in a stretch.
                once = np.unique(at // half * len(works.bits) + held[at])
                bits = np.bincount(once // len(works.bits), weights=works.bits[once % len(works.bits)])
                both = bits + np.append(bits[1:], 0.0)
                best = int(np.argmax(both))
                scored.append((float(both[best]), number, best))
        for _, number, best in sorted(scored, reverse=True)[:_PLACES]:
            work = works.works[number]
            first = work.first_word + best * half
            stop = min(first + 2 * half, work.first_word + work.words)
            if block := self._aligner.longest(range(len(self._own)), range(first, stop)):
                yield [SharedRun(block.here, block.there, block.here_end - block.here, block.bits)]

    def differences(self, laid: Laid, work: Work) -> tuple[Difference, ...]:
        """Say how the quotation differs from the work; typography, brackets and ellipses do not count."""
        return tuple(self._differing(laid, work))

    def points(self, laid: Laid, work: Work) -> tuple[Difference, ...]:
        """Say where points between two words differ; full stops alone do not count, since they end abbreviations.

        What a writer puts in brackets is no difference, nor what the work leaves out between two words, as headings.
        """
        found = []
        for block in laid.blocks:
            for after in range(1, min(block.here_end - block.here, block.there_end - block.there)):
                here, there = block.here + after, block.there + after
                ours, theirs = self._ours(here - 1, here + 1), self._theirs(there - 1, there + 1, work)
                apart = "[" in ours or _ELLIPSIS.search(ours) or WORD.search(self._before(there, work))
                own = apart or self._own[here - 1] or self._own[here]
                if not own and _POINTS.findall(ours) != _POINTS.findall(theirs):
                    found.append(Difference(ours, theirs))
        return tuple(found)

    def cut_after(self, laid: Laid, work: Work) -> str:
        """Give the negation just before the quotation, in its sentence; empty where none does."""
        first = laid.blocks[0]
        before = self._theirs(max(self._sentence(first.there)[0], first.there - 2), first.there, work).split()
        if len(before) > 1 and not is_negation(before[-1]) and fold(before[-1]) in STOPWORDS:  # "not a happy man"
            before.pop()
        return before[-1] if before and not first.here and is_negation(before[-1]) else ""

    def _differing(self, laid: Laid, work: Work) -> Iterator[Difference]:
        blocks = self._unmoved(laid.blocks)
        yield from self._at_end(0, blocks[0].here, blocks[0].there, -1, work)
        for before, block in pairwise((None, *blocks)):
            assert block is not None  # noqa: S101 - only the first of a pair may be
            if before is not None:
                yield from self._between(before, block, work)
            yield from self._within(block, work)
        yield from self._at_end(blocks[-1].here_end, len(self._own), blocks[-1].there_end, 1, work)

    def _unmoved(self, blocks: Sequence[Block]) -> list[Block]:
        """Leave out blocks that others were moved past: "ill or good" is shown whole for "good or ill"."""
        kept = list(blocks)
        for before, moved, after in zip(blocks, blocks[1:], blocks[2:], strict=False):
            ours = [*range(before.here_end, moved.here), *range(moved.here_end, after.here)]
            theirs = [*range(before.there_end, moved.there), *range(moved.there_end, after.there)]
            same = sorted(self.words.numbers[ours]) == sorted(self._works.words[theirs])
            shown = self._pauses(before.here_end, moved.here) or self._pauses(moved.here_end, after.here)
            own = any(self._own[at] for at in ours)
            if ours and same and not own and not shown and moved.here_end - moved.here <= _MOVED:
                kept.remove(moved)
        return kept

    def _at_end(self, here: int, here_end: int, there: int, step: int, work: Work) -> Iterator[Difference]:
        """Give words before the first block, or behind the last, for those of the same sentence that are most alike.

        Where none are alike, these are as many. Where a sentence of the work ends there, the next is looked at.
        """
        if here == here_end:
            return
        begin, end = self._sentence(there - (step > 0))
        goes_on = there not in {begin, end}
        owner = self._works.works[self._works.owner_of(there - (step > 0))]
        if not goes_on and owner.first_word < there < owner.first_word + owner.words:
            begin, end = self._sentence(there - (step < 0))
        mine, most = here_end - here, end - there if step > 0 else there - begin

        def span(many: int) -> tuple[int, int]:
            return (there, there + many) if step > 0 else (there - many, there)

        ours = self._ours(here, here_end)
        alike, many = max(
            (token_sort_ratio(ours, self._theirs(*span(many), work), processor=default_process), many)
            for many in range(min(mine + _MORE, most) + 1)
        )
        if alike <= _ALIKE:
            many = min(mine, most) if goes_on or step < 0 else 0
        yield from self._changed(here, here_end, *span(many), work)

    def _between(self, before: Block, after: Block, work: Work) -> Iterator[Difference]:
        shown = self._pauses(before.here_end, after.here) or self._pauses_beside(before, after)
        ours = [at for at in range(before.here_end, after.here) if not self._own[at]]
        apart = after.there - before.there_end
        if 0 <= apart <= MOST_SKIPPED:
            if ours or (not shown and after.here == before.here_end):
                yield from self._changed(
                    before.here_end, after.here, before.there_end, before.there_end if shown else after.there, work
                )
        elif apart < 0:  # what comes second in the quotation comes first in the work
            yield from self._changed(before.here_end, after.here, before.there_end, before.there_end, work)
            one, other = (min(_ENDS, each.here_end - each.here) for each in (before, after))
            yield Difference(
                f"{self._ours(before.here_end - one, before.here_end)} … {self._ours(after.here, after.here + other)}",
                f"{self._theirs(after.there, after.there + other, work)} … "
                + self._theirs(before.there_end - one, before.there_end, work),
            )
        elif not shown:
            theirs = f"{self._theirs(before.there_end, before.there_end + _ENDS, work)} … "
            theirs += self._theirs(after.there - _ENDS, after.there, work)
            yield Difference(self._ours(before.here_end, after.here), theirs, "ellipsis")

    def _pauses(self, here: int, here_end: int) -> bool:
        """Whether an ellipsis stands between words of the quotation."""
        return _ELLIPSIS.search(self.text, int(self.words.ends[here - 1]), int(self.words.starts[here_end])) is not None

    def _pauses_beside(self, before: Block, after: Block) -> bool:
        """Whether as well the gap may be at an ellipsis nearby: of "the old … the new" either "the" may be left out."""
        here, words = after.here, self._works.words
        back = forth = 0
        if before.here_end == here:
            while before.here < here - back - 1 and words[before.there_end - back - 1] == words[after.there - back - 1]:
                back += 1
            while here + forth + 1 < after.here_end and words[before.there_end + forth] == words[after.there + forth]:
                forth += 1
        return any(self._pauses(at, at) for at in range(here - back, here + forth + 1) if at != here)

    def _changed(self, here: int, here_end: int, there: int, there_end: int, work: Work) -> Iterator[Difference]:
        """Give words that are in one of the two alone."""
        if here < here_end and all(self._own[here:here_end]):
            return
        if there < there_end:  # words with a hyphen are shown whole
            while min(here, there) > 0 and self._hyphened(here, there, work):
                here, there = here - 1, there - 1
            while here_end < len(self._own) and self._hyphened(here_end, there_end, work):
                here_end, there_end = here_end + 1, there_end + 1
        ours, theirs = self._ours(here, here_end), self._theirs(there, there_end, work)
        if letters(fold(ours)) != letters(fold(theirs)):
            yield Difference(ours, theirs, _excuse(ours, theirs))

    def _hyphened(self, here: int, there: int, work: Work) -> bool:
        """Whether a hyphen alone stands before a word of the quotation, or before one of the work."""
        ours = self.text[int(self.words.ends[here - 1]) : int(self.words.starts[here])]
        return bool(_HYPHENS & {ours, self._before(there, work).strip()})

    def _before(self, there: int, work: Work) -> str:
        """Give what stands between two words of a work."""
        (_, behind), (start, _) = (self._works.offsets(each, each) for each in (there - 1, there))
        return work.text[behind:start]

    def _within(self, block: Block, work: Work) -> Iterator[Difference]:
        if block.here_end - block.here != block.there_end - block.there:  # one word printed as two
            yield from self._changed(block.here, block.here_end, block.there, block.there_end, work)
            return
        for here, there in zip(range(block.here, block.here_end), range(block.there, block.there_end), strict=True):
            ours, theirs = self._raw[here], self._theirs(there, there + 1, work)
            if ours == theirs or self._own[here]:
                continue
            if letters(fold(ours)) != letters(fold(theirs)):
                alike = self._works.words[there] == self.words.numbers[here]
                yield Difference(ours, theirs, "edition" if alike else _excuse(ours, theirs))
            elif ours[:1].isupper() != theirs[:1].isupper() and not self._may_change_capital(here, theirs):
                yield Difference(ours, theirs, "capital")

    def _may_change_capital(self, here: int, theirs: str) -> bool:
        """Whether nobody minds: the quotation begins here, again behind an ellipsis, or a chapter in capitals does."""
        if here == 0 or (len(theirs) > 1 and theirs.isupper()):
            return True
        between = self.text[int(self.words.ends[here - 1]) : int(self.words.starts[here])]
        return _ELLIPSIS.search(between) is not None or "/" in between or "\n" in between

    def _ours(self, here: int, here_end: int) -> str:
        if here >= here_end:
            return ""
        start, end = int(self.words.starts[here]), int(self.words.ends[here_end - 1])
        start -= self.text[start - 1 : start] == "["
        end += self.text[end : end + 1] == "]"
        return " ".join(self.text[start:end].split())

    def _theirs(self, there: int, there_end: int, work: Work) -> str:
        if there >= there_end:
            return ""
        start, end = self._works.offsets(there, there_end - 1)
        added = line_ends(work.text, start, end, work.cuts)
        return " ".join(without(work.text, start, end, added).split())


def is_negation(word: str) -> bool:
    """Whether a word denies what follows.

    >>> is_negation("Not"), is_negation("didn’t"), is_negation("tent")
    (True, True, False)
    """
    return letters(fold(word)) in _NEGATION or fold(word).endswith("n't")


def _apart(one: Block, other: Block) -> bool:
    return one.here_end <= other.here or other.here_end <= one.here


def _bits(blocks: Sequence[Block]) -> float:
    return sum(block.bits for block in blocks)


def _excuse(ours: str, theirs: str) -> Excuse:
    mine, other = fold(ours).split(), fold(theirs).split()
    if not mine:
        return "" if len(other) <= _FEW and _NEGATION & set(other) else "ellipsis"
    return "pronoun" if len(mine) == len(other) and _PRONOUNS.issuperset((*mine, *other)) else ""


def _joined(quotation: str) -> tuple[str, list[tuple[int, int]]]:
    """Take the brackets out of words, and say where the words are that they changed.

    >>> _joined("“[T]he rain” fell [hard]")
    ('“The rain” fell [hard]', [(1, 4)])
    """
    text, at, inside = "", 0, []
    for match in _IN_WORD.finditer(quotation):
        text += quotation[at : match.start()]
        inside.append((len(text), len(text) + len(match[1] or match[2])))
        text += match[1] or match[2]
        at = match.end()
    text += quotation[at:]
    words = [word.span() for word in re.finditer(r"\w+", text)]
    return text, [span for span in words if any(a < span[1] and span[0] < b for a, b in inside)]
