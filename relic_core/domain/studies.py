"""Studies of the proxy task: what they are, who answers them, and what they answer (RELiC, section 4)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from relic_core.domain.study_items import CANNOT_DECIDE, CHOICES, OPTIONS, Item, Option, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from relic_core.domain.windows import ContextSize

__all__ = [
    "CANNOT_DECIDE",
    "CHOICES",
    "ID_LENGTH",
    "OPTIONS",
    "Annotator",
    "Answer",
    "Item",
    "Making",
    "ModelAnswers",
    "Option",
    "Study",
    "StudyTerms",
    "StudyWork",
    "in_order",
    "study_id",
]

ID_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyWork:
    """A work of a study: which text of it, and how its sentences were cut.

    - `key`: as items name it: a slug of the catalogue where the work has one, else its id.
    - `title`, `author`: as known; the author may be empty.
    - `year`: of first publication.
    - `sha256`, `fingerprint`: of its text, and of its text and sentences (`Work.sha256`, `Work.fingerprint`).
    """

    key: str
    title: str
    author: str
    year: int | None
    sha256: str
    fingerprint: str
    segmenter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How the items of a study came about.

    - `benchmark`: whose windows they are; empty where they were mined from the reader's own sources.
    - `split`: of the benchmark: what its windows may be used for.
    - `lengths`: sentences of a quotation; all lengths where empty.
    - `shape`: how much context each claim has.
    - `chooser`: who chose the other two options, by the registered name.
    - `beyond`: only windows whose quotation the chooser ranks behind this place; 0 for all (RELiC, section 4: 1,000).
    - `seed`: decides which windows were drawn, the order of the options, and each annotator's order of the items.
    - `windows`, `left_out`: how many windows there were to choose from, and how many of them could not become items.
    """

    benchmark: str
    split: str
    lengths: tuple[int, ...]
    shape: ContextSize
    chooser: str
    chooser_configuration: Mapping[str, str] = field(hash=False)
    beyond: int
    seed: int
    windows: int
    left_out: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A named, seeded set of items; it never changes. What may change stands in `StudyTerms`.

    - `id`: digest of its name, version, seed and items (`study_id`): the same study has the same id everywhere.
    - `version`: from 1.
    - `earlier`: id of the version that it was made from; empty for the first.
    - `items`: in an order of their own; each annotator has another.
    """

    id: str
    name: str
    version: int
    earlier: str
    works: tuple[StudyWork, ...]
    items: tuple[Item, ...] = field(repr=False)
    making: Making
    created: datetime

    @property
    def label(self) -> str:
        """Its name, with its version where it is not the first."""
        return self.name if self.version == 1 else f"{self.name}, version {self.version}"

    def item(self, item_id: str) -> Item | None:
        """Give an item; None where the study has none of that id."""
        return next((item for item in self.items if item.id == item_id), None)

    def work(self, key: str) -> StudyWork:
        """Give the work of an item by its key."""
        return next(work for work in self.works if work.key == key)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTerms:
    """What a study asks of annotators and tells them: the last of each kept text.

    - `instructions`: what is to be done; frozen with the first answer.
    - `wanted`: how many annotators are wanted for each item: one that has so many is not given to others. 0 where
      everybody is given every item. Frozen with the first answer.
    - `consent`: what an annotator agrees to before the first item.
    - `privacy`: what is stored, and where.
    - `revealed`: whether annotators are told, after each answer, which option was the critic's.
    - `changed`: when each was last written, in UTC.
    """

    instructions: str
    wanted: int
    consent: str
    privacy: str
    revealed: bool
    changed: Mapping[str, datetime] = field(hash=False, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Somebody who answers the items of one study.

    - `id`: drawn by chance: it says nothing of the name.
    - `name`: what they gave as name or code, to the letter.
    - `joined`: in UTC; with it they agreed to the consent text of that time.
    """

    id: str
    name: str
    joined: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one annotator answered to one item; of several the last counts, and all are kept.

    - `number`: its place among all answers of the study, from 1; 0 before it is kept.
    - `item_id`, `annotator_id`: which item; who answered.
    - `choice`: number of the option, from 1; `CANNOT_DECIDE`.
    - `seconds`: how long the item was before the annotator's eyes.
    """

    number: int = 0
    item_id: str
    annotator_id: str
    choice: int
    seconds: float
    comment: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """What one retriever answered to the items of a study.

    - `id`: digest of what decides the answers: the study, the retriever and its configuration.
    - `retriever`, `label`: registered name, and what tables call it.
    - `choices`: by item the number of the option that it ranks best, from 1; `CANNOT_DECIDE` where it has no ranking.
    - `ranks`: by item where it ranks the critic's quotation among all passages of the work; 0 where it has no ranking.
    """

    id: str
    study_id: str
    retriever: str
    label: str
    configuration: Mapping[str, str] = field(hash=False)
    choices: Mapping[str, int] = field(hash=False, repr=False)
    ranks: Mapping[str, int] = field(hash=False, repr=False)
    code: str
    created: datetime


def study_id(*, name: str, version: int, seed: int, items: tuple[Item, ...]) -> str:
    """Digest what makes a study the study it is."""
    facts: list[Any] = [name, version, seed, [asdict(item) | {"work_id": ""} for item in items]]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:ID_LENGTH]
