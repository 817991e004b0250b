"""Previews: what was understood of a text, before anything of it is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.library.catalogue import same_work

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relic_core.domain import LeftOut, Work, WorkSummary

_FIRST = 300
_SAMPLE = 160


@dataclass(frozen=True, slots=True)
class ChapterPreview:
    """A chapter's name and its number of words."""

    name: str
    words: int


@dataclass(frozen=True, slots=True)
class LeftOutPreview:
    """What was set aside under one kind.

    - `kind`: as in `relic_core.domain.LeftOut`.
    - `count`, `characters`: how many stretches, and how long they are together.
    - `sample`: the beginning of the longest, on one line.
    """

    kind: str
    count: int
    characters: int
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What adding a text would store.

    - `work`: as read; not stored.
    - `stored`: the stored work with the same text.
    - `removed`: the work with the same text that was removed: adding the text puts it back.
    - `namesakes`: stored works of that title with other texts: other editions.
    - `notice`: what the reader should know; empty where nothing is out of the way.
    - `chapters`: in the order of the text.
    - `first`: the first sentences, about 300 characters.
    - `left_out`: by kind, the longest first.
    """

    work: Work
    stored: WorkSummary | None
    removed: WorkSummary | None
    namesakes: tuple[WorkSummary, ...]
    notice: str
    chapters: tuple[ChapterPreview, ...]
    first: str
    left_out: tuple[LeftOutPreview, ...]

    @property
    def title(self) -> str:
        """Title of the work."""
        return self.work.title

    @property
    def author(self) -> str:
        """Author of the work; empty where unknown."""
        return self.work.author

    @property
    def translator(self) -> str:
        """Translator of the work; empty where unknown or none."""
        return self.work.translator

    @property
    def year(self) -> int | None:
        """Year of first publication; None where unknown."""
        return self.work.year


def make_preview(
    work: Work, *, summaries: Iterable[WorkSummary], removed: Iterable[WorkSummary], notice: str
) -> Preview:
    """Describe a work that was read and not stored.

    - `summaries`, `removed`: the works that are stored, and those that were removed.
    """
    stored = tuple(summaries)
    names = (work.title, work.author)
    return Preview(
        work=work,
        stored=next((each for each in stored if each.sha256 == work.sha256), None),
        removed=next((each for each in removed if each.sha256 == work.sha256), None),
        namesakes=tuple(
            each for each in stored if each.sha256 != work.sha256 and same_work((each.title, each.author), names)
        ),
        notice=notice,
        chapters=chapters_of(work),
        first=first_words(work),
        left_out=left_out_of(work),
    )


def chapters_of(work: Work) -> tuple[ChapterPreview, ...]:
    """List the chapters of a work with their numbers of words."""
    words = Counter[int]()
    for sentence in work.sentences:
        words[sentence.chapter] += len(work.sentence_text(sentence.index).split())
    return tuple(ChapterPreview(work.chapter_name(chapter.index), words[chapter.index]) for chapter in work.chapters)


def first_words(work: Work, *, length: int = _FIRST) -> str:
    """Give the first sentences of a work, line wraps undone, up to about `length` characters."""
    said = ""
    for sentence in work.sentences:
        if len(said) >= length:
            break
        said = f"{said} {' '.join(work.sentence_text(sentence.index).split())}".lstrip()
    return _shortened(said, length + length // 2)


def left_out_of(work: Work) -> tuple[LeftOutPreview, ...]:
    """Sum up what was set aside of a file, by kind, the longest first."""
    by_kind: dict[str, list[LeftOut]] = {}
    for part in work.left_out:
        by_kind.setdefault(part.kind, []).append(part)
    found = []
    for kind, parts in by_kind.items():
        longest = max(parts, key=lambda part: part.end - part.start)
        found.append(
            LeftOutPreview(
                kind=kind,
                count=len(parts),
                characters=sum(part.end - part.start for part in parts),
                sample=_shortened(" ".join(work.text[longest.start : longest.end][: 4 * _SAMPLE].split()), _SAMPLE),
            )
        )
    return tuple(sorted(found, key=lambda part: -part.characters))


def _shortened(text: str, length: int) -> str:
    """Cut a text at the end of a word.

    >>> _shortened("Nobody counted the lanterns.", 16)
    'Nobody counted …'
    """
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut} …"
