"""Inline text: what stands in one block of a page, with its lines, its italics and its references to notes."""

from __future__ import annotations

import re

_OPEN, _CLOSE, _BREAK, _GLUE = "\x01", "\x02", "\x03", "\x04"
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ufffe\uffff]")
"""Control characters, which no text has, and characters without ink: soft hyphens, joiners, marks of byte order."""
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

    @staticmethod
    def clean(text: str) -> str:
        """Put a text on one line, without marks."""
        return _BLANK.sub(" ", _UNSEEN.sub("", text)).strip()

    def text(self, text: str | None) -> None:
        """Take text as it stands in the file."""
        if text:
            self._pieces.append(_UNSEEN.sub("", text))

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
        raw = re.sub(rf" ?{_GLUE} ?", "", raw)
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
