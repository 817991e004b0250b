"""What print leaves between the words of a book: page numbers, running heads, marks of notes, citations, word breaks.

Everything here says where such noise is; no text is changed. `cuts` is the part that works, claims and passages share:
what has to go for a text's words to be whole. A text that has nothing of the kind keeps its words as they are. Source:
Thai et al., RELiC (ACL 2022), appendix A, "Preprocessing" and Table A1.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from statistics import median

import numpy as np
import numpy.typing as npt

from relic_core.domain import Offsets, Sentence
from relic_core.text.variants import COMPOUNDS

_NUMBER = r"(?:\d+[a-z]?(?:\s?[-–—]{1,2}\s?\d+)?|[ivxlcdm]+|[IVXLCDM]+)"
_UNIT = (
    r"(?:p|pp|pg|page|pages|vol|vols|volume|volumes|ch|chs|chap|chaps|chapter|chapters|bk|bks|book|books|act|sc|scene"
    r"|canto|cantos|stanza|stanzas|st|l|ll|line|lines|ver|verse|verses|letter|letters|sect|section|sections|part|pt|no"
    r"|nos|note|notes|fol|sonnet|ode|epistle|satire|leaf)"
)
_PLACE = re.compile(
    rf"(?:§+\s*|\b{_UNIT}\b\.?,?\s*){_NUMBER}\b\.?(?:\s?ff?\b\.?|\s?sqq?\b\.?|\s?et\sseqq?\b\.?)?", re.IGNORECASE
)
_BARE_PLACE = re.compile(
    r"\b(?:[ivxlc]+|[IVXLC]+)[.,:;]\s*(?:(?:[ivxlc]+|sc)(?:[.,:;]\s*|\s+))*\d+(?:\s?[-–—]{1,2}\s?\d+)?"  # iv. 3. 12
    r"|\b\d{1,3}[.:,]\s?\d+(?:[.:,]\s?\d+)*(?:[-–—]\d+)?"  # 4. 3. 12
    r"|\b[IVX]+[.,]\s*[ivx]+\b\.?"  # IV. iii
)
_NUMBERS = re.compile(rf"\b{_NUMBER}\b")
_LOWER = re.compile(r"\b[a-zà-ÿ]{2,}")
_ALLOWED = frozenset(
    """
    see cf compare also ibid ib id op cit loc and of the in on to from note notes ante supra infra above below
    edition ed edit vol vols chap foot seq seqq et sqq ff passim first second third fourth fifth sixth seventh
    eighth ninth tenth last series stanza stanzas line lines page pages works
    life letters poems
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)  # fmt: skip


def is_citation(text: str) -> bool:
    """Whether the words in a bracket only say where something stands.

    >>> [is_citation(text) for text in ("p. 149", "vol. i. pp. 3-4", "_Emma_, chap. xii.", "iv. 9", "see above, p. 3")]
    [True, True, True, True, True]
    >>> [is_citation(text) for text in ("1816", "as he says on p. 4 of his book", "the first", "I. Walton", "A line")]
    [False, False, False, False, False]
    """
    text = text.replace("_", "").replace("=", "")
    rest, places = _PLACE.subn(" ", text)
    if not places:
        rest, places = _BARE_PLACE.subn(" ", text)
    if not places:
        return False
    rest = _NUMBERS.sub(" ", rest)
    return all(word in _ALLOWED for word in _LOWER.findall(rest))


_LONE = re.compile(
    r"(?P<text>[\[({|<-]*[ \t]*(?:pg\.?|page|p\.)?[ \t]*)(?P<number>\d{1,4}|[ivxlcdm]{1,8})[ \t]*[\])}|>-]*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<left>\d{1,4})[ \t]+(?P<head>[^\d]{3,60})|(?P<title>[^\d]{3,60})[ \t]+(?P<right>\d{1,4})")
