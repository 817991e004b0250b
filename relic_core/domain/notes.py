"""The notebook: kept passages with the scholar's words, in named collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from datetime import datetime

Verdict = Literal["supports", "contradicts", "unsure"]
"""What a passage does to the claim it was kept for, in the scholar's judgement."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Origin = Literal["find", "read", "concordance", "proxy_task"]
"""The page a passage was kept on."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A passage as it was kept: its words, where they stand, and what brought it up. It never changes afterwards.

    Attributes
    ----------
    work_id, sha256 : str
        The edition, and the sha256 of its text.
    title, author : str
        As the library named the work then.
    at : str
        Address of the first sentence, "3.5.2".
    length : int
        Sentences, 1 or more.
    start, end : int
        Character offsets in the text of the work: ``work.text[start:end]``.
    place : str
        Where it stands, in words: "Chapter 3 · paragraph 5".
    chapter : str
        The chapter's name.
    paragraph : int
        Number in the chapter, from 1.
    line : int or None
        Number of the line of verse it begins in.
    quotation : str
        The words, verbatim, as they are set: wraps of prose undone, lines of verse parted by a line feed, paragraphs by
        an empty line.
    origin : {"find", "read", "concordance", "proxy_task"}
        The page it was kept on.
    claim_text : str
        The claim it was found for, or the query of a concordance; empty where it was met in reading.
    search_id : str
        The search it was found by; empty where there was none.
    retriever : str
        Which retriever brought it up; empty where none did.
    rank : int
        At which rank, from 1; 0 where no retriever did.
    made_with : str
        Model, index and version that answered, as in `relic_core.domain.Search`.
    """

    work_id: str
    sha256: str
    title: str
    author: str
    at: str
    length: int
    start: int
    end: int
    place: str
    chapter: str
    paragraph: int
    line: int | None = None
    quotation: str
    origin: Origin = "read"
    claim_text: str = ""
    search_id: str = ""
    retriever: str = ""
    rank: int = 0
    made_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A kept passage with the scholar's words: one version of it, of which the last counts.

    Attributes
    ----------
    id : str
        Short and unique.
    collection_id : str
        The collection it is in.
    kept : Kept
        The passage.
    words : str
        The scholar's own.
    tags : tuple of str
        In the order given, each once.
    verdict : {"supports", "contradicts", "unsure"} or None
        None while none was given.
    position : float
        Where it stands in its collection: smaller comes first.
    created, updated : datetime
        In UTC.
    person : str
        Whose it is, where people sign in; else empty.
    """

    id: str
    collection_id: str
    kept: Kept
    words: str = ""
    tags: tuple[str, ...] = ()
    verdict: Verdict | None = None
    position: float = 0.0
    created: datetime
    updated: datetime
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named list of notes.

    Attributes
    ----------
    id : str
        Short and unique.
    name : str
        As its owner calls it.
    created : datetime
        In UTC.
    person : str
        Whose it is, where people sign in; else empty.
    """

    id: str
    name: str
    created: datetime
    person: str = ""
