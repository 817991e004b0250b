"""What a language model makes of the passages of a search: read in a job, then shown beside the work's own words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, cast

from relic_core.caching import LRUCache
from relic_core.config import Settings
from relic_core.domain import Claim, Condition, Job, Search, Work
from relic_core.encoders.towers import flat_span
from relic_core.errors import ReaderUnavailable
from relic_core.formats.files import record_of
from relic_core.language_models.cached_client import ModelQuestion
from relic_core.language_models.parsing import Reading, Synthesis, read_split, read_synthesis
from relic_core.language_models.prompts import OBJECTIVES, ask, claim_text, digest_of
from relic_core.language_models.server import allow, is_allowed, where
from relic_core.ports import Progress, silent
from relic_core.reporting.passages import light_words
from relic_core.retrieval.read_by_model import TASKS, AsksModel, ReadByModel, stopped
from relic_core.retrieval.recalled import Recalled
from relic_core.retrieval.registry import Retrievers
from relic_core.services.answers import Card, Column
from relic_core.services.jobs import Jobs
from relic_core.services.search import SearchResult
from relic_core.store.model_answers import ReadingTextRows
from relic_core.text.masking import read_claim
from relic_core.text.placing import letters

KIND = "read-by-model"
"""The kind of job that reads."""
SYNTHESIS = "synthesis"
"""What a job names in place of a column where it reads the best passages of all of them together."""
_READ_TOGETHER = 10
_REMEMBERED = 2
"""Of the questions answered before, how many go with the next: all of them would not fit in the end."""

_QUOTED = re.compile(r"[“\"]([^“”\"]*\w\s+\w[^“”\"]*)[”\"]|‘([^‘’]*\w\s+\w[^‘’]*)’")
"""Two words or more between marks of quotation."""
_ELLIPSIS = re.compile(r"\[?(?:…|\.\s?\.\s?\.)\]?")


@dataclass(frozen=True, slots=True)
class CardReading:
    """What a model makes of a card's passage; whether its words stand there, and its reason quotes what does not."""

    answer: Reading
    stands: bool
    misquotes: bool


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """What a model makes of a column, card by card; of recalled passages also how many, and how many are lost."""

    readings: tuple[CardReading | None, ...]
    given: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class CheckedSynthesis:
    """What a model says of an answer, held against its works.

    - `sentences`: each in pieces, with whether a piece is a quotation that no work has; and the numbers of its cards.
    - `verdicts`: of cards, by number.
    """

    sentences: tuple[tuple[tuple[tuple[str, bool], ...], tuple[int, ...]], ...]
    verdicts: Mapping[int, str]

    @property
    def misquotes(self) -> int:
        """How many quotations are in no work."""
        pieces = chain.from_iterable(pieces for pieces, _ in self.sentences)
        return sum(wrong for _, wrong in pieces)


