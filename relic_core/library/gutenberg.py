"""Project Gutenberg: a book's plain text by its number, from a mirror, with the courtesy that programs owe it.

At most one request in some seconds over all processes of this machine, redirects and second tries included; a true
name; questions whether a file has changed in place of fetching it again. A mirror serves a book in two places: as made
anew from the master file (``cache/epub``, always in UTF-8), and as it was posted, in a tree of the number's digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.config import Settings
from relic_core.errors import BadRequest, NotFound, SourceAway, SourceUnavailable
from relic_core.library.downloads import Kept, confirmed
from relic_core.library.markup import is_web_page
from relic_core.library.mirror import OTHER_WAYS, Mirror

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from relic_core.library.downloads import Downloads, Gate

PAGE = "https://www.gutenberg.org/ebooks/{number}"

_LARGEST_NUMBER = 9_999_999
_HEAD_BYTES = 4_000
"""How far into an answer is looked for the marks of a web page."""
_NUMBER = re.compile(r"(?:gutenberg:\s*|pg|#)?(\d{1,9})(?:[.-][\w.-]*)?", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://)?[\w.-]+/\S*?(?:ebooks|etext|files|epub)/(\d{1,9})(?:[/.-]\S*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A fetched book.

    - `data`: its plain text, in whatever encoding.
    - `url`: where it came from.
    - `fetched`: when its bytes came, in UTC.
    - `notice`: what the reader should know of the fetching; empty where nothing is out of the way.
    """

    number: int
    data: bytes
    url: str
    fetched: datetime
    notice: str = ""

    @property
    def source(self) -> str:
        """Where the text came from, in words."""
        return f"Project Gutenberg {self.number}, {self.url}, fetched {self.fetched.day} {self.fetched:%B %Y}"


def parse_number(said: str) -> int:
    """Read a number of Project Gutenberg: the number itself, "pg1342", or the address of the book's page or file.

    Raises BadRequest: there is no such number in it.

    >>> parse_number("1342"), parse_number("https://www.gutenberg.org/ebooks/1342"), parse_number(" pg1342.txt")
    (1342, 1342, 1342)
    """
    found = _NUMBER.fullmatch(said.strip()) or _ADDRESS.fullmatch(said.strip())
    number = int(found[1]) if found else 0
    check_number(number, said=said)
    return number


def check_number(number: int, *, said: str = "") -> None:
    """Refuse what cannot be a number of Project Gutenberg.

    Raises BadRequest: it is below 1 or too large.
    """
    if not 1 <= number <= _LARGEST_NUMBER:
        raise BadRequest(
            f"'{said or number}' is no number of Project Gutenberg. Give the number that the book's page has in its "
            f"address, as 1342 in {PAGE.format(number=1342)}."
        )


def paths(number: int) -> tuple[str, ...]:
    """List the places where a mirror may have a book's plain text, the likeliest first.

    >>> paths(1342)[:2], paths(7)[1]
    (('cache/epub/1342/pg1342.txt', '1/3/4/1342/1342-0.txt'), '0/7/7-0.txt')
    """
    digits = str(number)
    folder = "/".join([*(digits[:-1] or "0"), digits])
    return (f"cache/epub/{number}/pg{number}.txt", *(f"{folder}/{number}{end}.txt" for end in ("-0", "-8", "")))


class Gutenberg:
    """A mirror of Project Gutenberg and what was fetched from it.

    - `downloads`: where fetched files are kept.
    - `gate`: lets requests pass, one in some seconds.
    """

    def __init__(
        self, mirror: str, downloads: Downloads, gate: Gate, *, max_bytes: int = Settings.max_text_bytes
    ) -> None:
        self._mirror = mirror.rstrip("/")
        self._downloads = downloads
        self._gate = gate
        self._max_bytes = max_bytes

    def fetch(self, number: int, say: Callable[[str], None], *, offline: bool = False) -> Book:
        """Fetch the plain text of a book, or take the kept copy where the mirror says that it is still the same.

        - `say`: told what is waited for, some times a second; what it raises ends the fetching.
        - `offline`: ask nobody; only a kept copy will do.

        Raises NotFound: the mirror has no plain text of that number.
        Raises SourceAway: the mirror does not answer, and no copy is kept.
        Raises SourceUnavailable: it sends something else than a text, and no copy is kept.
        Raises TextTooLarge: it is larger than allowed.
        Raises BadRequest: there can be no such number.
        Raises StoreReadOnly: the folder of downloads cannot be written.
        """
        check_number(number)
        kept = self._downloads.load(number)
        try:
            if offline:
                raise SourceAway(f"{self._mirror} was not asked again, since it does not answer.")
            found = self._look(number, kept, say)
        except SourceUnavailable as error:
            if kept is None:
                raise
            notice = f"The copy kept here from {kept.fetched.day} {kept.fetched:%B %Y} was taken: {error}"
            return Book(number=number, data=kept.data, url=kept.url, fetched=kept.fetched, notice=notice)
        if found is None:
            raise NotFound(
                f"Project Gutenberg's mirror {self._mirror} has no plain text of number {number}. Check the number at "
                f"{PAGE.format(number=number)}; recordings and scores have no text, and a new book may not have "
                "reached this mirror yet."
            )
        return Book(number=number, data=found.data, url=found.url, fetched=found.fetched)

    def _look(self, number: int, kept: Kept | None, say: Callable[[str], None]) -> Kept | None:
        """Ask for the book where it may be; what is kept is asked for first, where it came from."""
        addresses = [f"{self._mirror}/{path}" for path in paths(number)]
        if kept is not None and kept.url in addresses:
            addresses.sort(key=lambda address: address != kept.url)
        empty = web_page = ""
        with Mirror(self._mirror, self._gate, max_bytes=self._max_bytes) as mirror:
            for address in addresses:
                known = kept if kept is not None and kept.url == address else None
                answer = mirror.get(address, known, say)
                if answer is None:
                    continue
                if answer.unchanged and known is not None:
                    return confirmed(known, etag=answer.etag, last_modified=answer.last_modified)
                if not answer.data:
                    empty = address
                    continue
                if is_web_page(answer.data[:_HEAD_BYTES].decode("utf-8", errors="replace")):
                    web_page = address
                    continue
                new = Kept(
                    data=answer.data,
                    url=address,
                    etag=answer.etag,
                    last_modified=answer.last_modified,
                    fetched=self._gate.today(),
                )
                return self._downloads.keep(number, new)
        if web_page:
            raise SourceUnavailable(
                f"In the place of the text, {web_page} gave a web page. A network that wants you to sign in first "
                f"does that, and so does a mirror that keeps programs out: open the address in a browser. {OTHER_WAYS}"
            )
        if empty:
            raise SourceUnavailable(
                f"The mirror {self._mirror} gave a file without a single byte as {empty}. Try again later. {OTHER_WAYS}"
            )
        return None
