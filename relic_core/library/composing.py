"""Works composed of what a page of markup holds: leaves of text laid out as plain text, with true offsets.

The readers of EPUB and TEI hand over leaves, in the order of the file, and openings of chapters between them. A leaf is
a paragraph, or it is left out and says why. The text is made of the leaves, a blank line between each two, so every
visible character belongs to exactly one paragraph or one stretch that is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from relic_core.domain import Chapter, LeftOut, Paragraph, Sentence
from relic_core.errors import EmptyText
from relic_core.library.blocks import Item, Opening, TextBlock, refuse_many_paragraphs
from relic_core.text.reading import make_work
from relic_core.text.sentences import default_segmenter
from relic_core.text.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import Format, Work
    from relic_core.ports import Segmenter
    from relic_core.text.metadata import Metadata

_PREAMBLE = 600
"""Characters. Longer prose between the heading of a part and that of its first chapter is a chapter of its own."""
_GROWING = {"front matter", "contents", "editor's note", "end matter", "licence"}
"""Kinds of which leaves that follow each other are one stretch."""
_ILLUSTRATION = re.compile(
    r"\[\s*(?:illustration|picture|image|figure|plate|map|frontispiece)\b[^\]]*\]", re.IGNORECASE
)
_SPEAKING = re.compile(r"[\"'“”‘’«»?!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a work beside its text.

    - `name`: of the file, the last resort for a title.
    - `source`: where the file came from.
    """

    name: str
    metadata: Metadata
    source: str
    format: Format


@dataclass(slots=True)
class _Group:
    opening: Opening | None
    leaves: list[TextBlock] = field(default_factory=list)

    @property
    def paragraphs(self) -> list[TextBlock]:
        return [leaf for leaf in self.leaves if not leaf.left_out]


def compose(items: Iterable[Item], about: About, *, segmenter: Segmenter | None = None) -> Work:
    r"""Make a work.

    - `items`: in the order of the text.
    - `segmenter`: in place of `sentences.default_segmenter`.

    Raises EmptyText: no leaf is a paragraph with a word.
    Raises UnsafeFile: there are more leaves than `leaves.MOST_PARAGRAPHS`.

    >>> from relic_core.text.metadata import Metadata
    >>> about = About(name="ferry.xml", metadata=Metadata("The Ferry"), source="", format="TEI")
    >>> heading = TextBlock(lines=("CHAPTER I",), left_out="heading")
    >>> rest = [TextBlock(lines=("Rain fell.",)), TextBlock(lines=("Nobody came.",))]
    >>> work = compose([Opening("I"), heading, *rest], about)
    >>> work.text, [chapter.name for chapter in work.chapters], len(work.sentences)
    ('CHAPTER I\n\nRain fell.\n\nNobody came.\n', ['Chapter I'], 2)
    """
    items = list(items)
    refuse_many_paragraphs(len(items), what=f"The {about.format} file")
    groups = _with_notes(_grouped(map(_judged, items)))
    cut = segmenter or default_segmenter()
    composition = _Composition(cut)
    for group in groups:
        composition.take(group)
    if not composition.sentences or not any(
        re.search(r"[^\W_]", composition.text[each.start : each.end]) for each in composition.sentences
    ):
        raise EmptyText(
            f"The {about.format} file holds no text of a work: no paragraph with a word in it. If the text is there "
            "when a reader opens it, it may be made of pictures; add a plain-text edition instead."
        )
    structure = Structure(
        about.metadata, tuple(composition.chapters), tuple(composition.paragraphs), tuple(composition.left_out)
    )
    return make_work(
        composition.text,
        structure,
        composition.sentences,
        name=about.name,
        source=about.source,
        segmenter=cut,
        form=about.format,
    )


def _judged(item: Item) -> Item:
    """Leave out what is a paragraph by its place and not by what it says: asterisks, marks of pictures."""
    if isinstance(item, Opening) or item.left_out or item.kind == "note":
        return item
    text = item.text
    if not any(map(str.isalnum, text)) and not _SPEAKING.search(text):
        return replace(item, left_out="break")
    return replace(item, left_out="illustration") if _ILLUSTRATION.fullmatch(text) else item


def _grouped(items: Iterable[Item]) -> list[_Group]:
    groups = [_Group(None)]
    for item in items:
        last = groups[-1]
        if isinstance(item, TextBlock):
            last.leaves.append(item)
        elif last.opening and last.opening.holds and sum(len(leaf.text) for leaf in last.paragraphs) < _PREAMBLE:
            last.opening = item
        else:
            groups.append(_Group(item))
    return groups


