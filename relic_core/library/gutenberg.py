"""Project Gutenberg: a mirror asked politely, and what was fetched kept with its hash."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from relic_core import __version__
from relic_core.config import Settings
from relic_core.errors import BadRequest, NotFound, SourceAway, SourceUnavailable, StoreReadOnly
from relic_core.library.markup import is_web_page
from relic_core.text.decoding import too_large

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    from httpx2 import Client, Response


USER_AGENT = f"RELiC-Workbench/{__version__} (a person's own library; one book at a time, with pauses)"
OTHER_WAYS = (
    "Look whether this machine is online. The other ways in stay open: upload a file of your own, or take one from "
    "your folder of texts. (RELIC_GUTENBERG names another mirror, RELIC_LIBRARY the folder.)"
)

_TRIES = 3
_WAITS = 3
_LONGEST_WAIT = 60.0
"""Seconds; a mirror that asks for a longer pause is left alone."""
_UNASKED_WAIT = 10.0
"""Seconds to wait where a mirror is busy and does not say for how long."""
_LONGEST_SAID = 86_400.0 * 365
"""Seconds; who asks for a longer pause is taken to ask for this one."""
_LONGEST_NUMBER = 18
"""Digits that a count of bytes can have."""
_LONGEST_ANSWER = 300.0
"""Seconds that one answer may take."""
_MOST_REDIRECTS = 5
_CONNECT_SECONDS = 15.0
_READ_SECONDS = 30.0
_NOT_HERE = {404, 410}
_BUSY = {429, 503}
_MOVED = {301, 302, 303, 307, 308}
_UNCHANGED = 304
_OK = 200
_SERVER_FAULT = 500


class Answer(NamedTuple):
    """What a mirror sent: new bytes, or word that nothing has changed."""

    data: bytes
    unchanged: bool
    etag: str
    last_modified: str


class _BrokenOff(Exception):
    """An answer that did not come to its end: worth another try."""


class Mirror:
    """Files by their addresses; used as a context manager, it closes its connection at the end.

    - `address`: of the mirror; files are asked for below it.
    - `gate`: lets requests pass, one in some seconds; redirects and second tries count.
    """

    def __init__(self, address: str, gate: Gate, *, max_bytes: int) -> None:
        self.address = address
        self._gate = gate
        self._max_bytes = max_bytes
        self._client = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, address: str, known: Kept | None, say: Callable[[str], None]) -> Answer | None:
        """Ask for a file, again where the answer broke off or the mirror is busy for a short while.

        - `known`: what was fetched from it before: it is sent again only if it has changed.
        - `say`: told what is waited for; what it raises ends the asking.

        Returns: none where nothing is at the address.

        Raises SourceAway, SourceUnavailable, TextTooLarge, StoreReadOnly: as `Gutenberg.fetch`.
        """
        tries = waits = 0
        while True:
            try:
                answer = self._ask(address, known, say)
            except _BrokenOff as error:
                tries += 1
                if tries >= _TRIES:
                    raise SourceAway(
                        f"The answer of {address} broke off {tries} times ({error}). Nothing was added from it. Try "
                        f"again later. {OTHER_WAYS}"
                    ) from None
                continue
            if not isinstance(answer, float):
                return answer
            waits += 1
            if answer > _LONGEST_WAIT or waits > _WAITS:
                raise SourceAway(
                    f"The mirror {self.address} is busy and asks to be left alone for {_in_words(answer)}. Try again "
                    f"then; what was fetched is kept. {OTHER_WAYS}"
                )
            self._gate.rest(answer, partial(say, f"The mirror asks to wait {_in_words(answer)}"))

    def _open(self) -> Client:
        from httpx2 import Client, Timeout  # heavy, and needed for nothing else

        here = urlsplit(self.address).hostname in {"localhost", "127.0.0.1", "::1"}
        return Client(
            headers={"User-Agent": USER_AGENT, "Accept": "text/plain", "Accept-Encoding": "identity"},
            timeout=Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
            trust_env=not here,  # a proxy is not for this machine
        )

    def _ask(self, address: str, known: Kept | None, say: Callable[[str], None]) -> Answer | float | None:
        """Ask once, following redirects; gives the seconds to wait where the mirror is busy."""
        import httpx2

        headers = {}
        if known is not None:
            marks = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
            headers = {name: value for name, value in marks.items() if value}
        asked = address
        for _ in range(_MOST_REDIRECTS + 1):
            self._gate.wait(lambda: say("Waiting for the mirror's turn"))
            say("")
            try:
                with self._client.stream("GET", asked, headers=headers) as response:
                    if response.status_code not in _MOVED:
                        return self._read(response, say, asked_after=bool(headers))
                    asked = _moved(asked, response.headers.get("Location", ""))
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
                raise SourceAway(
                    f"Project Gutenberg's mirror {self.address} cannot be reached{_obstacle(error)}. {OTHER_WAYS}"
                ) from None
            # UnicodeError: a name that no machine can have.
            except (httpx2.UnsupportedProtocol, httpx2.InvalidURL, UnicodeError) as error:
                raise SourceUnavailable(f"{asked} is no address to fetch from ({error}). {OTHER_WAYS}") from None
            except (httpx2.TransportError, httpx2.DecodingError) as error:
                raise _BrokenOff(_reason(error)) from None
        raise SourceUnavailable(f"{address} was sent on more than {_MOST_REDIRECTS} times. {OTHER_WAYS}")

    def _read(self, response: Response, say: Callable[[str], None], *, asked_after: bool) -> Answer | float | None:
        status = response.status_code
        if status in _NOT_HERE:
            return None
        if status in _BUSY:
            return _wait_asked(response.headers.get("Retry-After", ""), self._gate.today())
        if status >= _SERVER_FAULT:
            raise _BrokenOff(f"it reported a fault of its own, {status}")
        if status == _UNCHANGED and not asked_after:
            raise SourceUnavailable(
                f"The mirror {self.address} says that {response.url} has not changed, which nobody asked. {OTHER_WAYS}"
            )
        if status not in {_OK, _UNCHANGED}:
            raise SourceUnavailable(
                f"The mirror {self.address} refuses to give {response.url} (it answered {status}). {OTHER_WAYS}"
            )
        return Answer(
            data=b"" if status == _UNCHANGED else self._body(response, say),
            unchanged=status == _UNCHANGED,
            etag=response.headers.get("ETag", ""),
            last_modified=response.headers.get("Last-Modified", ""),
        )

    def _body(self, response: Response, say: Callable[[str], None]) -> bytes:
        said = response.headers.get("Content-Length", "")
        if said.isdecimal() and len(said) <= _LONGEST_NUMBER and int(said) > self._max_bytes:
            raise too_large(int(said), max_bytes=self._max_bytes)
        data = bytearray()
        began = self._gate.now()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > self._max_bytes:
                raise too_large(len(data), max_bytes=self._max_bytes)
            if self._gate.now() - began > _LONGEST_ANSWER:
                raise SourceAway(
                    f"{response.url} has not come to its end in {_in_words(_LONGEST_ANSWER)}. {OTHER_WAYS}"
                )
            say("")
        return bytes(data)


def _moved(asked: str, location: str) -> str:
    try:
        target = urljoin(asked, location)
        scheme = urlsplit(target).scheme
    except ValueError:
        target = scheme = ""
    if not location or scheme not in {"http", "https"}:
        raise SourceUnavailable(f"{asked} was sent on to '{location}', which is no address to fetch from. {OTHER_WAYS}")
    return target


def _wait_asked(said: str, now: datetime) -> float:
    """Read a Retry-After: seconds, or a date."""
    if said.strip().isdecimal():
        return min(float(said), _LONGEST_SAID)
    try:
        until = parsedate_to_datetime(said)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return min(max(0.0, (until - now).total_seconds()), _LONGEST_SAID)
    except (ValueError, OverflowError):
        return _UNASKED_WAIT


def _in_words(seconds: float) -> str:
    """Say a time.

    >>> _in_words(40.0), _in_words(90.0), _in_words(7_200.0)
    ('40 seconds', '2 minutes', '2 hours')
    """
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if seconds > length or unit == "second":
            count = max(1, -int(-seconds // length))
            return f"{count} {unit}{'s' * (count > 1)}"
    raise AssertionError


def _obstacle(error: Exception) -> str:
    """Say what stands in the way where the reader could do something about it: a certificate, a proxy."""
    reason = _reason(error)
    return (
        f" ({reason})" if re.search("certificate|proxy|ssl", f"{type(error).__name__} {reason}", re.IGNORECASE) else ""
    )


def _reason(error: Exception) -> str:
    """Say what went wrong, without the system's numbers.

    >>> _reason(OSError("[Errno 104] Connection reset by peer"))
    'Connection reset by peer'
    """
    return re.sub(r"\[Errno -?\d+\]\s*", "", str(error)).rstrip(".") or type(error).__name__


if TYPE_CHECKING:
    Turn = Callable[[Callable[[], None]], AbstractContextManager[None]]
    """Keeps others out for the length of a block; calls what it is given while it waits."""


_STEP_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file that was fetched.

    - `url`: where it was asked for.
    - `etag`, `last_modified`: as the server said; empty where it did not.
    - `fetched`: when the bytes came, in UTC.
    """

    data: bytes
    url: str
    etag: str
    last_modified: str
    fetched: datetime


