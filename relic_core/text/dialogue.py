"""Dialogue: how much of a work is spoken, told from its quotation marks, its speech dashes or the speakers of a play.

A work keeps one house style: speech is set in double marks or in single ones, straight or curly, or opens a paragraph
with a dash. The style is judged by the whole work, and the other marks are then left alone, so that an apostrophe is
not taken for a mark nor a quotation inside a speech for a speech.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Literal, NamedTuple

from relic_core.domain import Paragraph, Span, Work
from relic_core.text.words import WORD, tokens, without_names

SpeechStyle = Literal["double", "single", "dashes", "speakers", "none"]

_DOUBLE = re.compile(r"[“”„\"«»「」]")
_SINGLE = re.compile(r"[‘’']")
_DASH = re.compile(r"_?(?:[—―–]|--+)\s?_?[\w‘“'\"…]")
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"[^\W_]")
_ELISION = re.compile(
    r"(?:t(?:is|was|were|will|would|isn|wasn)|em|er|im|ere|cause|bout|gainst|neath|mongst|twixt|tween|fraid|way|d|ll|s|re|"
    r"ve|m|a|n)\b|\d",
    re.IGNORECASE,
)
"""What follows an apostrophe that stands for the beginning of a word, or of a year."""
_BEFORE_SPEECH = ' \n\t\u00a0([—–―-"“”‘’_'
_OPENS_OR_CALLS = "([—–―-:_"
_ENDS_SPEECH = '.,!?;:…—–―-)]"”*'
_LEAST_DASHES = 3
"""Paragraphs that open with a dash; fewer are no house style."""


_OPENING = 5
"""How many speeches inside paragraphs one that opens a paragraph weighs."""


_CALLS = frozenset("o oh ah well yes no my dear mr mrs miss sir madam lady lord and".split())  # noqa: SIM905
"""Tokens that go with a name by which somebody is called."""


class _Mark(NamedTuple):
    """A quotation mark: where it stands, and whether it may open and close a speech."""

    at: int
    opens: bool
    closes: bool
    sure: bool = True


class _Scanned(NamedTuple):
    """The speeches of a paragraph, as offsets from its beginning, and how it joins its neighbours."""

    speeches: list[tuple[int, int]]
    unclosed: int | None
    goes_on: bool
    first_close: int | None


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words of a chapter or sentence, how many of them are spoken, and of a sentence where: offsets in the work."""

    words: int
    spoken: int
    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def share(self) -> float:
        """From 0 to 1; 0 where there are no words."""
        return self.spoken / self.words if self.words else 0.0


@dataclass(frozen=True)
class Dialogue:
    """How much of each chapter is spoken, and what tells it: marks, dashes that open paragraphs, a play's speakers."""

    style: SpeechStyle
    chapters: tuple[Spoken, ...]

    @cached_property
    def whole(self) -> Spoken:
        """The sum of the chapters."""
        return Spoken(sum(part.words for part in self.chapters), sum(part.spoken for part in self.chapters))


def dialogue_of(work: Work) -> Dialogue:
    r"""Measure how much of a work is spoken.

    A word is a run of characters without white space, as in the number of words of a work. It is spoken where it
    stands inside quotation marks of the work's own style, in a paragraph that a dash opens, or under a speaker's name.
    A tale told inside quotation marks is spoken too; a speech that runs over paragraphs, each opening with a mark, is
    spoken to its end. One whose end nothing marks is taken to end with its sentence. Notes are not spoken. Words joined
    by a dash are one, and go where the first of them stands.
    """
    style, speeches = find_speech(work)
    chapters = [Spoken(0, 0)] * len(work.chapters)
    for sentence, counts in zip(work.sentences, counted(work, speeches), strict=True):
        before = chapters[sentence.chapter]
        chapters[sentence.chapter] = Spoken(before.words + counts.words, before.spoken + counts.spoken)
    return Dialogue(style, tuple(chapters))


def spoken_by_sentence(work: Work) -> tuple[Spoken, ...]:
    """Measure how much of each sentence of a work is spoken; see `dialogue_of`."""
    return tuple(counted(work, find_speech(work)[1]))


