"""From the bytes of a file to a work with its sentences."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath

from relic_core.config import Settings
from relic_core.domain import Chapter, Format, LeftOut, Paragraph, Sentence, Work
from relic_core.errors import BadRequest, unknown_name
from relic_core.ports import Segmenter
from relic_core.text.blocks import refuse_too_many, split_blocks
from relic_core.text.decoding import decode, file_name, harmless
from relic_core.text.headings import clean_title
from relic_core.text.metadata import Metadata
from relic_core.text.sentences import count_ends, default_segmenter
from relic_core.text.structure import Structure, analyse
from relic_core.text.unbroken import within

_SLUG_LENGTH = 48
_LONGEST_SOURCE = 4_096
"""Characters: the longest path."""


def read_work(
    data: bytes,
    *,
    name: str,
    metadata: Metadata = Metadata(),  # noqa: B008 - frozen
    source: str = "",
    segmenter: Segmenter | None = None,
    max_bytes: int = Settings.max_text_bytes,
) -> Work:
    """Read a work from the bytes of a text file; metadata given win over what the file says."""
    segmenter = segmenter or default_segmenter()
    text = decode(data, max_bytes=max_bytes)
    refuse_too_many(sentences=count_ends(text), what="The text")
    structure = analyse(text)
    structure = replace(structure, metadata=structure.metadata.corrected(metadata))
    sentences = _sentences(text, structure.paragraphs, segmenter)
    return make_work(text, structure, sentences, name=name, source=source, segmenter=segmenter)


def make_work(
    text: str,
    structure: Structure,
    sentences: Iterable[Sentence],
    *,
    name: str,
    source: str,
    segmenter: Segmenter,
    form: Format = "plain text",
) -> Work:
    """Make a work of its parts; where its title is not known, of the file's name."""
    metadata = structure.metadata
    title = metadata.title or title_of_file(name)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    own = tuple(sentences)
    return Work(
        id=work_id(title, sha256),
        title=title,
        author=metadata.author,
        translator=metadata.translator,
        year=metadata.year,
        source=harmless(source, longest=_LONGEST_SOURCE),
        text=text,
        sha256=sha256,
        segmenter=segmenter.identity,
        chapters=structure.chapters,
        paragraphs=structure.paragraphs,
        sentences=own,
        left_out=structure.left_out,
        format=form,
        guessed=", ".join(name for name in metadata.guessed if getattr(metadata, name)),
        cuts=within(text, own),
    )


def work_id(title: str, sha256: str) -> str:
    """Make the identity of a work: a slug of its title and the first eight digits of its hash.

    >>> work_id("L’Assommoir: Été!", "0123456789abcdef")
    'l-assommoir-ete-01234567'
    """
    plain = unicodedata.normalize("NFKD", title.replace("’", "'")).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower())[: _SLUG_LENGTH + 1].strip("-")
    return f"{slug or 'work'}-{sha256[:8]}"


def title_of_file(name: str) -> str:
    """Make a title of the name of a file.

    >>> title_of_file("uploads/the_age_of_innocence.txt")
    'The age of innocence'
    """
    stem = " ".join(re.split(r"[\s_-]+", PurePath(file_name(name)).stem)).strip()
    return stem[:1].upper() + stem[1:] or "Untitled"


def _sentences(text: str, paragraphs: Iterable[Paragraph], segmenter: Segmenter) -> Iterable[Sentence]:
    index = 0
    for paragraph in paragraphs:
        for start, end in segmenter.segment(text, paragraph.start, paragraph.end):
            yield Sentence(index, start, end, paragraph.chapter, paragraph.index)
            index += 1


_PROSE = 200
"""Characters from which on a block is no line of a title page."""


def put_back(work: Work, start: int) -> Work:
    """Make text of what was left out at an offset: paragraphs of the chapter around it, else a chapter of its own.

    Lines of a title page before its first paragraph stay left out; the last of them names the chapter.
    Raises BadRequest: nothing was left out there.
    """
    piece = next((each for each in work.left_out if each.start == start), None)
    if piece is None:
        raise BadRequest("That piece is part of the text already, or the work was read anew. Open its page again.")
    blocks = list(split_blocks(work.text, piece.start, piece.end))
    first = next((place for place, block in enumerate(blocks) if block.end - block.start >= _PROSE), 0)
    around = next((chapter.index for chapter in work.chapters if chapter.start <= start < chapter.end), None)
    chapters = list(work.chapters)
    shift = around is None
    if around is None:
        around = sum(chapter.start < start for chapter in chapters)
        above = blocks[first - 1] if first else None
        title = clean_title(above.flat) if above is not None and above.short else ""
        begin = above.start if above is not None else blocks[0].start
        chapters.insert(around, Chapter(around, begin, piece.end, title=title))
    place = sum(paragraph.start < start for paragraph in work.paragraphs)
    added = [Paragraph(0, block.start, block.end, around, 0) for block in blocks[first:]]
    later = [
        replace(
            each,
            chapter=each.chapter + shift,
            note_to=None if each.note_to is None else each.note_to + len(added) * (each.note_to >= place),
        )
        for each in work.paragraphs[place:]
    ]
    earlier = [replace(each, chapter=each.chapter + shift * (each.start > start)) for each in work.paragraphs[:place]]
    counts = Counter[tuple[int, bool]]()
    paragraphs = []
    for index, each in enumerate([*earlier, *added, *later]):
        counts[each.chapter, each.kind == "note"] += 1
        number = counts[each.chapter, each.kind == "note"]
        paragraphs.append(replace(each, index=index, number=number))
    cut = _sentences(work.text, paragraphs[place : place + len(added)], segmenter("rules"))
    before = [sentence for sentence in work.sentences if sentence.start < start]
    behind = [
        replace(each, paragraph=each.paragraph + len(added), chapter=each.chapter + shift)
        for each in work.sentences[len(before) :]
    ]
    sentences = tuple(replace(each, index=index) for index, each in enumerate([*before, *cut, *behind]))
    kept = [LeftOut(piece.start, blocks[first - 1].end, piece.kind)] if first else []
    at = work.left_out.index(piece)
    return replace(
        work,
        chapters=tuple(replace(each, index=index) for index, each in enumerate(chapters)),
        paragraphs=tuple(paragraphs),
        sentences=sentences,
        left_out=(*work.left_out[:at], *kept, *work.left_out[at + 1 :]),
        cuts=within(work.text, sentences),
    )


def segmenter(name: str) -> Segmenter:
    """Make a segmenter by name: "rules", or "parser" for spaCy's own parser as RELiC used it."""
    if name == "rules":
        return default_segmenter()
    if name == "parser":
        from relic_core.text.parser import ParserSegmenter  # loads spaCy

        return ParserSegmenter.load()
    raise unknown_name("segmenter", name, ["rules", "parser"])