class Downloads:
    """A folder of fetched files, one folder for each by its number.

    - `folder`: made when first written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, number: int) -> Kept | None:
        """Return what was fetched; None where nothing was, or where its bytes are no longer those that were."""
        folder = self.folder / str(number)
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            data = (folder / "text").read_bytes()
            if hashlib.sha256(data).hexdigest() != about["sha256"]:
                return None
            return Kept(
                data=data,
                url=str(about["url"]),
                etag=str(about["etag"]),
                last_modified=str(about["last_modified"]),
                fetched=datetime.fromisoformat(about["fetched"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # it is fetched anew

    def keep(self, number: int, kept: Kept) -> Kept:
        """Write a fetched file; what stood there before stays until the new one is whole.

        Raises StoreReadOnly: the folder cannot be written, or the disk is full.
        """
        folder = self.folder / str(number)
        about = {
            "url": kept.url,
            "etag": kept.etag,
            "last_modified": kept.last_modified,
            "sha256": hashlib.sha256(kept.data).hexdigest(),
            "fetched": kept.fetched.isoformat(),
        }
        self.write(folder / "text", kept.data)
        self.write(folder / "about.json", json.dumps(about, indent=1).encode())
        return kept

    def write(self, path: Path, data: bytes) -> None:
        """Write a file under another name and rename it, so that nobody ever reads half of it.

        The other name is one's own: two who fetch one book at once do not write into each other's file.

        Raises StoreReadOnly: the folder cannot be written, or the disk is full.
        """
        new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                new.write_bytes(data)
                new.replace(path)
            except OSError:
                new.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StoreReadOnly(
                f"The folder of downloads {self.folder} cannot be written ({error.strerror}). Make room on the disk, "
                "make the folder writable, or choose another data folder with RELIC_DATA; then try again."
            ) from error


class Gate:
    """Lets one request pass in some seconds, counted over all processes that use the same folder.

    - `downloads`: where the time of the last request is kept.
    - `pause`: least number of seconds between two requests.
    - `turn`: keeps other processes out.
    """

    def __init__(
        self,
        downloads: Downloads,
        pause: float,
        turn: Turn,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._downloads = downloads
        self._file = downloads.folder / "last_request.json"
        self._pause = pause
        self._turn = turn
        self._clock = clock
        self._sleep = sleep

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._clock()

    def today(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.fromtimestamp(self._clock(), UTC)

    def wait(self, stop: Callable[[], None]) -> None:
        """Wait for the next request to be allowed; `stop` is called meanwhile, and what it raises ends the wait.

        Raises StoreReadOnly: the time cannot be written down, so that the next request would come too soon.
        """
        if self._pause <= 0:
            stop()
            return
        with self._turn(stop):
            passed = self._clock() - self._last()
            # A clock that was put back must not make anybody wait for the time before.
            self.rest(self._pause if passed < 0 else self._pause - passed, stop)
            self._downloads.write(self._file, json.dumps({"at": self._clock()}).encode())

    def rest(self, seconds: float, stop: Callable[[], None]) -> None:
        """Wait some seconds; `stop` is called meanwhile, and what it raises ends the wait."""
        until = self._clock() + seconds
        stop()
        while (left := until - self._clock()) > 0:
            self._sleep(min(left, _STEP_SECONDS))
            stop()

    def _last(self) -> float:
        try:
            return float(json.loads(self._file.read_text(encoding="utf-8"))["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0.0


def confirmed(kept: Kept, *, etag: str, last_modified: str) -> Kept:
    """Return what is kept with the marks that the server gave when it said that nothing has changed."""
    return replace(kept, etag=etag or kept.etag, last_modified=last_modified or kept.last_modified)


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
