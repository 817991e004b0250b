"""Works composed of what a page of markup holds: blocks laid out as plain text, with true offsets.

The readers of EPUB and TEI give blocks, in the order of the file, and openings of chapters between them. A block is a
paragraph, or it is left out and says why. The text is made of the blocks, a blank line between each two, so every
visible character belongs to exactly one paragraph or one stretch that is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from relic_core.domain import Chapter, EditionDetails, Format, LeftOut, Paragraph, Sentence, Work
from relic_core.errors import EmptyText
from relic_core.library.blocks import Item, Opening, TextBlock
from relic_core.ports import Segmenter
from relic_core.text.blocks import refuse_too_many
from relic_core.text.metadata import Metadata
from relic_core.text.reading import make_work
from relic_core.text.sentences import count_ends, default_segmenter
from relic_core.text.structure import Structure

_PREAMBLE = 600
"""Characters. Longer prose between the heading of a part and that of its first chapter is a chapter of its own."""
_GROWING = {"front matter", "contents", "editor's note", "end matter", "licence"}
"""Kinds of which blocks that follow each other are one stretch."""
_ILLUSTRATION = re.compile(
    r"\[\s*(?:illustration|picture|image|figure|plate|map|frontispiece)\b[^\]]*\]", re.IGNORECASE
)
_SPEAKING = re.compile(r"[\"'“”‘’«»?!]")


@dataclass(frozen=True, slots=True)
class Edition:
    """A work, the pages that its file lists and does not hold, and what the file says of the edition.

    - `doubt`: two readings side by side, where the file's encoding is not sure.
    """

    work: Work
    missing: tuple[str, ...] = ()
    doubt: str = ""
    details: EditionDetails = field(default_factory=EditionDetails)


@dataclass(slots=True)
class _Group:
    opening: Opening | None
    blocks: list[TextBlock] = field(default_factory=list)

    @property
    def paragraphs(self) -> list[TextBlock]:
        return [block for block in self.blocks if not block.left_out]


def compose(
    items: Sequence[Item], metadata: Metadata, *, name: str, source: str, form: Format, segmenter: Segmenter | None
) -> Work:
    r"""Make a work of blocks in the order of the text; parameters as `text.reading.read_work`.

    >>> from relic_core.text.metadata import Metadata
    >>> heading = TextBlock(lines=("CHAPTER I",), left_out="heading")
    >>> items = [Opening("I"), heading, TextBlock(lines=("Rain fell.",)), TextBlock(lines=("Nobody came.",))]
    >>> work = compose(items, Metadata("The Ferry"), name="", source="", form="TEI", segmenter=None)
    >>> work.text, [chapter.name for chapter in work.chapters], len(work.sentences)
    ('CHAPTER I\n\nRain fell.\n\nNobody came.\n', ['Chapter I'], 2)
    """
    ends = sum(count_ends(item.text) for item in items if isinstance(item, TextBlock))
    refuse_too_many(len(items), ends, what=f"The {form} file")
    segmenter = segmenter or default_segmenter()
    composition = _Composition(segmenter)
    for group in _with_notes(_grouped(map(_marked, items))):
        composition.take(group)
    text = "".join(composition.pieces)
    if not any(re.search(r"[^\W_]", text[each.start : each.end]) for each in composition.sentences):
        raise EmptyText(
            f"The {form} file holds no text of a work: no paragraph with a word in it. If the text is there "
            "when a reader opens it, it may be made of pictures; add a plain-text edition instead."
        )
    structure = Structure(
        metadata, tuple(composition.chapters), tuple(composition.paragraphs), tuple(composition.left_out)
    )
    sentences = composition.sentences
    return make_work(text, structure, sentences, name=name, source=source, segmenter=segmenter, form=form)


def _marked(item: Item) -> Item:
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
            last.blocks.append(item)
        elif last.opening and last.opening.holds and sum(len(block.text) for block in last.paragraphs) < _PREAMBLE:
            last.opening = item
        else:
            groups.append(_Group(item))
    return groups


def _with_notes(groups: list[_Group]) -> list[_Group]:
    """Move each note behind the text of the chapter that refers to it; one without a reference stays in its own."""
    homes: dict[str, tuple[int, int]] = {}  # name of a note -> group, which reference of the work
    order = 0
    for place, group in enumerate(groups):
        for block in group.blocks:
            for ref in block.refs if block.kind != "note" else ():
                order += 1
                homes.setdefault(ref, (place, order))
    moved: list[list[tuple[int, TextBlock]]] = [[] for _ in groups]
    has_text = [any(block.kind != "note" for block in group.paragraphs) for group in groups]
    for place, group in enumerate(groups):
        staying = []
        for block in group.blocks:
            if block.kind != "note" or block.left_out:
                staying.append(block)
                continue
            home, number = min((homes[name] for name in block.names if name in homes), default=(-1, 0))
            if home >= 0 and has_text[home]:
                moved[home].append((number, block))
            elif home < 0 and has_text[place]:
                moved[place].append((order + 1, block))
            else:
                staying.append(replace(block, left_out="note"))
        group.blocks = staying
    for group, notes in zip(groups, moved, strict=True):
        last = max((place for place, block in enumerate(group.blocks) if not block.left_out), default=-1)
        group.blocks[last + 1 : last + 1] = [block for _, block in sorted(notes, key=lambda note: note[0])]
    return groups


class _Composition:
    def __init__(self, segmenter: Segmenter) -> None:
        self.chapters: list[Chapter] = []
        self.paragraphs: list[Paragraph] = []
        self.sentences: list[Sentence] = []
        self.left_out: list[LeftOut] = []
        self.pieces: list[str] = []
        self._segmenter = segmenter
        self._length = 0
        self._growing = ""

    def take(self, group: _Group) -> None:
        """Lay out the blocks of a chapter, or of what stands before the first."""
        hangs: dict[str, int] = {}  # name of a note -> paragraph that refers to it
        counts: Counter[bool] = Counter()  # notes are numbered by themselves
        start = self._length + 1 if self._length else 0
        self._growing = ""
        for block in group.blocks:
            text = block.text
            at = self._lay(text)
            if block.left_out:
                self._leave_out(at, at + len(text), block.left_out)
                continue
            self._growing = ""
            counts[block.kind == "note"] += 1
            paragraph = Paragraph(
                index=len(self.paragraphs),
                start=at,
                end=at + len(text),
                chapter=len(self.chapters),
                number=counts[block.kind == "note"],
                kind=block.kind,
                speaker=block.speaker,
                line=block.line,
                note_to=next((hangs[name] for name in block.names if name in hangs), None),
            )
            self.paragraphs.append(paragraph)
            home = paragraph.note_to if block.kind == "note" else paragraph.index  # a note to a note: where that hangs
            if home is not None:
                hangs.update(dict.fromkeys(block.refs, home))
            self.sentences += [
                Sentence(index, at + first, at + last, paragraph.chapter, paragraph.index)
                for index, (first, last) in enumerate(self._segmenter.segment(text, 0, len(text)), len(self.sentences))
            ]
        if counts:
            opening, end = group.opening or Opening(), self.paragraphs[-1].end
            self.chapters.append(Chapter(len(self.chapters), start, end, opening.number, opening.title, opening.part))

    def _lay(self, text: str) -> int:
        """Put a block behind the others and return its offset."""
        lead = "\n" if self.pieces else ""
        self.pieces.append(f"{lead}{text}\n")
        at = self._length + len(lead)
        self._length = at + len(text) + 1
        return at

    def _leave_out(self, start: int, end: int, kind: str) -> None:
        if kind == self._growing and kind in _GROWING:
            self.left_out[-1] = replace(self.left_out[-1], end=end)
        else:
            self.left_out.append(LeftOut(start, end, kind))
        self._growing = kind
