"""A ranking whose top k a language model on a server reads beside the claim (BIRCO, Wang et al. 2024, section 4).

The order is the model's, ties in the order of the first retriever. Where reading is stopped, or an answer cannot be
read, passages without a score follow in that order, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import islice, product
from typing import Literal, Self, cast

import numpy as np
import numpy.typing as npt

from relic_core.config import Settings
from relic_core.domain import Claim, Corpus, Ranking, Scores
from relic_core.encoders.towers import flat_span
from relic_core.errors import JobCancelled
from relic_core.language_models.cached_client import CachedClient, ModelQuestion
from relic_core.language_models.parsing import Reading, read_criteria, read_order, read_score
from relic_core.language_models.prompts import SUPPORTS, Prompt, Task, ask, claim_text, digest_of
from relic_core.language_models.server import Server
from relic_core.ports import Progress, Retriever
from relic_core.retrieval.reranked import Reordering, loaded
from relic_core.store import Store

WINDOW, STEP = 20, 10
"""Passages that are put in order at once, and by how many the window moves: from the back to the front."""

TASKS: Mapping[str, tuple[Task, ...]] = {
    "score": ("score",),
    "reason": ("reason",),
    "subtask": ("criteria", "subtask"),
    "rank": ("rank",),
    "recall": ("recall",),
    "recall-text": ("recall",),
}
"""What is asked for each task."""

_DIGITS = 16


class AsksModel(Reordering):
    """Puts the order of a ranking's top k down to a language model on a server.

    - `task`: what it has the model do: a key of `TASKS`.
    - `top_k`: how many passages it reads; by default what the settings say.
    - `objective`: what makes a passage relevant, empty for closeness in meaning; by default what was chosen for the
      claim, else that it supports the claim.
    - `own`: the objective that the program itself would give.
    - `run`: whether it is measured: then it counts the tokens of all claims together, and names the model's digest.
    """

    def __init__(
        self,
        first: Retriever,
        settings: Settings,
        task: str,
        *,
        top_k: int | None = None,
        objective: str | None = None,
        own: str = SUPPORTS,
        run: bool = False,
    ) -> None:
        super().__init__(first, settings.reader_passages if top_k is None else top_k)
        self._task = task
        self._settings = settings
        self._objective, self._own = objective, own
        self._store = Store(settings.store, lock_seconds=settings.lock_seconds)
        self._run = CachedClient(self._server, self._store.model_answers, settings.reader_run_tokens) if run else None
        self._digest = self._server.model_digest() if run else ""

    @classmethod
    def create(cls, settings: Settings, components: Sequence[Retriever], *, task: str) -> Self:
        """Make the retriever of a task, as the registry asks for it."""
        (first,) = components
        return cls(first, settings, task)

    @cached_property
    def _server(self) -> Server:
        return Server(self._settings)

    @property
    def client(self) -> CachedClient:
        """What asks the server: of a run always the same, so that its limit is that of all claims together."""
        return self._run or CachedClient(self._server, self._store.model_answers, self._settings.reader_search_tokens)

    @property
    def name(self) -> str:
        """The registered name."""
        return f"llm-{self._task}"

    @property
    def configuration(self) -> Mapping[str, str]:
        """What the first retriever says of itself; the model, its prompts and the objective."""
        objective = self._own if self._objective is None else self._objective
        prompts = {f"prompt {task}": digest_of(task, objective) for task in TASKS[self._task]}
        facts = {"reranker": self._settings.reader_model, "weights": self._digest, **prompts}
        own = {f"reranker {name}": value for name, value in facts.items() if value}
        chosen = {self._own: "on", "": "off"}.get(objective, "FILE")
        return {**super().configuration, **own, "objective": chosen}

    @property
    def usage(self) -> Mapping[str, float]:
        """What a run has taken: see `relic_core.ports.Metered`."""
        if self._run is None:
            return {}
        used = self._run.usage
        taken = {"model calls": used.calls, "model tokens": used.tokens, "model answers unreadable": used.unreadable}
        price = self._settings.reader_price
        return {**taken, "model cost": used.tokens * price / 1e6} if price else taken

    def objective(self, claim: Claim) -> str:
        """Give what makes a passage relevant to a claim."""
        if self._objective is not None:
            return self._objective
        chosen = self._store.reading_texts.get("objective", _key(claim))
        return SUPPORTS if chosen is None else chosen

    def choose(self, kind: Literal["objective", "criteria"], claim: Claim, text: str) -> None:
        """Choose the objective of a claim, or its criteria as JSON; no criteria bring back the model's."""
        self._store.reading_texts.add(kind, _key(claim), text)


