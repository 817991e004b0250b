"""What is known of an edition: by its source, by the header of Project Gutenberg, by what a person says."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from typing import Any

from relic_core.domain import EditionDetails
from relic_core.errors import BadRequest
from relic_core.text.decoding import harmless

GUTENBERG = "Project Gutenberg"
PAGE = "https://www.gutenberg.org/ebooks/{number}"

_HEAD = 4_000
"""Characters in which the header of Project Gutenberg stands."""
_FROM_GUTENBERG = re.compile(rf"{GUTENBERG} (\d{{1,7}})\b")
_NUMBERED = re.compile(r"\[\s*(?:e-?book|e-?text)\s*#?\s*(\d{1,7})\s*\]", re.IGNORECASE)
_RELEASED = re.compile(r"^(?:Original )?Release Date:[^\n]*?\b(19[7-9]\d|20\d\d)\b", re.MULTILINE | re.IGNORECASE)
_POSTED = re.compile(r"^Posting Date:[^\n]*?\b(19[7-9]\d|20\d\d)\b", re.MULTILINE | re.IGNORECASE)
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z][A-Za-z ,;()-]{1,40}?)[ \t]*$", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s,;<>\"]{4,500}")
_GUTENBERG_ADDRESS = re.compile(r"https?://(?:www\.)?gutenberg\.org/(?:ebooks/|etext/)?(\d{1,7})\b")
_LONGEST = 300
_LONGEST_ADDRESS = 2_000
_FIRST_YEAR = 1_000
_MOST_VOLUMES = 1_000
_URL = re.compile(r"https?://[^\s<>\"]+")
_SITES = {"standardebooks.org": "Standard Ebooks", "wikisource.org": "Wikisource", "archive.org": "Internet Archive"}


def edition_of(
    *,
    editor: str = "",
    publisher: str = "",
    place: str = "",
    language: str = "",
    url: str = "",
    year: int | None = None,
) -> EditionDetails:
    """Put together what a file says of its edition, made harmless; an address of Project Gutenberg names its text.

    >>> edition_of(publisher=" Dent ", language="en").publisher
    'Dent'
    >>> details = edition_of(publisher="Project Gutenberg", url="http://www.gutenberg.org/158")
    >>> details.container, details.number, details.publisher
    ('Project Gutenberg', '158', '')
    """
    known = EditionDetails(
        editor=harmless(editor, longest=_LONGEST),
        publisher=harmless(publisher, longest=_LONGEST),
        place=harmless(place, longest=_LONGEST),
        language=harmless(language, longest=_LONGEST),
        year=year,
    )
    if found := _GUTENBERG_ADDRESS.match(url):
        return replace(
            known,
            container=GUTENBERG,
            number=found[1],
            url=PAGE.format(number=found[1]),
            publisher="" if GUTENBERG in known.publisher else known.publisher,
        )
    return replace(known, url=url) if len(url) <= _LONGEST and _ADDRESS.fullmatch(url) else known


def over(stated: EditionDetails, derived: EditionDetails, added: date) -> EditionDetails:
    """Lay what a file says of itself over what was derived; what has an address was taken from there when it was added.

    >>> import datetime
    >>> over(EditionDetails(publisher="Dent"), EditionDetails(number="158"), datetime.date(2026, 11, 5)).number
    '158'
    """
    given = {field.name: value for field in fields(stated) if (value := getattr(stated, field.name)) not in {"", None}}
    merged = replace(derived, **given)
    return replace(merged, accessed=added) if merged.url and merged.accessed is None else merged


def derive_details(source: str, text: str, added: date) -> EditionDetails:
    r"""Read what is known of an edition, `added` on a date, from `Work.source` and the first characters of its text.

    >>> import datetime
    >>> header = "The Project Gutenberg EBook of Emma\n\nRelease Date: August, 1994  [Etext #158]\nLanguage: English\n"
    >>> details = derive_details("emma.txt", header, datetime.date(2026, 11, 5))
    >>> details.container, details.number, details.year, details.language
    ('Project Gutenberg', '158', 1994, 'English')
    >>> derive_details("own.txt", "It rained.", datetime.date(2026, 11, 5)) == EditionDetails()
    True
    """
    head = text[:_HEAD]
    if number := _FROM_GUTENBERG.match(source) or (_NUMBERED.search(head) if GUTENBERG in head else None):
        language = _LANGUAGE.search(head) if GUTENBERG in head else None
        released = _RELEASED.search(head) or _POSTED.search(head)
        return EditionDetails(
            container=GUTENBERG,
            number=number[1],
            url=PAGE.format(number=number[1]),
            accessed=added,
            year=int(released[1]) if released else None,
            language=language[1] if language else "",
        )
    if found := _ADDRESS.search(source):
        url = found[0].rstrip(".)")
        site = next((name for host, name in _SITES.items() if host in url), "")
        return EditionDetails(container=site, url=url, accessed=added)
    return EditionDetails()


def check_details(details: EditionDetails) -> EditionDetails:
    """Make what a person says of an edition harmless. Raises BadRequest: something is too long, or cannot be.

    >>> check_details(EditionDetails(publisher=" Oxford  University Press ")).publisher
    'Oxford University Press'
    """
    words: dict[str, Any] = {}
    for field in fields(details):
        value = getattr(details, field.name)
        if not isinstance(value, str):
            continue
        longest = _LONGEST_ADDRESS if field.name == "url" else _LONGEST
        if len(value) > longest:
            raise BadRequest(f"The {field.name} has {len(value):,} characters; at most {longest:,} are allowed.")
        words[field.name] = harmless(value, longest=longest)
    latest = datetime.now(UTC).year + 1
    if details.year is not None and not _FIRST_YEAR <= details.year <= latest:
        raise BadRequest(
            f"{details.year} is not a year of this edition; {_FIRST_YEAR} to {latest} is allowed. Leave it empty where "
            "it is not known."
        )
    if details.volumes is not None and not 1 <= details.volumes <= _MOST_VOLUMES:
        raise BadRequest(
            f"{details.volumes} is not a number of volumes; give 1 to {_MOST_VOLUMES:,}, or leave it empty."
        )
    if words["url"] and not _URL.fullmatch(words["url"]):
        raise BadRequest(
            f"'{words['url'][:80]}' is not an address. Write it in full, beginning with https://, or leave it empty."
        )
    if details.accessed is not None and details.accessed > date.today():  # noqa: DTZ011 - the reader's own day
        raise BadRequest(
            f"The date of access, {details.accessed}, is still to come. Give the day on which you read it."
        )
    return replace(details, **words)
