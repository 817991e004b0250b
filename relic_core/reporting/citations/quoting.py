"""How a quotation is set in a text: within a sentence or as a block, by the rule of the style (docs/citing.md).

The citation stands behind it: before the full stop within a sentence, behind it in a block, in notes apart from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from relic_core.reporting.citations.text_runs import TextRun, as_html, as_markdown, as_text, inner_quotes

MLA_CHARACTERS = 4 * 75
MLA_LINES = 3
CHICAGO_WORDS = 100
CHICAGO_LINES = 1
WITH_NOTES = frozenset({"chicago-notes"})
"""Styles that cite in notes, below the text or behind it."""
_STOP = re.compile(r"(?<![.…\s])\.(?=[”’\"']*$)")
"""A full stop at the end that is not part of an ellipsis."""
_GOES_ON = re.compile(r"\s*[,;:](?=[”’\"']*$)")
"""What stands at the end of a passage whose sentence goes on behind it."""


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A quotation as it is set in a scholar's text, as a block or not; the citation ends its last paragraph."""

    block: bool
    paragraphs: tuple[tuple[tuple[TextRun, ...], ...], ...]

    @property
    def label(self) -> str:
        """What it is called beside the forms of a citation."""
        return "The quotation, set off as a block" if self.block else "The quotation, within a sentence"

    @property
    def text(self) -> str:
        """As plain text: paragraphs parted by an empty line."""
        return "\n\n".join("\n".join(map(as_text, lines)) for lines in self.paragraphs)

    @property
    def markdown(self) -> str:
        """As Markdown."""
        mark = "> " if self.block else ""
        paragraphs = ("\\\n".join(f"{mark}{as_markdown(line)}" for line in lines) for lines in self.paragraphs)
        return f"\n{mark.rstrip()}\n".join(paragraphs)

    @property
    def html(self) -> str:
        """As HTML, escaped."""
        paragraphs = "".join(f"<p>{'<br>'.join(map(as_html, lines))}</p>" for lines in self.paragraphs)
        return f"<blockquote>{paragraphs}</blockquote>" if self.block else paragraphs


def quote(words: str, citation: tuple[TextRun, ...], style: str, *, verse: bool = False) -> QuotedText:
    r"""Set a quotation with its citation.

    - `words`: as `KeptPassage.quotation`: lines of verse parted by a line feed, paragraphs by an empty line.
    - `citation`: what stands behind it in the text; not used by styles with notes, whose note stands elsewhere.
    - `verse`: it is known to be verse, also where it has one line.

    >>> quote("He said “no”.", (TextRun("(Blake 3)"),), "mla").text
    '“He said ‘no’” (Blake 3).'
    >>> quote("The water takes\nwhat it is owed", (TextRun("(Blake 3)"),), "chicago-author-date").html
    '<blockquote><p>The water takes<br>what it is owed (Blake 3)</p></blockquote>'
    """
    behind = () if style in WITH_NOTES else (TextRun(" "), *citation)
    stanzas = [[line.strip() for line in stanza.split("\n")] for stanza in re.split(r"\n\s*\n", words.strip())]
    paragraphs = [list(filter(None, lines)) for lines in stanzas if any(lines)]
    lines = sum(map(len, paragraphs))
    if verse or lines > len(paragraphs):
        block = lines > (MLA_LINES if style == "mla" else CHICAGO_LINES)
    else:
        long = len(words) > MLA_CHARACTERS if style == "mla" else len(words.split()) >= CHICAGO_WORDS
        block = long or len(paragraphs) > 1
    if not block:
        line = TextRun(_inline(paragraphs, stop=not behind))
        return QuotedText(block=False, paragraphs=(((line, *behind, TextRun(".")) if behind else (line,),),))
    runs: list[list[tuple[TextRun, ...]]] = [[(TextRun(line),) for line in each] for each in paragraphs]
    runs[-1][-1] += behind
    return QuotedText(block=True, paragraphs=tuple(map(tuple, runs)))


def _inline(paragraphs: Iterable[Iterable[str]], *, stop: bool) -> str:
    """Put paragraphs between quotation marks, nested marks turned and paired, lines of verse parted by a stroke.

    A comma, a colon or a semicolon at the end is left away: it leads on to words that are not quoted. So is a full
    stop, which comes behind the citation, unless it is to be kept.

    >>> _inline([["The latter of whom, however;"]], stop=False), _inline([["Rain fell,", "and fell."]], stop=True)
    ('“The latter of whom, however”', '“Rain fell, / and fell.”')
    """
    words = inner_quotes(" // ".join(" / ".join(lines) for lines in paragraphs), paired=True)
    return f"“{_GOES_ON.sub('', words if stop else _STOP.sub('', words))}”"