def find_speech(work: Work) -> tuple[SpeechStyle, dict[int, list[tuple[int, int]]]]:
    """Find what is spoken, its marks included: by paragraph, in order, as offsets in the work; see `dialogue_of`."""
    texts = [work.text[paragraph.start : paragraph.end] for paragraph in work.paragraphs]
    marked = [
        "" if paragraph.speaker or paragraph.kind in {"note", "stage"} else text
        for paragraph, text in zip(work.paragraphs, texts, strict=True)
    ]
    style = _style(marked)
    speeches: dict[int, list[tuple[int, int]]] = {}
    if style in _SCANS:
        speeches = _joined(work, [_SCANS[style](text) for text in marked])
    dashed = style == "dashes" or (style == "double" and _as_in_french(marked))
    by_speakers = 0
    for paragraph, text in zip(work.paragraphs, texts, strict=True):
        if paragraph.speaker and paragraph.kind != "stage":
            speeches[paragraph.index] = [(paragraph.start, paragraph.end)]
            by_speakers += 1
        elif dashed and paragraph.kind == "prose" and not speeches.get(paragraph.index) and _DASH.match(text):
            speeches[paragraph.index] = [(paragraph.start, paragraph.end)]
    if by_speakers * 2 > len(work.paragraphs):
        style = "speakers"
    return style, speeches


def only_addresses(work: Work, span: Span) -> bool:
    """Whether a passage is speech that only names or calls somebody: at most one word beside names and the like.

    Told by double marks and opening ones alone: in "Listen, Nick;" of a longer speech the mark stands before it.
    """
    text = work.span_text(span)
    before = work.text[work.paragraphs[work.sentences[span.start].paragraph].start : work.sentences[span.start].start]
    if text[0] not in "“\"‘'" and before.count("“") <= before.count("”") and before.count('"') % 2 == 0:
        return False
    small = (match.group() for match in WORD.finditer(text) if match.group()[0].islower())  # no name begins so
    if len([*islice((word for word in small if tokens(word)[0] not in _CALLS), 2)]) > 1:
        return False  # as almost always, and told after a few words
    return len([word for word in tokens(without_names(text)) if word not in _CALLS]) <= 1


def _style(texts: Iterable[str]) -> SpeechStyle:
    """Tell the house style: the marks of most speeches, above all of those that open a paragraph.

    Where a whole tale is in quotation marks, there are more inner ones, but the outer ones open the paragraphs.
    """
    counts: dict[SpeechStyle, int] = {"double": 0, "single": 0, "dashes": 0}
    for text in texts:
        counts["dashes"] += _OPENING * (_DASH.match(text) is not None)
        for style, scan in _SCANS.items():
            found = scan(text)
            counts[style] += len(found.speeches) + _OPENING * found.goes_on
    best = max(counts, key=counts.__getitem__)
    if best == "dashes" and counts[best] < _OPENING * _LEAST_DASHES:
        best = max(_SCANS, key=counts.__getitem__)
    return best if counts[best] else "none"


def _as_in_french(texts: Sequence[str]) -> bool:
    """Whether guillemets are the house marks, and paragraphs enough open with a dash."""
    marks = {mark: sum(text.count(mark) for text in texts) for mark in '«“"'}
    dashes = sum(_DASH.match(text) is not None for text in texts)
    return marks["«"] > max(marks["“"], marks['"']) and dashes >= _LEAST_DASHES


def _turned(text: str, at: int) -> bool:
    """Whether guillemets point at what is said, as in German: »Wohin?« and not «Où ?»."""
    before, after = _around(text, at)
    if text[at] == "»":
        return before in _BEFORE_SPEECH and not after.isspace()
    return text[at] == "«" and not before.isspace() and before not in _OPENS_OR_CALLS and not after.isalnum()


def _scan_double(text: str) -> _Scanned:
    marks = []
    low = "„" in text  # then “ closes, as in German
    for match in _DOUBLE.finditer(text):
        at, sign = match.start(), match.group()
        if sign == '"':
            before, after = _around(text, at)
            opens, closes = not after.isspace() and before in _BEFORE_SPEECH, not before.isspace()
            marks.append(_Mark(at, opens=opens or not closes, closes=closes))
        else:
            opens = sign in "“„«「" and not (sign == "“" and low)
            marks.append(_Mark(at, opens=opens is not _turned(text, at), closes=opens is _turned(text, at)))
    return _scanned(text, marks)