class ReadByModel(AsksModel):
    """Has a model read the top k: by score, with a reason, by criteria, or in windows."""

    def criteria(self, claim: Claim, client: CachedClient, progress: Progress) -> tuple[str, ...]:
        """Give the criteria of a claim: the scholar's, else those that the model writes; none where it writes none."""
        prompt = ask("criteria", objective=self.objective(claim), claim=claim_text(claim))
        if self._objective is None and (own := self._store.reading_texts.get("criteria", _key(claim))):
            return tuple(json.loads(own))
        (written,) = client.all([ModelQuestion(prompt, read_criteria)], progress)
        return written or ()

    def scores_of_top(
        self, claim: Claim, corpus: Corpus, ranking: Ranking, top: npt.NDArray[np.int64], progress: Progress
    ) -> Scores:
        """Score the top k by the order that the model puts them in.

        - `progress`: told how many passages are read; where it raises JobCancelled, the order goes by what was read.
        """
        texts = [""] * len(top)
        for places, work, spans in loaded(ranking, top, corpus):
            for place, span in zip(places.tolist(), spans, strict=True):
                texts[place] = flat_span(work, span)
        there = [place for place, text in enumerate(texts) if text]
        order = self.read(claim, [texts[place] for place in there], progress)[0]
        found = np.zeros(len(top), dtype=np.float32)
        found[[there[at] for at in order]] = np.arange(len(order), 0, -1)
        return found

    def read(
        self, claim: Claim, passages: Sequence[str], progress: Progress
    ) -> tuple[Sequence[int], Sequence[Reading]]:
        """Read passages, given in the prior order; raises as `combine`.

        Returns: their positions, best first, ties and what was not read in prior order; what the model makes of each.
        """
        client, about = self.client, partial(ask, objective=self.objective(claim), claim=claim_text(claim))
        if self._task == "rank":
            return _ranked(client, about, passages, progress), [Reading()] * len(passages)
        if self._task == "subtask":
            readings = _by_criteria(client, about, passages, self.criteria(claim, client, progress), progress)
        else:
            asked = (about(cast("Task", self._task), ("The passage", each)) for each in passages)
            answers = client.all([ModelQuestion(prompt, read_score) for prompt in asked], progress)
            readings = [each or Reading() for each in answers]
        scores = [-1.0 if each.score is None else each.score for each in readings]
        return sorted(range(len(scores)), key=lambda at: -scores[at]), readings

    def readings(self, claim: Claim, passages: Sequence[str]) -> Sequence[Reading]:
        """Give what is known of passages that were read before; nothing is asked."""
        return self.read(claim, passages, stopped)[1]


def _by_criteria(
    client: CachedClient, about: partial[Prompt], passages: Sequence[str], criteria: Sequence[str], progress: Progress
) -> list[Reading]:
    """Score each passage by each criterion, and take the mean of all; a passage that lacks one has none."""
    asked = (
        about("subtask", ("The criterion", criterion), ("The passage", passage))
        for passage, criterion in product(passages, criteria)
    )
    answers = iter(client.all([ModelQuestion(prompt, read_score) for prompt in asked], progress))
    readings = []
    for _ in passages:
        scores = [each.score for each in islice(answers, len(criteria)) if each and each.score is not None]
        whole = bool(criteria) and len(scores) == len(criteria)
        mean, scored = sum(scores) / max(1, len(scores)), tuple(zip(criteria, scores, strict=False))
        readings.append(Reading(mean, criteria=scored) if whole else Reading())
    return readings


def _ranked(client: CachedClient, about: partial[Prompt], passages: Sequence[str], progress: Progress) -> list[int]:
    """Order a sliding window from the back to the front (Sun et al. 2023, as BIRCO's section 4.2 takes it up)."""
    order = list(range(len(passages)))
    starts = [*range(len(passages) - WINDOW, 0, -STEP), 0] if passages else []

    def report(number: int, _done: int, _total: int, note: str = "") -> None:
        progress(number * len(passages) // len(starts), len(passages), note)

    for number, start in enumerate(starts):
        window = order[start : start + WINDOW]
        named = ((f"Passage {at}", passages[each]) for at, each in enumerate(window, start=1))
        question = ModelQuestion(about("rank", *named), partial(read_order, count=len(window)))
        (answer,) = client.all([question], partial(report, number))
        if answer:
            order[start : start + WINDOW] = [window[at] for at in answer]
    return order


def stopped(done: int, total: int, note: str = "") -> None:  # noqa: ARG001 - a Progress
    """Stop at once: what was read before is given, and nothing is asked."""
    raise JobCancelled(note)


def _key(claim: Claim) -> str:
    """Name a claim, under which its objective and its criteria are kept."""
    return hashlib.sha256(claim_text(claim).encode()).hexdigest()[:_DIGITS]


create_score = partial(ReadByModel.create, task="score")
create_reason = partial(ReadByModel.create, task="reason")
create_subtask = partial(ReadByModel.create, task="subtask")
create_rank = partial(ReadByModel.create, task="rank")
