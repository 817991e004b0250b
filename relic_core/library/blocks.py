"""Blocks of marked-up texts: headings, paragraphs, verse, notes, as EPUB and TEI list them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from relic_core.domain import ParagraphKind
from relic_core.text.blocks import Block, flatten
from relic_core.text.headings import COUNTED, Heading, clean_title, parse_heading
from relic_core.text.unbroken import is_compound, is_word


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A block of text without blocks inside, and why it is not a paragraph; lines of prose are joined to one."""

    lines: tuple[str, ...]
    kind: ParagraphKind = "prose"
    left_out: str = ""
    speaker: str = ""
    line: int | None = None
    refs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its text as it is laid out."""
        return ("\n" if self.kind == "verse" or self.left_out else " ").join(self.lines)


@dataclass(frozen=True, slots=True)
class Opening:
    """A chapter begins; its heading follows as a leaf left out. `holds`: a part begins, with chapters to follow."""

    number: str = ""
    title: str = ""
    part: str = ""
    holds: bool = False


Item = TextBlock | Opening


@dataclass(frozen=True, slots=True)
class Named:
    """What a heading says.

    - `level`: as its words tell; empty for a title that says nothing of its level.
    - `word`: the word for what it counts ("volume"), as `Heading` has it.
    - `bare`: it is a number without a word for what it counts.
    - `by_another`: it says that another hand than the author's wrote what follows.
    """

    level: str
    number: str
    title: str
    label: str
    word: str = ""
    counts: bool = False
    bare: bool = False
    by_another: bool = False


def name_heading(lines: Sequence[str]) -> Named:
    """Read the lines of a heading.

    >>> named = name_heading(["CHAPTER IV.", "The Ferry"])
    >>> named.level, named.number, named.title
    ('chapter', 'IV', 'The Ferry')
    >>> name_heading(["[Book I.]"]).label, name_heading(["Scene 2. A Wharf"]).title
    ('Book I', 'Scene 2. A Wharf')
    """
    lines = [line.strip("[] ") or line for line in lines]
    flat = flatten(" ".join(lines))
    heading = _parse(lines)
    rest = lines[heading.lines :] if heading else []
    if heading is None and len(lines) > 1:
        heading, rest = _parse(lines[:1]), lines[1:]
    if heading is None or heading.level == "section":
        return Named("", "", clean_title(flat), clean_title(flat))
    more = clean_title(" ".join(rest))
    title = f"{heading.title}: {more}" if heading.title and more else heading.title or more
    label = _joined(heading.label, more).rstrip(" .:")
    counted = heading.word.split()[0] in COUNTED
    return Named(
        level=heading.level,
        number=heading.number if counted else "",
        title=title if counted else clean_title(label),
        label=clean_title(label),
        word=heading.word,
        counts=bool(heading.number),
        bare=heading.bare,
        by_another=heading.by_another,
    )


def with_title(named: Named, below: Sequence[str]) -> Named:
    """Give a heading the title that is in a heading of its own below it."""
    title = clean_title(" ".join(below))
    label = _joined(named.label, title)
    return replace(named, title=title if named.number else clean_title(label), label=label)


def _joined(label: str, more: str) -> str:
    return f"{label.rstrip('.: ')}: {more}" if more else label


def _parse(lines: Sequence[str]) -> Heading | None:
    length = sum(map(len, lines)) + len(lines) - 1
    return parse_heading(Block(0, length, tuple(lines), 99)) if lines and re.search(r"\w", lines[0]) else None


_OPEN, _CLOSE, _BREAK, _GLUE, _LINE_END = "\x01", "\x02", "\x03", "\x04", "\x05"
_PARTED = re.compile(rf"([^\W\d_]+)([-‐‑¬=\xad])\s*{_LINE_END}\s*([^\W\d_]+)")
"""A word that goes on behind a hyphen, in another line or on another page of the printed edition."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")
_UNSEEN = re.compile(r"[\u00ad\u200b\u2060\ufeff]")
"""Characters without ink: soft hyphens, joiners, marks of byte order."""
_BLANK = re.compile(r"[ \t\n\r\f\x0b\x85\xa0\u2028\u2029\u202f]+")
"""Kinds of blank that stand for a space; thin ones, between quotation marks, are kept."""
_LONGEST_ITALIC = 380
"""Characters. Longer stretches are set upright: nobody finds the other underscore."""


