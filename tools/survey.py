"""How a folder of files is read: ``python -m tools.survey FOLDER``, what a person should look at and the oddest files.

For each file: the share of its text that is kept (without licence, notes, contents and end matter), chapters, author
and year with where they come from, the longest piece that was left out, odd signs, another language; with --all broken
words too. Files in which something of this is unusual are named; at the end the ten that are most unlike the others.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relic_core.domain import Work
from relic_core.errors import RelicError
from relic_core.library.folder import texts_in
from relic_core.library.reading import read_file
from relic_core.text.blocks import split_blocks
from relic_core.text.headings import parse_heading
from relic_core.text.languages import reads_english
from relic_core.text.unbroken import cuts

ODD = re.compile("[\u0080-\u009f\ufffd\ue000-\uf8ff]|â€|Ã[\u00a0-\u00bf]")
"""What a wrong encoding leaves."""
BY = re.compile(
    r"^[ \t]*(?i:author:|by|par|von|de|por|di)[ \t]+(?:[A-Z][\w.’'-]*[ \t]*){2,5}$",
    re.MULTILINE,
)
HEAD = 1_500
"""What names an author, and the characters at a file's head in which it does."""
APPARATUS = {"licence", "note", "end matter", "contents", "editor's note", "illustration"}
"""What is left out of any edition, however long: notes, an index, a bibliography."""
LEAST_KEPT = 0.8
MOST_LEFT_OUT = 0.1
"""Share of the text, in one piece."""
LARGE = 30_000
"""Words from which a work has more than one chapter."""
MOST_IN_ONE = 0.6
FEW_HEADINGS = 3
"""Of chapters, with a number and more, that stand in the largest chapter: so many show that it holds some."""
LONG_HEADING = 200
NUMBERS = {"roman", "arabic", "word"}
FEW_ODD = 5
UNLIKE = 10
_NUMBERS = ("share kept", "characters", "words in a chapter", "words in a sentence", "odd signs", "left out, longest")


@dataclass(frozen=True, slots=True)
class Read:
    """What a file was read as."""

    name: str
    work: Work
    kept: float
    words: tuple[int, ...]
    longest: tuple[int, str]
    odd: int
    broken: int
    headings: int

    @classmethod
    def of(cls, path: Path) -> Read:
        """Read a file and count."""
        work = read_file(path.read_bytes(), name=path.name)
        words = Counter[int]()
        for sentence in work.sentences:
            words[sentence.chapter] += len(work.sentence_text(sentence.index).split())
        letters = sum(sentence.end - sentence.start for sentence in work.sentences)
        apparatus = sum(part.end - part.start for part in work.left_out if part.kind in APPARATUS)
        left_out = [(part.end - part.start, part.kind) for part in work.left_out if part.kind not in APPARATUS]
        starts = np.array([sentence.start for sentence in work.sentences])
        ends = np.array([sentence.end for sentence in work.sentences])
        at = np.array([start for start, _ in cuts(work.text)], dtype=np.int64)
        holds = np.searchsorted(starts, at, side="right") - 1
        return cls(
            name=path.name,
            work=work,
            kept=letters / max(1, len(re.sub(r"\s+", " ", work.text)) - apparatus),
            words=tuple(words[chapter.index] for chapter in work.chapters),
            longest=max(left_out, default=(0, "")),
            odd=len(ODD.findall(work.text)),
            broken=int(((holds >= 0) & (at < ends[holds])).sum()) if len(at) else 0,
            headings=headings_in(work, words.most_common(1)[0][0]) if words else 0,
        )

    def line(self) -> str:
        """Set the facts of a file on one line."""
        work, (size, kind) = self.work, self.longest
        guessed = f" (guessed: {work.guessed})" if work.guessed else ""
        author, year = work.author or "no author", work.year or "no year"
        return (
            f"{self.name}: {self.kept:.0%} kept, {len(self.words):,} chapters, {sum(self.words):,} words; "
            f"{author}, {year}{guessed}; left out at most {size:,} {kind or 'characters'}; "
            f"{self.broken:,} broken words or marks of pages"
        )

    def questions(self) -> Iterator[str]:
        """Say what a person should look at."""
        total, (size, kind) = sum(self.words), self.longest
        if not self.work.author and BY.search(self.work.text[:HEAD]):
            yield "no author, though the file may name one"
        if self.kept < LEAST_KEPT:
            yield f"{self.kept:.0%} of the text kept"
        if size > MOST_LEFT_OUT * len(self.work.text):
            yield f"{size:,} characters left out as {kind}"
        large = total >= LARGE and max(self.words) > MOST_IN_ONE * total
        if large and self.headings >= FEW_HEADINGS:
            yield f"a chapter of {max(self.words):,} of {total:,} words, with {self.headings:,} headings in it"
        if empty := self.words.count(0):
            yield f"{empty:,} chapters without words"
        if self.odd >= FEW_ODD:
            yield f"{self.odd:,} odd signs"
        if reads_english(self.work.text):
            yield "not in English"

    def numbers(self) -> list[float]:
        """Give what files are compared by."""
        total = sum(self.words)
        return [
            self.kept,
            math.log(len(self.work.text)),
            math.log(1 + total / max(1, len(self.words))),
            math.log(1 + total / max(1, len(self.work.sentences))),
            math.log(1 + self.odd),
            math.log(1 + self.longest[0]),
        ]


