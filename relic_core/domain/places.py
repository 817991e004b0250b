"""Places: where a passage is in its work, in words for a reader and as an address that can be opened again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from relic_core.errors import BadRequest

_ADDRESS = re.compile(
    r"(?P<chapter>[1-9]\d{0,5})(?:\.(?P<note>n?)(?P<paragraph>[1-9]\d{0,6})(?:\.(?P<sentence>[1-9]\d{0,5}))?)?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """The stable address of a sentence in one edition.

    - `chapter`: position of the chapter in the work, from 1, whatever number is printed over it.
    - `paragraph`: number in the chapter, from 1; of a note, its number among the notes of the chapter.
    - `sentence`: position in the paragraph, from 1.

    >>> str(Address(3, 5, 2)), str(Address(3, 1, 1, note=True))
    ('3.5.2', '3.n1.1')
    """

    chapter: int
    paragraph: int = 1
    sentence: int = 1
    note: bool = False

    def __str__(self) -> str:
        return f"{self.chapter}.{'n' * self.note}{self.paragraph}.{self.sentence}"

    @classmethod
    def parse(cls, written: str) -> Address:
        """Read an address in a link: chapter, chapter.paragraph or chapter.paragraph.sentence. Raises BadRequest.

        >>> Address.parse("3.5") == Address(3, 5, 1)
        True
        """
        found = _ADDRESS.fullmatch(written.strip())
        if found is None:
            raise BadRequest(
                f"'{written[:40]}' is not a place in a work. An address is chapter.paragraph.sentence, such as 3.5.2."
            )
        return cls(
            int(found["chapter"]), int(found["paragraph"] or 1), int(found["sentence"] or 1), note=bool(found["note"])
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a span is in its work.

    - `paragraph`: number in the chapter, from 1; of a note, its number among the notes.
    - `sentence`: number in the work, from 1.
    - `fraction`: how far into the work, 0 to 1, counted in sentences.
    - `verse`: number of the verse, where it stands before the paragraph with that of the chapter; 0 elsewhere.
    """

    chapter: str
    chapter_index: int
    paragraph: int
    sentence: int
    fraction: float
    address: Address
    speaker: str = ""
    line: int | None = None
    note: bool = False
    verse: int = 0

    @property
    def label(self) -> str:
        """The place in words.

        >>> Place("Chapter 3", 2, 5, 40, 0.1, Address(3, 5)).label
        'Chapter 3 · paragraph 5'
        >>> Place("Act I, Scene 2", 1, 5, 40, 0.1, Address(2, 5), speaker="HAMLET", line=14).label
        'Act I, Scene 2 · line 14 (HAMLET)'
        """
        if self.note:
            inside = f"note {self.paragraph}"
        elif self.line is not None:
            inside = f"line {self.line}"
        elif self.verse:
            inside = f"verse {self.verse}"
        else:
            inside = f"paragraph {self.paragraph}"
        return f"{self.chapter} · {inside}" + (f" ({self.speaker})" if self.speaker else "")