def _scan_single(text: str) -> _Scanned:
    marks = []
    for match in _SINGLE.finditer(text):
        at, sign = match.start(), match.group()
        before, after = _around(text, at)
        if before.isalnum() and after.isalnum():
            continue  # inside a word
        may_open = sign != "’" and before in _BEFORE_SPEECH and not after.isspace()
        may_close = sign != "‘" and not before.isspace() and not after.isalnum()
        if may_open and not may_close:
            elided = _ELISION.match(text, at + 1) is not None
            marks.append(_Mark(at, opens=True, closes=False, sure=not elided))
        elif may_close:
            marks.append(_Mark(at, opens=may_open, closes=True, sure=before in _ENDS_SPEECH))
    return _scanned(text, _settled(marks))


def _settled(marks: Sequence[_Mark]) -> list[_Mark]:
    """Decide which unsure marks are apostrophes.

    Behind a letter (the boys' boat, th') a mark closes nothing where one that surely closes comes before the next
    speech; before what is often cut short ('tis, 'em) it opens a speech only where such a one comes.
    """
    settled: list[_Mark] = []
    closed_next = False
    for mark in reversed(marks):
        if not mark.sure and closed_next is mark.closes:
            continue
        settled.append(mark)
        if mark.sure or mark.opens:
            closed_next = mark.closes and not mark.opens
    return settled[::-1]


def _scanned(text: str, marks: Sequence[_Mark]) -> _Scanned:
    speeches: list[tuple[int, int]] = []
    began: int | None = None
    for mark in marks:
        if began is not None and mark.closes:
            speeches.append((began, mark.at + 1))
            began = None
        elif began is None and mark.opens:
            began = mark.at
    first = marks[0] if marks else None
    starts = first is not None and first.opens and not text[: first.at].strip(" _\n“‘\"'")
    closes = first.at + 1 if first is not None and first.closes and not first.opens else None
    return _Scanned(speeches, began, starts, closes)


_SCANS: dict[SpeechStyle, Callable[[str], _Scanned]] = {"double": _scan_double, "single": _scan_single}


def _around(text: str, at: int) -> tuple[str, str]:
    before, after = at - 1, at + 1
    while before >= 0 and text[before] == "_":
        before -= 1
    while after < len(text) and text[after] == "_":
        after += 1
    return text[before] if before >= 0 else " ", text[after] if after < len(text) else " "


def _joined(work: Work, scanned: Sequence[_Scanned]) -> dict[int, list[tuple[int, int]]]:
    """Carry speeches over from paragraph to paragraph; offsets become those of the work."""
    found: dict[int, list[tuple[int, int]]] = {}
    carried = False
    for paragraph, here in zip(work.paragraphs, scanned, strict=True):
        speeches = [(paragraph.start + start, paragraph.start + end) for start, end in here.speeches]
        if carried and here.first_close is not None:
            speeches.insert(0, (paragraph.start, paragraph.start + here.first_close))
        carried = False
        if here.unclosed is not None:
            start = paragraph.start + here.unclosed
            carried = _goes_on(work, paragraph, scanned)
            speeches.append((start, paragraph.end if carried else _sentence_end(work, start)))
        found[paragraph.index] = speeches
    return found


def _goes_on(work: Work, paragraph: Paragraph, scanned: Sequence[_Scanned]) -> bool:
    after = paragraph.index + 1
    if after == len(work.paragraphs) or work.paragraphs[after].chapter != paragraph.chapter:
        return False
    return scanned[after].goes_on or scanned[after].first_close is not None


def _sentence_end(work: Work, offset: int) -> int:
    return work.sentences[bisect_right(work.sentences, offset, key=attrgetter("start")) - 1].end


def counted(work: Work, speeches: Mapping[int, Sequence[tuple[int, int]]]) -> Iterator[Spoken]:
    """Count what is spoken in each sentence of a work, whose speeches `find_speech` has found."""
    for sentence in work.sentences:
        words = len(work.text[sentence.start : sentence.end].split())
        ranges = [
            (start, end)
            for start, end in speeches.get(sentence.paragraph, ())
            if start < sentence.end and end > sentence.start
        ]
        if not ranges:
            yield Spoken(words, 0)
        elif ranges[0][0] <= sentence.start and ranges[0][1] >= sentence.end:
            yield Spoken(words, words, (ranges[0],))
        else:
            spoken = 0
            for word in _WORD.finditer(work.text, sentence.start, sentence.end):
                letter = _LETTER.search(work.text, word.start(), word.end())
                at = letter.start() if letter else word.start()
                spoken += any(start <= at < end for start, end in ranges)
            yield Spoken(words, spoken, tuple(ranges))