def headings_in(work: Work, chapter: int) -> int:
    """Count the paragraphs of a chapter that read as headings of chapters, with more than a bare number."""
    found = 0
    for paragraph in work.paragraphs:
        if paragraph.chapter == chapter and paragraph.end - paragraph.start < LONG_HEADING:
            heading = parse_heading(next(split_blocks(work.text, paragraph.start, paragraph.end)))
            found += heading is not None and heading.level in {"chapter", "part"} and heading.word not in NUMBERS
    return found


def unlike(read: Sequence[Read]) -> list[tuple[float, str, Read]]:
    """Find the files most unlike the others: how far the oddest number stands off, in robust deviations, and which."""
    table = np.array([each.numbers() for each in read])
    off = np.abs(table - np.median(table, axis=0))
    off /= np.maximum(1.4826 * np.median(off, axis=0), np.maximum(off.std(axis=0), 1e-9))
    worst = off.argmax(axis=1)
    found = [(float(row[at]), _NUMBERS[at], each) for row, at, each in zip(off, worst, read, strict=True)]
    return sorted(found, key=lambda each: -each[0])[:UNLIKE]


def main(arguments: Sequence[str] | None = None) -> int:
    """Survey a folder; give 1 where a file could not be read."""
    parser = argparse.ArgumentParser(prog="python -m tools.survey", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="a line for every file")
    options = parser.parse_args(arguments)
    read: list[Read] = []
    refused = asked = 0
    for path in texts_in(options.folder):
        try:
            found = Read.of(path)
        except RelicError as error:
            refused += 1
            print(f"{path.name}: not read. {error}")
            continue
        read.append(found)
        questions = list(found.questions())
        asked += bool(questions)
        if options.all:
            print(found.line())
        if questions:
            print(f"{found.name}: {'; '.join(questions)}", flush=True)
    if read:
        print(f"\nMost unlike the others ({UNLIKE} at most):")
        for far, what, each in unlike(read):
            print(f"  {far:4.1f}  {what}: {each.line()}")
        guessed = Counter(each.work.guessed or "nothing" for each in read)
        origins = ", ".join(f"{what} {count:,}" for what, count in guessed.most_common())
        shares = [each.kept for each in read]
        print(
            f"\n{len(read):,} files read, {refused:,} not; {asked:,} to look at. Kept: median {np.median(shares):.1%}, "
            f"least {min(shares):.1%}. Guessed: {origins}."
        )
    return 1 if refused or not read else 0


if __name__ == "__main__":
    sys.exit(main())