class Inline:
    """Gathers the text of a block."""

    def __init__(self) -> None:
        self.refs: list[str] = []
        self._pieces: list[str] = []
        self._open = 0
        self._quotes = 0

    @staticmethod
    def clean(text: str) -> str:
        """Put a text on one line, without marks."""
        return _BLANK.sub(" ", _UNSEEN.sub("", _CONTROL.sub("", text))).strip()

    def text(self, text: str | None) -> None:
        """Take text as it is in the file."""
        if text:
            self._pieces.append(_CONTROL.sub("", text))

    def open_quote(self) -> None:
        """Print the quotation mark that a file leaves to its reader's program; within another, a single one."""
        self._pieces.append("“‘"[self._quotes % 2])
        self._quotes += 1

    def close_quote(self) -> None:
        """Print the mark that closes what `open_quote` opened."""
        self._quotes -= 1
        self._pieces.append("”’"[self._quotes % 2])

    def open_italic(self) -> None:
        """Begin italics."""
        self._open += 1
        self._pieces.append(_OPEN)

    def close_italic(self) -> None:
        """End italics."""
        self._open -= 1
        self._pieces.append(_CLOSE)

    def line_break(self) -> None:
        """Begin a new line."""
        self._pieces.append(_BREAK)

    def line_end(self, blank: str = " ") -> None:
        """Go on in the next line or page of the printed edition; a hyphen before it may part a word."""
        self._pieces.append(f"{blank}{_LINE_END}")

    def glue(self) -> None:
        """Join what stands before and after, whatever blanks stand between."""
        self._pieces.append(_GLUE)

    def lines(self) -> list[str]:
        r"""Return the lines that have text, blanks put in order, italics between underscores.

        >>> inline = Inline()
        >>> inline.text("  He was ")
        >>> inline.open_italic()
        >>> inline.text(" not\n ")
        >>> inline.close_italic()
        >>> inline.text("amused. ")
        >>> inline.lines()
        ['He was _not_ amused.']
        """
        raw = _BLANK.sub(" ", "".join(self._pieces))
        raw = re.sub(rf"[-‐‑¬=\xad]? ?{_GLUE} ?", "", raw)
        raw = _UNSEEN.sub("", _PARTED.sub(_whole, raw).replace(_LINE_END, ""))
        lines = []
        inside = 0
        for line in raw.split(_BREAK):
            text, inside = _set_italics(line, inside)
            text = _BLANK.sub(" ", text).strip()
            if text:
                lines.append(text)
        return lines

    def take(self) -> tuple[list[str], tuple[str, ...]]:
        """Return the lines and the references to notes, and begin anew; open italics go on."""
        lines, refs = self.lines() if self._pieces else [], tuple(self.refs)
        self._pieces, self.refs = [_OPEN] * self._open, []
        return lines, refs


def _whole(parted: re.Match[str]) -> str:
    first, hyphen, second = parted.groups()
    if hyphen in "¬=\xad" or (is_word(f"{first}{second}") and not is_compound(first, second)):
        return f"{first}{second}"
    return f"{first}-{second}" if second[0].islower() else parted[0]


def _set_italics(line: str, inside: int) -> tuple[str, int]:
    """Put underscores around the italics of a line; `inside` is how many are open at its beginning and end."""
    if not inside and _OPEN not in line and _CLOSE not in line:
        return line, 0
    runs: list[tuple[str, bool]] = []  # text, italic
    for piece in re.split(rf"([{_OPEN}{_CLOSE}])", line):
        if piece == _OPEN:
            inside += 1
        elif piece == _CLOSE:
            inside = max(0, inside - 1)
        elif piece:
            italic = inside > 0
            if runs and runs[-1][1] is italic:
                runs[-1] = (runs[-1][0] + piece, italic)
            else:
                runs.append((piece, italic))
    texts = [text for text, _ in runs]
    made = []
    for place, (text, italic) in enumerate(runs):
        before = texts[place - 1][-1:] if place else ""
        after = texts[place + 1][:1] if place + 1 < len(texts) else ""
        made.append(_italic(text, before, after) if italic else text)
    return "".join(made), inside


def _italic(text: str, before: str, after: str) -> str:
    core = text.strip()
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    in_a_word = (not lead and before.isalnum()) or (not trail and after.isalnum())  # a drop cap, "un_think_able"
    if in_a_word or "_" in core or len(core) > _LONGEST_ITALIC or not any(map(str.isalnum, core)):
        return text
    return f"{lead}_{core}_{trail}"
