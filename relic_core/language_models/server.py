"""A server that speaks the OpenAI chat-completions protocol.

It is asked through httpx2, which fetches books already: one POST needs no kit of its own, and `openai` would bring six
packages. Nothing is sent to another machine that the reader of the app has not named (``RELIC_READER_ALLOW``).
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

from httpx2 import Response

from relic_core.config import Settings
from relic_core.config.settings import READER_KEY
from relic_core.errors import NoSuchModel, ReaderUnavailable
from relic_core.formats.files import write_whole

Message = dict[str, str]

ANSWER = 1_024
"""Most tokens of an answer; models that think aloud need some."""

HERE = "this computer"

_TRIES, _PAUSE, _LONGEST_PAUSE = 3, 1.0, 30.0
"""How often a busy or faulty server is asked, and how long it is left alone in between, in seconds."""
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FAULTS = {*range(500, 600)} - {HTTPStatus.NOT_IMPLEMENTED}
_CHARACTERS = 3
"""Of a token, at least, in English prose; so a count made with it is rather too large."""
_QUOTED = 160
_LARGEST = 32_000_000
"""Bytes of an answer: the log-probabilities of a long prompt take some."""
_PATIENCE = 5.0
_TRIAL: Message = {"role": "user", "content": "Answer with the one word: ready"}
_SLIP = 16
"""Characters that a token may stand further on than the one before it ends: where a server cut a character in two."""
_NO_LOGPROBS = (
    "gives no log-probabilities of a prompt. vLLM's and llama-cpp-python's (with logits_all) do; llama-server and "
    "Ollama do not"
)

T = TypeVar("T")


class Completion(NamedTuple):
    """An answer: its text and the tokens that it took, sent and received."""

    text: str
    tokens: int


def count_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of a prompt and its answer, rather too high than too low."""
    return sum(len(each["content"]) for each in messages) // _CHARACTERS + ANSWER


def longest_text(tokens: int) -> int:
    """Give the most characters of a text that tokens have room for, by the same estimate."""
    return tokens * _CHARACTERS


_ALLOWED = "reader-allowed.txt"
"""In the data folder: the machines that words may be sent to, one a line."""


