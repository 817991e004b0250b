"""The studies of an app: making and listing them, what they tell annotators, who has answered."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from relic_core.errors import BadRequest, NotFound
from relic_core.ports import silent
from relic_core.services.studies import finding, making, sample, texts, windows
from relic_core.services.studies.answering import Answering
from relic_core.services.studies.files import Files
from relic_core.services.studies.models import Models
from relic_core.services.studies.owners import Owners
from relic_core.services.studies.results import Results
from relic_core.services.studies.standing import StudyView, find_works

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from relic_core.domain import Job
    from relic_core.domain.studies import Study, StudyTerms
    from relic_core.ports import Progress
    from relic_core.services.studies.making import StudyRequest
    from relic_core.services.studies.windows import StudySource
    from relic_core.store.studies import StudyCounts, TermsChange
    from relic_core.store.study_answers import AnnotatorCounts
    from relic_core.wiring import App


class Studies:
    """The studies of an app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._kept: dict[str, Study] = {}
        self._lock = threading.Lock()

    @cached_property
    def answering(self) -> Answering:
        """What annotators do."""
        return Answering(self._app, self)

    @cached_property
    def models(self) -> Models:
        """What retrievers answer."""
        return Models(self._app)

    @cached_property
    def results(self) -> Results:
        """What came of it."""
        return Results(self._app)

    @cached_property
    def owners(self) -> Owners:
        """Who may see that, and manage a study."""
        return Owners(self._app)

    @cached_property
    def files(self) -> Files:
        """What is given away and taken in."""
        return Files(self._app)

    def all(self) -> tuple[StudyCounts, ...]:
        """List the studies, newest first; on a fresh store the sample study is put there first."""
        sample.ensure(self._app)
        return self._app.store.studies.all()

    def removed(self) -> tuple[StudyCounts, ...]:
        """List the studies that were removed and can be put back, newest first."""
        return self._app.store.studies.all(removed=True)

    def study(self, study_id: str) -> Study:
        """Return a study; it never changes, so it stays in memory.

        Raises NotFound: there is none, or it was removed.
        """
        with self._lock:
            kept = self._kept.get(study_id)
        if kept is None:
            kept = self._app.store.studies.get(study_id)
            with self._lock:
                self._kept[study_id] = kept
        return kept

    def get(self, study_id: str) -> StudyView:
        """Return a study as it stands now.

        Raises NotFound: there is none, or it was removed.
        """
        study = self.study(study_id)
        annotators, answers = self._app.store.study_answers.count(study_id)
        found = find_works(self._app, study)
        return StudyView(
            study=study,
            terms=self._app.store.studies.terms(study_id),
            frozen=answers > 0,
            annotators=annotators,
            answers=answers,
            stored=found.stored,
            held=found.held,
            later=self._app.store.studies.later(study_id),
        )

    def find(self, said: str) -> Study:
        """Find the study a person means by its id, the beginning of one, or its name; of versions the last.

        Raises NotFound, BadRequest: none fits; several do.
        """
        return self.study(finding.meant(self.all(), said).id)

    def sources(self) -> tuple[StudySource, ...]:
        """List what studies can be made from, the windows mined here first; opening each takes some seconds."""
        return windows.list_sources(self._app)

    def make(self, request: StudyRequest, *, data: Path | None = None, progress: Progress = silent) -> Study:
        """Make a study and keep it, or find it where it was made before.

        Parameters and errors are those of `making.make`.

        Raises BadRequest: another study has the name.
        """
        terms = request.terms
        finding.check_name_is_free(self._app.store.studies.all(), request.name)
        made = making.make(self._app, request, data=data, progress=progress)
        return self._keep(made, terms, request.owner)

    def start_making(self, request: StudyRequest) -> Job:
        """Make a study in the background; the job's closing note ends with the study's id in brackets.

        Raises BadRequest: the name or a text of the request cannot be, or another study has the name.
        """
        name = texts.checked_name("A study", request.name)
        _ = request.terms
        finding.check_name_is_free(self._app.store.studies.all(), name)
        said = {field: getattr(request, field) for field in request.__slots__}
        return self._app.jobs.start("study", title=f"Making the study {name}", subject=name, arguments=said)

    def pride_and_prejudice(self) -> StudyRequest | None:
        """Say what the study of the paper's own work would be; None where the work is not here."""
        benchmark, work = making.PRIDE
        if not windows.has_work(self._app, work):
            return None
        return making.StudyRequest(name=making.PRIDE_NAME, benchmark=benchmark, works=(work,))

    def has_words_on_pride_and_prejudice(self) -> bool:
        """Whether the critics' words are here that its study is made from: they have to be rebuilt."""
        return windows.has_words(self._app, making.PRIDE[0])

    def made_of_pride_and_prejudice(self) -> StudyCounts | None:
        """Give the study that `pride_and_prejudice` would make again, since one has its name; None where none has."""
        return finding.named(self._app.store.studies.all(), making.PRIDE_NAME)

    def default_terms(self) -> StudyTerms:
        """Give what studies tell annotators where their owner says nothing else."""
        return texts.DEFAULT

    def edit(self, study_id: str, **changes: str | int | bool) -> StudyTerms:
        """Change what a study asks and tells; every version of every text is kept, with its time.

        - `**changes`: ``instructions``, ``wanted`` (before the first answer), ``consent``, ``privacy``, ``revealed``
          (always).

        Raises StudyFrozen: instructions or annotators wanted are to be changed, and there are answers.
        Raises BadRequest: no such text, or it is too long.
        Raises NotFound: there is no such study.
        """
        for name, said in changes.items():
            if name == "wanted":
                texts.checked_wanted(int(said))
            elif name in {"instructions", "consent", "privacy"}:
                texts.checked_text(name, str(said))
            elif name != "revealed":
                raise BadRequest(
                    f"A study has no '{name}' that can be changed. It has: instructions, wanted, consent, privacy, "
                    "revealed. Another name, works or items make another study, or a new version."
                )
        self.study(study_id)
        self._app.store.studies.change_terms(study_id, changes)
        return self._app.store.studies.terms(study_id)

    def history(self, study_id: str) -> tuple[TermsChange, ...]:
        """List every version of every text of a study, oldest first."""
        return self._app.store.studies.terms_history(study_id)

    def new_version(
        self,
        study_id: str,
        *,
        instructions: str | None = None,
        wanted: int | None = None,
        seed: int | None = None,
        without: Collection[str] = (),
    ) -> Study:
        """Make the next version of a study, with the owner's code; the one before stays with its answers.

        - `study_id`: the study; of its versions the last is gone on from.
        - `seed`: in place of its own: another order of the items, for each annotator; that of the options stays.
        - `without`: ids of items that are left out.

        Raises BadRequest: no item would be left, or a text is too long.
        Raises NotFound: there is no such study or item.
        """
        before = self.study(study_id)
        while later := self._app.store.studies.later(before.id):
            before = self.study(later)
        terms = self._app.store.studies.terms(before.id)
        told = replace(
            terms,
            instructions=texts.checked_text(
                "instructions", terms.instructions if instructions is None else instructions
            ),
            wanted=texts.checked_wanted(terms.wanted if wanted is None else wanted),
            revealed=False,
        )
        owner = self._app.store.study_owners.sealed(before.id)
        return self._keep(making.next_version(before, seed=seed, without=without), told, owner)

    def remove(self, study_id: str) -> Study:
        """Hide a study; its answers stay, and `restore` brings it back.

        Raises NotFound: there is no such study.
        """
        study = self.study(study_id)
        self._app.store.studies.remove(study_id)
        with self._lock:
            self._kept.pop(study_id, None)
        return study

    def restore(self, study_id: str) -> Study:
        """Undo `remove`.

        Raises NotFound: there never was such a study.
        """
        return self._app.store.studies.restore(study_id)

    def annotators(self, study_id: str) -> tuple[AnnotatorCounts, ...]:
        """List who has joined a study, with how many items each has answered, and when last."""
        self.study(study_id)
        return self._app.store.study_answers.annotators(study_id)

    def erase(self, study_id: str, said: str) -> int:
        """Erase an annotator with all their answers to a study, for good: rows, and where they stood in the file.

        - `said`: the annotator's id, or name.

        Returns: how many answers there were.

        Raises NotFound: there is no such study or annotator.
        Raises StoreBusy: they are deleted, but the file is in use and could not be written over; ask again.
        """
        rows = self._app.store.study_answers
        ids = {each.annotator.id for each in self.annotators(study_id)}
        named = rows.named(study_id, said)
        annotator_id = said if said in ids else named.id if named else ""
        if not annotator_id:
            raise NotFound(
                f"The study has no annotator '{said:.100}'. Those it has: python -m relic_core study show {study_id}"
            )
        return rows.erase(study_id, annotator_id)

    def where(self) -> str:
        """Name the file in which answers are kept."""
        return str(self._app.store.path)

    def _keep(self, study: Study, terms: StudyTerms, sealed: str) -> Study:
        if self._app.store.studies.add(study, terms) and sealed:
            self._app.store.study_owners.add(study.id, sealed)
        return self.study(study.id)
