"""Studies given away and taken in: the study itself, its answers, its examples, a page to print."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import read_bytes, written_whole
from relic_core.formats.studies import read_study, write_study
from relic_core.services.studies import answer_files, report, signal, texts
from relic_core.services.studies.making import words_of
from relic_core.services.studies.standing import find_works

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from relic_core.domain.studies import Annotator, Answer, Study
    from relic_core.wiring import App


LARGEST = 100_000_000
"""In bytes: a study of tens of thousands of items."""


def _of(annotator: Annotator, answers: Sequence[Answer]) -> list[Answer]:
    return [replace(answer, annotator_id=annotator.id) for answer in answers]


class Files:
    """What goes out of the studies of an app, and comes in."""

    def __init__(self, app: App) -> None:
        self._app = app

    def export(self, study_id: str) -> bytes:
        """Write a study as one JSON file, with its digests and without answers; every department gets the same bytes.

        Raises NotFound: there is no such study.
        """
        return write_study(self._app.studies.study(study_id), self._app.store.studies.terms(study_id))

    def take_in(self, data: bytes, name: str = "The file") -> tuple[Study, bool]:
        """Take in a study that was exported elsewhere.

        Where its works are missing or of another edition, it is taken in and held back until they are there
        (`StudyView.held`). Where they are there, the passages are compared with them.

        What it returns:
        - `study`: the study.
        - `new`: whether it was not here before.

        Raises BadBenchmark: it is no study, was damaged or changed, or its passages are not those of its works.
        """
        if len(data) > LARGEST:
            raise BadBenchmark(f"{name} is too large for a study: at most {LARGEST:,} bytes are read.")
        study, terms = read_study(data, name)
        self._check_words(study, name)
        new = self._app.store.studies.add(study, terms)
        return self._app.studies.study(study.id), new

    def take_in_file(self, path: Path) -> tuple[Study, bool]:
        """Take in a study from a file; raises NotFound too, else as `take_in`."""
        return self.take_in(self.read(path), str(path))

    def read(self, path: Path) -> bytes:
        """Read a file that is to be taken in.

        Raises NotFound, BadBenchmark: there is none; it cannot be read, or is too large.
        """
        return read_bytes(path, at_most=LARGEST)

    def write(self, path: Path, content: bytes) -> None:
        """Write what one of these gave into a file, whole or not at all.

        Raises StoreError: the file cannot be written.
        """
        with written_whole(path) as file:
            file.write(content)

    def answers_json(self, study_id: str, *, anonymous: bool = True, comments: bool | None = None) -> bytes:
        """Write a study with all answers as JSON.

        - `anonymous`: numbers in place of names, and no hours.
        - `comments`: whether comments are given; where not said, they are unless it is anonymous.

        Raises NotFound: there is no such study.
        """
        study = self._app.studies.study(study_id)
        terms = self._app.store.studies.terms(study_id)
        made = self._rows(study, anonymous=anonymous, comments=comments)
        return answer_files.as_json(study, terms, made, anonymous=anonymous)

    def answers_csv(self, study_id: str, *, anonymous: bool = True, comments: bool | None = None) -> bytes:
        """Write all answers as CSV, each with its item; parameters and errors as for `answers_json`."""
        study = self._app.studies.study(study_id)
        return answer_files.as_csv(study, self._rows(study, anonymous=anonymous, comments=comments))

    def take_in_answers(self, study_id: str, data: bytes, *, of: str, name: str = "The file") -> tuple[int, int]:
        """Put the answers of another department, which ran the same study, beside those given here.

        - `data`: what `answers_json` wrote there, with names or without; a later file of theirs adds what is new in it.
        - `of`: where they come from: it is put behind names and numbers.

        What it returns:
        - `annotators, answers`: whose answers the file holds, and how many of them are new here.

        Raises BadBenchmark: the file holds no answers to this study, or some that cannot be.
        Raises BadRequest: it is not said where they come from.
        Raises NotFound: there is no such study.
        """
        if len(data) > LARGEST:
            raise BadBenchmark(f"{name} is too large for answers: at most {LARGEST:,} bytes are read.")
        study = self._app.studies.study(study_id)
        terms = self._app.store.studies.terms(study_id)
        given = answer_files.read(data, name, study, terms, of=texts.checked_name("Where answers come from", of))
        rows = self._app.store.study_answers
        here = {answer_files.key_of(study, each.annotator.id): each.annotator for each in rows.annotators(study_id)}
        known = [(here.get(annotator.id, annotator), answers) for annotator, answers in given]
        return len(given), rows.take_in(study_id, [(who, _of(who, answers)) for who, answers in known])

    def signal(self, study_id: str) -> bytes:
        """Write what people chose as JSON lines to learn from or to measure on; see `signal`.

        Raises NotFound: there is no such study.
        """
        results = self._app.studies.results.of(study_id)
        entries = self._app.catalogue
        found = find_works(self._app, results.study).stored
        summaries = {summary.id: summary for summary in self._app.works.summaries()}
        slugs = {each.entry.slug for each in entries.shelf()}
        measured = {
            work.key
            for work in results.study.works
            if work.key in slugs or (work.key in found and entries.entry_of(summaries[found[work.key]]) is not None)
        }
        return signal.as_lines(results, measured=measured)

    def report(self, study_id: str, *, anonymous: bool = True) -> bytes:
        """Write the results as one HTML page that can be printed, and needs no other file.

        Raises NotFound: there is no such study.
        """
        view = self._app.studies.get(study_id)
        results = self._app.studies.results.of(study_id)
        names = None
        if anonymous:
            names = answer_files.numbered(view.study, [each.annotator for each in results.people])
        return report.as_page(view, results, names=names).encode()

    def file_name(self, study_id: str, end: str) -> str:
        """Name a file of a study: "pride-and-prejudice-1f2e3d4c5b6a.json"."""
        study = self._app.studies.study(study_id)
        slug = re.sub(r"[^a-z0-9]+", "-", study.name.casefold()).strip("-") or "study"
        return f"{slug[:60]}-{study.id}.{end}"

    def _rows(self, study: Study, *, anonymous: bool, comments: bool | None) -> list[dict[str, Any]]:
        rows = self._app.store.study_answers
        return answer_files.rows(
            study,
            [each.annotator for each in rows.annotators(study.id)],
            rows.all(study.id),
            anonymous=anonymous,
            comments=not anonymous if comments is None else comments,
        )

    def _check_words(self, study: Study, name: str) -> None:
        """Compare the passages of a study with those of its works that are here.

        Raises BadBenchmark: they differ.
        """
        for key, work_id in find_works(self._app, study).stored.items():
            work = self._app.works.load(work_id)
            for item in study.items:
                wrong = item.book == key and any(
                    option.span.end > len(work.sentences) or words_of(work, option.span) != option.words
                    for option in item.options
                )
                if wrong:
                    raise BadBenchmark(
                        f"{name} gives passages of {work.title} in item '{item.id}' that are not those of the edition "
                        "it names. Nothing was taken in; take it anew from where it came."
                    )