class Server:
    """The server that the settings name. Raises ReaderUnavailable: they name none, or one that needs leave first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.address, self.model = settings.reader.rstrip("/"), settings.reader_model
        self.at_once = settings.reader_at_once
        if not self.address or not self.model:
            raise ReaderUnavailable(
                "No language model is set up. Name a server and its model in RELIC_READER and RELIC_READER_MODEL "
                "(docs/reading_by_model.md)."
            )
        self.place = where(self.address)
        if not is_allowed(settings):
            raise ReaderUnavailable(
                f"The claim and the passages would be sent to {self.place}. If that is meant, allow it once: in Find, "
                f"or by setting RELIC_READER_ALLOW to {self.place}."
            )
        import httpx2

        self._key = os.environ.get(READER_KEY, "").strip()
        seconds = settings.reader_seconds
        self._client = partial(
            httpx2.AsyncClient,
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx2.Timeout(seconds, connect=min(seconds, _PATIENCE)),
            trust_env=self.place != HERE,  # a proxy is not for this machine
            verify=httpx2.create_ssl_context(),
        )

    def ask(self, messages: Sequence[Message], stop: threading.Event) -> Completion:
        """Put one question, again where the server is busy or broke off; `stop` ends the waiting for a busy one."""
        needed = count_tokens(messages)
        body = {"messages": list(messages), "max_tokens": ANSWER}
        return self._asked("chat/completions", body, needed, stop, partial(_read, needed=needed))

    def try_out(self) -> tuple[str, str]:
        """Ask for one word. Returns: the answer, and what the server calls its model, if anything; raises as `ask`."""
        body = {"messages": [_TRIAL], "max_tokens": ANSWER}
        needed = count_tokens([_TRIAL])

        def read(answer: Any) -> tuple[str, str]:  # noqa: ANN401 - as read from JSON
            message = answer["choices"][0]["message"]
            message["content"] = message.get("content") or ""  # null of one that used the answer up with thinking
            return _read(answer, needed).text, self._quoted(answer.get("model") or "")

        return self._asked("chat/completions", body, needed, threading.Event(), read)

    def prompt_logprobs(self, prefix: str, text: str) -> list[tuple[str, float]]:
        """Give the log-probability of each token of a text that follows a prefix.

        A token across the border counts as one of the text. Of an empty prefix the text's first token is left out,
        where the server gives it none. Nothing is kept.

        Raises ReaderUnavailable: the server gives none for a prompt (vLLM and llama-cpp-python do), or as `ask`.
        """
        prompt = prefix + text
        body = {"prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 1}
        needed = len(prompt) // _CHARACTERS + 1
        read = partial(_read_logprobs, prefix=prefix, text=text)
        found = self._asked("completions", body, needed, threading.Event(), read, _NO_LOGPROBS)
        if found is None:
            raise ReaderUnavailable(f"The model's server on {self.place} {_NO_LOGPROBS}.")
        return found

    def _asked(
        self,
        path: str,
        body: Mapping[str, object],
        needed: int,
        stop: threading.Event,
        read: Callable[[Any], T],
        refusal: str = "",
    ) -> T:
        """Ask, again where the server is busy or broke off.

        - `needed`: tokens of question and answer.
        - `read`: makes of JSON what is wanted; what it raises means that it is something else.
        - `refusal`: what it means where the server refuses for another reason than the key or its context.
        """
        if needed > self._settings.reader_context:
            raise ReaderUnavailable(
                f"A question has about {needed:,} tokens, its answer included, and the model reads "
                f"{self._settings.reader_context:,} at once (RELIC_READER_CONTEXT). Take one that reads more, or "
                "search for shorter passages."
            )
        whole = {"model": self.model, "temperature": 0, "stream": False, **body}
        for left in reversed(range(_TRIES)):
            response, pause = self._request("POST", f"{self.address}/{path}", whole), _PAUSE
            broken = "sent half an answer, or something else than an answer"
            if response is not None and response.status_code in _BUSY:
                pause = _retry_after(response)
                broken = f"is busy and asks to be left alone for {pause:,.0f} seconds"
            elif response is not None and response.status_code in _FAULTS:
                broken = f"reports a fault of its own ({response.status_code})"
            elif response is not None:
                self._refuse(response, refusal)
                with suppress(ValueError, LookupError, TypeError, AttributeError):
                    return read(response.json())
            if not left or pause > _LONGEST_PAUSE or stop.wait(pause):
                break
        raise ReaderUnavailable(f"The model's server on {self.place} {broken}. Try again later.")

    def models(self) -> tuple[list[str], float]:
        """List the models that the server offers, and say how many seconds it took. Raises ReaderUnavailable."""
        began = time.perf_counter()
        response = self._request("GET", f"{self.address}/models", None)
        if response is None or response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ReaderUnavailable(f"The model's server on {self.place} does not answer as it should.")
        self._refuse(response)
        return list(_digests(response, "data", "id")), time.perf_counter() - began

    def model_digest(self) -> str:
        """Give the digest of the model's files where the server says one, as Ollama does; else empty."""
        ollama = f"{self.address.removesuffix('/v1')}/api/tags"
        digest = _digests(self._request("GET", f"{self.address}/models", None), "data", "id").get(self.model)
        return digest or _digests(self._request("GET", ollama, None), "models", "name").get(self.model, "")

    def _request(
        self, method: Literal["GET", "POST"], address: str, body: Mapping[str, object] | None
    ) -> Response | None:
        """Send one request; none where the answer broke off. Redirects, which could lead away, are not followed."""
        import httpx2

        try:
            with ThreadPoolExecutor(1) as thread:  # the caller's own may run a loop already
                return thread.submit(asyncio.run, self._whole(method, address, body)).result()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, UnicodeError):
            raise ReaderUnavailable(
                f"There is no model's server on {self.place} at the address in RELIC_READER. Start it, or name another."
            ) from None
        except (httpx2.TimeoutException, TimeoutError):
            raise ReaderUnavailable(
                f"The model's server on {self.place} gave no answer in {self._settings.reader_seconds:,.0f} seconds. "
                "Wait longer (RELIC_READER_SECONDS), ask less at once (RELIC_READER_AT_ONCE) or take a smaller model."
            ) from None
        except (httpx2.TransportError, httpx2.DecodingError):
            return None

    async def _whole(self, method: str, address: str, body: Mapping[str, object] | None) -> Response:
        """Send one request and take its answer; a server that drips, or never ends, is given up."""
        data = bytearray()
        async with (
            asyncio.timeout(self._settings.reader_seconds),
            self._client() as client,
            client.stream(method, address, json=body) as response,
        ):
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > _LARGEST:
                    raise ReaderUnavailable(
                        f"The model's server on {self.place} sends more than {_LARGEST / 1e6:.0f} MB for one answer. "
                        "RELIC_READER must be the address of a language model."
                    )
        headers = {name: response.headers[name] for name in ("Retry-After",) if name in response.headers}
        return Response(response.status_code, headers=headers, content=bytes(data))

    def _refuse(self, response: Response, refusal: str = "") -> None:
        """Say in words what a server means that gives no answer and will not give one; `refusal`: see `_asked`."""
        status = response.status_code
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise ReaderUnavailable(
                f"The model's server on {self.place} does not take the key. It is read from {READER_KEY}, "
                f"which is {'set' if self._key else 'not set'}."
            )
        if status == HTTPStatus.OK:
            return
        cause = self._quoted(_complaint(response))
        if status == HTTPStatus.BAD_REQUEST and "context" in cause.lower():
            raise ReaderUnavailable(
                f"The question is longer than the model on {self.place} reads at once ({cause}). Set "
                "RELIC_READER_CONTEXT to what it reads, or give the server more."
            )
        if refusal:
            raise ReaderUnavailable(f"The model's server on {self.place} {refusal} ({status}{cause and ': '}{cause}).")
        if status == HTTPStatus.NOT_FOUND or (status == HTTPStatus.BAD_REQUEST and "model" in cause.lower()):
            raise NoSuchModel(
                f"The server on {self.place} has no model {self.model}, or is no such server ({status}{cause and ': '}"
                f"{cause}). RELIC_READER_MODEL must be a name that it lists, and RELIC_READER mostly ends in /v1."
            )
        raise ReaderUnavailable(f"The model's server on {self.place} refuses ({status}{cause and ': '}{cause}).")

    def _quoted(self, answer: object) -> str:
        """Give words of a server on one line, cut short, never with the key."""
        line = " ".join(str(answer).split())
        return (line.replace(self._key, "…") if self._key else line)[:_QUOTED]