class ModelReading:
    """Has a model read for a search, and tells what it makes of it; `run_search` answers a request."""

    objectives = OBJECTIVES

    def __init__(
        self,
        run_search: Callable[..., SearchResult],
        retrievers: Retrievers,
        jobs: Jobs,
        get_search: Callable[[str], Search],
        texts: ReadingTextRows,
        settings: Settings,
    ) -> None:
        self._run_search, self._retrievers, self._jobs = run_search, retrievers, jobs
        self._get_search, self._texts, self._settings = get_search, texts, settings
        self._letters = LRUCache[str](_READ_TOGETHER)

    @property
    def place(self) -> str:
        """Where the words go: "this computer", or the name of another."""
        return where(self._settings.reader)

    @property
    def allowed(self) -> bool:
        """Whether words may be sent there."""
        return is_allowed(self._settings)

    def allow(self) -> None:
        """Allow it, once for all. Raises StoreError: that cannot be written down."""
        allow(self._settings)

    @property
    def passages(self) -> int:
        """How many passages of a ranking it reads."""
        return self._settings.reader_passages

    # ---- reading ----------------------------------------------------------------------------------------------------

    def start(self, search_id: str, retriever: str, person: str = "", further: Sequence[str] = ()) -> Job:
        """Have a column of a search read, in a job. Raises BadRequest, StoreError: as `Jobs.start`.

        - `further`: what a person asks about the best passages, the last question new; kept with the search.
        """
        if further:
            self._texts.add("further", f"{search_id}/{person}", json.dumps(further))
        title = "Reading together" if retriever == SYNTHESIS else self._retrievers.card(retriever).title
        arguments = {"search": search_id, "retriever": retriever, "person": person}
        return self._jobs.start(KIND, title=title, subject=_subject(search_id, retriever, person), arguments=arguments)

    def job(self, search_id: str, retriever: str, person: str = "") -> Job | None:
        """Give the last job that read a column of a search."""
        return self._jobs.latest(KIND, _subject(search_id, retriever, person))

    def further(self, search_id: str, person: str) -> list[str]:
        """List what a person asked further about the best passages of a search."""
        return record_of(list[str], self._texts.get("further", f"{search_id}/{person}") or "[]")

    def run(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Read, in a job; the answers are kept as they come."""
        request = self._get_search(arguments["search"]).request
        if arguments["retriever"] == SYNTHESIS:
            further = self.further(arguments["search"], arguments.get("person", ""))
            answers = self.synthesis(self._run_search(request), progress, further)
            if len(answers) <= len(further):
                progress(0, 1)  # one that was stopped ends here
                way = "Ask in other words, or take" if answers else "Take"
                raise ReaderUnavailable(f"What the model answered could not be read. {way} another model.")
            return ""
        read = (0, 0, "")

        def report(done: int, total: int, note: str = "") -> None:
            nonlocal read
            read = done, total, f"{done:,} of {total:,} read{note and ', '}{note}"
            progress(*read)

        (column,) = self._run_search(replace(request, retrievers=(arguments["retriever"],)), progress=report).columns
        progress(*read)  # one that was stopped has ended early, with what was read
        if not column.answered:
            raise ReaderUnavailable(column.note)
        return read[2]

    # ---- what was read ----------------------------------------------------------------------------------------------

    def of(self, result: SearchResult) -> dict[str, ColumnReading]:
        """Tell what the model makes of each column that it has, by retriever; nothing is asked."""
        return {each.retriever: self._of(each, result) for each in result.columns if each.card.server}

    def _of(self, column: Column, result: SearchResult) -> ColumnReading:
        asks = self._retrievers.get(column.retriever)
        if isinstance(asks, Recalled) and result.work is not None and column.answered:
            found = asks.recall(result.claim, result.work)
            return ColumnReading((None,) * len(column.cards), found.given, found.lost)
        if not isinstance(asks, ReadByModel) or not column.cards:
            return ColumnReading((None,) * len(column.cards))
        passages = [flat_span(card.work, card.span) for card in column.cards]
        return ColumnReading(tuple(map(_checked, passages, asks.readings(result.claim, passages))))

    def synthesis(
        self, result: SearchResult, progress: Progress = stopped, further: Sequence[str] = ()
    ) -> tuple[CheckedSynthesis, ...]:
        """Have the model say what the best passages show, in sentences, and answer what is asked further about them.

        - `progress`: by default it is asked nothing, and what it said before is given.

        Returns: what they show, then the answers, up to the first that was not asked for, or is unreadable.
        """
        cards = [each.card for each in result.best[:_READ_TOGETHER]]
        passages = [flat_span(card.work, card.span) for card in cards]
        parts = [(f"Passage {number}", passage) for number, passage in enumerate(passages, start=1)]
        about = partial(ask, claim=claim_text(result.claim), objective=self.objective(result.claim))
        client, found, exchanges = self._asks("llm-reason").client, list[Synthesis](), list[tuple[str, str]]()
        for question in ("", *further) if cards else ():
            asked = [*exchanges[:1], *exchanges[1:][-_REMEMBERED:], ("The question", question)] if question else []
            prompt = about("further" if question else "synthesis", *parts, *asked)
            read = partial(read_synthesis, count=len(cards), judged=not question)
            (synthesis,) = client.all([ModelQuestion(prompt, read)], progress)
            if synthesis is None:
                break
            found.append(synthesis)
            answer = " ".join(f"{sentence} {list(numbers)}" for sentence, numbers in synthesis.sentences)
            exchanges.append(("Said before", f"{question}\n{answer}".strip()))
        if not found:
            return ()
        works = {card.work.fingerprint: card.work.text for card in cards}
        texts = [letters(passage) for passage in passages]
        texts += [self._letters.get(fingerprint, partial(letters, text)) for fingerprint, text in works.items()]
        return tuple(
            CheckedSynthesis(
                tuple((_pieces(sentence, texts), numbers) for sentence, numbers in each.sentences), each.verdicts
            )
            for each in found
        )

    def made_with(self, search_id: str, retriever: str, work: Work, at: str, length: int) -> str:
        """Say what read a kept passage: model, digest of its prompt, score and reason; empty where no model did."""
        if not search_id or not retriever or not self._retrievers.card(retriever).server:
            return ""
        search = self._get_search(search_id)
        claim = read_claim(search.request.claim_text, max_words=self._settings.max_claim_words)
        prompt = digest_of(TASKS[retriever.removeprefix("llm-")][-1], self.objective(claim))
        made_with = f"{search.made_with}, {self._settings.reader_model} with prompt {prompt}"
        asks = self._retrievers.get(retriever)
        if not isinstance(asks, ReadByModel):
            return made_with
        (reading,) = asks.readings(claim, [flat_span(work, work.span_at(at, length))])
        return made_with if reading.score is None else f"{made_with}: {reading.score:g} of 10. {reading.reason}".strip()

    def split(self, claim_text: str) -> tuple[Condition, ...]:
        """Have the model part a claim into those that it joins; none where it sees one. Raises ReaderUnavailable."""
        question = ModelQuestion(ask("split", claim=claim_text, objective=""), read_split)
        (rows,) = self._asks("llm-reason").client.all([question], silent)
        if rows is None:
            raise ReaderUnavailable("What the model answered could not be read. Add the conditions by hand.")
        return rows

    # ---- what makes a passage relevant -------------------------------------------------------------------------------

    def objective(self, claim: Claim) -> str:
        """Give what makes a passage relevant to a claim."""
        return self._asks("llm-reason").objective(claim)

    def choose(self, claim: Claim, objective: str, criteria: Sequence[str] | None = None) -> None:
        """Choose what makes a passage relevant to a claim, in one's own words; empty for closeness in meaning.

        - `criteria`: one's own in the place of the model's; none brings those back.
        """
        asks = self._asks("llm-reason")
        asks.choose("objective", claim, " ".join(objective.split()))
        if criteria is not None:
            own = [" ".join(each.split()) for each in criteria if each.strip()]
            asks.choose("criteria", claim, json.dumps(own) if own else "")

    def criteria(self, claim: Claim) -> tuple[str, ...]:
        """Give the criteria of a claim: one's own, else those that the model wrote; none where it has not yet."""
        asks = cast("ReadByModel", self._asks("llm-subtask"))
        return asks.criteria(claim, asks.client, stopped)

    def _asks(self, retriever: str) -> AsksModel:
        return cast("AsksModel", self._retrievers.get(retriever))


def _subject(search_id: str, retriever: str, person: str) -> str:
    """Name what a job reads: people who ask at once are answered each by themselves."""
    return f"{search_id}/{retriever}{person and '/'}{person}"


def _checked(passage: str, reading: Reading) -> CardReading | None:
    """Hold what a model says of a passage against the passage."""
    if reading.score is None:
        return None
    text, words = _letters(passage), _letters(reading.words)
    quotes = (_letters(first or second) for first, second in _QUOTED.findall(reading.reason))
    return CardReading(reading, bool(words) and words in text, any(quote not in text for quote in quotes))


def _pieces(sentence: str, texts: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Part a sentence at its quotations, each with whether none of the texts has its letters, between its gaps.

    - `texts`: their letters alone.
    """
    pieces, at = [], 0
    for found in _QUOTED.finditer(sentence):
        parts = [letters(part) for part in _ELLIPSIS.split(found[1] or found[2])]
        pieces.append((sentence[at : found.start()], False))
        pieces.append((found[0], not any(all(part in text for part in parts) for text in texts)))
        at = found.end()
    return (*pieces, (sentence[at:], False))


def _letters(text: str) -> str:
    """Leave out what marks italics in a plain text, and the wraps of lines."""
    return " ".join(text.replace("_", "").split())


def lit(result: SearchResult, readings: Mapping[str, ColumnReading]) -> SearchResult:
    """Light, in the columns of models, the words that their readings rest on, and no others."""

    def one(card: Card, reading: CardReading | None) -> Card:
        words = reading.answer.words if reading and reading.stands else ""
        return replace(card, quotation=light_words(card.quotation, words), whole=light_words(card.whole, words))

    columns = (
        replace(column, cards=tuple(map(one, column.cards, readings[column.retriever].readings)))
        if column.retriever in readings
        else column
        for column in result.columns
    )
    return replace(result, columns=tuple(columns))
