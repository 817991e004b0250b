"""What was understood of a text: its chapters, its counts, what was set aside, what a reader should know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from relic_core.domain import Work, WorkSummary
from relic_core.library.catalogue import same_work
from relic_core.library.composing import Edition
from relic_core.text.dialogue import SpeechStyle, dialogue_of
from relic_core.text.languages import reads_english
from relic_core.text.metadata import Metadata
from relic_core.text.words import tokens

_FIRST = 300
_SENTENCES = 300
_SAMPLE = 160
_LONGEST_APPARATUS = 40_000
"""Characters. Project Gutenberg's licence has 20,000, the contents of the longest novels less."""
_DOUBTFUL = {"front matter", "end matter", "editor's note", "note", "hidden"}
_PIECE = 300
"""Characters."""
_MOST_PIECES = 20
_NAMED = 3


@dataclass(frozen=True, slots=True)
class ChapterPreview:
    """A chapter with its number of words."""

    name: str
    words: int


@dataclass(frozen=True, slots=True)
class LeftOutPreview:
    """How much was set aside under one kind of `relic_core.domain.LeftOut`; the sample is of the longest stretch.

    - `start`: of the one stretch that it is about; -1 where it is about all of its kind.
    """

    kind: str
    count: int
    characters: int
    sample: str
    start: int = -1


class Upload(NamedTuple):
    """A file to be read; as the parameters of `library.reading.read_edition`."""

    data: bytes
    name: str
    max_bytes: int
    metadata: Metadata = Metadata()


class Pickled(NamedTuple):
    """A large file, and the pickled edition that was read of it, which takes a fraction of its room.

    - `whose`, `wait`: for reading it again, see `library.apart.read`.
    """

    asked: Upload
    edition: bytes
    whose: str = ""
    wait: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What adding a text would store.

    - `work`: of a large file only its beginning; `sentences` and `characters` are those of all of it.
    - `kept`: a large work as it was read, for `Works.add`; None where reading it again takes no time.
    - `removed`: the work with the same text that was removed: adding the text puts it back.
    - `namesakes`: stored works of that title with other texts: other editions.
    - `first`: the first sentences, about 300 characters.
    """

    work: Work
    stored: WorkSummary | None = None
    removed: WorkSummary | None = None
    namesakes: tuple[WorkSummary, ...] = ()
    notice: str
    chapters: tuple[ChapterPreview, ...]
    sentences: int
    characters: int
    first: str
    left_out: tuple[LeftOutPreview, ...]
    kept: Pickled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What can be counted in a work; words differ whatever their capitals, accents and endings like 's."""

    paragraphs: int
    sentences: int
    words: int
    distinct_words: int
    spoken: int
    style: SpeechStyle
    chapters: tuple[ChapterPreview, ...]
    left_out: tuple[LeftOutPreview, ...]
    pieces: tuple[LeftOutPreview, ...]
    characters: int

    @property
    def dialogue(self) -> float:
        """Share of dialogue, from 0 to 1."""
        return self.spoken / self.words if self.words else 0.0

    @property
    def sentence_length(self) -> float:
        """Mean length of a sentence, in words; 0 where there is none."""
        return self.words / self.sentences if self.sentences else 0.0

    @property
    def longest(self) -> ChapterPreview | None:
        """The chapter of most words; None where there are fewer than two chapters."""
        return max(self.chapters, key=lambda chapter: chapter.words) if len(self.chapters) > 1 else None

    @property
    def set_aside(self) -> float:
        """Share of the file's characters that was set aside, from 0 to 1."""
        return sum(part.characters for part in self.left_out) / self.characters if self.characters else 0.0


def make_preview(edition: Edition) -> Preview:
    """Describe a work that was read and not stored."""
    work = edition.work
    return Preview(
        work=work,
        notice=notice_of(work, edition.missing, edition.doubt),
        chapters=chapters_of(work),
        sentences=len(work.sentences),
        characters=len(work.text),
        first=first_words(work),
        left_out=left_out_of(work),
    )


def beside(preview: Preview, summaries: Iterable[WorkSummary], removed: Iterable[WorkSummary]) -> Preview:
    """Put a preview beside the works that are stored and those that were removed."""
    stored, work = tuple(summaries), preview.work
    names = (work.title, work.author)
    return replace(
        preview,
        stored=next((each for each in stored if each.sha256 == work.sha256), None),
        removed=next((each for each in removed if each.sha256 == work.sha256), None),
        namesakes=tuple(
            each for each in stored if each.sha256 != work.sha256 and same_work((each.title, each.author), names)
        ),
    )


def beginning_of(work: Work) -> Work:
    """Cut a work behind its first sentences; what it is called, and the hash of its whole text, stay."""
    sentences = work.sentences[:_SENTENCES]
    end, last = sentences[-1].end, sentences[-1].paragraph
    return replace(
        work,
        text=work.text[:end],
        chapters=work.chapters[: sentences[-1].chapter + 1],
        paragraphs=work.paragraphs[: last + 1],
        sentences=sentences,
        left_out=(),
    )