def where(address: str) -> str:
    """Say where words go that are sent to an address: "this computer", or the name of another.

    >>> [where(f"http://{host}:1/v1") for host in ("localhost", "127.0.0.2", "[::1]", "localhost.Example.org")]
    ['this computer', 'this computer', 'this computer', 'localhost.example.org']
    """
    host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        return HERE if ipaddress.ip_address(host).is_loopback else host
    return HERE if host == "localhost" else host


def is_allowed(settings: Settings) -> bool:
    """Whether words may be sent to the server: it is on this computer, or its machine was allowed once."""
    place = where(settings.reader)
    return place in {HERE, settings.reader_allow.lower(), *_allowed(settings)}


def allow(settings: Settings) -> None:
    """Allow that words are sent to the machine of the server. Raises StoreError: that cannot be written down."""
    hosts = [*_allowed(settings), where(settings.reader)]
    write_whole(settings.data / _ALLOWED, "".join(f"{host}\n" for host in hosts))


def _allowed(settings: Settings) -> list[str]:
    with suppress(OSError):
        return (settings.data / _ALLOWED).read_text("utf-8", errors="replace").split()
    return []


def _read(answer: Any, needed: int) -> Completion:  # noqa: ANN401 - as read from JSON
    text = answer["choices"][0]["message"]["content"]
    if not isinstance(text, str):
        raise TypeError
    usage = answer.get("usage") or {}
    tokens = usage.get("total_tokens")
    return Completion(
        text, tokens if isinstance(tokens, int) and tokens > 0 else needed - ANSWER + len(text) // _CHARACTERS
    )


def _read_logprobs(answer: Any, prefix: str, text: str) -> list[tuple[str, float]] | None:  # noqa: ANN401 - from JSON
    """Lay tokens on a prompt, and give those of its text; None where they do not cover it.

    Before the prompt may stand a mark of the model's, behind it what it went on with.
    """
    given, prompt, at = answer["choices"][0].get("logprobs") or {}, prefix + text, 0
    found = []
    for token, logprob in zip(given.get("tokens") or [], given.get("token_logprobs") or [], strict=True):
        if at == len(prompt):
            break
        start = prompt.find(token, at, at + len(token) + _SLIP)
        at = at if start < 0 else start + len(token)
        if logprob is not None and (at > len(prefix) or (start < 0 and at == len(prefix))):
            found.append((str(token), float(logprob)))
    return found if at == len(prompt) else None


def _digests(response: Response | None, listed: str, named: str) -> dict[str, str]:
    """Give the models of a list by name, each with its digest where one is said."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        models = response.json()[listed] if response else []
        return {str(each[named]): str(each.get("digest") or "")[:_QUOTED] for each in models}
    return {}


def _complaint(response: Response) -> object:
    """Give what a server says of a refusal."""
    message: object = ""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        error = response.json()["error"]
        message = error.get("message", "") if isinstance(error, dict) else error
    return message


def _retry_after(response: Response) -> float:
    """Read for how many seconds a server asks to be left alone: a number of them, or a date."""
    header = response.headers.get("Retry-After", "")
    with suppress(ValueError, OverflowError):
        return max(0.0, float(header))
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    return _PAUSE
