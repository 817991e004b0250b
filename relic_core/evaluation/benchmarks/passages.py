"""Passages that were given, as a work: each is one sentence and one paragraph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from relic_core.domain import GIVEN_PASSAGES, Chapter, Paragraph, Sentence, Work
from relic_core.text.reading import work_id


def in_order(query_id: str, passages: Iterable[str]) -> list[str]:
    """Put the passages of a pool in the order of its work, which says nothing of the gold.

    >>> in_order("q1", ["c1", "c2", "c3"]), in_order("q2", ["c3", "c2", "c1"])
    (['c3', 'c1', 'c2'], ['c1', 'c2', 'c3'])
    """
    return sorted(passages, key=lambda passage: hashlib.sha256(f"{query_id} {passage}".encode()).hexdigest())


def work_of(title: str, passages: Mapping[str, str], source: str, *, chapter: Callable[[str], str] = str) -> Work:
    """Make a work of passages, by their ids.

    - `chapter`: names the chapter of an id. By default each is its own, so that nothing is read in the context of its
      neighbour, and every candidate has the length 1.
    """
    parts, sentences, paragraphs, chapters, start = list[str](), [], [], list[Chapter](), 0
    for index, (name, passage) in enumerate(passages.items()):
        words = " ".join(passage.split())
        parts.append(f"{words}\n\n")
        end = start + len(words)
        if not chapters or chapters[-1].title != chapter(name):
            chapters.append(Chapter(len(chapters), start, start, title=chapter(name)))
            first = index
        chapters[-1] = replace(chapters[-1], end=end + 2)
        sentences.append(Sentence(index, start, end, len(chapters) - 1, index))
        paragraphs.append(Paragraph(index, start, end, len(chapters) - 1, index - first + 1))
        start = end + 2
    text = "".join(parts)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Work(
        id=work_id(title, sha256),
        title=title,
        author="",
        text=text,
        sha256=sha256,
        segmenter=GIVEN_PASSAGES,
        chapters=tuple(chapters),
        paragraphs=tuple(paragraphs),
        sentences=tuple(sentences),
        source=source,
    )
