"""Questions put to a model's server side by side, within limits; what was answered once is not asked again."""

from __future__ import annotations

import queue
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from relic_core.errors import JobCancelled, ReaderUnavailable, RelicError
from relic_core.language_models.prompts import plain
from relic_core.language_models.server import Answer, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from relic_core.language_models.prompts import Prompt
    from relic_core.language_models.server import Server
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

    def add(self, model: str, answers: Mapping[str, Answer]) -> None:
        """Keep answers."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A prompt, and what reads its answer: a function that raises ValueError where it cannot be read."""

    prompt: Prompt
    read: Callable[[str], T]


@dataclass(slots=True)
class Usage:
    """What asking has taken: requests sent, tokens in both directions, answers that could not be read twice."""

    calls: int = 0
    tokens: int = 0
    unreadable: int = 0


class _Answered(NamedTuple):
    """What became of one question: its value, None where it cannot be read; what is new; or the error."""

    at: int
    value: object = None
    new: tuple[tuple[str, Answer], ...] = ()
    error: RelicError | None = None


class CachedClient:
    """Asks a model.

    - `answers`: where they are kept.
    - `most_tokens`: that may be used in all.
    """

    def __init__(self, server: Server, answers: AnswerCache, most_tokens: int) -> None:
        self._server = server
        self._answers = answers
        self._left = most_tokens
        self._lock = threading.Lock()
        self.usage = Usage()

    @property
    def _note(self) -> str:
        """How many answers could not be read, in words; empty where all could."""
        count = self.usage.unreadable
        return f"{count:,} {'answer' if count == 1 else 'answers'} could not be read" if count else ""

    def all(self, questions: Sequence[Question[T]], progress: Progress) -> list[T | None]:
        """Put questions side by side.

        - `progress`: told again and again how many are answered, and how many could not be read; where it raises
          JobCancelled nothing more is asked, and what was answered is given.

        Returns: what each answer says; None where it could not be read, or was not asked any more.

        Raises ReaderUnavailable: there is no answer, or the tokens are used up. What was answered before is kept.
        """
        known = self._answers.get(
            [prompt.digest(self._server.model) for each in questions for prompt in (each.prompt, _again(each.prompt))]
        )
        values: list[T | None] = [None] * len(questions)
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for at, question in enumerate(questions):
            done = self._answer(at, question, known, None)
            if done is None:
                waiting.put(at)
            else:
                self._take(done, values)
        left = waiting.qsize()
        try:
            progress(len(questions) - left, len(questions), self._note)
        except JobCancelled:
            return values
        if left:
            self._ask(questions, known, waiting, values, progress)
        return values

    def _ask(
        self,
        questions: Sequence[Question[T]],
        known: Mapping[str, str],
        waiting: queue.SimpleQueue[int],
        values: list[T | None],
        progress: Progress,
    ) -> None:
        stop, answered, left = threading.Event(), queue.SimpleQueue[_Answered](), waiting.qsize()
        for _ in range(min(self._server.at_once, left)):
            # Daemons: one that waits for a slow answer must not hold up a stop, nor the end of the program.
            threading.Thread(target=self._work, args=(questions, known, waiting, answered, stop), daemon=True).start()
        fresh: dict[str, Answer] = {}
        stored = time.monotonic()
        try:
            while left:
                with suppress(queue.Empty):
                    done = answered.get(timeout=_LOOK)
                    left -= 1
                    fresh.update(done.new)
                    if done.error:
                        raise done.error
                    self._take(done, values)
                if fresh and time.monotonic() - stored > _STORE:
                    self._answers.add(self._server.model, fresh)
                    fresh, stored = {}, time.monotonic()
                progress(len(questions) - left, len(questions), self._note)
        except JobCancelled:
            pass
        finally:
            stop.set()
            while not answered.empty():  # came while another failed
                fresh.update(answered.get().new)
            if fresh:
                self._answers.add(self._server.model, fresh)

    def _work(
        self,
        questions: Sequence[Question[T]],
        known: Mapping[str, str],
        waiting: queue.SimpleQueue[int],
        answered: queue.SimpleQueue[_Answered],
        stop: threading.Event,
    ) -> None:
        """Answer what is waiting, in a thread of its own."""
        with suppress(queue.Empty):
            while not stop.is_set():
                at = waiting.get_nowait()
                try:
                    done = self._answer(at, questions[at], known, stop)
                except RelicError as error:
                    done = _Answered(at, error=error)
                answered.put(done or _Answered(at))

    def _answer(
        self, at: int, question: Question[T], known: Mapping[str, str], stop: threading.Event | None
    ) -> _Answered | None:
        """Answer a question from what is known, else by the server; again where the answer cannot be read.

        - `stop`: ends waiting for the server; None to ask nothing.

        Returns: None where nothing is to be asked, and something would have to be.
        """
        new: list[tuple[str, Answer]] = []
        for prompt in (question.prompt, _again(question.prompt)):
            digest = prompt.digest(self._server.model)
            text = known.get(digest)
            if text is None:
                if stop is None:
                    return None
                answer = self._say(prompt, stop)
                new.append((digest, answer))
                text = answer.text
            try:
                return _Answered(at, question.read(text), tuple(new))
            except ValueError:
                continue
        with self._lock:
            self.usage.unreadable += 1
        return _Answered(at, new=tuple(new))

    def _say(self, prompt: Prompt, stop: threading.Event) -> Answer:
        """Ask the server; the answer names the parts by their numbers."""
        codes = prompt.draw_codes()
        messages = prompt.messages(codes)
        needed = count_tokens(messages)
        with self._lock:
            if needed > self._left:
                raise ReaderUnavailable(
                    f"The tokens allowed are used up: {self.usage.tokens:,} were taken. RELIC_READER_SEARCH_TOKENS, or "
                    "RELIC_READER_RUN_TOKENS for measuring, says how many may be. What was read is kept."
                )
            self._left -= needed
        answer = self._server.ask(messages, stop)
        with self._lock:
            self._left += needed - answer.tokens
            self.usage.calls += 1
            self.usage.tokens += answer.tokens
        return answer._replace(text=plain(answer.text, codes, prompt.plain_codes()))

    @staticmethod
    def _take(done: _Answered, values: list[T | None]) -> None:
        values[done.at] = done.value  # type: ignore[assignment] # read by the question's own function


def _again(prompt: Prompt) -> Prompt:
    return replace(prompt, again=True)