def chapters_of(work: Work) -> tuple[ChapterPreview, ...]:
    """List the chapters of a work with their numbers of words."""
    words = Counter[int]()
    for sentence in work.sentences:
        words[sentence.chapter] += len(work.sentence_text(sentence.index).split())
    return tuple(ChapterPreview(work.chapter_name(chapter.index), words[chapter.index]) for chapter in work.chapters)


def first_words(work: Work) -> str:
    """Give the first sentences of a work, line wraps undone, up to about `_FIRST` characters."""
    words = ""
    for sentence in work.sentences:
        if len(words) >= _FIRST:
            break
        words = f"{words} {' '.join(work.sentence_text(sentence.index).split())}".lstrip()
    return _shortened(words, _FIRST + _FIRST // 2)


def left_out_of(work: Work) -> tuple[LeftOutPreview, ...]:
    """Sum up what was set aside of a file, by kind, the longest first."""
    texts: dict[str, list[str]] = {}
    for part in work.left_out:
        texts.setdefault(part.kind, []).append(work.text[part.start : part.end])
    found = [
        LeftOutPreview(
            kind=kind,
            count=len(parts),
            characters=sum(map(len, parts)),
            sample=_begin(max(parts, key=len)),
        )
        for kind, parts in texts.items()
    ]
    return tuple(sorted(found, key=lambda part: -part.characters))


def pieces_of(work: Work) -> tuple[LeftOutPreview, ...]:
    """List the pieces that were set aside and may be text of the work after all, the longest first."""
    pieces = [
        LeftOutPreview(part.kind, 1, part.end - part.start, _begin(work.text[part.start : part.end]), part.start)
        for part in work.left_out
        if part.kind in _DOUBTFUL and part.end - part.start >= _PIECE
    ]
    return tuple(sorted(pieces, key=lambda part: -part.characters)[:_MOST_PIECES])


def _begin(text: str) -> str:
    return _shortened(" ".join(text[: 4 * _SAMPLE].split()), _SAMPLE)


def count(work: Work) -> Numbers:
    """Count what can be counted in a work."""
    dialogue = dialogue_of(work)
    distinct: set[str] = set()
    for sentence in work.sentences:
        distinct.update(tokens(work.text[sentence.start : sentence.end]))
    return Numbers(
        paragraphs=len(work.paragraphs),
        sentences=len(work.sentences),
        words=dialogue.whole.words,
        distinct_words=len(distinct),
        spoken=dialogue.whole.spoken,
        style=dialogue.style,
        chapters=tuple(
            ChapterPreview(work.chapter_name(index), chapter.words) for index, chapter in enumerate(dialogue.chapters)
        ),
        left_out=left_out_of(work),
        pieces=pieces_of(work),
        characters=len(work.text),
    )


def notice_of(work: Work, missing: Sequence[str], doubt: str = "") -> str:
    """Say what a reader should know of a text as it was read, with pages missing or not; empty where nothing is amiss.

    >>> from types import SimpleNamespace
    >>> notice_of(SimpleNamespace(left_out=(), text="Rain."), ["text/ch2.xhtml"])
    'The file lists a page that is not in it (text/ch2.xhtml), so words of the work may be missing. Fetch it again.'
    """
    notices = [doubt, set_aside(work), reads_english(work.text)]
    if missing:
        pages = "a page that is" if len(missing) == 1 else f"{len(missing)} pages that are"
        notices.append(
            f"The file lists {pages} not in it ({', '.join(missing[:_NAMED])}), so words of the work may be missing. "
            "Fetch it again."
        )
    return " ".join(filter(None, notices))


def set_aside(work: Work) -> str:
    """Say so where more of a file was set aside than what usually stands around a text; empty where not.

    Files joined end to end are the usual case: all that follows the first licence is taken for a part of it.
    """
    lengths = [part.end - part.start for part in work.left_out]
    besides = sum(part.end - part.start for part in work.left_out if part.kind != "licence")
    if max(lengths, default=0) <= _LONGEST_APPARATUS and besides <= len(work.text) / 2:
        return ""
    longest = max(work.left_out, key=lambda part: part.end - part.start)
    line = work.text.count("\n", 0, longest.start) + 1
    return (
        f"{sum(lengths) / len(work.text):.0%} of the file was set aside and cannot be found by searching, most of it "
        f"from line {line:,} on ({longest.kind}). If the author's text goes on there, as in files joined end to end, "
        "split the file and add each part."
    )


def _shortened(text: str, length: int) -> str:
    """Cut a text at the end of a word.

    >>> _shortened("Nobody counted the lanterns.", 16)
    'Nobody counted …'
    """
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut} …"
