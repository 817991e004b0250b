"""Models beside people: every retriever and reranker answers the items of a study, as a job; kept with what made it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from relic_core.config import provenance
from relic_core.domain.studies import ID_LENGTH, ModelAnswers
from relic_core.errors import BadRequest, BadWeights
from relic_core.evaluation.proxy_runs import alike, ask, built_on
from relic_core.retrieval import registry
from relic_core.services.studies.standing import check_not_held, find_works

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relic_core.domain import Job
    from relic_core.domain.studies import Study
    from relic_core.ports import Progress, Retriever
    from relic_core.wiring import App


class Models:
    """What retrievers answer to the studies of an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def names(self, study: Study) -> tuple[str, ...]:
        """Name the retrievers that may answer a study: all but the one that chose its options, and copies of others."""
        return tuple(
            card.name
            for card in registry.cards()
            if not card.name.endswith("-reference") and alike(card.name) != alike(study.making.chooser)
        )

    def mark(self, study: Study, retriever: str) -> str:
        """Say what has to be known of a retriever's answers to a study; mostly nothing."""
        chooser = registry.card(study.making.chooser).label
        if alike(retriever) == alike(study.making.chooser):
            return "chose the other options, and is left out"
        if built_on(retriever, study.making.chooser):
            return f"is built on {chooser}, which chose the other options, and shares its errors"
        if registry.card(retriever).kind == "baseline":
            return "goes by chance"
        return ""

    def kept(self, study_id: str) -> tuple[ModelAnswers, ...]:
        """List what was answered: of each retriever the last."""
        last = {each.retriever: each for each in self._app.store.studies.models(study_id)}
        return tuple(last[card.name] for card in registry.cards() if card.name in last)

    def due(self, study_id: str) -> tuple[str, ...]:
        """Name the retrievers that have not answered a study as they now are; those without a model are passed over.

        Raises NotFound: there is no such study.
        """
        study = self._app.studies.study(study_id)
        known = {each.id for each in self._app.store.studies.models(study_id)}
        due = []
        for name in self.names(study):
            try:
                answers_id = _id(study, self._retriever(name))
            except BadWeights:  # nothing can be done about it here
                continue
            if answers_id not in known:
                due.append(name)
        return tuple(due)

    def start(self, study_id: str, names: Sequence[str] = (), *, again: bool = False) -> Job:
        """Have retrievers answer a study in the background; those that have answered as they are now are passed over.

        - `names`: registered names; all that may answer where empty.
        - `again`: ask also those that have answered.

        Raises BadRequest: no retriever has one of the names, or it chose the options.
        Raises StudyHeld, NotFound: the study's works are not here; there is no such study.
        """
        study = self._app.studies.study(study_id)
        check_not_held(study, find_works(self._app, study))
        arguments = {"study_id": study_id, "names": list(self._checked(study, names)), "again": again}
        return self._app.jobs.start(
            "study-models", title=f"Models answer {study.label}", subject=study_id, arguments=arguments
        )

    def answer(
        self, study_id: str, names: Sequence[str] = (), *, again: bool = False, progress: Progress
    ) -> tuple[tuple[ModelAnswers, ...], tuple[str, ...]]:
        """Have retrievers answer a study, here and now; each is kept as soon as it has answered.

        Parameters and errors are those of `start`.

        What it returns:
        - `answers`: what was answered now or before, in the order of the names.
        - `silent`: for each retriever that could not answer a sentence that says why.
        """
        study = self._app.studies.study(study_id)
        found = find_works(self._app, study)
        check_not_held(study, found)
        checked = self._checked(study, names)
        items = tuple(replace(item, work_id=found.stored[item.book]) for item in study.items)
        known = {each.id: each for each in self._app.store.studies.models(study_id)}
        answers: list[ModelAnswers] = []
        silent: list[str] = []
        for number, name in enumerate(checked):
            label = registry.card(name).label

            def within(done: int, total: int, note: str = "", first: int = number) -> None:  # noqa: ARG001 - as every report is called
                progress(first * len(items) + done, len(checked) * len(items), note)

            within(0, 0, label)
            try:
                retriever = self._retriever(name)
                answers_id = _id(study, retriever)
                if answers_id in known and not again:
                    answers.append(known[answers_id])
                    continue
                chosen = ask(items, self._app.works.load, retriever, progress=within)
            except BadWeights as error:
                silent.append(f"{label} could not answer: {error}")
                continue
            made = ModelAnswers(
                id=answers_id,
                study_id=study_id,
                retriever=name,
                label=label,
                configuration=dict(retriever.configuration),
                choices=chosen.choices,
                ranks=chosen.ranks,
                code=provenance.code(),
                created=datetime.now(UTC),
            )
            self._app.store.studies.add_models(made)
            answers.append(made)
        return tuple(answers), tuple(silent)

    def _checked(self, study: Study, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            return self.names(study)
        checked = tuple(dict.fromkeys(registry.card(name).name for name in names))
        for name in checked:
            if alike(name) == alike(study.making.chooser):
                raise BadRequest(
                    f"{name} chose the other two options of {study.label} from its own best hits, so its answers mean "
                    "nothing. Name others."
                )
        return checked

    def _retriever(self, name: str) -> Retriever:
        return self._app.measuring.retriever(name, self._app.settings)


def _id(study: Study, retriever: Retriever) -> str:
    """Digest what decides a retriever's answers. Raises BadWeights where its model is not there."""
    facts = [study.id, retriever.name, sorted(retriever.configuration.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:ID_LENGTH]


def run_models(app: App, arguments: dict[str, Any], progress: Progress) -> str:
    """Do a "study-models" job: have retrievers answer a study.

    - `app`: where the works are.
    - `arguments`: ``study_id``, ``names`` and ``again``.
    - `progress`: told how many answers there are.
    """
    answers, silent = app.studies.models.answer(
        arguments["study_id"], arguments["names"], again=arguments["again"], progress=progress
    )
    return " ".join([f"Answered by: {', '.join(each.label for each in answers)}.", *silent])