def _with_notes(groups: list[_Group]) -> list[_Group]:
    """Bring each note behind the text of the chapter it hangs on; one that hangs on nothing stays in its own."""
    homes: dict[str, tuple[int, int]] = {}  # name of a note -> group, which reference of the work
    order = 0
    for place, group in enumerate(groups):
        for leaf in group.leaves:
            for ref in leaf.refs if leaf.kind != "note" else ():
                order += 1
                homes.setdefault(ref, (place, order))
    moved: list[list[tuple[int, TextBlock]]] = [[] for _ in groups]
    has_text = [any(leaf.kind != "note" for leaf in group.paragraphs) for group in groups]
    for place, group in enumerate(groups):
        kept = []
        for leaf in group.leaves:
            if leaf.kind != "note" or leaf.left_out:
                kept.append(leaf)
                continue
            home, number = min((homes[name] for name in leaf.names if name in homes), default=(-1, 0))
            if home >= 0 and has_text[home]:
                moved[home].append((number, leaf))
            elif home < 0 and has_text[place]:
                moved[place].append((order + 1, leaf))
            else:
                kept.append(replace(leaf, left_out="note"))
        group.leaves = kept
    for group, notes in zip(groups, moved, strict=True):
        last = max((place for place, leaf in enumerate(group.leaves) if not leaf.left_out), default=-1)
        group.leaves[last + 1 : last + 1] = [leaf for _, leaf in sorted(notes, key=lambda note: note[0])]
    return groups


class _Composition:
    """The text in the making."""

    def __init__(self, segmenter: Segmenter) -> None:
        self.chapters: list[Chapter] = []
        self.paragraphs: list[Paragraph] = []
        self.sentences: list[Sentence] = []
        self.left_out: list[LeftOut] = []
        self._segmenter = segmenter
        self._pieces: list[str] = []
        self._length = 0
        self._growing = ""

    @property
    def text(self) -> str:
        """The text so far, with a line end behind it."""
        return "".join(self._pieces)

    def take(self, group: _Group) -> None:
        """Lay out the leaves of a chapter, or of what stands before the first."""
        paragraphs: list[Paragraph] = []
        hangs: dict[str, int] = {}  # name of a note -> paragraph it hangs on
        counts: Counter[bool] = Counter()  # notes are numbered by themselves
        start = 0 if not self._length else self._length + 1
        end = start
        self._growing = ""
        for leaf in group.leaves:
            text = leaf.text
            at = self._lay(text)
            if leaf.left_out:
                self._leave_out(at, at + len(text), leaf.left_out)
                continue
            self._growing = ""
            counts[leaf.kind == "note"] += 1
            paragraph = Paragraph(
                index=len(self.paragraphs) + len(paragraphs),
                start=at,
                end=at + len(text),
                chapter=len(self.chapters),
                number=counts[leaf.kind == "note"],
                kind=leaf.kind,
                speaker=leaf.speaker,
                line=leaf.line,
                note_to=next((hangs[name] for name in leaf.names if name in hangs), None),
            )
            paragraphs.append(paragraph)
            home = paragraph.note_to if leaf.kind == "note" else paragraph.index  # a note to a note: where that hangs
            if home is not None:
                hangs.update(dict.fromkeys(leaf.refs, home))
            end = paragraph.end
            self._cut(text, paragraph)
        if paragraphs:
            opening = group.opening or Opening()
            self.chapters.append(Chapter(len(self.chapters), start, end, opening.number, opening.title, opening.part))
            self.paragraphs.extend(paragraphs)

    def _lay(self, text: str) -> int:
        """Put a leaf behind the others and return its offset."""
        lead = "\n" if self._pieces else ""
        self._pieces.append(f"{lead}{text}\n")
        at = self._length + len(lead)
        self._length = at + len(text) + 1
        return at

    def _leave_out(self, start: int, end: int, kind: str) -> None:
        if kind == self._growing and kind in _GROWING:
            self.left_out[-1] = replace(self.left_out[-1], end=end)
        else:
            self.left_out.append(LeftOut(start, end, kind))
        self._growing = kind

    def _cut(self, text: str, paragraph: Paragraph) -> None:
        for start, end in self._segmenter.segment(text, 0, len(text)):
            self.sentences.append(
                Sentence(
                    len(self.sentences),
                    paragraph.start + start,
                    paragraph.start + end,
                    paragraph.chapter,
                    paragraph.index,
                )
            )
