"""A citation as runs of words, some in italics, and as plain text, Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Self

from relic_core.formats.escaping import escape_markdown
from relic_core.text.typography import ELIDED

_CLOSED = ".?!"
_BULLET = re.compile(r"[-+=]|:(?=\s|$|::)")
"""What at the beginning of a line makes a list, an underlined heading or, in Pandoc, a definition."""
_NUMBER = re.compile(
    r"\d{1,9}(?=[.)])"
    r"|\(?(?:\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+)(?=\)(?:\s|$))"
    r"|(?:[a-z]|[ivxlcdm]{2,}|[IVXLCDM]{2,})(?=\.(?:\s|$))"
    r"|[A-Z](?=\.(?:\s\s|$))"  # A. Nobody is a person, and Pandoc takes it for one
)
"""What makes a numbered list there, in Pandoc also by letters: its mark is escaped."""
_MARK = re.compile(
    rf"[“”]|‘(?!{ELIDED.pattern}(?!’)|T(?:is|was)\b)|(?P<surely>(?<=[^\w\s])’(?!\w))"
    r"|(?<=\w)’(?!\w)(?![^‘]*[^\w\s]’(?!\w))"  # the boys’ boat: an apostrophe where one surely closes afterwards
)
"""A quotation mark: ‘ but where it stands for letters left out, ’ where it may close."""
_SPEECH_BEGINS = re.compile(r"\B[‘’]\b")
"""As ’ that also stands for letters left out: ’Tis."""
_CLOSED_BY = {"“": "”", "‘": "’"}
_IN_TURN = tuple(_CLOSED_BY.items())[::-1]
_NEW_LINE = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class TextRun:
    """Words set in one way."""

    text: str
    italic: bool = False


class Line:
    """A citation in the making: pieces are added, and no full stop is set behind another.

    >>> line = Line().add("Trollope, Anthony").stop().add("Can You Forgive Her?", italic=True).stop()
    >>> as_markdown(line.runs)
    'Trollope, Anthony. *Can You Forgive Her?*'
    """

    def __init__(self) -> None:
        self._runs: list[TextRun] = []

    @property
    def runs(self) -> tuple[TextRun, ...]:
        """What was added, neighbours set in the same way put together."""
        joined: list[TextRun] = []
        for run in self._runs:
            if joined and joined[-1].italic == run.italic:
                joined[-1] = TextRun(joined[-1].text + run.text, run.italic)
            else:
                joined.append(run)
        return tuple(joined)

    def add(self, words: str, *, before: str = " ", italic: bool = False) -> Self:
        """Add words, parted from what stands there by `before`; nothing where there are none."""
        if words:
            if self._runs and before:
                self._runs.append(TextRun(before))
            self._runs.append(TextRun(words, italic))
        return self

    def mark(self, mark: str) -> Self:
        """Add a mark: a comma also behind a title's question mark, a full stop only where nothing closes already."""
        if mark and self._runs and not (mark == "." and self._last in _CLOSED):
            self._runs.append(TextRun(mark))
        return self

    def stop(self) -> Self:
        """Close a part with a full stop."""
        return self.mark(".")

    def title(self, words: str, mark: str = "", *, quoted: bool = False, before: str = " ") -> Self:
        """Add a title, in italics or in quotation marks, and a mark behind it, which stands inside quotation marks."""
        if not quoted:
            return self.add(words, italic=True, before=before).mark(mark)
        inside = "" if mark == "." and words.rstrip("”’\"'")[-1:] in _CLOSED else mark
        return self.add(f"“{inner_quotes(words)}{inside}”", before=before)

    @property
    def _last(self) -> str:
        last = self._runs[-1].text
        return last.rstrip("”’\"'")[-1:] or last[-1:]


def inner_quotes(words: str, *, paired: bool = False) -> str:
    """Turn quotation marks, which are to stand inside double ones: the outermost become single, those within double.

    - `paired`: of words cut out of a text a mark that closes what began before them is left away, and one is added
      where something is open at their end.

    >>> inner_quotes("The “Moonlight” Sonata, and Emma’s"), inner_quotes("‘Say “no”,’ said Emma")
    ('The ‘Moonlight’ Sonata, and Emma’s', '‘Say “no”,’ said Emma')
    >>> inner_quotes("Such dust as this.” “I had supposed", paired=True)
    'Such dust as this. ‘I had supposed’'
    """
    text = re.sub(r'"([^"]*)"', r"“\1”", words)
    turned, opened = list(text), list[int]()
    for mark in _MARK.finditer(text):
        at, sign = mark.start(), mark[0]
        while sign == "”" and opened and text[opened[-1]] == "‘":  # nothing closed it: an apostrophe
            opened.pop()
        if sign in _CLOSED_BY:
            opened.append(at)
        elif opened and sign == _CLOSED_BY[text[opened[-1]]]:
            begins = opened.pop()
            turned[begins], turned[at] = _IN_TURN[len(opened) % 2]
        elif sign == "”" or (paired and not opened and mark["surely"] and not _SPEECH_BEGINS.search(text, 0, at)):
            turned[at] = "" if paired else "’"
    for level, at in enumerate(opened):
        turned[at] = _IN_TURN[level % 2][0]
    return "".join(turned) + "".join(_IN_TURN[level % 2][1] for level in reversed(range(len(opened))) if paired)


def as_text(runs: Iterable[TextRun]) -> str:
    """Give plain text; what is in italics elsewhere is not marked."""
    return "".join(run.text for run in runs)


def as_markdown(runs: Sequence[TextRun], *, heading: bool = False) -> str:
    r"""Give one line of Markdown, with italics between asterisks; in a heading a number at the beginning makes no list.

    >>> as_markdown((TextRun("M*A*S*H", italic=True), TextRun(". 1968.")))
    '*M\\*A\\*S\\*H*. 1968.'
    >>> print(as_markdown((TextRun("(a) No list"),)))
    (a\) No list
    """
    written = "".join(_emphasised(run) for run in runs)
    if heading:
        return written
    bare = written.lstrip()
    before = written[: len(written) - len(bare)]
    if _BULLET.match(bare):
        return f"{before}\\{bare}"
    number = _NUMBER.match(bare)
    return f"{before}{number[0]}\\{bare[number.end() :]}" if number else written


def as_html(runs: Iterable[TextRun]) -> str:
    """Give HTML, escaped, with italics as ``<i>``, which word processors and Zotero keep when it is pasted.

    >>> as_html((TextRun("A <b>", italic=True), TextRun(" & B")))
    '<i>A &lt;b&gt;</i> &amp; B'
    """
    return "".join(f"<i>{escape(run.text)}</i>" if run.italic else escape(run.text) for run in runs)


def _emphasised(run: TextRun) -> str:
    words = escape_markdown(_NEW_LINE.sub(" ", run.text))
    if not run.italic or not words.strip():
        return words
    bare = words.strip()
    before, _, after = words.partition(bare)
    return f"{before}*{bare}*{after}"
