"""From what is known of a work to the parts that every style of citation puts together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from relic_core.domain import CitedWork
from relic_core.reporting.citations.names import Name, read_names
from relic_core.text.sentences import owns_stop

_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
_ORDINALS = {
    "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th",
}  # fmt: skip
_SUBTITLE = re.compile(r"\s*(?::|;|—|(?P<stop>\.))\s+|,?\s+or,\s+|,\s+or\s+", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"[^\W_](?:[\w.]*\w)?$")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a citation, each empty or None where it is not known; as `EditionDetails` but for these.

    - `short_title`: up to where a subtitle begins, without an article.
    - `first_year`, `year`: of first publication, and of this edition; "70 BCE" before Christ.
    - `edition`: written "2nd ed.".
    - `letter`: "a", "b": tells the works of one author and one year apart that are cited together.
    - `titled`: works are cited together that its author alone does not tell apart.
    """

    id: str
    title: str
    short_title: str
    authors: tuple[Name, ...]
    editors: tuple[Name, ...]
    translators: tuple[Name, ...]
    first_year: str
    year: str
    collection: str
    volume: str
    volumes: int | None
    edition: str
    publisher: str
    place: str
    container: str
    number: str
    url: str
    accessed: date | None
    language: str
    letter: str = ""
    titled: bool = False

    @property
    def within(self) -> bool:
        """Whether it is a part of a book, so that its own title is in quotation marks."""
        return bool(self.collection)

    @property
    def bare_url(self) -> str:
        """The address without the name of its protocol."""
        return re.sub(r"^https?://", "", self.url)


def parts_of(work: CitedWork) -> Parts:
    """Take a work apart."""
    details = work.details
    first, this = year_in_words(work.year), year_in_words(details.year)
    return Parts(
        id=work.id,
        title=work.title.strip() or "Untitled",
        short_title=short_title(work.title) or "Untitled",
        authors=read_names(work.author),
        editors=read_names(details.editor),
        translators=read_names(work.translator),
        first_year=first if first != this else "",
        year=this,
        collection=details.collection.strip(),
        volume=details.volume.strip(),
        volumes=details.volumes,
        edition=edition_in_words(details.edition),
        publisher=details.publisher.strip().rstrip(","),
        place=details.place.strip().rstrip(":,"),
        container=details.container.strip(),
        number=details.number.strip(),
        url=details.url.strip(),
        accessed=details.accessed,
        language=details.language.strip(),
    )


def short_title(title: str) -> str:
    """Give the title that a second mention has: no subtitle, no article.

    >>> short_title("Frankenstein; or, The Modern Prometheus"), short_title("The Mill on the Floss")
    ('Frankenstein', 'Mill on the Floss')
    >>> short_title("Can You Forgive Her?"), short_title("A"), short_title("Mrs. Dalloway")
    ('Can You Forgive Her?', 'A', 'Mrs. Dalloway')
    """
    whole = title.strip()
    ends = (found.start() for found in _SUBTITLE.finditer(whole) if not _owned(whole, found.start("stop")))
    main = whole[: next(ends, len(whole))] or whole
    return _ARTICLE.sub("", main, count=1) if _ARTICLE.match(main) else main


def _owned(title: str, stop: int) -> bool:
    """Whether a full stop belongs to the word before it: "Dr.", "J."."""
    word = _WORD_BEFORE.search(title[: max(0, stop)])
    return word is not None and owns_stop(word[0])


def year_in_words(year: int | None) -> str:
    """Write a year.

    >>> year_in_words(1815), year_in_words(-700), year_in_words(None)
    ('1815', '700 BCE', '')
    """
    if year is None:
        return ""
    return f"{-year} BCE" if year < 0 else str(year)


def edition_in_words(edition: str) -> str:
    """Write which edition it is; nothing of a first one.

    >>> [edition_in_words(edition) for edition in ("2", "Second edition", "rev. ed.", "1st", "Norton Critical Edition")]
    ['2nd ed.', '2nd ed.', 'Rev. ed.', '', 'Norton Critical ed.']
    """
    words = re.sub(r"\s*\b(?:edition|ed)\b\.?$", "", " ".join(edition.split()), flags=re.IGNORECASE)
    words = _ORDINALS.get(words.lower(), words)
    if not words or re.fullmatch(r"1(?:st)?|first", words, re.IGNORECASE):
        return ""
    if words.isdecimal():
        number = int(words)
        ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")  # noqa: PLR2004
        words = f"{number}{ending}"
    return f"{words[:1].upper()}{words[1:]} ed."


def short_date(day: date) -> str:
    """Write a date as MLA does.

    >>> import datetime
    >>> short_date(datetime.date(2026, 9, 5)), long_date(datetime.date(2026, 9, 5))
    ('5 Sept. 2026', 'September 5, 2026')
    """
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def long_date(day: date) -> str:
    """Write a date as Chicago does."""
    return f"{day:%B} {day.day}, {day.year}"
