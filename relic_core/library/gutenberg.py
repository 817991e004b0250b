"""Project Gutenberg: a mirror asked politely, and downloads cached with their hashes."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urljoin, urlsplit

from httpx2 import Client, Response, Timeout

from relic_core import __version__
from relic_core.config import Settings
from relic_core.errors import BadRequest, NotFound, SourceAway, SourceUnavailable, StoreReadOnly
from relic_core.library.edition_details import PAGE
from relic_core.library.markup import is_web_page
from relic_core.text.decoding import too_large

Turn = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Keeps others out for the length of a block; calls what it is given while it waits."""


USER_AGENT = f"RELiC-Workbench/{__version__} (a person's own library; one book at a time, with pauses)"
OTHER_WAYS = (
    "Look whether this machine is online. The other ways in stay open: upload a file of your own, or take one from "
    "your folder of texts. (RELIC_GUTENBERG names another mirror, RELIC_LIBRARY the folder.)"
)

_TRIES = 3
_WAITS = 3
_LONGEST_WAIT = 60.0
"""Seconds; a mirror that asks for a longer pause is left alone."""
_DEFAULT_WAIT = 10.0
"""Seconds to wait where a mirror is busy and does not say for how long."""
_LONGEST_RETRY = 86_400.0 * 365
"""Seconds; a longer Retry-After counts as this one."""
_LONGEST_NUMBER = 18
"""Digits that a count of bytes can have."""
_LONGEST_ANSWER = 300.0
"""Seconds that one answer may take."""
_MOST_REDIRECTS = 5
_CONNECT_SECONDS = 15.0
_READ_SECONDS = 30.0
_MISSING = {404, 410}
_BUSY = {429, 503}
_MOVED = {301, 302, 303, 307, 308}
_UNCHANGED = 304
_OK = 200
_SERVER_FAULT = 500


class Download(NamedTuple):
    """What a mirror sent: new bytes, or word that nothing has changed."""

    data: bytes
    unchanged: bool
    etag: str
    last_modified: str


class _BrokenOff(Exception):
    """An answer that did not come to its end: worth another try."""


class Mirror:
    """Files by their addresses; a context manager that closes its connection. Every request passes the gate."""

    def __init__(self, address: str, gate: Gate, *, max_bytes: int) -> None:
        self.address = address
        self._gate = gate
        self._max_bytes = max_bytes
        here = urlsplit(address).hostname in {"localhost", "127.0.0.1", "::1"}
        self._client = Client(
            headers={"User-Agent": USER_AGENT, "Accept": "text/plain", "Accept-Encoding": "identity"},
            timeout=Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
            trust_env=not here,  # a proxy is not for this machine
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, address: str, cached: Book | None, say: Callable[[str], None]) -> Download | None:
        """Request a file, again where the answer broke off or the mirror is busy for a while; None: there is none.

        - `cached`: an earlier download of it: it is sent again only if it has changed.
        """
        tries = waits = 0
        while True:
            try:
                answer = self._request(address, cached, say)
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

    def _request(self, address: str, cached: Book | None, say: Callable[[str], None]) -> Download | float | None:
        """Request once, following redirects; gives the seconds to wait where the mirror is busy."""
        import httpx2

        headers = {}
        if cached is not None:
            validators = {"If-None-Match": cached.etag, "If-Modified-Since": cached.last_modified}
            headers = {name: value for name, value in validators.items() if value}
        url = address
        for _ in range(_MOST_REDIRECTS + 1):
            self._gate.wait(lambda: say("Waiting for the mirror's turn"))
            say("")
            try:
                with self._client.stream("GET", url, headers=headers) as response:
                    if response.status_code not in _MOVED:
                        return self._read(response, say, conditional=bool(headers))
                    url = _redirected(url, response.headers.get("Location", ""))
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
                raise SourceAway(
                    f"Project Gutenberg's mirror {self.address} cannot be reached{_obstacle(error)}. {OTHER_WAYS}"
                ) from None
            # UnicodeError: a name that no machine can have.
            except (httpx2.UnsupportedProtocol, httpx2.InvalidURL, UnicodeError) as error:
                raise SourceUnavailable(f"{url} is not an address to fetch from ({error}). {OTHER_WAYS}") from None
            except (httpx2.TransportError, httpx2.DecodingError) as error:
                raise _BrokenOff(_reason(error)) from None
        raise SourceUnavailable(f"{address} was sent on more than {_MOST_REDIRECTS} times. {OTHER_WAYS}")

    def _read(self, response: Response, say: Callable[[str], None], *, conditional: bool) -> Download | float | None:
        status = response.status_code
        if status in _MISSING:
            return None
        if status in _BUSY:
            return _retry_after(response.headers.get("Retry-After", ""), self._gate.today())
        if status >= _SERVER_FAULT:
            raise _BrokenOff(f"it reported a fault of its own, {status}")
        if status == _UNCHANGED and not conditional:
            raise SourceUnavailable(
                f"The mirror {self.address} says that {response.url} has not changed, which nobody asked. {OTHER_WAYS}"
            )
        if status not in {_OK, _UNCHANGED}:
            raise SourceUnavailable(
                f"The mirror {self.address} refuses to give {response.url} (it answered {status}). {OTHER_WAYS}"
            )
        return Download(
            data=b"" if status == _UNCHANGED else self._body(response, say),
            unchanged=status == _UNCHANGED,
            etag=response.headers.get("ETag", ""),
            last_modified=response.headers.get("Last-Modified", ""),
        )

    def _body(self, response: Response, say: Callable[[str], None]) -> bytes:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and len(length) <= _LONGEST_NUMBER and int(length) > self._max_bytes:
            raise too_large(int(length), max_bytes=self._max_bytes)
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


