"""What came of a study: how often people were right, how far they agree, what models answered to the same items."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.retrieval import registry
from relic_core.services.studies.standing import find_works

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from relic_core.domain.studies import Annotator, Item, Study
    from relic_core.evaluation.raters import Measure, Share
    from relic_core.reporting.tables import Figure
    from relic_core.wiring import App


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonResult:
    """How one annotator did.

    - `answered`, `right`, `cannot`: items answered; rightly; with "cannot decide".
    - `accuracy`: right among answered, "cannot decide" counted as not right; None before the first answer.
    - `seconds`: of an item, the median; 0 before the first answer.
    """

    annotator: Annotator
    answered: int
    right: int
    cannot: int
    accuracy: Figure | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityResult:
    """How people did together: an item is right where more than half of those who answered it chose the quotation.

    - `items`: those that two people or more have answered.
    - `right`, `wrong`, `none`: of these: a majority for the quotation, for another passage, for none.
    - `accuracy`: right among `items`; None where there are none.
    """

    items: int
    right: int
    wrong: int
    none: int
    accuracy: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """How one retriever did on all items of the study.

    - `retriever`, `label`: registered name, and what pages call it.
    - `accuracy`: none where it has not answered, or is left out.
    - `mark`: what has to be known of its answers: that it chose the other options, or is built on what did; empty else.
    """

    retriever: str
    label: str
    accuracy: Figure | None
    mark: str
    left_out: bool
    created: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What was answered to one item.

    - `number`: its place in the study, from 1.
    - `title`, `work_id`: the work, and the id of the stored one for links; empty where it is not in the library.
    - `answered`, `right`, `cannot`: people who answered; rightly; who could not decide.
    - `votes`: how many chose each option.
    - `share`: right among answered; None where nobody answered.
    - `seconds`: the median; 0 where nobody answered.
    - `models`: by label the option that each retriever chose; 0 for none.
    """

    item: Item
    number: int
    title: str
    work_id: str
    answered: int
    right: int
    cannot: int
    votes: tuple[int, ...]
    share: float | None
    seconds: float
    models: Mapping[str, int] = field(hash=False)
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """What came of a study.

    - `people`, `majority`, `models`: how people did, each and together; how retrievers did.
    - `agreement`: Fleiss, Randolph, Gwet, Krippendorff.
    - `figures`: measures by their keys and shares by their labels as they are read, with intervals where these can be
      had; lacks those that have no value.
    - `paradox`: why Fleiss' kappa is low although people agree, where that is so; empty else.
    - `items`: the hardest for people first, then those nobody has answered.
    - `telling`: those that everybody, two at least, got right and some model did not (RELiC, Table 5).
    - `notes`: how the figures were come by, that among it.
    """

    study: Study
    people: tuple[PersonResult, ...]
    majority: MajorityResult
    agreement: tuple[Measure, ...]
    all_agree: Share
    none_agree: Share
    figures: Mapping[str, Figure] = field(hash=False)
    paradox: str
    models: tuple[ModelResult, ...]
    items: tuple[ItemResult, ...]
    telling: tuple[ItemResult, ...]
    intervals: str
    notes: tuple[str, ...]


class Results:
    """The results of the studies of an app; kept in memory until the store is written."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._stamp: object = None
        self._kept: dict[str, StudyResults] = {}

    def of(self, study_id: str) -> StudyResults:
        """Compute the results of a study, also of one that is not finished.

        Raises NotFound: there is no such study.
        """
        from relic_core.services.studies.counting import compute  # it makes what is defined here

        stamp = self._app.store.stamp()
        with self._lock:
            if stamp == self._stamp and study_id in self._kept:
                return self._kept[study_id]
        study = self._app.studies.study(study_id)
        found = compute(
            study,
            annotators=[each.annotator for each in self._app.studies.annotators(study_id)],
            answers=self._app.store.study_answers.latest(study_id),
            models=self._app.studies.models.kept(study_id),
            marks={card.name: self._app.studies.models.mark(study, card.name) for card in registry.cards()},
            stored=find_works(self._app, study).stored,
        )
        with self._lock:
            if stamp != self._stamp:
                self._stamp, self._kept = stamp, {}
            self._kept[study_id] = found
        return found
