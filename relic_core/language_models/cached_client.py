"""Questions put to a model's server side by side, within limits; what was answered once is not asked again."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Generic, Protocol, TypeVar

from relic_core.domain.figures import many
from relic_core.errors import JobCancelled, TokensUsedUp
from relic_core.language_models.prompts import Prompt, plain
from relic_core.language_models.server import Completion, Server, count_tokens
from relic_core.ports import Progress

_LOOK = 0.2
"""Seconds after which a stop is noticed at the latest."""
_STORE = 2.0
"""Seconds after which answers are kept at the latest: what was read survives a crash but for these."""

T = TypeVar("T")


class AnswerCache(Protocol):
    """Keeps answers by the digest of what was asked of which model."""

    def get(self, digests: Sequence[str]) -> Mapping[str, str]:
        """Give the answers that there are."""

    def add(self, model: str, answers: Mapping[str, Completion]) -> None:
        """Keep answers."""


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[T]):
    """A prompt, and what reads its answer: a function that raises ValueError where it cannot be read."""

    prompt: Prompt
    read: Callable[[str], T]

    @property
    def tries(self) -> tuple[Prompt, Prompt]:
        """What is asked, and what is asked where the answer to that cannot be read."""
        return self.prompt, replace(self.prompt, again=True)


@dataclass(slots=True)
class Usage:
    """What asking has taken: requests sent, tokens in both directions, answers that could not be read twice."""

    calls: int = 0
    tokens: int = 0
    unreadable: int = 0


class _NotAsked(Exception):
    """A question whose answer is not known."""


class CachedClient:
    """Asks a model; `most_tokens` may be used in all."""

    def __init__(self, server: Server, answers: AnswerCache, most_tokens: int) -> None:
        self._server, self._answers, self._left = server, answers, most_tokens
        self._lock = threading.Lock()
        self.usage = Usage()

    def all(self, questions: Sequence[ModelQuestion[T]], progress: Progress) -> list[T | None]:
        """Put questions side by side; None where an answer could not be read, or was not asked for any more.

        - `progress`: told again and again how many are answered, and how many could not be read; where it raises
          JobCancelled nothing more is asked, and what was answered is given.

        Raises ReaderUnavailable: there is no answer. Raises TokensUsedUp. What was answered before is kept.
        """
        tries = chain.from_iterable(question.tries for question in questions)
        known = self._answers.get([each.digest(self._server.model) for each in tries])
        values: list[T | None] = [None] * len(questions)
        left: deque[int] = deque()
        for at, question in enumerate(questions):
            try:
                values[at] = self._value(question, known)
            except _NotAsked:
                left.append(at)
        stop, answered = threading.Event(), queue.SimpleQueue[tuple[int, T | None, Exception | None]]()
        fresh: dict[str, Completion] = {}
        ask = partial(self._say, stop=stop, fresh=fresh)

        def work() -> None:
            while left and not stop.is_set():
                with suppress(IndexError):  # another thread took the last
                    at = left.popleft()
                    try:
                        answered.put((at, self._value(questions[at], known, ask), None))
                    except Exception as error:  # noqa: BLE001 - raised below, where it is waited for
                        answered.put((at, None, error))
                        stop.set()  # none is asked any more, also before it is raised

        done, stored = len(questions) - len(left), time.monotonic()
        try:
            progress(done, len(questions), self._note)
            for _ in range(min(self._server.at_once, len(left))):
                # Daemons: one that waits for a slow answer must not hold up a stop, nor the end of the program.
                threading.Thread(target=work, daemon=True).start()
            while done < len(questions):
                with suppress(queue.Empty):
                    at, values[at], error = answered.get(timeout=_LOOK)
                    if error:
                        raise error
                    done += 1
                if time.monotonic() - stored > _STORE:
                    self._keep(fresh)
                    stored = time.monotonic()
                progress(done, len(questions), self._note)
        except JobCancelled:
            pass
        finally:
            stop.set()
            self._keep(fresh)
        return values

    @property
    def _note(self) -> str:
        """How many answers could not be read, in words; empty where all could."""
        count = self.usage.unreadable
        return f"{many(count, 'answer')} could not be read" if count else ""

    def _value(
        self, question: ModelQuestion[T], known: Mapping[str, str], ask: Callable[[Prompt, str], str] | None = None
    ) -> T | None:
        """Read the answer to a question, asked again where it cannot be read; None where neither can."""
        for prompt in question.tries:
            digest = prompt.digest(self._server.model)
            text = known.get(digest)
            if text is None:
                if ask is None:
                    raise _NotAsked
                text = ask(prompt, digest)
            with suppress(ValueError):
                return question.read(text)
        with self._lock:
            self.usage.unreadable += 1
        return None

    def _say(self, prompt: Prompt, digest: str, *, stop: threading.Event, fresh: dict[str, Completion]) -> str:
        """Ask the server; the answer names the parts by their numbers."""
        codes = prompt.draw_codes()
        messages = prompt.messages(codes)
        needed = count_tokens(messages)
        with self._lock:
            if needed > self._left:
                raise TokensUsedUp(
                    f"The tokens allowed are used up: {self.usage.tokens:,} were taken. RELIC_READER_SEARCH_TOKENS, or "
                    "RELIC_READER_RUN_TOKENS for measuring, says how many may be. What was read is kept."
                )
            self._left -= needed
        answer = self._server.ask(messages, stop)
        with self._lock:
            self._left += needed - answer.tokens
            self.usage.calls += 1
            self.usage.tokens += answer.tokens
        fresh[digest] = answer._replace(text=plain(answer.text, codes, prompt.plain_codes()))
        return fresh[digest].text

    def _keep(self, fresh: dict[str, Completion]) -> None:
        """Keep what was answered; meanwhile more may come."""
        if some := {digest: fresh.pop(digest) for digest in list(fresh)}:
            self._answers.add(self._server.model, some)
