"""Studies given away and taken in: the study itself, its answers, its examples, a page to print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from relic_core.config import provenance
from relic_core.domain.studies import Annotator, Answer, Study, checked_name
from relic_core.errors import BadBenchmark, BadRequest
from relic_core.formats import study_answers
from relic_core.formats.files import read_bytes, write_whole
from relic_core.formats.studies import read_study, write_study
from relic_core.services.catalogue import Catalogue
from relic_core.services.works import Works
from relic_core.store.study_answers import StudyAnswerRows
from relic_core.studies import report as reporting
from relic_core.studies.results import Results
from relic_core.studies.service import Studies, words_of

__all__ = ["StudyFiles", "write_whole"]

LARGEST = 100_000_000
"""In bytes: a study of tens of thousands of items."""


class StudyFiles:
    """What goes out of studies, and comes in."""

    def __init__(
        self, studies: Studies, results: Results, rows: StudyAnswerRows, works: Works, catalogue: Catalogue
    ) -> None:
        self._studies = studies
        self._results = results
        self._rows = rows
        self._works = works
        self._catalogue = catalogue

    def export(self, study_id: str) -> bytes:
        """Write a study as one JSON file, with its digests and without answers; everybody gets the same bytes."""
        return write_study(self._studies.study(study_id), self._studies.terms(study_id))

    def take_in(self, file: bytes | Path, name: str = "The file") -> tuple[Study, bool]:
        """Take in a study that was exported elsewhere; where its works are not as they were it is held back.

        Where they are there, the passages are compared with them.

        Raises BadBenchmark: it is not a study, was damaged or changed, or its passages are not those of its works.
        """
        data, name = _content(file, name)
        study, terms = read_study(data, name)
        self._check_words(study, name)
        new = self._studies.add(study, terms)
        return self._studies.study(study.id), new

    def answers_json(self, study_id: str, *, anonymous: bool = True, comments: bool | None = None) -> bytes:
        """Write a study with all answers as JSON.

        - `anonymous`: numbers in place of names, and no hours.
        - `comments`: whether comments are given; where not said, they are unless it is anonymous.
        """
        study, terms = self._studies.study(study_id), self._studies.terms(study_id)
        rows = self._answers(study, anonymous=anonymous, comments=comments)
        return study_answers.answers_json(study, terms, rows, anonymous=anonymous)

    def answers_csv(self, study_id: str, *, anonymous: bool = True, comments: bool | None = None) -> bytes:
        """Write all answers as CSV, each with its item; as `answers_json`."""
        study = self._studies.study(study_id)
        return study_answers.answers_csv(study, self._answers(study, anonymous=anonymous, comments=comments))

    def _answers(self, study: Study, *, anonymous: bool, comments: bool | None) -> list[dict[str, Any]]:
        return study_answers.answer_rows(
            study,
            [each.annotator for each in self._rows.annotators(study.id)],
            self._rows.all(study.id),
            anonymous=anonymous,
            comments=not anonymous if comments is None else comments,
        )

    def take_in_answers(self, study_id: str, file: bytes | Path, *, of: str, name: str = "The file") -> tuple[int, int]:
        """Put the answers of another department, which ran the same study, beside those given here.

        - `file`: what `answers_json` wrote there, with names or without; a later one adds what is new in it.
        - `of`: where they come from: it is put behind names and numbers.

        Returns: how many annotators the file holds, and how many of their answers are new here.
        """
        data, name = _content(file, name)
        study, terms = self._studies.study(study_id), self._studies.terms(study_id)
        of = checked_name("Where answers come from", of)
        given = study_answers.read_answers(data, name, study, terms, of=of)
        here = {
            study_answers.key_of(study, each.annotator.id): each.annotator for each in self._rows.annotators(study_id)
        }
        known: list[tuple[Annotator, Sequence[Answer]]] = []
        for annotator, answers in given:
            who = here.get(annotator.id, annotator)
            known.append((who, [replace(answer, annotator_id=who.id) for answer in answers]))
        return len(given), self._rows.take_in(study_id, known)

    def judged(self, study_id: str) -> bytes:
        """Write what people chose as JSON lines to learn from or to measure on; see `judged_items`.

        Raises NotFound: there is no such study.
        Raises BadRequest: it is not a study of the proxy task.
        """
        results = self._results.of(study_id)
        study = results.study
        if not study.kind.is_proxy:
            raise BadRequest(
                f"{study.label} is not a study of the proxy task: examples are made of such studies alone."
            )
        stored = self._studies.find_works(study).stored
        summaries = {summary.id: summary for summary in self._works.summaries()}
        measured = {each.entry.slug for each in self._catalogue.shelf()}
        measured |= {key for key, work_id in stored.items() if self._catalogue.entry_of(summaries[work_id]) is not None}
        return study_answers.judged_items(
            study,
            results.items,
            annotators=sum(each.answered > 0 for each in results.people),
            measured=measured,
            code=provenance.code(),
        )

    def report(self, study_id: str, *, anonymous: bool = True) -> bytes:
        """Write the results as one HTML page that can be printed, and needs no other file."""
        view, results = self._studies.get(study_id), self._results.of(study_id)
        people = [each.annotator for each in results.people]
        names = study_answers.numbered(view.study, people) if anonymous else None
        return reporting.page(view, results, code=provenance.code(), names=names).encode()

    def information(self, study_id: str) -> bytes:
        """Write the information sheet for participants, as a page of HTML that can be printed."""
        return reporting.information(self._studies.get(study_id), guarded=self._studies.guarded(study_id)).encode()

    def package(self, study_id: str) -> bytes:
        """Write a study with its information sheet and a guide for who runs it, as a ZIP file; the same each time."""
        members = {
            "README.txt": reporting.guide(self._studies.get(study_id)).encode(),
            "study.json": self.export(study_id),
            "information.html": self.information(study_id),
        }
        file = BytesIO()
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
        return file.getvalue()

    def file_name(self, study_id: str, end: str) -> str:
        """Name a file of a study: "pride-and-prejudice-1f2e3d4c5b6a.json"."""
        study = self._studies.study(study_id)
        slug = re.sub(r"[^a-z0-9]+", "-", study.name.casefold()).strip("-") or "study"
        return f"{slug[:60]}-{study.id}.{end}"

    def _check_words(self, study: Study, name: str) -> None:
        """Compare the passages of a study with those of its works that are here. Raises BadBenchmark: they differ."""
        for key, work_id in self._studies.find_works(study).stored.items():
            work = self._works.load(work_id)
            for item in study.items:
                if item.book == key and any(
                    option.span.end > len(work.sentences) or words_of(work, option.span) != option.words
                    for option in item.options
                ):
                    raise BadBenchmark(
                        f"{name} gives passages of {work.title} in item '{item.id}' that are not those of the edition "
                        "it names. Nothing was taken in; take it anew from where it came."
                    )


def _content(file: bytes | Path, name: str) -> tuple[bytes, str]:
    """Read a file that is to be taken in, and what messages call it."""
    if isinstance(file, Path):
        return read_bytes(file, at_most=LARGEST), str(file)
    if len(file) > LARGEST:
        raise BadBenchmark(f"{name} is too large: at most {LARGEST:,} bytes are read.")
    return file, name
