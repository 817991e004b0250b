"""Small works made by hand, for tests that need no file and no segmenter: from lists, or from a text by its lines."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from relic_core.domain import Chapter, LeftOut, Paragraph, Sentence, Work

if TYPE_CHECKING:
    from collections.abc import Sequence


def make_work(
    *chapters: Sequence[Sequence[str]] | Sequence[str], title: str = "A Small Work", author: str = ""
) -> Work:
    """Make a work from its sentences.

    A chapter is a list of paragraphs, a paragraph a list of sentences; a paragraph of one sentence may be the sentence
    itself. Sentences of a paragraph are parted by a space, paragraphs by an empty line; each chapter has a heading.
    """
    text = ""
    made_chapters, paragraphs, sentences = [], [], []
    for chapter_index, chapter in enumerate(chapters):
        chapter_start = len(text)
        text += f"CHAPTER {chapter_index + 1}\n\n"
        for number, paragraph in enumerate(chapter, start=1):
            paragraph_start = len(text)
            for sentence in [paragraph] if isinstance(paragraph, str) else paragraph:
                if len(text) > paragraph_start:
                    text += " "
                sentences.append(
                    Sentence(len(sentences), len(text), len(text) + len(sentence), chapter_index, len(paragraphs))
                )
                text += sentence
            paragraphs.append(Paragraph(len(paragraphs), paragraph_start, len(text), chapter_index, number))
            text += "\n\n"
        made_chapters.append(Chapter(chapter_index, chapter_start, len(text), number=str(chapter_index + 1)))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Work(
        id=f"small-{sha256[:8]}", title=title, author=author, text=text, sha256=sha256, segmenter="by hand/1",
        chapters=tuple(made_chapters), paragraphs=tuple(paragraphs), sentences=tuple(sentences),
    )  # fmt: skip


FERRY = """\
THE FERRY

One
The ferryman never counted his passengers.
He counted their lanterns instead.

“Three,” he said; nobody answered.

Two
The river had no opinion.
It rose all the same…
"""


def work_of(
    text: str = FERRY, *, work_id: str = "the-ferry-00000000", title: str = "The Ferry", segmenter: str = "by-hand/1"
) -> Work:
    """Make a work of a text: each line a sentence, a line without a mark at its end a heading, a blank line a break."""
    chapters: list[Chapter] = []
    paragraphs: list[Paragraph] = []
    sentences: list[Sentence] = []
    left_out: list[LeftOut] = []
    new_paragraph = True
    for line in re.finditer(r"[^\n]*\n", text):
        start, end = line.start(), line.end() - 1
        words = text[start:end]
        if not words:
            new_paragraph = True
        elif words[-1].isalnum():
            left_out.append(LeftOut(start, end, "heading"))
            if text[start - 2 : start] == "\n\n":
                chapters.append(Chapter(len(chapters), start, len(text), number=words))
            new_paragraph = True
        else:
            if new_paragraph:
                number = 1 + sum(paragraph.chapter == len(chapters) - 1 for paragraph in paragraphs)
                paragraphs.append(Paragraph(len(paragraphs), start, end, len(chapters) - 1, number))
                new_paragraph = False
            sentences.append(Sentence(len(sentences), start, end, len(chapters) - 1, len(paragraphs) - 1))
    return Work(
        id=work_id,
        title=title,
        author="A. Nobody",
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        segmenter=segmenter,
        chapters=tuple(chapters),
        paragraphs=tuple(paragraphs),
        sentences=tuple(sentences),
        left_out=tuple(left_out),
        year=1891,
        source="by hand",
    )


def answer_again(app, search_id):
    """Answer a search of the history once more."""
    return app.search.run(app.history.get(search_id).request, at_once=True)


def write_wordnet(folder, **lines):
    """Write a WordNet of few words: the lines of each of its files, under a licence as the real one's."""
    folder.mkdir()
    for kind in ("noun", "verb", "adj", "adv"):
        for name in (f"index_{kind}", f"data_{kind}"):
            text = "".join(f"{line}\n" for line in ("  1 A licence. | ", *lines.get(name, ())))
            (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder
