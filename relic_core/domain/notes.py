"""The notebook: kept passages with the scholar's words, in named collections."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from relic_core.domain.bounds import Count, Positive, Words
from relic_core.errors import BadRequest, unknown_name

Verdict = Literal["supports", "contradicts", "unsure"]
"""What a passage does to the claim it was kept for, in the scholar's judgement."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Origin = Literal["find", "read", "concordance", "proxy_task", "sources", "attribution"]
"""The page a passage was kept on."""

LONGEST_WORDS = 20_000
"""Characters of the scholar's words on one passage: some eight printed pages."""

MOST_TAGS, LONGEST_TAG, LONGEST_NAME = 20, 60, 120
"""Tags of a note; characters of a tag, and of the name of a collection."""

_ID_LETTERS = 12
"""60 bits: among a million notes one chance in two million that two share a name."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPassage:
    """A passage as it was kept: its words, where they stand, and what brought it up. It never changes afterwards.

    - `sha256`: of the text of the edition, to which `start` and `end` belong.
    - `title`, `author`: as the library named the work then.
    - `at`: address of the first sentence, "3.5.2".
    - `length`: sentences, 1 or more.
    - `place`: where it stands, in words: "Chapter 3 · paragraph 5".
    - `quotation`: the words, verbatim, as they are set: wraps of prose undone, lines of verse parted by a line feed,
      paragraphs by an empty line.
    - `claim_text`: the claim it was found for, or the query of a concordance; empty where it was met in reading.
    - `rank`: from 1; 0 where no retriever brought it up.
    - `made_with`: model, index and version that answered, as in `relic_core.domain.Search`.
    """

    work_id: Words
    sha256: Words
    title: Words
    author: str
    at: str
    length: Positive
    start: Count
    end: Count
    place: str
    chapter: str
    paragraph: Count
    line: Count | None = None
    quotation: Words
    origin: Origin = "read"
    claim_text: str = ""
    search_id: str = ""
    retriever: str = ""
    rank: Count = 0
    made_with: str = ""

    @property
    def for_claim(self) -> bool:
        """Whether it was kept for a claim, which a verdict can be given on; a word looked for is none."""
        return self.origin != "concordance" and any(map(str.isalnum, self.claim_text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A kept passage with the scholar's words, at a position in its collection: one version of it, the last counts."""

    id: str
    collection_id: str
    kept: KeptPassage
    words: str = ""
    tags: tuple[str, ...] = ()
    verdict: Verdict | None = None
    position: float = 0.0
    created: datetime
    updated: datetime
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named list of notes."""

    id: str
    name: str
    created: datetime
    person: str = ""


@dataclass(frozen=True, slots=True)
class CollectionCount:
    """A collection and how many notes it holds."""

    collection: Collection
    notes: int


def note_id(person: str, kept: KeptPassage) -> str:
    """Name a note by whose it is, the passage, and the claim it was kept for: twelve letters and digits.

    So the same passage is kept once for a claim, in every store, and a notebook that is taken in twice adds nothing.
    """
    key = "\x00".join((person, kept.sha256, str(kept.start), str(kept.end), kept.claim_text.strip()))
    return b32encode(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()).decode().lower()[:_ID_LETTERS]


def brought_together(earlier: Note, later: Note) -> Note:
    """Bring two notes on one passage together: the later one, with what the earlier says beside.

    Words stand one after the other where neither holds the other; the later ones alone where both are too long for one
    note. The later verdict counts, and the earlier one where there is no other.
    """
    before, more = earlier.words.strip(), later.words.strip()
    words = later.words
    if before and before not in more:
        words = earlier.words if more in before else f"{before}\n\n{more}"
    return replace(
        later,
        words=words if len(words) <= LONGEST_WORDS else later.words,
        tags=merged_tags((), earlier.tags, later.tags),
        verdict=later.verdict or earlier.verdict,
    )


def merged_tags(seen: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> tuple[str, ...]:
    """Bring tags together that two changed: what either added is there, what either removed is not; `mine` come first.

    >>> merged_tags(("sea", "light"), ("sea", "light", "night"), ("sea", "dusk"))
    ('sea', 'dusk', 'night')
    """
    tags: dict[str, str] = {}
    for tag in (*mine, *theirs):
        if tag not in seen or (tag in mine and tag in theirs):
            tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())[:MOST_TAGS]


def checked_words(words: str) -> str:
    """Check the scholar's words on a passage: not too long, and no half characters."""
    if len(words) > LONGEST_WORDS:
        raise BadRequest(
            f"Your words on one passage may have {LONGEST_WORDS:,} characters, and these have {len(words):,}. They are "
            "not saved yet: shorten them, or keep a longer text elsewhere and note here where it is."
        )
    return _whole(words, "Your words")


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Set tags right: white space closed up, empty ones left away, each once. Raises BadRequest: too many or too long.

    >>> checked_tags(["the  sea", "", "Light", "light"])
    ('the sea', 'Light')
    """
    found: dict[str, str] = {}
    for tag in tags:
        closed = " ".join(_whole(tag, "A tag").split())
        if closed:
            found.setdefault(closed.casefold(), closed)
    if len(found) > MOST_TAGS:
        raise BadRequest(f"A note may have {MOST_TAGS} tags, and these are {len(found)}. Leave some away.")
    for tag in found.values():
        if len(tag) > LONGEST_TAG:
            raise BadRequest(
                f"A tag may have {LONGEST_TAG} characters, and “{tag[:30]}…” has {len(tag):,}. Shorten it, or write it "
                "among your words."
            )
    return tuple(found.values())


def checked_name(name: str) -> str:
    """Set the name of a collection right, with white space closed up. Raises BadRequest: it is empty or too long."""
    closed = " ".join(_whole(name, "A name").split())
    if not closed:
        raise BadRequest("A collection needs a name: a word or two that tell you what belongs in it.")
    if len(closed) > LONGEST_NAME:
        raise BadRequest(
            f"The name of a collection may have {LONGEST_NAME} characters, and this has {len(closed):,}. Shorten it."
        )
    return closed


def checked_verdict(verdict: str) -> Verdict | None:
    """Check a verdict; empty is none."""
    for known in VERDICTS:
        if verdict == known:
            return known
    if verdict:
        raise unknown_name("verdict", f"{verdict:.40}", VERDICTS)
    return None


def _whole(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(
            f"{what} hold half of a character at place {error.start + 1:,}, which cannot be written down. Take it out."
        ) from None
    return text
