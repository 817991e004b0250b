"""A mirror: a file by its address, asked for with the courtesy that programs owe, and with patience."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from relic_core import __version__
from relic_core.errors import SourceAway, SourceUnavailable
from relic_core.text.decoding import too_large

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from httpx2 import Client, Response

    from relic_core.library.downloads import Gate, Kept

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
