"""Adding texts: what is said of them, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest
from relic_core.text.decoding import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Work, WorkSummary
    from relic_core.library.catalogue import CatalogueEntry
    from relic_core.store.works import Outcome

_LONGEST_APPARATUS = 40_000
"""Characters. Project Gutenberg's licence has 20,000, the contents of the longest novels less."""
_LONGEST_NAME = 300
_NAMED = 3
_FIRST_YEAR = -3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a person says of a work, made harmless; what is empty was not said."""

    title: str = ""
    author: str = ""
    translator: str = ""
    year: int | None = None

    @classmethod
    def of(cls, *, title: str, author: str, translator: str, year: int | None) -> Description:
        """Check what was said.

        Raises BadRequest: a name that is too long, or a year that cannot be.
        """
        named = {"title": title, "author": author, "translator": translator}
        for what, given in named.items():
            if len(given) > _LONGEST_NAME:
                raise BadRequest(f"The {what} has {len(given):,} characters; at most {_LONGEST_NAME} are allowed.")
        latest = datetime.now(UTC).year + 1
        if year is not None and (not _FIRST_YEAR <= year <= latest or year == 0):
            raise BadRequest(
                f"{year} is no year of publication; {_FIRST_YEAR} to {latest} is allowed, years before Christ with a "
                "minus. Leave it empty where it is not known."
            )
        return cls(**{what: harmless(given, longest=_LONGEST_NAME) for what, given in named.items()}, year=year)

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what was said."""
        said = {"title": self.title, "author": self.author, "translator": self.translator, "year": self.year}
        return tuple(name for name, value in said.items() if value not in {"", None})

    def over(self, entry: CatalogueEntry | None) -> Description:
        """Return what was said, and of what was not said what an entry of the catalogue says."""
        if entry is None:
            return self
        return Description(
            title=self.title or entry.title,
            author=self.author or entry.author,
            translator=self.translator or entry.translator,
            year=entry.year if self.year is None else self.year,
        )


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a text came to.

    - `outcome`: whether it is new, was there, was there under metadata other than those given, had been removed, or was
      there with the sentences of another segmenter.
    - `notice`: what the reader should know of it; empty where nothing is out of the way.
    """

    work: WorkSummary
    outcome: Outcome
    notice: str = ""

    @property
    def already(self) -> bool:
        """Whether the text was there before and nothing was written."""
        return self.outcome == "already"


def notice_of(work: Work, missing: Sequence[str]) -> str:
    """Say what a reader should know of a text as it was read; empty where nothing is out of the way.

    - `missing`: pages that the file lists and does not hold.

    >>> from types import SimpleNamespace
    >>> notice_of(SimpleNamespace(left_out=(), text="Rain."), ["text/ch2.xhtml"])
    'The file lists a page that is not in it (text/ch2.xhtml), so words of the work may be missing. Fetch it again.'
    """
    notices = [set_aside(work)]
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
