"""Passages that a language model recalls for a claim, proved by the work: what is not in it is never shown.

Long-context models name the quotation that a critic chose more often than experts do (Thai and Iyyer 2025). They also
make words up. So each answer is aligned to the work, and what aligns is the work's own sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, zip_longest

import numpy as np

from relic_core.caching import LRUCache
from relic_core.domain import Claim, Corpus, Ranking, Span, Work
from relic_core.encoders.towers import flat
from relic_core.errors import ReaderUnavailable, RelicError
from relic_core.language_models.cached_client import ModelQuestion
from relic_core.language_models.parsing import read_passages
from relic_core.language_models.prompts import Prompt, ask, claim_text
from relic_core.language_models.server import count_tokens, longest_text
from relic_core.ports import Progress, silent
from relic_core.retrieval.read_by_model import AsksModel, stopped
from relic_core.retrieval.reranked import below
from relic_core.text.placing import Places, recalled_span

CODE = "recalled/2"
"""Version of what is taken for recalled: a new one makes other scores."""
OVERLAP = 0.1
"""Share of a part of the text that the next part begins with."""
_LEAST_PART = 2_000
"""Characters of a part of the text, from which it is worth asking."""
_CHAPTERS = "Chapters of the work"
_WORKS = 3
"""Works that are kept ready to be aligned to."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What a model recalls of a work.

    - `spans`: where what it gave stands, in its order, each once.
    - `given`, `lost`: how many passages it gave, and how many of them are not in the work.
    """

    spans: tuple[Span, ...]
    given: int
    lost: int


class Recalled(AsksModel):
    """Puts first what a model recalls, and behind it all others as the first retriever ranks them.

    The model has the claim and the name of the work; with the task "recall-text" the work's text too, in parts.
    """

    @cached_property
    def _places(self) -> LRUCache[Places]:
        return LRUCache(_WORKS)

    @cached_property
    def _counts(self) -> dict[str, int]:
        return {"passages recalled": 0, "passages recalled that are not in the work": 0}

    @property
    def configuration(self) -> Mapping[str, str]:
        """What `AsksModel` says, and by which rule a passage is recalled."""
        return {**super().configuration, "code": CODE}

    @property
    def usage(self) -> Mapping[str, float]:
        """What a run has taken, and how much of what was recalled is not in the work."""
        used = super().usage
        return {**used, **self._counts} if used else used

    def combine(
        self, claim: Claim, corpus: Corpus, rankings: Sequence[Ranking], progress: Progress = silent
    ) -> Ranking:
        """Put what the model recalls before the ranking of the first retriever. Raises RelicError: of several works."""
        if corpus.whole is None:
            raise RelicError("A model recalls passages of one work at a time. Choose a work to use it.")
        (ranking,) = rankings
        found = self.recall(claim, corpus.whole, progress)
        self._counts["passages recalled"] += found.given
        self._counts["passages recalled that are not in the work"] += found.lost
        starts = (corpus.whole.span_around(span, ranking.length).start for span in found.spans)
        at = {start: int(np.searchsorted(ranking.start, start)) for start in starts}
        first = [place for start, place in at.items() if place < len(ranking) and ranking.start[place] == start]
        if not first:
            return replace(ranking, retriever=self.name)
        rest = ranking.order[~np.isin(ranking.order, first)]
        places = np.arange(len(first), 0, -1, dtype=np.float32)
        return replace(ranking, retriever=self.name, scores=below(places, np.array(first), rest, ranking.scores))

    def recall(self, claim: Claim, work: Work, progress: Progress = stopped) -> Recall:
        """Ask for passages and align them; by default what is known, with nothing asked. Raises as `combine`."""
        named = f"{work.title}, by {work.author}" if work.author else work.title
        words, objective = claim_text(claim), self.objective(claim)
        asks = partial(ask, "recall", ("The work", named), claim=words, objective=objective)
        parts = self._parts(work, asks((_CHAPTERS, ""))) if self._task == "recall-text" else [()]
        answers = self.client.all([ModelQuestion(asks(*part), read_passages) for part in parts], progress)
        passages = dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*(each or () for each in answers)))))
        places = self._places.get(work.fingerprint, lambda: Places(work)) if passages else None
        spans = [recalled_span(places, work, words) for words in passages] if places else []
        return Recall(tuple(dict.fromkeys(filter(None, spans))), len(spans), spans.count(None))

    def _parts(self, work: Work, prompt: Prompt) -> list[tuple[tuple[str, str]]]:
        """Cut the text into parts that a prompt has room for, each beginning with the end of the one before."""
        room = longest_text(self._settings.reader_context - count_tokens(prompt.messages(prompt.draw_codes())))
        if room < _LEAST_PART:
            raise ReaderUnavailable(
                f"The model reads {self._settings.reader_context:,} tokens at once, which is too few to give it parts "
                "of a work. RELIC_READER_CONTEXT says how many it reads."
            )
        sentences = [flat(work, sentence) for sentence in work.sentences]
        return [((_CHAPTERS, part),) for part in _cut(sentences, room)]


def _cut(sentences: Sequence[str], room: int) -> Iterator[str]:
    """Join sentences into parts of at most `room` characters; a longer sentence is cut short."""
    part: list[str] = []
    size = 0
    for sentence in sentences:
        if part and size + len(sentence) > room:
            yield " ".join(part)
            while part and (size > OVERLAP * room or size + len(sentence) > room):
                size -= len(part.pop(0)) + 1
        part.append(sentence[:room])
        size += len(part[-1]) + 1
    if part:
        yield " ".join(part)


create_recall = partial(Recalled.create, task="recall")
create_recall_text = partial(Recalled.create, task="recall-text")