def _redirected(url: str, location: str) -> str:
    try:
        target = urljoin(url, location)
        scheme, same = urlsplit(target).scheme, urlsplit(target).hostname == urlsplit(url).hostname
    except ValueError:
        target, scheme, same = "", "", False
    if not location or scheme not in {"http", "https"} or not same:
        raise SourceUnavailable(
            f"{url} was sent on to '{location}', which is not an address of this mirror. Name the mirror by "
            f"the address under which it answers (RELIC_GUTENBERG). {OTHER_WAYS}"
        )
    return target


def _retry_after(header: str, now: datetime) -> float:
    if header.strip().isdecimal():
        return min(float(header), _LONGEST_RETRY)
    try:
        until = parsedate_to_datetime(header)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return min(max(0.0, (until - now).total_seconds()), _LONGEST_RETRY)
    except (ValueError, OverflowError):
        return _DEFAULT_WAIT


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


_STEP_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A downloaded book; `etag` and `last_modified` as the server gave them, and a notice for the reader."""

    number: int
    data: bytes
    url: str
    fetched: datetime
    etag: str = ""
    last_modified: str = ""
    notice: str = ""

    @property
    def source(self) -> str:
        """Where the text came from, in words."""
        return f"Project Gutenberg {self.number}, {self.url}, fetched {self.fetched.day} {self.fetched:%B %Y}"


class Downloads:
    """A folder of fetched files, one folder for each by its number; made when first written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, number: int) -> Book | None:
        """Return a download; None where there is none, or where its bytes have changed since."""
        folder = self.folder / str(number)
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            data = (folder / "text").read_bytes()
            known = len(about) == _KEYS or about.pop("itself") == _digest_of(about)  # earlier versions wrote no digest
            if hashlib.sha256(data).hexdigest() != about["sha256"] or not known:
                return None
            return Book(
                number=number,
                data=data,
                url=str(about["url"]),
                etag=str(about["etag"]),
                last_modified=str(about["last_modified"]),
                fetched=datetime.fromisoformat(about["fetched"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None  # it is fetched anew

    def damaged(self) -> list[Path]:
        """List the folders of downloads that are not as they were written; they are fetched anew when asked for."""
        folders = sorted(self.folder.glob("[0-9]*"))
        return [folder for folder in folders if not folder.name.isdecimal() or self.load(int(folder.name)) is None]

    def save(self, book: Book) -> None:
        """Write a download; an earlier one stays until the new one is whole."""
        folder = self.folder / str(book.number)
        about = {
            "url": book.url,
            "etag": book.etag,
            "last_modified": book.last_modified,
            "sha256": hashlib.sha256(book.data).hexdigest(),
            "fetched": book.fetched.isoformat(),
        }
        about["itself"] = _digest_of(about)
        self.write(folder / "text", book.data)
        self.write(folder / "about.json", json.dumps(about, indent=1).encode())

    def write(self, path: Path, data: bytes) -> None:
        """Write a file under another name and rename it, so that nobody ever reads half of it.

        The other name is one's own: two who fetch one book at once do not write into each other's file.
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


_KEYS = 5
"""What a record of a download held before it had a digest of itself."""


def _digest_of(about: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


class Gate:
    """Lets one request pass in some seconds, counted over all processes that use the same folder, one at a time."""

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
        """Wait for the next request to be allowed; `stop` is called meanwhile, and what it raises ends the wait."""
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
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return 0.0


_LARGEST_NUMBER = 9_999_999
_HEAD_BYTES = 4_000
"""How far into an answer is looked for the marks of a web page."""
_NUMBER = re.compile(r"(?:gutenberg:\s*|pg|#)?(\d{1,9})(?:[.-][\w.-]*)?", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://)?[\w.-]+/\S*?(?:ebooks|etext|files|epub)/(\d{1,9})(?:[/.-]\S*)?", re.IGNORECASE)


def parse_number(written: str) -> int:
    """Read a number of Project Gutenberg: the number itself, "pg1342", or the address of the book's page or file.

    >>> parse_number("1342"), parse_number("https://www.gutenberg.org/ebooks/1342"), parse_number(" pg1342.txt")
    (1342, 1342, 1342)
    """
    found = _NUMBER.fullmatch(written.strip()) or _ADDRESS.fullmatch(written.strip())
    number = int(found[1]) if found else 0
    check_number(number, written=written)
    return number


def check_number(number: int, *, written: str = "") -> None:
    """Refuse what is below 1 or too large for a number of Project Gutenberg."""
    if not 1 <= number <= _LARGEST_NUMBER:
        raise BadRequest(
            f"'{written or number}' is not a number of Project Gutenberg. Give the number in the address of the book's "
            f"page, as 1342 in {PAGE.format(number=1342)}."
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
    """A mirror of Project Gutenberg and its downloads."""

    def __init__(
        self, mirror: str, downloads: Downloads, gate: Gate, *, max_bytes: int = Settings.max_text_bytes
    ) -> None:
        self._mirror = mirror.rstrip("/")
        self._downloads = downloads
        self._gate = gate
        self._max_bytes = max_bytes

    def fetch(self, number: int, say: Callable[[str], None], *, offline: bool = False) -> Book:
        """Fetch the plain text of a book, or take the cached copy where the mirror says that it is still the same.

        - `say`: called with what is waited for, some times a second; what it raises ends the download.
        - `offline`: request nothing; only a cached copy will do.

        Raises SourceAway, SourceUnavailable: no copy is cached and it does not answer, or sends something else.
        """
        check_number(number)
        cached = self._downloads.load(number)
        try:
            if offline:
                raise SourceAway(f"{self._mirror} was not asked again, since it does not answer.")
            book = self._download(number, cached, say)
        except SourceUnavailable as error:
            if cached is None:
                raise
            notice = f"The copy kept here from {cached.fetched.day} {cached.fetched:%B %Y} was taken: {error}"
            return replace(cached, notice=notice)
        if book is None:
            raise NotFound(
                f"Project Gutenberg's mirror {self._mirror} has no plain text of number {number}. Check the number at "
                f"{PAGE.format(number=number)}; recordings and scores have no text, and a new book may not have "
                "reached this mirror yet."
            )
        return book

    def _download(self, number: int, cached: Book | None, say: Callable[[str], None]) -> Book | None:
        addresses = [f"{self._mirror}/{path}" for path in paths(number)]
        if cached is not None and cached.url in addresses:
            addresses.sort(key=lambda address: address != cached.url)
        empty = web_page = ""
        with Mirror(self._mirror, self._gate, max_bytes=self._max_bytes) as mirror:
            for address in addresses:
                known = cached if cached is not None and cached.url == address else None
                answer = mirror.get(address, known, say)
                if answer is None:
                    continue
                if answer.unchanged and known is not None:
                    return known
                if not answer.data:
                    empty = address
                elif is_web_page(answer.data[:_HEAD_BYTES].decode("utf-8", errors="replace")):
                    web_page = address
                else:
                    book = Book(
                        number=number,
                        data=answer.data,
                        url=address,
                        etag=answer.etag,
                        last_modified=answer.last_modified,
                        fetched=self._gate.today(),
                    )
                    self._downloads.save(book)
                    return book
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