_AFTER_FEED = re.compile(r"\f[ \t\n]*(?P<head>[^\n\f]{3,60})$", re.MULTILINE)
_PAGE_MARK = re.compile(
    r"[\[({|<][ \t]*(?:pg\.?|page|p\.)[ \t]*(?:\d{1,4}|[ivxlcdm]{1,8})[a-z]?[ \t]*[\])}|>]", re.IGNORECASE
)
_BRACED = re.compile(r"(?<!\^)\{[ \t]*(?:p\.?[ \t]*)?(?:\d{1,4}|[ivxlcdm]{1,8})[a-z]?[ \t]*\}")
_MARKS = re.compile(
    r"""
      \[\d{1,4}(?::[\dA-Za-z]{1,2})?[a-z]?\]
    | (?:(?<=[^\s(\[“"‘'])|(?<=[\w.,;:!?]["']))\[(?:[A-Za-z]|[ivxlc]{1,6})\](?![^\W\d_])  # word[A], not "[A] man"
    | (?<=\S)\[(?:\*{1,3}|[†‡§]{1,2})\]
    | (?<=[\w.,;:!?)”’"'])[*†‡]{1,3}(?![\w*])                                      # word.*
    | (?<=[^\W\d]|[.,;:!?)”’"'])[¹²³⁰⁴-⁹]+                                         # word.³
    | (?<=[^\W\d_][.,;:!?][”’"'])\d{1,3}(?=[\s.,;:!?)]) | (?<=[^\W\d_][,;:!?])\d{1,3}(?=\s)            # word,”3
    | \^\{?\d{1,3}\}?
    | [\[{]\s*(?:illustrations?|sidenotes?|side-note|footnotes?|transcriber|tr\.?\s?notes?|greek|picture|figure|sic)\b
      [^\[\]{}]{0,1500}[\]}]
    | </?(?:i|b|em|sup|sub|small|sc|u|br|p)\s?/?>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER_OF_LINE = re.compile(r"(?<=\S)[ \t]{3,}[\[(]?\d{1,4}[\])]?[ \t]*$", re.MULTILINE)
_TYPE = re.compile(r"(?<![\w=~+#])([=~+#])(?=[^\s=~+#])([^=~+#\n]{1,200})(?<=\S)\1(?![\w=~+#])")
_RAISED = re.compile(r"\^\{([^{}\n]{1,6})\}")
_UNBRACKETED = re.compile(
    r"(?:(?<=[,.;:”’\"'])\s+|(?<!\s)\s*(?:--|—)\s*)(?:vols?\.?\s(?:\d+|[ivxlc]+)\.?,?\s+)?pp?\.\s?\d{1,4}(?:\s?[-–]\s?\d{1,4})?"
    r"(?:\s?(?:ff?|sqq?)\b)?(?:\.(?=\s|\Z)|(?=[\s.,;:)]))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[(\[]([^()\[\]]{2,140})[)\]]")
_WORD_BREAK = re.compile(
    r"(?P<hyphen>[-¬](?<=[^\W\d_][-¬]))(?P<gap>[ \t]+(?:\n\s{0,400})?|\n\s{0,400})(?P<second>[^\W\d_]+)"
)
_FIRST = re.compile(r"[^\W\d_]+$")
_FIRST_PART = re.compile(r"[^\W\d_]+")
_WORD_LENGTH = 40
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_FEW = 3
"""A head that runs is printed at least so often."""
_PAGE_LENGTH = 6_000
"""Characters. Numbers on lines of their own that stand no farther apart are those of pages, not of chapters."""
_MANY = 5
_ANEW = 0.1
"""Share of the numbers that are no higher than the one before; those of stanzas and sections begin anew more often."""
_DIGITS, _BRACKETED_NUMBER = re.compile(r"\d+"), re.compile(r"\[(\d{1,4})\]")
_LONE_LENGTH, _HEAD_LENGTH = 16, 70
"""Characters of a line that holds a page number alone, or a running head beside it."""


_SIGNS = "\u00ad\u200b\u200c\u200d\u2060\ufeff¬"
_UNSEEN = re.compile(rf"(?<=[^\W\d_])(?:\u00ad[ \t]*\n|¬[ \t]*\n?)[ \t]*(?=[^\W\d_])|[{_SIGNS[:-1]}]+")
"""Soft hyphens, what has no width, and the sign for a hyphen at the end of a line."""
_MAY_BE_BROKEN = re.compile(
    rf"[{_SIGNS}]|-[ \t]*\n|[\[{{(|<][ \t]*(?:p|\d)|^[ \t]*(?:p\w* )?\d|[^\W\d_][ \t]+\d{{1,4}}$",
    re.MULTILINE | re.IGNORECASE,
)
_COMPOUNDING = frozenset({"well", "ill", "self", "half", "ever", "much"})
_TEXTS, _LONG = 8, 20_000
"""Texts whose cuts are kept, of so many characters or more: works, one after the other."""


def cuts(text: str) -> tuple[Offsets, ...]:
    r"""Find what has to go for the words of a text to be whole: hyphens at line ends, unseen signs, page marks, heads.

    Hyphens count only where at least half of those at line ends part a word, so that a novel whose compounds are
    wrapped (high-|born) keeps its words.

    >>> text = "The great transfor-\nmation [Pg 2] of no{3}body"
    >>> "".join(text[a:b] for a, b in zip([0, *(end for _, end in cuts(text))], [*(at for at, _ in cuts(text)), None]))
    'The great transformation  of nobody'
    """
    return _kept(text) if len(text) >= _LONG else _cuts(text)


def _cuts(text: str) -> tuple[Offsets, ...]:
    if not _MAY_BE_BROKEN.search(text):
        return ()
    printed = printed_noise(text, capitals=True)
    breaks = _word_breaks(text, printed.masked)
    joined = [(start, end) for start, end in breaks if text[start] in "-¬" and not _in_compound(text, start, end)]
    unseen = [match.span() for match in _UNSEEN.finditer(text)] if any(sign in text for sign in _SIGNS) else []
    pages = [(start, end) for start, end in printed.found if text[start - 1 : start] != "_"]  # H_{2}O
    return tuple(_merged([*pages, *unseen, *(joined if 2 * len(joined) >= len(breaks) else ())]))


_kept = lru_cache(maxsize=_TEXTS)(_cuts)


def _in_compound(text: str, start: int, end: int) -> bool:
    first, second = _FIRST.search(text, max(0, start - _WORD_LENGTH), start), _FIRST_PART.match(text, end)
    return text[start] == "-" and first is not None and second is not None and is_compound(first[0], second[0])


def is_compound(first: str, second: str) -> bool:
    """Whether a hyphen at a line end is likelier the word's own.

    >>> is_compound("well", "known"), is_compound("To", "day"), is_compound("ill", "ness"), is_compound("gar", "den")
    (True, True, False, False)
    """
    pair = (first.casefold(), second.casefold())
    return pair in COMPOUNDS["hyphen"] or (pair[0] in _COMPOUNDING and is_word(pair[1]))


def within(text: str, sentences: Iterable[Sentence]) -> tuple[Offsets, ...]:
    """Give the cuts of a text that reach into sentences of it."""
    gone = cuts(text)
    kept: set[Offsets] = set()
    for each in sentences if gone else ():
        first = bisect_right(gone, each.start, key=itemgetter(1))
        kept.update(gone[first : bisect_left(gone, each.end, key=itemgetter(0))])
    return tuple(sorted(kept))


def unbroken(text: str) -> str:
    """Give a claim, a query or a passage as pasted with its words whole."""
    return without(text, 0, len(text), cuts(text))


def without(text: str, start: int, end: int, gone: Sequence[Offsets]) -> str:
    """Give a stretch of a text without what is cut."""
    if not gone:
        return text[start:end]
    first = bisect_left(gone, start, key=itemgetter(1))
    pieces, at = [], start
    for cut, after in gone[first : bisect_left(gone, end, key=itemgetter(0))]:
        pieces.append(text[at : max(at, cut)])
        at = max(at, after)
    return "".join([*pieces, text[at:end]])


def origins(text: str, gone: Sequence[Offsets]) -> npt.NDArray[np.int32]:
    """Say where each character of a text without what is cut came from; shape (n_kept,)."""
    kept = np.ones(len(text), np.bool_)
    for start, end in gone:
        kept[start:end] = False
    return np.flatnonzero(kept).astype(np.int32)


@dataclass(frozen=True)
class Printed:
    """What belongs to the printed page: where it stands, and the text with it as white space, as long as the text."""

    masked: str
    found: list[Offsets]


def printed_noise(text: str, *, capitals: bool = False) -> Printed:
    r"""Find page numbers and running heads; `capitals`: only heads in capitals, which then count from two on.

    >>> page = printed_noise("It rained\n[Pg 12]\nhere {13} and there.")
    >>> page.found, page.masked
    ([(9, 17), (23, 27)], 'It rained        \nhere      and there.')
    """
    heads = [*_running_heads(text, capitals=capitals)]
    lines = sorted({*_page_numbers(text, heads), *heads, *_feed_heads(text)})
    found = [_with_line_end(text, start, end) for start, end in lines]
    marks = (mark.span() for mark in chain(_PAGE_MARK.finditer(text), _BRACED.finditer(text)))
    found = _merged([*found, *(span for span in marks if not _begins_note(text, span))])
    return Printed(_mask(text, found), found)


def inline_noise(text: str, printed: Printed) -> list[Offsets]:
    """Find marks of notes, in-line citations, type and word breaks; what was found printed is in it."""
    found = [*printed.found]
    marks = (mark.span() for mark in _MARKS.finditer(text))
    found += [_with_space(text, *span) for span in marks if not _is_footnote(text, *span)]
    found += [_with_space(text, *mark.span()) for mark in _BRACKETED.finditer(text) if is_citation(mark[1])]
    found += [mark.span() for mark in _UNBRACKETED.finditer(text)]
    found += [mark.span() for mark in _NUMBER_OF_LINE.finditer(text)]
    for pattern in (_TYPE, _RAISED):
        for mark in pattern.finditer(text):
            inner = mark.span(mark.re.groups)
            found += [(mark.start(), inner[0]), (inner[1], mark.end())]
    found += _word_breaks(text, printed.masked)
    return _merged(found)


def _lines(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Yield short lines that are not blank, without the white space around them, and where they begin."""
    at = 0
    for line in text.split("\n"):
        short = line.strip() if len(line) < 3 * longest else ""
        if short and len(short) <= longest:
            yield at + line.index(short[0]), short
        at += len(line) + 1


def _page_numbers(text: str, heads: Sequence[Offsets]) -> Iterator[Offsets]:
    """Find lines that hold a page number and nothing else; `heads`: running heads with their numbers.

    A bare number may be that of a chapter or stanza: it is taken where such numbers stand as close as pages and do not
    begin anew, or where a page close by is numbered as it is, or next to it; so is one in brackets amid a line.
    """
    bare: list[Offsets] = []
    small: list[Offsets] = []
    sure = [*heads, *(mark.span() for mark in _PAGE_MARK.finditer(text))]
    for start, line in _lines(text, _LONE_LENGTH):
        match = _LONE.fullmatch(line)
        if match is None:
            continue
        number, span = match["number"], (start, start + len(line))
        if number != line:
            if number.isdecimal() or number.islower():
                yield span
                sure.append(span)
        elif number.isdecimal():
            bare.append(span)
        elif number.islower() and len(number) > 1:
            small.append(span)
    distances = [after - before for (before, _), (after, _) in pairwise(bare)]
    values = [int(text[start:end]) for start, end in bare]
    anew = sum(after <= before for before, after in pairwise(values))
    if len(bare) >= _MANY and median(distances) < _PAGE_LENGTH and anew <= _ANEW * len(bare):
        yield from bare
        yield from small
        return
    pages = sorted((start, int(found[0])) for start, end in sure if (found := _DIGITS.search(text, start, end)))
    bracketed = [(mark.span(), int(mark[1])) for mark in _BRACKETED_NUMBER.finditer(text)] if pages else []
    for span, value in [*zip(bare, values, strict=True), *bracketed]:
        near = pages[bisect_left(pages, (span[0] - _PAGE_LENGTH, 0)) : bisect_left(pages, (span[1] + _PAGE_LENGTH, 0))]
        if any(abs(value - number) <= 1 for _, number in near):
            yield span


def _running_heads(text: str, *, capitals: bool) -> Iterator[Offsets]:
    numbered: dict[str, dict[str, list[Offsets]]] = defaultdict(lambda: defaultdict(list))
    for start, line in _lines(text, _HEAD_LENGTH):
        if not (line[0].isdecimal() or line[-1].isdecimal()) or (capitals and not line.isupper()):
            continue
        match = _NUMBERED.fullmatch(line)
        if match is not None:
            head = " ".join((match["head"] or match["title"]).split()).casefold()
            numbered[head][match["left"] or match["right"]].append((start, start + len(line)))
    for head, pages in numbered.items():
        if len(pages) >= (2 if capitals else _FEW) and _is_head(head):
            for lines in pages.values():
                yield from lines


def _feed_heads(text: str) -> Iterator[Offsets]:
    heads: dict[str, list[Offsets]] = defaultdict(list)
    for line in _AFTER_FEED.finditer(text):
        heads[" ".join(re.sub(r"\d+", "", line["head"]).split()).casefold()].append(line.span("head"))
    for lines in heads.values():
        if len(lines) >= _FEW:
            yield from lines


def _is_head(head: str) -> bool:
    return sum(map(str.isalpha, head)) > 0.6 * len(head) and not re.search(r"[,;:]$|\.{3}|\. \.", head)


def _with_line_end(text: str, start: int, end: int) -> Offsets:
    """Take the line end before a line too where it stands amid a paragraph, which it would part."""
    first = text.rfind("\n", 0, start)
    after = text.find("\n", end, end + 2)
    if first <= 0 or after < 0 or text[first + 1 : start].strip():
        return start, end
    amid = not text[first - 1].isspace() and text[after + 1 : after + 2].strip()
    return (first, end) if amid else (start, end)


def _is_footnote(text: str, start: int, end: int) -> bool:
    line = text[max(0, start - _WORD_LENGTH) : start].rpartition("\n")[2]
    return not line.strip() and text[start:end].lower().startswith("[footnote")


def _with_space(text: str, start: int, end: int) -> Offsets:
    """Take the white space before a mark too, unless it parts the words around the mark."""
    if end == len(text) or text[end].isspace() or text[end] in ".,;:!?)]”’":
        while start and text[start - 1].isspace():
            start -= 1
    return start, end


def _begins_note(text: str, span: Offsets) -> bool:
    """Whether a mark in braces begins a line: so do footnotes ("{19} See ..."), which tell by it what they are."""
    start, end = span
    line = text.rfind("\n", max(0, start - 12), start)
    return (
        text[start] == "{"
        and line >= 0
        and not text[line:start].strip()
        and text[line - 1 : line] == "\n"
        and text[end : end + 1] in {" ", "\t"}
    )


def _word_breaks(text: str, masked: str) -> list[Offsets]:
    """Find hyphens that part a word at the end of a line, and the line ends behind those that belong to their word."""
    breaks = list(_WORD_BREAK.finditer(masked))
    if not breaks:
        return []
    words = set(_WORD.findall(text.lower()))
    found = []
    for match in breaks:
        if not match["second"][0].islower():
            continue
        first, second = (
            _FIRST.search(masked[max(0, match.start() - _WORD_LENGTH) : match.start()]),
            match["second"].lower(),
        )
        if first is None:
            continue
        begun = first[0].lower()
        parted = f"{begun}-{second}" in words
        whole = match["hyphen"] == "¬" or (not parted and (begun + second in words or is_word(begun + second)))
        if "\n" not in match["gap"] and not whole:
            continue  # "two- and threefold"
        found.append((match.start("hyphen" if whole else "gap"), match.end("gap")))
    return found


def _merged(stretches: Iterable[Offsets]) -> list[Offsets]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _mask(text: str, stretches: Sequence[Offsets]) -> str:
    pieces, at = [], 0
    for start, end in stretches:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def is_word(word: str) -> bool:
    """Whether the dictionary knows a word, in whatever form.

    >>> is_word("enormous"), is_word("enor")
    (True, False)
    """
    from simplemma import is_known  # its dictionary takes a moment to load, and is not always wanted

    return is_known(word, lang="en")
