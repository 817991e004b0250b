"""Whether the works of a study are here as they were when it was made: what is held back otherwise, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relic_core.errors import StudyHeld

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relic_core.domain import WorkSummary
    from relic_core.domain.studies import Study, StudyTerms, StudyWork
    from relic_core.wiring import App

_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The works of a study in the library.

    - `stored`: by the study's key of a work the id of the stored one.
    - `held`: for each that is not there as it was a sentence that says which, and what to do.
    """

    stored: Mapping[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """A study as it stands now.

    - `study`: what never changes.
    - `frozen`: whether there are answers, so that instructions and annotators wanted stay as they are.
    - `annotators`, `answers`: who has joined; answers ever given.
    - `stored`: by the study's key of a work the id of the stored one, for links; those not in the library are missing.
    - `held`: sentences that say which works are missing or of another edition; nobody can begin while there are any.
    - `later`: id of the next version, where there is one; else empty.
    """

    study: Study
    terms: StudyTerms
    frozen: bool
    annotators: int
    answers: int
    stored: Mapping[str, str]
    held: tuple[str, ...]
    later: str = ""


def find_works(app: App, study: Study) -> Found:
    """Look for the works of a study, text and sentences."""
    known = {imprint.fingerprint: work_id for work_id, imprint in app.works.imprints().items()}
    stored = {work.key: known[work.fingerprint] for work in study.works if work.fingerprint in known}
    missing = [work for work in study.works if work.key not in stored]
    summaries = app.works.summaries() if missing else ()
    return Found(stored=stored, held=tuple(_why(work, summaries) for work in missing))


def check_not_held(study: Study, found: Found) -> None:
    """Refuse to go on with a study whose works are not here.

    Raises StudyHeld: some are missing or of another edition.
    """
    if found.held:
        raise StudyHeld(f"The study {study.label} is held back. {' '.join(found.held)}")


def _why(work: StudyWork, summaries: tuple[WorkSummary, ...]) -> str:
    wanted = f"the edition whose text has the sha256 {work.sha256[:_DIGITS]}…"
    called = f"{work.title} ({work.author})" if work.author else work.title
    if any(summary.sha256 == work.sha256 for summary in summaries):
        return (
            f"{called} is in the library, but its sentences are not cut as they were for the study "
            f"({work.segmenter}): remove it and add it again with the version of the program that made the study."
        )
    other = next((each for each in summaries if each.title.casefold() == work.title.casefold()), None)
    if other is not None:
        return (
            f"{called} is in the library in another edition (sha256 {other.sha256[:_DIGITS]}…): the study was made of "
            f"{wanted} Add that one; both can stand side by side."
        )
    return f"{called} is not in the library: add {wanted}"
